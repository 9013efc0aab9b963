#include "runtime/ranks/run_ranks.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <vector>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "foundation/processors.hpp"
#include "runtime/ranks/mpi_communicator.hpp"
#include "runtime/ranks/rank_place.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::inline v0_1 {
namespace {

// Ranks of a host that may run on the same processors share them: each would use them all.
void take_share_of_processors(Communicator& communicator) {
    const Processors& own = processors();
    const auto number_of_host = static_cast<double>(std::hash<std::string>()(host_name()) % (std::uint64_t{1} << 32));
    const std::array<double, 3> place{number_of_host, static_cast<double>(own.numbers.front()), static_cast<double>(own.numbers.back())};
    std::vector<double> places(place.size() * static_cast<std::size_t>(communicator.size()));
    communicator.all_gather(place, equal_counts(communicator, static_cast<int>(place.size())), places);
    int sharing = 0;
    for (auto other = places.begin(); other != places.end(); other += place.size()) sharing += std::equal(place.begin(), place.end(), other) ? 1 : 0;
    if (sharing > 1 && environment_number("OMP_NUM_THREADS").value_or(0) == 0) omp_set_num_threads(std::max(1, own.threads / sharing));
}

int run_processes(const std::string& program, const std::function<int(Communicator&)>& work) {
    const auto communicator = start_mpi(program);
    const auto failed = [&](const std::string& reason) {
        communicator->abort(fmt::format("rank {} of {}: {}", communicator->rank(), communicator->size(), reason));
    };
    try {
        take_share_of_processors(*communicator);
        const int code = work(*communicator);
        // No rank leaves while another may still fail.
        communicator->barrier();
        return code;
    } catch (const std::exception& error) {
        failed(error.what());
    } catch (...) {
        failed("an exception of unknown type");
    }
    return 2;
}

}  // namespace

int run_ranks(const std::string& program, const std::function<int(Communicator&)>& work) try {
    const RankPlace place = rank_place();
    if (place.ranks > 0 && !mpi_version().empty()) return run_processes(program, work);
    if (place.ranks > 1)
        throw Error(fmt::format("started with {} ranks ({})", place.ranks, place.variable), "hone was built without MPI",
                    "install one (Debian, Ubuntu: apt install libopenmpi-dev openmpi-bin) and build hone anew, or start one process");
    return work(*self_communicator());
} catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 2;
}

}  // namespace hone::inline v0_1
