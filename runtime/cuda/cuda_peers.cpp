#include "runtime/cuda/cuda_peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <string>

#include "foundation/error.hpp"

namespace hone::inline v0_1::cuda {
namespace {

// A process opens the driver's whole allocation, which for less than this may have other arrays in
// it, too.
constexpr std::int64_t allocation_unit = 2 << 20;

// At the end of a box.
constexpr std::int64_t flag_bytes = 256;

using Name = std::array<char, 40>;

// Names this process among all: a number alone may be another's in another container.
const Name& name_of_process() {
    static const Name name = [] {
        std::random_device random;
        Name result{};
        fmt::format_to_n(result.begin(), result.size() - 1, "{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
        return result;
    }();
    return name;
}

// Names this host until it is started again; empty where it does not tell.
const Name& name_of_host() {
    static const Name name = [] {
        Name result{};
        std::ifstream("/proc/sys/kernel/random/boot_id").getline(result.data(), result.size());
        return result;
    }();
    return name;
}

// What there is of a box that was made, for as long as the process lives.
struct Made {
    Made() = default;
    ~Made() {  // of one that could not be made whole
        if (memory != 0) session->driver().memory_free(memory);
        for (const auto* const each : {&events, &outside_events})
            for (EventHandle* event : *each)
                if (event != nullptr) session->driver().event_destroy(event);
    }
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;

    std::shared_ptr<const Session> session;
    int device = 0;
    std::int64_t bytes = 0;
    DevicePointer memory = 0;
    std::array<EventHandle*, PeerBox::events> events{}, outside_events{};  // for this process, and for others
    std::string no_ipc;                                                    // why other processes cannot open it
    IpcMemoryHandle memory_handle{};
    std::array<IpcEventHandle, PeerBox::events> event_handles{};
};

DevicePointer flag_of(DevicePointer memory, std::int64_t bytes) {
    return memory + static_cast<DevicePointer>(bytes - flag_bytes);
}

struct Ticket {
    Name process, host, gpu;
    const Made* made;  // for the same process
    int device;
    std::int64_t bytes;
    bool has_ipc;
    IpcMemoryHandle memory;
    std::array<IpcEventHandle, PeerBox::events> events;
};

// Names a device among all of its host, whatever numbers processes have for it.
Name name_of_gpu(const Session& session) {
    Name name{};
    session.check(session.driver().device_get_pci_bus_id(name.data(), static_cast<int>(name.size()) - 1, session.device().index),
                  "asking for its place");
    return name;
}

std::unique_ptr<Made> make(const std::shared_ptr<const Session>& session, std::int64_t bytes) {
    const Driver& driver = session->driver();
    auto made = std::make_unique<Made>();
    made->session = session;
    made->device = session->device().index;
    made->bytes = (bytes + flag_bytes + allocation_unit - 1) / allocation_unit * allocation_unit;
    session->check(driver.memory_allocate(&made->memory, static_cast<std::size_t>(made->bytes)),
                   fmt::format("allocating {} bytes for other ranks' messages", made->bytes));
    const auto refused = [&](Result result, const char* what) {
        if (result != success && made->no_ipc.empty()) made->no_ipc = fmt::format("{}: {}", what, driver.text(result));
        return result != success;
    };
    refused(driver.ipc_get_memory(&made->memory_handle, made->memory), "a handle of memory for other processes");
    for (std::size_t n = 0; n < made->events.size(); ++n) {
        session->check(driver.event_create(&made->events[n], event_disable_timing), "making an event");
        if (!refused(driver.event_create(&made->outside_events[n], event_disable_timing | event_interprocess), "an event for other processes"))
            refused(driver.ipc_get_event(&made->event_handles[n], made->outside_events[n]), "a handle of an event for other processes");
    }
    return made;
}

// Boxes that are not in use. They are never freed, and keep their context: CUDA leaves it undefined
// what happens to a process that has memory or an event open which the one that made it frees, and
// none knows when the other is done.
class Spares {
  public:
    static Spares& all() {
        static auto* const spares = new Spares;  // lives longer than all that is destroyed at the end
        return *spares;
    }
    Made* take(const std::shared_ptr<const Session>& session, std::int64_t bytes) {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(spare_.begin(), spare_.end(), [&](const Made* made) {
            return made->session->context() == session->context() && made->device == session->device().index && made->bytes >= bytes + flag_bytes;
        });
        if (found == spare_.end()) {
            made_.push_back(make(session, bytes));
            return made_.back().get();
        }
        Made* const made = *found;
        spare_.erase(found);
        return made;
    }
    void give_back(Made* made) {
        const std::lock_guard lock(mutex_);
        spare_.push_back(made);
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Made>> made_;
    std::vector<Made*> spare_;
};

class MadeBox : public PeerBox {
  public:
    MadeBox(std::shared_ptr<const Session> session, Made* made) : session_(std::move(session)), made_(made) {
        const Driver& driver = session_->driver();
        session_->check(driver.fill_async(flag_of(made_->memory, made_->bytes), 0, flag_bytes, nullptr), "clearing a flag");
        session_->check(driver.stream_synchronise(nullptr), "clearing a flag");
    }
    ~MadeBox() override { Spares::all().give_back(made_); }
    MadeBox(const MadeBox&) = delete;
    MadeBox& operator=(const MadeBox&) = delete;

    std::byte* memory() const override { return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(made_->memory)); }

    std::vector<std::byte> ticket() const override {
        Ticket ticket{};
        ticket.process = name_of_process(), ticket.host = name_of_host(), ticket.gpu = name_of_gpu(*session_);
        ticket.made = made_;
        ticket.device = made_->device;
        ticket.bytes = made_->bytes;
        ticket.has_ipc = made_->no_ipc.empty();
        ticket.memory = made_->memory_handle, ticket.events = made_->event_handles;
        std::vector<std::byte> bytes(sizeof ticket);
        std::memcpy(bytes.data(), &ticket, sizeof ticket);
        return bytes;
    }

    void record(int number, Stream stream, bool outside) override {
        const Current current(*session_);
        current.check();
        EventHandle* const event = (outside ? made_->outside_events : made_->events).at(static_cast<std::size_t>(number));
        session_->check(session_->driver().event_record(event, handle_of(stream)), "marking a message");
    }
    void wait(int number, Stream stream) override {
        const Current current(*session_);
        current.check();
        session_->check(session_->driver().stream_wait_event(handle_of(stream), made_->events.at(static_cast<std::size_t>(number)), 0),
                        "waiting for a message");
    }
    void* flag() const override { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(flag_of(made_->memory, made_->bytes))); }
    void await_flag(std::uint32_t value, Stream stream) override {
        const Current current(*session_);
        current.check();
        session_->check(session_->driver().stream_wait_value(handle_of(stream), flag_of(made_->memory, made_->bytes), value, wait_value_at_least),
                        "waiting for a message");
    }

  private:
    std::shared_ptr<const Session> session_;
    Made* made_;
};

// Another rank's box: opened by CUDA IPC, from `outside`, or the pointers of this process.
class OpenedBox : public PeerBox {
  public:
    OpenedBox(std::shared_ptr<const Session> session, DevicePointer memory, std::int64_t bytes, const std::array<EventHandle*, events>& of,
              bool outside, bool apart)
        : session_(std::move(session)), memory_(memory), bytes_(bytes), events_(of), outside_(outside), apart_(apart) {}
    ~OpenedBox() override {
        const Current current(*session_);
        if (!outside_ || !current.ok()) return;
        for (EventHandle* event : events_) session_->driver().event_destroy(event);
        session_->driver().ipc_close_memory(memory_);
    }
    OpenedBox(const OpenedBox&) = delete;
    OpenedBox& operator=(const OpenedBox&) = delete;

