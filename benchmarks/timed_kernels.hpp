#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tuning_db/database.hpp"

namespace hone {

/// A kernel that was looked up for a comparison, and how its configuration was found.
struct TimedKernel {
    std::string name;
    Grade grade = Grade::none;
    bool rival = false;  ///< ours is compared with it

    /// For this device: a rival for this very problem, of ours another size will do. With
    /// Grade::none it runs by the family's safe configuration, with Grade::predicted by what other
    /// problems suggest.
    bool tuned() const { return grade == Grade::exact || (grade == Grade::nearest_size && !rival); }
    TimedKernel as_rival() const { return {name, grade, true}; }
};

/// The meaning of `*`, for the foot of a table or the head of a report.
constexpr const char* untuned_note =
    "a kernel of this ratio was not tuned for this device (none: its safe configuration; predicted: from other problems; same_architecture, "
    "other_architecture: found on another model), or a rival among hone's own kernels not for this problem (nearest_size: for another size of it): "
    "it compares no tuned kernels, and is left out of their means";

inline bool all_tuned(const std::vector<TimedKernel>& kernels) {
    return std::all_of(kernels.begin(), kernels.end(), [](const TimedKernel& kernel) { return kernel.tuned(); });
}

/// "dg_volume exact, dg_surface nearest_size, dg_rk none*".
inline std::string grades_of(const std::vector<TimedKernel>& kernels) {
    std::vector<std::string> parts;
    parts.reserve(kernels.size());
    for (const TimedKernel& kernel : kernels)
        parts.push_back(fmt::format("{} {}{}", kernel.name, to_string(kernel.grade), kernel.tuned() ? "" : "*"));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// The name of a ratio between times of these kernels (and of rivals that nobody tunes): with a `*`
/// where one of them is not tuned.
inline std::string ratio_name(const std::string& name, const std::vector<TimedKernel>& kernels) {
    return all_tuned(kernels) ? name : name + "*";
}

/// Of at least one ratio.
inline double geometric_mean(const std::vector<double>& ratios) {
    double logarithms = 0;
    for (const double ratio : ratios) logarithms += std::log(ratio);
    return std::exp(logarithms / static_cast<double>(ratios.size()));
}

/// Ratios rival / ours of one group of problems, summed up: those of tuned kernels, and by
/// themselves those that are marked.
class RatioSummary {
  public:
    explicit RatioSummary(std::string name) : name_(std::move(name)) {}

    const std::string& name() const { return name_; }

    void add(double ratio, const std::vector<TimedKernel>& kernels) { (all_tuned(kernels) ? tuned_ : marked_).push_back(ratio); }

    /// "drawn: 198 shapes, rival / ours 2.53 in the geometric mean, ..."; where some are marked, a
    /// line of theirs and what the mark means. Empty without ratios.
    std::string text() const {
        std::string text = line(name_, tuned_);
        if (!marked_.empty()) text += line(name_ + "*", marked_) + fmt::format("*: {}\n", untuned_note);
        return text;
    }

  private:
    static std::string line(const std::string& name, const std::vector<double>& ratios) {
        if (ratios.empty()) return "";
        const auto below = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio < 0.95; });
        return fmt::format("{}: {} shapes, rival / ours {:.3f} in the geometric mean, {:.3f} at least, {} below 0.95\n", name, ratios.size(),
                           geometric_mean(ratios), *std::min_element(ratios.begin(), ratios.end()), below);
    }

    std::string name_;
    std::vector<double> tuned_;
    std::vector<double> marked_;
};

}  // namespace hone
