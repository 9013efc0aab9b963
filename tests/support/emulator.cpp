#include "tests/support/emulator.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <regex>
#include <sstream>

#include "foundation/error.hpp"
#include "tests/support/places.hpp"

namespace hone::test {
namespace {

const std::string& prelude() {
    static const std::string text = [] {
        const std::string file = source_path("tests/support/cuda_on_host.hpp");
        std::ifstream stream(file);
        if (!stream) throw Error(file, "cannot be read", "run the test from a checkout of the sources");
        std::ostringstream contents;
        contents << stream.rdbuf();
        return contents.str();
    }();
    return text;
}

// `extern __shared__ real tile[];` names the launch's dynamic shared memory.
std::string with_dynamic_shared(const std::string& text) {
    static const std::regex declaration(R"(extern\s+__shared__\s+(?:__align__\(\d+\)\s*)?([\w ]+?)\s+(\w+)\[\];)");
    return std::regex_replace(text, declaration, "$1* const $2 = static_cast<$1*>(cuda_on_host::aligned_shared());");
}

// `extern "C" void launch_3(real* a0, ..., int i0, ...)`, which runs one launch of the plan over
// its grid.
std::string launcher(const KernelSource& source, const Launch& launch, const std::string& name) {
    std::string parameters;
    std::string arguments;
    std::string statics;  // a kernel runs through a plain function pointer, so its arguments lie in static variables
    const auto add = [&](const std::string& type, const std::string& argument, const std::string& kept_as) {
        if (!arguments.empty()) parameters += ", ", arguments += ", ";
        parameters += type + " p_" + argument;
        arguments += "a_" + argument;
        statics += fmt::format("    static {1} a_{0};\n    a_{0} = {1}{{p_{0}}};\n", argument, kept_as);
    };
    const std::size_t pointers = source.arrays.size() + source.tables.size();
    for (std::size_t i = 0; i < pointers; ++i) add("void*", fmt::format("pointer{}", i), "cuda_on_host::Pointer");
    for (std::size_t i = 0; i < source.by_value.size(); ++i) {
        const std::string type = fmt::format("cuda_on_host::Parameter<{}, decltype({})>", pointers + i, launch.entry);
        add(type, fmt::format("value{}", i), type);
    }
    for (const auto& scalar : source.scalars) add("int", scalar.name, "int");
    add("int", "first", "int");
    add("int", "last", "int");
    for (std::size_t i = 0; i < launch.constants.size(); ++i) add("int", fmt::format("constant{}", i), "int");
    // Types of the prelude are hidden, and to some compilers so is what takes them.
    std::string text = fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) void {}({}) {{\n", name, parameters);
    text += statics;
    std::array<std::string, 3> grid;
    for (std::size_t axis = 0; axis < 3; ++axis) grid[axis] = fmt::format("{}u", launch.grid[axis]);
    if (launch.range_axis >= 0)
        grid[static_cast<std::size_t>(launch.range_axis)] = fmt::format("unsigned((p_last - p_first + {0} - 1) / {0})", launch.range_per_block);
    text += fmt::format("    cuda_on_host::launch({{{}, {}, {}}}, {{{}u, {}u, {}u}}, {}, [] {{ {}({}); }});\n}}\n", grid[0], grid[1], grid[2],
                        launch.block[0], launch.block[1], launch.block[2], launch.shared_bytes, launch.entry, arguments);
    return text;
}

}  // namespace

KernelSource emulated(const KernelSource& cuda) {
    KernelSource cpu = cuda;
    cpu.target = Target::cpu;
    cpu.text = prelude() + with_dynamic_shared(cuda.text) + "#pragma GCC visibility pop\n";
    cpu.entries.clear();
    for (auto* plan : {&cpu.prepare, &cpu.step})
        for (auto& launch : *plan) {
            const std::string name = fmt::format("launch_{}", cpu.entries.size());
            cpu.text += launcher(cuda, launch, name);
            cpu.entries.push_back(name);
            launch.entry = name;
        }
    return cpu;
}

void put_in_front(KernelSource& emulated, const std::string& text) {
    const std::string_view first_include = "#include <setjmp.h>\n";
    const std::size_t at = emulated.text.find(first_include);
    if (at == std::string::npos) throw Error("cuda_on_host.hpp", "it no longer begins with <setjmp.h>", "name its first header in put_in_front");
    emulated.text.insert(at + first_include.size(), text);
}

KernelSource with_checked_words(const KernelSource& emulated) {
    static const std::regex word(R"(using real = (float|double);)");
    KernelSource checked = emulated;
    // What nobody wrote must be recognisable, in the kernel's variables only.
    checked.text = std::regex_replace(emulated.text, word,
                                      "#pragma GCC optimize(\"trivial-auto-var-init=pattern\")\nusing real = cuda_on_host::Checked<$1>;\n"
                                      "inline real& operator*=(real& word, $1 factor) { return word = word.read() * factor; }",
                                      std::regex_constants::format_first_only);
    if (checked.text == emulated.text) throw Error("emulated kernel", "no line `using real = ...;`", "name its word `real`");
    return checked;
}

Family emulated(const Family& family, const Limits& cuda) {
    Family result = family;
    result.space = [family, cuda](const Problem& problem, const Limits&) { return family.space(problem, cuda); };
    result.kernel = [family, cuda](const Problem& problem, const Config& config, const Limits&) {
        return emulated(family.kernel(problem, config, cuda));
    };
    return result;
}

}  // namespace hone::test
