#include "runtime/ranks/mesh_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/error.hpp"

#ifdef HONE_WITH_METIS
#include <metis.h>
#endif

namespace hone::inline v0_1 {
namespace {

double work_of(const MeshItems& items, std::size_t item) {
    return items.work.empty() ? 1.0 : items.work[item];
}

void check(const MeshItems& items, std::span<const double> speeds, Cutter cutter) {
    const std::string where = "sharing a mesh among ranks";
    if (cutter == Cutter::metis && !has_metis())
        throw Error(where + " by METIS", "hone was built without it",
                    "install it (Debian, Ubuntu: apt install libmetis-dev) and build hone anew, or use bisection");
    const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
    if (speeds.empty() || !std::all_of(speeds.begin(), speeds.end(), positive))
        throw Error(where, fmt::format("speeds of {} ranks, not all of them positive", speeds.size()), "give each rank a positive one");
    if (speeds.size() > items.size())
        throw Error(where, fmt::format("{} ranks, and {} parts that can be shared", speeds.size(), items.size()),
                    fmt::format("start at most {}, or take a finer mesh", items.size()));
    if (!std::all_of(items.work.begin(), items.work.end(), positive)) throw Error(where, "work that is not positive", "leave such items out");
    const bool lists = items.starts.empty() ? items.neighbours.empty()
                                            : items.starts.size() == items.size() + 1 && items.starts.back() == std::ssize(items.neighbours);
    if ((!items.work.empty() && items.work.size() != items.size()) || !lists ||
        (!items.words.empty() && items.words.size() != items.neighbours.size()))
        throw Error(where,
                    fmt::format("lists of {} items, {} works, {} starts, {} neighbours and {} words", items.size(), items.work.size(),
                                items.starts.size(), items.neighbours.size(), items.words.size()),
                    "give lists that fit together");
}

// Cuts across the longest side of what is left, so that the two halves' work is as their ranks'
// speeds.
class Bisection {
  public:
    Bisection(const MeshItems& items, std::span<const double> speeds) : items_(items), speeds_(speeds), ranks_(items.size()) {
        std::vector<std::size_t> all(items.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        cut(all, 0, speeds.size());
    }
    std::vector<int> ranks() && { return std::move(ranks_); }

  private:
    void cut(std::span<std::size_t> own, std::size_t first, std::size_t last) {
        if (last - first == 1) {
            for (const std::size_t item : own) ranks_[item] = static_cast<int>(first);
            return;
        }
        const std::size_t axis = longest_axis(own);
        std::sort(own.begin(), own.end(), [&](std::size_t a, std::size_t b) {
            const double x = items_.places[a][axis], y = items_.places[b][axis];
            return x != y ? x < y : a < b;
        });
        const std::size_t middle = first + (last - first) / 2;
        const auto speed = [&](std::size_t from, std::size_t to) {
            return std::accumulate(speeds_.begin() + static_cast<std::ptrdiff_t>(from), speeds_.begin() + static_cast<std::ptrdiff_t>(to), 0.0);
        };
        double work = 0;
        for (const std::size_t item : own) work += work_of(items_, item);
        const double wanted = work * speed(first, middle) / speed(first, last);
        // An item goes where its middle lies; every rank is left one at least.
        double before = 0;
        std::size_t count = 0;
        while (count < own.size() && before + work_of(items_, own[count]) / 2 < wanted) before += work_of(items_, own[count++]);
        count = std::clamp(count, middle - first, own.size() - (last - middle));
        cut(own.first(count), first, middle);
        cut(own.subspan(count), middle, last);
    }

    std::size_t longest_axis(std::span<const std::size_t> own) const {
        std::size_t longest = 0;
        double length = -1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            double low = items_.places[own.front()][axis], high = low;
            for (const std::size_t item : own) low = std::min(low, items_.places[item][axis]), high = std::max(high, items_.places[item][axis]);
            if (high - low > length) length = high - low, longest = axis;
        }
        return longest;
    }

