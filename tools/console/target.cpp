#include "tools/console/target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/console/command.hpp"
#include "tuning_db/device_models.hpp"

namespace hone::tools {
namespace {

Device find_best() {
    std::string all_missing;
    for (const auto& entry : backends()) {
        std::string missing;
        if (auto devices = entry.devices(missing); !devices.empty()) return std::move(devices.front());
        all_missing += (all_missing.empty() ? "" : "; ") + missing;
    }
    throw MissingError("device", "this machine has none: " + all_missing, "see 'hone doctor'");
}

TargetChoice choice_of(const Device& device) {
    return {device.limits, device.fingerprint.architecture, device.fingerprint.name};
}

// This machine's first device of a target, or nothing.
std::optional<Device> first_device(Target target) {
    for (const auto& entry : backends()) {
        std::string missing;
        if (entry.target != target) continue;
        if (auto devices = entry.devices(missing); !devices.empty()) return std::move(devices.front());
    }
    return std::nullopt;
}

TargetChoice choose_architecture(const TargetOptions& options) {
    const Target target = options.target.empty() ? Target::cuda : parse_target(options.target);
    if (!traits_of(target).has_blocks && !options.arch.empty())
        throw Error("--arch", "the CPU has no architectures to choose from", "use it with --target cuda");
    if (options.arch.empty())
        if (const auto device = first_device(target)) return choice_of(*device);
    if (!traits_of(target).has_blocks) return {cpu_limits(), "", "any processor"};
    const int architecture = options.arch.empty() ? 90 : parse_architecture(options.arch, "--arch");
    return {cuda_limits(architecture), fmt::format("sm_{}", architecture), fmt::format("any sm_{}", architecture)};
}

}  // namespace

void TargetOptions::declare(Options& options) {
    options.text("device", device, "NAME", "a device of this machine: cpu, cuda (or gpu), cuda:1 or best; default best");
    options.text("target", target, "cuda|cpu", "what to generate for, whether this machine has it or not");
    options.text("arch", arch, "sm_NN", "architecture for --target cuda; default this machine's GPU, else sm_90");
}

TargetChoice choose_target(const TargetOptions& options) {
    if (options.target.empty() && options.arch.empty()) return choice_of(find_device(options.device.empty() ? "best" : options.device));
    if (!options.device.empty())
        throw Error("--device", "--target or --arch is given too", "use --device for a device of this machine, --target and --arch for any other");
    return choose_architecture(options);
}

Json json_of(const TargetChoice& choice) {
    return {{"name", choice.name},
            {"target", to_string(choice.limits.target)},
            {"architecture", choice.architecture},
            {"limits", json_of(choice.limits)}};
}

Device find_device(const std::string& name) {
    if (name == "best") return find_best();
    const auto [target, index] = parse_device_name(name);
    for (const auto& entry : backends()) {
        if (entry.target != target) continue;
        std::string missing;
        const std::vector<Device> devices = entry.devices(missing);
        if (index < std::ssize(devices)) return devices[static_cast<std::size_t>(index)];
        if (devices.empty()) throw MissingError("device \"" + name + "\"", missing, "see 'hone doctor', or use --device cpu");
        throw MissingError("device \"" + name + "\"", fmt::format("this machine has {} of them", devices.size()), "see 'hone devices'");
    }
    throw MissingError("device \"" + name + "\"", "this build of hone has no such backend", "see 'hone doctor'");
}

Device recorded_device(const std::string& model, const Database& database) {
    std::vector<std::string> names;
    for (const Record& record : database.records()) {
        if (record.device.name == model || device_key(record.device) == model)
            return {.fingerprint = record.device, .limits = generous_limits(record.device)};
        if (std::find(names.begin(), names.end(), record.device.name) == names.end()) names.push_back(record.device.name);
    }
    if (const DeviceModel* known = find_model(model)) return {.fingerprint = known->device, .limits = known->limits};
    const std::string recorded = names.empty() ? "" : fmt::format("there are records of {}; ", fmt::join(names, ", "));
    std::vector<std::string> words;
    for (const DeviceModel& known : device_models()) words.push_back(known.word);
    const std::string known = fmt::format("hone knows {}", fmt::join(words, ", "));
    names.insert(names.end(), words.begin(), words.end());
    throw Error("--as", fmt::format("no record is of a device \"{}\"", model), did_you_mean(model, names) + recorded + known);
}

std::unique_ptr<Backend> open_backend(const std::string& name, DiskCache& cache) {
    return make_backend(device_id(find_device(name)), cache);
}

std::unique_ptr<Compiler> open_compiler(const TargetChoice& choice, DiskCache& cache) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = choice.limits.target == Target::cuda ? make_nvrtc_compiler(choice.architecture, cache) : make_host_compiler(cache);
    } catch (const Error& error) {
        throw MissingError(error.what());
    }
    if (!compiler->missing().empty()) throw MissingError(compiler->missing());
    return compiler;
}

}  // namespace hone::tools
