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
    std::vector<std::shared_ptr<const Kernel>> kernels;
    std::map<std::string, DeviceArray> arrays;
    std::vector<BoundKernel> bound;  // step: from the first set of fields to the second, and back; sweeps: velocity, pressure
    DeviceArray source_place, receiver_places;
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
        for (const auto& name : kernel_names(settings)) kernels.push_back(library.kernel(WaveGrid::problem(model, settings, name)));
        for (const std::string& field : fields())
            for (const char* const set : {"0", "1"})
                if (is_step() || *set == '0') allocate(field + set, grid.grid().words());
        upload("kappa", grid.kappa());
        for (int axis = 0; axis < model.dimension; ++axis) {
            upload(std::string("b") + axes[axis], grid.buoyancy(axis));
            if (grid.absorbs()) upload(std::string("damping_") + axes[axis], grid.damping(axis));
        }
        set_up_survey();
        bind();
    }

    bool is_step() const { return settings.kernels == "step"; }
    // The state before the next step.
    std::string now() const { return is_step() && done % 2 == 1 ? "1" : "0"; }
    std::string next() const { return is_step() && done % 2 == 0 ? "1" : "0"; }

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

    void bind() {
        for (std::size_t k = 0; k < kernels.size(); ++k)
            for (const bool back : {false, true}) {
                if (back && !is_step()) continue;
                std::vector<void*> pointers;
                for (const auto& array : kernels[k]->source().arrays) {
                    const bool out = array.name.ends_with("_next");
                    const std::string field = out ? array.name.substr(0, array.name.size() - 5) : array.name;
                    const bool is_field = arrays.contains(field + "0");
                    pointers.push_back(data(is_field ? field + (out == back ? "0" : "1") : field));
                }
                bound.emplace_back(kernels[k], pointers);
            }
    }

    // Continues a field beyond the walls of one axis; `parity` of a rigid wall, a free surface has the opposite.
    void mirror(const std::string& field, int axis, int parity, int depth, bool on_faces) const {
        const auto at = [&](int end) {
            if (!grid.reflects(axis, end)) return 0;
            return grid.wall(axis, end) == Wall::rigid ? parity : -parity;
        };
        if (at(0) == 0 && at(1) == 0) return;
        const int first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
        edges.mirror(first_cell(field), {.cells = grid.cells(axis),
                                         .stride = grid.stride(axis),
                                         .across = grid.cells(first),
                                         .across_stride = grid.stride(first),
                                         .others = grid.cells(second),
                                         .others_stride = model.dimension == 2 ? 0 : grid.stride(second),
                                         .depth = depth,
                                         .low = at(0),
                                         .high = at(1),
                                         .on_faces = on_faces});
    }
    void mirror_pressure(const std::string& set) const {
        const int half = grid.grid().half;
        for (int axis = 0; axis < model.dimension; ++axis) mirror("p" + set, axis, 1, is_step() ? 2 * half - 1 : half, false);
    }
    void mirror_velocities(const std::string& set) const {
        for (int axis = 0; axis < model.dimension; ++axis)
            mirror(fields()[static_cast<std::size_t>(axis) + 1] + set, axis, -1, grid.grid().half, true);
    }

    void step() {
        mirror_pressure(now());
        if (is_step()) {
            mirror_velocities(now());
            bound[done % 2 == 0 ? 0 : 1].launch();
        } else {
            bound[0].launch();
            mirror_velocities("0");
            bound[1].launch();
        }
        void* const p = data("p" + next());
        if (done < steps) {
            edges.inject(p, source_place.data(), data("source"), done);
            edges.record(p, receiver_places.data(), data("traces"), static_cast<int>(survey.receivers.size()), done);
        }
        ++done;
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
        const HostArray after = download("p" + now()), kappa = download("kappa");
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
        const HostArray velocity = download(fields()[number + 1] + now()), b = download(std::string("b") + axes[axis]);
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
    return result;
}

void WaveSolver::advance(int steps) {
    for (int step = 0; step < steps; ++step) state_->step();
}

double WaveSolver::advance_measuring_energy() {
    const HostArray before = state_->download("p" + state_->now());
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
    const HostArray p = s.download("p" + s.now());
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
