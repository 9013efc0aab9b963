#include "solvers/output/image.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <random>

#include "foundation/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::image_test {
namespace {

struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> bytes;

    Colour at(int x, int y) const {
        const auto first = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x));
        return {bytes[first], bytes[first + 1], bytes[first + 2]};
    }
};

Picture read(const std::filesystem::path& file) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, file.c_str()), 0) << image.message;
    image.format = PNG_FORMAT_RGB;
    Picture picture{static_cast<int>(image.width), static_cast<int>(image.height), std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
    EXPECT_NE(png_image_finish_read(&image, nullptr, picture.bytes.data(), 0, nullptr), 0) << image.message;
    return picture;
}

double brightness(const Colour& colour) {
    return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2];
}

TEST(Image, EveryPixelHasTheColourOfItsValue) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<> uniform(-3, 2);
    constexpr int nx = 7, ny = 5, magnify = 3;
    std::vector<double> values(nx * ny);
    for (double& value : values) value = uniform(random);
    values[11] = 0;
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    values[11] = std::nan("");
    const auto value = [&](int x, int y) { return values[static_cast<std::size_t>(y * nx + x)]; };
    const test::TemporaryFolder folder;
    for (const ColourMap map : {ColourMap::diverging, ColourMap::sequential}) {
        ImageStyle style{.map = map, .magnify = magnify};
        if (map == ColourMap::sequential) style.low = -2, style.high = 1;
        write_png(folder.path() / "a.png", nx, ny, value, style);
        const Picture picture = read(folder.path() / "a.png");
        ASSERT_EQ(picture.width, nx * magnify);
        ASSERT_EQ(picture.height, ny * magnify);
        for (int y = 0; y < picture.height; ++y)
            for (int x = 0; x < picture.width; ++x) {
                const double v = value(x / magnify, y / magnify);
                const double part = map == ColourMap::diverging ? (v / largest + 1) / 2 : (v + 2) / 3;
                EXPECT_EQ(picture.at(x, y), colour(map, part)) << x << ' ' << y;
            }
        EXPECT_EQ(picture.at(11 % nx * magnify, 11 / nx * magnify), (Colour{255, 0, 255}));
    }
}

TEST(Image, MapsMeanWhatTheySay) {
    const Colour middle = colour(ColourMap::diverging, 0.5);
    EXPECT_EQ(middle[0], middle[1]);  // grey
    EXPECT_EQ(middle[1], middle[2]);
    EXPECT_GT(colour(ColourMap::diverging, 0)[2], colour(ColourMap::diverging, 0)[0]);  // blue below, red above
    EXPECT_GT(colour(ColourMap::diverging, 1)[0], colour(ColourMap::diverging, 1)[2]);
    for (int i = 0; i < 100; ++i)
        EXPECT_LT(brightness(colour(ColourMap::sequential, i / 100.0)), brightness(colour(ColourMap::sequential, (i + 4) / 100.0))) << i;
    EXPECT_EQ(colour(ColourMap::sequential, 7), colour(ColourMap::sequential, 1));
}

TEST(Image, DrawsConstantsAndShades) {
    const test::TemporaryFolder folder;
    const auto zero = [](int, int) { return 0.0; };
    write_png(folder.path() / "a.png", 1, 1, zero);
    EXPECT_EQ(read(folder.path() / "a.png").at(0, 0), colour(ColourMap::diverging, 0.5));
    write_png(folder.path() / "b.png", 2, 1, zero, {.shade = [](int x, int) { return x == 0 ? 0 : 1; }});
    EXPECT_EQ(read(folder.path() / "b.png").at(0, 0), (Colour{0, 0, 0}));
    EXPECT_EQ(read(folder.path() / "b.png").at(1, 0), colour(ColourMap::diverging, 0.5));
}

TEST(Image, SaysWhatIsWrong) {
    const auto zero = [](int, int) { return 0.0; };
    EXPECT_THROW(write_png("/nowhere/at/all.png", 2, 2, zero), Error);
    const test::TemporaryFolder folder;
    EXPECT_THROW(write_png(folder.path() / "a.png", 0, 2, zero), Error);
    EXPECT_THROW(write_png(folder.path() / "a.png", 20000, 1, zero, {.magnify = 2}), Error);
}

}  // namespace
}  // namespace hone::solvers::image_test
