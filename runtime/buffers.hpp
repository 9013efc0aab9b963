#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// Rows of values in one piece of memory: row i begins `pitch` words after row i-1.
struct RowLayout {
    Precision precision = Precision::f32;
    std::int64_t row_words = 0;  ///< values of a row
    std::int64_t rows = 0;
    std::int64_t pitch = 0;  ///< words from row to row; what exceeds `row_words` is padding

    std::int64_t bytes() const { return rows * pitch * bytes_per_word(precision); }
    bool operator==(const RowLayout&) const = default;
};

/// Rows without padding.
RowLayout plain_rows(Precision precision, std::int64_t row_words, std::int64_t rows);
/// Rows that each begin at a multiple of `alignment` bytes (128: a cache line of a GPU, two of a
/// processor). Both throw Error for sizes below 0, sizes whose bytes exceed 2^63, or an alignment
/// that is no power of two of at least a word and at most 256.
RowLayout padded_rows(Precision precision, std::int64_t row_words, std::int64_t rows, std::int64_t alignment = 128);

/// Where a host buffer lies: ordinary memory, or page-locked memory that copies at the full rate of
/// the bus and alongside kernels.
enum class HostMemory { pageable, pinned };

std::string to_string(HostMemory memory);

/// Rows in host memory, zero at first. Throws Error with the size asked for when there is no
/// memory.
///
///     const RowLayout layout = padded_rows(Precision::f32, nx + 2, (ny + 2) * (nz + 2));
///     HostBuffer host(backend, layout, HostMemory::pinned);
///     DeviceBuffer device(backend, layout);
///     host.row<float>(0)[0] = 1;
///     device.upload(host);
class HostBuffer {
  public:
    /// The backend must outlive the buffer.
    HostBuffer(Backend& backend, const RowLayout& layout, HostMemory memory);

    const RowLayout& layout() const { return layout_; }
    HostMemory memory() const { return memory_; }
    void* data() { return data_.get(); }
    const void* data() const { return data_.get(); }

    /// The values of a row, without the padding. Throws Error when `Real` is not the layout's
    /// precision or there is no such row.
    template <typename Real>
    std::span<Real> row(std::int64_t index) {
        check(index, sizeof(Real));
        return {static_cast<Real*>(data()) + index * layout_.pitch, static_cast<std::size_t>(layout_.row_words)};
    }
    template <typename Real>
    std::span<const Real> row(std::int64_t index) const {
        check(index, sizeof(Real));
        return {static_cast<const Real*>(data()) + index * layout_.pitch, static_cast<std::size_t>(layout_.row_words)};
    }

  private:
    struct Free {
        Backend* backend;
        HostMemory memory;
        void operator()(void* pointer) const;
    };
    void check(std::int64_t index, std::size_t word_bytes) const;

    RowLayout layout_;
    HostMemory memory_;
    std::unique_ptr<void, Free> data_;
};

/// Rows in device memory, uninitialised at first. Throws Error with the size asked for when there
/// is no memory.
class DeviceBuffer {
  public:
    /// The backend must outlive the buffer.
    DeviceBuffer(Backend& backend, const RowLayout& layout);

    const RowLayout& layout() const { return layout_; }
    void* data() const { return array_.data(); }

    /// Copies everything, padding too, as one transfer in stream order; `Backend::synchronise`
    /// before the host buffer is read or reused. Throws Error when the layouts differ.
    void upload(const HostBuffer& from, Stream stream = {});
    void download(HostBuffer& to, Stream stream = {}) const;

  private:
    void check(const HostBuffer& host) const;

    Backend* backend_;
    RowLayout layout_;
    DeviceArray array_;
};

}  // namespace hone::inline v0_1
