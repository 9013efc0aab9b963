#include "tuner/online/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/online/session.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t most_rejections_shown = 10;  // that the text lists

std::string percent(double part, double whole) {
    return whole > 0 ? fmt::format("{:.2f} %", 100 * part / whole) : "0 %";
}

}  // namespace

std::string to_string(const OnlineReport& report) {
    const OnlineProgress& p = report.progress;
    std::string text = fmt::format("{} on {}: {}\n", report.problem, report.device, report.state);
    text += fmt::format("  steps      {}, of which {} tried candidates; {:.4g} s\n", p.steps, p.explored_steps, p.seconds);
    text += fmt::format("  candidates {} evaluated, {} tried in the application, {} adopted\n", p.evaluations, p.tried, p.adopted);
    text += fmt::format("  before     {}: {:.4g} us a step\n", report.first_config, p.first_median * 1e6);
    text += fmt::format("  now        {}: {:.4g} us a step\n", report.config, p.median * 1e6);
    if (!report.verified_on.empty()) text += fmt::format("  verified   on {} only\n", report.verified_on);
    text += fmt::format("  exploring  {:.4g} s, {} of the time ({:.4g} s allowed): slower steps {:.4g} s, disturbance {:.4g} s, switching {:.4g} s\n",
                        p.regret(), percent(p.regret(), p.seconds), p.allowed(), p.explored_cost, p.disturbance, p.stalls);
    text += fmt::format("  saved      {:.4g} s against the first configuration in every step\n", p.saved);
    if (p.drifts > 0) text += fmt::format("  drift      noticed {} times\n", p.drifts);
    const std::size_t listed = std::min(most_rejections_shown, p.rejections.size());
    for (std::size_t i = p.rejections.size() - listed; i < p.rejections.size(); ++i)
        text += fmt::format("  rejected   {}: {}\n", p.rejections[i].config, p.rejections[i].reason);
    return text;
}

struct OnlineTuner::State {
    Backend& backend;
    const Families& families;
    std::filesystem::path folder;
    OnlineSettings settings;
    std::unique_ptr<OnlineSession> session;
    std::vector<OnlineReport> earlier;

    void begin(const Problem& problem, std::span<void* const> arrays) {
        session = std::make_unique<OnlineSession>(backend, families, folder, problem, arrays, settings);
    }
};

OnlineTuner::OnlineTuner(Backend& backend, const Families& families, std::filesystem::path folder, const Problem& problem,
                         std::span<void* const> arrays, OnlineSettings settings)
    : state_(new State{backend, families, std::move(folder), std::move(settings), nullptr, {}}) {
    state_->begin(problem, arrays);
}

OnlineTuner::~OnlineTuner() = default;
OnlineTuner::OnlineTuner(OnlineTuner&&) noexcept = default;
OnlineTuner& OnlineTuner::operator=(OnlineTuner&&) noexcept = default;

void OnlineTuner::step(Stream stream) {
    state_->session->step(stream);
}

void OnlineTuner::prepare(Stream stream) {
    state_->session->prepare(stream);
}

void OnlineTuner::set_arrays(std::span<void* const> arrays, Stream stream) {
    state_->session->set_arrays(arrays, stream);
}

void OnlineTuner::set_problem(const Problem& problem, std::span<void* const> arrays) {
    state_->session->finish();
    state_->earlier.push_back(state_->session->report());
    state_->begin(problem, arrays);
}

void OnlineTuner::finish() {
    state_->session->finish();
}

OnlineReport OnlineTuner::report() const {
    return state_->session->report();
}

std::vector<OnlineReport> OnlineTuner::reports() const {
    std::vector<OnlineReport> all = state_->earlier;
    all.push_back(report());
    return all;
}

}  // namespace hone::inline v0_1
