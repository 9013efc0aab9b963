#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cpu_multiply_add.hpp"
#include "generator/families/device/cpu_streams.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/poisson7/grid.hpp"
#include "generator/render.hpp"

namespace hone::poisson {
namespace {

bool streaming(const Config& config) {
    return config.word("stores") == "streaming";
}

bool asks_ahead(const Config& config) {
    return config.integer("rows_ahead") > 0;
}

Block constants(const Grid& grid, const Config& config) {
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int y_block = {}, z_block = {}, vector_words = {};", config.integer("y_block"), config.integer("z_block"),
               config.integer("vector_bytes") / grid.word());
    block.line("constexpr int strip_words = {} / sizeof(real), rows_ahead = {};  // rows from asking for words to their turn", strip_bytes,
               config.integer("rows_ahead"));
    if (streaming(config)) block.line("constexpr bool streaming_stores = true;");
    if (grid.sums() > 0) {
        block.line("constexpr int sums = {}, chunk = {}, group_columns = {};", grid.sums(), chunk_planes, group_columns);
        block.line("constexpr int sums_per_block = {}, cells_per_block = {}, sum_lanes = {};", sums_per_block, cells_per_block, sum_threads);
    }
    if (grid.fused()) block.append(scalar_words());
    return block;
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

// The arrays that `value` reads.
std::vector<std::string> stencil_arrays(const Grid& grid) {
    if (grid.kind == Kind::direction) return {"z", "p_old"};
    if (grid.has_field_diagonal()) return {"r_old", "w", "inverse_diagonal"};
    return {"r_old", "w"};
}

// Makes the rows that the stencil takes of a plane, strip by strip.
Block load(const Grid& grid, const Config& config) {
    Block block;
    if (asks_ahead(config)) block.line("// Meanwhile the row `rows_ahead` later is asked for, which may be one of the next plane.");
    block.open("void load(int k)");
    block.open("for (int j = y_first; j <= y_last; ++j)");
    block.line("real* const to = row(j, k);");
    block.open("if (is_zero(j, a.ny) || is_zero(k, a.nz))");
    block.line("std::fill_n(to - 1, a.nx + 2, real(0));").line("continue;").close();
    block.line("const wide at = position(j, k);");
    if (asks_ahead(config)) {
        block.line("const int later = j + rows_ahead;");
        block.line("const wide later_at = later <= y_last ? position(later, k) : position(std::min(y_first + later - y_last - 1, y_last), k + 1);");
    }
    block.open("in_strips(a.nx, [&](int first, auto count)");
    if (asks_ahead(config))
        for (const std::string& name : stencil_arrays(grid)) block.line("ask_for(a.{} + later_at + first);", name);
    block.line("#pragma omp simd simdlen(vector_words)");
    block.line("for (int n = 0; n < count; ++n) to[first + n] = value(a, at, first + n);").close(");");
    return block.line("to[-1] = is_zero(-1, a.nx) ? 0 : to[source(-1, a.nx)], to[a.nx] = is_zero(a.nx, a.nx) ? 0 : to[source(a.nx, a.nx)];")
        .close()
        .close();
}

// `class Rows`: the rows that the stencil takes. Where it acts on an array of the application they are rows of that, else planes of rows are made
// ahead, with the words beside them at both ends.
Block rows(const Grid& grid, const Config& config) {
    Block block = value(grid);
    if (grid.fused()) block.text("");
    block.line("// The rows that the stencil takes, which may lie one beyond the grid.");
    block.open("class Rows");
    block.line("const Arrays& a;");
    if (grid.fused()) {
        block.line("static constexpr int margin = 64 / sizeof(real), planes_kept = 3;");
        block.line("wide row_words = (wide(a.nx) + 2 * margin + 15) / 16 * 16;");
        block.line("Buffer planes = Buffer(planes_kept * (y_block + 2) * row_words);").line("int y_first = 0, y_last = 0;");
    } else {
        block.line("std::vector<real> zeros = std::vector<real>(a.nx);");
    }
    block.text("").open("wide position(int j, int k) const");
    block.line("return (wide(source(k, a.nz)) * a.ny + source(j, a.ny)) * a.pitch;").close();
    block.text("").line("public:");
    block.line("explicit Rows(const Arrays& arrays) : a(arrays) {{}}").text("");
    if (!grid.fused()) {
        block.line("void begin(int, int, int) {{}}").line("void load(int) {{}}").text("");
        block.open("const real* row(int j, int k)");
        block.line("if (is_zero(j, a.ny) || is_zero(k, a.nz)) return zeros.data();");
        block.line("return a.p + position(j, k);").close();
        return block.close(";");
    }
    block.line("// Rows [y_begin, y_end), and those beside them, of the planes below z_begin and z_begin.");
    block.open("void begin(int y_begin, int y_end, int z_begin)");
    block.line("y_first = y_begin - 1, y_last = y_end;").line("load(z_begin - 1);").line("load(z_begin);").close();
    block.text("").append(load(grid, config)).text("");
    block.open("real* row(int j, int k)");
    block.line("return planes.data() + margin + ((k + planes_kept) % planes_kept * (y_block + 2) + j - y_first) * row_words;").close();
    return block.close(";");
}

// The rows of the arrays that an update takes beside those of the stencil.
struct RowArray {
    const char* name;
    bool read, changed;
};

std::vector<RowArray> row_arrays(const Grid& grid) {
    std::vector<RowArray> arrays;
    if (grid.has_field_diagonal()) arrays.push_back({grid.kind == Kind::residual ? "inverse_diagonal" : "diagonal", true, false});
    switch (grid.kind) {
        case Kind::apply:
        case Kind::apply_dot:
            arrays.push_back({"w", false, true});
            break;
        case Kind::direction:
            arrays.insert(arrays.end(), {{"p_old", true, false}, {"x", true, true}, {"p", false, true}, {"w", false, true}});
            break;
        case Kind::residual:
            arrays.insert(arrays.end(), {{"r_old", true, false}, {"w", true, false}, {"r", false, true}, {"z", false, true}});
            break;
    }
    return arrays;
}

// What is written and not read: worth going past the caches.
bool goes_past(const RowArray& array, const Config& config) {
    return array.changed && !array.read && streaming(config);
}

// The words of a later row that the caches will not have: what the rows of the stencil are made of they have had.
std::vector<std::string> asked(const Grid& grid, const Config& config) {
    std::vector<std::string> words;
    if (!asks_ahead(config)) return words;
    if (!grid.fused()) words.emplace_back("of.row(later_j, later_k + 1)");
    const std::vector<std::string> had = grid.fused() ? stencil_arrays(grid) : std::vector<std::string>();
    for (const auto& array : row_arrays(grid))
        if (std::find(had.begin(), had.end(), array.name) == had.end() && !goes_past(array, config))
            words.push_back(fmt::format("a.{} + later_at", array.name));
    if (grid.coefficients == Coefficients::face)
        words.insert(words.end(), {"a.cx + later_at", "a.cy + later_at", "a.cz + later_at + (later_k + 1 < a.nz ? wide(a.ny) * a.pitch : 0)"});
    return words;
}

Block row_pointers(const Grid& grid, const Config& config) {
    Block block;
    for (const auto& array : row_arrays(grid)) block.line("{0}real* const {1} = a.{1} + at;", array.changed ? "" : "const ", array.name);
    if (grid.coefficients == Coefficients::axis) block.line("const real* const cx = a.cx;").line("const real cy = a.cy[j], cz = a.cz[k];");
    if (grid.coefficients == Coefficients::face) {
        block.line("const wide plane = wide(a.ny) * a.pitch;");
        block.line("const real *const cx = a.cx + at, *const c_south = a.cy + at, *const c_below = a.cz + at;");
        block.line("const real* const c_north = c_south + (j + 1 < a.ny ? a.pitch : -wide(j) * a.pitch);");
        block.line("const real* const c_above = c_below + (k + 1 < a.nz ? plane : -k * plane);");
    }
    if (const auto words = asked(grid, config); !words.empty()) {
        if (grid.fused() || words.size() > 1) block.line("const wide later_at = (wide(later_k) * a.ny + later_j) * a.pitch;");
        block.line("const real* const asked[] = {{{}}};", fmt::join(words, ", "));
    } else {
        block.line("(void)later_j, (void)later_k;");
    }
    if (grid.sums() == 0) return block.line("(void)first_sums;");
    for (int s = 0; s < grid.sums(); ++s)
        block.line("real* const sums_{0} = first_sums{1};", s, s == 0 ? "" : fmt::format(" + {} * y_block * groups_of_row(nx) * group_columns", s));
    return block;
}

// The sum over a cell's neighbours, in the order that all targets take.
Block neighbours(const Grid& grid) {
    Block block;
    if (grid.coefficients == Coefficients::face) {
        block.line("const real in_row = multiply_add(c_behind(i), east(i), cx[i] * west(i));");
        block.line("const real in_plane = multiply_add(c_north[i], north[i], multiply_add(c_south[i], south[i], in_row));");
        return block.line("const real sum = multiply_add(c_above[i], above[i], multiply_add(c_below[i], below[i], in_plane));");
    }
    const bool axis = grid.coefficients == Coefficients::axis;
    block.line("const real in_plane = multiply_add({}, south[i] + north[i], {} * (west(i) + east(i)));", axis ? "cy" : "a.cy",
               axis ? "cx[i]" : "a.cx");
    return block.line("const real sum = multiply_add({}, below[i] + above[i], in_plane);", axis ? "cz" : "a.cz");
}

Block update(const Grid& grid) {
    Block block;
    block.line("const int i = first + n;");
    block.append(neighbours(grid));
    const std::string own = grid.has_field_diagonal() ? "{}[i]" : "a.{}";
    if (grid.kind == Kind::residual) {
        block.line("const real inverse = {};", fmt::format(fmt::runtime(own), "inverse_diagonal"));
        block.line("const real new_r = new_residual(a, r_old[i], w[i], inverse);");
        block.line("const real new_z = multiply_add(-(a.neighbour_weight * inverse), sum, a.own_weight * row[i]);");
        block.line("sums_0[i] = multiply_add(new_z, new_r, sums_0[i]);").line("sums_1[i] = multiply_add(new_r, new_r, sums_1[i]);");
        return block.line("sums_2[i] = sums_2[i] + new_r;").line("to_r[n] = new_r, to_z[n] = new_z;");
    }
    block.line("const real new_w = multiply_add({}, row[i], sum);", fmt::format(fmt::runtime(own), "diagonal"));
    if (grid.sums() > 0) block.line("sums_0[i] = multiply_add(row[i], new_w, sums_0[i]);");
    if (grid.kind == Kind::direction) block.line("to_p[n] = row[i], to_x[n] = multiply_add(a.alpha, p_old[i], x[i]);");
    return block.line("to_w[n] = new_w;");
}

// The update of `count` cells from `first` on. Words that go past the caches are gathered beforehand, to go whole lines at a time.
Block strip(const Grid& grid, const Config& config) {
    Block block;
    const bool face = grid.coefficients == Coefficients::face;
    block.open(
        fmt::format("const auto strip = [&](int first, auto count, const auto& west, const auto& east{})", face ? ", const auto& c_behind" : ""));
    if (!asked(grid, config).empty()) block.line("for (const real* const words : asked) ask_for(words + first);");
    std::string past;
    for (const auto& array : row_arrays(grid)) {
        if (!array.changed) continue;
        if (goes_past(array, config)) {
            block.line("alignas(64) real to_{}[strip_words];", array.name);
            past += fmt::format("{0}keep({1} + first, to_{1}, count)", past.empty() ? "" : ", ", array.name);
        } else {
            block.line("real* const to_{0} = {0} + first;", array.name);
        }
    }
    block.line("#pragma omp simd simdlen(vector_words)");
    block.open("for (int n = 0; n < count; ++n)").append(update(grid)).close();
    if (!past.empty()) block.line("{};", past);
    return block.close(";");
}

// The strips of a row. Neighbours of its first and last cells may lie elsewhere.
Block along_x(const Grid& grid) {
    Block block;
    const bool face = grid.coefficients == Coefficients::face;
    if (face) {
        block.line("const auto c_behind = [=](int i) {{ return cx[i + 1]; }};");
        block.line("const auto c_behind_or_first = [=](int i) {{ return i + 1 < nx ? cx[i + 1] : cx[0]; }};");
    }
    if (grid.fused() && !face) return block.line("in_strips(nx, [&](int first, auto count) {{ strip(first, count, before, behind); }});");
    if (!grid.fused()) {
        block.line("const real before_first = is_zero(-1, nx) ? 0 : row[source(-1, nx)], behind_last = is_zero(nx, nx) ? 0 : row[source(nx, nx)];");
        block.line("const auto before_or_end = [=](int i) {{ return i > 0 ? row[i - 1] : before_first; }};");
        block.line("const auto behind_or_end = [=](int i) {{ return i + 1 < nx ? row[i + 1] : behind_last; }};");
    }
    const char* const at_end = grid.fused() ? "" : "_or_end";
    block.open("in_strips(nx, [&](int first, auto count)");
    block.line("if (first > 0 && first + count < nx)").line("    strip(first, count, before, behind{});", face ? ", c_behind" : "");
    block.line("else").line("    strip(first, count, before{0}, behind{0}{1});", at_end, face ? ", c_behind_or_first" : "");
    return block.close(");");
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
    block.line("if ((k + 1 - first) % chunk != 0 && k + 1 != z_end) continue;");
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
    Block rows_of_stencil = rows(grid, config);
    if (summed) rows_of_stencil.text("").append(groups_of_row());
    KernelSource source = common_source(problem, Target::cpu);
    source.text = render("poisson7/kernel.cpp", {{"banner", banner(problem, config, Target::cpu)},
                                                 {"constants", constants(grid, config)},
                                                 {"arrays", arrays_struct(problem)},
                                                 {"boundary", boundary(grid, "inline")},
                                                 {"multiply_add", multiply_add_function(grid.precision)},
                                                 {"rows", rows_of_stencil},
                                                 {"intrinsics", streaming(config) ? store_intrinsics() : Block()},
                                                 {"strips", strips()},
                                                 {"stores", streaming(config) ? streaming_stores() : Block()},
                                                 {"finish_stores", streaming(config) ? Block().line("finish_stores();") : Block()},
                                                 {"row_pointers", row_pointers(grid, config)},
                                                 {"strip", strip(grid, config)},
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
    source.text += render("poisson7/sums.cpp", {{"parameters", parameters(problem)}});
    source.entries.emplace_back("sum_groups");
    if (!grid.part) {
        source.text += render("poisson7/finish.cpp", {{"parameters", parameters(problem)}, {"next_scalars", next_scalars(grid)}});
        source.entries.emplace_back("finish");
    }
    source.step.resize(source.entries.size());
    for (std::size_t n = 1; n < source.step.size(); ++n) source.step[n].entry = source.entries[n];
    return source;
}

}  // namespace hone::poisson
