#include "generator/families/gauss_seidel_27/cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hone::inline v0_1::gauss_seidel {
namespace {

constexpr std::int64_t widest_load = 16;  // bytes
constexpr std::int64_t line_bytes = 128;

constexpr std::array stencil_places{std::pair{StencilIn::registers, "registers"}, std::pair{StencilIn::shared, "shared"},
                                    std::pair{StencilIn::read_only, "read_only"}, std::pair{StencilIn::streaming, "streaming"},
                                    std::pair{StencilIn::by_value, "by_value"},   std::pair{StencilIn::copied, "copied"}};

StencilIn stencil_place(const std::string& word) {
    return std::find_if(stencil_places.begin(), stencil_places.end(), [&](const auto& place) { return place.second == word; })->first;
}

// How coefficient k of a point is read where its stencil stays in memory.
Block coefficient(const CudaKernel& kernel) {
    const bool in_shared_memory = kernel.stencil_in == StencilIn::shared || kernel.stencil_in == StencilIn::copied;
    const char* const load = in_shared_memory ? "*" : kernel.stencil_in == StencilIn::streaming ? "__ldcs" : "__ldg";
    Block block;
    if (kernel.symmetric()) {
        block.open("__device__ __forceinline__ real operator[](int k) const");
        block.line("if (k >= 13) return {}(from + (k - 13) * stride);", load);
        block.line("return {}(from + (13 - k) * stride + (k / 9 - 1) * plane + (k / 3 % 3 - 1) * pitch + (k % 3 - 1));", load);
        return block.close();
    }
    const char* const address = kernel.per_point() ? "from + k * stride" : "from + k";
    return block.line("__device__ __forceinline__ real operator[](int k) const {{ return {}({}); }}", load, address);
}

}  // namespace

CudaKernel::CudaKernel(const Grid& of_grid, const Config& config)
    : grid(of_grid),
      stencil_in(stencil_place(config.word("stencil_in"))),
      min_blocks(config.integer("min_blocks")),
      points_per_thread(config.integer("points_per_thread")) {
}

int CudaKernel::registers(std::int64_t values) const {
    constexpr std::int64_t addresses = 20, others = 4;
    values += others;
    if (stencil_in == StencilIn::registers) values += coefficients;
    return static_cast<int>(addresses + values * grid.word_bytes() / 4);
}

Block CudaKernel::constants(const Block& own) const {
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int block_x = {}, block_y = {}, block_z = {};", block_x, block_y, block_z);
    block.line("constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = {};", min_blocks);
    return block.append(own);
}

Block CudaKernel::parameters(const std::string& table, const std::string& constant) const {
    Block block;
    block.line("real* u, const real* __restrict__ f, const real* __restrict__ stencil,{}", table.empty() ? "" : " " + table + ",");
    if (stencil_in == StencilIn::by_value) block.line("const __grid_constant__ Coefficients s,");
    return block.line("int nx, int ny, int nz, int pitch, int first, int last{}", constant.empty() ? "" : ", int " + constant);
}

Block CudaKernel::stencil_of_block() const {
    Block block;
    if (!constant() || stencil_in == StencilIn::by_value || stencil_in == StencilIn::shared) return block;
    return block.line("const Coefficients s{{stencil}};");
}

Block CudaKernel::stencil_of_point(const std::string& x, const std::string& y) const {
    Block block;
    if (grid.stencil == Stencil::semi_constant)
        block.line("const Coefficients s{{stencil + ((z - 1) * wide(ny) + {} - 1) * {}}};", y, row_stencil_words);
    if (symmetric()) block.line("const Coefficients s{{stencil + z * wide(plane) + {} * pitch + {}, (nz + 2) * wide(plane), pitch, plane}};", y, x);
    if (variable()) block.line("const Coefficients s{{stencil + ((z - 1) * wide(ny) + {} - 1) * pitch + {}, nz * wide(ny) * pitch}};", y, x);
    return block;
}

std::int64_t CudaKernel::line_words() const {
    return line_bytes / grid.word_bytes();
}

void CudaKernel::add_coefficients(Text& text, bool split) const {
    const bool by_value = stencil_in == StencilIn::by_value, in_registers = stencil_in == StencilIn::registers;
    text.holes.emplace_back("coefficient", coefficient(*this));
    text.holes.emplace_back("packed_row", Block().line("const int row = ((nx + 1) / 2 + {0} - 1) / {0} * {0};", line_words()));
    text.flags.insert(text.flags.end(), {{"colour_split", split},
                                         {"stencil_per_point", per_point()},
                                         {"symmetric", symmetric()},
                                         {"by_value", by_value},
                                         {"in_registers", in_registers},
                                         {"in_memory", !by_value && !in_registers}});
}

