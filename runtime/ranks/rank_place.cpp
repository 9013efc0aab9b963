#include "runtime/ranks/rank_place.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "foundation/environment.hpp"

namespace hone::inline v0_1 {
namespace {

/// The variables by which a launcher tells a process its place.
struct Launcher {
    const char* rank;
    const char* ranks;
    const char* on_host;
    const char* step;  ///< must be set, too; empty: none
};

// In a batch script of Slurm, too, the number of tasks is set; srun starts them, each in a step.
constexpr std::array<Launcher, 3> launchers{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", ""},
                                             {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", ""},
                                             {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_STEP_ID"}}};

// Under srun the variables of another launcher may give the rank, and Slurm's the number on the
// host.
int number_on_host() {
    for (const Launcher& launcher : launchers)
        if (const auto number = environment_number(launcher.on_host)) return *number;
    return 0;
}

std::string job() {
    if (std::string name = environment_variable("PMIX_NAMESPACE"); !name.empty()) return name;
    if (const std::string step = environment_variable("SLURM_STEP_ID"); !step.empty())
        return fmt::format("{}.{}", environment_variable("SLURM_JOB_ID"), step);
    return fmt::format("{}-{}", host_name(), getppid());
}

// A word of letters, digits and a few signs.
std::string plain(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '_');
    return text;
}

}  // namespace

RankPlace rank_place() {
    for (const Launcher& launcher : launchers) {
        if (*launcher.step != 0 && environment_variable(launcher.step).empty()) continue;
        const auto rank = environment_number(launcher.rank), ranks = environment_number(launcher.ranks);
        if (rank && ranks && *rank < *ranks) return {*rank, *ranks, number_on_host(), plain(job()), fmt::format("{}={}", launcher.ranks, *ranks)};
    }
    return {};
}

}  // namespace hone::inline v0_1
