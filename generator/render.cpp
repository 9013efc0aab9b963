#include "generator/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/error.hpp"

namespace hone {
namespace {

constexpr std::string_view hole_mark = "//@ ";

}  // namespace

std::string render(std::string_view template_name, const Holes& holes) {
    return render_text(template_text(template_name), fmt::format("templates/{}.in", template_name), holes);
}

std::string render_text(std::string_view text, std::string_view file, const Holes& holes) {
    std::string_view rest = text;
    std::string output;
    output.reserve(rest.size() * 4);
    std::set<std::string_view> filled;
    for (int line_number = 1; !rest.empty(); ++line_number) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(rest.size(), end + 1));
        const std::size_t indent = line.find_first_not_of(' ');
        if (indent == std::string_view::npos || line.substr(indent, hole_mark.size()) != hole_mark) {
            output.append(line).push_back('\n');
            continue;
        }
        const std::string_view name = line.substr(indent + hole_mark.size());
        const auto hole = std::find_if(holes.begin(), holes.end(), [&](const auto& h) { return h.first == name; });
        if (hole == holes.end())
            throw Error(fmt::format("{}:{}", file, line_number), fmt::format("no block fills the hole \"{}\"", name), "add it to the family's holes");
        filled.insert(hole->first);
        for (const auto& filling : hole->second.lines()) {
            if (!filling.empty()) output.append(indent, ' ').append(filling);
            output.push_back('\n');
        }
    }
    for (const auto& [name, block] : holes)
        if (!filled.contains(name))
            throw Error(std::string(file), fmt::format("there is no hole for the block \"{}\"", name),
                        fmt::format("add a line '{}{}'", hole_mark, name));
    return output;
}

}  // namespace hone
