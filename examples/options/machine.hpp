#pragma once

#include <filesystem>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <memory>
#include <string>
#include <vector>

namespace hone::examples {

/// A device that a program computes on, with the places of compiled code and of tuned results. A
/// session has all of its results from the start; here some are made first, by `tune`.
struct Machine {
    Machine(const std::string& device, std::filesystem::path folder)
        : cache(DiskCache::default_folder()), records(std::move(folder)), backend(make_backend(device, cache)) {}

    const std::string& name() const { return backend->device().fingerprint.name; }
    DeviceSide side() const { return {backend->device().fingerprint, backend->device().limits}; }
    bool has_host_memory() const { return traits_of(backend->device().fingerprint.target).host_memory; }
    bool shares_processors() const { return traits_of(backend->device().fingerprint.target).shares_processors; }
    /// All results that are known now.
    Database database() const { return known_records(built_in_families(), records); }
    std::unique_ptr<KernelLibrary> library() const { return std::make_unique<KernelLibrary>(*backend, database(), built_in_families()); }
    /// Tunes for so many seconds, and keeps what it finds.
    void tune(const std::vector<Problem>& problems, double seconds) const {
        solvers::tune_first(*backend, problems, own_records(records), seconds, solvers::tell_tuned);
    }

    DiskCache cache;
    std::filesystem::path records;  ///< empty: the usual places
    std::unique_ptr<Backend> backend;
};

}  // namespace hone::examples
