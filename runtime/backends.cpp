#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/random_words.hpp"
#include "foundation/value.hpp"
#include "runtime/backend.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/cuda/cuda_backend.hpp"

namespace hone::inline v0_1 {
namespace {

// In order of preference.
constexpr std::array table{
    BackendEntry{Target::cuda, cuda_devices, make_cuda_backend},
    BackendEntry{Target::cpu, cpu_devices, make_cpu_backend},
};

constexpr const char* device_names = "use cpu, cuda, cuda:1 or best; gpu is another word for cuda";

// The nearest name. A GPU is never suggested to who may have meant the processor, nor the other way
// round: then nothing is.
std::string suggestion(const std::string& word) {
    const std::vector<std::string> gpus{"cuda", "gpu"};
    const std::string nearest = nearest_word(word, {"cuda", "gpu", "cpu", "best"});
    const std::string reversed = nearest_word(word, {"best", "cpu", "gpu", "cuda"});
    const auto is_gpu = [&](const std::string& name) { return std::find(gpus.begin(), gpus.end(), name) != gpus.end(); };
    if (nearest.empty() || is_gpu(nearest) != is_gpu(reversed)) return "";
    return fmt::format("did you mean {}? ", nearest);
}

std::unique_ptr<Backend> make_best(DiskCache& cache) {
    for (const auto& entry : table) {
        std::string missing;
        // The processor is always there; listing it would start its compiler.
        if (traits_of(entry.target).shares_processors || !entry.devices(missing).empty()) return entry.make(0, cache);
    }
    throw Error("device \"best\"", "no backend is built in", "build with runtime/cpu");
}

}  // namespace

std::vector<std::uint64_t> Backend::checksums(std::span<const MemoryPiece> pieces) {
    constexpr std::int64_t most = std::int64_t{1} << 20;  // bytes that come at a time
    std::vector<std::uint64_t> sums;
    std::vector<std::uint32_t> words;
    for (const MemoryPiece& piece : pieces) {
        std::uint64_t sum = 0;
        for (std::int64_t first = 0; first < piece.bytes; first += most) {
            const std::int64_t bytes = std::min(most, piece.bytes - first);
            words.resize(static_cast<std::size_t>(bytes) / sizeof(std::uint32_t));
            copy(words.data(), static_cast<const char*>(piece.data) + first, bytes);
            synchronise();
            auto place = static_cast<std::uint64_t>(first) / sizeof(std::uint32_t);
            for (const std::uint32_t word : words) sum += mixed(place++ << 32 | word);
        }
        sums.push_back(sum);
    }
    return sums;
}

std::unique_ptr<Recording> Backend::record(std::function<void(Stream)> work) {
    class Repeated : public Recording {
      public:
        explicit Repeated(std::function<void(Stream)> work) : work_(std::move(work)) {}
        void launch(Stream stream) const override { work_(stream); }

      private:
        std::function<void(Stream)> work_;
    };
    return std::make_unique<Repeated>(std::move(work));
}

std::span<const BackendEntry> backends() {
    return table;
}

DeviceName parse_device_name(const std::string& name) {
    const std::string word = name.substr(0, name.find(':'));
    int index = 0;
    if (word != name) {
        const char* const end = name.data() + name.size();
        const auto [stop, error] = std::from_chars(name.data() + word.size() + 1, end, index);
        if (error != std::errc() || stop != end || index < 0)
            throw Error("device \"" + name + "\"", "what follows the colon is not a number", device_names);
    }
    if (word == "gpu") return {Target::cuda, index};
    for (const auto& entry : table)
        if (to_string(entry.target) == word) return {entry.target, index};
    throw Error("device \"" + name + "\"", "there is no such device", suggestion(word) + device_names);
}

std::unique_ptr<Backend> make_backend(const std::string& name, DiskCache& cache) {
    if (name == "best") return make_best(cache);
    const auto [target, index] = parse_device_name(name);
    for (const auto& entry : table)
        if (entry.target == target) return entry.make(index, cache);
    throw Error("device \"" + name + "\"", "this build of hone has no such backend", "see 'hone doctor'");
}

}  // namespace hone::inline v0_1
