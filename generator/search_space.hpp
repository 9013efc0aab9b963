#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/config.hpp"
#include "generator/early_rule.hpp"
#include "generator/members.hpp"
#include "generator/residency.hpp"

namespace hone::inline v0_1 {

/// No space has more assignments.
constexpr std::int64_t largest_product = std::int64_t{1} << 62;

/// One tunable: its name, what it does, and the values worth trying (at least one, all numbers or
/// all words).
struct Tunable {
    std::string name;
    std::string help;
    std::vector<Value> values;
    std::optional<Value> former = {};  ///< value that a configuration without this tunable means: how kernels were before it existed
    std::string former_name = {};      ///< that it had, which configurations may still use; empty: none
};

/// A rule that is decided before anything is compiled.
struct Constraint {
    std::string name;
    /// Why the configuration breaks the rule ("196608 bytes of shared memory, the device has
    /// 101376"), or nothing.
    std::function<std::optional<std::string>(const Config&)> violation;
    /// The only tunables that it looks at; none: perhaps all. It is asked once for all
    /// configurations that agree in these and in what stands before the last of them. So spaces of
    /// millions are enumerated in a moment.
    std::vector<std::string> reads = {};
    /// The same rule, asked while only the first tunables of its form have values; positions are
    /// those of the form. Empty: it is asked once all that it reads have values.
    MakeEarlyRule early = {};
};

/// Why a configuration is not in a space.
struct Rejection {
    std::string constraint;
    std::string reason;
};

/// The configurations of one form of a kernel: the product of its tunables' values less what its
/// constraints reject.
struct FormSpace {
    std::string name;  ///< the value of `form`; empty: the space has this form only, and its configurations have no `form`
    std::string help = {};
    std::vector<Tunable> tunables = {};
    std::vector<Constraint> constraints = {};
    std::vector<Assignment> safe = {};  ///< where a search enters the form; runs wherever the form does
    /// Whether a configuration that is complete in none of today's forms is of this one: of the
    /// time before its family had forms. What it says of the form's own tunables is kept, the rest
    /// is left out. Empty: there were none.
    std::function<bool(const Config&)> former = {};
    /// What a block of a member takes of a CUDA device. Empty: nothing that is limited.
    std::function<BlockResources(const Config&)> resources = {};
    /// How long a member takes, by count and in a unit of the problem's own: to compare members
    /// where nobody has measured, within some ten per cent at best. Empty, or 0: not known.
    std::function<double(const Config&)> count = {};
    /// Whether `safe` is chosen for the problem by rules of which it is known how well they choose:
    /// a prediction weighs it beside what neighbours propose.
    bool ruled = false;
};

/// The configurations of one problem on one device: the union of its forms' products less what
/// their constraints reject. Most spaces have one form.
///
///     SearchSpace space({{"block_x", "threads along x", numbers({16, 32, 64})}, ...}, {constraint, ...}, safe_assignments);
///     if (auto rejection = space.check(config)) fmt::print("{}: {}\n", rejection->constraint, rejection->reason);
///
/// With several forms a configuration begins with `form=NAME`, followed by values for this form's
/// tunables and no other.
class SearchSpace {
  public:
    SearchSpace() = default;
    /// One form. `safe` runs on every device and at every size. Throws Error when it is not a
    /// member of the space.
    SearchSpace(std::vector<Tunable> tunables, std::vector<Constraint> constraints, std::vector<Assignment> safe);
    /// Forms with different names. The safe configuration is that of `form`. Throws Error when it
    /// is no member, when a tunable of two forms has numbers in one and words in the other, or
    /// different explanations, and where there are more than 2^62 assignments.
    SearchSpace(std::vector<FormSpace> forms, const std::string& form);

    /// The space of exactly these members (indices, ascending), for example those that were
    /// measured. Neither `check` nor `members` walks the product then. Throws Error when `safe` is
    /// not one of them.
    static SearchSpace of_members(std::vector<Tunable> tunables, Members members, std::int64_t safe);
    static SearchSpace of_members(std::vector<FormSpace> forms, Members members, std::int64_t safe);

    const std::vector<FormSpace>& forms() const { return forms_; }
    /// The form of a configuration, or nullptr when it has none of this space.
    const FormSpace* form_of(const Config& config) const;
    /// Where a search enters a form: its safe configuration, begun with `form=` where the space has
    /// forms.
    Config entry(const FormSpace& form) const;
    /// The tunables of all forms, each once, with all values that it has in any of them. In a space
    /// of forms the first is `form`.
    const std::vector<Tunable>& tunables() const { return tunables_; }
    const Config& safe() const { return safe_; }

