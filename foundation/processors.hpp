#pragma once

#include <string>
#include <vector>

namespace hone::inline v0_1 {

/// Facts about the processors of a process, before any decision.
struct ProcessorFacts {
    std::vector<int> allowed;            ///< the system's numbers, ascending
    int of_machine = 1;                  ///< that are switched on
    double quota = 0;                    ///< of its control groups: time of so many processors; 0: none
    std::string num_threads;             ///< OMP_NUM_THREADS as it stands; empty: not set
    int thread_limit = 0;                ///< what OpenMP made of OMP_THREAD_LIMIT; 0: none
    std::string binding = "none";        ///< how OpenMP binds its threads
    int first_place = 0;                 ///< processors of OpenMP's first place; 0: it has no places
    std::vector<std::string> placement;  ///< what was given to OpenMP about places, as `name=value`
};

/// The processors of this process, and what limits them.
struct Processors {
    std::vector<int> numbers;         ///< the system's, ascending; at least one
    int usable = 1;                   ///< that can be busy at once: all, or what a quota leaves; so many compilers run side by side
    int threads = 1;                  ///< of a kernel: one on each usable processor, or fewer by OpenMP's variables
    std::string binding = "none";     ///< of threads to places, by OMP_PROC_BIND: "none", "true", "primary", "close" or "spread"
    std::vector<std::string> limits;  ///< why these are fewer than the machine has: "OMP_NUM_THREADS=1", "cgroup quota 1.5 processors"
};

Processors decide_processors(const ProcessorFacts& facts);

/// Those of this process, found once. Neither a binding of OpenMP (OMP_PROC_BIND), which leaves the
/// initial thread one processor, nor what a thread was bound to later changes them: where OpenMP
/// has places, they are the processors of all its places. Call it early in a program of your own.
///
///     fmt::print("{} on processors {}\n", processors().threads, processor_list(processors().numbers));
const Processors& processors();

/// Whether host threads of this process sleep while they wait for a GPU, in place of polling: as
/// HONE_WAIT says (`sleep`, `poll`; Error for other words), else where the launcher has started
/// more processes on this host than it has processors (mpirun, or srun with --ntasks-per-node).
bool waits_asleep();

/// "0-3,8".
std::string processor_list(const std::vector<int>& numbers);

/// Gives the calling thread's kernels `processors().threads` threads. For programs of hone's own;
/// an application decides by itself.
void take_usable_threads();

/// As long as it lives, the calling thread may run on these processors, by default on every one of
/// the process, and so may processes and threads that it starts: they inherit what it has. Then the
/// thread gets back what it had.
class OnProcessors {
  public:
    explicit OnProcessors(const std::vector<int>& numbers = processors().numbers);
    ~OnProcessors();
    OnProcessors(const OnProcessors&) = delete;
    OnProcessors& operator=(const OnProcessors&) = delete;

  private:
    std::vector<int> before_;  // empty: nothing to give back
};

}  // namespace hone::inline v0_1
