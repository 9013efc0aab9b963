// Kernels and bound kernels.
#include <fmt/format.h>

#include "interfaces/c/arrays.hpp"
#include "interfaces/c/grades.hpp"
#include "interfaces/c/open_session.hpp"
#include "interfaces/c/structures.hpp"

namespace hone::inline v0_1::languages {
namespace {

// A bound kernel whose arrays are there, as far as hone knows.
BoundKernel& there(const char* function, const hone_bound* bound) {
    const hone_bound& handle = *open_handle<hone_bound>(function, bound);
    handle.arrays.require_there(function);
    return *handle.bound;
}

hone_access access_of(Access access) {
    if (access == Access::inout) return HONE_INOUT;
    return access == Access::in ? HONE_IN : HONE_OUT;
}

}  // namespace
}  // namespace hone::inline v0_1::languages

using namespace hone::languages;

hone_status hone_session_kernel(hone_session* session, const char* problem, hone_kernel** kernel) {
    return guarded(__func__, [&](const char* function) {
        OpenSession& open = *open_handle<hone_session>(function, session)->content;
        given(function, kernel, "kernel");
        *kernel = open.kernel(given(function, problem, "problem"));
    });
}

hone_status hone_kernel_describe(const hone_kernel* kernel, hone_kernel_info* info) {
    return guarded(__func__, [&](const char* function) {
        const hone_kernel& handle = *open_handle<hone_kernel>(function, kernel);
        const hone::Kernel& of = *handle.kernel;
        const hone::Family& family = handle.session->families().of(of.problem());
        const hone::Counts counts = family.counts(of.problem());
        hone_kernel_info own{};
        own.problem = of.problem().key().c_str();
        own.configuration = handle.configuration.c_str();
        own.note = of.match().note.c_str();
        own.source = of.source().text.c_str();
        own.range_unit = family.range_unit.c_str();
        own.range = of.range();
        own.grade = grade_of(of.match().grade);
        own.arguments = static_cast<std::int32_t>(of.source().arrays.size());
        own.plain_loops = of.is_reference() ? 1 : 0;
        own.place = place_of(of.source().target);
        own.updates = counts.updates;
        own.operations = counts.operations;
        own.bytes = counts.bytes;
        write(function, own, info, "info");
    });
}

hone_status hone_kernel_argument(const hone_kernel* kernel, std::int32_t index, hone_argument* argument) {
    return guarded(__func__, [&](const char* function) {
        const hone::KernelSource& source = open_handle<hone_kernel>(function, kernel)->kernel->source();
        if (index < 0 || index >= std::ssize(source.arrays))
            throw Refusal(HONE_BAD_ARGUMENT, function, fmt::format("argument {}", index),
                          fmt::format("this kernel has 0 to {}", source.arrays.size() - 1));
        const hone::ArraySpec& spec = source.arrays[static_cast<std::size_t>(index)];
        hone_argument own{};
        own.name = spec.name.c_str();
        own.shape = spec.shape.c_str();
        own.help = spec.help.c_str();
        own.type = type_of(source, spec);
        own.access = access_of(spec.access);
        own.count = count_of(source, spec);
        own.origin = spec.origin;
        own.strides = spec.strides.empty() ? nullptr : spec.strides.data();
        own.indices = static_cast<std::int32_t>(spec.strides.size());
        own.alignment = address_multiple(source, spec);
        write(function, own, argument, "argument");
    });
}

hone_status hone_kernel_bind(hone_kernel* kernel, const hone_array* arrays, std::int32_t count, void* stream, hone_bound** bound) {
    return guarded(__func__, [&](const char* function) {
        const hone_kernel& handle = *open_handle<hone_kernel>(function, kernel);
        given(function, bound, "bound");
        BoundArrays to = checked_arrays(function, *handle.session, handle.kernel->problem(), handle.kernel->source(), arrays, count);
        auto with = std::make_unique<hone::BoundKernel>(handle.kernel, to.addresses(), hone::Stream{stream});
        *bound = new hone_bound(handle.session->shared_from_this(), std::move(to), std::move(with));
    });
}

hone_status hone_bound_launch(const hone_bound* bound, void* stream) {
    return guarded(__func__, [&](const char* function) { there(function, bound).launch({stream}); });
}

hone_status hone_bound_launch_range(const hone_bound* bound, std::int64_t first, std::int64_t last, void* stream) {
    return guarded(__func__, [&](const char* function) { there(function, bound).launch(first, last, {stream}); });
}

hone_status hone_bound_run(hone_bound* bound, std::int64_t steps, void* stream) {
    return guarded(__func__, [&](const char* function) {
        const hone::BoundKernel& kernel = there(function, bound);
        if (steps < 0) throw Refusal(HONE_BAD_ARGUMENT, function, fmt::format("{} steps", steps), "give 0 or more");
        for (std::int64_t step = 0; step < steps; ++step) kernel.launch({stream});
        bound->session->backend().synchronise({stream});
    });
}

hone_status hone_bound_prepare(hone_bound* bound, void* stream) {
    return guarded(__func__, [&](const char* function) { there(function, bound).prepare({stream}); });
}

hone_status hone_bound_close(hone_bound* bound) {
    return guarded(__func__, [&](const char* function) {
        if (!open_handle<hone_bound>(function, bound)->close(hone_bound::kind)) return;
        std::unique_ptr<hone_bound> shell(bound);
        shell->bound.reset();
        shell->session.reset();
        retire(std::move(shell));
    });
}
