#include "tuning_db/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "generator/error.hpp"
#include "tuning_db/json_tree.hpp"

namespace hone {
namespace {

// Bounds that no honest record reaches; they keep absurd values out of everything that computes with them.
constexpr double shortest_step = 1e-12;   // seconds
constexpr double longest_step = 1e7;      // four months
constexpr double most_work = 1e30;        // updates, operations, bytes of one step
constexpr double highest_fraction = 1e3;  // of a ceiling: caches may beat a memory ceiling
constexpr std::int64_t most_samples = 1'000'000'000;
constexpr std::size_t longest_name = 200;
constexpr std::size_t longest_text = 2000;

// Rates are written with six digits.
constexpr double rate_rounding = 1e-5;

constexpr std::array known_fields{"problem",      "configuration", "purpose", "device", "step_seconds", "counts",  "rates",
                                  "verification", "safe_seconds",  "ceiling", "search", "date",         "versions"};

std::string value_json(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    return json_string(std::get<std::string>(value));
}

std::string assignments_json(const std::vector<Assignment>& assignments) {
    std::string text;
    for (const auto& assignment : assignments)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_string(assignment.name), value_json(assignment.value));
    return "{" + text + "}";
}

std::string rates_json(const Record& record) {
    const auto rounded = [](double rate) { return std::isfinite(rate) ? fmt::format("{:.6g}", rate) : json_number(rate); };
    return fmt::format(R"({{"gigabytes_per_second": {}, "gigaflops": {}, "gigaupdates_per_second": {}}})", rounded(record.gigabytes_per_second()),
                       rounded(record.gigaflops()), rounded(record.gigaupdates_per_second()));
}

// A name or word as it can stand in a key such as `block_x=32,block_y=8`.
const std::string& plain_word(const JsonPlace& place, const std::string& word) {
    const auto plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               std::string_view("_-+.:/").find(c) != std::string_view::npos;
    };
    if (word.empty() || word.size() > longest_name || !std::all_of(word.begin(), word.end(), plain))
        place.fail("is or has a name that is no plain word", "use letters, digits and _-+.:/ only");
    return word;
}

std::vector<Assignment> read_assignments(const JsonPlace& place) {
    std::vector<Assignment> assignments;
    for (const auto& member : place.members()) {
        const JsonPlace value = place[plain_word(place, member.name)];
        if (member.kind == JsonNode::Kind::integer) {
            assignments.push_back({member.name, member.integer});
        } else if (member.kind == JsonNode::Kind::string) {
            assignments.push_back({member.name, plain_word(value, member.text)});
        } else {
            value.fail("is neither a whole number nor a word", "a parameter has one of these");
        }
    }
    return assignments;
}

Problem read_problem(const JsonPlace& place, const Families& families) {
    place.only({"family", "parameters"});
    const std::string family = plain_word(place["family"], place["family"].string(longest_name));
    std::vector<Assignment> parameters = read_assignments(place["parameters"]);
    if (!knows(families, family)) return {family, std::move(parameters), {}};
    try {
        return families.make_problem(family, parameters);
    } catch (const Error& error) {
        place.fail(error.what(), "correct the problem or remove the record");
    }
}

DeviceFingerprint read_device(const JsonPlace& place) {
    place.only({"target", "name", "architecture", "units", "driver", "compiler"});
    DeviceFingerprint device;
    const std::string target = place["target"].string(longest_name);
    if (target != to_string(Target::cpu) && target != to_string(Target::cuda)) place["target"].fail("is " + json_string(target), "use cuda or cpu");
    device.target = parse_target(target);
    device.name = place["name"].string(longest_text);
    device.architecture = place["architecture"].string(longest_name);
    device.units = static_cast<int>(place["units"].integer(0, 1'000'000));
    device.driver = place["driver"].string(longest_text);
    device.compiler = place["compiler"].string(longest_text);
    return device;
}

Statistics read_statistics(const JsonPlace& place) {
    place.only({"median", "low", "high", "minimum", "samples"});
    Statistics step;
    step.median = place["median"].number(shortest_step, longest_step);
    step.low = place["low"].number(shortest_step, step.median);
    step.high = place["high"].number(step.median, longest_step);
    step.minimum = place["minimum"].number(shortest_step, step.median);
    step.samples = static_cast<int>(place["samples"].integer(1, most_samples));
    return step;
}

Counts read_counts(const JsonPlace& place) {
    place.only({"updates", "unit", "operations", "bytes"});
    Counts counts;
    counts.updates = place["updates"].number(0, most_work);
    counts.unit = place["unit"].string(longest_name);
    counts.operations = place["operations"].number(0, most_work);
    counts.bytes = place["bytes"].number(0, most_work);
    return counts;
}

void check_rate(const JsonPlace& place, double counted) {
    const double written = place.number(0, most_work / shortest_step);
    if (std::abs(written - counted) > rate_rounding * counted)
        place.fail(fmt::format("is {}, but counts and median give {:.6g}", written, counted), "correct it or measure again");
}

void check_rates(const JsonPlace& place, const Record& record) {
    place.only({"gigabytes_per_second", "gigaflops", "gigaupdates_per_second"});
    check_rate(place["gigabytes_per_second"], record.gigabytes_per_second());
    check_rate(place["gigaflops"], record.gigaflops());
    check_rate(place["gigaupdates_per_second"], record.gigaupdates_per_second());
}

void read_verification(const JsonPlace& place, Record& record) {
    place.only({"error", "tolerance"});
    if (!place["error"].is_null()) record.verification_error = place["error"].number(0, most_work);
    record.tolerance = place["tolerance"].number(0, most_work);
}

