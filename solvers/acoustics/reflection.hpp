#pragma once

#include <vector>

#include "solvers/acoustics/wave_solver.hpp"
#include "solvers/output/check.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// What an absorbing layer sends back, measured.
struct Reflection {
    double angle = 0;  ///< of incidence, degrees; 0: straight onto the wall
    double part = 0;   ///< largest amplitude that came back, as a part of what a rigid wall would send back to the same place
};

/// Waves of `wavelength` cells (at the wavelet's strongest frequency) meet the layer of `settings`
/// at 0 to 60 degrees, in a homogeneous medium. The same source in a domain so large that nothing
/// comes back in time gives the waves themselves; the difference is the reflection.
///
/// The strongest reflection from any of the walls counts, at any time until the echo from the wall
/// in question has passed.
std::vector<Reflection> measure_reflection(Backend& backend, KernelLibrary& library, const WaveSettings& settings, int dimension, double wavelength);

/// What layers of the default width keep to, at wavelengths below half of it.
Check check_reflection(const std::vector<Reflection>& reflections);

}  // namespace hone::inline v0_1::solvers::seismic
