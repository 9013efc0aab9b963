#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "foundation/random_words.hpp"
#include "foundation/repeated_words.hpp"
#include "generator/families/poisson7/grid.hpp"

// The plain loops over rows in double precision, and random data for it. Shares the layout with the
// generator, and nothing else.

namespace hone::inline v0_1::poisson {
namespace {

// A row of cells along x, and values of its cells.
struct Row {
    std::int64_t j, k;
};
using Words = std::vector<double>;

// A problem's arrays, and what they say about the cells of a row.
template <typename Real>
class Operator {
  public:
    Operator(const Problem& problem, std::span<void* const> arrays)
        : grid_(problem),
          specs_(poisson::arrays(problem)),
          arrays_(arrays),
          centre_(array(grid_.kind == Kind::residual ? "inverse_diagonal" : "diagonal")) {
        static constexpr std::array names{"cx", "cy", "cz"};
        if (!grid_.has_field_diagonal()) constants_ = array("coefficients");
        for (const std::size_t axis : {0U, 1U, 2U}) couplings_[axis] = array(names[axis]);
    }

    const Grid& grid() const { return grid_; }
    std::int64_t at(const Row& row) const { return (row.k * grid_.ny + row.j) * grid_.pitch; }
    Words row_of(const Real* field, const Row& row) const { return {field + at(row), field + at(row) + grid_.nx}; }
    Words row_of(double word) const { return Words(cells(), word); }
    std::size_t cells() const { return static_cast<std::size_t>(grid_.nx); }

    void store(const Words& words, const Row& row, Real* field) const {
        std::transform(words.begin(), words.end(), field + at(row), [](double word) { return static_cast<Real>(word); });
    }

    /// Null where the problem has no such array.
    Real* array(const char* name) const {
        const auto found = std::find_if(specs_.begin(), specs_.end(), [&](const ArraySpec& spec) { return spec.name == name; });
        return found == specs_.end() ? nullptr : static_cast<Real*>(arrays_[static_cast<std::size_t>(found - specs_.begin())]);
    }

    /// The cells' own coefficients, or their inverses for the residual half.
    Words centre(const Row& row) const {
        return constants_ != nullptr ? row_of(constants_[grid_.kind == Kind::residual ? 4 : 0]) : row_of(centre_, row);
    }

    /// Sums over the neighbours of couplings times the neighbours' values; `values(row)` gives
    /// those of a row.
    template <typename Values>
    Words neighbours(const Row& row, const Values& values) const {
        Words sum(cells());
        for (const int axis : {0, 1, 2})
            for (const int side : {0, 1}) {
                const Words coupling = couplings(row, axis, side), value = beyond(row, axis, side, values);
                for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += coupling[i] * value[i];
            }
        return sum;
    }

  private:
    static std::int64_t& along(Row& row, int axis) { return axis == 1 ? row.j : row.k; }
    std::int64_t extent(int axis) const { return axis == 1 ? grid_.ny : grid_.nz; }

    // To the neighbours before (side 0) or behind (side 1) along an axis.
    Words couplings(Row row, int axis, int side) const {
        if (constants_ != nullptr) return row_of(constants_[1 + axis]);
        const Real* values = couplings_[static_cast<std::size_t>(axis)];
        if (axis == 0) {
            Words words = grid_.coefficients == Coefficients::axis ? Words(values, values + grid_.nx) : row_of(values, row);
            if (grid_.coefficients == Coefficients::face && side == 1) std::rotate(words.begin(), words.begin() + 1, words.end());
            return words;
        }
        std::int64_t& n = along(row, axis);
        if (grid_.coefficients == Coefficients::axis) return row_of(values[n]);
        n = (n + side) % extent(axis);
        return row_of(values, row);
    }

    // The values of the neighbours before (side 0) or behind (side 1) along an axis.
    template <typename Values>
    Words beyond(Row row, int axis, int side, const Values& values) const {
        const bool periodic = grid_.boundary == Boundary::periodic, zeros = grid_.boundary == Boundary::dirichlet;
        if (axis == 0) {
            Words words = values(row);
            const double first = words.front(), last = words.back();
            if (side == 0) {
                std::copy_backward(words.begin(), words.end() - 1, words.end());
                words.front() = zeros ? 0 : periodic ? last : first;
            } else {
                std::copy(words.begin() + 1, words.end(), words.begin());
                words.back() = zeros ? 0 : periodic ? first : last;
            }
            return words;
        }
        std::int64_t& n = along(row, axis);
        const std::int64_t last = extent(axis) - 1;
        n += side == 0 ? -1 : 1;
        if (n >= 0 && n <= last) return values(row);
        if (zeros) return row_of(0);
        n = periodic == (n < 0) ? last : 0;
        return values(row);
    }

