#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hone::inline v0_1::languages {

/// Arrays of the caller's that a kernel is bound to. Of those that hone allocated it knows when
/// they are freed.
class BoundArrays {
  public:
    /// `where` is for messages; `freed` is null for memory of the caller's own.
    void add(void* address, std::string where, std::shared_ptr<const std::atomic<bool>> freed) {
        addresses_.push_back(address);
        if (freed != nullptr) allocated_.push_back({std::move(where), std::move(freed)});
    }
    const std::vector<void*>& addresses() const { return addresses_; }

    /// Throws Refusal when hone_array_free freed one of them.
    void require_there(const char* function) const;

  private:
    struct Allocated {
        std::string where;
        std::shared_ptr<const std::atomic<bool>> freed;
    };
    std::vector<void*> addresses_;
    std::vector<Allocated> allocated_;
};

}  // namespace hone::inline v0_1::languages
