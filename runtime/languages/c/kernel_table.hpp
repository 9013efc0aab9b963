#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/languages/c/hone.h"

namespace hone::languages {

/// Kernels by the texts that they were asked for with. Only grows, so that reading takes no lock and writes nothing: any number of threads find
/// a kernel without slowing each other down.
class KernelTable {
  public:
    /// Null when there is none. May run beside `add`.
    hone_kernel* find(std::string_view text) const {
        const Entry* entry = bucket(text).load(std::memory_order_acquire);
        while (entry != nullptr && entry->text != text) entry = entry->next;
        return entry == nullptr ? nullptr : entry->kernel;
    }

    /// One thread at a time. Does nothing for a text that is there.
    void add(std::string_view text, hone_kernel* kernel) {
        if (find(text) != nullptr) return;
        auto& first = const_cast<std::atomic<const Entry*>&>(bucket(text));
        first.store(&entries_.emplace_back(Entry{std::string(text), kernel, first.load(std::memory_order_relaxed)}), std::memory_order_release);
    }

  private:
    struct Entry {
        std::string text;
        hone_kernel* kernel;
        const Entry* next;
    };
    const std::atomic<const Entry*>& bucket(std::string_view text) const { return buckets_[std::hash<std::string_view>()(text) % buckets_.size()]; }

    std::array<std::atomic<const Entry*>, 1024> buckets_{};  // an application has some tens of problems
    std::deque<Entry> entries_;                              // where they stay while others are added
};

}  // namespace hone::languages
