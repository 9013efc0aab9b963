#include "interfaces/kernel_folder/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/random_words.hpp"
#include "interfaces/kernel_folder/folder_file.hpp"
#include "interfaces/kernel_folder/source_text.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

constexpr double largest = 1e30;

template <typename Real>
void fill_reals(HostArray& array, std::int64_t count, const Fill& fill, const Values& values, std::uint64_t seed) {
    Real* const words = static_cast<Real*>(array.data());
    const double low = fill.kind == Fill::Kind::random ? fill.low.number(values, -largest, largest) : fill.value.number(values, -largest, largest);
    const double high = fill.kind == Fill::Kind::random ? fill.high.number(values, low, largest) : low;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) words[i] = static_cast<Real>(low + (high - low) * 0.5 * (random_word(seed, i) + 1));
}

void fill_integers(HostArray& array, std::int64_t count, const Fill& fill, const Values& values, std::uint64_t seed) {
    constexpr std::int64_t most = 2147483647;
    auto* const words = static_cast<std::int32_t*>(array.data());
    const std::int64_t low = fill.kind == Fill::Kind::random ? fill.low.integer(values, -most, most) : fill.value.integer(values, -most, most);
    const std::int64_t high = fill.kind == Fill::Kind::random ? fill.high.integer(values, low, most) : low;
    const auto numbers = static_cast<std::uint64_t>(high - low + 1);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i)
        words[i] = static_cast<std::int32_t>(low + static_cast<std::int64_t>(mixed(seed + static_cast<std::uint64_t>(i)) % numbers));
}

// The values as they lie in memory.
void read_values(HostArray& array, const ArraySpec& spec, const std::filesystem::path& file, const Problem& problem) {
    const std::int64_t bytes = bytes_of(spec, problem.precision());
    const std::string contents = read_file(file, bytes);
    if (static_cast<std::int64_t>(contents.size()) != bytes)
        throw Error(file.string(), fmt::format("it has {} bytes, the array {} for {}", contents.size(), bytes, problem.key()),
                    fmt::format("store {} values one after the other, as {}", value_count(spec, problem.precision()),
                                to_string(value_type_of(spec, problem.precision()))));
    std::memcpy(array.data(), contents.data(), contents.size());
}

}  // namespace

std::vector<HostArray> filled_arrays(const Description& description, const std::filesystem::path& folder, const Problem& problem,
                                     std::uint64_t seed) {
    const Values values(problem);
    const std::vector<ArraySpec> specs = array_specs(description, problem);
    std::vector<HostArray> arrays;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const Argument& argument = description.arguments[i];
        HostArray& array = arrays.emplace_back(problem.precision(), specs[i].words);
        const std::uint64_t own_seed = mixed(seed + i);  // arrays that are filled alike must differ
        const ValueType type = value_type_of(specs[i], problem.precision());
        const std::int64_t count = value_count(specs[i], problem.precision());
        if (argument.fill.kind == Fill::Kind::none || bytes_of(specs[i], problem.precision()) < array.bytes()) array.poison(type);
        if (argument.fill.kind == Fill::Kind::none) continue;
        if (argument.fill.kind == Fill::Kind::file)
            read_values(array, specs[i], folder_file(folder, argument.fill.file), problem);
        else if (type == ValueType::i32)
            fill_integers(array, count, argument.fill, values, own_seed);
        else if (type == ValueType::f32)
            fill_reals<float>(array, count, argument.fill, values, own_seed);
        else
            fill_reals<double>(array, count, argument.fill, values, own_seed);
    }
    return arrays;
}

Workload workload(const Description& description, const std::filesystem::path& folder, Reference& reference, const Problem& problem,
                  std::uint64_t seed) {
    Workload workload;
    workload.arrays = filled_arrays(description, folder, problem, seed);
    workload.expected.resize(workload.arrays.size());
    const std::vector<ArraySpec> specs = array_specs(description, problem);
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
        const Argument& argument = description.arguments[i];
        HostArray& expected = workload.expected[i];
        if (argument.access != Access::in) expected = workload.arrays[i].copy();
        if (!argument.expected.empty()) read_values(expected, specs[i], folder_file(folder, argument.expected), problem);
        pointers.push_back(argument.access == Access::in ? workload.arrays[i].data() : expected.data());
    }
    if (description.reference.kind != ReferenceSource::Kind::stored) reference.step(problem, pointers, 0, range_length(description, problem));
    workload.tolerance = description.tolerance.number(Values(problem), 0, largest);
    workload.tolerance_reason = description.tolerance_reason;
    // Integers beside other results are exact: the tolerance is one of rounding.
    const auto has_results = [&](bool integers) {
        return std::any_of(description.arguments.begin(), description.arguments.end(),
                           [&](const Argument& argument) { return argument.access != Access::in && argument.integers() == integers; });
    };
    if (has_results(true) && has_results(false))
        for (const Argument& argument : description.arguments) workload.tolerances.push_back(argument.integers() ? 0 : workload.tolerance);
    return workload;
}

}  // namespace hone::inline v0_1::kernel_folder
