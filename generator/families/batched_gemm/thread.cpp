#include <fmt/format.h>

#include <algorithm>

#include "generator/families/batched_gemm/mappings.hpp"

// The mapping thread: one thread per matrix. Words come and go either as each thread's own, or through shared memory, where neighbouring threads load
// neighbouring words and then take the matrices that are theirs.

namespace hone::gemm {
namespace {

constexpr int largest_matrix = 40;    // words of C and of what a thread keeps of A and B
constexpr int largest_product = 128;  // multiply-adds

// In shared memory matrices are an odd number of words apart, so that threads reading the same word of theirs hit different banks.
constexpr int odd(int words) {
    return words | 1;
}

struct Tiny {
    Tiny(const Shape& shape, const Config& config)
        : threads(number(config, "matrices_per_block")), through_shared(config.word("exchange") == "shared") {
        a_words = shape.m * shape.k;
        b_words = shape.shared_b ? 0 : shape.k * shape.n;
        c_words = shape.m * shape.n;
        // A thread's own matrices are aligned only if all strides are.
        for (const int candidate : {2, 4})
            if (candidate <= shape.vector_width() &&
                (through_shared || (shape.stride_a() % candidate == 0 && shape.stride_b() % candidate == 0 && shape.stride_c() % candidate == 0 &&
                                    a_words % candidate == 0 && b_words % candidate == 0 && c_words % candidate == 0)))
                width = candidate;
    }
    int shared_words() const { return through_shared ? threads * std::max(odd(a_words) + (b_words == 0 ? 0 : odd(b_words)), odd(c_words)) : 0; }

