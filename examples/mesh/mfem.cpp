#include "examples/mesh/mfem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "examples/mesh/gmsh_cursor.hpp"
#include "generator/error.hpp"
#include "tuning_db/file_store.hpp"

namespace hone::examples {
namespace {

constexpr const char* first_line = "MFEM mesh v1.0";

// Comments become blanks, so that lines keep their numbers.
std::string without_comments(std::string_view contents) {
    std::string text(contents);
    bool comment = false;
    for (char& c : text) {
        comment = c == '#' || (comment && c != '\n');
        if (comment) c = ' ';
    }
    return text;
}

// MFEM goes around a square, and around the lower and the upper square of a cube.
constexpr std::array<std::size_t, 8> corner_of_vertex{0, 1, 3, 2, 4, 5, 7, 6};

using SideKey = std::array<std::int32_t, 4>;

SideKey key_of(std::array<std::int32_t, 4> vertices) {
    std::sort(vertices.begin(), vertices.end());
    return vertices;
}

// Reads words and numbers of a text; says the line of what it does not like.
class Reader {
  public:
    Reader(std::string_view text, const std::string& where) : cursor_(text, where) {}

    QuadMesh read() {
        for (const char* word : {"MFEM", "mesh", "v1.0"})
            if (cursor_.word() != word) cursor_.refuse(fmt::format("it does not begin with \"{}\"", first_line), "save it in MFEM's format v1.0");
        cursor_.expect("dimension");
        const std::int64_t dimension = cursor_.text_integer();
        if (dimension != 2 && dimension != 3) cursor_.refuse(fmt::format("its dimension is {}", dimension), "use quadrilaterals or hexahedra");
        mesh_.dimension = static_cast<int>(dimension);
        read_zones();
        read_sides();
        read_vertices();
        check_vertices();
        check_sides();
        for (std::size_t zone = 0; zone < mesh_.zones.size(); ++zone) check_shape(zone);
        return std::move(mesh_);
    }

  private:
    std::int64_t count(const char* section) {
        cursor_.set_section("");
        cursor_.expect(section);
        cursor_.set_section(section);
        const std::int64_t number = cursor_.text_integer();
        if (number < 0 || number > std::numeric_limits<std::int32_t>::max() / 8)
            cursor_.refuse(fmt::format("there are {}", number), "use a mesh with fewer than 2^28");
        return number;
    }

    // Attribute, kind and vertices of the next element.
    template <std::size_t most>
    std::array<std::int32_t, most> element(int& attribute, std::int64_t kind, const char* name, int vertices) {
        const std::int64_t of_file = cursor_.text_integer();
        if (of_file < 0 || of_file > std::numeric_limits<int>::max()) cursor_.refuse(fmt::format("an attribute is {}", of_file), "use positive ones");
        attribute = static_cast<int>(of_file);
        if (const std::int64_t found = cursor_.text_integer(); found != kind)
            cursor_.refuse(fmt::format("an element is of kind {}, not a {} ({})", found, name, kind),
                           "use a mesh of quadrilaterals or hexahedra alone");
        std::array<std::int32_t, most> result{};
        for (int i = 0; i < vertices; ++i) {
            const std::int64_t vertex = cursor_.text_integer();
            if (vertex < 0 || vertex > std::numeric_limits<std::int32_t>::max())
                cursor_.refuse(fmt::format("vertex {} does not exist", vertex), "number vertices from 0");
            result[corner_of_vertex[static_cast<std::size_t>(i)]] = static_cast<std::int32_t>(vertex);
            used_.emplace_back(vertex, cursor_.place());
        }
        return result;
    }

    void read_zones() {
        constexpr std::int64_t square = 3;
        constexpr std::int64_t cube = 5;
        const std::int64_t zones = count("elements");
        if (zones == 0) cursor_.refuse("there are no elements", "save a mesh that has some");
        for (std::int64_t i = 0; i < zones; ++i) {
            int attribute = 0;
            mesh_.zones.push_back(mesh_.dimension == 2 ? element<8>(attribute, square, "quadrilateral", 4)
                                                       : element<8>(attribute, cube, "hexahedron", 8));
            mesh_.attributes.push_back(attribute);
            lines_.push_back(cursor_.place());
        }
    }

    void read_sides() {
        constexpr std::int64_t segment = 1;
        constexpr std::int64_t square = 3;
        const std::int64_t sides = count("boundary");
        for (std::int64_t i = 0; i < sides; ++i) {
            int attribute = 0;
            const auto vertices =
                mesh_.dimension == 2 ? element<4>(attribute, segment, "segment", 2) : element<4>(attribute, square, "quadrilateral", 4);
            mesh_.sides.push_back({vertices, attribute});
            side_lines_.push_back(cursor_.place());
        }
    }

