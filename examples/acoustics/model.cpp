#include "examples/acoustics/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "examples/acoustics/files.hpp"
#include "generator/error.hpp"
#include "tuning_db/json_tree.hpp"

namespace hone::examples::seismic {
namespace {

static_assert(std::endian::native == std::endian::little, "raw files are read as they are");

constexpr int most_cells_along_axis = 65536;
constexpr std::int64_t most_cells = std::int64_t{1} << 33;
constexpr float highest_speed = 20000;    // m/s: faster than anything on Earth
constexpr float highest_density = 30000;  // kg/m^3
constexpr double widest = 1e6;            // m

std::vector<float> densities(const std::vector<float>& speed) {
    std::vector<float> result(speed.size());
    std::transform(speed.begin(), speed.end(), result.begin(), gardner_density);
    return result;
}

bool is_segy(const std::filesystem::path& file) {
    return file.extension() == ".segy" || file.extension() == ".sgy";
}

// A file beside the header, and nowhere else.
std::string plain_file(const JsonPlace& place) {
    const std::string& name = place.string(200);
    if (name.empty() || name.find('/') != std::string::npos || name.starts_with("."))
        place.fail(fmt::format("\"{}\"", name), "name a file in the folder of this one");
    return name;
}

struct Rectangle {
    std::size_t columns = 0, rows = 0;
};

// How many traces a line has: all, when their inline numbers are one.
Rectangle rectangle(const SegyFile& segy, const std::string& where) {
    const auto& traces = segy.traces;
    const auto other = std::find_if(traces.begin(), traces.end(), [&](const auto& trace) { return trace.inline_number != traces[0].inline_number; });
    const auto columns = static_cast<std::size_t>(other - traces.begin());
    for (std::size_t i = 0; i < traces.size(); ++i) {
        const SegyTrace& start = traces[i / columns * columns];
        const bool new_line = i % columns == 0 && i > 0;
        const bool right = new_line ? start.inline_number > traces[i - columns].inline_number : traces[i].inline_number == start.inline_number;
        if (!right)
            throw Error(where, fmt::format("trace {} has inline number {}", i + 1, traces[i].inline_number),
                        fmt::format("sort the traces by it, and give every line the {} of the first", columns));
    }
    if (traces.size() % columns != 0)
        throw Error(where, fmt::format("the last line has {} traces", traces.size() % columns), fmt::format("give it the {} of the first", columns));
    return {columns, traces.size() / columns};
}

void check_speed(float speed, std::size_t trace, std::size_t sample, const std::string& where) {
    if (!(speed > 0 && speed <= highest_speed))
        throw Error(fmt::format("{}: trace {}, sample {}", where, trace + 1, sample + 1), fmt::format("{} m/s", speed),
                    fmt::format("a model's samples are speeds, above 0 and up to {}", highest_speed));
}

}  // namespace

float Model::slowest() const {
    return *std::min_element(speed.begin(), speed.end());
}
float Model::fastest() const {
    return *std::max_element(speed.begin(), speed.end());
}

Model homogeneous_model(int dimension, std::array<int, 3> cells, double spacing, float speed, float density) {
    Model model{dimension, cells, spacing, {}, {}};
    model.speed.assign(static_cast<std::size_t>(model.count()), speed);
    model.density.assign(static_cast<std::size_t>(model.count()), density);
    return model;
}

float gardner_density(float speed) {
    constexpr float water_speed = 1500, water_density = 1000;
    return speed <= water_speed ? water_density : std::max(water_density, 310 * std::sqrt(std::sqrt(speed)));
}

ModelHeader parse_model_header(std::string_view text, const std::string& where) {
    const JsonNode root = parse_json(text, where);
    const JsonPlace place(root, where);
    place.only({"format", "cells", "spacing", "speed", "density"});
    if (place["format"].string(50) != "acoustic model") place["format"].fail("another format", "\"acoustic model\" is what can be read");
    ModelHeader header;
    const JsonPlace cells = place["cells"];
    if (cells.elements() != 2 && cells.elements() != 3)
        cells.fail(fmt::format("{} numbers", cells.elements()), "give two or three, the number along x first");
    header.dimension = static_cast<int>(cells.elements());
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < cells.elements(); ++axis) {
        header.cells[axis] = static_cast<int>(cells[axis].integer(1, most_cells_along_axis));
        count *= header.cells[axis];
    }
    if (count > most_cells) cells.fail(fmt::format("{} cells", count), fmt::format("stay below {}", most_cells));
    header.spacing = place["spacing"].number(1e-6, widest);
    header.speed_file = plain_file(place["speed"]);
    if (const auto density = place.find("density")) {
        const JsonNode::Kind kind = density->node().kind;
        if (kind == JsonNode::Kind::string)
            header.density_file = plain_file(*density);
        else
            header.density_number = static_cast<float>(density->number(1e-3, highest_density));
    }
    return header;
}