    int threads;
    bool through_shared;
    int width = 1;
    int a_words, b_words, c_words;
};

bool applies(const Shape& shape, const Limits&) {
    return shape.m * shape.n <= largest_matrix && shape.m * shape.k <= largest_matrix && shape.k * shape.n <= largest_matrix &&
           shape.m * shape.n * shape.k <= largest_product;
}

std::string conflict(const Shape& shape, const Config& config) {
    if (number(config, "matrices_per_block") < 32) return "a warp is 32 threads, one per matrix";
    if (config.word("exchange") == "shared" && !shape.packed()) return "gaps would go through shared memory, too";
    return "";
}

Resources resources(const Shape& shape, const Config& config) {
    const Tiny tiny(shape, config);
    Resources result;
    result.threads = tiny.threads;
    result.shared_bytes = std::int64_t{tiny.shared_words()} * shape.bytes();
    result.registers = shape.bytes() / 4 * (tiny.a_words + shape.k * shape.n + tiny.c_words) + 24;
    result.code = std::int64_t{shape.m} * shape.n * shape.k;
    return result;
}

Block constants(const Shape& shape, const Tiny& tiny, const Config& config) {
    Block block = shape_constants(shape);
    block.line("constexpr int threads_per_block = {}, blocks_per_multiprocessor = {};", tiny.threads, number(config, "min_blocks"));
    block.line("constexpr int width = {};  // words in a load or store", tiny.width);
    if (tiny.through_shared)
        block.line("constexpr int a_here = {}, b_here = {}, c_here = {};  // distance of matrices in shared memory, odd against bank conflicts",
                   odd(tiny.a_words), odd(std::max(tiny.b_words, 1)), odd(tiny.c_words));
    return block;
}

// Moves neighbouring words between memory and shared memory.
Block move_functions(const Shape& shape, const Tiny& tiny) {
    if (!tiny.through_shared) return {};
    Block block;
    block.text("// Whether `words` words from `from` on can be moved as vectors, whatever the first matrix of the range is.");
    block.open("__device__ __forceinline__ bool in_vectors(const real* from, int words)");
    block.text("return reinterpret_cast<size_t>(from) % sizeof(Vector) == 0 && words % width == 0;");
    block.close();
    block.text("");
    block.text("// Brings the matrices of a block, `words` each; all loads of a thread are in flight together.");
    block.text("template <int words, int distance>");
    block.open("__device__ __forceinline__ void bring(real* here, const real* from, int present)");
    block.text("constexpr int loads = (words + width - 1) / width;");
    block.text("if (in_vectors(from, present * words)) {");
    block.text("    Vector vector[loads];");
    block.text("    #pragma unroll");
    block.text("    for (int i = 0; i < loads; ++i) {");
    block.text("        const int index = (threadIdx.x + i * threads_per_block) * width;");
    block.text("        if (index < present * words) vector[i] = reinterpret_cast<const Vector*>(from)[index / width];");
    block.text("    }");
    block.text("    #pragma unroll");
    block.text("    for (int i = 0; i < loads; ++i) {");
    block.text("        #pragma unroll");
    block.text("        for (int j = 0; j < width; ++j) {");
    block.text("            const int index = (threadIdx.x + i * threads_per_block) * width + j;");
    block.text("            if (index < present * words) here[index / words * distance + index % words] = vector[i].value[j];");
    block.text("        }");
    block.text("    }");
    block.text("} else {");
    block.text("    for (int index = threadIdx.x; index < present * words; index += threads_per_block)");
    block.text("        here[index / words * distance + index % words] = from[index];");
    block.text("}");
    block.close();
    block.text("");
    const bool scaled = shape.scaled;
    block.text("// Takes the results of a block to memory.");
    block.line("__device__ __forceinline__ void take_away(real* to, const real* here, int present{}) {{", scaled ? ", real alpha, real beta" : "");
    block.text("    constexpr int words = m * n;");
    block.text("    if (in_vectors(to, present * words)) {");
    block.text("        for (int index = threadIdx.x * width; index < present * words; index += threads_per_block * width) {");
    block.text("            Vector vector;");
    if (scaled) block.text("            if (beta != real(0)) vector = *reinterpret_cast<const Vector*>(to + index);");
    block.text("            #pragma unroll");
    block.text("            for (int j = 0; j < width; ++j)");
    block.line("                put(vector.value + j, here[(index + j) / words * c_here + (index + j) % words]{});", scaled ? ", alpha, beta" : "");
    block.text("            *reinterpret_cast<Vector*>(to + index) = vector;");
    block.text("        }");
    block.text("    } else {");
    block.text("        for (int index = threadIdx.x; index < present * words; index += threads_per_block)");
    block.line("            put(to + index, here[index / words * c_here + index % words]{});", scaled ? ", alpha, beta" : "");
    block.text("    }");
    block.text("}");
    block.text("");
    return block;
}

// The thread's own matrix from memory into registers.
Block load_own(const char* name, const char* from, const char* words) {
    Block block;
    block.line("real own_{}[{}];", name, words);
    block.text("#pragma unroll");
    block.open(fmt::format("for (int i = 0; i < ({}) / width; ++i)", words));
    block.line("const Vector vector = reinterpret_cast<const Vector*>({})[i];", from);
    block.text("#pragma unroll");
    block.line("for (int j = 0; j < width; ++j) own_{}[i * width + j] = vector.value[j];", name);
    block.close();
    return block;
}

Block shared_b_in_registers() {
    Block block;
    block.text("// The same B for all: loads of one address, answered by the first cache.");
    block.text("real own_b[k * n];");
    block.text("#pragma unroll");
    block.text("for (int i = 0; i < k * n; ++i) own_b[i] = b[i];");
    return block;
}

Block bring(const Shape& shape, const Tiny& tiny) {
    Block block;
    if (tiny.through_shared) {
        block.text("extern __shared__ __align__(16) unsigned char shared_memory[];");
        block.text("real* const here = reinterpret_cast<real*>(shared_memory);  // A, then B; at last C");
        block.text("bring<m * k, a_here>(here, a, present);");
        if (!shape.shared_b) block.text("bring<k * n, b_here>(here + threads_per_block * a_here, b, present);");
        block.text("__syncthreads();");
        block.text("real own_a[m * k];");
        block.text("#pragma unroll");
        block.text("for (int i = 0; i < m * k; ++i) own_a[i] = here[own * a_here + i];");
        if (shape.shared_b) return block.append(shared_b_in_registers());
        block.text("real own_b[k * n];");
        block.text("#pragma unroll");
        block.text("for (int i = 0; i < k * n; ++i) own_b[i] = here[threads_per_block * a_here + own * b_here + i];");
        return block;
    }
    block.text("if (own >= present) return;");
    block.append(load_own("a", "a + own * stride_a", "m * k"));
    return block.append(shape.shared_b ? shared_b_in_registers() : load_own("b", "b + own * stride_b", "k * n"));
}

Block take_away(const Shape& shape, const Tiny& tiny) {
    const char* const factors = shape.scaled ? ", alpha, beta" : "";
    Block block;
    if (tiny.through_shared) {
        block.text("__syncthreads();  // all have read what C replaces");
        block.text("#pragma unroll");
        block.text("for (int i = 0; i < m * n; ++i) here[own * c_here + i] = sum[i / m][i % m];");
        block.text("__syncthreads();");
        block.line("take_away(c, here, present{});", factors);
        return block;
    }
    block.text("#pragma unroll");
    block.open("for (int i = 0; i < m * n / width; ++i)");
    block.text("Vector* const to = reinterpret_cast<Vector*>(c + own * stride_c) + i;");
    block.text("Vector vector;");
    if (shape.scaled) block.text("if (beta != real(0)) vector = *to;");
    block.text("#pragma unroll");
    block.line("for (int j = 0; j < width; ++j) put(vector.value + j, sum[(i * width + j) / m][(i * width + j) % m]{});", factors);
    block.text("*to = vector;");
    block.close();
    return block;
}

KernelSource kernel(const Problem& problem, const Config& config, const Limits&) {
    const Shape shape(problem);
    const Tiny tiny(shape, config);
    const double executed = 2.0 * shape.m * shape.n * shape.k * static_cast<double>(shape.batch);
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants(shape, tiny, config)},
                      {"put", put_function(shape, "__device__ __forceinline__ ")},
                      {"move", move_functions(shape, tiny)},
                      {"entry", parameters(shape, Target::cuda)},
                      {"factors", read_factors(shape)},
                      {"bring", bring(shape, tiny)},
                      {"take_away", take_away(shape, tiny)}};
    KernelSource source = make_source(problem, Target::cuda, render("batched_gemm/thread.cu", holes), executed);
    source.step.push_back(block_launch(shape, tiny.threads, 1, resources(shape, config)));
    return source;
}

}  // namespace

Mapping thread_mapping() {
    return {"thread", applies, conflict, resources, kernel};
}

}  // namespace hone::gemm
