#include "tuner/worker/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include "foundation/error.hpp"
#include "foundation/host_memory.hpp"
#include "foundation/json.hpp"
#include "foundation/process.hpp"
#include "foundation/processors.hpp"
#include "foundation/sha256.hpp"
#include "runtime/backend.hpp"
#include "runtime/ceilings.hpp"
#include "runtime/cuda/nvml.hpp"
#include "runtime/cuda/nvrtc.hpp"
#include "runtime/power.hpp"
#include "tuner/messages.hpp"
#include "tuner/vetting_problem.hpp"
#include "tuner/worker/candidate_bench.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1 {
namespace {

/// What a worker has open.
class Session {
  public:
    explicit Session(const Families& families) : families_(families) {}

    std::string answer(const JsonPlace& request) {
        const std::string what = request["do"].string(32);
        if (what == "open") return open(request);
        if (what == "load_compiler") return load_compiler();
        if (what == "open_compiler") return open_compiler(request);
        if (what == "problem") return set_problem(request);
        if (what == "place") return place();
        if (what == "compile") return compile(request);
        if (what == "evaluate") return evaluate(request);
        if (what == "ceilings") return ceilings();
        request["do"].fail("is \"" + what + "\"", "see tuner/worker/worker.hpp for the requests");
    }

  private:
    std::string open(const JsonPlace& request) {
        take_team(request);
        cache_.emplace(request["cache"].string(longest_message_text));
        backend_ = make_backend(request["device"].string(64), *cache_);
        limits_ = backend_->device().limits;
        if (!traits_of(limits_.target).host_memory) compile_comparison();
        return "{}";
    }

    /// The kernel that compares arrays, which else the first candidate would wait for.
    void compile_comparison() {
        const std::int64_t bytes = bytes_per_word(Precision::f64);
        const DeviceArray word(*backend_, bytes);
        backend_->fill(word.data(), 0, bytes);
        backend_->largest_difference(word.data(), word.data(), 1, Precision::f64);
    }

    /// Uses the processors and as many threads as it was told: both agree with who told it on the
    /// search space, and on what is measured.
    static void take_team(const JsonPlace& request) {
        const std::string own = processor_list(processors().numbers);
        if (const auto told = request.find("processors"); told && told->string(longest_message_text) != own)
            throw Error("worker", fmt::format("it may use processors {}, and is to measure on {}", own, told->string(longest_message_text)),
                        "let nothing that starts it bind it to others: see HONE_WORKER");
        if (const auto threads = request.find("threads")) omp_set_num_threads(static_cast<int>(threads->integer(1, std::numeric_limits<int>::max())));
    }

    /// For what device it is to compile comes later. Where there is none to load, that says so.
    static std::string load_compiler() {
        cuda::load_nvrtc(cuda::library_candidates());  // stays loaded
        return "{}";
    }

    std::string open_compiler(const JsonPlace& request) {
        cache_.emplace(request["cache"].string(longest_message_text));
        limits_ = read_limits(request["limits"]);
        const double timeout = request["timeout"].number(0, most_message_seconds);
        const auto headers = request.find("headers");
        const bool makes = headers && headers->string(32) == "makes";
        compiler_ = limits_.target == Target::cuda
                        ? make_nvrtc_compiler(request["architecture"].string(64), *cache_)
                        : make_host_compiler(*cache_, timeout, makes ? HeaderUse::makes_compiled : HeaderUse::uses_compiled);
        return "{}";
    }

    std::string set_problem(const JsonPlace& request) {
        const auto begin = std::chrono::steady_clock::now();
        bench_.reset();  // its memory is needed
        problem_ = families_.parse_problem(request["problem"].string(longest_message_text));
        family_ = &families_.of(problem_);
        space_ = family_->space(problem_, limits_);
        if (backend_) {
            if (traits_of(limits_.target).host_memory) limit_memory();
            const std::string seed = request["seed"].string(32);
            const auto energy = request.find("energy_seconds");
            const std::uint64_t number = std::strtoull(seed.c_str(), nullptr, 10);
            bench_ = std::make_unique<CandidateBench>(*backend_, *family_, problem_, number,
                                                      instruments(energy ? energy->number(0, most_message_seconds) : 0));
            verify_first_on_small(number);
            verify_finalists_nearby();
        }
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        return fmt::format(R"({{"seconds": {}, "reference_seconds": {}}})", json_number(seconds.count()),
                           json_number(bench_ ? bench_->reference_seconds() : 0));
    }

