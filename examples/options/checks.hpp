#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace hone::examples {

/// A check of numbers whose message says what was given and what belongs there; CLI11's own print
/// the largest double to its last digit.
template <typename Holds>
CLI::Validator number_that(const Holds& holds, const std::string& words) {
    return {[holds, words](std::string& text) {
                double value = 0;
                const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
                return number && holds(value) ? std::string() : "\"" + text + "\" is not a number " + words;
            },
            words};
}

inline CLI::Validator positive() {
    return number_that([](double value) { return value > 0; }, "above 0");
}

/// CLI11's own Range takes what is not a number.
inline CLI::Validator between(double low, double high) {
    return number_that([low, high](double value) { return low <= value && value <= high; }, fmt::format("from {} to {}", low, high));
}

inline CLI::Validator not_negative() {
    return number_that([](double value) { return value >= 0; }, "from 0 on");
}

}  // namespace hone::examples
