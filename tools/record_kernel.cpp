#include "tools/record_kernel.hpp"

#include <map>

#include "generator/error.hpp"
#include "runtime/sha256.hpp"
#include "tools/target.hpp"
#include "tuning_db/json.hpp"

namespace hone::tools {
namespace {

// The kernel of one side of a step, or why there is none.
std::optional<KernelSource> made(const Family& family, const Problem& problem, const DeviceFingerprint& device, const Config& config,
                                 std::string& reason) {
    try {
        const Limits limits = generous_limits(device);
        const SearchSpace space = family.space(problem, limits);
        const Config whole = space.completed(config);
        if (const auto rejection = space.check(whole)) {
            reason = rejection->constraint + ": " + rejection->reason;
            return std::nullopt;
        }
        return family.kernel(problem, whole, limits);
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
    if (!knows(families, record.problem.family())) return {KernelState::foreign, "this hone has no such family", std::nullopt};
    const Family& family = families.of(record.problem);
    RecordKernel kernel{KernelState::impossible, "", std::nullopt};
    kernel.source = made(family, record.problem, record.device, record.config, kernel.reason);
    if (!kernel.source) return kernel;
    std::string text = kernel.source->text;
    if (record.hybrid) {
        const auto partner = made(family, record.problem, record.hybrid->partner, record.hybrid->partner_config, kernel.reason);
        if (!partner) {
            kernel.source.reset();
            return kernel;
        }
        text += partner->text;
    }
    kernel.state = sha256(text) == record.versions.source_hash ? KernelState::same : KernelState::other;
    return kernel;
}

struct KernelTrial::State {
    DiskCache cache{DiskCache::default_folder()};
    std::map<std::string, std::unique_ptr<Compiler>> compilers;  // by architecture
    int untried = 0;
};

KernelTrial::KernelTrial() : state_(std::make_unique<State>()) {
}
KernelTrial::~KernelTrial() = default;

int KernelTrial::untried() const {
    return state_->untried;
}

std::string KernelTrial::failure(const Record& record, const RecordKernel& kernel) {
    if (!kernel.source) return "";
    const DeviceFingerprint& device = record.device;
    if (device.target == Target::cpu && device.architecture != find_device("cpu").fingerprint.architecture) {
        ++state_->untried;
        return "";
    }
    auto& compiler = state_->compilers[device.architecture];
    if (!compiler) compiler = open_compiler({generous_limits(device), device.architecture, device.name}, state_->cache);
    const CompileOutcome outcome = compiler->compile(*kernel.source);
    return outcome.ok ? "" : outcome.failure;
}

}  // namespace hone::tools
