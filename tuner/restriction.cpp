#include "tuner/restriction.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "generator/error.hpp"

namespace hone {

std::function<bool(const Config&)> parse_restriction(const SearchSpace& space, const std::string& text) {
    if (text.empty()) return {};
    std::map<std::string, std::vector<Value>> allowed;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const Config config = space.parse(word);  // knows names and values, and what is near to a wrong one
        const std::string name = word.substr(0, word.find('='));
        for (const auto& assignment : config.assignments())
            if (assignment.name == name) allowed[name].push_back(assignment.value);
        begin = end + 1;
    }
    return [allowed](const Config& config) {
        return std::all_of(config.assignments().begin(), config.assignments().end(), [&](const Assignment& assignment) {
            const auto values = allowed.find(assignment.name);
            return values == allowed.end() || std::find(values->second.begin(), values->second.end(), assignment.value) != values->second.end();
        });
    };
}

}  // namespace hone
