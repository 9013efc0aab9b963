#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// What conjugate gradients with a diagonal preconditioner do beside the product with the matrix,
/// for several right-hand sides at once, in a few small kernels that are the same text for
/// processor and GPU. Their scalars never leave the device; sums have a fixed order, whatever the
/// number of threads.
///
/// Vectors are [components][rows] in double precision; Q is the inverse diagonal [rows]. A 32-bit
/// integer for each row has bit c set where component c is held at 0:
///
///     start      x = 0, r = b (0 where held), p = Q r;               at its end delta = r . Q r, threshold = tolerance^2 delta
///     update     r -= alpha w (0 where held), alpha = delta / gamma; at its end the new delta, beta
///     direction  x += alpha p, p = Q r + beta p
///
/// where gamma = p . w. A component that reached its threshold takes no further steps: its alpha is
/// 0. Sums are per row (divided by `rows`).
class MassKernels {
  public:
    /// Words of `scalars` for each component: component c has its own at c * words.
    enum Word : int {
        alpha,        ///< step along p
        beta,         ///< share of the old direction in the new one
        delta,        ///< r . Q r
        first_delta,  ///< the first of these
        threshold,    ///< of delta
        tolerance,    ///< that of sqrt(r . Q r), squared: given before the start
        active,       ///< 1 until delta reaches it
        iterations,   ///< so far
        breakdown,    ///< 1 once a matrix was not positive definite, or a number was none
        words
    };

    /// Device pointers. `sums` holds `sum_words` words, `dot` [components] what the product with
    /// the matrix left there: p . w / rows.
    struct Arrays {
        const void *b, *q, *held, *w, *dot;
        void *x, *r, *p, *sums, *scalars;

        /// In the order in which entries take them.
        std::vector<const void*> pointers() const { return {b, q, held, w, dot, x, r, p, sums, scalars}; }
    };

    /// Rows whose products are summed up first, in pairs of neighbours; then chunks by number
    /// modulo the same, these in pairs.
    static constexpr int chunk_rows = 256;

    /// The kernels' text with the launches of one iteration, in the order of the steps above.
    static KernelSource source(Target target, int components, int rows);
    /// The text alone, which FusedMassKernels goes on; and its first part, what is done with
    /// scalars and with a row's words, for kernels of others with the same digits.
    static std::string text(Target target, int components);
    static std::string arithmetic(Target target, int components);
    static std::int64_t sum_words(int components, int rows);

    /// Throws Error with the compiler's reason when they do not compile.
    MassKernels(Backend& backend, int components, int rows);
    /// The same from a text of the caller's, for tests.
    MassKernels(Backend& backend, const KernelSource& source, int rows);

    /// The first residual and direction.
    void start(const Arrays& arrays) const;
    void update(const Arrays& arrays, Stream stream = {}) const;
    void direction(const Arrays& arrays, Stream stream = {}) const;

  private:
    void launch(std::size_t step, const Arrays& arrays, Stream stream) const;

    std::vector<Launch> steps_;
    int rows_ = 0;
    std::unique_ptr<Module> module_;
};

/// Throws Error with the compiler's reason.
CompiledCode compiled_mass_kernels(const Backend& backend, const KernelSource& source);
/// Of an entry that takes these pointers, then these numbers. `cooperative`: by
/// Module::launch_together.
void launch_mass_kernel(const Module& module, const Launch& how, std::vector<const void*> pointers, std::vector<int> numbers, Stream stream = {},
                        bool cooperative = false);

}  // namespace hone::inline v0_1::solvers::hydro
