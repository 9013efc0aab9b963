#include <fmt/format.h>

#include "generator/families/batched_gemv/forms.hpp"
#include "generator/families/batched_gemv/text.hpp"
#include "generator/families/device/cpu_team.hpp"

// Passes over all rows of A, with some columns each.

namespace hone::inline v0_1::gemv {
namespace {

// `columns` columns at a time, so that y (or x, where A is transposed) is read and written that
// much less often.
Block product(const Shape& shape, int columns) {
    const int whole = shape.n / columns * columns;
    Block block;
    if (!shape.transposed()) block.text("real sum[m] = {};");
    const auto pass = [&](int count, const char* column) {
        if (shape.transposed()) {
            std::string names;
            for (int i = 0; i < count; ++i) names += fmt::format("{}sum{} = 0", i == 0 ? "" : ", ", i);
            block.line("real {};", names);
            for (std::size_t at = names.find(" = 0"); at != std::string::npos; at = names.find(" = 0")) names.erase(at, 4);
            block.line("#pragma omp simd reduction(+ : {})", names);
            block.open("for (int row = 0; row < m; ++row)");
            for (int i = 0; i < count; ++i) block.line("sum{0} += own[({1} + {0}) * m + row] * factor[row];", i, column);
            block.close();
            for (int i = 0; i < count; ++i) block.line("put(result + {0} + {1}, sum{1}{2});", column, i, shape.of.scaled ? ", alpha, beta" : "");
        } else {
            std::string terms;
            for (int i = 0; i < count; ++i) terms += fmt::format("{0}own[({1} + {2}) * m + row] * factor[{1} + {2}]", i == 0 ? "" : " + ", column, i);
            block.text("#pragma omp simd");
            block.line("for (int row = 0; row < m; ++row) sum[row] += {};", terms);
        }
    };
    if (whole > 0) {
        block.open(fmt::format("for (int column = 0; column < {}; column += {})", whole, columns));
        pass(columns, "column");
        block.close();
    }
    if (whole < shape.n) pass(shape.n - whole, std::to_string(whole).c_str());
    if (!shape.transposed()) block.line("for (int row = 0; row < m; ++row) put(result + row, sum[row]{});", shape.of.scaled ? ", alpha, beta" : "");
    return block;
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Holes holes{{"banner", banner(problem, config, Target::cpu)},
                      {"constants", shape_constants(shape)},
                      {"team", team(config)},
                      {"entry", entry(shape, Target::cpu)},
                      {"parallel", team_parallel(config)},
                      {"seat", team_seat(config)},
                      {"product", product(shape, gemm::number(config, "columns"))}};
    KernelSource source = make_source(problem, Target::cpu, render("batched_gemv/passes.cpp", holes, {{"scaled", shape.of.scaled}}));
    source.step.push_back({"batched_gemv", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

}  // namespace

Form cpu_passes_form(const Problem& problem, const Limits& limits) {
    const auto too_wide = [n = Shape(problem).n](const Config& config) -> Reason {
        if (config.integer("columns") <= n) return std::nullopt;
        return fmt::format("A has {} columns", n);
    };
    FormSpace space{.name = "passes",
                    .help = "passes over the rows of A",
                    .tunables = {{"columns", "columns of A that one pass over its rows works on", numbers({1, 2, 4, 8})}},
                    .constraints = {{"columns", too_wide, {"columns"}}},
                    .safe = {{"columns", 1}},
                    .former = [](const Config& config) { return config.find("columns") != nullptr; }};
    return {.space = with_team(std::move(space), limits), .kernel = [problem](const Config& config) { return kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::gemv
