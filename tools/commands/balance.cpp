#include "tuner/sharing/balance.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "tools/console/command.hpp"
#include "tools/console/configuration.hpp"
#include "tools/console/format.hpp"
#include "tools/console/interrupt.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/record_table.hpp"
#include "tuner/sharing/greenup.hpp"
#include "tuning_db/places.hpp"

namespace hone::tools {
namespace balance {

struct Settings {
    std::vector<std::string> problem;
    std::string devices = "cuda:0,cpu";
    std::string config;
    std::string partner_config;
    std::string database;
    std::int64_t period = BalanceSettings{}.period;
    std::int64_t periods = BalanceSettings{}.most_periods;
    std::int64_t sweep = 0;
    std::int64_t seed = 1;
    bool energy = false;
    bool fresh = false;
    bool json = false;
};

constexpr double energy_seconds = 2;  // under the meters, for each of the three ways

std::pair<std::string, std::string> two_devices(const std::string& names) {
    const std::size_t comma = names.find(',');
    if (comma == std::string::npos || comma == 0 || comma + 1 == names.size() || names.find(',', comma + 1) != std::string::npos)
        throw Error("--devices", "\"" + names + "\" does not name two devices", "write them as cuda:0,cpu; see 'hone devices'");
    return {names.substr(0, comma), names.substr(comma + 1)};
}

// One of the two devices, open.
struct Side {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<KernelLibrary> library;
    HybridSide hybrid;

    Side(const std::string& name, DiskCache& cache, const Database& database, const Families& families)
        : backend(open_backend(name, cache)), library(std::make_unique<KernelLibrary>(*backend, database, families)) {}

