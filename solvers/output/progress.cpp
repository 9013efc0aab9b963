#include "solvers/output/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

#include "foundation/text.hpp"

namespace hone::inline v0_1::solvers {
namespace {

constexpr int bar_columns = 24;
constexpr double redraw_seconds = 0.2;  // fast enough for the eye
constexpr double plain_seconds = 10;

int terminal_columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Screen standard_screen() {
    return {&std::cerr, isatty(STDERR_FILENO) == 1, terminal_columns(), now};
}

Progress::Progress(std::string unit, std::int64_t total, Screen screen)
    : unit_(std::move(unit)), total_(total), screen_(std::move(screen)), began_(screen_.clock()), shown_(began_) {
}

Progress::~Progress() {
    clear();
}

void Progress::at(std::int64_t done, const std::function<std::string()>& note) {
    const double time = screen_.clock();
    if (time - shown_ < (screen_.terminal ? redraw_seconds : plain_seconds)) return;
    const std::string text = line(done, note ? note() : "", time - began_);
    // The last column stays free: some terminals wrap when it is written.
    *screen_.stream << (screen_.terminal ? fmt::format("\r{}\x1b[K", text::cut(text, screen_.columns - 1)) : text + "\n") << std::flush;
    shown_ = time;
    visible_ = true;
}

void Progress::at(std::int64_t done, const std::string& note) {
    at(done, [&] { return note; });
}

void Progress::clear() {
    if (screen_.terminal && visible_) *screen_.stream << "\r\x1b[K" << std::flush;
    visible_ = false;
}

std::string Progress::line(std::int64_t done, const std::string& note, double elapsed) const {
    const double part = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 0;
    std::string text = screen_.terminal ? fmt::format("[{}] ", text::bar(part, bar_columns)) : "";
    text += fmt::format("{} of {} {}", text::grouped(done), text::grouped(total_), unit_);
    if (part > 0) {
        const double left = std::max(0.0, elapsed / part - elapsed);
        text += fmt::format(", {} left", left < 59.5 ? fmt::format("{:.0f} s", left) : text::duration(left));
    }
    return note.empty() ? text : text + "  " + note;
}

}  // namespace hone::inline v0_1::solvers
