// libFuzzer: no file makes the reader of MFEM's meshes crash or hang, and what it accepts can be
// numbered and refined.
#include "solvers/mesh/mfem.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foundation/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hone::solvers;
    // A box of any size stands in a line: those that fill the memory tell nothing.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    constexpr std::string_view digits = "0123456789";
    const auto is_long = [&](std::size_t at) { return at + 2 < size && text.substr(at, 3).find_first_not_of(digits) == std::string_view::npos; };
    if (text.find("INLINE") != std::string_view::npos)
        for (std::size_t at = 0; at < size; ++at)
            if (is_long(at)) return 0;
    try {
        const QuadMesh mesh = parse_mfem(text, "input");
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
