#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/limits.hpp"
#include "tuning_db/device.hpp"

namespace hone::inline v0_1 {

/// What a device can do at most, by its data sheet: enough to say what limits a kernel there.
struct DeviceRates {
    double bytes_per_second = 0;  ///< of its memory
    double f32_per_second = 0;    ///< operations, without matrix units
    double f64_per_second = 0;
};

/// A device model that need not be here, nor in any record.
struct DeviceModel {
    std::string word;  ///< short name: "A100", "RTX 4090"
    DeviceFingerprint device;
    Limits limits;
    DeviceRates rates;
};

/// The GPU models that are described here, older architectures first.
const std::vector<DeviceModel>& device_models();

/// The model of a name ("NVIDIA A100-SXM4-80GB"), a key (`device_key`) or a short name ("A100",
/// "rtx_4090"), whatever its letters' case; nullptr where none is described.
const DeviceModel* find_model(const std::string& name);

/// What a device allows, as far as its fingerprint tells: of a described model, else of its
/// architecture; of a processor its vectors, L2 cache and threads.
Limits limits_of(const DeviceFingerprint& device);

/// The rates of a GPU: of a described model, else those of the nearest one of its architecture, in
/// proportion to its multiprocessors. Nothing for a processor, whose memory no name tells.
std::optional<DeviceRates> rates_of(const DeviceFingerprint& device);

}  // namespace hone::inline v0_1
