#include "examples/hydro/mass_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "examples/hydro/mass_kernels.hpp"
#include "generator/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/buffers.hpp"

namespace hone::examples::hydro {
namespace {

using Word = MassKernels::Word;

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

// 1 / the diagonal, and 0 where a component is held at 0.
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
    std::vector<double> all;
    for (int c = 0; c < system.components; ++c) all.insert(all.end(), inverse.begin(), inverse.end());
    for (std::size_t c = 0; c < system.fixed.size(); ++c)
        for (const int node : system.fixed[c]) all.at(c * rows + static_cast<std::size_t>(node)) = 0;
    return all;
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

Problem product_problem(const MassSystem& system) {
    return built_in_families().parse_problem(fmt::format("csr_spmv kernel=apply_dot components={} vectors=split precision=f64 rows={} entries={}",
                                                         system.components, system.matrix.rows(), system.matrix.values.size()));
}

struct MassSolver::State {
    Backend& backend;
    int components, rows;
    std::shared_ptr<const Kernel> product;
    MassKernels kernels;
    DeviceArray values, columns, starts, q, r, p, w, dot, sums, scalars;
    DeviceArray host_b, host_x;         // of data that come from the host
    std::vector<BoundKernel> multiply;  // one, made when its arrays are there
    HostBuffer look;                    // the scalars, for the host
    double tolerance = -1;              // that is among the scalars
    std::array<int, 2> usual{};         // iterations of the last two solves: a time step's two take turns

    State(Backend& on, KernelLibrary& library, const MassSystem& system, const std::string& configuration)
        : backend(on),
          components(system.components),
          rows(system.matrix.rows()),
          product(chosen(on, library, system, configuration)),
          kernels(on, components, rows),
          values(uploaded(system.matrix.values)),
          columns(uploaded(system.matrix.columns)),
          starts(uploaded(system.matrix.row_starts)),
          q(uploaded(inverse_diagonal(system))),
          r(vectors()),
          p(vectors()),
          w(vectors()),
          dot(on, components * word),
          sums(on, MassKernels::sum_words(components, rows) * word),
          scalars(on, std::int64_t{components} * Word::words * word),
          look(on, plain_rows(Precision::f64, std::int64_t{components} * Word::words, 1), HostMemory::pinned) {
        multiply.emplace_back(product, std::array<void*, 6>{values.data(), columns.data(), starts.data(), p.data(), w.data(), dot.data()});
    }

    static constexpr std::int64_t word = sizeof(double);
    std::int64_t vector_bytes() const { return std::int64_t{components} * rows * word; }
    DeviceArray vectors() const { return {backend, vector_bytes()}; }

    static std::shared_ptr<const Kernel> chosen(const Backend& on, KernelLibrary& library, const MassSystem& system,
                                                const std::string& configuration) {
        const Problem problem = product_problem(system);
        if (configuration.empty()) return library.kernel(problem);
        return library.kernel(problem, built_in_families().of(problem).space(problem, on.device().limits).parse(configuration));
    }

    // Rounded up to whole words, as the family's arrays are.
    template <typename Number>
    DeviceArray uploaded(const std::vector<Number>& numbers) const {
        const auto bytes = static_cast<std::int64_t>(numbers.size() * sizeof(Number));
        DeviceArray array(backend, (bytes + word - 1) / word * word);
        backend.copy(array.data(), numbers.data(), bytes);
        backend.synchronise();
        return array;
    }

    // For each component a word of its scalars.
    std::vector<double> words_of(Word which) {
        std::vector<double> result;
        result.reserve(static_cast<std::size_t>(components));
        const auto all = look.row<double>(0);
        for (int c = 0; c < components; ++c) result.push_back(all[static_cast<std::size_t>(c * Word::words + which)]);
        return result;
    }
    bool any(Word which) {
        const std::vector<double> all = words_of(which);
        return std::any_of(all.begin(), all.end(), [](double value) { return value != 0; });
    }

    void read_scalars() {
        backend.copy(look.data(), scalars.data(), scalars.bytes());
        backend.synchronise();
    }
    // It stays there.
    void write_tolerance(double wanted) {
        if (wanted == tolerance) return;
        tolerance = wanted;
        const auto all = look.row<double>(0);
        for (int c = 0; c < components; ++c) all[static_cast<std::size_t>(c * Word::words + Word::tolerance)] = wanted * wanted;
        backend.copy(scalars.data(), look.data(), scalars.bytes());
        backend.synchronise();
    }

    MassSolve result(int executed) {
        MassSolve solve;
        solve.executed = executed;
        if (any(Word::active)) solve.ending = MassEnding::too_many_iterations;
        if (any(Word::breakdown)) solve.ending = MassEnding::breakdown;
        for (const double count : words_of(Word::iterations)) solve.iterations.push_back(static_cast<int>(count));
        const std::vector<double> first = words_of(Word::first_delta);
        for (const double delta : words_of(Word::delta)) {
            const double of_first = first[solve.residuals.size()];
            solve.residuals.push_back(of_first == 0 ? 0 : std::sqrt(delta / of_first));
        }
        return solve;
    }
};

MassSolver::MassSolver(Backend& backend, KernelLibrary& library, const MassSystem& system, const std::string& configuration) {
    check_system(system);
    state_ = std::make_unique<State>(backend, library, system, configuration);
}
MassSolver::~MassSolver() = default;

MassSolve MassSolver::solve(const void* b, void* x, const MassSettings& settings) {
    State& s = *state_;
    if (settings.check_every < 1) throw Error("settings of the mass solver", fmt::format("check_every is {}", settings.check_every), "use 1 or more");
    const MassKernels::Arrays arrays{b, s.q.data(), s.w.data(), s.dot.data(), x, s.r.data(), s.p.data(), s.sums.data(), s.scalars.data()};
    s.write_tolerance(settings.tolerance);
    s.kernels.start(arrays);
    int executed = 0;
    do {
        // Systems of one run take about the same number of iterations: no look before the last ones'.
        const bool first_look = executed == 0 && settings.check_every > 1;
        const int wanted = first_look ? std::max({s.usual[0], s.usual[1], settings.check_every}) : settings.check_every;
        const int steps = std::min(wanted, settings.most_iterations - executed);
        for (int step = 0; step < steps; ++step) {
            s.multiply.front().launch();
            s.kernels.update(arrays);
            s.kernels.direction(arrays);
        }
        executed += steps;
        s.read_scalars();
    } while (s.any(Word::active) && executed < settings.most_iterations);
    MassSolve result = s.result(executed);
    s.usual = {s.usual[1], *std::max_element(result.iterations.begin(), result.iterations.end())};
    return result;
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

std::string MassSolver::kernel() const {
    const Match& match = state_->product->match();
    return fmt::format("{}: {}", to_string(match.grade), match.config.key());
}

Grade MassSolver::grade() const {
    return state_->product->match().grade;
}

}  // namespace hone::examples::hydro
