// About 600 lines, because steps, walls, receivers and exchanges share one state, and the order in
// which they are queued.
#include "solvers/acoustics/wave_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/ranks/slab.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/acoustics/edge_kernels.hpp"
#include "solvers/acoustics/wave_grid.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

constexpr const char* axes = "xyz";

std::vector<std::string> kernel_names(const WaveSettings& settings) {
    if (settings.kernels == "step" || settings.kernels == "in_place") return {"step"};
    if (settings.kernels == "sweeps") return {"velocity", "pressure"};
    throw Error("kernels of the wave solver", settings.kernels, "choose step, in_place or sweeps");
}

// Calls `use` with the array's words, in its precision.
template <typename Array, typename Use>
void with_words(Array& array, const Use& use) {
    if (array.precision() == Precision::f32)
        use(array.template values<float>());
    else
        use(array.template values<double>());
}

// Layers of the state that a time step, and so many of them, read beyond those that they write.
int layers_read(const WaveSettings& settings) {
    return (settings.order - 1) * std::max(settings.levels, settings.exchange_every);
}

// Layers of the whole grid, as a partition that is cut along z.
GridPartition partition_layers(const Model& model, const WaveSettings& settings, int ranks) {
    if (settings.exchange_every < 1 || (settings.exchange_every > 1 && settings.levels > 1))
        throw Error("time steps from one exchange to the next", fmt::format("{}, of {} in a pass", settings.exchange_every, settings.levels),
                    "use 1 or more with single steps, and 1 with passes of several");
    const std::int64_t layers = WaveGrid::all_layers(model, settings).cells();
    if (const int most = WaveSolver::most_ranks(model, settings); ranks > most)
        throw Error(
            fmt::format("acoustic waves on {} ranks", ranks),
            fmt::format("a grid of {} {}, of which neighbours read {}", layers, model.dimension == 2 ? "rows" : "planes", layers_read(settings)),
            fmt::format("start at most {}", most));
    return {{1, 1, layers}, {1, 1, ranks}};
}

std::vector<int> layers_of_ranks(const GridPartition& partition) {
    std::vector<int> result;
    result.reserve(static_cast<std::size_t>(partition.size()));
    for (int rank = 0; rank < partition.size(); ++rank) result.push_back(static_cast<int>(partition.block(rank)[2].cells()));
    return result;
}

}  // namespace

struct WaveSolver::State {
    std::unique_ptr<Communicator> alone;  // where nobody gave one
    Communicator& ranks;
    Backend& backend;
    Model model;
    WaveSettings settings;
    Survey survey;
    GridPartition partition;
    Slab slab;
    WaveGrid grid;
    Precision precision;
    EdgeKernels edges;
    std::map<std::string, DeviceArray> arrays;
    enum class Mirrored { all, pressure, velocities };
    std::map<std::pair<std::string, Mirrored>, std::vector<EdgeKernels::Mirrors>> walls;  // of a set's fields
    // There are two sets of fields, "0" and "1", and "2" for what is computed beside a pass; sweeps
    // and steps in place have one.
    std::map<std::string, BoundKernel> bound;  // "step01": from the first set to the second; in place: "step00"; sweeps: "velocity00", "pressure00"
    std::vector<Rows> beside;                  // what is computed so, of each time step of a pass
    DeviceArray source_place, receiver_places;
    std::vector<std::size_t> own_receivers;  // by their numbers in the survey
    int source_layer = 0;                    // counted in the arrays; it need not be there
    std::unique_ptr<HaloExchange> halo;      // where there are neighbours
    int edge_depth;                          // of edges, in layers that neighbours read
    std::string now = "0";                   // the set with the state before the next step
    int steps, done = 0;
    struct Unheard {
        std::string set;
        int step;
    };
    std::optional<Unheard> unheard;  // a step that is done, and not yet written down
    bool adds_at_walls = false;      // what the source adds to it the launch at the walls adds, too
    int since_exchange = 0;          // single steps

