#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "tuner/statistics.hpp"
#include "tuner/tuner.hpp"

namespace hone::inline v0_1 {

struct OnlineRules;

/// The incumbent's latest times: their median, and whether it has moved for good.
class Pace {
  public:
    Pace(int window, int fewest, double drift, int block);

    /// True when the median has moved: two blocks in a row, on the same side, against what it was
    /// when it was settled.
    bool add(double seconds);
    /// Another incumbent, of which these times are known.
    void restart(std::span<const double> seconds);
    bool known() const { return static_cast<int>(window_.size()) >= fewest_; }
    double median() const { return median_; }
    std::vector<double> samples() const { return {window_.begin(), window_.end()}; }

  private:
    bool moved();

    std::size_t most_;
    int fewest_;
    double drift_;
    std::size_t block_length_;
    std::deque<double> window_;
    double median_ = 0;
    double reference_ = 0;  ///< what the median is compared with; 0: not settled yet
    std::vector<double> block_;
    int moves_ = 0;  ///< blocks in a row that moved: up or down by sign
};

/// A candidate's sampling period inside an application: it decides whose turn it is, and judges the
/// times.
class Trial {
  public:
    enum class Stage { vetting, ready, running, over };
    enum class Verdict { more, slower, faster, enough };

    Trial(std::int64_t its_number, Candidate tried) : number(its_number), candidate(std::move(tried)) {}

    /// Another step of the candidate may be launched, as far as turns and outstanding times go.
    bool wants_step(const OnlineRules& rules) const;
    /// Another time of the incumbent is of use.
    bool wants_rival(const OnlineRules& rules) const;
    void launched(const OnlineRules& rules);  ///< a step of the candidate
    void launched_alone() { ++flying_; }      ///< the candidate is the incumbent: no turns
    void launched_rival();
    void sampled(double seconds);  ///< of the candidate
    void sampled_rival(double seconds) { rivals.push_back(seconds); }
    /// Seconds that a step may take at worst, from what is known.
    double worst(const OnlineRules& rules) const;
    /// `alone`: the candidate is the incumbent, so nothing is compared.
    Verdict judge(double incumbent, bool alone, const OnlineRules& rules) const;
    /// Its times without the warm-up.
    std::span<const double> warm() const;

    std::int64_t number = 0;
    Candidate candidate;
    Stage stage = Stage::vetting;
    bool wanted = false;  ///< handed out to be vetted
    double guess = 0;     ///< seconds of a step, before one has run
    std::vector<double> samples;
    std::vector<double> rivals;  ///< the incumbent's, in between
    Outcome outcome;             ///< once it is over

  private:
    int limit(const OnlineRules& rules) const;

    int flying_ = 0;  ///< launched, not sampled
    int in_turn_ = 0;
    int rest_ = 0;  ///< the incumbent's steps that are due
    int rivals_launched_ = 0;
    double elapsed_ = 0;
};

}  // namespace hone::inline v0_1
