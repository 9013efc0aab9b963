#include "interfaces/kernel_folder/python_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/json.hpp"
#include "foundation/process.hpp"
#include "foundation/run_folder.hpp"
#include "interfaces/kernel_folder/folder_file.hpp"
#include "interfaces/kernel_folder/reference.hpp"
#include "interfaces/kernel_folder/source_text.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

namespace fs = std::filesystem;

constexpr double longest_step = 600;  // seconds: what a worker has to set a problem up
constexpr std::int64_t most_whole = std::int64_t{1} << 40;
constexpr double most_real = 1e300;

// Arrays are files that both processes map. The function gets what its parameters name, so that
// their order is its own.
constexpr const char* driver = R"(
import importlib.util, inspect, json, math, mmap, os, site, sys, sysconfig

sys.path = [place for place in sys.path if place]  # nothing from the working folder
call = json.load(open(sys.argv[1]))
try:
    import numpy
except ImportError:
    numpy = None
sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(call["file"]))
before = set(sys.modules)
spec = importlib.util.spec_from_file_location("hone_reference", call["file"])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
function = getattr(module, call["entry"], None)
if not callable(function):
    sys.exit(f"there is no function {call['entry']}")
known = dict(call["parameters"])
maps = []
for array in call["arrays"]:
    written, extents, code = array["written"], array["extents"], array["code"]
    with open(array["file"], "r+b" if written else "rb") as file:
        maps.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE if written else mmap.ACCESS_READ))
    count = math.prod(extents)
    if numpy:
        known[array["name"]] = numpy.frombuffer(maps[-1], dtype=code, count=count).reshape(extents)
    else:
        length = count * {"f": 4, "d": 8, "i": 4}[code]
        known[array["name"]] = memoryview(maps[-1])[:length].cast(code, extents)
parameters = inspect.signature(function).parameters.values()
for one in parameters:
    if one.kind in (one.VAR_POSITIONAL, one.POSITIONAL_ONLY):
        sys.exit(f"{call['entry']} is called by names, and {one} has none")
    if one.kind != one.VAR_KEYWORD and one.default is one.empty and one.name not in known:
        sys.exit(f"{call['entry']} has a parameter {one.name}; hone knows {', '.join(known)}")
if all(one.kind != one.VAR_KEYWORD for one in parameters):
    known = {one.name: known[one.name] for one in parameters if one.name in known}
function(**known)
for one in maps:
    one.flush()

# Nothing of the user's own runs that hone has not read.
paths = sysconfig.get_paths()
installed = [paths[one] for one in ("stdlib", "platstdlib", "purelib", "platlib")] + [site.getusersitepackages()]
installed = tuple(os.path.realpath(one) + os.sep for one in installed)
for name in sorted(set(sys.modules) - before - {"hone_reference"}):
    file = getattr(sys.modules[name], "__file__", None)
    if not file:
        continue
    path = os.path.realpath(file)
    if path in call["read"] or path.startswith(installed) or {"site-packages", "dist-packages"} & set(path.split(os.sep)):
        continue
    sys.exit(f"it imports {name} from {path}, and no import statement leads hone there: put it beside {call['file']}, or its folder on PYTHONPATH")
)";

std::string python() {
    const std::string chosen = environment_variable("HONE_PYTHON");
    std::string path = find_program(chosen.empty() ? "python3" : chosen);
    if (path.empty())
        throw Error("Python function as reference", (chosen.empty() ? "python3" : "HONE_PYTHON: " + chosen) + " is not here",
                    "install Python 3, or name an interpreter in HONE_PYTHON");
    return path;
}

// Of Python's module array.
const char* code_of(ValueType type) {
    return type == ValueType::i32 ? "i" : type == ValueType::f32 ? "f" : "d";
}

// What Python says at the end, which is where the reason stands.
std::string last_lines(const std::string& output) {
    constexpr std::size_t most = 600;
    std::string text = output.size() > most ? "... " + output.substr(output.size() - most) : output;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

}  // namespace

void python_step(const Description& description, const fs::path& folder, const Problem& problem, std::span<void* const> arrays, std::int64_t first,
                 std::int64_t last) {
    const fs::path file = folder_file(folder, description.reference.file);
    const std::string where = fmt::format("reference of {} ({})", description.name, file.string());
    const std::string interpreter = python();
    require_unchanged(description.reference, where);
    const RunFolder place;
    const Values values(problem);
    const std::vector<ArraySpec> specs = array_specs(description, problem);
    std::string listed, parameters, read;
    for (const auto& [path, hash] : description.reference.files) read += (read.empty() ? "" : ", ") + json_string(path);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const Argument& argument = description.arguments[i];
        const fs::path data = place.path() / fmt::format("array_{}", i);
        const std::int64_t bytes = bytes_of(specs[i], problem.precision());
        replace_file(data, {static_cast<const char*>(arrays[i]), static_cast<std::size_t>(bytes)});
        std::string extents;
        for (const Expression& extent : argument.extents)
            extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent.integer(values, 1, specs[i].words * 2));
        listed += fmt::format("{}{{\"name\": {}, \"file\": {}, \"code\": \"{}\", \"written\": {}, \"extents\": [{}]}}", listed.empty() ? "" : ", ",
                              json_string(specs[i].name), json_string(data.string()), code_of(value_type_of(specs[i], problem.precision())),
                              argument.access != Access::in, extents);
    }
    for (const ProblemParameter& parameter : description.parameters) {
        const bool word = !parameter.words.empty();
        parameters += fmt::format("{}: {}, ", json_string(parameter.name),
                                  word ? json_string(problem.word(parameter.name)) : fmt::format("{}", problem.integer(parameter.name)));
    }
    for (const Passed& passed : description.passed)
        if (passed.array < 0)
            parameters += fmt::format("{}: {}, ", json_string(passed.name),
                                      passed.whole() ? fmt::format("{}", passed.value.integer(values, -most_whole, most_whole))
                                                     : fmt::format("{:.17g}", passed.value.number(values, -most_real, most_real)));
    replace_file(place.path() / "call.json",
                 fmt::format("{{\"file\": {}, \"entry\": {}, \"read\": [{}], \"parameters\": {{{}\"first\": {}, \"last\": {}}}, \"arrays\": [{}]}}",
                             json_string(file.string()), json_string(description.reference.entry), read, parameters, first, last, listed));
    const ProcessResult result = run_process({interpreter, "-c", driver, (place.path() / "call.json").string()}, longest_step, place.environment());
    if (!result.ok())
        throw Error(where, fmt::format("{}: {}", result.failure(), last_lines(result.output)),
                    "mend the function; HONE_PYTHON names another interpreter, with NumPy, say");
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].access == Access::in) continue;
        const std::int64_t bytes = bytes_of(specs[i], problem.precision());
        const std::string contents = read_file(place.path() / fmt::format("array_{}", i), bytes);
        if (static_cast<std::int64_t>(contents.size()) != bytes) throw Error(where, "it changed the length of " + specs[i].name, "write in place");
        std::memcpy(arrays[i], contents.data(), contents.size());
    }
}

}  // namespace hone::inline v0_1::kernel_folder