    std::byte* memory() const override { return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(memory_)); }
    bool is_outside() const override { return outside_; }
    bool is_apart() const override { return apart_; }
    void* flag() const override { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(flag_of(memory_, bytes_))); }
    void set_flag(std::uint32_t value, Stream stream) override {
        const Current current(*session_);
        current.check();
        session_->check(session_->driver().stream_write_value(handle_of(stream), flag_of(memory_, bytes_), value, 0), "marking a message");
    }
    std::vector<std::byte> ticket() const override { throw Error("memory of another rank", "its ticket is asked for", "ask where it was made"); }
    void record(int, Stream, bool) override { throw Error("an event of another rank", "it is to be recorded", "record it where it was made"); }
    void wait(int number, Stream stream) override {
        const Current current(*session_);
        current.check();
        session_->check(session_->driver().stream_wait_event(handle_of(stream), events_.at(static_cast<std::size_t>(number)), 0),
                        "waiting for a message");
    }

  private:
    std::shared_ptr<const Session> session_;
    DevicePointer memory_;
    std::int64_t bytes_;
    std::array<EventHandle*, events> events_;
    bool outside_, apart_;
};

class CudaPeers : public PeerMemory {
  public:
    explicit CudaPeers(std::shared_ptr<const Session> session) : session_(std::move(session)) {}

