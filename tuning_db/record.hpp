#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/config.hpp"
#include "generator/kernel_source.hpp"
#include "generator/problem.hpp"
#include "tuning_db/device.hpp"

namespace hone {

/// Robust summary of the seconds of one time step over a sampling period.
struct Statistics {
    double median = 0;
    double low = 0;   ///< lower bound of the 95 % confidence interval of the median
    double high = 0;  ///< upper bound
    double minimum = 0;
    int samples = 0;

    bool operator==(const Statistics&) const = default;
};

/// Versions that a result depends on, beside the device's.
struct Versions {
    std::string hone;         ///< version of the project
    std::string source_hash;  ///< SHA-256 of the emitted source

    bool operator==(const Versions&) const = default;
};

/// One measured and verified fact: this configuration computes this problem on this device at this cost.
struct Record {
    Problem problem;
    Config config;
    DeviceFingerprint device;
    Statistics step;                ///< seconds of one time step
    Counts counts;                  ///< of one time step
    double verification_error = 0;  ///< largest |computed - reference|
    double tolerance = 0;           ///< what was allowed
    double safe_seconds = 0;        ///< median step of the untuned safe configuration in the same run; 0: not measured
    double ceiling_fraction = 0;    ///< achieved part of the device's measured ceiling for this problem; 0: not measured
    std::string ceiling;            ///< which ceiling binds: "memory" or "arithmetic"
    std::string strategy;           ///< how it was found
    int evaluations = 0;            ///< candidates evaluated
    std::string date;               ///< ISO 8601, UTC
    Versions versions;

    /// Achieved rates from counted work: GB/s, GFLOP/s, 1e9 updates/s.
    double gigabytes_per_second() const { return counts.bytes / step.median * 1e-9; }
    double gigaflops() const { return counts.operations / step.median * 1e-9; }
    double gigaupdates_per_second() const { return counts.updates / step.median * 1e-9; }
};

}  // namespace hone
