#include "interfaces/kernel_folder/source_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <set>

#include "foundation/error.hpp"
#include "generator/early_expression.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/render.hpp"
#include "interfaces/kernel_folder/constant_arrays.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

constexpr std::int64_t most_words = std::int64_t{1} << 40;
constexpr std::int64_t largest_int = std::numeric_limits<int>::max();
constexpr double most_work = 1e18, largest_double = 1e300;

// The parameters of an entry, with types and as names alone.
struct Parameters {
    std::string declared;
    std::string names;

    void add(const std::string& type, const std::string& name) {
        declared += (declared.empty() ? "" : ", ") + type + (name.empty() ? "" : " ") + name;
        names += (names.empty() ? "" : ", ") + name;
    }
};

std::string pointer(const Argument& argument, bool constant) {
    const char* type = "real";
    if (argument.type) type = argument.integers() ? "int" : argument.type == ValueType::f32 ? "float" : "double";
    return fmt::format("{}{}*", constant && argument.access == Access::in ? "const " : "", type);
}

// A number as the compiler reads it.
std::string literal(const Passed& number, const Problem& problem) {
    const Values values(problem);
    if (number.type == "long long") return fmt::format("{}LL", number.value.integer(values, -largest_int, most_words));
    if (number.whole()) return fmt::format("{}", number.value.integer(values, number.type == "unsigned" ? 0 : -largest_int, largest_int));
    return fmt::format("{}({:.17g})", number.type, number.value.number(values, -largest_double, largest_double));
}

void add_range(Parameters& parameters, const Description& description) {
    if (!description.range.given()) return;
    parameters.add("int", "first");
    parameters.add("int", "last");
}

// By which hone calls an entry: the arrays, scratch and sizes, and the range where there is one.
Parameters common_parameters(const Description& description, const std::vector<Scratch>& scratch) {
    Parameters parameters;
    for (const Argument& argument : description.arguments) parameters.add(pointer(argument, !description.wrapped), argument.name);
    for (const Scratch& table : scratch) parameters.add("real*", table.name);
    for (const ProblemParameter& parameter : description.parameters)
        if (parameter.extent) parameters.add("int", parameter.name);
    add_range(parameters, description);
    return parameters;
}

// Those of the folder's function. Of numbers that are listed the names are their values, where a
// problem says which. What was written for another caller may lack a const.
Parameters own_parameters(const Description& description, const std::vector<Scratch>& scratch, const Problem* problem, bool constant = true) {
    if (!description.wrapped) return common_parameters(description, scratch);
    Parameters parameters;
    for (const Passed& passed : description.passed) {
        if (passed.array >= 0) {
            const Argument& argument = description.arguments.at(static_cast<std::size_t>(passed.array));
            parameters.add(pointer(argument, constant), argument.name);
        } else {
            parameters.declared += fmt::format("{}{} {}", parameters.declared.empty() ? "" : ", ", passed.type, passed.name);
            parameters.names += (parameters.names.empty() ? "" : ", ") + (problem == nullptr ? passed.name : literal(passed, *problem));
        }
    }
    for (const Scratch& table : scratch) parameters.add("real*", table.name);
    add_range(parameters, description);
    return parameters;
}

Parameters with_constants(Parameters parameters, std::size_t constants) {
    for (std::size_t i = 0; i < constants; ++i) parameters.add("int", fmt::format("constant_{}", i));
    return parameters;
}

// A name of a value known to the compiler: "block_x" is 32, "boundary_periodic" is 1 or 0.
struct Constant {
    std::string name;
    std::int64_t value = 0;
    bool truth = false;
    std::string word = {};  ///< the value, where it is a word
};

void add_constants(std::vector<Constant>& constants, const std::string& name, const Value& value, const std::vector<std::string>& words) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        constants.push_back({name, *number});
        return;
    }
    constants.push_back({name, 0, false, std::get<std::string>(value)});
    for (const std::string& word : words) constants.push_back({name + "_" + word, std::get<std::string>(value) == word ? 1 : 0, true});
}

std::vector<Constant> constants_of(const Description& description, const Problem& problem) {
    std::vector<Constant> constants;
    for (const ProblemParameter& parameter : description.parameters) {
        if (parameter.extent || parameter.name == "precision") continue;
        const Value value = parameter.words.empty() ? Value(problem.integer(parameter.name)) : Value(problem.word(parameter.name));
        add_constants(constants, parameter.name, value, parameter.words);
    }
    return constants;
}

