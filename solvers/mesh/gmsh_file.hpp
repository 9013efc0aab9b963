#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/mesh/gmsh_cursor.hpp"
#include "solvers/mesh/mesh.hpp"

namespace hone::inline v0_1::solvers {

/// What stands in a Gmsh file, whatever its format, before it becomes a mesh.
struct GmshFile {
    struct Node {
        std::int64_t tag;
        Point at;
    };
    struct Element {
        std::int64_t number;
        std::int64_t place;  ///< line or byte
        int dimension;
        std::int64_t group;        ///< physical tag; 0: none
        std::int64_t other_group;  ///< another one (format 4.1; in 2.2 the element is there twice); 0: none
        std::array<std::int64_t, 4> nodes;
    };
    struct Link {
        int dimension;
        std::vector<std::pair<std::int64_t, std::int64_t>> nodes;
    };
    std::map<std::pair<int, std::int64_t>, std::string> names;  ///< of groups, by dimension and tag
    std::vector<Node> nodes;
    std::vector<Element> elements;
    std::vector<Link> links;
};

/// Reads all sections that matter here; throws Error as GmshCursor does.
GmshFile read_sections(GmshCursor& cursor);

}  // namespace hone::inline v0_1::solvers
