#include "solvers/acoustics/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/text.hpp"
#include "solvers/acoustics/recording.hpp"
#include "solvers/acoustics/wave_checkpoint.hpp"
#include "solvers/output/progress.hpp"
#include "solvers/output/vtk.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

constexpr int energy_samples = 12;
// From one look at the clock to the next: fewer would keep a GPU waiting for its host.
constexpr int least_stretch = 32;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int steps_of(double seconds, double step) {
    const double steps = std::ceil(seconds / step);
    constexpr double most = 1e9;
    if (!(steps <= most))
        throw Error("time of the waves", fmt::format("{} make {:.3g} time steps of {}", text::duration(seconds), steps, text::duration(step)),
                    fmt::format("stay below {:.0e}: give a shorter --time, a higher --frequency or wider cells", most));
    return static_cast<int>(steps);
}

// The time loop: stretches of steps, between which pictures are drawn, energies are measured and
// checkpoints are written.
class Run {
  public:
    Run(Communicator& ranks, Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings, const Survey& survey,
        const RunSettings& wanted)
        : ranks_(ranks),
          backend_(backend),
          model_(model),
          settings_(settings),
          survey_(survey),
          wanted_(wanted),
          steps_(steps_of(wanted.seconds, time_step(model, settings))),
          solver_(ranks, backend, library, model, settings, survey, steps_) {}

    RunReport all() {
        if (!wanted_.restart.empty()) go_on();
        const int begun = solver_.steps_done();
        if (!wanted_.folder.empty()) {
            std::filesystem::create_directories(wanted_.folder);
            if (speaks()) write_model_png(file("model.png"), model_, survey_.source[1]);
        }
        std::optional<Progress> progress;
        if (speaks()) progress.emplace("time steps", steps_);
        const int silent = static_cast<int>(std::min(2 * survey_.ricker.delay() / solver_.step_seconds(), 1.0 * steps_)) + 1;
        const auto due = [&](int part, int parts, int from) { return from + static_cast<int>(std::int64_t{steps_ - from} * part / parts); };
        int picture = 1, energy = 0, saved = begun;
        const auto next_picture = [&] { return picture <= wanted_.snapshots ? due(picture, wanted_.snapshots, 0) : steps_; };
        const auto next_energy = [&] { return energy < energy_samples && silent < steps_ ? due(energy, energy_samples, silent) : steps_; };
        while (begun > 0 && next_picture() <= begun && picture <= wanted_.snapshots) ++picture;
        while (begun > 0 && next_energy() < begun && energy < energy_samples) ++energy;
        while (solver_.steps_done() < steps_) {
            const int breath = solver_.steps_done() + std::max(least_stretch, steps_ / 200), energy_due = next_energy(), picture_due = next_picture();
            advance(std::min({picture_due, energy_due, breath, steps_}) - solver_.steps_done());
            if (solver_.steps_done() >= energy_due && solver_.steps_done() < steps_) measure_energy(), ++energy;
            if (solver_.steps_done() >= picture_due) draw(picture++);
            if (wanted_.checkpoint_every > 0 && solver_.steps_done() - saved >= wanted_.checkpoint_every) save(), saved = solver_.steps_done();
            if (progress) progress->at(solver_.steps_done(), [&] { return fmt::format("{:.2f} s of waves", solver_.time()); });
        }
        progress.reset();
        if (!wanted_.checkpoint.empty() && saved < solver_.steps_done()) save();
        finish(begun);
        return report_;
    }

  private:
    bool speaks() const { return ranks_.rank() == 0; }

    std::filesystem::path file(const std::string& name) {
        report_.files.push_back((wanted_.folder / name).string());
        return wanted_.folder / name;
    }

    void advance(int steps) {
        const double begin = now();
        solver_.advance(steps);
        backend_.synchronise();
        report_.seconds += now() - begin;
        timed_ += steps;
    }
    void measure_energy() { energies_.push_back(solver_.advance_measuring_energy()); }

    void draw(int number) {
        if (wanted_.folder.empty()) return;
        const std::vector<float> pressure = solver_.pressure();
        const std::string stem = fmt::format("pressure_{:03}", number);
        if (speaks()) write_snapshot_png(file(stem + ".png"), model_, pressure, survey_.source[1]);
        if (!wanted_.volumes) return;
        const std::string name = write_snapshot_vti(ranks_, wanted_.folder, stem, model_, solver_.own_pressure(), solver_.model_layers());
        report_.files.push_back((wanted_.folder / name).string());
        series_.emplace_back(solver_.time(), name);
    }

