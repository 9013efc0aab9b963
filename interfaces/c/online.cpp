// Tuning beside an application's steps.
#include <fmt/format.h>

#include "interfaces/c/arrays.hpp"
#include "interfaces/c/open_session.hpp"
#include "interfaces/c/structures.hpp"
#include "tuner/online/tuner.hpp"

struct hone_online : hone::languages::Shell {
    static constexpr std::uint64_t kind = 0x8f1d5b3a9c60e704;
    static constexpr const char* noun = "online tuner";
    static constexpr const char* opener = "hone_online_open";

    hone_online(std::shared_ptr<hone::languages::OpenSession> of, hone::languages::BoundArrays to, std::unique_ptr<hone::OnlineTuner> running)
        : Shell(kind), session(std::move(of)), arrays(std::move(to)), tuner(std::move(running)) {}
    std::shared_ptr<hone::languages::OpenSession> session;  ///< before the tuner, which needs its device to the end
    hone::languages::BoundArrays arrays;
    std::unique_ptr<hone::OnlineTuner> tuner;
    hone::OnlineReport described;  ///< what the latest texts point into
    std::string report;
};

using namespace hone::languages;

namespace {

hone::OnlineSettings settings_of(const char* function, const OpenSession& session, const hone_online_options* options) {
    const auto wanted = hone::languages::read(function, options, "options");
    if (!(wanted.bound >= 0 && wanted.bound < 1))
        throw Refusal(HONE_BAD_ARGUMENT, function, fmt::format("options->bound is {}", wanted.bound), "give a part of the time, below 1");
    if (wanted.evaluations < 0)
        throw Refusal(HONE_BAD_ARGUMENT, function, fmt::format("options->evaluations is {}", wanted.evaluations),
                      "give 1 or more, or 0 for the default");
    hone::OnlineSettings settings;
    if (wanted.bound > 0) settings.rules.bound = wanted.bound;
    if (wanted.evaluations > 0) settings.rules.evaluations = wanted.evaluations;
    settings.enabled = wanted.disabled == 0;
    settings.verify_reduced = wanted.verify_reduced != 0;
    settings.worker = session.worker_command();
    settings.cache = session.settings().cache;
    settings.warn = session.settings().warn;
    return settings;
}

// A tuner whose arrays are there, as far as hone knows.
hone::OnlineTuner& there(const char* function, hone_online* online) {
    hone_online& handle = *open_handle<hone_online>(function, online);
    handle.arrays.require_there(function);
    return *handle.tuner;
}

}  // namespace

hone_status hone_online_open(hone_session* session, const char* problem, const hone_array* arrays, std::int32_t count,
                             const hone_online_options* options, hone_online** online) {
    return guarded(__func__, [&](const char* function) {
        const std::shared_ptr<OpenSession> open = open_handle<hone_session>(function, session)->content;
        given(function, online, "online");
        const hone::Problem parsed = open->families().parse_problem(given(function, problem, "problem"));
        // Which arrays there are is the problem's to say, whatever the configuration; the safe
        // one's source has their alignment.
        const hone::Family& family = open->families().of(parsed);
        const hone::Limits& limits = open->device().limits;
        const hone::KernelSource source = family.kernel(parsed, family.space(parsed, limits).safe(), limits);
        BoundArrays to = checked_arrays(function, *open, parsed, source, arrays, count);
        auto tuner = std::make_unique<hone::OnlineTuner>(open->backend(), open->families(), open->settings().database, parsed, to.addresses(),
                                                         settings_of(function, *open, options));
        *online = new hone_online(open, std::move(to), std::move(tuner));
    });
}

hone_status hone_online_step(hone_online* online, void* stream) {
    return guarded(__func__, [&](const char* function) { there(function, online).step({stream}); });
}

hone_status hone_online_prepare(hone_online* online, void* stream) {
    return guarded(__func__, [&](const char* function) { there(function, online).prepare({stream}); });
}

hone_status hone_online_finish(hone_online* online) {
    return guarded(__func__, [&](const char* function) { open_handle<hone_online>(function, online)->tuner->finish(); });
}

hone_status hone_online_describe(hone_online* online, hone_online_info* info) {
    return guarded(__func__, [&](const char* function) {
        hone_online& handle = *open_handle<hone_online>(function, online);
        known_size(function, info, "info");
        handle.described = handle.tuner->report();
        handle.report = to_string(handle.described);
        hone_online_info own{};
        own.configuration = handle.described.config.c_str();
        own.state = handle.described.state.c_str();
        own.report = handle.report.c_str();
        own.first_seconds = handle.described.progress.first_median;
        own.seconds = handle.described.progress.median;
        own.steps = handle.described.progress.steps;
        own.evaluations = handle.described.progress.evaluations;
        own.adopted = handle.described.progress.adopted;
        own.verified_on = handle.described.verified_on.c_str();
        write(function, own, info, "info");
    });
}

hone_status hone_online_close(hone_online* online) {
    return guarded(__func__, [&](const char* function) {
        if (!open_handle<hone_online>(function, online)->close(hone_online::kind)) return;
        std::unique_ptr<hone_online> shell(online);
        shell->tuner.reset();
        shell->session.reset();
        retire(std::move(shell));
    });
}
