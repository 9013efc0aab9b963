#include "solvers/mesh/gmsh_file.hpp"

#include <fmt/format.h>

#include <tuple>

namespace hone::inline v0_1::solvers {
namespace {

// First-order elements that may stand in a file of triangles or tetrahedra.
struct ElementType {
    std::int64_t type;
    int dimension;
    int nodes;
};
constexpr std::array<ElementType, 4> element_types{{{15, 0, 1}, {1, 1, 2}, {2, 2, 3}, {4, 3, 4}}};

const ElementType& element_type(const GmshCursor& cursor, std::int64_t type, std::int64_t place) {
    for (const ElementType& row : element_types)
        if (row.type == type) return row;
    cursor.refuse_at(place, fmt::format("an element is of type {}", type),
                     "use points, lines, triangles and tetrahedra of first order (types 15, 1, 2, 4; Mesh.ElementOrder = 1)");
}

std::int64_t count(const GmshCursor& cursor, std::int64_t number) {
    if (number < 0) cursor.refuse(fmt::format("a count is {}", number), "save the mesh again");
    return number;
}

void read_names(GmshCursor& cursor, GmshFile& file) {
    for (std::int64_t n = count(cursor, cursor.text_integer()); n > 0; --n) {
        const auto dimension = static_cast<int>(cursor.text_integer());
        const std::int64_t tag = cursor.text_integer();
        file.names[{dimension, tag}] = cursor.quoted();
    }
}

void read_nodes(GmshCursor& cursor, GmshFile& file, std::int64_t n, bool interleaved) {
    const std::size_t first = file.nodes.size();
    for (std::int64_t i = 0; i < n; ++i) {
        file.nodes.push_back({interleaved ? cursor.integer() : cursor.size(), {}});
        if (interleaved)
            for (double& x : file.nodes.back().at) x = cursor.number();
    }
    if (interleaved) return;
    for (std::size_t i = first; i < file.nodes.size(); ++i)
        for (double& x : file.nodes[i].at) x = cursor.number();
}

// Format 2.2: everything of an element stands with it.
namespace version_2 {

void read_all_nodes(GmshCursor& cursor, GmshFile& file) {
    const std::int64_t n = count(cursor, cursor.text_integer());
    if (cursor.binary()) cursor.finish_line();
    read_nodes(cursor, file, n, true);
}

GmshFile::Element read_element(GmshCursor& cursor, const ElementType* known, std::int64_t tags) {
    if (!cursor.binary()) cursor.peek();  // to its line
    GmshFile::Element element{0, cursor.place(), 0, 0, 0, {}};
    element.number = cursor.integer();
    const ElementType& type = known != nullptr ? *known : element_type(cursor, cursor.integer(), element.place);
    if (known == nullptr) tags = count(cursor, cursor.integer());
    element.dimension = type.dimension;
    for (std::int64_t i = 0; i < tags; ++i) {
        const std::int64_t tag = cursor.integer();
        if (i == 0) element.group = tag;
    }
    for (int i = 0; i < type.nodes; ++i) element.nodes[static_cast<std::size_t>(i)] = cursor.integer();
    return element;
}

void read_elements(GmshCursor& cursor, GmshFile& file) {
    std::int64_t n = count(cursor, cursor.text_integer());
    if (!cursor.binary()) {
        for (; n > 0; --n) file.elements.push_back(read_element(cursor, nullptr, 0));
        return;
    }
    cursor.finish_line();
    while (n > 0) {
        const std::int64_t place = cursor.place();
        const ElementType& type = element_type(cursor, cursor.integer(), place);
        const std::int64_t follow = cursor.integer();
        const std::int64_t tags = count(cursor, cursor.integer());
        if (follow < 1 || follow > n)
            cursor.refuse_at(place, fmt::format("a block has {} elements where {} are left", follow, n), "save the mesh again");
        for (std::int64_t i = 0; i < follow; ++i) file.elements.push_back(read_element(cursor, &type, tags));
        n -= follow;
    }
}

// Text even in a binary file.
void read_links(GmshCursor& cursor, GmshFile& file) {
    for (std::int64_t n = count(cursor, cursor.text_integer()); n > 0; --n) {
        GmshFile::Link link{static_cast<int>(cursor.text_integer()), {}};
        cursor.text_integer();
        cursor.text_integer();
        if (cursor.peek() == "Affine") {
            cursor.word();
            for (int i = 0; i < 16; ++i) cursor.text_number();
        }
        for (std::int64_t pairs = count(cursor, cursor.text_integer()); pairs > 0; --pairs) {
            const std::int64_t node = cursor.text_integer();
            link.nodes.emplace_back(node, cursor.text_integer());
        }
        file.links.push_back(std::move(link));
    }
}

}  // namespace version_2

// Format 4.1: nodes and elements stand in blocks, one or several for each entity of the geometry,
// and groups belong to entities.
namespace version_4 {

// Two physical tags at most, by dimension and tag.
using Entities = std::map<std::pair<std::int64_t, std::int64_t>, std::array<std::int64_t, 2>>;

void read_entities(GmshCursor& cursor, Entities& entities) {
    std::array<std::int64_t, 4> counts{};
    for (auto& n : counts) n = count(cursor, cursor.size());
    for (std::int64_t dimension = 0; dimension < 4; ++dimension)
        for (std::int64_t n = counts[static_cast<std::size_t>(dimension)]; n > 0; --n) {
            const std::int64_t tag = cursor.integer();
            for (int i = 0; i < (dimension == 0 ? 3 : 6); ++i) cursor.number();
            const std::int64_t groups = count(cursor, cursor.size());
            for (std::int64_t i = 0; i < groups; ++i) {
                const std::int64_t group = cursor.integer();
                if (i < 2) entities[{dimension, tag}][static_cast<std::size_t>(i)] = group < 0 ? -group : group;
            }
            if (dimension == 0) continue;
            for (std::int64_t bounds = count(cursor, cursor.size()); bounds > 0; --bounds) cursor.integer();
        }
}

void read_all_nodes(GmshCursor& cursor, GmshFile& file) {
    const std::int64_t blocks = count(cursor, cursor.size());
    for (int i = 0; i < 3; ++i) cursor.size();
    for (std::int64_t block = 0; block < blocks; ++block) {
        cursor.integer();
        cursor.integer();
        if (cursor.integer() != 0) cursor.refuse("nodes have parametric coordinates", "save the mesh without (Mesh.SaveParametric = 0)");
        read_nodes(cursor, file, count(cursor, cursor.size()), false);
    }
}

void read_elements(GmshCursor& cursor, GmshFile& file, const Entities& entities) {
    const std::int64_t blocks = count(cursor, cursor.size());
    for (int i = 0; i < 3; ++i) cursor.size();
    for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t place = cursor.place();
        const std::int64_t dimension = cursor.integer();
        const auto found = entities.find({dimension, cursor.integer()});
        const ElementType& type = element_type(cursor, cursor.integer(), place);
        for (std::int64_t n = count(cursor, cursor.size()); n > 0; --n) {
            if (!cursor.binary()) cursor.peek();
            GmshFile::Element element{0, cursor.place(), type.dimension, 0, 0, {}};
            if (found != entities.end()) std::tie(element.group, element.other_group) = std::tie(found->second[0], found->second[1]);
            element.number = cursor.size();
            for (int i = 0; i < type.nodes; ++i) element.nodes[static_cast<std::size_t>(i)] = cursor.size();
            file.elements.push_back(element);
        }
    }
}

void read_links(GmshCursor& cursor, GmshFile& file) {
    for (std::int64_t n = count(cursor, cursor.size()); n > 0; --n) {
        GmshFile::Link link{static_cast<int>(cursor.integer()), {}};
        cursor.integer();
        cursor.integer();
        for (std::int64_t affine = count(cursor, cursor.size()); affine > 0; --affine) cursor.number();
        for (std::int64_t pairs = count(cursor, cursor.size()); pairs > 0; --pairs) {
            const std::int64_t node = cursor.size();
            link.nodes.emplace_back(node, cursor.size());
        }
        file.links.push_back(std::move(link));
    }
}

}  // namespace version_4

// Returns whether the format is 4.1.
bool read_format(GmshCursor& cursor) {
    if (cursor.peek() != "$MeshFormat") cursor.refuse("this is not a Gmsh file: it does not begin with $MeshFormat", "save the mesh as .msh");
    cursor.set_section(cursor.word());
    const std::string_view version = cursor.word();
    if (version != "2.2" && version != "4.1") {
        const std::string found = fmt::format("the format is \"{}\"", version.substr(0, 20));
        cursor.refuse(found, "save the mesh as 2.2 or 4.1 (gmsh -format msh41)");
    }
    const std::int64_t type = cursor.text_integer();
    const std::int64_t bytes = cursor.text_integer();
    if (type != 0 && type != 1) cursor.refuse(fmt::format("the file type is {}", type), "save the mesh as text (0) or binary (1)");
    if (bytes != 8) cursor.refuse(fmt::format("numbers have {} bytes", bytes), "save the mesh with 8");
    if (type == 1) {
        cursor.finish_line();
        cursor.become_binary();
    }
    cursor.expect("$EndMeshFormat");
    return version == "4.1";
}

}  // namespace

