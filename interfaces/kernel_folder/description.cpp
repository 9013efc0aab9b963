#include "interfaces/kernel_folder/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>

#include "foundation/error.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "interfaces/kernel_folder/first_allowed.hpp"
#include "interfaces/kernel_folder/t1_description.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

constexpr std::size_t longest_name = 64, longest_line = 400;
constexpr std::int64_t largest_int = std::numeric_limits<int>::max();
constexpr std::size_t most_values = 1024;  // of one tunable

// Words that a name may not be: those of C++, and those that hone's own text around a kernel has.
constexpr std::string_view taken_words =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept const consteval "
    "constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected "
    "public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this thread_local "
    "throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq "
    "in is lambda min max abs real first last precision word_bytes roundoff main std omp ";

// What reads the members of a family.json, in their order. Each name is taken once.
class Reader {
  public:
    Reader(const JsonPlace& root, const ReadFile& read) : root_(root), read_(read) {}

    Description description() {
        root_.only({"$schema", "t1", "name", "summary", "literature", "example", "parameters", "arguments", "wrapped", "range", "cpu", "cuda",
                    "counts", "reference", "tolerance"});
        result_.name = identifier(root_["name"]);
        result_.summary = line(root_["summary"]);
        result_.literature = optional_line(root_, "literature");
        result_.example = optional_line(root_, "example");
        for (std::size_t i = 0; i < root_["parameters"].elements(); ++i) read_parameter(root_["parameters"][i]);
        if (std::none_of(result_.parameters.begin(), result_.parameters.end(), [](const auto& one) { return one.name == "precision"; }))
            result_.parameters.insert(result_.parameters.begin(), {"precision", "of all arrays", {"f64"}, 0, 0, false, "f64"});
        names_.insert(names_.end(), {"word_bytes", "roundoff", "precision"});
        if (const auto wrapped = root_.find("wrapped")) result_.wrapped = truth(*wrapped);
        if (root_["arguments"].elements() == 0) root_["arguments"].fail("is empty", "name the arrays that the kernel is given");
        for (std::size_t i = 0; i < root_["arguments"].elements(); ++i) read_argument(root_["arguments"][i]);
        if (std::all_of(result_.arguments.begin(), result_.arguments.end(), [](const Argument& one) { return one.access == Access::in; }))
            root_["arguments"].fail("has no array that the kernel writes", "give one of them \"access\": \"out\" or \"inout\"");
        if (const auto range = root_.find("range")) read_range(*range);
        if (const auto side = root_.find("cpu")) result_.cpu = read_side(*side, Target::cpu);
        if (const auto side = root_.find("cuda")) result_.cuda = read_side(*side, Target::cuda);
        if (!result_.cpu && !result_.cuda) root_.fail("has no kernel", "add \"cpu\" or \"cuda\"");
        read_counts(root_["counts"]);
        read_reference(root_["reference"]);
        const JsonPlace tolerance = root_["tolerance"];
        tolerance.only({"value", "reason"});
        result_.tolerance = Expression(tolerance["value"], names_);
        result_.tolerance_reason = line(tolerance["reason"]);
        return std::move(result_);
    }

