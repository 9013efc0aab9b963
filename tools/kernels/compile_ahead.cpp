#include "tools/kernels/compile_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "foundation/processors.hpp"
#include "foundation/run_folder.hpp"
#include "tools/console/format.hpp"
#include "tools/console/interrupt.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tuner/restriction.hpp"
#include "tuner/worker/compile_pool.hpp"

namespace hone::tools {
namespace {

/// One problem's kernels on their way through the compilers.
class Batch {
  public:
    Batch(const Problem& problem, const CompileAhead& ahead, CompilePool& pool, const InterruptGuard& guard) : pool_(&pool) {
        const Family& family = known_families().of(problem);
        const SearchSpace space = family.space(problem, ahead.target.limits);
        result_.problem = problem.key();
        pool.set_problem(result_.problem);
        waiting_.push_back(space.safe());
        const std::int64_t safe = space.index_of(space.safe());
        for (const std::int64_t index :
             drawn_members(space, restricted_members(space, space.members([&] { return guard.requested(); }), ahead.only), ahead.among, ahead.seed))
            if (index != safe) waiting_.push_back(space.at(index));
        for (const Config& config : waiting_) pool.add(config);
        result_.members = std::ssize(waiting_);
    }

    bool done() const { return waiting_.empty(); }
    const CompiledAhead& result() const { return result_; }

    void go_on() {
        pool_->start();
        ChildProcess::wait(pool_->children(), CompileProgress::tick);
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

}  // namespace

CompileProgress::CompileProgress(std::size_t all, Console& console, std::string prefix) : all_(all), console_(console), prefix_(std::move(prefix)) {
}

CompileProgress::~CompileProgress() {
    if (console_.error_is_terminal) console_.redraw("");
}

void CompileProgress::show(std::size_t done, const std::string& problem) {
    constexpr double plain_seconds = 10;  // a log should show that the run is alive
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (elapsed - shown_ < (console_.error_is_terminal ? tick : plain_seconds)) return;
    shown_ = elapsed;
    const auto part = static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(1, all_));
    const std::string left = done > 0 ? duration(elapsed * (1 - part) / part) + " left" : "";
    const std::string text = fmt::format("{}[{}] {} of {} compiled  {}  {}", prefix_, bar(part, 20), done, all_, left, problem);
    if (console_.error_is_terminal)
        console_.redraw(cut(text, console_.columns - 1));
    else
        console_.message("{}\n", text);
}

std::vector<CompiledAhead> compile_ahead(const CompileAhead& ahead, Console& console) {
    const InterruptGuard guard;
    const DiskCache cache(DiskCache::default_folder());
    const RunFolder temporary;  // of compilers that are killed
    CompilePool pool({.command = worker_words(),
                      .architecture = ahead.target.architecture,
                      .limits = ahead.target.limits,
                      .cache = cache.folder(),
                      .processes = processors().usable,
                      .timeout = CompileProgress::compile_timeout,
                      .environment = temporary.environment()});
    std::vector<CompiledAhead> results;
    for (const Problem& problem : ahead.problems) {
        Batch batch(problem, ahead, pool, guard);
        CompileProgress progress(static_cast<std::size_t>(batch.result().members), console,
                                 fmt::format("{}/{} ", results.size() + 1, ahead.problems.size()));
        while (!batch.done() && !guard.requested()) {
            batch.go_on();
            progress.show(static_cast<std::size_t>(batch.result().done()), batch.result().problem);
        }
        results.push_back(batch.result());
        if (guard.requested()) break;
    }
    return results;
}

}  // namespace hone::tools
