#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

#include "foundation/process.hpp"
#include "foundation/value.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"

namespace hone::tools {
namespace {

constexpr int page = 100;  // columns of help texts

const std::vector<std::pair<std::string, std::string>> environment{
    {"HONE_DB", "folder of tuned results, written to and read first; default XDG_DATA_HOME/hone/db, else ~/.local/share/hone/db"},
    {"HONE_CACHE", "folder of compiled kernels; default XDG_CACHE_HOME/hone, else ~/.cache/hone"},
    {"HONE_KERNELS", "your own kernel folders that are always known, separated by colons"},
    {"HONE_CAPTURE",
     "in an application: save the first launch of each problem that matches, a family or a pattern with * and ?, for 'hone replay'; into "
     "HONE_CAPTURE_DIR (default hone-captures), launches of at most HONE_CAPTURE_LIMIT (default 4G)"},
    {"HONE_CXX", "C++ compiler for CPU kernels; default the first that compiles a kernel of CXX, hone's own, c++, g++, clang++"},
    {"HONE_CUDA_LIBRARIES", "the only folder in which hone looks for libcuda, libnvrtc and NVML; an empty folder means a machine without CUDA"},
    {"OMP_NUM_THREADS", "threads of the cpu device"}};

const std::vector<std::pair<std::string, std::string>> codes{
    {"0", "done"},
    {"1", "no result: nothing found, nothing compiled, nothing valid; or the answer is no: slower than allowed, does not hold"},
    {"2", "wrong input; the message names the nearest right one"},
    {"3", "the machine lacks something; the message says what to install"},
    {"4", "interrupted; everything finished until then is kept"},
    {"5", "hone itself failed"}};

std::string paragraphs(std::string_view text, int columns) {
    std::string result;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        result += wrapped(line, columns) + "\n";
    }
    return result;
}

std::string overview(int columns) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const auto& command : commands())
        if (!command.hidden) rows.emplace_back(command.name, command.summary);
    std::string text = "hone " HONE_VERSION ": autotuned kernels for high-order and stencil codes\n\nusage: hone COMMAND [arguments]\n\nCommands:\n";
    text += definition_list(rows, columns);
    text +=
        "\nA problem is written as a family and its parameters. A list or a range means several problems:\n"
        "  gauss_seidel_27 stencil=constant,variable precision=f32 nx=96 ny=96 nz=96\n"
        "  dg_volume equation=maxwell_3d order=1..10 precision=f64 elements=100000\n"
        "\nFirst steps:\n"
        "  hone doctor                        what this machine has, what it lacks and what to install\n"
        "  hone families                      what can be computed, and which parameters a problem has\n"
        "  hone tune --budget 2m              tune a few problems on the best device found\n"
        "  hone show                          the winners\n"
        "  hone COMMAND --help                a command's options, with examples\n";
    text += "\nEnvironment:\n" + definition_list(environment, columns);
    text += "\nExit codes:\n" + definition_list(codes, columns);
    return fitted(text, columns);
}

std::string help_of(const Command& command, const Options& options, int columns) {
    const int width = columns > 0 ? std::min(columns, page) : page;
    std::string text = "hone " + command.name + ": " + command.summary + "\n\nusage: hone " + command.name + " " + command.usage + "\n\n";
    text += paragraphs(command.about, width) + "\nOptions:\n" + options.help(columns);
    if (!command.examples.empty()) text += "\nExamples:\n";
    for (const auto& [line, explanation] : command.examples) text += "  hone " + line + "\n      " + wrapped(explanation, width, 6) + "\n";
    return fitted(text + "\nEnvironment variables and exit codes: hone --help\n", columns);
}

const Command& find_command(const std::string& name) {
    const auto table = commands();
    const auto found = std::find_if(table.begin(), table.end(), [&](const Command& command) { return command.name == name; });
    if (found != table.end()) return *found;
    std::vector<std::string> names;
    for (const auto& command : table)
        if (!command.hidden) names.push_back(command.name);
    throw Error("command line", fmt::format("there is no command \"{}\"", name),
                did_you_mean(name, names) + fmt::format("the commands are {}", fmt::join(names, ", ")));
}

bool asks_for_help(const std::string& argument) {
    return argument == "--help" || argument == "-h";
}

Exit dispatch(std::vector<std::string> arguments, Console& console) {
    if (!arguments.empty() && arguments.front() == "help") {
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
    }
    if (arguments.empty() || asks_for_help(arguments.front())) {
        console.print("{}", overview(console.out_width()));
        return Exit::ok;
    }
    if (arguments.front() == "--version") arguments.front() = "version";
    const Command& command = find_command(arguments.front());
    Options options(command.name);
    const Action action = command.declare(options);
    arguments.erase(arguments.begin());
    if (std::any_of(arguments.begin(), arguments.end(), asks_for_help)) {
        console.print("{}", help_of(command, options, console.out_width()));
        return Exit::ok;
    }
    options.parse(arguments);
    // A folder with a kernel stands for the family in it.
    const std::string& named = options.words_name();
    const PathMeans path = named.starts_with("FAMILY") || named.starts_with("[FAMILY") ? PathMeans::kernel : PathMeans::anything;
    if (named.find("FAMILY") != std::string::npos)
        for (std::string& word : *options.words()) word = with_family_name(word, path);
    return action(console);
}

}  // namespace

std::span<const Command> commands() {
    static const std::vector<Command> table{
        doctor_command(),   devices_command(), families_command(),  space_command(),      emit_command(),    compile_command(), new_command(),
        check_command(),    tune_command(),    watch_command(),     replay_command(),     balance_command(), show_command(),    explain_command(),
        diff_command(),     verify_command(),  roofline_command(),  plot_command(),       report_command(),  lookup_command(),  db_command(),
        simulate_command(), convert_command(), operators_command(), completion_command(), version_command(), worker_command(),  relay_command()};
    return table;
}

std::span<const std::pair<std::string, std::string>> environment_variables() {
    return environment;
}

std::span<const std::pair<std::string, std::string>> exit_codes() {
    return codes;
}

Exit run(const std::vector<std::string>& arguments, Console& console) {
    try {
        return dispatch(arguments, console);
    } catch (const MissingError& error) {
        console.message("hone: {}\n", error.what());
        return Exit::missing;
    } catch (const NothingError& error) {
        console.message("hone: {}\n", error.what());
        return Exit::nothing;
    } catch (const InterruptedError&) {
        return Exit::interrupted;
    } catch (const Error& error) {
        console.message("hone: {}\n", error.what());
        return Exit::wrong_input;
    } catch (const std::exception& error) {
        console.message("hone: internal failure: {}\n", error.what());
        return Exit::internal;
    }
}

}  // namespace hone::tools
