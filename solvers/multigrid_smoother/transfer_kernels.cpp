#include "solvers/multigrid_smoother/transfer_kernels.hpp"

#include <vector>

#include "foundation/error.hpp"
#include "solvers/item_kernels/item_kernels.hpp"

namespace hone::inline v0_1::solvers {
namespace {

// Item i is an interior point of the array that is written, x fastest, from plane `begin` on. All
// entries have the same arguments. `shift` leads from planes of one grid's arrays to those of the
// other.
constexpr const char* kernels = R"cpp(
#define ARRAYS real *to, const real *u, const real *f, const real *s
#define ARGUMENTS ARRAYS, int first, int last, int n, int pitch, int other_n, int other_pitch, int mean, int begin, int shift
#define POINT const int x = 1 + i % n, y = 1 + i / n % n, z = begin + i / n / n

    KERNEL residual(ARGUMENTS) {
        const long long plane = (n + 2) * (long long)pitch;
        FOR_ITEMS(i) {
            POINT;
            const long long at = z * plane + y * (long long)pitch + x;
            real sum = f[at];
            for (int dz = -1, k = 0; dz <= 1; ++dz)
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx, ++k) sum -= s[k] * u[at + dz * plane + dy * pitch + dx];
            to[at] = sum;
        }
    }

    KERNEL restrict_to(ARGUMENTS) {
        const long long plane = (other_n + 2) * (long long)other_pitch;
        FOR_ITEMS(i) {
            POINT;
            const long long at = (2 * z + shift) * plane + 2 * y * (long long)other_pitch + 2 * x;
            real sum = 0;
            for (int dz = -1; dz <= 1; ++dz)
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx) sum += real(1) / (1 << (dx * dx + dy * dy + dz * dz)) * u[at + dz * plane + dy * other_pitch + dx];
            to[z * ((n + 2) * (long long)pitch) + y * (long long)pitch + x] = mean ? sum / 8 : sum;
        }
    }

    // Along each axis an even point is a coarse one, and an odd point lies between two.
    KERNEL interpolate(ARGUMENTS) {
        const long long plane = (other_n + 2) * (long long)other_pitch;
        FOR_ITEMS(i) {
            POINT;
            real sum = 0;
            for (int a = z / 2 + shift; a <= (z + 1) / 2 + shift; ++a)
                for (int b = y / 2; b <= (y + 1) / 2; ++b)
                    for (int c = x / 2; c <= (x + 1) / 2; ++c) sum += u[a * plane + b * (long long)other_pitch + c];
            to[z * ((n + 2) * (long long)pitch) + y * (long long)pitch + x] += sum / (1 << (x % 2 + y % 2 + z % 2));
        }
    }
)cpp";

}  // namespace

KernelSource TransferKernels::source(Target target, Precision precision) {
    KernelSource source;
    source.target = target;
    source.precision = precision;
    source.text = item_kernels("Between the grids of multigrid.", target, precision, kernels);
    source.entries = {"residual", "restrict_to", "interpolate"};
    for (const char* name : {"to", "u", "f", "s"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    for (const auto& entry : source.entries) source.step.push_back({.entry = entry, .constants = std::vector<int>(7)});
    return source;
}

TransferKernels::TransferKernels(Backend& backend, Precision precision) {
    const CompileOutcome outcome = backend.compiler().compile(source(backend.device().limits.target, precision));
    if (!outcome.ok) throw Error("the kernels between grids", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
    module_ = backend.load(outcome.code);
    residual_ = module_->entry("residual");
    restrict_ = module_->entry("restrict_to");
    interpolate_ = module_->entry("interpolate");
}

void TransferKernels::launch(int entry, const std::array<void*, 4>& arrays, const Range& planes, const std::array<int, 7>& constants) const {
    std::array<void*, 4> pointers = arrays;
    std::array<int, 7> values = constants;
    const int n = constants[0];
    int first = 0, last = n * n * (planes.last - planes.first);
    std::vector<void*> arguments;
    arguments.reserve(pointers.size() + values.size() + 2);
    for (void*& pointer : pointers) arguments.push_back(static_cast<void*>(&pointer));
    arguments.insert(arguments.end(), {&first, &last});
    for (int& value : values) arguments.push_back(&value);
    module_->launch(entry, item_blocks(last), {item_threads, 1, 1}, 0, {}, arguments.data());
}

void TransferKernels::residual(void* residual, const void* u, const void* f, const void* coefficients, const Grid& grid) const {
    launch(residual_, {residual, const_cast<void*>(u), const_cast<void*>(f), const_cast<void*>(coefficients)}, {1, grid.inner() + 1},
           {grid.n, grid.pitch, 0, 0, 0, 1, 0});
}

void TransferKernels::restrict_to(void* coarse, const void* fine, const Grid& coarse_grid, const Grid& fine_grid, bool mean,
                                  const Range& planes) const {
    launch(restrict_, {coarse, const_cast<void*>(fine), nullptr, nullptr}, planes,
           {coarse_grid.n, coarse_grid.pitch, fine_grid.n, fine_grid.pitch, mean ? 1 : 0, planes.first, 2 * coarse_grid.first - fine_grid.first});
}

void TransferKernels::add_interpolated(void* fine, const void* coarse, const Grid& fine_grid, const Grid& coarse_grid, const Range& planes) const {
    launch(interpolate_, {fine, const_cast<void*>(coarse), nullptr, nullptr}, planes,
           {fine_grid.n, fine_grid.pitch, coarse_grid.n, coarse_grid.pitch, 0, planes.first, fine_grid.first / 2 - coarse_grid.first});
}

}  // namespace hone::inline v0_1::solvers
