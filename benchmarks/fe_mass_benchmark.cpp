// fe_mass beside csr_spmv with the assembled matrix: products with mass matrices of high-order
// finite elements (Qk on boxes of squares and cubes of edge 1), those of high-order hydrodynamics
// (2k points along an axis) and CEED's bake-off problems BP1 and BP2 (k + 2). In turns, in one
// process.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/qk_space.hpp"
#include "foundation/random_words.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/families/fe_mass/shape.hpp"

namespace hone::benchmarks {
namespace {

struct Case {
    QkSpace space;
    const char* vectors;  // what both families are asked for
    const char* rest;     // what fe_mass alone is

    Problem problem() const {
        return built_in_families().parse_problem(fmt::format("fe_mass {} {} dimension={} order={} elements={} nodes={}", vectors, rest,
                                                             space.dimension, space.order, space.elements(), space.rows()));
    }
    Problem rows() const {
        return built_in_families().parse_problem(fmt::format("csr_spmv {} rows={} entries={}", vectors, space.rows(), space.entries()));
    }
    std::string name() const { return fmt::format("Q{} {} elements {}D {} {}", space.order, space.elements(), space.dimension, vectors, rest); }
};

constexpr std::array hydrodynamics{"", "points=2", "points=4", "points=6", "points=8"};  // by order

// Meshes of hydrodynamics, some of which a GPU's L2 cache holds, and larger ones; what fits a
// processor's memory there.
std::vector<Case> cases(bool cuda) {
    const auto zones = [cuda](int on_gpu, int on_cpu) { return cuda ? on_gpu : on_cpu; };
    const char* const one = "kernel=apply precision=f64";
    const char* const one_f32 = "kernel=apply precision=f32";
    const char* const two = "kernel=apply_dot components=2 precision=f64";
    const char* const three = "kernel=apply_dot components=3 precision=f64";
    const auto points = [](int order) { return hydrodynamics.at(static_cast<std::size_t>(order)); };
    return {{{3, 1, zones(128, 48)}, three, points(1)},
            {{3, 2, zones(32, 16)}, three, points(2)},
            {{3, 2, zones(64, 24)}, three, points(2)},
            {{3, 3, zones(32, 12)}, three, points(3)},
            {{3, 4, zones(16, 8)}, three, points(4)},
            {{3, 4, zones(24, 10)}, three, points(4)},
            {{3, 2, zones(64, 24)}, three, "data=vertices points=4"},
            {{3, 4, zones(24, 10)}, three, "data=vertices points=8"},
            {{3, 1, zones(128, 48)}, one, ""},
            {{3, 2, zones(64, 24)}, one, ""},
            {{3, 4, zones(24, 10)}, one, ""},
            {{3, 2, zones(64, 24)}, one, "data=vertices"},
            {{3, 4, zones(24, 10)}, one, "data=vertices"},
            {{3, 2, zones(64, 24)}, one_f32, ""},
            {{3, 4, zones(24, 10)}, one_f32, ""},
            {{2, 2, zones(64, 64)}, two, points(2)},
            {{2, 2, zones(1024, 256)}, two, points(2)},
            {{2, 4, zones(512, 128)}, two, points(4)}};
}

// On edges of length 1 and with density 1 the matrix is a product of matrices of a line: entry (i,
// j) of that of an element.
Matrix line_mass(const fe::Shape& shape) {
    const fe::Axis axis(shape);
    Matrix mass(shape.nodes_along, shape.nodes_along);
    for (int q = 0; q < shape.points_along; ++q)
        for (int i = 0; i < shape.nodes_along; ++i)
            for (int j = 0; j < shape.nodes_along; ++j)
                mass(i, j) += axis.rule.weights[static_cast<std::size_t>(q)] * axis.basis(q, i) * axis.basis(q, j);
    return mass;
}

/// Arrays of both families on the device, with the same matrix and the same vectors.
template <typename Real>
class Arrays {
  public:
    Arrays(Backend& backend, const Case& of) : backend_(backend), shape_(of.problem()), space_(of.space) {
        fill_elements(of.problem());
        fill_rows(of.rows());
    }

    std::vector<void*> elements, rows;
    const void* elements_y = nullptr;
    const void* rows_y = nullptr;

