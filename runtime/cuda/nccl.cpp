#include "runtime/cuda/nccl.hpp"

#include <fmt/format.h>

namespace hone::inline v0_1::cuda {

Nccl load_nccl(const LibraryCandidates& candidates) {
    Nccl nccl;
    nccl.library = SharedLibrary(candidates.nccl);
    nccl.remedy = "install NVIDIA's package libnccl2 (pip: nvidia-nccl-cu13, with its folder in LD_LIBRARY_PATH)";
    if (!nccl.library) {
        nccl.missing = fmt::format("no NCCL ({})", nccl.library.reason());
        return nccl;
    }
    const auto bind = [&](const char* symbol, auto*& function) {
        if (!nccl.library.bind(symbol, function) && nccl.missing.empty())
            nccl.missing = fmt::format("NCCL {} has no {}: it is older than 2.7", nccl.library.path(), symbol);
    };
#define HONE_BIND(member, symbol, result, parameters) bind(#symbol, nccl.member);
    HONE_NCCL_FUNCTIONS(HONE_BIND)
#undef HONE_BIND
    if (!nccl.missing.empty()) return nccl;
    int version = 0;
    if (nccl.version(&version) != nccl_success) {
        nccl.missing = fmt::format("NCCL {} does not tell its version", nccl.library.path());
        return nccl;
    }
    // 22809 is 2.28.9; up to 2.8 it was 2708 for 2.7.8.
    const int major = version < 10000 ? version / 1000 : version / 10000;
    const int rest = version < 10000 ? version % 1000 : version % 10000;
    nccl.name = fmt::format("NCCL {}.{}.{}", major, rest / 100, rest % 100);
    nccl.remedy.clear();
    return nccl;
}

}  // namespace hone::inline v0_1::cuda
