#include "interfaces/kernel_folder/t1_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "interfaces/kernel_folder/first_allowed.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

constexpr std::size_t longest = 1 << 20;
constexpr std::int64_t largest_int = 2147483647;
constexpr std::array axes{"x", "y", "z"};
constexpr std::array capital_axes{"X", "Y", "Z"};

struct T1Tunable {
    std::string name;
    std::vector<PythonValue> values;
    std::optional<std::size_t> preset;
};

// A whole number or a word as it stands in a family.json; true and false are 1 and 0, as they are
// to conditions.
PythonValue plain(const PythonValue& value, const JsonPlace& place) {
    if (const auto* truth = std::get_if<bool>(&value.held)) return {std::int64_t{*truth ? 1 : 0}};
    if (const auto* real = std::get_if<double>(&value.held)) {
        const auto whole = static_cast<std::int64_t>(*real);
        if (static_cast<double>(whole) == *real) return {whole};
        place.fail("has the value " + value.text(), "a kernel folder's tunables are whole numbers and words");
    }
    return value;
}

std::string json_of(const PythonValue& value) {
    const auto* const word = std::get_if<std::string>(&value.held);
    return word == nullptr ? value.text() : json_string(*word);
}

T1Tunable read_tunable(const JsonPlace& place) {
    T1Tunable tunable{place["Name"].string(longest), {}, {}};
    const JsonPlace values = place["Values"];
    const PythonValue list = PythonExpression(values.string(longest), values.where()).evaluate([&](const std::string& name) -> PythonValue {
        values.fail("asks for " + name, "values stand for themselves");
    });
    const auto* const elements = std::get_if<PythonValue::List>(&list.held);
    if (elements == nullptr || elements->empty()) values.fail("is not a list of values", "write it as \"[1, 2, 4]\"");
    for (const PythonValue& value : *elements) {
        PythonValue one = plain(value, values);
        if (std::find(tunable.values.begin(), tunable.values.end(), one) == tunable.values.end()) tunable.values.push_back(std::move(one));
    }
    const auto preset = place.find("Default");
    if (!preset) return tunable;
    if (preset->node().kind == JsonNode::Kind::array && preset->elements() != 1)
        preset->fail(fmt::format("is a list of {} values", preset->elements()), "name one value");
    // Files of the benchmark hub have lists of one, too.
    const JsonNode& node = preset->node().kind == JsonNode::Kind::array ? (*preset)[0].node() : preset->node();
    const PythonValue wanted = node.kind == JsonNode::Kind::string    ? PythonValue{node.text}
                               : node.kind == JsonNode::Kind::boolean ? PythonValue{std::int64_t{node.text == "true" ? 1 : 0}}
                                                                      : PythonValue{node.real};
    const auto found = std::find(tunable.values.begin(), tunable.values.end(), wanted);
    if (found != tunable.values.end()) tunable.preset = static_cast<std::size_t>(found - tunable.values.begin());
    return tunable;
}

// The tunables' defaults where they meet all conditions, else the first values that do.
std::vector<std::size_t> safe_places(const std::vector<T1Tunable>& tunables, const std::vector<PythonExpression>& conditions,
                                     const JsonPlace& place) {
    std::vector<Choice> choices;
    std::vector<std::size_t> presets;
    for (const T1Tunable& tunable : tunables) {
        choices.push_back({tunable.name, tunable.values});
        presets.push_back(tunable.preset.value_or(0));
    }
    if (allowed(choices, presets, conditions)) return presets;
    if (auto places = first_allowed(choices, conditions)) return *std::move(places);
    place.fail("has conditions that no configuration meets", "correct them");
}

