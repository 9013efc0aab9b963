#include "runtime/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/processors.hpp"
#include "foundation/run_folder.hpp"
#include "foundation/topology.hpp"
#include "foundation/writable_folder.hpp"
#include "runtime/cpu/cpu_device.hpp"
#include "runtime/cpu/host_compiler.hpp"
#include "runtime/cuda/cuda_device.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/nccl.hpp"
#include "runtime/cuda/nvml.hpp"
#include "runtime/cuda/nvrtc.hpp"
#include "runtime/cuda/toolkit_headers.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/power.hpp"
#include "runtime/ranks/mpi_communicator.hpp"
#include "runtime/ranks/rank_costs.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::inline v0_1 {
namespace {

// The library and its version, and each device.
std::vector<Finding> driver_findings(const cuda::LibraryCandidates& candidates) {
    const char* purpose = "CUDA kernels run";
    int count = 0;
    const cuda::Driver driver = cuda::start_driver(candidates, count);
    if (!driver.missing.empty()) return {{"CUDA driver", false, driver.missing, driver.remedy, purpose}};
    int version = 0;
    driver.driver_get_version(&version);
    std::vector<Finding> findings{
        {"CUDA driver", true, fmt::format("{}, for CUDA {}", driver.library.path(), cuda::version_text(version)), "", purpose}};
    for (int index = 0; index < count; ++index) {
        Finding finding{fmt::format("device cuda:{}", index), true, "", "", purpose};
        try {
            const Device device = cuda::describe_device(driver, index, "");
            finding.detail = fmt::format("{}, {}, {} multiprocessors, {:.1f} GiB", device.fingerprint.name, device.fingerprint.architecture,
                                         device.fingerprint.units, static_cast<double>(device.memory_bytes) / (1 << 30));
        } catch (const Error& error) {
            finding.found = false;
            finding.detail = error.what();
            finding.remedy = "check nvidia-smi";
        }
        findings.push_back(std::move(finding));
    }
    return findings;
}

Finding nvrtc_finding(const cuda::LibraryCandidates& candidates) {
    const cuda::Nvrtc nvrtc = cuda::load_nvrtc(candidates);
    const bool found = nvrtc.missing.empty();
    std::string detail = nvrtc.missing;
    if (found)
        detail = fmt::format("{} at {}, for sm_{} to sm_{}", nvrtc.name, nvrtc.library.path(), nvrtc.architectures_of.front(),
                             nvrtc.architectures_of.back());
    return {"NVRTC", found, detail, nvrtc.remedy, "CUDA kernels are compiled, also without a GPU"};
}

Finding header_finding(const cuda::LibraryCandidates& candidates) {
    const cuda::ToolkitHeaders headers = cuda::find_toolkit_headers(cuda::load_nvrtc(candidates).library.path());
    const bool found = !headers.folders.empty();
    std::string detail = found ? fmt::format("of {} in {}", headers.name, headers.folders.front().string()) : "no folder has cuda_fp16.h";
    if (found && !headers.has_libcu) detail += ", without libcu++ (<cuda/std/...>), which cooperative_groups.h may need";
    return {"CUDA headers", found, detail, found ? "" : cuda::toolkit_headers_remedy(),
            "your CUDA kernels may include cuda_fp16.h, mma.h and others"};
}

Finding nvml_finding(const cuda::LibraryCandidates& candidates) {
    const DeviceMonitor monitor(0, candidates);
    const bool found = monitor.missing().empty();
    return {"NVML", found, found ? fmt::format("{}, driver {}", monitor.library(), monitor.driver_version()) : monitor.missing(),
            found ? "" : "install NVIDIA's driver, which brings it", "power, clocks and throttling stand beside results"};
}

Finding nccl_finding(const cuda::LibraryCandidates& candidates) {
    const cuda::Nccl nccl = cuda::load_nccl(candidates);
    const bool found = nccl.missing.empty();
    return {"NCCL", found, found ? fmt::format("{} at {}", nccl.name, nccl.library.path()) : nccl.missing, nccl.remedy,
            "HONE_MESSAGES=nccl sends messages between GPUs by it, also between hosts"};
}

Finding power_finding(Target target, const std::string& what, const std::string& remedy, const PowerPlaces& places) {
    Device device;
    device.limits.target = target;
    std::string missing;
    const auto source = find_power_source(device, missing, places);
    return {what, source.has_value(), source ? source->detail : missing, source ? "" : remedy, "energy can be tuned for and shown"};
}

void require_writable(const std::filesystem::path& folder) {
    if (const std::string reason = why_not_writable(folder); !reason.empty())
        throw Error(folder.string(), "nothing can be made in it: " + reason, "let this user write to it");
}

// What keeps kernels from being compiled here whatever the compiler is.
std::vector<Finding> folder_findings() {
    std::vector<Finding> findings;
    const auto examine = [&](const char* what, const char* remedy, const auto& use) {
        try {
            use();
        } catch (const Error& error) {
            findings.push_back({what, false, error.what(), remedy, "kernels are compiled"});
        }
    };
    examine(temporary_finding_name, "set TMPDIR to a folder that can be written to", [] {
        const RunFolder tried;
        replace_file(tried.path() / "kernel", std::string(std::size_t{1} << 20, ' '));  // as much as a large kernel takes
    });
    examine(cache_finding_name, "set HONE_CACHE to a folder of your own", [] {
        const std::filesystem::path folder = DiskCache::default_folder();
        std::error_code error;
        if (std::filesystem::exists(folder, error))
            const DiskCache there(folder);
        else
            require_writable(std::filesystem::absolute(folder));
    });
    return findings;
}

// The compiler that is taken, after those that are passed over for it. Tried now: what a cache
// remembers may have gone since.
std::vector<Finding> compiler_findings() {
    const char* const install = "install GCC 12 or newer (Debian, Ubuntu: apt install g++), or set HONE_CXX to a C++20 compiler";
    const char* const purpose = "CPU kernels are compiled; without it the plain loops run";
    const HostCompiler compiler = find_host_compiler(nullptr);
    if (compiler.path.empty()) return {{compiler_finding_name, false, compiler.missing, install, purpose}};
    std::vector<Finding> findings;
    for (const auto& passed_over : compiler.passed_over)
        findings.push_back({"C++ compiler passed over", false, passed_over, install, "it is taken before the one that was found"});
    findings.push_back(
        {compiler_finding_name, true, fmt::format("{} ({}), compiled and ran a kernel", compiler.path, compiler.version), "", purpose});
    return findings;
}

// Two ranks on threads are measured; MPI's are where a launcher has started them.
std::vector<Finding> rank_findings() {
    RankCosts costs;
    run_thread_ranks(2, [&](Communicator& ranks) {
        const RankCosts own = measure_rank_costs(ranks);
        if (ranks.rank() == 0) costs = own;
    });
    const std::string mpi = mpi_version();
    const bool found = !mpi.empty();
    return {{"ranks in threads", true, to_string(costs), "", "several devices of one process share a grid"},
            {"MPI", found, found ? mpi + "; 'mpirun -n 2 hone doctor' measures it" : "hone was built without it",
             found ? "" : "install one (Debian, Ubuntu: apt install libopenmpi-dev openmpi-bin) and build hone anew",
             "processes on one or many hosts share a grid"}};
}

std::string counted(int count, const std::string& noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string processors_text(const Processors& found) {
    const std::string bound = found.binding == "none" ? "" : ", bound by OMP_PROC_BIND: " + found.binding;
    const std::string limits = found.limits.empty() ? "" : fmt::format("; limited by: {}", fmt::join(found.limits, "; "));
    return processor_list(found.numbers) + ", " + counted(found.threads, "thread") + bound + limits;
}

std::string topology_text(const Topology& topology) {
    std::string text = fmt::format("{}, {} of {}, {}", counted(topology.sockets, "socket"), counted(topology.cores, "core"),
                                   counted(topology.threads_per_core, "thread"), counted(topology.numa_nodes, "NUMA node"));
    for (const CacheKind& cache : topology.caches) {
        if (cache.kind == "instruction") continue;
        const bool large = cache.bytes >= 1 << 20;
        text += fmt::format(", {} x L{} of {} {}", cache.count, cache.level, large ? cache.bytes >> 20 : cache.bytes >> 10, large ? "MiB" : "KiB");
    }
    return text;
}

}  // namespace

std::vector<Finding> diagnose(const cuda::LibraryCandidates& candidates) {
    std::vector<Finding> findings = driver_findings(candidates);
    findings.push_back(nvrtc_finding(candidates));
    findings.push_back(header_finding(candidates));
    findings.push_back(nvml_finding(candidates));
    findings.push_back(nccl_finding(candidates));
    PowerPlaces places;
    places.libraries = candidates;
    findings.push_back(power_finding(Target::cuda, "power of the GPU", "a GPU that NVML knows", places));
    findings.push_back(power_finding(Target::cpu, "power of the processor",
                                     "on a real machine, let this user read /sys/class/powercap/intel-rapl*/energy_uj (chmod a+r, as root)", places));
    const std::vector<Finding> folders = folder_findings();
    const bool tries = std::none_of(folders.begin(), folders.end(), [](const Finding& one) { return one.what == temporary_finding_name; });
    findings.insert(findings.end(), folders.begin(), folders.end());
    if (tries)
        for (auto& finding : compiler_findings()) findings.push_back(std::move(finding));
    const Device cpu = cpu_device("");
    findings.push_back({"processor", true,
                        fmt::format("{}, {}, {} OpenMP threads, {:.1f} GiB", cpu.fingerprint.name, cpu.fingerprint.architecture,
                                    cpu.fingerprint.units, static_cast<double>(cpu.memory_bytes) / (1 << 30)),
                        "", "CPU kernels run"});
    findings.push_back({"processors", true, processors_text(processors()), "", "CPU kernels, compilers and plain loops run on them"});
    for (auto& finding : rank_findings()) findings.push_back(std::move(finding));
    findings.push_back({"topology", true, topology_text(topology_of(processors().numbers)), "", "threads and memory lie near each other"});
    return findings;
}

}  // namespace hone::inline v0_1
