// libFuzzer: no file makes the reader of MFEM's meshes crash or hang, and what it accepts can be
// numbered and refined.
#include "examples/mesh/mfem.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "generator/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hone::examples;
    try {
        const QuadMesh mesh = parse_mfem({reinterpret_cast<const char*>(data), size}, "input");
        for (const int order : {1, 3})
            for (const std::int32_t node : number_lattice(mesh, order).zone_nodes)
                if (node < 0) std::abort();
        const QuadMesh fine = refined(mesh);
        if (fine.size() != mesh.size() * mesh.corners()) std::abort();
        number_lattice(fine, 2);
    } catch (const hone::Error&) {
    }
    return 0;
}
