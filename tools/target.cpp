#include "tools/target.hpp"

#include <fmt/format.h>

#include "tools/command.hpp"

namespace hone::tools {

void TargetOptions::declare(Options& options) {
    options.text("device", device, "NAME", "a device of this machine: cpu, cuda, cuda:1 or best; default best");
    options.text("target", target, "cuda|cpu", "what to generate for, whether it is in this machine or not");
    options.text("arch", arch, "sm_NN", "architecture for --target cuda; default this machine's GPU, else sm_90");
}

Json to_json(const TargetChoice& choice) {
    return {{"name", choice.name},
            {"target", to_string(choice.limits.target)},
            {"architecture", choice.architecture},
            {"limits", to_json(choice.limits)}};
}

int parse_architecture(const std::string& text) {
    const std::string digits = text.starts_with("sm_") ? text.substr(3) : text;
    const Value value = parse_value(digits);
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 50 || *number > 999)
        throw Error("--arch", fmt::format("\"{}\" is not an architecture", text), "write it as sm_80, sm_90 or sm_100");
    return static_cast<int>(*number);
}

TargetChoice choose_target(const TargetOptions& options) {
    if (!options.device.empty() && !options.target.empty())
        throw Error("--device and --target", "both are given", "use --device for a device of this machine, --target for any other");
    const std::string named = options.device.empty() ? options.target : options.device;
    const Target target = named.empty() ? Target::cpu : parse_target(named);
    if (target == Target::cpu) return {cpu_limits(), "", "cpu"};
    const int architecture = options.arch.empty() ? 90 : parse_architecture(options.arch);
    return {cuda_limits(architecture), fmt::format("sm_{}", architecture), fmt::format("any sm_{}", architecture)};
}

}  // namespace hone::tools
