#include "foundation/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace hone::inline v0_1 {
namespace {

struct Character {
    std::uint32_t number = 0;
    std::size_t bytes = 0;  // 0: these are no UTF-8
};

Character character_at(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80) return {first, 1};
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
    std::uint32_t number = first & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0U) != 0x80) return {};
        number = number << 6U | (next & 0x3fU);
    }
    // Each character is written in as few bytes as it needs; surrogates are none.
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    if (number < least[bytes] || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff)) return {};
    return {number, bytes};
}

// Unicode's categories Cc and Cf, the ends of lines and paragraphs, and the selectors of variants.
// Source: Unicode 15.0, UnicodeData.txt.
constexpr std::array<std::array<std::uint32_t, 2>, 24> unseen{
    {{0x00, 0x08},       {0x0b, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},
     {0x2028, 0x202e},   {0x2060, 0x206f},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd},
     {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0001, 0xe007f}, {0xe0100, 0xe01ef}}};

bool is_unseen(std::uint32_t number) {
    return std::any_of(unseen.begin(), unseen.end(), [&](const auto& range) { return number >= range[0] && number <= range[1]; });
}

// Nearly all characters.
bool is_plain(char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\t';
}

// As JSON does, in two halves where one has not enough digits.
std::string escaped(std::uint32_t number) {
    if (number < 0x10000) return fmt::format("\\u{:04x}", number);
    number -= 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (number >> 10U), 0xdc00 + (number & 0x3ffU));
}

}  // namespace

std::string printable_text(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::size_t plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
        result += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        const Character character = character_at(text);
        const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
        if (character.bytes == 0)
            result += escaped(static_cast<unsigned char>(text[0]));
        else if (is_unseen(character.number))
            result += escaped(character.number);
        else
            result += text.substr(0, bytes);
        text.remove_prefix(bytes);
    }
    return result;
}

}  // namespace hone::inline v0_1
