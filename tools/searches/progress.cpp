#include "tools/searches/progress.hpp"

#include <algorithm>

#include "tools/console/format.hpp"
#include "tools/searches/session_view.hpp"

namespace hone::tools {
namespace {

constexpr double redraw_seconds = 0.2;  // fast enough for the eye, too slow to disturb measurements
constexpr double plain_seconds = 10;    // a log should show that the run is alive

std::int64_t most_candidates(const ProgressState& state) {
    return state.evaluations > 0 ? std::min<std::int64_t>(state.evaluations, state.run.members) : state.run.members;
}

int count_failures(const std::map<Status, int>& counts) {
    int sum = 0;
    for (const auto& [status, count] : counts) sum += status == Status::measured ? 0 : count;
    return sum;
}

std::string time_left(const ProgressState& state) {
    const double left = seconds_left(state);
    if (state.run.finals) return "finals";
    if (left < 0) return duration(state.run.elapsed) + " so far";
    return (left < 59.5 ? fmt::format("{:.0f} s", left) : duration(left)) + " left";
}

}  // namespace

double part_done(const ProgressState& state) {
    const auto candidates = static_cast<double>(most_candidates(state));
    const double by_candidates = candidates > 0 ? state.run.evaluations / candidates : 0;
    const double by_time = state.seconds > 0 ? state.run.elapsed / state.seconds : 0;
    return std::clamp(std::max(by_candidates, by_time), 0.0, 1.0);
}

double seconds_left(const ProgressState& state) {
    const double left = state.seconds > 0 ? std::max(0.0, state.seconds - state.run.elapsed) : -1;
    if (state.run.evaluations == 0) return left;
    const double others = static_cast<double>(most_candidates(state)) - state.run.evaluations;
    const double by_candidates = std::max(0.0, others) * state.run.seconds_per_candidate();
    return left < 0 ? by_candidates : std::min(left, by_candidates);
}

std::string best_so_far(const ProgressState& state) {
    if (!state.run.best) return "nothing measured yet";
    const double median = state.run.best->outcome.step.median;
    std::string text = fmt::format("best {} GB/s", significant(state.counts.bytes / median * 1e-9));
    if (state.run.safe && state.run.safe->measured()) text += fmt::format(", {:.2f}x safe", state.run.safe->step.median / median);
    if (state.run.outlook && !state.run.finals) text += fmt::format(", {:.2g} % to gain", 100 * state.run.outlook->gain);
    return text;
}

std::string failures(const std::map<Status, int>& counts) {
    std::string text;
    for (const auto& [status, count] : counts)
        if (status != Status::measured && count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(status));
    return text;
}

std::string progress_line(const ProgressState& state, int columns) {
    const int failed = count_failures(state.run.counts);
    const std::string text =
        fmt::format("{}/{} [{}] {} tried{}, {}, {}  {}", state.number, state.problems, bar(part_done(state), 20), state.run.evaluations,
                    failed > 0 ? fmt::format(", {} failed", failed) : "", time_left(state), best_so_far(state), state.problem);
    return cut(text, columns);
}

void ProgressPrinter::begin(const ProgressState& state) {
    drawn_ = 0;
    best_ = 0;
    clear();
    console_.message("problem {} of {}: {}{}\n", state.number, state.problems, state.problem,
                     state.seconds > 0 ? fmt::format(", for {} at most", duration(state.seconds)) : "");
}

void ProgressPrinter::evaluated(const ProgressState& state) {
    const double best = state.run.best ? state.run.best->outcome.step.median : 0;
    if (console_.error_is_terminal) {
        draw(state);
    } else if (best != best_ || state.run.elapsed - drawn_ >= plain_seconds) {
        console_.message("  {} of {} candidates{}, {}, {}\n", state.run.evaluations, state.run.members,
                         state.run.counts.empty() || failures(state.run.counts).empty() ? "" : " (" + failures(state.run.counts) + ")",
                         time_left(state), best_so_far(state));
        drawn_ = state.run.elapsed;
    }
    best_ = best;
}

void ProgressPrinter::tick(ProgressState state, double elapsed) {
    if (!console_.error_is_terminal || elapsed - drawn_ < redraw_seconds) return;
    state.run.elapsed = elapsed;
    draw(state);
}

void ProgressPrinter::draw(const ProgressState& state) {
    drawn_ = state.run.elapsed;
    // The last column stays free: some terminals wrap when it is written.
    if (whole_ == nullptr) {
        console_.redraw(progress_line(state, console_.columns - 1));
        return;
    }
    whole_->problems.at(static_cast<std::size_t>(state.number) - 1).progress = state;
    console_.redraw_lines(session_lines(*whole_, console_.columns - 1, console_.rows - 1));
}

void ProgressPrinter::clear() {
    if (!console_.error_is_terminal) return;
    if (whole_ != nullptr)
        console_.redraw_lines({});
    else
        console_.redraw("");
}

}  // namespace hone::tools
