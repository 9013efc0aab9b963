#include "tuner/system_load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "foundation/cgroup.hpp"
#include "foundation/number_text.hpp"
#include "foundation/processors.hpp"
#include "foundation/text.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

std::optional<double> first_number(const fs::path& path) {
    double number = 0;
    if (std::ifstream(path) >> number) return number;
    return std::nullopt;
}

// Of "cpu  user nice system idle iowait irq softirq steal guest guest_nice": guests' time is in user's already.
void read_ticks(const fs::path& path, LoadReading& reading) {
    constexpr std::size_t idle = 3, waiting = 4, steal = 7;
    std::ifstream file(path);
    std::string name;
    file >> name;
    std::vector<double> ticks;
    for (double number = 0; ticks.size() <= steal && file >> number;) ticks.push_back(number);
    if (name != "cpu" || ticks.size() <= steal) return;
    double all = 0;
    for (const double number : ticks) all += number;
    reading.processor_ticks = all;
    reading.idle_ticks = ticks[idle] + ticks[waiting];
    reading.stolen_ticks = ticks[steal];
    file.clear();
    for (std::string line; std::getline(file, line);)
        if (line.rfind("cpu", 0) == 0) ++reading.processors;
}

// Of "some avg10=0.00 avg60=0.00 avg300=0.00 total=57447228", microseconds.
std::optional<double> waiting_seconds(const fs::path& path) {
    std::ifstream file(path);
    const std::string total = "total=";
    for (std::string word; file >> word;)
        if (word.rfind(total, 0) == 0) return number_at_head(word.substr(total.size())).value_or(0) * 1e-6;
    return std::nullopt;
}

// Of lines "throttled_usec 123" (version 2) or "throttled_time 123" (version 1, nanoseconds).
std::optional<double> throttled_seconds(const fs::path& path) {
    std::ifstream file(path);
    std::string name;
    for (double number = 0; file >> name >> number;) {
        if (name == "throttled_usec") return number * 1e-6;
        if (name == "throttled_time") return number * 1e-9;
    }
    return std::nullopt;
}

// The innermost control group that says so, or what is mounted where this process is told of none.
std::optional<double> throttled(const fs::path& root) {
    std::vector<fs::path> groups = cgroup_folders(root);
    groups.insert(groups.begin(), {root / "sys/fs/cgroup/cpu", root / "sys/fs/cgroup"});
    for (auto group = groups.rbegin(); group != groups.rend(); ++group)
        if (const auto seconds = throttled_seconds(*group / "cpu.stat")) return seconds;
    return std::nullopt;
}

// Whether what used the processors between two readings had room on `ours`, and another was idle.
bool others_idle(const LoadReading& before, const LoadReading& after, double ticks, int ours) {
    if (!before.idle_ticks || !after.idle_ticks || ticks <= 0) return false;
    const double idle = after.processors * (*after.idle_ticks - *before.idle_ticks) / ticks;
    return idle > 1 && after.processors - idle < ours + 1;
}

// How much of `whole` a counter grew by.
double share(const std::optional<double>& before, const std::optional<double>& after, double whole) {
    return before && after && whole > 0 ? (*after - *before) / whole : 0;
}

}  // namespace

LoadReading SystemLoad::read() const {
    LoadReading reading;
    reading.at = std::chrono::steady_clock::now();
    reading.load = first_number(root_ / "proc/loadavg");
    read_ticks(root_ / "proc/stat", reading);
    reading.waiting_seconds = waiting_seconds(root_ / "proc/pressure/cpu");
    reading.throttled_seconds = throttled(root_);
    return reading;
}

std::string SystemLoad::busy(const LoadReading& before, const LoadReading& after, int processors) {
    // A run keeps a compiler and a measuring thread on each processor busy, which the load of its
    // last minute has; and the process that watches wakes up many times a second while they are all
    // taken.
    constexpr double own_threads = 2;
    constexpr double most_stolen = 0.02;
    constexpr double most_waiting = 0.1;
    constexpr double most_throttled = 0.01;
    const double seconds = std::chrono::duration<double>(after.at - before.at).count();
    const double ticks = after.processor_ticks.value_or(0) - before.processor_ticks.value_or(0);
    std::vector<std::string> signs;
    if (after.load.value_or(0) > own_threads * processors + 1 && !others_idle(before, after, ticks, processors))
        signs.push_back(fmt::format("the load was {:.1f} on {} processors", *after.load, processors));
    if (const double part = share(before.stolen_ticks, after.stolen_ticks, ticks); part > most_stolen)
        signs.push_back(text::percent(part) + " of the processors' time was stolen");
    if (const double part = share(before.waiting_seconds, after.waiting_seconds, seconds); part > most_waiting)
        signs.push_back("something waited for a processor " + text::percent(std::min(part, 1.0)) + " of the time");
    if (const double part = share(before.throttled_seconds, after.throttled_seconds, seconds); part > most_throttled)
        signs.push_back(fmt::format("the control group was throttled for {:.2g} s of {:.2g} s", part * seconds, seconds));
    return fmt::format("{}", fmt::join(signs, ", "));
}

std::string SystemLoad::busy_beside(const Device& device, const LoadReading& before, const LoadReading& after) {
    return traits_of(device.limits.target).shares_processors ? busy(before, after, processors().usable) : "";
}

}  // namespace hone::inline v0_1
