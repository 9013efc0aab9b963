#include "solvers/hydro/rank_mass_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/ranks/device_gather.hpp"
#include "runtime/ranks/peer_arrays.hpp"
#include "solvers/hydro/fused_rank_kernels.hpp"
#include "solvers/hydro/mass_scalars.hpp"
#include "solvers/hydro/rank_mass_kernels.hpp"
#include "solvers/hydro/zone_kernels.hpp"
#include "solvers/item_kernels/item_kernels.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

using Kernels = RankMassKernels;

std::int64_t chunks_of(std::int64_t rows, std::int64_t chunk) {
    return (rows + chunk - 1) / chunk;
}

}  // namespace

struct RankMassSolver::State {
    const ZonePart& part;
    Backend& backend;
    int components, rows, own;
    Match found;                            // for the product with dot products,
    std::shared_ptr<const Kernel> product;  // and the one that has its configuration
    bool sums_rows;                         // it sums dot products up by itself
    KernelSource source;
    std::unique_ptr<Module> module;
    std::vector<DeviceArray> matrix;
    DeviceArray q, held, border, r, w, dot_sums, sums, of_groups;
    MassScalars scalars;
    int border_rows;
    FusedRankKernels::Places in_shared;
    std::unique_ptr<PeerArrays> shared;  // GPUs that reach each other's memory: there the direction lies in it
    // The direction, in the arrays in turn; and the product of each. A processor has one of both:
    // there no words travel beside other launches, and a second array, with the second one for the
    // sums of elements, drives much of an iteration's data out of the cache.
    std::vector<DeviceArray> own_p;
    std::vector<void*> p;
    std::vector<BoundKernel> multiply;
    GatherExchange directions;
    // The sums of all ranks' chunks of so many rows, and where those of a share of nodes begin
    // among them.
    struct Sums {
        std::unique_ptr<DeviceGather> gather;
        DeviceArray places;
    };
    Sums of_dots, of_residuals;
    KernelSource sharing;  // kernels that gather sums by themselves, where they can
    std::unique_ptr<Module> sharing_module;
    bool step_is_left = false;              // the last iteration's, of the rows from `beside_dots` on
    DeviceArray dot;                        // of the product of `fused`, which does not use it
    std::optional<FusedRankKernels> fused;  // an iteration in two launches, where it can be

    State(const ZonePart& of, Backend& on, KernelLibrary& library, MassForm form, const std::string& configuration)
        : part(of),
          backend(on),
          components(system().components),
          rows(system().matrix.rows()),
          own(static_cast<int>(of.own_nodes())),
          found(matching(library, form, configuration)),
          product(library.kernel(rank_product(form), found.config)),
          sums_rows(product->problem().word("kernel") == "apply_sums"),
          source(Kernels::source(on.device().limits.target, components)),
          module(on.load(compiled_mass_kernels(on, source))),
          matrix(product_arrays(on, system(), form, own)),
          q(uploaded(on, inverse_diagonal(system()))),
          held(uploaded(on, held_components(system()))),
          border(uploaded(on, rows_that_are_sent())),
          r(vectors()),
          w(vectors()),
          dot_sums(on, components * chunks_of(rows, Kernels::dot_rows) * word),
          sums(on, components * chunks_of(own, Kernels::residual_rows) * word),
          of_groups(on, (components * Kernels::lane_groups + 1) * word),  // and how many of them are done
          scalars(on, components, Kernels::more_scalars(components)),
          border_rows(static_cast<int>(rows_that_are_sent().size())),
          in_shared(FusedRankKernels::places(components, longest_stride(), of.whole_nodes(), of.ranks().size())),
          shared(PeerArrays::make(of.ranks(), on, form == MassForm::elements ? in_shared.words * word : 0)),
          directions(of.ranks(), on, of.links(), sizeof(double)),
          of_dots(sums_of(Kernels::dot_rows, rows)),
          of_residuals(sums_of(Kernels::residual_rows, own)),
          sharing(Kernels::sharing_source(components, on.device().limits.multiprocessors)) {
        if (shared) p.push_back(shared->own());
        while (p.size() < (traits_of(on.device().limits.target).host_memory ? 1 : 2)) p.push_back(own_p.emplace_back(vectors()).data());
        for (void* const direction : p) {
            std::vector<void*> arrays;
            for (const DeviceArray& array : matrix) arrays.push_back(array.data());
            arrays.insert(arrays.end(), {direction, w.data()});
            if (sums_rows) arrays.push_back(dot_sums.data());
            multiply.emplace_back(product, arrays);
            backend.fill(direction, 0, w.bytes());
        }
        backend.fill(of_groups.data(), 0, of_groups.bytes());
        if (of_dots.gather->for_kernels() != nullptr) sharing_module = backend.load(compiled_mass_kernels(backend, sharing));
        // Where other processes' kernels may take the room of one rank's blocks, all ranks would
        // wait for it.
        const bool alone = all_reduce(of.ranks(), Reduction::smallest, on.device().is_shared ? 0 : 1) > 0;
        if (shared && alone) fuse(library, form);
        exchange(p[0]);  // the first one finds the ways to other ranks
    }

