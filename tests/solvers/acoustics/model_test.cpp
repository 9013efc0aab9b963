#include "solvers/acoustics/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <set>

#include "foundation/error.hpp"
#include "solvers/acoustics/files.hpp"
#include "solvers/acoustics/synthetic_model.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::seismic::model_test {
namespace {

using testing::AllOf;
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
            EXPECT_EQ(read_model(folder.path() / name, {.spacing = 7}).spacing, 7);
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
    const std::string_view bytes("four words here!");
    EXPECT_THAT(error_of([&] { parse_raw(bytes, 3, "little", "v.f32"); }), HasSubstr("ends at offset 16; 3 cells make 12 bytes"));
    EXPECT_EQ(parse_raw(std::string_view("\x44\xbb\x80\0", 4), 1, "big", "v.f32"), std::vector<float>{1500});
    EXPECT_EQ(parse_raw(std::string_view("\0\x80\xbb\x44", 4), 1, "little", "v.f32"), std::vector<float>{1500});
    for (const char* wrong : {"", "{}", R"({"format": "acoustic model", "cells": [2], "spacing": 1, "speed": "v"})",
                              R"({"format": "acoustic model", "cells": [2, 0], "spacing": 1, "speed": "v"})",
                              R"({"format": "acoustic model", "cells": [65536, 65536, 65536], "spacing": 1, "speed": "v"})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 0, "speed": "v"})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 1, "speed": "../v"})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 1, "speed": "v", "unknown": 1})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 1, "speed": "v", "byte_order": "middle"})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 1, "speed": "v", "speed_unit": "mph"})",
                              R"({"format": "acoustic model", "cells": [2, 2], "spacing": 1, "speed": "v", "density": -1})",
                              R"({"format": "elastic model", "cells": [2, 2], "spacing": 1, "speed": "v"})"})
        EXPECT_THAT(error_of([&] { parse_model_header(wrong, "m.json"); }), HasSubstr("m.json")) << wrong;
    EXPECT_THROW(read_model("/nowhere/at/all.json"), Error);
}

TEST(AcousticModel, SegyColumnsMustFillARectangle) {
    SegyFile segy;
    for (const int line : {1, 1, 2, 2, 3}) segy.traces.push_back({.inline_number = line, .samples = {1500, 1600}});
    EXPECT_THAT(error_of([&] { model_from_segy(segy, {}, "f"); }), HasSubstr("last line has 1 traces"));
    segy.traces.back().inline_number = 2;
    EXPECT_THAT(error_of([&] { model_from_segy(segy, {}, "f"); }), HasSubstr("trace 5 has inline number 2"));
    segy.traces.pop_back();
    EXPECT_EQ(model_from_segy(segy, {}, "f").cells, (std::array{2, 2, 2}));
    segy.traces[3].samples[1] = -1;
    EXPECT_THAT(error_of([&] { model_from_segy(segy, {}, "f"); }), HasSubstr("trace 4, sample 2: -1 m/s"));
    segy.traces[3].samples[1] = 1;
    segy.traces[1].inline_number = 0;
    EXPECT_THAT(error_of([&] { model_from_segy(segy, {}, "f"); }), HasSubstr("trace 2 has inline number 0"));
}

// What a model of small_model(2) says of itself after its bytes or words were changed.
class ImplausibleModel {
  public:
    ImplausibleModel() : model_(small_model(2)) {}

    std::string error_of_raw(const std::function<float(float)>& speed, const std::function<float(float)>& density, const ModelReading& reading = {}) {
        Model changed = model_;
        for (float& value : changed.speed) value = speed(value);
        for (float& value : changed.density) value = density(value);
        write_model(folder_.path() / "m.json", changed);
        return error_of([&] {
            const Model read = read_model(folder_.path() / "m.json", reading);
            for (std::size_t i = 0; i < read.speed.size(); ++i) {
                EXPECT_FLOAT_EQ(read.speed[i], model_.speed[i]);
                EXPECT_FLOAT_EQ(read.density[i], model_.density[i]);
            }
        });
    }
    // By a change of the file's bytes.
    std::string error_of_segy(SegyFormat format, const std::function<void(std::string&)>& change, const ModelReading& reading = {}) {
        std::string bytes = segy_bytes(segy_from_model(model_), "model", format);
        change(bytes);
        write_contents(folder_.path() / "m.segy", bytes);
        return error_of([&] { EXPECT_EQ(read_model(folder_.path() / "m.segy", reading).speed.size(), model_.speed.size()); });
    }

  private:
    Model model_;
    test::TemporaryFolder folder_;
};

