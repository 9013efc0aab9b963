#include "tools/records/record_kernel.hpp"

#include "foundation/error.hpp"
#include "runtime/kernel_hash.hpp"
#include "tools/console/target.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::tools {
namespace {

// The kernel of one side of a step, or why there is none; completes the configuration.
std::optional<KernelSource> made(const Family& family, const Problem& problem, const DeviceFingerprint& device, Config& config, std::string& reason) {
    try {
        const Limits limits = generous_limits(device);
        const SearchSpace space = family.space(problem, limits);
        config = space.completed(config);
        if (const auto rejection = space.check(config)) {
            reason = rejection->constraint + ": " + rejection->reason;
            return std::nullopt;
        }
        return family.kernel(problem, config, limits);
    } catch (const Error& error) {
        reason = error.what();
        return std::nullopt;
    }
}

}  // namespace

std::string name_of(KernelState state) {
    switch (state) {
        case KernelState::same:
            return "same";
        case KernelState::other:
            return "other";
        case KernelState::impossible:
            return "impossible";
        case KernelState::foreign:
            return "foreign";
    }
    return "";
}

RecordKernel kernel_today(const Record& record, const Families& families) {
    if (!families.has(record.problem.family())) return {KernelState::foreign, "this hone has no such family", {}, std::nullopt};
    const Family& family = families.of(record.problem);
    RecordKernel kernel{KernelState::impossible, "", record.config, std::nullopt};
    kernel.source = made(family, record.problem, record.device, kernel.config, kernel.reason);
    if (!kernel.source) return kernel;
    std::string text = kernel.source->text;
    if (record.hybrid) {
        Config partner_config = record.hybrid->partner_config;
        const auto partner = made(family, record.problem, record.hybrid->partner, partner_config, kernel.reason);
        if (!partner) {
            kernel.source.reset();
            return kernel;
        }
        text += partner->text;
    }
    kernel.state = record.versions.source_hash == kernel_hash(text) ? KernelState::same : KernelState::other;
    return kernel;
}

}  // namespace hone::tools
