#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <string>

namespace hone::examples {

/// How ranks exchange what they share.
struct ExchangeOptions {
    std::string how = "auto";
    bool tune = false;
};
void add_exchange(CLI::App& app, ExchangeOptions& options);

/// What a program exchanges: whose step it is, of which problem (of the whole grid or mesh, and so
/// the same on all ranks), and what may be chosen but for the ways of messages.
struct ExchangedStep {
    std::string program;
    Problem problem;
    ExchangeSpace space;
};

/// Gives the communicator its settings: those asked for, else what the database has for this step
/// on this link, else what is usual; with --tune-exchange what `run` is measured to be fastest
/// with, which is kept in `records`, or where such results are kept by default. Rank 0 says what it
/// came to. Nothing on one rank.
void choose_exchange(const ExchangeOptions& options, Communicator& ranks, Backend& backend, const Database& database,
                     const std::filesystem::path& records, const ExchangedStep& step, const std::function<ExchangePeriod()>& run);

/// Seconds of what `work` queues, on this rank, where all begin together.
double seconds_together(Communicator& ranks, Backend& backend, const std::function<void()>& work);

/// Measures steps for `run`: after as many that do not count, five samples of so many that each
/// takes a few hundredths of a second, of processors at most eight, as many with all settings. It
/// must outlive the tuning.
class StepTimer {
  public:
    StepTimer(Communicator& ranks, Backend& backend)
        : ranks_(ranks), backend_(backend), most_steps_(traits_of(backend.device().fingerprint.target).shares_processors ? 8 : 96) {}
    /// `take` goes so many steps on, and says the seconds of all; `digits` is asked afterwards.
    /// What the first step begins with must be the same for all settings.
    ExchangePeriod operator()(const std::function<double(int steps)>& take, const std::function<double()>& digits);
    /// The same where `step` queues one step: all ranks begin together.
    ExchangePeriod steps(const std::function<void()>& step, const std::function<double()>& digits);

  private:
    Communicator& ranks_;
    Backend& backend_;
    int most_steps_;
    int steps_ = 0;  // of a sample, once that is known
};

/// A solver with the exchanges that are chosen for it. `make` makes one with those that the
/// communicator's settings say, and its `renew_exchanges` follows other settings. `choose(run)` is
/// choose_exchange of the caller's step, whose runs `measure(solver)` makes; its state is then what
/// they left.
template <typename Make, typename Choose, typename Measure>
auto solver_with_exchange(const Make& make, const Choose& choose, const Measure& measure) {
    decltype(make()) solver;
    const auto renew = [&] { solver != nullptr ? solver->renew_exchanges() : void(solver = make()); };
    choose([&]() -> ExchangePeriod {
        renew();
        return measure(*solver);
    });
    renew();
    return solver;
}

}  // namespace hone::examples
