// Sessions and handles through the C interface, and what misuse of them comes to.
#include "interfaces/session/session.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "foundation/process.hpp"
#include "tests/interfaces/c/c_session.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/sample_record.hpp"
#include "tuning_db/database.hpp"

namespace hone::session_test {
namespace {

using test::CWorkload;
using test::small_problem;
using testing::HasSubstr;

using CSession = test::CSession;

TEST_F(CSession, SaysWhichLibraryThisIs) {
    EXPECT_EQ(hone_abi(), HONE_ABI_MAJOR * 1000 + HONE_ABI_MINOR);
    EXPECT_THAT(hone_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(CSession, DescribesItsDevice) {
    hone_session_info info{};
    info.size = sizeof info;
    ASSERT_EQ(hone_session_describe(session_, &info), HONE_OK) << hone_last_error();
    EXPECT_STREQ(info.device, "cpu");
    EXPECT_EQ(info.place, HONE_HOST);
    EXPECT_EQ(info.index, 0);
    EXPECT_GT(info.memory_bytes, 0);
    EXPECT_STRNE(info.name, "");
    EXPECT_EQ(hone_session_synchronise(session_, nullptr), HONE_OK);
    expect_refused(hone_session_describe(session_, nullptr), HONE_BAD_ARGUMENT, {"info is null"});
}

// What a call writes as JSON.
template <typename Call>
nlohmann::json document(const Call& call) {
    char* text = nullptr;
    EXPECT_EQ(call(&text), HONE_OK) << hone_last_error();
    if (text == nullptr) return {};
    auto parsed = nlohmann::json::parse(text);
    hone_text_free(text);
    return parsed;
}

// Expects a document to be as the schema of the commands' output describes it.
void expect_described(const std::string& definition, const nlohmann::json& document) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "document.json";
    std::ofstream(file) << document;
    const std::string verdict = test::schema_verdicts({{test::source_path("tools/schema/output-1.schema.json"), file, definition, true}});
    if (verdict.empty()) GTEST_SKIP() << test::no_schema_validator;
    EXPECT_EQ(verdict, "v") << document.dump(2).substr(0, 3000);
}

TEST_F(CSession, ListsTheDevicesOfThisMachine) {
    hone_session_info info{};
    info.size = sizeof info;
    ASSERT_EQ(hone_session_describe(session_, &info), HONE_OK) << hone_last_error();
    const auto found = document([](char** json) { return hone_devices(json); });
    ASSERT_TRUE(found["devices"].is_array());
    const auto& cpu = found["devices"].back();
    EXPECT_EQ(cpu["id"], info.device);
    EXPECT_EQ(cpu["name"], info.name);
    EXPECT_EQ(cpu["memory_bytes"], info.memory_bytes);
    EXPECT_NE(cpu["architecture"], "");
    expect_described("devices", found);
    expect_refused(hone_devices(nullptr), HONE_BAD_ARGUMENT, {"hone_devices", "json is null"});
}

TEST_F(CSession, ListsItsFamilies) {
    const auto found = document([&](char** json) { return hone_session_families(session_, json); });
    ASSERT_EQ(std::ssize(found["families"]), std::distance(built_in_families().begin(), built_in_families().end()));
    for (const auto& family : found["families"]) {
        const Family& known = built_in_families().find(family["name"].get<std::string>());
        EXPECT_EQ(family["summary"], known.summary);
        EXPECT_NO_THROW(built_in_families().parse_problem(family["example"].get<std::string>())) << family["example"];
        ASSERT_EQ(family["parameters"].size(), known.parameters.size()) << family["name"];
        for (std::size_t i = 0; i < known.parameters.size(); ++i) {
            const auto& parameter = family["parameters"][i];
            EXPECT_EQ(parameter["name"], known.parameters[i].name);
            if (known.parameters[i].words.empty()) {
                EXPECT_EQ(parameter["low"], known.parameters[i].low);
                EXPECT_EQ(parameter["high"], known.parameters[i].high);
            } else {
                EXPECT_EQ(parameter["words"], known.parameters[i].words);
            }
        }
    }
    expect_described("families", found);
    expect_refused(hone_session_families(session_, nullptr), HONE_BAD_ARGUMENT, {"json is null"});
}

TEST_F(CSession, ListsTheProblemsWithAResultForItsDeviceModel) {
    hone::Session inner("cpu", {.cache = cache_});
    const auto record = [&](const std::string& text, const DeviceFingerprint& device) {
        const Problem problem = built_in_families().parse_problem(text);
        const Config safe = built_in_families().of(problem).space(problem, inner.device().limits).safe();
        return test::sample_record(built_in_families(), problem, safe.key(), device, inner.device().limits);
    };
    const DeviceFingerprint own = inner.device().fingerprint;
    DeviceFingerprint of_other_name = own, of_more_threads = own;
    of_other_name.name += " of another kind";
    of_more_threads.units = own.units + 3;
    const std::string wide = "gauss_seidel_27 stencil=constant precision=f64 nx=20 ny=9 nz=11",
                      laplacian = "poisson7 kernel=apply coefficients=scalar boundary=periodic precision=f64 nx=16 ny=16 nz=16";
    Database found(built_in_families());
    found.add(record(small_problem, own));
    found.add(record(laplacian, of_more_threads));
    found.add(record(wide, of_other_name));
    found.merge_into(folder_.path() / "named");

    hone_session_options options{};
    options.size = sizeof options;
    const std::string named = (folder_.path() / "named").string();
    options.database = named.c_str();
    hone_session* session = nullptr;
    ASSERT_EQ(hone_session_open("cpu", &options, &session), HONE_OK) << hone_last_error();
    const auto problems = [&](const char* family) {
        return document([&](char** json) { return hone_session_problems(session, family, json); })["problems"];
    };
    const auto all = problems(nullptr);
    ASSERT_EQ(all.size(), 2U) << all;
    EXPECT_EQ(all[0]["problem"], built_in_families().parse_problem(small_problem).key());
    EXPECT_EQ(all[0]["grade"], "exact");
    EXPECT_EQ(all[0]["seconds"], record(small_problem, own).step.median);
    EXPECT_EQ(all[1]["problem"], built_in_families().parse_problem(laplacian).key());
    EXPECT_EQ(all[1]["grade"], "same_architecture") << "tuned with other threads";
    for (const auto& one : all) {
        hone_kernel* kernel = nullptr;
        hone_kernel_info info{};
        info.size = sizeof info;
        ASSERT_EQ(hone_session_kernel(session, one["problem"].get<std::string>().c_str(), &kernel), HONE_OK) << hone_last_error();
        ASSERT_EQ(hone_kernel_describe(kernel, &info), HONE_OK);
        EXPECT_EQ(hone_grade_text(info.grade), one["grade"]);
    }
    EXPECT_EQ(problems("gauss_seidel_27").size(), 1U);
    EXPECT_EQ(problems("dg_volume").size(), 0U);
    char* text = nullptr;
    expect_refused(hone_session_problems(session, "gauss_seidel_28", &text), HONE_ERROR, {"gauss_seidel_28", "did you mean gauss_seidel_27"});
    expect_refused(hone_session_problems(session, nullptr, nullptr), HONE_BAD_ARGUMENT, {"json is null"});
    EXPECT_EQ(hone_session_close(session), HONE_OK);
}

TEST_F(CSession, DoesNotOpenOnWhatIsNotThere) {
    hone_session* none = nullptr;
    expect_refused(hone_session_open("gpu17x", nullptr, &none), HONE_ERROR, {"gpu17x"});
    hone_session_options options{};
    options.size = sizeof options;
    const std::string absent = (folder_.path() / "absent").string();
    options.database = absent.c_str();
    expect_refused(hone_session_open("cpu", &options, &none), HONE_ERROR, {absent, "not a folder"});
    options.size = 1;
    expect_refused(hone_session_open("cpu", &options, &none), HONE_BAD_ARGUMENT, {"options->size is 1"});
    expect_refused(hone_session_open("cpu", nullptr, nullptr), HONE_BAD_ARGUMENT, {"session is null"});
    EXPECT_EQ(none, nullptr);
}

TEST_F(CSession, WarnsTheCaller) {
    const test::EnvironmentVariable database("HONE_DB", (folder_.path() / "absent").string());
    std::string told;
    hone_session_options options{};
    options.size = sizeof options;
    options.cache = cache_.c_str();
    options.warn = [](const char* text, void* data) { *static_cast<std::string*>(data) += text; };
    options.data = &told;
    hone_session* session = nullptr;
    ASSERT_EQ(hone_session_open("cpu", &options, &session), HONE_OK) << hone_last_error();
    EXPECT_THAT(told, HasSubstr("absent, which is not there"));
    EXPECT_EQ(hone_session_close(session), HONE_OK);
}

TEST_F(CSession, GivesTheRecordsOfAProblemAndUsesThem) {
    hone::Session inner("cpu", {.cache = cache_});
    const Problem problem = built_in_families().parse_problem(small_problem);
    const Config safe = built_in_families().of(problem).space(problem, inner.device().limits).safe();
    Database found(built_in_families());
    found.add(test::sample_record(built_in_families(), problem, safe.key(), inner.device().fingerprint, inner.device().limits));
    found.merge_into(folder_.path() / "named");

    hone_session_options options{};
    options.size = sizeof options;
    options.cache = cache_.c_str();
    const std::string named = (folder_.path() / "named").string();
    options.database = named.c_str();
    hone_session* session = nullptr;
    ASSERT_EQ(hone_session_open("cpu", &options, &session), HONE_OK) << hone_last_error();
    const auto records = [&](const char* of) {
        char* text = nullptr;
        EXPECT_EQ(hone_session_records(session, of, &text), HONE_OK) << hone_last_error();
        const auto parsed = nlohmann::json::parse(text);
        hone_text_free(text);
        return parsed;
    };
    ASSERT_EQ(records(nullptr).size(), 1U);
    EXPECT_EQ(records(nullptr)[0]["problem"]["parameters"]["nx"], 20);
    EXPECT_EQ(records("gauss_seidel_27 stencil=constant precision=f32 nx=1000 ny=9 nz=11").size(), 1U) << "whatever the size";
    EXPECT_EQ(records("gauss_seidel_27 stencil=constant precision=f64 nx=20 ny=9 nz=11").size(), 0U);
    char* text = nullptr;
    expect_refused(hone_session_records(session, "no_family", &text), HONE_ERROR, {"no_family"});
    expect_refused(hone_session_records(session, nullptr, nullptr), HONE_BAD_ARGUMENT, {"json is null"});

    hone_kernel* kernel = nullptr;
    hone_kernel_info info{};
    info.size = sizeof info;
    ASSERT_EQ(hone_session_kernel(session, small_problem, &kernel), HONE_OK) << hone_last_error();
    ASSERT_EQ(hone_kernel_describe(kernel, &info), HONE_OK);
    EXPECT_EQ(info.grade, HONE_EXACT);
    EXPECT_EQ(info.configuration, safe.key());
    EXPECT_EQ(hone_session_close(session), HONE_OK);
}

using CHandles = test::CSession;

TEST_F(CHandles, ThatAreNullAreRefused) {
    const auto refused = [](hone_status status, const std::string& function, const std::string& noun) {
        expect_refused(status, HONE_BAD_HANDLE, {function, "the " + noun + " is null", "hone_"});
    };
    hone_kernel* kernel = nullptr;
    hone_bound* bound = nullptr;
    hone_online* online = nullptr;
    char* text = nullptr;
    hone_array array{};
    hone_session_info session_info{};
    hone_kernel_info kernel_info{};
    hone_argument argument{};
    hone_online_info online_info{};
    refused(hone_session_close(nullptr), "hone_session_close", "session");
    refused(hone_session_describe(nullptr, &session_info), "hone_session_describe", "session");
    refused(hone_session_synchronise(nullptr, nullptr), "hone_session_synchronise", "session");
    refused(hone_session_records(nullptr, nullptr, &text), "hone_session_records", "session");
    refused(hone_session_families(nullptr, &text), "hone_session_families", "session");
    refused(hone_session_problems(nullptr, nullptr, &text), "hone_session_problems", "session");
    refused(hone_session_kernel(nullptr, small_problem, &kernel), "hone_session_kernel", "session");
    refused(hone_session_tune(nullptr, small_problem, nullptr, nullptr), "hone_session_tune", "session");
    refused(hone_array_allocate(nullptr, HONE_F32, 1, &array), "hone_array_allocate", "session");
    refused(hone_array_free(nullptr, &array), "hone_array_free", "session");
    refused(hone_copy(nullptr, &array, &array, 1, nullptr), "hone_copy", "session");
    refused(hone_online_open(nullptr, small_problem, &array, 1, nullptr, &online), "hone_online_open", "session");
    refused(hone_kernel_describe(nullptr, &kernel_info), "hone_kernel_describe", "kernel");
    refused(hone_kernel_argument(nullptr, 0, &argument), "hone_kernel_argument", "kernel");
    refused(hone_kernel_bind(nullptr, &array, 1, nullptr, &bound), "hone_kernel_bind", "kernel");
    refused(hone_bound_launch(nullptr, nullptr), "hone_bound_launch", "bound kernel");
    refused(hone_bound_launch_range(nullptr, 0, 1, nullptr), "hone_bound_launch_range", "bound kernel");
    refused(hone_bound_run(nullptr, 1, nullptr), "hone_bound_run", "bound kernel");
    refused(hone_bound_prepare(nullptr, nullptr), "hone_bound_prepare", "bound kernel");
    refused(hone_bound_close(nullptr), "hone_bound_close", "bound kernel");
    refused(hone_online_step(nullptr, nullptr), "hone_online_step", "online tuner");
    refused(hone_online_prepare(nullptr, nullptr), "hone_online_prepare", "online tuner");
    refused(hone_online_finish(nullptr), "hone_online_finish", "online tuner");
    refused(hone_online_describe(nullptr, &online_info), "hone_online_describe", "online tuner");
    refused(hone_online_close(nullptr), "hone_online_close", "online tuner");
    expect_refused(hone_session_kernel(session_, nullptr, &kernel), HONE_BAD_ARGUMENT, {"problem is null"});
    expect_refused(hone_session_kernel(session_, small_problem, nullptr), HONE_BAD_ARGUMENT, {"kernel is null"});
}

TEST_F(CHandles, ThatAreClosedAreRefused) {
    hone_kernel* const sweep = kernel(small_problem);
    const CWorkload workload(small_problem, seed_);
    hone_bound* const bound = bind(sweep, workload);
    EXPECT_EQ(hone_bound_close(bound), HONE_OK);
    expect_refused(hone_bound_launch(bound, nullptr), HONE_BAD_HANDLE, {"hone_bound_launch", "the bound kernel is closed"});
    expect_refused(hone_bound_close(bound), HONE_BAD_HANDLE, {"the bound kernel is closed"});

    hone_session* const closed = session_;
    EXPECT_EQ(hone_session_close(closed), HONE_OK);
    session_ = nullptr;
    hone_kernel* none = nullptr;
    expect_refused(hone_session_close(closed), HONE_BAD_HANDLE, {"the session is closed"});
    expect_refused(hone_session_kernel(closed, small_problem, &none), HONE_BAD_HANDLE, {"the session is closed"});
    hone_kernel_info info{};
    info.size = sizeof info;
    expect_refused(hone_kernel_describe(sweep, &info), HONE_BAD_HANDLE, {"the kernel is closed"});
    hone_bound* another = nullptr;
    expect_refused(hone_kernel_bind(sweep, workload.arrays.data(), workload.count(), nullptr, &another), HONE_BAD_HANDLE, {"the kernel is closed"});
}

TEST_F(CHandles, ThatAreSomethingElseAreRefused) {
    hone_kernel* const sweep = kernel(small_problem);
    hone_kernel* none = nullptr;
    expect_refused(hone_session_kernel(reinterpret_cast<hone_session*>(sweep), small_problem, &none), HONE_BAD_HANDLE, {"this is no session"});
    expect_refused(hone_bound_launch(reinterpret_cast<hone_bound*>(session_), nullptr), HONE_BAD_HANDLE, {"this is no bound kernel"});
    alignas(16) std::array<char, 64> memory{};
    expect_refused(hone_bound_close(reinterpret_cast<hone_bound*>(memory.data())), HONE_BAD_HANDLE, {"this is no bound kernel"});
    expect_refused(hone_session_close(reinterpret_cast<hone_session*>(memory.data() + 1)), HONE_BAD_HANDLE, {"this is no session"});
}

TEST_F(CHandles, AreKnownAsClosedForAThousandMore) {
    const CWorkload workload(small_problem, seed_);
    hone_kernel* const sweep = kernel(small_problem);
    hone_bound* const first = bind(sweep, workload);
    hone_bound_close(first);
    for (int i = 0; i < 1000; ++i) {
        hone_bound* const next = bind(sweep, workload);
        ASSERT_NE(next, first);
        hone_bound_close(next);
    }
    expect_refused(hone_bound_launch(first, nullptr), HONE_BAD_HANDLE, {"is closed"});
}

TEST_F(CSession, KnowsTheKernelFoldersThatItIsGiven) {
    hone_session_options options{};
    options.size = sizeof options;
    const std::string folders = test::source_path("examples/kernels/jacobi") + ":" + test::source_path("examples/kernels/saxpy");
    options.kernels = folders.c_str();
    hone_session* session = nullptr;
    ASSERT_EQ(hone_session_open("cpu", &options, &session), HONE_OK) << hone_last_error();
    hone_session_info info{};
    info.size = sizeof info;
    ASSERT_EQ(hone_session_describe(session, &info), HONE_OK) << hone_last_error();
    EXPECT_STRNE(info.results, "");
    const auto families = document([&](char** json) { return hone_session_families(session, json); })["families"];
    const auto is_saxpy = [](const auto& family) { return family["name"].template get<std::string>().starts_with("saxpy:"); };
    EXPECT_EQ(std::count_if(families.begin(), families.end(), is_saxpy), 1) << "beside hone's own";
    hone_kernel* kernel = nullptr;
    ASSERT_EQ(hone_session_kernel(session, "saxpy problem_size_x=1001", &kernel), HONE_OK) << hone_last_error();
    hone_argument argument{};
    argument.size = sizeof argument;
    ASSERT_EQ(hone_kernel_argument(kernel, 2, &argument), HONE_OK) << hone_last_error();
    EXPECT_STREQ(argument.name, "y");
    EXPECT_EQ(hone_session_close(session), HONE_OK);

    options.kernels = "/absent/kernel";
    EXPECT_EQ(hone_session_open("cpu", &options, &session), HONE_ERROR);
    EXPECT_THAT(hone_last_error(), testing::HasSubstr("/absent/kernel"));
    // A caller of version 1.0 knows nothing of them.
    options.size = offsetof(hone_session_options, kernels);
    ASSERT_EQ(hone_session_open("cpu", &options, &session), HONE_OK) << hone_last_error();
    EXPECT_EQ(hone_session_kernel(session, "saxpy problem_size_x=1001", &kernel), HONE_ERROR);
    EXPECT_EQ(hone_session_close(session), HONE_OK);
}

// Whatever the library is made of, programs see nothing but the interface.
TEST(CLibrary, ShowsTheInterfaceAndNothingElse) {
    const std::string program = find_program("nm");
    if (program.empty()) GTEST_SKIP() << "nm, which lists a library's symbols, is not here";
    const ProcessResult listed = run_process({program, "--dynamic", "--defined-only", "--with-symbol-versions", HONE_LIBRARY}, 60);
    ASSERT_TRUE(listed.ok()) << listed.failure() << listed.output;
    std::istringstream lines(listed.output);
    std::set<std::string> shown, declared;
    for (std::string address, kind, symbol; lines >> address >> kind >> symbol;)
        if (kind != "A") shown.insert(symbol);  // A: the version's own name

    // A function is of version 1.0, or its comment ends with the version that brought it.
    std::ifstream header(test::source_path("interfaces/c/hone.h"));
    static const std::regex function(R"(^(hone_status |int |void |const char \*)(hone_[a-z_]+)\(.*)"), since(R"(.*Since (1\.[0-9]+)\. \*/$)");
    std::string version = "1.0";
    std::smatch match;
    for (std::string line; std::getline(header, line);) {
        if (std::regex_match(line, match, since)) {
            version = match.str(1);
            continue;
        }
        if (std::regex_match(line, match, function)) declared.insert(match.str(2) + "@@HONE_" + version);
        version = "1.0";
    }
    EXPECT_GT(declared.size(), 25U);
    EXPECT_EQ(declared.count("hone_devices@@HONE_1.3"), 1U);
    EXPECT_EQ(shown, declared);
}

}  // namespace
}  // namespace hone::session_test
