#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "runtime/backend.hpp"
#include "solvers/hydro/discretisation.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// What lies between nodes that zones share and arrays of each zone's own, as small kernels on a
/// processor or a GPU; in double precision. Sums have a fixed order, so that results depend on
/// nothing but their arguments.
class ZoneKernels {
  public:
    /// Uploads the tables. The backend must outlive it.
    ZoneKernels(Backend& backend, const Discretisation& of) : ZoneKernels(backend, of, source(of, backend.device().fingerprint.target)) {}
    /// With another text of the same plan: tests run that of GPUs on a processor.
    ZoneKernels(Backend& backend, const Discretisation& of, const KernelSource& text);

    /// target = base + factor * rate, word by word.
    void combine(void* target, const void* base, const void* rate, double factor, std::int64_t words) const;
    /// zones [zone][component][node of the zone] = nodes [component][node]
    void gather(const void* nodes, void* zones) const;
    /// nodes [component][node] = -(sum over the zones around a node)
    void subtract(const void* zones, void* nodes) const;
    /// Words of `least`, of which the smallest counts, become no larger than those of all zones;
    /// with `anew` whatever they were before.
    void shorten(const void* steps, void* least, bool anew = false) const;
    /// work [zone][coefficient] += the heating of the two-dimensional vortex, of zones at positions
    /// [zone][component][node].
    void warm(const void* positions, void* work) const;

    static constexpr int least_words = 1024;
    static KernelSource source(const Discretisation& of, Target target);

  private:
    enum Entry { combine_entry, gather_entry, subtract_entry, shorten_entry, warm_entry, entries };
    struct Arguments {
        void* to = nullptr;
        const void* from = nullptr;
        const void* with = nullptr;
        const void* numbers = nullptr;
        const void* places = nullptr;
        int low = 0, high = 0;
    };
    void launch(Entry entry, const Arguments& given, std::int64_t items) const;

    int nodes_, zones_;
    std::unique_ptr<Module> module_;
    std::array<int, entries> handles_{};
    DeviceArray zone_nodes_, starts_, places_;
    DeviceArray tables_;  // node values, node gradients, energy values, weights
};

/// A device array with a copy of a host's numbers.
template <typename Number>
DeviceArray uploaded(Backend& backend, const std::vector<Number>& numbers) {
    const auto bytes = static_cast<std::int64_t>(numbers.size() * sizeof(Number));
    DeviceArray array(backend, bytes);
    backend.copy(array.data(), numbers.data(), bytes);
    backend.synchronise();
    return array;
}

}  // namespace hone::inline v0_1::solvers::hydro