void add_tunables(std::vector<Constant>& constants, const Side& side, const Config& config) {
    for (const Tunable& tunable : side.tunables) {
        std::vector<std::string> words;
        for (const Value& value : tunable.values)
            if (const auto* word = std::get_if<std::string>(&value)) words.push_back(*word);
        const Value value = words.empty() ? Value(config.integer(tunable.name)) : Value(config.word(tunable.name));
        add_constants(constants, tunable.name, value, words);
    }
}

// What stands before the folder's own text.
Block definitions(const Problem& problem, const std::vector<Constant>& constants, bool macros) {
    Block block;
    for (const Constant& constant : constants) {
        if (macros)
            block.line("#define {} {}", constant.name, constant.word.empty() ? fmt::format("{}", constant.value) : constant.word);
        else if (!constant.word.empty())
            continue;  // no constant of C++ is a word
        else if (constant.truth)
            block.line("constexpr bool {} = {};", constant.name, constant.value != 0);
        else
            block.line("constexpr int {} = {};", constant.name, constant.value);
    }
    return block.line("using real = {};", problem.precision() == Precision::f32 ? "float" : "double");
}

// Each entry with the number of its launches' constants.
std::vector<std::pair<std::string, std::size_t>> entries_of(const Side& side) {
    std::vector<std::pair<std::string, std::size_t>> entries;
    for (const PlannedLaunch& launch : side.launches) {
        const std::pair<std::string, std::size_t> entry{launch.entry, launch.constants.size()};
        if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
    }
    return entries;
}

constexpr std::string_view hole_mark = "//@ ";

bool has_hole(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        if (line.starts_with(hole_mark) && line.substr(hole_mark.size()) == name) return true;
    }
    return false;
}

// Functions that hone calls through one of its own: those of the processor that take no range, and
// all that were written for another caller.
bool has_caller(const Description& description, bool cuda) {
    return description.wrapped || (!cuda && !description.range.given());
}

// The entry by which hone calls a function.
std::string called(const Description& description, const std::string& entry, bool cuda) {
    return has_caller(description, cuda) ? "hone_" + entry : entry;
}

// A function of this name with other parameters than declared would be a second one, which nothing
// calls: then its address has no type, and the compiler says so with the declaration for a file's
// name. One that was written for another caller may differ from it in a const.
std::string sole(const Description& description, const std::string& entry, const std::vector<Scratch>& scratch, std::size_t constants) {
    if (description.wrapped) return fmt::format("#line 1 \"it is called with {}\"\n", declaration(description, entry, scratch, constants));
    return fmt::format("#line 1 \"the parameters have to be those of {1}\"\nusing hone_{0}_is_one_function = decltype(&{0});\n", entry,
                       declaration(description, entry, scratch, constants));
}

// A function of this head that calls another one.
std::string calling(const std::string& head, const std::string& callee, const Parameters& arguments) {
    return fmt::format("{}\n{{\n    {}({});\n}}\n", head, callee, arguments.names);
}

// The parameters by which hone calls an entry that has a caller.
Parameters outer_parameters(const Description& description, const std::vector<Scratch>& scratch, std::size_t constants) {
    Parameters outer = common_parameters(description, scratch);
    if (!description.range.given()) {
        outer.add("int", "");
        outer.add("int", "");
    }
    return with_constants(outer, constants);
}

// What hone adds behind the text for an entry.
std::string caller(const Description& description, const Problem& problem, const std::string& entry, const std::vector<Scratch>& scratch,
                   std::size_t constants, bool cuda) {
    std::string text = sole(description, entry, scratch, constants);
    if (!has_caller(description, cuda)) return text;
    if (cuda) {
        const Parameters own = with_constants(own_parameters(description, scratch, nullptr, false), constants);
        return text + calling(fmt::format("__device__ void hone_calls_{}({})", entry, own.declared), entry, own);
    }
    const Parameters own = with_constants(own_parameters(description, scratch, &problem), constants);
    const Parameters outer = outer_parameters(description, scratch, constants);
    return text + calling(fmt::format("extern \"C\" void {}({})", called(description, entry, cuda), outer.declared), entry, own);
}