    const Device& device() const { return backend->device(); }
    DeviceSide known_as() const { return {device().fingerprint, device().limits}; }
    // With `text` the configuration typed, else one that the database has for the pair, else the
    // best for the device.
    void make_kernel(const Problem& problem, const std::string& text, const Config* of_pair) {
        const SearchSpace space = known_families().of(problem).space(problem, device().limits);
        hybrid.backend = backend.get();
        if (!text.empty() || of_pair != nullptr)
            hybrid.kernel = library->kernel(problem, text.empty() ? *of_pair : member(space, text, problem));
        else
            hybrid.kernel = library->kernel(problem);
    }
};

double idle_watts(const PowerSource& source) {
    PowerMeter meter(source);
    std::this_thread::sleep_for(std::chrono::duration<double>(source.lag + energy_seconds));
    const auto power = meter.stop();
    return power ? power->watts : 0;
}

void add_meters(const std::array<const Side*, 2>& sides, BalanceSettings& balancing, Console& console) {
    balancing.energy_seconds = energy_seconds;
    for (std::size_t i = 0; i < 2; ++i) {
        std::string missing;
        balancing.meters.at(i) = find_power_source(sides.at(i)->device(), missing);
        if (balancing.meters.at(i))
            balancing.idle_watts.at(i) = idle_watts(*balancing.meters.at(i));
        else
            console.message("hone: energy of {} is unavailable: {}\n", device_id(sides.at(i)->device()), missing);
    }
}

std::string part(const Statistics& of) {
    return of.median > 0 ? duration(of.median) : "-";
}

std::string progress_line(const BalancePeriod& period, const char* what) {
    return fmt::format("{} share {:>7}: {} and {}, exchange {}, step {}{}", what, percent(period.share), part(period.first), part(period.second),
                       duration(period.exchange), duration(period.step.median), period.settled ? ", settled" : "");
}

std::string period_table(const std::vector<BalancePeriod>& periods, const std::string& first, const std::string& second) {
    const auto right = Table::Align::right;
    Table table({{"period", right},
                 {"share", right},
                 {"units", right},
                 {first, right},
                 {second, right},
                 {"exchange", right},
                 {"step", right},
                 {"steps", right}});
    for (std::size_t i = 0; i < periods.size(); ++i) {
        const BalancePeriod& period = periods[i];
        table.row({fmt::format("{}", i + 1), percent(period.share), grouped(period.units), part(period.first), part(period.second),
                   duration(period.exchange), duration(period.step.median), fmt::format("{}", period.step.samples)});
    }
    return table.text();
}

const char* way_name(const MeteredWay& way) {
    return way.takes_part[0] ? way.takes_part[1] ? "both" : "first alone" : "second alone";
}

std::string watts_text(const MeteredWay& way, std::size_t side) {
    if (!way.takes_part.at(side)) return "-";
    return way.power.at(side) ? significant(way.power.at(side)->watts) + " W" : "unavailable";
}

// Gains over the second device alone, which is the processor where there is one.
std::string energy_table(const std::vector<MeteredWay>& ways) {
    const auto right = Table::Align::right;
    Table table({{"way"},
                 {"step", right},
                 {"first", right},
                 {"second", right},
                 {"energy per step", right},
                 {"speed-up", right},
                 {"powerup", right},
                 {"greenup", right}});
    const MeteredWay& reference = ways.front();
    for (const MeteredWay& way : ways) {
        const auto watts = way.watts();
        std::vector<std::string> cells{way_name(way),
                                       duration(way.seconds),
                                       watts_text(way, 0),
                                       watts_text(way, 1),
                                       watts ? significant(*watts * way.seconds * 1e3) + " mJ" : "unavailable",
                                       significant(reference.seconds / way.seconds)};
        if (watts && reference.watts()) {
            const Gains gains = gains_over({reference.seconds, *reference.watts()}, {way.seconds, *watts});
            cells.insert(cells.end(), {significant(gains.powerup), significant(gains.greenup)});
        } else {
            cells.insert(cells.end(), {"unavailable", "unavailable"});
        }
        table.row(std::move(cells));
    }
    return table.text();
}

const BalancePeriod& fastest(const std::vector<BalancePeriod>& periods) {
    return *std::min_element(periods.begin(), periods.end(), [](const auto& a, const auto& b) { return a.step.median < b.step.median; });
}

void print_text(const BalanceOutcome& outcome, const Problem& problem, const std::array<const Side*, 2>& sides, Console& console) {
    const Record& record = outcome.record;
    const std::string first = "first: " + device_id(sides[0]->device());
    const std::string second = "second: " + device_id(sides[1]->device());
    const std::string& unit = known_families().of(problem).range_unit;
    console.print("{}\nfirst:  {}\n        {}\nsecond: {}\n        {}\n\n{}", problem.key(), device_line(record.device), record.config.key(),
                  device_line(record.hybrid->partner), record.hybrid->partner_config.key(), period_table(outcome.periods, first, second));
    if (!outcome.sweep.empty()) console.print("\nsweep\n{}", period_table(outcome.sweep, first, second));
    if (!outcome.metered.empty()) console.print("\nenergy; gains over the second device alone\n{}", energy_table(outcome.metered));
    const double alone = std::min(record.hybrid->own_seconds, record.hybrid->partner_seconds);
    std::vector<std::pair<std::string, std::string>> lines{
        {"share", fmt::format("{} for the first device, in steps of {} {}", percent(record.hybrid->share), record.hybrid->granularity, unit)},
        {"step", fmt::format("{}; first alone {}, second alone {}", duration(record.step.median), duration(record.hybrid->own_seconds),
                             duration(record.hybrid->partner_seconds))},
        {"gain", fmt::format("{:.3f}x over the faster device alone", alone / record.step.median)},
        {"periods",
         outcome.periods_used > 0 ? fmt::format("settled in {}", outcome.periods_used) : fmt::format("not settled in {}", outcome.periods.size())},
        {"verified", fmt::format("largest error {:.3g}, allowed {:.3g}", record.verification_error, record.tolerance)},
        {"moved",
         fmt::format("{} in {} when the share changed; {} in {} exchanged by steps", bytes(static_cast<double>(outcome.moved.bytes)),
                     duration(outcome.moved.seconds), bytes(static_cast<double>(outcome.exchanged.bytes)), duration(outcome.exchanged.seconds))}};
    if (!outcome.sweep.empty()) {
        const BalancePeriod& best = fastest(outcome.sweep);
        lines.emplace_back("best of sweep", fmt::format("{} with {}, {:.3f}x the step found", duration(best.step.median), percent(best.share),
                                                        best.step.median / record.step.median));
    }
    console.print("\n{}", definition_list(lines, console.out_width()));
}

Json rows_of(const std::vector<BalancePeriod>& periods) {
    Json rows = Json::array();
    for (const auto& period : periods)
        rows.push_back({{"units", period.units},
                        {"share", period.share},
                        {"first_seconds", period.first.median},
                        {"second_seconds", period.second.median},
                        {"exchange_seconds", period.exchange},
                        {"step_seconds", period.step.median},
                        {"step_low", period.step.low},
                        {"step_high", period.step.high},
                        {"steps", period.step.samples},
                        {"settled", period.settled}});
    return rows;
}

Json rows_of(const std::vector<MeteredWay>& ways) {
    Json rows = Json::array();
    for (const auto& way : ways) {
        Json row{{"way", way_name(way)}, {"units", way.units}, {"step_seconds", way.seconds}};
        for (std::size_t side = 0; side < 2; ++side)
            row[side == 0 ? "first_watts" : "second_watts"] = way.power.at(side) ? Json(way.power.at(side)->watts) : Json(nullptr);
        const auto watts = way.watts();
        row["joules"] = watts ? Json(*watts * way.seconds) : Json(nullptr);
        row["speed_up"] = ways.front().seconds / way.seconds;
        if (watts && ways.front().watts()) {
            const Gains gains = gains_over({ways.front().seconds, *ways.front().watts()}, {way.seconds, *watts});
            row["powerup"] = gains.powerup;
            row["greenup"] = gains.greenup;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Json document_of(const BalanceOutcome& outcome) {
    return {{"settled", outcome.settled},
            {"periods_used", outcome.periods_used},
            {"share", outcome.record.hybrid->share},
            {"periods", rows_of(outcome.periods)},
            {"sweep", rows_of(outcome.sweep)},
            {"energy", rows_of(outcome.metered)},
            {"moved", {{"bytes", outcome.moved.bytes}, {"seconds", outcome.moved.seconds}}},
            {"exchanged", {{"bytes", outcome.exchanged.bytes}, {"seconds", outcome.exchanged.seconds}}},
            {"record", json_of(outcome.record)}};
}

Exit find_balance(const Settings& settings, Console& console) {
    const Families& families = known_families();
    const Problem problem = problem_of(settings.problem, families);
    const auto [first_name, second_name] = two_devices(settings.devices);
    const auto folder = database_folder(settings.database);
    const Database database = settings.database.empty() ? known_records(families, {}, [](const auto&) {}) : Database::load(folder, families);
    DiskCache cache(DiskCache::default_folder());
    Side first(first_name, cache, database, families);
    Side second(second_name, cache, database, families);
    const Share share = database.best_share(problem, first.known_as(), second.known_as());
    const bool known = share.grade == Grade::exact && settings.config.empty() && settings.partner_config.empty() && !settings.fresh;
    first.make_kernel(problem, settings.config, known ? &share.config : nullptr);
    second.make_kernel(problem, settings.partner_config, known ? &share.partner_config : nullptr);

    // What cannot be kept is not worth measuring.
    Database(families).merge_into(folder);

    const InterruptGuard interrupt;
    BalanceSettings balancing;
    balancing.period = static_cast<int>(settings.period);
    balancing.most_periods = static_cast<int>(settings.periods);
    balancing.sweep = static_cast<int>(settings.sweep);
    balancing.seed = static_cast<std::uint64_t>(settings.seed);
    if (known) balancing.known = share.known;
    balancing.stop = [&] { return interrupt.requested(); };
    int number = 0;
    bool settled = false;
    balancing.progress = [&](const BalancePeriod& period) {
        console.message("{:>3} {}\n", ++number, progress_line(period, settled ? "sweep " : "period"));
        settled = settled || period.settled;
    };
    if (settings.energy) add_meters({&first, &second}, balancing, console);
    const BalanceOutcome outcome = hone::balance(families.of(problem), first.hybrid, second.hybrid, balancing);

    Database found(families);
    if (outcome.settled) {
        found.add(outcome.record);
        found.merge_into(folder);
    }
    if (settings.json)
        print(console, document_of(outcome));
    else
        print_text(outcome, problem, {&first, &second}, console);
    if (interrupt.requested()) return Exit::interrupted;
    if (!outcome.record.verified()) console.message("hone: the shared step gave a wrong result; the record says so and is never handed out\n");
    return outcome.settled && outcome.record.verified() ? Exit::ok : Exit::nothing;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FAMILY key=value...", settings->problem, "one problem; see 'hone families'");
    options.text("devices", settings->devices, "A,B", "the two devices; default cuda:0,cpu. The first computes the lower part of the range");
    options.text("config", settings->config, "NAME=VALUE,...", "configuration of the first device; default the database's best");
    options.text("partner-config", settings->partner_config, "NAME=VALUE,...", "configuration of the second");
    options.number("period", settings->period, "N", "steps per sampling period; default 40", 3);
    options.number("periods", settings->periods, "N", "at most this many periods; default 24", 1);
    options.number("sweep", settings->sweep, "N", "also time the shares 0, 1/N, 2/N, ..., 1, to compare");
    options.flag("energy", settings->energy, "also measure the energy of a step on each device alone and on both");
    options.flag("fresh", settings->fresh, "do not start from the share in the database for this pair");
    options.number("seed", settings->seed, "N", "seed of the problem's random data; default 1");
    declare_own_database(options, settings->database);
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return find_balance(*settings, console); };
}

}  // namespace balance

Command balance_command() {
    return {
        "balance",
        "find how two devices share every time step of a problem",
        "FAMILY key=value... [--devices A,B] [options]",
        "Runs the problem's step on both devices at once, each on its part of the range. After each sampling period it moves the border between "
        "them, until both finish at the same moment or one device alone turns out to be best. It verifies the result against the reference. It "
        "stores the share in the database under the problem, both configurations and the pair of devices, where 'hone lookup --partner' and "
        "applications find it.\n\n"
        "Without --config, each device uses its best configuration in the database, so tune both first. If memory bandwidth limits a kernel, it "
        "gains at most the slower device's part of the joint bandwidth, so the right answer is often 100 %.",
        {{"balance gauss_seidel_27 stencil=constant precision=f32 nx=256 ny=256 nz=256", "the first GPU and the processor"},
         {"balance dg_volume equation=maxwell_3d order=3 precision=f64 elements=100000 --sweep 20 --energy --json",
          "with the sweep and energy, "
          "for a script"},
         {"balance gauss_seidel_27 stencil=constant precision=f32 nx=64 ny=64 nz=64 --devices cpu,cpu", "without a GPU: the processor with itself"}},
        balance::declare};
}

}  // namespace hone::tools