    const MeshItems& items_;
    std::span<const double> speeds_;
    std::vector<int> ranks_;
};

// Of shares of a few items METIS leaves some empty, and writes to the terminal that it does.
bool worth_metis(const MeshItems& items, std::span<const double> speeds) {
    constexpr double few = 8;
    const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    return *std::min_element(speeds.begin(), speeds.end()) / all * static_cast<double>(items.size()) >= few;
}

#ifdef HONE_WITH_METIS
// Empty where a rank would get nothing, as happens on tiny meshes.
std::vector<int> by_metis(const MeshItems& items, std::span<const double> speeds) {
    auto vertices = static_cast<idx_t>(items.size()), constraints = idx_t{1}, parts = static_cast<idx_t>(speeds.size()), cost = idx_t{0};
    std::vector<idx_t> starts(items.starts.begin(), items.starts.end()), neighbours(items.neighbours.begin(), items.neighbours.end());
    std::vector<idx_t> words(items.words.begin(), items.words.end()), work, part(items.size());
    const double mean = std::accumulate(items.work.begin(), items.work.end(), 0.0) / static_cast<double>(items.size());
    constexpr double units_of_mean = 100;  // METIS weighs in whole numbers
    for (const double own : items.work) work.push_back(std::max(idx_t{1}, static_cast<idx_t>(std::lround(own / mean * units_of_mean))));
    const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    std::vector<real_t> shares;
    for (const double speed : speeds) shares.push_back(static_cast<real_t>(speed / all));
    std::array<idx_t, METIS_NOPTIONS> options{};
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = 1;
    // Recursive bisection balances few parts better; many are cheaper at once.
    constexpr idx_t few = 8;
    const auto cut = parts <= few ? METIS_PartGraphRecursive : METIS_PartGraphKway;
    const int result = cut(&vertices, &constraints, starts.data(), neighbours.data(), work.empty() ? nullptr : work.data(), nullptr,
                           words.empty() ? nullptr : words.data(), &parts, shares.data(), nullptr, options.data(), &cost, part.data());
    if (result != METIS_OK) throw Error("METIS", fmt::format("it ended with code {}", result), "use bisection");
    std::vector<std::int64_t> counts(speeds.size());
    for (const idx_t rank : part) ++counts[static_cast<std::size_t>(rank)];
    if (std::find(counts.begin(), counts.end(), 0) != counts.end()) return {};
    return {part.begin(), part.end()};
}
#else
// Nobody gets here.
std::vector<int> by_metis(const MeshItems&, std::span<const double>) {
    return {};
}
#endif

}  // namespace

Cutter parse_cutter(const std::string& word) {
    if (word == "best") return Cutter::best;
    if (word == "bisection") return Cutter::bisection;
    if (word == "metis") return Cutter::metis;
    throw Error("way to share a mesh", "it is \"" + word + "\"", "use best, bisection or metis");
}

bool has_metis() {
#ifdef HONE_WITH_METIS
    return true;
#else
    return false;
#endif
}

std::vector<int> partition_items(const MeshItems& items, std::span<const double> speeds, Cutter cutter) {
    check(items, speeds, cutter);
    const bool asks_metis = cutter == Cutter::metis || (cutter == Cutter::best && has_metis() && !items.starts.empty());
    if (asks_metis && speeds.size() > 1 && !items.starts.empty() && worth_metis(items, speeds))
        if (std::vector<int> ranks = by_metis(items, speeds); !ranks.empty()) return ranks;
    return Bisection(items, speeds).ranks();
}

std::vector<int> partition_items(Communicator& communicator, const MeshItems& items, double own_speed, Cutter cutter) {
    std::vector<double> speeds(static_cast<std::size_t>(communicator.size()));
    communicator.all_gather({&own_speed, 1}, equal_counts(communicator, 1), speeds);
    std::vector<int> ranks(items.size());
    // What rank 0 would refuse all refuse: none is left waiting for it.
    check(items, speeds, cutter);
    if (communicator.rank() == 0) ranks = partition_items(items, speeds, cutter);
    communicator.broadcast(std::as_writable_bytes(std::span(ranks)), 0);
    return ranks;
}

std::int64_t words_cut(const MeshItems& items, std::span<const int> ranks) {
    std::int64_t words = 0;
    for (std::size_t item = 0; item + 1 < items.starts.size(); ++item)
        for (auto n = static_cast<std::size_t>(items.starts[item]); n < static_cast<std::size_t>(items.starts[item + 1]); ++n)
            if (ranks[static_cast<std::size_t>(items.neighbours[n])] != ranks[item]) words += items.words.empty() ? 1 : items.words[n];
    return words;
}

}  // namespace hone::inline v0_1
