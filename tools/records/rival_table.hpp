#pragma once

#include <string>
#include <vector>

#include "generator/families.hpp"

namespace hone::tools {

/// A problem as a rival computes it, measured in turns with the tuned kernel.
struct Rival {
    std::string problem;  ///< as short_key gives it
    double seconds = 0;   ///< of the rival for one update
    double ours = 0;      ///< of the tuned kernel for one update, in the same sitting; 0: the table does not say
};

/// The rows with a rival of a table as `benchmark_report table` writes it: comma-separated values
/// (RFC 4180) with the columns `name`, whose last part behind a "/" is a problem, `rival_ns/UNIT`
/// and `ns/UNIT`. Rows of problems that no family knows are left out. Throws Error, naming the
/// table and its line, for text that is no such table.
std::vector<Rival> rivals_in(const std::string& text, const std::string& where, const Families& families);

}  // namespace hone::tools
