#include "runtime/ranks/long_wait.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "foundation/environment.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int usual_patience = 30;      // seconds: longer than any exchange, shorter than people wait before they wonder
constexpr int most_patience = 1000000;  // eleven days
constexpr std::size_t most_named = 8;

std::string names(std::vector<int> ranks, const std::string& noun) {
    const std::size_t count = ranks.size();
    if (count == 1) return fmt::format("{} {}", noun, ranks[0]);
    const std::string more = count > most_named ? fmt::format(" and {} more", count - most_named) : "";
    ranks.resize(std::min(count, most_named));
    return fmt::format("{}{} {}{}", noun, noun.ends_with('s') ? "es" : "s", fmt::join(ranks, ", "), more);
}

std::string capital(std::string text) {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

}  // namespace

LongWait::LongWait(double part) {
    const int seconds = std::min(environment_number("HONE_PATIENCE").value_or(usual_patience), most_patience);
    if (seconds == 0) return;
    pause_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds * part));
    next_ = begin_ + pause_;
}

bool LongWait::due() {
    if (next_ == Clock::time_point::max() || Clock::now() < next_) return false;
    pause_ *= 2;
    next_ = begin_ + pause_;
    return true;
}

std::string wait_report(int speaker, double seconds, std::span<const RankWait> ranks, const std::string& noun, int first) {
    const int size = static_cast<int>(ranks.size());
    std::vector<int> too, silent;
    for (int rank = 0; rank < size; ++rank)
        if (rank != speaker) (ranks[static_cast<std::size_t>(rank)].waits ? too : silent).push_back(first + rank);
    const int from = ranks[static_cast<std::size_t>(speaker)].from;
    const std::string whom = from != RankWait::everybody ? names({first + from}, noun) : silent.empty() ? "all others" : names(silent, noun);
    std::string text = fmt::format("{} {} of {} has waited {:.0f} s for {}.", noun, first + speaker, size, seconds, whom);
    if (!too.empty()) text += fmt::format(" {} {}, too.", capital(names(too, noun)), too.size() == 1 ? "waits" : "wait");
    if (silent.empty()) return text + " So all wait for each other: they make different calls, or a message is sent to nobody.";
    const bool one = silent.size() == 1;
    return text + fmt::format(" {} {} not wait: {}.", capital(names(silent, noun)), one ? "does" : "do",
                              one ? "it computes, or it is stopped" : "they compute, or they are stopped");
}

void tell_of_wait(const std::string& text) {
    fmt::print(stderr, "hone: {}\n", text);
    std::fflush(stderr);
}

ToldWait::ToldWait(std::string text) {
    thread_.start([this, text = std::move(text)] {
        LongWait wait;
        std::unique_lock lock(mutex_);
        while (!ended_) {
            if (wait.next() == LongWait::Clock::time_point::max())
                changed_.wait(lock);
            else
                changed_.wait_until(lock, wait.next());
            if (!ended_ && wait.due()) tell_of_wait(fmt::format("{}, and has waited {:.0f} s for the others", text, wait.seconds()));
        }
    });
}

ToldWait::~ToldWait() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
}

}  // namespace hone::inline v0_1
