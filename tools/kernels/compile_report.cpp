#include "tools/kernels/compile_report.hpp"

#include <fmt/format.h>

#include "tools/console/format.hpp"

namespace hone::tools {

std::string resources_table(const std::vector<EntryResources>& resources) {
    constexpr auto right = Table::Align::right;
    Table table({{"  entry"}, {"registers", right}, {"shared", right}, {"local", right}, {"spill stores", right}, {"spill loads", right}});
    for (const EntryResources& row : resources)
        table.row({"  " + row.entry, fmt::format("{}", row.registers), bytes(row.shared_bytes), bytes(row.local_bytes), bytes(row.spill_store_bytes),
                   bytes(row.spill_load_bytes)});
    return table.text();
}

Json json_of(const std::vector<EntryResources>& resources) {
    Json entries = Json::array();
    for (const EntryResources& row : resources)
        entries.push_back({{"name", row.entry},
                           {"registers", row.registers},
                           {"shared_bytes", row.shared_bytes},
                           {"local_bytes", row.local_bytes},
                           {"spill_store_bytes", row.spill_store_bytes},
                           {"spill_load_bytes", row.spill_load_bytes}});
    return entries;
}

}  // namespace hone::tools
