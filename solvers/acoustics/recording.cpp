#include "solvers/acoustics/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/acoustics/files.hpp"
#include "solvers/output/image.hpp"
#include "solvers/output/rank_image.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

// The value that all but one in `outliers` stay below.
double clip_of(const std::vector<float>& values, std::size_t outliers) {
    std::vector<float> sizes(values.size());
    std::transform(values.begin(), values.end(), sizes.begin(), [](float value) { return std::abs(value); });
    std::erase_if(sizes, [](float size) { return !std::isfinite(size) || size == 0; });
    if (sizes.empty()) return 1;
    const auto place = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() - 1 - sizes.size() / outliers);
    std::nth_element(sizes.begin(), place, sizes.end());
    return *place;
}

// Columns and rows of a vertical section.
struct Section {
    const Model& model;
    int y;

    int width() const { return model.cells[0]; }
    int height() const { return model.cells[static_cast<std::size_t>(model.depth_axis())]; }
    std::size_t at(int x, int depth) const { return model.dimension == 2 ? model.at(x, depth, 0) : model.at(x, y, depth); }
};

// Small pictures are hard to look at.
int magnification(int width) {
    constexpr int comfortable = 700;
    return std::clamp(comfortable / width, 1, 8);
}

}  // namespace

Recording Recording::resampled(const std::vector<std::vector<float>>& steps, double step_seconds, int interval) {
    Recording recording{interval, {}};
    for (const auto& trace : steps) {
        // Entry i is of time (i + 1) dt; before it all is silent.
        const auto value = [&](std::ptrdiff_t i) { return i < 1 || i > std::ssize(trace) ? 0.0 : trace[static_cast<std::size_t>(i - 1)]; };
        std::vector<float> samples;
        for (std::ptrdiff_t sample = 0;; ++sample) {
            const double position = static_cast<double>(sample) * interval * 1e-6 / step_seconds;
            if (position > static_cast<double>(trace.size())) break;
            const auto left = static_cast<std::ptrdiff_t>(position);
            const double t = position - static_cast<double>(left);
            // Lagrange's polynomial through the two steps before and the two after.
            const double cubic = -t * (t - 1) * (t - 2) / 6 * value(left - 1) + (t + 1) * (t - 1) * (t - 2) / 2 * value(left) -
                                 (t + 1) * t * (t - 2) / 2 * value(left + 1) + (t + 1) * t * (t - 1) / 6 * value(left + 2);
            samples.push_back(static_cast<float>(cubic));
        }
        recording.traces.push_back(std::move(samples));
    }
    return recording;
}

void write_recording_segy(const std::filesystem::path& file, const Recording& recording, const Survey& survey, const Model& model,
                          const std::string& title) {
    const auto metres = [&](const Cell& cell, int axis) {
        return axis == 1 && model.dimension == 2 ? 0 : (cell[static_cast<std::size_t>(axis)] + 0.5) * model.spacing;
    };
    SegyFile segy{recording.interval, {}};
    for (std::size_t i = 0; i < recording.traces.size(); ++i) {
        SegyTrace trace;
        trace.inline_number = survey.receivers[i][1] + 1;
        trace.crossline_number = survey.receivers[i][0] + 1;
        trace.source_x = metres(survey.source, 0), trace.source_y = metres(survey.source, 1);
        trace.source_depth = metres(survey.source, model.depth_axis());
        if (model.dimension == 2) trace.source_depth = (survey.source[1] + 0.5) * model.spacing, trace.inline_number = 1;
        trace.x = metres(survey.receivers[i], 0), trace.y = metres(survey.receivers[i], 1);
        trace.elevation = -(survey.receivers[i][static_cast<std::size_t>(model.depth_axis())] + 0.5) * model.spacing;
        trace.samples = recording.traces[i];
        segy.traces.push_back(std::move(trace));
    }
    write_segy(file, segy, title);
}

void write_recording_csv(const std::filesystem::path& file, const Recording& recording) {
    std::string text = "seconds";
    for (std::size_t i = 0; i < recording.traces.size(); ++i) text += fmt::format(",receiver_{}", i + 1);
    text += "\n";
    const std::size_t samples = recording.traces.empty() ? 0 : recording.traces.front().size();
    for (std::size_t sample = 0; sample < samples; ++sample) {
        text += fmt::format("{:.6f}", static_cast<double>(sample) * recording.interval * 1e-6);
        for (const auto& trace : recording.traces) text += fmt::format(",{}", trace[sample]);
        text += "\n";
    }
    write_contents(file, text);
}

void write_recording_png(const std::filesystem::path& file, const Recording& recording) {
    const auto width = static_cast<int>(recording.traces.size());
    std::vector<float> all;
    for (const auto& trace : recording.traces) all.insert(all.end(), trace.begin(), trace.end());
    if (all.empty()) return;
    const double clip = clip_of(all, 50);
    const auto height = static_cast<int>(recording.traces.front().size());
    const int wider = magnification(width);
    const auto value = [&](int x, int y) { return recording.traces[static_cast<std::size_t>(x / wider)][static_cast<std::size_t>(y)]; };
    write_png(file, width * wider, height, value, {.low = -clip, .high = clip});
}

void write_snapshot_png(const std::filesystem::path& file, const Model& model, const std::vector<float>& pressure, int y) {
    const Section section{model, y};
    const double clip = clip_of(pressure, 200), slowest = model.slowest(), range = std::max(1.0, model.fastest() - slowest);
    ImageStyle style{.low = -clip, .high = clip, .magnify = magnification(section.width())};
    style.shade = [&](int x, int depth) { return 1 - 0.5 * (model.speed[section.at(x, depth)] - slowest) / range; };
    write_png(
        file, section.width(), section.height(), [&](int x, int depth) { return pressure[section.at(x, depth)]; }, style);
}

std::string write_snapshot_vti(Communicator& ranks, const std::filesystem::path& folder, const std::string& stem, const Model& model,
                               const std::vector<float>& pressure, const CellRange& layers) {
    const double h = model.spacing;
    const auto depth = static_cast<std::size_t>(model.depth_axis());
    VtkImage::Extents cells = model.cells, first{};
    cells[depth] = static_cast<int>(layers.cells());
    first[depth] = static_cast<int>(layers.first);
    VtkImage image(cells, {0, 0, 0}, {h, h, h}, first);
    const std::size_t begin = depth == 1 ? model.at(0, first[1], 0) : model.at(0, 0, first[2]);
    image.cell_field("pressure", 1, std::span(pressure));
    image.cell_field("speed", 1, std::span(model.speed).subspan(begin, pressure.size()));
    return write_rank_image(ranks, folder, stem, image, model.cells);
}

void write_model_png(const std::filesystem::path& file, const Model& model, int y) {
    const Section section{model, y};
    write_png(file, section.width(), section.height(), [&](int x, int depth) { return model.speed[section.at(x, depth)]; },
              {.map = ColourMap::sequential, .magnify = magnification(section.width())});
}

}  // namespace hone::inline v0_1::solvers::seismic
