#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hone::test {

/// A file that other projects measured, in the folder that HONE_SPACES names:
/// community_space("pnpoly__RTX_3090.json.gz"). Such files do not come with hone
/// (https://github.com/AutoTuningAssociation/benchmark_hub has them). Empty when it is not there:
/// skip then, with `no_community_spaces`.
inline std::string community_space(const std::string& file) {
    const char* folder = std::getenv("HONE_SPACES");  // NOLINT(concurrency-mt-unsafe): no test changes it
    if (folder == nullptr) return "";
    const std::filesystem::path path = std::filesystem::path(folder) / file;
    return std::filesystem::exists(path) ? path.string() : "";
}

inline constexpr const char* no_community_spaces = "HONE_SPACES names no folder with the spaces that this test asks for";

}  // namespace hone::test
