#include "interfaces/c/errors.hpp"

namespace hone::inline v0_1::languages {
namespace {

std::string& text_of_this_thread() {
    static thread_local std::string text;
    return text;
}

}  // namespace

hone_status failed(hone_status status, const char* text) noexcept {
    try {
        text_of_this_thread() = text;
    } catch (const std::bad_alloc&) {
        text_of_this_thread().clear();
    }
    return status;
}

const char* last_error() noexcept {
    return text_of_this_thread().c_str();
}

}  // namespace hone::inline v0_1::languages
