#pragma once

#include <string>
#include <vector>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1::solvers {

/// Something that must hold after a run: what was found and what is allowed, in one line, and
/// whether it holds.
struct Check {
    std::string text;
    bool good = false;
};

/// Prints "check: <text>: good", or BAD. Returns whether it holds, so that a program can end with
/// another exit code.
bool report(bool good, const std::string& text);
/// The same on ranks that all know: the first one prints.
bool report(bool good, const std::string& text, const Communicator& ranks);
/// All of them; returns whether all hold.
bool report(const std::vector<Check>& checks);
bool report(const std::vector<Check>& checks, const Communicator& ranks);

}  // namespace hone::inline v0_1::solvers
