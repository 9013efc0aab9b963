#include "runtime/cuda/nvrtc_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <locale>
#include <optional>
#include <sstream>
#include <string_view>

#include "foundation/error.hpp"
#include "runtime/compiled_entries.hpp"
#include "runtime/cuda/nvrtc.hpp"
#include "runtime/cuda/resource_report.hpp"
#include "runtime/cuda/toolkit_headers.hpp"
#include "runtime/directives.hpp"

namespace hone::inline v0_1::cuda {
namespace {

// First line of what is kept on disk; raise the number when the form changes.
constexpr std::string_view cache_form = "hone cubin 1";

// Kept: lines that say what the compiler said, an empty line, the log, the cubin.
std::string packed(const CompiledCode& code) {
    std::string text = fmt::format("{}\nseconds {}\nlog {}\n", cache_form, code.seconds, code.log.size());
    for (const auto& entry : code.resources)
        text += fmt::format("entry {} {} {} {} {} {}\n", entry.entry, entry.registers, entry.shared_bytes, entry.local_bytes, entry.spill_store_bytes,
                            entry.spill_load_bytes);
    return text + "\n" + code.log + code.binary;
}

std::optional<CompiledCode> unpacked(const std::string& contents) {
    const std::size_t head = contents.find("\n\n");
    if (!contents.starts_with(cache_form) || head == std::string::npos) return std::nullopt;
    std::istringstream lines(contents.substr(cache_form.size() + 1, head - cache_form.size()));
    lines.imbue(std::locale::classic());
    CompiledCode code;
    code.target = Target::cuda;
    std::size_t log_bytes = 0;
    std::string word;
    while (lines >> word) {
        EntryResources entry;
        if (word == "seconds") {
            lines >> code.seconds;
        } else if (word == "log") {
            lines >> log_bytes;
        } else {
            lines >> entry.entry >> entry.registers >> entry.shared_bytes >> entry.local_bytes >> entry.spill_store_bytes >> entry.spill_load_bytes;
            code.resources.push_back(entry);
        }
        if (!lines) return std::nullopt;
    }
    const std::size_t body = head + 2;
    if (contents.size() - body <= log_bytes) return std::nullopt;
    code.log = contents.substr(body, log_bytes);
    code.binary = contents.substr(body + log_bytes);
    code.from_cache = true;
    return code;
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

// The log's first line that speaks of an error, else its first line.
std::string reason(const std::string& log, const std::string& result) {
    for (const char* word : {"error", "fatal"}) {
        const std::size_t error = log.find(word);
        if (error == std::string::npos) continue;
        const std::size_t before = log.rfind('\n', error);
        return std::string(first_line(std::string_view(log).substr(before == std::string::npos ? 0 : before + 1)));
    }
    return log.empty() ? result : fmt::format("{}: {}", result, first_line(log));
}

// NVRTC looks for headers beside the source, and the source has no file: in whatever folder the
// program runs in. So a source that includes something gets a folder that nobody can make.
constexpr std::string_view no_folder = "/proc/self/hone/";

std::string without(std::string text, std::string_view part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
    return text;
}

// What to do about a header that NVRTC did not find; empty when it found all.
std::string absent_header(const std::string& log, const ToolkitHeaders& toolkit) {
    constexpr std::string_view words = "open source file \"";
    const std::size_t at = log.find(words);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + words.size();
    const std::string name = log.substr(begin, log.find('"', begin) - begin);
    if (is_standard_header(name) && name.find('.') == std::string::npos)
        return fmt::format("; <{0}> is of the host's C++ library: include <cuda/std/{0}>", name);
    if (toolkit.folders.empty()) return "; " + toolkit_headers_remedy();
    return fmt::format("; it is looked for beside the kernel and in {}", toolkit.folders.front().string());
}

// A program that NVRTC holds.
class ProgramHandle {
  public:
    ProgramHandle(const Nvrtc& nvrtc, const std::string& text, const IncludedHeaders& headers) : nvrtc_(&nvrtc) {
        std::vector<const char*> names;
        std::vector<const char*> texts;
        for (const auto& [name, contents] : headers.given) names.push_back(name), texts.push_back(contents);
        const std::string name = (headers.key.empty() ? "" : std::string(no_folder)) + "kernel.cu";
        result_ = nvrtc_->create_program(&program_, text.c_str(), name.c_str(), static_cast<int>(headers.given.size()), texts.data(), names.data());
    }
    ~ProgramHandle() {
        if (program_ != nullptr) nvrtc_->destroy_program(&program_);
    }
    ProgramHandle(const ProgramHandle&) = delete;
    ProgramHandle& operator=(const ProgramHandle&) = delete;

    int compile(const std::vector<std::string>& options) {
        std::vector<const char*> pointers;
        pointers.reserve(options.size());
        for (const auto& option : options) pointers.push_back(option.c_str());
        if (result_ == nvrtc_success) result_ = nvrtc_->compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
        return result_;
    }
    std::string log() const {
        std::string log = bytes_of(nvrtc_->log_size, nvrtc_->log);
        std::erase(log, '\0');  // at its end, and in NVRTC 13 between the messages of its parts
        return log;
    }
    std::string cubin() const { return bytes_of(nvrtc_->cubin_size, nvrtc_->cubin); }

  private:
    std::string bytes_of(int (*size)(Program*, std::size_t*), int (*get)(Program*, char*)) const {
        std::size_t count = 0;
        if (program_ == nullptr || size(program_, &count) != nvrtc_success || count == 0) return {};
        std::string bytes(count, '\0');
        if (get(program_, bytes.data()) != nvrtc_success) return {};
        return bytes;
    }

    const Nvrtc* nvrtc_;
    Program* program_ = nullptr;
    int result_ = nvrtc_success;
};

// 90 for "sm_90" and "sm_90a"; 0 for anything else.
int architecture_number(std::string_view architecture) {
    if (!architecture.starts_with("sm_")) return 0;
    architecture.remove_prefix(3);
    if (architecture.ends_with('a') || architecture.ends_with('f')) architecture.remove_suffix(1);
    int number = 0;
    const auto [end, error] = std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
    return error == std::errc() && end == architecture.data() + architecture.size() ? number : 0;
}

void check_architecture(const Nvrtc& nvrtc, const std::string& architecture) {
    const int number = architecture_number(architecture);
    if (number <= 0) throw Error("architecture \"" + architecture + "\"", "it is not of the form sm_90", "write sm_ and the compute capability");
    if (std::binary_search(nvrtc.architectures_of.begin(), nvrtc.architectures_of.end(), number)) return;
    std::string known;
    for (const int each : nvrtc.architectures_of) known += fmt::format("{}sm_{}", known.empty() ? "" : ", ", each);
    throw Error("architecture \"" + architecture + "\"", fmt::format("{} ({}) makes code for {} only", nvrtc.name, nvrtc.library.path(), known),
                "choose one of these, or install the CUDA toolkit that knows it");
}

class NvrtcCompiler : public Compiler {
  public:
    NvrtcCompiler(const std::string& architecture, DiskCache& cache, const LibraryCandidates& candidates)
        : cache_(&cache), nvrtc_(load_nvrtc(candidates)), options_(nvrtc_options(architecture)) {
        if (!nvrtc_.missing.empty()) throw Error("CUDA compiler", nvrtc_.missing, nvrtc_.remedy);
        toolkit_ = find_toolkit_headers(nvrtc_.library.path());
        check_architecture(nvrtc_, architecture);
    }

    std::string version() const override { return nvrtc_.name; }

    CompileOutcome compile(const KernelSource& source) const override {
        CompileOutcome outcome;
        if (source.target != Target::cuda) {
            outcome.failure = "the source is for " + to_string(source.target) + ", this compiler is for cuda";
            return outcome;
        }
        std::string key = fmt::format("{}\n{}\n", cache_form, nvrtc_.name);
        for (const auto& option : options_) key += option + "\n";
        key += source.text;
        const IncludedHeaders headers = included_headers(source.text, toolkit_);
        if (!headers.key.empty()) key += "\nheaders " + headers.key;
        if (const auto kept = cache_->read(key))
            if (auto code = unpacked(*kept)) {
                outcome.ok = true;
                outcome.code = std::move(*code);
                return judged(std::move(outcome), source);
            }
        outcome = run(source.text, headers);
        // A full disk costs time, not the answer.
        if (outcome.ok) cache_->write(key, packed(outcome.code));
        return judged(std::move(outcome), source);
    }

  private:
    // Code that lacks a kernel which the plan launches is none, whatever NVRTC says.
    static CompileOutcome judged(CompileOutcome outcome, const KernelSource& source) {
        if (!outcome.ok) return outcome;
        outcome.failure = missing_entries(source, outcome.code.binary);
        outcome.ok = outcome.failure.empty();
        return outcome;
    }

    std::vector<std::string> options_with(const IncludedHeaders& headers) const {
        std::vector<std::string> options = options_;
        options.insert(options.end(), headers.options.begin(), headers.options.end());
        return options;
    }

    CompileOutcome run(const std::string& text, const IncludedHeaders& headers) const {
        CompileOutcome outcome;
        outcome.code.target = Target::cuda;
        const auto begin = std::chrono::steady_clock::now();
        ProgramHandle program(nvrtc_, text, headers);
        const int result = program.compile(options_with(headers));
        outcome.code.log = without(program.log(), no_folder);
        if (result == nvrtc_out_of_memory || result == nvrtc_builtins_failure)
            throw MachineError(fmt::format("CUDA compiler {} ({})", nvrtc_.name, nvrtc_.library.path()),
                               reason(outcome.code.log, nvrtc_.error_string(result)),
                               result == nvrtc_out_of_memory ? "free memory" : "install libnvrtc-builtins.so of the same version beside it");
        if (result == nvrtc_success) outcome.code.binary = program.cubin();
        outcome.code.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        outcome.ok = !outcome.code.binary.empty();
        if (outcome.ok)
            outcome.code.resources = parse_resources(outcome.code.log);
        else
            outcome.failure = reason(outcome.code.log, nvrtc_.error_string(result)) + absent_header(outcome.code.log, toolkit_);
        return outcome;
    }

    DiskCache* cache_;
    Nvrtc nvrtc_;
    std::vector<std::string> options_;
    ToolkitHeaders toolkit_;
};

}  // namespace

std::vector<std::string> nvrtc_options(const std::string& architecture) {
    return {
        "--gpu-architecture=" + architecture,  // sm_, not compute_: a cubin, which the driver loads without compiling again
        "-std=c++17",                          // the newest that NVRTC 11 knows
        "-default-device",                     // see the header
        "-lineinfo",                           // compute-sanitizer and the profilers name the emitted line; the code is the same
        "--ptxas-options=-v",                  // registers, shared memory and spills, in the log
    };
}

std::unique_ptr<Compiler> make_nvrtc_compiler(const std::string& architecture, DiskCache& cache, const LibraryCandidates& candidates) {
    return std::make_unique<NvrtcCompiler>(architecture, cache, candidates);
}

}  // namespace hone::inline v0_1::cuda

namespace hone::inline v0_1 {

std::unique_ptr<Compiler> make_nvrtc_compiler(const std::string& architecture, DiskCache& cache) {
    return cuda::make_nvrtc_compiler(architecture, cache, cuda::library_candidates());
}

}  // namespace hone::inline v0_1
