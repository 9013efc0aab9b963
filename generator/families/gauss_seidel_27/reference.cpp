#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "foundation/caught.hpp"
#include "foundation/random_words.hpp"
#include "foundation/repeated_words.hpp"
#include "generator/families/gauss_seidel_27/grid.hpp"

// The plain loops over rows per colour, in double precision, and random data for it. Shares the
// layout with the generator, and nothing else.

namespace hone::inline v0_1::gauss_seidel {
namespace {

// Where the coefficients of point (x, y, z), counted from 1, lie.
struct StencilLayout {
    std::int64_t x, y, z, k, origin;
    bool symmetric;

    explicit StencilLayout(const Grid& grid) : x(0), y(0), z(0), k(1), symmetric(grid.stencil == Stencil::symmetric) {
        if (grid.stencil == Stencil::semi_constant) y = row_stencil_words;
        if (grid.stencil == Stencil::variable) x = 1, y = grid.pitch, k = grid.nz * grid.ny * grid.pitch;
        if (symmetric) x = 1, y = grid.pitch, k = grid.field_words();
        z = symmetric ? grid.plane() : y * grid.ny;
        origin = symmetric ? 0 : -y - z;
    }
    // The word that holds coefficient `number`: with symmetric storage the first 13 are found at
    // the neighbours that they belong to.
    std::int64_t word(std::int64_t px, std::int64_t py, std::int64_t pz, std::int64_t number) const {
        const std::int64_t point = origin + pz * z + py * y + px * x;
        if (!symmetric) return point + number * k;
        if (number >= centre) return point + (number - centre) * k;
        const std::int64_t neighbour = point + (number / 9 - 1) * z + (number / 3 % 3 - 1) * y + (number % 3 - 1) * x;
        return neighbour + (centre - number) * k;
    }
};

// sum[i] -= coefficient times neighbour, for every second point of a row. All points of a row have
// one coefficient, or each has its own.
template <typename Real>
void subtract_products(const Real* coefficient, bool of_point, const Real* neighbour, std::vector<double>& sum) {
    const std::size_t points = sum.size();
    if (of_point) {
        for (std::size_t i = 0; i < points; ++i) sum[i] -= static_cast<double>(coefficient[2 * i]) * static_cast<double>(neighbour[2 * i]);
    } else {
        const auto factor = static_cast<double>(*coefficient);
        for (std::size_t i = 0; i < points; ++i) sum[i] -= factor * static_cast<double>(neighbour[2 * i]);
    }
}

template <typename Real>
void sweep(const Grid& grid, Real* u, const Real* f, const Real* stencil, std::int64_t first, std::int64_t last) {
    const StencilLayout layout(grid);
    const std::int64_t plane = grid.plane();
    for (std::int64_t colour = 0; colour < 8; ++colour) {
        const std::int64_t x = 1 + (colour & 1);
        const auto points = static_cast<std::size_t>((grid.nx - x + 2) / 2);
        Caught caught;
#pragma omp parallel for
        for (std::int64_t z = first + 1; z <= last; ++z) {
            caught.from([&] {
                if (((z - 1) & 1) != (colour >> 2)) return;
                std::vector<double> sum(points);
                for (std::int64_t y = 1 + ((colour >> 1) & 1); y <= grid.ny; y += 2) {
                    const std::int64_t row = z * plane + y * grid.pitch + x;
                    for (std::size_t i = 0; i < points; ++i) sum[i] = static_cast<double>(f[row + static_cast<std::int64_t>(2 * i)]);
                    for (std::int64_t k = 0; k < coefficients; ++k) {
                        if (k == centre) continue;
                        const std::int64_t neighbour = row + (k / 9 - 1) * plane + (k / 3 % 3 - 1) * grid.pitch + (k % 3 - 1);
                        subtract_products(stencil + layout.word(x, y, z, k), layout.x != 0, u + neighbour, sum);
                    }
                    const Real* const inverse = stencil + layout.word(x, y, z, centre);
                    for (std::size_t i = 0; i < points; ++i) {
                        const auto at = static_cast<std::int64_t>(2 * i);
                        u[row + at] = static_cast<Real>(sum[i] * static_cast<double>(inverse[layout.x * at]));
                    }
                }
            });
        }
        caught.rethrow();
    }
}

// u: random everywhere but in the padding; f: random at interior points only. The rest is NaN, so
// that a kernel that uses it shows it.
template <typename Real>
void fill_fields(const Grid& grid, std::uint64_t seed, Real* u, Real* f) {
    constexpr Real unused = std::numeric_limits<Real>::quiet_NaN();
    const RepeatedWords<Real> words_of_u(grid.field_words(), [&](std::int64_t word) { return random_word(seed, 2 * word); });
    const RepeatedWords<Real> words_of_f(grid.field_words(), [&](std::int64_t word) { return random_word(seed, 2 * word + 1); });
#pragma omp parallel for
    for (std::int64_t z = 0; z < grid.nz + 2; ++z)
        for (std::int64_t y = 0; y < grid.ny + 2; ++y) {
            const std::int64_t row = (z * (grid.ny + 2) + y) * grid.pitch;
            const bool inside = y >= 1 && y <= grid.ny && z >= 1 && z <= grid.nz;
            words_of_u.copy(row, grid.nx + 2, u + row);
            std::fill(u + row + grid.nx + 2, u + row + grid.pitch, unused);
            std::fill(f + row, f + row + grid.pitch, unused);
            if (inside) words_of_f.copy(row + 1, grid.nx, f + row + 1);
        }
}

// Off-centre coefficients of at most 1/26, the centre of either sign between 2 and 3: the
// neighbours' weights add up to at most 1/2. The rest is NaN.
template <typename Real>
void fill_stencil(const Grid& grid, std::uint64_t seed, HostArray& array) {
    constexpr double off_centre = 1.0 / (coefficients - 1);
    const StencilLayout layout(grid);
    const RepeatedWords<Real> others(array.words(), [&](std::int64_t word) { return random_word(seed, word) * off_centre; });
    const RepeatedWords<Real> centres(array.words(), [&](std::int64_t word) {
        const double number = random_word(seed, word);
        return 1 / (number + std::copysign(2, number));
    });
    const std::int64_t columns = layout.x == 0 ? 1 : grid.nx;
    const std::int64_t rows = layout.y == 0 ? 1 : grid.ny;
    const std::int64_t planes = layout.z == 0 ? 1 : grid.nz;
    array.poison();
    Real* const stencil = array.values<Real>().data();
    const auto interior = [&](std::int64_t y, std::int64_t z) { return y >= 1 && y <= grid.ny && z >= 1 && z <= grid.nz; };
#pragma omp parallel for
    for (std::int64_t z = 1; z <= planes; ++z)
        for (std::int64_t y = 1; y <= rows; ++y)
            for (std::int64_t k = 0; k < coefficients; ++k) {
                std::int64_t first = 1, last = columns;
                if (layout.symmetric && k < centre && interior(y + k / 3 % 3 - 1, z + k / 9 - 1)) {
                    // The neighbours that are interior points have it filled in: what is left is
                    // the one at an end of the row.
                    const std::int64_t beside = k % 3 - 1;
                    if (beside == 0) continue;
                    first = last = beside < 0 ? 1 : columns;
                }
                const std::int64_t word = layout.word(first, y, z, k);
                (k == centre ? centres : others).copy(word, last - first + 1, stencil + word);
            }
}

template <typename Real>
void fill(const Problem& problem, const Grid& grid, std::uint64_t seed, Workload& workload) {
    Real* u = workload.arrays[0].values<Real>().data();
    Real* f = workload.arrays[1].values<Real>().data();
    fill_fields(grid, mixed(seed), u, f);
    fill_stencil<Real>(grid, mixed(seed + 1), workload.arrays[2]);
    workload.expected[0] = workload.arrays[0].copy();
    void* pointers[] = {workload.expected[0].data(), f, workload.arrays[2].data()};
    reference(problem, pointers, 0, grid.nz);
}

}  // namespace

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Grid grid(problem);
    if (grid.precision == Precision::f32)
        sweep(grid, static_cast<float*>(arrays[0]), static_cast<const float*>(arrays[1]), static_cast<const float*>(arrays[2]), first, last);
    else
        sweep(grid, static_cast<double*>(arrays[0]), static_cast<const double*>(arrays[1]), static_cast<const double*>(arrays[2]), first, last);
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    const Grid grid(problem);
    Workload workload;
    for (const auto& array : arrays(problem)) workload.arrays.emplace_back(grid.precision, array.words);
    workload.expected.resize(workload.arrays.size());
    if (grid.precision == Precision::f32)
        fill<float>(problem, grid, seed, workload);
    else
        fill<double>(problem, grid, seed, workload);
    // |u|, |f| <= 1, |1/s_C| <= 1/2 and the weights' sum <= 1/2 keep every intermediate sum times
    // 1/s_C within 1, so 27 operations, the multiplication and the store err by at most 30 unit
    // roundoffs; inherited errors shrink by 1/2 per colour, so they at most double that; and the
    // reference, at worst, errs as much.
    const double unit = grid.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
    workload.tolerance = 2 * 2 * 30 * unit;
    workload.tolerance_reason =
        "30 roundings of values within 1 per update, doubled for errors inherited through weights of sum 1/2, doubled for the reference";
    return workload;
}

}  // namespace hone::inline v0_1::gauss_seidel
