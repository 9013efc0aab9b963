#include "tuner/worker/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/random_words.hpp"
#include "runtime/library.hpp"
#include "runtime/uploader.hpp"
#include "tuner/worker/memory_need.hpp"

namespace hone::inline v0_1 {
namespace {

using Clock = std::chrono::steady_clock;

// Of each guard, at least. A few rows: a kernel that goes wrong by one of them is found.
constexpr std::int64_t guard_bytes = std::int64_t{16} << 10;
// What outputs of the other data are filled with: 12.08 or 2.26e6, and no small whole number.
constexpr unsigned char number_byte = 0x41;

void* moved(void* pointer, std::int64_t bytes) {
    return static_cast<char*>(pointer) + bytes;
}

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The guards of an array: numbers, because a kernel that reads NaN past an end may write what it
// read; of each array others, because it may copy.
HostArray guards_of(std::size_t array, Precision precision, std::int64_t bytes) {
    HostArray guards(precision, bytes / bytes_per_word(precision));
    for (std::int64_t i = 0; i < guards.words(); ++i) guards.set_word(i, random_word(mixed(array), i));
    return guards;
}

StepVerdict found_later(const StepVerdict& verdict, const std::string& when) {
    return {when + " " + verdict.wrong, verdict.error, true};
}

// Values that the reference left as they were poisoned are to stay as the other poison is.
const char* bytes_of(const void* value) {
    return static_cast<const char*>(value);
}

template <typename Value>
void poison_otherwise(const void* before_data, void* after_data, std::int64_t count, unsigned char poison) {
    const auto* before = static_cast<const Value*>(before_data);
    auto* after = static_cast<Value*>(after_data);
    const auto is_poison = [&](const Value& value) {
        if constexpr (std::is_floating_point_v<Value>) {
            return std::isnan(value);
        } else {
            Value poisoned;
            std::memset(&poisoned, poison, sizeof poisoned);
            return value == poisoned;
        }
    };
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i)
        if (is_poison(after[i]) && std::equal(bytes_of(before + i), bytes_of(before + i) + sizeof(Value), bytes_of(after + i)))
            std::memset(after + i, number_byte, sizeof(Value));
}

void poison_otherwise(const ArraySpec& spec, const HostArray& before, HostArray& after) {
    const ValueType type = value_type_of(spec, before.precision());
    const std::int64_t count = value_count(spec, before.precision());
    switch (type) {
        case ValueType::f32:
            return poison_otherwise<float>(before.data(), after.data(), count, poison_byte(type));
        case ValueType::f64:
            return poison_otherwise<double>(before.data(), after.data(), count, poison_byte(type));
        case ValueType::i32:
            break;
    }
    poison_otherwise<std::int32_t>(before.data(), after.data(), count, poison_byte(type));
}

}  // namespace

Verifier::Verifier(Backend& backend, const Family& family, const Problem& problem, std::uint64_t seed)
    : backend_(backend), family_(family), problem_(problem), specs_(family.arrays(problem)) {
    require_memory(problem, bench_memory(specs_, problem.precision(), backend.device().limits.target), memory_for(backend.device()));
    const auto begin = Clock::now();
    workload_ = std::make_unique<Workload>(family.workload(problem, seed));
    reference_seconds_ = seconds_since(begin);
    tolerance_ = workload_->tolerance;
}

Verifier::~Verifier() = default;

GuardedMemory Verifier::kept(const HostArray& array) {
    GuardedMemory memory(backend_, array.bytes(), 0);
    Uploader(backend_).upload(memory.data(), array.data(), array.bytes());
    memory.make_read_only();
    return memory;
}

Verifier::Data Verifier::kept(const Workload& workload) {
    Data data;
    data.tolerance = workload.tolerance;
    data.tolerances = workload.tolerances;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
        data.pristine.push_back(specs_[i].access == Access::out ? GuardedMemory() : kept(workload.arrays[i]));
        data.expected.push_back(workload.expected[i].words() == 0 ? GuardedMemory() : kept(workload.expected[i]));
    }
    return data;
}

