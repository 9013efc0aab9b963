// Measured spaces in all formats: what is read, what is refused, and that everything comes back
// when written.
#include "tuner/replay/recorded_space.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/value_lists.hpp"
#include "tests/support/community_spaces.hpp"
#include "tuner/journal.hpp"
#include "tuner/random.hpp"
#include "tuner/replay/formats/journal_space.hpp"
#include "tuner/replay/formats/kernel_tuner.hpp"
#include "tuner/replay/formats/parameter_values.hpp"
#include "tuner/replay/formats/space_file.hpp"
#include "tuner/replay/formats/t4.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::recorded_space_test {
namespace {

using ::testing::HasSubstr;

const std::string header = R"({"device_name": "Some GPU",
"kernel_name": "add",
"problem_size": [100, 1],
"tune_params_keys": ["x", "fast", "ratio", "way"],
"tune_params": {"ratio": [0.5, 1, 2.25], "x": [16, 32], "way": ["a", "b"], "fast": [true, false]},
"objective": "time",
"cache": {
)";

std::string entry(const std::string& x, const std::string& fast, const std::string& ratio, const std::string& way, const std::string& rest) {
    const std::string truth = fast == "true" ? "True" : "False";
    return fmt::format(R"("{0},{4},{2},{3}": {{"way": "{3}", "x": {0}, "fast": {1}, "ratio": {2}, "time": {5}}})", x, fast, ratio, way, truth, rest);
}

const std::string first = entry("16", "true", "0.5", "a", R"(2.5, "times": [2, 3], "compile_time": 40.5, "GFLOP/s": 3)");
const std::string second = entry("32", "false", "1", "b", "\"CompilationFailedConfig\"");
const std::string third = entry("32", "false", "2.25", "b", "1");

std::string error_of(const std::string& text) {
    try {
        parse_recorded_space(text, "some.json");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(RecordedSpace, ReadsACacheFileOfKernelTuner) {
    const RecordedSpace space = parse_recorded_space(header + first + ",\n" + second + ",\n" + third + "}}", "folder/some.json.gz");
    EXPECT_EQ(space.title().name, "some");
    EXPECT_EQ(space.title().kernel, "add");
    EXPECT_EQ(space.title().device, "Some GPU");
    EXPECT_EQ(space.title().problem_size, "[100, 1]");
    EXPECT_FALSE(space.title().cut);
    ASSERT_EQ(space.tunables().size(), 4U);
    EXPECT_EQ(space.tunables()[0].name, "x") << "in the order of the keys, not of tune_params";
    EXPECT_EQ(space.tunables()[0].values, numbers({16, 32}));
    EXPECT_EQ(space.tunables()[1].values, words({"true", "false"}));
    EXPECT_EQ(space.tunables()[2].values, words({"0.5", "1", "2.25"}));
    EXPECT_EQ(space.members(), (std::vector<std::int64_t>{0, 21, 23}));
    EXPECT_EQ(space.cost(0), 2.5e-3) << "the time is milliseconds";
    EXPECT_EQ(space.at(0).outcome.samples, (std::vector<double>{2e-3, 3e-3}));
    EXPECT_EQ(space.at(0).outcome.compile_seconds, 0.0405);
    EXPECT_TRUE(std::isinf(space.cost(21)));
    EXPECT_EQ(space.at(21).outcome.status, Status::compile_failed);
    EXPECT_EQ(space.valid(), 2);
    EXPECT_EQ(space.optimum(), 1e-3);
    EXPECT_THROW((void)space.at(1), Error) << "it broke a constraint";
}

TEST(RecordedSpace, AllWaysToBeInvalid) {
    for (const char* time :
         {"\"CompilationFailedConfig\"", "\"RuntimeFailedConfig\"", "\"InvalidConfig\"", "1e20", "1e+20", "100000000000000000000"}) {
        const RecordedSpace space = parse_recorded_space(header + first + "," + entry("32", "true", "1", "a", time) + "}}", "some.json");
        EXPECT_EQ(space.valid(), 1) << time;
        EXPECT_EQ(space.members().size(), 2U) << "it was tried";
    }
}

TEST(RecordedSpace, ARunThatWasCutGivesWhatItHas) {
    const std::string whole = header + first + ",\n" + second + ",\n" + third + "}}";
    const std::size_t begin = header.size() + first.size();
    std::size_t read = 0;
    for (std::size_t length = begin; length < whole.size(); ++length) {
        const RecordedSpace space = parse_recorded_space(whole.substr(0, length), "some.json");
        EXPECT_TRUE(space.title().cut) << "after " << length;
        EXPECT_GE(space.members().size(), read) << "after " << length;
        read = space.members().size();
    }
    EXPECT_EQ(read, 3U);
    EXPECT_FALSE(parse_recorded_space(whole + "\n", "some.json").title().cut);
    for (std::size_t length = 0; length < header.size(); length += 7) EXPECT_NE(error_of(whole.substr(0, length)), "") << "nothing measured yet";
}

TEST(RecordedSpace, AMistakeIsNamedWithFileAndLine) {
    const auto in_cache = [](const std::string& entries) { return error_of(header + entries + "}}"); };
    EXPECT_THAT(in_cache(first + ",\n" + entry("64", "true", "1", "a", "1")), HasSubstr("some.json:9: "));
    EXPECT_THAT(in_cache(entry("64", "true", "1", "a", "1")), HasSubstr("x is 64"));
    EXPECT_THAT(in_cache(entry("16", "true", "1", "a", "-1")), HasSubstr("time: is -1"));
    EXPECT_THAT(in_cache(entry("16", "true", "1", "a", "0")), HasSubstr("time: is 0"));
    EXPECT_THAT(in_cache(entry("16", "true", "1", "a", "\"Broken\"")), HasSubstr("RuntimeFailedConfig"));
    EXPECT_THAT(in_cache(entry("16", "true", "1", "a", "null")), HasSubstr("time: is null"));
    EXPECT_THAT(in_cache(first + "," + first), HasSubstr("stands twice: x=16,fast=true,ratio=0.5,way=a"));
    EXPECT_THAT(in_cache("\"16,True,1,a\"" + second.substr(second.find(':'))), HasSubstr("does not have the values of its key"));
    EXPECT_THAT(in_cache(second), HasSubstr("none of its 1 configurations is valid"));
    EXPECT_THAT(in_cache(""), HasSubstr("the cache is empty"));
    EXPECT_THAT(in_cache(first + " " + third), HasSubstr("no comma"));
    EXPECT_THAT(error_of(header + first + "}} x"), HasSubstr("something follows"));
    EXPECT_THAT(error_of("{\"a\": 1}"), HasSubstr("it has no \"cache\""));
    EXPECT_THAT(error_of("[1]"), HasSubstr("a { belongs here"));
    EXPECT_NE(error_of(""), "");
}

TEST(RecordedSpace, EqualNumbersAreTheSameValue) {
    const RecordedSpace space =
        parse_recorded_space(header + R"("16,True,1.0,a": {"x": 16.0, "fast": 1, "ratio": 1.0, "way": "a", "time": 1}}})", "some.json");
    EXPECT_EQ(space.members(), (std::vector<std::int64_t>{2}));
}

TEST(RecordedSpace, StartsFromAValidMemberThatTheSeedDraws) {
    const RecordedSpace space = parse_recorded_space(header + first + "," + second + "," + third + "}}", "some.json");
    std::set<std::int64_t> starts;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const SearchSpace drawn = space.space(seed);
        EXPECT_EQ(drawn.members(), space.members());
        starts.insert(drawn.index_of(drawn.safe()));
        EXPECT_EQ(drawn.safe(), space.space(seed).safe());
    }
    EXPECT_EQ(starts, (std::set<std::int64_t>{0, 23}));
}

TEST(RecordedSpace, ReadsT4InAnyUnitOfTime) {
    for (const auto& [unit, seconds] :
         {std::pair{"s", 1.0}, {"Seconds", 1.0}, {"ms", 1e-3}, {"milliseconds", 1e-3}, {"us", 1e-6}, {"Microseconds", 1e-6}, {"ns", 1e-9}}) {
        const std::string text = fmt::format(
            R"({{"schema_version": "1.0.0", "results": [{{"configuration": {{"b": 2, "a": "u"}}, "times": {{"compilation": 7, "runtimes": [3, 5]}}, )"
            R"("invalidity": "correct", "correctness": 1, "measurements": [{{"name": "power", "value": 1, "unit": "W"}}, {{"name": "time", "value": 4, "unit": "{}"}}], )"
            R"("objectives": ["time"]}}, {{"configuration": {{"a": "v", "b": 1}}, "times": {{}}, "invalidity": "timeout", "correctness": 0}}]}})",
            unit);
        const RecordedSpace space = parse_recorded_space(text, "results.json");
        EXPECT_EQ(space.tunables()[0].values, numbers({1, 2}));
        EXPECT_EQ(space.tunables()[1].values, words({"u", "v"})) << "in order of appearance";
        EXPECT_DOUBLE_EQ(space.cost(2), 4 * seconds) << unit;
        EXPECT_EQ(space.at(2).outcome.samples.size(), 2U);
        EXPECT_DOUBLE_EQ(space.at(2).outcome.compile_seconds, 7 * seconds);
        EXPECT_EQ(space.at(1).outcome.status, Status::timed_out);
    }
}

TEST(RecordedSpace, T4WithoutATimeIsRefused) {
    const std::string begin = R"({"results": [{"configuration": {"a": 1}, "times": {}, "correctness": 1, "invalidity": )";
    EXPECT_THAT(error_of(begin + R"("correct", "measurements": [{"name": "rate", "value": 4, "unit": "GFLOP/s"}], "objectives": ["rate"]}]})"),
                HasSubstr("only times can be replayed"));
    EXPECT_THAT(error_of(begin + R"("correct", "measurements": [], "objectives": ["time"]}]})"), HasSubstr("has no time, the objective"));
    EXPECT_THAT(error_of(begin + R"("odd"}]})"), HasSubstr("it may be correct"));
    EXPECT_THAT(error_of(begin + R"("compile"})"), HasSubstr("closing brace"));
    EXPECT_THAT(error_of(R"({"results": []})"), HasSubstr("there are no results"));
}

// What Kernel Tuner 1.5 writes: the objective is a list, an invalid configuration has an error and
// no time.
TEST(RecordedSpace, ReadsTheCacheOfACurrentKernelTuner) {
    std::string text = header;
    text.replace(text.find("\"time\""), 6, "[\n\"time\"\n]");
    for (const auto& [word, status] : {std::pair{"CompilationFailedConfig", Status::compile_failed},
                                       {"RuntimeFailedConfig", Status::launch_failed},
                                       {"InvalidConfig", Status::launch_failed}}) {
        const std::string failed = fmt::format(
            R"("32,False,1,b": {{"x": 32, "fast": false, "ratio": 1, "way": "b", "__error__": "{}", "compile_time": 7, "timestamp": "2026"}})", word);
        const RecordedSpace space = parse_recorded_space(text + first + ",\n" + failed + "}\n}", "some.json");
        EXPECT_EQ(space.title().objective, "time");
        EXPECT_EQ(space.valid(), 1);
        EXPECT_EQ(space.at(21).outcome.status, status);
        EXPECT_EQ(space.at(21).outcome.reason, word);
        EXPECT_DOUBLE_EQ(space.at(21).outcome.compile_seconds, 7e-3);
    }
    EXPECT_THAT(error_of(text + R"("32,False,1,b": {"x": 32, "fast": false, "ratio": 1, "way": "b", "__error__": "Odd"}}})"),
                HasSubstr("some.json:10: cache[\"32,False,1,b\"].__error__: is \"Odd\""));
}

TEST(RecordedSpace, AnEntryMayLeaveItsValuesToItsKey) {
    std::string text = header;
    text.replace(text.find("[\"a\", \"b\"]"), 10, R"(["a", "a,b", "a,b,c"])");
    const RecordedSpace space = parse_recorded_space(
        text + R"("16,True,0.5,a": {"time": 1}, "32,False,2.25,a,b": {"time": 2}, "16,True,1.0,a,b,c": {"time": 3}}})", "some.json");
    EXPECT_EQ(space.at(0).cost, 1e-3);
    EXPECT_EQ(space.at(2 * 3 * 3 - 1 + 17).cost, 2e-3) << "the last but one of all words";
    EXPECT_EQ(space.at(3 + 2).cost, 3e-3) << "1.0 is 1";
    EXPECT_EQ(space.members().size(), 3U);
    EXPECT_THAT(error_of(text + R"("16,True,0.5": {"time": 1}}})"), HasSubstr("those of its key are not in the lists"));
    EXPECT_THAT(error_of(text + R"("16,True,0.5,d": {"time": 1}}})"), HasSubstr("those of its key are not in the lists"));
    EXPECT_THAT(error_of(text + R"("16,True,0.5,a,": {"time": 1}}})"), HasSubstr("those of its key are not in the lists"));
    EXPECT_THAT(error_of(text + R"("16,True,0.5,a": {"x": 16, "time": 1}}})"), HasSubstr("has no \"fast\""));
}

TEST(RecordedSpace, AMistakeIsNamedWithTheMemberThatHasIt) {
    std::string text = header;
    text.replace(text.find("\"time\""), 6, "3");
    EXPECT_THAT(error_of(text + first + "}}"), HasSubstr("some.json:6: objective: "));
    text = header;
    text.replace(text.find("[100, 1]"), 8, "7, \"device_name\": 1");
    EXPECT_THAT(error_of(text + first + "}}"), HasSubstr("device_name stands twice"));
    text = header;
    text.replace(text.find("[16, 32]"), 8, "[16, [32]]");
    EXPECT_THAT(error_of(text + first + "}}"), HasSubstr("tune_params.x[1]: is not a single value"));
}

TEST(RecordedSpace, AListMayMixNumbersWordsAndTruth) {
    const std::string text =
        R"({"device_name": "", "kernel_name": "k", "tune_params_keys": ["v"], "tune_params": {"v": [1, 2.5, "x", true]}, "cache": {)"
        R"("1": {"v": 1, "time": 1}, "2.5": {"v": 2.5, "time": 2}, "x": {"v": "x", "time": 3}, "True": {"v": true, "time": 4}}})";
    const RecordedSpace space = parse_recorded_space(text, "mixed.json");
    EXPECT_EQ(space.tunables()[0].values, words({"1", "2.5", "x", "true"}));
    for (std::int64_t index = 0; index < 4; ++index) EXPECT_EQ(space.cost(index), 1e-3 * static_cast<double>(index + 1));
    for (const std::string& again : {kernel_tuner_text(space, built_in_families()), t4_text(space), journal_text(space), space_file_text(space)})
        EXPECT_EQ(parse_recorded_space(again, "again").costs(), space.costs()) << again;
}

TEST(RecordedSpace, AByteOrderMarkIsPassedOver) {
    const std::string text = header + first + "}}";
    const RecordedSpace space = parse_recorded_space("\xef\xbb\xbf" + text, "some.json");
    for (const std::string& other : {text, t4_text(space), journal_text(space), space_file_text(space)})
        EXPECT_EQ(parse_recorded_space("\xef\xbb\xbf" + other, "some.json").costs(), space.costs());
    EXPECT_THAT(error_of("\xff\xfe{"), HasSubstr("some.json: it is UTF-16; save it as UTF-8"));
}

// Units of times are the metadata's where a measurement names none, whichever comes first in the
// file.
TEST(RecordedSpace, T4TakesTheUnitOfItsMetadata) {
    const auto results = [](const std::string& name, const std::string& unit) {
        return fmt::format(R"("results": [{{"configuration": {{"a": 1}}, "times": {{"compilation": 7}}, "invalidity": "correct", "correctness": 1, )"
                           R"("measurements": [{{"name": "GFLOP/s", "value": 9, "unit": ""}}, {{"name": "{0}", "value": 4{1}}}], )"
                           R"("objectives": ["{0}"]}}])",
                           name, unit);
    };
    for (const auto& [unit, seconds] : {std::pair{"miliseconds", 1e-3}, {"milliseconds", 1e-3}, {"Microseconds", 1e-6}})
        for (const char* own : {", \"unit\": \"\"", ""}) {
            const std::string metadata = fmt::format(R"("metadata": {{"timeunit": "{}"}})", unit);
            for (const std::string& text : {metadata + ", " + results("time", own), results("time", own) + ", " + metadata}) {
                const RecordedSpace space = parse_recorded_space("{" + text + "}", "results.json");
                EXPECT_DOUBLE_EQ(space.cost(0), 4 * seconds) << text;
                EXPECT_DOUBLE_EQ(space.at(0).outcome.compile_seconds, 7 * seconds);
            }
        }
    const std::string metadata = R"({"metadata": {"timeunit": "ms"}, )";
    EXPECT_DOUBLE_EQ(parse_recorded_space(metadata + results("time", R"(, "unit": "s")") + "}", "r").cost(0), 4) << "its own comes first";
    EXPECT_THAT(error_of(metadata + results("GFLOP/s", R"(, "unit": "")") + "}"), HasSubstr("results[0].measurements[0]: has no unit"));
    EXPECT_THAT(error_of("{" + results("time", R"(, "unit": "")") + "}"), HasSubstr("only times can be replayed"));
    EXPECT_THAT(error_of("{" + results("time", R"(, "unit": "W")") + "}"), HasSubstr("has the unit \"W\""));
}

TEST(RecordedSpace, T4OfAnotherObjectiveIsReplayedByItsTimes) {
    const auto text = [](const std::string& objective, const std::string& measurements, const std::string& runs) {
        return fmt::format(R"({{"metadata": {{"timeunit": "milliseconds"}}, "results": [{{"configuration": {{"a": 1}}, "times": {{"runtimes": {}}}, )"
                           R"("invalidity": "correct", "correctness": 1, "measurements": [{}], "objectives": ["{}"]}}]}})",
                           runs, measurements, objective);
    };
    const std::string rate = R"({"name": "GFLOP/s", "value": 9, "unit": ""})", time = R"({"name": "time", "value": 4, "unit": "ms"})";
    const RecordedSpace measured = parse_recorded_space(text("GFLOP/s", rate + ", " + time, "[]"), "r");
    EXPECT_DOUBLE_EQ(measured.cost(0), 4e-3);
    EXPECT_EQ(measured.title().objective, "GFLOP/s");
    EXPECT_DOUBLE_EQ(parse_recorded_space(text("GFLOP/s", rate, "[3, 5]"), "r").cost(0), 4e-3) << "the mean of the runs";
    EXPECT_THAT(error_of(text("GFLOP/s", rate, "[]")), HasSubstr("only times can be replayed"));
}

// Kernel Tuner puts a failure in the place of the objective, and there is no time then.
TEST(RecordedSpace, ACacheOfAnotherObjectiveIsReplayedByItsTimes) {
    std::string text = header;
    text.replace(text.find("\"time\""), 6, "\"GFLOP/s\"");
    const std::string failed = R"("32,False,1,b": {"x": 32, "fast": false, "ratio": 1, "way": "b", "GFLOP/s": "RuntimeFailedConfig"})";
    const RecordedSpace space = parse_recorded_space(text + first + ",\n" + failed + "}}", "some.json");
    EXPECT_EQ(space.valid(), 1);
    EXPECT_EQ(space.at(21).outcome.reason, "RuntimeFailedConfig");
    EXPECT_EQ(space.title().objective, "GFLOP/s");
    const std::string no_time = R"("32,False,1,b": {"x": 32, "fast": false, "ratio": 1, "way": "b", "GFLOP/s": 7})";
    EXPECT_THAT(error_of(text + first + "," + no_time + "}}"), HasSubstr("has a GFLOP/s and no time"));
}

// As Python's json writes what is no number.
TEST(RecordedSpace, NumbersThatAreNoneAreRead) {
    for (const char* const word : {"NaN", "Infinity", "-Infinity"}) {
        const std::string failed = fmt::format(
            R"("32,False,1,b": {{"x": 32, "fast": false, "ratio": 1, "way": "b", "time": {0}, "times": [{0}, 1], "compile_time": {0}, "GFLOP/s": {0}}})",
            word);
        std::string metric = first;
        metric.insert(metric.find("\"time\""), fmt::format("\"note\": \"a \\\"NaN\", \"rate\": {}, ", word));
        const RecordedSpace space = parse_recorded_space(header + metric + ",\n" + failed + "}}", "some.json");
        EXPECT_EQ(space.valid(), 1) << word;
        EXPECT_EQ(space.at(21).outcome.reason, word);
        EXPECT_THAT(kernel_tuner_text(space, built_in_families()), HasSubstr("RuntimeFailedConfig")) << "what Kernel Tuner knows";
        const RecordedSpace t4 = parse_recorded_space(
            fmt::format(
                R"({{"metadata": {{"timeunit": "ms"}}, "results": [)"
                R"({{"configuration": {{"a": 1}}, "times": {{"compilation": {0}, "runtimes": [{0}, 2]}}, "invalidity": "correct", )"
                R"("measurements": [{{"name": "power", "value": {0}, "unit": "W"}}, {{"name": "time", "value": 2}}], "objectives": ["time"]}},)"
                R"({{"configuration": {{"a": 2}}, "times": {{}}, "invalidity": "correct", "measurements": [{{"name": "time", "value": {0}}}], )"
                R"("objectives": ["time"]}}]}})",
                word),
            "t4.json");
        EXPECT_EQ(t4.valid(), 1);
        EXPECT_EQ(t4.at(0).outcome.samples.size(), 1U);
        EXPECT_EQ(t4.at(1).outcome.status, Status::launch_failed);
    }
}

// The keys that autotuning_methodology 1.1 and Kernel Tuner 1.5 look up. The first of them refuses
// files that begin with a failure.
TEST(RecordedSpace, T4HasTheNamesOfTheSchemaAndOfItsReaders) {
    const std::string failed = R"("16,True,0.5,a": {"x": 16, "fast": true, "ratio": 0.5, "way": "a", "time": "RuntimeFailedConfig"})";
    const std::string late = t4_text(parse_recorded_space(header + failed + "," + third + "}}", "some.json"));
    EXPECT_LT(late.find("\"correct\""), late.find("\"runtime\""));
    const std::string text = t4_text(parse_recorded_space(header + first + "," + second + "}}", "some.json"));
    EXPECT_THAT(text, HasSubstr(R"("metadata": {"timeunit": "milliseconds"})"));
    for (const char* const name : {"schema_version", "compilation_time", "compilation", "benchmark", "framework", "search_algorithm", "validation"})
        EXPECT_THAT(text, HasSubstr(fmt::format("\"{}\": ", name)));
}

// The facts that were published with the spaces.
TEST(RecordedSpace, TheCommunitysSpacesHaveTheirPublishedFacts) {
    struct Fact {
        const char* file;
        std::size_t members;
        std::int64_t invalid;
        double optimum;
        int within_1, within_5;
    };
    int read = 0;
    for (const auto& fact :
         {Fact{"convolution_milo__MI250X", 4362, 0, 0.6588e-3, 2, 9}, Fact{"convolution__RTX_2080_Ti", 6768, 1512, 0.9003e-3, 2, 12},
          Fact{"pnpoly__RTX_3090", 4092, 318, 8.7142e-3, 9, 33}, Fact{"dedispersion_milo__A100", 11130, 0, 68.12e-3, 277, 4405}}) {
        const std::string file = test::community_space(std::string(fact.file) + ".json.gz");
        if (file.empty()) continue;
        ++read;
        const RecordedSpace space = read_recorded_space(file);
        EXPECT_EQ(space.members().size(), fact.members) << fact.file;
        EXPECT_EQ(std::ssize(space.members()) - space.valid(), fact.invalid) << fact.file;
        EXPECT_NEAR(space.optimum(), fact.optimum, 1e-4 * fact.optimum) << fact.file;
        const auto within = [&](double part) {
            return std::upper_bound(space.costs().begin(), space.costs().end(), space.optimum() * (1 + part)) - space.costs().begin();
        };
        EXPECT_EQ(within(0.01), fact.within_1) << fact.file;
        EXPECT_EQ(within(0.05), fact.within_5) << fact.file;
    }
    if (read == 0) GTEST_SKIP() << test::no_community_spaces;
}

// --- there and back

void expect_same_space(const RecordedSpace& a, const RecordedSpace& b, bool order_of_values) {
    ASSERT_EQ(a.members().size(), b.members().size());
    ASSERT_EQ(a.parameters().size(), b.parameters().size());
    for (std::size_t d = 0; d < a.parameters().size(); ++d) EXPECT_EQ(a.parameters()[d].name, b.parameters()[d].name);
    if (order_of_values) {
        EXPECT_EQ(a.members(), b.members());
    }
    for (const std::int64_t index : a.members()) {
        std::vector<std::string> written;
        const auto places = a.places(index);
        for (std::size_t d = 0; d < places.size(); ++d) written.push_back(a.parameters()[d].written[places[d]]);
        const RecordedConfiguration configuration = a.at(index);
        const RecordedConfiguration other = b.at(RecordedIndex(b.parameters()).of(written, "here"));
        EXPECT_EQ(configuration.outcome.measured(), other.outcome.measured());
        EXPECT_THAT(configuration.outcome.samples, testing::Pointwise(testing::DoubleEq(), other.outcome.samples));
        EXPECT_DOUBLE_EQ(configuration.outcome.compile_seconds, other.outcome.compile_seconds);
    }
}

// A space with all kinds of values, a part of its product measured.
RecordedSpace random_space(std::uint64_t seed) {
    Random random(seed);
    std::vector<RecordedParameter> parameters{{"n", {"1", "2", "16", "-3"}},
                                              {"real", {"0.5", "1e-05", "2.25", "3"}},
                                              {"truth", {"true", "false"}},
                                              {"word",
                                               {"\"plain\"", "\"with space\"",
                                                "\"gr\xc3\xb6\xc3\x9f"
                                                "er\"",
                                                "\"quo'te\""}}};
    std::vector<RecordedConfiguration> configurations;
    for (std::int64_t index = 0; index < 4 * 4 * 2 * 4; ++index) {
        if (random.below(4) == 0) continue;
        RecordedConfiguration configuration{index, std::numeric_limits<double>::infinity(), {}};
        if (random.below(5) == 0) {
            configuration.outcome =
                random.below(2) == 0 ? failure(Status::compile_failed, "CompilationFailedConfig") : failure(Status::launch_failed, "InvalidConfig");
        } else {
            std::vector<double> samples(1 + random.below(5));
            for (double& sample : samples) sample = std::pow(10.0, -6 + 5 * random.real());
            double sum = 0;
            for (const double sample : samples) sum += sample;
            configuration.cost = sum / static_cast<double>(samples.size());
            configuration.outcome = measurement(configuration.cost, samples);
            configuration.outcome.compile_seconds = random.real();
        }
        configurations.push_back(std::move(configuration));
    }
    return {{.name = "random", .kernel = "k\"1", .device = "d"}, std::move(parameters), std::move(configurations)};
}

TEST(RecordedSpace, WhatIsWrittenForKernelTunerComesBack) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const RecordedSpace space = random_space(seed);
    const std::string text = kernel_tuner_text(space, built_in_families());
    const RecordedSpace again = parse_recorded_space(text, "again.json");
    expect_same_space(space, again, true);
    for (const std::int64_t member : space.members()) {
        EXPECT_DOUBLE_EQ(space.cost(member), again.cost(member));
        EXPECT_EQ(space.at(member).outcome.reason, again.at(member).outcome.reason);
    }
    EXPECT_EQ(kernel_tuner_text(again, built_in_families()), text) << "nor does a second time change anything";
}

// Kernel Tuner refuses null, compares a list with its user's problem_size, and takes "callable" for
// whoever gives a function.
TEST(RecordedSpace, WhatIsWrittenForKernelTunerHasAProblemSize) {
    const auto written = [](const std::string& kernel, const std::string& size) {
        const RecordedSpace space({.name = "x", .kernel = kernel, .problem_size = size}, {{"a", {"1"}}}, {{0, 1.0, measurement(1.0, {})}});
        const std::string text = kernel_tuner_text(space, built_in_families());
        const std::string key = "\"problem_size\": ";
        const std::size_t begin = text.find(key) + key.size();
        return text.substr(begin, text.find(",\n", begin) - begin);
    };
    EXPECT_EQ(written("gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=64 nz=32", ""), "[96, 64, 32]");
    EXPECT_EQ(written("gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=64 nz=32 pitch=160", ""), "[96, 64, 32, 160]");
    EXPECT_EQ(written("dg_volume equation=maxwell_3d order=3 precision=f32 elements=5000", ""), "[5000]");
    EXPECT_EQ(written("gauss_seidel_27 stencil=constant precision=f32 nx=wide", ""), "\"callable\"");
    EXPECT_EQ(written("add", ""), "\"callable\"");
    EXPECT_EQ(written("add", "[100, 1]"), "[100, 1]");
    const std::string with_null = std::string(header).replace(header.find("[100, 1]"), 8, "null") + first + "}}";
    EXPECT_THAT(kernel_tuner_text(parse_recorded_space(with_null, "x.json"), built_in_families()), HasSubstr("\"problem_size\": \"callable\""));
}

// What a file of milliseconds said goes through seconds and comes back the same.
TEST(RecordedSpace, CostsOfAFileAreKeptExactly) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    std::string entries;
    for (int x : {16, 32})
        for (const char* ratio : {"0.5", "1", "2.25"})
            entries += (entries.empty() ? "" : ",") + entry(std::to_string(x), "true", ratio, "a", fmt::format("{}", 1e-3 + 100 * random.real()));
    const RecordedSpace space = parse_recorded_space(header + entries + "}}", "some.json");
    EXPECT_EQ(parse_recorded_space(kernel_tuner_text(space, built_in_families()), "again.json").costs(), space.costs());
    EXPECT_EQ(parse_recorded_space(t4_text(space), "again.json").costs(), space.costs());
    EXPECT_EQ(parse_recorded_space(journal_text(space), "again.jsonl").costs(), space.costs()) << "one run each: mean and median are the same";
}

