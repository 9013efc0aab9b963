#include "tools/console.hpp"

namespace hone::tools {

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        // U+0080 to U+009F are two bytes of UTF-8, of which the second is the character's number.
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
        const bool second_set = byte == 0xc2 && next >= 0x80 && next <= 0x9f;
        if (second_set) {
            result += fmt::format("\\u{:04x}", next);
            ++i;
        } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
            result += fmt::format("\\u{:04x}", byte);
        } else {
            result += text[i];
        }
    }
    return result;
}

}  // namespace hone::tools
