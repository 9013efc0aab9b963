#include "runtime/ranks/thread_ranks.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/threads.hpp"
#include "runtime/ranks/long_wait.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int most_ranks = 1024;  // threads of one process

// A message on its way. It has bytes of its own: a sender that fails leaves nothing behind that a
// receiver could still read.
struct Posted {
    int from, to, tag;
    std::vector<std::byte> bytes;
};

// What the ranks share.
class Meeting {
  public:
    // `first`: what the first rank is called when a long wait is told of.
    explicit Meeting(int size, int first = 0) : size_(size), first_(first), shown_(static_cast<std::size_t>(size)), waits_(shown_.size()) {}

    int size() const { return size_; }

    void post(Posted message) {
        const std::lock_guard lock(mutex_);
        expect_no_failure();
        messages_.push_back(std::move(message));
        changed_.notify_all();
    }

    // The oldest message with these addresses, once it is there.
    Posted take(int from, int to, int tag) {
        std::unique_lock lock(mutex_);
        const auto find = [&] {
            return std::find_if(messages_.begin(), messages_.end(),
                                [&](const Posted& message) { return message.from == from && message.to == to && message.tag == tag; });
        };
        wait(lock, to, {true, from}, [&] { return find() != messages_.end(); });
        const auto found = find();
        Posted message = std::move(*found);
        messages_.erase(found);
        return message;
    }

    // Everybody shows something, then everybody looks at all of it, one at a time, then all go on.
    // Nobody looks any more once a rank has failed: what the others showed may be gone.
    template <typename Look>
    void show(int rank, std::span<const std::byte> shown, const Look& look) {
        std::unique_lock lock(mutex_);
        meet(lock, rank, [&] { shown_[static_cast<std::size_t>(rank)] = shown; });
        meet(lock, rank, [&] { look(shown_); });
    }

    void fail(int rank, const std::string& reason) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = fmt::format("rank {} of {}: {}", rank, size_, reason);
        changed_.notify_all();
    }
    const std::optional<std::string>& failure() const { return failure_; }

  private:
    void expect_no_failure() const {
        if (failure_) throw Error(*failure_);
    }

    template <typename Condition>
    void wait(std::unique_lock<std::mutex>& lock, int rank, const RankWait& what, const Condition& condition) {
        const auto over = [&] { return failure_.has_value() || condition(); };
        if (!over()) {
            RankWait& own = waits_[static_cast<std::size_t>(rank)] = what;
            for (LongWait wait; !over();) {
                if (wait.next() == LongWait::Clock::time_point::max())
                    changed_.wait(lock);
                else
                    changed_.wait_until(lock, wait.next());
                if (!over() && wait.due() && speaks(rank)) tell_of_wait(wait_report(rank, wait.seconds(), waits_, "rank", first_));
            }
            own = {};
        }
        expect_no_failure();
    }

    // One of those who wait, which is rank 0 unless the others wait for it.
    bool speaks(int rank) const {
        return std::none_of(waits_.begin(), waits_.begin() + rank, [](const RankWait& other) { return other.waits; });
    }

    template <typename Arrive>
    void meet(std::unique_lock<std::mutex>& lock, int rank, const Arrive& arrive) {
        expect_no_failure();
        arrive();
        const std::uint64_t round = round_;
        if (++arrived_ == size_) {
            arrived_ = 0;
            ++round_;
            changed_.notify_all();
            return;
        }
        wait(lock, rank, {true, RankWait::everybody}, [&] { return round_ != round; });
    }

    const int size_, first_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Posted> messages_;
    std::vector<std::span<const std::byte>> shown_;
    std::vector<RankWait> waits_;
    int arrived_ = 0;
    std::uint64_t round_ = 0;
    std::optional<std::string> failure_;
};

