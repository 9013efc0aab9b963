#pragma once

#include <cstdint>
#include <vector>

#include "generator/families/corner_force/plan.hpp"

namespace hone::inline v0_1::corner {

/// One launch that sweeps a zone's points in layers across the last axis, `layers` at a time, each
/// point by a thread. Derivatives, physics and all sums of a layer stay in shared memory, so that a
/// zone of any order fits.
Form layered_form(const Problem& problem, const Limits& limits);

/// Whether zones are small enough for `streamed`.
bool streams(const Shape& shape);
/// One launch in which zones stream through warps, each by itself: a thread has a line of a zone's
/// points along the first axis, whose derivatives and sums stay in its registers. Zones of a later
/// pass are copied into shared memory meanwhile.
Form streamed_form(const Problem& problem);

/// Whether `teams` has kernels: of the physics in three dimensions.
bool has_teams(const Shape& shape);
/// One launch in which teams of warps go through layers of a zone's points, each by itself, from
/// what nodes give to a layer to what it gives back. A thread has two mirrored points.
Form teams_form(const Problem& problem, const Limits& limits);

/// What a block of a form's safe configuration takes.
BlockResources safe_needs(const Form& form);
/// Pieces of `size` that `value` things are, the last of which may be smaller.
int pieces(int value, int size);
/// The numbers that divide `number`, from 1 on.
std::vector<Value> divisors(int number);
/// The smallest number from `words` on that is `step` more than a multiple of the banks.
int padded(int words, int step, int banks);
/// Tunables of all CUDA forms.
Tunable zones_per_block();
/// As many as have some dozen columns of points.
std::int64_t safe_zones(const Shape& shape);
Tunable min_blocks(std::vector<std::int64_t> values);
/// Layers of points that a zone works on at a time, where what its physics takes from memory goes,
/// and what is asked for ahead: of forms that go through layers.
Tunable layers_at_a_time(const Shape& shape);
Tunable point_data();
Tunable fetch_ahead();
/// What all CUDA texts have: the shape's, and the smallest and largest numbers.
Block numeric_constants(const Plan& plan);
/// The same with the threads of a block in which every zone has a team.
Block cuda_constants(const Plan& plan);
/// The threads of a team wait for each other: alone where teams do not cross warps.
Block team_barrier(const Plan& plan);
/// A launch in which every zone has a team.
Launch team_launch(const Plan& plan, const Pass& pass, std::int64_t shared_bytes);

}  // namespace hone::inline v0_1::corner
