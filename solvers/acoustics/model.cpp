#include "solvers/acoustics/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "solvers/acoustics/files.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

static_assert(std::endian::native == std::endian::little, "raw files of this order are read as they are");

constexpr int most_cells_along_axis = 65536;
constexpr std::int64_t most_cells = std::int64_t{1} << 33;
constexpr double widest = 1e6;  // m

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

const std::string& either(const std::string& asked, const std::string& of_file) {
    return asked.empty() ? of_file : asked;
}

// One of the words that a member may be, if it is there.
void read_word(const JsonPlace& place, const char* name, const std::vector<std::string>& known, std::string& word) {
    const auto member = place.find(name);
    if (!member) return;
    word = member->string(20);
    if (std::find(known.begin(), known.end(), word) == known.end())
        member->fail(fmt::format("\"{}\"", word), fmt::format("use {}", fmt::join(known, ", ")));
}

std::vector<float> read_field(const std::filesystem::path& path, std::int64_t count, const std::string& byte_order, const Quantity& quantity,
                              const std::string& unit) {
    const std::string bytes = contents_of(path);
    std::vector<float> words = parse_raw(bytes, count, byte_order, path.string());
    const std::string other = byte_order == "little" ? "big" : "little";
    make_plausible(
        words, quantity, unit,
        {{fmt::format("as {}-endian floats", other), "give --byte-order " + other, [&] { return parse_raw(bytes, count, other, path.string()); }}},
        [&](std::size_t i) { return fmt::format("{}: offset {}", path.string(), i * sizeof(float)); });
    return words;
}

std::vector<float> samples_of(const SegyFile& segy) {
    std::vector<float> all;
    for (const SegyTrace& trace : segy.traces) all.insert(all.end(), trace.samples.begin(), trace.samples.end());
    return all;
}

Model read_segy_model(const std::filesystem::path& file, const ModelReading& reading) {
    const std::string bytes = contents_of(file), where = file.string();
    const ByteOrder order = reading.byte_order == "little" ? ByteOrder::little : ByteOrder::big;
    const auto samples = [&](SegyReading of) {
        of.order = order;
        return samples_of(parse_segy(bytes, where, of));
    };
    const SegyFile segy = parse_segy(bytes, where, {order});
    const SegyFormat other = segy.format == SegyFormat::ibm ? SegyFormat::ieee : SegyFormat::ibm;
    const std::vector<OtherReading> others{{fmt::format("as {} floats", other == SegyFormat::ieee ? "IEEE" : "IBM"),
                                            fmt::format("the file's sample format is wrong, write {} at offset 3224", static_cast<int>(other)),
                                            [&] { return samples({.format = other}); }},
                                           {"in the other byte order than the headers", "write the samples anew in the headers' order",
                                            [&] { return samples({.swapped_samples = true}); }}};
    return model_from_segy(segy, reading, where, others);
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
    place.only({"format", "cells", "spacing", "speed", "density", "byte_order", "speed_unit", "density_unit"});
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
    read_word(place, "byte_order", {"little", "big"}, header.byte_order);
    read_word(place, "speed_unit", sound_speeds().unit_names(), header.speed_unit);
    read_word(place, "density_unit", rock_densities().unit_names(), header.density_unit);
    if (const auto density = place.find("density")) {
        const JsonNode::Kind kind = density->node().kind;
        if (kind == JsonNode::Kind::string)
            header.density_file = plain_file(*density);
        else
            header.density_number = static_cast<float>(density->number(0, widest));
    }
    return header;
}

std::vector<float> parse_raw(std::string_view bytes, std::int64_t count, const std::string& byte_order, const std::string& where) {
    const auto expected = static_cast<std::size_t>(count) * sizeof(float);
    if (bytes.size() != expected)
        throw Error(where, fmt::format("it ends at offset {}", bytes.size()), fmt::format("{} cells make {} bytes", count, expected));
    std::vector<float> words(static_cast<std::size_t>(count));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    if (byte_order == "big")
        for (float& word : words) word = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(word)));
    return words;
}

Model model_from_segy(const SegyFile& segy, const ModelReading& reading, const std::string& where, const std::vector<OtherReading>& others) {
    const Rectangle lines = rectangle(segy, where);
    const std::size_t samples = segy.traces.front().samples.size();
    Model model;
    const auto columns = static_cast<int>(lines.columns), rows = static_cast<int>(lines.rows), deep = static_cast<int>(samples);
    // Some number the traces of their only line.
    model.dimension = rows > 1 && columns > 1 ? 3 : 2;
    model.cells = model.dimension == 3 ? std::array{columns, rows, deep} : std::array{columns * rows, deep, 1};
    model.spacing = reading.spacing > 0 ? reading.spacing : segy.interval * 1e-3;
    std::vector<float> speeds = samples_of(segy);
    make_plausible(speeds, sound_speeds(), either(reading.speed_unit, "m/s"), others,
                   [&](std::size_t i) { return fmt::format("{}: trace {}, sample {}", where, i / samples + 1, i % samples + 1); });
    model.speed.resize(speeds.size());
    for (std::size_t trace = 0; trace < segy.traces.size(); ++trace)
        for (std::size_t sample = 0; sample < samples; ++sample) model.speed[sample * segy.traces.size() + trace] = speeds[trace * samples + sample];
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

Model read_model(const std::filesystem::path& file, const ModelReading& reading) {
    if (is_segy(file)) return read_segy_model(file, reading);
    const ModelHeader header = parse_model_header(contents_of(file), file.string());
    Model model{header.dimension, header.cells, reading.spacing > 0 ? reading.spacing : header.spacing, {}, {}};
    const std::string& order = either(reading.byte_order, header.byte_order);
    const std::string& density_unit = either(reading.density_unit, header.density_unit);
    const auto beside = [&](const std::string& name) { return file.parent_path() / name; };
    model.speed = read_field(beside(header.speed_file), model.count(), order, sound_speeds(), either(reading.speed_unit, header.speed_unit));
    if (!header.density_file.empty()) {
        model.density = read_field(beside(header.density_file), model.count(), order, rock_densities(), density_unit);
    } else if (header.density_number) {
        std::vector<float> one{*header.density_number};
        make_plausible(one, rock_densities(), density_unit, {}, [&](std::size_t) { return file.string() + ": density"; });
        model.density.assign(model.speed.size(), one[0]);
    } else {
        model.density = densities(model.speed);
    }
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

}  // namespace hone::inline v0_1::solvers::seismic
