#include "tools/kernels/kernel_trials.hpp"

#include <algorithm>
#include <map>

#include "foundation/processors.hpp"
#include "foundation/run_folder.hpp"
#include "tools/console/interrupt.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/target.hpp"
#include "tools/kernels/compile_ahead.hpp"
#include "tools/records/record_kernel.hpp"
#include "tuner/worker/compile_pool.hpp"

namespace hone::tools {
namespace {

struct Trial {
    std::size_t record;  // its place
    std::string problem;
    Config config;
};

}  // namespace

KernelTrials try_kernels(const std::vector<Record>& records, const Families& families, Console& console) {
    KernelTrials result{std::vector<std::string>(records.size())};
    std::map<std::string, std::vector<Trial>> architectures;
    std::size_t all = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const Record& record = records[i];
        const RecordKernel kernel = kernel_today(record, families);
        if (!kernel.source) continue;
        if (traits_of(record.device.target).shares_processors && record.device.architecture != find_device("cpu").fingerprint.architecture) {
            ++result.elsewhere;
            continue;
        }
        architectures[record.device.architecture].push_back({i, record.problem.key(), kernel.config});
        ++all;
    }
    const InterruptGuard guard;
    DiskCache cache(DiskCache::default_folder());
    const RunFolder temporary;  // of compilers that are killed
    CompileProgress progress(all, console);
    for (auto& [architecture, waiting] : architectures) {
        const DeviceFingerprint& device = records[waiting.front().record].device;
        const Limits limits = generous_limits(device);
        open_compiler({limits, architecture, device.name}, cache);  // says what to install where there is none
        CompilePool pool({.command = worker_words(),
                          .architecture = architecture,
                          .limits = limits,
                          .cache = cache.folder(),
                          .processes = processors().usable,
                          .timeout = CompileProgress::compile_timeout,
                          .environment = temporary.environment()});
        for (const Trial& trial : waiting) pool.add(trial.problem, trial.config);
        while (!waiting.empty() && !guard.requested()) {
            pool.start();
            ChildProcess::wait(pool.children(), CompileProgress::tick);
            pool.collect();
            std::erase_if(waiting, [&](const Trial& trial) {
                const auto answer = pool.result(trial.problem, trial.config);
                if (!answer) return false;
                if (!answer->ok) result.failures[trial.record] = answer->failure;
                ++result.tried;
                return true;
            });
            progress.show(result.tried, waiting.empty() ? "" : waiting.front().problem);
        }
        result.left += waiting.size();
    }
    return result;
}

}  // namespace hone::tools
