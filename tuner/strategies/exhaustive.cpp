#include "tuner/strategies/exhaustive.hpp"

#include "tuner/strategies/listed.hpp"

namespace hone::inline v0_1 {
namespace {

class Exhaustive : public ListedStrategy {
  public:
    using ListedStrategy::ListedStrategy;

  protected:
    std::optional<std::size_t> next() override {
        if (next_ == members().size()) return std::nullopt;
        return next_++;
    }

  private:
    std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const SearchSpace& space, Members members, std::uint64_t /*seed*/) {
    return std::make_unique<Exhaustive>(space, std::move(members));
}

}  // namespace hone::inline v0_1
