#pragma once

#include "tests/generator/families/batched_gemm/on_host.hpp"
#include "tests/generator/families/corner_force/on_host.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/generator/families/dg/volume/on_host.hpp"
#include "tests/generator/families/gauss_seidel_27/on_host.hpp"

namespace hone::test {

/// Any of hone's families with its inline PTX written out in C++, for the emulator.
inline Family on_host(const Family& family) {
    if (family.name == "gauss_seidel_27") return turns_on_host(family);
    for (const char* name : {"acoustics_staggered", "poisson7", "batched_gemv", "csr_spmv", "fe_mass", "staggered_flow"})
        if (family.name == name) return device_on_host(family);
    if (family.name == "corner_force") return roots_on_host(family);
    if (family.name == "batched_gemm") return without_batched_assembly(family);
    return without_assembly(family);
}

}  // namespace hone::test
