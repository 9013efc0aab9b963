#include "tests/generator/families/logical_step.hpp"

namespace hone::staggered_flow_test::by_index {
namespace {

using test::PublishedArrays;
using Cell = std::array<std::int64_t, 3>;  // x, y, z

class Step {
  public:
    Step(const Problem& problem, PublishedArrays& arrays)
        : a(arrays),
          kernel(problem.word("kernel")),
          periodic(problem.word("ends") == "periodic"),
          n{problem.integer("nx"), problem.integer("ny"), problem.integer("nz")} {}

    void fill(test::Draw draw) {
        const std::int64_t beyond = periodic ? 0 : 1;
        for (const char* name : {"u", "v", "w", "change_u", "change_v", "change_w", "cells"}) {
            if (!a.has(name) || a[name].spec().access == Access::out) continue;
            for (std::int64_t z = -beyond; z < n[2] + beyond; ++z)
                for (std::int64_t y = 0; y < n[1]; ++y)
                    for (std::int64_t x = 0; x < n[0]; ++x) a[name](z, y, x) = draw();
        }
        for (int i = 0; i < 6; ++i) a["numbers"](i) = draw(0.1, 0.3);
    }

    void run() {
        const double keep = a["numbers"](0), share = a["numbers"](1), dt = a["numbers"](2), diffusion = a["numbers"](3), convection = a["numbers"](4),
                     per_width = a["numbers"](5);
        for (std::int64_t z = 0; z < n[2]; ++z)
            for (std::int64_t y = 0; y < n[1]; ++y)
                for (std::int64_t x = 0; x < n[0]; ++x) {
                    const Cell c{x, y, z};
                    if (kernel == "divergence") {
                        double sum = 0;
                        for (std::size_t i = 0; i < 3; ++i) {
                            const Cell behind = next_to(c, i, 1);
                            sum += velocity(i, behind) + share * change(i, behind) - velocity(i, c) - share * change(i, c);
                        }
                        of("cells", c) = -per_width * sum;
                        continue;
                    }
                    for (std::size_t i = 0; i < 3; ++i) {
                        if (kernel == "projection")
                            velocity(i, c) += share * change(i, c) - per_width * (of("cells", c) - of("cells", next_to(c, i, -1)));
                        else
                            change(i, c) = keep * change(i, c) + dt * (diffusion * laplacian(i, c) - 4 * convection * carried_away(i, c));
                    }
                }
    }

  private:
    double& of(const std::string& name, Cell c) {
        for (std::size_t axis = 0; axis < (periodic ? 3U : 2U); ++axis) c.at(axis) = (c.at(axis) + n.at(axis)) % n.at(axis);
        return a[name](c[2], c[1], c[0]);
    }
    double& velocity(std::size_t i, const Cell& c) { return of(std::string(1, "uvw"[i]), c); }
    double& change(std::size_t i, const Cell& c) { return of(std::string("change_") + "uvw"[i], c); }
    static Cell next_to(Cell c, std::size_t axis, int side) {
        c.at(axis) += side;
        return c;
    }
    double laplacian(std::size_t i, const Cell& c) {
        double sum = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) sum += velocity(i, next_to(c, axis, -1)) + velocity(i, next_to(c, axis, 1)) - 2 * velocity(i, c);
        return sum;
    }
    // Means of the carried component and of the carrying one at the sides of the component's cell.
    double carried_away(std::size_t i, const Cell& c) {
        double sum = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (const int side : {0, 1}) {
                const Cell behind = next_to(c, axis, side), before = next_to(c, axis, side - 1);
                const double carried = (velocity(i, before) + velocity(i, behind)) / 2;
                const double carrying = axis == i ? carried : (velocity(axis, behind) + velocity(axis, next_to(behind, i, -1))) / 2;
                sum += (side == 1 ? 1 : -1) * carried * carrying;
            }
        return sum;
    }

    PublishedArrays& a;
    std::string kernel;
    bool periodic;
    Cell n;
};

}  // namespace
}  // namespace hone::staggered_flow_test::by_index

namespace hone::test {

LogicalStep staggered_flow_by_index() {
    using staggered_flow_test::by_index::Step;
    return {"staggered_flow",
            {"kernel=momentum,divergence,projection ends=periodic,planes nx=11 ny=6 nz=5", "kernel=momentum ends=planes nx=7 ny=3 nz=4 pitch=13"},
            [](const Problem& problem, PublishedArrays& arrays, Draw draw) { Step(problem, arrays).fill(draw); },
            [](const Problem& problem, PublishedArrays& arrays) { Step(problem, arrays).run(); }};
}

}  // namespace hone::test