// A kernel that was written to be launched by another caller is a function of the device to hone's
// own kernel. That stands before the text, where `__global__` still means what it does: NVRTC
// cannot give a macro its former meaning back.
void own_kernel(Block& before, const Description& description, const Problem& problem, const std::string& entry, const std::vector<Scratch>& scratch,
                std::size_t constants, std::int64_t threads) {
    const Parameters declared = with_constants(own_parameters(description, scratch, nullptr, false), constants);
    const Parameters own = with_constants(own_parameters(description, scratch, &problem), constants);
    before.line("__device__ void hone_calls_{}({});", entry, declared.declared);
    before.lines_of(calling(fmt::format("extern \"C\" __global__ __launch_bounds__({}) void {}({})", threads, called(description, entry, true),
                                        outer_parameters(description, scratch, constants).declared),
                            "hone_calls_" + entry, own));
}

// What CUDA allows of kernels only.
constexpr std::string_view kernels_are_functions =
    "#undef __global__\n#define __global__ __device__\n"
    "#undef __launch_bounds__\n#define __launch_bounds__(...)\n"
    "#undef __maxnreg__\n#define __maxnreg__(...)\n"
    "#undef __grid_constant__\n#define __grid_constant__\n";

// Behind the text: a macro by which it gives a value of its own to a constant is an error, as what
// is tuned would have no effect. What follows may have such names.
std::string unchanged(const std::vector<Constant>& constants) {
    std::string text;
    for (const Constant& constant : constants) {
        text += fmt::format("#ifdef {}\n", constant.name);
        if (constant.word.empty())
            text += fmt::format(
                "static_assert(({0}) == {1}, \"the source defines {0} itself, and not as {1}: remove that, or put it between #ifndef {0} and "
                "#endif\");\n",
                constant.name, constant.value);
        text += fmt::format("#undef {}\n#endif\n", constant.name);
    }
    return text;
}

// The folder's text with what it is told. Lines of a plain file keep their numbers in the
// compiler's messages.
std::string told_text(const std::string& shown, const std::string& text, bool is_template, const std::vector<Constant>& constants,
                      const Block& definitions, const Config* config) {
    if (!is_template) {
        std::string whole;
        for (const std::string& line : definitions.lines()) whole += line + "\n";
        whole += fmt::format("#line 1 \"{}\"\n", shown) + text + (text.ends_with('\n') ? "" : "\n") + "#line 1 \"what hone adds\"\n";
        return whole + unchanged(constants);
    }
    if (!has_hole(text, "constants"))
        throw Error(shown, "there is no hole for parameters and tunables", "add a line '//@ constants' behind the includes");
    Holes holes{{"constants", definitions}};
    if (config != nullptr && has_hole(text, "parallel")) {
        holes.emplace_back("team", team(*config));
        holes.emplace_back("parallel", team_parallel(*config));
        holes.emplace_back("seat", team_seat(*config));
    }
    return render_text(text, shown, holes) + unchanged(constants);
}

const Side& side_for(const Description& description, const std::string& family, Target target) {
    const auto& side = description.side(target);
    if (side) return *side;
    throw Error("kernel " + family, "it has no source for " + to_string(target), fmt::format("add \"{}\" to its family.json", to_string(target)));
}

Dim3 dimensions_of(const std::array<Expression, 3>& expressions, const Values& values) {
    Dim3 dimensions{1, 1, 1};
    for (std::size_t i = 0; i < 3; ++i)
        if (expressions.at(i).given()) dimensions.at(i) = expressions.at(i).integer(values, 1, largest_int);
    return dimensions;
}

Launch launch_of(const PlannedLaunch& planned, const Values& values) {
    Launch launch;
    launch.entry = planned.entry;
    launch.grid = dimensions_of(planned.grid, values);
    launch.block = dimensions_of(planned.block, values);
    launch.range_axis = planned.range_axis;
    if (planned.range_per_block.given()) launch.range_per_block = planned.range_per_block.integer(values, 1, largest_int);
    if (planned.shared_bytes.given()) launch.shared_bytes = planned.shared_bytes.integer(values, 0, largest_int);
    for (const Expression& constant : planned.constants)
        launch.constants.push_back(static_cast<int>(constant.integer(values, -largest_int, largest_int)));
    return launch;
}

constexpr std::int64_t most_blocks_yz = 65535, most_block_z = 64;  // along y and z; of every architecture

