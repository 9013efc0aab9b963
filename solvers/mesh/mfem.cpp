#include "solvers/mesh/mfem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "solvers/mesh/gmsh_cursor.hpp"
#include "solvers/mesh/mfem_nodes.hpp"

namespace hone::inline v0_1::solvers {
namespace {

constexpr std::int64_t most_elements = std::numeric_limits<std::int32_t>::max() / 8;

// Comments become blanks, so that lines keep their numbers; a sign between setting and value is a
// word of its own.
std::string prepared(std::string_view contents) {
    std::string text;
    bool comment = false;
    for (const char c : contents) {
        comment = c == '#' || (comment && c != '\n');
        if (comment)
            text += ' ';
        else if (c == '=')
            text += " = ";
        else
            text += c;
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
        read_format();
        if (format_ == "INLINE v1.0") return read_inline();
        cursor_.expect("dimension");
        const std::int64_t dimension = cursor_.text_integer();
        if (dimension != 2 && dimension != 3) cursor_.refuse(fmt::format("its dimension is {}", dimension), "use quadrilaterals or hexahedra");
        mesh_.dimension = static_cast<int>(dimension);
        read_zones();
        skip_sets("attribute_sets");
        read_sides();
        skip_sets("bdr_attribute_sets");
        read_vertices();
        read_end();
        check_sides();
        for (std::size_t zone = 0; zone < mesh_.zones.size(); ++zone) check_shape(zone);
        return std::move(mesh_);
    }

  private:
    // The first line: MFEM mesh v1.0, MFEM INLINE mesh v1.0.
    void read_format() {
        bool mfem = cursor_.word() == "MFEM";
        if (mfem && cursor_.peek() != "mesh") format_ = std::string(cursor_.word()) + " ";
        mfem = mfem && cursor_.word() == "mesh";
        if (!mfem) cursor_.refuse("it does not begin with \"MFEM mesh v1.0\"", "save it in MFEM's format v1.0");
        format_ += cursor_.word();
        if (format_.starts_with("NC ")) refuse_hanging();
        if (format_.starts_with("NURBS "))
            cursor_.refuse("its zones are curved: it is a NURBS mesh", "save it with straight edges (in MFEM: mesh.SetCurvature(1))");
        constexpr std::array<std::string_view, 5> known{"v1.0", "v1.1", "v1.2", "v1.3", "INLINE v1.0"};
        constexpr std::size_t most = 20;
        if (std::find(known.begin(), known.end(), format_) == known.end())
            cursor_.refuse(fmt::format("its format is \"{}\"", format_.substr(0, most)), "save it in MFEM's format v1.0 to v1.3");
    }

    [[noreturn]] void refuse_hanging() const {
        cursor_.refuse("its zones are refined unevenly: vertices hang on edges of others", "use a mesh whose zones meet at whole sides");
    }

    // Formats that end with a word of their own.
    bool has_end() const { return format_ == "v1.2" || format_ == "v1.3"; }

    // A box by its numbers of zones and its sizes. The file says nothing of its sides: they are
    // walls.
    QuadMesh read_inline() {
        std::string type;
        std::map<std::string, double> values;
        for (std::string key(cursor_.word()); !key.empty(); key = cursor_.word()) {
            cursor_.expect("=");
            if (key == "type") {
                type = cursor_.word();
                continue;
            }
            constexpr std::array<std::string_view, 6> known{"nx", "ny", "nz", "sx", "sy", "sz"};
            if (std::find(known.begin(), known.end(), key) == known.end())
                cursor_.refuse(fmt::format("\"{}\" is not a setting", key.substr(0, known.size())), "set type, nx, ny, nz, sx, sy, sz");
            values[key] = key[0] == 'n' ? static_cast<double>(cursor_.text_integer()) : cursor_.text_number();
        }
        if (type != "quad" && type != "hex") cursor_.refuse("the type is not quad or hex", "use a mesh of quadrilaterals or hexahedra");
        return quad_box(box_of(type == "quad" ? 2 : 3, values));
    }

    QuadBox box_of(int dimension, const std::map<std::string, double>& values) const {
        QuadBox box{.dimension = dimension};
        double zones = 1;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension); ++axis) {
            const std::string name(1, "xyz"[axis]);
            const auto n = values.find("n" + name), s = values.find("s" + name);
            if (n == values.end() || s == values.end() || n->second < 1 || !(s->second > 0) || !std::isfinite(s->second))
                cursor_.refuse(fmt::format("n{0} or s{0} is missing or not positive", name), "set numbers of zones and sizes along all axes");
            zones *= n->second;
            if (zones > most_elements) cursor_.refuse(fmt::format("there are {} elements or more", zones), "use a mesh with fewer than 2^28");
            box.zones[axis] = static_cast<int>(n->second);
            box.high[axis] = s->second;
        }
        return box;
    }

