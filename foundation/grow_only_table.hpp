#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hone::inline v0_1 {

/// Values by their keys. It only grows, so that reading takes no lock and writes nothing: any
/// number of threads find a value without slowing each other down. Texts are found by a
/// std::string_view.
template <typename Key, typename Value>
class GrowOnlyTable {
  public:
    /// The type that a key is looked up by.
    using Wanted = std::conditional_t<std::is_same_v<Key, std::string>, std::string_view, Key>;

    /// Null when there is none; else it stays where it is. May run beside `add`.
    const Value* find(const Wanted& key) const {
        const Entry* entry = bucket(key).load(std::memory_order_acquire);
        while (entry != nullptr && !(entry->key == key)) entry = entry->next;
        return entry == nullptr ? nullptr : &entry->value;
    }

    /// One thread at a time. Does nothing for a key that is there.
    void add(const Wanted& key, Value value) {
        if (find(key) != nullptr) return;
        auto& first = const_cast<std::atomic<const Entry*>&>(bucket(key));
        first.store(&entries_.emplace_back(Entry{Key(key), std::move(value), first.load(std::memory_order_relaxed)}), std::memory_order_release);
    }

  private:
    struct Entry {
        Key key;
        Value value;
        const Entry* next;
    };
    const std::atomic<const Entry*>& bucket(const Wanted& key) const { return buckets_[std::hash<Wanted>()(key) % buckets_.size()]; }

    std::array<std::atomic<const Entry*>, 1024> buckets_{};  // an application has some tens of problems
    std::deque<Entry> entries_;                              // where they stay while others are added
};

}  // namespace hone::inline v0_1
