#include "examples/acoustics/wave_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "examples/acoustics/edge_kernels.hpp"
#include "examples/acoustics/wave_grid.hpp"
#include "generator/error.hpp"

namespace hone::examples::seismic {
namespace {

constexpr const char* axes = "xyz";

std::vector<std::string> kernel_names(const WaveSettings& settings) {
    if (settings.kernels == "step") return {"step"};
    if (settings.kernels == "sweeps") return {"velocity", "pressure"};
    throw Error("kernels of the wave solver", settings.kernels, "choose step or sweeps");
}

// Calls `use` with the array's words, in its precision.
template <typename Array, typename Use>
void with_words(Array& array, const Use& use) {
    if (array.precision() == Precision::f32)
        use(array.template values<float>());
    else
        use(array.template values<double>());
}

}  // namespace

struct WaveSolver::State {
    Backend& backend;
    Model model;
    WaveSettings settings;
    Survey survey;
    WaveGrid grid;
    Precision precision;
    EdgeKernels edges;
    std::map<std::string, DeviceArray> arrays;
    // There are two sets of fields, "0" and "1", and "2" for what is computed beside a pass; sweeps have one.
    std::map<std::string, BoundKernel> bound;  // "step01": from the first set to the second; sweeps: "velocity00", "pressure00"
    std::vector<Rows> beside;                  // what is computed so, of each time step of a pass
    DeviceArray source_place, receiver_places;
    std::string now = "0";  // the set with the state before the next step
    int steps, done = 0;

    State(Backend& on, KernelLibrary& library, Model of, const WaveSettings& with, Survey what, int most_steps)
        : backend(on),
          model(std::move(of)),
          settings(with),
          survey(std::move(what)),
          grid(model, settings),
          precision(grid.grid().precision),
          edges(on, precision),
          steps(most_steps) {
        for (const std::string& field : fields())
            for (int set = 0; set < sets(); ++set) allocate(field + std::to_string(set), grid.grid().words());
        upload("kappa", grid.kappa());
        for (int axis = 0; axis < model.dimension; ++axis) {
            upload(std::string("b") + axes[axis], grid.buoyancy(axis));
            if (grid.absorbs()) upload(std::string("damping_") + axes[axis], grid.damping(axis, grid.grid().ghost()));
        }
        if (grid.absorbs() && passes()) upload("single_damping_y", grid.damping(1, settings.order));
        if (passes()) beside = grid.rows_beside(settings.levels, survey);
        set_up_survey();
        bind(library);
    }

    bool is_step() const { return settings.kernels == "step"; }
    bool passes() const { return settings.levels > 1; }
    int sets() const { return passes() ? 3 : is_step() ? 2 : 1; }
    std::string other() const { return !is_step() || now == "1" ? "0" : "1"; }

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

    // The source puts c^2 times the wavelet's integral into its cell, at the time between two pressures.
    void set_up_survey() {
        source_place = upload_places({grid.place(survey.source)});
        std::vector<std::int64_t> places;
        for (const Cell& cell : survey.receivers) places.push_back(grid.place(cell));
        receiver_places = upload_places(places);
        const double speed = model.speed[model.at(survey.source[0], survey.source[1], survey.source[2])];
        const double volume = std::pow(model.spacing, model.dimension), dt = grid.dt();
        std::vector<float> amounts;
        amounts.reserve(static_cast<std::size_t>(steps) + 1);
        for (int step = 0; step <= steps; ++step)
            amounts.push_back(static_cast<float>(dt * speed * speed / volume * survey.ricker.integral((step + 0.5) * dt)));
        upload("source", amounts);
        allocate("traces", std::max<std::int64_t>(std::ssize(places) * steps, 1));
    }

