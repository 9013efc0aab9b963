// libFuzzer: no bytes make the readers of SEG-Y files and model headers crash; what they accept
// comes back as it was written.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "foundation/error.hpp"
#include "solvers/acoustics/model.hpp"

namespace {

using namespace hone::solvers::seismic;

bool same(const SegyTrace& a, const SegyTrace& b) {
    return a.inline_number == b.inline_number && a.samples.size() == b.samples.size() &&
           std::memcmp(a.samples.data(), b.samples.data(), a.samples.size() * sizeof(float)) == 0;
}

void check_round_trip(const SegyFile& segy) {
    const SegyFile again = parse_segy(segy_bytes(segy, "again"), "again");
    if (again.interval != segy.interval || !std::equal(segy.traces.begin(), segy.traces.end(), again.traces.begin(), again.traces.end(), same))
        std::abort();
}

void read_segy_bytes(std::string_view bytes) {
    SegyFile segy;
    try {
        parse_segy(bytes, "input", {.order = ByteOrder::little, .format = SegyFormat::ieee, .swapped_samples = true});
    } catch (const hone::Error&) {
    }
    try {
        segy = parse_segy(bytes, "input");
    } catch (const hone::Error&) {
        return;
    }
    check_round_trip(segy);
    try {
        const Model model = model_from_segy(segy, {}, "input");
        if (model.count() != static_cast<std::int64_t>(model.speed.size()) || !(model.slowest() > 0)) std::abort();
        if (model_from_segy(segy_from_model(model), {.spacing = model.spacing}, "again").speed != model.speed) std::abort();
    } catch (const hone::Error&) {
    }
}

void read_header(std::string_view text) {
    try {
        const ModelHeader header = parse_model_header(text, "input");
        if (header.cells[0] < 1 || header.speed_file.find('/') != std::string::npos || !(header.spacing > 0)) std::abort();
    } catch (const hone::Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    read_segy_bytes(bytes);
    if (bytes.starts_with("{")) read_header(bytes);
    return 0;
}
