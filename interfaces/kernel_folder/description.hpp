#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/kernel_source.hpp"
#include "generator/problem.hpp"
#include "generator/search_space.hpp"
#include "interfaces/kernel_folder/expression.hpp"

/// The contents of a kernel folder's family.json (docs/your-own-kernel.md,
/// tuning_db/schema/family-1.schema.json), as values: nothing here is compiled or run.
namespace hone::inline v0_1::kernel_folder {

/// Contents of an array before a step.
struct Fill {
    enum class Kind { none, random, constant, file };
    Kind kind = Kind::none;
    Expression low;    ///< of random: numbers from here
    Expression high;   ///< up to here; of integers it is the largest
    Expression value;  ///< of constant
    std::string file;  ///< in the folder: the values as they lie in memory
};

struct Argument {
    std::string name;
    std::string help;
    Access access = Access::in;
    std::optional<ValueType> type;    ///< type of the values; else the problem's precision
    std::vector<Expression> extents;  ///< slowest first
    /// A CUDA source may also read it from an array of its own of this name, which it declares with
    /// `__constant__`: that is filled before each step.
    bool in_constant_memory = false;
    Fill fill;
    std::string expected;  ///< file in the folder with the values after a step; or empty

    bool integers() const { return type == ValueType::i32; }
};

/// An argument of a function whose list of arguments is the folder's own ("wrapped"): an array, or
/// a number.
struct Passed {
    int array = -1;    ///< place among the arguments; -1: a number
    std::string name;  ///< of a number
    std::string type;  ///< of a number: "int", "real", "unsigned", "long long", "float", "double"
    Expression value;  ///< of a number
    bool whole() const { return type == "int" || type == "unsigned" || type == "long long"; }
};

/// A constraint on configurations, and what is said to whoever breaks it.
struct Rule {
    std::string name;
    Expression holds;
    Sentence why;
};

/// A further whole number that the source knows by name; it follows from parameters, tunables and
/// the device.
struct Derived {
    std::string name;
    Expression value;
};

/// Memory of the kernel's own, of the problem's precision, that a step writes before it reads it.
struct Scratch {
    std::string name;
    Expression words;
};

/// One launch of a step.
struct PlannedLaunch {
    std::string entry;
    std::array<Expression, 3> grid;   ///< blocks; not given: 1
    std::array<Expression, 3> block;  ///< threads; not given: 1
    int range_axis = -1;              ///< grid axis along which the range is divided
    Expression range_per_block;
    Expression shared_bytes;
    std::vector<Expression> constants;
};

/// The kernel for one kind of device.
struct Side {
    std::string file;  ///< of its source, in the folder
    std::string text;  ///< of that file
    std::vector<Tunable> tunables;
    std::vector<Derived> derived;
    std::vector<Rule> rules;
    std::vector<Assignment> safe;
    std::vector<Scratch> scratch;
    std::vector<PlannedLaunch> launches;

    /// The source is a template with holes (generator/render.hpp), and no plain file.
    bool is_template() const { return file.ends_with(".in"); }
    /// It lets hone choose its team of threads (generator/families/device/cpu_team.hpp).
    bool has_team = false;
};

/// The reference that the kernel is compared with.
struct ReferenceSource {
    enum class Kind { stored, source, library, python };
    Kind kind = Kind::stored;  ///< answers that lie in files; else what has the function
    std::string file;          ///< in the folder: C++, a shared library or Python; or empty
    std::string text;          ///< of that file, but for a library
    std::string entry;         ///< the function
    /// What runs beside `text` when a library or a Python function is called, by absolute paths,
    /// each with its SHA-256: the file itself, and the Python files that it imports.
    std::vector<std::pair<std::string, std::string>> files;
};

struct Description {
    std::string name;
    std::string summary;
    std::string literature;
    std::string example;                       ///< parameters of a problem, as words
    std::vector<ProblemParameter> parameters;  ///< with `precision`
    std::vector<Argument> arguments;
    /// Hone calls the functions through one of its own, with the arguments in the order of
    /// `passed`: what was written for another caller runs as it is. Else functions are given the
    /// arrays, scratch and sizes.
    bool wrapped = false;
    std::vector<Passed> passed;  ///< where it is wrapped: all arguments in their order
    Expression range;            ///< length; not given: a step is one piece
    std::string range_unit;
    std::optional<Side> cpu;
    std::optional<Side> cuda;
    const std::optional<Side>& side(Target target) const { return target == Target::cuda ? cuda : cpu; }
    Expression updates;  ///< not given: the values of the first output
    std::string update_unit;
    Expression operations;
    Expression bytes;           ///< not given: every array once, those that are read and written twice
    ReferenceSource reference;  ///< no file: the arguments' files of expected values
    Expression tolerance;
    std::string tolerance_reason;
};

/// Reads a file of the folder by its name.
using ReadFile = std::function<std::string(const std::string& name)>;

/// The description in the text of a family.json, called `file` in errors; files that it names are
/// read by `read`. Strict: an unknown member, a value of another kind or outside of its range, a
/// name that is taken, an expression that asks for what is not there, throw Error with file, line
/// and place, and the nearest right word.
Description parse_description(std::string_view text, const std::string& file, const ReadFile& read);

/// A name that C++ and hone leave free for parameters, arguments and tunables.
bool is_free_identifier(std::string_view name);

}  // namespace hone::inline v0_1::kernel_folder
