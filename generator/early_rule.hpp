#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hone::inline v0_1 {

/// What a constraint says of all configurations that begin alike.
struct EarlyAnswer {
    enum class Verdict { holds, broken, open };
    Verdict verdict = Verdict::open;
    /// Of an open one: what matters of the values that are known. Where two beginnings of the same
    /// length have the same text, whatever follows is decided alike.
    std::string rest = {};
};

/// A constraint that is asked while only the first tunables of a form have values. So a search
/// space is cut where a constraint can first be decided, and beginnings that differ in nothing that
/// still matters are counted once (generator/member_tree.hpp).
class EarlyRule {
  public:
    EarlyRule() = default;
    EarlyRule(const EarlyRule&) = delete;
    EarlyRule& operator=(const EarlyRule&) = delete;
    virtual ~EarlyRule() = default;

    /// Positions of the tunables that it looks at, ascending.
    virtual const std::vector<std::size_t>& reads() const = 0;
    /// `levels` are the places of the first tunables' values in their lists. Never open where all
    /// that it reads have values. Throws Error as the constraint does.
    virtual EarlyAnswer ask(std::span<const std::uint16_t> levels) = 0;
};

/// Rules remember what they were asked, so each walk makes its own.
using MakeEarlyRule = std::function<std::unique_ptr<EarlyRule>()>;

}  // namespace hone::inline v0_1
