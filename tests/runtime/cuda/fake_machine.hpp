#pragma once

#include <string>

#include "foundation/error.hpp"
#include "runtime/cuda/cuda_backend.hpp"
#include "tests/runtime/cuda/fake_driver/fake_driver.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::test {

/// A machine with one fake GPU, as it was never used before.
class FakeMachine {
  public:
    FakeMachine() : cache_(folder_.path() / "cache") {
        FakeDriverStateFunction function = nullptr;
        cuda::SharedLibrary(candidates().driver).bind("fake_driver_state", function);
        state_ = &function();
        *state_ = FakeDriverState{};
        FakeNvmlStateFunction nvml_function = nullptr;
        cuda::SharedLibrary(candidates().nvml).bind("fake_nvml_state", nvml_function);
        nvml_ = &nvml_function();
        *nvml_ = FakeNvmlState{};
    }

    static cuda::LibraryCandidates candidates() {
        const std::string folder = fake_driver_folder();
        return {{folder + "/libcuda.so.1"}, {folder + "/libnvrtc.so.13"}, {folder + "/libnvidia-ml.so.1"}, {folder + "/libnccl.so.2"}};
    }

    FakeDriverState& state() { return *state_; }
    FakeNvmlState& nvml() { return *nvml_; }
    DiskCache& cache() { return cache_; }
    std::unique_ptr<Backend> backend(int index = 0) { return cuda::make_cuda_backend(index, cache_, candidates()); }

    /// A module that has every entry point the fake driver knows.
    std::unique_ptr<Module> module(Backend& backend) {
        KernelSource source;
        source.target = Target::cuda;
        source.text = "whatever";
        return backend.load(backend.compiler().compile(source).code);
    }

  private:
    TemporaryFolder folder_;
    DiskCache cache_;
    FakeDriverState* state_ = nullptr;
    FakeNvmlState* nvml_ = nullptr;
};

/// The text of the Error that `action` throws; empty, which no Error is, when it throws none.
template <typename Action>
std::string error_of(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace hone::test
