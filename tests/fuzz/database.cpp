// libFuzzer: no text makes the parser of database files crash; what it accepts can be written and
// read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "tuning_db/database_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const hone::Families& families = hone::built_in_families();
    hone::DatabaseFile file;
    try {
        file = hone::parse_database_file(text, "input", families);
    } catch (const hone::Error&) {
        return 0;
    }
    const std::string written = hone::database_file_text(file.device, file.records);
    const std::size_t records = hone::parse_database_file(written, "written", families).records.size();
    if (records != file.records.size()) std::abort();
    return 0;
}
