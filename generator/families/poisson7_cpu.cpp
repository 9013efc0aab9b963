#include "generator/families/cpu_team.hpp"
#include "generator/families/poisson7_grid.hpp"
#include "generator/render.hpp"

namespace hone::poisson {
namespace {

Block constants(const Grid& grid, const Config& config) {
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int y_block = {}, z_block = {}, vector_words = {};", config.integer("y_block"), config.integer("z_block"),
               config.integer("vector_bytes") / grid.word());
    if (grid.sums() > 0) {
        block.line("constexpr int sums = {}, chunk = {}, group_columns = {};", grid.sums(), chunk_planes, group_columns);
        block.line("constexpr int sums_per_block = {}, sum_lanes = {};", sums_per_block, sum_threads);
    }
    if (grid.fused()) block.append(scalar_words());
    return block;
}

Block multiply_add(const Grid& grid) {
    Block block;
    block.line("// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between configurations.");
    block.open("inline real multiply_add(real a, real b, real c)");
    block.line("#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)");
    block.line("return __builtin_fma{}(a, b, c);", grid.precision == Precision::f32 ? "f" : "");
    block.line("#else");
    block.line("return a * b + c;");
    block.line("#endif");
    return block.close();
}

// What the stencil acts on, at word i of a row that starts at `at`.
Block value(const Grid& grid) {
    Block block;
    if (grid.kind == Kind::direction) {
        block.line("// The new direction.");
        block.open("inline real value(const Arrays& a, wide at, int i)");
        block.line("return multiply_add(a.beta, a.p_old[at + i], a.z[at + i]);").close();
    }
    if (grid.kind == Kind::residual) {
        block.line("// The new residual of a cell; a solid one has none.");
        block.open("inline real new_residual(const Arrays& a, real r_old, real w, real q)");
        block.line("const real r = multiply_add(-a.alpha, w, r_old) - a.mean;");
        block.line("return q == 0 ? real(0) : r;").close();
        block.text("");
        block.line("// The new residual over the diagonal.");
        block.open("inline real value(const Arrays& a, wide at, int i)");
        block.line("const real q = a.inverse_diagonal{};", grid.has_field_diagonal() ? "[at + i]" : "");
        block.line("return q * new_residual(a, a.r_old[at + i], a.w[at + i], q);").close();
    }
    return block;
}

// `class Rows`: the rows that the stencil takes. Where it acts on an array of the application they are rows of that, else three planes of rows are
// made ahead.
Block rows(const Grid& grid) {
    Block block = value(grid);
    if (grid.fused()) block.text("");
    block.line("// The rows that the stencil takes, which may lie one beyond the grid.");
    block.open("class Rows");
    block.line("const Arrays& a;");
    if (grid.fused()) {
        block.line("wide row_words = (wide(a.nx) + 15) / 16 * 16;");
        block.line("std::vector<real> planes = std::vector<real>(3 * (y_block + 2) * row_words);").line("int y_first = 0, y_last = 0;");
        block.line("wide position(int j, int k) const {{ return ((k + 3) % 3 * (y_block + 2) + j - y_first) * row_words; }}");
    } else {
        block.line("std::vector<real> zeros = std::vector<real>(a.nx);");
    }
    block.text("").line("public:");
    block.line("explicit Rows(const Arrays& arrays) : a(arrays) {{}}").text("");
    if (!grid.fused()) {
        block.line("void begin(int, int, int) {{}}").line("void load(int) {{}}").text("");
        block.open("const real* row(int j, int k) const");
        block.line("if (is_zero(j, a.ny) || is_zero(k, a.nz)) return zeros.data();");
        block.line("return a.p + (wide(source(k, a.nz)) * a.ny + source(j, a.ny)) * a.pitch;").close();
        return block.close(";");
    }
    block.line("// Rows [y_begin, y_end), and those beside them, of the planes below z_begin and z_begin.");
    block.open("void begin(int y_begin, int y_end, int z_begin)");
    block.line("y_first = y_begin - 1, y_last = y_end;").line("load(z_begin - 1);").line("load(z_begin);").close();
    block.text("");
    block.open("void load(int k)");
    block.open("for (int j = y_first; j <= y_last; ++j)");
    block.line("real* const to = planes.data() + position(j, k);");
    block.open("if (is_zero(j, a.ny) || is_zero(k, a.nz))");
    block.line("std::fill_n(to, a.nx, real(0));").line("continue;").close();
    block.line("const wide at = (wide(source(k, a.nz)) * a.ny + source(j, a.ny)) * a.pitch;");
    block.line("#pragma omp simd simdlen(vector_words)");
    block.line("for (int i = 0; i < a.nx; ++i) to[i] = value(a, at, i);").close().close();
    block.text("");
    block.line("const real* row(int j, int k) const {{ return planes.data() + position(j, k); }}");
    return block.close(";");
}

// The rows of the arrays that an update takes beside those of the stencil.
Block row_pointers(const Grid& grid) {
    Block block;
    const auto row = [&](const char* name, bool changed) { block.line("{}real* const {} = a.{} + at;", changed ? "" : "const ", name, name); };
    if (grid.kind == Kind::direction) {
        row("p_old", false);
        for (const char* name : {"x", "p"}) row(name, true);
    }
    if (grid.kind == Kind::residual) {
        for (const char* name : {"r_old", "w"}) row(name, false);
        for (const char* name : {"r", "z"}) row(name, true);
    } else {
        row("w", true);
    }
    if (grid.has_field_diagonal()) row(grid.kind == Kind::residual ? "inverse_diagonal" : "diagonal", false);
    if (grid.coefficients == Coefficients::axis) block.line("const real *const cx = a.cx, cy = a.cy[j], cz = a.cz[k];");
    if (grid.coefficients == Coefficients::face) {
        block.line("const wide plane = wide(a.ny) * a.pitch;");
        block.line("const real *const cx = a.cx + at, *const c_south = a.cy + at, *const c_below = a.cz + at;");
        block.line("const real* const c_north = j + 1 < a.ny ? c_south + a.pitch : c_south - wide(j) * a.pitch;");
        block.line("const real* const c_above = k + 1 < a.nz ? c_below + plane : c_below - k * plane;");
    }
    if (grid.sums() > 0) {
        block.line("const wide columns = groups_of_row(nx) * group_columns;");
        for (int s = 0; s < grid.sums(); ++s) block.line("real* const sum_{0} = sums + {0} * y_block * columns;", s);
    }
    return block;
}

// One cell.
Block update(const Grid& grid) {
    Block block;
    if (grid.coefficients == Coefficients::face) {
        block.line("const real in_row = multiply_add(cx[i_east], east, cx[i] * west);");
        block.line("const real in_plane = multiply_add(c_north[i], north[i], multiply_add(c_south[i], south[i], in_row));");
        block.line("const real sum = multiply_add(c_above[i], above[i], multiply_add(c_below[i], below[i], in_plane));");
    } else {
        const bool axis = grid.coefficients == Coefficients::axis;
        block.line("(void)i_east;");
        block.line("const real in_plane = multiply_add({0}cy, south[i] + north[i], {0}cx{1} * (west + east));", axis ? "" : "a.", axis ? "[i]" : "");
        block.line("const real sum = multiply_add({}cz, below[i] + above[i], in_plane);", axis ? "" : "a.");
    }
    const std::string own = grid.has_field_diagonal() ? "[i]" : "";
    const std::string from = grid.has_field_diagonal() ? "" : "a.";
    if (grid.kind == Kind::residual) {
        block.line("const real q = {}inverse_diagonal{}, new_r = new_residual(a, r_old[i], w[i], q);", from, own);
        block.line("const real new_z = multiply_add(-(a.neighbour_weight * q), sum, a.own_weight * here[i]);");
        block.line("r[i] = new_r;").line("z[i] = new_z;");
        block.line("sum_0[i] = multiply_add(new_z, new_r, sum_0[i]);");
        block.line("sum_1[i] = multiply_add(new_r, new_r, sum_1[i]);");
        return block.line("sum_2[i] = sum_2[i] + new_r;");
    }
    block.line("const real product = multiply_add({}diagonal{}, here[i], sum);", from, own);
    block.line("w[i] = product;");
    if (grid.kind == Kind::direction) block.line("p[i] = here[i];").line("x[i] = multiply_add(a.alpha, p_old[i], x[i]);");
    if (grid.sums() > 0) block.line("sum_0[i] = multiply_add(here[i], product, sum_0[i]);");
    return block;
}

Block flush(const Grid& grid) {
    Block block;
    if (grid.sums() == 0) return block;
    block.line("inline wide groups_in_range(int nx, int ny, int first, int last)").line("{{");
    block.line("    return wide((last - first + chunk - 1) / chunk) * ny * groups_of_row(nx);").line("}}");
    block.text("");
    block.line("// At the end of a chunk: the columns of a group in pairs of neighbours.");
    block.open("inline void add_up(real* columns, wide groups, real* to)");
    block.open("for (wide group = 0; group < groups; ++group, columns += group_columns)");
    // One line a level: loops of known length become vector instructions.
    block.line("real sum[group_columns / 2];");
    for (std::int64_t pairs = group_columns / 2; pairs > 0; pairs /= 2)
        block.line("for (int t = 0; t < {0}; ++t) sum[t] = {1}[2 * t] + {1}[2 * t + 1];", pairs, pairs == group_columns / 2 ? "columns" : "sum");
    block.line("to[group] = sum[0];");
    block.line("std::fill_n(columns, group_columns, real(0));");
    return block.close().close();
}

Block groups_of_row() {
    Block block;
    block.open("inline wide groups_of_row(int nx)");
    return block.line("return (nx + group_columns - 1) / group_columns;").close();
}

Block begin_sums(const Grid& grid) {
    Block block;
    if (grid.sums() == 0) return block.line("const auto sums_of_row = [](int) {{ return static_cast<real*>(nullptr); }};");
    block.line("const wide groups = groups_in_range(nx, ny, first, last), row_groups = groups_of_row(nx);");
    block.line("std::vector<real> of_columns(sums * y_block * row_groups * group_columns);");
    return block.line("const auto sums_of_row = [&](int row) {{ return of_columns.data() + row * row_groups * group_columns; }};");
}

Block flush_chunk(const Grid& grid) {
    Block block;
    if (grid.sums() == 0) return block;
    block.line("if ((k - first) % chunk != chunk - 1 && k + 1 != z_end) continue;");
    block.line("for (int s = 0; s < sums; ++s)");
    block.line("    for (int j = y_begin; j < y_end; ++j)");
    return block.line(
        "        add_up(sums_of_row(s * y_block + j - y_begin), row_groups, "
        "group_sums + s * groups + (wide((k - first) / chunk) * ny + j) * row_groups);");
}

}  // namespace

