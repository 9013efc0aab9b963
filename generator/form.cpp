#include "generator/form.hpp"

#include <algorithm>
#include <utility>

#include "foundation/error.hpp"
#include "generator/unused_constants.hpp"

namespace hone::inline v0_1 {
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

Form needing(std::vector<Feature> needs, Form form) {
    form.needs = std::move(needs);
    return form;
}

void leave_available(std::vector<Form>& forms, const Limits& limits) {
    std::erase_if(forms, [&](const Form& form) {
        return !std::all_of(form.needs.begin(), form.needs.end(), [&](Feature feature) { return limits.has(feature); });
    });
}

SearchSpace space_of(std::vector<Form> forms, const Limits& limits, const std::string& form) {
    std::vector<FormSpace> spaces;
    for (Form& one : forms) {
        if (one.resources)
            for (const auto& [name, rule] : {std::pair<const char*, Rule>{"threads", &thread_violation},
                                             {"shared_memory", &shared_violation},
                                             {"registers", &register_violation}})
                one.space.constraints.push_back(held_by(limits, name, one, rule));
        one.space.resources = std::move(one.resources);
        spaces.push_back(std::move(one.space));
    }
    return {std::move(spaces), form};
}

void set_forms(Family& family, std::map<Target, std::function<Forms(const Problem&, const Limits&)>> forms) {
    const auto forms_of = [name = family.name, forms = std::move(forms)](const Problem& problem, const Limits& limits) {
        const auto own = forms.find(limits.target);
        if (own == forms.end()) throw Error("family " + name, "it has no kernel for " + to_string(limits.target), "choose a device of another kind");
        Forms all = own->second(problem, limits);
        leave_available(all.list, limits);
        return all;
    };
    family.space = [forms_of](const Problem& problem, const Limits& limits) {
        Forms list = forms_of(problem, limits);
        return space_of(std::move(list.list), limits, list.safe);
    };
    family.kernel = [forms_of](const Problem& problem, const Config& config, const Limits& limits) {
        return kernel_of(forms_of(problem, limits).list, config);
    };
}

KernelSource kernel_of(const std::vector<Form>& forms, const Config& config) {
    std::string names;
    for (const Form& form : forms) {
        if (config.has(form_tunable, form.space.name)) {
            KernelSource source = form.kernel(config);
            source.text = without_unused_constants(std::move(source.text));
            return source;
        }
        names += (names.empty() ? "" : ", ") + form.space.name;
    }
    throw Error("configuration " + config.key(), "it names no form of the kernel", "begin with form=NAME, one of " + names);
}

}  // namespace hone::inline v0_1