    State(Communicator* of_ranks, Backend& on, KernelLibrary& library, Model of, const WaveSettings& with, Survey what, int most_steps)
        : alone(of_ranks == nullptr ? self_communicator() : nullptr),
          ranks(of_ranks == nullptr ? *alone : *of_ranks),
          backend(on),
          model(std::move(of)),
          settings(with),
          survey(std::move(what)),
          partition(partition_layers(model, settings, ranks.size())),
          slab(slab_of(partition, ranks.rank(), 2, layers_read(settings))),
          grid(model, settings, slab.stored_in_grid()),
          precision(grid.grid().precision),
          edges(on, precision),
          edge_depth(ranks.exchange_settings().depth),
          steps(most_steps) {
        for (const std::string& field : fields())
            for (int set = 0; set < sets(); ++set) allocate(field + std::to_string(set), grid.grid().words());
        upload("kappa", grid.kappa());
        for (int axis = 0; axis < model.dimension; ++axis) {
            upload(std::string("b") + axes[axis], grid.buoyancy(axis));
            if (grid.absorbs()) upload(std::string("damping_") + axes[axis], grid.damping(axis, grid.grid().ghost()));
        }
        if (grid.absorbs() && passes()) upload("single_damping", grid.damping(model.depth_axis(), settings.order));
        if (passes()) beside = grid.rows_beside(settings.levels, survey);
        set_up_survey();
        bind(library);
        if (slab.is_cut()) prepare_exchange();
    }

    // Whole layers are sent, with what lies around their cells.
    void prepare_exchange() {
        GridPartition words = partition;
        words.cells[0] = grid.grid().layer_stride();
        halo = std::make_unique<HaloExchange>(ranks, backend, words,
                                              HaloLayout{.strides = {1, 0, grid.grid().layer_stride()},
                                                         .origin = (grid.grid().ghost() + slab.begin()) * grid.grid().layer_stride(),
                                                         .word_bytes = bytes_per_word(precision),
                                                         .layers = layers_read(settings),
                                                         .edges_before = model.dimension == 3});  // as was faster on two H100
        exchange(now);                                                                            // the first one finds the ways to other ranks
    }

    bool in_place() const { return settings.kernels == "in_place"; }
    bool is_step() const { return settings.kernels == "step" || in_place(); }
    bool passes() const { return settings.levels > 1; }
    int sets() const { return passes() ? 3 : is_step() && !in_place() ? 2 : 1; }
    std::string other() const { return sets() == 1 || now == "1" ? "0" : "1"; }

    std::vector<std::string> fields() const {
        std::vector<std::string> names = acoustics::velocities(grid.grid());
        names.insert(names.begin(), "p");
        return names;
    }
    void* data(const std::string& name) const { return arrays.at(name).data(); }
    void* first_cell(const std::string& name) const {
        return static_cast<char*>(data(name)) + grid.grid().position(0, 0, 0) * bytes_per_word(precision);
    }

    void allocate(const std::string& name, std::int64_t words) {
        arrays[name] = DeviceArray(backend, words * bytes_per_word(precision));
        backend.fill(data(name), 0, arrays[name].bytes());
    }
    void upload(const std::string& name, const std::vector<float>& words) {
        allocate(name, std::ssize(words));
        HostArray array(precision, std::ssize(words));
        with_words(array, [&](auto to) { std::copy(words.begin(), words.end(), to.begin()); });
        backend.copy(data(name), array.data(), array.bytes());
        backend.synchronise();
    }
    HostArray download(const std::string& name) const {
        HostArray array(precision, arrays.at(name).bytes() / bytes_per_word(precision));
        backend.copy(array.data(), data(name), array.bytes());
        backend.synchronise();
        return array;
    }
    DeviceArray upload_places(const std::vector<std::int64_t>& places) const {
        const auto bytes = static_cast<std::int64_t>(places.size() * sizeof(std::int64_t));
        DeviceArray array(backend, std::max<std::int64_t>(bytes, sizeof(std::int64_t)));
        backend.copy(array.data(), places.data(), bytes);
        backend.synchronise();
        return array;
    }

