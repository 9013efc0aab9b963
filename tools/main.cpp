#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "foundation/processors.hpp"
#include "tools/console/command.hpp"
#include "tools/console/interrupt.hpp"

namespace {

// Of the terminal that results go to, else of the one that messages go to.
winsize terminal_size() {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
        if (winsize size{}; ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size;
    winsize usual{};
    usual.ws_col = 100;
    usual.ws_row = 24;
    return usual;
}

}  // namespace

int main(int count, char** words) {
    hone::take_usable_threads();
    hone::tools::end_with_programs();
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    const bool colour = hone::tools::wants_colour(terminal, std::getenv("NO_COLOR"), std::getenv("TERM"));
    const winsize size = terminal_size();
    hone::tools::Console console{std::cout, std::cerr, isatty(STDERR_FILENO) == 1, size.ws_col, terminal, colour, size.ws_row > 0 ? size.ws_row : 24};
    const auto code = hone::tools::run({words + 1, words + count}, console);
    // Output that could not be written (a full disk) must not look like success; a closed pipe ends
    // the process by its signal before.
    if (std::cout.flush()) return static_cast<int>(code);
    console.message("hone: standard output cannot be written to; make room on the disk, or check where it leads to\n");
    return static_cast<int>(hone::tools::Exit::internal);
}
