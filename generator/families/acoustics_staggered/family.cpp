#include "generator/families/acoustics_staggered/family.hpp"

#include <fmt/format.h>

#include <cmath>

#include "foundation/error.hpp"
#include "generator/families/acoustics_staggered/forms.hpp"
#include "generator/families/acoustics_staggered/grid.hpp"

namespace hone::inline v0_1 {
namespace acoustics {
namespace {

constexpr std::int64_t largest_extent = 65536;
constexpr std::int64_t largest_bytes = std::int64_t{1} << 40;  // per array
constexpr int most_rows = 16;                                  // M times levels: more do not fit a thread's registers
constexpr std::int64_t largest_plane = std::int64_t{1} << 31;  // a layer's words fit a 32-bit index
constexpr std::int64_t words_per_line(Precision precision) {
    return 128 / bytes_per_word(precision);
}

Kind parse_kind(const std::string& word) {
    if (word == "pressure") return Kind::pressure;
    return word == "velocity" ? Kind::velocity : Kind::step;
}

std::size_t axis_index(int axis) {
    return static_cast<std::size_t>(axis);
}

// A velocity's media: at the faces that the pressure of the cells needs when a step computes them,
// else at the cells' own.
Reach along(int axis, int before, int after) {
    Reach reach;
    reach.before[axis_index(axis)] = before;
    reach.after[axis_index(axis)] = after;
    return reach;
}

Reach everywhere(int dimension, int before, int after) {
    Reach reach;
    for (int axis = 0; axis < dimension; ++axis) {
        reach.before[axis_index(axis)] = before;
        reach.after[axis_index(axis)] = after;
    }
    return reach;
}

// Collects a problem's arrays, of the cells' shape or scalar.
class FieldList {
  public:
    explicit FieldList(const Grid& grid)
        : extents_{grid.ny + 2 * grid.ghost(), grid.pitch},
          first_(grid.position(0, 0, 0)),
          words_(grid.words()),
          slices_{grid.layer_stride(), grid.ghost() * grid.layer_stride()},
          shape_(fmt::format("{}[ny+{}][pitch]", grid.dimension == 3 ? fmt::format("[nz+{}]", 2 * grid.ghost()) : "", 2 * grid.ghost())) {
        if (grid.dimension == 3) extents_.insert(extents_.begin(), grid.nz + 2 * grid.ghost());
    }

    void add(const std::string& name, Access access, const std::string& help, Reach reach) {
        fields_.push_back({laid_out({name, access, words_, shape_, help, slices_}, extents_, first_), reach});
    }
    void add_scalar(const std::string& name, const std::string& help) {
        fields_.push_back({{name, Access::in, 1, "[1]", help, {}, {1}}, {}, Shape::scalar});
    }
    void add_damping(const Grid& grid, int axis) {
        const char letter = "xyz"[axis];
        const std::string shape = axis == 0 ? "[2][pitch]" : fmt::format("[2][n{}+{}]", letter, 2 * grid.ghost());
        const std::string help = fmt::format("factors along {} of velocities at faces, then of pressures at centres", letter);
        const std::int64_t words = damping_words(grid, axis);
        fields_.push_back({laid_out({fmt::format("damping_{}", letter), Access::in, 2 * words, shape, help}, {2, words}, damping_start(grid, axis)),
                           {},
                           Shape::damping,
                           axis});
    }
    std::vector<Field> take() { return std::move(fields_); }

