#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tools/console/console.hpp"
#include "tools/console/target.hpp"

namespace hone::tools {

/// How far compilers are with so many kernels: one line of a terminal that is drawn anew, elsewhere
/// a line every ten seconds. The line goes with it.
class CompileProgress {
  public:
    static constexpr double tick = 0.2;             ///< seconds between two looks at the compilers, and redraws on a terminal
    static constexpr double compile_timeout = 300;  ///< seconds: nothing waits for these kernels

    CompileProgress(std::size_t all, Console& console, std::string prefix = "");
    ~CompileProgress();
    CompileProgress(const CompileProgress&) = delete;
    CompileProgress& operator=(const CompileProgress&) = delete;

    /// After every look; says when the line is due.
    void show(std::size_t done, const std::string& problem);

  private:
    std::size_t all_;
    Console& console_;
    std::string prefix_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    double shown_ = 0;  // seconds after the begin
};

/// The kernels to compile ahead of a tuning run: of each problem, the kernels that `hone tune
/// --among` with the same words will choose among.
struct CompileAhead {
    std::vector<Problem> problems;
    TargetChoice target;
    std::int64_t among = 0;  ///< members of each space
    std::uint64_t seed = 1;  ///< that draws them (tuner/restriction.hpp)
    std::string only;        ///< restricts the spaces before; empty: not
};

/// The result for one problem's kernels.
struct CompiledAhead {
    std::string problem;               ///< key
    std::int64_t members = 0;          ///< drawn, and the safe configuration
    std::int64_t compiled = 0;         ///< by this run
    std::int64_t cached = 0;           ///< were in the cache
    std::vector<std::string> refused;  ///< keys of configurations that the compiler refuses, each with its reason
    double compile_seconds = 0;        ///< of the compilers of this run, summed over processes

    std::int64_t done() const { return compiled + cached + static_cast<std::int64_t>(refused.size()); }
};

/// Compiles into the disk cache, in as many processes as the machine has threads, and shows
/// progress. Ctrl-C ends it; what was compiled is in the cache, and the same call goes on from
/// there. Returns what was done so far. Throws MissingError when there is no compiler.
std::vector<CompiledAhead> compile_ahead(const CompileAhead& ahead, Console& console);

}  // namespace hone::tools
