#pragma once

#include "runtime/temporary_folder.hpp"

namespace hone::test {

using hone::TemporaryFolder;

}  // namespace hone::test
