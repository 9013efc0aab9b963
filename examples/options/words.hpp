#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hone::examples {

/// What stands before and behind the = of an option's value, NAME=VALUE. Throws Error naming the
/// option where there is none.
std::pair<std::string, std::string> named_value(const std::string& option, const std::string& word);

/// `count` numbers, separated by commas. Throws Error naming the option for others.
std::vector<double> numbers(const std::string& option, const std::string& word, std::size_t count);

/// "3", or all from 1 to 7 of "1..7". Throws Error naming the option for what does not lie from
/// `low` to `high`.
std::vector<int> range_of(const std::string& option, const std::string& word, int low, int high);

}  // namespace hone::examples
