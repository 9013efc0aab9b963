#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/families/device/cuda_residency.hpp"
#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/shape.hpp"
#include "generator/families/dg/tiling.hpp"
#include "generator/family.hpp"
#include "generator/render.hpp"

namespace hone::dg {

using Resources = BlockResources;

/// A way to lay the work out over a CUDA device: one row of `cuda_mappings()`.
struct Mapping {
    std::string name;
    std::string help;
    bool (*applies)(const Shape&, const Limits&);
    /// Why the values of a configuration do not go together, or "".
    std::string (*conflict)(const Shape&, const Config&);
    Resources (*resources)(const Shape&, const Config&);
    KernelSource (*kernel)(const Problem&, const Config&, const Limits&);
};

const std::vector<Mapping>& cuda_mappings();

Mapping element_mapping();
Mapping tile_mapping();
Mapping mma_mapping();
Mapping tf32_mapping();

SearchSpace cuda_space(const Problem& problem, const Limits& limits);
SearchSpace cpu_space(const Problem& problem, const Limits& limits);
KernelSource cpu_kernel(const Problem& problem, const Config& config, const Limits& limits);

/// Pieces that all kernels share.
/// How many fields the loop over the operator's columns works on at a time: all, or for maxwell_3d those of one curl.
Tunable fields_per_pass(const Shape& shape);
/// The algebra of one pass.
const Algebra& pass_algebra(const Shape& shape, const Config& config);
std::vector<ArraySpec> arrays(const Problem& problem);
Counts counts(const Problem& problem);
/// Transformed fields of node m of element e, from `value[i][..]` into `field`, the layout in shared memory of the mappings tile and mma.
Block transform_into_field(const Algebra& algebra);
/// Opening comment: problem, command that emits this text, counts.
Block banner(const Problem& problem, const Config& config, Target target, double executed_operations);
/// Operations that a configuration's form executes in one step when each product is done for `pairs` pairs of node and column.
double executed_operations(const Problem& problem, const Config& config, double pairs);
/// A source with everything but text, tables and launches filled in.
KernelSource make_source(const Problem& problem, Target target, std::string text, double executed);
/// One launch over blocks of `elements_per_block`.
Launch block_launch(const Shape& shape, std::int64_t elements_per_block, const Resources& resources);

}  // namespace hone::dg
