// Compares the forms of corner forces, per order, alternately on the same zones: the paper's
// kernels one by one, partial assembly in three launches and in two, layer by layer by all threads
// or by teams of warps, and zones that stream through warps. Zones per second, and % of the ceiling
// (the larger of bytes at the copy's bandwidth and sum-factorised operations at the multiply-adds'
// rate).
//
//     for form in streamed teams layered separate force paper; do
//         hone tune $(build/release/bin/corner_force_benchmark --problems) --only form=$form --device cuda --budget 20s --db results/$form
//     done
//     HONE_DEVICE=cuda HONE_DB=results build/release/bin/corner_force_benchmark
//
// A form runs the fastest of its configurations that the search in HONE_DB/<form> timed. Without
// such a search it runs the record's where that is of this form, else safe values; its figures are
// marked with a `*` then. `paper/ours` is the time of the published kernels over that of the
// fastest form.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/database.hpp"

namespace hone::benchmarks {
namespace {

constexpr std::array<const char*, 6> all_forms{"streamed", "teams", "layered", "separate", "force", "paper"};
constexpr std::string_view published = "paper";  // the rival

struct Size {
    int dimension;
    int order;
    int zones;  // such that A, which the paper's form stores, takes some ten gigabytes at most
};
constexpr std::array<Size, 11> sizes{{{2, 1, 2097152},
                                      {2, 2, 1048576},
                                      {2, 3, 524288},
                                      {2, 4, 262144},
                                      {2, 8, 32768},
                                      {3, 1, 524288},
                                      {3, 2, 131072},
                                      {3, 3, 32768},
                                      {3, 4, 8192},
                                      {3, 6, 2048},
                                      {3, 8, 512}}};

std::string problem_of(const Size& size, int share) {
    return fmt::format("corner_force dimension={} order={} precision=f64 zones={}", size.dimension, size.order, std::max(1, size.zones / share));
}

// The fastest of a form's configurations that its search timed. The record may be of the safe
// configuration, which is of another form: that is timed in every search, and kept where the form
// is slower.
std::optional<Config> fastest_searched(const Problem& problem, const SearchSpace& space, const std::string& form) {
    constexpr std::int64_t most_bytes = 1 << 28;
    const std::filesystem::path file = journal_path(database_folder() / form, problem, DeviceBench::instance().backend().device().fingerprint);
    if (!std::filesystem::exists(file)) return std::nullopt;
    std::optional<Config> fastest;
    double seconds = 0;
    for (const JournalEntry& entry : parse_journal(read_file(file, most_bytes), file).entries) {
        if (entry.kind != JournalEntry::Kind::evaluation || !entry.outcome.measured()) continue;
        const double median = entry.outcome.step.median;
        if (fastest && median >= seconds) continue;
        Config config = space.parse(entry.config);
        if (config.word("form") != form) continue;
        fastest = std::move(config);
        seconds = median;
    }
    return fastest;
}

// The fastest values known of a form, or safe ones; nothing where the problem does not have the
// form. `tuned` is what an application gets.
std::optional<Match> match_of(const Problem& problem, const std::string& form, const Match& tuned) {
    const Device& device = DeviceBench::instance().backend().device();
    const SearchSpace space = built_in_families().of(problem).space(problem, device.limits);
    Match match;
    if (std::optional<Config> fastest = fastest_searched(problem, space, form)) {
        match.grade = Grade::exact;
        match.config = std::move(*fastest);
        return match;
    }
    if (tuned.config.word("form") == form) return tuned;
    try {
        match.config = space.parse("form=" + form);
    } catch (const Error&) {
        return std::nullopt;
    }
    if (space.check(match.config)) return std::nullopt;
    return match;
}

void corner_force(benchmark::State& state, const std::string& text) {
    DeviceBench& bench = DeviceBench::instance();
    const DeviceProblem problem(text);
    const Family& family = built_in_families().of(problem.problem());
    std::vector<void*> arrays;
    for (std::size_t i = 0; i < family.arrays(problem.problem()).size(); ++i) arrays.push_back(problem.array(i));
    std::vector<TimedKernel> forms;
    std::vector<Match> matches;
    for (const char* form : all_forms)
        if (std::optional<Match> match = match_of(problem.problem(), form, problem.kernel().match())) {
            forms.push_back({form, match->grade, form == published});
            matches.push_back(std::move(*match));
        }
    const Limits& limits = bench.backend().device().limits;
    compile_side_by_side(matches.size(),
                         [&](std::size_t i) { bench.backend().compiler().compile(family.kernel(problem.problem(), matches[i].config, limits)); });
    std::vector<std::unique_ptr<BoundKernel>> kernels;
    std::vector<std::function<void()>> contenders;
    std::string label;
    for (std::size_t i = 0; i < matches.size(); ++i) {
        const auto kernel = std::make_shared<const Kernel>(bench.backend(), family, problem.problem(), matches[i], limits);
        kernels.push_back(std::make_unique<BoundKernel>(kernel, arrays));
        contenders.emplace_back([bound = kernels.back().get()] { bound->launch(); });
        label += fmt::format("{}{}: {}", label.empty() ? "" : "; ", grades_of({forms[i]}), matches[i].config.key());
    }
    std::string binding;
    const double floor = ceiling_seconds(problem.counts(), problem.problem().precision(), bench.ceilings(), binding);
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(bench.backend(), contenders, 7);
        const auto fastest = static_cast<std::size_t>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
        state.SetIterationTime(seconds[fastest]);
        state.counters[ratio_name("%ceiling", {forms[fastest]})] = 100 * floor / seconds[fastest];
        for (std::size_t i = 0; i < seconds.size(); ++i) {
            state.counters[ratio_name(forms[i].name + "_Mzones/s", {forms[i]})] = problem.counts().updates / seconds[i] * 1e-6;
            state.counters[ratio_name(forms[i].name + "_%ceiling", {forms[i]})] = 100 * floor / seconds[i];
            if (forms[i].rival) state.counters[ratio_name("paper/ours", {forms[fastest], forms[i]})] = seconds[i] / seconds[fastest];
        }
    }
    state.SetLabel(binding + "-bound, " + label);
}

std::vector<std::string> problems() {
    std::vector<std::string> texts;
    texts.reserve(std::size(sizes));
    for (const Size& size : sizes) texts.push_back(problem_of(size, 1));
    return texts;
}

void register_all() {
    const bool cuda = traits_of(DeviceBench::instance().backend().device().limits.target).has_blocks;
    for (const Size& size : sizes) {
        const std::string text = problem_of(size, cuda ? 1 : 128);
        benchmark::RegisterBenchmark(text.c_str(), corner_force, text)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
    }
}

}  // namespace

Program program() {
    return {.purpose = "Corner forces of every order, all forms on the same zones. HONE_DB may have a folder of results for each form.",
            .problems = problems,
            .register_all = register_all};
}

}  // namespace hone::benchmarks
