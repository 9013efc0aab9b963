#include "runtime/ranks/mpi_communicator.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "runtime/ranks/long_wait.hpp"

#ifdef HONE_WITH_MPI
#include <mpi.h>
#include <unistd.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#endif

namespace hone::inline v0_1 {

#ifndef HONE_WITH_MPI

std::unique_ptr<MpiCommunicator> start_mpi(const std::string& /*program*/) {
    throw Error("ranks in processes", "hone was built without MPI",
                "install an MPI (Debian, Ubuntu: apt install libopenmpi-dev openmpi-bin) and build hone anew, or start one process");
}

std::string mpi_version() {
    return {};
}

#else

namespace {

// MPI counts in int: longer messages go in several pieces, which arrive in their order.
constexpr std::size_t largest_piece = std::size_t{1} << 30;

void expect_success(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    std::string text(MPI_MAX_ERROR_STRING, ' ');
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    text.resize(static_cast<std::size_t>(length));
    throw Error(call, text, "all ranks must make the same calls, with the same lengths");
}

// What ranks tell the first two of their long waits, so that one of these can say which do not
// wait.
// A rank tells when a wait has lasted, and when such a wait has ended.
class WaitNotes {
  public:
    void begin(int rank, int size) {
        rank_ = rank;
        ranks_.resize(static_cast<std::size_t>(size));
        expect_success(MPI_Comm_dup(MPI_COMM_WORLD, &notes_), "MPI_Comm_dup");
    }
    // The others have told all that they have to.
    void end() {
        if (rank_ < readers) read();
        MPI_Comm_free(&notes_);
    }

    void set(const RankWait& own) {
        if (ranks_.empty() || ranks_[static_cast<std::size_t>(rank_)] == own) return;
        ranks_[static_cast<std::size_t>(rank_)] = own;
        for (int reader = 0; reader < std::min<int>(readers, static_cast<int>(ranks_.size())); ++reader) {
            if (reader == rank_) continue;
            // Nobody changes a note that MPI may not have read.
            const auto& note = *sent_.emplace_back(std::make_unique<Note>(Note{own.waits ? 1 : 0, own.from}));
            MPI_Request request = MPI_REQUEST_NULL;
            expect_success(MPI_Isend(note.data(), static_cast<int>(note.size()), MPI_INT, reader, 0, notes_, &request), "MPI_Isend");
            MPI_Request_free(&request);
        }
    }

    // Who waits, as far as is known, if it is this rank's turn to say so.
    std::span<const RankWait> told() {
        if (rank_ >= readers) return {};
        read();
        return rank_ > 0 && ranks_[0].waits ? std::span<const RankWait>() : ranks_;
    }
    int rank() const { return rank_; }

  private:
    using Note = std::array<int, 2>;
    static constexpr int readers = 2;  // the second where the others wait for the first

    void read() {
        while (true) {
            int there = 0;
            MPI_Status status;
            expect_success(MPI_Iprobe(MPI_ANY_SOURCE, 0, notes_, &there, &status), "MPI_Iprobe");
            if (there == 0) return;
            Note note{};
            expect_success(MPI_Recv(note.data(), static_cast<int>(note.size()), MPI_INT, status.MPI_SOURCE, 0, notes_, &status), "MPI_Recv");
            ranks_[static_cast<std::size_t>(status.MPI_SOURCE)] = {note[0] != 0, note[1]};
        }
    }

    MPI_Comm notes_ = MPI_COMM_NULL;
    int rank_ = 0;
    std::vector<RankWait> ranks_;
    std::vector<std::unique_ptr<Note> > sent_;
};

// How calls of several threads go one by one, and how they wait.
class Calls {
  public:
    // `crowded`: a host has more ranks than processors. MPI polls while it waits, which takes the
    // processor from the very rank that is waited for.
    void set(bool threads, bool crowded) { threads_ = threads, crowded_ = crowded; }
    WaitNotes& notes() { return notes_; }

    template <typename Start>
    void start(const Start& start, const char* call) {
        const std::lock_guard lock(mutex_);
        expect_success(start(), call);
    }

    // `peers`: whose messages these are; none: everybody's.
    void wait(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses, std::span<const int> peers = {}) {
        const int count = static_cast<int>(requests.size());
        constexpr std::chrono::microseconds longest{200};
        constexpr int glances = 4096;  // at messages between two at the clock, where these follow each other without a pause
        std::optional<LongWait> to_note, to_tell;
        std::chrono::microseconds pause{5};
        for (int glance = 1;; glance = glance % glances + 1) {
            int done = 0;
            start([&] { return MPI_Testall(count, requests.data(), &done, statuses.data()); }, "waiting for messages");
            if (done != 0) break;
            if ((crowded_ && pause == longest) || glance == glances) {
                if (!to_note) to_note.emplace(1.0 / 3), to_tell.emplace();
                look_at_clock(*to_note, *to_tell, requests, peers);
            }
            if (crowded_) {
                std::this_thread::sleep_for(pause);
                pause = std::min(2 * pause, longest);
            } else if (threads_) {
                std::this_thread::yield();
            }
        }
        if (!noted_) return;
        const std::lock_guard lock(mutex_);
        notes_.set({});
        noted_ = false;
    }
    void wait(std::vector<MPI_Request>& requests) {
        std::vector<MPI_Status> statuses(requests.size());
        wait(requests, statuses);
    }

  private:
    void look_at_clock(LongWait& to_note, LongWait& to_tell, const std::vector<MPI_Request>& requests, std::span<const int> peers) {
        const bool note = to_note.due(), tell = to_tell.due();
        if (!note && !tell) return;
        const std::lock_guard lock(mutex_);
        notes_.set({true, awaited(requests, peers)});
        noted_ = true;
        if (!tell) return;
        if (const std::span<const RankWait> ranks = notes_.told(); !ranks.empty())
            tell_of_wait(wait_report(notes_.rank(), to_tell.seconds(), ranks, threads_ ? "process" : "rank"));
    }

    // The first whose message has not come.
    static int awaited(const std::vector<MPI_Request>& requests, std::span<const int> peers) {
        for (std::size_t n = 0; n < peers.size(); ++n) {
            int done = 0;
            if (MPI_Request_get_status(requests[n], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) return peers[n];
        }
        return RankWait::everybody;
    }

    bool threads_ = false, crowded_ = false;
    std::atomic<bool> noted_ = false;  // that this process waits
    std::mutex mutex_;
    WaitNotes notes_;
};

class Messages : public ProcessMessages {
  public:
    explicit Messages(Calls& calls) : calls_(calls) {}

    void begin(std::span<const Send> sends, std::span<const Receive> receives) override {
        if (open_) throw Error("exchange of messages", "another one has not ended", "call end_exchange first");
        open_ = true;
        for (const Receive& receive : receives) {
            pieces_.push_back(0);
            in_pieces(receive.from, receive.bytes, [&](std::span<std::byte> piece, MPI_Request* request) {
                ++pieces_.back();
                return MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, receive.from, receive.tag, MPI_COMM_WORLD, request);
            });
        }
        for (const Send& send : sends)
            in_pieces(send.to, send.bytes, [&](std::span<const std::byte> piece, MPI_Request* request) {
                return MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, send.to, send.tag, MPI_COMM_WORLD, request);
            });
    }

    std::vector<std::size_t> end() override {
        if (!open_) throw Error("exchange of messages", "none was begun", "call begin_exchange first");
        std::vector<MPI_Status> statuses(requests_.size());
        calls_.wait(requests_, statuses, peers_);
        // What is too long MPI refuses by itself.
        std::vector<std::size_t> received;
        auto status = statuses.begin();
        for (const std::size_t pieces : pieces_) {
            received.push_back(0);
            for (const auto last = status + static_cast<std::ptrdiff_t>(pieces); status != last; ++status) {
                int bytes = 0;
                MPI_Get_count(&*status, MPI_BYTE, &bytes);
                received.back() += static_cast<std::size_t>(bytes);
            }
        }
        requests_.clear();
        peers_.clear();
        pieces_.clear();
        open_ = false;
        return received;
    }

  private:
    template <typename Byte, typename Start>
    void in_pieces(int peer, std::span<Byte> bytes, const Start& start) {
        std::size_t begin = 0;
        do {
            const auto piece = bytes.subspan(begin, std::min(largest_piece, bytes.size() - begin));
            requests_.push_back(MPI_REQUEST_NULL);
            peers_.push_back(peer);
            calls_.start([&] { return start(piece, &requests_.back()); }, "a message");
            begin += largest_piece;
        } while (begin < bytes.size());
    }

