#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/kernel_source.hpp"
#include "generator/limits.hpp"
#include "generator/problem.hpp"
#include "generator/scale.hpp"
#include "generator/search_space.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1 {

/// How a step over a part of the range relates to the whole step, so that two devices can share it.
/// The owner of units [first, last) launches [first - extra_below, last + extra_above), cut to the
/// whole range. Before the step the units [first - halo_below, last + halo_above) of every array
/// must hold the values of the whole problem. Then the owner's units hold the result of the whole
/// step afterwards.
struct Partition {
    std::int64_t granularity = 1;  ///< parts begin at multiples of it
    std::int64_t extra_below = 0;  ///< units of the neighbour that a part computes too, because its own need their new values
    std::int64_t extra_above = 0;
    std::int64_t halo_below = 0;  ///< units of the neighbour, counted from the interface, whose old values a part reads
    std::int64_t halo_above = 0;

    bool operator==(const Partition&) const = default;
};

/// A kernel family: everything hone knows about one kind of computation. One row of the table in
/// families.cpp; plain functions of values.
struct Family {
    std::string name;
    std::string summary;  ///< one line
    std::string source;   ///< paper or textbook
    std::string example;  ///< a whole problem as on the command line
    std::vector<ProblemParameter> parameters;

    /// Which of the extents, and what they make together, are sizes, of which a result for one
    /// serves for another, and which decide what is fast. Looks at numbers alone: any that the
    /// parameters allow. Empty: all extents are sizes.
    std::function<Scale(const Problem&)> scale;

    std::string range_unit;  ///< what `first` and `last` count: "planes", "elements"
    /// Length of the whole range.
    std::function<std::int64_t(const Problem&)> range;
    /// How two devices can share a step. Empty: they cannot, for example because every part needs
    /// all of the others.
    std::function<Partition(const Problem&)> partition;
    /// Arrays of the application, in argument order.
    std::function<std::vector<ArraySpec>(const Problem&)> arrays;
    /// Candidates on a device. The safe configuration must run at every size.
    std::function<SearchSpace(const Problem&, const Limits&)> space;
    /// Requires `config` to be a member of the space of `limits`.
    std::function<KernelSource(const Problem&, const Config&, const Limits& limits)> kernel;
    /// One time step of the plain loops over [first, last), on arrays in host memory in the
    /// problem's layout. Independent of the generator's code path; also what runs where there is no
    /// compiler.
    std::function<void(const Problem&, std::span<void* const> arrays, std::int64_t first, std::int64_t last)> reference;
    /// Fresh random data from a seed, with the reference's answer.
    std::function<Workload(const Problem&, std::uint64_t seed)> workload;
    /// Compulsory work of one time step.
    std::function<Counts(const Problem&)> counts;
};

}  // namespace hone::inline v0_1