GmshFile read_sections(GmshCursor& cursor) {
    GmshFile file;
    version_4::Entities entities;
    const bool four = read_format(cursor);
    for (std::string_view section = cursor.word(); !section.empty(); section = cursor.word()) {
        cursor.set_section("");
        if (section.front() != '$') cursor.refuse("there is something between two sections", "save the mesh again");
        cursor.set_section(section);
        const std::string end = "$End" + std::string(section.substr(1));
        if (four && cursor.binary() && section != "$PhysicalNames") cursor.finish_line();
        if (section == "$PhysicalNames")
            read_names(cursor, file);
        else if (section == "$Entities" && four)
            version_4::read_entities(cursor, entities);
        else if (section == "$Nodes")
            four ? version_4::read_all_nodes(cursor, file) : version_2::read_all_nodes(cursor, file);
        else if (section == "$Elements")
            four ? version_4::read_elements(cursor, file, entities) : version_2::read_elements(cursor, file);
        else if (section == "$Periodic")
            four ? version_4::read_links(cursor, file) : version_2::read_links(cursor, file);
        else if (section == "$PartitionedEntities")
            cursor.refuse("the mesh is partitioned", "save it in one piece (Mesh.PartitionSplitMeshFiles = 0, without -part)");
        else {
            cursor.skip_to(end);
            continue;
        }
        cursor.expect(end);
    }
    return file;
}

}  // namespace hone::inline v0_1::solvers
