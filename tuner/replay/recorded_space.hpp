#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/error.hpp"
#include "generator/search_space.hpp"
#include "tuner/outcome.hpp"
#include "tuner/replay/outcome_columns.hpp"

namespace hone::inline v0_1 {

/// A file of a space holds no configuration that could be found: a search that ended before its
/// first one, say.
class EmptySpaceError : public Error {
  public:
    using Error::Error;
};

/// A parameter of a recorded space, with its values as its file wrote them: 16, 0.5, true,
/// "float4". Another file can say exactly the same.
struct RecordedParameter {
    std::string name;
    std::vector<std::string> written;  ///< JSON
};

/// One configuration with what it came to.
struct RecordedConfiguration {
    std::int64_t index = 0;                                 ///< in the space
    double cost = std::numeric_limits<double>::infinity();  ///< seconds, as a replay tells it; infinity: invalid, and the outcome says why
    Outcome outcome;
};

/// The configurations of a space as they are read, in columns: a million of them in some 40 MB.
struct RecordedColumns {
    std::vector<std::int64_t> indices;
    std::vector<double> costs;  ///< seconds; infinite for invalid ones
    OutcomeColumns outcomes;

    std::size_t size() const { return indices.size(); }
    void add(std::int64_t index, double cost, const Outcome& outcome);
};

/// The subject of a recorded space.
struct RecordedTitle {
    std::string name;                   ///< short: of the file, without its ending
    std::string kernel;                 ///< its name, or the problem's key
    std::string device;                 ///< may be empty
    std::string problem_size;           ///< JSON; may be empty
    std::string objective;              ///< what the file calls its times
    bool cut = false;                   ///< the run was cut: configurations may be missing
    std::string chosen_by;              ///< the strategy that chose what was measured; empty: everything was
    std::string only;                   ///< the values that the run was restricted to, as `hone tune --only` has them; empty: it was not
    std::int64_t members = 0;           ///< configurations that the whole space has; 0: the file does not say
    std::optional<Target> target = {};  ///< of the device, where the file says it
};

/// A search space that was measured, wholly or as far as its run came: what a simulation replays.
///
///     const RecordedSpace recorded = read_recorded_space("pnpoly.json.gz");
///     const SearchSpace space = recorded.space(seed);
///     auto search = find_strategy("random").make(space, recorded.members(), seed);
///     while (auto index = search->ask()) search->tell(*index, recorded.cost(*index));
///
/// Its members are the configurations that were tried, valid or not. Whatever is not in the file
/// broke a constraint: it was never tried and costs nothing. A tunable holds numbers when all its
/// values are whole; otherwise every value is a word, spelt as in the file (0.5, true, float4).
/// Strategies see the order of words that read as numbers.
class RecordedSpace {
  public:
    /// Throws Error when a configuration stands twice, or when the product of all values passes
    /// 2^62; EmptySpaceError when none is valid.
    RecordedSpace(RecordedTitle title, std::vector<RecordedParameter> parameters, RecordedColumns configurations);
    RecordedSpace(RecordedTitle title, std::vector<RecordedParameter> parameters, const std::vector<RecordedConfiguration>& configurations);

    const RecordedTitle& title() const { return title_; }
    const std::vector<RecordedParameter>& parameters() const { return parameters_; }
    const std::vector<Tunable>& tunables() const { return tunables_; }
    /// Indices of the configurations, ascending.
    const std::vector<std::int64_t>& members() const { return *members_; }

    /// The configuration of an index. Both throw Error for an index that is no member's.
    RecordedConfiguration at(std::int64_t index) const;
    double cost(std::int64_t index) const { return cost_[place_of(index)]; }
    /// Of each parameter, which of its values the configuration has.
    std::vector<std::size_t> places(std::int64_t index) const;
    /// All costs, ascending; those of invalid configurations, infinity, at the end.
    const std::vector<double>& costs() const { return costs_; }
    double optimum() const { return costs_.front(); }
    /// Whether all configurations of the space are here, as far as the file says. Where not,
    /// optimum and costs are those of a part.
    bool whole() const;
    /// The part of the space that is here, 0..1; nothing where that is not known.
    std::optional<double> coverage() const;
    /// How many are valid.
    std::int64_t valid() const { return valid_; }

    /// The space with a safe configuration, from which strategies start, drawn from the valid
    /// members by `seed`: no file says which one it was.
    SearchSpace space(std::uint64_t seed) const;

  private:
    std::size_t place_of(std::int64_t index) const;

    RecordedTitle title_;
    std::vector<RecordedParameter> parameters_;
    std::vector<Tunable> tunables_;
    std::shared_ptr<const std::vector<std::int64_t>> members_;
    std::vector<double> cost_;  ///< by place among the members
    OutcomeColumns outcomes_;
    std::vector<double> costs_;
    std::int64_t valid_ = 0;
};

/// Reads a cache file of Kernel Tuner, T4 results, what KTT saves (formats/ktt.hpp), a journal of
/// hone or its own compact form (formats/space_file.hpp), gzipped or not, told apart by their
/// contents. Throws Error naming file, line and place.
RecordedSpace read_recorded_space(const std::filesystem::path& file);
/// Reads a text; `file` names it in messages.
RecordedSpace parse_recorded_space(std::string_view text, const std::string& file);

}  // namespace hone::inline v0_1