// The text of an expression with what T1 writes otherwise: ProblemSize[0] is the parameter
// problem_size_x and, in an array's size, a tunable stands for the list of its values, of which the
// size takes the largest.
std::string translated(const std::string& text, const std::vector<T1Tunable>& lists) {
    std::string result;
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t i = 0; i < text.size();) {
        if (!in_name(text[i])) {
            result += text[i++];
            continue;
        }
        const std::size_t begin = i;
        while (i < text.size() && in_name(text[i])) ++i;
        const std::string name = text.substr(begin, i - begin);
        const auto list = std::find_if(lists.begin(), lists.end(), [&](const T1Tunable& one) { return one.name == name; });
        if (name == "ProblemSize" && i + 2 < text.size() && text[i] == '[' && text[i + 1] >= '0' && text[i + 1] <= '2' && text[i + 2] == ']') {
            result += fmt::format("problem_size_{}", axes.at(static_cast<std::size_t>(text[i + 1] - '0')));
            i += 3;
        } else if (list != lists.end()) {
            std::string values;
            for (const PythonValue& value : list->values) values += (values.empty() ? "" : ", ") + value.text();
            result += "[" + values + "]";
        } else {
            result += name;
        }
    }
    return result;
}

// A number or an expression as text.
std::string text_of(const JsonPlace& place) {
    const JsonNode::Kind kind = place.node().kind;
    return kind == JsonNode::Kind::integer || kind == JsonNode::Kind::real ? place.node().text : place.string(longest);
}

class Translator {
  public:
    Translator(const JsonPlace& root, const std::string& file) : root_(root), kernel_(root["KernelSpecification"]), file_(file) {}

    // The members of a family.json.
    std::string description() {
        const JsonPlace space = root_["ConfigurationSpace"];
        for (std::size_t i = 0; i < space["TuningParameters"].elements(); ++i) tunables_.push_back(read_tunable(space["TuningParameters"][i]));
        const std::string name = kernel_["KernelName"].string(longest);
        const std::string arguments = read_arguments();
        return fmt::format(
            "{{\"name\": {}, \"summary\": {}, \"wrapped\": true, \"parameters\": [{}], \"arguments\": [{}], \"{}\": {}, "
            "\"counts\": {{\"operations\": 0}}}}",
            json_string(name), json_string(fmt::format("{} of the T1 file {}", name, file_)), parameters(), arguments, side_name(), side(space));
    }

  private:
    std::size_t dimensions() const {
        const auto size = kernel_.find("ProblemSize");
        return size ? std::min(size->elements(), axes.size()) : 0;
    }

    // A kernel that is given no size has it in its source, and runs at that alone.
    bool is_given_sizes() const {
        const JsonPlace list = kernel_["Arguments"];
        for (std::size_t i = 0; i < list.elements(); ++i)
            if (list[i]["MemoryType"].string(longest) == "Scalar" && text_of(list[i]["FillValue"]).find("ProblemSize") != std::string::npos)
                return true;
        return false;
    }

    std::string parameters() const {
        std::string text = fmt::format("{{\"name\": \"precision\", \"words\": [\"{0}\"], \"default\": \"{0}\"}}", doubles_ ? "f64" : "f32");
        for (std::size_t i = 0; i < dimensions(); ++i) {
            const JsonPlace size = kernel_["ProblemSize"][i];
            const std::int64_t usual = size.integer(1, largest_int);
            const bool any = is_given_sizes();
            text += fmt::format(", {{\"name\": \"problem_size_{}\", \"from\": {}, \"to\": {}, \"default\": {}, \"help\": \"ProblemSize[{}]\"}}",
                                axes.at(i), any ? 1 : usual, any ? largest_int : usual, usual, i);
        }
        return text;
    }

    std::string read_arguments() {
        const JsonPlace list = kernel_["Arguments"];
        bool floats = false;
        for (std::size_t i = 0; i < list.elements(); ++i) {
            const JsonPlace type = list[i]["Type"];
            const std::string& word = type.string(longest);
            if (word != "float" && word != "double" && word != "int" && word != "int32")
                type.fail("is " + word, "hone takes float, double and int32: a hone array has no values of other types");
            if (list[i]["MemoryType"].string(longest) != "Vector") continue;
            floats = floats || word == "float";
            doubles_ = doubles_ || word == "double";
        }
        if (floats) doubles_ = false;  // where there are both, results are as rough as the rougher one
        std::string text;
        for (std::size_t i = 0; i < list.elements(); ++i) text += (text.empty() ? "" : ", ") + argument(list[i], list[i]["Type"].string(longest));
        return text;
    }

