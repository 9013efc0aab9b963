#include "solvers/poisson/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/families/poisson7/family.hpp"
#include "runtime/ranks/device_gather.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "runtime/uploader.hpp"
#include "solvers/poisson/next_scalars.hpp"
#include "solvers/poisson/shared_half.hpp"

namespace hone::inline v0_1::solvers {
namespace {

using namespace poisson;

constexpr int longest_check = 200;  // the device keeps that many residuals, and a few from the start

void expect_length(const char* name, std::size_t found, std::int64_t expected) {
    if (static_cast<std::int64_t>(found) != expected)
        throw Error(fmt::format("{} of a Poisson system", name), fmt::format("{} words", found), fmt::format("give {}", expected));
}

Problem problem(const PoissonSystem& system, const std::string& kernel, std::int64_t planes) {
    return built_in_families().parse_problem(fmt::format("poisson7 kernel={} coefficients={} boundary={} precision={} nx={} ny={} nz={}", kernel,
                                                         system.coefficients, system.boundary, system.precision, system.nx, system.ny, planes));
}

std::shared_ptr<const Kernel> chosen(const Backend& backend, KernelLibrary& library, const Problem& problem,
                                     const std::map<std::string, std::string>& configurations) {
    const auto found = configurations.find(problem.word("kernel"));
    if (found == configurations.end()) return library.kernel(problem);
    return library.kernel(problem, built_in_families().of(problem).space(problem, backend.device().limits).parse(found->second));
}

// A half of the iteration for a part of a grid, with the configuration that the half for a whole
// one has: they differ in what follows.
std::shared_ptr<const Kernel> part_of(KernelLibrary& library, const Kernel& whole) {
    std::vector<Assignment> parameters = whole.problem().parameters();
    for (Assignment& parameter : parameters)
        if (parameter.name == "kernel") parameter.value = whole.problem().word("kernel") + "_part";
    return library.kernel(built_in_families().make_problem("poisson7", parameters), whole.match().config);
}

// Rows of `row` words in `words`, each with zeros behind it up to `pitch`.
template <typename Real>
HostArray converted(Precision precision, std::span<const double> words, std::int64_t row, std::int64_t pitch) {
    const std::int64_t rows = std::ssize(words) / row;
    HostArray array(precision, rows * pitch);
    Real* const values = array.values<Real>().data();
#pragma omp parallel for
    for (std::int64_t n = 0; n < rows; ++n) {
        std::transform(words.data() + n * row, words.data() + (n + 1) * row, values + n * pitch, [](double word) { return static_cast<Real>(word); });
        std::fill(values + n * pitch + row, values + (n + 1) * pitch, Real{0});
    }
    return array;
}

HostArray converted(Precision precision, std::span<const double> words, std::int64_t row, std::int64_t pitch) {
    return precision == Precision::f32 ? converted<float>(precision, words, row, pitch) : converted<double>(precision, words, row, pitch);
}

template <typename Real>
std::vector<double> widened_from(const HostArray& array) {
    const auto values = array.values<Real>();
    return {values.begin(), values.end()};
}

std::vector<double> widened(const HostArray& array) {
    return array.precision() == Precision::f32 ? widened_from<float>(array) : widened_from<double>(array);
}

}  // namespace

PoissonSystem PoissonSystem::laplacian(const std::string& coefficients, const std::string& boundary, const std::string& precision, int nx, int ny,
                                       int nz, double h) {
    PoissonSystem system{coefficients, boundary, precision, nx, ny, nz, {}, {}, {}, {}, boundary != "dirichlet"};
    const bool scalar = coefficients == "scalar";
    const auto cells = static_cast<std::size_t>(system.cells());
    const auto length = [&](int extent) { return scalar ? 1 : coefficients == "axis" ? static_cast<std::size_t>(extent) : cells; };
    system.cx.assign(length(nx), -1 / (h * h));
    system.cy.assign(length(ny), -1 / (h * h));
    system.cz.assign(length(nz), -1 / (h * h));
    system.diagonal.assign(scalar ? 1 : cells, 6 / (h * h));
    return system;
}

std::string to_string(Ending ending) {
    switch (ending) {
        case Ending::converged:
            return "converged";
        case Ending::too_many_iterations:
            return "too many iterations";
        case Ending::breakdown:
            return "breakdown";
    }
    return {};
}

GridPartition partition_planes(const std::string& boundary, int nx, int ny, int nz, int ranks) {
    return partition_grid({nx, ny, nz}, {false, false, boundary == "periodic"}, ranks, {1, 1, chunk_planes}, {false, false, true});
}

Problem direction_problem(const PoissonSystem& system, int planes) {
    return problem(system, "direction", planes);
}

std::vector<int> planes_of_ranks(const GridPartition& partition) {
    std::vector<int> planes(static_cast<std::size_t>(partition.size()));
    for (int rank = 0; rank < partition.size(); ++rank) planes[static_cast<std::size_t>(rank)] = static_cast<int>(partition.block(rank)[2].cells());
    return planes;
}

struct PoissonSolver::State {
    Backend& backend;
    PoissonSystem system;
    Precision precision;
    std::unique_ptr<Communicator> alone;  // where nobody gave one
    Communicator& ranks;
    GridPartition partition;
    Slab slab;
    std::shared_ptr<const Kernel> apply, direction, residual;
    std::shared_ptr<const Kernel> direction_part, residual_part;  // of several ranks
    std::int64_t pitch = 0;
    std::map<std::string, DeviceArray> arrays;
    Uploader uploader;
    std::optional<bool> inverse_is_of;  // what Q was last uploaded for
    // Directions and residuals alternate between two arrays: the kernels read neighbours of the old
    // ones.
    std::vector<BoundKernel> directions, residuals;
    // The same on several ranks: what follows from the sums of all ranks is computed by all alike.
    std::vector<SharedHalf> shared_directions, shared_residuals;
    std::unique_ptr<HaloExchange> halo;
    std::unique_ptr<DeviceGather> sums_of_directions, sums_of_residuals;
    std::unique_ptr<NextScalars> next_scalars;

