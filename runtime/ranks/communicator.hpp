#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/ranks/exchange_settings.hpp"

namespace hone::inline v0_1 {

class Processes;

constexpr int largest_tag = 32767;  ///< what every MPI has

/// A message to another rank, or to the same one. `tag` tells messages between the same two ranks
/// apart; tags are 0 to `largest_tag`.
struct Send {
    int to = 0;
    int tag = 0;
    std::span<const std::byte> bytes;
};

/// Where a message goes that another rank sends with the same tag and the same length.
struct Receive {
    int from = 0;
    int tag = 0;
    std::span<std::byte> bytes;
};

/// The ranks that share a computation, as one of them sees them. Used by one thread; memory is the
/// host's, and where `reaches_devices` that of messages may be a GPU's.
///
/// Implementations: one rank (self_communicator), threads of one process (run_thread_ranks),
/// processes (MPI; run_ranks takes it where the program was started by mpirun or srun), threads of
/// several processes (run_threads_of_processes).
///
///     communicator.begin_exchange(sends, receives);
///     ...                                              // work that needs none of these bytes
///     communicator.end_exchange();
///     const double norm = all_reduce(communicator, Reduction::sum, square);
///
/// All ranks make the same collective calls in the same order. Whatever fails on one rank ends the
/// run on all: the others' calls throw an Error that names it (threads), or their processes are
/// ended (MPI).
class Communicator {
  public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Number among the ranks of the same host, and how many they are: for choosing a device, and
    /// for sharing processors.
    virtual int local_rank() const = 0;
    virtual int local_size() const = 0;
    /// "one rank", "threads of one process", "MPI (Open MPI v4.1.4)", "MPI (Open MPI v5.0.2,
    /// GPU-aware)".
    virtual std::string transport() const = 0;
    /// Whether exchanges take the memory of this rank's GPU, once the stream that writes it has
    /// been waited for.
    virtual bool reaches_devices() const { return false; }
    /// Where ranks are processes: what threads of theirs need to be ranks. Else null.
    virtual Processes* processes() { return nullptr; }

    /// Starts all messages. What is sent is not changed, and what is received is not touched, until
    /// `end_exchange`. Throws Error for a rank that there is not, or an exchange that was begun
    /// before and has not ended.
    virtual void begin_exchange(std::span<const Send> sends, std::span<const Receive> receives) = 0;
    /// Waits until everything has arrived and all that was sent may be changed. Throws Error for a
    /// message of another length than expected.
    virtual void end_exchange() = 0;

    /// Everybody's words, in the order of ranks: of rank r `counts[r]`. Bits are carried, not
    /// values. Throws Error for spans of other lengths.
    virtual void all_gather(std::span<const double> own, std::span<const int> counts, std::span<double> all) = 0;
    /// Sends the bytes of rank `root` to all.
    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
    virtual void barrier() = 0;

    /// How exchanges between these ranks' devices go that are made from now on; the same on all
    /// ranks.
    const ExchangeSettings& exchange_settings() const { return exchange_settings_; }
    void set_exchange_settings(const ExchangeSettings& settings) { exchange_settings_ = settings; }

  private:
    ExchangeSettings exchange_settings_;
};

enum class Reduction { sum, smallest, largest };

/// Of one word of each rank, added in the order of ranks: the same bits on all ranks and in all
/// runs with as many ranks. (Sums whose bits do not even know how many ranks there are: gather sums
/// of blocks of the whole problem, as solvers/poisson does.)
double all_reduce(Communicator& communicator, Reduction reduction, double own);

/// Everybody's bytes one after the other, in the order of ranks, on rank 0; nothing on the others.
std::vector<std::byte> gather_on_first(Communicator& communicator, std::span<const std::byte> own);
template <typename Word>
std::vector<Word> gather_on_first(Communicator& communicator, std::span<const Word> own) {
    const std::vector<std::byte> bytes = gather_on_first(communicator, std::as_bytes(own));
    std::vector<Word> words(bytes.size() / sizeof(Word));
    std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(words)).begin());
    return words;
}

/// Gives `words` (a string or a vector) of rank 0 to all, however many they are.
template <typename Words>
void broadcast_of_first(Communicator& communicator, Words& words) {
    std::uint64_t count = words.size();
    communicator.broadcast(std::as_writable_bytes(std::span(&count, 1)), 0);
    words.resize(count);
    communicator.broadcast(std::as_writable_bytes(std::span(words)), 0);
}

/// Throws Error on the ranks whose text differs from rank 0's: "rank 3: its command line is "--size
/// 32", rank 0's is "--size 64"".
void expect_same_on_all_ranks(Communicator& communicator, const std::string& what, const std::string& text);

/// As many counts as there are ranks, all of them `count`.
std::vector<int> equal_counts(const Communicator& communicator, int count);

/// Checks the arguments of all_gather and begin_exchange, and that as many bytes came as are
/// expected, for every implementation. Throws Error.
void check_all_gather(const Communicator& communicator, std::size_t own, std::span<const int> counts, std::size_t all);
void check_exchange(const Communicator& communicator, std::span<const Send> sends, std::span<const Receive> receives);
void check_length(const Communicator& communicator, const Receive& expected, std::size_t bytes);

}  // namespace hone::inline v0_1
