#pragma once

#include <cstdint>
#include <vector>

#include "generator/families/corner_force/shape.hpp"
#include "generator/kernel_source.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1::corner {

std::vector<ArraySpec> arrays(const Problem& problem);

/// Compulsory work: every array once; operations of the sum-factorised form.
Counts counts(const Problem& problem);

/// Operations per zone of the parts of a step, as the sum-factorised form executes them.
double gradient_operations(const Shape& shape, int fields);
double physics_operations(const Shape& shape);
double force_operations(const Shape& shape);
double work_operations(const Shape& shape);
/// Of F itself.
double assembly_operations(const Shape& shape);

/// Zones of random size and shape in random motion; some are cold, some inside out.
Workload workload(const Problem& problem, std::uint64_t seed);

}  // namespace hone::inline v0_1::corner
