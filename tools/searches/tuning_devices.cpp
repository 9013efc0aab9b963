#include "tools/searches/tuning_devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/processors.hpp"
#include "foundation/topology.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/target.hpp"
#include "tools/records/record_table.hpp"

namespace hone::tools {
namespace {

std::vector<std::string> names_of(const std::string& list) {
    std::vector<std::string> names;
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
        end = list.find(',', begin);
        names.push_back(list.substr(begin, end == std::string::npos ? end : end - begin));
    }
    return names;
}

std::vector<Device> all_gpus() {
    std::string missing;
    for (const auto& entry : backends())
        if (entry.target == Target::cuda)
            if (auto devices = entry.devices(missing); !devices.empty()) return devices;
    throw MissingError("--devices cuda:all", missing, "see 'hone doctor', or use --devices cpu");
}

TuningDevices gpus(const std::vector<Device>& devices) {
    TuningDevices found{devices.front(), {}, {}};
    for (const Device& device : devices) {
        if (device.fingerprint != devices.front().fingerprint)
            throw Error("--devices",
                        fmt::format("{} is {}, {} is {}", device_id(devices.front()), device_line(devices.front().fingerprint), device_id(device),
                                    device_line(device.fingerprint)),
                        "tune one kind of device in one run");
        const auto same = [&](const WorkerPlace& place) { return place.index == device.index; };
        if (std::any_of(found.places.begin(), found.places.end(), same))
            throw Error("--devices", device_id(device) + " appears twice", "name each GPU once: two candidates on one would disturb each other");
        found.places.push_back({.name = device_id(device), .index = device.index});
    }
    return found;
}

TuningDevices parts_of_cpu(int parts) {
    TuningDevices found{find_device("cpu"), {}, {}};
    const Processors& own = processors();
    if (own.threads < parts)
        throw Error("--devices", fmt::format("{} parts of a CPU with {} threads", parts, own.threads),
                    "name cpu once for each part, as many as threads at most");
    const std::vector<std::vector<int>> shares = shares_of(own.numbers, parts);
    const int threads = own.threads / parts;
    found.device.fingerprint.units = threads;
    found.device.limits.multiprocessors = threads;
    for (const std::vector<int>& share : shares)
        found.places.push_back({.name = "processors " + processor_list(share), .index = 0, .processors = share});
    found.team = Team{processor_list(shares.front()), own.binding};
    return found;
}

}  // namespace

TuningDevices find_tuning_devices(const std::string& list) {
    if (list == "cuda:all" || list == "gpu:all") return gpus(all_gpus());
    std::vector<Device> devices;
    for (const std::string& name : names_of(list)) devices.push_back(find_device(name));
    const auto is_cpu = [](const Device& device) { return traits_of(device.fingerprint.target).shares_processors; };
    const auto cpus = std::count_if(devices.begin(), devices.end(), is_cpu);
    if (devices.size() == 1) return {devices.front(), {}, {}};
    if (cpus == 0) return gpus(devices);
    if (cpus < std::ssize(devices)) throw Error("--devices", list + " has CPUs and GPUs", "tune one kind of device in one run");
    return parts_of_cpu(static_cast<int>(cpus));
}

}  // namespace hone::tools
