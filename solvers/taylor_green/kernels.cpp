#include "solvers/taylor_green/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1::solvers {
namespace {

// One cell of each kernel, the same text for both targets. FUNCTION is how the target declares one.
constexpr const char* cells_text = R"(
using wide = long long;  // a position in an array

// Words of an array of numbers that a stage of the time step takes.
enum Number { keep, share, dt, diffusion, convection, per_width, numbers_of_stage };

struct Arrays {
    real *velocity[3], *change[3], *cells;
    const real* numbers;
};

// Parts of the positions of a cell and of its neighbours: along each axis the one before, itself, the one behind. The box is periodic; where
// it is cut along z, what lies beyond these planes lies there in the arrays.
struct Places {
    wide x[3], y[3], z[3];
};

FUNCTION Places places_of_row(int j, int k, int ny, int nz, wide pitch, int cut) {
    const wide plane = ny * pitch;
    return {{0, 0, 0},
            {(j > 0 ? j - 1 : ny - 1) * pitch, j * pitch, (j + 1 < ny ? j + 1 : 0) * pitch},
            {(k > 0 || cut ? k - 1 : nz - 1) * plane, k * plane, (k + 1 < nz || cut ? k + 1 : 0) * plane}};
}

// The word that is m cells on along axis a and n cells on along axis b.
template <int a, int b>
FUNCTION wide moved(const Places& at, int m, int n) {
    return at.x[1 + (a == 0 ? m : 0) + (b == 0 ? n : 0)] + at.y[1 + (a == 1 ? m : 0) + (b == 1 ? n : 0)] +
           at.z[1 + (a == 2 ? m : 0) + (b == 2 ? n : 0)];
}

// What velocity component a gains by diffusion along axis b and loses by being carried along it.
template <int a, int b>
FUNCTION real transport(const Arrays& f, const Places& at) {
    const real *const carried = f.velocity[a], *const carrier = f.velocity[b];
    const real before = carried[moved<a, b>(at, 0, -1)], here = carried[moved<a, b>(at, 0, 0)], behind = carried[moved<a, b>(at, 0, 1)];
    // Twice the velocity through the sides of the cell around this word: the sides lie between words of component a.
    const real in = a == b ? before + here : carrier[moved<a, b>(at, a == b ? 0 : -1, 0)] + carrier[moved<a, b>(at, 0, 0)];
    const real out = a == b ? here + behind : carrier[moved<a, b>(at, a == b ? 0 : -1, 1)] + carrier[moved<a, b>(at, 0, 1)];
    return f.numbers[diffusion] * (before - 2 * here + behind) - f.numbers[convection] * (out * (here + behind) - in * (before + here));
}

template <int a>
FUNCTION void change_component(const Arrays& f, const Places& at) {
    const wide here = moved<a, a>(at, 0, 0);
    const real sum = transport<a, 0>(f, at) + transport<a, 1>(f, at) + transport<a, 2>(f, at);
    f.change[a][here] = f.numbers[keep] * f.change[a][here] + f.numbers[dt] * sum;
}

FUNCTION void momentum_of(const Arrays& f, const Places& at) {
    change_component<0>(f, at);
    change_component<1>(f, at);
    change_component<2>(f, at);
}

template <int a>
FUNCTION real gain(const Arrays& f, const Places& at) {
    const wide here = moved<a, a>(at, 0, 0), behind = moved<a, a>(at, 0, 1);
    return f.velocity[a][behind] - f.velocity[a][here] + f.numbers[share] * (f.change[a][behind] - f.change[a][here]);
}

FUNCTION void divergence_of(const Arrays& f, const Places& at) {
    f.cells[moved<0, 0>(at, 0, 0)] = -f.numbers[per_width] * (gain<0>(f, at) + gain<1>(f, at) + gain<2>(f, at));
}

template <int a>
FUNCTION void project_component(const Arrays& f, const Places& at) {
    const wide here = moved<a, a>(at, 0, 0);
    f.velocity[a][here] += f.numbers[share] * f.change[a][here] - f.numbers[per_width] * (f.cells[here] - f.cells[moved<a, a>(at, 0, -1)]);
}

FUNCTION void project_of(const Arrays& f, const Places& at) {
    project_component<0>(f, at);
    project_component<1>(f, at);
    project_component<2>(f, at);
}
)";

// What a launch computes: one thread per cell, or rows that OpenMP's threads share. {0} is the
// kernel's name.
constexpr const char* cuda_entry = R"(
extern "C" __global__ void {0}(real* u, real* v, real* w, real* change_u, real* change_v, real* change_w, real* cells, const real* numbers,
                               int nx, int ny, int nz, int pitch, int cut, int first, int last) {{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y, k = first + blockIdx.z;
    if (i >= nx || k >= last) return;
    Places at = places_of_row(j, k, ny, nz, pitch, cut);
    at.x[0] = i > 0 ? i - 1 : nx - 1, at.x[1] = i, at.x[2] = i + 1 < nx ? i + 1 : 0;
    {0}_of({{{{u, v, w}}, {{change_u, change_v, change_w}}, cells, numbers}}, at);
}}
)";
constexpr const char* cpu_entry = R"(
extern "C" void {0}(real* u, real* v, real* w, real* change_u, real* change_v, real* change_w, real* cells, const real* numbers,
                    int nx, int ny, int nz, int pitch, int cut, int first, int last) {{
    const Arrays f{{{{u, v, w}}, {{change_u, change_v, change_w}}, cells, numbers}};
    #pragma omp parallel for collapse(2)
    for (int k = first; k < last; ++k)
        for (int j = 0; j < ny; ++j) {{
            const Places row = places_of_row(j, k, ny, nz, pitch, cut);
            const auto update = [&](int before, int i, int behind) {{
                Places at = row;
                at.x[0] = before, at.x[1] = i, at.x[2] = behind;
                {0}_of(f, at);
            }};
            update(nx - 1, 0, nx > 1 ? 1 : 0);
            // A cell writes nothing that another cell reads.
            #pragma omp simd
            for (int i = 1; i < nx - 1; ++i) update(i - 1, i, i + 1);
            if (nx > 1) update(nx - 2, nx - 1, 0);
        }}
}}
)";