    Grid grid_;
    std::vector<ArraySpec> specs_;
    std::span<void* const> arrays_;
    const Real* centre_;
    const Real* constants_ = nullptr;
    std::array<const Real*, 3> couplings_{};
};

// Up to three sums, in a precision in which millions of roundings do not show.
using Sums = std::array<long double, 3>;
// What the cells of a row give to each of them.
using Terms = std::array<Words, 3>;

Words product(Words a, const Words& b) {
    std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::multiplies<>());
    return a;
}

// Calls function(row, terms) for the rows of the planes [first, last) and gives the sums of blocks:
// of each chunk of planes, its groups of columns.
template <typename Function>
std::vector<Sums> for_rows(const Grid& grid, std::int64_t first, std::int64_t last, const Function& function) {
    const std::int64_t chunks = (last - first + chunk_planes - 1) / chunk_planes, row_groups = grid.groups_of_chunk() / grid.ny;
    const std::int64_t blocks = blocks_of_chunk(grid.nx, grid.ny);
    std::vector<Sums> of_blocks(static_cast<std::size_t>(chunks * blocks), Sums{});
#pragma omp parallel for
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        for (std::int64_t k = first + chunk * chunk_planes; k < std::min(last, first + (chunk + 1) * chunk_planes); ++k)
            for (std::int64_t j = 0; j < grid.ny; ++j) {
                Terms terms;
                function(Row{j, k}, terms);
                for (std::size_t s = 0; s < terms.size(); ++s)
                    for (std::size_t i = 0; i < terms[s].size(); ++i) {
                        const std::int64_t group = j * row_groups + static_cast<std::int64_t>(i) / group_columns;
                        of_blocks[static_cast<std::size_t>(chunk * blocks + group / sums_per_block)][s] += terms[s][i];
                    }
            }
    return of_blocks;
}

// Of the whole, per cell of the grid.
std::array<double, 3> total(const Grid& grid, const std::vector<Sums>& of_blocks) {
    std::array<double, 3> result{};
    for (std::size_t s = 0; s < result.size(); ++s) {
        long double sum = 0;
        for (const Sums& sums : of_blocks) sum += sums[s];
        result[s] = static_cast<double>(sum / static_cast<long double>(grid.cells()));
    }
    return result;
}

template <typename Real>
void store_blocks(const Grid& grid, const std::vector<Sums>& of_blocks, Real* block_sums) {
    for (const Sums& sums : of_blocks)
        for (std::size_t s = 0; s < static_cast<std::size_t>(grid.sums()); ++s) *block_sums++ = static_cast<Real>(sums[s] / cells_per_block);
}

// M times the field whose rows `values` gives, in one row.
template <typename Real, typename Values>
Words product_of(const Operator<Real>& m, const Row& row, const Values& values) {
    Words product = m.neighbours(row, values);
    const Words centre = m.centre(row), value = values(row);
    for (std::size_t i = 0; i < product.size(); ++i) product[i] = centre[i] * value[i] + product[i];
    return product;
}

template <typename Real>
void apply(const Operator<Real>& m, std::int64_t first, std::int64_t last) {
    const Real* p = m.array("p");
    Real* w = m.array("w");
    const auto values = [&](const Row& row) { return m.row_of(p, row); };
    const auto sums = for_rows(m.grid(), first, last, [&](const Row& row, Terms& terms) {
        const Words applied = product_of(m, row, values);
        m.store(applied, row, w);
        if (m.grid().kind == Kind::apply_dot) terms[0] = product(values(row), applied);
    });
    if (m.grid().kind == Kind::apply_dot) m.array("dot")[0] = static_cast<Real>(total(m.grid(), sums)[0]);
}

template <typename Real>
void direction(const Operator<Real>& m, std::int64_t first, std::int64_t last) {
    const Real* z = m.array("z");
    const Real* p_old = m.array("p_old");
    Real* scalars = m.array("scalars");
    const double alpha = scalars[scalar::alpha], beta = scalars[scalar::beta], delta = scalars[scalar::delta];
    // a + factor b
    const auto sum_of = [](Words a, double factor, const Words& b) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
        return a;
    };
    const auto values = [&](const Row& row) { return sum_of(m.row_of(z, row), beta, m.row_of(p_old, row)); };
    Real *x = m.array("x"), *p = m.array("p"), *w = m.array("w");
    const auto sums = for_rows(m.grid(), first, last, [&](const Row& row, Terms& terms) {
        const Words value = values(row), applied = product_of(m, row, values);
        m.store(value, row, p);
        m.store(applied, row, w);
        m.store(sum_of(m.row_of(x, row), alpha, m.row_of(p_old, row)), row, x);
        terms[0] = product(value, applied);
    });
    if (m.grid().part) return store_blocks(m.grid(), sums, m.array("block_sums"));
    const double gamma = total(m.grid(), sums)[0];
    scalars[scalar::gamma] = static_cast<Real>(gamma);
    scalars[scalar::alpha] = static_cast<Real>(gamma > 0 ? delta / gamma : 0);
    if (!(gamma > 0) && delta != 0) scalars[scalar::breakdown] = 1;
}

