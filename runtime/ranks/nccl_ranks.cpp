#include "runtime/ranks/nccl_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <optional>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/cuda/nccl.hpp"
#include "runtime/cuda/session.hpp"
#include "runtime/ranks/long_wait.hpp"

namespace hone::inline v0_1 {
namespace {

// Names a GPU among all hosts.
using Place = std::array<double, 24>;

Place place_of(const cuda::Driver& driver, int device) {
    Place words{};
    std::array<char, sizeof(Place)> text{};
    gethostname(text.data(), 160);
    const std::size_t host = std::strlen(text.data());
    driver.device_get_pci_bus_id(text.data() + host, 24, device);
    std::memcpy(words.data(), text.data(), text.size());
    return words;
}

std::vector<DeviceMessage> by_tags(std::span<const DeviceMessage> messages) {
    std::vector<DeviceMessage> sorted(messages.begin(), messages.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const DeviceMessage& a, const DeviceMessage& b) { return a.tag < b.tag; });
    return sorted;
}

}  // namespace

struct NcclRanks::State {
    Communicator& ranks;
    cuda::Nccl nccl;
    std::optional<cuda::Session> session;
    cuda::NcclCommunicator* communicator = nullptr;

    State(Communicator& of, Backend& backend, const cuda::LibraryCandidates& candidates) : ranks(of), nccl(cuda::load_nccl(candidates)) {
        together([&] {
            if (backend.device().fingerprint.target != Target::cuda)
                throw Error("NCCL", backend.device().fingerprint.name + " is not a GPU", "use GPUs");
            if (!nccl.missing.empty()) throw Error("NCCL", nccl.missing, nccl.remedy);
            int count = 0;
            session.emplace(cuda::start_driver(candidates, count), backend.device(), candidates);
        });
        together([&] { expect_own_gpu(); });
        cuda::NcclId id{};
        together([&] {
            if (ranks.rank() == 0) check(nccl.unique_id(&id), "making a name for the ranks");
        });
        ranks.broadcast(std::as_writable_bytes(std::span(id.bytes)), 0);
        const cuda::Current current(*session);
        current.check();
        const ToldWait told(fmt::format("rank {} of {} connects by NCCL", ranks.rank(), ranks.size()));
        check(nccl.init_rank(&communicator, ranks.size(), id, ranks.rank()), "connecting the ranks");
    }
    ~State() {
        if (communicator == nullptr) return;
        const cuda::Current current(*session);
        // A failed run cannot wait for ranks that no longer answer.
        if (std::uncaught_exceptions() > 0)
            nccl.abort(communicator);
        else
            leave();
    }
    void leave() const {
        const ToldWait told(fmt::format("rank {} of {} ends its connections by NCCL", ranks.rank(), ranks.size()));
        nccl.destroy(communicator);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    // What must succeed on all ranks before any goes on: within NCCL they would wait for each
    // other. All throw where one does.
    template <typename Action>
    void together(const Action& action) {
        std::exception_ptr failure;
        std::string reason;
        try {
            action();
        } catch (const Error& error) {
            failure = std::current_exception();
            reason = error.what();
        }
        const double first = all_reduce(ranks, Reduction::smallest, failure ? ranks.rank() : ranks.size());
        if (static_cast<int>(first) == ranks.size()) return;
        if (failure) std::rethrow_exception(failure);
        throw Error(fmt::format("rank {} has no NCCL", first));
    }

    void expect_own_gpu() const {
        const Place own = place_of(session->driver(), session->device().index);
        std::vector<double> places(own.size() * static_cast<std::size_t>(ranks.size()));
        ranks.all_gather(own, equal_counts(ranks, static_cast<int>(own.size())), places);
        for (int rank = 0; rank < ranks.size(); ++rank) {
            const auto other = std::as_bytes(std::span(places).subspan(own.size() * static_cast<std::size_t>(rank), own.size()));
            if (rank != ranks.rank() && std::ranges::equal(std::as_bytes(std::span(own)), other))
                throw Error("NCCL", fmt::format("ranks {} and {} have the same GPU", std::min(rank, ranks.rank()), std::max(rank, ranks.rank())),
                            "give each rank a GPU of its own, or leave messages to peers");
        }
    }

    void check(int result, const char* what) const {
        if (result != cuda::nccl_success)
            throw Error(nccl.name, fmt::format("{}: {}", what, nccl.error_string(result)), "NCCL_DEBUG=WARN has it say more");
    }

    void sum(double* words, std::int64_t count, cuda::StreamHandle* stream) const {
        const cuda::Current current(*session);
        current.check();
        check(nccl.all_reduce(words, words, static_cast<std::size_t>(count), cuda::nccl_f64, cuda::nccl_sum, communicator, stream), "a sum");
    }

    // NCCL knows no tags: between two ranks, what is sent first is received first.
    void exchange(std::span<const DeviceMessage> sends, std::span<const DeviceMessage> receives, cuda::StreamHandle* stream) const {
        const cuda::Current current(*session);
        current.check();
        check(nccl.group_start(), "beginning an exchange");
        int result = cuda::nccl_success;
        const auto note = [&](int of) { result = result == cuda::nccl_success ? of : result; };
        for (const DeviceMessage& m : by_tags(sends))
            if (m.bytes > 0) note(nccl.send(m.data, static_cast<std::size_t>(m.bytes), cuda::nccl_bytes, m.rank, communicator, stream));
        for (const DeviceMessage& m : by_tags(receives))
            if (m.bytes > 0) note(nccl.receive(m.data, static_cast<std::size_t>(m.bytes), cuda::nccl_bytes, m.rank, communicator, stream));
        note(nccl.group_end());
        check(result, "an exchange");
    }
};

NcclRanks::NcclRanks(Communicator& communicator, Backend& backend, const cuda::LibraryCandidates& candidates)
    : state_(std::make_unique<State>(communicator, backend, candidates)) {
}
NcclRanks::~NcclRanks() = default;

const std::string& NcclRanks::version() const {
    return state_->nccl.name;
}
void NcclRanks::sum(double* words, std::int64_t count, Stream stream) {
    state_->sum(words, count, cuda::handle_of(stream));
}
void NcclRanks::exchange(std::span<const DeviceMessage> sends, std::span<const DeviceMessage> receives, Stream stream) {
    state_->exchange(sends, receives, cuda::handle_of(stream));
}

}  // namespace hone::inline v0_1
