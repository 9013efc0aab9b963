#include "tuning_db/record_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "tuning_db/record_json_parts.hpp"

namespace hone::inline v0_1 {
namespace {

using namespace json_bounds;

// Rates are written with six digits.
constexpr double rate_rounding = 1e-5;

constexpr std::array known_fields{"problem",     "configuration", "purpose",      "found",      "device",    "step_seconds", "counts",
                                  "rates",       "verification",  "safe_seconds", "ceiling",    "disturbed", "conditions",   "team",
                                  "energy",      "hybrid",        "search",       "seed",       "date",      "versions",     "measured_on",
                                  "safe_joules", "exchange",      "wrong",        "verified_on"};

std::string rates_json(const Record& record) {
    const auto rounded = [](double rate) { return std::isfinite(rate) ? fmt::format("{:.6g}", rate) : json_number(rate); };
    return fmt::format(R"({{"gigabytes_per_second": {}, "gigaflops": {}, "gigaupdates_per_second": {}}})", rounded(record.gigabytes_per_second()),
                       rounded(record.gigaflops()), rounded(record.gigaupdates_per_second()));
}

Problem read_problem(const JsonPlace& place, const Families& families) {
    place.only({"family", "parameters"});
    const std::string family = plain_word(place["family"], place["family"].string(longest_name));
    std::vector<Assignment> parameters = read_assignments(place["parameters"]);
    if (!families.has(family)) return {family, std::move(parameters), {}};
    try {
        return families.make_problem(family, parameters);
    } catch (const Error& error) {
        place.fail(error.what(), "correct the problem or remove the record");
    }
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

const std::string& read_reason(const JsonPlace& place) {
    const std::string& text = place.string(longest_text);
    if (text.empty()) place.fail("says nothing", "say why, or leave it out");
    return text;
}

void read_ceiling(const JsonPlace& place, Record& record) {
    place.only({"fraction", "binding"});
    record.ceiling_fraction = place["fraction"].number(0, highest_fraction);
    record.ceiling = place["binding"].string(longest_name);
    if (record.ceiling != "memory" && record.ceiling != "arithmetic")
        place["binding"].fail("is " + json_string(record.ceiling), "use memory or arithmetic");
}

// Whether a text has the form of another one: a digit of the form stands for one up to it, anything
// else for itself.
bool has_form(std::string_view text, std::string_view form) {
    const auto fits = [](char c, char most) { return most >= '0' && most <= '9' ? c >= '0' && c <= most : c == most; };
    return text.size() == form.size() && std::equal(text.begin(), text.end(), form.begin(), fits);
}

bool is_hash(std::string_view text) {
    constexpr std::size_t digits = 64;
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

const std::string& read_date(const JsonPlace& place) {
    const std::string& date = place.string(longest_name);
    if (!has_form(date, "9999-19-39T29:59:69Z")) place.fail("is " + json_string(date), "write the date as 2026-11-21T14:05:00Z");
    return date;
}

const std::string& read_hash(const JsonPlace& place) {
    const std::string& hash = place.string(longest_name);
    if (!hash.empty() && !is_hash(hash)) place.fail("is " + json_string(hash), "64 hexadecimal digits belong here, or nothing");
    return hash;
}

void read_origin(const JsonPlace& place, Record& record) {
    if (const auto found = place.find("found")) {
        record.found = found->string(longest_name);
        if (record.found != "offline" && record.found != "online" && record.found != found_at_first_use)
            found->fail("is " + json_string(record.found), "use offline, online or first_use");
    }
    const JsonPlace search = place["search"];
    search.only({"strategy", "evaluations"});
    record.strategy = search["strategy"].string(longest_name);
    record.evaluations = static_cast<int>(search["evaluations"].integer(0, most_samples));
    if (const auto seed = place.find("seed")) record.seed = read_seed(*seed);
    record.date = read_date(place["date"]);
    const JsonPlace versions = place["versions"];
    versions.only({"hone", "source_hash"});
    record.versions.hone = versions["hone"].string(longest_name);
    record.versions.source_hash = read_hash(versions["source_hash"]);
}

void read_devices_of(const JsonPlace& place, Record& record) {
    const auto exchange = place.find("exchange");
    if (exchange) record.exchange = read_exchange(*exchange);
    if (exchange.has_value() != (record.purpose == "exchange"))
        place.fail(exchange ? "has an exchange, but is not of purpose exchange" : "is of purpose exchange, but has none", "ranks' steps need both");
    const auto hybrid = place.find("hybrid");
    if (hybrid) record.hybrid = read_hybrid(*hybrid);
    if (hybrid.has_value() != (record.purpose == "hybrid"))
        place.fail(hybrid ? "has a share, but is not of purpose hybrid" : "is of purpose hybrid, but has no share", "a shared step needs both");
}

bool is_known(const std::string& field) {
    return std::find(known_fields.begin(), known_fields.end(), field) != known_fields.end();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> record_fields(const Record& record) {
    std::vector<std::pair<std::string, std::string>> fields{{"problem", to_json(record.problem)}, {"configuration", to_json(record.config)}};
    if (!record.purpose.empty()) fields.emplace_back("purpose", json_string(record.purpose));
    if (!record.found.empty()) fields.emplace_back("found", json_string(record.found));
    fields.emplace_back("device", to_json(record.device));
    fields.emplace_back("step_seconds", to_json(record.step));
    fields.emplace_back("counts", to_json(record.counts));
    fields.emplace_back("rates", rates_json(record));
    fields.emplace_back("verification",
                        fmt::format(R"({{"error": {}, "tolerance": {}}})", json_number(record.verification_error), json_number(record.tolerance)));
    if (!record.verified_on.empty()) fields.emplace_back("verified_on", json_string(record.verified_on));
    if (!record.wrong.empty()) fields.emplace_back("wrong", json_string(record.wrong));
    if (record.safe_seconds != 0) fields.emplace_back("safe_seconds", json_number(record.safe_seconds));
    if (record.safe_joules != 0) fields.emplace_back("safe_joules", json_number(record.safe_joules));
    if (record.ceiling_fraction != 0)
        fields.emplace_back("ceiling",
                            fmt::format(R"({{"fraction": {}, "binding": {}}})", json_number(record.ceiling_fraction), json_string(record.ceiling)));
    if (!record.disturbed.empty()) fields.emplace_back("disturbed", json_string(record.disturbed));
    if (!record.conditions.empty()) fields.emplace_back("conditions", to_json(record.conditions));
    if (!record.measured_on.empty()) fields.emplace_back("measured_on", json_string(record.measured_on));
    if (record.team) fields.emplace_back("team", to_json(*record.team));
    if (record.energy) fields.emplace_back("energy", to_json(*record.energy));
    if (record.hybrid) fields.emplace_back("hybrid", to_json(*record.hybrid));
    if (record.exchange) fields.emplace_back("exchange", to_json(*record.exchange));
    fields.emplace_back("search", fmt::format(R"({{"strategy": {}, "evaluations": {}}})", json_string(record.strategy), record.evaluations));
    if (record.seed) fields.emplace_back("seed", json_string(std::to_string(*record.seed)));
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
    if (const auto joules = place.find("safe_joules")) record.safe_joules = joules->number(least_joules, most_joules);
    if (const auto ceiling = place.find("ceiling")) read_ceiling(*ceiling, record);
    if (const auto disturbed = place.find("disturbed")) record.disturbed = read_reason(*disturbed);
    if (const auto wrong = place.find("wrong")) record.wrong = read_reason(*wrong);
    if (const auto smaller = place.find("verified_on")) record.verified_on = read_reason(*smaller);
    if (const auto conditions = place.find("conditions")) record.conditions = read_conditions(*conditions);
    if (const auto device = place.find("measured_on")) record.measured_on = device->string(longest_text);
    if (const auto team = place.find("team")) record.team = read_team(*team);
    if (const auto energy = place.find("energy")) record.energy = read_energy(*energy);
    read_devices_of(place, record);
    read_origin(place, record);
    for (const auto& member : place.members())
        if (!is_known(member.name)) record.further.emplace_back(member.name, write_json(member));
    return record;
}

}  // namespace hone::inline v0_1