// What a device refuses of a launch, whatever the kernel does.
std::optional<std::string> refused(const Launch& launch, const Limits& limits) {
    const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    if (launch.block[0] > limits.max_threads_per_block || launch.block[1] > limits.max_threads_per_block || threads > limits.max_threads_per_block)
        return fmt::format("{} threads in a block of {}, the device has {}", threads, launch.entry, limits.max_threads_per_block);
    if (launch.block[2] > most_block_z) return fmt::format("{} threads along z in a block of {}, devices have 64", launch.block[2], launch.entry);
    if (launch.shared_bytes > limits.shared_bytes_per_block)
        return fmt::format("{} bytes of shared memory in {}, the device has {}", launch.shared_bytes, launch.entry, limits.shared_bytes_per_block);
    for (const std::size_t axis : {1U, 2U})
        if (launch.grid.at(axis) > most_blocks_yz)
            return fmt::format("{} blocks along {} in {}, devices have 65535", launch.grid.at(axis), "xyz"[axis], launch.entry);
    return std::nullopt;
}

}  // namespace

std::vector<ArraySpec> array_specs(const Description& description, const Problem& problem) {
    const Values values(problem);
    std::vector<ArraySpec> specs;
    std::int64_t all = 0;
    for (const Argument& argument : description.arguments) {
        std::vector<std::int64_t> extents;
        ArraySpec spec;
        spec.name = argument.name;
        spec.access = argument.access;
        spec.words = 1;
        spec.help = argument.help;
        for (const Expression& extent : argument.extents) {
            extents.push_back(extent.integer(values, 1, most_words));
            if (extents.back() > most_words / spec.words)
                throw Error(extent.where(), fmt::format("{} has more than 2^40 values for {}", argument.name, problem.key()), "make it smaller");
            spec.words *= extents.back();
            spec.shape += "[" + extent.text() + "]";
        }
        if (argument.type) {
            spec.shape += " " + to_string(*argument.type);
            const int word = bytes_per_word(problem.precision());
            spec.words = (spec.words * bytes_per_value(*argument.type) + word - 1) / word;
        }
        all += spec.words;
        if (all > most_words) throw Error(problem.key(), "its arrays have more than 2^40 values", "make it smaller");
        specs.push_back(laid_out(std::move(spec), extents));
        specs.back().alignment = 0;  // the kernel is not known to need more than a value's
    }
    return specs;
}

Counts work_counts(const Description& description, const Problem& problem) {
    const Values values(problem);
    Counts counts;
    counts.unit = description.update_unit;
    counts.operations = description.operations.number(values, 0, most_work);
    for (const ArraySpec& spec : array_specs(description, problem)) {
        counts.bytes += static_cast<double>(bytes_of(spec, problem.precision())) * (spec.access == Access::inout ? 2 : 1);
        if (counts.updates == 0 && spec.access != Access::in) counts.updates = static_cast<double>(value_count(spec, problem.precision()));
    }
    if (description.updates.given()) counts.updates = description.updates.number(values, 1, most_work);
    if (description.bytes.given()) counts.bytes = description.bytes.number(values, 1, most_work);
    return counts;
}

std::int64_t range_length(const Description& description, const Problem& problem) {
    return description.range.given() ? description.range.integer(Values(problem), 1, largest_int) : 1;
}

namespace {

// Those of some names that are tunables.
std::vector<std::string> tunables_in(std::vector<std::string> names, const std::vector<Tunable>& tunables) {
    std::erase_if(names, [&](const std::string& name) {
        return std::none_of(tunables.begin(), tunables.end(), [&](const Tunable& tunable) { return tunable.name == name; });
    });
    return names;
}

// What a rule and its reason ask for.
std::vector<std::string> names_in(const Rule& rule) {
    std::vector<std::string> names = rule.holds.names();
    for (const std::string& name : rule.why.names()) names.push_back(name);
    return names;
}

// What `refused` asks of launches, as one expression; empty where that is nothing.
std::string launchable(const std::vector<PlannedLaunch>& launches, const Limits& limits) {
    std::vector<std::string> conditions;
    const auto bounded = [&](std::int64_t least, const std::string& text, std::int64_t most) {
        conditions.push_back(fmt::format("{} <= {} <= {}", least, text, most));
    };
    constexpr std::array<std::int64_t, 3> most_blocks{largest_int, most_blocks_yz, most_blocks_yz};
    for (const PlannedLaunch& launch : launches) {
        std::string threads = "1";
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const Expression &block = launch.block.at(axis), &grid = launch.grid.at(axis);
            if (block.given()) bounded(1, "(" + block.text() + ")", axis == 2 ? most_block_z : limits.max_threads_per_block);
            if (block.given()) threads += " * (" + block.text() + ")";
            if (grid.given()) bounded(1, "(" + grid.text() + ")", most_blocks.at(axis));
        }
        bounded(1, threads, limits.max_threads_per_block);
        if (launch.shared_bytes.given()) bounded(0, "(" + launch.shared_bytes.text() + ")", limits.shared_bytes_per_block);
    }
    return fmt::format("{}", fmt::join(conditions, " and "));
}