class ThreadCommunicator : public Communicator {
  public:
    ThreadCommunicator(std::shared_ptr<Meeting> meeting, int rank) : meeting_(std::move(meeting)), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return meeting_->size(); }
    int local_rank() const override { return rank_; }
    int local_size() const override { return size(); }
    std::string transport() const override { return size() == 1 ? "one rank" : "threads of one process"; }

    void begin_exchange(std::span<const Send> sends, std::span<const Receive> receives) override {
        check_exchange(*this, sends, receives);
        if (open_) throw Error("exchange of messages", "another one has not ended", "call end_exchange first");
        open_ = true;
        receives_.assign(receives.begin(), receives.end());
        for (const Send& send : sends) meeting_->post({rank_, send.to, send.tag, {send.bytes.begin(), send.bytes.end()}});
    }

    void end_exchange() override {
        if (!open_) throw Error("exchange of messages", "none was begun", "call begin_exchange first");
        for (const Receive& receive : receives_) {
            const Posted message = meeting_->take(receive.from, rank_, receive.tag);
            check_length(*this, receive, message.bytes.size());
            std::copy(message.bytes.begin(), message.bytes.end(), receive.bytes.begin());
        }
        open_ = false;
    }

    void all_gather(std::span<const double> own, std::span<const int> counts, std::span<double> all) override {
        check_all_gather(*this, own.size(), counts, all.size());
        meeting_->show(rank_, std::as_bytes(own), [&](const std::vector<std::span<const std::byte>>& shown) {
            std::byte* to = std::as_writable_bytes(all).data();
            for (std::size_t rank = 0; rank < shown.size(); ++rank) {
                if (shown[rank].size() != static_cast<std::size_t>(counts[rank]) * sizeof(double))
                    throw Error("gathering from all ranks",
                                fmt::format("rank {} has {} bytes, rank {} expects {} words", rank, shown[rank].size(), rank_, counts[rank]),
                                "all ranks must give the same counts");
                if (!shown[rank].empty()) std::memcpy(to, shown[rank].data(), shown[rank].size());
                to += shown[rank].size();
            }
        });
    }

    void broadcast(std::span<std::byte> bytes, int root) override {
        meeting_->show(rank_, bytes, [&](const std::vector<std::span<const std::byte>>& shown) {
            const auto from = shown.at(static_cast<std::size_t>(root));
            if (from.size() != bytes.size())
                throw Error("broadcast", fmt::format("rank {} has {} bytes, rank {} expects {}", root, from.size(), rank_, bytes.size()),
                            "all ranks must give the same length");
            if (rank_ != root && !bytes.empty()) std::memcpy(bytes.data(), from.data(), bytes.size());
        });
    }

    void barrier() override {
        meeting_->show(rank_, {}, [](const auto&) {});
    }

  private:
    std::shared_ptr<Meeting> meeting_;
    int rank_;
    bool open_ = false;
    std::vector<Receive> receives_;
};

}  // namespace

std::unique_ptr<Communicator> self_communicator() {
    return std::make_unique<ThreadCommunicator>(std::make_shared<Meeting>(1), 0);
}

void run_thread_ranks(int size, const std::function<void(Communicator&)>& work, int first) {
    if (size < 1 || size > most_ranks)
        throw Error("ranks on threads of this process", fmt::format("{} ranks", size), fmt::format("use 1 to {}", most_ranks));
    const auto meeting = std::make_shared<Meeting>(size, first);
    const int threads_each = std::max(1, omp_get_max_threads() / size);
    const auto run = [&](int rank) {
        omp_set_num_threads(threads_each);
        ThreadCommunicator communicator(meeting, rank);
        try {
            work(communicator);
        } catch (const std::exception& error) {
            meeting->fail(rank, error.what());
        } catch (...) {
            meeting->fail(rank, "an exception of unknown type");
        }
    };
    Threads threads;
    for (int rank = 0; rank < size; ++rank) try {
            threads.start([&run, rank] { run(rank); });
        } catch (const std::exception& error) {  // the others would wait for it
            meeting->fail(rank, std::string("no thread: ") + error.what());
            break;
        }
    threads.join();
    if (meeting->failure()) throw Error(*meeting->failure());
}

}  // namespace hone::inline v0_1
