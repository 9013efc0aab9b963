#pragma once

#include <string>
#include <vector>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// The devices of this machine, and the targets that have none here.
struct DeviceList {
    struct Missing {
        Target target;
        std::string reason;
    };
    std::vector<Device> devices;
    std::vector<Missing> missing;
};

DeviceList list_devices();

/// The name of a device for `make_backend`: "cpu", "cuda:0".
std::string device_id(const Device& device);

/// A list as `hone devices --json` and hone_devices of hone.h print it:
/// {"devices": [{"id", "target", "name", ...}], "missing": [{"target", "reason"}]}.
std::string to_json(const DeviceList& list);
std::string limits_json(const Limits& limits);

}  // namespace hone::inline v0_1
