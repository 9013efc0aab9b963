#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/cuda/shared_library.hpp"

namespace hone::inline v0_1 {

/// The CUDA devices that hone can use here: those of the driver, if NVRTC is there to compile for
/// them. Makes no context, so a process that only asks leaves the devices alone.
std::vector<Device> cuda_devices(std::string& missing);

/// A CUDA device through its driver: the primary context, which applications on the runtime API
/// (cudaMalloc, cudaStream_t) share.
///
/// Any thread may launch; the context is made current for the length of a call and the thread's own
/// is put back. What goes wrong on the device while work is queued shows at the next `synchronise`,
/// `seconds` or later call, as an Error that names CUDA's code; after an illegal access or a launch
/// failure the context is lost for the whole process.
/// Throws Error saying what is missing, or that there is no device of that index.
std::unique_ptr<Backend> make_cuda_backend(int index, DiskCache& cache);

namespace cuda {
/// Lists devices by libraries of the caller's choice.
std::vector<Device> cuda_devices(std::string& missing, const LibraryCandidates& candidates);
std::unique_ptr<Backend> make_cuda_backend(int index, DiskCache& cache, const LibraryCandidates& candidates);
}  // namespace cuda

}  // namespace hone::inline v0_1