    // The source puts c^2 times the wavelet's integral into its cell, at the time between two
    // pressures.
    void set_up_survey() {
        const CellRange stored = slab.stored_in_grid();
        source_layer = grid.layer_of(survey.source) - static_cast<int>(stored.first);
        source_place = upload_places({source_layer >= 0 && source_layer < slab.stored() ? grid.place(survey.source) : 0});
        std::vector<std::int64_t> places;
        own_receivers = receivers_of_ranks()[static_cast<std::size_t>(ranks.rank())];
        for (const std::size_t receiver : own_receivers) places.push_back(grid.place(survey.receivers[receiver]));
        receiver_places = upload_places(places);
        const double speed = model.speed[model.at(survey.source[0], survey.source[1], survey.source[2])];
        const double volume = std::pow(model.spacing, model.dimension), dt = grid.dt();
        std::vector<float> amounts;
        amounts.reserve(static_cast<std::size_t>(steps) + 1);
        for (int step = 0; step <= steps; ++step)
            amounts.push_back(static_cast<float>(dt * speed * speed / volume * survey.ricker.integral((step + 0.5) * dt)));
        upload("source", amounts);
        adds_at_walls = may_add_at_walls();
        allocate("traces", std::max<std::int64_t>(std::ssize(places) * steps, 1));
    }

    // The word that a kernel takes for an array's first one. A single step's arrays are those of a
    // pass without what that needs around the cells.
    void* start(const std::string& name, const std::string& array, bool single) const {
        if (!single || !passes()) return data(name);
        if (array == std::string("damping_") + axes[model.depth_axis()]) return data("single_damping");
        if (array == "damping_y") return data(name);  // in 3D, where a single step's rows are as many
        const std::int64_t words = array == "damping_x" ? grid.single_start_x() : grid.single_start();
        return static_cast<char*>(data(name)) + words * bytes_per_word(precision);
    }
    void bind(const std::shared_ptr<const Kernel>& kernel, const std::string& called, int from, int to) {
        std::vector<void*> pointers;
        for (const auto& array : kernel->source().arrays) {
            const bool out = array.name.ends_with("_next");
            const std::string field = out ? array.name.substr(0, array.name.size() - 5) : array.name;
            const bool is_field = arrays.contains(field + "0");
            pointers.push_back(start(is_field ? field + std::to_string(out ? to : from) : field, array.name, called != "pass"));
        }
        bound.emplace(called + std::to_string(from) + std::to_string(to), BoundKernel(kernel, pointers));
    }
    void bind(KernelLibrary& library) {
        if (!is_step())
            for (const auto& name : kernel_names(settings))
                bind(library.kernel(WaveGrid::problem(model, settings, name, slab.stored_in_grid())), name, 0, 0);
        if (!is_step()) return;
        const CellRange stored = slab.stored_in_grid();
        const auto whole = WaveGrid::problem(model, settings, "step", stored);
        const auto step = library.kernel(passes() ? WaveGrid::single_step(model, settings, stored) : whole);
        for (int from = 0; from < sets(); ++from)
            for (int to = 0; to < sets(); ++to)
                if (from != to || in_place()) bind(step, "step", from, to);
        if (!passes()) return;
        const auto pass = library.kernel(whole);
        for (const int from : {0, 1}) bind(pass, "pass", from, 1 - from);
    }

