#include "runtime/cuda/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "foundation/error.hpp"
#include "foundation/forked.hpp"
#include "foundation/processors.hpp"
#include "runtime/compiler.hpp"
#include "runtime/cuda/nvml.hpp"

namespace hone::inline v0_1::cuda {
namespace {

// What the user can do about an error.
const char* remedy_for(Result result) {
    switch (result) {
        case error_out_of_memory:
            return "use a smaller problem, or free memory on the device";
        case error_illegal_address:
        case error_launch_failed:
            return "the context is lost: start the process again, and find the access with compute-sanitizer; a kernel may read behind an array's "
                   "end, so that the array has to be longer";
        case error_launch_timeout:
            return "the context is lost: start the process again with a smaller problem, on a device without a display";
        case error_launch_out_of_resources:
            return "use fewer threads per block, or fewer registers per thread";
        case error_invalid_image:
        case error_no_binary_for_gpu:
        case error_unsupported_ptx_version:
            return "compile for this device's architecture with an NVRTC that is not newer than the driver";
        default:
            return "look the code up in the CUDA driver API's manual";
    }
}

// Whether no other kernel would run either, in whatever process: hardware, driver or a device that
// is gone.
bool is_machines(Result result) {
    constexpr std::array<Result, 8> codes{46,    // device unavailable: in exclusive use by another process
                                          100,   // no device
                                          101,   // no such device
                                          214,   // uncorrectable error of memory
                                          220,   // uncorrectable error of NVLink
                                          226,   // contained error
                                          802,   // system not ready
                                          803};  // driver and library differ
    return std::find(codes.begin(), codes.end(), result) != codes.end();
}

}  // namespace

Session::Session(Driver driver, Device device, const LibraryCandidates& candidates) : driver_(std::move(driver)), device_(std::move(device)) {
    open_in_this_process();
    check(driver_.device_get(&handle_, device_.index), "opening it");
    // Where the application has made the context and the driver does not change it, it stays as it
    // is.
    if (waits_asleep()) driver_.primary_context_set_flags(handle_, context_sched_blocking_sync);
    check(driver_.primary_context_retain(&context_, handle_), "making its context");
    // With the context there others see this process: of two that begin at once, both see one.
    if (device_.is_shared) device_.has_other_clients = DeviceMonitor(device_.index, candidates).clients().value_or(2) > 1;
}

Session::~Session() {
    driver_.primary_context_release(handle_);
}

void Session::fail(Result result, const std::string& what) const {
    const std::string where = fmt::format("CUDA device {} ({})", device_.index, device_.fingerprint.name);
    const std::string found = fmt::format("{}: {}", what, driver_.text(result));
    if (is_machines(result)) throw MachineError(where, found, "see nvidia-smi and the system's log; start again once the device answers");
    throw Error(where, found, remedy_for(result));
}

void Session::warn_of_other_clients() const {
    std::call_once(warned_, [this] {
        fmt::print(
            stderr,
            "hone: warning: other programs may be on cuda:{} beside this one, through CUDA's multi-process service. Blocks of this one wait for "
            "each other. If another program launches such blocks, too, both can wait for ever: run one of them without "
            "(hydro: --vector-updates separate)\n",
            device_.index);
    });
}

Current::Current(const Session& session) : session_(&session) {
    if (is_forked()) {
        result_ = error_not_initialized;  // which is what CUDA says in a child, where it says anything
        return;
    }
    Context* current = nullptr;
    result_ = session.driver().context_get_current(&current);
    if (result_ != success || current == session.context()) return;
    result_ = session.driver().context_push(session.context());
    pushed_ = result_ == success;
}

void Current::check() const {
    expect_not_forked();
    session_->check(result_, "making its context current");
}

Current::~Current() {
    Context* popped = nullptr;
    if (pushed_) session_->driver().context_pop(&popped);
}

}  // namespace hone::inline v0_1::cuda
