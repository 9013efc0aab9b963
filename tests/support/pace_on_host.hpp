#pragma once

#include <string>

#include "generator/family.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// The inline PTX of device/pace written out in C++, where a kernel has it.
inline void write_out_pace(std::string& text) {
    replace_body(text, "void put_layer(", "    *to = layer;\n");
    replace_body(text, "int layer_at(", "    return *from;\n");
}

/// A family whose blocks keep pace, for the emulator.
inline Family pace_on_host(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        write_out_pace(source.text);
        return source;
    };
    return result;
}

}  // namespace hone::test
