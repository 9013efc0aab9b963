#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "generator/family.hpp"
#include "generator/kernel_source.hpp"
#include "generator/limits.hpp"
#include "generator/residency.hpp"
#include "generator/search_space.hpp"
#include "generator/value_lists.hpp"

namespace hone::inline v0_1 {

/// A form of a family's kernel for one problem on one device: a way to compute it, with tunables of
/// its own. A family is a list of forms. So a tunable has one meaning, and no form has one that it
/// does not look at.
///
///     Form march{.space = {.name = "march", .help = "planes pass through the registers of a block", .tunables = ..., .constraints = ...,
///                          .safe = ...},
///                .resources = [grid](const Config& config) { return BlockResources{...}; },
///                .kernel = [problem](const Config& config) { return march_kernel(problem, config); }};
struct Form {
    FormSpace space;  ///< name, explanation, tunables, what it refuses, safe configuration
    /// What a device must have beyond its limits: where it has not, the form does not exist.
    std::vector<Feature> needs = {};
    /// A block's demand on a CUDA device. A form with the tunable `min_blocks` must be able to have
    /// as many on a multiprocessor. Empty: nothing that is limited, as on processors.
    std::function<BlockResources(const Config&)> resources = {};
    /// The only tunables that `resources` looks at; none: perhaps all. See Constraint.
    std::vector<std::string> resources_read = {};
    /// The source of a member.
    std::function<KernelSource(const Config&)> kernel = {};
};

/// The same form, with what a device must have for it.
Form needing(std::vector<Feature> needs, Form form);

/// Leaves those that a device can have. `set_forms` does so, too; a family that chooses its safe
/// form by what there is does it before.
void leave_available(std::vector<Form>& forms, const Limits& limits);

/// The forms of a problem on a device. What runs untuned is the safe configuration of the one that
/// is named `safe`.
struct Forms {
    std::vector<Form> list;
    std::string safe;
};

/// Gives a family its space and its kernel: those of its forms, which each target lists for itself.
/// Where a target is not among them, space and kernel throw Error.
///
///     set_forms(family, {{Target::cpu, cpu_forms}, {Target::cuda, cuda_forms}});
void set_forms(Family& family, std::map<Target, std::function<Forms(const Problem&, const Limits&)>> forms);

/// The union of the forms' spaces. Each refuses first what it refuses itself, then what the device
/// cannot hold, by the same rules for all. What runs untuned is the safe configuration of `form`.
/// Throws Error as SearchSpace does.
SearchSpace space_of(std::vector<Form> forms, const Limits& limits, const std::string& form);

/// A number of a configuration, or `otherwise` where its form does not have this tunable.
inline std::int64_t integer_or(const Config& config, std::string_view name, std::int64_t otherwise) {
    return config.find(name) == nullptr ? otherwise : config.integer(name);
}

/// The source of a configuration, by its form, without constants that it does not need: a template
/// may declare what only some configurations use. Throws Error when it names none of `forms`.
KernelSource kernel_of(const std::vector<Form>& forms, const Config& config);

}  // namespace hone::inline v0_1