TEST(RecordedSpace, WhatIsWrittenAsT4ComesBack) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const RecordedSpace space = random_space(seed);
    const RecordedSpace again = parse_recorded_space(t4_text(space), "again.json");
    EXPECT_THAT(again.costs(), testing::Pointwise(testing::DoubleEq(), space.costs()));
    expect_same_space(space, parse_recorded_space(kernel_tuner_text(again, built_in_families()), "once more.json"), false);
}

TEST(RecordedSpace, AJournalSaysWhatKindOfDeviceWasMeasured) {
    const RecordedSpace space = random_space(1);
    EXPECT_THAT(journal_text(space), testing::HasSubstr(R"("target": "cuda")"));
    std::string on_processor = journal_text(space);
    on_processor.replace(on_processor.find(R"("target": "cuda")"), 16, R"("target": "cpu")");
    EXPECT_THAT(journal_text(parse_recorded_space(on_processor, "again.jsonl")), testing::HasSubstr(R"("target": "cpu")"));
}

TEST(RecordedSpace, WhatIsWrittenAsAJournalComesBack) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const RecordedSpace space = random_space(seed);
    const RecordedSpace again = parse_recorded_space(journal_text(space), "again.jsonl");
    EXPECT_FALSE(again.title().cut);
    expect_same_space(space, again, false);
    for (const std::int64_t index : again.members()) {
        const RecordedConfiguration configuration = again.at(index);
        EXPECT_TRUE(!configuration.outcome.measured() || configuration.cost == configuration.outcome.step.median) << "a journal's cost is the median";
    }
}

