#include "tests/campaign/journal_writer.hpp"

#include <cstdio>

#include "tests/campaign/campaign.hpp"
#include "tuner/journal.hpp"

namespace hone::test {
namespace {

constexpr int evaluations_at_first = 3;
constexpr int evaluations_in_all = 6;

RunDescription description() {
    RunDescription run;
    run.problem = "gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=18 nz=16";
    run.space = "made up";
    run.version = "campaign";
    run.strategy = "random";
    return run;
}

void append(Journal& journal, int number) {
    JournalEntry entry;
    entry.index = number;
    entry.elapsed = number;
    entry.config = "x=" + std::to_string(number);
    entry.outcome = failure(Status::compile_failed, "made up");
    journal.append(entry);
    std::printf("%d ", number);
    std::fflush(stdout);
}

}  // namespace

int write_journal(const std::string& file, int first) {
    try {
        {
            Journal journal = Journal::start(file, description());
            for (int i = 0; i < evaluations_at_first; ++i) append(journal, first + i);
        }
        Journal journal = Journal::resume(file, description());
        for (int i = evaluations_at_first; i < evaluations_in_all; ++i) append(journal, first + i);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}

std::string evaluations_in(const std::string& file) {
    std::string numbers;
    for (const JournalEntry& entry : parse_journal(text_of(file), file).entries) numbers += std::to_string(entry.index) + " ";
    return numbers;
}

}  // namespace hone::test
