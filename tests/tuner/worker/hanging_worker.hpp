#pragma once

#include <string>

namespace hone::test {

/// The body of a process whose worker never comes back from a candidate: prints the worker's
/// process number once it hangs, and waits to be killed.
int hang_main(const std::string& cache);

}  // namespace hone::test
