#include <algorithm>
#include <array>
#include <cmath>

#include "generator/families/poisson7_grid.hpp"
#include "generator/random_words.hpp"

// The plain triple loop in double precision, and random data for it. Shares the layout with the generator, and nothing else.

namespace hone::poisson {
namespace {

struct Cell {
    std::int64_t i, j, k;
};

// A problem's arrays, and what they say about a cell.
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
    std::int64_t at(const Cell& c) const { return (c.k * grid_.ny + c.j) * grid_.pitch + c.i; }

    /// Null where the problem has no such array.
    Real* array(const char* name) const {
        const auto found = std::find_if(specs_.begin(), specs_.end(), [&](const ArraySpec& spec) { return spec.name == name; });
        return found == specs_.end() ? nullptr : static_cast<Real*>(arrays_[static_cast<std::size_t>(found - specs_.begin())]);
    }

    /// The cell's own coefficient, or its inverse for the residual half.
    double centre(const Cell& c) const { return constants_ != nullptr ? constants_[grid_.kind == Kind::residual ? 4 : 0] : centre_[at(c)]; }

    /// Sum over the neighbours of couplings times value(cell).
    template <typename Value>
    double neighbours(const Cell& c, Value&& value) const {
        double sum = 0;
        for (const int axis : {0, 1, 2})
            for (const int side : {0, 1}) sum += coupling(c, axis, side) * beyond(c, axis, side == 0 ? -1 : 1, value);
        return sum;
    }

  private:
    static std::int64_t& along(Cell& c, int axis) { return axis == 0 ? c.i : axis == 1 ? c.j : c.k; }
    std::int64_t extent(int axis) const { return axis == 0 ? grid_.nx : axis == 1 ? grid_.ny : grid_.nz; }

    double coupling(Cell c, int axis, int side) const {
        if (constants_ != nullptr) return constants_[1 + axis];
        const Real* values = couplings_[static_cast<std::size_t>(axis)];
        std::int64_t& n = along(c, axis);
        if (grid_.coefficients == Coefficients::axis) return values[n];
        n = (n + side) % extent(axis);
        return values[at(c)];
    }

