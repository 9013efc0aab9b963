#include "tools/charts/gnuplot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "foundation/run_folder.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/record_table.hpp"

namespace hone::tools {

std::string gnuplot_string(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c == '\n' || c == '\r' ? ' ' : c;
    }
    return result + "\"";
}

std::string plot_script(const std::vector<Record>& records, const std::string& title, const std::filesystem::path& picture) {
    const auto height = std::max<std::size_t>(300, 160 + 40 * records.size());
    std::string script =
        fmt::format("set terminal pngcairo noenhanced size 1200,{} font \"sans,11\"\nset output {}\n", height, gnuplot_string(picture.string()));
    script += "set title " + gnuplot_string(title) + "\nset xlabel \"GB/s of compulsory traffic\"\nset xrange [0:*]\nset yrange [*:*] reverse\n";
    script += "set style fill solid 0.8\nset grid xtics\nset key bottom right\nset offsets 0,0,0.6,0.6\n$results << END\n";
    for (std::size_t i = 0; i < records.size(); ++i) {
        const double tuned = records[i].gigabytes_per_second();
        const double times = gain(records[i]);
        script += fmt::format("{} {:.6g} {:.6g} {}\n", i, tuned, times > 0 ? tuned / times : 0,
                              gnuplot_string(short_key(records[i].problem, known_families())));
    }
    return script +
           "END\nplot $results using 2:1:(0):2:($1-0.4):($1):ytic(4) with boxxyerror title \"tuned\", "
           "$results using 3:1:(0):3:($1):($1+0.4) with boxxyerror title \"safe configuration\"\n";
}

namespace {

bool is_whole(const std::filesystem::path& picture) {
    constexpr std::int64_t largest = std::int64_t{1} << 28;
    const std::string_view end = picture.extension() == ".svg" ? "</svg>" : "IEND";  // the last element; the last chunk
    constexpr std::size_t behind = 8;                                                // a checksum, or a line end
    const std::string drawn = read_file(picture, largest);
    const std::size_t at = drawn.rfind(end);
    return at != std::string::npos && at + end.size() + behind >= drawn.size();
}

}  // namespace

void draw(const std::string& script, const std::filesystem::path& picture) {
    const std::string program = find_program("gnuplot");
    if (program.empty()) throw MissingError("--plot", "gnuplot is not on the PATH", "install it (Debian, Ubuntu: apt install gnuplot-nox)");
    const RunFolder folder;
    const auto file = folder.path() / "plot.gp";
    replace_file(file, script);
    const ProcessResult result = run_process({program, file.string()}, 60);
    if (!result.ok()) throw Error("gnuplot", result.failure() + ": " + result.output, "look at the file that --plot names");
    if (!is_whole(picture)) throw Error(picture.string(), "it could not be written completely", "free space on the disk");
}

}  // namespace hone::tools
