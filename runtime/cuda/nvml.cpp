#include "runtime/cuda/nvml.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/nvml_functions.hpp"

namespace hone::inline v0_1 {
namespace {

using cuda::nvml_success;

constexpr double watts_per_milliwatt = 1e-3;

struct ThrottleReason {
    unsigned long long bit;
    const char* name;
};

// nvmlClocksThrottleReasons*. Bit 0, idle, says nothing of a device that works.
constexpr std::array throttle_reasons{
    ThrottleReason{0x002, "application clocks setting"}, ThrottleReason{0x004, "software power cap"},
    ThrottleReason{0x008, "hardware slowdown"},          ThrottleReason{0x010, "synchronised boost"},
    ThrottleReason{0x020, "software thermal slowdown"},  ThrottleReason{0x040, "hardware thermal slowdown"},
    ThrottleReason{0x080, "hardware power brake"},       ThrottleReason{0x100, "display clock setting"},
};

}  // namespace

struct DeviceMonitor::State : cuda::Nvml {
    cuda::SharedLibrary library;
    std::string missing;
    bool initialised = false;
    cuda::NvmlDevice* device = nullptr;
    std::string place;

    void load(const std::vector<std::string>& candidates);
    void open(int index, const cuda::LibraryCandidates& candidates);
    ~State() {
        if (initialised) shut_down();
    }
};

void DeviceMonitor::State::load(const std::vector<std::string>& candidates) {
    library = cuda::SharedLibrary(candidates);
    if (!library) {
        missing = fmt::format("no NVML ({}); it comes with NVIDIA's driver", library.reason());
        return;
    }
    const auto bind = [&](const char* symbol, auto*& function) {
        if (!library.bind(symbol, function) && missing.empty()) missing = fmt::format("NVML {} has no {}", library.path(), symbol);
    };
#define HONE_BIND(member, symbol, result, parameters) bind(#symbol, member);
    HONE_NVML_FUNCTIONS(HONE_BIND)
#undef HONE_BIND
    if (!missing.empty()) return;
#define HONE_BIND(member, symbol, result, parameters) library.bind(#symbol, member);
    HONE_NVML_FURTHER_FUNCTIONS(HONE_BIND)
#undef HONE_BIND
    const int result = init();
    initialised = result == nvml_success;
    if (!initialised) missing = fmt::format("NVML does not start: {}", error_string(result));
}

void DeviceMonitor::State::open(int index, const cuda::LibraryCandidates& candidates) {
    int count = 0;
    const cuda::Driver driver = cuda::start_driver(candidates, count);
    int handle = 0;
    std::array<char, 32> id{};
    if (!driver.missing.empty())
        missing = driver.missing;
    else if (driver.device_get(&handle, index) != cuda::success ||
             driver.device_get_pci_bus_id(id.data(), static_cast<int>(id.size()), handle) != cuda::success)
        missing = fmt::format("there is no device cuda:{}", index);
    else if (const int result = device_by_pci_bus_id(id.data(), &device); result != nvml_success)
        missing = fmt::format("NVML does not know the device at {}: {}", id.data(), error_string(result));
    else
        place = id.data();
}

DeviceMonitor::DeviceMonitor(int index, const cuda::LibraryCandidates& candidates) : state_(std::make_unique<State>()) {
    state_->load(candidates.nvml);
    if (state_->missing.empty()) state_->open(index, candidates);
}
DeviceMonitor::~DeviceMonitor() = default;
DeviceMonitor::DeviceMonitor(DeviceMonitor&&) noexcept = default;
DeviceMonitor& DeviceMonitor::operator=(DeviceMonitor&&) noexcept = default;

const std::string& DeviceMonitor::missing() const {
    return state_->missing;
}

const std::string& DeviceMonitor::library() const {
    return state_->library.path();
}

std::string DeviceMonitor::driver_version() const {
    std::array<char, 96> version{};
    if (!state_->initialised || state_->driver_version(version.data(), static_cast<unsigned>(version.size())) != nvml_success) return {};
    return version.data();
}

DeviceReading DeviceMonitor::read() const {
    DeviceReading reading;
    if (!state_->missing.empty()) return reading;
    const State& nvml = *state_;
    unsigned int value = 0;
    if (nvml.power(nvml.device, &value) == nvml_success) reading.power_watts = value * watts_per_milliwatt;
    if (nvml.clock(nvml.device, cuda::nvml_clock_sm, &value) == nvml_success) reading.sm_megahertz = value;
    if (nvml.clock(nvml.device, cuda::nvml_clock_memory, &value) == nvml_success) reading.memory_megahertz = value;
    if (nvml.temperature(nvml.device, cuda::nvml_temperature_gpu, &value) == nvml_success) reading.temperature_celsius = value;
    unsigned long long reasons = 0;
    if (nvml.throttle_reasons(nvml.device, &reasons) == nvml_success)
        for (const auto& reason : throttle_reasons)
            if ((reasons & reason.bit) != 0) reading.throttle_reasons.emplace_back(reason.name);
    return reading;
}

const std::string& DeviceMonitor::place() const {
    return state_->place;
}

std::string DeviceMonitor::link_to(const std::string& place) const {
    const State& nvml = *state_;
    cuda::NvmlDevice* other = nullptr;
    int status = 0;
    if (!nvml.missing.empty() || nvml.peer_status == nullptr || nvml.link_state == nullptr ||
        nvml.device_by_pci_bus_id(place.c_str(), &other) != nvml_success ||
        nvml.peer_status(nvml.device, other, cuda::nvml_peers_by_nvlink, &status) != nvml_success)
        return {};
    if (status != 0) return "PCIe";
    int links = 0;
    for (unsigned int link = 0; link < cuda::nvml_most_links; ++link) {
        int is_active = 0;
        if (nvml.link_state(nvml.device, link, &is_active) == nvml_success && is_active != 0) ++links;
    }
    return fmt::format("NVLink, {} link{}", links, links == 1 ? "" : "s");
}

std::optional<int> DeviceMonitor::clients() const {
    if (!state_->missing.empty() || state_->mps_processes == nullptr) return std::nullopt;
    std::array<cuda::NvmlProcess, 64> processes;
    unsigned int count = processes.size();
    const int result = state_->mps_processes(state_->device, &count, processes.data());
    if (result != nvml_success && result != cuda::nvml_insufficient_size) return std::nullopt;
    return static_cast<int>(count);
}

std::optional<double> DeviceMonitor::total_joules() const {
    constexpr double joules_per_millijoule = 1e-3;
    unsigned long long millijoules = 0;
    if (!state_->missing.empty() || state_->total_energy == nullptr || state_->total_energy(state_->device, &millijoules) != nvml_success)
        return std::nullopt;
    return static_cast<double>(millijoules) * joules_per_millijoule;
}

std::optional<double> DeviceMonitor::instant_watts() const {
    constexpr int unsigned_number = 1;
    cuda::NvmlFieldValue value;
    value.field = cuda::nvml_field_power_instant;
    if (!state_->missing.empty() || state_->field_values == nullptr || state_->field_values(state_->device, 1, &value) != nvml_success ||
        value.result != nvml_success || value.type != unsigned_number)
        return std::nullopt;
    return value.value.number * watts_per_milliwatt;
}

}  // namespace hone::inline v0_1