    State(Communicator* of_ranks, const GridPartition& cut, Backend& on, KernelLibrary& library, const PoissonSystem& of,
          const std::map<std::string, std::string>& configurations)
        : backend(on),
          system(of),
          precision(of.precision == "f32" ? Precision::f32 : Precision::f64),
          alone(of_ranks == nullptr ? self_communicator() : nullptr),
          ranks(of_ranks == nullptr ? *alone : *of_ranks),
          partition(cut),
          slab(checked_slab()),
          apply(chosen(on, library, problem(of, "apply", slab.stored()), configurations)),
          direction(chosen(on, library, problem(of, "direction", slab.stored()), configurations)),
          residual(chosen(on, library, problem(of, "residual", slab.stored()), configurations)),
          uploader(on) {
        for (const auto& scalar : direction->source().scalars)
            if (scalar.name == "pitch") pitch = scalar.value;
        for (const char* field : {"x", "w", "z", "p0", "p1", "r0", "r1"}) allocate(field, field_words());
        allocate("scalars", scalar::words);
        allocate("history", history_words);
        if (shared()) {
            direction_part = part_of(library, *direction), residual_part = part_of(library, *residual);
            prepare_exchange();
        }
        upload_operator();
        bind_halves();
    }

    void bind_halves() {
        shared_directions.clear(), shared_residuals.clear();
        const bool overlaps = edge_place(ranks, usual_edges(backend)) != EdgePlace::serial;
        const int edge_chunks = overlaps ? ranks.exchange_settings().depth : 0;
        for (const std::string old : {"0", "1"}) {
            const std::string other = old == "0" ? "1" : "0";
            const std::map<std::string, std::string> of_directions{{"p_old", "p" + old}, {"p", "p" + other}};
            const std::map<std::string, std::string> of_residuals{{"r_old", "r" + old}, {"r", "r" + other}};
            if (shared()) {
                shared_directions.emplace_back(backend, direction_part, pointers(*direction_part, of_directions), slab, data("w"), edge_chunks);
                shared_residuals.emplace_back(backend, residual_part, pointers(*residual_part, of_residuals), slab, data("z"), edge_chunks);
            } else {
                directions.push_back(bound(direction, of_directions));
                residuals.push_back(bound(residual, of_residuals));
            }
        }
    }

    bool shared() const { return ranks.size() > 1; }
    double cells_of_grid() const { return static_cast<double>(system.nx) * system.ny * static_cast<double>(partition.cells[2]); }