    // How a field continues beyond the walls of one axis; `parity` of a rigid wall, a free surface
    // has the opposite.
    void add_mirror(std::vector<EdgeKernels::Mirror>& all, const std::string& field, int axis, int parity, int depth, bool on_faces) const {
        const auto at = [&](int end) {
            if (!grid.has_wall(axis, end)) return 0;
            return grid.wall(axis, end) == Wall::rigid ? parity : -parity;
        };
        if (at(0) == 0 && at(1) == 0) return;
        const int first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
        // A pass needs corners: beyond the walls of y what lies beyond those of x, too, and beyond
        // those of z both.
        const int around = passes() && axis >= 1 ? depth : 0, around_others = passes() && axis == 2 ? depth : 0;
        const std::int64_t before = around * grid.stride(first) + around_others * grid.stride(second);
        all.push_back({.first = static_cast<char*>(first_cell(field)) - before * bytes_per_word(precision),
                       .cells = grid.cells(axis),
                       .stride = grid.stride(axis),
                       .across = grid.cells(first) + 2 * around,
                       .across_stride = grid.stride(first),
                       .others = grid.cells(second) + 2 * around_others,
                       .others_stride = model.dimension == 2 ? 0 : grid.stride(second),
                       .depth = depth,
                       .low = at(0),
                       .high = at(1),
                       .on_faces = on_faces});
    }
    // A velocity across a wall is odd there. Those along it a step does not need beyond it, only a
    // pass.
    void add_velocities(std::vector<EdgeKernels::Mirror>& all, const std::string& set, int axis) const {
        const int depth = passes() ? settings.levels * grid.grid().reach() : grid.grid().half;
        for (int across = 0; across < model.dimension; ++across)
            if (axis == across || passes())
                add_mirror(all, fields()[static_cast<std::size_t>(across) + 1] + set, axis, axis == across ? -1 : 1, depth, axis == across);
    }
    // What the walls of a set of fields take, in launches that follow each other: one, or for the
    // corners of a pass one of each axis.
    void mirror(const std::string& set, Mirrored which) {
        auto& launches = walls[{set, which}];
        if (launches.empty()) {
            const int depth = is_step() ? settings.levels * grid.grid().reach() : grid.grid().half;
            std::vector<EdgeKernels::Mirror> together;
            for (int axis = 0; axis < model.dimension; ++axis) {
                if (which != Mirrored::velocities) add_mirror(together, "p" + set, axis, 1, depth, false);
                if (which != Mirrored::pressure) add_velocities(together, set, axis);
                if (passes() || axis + 1 == model.dimension)
                    launches.push_back(EdgeKernels::mirrors(backend, std::exchange(together, {}),
                                                            axis == 0 || !passes() ? receivers(set, which) : EdgeKernels::Receivers{},
                                                            adds_at_walls && mirrors_of_source() == 0));
            }
        }
        int step = -1;
        if (which != Mirrored::velocities && unheard && unheard->set == set) step = std::exchange(unheard, {})->step;
        hear();
        EdgeKernels::Source source;
        if (adds_at_walls && step >= 0)
            source = {static_cast<char*>(data("p" + set)) + grid.place(survey.source) * bytes_per_word(precision), data("source")};
        for (const EdgeKernels::Mirrors& launch : launches) edges.mirror(launch, step, source);
    }
    void mirror_all(const std::string& set) { mirror(set, is_step() ? Mirrored::all : Mirrored::pressure); }

    // How many values beyond walls are those of the source's cell.
    int mirrors_of_source() const {
        int count = 0;
        const std::int64_t depth = grid.grid().reach();
        for (int axis = 0; axis < model.dimension; ++axis) {
            const int cell = grid.cell_along(axis, survey.source);
            count += grid.has_wall(axis, 0) && cell < depth ? 1 : 0;
            count += grid.has_wall(axis, 1) && cell >= grid.cells(axis) - depth ? 1 : 0;
        }
        return count;
    }
    // Whether that launch may add what the source does: at most one thread of it reads the cell,
    // and it does not travel before.
    bool may_add_at_walls() const {
        if (!is_step() || passes() || settings.exchange_every > 1) return false;
        const Slab::Parts parts = slab.parts(std::int64_t{layers_read(settings)} * edge_depth);
        if (!parts.interior || source_layer < parts.interior->first || source_layer >= parts.interior->last) return false;
        return mirrors_of_source() <= 1 && std::none_of(own_receivers.begin(), own_receivers.end(),
                                                        [&](std::size_t receiver) { return survey.receivers[receiver] == survey.source; });
    }

    // What the source adds to the pressures of a step that computed these layers, its own among
    // them or not.
    void add_source(const std::string& set, std::int64_t first, std::int64_t last, Stream stream) const {
        if (adds_at_walls) return;
        if (done < steps && source_layer >= first && source_layer < last)
            edges.inject(data("p" + set), source_place.data(), data("source"), done, stream);
    }
    EdgeKernels::Receivers receivers(const std::string& set, Mirrored which) const {
        if (which == Mirrored::velocities) return {};
        return {data("p" + set), receiver_places.data(), data("traces"), static_cast<int>(own_receivers.size())};
    }
    // Ends a step. What the receivers hear of it the next launch at the walls writes down, or the
    // end of all steps.
    void finish_step(const std::string& set) {
        hear();
        if (done < steps) unheard = Unheard{set, done};
        ++done;
    }
    void hear() {
        if (!unheard) return;
        if (adds_at_walls) edges.inject(data("p" + unheard->set), source_place.data(), data("source"), unheard->step);
        const auto [field, places, traces, count] = receivers(unheard->set, Mirrored::all);
        edges.record(data("p" + unheard->set), places, traces, count, unheard->step);
        unheard.reset();
    }

