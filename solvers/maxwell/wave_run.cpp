#include "solvers/maxwell/wave_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "foundation/error.hpp"
#include "solvers/maxwell/frames.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The next multiple of `every` behind `step`; `last` when there is none before.
std::int64_t next_multiple(std::int64_t step, std::int64_t every, std::int64_t last) {
    return every > 0 ? std::min(last, (step / every + 1) * every) : last;
}

class Run {
  public:
    Run(WaveSolver& solver, const Discretisation& of, const WavePart* part, const WaveRunSettings& settings, Checkpoint identity)
        : solver_(solver), of_(of), part_(part), settings_(settings), state_(std::move(identity)) {
        if (settings.frames_folder.empty()) return;
        if (part == nullptr)
            frames_.emplace(of, settings.frames_folder);
        else
            frames_.emplace(*part, settings.frames_folder);
    }

    WaveRunResult from(const std::vector<double>& first_fields) {
        begin(first_fields);
        result_.first = state_.step;
        const std::int64_t last = settings_.stop_after > 0 ? std::min(settings_.stop_after, result_.steps) : result_.steps;
        const std::int64_t energy_every = every(settings_.energy_samples);
        const std::int64_t frame_every = every(settings_.frames);
        while (state_.step < last) {
            std::int64_t to = next_multiple(state_.step, energy_every, last);
            if (frames_) to = std::min(to, next_multiple(state_.step, frame_every, last));
            if (!settings_.checkpoint.empty()) to = std::min(to, next_multiple(state_.step, settings_.checkpoint_every, last));
            advance(to, to == last && settings_.times_last_step);
            const bool samples = state_.step % energy_every == 0 || state_.step == result_.steps;
            const bool draws = frames_ && (state_.step % frame_every == 0 || state_.step == result_.steps);
            if (samples || draws) look(samples, draws);
            const bool due = settings_.checkpoint_every > 0 && state_.step % settings_.checkpoint_every == 0;
            if (!settings_.checkpoint.empty() && (due || state_.step == last)) save();
        }
        result_.done = state_.step;
        result_.energy = state_.energy;
        result_.fields = solver_.fields();
        state_.state.clear();
        result_.end = state_;
        return std::move(result_);
    }

  private:
    void begin(const std::vector<double>& first_fields) {
        std::tie(result_.steps, result_.dt) = planned_steps(of_, settings_);
        if (settings_.from != nullptr) {
            const std::vector<std::byte>& state = settings_.from->state;
            if (!state.empty()) solver_.set_state(part_ == nullptr ? state : part_->part_of(state, word_bytes()));
            state_.step = settings_.from->step, state_.dt = settings_.from->dt, state_.energy = settings_.from->energy;
        } else if (settings_.restart.empty()) {
            solver_.set_fields(first_fields);
            state_.dt = result_.dt;
            look(true, frames_.has_value());
        } else {
            Checkpoint found = read_checkpoint(settings_.restart);
            require_same(found, state_, settings_.restart);
            if (found.form != state_.form || found.configurations != state_.configurations)
                throw Error(settings_.restart.string(), "its kernels are others than this run's", "make the solver with the checkpoint's");
            if (found.dt != result_.dt)
                throw Error(settings_.restart.string(), fmt::format("its time step is {}, that of this run {}", found.dt, result_.dt),
                            "go on with the options of the first run");
            solver_.set_state(part_ == nullptr ? found.state : part_->part_of(found.state, word_bytes()));
            state_ = std::move(found);
        }
        solver_.set_step(state_.dt);
    }

    std::int64_t every(int samples) const { return std::max<std::int64_t>(1, result_.steps / std::max(samples, 1)); }

