#include <fmt/format.h>

#include <algorithm>

#include "generator/families/batched_gemv/cuda.hpp"

// Of transposed matrices: neighbouring threads share columns of A as they come from memory.

namespace hone::inline v0_1::gemv {
namespace {

struct Columns : CudaKernel {
    Columns(const Shape& of_problem, const Config& config)
        : CudaKernel(of_problem, config), split(gemm::number(config, "split")), threads(gemm::number(config, "threads")) {}

    int split;  // threads of a column
    int threads;

    Reason conflict() const {
        if (Reason reason = misaligned()) return reason;
        if (split > 1 && split >= 2 * vectors()) return fmt::format("{} lanes for the {} vectors of a column", split, vectors());
        const int wanted = matrices_per_block * shape.n * split;
        if (matrices_per_block > 1 && wanted >= 32 * threads) return "a block would run through over 32 trips";
        if (wanted < threads && threads > 64) return "some threads of the block would never have work";
        return std::nullopt;
    }

    BlockResources resources() const {
        constexpr int most_in_flight = 4;
        return {.threads = threads, .registers = registers(std::min(unroll, most_in_flight))};
    }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        constexpr int longest_unrolled = 16;
        const int trips = gemm::pieces(vectors(), split);
        Block own;
        own.line("constexpr int lanes = {};  // threads that share a column", split);
        const Holes holes{{"banner", banner(problem, config, Target::cuda)},
                          {"constants", constants(threads, own)},
                          {"entry", entry(shape, Target::cuda)},
                          {"unroll", unroll_line(unroll)},
                          {"unroll_rows", unroll_line(trips <= longest_unrolled ? trips : longest_unrolled / 2)}};
        KernelSource source = make_source(problem, Target::cuda, render("batched_gemv/columns.cu", holes, {{"scaled", shape.of.scaled}}));
        source.step.push_back(launch(threads, 0));
        return source;
    }
};

}  // namespace

Form columns_form(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    FormSpace own{.name = "columns",
                  .help = "neighbouring threads share columns of A",
                  .tunables = {{"split", "threads that share a column", numbers({1, 2, 4, 8, 16, 32})},
                               {"threads", "threads of a block", numbers({64, 128, 256, 512})}},
                  .safe = {{"matrices_per_block", std::int64_t{shape.n < 16 ? 4 : 1}}, {"split", shape.m >= 16 ? 8 : 1}, {"threads", 64}},
                  .former = [](const Config& config) { return config.find("split") != nullptr; }};
    return cuda_form<Columns>(problem, CudaKernel::space(std::move(own), shape, "columns of a thread per trip"));
}

}  // namespace hone::inline v0_1::gemv