    // What of the state after a step neighbours read for the next one. Velocities along a layer
    // they need for several only; and those that sweeps make across layers they make themselves.
    std::vector<HaloField> travelling(const std::string& set) const {
        const int layers = layers_read(settings);
        if (passes() || settings.exchange_every > 1) {
            std::vector<HaloField> all;
            for (const std::string& field : fields()) all.push_back({data(field + set), layers});
            return all;
        }
        std::vector<HaloField> result{{data("p" + set), layers}};
        if (is_step()) result.push_back({data(fields().back() + set), grid.grid().half});
        return result;
    }
    void exchange(const std::string& set) const {
        if (halo == nullptr) return;
        halo->begin(travelling(set));
        halo->end();
    }
    // Calls compute(first, last, stream) for the own layers: those that neighbours read beside the
    // others, and they travel meanwhile.
    template <typename Compute>
    void compute_and_exchange(const std::string& set, const Compute& compute) const {
        if (halo == nullptr) return compute(slab.begin(), slab.end(), Stream{});
        if (in_place()) {  // parts would overwrite what the others read
            compute(slab.begin(), slab.end(), Stream{});
            return exchange(set);
        }
        const Slab::Parts parts = slab.parts(std::int64_t{layers_read(settings)} * edge_depth);
        const Stream stream = halo->fork();
        for (const CellRange& edge : parts.edges) compute(edge.first, edge.last, stream);
        halo->begin(travelling(set));
        if (parts.interior) compute(parts.interior->first, parts.interior->last, Stream{});
        halo->end();
    }

    void step() {
        // What the steps up to the next exchange read.
        const int more = (settings.exchange_every - 1 - since_exchange) * grid.grid().reach(), half = grid.grid().half;
        mirror_all(now);
        if (!is_step()) {
            const CellRange faces = slab.with(more + half - 1, more + half);
            bound.at("velocity00").launch(faces.first, faces.last);
            mirror("0", Mirrored::velocities);
        }
        const std::string to = other();
        const auto compute = [&](std::int64_t first, std::int64_t last, Stream stream) {
            bound.at(is_step() ? "step" + now + to : "pressure00").launch(first, last, stream);
            add_source(to, first, last, stream);
        };
        const CellRange wide = slab.with(more, more);
        more > 0 ? compute(wide.first, wide.last, Stream{}) : compute_and_exchange(to, compute);
        since_exchange = (since_exchange + 1) % settings.exchange_every;
        now = to;
        finish_step(now);
    }

    // The rows that step number k of a pass computes beside on this rank: what its own ones need of
    // them.
    CellRange own_rows_beside(std::size_t k) const {
        const int more = (settings.levels - 1 - static_cast<int>(k)) * grid.grid().reach();
        const CellRange wide = slab.with(more, more);
        const std::int64_t first_stored = slab.stored_in_grid().first;
        return {std::max(wide.first, beside[k].first - first_stored), std::min(wide.last, beside[k].last - first_stored)};
    }
    // Single steps from the state before a pass, which serves for them from the second one on; what
    // they come to replaces the pass's.
    void compute_beside(const std::string& before, const std::string& after) {
        std::string from = before;
        for (std::size_t k = 0; k < beside.size(); ++k) {
            if (k > 0) mirror_all(from);
            const std::string to = k + 1 == beside.size() ? after : from == "2" ? before : "2";
            if (const CellRange rows = own_rows_beside(k); rows.cells() > 0) {
                bound.at("step" + from + to).launch(rows.first, rows.last);
                add_source(to, rows.first, rows.last, {});
            }
            finish_step(to);
            from = to;
        }
    }
    // Several steps: of all rows in one pass, then of those beside it.
    void pass() {
        const std::string before = now, after = other();
        mirror_all(before);
        const auto compute = [&](std::int64_t first, std::int64_t last, Stream stream) {
            bound.at("pass" + before + after).launch(first, last, stream);
        };
        // What is computed beside needs the state before, so that rows which travel can be replaced
        // only when all others are done.
        const CellRange replaced = own_rows_beside(beside.size() - 1);
        const std::vector<CellRange> travel = slab.parts(layers_read(settings)).edges;
        const bool replaces_edges = std::any_of(travel.begin(), travel.end(),
                                                [&](const CellRange& edge) { return replaced.first < edge.last && edge.first < replaced.last; });
        if (replaces_edges)
            compute(slab.begin(), slab.end(), Stream{});
        else
            compute_and_exchange(after, compute);
        compute_beside(before, after);
        if (replaces_edges) exchange(after);
        now = after;
    }

