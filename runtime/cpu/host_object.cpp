#include "runtime/cpu/host_object.hpp"

#include <dlfcn.h>
#include <omp.h>

#include <utility>

namespace hone::inline v0_1 {

HostObject::HostObject(const std::string& path, std::string& reason) {
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
        const char* told = dlerror();
        reason = told == nullptr ? "the loader gives no reason" : told;
        return;
    }
    // The OpenMP library that came with it keeps threads of its own, so it must outlive the object.
    // It looks for its processors when it is first asked.
    for (const char* name : {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"})
        if (void* openmp = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE); openmp != nullptr) {
            if (auto* const ask = reinterpret_cast<int (*)()>(dlsym(openmp, "omp_get_num_places")); ask != nullptr) ask();
            dlclose(openmp);
        }
    void* const own = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    void* const linked = dlsym(library_, "omp_set_num_threads");
    if (linked != own) set_threads_ = reinterpret_cast<void (*)(int)>(linked);
    entries_ = static_cast<const HostEntry*>(dlsym(library_, "hone_entries"));
    if (entries_ != nullptr) return;
    reason = "it has no table of entry points";
    dlclose(std::exchange(library_, nullptr));
}

HostObject::~HostObject() {
    if (library_ != nullptr) dlclose(library_);
}

HostObject::HostObject(HostObject&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)),
      entries_(std::exchange(other.entries_, nullptr)),
      set_threads_(std::exchange(other.set_threads_, nullptr)) {
}

HostObject& HostObject::operator=(HostObject&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(entries_, other.entries_);
    std::swap(set_threads_, other.set_threads_);
    return *this;
}

void HostObject::launch(int entry, void** arguments) const {
    if (set_threads_ != nullptr) set_threads_(omp_get_max_threads());
    entries_[entry].launch(arguments);
}

}  // namespace hone::inline v0_1
