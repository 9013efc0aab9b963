#include "runtime/ranks/exchange_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int deepest = 1024, rarest = 64;

constexpr std::array ways{std::pair{MessageWay::best, "best"},     std::pair{MessageWay::peer, "peer"}, std::pair{MessageWay::copies, "copies"},
                          std::pair{MessageWay::stores, "stores"}, std::pair{MessageWay::spin, "spin"}, std::pair{MessageWay::events, "events"},
                          std::pair{MessageWay::nccl, "nccl"},     std::pair{MessageWay::host, "host"}};
constexpr std::array places{std::pair{EdgePlace::before, "before"}, std::pair{EdgePlace::beside, "beside"}, std::pair{EdgePlace::ahead, "ahead"},
                            std::pair{EdgePlace::serial, "serial"}};

template <typename Names, typename Choice>
std::string name_of(const Names& names, Choice choice) {
    return std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.first == choice; })->second;
}

template <typename Names>
auto choice_of(const Names& names, const std::string& word, const std::string& where, const char* what) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.second == word; });
    if (found != names.end()) return found->first;
    std::vector<std::string> words;
    words.reserve(names.size());
    for (const auto& name : names) words.emplace_back(name.second);
    throw Error(where, fmt::format("\"{}\" is not a {}", word, what), fmt::format("use one of {}", fmt::join(words, ", ")));
}

int number_of(const Assignment& assignment, int most, const std::string& where) {
    const auto* const number = std::get_if<std::int64_t>(&assignment.value);
    if (number == nullptr || *number < 1 || *number > most)
        throw Error(where, fmt::format("{} is {}", assignment.name, to_string(assignment.value)), fmt::format("use 1 to {}", most));
    return static_cast<int>(*number);
}

}  // namespace

std::string to_string(MessageWay way) {
    return name_of(ways, way);
}
std::string to_string(EdgePlace place) {
    return name_of(places, place);
}
MessageWay parse_message_way(const std::string& word, const std::string& where) {
    return choice_of(ways, word, where, "way of messages between GPUs");
}
EdgePlace parse_edge_place(const std::string& word, const std::string& where) {
    return choice_of(places, word, where, "place for edges");
}

ExchangeSettings exchange_settings(const Config& config, const std::string& where) {
    ExchangeSettings settings;
    for (const Assignment& assignment : config.assignments()) {
        if (assignment.name == "messages")
            settings.messages = parse_message_way(to_string(assignment.value), where);
        else if (assignment.name == "edges")
            settings.edges = parse_edge_place(to_string(assignment.value), where);
        else if (assignment.name == "depth")
            settings.depth = number_of(assignment, deepest, where);
        else if (assignment.name == "every")
            settings.every = number_of(assignment, rarest, where);
        else
            throw Error(where, fmt::format("\"{}\" is not a tunable of exchanges", assignment.name), "use messages, edges, depth and every");
    }
    return settings;
}

Config to_config(const ExchangeSettings& settings) {
    std::vector<Assignment> assignments;
    if (settings.messages != MessageWay::best) assignments.push_back({"messages", to_string(settings.messages)});
    if (settings.edges) assignments.push_back({"edges", to_string(*settings.edges)});
    if (settings.depth != 1) assignments.push_back({"depth", std::int64_t{settings.depth}});
    if (settings.every != 0) assignments.push_back({"every", std::int64_t{settings.every}});
    return Config(std::move(assignments));
}

}  // namespace hone::inline v0_1
