#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "foundation/grow_only_table.hpp"
#include "foundation/shares.hpp"

namespace hone::inline v0_1 {

/// Values that are built once per key, however many threads ask, and then shared. A failure goes to
/// all who waited for it and is then forgotten, so that the next one to ask tries again. Building
/// one key does not hold up another. Who asks for what is built takes no lock and writes to no
/// memory that other threads write to.
///
///     const std::shared_ptr<const Kernel> kernel = kernels.get(problem, [&] { return build(problem); });
template <typename Key, typename Value>
class OnceMap {
  public:
    using Pointer = std::shared_ptr<const Value>;

    template <typename Build>
    Pointer get(const Key& key, const Build& build) {
        if (Pointer ready = find(key)) return ready;
        std::promise<Pointer> promise;
        std::shared_future<Pointer> building;
        {
            const std::lock_guard lock(building_mutex_);
            if (Pointer ready = find(key)) return ready;
            const auto [found, added] = building_.try_emplace(key);
            if (added) found->second = promise.get_future().share();
            if (!added) building = found->second;
        }
        return building.valid() ? building.get() : built(key, build, promise);
    }

  private:
    Pointer find(const Key& key) const {
        const Shares<Value>* const found = ready_.find(key);
        return found == nullptr ? nullptr : found->mine();
    }

    template <typename Build>
    Pointer built(const Key& key, const Build& build, std::promise<Pointer>& promise) {
        try {
            Pointer value = build();
            const std::lock_guard lock(building_mutex_);
            ready_.add(key, Shares<Value>(value));
            building_.erase(key);
            promise.set_value(value);
            return value;
        } catch (...) {
            const std::lock_guard lock(building_mutex_);
            building_.erase(key);
            promise.set_exception(std::current_exception());
            throw;
        }
    }

    GrowOnlyTable<Key, Shares<Value>> ready_;
    std::mutex building_mutex_;
    std::unordered_map<Key, std::shared_future<Pointer>> building_;
};

}  // namespace hone::inline v0_1
