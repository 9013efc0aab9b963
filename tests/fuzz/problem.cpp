// libFuzzer: no text makes the parsers of problems and configurations crash or accept what is
// outside the declaration.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/value_lists.hpp"
#include "tests/generator/sample_family.hpp"

namespace {

using hone::numbers;
using hone::words;

const hone::Families families = hone::testing::sample_families();
const hone::SearchSpace space({{"block_x", "", numbers({16, 32, 64})}, {"staging", "", words({"registers", "caches"})}}, {},
                              {{"block_x", std::int64_t{32}}, {"staging", std::string("caches")}});

void parse_problem(std::string_view text) {
    try {
        for (const auto& problem : families.parse_problems(text))
            if (families.parse_problem(problem.key()) != problem) std::abort();
    } catch (const hone::Error&) {
    }
}

void parse_config(std::string_view text) {
    try {
        if (space.check(space.parse(text))) std::abort();
    } catch (const hone::Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    parse_problem(text);
    parse_config(text);
    return 0;
}
