#pragma once

#include <new>
#include <string>

#include "foundation/error.hpp"
#include "interfaces/c/hone.h"

namespace hone::inline v0_1::languages {

/// A refusal by this interface itself, with its status. Its text begins with the function that was
/// called.
class Refusal : public Error {
  public:
    Refusal(hone_status status, const std::string& where, const std::string& found, const std::string& remedy)
        : Error(where, found, remedy), status_(status) {}
    hone_status status() const { return status_; }

  private:
    hone_status status_;
};

/// Keeps the text as this thread's last error, as far as there is memory for it, and returns the
/// status.
hone_status failed(hone_status status, const char* text) noexcept;
const char* last_error() noexcept;

/// Runs the body of a function of hone.h with that function's name: no exception passes.
template <typename Body>
hone_status guarded(const char* function, const Body& body) noexcept {
    try {
        body(function);
        return HONE_OK;
    } catch (const Refusal& refusal) {
        return failed(refusal.status(), refusal.what());
    } catch (const std::bad_alloc&) {
        return failed(HONE_NO_MEMORY, "the host has no memory left for this; use a smaller problem, or free some");
    } catch (const std::exception& error) {
        return failed(HONE_ERROR, error.what());
    } catch (...) {
        return failed(HONE_ERROR, "a callback threw what is no std::exception; return a value from it instead");
    }
}

/// `pointer`, which a caller gave for the argument `name`. Throws Refusal when it is null.
template <typename T>
T* given(const char* function, T* pointer, const char* name) {
    if (pointer == nullptr) throw Refusal(HONE_BAD_ARGUMENT, function, std::string(name) + " is null", "give it an address");
    return pointer;
}

}  // namespace hone::inline v0_1::languages
