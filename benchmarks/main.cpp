// The `main` of all benchmark programs.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <type_traits>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/rows_as_csv.hpp"
#include "foundation/environment.hpp"
#include "generator/families/built_in_families.hpp"

namespace hone::benchmarks {

std::string device_name() {
    const std::string name = environment_variable("HONE_DEVICE");
    return name.empty() ? "best" : name;
}

std::filesystem::path database_folder() {
    const std::string folder = environment_variable("HONE_DB");
    return folder.empty() ? "tuning_db/records" : folder;
}

void tell_device(const DeviceFingerprint& device) {
    benchmark::AddCustomContext("device", device.name + " " + device.architecture + " driver " + device.driver);
    benchmark::AddCustomContext("compiler", device.compiler);
}

namespace {

// Empty when it is, as CLI11 wants it.
std::string above_zero(const std::string& word) {
    double value = 0;
    return CLI::detail::lexical_cast(word, value) && value > 0 ? "" : fmt::format("\"{}\" is not a number above 0", word);
}

void declare(CLI::App& app, const Option& option) {
    std::visit(
        [&](auto* value) {
            using Value = std::remove_pointer_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, bool>) {
                app.add_flag(option.name, *value, option.help);
            } else if constexpr (std::is_same_v<Value, std::string>) {
                app.add_option(option.name, *value, option.help);
            } else {
                CLI::Option* const numbers = app.add_option(option.name, *value, option.help)->capture_default_str()->check(above_zero);
                if constexpr (std::is_same_v<Value, std::vector<int>>) numbers->delimiter(',');
            }
        },
        option.value);
}

// Those of all its problems, into the library that the rows take them from.
void compile_kernels(const std::vector<std::string>& problems) {
    KernelLibrary& library = DeviceBench::instance().library();
    compile_side_by_side(problems.size(), [&](std::size_t i) { library.kernel(built_in_families().parse_problem(problems[i])); });
}

int run(int argc, char** argv, const std::string& name) {
    const Program own = program();
    CLI::App app(own.purpose, name);
    app.footer(
        "Google Benchmark's options are taken too, among them\n"
        "  --benchmark_list_tests            the rows, without measuring them\n"
        "  --benchmark_filter=<regex>        only rows whose names match\n"
        "  --benchmark_out=<file>            the results as JSON, for benchmark_report\n"
        "\n"
        "Environment: HONE_DEVICE is the device (default best), HONE_DB the folder of tuned results (default tuning_db/records).");
    app.allow_extras();
    bool only_problems = false, compile_first = false;
    if (own.problems) {
        app.add_flag("--problems", only_problems, "Print the problems instead, as arguments of `hone tune`: those for a GPU.");
        app.add_flag("--compile-first", compile_first, "Compile the kernels of all problems on all cores before anything is measured.");
    }
    for (const Option& option : own.options) declare(app, option);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& ending) {
        return app.exit(ending) == 0 ? 0 : 2;
    }
    if (only_problems) {
        for (const std::string& problem : own.problems()) fmt::print("{}\n", built_in_families().parse_problem(problem).key());
        return 0;
    }
    if (own.instead && own.instead()) return 0;
    // Google Benchmark reads what is not the program's own, and keeps the first word for its
    // report.
    std::vector<std::string> rest = app.remaining();
    std::vector<char*> words{argv[0]};
    for (std::string& word : rest) words.push_back(word.data());
    int count = static_cast<int>(words.size());
    words.push_back(nullptr);
    benchmark::Initialize(&count, words.data());
    if (benchmark::ReportUnrecognizedArguments(count, words.data())) return 2;
    if (compile_first) compile_kernels(own.problems());
    if (own.register_all) own.register_all();
    RowsAsCsv shown, written;
    const bool has_file = !benchmark_option(rest, "benchmark_out").empty();
    benchmark::RunSpecifiedBenchmarks(benchmark_option(rest, "benchmark_format") == "csv" ? &shown : nullptr,
                                      has_file && benchmark_option(rest, "benchmark_out_format") == "csv" ? &written : nullptr);
    if (own.finish) own.finish();
    benchmark::Shutdown();
    return 0;
}

}  // namespace
}  // namespace hone::benchmarks

int main(int argc, char** argv) {
    const std::string name = std::filesystem::path(argv[0]).filename().string();
    try {
        return hone::benchmarks::run(argc, argv, name);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", name, error.what());
        return 2;
    }
}
