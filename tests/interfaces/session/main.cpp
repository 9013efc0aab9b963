// This test program is the hone program that a session starts as its worker.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/axpy_family.hpp"
#include "tuner/worker/worker.hpp"

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "worker") return hone::worker_main(hone::test::axpy_families());
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
