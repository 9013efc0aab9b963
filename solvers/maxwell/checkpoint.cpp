#include "solvers/maxwell/checkpoint.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/sha256.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

// The file: lines of "name value", the last of them "state <bytes>"; those bytes; and 64 digits,
// the SHA-256 of everything before.
constexpr std::string_view magic = "hone wave checkpoint";
constexpr int version = 1;
constexpr std::size_t digest_length = 64;

std::string head_of(const Checkpoint& checkpoint) {
    std::string text = fmt::format("{} {}\n", magic, version);
    text += fmt::format("equation {}\norder {}\nprecision {}\nmesh {}\nform {}\n", checkpoint.equation, checkpoint.order, checkpoint.precision,
                        checkpoint.mesh, checkpoint.form);
    text += fmt::format("step {}\ndt {}\n", checkpoint.step, checkpoint.dt);
    for (const auto& [family, config] : checkpoint.configurations) text += fmt::format("kernel {} {}\n", family, config);
    for (const auto& [time, energy] : checkpoint.energy) text += fmt::format("energy {} {}\n", time, energy);
    return text + fmt::format("state {}\n", checkpoint.state.size());
}

// Reads the head line by line.
class Reader {
  public:
    Reader(std::string_view text, const std::filesystem::path& file) : text_(text), file_(file) {}

    Checkpoint read() {
        next_line();  // version, which has been looked at
        Checkpoint checkpoint;
        for (;;) {
            const auto [name, value] = halves(next_line());
            if (name == "state") {
                const auto bytes = number<std::size_t>(value);
                if (bytes != text_.size()) refuse("its state has another length than it says");
                checkpoint.state.resize(bytes);
                if (bytes > 0) std::memcpy(checkpoint.state.data(), text_.data(), bytes);
                return checkpoint;
            }
            set(checkpoint, name, value);
        }
    }

  private:
    void set(Checkpoint& checkpoint, std::string_view name, std::string_view value) {
        const auto [first, second] = halves(value);
        if (name == "equation")
            checkpoint.equation = value;
        else if (name == "order")
            checkpoint.order = number<int>(value);
        else if (name == "precision")
            checkpoint.precision = value;
        else if (name == "mesh")
            checkpoint.mesh = value;
        else if (name == "form")
            checkpoint.form = value;
        else if (name == "step")
            checkpoint.step = number<std::int64_t>(value);
        else if (name == "dt")
            checkpoint.dt = number<double>(value);
        else if (name == "kernel")
            checkpoint.configurations[std::string(first)] = second;
        else if (name == "energy")
            checkpoint.energy.emplace_back(number<double>(first), number<double>(second));
        else
            refuse(fmt::format("it says \"{}\", which nobody knows", name));
    }

    std::string_view next_line() {
        const std::size_t end = text_.find('\n');
        if (end == std::string_view::npos) refuse("it ends too early");
        const std::string_view line = text_.substr(0, end);
        text_.remove_prefix(end + 1);
        return line;
    }

    static std::pair<std::string_view, std::string_view> halves(std::string_view line) {
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) return {line, {}};
        return {line.substr(0, space), line.substr(space + 1)};
    }

    template <typename Number>
    Number number(std::string_view text) {
        Number value{};
        const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size()) refuse(fmt::format("\"{}\" stands where a number should", text));
        return value;
    }

    [[noreturn]] void refuse(const std::string& found) const { throw Error(file_.string(), found, "use an undamaged checkpoint"); }

    std::string_view text_;
    const std::filesystem::path& file_;
};

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
    std::string text = head_of(checkpoint);
    text.append(reinterpret_cast<const char*>(checkpoint.state.data()), checkpoint.state.size());
    text += sha256(text);
    replace_file(file, text);
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
    const std::string whole = read_file(file, most_bytes);
    const std::string_view text = whole;
    if (text.substr(0, magic.size()) != magic) throw Error(file.string(), "it is not a checkpoint", "name a file that --checkpoint wrote");
    const std::string wanted = fmt::format("{} {}\n", magic, version);
    if (text.substr(0, wanted.size()) != wanted)
        throw Error(file.string(), "it is of another version", fmt::format("this program reads version {}", version));
    if (text.size() < wanted.size() + digest_length) throw Error(file.string(), "it is cut short", "use an undamaged checkpoint");
    const std::string_view body = text.substr(0, text.size() - digest_length);
    if (sha256(body) != text.substr(body.size()))
        throw Error(file.string(), "its checksum is wrong: it is damaged or cut short", "use an undamaged checkpoint");
    return Reader(body, file).read();
}

void require_same(const Checkpoint& checkpoint, const Checkpoint& run, const std::filesystem::path& file) {
    const auto require = [&](const char* what, const std::string& there, const std::string& here) {
        if (there != here)
            throw Error(file.string(), fmt::format("its {} is {}, that of this run {}", what, there, here),
                        "go on with the options of the first run");
    };
    require("equation", checkpoint.equation, run.equation);
    require("order", std::to_string(checkpoint.order), std::to_string(run.order));
    require("precision", checkpoint.precision, run.precision);
    require("mesh", checkpoint.mesh, run.mesh);
}

}  // namespace hone::inline v0_1::solvers::maxwell