// What an expression about a device says while only some tunables have values.
MakeEarlyRule early_rule(const PythonExpression& expression, const Problem& problem, const Limits& limits,
                         const std::shared_ptr<const std::vector<Tunable>>& tunables) {
    auto names = std::make_shared<std::vector<EarlyName>>();
    for (const Tunable& tunable : *tunables) {
        EarlyName& name = names->emplace_back(EarlyName{tunable.name, {}});
        for (const Value& value : tunable.values) name.values.push_back(python_value(value));
    }
    return [expression, problem, limits, tunables, names] {
        const Config none;
        const Values values(problem, none, *tunables, limits);
        return std::make_unique<EarlyExpression>(expression, names, [&](const std::string& name) { return values(name); });
    };
}

// Of a device and all launches.
Constraint launch_constraint(const Side& side, const Problem& problem, const Limits& limits,
                             const std::shared_ptr<const std::vector<Tunable>>& tunables) {
    const PythonExpression early(launchable(side.launches, limits), "launches");
    std::vector<std::string> names = early.names();
    for (const PlannedLaunch& launch : side.launches) {
        for (const std::string& name : launch.range_per_block.names()) names.push_back(name);
        for (const Expression& constant : launch.constants)
            for (const std::string& name : constant.names()) names.push_back(name);
    }
    return {"launch",
            [launches = side.launches, problem, limits, tunables](const Config& config) -> std::optional<std::string> {
                const Values values(problem, config, *tunables, limits);
                for (const PlannedLaunch& launch : launches)
                    if (auto reason = refused(launch_of(launch, values), limits)) return reason;
                return std::nullopt;
            },
            tunables_in(std::move(names), *tunables), early_rule(early, problem, limits, tunables)};
}

}  // namespace

SearchSpace search_space(const Description& description, const std::string& family, const Problem& problem, const Limits& limits) {
    const Side& side = side_for(description, family, limits.target);
    std::vector<Tunable> tunables = side.tunables;
    std::vector<Assignment> safe = side.safe;
    std::vector<Constraint> constraints;
    if (side.has_team) {
        for (Tunable& tunable : team_tunables(limits)) tunables.push_back(std::move(tunable));
        for (Assignment& assignment : safe_team()) safe.push_back(std::move(assignment));
    }
    const auto shared = std::make_shared<const std::vector<Tunable>>(tunables);
    for (const Rule& rule : side.rules)
        constraints.push_back({rule.name,
                               [rule, problem, limits, shared](const Config& config) -> std::optional<std::string> {
                                   const Values values(problem, config, *shared, limits);
                                   if (rule.holds.truth(values)) return std::nullopt;
                                   return rule.why.told(values);
                               },
                               tunables_in(names_in(rule), tunables), early_rule(rule.holds.python(), problem, limits, shared)});
    if (side.has_team) constraints.push_back(team_constraint());
    if (traits_of(limits.target).has_blocks) constraints.push_back(launch_constraint(side, problem, limits, shared));
    try {
        return {std::move(tunables), std::move(constraints), std::move(safe)};
    } catch (const Error& error) {
        throw Error(fmt::format("kernel {}, {}", family, to_string(limits.target)), error.what(),
                    "\"safe\" has to keep all constraints, for every problem and device");
    }
}

std::string declaration(const Description& description, const std::string& entry, const std::vector<Scratch>& scratch, std::size_t constants) {
    return fmt::format("void {}({})", entry, with_constants(own_parameters(description, scratch, nullptr), constants).declared);
}

