#include "examples/options/sharing.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <hone/hone.hpp>
#include <sstream>
#include <vector>

namespace hone::examples {
namespace {

std::vector<double> speeds_of(const std::string& text) {
    std::vector<double> speeds;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) {
        double speed = 0;
        const auto result = std::from_chars(word.data(), word.data() + word.size(), speed);
        if (result.ec != std::errc() || result.ptr != word.data() + word.size() || !(speed > 0))
            throw Error("--speeds", fmt::format("\"{}\" is not a speed", word),
                        "use best, equal, measured, or a positive number for each rank, by commas");
        speeds.push_back(speed);
    }
    return speeds;
}

// Whether all ranks compute on devices of one name.
bool alike(Communicator& ranks, const std::string& device) {
    // Whole numbers of 32 bits are doubles, too.
    const auto number = static_cast<double>(static_cast<std::uint32_t>(std::hash<std::string>()(device)));
    return all_reduce(ranks, Reduction::smallest, number) == all_reduce(ranks, Reduction::largest, number);
}

}  // namespace

void add_sharing(CLI::App& app, SharingOptions& options) {
    app.add_option("--speeds", options.speeds,
                   "speeds by which the mesh is divided among ranks: equal; measured at the start; one number per rank, separated by commas and "
                   "repeated for further ranks; or best: measured if the ranks' devices differ")
        ->capture_default_str();
    app.add_option("--cutter", options.cutter,
                   "program that divides the mesh among ranks: bisection, metis, or best: metis if hone was built with it")
        ->capture_default_str()
        ->check(CLI::IsMember({"best", "bisection", "metis"}));
}

double speed_of_rank(const SharingOptions& options, Communicator& ranks, const std::string& device, const std::function<double()>& measure) {
    if (ranks.size() == 1 || options.speeds == "equal") return 1;
    if (options.speeds == "measured" || options.speeds == "best") {
        if (options.speeds == "best" && alike(ranks, device)) return 1;
        // Ranks of a host measure at the same time, as they compute.
        ranks.barrier();
        return measure();
    }
    const std::vector<double> speeds = speeds_of(options.speeds);
    if (speeds.empty()) throw Error("--speeds", "there is none", "use best, equal, measured, or a positive number for each rank, by commas");
    return speeds[static_cast<std::size_t>(ranks.rank()) % speeds.size()];
}

void print_parts(Communicator& ranks, const std::string& what, double own, double others) {
    std::vector<double> all(static_cast<std::size_t>(2 * ranks.size()));
    ranks.all_gather(std::array{own, others}, equal_counts(ranks, 2), all);
    if (ranks.rank() > 0 || ranks.size() == 1) return;
    fmt::print("{} ranks, by {}; {}:", ranks.size(), ranks.transport(), what);
    for (std::size_t at = 0; at < all.size(); at += 2) fmt::print(" {} ({})", all[at], all[at + 1]);
    fmt::print("\n");
}

}  // namespace hone::examples
