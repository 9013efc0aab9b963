#include "solvers/output/checkpoint_file.hpp"

#include <fmt/format.h>

#include <cstring>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/sha256.hpp"

namespace hone::inline v0_1::solvers {
namespace {

// The file: its kind; lines of "name value"; an empty line; the state; 64 digits of the sum over
// everything before.
constexpr std::size_t digest_length = 64;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& found) {
    throw Error(file.string(), found, "use an undamaged checkpoint");
}

}  // namespace

const std::string& CheckpointFile::value(std::string_view name, const std::filesystem::path& file) const {
    for (const auto& [own, text] : lines)
        if (own == name) return text;
    refuse(file, fmt::format("it does not say its {}", name));
}

std::vector<std::string> CheckpointFile::values(std::string_view name) const {
    std::vector<std::string> result;
    for (const auto& [own, text] : lines)
        if (own == name) result.push_back(text);
    return result;
}

void write_checkpoint_file(const std::filesystem::path& file, std::string_view kind, const CheckpointFile& checkpoint) {
    std::string text = fmt::format("{}\n", kind);
    for (const auto& [name, value] : checkpoint.lines) text += fmt::format("{} {}\n", name, value);
    text += '\n';
    text.append(reinterpret_cast<const char*>(checkpoint.state.data()), checkpoint.state.size());
    text += sha256(text);
    replace_file(file, text);
}

CheckpointFile read_checkpoint_file(const std::filesystem::path& file, std::string_view kind) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
    const std::string whole = read_file(file, most_bytes);
    const std::string head = fmt::format("{}\n", kind);
    std::string_view text = whole;
    if (text.substr(0, head.size()) != head)
        throw Error(file.string(), fmt::format("it is no {}", kind), "name a file that this version of this program wrote");
    if (text.size() < head.size() + digest_length) refuse(file, "it is cut short");
    const std::string_view body = text.substr(0, text.size() - digest_length);
    if (sha256(body) != text.substr(body.size())) refuse(file, "its checksum is wrong: it is damaged or cut short");
    CheckpointFile checkpoint;
    for (text = body.substr(head.size());;) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) refuse(file, "it ends too early");
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line.empty()) break;
        const std::size_t space = std::min(line.find(' '), line.size());
        checkpoint.lines.emplace_back(line.substr(0, space), line.substr(std::min(space + 1, line.size())));
    }
    checkpoint.state.resize(text.size());
    if (!text.empty()) std::memcpy(checkpoint.state.data(), text.data(), text.size());
    return checkpoint;
}

}  // namespace hone::inline v0_1::solvers
