#include "tuner/replay/formats/t1.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "foundation/python_expression.hpp"
#include "generator/census.hpp"
#include "generator/early_expression.hpp"
#include "tuner/replay/formats/parameter_values.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t longest_t1_text = 1 << 20;
constexpr const char* form = "a T1 file has ConfigurationSpace.TuningParameters with Name, Type and Values";

// A tunable with what its values are to the conditions.
struct Parameter {
    Tunable tunable;
    std::vector<PythonValue> values;
    std::optional<std::size_t> preset;  ///< place of the default
};

std::string json_of(const PythonValue& value, const JsonPlace& place) {
    if (const auto* truth = std::get_if<bool>(&value.held)) return *truth ? "true" : "false";
    if (const auto* text = std::get_if<std::string>(&value.held)) return json_string(*text);
    if (std::holds_alternative<PythonValue::List>(value.held)) place.fail("holds a list in the list", "a value is a number, a text, True or False");
    return value.text();
}

PythonValue value_of(const JsonPlace& place) {
    const JsonNode& node = place.node();
    if (node.kind == JsonNode::Kind::boolean) return {node.text == "true"};
    if (node.kind == JsonNode::Kind::integer) return {node.integer};
    if (node.kind == JsonNode::Kind::real) return {node.real};
    return {place.string(longest_t1_text)};
}

Parameter read_parameter(const JsonPlace& place) {
    const JsonPlace values = place["Values"];
    const PythonExpression expression(values.string(longest_t1_text), values.where());
    const PythonValue list =
        expression.evaluate([&](const std::string& name) -> PythonValue { values.fail("asks for " + name, "values stand for themselves"); });
    const auto* elements = std::get_if<PythonValue::List>(&list.held);
    if (elements == nullptr || elements->empty()) values.fail("is not a list of values", "write it as \"[1, 2, 4]\"");
    RecordedParameter written{place["Name"].string(longest_t1_text), {}};
    Parameter parameter;
    std::set<std::string> seen;
    for (const PythonValue& value : *elements) {
        const std::string json = json_of(value, values);
        if (!seen.insert(json).second) continue;
        written.written.push_back(json);
        parameter.values.push_back(value);
    }
    parameter.tunable = tunable_of(written);
    if (const auto preset = place.find("Default")) {
        const bool listed = preset->node().kind == JsonNode::Kind::array && preset->elements() == 1;  // as files of the benchmark hub have it
        const auto found = std::find(parameter.values.begin(), parameter.values.end(), value_of(listed ? (*preset)[0] : *preset));
        if (found != parameter.values.end()) parameter.preset = static_cast<std::size_t>(found - parameter.values.begin());
    }
    return parameter;
}

using Parameters = std::shared_ptr<const std::vector<Parameter>>;
using Names = std::shared_ptr<const std::vector<EarlyName>>;

// The value of a name in a configuration, as conditions see it.
PythonValue value_in(const std::vector<Parameter>& parameters, const Config& config, const std::string& name) {
    for (std::size_t d = 0; d < parameters.size(); ++d) {
        if (parameters[d].tunable.name != name) continue;
        const auto& values = parameters[d].tunable.values;
        const auto found = std::find(values.begin(), values.end(), config.assignments()[d].value);
        return parameters[d].values[static_cast<std::size_t>(found - values.begin())];
    }
    throw Error("condition", "there is no parameter " + name, "name one of the space's");  // refused when read
}

