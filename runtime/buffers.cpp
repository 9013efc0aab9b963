#include "runtime/buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "foundation/error.hpp"
#include "foundation/host_memory.hpp"

namespace hone::inline v0_1 {
namespace {

std::string description(const RowLayout& layout) {
    return fmt::format("{} rows of {} values {} at a pitch of {}", layout.rows, layout.row_words, to_string(layout.precision), layout.pitch);
}

RowLayout checked(const RowLayout& layout) {
    const bool fits = layout.pitch == 0 || layout.rows <= std::numeric_limits<std::int64_t>::max() / bytes_per_word(layout.precision) / layout.pitch;
    if (layout.rows < 0 || layout.row_words < 0 || layout.pitch < layout.row_words || !fits)
        throw Error("layout of rows", description(layout), "use sizes of at least 0 whose bytes do not exceed 2^63");
    return layout;
}

}  // namespace

RowLayout plain_rows(Precision precision, std::int64_t row_words, std::int64_t rows) {
    return checked({precision, row_words, rows, row_words});
}

RowLayout padded_rows(Precision precision, std::int64_t row_words, std::int64_t rows, std::int64_t alignment) {
    constexpr std::int64_t most = 256;  // what Backend::allocate aligns to
    const std::int64_t word = bytes_per_word(precision);
    if (alignment < word || alignment > most || (alignment & (alignment - 1)) != 0)
        throw Error("layout of rows", fmt::format("alignment is {} bytes", alignment), fmt::format("use a power of two from {} to {}", word, most));
    const std::int64_t unit = alignment / word;
    if (row_words > std::numeric_limits<std::int64_t>::max() - unit) return checked({precision, row_words, rows, 0});
    return checked({precision, row_words, rows, (row_words + unit - 1) / unit * unit});
}

std::string to_string(HostMemory memory) {
    return memory == HostMemory::pinned ? "pinned" : "pageable";
}

void HostBuffer::Free::operator()(void* pointer) const {
    if (memory == HostMemory::pinned)
        backend->free_pinned(pointer);
    else
        release_host_memory(pointer);
}

HostBuffer::HostBuffer(Backend& backend, const RowLayout& layout, HostMemory memory)
    : layout_(checked(layout)),
      memory_(memory),
      data_(memory == HostMemory::pinned ? backend.allocate_pinned(std::max<std::int64_t>(layout.bytes(), 1))
                                         : allocate_host_memory(layout.bytes(), "host buffer of " + description(layout)),
            Free{&backend, memory}) {
    // No bits of other data in the padding, which travels along; and the pages are there before
    // anybody measures a copy.
    std::memset(data_.get(), 0, static_cast<std::size_t>(layout_.bytes()));
}

void HostBuffer::check(std::int64_t index, std::size_t word_bytes) const {
    if (word_bytes != static_cast<std::size_t>(bytes_per_word(layout_.precision)))
        throw Error("row of a host buffer", fmt::format("values of {} bytes are asked for, it holds {}", word_bytes, to_string(layout_.precision)),
                    "use float for f32, double for f64");
    if (index < 0 || index >= layout_.rows)
        throw Error("row of a host buffer", fmt::format("row {}", index), fmt::format("use rows 0 to {}", layout_.rows - 1));
}

DeviceBuffer::DeviceBuffer(Backend& backend, const RowLayout& layout)
    : backend_(&backend), layout_(checked(layout)), array_(backend, std::max<std::int64_t>(layout.bytes(), 1)) {
}

void DeviceBuffer::check(const HostBuffer& host) const {
    if (host.layout() == layout_) return;
    throw Error("copy of a buffer", fmt::format("the host has {}, the device {}", description(host.layout()), description(layout_)),
                "use one layout for both");
}

void DeviceBuffer::upload(const HostBuffer& from, Stream stream) {
    check(from);
    if (layout_.bytes() != 0) backend_->copy(array_.data(), from.data(), layout_.bytes(), stream);
}

void DeviceBuffer::download(HostBuffer& to, Stream stream) const {
    check(to);
    if (layout_.bytes() != 0) backend_->copy(to.data(), array_.data(), layout_.bytes(), stream);
}

}  // namespace hone::inline v0_1
