#pragma once

#include <memory>
#include <optional>
#include <string>

#include "generator/families.hpp"
#include "generator/kernel_source.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// What this hone makes of a record's problem and configuration.
enum class KernelState {
    same,        ///< the text that was measured
    other,       ///< another text: what was measured of the old one may not hold
    impossible,  ///< none: the configuration is no member of today's search space
    foreign      ///< none: its family is not known here
};

std::string name_of(KernelState state);

struct RecordKernel {
    KernelState state = KernelState::foreign;
    std::string reason;                  ///< of an impossible one
    std::optional<KernelSource> source;  ///< of those that are made; of a step that two devices share, the record's own
};

RecordKernel kernel_today(const Record& record, const Families& families);

/// Compiles records' kernels as hone makes them today, each for its own device, which need not be here.
class KernelTrial {
  public:
    KernelTrial();
    ~KernelTrial();
    KernelTrial(const KernelTrial&) = delete;
    KernelTrial& operator=(const KernelTrial&) = delete;

    /// Why the kernel does not compile; empty when it does, or when there is none. Throws MissingError where there is no compiler. Kernels for
    /// processors of another architecture cannot be tried here: nothing is said of them, and `untried` counts them.
    std::string failure(const Record& record, const RecordKernel& kernel);
    int untried() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::tools
