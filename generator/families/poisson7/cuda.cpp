#include <fmt/format.h>

#include <algorithm>

#include "generator/families/poisson7/grid.hpp"
#include "generator/render.hpp"

namespace hone::poisson {
namespace {

constexpr std::int64_t warp = 32;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// What a problem and a configuration decide, and every block asks.
struct Plan {
    Grid grid;
    std::int64_t block_x, block_y, z_block, words, rows, ahead, min_blocks;
    std::string staging;
    bool streaming;

    Plan(const Problem& problem, const Config& config)
        : grid(problem),
          block_x(config.integer("block_x")),
          block_y(config.integer("block_y")),
          z_block(config.integer("z_block")),
          words(config.integer("load_bytes") / grid.word()),
          rows(config.integer("rows_per_thread")),
          ahead(config.integer("planes_ahead")),
          min_blocks(config.integer("min_blocks")),
          staging(config.word("staging")),
          streaming(config.word("once") == "streaming") {}

    bool march() const { return staging != "caches"; }
};

constexpr const char* device = "__device__ __forceinline__";

Block constants(const Plan& plan) {
    Block block;
    block.line("using real = {};", plan.grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int block_x = {}, block_y = {}, threads_per_block = block_x * block_y, min_blocks = {};", plan.block_x, plan.block_y,
               plan.min_blocks);
    block.line("constexpr int words = {}, rows = {};  // of a thread", plan.words, plan.rows);
    block.line("constexpr int z_block = {};         // planes that a block covers", plan.z_block);
    if (plan.march() || plan.grid.sums() > 0) block.line("constexpr unsigned all_lanes = 0xffffffff;");
    if (plan.march()) block.line("constexpr int segment = {};         // lanes of a warp in the same row", std::min(warp, plan.block_x));
    if (plan.grid.sums() > 0) {
        block.line("constexpr int sums = {}, chunk = {}, group_columns = {}, group_lanes = group_columns / words;", plan.grid.sums(), chunk_planes,
                   group_columns);
        block.line("constexpr int sums_per_block = {}, cells_per_block = {}, sum_threads = {};", sums_per_block, cells_per_block, sum_threads);
    }
    if (plan.grid.fused()) block.append(scalar_words());
    return block;
}

// Neighbouring words of a row.
Block words(const Plan& plan) {
    Block block;
    const std::string scalar_type = plan.grid.precision == Precision::f32 ? "float" : "double";
    block.line("// Neighbouring words of a row, loaded and stored at once.");
    block.line("using vector = {}{};", scalar_type, plan.words == 1 ? "" : fmt::format("{}", plan.words));
    block.open("struct alignas(sizeof(vector)) Words");
    block.line("real at[words];");
    block.close(";");
    block.text("");
    const auto loader = [&](const char* name, const std::string& how) {
        block.open(fmt::format("{} Words {}(const real* from)", device, name));
        block.line("Words result;");
        block.line("const vector all = {};", how);
        block.line("memcpy(&result, &all, sizeof all);");
        block.line("return result;");
        block.close();
        block.text("");
    };
    const std::string vectors = "reinterpret_cast<const vector*>(from)";
    loader("load", "*" + vectors);
    block.line("// What is used once, and need not stay in the caches.");
    loader("load_once", plan.streaming ? "__ldcs(" + vectors + ")" : "*" + vectors);
    block.line("// Stores the first `count` words, or all.");
    block.open(fmt::format("{} void store(real* to, const Words& from, int count)", device));
    block.open("if (count >= words)");
    block.line("vector all;").line("memcpy(&all, &from, sizeof all);");
    block.text(plan.streaming ? "__stcs(reinterpret_cast<vector*>(to), all);" : "*reinterpret_cast<vector*>(to) = all;");
    block.line("return;");
    block.close();
    block.line("#pragma unroll");
    block.line("for (int t = 0; t < words; ++t)").line("    if (t < count) to[t] = from.at[t];");
    block.close();
    if (plan.grid.kind == Kind::residual) return block;
    block.text("");
    block.open(fmt::format("{} Words load_diagonal(const Arrays& a, wide at)", device));
    if (plan.grid.has_field_diagonal()) {
        block.line("return load_once(a.diagonal + at);");
    } else {
        block.line("Words result;");
        block.line("#pragma unroll");
        block.line("for (int t = 0; t < words; ++t) result.at[t] = a.diagonal;");
        block.line("return result;");
    }
    return block.close();
}

// What is loaded of a cell, in its words of the arrays. The march keeps these while they are under way: computing with them would wait for them.
std::vector<std::string> loaded(const Grid& grid) {
    switch (grid.kind) {
        case Kind::apply:
        case Kind::apply_dot:
            return {"p"};
        case Kind::direction:
            return {"z", "p_old"};
        case Kind::residual:
            return grid.has_field_diagonal() ? std::vector<std::string>{"r_old", "w", "inverse_diagonal"} : std::vector<std::string>{"r_old", "w"};
    }
    return {};
}

// "p[at]": the words of one cell as they were loaded, in braces.
std::string all_of(const std::vector<std::string>& names, const std::string& pattern) {
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ", ") + fmt::format(fmt::runtime(pattern), name);
    return "{" + list + "}";
}

// `struct Cells`: what the stencil acts on and what else a cell's update needs of the same loads; `cells` makes it of what was loaded.
Block cells(const Grid& grid) {
    const std::vector<std::string> names = loaded(grid);
    const bool residual = grid.kind == Kind::residual;
    Block block;
    block.line("// What is loaded of a cell or of a group of cells.");
    block.line("template <typename Word>").open("struct Loaded");
    for (const auto& name : names) block.line("Word {};", name);
    block.close(";");
    block.text("");
    block.open(fmt::format("{} Loaded<real> load_value(const Arrays& a, wide at)", device));
    block.line("return {};", all_of(names, "a.{}[at]")).close();
    block.text("");
    block.open(fmt::format("{} Loaded<Words> load_cells(const Arrays& a, wide at)", device));
    block.line("return {};", all_of(names, "load(a.{} + at)")).close();
    block.text("");
    if (residual) {
        block.line(
            "// Rounded by itself: in a sum of neighbours compilers may take a product for half of a multiply-add, and in some forms of the kernel "
            "do.");
        block.open(fmt::format("{} real product(real a, real b)", device));
        block.line("return __{}mul_rn(a, b);", grid.precision == Precision::f32 ? "f" : "d").close();
        block.text("");
        const std::string q = fmt::format("const real q = {}inverse_diagonal;", grid.has_field_diagonal() ? "from." : "a.");
        block.line("// The new residual of a cell; a solid one has none.");
        block.open(fmt::format("{} real new_residual(const Arrays& a, const Loaded<real>& from)", device));
        block.line("{}", q).line("const real r = fma(-a.alpha, from.w, from.r_old) - a.mean;").line("return q == 0 ? real(0) : r;").close();
        block.text("");
        block.line("// What the stencil acts on: the residual over the diagonal.");
        block.open(fmt::format("{} real value(const Arrays& a, const Loaded<real>& from)", device));
        block.line("{}", q).line("return product(q, new_residual(a, from));").close();
    } else {
        const bool direction = grid.kind == Kind::direction;
        block.line("// What the stencil acts on: {}.", direction ? "the new direction" : "p");
        block.open(fmt::format("{} real value(const Arrays& {}, const Loaded<real>& from)", device, direction ? "a" : ""));
        block.line("return {};", direction ? "fma(a.beta, from.p_old, from.z)" : "from.p").close();
    }
    block.text("");
    block.line("// Of a group of cells, with what else their update takes of the same words.");
    block.open("struct Cells");
    block.line("Words v{};", residual ? ", r, q" : grid.kind == Kind::direction ? ", p_old" : "").close(";");
    block.text("");
    block.open(fmt::format("{} Cells cells(const Arrays& a, const Loaded<Words>& from)", device));
    block.line("Cells result;");
    block.line("#pragma unroll");
    block.open("for (int t = 0; t < words; ++t)");
    block.line("const Loaded<real> of_cell{};", all_of(names, "from.{}.at[t]"));
    if (residual) {
        block.line("result.r.at[t] = new_residual(a, of_cell);");
        block.line("result.q.at[t] = {}inverse_diagonal;", grid.has_field_diagonal() ? "of_cell." : "a.");
    }
    if (grid.kind == Kind::direction) block.line("result.p_old.at[t] = of_cell.p_old;");
    block.line("result.v.at[t] = {};", residual ? "product(result.q.at[t], result.r.at[t])" : "value(a, of_cell)").close();
    return block.line("return result;").close();
}

// `struct Stencil`: the couplings of a row's cells, and their sum.
Block stencil(const Grid& grid) {
    Block block;
    block.line("// The couplings of a group of cells to their neighbours.");
    block.open("struct Stencil");
    const std::string begin = fmt::format("{} void begin(const Arrays& a, int i, int j)", device);
    const std::string plane = fmt::format("{} void plane(const Arrays& a, int k)", device);
    switch (grid.coefficients) {
        case Coefficients::scalar:
            block.line("{} {{}}", begin).line("{} {{}}", plane);
            break;
        case Coefficients::axis:
            block.line("Words cx;").line("real cy, cz;").text("");
            block.open(begin);
            block.line("#pragma unroll");
            block.line("for (int t = 0; t < words; ++t) cx.at[t] = a.cx[min(i + t, a.nx - 1)];");
            block.line("cy = a.cy[min(j, a.ny - 1)];").close();
            block.line("{} {{ cz = a.cz[k]; }}", plane);
            break;
        case Coefficients::face:
            block.line("Words cx, south, north, below, above;")
                .line("real east;")
                .line("int i_first, i_beyond, last_inside;")
                .line("wide row, next_row;");
            block.text("");
            block.line("// The face behind the last cell is the first one.");
            block.open(begin);
            block.line("const int j_read = min(j, a.ny - 1);");
            block.line("i_first = min(i, (a.nx - 1) / words * words), i_beyond = i_first + words < a.nx ? i_first + words : 0;");
            block.line("last_inside = a.nx - 1 - i_first;");
            block.line("row = wide(j_read) * a.pitch, next_row = j_read + 1 < a.ny ? row + a.pitch : 0;").close();
            block.open(plane);
            block.line("const wide plane = wide(a.ny) * a.pitch, at = k * plane + row, above_at = (k + 1 < a.nz ? k + 1 : 0) * plane + row;");
            block.line("cx = load_once(a.cx + at + i_first), east = a.cx[at + i_beyond];");
            block.line("south = load(a.cy + at + i_first), north = load(a.cy + k * plane + next_row + i_first);");
            block.line("below = load(a.cz + at + i_first), above = load(a.cz + above_at + i_first);").close();
            break;
    }
    block.text("");
    block.open(fmt::format("{} real sum(const Arrays& a, int t, real w, real e, real s, real n, real b, real u) const", device));
    if (grid.coefficients == Coefficients::face) {
        block.line("const real cx_east = t + 1 < words && t < last_inside ? cx.at[t + 1 < words ? t + 1 : t] : east;");
        block.line("const real in_row = fma(cx_east, e, cx.at[t] * w), in_plane = fma(north.at[t], n, fma(south.at[t], s, in_row));");
        block.line("return fma(above.at[t], u, fma(below.at[t], b, in_plane));");
    } else {
        const bool axis = grid.coefficients == Coefficients::axis;
        const std::string of = axis ? "" : "a.";
        block.line("return fma({0}cz, b + u, fma({0}cy, s + n, {0}cx{1} * (w + e)));", of, axis ? ".at[t]" : "");
    }
    block.close();
    return block.close(";");
}

// `struct Update`: the new words of a group of cells. `set` takes the sum over a cell's neighbours, `add` what the cell gives to the sums.
Block update(const Grid& grid) {
    Block block;
    block.line("// The new words of a group of cells.");
    block.open("struct Update");
    const std::string load = fmt::format("{} void load(const Arrays& a, wide at)", device);
    const std::string set = fmt::format("{} void set(const Arrays& a, const Cells& c, int t, real sum)", device);
    const std::string add = fmt::format("{} void add(const Cells& c, int t, real (&to)[sums][words]) const", device);
    const std::string store = fmt::format("{} void store(const Arrays& a, wide at, int count) const", device);
    switch (grid.kind) {
        case Kind::apply:
        case Kind::apply_dot:
            block.line("Words diagonal, w;").text("");
            block.line("{} {{ diagonal = load_diagonal(a, at); }}", load);
            block.line("{} {{ w.at[t] = fma(diagonal.at[t], c.v.at[t], sum); }}", set);
            if (grid.kind == Kind::apply_dot) block.line("{} {{ to[0][t] = fma(c.v.at[t], w.at[t], to[0][t]); }}", add);
            block.line("{} {{ ::store(a.w + at, w, count); }}", store);
            break;
        case Kind::direction:
            block.line("Words diagonal, x, p, w;").text("");
            block.line("{} {{ diagonal = load_diagonal(a, at), x = load_once(a.x + at); }}", load);
            block.open(set);
            block.line("p.at[t] = c.v.at[t];");
            block.line("w.at[t] = fma(diagonal.at[t], p.at[t], sum);");
            block.line("x.at[t] = fma(a.alpha, c.p_old.at[t], x.at[t]);").close();
            block.line("{} {{ to[0][t] = fma(p.at[t], w.at[t], to[0][t]); }}", add);
            block.line("{} {{ ::store(a.x + at, x, count), ::store(a.p + at, p, count), ::store(a.w + at, w, count); }}", store);
            break;
        case Kind::residual:
            block.line("Words r, z;").text("");
            block.line("{} {{}}", load);
            block.open(set);
            block.line("r.at[t] = c.r.at[t];");
            block.line("z.at[t] = fma(-(a.neighbour_weight * c.q.at[t]), sum, a.own_weight * c.v.at[t]);").close();
            block.open(add);
            block.line("to[0][t] = fma(z.at[t], r.at[t], to[0][t]);");
            block.line("to[1][t] = fma(r.at[t], r.at[t], to[1][t]);");
            block.line("to[2][t] = to[2][t] + r.at[t];").close();
            block.line("{} {{ ::store(a.r + at, r, count), ::store(a.z + at, z, count); }}", store);
            break;
    }
    return block.close(";");
}

Block for_rows(const std::string& statement) {
    return Block().line("#pragma unroll").line("for (int row = 0; row < rows; ++row) {}", statement);
}

// The words beside a warp's part of a row come from memory, those within it from the neighbouring thread.
Block edge(const Plan& plan) {
    Block block;
    if (!plan.march()) {
        block.open("const auto word_beside = [&](int row, int at, int k)");
        block.line("return is_zero(at, nx) ? real(0) : value(a, load_value(a, row_start(row, k) + source(at, nx)));");
        return block.close(";");
    }
    block.line("// Of the two words beside a warp's part of a row the first thread loads the one before, all others the one behind: a plane early.");
    block.line("const bool starts = threadIdx.x % segment == 0, ends = threadIdx.x % segment == segment - 1 || inside <= words;");
    block.line("const int edge_at = starts ? min(i - 1, nx) : min(i + (segment - int(threadIdx.x) % segment) * words, nx);");
    block.line("const auto load_edge = [&](int row, int k) {{ return load_value(a, row_start(row, k) + source(edge_at, nx)); }};");
    return block.line("const auto edge_value = [&](const Loaded<real>& from) {{ return is_zero(edge_at, nx) ? real(0) : value(a, from); }};");
}

// Before the first plane: the cells that the march carries, and the shared rows.
Block begin_march(const Plan& plan) {
    Block block;
    block.line("Words below[rows];").line("Cells here[rows], above[rows];");
    if (!plan.march()) return block;
    block.line("real edge[rows];");
    block.append(
        for_rows("below[row] = cells_of(row, begin - 1).v, here[row] = cells_of(row, begin), edge[row] = edge_value(load_edge(row, begin));"));
    if (plan.ahead == 2) block.line("Loaded<Words> next[rows];").append(for_rows("next[row] = load_row(row, begin + 1);"));
    if (plan.staging != "shared") return block;
    block.line("__shared__ Words shared_rows[2][block_y][{}][block_x];  // the first and last rows of the threads, of two planes in turn",
               plan.rows == 1 ? 1 : 2);
    block.line("// The rows beside the block's: of the first threads along y the one before theirs, of the last ones the one behind.");
    block.line("const bool on_rim = threadIdx.y == 0 || threadIdx.y == block_y - 1;");
    block.line("const int rim_row = threadIdx.y == 0 ? -1 : rows;");
    block.line("Words rim{{}};");
    return block.line("if (on_rim) rim = cells_of(rim_row, begin).v;");
}

// The loads of a plane come first, those of later planes with them.
Block planes(const Plan& plan) {
    Block block;
    if (!plan.march()) return for_rows("below[row] = cells_of(row, k - 1).v, here[row] = cells_of(row, k), above[row] = cells_of(row, k + 1);");
    block.line("Loaded<real> next_edge[rows];").append(for_rows("next_edge[row] = load_edge(row, min(k + 1, end - 1));"));
    if (plan.staging == "shared") block.line("Loaded<Words> next_rim{{}};").line("if (on_rim) next_rim = load_row(rim_row, min(k + 1, end - 1));");
    if (plan.ahead == 1) return block.append(for_rows("above[row] = cells_of(row, k + 1);"));
    block.append(for_rows("above[row] = to_cells(next[row], row, k + 1);"));
    return block.append(for_rows("next[row] = load_row(row, min(k + 2, end));"));
}

// The rows in front of and behind the thread's own.
Block beside(const Plan& plan) {
    Block block;
    if (plan.staging != "shared") return block.line("const Words south = cells_of(-1, k).v, north = cells_of(rows, k).v;");
    const int last_row = plan.rows == 1 ? 0 : 1;
    block.line("const int buffer = (k - begin) % 2;");
    block.line("shared_rows[buffer][threadIdx.y][0][threadIdx.x] = here[0].v;");
    if (plan.rows > 1) block.line("shared_rows[buffer][threadIdx.y][1][threadIdx.x] = here[rows - 1].v;");
    block.line("__syncthreads();");
    block.line("Words south = rim, north = rim;");
    block.line("if (threadIdx.y > 0) south = shared_rows[buffer][threadIdx.y - 1][{}][threadIdx.x];", last_row);
    return block.line("if (threadIdx.y < block_y - 1) north = shared_rows[buffer][threadIdx.y + 1][0][threadIdx.x];");
}

// The words at both ends of the thread's own.
Block edges(const Plan& plan) {
    Block block;
    if (!plan.march()) return block.line("const real west = word_beside(row, min(i - 1, nx), k), east = word_beside(row, min(i + words, nx), k);");
    block.line("real west = __shfl_up_sync(all_lanes, here[row].v.at[words - 1], 1, segment);");
    block.line("real east = __shfl_down_sync(all_lanes, here[row].v.at[0], 1, segment);");
    block.line("const real behind = __shfl_down_sync(all_lanes, edge[row], 1, segment);  // all but the first thread have it, and the last its own");
    return block.line("west = starts ? edge[row] : west, east = ends ? behind : east;");
}

Block advance(const Plan& plan) {
    if (!plan.march()) return {};
    Block block = for_rows("below[row] = here[row].v, here[row] = above[row], edge[row] = edge_value(next_edge[row]);");
    if (plan.staging == "shared") block.line("rim = to_cells(next_rim, rim_row, min(k + 1, end - 1)).v;");
    return block;
}

// At the end of a chunk: the columns of a group in pairs of neighbours.
Block flush(const Plan& plan) {
    Block block;
    if (plan.grid.sums() == 0) return block;
    block.open("if ((k - first) % chunk == chunk - 1 || k + 1 == end)");
    block.line("const wide groups_of_row = (nx + group_columns - 1) / group_columns;");
    block.line("const wide groups = (last - first + chunk - 1) / chunk * (ny * groups_of_row);");
    block.line("#pragma unroll");
    block.open("for (int row = 0; row < rows; ++row)");
    block.line("const wide group = (wide((k - first) / chunk) * ny + j + row) * groups_of_row + i / group_columns;");
    block.line("#pragma unroll");
    block.open("for (int s = 0; s < sums; ++s)");
    block.line("#pragma unroll");
    block.line("for (int step = 1; step < words; step *= 2)");
    block.line("    for (int t = 0; t + step < words; t += 2 * step) partial[row][s][t] += partial[row][s][t + step];");
    block.line("real sum = partial[row][s][0];");
    block.line("#pragma unroll");
    block.line("for (int lanes = 1; lanes < group_lanes; lanes *= 2) sum += __shfl_xor_sync(all_lanes, sum, lanes);");
    block.line("if (threadIdx.x % group_lanes == 0 && inside > 0 && j + row < ny) group_sums[s * groups + group] = sum;");
    block.line("#pragma unroll");
    block.line("for (int t = 0; t < words; ++t) partial[row][s][t] = 0;");
    return block.close().close().close();
}

Launch launch(const std::string& entry, Dim3 grid, Dim3 threads) {
    Launch result;
    result.entry = entry;
    result.grid = grid;
    result.block = threads;
    return result;
}

}  // namespace