KernelSource cpu_kernel(const Problem& problem, const Config& config) {
    const Grid grid(problem);
    const bool summed = grid.sums() > 0;
    Block rows_of_stencil = rows(grid);
    if (summed) rows_of_stencil.text("").append(groups_of_row());
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("poisson7.cpp", {{"banner", banner(problem, config, Target::cpu)},
                                          {"constants", constants(grid, config)},
                                          {"arrays", arrays_struct(problem)},
                                          {"boundary", boundary(grid, "inline")},
                                          {"multiply_add", multiply_add(grid)},
                                          {"rows", rows_of_stencil},
                                          {"row_pointers", row_pointers(grid)},
                                          {"update", update(grid)},
                                          {"flush", flush(grid)},
                                          {"team", team(config)},
                                          {"parallel", team_parallel(config)},
                                          {"seat", team_seat(config)},
                                          {"parameters", parameters(problem)},
                                          {"gathered", gathered(problem)},
                                          {"begin_sums", begin_sums(grid)},
                                          {"flush_chunk", flush_chunk(grid)}});
    source.entries = {"poisson7"};
    source.step.resize(1);
    source.step[0].entry = "poisson7";
    if (!summed) return source;
    source.text += render("poisson7_sums.cpp", {{"parameters", parameters(problem)}, {"next_scalars", next_scalars(grid)}});
    source.entries.emplace_back("finish");
    source.step.resize(2);
    source.step[1].entry = "finish";
    return source;
}

}  // namespace hone::poisson
