#include "solvers/acoustics/edge_kernels.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "foundation/error.hpp"
#include "solvers/item_kernels/item_kernels.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

constexpr int values_of_item = 8;

// Entries have the same pointers, as all that hone's backends load: a field, places in it, and
// words.
constexpr const char* body = R"cpp(
    // Item after item of each plan: values beyond both ends of an axis. `low` and `high` say how they continue there: 1 even, -1 odd, 0 not at all.
    // A plan of depth 0 has receivers, which hear a step. The source adds its amount of it before the one item that reads its word does, which may be
    // one of depth -1 that does nothing else. Along the fastest axis an item is a value, else some of a line, which share its place.
    KERNEL mirror(real* source, const long long* plans, real* amounts, int first, int last, int step) {
        enum { field, items, cells, stride, across, across_stride, lines, others_stride, depth, low, high, on_faces, plan_words };
        enum { places = cells, traces = stride };
        const auto load = [=](real* word) {
            if (word == source) *word += amounts[step];
            return *word;
        };
        FOR_ITEMS(item) {
            const long long* plan = plans;
            int i = item;
            for (; i >= (int)plan[items]; plan += plan_words) i -= (int)plan[items];
            if (plan[depth] < 0) {
                if (step >= 0) load(source);
                continue;
            }
            if (plan[depth] == 0) {
                if (step >= 0) ((real*)plan[traces])[step * plan[items] + i] = ((const real*)plan[field])[((const long long*)plan[places])[i]];
                continue;
            }
            // Neighbouring items lie side by side in memory.
            const long long s = plan[stride], n = plan[cells];
            const int d = (int)plan[depth], l = (int)plan[lines], width = (int)plan[across], low_sign = (int)plan[low], high_sign = (int)plan[high];
            const int line = s == 1 ? i / d : i % l, begin = s == 1 ? i % d : i / l * values, end = s == 1 ? begin + 1 : begin + values;
            real* const at = (real*)plan[field] + (line % width) * plan[across_stride] + (line / width) * plan[others_stride];
            // The cell that lies as far inside as one outside; on faces, the wall itself comes first.
            const int face = plan[on_faces] != 0 ? 1 : 0;
            real below[values], above[values];
            for (int v = 0; v < values; ++v) {
                const int k = begin + v;
                if (k >= end || k >= d) break;
                below[v] = above[v] = 0;
                if (face != 0 && k == 0) continue;
                if (low_sign != 0) below[v] = (real)low_sign * load(at + k * s);
                if (high_sign != 0) above[v] = (real)high_sign * load(at + (n - k - 1 + face) * s);
            }
            for (int v = 0; v < values; ++v) {
                const int k = begin + v;
                if (k >= end || k >= d) break;
                const bool wall = face != 0 && k == 0;
                if (wall ? low_sign == -1 : low_sign != 0) at[(face - 1 - k) * s] = below[v];
                if (wall ? high_sign == -1 : high_sign != 0) at[(n + k) * s] = above[v];
            }
        }
    }

    KERNEL inject(real* field, const long long* places, real* amounts, int first, int last, int step) {
        FOR_ITEMS(i) field[places[i]] += amounts[step];
    }

    KERNEL record(real* field, const long long* places, real* traces, int first, int last, int step) {
        FOR_ITEMS(i) traces[(long long)step * (last - first) + i] = field[places[i]];
    }
)cpp";

}  // namespace

KernelSource EdgeKernels::source(Target target, Precision precision) {
    KernelSource source;
    source.target = target;
    source.precision = precision;
    source.text = item_kernels("Walls, a source and receivers of acoustic waves.", target, precision,
                               fmt::format("\n    constexpr int values = {};\n{}", values_of_item, body));
    source.entries = {"mirror", "inject", "record"};
    source.arrays = {{"field", Access::inout, 0, "", ""}, {"places", Access::in, 0, "", ""}, {"words", Access::inout, 0, "", ""}};
    source.step = {{.entry = "mirror", .constants = {0}}, {.entry = "inject", .constants = {0}}, {.entry = "record", .constants = {0}}};
    return source;
}

EdgeKernels::EdgeKernels(Backend& backend, Precision precision) : target_(backend.device().limits.target) {
    const CompileOutcome outcome = backend.compiler().compile(source(target_, precision));
    if (!outcome.ok)
        throw Error("the kernels for walls, source and receivers", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
    module_ = backend.load(outcome.code);
    mirror_ = module_->entry("mirror");
    inject_ = module_->entry("inject");
    record_ = module_->entry("record");
}

void EdgeKernels::launch(int entry, void* field, const void* places, void* words, int items, std::vector<int> constants, Stream stream) const {
    int first = 0, last = items;
    std::vector<void*> arguments{static_cast<void*>(&field), static_cast<void*>(&places), static_cast<void*>(&words), &first, &last};
    for (int& constant : constants) arguments.push_back(&constant);
    module_->launch(entry, item_blocks(items), {item_threads, 1, 1}, 0, stream, arguments.data());
}

EdgeKernels::Mirrors EdgeKernels::mirrors(Backend& backend, const std::vector<Mirror>& all, const Receivers& receivers, bool adds_apart) {
    std::vector<std::int64_t> words;  // as the kernel has them
    const auto address = [](const void* pointer) { return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(pointer)); };
    std::int64_t items = 0;
    for (const Mirror& plan : all) {
        const std::int64_t lines = std::int64_t{plan.across} * plan.others;
        const std::int64_t own = lines * (plan.stride == 1 ? plan.depth : ((plan.depth + values_of_item - 1) / values_of_item));
        items += own;
        words.insert(words.end(), {address(plan.first), own, plan.cells, plan.stride, plan.across, plan.across_stride, lines, plan.others_stride,
                                   plan.depth, plan.low, plan.high, plan.on_faces ? 1 : 0});
    }
    if (receivers.count > 0) {
        items += receivers.count;
        words.insert(words.end(), {address(receivers.field), receivers.count, address(receivers.places), address(receivers.traces)});
        words.resize(words.size() + 8);  // the rest of a plan, 0
    }
    if (adds_apart) words.insert(words.end(), {0, 1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0}), ++items;
    if (items > std::numeric_limits<int>::max()) throw Error("walls", fmt::format("{} values beyond them", items), "use a smaller grid");
    if (items == 0) return {};
    Mirrors result{DeviceArray(backend, std::ssize(words) * static_cast<std::int64_t>(sizeof(std::int64_t))), static_cast<int>(items)};
    backend.copy(result.plans.data(), words.data(), result.plans.bytes());
    backend.synchronise();
    return result;
}

void EdgeKernels::mirror(const Mirrors& of, int step, const Source& source) const {
    if (of.items > 0) launch(mirror_, source.word, of.plans.data(), source.amounts, of.items, {step});
}

void EdgeKernels::inject(void* field, const void* places, const void* amounts, int step, Stream stream) const {
    launch(inject_, field, places, const_cast<void*>(amounts), 1, {step}, stream);
}

void EdgeKernels::record(void* field, const void* places, void* traces, int count, int step) const {
    if (count > 0) launch(record_, field, places, traces, count, {step});
}

}  // namespace hone::inline v0_1::solvers::seismic
