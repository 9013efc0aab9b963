#include "runtime/cuda/resource_report.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace hone::inline v0_1::cuda {
namespace {

bool starts_at(std::string_view line, std::string_view phrase, std::string_view& rest) {
    const std::size_t at = line.find(phrase);
    if (at == std::string_view::npos) return false;
    rest = line.substr(at + phrase.size());
    return true;
}

// The whole number before `unit`, as in "256 bytes smem"; 0 when it is not there.
int number_before(std::string_view line, std::string_view unit) {
    const std::size_t at = line.find(unit);
    if (at == std::string_view::npos) return 0;
    std::size_t begin = at;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
    int number = 0;
    std::from_chars(line.data() + begin, line.data() + at, number);
    return number;
}

EntryResources* find(std::vector<EntryResources>& all, std::string_view entry) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const EntryResources& one) { return one.entry == entry; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<EntryResources> parse_resources(std::string_view log) {
    std::vector<EntryResources> all;
    EntryResources of_functions;       // spills of what was not inlined
    std::string entry;                 // that "Used ... registers" speaks of
    EntryResources* target = nullptr;  // that the line of stack and spills speaks of
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(log.size(), line.size() + 1));
        std::string_view rest;
        if (starts_at(line, "Compiling entry function '", rest)) {
            entry = std::string(rest.substr(0, rest.find('\'')));
            all.push_back({.entry = entry});
        } else if (starts_at(line, "Function properties for ", rest)) {
            target = find(all, rest.substr(0, rest.find_first_of(" \r")));
            if (target == nullptr) target = &of_functions;
        } else if (line.find(" bytes stack frame") != std::string_view::npos && target != nullptr) {
            target->local_bytes = std::max(target->local_bytes, number_before(line, " bytes stack frame"));
            target->spill_store_bytes += number_before(line, " bytes spill stores");
            target->spill_load_bytes += number_before(line, " bytes spill loads");
            target = nullptr;
        } else if (EntryResources* used = find(all, entry); used != nullptr && starts_at(line, "Used ", rest)) {
            used->registers = number_before(line, " registers");
            used->shared_bytes = number_before(line, " bytes smem");
            used->local_bytes = std::max(used->local_bytes, number_before(line, " bytes cumulative stack size"));
        }
    }
    for (auto& one : all) {
        one.spill_store_bytes += of_functions.spill_store_bytes;
        one.spill_load_bytes += of_functions.spill_load_bytes;
    }
    return all;
}

}  // namespace hone::inline v0_1::cuda
