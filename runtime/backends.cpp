#include <fmt/format.h>

#include <array>
#include <charconv>

#include "generator/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/cuda/cuda_backend.hpp"

namespace hone {
namespace {

// In order of preference.
constexpr std::array table{
    BackendEntry{Target::cuda, cuda_devices, make_cuda_backend},
    BackendEntry{Target::cpu, cpu_devices, make_cpu_backend},
};

// "cuda:1" is device 1 of cuda, "cuda" device 0.
int index_of(const std::string& name, std::size_t target_length) {
    if (name.size() == target_length) return 0;
    int index = -1;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + target_length + 1, end, index);
    if (error != std::errc() || stop != end || index < 0)
        throw Error("device \"" + name + "\"", "what follows the colon is not a number", "write cpu, cuda, cuda:1 or best");
    return index;
}

std::unique_ptr<Backend> make_best(DiskCache& cache) {
    for (const auto& entry : table) {
        std::string missing;
        // The processor is always there; listing it would start its compiler.
        if (entry.target == Target::cpu || !entry.devices(missing).empty()) return entry.make(0, cache);
    }
    throw Error("device \"best\"", "no backend is built in", "build with runtime/cpu");
}

}  // namespace

std::span<const BackendEntry> backends() {
    return table;
}

std::unique_ptr<Backend> make_backend(const std::string& name, DiskCache& cache) {
    if (name == "best") return make_best(cache);
    const std::size_t target_length = std::min(name.find(':'), name.size());
    for (const auto& entry : table) {
        if (to_string(entry.target) == name.substr(0, target_length)) return entry.make(index_of(name, target_length), cache);
    }
    throw Error("device \"" + name + "\"", "there is no such target",
                did_you_mean(name, {"cpu", "cuda", "best"}) + "write cpu, cuda, cuda:1 or best");
}

}  // namespace hone