template <typename Real>
void residual(const Operator<Real>& m, std::int64_t first, std::int64_t last) {
    const Real* r_old = m.array("r_old");
    const Real* w = m.array("w");
    Real* scalars = m.array("scalars");
    const double alpha = scalars[scalar::alpha], old_mean = scalars[scalar::mean];
    const double own = scalars[scalar::own_weight], neighbour = scalars[scalar::neighbour_weight];
    const auto new_residuals = [&](const Row& row, const Words& centre) {
        Words residual = m.row_of(r_old, row);
        const Words product = m.row_of(w, row);
        for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = centre[i] == 0 ? 0 : residual[i] - alpha * product[i] - old_mean;
        return residual;
    };
    const auto values = [&](const Row& row) {
        const Words centre = m.centre(row);
        Words value = new_residuals(row, centre);
        for (std::size_t i = 0; i < value.size(); ++i) value[i] *= centre[i];
        return value;
    };
    Real *r = m.array("r"), *z = m.array("z");
    const auto sums = for_rows(m.grid(), first, last, [&](const Row& row, Terms& terms) {
        const Words centre = m.centre(row), residual = new_residuals(row, centre);
        // A = D - M has the couplings with the opposite sign.
        Words preconditioned = m.neighbours(row, values);
        for (std::size_t i = 0; i < residual.size(); ++i) preconditioned[i] = centre[i] * (own * residual[i] - neighbour * preconditioned[i]);
        m.store(residual, row, r);
        m.store(preconditioned, row, z);
        terms = {product(preconditioned, residual), product(residual, residual), residual};
    });
    if (m.grid().part) return store_blocks(m.grid(), sums, m.array("block_sums"));
    const auto [delta, square, mean] = total(m.grid(), sums);
    const double old_delta = scalars[scalar::delta];
    scalars[scalar::beta] = static_cast<Real>(old_delta > 0 ? delta / old_delta : 0);
    scalars[scalar::delta] = static_cast<Real>(delta);
    scalars[scalar::residual_square] = static_cast<Real>(square);
    scalars[scalar::mean] = static_cast<Real>(mean * static_cast<double>(scalars[scalar::mean_weight]));
    if (!(delta > 0) && square > 0) scalars[scalar::breakdown] = 1;
    const auto iteration = static_cast<int>(scalars[scalar::iterations]);
    m.array("history")[iteration % history_words] = static_cast<Real>(square);
    scalars[scalar::iterations] = static_cast<Real>(iteration + 1);
}

template <typename Real>
void step(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Operator<Real> m(problem, arrays);
    switch (m.grid().kind) {
        case Kind::apply:
        case Kind::apply_dot:
            return apply(m, first, last);
        case Kind::direction:
            return direction(m, first, last);
        case Kind::residual:
            return residual(m, first, last);
    }
}

// What a word of an array is for the workload, from a uniform number u in [-1, 1). Magnitudes: see
// `workload`.
double sample(const std::string& array, double u) {
    constexpr double largest_coupling = 1.0 / 12;
    constexpr double solid_share = 0.05;
    if (array == "cx" || array == "cy" || array == "cz") return u * largest_coupling;
    if (array == "diagonal") return 1.25 + u / 4;
    if (array == "inverse_diagonal") return std::abs(u) < solid_share ? 0 : 0.75 + u / 4;
    if (array == "z" || array == "r_old") return std::copysign(1 + (std::abs(u) - 0.5) / 10, u);
    return u;
}

