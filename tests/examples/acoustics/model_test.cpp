#include "examples/acoustics/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

#include "examples/acoustics/files.hpp"
#include "examples/acoustics/synthetic_model.hpp"
#include "generator/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::examples::seismic::model_test {
namespace {

using testing::HasSubstr;

template <typename Function>
std::string error_of(const Function& function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

Model small_model(int dimension, std::uint64_t seed = 3) {
    return synthetic_model(
        {.dimension = dimension, .cells = dimension == 3 ? std::array{6, 5, 40} : std::array{30, 40, 1}, .spacing = 5, .seed = seed});
}

TEST(AcousticModel, ComesBackFromRawFilesAndFromSegy) {
    const test::TemporaryFolder folder;
    for (const int dimension : {2, 3})
        for (const char* name : {"model.json", "model.segy", "model.sgy"}) {
            const Model model = small_model(dimension);
            write_model(folder.path() / name, model);
            const Model read = read_model(folder.path() / name);
            EXPECT_EQ(read.dimension, model.dimension) << name;
            EXPECT_EQ(read.cells, model.cells) << name;
            EXPECT_EQ(read.spacing, model.spacing);
            EXPECT_EQ(read.speed, model.speed) << name;
            EXPECT_EQ(read.density, model.density);  // Gardner's rule gives the same where the file has none
            EXPECT_EQ(read_model(folder.path() / name, 7).spacing, 7);
        }
}

TEST(AcousticModel, DensityMayBeANumberOrLeftOut) {
    const test::TemporaryFolder folder;
    const std::vector<float> speed{1500, 3000, 1400, 2000};
    write_contents(folder.path() / "v.f32", {reinterpret_cast<const char*>(speed.data()), 16});
    const std::string head = R"({"format": "acoustic model", "cells": [2, 2], "spacing": 2.5, "speed": "v.f32")";
    write_contents(folder.path() / "a.json", head + "}");
    write_contents(folder.path() / "b.json", head + R"(, "density": 1200})");
    EXPECT_EQ(read_model(folder.path() / "a.json").density[0], 1000);
    EXPECT_NEAR(read_model(folder.path() / "a.json").density[1], 310 * std::pow(3000.0, 0.25), 0.01);
    EXPECT_EQ(read_model(folder.path() / "b.json").density, std::vector<float>(4, 1200));
}

TEST(AcousticModel, ErrorsSayWhere) {
    const std::vector<float> words{1500, 0, std::numeric_limits<float>::quiet_NaN()};
    const std::string_view bytes(reinterpret_cast<const char*>(words.data()), 12);
    EXPECT_THAT(error_of([&] { parse_raw(bytes, 3, 20000, "v.f32"); }), HasSubstr("v.f32: offset 4: 0"));
    EXPECT_THAT(error_of([&] { parse_raw(bytes.substr(8), 1, 20000, "v.f32"); }), HasSubstr("offset 0: nan"));
    EXPECT_THAT(error_of([&] { parse_raw(bytes, 4, 20000, "v.f32"); }), HasSubstr("ends at offset 12; 4 cells make 16 bytes"));
    for (const char* wrong : {"", "{}", R"({"format": "acoustic model", "cells": [2], "spacing": 1, "speed": "v"})",
                              R"({"format": "acoustic model", "cells": [2, 0], "spacing": 1, "speed": "v"})",
                              R"({"format": "acoustic model", "cells": [65536, 65536, 65536], "spacing": 1, "speed": "v"})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 0, "speed": "v"})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 1, "speed": "../v"})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 1, "speed": "v", "unknown": 1})",
                              R"({"format": "elastic model", "cells": [2, 2], "spacing": 1, "speed": "v"})"})
        EXPECT_THAT(error_of([&] { parse_model_header(wrong, "m.json"); }), HasSubstr("m.json")) << wrong;
    EXPECT_THROW(read_model("/nowhere/at/all.json"), Error);
}

TEST(AcousticModel, SegyColumnsMustFillARectangle) {
    SegyFile segy;
    for (const int line : {1, 1, 2, 2, 3}) segy.traces.push_back({.inline_number = line, .samples = {1500, 1600}});
    EXPECT_THAT(error_of([&] { model_from_segy(segy, 0, "f"); }), HasSubstr("last line has 1 traces"));
    segy.traces.back().inline_number = 2;
    EXPECT_THAT(error_of([&] { model_from_segy(segy, 0, "f"); }), HasSubstr("trace 5 has inline number 2"));
    segy.traces.pop_back();
    EXPECT_EQ(model_from_segy(segy, 0, "f").cells, (std::array{2, 2, 2}));
    segy.traces[3].samples[1] = -1;
    EXPECT_THAT(error_of([&] { model_from_segy(segy, 0, "f"); }), HasSubstr("trace 4, sample 2: -1 m/s"));
    segy.traces[3].samples[1] = 1;
    segy.traces[1].inline_number = 0;
    EXPECT_THAT(error_of([&] { model_from_segy(segy, 0, "f"); }), HasSubstr("trace 2 has inline number 0"));
}

// Water on top, speeds that grow with depth, layers and faults that a seed decides, and the same
// landscape on every grid.
TEST(SyntheticModel, LooksLikeGround) {
    const Model model = small_model(2);
    EXPECT_EQ(model.speed[model.at(10, 0, 0)], 1500);
    EXPECT_EQ(model.slowest(), 1500);
    EXPECT_GT(model.fastest(), 3000);
    EXPECT_LE(model.fastest(), 4700);
    double top = 0, bottom = 0;
    for (int x = 0; x < 30; ++x) top += model.speed[model.at(x, 5, 0)], bottom += model.speed[model.at(x, 39, 0)];
    EXPECT_GT(bottom, 1.5 * top);
    EXPECT_EQ(model.speed, small_model(2).speed);
    EXPECT_NE(model.speed, small_model(2, 4).speed);
    const Model finer = synthetic_model({.cells = {90, 120, 1}, .spacing = 5.0 / 3, .seed = 3});
    for (int y = 0; y < 40; ++y)
        for (int x = 0; x < 30; ++x) EXPECT_EQ(finer.speed[finer.at(3 * x + 1, 3 * y + 1, 0)], model.speed[model.at(x, y, 0)]);
    const Model deep = small_model(3);
    std::set<float> speeds(deep.speed.begin(), deep.speed.end());
    EXPECT_GT(speeds.size(), 40U);
    EXPECT_THROW(synthetic_model({.layers = 0}), Error);
}

}  // namespace
}  // namespace hone::examples::seismic::model_test
