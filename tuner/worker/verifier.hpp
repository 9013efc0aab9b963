#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/family.hpp"
#include "runtime/backend.hpp"
#include "tuner/worker/guarded_memory.hpp"

namespace hone::inline v0_1 {

class BoundKernel;
class Kernel;

/// What was found in a step of a kernel, or in several.
struct StepVerdict {
    std::string wrong;   ///< in words; empty: it is right
    double error = 0;    ///< largest difference from the reference, weighed; infinity where it wrote outside of its arrays
    bool later = false;  ///< it was not found in the first step

    bool right() const { return wrong.empty(); }
};

/// A problem's data on a device, and the verdict on any kernel's steps from them: the one verifier
/// of tuning, of `hone verify`, `hone check` and `hone replay`, and of tuning in applications.
///
/// It keeps copies of the inputs and the expected outputs on the device. A step starts from
/// restored inputs and poisoned outputs. After it all arrays are compared with the reference, value
/// by value (`difference` in generator/workload.hpp); inputs, too, because a kernel must not change
/// them. Guard words lie before and after each array; processors allow no access beyond these
/// (GuardedMemory), and none but reading to the copies. Of other devices' copies there are
/// checksums (`intact`).
///
///     Verifier verifier(backend, family, problem, seed);
///     verifier.place();
///     const StepVerdict verdict = verifier.repeated(kernel, 0.5);
class Verifier {
  public:
    /// Makes the data on the host. Throws Error, before it allocates anything, when host or device
    /// have no room for them.
    Verifier(Backend& backend, const Family& family, const Problem& problem, std::uint64_t seed);
    ~Verifier();
    Verifier(const Verifier&) = delete;
    Verifier& operator=(const Verifier&) = delete;

    const Problem& problem() const { return problem_; }
    double tolerance() const { return tolerance_; }
    double reference_seconds() const { return reference_seconds_; }  ///< of the constructor, for random data and the reference's answer

    /// Lays the data out on the device, unless they lie there.
    void place();
    /// The arrays that kernels work on. They are placed.
    std::span<void* const> pointers() const { return pointers_; }

    /// Makes ready for a kernel's first step. Inputs that no step is to change stay as they are
    /// where the last kernel is known to have left them alone in its own first step.
    void begin();
    /// One step of a kernel that was bound after `begin`. Where that did not restore everything and
    /// the step is wrong, another one from what is.
    StepVerdict first_step(BoundKernel& kernel);
    /// Makes ready for steps that are only timed. Right after a right first step that is little:
    /// its outputs were compared with the reference, its inputs with themselves.
    void begin_timed();
    /// A step from restored arrays after `calls` others, of each of the data: finds kernels that
    /// count calls. Where there were fewer than `many_calls`, further ones come before, for
    /// `seconds` at most, or four times that where there were fewer than 48.
    StepVerdict later_step(BoundKernel& kernel, std::int64_t calls, double seconds);
    static constexpr std::int64_t many_calls = 128;

    /// Up to 32 steps of a kernel, at least four and for `seconds`, each from restored arrays and
    /// compared, from the first data and the other ones in turn: finds what depends on calls
    /// before, on the data, on what was in memory, and on chance.
    StepVerdict repeated(const std::shared_ptr<const Kernel>& kernel, double seconds);
    /// Makes the other data, from another seed: outputs are poisoned with a number there, where
    /// those of the first data are NaN. Nothing where there is no memory for them, or they were
    /// made.
    void add_other_data(std::uint64_t seed);

    /// Names an array that was written past an end; empty when none was. What restores the arrays
    /// next restores all.
    std::string overwritten();
    /// Whether the kept copies are as they were made. On processors they are: nobody can write
    /// there.
    bool intact();
    /// The arrays as they are now.
    std::vector<HostArray> arrays();
    /// All arrays as they are before a step, of the first data (0) or the other ones (1).
    void restore_from(std::size_t data);

  private:
    struct Array {
        std::string name;
        Access access = Access::in;
        ValueType type = ValueType::f32;
        std::int64_t values = 0;
        std::int64_t bytes = 0;
        GuardedMemory memory;
        GuardedMemory guards;  ///< what has to lie before it, and behind it, one after the other
    };
    /// What a step starts from and has to end with.
    struct Data {
        std::vector<GuardedMemory> pristine;  ///< of arrays that are read
        std::vector<GuardedMemory> expected;  ///< of arrays that are written
        double tolerance = 0;
        std::vector<double> tolerances;
    };

    Data kept(const Workload& workload);
    GuardedMemory kept(const HostArray& array);
    std::vector<MemoryPiece> kept_pieces() const;
    void restore_arrays(bool inputs);
    StepVerdict step(const BoundKernel& kernel);
    std::string overwritten(std::span<const double> guard_differences) const;
    std::vector<ArrayPair> guard_comparisons() const;
    unsigned char poison(const Array& array) const;
    bool has_room_for_other_data() const;

    Backend& backend_;
    const Family& family_;
    Problem problem_;
    std::vector<ArraySpec> specs_;
    std::unique_ptr<Workload> workload_;  ///< until it lies on the device
    std::vector<Array> arrays_;
    std::vector<void*> pointers_;
    std::vector<Data> data_;  ///< the first, and the other ones where there are
    std::size_t current_ = 0;
    std::vector<std::uint64_t> checksums_;
    bool asked_other_ = false;
    double tolerance_ = 0;
    double reference_seconds_ = 0;
    bool inputs_intact_ = false;  ///< as far as the last kernel's first step shows
    bool partly_ = false;         ///< `begin` left inputs as they were
};

}  // namespace hone::inline v0_1
