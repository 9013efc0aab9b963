#include "tools/console/console.hpp"

namespace hone::tools {
namespace {

// Of ECMA-48: select graphic rendition.
std::string_view code(Style style) {
    switch (style) {
        case Style::plain:
            return "";
        case Style::strong:
            return "\x1b[1m";
        case Style::faint:
            return "\x1b[2m";
        case Style::good:
            return "\x1b[32m";
        case Style::fair:
            return "\x1b[33m";
        case Style::poor:
            return "\x1b[31m";
    }
    return "";
}

}  // namespace

void Console::styled(Style style, std::string_view text) {
    const bool plain = !colour || style == Style::plain || text.empty();
    out << (plain ? "" : code(style)) << printable_text(text) << (plain ? "" : "\x1b[0m");
}

void Console::redraw_lines(const std::vector<std::string>& lines) {
    std::string text = "\r";
    if (drawn > 0) text += fmt::format("\x1b[{}A", drawn);
    text += "\x1b[J";  // what stands below the cursor goes
    for (const std::string& line : lines) text += printable_text(line) + "\n";
    error << text << std::flush;
    drawn = static_cast<int>(lines.size());
}

bool wants_colour(bool terminal, const char* no_color, const char* term) {
    const bool forbidden = no_color != nullptr && *no_color != '\0';
    return terminal && !forbidden && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace hone::tools
