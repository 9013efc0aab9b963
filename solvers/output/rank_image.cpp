#include "solvers/output/rank_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hone::inline v0_1::solvers {

std::string write_rank_image(Communicator& ranks, const std::filesystem::path& folder, const std::string& stem, const VtkImage& part,
                             const VtkImage::Extents& all_cells) {
    const auto is_empty = [](const VtkImage::Extents& cells) { return std::any_of(cells.begin(), cells.end(), [](int n) { return n == 0; }); };
    const auto name = [&](int rank) { return ranks.size() == 1 ? stem + ".vti" : fmt::format("{}_{}.vti", stem, rank); };
    if (!is_empty(part.cells())) part.write(folder / name(ranks.rank()));
    if (ranks.size() == 1) return name(0);
    constexpr std::size_t numbers = 6;
    std::array<double, numbers> own{};
    std::copy(part.first().begin(), part.first().end(), own.begin());
    std::copy(part.cells().begin(), part.cells().end(), own.begin() + 3);
    std::vector<double> all(numbers * static_cast<std::size_t>(ranks.size()));
    ranks.all_gather(own, equal_counts(ranks, numbers), all);
    std::string index = stem + ".pvti";
    if (ranks.rank() > 0) return index;
    std::vector<VtkImage::Part> parts;
    for (int rank = 0; rank < ranks.size(); ++rank) {
        const double* const of = all.data() + numbers * static_cast<std::size_t>(rank);
        const auto at = [&](int n) { return static_cast<int>(of[n]); };
        const VtkImage::Part of_rank{{at(0), at(1), at(2)}, {at(3), at(4), at(5)}, name(rank)};
        if (!is_empty(of_rank.cells)) parts.push_back(of_rank);
    }
    part.write_index(folder / index, all_cells, parts);
    return index;
}

}  // namespace hone::inline v0_1::solvers
