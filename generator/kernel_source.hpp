#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "foundation/value.hpp"

namespace hone::inline v0_1 {

enum class Access { in, out, inout };

/// Which words of an array belong to which unit of a family's range. Unit i has, for every block o,
/// the words [offset + o * block_stride + i * words_per_unit, + words_per_unit). Words of no unit
/// (boundary layers) are never written by a step.
struct Slices {
    std::int64_t words_per_unit = 0;  ///< 0: not divided; every part of the range reads all of it
    std::int64_t offset = 0;
    std::int64_t blocks = 1;
    std::int64_t block_stride = 0;

    bool operator==(const Slices&) const = default;
};

/// Alignment in bytes that CUDA kernels ask of arrays where they move several values at once: the
/// widest access of a thread, and what bulk copies need.
constexpr int vector_alignment = 16;

/// An array that the application owns, in the layout that the *problem* states.
struct ArraySpec {
    std::string name;
    Access access = Access::in;
    std::int64_t words = 0;  ///< length, in values of the problem's precision: of another type's values, as many as these fill
    std::string shape;       ///< slowest index first, e.g. "[nz+2][ny+2][pitch]"
    std::string help;
    Slices slices = {};
    std::vector<std::int64_t> strides = {};  ///< from one place to the next along each index of `shape`, in its values (integers where it says so)
    std::int64_t origin = 0;                 ///< values before the first that is no boundary, ghost or padding
    int alignment = 0;                       ///< bytes that the address is a multiple of on a CUDA device; 0, and on processors: the size of a value
    std::int64_t values = 0;                 ///< its length in values of another type than the problem's precision; 0: all that fit into the words
};

/// Whether the array holds 32-bit integers, as its shape says ("[rows+1] int32"), and no values of
/// the problem's precision.
bool holds_integers(const ArraySpec& array);
/// The type of its values, as its shape says: integers, "[rows] float32" or "[rows] float64", else
/// those of the problem's precision.
ValueType value_type_of(const ArraySpec& array, Precision precision);
/// How many values of that type it has, and their bytes: all of its memory that is anybody's.
/// `words` may end up to a word behind them.
std::int64_t value_count(const ArraySpec& array, Precision precision);
std::int64_t bytes_of(const ArraySpec& array, Precision precision);

/// The array with the strides of a dense one of these extents, slowest first, its number of values,
/// and vector_alignment.
ArraySpec laid_out(ArraySpec array, const std::vector<std::int64_t>& extents, std::int64_t origin = 0);

/// An array that belongs to the kernel: operator tables, packed stencils, scratch. Allocated and
/// filled once per binding.
struct TableSpec {
    std::string name;
    std::int64_t words = 0;
    std::vector<double> contents;  ///< `words` values, rounded to the problem's precision; or empty: filled by the prepare plan, or scratch
    bool scratch = false;          ///< filled by every step itself before it reads it
};

/// A whole-number argument with the same value at every launch, e.g. nx.
struct ScalarSpec {
    std::string name;
    int value = 0;
};

using Dim3 = std::array<std::int64_t, 3>;

/// One launch of a plan. On the CPU only `entry` and `constants` matter: an entry runs over its
/// whole range by itself.
struct Launch {
    std::string entry;
    Dim3 grid{1, 1, 1};   ///< blocks; the entry at `range_axis` is replaced by the range's share
    Dim3 block{1, 1, 1};  ///< threads
    int range_axis = -1;  ///< grid axis along which the range is divided, or -1
    std::int64_t range_per_block = 1;
    std::int64_t shared_bytes = 0;  ///< dynamic shared memory
    std::vector<int> constants;     ///< trailing arguments of this launch, e.g. the colour
};

/// Operations and bytes of one time step over the whole problem, from formulas, whatever form of
/// kernel runs.
struct Counts {
    double updates = 0;     ///< grid-point updates, elements, ...
    std::string unit;       ///< the name of an update: "updates", "elements"
    double operations = 0;  ///< floating-point operations; an FMA is two
    double bytes = 0;       ///< compulsory memory traffic
};

/// The kernel that a family generates for a problem and a configuration: source text, and how to
/// run it.
///
/// Every entry point is `extern "C"` and has the same arguments in this order:
/// the arrays, the tables (pointers), the arrays taken by value (a struct of the array's words
/// each), the scalars, `first`, `last` (the range), the constants of its launch (all `int`).
struct KernelSource {
    std::string text;
    Target target = Target::cpu;
    Precision precision = Precision::f32;
    std::vector<std::string> entries;
    std::vector<ArraySpec> arrays;
    std::vector<TableSpec> tables;
    /// Numbers of small arrays that entries also take by value. They are copied once per binding
    /// and by `prepare`, and passed with every launch. A multiply-add on a CUDA device reads such
    /// words straight from constant memory.
    std::vector<int> by_value;
    std::vector<ScalarSpec> scalars;
    std::vector<Launch> prepare;     ///< fills the tables from the arrays; run once per binding and after an array that is kept so changed
    std::vector<Launch> step;        ///< one time step
    double executed_operations = 0;  ///< operations that this form really executes in one step
};

/// Bytes that the address of an array of this source must be a multiple of: its alignment for CUDA,
/// the size of a value on processors.
int address_multiple(const KernelSource& source, const ArraySpec& array);

}  // namespace hone::inline v0_1
