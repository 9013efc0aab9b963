#include "runtime/cpu/host_compiler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "foundation/run_folder.hpp"
#include "foundation/sha256.hpp"
#include "runtime/compiled_entries.hpp"
#include "runtime/cpu/compiled_headers.hpp"
#include "runtime/cpu/cpu_device.hpp"
#include "runtime/cpu/host_object.hpp"
#include "runtime/cpu/memory_file.hpp"
#include "runtime/directives.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return std::move(bytes).str();
}

std::string without(std::string text, const std::string& part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
    return text;
}

std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

// The line that names the error, or how the compiler ended.
std::string reason(const ProcessResult& result, const std::string& log) {
    if (!result.started || result.timed_out || result.signal != 0) return "the compiler was " + result.failure();
    const std::size_t error = log.find("error");
    if (error == std::string::npos) return fmt::format("the compiler {}: {}", result.failure(), first_line(log));
    const std::size_t begin = log.rfind('\n', error);
    return first_line(std::string_view(log).substr(begin == std::string::npos ? 0 : begin + 1));
}

constexpr const char* source_name = "kernel.cpp";

// Whether a compiler's log finds fault with a line: "kernel.cpp:3:7: error: ", "mine.h:2: fatal
// error: ".
bool names_a_line(std::string_view log) {
    for (std::size_t at = log.find("error: "); at != std::string_view::npos; at = log.find("error: ", at + 1)) {
        const std::string_view before = log.substr(0, at);
        const std::size_t colon = before.find_last_of(":\n");
        if (colon != std::string_view::npos && colon > 0 && before[colon] == ':' && before[colon - 1] >= '0' && before[colon - 1] <= '9') return true;
    }
    return false;
}

// One run of a compiler.
struct Attempt {
    CompileOutcome outcome;
    bool timed_out = false;
    bool has_room = true;  // for temporary files and a process; else neither the compiler nor the source is to blame
};

Attempt without_room(const std::string& reason) {
    Attempt attempt;
    attempt.outcome.failure = reason;
    attempt.has_room = false;
    return attempt;
}

// What compilers, assemblers and linkers end with where the disk or the user's part of it is full,
// or an empty text.
std::string full_disk(std::string_view log) {
    for (const int error : {ENOSPC, EDQUOT})
        if (const char* const words = std::strerror(error); log.find(words) != std::string_view::npos) return words;
    return "";
}

// Runs the compiler at `path` on the text, once. The outcome's code lies in memory only.
Attempt compile_in(const fs::path& folder, const std::string& path, const std::vector<std::string>& options, const std::string& text,
                   double timeout_seconds, bool by_its_work) {
    const fs::path input = folder / source_name;
    const fs::path output = folder / "kernel.so";
    const auto full = [&](const std::string& reason) {
        return without_room(fmt::format("temporary folder {}: {}; make room there, or set TMPDIR to another folder", folder.string(), reason));
    };
    {
        const Descriptor file(open(input.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
        if (!file.valid() || !write_all(file.get(), text)) return full(system_message(errno));
    }
    Attempt attempt;
    CompileOutcome& outcome = attempt.outcome;
    std::vector<std::string> arguments{path};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {input.string(), "-o", output.string()});
    // TMPDIR: what a killed compiler leaves behind goes with the folder. LC_ALL: its messages are
    // part of records, so in one language.
    const auto run = by_its_work ? run_process_by_its_work : run_process;
    const ProcessResult result = run(arguments, timeout_seconds, {{"LC_ALL", "C"}, {"TMPDIR", folder.string()}});
    if (!result.started && result.error != ENOENT && result.error != EACCES && result.error != ENOEXEC) return without_room(result.output);
    outcome.code.seconds = result.seconds;
    outcome.code.log = without(result.output, folder.string() + "/");
    std::optional<std::string> binary = result.ok() ? read_file(output) : std::nullopt;
    attempt.timed_out = result.timed_out;
    outcome.ok = binary && !binary->empty();
    if (outcome.ok)
        outcome.code.binary = std::move(*binary);
    else if (const std::string words = full_disk(result.output); !words.empty())
        return full(words);
    else
        outcome.failure = reason(result, outcome.code.log);
    return attempt;
}

Attempt compile_once(const std::string& path, const std::vector<std::string>& options, const std::string& text, double timeout_seconds,
                     bool by_its_work = false) {
    std::optional<RunFolder> folder;
    try {
        folder.emplace();
    } catch (const Error& error) {
        return without_room(error.what());
    }
    return compile_in(folder->path(), path, options, text, timeout_seconds, by_its_work);
}

// What -march=native means here.
std::string machine_text() {
    const CpuInfo cpu = read_cpuinfo();
    return cpu.name + "\n" + cpu.flags;
}

// y = 2 x + 1 with what kernels use: C++20, the standard library's headers, OpenMP's threads and
// vectors.
constexpr std::string_view probe_text = R"(
#include <type_traits>
#include <vector>
template <typename real>
concept word = std::is_floating_point_v<real>;
extern "C" void hone_probe(const double* x, double* y, int first, int last) {
    const auto step = []<word real>(real value) { return 2 * value + 1; };
    const std::vector<double> values(x + first, x + last);
#pragma omp parallel for simd
    for (int i = first; i < last; ++i) y[i] = step(values[i - first]);
}
)";