    Slab checked_slab() const {
        if (partition.size() != ranks.size())
            throw Error("ranks of a Poisson solver", fmt::format("a partition for {}", partition.size()), fmt::format("there are {}", ranks.size()));
        const auto block = partition.block(ranks.rank());
        if (block[0].cells() != system.nx || block[1].cells() != system.ny || block[2].cells() != system.nz)
            throw Error(fmt::format("Poisson system of rank {}", ranks.rank()), fmt::format("{} x {} x {} cells", system.nx, system.ny, system.nz),
                        fmt::format("its part of the grid has {} x {} x {}", block[0].cells(), block[1].cells(), block[2].cells()));
        return slab_of(partition, ranks.rank());
    }

    // Whole rows are sent, with their padding.
    void prepare_exchange() {
        GridPartition rows = partition;
        rows.cells[0] = pitch;
        halo = std::make_unique<HaloExchange>(
            ranks, backend, rows, HaloLayout{.strides = {1, pitch, plane_words()}, .origin = own_begin(), .word_bytes = bytes_per_word(precision)});
        sums_of_directions = gather_of(1);
        sums_of_residuals = gather_of(3);
        next_scalars = std::make_unique<NextScalars>(backend, precision, system.nx, system.ny, static_cast<int>(partition.cells[2]),
                                                     sums_of_directions->for_kernels() != nullptr);
    }
    // Of so many sums of each of the grid's blocks.
    std::unique_ptr<DeviceGather> gather_of(int sums) const {
        std::vector<std::int64_t> bytes;
        for (const int planes : planes_of_ranks(partition))
            bytes.push_back((planes + chunk_planes - 1) / chunk_planes * blocks_of_chunk(system.nx, system.ny) * sums * bytes_per_word(precision));
        return std::make_unique<DeviceGather>(ranks, backend, bytes);
    }
    // The neighbours' planes of a field.
    void exchange(const std::string& name) {
        if (!shared()) return;
        const std::array<void*, 1> fields{data(name)};
        halo->begin(fields);
        halo->end();
    }

    std::int64_t plane_words() const { return pitch * system.ny; }
    std::int64_t own_begin() const { return slab.begin() * plane_words(); }
    // The first own word.
    void* own(const std::string& name) const { return static_cast<char*>(data(name)) + own_begin() * bytes_per_word(precision); }
    std::int64_t field_words() const { return plane_words() * slab.stored(); }
    void* data(const std::string& name) const { return arrays.at(name).data(); }
    bool is_solid(std::size_t cell) const { return system.diagonal.size() > 1 && system.diagonal[cell] == 0; }

    void allocate(const std::string& name, std::int64_t words) {
        arrays[name] = DeviceArray(backend, words * bytes_per_word(precision));
        backend.fill(data(name), 0, arrays[name].bytes());
    }

    // A kernel's arrays among the solver's; `renamed` where its names differ from theirs, null for
    // those that the solver has not.
    std::vector<void*> pointers(const Kernel& kernel, const std::map<std::string, std::string>& renamed) const {
        std::vector<void*> result;
        for (const auto& array : kernel.source().arrays) {
            const auto found = renamed.find(array.name);
            const std::string& name = found == renamed.end() ? array.name : found->second;
            result.push_back(arrays.contains(name) ? data(name) : nullptr);
        }
        return result;
    }
    BoundKernel bound(const std::shared_ptr<const Kernel>& kernel, const std::map<std::string, std::string>& renamed) const {
        return {kernel, pointers(*kernel, renamed)};
    }

    void upload(const std::string& name, std::span<const double> words) {
        const HostArray array = converted(precision, words, std::ssize(words), std::ssize(words));
        uploader.upload(data(name), array.data(), array.bytes());
    }
    // Values of cells, into rows with padding; and the neighbours' beside them.
    void upload_field(const std::string& name, std::span<const double> cells) {
        const HostArray array = converted(precision, cells, system.nx, pitch);
        uploader.upload(own(name), array.data(), array.bytes());
        exchange(name);
    }
    // One word everywhere: the device copies what it has until the field is full.
    void fill_field(const std::string& name, double word) {
        const std::vector<double> first(static_cast<std::size_t>(std::min<std::int64_t>(field_words(), 1 << 16)), word);
        upload(name, first);
        const std::int64_t bytes = arrays.at(name).bytes();
        auto* const field = static_cast<char*>(data(name));
        for (std::int64_t done = std::ssize(first) * bytes_per_word(precision); done < bytes; done *= 2)
            backend.copy(field + done, field, std::min(done, bytes - done));
    }
    // A word for each cell, made of those of the diagonal.
    template <typename Make>
    void upload_diagonal(const std::string& name, const Make& make) {
        if (system.diagonal.size() == 1) return fill_field(name, make(system.diagonal[0]));
        std::vector<double> words(system.diagonal.size());
        std::transform(system.diagonal.begin(), system.diagonal.end(), words.begin(), make);
        upload_field(name, words);
    }

