#pragma once

#include <string>
#include <vector>

namespace hone::test {

/// What candidates of the campaign do wrong: faults of axpy_family.
const std::vector<std::string>& hostile_faults();

}  // namespace hone::test