KernelSource probe() {
    KernelSource source;
    source.text = probe_text;
    source.precision = Precision::f64;
    source.entries = {"hone_probe"};
    source.arrays = {{"x", Access::in, 0, "", ""}, {"y", Access::out, 0, "", ""}};
    source.step.resize(1);
    source.step[0].entry = source.entries[0];
    return source;
}

// What is known of a compiler after it was tried.
struct Trial {
    std::string version;   // when it serves
    std::string failure;   // else: why it cannot make kernels, in one line
    bool has_room = true;  // else nothing is known of it
};

// Of processor time: half a second is usual. How busy the machine is must not decide which compiler
// is taken, as a search goes on with the compiler that it began with.
constexpr double probe_seconds = 20;

// Whether the compiler at `path` makes kernels.
Trial probed(const std::string& path, const std::string& version) {
    const auto fails = [&](const std::string& why) { return Trial{version, fmt::format("{}: {}", version, why)}; };
    const auto [outcome, timed_out, has_room] = compile_once(path, host_compiler_options(), with_entry_table(probe()), probe_seconds, true);
    if (!has_room) return {version, outcome.failure, false};
    if (!outcome.ok) return fails(outcome.failure);
    const MemoryFile file(outcome.code.binary);
    std::string reason;
    const HostObject object(file.path(), reason);
    if (!object) return fails("what it compiles cannot be loaded: " + reason);
    constexpr int count = 1000;  // more than any number of lanes; all threads have some
    std::vector<double> x(count);
    std::vector<double> y(count);
    for (int i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = i;
    const double* x_pointer = x.data();
    double* y_pointer = y.data();
    int first = 0;
    int last = count;
    std::array<void*, 4> arguments{&x_pointer, &y_pointer, &first, &last};
    object.launch(0, arguments.data());
    for (std::size_t i = 0; i < x.size(); ++i)
        if (y[i] != 2 * x[i] + 1) return fails(fmt::format("what it compiles computes wrong values: {} in place of {}", y[i], 2 * x[i] + 1));
    return {version, ""};
}

// What this process tried, by what a compiler is: one that hangs is waited for once, however many
// backends it makes.
class TriedCompilers {
  public:
    std::optional<Trial> find(const std::string& compiler) {
        const std::lock_guard lock(mutex_);
        const auto trial = trials_.find(compiler);
        return trial == trials_.end() ? std::nullopt : std::optional(trial->second);
    }
    void add(const std::string& compiler, const Trial& trial) {
        const std::lock_guard lock(mutex_);
        trials_.emplace(compiler, trial);
    }

  private:
    std::mutex mutex_;
    std::map<std::string, Trial> trials_;
};

Trial try_compiler(const std::string& path, const DiskCache* cache) {
    std::error_code error;
    const fs::path program = fs::canonical(path, error);
    const auto size = fs::file_size(program, error);
    const auto changed = fs::last_write_time(program, error).time_since_epoch().count();
    const std::string key = fmt::format("host compiler that serves\n{} {} {} {}\n{}\n{}\n{}", path, program.string(), size, changed, machine_text(),
                                        fmt::join(host_compiler_options(), " "), probe_text);
    if (auto kept = cache != nullptr ? cache->read(key) : std::nullopt) return {std::move(*kept), ""};
    static TriedCompilers tried;
    // Who brings no cache wants to know how it is now; but one that failed would be waited for
    // again.
    if (auto known = tried.find(key); known && (cache != nullptr || !known->failure.empty())) {
        if (known->failure.empty()) cache->write(key, known->version);
        return std::move(*known);
    }
    const ProcessResult result = run_process_by_its_work({path, "--version"}, probe_seconds, {{"LC_ALL", "C"}});
    Trial trial{first_line(result.output), ""};
    if (!result.ok() || trial.version.empty())
        trial.failure = "it does not tell its version: " + (result.ok() ? "it says nothing" : result.failure());
    else
        trial = probed(path, trial.version);
    if (!trial.has_room) return trial;
    tried.add(key, trial);
    if (trial.failure.empty() && cache != nullptr) cache->write(key, trial.version);
    return trial;
}

constexpr const char* oldest = "GCC 12, clang 14 or newer";

// Cached contents: the shared object (so that the entry's file can be loaded), the log, and a tail
// with the log's length and the microseconds.
constexpr std::size_t tail_bytes = 32;

std::string packed(const CompiledCode& code) {
    return code.binary + code.log + fmt::format("{:016x}{:016x}", code.log.size(), static_cast<std::uint64_t>(code.seconds * 1e6));
}

CompiledCode unpacked(const std::string& contents) {
    const std::string_view tail = std::string_view(contents).substr(contents.size() - tail_bytes);
    const auto log_bytes = static_cast<std::size_t>(std::stoull(std::string(tail.substr(0, 16)), nullptr, 16));
    CompiledCode code;
    code.binary = contents.substr(0, contents.size() - tail_bytes - log_bytes);
    code.log = contents.substr(code.binary.size(), log_bytes);
    code.seconds = static_cast<double>(std::stoull(std::string(tail.substr(16)), nullptr, 16)) * 1e-6;
    return code;
}

// Functions that are nowhere are found by the linker, and not only when the object is loaded.
constexpr const char* all_functions = "-Wl,-z,defs";

bool lacks_functions(std::string_view log) {
    return log.find("undefined reference") != std::string_view::npos || log.find("undefined symbol") != std::string_view::npos;
}

// Without the comment at its head, which names sizes and a configuration: what differs in nothing
// else is one program.
std::string_view without_head(std::string_view text) {
    while (text.starts_with("//")) {
        const std::size_t end = text.find('\n');
        if (text.substr(0, end).find('\\') != std::string_view::npos || end == std::string_view::npos) break;  // may go on in the next line
        text.remove_prefix(end + 1);
    }
    return text;
}

// Folders that the environment has the compiler look for headers in.
std::vector<fs::path> environments_folders() {
    std::vector<fs::path> folders;
    for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
        const std::string list = environment_variable(variable);
        std::string_view left = list;
        while (!left.empty()) {
            folders.emplace_back(left.substr(0, left.find(':')));
            left.remove_prefix(std::min(left.size(), folders.back().native().size() + 1));
        }
    }
    return folders;
}

