#include "tests/runtime/ranks/late_device.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

namespace hone::test {
namespace {

// An event as CUDA's: a wait means what was recorded last when it was called.
struct Event {
    std::mutex mutex;
    std::condition_variable changed;
    int recorded = 0, reached = 0;
};

struct Shared : std::enable_shared_from_this<Shared> {
    std::vector<std::byte> memory;
    std::array<Event, PeerBox::events> events;
};

// All of them until the process ends, as PeerMemory promises.
void keep(const std::shared_ptr<Shared>& shared) {
    static std::mutex mutex;
    static std::vector<std::shared_ptr<Shared>> kept;
    const std::lock_guard lock(mutex);
    kept.push_back(shared);
}

// `kept` lives for as long as its event is in use.
void record_on(LateDevice& device, const std::shared_ptr<void>& kept, Event& event, Stream stream) {
    const std::lock_guard lock(event.mutex);
    const int turn = ++event.recorded;
    const auto reach = [kept, &event, turn] {
        const std::lock_guard there(event.mutex);
        event.reached = turn;
        event.changed.notify_all();
    };
    device.queue(reach, stream);
}
void wait_on(LateDevice& device, const std::shared_ptr<void>& kept, Event& event, Stream stream) {
    const std::lock_guard lock(event.mutex);
    const auto wait = [kept, &event, turn = event.recorded] {
        std::unique_lock there(event.mutex);
        event.changed.wait(there, [&] { return event.reached >= turn; });
    };
    device.queue(wait, stream);
}

class Box final : public PeerBox {
  public:
    Box(LateDevice& device, std::shared_ptr<Shared> shared) : device_(device), shared_(std::move(shared)) {}
    std::byte* memory() const override { return shared_->memory.data(); }
    std::vector<std::byte> ticket() const override {
        std::vector<std::byte> bytes(sizeof(void*));
        const Shared* const pointer = shared_.get();
        std::memcpy(bytes.data(), static_cast<const void*>(&pointer), sizeof pointer);
        return bytes;
    }
    void record(int number, Stream stream, bool) override { record_on(device_, shared_, event_of(number), stream); }
    void wait(int number, Stream stream) override { wait_on(device_, shared_, event_of(number), stream); }

  private:
    Event& event_of(int number) const { return shared_->events.at(static_cast<std::size_t>(number)); }
    LateDevice& device_;
    std::shared_ptr<Shared> shared_;
};

class LatePeers final : public PeerMemory {
  public:
    LatePeers(LateDevice& device, bool deaf) : device_(device), deaf_(deaf) {}
    std::unique_ptr<PeerBox> make(std::int64_t bytes) override {
        const auto made = std::make_shared<Shared>();
        made->memory.resize(static_cast<std::size_t>(bytes));
        keep(made);
        return std::make_unique<Box>(device_, made);
    }
    std::unique_ptr<PeerBox> open(std::span<const std::byte> ticket) override {
        Shared* pointer = nullptr;
        std::memcpy(static_cast<void*>(&pointer), ticket.data(), sizeof pointer);
        const std::shared_ptr<Shared> there = pointer->shared_from_this();
        if (!deaf_) return std::make_unique<Box>(device_, there);
        return make(std::ssize(there->memory));
    }

  private:
    LateDevice& device_;
    bool deaf_;
};

}  // namespace

class LateDevice::Queue {
  public:
    explicit Queue(unsigned seed) : thread_([this, seed] { work_off(seed); }) {}
    ~Queue() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
            changed_.notify_all();
        }
        thread_.join();
    }
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    void push(std::function<void()> work) {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
    }

  private:
    void work_off(unsigned seed) {
        std::mt19937 random(seed);
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [&] { return ended_ || !queue_.empty(); });
            if (queue_.empty()) return;
            const auto next = std::move(queue_.front());
            queue_.pop_front();
            busy_ = true;
            lock.unlock();
            if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
            next();
            lock.lock();
            busy_ = false;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> queue_;
    bool busy_ = false, ended_ = false;
    std::thread thread_;
};

LateDevice::LateDevice(Backend& of, unsigned seed, Peers peers) : of_(of), device_(of.device()), random_(seed) {
    device_.limits.target = device_.fingerprint.target = Target::cuda;
    queues_.push_back(std::make_unique<Queue>(seed));
    if (peers != Peers::absent) peers_ = std::make_unique<LatePeers>(*this, peers == Peers::deaf);
}
// Streams may wait for each other: all of them before one goes.
LateDevice::~LateDevice() {
    for (const auto& each : queues_) each->wait();
}

LateDevice::Queue& LateDevice::queue_of(Stream stream) {
    const std::lock_guard lock(mutex_);
    return stream.handle == nullptr ? *queues_.front() : *static_cast<Queue*>(stream.handle);
}
Stream LateDevice::make_stream() {
    const std::lock_guard lock(mutex_);
    queues_.push_back(std::make_unique<Queue>(static_cast<unsigned>(random_())));
    return {queues_.back().get()};
}
void LateDevice::free_stream(Stream stream) noexcept {
    if (stream.handle == nullptr) return;
    queue_of(stream).wait();
    const std::lock_guard lock(mutex_);
    std::erase_if(queues_, [&](const auto& each) { return each.get() == stream.handle; });
}
void LateDevice::order(Stream earlier, Stream later) {
    const auto event = std::make_shared<Event>();
    record_on(*this, event, *event, earlier);
    wait_on(*this, event, *event, later);
}

void LateDevice::free(void* pointer) noexcept {
    // As the driver does, for all streams.
    std::vector<Queue*> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& each : queues_) all.push_back(each.get());
    }
    for (Queue* const each : all) each->wait();
    of_.free(pointer);
}
void LateDevice::copy(void* to, const void* from, std::int64_t bytes, Stream stream) {
    if (bytes > 0) queue([=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }, stream);
}
void LateDevice::fill(void* to, unsigned char byte, std::int64_t bytes, Stream stream) {
    queue([=] { std::memset(to, byte, static_cast<std::size_t>(bytes)); }, stream);
}
void LateDevice::synchronise(Stream stream) {
    queue_of(stream).wait();
}
void LateDevice::queue(std::function<void()> work, Stream stream) {
    queue_of(stream).push(std::move(work));
}

}  // namespace hone::test
