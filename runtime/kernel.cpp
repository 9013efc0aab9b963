// Kernel and BoundKernel: everything about a launch that can be known beforehand is worked out when
// the kernel is made.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>

#include "foundation/error.hpp"
#include "foundation/forked.hpp"
#include "runtime/launch_capture.hpp"
#include "runtime/library.hpp"
#include "runtime/overlap.hpp"

namespace hone::inline v0_1 {
namespace {

// Parameters of one entry point; the pointers to their values lie on the stack of a launch.
constexpr std::size_t most_parameters = 96;

struct PlannedLaunch {
    int entry = 0;
    Launch launch;
};

std::vector<PlannedLaunch> planned(const std::vector<Launch>& plan, const Module& module) {
    std::vector<PlannedLaunch> result;
    result.reserve(plan.size());
    for (const auto& launch : plan) result.push_back({module.entry(launch.entry), launch});
    return result;
}

template <typename Real>
void upload(Backend& backend, const DeviceArray& array, const std::vector<double>& contents) {
    const std::vector<Real> rounded(contents.begin(), contents.end());
    backend.copy(array.data(), rounded.data(), array.bytes());
    backend.synchronise();
}

DeviceArray constant_table(Backend& backend, const TableSpec& table, Precision precision) {
    if (static_cast<std::int64_t>(table.contents.size()) != table.words)
        throw Error("table " + table.name, fmt::format("{} values for {} words", table.contents.size(), table.words),
                    "mend the family's kernel source");
    DeviceArray array(backend, table.words * bytes_per_word(precision));
    precision == Precision::f32 ? upload<float>(backend, array, table.contents) : upload<double>(backend, array, table.contents);
    return array;
}

std::int64_t whole_range(const Family& family, const Problem& problem) {
    const std::int64_t range = family.range(problem);
    if (range < 0 || range > std::numeric_limits<int>::max())
        throw Error(problem.key(), fmt::format("its range is {} {}", range, family.range_unit),
                    "use a problem of at most 2147483647 " + family.range_unit);
    return range;
}

// CUDA takes 4096 bytes of arguments with every driver; pointers and integers need some of them.
constexpr std::int64_t most_bytes_by_value = 2048;

std::int64_t bytes_by_value(const KernelSource& source, int array) {
    const ArraySpec& spec = source.arrays.at(static_cast<std::size_t>(array));
    const std::int64_t bytes = spec.words * bytes_per_word(source.precision);
    if (bytes <= most_bytes_by_value) return bytes;
    throw Error("array " + spec.name, fmt::format("{} bytes by value", bytes), fmt::format("take at most {} that way", most_bytes_by_value));
}

// What every launch takes beside the arrays and the range.
std::size_t most_of_a_launch(const KernelSource& source) {
    std::size_t constants = 0;
    for (const auto* plan : {&source.prepare, &source.step})
        for (const auto& launch : *plan) constants = std::max(constants, launch.constants.size());
    return source.arrays.size() + source.tables.size() + source.by_value.size() + source.scalars.size() + 2 + constants;
}

}  // namespace

struct Kernel::State {
    Backend* backend = nullptr;
    Problem problem;
    Match match;
    KernelSource source;
    std::int64_t range = 0;
    std::function<void(const Problem&, std::span<void* const>, std::int64_t, std::int64_t)> reference;  ///< runs in place of code; or empty
    std::unique_ptr<Module> module;
    std::vector<PlannedLaunch> prepare;
    std::vector<PlannedLaunch> step;
    std::vector<DeviceArray> constant_tables;
    std::vector<void*> tables;  ///< in the order of the source; null for those of a binding
    bool needs_binding = false;
    std::shared_ptr<LaunchCapture> capture;  ///< of launches; or null

    State(Backend& on, const Family& family, const Problem& of, const Match& from, const Limits& limits)
        : backend(&on), problem(of), match(from), source(family.kernel(of, from.config, limits)), range(whole_range(family, of)) {}

    void load() {
        if (const std::size_t count = most_of_a_launch(source); count > most_parameters)
            throw Error(problem.key(), fmt::format("an entry point with {} parameters", count), fmt::format("use at most {}", most_parameters));
        const CompileOutcome outcome = backend->compiler().compile(source);
        if (!outcome.ok)
            throw Error(fmt::format("{} with {}", problem.key(), match.config.key()), "it does not compile: " + outcome.failure,
                        "see 'hone compile' for the compiler's log");
        module = backend->load(outcome.code);
        prepare = planned(source.prepare, *module);
        step = planned(source.step, *module);
        for (const auto& table : source.tables) {
            const bool constant = !table.contents.empty();
            if (constant) constant_tables.push_back(constant_table(*backend, table, source.precision));
            tables.push_back(constant ? constant_tables.back().data() : nullptr);
            needs_binding = needs_binding || !constant;
        }
        for (const int array : source.by_value) bytes_by_value(source, array);
        needs_binding = needs_binding || !source.by_value.empty();
    }

