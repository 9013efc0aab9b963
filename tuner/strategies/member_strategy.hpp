#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/random.hpp"
#include "tuner/strategies/member_geometry.hpp"
#include "tuner/strategy.hpp"

namespace hone {

/// What all guided strategies share: which members are open (neither asked nor told), the safe configuration first, and a start that sees every
/// value. A strategy of its own is left with two questions: which open member next, and what to make of a cost. Members are numbered as in
/// `geometry()`.
class MemberStrategy : public Strategy {
  public:
    MemberStrategy(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed);
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
    void draw_rare_values();
    std::optional<std::size_t> from_start();
    std::size_t newest_values();

    MemberGeometry geometry_;
    std::size_t safe_;
    Random random_;
    std::vector<bool> known_;  ///< asked or told
    std::vector<bool> told_;
    std::size_t known_count_ = 0;
    std::vector<std::size_t> left_;               ///< open; and some not, which `anywhere` removes
    std::vector<std::size_t> rare_;               ///< to be asked after the safe one
    std::vector<std::vector<std::size_t>> seen_;  ///< [dimension][value]: known members that have it
};

}  // namespace hone
