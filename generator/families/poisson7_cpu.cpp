#include <fmt/format.h>

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
    block.line("constexpr int rows_together = {}, planes_together = {};  // updated at once", config.integer("rows_together"),
               config.integer("planes_together"));
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

// `class Rows`: the rows that the stencil takes. Where it acts on an array of the application they are rows of that, else planes of rows are made
// ahead, with the words beside them at both ends.
Block rows(const Grid& grid) {
    Block block = value(grid);
    if (grid.fused()) block.text("");
    block.line("// The rows that the stencil takes, which may lie one beyond the grid.");
    block.open("class Rows");
    block.line("const Arrays& a;");
    if (grid.fused()) {
        block.line("static constexpr int margin = 64 / sizeof(real), planes_kept = planes_together + 2;");
        block.line("wide row_words = (wide(a.nx) + 2 * margin + 15) / 16 * 16;");
        block.line("Buffer planes = Buffer(planes_kept * (y_block + 2) * row_words);").line("int y_first = 0, y_last = 0;");
    } else {
        block.line("std::vector<real> zeros = std::vector<real>(a.nx);");
    }
    block.text("").line("public:");
    block.line("explicit Rows(const Arrays& arrays) : a(arrays) {{}}").text("");
    if (!grid.fused()) {
        block.line("void begin(int, int, int) {{}}").line("void load(int) {{}}").text("");
        block.open("const real* row(int j, int k)");
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
    block.line("real* const to = row(j, k);");
    block.open("if (is_zero(j, a.ny) || is_zero(k, a.nz))");
    block.line("std::fill_n(to - 1, a.nx + 2, real(0));").line("continue;").close();
    block.line("const wide at = (wide(source(k, a.nz)) * a.ny + source(j, a.ny)) * a.pitch;");
    block.line("#pragma omp simd simdlen(vector_words)");
    block.line("for (int i = 0; i < a.nx; ++i) to[i] = value(a, at, i);");
    block.line("to[-1] = is_zero(-1, a.nx) ? 0 : to[source(-1, a.nx)], to[a.nx] = is_zero(a.nx, a.nx) ? 0 : to[source(a.nx, a.nx)];").close().close();
    block.text("");
    block.open("real* row(int j, int k)");
    block.line("return planes.data() + margin + ((k + planes_kept) % planes_kept * (y_block + 2) + j - y_first) * row_words;").close();
    return block.close(";");
}

// The rows of the arrays that an update takes beside those of the stencil.
struct RowArray {
    const char* name;
    bool changed;
};

std::vector<RowArray> row_arrays(const Grid& grid) {
    std::vector<RowArray> arrays;
    if (grid.has_field_diagonal()) arrays.push_back({grid.kind == Kind::residual ? "inverse_diagonal" : "diagonal", false});
    switch (grid.kind) {
        case Kind::apply:
        case Kind::apply_dot:
            arrays.push_back({"w", true});
            break;
        case Kind::direction:
            arrays.insert(arrays.end(), {{"p_old", false}, {"x", true}, {"p", true}, {"w", true}});
            break;
        case Kind::residual:
            arrays.insert(arrays.end(), {{"r_old", false}, {"w", false}, {"r", true}, {"z", true}});
            break;
    }
    return arrays;
}

Block row_pointers(const Grid& grid) {
    Block block;
    for (const auto& array : row_arrays(grid)) block.line("{}real* {}[planes][rows];", array.changed ? "" : "const ", array.name);
    if (grid.coefficients == Coefficients::axis) block.line("const real* const cx = a.cx;").line("real cy[rows], cz[planes];");
    if (grid.coefficients == Coefficients::face)
        block.line("const real *cx[planes][rows], *c_south[planes][rows], *c_north[planes][rows], *c_below[planes][rows], *c_above[planes][rows];");
    block.open("for (int q = 0; q < planes; ++q)").open("for (int t = 0; t < rows; ++t)");
    block.line("const wide at = (wide(k + q) * a.ny + j + t) * a.pitch;");
    std::string pointers;
    for (const auto& array : row_arrays(grid)) pointers += fmt::format("{0}{1}[q][t] = a.{1} + at", pointers.empty() ? "" : ", ", array.name);
    block.line("{};", pointers);
    if (grid.coefficients == Coefficients::axis) block.line("cy[t] = a.cy[j + t], cz[q] = a.cz[k + q];");
    if (grid.coefficients == Coefficients::face) {
        block.line("const wide plane = wide(a.ny) * a.pitch;");
        block.line("cx[q][t] = a.cx + at, c_south[q][t] = a.cy + at, c_below[q][t] = a.cz + at;");
        block.line("c_north[q][t] = a.cy + at + (j + t + 1 < a.ny ? a.pitch : -wide(j + t) * a.pitch);");
        block.line("c_above[q][t] = a.cz + at + (k + q + 1 < a.nz ? plane : -(k + q) * plane);");
    }
    block.close().close();
    if (grid.sums() == 0) return block;
    block.line("real* of_columns[sums][rows];");
    block.line("for (int s = 0; s < sums; ++s)");
    return block.line("    for (int t = 0; t < rows; ++t) of_columns[s][t] = first_sums + (s * y_block + t) * groups_of_row(nx) * group_columns;");
}

// The sum over a cell's neighbours, in the order that all targets take.
Block neighbours(const Grid& grid) {
    Block block;
    block.line("const real south = stencil[q + 1][t][i], north = stencil[q + 1][t + 2][i];");
    block.line("const real below = stencil[q][t + 1][i], above = stencil[q + 2][t + 1][i];");
    if (grid.coefficients == Coefficients::face) {
        block.line("const real in_row = multiply_add(cx[q][t][i_behind], east(q, t, i), cx[q][t][i] * west(q, t, i));");
        block.line("const real in_plane = multiply_add(c_north[q][t][i], north, multiply_add(c_south[q][t][i], south, in_row));");
        return block.line("const real sum = multiply_add(c_above[q][t][i], above, multiply_add(c_below[q][t][i], below, in_plane));");
    }
    const bool axis = grid.coefficients == Coefficients::axis;
    block.line("(void)i_behind;");
    block.line("const real in_plane = multiply_add({}, south + north, {} * (west(q, t, i) + east(q, t, i)));", axis ? "cy[t]" : "a.cy",
               axis ? "cx[i]" : "a.cx");
    return block.line("const real sum = multiply_add({}, below + above, in_plane);", axis ? "cz[q]" : "a.cz");
}

// All new words first, then the stores: the compiler does not know that these change none of the rows that are still to be read.
Block update(const Grid& grid) {
    Block block;
    const bool residual = grid.kind == Kind::residual;
    std::vector<const char*> stored;
    for (const auto& array : row_arrays(grid))
        if (array.changed) stored.push_back(array.name);
    for (const char* name : stored) block.line("real new_{}[planes][rows];", name);
    block.open("for (int q = 0; q < planes; ++q)").open("for (int t = 0; t < rows; ++t)");
    block.line("const real here = stencil[q + 1][t + 1][i];");
    block.append(neighbours(grid));
    const std::string own = grid.has_field_diagonal() ? "{}[q][t][i]" : "a.{}";
    const std::string diagonal = fmt::format(fmt::runtime(own), residual ? "inverse_diagonal" : "diagonal");
    if (residual) {
        block.line("const real inverse = {};", diagonal);
        block.line("new_r[q][t] = new_residual(a, r_old[q][t][i], w[q][t][i], inverse);");
        block.line("new_z[q][t] = multiply_add(-(a.neighbour_weight * inverse), sum, a.own_weight * here);");
    } else {
        block.line("new_w[q][t] = multiply_add({}, here, sum);", diagonal);
        if (grid.kind == Kind::direction) block.line("new_p[q][t] = here, new_x[q][t] = multiply_add(a.alpha, p_old[q][t][i], x[q][t][i]);");
    }
    block.close().close();
    if (grid.sums() > 0) {
        block.open("for (int t = 0; t < rows; ++t)");
        for (int s = 0; s < grid.sums(); ++s) block.line("real sum_{0} = of_columns[{0}][t][i];", s);
        block.open("for (int q = 0; q < planes; ++q)");
        if (residual) {
            block.line("sum_0 = multiply_add(new_z[q][t], new_r[q][t], sum_0);").line("sum_1 = multiply_add(new_r[q][t], new_r[q][t], sum_1);");
            block.line("sum_2 = sum_2 + new_r[q][t];");
        } else {
            block.line("sum_0 = multiply_add(stencil[q + 1][t + 1][i], new_w[q][t], sum_0);");
        }
        block.close();
        for (int s = 0; s < grid.sums(); ++s) block.line("of_columns[{0}][t][i] = sum_{0};", s);
        block.close();
    }
    std::string stores;
    for (const char* name : stored) stores += fmt::format("{0}{1}[q][t][i] = new_{1}[q][t]", stores.empty() ? "" : ", ", name);
    return block.line("for (int q = 0; q < planes; ++q)").line("    for (int t = 0; t < rows; ++t) {};", stores);
}

// The loops along rows. Vectors begin where vectors of the arrays do.
Block along_x(const Grid& grid) {
    Block block;
    const char* const simd = "#pragma omp simd simdlen(vector_words)";
    if (grid.fused()) {
        const bool face = grid.coefficients == Coefficients::face;
        block.text(simd).line("for (int i = 0; i < nx{}; ++i) update(i, i + 1, before, behind);", face ? " - 1" : "");
        return face ? block.line("update(nx - 1, 0, before, behind);") : block;
    }
    block.line("// Neighbours of the first and the last cells lie elsewhere: their vectors take them from copies.");
    block.line("real copied[2][planes][rows][vector_words];");
    block.open("const auto copy = [&](int q, int t, int count)");
    block.line("const real* const row = stencil[q + 1][t + 1];");
    block.line("real *const west = copied[0][q][t], *const east = copied[1][q][t];");
    block.line("west[0] = is_zero(-1, nx) ? 0 : row[source(-1, nx)], east[count - 1] = is_zero(nx, nx) ? 0 : row[source(nx, nx)];");
    block.line("std::copy_n(row, count - 1, west + 1), std::copy_n(row + nx - count + 1, count - 1, east);").close(";");
    block.line("const bool whole_vectors = nx >= 2 * vector_words && nx % vector_words == 0;");
    block.line("const int at_ends = whole_vectors ? vector_words : 1;");
    block.line("for (int q = 0; q < planes; ++q)");
    block.line("    for (int t = 0; t < rows; ++t) whole_vectors ? copy(q, t, vector_words) : copy(q, t, 1);");
    block.line("const auto copied_before = [&](int q, int t, int i) {{ return copied[0][q][t][i]; }};");
    block.line("const auto copied_behind = [&](int q, int t, int i) {{ return copied[1][q][t][i - (nx - at_ends)]; }};");
    block.open("if (nx == 1)");
    block.line("update(0, 0, copied_before, copied_behind);").line("return;").close();
    block.open("if (whole_vectors)");
    block.text(simd).line("for (int i = 0; i < vector_words; ++i) update(i, i + 1, copied_before, behind);");
    block.close().line("else").line("    update(0, 1, copied_before, behind);");
    block.text(simd).line("for (int i = at_ends; i < nx - at_ends; ++i) update(i, i + 1, before, behind);");
    block.open("if (whole_vectors)");
    if (grid.coefficients == Coefficients::face) {
        block.text(simd).line("for (int i = nx - vector_words; i < nx - 1; ++i) update(i, i + 1, before, copied_behind);").close();
        return block.line("update(nx - 1, 0, before, copied_behind);");
    }
    block.text(simd).line("for (int i = nx - vector_words; i < nx; ++i) update(i, i + 1, before, copied_behind);");
    return block.close().line("else").line("    update(nx - 1, 0, before, copied_behind);");
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
    block.line("Buffer of_columns(sums * y_block * row_groups * group_columns);");
    return block.line("const auto sums_of_row = [&](int row) {{ return of_columns.data() + row * row_groups * group_columns; }};");
}

Block flush_chunk(const Grid& grid) {
    Block block;
    if (grid.sums() == 0) return block;
    block.line("if ((k_end - first) % chunk != 0 && k_end != z_end) continue;");
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
                                          {"along_x", along_x(grid)},
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
