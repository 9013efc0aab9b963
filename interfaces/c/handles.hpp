#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "interfaces/c/errors.hpp"

namespace hone::inline v0_1::languages {

/// Each object behind a handle of hone.h begins with this tag: its kind, and whether it is open.
/// The shell of a closed one stays for a while, so that one which is used after its end is refused
/// rather than read.
class Shell {
  public:
    explicit Shell(std::uint64_t kind) : tag_(kind) {}

    bool is(std::uint64_t kind) const { return tag_.load(std::memory_order_relaxed) == kind; }
    bool was(std::uint64_t kind) const { return tag_.load(std::memory_order_relaxed) == ~kind; }
    /// False when another call closed it first.
    bool close(std::uint64_t kind) {
        std::uint64_t open = kind;
        return tag_.compare_exchange_strong(open, ~kind);
    }

  private:
    std::atomic<std::uint64_t> tag_;
};

/// The handle behind `pointer`. Throws Refusal when that is null, something else, or closed.
/// `Handle` has its kind, and a noun and its opener for people.
template <typename Handle, typename Pointer>
Pointer* open_handle(const char* function, Pointer* pointer) {
    const std::string noun = Handle::noun;
    if (pointer == nullptr)
        throw Refusal(HONE_BAD_HANDLE, function, "the " + noun + " is null",
                      std::string("get one from ") + Handle::opener + ", and see what that says");
    if (reinterpret_cast<std::uintptr_t>(pointer) % alignof(Handle) == 0) {
        const Shell& shell = *pointer;
        if (shell.is(Handle::kind)) return pointer;
        if (shell.was(Handle::kind))
            throw Refusal(HONE_BAD_HANDLE, function, "the " + noun + " is closed",
                          std::string("use it before it ends, or get another from ") + Handle::opener);
    }
    throw Refusal(HONE_BAD_HANDLE, function, "this is no " + noun, std::string("give what ") + Handle::opener + " gave");
}

/// Keeps the shell of a closed handle, whose contents are gone, until a thousand others of its kind
/// were closed after it.
template <typename Handle>
void retire(std::unique_ptr<Handle> handle) {
    static constexpr std::size_t kept = 1024;
    static auto& mutex = *new std::mutex;                            // never destroyed: handles may be closed at the very end of a program
    static auto& closed = *new std::deque<std::unique_ptr<Handle>>;  // likewise
    const std::lock_guard lock(mutex);
    closed.push_back(std::move(handle));
    if (closed.size() > kept) closed.pop_front();
}

}  // namespace hone::inline v0_1::languages
