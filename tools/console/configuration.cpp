#include "tools/console/configuration.hpp"

#include "foundation/error.hpp"

namespace hone::tools {

Config member(const SearchSpace& space, const std::string& text, const Problem& problem) {
    Config config = space.parse(text);
    if (const auto rejection = space.check(config))
        throw Error("configuration " + config.key(), rejection->constraint + ": " + rejection->reason,
                    "see 'hone space " + problem.key() + "' for what is possible");
    return config;
}

}  // namespace hone::tools
