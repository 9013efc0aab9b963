// NCCL without GPUs, between threads of one process: what is sent waits in a list for its receiver,
// in the order of sending. As the real one it does its work when a group ends, and knows no tags.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

struct Id {
    char bytes[128];
};

struct Message {
    int from, to;
    std::vector<char> bytes;
};

// The ranks of one name.
struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int ranks = 0, arrived = 0;
    std::uint64_t round = 0;
    std::vector<Message> messages;
    std::vector<double> sums, result;

    // Waits for all ranks; the last one does something first.
    template <typename Last>
    void meet(std::unique_lock<std::mutex>& lock, const Last& last) {
        const std::uint64_t mine = round;
        if (++arrived == ranks) {
            last();
            arrived = 0;
            ++round;
            changed.notify_all();
        }
        changed.wait(lock, [&] { return round != mine; });
    }
};

struct Communicator {
    std::shared_ptr<Meeting> meeting;
    int rank = 0;
};

struct Call {
    bool sends;
    void* data;
    std::size_t bytes;
    int peer;
    Communicator* communicator;
};

std::mutex all_mutex;
std::map<std::string, std::shared_ptr<Meeting>> all;
int names = 0;
thread_local std::vector<Call> group;
thread_local bool in_group = false;

int queue(const Call& call) {
    if (!in_group) return 4;
    group.push_back(call);
    return 0;
}

}  // namespace

EXPORTED int ncclGetVersion(int* version) {
    *version = 22809;
    return 0;
}
EXPORTED const char* ncclGetErrorString(int result) {
    return result == 4 ? "invalid argument" : result == 5 ? "invalid usage" : "no error";
}
EXPORTED int ncclGetUniqueId(Id* id) {
    const std::lock_guard lock(all_mutex);
    *id = {};
    std::strcpy(id->bytes, std::to_string(++names).c_str());
    return 0;
}
EXPORTED int ncclCommInitRank(Communicator** communicator, int ranks, Id id, int rank) {
    if (id.bytes[0] == '\0' || rank < 0 || rank >= ranks) return 4;
    auto made = std::make_unique<Communicator>();
    {
        const std::lock_guard lock(all_mutex);
        auto& meeting = all[id.bytes];
        if (meeting == nullptr) meeting = std::make_shared<Meeting>();
        meeting->ranks = ranks;
        made->meeting = meeting;
        made->rank = rank;
    }
    std::unique_lock lock(made->meeting->mutex);
    made->meeting->meet(lock, [] {});
    *communicator = made.release();
    return 0;
}
EXPORTED int ncclCommDestroy(Communicator* communicator) {
    delete communicator;
    return 0;
}
EXPORTED int ncclCommAbort(Communicator* communicator) {
    delete communicator;
    return 0;
}
EXPORTED int ncclAllReduce(const void* own, void* sums, std::size_t count, int type, int operation, Communicator* communicator, void*) {
    if (type != 8 || operation != 0) return 4;
    Meeting& meeting = *communicator->meeting;
    std::unique_lock lock(meeting.mutex);
    meeting.sums.resize(count);
    for (std::size_t n = 0; n < count; ++n) meeting.sums[n] += static_cast<const double*>(own)[n];
    meeting.meet(lock, [&] { meeting.result = std::exchange(meeting.sums, {}); });
    std::copy(meeting.result.begin(), meeting.result.end(), static_cast<double*>(sums));
    meeting.meet(lock, [] {});
    return 0;
}
EXPORTED int ncclSend(const void* data, std::size_t bytes, int type, int peer, Communicator* communicator, void*) {
    return type == 1 ? queue({true, const_cast<void*>(data), bytes, peer, communicator}) : 4;
}
EXPORTED int ncclRecv(void* data, std::size_t bytes, int type, int peer, Communicator* communicator, void*) {
    return type == 1 ? queue({false, data, bytes, peer, communicator}) : 4;
}
EXPORTED int ncclGroupStart() {
    in_group = true;
    return 0;
}
EXPORTED int ncclGroupEnd() {
    in_group = false;
    int result = 0;
    for (const Call& call : group)
        if (call.sends) {
            Meeting& meeting = *call.communicator->meeting;
            const std::lock_guard lock(meeting.mutex);
            const char* const data = static_cast<const char*>(call.data);
            meeting.messages.push_back({call.communicator->rank, call.peer, {data, data + call.bytes}});
            meeting.changed.notify_all();
        }
    for (const Call& call : group)
        if (!call.sends) {
            Meeting& meeting = *call.communicator->meeting;
            std::unique_lock lock(meeting.mutex);
            const auto find = [&] {
                auto found = meeting.messages.begin();
                while (found != meeting.messages.end() && (found->from != call.peer || found->to != call.communicator->rank)) ++found;
                return found;
            };
            meeting.changed.wait(lock, [&] { return find() != meeting.messages.end(); });
            const auto found = find();
            if (found->bytes.size() != call.bytes) result = 5;
            std::memcpy(call.data, found->bytes.data(), std::min(call.bytes, found->bytes.size()));
            meeting.messages.erase(found);
        }
    group.clear();
    return result;
}
