#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/family.hpp"
#include "runtime/backend.hpp"
#include "runtime/ceilings.hpp"
#include "runtime/disk_cache.hpp"
#include "tools/console/console.hpp"
#include "tools/console/interrupt.hpp"
#include "tools/console/known_families.hpp"
#include "tools/records/record_check.hpp"
#include "tuner/system_load.hpp"
#include "tuner/worker/worker_evaluator.hpp"

namespace hone::tools {

struct VerifierSettings {
    double tolerance = 0.05;  ///< how much longer a step may take
    /// Also measure what a record is completed with: the safe configuration in the same sitting,
    /// the ceilings, a full sampling period, energy where the record has it; and twice again what
    /// came out slower, unsure or beside other work. See refresh
    /// (tools/records/record_refresh.hpp).
    bool update = false;
    double seconds = 0;     ///< after which it ends as if by Ctrl-C, so that what was measured is kept; 0: no bound
    std::size_t lanes = 0;  ///< problems whose data are made or measured at a time; 0: as many as suit the device
    SystemLoad load = SystemLoad();
    std::vector<std::string> command = worker_words();  ///< that starts a worker
};

/// Measures records of a device again.
///
/// Kernels are compiled first, in as many processes as the machine has threads. Then, on a GPU, the
/// data and expected answers of the next problems are made while one is measured, on processors
/// that the measuring one does not need; on a processor one comes after the other.
class RecordVerifier {
  public:
    /// Throws MissingError when the device's kernels cannot be compiled here.
    RecordVerifier(Device device, VerifierSettings settings, Console& console);

    /// Checks in the order in which they were made, each also told to `done` at once. Fewer than
    /// there are records when it was stopped.
    std::vector<RecordCheck> run(const std::vector<Record>& records, const std::function<void(const RecordCheck&)>& done = {});

    /// Whether hone makes of the record's configuration the kernel that was measured; nothing where
    /// it makes none.
    std::optional<bool> makes_same_kernel(const Record& record) const;

    bool interrupted() const { return guard_.requested(); }  ///< by Ctrl-C
    bool out_of_time() const;

  private:
    // A record on its way.
    struct Job {
        Record record;
        const Family* family = nullptr;
        Candidate winner;
        Candidate safe;
        std::string source_hash;
        bool same_kernel = false;  // as the record's
        double executed_operations = 0;
    };
    std::optional<Job> job_of(const Record& record, RecordCheck& check) const;
    bool stopped() const { return interrupted() || out_of_time(); }
    void measure_ceilings();
    void compile(const std::vector<Job>& jobs);
    /// Returns the jobs that could not be set up, with the reasons.
    std::vector<std::pair<Job, std::string>> measure(const std::vector<Job>& jobs, std::size_t lanes, bool energy);
    std::optional<RecordCheck> measured_again(WorkerEvaluator& evaluator, const Job& job);
    WorkerSettings worker(std::size_t lanes, bool energy) const;
    void tell(RecordCheck check);
    void show(const std::string& step, std::size_t done, std::size_t of, const std::string& what);

    InterruptGuard guard_;  // first, so that it outlives the workers
    Device device_;
    VerifierSettings settings_;
    Console& console_;
    DiskCache cache_;
    Ceilings ceilings_;
    double began_;
    double shown_ = 0;
    std::size_t records_ = 0;
    std::vector<RecordCheck> checks_;
    std::function<void(const RecordCheck&)> done_;
};

}  // namespace hone::tools
