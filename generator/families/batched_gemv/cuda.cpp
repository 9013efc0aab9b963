#include "generator/families/batched_gemv/cuda.hpp"

#include <fmt/format.h>

namespace hone::inline v0_1::gemv {

CudaKernel::CudaKernel(const Shape& of_problem, const Config& config)
    : shape(of_problem),
      width(gemm::number(config, "width")),
      matrices_per_block(gemm::number(config, "matrices_per_block")),
      unroll(gemm::number(config, "unroll")),
      min_blocks(gemm::number(config, "min_blocks", 1)) {
}

Reason CudaKernel::misaligned() const {
    if (width == 1 || (shape.m % width == 0 && shape.of.stride_a() % width == 0)) return std::nullopt;
    return fmt::format("columns of {} words, {} from matrix to matrix, are not all aligned to {} words", shape.m, shape.of.stride_a(), width);
}

Block CudaKernel::constants(int threads, const Block& own) const {
    Block block = shape_constants(shape);
    block.line("constexpr int width = {};  // words per load", width);
    block.line("constexpr int matrices_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", matrices_per_block, threads,
               min_blocks);
    return block.append(own);
}

Launch CudaKernel::launch(int threads, std::int64_t shared_words) const {
    Launch launch;
    launch.entry = "batched_gemv";
    launch.grid = {(shape.of.batch + matrices_per_block - 1) / matrices_per_block, 1, 1};
    launch.block = {threads, 1, 1};
    launch.range_axis = 0;
    launch.range_per_block = matrices_per_block;
    launch.shared_bytes = shared_words * shape.of.bytes();
    return launch;
}

FormSpace CudaKernel::space(FormSpace own, const Shape& shape, const char* unrolled) {
    FormSpace form = std::move(own);
    form.tunables.insert(
        form.tunables.begin(),
        {{"width", "words of a column that a thread loads at once", shape.of.vector_width() == 4 ? numbers({1, 2, 4}) : numbers({1, 2})},
         {"matrices_per_block", "products that a block of threads computes", numbers({1, 2, 4, 8, 16, 32, 64, 128})}});
    form.tunables.push_back({"unroll", unrolled, numbers({1, 2, 4, 8, 16})});
    form.tunables.push_back({"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4, 8})});
    form.safe.insert(form.safe.begin(), {"width", 1});
    form.safe.push_back({"unroll", 4});
    form.safe.push_back({"min_blocks", 1});
    return form;
}

Block unroll_line(int times) {
    return Block().line("#pragma unroll {}", times);
}

}  // namespace hone::inline v0_1::gemv
