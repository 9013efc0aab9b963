#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "tuning_db/database.hpp"

namespace hone {

/// A problem's kernel on a device, ready to launch: the launch plan of one time step with its code and constant tables loaded.
///
/// Immutable and shared; `launch` may be called from several threads on different streams.
class Kernel {
  public:
    /// Loads `source` on `backend`. Throws Error with the compiler's reason when it does not compile.
    Kernel(Backend& backend, const Family& family, const Problem& problem, const Match& match, const Limits& limits);
    ~Kernel();

    const Problem& problem() const;
    const Match& match() const;  ///< grade and configuration, or what the answer was taken from
    const KernelSource& source() const;
    std::int64_t range() const;  ///< length of the whole range
    bool is_reference() const;   ///< the built-in loops run because there is no compiler

    /// One time step over the whole range. `arrays` are device pointers in the order of `source().arrays` (host pointers on the CPU).
    /// Throws Error when the kernel has tables of its own that are made from the arrays: then `bind` first.
    void launch(std::span<void* const> arrays, Stream stream = {}) const;
    void launch(std::span<void* const> arrays, std::int64_t first, std::int64_t last, Stream stream = {}) const;

  private:
    friend class BoundKernel;
    struct State;
    std::shared_ptr<const State> state_;
};

/// A kernel with the application's arrays and with the tables that it makes from them (packed stencils, scratch).
class BoundKernel {
  public:
    /// Allocates the tables and queues `prepare`.
    BoundKernel(std::shared_ptr<const Kernel> kernel, std::span<void* const> arrays, Stream stream = {});
    ~BoundKernel();
    BoundKernel(BoundKernel&&) noexcept;
    BoundKernel& operator=(BoundKernel&&) noexcept;

    /// Makes the tables again, after an array that they come from has changed.
    void prepare(Stream stream = {});
    /// One time step over the whole range, or over [first, last).
    void launch(Stream stream = {}) const;
    void launch(std::int64_t first, std::int64_t last, Stream stream = {}) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The application's one door: problem in, kernel out.
///
///     hone::DiskCache cache(hone::DiskCache::default_folder());
///     auto backend = hone::make_backend("best", cache);
///     const auto database = hone::Database::load("tuning_db/records", hone::built_in_families());
///     hone::KernelLibrary library(*backend, database, hone::built_in_families());
///     auto kernel = library.kernel(hone::built_in_families().parse_problem("dg_volume equation=maxwell_3d order=5 precision=f32 elements=100000"));
///     kernel->launch(std::array<void*, 3>{q, geometry, rhs});
///
/// Thread-safe: a kernel is looked up, generated, compiled (or loaded from the disk cache) once, however many threads ask for it.
class KernelLibrary {
  public:
    KernelLibrary(Backend& backend, Database database, const Families& families);
    ~KernelLibrary();

    std::shared_ptr<const Kernel> kernel(const Problem& problem);
    /// The same with a configuration of the caller's own. Throws Error when it is not a member of the problem's space.
    std::shared_ptr<const Kernel> kernel(const Problem& problem, const Config& config);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone
