#include "solvers/hydro/mass_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/families/fe_mass/family.hpp"
#include "solvers/hydro/fused_mass_kernels.hpp"
#include "solvers/hydro/mass_kernels.hpp"
#include "solvers/hydro/mass_scalars.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

void check_system(const MassSystem& system) {
    const CsrMatrix& m = system.matrix;
    const std::string where = "a mass matrix";
    if (m.row_starts.size() < 2 || m.row_starts.front() != 0 || m.row_starts.back() != static_cast<int>(m.columns.size()) ||
        m.columns.size() != m.values.size() || m.columns.empty() || !std::is_sorted(m.row_starts.begin(), m.row_starts.end()))
        throw Error(where, fmt::format("{} row starts, {} columns and {} values", m.row_starts.size(), m.columns.size(), m.values.size()),
                    "row starts ascend from 0 to the number of columns and values");
    if (std::any_of(m.columns.begin(), m.columns.end(), [&](int column) { return column < 0 || column >= m.rows(); }))
        throw Error(where, "a column lies beyond the last row", "a mass matrix is square");
    if (system.components < 1 || system.components > 3)
        throw Error(where, fmt::format("{} components", system.components), "there are kernels for 1 to 3");
    if (system.fixed.size() > static_cast<std::size_t>(system.components))
        throw Error(where, fmt::format("fixed nodes of {} components", system.fixed.size()), fmt::format("there are {}", system.components));
    for (const auto& nodes : system.fixed)
        if (std::any_of(nodes.begin(), nodes.end(), [&](int node) { return node < 0 || node >= m.rows(); }))
            throw Error(where, "a node that is held at 0 lies beyond the last row", "number nodes from 0");
}

std::size_t power(int base, int exponent) {
    std::size_t result = 1;
    for (int i = 0; i < exponent; ++i) result *= static_cast<std::size_t>(base);
    return result;
}

// How many there are.
std::size_t check_elements(const MassElements& of) {
    const std::string where = "elements of a mass matrix";
    if (of.empty()) throw Error(where, "they are not known", "multiply by rows");
    const std::size_t n = power(of.order + 1, of.dimension);
    const std::size_t points = power(of.points, of.dimension);
    if (of.nodes.size() % n != 0 || of.nodes.size() / n * points != of.weights.size())
        throw Error(where, fmt::format("{} nodes and {} weights", of.nodes.size(), of.weights.size()),
                    fmt::format("each element has {} nodes and {} points", n, points));
    return of.nodes.size() / n;
}

// Rounded up to whole words, as the families' arrays are.
template <typename Number>
DeviceArray whole_words(Backend& backend, const std::vector<Number>& numbers) {
    constexpr std::int64_t word = sizeof(double);
    const auto bytes = static_cast<std::int64_t>(numbers.size() * sizeof(Number));
    DeviceArray array(backend, (bytes + word - 1) / word * word);
    backend.copy(array.data(), numbers.data(), bytes);
    backend.synchronise();
    return array;
}

}  // namespace

std::string to_string(MassEnding ending) {
    switch (ending) {
        case MassEnding::converged:
            return "converged";
        case MassEnding::too_many_iterations:
            return "too many iterations";
        case MassEnding::breakdown:
            return "breakdown";
    }
    return {};
}

MassForm parse_mass_form(const std::string& word) {
    for (const MassForm form : {MassForm::rows, MassForm::elements})
        if (word == to_string(form)) return form;
    throw Error("form of a mass matrix", "it is \"" + word + "\"", "use rows or elements");
}

std::string to_string(MassForm form) {
    return form == MassForm::rows ? "rows" : "elements";
}

MassForm usual_mass_form(const MassSystem& system, std::int64_t rows) {
    constexpr std::int64_t few_rows = 100000;
    if (rows == 0) rows = system.matrix.rows();
    const MassElements& of = system.elements;
    const bool short_rows = of.order == 1 || (of.order == 2 && of.dimension == 2 && rows < few_rows);
    return of.empty() || short_rows ? MassForm::rows : MassForm::elements;
}

MassForm tuned_mass_form(const Database& database, const DeviceSide& device, const MassSystem& system) {
    const MassForm usual = usual_mass_form(system);
    if (system.elements.empty()) return usual;
    // A product of the nearest size takes its time by what it moves.
    const auto seconds = [&](MassForm form) {
        const Problem problem = product_problem(system, form);
        const Match match = database.best(problem, device.fingerprint, device.limits);
        if (!match.record || match.grade > Grade::nearest_size) return 0.0;
        const Family& family = built_in_families().of(problem);
        return match.record->step.median * family.counts(problem).bytes / family.counts(match.record->problem).bytes;
    };
    const double rows = seconds(MassForm::rows), elements = seconds(MassForm::elements);
    return rows == 0 || elements == 0 ? usual : rows < elements ? MassForm::rows : MassForm::elements;
}

