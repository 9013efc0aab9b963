#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/peer_memory.hpp"

namespace hone::test {

/// Looks like a GPU from outside: each stream is a queue, which a thread of its own works off
/// whenever it likes, with pauses drawn at random. Memory is the host's. Events of its peers are as
/// CUDA's: who waits for one that was never recorded does not wait.
class LateDevice final : public Backend {
  public:
    /// What its peers are like.
    enum class Peers {
        present,
        absent,
        deaf  ///< memory of others opens, and what is stored there goes nowhere
    };

    explicit LateDevice(Backend& of, unsigned seed, Peers peers = Peers::present);
    ~LateDevice() override;

    const Device& device() const override { return device_; }
    const Compiler& compiler() const override { return of_.compiler(); }
    std::unique_ptr<Module> load(const CompiledCode& code) override { return of_.load(code); }
    void* allocate(std::int64_t bytes) override { return of_.allocate(bytes); }
    void free(void* pointer) noexcept override;
    void* allocate_pinned(std::int64_t bytes) override { return of_.allocate_pinned(bytes); }
    void free_pinned(void* pointer) noexcept override { free(pointer); }
    void copy(void* to, const void* from, std::int64_t bytes, Stream stream) override;
    void fill(void* to, unsigned char byte, std::int64_t bytes, Stream stream) override;
    void synchronise(Stream stream) override;
    Stream make_stream() override;
    void free_stream(Stream stream) noexcept override;
    void order(Stream earlier, Stream later) override;
    double seconds(Stream, const std::function<void()>&) override { return 0; }
    std::unique_ptr<StopWatch> make_stop_watch() override { return nullptr; }
    double largest_difference(const void*, const void*, std::int64_t, ValueType) override { return 0; }
    PeerMemory* peers() override { return peers_.get(); }

    /// Queues anything.
    void queue(std::function<void()> work, Stream stream = {});

  private:
    class Queue;
    Queue& queue_of(Stream stream);

    Backend& of_;
    Device device_;
    std::mt19937 random_;
    std::unique_ptr<PeerMemory> peers_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Queue>> queues_;  // the default stream's first
};

}  // namespace hone::test