// Whether a text includes anything that may change while the compiler's version does not.
bool reads_further_headers(std::string_view text) {
    const std::vector<fs::path> folders = environments_folders();
    const auto in_folder = [](const std::string& name) {
        return [&name](const fs::path& folder) {
            std::error_code error;
            return fs::exists(folder / name, error);
        };
    };
    for (const Directive& line : directives(text)) {
        if (!line.includes()) continue;
        const std::string name = line.file();
        if (line.keyword != "include" || line.names() == Directive::Names::computed || !is_standard_header(name)) return true;
        if (std::any_of(folders.begin(), folders.end(), in_folder(name))) return true;
    }
    return false;
}

class HostCompilerRunner : public Compiler {
  public:
    HostCompilerRunner(DiskCache& cache, double timeout_seconds, HeaderUse headers)
        : cache_(&cache),
          timeout_seconds_(timeout_seconds),
          host_(find_host_compiler(&cache)),
          options_(host_compiler_options()),
          machine_(machine_text()),
          headers_(headers, cache, host_.path, options_, host_.version + "\n" + machine_) {}

    std::string version() const override { return host_.path.empty() ? "none" : host_.version; }
    std::string missing() const override { return host_.missing; }

    CompileOutcome compile(const KernelSource& source) const override {
        CompileOutcome outcome;
        if (!host_.has_room) throw MachineError(host_.missing);
        if (!host_.path.empty() && source.target == Target::cpu) {
            outcome = compile_text(with_entry_table(source));
            if (!outcome.ok) return outcome;
            outcome.failure = missing_entries(source, outcome.code.binary);
            outcome.ok = outcome.failure.empty();
            return outcome;
        }
        outcome.failure = host_.path.empty() ? host_.missing : "the source is for " + to_string(source.target) + ", this compiler is for cpu";
        return outcome;
    }