// A journal of n candidates, as `run` says that they were chosen.
RecordedSpace journal_of(const RunDescription& run, int n, bool budget_spent = false, bool began_alone = false) {
    JournalText journal{run, {}};
    for (int i = 0; i < n; ++i) {
        if (i == 1 && began_alone) journal.entries.push_back({.kind = JournalEntry::Kind::finish});
        journal.entries.push_back(
            {JournalEntry::Kind::evaluation, 0, i, Candidate::Purpose::search, fmt::format("t={}", i), measurement(1e-3 * (1 + i), {})});
    }
    if (budget_spent) journal.entries.push_back({.kind = JournalEntry::Kind::finish});
    journal.entries.push_back({.kind = JournalEntry::Kind::done});
    return parse_recorded_space(journal_text(journal), "run.jsonl");
}

TEST(RecordedSpace, AJournalSaysWhichPartOfItsSpaceItHolds) {
    RunDescription run;
    run.problem = "landscape";
    run.strategy = "exhaustive";
    run.members = 8;
    EXPECT_TRUE(journal_of(run, 8).whole());
    EXPECT_EQ(journal_of(run, 8).coverage(), 1.0);
    EXPECT_FALSE(journal_of(run, 2).whole());
    EXPECT_EQ(journal_of(run, 2).coverage(), 0.25);
    run.strategy = "local_search";
    EXPECT_TRUE(journal_of(run, 8).whole()) << "whoever chose them";
    const RecordedSpace part = journal_of(run, 4);
    EXPECT_EQ(part.coverage(), 0.5);
    EXPECT_EQ(part.title().chosen_by, "local_search");
    const RecordedSpace again = parse_recorded_space(journal_text(part), "again.jsonl");
    EXPECT_EQ(again.coverage(), 0.5) << "a converted one says so as well";
    EXPECT_EQ(again.title().chosen_by, "local_search");

    run.members = 0;  // as in journals of older versions
    EXPECT_FALSE(journal_of(run, 4).whole());
    EXPECT_FALSE(journal_of(run, 4).coverage().has_value());
    run.strategy = "exhaustive";
    EXPECT_TRUE(journal_of(run, 4).whole());
    EXPECT_FALSE(journal_of(run, 4, true).whole()) << "the budget was spent before";
    EXPECT_TRUE(journal_of(run, 4, false, true).whole()) << "an earlier one was spent";
    run.only = "t=1";
    EXPECT_FALSE(journal_of(run, 4).whole());
}

