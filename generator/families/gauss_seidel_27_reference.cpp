#include <cmath>
#include <limits>

#include "generator/families/gauss_seidel_27_grid.hpp"
#include "generator/random_words.hpp"

// The plain triple loop per colour, in double precision, and random data for it. Shares the layout with the generator, and nothing else.

namespace hone::gauss_seidel {
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
    // The word that holds coefficient `number`: with symmetric storage the first 13 are found at the neighbours that they belong to.
    std::int64_t word(std::int64_t px, std::int64_t py, std::int64_t pz, std::int64_t number) const {
        const std::int64_t point = origin + pz * z + py * y + px * x;
        if (!symmetric) return point + number * k;
        if (number >= centre) return point + (number - centre) * k;
        const std::int64_t neighbour = point + (number / 9 - 1) * z + (number / 3 % 3 - 1) * y + (number % 3 - 1) * x;
        return neighbour + (centre - number) * k;
    }
};

template <typename Real>
void sweep(const Grid& grid, Real* u, const Real* f, const Real* stencil, std::int64_t first, std::int64_t last) {
    const StencilLayout layout(grid);
    const std::int64_t plane = grid.plane();
    for (std::int64_t colour = 0; colour < 8; ++colour) {
#pragma omp parallel for
        for (std::int64_t z = first + 1; z <= last; ++z) {
            if (((z - 1) & 1) != (colour >> 2)) continue;
            for (std::int64_t y = 1 + ((colour >> 1) & 1); y <= grid.ny; y += 2)
                for (std::int64_t x = 1 + (colour & 1); x <= grid.nx; x += 2) {
                    const std::int64_t point = z * plane + y * grid.pitch + x;
                    auto sum = static_cast<double>(f[point]);
                    for (std::int64_t k = 0; k < coefficients; ++k) {
                        if (k == centre) continue;
                        const std::int64_t neighbour = point + (k / 9 - 1) * plane + (k / 3 % 3 - 1) * grid.pitch + (k % 3 - 1);
                        sum -= static_cast<double>(stencil[layout.word(x, y, z, k)]) * static_cast<double>(u[neighbour]);
                    }
                    u[point] = static_cast<Real>(sum * static_cast<double>(stencil[layout.word(x, y, z, centre)]));
                }
        }
    }
}

// u: random everywhere but in the padding; f: random at interior points only. The rest is NaN, so that a kernel that uses it shows it.
template <typename Real>
void fill_fields(const Grid& grid, std::uint64_t seed, Real* u, Real* f) {
    constexpr Real unused = std::numeric_limits<Real>::quiet_NaN();
#pragma omp parallel for
    for (std::int64_t z = 0; z < grid.nz + 2; ++z)
        for (std::int64_t y = 0; y < grid.ny + 2; ++y)
            for (std::int64_t x = 0; x < grid.pitch; ++x) {
                const std::int64_t word = (z * (grid.ny + 2) + y) * grid.pitch + x;
                const bool inside = x >= 1 && x <= grid.nx && y >= 1 && y <= grid.ny && z >= 1 && z <= grid.nz;
                u[word] = x < grid.nx + 2 ? static_cast<Real>(random_word(seed, 2 * word)) : unused;
                f[word] = inside ? static_cast<Real>(random_word(seed, 2 * word + 1)) : unused;
            }
}

// Off-centre coefficients of at most 1/26, the centre of either sign between 2 and 3: the neighbours' weights add up to at most 1/2.
template <typename Real>
void fill_stencil(const Grid& grid, std::uint64_t seed, Real* stencil) {
    constexpr double off_centre = 1.0 / (coefficients - 1);
    const StencilLayout layout(grid);
    const std::int64_t columns = layout.x == 0 ? 1 : grid.nx;
    const std::int64_t rows = layout.y == 0 ? 1 : grid.ny;
    const std::int64_t planes = layout.z == 0 ? 1 : grid.nz;
    const auto interior = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        return x >= 1 && x <= grid.nx && y >= 1 && y <= grid.ny && z >= 1 && z <= grid.nz;
    };
#pragma omp parallel for
    for (std::int64_t z = 1; z <= planes; ++z)
        for (std::int64_t y = 1; y <= rows; ++y)
            for (std::int64_t k = 0; k < coefficients; ++k)
                for (std::int64_t x = 1; x <= columns; ++x) {
                    if (layout.symmetric && k < centre && interior(x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1)) continue;  // filled there
                    const std::int64_t word = layout.word(x, y, z, k);
                    const double number = random_word(seed, word);
                    stencil[word] = static_cast<Real>(k == centre ? 1 / (number + std::copysign(2, number)) : number * off_centre);
                }
}

template <typename Real>
void fill(const Problem& problem, const Grid& grid, std::uint64_t seed, Workload& workload) {
    Real* u = workload.arrays[0].values<Real>().data();
    Real* f = workload.arrays[1].values<Real>().data();
    Real* stencil = workload.arrays[2].values<Real>().data();
    fill_fields(grid, mixed(seed), u, f);
    workload.arrays[2].poison();
    fill_stencil(grid, mixed(seed + 1), stencil);
    workload.expected[0] = workload.arrays[0].copy();
    void* pointers[] = {workload.expected[0].data(), f, stencil};
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
    // |u|, |f| <= 1, |1/s_C| <= 1/2 and the weights' sum <= 1/2 keep every intermediate sum times 1/s_C within 1, so 27 operations, the
    // multiplication and the store err by at most 30 unit roundoffs; inherited errors shrink by 1/2 per colour, so they at most double that;
    // and the reference, at worst, errs as much.
    const double unit = grid.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
    workload.tolerance = 2 * 2 * 30 * unit;
    workload.tolerance_reason =
        "30 roundings of values within 1 per update, doubled for errors inherited through weights of sum 1/2, doubled for the reference";
    return workload;
}

}  // namespace hone::gauss_seidel