    void renew_exchanges() {
        backend.synchronise();
        directions = GatherExchange(part.ranks(), backend, part.links(), sizeof(double));
        of_dots = sums_of(Kernels::dot_rows, rows);
        of_residuals = sums_of(Kernels::residual_rows, own);
        if (of_dots.gather->for_kernels() != nullptr && sharing_module == nullptr)
            sharing_module = backend.load(compiled_mass_kernels(backend, sharing));
        exchange(p[0]);
    }

    static constexpr std::int64_t word = sizeof(double);
    const MassSystem& system() const { return part.here().velocity_mass; }
    DeviceArray vectors() const { return {backend, std::int64_t{components} * rows * word}; }

    int longest_stride() const { return static_cast<int>(all_reduce(part.ranks(), Reduction::largest, rows)); }

    void fuse(KernelLibrary& library, MassForm form) {
        const Problem problem = product_problem(system(), form);
        FusedMassKernels::Product of{library.kernel(problem, found.config)->source(), {}};
        for (const DeviceArray& array : matrix) of.matrix.push_back(array.data());
        dot = DeviceArray(backend, components * word);
        fused.emplace(backend, FusedRankKernels::part_of(part), in_shared, FusedRankKernels::Memory{shared->own(), shared->all()}, of);
    }

    // By rows of a matrix it has no sums of chunks.
    Problem rank_product(MassForm form) const {
        Problem dotted = product_problem(system(), form, form == MassForm::elements);
        if (form == MassForm::rows) return dotted;
        std::vector<Assignment> parameters = dotted.parameters();
        for (Assignment& parameter : parameters)
            if (parameter.name == "kernel") parameter.value = "apply_sums";
        return built_in_families().make_problem(std::string(dotted.family()), parameters);
    }
    Match matching(const KernelLibrary& library, MassForm form, const std::string& configuration) const {
        const Device& device = backend.device();
        const Problem problem = product_problem(system(), form, form == MassForm::elements);
        Match match = library.database().best(problem, device.fingerprint, device.limits);
        if (!configuration.empty()) match.config = built_in_families().of(problem).space(problem, device.limits).parse(configuration);
        return match;
    }

    // Own ones of which other ranks have copies, each once.
    std::vector<std::int32_t> rows_that_are_sent() const {
        std::set<std::int32_t> all;
        for (const GatherLink& link : part.links())
            for (const std::int64_t place : link.own) all.insert(static_cast<std::int32_t>(place % rows));
        return {all.begin(), all.end()};
    }

