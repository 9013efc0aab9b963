#include "solvers/mesh/gmsh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "solvers/mesh/connectivity.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::gmsh_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string seeds = test::source_path("tests/fuzz/seeds/gmsh/");

std::string contents(const std::string& name) {
    return read_file(seeds + name, 1 << 20);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

// The mesh of tests/solvers/mesh/two_rooms.geo in all formats is one mesh.
TEST(MeshGmsh, ReadsAllFormatsAlike) {
    const Mesh text = parse_gmsh(contents("text_22.msh"), "text_22.msh");
    for (const char* const other : {"text_41.msh", "binary_22.msh", "binary_41.msh"}) {
        SCOPED_TRACE(other);
        const Mesh mesh = parse_gmsh(contents(other), other);
        EXPECT_EQ(mesh.elements, text.elements);
        EXPECT_EQ(mesh.materials, text.materials);
        EXPECT_EQ(mesh.material, text.material);
        EXPECT_EQ(mesh.numbers, text.numbers);
        EXPECT_EQ(mesh.links, text.links);
        ASSERT_EQ(mesh.vertices.size(), text.vertices.size());
        for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
            for (std::size_t x = 0; x < 3; ++x) EXPECT_NEAR(mesh.vertices[v][x], text.vertices[v][x], 1e-15);
        EXPECT_EQ(mesh.boundary.size(), text.boundary.size());
    }
    EXPECT_EQ(text.materials, (std::vector<std::string>{"vacuum", "glass"}));
    double volume = 0;
    double periodic = 0;
    for (int k = 0; k < text.size(); ++k) volume += signed_measure(text, k) / 6;
    for (const auto& face : text.boundary) periodic += face.kind == Boundary::periodic ? 1 : 0;
    EXPECT_NEAR(volume, 1, 1e-12);
    EXPECT_GT(periodic, 0);
    for (const Neighbour& neighbour : match_faces(text, "two_rooms")) EXPECT_TRUE(neighbour.exists() || neighbour.kind != Boundary::periodic);
}

TEST(MeshGmsh, ReadsBinaryOfTheOtherOrderOfBytes) {
    // $Nodes of two nodes and $Elements of one line, by hand.
    const auto bytes = [](const auto& value, bool swap) {
        std::string text(reinterpret_cast<const char*>(&value), sizeof value);
        if (swap) std::reverse(text.begin(), text.end());
        return text;
    };
    const std::array<Point, 3> corners{Point{0, 0, 0}, Point{1, 0, 0}, Point{0, 2, 0}};
    for (const bool swap : {false, true}) {
        std::string file = "$MeshFormat\n2.2 1 8\n" + bytes(1, swap) + "\n$EndMeshFormat\n$Nodes\n3\n";
        for (int i = 0; i < 3; ++i) {
            file += bytes(i + 10, swap);
            for (const double x : corners[static_cast<std::size_t>(i)]) file += bytes(x, swap);
        }
        file += "\n$EndNodes\n$Elements\n1\n";
        for (const int word : {2, 1, 2, 77, 0, 1, 10, 11, 12}) file += bytes(word, swap);
        const Mesh mesh = parse_gmsh(file + "\n$EndElements\n", "hand-made");
        EXPECT_EQ(mesh.dimension, 2);
        EXPECT_EQ(mesh.numbers, std::vector<std::int64_t>{77});
        EXPECT_DOUBLE_EQ(signed_measure(mesh, 0), 2);
    }
}

// A real geometry: its straight-sided elements approach the cylinder from inside.
TEST(MeshGmsh, ReadsTheCylinderAndTheDisc) {
    const Mesh cylinder = read_gmsh(test::source_path("examples/mesh/cylinder.msh"));
    const Mesh disc = read_gmsh(test::source_path("examples/mesh/disc.msh"));
    for (const Mesh* const mesh : {&cylinder, &disc}) {
        double measure = 0;
        for (int k = 0; k < mesh->size(); ++k) measure += signed_measure(*mesh, k) / (mesh->dimension == 3 ? 6 : 2);
        EXPECT_LT(measure, std::numbers::pi);
        EXPECT_GT(measure, 0.95 * std::numbers::pi);
        EXPECT_NO_THROW(match_faces(*mesh));
        EXPECT_EQ(mesh->materials, std::vector<std::string>{"vacuum"});
    }
    EXPECT_EQ(cylinder.dimension, 3);
    EXPECT_EQ(disc.dimension, 2);
}

TEST(MeshGmsh, GroupsMeanWhatTheCallerSays) {
    const std::string text = contents("text_22.msh");
    EXPECT_THAT(
        [&] {
            parse_gmsh(text, "two_rooms.msh", {.materials = {"default", "vacuum", "gras"}});
        },
        ThrowsMessage<Error>(AllOf(HasSubstr("\"glass\""), HasSubstr("did you mean gras?"), HasSubstr("two_rooms.msh, line "))));
    EXPECT_THAT([&] { parse_gmsh(replaced(text, "\"conductor\"", "\"condutcor\""), "m"); },
                ThrowsMessage<Error>(AllOf(HasSubstr("\"condutcor\""), HasSubstr("did you mean conductor?"))));
    GmshGroups groups;
    groups.boundary["lid"] = Boundary::absorbing;
    EXPECT_NO_THROW(parse_gmsh(replaced(text, "\"absorbing\"", "\"lid\""), "m", groups));
    // A group without a name is called by its number.
    groups.boundary["4"] = Boundary::absorbing;
    EXPECT_NO_THROW(parse_gmsh(replaced(replaced(text, "2 4 \"absorbing\"\n", ""), "\n5\n2 3", "\n4\n2 3"), "m", groups));
}

TEST(MeshGmsh, RefusesWithLineAndElement) {
    const std::string text = contents("text_22.msh");
    const Mesh mesh = parse_gmsh(text, "m.msh");
    // The first tetrahedron, with its vertices turned, equal or nowhere.
    const std::string number = std::to_string(mesh.numbers[0]);
    const std::size_t line = text.find("\n" + number + " 4 2 ") + 1;
    const std::string row = text.substr(line, text.find('\n', line) - line);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < row.size(); at = row.find(' ', at) == std::string::npos ? row.size() : row.find(' ', at) + 1)
        words.push_back(row.substr(at, row.find(' ', at) - at));
    ASSERT_EQ(words.size(), 9U);
    const auto with = [&](std::vector<std::string> changed) {
        std::string joined;
        for (const auto& word : changed) joined += (joined.empty() ? "" : " ") + word;
        return replaced(text, row, joined);
    };
    const std::string here =
        "element " + number + " (line " + std::to_string(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line), '\n') + 1) + ")";
    auto changed = words;
    std::swap(changed[5], changed[6]);
    EXPECT_THAT([&] { parse_gmsh(with(changed), "m.msh"); }, ThrowsMessage<Error>(HasSubstr(here + " is inverted")));
    changed = words;
    changed[5] = changed[6];
    EXPECT_THAT([&] { parse_gmsh(with(changed), "m.msh"); }, ThrowsMessage<Error>(HasSubstr(here + " has the same vertex twice")));
    changed = words;
    changed[5] = "9999";
    EXPECT_THAT([&] { parse_gmsh(with(changed), "m.msh"); }, ThrowsMessage<Error>(HasSubstr("element " + number + " has node 9999")));
    changed = words;
    changed[1] = "11";
    EXPECT_THAT([&] { parse_gmsh(with(changed), "m.msh"); }, ThrowsMessage<Error>(HasSubstr("type 11")));
    changed = words;
    changed[6] = "x7";
    EXPECT_THAT([&] { parse_gmsh(with(changed), "m.msh"); }, ThrowsMessage<Error>(HasSubstr("\"x7\" stands where a whole number should")));
    // Moved onto the opposite face.
    Mesh flat = mesh;
    const auto& corners = mesh.elements[0];
    for (std::size_t x = 0; x < 3; ++x)
        flat.vertices[static_cast<std::size_t>(corners[3])][x] =
            (flat.vertices[static_cast<std::size_t>(corners[0])][x] + flat.vertices[static_cast<std::size_t>(corners[1])][x]) / 2;
    EXPECT_THAT([&] { check_elements(flat, "m.msh"); }, ThrowsMessage<Error>(HasSubstr(here + " has no volume")));
}

