#pragma once

#include <string>
#include <string_view>

namespace hone::inline v0_1 {

/// The kind of device that a kernel is generated for.
enum class Target { cuda, cpu };

/// What tells the kinds of devices apart for code that is none of a backend's: it asks for a
/// property and compares no targets. A further target is a row in foundation/target.cpp.
struct TargetTraits {
    Target target = Target::cpu;
    std::string_view name;           ///< "cuda"
    bool has_blocks = false;         ///< a launch is a grid of blocks of threads, of which so many fit on the device
    bool host_memory = false;        ///< kernels work in the host's memory: nothing has to be copied
    bool shares_processors = false;  ///< kernels, compilers and the application take each other's processors
    bool has_monitor = false;        ///< clocks and temperature can be read while the device works
    bool is_numbered = false;        ///< a machine may have several: "cuda:1"
};

const TargetTraits& traits_of(Target target);

std::string to_string(Target target);
/// Throws Error for anything but "cuda" and "cpu".
Target parse_target(std::string_view text);

}  // namespace hone::inline v0_1