    // By chunks of nodes as ranks share them: each has several of the smaller ones, the last one of
    // all perhaps fewer. `summed`: the rows whose chunks are there, own ones first.
    Sums sums_of(int rows_of_chunk, int summed) {
        const auto per_share = static_cast<std::int64_t>(Discretisation::node_chunk) / rows_of_chunk;
        const double own_rows = summed;
        std::vector<double> rows_of_ranks(static_cast<std::size_t>(part.ranks().size()));
        part.ranks().all_gather({&own_rows, 1}, equal_counts(part.ranks(), 1), rows_of_ranks);
        std::vector<std::int64_t> bytes;
        bytes.reserve(rows_of_ranks.size());
        for (const double count : rows_of_ranks) bytes.push_back(components * chunks_of(static_cast<std::int64_t>(count), rows_of_chunk) * word);
        const auto before = bytes.begin() + part.ranks().rank();
        const std::int64_t begin = std::accumulate(bytes.begin(), before, std::int64_t{0}) / word;
        // Numbers below 2^53 are words, too.
        const std::int64_t chunks = chunks_of(summed, rows_of_chunk), shares = chunks_of(own, Discretisation::node_chunk);
        std::vector<double> own_places;
        for (std::int64_t share = 0; share < shares; ++share)
            for (std::int64_t c = 0; c < components; ++c) own_places.push_back(static_cast<double>(begin + c * chunks + share * per_share));
        const std::vector<double> of_shares = part.chunks().all(own_places, components);
        const std::int64_t all_shares = part.chunks().items();
        std::vector<std::int32_t> places;
        for (std::int64_t c = 0; c < components; ++c)
            for (std::int64_t share = 0; share < all_shares; ++share)
                places.push_back(static_cast<std::int32_t>(of_shares[static_cast<std::size_t>(share * components + c)]));
        return {std::make_unique<DeviceGather>(part.ranks(), backend, bytes), uploaded(backend, places)};
    }

    // What a launch of an entry reads and writes. `turned`: which of the directions is `p`; `from`
    // is the last one.
    struct Vectors {
        const void* b;
        void* x;
        std::size_t turned = 0;
    };
    std::size_t next(std::size_t turned) const { return (turned + 1) % p.size(); }
    struct Range {
        int first, last;
    };
    // A launch's arguments: pointers, then numbers.
    struct Arguments {
        std::vector<const void*> pointers;
        std::vector<int> numbers;
    };
    Arguments arguments_of(const Vectors& of, const DeviceArray& to, Range items, const void* all, const void* places) const {
        return {{of.b, q.data(), held.data(), w.data(), p.at(next(of.turned)), all, places, border.data(), of.x, r.data(), p.at(of.turned), to.data(),
                 scalars.data()},
                {rows, own, items.first, items.last}};
    }
    static void launch(const Module& with, Launch how, Dim3 grid, Arguments of, Stream stream = {}) {
        how.grid = grid;
        launch_mass_kernel(with, how, std::move(of.pointers), std::move(of.numbers), stream);
    }
    void launch(Kernels::Step step, const Vectors& of, Range items, Stream stream = {}) const {
        launch(*module, source.step[step], item_blocks(items.last - items.first),
               arguments_of(of, step == Kernels::dots_step ? dot_sums : sums, items, nullptr, nullptr), stream);
    }
    // Whether kernels gather sums by themselves, and take the solution's step meanwhile: at some
    // rows beside the sums of residuals, at the others beside those of the next dot products, which
    // take a little longer.
    bool steps_beside_sums() const { return of_dots.gather->for_kernels() != nullptr && of_residuals.gather->for_kernels() != nullptr; }
    int beside_dots() const { return static_cast<int>(std::int64_t{rows} * 9 / 20); }

    // What `step` makes of the sums of all ranks that the last launches left chunks of. `stepped`:
    // rows of the solution's step.
    void finish(Kernels::Step step, const Vectors& of, const Sums& with, Range stepped = {}) const {
        const DeviceArray& from = step == Kernels::dotted_step ? dot_sums : sums;
        const Range all_rows{0, static_cast<int>(part.whole_nodes())};
        PeerWords* const words = with.gather->for_kernels();
        if (words == nullptr) {
            const void* const all = with.gather->gather(from.data());
            return launch(*module, source.step[step], {components, 1, 1}, arguments_of(of, from, all_rows, all, with.places.data()));
        }
        const PeerWords::Turn turn = words->next();
        Arguments arguments = arguments_of(of, from, all_rows, turn.all, with.places.data());
        auto* const groups = static_cast<double*>(of_groups.data());
        arguments.pointers.insert(arguments.pointers.end(), {turn.boxes, turn.done, groups, groups + components * Kernels::lane_groups});
        arguments.numbers.insert(arguments.numbers.end(),
                                 {turn.words, turn.ranks, turn.rank, turn.data, turn.flags, turn.epoch, stepped.first, stepped.last});
        const Launch& how = sharing.step[step - Kernels::started_step];
        launch(*sharing_module, how, how.grid, std::move(arguments));
    }