TEST(MeshGmsh, RefusesOtherFiles) {
    const std::string text = contents("text_41.msh");
    EXPECT_THAT([&] { parse_gmsh("", "m"); }, ThrowsMessage<Error>(HasSubstr("not a Gmsh file")));
    EXPECT_THAT([&] { parse_gmsh(replaced(text, "4.1 0 8", "4 0 8"), "m"); }, ThrowsMessage<Error>(HasSubstr("the format is \"4\"")));
    EXPECT_THAT([&] { parse_gmsh(replaced(text, "4.1 0 8", "4.1 0 4"), "m"); }, ThrowsMessage<Error>(HasSubstr("numbers have 4 bytes")));
    EXPECT_THAT([&] { parse_gmsh("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "m"); }, ThrowsMessage<Error>(HasSubstr("there are no triangles")));
    EXPECT_THAT([&] { parse_gmsh(replaced(text, "$EndNodes", "$EndNodse"), "m"); }, ThrowsMessage<Error>(HasSubstr("\"$EndNodse\"")));
    EXPECT_NO_THROW(parse_gmsh(replaced(text, "$Nodes", "$Comments\nwhatever $ 3\n$EndComments\n$Nodes"), "m"));
}

// Format 2.2 lists an element once for each group, format 4.1 the groups of an entity.
TEST(MeshGmsh, AnElementInTwoGroupsIsRefusedWithBoth) {
    const std::string triangle =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"vacuum\"\n2 2 \"glass\"\n$EndPhysicalNames\n"
        "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n$Elements\n2\n1 2 2 1 1 1 2 3\n1 2 2 2 1 2 3 1\n$EndElements\n";
    EXPECT_THAT(
        [&] { parse_gmsh(triangle, "m.msh"); },
        ThrowsMessage<Error>(AllOf(HasSubstr("m.msh, line 18"), HasSubstr("element 1 belongs to two groups, \"glass\" and \"vacuum\" (line 17)"))));
    EXPECT_THAT([&] { parse_gmsh(replaced(triangle, "1 2 2 2 1 2 3 1", "4 2 2 1 1 2 3 1"), "m.msh"); },
                ThrowsMessage<Error>(HasSubstr("element 4 is there twice, first in line 17")));
    const std::string entities =
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 1 1 0\n"
        "3 0 0 0 1 1 0 1 9 0\n7 0 0 0 1 1 0 1 1 0\n$EndEntities\n"
        "$Nodes\n1 3 1 3\n2 7 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n"
        "$Elements\n2 2 1 2\n1 3 1 1\n1 1 2\n2 7 2 1\n2 1 2 3\n$EndElements\n";
    GmshGroups groups;
    groups.boundary["9"] = groups.boundary["8"] = Boundary::absorbing;
    EXPECT_EQ(parse_gmsh(entities, "m.msh", groups).boundary.size(), 1U);
    EXPECT_THAT([&] { parse_gmsh(replaced(entities, "1 0 1 9 0", "1 0 2 9 8 0"), "m.msh", groups); },
                ThrowsMessage<Error>(HasSubstr("element 1 belongs to two groups, \"9\" and \"8\"")));
    EXPECT_THAT([&] { parse_gmsh(replaced(entities, "1 0 1 1 0", "1 0 2 1 2 0"), "m.msh", groups); },
                ThrowsMessage<Error>(HasSubstr("element 2 belongs to two groups, \"1\" and \"2\"")));
}

// Cut anywhere, a file is refused and nothing else happens. What follows the elements may be
// missing without anybody's knowing.
TEST(MeshGmsh, RefusesTruncatedFiles) {
    for (const char* const name : {"text_22.msh", "text_41.msh", "binary_22.msh", "binary_41.msh"}) {
        const std::string whole = contents(name);
        const std::size_t last = whole.find("$EndElements");
        for (std::size_t length = 0; length < last; length += 1 + length / 40)
            EXPECT_THROW(parse_gmsh(whole.substr(0, length), name), Error) << name << " cut to " << length;
    }
}

}  // namespace
}  // namespace hone::solvers::gmsh_test