void Verifier::place() {
    if (!workload_) return;
    const Precision precision = problem_.precision();
    std::vector<Array> arrays(specs_.size());
    for (std::size_t i = 0; i < specs_.size(); ++i) {
        Array& array = arrays[i];
        array.name = specs_[i].name;
        array.access = specs_[i].access;
        array.type = value_type_of(specs_[i], precision);
        array.values = value_count(specs_[i], precision);
        array.bytes = workload_->arrays[i].bytes();
        array.memory = GuardedMemory(backend_, array.bytes, guard_bytes);
        array.guards = kept(guards_of(i, precision, array.memory.before() + array.memory.behind()));
    }
    Data data = kept(*workload_);
    backend_.synchronise();
    arrays_ = std::move(arrays);
    data_.clear();
    data_.push_back(std::move(data));
    for (const Array& array : arrays_) pointers_.push_back(array.memory.data());
    workload_.reset();
    checksums_ = backend_.checksums(kept_pieces());
}

// Memory that tables and scratch of kernels want stays free.
bool Verifier::has_room_for_other_data() const {
    constexpr double most = 0.75;
    const Target target = backend_.device().limits.target;
    const MemoryBytes needed = bench_memory(specs_, problem_.precision(), target), there = memory_for(backend_.device());
    double kept = 0;
    for (const Array& array : arrays_)
        kept += array.access == Access::inout ? 2.0 * static_cast<double>(array.bytes) : static_cast<double>(array.bytes);
    const bool own = !traits_of(target).host_memory;
    return needed.host < most * there.host && (!own || needed.device + kept < most * there.device);
}

void Verifier::add_other_data(std::uint64_t seed) {
    if (std::exchange(asked_other_, true) || !has_room_for_other_data()) return;
    try {
        Workload other = family_.workload(problem_, seed);
        for (std::size_t i = 0; i < specs_.size(); ++i)
            if (specs_[i].access == Access::out) poison_otherwise(specs_[i], other.arrays[i], other.expected[i]);
        data_.push_back(kept(other));
        backend_.synchronise();
        checksums_ = backend_.checksums(kept_pieces());
    } catch (const MachineError&) {
        throw;
    } catch (const Error&) {  // the device's memory is full: the first data have to do
    }
}

unsigned char Verifier::poison(const Array& array) const {
    return current_ == 0 ? poison_byte(array.type) : number_byte;
}

void Verifier::restore_arrays(bool inputs) {
    const Data& data = data_[current_];
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const Array& array = arrays_[i];
        if (array.access == Access::out)
            backend_.fill(array.memory.data(), poison(array), array.bytes);
        else if (inputs || array.access != Access::in)
            backend_.copy(array.memory.data(), data.pristine[i].data(), array.bytes);
        const std::int64_t before = array.memory.before(), behind = array.memory.behind();
        backend_.copy(moved(array.memory.data(), -before), array.guards.data(), before);
        backend_.copy(moved(array.memory.data(), array.bytes), moved(array.guards.data(), before), behind);
    }
}

void Verifier::restore_from(std::size_t data) {
    current_ = data;
    inputs_intact_ = false;
    restore_arrays(true);
}

void Verifier::begin() {
    if (std::exchange(current_, 0) != 0) inputs_intact_ = false;
    partly_ = std::exchange(inputs_intact_, false);
    restore_arrays(!partly_);
}

void Verifier::begin_timed() {
    if (current_ != 0 || !inputs_intact_) restore_from(0);
    for (std::size_t i = 0; i < arrays_.size(); ++i)
        if (arrays_[i].access == Access::inout) backend_.copy(arrays_[i].memory.data(), data_[0].pristine[i].data(), arrays_[i].bytes);
    inputs_intact_ = true;
}

std::vector<ArrayPair> Verifier::guard_comparisons() const {
    const std::int64_t word = bytes_per_word(problem_.precision());
    const ValueType type = value_type_of(problem_.precision());
    std::vector<ArrayPair> pairs;
    for (const Array& array : arrays_) {
        const std::int64_t before = array.memory.before(), behind = array.memory.behind();
        pairs.push_back({moved(array.memory.data(), -before), array.guards.data(), before / word, type});
        pairs.push_back({moved(array.memory.data(), array.bytes), moved(array.guards.data(), before), behind / word, type});
    }
    return pairs;
}

std::string Verifier::overwritten(std::span<const double> guard_differences) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        if (guard_differences[2 * i] > 0) return "it wrote before the beginning of array " + arrays_[i].name;
        if (guard_differences[2 * i + 1] > 0) return "it wrote past the end of array " + arrays_[i].name;
    }
    return {};
}

std::string Verifier::overwritten() {
    std::string found = overwritten(backend_.largest_differences(guard_comparisons()));
    if (!found.empty()) inputs_intact_ = false;  // nor are the guards
    return found;
}