    void check_arrays(std::size_t count) const {
        if (count == source.arrays.size()) return;
        std::string names;
        for (const auto& array : source.arrays) names += (names.empty() ? "" : ", ") + array.name;
        throw Error("launch of " + problem.key(), fmt::format("{} arrays", count), fmt::format("give {}: {}", source.arrays.size(), names));
    }

    // Requires as many as there should be. Allocates nothing where all is well: a launch asks, too.
    void check_pointers(std::span<void* const> arrays) const {
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const ArraySpec& spec = source.arrays[i];
            if (spec.words == 0) continue;
            if (arrays[i] == nullptr) refuse(i, "it is null");
            if (const int multiple = address_multiple(source, spec);
                reinterpret_cast<std::uintptr_t>(arrays[i]) % static_cast<std::uintptr_t>(multiple) != 0)
                refuse(i, fmt::format("its address {} is not a multiple of {} bytes", fmt::ptr(arrays[i]), multiple));
            if (const auto other = overlapped_array(source, arrays, i))
                throw Error(place_of(i), fmt::format("it overlaps array {} ({}), and one of them is written", *other, source.arrays[*other].name),
                            "give each memory of its own");
        }
    }

    std::string place_of(std::size_t array) const { return fmt::format("array {} ({}) of {}", array, source.arrays[array].name, problem.key()); }

    [[noreturn]] void refuse(std::size_t array, const std::string& found) const {
        const ArraySpec& spec = source.arrays[array];
        throw Error(place_of(array), found,
                    fmt::format("give the address of {} values of {}, shaped {}", value_count(spec, source.precision),
                                to_string(value_type_of(spec, source.precision)), spec.shape));
    }

    void check_range(std::int64_t first, std::int64_t last) const {
        if (0 <= first && first <= last && last <= range) return;
        throw Error("launch of " + problem.key(), fmt::format("range [{}, {})", first, last), fmt::format("stay within [0, {})", range));
    }

    // A step of an application, kept where that is asked for. Requires checked arrays and range.
    void step_of_application(std::span<void* const> arrays, std::span<void* const> own_tables, std::span<const std::vector<double>> values,
                             std::int64_t first, std::int64_t last, Stream stream) const {
        if (capture && first != last)
            capture->before_launch(*backend, source, arrays, stream, [&] {
                Capture kept;
                kept.problem = problem.key();
                kept.configuration = match.config.key();
                kept.device = backend->device().fingerprint.name;
                kept.hone = HONE_VERSION;
                kept.first = first;
                kept.last = last;
                return kept;
            });
        run(step, arrays, own_tables, values, first, last, stream);
    }

    // Requires checked arrays and range.
    void run(const std::vector<PlannedLaunch>& plan, std::span<void* const> arrays, std::span<void* const> own_tables,
             std::span<const std::vector<double>> values, std::int64_t first, std::int64_t last, Stream stream) const {
        if (first == last) return;
        expect_not_forked();
        if (reference) {
            reference(problem, arrays, first, last);
            return;
        }
        std::array<void*, most_parameters> arguments;  // NOLINT(cppcoreguidelines-pro-type-member-init): written as far as it is read
        std::size_t count = 0;
        // Launches take pointers to values that they do not change.
        const auto add = [&](const void* value) { arguments[count++] = const_cast<void*>(value); };  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        for (const auto& array : arrays) add(&array);
        for (const auto& table : own_tables) add(&table);
        for (const auto& value : values) add(value.data());
        for (const auto& scalar : source.scalars) add(&scalar.value);
        const int range_first = static_cast<int>(first);
        const int range_last = static_cast<int>(last);
        add(&range_first);
        add(&range_last);
        const std::size_t common = count;
        for (const auto& [entry, launch] : plan) {
            count = common;
            for (const int& constant : launch.constants) add(&constant);
            Dim3 grid = launch.grid;
            if (launch.range_axis >= 0)
                grid[static_cast<std::size_t>(launch.range_axis)] = (last - first + launch.range_per_block - 1) / launch.range_per_block;
            module->launch(entry, grid, launch.block, launch.shared_bytes, stream, arguments.data());
        }
    }
};