  private:
    // A line for people.
    static std::string line(const JsonPlace& place) {
        const std::string& text = place.string(longest_line);
        if (text.empty()) place.fail("is empty", "say it in one line");
        if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }))
            place.fail("has a line's end or another control character", "say it in one line");
        return text;
    }

    static std::string optional_line(const JsonPlace& place, std::string_view member) {
        const auto found = place.find(member);
        return found ? line(*found) : "";
    }

    static std::string identifier(const JsonPlace& place) {
        const std::string& name = place.string(longest_name);
        if (!is_free_identifier(name))
            place.fail(fmt::format("is \"{}\"", name), "use a name that C++ leaves free: letters, digits and _, a letter first");
        return name;
    }

    // A name that nothing else has.
    std::string own_name(const JsonPlace& place) {
        std::string name = identifier(place);
        if (!taken_.insert(name).second) place.fail(fmt::format("is \"{}\", which stands for something else already", name), "choose another name");
        if (std::find(limit_names().begin(), limit_names().end(), name) != limit_names().end())
            place.fail(fmt::format("is \"{}\", which is a device's", name), "choose another name");
        return name;
    }

    static std::string chosen(const JsonPlace& place, std::initializer_list<const char*> words) {
        const std::vector<std::string> all(words.begin(), words.end());
        const std::string& word = place.string(longest_name);
        if (std::find(all.begin(), all.end(), word) == all.end())
            place.fail(fmt::format("is \"{}\"", word), did_you_mean(word, all) + fmt::format("use one of {}", fmt::join(all, ", ")));
        return word;
    }

    // The name of a file of the folder: no way out of it.
    static std::string file_name(const JsonPlace& place) {
        const std::string& name = place.string(longest_line);
        const auto plain = [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
        };
        if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), plain))
            place.fail(fmt::format("is \"{}\"", name), "name a file of this folder, by letters, digits, _, - and . only");
        return name;
    }

    std::string text_of(const JsonPlace& place, const std::string& name) const {
        try {
            const std::string text = read_(name);
            return std::string(without_byte_order_mark(text, name));
        } catch (const Error& error) {
            place.fail(error.what(), "add the file, or name another");
        }
    }

    void read_parameter(const JsonPlace& place) {
        place.only({"name", "help", "words", "from", "to", "constant", "default"});
        ProblemParameter parameter;
        const bool precision = place["name"].string(longest_name) == "precision";
        parameter.name = precision ? "precision" : own_name(place["name"]);
        if (precision && !taken_.insert("precision").second) place.fail("declares the precision twice", "declare it once");
        parameter.help = optional_line(place, "help");
        if (parameter.help.empty()) parameter.help = precision ? "of all arrays" : "of the kernel";
        if (const auto words = place.find("words")) {
            for (std::size_t i = 0; i < words->elements(); ++i) parameter.words.push_back(word((*words)[i], precision));
            if (parameter.words.empty()) words->fail("is empty", "name the words that it may be");
            for (const char* member : {"from", "to", "constant"})
                if (place.find(member)) place[member].fail("stands beside words", "leave one of them out");
            for (std::size_t i = 0; i < parameter.words.size(); ++i)
                if (std::count(parameter.words.begin(), parameter.words.end(), parameter.words[i]) > 1)
                    words->fail(fmt::format("has {} twice", parameter.words[i]), "name it once");
        } else {
            if (precision) place.fail("has no words", R"(write "words": ["f32", "f64"], or one of them)");
            parameter.low = place["from"].integer(0, largest_int);
            parameter.high = place["to"].integer(parameter.low, largest_int);
            const auto constant = place.find("constant");
            parameter.extent = !(constant && truth(*constant));
        }
        if (const auto preset = place.find("default")) parameter.fallback = preset_of(*preset, parameter);
        if (!precision) names_.push_back(parameter.name);
        result_.parameters.push_back(std::move(parameter));
    }

    static bool truth(const JsonPlace& place) {
        if (place.node().kind != JsonNode::Kind::boolean) place.fail("is neither true nor false", "write true or false");
        return place.node().text == "true";
    }

    static std::string word(const JsonPlace& place, bool precision) {
        if (precision) return chosen(place, {"f32", "f64"});
        const std::string& text = place.string(longest_name);
        if (text.empty() || !std::all_of(text.begin(), text.end(), [](char c) {
                return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
            }))
            place.fail(fmt::format("is \"{}\"", text), "a word has letters, digits and _ only");
        if (std::holds_alternative<std::int64_t>(parse_value(text))) place.fail(fmt::format("is \"{}\", a number", text), "write it without quotes");
        return text;
    }

    static std::string preset_of(const JsonPlace& place, const ProblemParameter& parameter) {
        if (parameter.words.empty()) return fmt::format("{}", place.integer(parameter.low, parameter.high));
        const std::string& text = place.string(longest_name);
        if (std::find(parameter.words.begin(), parameter.words.end(), text) == parameter.words.end())
            place.fail(fmt::format("is \"{}\"", text),
                       did_you_mean(text, parameter.words) + fmt::format("use one of {}", fmt::join(parameter.words, ", ")));
        return text;
    }

    // A number among the arguments of functions that were written for another caller.
    void read_passed(const JsonPlace& place) {
        place.only({"name", "help", "type", "value"});
        if (!result_.wrapped)
            place["value"].fail("stands with an argument, and functions are given the parameters as their sizes",
                                "make it a parameter, or write \"wrapped\": true, and hone passes what is listed");
        const auto type = place.find("type");
        result_.passed.push_back({-1, own_name(place["name"]),
                                  type ? chosen(*type, {"int", "real", "unsigned", "long long", "float", "double"}) : "int",
                                  Expression(place["value"], names_)});
    }

    static std::optional<ValueType> type_called(const std::string& type) {
        if (type == "real") return std::nullopt;
        return type == "int" ? ValueType::i32 : type == "float" ? ValueType::f32 : ValueType::f64;
    }

    void read_argument(const JsonPlace& place) {
        if (place.find("value")) {
            read_passed(place);
            return;
        }
        place.only({"name", "help", "access", "type", "memory", "extents", "fill", "expected"});
        if (result_.wrapped) result_.passed.push_back({static_cast<int>(result_.arguments.size()), "", "", {}});
        Argument argument;
        argument.name = own_name(place["name"]);
        argument.help = optional_line(place, "help");
        const std::string access = chosen(place["access"], {"in", "out", "inout"});
        argument.access = access == "in" ? Access::in : access == "out" ? Access::out : Access::inout;
        if (const auto type = place.find("type")) argument.type = type_called(chosen(*type, {"real", "int", "float", "double"}));
        if (const auto memory = place.find("memory")) {
            argument.in_constant_memory = chosen(*memory, {"global", "constant"}) == "constant";
            if (argument.in_constant_memory && (!result_.wrapped || argument.access != Access::in))
                memory->fail("is constant", R"(only arrays that are read, of a kernel that is "wrapped", may be)");
        }
        const auto extents = place.find("extents");
        if (!extents || extents->elements() == 0)
            place.fail(fmt::format("says nothing of how long {} is", argument.name), R"(add "extents": ["rows", "columns"], the slowest first)");
        for (std::size_t i = 0; i < extents->elements(); ++i) argument.extents.emplace_back((*extents)[i], names_);
        if (const auto expected = place.find("expected")) {
            argument.expected = file_name(*expected);
            if (argument.access == Access::in) expected->fail("stands with an array that is only read", "leave it out");
        }
        read_fill(place, argument);
        result_.arguments.push_back(std::move(argument));
    }

    void read_fill(const JsonPlace& place, Argument& argument) const {
        const auto fill = place.find("fill");
        if (argument.access == Access::out) {
            if (fill) fill->fail("stands with an output", "leave it out: a step writes it, and hone poisons it before");
            return;
        }
        if (!fill)
            place.fail(fmt::format("does not say what {} holds", argument.name), R"(add "fill": "random", {"constant": 1} or {"file": "u.bin"})");
        if (fill->node().kind == JsonNode::Kind::string) {
            chosen(*fill, {"random"});
            if (argument.integers()) fill->fail("says nothing of the integers' range", R"(write {"random": [0, "rows - 1"]})");
            argument.fill.kind = Fill::Kind::random;
            argument.fill.low = Expression("-1", fill->where(), {});
            argument.fill.high = Expression("1", fill->where(), {});
            return;
        }
        fill->only({"random", "constant", "file"});
        if (fill->members().size() != 1) fill->fail(fmt::format("has {} members", fill->members().size()), "choose one: random, constant or file");
        if (const auto bounds = fill->find("random")) {
            if (bounds->elements() != 2) bounds->fail(fmt::format("has {} elements", bounds->elements()), "give the smallest and the largest number");
            argument.fill = {Fill::Kind::random, Expression((*bounds)[0], names_), Expression((*bounds)[1], names_), {}, ""};
        } else if (const auto constant = fill->find("constant")) {
            argument.fill = {Fill::Kind::constant, {}, {}, Expression(*constant, names_), ""};
        } else {
            argument.fill = {Fill::Kind::file, {}, {}, {}, file_name((*fill)["file"])};
        }
    }

    void read_range(const JsonPlace& place) {
        place.only({"unit", "length"});
        result_.range_unit = line(place["unit"]);
        result_.range = Expression(place["length"], names_);
    }

    Side read_side(const JsonPlace& place, Target target) {
        if (traits_of(target).has_blocks)
            place.only({"source", "tunables", "derived", "constraints", "safe", "scratch", "launches"});
        else
            place.only({"source", "tunables", "derived", "constraints", "safe", "scratch", "launches", "entry"});
        Side side;
        side.file = file_name(place["source"]);
        side.text = text_of(place["source"], side.file);
        side.has_team = !traits_of(target).has_blocks && side.is_template() && side.text.find("//@ parallel\n") != std::string::npos;
        const std::set<std::string> shared_names = taken_;  // both sides may call theirs alike
        const std::vector<Tunable> team = side.has_team ? team_tunables(cpu_limits()) : std::vector<Tunable>{};
        for (const Tunable& tunable : team) taken_.insert(tunable.name);
        std::vector<std::string> names = names_;
        names.insert(names.end(), limit_names().begin(), limit_names().end());
        const auto tunables = place.find("tunables");
        for (std::size_t i = 0; tunables && i < tunables->elements(); ++i) {
            side.tunables.push_back(read_tunable((*tunables)[i]));
            names.push_back(side.tunables.back().name);
        }
        for (const Tunable& tunable : team) names.push_back(tunable.name);
        if (side.tunables.empty() && !side.has_team)
            place.fail("has no tunables", "there is nothing to tune: name some, with the values worth trying");
        const auto derived = place.find("derived");
        for (std::size_t i = 0; derived && i < derived->elements(); ++i) {
            const JsonPlace one = (*derived)[i];
            one.only({"name", "value"});
            side.derived.push_back({own_name(one["name"]), Expression(one["value"], names)});
        }
        const auto rules = place.find("constraints");
        for (std::size_t i = 0; rules && i < rules->elements(); ++i) side.rules.push_back(read_rule((*rules)[i], names));
        const auto safe = place.find("safe");
        side.safe = safe ? read_safe(*safe, side.tunables) : first_kept(place, side);
        const auto scratch = place.find("scratch");
        for (std::size_t i = 0; scratch && i < scratch->elements(); ++i) {
            const JsonPlace one = (*scratch)[i];
            one.only({"name", "extent"});
            side.scratch.push_back({own_name(one["name"]), Expression(one["extent"], names)});
        }
        read_launches(place, target, names, side);
        taken_ = shared_names;
        return side;
    }

    Tunable read_tunable(const JsonPlace& place) {
        place.only({"name", "help", "values"});
        Tunable tunable{own_name(place["name"]), optional_line(place, "help"), {}};
        const JsonPlace values = place["values"];
        if (values.elements() == 0 || values.elements() > most_values)
            values.fail(fmt::format("has {} elements", values.elements()), fmt::format("name 1 to {} values that are worth trying", most_values));
        for (std::size_t i = 0; i < values.elements(); ++i) {
            const bool is_word = values[i].node().kind == JsonNode::Kind::string;
            Value value = is_word ? Value(word(values[i], false)) : Value(values[i].integer(-largest_int, largest_int));
            if (!tunable.values.empty() && tunable.values.front().index() != value.index())
                values.fail("has numbers and words", "use one or the other");
            if (std::find(tunable.values.begin(), tunable.values.end(), value) != tunable.values.end())
                values[i].fail(fmt::format("is {} once more", to_string(value)), "name each value once");
            tunable.values.push_back(std::move(value));
        }
        return tunable;
    }

    static Rule read_rule(const JsonPlace& place, const std::vector<std::string>& names) {
        place.only({"name", "rule", "why"});
        Rule rule;
        rule.holds = Expression(place["rule"], names);
        const auto name = place.find("name");
        rule.name = name ? identifier(*name) : rule.holds.text();
        rule.why = Sentence(place["why"], names);
        return rule;
    }

    // The first configuration that the rules allow, where they ask for tunables alone.
    static std::vector<Assignment> first_kept(const JsonPlace& place, const Side& side) {
        std::vector<Choice> choices;
        for (const Tunable& tunable : side.tunables) {
            Choice& choice = choices.emplace_back(Choice{tunable.name, {}});
            for (const Value& value : tunable.values) choice.values.push_back(python_value(value));
        }
        std::vector<PythonExpression> conditions;
        for (const Rule& rule : side.rules) {
            conditions.emplace_back(rule.holds.text(), rule.holds.where());
            for (const std::string& name : conditions.back().names())
                if (std::none_of(choices.begin(), choices.end(), [&](const Choice& choice) { return choice.name == name; }))
                    place.fail(fmt::format("has no \"safe\", and the constraint \"{}\" asks for {}", rule.holds.text(), name),
                               "name a configuration that keeps all constraints for every problem and device");
        }
        const auto places = first_allowed(choices, conditions);
        if (!places) place.fail("has constraints that no configuration keeps", "correct them");
        std::vector<Assignment> safe;
        for (std::size_t i = 0; i < choices.size(); ++i) safe.push_back({choices[i].name, side.tunables[i].values[(*places)[i]]});
        return safe;
    }

    static std::vector<Assignment> read_safe(const JsonPlace& place, const std::vector<Tunable>& tunables) {
        std::vector<Assignment> safe;
        std::vector<std::string> names;
        for (const Tunable& tunable : tunables) {
            names.push_back(tunable.name);
            const JsonPlace value = place[tunable.name];
            const bool is_word = std::holds_alternative<std::string>(tunable.values.front());
            safe.push_back({tunable.name, is_word ? Value(value.string(longest_name)) : Value(value.integer(-largest_int, largest_int))});
            if (std::find(tunable.values.begin(), tunable.values.end(), safe.back().value) == tunable.values.end())
                value.fail(fmt::format("is {}", to_string(safe.back().value)), fmt::format("use one of the values of {}", tunable.name));
        }
        for (const JsonNode& member : place.members())
            if (std::find(names.begin(), names.end(), member.name) == names.end())
                place.fail(fmt::format("has \"{}\", which is not a tunable", member.name), did_you_mean(member.name, names) + "leave it out");
        return safe;
    }

    void read_launches(const JsonPlace& place, Target target, const std::vector<std::string>& names, Side& side) {
        const auto launches = place.find("launches");
        const auto entry = place.find("entry");
        if (launches && entry) entry->fail("stands beside launches", "leave one of them out");
        if (!launches && traits_of(target).has_blocks) place.fail("has no launches", R"(add "launches": [{"grid": [...], "block": [...]}])");
        if (!launches) {
            side.launches.emplace_back().entry = entry ? identifier(*entry) : result_.name;
            return;
        }
        if (launches->elements() == 0) launches->fail("is empty", "say what a step launches");
        for (std::size_t i = 0; i < launches->elements(); ++i) side.launches.push_back(read_launch((*launches)[i], target, names));
    }

    PlannedLaunch read_launch(const JsonPlace& place, Target target, const std::vector<std::string>& names) const {
        if (traits_of(target).has_blocks)
            place.only({"entry", "grid", "block", "range_axis", "range_per_block", "shared_bytes", "constants"});
        else
            place.only({"entry", "constants"});
        PlannedLaunch launch;
        const auto entry = place.find("entry");
        launch.entry = entry ? identifier(*entry) : result_.name;
        const auto constants = place.find("constants");
        if (constants && !result_.range.given()) constants->fail("stands here, and the family has no range", "add \"range\", or an entry for each");
        for (std::size_t i = 0; constants && i < constants->elements(); ++i) launch.constants.emplace_back((*constants)[i], names);
        if (!traits_of(target).has_blocks) return launch;
        launch.grid = read_dimensions(place["grid"], names);
        launch.block = read_dimensions(place["block"], names);
        if (const auto bytes = place.find("shared_bytes")) launch.shared_bytes = Expression(*bytes, names);
        const auto axis = place.find("range_axis");
        if (axis && !result_.range.given()) axis->fail("stands here, and the family has no range", "add \"range\", or leave it out");
        if (!axis) {
            if (place.find("range_per_block")) place.fail("has range_per_block without range_axis", "say along which axis blocks divide the range");
            if (result_.range.given()) place.fail("does not say how blocks divide the range", R"(add "range_axis": "y" and "range_per_block")");
            return launch;
        }
        const std::string name = chosen(*axis, {"x", "y", "z"});
        launch.range_axis = name[0] - 'x';
        launch.range_per_block = Expression(place["range_per_block"], names);
        return launch;
    }

    static std::array<Expression, 3> read_dimensions(const JsonPlace& place, const std::vector<std::string>& names) {
        if (place.elements() == 0 || place.elements() > 3) place.fail(fmt::format("has {} elements", place.elements()), "give one to three: x, y, z");
        std::array<Expression, 3> dimensions;
        for (std::size_t i = 0; i < place.elements(); ++i) dimensions.at(i) = Expression(place[i], names);
        return dimensions;
    }

    void read_counts(const JsonPlace& place) {
        place.only({"updates", "unit", "operations", "bytes"});
        result_.operations = Expression(place["operations"], names_);
        if (const auto updates = place.find("updates")) result_.updates = Expression(*updates, names_);
        if (const auto bytes = place.find("bytes")) result_.bytes = Expression(*bytes, names_);
        const auto unit = place.find("unit");
        result_.update_unit = unit ? line(*unit) : "updates";
    }

    void read_reference(const JsonPlace& place) {
        place.only({"source", "library", "python", "entry", "stored"});
        const auto source = place.find("source");
        const auto library = place.find("library");
        const auto python = place.find("python");
        const auto stored = place.find("stored");
        if ((source ? 1 : 0) + (library ? 1 : 0) + (python ? 1 : 0) + (stored ? 1 : 0) != 1)
            place.fail("is not one of source, library, python and stored", R"(write {"source": "reference.cpp"}, a plain function without tunables)");
        const auto entry = place.find("entry");
        if (stored) {
            if (!truth(*stored) || entry) place.fail("says more than that the answers are stored", R"(write {"stored": true} alone)");
            for (const Argument& argument : result_.arguments)
                if (argument.access != Access::in && argument.expected.empty())
                    place.fail(fmt::format("is stored answers, and {} has none", argument.name), R"(give the argument "expected": "file.bin")");
            return;
        }
        for (const Argument& argument : result_.arguments)
            if (!argument.expected.empty()) place.fail("computes what " + argument.name + " has stored", "leave one of them out");
        using Kind = ReferenceSource::Kind;
        const JsonPlace named = source ? *source : library ? *library : *python;
        result_.reference.kind = source ? Kind::source : library ? Kind::library : Kind::python;
        result_.reference.file = file_name(named);
        if (!library) result_.reference.text = text_of(named, result_.reference.file);
        result_.reference.entry = entry ? identifier(*entry) : "reference";
        for (const auto* side : {&result_.cpu, &result_.cuda})
            for (std::size_t i = 0; *side && i < (*side)->launches.size(); ++i)
                if ((*side)->file == result_.reference.file && (*side)->launches[i].entry == result_.reference.entry)
                    place.fail("is the kernel itself", "name a plain function that shares nothing with it");
    }

    const JsonPlace root_;
    const ReadFile& read_;
    Description result_;
    std::vector<std::string> names_;  // that expressions about a problem may ask for
    std::set<std::string> taken_;
};

}  // namespace

bool is_free_identifier(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    if (name.empty() || !letter(name.front()) || name.front() == '_' || name.starts_with("hone_")) return false;
    if (!std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); })) return false;
    return taken_words.find(" " + std::string(name) + " ") == std::string_view::npos;
}

Description parse_description(std::string_view text, const std::string& file, const ReadFile& read) {
    JsonNode root = parse_json(without_byte_order_mark(text, file), file);
    add_t1(root, file, read);
    return Reader(JsonPlace(root, file), read).description();
}

}  // namespace hone::inline v0_1::kernel_folder