std::vector<MemoryPiece> Verifier::kept_pieces() const {
    std::vector<MemoryPiece> pieces;
    if (traits_of(backend_.device().limits.target).host_memory) return pieces;
    const auto add = [&](const GuardedMemory& memory) { pieces.push_back({memory.data(), memory.bytes()}); };
    for (const Array& array : arrays_) add(array.guards);
    for (const Data& data : data_)
        for (const auto* arrays : {&data.pristine, &data.expected}) std::for_each(arrays->begin(), arrays->end(), add);
    return pieces;
}

bool Verifier::intact() {
    return workload_ || backend_.checksums(kept_pieces()) == checksums_;
}

StepVerdict Verifier::step(const BoundKernel& kernel) {
    kernel.launch();
    backend_.synchronise();
    const Data& data = data_[current_];
    std::vector<ArrayPair> pairs = guard_comparisons();
    const std::size_t guards = pairs.size();
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const void* const right = (data.expected[i].data() != nullptr ? data.expected : data.pristine)[i].data();
        pairs.push_back({arrays_[i].memory.data(), right, arrays_[i].values, arrays_[i].type});
    }
    const std::vector<double> differences = backend_.largest_differences(pairs);
    if (const std::string found = overwritten(std::span(differences).first(guards)); !found.empty())
        return {found, std::numeric_limits<double>::infinity(), false};
    StepVerdict verdict;
    std::string where;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const double found = weighed_difference(differences[guards + i], data.tolerance, data.tolerances, i);
        if (found <= verdict.error) continue;
        verdict.error = found;
        where = arrays_[i].name;
    }
    if (verdict.error > data.tolerance)
        verdict.wrong = fmt::format("{} differs from the reference by {:.3g}, allowed are {:.3g}", where, verdict.error, data.tolerance);
    return verdict;
}

StepVerdict Verifier::first_step(BoundKernel& kernel) {
    StepVerdict verdict = step(kernel);
    if (std::exchange(partly_, false) && !verdict.right()) {  // a later step of a kernel before may have changed an input
        restore_from(0);
        kernel.prepare();
        verdict = step(kernel);
    }
    inputs_intact_ = verdict.right();
    return verdict;
}

StepVerdict Verifier::later_step(BoundKernel& kernel, std::int64_t calls, double seconds) {
    // On a busy machine a step takes a hundred times as long: what goes wrong in the first dozens
    // of calls is worth more time.
    constexpr std::int64_t at_a_time = 8, dozens = 48;
    constexpr double more = 4;
    const auto begin = Clock::now();
    const auto in_time = [&] { return seconds_since(begin) < (calls < dozens ? more * seconds : seconds); };
    while (calls < many_calls && in_time()) {
        for (std::int64_t i = 0; i < at_a_time; ++i) kernel.launch();
        backend_.synchronise();
        calls += at_a_time;
    }
    StepVerdict verdict;
    for (std::size_t data = 0; data < data_.size() && verdict.right(); ++data) {
        restore_from(data);
        kernel.prepare();
        verdict = step(kernel);
    }
    if (verdict.right()) return verdict;
    return found_later(verdict, fmt::format("in a step from restored inputs, after {} others or more,", calls));
}

StepVerdict Verifier::repeated(const std::shared_ptr<const Kernel>& kernel, double seconds) {
    constexpr int least = 4, most = 32;
    const auto begin = Clock::now();
    restore_from(0);
    BoundKernel bound(kernel, pointers_);
    for (int steps = 0; steps < most && (steps < least || seconds_since(begin) < seconds); ++steps) {
        if (steps > 0) {
            restore_from(static_cast<std::size_t>(steps) % data_.size());
            bound.prepare();
        }
        StepVerdict verdict = step(bound);
        if (verdict.right()) continue;
        if (steps == 0) return verdict;
        return found_later(verdict, fmt::format("in step {}, from {} inputs,", steps + 1, current_ == 0 ? "the same" : "other"));
    }
    return {};
}

std::vector<HostArray> Verifier::arrays() {
    std::vector<HostArray> arrays;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
        HostArray& copy = arrays.emplace_back(problem_.precision(), specs_[i].words);
        backend_.copy(copy.data(), arrays_[i].memory.data(), copy.bytes());
    }
    backend_.synchronise();
    return arrays;
}

}  // namespace hone::inline v0_1
