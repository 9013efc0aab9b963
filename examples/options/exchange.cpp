#include "examples/options/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

namespace hone::examples {
namespace {

Config parsed(const std::string& text) {
    std::vector<Assignment> assignments;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) {
        const std::size_t at = word.find('=');
        if (at == std::string::npos) throw Error("--exchange", "\"" + word + "\" has no =", "use auto, usual, or NAME=VALUE,...");
        const std::string name = word.substr(0, at);
        if (std::any_of(assignments.begin(), assignments.end(), [&](const Assignment& earlier) { return earlier.name == name; }))
            throw Error("--exchange", name + " is given twice", "give it one value");
        assignments.push_back({name, parse_value(word.substr(at + 1))});
    }
    return Config(std::move(assignments));
}

// A text of the first rank's, on all.
std::string of_first(Communicator& ranks, std::string text) {
    broadcast_of_first(ranks, text);
    return text;
}

// A record's settings as a configuration's key; nothing where there is none, or it has tunables of
// another version of hone.
std::string settings_of(const ExchangeMatch& match) {
    if (!match.record) return {};
    try {
        exchange_settings(match.record->exchange->config, "record");
    } catch (const Error&) {
        return {};
    }
    return match.record->exchange->config.key();
}

// What the first rank's records say, as a configuration's key; and it tells.
std::string looked_up(Communicator& ranks, const Backend& backend, const Database& database, const ExchangedStep& step, const Exchange& about) {
    if (ranks.rank() > 0) return of_first(ranks, {});
    const ExchangeMatch match = database.best_exchange(step.problem, backend.device().fingerprint, about);
    const std::string key = settings_of(match);
    if (key.empty())
        fmt::print("exchange: as usual; nothing is known of {} over {}: --tune-exchange measures\n", about.program, about.link);
    else
        fmt::print("exchange: {}, {} of {} ranks over {}\n", key, to_string(match.grade), match.record->exchange->ranks, about.link);
    return of_first(ranks, key);
}

void keep(const Record& record, const std::filesystem::path& records) {
    Database found(built_in_families());
    found.add(record);
    const std::filesystem::path folder = own_records(records);
    found.merge_into(folder);
    fmt::print("exchange: {}, {} a step, as usual {}, over {}; kept in {}\n", record.exchange->config.key(), text::duration(record.step.median),
               text::duration(record.exchange->usual_seconds), record.exchange->link, folder.string());
}

}  // namespace

void add_exchange(CLI::App& app, ExchangeOptions& options) {
    app.add_option(
           "--exchange", options.how,
           "how ranks exchange data: auto (the fastest according to the records in --db, otherwise usual), usual, or a list, separated by commas, of "
           "messages=copies, stores, spin, events, nccl or host; edges=ahead, beside, before or serial; depth=N (docs/many-devices.md)")
        ->capture_default_str();
    app.add_flag(
        "--tune-exchange", options.tune,
        "first measure which way is the fastest; the result is kept in --db, otherwise in HONE_DB or your own folder, for ranks with the same links");
}

void choose_exchange(const ExchangeOptions& options, Communicator& ranks, Backend& backend, const Database& database,
                     const std::filesystem::path& records, const ExchangedStep& step, const std::function<ExchangePeriod()>& run) {
    if (options.how.empty()) throw Error("--exchange", "it is empty", "use auto, usual, or NAME=VALUE,...");
    const bool is_asked = options.how != "auto" && options.how != "usual";
    const ExchangeSettings asked = is_asked ? exchange_settings(parsed(options.how), "--exchange") : ExchangeSettings();
    const bool on_processor = traits_of(backend.device().fingerprint.target).shares_processors;
    for (const auto& [name, is_set, has_none] : {std::tuple("edges", asked.edges.has_value(), step.space.edges.empty()),
                                                 std::tuple("depth", asked.depth != ExchangeSettings().depth, step.space.depth.empty()),
                                                 std::tuple("every", asked.every != ExchangeSettings().every, step.space.every.empty())})
        if (is_set && has_none)
            throw Error("--exchange", fmt::format("{} has no {}{}", step.program, name, on_processor ? " on processors" : ""), "leave it out");
    if (options.tune && is_asked) throw Error("--tune-exchange", "--exchange says what to use", "leave one of them away");
    if (ranks.size() == 1) {
        if (options.tune) fmt::print("exchange: one rank exchanges nothing; start several, or name several devices\n");
        return;
    }
    if (is_asked) ranks.set_exchange_settings(asked);
    if (!options.tune && options.how != "auto") return;
    const Exchange about{.program = step.program, .link = link_name(ranks, backend), .ranks = ranks.size(), .config = {}};
    if (!options.tune) {
        const std::string key = looked_up(ranks, backend, database, step, about);
        ranks.set_exchange_settings(exchange_settings(parsed(key), "record"));
        return;
    }
    // What cannot be kept is not worth measuring.
    if (ranks.rank() == 0) Database(built_in_families()).merge_into(own_records(records));
    ExchangeSpace space = step.space;
    space.messages = message_ways(ranks, backend);
    // Processors have no streams: there edges only go before their messages' arrival or not.
    if (space.messages.empty())
        std::erase_if(space.edges, [&](EdgePlace place) { return place != space.edges.front() && place != EdgePlace::serial; });
    if (space.configuration(space.usual()).key().empty()) {
        if (ranks.rank() == 0) fmt::print("exchange: there is nothing to choose for {} over {}\n", about.program, about.link);
        return;
    }
    const auto tell = [&](const ExchangeTrial& trial) {
        if (ranks.rank() == 0)
            fmt::print(stderr, "tuned: {}: {} a step{}\n", space.configuration(trial.settings).key(), text::duration(trial.step.median),
                       trial.same_digits ? "" : ", and other digits: refused");
    };
    const ExchangeTuning tuning = tune_exchange(ranks, space, run, tell);
    if (ranks.rank() == 0) {
        const Match match = database.best(step.problem, backend.device().fingerprint, backend.device().limits);
        keep(exchange_record(built_in_families().of(step.problem), step.problem, match.config, backend.device(), about, space, tuning), records);
    }
    ranks.barrier();
}

double seconds_together(Communicator& ranks, Backend& backend, const std::function<void()>& work) {
    backend.synchronise();
    ranks.barrier();
    const auto start = std::chrono::steady_clock::now();
    work();
    backend.synchronise();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

ExchangePeriod StepTimer::operator()(const std::function<double(int)>& take, const std::function<double()>& digits) {
    constexpr double sample_seconds = 0.03;
    constexpr int samples = 5, fewest = 4;  // steps: multiples of those from one exchange to the next
    take(fewest);
    const double step = all_reduce(ranks_, Reduction::largest, take(fewest)) / fewest;
    if (steps_ == 0) steps_ = fewest * static_cast<int>(std::ceil(std::clamp(sample_seconds / step / fewest, 1.0, 1.0 * most_steps_ / fewest)));
    take(steps_);
    ExchangePeriod period;
    for (int sample = 0; sample < samples; ++sample) period.seconds.push_back(take(steps_) / steps_);
    period.digits = digits();
    return period;
}

ExchangePeriod StepTimer::steps(const std::function<void()>& step, const std::function<double()>& digits) {
    const auto take = [&](int count) {
        return seconds_together(ranks_, backend_, [&] {
            for (int i = 0; i < count; ++i) step();
        });
    };
    return (*this)(take, digits);
}

}  // namespace hone::examples