  private:
    template <typename Number>
    void* uploaded(std::int64_t words, const std::vector<Number>& numbers) {
        arrays_.emplace_back(backend_, words * static_cast<std::int64_t>(sizeof(Real)));
        if (!numbers.empty()) backend_.copy(arrays_.back().data(), numbers.data(), static_cast<std::int64_t>(numbers.size() * sizeof(Number)));
        backend_.synchronise();
        return arrays_.back().data();
    }

    void fill_elements(const Problem& problem) {
        const std::vector<ArraySpec> specs = fe::arrays(problem);
        const auto count = static_cast<std::size_t>(space_.elements());
        std::size_t at = 0;
        const auto put = [&](const auto& numbers) { elements.push_back(uploaded(specs[at++].words, numbers)); };
        if (shape_.stored) {
            put(weights(count));
        } else {
            put(vertices(count));
            put(std::vector<Real>(count, Real(1)));
        }
        std::vector<std::int32_t> nodes(static_cast<std::size_t>(shape_.places()));
#pragma omp parallel for schedule(static)
        for (std::size_t place = 0; place < nodes.size(); ++place) nodes[place] = node(static_cast<std::int64_t>(place));
        const fe::NodeCorners corners = fe::node_corners(nodes, shape_.nodes);
        put(nodes), put(corners.starts), put(corners.places);
        std::vector<Real> x(static_cast<std::size_t>(specs[at].words));
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Real>(random_word(0, static_cast<std::int64_t>(i)));
        put(x);
        for (; at < specs.size();) put(std::vector<Real>{});
        x_ = elements[static_cast<std::size_t>(shape_.x_number())], elements_y = elements[static_cast<std::size_t>(shape_.x_number()) + 1];
    }

    void fill_rows(const Problem& problem) {
        const auto count = static_cast<std::size_t>(space_.rows());
        const Matrix line = line_mass(shape_);
        // Entries along an axis, by row and distance of the column: a product of them is an entry.
        const int k = space_.order, n = space_.nodes_along();
        Matrix along(n, 2 * k + 1);
        for (int i = 0; i < n; ++i)
            for (int j = space_.first(i); j <= space_.last(i); ++j)
                for (int zone = std::max(0, (std::max(i, j) - 1) / k); zone * k <= std::min(i, j) && zone < space_.zones; ++zone)
                    along(i, j - i + k) += line(i - zone * k, j - zone * k);
        std::vector<std::int32_t> starts(count + 1, 0);
        for (std::size_t row = 0; row < count; ++row)
            starts[row + 1] = starts[row] + static_cast<std::int32_t>(space_.entries_of(static_cast<std::int64_t>(row)));
        std::vector<std::int32_t> columns(static_cast<std::size_t>(space_.entries()));
        std::vector<Real> values(columns.size());
#pragma omp parallel for schedule(static)
        for (std::size_t row = 0; row < count; ++row) {
            auto at = static_cast<std::size_t>(starts[row]);
            space_.for_columns(static_cast<std::int64_t>(row), [&](std::int64_t column) {
                double value = 1;
                for (int i = static_cast<int>(row), j = static_cast<int>(column), axis = 0; axis < space_.dimension; ++axis, i /= n, j /= n)
                    value *= along(i % n, j % n - i % n + k);
                columns[at] = static_cast<std::int32_t>(column), values[at] = static_cast<Real>(value), ++at;
            });
        }
        const std::vector<ArraySpec> specs = built_in_families().of(problem).arrays(problem);
        rows = {uploaded(specs[0].words, values), uploaded(specs[1].words, columns), uploaded(specs[2].words, starts), x_};
        for (std::size_t i = 4; i < specs.size(); ++i) rows.push_back(uploaded(specs[i].words, std::vector<Real>{}));
        rows_y = rows[4];
    }

