// libFuzzer: no file makes the reader of Gmsh's meshes crash or hang, and what it accepts can be
// matched, measured and renumbered, or is refused.
#include "solvers/mesh/gmsh.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foundation/error.hpp"
#include "solvers/mesh/geometry.hpp"
#include "solvers/mesh/renumber.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hone::solvers;
    try {
        const Mesh mesh = parse_gmsh({reinterpret_cast<const char*>(data), size}, "input");
        for (const double jacobian : geometry_of(mesh).jacobian)
            if (!(jacobian > 0)) std::abort();
        const auto neighbours = match_faces(mesh, "input");
        const auto order = cuthill_mckee(mesh, neighbours);
        if (order.size() != mesh.elements.size()) std::abort();
        const Mesh other = reordered(mesh, order);
        const NodeMaps maps = node_maps(other, match_faces(other, "input"), 2);
        for (const std::int64_t node : maps.other)
            if (node < 0) std::abort();
    } catch (const hone::Error&) {
    }
    return 0;
}
