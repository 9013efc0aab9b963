#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/random.hpp"
#include "tuner/strategies/member_geometry.hpp"
#include "tuner/strategies/per_member.hpp"
#include "tuner/strategies/shuffled.hpp"
#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// The part that all guided strategies share. It knows which members are open (neither asked for
/// nor told), asks for the safe configuration first, and begins with a plan that tries every value.
/// A strategy that derives from it decides two things: which open member is next, and what to learn
/// from a cost. Members are numbered as in `geometry()`.
class MemberStrategy : public Strategy {
  public:
    MemberStrategy(const SearchSpace& space, Members members, std::uint64_t seed);
    std::optional<std::int64_t> ask() final;
    void tell(std::int64_t index, double cost) final;

  protected:
    /// An open member; there is at least one, and the start is over.
    virtual std::size_t choose() = 0;
    /// A member is open no longer: it was asked, or is about to be told without.
    virtual void noted(std::size_t /*member*/) {}
    /// The natural logarithm of a member's cost; infinite for a failure. Once per member.
    virtual void told(std::size_t member, double log_cost) = 0;

    const MemberGeometry& geometry() const { return geometry_; }
    Random& random() { return random_; }
    bool open(std::size_t member) const { return !known_[member]; }
    std::size_t count_open() const { return geometry_.size() - known_count_; }
    /// An open member at random. Requires one.
    std::size_t anywhere();

  private:
    void note(std::size_t member);
    /// A value that the start looks at, in so many members.
    struct Look {
        std::size_t dimension = 0;
        std::size_t value = 0;
        std::size_t times = 0;
        std::size_t count = 0;             ///< of members that have it
        std::vector<std::size_t> holders;  ///< they, or in a large space some of them
    };
    void plan_looks();
    /// [dimension][value]: members to draw from, where a value is looked at.
    std::vector<std::vector<std::vector<std::size_t>>> holders() const;
    bool due(const Look& look) const;
    std::optional<std::size_t> from_start();
    /// Of some members drawn from `some` (empty: from all), the one with most that was not seen.
    std::size_t newest_of(const std::vector<std::size_t>& some);

    MemberGeometry geometry_;
    std::size_t safe_;
    Random random_;
    PerMember<bool> known_;  ///< asked or told
    PerMember<bool> told_;
    std::size_t known_count_ = 0;
    Shuffled left_;                               ///< open; and some not, which `anywhere` removes
    std::vector<Look> looks_;                     ///< of the start, the rarest value last
    std::vector<std::vector<std::size_t>> seen_;  ///< [dimension][value]: known members that have it
};

}  // namespace hone::inline v0_1
