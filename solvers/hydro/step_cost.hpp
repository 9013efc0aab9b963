#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/power.hpp"
#include "solvers/hydro/kernel_operator.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// What time steps cost on the devices that take them.
struct StepCost {
    Statistics step;                                 ///< seconds of an accepted time step, with those repeated on the way to it
    std::vector<std::optional<PowerSummary>> power;  ///< by device; nothing where it has no meter, or that said too little
    double norm = 0;                                 ///< of the energies after the timed steps: the same whatever device took them
    double iterations = 0;                           ///< of conjugate gradients, per solve
    std::optional<Balance> balance;                  ///< of two devices

    /// Of all devices; nothing where that of one is not known.
    std::optional<double> watts() const;
};

struct StepCostSettings {
    int warm_up = 5;             ///< time steps before those that are timed
    int steps = 20;              ///< that are timed
    int most_balancing = 400;    ///< time steps that two devices may take to find their shares before that
    double power_seconds = 1.5;  ///< under the meters, after the timed ones, beyond what meters remember from before
};

/// Times the first steps of a problem: with the same settings those of every operator are the same
/// steps. Two devices balance first, and then begin at the first state too. `meters`: of every
/// device whose power counts; nothing for one that has none.
StepCost cost_of_steps(KernelOperator& on, const Discretisation& of, TimeScheme scheme, std::span<const std::optional<PowerSource>> meters,
                       const StepCostSettings& settings);

/// Zones per second of this device, by a few time steps of the problem on a small box of its own.
double measured_speed(const HydroProblem& problem, int order, TimeScheme scheme, const KernelOperator::Settings& settings, Backend& backend,
                      KernelLibrary& library);

}  // namespace hone::inline v0_1::solvers::hydro
