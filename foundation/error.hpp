#pragma once

#include <stdexcept>
#include <string>

#include "foundation/printable.hpp"

namespace hone::inline v0_1 {

/// The one exception of the project: wrong input, or a machine that refuses.
///
/// What was found may be anything, so the text is made printable. It always says where, what was
/// found and what to do next, e.g.
/// `problem "dg_volume order=12": order is 12, must be 1..10; see 'hone families'`.
/// Expected outcomes (no record, does not fit, compile rejected, wrong answer, time-out, crash) are
/// values, never exceptions.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;

    Error(const std::string& where, const std::string& found, const std::string& remedy)
        : std::runtime_error(printable_text(where + ": " + found + "; " + remedy)) {}
};

}  // namespace hone::inline v0_1
