#include "interfaces/c/arrays.hpp"

#include <fmt/format.h>

#include "runtime/overlap.hpp"

namespace hone::inline v0_1::languages {
namespace {

const char* name_of(std::int32_t type) {
    switch (type) {
        case HONE_F32:
            return "HONE_F32";
        case HONE_F64:
            return "HONE_F64";
        case HONE_I32:
            return "HONE_I32";
        default:
            return "no hone_type";
    }
}

const char* memory_of(std::int32_t place) {
    switch (place) {
        case HONE_HOST:
            return "host memory";
        case HONE_CUDA:
            return "memory of a CUDA device";
        default:
            return "no hone_place";
    }
}

struct Argument {
    const OpenSession& session;
    const KernelSource& source;
    const ArraySpec& spec;
    std::string where;

    void check(const hone_array& array) const {
        const hone_type type = type_of(source, spec);
        const std::int64_t count = count_of(source, spec);
        const std::int64_t bytes = count * bytes_of(type);
        const std::string remedy = fmt::format("give {} elements of {}, shaped {}", count, name_of(type), spec.shape);
        const auto refuse = [&](const std::string& found, const std::string& otherwise = {}) {
            throw Refusal(HONE_BAD_ARGUMENT, where, found, otherwise.empty() ? remedy : otherwise);
        };
        if (array.type != type) refuse(fmt::format("its type is {} ({})", array.type, name_of(array.type)));
        if (array.count < count) refuse(fmt::format("it has {} elements", array.count));
        const hone_place place = place_of(source.target);
        if (array.place != HONE_ANYWHERE && array.place != place)
            refuse(fmt::format("it lies in {}", memory_of(array.place)),
                   fmt::format("this kernel's arrays lie in {}; copy it there", memory_of(place)));
        if (bytes == 0) return;
        if (array.data == nullptr) refuse("it is null");
        if (const int multiple = address_multiple(source, spec);
            reinterpret_cast<std::uintptr_t>(array.data) % static_cast<std::uintptr_t>(multiple) != 0)
            refuse(fmt::format("its address {} is not a multiple of {} bytes", fmt::ptr(array.data), multiple));
        if (const std::int64_t allocated = session.allocated_from(array.data); allocated >= 0 && allocated < bytes)
            refuse(fmt::format("only {} bytes are left of what was allocated there, of {} needed", allocated, bytes));
    }
};

}  // namespace

hone_place place_of(Target target) {
    return traits_of(target).host_memory ? HONE_HOST : HONE_CUDA;
}

hone_type type_of(const KernelSource& source, const ArraySpec& array) {
    const ValueType type = value_type_of(array, source.precision);
    return type == ValueType::i32 ? HONE_I32 : type == ValueType::f32 ? HONE_F32 : HONE_F64;
}

std::int64_t bytes_of(hone_type type) {
    return type == HONE_F64 ? 8 : 4;
}

std::int64_t count_of(const KernelSource& source, const ArraySpec& array) {
    return value_count(array, source.precision);
}

void BoundArrays::require_there(const char* function) const {
    for (const Allocated& array : allocated_)
        if (array.freed->load(std::memory_order_relaxed))
            throw Refusal(HONE_BAD_ARGUMENT, function, array.where + " was freed by hone_array_free", "close the kernel that is bound to it before");
}

BoundArrays checked_arrays(const char* function, const OpenSession& session, const Problem& problem, const KernelSource& source,
                           const hone_array* arrays, std::int32_t count) {
    if (count != std::ssize(source.arrays)) {
        std::string names;
        for (const ArraySpec& spec : source.arrays) names += (names.empty() ? "" : ", ") + spec.name;
        throw Refusal(HONE_BAD_ARGUMENT, fmt::format("{}, arrays of {}", function, problem.key()), fmt::format("{} arrays", count),
                      fmt::format("give {}: {}", source.arrays.size(), names));
    }
    given(function, arrays, "arrays");
    BoundArrays bound;
    std::vector<const void*> addresses;
    const auto where = [&](std::size_t i) { return fmt::format("{}, array {} ({}) of {}", function, i, source.arrays[i].name, problem.key()); };
    for (std::size_t i = 0; i < source.arrays.size(); ++i) {
        const ArraySpec& spec = source.arrays[i];
        Argument{session, source, spec, where(i)}.check(arrays[i]);
        bound.add(arrays[i].data, fmt::format("array {} ({}) of {}", i, spec.name, problem.key()), session.freed_flag_of(arrays[i].data));
        addresses.push_back(arrays[i].data);
        if (const auto other = overlapped_array(source, addresses, i))
            throw Refusal(HONE_BAD_ARGUMENT, where(i),
                          fmt::format("it overlaps array {} ({}), and one of them is written", *other, source.arrays[*other].name),
                          "give each memory of its own");
    }
    return bound;
}

}  // namespace hone::inline v0_1::languages
