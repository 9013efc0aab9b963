#include "solvers/acoustics/field_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "foundation/value.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

bool all_plausible(std::span<const float> values, const Quantity& quantity, double factor) {
    return !values.empty() && std::all_of(values.begin(), values.end(), [&](float value) { return quantity.holds(value * factor); });
}

std::string range(std::span<const float> values, const Quantity& quantity, double factor) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format("{:.5g} to {:.5g} {}", *low * factor, *high * factor, quantity.units.front().name);
}

// The unit and the reading in which all values could be of the ground, as a remedy; "" if there is
// none.
std::string better_reading(std::span<const float> values, const Quantity& quantity, const Quantity::Unit& unit,
                           const std::vector<OtherReading>& others) {
    for (const auto& other : quantity.units)
        if (all_plausible(values, quantity, other.factor))
            return fmt::format("in {} they are {}: give {} {}", other.name, range(values, quantity, other.factor), quantity.option, other.name);
    for (const OtherReading& other : others) {
        std::vector<float> read;
        try {
            read = other.values();
        } catch (const Error&) {
            continue;
        }
        if (all_plausible(read, quantity, unit.factor))
            return fmt::format("read {} they are {}: {}", other.how, range(read, quantity, unit.factor), other.remedy);
        for (const auto& in : quantity.units)
            if (all_plausible(read, quantity, in.factor))
                return fmt::format("read {}, in {}, they are {}: {}, and {} {}", other.how, in.name, range(read, quantity, in.factor), other.remedy,
                                   quantity.option, in.name);
    }
    return "";
}

}  // namespace

const Quantity::Unit& Quantity::unit(const std::string& wanted) const {
    for (const Unit& unit : units)
        if (unit.name == wanted) return unit;
    throw Error("unit of " + name, fmt::format("\"{}\"", wanted), fmt::format("use {}", fmt::join(unit_names(), ", ")));
}

std::vector<std::string> Quantity::unit_names() const {
    std::vector<std::string> names;
    for (const Unit& unit : units) names.push_back(unit.name);
    return names;
}

const Quantity& sound_speeds() {
    static const Quantity speeds{"speeds", "--speed-unit", 100, 14000, {{"m/s", 1}, {"km/s", 1000}, {"ft/s", 0.3048}}};
    return speeds;
}

const Quantity& rock_densities() {
    static const Quantity densities{"densities", "--density-unit", 100, 14000, {{"kg/m^3", 1}, {"g/cm^3", 1000}}};
    return densities;
}

void make_plausible(std::vector<float>& values, const Quantity& quantity, const std::string& unit_name, const std::vector<OtherReading>& others,
                    const std::function<std::string(std::size_t)>& place) {
    const Quantity::Unit& unit = quantity.unit(unit_name);
    const auto wrong = [&](float value) { return !quantity.holds(value * unit.factor); };
    const auto first = std::find_if(values.begin(), values.end(), wrong);
    if (first != values.end()) {
        const auto count = std::count_if(first, values.end(), wrong);
        std::string remedy = better_reading(values, quantity, unit, others);
        if (remedy.empty()) remedy = "correct the file";
        throw Error(place(static_cast<std::size_t>(first - values.begin())), fmt::format("{} {}", *first, unit.name),
                    fmt::format("{} of ground and water are {} to {} {}, and {} of {} values are not; {}", quantity.name, quantity.lowest,
                                quantity.highest, quantity.units.front().name, count, values.size(), remedy));
    }
    if (unit.factor != 1)
        for (float& value : values) value = static_cast<float>(value * unit.factor);
}

}  // namespace hone::inline v0_1::solvers::seismic
