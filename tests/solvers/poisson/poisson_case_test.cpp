#include "solvers/poisson/poisson_case.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "foundation/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::poisson_case_test {
namespace {

using namespace solvers;

// The largest |-Laplace u - f| of the textbook's seven points over the whole box.
double largest_defect(const PoissonCaseSettings& settings) {
    const auto alone = self_communicator();
    const PoissonCase of(settings, *alone);
    const auto n = static_cast<int>(settings.size), nz = static_cast<int>(settings.planes);
    const auto u = [&](int i, int j, int k) {
        const auto inside = [&](int& at, int cells) {
            if (at >= 0 && at < cells) return true;
            if (settings.boundary == "dirichlet") return false;
            at = settings.boundary == "neumann" ? std::min(std::max(at, 0), cells - 1) : (at + cells) % cells;
            return true;
        };
        if (!inside(i, n) || !inside(j, n) || !inside(k, nz)) return 0.0;
        return of.exact[static_cast<std::size_t>((k * n + j) * n + i)];
    };
    double largest = 0;
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const double around = u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) + u(i, j + 1, k) + u(i, j, k - 1) + u(i, j, k + 1);
                const double operated = (6 * u(i, j, k) - around) / (of.width * of.width);
                largest = std::max(largest, std::abs(operated - of.right_hand_side[static_cast<std::size_t>((k * n + j) * n + i)]));
            }
    return largest;
}

// The right-hand side is -Laplace of the solution: what seven points miss falls with the square of
// the cells' width, on longer boxes too.
TEST(PoissonCase, TheRightHandSideIsThatOfTheSolution) {
    for (const char* boundary : {"periodic", "dirichlet", "neumann"})
        for (const int longer : {1, 2}) {
            const double coarse = largest_defect({.boundary = boundary, .size = 16, .planes = 16 * longer});
            const double fine = largest_defect({.boundary = boundary, .size = 32, .planes = 32 * longer});
            EXPECT_NEAR(std::log2(coarse / fine), 2, 0.35) << boundary << ", " << longer << " times as long";
        }
}

TEST(PoissonCase, ASolutionThatIsNotUniqueHasNoMean) {
    const auto alone = self_communicator();
    for (const char* boundary : {"periodic", "neumann"}) {
        const PoissonCase of({.boundary = boundary, .size = 16, .planes = 16}, *alone);
        double sum = 0;
        for (const double value : of.exact) sum += value;
        EXPECT_NEAR(sum / of.cells_of_grid(), 0, 1e-13) << boundary;
    }
}

TEST(PoissonCase, RanksHaveThePlanesOfOneRank) {
    for (const char* right_hand_side : {"known", "random"}) {
        const PoissonCaseSettings settings{.boundary = "neumann", .right_hand_side = right_hand_side, .seed = 5, .size = 8, .planes = 44};
        const auto alone = self_communicator();
        const PoissonCase whole(settings, *alone);
        run_thread_ranks(3, [&](Communicator& ranks) {
            const PoissonCase part(settings, ranks);
            const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(part.planes.first) * part.cells_of_plane());
            const auto same = [&](const std::vector<double>& own, const std::vector<double>& all) {
                return own.size() == part.cells_of_plane() * static_cast<std::size_t>(part.planes.cells()) &&
                       std::equal(own.begin(), own.end(), all.begin() + first);
            };
            EXPECT_TRUE(same(part.right_hand_side, whole.right_hand_side)) << right_hand_side << ", rank " << ranks.rank();
            if (std::string(right_hand_side) == "known") {
                EXPECT_TRUE(same(part.exact, whole.exact)) << "rank " << ranks.rank();
                std::vector<double> spoiled = part.exact;
                if (ranks.rank() == 2) spoiled.back() += 0.5;
                EXPECT_NEAR(part.largest_error(spoiled), 0.5, 1e-12) << "known on all ranks";
            } else {
                EXPECT_TRUE(part.exact.empty());
            }
        });
    }
}

TEST(PoissonCase, RefusesMoreRanksThanThereArePlanesFor) {
    EXPECT_THROW(run_thread_ranks(3, [](Communicator& ranks) { PoissonCase({.size = 8, .planes = 16}, ranks); }), Error);
}

}  // namespace
}  // namespace hone::poisson_case_test
