#include "runtime/cuda/driver.hpp"

#include <fmt/format.h>

namespace hone::inline v0_1::cuda {
namespace {

constexpr const char* install_driver =
    "install NVIDIA's driver (Ubuntu: ubuntu-drivers install; Debian: nvidia-driver from non-free), or in a container pass the GPU through";

}  // namespace

std::string Driver::text(Result result) const {
    const char* name = nullptr;
    const char* explanation = nullptr;
    if (get_error_name(result, &name) != success || name == nullptr) return fmt::format("CUDA error {}", result);
    if (get_error_string(result, &explanation) != success || explanation == nullptr) return name;
    return fmt::format("{} ({})", name, explanation);
}

Driver load_driver(const LibraryCandidates& candidates) {
    Driver driver;
    driver.library = SharedLibrary(candidates.driver);
    if (!driver.library) {
        driver.missing = fmt::format("no CUDA driver ({})", driver.library.reason());
        driver.remedy = install_driver;
        return driver;
    }
    const auto bind = [&](const char* symbol, auto*& function) {
        if (!driver.library.bind(symbol, function) && driver.missing.empty()) {
            driver.missing = fmt::format("the CUDA driver {} has no {}", driver.library.path(), symbol);
            driver.remedy = "install a driver for CUDA 11.2 or newer";
        }
    };
#define HONE_BIND(member, symbol, parameters) bind(#symbol, driver.member);
    HONE_DRIVER_FUNCTIONS(HONE_BIND)
#undef HONE_BIND
    return driver;
}

Driver start_driver(const LibraryCandidates& candidates, int& devices) {
    devices = 0;
    Driver driver = load_driver(candidates);
    if (!driver.missing.empty()) return driver;
    Result result = driver.init(0);
    if (result == success) result = driver.device_get_count(&devices);
    if (result == success && devices > 0) return driver;
    if (result == success) result = error_no_device;
    devices = 0;
    driver.missing = fmt::format("the CUDA driver {} finds no device: {}", driver.library.path(), driver.text(result));
    driver.remedy = result == error_stub_library ? "take the toolkit's stubs folder out of the library path, and install NVIDIA's driver"
                                                 : "check nvidia-smi and CUDA_VISIBLE_DEVICES; in a container pass the GPU through";
    return driver;
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace hone::inline v0_1::cuda