    /// On processors restoring and comparing large arrays takes as long as many steps. A problem
    /// that cannot be made smaller is verified as it is.
    void verify_first_on_small(std::uint64_t seed) try {
        if (!traits_of(limits_.target).shares_processors) return;
        constexpr std::int64_t most_words = std::int64_t{1} << 21;  // 8 or 16 MiB: caches of sixteen processors hold them
        const Problem small = vetting_problem(families_, problem_, limits_, most_words);
        if (small != problem_) bench_->verify_first_on(std::make_unique<Verifier>(*backend_, *family_, small, seed));
    } catch (const Error&) {
    }

    void verify_finalists_nearby() try { bench_->verify_finalists_on(nearby_problems(families_, problem_, nearby_words)); } catch (const Error&) {
    }

    std::string place() {
        if (!bench_) throw Error("worker", "it has no problem on a device", "send \"open\" and \"problem\" first");
        bench_->place();
        return "{}";
    }

    /// A candidate that allocates without end is told that there is no more, rather than that the
    /// system ends whatever it likes. Stacks are laid claim to as a whole and hardly used.
    static void limit_memory() {
        constexpr std::int64_t bytes_per_stack = std::int64_t{16} << 20;
        limit_further_memory(free_memory() + omp_get_max_threads() * bytes_per_stack);
    }

    Instruments instruments(double energy_seconds) {
        Instruments instruments;
        // Made when it is first read: the candidates of online tuning are not kept waiting for it.
        if (traits_of(limits_.target).has_monitor)
            instruments.state = [this] {
                if (!monitor_) monitor_.emplace(backend_->device().index);
                return monitor_->missing().empty() ? std::optional(monitor_->read()) : std::nullopt;
            };
        if (energy_seconds == 0) return instruments;
        std::string missing;
        instruments.power = find_power_source(backend_->device(), missing);
        if (!instruments.power)
            throw Error("energy of " + backend_->device().fingerprint.name, "it cannot be measured: " + missing, "choose another objective");
        instruments.idle_watts = idle_watts(*instruments.power, energy_seconds);
        return instruments;
    }

    /// Of the device that this process has open and that does nothing; 0 when its meter does not
    /// tell.
    static double idle_watts(const PowerSource& source, double seconds) {
        PowerMeter meter(source);
        std::this_thread::sleep_for(std::chrono::duration<double>(source.lag + 2 * seconds));
        const auto power = meter.stop();
        return power ? power->watts : 0;
    }

    /// The configuration asked for: a member of the space.
    Config config_of(const JsonPlace& request) const {
        if (family_ == nullptr) throw Error("worker", "it has no problem", "send \"problem\" first");
        Config config = space_.parse(request["config"].string(longest_message_text));
        if (const auto rejection = space_.check(config)) throw Error("configuration " + config.key(), rejection->reason, "use a member of the space");
        return config;
    }

    std::string compile(const JsonPlace& request) const {
        if (!compiler_) throw Error("worker", "it has no compiler", "send \"open_compiler\" first");
        const CompileOutcome outcome = compiler_->compile(family_->kernel(problem_, config_of(request), limits_));
        return fmt::format("{{\"ok\": {}, \"failure\": {}, \"seconds\": {}}}", outcome.ok ? 1 : 0, json_string(outcome.failure),
                           json_number(outcome.code.from_cache ? 0 : outcome.code.seconds));
    }

