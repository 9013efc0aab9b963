#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

#include "runtime/processors.hpp"
#include "tools/command.hpp"

namespace {

int terminal_columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

}  // namespace

int main(int count, char** words) {
    hone::take_usable_threads();
    hone::tools::Console console{std::cout, std::cerr, isatty(STDERR_FILENO) == 1, terminal_columns()};
    const auto code = hone::tools::run({words + 1, words + count}, console);
    std::cout.flush();
    // Output that could not be written (a full disk) must not look like success; a closed pipe ends the process by its signal before.
    return std::cout ? static_cast<int>(code) : static_cast<int>(hone::tools::Exit::internal);
}
