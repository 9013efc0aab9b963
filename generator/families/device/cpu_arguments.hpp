#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::inline v0_1 {

/// Numbers of a configuration that compilers need not know, such as the sizes of blocks: a CPU
/// kernel takes them as constants of its launch. So configurations that differ in nothing else are
/// one text, and a search compiles it once.
///
///     CpuArguments added;
///     added.add("z_block", config.integer("z_block"));
///     parameters.insert(parameters.end(), added.parameters.begin(), added.parameters.end());
///     launch.constants = added.values;
struct CpuArguments {
    std::vector<std::string> parameters;  ///< of the entry point, behind its others: "int z_block"
    std::vector<int> values;

    void add(const std::string& name, std::int64_t value) {
        parameters.push_back("int " + name);
        values.push_back(static_cast<int>(value));
    }
};

}  // namespace hone::inline v0_1
