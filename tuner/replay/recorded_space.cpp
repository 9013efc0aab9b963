#include "tuner/replay/recorded_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "tuner/random.hpp"
#include "tuner/replay/formats/gzip.hpp"
#include "tuner/replay/formats/journal_space.hpp"
#include "tuner/replay/formats/kernel_tuner.hpp"
#include "tuner/replay/formats/ktt.hpp"
#include "tuner/replay/formats/parameter_values.hpp"
#include "tuner/replay/formats/space_file.hpp"
#include "tuner/replay/formats/t4.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

// The readers, each with what its files are known by. What none knows is read as Kernel Tuner's,
// which says best what is missing.
struct Format {
    bool (*is)(std::string_view text);
    RecordedSpace (*parse)(std::string_view text, const std::string& file, const std::string& name);
};
constexpr std::array formats{Format{is_space_file, parse_space_file}, Format{is_journal, parse_journal_space}, Format{is_t4, parse_t4},
                             Format{is_ktt_json, parse_ktt_json},     Format{is_ktt_xml, parse_ktt_xml},       Format{is_ktt_csv, parse_ktt_csv}};

// Python writes NaN, Infinity and -Infinity, which JSON does not have, where a metric has no value:
// they become words.
std::string with_special_numbers_as_words(std::string_view text) {
    std::string result;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\') {
            result += text.substr(i, 2);
            ++i;
            continue;
        }
        if (c == '"') quoted = !quoted;
        const auto is = [&](std::string_view word) { return text.substr(i, word.size()) == word; };
        const std::string_view word = quoted ? "" : is("NaN") ? "NaN" : is("-Infinity") ? "-Infinity" : is("Infinity") ? "Infinity" : "";
        if (word.empty()) {
            result += c;
            continue;
        }
        result += fmt::format("\"{}\"", word);
        i += word.size() - 1;
    }
    return result;
}

bool has_special_numbers(std::string_view text) {
    return text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
}

// "pnpoly" of "spaces/pnpoly.json.gz"
std::string short_name(const std::string& file) {
    std::string name = std::filesystem::path(file).filename().string();
    for (const char* ending : {".gz", ".json", ".jsonl", ".space", ".xml", ".csv"})
        if (name.size() > std::string_view(ending).size() && name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
    return name;
}

RecordedColumns columns_of(const std::vector<RecordedConfiguration>& configurations) {
    RecordedColumns columns;
    for (const auto& configuration : configurations) columns.add(configuration.index, configuration.cost, configuration.outcome);
    return columns;
}

RecordedColumns sorted(const RecordedColumns& columns) {
    std::vector<std::uint32_t> order(columns.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return columns.indices[a] < columns.indices[b]; });
    RecordedColumns result;
    for (const std::uint32_t place : order) result.add(columns.indices[place], columns.costs[place], columns.outcomes[place]);
    return result;
}

}  // namespace

void RecordedColumns::add(std::int64_t index, double cost, const Outcome& outcome) {
    indices.push_back(index);
    costs.push_back(cost);
    outcomes.add(outcome);
}

RecordedSpace::RecordedSpace(RecordedTitle title, std::vector<RecordedParameter> parameters, const std::vector<RecordedConfiguration>& configurations)
    : RecordedSpace(std::move(title), std::move(parameters), columns_of(configurations)) {
}

RecordedSpace::RecordedSpace(RecordedTitle title, std::vector<RecordedParameter> parameters, RecordedColumns configurations)
    : title_(std::move(title)), parameters_(std::move(parameters)) {
    check_product(parameters_, title_.name);
    for (const auto& parameter : parameters_) tunables_.push_back(tunable_of(parameter));
    if (!std::is_sorted(configurations.indices.begin(), configurations.indices.end())) configurations = sorted(configurations);
    auto members = std::make_shared<const std::vector<std::int64_t>>(std::move(configurations.indices));
    if (const auto twice = std::adjacent_find(members->begin(), members->end()); twice != members->end())
        throw Error(title_.name, "a configuration stands twice: " + SearchSpace::of_members(tunables_, members, *twice).safe().key(),
                    "remove one of them");
    members_ = std::move(members);
    cost_ = std::move(configurations.costs);
    outcomes_ = std::move(configurations.outcomes);
    costs_ = cost_;
    std::sort(costs_.begin(), costs_.end());
    valid_ = std::lower_bound(costs_.begin(), costs_.end(), std::numeric_limits<double>::infinity()) - costs_.begin();
    if (valid_ == 0)
        throw EmptySpaceError(title_.name, fmt::format("none of its {} configurations is valid", members_->size()), "there is nothing to search for");
}

std::size_t RecordedSpace::place_of(std::int64_t index) const {
    const auto found = std::lower_bound(members_->begin(), members_->end(), index);
    if (found == members_->end() || *found != index)
        throw Error(title_.name, fmt::format("configuration number {} was not recorded", index), "ask for members only");
    return static_cast<std::size_t>(found - members_->begin());
}

RecordedConfiguration RecordedSpace::at(std::int64_t index) const {
    const std::size_t place = place_of(index);
    return {index, cost_[place], outcomes_[place]};
}

bool RecordedSpace::whole() const {
    return title_.members > 0 ? std::ssize(*members_) >= title_.members : !title_.cut && title_.chosen_by.empty() && title_.only.empty();
}

std::optional<double> RecordedSpace::coverage() const {
    if (whole()) return 1;
    if (title_.members == 0) return std::nullopt;
    return static_cast<double>(members_->size()) / static_cast<double>(title_.members);
}

std::vector<std::size_t> RecordedSpace::places(std::int64_t index) const {
    std::vector<std::size_t> places(parameters_.size());
    for (std::size_t d = places.size(); d-- > 0;) {
        const auto count = static_cast<std::int64_t>(parameters_[d].written.size());
        places[d] = static_cast<std::size_t>(index % count);
        index /= count;
    }
    return places;
}

SearchSpace RecordedSpace::space(std::uint64_t seed) const {
    Random random(seed);
    std::size_t start = random.index(cost_.size());
    while (!std::isfinite(cost_[start])) start = random.index(cost_.size());
    return SearchSpace::of_members(tunables_, members_, (*members_)[start]);
}

RecordedSpace read_recorded_space(const std::filesystem::path& file) {
    return parse_recorded_space(read_packed_file(file, most_bytes), file.string());
}

RecordedSpace parse_recorded_space(std::string_view text, const std::string& file) {
    const std::string name = short_name(file);
    text = without_byte_order_mark(text, file);
    std::string words;
    if (text.starts_with('{') && has_special_numbers(text)) text = words = with_special_numbers_as_words(text);
    for (const auto& format : formats)
        if (format.is(text)) return format.parse(text, file, name);
    return parse_kernel_tuner(text, file, name);
}

}  // namespace hone::inline v0_1
