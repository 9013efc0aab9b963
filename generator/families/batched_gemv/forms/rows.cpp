#include <fmt/format.h>

#include <algorithm>

#include "generator/families/batched_gemv/cuda.hpp"

// A thread has whole rows of A, or shares them with others, each with every so-many-th column,
// which add up what they have through shared memory.

namespace hone::inline v0_1::gemv {
namespace {

struct Rows : CudaKernel {
    Rows(const Shape& of_problem, const Config& config) : CudaKernel(of_problem, config), split(gemm::number(config, "split", 1)) {}

    int split;  // threads of a row

    int threads() const { return gemm::round_up(matrices_per_block * vectors() * split, 32); }

    Reason conflict() const {
        if (Reason reason = misaligned()) return reason;
        if (split > shape.n) return fmt::format("A has {} columns", shape.n);
        if (matrices_per_block > 1 && threads() > 512) return "one matrix less per block does it, too";
        return std::nullopt;
    }

    BlockResources resources() const { return {.threads = threads(), .registers = registers(std::min(unroll, gemm::pieces(shape.n, split)))}; }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        Block own;
        own.line("constexpr int vectors = {}, splits = {}, threads_per_matrix = vectors * splits;", vectors(), split);
        const Holes holes{{"banner", banner(problem, config, Target::cuda)},
                          {"constants", constants(threads(), own)},
                          {"entry", entry(shape, Target::cuda)},
                          {"unroll", unroll_line(unroll)}};
        KernelSource source =
            make_source(problem, Target::cuda, render("batched_gemv/rows.cu", holes, {{"scaled", shape.of.scaled}, {"split", split > 1}}));
        source.step.push_back(launch(threads(), split > 1 ? std::int64_t{threads()} * width : 0));
        return source;
    }
};

FormSpace space(const Shape& shape, FormSpace own) {
    const int rows_that_fit = 128 / std::max(shape.m, 1);
    own.safe.insert(own.safe.begin(), {"matrices_per_block", std::int64_t{rows_that_fit >= 16 ? 16 : rows_that_fit >= 4 ? 4 : 1}});
    return CudaKernel::space(std::move(own), shape, "columns per trip of the loop, whose loads are in flight together");
}

}  // namespace

Form rows_form(const Problem& problem, const Limits&) {
    return cuda_form<Rows>(problem,
                           space(Shape(problem), {.name = "rows", .help = "a thread has whole rows of A", .former = [](const Config& config) {
                                                      return config.has("split", 1);
                                                  }}));
}

Form split_rows_form(const Problem& problem, const Limits&) {
    return cuda_form<Rows>(
        problem,
        space(Shape(problem), {.name = "split_rows",
                               .help = "several threads share rows of A, and add up what they have through shared memory",
                               .tunables = {{"split", "threads that share a row, each with every so-many-th column", numbers({2, 4, 8, 16, 32, 64})}},
                               .safe = {{"split", 2}},
                               .former = [](const Config& config) { return config.find("split") != nullptr && !config.has("split", 1); }}));
}

}  // namespace hone::inline v0_1::gemv