  private:
    CompileOutcome compile_text(const std::string& text) const {
        std::string key = fmt::format("shared object\n{}\n{}\n", host_.version, machine_);
        for (const auto& option : options_) key += option + "\n";
        key += without_head(text);
        const bool reads = reads_further_headers(text);
        CompileOutcome outcome;
        if (reads) {
            const CompileOutcome read = compiled_once(preprocessing_options(), text);
            if (!read.ok) return compile_anew(text, false);  // which tells why
            key += "\nwith its headers " + sha256(read.code.binary);
        }
        if (auto kept = cache_->read(key); kept && kept->size() >= tail_bytes) {
            outcome.ok = true;
            outcome.code = unpacked(*kept);
            outcome.code.from_cache = true;
        } else {
            outcome = compile_anew(text, !reads);
            if (!outcome.ok || !cache_->write(key, packed(outcome.code))) return outcome;
        }
        outcome.code.file = cache_->path(key);
        return outcome;
    }

    // The text with all that it includes, in place of code. Where lines came from is left out.
    std::vector<std::string> preprocessing_options() const {
        std::vector<std::string> options = options_;
        options.insert(options.end(), {"-E", "-P"});
        return options;
    }

    CompileOutcome compile_anew(const std::string& text, bool compiled_headers) const {
        std::vector<std::string> with_headers = options_;
        if (compiled_headers) {
            const std::lock_guard lock(headers_mutex_);
            const std::vector<std::string> headers = headers_.options_for(text, timeout_seconds_);
            with_headers.insert(with_headers.end(), headers.begin(), headers.end());
        }
        CompileOutcome outcome = compiled_once(with_headers, text);
        if (!outcome.ok && with_headers.size() > options_.size()) outcome = compiled_once(options_, text);
        if (!outcome.ok && lacks_functions(outcome.code.log)) {
            // Linked all the same, it shows their names and those that are there.
            std::vector<std::string> lenient = options_;
            std::erase(lenient, all_functions);
            const CompileOutcome incomplete = compiled_once(lenient, text);
            if (const std::string missing = missing_functions(incomplete.code.binary, outcome.code.log); !missing.empty()) outcome.failure = missing;
        }
        return outcome;
    }

    CompileOutcome compiled_once(const std::vector<std::string>& options, const std::string& text) const {
        Attempt attempt = compile_once(host_.path, options, text, timeout_seconds_);
        if (!attempt.has_room) throw MachineError(attempt.outcome.failure);
        if (!attempt.outcome.ok && !attempt.timed_out && !names_a_line(attempt.outcome.code.log)) require_compiler();
        return std::move(attempt.outcome);
    }

    // A compiler that ended without a word about the source may be gone, or a part of it: then it
    // does not compile what it compiled before either.
    void require_compiler() const {
        const Trial trial = probed(host_.path, host_.version);
        if (!trial.failure.empty() || !trial.has_room)
            throw MachineError("C++ compiler " + host_.path, "it compiled kernels before, and does so no more: " + trial.failure,
                               "see 'hone doctor', and install it again");
    }

    DiskCache* cache_;
    double timeout_seconds_;
    HostCompiler host_;
    std::vector<std::string> options_;
    std::string machine_;
    mutable std::mutex headers_mutex_;
    mutable CompiledHeaders headers_;
};

// Calls an entry with its own parameter types, whatever they are, and checks their number.
constexpr std::string_view entry_table_head = R"(
// What calls the entry points: each takes an array of pointers to its arguments' values.
namespace hone_launch {
template <int... i>
struct Indices {};
template <int n, int... i>
struct Count : Count<n - 1, n - 1, i...> {};
template <int... i>
struct Count<0, i...> {
    using type = Indices<i...>;
};
template <typename... Parameters, int... i>
void spread(void (*entry)(Parameters...), void** arguments, Indices<i...>) {
    entry(*static_cast<Parameters*>(arguments[i])...);
}
template <int count, typename... Parameters>
void call(void (*entry)(Parameters...), void** arguments) {
    static_assert(sizeof...(Parameters) == count, "the entry point has another number of parameters than its source declares");
    spread(entry, arguments, typename Count<count>::type{});
}
struct Entry {
    const char* name;
    void (*launch)(void**);
};
}  // namespace hone_launch
extern "C" {
extern const hone_launch::Entry hone_entries[];
const hone_launch::Entry hone_entries[] = {
)";

}  // namespace

std::string building_compiler() {
    return HONE_BUILDING_COMPILER;
}

