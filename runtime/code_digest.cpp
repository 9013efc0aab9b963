#include "runtime/code_digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/sha256.hpp"

namespace hone::inline v0_1 {

std::string code_digest(const KernelSource& source, std::string_view binary) {
    std::string all = sha256(binary) + "\n";
    for (const auto* plan : {&source.prepare, &source.step})
        for (const Launch& launch : *plan)
            all += fmt::format("{} {} {} {} {} {} {}\n", launch.entry, launch.grid, launch.block, launch.range_axis, launch.range_per_block,
                               launch.shared_bytes, launch.constants);
    for (const TableSpec& table : source.tables) {
        all += fmt::format("{} {}", table.name, table.words);
        for (const double value : table.contents) all += fmt::format(" {:.17g}", value);
        all += "\n";
    }
    constexpr std::size_t digits = 16;
    return sha256(all).substr(0, digits);
}

}  // namespace hone::inline v0_1