    // A field's own planes.
    std::vector<double> download(const std::string& name) const {
        HostArray array(precision, plane_words() * slab.layers());
        backend.copy(array.data(), own(name), array.bytes());
        backend.synchronise();
        return widened(array);
    }

    // Scalars and history.
    std::pair<std::vector<double>, std::vector<double>> look() const {
        std::array<HostArray, 2> words{HostArray(precision, scalar::words), HostArray(precision, history_words)};
        backend.copy(words[0].data(), data("scalars"), words[0].bytes());
        backend.copy(words[1].data(), data("history"), words[1].bytes());
        backend.synchronise();
        return {widened(words[0]), widened(words[1])};
    }

    // Values of cells, from rows with padding.
    void unpadded(const std::vector<double>& words, std::span<double> cells) const {
        for (std::size_t row = 0; row < rows(); ++row)
            std::copy_n(words.begin() + offset(row, pitch), system.nx, cells.begin() + offset(row, system.nx));
    }
    std::size_t rows() const { return static_cast<std::size_t>(system.ny) * static_cast<std::size_t>(system.nz); }
    static std::ptrdiff_t offset(std::size_t row, std::int64_t width) { return static_cast<std::ptrdiff_t>(row) * width; }

    void upload_operator() {
        if (system.coefficients == "scalar") {
            for (const auto* words : {&system.cx, &system.cy, &system.cz, &system.diagonal}) expect_length("a coefficient", words->size(), 1);
            allocate("coefficients", 5);
            return;
        }
        const bool face = system.coefficients == "face";
        const auto line = [&](const char* name, const std::vector<double>& words, int extent) {
            expect_length(name, words.size(), face ? system.cells() : extent);
            allocate(name, face ? field_words() : extent);
            face ? upload_field(name, words) : upload(name, words);
        };
        line("cx", system.cx, system.nx);
        line("cy", system.cy, system.ny);
        if (face)
            line("cz", system.cz, system.nz);
        else
            upload_cz_of_slab();
        if (face && shared()) close_couplings();
        if (system.diagonal.size() != 1) expect_length("diagonal", system.diagonal.size(), system.cells());
        allocate("diagonal", field_words());
        allocate("inverse_diagonal", field_words());
        upload_diagonal("diagonal", [](double diagonal) { return diagonal; });
    }

    // The couplings of the slab's planes; those of the neighbours' planes lead to sums that nobody
    // reads.
    void upload_cz_of_slab() {
        expect_length("cz", system.cz.size(), system.nz);
        std::vector<double> cz(static_cast<std::size_t>(slab.stored()), 0.0);
        std::copy(system.cz.begin(), system.cz.end(), cz.begin() + slab.below);
        allocate("cz", slab.stored());
        upload("cz", cz);
    }

    // The face above the last plane of the grid is that below its first one, which the kernel looks
    // for at the beginning of its arrays. On the last rank that is the neighbour's plane, of which
    // the lower faces serve nothing else.
    void close_couplings() {
        HostArray plane(precision, plane_words());
        if (ranks.rank() == 0) backend.copy(plane.data(), own("cz"), plane.bytes());
        backend.synchronise();
        ranks.broadcast({static_cast<std::byte*>(plane.data()), static_cast<std::size_t>(plane.bytes())}, 0);
        if (slab.above == 0) backend.copy(data("cz"), plane.data(), plane.bytes());
        backend.synchronise();
    }

    // Q: the inverse diagonal, or ones for plain conjugate gradients.
    void upload_inverse(bool preconditioned) {
        if (inverse_is_of == preconditioned) return;
        inverse_is_of = preconditioned;
        const auto inverse = [&](double diagonal) -> double { return diagonal == 0 ? 0 : preconditioned ? 1 / diagonal : 1; };
        if (system.coefficients == "scalar") {
            upload("coefficients", std::array{system.diagonal[0], system.cx[0], system.cy[0], system.cz[0], inverse(system.diagonal[0])});
            return;
        }
        upload_diagonal("inverse_diagonal", inverse);
    }

