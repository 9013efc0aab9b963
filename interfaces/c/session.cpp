// Sessions, their arrays and what they know.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "foundation/environment.hpp"
#include "foundation/json.hpp"
#include "generator/family_json.hpp"
#include "interfaces/c/arrays.hpp"
#include "interfaces/c/open_session.hpp"
#include "interfaces/c/structures.hpp"
#include "runtime/device_list.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1::languages {
namespace {

SessionSettings settings_of(const char* function, const hone_session_options* options) {
    const auto wanted = read(function, options, "options");
    SessionSettings settings;
    if (wanted.database != nullptr) settings.database = wanted.database;
    if (wanted.cache != nullptr) settings.cache = wanted.cache;
    if (wanted.first_use != nullptr) settings.first_use = parse_first_use(wanted.first_use, "options->first_use");
    if (wanted.first_use_seconds != 0) settings.first_use_seconds = wanted.first_use_seconds;
    if (wanted.warn != nullptr) settings.warn = [tell = wanted.warn, data = wanted.data](const std::string& text) { tell(text.c_str(), data); };
    return settings;
}

std::string kernels_of(const char* function, const hone_session_options* options) {
    const auto wanted = read(function, options, "options");
    return wanted.kernels != nullptr ? wanted.kernels : environment_variable("HONE_KERNELS");
}

hone_type checked_type(const char* function, std::int32_t type) {
    if (type == HONE_F32 || type == HONE_F64 || type == HONE_I32) return static_cast<hone_type>(type);
    throw Refusal(HONE_BAD_ARGUMENT, function, "the type is " + std::to_string(type), "give HONE_F32, HONE_F64 or HONE_I32");
}

std::string records_of(const OpenSession& session, const char* problem) {
    const std::string wanted = problem == nullptr ? "" : session.families().parse_problem(problem).class_key();
    std::string text;
    for (const Record& record : session.database().records())
        if (problem == nullptr || record.problem.class_key() == wanted) text += (text.empty() ? "[" : ",\n ") + to_json(record);
    return text.empty() ? "[]" : text + "]";
}

std::string families_of(const OpenSession& session) {
    std::string text;
    for (const Family& family : session.families()) text += (text.empty() ? "" : ",\n ") + to_json(family);
    return "{\"families\": [" + text + "]}";
}

// The problems with a result of their own for this device model, in the order of their texts.
std::string problems_of(const OpenSession& session, const char* family) {
    const std::string wanted = family == nullptr ? "" : session.families().find(family).name;
    const Device& device = session.device();
    const Database& database = session.database();
    std::map<std::string, const Problem*> problems;
    for (const Record& record : database.records())
        if (record.device.target == device.fingerprint.target && record.device.name == device.fingerprint.name &&
            (family == nullptr || record.problem.family() == wanted))
            problems.emplace(record.problem.key(), &record.problem);
    std::string text;
    for (const auto& [key, problem] : problems) {
        const Match match = database.best(*problem, device.fingerprint, device.limits);
        // What was found for another arithmetic may answer. What was measured at another size says
        // nothing about this problem's time: its own result is marked wrong, or slower than safe.
        if (!match.record || (match.grade > Grade::measured && match.record->problem != *problem)) continue;
        text += fmt::format(R"({}{{"problem": {}, "grade": "{}", "seconds": {}}})", text.empty() ? "" : ",\n ", json_string(key),
                            to_string(match.grade), json_number(match.record->step.median));
    }
    return "{\"problems\": [" + text + "]}";
}

// For the caller to free.
char* copy_of(const std::string& text) {
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

}  // namespace
}  // namespace hone::inline v0_1::languages

using namespace hone::languages;

int hone_abi(void) {
    return HONE_ABI_MAJOR * 1000 + HONE_ABI_MINOR;
}

const char* hone_version(void) {
    return HONE_VERSION;
}

const char* hone_last_error(void) {
    return last_error();
}

hone_status hone_session_open(const char* device, const hone_session_options* options, hone_session** session) {
    return guarded(__func__, [&](const char* function) {
        given(function, session, "session");
        auto content =
            std::make_shared<OpenSession>(device == nullptr ? "best" : device, settings_of(function, options), kernels_of(function, options));
        *session = new hone_session(std::move(content));
    });
}

