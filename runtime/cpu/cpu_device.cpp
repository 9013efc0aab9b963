#include "runtime/cpu/cpu_device.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "foundation/host_memory.hpp"
#include "foundation/topology.hpp"

namespace hone::inline v0_1 {
namespace {

std::string read_text(const char* path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The first line `name : value`.
std::string field(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == name) return std::string(trimmed(line.substr(colon + 1)));
    }
    return {};
}

bool has_flag(const std::string& flags, const std::string& flag) {
    return (" " + flags + " ").find(" " + flag + " ") != std::string::npos;
}

// Of x86: what names such as "AMD EPYC" and "Intel(R) Xeon(R) Processor", which virtual machines
// have, do not tell.
std::string x86_microarchitecture(std::string_view text) {
    const std::string vendor = field(text, "vendor_id"), family = field(text, "cpu family"), model = field(text, "model");
    if (vendor.empty() || family.empty() || model.empty()) return {};
    const std::string name = vendor == "AuthenticAMD" ? "amd" : vendor == "GenuineIntel" ? "intel" : vendor;
    return fmt::format("{}-{}-{}", name, family, model);
}

}  // namespace

CpuInfo parse_cpuinfo(std::string_view text) {
    CpuInfo info;
    info.name = field(text, "model name");
    info.flags = field(text, "flags");
    if (!info.flags.empty()) {
        const bool avx512 = has_flag(info.flags, "avx512f") && has_flag(info.flags, "avx512vl");
        const bool avx2 = has_flag(info.flags, "avx2");
        info.instruction_set = avx512 ? "x86-64-avx512" : avx2 ? "x86-64-avx2" : "x86-64-sse2";
        info.vector_bytes = avx512 ? 64 : avx2 ? 32 : 16;
        info.microarchitecture = x86_microarchitecture(text);
    } else if (info.flags = field(text, "Features"); !info.flags.empty()) {
        info.instruction_set = has_flag(info.flags, "sve") ? "aarch64-sve" : "aarch64-neon";
        if (info.name.empty()) info.name = fmt::format("Arm {} part {}", field(text, "CPU implementer"), field(text, "CPU part"));
    }
    if (info.name.empty()) info.name = "unknown processor";
    if (info.instruction_set.empty()) info.instruction_set = "unknown";
    return info;
}

int count_processors(std::string_view list) {
    int count = 0;
    while (!list.empty()) {
        const std::string_view item = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), item.size() + 1));
        int first = 0;
        const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), first);
        if (error != std::errc()) return 1;
        int last = first;
        if (end != item.data() + item.size() && *end == '-') std::from_chars(end + 1, item.data() + item.size(), last);
        count += std::max(last - first + 1, 0);
    }
    return std::max(count, 1);
}

CpuInfo read_cpuinfo() {
    return parse_cpuinfo(read_text("/proc/cpuinfo"));
}

Device cpu_device(const std::string& compiler) {
    const CpuInfo info = read_cpuinfo();
    // Kernels use OpenMP's team of the thread that launches them: what the application,
    // OMP_NUM_THREADS and OMP_THREAD_LIMIT leave.
    const int threads = std::min(omp_get_max_threads(), omp_get_thread_limit());
    Device device;
    device.fingerprint.target = Target::cpu;
    device.fingerprint.name = info.name;
    device.fingerprint.architecture = info.instruction_set;
    device.fingerprint.units = threads;
    device.fingerprint.compiler = compiler;
    device.limits = cpu_limits();
    device.limits.multiprocessors = threads;
    device.limits.threads_per_core = count_processors(read_text("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"));
    device.limits.vector_bytes = info.vector_bytes;
    if (const std::int64_t bytes = cache_bytes(read_text("/sys/devices/system/cpu/cpu0/cache/index2/size")); bytes > 0)
        device.limits.cache_bytes = static_cast<int>(bytes);
    // The second cache belongs to it. Not the third: a virtual machine is shown any part of one.
    if (!info.microarchitecture.empty())
        device.fingerprint.architecture += fmt::format(" {}-{}k", info.microarchitecture, device.limits.cache_bytes >> 10);
    device.memory_bytes = usable_memory();
    return device;
}

}  // namespace hone::inline v0_1
