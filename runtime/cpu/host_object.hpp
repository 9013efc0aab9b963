#pragma once

#include <string>

namespace hone::inline v0_1 {

/// One row of the table `hone_entries` of a compiled kernel (see with_entry_table), which ends with
/// a null name.
struct HostEntry {
    const char* name;
    void (*launch)(void** arguments);
};

/// A shared object of CPU kernels, loaded into this process for as long as this lives. Immutable.
class HostObject {
  public:
    HostObject() = default;
    /// The object in this file. One that cannot be loaded is null, with `reason`.
    HostObject(const std::string& path, std::string& reason);
    ~HostObject();
    HostObject(HostObject&& other) noexcept;
    HostObject& operator=(HostObject&& other) noexcept;

    explicit operator bool() const { return library_ != nullptr; }
    /// The table of entry points.
    const HostEntry* entries() const { return entries_; }
    /// Calls an entry. Its teams have as many threads as the calling thread's have, whichever
    /// OpenMP library the object was linked with.
    void launch(int entry, void** arguments) const;

  private:
    void* library_ = nullptr;
    const HostEntry* entries_ = nullptr;
    void (*set_threads_)(int) = nullptr;  ///< of an OpenMP library that is not this program's; null: it is
};

}  // namespace hone::inline v0_1
