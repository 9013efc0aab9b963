#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/block.hpp"
#include "interfaces/kernel_folder/description.hpp"

namespace hone::inline v0_1::kernel_folder {

/// Arrays that a wrapped CUDA source reads from constant memory of its own: `__constant__ float
/// d_filter[225];` beside the argument d_filter. Hone fills them by a launch of its own at the
/// beginning of each step, as they belong to a module, which several bindings of a kernel share.
/// Kernels cannot write constant memory, so that these arrays lie in the device's memory instead.
class ConstantArrays {
  public:
    /// Those of the arguments in constant memory whose names `text` declares.
    ConstantArrays(const Description& description, std::string_view text, const Problem& problem);

    bool any() const { return !arrays_.empty(); }
    /// The launch that fills them.
    Launch launch() const;
    /// The kernel that fills them, with the parameters of all entries, and what makes constant
    /// memory the device's from here on.
    void write_before(Block& text, const std::string& parameters_of_entries) const;
    /// What that kernel calls, behind the source.
    std::string behind() const;

  private:
    struct Array {
        std::string name;
        std::int64_t bytes = 0;
    };
    std::string parameters() const;

    std::vector<Array> arrays_;
};

}  // namespace hone::inline v0_1::kernel_folder
