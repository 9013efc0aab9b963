#include "generator/config.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {

Config Config::parsed(std::string_view key) {
    std::vector<Assignment> assignments;
    while (!key.empty()) {
        const std::string_view item = key.substr(0, key.find(','));
        key.remove_prefix(std::min(key.size(), item.size() + 1));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos || equals == 0)
            throw Error("configuration", fmt::format("\"{}\" is not name=value", item), "write a=1,b=two");
        assignments.push_back({std::string(item.substr(0, equals)), parse_value(item.substr(equals + 1))});
    }
    return Config(std::move(assignments));
}

}  // namespace hone::inline v0_1
