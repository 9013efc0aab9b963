#include "generator/block.hpp"

#include <algorithm>
#include <utility>

namespace hone::inline v0_1 {
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

Block& Block::list(const std::vector<std::string>& items) {
    constexpr std::size_t columns = 100;
    std::string line;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
        if (!line.empty() && line.size() + 1 + item.size() > columns) text(std::exchange(line, {}));
        line += (line.empty() ? "" : " ") + item;
    }
    return line.empty() ? *this : text(line);
}

Block& Block::append(const Block& other) {
    for (const auto& line : other.lines_) text(line);
    return *this;
}

}  // namespace hone::inline v0_1
