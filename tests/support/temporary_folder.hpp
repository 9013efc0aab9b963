#pragma once

#include "foundation/temporary_folder.hpp"

namespace hone::test {

using hone::TemporaryFolder;

}  // namespace hone::test
