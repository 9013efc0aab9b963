#include "generator/families/device/cpu_team.hpp"

#include "generator/render.hpp"
#include "generator/value_lists.hpp"

namespace hone::inline v0_1 {
namespace {

// Below this many processors a thread less, or one in another place, is never worth a candidate.
constexpr int fewest_processors = 4;

bool bound(const Config& config) {
    return config.word("binding") != "none";
}

}  // namespace

std::vector<Tunable> team_tunables(const Limits& limits) {
    const bool many = limits.multiprocessors >= fewest_processors;
    std::vector<std::string> threads{"all"};
    if (many) threads.emplace_back("all_but_one");
    if (many || (limits.threads_per_core > 1 && limits.multiprocessors > 1)) threads.emplace_back("half");
    return {{"threads", "of OpenMP's threads, how many work", words(threads), Value("all")},
            {"binding", "none: threads move between processors; close, spread: each has one of its own, neighbours or far apart",
             many ? words({"none", "close", "spread"}) : words({"none"}), Value("none")}};
}

Constraint team_constraint() {
    return {"binding",
            [](const Config& config) -> std::optional<std::string> {
                if (config.word("binding") != "spread" || config.word("threads") == "half") return std::nullopt;
                return "with a thread on every processor, close and spread are the same: binding=close";
            },
            {"threads", "binding"}};
}

std::vector<Assignment> safe_team() {
    return {{"threads", "all"}, {"binding", "none"}};
}

FormSpace with_team(FormSpace form, const Limits& limits) {
    for (Tunable& tunable : team_tunables(limits)) form.tunables.push_back(std::move(tunable));
    form.constraints.push_back(team_constraint());
    for (Assignment& assignment : safe_team()) form.safe.push_back(std::move(assignment));
    return form;
}

Block team(const Config& config) {
    Block block;
    const std::string& threads = config.word("threads");
    if (threads == "all" && !bound(config)) return block;
    block.line("#include <omp.h>");
    if (bound(config)) {
        const char* const place = config.word("binding") == "close" ? "thread" : "static_cast<long>(thread) * seats.count / threads";
        block.lines_of(render("device/team.cpp", {{"place", Block().line("const int place = {};", place)}}));
    }
    block.text("");
    return block;
}

Block team_parallel(const Config& config) {
    Block block;
    if (bound(config)) block.line("const Seats& seats = available_seats();");
    const std::string& threads = config.word("threads");
    if (threads == "all") return block.line("#pragma omp parallel");
    const char* const count = threads == "half" ? "omp_get_max_threads() / 2" : "omp_get_max_threads() - 1";
    return block.line("#pragma omp parallel num_threads({0} > 0 ? {0} : 1)", count);
}

Block team_seat(const Config& config) {
    Block block;
    if (bound(config)) block.line("const Seat seat(seats);");
    return block;
}

}  // namespace hone::inline v0_1