    template <typename Value>
    double beyond(Cell c, int axis, int step, Value&& value) const {
        std::int64_t& n = along(c, axis);
        const std::int64_t last = extent(axis) - 1;
        n += step;
        if (n >= 0 && n <= last) return value(c);
        if (grid_.boundary == Boundary::dirichlet) return 0;
        n = (grid_.boundary == Boundary::periodic) == (n < 0) ? last : 0;
        return value(c);
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

// Calls function(cell, sums) for the cells of [first, last) and gives the sums per cell of the whole grid.
template <typename Function>
std::array<double, 3> for_cells(const Grid& grid, std::int64_t first, std::int64_t last, Function&& function) {
    std::vector<Sums> of_plane(static_cast<std::size_t>(last - first), Sums{});
#pragma omp parallel for
    for (std::int64_t k = first; k < last; ++k)
        for (std::int64_t j = 0; j < grid.ny; ++j)
            for (std::int64_t i = 0; i < grid.nx; ++i) function(Cell{i, j, k}, of_plane[static_cast<std::size_t>(k - first)]);
    std::array<double, 3> result{};
    for (std::size_t s = 0; s < result.size(); ++s) {
        long double sum = 0;
        for (const Sums& sums : of_plane) sum += sums[s];
        result[s] = static_cast<double>(sum / static_cast<long double>(grid.cells()));
    }
    return result;
}

template <typename Real>
void apply(const Operator<Real>& m, std::int64_t first, std::int64_t last) {
    const Real* p = m.array("p");
    Real* w = m.array("w");
    const auto value = [&](const Cell& c) -> double { return p[m.at(c)]; };
    const auto sums = for_cells(m.grid(), first, last, [&](const Cell& c, Sums& sum) {
        const double product = m.centre(c) * value(c) + m.neighbours(c, value);
        w[m.at(c)] = static_cast<Real>(product);
        sum[0] += value(c) * product;
    });
    if (m.grid().kind == Kind::apply_dot) m.array("dot")[0] = static_cast<Real>(sums[0]);
}

template <typename Real>
void direction(const Operator<Real>& m, std::int64_t first, std::int64_t last) {
    const Real* z = m.array("z");
    const Real* p_old = m.array("p_old");
    Real* scalars = m.array("scalars");
    const double alpha = scalars[scalar::alpha], beta = scalars[scalar::beta], delta = scalars[scalar::delta];
    const auto value = [&](const Cell& c) { return static_cast<double>(z[m.at(c)]) + beta * static_cast<double>(p_old[m.at(c)]); };
    Real *x = m.array("x"), *p = m.array("p"), *w = m.array("w");
    const auto [gamma, unused, also_unused] = for_cells(m.grid(), first, last, [&](const Cell& c, Sums& sum) {
        const double product = m.centre(c) * value(c) + m.neighbours(c, value);
        p[m.at(c)] = static_cast<Real>(value(c));
        w[m.at(c)] = static_cast<Real>(product);
        x[m.at(c)] = static_cast<Real>(static_cast<double>(x[m.at(c)]) + alpha * static_cast<double>(p_old[m.at(c)]));
        sum[0] += value(c) * product;
    });
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
    const auto new_residual = [&](const Cell& c) {
        return m.centre(c) == 0 ? 0 : static_cast<double>(r_old[m.at(c)]) - alpha * static_cast<double>(w[m.at(c)]) - old_mean;
    };
    const auto value = [&](const Cell& c) { return m.centre(c) * new_residual(c); };
    Real *r = m.array("r"), *z = m.array("z");
    const auto [delta, square, mean] = for_cells(m.grid(), first, last, [&](const Cell& c, Sums& sum) {
        // A = D - M has the couplings with the opposite sign.
        const double preconditioned = m.centre(c) * (own * new_residual(c) - neighbour * m.neighbours(c, value));
        r[m.at(c)] = static_cast<Real>(new_residual(c));
        z[m.at(c)] = static_cast<Real>(preconditioned);
        sum[0] += preconditioned * new_residual(c);
        sum[1] += new_residual(c) * new_residual(c);
        sum[2] += new_residual(c);
    });
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

// What a word of an array is for the workload, from a uniform number u in [-1, 1). Magnitudes: see `workload`.
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
    scalars[scalar::delta] = name == "direction" ? 0.25 + u(3) / 10 : 1.125 + u(3) / 8;
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
        workload.arrays[n].poison();
        if (spec.access == Access::out) continue;
        if (spec.name == "coefficients" || spec.name == "scalars") {
            const std::vector<double> words = small_array(spec.name == "scalars" ? problem.word("kernel") : spec.name, own_seed);
            std::transform(words.begin(), words.end(), values.begin(), [](double word) { return static_cast<Real>(word); });
            continue;
        }
        // Padding behind the rows stays NaN, so that a kernel that uses it shows it.
        const bool field = spec.words == grid.field_words() && spec.shape.find("pitch") != std::string::npos;
#pragma omp parallel for
        for (std::int64_t word = 0; word < spec.words; ++word)
            if (!field || word % grid.pitch < grid.nx)
                values[static_cast<std::size_t>(word)] = static_cast<Real>(sample(spec.name, random_word(own_seed, word)));
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
    // u is half a unit in the last place of 1. Couplings add up to at most 1/2, diagonals are within [1, 3/2], their inverses within [1/2, 1].
    // Direction: 0.85 <= |p| <= 1.15, so |w| <= 2.3 with an error of 19 u, p w errs by 25 u; eight planes, five levels of pairs and the last rounding
    // add 14 u of 2.65: gamma errs by 63 u. It is at least p^2 (1 - 1/2) > 0.36, so alpha = delta / gamma, delta <= 0.35, errs by 2.7 times that.
    // Residual: |r| <= 1.2, |z| <= 2 with an error of 15 u, z r errs by 23 u and its sum by 57 u; beta is a quotient by 1 at least.
    // In double precision the reference errs by 25 u as well, but not in its sums.
    const double unit = grid.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
    workload.tolerance = 256 * unit;
    workload.tolerance_reason =
        "p . w errs by at most 63 unit roundoffs per cell, the reference by 25, the quotient delta / (p . w) by 2.7 times that, all else by less";
    return workload;
}

}  // namespace hone::poisson
