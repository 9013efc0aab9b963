#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/ranks/rank_place.hpp"
#include "tuner/worker/line_file.hpp"
#include "tuner/worker/worker_evaluator.hpp"

namespace hone::inline v0_1 {

/// Ranks of a tuning run speak through files in `FOLDER/ranks/JOB`, which all of them see; neither
/// MPI nor a network is needed, so that the death of one ends nothing else. Each has a file of its
/// own that grows twice a second while it lives. The coordinator's says who is to start a worker.
/// Each worker has two files of its own, for the lines that other workers read and write through
/// pipes (tuner/worker/worker.hpp).
///
/// | file | by | lines |
/// |---|---|---|
/// | rank-R | rank R | what it is (once), then empty lines |
/// | coordinator | rank 0 | {"rank": name, "start": number, "lane": number} (a lane's earlier worker ends), {"rank": name, "end": 1}, empty lines |
/// | NAME-NUMBER.in | the coordinator's relay | requests |
/// | NAME-NUMBER.out | rank NAME | ">" and an answer; "!" and how the worker ended |
std::filesystem::path rank_folder(const std::filesystem::path& folder, const RankPlace& place);

/// Seconds of silence after which whoever writes a file counts as dead.
constexpr double rank_patience = 10;

/// The work of ranks above 0: starts workers by `command` as the coordinator asks, until that ends
/// the run, or `stop` says so. Throws Error when the coordinator is not there, or there no more.
void serve_rank(const std::filesystem::path& folder, const RankPlace& place, const Device& device, const std::filesystem::path& cache,
                const std::vector<std::string>& command, const std::function<bool()>& stop);

/// A process of the coordinator that stands for a worker elsewhere: hands its standard input on,
/// line by line, and prints what comes back. Exit code.
int relay_main(const std::filesystem::path& folder, const std::string& rank_file, const std::string& worker);

/// The other ranks, as the coordinator sees them.
class RankTeam {
  public:
    /// Waits for all ranks, at most `patience` seconds; those that did not come, or have another
    /// kind of device than `device`, are told to `complain`. `program` is this one, whose hidden
    /// command `relay` calls relay_main.
    RankTeam(const std::filesystem::path& folder, const RankPlace& place, const Device& device, const std::filesystem::path& cache,
             const std::string& program, double patience, const std::function<void(const std::string&)>& complain);
    /// Ends them.
    ~RankTeam();
    RankTeam(const RankTeam&) = delete;
    RankTeam& operator=(const RankTeam&) = delete;

    /// Their devices.
    std::vector<WorkerPlace> places();
    /// Workers that compile, on those that share the cache.
    std::vector<WorkerCommand> compilers();

  private:
    struct Member {
        std::string file;
        std::string name;  ///< a word that no other process has
        std::string host;
        WorkerPlace place;
        int compilers = 0;
    };
    /// Whether another rank measures on the same GPU, or the same processors: why that cannot be.
    std::string shared_with_others(const Device& device, const std::string& host, int index, const std::vector<int>& processors) const;
    void look_for_members(const Device& device, int ranks, double patience, const std::function<void(const std::string&)>& complain);
    WorkerCommand command(const Member& member, int lane);

    std::filesystem::path folder_;
    std::filesystem::path cache_;
    std::string program_;
    LineFile log_;
    std::vector<Member> members_;
    std::map<std::string, int> workers_;  ///< started, by the rank's name
    std::jthread pulse_;
};

}  // namespace hone::inline v0_1
