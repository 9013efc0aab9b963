#include <optional>

#include "generator/families/acoustics_staggered/grid.hpp"
#include "tests/generator/families/logical_step.hpp"

namespace hone::acoustics_staggered_test::by_index {
namespace {

using test::PublishedArray;
using test::PublishedArrays;

using Cell = std::array<std::int64_t, 3>;  // x, y, z

class Step {
  public:
    Step(const Problem& problem, PublishedArrays& arrays)
        : a(arrays),
          kernel(problem.word("kernel")),
          axes(problem.word("dimension") == "2" ? 2 : 3),
          half(std::stoi(problem.word("order")) / 2),
          levels(problem.integer("levels")),
          apart(problem.word("update") == "apart"),
          n{problem.integer("nx"), problem.integer("ny"), problem.integer("nz")},
          weights(acoustics::weights(static_cast<int>(half))) {}

    // All values around the cells that a pass may read, and more.
    void fill(test::Draw draw) {
        for (const std::string& name : a.names()) {
            if (a[name].spec().access == Access::out) continue;
            const bool medium = name[0] == 'b' || name[0] == 'k';
            if (a[name].spec().shape == "[1]") {
                a[name](0) = draw(0.05, 0.1);
            } else if (name.starts_with("damping")) {
                const std::size_t axis = static_cast<std::size_t>(name.back() - 'x');
                for (std::int64_t row = 0; row < 2; ++row)
                    for (std::int64_t i = -around(); i < n.at(axis) + around(); ++i) a[name](row, i) = draw(0.5, 1);
            } else {
                for_cells(around(), {}, [&](const Cell& c) { of(name, c) = medium ? draw(0.05, 0.1) : draw(); });
            }
        }
    }

    void run() {
        const std::string next = kernel == "step" && apart ? "_next" : "";
        if (kernel == "velocity")
            for (std::size_t axis = 0; axis < axes; ++axis) for_cells(0, {}, [&](const Cell& c) { of(velocity(axis), c) = new_velocity(axis, c); });
        if (kernel == "pressure") for_cells(0, {}, [&](const Cell& c) { of("p", c) = new_pressure(c); });
        if (kernel != "step") return;
        // Time steps in copies of the fields, each of fewer cells around the others than the one
        // before.
        PublishedArrays fields = a;
        Step all(*this, fields);
        for (std::int64_t level = levels; level-- > 0;) {
            const std::int64_t extension = level * (2 * half - 1);
            for (std::size_t axis = 0; axis < axes; ++axis)
                for_cells(extension, axis, [&](const Cell& c) { all.of(velocity(axis), c) = all.new_velocity(axis, c); });
            for_cells(extension, {}, [&](const Cell& c) { all.of("p", c) = all.new_pressure(c); });
        }
        for_cells(0, {}, [&](const Cell& c) {
            of("p" + next, c) = all.of("p", c);
            for (std::size_t axis = 0; axis < axes; ++axis) of(velocity(axis) + next, c) = all.of(velocity(axis), c);
        });
    }

  private:
    Step(const Step& other, PublishedArrays& arrays)
        : a(arrays),
          kernel(other.kernel),
          axes(other.axes),
          half(other.half),
          levels(other.levels),
          apart(other.apart),
          n(other.n),
          weights(other.weights) {}

    static std::string velocity(std::size_t axis) { return std::string(1, "uvw"[axis]); }
    std::int64_t around() const { return levels * (2 * half - 1); }
    double& of(const std::string& name, const Cell& c) { return axes == 2 ? a[name](c[1], c[0]) : a[name](c[2], c[1], c[0]); }
    // One word of all cells, or one of each.
    double medium(const std::string& all, const std::string& each, const Cell& c) {
        return a.has(each) && a[each].spec().strides.size() > 1 ? of(each, c) : a[all](0);
    }
    double damping(std::size_t axis, int row, const Cell& c) {
        const std::string name = std::string("damping_") + "xyz"[axis];
        return a.has(name) ? a[name](row, c.at(axis)) : 1;
    }

    // Cells and some around them; of velocities along `axis` all faces that these cells' pressures
    // need.
    template <typename Visit>
    void for_cells(std::int64_t extension, std::optional<std::size_t> axis, const Visit& visit) const {
        Cell begin{}, end = n;
        for (std::size_t along = 0; along < axes; ++along) {
            begin.at(along) -= extension + (axis == along ? half - 1 : 0);
            end.at(along) += extension + (axis == along ? half : 0);
        }
        for (std::int64_t z = begin[2]; z < end[2]; ++z)
            for (std::int64_t y = begin[1]; y < end[1]; ++y)
                for (std::int64_t x = begin[0]; x < end[0]; ++x) visit(Cell{x, y, z});
    }
    // The sum over m of c_m (f_(i + m - 1) - f_(i - m)).
    double difference(const std::string& field, std::size_t axis, Cell c) {
        double sum = 0;
        const std::int64_t i = c.at(axis);
        for (std::int64_t m = 1; m <= half; ++m) {
            c.at(axis) = i + m - 1;
            const double ahead = of(field, c);
            c.at(axis) = i - m;
            sum += weights[static_cast<std::size_t>(m - 1)] * (ahead - of(field, c));
        }
        return sum;
    }
    double new_velocity(std::size_t axis, const Cell& c) {
        const double b = medium("b", std::string("b") + "xyz"[axis], c);
        return damping(axis, 0, c) * (of(velocity(axis), c) - b * difference("p", axis, c));
    }
    double new_pressure(const Cell& c) {
        double sum = 0, factor = 1;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            Cell behind = c;
            ++behind.at(axis);
            sum += difference(velocity(axis), axis, behind);
            factor *= damping(axis, 1, c);
        }
        return factor * (of("p", c) - medium("kappa", "kappa", c) * sum);
    }

    PublishedArrays& a;
    std::string kernel;
    std::size_t axes;
    std::int64_t half, levels;
    bool apart;
    Cell n;
    std::vector<double> weights;
};

}  // namespace
}  // namespace hone::acoustics_staggered_test::by_index

namespace hone::test {

LogicalStep acoustics_staggered_by_index() {
    using acoustics_staggered_test::by_index::Step;
    return {"acoustics_staggered",
            {"kernel=pressure,velocity,step dimension=2 order=4,8 media=scalar,array absorbing=none,sponge nx=13 ny=6",
             "kernel=pressure,velocity,step dimension=3 order=4 media=scalar,array absorbing=none,sponge nx=13 ny=6 nz=5",
             "kernel=step dimension=3 order=4 media=array absorbing=sponge update=in_place nx=13 ny=6 nz=5",
             "kernel=step dimension=2 order=8 media=array absorbing=sponge levels=2 nx=9 ny=6",
             "kernel=step dimension=3 order=4 media=array absorbing=sponge levels=2 nx=9 ny=6 nz=5 pitch=99",
             "kernel=pressure dimension=2 order=16 media=array nx=9 ny=6 pitch=167"},
            [](const Problem& problem, PublishedArrays& arrays, Draw draw) { Step(problem, arrays).fill(draw); },
            [](const Problem& problem, PublishedArrays& arrays) { Step(problem, arrays).run(); }};
}

}  // namespace hone::test