void read_ceiling(const JsonPlace& place, Record& record) {
    place.only({"fraction", "binding"});
    record.ceiling_fraction = place["fraction"].number(0, highest_fraction);
    record.ceiling = place["binding"].string(longest_name);
    if (record.ceiling != "memory" && record.ceiling != "arithmetic")
        place["binding"].fail("is " + json_string(record.ceiling), "use memory or arithmetic");
}

const std::string& matching(const JsonPlace& place, const std::regex& pattern, const std::string& remedy) {
    const std::string& text = place.string(longest_name);
    if (!std::regex_match(text, pattern)) place.fail("is " + json_string(text), remedy);
    return text;
}

void read_origin(const JsonPlace& place, Record& record) {
    const JsonPlace search = place["search"];
    search.only({"strategy", "evaluations"});
    record.strategy = search["strategy"].string(longest_name);
    record.evaluations = static_cast<int>(search["evaluations"].integer(0, most_samples));
    static const std::regex date("[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z");
    static const std::regex hash("([0-9a-f]{64})?");
    record.date = matching(place["date"], date, "write the date as 2026-11-21T14:05:00Z");
    const JsonPlace versions = place["versions"];
    versions.only({"hone", "source_hash"});
    record.versions.hone = versions["hone"].string(longest_name);
    record.versions.source_hash = matching(versions["source_hash"], hash, "64 hexadecimal digits belong here, or nothing");
}

bool is_known(const std::string& field) {
    return std::find(known_fields.begin(), known_fields.end(), field) != known_fields.end();
}

}  // namespace

std::string json_string(std::string_view text) {
    return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_number(double number) {
    return std::isfinite(number) ? fmt::format("{}", number) : "null";
}

std::string to_json(const Problem& problem) {
    return fmt::format(R"({{"family": {}, "parameters": {}}})", json_string(problem.family()), assignments_json(problem.parameters()));
}

std::string to_json(const Config& config) {
    return assignments_json(config.assignments());
}

std::string to_json(const DeviceFingerprint& device) {
    return fmt::format(R"({{"target": "{}", "name": {}, "architecture": {}, "units": {}, "driver": {}, "compiler": {}}})", to_string(device.target),
                       json_string(device.name), json_string(device.architecture), device.units, json_string(device.driver),
                       json_string(device.compiler));
}

std::string to_json(const Statistics& step) {
    return fmt::format(R"({{"median": {}, "low": {}, "high": {}, "minimum": {}, "samples": {}}})", json_number(step.median), json_number(step.low),
                       json_number(step.high), json_number(step.minimum), step.samples);
}

std::string to_json(const Counts& counts) {
    return fmt::format(R"({{"updates": {}, "unit": {}, "operations": {}, "bytes": {}}})", json_number(counts.updates), json_string(counts.unit),
                       json_number(counts.operations), json_number(counts.bytes));
}

std::vector<std::pair<std::string, std::string>> record_fields(const Record& record) {
    std::vector<std::pair<std::string, std::string>> fields{{"problem", to_json(record.problem)}, {"configuration", to_json(record.config)}};
    if (!record.purpose.empty()) fields.emplace_back("purpose", json_string(record.purpose));
    fields.emplace_back("device", to_json(record.device));
    fields.emplace_back("step_seconds", to_json(record.step));
    fields.emplace_back("counts", to_json(record.counts));
    fields.emplace_back("rates", rates_json(record));
    fields.emplace_back("verification",
                        fmt::format(R"({{"error": {}, "tolerance": {}}})", json_number(record.verification_error), json_number(record.tolerance)));
    if (record.safe_seconds != 0) fields.emplace_back("safe_seconds", json_number(record.safe_seconds));
    if (record.ceiling_fraction != 0)
        fields.emplace_back("ceiling",
                            fmt::format(R"({{"fraction": {}, "binding": {}}})", json_number(record.ceiling_fraction), json_string(record.ceiling)));
    fields.emplace_back("search", fmt::format(R"({{"strategy": {}, "evaluations": {}}})", json_string(record.strategy), record.evaluations));
    fields.emplace_back("date", json_string(record.date));
    fields.emplace_back(
        "versions", fmt::format(R"({{"hone": {}, "source_hash": {}}})", json_string(record.versions.hone), json_string(record.versions.source_hash)));
    fields.insert(fields.end(), record.further.begin(), record.further.end());
    return fields;
}

std::string to_json(const Record& record) {
    std::string text;
    for (const auto& [name, value] : record_fields(record)) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_string(name), value);
    return "{" + text + "}";
}

Record record_from_json(std::string_view text, const Families& families, const std::string& where) {
    const JsonNode root = parse_json(text, where);
    return read_record(JsonPlace(root, where), families);
}

Record read_record(const JsonPlace& place, const Families& families) {
    Record record;
    record.problem = read_problem(place["problem"], families);
    record.config = Config(read_assignments(place["configuration"]));
    record.device = read_device(place["device"]);
    record.step = read_statistics(place["step_seconds"]);
    record.counts = read_counts(place["counts"]);
    check_rates(place["rates"], record);
    read_verification(place["verification"], record);
    if (const auto purpose = place.find("purpose")) record.purpose = plain_word(*purpose, purpose->string(longest_name));
    if (const auto safe = place.find("safe_seconds")) record.safe_seconds = safe->number(shortest_step, longest_step);
    if (const auto ceiling = place.find("ceiling")) read_ceiling(*ceiling, record);
    read_origin(place, record);
    for (const auto& member : place.members())
        if (!is_known(member.name)) record.further.emplace_back(member.name, write_json(member));
    return record;
}

bool knows(const Families& families, const std::string& family) {
    return std::any_of(families.begin(), families.end(), [&](const Family& known) { return known.name == family; });
}

}  // namespace hone
