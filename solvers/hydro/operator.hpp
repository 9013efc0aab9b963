#pragma once

#include "solvers/hydro/discretisation.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// A part of a state or of its rate of change.
enum class Part { positions, velocities, energies };

/// The equations of motion, on whatever machine. It keeps a few states, called by slot numbers, and
/// the stress of the one that was looked at last:
///
///     M dv/dt = -F 1,  M_e de/dt = F' v (+ source),  dx/dt = v
///
/// Time steppers are written with this alone (stepper.hpp).
class Operator {
  public:
    static constexpr int slots = 4;
    struct Field {
        int slot;
        Part part;
    };

    virtual ~Operator() = default;

    virtual void set(int slot, const State& state) = 0;
    virtual State get(int slot) = 0;

    /// target = base + factor * rate. Fields may be the same.
    virtual void combine(Field target, Field base, double factor, Field rate) = 0;

    /// Velocities of `rate` become those that the state in `slot` changes with. The stress of that
    /// state is found first, unless it is kept.
    virtual void accelerate(int slot, int rate) = 0;
    /// Energies of `rate` become those that the state in `slot` changes with when its gas moves
    /// with the velocities of `moving`. After `accelerate`.
    virtual void heat(int slot, int moving, int rate) = 0;

    /// The stress that is kept belongs to a state that is no more.
    virtual void forget_stress() = 0;
    /// Finds the stress of the state in `slot` and keeps it. Result: the longest stable time step
    /// of all states whose stress was found since `restart_estimate`; 0 when one was tangled.
    virtual double estimate(int slot) = 0;
    virtual void restart_estimate() = 0;
};

}  // namespace hone::inline v0_1::solvers::hydro
