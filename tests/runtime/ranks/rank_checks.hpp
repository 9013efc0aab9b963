#pragma once

#include "runtime/ranks/communicator.hpp"

namespace hone::test {

/// What every communicator promises, checked with random bytes by each of its ranks. Throws Error
/// for what does not hold. The seed must be the same on all ranks.
void check_messages(Communicator& communicator, unsigned seed);
void check_collectives(Communicator& communicator, unsigned seed);

}  // namespace hone::test
