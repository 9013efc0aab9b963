// The campaign. It is its own worker, whose candidates are hostile, and its own writer of journals.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "foundation/processors.hpp"
#include "tests/campaign/campaign.hpp"
#include "tests/campaign/candidates.hpp"
#include "tests/campaign/journal_writer.hpp"
#include "tests/support/axpy_family.hpp"
#include "tuner/worker/worker.hpp"

int main(int count, char** words) {
    hone::take_usable_threads();
    if (count > 1 && std::string(words[1]) == "worker") return hone::worker_main(hone::test::axpy_families(hone::test::hostile_faults()));
    if (count == 4 && std::string(words[1]) == "journal") return hone::test::write_journal(words[2], std::atoi(words[3]));
    testing::InitGoogleTest(&count, words);
    const int result = RUN_ALL_TESTS();
    std::cout << "\nThe campaign:\n";
    for (const std::string& line : hone::test::counted()) std::cout << "  " << line << "\n";
    return result;
}