    // Names for sets of attributes (v1.3).
    void skip_sets(const char* section) {
        if (cursor_.peek() != section) return;
        cursor_.word();
        cursor_.set_section(section);
        for (std::int64_t sets = cursor_.text_integer(); sets > 0; --sets) {
            cursor_.quoted();
            for (std::int64_t n = cursor_.text_integer(); n > 0; --n) cursor_.text_integer();
        }
    }

    std::int64_t count(const char* section) {
        cursor_.set_section("");
        cursor_.expect(section);
        cursor_.set_section(section);
        const std::int64_t number = cursor_.text_integer();
        if (number < 0 || number > most_elements) cursor_.refuse(fmt::format("there are {}", number), "use a mesh with fewer than 2^28");
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
        if (cursor_.peek() == "vertex_parents" || cursor_.peek() == "coarse_elements") refuse_hanging();
        const std::int64_t vertices = count("vertices");
        check_vertices(vertices);
        if (cursor_.peek() == "nodes") return read_mfem_nodes(cursor_, mesh_, vertices);
        const std::int64_t width = cursor_.text_integer();
        if (width != mesh_.dimension && width != 3)
            cursor_.refuse(fmt::format("vertices have {} coordinates in {} dimensions", width, mesh_.dimension),
                           "use as many as there are dimensions");
        for (std::int64_t i = 0; i < vertices; ++i) {
            Point point{};
            for (std::int64_t axis = 0; axis < width; ++axis) {
                const double x = cursor_.text_number();
                if (!std::isfinite(x)) cursor_.refuse(fmt::format("vertex {} is nowhere: a coordinate is not finite", i), "make the mesh again");
                if (axis >= mesh_.dimension && std::abs(x) > 0)
                    cursor_.refuse(fmt::format("vertex {} of a mesh in a plane has z = {}", i, x), "use the plane z = 0");
                point[static_cast<std::size_t>(axis)] = x;
            }
            mesh_.vertices.push_back(point);
        }
    }

    void read_end() {
        cursor_.set_section("");
        const std::string_view next = cursor_.peek();
        if (next == "mfem_serial_mesh_end" || next == "communication_groups")
            cursor_.refuse("it is one process's part of a mesh", "save the mesh in one file (in MFEM: pmesh.PrintAsOne)");
        if (has_end()) cursor_.expect("mfem_mesh_end");
        if (!cursor_.peek().empty()) cursor_.refuse("something stands behind the mesh", "save the mesh again");
    }

    void check_vertices(std::int64_t vertices) {
        cursor_.set_section("elements or boundary");
        for (const auto& [vertex, line] : used_)
            if (vertex >= vertices)
                cursor_.refuse_at(line, fmt::format("vertex {} does not exist: there are {}", vertex, vertices), "save the mesh again");
        cursor_.set_section("elements");
        for (std::size_t zone = 0; zone < mesh_.zones.size(); ++zone)
            for (int i = 0; i < mesh_.corners(); ++i)
                for (int j = 0; j < i; ++j)
                    if (mesh_.zones[zone][static_cast<std::size_t>(i)] == mesh_.zones[zone][static_cast<std::size_t>(j)])
                        cursor_.refuse_at(lines_[zone], fmt::format("element {} has a vertex twice", zone), "use elements with corners of their own");
        cursor_.set_section("vertices");
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
    std::string format_;
    QuadMesh mesh_;
    std::vector<std::int64_t> lines_, side_lines_;             // of zones and sides
    std::vector<std::pair<std::int64_t, std::int64_t>> used_;  // vertices that are used, and where
};

}  // namespace

QuadMesh parse_mfem(std::string_view contents, const std::string& where) {
    const std::string text = prepared(contents);
    return Reader(text, where).read();
}

QuadMesh read_mfem(const std::filesystem::path& file) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 34;
    return parse_mfem(read_file(file, most_bytes), file.string());
}

}  // namespace hone::inline v0_1::solvers
