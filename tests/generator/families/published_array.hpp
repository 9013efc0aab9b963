#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "generator/kernel_source.hpp"
#include "generator/workload.hpp"

namespace hone::test {

/// An array as an application has it that knows only what is published of it (`hone emit --plan`,
/// `--json`, hone_kernel_argument): its type, its length, its strides, and the origin, where all
/// indices are 0. Boundary and ghost values have indices below 0 and beyond the extents.
///
///     PublishedArray u(spec, Precision::f64);
///     u(z, y, x) = 1;
///
/// What nobody writes is NaN, or the integer that stands for it. Throws std::out_of_range for a
/// place outside of the array.
class PublishedArray {
  public:
    PublishedArray(const ArraySpec& spec, Precision precision)
        : spec_(spec),
          precision_(precision),
          values_(static_cast<std::size_t>(value_count(spec, precision)), std::numeric_limits<double>::quiet_NaN()) {}

    const ArraySpec& spec() const { return spec_; }
    const std::vector<double>& values() const { return values_; }

    template <typename... Index>
    double& operator()(Index... index) {
        return values_.at(static_cast<std::size_t>(place({static_cast<std::int64_t>(index)...})));
    }

    /// As it lies in memory.
    HostArray in_memory() const {
        HostArray array(precision_, spec_.words);
        const ValueType type = value_type_of(spec_, precision_);
        array.poison(type);
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (!std::isnan(values_[i])) put(array, type, i, values_[i]);
        return array;
    }
    /// The value in memory of number `at`.
    double value_in(const HostArray& array, std::size_t at) const {
        switch (value_type_of(spec_, precision_)) {
            case ValueType::f32:
                return static_cast<double>(static_cast<const float*>(array.data())[at]);
            case ValueType::f64:
                return static_cast<const double*>(array.data())[at];
            case ValueType::i32:
                break;
        }
        return static_cast<double>(static_cast<const std::int32_t*>(array.data())[at]);
    }
    /// The values as the array's type has them, so that a step in double precision starts from what
    /// a kernel starts from.
    void round() {
        const HostArray array = in_memory();
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (!std::isnan(values_[i])) values_[i] = value_in(array, i);
    }

  private:
    std::int64_t place(const std::vector<std::int64_t>& index) const {
        if (index.size() != spec_.strides.size()) throw std::out_of_range(spec_.name + " has other indices: " + spec_.shape);
        return std::inner_product(index.begin(), index.end(), spec_.strides.begin(), spec_.origin);
    }
    static void put(HostArray& array, ValueType type, std::size_t at, double value) {
        if (type == ValueType::f32) static_cast<float*>(array.data())[at] = static_cast<float>(value);
        if (type == ValueType::f64) static_cast<double*>(array.data())[at] = value;
        if (type == ValueType::i32) static_cast<std::int32_t*>(array.data())[at] = static_cast<std::int32_t>(value);
    }

    ArraySpec spec_;
    Precision precision_;
    std::vector<double> values_;
};

/// A problem's arrays by their names.
class PublishedArrays {
  public:
    PublishedArrays(const std::vector<ArraySpec>& specs, Precision precision) {
        for (const ArraySpec& spec : specs) order_.push_back(spec.name), arrays_.emplace(spec.name, PublishedArray(spec, precision));
    }
    PublishedArray& operator[](const std::string& name) { return arrays_.at(name); }
    bool has(const std::string& name) const { return arrays_.contains(name); }
    /// In the order of the arguments.
    const std::vector<std::string>& names() const { return order_; }

  private:
    std::vector<std::string> order_;
    std::map<std::string, PublishedArray> arrays_;
};

}  // namespace hone::test