KernelSource cuda_kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config);
    const bool summed = plan.grid.sums() > 0;
    KernelSource source = common_source(problem, Target::cuda);
    source.text =
        render("poisson7/kernel.cu",
               {{"banner", banner(problem, config, Target::cuda)},
                {"constants", constants(plan)},
                {"arrays", arrays_struct(problem)},
                {"boundary", boundary(plan.grid, device)},
                {"words", words(plan)},
                {"cells", cells(plan.grid)},
                {"stencil", stencil(plan.grid)},
                {"update", update(plan.grid)},
                {"parameters", parameters(problem)},
                {"gathered", gathered(problem)},
                {"begin_sums", summed ? Block().line("real partial[rows][sums][words] = {{}};") : Block()},
                {"edge", edge(plan)},
                {"begin_march", begin_march(plan)},
                {"planes", planes(plan)},
                {"beside", beside(plan)},
                {"edges", edges(plan)},
                {"accumulate", summed ? Block().line("if (t < inside && j + row < ny) update[row].add(here[row], t, partial[row]);") : Block()},
                {"flush", flush(plan)},
                {"advance", advance(plan)}});
    source.entries = {"poisson7"};
    source.step = {launch("poisson7",
                          {divide_up(plan.grid.nx, plan.block_x * plan.words), divide_up(plan.grid.ny, plan.block_y * plan.rows),
                           divide_up(plan.grid.nz, plan.z_block)},
                          {plan.block_x, plan.block_y, 1})};
    source.step[0].range_axis = 2;
    source.step[0].range_per_block = plan.z_block;
    if (!summed) return source;
    source.text += render("poisson7/sums.cu", {{"parameters", parameters(problem)}});
    source.entries.emplace_back("sum_groups");
    source.step.push_back(launch("sum_groups", {plan.grid.block_sums(), 1, 1}, {sum_threads, 1, 1}));
    if (plan.grid.part) return source;
    source.text += render("poisson7/finish.cu", {{"parameters", parameters(problem)}, {"next_scalars", next_scalars(plan.grid)}});
    source.entries.emplace_back("finish");
    source.step.push_back(launch("finish", {1, 1, 1}, {sum_threads, 1, 1}));
    return source;
}

}  // namespace hone::poisson