Constraint read_condition(const JsonPlace& place, const Parameters& parameters, const Names& all) {
    const JsonPlace text = place["Expression"];
    const PythonExpression expression(text.string(longest_t1_text), text.where());
    std::vector<std::string> names;
    names.reserve(parameters->size());
    for (const auto& parameter : *parameters) names.push_back(parameter.tunable.name);
    for (const auto& name : expression.names())
        if (std::find(names.begin(), names.end(), name) == names.end())
            text.fail("asks for " + name, did_you_mean(name, names) + fmt::format("the parameters are {}", fmt::join(names, ", ")));
    return {text.string(longest_t1_text),
            [parameters, expression](const Config& config) -> std::optional<std::string> {
                const auto value = [&](const std::string& name) { return value_in(*parameters, config, name); };
                if (expression.evaluate(value).truth()) return std::nullopt;
                std::string reason;
                for (const auto& name : expression.names()) reason += fmt::format("{}{} is {}", reason.empty() ? "" : ", ", name, value(name).text());
                return reason.empty() ? "it is never true" : reason;
            },
            expression.names(), [expression, all] { return std::make_unique<EarlyExpression>(expression, all, PythonExpression::Lookup()); }};
}

// The defaults where they are a member, else the first member.
Config start_of(const std::vector<Constraint>& constraints, const std::vector<Parameter>& parameters, bool& defaults, const std::string& file,
                std::size_t most_tried) {
    const auto member = [&](const Config& config) {
        return std::none_of(constraints.begin(), constraints.end(), [&](const Constraint& rule) { return rule.violation(config).has_value(); });
    };
    std::vector<Assignment> preset;
    preset.reserve(parameters.size());
    for (const auto& [tunable, values, place] : parameters) preset.push_back({tunable.name, tunable.values[place.value_or(0)]});
    defaults = std::all_of(parameters.begin(), parameters.end(), [](const Parameter& parameter) { return parameter.preset.has_value(); }) &&
               member(Config(preset));
    if (defaults) return Config(preset);
    std::vector<std::size_t> sizes;
    sizes.reserve(parameters.size());
    for (const Parameter& parameter : parameters) sizes.push_back(parameter.values.size());
    std::vector<std::unique_ptr<EarlyRule>> rules;
    rules.reserve(constraints.size());
    for (const Constraint& constraint : constraints) rules.push_back(constraint.early());
    const auto first = first_member(sizes, rules, most_tried);
    if (!first) throw Error(file, "no configuration meets all conditions", "correct the conditions");
    std::vector<Assignment> assignments;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        assignments.push_back({parameters[i].tunable.name, parameters[i].tunable.values[(*first)[i]]});
    return Config(std::move(assignments));
}

std::string tuple_of(const RecordedSpace& recorded, const std::vector<std::size_t>& dimensions, const std::vector<std::size_t>& places) {
    std::string text;
    for (const std::size_t d : dimensions) {
        const std::string& written = recorded.parameters()[d].written[places[d]];
        text += (text.empty() ? "" : ", ") + (written == "true" ? "True" : written == "false" ? "False" : written);
    }
    return "(" + text + (dimensions.size() == 1 ? ",)" : ")");
}

// A condition that leaves exactly the values that members have together in these dimensions; empty
// when that is all values.
std::string condition_on(const RecordedSpace& recorded, const std::vector<std::size_t>& dimensions) {
    std::set<std::string> tuples;
    std::size_t all = 1;
    for (const std::size_t d : dimensions) all *= recorded.parameters()[d].written.size();
    for (const std::int64_t index : recorded.members()) tuples.insert(tuple_of(recorded, dimensions, recorded.places(index)));
    if (tuples.size() == all) return "";
    std::string names;
    std::string quoted;
    for (const std::size_t d : dimensions) {
        const std::string& name = recorded.parameters()[d].name;
        names += (names.empty() ? "" : ", ") + name;
        quoted += (quoted.empty() ? "" : ", ") + json_string(name);
    }
    const std::string expression = fmt::format("({}) in [{}]", names, fmt::join(tuples, ", "));
    return fmt::format("{{\"Parameters\": [{}], \"Expression\": {}}}", quoted, json_string(expression));
}

