#include "runtime/kernel_folder/data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "generator/error.hpp"
#include "generator/random_words.hpp"
#include "runtime/kernel_folder/source_text.hpp"
#include "tuning_db/file_store.hpp"

namespace hone::kernel_folder {
namespace {

constexpr double largest = 1e30;

template <typename Real>
void fill_reals(HostArray& array, const Fill& fill, const Values& values, std::uint64_t seed) {
    Real* const words = static_cast<Real*>(array.data());
    const double low = fill.kind == Fill::Kind::random ? fill.low.number(values, -largest, largest) : fill.value.number(values, -largest, largest);
    const double high = fill.kind == Fill::Kind::random ? fill.high.number(values, low, largest) : low;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < array.words(); ++i) words[i] = static_cast<Real>(low + (high - low) * 0.5 * (random_word(seed, i) + 1));
}

void fill_integers(HostArray& array, std::int64_t count, const Fill& fill, const Values& values, std::uint64_t seed) {
    constexpr std::int64_t most = 2147483647;
    auto* const words = static_cast<std::int32_t*>(array.data());
    std::memset(array.data(), 0, static_cast<std::size_t>(array.bytes()));
    const std::int64_t low = fill.kind == Fill::Kind::random ? fill.low.integer(values, -most, most) : fill.value.integer(values, -most, most);
    const std::int64_t high = fill.kind == Fill::Kind::random ? fill.high.integer(values, low, most) : low;
    const auto numbers = static_cast<std::uint64_t>(high - low + 1);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i)
        words[i] = static_cast<std::int32_t>(low + static_cast<std::int64_t>(mixed(seed + static_cast<std::uint64_t>(i)) % numbers));
}

// The values as they lie in memory, in the problem's precision.
void read_values(HostArray& array, std::int64_t bytes, const std::filesystem::path& file, const Problem& problem) {
    const std::string contents = read_file(file, bytes);
    if (static_cast<std::int64_t>(contents.size()) != bytes)
        throw Error(file.string(), fmt::format("it has {} bytes, the array {} for {}", contents.size(), bytes, problem.key()),
                    "store the values one after the other, in the problem's precision");
    std::memset(array.data(), 0, static_cast<std::size_t>(array.bytes()));
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
        // Values, not words: of integers a word of eight bytes has two.
        const std::int64_t count = specs[i].strides.front() * argument.extents.front().integer(values, 1, specs[i].words * 2);
        if (argument.fill.kind == Fill::Kind::none)
            array.poison();
        else if (argument.fill.kind == Fill::Kind::file)
            read_values(array, argument.integers ? 4 * count : array.bytes(), folder / argument.fill.file, problem);
        else if (argument.integers)
            fill_integers(array, count, argument.fill, values, own_seed);
        else if (problem.precision() == Precision::f32)
            fill_reals<float>(array, argument.fill, values, own_seed);
        else
            fill_reals<double>(array, argument.fill, values, own_seed);
    }
    return arrays;
}

Workload workload(const Description& description, const std::filesystem::path& folder, Reference& reference, const Problem& problem,
                  std::uint64_t seed) {
    Workload workload;
    workload.arrays = filled_arrays(description, folder, problem, seed);
    workload.expected.resize(workload.arrays.size());
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
        const Argument& argument = description.arguments[i];
        HostArray& expected = workload.expected[i];
        if (argument.access != Access::in) expected = workload.arrays[i].copy();
        if (!argument.expected.empty()) read_values(expected, expected.bytes(), folder / argument.expected, problem);
        pointers.push_back(argument.access == Access::in ? workload.arrays[i].data() : expected.data());
    }
    if (description.reference.kind != ReferenceSource::Kind::stored) reference.step(problem, pointers, 0, range_length(description, problem));
    workload.tolerance = description.tolerance.number(Values(problem), 0, largest);
    workload.tolerance_reason = description.tolerance_reason;
    return workload;
}

}  // namespace hone::kernel_folder