std::vector<float> parse_raw(std::string_view bytes, std::int64_t count, float highest, const std::string& where) {
    const auto expected = static_cast<std::size_t>(count) * sizeof(float);
    if (bytes.size() != expected)
        throw Error(where, fmt::format("it ends at offset {}", bytes.size()), fmt::format("{} cells make {} bytes", count, expected));
    std::vector<float> words(static_cast<std::size_t>(count));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    const auto wrong = std::find_if(words.begin(), words.end(), [&](float word) { return !(word > 0 && word <= highest); });
    if (wrong != words.end())
        throw Error(fmt::format("{}: offset {}", where, static_cast<std::size_t>(wrong - words.begin()) * sizeof(float)), fmt::format("{}", *wrong),
                    fmt::format("values lie above 0 and reach up to {}, as little-endian 32-bit floats", highest));
    return words;
}

Model model_from_segy(const SegyFile& segy, double spacing, const std::string& where) {
    const Rectangle lines = rectangle(segy, where);
    const std::size_t samples = segy.traces.front().samples.size();
    Model model;
    const auto columns = static_cast<int>(lines.columns), rows = static_cast<int>(lines.rows), deep = static_cast<int>(samples);
    // Some number the traces of their only line.
    model.dimension = rows > 1 && columns > 1 ? 3 : 2;
    model.cells = model.dimension == 3 ? std::array{columns, rows, deep} : std::array{columns * rows, deep, 1};
    model.spacing = spacing > 0 ? spacing : segy.interval * 1e-3;
    model.speed.resize(static_cast<std::size_t>(model.count()));
    for (std::size_t trace = 0; trace < segy.traces.size(); ++trace)
        for (std::size_t sample = 0; sample < samples; ++sample) {
            const float speed = segy.traces[trace].samples[sample];
            check_speed(speed, trace, sample, where);
            model.speed[sample * segy.traces.size() + trace] = speed;
        }
    model.density = densities(model.speed);
    return model;
}

SegyFile segy_from_model(const Model& model) {
    SegyFile segy;
    segy.interval = static_cast<int>(std::lround(model.spacing * 1e3));
    const auto deep = static_cast<std::size_t>(model.cells[static_cast<std::size_t>(model.depth_axis())]);
    const auto columns = static_cast<std::size_t>(model.count()) / deep;
    const auto nx = static_cast<std::size_t>(model.cells[0]);
    for (std::size_t column = 0; column < columns; ++column) {
        const std::size_t x = column % nx, y = column / nx;
        SegyTrace trace;
        trace.inline_number = static_cast<std::int32_t>(y + 1);
        trace.crossline_number = static_cast<std::int32_t>(x + 1);
        trace.x = (static_cast<double>(x) + 0.5) * model.spacing;
        trace.y = (static_cast<double>(y) + 0.5) * model.spacing;
        for (std::size_t sample = 0; sample < deep; ++sample) trace.samples.push_back(model.speed[sample * columns + column]);
        segy.traces.push_back(std::move(trace));
    }
    return segy;
}

Model read_model(const std::filesystem::path& file, double spacing) {
    if (is_segy(file)) return model_from_segy(read_segy(file), spacing, file.string());
    const ModelHeader header = parse_model_header(contents_of(file), file.string());
    Model model{header.dimension, header.cells, spacing > 0 ? spacing : header.spacing, {}, {}};
    const auto read = [&](const std::string& name, float highest) {
        const std::filesystem::path path = file.parent_path() / name;
        return parse_raw(contents_of(path), model.count(), highest, path.string());
    };
    model.speed = read(header.speed_file, highest_speed);
    if (!header.density_file.empty())
        model.density = read(header.density_file, highest_density);
    else if (header.density_number)
        model.density.assign(model.speed.size(), *header.density_number);
    else
        model.density = densities(model.speed);
    return model;
}

void write_model(const std::filesystem::path& file, const Model& model) {
    if (is_segy(file)) {
        write_segy(file, segy_from_model(model), fmt::format("ACOUSTIC MODEL, SPEED IN M/S, CELLS OF {} M", model.spacing));
        return;
    }
    const auto bytes = [](const std::vector<float>& words) {
        return std::string_view(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(float));
    };
    const std::string stem = file.stem().string(), speed = stem + ".speed.f32", density = stem + ".density.f32";
    write_contents(file.parent_path() / speed, bytes(model.speed));
    write_contents(file.parent_path() / density, bytes(model.density));
    std::string cells = fmt::format("{}, {}", model.cells[0], model.cells[1]);
    if (model.dimension == 3) cells += fmt::format(", {}", model.cells[2]);
    write_contents(file, fmt::format("{{\"format\": \"acoustic model\", \"cells\": [{}], \"spacing\": {}, \"speed\": \"{}\", \"density\": \"{}\"}}\n",
                                     cells, model.spacing, speed, density));
}

}  // namespace hone::examples::seismic
