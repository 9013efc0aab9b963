#include "solvers/hydro/zone_kernels.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <numbers>

#include "foundation/error.hpp"
#include "solvers/item_kernels/item_kernels.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

// All have the same arguments, of which each takes what it needs. A factor comes as the two halves
// of its bits, since launches take whole numbers and arrays.
constexpr const char* body = R"cpp(
#define ARGUMENTS double *to, const double *from, const double *with, const int *numbers, const int *places, int low, int high, int first, int last

    union Bits {
        unsigned long long whole;
        double number;
    };

    KERNEL combine(ARGUMENTS) {
        Bits factor;
        factor.whole = (unsigned long long)(unsigned)high << 32 | (unsigned)low;
        FOR_ITEMS(i) to[i] = from[i] + factor.number * with[i];
    }

    KERNEL gather(ARGUMENTS) {
        const int all_nodes = low;
        FOR_ITEMS(i) {
            const int zone = i / zone_nodes, node = i % zone_nodes, number = numbers[i];
            double found[components];  // all are loaded before any is stored: arrays might be the same
            for (int c = 0; c < components; ++c) found[c] = from[(long long)c * all_nodes + number];
            for (int c = 0; c < components; ++c) to[((long long)zone * components + c) * zone_nodes + node] = found[c];
        }
    }

    KERNEL subtract(ARGUMENTS) {
        FOR_ITEMS(i) {
            double sums[components] = {};
            // Some are on their way at once.
            enum { together = 4 };
            const int end = numbers[i + 1];
            for (int at = numbers[i]; at < end; at += together) {
                int place[together];
                double some[together][components];
                for (int k = 0; k < together; ++k) place[k] = at + k < end ? places[at + k] : -1;
                for (int k = 0; k < together; ++k)
                    for (int c = 0; c < components; ++c)
                        some[k][c] =
                            place[k] < 0 ? 0.0 : from[((long long)(place[k] / zone_nodes) * components + c) * zone_nodes + place[k] % zone_nodes];
                for (int k = 0; k < together; ++k)
                    for (int c = 0; c < components; ++c) sums[c] += some[k][c];
            }
            for (int c = 0; c < components; ++c) to[(long long)c * last + i] = -sums[c];
        }
    }

    KERNEL shorten(ARGUMENTS) {
        const int all_zones = low;
        FOR_ITEMS(i) {
            double shortest = high ? longest : to[i];  // high: anew
            // Some are on their way at once.
            enum { together = 8 };
            for (int zone = i; zone < all_zones; zone += together * last) {
                double some[together];
                for (int k = 0; k < together; ++k) some[k] = zone + k * last < all_zones ? from[zone + k * last] : longest;
                for (int k = 0; k < together; ++k)
                    if (!(some[k] >= shortest)) shortest = some[k];
            }
            to[i] = shortest;
        }
    }

    // Place and area of each point as it is now; 3 pi / 8 (cos(3 pi x) cos(pi y) - cos(pi x) cos(3 pi y)).
    KERNEL warm(ARGUMENTS) {
        const double* const values = with;
        const double* const gradients = values + points * zone_nodes;
        const double* const energies = gradients + points * zone_nodes * components;
        const double* const weights = energies + points * zone_energies;
        FOR_ITEMS(zone) {
            const double *const x = from + (long long)zone * components * zone_nodes, *const y = x + zone_nodes;
            double sums[zone_energies] = {};
            for (int point = 0; point < points; ++point) {
                double at[2] = {}, across[2] = {}, up[2] = {};
                for (int node = 0; node < zone_nodes; ++node) {
                    const double value = values[point * zone_nodes + node];
                    const double* const slope = gradients + (point * zone_nodes + node) * components;
                    at[0] += value * x[node], at[1] += value * y[node];
                    across[0] += slope[0] * x[node], across[1] += slope[0] * y[node];
                    up[0] += slope[1] * x[node], up[1] += slope[1] * y[node];
                }
                const double area = weights[point] * (across[0] * up[1] - across[1] * up[0]);
                const double heat = 3 * pi / 8 * (cos(3 * pi * at[0]) * cos(pi * at[1]) - cos(pi * at[0]) * cos(3 * pi * at[1]));
                for (int j = 0; j < zone_energies; ++j) sums[j] += heat * area * energies[point * zone_energies + j];
            }
            for (int j = 0; j < zone_energies; ++j) to[(long long)zone * zone_energies + j] += sums[j];
        }
    }
)cpp";

constexpr std::array entry_names{"combine", "gather", "subtract", "shorten", "warm"};