Kernel::Kernel(Backend& backend, const Family& family, const Problem& problem, const Match& match, const Limits& limits,
               std::shared_ptr<LaunchCapture> capture) {
    auto state = std::make_shared<State>(backend, family, problem, match, limits);
    state->load();
    state->capture = std::move(capture);
    state_ = std::move(state);
}

Kernel Kernel::reference(Backend& backend, const Family& family, const Problem& problem, const Match& match, const Limits& limits,
                         std::shared_ptr<LaunchCapture> capture) {
    auto state = std::make_shared<State>(backend, family, problem, match, limits);
    state->reference = family.reference;
    state->capture = std::move(capture);
    return Kernel(std::move(state));
}

Kernel::Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {
}
Kernel::~Kernel() = default;
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;

const Problem& Kernel::problem() const {
    return state_->problem;
}
const Match& Kernel::match() const {
    return state_->match;
}
const KernelSource& Kernel::source() const {
    return state_->source;
}
std::int64_t Kernel::range() const {
    return state_->range;
}
bool Kernel::is_reference() const {
    return static_cast<bool>(state_->reference);
}
bool Kernel::needs_binding() const {
    return state_->needs_binding;
}

void Kernel::launch(std::span<void* const> arrays, Stream stream) const {
    launch(arrays, 0, state_->range, stream);
}

void Kernel::launch(std::span<void* const> arrays, std::int64_t first, std::int64_t last, Stream stream) const {
    const State& state = *state_;
    state.check_arrays(arrays.size());
    state.check_range(first, last);
    if (state.needs_binding)
        throw Error("launch of " + state.problem.key(), "this kernel makes tables of its own from the arrays",
                    "bind it once: hone::BoundKernel bound(kernel, arrays)");
    state.check_pointers(arrays);
    state.step_of_application(arrays, state.tables, {}, first, last, stream);
}

struct BoundKernel::State {
    std::shared_ptr<const Kernel> kernel;
    std::vector<void*> arrays;
    std::vector<DeviceArray> own_tables;
    std::vector<void*> tables;                ///< all, in the order of the source
    std::vector<std::vector<double>> values;  ///< bytes of the arrays taken by value, aligned for either precision
};

BoundKernel::BoundKernel(std::shared_ptr<const Kernel> kernel, std::span<void* const> arrays, Stream stream) : state_(std::make_unique<State>()) {
    const Kernel::State& of = *kernel->state_;
    of.check_arrays(arrays.size());
    of.check_pointers(arrays);
    state_->arrays.assign(arrays.begin(), arrays.end());
    state_->tables = of.tables;
    for (std::size_t i = 0; i < of.tables.size(); ++i) {
        if (of.tables[i] != nullptr) continue;
        DeviceArray& table = state_->own_tables.emplace_back(*of.backend, of.source.tables[i].words * bytes_per_word(of.source.precision));
        // NaN: a word that `prepare` leaves out shows.
        constexpr unsigned char poison = 0xff;
        of.backend->fill(table.data(), poison, table.bytes(), stream);
        state_->tables[i] = table.data();
    }
    for (const int array : of.source.by_value)
        state_->values.emplace_back((static_cast<std::size_t>(bytes_by_value(of.source, array)) + sizeof(double) - 1) / sizeof(double));
    state_->kernel = std::move(kernel);
    prepare(stream);
}

BoundKernel::~BoundKernel() = default;
BoundKernel::BoundKernel(BoundKernel&&) noexcept = default;
BoundKernel& BoundKernel::operator=(BoundKernel&&) noexcept = default;

const Kernel& BoundKernel::kernel() const {
    return *state_->kernel;
}

void BoundKernel::prepare(Stream stream) {
    const Kernel::State& of = *state_->kernel->state_;
    for (std::size_t i = 0; i < state_->values.size(); ++i) {
        const int array = of.source.by_value[i];
        of.backend->copy(state_->values[i].data(), state_->arrays[static_cast<std::size_t>(array)], bytes_by_value(of.source, array), stream);
    }
    if (!state_->values.empty()) of.backend->synchronise(stream);
    if (!of.prepare.empty()) of.run(of.prepare, state_->arrays, state_->tables, state_->values, 0, of.range, stream);
}

void BoundKernel::launch(Stream stream) const {
    launch(0, state_->kernel->state_->range, stream);
}

void BoundKernel::launch(std::int64_t first, std::int64_t last, Stream stream) const {
    const Kernel::State& of = *state_->kernel->state_;
    of.check_range(first, last);
    of.step_of_application(state_->arrays, state_->tables, state_->values, first, last, stream);
}

}  // namespace hone::inline v0_1