KernelSource kernel_source(const Description& description, const std::string& family, const Problem& problem, const Config& config,
                           const Limits& limits) {
    const Side& side = side_for(description, family, limits.target);
    const bool cuda = traits_of(limits.target).has_blocks;
    std::vector<Tunable> tunables = side.tunables;
    if (side.has_team)
        for (Tunable& tunable : team_tunables(limits)) tunables.push_back(std::move(tunable));
    const Values values(problem, config, tunables, limits);
    KernelSource source;
    source.target = limits.target;
    source.precision = problem.precision();
    source.arrays = array_specs(description, problem);
    for (const Scratch& scratch : side.scratch) source.tables.push_back({scratch.name, scratch.words.integer(values, 1, most_words), {}, true});
    for (const ProblemParameter& parameter : description.parameters)
        if (parameter.extent) source.scalars.push_back({parameter.name, static_cast<int>(problem.integer(parameter.name))});
    source.executed_operations = work_counts(description, problem).operations;
    std::vector<Constant> constants = constants_of(description, problem);
    add_tunables(constants, side, config);
    for (const Derived& derived : side.derived) constants.push_back({derived.name, derived.value.integer(values, -largest_int, largest_int)});
    std::int64_t threads = 1;
    for (const PlannedLaunch& planned : side.launches) {
        source.step.push_back(launch_of(planned, values));
        const Dim3& block = source.step.back().block;
        threads = std::max(threads, block[0] * block[1] * block[2]);
        source.step.back().entry = called(description, planned.entry, cuda);
    }
    Block before = definitions(problem, constants, !side.is_template());
    if (description.wrapped) before.line("#define kernel_tuner 1");  // by which sources for other tuners know that these give the values
    std::string after;
    for (const auto& [entry, count] : entries_of(side)) {
        if (!description.wrapped)
            before.line("extern \"C\" {}{};", cuda ? "__global__ " : "", declaration(description, entry, side.scratch, count));
        else if (cuda)
            own_kernel(before, description, problem, entry, side.scratch, count, threads);
        source.entries.push_back(called(description, entry, cuda));
        after += caller(description, problem, entry, side.scratch, count, cuda);
    }
    if (cuda && description.wrapped) {
        if (const ConstantArrays constant_arrays(description, side.text, problem); constant_arrays.any()) {
            constant_arrays.write_before(before, outer_parameters(description, side.scratch, 0).declared);
            after += constant_arrays.behind();
            source.step.insert(source.step.begin(), constant_arrays.launch());
            source.entries.push_back(source.step.front().entry);
        }
        before.lines_of(kernels_are_functions);
    }
    const std::string shown = description.name + "/" + side.file;
    source.text = fmt::format("// {}: {}, {}\n", problem.class_key(), to_string(limits.target), config.key()) +
                  told_text(shown, side.text, side.is_template(), constants, before, &config) + after;
    return source;
}

KernelSource reference_source(const Description& description, const Problem& problem) {
    const std::string& entry = description.reference.entry;
    KernelSource source;
    source.precision = problem.precision();
    source.arrays = array_specs(description, problem);
    for (const ProblemParameter& parameter : description.parameters)
        if (parameter.extent) source.scalars.push_back({parameter.name, static_cast<int>(problem.integer(parameter.name))});
    source.text = fmt::format("// {}: reference\n", problem.class_key());
    const std::vector<Constant> constants = constants_of(description, problem);
    if (description.reference.kind == ReferenceSource::Kind::library) {
        // The function's address comes as one more argument, so that no path stands in a source.
        source.tables.push_back({"function", 1, {}, true});
        Block block = definitions(problem, {}, true);
        const Parameters own = own_parameters(description, {}, &problem), types = own_parameters(description, {}, nullptr);
        Parameters arrays;
        for (const Argument& argument : description.arguments) arrays.add(pointer(argument, true), argument.name);
        Parameters sizes;
        for (const ScalarSpec& scalar : source.scalars) sizes.add("int", scalar.name);
        const std::string range = description.range.given() ? "int first, int last" : "int, int";
        block.line("extern \"C\" void hone_reference({}, void (*hone_function)({}){}, {})", arrays.declared, types.declared,
                   sizes.declared.empty() ? "" : ", " + sizes.declared, range);
        block.line("{{").line("    hone_function({});", own.names).line("}}");
        for (const std::string& line : block.lines()) source.text += line + "\n";
        source.entries = {"hone_reference"};
    } else {
        Block before = definitions(problem, constants, true);
        if (!description.wrapped) before.line("extern \"C\" {};", declaration(description, entry, {}, 0));
        source.text += told_text(description.name + "/" + description.reference.file, description.reference.text, false, constants, before, nullptr) +
                       caller(description, problem, entry, {}, 0, false);
        source.entries = {called(description, entry, false)};
    }
    source.step.resize(1);
    source.step[0].entry = source.entries[0];
    return source;
}

}  // namespace hone::inline v0_1::kernel_folder
