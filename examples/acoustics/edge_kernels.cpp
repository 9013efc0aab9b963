#include "examples/acoustics/edge_kernels.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "examples/item_kernels/item_kernels.hpp"
#include "generator/error.hpp"

namespace hone::examples::seismic {
namespace {

// Entries have the same pointers, as all that hone's backends load: a field, places in it, and
// words.
constexpr const char* body = R"cpp(
    // Item i is a line along the axis; low and high say how values continue beyond its ends: 1 even, -1 odd, 0 not at all.
    KERNEL mirror(real* field, const long long*, real*, int first, int last, int cells, int stride, int across, int across_stride, int others_stride,
                  int depth, int low, int high, int on_faces) {
        const long long s = stride;
        FOR_ITEMS(i) {
            real* const line = field + (i % across) * (long long)across_stride + (i / across) * (long long)others_stride;
            for (int k = 0; k < depth; ++k) {
                // The cell that lies as far inside as this one outside; on faces, the wall itself comes first.
                if (on_faces && k == 0) {
                    if (low == -1) line[0] = 0;
                    if (high == -1) line[cells * s] = 0;
                    continue;
                }
                const int inside = k, outside = on_faces ? -k : -1 - k;
                const int high_inside = on_faces ? cells - k : cells - 1 - k;
                if (low != 0) line[outside * s] = low * line[inside * s];
                if (high != 0) line[(cells + k) * s] = high * line[high_inside * s];
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
    source.text = item_kernels("Walls, a source and receivers of acoustic waves.", target, precision, body);
    source.entries = {"mirror", "inject", "record"};
    source.arrays = {{"field", Access::inout, 0, "", ""}, {"places", Access::in, 0, "", ""}, {"words", Access::inout, 0, "", ""}};
    source.step = {
        {.entry = "mirror", .constants = std::vector<int>(9)}, {.entry = "inject", .constants = {0}}, {.entry = "record", .constants = {0}}};
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

void EdgeKernels::mirror(void* first, const Mirror& plan) const {
    const std::int64_t lines = std::int64_t{plan.across} * plan.others;
    if (lines > std::numeric_limits<int>::max()) throw Error("a wall", fmt::format("{} cells", lines), "use a smaller grid");
    launch(mirror_, first, nullptr, nullptr, static_cast<int>(lines),
           {plan.cells, plan.stride, plan.across, plan.across_stride, plan.others_stride, plan.depth, plan.low, plan.high, plan.on_faces ? 1 : 0});
}

void EdgeKernels::inject(void* field, const void* places, const void* amounts, int step, Stream stream) const {
    launch(inject_, field, places, const_cast<void*>(amounts), 1, {step}, stream);
}

void EdgeKernels::record(void* field, const void* places, void* traces, int count, int step) const {
    if (count > 0) launch(record_, field, places, traces, count, {step});
}

}  // namespace hone::examples::seismic
