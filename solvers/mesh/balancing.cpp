#include "solvers/mesh/balancing.hpp"

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {

bool Balancing::has_periods(const Communicator& ranks, const std::filesystem::path& frames_folder) const {
    if (every <= 0 || ranks.size() == 1) return false;
    if (!frames_folder.empty())
        throw Error("parts of a mesh that are drawn anew", "pictures belong to parts", "leave out one of --balance-every and --frames");
    return true;
}

}  // namespace hone::inline v0_1::solvers
