#pragma once

namespace hone::inline v0_1 {

/// Time and power of one way to compute a step: everything that works on it counted, and nothing
/// else.
struct TimeAndPower {
    double seconds = 0;  ///< of one step
    double watts = 0;    ///< mean of all devices that take part

    double joules() const { return seconds * watts; }
};

/// The gains of a way to compute a step over a reference, which usually is the processor alone. For
/// a step shared by processor and GPU, with the processor alone as reference: powerup = P_cpu /
/// (P_cpu + P_gpu), speed-up = T_cpu / T_hybrid, greenup = powerup x speed-up = E_cpu / E_hybrid. A
/// powerup below 1 is the rule (two devices draw more than one) and a greenup above 1 the aim.
/// Source: the definition used with the hydrodynamics code BLAST.
struct Gains {
    double speed_up = 0;
    double powerup = 0;
    double greenup = 0;
};

/// Requires seconds and watts above 0.
inline Gains gains_over(const TimeAndPower& reference, const TimeAndPower& way) {
    const double speed_up = reference.seconds / way.seconds;
    const double powerup = reference.watts / way.watts;
    return {speed_up, powerup, speed_up * powerup};
}

}  // namespace hone::inline v0_1
