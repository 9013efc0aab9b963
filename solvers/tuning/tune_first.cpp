#include "solvers/tuning/tune_first.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "foundation/text.hpp"
#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/disk_cache.hpp"
#include "tuner/tuning_run.hpp"
#include "tuner/worker/worker_evaluator.hpp"
#include "tuner/worker/worker_program.hpp"

namespace hone::inline v0_1::solvers {

void tune_first(const Backend& backend, const std::vector<Problem>& problems, const std::filesystem::path& folder, double seconds,
                const std::function<void(const std::string&)>& tell) {
    const Families& families = built_in_families();
    WorkerSettings settings{.device = backend.device(), .cache = DiskCache::default_folder()};
    settings.command = find_worker_command();
    if (settings.command.empty()) throw Error("tuning", "there is no hone program", "build it, or name it in HONE_WORKER");
    WorkerEvaluator evaluator(std::move(settings));
    for (const Problem& problem : problems) {
        TuningOptions options;
        options.seconds = seconds / static_cast<double>(problems.size());
        options.folder = folder;
        const TuningResult result = tune(families.of(problem), problem, backend.device(), evaluator, options);
        const std::string why_not = keep_result(result, families, folder);
        if (!result.record) {
            tell(fmt::format("{}: no result: {}", problem.key(), result.why_none));
            continue;
        }
        tell(fmt::format("{}: {} by {}, {} candidates{}", problem.key(), text::duration(result.record->step.median), result.record->config.key(),
                         result.progress.evaluations, why_not.empty() ? "" : "; not kept: " + why_not));
    }
}

void tell_tuned(const std::string& line) {
    fmt::print(stderr, "tuned: {}\n", line);
}

}  // namespace hone::inline v0_1::solvers
