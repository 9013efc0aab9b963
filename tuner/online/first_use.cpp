#include "tuner/online/first_use.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "foundation/temporary_folder.hpp"
#include "runtime/disk_cache.hpp"
#include "tuner/prior.hpp"
#include "tuner/tuning_run.hpp"
#include "tuner/worker/worker_evaluator.hpp"
#include "tuner/worker/worker_program.hpp"
#include "tuning_db/places.hpp"

namespace hone::inline v0_1 {
namespace {

/// What is worth measuring, the likeliest first; the safe configuration comes before all anyway.
std::vector<Config> proposals(const Database& database, const Families& families, const Device& device, const Problem& problem, int most) {
    const Config safe = families.of(problem).space(problem, device.limits).safe();
    std::vector<Config> configs{database.best(problem, device.fingerprint, device.limits).config};
    for (Promising& promising : promising_members(database, families, problem, device, most)) configs.push_back(std::move(promising.config));
    std::vector<Config> distinct;
    for (Config& config : configs)
        if (config != safe && std::find(distinct.begin(), distinct.end(), config) == distinct.end()) distinct.push_back(std::move(config));
    if (std::ssize(distinct) >= most) distinct.resize(static_cast<std::size_t>(most - 1));
    return distinct;
}

}  // namespace

FirstUse parse_first_use(const std::string& word, const std::string& what) {
    if (word == "predicted") return FirstUse::predicted;
    if (word == "measured") return FirstUse::measured;
    throw Error(what, fmt::format("\"{}\" is no answer to a first use", word), "say predicted or measured");
}

FirstUse usual_first_use() {
    const std::string word = environment_variable("HONE_FIRST_USE");
    return word.empty() ? FirstUse::predicted : parse_first_use(word, "HONE_FIRST_USE");
}

std::optional<Match> measured_match(const Database& database, const Families& families, const Device& device, const Problem& problem,
                                    const FirstUseSettings& settings, std::string& why) {
    TuningOptions options;
    options.prior = proposals(database, families, device, problem, settings.proposals);
    if (options.prior.empty()) {
        why = "no result suggests a configuration beside the safe one";
        return std::nullopt;
    }
    WorkerSettings evaluation{.device = device, .cache = settings.cache.empty() ? DiskCache::default_folder() : settings.cache};
    evaluation.command = settings.worker.empty() ? find_worker_command() : settings.worker;
    if (evaluation.command.empty())
        throw Error("measuring at first use", "there is no hone program", "install it beside hone's libraries, or name it in HONE_WORKER");
    const std::filesystem::path folder = own_records(settings.folder);
    const TemporaryFolder journals;  // a journal of `hone tune` on the same problem stays as it is
    options.folder = journals.path();
    options.seconds = settings.seconds;
    options.grace = settings.seconds;
    options.evaluations = static_cast<int>(options.prior.size()) + 1;
    WorkerEvaluator evaluator(std::move(evaluation));
    TuningResult result = tune(families.of(problem), problem, device, evaluator, options);
    if (result.record) result.record->found = found_at_first_use;
    why = keep_result(result, families, folder);
    if (!why.empty()) return std::nullopt;
    Match match{Grade::measured, result.record->config, std::move(result.record), folder};
    return match;
}

}  // namespace hone::inline v0_1