    /// What is evaluated here is what the caller will run.
    void check_source(const JsonPlace& request, const Config& config) const {
        const auto source = request.find("source");
        if (source && source->string(64) != sha256(family_->kernel(problem_, config, limits_).text))
            throw Error("worker", "it makes another source of " + config.key(), "use the hone program of the same version as the application's hone");
    }

    std::string evaluate(const JsonPlace& request) {
        if (!bench_) throw Error("worker", "it has no problem on a device", "send \"open\" and \"problem\" first");
        const Config config = config_of(request);
        check_source(request, config);
        const auto finalist = request.find("finalist");
        const Outcome outcome = bench_->evaluate(config, request["incumbent"].number(0, most_message_seconds),
                                                 read_sampling_rule(request["sampling"]), finalist && finalist->integer(0, 1) == 1);
        return fmt::format("{{\"outcome\": {}, \"broken\": {}}}", to_json(outcome), usable_after(outcome) ? 0 : 1);
    }

    /// What computed something wrong may have written anywhere in this process.
    bool usable_after(const Outcome& outcome) {
        if (outcome.measured() || outcome.status == Status::compile_failed) return true;
        return outcome.status != Status::wrong && device_answers();
    }

    /// Whether the device still works after a candidate's failure, and has the data as they were: a
    /// fault in a kernel leaves a CUDA context useless.
    bool device_answers() {
        constexpr std::int64_t bytes = 256;
        try {
            const DeviceArray array(*backend_, bytes);
            backend_->fill(array.data(), 0, bytes);
            backend_->synchronise();
            return bench_->intact();
        } catch (const Error&) {
            return false;
        }
    }

    std::string ceilings() {
        if (!backend_) throw Error("worker", "it has no device", "send \"open\" first");
        const Ceilings found = measure_ceilings(*backend_);
        return fmt::format(R"({{"copy_bytes_per_second": {}, "fma_f32": {}, "fma_f64": {}, "how": {}}})", json_number(found.copy_bytes_per_second),
                           json_number(found.fma_f32), json_number(found.fma_f64), json_string(found.how));
    }

    const Families& families_;
    std::optional<DiskCache> cache_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<Compiler> compiler_;
    std::optional<DeviceMonitor> monitor_;
    Limits limits_;
    Problem problem_;
    const Family* family_ = nullptr;
    SearchSpace space_;
    std::unique_ptr<CandidateBench> bench_;
};

std::string answer_or_error(Session& session, const std::string& line) {
    try {
        const JsonNode request = parse_json(line, "request");
        return session.answer(JsonPlace(request, "request"));
    } catch (const MachineError& error) {
        return fmt::format(R"({{"error": {}, "machine_at_fault": 1}})", json_string(error.what()));
    } catch (const std::exception& error) {
        return fmt::format("{{\"error\": {}}}", json_string(error.what()));
    }
}

/// A copy of standard output for the answers alone; whatever else is printed goes to standard
/// error.
std::FILE* claim_output() {
    const int answers =
        fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);  // a compiler that had it would keep it open when the worker is gone
    dup2(STDERR_FILENO, STDOUT_FILENO);
    return answers < 0 ? nullptr : fdopen(answers, "w");
}

/// The next line without its end; nothing at the end of the input.
std::optional<std::string> read_line() {
    std::string line;
    for (int c = std::getchar(); c != EOF; c = std::getchar()) {
        if (c == '\n') return line;
        line += static_cast<char>(c);
    }
    return std::nullopt;
}

}  // namespace

int worker_main(const Families& families) {
    std::signal(SIGINT, SIG_IGN);
    live_and_die_as_a_group();
    std::FILE* answers = claim_output();
    if (answers == nullptr) return EXIT_FAILURE;
    Session session(families);
    // A parent that died before the call above has closed our input.
    while (const auto line = read_line()) {
        const std::string answer = answer_or_error(session, *line);
        std::fputs((answer + "\n").c_str(), answers);
        std::fflush(answers);
    }
    return EXIT_SUCCESS;
}

}  // namespace hone::inline v0_1