    // The word that a kernel takes for an array's first one. A single step's arrays are those of a pass without what that needs around the cells.
    void* start(const std::string& name, const std::string& array, bool single) const {
        if (!single || !passes()) return data(name);
        if (array == "damping_y") return data("single_damping_y");
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
            for (const auto& name : kernel_names(settings)) bind(library.kernel(WaveGrid::problem(model, settings, name)), name, 0, 0);
        if (!is_step()) return;
        const auto step = library.kernel(passes() ? WaveGrid::single_step(model, settings) : WaveGrid::problem(model, settings, "step"));
        for (int from = 0; from < sets(); ++from)
            for (int to = 0; to < sets(); ++to)
                if (from != to) bind(step, "step", from, to);
        if (!passes()) return;
        const auto pass = library.kernel(WaveGrid::problem(model, settings, "step"));
        for (const int from : {0, 1}) bind(pass, "pass", from, 1 - from);
    }

    // Continues a field beyond the walls of one axis; `parity` of a rigid wall, a free surface has the opposite.
    void mirror(const std::string& field, int axis, int parity, int depth, bool on_faces) const {
        const auto at = [&](int end) {
            if (!grid.reflects(axis, end)) return 0;
            return grid.wall(axis, end) == Wall::rigid ? parity : -parity;
        };
        if (at(0) == 0 && at(1) == 0) return;
        const int first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
        // A pass needs corners: beyond the walls of y what lies beyond those of x, too.
        const int around = passes() && axis == 1 ? depth : 0;
        edges.mirror(static_cast<char*>(first_cell(field)) - around * bytes_per_word(precision),
                     {.cells = grid.cells(axis),
                      .stride = grid.stride(axis),
                      .across = grid.cells(first) + 2 * around,
                      .across_stride = grid.stride(first),
                      .others = grid.cells(second),
                      .others_stride = model.dimension == 2 ? 0 : grid.stride(second),
                      .depth = depth,
                      .low = at(0),
                      .high = at(1),
                      .on_faces = on_faces});
    }
    // A velocity across a wall is odd there. Those along it a step does not need beyond it, only a pass.
    void mirror_velocities(const std::string& set) const {
        const int depth = passes() ? settings.levels * grid.grid().reach() : grid.grid().half;
        for (int axis = 0; axis < model.dimension; ++axis)
            for (int across = 0; across < model.dimension; ++across)
                if (axis == across || passes())
                    mirror(fields()[static_cast<std::size_t>(across) + 1] + set, axis, axis == across ? -1 : 1, depth, axis == across);
    }
    void mirror_all(const std::string& set) const {
        const int depth = is_step() ? settings.levels * grid.grid().reach() : grid.grid().half;
        for (int axis = 0; axis < model.dimension; ++axis) mirror("p" + set, axis, 1, depth, false);
        if (is_step()) mirror_velocities(set);
    }

    // Ends a step: what the source adds to its pressures, and what the receivers hear.
    void finish_step(const std::string& set) {
        void* const p = data("p" + set);
        if (done < steps) {
            edges.inject(p, source_place.data(), data("source"), done);
            edges.record(p, receiver_places.data(), data("traces"), static_cast<int>(survey.receivers.size()), done);
        }
        ++done;
    }
    void step() {
        mirror_all(now);
        if (is_step()) {
            bound.at("step" + now + other()).launch();
        } else {
            bound.at("velocity00").launch();
            mirror_velocities("0");
            bound.at("pressure00").launch();
        }
        now = other();
        finish_step(now);
    }
    // Several steps: of all rows in one pass, then of those beside it from the state before, which serves for them from the second step on.
    void pass() {
        const std::string before = now, after = other();
        mirror_all(before);
        bound.at("pass" + before + after).launch();
        std::string from = before;
        for (std::size_t k = 0; k < beside.size(); ++k) {
            if (k > 0) mirror_all(from);
            const std::string to = k + 1 == beside.size() ? after : from == "2" ? before : "2";
            bound.at("step" + from + to).launch(beside[k].first, beside[k].last);
            finish_step(to);
            from = to;
        }
        now = after;
    }

