#include "tests/tuning_db/test_families.hpp"

#include <fmt/format.h>

#include <array>

#include "generator/value_lists.hpp"

namespace hone::test {
namespace {

SearchSpace sweep_space(const Problem& problem, const Limits& limits) {
    const std::int64_t nx = problem.integer("nx");
    const std::int64_t shared = limits.shared_bytes_per_block;
    const auto divides = [nx](const Config& config) -> std::optional<std::string> {
        if (nx % config.integer("block") == 0) return std::nullopt;
        return fmt::format("{} does not divide {}", config.integer("block"), nx);
    };
    const auto fits = [shared](const Config& config) -> std::optional<std::string> {
        const std::int64_t bytes = config.word("held") == "shared" ? config.integer("block") * config.integer("depth") * 64 : 0;
        if (bytes <= shared) return std::nullopt;
        return fmt::format("{} bytes of shared memory, the device has {}", bytes, shared);
    };
    return SearchSpace({{"block", "points along x", numbers({1, 8, 16, 32, 64, 128})},
                        {"depth", "planes", numbers({1, 2, 4, 8, 16, 32})},
                        {"held", "where planes are held", words({"caches", "shared"})}},
                       {{"divides", divides}, {"fits", fits}}, {{"block", std::int64_t{1}}, {"depth", std::int64_t{1}}, {"held", "caches"}});
}

SearchSpace volume_space(const Problem& problem, const Limits&) {
    const std::int64_t order = problem.integer("order");
    const auto bounded = [order](const Config& config) -> std::optional<std::string> {
        if (config.integer("unroll") <= order) return std::nullopt;
        return "deeper than the order";
    };
    const Tunable unroll{.name = "unroll", .help = "columns per trip", .values = numbers({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), .former_name = "columns"};
    return SearchSpace({unroll}, {{"bounded", bounded}}, {{"unroll", std::int64_t{1}}});
}

Family sweep() {
    Family family;
    family.name = "sweep";
    family.summary = "a sweep over a grid";
    family.example = "sweep precision=f32 nx=64 ny=64";
    family.parameters = {{"precision", "type of the values", {"f32", "f64"}, 0, 0, false, ""},
                         {"stencil", "kind", {"constant", "variable"}, 0, 0, false, "constant"},
                         {"nx", "points along x", {}, 1, 1 << 20, true, ""},
                         {"ny", "points along y", {}, 1, 1 << 20, true, ""}};
    family.space = sweep_space;
    return family;
}

Family volume() {
    Family family;
    family.name = "volume";
    family.summary = "a volume kernel";
    family.example = "volume order=3 elements=1000";
    family.parameters = {{"order", "polynomial order", {}, 1, 10, false, ""}, {"elements", "number", {}, 1, 1 << 30, true, ""}};
    family.space = volume_space;
    return family;
}

const std::array<DeviceFingerprint, 4>& devices() {
    static const std::array<DeviceFingerprint, 4> all{h200(), DeviceFingerprint{Target::cuda, "NVIDIA H100 PCIe", "sm_90", 114, "12.8", "NVRTC 12.8"},
                                                      DeviceFingerprint{Target::cuda, "NVIDIA A100", "sm_80", 108, "12.8", "NVRTC 12.8"},
                                                      DeviceFingerprint{Target::cpu, "AMD EPYC 9B14", "x86-64-avx512", 2, "", "g++ 12.2"}};
    return all;
}

}  // namespace

const Families& two_families() {
    static const Families families({sweep(), volume()});
    return families;
}

const Families& volume_alone() {
    static const Families families({volume()});
    return families;
}

DeviceFingerprint h200() {
    return {Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
}

Limits h200_limits() {
    return cuda_limits(90);
}

Record make_record(const std::string& problem, const std::string& config, double median, const DeviceFingerprint& device) {
    Record record;
    record.problem = two_families().parse_problem(problem);
    const Limits limits = device.target == Target::cuda ? cuda_limits(90) : cpu_limits();
    record.config = two_families().of(record.problem).space(record.problem, limits).parse(config);
    record.device = device;
    record.step = {median, median * 0.999, median * 1.001, median * 0.99, 40};
    record.counts = {1e6, "updates", 5.3e7, 1.6e7};
    record.verification_error = 1e-7;
    record.tolerance = 1e-5;
    record.safe_seconds = 2 * median;
    record.ceiling_fraction = 0.75;
    record.ceiling = "memory";
    record.strategy = "local";
    record.evaluations = 120;
    record.date = "2026-11-21T14:05:00Z";
    record.versions = {"0.1.0", std::string(64, 'a')};
    return record;
}

std::int64_t RandomRecords::below(std::int64_t bound) {
    return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(engine_);
}

double RandomRecords::uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
}

Record RandomRecords::operator()() {
    constexpr std::array words{"constant", "variable"};
    const DeviceFingerprint& device = devices().at(static_cast<std::size_t>(below(4)));
    const std::string problem = below(2) == 0 ? fmt::format("sweep precision=f{} stencil={} nx={} ny={}", 32 * (1 + below(2)),
                                                            words.at(static_cast<std::size_t>(below(2))), 64 << below(3), 1 + below(4))
                                              : fmt::format("volume order={} elements={}", 1 + below(10), 1000 * (1 + below(3)));
    const double median = uniform(1e-4, 1.2e-4);
    Record record = make_record(problem, "", median, device);
    const SearchSpace space = two_families().of(record.problem).space(record.problem, cpu_limits());
    const auto members = space.members();
    record.config = space.at(members[static_cast<std::size_t>(below(std::ssize(members)))]);
    const double width = uniform(1e-3, 3e-2);
    record.step = {median, median * (1 - width), median * (1 + width), median * (1 - 2 * width), static_cast<int>(5 + below(40))};
    record.verification_error = below(8) == 0 ? 1 : uniform(0, 1e-5);
    record.safe_seconds = below(4) == 0 ? 0 : uniform(1, 3) * median;
    record.evaluations = static_cast<int>(below(1000));
    record.date = fmt::format("2026-11-{:02}T14:05:{:02}Z", 1 + below(3), below(2));
    record.versions.hone = fmt::format("0.{}.0", 1 + below(2));
    record.found = std::array{"", "offline", "online"}.at(static_cast<std::size_t>(below(3)));
    if (below(2) == 0) record.energy = energy(median);
    if (device.target == Target::cpu && below(2) == 0) record.team = Team{below(2) == 0 ? "0-15" : "3", below(2) == 0 ? "none" : "close"};
    if (below(4) == 0) record.disturbed = "somebody else was at work";
    if (below(2) == 0) record.safe_joules = uniform(0.1, 10);
    if (below(2) == 0) record.seed = ~static_cast<std::uint64_t>(below(1000));
    if (below(2) == 0) record.conditions.sm_megahertz = uniform(300, 2000);
    if (below(2) == 0) record.conditions.memory_megahertz = uniform(300, 3000);
    if (below(2) == 0) record.conditions.temperature_celsius = uniform(20, 90);
    if (below(4) == 0) record.conditions.throttle_reasons = {"software power cap", "hardware slowdown"};
    if (below(4) == 0) record.conditions.busy = "12.0 % of the processors' time was stolen";
    return record;
}

Energy RandomRecords::energy(double seconds) {
    const double joules = uniform(100, 700) * seconds;
    Energy energy{{joules, 0.99 * joules, 1.01 * joules, 0.98 * joules, 40}, joules / seconds, 0, "nvml", 10, 0, 0};
    if (below(2) == 0) energy.idle_watts = uniform(1, 100);
    if (below(2) == 0) energy.resolution_seconds = 0.1;
    if (below(2) == 0) energy.resolution_watts = 0.001;
    return energy;
}

Record RandomRecords::shared() {
    Record record = (*this)();
    const Record other = (*this)();
    record.purpose = "hybrid";
    record.hybrid = Hybrid{other.device,
                           other.config,
                           uniform(0, 1),
                           1 + below(8),
                           {uniform(0, 1e-5), uniform(1e-9, 1e-6), 0.01, 8},
                           {uniform(0, 1e-5), uniform(1e-9, 1e-6), 0.02, 7},
                           0,
                           0};
    if (below(2) == 0) record.hybrid->own_seconds = uniform(1e-4, 1e-3);
    if (below(2) == 0) record.hybrid->partner_seconds = uniform(1e-4, 1e-3);
    return record;
}

Record RandomRecords::exchanged() {
    constexpr std::array programs{"poisson", "hydro"}, links{"NVLink, 18 links, between processes", "PCIe \"x16\", between threads"};
    Record record = (*this)();
    record.purpose = "exchange";
    record.exchange = Exchange{programs.at(static_cast<std::size_t>(below(2))), links.at(static_cast<std::size_t>(below(2))),
                               static_cast<int>(2 << below(3)), Config({{"messages", std::string("stores")}, {"depth", 1 + below(4)}}), 0};
    if (below(2) == 0) record.exchange->usual_seconds = uniform(1e-4, 1e-3);
    return record;
}

}  // namespace hone::test