  private:
    std::vector<std::int64_t> extents_;
    std::int64_t first_, words_;
    Slices slices_;
    std::string shape_;
    std::vector<Field> fields_;
};

// A part reads the old values that its outermost layers need, and computes nothing of its
// neighbours': the step does not write what it reads.
Partition partition(const Problem& problem) {
    const Grid grid(problem);
    const int m = grid.half;
    if (grid.in_place)
        throw Error(fmt::format("problem \"{}\"", problem.key()), "a part of a step in place would overwrite what the others read of its layers",
                    "use update=apart, or one device");
    if (grid.kind == Kind::pressure) return {.halo_below = m - 1, .halo_above = m};
    if (grid.kind == Kind::velocity) return {.halo_below = m, .halo_above = m - 1};
    const int halo = grid.levels * grid.reach();
    return {.halo_below = halo, .halo_above = halo};
}

// Compulsory words per cell of the arrays of the cells' shape.
int words_per_point(const Problem& problem) {
    int words = 0;
    for (const auto& field : fields(problem))
        if (field.shape == Shape::cells) words += field.array.access == Access::inout ? 2 : 1;
    return words;
}

// Of one time step. Damping: a product for a velocity, and for a pressure one with the product of
// the factors of x and of the rest.
int operations_per_point(const Grid& grid) {
    const int m = grid.half;
    const int pressure = 3 * m * grid.dimension + 1 + (grid.absorbing ? 2 : 0), velocity = 3 * m + 1 + (grid.absorbing ? 1 : 0);
    if (grid.kind == Kind::pressure) return pressure;
    return grid.dimension * velocity + (grid.kind == Kind::step ? pressure : 0);
}

// Words that a field adds to the traffic of those of the cells' shape. A step needs both rows of
// factors, the other kernels one.
double further_words(const Grid& grid, const Field& field) {
    if (field.shape == Shape::cells) return 0;
    if (field.shape == Shape::scalar) return 1;
    const std::array extents{grid.nx, grid.ny, grid.nz};
    return static_cast<double>(extents[axis_index(field.axis)]) * (grid.kind == Kind::step ? 2 : 1);
}

}  // namespace

Grid::Grid(const Problem& problem)
    : kind(parse_kind(problem.word("kernel"))),
      dimension(problem.word("dimension") == "2" ? 2 : 3),
      half(std::stoi(problem.word("order")) / 2),
      array_media(problem.word("media") == "array"),
      absorbing(problem.word("absorbing") == "sponge"),
      in_place(problem.word("update") == "in_place"),
      levels(static_cast<int>(problem.integer("levels"))),
      precision(problem.precision()),
      nx(problem.integer("nx")),
      ny(problem.integer("ny")),
      nz(problem.integer("nz")),
      pitch(problem.integer("pitch")) {
    const std::string where = fmt::format("problem \"{}\"", problem.key());
    if (dimension == 2 && nz != 1) throw Error(where, fmt::format("nz is {}", nz), "leave it out in 2D");
    if (levels > 1 && kind != Kind::step)
        throw Error(where, fmt::format("levels is {}", levels), "several time steps in one pass there are of kernel=step: leave it out");
    if (in_place && (kind != Kind::step || dimension == 2))
        throw Error(where, "update=in_place",
                    "a whole step in place there is in 3D: leave it out, kernel=velocity and kernel=pressure are in place anyway");
    if (levels * half > most_rows)
        throw Error(where, fmt::format("levels is {}", levels), fmt::format("with order={} use {} at most", 2 * half, most_rows / half));
    const std::int64_t line = words_per_line(precision), least = nx + 2 * left();
    // An odd number of lines: rows and planes that lie multiples of a larger power of two apart
    // keep some channels of the memory busier than others.
    if (pitch == 0) pitch = (divide_up(least, line) | 1) * line;
    if (pitch < least) throw Error(where, fmt::format("pitch is {}", pitch), fmt::format("a row has {} words: use at least that, or 0", least));
    if (layer_stride() >= largest_plane)
        throw Error(where, fmt::format("a plane has {} words", plane()), fmt::format("stay below {}", largest_plane));
    if (words() * word() > largest_bytes)
        throw Error(where, fmt::format("one array has {} bytes", words() * word()), fmt::format("stay below {}", largest_bytes));
}

std::vector<double> weights(int half) {
    // c_m = (-1)^(m-1) 16^(1-M) ((2M-1)!)^2 / [(M+m-1)! (M-m)! ((M-1)!)^2 (2m-1)^2]
    const auto factorial = [](int n) { return std::tgamma(n + 1.0); };
    std::vector<double> result;
    for (int m = 1; m <= half; ++m) {
        const double top = std::pow(factorial(2 * half - 1), 2) / std::pow(16.0, half - 1);
        const double bottom = factorial(half + m - 1) * factorial(half - m) * std::pow(factorial(half - 1) * (2 * m - 1), 2);
        result.push_back((m % 2 == 1 ? 1 : -1) * top / bottom);
    }
    return result;
}

std::vector<std::string> velocities(const Grid& grid) {
    return grid.dimension == 2 ? std::vector<std::string>{"u", "v"} : std::vector<std::string>{"u", "v", "w"};
}

std::vector<Field> fields(const Problem& problem) {
    const Grid grid(problem);
    const int m = grid.half;
    const bool step = grid.kind == Kind::step, velocity = grid.kind == Kind::velocity;
    const std::vector<std::string> names = velocities(grid);
    const std::string axes = "xyz";
    FieldList list(grid);
    const int p_reach = step ? grid.reach() : m;
    list.add("p", grid.kind == Kind::pressure || grid.in_place ? Access::inout : Access::in, "pressure at the centres of the cells",
             grid.kind == Kind::pressure ? Reach{} : everywhere(grid.dimension, p_reach, p_reach - (velocity ? 1 : 0)));
    for (int axis = 0; axis < grid.dimension; ++axis)
        list.add(names[axis_index(axis)], velocity || grid.in_place ? Access::inout : Access::in,
                 fmt::format("velocity along {} at the left faces", axes[axis_index(axis)]), velocity ? Reach{} : along(axis, m - 1, m));
    if (!velocity) {
        if (grid.array_media)
            list.add("kappa", Access::in, "bulk modulus times dt / h, at the centres", {});
        else
            list.add_scalar("kappa", "bulk modulus times dt / h");
    }
    if (grid.kind != Kind::pressure) {
        if (!grid.array_media) list.add_scalar("b", "reciprocal density times dt / h");
        for (int axis = 0; grid.array_media && axis < grid.dimension; ++axis)
            list.add(fmt::format("b{}", axes[axis_index(axis)]), Access::in,
                     fmt::format("reciprocal density times dt / h, where {} is", names[axis_index(axis)]), step ? along(axis, m - 1, m) : Reach{});
    }
    for (int axis = 0; grid.absorbing && axis < grid.dimension; ++axis) list.add_damping(grid, axis);
    if (step && !grid.in_place) {
        list.add("p_next", Access::out, "pressure after the step", {});
        for (const auto& name : names) list.add(name + "_next", Access::out, fmt::format("{} after the step", name), {});
    }
    return list.take();
}

std::int64_t damping_words(const Grid& grid, int axis) {
    if (axis == 0) return grid.pitch;
    return (axis == 1 ? grid.ny : grid.nz) + 2 * grid.ghost();
}

std::int64_t damping_start(const Grid& grid, int axis) {
    return axis == 0 ? grid.left() : grid.ghost();
}

std::vector<ArraySpec> arrays(const Problem& problem) {
    std::vector<ArraySpec> result;
    for (auto& field : fields(problem)) result.push_back(std::move(field.array));
    return result;
}

Counts counts(const Problem& problem) {
    const Grid grid(problem);
    const auto points = static_cast<double>(grid.points());
    double words = words_per_point(problem) * points;
    for (const auto& field : fields(problem)) words += further_words(grid, field);
    return {grid.levels * points, "points", grid.levels * operations_per_point(grid) * points, words * static_cast<double>(grid.word())};
}

KernelSource common_source(const Problem& problem, Target target) {
    const Grid grid(problem);
    KernelSource source;
    source.target = target;
    source.precision = grid.precision;
    source.arrays = arrays(problem);
    source.entries = {"acoustics_" + problem.word("kernel")};
    for (const auto& [name, value] : {std::pair{"nx", grid.nx}, std::pair{"ny", grid.ny}, std::pair{"nz", grid.nz}, std::pair{"pitch", grid.pitch}})
        source.scalars.push_back({name, static_cast<int>(value)});
    source.executed_operations = counts(problem).operations;
    return source;
}

Block banner(const Problem& problem, const Config& config, Target target) {
    const Grid grid(problem);
    Block block;
    const std::string kernel =
        (grid.levels > 1 ? fmt::format("{} steps in one pass", grid.levels) : problem.word("kernel")) + (grid.in_place ? ", in place," : "");
    block.line("// acoustics_staggered: {} in {}D, order 2-{}, {} media, {}{}", kernel, grid.dimension, 2 * grid.half, problem.word("media"),
               to_string(grid.precision), grid.absorbing ? ", absorbing" : "");
    block.line("// hone emit {} nx=512 ny=512{} --target {} --config {}", problem.class_key(), grid.dimension == 3 ? " nz=512" : "",
               to_string(target), config.key());
    block.line("// The same text serves every size and pitch.");
    block.line("// per point: {} operations, {} bytes (compulsory)", grid.levels * operations_per_point(grid),
               words_per_point(problem) * grid.word());
    return block;
}

Block parameters(const Problem& problem, const std::vector<std::string>& further) {
    std::vector<std::string> items;
    for (const auto& field : fields(problem))
        items.push_back(fmt::format("{}real* __restrict__ {}", field.array.access == Access::in ? "const " : "", field.array.name));
    for (const char* number : {"nx", "ny", "nz", "pitch", "first", "last"}) items.push_back(fmt::format("int {}", number));
    items.insert(items.end(), further.begin(), further.end());
    return Block().list(items);
}

Block weight_function(const Grid& grid, const std::string& qualifiers) {
    const std::vector<double> c = weights(grid.half);
    Block block;
    block.line("// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree {}.", 2 * grid.half);
    block.open(fmt::format("{}constexpr real weight(int m)", qualifiers));
    const char* const suffix = grid.precision == Precision::f32 ? "f" : "";
    for (std::size_t m = 1; m < c.size(); ++m) block.line("if (m == {}) return {:.17g}{};", m, c[m - 1], suffix);
    block.line("return {:.17g}{};", c.back(), suffix);
    block.close();
    return block;
}

}  // namespace acoustics

Family acoustics_staggered() {
    using namespace acoustics;
    const auto extent = [](std::string name, std::string help, std::string fallback) {
        return ProblemParameter{std::move(name), std::move(help), {}, 1, largest_extent, true, std::move(fallback)};
    };
    Family family;
    family.name = "acoustics_staggered";
    family.summary = "acoustic waves on a staggered grid: pressure, velocities, or a whole time step in one pass";
    family.source = "I. Terentyev, Explicit Finite Difference Simulations with Graphics Processing Units, TRIP annual meeting, Rice University 2009";
    family.example = "acoustics_staggered kernel=step dimension=2 order=8 media=array precision=f32 nx=512 ny=512";
    family.parameters = {{"kernel", "what is advanced: pressure, velocities, or both in one pass", {"pressure", "velocity", "step"}, 0, 0, false, ""},
                         {"dimension", "of space", {"2", "3"}, 0, 0, false, ""},
                         {"order", "of accuracy in space; it is 2 in time", {"4", "8", "16"}, 0, 0, false, ""},
                         {"media", "one bulk modulus and density, or arrays of them", {"scalar", "array"}, 0, 0, false, "array"},
                         {"absorbing", "sponge: factors along every axis damp what they multiply", {"none", "sponge"}, 0, 0, false, "none"},
                         {"update",
                          "apart: a step leaves its fields as they are, in_place: it does not (3D, on processors)",
                          {"apart", "in_place"},
                          0,
                          0,
                          false,
                          "apart"},
                         {"levels", "time steps of one pass (kernel=step; in 3D on processors, and two at order 4 on GPUs)", {}, 1, 4, false, "1"},
                         {"precision", "of fields and media", {"f32", "f64"}, 0, 0, false, ""},
                         extent("nx", "cells along x", ""),
                         extent("ny", "cells along y", ""),
                         extent("nz", "cells along z, in 3D", "1"),
                         {"pitch",
                          "words from one row to the next; 0: the least odd number of 128-byte lines",
                          {},
                          0,
                          2 * largest_extent,
                          true,
                          "0",
                          [](const Problem& problem) { return Grid(problem).pitch; }}};
    family.scale = scale_of_grid;
    family.range_unit = "rows or planes";
    family.range = [](const Problem& problem) { return Grid(problem).layers(); };
    family.partition = partition;
    family.arrays = arrays;
    set_forms(family, {{Target::cpu, cpu_forms}, {Target::cuda, cuda_forms}});
    family.reference = reference;
    family.workload = workload;
    family.counts = counts;
    return family;
}

}  // namespace hone::inline v0_1