void CudaKernel::add_groups(Text& text) const {
    const std::int64_t bytes = std::min(points_per_thread * grid.word_bytes(), widest_load);
    Block group;
    group.line("using vector = {}{};", grid.precision == Precision::f32 ? "float" : "double", bytes / grid.word_bytes());
    group.line("// Neighbouring words of a row: points of even and odd x in turns.");
    group.open(fmt::format("struct alignas({}) Group", bytes));
    group.line("real word[points_per_thread];");
    group.close(";");
    text.holes.emplace_back("group", group);
    text.flags.insert(text.flags.end(), {{"stencil_per_point", per_point()}, {"streaming", stencil_in == StencilIn::streaming}});
}

Launch CudaKernel::launch(const std::string& entry, Dim3 blocks, std::int64_t planes_per_block) const {
    Launch result;
    result.entry = entry;
    result.grid = blocks;
    result.block = {block_x, block_y, block_z};
    result.range_axis = 2;
    result.range_per_block = planes_per_block;
    return result;
}

KernelSource CudaKernel::source(const Problem& problem) const {
    constexpr int stencil_array = 2;
    KernelSource source = common_source(problem, Target::cuda);
    if (stencil_in == StencilIn::by_value) source.by_value = {stencil_array};
    return source;
}

Tunable block_y_tunable() {
    return {"block_y", "threads along y, each on rows of its own", numbers({1, 2, 4, 6, 8, 16})};
}

Tunable z_block_tunable(std::vector<std::int64_t> values) {
    return {"z_block", "planes that a block covers", numbers(std::move(values))};
}

Tunable points_per_thread_tunable(std::vector<std::int64_t> values) {
    return {"points_per_thread", "points along x of a thread in one slice", numbers(std::move(values))};
}

std::string word_of(StencilIn place) {
    return std::find_if(stencil_places.begin(), stencil_places.end(), [&](const auto& named) { return named.first == place; })->second;
}

Tunable stencil_in_tunable(const std::vector<StencilIn>& places) {
    std::vector<std::string> names;
    names.reserve(places.size());
    for (const StencilIn place : places) names.push_back(word_of(place));
    return {"stencil_in",
            "where the stencil is held; streaming: read-only loads that leave the caches to what is read again; by_value: in the arguments of the "
            "launch, "
            "which lie in constant memory; copied: to shared memory, with the rows of the grid",
            words(std::move(names))};
}

Tunable warps_per_row_tunable(std::vector<std::int64_t> values) {
    Tunable most{"warps_per_row", "warps that a row may have, at most: the compiler leaves registers for as many", numbers(std::move(values))};
    most.former_name = "block_y";
    return most;
}

Tunable stages_tunable(std::vector<std::int64_t> values) {
    return {"stages", "of bulk copies that are on their way or read", numbers(std::move(values)), Value(2)};
}

Tunable max_lead_tunable(std::vector<std::int64_t> values) {
    return {"max_lead", "rows that even planes, or slabs, may be ahead of the planes beside them; 0: as they like", numbers(std::move(values)),
            Value(0), "lead"};
}

Tunable planes_per_slab_tunable(std::vector<std::int64_t> values) {
    return {"planes_per_slab", "planes that a block takes together, from one of the earlier colours to another", numbers(std::move(values))};
}

Tunable cache_hint_tunable() {
    return {"cache_hint", "streaming: right-hand sides, which nobody reads again, leave the second cache first", words({"plain", "streaming"})};
}

Tunable min_blocks_tunable(std::vector<std::int64_t> values) {
    return {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers(std::move(values))};
}

std::vector<StencilIn> places_for_points(Stencil stencil) {
    if (stencil == Stencil::constant) return {StencilIn::registers, StencilIn::by_value};
    if (stencil == Stencil::semi_constant) return {StencilIn::registers, StencilIn::read_only};
    return {StencilIn::read_only, StencilIn::streaming};
}

Reason rejected_when(bool condition, const char* reason) {
    return condition ? Reason(reason) : Reason();
}

Constraint small_blocks(std::function<std::int64_t(const Config&)> threads) {
    return {"small_blocks", [threads = std::move(threads)](const Config& config) {
                return rejected_when(threads(config) < 64, "a multiprocessor holds 32 blocks at most: with one warp each, half of it stays empty");
            }};
}

Constraint aligned_pairs(const Grid& grid) {
    return {"aligned_pairs", [pitch = grid.pitch](const Config& config) -> Reason {
                const std::int64_t points = config.integer("points_per_thread");
                if (pitch % points == 0) return {};
                return fmt::format("loads of {} words need rows that start at multiples of them, the pitch is {}", points, pitch);
            }};
}

Constraint rows_in_block(const Grid& grid, std::function<std::int64_t(const Config&)> needed) {
    return {"rows_in_block", [nx = grid.nx, needed = std::move(needed)](const Config& config) -> Reason {
                const std::int64_t warps = needed(config);
                if (warps <= config.integer("warps_per_row")) return {};
                return fmt::format("rows of {} points need {} warps, warps_per_row is {}", nx, warps, config.integer("warps_per_row"));
            }};
}

std::function<bool(const Config&)> formerly(std::int64_t colours, const std::string& staging) {
    return [=](const Config& config) { return config.has("colours_per_pass", colours) && (staging.empty() || config.has("staging", staging)); };
}

}  // namespace hone::inline v0_1::gauss_seidel
