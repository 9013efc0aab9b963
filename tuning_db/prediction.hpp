#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "generator/limits.hpp"
#include "generator/problem.hpp"
#include "generator/search_space.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// A record of the same family that a problem without one of its own can learn from.
struct Neighbour {
    const Record* record = nullptr;
    double distance = 0;  ///< neighbour_distance
};

/// The distance of a result from a problem of `family` on a device. Every different word
/// (precision, equation) and another architecture count 1, 2 those that say what is computed
/// (kernel, stencil, result), and arithmetic a quarter. A number such as the order counts |log2| of
/// the ratio, and so does a proportion of the sizes (generator/scale.hpp), a size a quarter of
/// that, another device of the same architecture a half, and another architecture up to 1 more, by
/// how much less it says (device_difference). Nothing for another family or target, for
/// a step that two devices share, for a result that is not verified, and beyond a distance of
/// `most`, where little carries over.
constexpr double farthest_neighbour = 4;
std::optional<double> neighbour_distance(const Family& family, const Record& record, const Problem& problem, const DeviceFingerprint& device,
                                         double most = farthest_neighbour);

/// The nearest neighbours first, equally near ones in the order of a file (`stands_before`).
void sort_neighbours(std::vector<Neighbour>& neighbours);

/// The member nearest to a configuration of another space. Values carry over by name, numbers to
/// the nearest on a logarithmic scale; what is missing is as in the safe configuration. Where the
/// constraints refuse that, the member that differs least from it: a word counts 1, a number a
/// quarter for every octave, and at least a quarter. Nothing when none is found after a thousand
/// tries, about a millisecond: then little is left of `config`.
std::optional<Config> nearest_member(const SearchSpace& space, const Config& config);

/// A result that had a say in a prediction.
struct Source {
    Problem problem;
    std::string device;   ///< model
    double distance = 0;  ///< neighbour_distance
    Config config;        ///< tuned there, by the names of today
    Config member;        ///< what it proposes here
};

/// A suggestion by neighbours for a problem that nobody tuned.
struct Prediction {
    Config config;
    std::vector<Source> sources;  ///< the nearest first
};

/// The nearest neighbours each propose a member of the problem's space: the one nearest to their
/// own configuration, and where that has the value of their safe configuration, to this problem's
/// safe one. A neighbour that hardly gained by tuning proposes the safe configuration, one whose
/// form does not exist here nothing. The proposal wins that is most like all of them, near ones
/// counting more, and those less that leave a multiprocessor few warps: a single record may have
/// won by chance among configurations of equal speed, several agree in what matters (a weighted
/// nearest-neighbour rule; Cover and Hart, IEEE Trans. Inf. Theory 13, 1967). The farther the
/// nearest, the more of a configuration's gain is lost on the way: where neighbours gained less
/// over their safe configurations than that, it is this problem's safe one. Requires `neighbours`
/// sorted. Where the family counts (`FormSpace::count`) what takes longer by count than others has
/// less support. Where rules have chosen the safe configuration (`FormSpace::ruled`) it is a
/// proposal, too. So is it where another architecture's configuration is expected to be no faster
/// here (expected_gain). Nothing where none proposes a member. No file, no clock, nothing is
/// compiled: a few milliseconds at most.
std::optional<Prediction> predict(const Families& families, const Problem& problem, const Limits& limits, const std::vector<Neighbour>& neighbours);

}  // namespace hone::inline v0_1
