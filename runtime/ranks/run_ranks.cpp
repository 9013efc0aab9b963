#include "runtime/ranks/run_ranks.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "generator/error.hpp"
#include "runtime/processors.hpp"
#include "runtime/ranks/mpi_communicator.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone {
namespace {

// The number that a variable holds; 0: there is none.
int number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    int number = 0;
    if (text == nullptr || std::from_chars(text, text + std::strlen(text), number).ec != std::errc()) return 0;
    return std::max(number, 0);
}

// Ranks that nobody bound would all use all processors.
void take_share_of_processors(const Communicator& communicator) {
    const Processors& own = processors();
    const bool bound = static_cast<long>(own.numbers.size()) < sysconf(_SC_NPROCESSORS_ONLN);
    if (communicator.local_size() > 1 && !bound && number_in("OMP_NUM_THREADS") == 0)
        omp_set_num_threads(std::max(1, own.threads / communicator.local_size()));
}

int run_processes(const std::string& program, const std::function<int(Communicator&)>& work) {
    const auto communicator = start_mpi();
    take_share_of_processors(*communicator);
    const auto failed = [&](const std::string& reason) {
        communicator->abort(fmt::format("{}: rank {} of {}: {}", program, communicator->rank(), communicator->size(), reason));
    };
    try {
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

Launched launched_ranks() {
    for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
        // In a batch script, too, the number of tasks is set; srun starts them.
        if (std::string(variable) == "SLURM_NTASKS" && std::getenv("SLURM_STEP_ID") == nullptr) continue;
        if (const int ranks = number_in(variable); ranks > 0) return {ranks, fmt::format("{}={}", variable, ranks)};
    }
    return {};
}

int run_ranks(const std::string& program, const std::function<int(Communicator&)>& work) try {
    const Launched launched = launched_ranks();
    if (launched.ranks > 0 && !mpi_version().empty()) return run_processes(program, work);
    if (launched.ranks > 1)
        throw Error(fmt::format("started with {} ranks ({})", launched.ranks, launched.variable), "hone was built without MPI",
                    "install one (Debian, Ubuntu: apt install libopenmpi-dev openmpi-bin) and build hone anew, or start one process");
    return work(*self_communicator());
} catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 2;
}

}  // namespace hone