    std::vector<double> first_scalars(const SolverSettings& settings) const {
        const bool polynomial = settings.preconditioner == Preconditioner::polynomial;
        std::vector<double> scalars(scalar::words, 0.0);
        scalars[scalar::own_weight] = polynomial ? settings.c - 1 : 1;
        scalars[scalar::neighbour_weight] = polynomial ? 1 : 0;
        if (system.singular) {
            std::int64_t fluid = 0;
            for (std::size_t cell = 0; cell < static_cast<std::size_t>(system.cells()); ++cell) fluid += is_solid(cell) ? 0 : 1;
            scalars[scalar::mean_weight] = cells_of_grid() / std::max(all_reduce(ranks, Reduction::sum, static_cast<double>(fluid)), 1.0);
        }
        return scalars;
    }

    // The halves of iteration n.
    void direction_half(int n) {
        const auto parity = static_cast<std::size_t>(n % 2);
        if (!shared()) return directions[parity].launch();
        shared_directions[parity].launch(*halo);
        next_scalars->after_direction(*sums_of_directions, shared_directions[parity].block_sums(), data("scalars"), data("history"));
    }

    void residual_half(int n) {
        const auto parity = static_cast<std::size_t>(n % 2);
        if (!shared()) return residuals[parity].launch();
        shared_residuals[parity].launch(*halo);
        next_scalars->after_residual(*sums_of_residuals, shared_residuals[parity].block_sums(), data("scalars"), data("history"));
    }

    // The first residual of the b in r0 and, for a singular system, the same without its mean.
    // Returns how many residual halves that took.
    int begin(const SolverSettings& settings) {
        upload_inverse(settings.preconditioner != Preconditioner::none);
        for (const char* name : {"p0", "p1"}) backend.fill(data(name), 0, arrays.at(name).bytes());
        std::vector<double> scalars = first_scalars(settings);
        scalars[scalar::alpha] = 1;  // r = b - M x
        upload("scalars", scalars);
        // What the application wrote since.
        for (const char* name : {"x", "r0"}) exchange(name);
        apply_to_x();
        residual_half(0);
        if (!system.singular) return 1;
        backend.fill(data("w"), 0, arrays.at("w").bytes());
        residual_half(1);
        return 2;
    }

    // w = M x in the own planes, and in the neighbours'.
    void apply_to_x() {
        bound(apply, {{"p", "x"}}).launch(slab.begin(), slab.end());
        exchange("w");
    }

    // The sum of value(cell) over the cells of all ranks that are not solid: plane by plane, so
    // that it does not know the ranks.
    template <typename Value>
    double sum_over_cells(const Value& value) const {
        const std::size_t in_plane = static_cast<std::size_t>(system.nx) * static_cast<std::size_t>(system.ny);
        std::vector<double> planes(static_cast<std::size_t>(system.nz), 0.0), all(static_cast<std::size_t>(partition.cells[2]));
        for (std::size_t k = 0; k < planes.size(); ++k)
            for (std::size_t cell = k * in_plane; cell < (k + 1) * in_plane; ++cell)
                if (!is_solid(cell)) planes[k] += value(cell);
        ranks.all_gather(planes, planes_of_ranks(partition), all);
        return std::accumulate(all.begin(), all.end(), 0.0);
    }