    std::string argument(const JsonPlace& place, const std::string& type) const {
        const std::string name = json_string(place["Name"].string(longest));
        const std::string& memory = place["MemoryType"].string(longest);
        if (memory == "Scalar")
            return fmt::format(R"({{"name": {}, "type": "{}", "value": {}}})", name, type == "int32" ? "int" : type,
                               json_string(translated(text_of(place["FillValue"]), {})));
        if (memory != "Vector") place["MemoryType"].fail("is " + memory, "hone takes Vector and Scalar");
        const std::string& access = place["AccessType"].string(longest);
        const bool output = access == "WriteOnly";
        if (!output && access != "ReadOnly" && access != "ReadWrite")
            place["AccessType"].fail("is " + access, "write ReadOnly, WriteOnly or ReadWrite");
        const bool integers = type == "int" || type == "int32";
        return fmt::format(R"({{"name": {}, "access": "{}", {}{}"extents": [{}]{}}})", name,
                           output                 ? "out"
                           : access == "ReadOnly" ? "in"
                                                  : "inout",
                           integers                                  ? "\"type\": \"int\", "
                           : type == (doubles_ ? "double" : "float") ? ""
                                                                     : "\"type\": \"double\", ",
                           is_constant(place) ? "\"memory\": \"constant\", " : "", json_string(translated(text_of(place["Size"]), tunables_)),
                           output ? "" : ", \"fill\": " + fill(place, integers));
    }

    static bool is_constant(const JsonPlace& place) {
        const auto memory = place.find("MemType");
        if (!memory || memory->is_null() || memory->string(longest) == "Global") return false;
        if (memory->string(longest) != "Constant") memory->fail("is " + memory->string(longest), "hone takes Global and Constant");
        return true;
    }

    static std::string fill(const JsonPlace& place, bool integers) {
        const std::string& kind = place["FillType"].string(longest);
        const auto value = place.find("FillValue");
        const std::string written = value && !value->is_null() ? json_string(text_of(*value)) : "1";
        if (kind == "Constant") return "{\"constant\": " + written + "}";
        if (kind != "Random")
            place["FillType"].fail("is " + kind, "write Constant or Random, or \"fill\": {\"file\": ...} in the family.json's arguments");
        return integers ? fmt::format("{{\"random\": [0, {}]}}", written) : "\"random\"";
    }

    std::string side_name() const {
        const std::string& language = kernel_["Language"].string(longest);
        if (language == "CUDA") return "cuda";
        if (language == "C" || language == "C++") return "cpu";
        kernel_["Language"].fail("is " + language, "hone runs CUDA, C and C++");
    }

    std::string side(const JsonPlace& space) const {
        std::string tunables, rules, safe;
        std::vector<PythonExpression> conditions;
        if (const auto list = space.find("Conditions"); list && !list->is_null())
            for (std::size_t i = 0; i < list->elements(); ++i) {
                const JsonPlace expression = (*list)[i]["Expression"];
                conditions.emplace_back(expression.string(longest), expression.where());
                std::string why;
                for (const std::string& name : conditions.back().names()) why += fmt::format("{}{} is {{{}}}", why.empty() ? "" : ", ", name, name);
                rules += fmt::format("{}{{\"rule\": {}, \"why\": {}}}", rules.empty() ? "" : ", ", json_string(expression.string(longest)),
                                     json_string(why.empty() ? "it is never true" : why));
            }
        const std::vector<std::size_t> places = safe_places(tunables_, conditions, space);
        for (std::size_t i = 0; i < tunables_.size(); ++i) {
            const T1Tunable& tunable = tunables_[i];
            std::string values;
            for (const PythonValue& value : tunable.values) values += (values.empty() ? "" : ", ") + json_of(value);
            const char* const comma = i == 0 ? "" : ", ";
            tunables += fmt::format("{}{{\"name\": {}, \"values\": [{}]}}", comma, json_string(tunable.name), values);
            safe += fmt::format("{}{}: {}", comma, json_string(tunable.name), json_of(tunable.values[places[i]]));
        }
        return fmt::format("{{\"source\": {}, \"tunables\": [{}], \"constraints\": [{}], \"safe\": {{{}}}, \"launches\": [{}]}}",
                           json_string(source()), tunables, rules, safe, launch());
    }

    // In T1 the file may stand in a folder beside; a kernel folder has it in it.
    std::string source() const {
        const std::string& name = kernel_["KernelFile"].string(longest);
        return name.substr(name.find_last_of('/') + 1);
    }