    std::int32_t node(std::int64_t place) const {
        std::int64_t element = place / shape_.element_nodes(), local = place % shape_.element_nodes(), number = 0, stride = 1;
        for (int axis = 0; axis < space_.dimension; ++axis) {
            number += (element % space_.zones * space_.order + local % shape_.nodes_along) * stride;
            stride *= space_.nodes_along(), element /= space_.zones, local /= shape_.nodes_along;
        }
        return static_cast<std::int32_t>(number);
    }
    std::vector<Real> weights(std::size_t count) const {
        const fe::Axis axis(shape_);
        const auto points = static_cast<std::size_t>(shape_.element_points());
        std::vector<Real> of_element(points), result(count * points);
        for (std::size_t point = 0; point < points; ++point) {
            double weight = 1;
            std::size_t rest = point;
            for (int i = 0; i < space_.dimension; ++i, rest /= axis.rule.weights.size()) weight *= axis.rule.weights[rest % axis.rule.weights.size()];
            of_element[point] = static_cast<Real>(weight);
        }
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = of_element[i % points];
        return result;
    }
    std::vector<Real> vertices(std::size_t count) const {
        std::vector<Real> result;
        result.reserve(count * static_cast<std::size_t>(shape_.dimension * shape_.corners()));
        for (std::size_t element = 0; element < count; ++element) {
            auto rest = static_cast<std::int64_t>(element);
            for (int axis = 0; axis < shape_.dimension; ++axis, rest /= space_.zones)
                for (int corner = 0; corner < shape_.corners(); ++corner)
                    result.push_back(static_cast<Real>(rest % space_.zones + (corner >> axis & 1)));
        }
        return result;
    }

    Backend& backend_;
    fe::Shape shape_;
    QkSpace space_;
    std::vector<DeviceArray> arrays_;
    void* x_ = nullptr;
};

template <typename Real>
void compare(benchmark::State& state, const Case& of) {
    DeviceBench& bench = DeviceBench::instance();
    Backend& backend = bench.backend();
    const Problem problem = of.problem();
    const Arrays<Real> arrays(backend, of);
    const auto elements = bench.library().kernel(problem), rows = bench.library().kernel(of.rows());
    const BoundKernel by_elements(elements, arrays.elements), by_rows(rows, arrays.rows);
    const fe::Shape shape(problem);
    const Counts counts = built_in_families().of(problem).counts(problem), counts_of_rows = built_in_families().of(of.rows()).counts(of.rows());
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, {[&] { by_elements.launch(); }, [&] { by_rows.launch(); }}, 11);
        std::string binding;
        const double floor = ceiling_seconds(counts, shape.precision, bench.ceilings(), binding);
        state.SetIterationTime(seconds[0]);
        state.counters["GDOF/s"] = counts.updates / seconds[0] * 1e-9;
        state.counters["GB/s"] = counts.bytes / seconds[0] * 1e-9;
        state.counters["GFLOP/s"] = counts.operations / seconds[0] * 1e-9;
        state.counters["%ceiling"] = 100 * floor / seconds[0];
        state.counters["bytes_of_rows"] = counts_of_rows.bytes / counts.bytes;
        state.counters[ratio_name("rival/ours", {timed_kernel("fe_mass", *elements), timed_kernel("csr_spmv", *rows).as_rival()})] =
            seconds[1] / seconds[0];
        // Both are sums of magnitudes below one element's volume times the corners of a node, with
        // as many roundings as sums have terms.
        const double allowed = 1000 * (shape.precision == Precision::f32 ? 0x1p-24 : 0x1p-53);
        const double difference = backend.largest_difference(arrays.elements_y, arrays.rows_y, shape.components * shape.nodes, shape.precision);
        state.counters["difference/allowed"] = difference / allowed;
        if (!(difference <= allowed)) state.SkipWithError("differs from the rival");
        state.SetLabel(fmt::format("{}-bound, {}: {}; rival: csr_spmv, {}: {}", binding, to_string(elements->match().grade),
                                   elements->match().config.key(), to_string(rows->match().grade), rows->match().config.key()));
    }
}

std::vector<std::string> problems() {
    std::vector<std::string> keys;
    for (const Case& of : cases(!device_name().starts_with("cpu")))
        for (const Problem& problem : {of.problem(), of.rows()}) keys.push_back(problem.key());
    return keys;
}

void register_all() {
    const bool cuda = traits_of(DeviceBench::instance().backend().device().limits.target).has_blocks;
    for (const Case& of : cases(cuda)) {
        const auto run = of.problem().precision() == Precision::f32 ? compare<float> : compare<double>;
        benchmark::RegisterBenchmark(of.name().c_str(), run, of)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
    }
}

}  // namespace

Program program() {
    return {.purpose = "fe_mass on boxes of squares and cubes beside csr_spmv with the assembled matrix.",
            .problems = problems,
            .register_all = register_all};
}

}  // namespace hone::benchmarks
