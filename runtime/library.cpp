#include "runtime/library.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/once_map.hpp"
#include "runtime/launch_capture.hpp"

namespace hone::inline v0_1 {

struct KernelLibrary::State {
    Backend* backend;
    Database database;
    const Families* families;
    Warn warn;
    Measure measure;
    std::mutex measuring;  ///< what runs beside a measurement disturbs it
    std::optional<CaptureSettings> captures = capture_settings();
    std::atomic<bool> told_missing{false};
    OnceMap<Problem, Kernel> tuned;
    OnceMap<std::string, Kernel> chosen;  ///< by problem and configuration

    State(Backend& on, Database records, const Families& of, Warn tell, Measure by)
        : backend(&on), database(std::move(records)), families(&of), warn(std::move(tell)), measure(std::move(by)) {}

    const Limits& limits() const { return backend->device().limits; }

    std::shared_ptr<LaunchCapture> capture_of(const Problem& problem) const {
        return captures && captures->matches(problem.key()) ? std::make_shared<LaunchCapture>(*captures, warn) : nullptr;
    }

    std::shared_ptr<const Kernel> compiled(const Problem& problem, const Match& match) const {
        return std::make_shared<const Kernel>(*backend, families->of(problem), problem, match, limits(), capture_of(problem));
    }

    // Where nothing can be compiled; every kernel says so itself, the warning comes once.
    std::shared_ptr<const Kernel> plain_loops(const Problem& problem, const Match& match, const std::string& missing) {
        if (!told_missing.exchange(true)) warn("the built-in reference loops run instead of tuned kernels: " + missing);
        return std::make_shared<const Kernel>(Kernel::reference(*backend, families->of(problem), problem, match, limits(), capture_of(problem)));
    }

    Match safe(const Problem& problem) const {
        Match match;
        match.config = families->of(problem).space(problem, limits()).safe();
        return match;
    }

    std::optional<Match> measure_now(const Problem& problem) {
        if (!measure) return std::nullopt;
        const std::lock_guard lock(measuring);
        try {
            return measure(problem, database);
        } catch (const Error& error) {
            warn(fmt::format("{} is not measured at its first use: {}", problem.key(), error.what()));
            return std::nullopt;
        }
    }

    std::shared_ptr<const Kernel> best(const Problem& problem) {
        families->of(problem).arrays(problem);  // throws where no configuration can help, before any is warned about
        Match match = database.best(problem, backend->device().fingerprint, limits());
        if (const std::string missing = backend->compiler().missing(); !missing.empty() && traits_of(backend->device().limits.target).host_memory)
            return plain_loops(problem, match, missing);
        if (std::optional<Match> measured = match.grade > Grade::measured ? measure_now(problem) : std::nullopt) match = *std::move(measured);
        if (match.grade != Grade::none) {
            try {
                return compiled(problem, match);
            } catch (const Error& error) {
                warn(fmt::format("the safe configuration runs instead of a tuned one: {}", error.what()));
            }
        }
        try {
            return compiled(problem, safe(problem));
        } catch (const Error& error) {
            if (!traits_of(backend->device().limits.target).host_memory) throw;
            return plain_loops(problem, safe(problem), error.what());
        }
    }

    std::shared_ptr<const Kernel> with(const Problem& problem, const Config& config) {
        if (const auto rejection = families->of(problem).space(problem, limits()).check(config))
            throw Error(fmt::format("{} with {}", problem.key(), config.key()), rejection->constraint + ": " + rejection->reason,
                        "choose a member of the problem's space; see 'hone space'");
        Match match;
        match.config = config;
        if (const std::string missing = backend->compiler().missing(); !missing.empty() && traits_of(backend->device().limits.target).host_memory)
            return plain_loops(problem, match, missing);
        return compiled(problem, match);
    }
};

KernelLibrary::KernelLibrary(Backend& backend, Database database, const Families& families, Warn warn, Measure measure)
    : state_(std::make_unique<State>(backend, std::move(database), families, std::move(warn), std::move(measure))) {
    if (!state_->warn) state_->warn = [](const std::string& text) { fmt::print(stderr, "hone: warning: {}\n", text); };
}

KernelLibrary::~KernelLibrary() = default;

const Database& KernelLibrary::database() const {
    return state_->database;
}

std::shared_ptr<const Kernel> KernelLibrary::kernel(const Problem& problem) {
    return state_->tuned.get(problem, [&] { return state_->best(problem); });
}

std::shared_ptr<const Kernel> KernelLibrary::kernel(const Problem& problem, const Config& config) {
    return state_->chosen.get(problem.key() + "\n" + config.key(), [&] { return state_->with(problem, config); });
}

}  // namespace hone::inline v0_1