// For each node where it stands in zone_nodes, zone by zone.
std::pair<std::vector<int>, std::vector<int>> places_of(const Discretisation& of) {
    std::vector<int> starts(of.nodes() + 1);
    for (const std::int32_t node : of.zone_nodes) ++starts[static_cast<std::size_t>(node) + 1];
    for (std::size_t node = 0; node < of.nodes(); ++node) starts[node + 1] += starts[node];
    std::vector<int> next(starts.begin(), starts.end() - 1);
    std::vector<int> places(of.zone_nodes.size());
    for (std::size_t i = 0; i < of.zone_nodes.size(); ++i)
        places[static_cast<std::size_t>(next[static_cast<std::size_t>(of.zone_nodes[i])]++)] = static_cast<int>(i);
    return {starts, places};
}

std::vector<double> tables_of(const Discretisation& of) {
    std::vector<double> tables = of.node_values;
    tables.insert(tables.end(), of.node_gradients.begin(), of.node_gradients.end());
    tables.insert(tables.end(), of.energy_values.begin(), of.energy_values.end());
    tables.insert(tables.end(), of.weights.begin(), of.weights.end());
    return tables;
}

}  // namespace

KernelSource ZoneKernels::source(const Discretisation& of, Target target) {
    const std::string sizes = fmt::format(
        "enum Sizes {{ components = {}, zone_nodes = {}, zone_energies = {}, points = {} }};\nconstexpr double pi = {:.17g}, longest = {:.17g};\n",
        of.dimension, of.nodes_of_zone(), of.energies_of_zone(), of.points_of_zone(), std::numbers::pi, std::numeric_limits<double>::max());
    KernelSource source;
    source.target = target;
    source.precision = Precision::f64;
    source.text = (traits_of(target).has_blocks ? "" : "#include <cmath>\nusing std::cos;\n") +
                  item_kernels("Nodes and zones of a hydrodynamics program.", target, Precision::f64, sizes + body);
    const auto words = static_cast<std::int64_t>(of.first.positions.size());
    for (const char* name : {"to", "from", "with"}) source.arrays.push_back({name, Access::inout, words, "[word]", ""});
    for (const char* name : {"numbers", "places"}) source.arrays.push_back({name, Access::in, words, "[item], int", ""});
    source.scalars = {{"low", 0}, {"high", 0}};
    for (const char* name : entry_names) {
        source.entries.emplace_back(name);
        Launch launch;
        launch.entry = name;
        source.step.push_back(launch);
    }
    return source;
}

ZoneKernels::ZoneKernels(Backend& backend, const Discretisation& of, const KernelSource& text)
    : nodes_(static_cast<int>(of.nodes())), zones_(static_cast<int>(of.zones())) {
    const CompileOutcome outcome = backend.compiler().compile(text);
    if (!outcome.ok) throw Error("kernels of nodes and zones", outcome.failure, "see 'hone doctor'");
    module_ = backend.load(outcome.code);
    for (std::size_t n = 0; n < entry_names.size(); ++n) handles_[n] = module_->entry(text.step[n].entry);
    const auto [starts, places] = places_of(of);
    zone_nodes_ = uploaded(backend, of.zone_nodes);
    starts_ = uploaded(backend, starts);
    places_ = uploaded(backend, places);
    tables_ = uploaded(backend, tables_of(of));
}

void ZoneKernels::launch(Entry entry, const Arguments& given, std::int64_t items) const {
    Arguments values = given;
    int first = 0;
    int last = static_cast<int>(items);
    std::array<void*, 9> arguments{&values.to, &values.from, &values.with, &values.numbers, &values.places, &values.low, &values.high, &first, &last};
    module_->launch(handles_[static_cast<std::size_t>(entry)], item_blocks(items), {item_threads, 1, 1}, 0, {}, arguments.data());
}

void ZoneKernels::combine(void* target, const void* base, const void* rate, double factor, std::int64_t words) const {
    const auto bits = std::bit_cast<std::uint64_t>(factor);
    const auto low = static_cast<int>(static_cast<std::uint32_t>(bits));
    const auto high = static_cast<int>(static_cast<std::uint32_t>(bits >> 32));
    launch(combine_entry, {.to = target, .from = base, .with = rate, .low = low, .high = high}, words);
}

void ZoneKernels::gather(const void* nodes, void* zones) const {
    constexpr std::int64_t bytes_per_number = 4;
    launch(gather_entry, {.to = zones, .from = nodes, .numbers = zone_nodes_.data(), .low = nodes_}, zone_nodes_.bytes() / bytes_per_number);
}

void ZoneKernels::subtract(const void* zones, void* nodes) const {
    launch(subtract_entry, {.to = nodes, .from = zones, .numbers = starts_.data(), .places = places_.data()}, nodes_);
}

void ZoneKernels::shorten(const void* steps, void* least, bool anew) const {
    launch(shorten_entry, {.to = least, .from = steps, .low = zones_, .high = anew ? 1 : 0}, least_words);
}

void ZoneKernels::warm(const void* positions, void* work) const {
    launch(warm_entry, {.to = work, .from = positions, .with = tables_.data()}, zones_);
}

}  // namespace hone::inline v0_1::solvers::hydro