    std::unique_ptr<PeerBox> make(std::int64_t bytes) override {
        const Current current(*session_);
        current.check();
        return std::make_unique<MadeBox>(session_, Spares::all().take(session_, bytes));
    }

    std::unique_ptr<PeerBox> open(std::span<const std::byte> bytes) override {
        Ticket ticket{};
        if (bytes.size() != sizeof ticket) fail(fmt::format("a ticket of {} bytes", bytes.size()), "have all ranks run the same hone");
        std::memcpy(&ticket, bytes.data(), sizeof ticket);
        const Current current(*session_);
        current.check();
        if (ticket.process == name_of_process()) return of_this_process(ticket);
        if (name_of_host().front() == '\0' || ticket.host != name_of_host()) fail("it is on another host", "messages go through the hosts' memory");
        if (!ticket.has_ipc) fail("its driver gave no handle for other processes", "messages go through the host's memory");
        return of_another_process(ticket);
    }

    int devices() const override {
        int count = 0;
        session_->check(session_->driver().device_get_count(&count), "counting devices");
        return count;
    }

  private:
    [[noreturn]] void fail(const std::string& found, const std::string& remedy) const {
        throw Error(fmt::format("memory of another rank from CUDA device {}", session_->device().index), found, remedy);
    }

    std::unique_ptr<PeerBox> of_this_process(const Ticket& ticket) const {
        const Made& made = *ticket.made;
        const Driver& driver = session_->driver();
        if (made.session->context() != session_->context()) {
            int can = 0;
            session_->check(driver.device_can_access_peer(&can, session_->device().index, made.device), "asking for peer access");
            if (can == 0) fail(fmt::format("no peer access to device {}", made.device), "messages go through the host's memory");
            const Result result = driver.context_enable_peer_access(made.session->context(), 0);
            if (result != error_peer_access_already_enabled) session_->check(result, fmt::format("peer access to device {}", made.device));
        }
        return std::make_unique<OpenedBox>(session_, made.memory, made.bytes, made.events, false, false);
    }

    std::unique_ptr<PeerBox> of_another_process(const Ticket& ticket) const {
        const Driver& driver = session_->driver();
        DevicePointer memory = 0;
        std::array<EventHandle*, PeerBox::events> events{};
        session_->check(driver.ipc_open_memory(&memory, ticket.memory, ipc_enable_peer_access), "opening memory of another process");
        for (std::size_t n = 0; n < events.size(); ++n)
            if (const Result result = driver.ipc_open_event(&events[n], ticket.events[n]); result != success) {
                for (std::size_t opened = 0; opened < n; ++opened) driver.event_destroy(events[opened]);
                driver.ipc_close_memory(memory);
                session_->fail(result, "opening an event of another process");
            }
        return std::make_unique<OpenedBox>(session_, memory, ticket.bytes, events, true, ticket.gpu != name_of_gpu(*session_));
    }

    std::shared_ptr<const Session> session_;
};

}  // namespace

std::unique_ptr<PeerMemory> cuda_peers(std::shared_ptr<const Session> session) {
    return std::make_unique<CudaPeers>(std::move(session));
}

}  // namespace hone::inline v0_1::cuda
