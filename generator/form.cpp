#include "generator/form.hpp"

#include <algorithm>
#include <utility>

#include "generator/error.hpp"

namespace hone {
namespace {

using Rule = std::optional<std::string> (*)(const BlockResources&, std::int64_t blocks, const Limits&);

// One of the rules that all forms share.
Constraint held_by(const Limits& limits, const char* name, const Form& form, Rule rule) {
    std::vector<std::string> reads = form.resources_read;
    const auto& tunables = form.space.tunables;
    const bool shares = std::any_of(tunables.begin(), tunables.end(), [](const Tunable& tunable) { return tunable.name == "min_blocks"; });
    if (shares && !reads.empty()) reads.emplace_back("min_blocks");
    return {name,
            [rule, limits, resources = form.resources](const Config& config) {
                return rule(resources(config), integer_or(config, "min_blocks", 1), limits);
            },
            std::move(reads)};
}

}  // namespace

SearchSpace space_of(std::vector<Form> forms, const Limits& limits, const std::string& form) {
    std::vector<FormSpace> spaces;
    for (Form& one : forms) {
        if (one.resources)
            for (const auto& [name, rule] : {std::pair<const char*, Rule>{"threads", &thread_violation},
                                             {"shared_memory", &shared_violation},
                                             {"registers", &register_violation}})
                one.space.constraints.push_back(held_by(limits, name, one, rule));
        spaces.push_back(std::move(one.space));
    }
    return {std::move(spaces), form};
}

KernelSource kernel_of(const std::vector<Form>& forms, const Config& config) {
    std::string names;
    for (const Form& form : forms) {
        if (config.has(form_tunable, form.space.name)) return form.kernel(config);
        names += (names.empty() ? "" : ", ") + form.space.name;
    }
    throw Error("configuration " + config.key(), "it names no form of the kernel", "begin with form=NAME, one of " + names);
}

}  // namespace hone
