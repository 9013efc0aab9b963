#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace hone::test {

/// One cuLaunchKernel that the fake driver saw.
struct FakeLaunch {
    std::string entry;
    std::array<unsigned, 3> grid{};
    std::array<unsigned, 3> block{};
    unsigned shared_bytes = 0;
    void* stream = nullptr;
};

/// What the fake driver is told to be and what it saw: one per process, reached through the symbol
/// `fake_driver_state` of the loaded library.
///
/// The fake is strict where the driver is: calls need a current context, copies must lie inside one
/// allocation, blocks and shared memory have limits. "Device memory" is host memory that knows its
/// size. Launches on a stream that is recorded wait for the graph's. Entry points exist by name:
/// `add_one` (float* a, int first, int last), `largest_difference_f32`, `_f64`, `_i32`, `checksum`,
/// `pack` and `unpack` (of GatherExchange, words of 8 bytes), `fault` (an illegal access that shows
/// when the device is waited for), and any other, which does nothing; names that begin with
/// `absent` are not there, those that begin with `static_` have 16 KiB of static shared memory.
struct FakeDriverState {
    int devices = 1;
    std::size_t memory_bytes = std::size_t{64} << 20;
    std::size_t pinned_bytes = std::size_t{64} << 20;  ///< of the host
    bool mps = false;                                  ///< the multi-process service runs
    bool peers = true;                                 ///< devices may reach each other's memory
    bool shares_memory = false;                        ///< other processes can open device memory that is allocated from now on
    std::map<std::string, int> failures;               ///< symbol to the code that it returns instead of working

    int contexts = 0;  ///< times the primary context was retained and not released
    unsigned context_flags = 0;
    int pushes = 0;  ///< contexts pushed and not popped, over all threads
    int total_pushes = 0;
    int modules = 0;  ///< loaded and not unloaded
    int streams = 0;  ///< made and not destroyed
    int events = 0;   ///< made and not destroyed
    int graphs = 0;   ///< graphs and executables, made and not destroyed
    int total_events = 0;
    int fault = 0;              ///< pending or reported: from then on every call that waits returns it
    double launch_seconds = 1;  ///< of each launch on a device that is warm
    double cold = 1;            ///< the first launch takes so many times as long, and each following a twentieth of a launch less
    double device_clock = 0;    ///< seconds of the launches so far
    std::map<void*, std::size_t> device_memory;
    std::map<void*, std::size_t> pinned_memory;
    std::map<void*, std::size_t> opened_memory;  ///< of other processes
    std::vector<FakeLaunch> launches;
    std::vector<std::string> attributes_set;  ///< "entry=bytes"
    std::vector<std::string> calls;           ///< every symbol called, in order
};

/// What the fake management library tells, reached through its symbol `fake_nvml_state`. It says
/// 512.5 W on the mean and 600.25 W at the moment.
struct FakeNvmlState {
    bool counts_energy = true;
    bool tells_instant = true;
    bool tells_power = true;
    unsigned long long millijoules = 5'000'000;
    int clients = 1;            ///< of the multi-process service; -1: it does not tell
    bool knows_second = false;  ///< the fake driver's second device, too
    int links = 0;              ///< of NVLink between the two; 0: they are peers by PCIe
};

using FakeNvmlStateFunction = FakeNvmlState& (*)();
using FakeDriverStateFunction = FakeDriverState& (*)();

}  // namespace hone::test
