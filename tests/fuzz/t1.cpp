// libFuzzer: no text makes the reader of T1 files, or the evaluator of its expressions, crash or
// run for long.
#include "tuner/replay/formats/t1.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foundation/error.hpp"
#include "foundation/python_expression.hpp"

namespace {

void evaluate(std::string_view text) {
    try {
        const hone::PythonExpression expression(text, "input");
        expression.evaluate([](const std::string&) { return hone::PythonValue{std::int64_t{32}}; }).text();
    } catch (const hone::Error&) {
    }
}

void read(std::string_view text) {
    try {
        const hone::T1Space t1 = hone::parse_t1(text, "input", 1000);
        if (t1.space.check(t1.space.safe())) std::abort();
    } catch (const hone::Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    evaluate(text);
    if (text.starts_with("{")) read(text);
    return 0;
}
