// Tables and pictures of what benchmarks/measure left: see usage.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include "benchmarks/report/ceiling_picture.hpp"
#include "benchmarks/report/tables.hpp"
#include "foundation/file_store.hpp"

namespace {

constexpr const char* usage =
    "usage: benchmark_report table FILE.json...          the figures of all files as one table of comma-separated values\n"
    "       benchmark_report context FILE.json...        date, device, compiler and ceilings of each benchmark's run\n"
    "       benchmark_report picture FOLDER DEVICE SVG   tuned kernels and rivals as parts of the ceiling, from FOLDER/<family>.csv\n"
    "\n"
    "Example: benchmark_report picture benchmarks/results/h200 'NVIDIA H200' benchmarks/results/h200/ceilings.svg\n";

}  // namespace

int main(int count, char** words) try {
    const std::vector<std::string> arguments(words + 1, words + count);
    const std::string what = arguments.empty() ? "" : arguments[0];
    if ((what == "table" || what == "context") && arguments.size() > 1) {
        const std::vector<std::filesystem::path> files(arguments.begin() + 1, arguments.end());
        fmt::print("{}", hone::benchmarks::csv_text(what == "table" ? hone::benchmarks::table_of(files) : hone::benchmarks::contexts_of(files)));
        return 0;
    }
    if (what == "picture" && arguments.size() == 4) {
        hone::replace_file(arguments[3], svg(hone::benchmarks::ceiling_picture(arguments[1], arguments[2])));
        return 0;
    }
    fmt::print(what == "--help" ? stdout : stderr, "{}", usage);
    return what == "--help" ? 0 : 2;
} catch (const std::exception& error) {
    fmt::print(stderr, "benchmark_report: {}\n", error.what());
    return 1;
}
