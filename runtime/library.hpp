#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "tuning_db/database.hpp"

namespace hone::inline v0_1 {

class LaunchCapture;

/// A problem's kernel on a device, ready to launch: the launch plan of one time step with its code
/// and constant tables loaded.
///
/// Immutable and shared; `launch` may be called from several threads on different streams. The
/// backend must outlive it, and the kernel what it has queued on a stream.
class Kernel {
  public:
    /// Compiles (or takes from the disk cache) and loads the source of `match.config`. Throws Error
    /// with the compiler's reason when it does not compile. Launches are shown to `capture` first,
    /// where there is one (runtime/launch_capture.hpp).
    Kernel(Backend& backend, const Family& family, const Problem& problem, const Match& match, const Limits& limits,
           std::shared_ptr<LaunchCapture> capture = {});
    /// The family's plain loops in place of code, for the cpu where nothing can be compiled.
    static Kernel reference(Backend& backend, const Family& family, const Problem& problem, const Match& match, const Limits& limits,
                            std::shared_ptr<LaunchCapture> capture = {});
    ~Kernel();
    Kernel(Kernel&&) noexcept;
    Kernel& operator=(Kernel&&) noexcept;

    const Problem& problem() const;
    const Match& match() const;  ///< grade and configuration, or what the answer was taken from
    const KernelSource& source() const;
    std::int64_t range() const;  ///< length of the whole range
    bool is_reference() const;   ///< the built-in loops run because nothing can be compiled
    /// The kernel has tables that it makes from the arrays, takes one by value, or has scratch:
    /// `bind` it to arrays, plain `launch` is refused.
    bool needs_binding() const;

    /// One time step over the whole range, or over [first, last). `arrays` are device pointers in
    /// the order of `source().arrays` (host pointers on the cpu). An empty range does nothing.
    /// Throws Error for another number of arrays, a range that is not within the whole one, a
    /// kernel that needs binding, and for arrays that BoundKernel refuses.
    void launch(std::span<void* const> arrays, Stream stream = {}) const;
    void launch(std::span<void* const> arrays, std::int64_t first, std::int64_t last, Stream stream = {}) const;

  private:
    friend class BoundKernel;
    struct State;
    explicit Kernel(std::shared_ptr<const State> state);
    std::shared_ptr<const State> state_;
};

/// A kernel with the application's arrays and with what it makes from them (packed stencils, copies
/// that it takes by value, scratch). Works for every kernel.
///
///     hone::BoundKernel step(kernel, std::array<void*, 3>{u, f, stencil});
///     for (int i = 0; i < 100; ++i) step.launch();
class BoundKernel {
  public:
    /// Allocates the tables and does `prepare`. Keeps the pointers, not the span. Throws Error as
    /// Kernel::launch does, and, naming the array, for one that is null, does not begin at a whole
    /// word, or overlaps another where one of the two is written.
    BoundKernel(std::shared_ptr<const Kernel> kernel, std::span<void* const> arrays, Stream stream = {});
    ~BoundKernel();
    BoundKernel(BoundKernel&&) noexcept;
    BoundKernel& operator=(BoundKernel&&) noexcept;

    const Kernel& kernel() const;
    /// Makes them again, after an array that they come from has changed. Waits for the stream where
    /// something is taken by value.
    void prepare(Stream stream = {});
    /// One time step over the whole range, or over [first, last).
    void launch(Stream stream = {}) const;
    void launch(std::int64_t first, std::int64_t last, Stream stream = {}) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The application's one door: problem in, kernel out. hone::Session (session/session.hpp) makes it
/// with everything that it needs; by hand it is
///
///     hone::DiskCache cache(hone::DiskCache::default_folder());
///     auto backend = hone::make_backend("best", cache);
///     hone::KernelLibrary library(*backend, hone::known_records(hone::built_in_families()), hone::built_in_families());
///     auto kernel = library.kernel(hone::built_in_families().parse_problem("dg_volume equation=maxwell_3d order=5 precision=f32 elements=100000"));
///     kernel->launch(std::array<void*, 3>{q, geometry, rhs});
///
/// Thread-safe: a kernel is looked up, generated, compiled (or loaded from the disk cache) once,
/// however many threads ask for it.
///
/// Where the database has no result of the very problem, `measure` may find one, if it is given: an
/// answer that was measured (tuner/online/first_use.hpp) goes before one that was not. It is called
/// for one problem at a time.
///
/// There is always an answer that runs: a tuned configuration that does not compile or load gives
/// way to the family's safe one, and where nothing can be compiled on the cpu, the family's plain
/// loops run. Both are told to `warn`.
///
/// With HONE_CAPTURE in the environment the first launch of each problem that it names is kept for
/// `hone replay` (docs/capture-and-replay.md).
class KernelLibrary {
  public:
    using Warn = std::function<void(const std::string&)>;
    using Measure = std::function<std::optional<Match>(const Problem&, const Database&)>;

    /// `families` and `backend` must outlive the library. `warn` may be called from several
    /// threads; by default it writes a line to standard error. Throws Error for a
    /// HONE_CAPTURE_LIMIT that is no number of bytes.
    KernelLibrary(Backend& backend, Database database, const Families& families, Warn warn = {}, Measure measure = {});
    ~KernelLibrary();

    /// Throws Error when even the safe configuration does not compile on a GPU; what the compiler
    /// says is in the text.
    std::shared_ptr<const Kernel> kernel(const Problem& problem);
    /// The kernel with a configuration of the caller's own, which does not give way to another.
    /// Throws Error when it is not a member of the problem's space.
    std::shared_ptr<const Kernel> kernel(const Problem& problem, const Config& config);

    /// The database that kernels are looked up in.
    const Database& database() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