    Calls& calls_;
    bool open_ = false;
    std::vector<MPI_Request> requests_;  // receives, then sends
    std::vector<int> peers_;             // of these
    std::vector<std::size_t> pieces_;    // of each message that is received
};

class World : public MpiCommunicator {
  public:
    explicit World(std::string program) : program_(std::move(program)) {
        // One thread at a time calls MPI, which need not be the first one.
        expect_success(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided_), "MPI_Init_thread");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        expect_success(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_), "MPI_Comm_split_type");
        MPI_Comm_rank(host_, &local_rank_);
        MPI_Comm_size(host_, &local_size_);
        set_calls(1, local_size_);
        calls_.notes().begin(rank_, size_);
    }
    ~World() override {
        try {
            calls_.notes().end();
        } catch (const std::exception&) {  // what is told of waits matters to nobody any more
        }
        MPI_Comm_free(&host_);
        MPI_Finalize();
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }
    int local_size() const override { return local_size_; }
    std::string transport() const override { return fmt::format("MPI ({}{})", mpi_version(), reaches_devices() ? ", GPU-aware" : ""); }
    // Open MPI says what it was built with; others have no common way to say it.
    bool reaches_devices() const override {
#ifdef MPIX_CUDA_AWARE_SUPPORT
        return MPIX_Query_cuda_support() == 1;
#else
        return false;
#endif
    }

    void begin_exchange(std::span<const Send> sends, std::span<const Receive> receives) override {
        check_exchange(*this, sends, receives);
        own_.begin(sends, receives);
        receives_.assign(receives.begin(), receives.end());
    }
    void end_exchange() override {
        const std::vector<std::size_t> bytes = own_.end();
        for (std::size_t n = 0; n < bytes.size(); ++n) check_length(*this, receives_[n], bytes[n]);
    }

    void all_gather(std::span<const double> own, std::span<const int> counts, std::span<double> all) override {
        check_all_gather(*this, own.size(), counts, all.size());
        std::vector<int> begins(counts.size());
        std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
        together(
            [&](MPI_Request* request) {
                return MPI_Iallgatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.data(), counts.data(), begins.data(), MPI_DOUBLE,
                                       MPI_COMM_WORLD, request);
            },
            "MPI_Iallgatherv");
    }

    void broadcast(std::span<std::byte> bytes, int root) override {
        for (std::size_t begin = 0; begin < bytes.size(); begin += largest_piece) {
            const auto piece = bytes.subspan(begin, std::min(largest_piece, bytes.size() - begin));
            together(
                [&](MPI_Request* request) {
                    return MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, MPI_COMM_WORLD, request);
                },
                "MPI_Ibcast");
        }
    }

    void barrier() override {
        together([](MPI_Request* request) { return MPI_Ibarrier(MPI_COMM_WORLD, request); }, "MPI_Ibarrier");
    }

    std::vector<int> start_threads(int own) override {
        if (own > 1 && provided_ < MPI_THREAD_SERIALIZED)
            throw Error("threads of a process that are ranks", transport() + " takes calls of one thread alone", "start a process for each device");
        std::vector<int> all(static_cast<std::size_t>(local_size_));
        together([&](MPI_Request* request) { return MPI_Iallgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, host_, request); }, "MPI_Iallgather");
        set_calls(own, std::accumulate(all.begin(), all.end(), 0));
        return all;
    }
    std::unique_ptr<ProcessMessages> messages() override {
        return std::make_unique<Messages>(calls_);
    }
    int largest_tag() const override {
        int* value = nullptr;
        int known = 0;
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &known);
        return known != 0 ? *value : hone::largest_tag;
    }

    [[noreturn]] void abort(const std::string& reason) override {
        fmt::print(stderr, "{}: {}\n", program_, reason);
        std::fflush(nullptr);
        calls_.start([] { return MPI_Abort(MPI_COMM_WORLD, 2); }, "MPI_Abort");
        std::abort();  // MPI_Abort does not return
    }

  private:
    void set_calls(int threads, int ranks_of_host) {
        calls_.set(threads > 1, ranks_of_host > sysconf(_SC_NPROCESSORS_ONLN));
    }

    template <typename Start>
    void together(const Start& start, const char* call) {
        std::vector<MPI_Request> request(1);
        calls_.start([&] { return start(request.data()); }, call);
        calls_.wait(request);
    }

    std::string program_;
    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1, provided_ = 0;
    MPI_Comm host_ = MPI_COMM_NULL;  // the processes of this host
    Calls calls_;
    Messages own_{calls_};
    std::vector<Receive> receives_;  // what own_ awaits
};

}  // namespace

std::unique_ptr<MpiCommunicator> start_mpi(const std::string& program) {
    return std::make_unique<World>(program);
}

std::string mpi_version() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, ' ');
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    // "Open MPI v4.1.4, package: ...", or lines of it.
    return text.substr(0, std::min(text.find_first_of(",\n"), static_cast<std::size_t>(length)));
}

#endif

}  // namespace hone::inline v0_1
