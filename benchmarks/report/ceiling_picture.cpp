#include "benchmarks/report/ceiling_picture.hpp"

#include <algorithm>
#include <array>
#include <regex>

#include "benchmarks/report/tables.hpp"
#include "foundation/error.hpp"
#include "foundation/number_text.hpp"

namespace hone::benchmarks {
namespace {

struct Source {
    std::string lane, file, rival;  ///< no rival: what was timed beside it is not shown
    std::string ratio = "rival/ours";
};
const std::array sources{
    Source{"Gauss-Seidel, 27 points", "gauss_seidel_27", "plain kernel"},
    Source{"acoustics, staggered, f32", "acoustics_staggered", "plain kernel"},
    Source{"acoustics, staggered, f64", "acoustics_staggered_f64", "plain kernel"},
    Source{"Laplacian with dot product", "poisson7", "plain kernel"},
    Source{"DG volume, Maxwell", "dg_volume", "cuBLAS route"},
    Source{"DG volume, others", "dg_volume_others", "cuBLAS route"},
    Source{"DG stage, Maxwell", "dg_stage", ""},
    Source{"DG stage, others", "dg_stage_others", ""},
    Source{"small matrix products", "batched", "cuBLAS"},
    Source{"sparse matrices", "csr_spmv", "cuSPARSE"},
    Source{"corner forces", "corner_force", "published kernels", "paper/ours"},
};

double number(const Table::Row& row, const std::string& column) {
    const auto found = row.find(column);
    return found == row.end() ? 0 : number_at_head(found->second).value_or(0);
}

// Whether the row's kernel was tuned for this device: a label says how it was found.
bool tuned(const Table::Row& row) {
    const auto label = row.find("label");
    return label != row.end() && !std::regex_search(label->second, std::regex(" (same_architecture|predicted|other_architecture|none)[:,]"));
}

}  // namespace

StripChart ceiling_picture(const std::filesystem::path& folder, const std::string& device) {
    StripChart chart{"Tuned kernels and rivals on one " + device, "% of the ceiling measured in the same run", 100, {}};
    for (const Source& source : sources) {
        const std::filesystem::path file = folder / (source.file + ".csv");
        if (!std::filesystem::exists(file)) continue;
        StripChart::Lane lane{source.lane, {{"tuned", {}}}};
        std::vector<double> rivals;
        for (const Table::Row& row : read_csv(file).rows) {
            if (!tuned(row)) continue;
            const double ours = number(row, "%ceiling"), ratio = number(row, source.ratio);
            if (ours > 0) lane.groups[0].values.push_back(ours);
            if (ratio > 0) rivals.push_back(ours / ratio);
        }
        if (!source.rival.empty()) lane.groups.push_back({source.rival, rivals});
        chart.lanes.push_back(std::move(lane));
    }
    if (chart.lanes.empty()) throw Error(folder.string(), "it has no table of a family's benchmark", "give a folder as benchmarks/results/h200");
    return chart;
}

}  // namespace hone::benchmarks
