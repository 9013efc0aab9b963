#include "tuner/restriction.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/random_words.hpp"
#include "tuner/random.hpp"

namespace hone::inline v0_1 {

std::function<bool(const Config&)> parse_restriction(const SearchSpace& space, const std::string& text) {
    if (text.empty()) return {};
    std::map<std::string, std::vector<Value>> allowed;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const std::size_t equals = std::min(word.find('='), word.size());
        const std::string name = word.substr(0, equals);
        const Value value = parse_value(equals < word.size() ? word.substr(equals + 1) : "");
        const auto found = [&](std::string Tunable::*called) {
            return std::find_if(space.tunables().begin(), space.tunables().end(), [&](const Tunable& tunable) {
                return tunable.*called == name && std::find(tunable.values.begin(), tunable.values.end(), value) != tunable.values.end();
            });
        };
        auto known = found(&Tunable::name);
        if (known == space.tunables().end()) known = found(&Tunable::former_name);
        if (known == space.tunables().end()) {
            (void)space.parse(word);  // knows what is near to a wrong name or value
            throw Error("restriction", word + " is not in the space", "use a value of one of its forms; see 'hone space'");
        }
        allowed[known->name].push_back(value);
        begin = end + 1;
    }
    return [allowed](const Config& config) {
        return std::all_of(config.assignments().begin(), config.assignments().end(), [&](const Assignment& assignment) {
            const auto values = allowed.find(assignment.name);
            return values == allowed.end() || std::find(values->second.begin(), values->second.end(), assignment.value) != values->second.end();
        });
    };
}

Members restricted_members(const SearchSpace& space, const Members& members, const std::string& text) {
    const auto only = parse_restriction(space, text);
    if (!only) return members;
    if (!members.forms().empty())
        return space.allowed(members, [&](std::size_t tunable, std::size_t value) {
            const Tunable& one = space.tunables()[tunable];
            return only(Config({{one.name, one.values[value]}}));
        });
    std::vector<std::int64_t> left;
    for (const std::int64_t index : members)
        if (only(space.at(index))) left.push_back(index);
    return left;
}

std::vector<std::int64_t> drawn_members(const SearchSpace& space, const Members& members, std::int64_t count, std::uint64_t seed) {
    constexpr std::size_t most_lots = std::size_t{1} << 20;
    const auto wanted = static_cast<std::size_t>(count);
    if (members.size() > most_lots) {
        Random random(seed);
        std::set<std::int64_t> drawn;
        while (drawn.size() < std::min(wanted, members.size())) drawn.insert(members[random.index(members.size())]);
        return {drawn.begin(), drawn.end()};
    }
    std::vector<std::pair<std::uint64_t, std::int64_t>> lots;
    for (const std::int64_t index : members) {
        const Config config = space.at(index);
        std::uint64_t lot = mixed(seed);
        for (const char letter : config.key()) lot = mixed(lot + static_cast<unsigned char>(letter));
        lots.emplace_back(lot, index);
    }
    std::sort(lots.begin(), lots.end());
    lots.resize(std::min(lots.size(), wanted));
    std::vector<std::int64_t> drawn(lots.size());
    std::transform(lots.begin(), lots.end(), drawn.begin(), [](const auto& lot) { return lot.second; });
    std::sort(drawn.begin(), drawn.end());
    return drawn;
}

}  // namespace hone::inline v0_1