    // Visits the cells of these layers, counted in the arrays, x fastest.
    template <typename Visit>
    void for_cells(const CellRange& layers, const Visit& visit) const {
        const auto& g = grid.grid();
        const bool flat = model.dimension == 2;
        for (std::int64_t z = flat ? 0 : layers.first; z < (flat ? 1 : layers.last); ++z)
            for (std::int64_t y = flat ? layers.first : 0; y < (flat ? layers.last : g.ny); ++y)
                for (std::int64_t x = 0; x < g.nx; ++x) visit(std::array{x, y, z}, static_cast<std::size_t>(g.position(x, y, z)));
    }

    // A sum over all ranks' cells, by layers, so that it does not know how many they are.
    double energy(const HostArray& before) const {
        std::vector<double> own(static_cast<std::size_t>(slab.layers())), all(static_cast<std::size_t>(partition.cells[2]));
        const auto depth = static_cast<std::size_t>(model.depth_axis());
        const auto sum_of = [&](const auto& cell) -> double& { return own[static_cast<std::size_t>(cell[depth] - slab.begin())]; };
        const HostArray after = download("p" + now), kappa = download("kappa");
        with_words(after, [&](auto p) {
            using Word = std::remove_cvref_t<decltype(p[0])>;
            const auto old = before.values<Word>(), medium = kappa.values<Word>();
            for_cells({slab.begin(), slab.end()},
                      [&](const auto& cell, std::size_t at) { sum_of(cell) += static_cast<double>(p[at]) * old[at] / medium[at]; });
        });
        for (int axis = 0; axis < model.dimension; ++axis) add_kinetic(axis, sum_of);
        ranks.all_gather(own, layers_of_ranks(partition), all);
        return std::accumulate(all.begin(), all.end(), 0.0) * grid.energy_unit();
    }
    template <typename SumOf>
    void add_kinetic(int axis, const SumOf& sum_of) const {
        const auto number = static_cast<std::size_t>(axis);
        const HostArray velocity = download(fields()[number + 1] + now), b = download(std::string("b") + axes[axis]);
        // Only half of the faces on a free surface belongs to the medium.
        const bool surface = grid.has_wall(axis, 0) && grid.wall(axis, 0) == Wall::free_surface;
        with_words(velocity, [&](auto v) {
            const auto medium = b.values<std::remove_cvref_t<decltype(v[0])>>();
            for_cells({slab.begin(), slab.end()}, [&](const auto& cell, std::size_t at) {
                const double part = surface && cell[number] == 0 ? 0.5 : 1;
                sum_of(cell) += part * static_cast<double>(v[at]) * v[at] / medium[at];
            });
        });
    }

    std::int64_t cells_of_layer() const { return grid.grid().nx * (model.dimension == 2 ? 1 : grid.grid().ny); }
    std::size_t bytes_of_field() const { return static_cast<std::size_t>(partition.cells[2] * cells_of_layer() * bytes_per_word(precision)); }

    // A field's cells of all ranks, without what lies around them.
    std::vector<std::byte> gathered(const std::string& name) const {
        const HostArray array = download(name);
        HostArray own(precision, slab.layers() * cells_of_layer());
        with_words(own, [&](auto to) {
            const auto words = array.values<std::remove_cvref_t<decltype(to[0])>>();
            std::size_t next = 0;
            for_cells({slab.begin(), slab.end()}, [&](const auto&, std::size_t at) { to[next++] = words[at]; });
        });
        return gather_on_first(ranks, std::span(static_cast<const std::byte*>(own.data()), static_cast<std::size_t>(own.bytes())));
    }
    // The other way round: what these layers have of the cells of the whole grid.
    void distribute(const std::string& name, std::span<const std::byte> cells) {
        HostArray array(precision, arrays.at(name).bytes() / bytes_per_word(precision));
        with_words(array, [&](auto to) {
            using Word = std::remove_cvref_t<decltype(to[0])>;
            std::fill(to.begin(), to.end(), Word{0});
            const std::byte* from = cells.data() + slab.stored_in_grid().first * cells_of_layer() * static_cast<std::int64_t>(sizeof(Word));
            for_cells({0, slab.stored()}, [&](const auto&, std::size_t at) {
                std::copy_n(from, sizeof(Word), reinterpret_cast<std::byte*>(&to[at]));
                from += sizeof(Word);
            });
        });
        backend.copy(data(name), array.data(), array.bytes());
        backend.synchronise();
    }

