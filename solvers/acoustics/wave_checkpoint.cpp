#include "solvers/acoustics/wave_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "foundation/error.hpp"
#include "foundation/sha256.hpp"
#include "solvers/output/checkpoint_file.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

constexpr const char* kind = "acoustics checkpoint 1";

template <typename Word>
std::string_view bytes_of(const std::vector<Word>& words) {
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(Word)};
}

template <typename Number>
Number number(std::string_view text, const std::filesystem::path& file) {
    Number value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
        throw Error(file.string(), fmt::format("\"{}\" stands where a number should", text), "use an undamaged checkpoint");
    return value;
}

}  // namespace

WaveIdentity identity_of(const Model& model, const WaveSettings& settings, const Survey& survey) {
    std::string walls, places;
    for (int axis = 0; axis < model.dimension; ++axis)
        for (const Wall wall : settings.walls[static_cast<std::size_t>(axis)]) walls += to_string(wall) + ", ";
    for (const Cell& cell : survey.receivers) places += fmt::format("{} {} {};", cell[0], cell[1], cell[2]);
    return {{"cells", fmt::format("{} x {} x {} of {} m", model.cells[0], model.cells[1], model.cells[2], model.spacing)},
            {"model", sha256(std::string(bytes_of(model.speed)) + std::string(bytes_of(model.density)))},
            {"waves", fmt::format("order {}, {}, kernels {}, {} levels, {}layer of {} cells, Courant number {}", settings.order, settings.precision,
                                  settings.kernels, settings.levels, walls, settings.layer, settings.courant)},
            {"source", fmt::format("{} Hz at {} {} {}", survey.ricker.frequency, survey.source[0], survey.source[1], survey.source[2])},
            {"receivers", fmt::format("{}, {}", survey.receivers.size(), sha256(places))}};
}

void write_wave_checkpoint(const std::filesystem::path& file, const WaveCheckpoint& checkpoint) {
    CheckpointFile to{checkpoint.identity, checkpoint.state.fields};
    to.lines.emplace_back("done", fmt::format("{}", checkpoint.state.done));
    for (const double energy : checkpoint.energies) to.lines.emplace_back("energy", fmt::format("{}", energy));
    for (const auto& [time, name] : checkpoint.series) to.lines.emplace_back("snapshot", fmt::format("{} {}", time, name));
    for (const auto& trace : checkpoint.state.recording) {
        const auto bytes = std::as_bytes(std::span(trace));
        to.state.insert(to.state.end(), bytes.begin(), bytes.end());
    }
    write_checkpoint_file(file, kind, to);
}

WaveCheckpoint read_wave_checkpoint(const std::filesystem::path& file, const WaveIdentity& identity, std::size_t receivers) {
    CheckpointFile from = read_checkpoint_file(file, kind);
    for (const auto& [name, value] : identity)
        if (const std::string& there = from.value(name, file); there != value)
            throw Error(file.string(), fmt::format("its {} is {}, that of this run {}", name, there, value),
                        "go on with the options of the first run");
    WaveCheckpoint result{identity, {}, {}, {}};
    result.state.done = number<int>(from.value("done", file), file);
    for (const std::string& energy : from.values("energy")) result.energies.push_back(number<double>(energy, file));
    for (const std::string& snapshot : from.values("snapshot")) {
        const std::size_t space = std::min(snapshot.find(' '), snapshot.size());
        result.series.emplace_back(number<double>(std::string_view(snapshot).substr(0, space), file),
                                   snapshot.substr(std::min(space + 1, snapshot.size())));
    }
    const std::size_t samples = static_cast<std::size_t>(std::max(result.state.done, 0)), bytes = receivers * samples * sizeof(float);
    if (from.state.size() < bytes) throw Error(file.string(), "it is too short for its recording", "use an undamaged checkpoint");
    const std::byte* next = from.state.data() + (from.state.size() - bytes);
    result.state.recording.assign(receivers, std::vector<float>(samples));
    for (auto& trace : result.state.recording) {
        if (!trace.empty()) std::memcpy(trace.data(), next, samples * sizeof(float));
        next += samples * sizeof(float);
    }
    from.state.resize(from.state.size() - bytes);
    result.state.fields = std::move(from.state);
    return result;
}

}  // namespace hone::inline v0_1::solvers::seismic