    void read_vertices() {
        const std::int64_t vertices = count("vertices");
        if (cursor_.peek() == "nodes") cursor_.refuse("its zones are curved: it has a section nodes", "save it with straight edges");
        if (const std::int64_t width = cursor_.text_integer(); width != mesh_.dimension)
            cursor_.refuse(fmt::format("vertices have {} coordinates in {} dimensions", width, mesh_.dimension),
                           "use as many as there are dimensions");
        for (std::int64_t i = 0; i < vertices; ++i) {
            Point point{};
            for (int axis = 0; axis < mesh_.dimension; ++axis) {
                const double x = cursor_.text_number();
                if (!std::isfinite(x)) cursor_.refuse(fmt::format("vertex {} is nowhere: a coordinate is not finite", i), "make the mesh again");
                point[static_cast<std::size_t>(axis)] = x;
            }
            mesh_.vertices.push_back(point);
        }
    }

    void check_vertices() {
        cursor_.set_section("elements or boundary");
        for (const auto& [vertex, line] : used_)
            if (vertex >= static_cast<std::int64_t>(mesh_.vertices.size()))
                cursor_.refuse_at(line, fmt::format("vertex {} does not exist: there are {}", vertex, mesh_.vertices.size()), "save the mesh again");
        cursor_.set_section("elements");
        for (std::size_t zone = 0; zone < mesh_.zones.size(); ++zone)
            for (int i = 0; i < mesh_.corners(); ++i)
                for (int j = 0; j < i; ++j)
                    if (mesh_.zones[zone][static_cast<std::size_t>(i)] == mesh_.zones[zone][static_cast<std::size_t>(j)])
                        cursor_.refuse_at(lines_[zone], fmt::format("element {} has a vertex twice", zone), "use elements with corners of their own");
    }

    // Sides of zones, sorted, each with the zone.
    std::vector<std::pair<SideKey, std::size_t>> zone_sides() const {
        std::vector<std::pair<SideKey, std::size_t>> all;
        for (std::size_t zone = 0; zone < mesh_.zones.size(); ++zone)
            for (int axis = 0; axis < mesh_.dimension; ++axis)
                for (int high = 0; high < 2; ++high) {
                    SideKey side{};
                    std::size_t used = 0;
                    for (int corner = 0; corner < mesh_.corners(); ++corner)
                        if ((corner >> axis & 1) == high) side[used++] = mesh_.zones[zone][static_cast<std::size_t>(corner)];
                    all.emplace_back(key_of(side), zone);
                }
        std::sort(all.begin(), all.end());
        return all;
    }

    void check_sides() {
        const auto all = zone_sides();
        for (std::size_t i = 2; i < all.size(); ++i)
            if (all[i].first == all[i - 2].first)
                cursor_.refuse_at(lines_[all[i].second], fmt::format("element {} has a side that two others share", all[i].second),
                                  "let no more than two meet at a side");
        cursor_.set_section("boundary");
        for (std::size_t side = 0; side < mesh_.sides.size(); ++side) {
            const std::pair<SideKey, std::size_t> wanted{key_of(mesh_.sides[side].vertices), 0};
            const auto found = std::lower_bound(all.begin(), all.end(), wanted);
            if (found == all.end() || found->first != wanted.first)
                cursor_.refuse_at(side_lines_[side], fmt::format("side {} of the boundary belongs to no element", side), "save the mesh again");
        }
    }

    // The Jacobian is positive in every corner.
    void check_shape(std::size_t zone) {
        const auto& corners = mesh_.zones[zone];
        for (int corner = 0; corner < mesh_.corners(); ++corner) {
            std::array<Point, 3> edges{Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};
            for (int axis = 0; axis < mesh_.dimension; ++axis) {
                const Point& low = mesh_.vertices[static_cast<std::size_t>(corners[static_cast<std::size_t>(corner & ~(1 << axis))])];
                const Point& high = mesh_.vertices[static_cast<std::size_t>(corners[static_cast<std::size_t>(corner | 1 << axis)])];
                for (std::size_t c = 0; c < 3; ++c) edges[static_cast<std::size_t>(axis)][c] = high[c] - low[c];
            }
            const auto& [a, b, c] = edges;
            const double volume = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
            if (volume > 0 && std::isfinite(volume)) continue;
            cursor_.set_section("elements");
            cursor_.refuse_at(lines_[zone], fmt::format("element {} is inverted or flat", zone), "go around its vertices as MFEM does");
        }
    }

    GmshCursor cursor_;
    QuadMesh mesh_;
    std::vector<std::int64_t> lines_, side_lines_;             // of zones and sides
    std::vector<std::pair<std::int64_t, std::int64_t>> used_;  // vertices that are used, and where
};

}  // namespace

QuadMesh parse_mfem(std::string_view contents, const std::string& where) {
    const std::string text = without_comments(contents);
    return Reader(text, where).read();
}

QuadMesh read_mfem(const std::filesystem::path& file) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 34;
    return parse_mfem(read_file(file, most_bytes), file.string());
}

}  // namespace hone::examples
