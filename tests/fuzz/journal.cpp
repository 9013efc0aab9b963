// libFuzzer: no text makes the parser of journals crash; what it accepts can be written and read
// again, and replayed or refused.
#include "tuner/journal.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foundation/error.hpp"
#include "tuner/replay/formats/journal_space.hpp"

namespace {

void replay(std::string_view text) {
    try {
        if (hone::parse_journal_space(text, "input", "input").valid() < 1) std::abort();
    } catch (const hone::Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    hone::JournalText journal;
    try {
        journal = hone::parse_journal(text, "input");
    } catch (const hone::Error&) {
        return 0;
    }
    const std::string written = hone::journal_text(journal);
    if (hone::parse_journal(written, "written").entries.size() != journal.entries.size()) std::abort();
    replay(text);
    return 0;
}
