#include "tools/compile_ahead.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/processors.hpp"
#include "runtime/run_folder.hpp"
#include "tools/format.hpp"
#include "tools/interrupt.hpp"
#include "tools/known_families.hpp"
#include "tools/problem_words.hpp"
#include "tuner/restriction.hpp"
#include "tuner/worker/compile_pool.hpp"

namespace hone::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double tick = 0.2;             // seconds between two looks at the compilers, and redraws on a terminal
constexpr double plain_seconds = 10;     // a log should show that the run is alive
constexpr double compile_timeout = 300;  // seconds: nothing waits for these kernels

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One problem's kernels on their way through the compilers.
class Batch {
  public:
    Batch(const Problem& problem, const CompileAhead& ahead, CompilePool& pool) : pool_(&pool) {
        const Family& family = known_families().of(problem);
        const SearchSpace space = family.space(problem, ahead.target.limits);
        result_.problem = problem.key();
        pool.set_problem(result_.problem);
        waiting_.push_back(space.safe());
        const std::int64_t safe = space.index_of(space.safe());
        for (const std::int64_t index : drawn_members(space, parse_restriction(space, ahead.only), ahead.among, ahead.seed))
            if (index != safe) waiting_.push_back(space.at(index));
        for (const Config& config : waiting_) pool.add(config);
        result_.members = std::ssize(waiting_);
    }

    bool done() const { return waiting_.empty(); }
    const CompiledAhead& result() const { return result_; }

    void go_on() {
        pool_->start();
        ChildProcess::wait(pool_->children(), tick);
        pool_->collect();
        std::erase_if(waiting_, [this](const Config& config) { return counted(config); });
    }

  private:
    bool counted(const Config& config) {
        const auto result = pool_->result(config);
        if (!result) return false;
        result_.compile_seconds += result->seconds;
        if (!result->ok)
            result_.refused.push_back(config.key() + ": " + result->failure);
        else
            ++(result->seconds > 0 ? result_.compiled : result_.cached);
        return true;
    }

    CompilePool* pool_;
    std::vector<Config> waiting_;
    CompiledAhead result_;
};

void print_result(const CompiledAhead& state, std::size_t number, std::size_t problems, double elapsed, Console& console) {
    const auto done = static_cast<double>(state.done());
    const auto members = static_cast<double>(state.members);
    const std::string left = done > 0 ? duration(elapsed * (members - done) / done) + " left" : "";
    const std::string text = fmt::format("{}/{} [{}] {} of {} compiled  {}  {}", number, problems, bar(done / members, 20), state.done(),
                                         state.members, left, state.problem);
    if (console.error_is_terminal)
        console.redraw(cut(text, console.columns - 1));
    else
        console.message("{}\n", text);
}

}  // namespace

std::vector<CompiledAhead> compile_ahead(const CompileAhead& ahead, Console& console) {
    const InterruptGuard guard;
    const DiskCache cache(DiskCache::default_folder());
    const RunFolder temporary;  // of compilers that are killed
    CompilePool pool({.command = worker_words(),
                      .architecture = ahead.target.architecture,
                      .limits = ahead.target.limits,
                      .cache = cache.folder(),
                      .processes = processors().usable,
                      .timeout = compile_timeout,
                      .environment = temporary.environment()});
    std::vector<CompiledAhead> results;
    for (const Problem& problem : ahead.problems) {
        Batch batch(problem, ahead, pool);
        const auto begin = Clock::now();
        for (double shown = 0; !batch.done() && !guard.requested();) {
            batch.go_on();
            const double elapsed = seconds_since(begin);
            if (elapsed - shown < (console.error_is_terminal ? tick : plain_seconds)) continue;
            print_result(batch.result(), results.size() + 1, ahead.problems.size(), elapsed, console);
            shown = elapsed;
        }
        if (console.error_is_terminal) console.redraw("");
        results.push_back(batch.result());
        if (guard.requested()) break;
    }
    return results;
}

}  // namespace hone::tools
