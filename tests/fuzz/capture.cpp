// libFuzzer: no text makes the reader of captures crash, and what it accepts fits its problem.
#include "runtime/capture.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hone;
    try {
        const Capture capture = parse_capture({reinterpret_cast<const char*>(data), size}, "input.json");
        const Problem problem = captured_problem(capture, built_in_families());
        if (capture.first > capture.last || capture.last > built_in_families().of(problem).range(problem)) std::abort();
    } catch (const Error&) {
    }
    return 0;
}
