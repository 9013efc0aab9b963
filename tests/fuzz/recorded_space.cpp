// libFuzzer: no text makes the readers of other tuners' files crash; what they accept comes back
// from every format that can hold it.
#include "tuner/replay/recorded_space.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tuner/replay/formats/kernel_tuner.hpp"
#include "tuner/replay/formats/space_file.hpp"
#include "tuner/replay/formats/t4.hpp"

namespace {

std::optional<hone::RecordedSpace> parsed(std::string_view text) {
    try {
        return hone::parse_recorded_space(text, "input");
    } catch (const hone::Error&) {
        return std::nullopt;
    }
}

void check_same(const hone::RecordedSpace& space, const std::string& written) {
    const auto again = parsed(written);
    if (!again || again->members().size() != space.members().size() || again->valid() != space.valid()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto space = parsed({reinterpret_cast<const char*>(data), size});
    if (!space) return 0;
    check_same(*space, hone::t4_text(*space));
    check_same(*space, hone::space_file_text(*space));
    std::string text;
    try {
        text = hone::kernel_tuner_text(*space, hone::built_in_families());
    } catch (const hone::Error&) {
        return 0;  // a parameter has the name of one of the format's own fields
    }
    check_same(*space, text);
    if (!std::isfinite(space->cost(space->space(1).index_of(space->space(1).safe())))) std::abort();
    return 0;
}