HostCompiler find_host_compiler(const DiskCache* cache, const std::string& builder) {
    HostCompiler compiler;
    const auto serves = [&](const std::string& name, std::string& failure) {
        const std::string path = find_program(name);
        Trial trial;
        if (path.empty())
            trial.failure = "there is no such program";
        else
            trial = try_compiler(path, cache);
        failure = std::move(trial.failure);
        compiler.has_room = trial.has_room;
        if (!failure.empty()) return false;
        compiler.path = path;
        compiler.version = std::move(trial.version);
        return true;
    };
    std::string failure;
    if (const std::string chosen = environment_variable("HONE_CXX"); !chosen.empty()) {
        if (!serves(chosen, failure))
            compiler.missing = !compiler.has_room
                                   ? failure
                                   : fmt::format("HONE_CXX is \"{}\", which compiles no kernels: {}; set it to a C++ compiler ({}), or unset it",
                                                 chosen, failure, oldest);
        return compiler;
    }
    const std::string preferred = environment_variable("CXX");
    std::vector<std::string> tried;
    for (const std::string& name : {preferred, builder, std::string("c++"), std::string("g++"), std::string("clang++")}) {
        const std::string path = find_program(name);
        // One that nobody asked for may be absent.
        if (path.empty() && (name.empty() || name != preferred)) continue;
        if (std::find(tried.begin(), tried.end(), path) != tried.end()) continue;
        tried.push_back(path);
        if (serves(name, failure)) return compiler;
        if (!compiler.has_room) {
            compiler.missing = failure;
            return compiler;
        }
        compiler.passed_over.push_back(fmt::format("{}{}: {}", name == preferred ? "CXX=" : "", path.empty() ? name : path, failure));
    }
    compiler.missing = compiler.passed_over.empty()
                           ? "no C++ compiler (c++, g++, clang++) on the PATH"
                           : fmt::format("no C++ compiler that compiles kernels ({})", fmt::join(compiler.passed_over, "; "));
    compiler.missing += fmt::format("; install g++ ({}), or set HONE_CXX", oldest);
    return compiler;
}

std::vector<std::string> host_compiler_options() {
    std::vector<std::string> options{"-std=c++20", "-O3", "-fopenmp", "-fPIC", "-shared"};
#if defined(__aarch64__)
    options.emplace_back("-mcpu=native");
#else
    options.emplace_back("-march=native");
    // Compilers prefer half-width vectors on many processors with AVX-512, for fear of lower clocks
    // that newer ones do not have; a kernel that wants shorter ones says simdlen.
    if (cpu_device("").limits.vector_bytes == 64) options.emplace_back("-mprefer-vector-width=512");
#endif
    // Fused multiply-adds, no errno from sqrt, and branches turned into masks although a compare
    // might trap: none of these changes what NaN does. Not -ffast-math: NaN marks words that must
    // not be read, so they have to come through; and sums keep the order that was written, except
    // where a kernel says `omp simd reduction`.
    options.insert(options.end(), {"-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"});
    // The table's calls reach this object's own functions, never one of the same name elsewhere in
    // the process.
    options.emplace_back("-Wl,-Bsymbolic");
    options.emplace_back(all_functions);
    return options;
}

std::string with_entry_table(const KernelSource& source) {
    std::map<std::string, std::size_t> constants;
    for (const auto* plan : {&source.prepare, &source.step})
        for (const auto& launch : *plan) {
            const auto [found, added] = constants.try_emplace(launch.entry, launch.constants.size());
            if (!added && found->second != launch.constants.size())
                throw Error("kernel source, entry " + launch.entry, "its launches differ in their number of constants",
                            "mend the family's launch plan");
        }
    // The arrays, the tables, the arrays by value, the scalars, and the range.
    const std::size_t common = source.arrays.size() + source.tables.size() + source.by_value.size() + source.scalars.size() + 2;
    std::string text = source.text + std::string(entry_table_head);
    for (const auto& [entry, count] : constants)
        text += fmt::format("    {{\"{0}\", [](void** arguments) {{ hone_launch::call<{1}>({0}, arguments); }}}},\n", entry, common + count);
    return text + "    {nullptr, nullptr}};\n}\n";
}

std::unique_ptr<Compiler> make_host_compiler(DiskCache& cache, double timeout_seconds, HeaderUse headers) {
    return std::make_unique<HostCompilerRunner>(cache, timeout_seconds, headers);
}

}  // namespace hone::inline v0_1
