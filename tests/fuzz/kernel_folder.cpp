// libFuzzer: no text of a family.json makes its reader, or what is made of an accepted one, crash
// or run for long.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "foundation/error.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "interfaces/kernel_folder/source_text.hpp"

namespace {

// The smallest problem: every number at its low end, the first word of each choice.
hone::Problem smallest(const hone::kernel_folder::Description& description) {
    std::vector<hone::Assignment> parameters;
    std::vector<std::string> extents;
    for (const auto& parameter : description.parameters) {
        parameters.push_back({parameter.name, parameter.words.empty() ? hone::Value(parameter.low) : hone::Value(parameter.words.front())});
        if (parameter.extent) extents.push_back(parameter.name);
    }
    return {description.name, std::move(parameters), std::move(extents)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto description = hone::kernel_folder::parse_description(text, "family.json", [](const std::string&) { return "//@ constants\n"; });
        const hone::Problem problem = smallest(description);
        for (const hone::Limits& limits : {hone::cpu_limits(), hone::cuda_limits(90)}) {
            try {
                const hone::SearchSpace space = search_space(description, description.name, problem, limits);
                kernel_source(description, description.name, problem, space.safe(), limits);
            } catch (const hone::Error&) {
            }
        }
        reference_source(description, problem);
        work_counts(description, problem);
    } catch (const hone::Error&) {
    }
    return 0;
}