std::vector<double> inverse_diagonal(const MassSystem& system) {
    const CsrMatrix& m = system.matrix;
    const auto rows = static_cast<std::size_t>(m.rows());
    std::vector<double> inverse(rows, 0.0);
    for (std::size_t row = 0; row < rows; ++row) {
        for (auto entry = static_cast<std::size_t>(m.row_starts[row]); entry < static_cast<std::size_t>(m.row_starts[row + 1]); ++entry)
            if (m.columns[entry] == static_cast<int>(row)) inverse[row] += m.values[entry];
        if (!(inverse[row] > 0))
            throw Error("a mass matrix", fmt::format("{} on the diagonal of row {}", inverse[row], row), "give a positive definite one");
        inverse[row] = 1 / inverse[row];
    }
    return inverse;
}

std::vector<std::int32_t> held_components(const MassSystem& system) {
    std::vector<std::int32_t> held(static_cast<std::size_t>(system.matrix.rows()), 0);
    for (std::size_t c = 0; c < system.fixed.size(); ++c)
        for (const int node : system.fixed[c]) held[static_cast<std::size_t>(node)] |= 1 << c;
    return held;
}

std::vector<DeviceArray> product_arrays(Backend& backend, const MassSystem& system, MassForm form, std::optional<int> rows) {
    std::vector<DeviceArray> arrays;
    if (form == MassForm::rows) {
        arrays.push_back(whole_words(backend, system.matrix.values));
        arrays.push_back(whole_words(backend, system.matrix.columns));
        arrays.push_back(whole_words(backend, system.matrix.row_starts));
        return arrays;
    }
    fe::NodeCorners corners = fe::node_corners(system.elements.nodes, system.matrix.rows());
    // Nodes without corners have nothing to add up.
    const auto summed = corners.starts.begin() + rows.value_or(system.matrix.rows());
    std::fill(summed, corners.starts.end(), *summed);
    arrays.push_back(whole_words(backend, system.elements.weights));
    arrays.push_back(whole_words(backend, system.elements.nodes));
    arrays.push_back(whole_words(backend, corners.starts));
    arrays.push_back(whole_words(backend, corners.places));
    return arrays;
}

Problem product_problem(const MassSystem& system, MassForm form, bool dotted) {
    const MassElements& of = system.elements;
    const std::string vectors = fmt::format("kernel={} components={} precision=f64", dotted ? "apply_dot" : "apply", system.components);
    if (form == MassForm::elements) {
        const std::size_t elements = check_elements(of);
        return built_in_families().parse_problem(fmt::format("fe_mass {} dimension={} order={} points={} elements={} nodes={}", vectors, of.dimension,
                                                             of.order, of.points, elements, system.matrix.rows()));
    }
    return built_in_families().parse_problem(
        fmt::format("csr_spmv {} vectors=split rows={} entries={}", vectors, system.matrix.rows(), system.matrix.values.size()));
}

VectorUpdates parse_vector_updates(const std::string& word) {
    if (word == "separate") return VectorUpdates::separate;
    if (word == "fused") return VectorUpdates::fused;
    if (word == "cooperative") return VectorUpdates::cooperative;
    throw Error("vector updates " + word, "there is no such way", "use separate, fused or cooperative");
}

struct MassSolver::State {
    Backend& backend;
    int components, rows;
    std::shared_ptr<const Kernel> product;
    MassKernels kernels;
    std::vector<DeviceArray> matrix;  // what the product reads of it
    bool by_elements;
    DeviceArray q, held, r, p, w, dot, sums;
    MassScalars scalars;
    DeviceArray host_b, host_x;             // of data that come from the host
    std::vector<BoundKernel> multiply;      // one, made when its arrays are there
    std::optional<FusedMassKernels> fused;  // on a GPU
    // Iterations as graphs; none yet where these arrays were solved once.
    struct Recorded {
        const void *b, *x;
        VectorUpdates updates;
        int iterations;
        bool operator==(const Recorded&) const = default;
    };
    static constexpr std::size_t most_recordings = 8;
    std::vector<std::pair<Recorded, std::unique_ptr<Recording>>> recordings;

    State(Backend& on, KernelLibrary& library, const MassSystem& system, MassForm form, const std::string& configuration)
        : backend(on),
          components(system.components),
          rows(system.matrix.rows()),
          product(chosen(on, library, product_problem(system, form), configuration)),
          kernels(on, components, rows),
          matrix(product_arrays(on, system, form)),
          by_elements(form == MassForm::elements),
          q(whole_words(on, inverse_diagonal(system))),
          held(whole_words(on, held_components(system))),
          r(vectors()),
          p(vectors()),
          w(vectors()),
          dot(on, components * word),
          sums(on, MassKernels::sum_words(components, rows) * word),
          scalars(on, components) {
        std::vector<void*> arrays;
        for (const DeviceArray& array : matrix) arrays.push_back(array.data());
        arrays.insert(arrays.end(), {p.data(), w.data(), dot.data()});
        multiply.emplace_back(product, arrays);
        if (!traits_of(on.device().limits.target).has_blocks) return;
        FusedMassKernels::Product of{product->source(), {}};
        for (const DeviceArray& array : matrix) of.matrix.push_back(array.data());
        fused.emplace(on, components, rows, form == MassForm::elements ? &of : nullptr);
    }