    /// Number of assignments before constraints.
    std::int64_t product() const;
    /// Assignment number `index` in [0, product()): form after form, the last tunable fastest.
    Config at(std::int64_t index) const;
    /// The inverse of `at`. Throws Error when a value is not among its tunable's values.
    std::int64_t index_of(const Config& config) const;

    /// For each of `tunables()`, the position of the assignment's value in its list; the number of
    /// its values where the assignment's form does not have it.
    std::vector<std::size_t> levels(std::int64_t index) const;
    /// The inverse of `levels`, or nothing where no assignment has these values.
    std::optional<std::int64_t> index_of(const std::vector<std::size_t>& levels) const;

    /// The first constraint that `config` breaks, or nothing when it is a member. A missing,
    /// unknown or out-of-range value is a rejection too, so whatever comes from a file or a command
    /// line is safe to check here.
    std::optional<Rejection> check(const Config& config) const;

    /// Whether `config` is an assignment of the product, its constraints aside: a form's functions
    /// may be asked about it. Safe for whatever comes from a file, as `check` is.
    bool in_product(const Config& config) const { return !value_rejection(config); }

    /// Translates a configuration from a record or journal of an older hone: tunables that did not
    /// exist then get their `former` values, and one that is of before its family had forms becomes
    /// one of the form that it was. The result may still be no member. Any other configuration is
    /// returned unchanged.
    Config completed(const Config& config) const;

    /// Indices of all members, ascending. Several threads may call `stop`; once it returns true,
    /// the result has only some of them. Large products are cut by rules that are asked early, and
    /// their members may be trees (generator/census.hpp).
    Members members(const std::function<bool()>& stop = {}) const;
    /// How many of `members` have each value: [position in `tunables()`][value].
    std::vector<std::vector<std::int64_t>> holders(const Members& members) const;
    /// Those of `members`, which are trees, whose values `allows` (a tunable of `tunables()` and
    /// the place of a value there) lets pass; what a form does not have is not asked about.
    Members allowed(const Members& members, const std::function<bool(std::size_t, std::size_t)>& allows) const;
    /// Those of `members`, which are trees, that have a value.
    Members with_value(const Members& members, std::size_t tunable, std::size_t value) const;

    /// Assignments `first` to `first + count` of the product: one member, or as many as break the
    /// same constraint for the same reason (some may break others, too). `config` is the first of
    /// them.
    struct Run {
        std::int64_t first, count;
        const Config& config;
        std::optional<Rejection> rejection;
    };
    /// Visits the product's assignments from `first` to `last` in runs.
    void walk(std::int64_t first, std::int64_t last, const std::function<void(const Run&)>& visit) const;

    /// Reads "block_x=32,z_block=16"; what is left out is taken from `safe()`, or from the safe
    /// configuration of the form that the text names. Throws Error for an unknown name or value,
    /// naming the nearest; does not apply the constraints.
    Config parse(std::string_view text) const;

  private:
    /// Where a form's assignments lie among all, and its tunables among the space's.
    struct Place {
        std::int64_t first = 0;                        ///< number of its first assignment
        std::int64_t product = 1;                      ///< of its assignments
        std::vector<std::size_t> tunable;              ///< [its tunable]: position in `tunables()`
        std::vector<std::vector<std::size_t>> levels;  ///< [its tunable][value]: position in that tunable's list
        std::vector<std::int64_t> shared;              ///< [constraint]: assignments that agree in all that it reads, and before
    };

    void arrange();
    std::size_t form_at(std::int64_t index) const;
    /// Position of the first of a form's own values in its configurations.
    std::size_t own_values(const FormSpace& form) const { return form.name.empty() ? 0 : 1; }
    std::vector<Assignment> assignments(std::size_t form, std::int64_t index) const;
    void advance(std::size_t form, Config& config) const;
    /// A configuration of the time before there were forms, as one of the form that it was;
    /// unchanged when it was of none.
    Config translated(const Config& config) const;
    Rejection no_form(const Config& config) const;
    /// `check` without the constraints.
    std::optional<Rejection> value_rejection(const Config& config) const;
    std::string form_names() const;
    void walk_form(std::size_t form, std::int64_t first, std::int64_t last, const std::function<void(const Run&)>& visit) const;

    std::vector<FormSpace> forms_;
    std::vector<Place> places_;  ///< of each form
    std::vector<Tunable> tunables_;
    std::optional<Members> listed_;  ///< all members, where they were given
    Config safe_;
};

}  // namespace hone::inline v0_1
