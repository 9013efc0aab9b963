#include "solvers/output/check.hpp"

#include <fmt/format.h>

namespace hone::inline v0_1::solvers {

bool report(bool good, const std::string& text) {
    fmt::print("check: {}: {}\n", text, good ? "good" : "BAD");
    return good;
}

bool report(bool good, const std::string& text, const Communicator& ranks) {
    return ranks.rank() == 0 ? report(good, text) : good;
}

bool report(const std::vector<Check>& checks) {
    bool all = true;
    for (const Check& check : checks) all = report(check.good, check.text) && all;
    return all;
}

bool report(const std::vector<Check>& checks, const Communicator& ranks) {
    bool all = true;
    for (const Check& check : checks) all = report(check.good, check.text, ranks) && all;
    return all;
}

}  // namespace hone::inline v0_1::solvers
