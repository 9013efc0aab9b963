#include "tests/support/golden_cases.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <sstream>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"

namespace hone::test {
namespace {

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

}  // namespace

std::string GoldenCase::line() const {
    return fmt::format("{} | {} | {} |{} | {}", name, to_string(target), problem, config.empty() ? "" : " " + config, kept);
}

std::vector<GoldenLine> read_golden_lines() {
    std::vector<GoldenLine> lines;
    std::ifstream file(source_path("tests/golden/cases.txt"));
    for (std::string line; std::getline(file, line);) {
        lines.push_back({line, {}});
        if (line.empty() || line.starts_with('#')) continue;
        std::array<std::string, 5> fields;
        std::istringstream stream(line);
        for (auto& field : fields) {
            std::getline(stream, field, '|');
            field = trimmed(field);
        }
        lines.back().golden = {fields[0], parse_target(fields[1]), fields[2], fields[3], fields[4]};
    }
    return lines;
}

std::vector<GoldenCase> read_golden_cases() {
    std::vector<GoldenCase> cases;
    for (auto& line : read_golden_lines())
        if (line.golden) cases.push_back(std::move(*line.golden));
    return cases;
}

Limits golden_limits(Target target, int architecture) {
    if (target == Target::cuda) return cuda_limits(architecture);
    Limits limits = cpu_limits();
    limits.vector_bytes = 64;  // so that every width has its kernel, and every team
    limits.multiprocessors = 16;
    return limits;
}

EmittedCase emit_golden(const GoldenCase& golden, int architecture) {
    const Families& families = built_in_families();
    EmittedCase kernel;
    kernel.problem = families.parse_problem(golden.problem);
    const Family& family = families.of(kernel.problem);
    const Limits limits = golden_limits(golden.target, architecture);
    const SearchSpace space = family.space(kernel.problem, limits);
    try {
        kernel.config = space.parse(golden.config);
        kernel.rejection = space.check(kernel.config);
    } catch (const Error& error) {  // a value that this architecture's space does not have
        kernel.rejection = {"values", error.what()};
    }
    if (!kernel.rejection) kernel.source = family.kernel(kernel.problem, kernel.config, limits);
    return kernel;
}

}  // namespace hone::test