    // Receivers by the ranks that have them, by their numbers in the survey.
    std::vector<std::vector<std::size_t>> receivers_of_ranks() const {
        std::vector<std::vector<std::size_t>> result(static_cast<std::size_t>(ranks.size()));
        for (std::size_t receiver = 0; receiver < survey.receivers.size(); ++receiver) {
            std::size_t rank = 0;
            while (partition.block(static_cast<int>(rank))[2].last <= grid.layer_of(survey.receivers[receiver])) ++rank;
            result[rank].push_back(receiver);
        }
        return result;
    }
};

WaveSolver::WaveSolver(Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings, const Survey& survey, int steps)
    : state_(std::make_unique<State>(nullptr, backend, library, model, settings, survey, steps)) {
}
WaveSolver::WaveSolver(Communicator& ranks, Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings,
                       const Survey& survey, int steps)
    : state_(std::make_unique<State>(&ranks, backend, library, model, settings, survey, steps)) {
}
WaveSolver::~WaveSolver() = default;

int WaveSolver::most_ranks(const Model& model, const WaveSettings& settings) {
    return static_cast<int>(std::max<std::int64_t>(1, WaveGrid::all_layers(model, settings).cells() / layers_read(settings)));
}

std::vector<Problem> WaveSolver::problems(const Model& model, const WaveSettings& settings) {
    std::vector<Problem> result;
    for (const auto& name : kernel_names(settings)) result.push_back(WaveGrid::problem(model, settings, name));
    if (settings.levels > 1) result.push_back(WaveGrid::single_step(model, settings, WaveGrid::all_layers(model, settings)));
    return result;
}

Counts WaveSolver::counts_of_step(const Model& model, const WaveSettings& settings) {
    Counts sum;
    for (const Problem& problem : problems(model, settings)) {
        if (problem.integer("levels") != settings.levels) continue;
        const Counts pass = built_in_families().of(problem).counts(problem);
        sum.updates = pass.updates / settings.levels;
        sum.unit = pass.unit;
        sum.operations += pass.operations / settings.levels;
        sum.bytes += pass.bytes / settings.levels;
    }
    return sum;
}

void WaveSolver::begin_anew() {
    State& s = *state_;
    s.backend.synchronise();
    for (const std::string& field : s.fields())
        for (int set = 0; set < s.sets(); ++set) {
            const DeviceArray& words = s.arrays.at(field + std::to_string(set));
            s.backend.fill(words.data(), 0, words.bytes());
        }
    s.now = "0", s.done = 0, s.since_exchange = 0;
    s.unheard.reset();
    s.edge_depth = s.ranks.exchange_settings().depth;
    s.walls.clear();
    s.adds_at_walls = s.may_add_at_walls();
    if (s.slab.is_cut()) s.prepare_exchange();
}

void WaveSolver::advance(int steps) {
    State& s = *state_;
    for (int left = steps; left > 0;) {
        const bool pass = s.passes() && left >= s.settings.levels;
        left -= pass ? s.settings.levels : 1;
        pass ? s.pass() : s.step();
    }
    s.hear();
}

double WaveSolver::advance_measuring_energy() {
    const HostArray before = state_->download("p" + state_->now);
    advance(1);
    return state_->energy(before);
}

int WaveSolver::steps_done() const {
    return state_->done;
}
double WaveSolver::time() const {
    return state_->done * state_->grid.dt();
}
double WaveSolver::step_seconds() const {
    return state_->grid.dt();
}

std::int64_t WaveSolver::bytes_sent() const {
    const State& s = *state_;
    if (s.halo == nullptr) return 0;
    std::int64_t layers = 0;
    for (const HaloField& field : s.travelling(s.now)) layers += field.layers;
    return s.halo->bytes_per_field() / layers_read(s.settings) * layers;
}

CellRange WaveSolver::model_layers() const {
    const State& s = *state_;
    const auto depth = static_cast<std::size_t>(s.model.depth_axis());
    const std::int64_t cells = s.model.cells[depth], beyond = s.grid.layer_of({0, 0, 0});
    const std::int64_t first = std::clamp<std::int64_t>(s.slab.own.first - beyond, 0, cells);
    return {first, std::clamp<std::int64_t>(s.slab.own.last - beyond, first, cells)};
}

