#include "runtime/doctor.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/processors.hpp"
#include "foundation/topology.hpp"
#include "runtime/ranks/device_costs.hpp"
#include "runtime/ranks/device_of_rank.hpp"
#include "runtime/ranks/link_name.hpp"
#include "runtime/ranks/mpi_communicator.hpp"
#include "runtime/ranks/rank_costs.hpp"
#include "runtime/ranks/rank_place.hpp"
#include "runtime/ranks/run_ranks.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/target.hpp"
#include "tuning_db/places.hpp"

namespace hone::tools {
namespace doctor {

struct Settings {
    bool json = false;
};

// The names that --device takes here and for which kernels can be compiled now.
std::vector<std::string> usable_devices(const std::vector<Finding>& findings) {
    const auto any = [&](auto is) { return std::any_of(findings.begin(), findings.end(), is); };
    const bool compiles = any([](const Finding& finding) { return finding.what == compiler_finding_name && finding.found; });
    std::vector<std::string> ids;
    if (any([](const Finding& finding) { return finding.what == temporary_finding_name || finding.what == cache_finding_name; })) return ids;
    for (const auto& entry : backends()) {
        std::string missing;
        if (traits_of(entry.target).shares_processors && !compiles) continue;
        for (const auto& device : entry.devices(missing)) ids.push_back(device_id(device));
    }
    return ids;
}

// The folders that look-ups read, in their order, with what they hold.
Json examined_places() {
    Json rows = Json::array();
    for (const Place& place : record_places()) {
        Json row{{"name", place.name}, {"folder", place.folder.string()}, {"written", rows.empty() && !place.shipped}};
        std::error_code status;
        row["found"] = std::filesystem::is_directory(place.folder, status);
        try {
            row["records"] = Database::load(place.folder, known_families()).records().size();
        } catch (const Error& error) {
            row["error"] = error.what();
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

// A line of each, and where compiled code is kept.
std::vector<std::pair<std::string, std::string>> folders() {
    std::vector<std::pair<std::string, std::string>> lines;
    for (const Json& place : examined_places()) {
        std::string state = "not there yet";
        if (place["found"] == true && place.contains("records")) {
            const auto records = place["records"].get<std::size_t>();
            state = fmt::format("{} record{}", records, records == 1 ? "" : "s");
        }
        if (place.contains("error")) state = "cannot be read: " + place["error"].get<std::string>();
        lines.emplace_back(lines.empty() ? "tuned results" : "",
                           fmt::format("{} ({}): {}{}", place["folder"].get<std::string>(), place["name"].get<std::string>(), state,
                                       place["written"] == true ? ", written to" : ""));
    }
    lines.emplace_back("compiled kernels", DiskCache::default_folder().string());
    return lines;
}

Json document_of(const Processors& found) {
    const Topology topology = topology_of(found.numbers);
    Json caches = Json::array();
    for (const CacheKind& cache : topology.caches)
        caches.push_back({{"level", cache.level}, {"kind", cache.kind}, {"bytes", cache.bytes}, {"count", cache.count}});
    return {{"numbers", found.numbers},          {"usable", found.usable},
            {"threads", found.threads},          {"binding", found.binding},
            {"limited_by", found.limits},        {"sockets", topology.sockets},
            {"cores", topology.cores},           {"threads_per_core", topology.threads_per_core},
            {"numa_nodes", topology.numa_nodes}, {"caches", std::move(caches)}};
}

void print_text(const std::vector<Finding>& findings, const std::vector<std::string>& devices, Console& console) {
    std::vector<std::pair<std::string, std::string>> found;
    std::vector<std::pair<std::string, std::string>> missing;
    for (const auto& finding : findings) {
        if (finding.found)
            found.emplace_back(finding.what, finding.detail);
        else
            missing.emplace_back(finding.what, fmt::format("{}. Remedy: {}. Then {}.", finding.detail, finding.remedy, finding.purpose));
    }
    console.print("found:\n{}", definition_list(found, console.out_width()));
    if (!missing.empty()) console.print("\nmissing:\n{}", definition_list(missing, console.out_width()));
    console.print("\nfolders:\n{}", definition_list(folders(), console.out_width()));
    if (devices.empty())
        console.print("\nnot ready: there is no device that kernels can be compiled for; see above what is missing\n");
    else
        console.print("\nready: 'hone tune --device {}' tunes on the best device; usable are {}\n", devices.front(), fmt::join(devices, ", "));
}

Finding finding_of_messages(const std::string& detail) {
    return {"messages between GPUs", true, detail, "", "GPUs share a grid; 'peer' is from GPU to GPU, 'host' through the memory of hosts"};
}

// What messages between GPUs take, for each way: between threads that have the first two of them,
// or share the only one. Nothing where there is none.
std::optional<Finding> messages_between_threads(const std::vector<std::string>& devices) {
    std::vector<std::string> gpus;
    for (const std::string& device : devices)
        if (device.starts_with("cuda") && gpus.size() < 2) gpus.push_back(device);
    if (gpus.empty()) return {};
    std::string text;
    try {
        run_thread_ranks(2, [&](Communicator& ranks) {
            DiskCache cache(DiskCache::default_folder());
            const auto backend = make_backend(gpus[static_cast<std::size_t>(ranks.rank()) % gpus.size()], cache);
            const std::string own = device_costs_text(ranks, *backend);
            if (ranks.rank() == 0) text = own;
        });
    } catch (const Error& error) {
        Finding finding = finding_of_messages(error.what());
        finding.found = false;
        finding.remedy = "check nvidia-smi";
        return finding;
    }
    return finding_of_messages(
        fmt::format("two threads {}: {}", gpus.size() == 1 ? "sharing " + gpus[0] : "with " + gpus[0] + " and " + gpus[1], text));
}

// The same between the ranks of a launcher. Nothing where a rank has no GPU.
std::optional<Finding> messages_between_ranks(Communicator& ranks) {
    DiskCache cache(DiskCache::default_folder());
    std::unique_ptr<Backend> backend;
    try {
        backend = make_backend(device_of_rank("cuda", ranks), cache);
    } catch (const Error&) {  // said by what is missing
    }
    if (all_reduce(ranks, Reduction::smallest, backend != nullptr ? 1 : 0) == 0) return {};
    const std::string link = link_name(ranks, *backend);
    return finding_of_messages(fmt::format("{} ranks over {}: {}", ranks.size(), link, device_costs_text(ranks, *backend)));
}

// `measured` stands in place of what is said of the same otherwise, or behind it.
Exit examine(const Settings& settings, Console& console, const std::vector<Finding>& measured = {}) {
    std::vector<Finding> findings = diagnose();
    const std::vector<std::string> devices = usable_devices(findings);
    if (measured.empty())
        if (const auto messages = messages_between_threads(devices)) findings.push_back(*messages);
    for (const Finding& own : measured) {
        const auto same = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.what == own.what; });
        same == findings.end() ? findings.push_back(own) : void(*same = own);
    }
    if (settings.json) {
        Json rows = Json::array();
        for (const auto& finding : findings)
            rows.push_back({{"what", finding.what},
                            {"found", finding.found},
                            {"detail", finding.detail},
                            {"remedy", finding.remedy},
                            {"purpose", finding.purpose}});
        print(console, Json{{"findings", std::move(rows)},
                            {"processors", document_of(processors())},
                            {"devices", devices},
                            {"database", examined_places()},
                            {"cache", DiskCache::default_folder().string()}});
    } else {
        print_text(findings, devices, console);
    }
    return devices.empty() ? Exit::missing : Exit::ok;
}

// The ranks of a launcher measure what lies between them; the first one tells, and what it has.
Exit examine_on_ranks(const Settings& settings, Console& console) {
    const auto measure = [&](Communicator& ranks) {
        const RankCosts costs = measure_rank_costs(ranks);
        const auto messages = messages_between_ranks(ranks);
        if (ranks.rank() > 0) return static_cast<int>(Exit::ok);
        const std::string detail = fmt::format("{} ranks by {}: {}", ranks.size(), ranks.transport(), to_string(costs));
        std::vector<Finding> measured{{"MPI", true, detail, "", "processes on one or many hosts share a grid"}};
        if (messages) measured.push_back(*messages);
        return static_cast<int>(examine(settings, console, measured));
    };
    return static_cast<Exit>(run_ranks("hone doctor", measure));
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) {
        const bool several = rank_place().ranks > 1 && !mpi_version().empty();
        return several ? examine_on_ranks(*settings, console) : examine(*settings, console);
    };
}

}  // namespace doctor

Command doctor_command() {
    return {
        "doctor",
        "what this machine has, what it lacks, and what to install",
        "[options]",
        "Looks for everything that hone uses:\n\n"
        "- CUDA driver, GPUs, NVRTC, NVML, and a C++ compiler that compiles and runs a small kernel;\n"
        "- vector instructions, and the processors that this process may use: threads, sockets, cores, NUMA nodes, caches, and their limits, such "
        "as OMP_NUM_THREADS=8, a cgroup's quota or the launcher;\n"
        "- the cost of messages between ranks: in threads and, under mpirun, in processes, and between their GPUs on each path that works.\n\n"
        "If something is missing, hone says what it is good for and how to install it. Nothing is changed. Exit code 0 if kernels can be compiled "
        "for at least one device, else 3.",
        {{"doctor", "for people"}, {"doctor --json", "for a script: {\"findings\": [...], \"processors\": {...}, ...}"}},
        doctor::declare};
}

}  // namespace hone::tools
