#include "solvers/output/vtk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include "foundation/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::vtk_test {
namespace {

std::string contents(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
}

// The words of an array, found as a reader does: its element's offset counts from behind the
// underscore, where a 64-bit length stands.
template <typename Word>
std::vector<Word> words(const std::string& text, const std::string& name, const std::string& type, int components) {
    std::smatch match;
    const std::regex element("<DataArray type=\"" + type + "\" Name=\"" + name + "\" NumberOfComponents=\"" + std::to_string(components) +
                             "\" format=\"appended\" offset=\"(\\d+)\"/>");
    const std::string head = text.substr(0, text.find("<AppendedData"));
    if (!std::regex_search(head, match, element)) {
        ADD_FAILURE() << name << " is not in\n" << head;
        return {};
    }
    const std::size_t data = text.find('_', text.find("<AppendedData encoding=\"raw\">")) + 1 + std::stoul(match[1]);
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + data, sizeof(bytes));
    EXPECT_LE(data + sizeof(bytes) + bytes, text.size());
    std::vector<Word> result(bytes / sizeof(Word));
    std::memcpy(result.data(), text.data() + data + sizeof(bytes), bytes);
    return result;
}

template <typename Word>
std::vector<Word> random_words(std::mt19937& random, std::size_t count) {
    std::vector<Word> result(count);
    std::generate(result.begin(), result.end(), [&] { return static_cast<Word>(random() % 1000); });
    return result;
}

TEST(Vtk, ImagesComeBack) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto p = random_words<float>(random, 4 * 3 * 2);
    const auto v = random_words<double>(random, 3 * 4 * 3 * 2);
    const auto kind = random_words<std::uint8_t>(random, 4 * 3 * 2);
    const auto corner = random_words<std::int32_t>(random, 5 * 4 * 3);
    const test::TemporaryFolder folder;
    const auto file = folder.path() / "a.vti";
    VtkImage image({4, 3, 2}, {1, 2, 3}, {0.5, 0.25, 0.125});
    image.cell_field("p", 1, std::span(p));
    image.point_field("corner & edge", 1, std::span(corner));
    image.cell_field("v", 3, std::span(v));
    image.cell_field("kind", 1, std::span(kind));
    image.write(file);
    const std::string text = contents(file);
    EXPECT_NE(text.find("<ImageData WholeExtent=\"0 4 0 3 0 2\" Origin=\"1 2 3\" Spacing=\"0.5 0.25 0.125\">"), std::string::npos);
    EXPECT_NE(text.find("header_type=\"UInt64\""), std::string::npos);
    EXPECT_EQ(words<float>(text, "p", "Float32", 1), p);
    EXPECT_EQ(words<double>(text, "v", "Float64", 3), v);
    EXPECT_EQ(words<std::uint8_t>(text, "kind", "UInt8", 1), kind);
    EXPECT_EQ(words<std::int32_t>(text, "corner &amp; edge", "Int32", 1), corner);
    EXPECT_LT(text.find("Name=\"corner"), text.find("</PointData>"));
    EXPECT_GT(text.find("Name=\"p\""), text.find("<CellData>"));
    EXPECT_TRUE(text.ends_with("\n</AppendedData>\n</VTKFile>\n"));
}

TEST(Vtk, SaysWhatIsWrong) {
    const std::vector<float> p(24);
    VtkImage image({4, 3, 2}, {0, 0, 0}, {1, 1, 1});
    EXPECT_THROW(image.cell_field("p", 1, std::span<const float>(p.data(), 23)), Error);
    EXPECT_THROW(image.point_field("p", 1, std::span(p)), Error);
    image.cell_field("p", 1, std::span(p));
    EXPECT_THROW(image.write("/nowhere/at/all.vti"), Error);
}

TEST(Vtk, PartsSayWhereTheyAre) {
    const test::TemporaryFolder folder;
    const std::vector<float> p(4 * 3 * 2);
    VtkImage image({4, 3, 2}, {0, 0, 1}, {1, 1, 0.5}, {0, 0, 5});
    image.cell_field("p&q", 1, std::span(p));
    image.write(folder.path() / "a&1.vti");
    const std::string part = contents(folder.path() / "a&1.vti");
    EXPECT_NE(part.find("WholeExtent=\"0 4 0 3 5 7\" Origin=\"0 0 1\" Spacing=\"1 1 0.5\""), std::string::npos) << part;
    EXPECT_NE(part.find("<Piece Extent=\"0 4 0 3 5 7\">"), std::string::npos);
    const std::vector<VtkImage::Part> parts{{{0, 0, 0}, {4, 3, 5}, "a_0.vti"}, {{0, 0, 5}, {4, 3, 2}, "a&1.vti"}};
    image.write_index(folder.path() / "all.pvti", {4, 3, 7}, parts);
    EXPECT_EQ(contents(folder.path() / "all.pvti"),
              "<?xml version=\"1.0\"?>\n<VTKFile type=\"PImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
              "<PImageData WholeExtent=\"0 4 0 3 0 7\" GhostLevel=\"0\" Origin=\"0 0 1\" Spacing=\"1 1 0.5\">\n"
              "<PPointData>\n</PPointData>\n<PCellData>\n<PDataArray type=\"Float32\" Name=\"p&amp;q\" NumberOfComponents=\"1\"/>\n</PCellData>\n"
              "<Piece Extent=\"0 4 0 3 0 5\" Source=\"a_0.vti\"/>\n<Piece Extent=\"0 4 0 3 5 7\" Source=\"a&amp;1.vti\"/>\n"
              "</PImageData>\n</VTKFile>\n");
    EXPECT_THROW(image.write_index(folder.path() / "none" / "all.pvti", {4, 3, 7}, parts), Error);
}

TEST(Vtk, ASeriesNamesItsFiles) {
    const test::TemporaryFolder folder;
    const std::vector<std::pair<double, std::string>> files{{0.5, "a.vti"}, {1.25, "b\".vti"}};
    write_vtk_series(folder.path() / "all.pvd", files);
    const std::string text = contents(folder.path() / "all.pvd");
    EXPECT_NE(text.find("<DataSet timestep=\"0.5\" part=\"0\" file=\"a.vti\"/>"), std::string::npos);
    EXPECT_NE(text.find("<DataSet timestep=\"1.25\" part=\"0\" file=\"b&quot;.vti\"/>"), std::string::npos);
}

}  // namespace
}  // namespace hone::solvers::vtk_test
