#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "generator/kernel_source.hpp"
#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// Words of a field on a GPU: those at `places`, which lie on it, too, or where there are none
/// those that follow each other from `field` on.
struct MessageWords {
    void* field = nullptr;
    const std::int64_t* places = nullptr;
    std::int64_t count = 0;
    int bytes = 8;  ///< of a word: 4 or 8
};
/// A word of 32 bits by which a kernel says, or learns, that a message is whole; null: it does not.
struct MessageFlag {
    void* word = nullptr;
    std::uint32_t value = 0;
};

/// The kernels that bring words of a GPU's fields into messages and out of them. A message may lie
/// in this GPU's memory, in another one's that is its peer, or in page-locked memory of the host:
/// kernels reach all of them.
class MessageKernels {
  public:
    /// Compiles a kernel when it is first needed; throws Error where that fails. The backend must
    /// outlive it.
    MessageKernels(Backend& backend, Stream stream);

    /// Into a message. Raises the flag when all of its words are there, and those of messages
    /// before it. Stores none of them until the awaited one is at its value or beyond.
    void put(const MessageWords& words, std::byte* message, MessageFlag raise = {}, MessageFlag await = {});
    /// Out of one, once the flag is raised to its value or beyond. A kernel that waits keeps some
    /// of its GPU's multiprocessors: whoever raises the flag must not need this GPU.
    void take(const MessageWords& words, const std::byte* message, MessageFlag await = {});

    /// For words of 4, 8 or 16 bytes: `put(field, places, message, awaited, raised, done, words,
    /// awaited_value, raised_value)` and `take`, which raises nothing. `done` is 0 before and
    /// after.
    static KernelSource kernels(int word_bytes);

  private:
    struct Loaded {
        std::unique_ptr<Module> module;
        std::array<int, 2> entries{};
    };
    void launch(std::size_t entry, const MessageWords& words, std::byte* message, MessageFlag awaited, MessageFlag raised);
    const Loaded& loaded(int word_bytes);

    Backend& backend_;
    Stream stream_;
    std::array<Loaded, 3> of_words_;  // of 4, 8 and 16 bytes
    DeviceArray done_;
};

}  // namespace hone::inline v0_1