std::vector<double> small_array(const std::string& name, std::uint64_t seed) {
    const auto u = [&](std::int64_t index) { return random_word(seed, index); };
    if (name == "coefficients") {
        const double diagonal = sample("diagonal", u(0));
        return {diagonal, sample("cx", u(1)), sample("cy", u(2)), sample("cz", u(3)), 1 / diagonal};
    }
    std::vector<double> scalars(scalar::words, 0.0);
    scalars[scalar::alpha] = u(0) / 10;
    scalars[scalar::beta] = u(1) / 10;
    scalars[scalar::gamma] = u(2);
    scalars[scalar::delta] = name.starts_with("direction") ? 0.25 + u(3) / 10 : 1.125 + u(3) / 8;
    scalars[scalar::residual_square] = u(4);
    scalars[scalar::mean] = u(5) / 20;
    scalars[scalar::own_weight] = 1.05 + u(6) / 20;
    scalars[scalar::neighbour_weight] = 1 + u(7) / 10;
    scalars[scalar::mean_weight] = 1 + u(8) / 10;
    scalars[scalar::iterations] = std::floor(300 * (1 + u(9)));
    return scalars;
}

template <typename Real>
void fill(const Problem& problem, const Grid& grid, std::uint64_t seed, Workload& workload) {
    const std::vector<ArraySpec> specs = arrays(problem);
    for (std::size_t n = 0; n < specs.size(); ++n) {
        const ArraySpec& spec = specs[n];
        const std::span<Real> values = workload.arrays[n].values<Real>();
        const std::uint64_t own_seed = mixed(seed + n);
        const bool field = spec.words == grid.field_words() && spec.shape.find("pitch") != std::string::npos;
        if (!field || spec.access == Access::out) workload.arrays[n].poison();
        if (spec.access == Access::out) continue;
        if (spec.name == "coefficients" || spec.name == "scalars") {
            const std::vector<double> words = small_array(spec.name == "scalars" ? problem.word("kernel") : spec.name, own_seed);
            std::transform(words.begin(), words.end(), values.begin(), [](double word) { return static_cast<Real>(word); });
            continue;
        }
        const RepeatedWords<Real> words(spec.words, [&](std::int64_t word) { return sample(spec.name, random_word(own_seed, word)); });
        // Padding behind the rows is NaN, so that a kernel that uses it shows it.
        const std::int64_t row = field ? grid.pitch : spec.words, cells = field ? grid.nx : spec.words;
#pragma omp parallel for
        for (std::int64_t first = 0; first < spec.words; first += row) {
            words.copy(first, cells, values.data() + first);
            std::fill(values.data() + first + cells, values.data() + first + row, std::numeric_limits<Real>::quiet_NaN());
        }
    }
    std::vector<void*> pointers;
    for (std::size_t n = 0; n < specs.size(); ++n) {
        if (specs[n].access != Access::in) workload.expected[n] = workload.arrays[n].copy();
        pointers.push_back(specs[n].access != Access::in ? workload.expected[n].data() : workload.arrays[n].data());
    }
    reference(problem, pointers, 0, grid.nz);
}

}  // namespace

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    problem.precision() == Precision::f32 ? step<float>(problem, arrays, first, last) : step<double>(problem, arrays, first, last);
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
    // u is half a unit in the last place of 1. Couplings add up to at most 1/2, diagonals are
    // within [1, 3/2], their inverses within [1/2, 1]. Direction: 0.85 <= |p| <= 1.15, so |w| <=
    // 2.3 with an error of 19 u, p w errs by 25 u; eight planes, five levels of pairs and two more
    // roundings add 15 u of 2.65: gamma errs by 65 u. It is at least p^2 (1 - 1/2) > 0.36, so alpha
    // = delta / gamma, delta <= 0.35, errs by 2.7 times that. Residual: |r| <= 1.2, |z| <= 2 with
    // an error of 15 u, z r errs by 23 u and its sum by 59 u; beta is a quotient by 1 at least. In
    // double precision the reference errs by 25 u as well, but not in its sums.
    const double unit = grid.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
    workload.tolerance = 256 * unit;
    workload.tolerance_reason =
        "p . w errs by at most 65 unit roundoffs per cell, the reference by 25, the quotient delta / (p . w) by 2.7 times that, all else by less";
    return workload;
}

}  // namespace hone::inline v0_1::poisson