    template <typename Visit>
    void for_cells(const Visit& visit) const {
        const auto& g = grid.grid();
        for (std::int64_t z = 0; z < g.nz; ++z)
            for (std::int64_t y = 0; y < g.ny; ++y)
                for (std::int64_t x = 0; x < g.nx; ++x) visit(std::array{x, y, z}, static_cast<std::size_t>(g.position(x, y, z)));
    }

    double energy(const HostArray& before) const {
        double sum = 0;
        const HostArray after = download("p" + now), kappa = download("kappa");
        with_words(after, [&](auto p) {
            using Word = std::remove_cvref_t<decltype(p[0])>;
            const auto old = before.values<Word>(), medium = kappa.values<Word>();
            for_cells([&](const auto&, std::size_t at) { sum += static_cast<double>(p[at]) * old[at] / medium[at]; });
        });
        for (int axis = 0; axis < model.dimension; ++axis) sum += kinetic(axis);
        return sum * grid.energy_unit();
    }
    double kinetic(int axis) const {
        double sum = 0;
        const auto number = static_cast<std::size_t>(axis);
        const HostArray velocity = download(fields()[number + 1] + now), b = download(std::string("b") + axes[axis]);
        // Only half of the faces on a free surface belongs to the medium.
        const bool surface = grid.wall(axis, 0) == Wall::free_surface;
        with_words(velocity, [&](auto v) {
            const auto medium = b.values<std::remove_cvref_t<decltype(v[0])>>();
            for_cells([&](const auto& cell, std::size_t at) {
                const double part = surface && cell[number] == 0 ? 0.5 : 1;
                sum += part * static_cast<double>(v[at]) * v[at] / medium[at];
            });
        });
        return sum;
    }
};

WaveSolver::WaveSolver(Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings, const Survey& survey, int steps)
    : state_(std::make_unique<State>(backend, library, model, settings, survey, steps)) {
}
WaveSolver::~WaveSolver() = default;

std::vector<Problem> WaveSolver::problems(const Model& model, const WaveSettings& settings) {
    std::vector<Problem> result;
    for (const auto& name : kernel_names(settings)) result.push_back(WaveGrid::problem(model, settings, name));
    if (settings.levels > 1) result.push_back(WaveGrid::single_step(model, settings));
    return result;
}

void WaveSolver::advance(int steps) {
    State& s = *state_;
    for (int left = steps; left > 0;) {
        const bool pass = s.passes() && left >= s.settings.levels;
        left -= pass ? s.settings.levels : 1;
        pass ? s.pass() : s.step();
    }
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

std::vector<float> WaveSolver::pressure() const {
    const State& s = *state_;
    const HostArray p = s.download("p" + s.now);
    std::vector<float> result;
    result.reserve(s.model.speed.size());
    with_words(p, [&](auto words) {
        for (int z = 0; z < s.model.cells[2]; ++z)
            for (int y = 0; y < s.model.cells[1]; ++y) {
                const auto first = static_cast<std::size_t>(s.grid.place({0, y, z}));
                for (std::size_t x = 0; x < static_cast<std::size_t>(s.model.cells[0]); ++x) result.push_back(static_cast<float>(words[first + x]));
            }
    });
    return result;
}

std::vector<std::vector<float>> WaveSolver::recording() const {
    const State& s = *state_;
    const HostArray traces = s.download("traces");
    const std::size_t count = s.survey.receivers.size();
    const auto steps = static_cast<std::size_t>(std::min(s.done, s.steps));
    std::vector<std::vector<float>> result(count, std::vector<float>(steps));
    with_words(traces, [&](auto words) {
        for (std::size_t step = 0; step < steps; ++step)
            for (std::size_t i = 0; i < count; ++i) result[i][step] = static_cast<float>(words[step * count + i]);
    });
    return result;
}

}  // namespace hone::examples::seismic