hone_status hone_session_close(hone_session* session) {
    return guarded(__func__, [&](const char* function) {
        if (!open_handle<hone_session>(function, session)->close(hone_session::kind)) return;
        std::unique_ptr<hone_session> shell(session);
        shell->content->close_kernels();
        shell->content.reset();
        retire(std::move(shell));
    });
}

hone_status hone_session_describe(const hone_session* session, hone_session_info* info) {
    return guarded(__func__, [&](const char* function) {
        OpenSession& open = *open_handle<hone_session>(function, session)->content;
        const hone::Device& device = open.device();
        hone_session_info own{};
        own.device = open.name().c_str();
        own.name = device.fingerprint.name.c_str();
        own.place = place_of(device.limits.target);
        own.index = device.index;
        own.memory_bytes = device.memory_bytes;
        own.results = open.results_folder().c_str();
        write(function, own, info, "info");
    });
}

hone_status hone_session_synchronise(hone_session* session, void* stream) {
    return guarded(__func__, [&](const char* function) { open_handle<hone_session>(function, session)->content->backend().synchronise({stream}); });
}

hone_status hone_session_records(const hone_session* session, const char* problem, char** json) {
    return guarded(__func__, [&](const char* function) {
        const OpenSession& open = *open_handle<hone_session>(function, session)->content;
        given(function, json, "json");
        *json = copy_of(records_of(open, problem));
    });
}

hone_status hone_session_families(const hone_session* session, char** json) {
    return guarded(__func__, [&](const char* function) {
        const OpenSession& open = *open_handle<hone_session>(function, session)->content;
        given(function, json, "json");
        *json = copy_of(families_of(open));
    });
}

hone_status hone_session_problems(const hone_session* session, const char* family, char** json) {
    return guarded(__func__, [&](const char* function) {
        const OpenSession& open = *open_handle<hone_session>(function, session)->content;
        given(function, json, "json");
        *json = copy_of(problems_of(open, family));
    });
}

hone_status hone_devices(char** json) {
    return guarded(__func__, [&](const char* function) {
        given(function, json, "json");
        *json = copy_of(hone::to_json(hone::list_devices()));
    });
}

void hone_text_free(char* text) {
    std::free(text);
}

hone_status hone_array_allocate(hone_session* session, std::int32_t type, std::int64_t count, hone_array* array) {
    return guarded(__func__, [&](const char* function) {
        OpenSession& open = *open_handle<hone_session>(function, session)->content;
        given(function, array, "array");
        const std::int64_t bytes = bytes_of(checked_type(function, type));
        if (count < 1 || count > INT64_MAX / bytes)
            throw Refusal(HONE_BAD_ARGUMENT, function, std::to_string(count) + " elements", "give at least 1, and as many as memory holds");
        *array = {open.allocate(count * bytes), count, type, place_of(open.device().limits.target)};
    });
}

hone_status hone_array_free(hone_session* session, hone_array* array) {
    return guarded(__func__, [&](const char* function) {
        OpenSession& open = *open_handle<hone_session>(function, session)->content;
        if (given(function, array, "array")->data == nullptr) return;
        if (!open.free(array->data))
            throw Refusal(HONE_BAD_ARGUMENT, function, "this array was not allocated in this session, or is freed already",
                          "free once what hone_array_allocate gave, in the session that it came from");
        array->data = nullptr;
        array->count = 0;
    });
}

hone_status hone_copy(hone_session* session, void* to, const void* from, std::int64_t bytes, void* stream) {
    return guarded(__func__, [&](const char* function) {
        OpenSession& open = *open_handle<hone_session>(function, session)->content;
        if (bytes < 0) throw Refusal(HONE_BAD_ARGUMENT, function, std::to_string(bytes) + " bytes", "give 0 or more");
        if (bytes == 0) return;
        given(function, to, "to");
        given(function, from, "from");
        for (const void* end : {static_cast<const void*>(to), from})
            if (const std::int64_t allocated = open.allocated_from(end); allocated >= 0 && allocated < bytes)
                throw Refusal(HONE_BAD_ARGUMENT, function, "an array of hone's has " + std::to_string(allocated) + " bytes from there",
                              "copy at most so many, not " + std::to_string(bytes));
        open.backend().copy(to, from, bytes, {stream});
    });
}
