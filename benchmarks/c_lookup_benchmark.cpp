// What a look-up through the C interface costs, from one thread to sixteen that ask at once: by the
// problem's text, as an application of C, Fortran or Python does. The kernel is compiled before;
// beside it the C++ library's look-up of the same problem, parsed from the same text or given as a
// value.
#include <benchmark/benchmark.h>
#include <hone.h>

#include <string>

#include "benchmarks/program.hpp"
#include "foundation/error.hpp"
#include "interfaces/session/session.hpp"

namespace hone::benchmarks {
namespace {

constexpr const char* problem_text = "acoustics_staggered kernel=step dimension=2 order=4 media=scalar precision=f64 nx=1024 ny=1024";

void require(hone_status status) {
    if (status != HONE_OK) throw Error(std::string("hone: ") + hone_last_error());
}

hone_session* c_session() {
    static hone_session* const session = [] {
        hone_session* opened = nullptr;
        hone_kernel* kernel = nullptr;
        require(hone_session_open("cpu", nullptr, &opened));
        require(hone_session_kernel(opened, problem_text, &kernel));
        return opened;
    }();
    return session;
}

Session& session() {
    static Session opened("cpu");
    return opened;
}

void c_lookup(benchmark::State& state) {
    hone_session* const asked = c_session();
    for (auto _ : state) {
        hone_kernel* kernel = nullptr;
        if (hone_session_kernel(asked, problem_text, &kernel) != HONE_OK) state.SkipWithError(hone_last_error());
        benchmark::DoNotOptimize(kernel);
    }
}
BENCHMARK(c_lookup)->ThreadRange(1, 16)->UseRealTime();

void cpp_lookup_by_text(benchmark::State& state) {
    const std::string text = problem_text;
    for (auto _ : state) benchmark::DoNotOptimize(session().kernel(text));
}
BENCHMARK(cpp_lookup_by_text)->ThreadRange(1, 16)->UseRealTime();

void cpp_lookup_by_value(benchmark::State& state) {
    const Problem problem = session().families().parse_problem(problem_text);
    for (auto _ : state) benchmark::DoNotOptimize(session().kernel(problem));
}
BENCHMARK(cpp_lookup_by_value)->ThreadRange(1, 16)->UseRealTime();

}  // namespace

Program program() {
    return {.purpose = "What a look-up through the C interface costs, from one thread to sixteen at once, beside the C++ library's."};
}

}  // namespace hone::benchmarks