    std::string launch() const {
        const std::string entry = json_string(kernel_["KernelName"].string(longest));
        if (side_name() == "cpu") return fmt::format("{{\"entry\": {}}}", entry);
        std::string grid, block;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            block += (i == 0 ? "" : ", ") + json_string(threads(i));
            grid += (i == 0 ? "" : ", ") + json_string(blocks(i));
        }
        std::string shared;
        if (const auto bytes = kernel_.find("SharedMemory"); bytes && !bytes->is_null())
            shared = ", \"shared_bytes\": " + json_string(translated(text_of(*bytes), {}));
        return fmt::format("{{\"entry\": {}, \"grid\": [{}], \"block\": [{}]{}}}", entry, grid, block, shared);
    }

    bool is_tunable(const std::string& name) const {
        return std::any_of(tunables_.begin(), tunables_.end(), [&](const T1Tunable& one) { return one.name == name; });
    }

    std::string threads(std::size_t axis) const {
        if (const auto local = kernel_.find("LocalSize"))
            if (const auto size = local->find(capital_axes.at(axis)); size && !size->is_null()) return translated(text_of(*size), {});
        const std::string usual = fmt::format("block_size_{}", axes.at(axis));
        return is_tunable(usual) ? usual : "1";
    }

    // As Kernel Tuner counts them: the problem's size over the product of GridDiv, which is the
    // block's size if there is none. GlobalSize counts where there is no size of the problem.
    std::string blocks(std::size_t axis) const {
        if (axis >= dimensions()) {
            const auto global = kernel_.find("GlobalSize");
            const auto size = global && dimensions() == 0 ? global->find(capital_axes.at(axis)) : std::nullopt;
            if (!size || size->is_null()) return "1";
            std::string whole = translated(text_of(*size), {});
            const auto kind = kernel_.find("GlobalSizeType");
            if (kind && !kind->is_null() && kind->string(longest) == "CUDA") return whole;
            return fmt::format("(({0}) + ({1}) - 1) // ({1})", whole, threads(axis));
        }
        std::string divisor;
        if (const auto list = kernel_.find(fmt::format("GridDiv{}", capital_axes.at(axis))); list && !list->is_null())
            for (std::size_t i = 0; i < list->elements(); ++i) divisor += fmt::format("{}({})", i == 0 ? "" : " * ", text_of((*list)[i]));
        if (divisor.empty()) divisor = is_tunable(fmt::format("block_size_{}", axes.at(axis))) ? fmt::format("block_size_{}", axes.at(axis)) : "1";
        return fmt::format("(problem_size_{0} + {1} - 1) // ({1})", axes.at(axis), divisor);
    }

    const JsonPlace root_;
    const JsonPlace kernel_;
    const std::string& file_;
    std::vector<T1Tunable> tunables_;
    bool doubles_ = false;  // the problem's precision
};

void set_lines(JsonNode& node, int line) {
    node.line = line;
    for (JsonNode& child : node.children) set_lines(child, line);
}

// Adds the members that are not there; those of a kernel one by one.
void add_missing(JsonNode& to, JsonNode& from) {
    for (JsonNode& member : from.children) {
        JsonNode* const own = to.find(member.name);
        if (own == nullptr)
            to.children.push_back(std::move(member));
        else if ((member.name == "cuda" || member.name == "cpu") && own->kind == JsonNode::Kind::object)
            add_missing(*own, member);
    }
}

}  // namespace

void add_t1(JsonNode& root, const std::string& file, const ReadFile& read) {
    if (root.kind != JsonNode::Kind::object || root.find("t1") == nullptr) return;
    const JsonPlace named = JsonPlace(root, file)["t1"];
    const std::string& name = named.string(longest);
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos)
        named.fail(fmt::format("is \"{}\"", name), "name a T1 file of this folder");
    const JsonNode written = parse_json(without_byte_order_mark(read(name), name), name);
    JsonNode translation = parse_json(Translator(JsonPlace(written, name), name).description(), name);
    set_lines(translation, named.node().line);  // where a mistake in what follows is mended
    add_missing(root, translation);
}

}  // namespace hone::inline v0_1::kernel_folder