float same(float value) {
    return value;
}
float swapped(float value) {
    return std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
}
auto times(double factor) {
    return [factor](float value) { return static_cast<float>(value * factor); };
}

TEST(AcousticModel, FieldsThatNoGroundHasAreRefusedWithTheReadingThatFits) {
    ImplausibleModel model;
    EXPECT_EQ(model.error_of_raw(same, same), "");
    EXPECT_THAT(model.error_of_raw(swapped, swapped),
                AllOf(HasSubstr("m.speed.f32: offset 0: "), HasSubstr("as big-endian floats they are 1500 to "), HasSubstr("give --byte-order big")));
    EXPECT_EQ(model.error_of_raw(swapped, swapped, {.byte_order = "big"}), "");
    EXPECT_THAT(model.error_of_raw(same, same, {.byte_order = "big"}), HasSubstr("give --byte-order little"));
    EXPECT_THAT(model.error_of_raw(times(1e-3), same), HasSubstr("in km/s they are 1500 to "));
    EXPECT_THAT(model.error_of_raw(times(1e-3), same), HasSubstr("give --speed-unit km/s"));
    EXPECT_EQ(model.error_of_raw(times(1e-3), same, {.speed_unit = "km/s"}), "");
    EXPECT_THAT(model.error_of_raw(same, same, {.speed_unit = "km/s"}), HasSubstr("give --speed-unit m/s"));
    EXPECT_EQ(model.error_of_raw(times(1 / 0.3048), same, {.speed_unit = "ft/s"}), "");
    EXPECT_THAT(model.error_of_raw([](float v) { return swapped(v / 1000); }, same), HasSubstr("as big-endian floats, in km/s, they are 1500 to "));
    EXPECT_THAT(model.error_of_raw(same, times(1e-3)), AllOf(HasSubstr("m.density.f32: offset 0: "), HasSubstr("give --density-unit g/cm^3")));
    EXPECT_EQ(model.error_of_raw(same, times(1e-3), {.density_unit = "g/cm^3"}), "");
    EXPECT_THAT(model.error_of_raw(same, swapped), HasSubstr("m.density.f32"));
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (const float wrong : {nan, infinity, -infinity, -1500.0F, 0.0F, 1e-41F, 99.0F, 50000.0F, 1e38F})
        for (const bool density : {false, true}) {
            const auto change = [&](float value) { return value > 1600 ? wrong : value; };
            EXPECT_THAT(density ? model.error_of_raw(same, change) : model.error_of_raw(change, same), HasSubstr("correct the file")) << wrong;
        }
}

TEST(AcousticModel, SegyFilesInOtherOrdersAndFormatsAreRefusedWithTheRemedy) {
    ImplausibleModel model;
    const auto nothing = [](std::string&) {};
    const auto swap = [](std::string& bytes, std::size_t begin, std::size_t end, std::size_t width) {
        for (std::size_t at = begin; at + width <= end; at += width)
            std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
    };
    // Traces of 40 samples from offset 3600 on.
    const auto swap_samples = [&](std::string& bytes) {
        for (std::size_t trace = 3600; trace < bytes.size(); trace += 240 + 160) swap(bytes, trace + 240, trace + 400, 4);
    };
    const auto swap_all = [&](std::string& bytes) {
        swap_samples(bytes);
        swap(bytes, 3200, 3212, 4);
        swap(bytes, 3212, 3600, 2);
        for (std::size_t trace = 3600; trace < bytes.size(); trace += 400) {
            swap(bytes, trace + 114, trace + 116, 2);
            swap(bytes, trace + 188, trace + 192, 4);
        }
    };
    for (const SegyFormat format : {SegyFormat::ibm, SegyFormat::ieee}) {
        EXPECT_EQ(model.error_of_segy(format, nothing), "");
        EXPECT_THAT(model.error_of_segy(format, swap_samples), AllOf(HasSubstr("trace 1, sample 1"), HasSubstr("other byte order than the headers")));
        EXPECT_THAT(model.error_of_segy(format, swap_all), AllOf(HasSubstr("offset 3224"), HasSubstr("give --byte-order little")));
        EXPECT_EQ(model.error_of_segy(format, swap_all, {.byte_order = "little"}), "");
        EXPECT_THAT(model.error_of_segy(format, nothing, {.byte_order = "little"}), HasSubstr("give --byte-order big"));
    }
    // IBM floats of speeds, read as IEEE's, are other speeds, and nobody sees it.
    EXPECT_THAT(model.error_of_segy(SegyFormat::ieee, [](std::string& bytes) { bytes[3225] = 1; }), HasSubstr("write 5 at offset 3224"));
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
}  // namespace hone::solvers::seismic::model_test