constexpr std::array kernel_names{"momentum", "divergence", "project"};
constexpr std::int64_t numbers_of_stage = 6;

template <typename Real>
void set_words(HostArray& to, const std::vector<double>& values) {
    std::transform(values.begin(), values.end(), to.values<Real>().begin(), [](double value) { return static_cast<Real>(value); });
}

}  // namespace

KernelSource FlowKernels::source(const Mesh& mesh, Target target) {
    KernelSource source;
    source.target = target;
    source.precision = mesh.precision;
    source.text = fmt::format("using real = {};\n#define FUNCTION {}\n", mesh.precision == Precision::f32 ? "float" : "double",
                              traits_of(target).has_blocks ? "__device__ __forceinline__" : "static inline") +
                  cells_text;
    for (const char* name : {"u", "v", "w", "change_u", "change_v", "change_w", "cells"})
        source.arrays.push_back({name, Access::inout, mesh.stored_words(), "[nz][ny][pitch]", ""});
    source.arrays.push_back({"numbers", Access::in, numbers_of_stage, "[6]", ""});
    source.scalars = {{"nx", mesh.nx}, {"ny", mesh.ny}, {"nz", mesh.nz}, {"pitch", static_cast<int>(mesh.pitch)}, {"cut", mesh.is_cut() ? 1 : 0}};
    constexpr std::int64_t threads = 128;
    for (const char* name : kernel_names) {
        source.text += traits_of(target).has_blocks ? fmt::format(cuda_entry, name) : fmt::format(cpu_entry, name);
        source.entries.emplace_back(name);
        Launch launch;
        launch.entry = name;
        launch.grid = {(mesh.nx + threads - 1) / threads, mesh.ny, mesh.nz};
        launch.block = {threads, 1, 1};
        source.step.push_back(launch);
    }
    return source;
}

FlowKernels::FlowKernels(Backend& backend, const Mesh& mesh)
    : backend_(backend),
      mesh_(mesh),
      source_(source(mesh, backend.device().fingerprint.target)),
      numbers_(backend, stages * numbers_of_stage * bytes_per_word(mesh.precision)) {
    const CompileOutcome outcome = backend.compiler().compile(source_);
    if (!outcome.ok) throw Error("kernels of the flow", outcome.failure, "see 'hone doctor'");
    module_ = backend.load(outcome.code);
    for (std::size_t n = 0; n < kernel_names.size(); ++n) entries_[n] = module_->entry(kernel_names[n]);
}

void FlowKernels::set_numbers(const std::array<Stage, stages>& of_stages, double dt, double viscosity) {
    std::vector<double> values;
    for (const Stage& stage : of_stages)
        values.insert(values.end(), {stage.keep, stage.share, dt, viscosity / (mesh_.h * mesh_.h), 1 / (4 * mesh_.h), 1 / mesh_.h});
    HostArray words(mesh_.precision, static_cast<std::int64_t>(values.size()));
    mesh_.precision == Precision::f32 ? set_words<float>(words, values) : set_words<double>(words, values);
    backend_.copy(numbers_.data(), words.data(), words.bytes());
    backend_.synchronise();
}

void FlowKernels::launch(std::size_t number, const Fields& fields, int stage, const CellRange& planes) const {
    std::array<void*, 8> arrays{};
    std::copy(fields.velocity.begin(), fields.velocity.end(), arrays.begin());
    std::copy(fields.change.begin(), fields.change.end(), arrays.begin() + 3);
    arrays[6] = fields.cells;
    arrays[7] = static_cast<char*>(numbers_.data()) + stage * numbers_of_stage * bytes_per_word(mesh_.precision);
    std::array<int, 7> numbers{mesh_.nx,
                               mesh_.ny,
                               mesh_.nz,
                               static_cast<int>(mesh_.pitch),
                               mesh_.is_cut() ? 1 : 0,
                               static_cast<int>(planes.first),
                               static_cast<int>(planes.last)};
    std::vector<void*> arguments;
    arguments.reserve(arrays.size() + numbers.size());
    for (auto& array : arrays) arguments.push_back(&array);
    for (auto& value : numbers) arguments.push_back(&value);
    Launch plan = source_.step[number];
    plan.grid[2] = planes.cells();
    module_->launch(entries_[number], plan.grid, plan.block, 0, {}, arguments.data());
}

}  // namespace hone::inline v0_1::solvers
