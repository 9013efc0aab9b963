#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/config.hpp"

namespace hone {

/// One tunable: its name, what it does, and the values worth trying (at least one, all numbers or all words).
struct Tunable {
    std::string name;
    std::string help;
    std::vector<Value> values;
    std::optional<Value> former = {};  ///< value that a configuration without this tunable means: how kernels were before it existed
};

/// A rule that is decided before anything is compiled.
struct Constraint {
    std::string name;
    /// Why the configuration breaks the rule ("196608 bytes of shared memory, the device has 101376"), or nothing.
    std::function<std::optional<std::string>(const Config&)> violation;
};

/// Why a configuration is not in a space.
struct Rejection {
    std::string constraint;
    std::string reason;
};

/// The configurations of one problem on one device: the product of all tunables' values less what the constraints reject.
///
///     SearchSpace space({{"block_x", "threads along x", numbers({16, 32, 64})}, ...}, {constraint, ...}, safe_assignments);
///     if (auto rejection = space.check(config)) fmt::print("{}: {}\n", rejection->constraint, rejection->reason);
class SearchSpace {
  public:
    SearchSpace() = default;
    /// `safe` runs on every device and at every size. Throws Error when it is not a member of the space.
    SearchSpace(std::vector<Tunable> tunables, std::vector<Constraint> constraints, std::vector<Assignment> safe);

    /// The space of exactly these members (indices, ascending), for example those that were measured. Neither `check` nor `members` walks the
    /// product then. Throws Error when `safe` is not one of them.
    static SearchSpace of_members(std::vector<Tunable> tunables, std::shared_ptr<const std::vector<std::int64_t>> members, std::int64_t safe);

    const std::vector<Tunable>& tunables() const { return tunables_; }
    const std::vector<Constraint>& constraints() const { return constraints_; }
    const Config& safe() const { return safe_; }

    /// Number of assignments before constraints.
    std::int64_t product() const;
    /// Assignment number `index` in [0, product()), the last tunable fastest.
    Config at(std::int64_t index) const;
    /// The inverse of `at`. Throws Error when a value is not among its tunable's values.
    std::int64_t index_of(const Config& config) const;

    /// The first constraint that `config` breaks, or nothing when it is a member. A missing, unknown or out-of-range value is a
    /// rejection too, so whatever comes from a file or a command line is safe to check here.
    std::optional<Rejection> check(const Config& config) const;

    /// Translates a configuration from a record or journal of an older hone: tunables that did not exist then get their `former` values.
    /// The result may still be no member. Any other configuration is returned unchanged.
    Config completed(const Config& config) const;

    /// Indices of all members, ascending. Several threads call `stop`; once it returns true, the result has only some of them.
    std::vector<std::int64_t> members(const std::function<bool()>& stop = {}) const;

    /// Assignments `first` to `first + count` of the product: one member, or as many as break the same constraint for the same reason (some may break
    /// others, too). `config` is the first of them.
    struct Run {
        std::int64_t first, count;
        const Config& config;
        std::optional<Rejection> rejection;
    };
    /// Visits the product's assignments from `first` to `last` in runs. A constraint that looked at the first few values only is asked once for all
    /// assignments that share them, so that spaces of millions take a moment.
    void walk(std::int64_t first, std::int64_t last, const std::function<void(const Run&)>& visit) const;

    /// Reads "block_x=32,z_block=16"; what is left out is taken from `safe()`. Throws Error for an unknown name or value, naming the
    /// nearest; does not apply the constraints.
    Config parse(std::string_view text) const;

  private:
    /// The first constraint that is broken by one of the product's assignments.
    std::optional<Rejection> violation(const Config& config) const;
    /// The number of assignments, from `index` on, that share their first so many values with the one at `index`.
    std::int64_t sharing(std::int64_t index, std::size_t values) const;
    /// From one of the product's assignments to the next.
    void advance(Config& config) const;

    std::vector<Tunable> tunables_;
    std::vector<Constraint> constraints_;
    std::shared_ptr<const std::vector<std::int64_t>> listed_;  ///< all members, where they were given as a list
    Config safe_;
};

/// Lists of values for a Tunable.
std::vector<Value> numbers(std::vector<std::int64_t> values);
std::vector<Value> words(std::vector<std::string> values);

}  // namespace hone
