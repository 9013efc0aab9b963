#pragma once

#include <functional>
#include <string>

#include "foundation/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::test {

/// The text of the Error with which so many ranks of threads end; empty, which no Error is, when
/// they end without.
inline std::string error_of_ranks(int ranks, const std::function<void(Communicator&)>& work) {
    try {
        run_thread_ranks(ranks, work);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace hone::test
