#include "solvers/mesh/gmsh.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "foundation/file_store.hpp"
#include "foundation/value.hpp"
#include "solvers/mesh/gmsh_file.hpp"

namespace hone::inline v0_1::solvers {
namespace {

class Builder {
  public:
    Builder(const GmshFile& file, const GmshCursor& cursor, const GmshGroups& groups) : file_(file), cursor_(cursor), groups_(groups) {}

    Mesh build() {
        const auto solid = [](const GmshFile::Element& element) { return element.dimension == 3; };
        mesh_.dimension = std::any_of(file_.elements.begin(), file_.elements.end(), solid) ? 3 : 2;
        mesh_.place_unit = cursor_.unit();
        add_vertices();
        for (const auto& element : file_.elements) {
            if (element.dimension >= mesh_.dimension - 1 && element.other_group != 0) refuse_groups(element, element.other_group, "");
            if (element.dimension == mesh_.dimension) add_element(element);
            if (element.dimension == mesh_.dimension - 1 && element.group != 0) add_boundary(element);
        }
        for (const auto& link : file_.links)
            if (link.dimension == mesh_.dimension - 1) add_link(link);
        return std::move(mesh_);
    }

  private:
    void add_vertices() {
        if (file_.nodes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            cursor_.refuse("there are more than 2^31 nodes", "use a smaller mesh");
        for (const auto& node : file_.nodes) {
            const bool finite = std::all_of(node.at.begin(), node.at.end(), [](double x) { return std::isfinite(x); });
            if (!finite) cursor_.refuse(fmt::format("node {} is nowhere: a coordinate is not finite", node.tag), "make the mesh again");
            if (mesh_.dimension == 2 && std::abs(node.at[2]) > 0)
                cursor_.refuse(fmt::format("node {} of a mesh of triangles has z = {}", node.tag, node.at[2]), "use the plane z = 0");
            if (!vertices_.emplace(node.tag, static_cast<int>(mesh_.vertices.size())).second)
                cursor_.refuse(fmt::format("node {} is there twice", node.tag), "save the mesh again");
            mesh_.vertices.push_back(node.at);
        }
    }

    int vertex(const GmshFile::Element& element, std::int64_t node) const {
        const auto found = vertices_.find(node);
        if (found == vertices_.end()) refuse(element, fmt::format("has node {}, which does not exist", node), "save the mesh again, with all nodes");
        return found->second;
    }

    void add_element(const GmshFile::Element& element) {
        std::array<int, 4> vertices{0, 0, 0, Mesh::none};
        for (int i = 0; i < mesh_.corners(); ++i) vertices[static_cast<std::size_t>(i)] = vertex(element, element.nodes[static_cast<std::size_t>(i)]);
        refuse_second(element, vertices);
        mesh_.elements.push_back(vertices);
        mesh_.material.push_back(material(element));
        mesh_.numbers.push_back(element.number);
        mesh_.places.push_back(element.place);
    }

    // Format 2.2 lists an element once for each of its groups.
    void refuse_second(const GmshFile::Element& element, std::array<int, 4> vertices) {
        std::sort(vertices.begin(), vertices.end());
        const auto [known, is_new] = seen_.emplace(vertices, &element);
        if (is_new) return;
        const std::string first = fmt::format("{} {}", cursor_.unit(), known->second->place);
        if (element.group != known->second->group) refuse_groups(element, known->second->group, " (" + first + ")");
        refuse(element, "is there twice, first in " + first, "take out elements that are there twice");
    }

    [[noreturn]] void refuse_groups(const GmshFile::Element& element, std::int64_t other, const std::string& place) const {
        const std::string name = group_name(element), other_name = group_name(element.dimension, other);
        refuse(element, fmt::format("belongs to two groups, \"{}\" and \"{}\"{}", name, other_name, place), "give each element one group");
    }

    void add_boundary(const GmshFile::Element& element) {
        Mesh::BoundaryFace face{{Mesh::none, Mesh::none, Mesh::none}, kind(element), element.place};
        for (std::size_t i = 0; i < static_cast<std::size_t>(mesh_.dimension); ++i) face.vertices[i] = vertex(element, element.nodes[i]);
        mesh_.boundary.push_back(face);
    }

    // Pairs of nodes that the mesh does not have are no concern.
    void add_link(const GmshFile::Link& link) {
        Mesh::Link pairs;
        for (const auto& [node, other] : link.nodes) {
            const auto from = vertices_.find(node);
            const auto to = vertices_.find(other);
            if (from != vertices_.end() && to != vertices_.end()) pairs.emplace_back(from->second, to->second);
        }
        mesh_.links.push_back(std::move(pairs));
    }

    std::string group_name(const GmshFile::Element& element) const { return group_name(element.dimension, element.group); }
    std::string group_name(int dimension, std::int64_t group) const {
        if (group == 0) return "default";
        const auto found = file_.names.find({dimension, group});
        return found == file_.names.end() ? std::to_string(group) : found->second;
    }

    int material(const GmshFile::Element& element) {
        const auto [found, is_new] = known_.emplace(std::pair(element.dimension, element.group), static_cast<int>(mesh_.materials.size()));
        if (is_new) {
            const std::string name = group_name(element);
            const auto& names = groups_.materials;
            if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end())
                refuse(element, fmt::format("belongs to the group \"{}\", which is not a known material", name),
                       did_you_mean(name, names) + fmt::format("known are {}", fmt::join(names, ", ")));
            mesh_.materials.push_back(name);
        }
        return found->second;
    }

    Boundary kind(const GmshFile::Element& element) const {
        const std::string name = group_name(element);
        const auto found = groups_.boundary.find(name);
        if (found != groups_.boundary.end()) return found->second;
        std::vector<std::string> names;
        for (const auto& [known, boundary] : groups_.boundary) names.push_back(known);
        refuse(element, fmt::format("belongs to the group \"{}\", which is not a known kind of boundary", name),
               did_you_mean(name, names) + fmt::format("known are {}", fmt::join(names, ", ")));
    }

    [[noreturn]] void refuse(const GmshFile::Element& element, const std::string& found, const std::string& remedy) const {
        cursor_.refuse_at(element.place, fmt::format("element {} {}", element.number, found), remedy);
    }

    const GmshFile& file_;
    const GmshCursor& cursor_;
    const GmshGroups& groups_;
    Mesh mesh_;
    std::unordered_map<std::int64_t, int> vertices_;
    std::map<std::array<int, 4>, const GmshFile::Element*> seen_;
    std::map<std::pair<int, std::int64_t>, int> known_;
};

}  // namespace

Mesh read_gmsh(const std::filesystem::path& file, const GmshGroups& groups) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 36;
    return parse_gmsh(read_file(file, most_bytes), file.string(), groups);
}

Mesh parse_gmsh(std::string_view contents, const std::string& where, const GmshGroups& groups) {
    GmshCursor cursor(contents, where);
    const GmshFile file = read_sections(cursor);
    cursor.set_section("");
    Mesh mesh = Builder(file, cursor, groups).build();
    check_elements(mesh, where);
    return mesh;
}

}  // namespace hone::inline v0_1::solvers