    void save() {
        WaveState state = solver_.state();
        if (speaks()) write_wave_checkpoint(wanted_.checkpoint, {identity_of(model_, settings_, survey_), energies_, series_, std::move(state)});
        ranks_.barrier();  // no rank goes on, and perhaps ends the run, before it is written
    }
    void go_on() {
        WaveCheckpoint checkpoint = read_wave_checkpoint(wanted_.restart, identity_of(model_, settings_, survey_), survey_.receivers.size());
        if (checkpoint.state.done > steps_)
            throw Error(wanted_.restart.string(), fmt::format("{} time steps are done, this run has {}", checkpoint.state.done, steps_),
                        "give it a longer --time");
        solver_.set_state(checkpoint.state);
        energies_ = std::move(checkpoint.energies);
        series_ = std::move(checkpoint.series);
    }

    void finish(int begun) {
        report_.steps = steps_ - begun;
        report_.sent = solver_.bytes_sent();
        if (timed_ > 0) report_.seconds *= static_cast<double>(report_.steps) / timed_;  // steps in which energy was measured are left out
        const auto recording = solver_.recording();
        const std::vector<float> pressure = solver_.pressure();
        if (!speaks()) return;
        report_.checks.push_back(check_finite(recording, pressure));
        report_.checks.push_back(check_energy(energies_, settings_.precision));
        const double dt = solver_.step_seconds();
        report_.checks.push_back(check_arrivals(recording, dt, model_, survey_));
        if (auto exact = check_exact(recording, dt, model_, settings_, survey_)) report_.checks.push_back(std::move(*exact));
        if (wanted_.folder.empty() || recording.empty()) return;
        const Recording samples = Recording::resampled(recording, dt, wanted_.interval);
        const std::string title =
            fmt::format("PRESSURE, RICKER WAVELET OF {:.3g} HZ, PEAK AT {:.3g} S", survey_.ricker.frequency, survey_.ricker.delay());
        write_recording_segy(file("recording.segy"), samples, survey_, model_, title);
        write_recording_csv(file("recording.csv"), samples);
        write_recording_png(file("recording.png"), samples);
        if (!series_.empty()) write_vtk_series(file("pressure.pvd"), series_);
    }

    Communicator& ranks_;
    Backend& backend_;
    const Model& model_;
    const WaveSettings& settings_;
    const Survey& survey_;
    const RunSettings& wanted_;
    int steps_, timed_ = 0;
    WaveSolver solver_;
    RunReport report_;
    std::vector<double> energies_;
    std::vector<std::pair<double, std::string>> series_;
};

}  // namespace

RunReport run_survey(Communicator& ranks, Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings,
                     const Survey& survey, const RunSettings& wanted) {
    constexpr double most_steps = 10'000'000, most_samples = 32767;
    const double steps = wanted.seconds / time_step(model, settings), samples = wanted.seconds * 1e6 / wanted.interval;
    if (!(steps >= 1 && steps <= most_steps))
        throw Error("--time", fmt::format("{} s make {:.0f} time steps", wanted.seconds, steps), fmt::format("1 to {} can be", most_steps));
    if (!wanted.folder.empty() && samples > most_samples)
        throw Error("--interval", fmt::format("{:.0f} samples per trace", samples),
                    fmt::format("SEG-Y has at most {}: use a longer one", most_samples));
    if (wanted.checkpoint_every > 0 && wanted.checkpoint.empty()) throw Error("--checkpoint-every", "no file is named", "name one by --checkpoint");
    return Run(ranks, backend, library, model, settings, survey, wanted).all();
}

double suitable_frequency(const Model& model, const WaveSettings& settings) {
    const double cells = settings.order == 4 ? 6 : 4, per_hertz = Ricker{1}.highest_frequency();
    return model.slowest() / (cells * model.spacing * per_hertz);
}

double suitable_seconds(const Model& model, const Ricker& ricker) {
    const double mean = std::accumulate(model.speed.begin(), model.speed.end(), 0.0) / static_cast<double>(model.speed.size());
    return 2 * model.length(model.depth_axis()) / mean + 2 * ricker.delay();
}

}  // namespace hone::inline v0_1::solvers::seismic