std::vector<float> WaveSolver::own_pressure() const {
    const State& s = *state_;
    const HostArray p = s.download("p" + s.now);
    const CellRange layers = model_layers();
    const bool flat = s.model.dimension == 2;
    const CellRange rows = flat ? layers : CellRange{0, s.model.cells[1]}, planes = flat ? CellRange{0, 1} : layers;
    std::vector<float> result;
    with_words(p, [&](auto words) {
        for (std::int64_t z = planes.first; z < planes.last; ++z)
            for (std::int64_t y = rows.first; y < rows.last; ++y) {
                const auto first = static_cast<std::size_t>(s.grid.place({0, static_cast<int>(y), static_cast<int>(z)}));
                for (std::size_t x = 0; x < static_cast<std::size_t>(s.model.cells[0]); ++x) result.push_back(static_cast<float>(words[first + x]));
            }
    });
    return result;
}

std::vector<float> WaveSolver::pressure() const {
    return gather_on_first(state_->ranks, std::span<const float>(own_pressure()));
}

std::vector<std::vector<float>> WaveSolver::recording() const {
    const State& s = *state_;
    const HostArray traces = s.download("traces");
    const std::size_t count = s.own_receivers.size();
    const auto steps = static_cast<std::size_t>(std::min(s.done, s.steps));
    std::vector<float> own;
    own.reserve(count * steps);
    with_words(traces, [&](auto words) {
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t step = 0; step < steps; ++step) own.push_back(static_cast<float>(words[step * count + i]));
    });
    const std::vector<float> all = gather_on_first(s.ranks, std::span<const float>(own));
    std::vector<std::vector<float>> result;
    if (s.ranks.rank() > 0) return result;
    // They come rank by rank, and of a rank in their order.
    result.resize(s.survey.receivers.size());
    auto next = all.begin();
    for (const auto& receivers : s.receivers_of_ranks())
        for (const std::size_t receiver : receivers) {
            result[receiver].assign(next, next + static_cast<std::ptrdiff_t>(steps));
            next += static_cast<std::ptrdiff_t>(steps);
        }
    return result;
}

WaveState WaveSolver::state() const {
    const State& s = *state_;
    WaveState result{s.done, {}, recording()};
    for (const std::string& field : s.fields()) {
        const std::vector<std::byte> cells = s.gathered(field + s.now);
        result.fields.insert(result.fields.end(), cells.begin(), cells.end());
    }
    return result;
}

void WaveSolver::set_state(const WaveState& state) {
    State& s = *state_;
    const std::size_t bytes = s.bytes_of_field(), fields = s.fields().size();
    const auto samples = static_cast<std::size_t>(std::clamp(state.done, 0, s.steps));
    const bool recorded = state.recording.size() == s.survey.receivers.size() &&
                          std::all_of(state.recording.begin(), state.recording.end(), [&](const auto& trace) { return trace.size() == samples; });
    if (state.done < 0 || state.fields.size() != fields * bytes || !recorded)
        throw Error("state of acoustic waves", fmt::format("{} bytes after {} steps", state.fields.size(), state.done),
                    fmt::format("give {} bytes, and a trace of as many samples for each of {} receivers", fields * bytes, s.survey.receivers.size()));
    for (std::size_t field = 0; field < fields; ++field)
        s.distribute(s.fields()[field] + s.now, std::span(state.fields).subspan(field * bytes, bytes));
    HostArray traces(s.precision, s.arrays.at("traces").bytes() / bytes_per_word(s.precision));
    with_words(traces, [&](auto words) {
        std::fill(words.begin(), words.end(), 0);
        for (std::size_t i = 0; i < s.own_receivers.size(); ++i)
            for (std::size_t step = 0; step < samples; ++step) words[step * s.own_receivers.size() + i] = state.recording[s.own_receivers[i]][step];
    });
    s.backend.copy(s.data("traces"), traces.data(), traces.bytes());
    s.backend.synchronise();
    s.done = state.done;
    s.unheard.reset();
    s.since_exchange = 0;
}

}  // namespace hone::inline v0_1::solvers::seismic
