#include "tuner/recorded_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/error.hpp"
#include "tuner/formats/gzip.hpp"
#include "tuner/formats/journal_space.hpp"
#include "tuner/formats/kernel_tuner.hpp"
#include "tuner/formats/parameter_values.hpp"
#include "tuner/formats/t4.hpp"
#include "tuner/random.hpp"

namespace hone {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

// "pnpoly" of "spaces/pnpoly.json.gz"
std::string short_name(const std::string& file) {
    std::string name = std::filesystem::path(file).filename().string();
    for (const char* ending : {".gz", ".json", ".jsonl"})
        if (name.size() > std::string_view(ending).size() && name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
    return name;
}

}  // namespace

RecordedSpace::RecordedSpace(RecordedTitle title, std::vector<RecordedParameter> parameters, std::vector<RecordedConfiguration> configurations)
    : title_(std::move(title)), parameters_(std::move(parameters)), configurations_(std::move(configurations)) {
    check_product(parameters_, title_.name);
    for (const auto& parameter : parameters_) tunables_.push_back(tunable_of(parameter));
    std::stable_sort(configurations_.begin(), configurations_.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
    std::vector<std::int64_t> members;
    members.reserve(configurations_.size());
    for (const auto& configuration : configurations_) {
        if (!members.empty() && members.back() == configuration.index)
            throw Error(
                title_.name,
                "a configuration stands twice: " +
                    SearchSpace::of_members(tunables_, std::make_shared<const std::vector<std::int64_t>>(members), members.back()).safe().key(),
                "remove one of them");
        members.push_back(configuration.index);
        costs_.push_back(configuration.cost);
        if (std::isfinite(configuration.cost)) ++valid_;
    }
    if (valid_ == 0)
        throw Error(title_.name, fmt::format("none of its {} configurations is valid", members.size()), "there is nothing to search for");
    std::sort(costs_.begin(), costs_.end());
    members_ = std::make_shared<const std::vector<std::int64_t>>(std::move(members));
}

const RecordedConfiguration& RecordedSpace::at(std::int64_t index) const {
    const auto found = std::lower_bound(members_->begin(), members_->end(), index);
    if (found == members_->end() || *found != index)
        throw Error(title_.name, fmt::format("configuration number {} was not recorded", index), "ask for members only");
    return configurations_[static_cast<std::size_t>(found - members_->begin())];
}

bool RecordedSpace::whole() const {
    return title_.members > 0 ? std::ssize(*members_) >= title_.members : !title_.cut && title_.chosen_by.empty();
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
    const auto* start = &configurations_[random.index(configurations_.size())];
    while (!std::isfinite(start->cost)) start = &configurations_[random.index(configurations_.size())];
    return SearchSpace::of_members(tunables_, members_, start->index);
}

RecordedSpace read_recorded_space(const std::filesystem::path& file) {
    return parse_recorded_space(read_packed_file(file, most_bytes), file.string());
}

RecordedSpace parse_recorded_space(std::string_view text, const std::string& file) {
    const std::string name = short_name(file);
    if (is_journal(text)) return parse_journal_space(text, file, name);
    if (is_t4(text)) return parse_t4(text, file, name);
    return parse_kernel_tuner(text, file, name);
}

}  // namespace hone
