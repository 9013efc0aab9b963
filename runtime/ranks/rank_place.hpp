#pragma once

#include <string>

namespace hone::inline v0_1 {

/// Where a process stands among those that a launcher (mpirun, mpiexec, srun) started together.
struct RankPlace {
    int rank = 0;
    int ranks = 0;         ///< in all; 0: no launcher started it
    int on_host = 0;       ///< number among those of its host
    std::string job;       ///< the same for all of them, and for no others on these hosts: a plain name of a file
    std::string variable;  ///< that says so: "OMPI_COMM_WORLD_SIZE=4"
};

/// From the environment of Open MPI (OMPI_COMM_WORLD_SIZE and its relatives), of MPICH and its
/// relatives (PMI_SIZE), or of Slurm within a step of srun (SLURM_NTASKS). A launcher says both a
/// rank and how many there are; one whose variables make no sense counts as none.
RankPlace rank_place();

}  // namespace hone::inline v0_1