    static constexpr std::int64_t word = sizeof(double);
    std::int64_t vector_bytes() const { return std::int64_t{components} * rows * word; }
    DeviceArray vectors() const { return {backend, vector_bytes()}; }

    static std::shared_ptr<const Kernel> chosen(const Backend& on, KernelLibrary& library, const Problem& problem, const std::string& configuration) {
        if (configuration.empty()) return library.kernel(problem);
        return library.kernel(problem, built_in_families().of(problem).space(problem, on.device().limits).parse(configuration));
    }

    void iterate(const MassKernels::Arrays& arrays, VectorUpdates updates, Stream stream = {}) {
        // Two programs' blocks on one device could wait for each other's room: there without, if
        // the other one may be such a program.
        const bool apart = updates == VectorUpdates::separate || (updates == VectorUpdates::fused && backend.device().has_other_clients);
        if (apart || !fused) {
            multiply.front().launch(stream);
            kernels.update(arrays, stream);
            kernels.direction(arrays, stream);
            return;
        }
        if (!by_elements) multiply.front().launch(stream);
        fused->iterate(arrays, updates == VectorUpdates::cooperative || backend.device().is_shared, stream);
    }

    // The next iterations of a solve.
    void iterate(const MassKernels::Arrays& arrays, const MassSettings& settings, int steps) {
        const Recorded wanted{arrays.b, arrays.x, settings.updates, settings.recorded};
        auto found = std::find_if(recordings.begin(), recordings.end(), [&](const auto& each) { return each.first == wanted; });
        // A first solve launches all kernels, so that they are loaded.
        if (found == recordings.end() && settings.recorded > 0 && fused) {
            if (recordings.size() == most_recordings) recordings.erase(recordings.begin());
            recordings.emplace_back(wanted, nullptr);
        } else if (found != recordings.end() && steps >= settings.recorded) {
            if (!found->second)
                found->second = backend.record([this, arrays, settings](Stream stream) {
                    for (int step = 0; step < settings.recorded; ++step) iterate(arrays, settings.updates, stream);
                });
            for (; steps >= settings.recorded; steps -= settings.recorded) found->second->launch();
        }
        for (int step = 0; step < steps; ++step) iterate(arrays, settings.updates);
    }
};

MassSolver::MassSolver(Backend& backend, KernelLibrary& library, const MassSystem& system, MassForm form, const std::string& configuration) {
    check_system(system);
    state_ = std::make_unique<State>(backend, library, system, form, configuration);
}
MassSolver::~MassSolver() = default;

MassSolve MassSolver::solve(const void* b, void* x, const MassSettings& settings) {
    State& s = *state_;
    const MassKernels::Arrays arrays{b, s.q.data(), s.held.data(), s.w.data(),    s.dot.data(),
                                     x, s.r.data(), s.p.data(),    s.sums.data(), s.scalars.data()};
    s.scalars.prepare(settings);
    s.kernels.start(arrays);
    return s.scalars.solve(settings, [&](int steps) { s.iterate(arrays, settings, steps); });
}

MassSolve MassSolver::solve(std::span<const double> b, std::span<double> x, const MassSettings& settings) {
    State& s = *state_;
    const auto bytes = static_cast<std::size_t>(s.vector_bytes());
    for (const std::size_t found : {b.size(), x.size()})
        if (found * sizeof(double) != bytes)
            throw Error("vectors of the mass solver", fmt::format("{} words", found), fmt::format("give {}", bytes / sizeof(double)));
    if (s.host_b.data() == nullptr) s.host_b = s.vectors(), s.host_x = s.vectors();
    s.backend.copy(s.host_b.data(), b.data(), s.vector_bytes());
    s.backend.synchronise();
    MassSolve result = solve(s.host_b.data(), s.host_x.data(), settings);
    s.backend.copy(x.data(), s.host_x.data(), s.vector_bytes());
    s.backend.synchronise();
    return result;
}

std::string MassSolver::family() const {
    return state_->product->problem().family();
}

std::string MassSolver::kernel() const {
    const Match& match = state_->product->match();
    return fmt::format("{}: {}", to_string(match.grade), match.config.key());
}

Grade MassSolver::grade() const {
    return state_->product->match().grade;
}

}  // namespace hone::inline v0_1::solvers::hydro