    // w = M p, and p . w by chunks: those of own rows count.
    void multiply_with(const Vectors& of) const {
        multiply[of.turned].launch();
        // A chunk of own rows may end before it is full, where those of other ranks go on here.
        const int full = sums_rows ? own / Kernels::dot_rows * Kernels::dot_rows : 0;
        if (!sums_rows || (full < own && own < rows)) launch(Kernels::dots_step, of, {full, own});
    }

    // The next direction: first of the rows that are sent, which travel while all others are made.
    void take_direction(const Vectors& of) {
        if (p.size() == 1) {
            launch(Kernels::direction_step, of, {0, rows});
            return exchange(p.front());
        }
        if (border_rows > 0) launch(Kernels::turn_step, of, {0, border_rows});
        begin_exchange(p.at(of.turned));
        steps_beside_sums() ? launch(Kernels::aim_step, of, {0, own}) : launch(Kernels::direction_step, of, {0, rows});
        directions.end();
    }

    // A field's words of own nodes to where others have copies.
    void begin_exchange(void* field) { directions.begin(std::array<void*, 1>{field}); }
    void exchange(void* field) {
        begin_exchange(field);
        directions.end();
    }

    // GPUs do all of it in one launch behind the product where nothing else is asked for.
    bool fuses(VectorUpdates updates) const { return fused && updates != VectorUpdates::separate && steps_beside_sums(); }

    void iterate(Vectors& of) {
        multiply_with(of);
        finish(Kernels::dotted_step, of, of_dots, step_is_left ? Range{beside_dots(), rows} : Range{});
        launch(Kernels::update_step, of, {0, own});
        finish(Kernels::updated_step, of, of_residuals, {0, beside_dots()});
        step_is_left = steps_beside_sums();
        of.turned = next(of.turned);
        take_direction(of);
    }
};

RankMassSolver::RankMassSolver(const ZonePart& part, Backend& backend, KernelLibrary& library, MassForm form, const std::string& configuration)
    : state_(std::make_unique<State>(part, backend, library, form, configuration)) {
}
RankMassSolver::~RankMassSolver() = default;
RankMassSolver::RankMassSolver(RankMassSolver&&) noexcept = default;
RankMassSolver& RankMassSolver::operator=(RankMassSolver&&) noexcept = default;

void RankMassSolver::renew_exchanges() {
    state_->renew_exchanges();
}

MassSolve RankMassSolver::solve(const void* b, void* x, const MassSettings& settings) {
    State& s = *state_;
    s.scalars.prepare(settings);
    State::Vectors of{b, x};
    s.launch(Kernels::clear_step, of, {0, s.rows});
    s.launch(Kernels::start_step, of, {0, s.own});
    s.exchange(s.p.at(of.turned));
    s.finish(Kernels::started_step, of, s.of_residuals);
    if (s.fuses(settings.updates)) {
        const FusedRankKernels::Arrays arrays{s.q.data(), s.held.data(), s.w.data(), s.dot.data(), x, s.r.data(), s.scalars.data()};
        MassSolve solve = s.scalars.solve(settings, [&](int steps) {
            for (int step = 0; step < steps; ++step) s.fused->iterate(arrays, settings.updates == VectorUpdates::cooperative);
        });
        s.exchange(x);
        return solve;
    }
    MassSolve solve = s.scalars.solve(settings, [&](int steps) {
        for (int step = 0; step < steps; ++step) s.iterate(of);
    });
    if (std::exchange(s.step_is_left, false)) s.launch(Kernels::go_on_step, of, {s.beside_dots(), s.rows});
    return solve;
}

void RankMassSolver::multiply(int times) {
    for (int n = 0; n < times; ++n) state_->multiply.front().launch();
}

std::string RankMassSolver::family() const {
    return state_->product->problem().family();
}

std::string RankMassSolver::kernel() const {
    const Match& match = state_->found;
    return fmt::format("{}: {}", to_string(match.grade), match.config.key());
}

Grade RankMassSolver::grade() const {
    return state_->found.grade;
}

}  // namespace hone::inline v0_1::solvers::hydro