std::vector<std::string> conditions_of(const RecordedSpace& recorded) {
    std::vector<std::size_t> varying;
    for (std::size_t d = 0; d < recorded.parameters().size(); ++d)
        if (recorded.parameters()[d].written.size() > 1) varying.push_back(d);
    if (varying.empty()) return {};
    const std::string condition = condition_on(recorded, varying);
    return condition.empty() ? std::vector<std::string>{} : std::vector<std::string>{condition};
}

const char* type_of(const RecordedParameter& parameter) {
    const auto all = [&](auto holds) { return std::all_of(parameter.written.begin(), parameter.written.end(), holds); };
    if (all([](const std::string& written) { return written == "true" || written == "false"; })) return "bool";
    if (all([](const std::string& written) { return std::holds_alternative<std::int64_t>(parse_value(written)); })) return "int";
    return all([](const std::string& written) { return written.front() != '"'; }) ? "float" : "string";
}

}  // namespace

T1Space parse_t1(std::string_view text, const std::string& file, std::size_t most_tried) {
    const JsonNode root = parse_json(without_byte_order_mark(text, file), file);
    const JsonPlace place(root, file);
    if (!place.find("ConfigurationSpace")) throw Error(file, "it has no ConfigurationSpace", form);
    const JsonPlace described = place["ConfigurationSpace"];
    const JsonPlace list = described["TuningParameters"];
    auto parameters = std::make_shared<std::vector<Parameter>>();
    std::vector<RecordedParameter> counted;
    for (std::size_t i = 0; i < list.elements(); ++i) {
        parameters->push_back(read_parameter(list[i]));
        const Tunable& tunable = parameters->back().tunable;
        for (const auto& other : counted)
            if (other.name == tunable.name) list[i].fail("names " + tunable.name + " again", "every parameter has a name of its own");
        counted.push_back({tunable.name, std::vector<std::string>(tunable.values.size())});
    }
    check_product(counted, file);
    const auto names = std::make_shared<std::vector<EarlyName>>();
    for (const Parameter& parameter : *parameters) names->push_back({parameter.tunable.name, parameter.values});
    std::vector<Constraint> constraints;
    if (const auto conditions = described.find("Conditions"); conditions && !conditions->is_null())
        for (std::size_t i = 0; i < conditions->elements(); ++i) constraints.push_back(read_condition((*conditions)[i], parameters, names));
    std::vector<Tunable> tunables;
    for (const auto& parameter : *parameters) tunables.push_back(parameter.tunable);
    T1Space result;
    const Config start = start_of(constraints, *parameters, result.defaults_are_safe, file, most_tried);
    result.space = SearchSpace(std::move(tunables), std::move(constraints), start.assignments());
    if (const auto kernel = place.find("KernelSpecification"))
        if (const auto name = kernel->find("KernelName")) result.kernel = name->string(longest_t1_text);
    return result;
}

std::string t1_text(const RecordedSpace& recorded) {
    std::string parameters;
    for (const auto& parameter : recorded.parameters()) {
        std::string values;
        for (const auto& written : parameter.written)
            values += (values.empty() ? "" : ", ") + (written == "true" ? "True" : written == "false" ? "False" : written);
        parameters += fmt::format("{}\n    {{\"Name\": {}, \"Type\": \"{}\", \"Values\": {}}}", parameters.empty() ? "" : ",",
                                  json_string(parameter.name), type_of(parameter), json_string("[" + values + "]"));
    }
    return fmt::format(
        "{{\"ConfigurationSpace\": {{\n  \"TuningParameters\": [{}],\n  \"Conditions\": [{}]}},\n\"KernelSpecification\": "
        "{{\"Language\": \"CUDA\", \"KernelName\": {}, \"KernelFile\": \"\", \"GlobalSize\": {{\"X\": \"1\"}}, \"LocalSize\": {{\"X\": \"1\"}}}}}}\n",
        parameters, fmt::join(conditions_of(recorded), ",\n    "), json_string(recorded.title().kernel));
}

}  // namespace hone::inline v0_1
