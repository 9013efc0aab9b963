#pragma once

#include <string>
#include <string_view>

#include "generator/search_space.hpp"
#include "tuner/replay/recorded_space.hpp"

namespace hone::inline v0_1 {

// T1, the input format of the autotuning community (https://github.com/odgaard/TuningSchema):
// ConfigurationSpace with TuningParameters {Name, Type, Values: a list as a Python expression} and
// Conditions {Parameters, Expression}, and a KernelSpecification, of which hone reads the name
// only.

struct T1Space {
    std::string kernel;  ///< its name; may be empty
    SearchSpace space;   ///< its safe configuration is the parameters' defaults where these are a member, else the first member
    bool defaults_are_safe = false;
};

/// Values and conditions are computed by an evaluator of our own (python_expression.hpp), never by
/// Python. A condition becomes a constraint that is named by its expression. Throws Error naming
/// `file` and line, also when no configuration meets all conditions, or none was found among
/// `most_tried`.
T1Space parse_t1(std::string_view text, const std::string& file, std::size_t most_tried = std::size_t{1} << 20);

/// The parameters of a recorded space, with conditions that leave exactly its members. There are no
/// sources in it: the kernel's name is all that is said of the kernel.
std::string t1_text(const RecordedSpace& recorded);

}  // namespace hone::inline v0_1
