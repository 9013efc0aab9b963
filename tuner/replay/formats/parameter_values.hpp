#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "foundation/json.hpp"
#include "tuner/replay/recorded_space.hpp"

namespace hone::inline v0_1 {

// The values of parameters in the files of other tuners: whole numbers, numbers, true and false,
// words.

/// A value as JSON, as its file wrote it. Throws Error for null, an array or an object.
std::string written_value(const JsonPlace& place);

/// The text of a value without quotes: 16, 0.5, true, float4.
std::string plain_value(const std::string& written);

/// The inverse: what reads as a number, as true or as false is that, anything else is a word.
std::string written_of(const std::string& plain);

/// As Python prints it, and so as it stands in the keys of Kernel Tuner: True and False with
/// capitals.
std::string python_value(const std::string& written);

/// Where values stand in a parameter's list. What is written as in the list is that value; else 1,
/// 1.0 and true are the same, as they are in Python.
class ValuePositions {
  public:
    explicit ValuePositions(const RecordedParameter& parameter);
    /// Nothing when it is not in the list.
    std::optional<std::size_t> find(const std::string& written) const;

  private:
    std::unordered_map<std::string, std::size_t> as_written_;
    std::unordered_map<std::string, std::size_t> equal_;
};

/// Adds a value to a parameter's list unless it is there: 1.0 is 1, but true is not 1 in a list
/// that has both.
void add_value(RecordedParameter& parameter, const std::string& written);

/// Throws Error, naming `where`, when there is no parameter, one without values, or when their
/// product passes 2^62.
void check_product(const std::vector<RecordedParameter>& parameters, const std::string& where);

/// Numbers when every value is whole, else words.
Tunable tunable_of(const RecordedParameter& parameter);

/// The index in the space of the configuration with these values, in the order of the parameters.
class RecordedIndex {
  public:
    explicit RecordedIndex(const std::vector<RecordedParameter>& parameters);
    /// Throws Error, naming `where`, for a value that is not among its parameter's.
    std::int64_t of(const std::vector<std::string>& written, const std::string& where) const;

  private:
    const std::vector<RecordedParameter>* parameters_;
    std::vector<ValuePositions> positions_;
};

/// Configurations of a file that has no lists of values: their values are known when all of it was
/// read.
class RecordedRows {
  public:
    explicit RecordedRows(std::vector<std::string> names) : names_(std::move(names)), values_(names_.size()), found_(names_.size()) {}

    std::size_t size() const { return columns_.size(); }
    const std::vector<std::string>& names() const { return names_; }
    /// Throws Error, naming `where`, when a parameter comes to have more values than can be
    /// searched.
    void add(const std::vector<std::string>& written, double cost, const Outcome& outcome, const std::string& where);

    /// Parameters with the values that the rows have: ascending when all are numbers, else in order
    /// of appearance.
    std::vector<RecordedParameter> parameters() const;
    /// The rows as configurations of the space of `parameters`, which are those above.
    RecordedColumns columns(const std::vector<RecordedParameter>& parameters) &&;

  private:
    std::vector<std::string> names_;
    std::vector<std::vector<std::string>> values_;                       ///< [parameter]: as written, in order of appearance
    std::vector<std::unordered_map<std::string, std::uint16_t>> found_;  ///< [parameter]: place in `values_`
    std::vector<std::uint16_t> places_;                                  ///< [row][parameter]
    RecordedColumns columns_;                                            ///< without indices
};

/// The outcome of a valid measurement; without `samples`, of `seconds` alone.
Outcome measurement(double seconds, std::vector<double> samples);

/// Seconds in milliseconds, as a JSON number; what a file in milliseconds said comes back as the
/// same seconds, anything else to the last digit but one.
std::string milliseconds_json(double seconds);

/// How many of a unit of time make a second, by its name (ms, Milliseconds); nothing for another
/// name.
std::optional<double> units_per_second(std::string unit);

/// Most values of one tunable: strategies keep places as 16-bit numbers.
inline constexpr std::size_t most_values_of_a_tunable = 65'000;

}  // namespace hone::inline v0_1
