#include "runtime/ranks/mpi_communicator.hpp"

#include <fmt/format.h>

#include "generator/error.hpp"

#ifdef HONE_WITH_MPI
#include <mpi.h>
#include <unistd.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#endif

namespace hone::inline v0_1 {

#ifndef HONE_WITH_MPI

std::unique_ptr<MpiCommunicator> start_mpi() {
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

class Processes : public MpiCommunicator {
  public:
    Processes() {
        // Ranks are used by one thread each, which need not be the first one.
        int provided = 0;
        expect_success(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        MPI_Comm host = MPI_COMM_NULL;
        expect_success(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
        MPI_Comm_rank(host, &local_rank_);
        MPI_Comm_size(host, &local_size_);
        MPI_Comm_free(&host);
        crowded_ = local_size_ > sysconf(_SC_NPROCESSORS_ONLN);
    }
    ~Processes() override { MPI_Finalize(); }
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

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
        if (open_) throw Error("exchange of messages", "another one has not ended", "call end_exchange first");
        open_ = true;
        for (const Receive& receive : receives)
            in_pieces(receive.bytes, [&](std::span<std::byte> piece, MPI_Request* request) {
                received_.push_back(piece.size());
                return MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, receive.from, receive.tag, MPI_COMM_WORLD, request);
            });
        for (const Send& send : sends)
            in_pieces(send.bytes, [&](std::span<const std::byte> piece, MPI_Request* request) {
                return MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, send.to, send.tag, MPI_COMM_WORLD, request);
            });
    }

    void end_exchange() override {
        if (!open_) throw Error("exchange of messages", "none was begun", "call begin_exchange first");
        std::vector<MPI_Status> statuses(requests_.size());
        wait(requests_, statuses);
        // What is too long MPI refuses by itself.
        for (std::size_t n = 0; n < received_.size(); ++n) {
            int bytes = 0;
            MPI_Get_count(&statuses[n], MPI_BYTE, &bytes);
            if (static_cast<std::size_t>(bytes) != received_[n])
                throw Error("exchange of messages",
                            fmt::format("rank {} sends {} bytes with tag {}, rank {} expects {}", statuses[n].MPI_SOURCE, bytes, statuses[n].MPI_TAG,
                                        rank_, received_[n]),
                            "sender and receiver must agree");
        }
        requests_.clear();
        received_.clear();
        open_ = false;
    }

    void all_gather(std::span<const double> own, std::span<const int> counts, std::span<double> all) override {
        check_all_gather(*this, own.size(), counts, all.size());
        std::vector<int> begins(counts.size());
        std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
        std::vector<MPI_Request> request(1);
        expect_success(MPI_Iallgatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.data(), counts.data(), begins.data(), MPI_DOUBLE,
                                       MPI_COMM_WORLD, request.data()),
                       "MPI_Iallgatherv");
        wait(request);
    }

    void broadcast(std::span<std::byte> bytes, int root) override {
        for (std::size_t begin = 0; begin < bytes.size(); begin += largest_piece) {
            const auto piece = bytes.subspan(begin, std::min(largest_piece, bytes.size() - begin));
            std::vector<MPI_Request> request(1);
            expect_success(MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, MPI_COMM_WORLD, request.data()), "MPI_Ibcast");
            wait(request);
        }
    }

    void barrier() override {
        std::vector<MPI_Request> request(1);
        expect_success(MPI_Ibarrier(MPI_COMM_WORLD, request.data()), "MPI_Ibarrier");
        wait(request);
    }

    [[noreturn]] void abort(const std::string& reason) override {
        fmt::print(stderr, "{}\n", reason);
        std::fflush(nullptr);
        MPI_Abort(MPI_COMM_WORLD, 2);
        std::abort();  // MPI_Abort does not return
    }

  private:
    template <typename Byte, typename Start>
    void in_pieces(std::span<Byte> bytes, const Start& start) {
        std::size_t begin = 0;
        do {
            const auto piece = bytes.subspan(begin, std::min(largest_piece, bytes.size() - begin));
            requests_.push_back(MPI_REQUEST_NULL);
            expect_success(start(piece, &requests_.back()), "a message");
            begin += largest_piece;
        } while (begin < bytes.size());
    }

    // MPI polls while it waits, which takes the processor from the very rank that is waited for
    // where there are more ranks than processors.
    void wait(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses) const {
        const int count = static_cast<int>(requests.size());
        if (!crowded_) return expect_success(MPI_Waitall(count, requests.data(), statuses.data()), "waiting for messages");
        constexpr std::chrono::microseconds longest{200};
        for (std::chrono::microseconds pause{5};; pause = std::min(2 * pause, longest)) {
            int done = 0;
            expect_success(MPI_Testall(count, requests.data(), &done, statuses.data()), "waiting for messages");
            if (done != 0) return;
            std::this_thread::sleep_for(pause);
        }
    }
    void wait(std::vector<MPI_Request>& requests) const {
        std::vector<MPI_Status> statuses(requests.size());
        wait(requests, statuses);
    }

    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
    bool crowded_ = false, open_ = false;
    std::vector<MPI_Request> requests_;  // receives, then sends
    std::vector<std::size_t> received_;  // bytes that are expected of each
};

}  // namespace

std::unique_ptr<MpiCommunicator> start_mpi() {
    return std::make_unique<Processes>();
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