TEST(RecordedSpace, AJournalRefusesWhatItsKeysCannotHold) {
    for (const char* written : {"\"1\"", "\"true\"", "\"a,b\"", "\"a=b\"", "\"1.5\""}) {
        const RecordedSpace space({.name = "odd"}, {{"word", {written}}}, {{0, 1.0, measurement(1.0, {})}});
        EXPECT_THROW(journal_text(space), Error) << written;
        EXPECT_EQ(parse_recorded_space(kernel_tuner_text(space, built_in_families()), "x").parameters()[0].written.front(), written);
    }
}

// Cut and changed texts are read or refused, never worse; the sanitizers watch.
TEST(RecordedSpace, DamagedTextsAreRefusedOrRead) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const RecordedSpace space = random_space(seed);
    int refused = 0;
    for (const std::string& text : {kernel_tuner_text(space, built_in_families()), t4_text(space), journal_text(space), space_file_text(space)})
        for (int i = 0; i < 200; ++i) {
            std::string damaged = text;
            for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
                damaged[random.index(damaged.size())] = "{}[],:\"\\0x \n-"[random.index(13)];
            if (random.below(3) == 0) damaged.resize(random.index(damaged.size()));
            if (!error_of(damaged).empty()) ++refused;
        }
    EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace hone::recorded_space_test
