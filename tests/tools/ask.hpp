#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tools/console/command.hpp"

namespace hone::test {

/// What a command answered.
struct Answer {
    tools::Exit code = tools::Exit::internal;
    std::string out;
    std::string error;
};

/// Runs a command line (without the program's name) in this process.
inline Answer ask(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream error;
    tools::Console console{out, error};
    const tools::Exit code = tools::run(arguments, console);
    return {code, out.str(), error.str()};
}

}  // namespace hone::test