    // In pieces of about half a second, so that progress can be shown.
    void advance(std::int64_t to, bool times_last) {
        constexpr double short_piece = 0.25;
        while (state_.step < to) {
            const std::int64_t end = std::min(to, state_.step + piece_);
            const double began = seconds_now();
            for (; state_.step < end; ++state_.step)
                if (times_last && state_.step + 1 == to)
                    result_.last_step = solver_.timed_step();
                else
                    solver_.step();
            solver_.synchronise();
            const double took = seconds_now() - began;
            result_.seconds += took;
            if (took < short_piece) piece_ *= 2;
            if (settings_.progress) settings_.progress(state_.step, result_.steps, state_.energy.back().second);
        }
    }

    void look(bool samples, bool draws) {
        const std::vector<double> q = solver_.fields();
        const double time = state_.dt * static_cast<double>(state_.step);
        if (samples) state_.energy.emplace_back(time, part_ == nullptr ? of_.energy(q) : part_->energy(q));
        if (draws) frames_->add(time, q);
    }

    void save() {
        state_.state = solver_.state();
        if (part_ != nullptr) state_.state = part_->whole_of(state_.state, word_bytes());
        if (part_ == nullptr || part_->ranks().rank() == 0) write_checkpoint(settings_.checkpoint, state_);
    }

    int word_bytes() const { return state_.precision == "f32" ? 4 : 8; }

    WaveSolver& solver_;
    const Discretisation& of_;
    const WavePart* part_;  // nothing: the whole mesh is here
    const WaveRunSettings& settings_;
    Checkpoint state_;  // its fields only when it is written
    std::optional<WaveFrames> frames_;
    WaveRunResult result_;
    std::int64_t piece_ = 1;  // steps between two looks at the clock
};

}  // namespace

double WaveRunResult::largest_growth() const {
    double largest = -1;
    for (std::size_t i = 1; i < energy.size(); ++i)
        if (energy[0].second > 0) largest = std::max(largest, (energy[i].second - energy[i - 1].second) / energy[0].second);
    return largest;
}

std::pair<std::int64_t, double> planned_steps(const Discretisation& of, const WaveRunSettings& settings) {
    if (!(settings.time > 0) || !(settings.step_part > 0)) throw Error("wave run", "time and time step must be positive", "use numbers above 0");
    const double stable = of.stable_step(settings.step_part);
    const double steps = std::max(1.0, std::ceil(settings.time / stable));
    constexpr double most = 1e12;
    if (steps > most) throw Error("wave run", fmt::format("it would take {:.3g} steps", steps), "use a shorter time or larger elements");
    return {static_cast<std::int64_t>(steps), settings.time / steps};
}

namespace {

WaveRunResult run_waves(WaveSolver& solver, const Discretisation& of, const WavePart* part, Precision precision, StageForm form,
                        const std::vector<double>& first_fields, const WaveRunSettings& settings) {
    Checkpoint identity;
    identity.equation = of.equation->name;
    identity.order = of.element->order;
    identity.precision = to_string(precision);
    identity.mesh = part == nullptr ? fingerprint(*of.equation, of.mesh, of.material) : part->fingerprint();
    identity.form = to_string(form);
    identity.configurations = solver.configurations();
    return Run(solver, of, part, settings, std::move(identity)).from(first_fields);
}

}  // namespace

WaveRunResult run_waves(WaveSolver& solver, const Discretisation& of, Precision precision, StageForm form, const std::vector<double>& first_fields,
                        const WaveRunSettings& settings) {
    return run_waves(solver, of, nullptr, precision, form, first_fields, settings);
}

WaveRunResult run_waves(WaveSolver& solver, const WavePart& part, Precision precision, StageForm form, const std::vector<double>& first_fields,
                        const WaveRunSettings& settings) {
    return run_waves(solver, part.here(), &part, precision, form, first_fields, settings);
}

std::string to_string(StageForm form) {
    return form == StageForm::fused ? "fused" : "kernels";
}

StageForm parse_form(const std::string& word) {
    if (word == "fused") return StageForm::fused;
    if (word == "kernels") return StageForm::kernels;
    throw Error("form of a stage", "it is \"" + word + "\"", "use kernels or fused");
}

}  // namespace hone::inline v0_1::solvers::maxwell
