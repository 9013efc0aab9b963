#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/device_bench.hpp"

namespace hone::benchmarks {

/// The text of benchmarks/rivals/<name>.in, which is built into the programs. Throws Error when
/// there is none.
std::string_view rival_text(std::string_view name);

/// "using real = float;\n": what the texts of rivals begin with.
std::string real_type(Precision precision);

/// A rival's kernels, compiled as hone's own are: by the same compiler, with the same options.
/// Throws Error with the compiler's words where the text does not compile.
std::unique_ptr<Module> rival_module(Backend& backend, const KernelSource& source);

/// A problem computed by a plain loop on the processor: the entry `plain` of a text, with the
/// arguments of the problem's kernel (arrays, scalars, first and last of the range), on the
/// problem's arrays.
class PlainLoops {
  public:
    PlainLoops(Backend& backend, const DeviceProblem& problem, const std::string& text);
    void sweep();

  private:
    std::vector<void*> arrays_;
    std::vector<int> scalars_;  // and the range
    std::unique_ptr<Module> module_;
    int entry_ = 0;
};

}  // namespace hone::benchmarks
