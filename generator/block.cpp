#include "generator/block.hpp"

#include <algorithm>

namespace hone {
namespace {
constexpr int spaces_per_step = 4;
}

Block& Block::text(std::string_view text) {
    lines_.push_back(text.empty() ? std::string() : std::string(static_cast<std::size_t>(depth_ * spaces_per_step), ' ') + std::string(text));
    return *this;
}

Block& Block::lines_of(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        this->text(text.substr(0, end));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return *this;
}

Block& Block::open(std::string_view head) {
    text(std::string(head) + " {");
    ++depth_;
    return *this;
}

Block& Block::close(std::string_view tail) {
    --depth_;
    return text("}" + std::string(tail));
}

Block& Block::append(const Block& other) {
    for (const auto& line : other.lines_) text(line);
    return *this;
}

}  // namespace hone
