#include "solvers/maxwell/checks.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hone::inline v0_1::solvers::maxwell {

Check check_energy(const WaveRunResult& result, Precision precision) {
    const double allowed = 64 * (precision == Precision::f32 ? 0x1p-24 : 0x1p-53), growth = result.largest_growth();
    const bool good = growth <= allowed;
    return {fmt::format("energy {:.6g} at first, {:.6g} at the end, never grew by more than {:.1e} of the first{}", result.energy.front().second,
                        result.energy.back().second, allowed, good ? "" : fmt::format(", but by {:.2e}", growth)),
            good};
}

std::optional<Check> check_known_error(double error, const WaveCase& of, int cells, const WaveRunSettings& settings, const WaveRunResult& result) {
    constexpr double part_of_table = 0.5;
    if (of.precision != Precision::f64 || settings.step_part != part_of_table) return std::nullopt;
    for (const KnownError& known : known_errors)
        if (known.equation == of.equation && known.order == of.order && known.cells == cells && std::abs(known.time - result.time()) <= 1e-9)
            return Check{fmt::format("known to be {:.3e}, within 1 %", known.error), std::abs(error / known.error - 1) < 0.01};
    return std::nullopt;
}

}  // namespace hone::inline v0_1::solvers::maxwell
