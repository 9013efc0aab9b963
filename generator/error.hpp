#pragma once

#include <stdexcept>
#include <string>

namespace hone::inline v0_1 {

/// The one exception of the project: wrong input, or a machine that refuses.
///
/// The text always says where, what was found and what to do next, e.g.
/// `problem "dg_volume order=12": order is 12, must be 1..10; see 'hone families'`.
/// Expected outcomes (no record, does not fit, compile rejected, wrong answer, time-out, crash) are
/// values, never exceptions.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;

    Error(const std::string& where, const std::string& found, const std::string& remedy)
        : std::runtime_error(printable(where + ": " + found + "; " + remedy)) {}

  private:
    // What was found may be anything; a zero byte would cut the text short, and an escape sequence
    // would reach the terminal.
    static std::string printable(std::string text) {
        for (char& c : text)
            if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = '?';
        return text;
    }
};

}  // namespace hone::inline v0_1
