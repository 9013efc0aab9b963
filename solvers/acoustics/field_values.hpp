#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hone::inline v0_1::solvers::seismic {

/// What a field of the ground, of ice or of water is made of, and the units that files have it in.
struct Quantity {
    struct Unit {
        std::string name;
        double factor = 1;  ///< to the first unit
    };
    std::string name;    ///< "speeds"
    std::string option;  ///< of the command line that names its unit
    double lowest, highest;
    std::vector<Unit> units;  ///< the first is what the program computes with

    /// Throws Error, with the names that there are.
    const Unit& unit(const std::string& name) const;
    bool holds(double value) const { return value >= lowest && value <= highest; }
    std::vector<std::string> unit_names() const;
};
/// m/s, of compressional waves: 100 in dry sand, 13 720 at the foot of Earth's mantle. Source: A.
/// Dziewonski, D. Anderson, Preliminary reference Earth model, Phys. Earth Planet. Inter. 25, 1981.
const Quantity& sound_speeds();
/// kg/m^3: 100 for fresh snow, 13 090 in the middle of Earth (as above).
const Quantity& rock_densities();

/// Another way in which the same bytes could be meant.
struct OtherReading {
    std::string how;                             ///< "as big-endian floats"
    std::string remedy;                          ///< "give --byte-order big"
    std::function<std::vector<float>()> values;  ///< may throw Error: the bytes cannot be read so
};

/// Brings values to the quantity's first unit. Throws Error for the first that cannot be one of the
/// ground, named by `place`, with the unit or the reading in which all could be.
void make_plausible(std::vector<float>& values, const Quantity& quantity, const std::string& unit, const std::vector<OtherReading>& others,
                    const std::function<std::string(std::size_t)>& place);

}  // namespace hone::inline v0_1::solvers::seismic
