#include "tools/searches/remembered_ceilings.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "foundation/processors.hpp"
#include "generator/render.hpp"
#include "tuning_db/record.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::tools {
namespace {

constexpr double most_per_second = 1e18;
constexpr std::size_t longest_text = 1 << 10;

std::string key_of(const DeviceFingerprint& device) {
    const char* const text = traits_of(device.target).has_blocks ? "runtime/ceilings.cu" : "runtime/ceilings.cpp";
    return fmt::format("ceilings\n{}\n{}\nprocessors {}\n{}", HONE_VERSION, to_json(device), processor_list(processors().numbers),
                       template_text(text));
}

}  // namespace

std::optional<RememberedCeilings> remembered_ceilings(const DiskCache& cache, const DeviceFingerprint& device) {
    const auto text = cache.read(key_of(device));
    if (!text) return std::nullopt;
    try {
        const JsonNode node = parse_json(*text, "remembered ceilings");
        const JsonPlace place(node, "remembered ceilings");
        return RememberedCeilings{{place["copy_bytes_per_second"].number(0, most_per_second), place["fma_f32"].number(0, most_per_second),
                                   place["fma_f64"].number(0, most_per_second), place["how"].string(longest_text)},
                                  place["date"].string(longest_text)};
    } catch (const Error&) {  // then they are measured
        return std::nullopt;
    }
}

void remember_ceilings(const DiskCache& cache, const DeviceFingerprint& device, const Ceilings& ceilings) {
    cache.write(key_of(device), fmt::format(R"({{"copy_bytes_per_second": {}, "fma_f32": {}, "fma_f64": {}, "how": {}, "date": {}}})",
                                            json_number(ceilings.copy_bytes_per_second), json_number(ceilings.fma_f32), json_number(ceilings.fma_f64),
                                            json_string(ceilings.how), json_string(utc_date())));
}

}  // namespace hone::tools
