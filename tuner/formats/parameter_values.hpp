#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/recorded_space.hpp"
#include "tuning_db/json_tree.hpp"

namespace hone {

// The values of parameters in the files of other tuners: whole numbers, numbers, true and false, words.

/// A value as JSON, as its file wrote it. Throws Error for null, an array or an object.
std::string written_value(const JsonPlace& place);

/// The text of a value without quotes: 16, 0.5, true, float4.
std::string plain_value(const std::string& written);

/// The inverse: what reads as a number, as true or as false is that, anything else is a word.
std::string written_of(const std::string& plain);

/// As Python prints it, and so as it stands in the keys of Kernel Tuner: True and False with capitals.
std::string python_value(const std::string& written);

/// Where values stand in a parameter's list. 1, 1.0 and true are the same value, as they are in Python.
class ValuePositions {
  public:
    explicit ValuePositions(const RecordedParameter& parameter);
    /// Nothing when it is not in the list.
    std::optional<std::size_t> find(const std::string& written) const;

  private:
    std::unordered_map<std::string, std::size_t> positions_;
};

/// Throws Error, naming `where`, when there is no parameter, one without values, or when their product passes 2^62.
void check_product(const std::vector<RecordedParameter>& parameters, const std::string& where);

/// Numbers when every value is whole, else words.
Tunable tunable_of(const RecordedParameter& parameter);

/// The values of one configuration, in the order of the parameters.
struct RecordedRow {
    std::vector<std::string> written;
    RecordedConfiguration configuration;  ///< its index is still to be found
    std::string where;                    ///< file and line
};

/// Parameters with the values that the rows have, where no list of values was given: ascending when all are numbers, else in order of appearance.
std::vector<RecordedParameter> parameters_of(const std::vector<std::string>& names, const std::vector<RecordedRow>& rows);

/// The configurations of the rows. Throws Error, naming the row's place, for a value that is not among its parameter's.
std::vector<RecordedConfiguration> indexed(const std::vector<RecordedParameter>& parameters, std::vector<RecordedRow> rows);

/// What a valid one came to; `samples` may be empty, then there is but `seconds`.
Outcome measurement(double seconds, std::vector<double> samples);

/// Seconds in milliseconds, as a JSON number; what a file in milliseconds said comes back as the same seconds, anything else to the last digit but
/// one.
std::string milliseconds_json(double seconds);

/// Most values of one tunable: strategies keep places as 16-bit numbers.
inline constexpr std::size_t most_values_of_a_tunable = 65'000;

}  // namespace hone
