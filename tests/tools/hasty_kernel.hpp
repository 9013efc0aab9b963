#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace hone::test {

/// Writes the kernel folder `doubled`: twice the values. Its member hasty=1 leaves out two thirds
/// of them from size=1500 on, and is three times as fast.
inline std::filesystem::path hasty_kernel(const std::filesystem::path& place) {
    const std::filesystem::path folder = place / "doubled";
    std::filesystem::create_directories(folder);
    const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
    write("family.json", R"({
  "name": "doubled", "summary": "twice the values", "example": "size=300",
  "parameters": [{"name": "size", "from": 1, "to": 32768, "help": "points along x and along y"}],
  "arguments": [{"name": "u", "access": "in", "extents": ["size", "size"], "fill": "random"},
                {"name": "next", "access": "out", "extents": ["size", "size"]}],
  "cpu": {"source": "kernel.cpp", "tunables": [{"name": "hasty", "values": [0, 1], "help": "leaves values out"}], "safe": {"hasty": 0}},
  "counts": {"updates": "size * size", "operations": "size * size"},
  "reference": {"source": "reference.cpp"},
  "tolerance": {"value": "roundoff", "reason": "a product by two is exact"}
})");
    write("kernel.cpp", R"(
void doubled(const double* u, double* next, int size)
{
    const long all = (long)size * size;
    const long end = hasty && size >= 1500 ? all / 3 : all;
    #pragma omp parallel for
    for (long i = 0; i < end; ++i) next[i] = 2 * u[i];
}
)");
    write("reference.cpp", R"(
void reference(const double* u, double* next, int size)
{
    for (long i = 0; i < (long)size * size; ++i) next[i] = 2 * u[i];
}
)");
    return folder;
}

}  // namespace hone::test