    void remove_mean(std::span<double> x) const {
        const double mean = sum_over_cells([&](std::size_t cell) { return x[cell]; }) / sum_over_cells([](std::size_t) { return 1.0; });
        for (std::size_t cell = 0; cell < x.size(); ++cell)
            if (!is_solid(cell)) x[cell] -= mean;
    }
};

PoissonSolver::PoissonSolver(Backend& backend, KernelLibrary& library, const PoissonSystem& system,
                             const std::map<std::string, std::string>& configurations)
    : state_(std::make_unique<State>(nullptr, partition_planes(system.boundary, system.nx, system.ny, system.nz, 1), backend, library, system,
                                     configurations)) {
}
PoissonSolver::PoissonSolver(Communicator& ranks, const GridPartition& partition, Backend& backend, KernelLibrary& library,
                             const PoissonSystem& system, const std::map<std::string, std::string>& configurations)
    : state_(std::make_unique<State>(&ranks, partition, backend, library, system, configurations)) {
}
PoissonSolver::~PoissonSolver() = default;

void PoissonSolver::renew_exchanges() {
    State& s = *state_;
    if (!s.shared()) return;
    s.backend.synchronise();
    s.prepare_exchange();
    s.bind_halves();
}

EdgePlace PoissonSolver::usual_edges(const Backend& backend) {
    return traits_of(backend.device().limits.target).host_memory ? EdgePlace::serial : EdgePlace::ahead;
}

void* PoissonSolver::right_hand_side() const {
    return state_->own("r0");
}
void* PoissonSolver::solution() const {
    return state_->own("x");
}
std::int64_t PoissonSolver::pitch() const {
    return state_->pitch;
}

Solve PoissonSolver::solve(std::span<const double> b, std::span<double> x, const SolverSettings& settings) {
    State& s = *state_;
    expect_length("b", b.size(), s.system.cells());
    expect_length("x", x.size(), s.system.cells());
    s.upload_field("r0", b);
    s.upload_field("x", x);
    Solve result = solve(settings);
    s.unpadded(s.download("x"), x);
    if (s.system.singular) s.remove_mean(x);
    return result;
}

Solve PoissonSolver::solve(const SolverSettings& settings) {
    State& s = *state_;
    if (settings.check_every < 1 || settings.check_every > longest_check)
        throw Error("settings of the Poisson solver", fmt::format("check_every is {}", settings.check_every),
                    fmt::format("use 1 to {}", longest_check));
    const int before = s.begin(settings);
    s.backend.synchronise();
    Solve result;
    const Family& family = built_in_families().find("poisson7");
    result.bytes = family.counts(s.direction->problem()).bytes + family.counts(s.residual->problem()).bytes;
    result.ending = Ending::too_many_iterations;
    const auto start = std::chrono::steady_clock::now();
    double first = -1;
    while (result.executed < settings.most_iterations && result.ending == Ending::too_many_iterations) {
        const int steps = std::min(settings.check_every, settings.most_iterations - result.executed);
        for (int step = 0; step < steps; ++step) {
            // The residual is where the start left it, the first direction is made of it and zeros.
            const int n = result.executed + step;
            s.direction_half(n);
            s.residual_half(n + before);
        }
        const auto [scalars, history] = s.look();  // the only synchronisation
        if (first < 0) first = std::sqrt(history[static_cast<std::size_t>(before - 1)]);
        for (int step = 0; step < steps; ++step) {
            const double norm = std::sqrt(history[static_cast<std::size_t>((before + result.executed + step) % history_words)]);
            result.history.push_back(first > 0 ? norm / first : norm);
        }
        result.executed += steps;
        const double enough = first > 0 ? std::max(settings.tolerance, settings.small / first) : settings.tolerance;
        const auto small = std::find_if(result.history.begin(), result.history.end(), [&](double norm) { return norm <= enough; });
        result.iterations = small == result.history.end() ? result.executed : static_cast<int>(small - result.history.begin()) + 1;
        if (first <= settings.small) result.iterations = 0;
        if (small != result.history.end())
            result.ending = Ending::converged;
        else if (scalars[scalar::breakdown] != 0 || !std::isfinite(result.history.back()))
            result.ending = Ending::breakdown;
        if (settings.progress) settings.progress(result.history);
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // The last step of x is taken by the direction half of an iteration that does not come.
    s.direction_half(result.executed);
    return result;
}

double PoissonSolver::true_residual(std::span<const double> b, std::span<const double> x) {
    State& s = *state_;
    s.upload_inverse(true);
    s.upload_field("x", x);
    s.apply_to_x();
    std::vector<double> product(b.size());
    s.unpadded(s.download("w"), product);
    const auto norm_without_mean = [&](auto&& value) {
        const double mean = s.system.singular ? s.sum_over_cells(value) / s.sum_over_cells([](std::size_t) { return 1.0; }) : 0;
        return std::sqrt(s.sum_over_cells([&](std::size_t cell) { return std::pow(value(cell) - mean, 2); }));
    };
    const double of_b = norm_without_mean([&](std::size_t cell) { return b[cell]; });
    const double of_r = norm_without_mean([&](std::size_t cell) { return b[cell] - product[cell]; });
    return of_b > 0 ? of_r / of_b : of_r;
}

std::string PoissonSolver::kernels() const {
    const auto found = [](const Kernel& kernel) { return fmt::format("{}, {}", to_string(kernel.match().grade), kernel.match().config.key()); };
    return fmt::format("direction: {}\nresidual:  {}", found(*state_->direction), found(*state_->residual));
}

std::array<Grade, 2> PoissonSolver::grades() const {
    return {state_->direction->match().grade, state_->residual->match().grade};
}

}  // namespace hone::inline v0_1::solvers
