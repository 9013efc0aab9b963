#include "tests/generator/families/logical_step.hpp"

namespace hone::poisson7_test::by_index {
namespace {

using test::PublishedArray;
using test::PublishedArrays;

// Words of `scalars`, in the order of family.hpp.
enum Word { alpha, beta, gamma, delta, residual_square, mean, own_weight, neighbour_weight, mean_weight, breakdown, iterations };

class Step {
  public:
    Step(const Problem& problem, PublishedArrays& arrays)
        : a(arrays),
          kernel(problem.word("kernel")),
          coefficients(problem.word("coefficients")),
          boundary(problem.word("boundary")),
          n{problem.integer("nx"), problem.integer("ny"), problem.integer("nz")} {}

    template <typename Visit>
    void for_cells(const Visit& visit) const {
        for (std::int64_t z = 0; z < n[2]; ++z)
            for (std::int64_t y = 0; y < n[1]; ++y)
                for (std::int64_t x = 0; x < n[0]; ++x) visit(Cell{x, y, z});
    }

    void fill(test::Draw draw) {
        for (const char* name : {"p", "z", "p_old", "x", "r_old", "w", "diagonal", "inverse_diagonal", "cx", "cy", "cz"}) {
            if (!a.has(name) || a[name].spec().access == Access::out) continue;
            const bool coupling = name[0] == 'c', diagonal = std::string(name).find("diagonal") != std::string::npos;
            const auto drawn = [&] { return coupling ? draw() / 12 : diagonal ? draw(0.5, 1) : draw(); };
            if (coupling && coefficients == "axis")
                for (std::int64_t i = 0; i < n.at(static_cast<std::size_t>(name[1] - 'x')); ++i) a[name](i) = drawn();
            else
                for_cells([&](const Cell& c) { of(name, c) = drawn(); });
        }
        if (coefficients == "scalar")
            for (int i = 0; i < 5; ++i) a["coefficients"](i) = i == 0 ? 1.25 : i == 4 ? 0.8 : draw() / 12;
        if (!a.has("scalars")) return;
        for (int i = 0; i < 16; ++i) a["scalars"](i) = draw(0.1, 0.4);
        a["scalars"](breakdown) = 0, a["scalars"](iterations) = 3;
        if (a.has("history"))
            for (int i = 0; i < 256; ++i) a["history"](i) = draw();
    }

    void run() {
        if (kernel.starts_with("apply")) {
            double dot = 0;
            for_cells([&](const Cell& c) { of("w", c) = product("p", c), dot += of("p", c) * of("w", c); });
            if (kernel == "apply_dot") a["dot"](0) = dot / cells();
        } else if (kernel.starts_with("direction")) {
            direction();
        } else {
            residual();
        }
    }

  private:
    using Cell = std::array<std::int64_t, 3>;  // x, y, z

    double& of(const std::string& name, const Cell& c) { return a[name](c[2], c[1], c[0]); }
    double cells() const { return static_cast<double>(n[0] * n[1] * n[2]); }

    // Between a cell and its neighbour before (-1) or behind (1) it along an axis.
    double coupling(const Cell& c, std::size_t axis, int side) {
        const std::string name = std::string("c") + "xyz"[axis];
        if (coefficients == "scalar") return a["coefficients"](1 + static_cast<int>(axis));
        if (coefficients == "axis") return a[name](c.at(axis));
        Cell at = c;
        if (side > 0) at.at(axis) = (at.at(axis) + 1) % n.at(axis);
        return of(name, at);
    }
    double neighbours(const std::string& field, const Cell& c) {
        double sum = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (const int side : {-1, 1}) {
                Cell at = c;
                at.at(axis) += side;
                const bool beyond = at.at(axis) < 0 || at.at(axis) == n.at(axis);
                if (beyond && boundary == "dirichlet") continue;
                if (beyond) at.at(axis) = boundary == "neumann" ? c.at(axis) : (at.at(axis) + n.at(axis)) % n.at(axis);
                sum += coupling(c, axis, side) * of(field, at);
            }
        return sum;
    }
    double product(const std::string& field, const Cell& c) {
        return (coefficients == "scalar" ? a["coefficients"](0) : of("diagonal", c)) * of(field, c) + neighbours(field, c);
    }
    double inverse_diagonal(const Cell& c) { return coefficients == "scalar" ? a["coefficients"](4) : of("inverse_diagonal", c); }

