#include "generator/problem.hpp"

#include <algorithm>
#include <cmath>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {

Problem::Problem(std::string family, std::vector<Assignment> parameters, std::vector<std::string> extents)
    : family_(std::move(family)), parameters_(std::move(parameters)), extents_(std::move(extents)) {
    std::vector<Assignment> without_extents;
    for (const auto& parameter : parameters_)
        if (std::find(extents_.begin(), extents_.end(), parameter.name) == extents_.end()) without_extents.push_back(parameter);
    key_ = family_ + " " + assignments_text(parameters_, " ");
    class_key_ = family_ + " " + assignments_text(without_extents, " ");
    hash_ = std::hash<std::string>{}(key_);
}

Precision Problem::precision() const {
    return word("precision") == "f32" ? Precision::f32 : Precision::f64;
}

}  // namespace hone::inline v0_1