    // So small a grid has one block for each eight planes.
    void add_to_block(const Cell& c, int sum, double value) {
        if (!kernel.ends_with("_part")) return;
        double& block = a["block_sums"](c[2] / 8, sum);
        block = (std::isnan(block) ? 0 : block) + value / (8.0 * 32 * 1024);
    }

    void direction() {
        PublishedArray& s = a["scalars"];
        for_cells([&](const Cell& c) { of("p", c) = of("z", c) + s(beta) * of("p_old", c), of("x", c) += s(alpha) * of("p_old", c); });
        double sum = 0;
        for_cells([&](const Cell& c) {
            of("w", c) = product("p", c);
            sum += of("p", c) * of("w", c);
            add_to_block(c, 0, of("p", c) * of("w", c));
        });
        if (kernel.ends_with("_part")) return;
        s(gamma) = sum / cells();
        s(alpha) = sum > 0 ? s(delta) / s(gamma) : 0;
        if (sum <= 0) s(breakdown) = 1;
    }

    void residual() {
        PublishedArray& s = a["scalars"];
        for_cells([&](const Cell& c) {
            of("r", c) = of("r_old", c) - s(alpha) * of("w", c) - s(mean);
            of("z", c) = inverse_diagonal(c) * of("r", c);
        });
        // z = Q (own r + neighbour A Q r), A = D - M.
        std::array<double, 3> sums{};
        std::vector<double> preconditioned;
        for_cells([&](const Cell& c) {
            preconditioned.push_back(inverse_diagonal(c) * (s(own_weight) * of("r", c) - s(neighbour_weight) * neighbours("z", c)));
        });
        std::size_t next = 0;
        for_cells([&](const Cell& c) {
            of("z", c) = preconditioned[next++];
            const std::array<double, 3> terms{of("z", c) * of("r", c), of("r", c) * of("r", c), of("r", c)};
            for (std::size_t i = 0; i < 3; ++i) sums.at(i) += terms.at(i), add_to_block(c, static_cast<int>(i), terms.at(i));
        });
        if (kernel.ends_with("_part")) return;
        const double new_delta = sums[0] / cells();
        s(beta) = s(delta) > 0 ? new_delta / s(delta) : 0;
        s(delta) = new_delta;
        s(residual_square) = sums[1] / cells();
        s(mean) = sums[2] / cells() * s(mean_weight);
        if (new_delta <= 0) s(breakdown) = 1;
        a["history"](static_cast<std::int64_t>(s(iterations)) % 256) = s(residual_square);
        s(iterations) += 1;
    }

    PublishedArrays& a;
    std::string kernel, coefficients, boundary;
    Cell n;
};

}  // namespace
}  // namespace hone::poisson7_test::by_index

namespace hone::test {

LogicalStep poisson7_by_index() {
    using poisson7_test::by_index::Step;
    return {
        "poisson7",
        {"kernel=apply,apply_dot,direction,residual,direction_part,residual_part coefficients=scalar,axis,face boundary=periodic,dirichlet,neumann "
         "nx=13 ny=6 nz=11",
         "kernel=direction,residual coefficients=face boundary=periodic nx=8 ny=5 nz=4 pitch=19"},
        [](const Problem& problem, PublishedArrays& arrays, Draw draw) { Step(problem, arrays).fill(draw); },
        [](const Problem& problem, PublishedArrays& arrays) { Step(problem, arrays).run(); }};
}

}  // namespace hone::test
