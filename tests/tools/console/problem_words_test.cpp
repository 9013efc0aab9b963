#include "tools/console/problem_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"

namespace hone::tools::problem_words_test {
namespace {

using testing::HasSubstr;

const Families& families() {
    static const Families two = [] {
        Family first;
        first.name = "heat_3d";
        first.example = "heat_3d order=2 precision=f32 n=10";
        first.parameters = {
            {"order", "", {}, 1, 10, false, ""}, {"precision", "", {"f32", "f64"}, 0, 0, false, ""}, {"n", "", {}, 1, 1000, true, ""}};
        Family second = first;
        second.name = "wave_2d";
        return Families({first, second});
    }();
    return two;
}

std::vector<std::string> keys(const std::vector<std::string>& words) {
    std::vector<std::string> keys;
    for (const auto& problem : problems_of(words, families())) keys.push_back(problem.key());
    return keys;
}

template <typename Function>
std::string error_of(Function function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ProblemWords, MultipliesListsAndRanges) {
    EXPECT_THAT(keys({"heat_3d", "order=1..2", "precision=f32,f64", "n=5"}),
                testing::ElementsAre("heat_3d order=1 precision=f32 n=5", "heat_3d order=1 precision=f64 n=5", "heat_3d order=2 precision=f32 n=5",
                                     "heat_3d order=2 precision=f64 n=5"));
}

TEST(ProblemWords, StartsAProblemAtEachFamily) {
    EXPECT_THAT(keys({"heat_3d", "order=1", "precision=f32", "n=5", "wave_2d", "order=2", "precision=f64", "n=6"}),
                testing::ElementsAre("heat_3d order=1 precision=f32 n=5", "wave_2d order=2 precision=f64 n=6"));
}

TEST(ProblemWords, TakesAQuotedProblemAsWell) {
    EXPECT_EQ(problem_of({"heat_3d order=1  precision=f32", "n=5"}, families()).key(), "heat_3d order=1 precision=f32 n=5");
}

TEST(ProblemWords, NamesTheNearest) {
    EXPECT_THAT(error_of([] { keys({"heat_3"}); }), HasSubstr("did you mean heat_3d?"));
    EXPECT_THAT(error_of([] { keys({"heat_3d", "order=1", "precision=f32", "n=5", "wave_3d", "order=1"}); }), HasSubstr("did you mean wave_2d?"));
    EXPECT_THAT(error_of([] { keys({"heat_3d", "ordr=1", "precision=f32", "n=5"}); }), HasSubstr("did you mean order?"));
    EXPECT_THAT(error_of([] { keys({"heat_3d", "order=1", "precision=f3", "n=5"}); }), HasSubstr("did you mean f32?"));
    EXPECT_THAT(error_of([] { keys({}); }), HasSubstr("heat_3d, wave_2d"));
    EXPECT_THAT(error_of([] { problem_of({"heat_3d", "order=1..2", "precision=f32", "n=5"}, families()); }), HasSubstr("2 problems"));
}

TEST(ProblemWords, ProblemsBeyondTheDevicesMemoryAreImpossible) {
    Device device;
    device.fingerprint.name = "a small one";
    device.limits = cpu_limits();
    device.memory_bytes = 4 << 20;
    const Families& all = built_in_families();
    const auto problems = all.parse_problems("gauss_seidel_27 stencil=constant precision=f32 nx=128,8 ny=64,8 nz=128,8");
    const std::string error = error_of([&] { require_possible(problems, all, device); });
    EXPECT_THAT(error, HasSubstr("1 of 8 cannot be computed here"));
    EXPECT_THAT(error, HasSubstr("nx=128 ny=64 nz=128"));
    EXPECT_THAT(error, HasSubstr("a small one has 4.00 MiB"));
    EXPECT_EQ(error_of([&] { require_possible({problems.back()}, all, device); }), "");
    EXPECT_THAT(error_of([&] { require_possible({problems.front()}, all, device); }), testing::StartsWith("problem \"gauss_seidel_27"));
}

TEST(ProblemWords, LeavesDefaultsOutOfShortKeys) {
    Family family = *families().begin();
    family.parameters.push_back({"pitch", "", {}, 0, 100, true, "0"});
    const Families with_default({family});
    EXPECT_EQ(short_key(problem_of({"heat_3d", "order=1", "precision=f32", "n=5"}, with_default), with_default), "heat_3d order=1 precision=f32 n=5");
    const Problem padded = problem_of({"heat_3d", "order=1", "precision=f32", "n=5", "pitch=8"}, with_default);
    EXPECT_EQ(short_key(padded, with_default), padded.key());
    EXPECT_EQ(short_key(padded, Families({})), padded.key());
}

TEST(ProblemFilter, ChoosesByFamilyListsAndRanges) {
    const auto problems =
        problems_of({"heat_3d", "order=1..4", "precision=f32,f64", "n=5", "wave_2d", "order=1", "precision=f32", "n=5"}, families());
    const auto count = [&](const std::vector<std::string>& words) {
        const ProblemFilter filter(words, families());
        return std::count_if(problems.begin(), problems.end(), [&](const Problem& problem) { return filter.matches(problem); });
    };
    EXPECT_EQ(count({}), 9);
    EXPECT_EQ(count({"wave_2d"}), 1);
    EXPECT_EQ(count({"order=1"}), 3);
    EXPECT_EQ(count({"heat_3d", "order=2..3,4", "precision=f64"}), 3);
    EXPECT_EQ(count({"heat_3d", "n=6"}), 0);
    EXPECT_EQ(count({"heat_3d", "order=2", "wave_2d"}), 3) << "either";
    EXPECT_EQ(count({"wave_2d", "order=2", "heat_3d", "order=1"}), 2);
}

TEST(ProblemFilter, NamesTheNearest) {
    const auto error = [](const std::vector<std::string>& words) { return error_of([&] { ProblemFilter(words, families()); }); };
    EXPECT_THAT(error({"haet_3d"}), HasSubstr("did you mean heat_3d?"));
    EXPECT_THAT(error({"heat_3d", "ordr=1"}), HasSubstr("did you mean order?"));
    EXPECT_THAT(error({"precision=f33"}), HasSubstr("did you mean f32?"));
    EXPECT_THAT(error({"heat_3d", "order"}), HasSubstr("neither a family nor key=value"));
    EXPECT_THAT(error({"order=1", "heat_3d"}), HasSubstr("write the family first"));
}

TEST(ProblemFilter, KnowsFamiliesOfRecordsByTheirRecords) {
    std::vector<Record> records(3);
    records[0].problem = Problem("axpy", {{"kind", "plain"}, {"n", std::int64_t{100}}}, {});
    records[1].problem = Problem("axpy", {{"kind", "fused"}, {"n", std::int64_t{200}}}, {});
    records[2].problem = problem_of({"wave_2d", "order=1", "precision=f32", "n=5"}, families());
    const Families all = with_families_of(records, families());
    EXPECT_EQ(std::distance(all.begin(), all.end()), std::distance(families().begin(), families().end()) + 1);
    const auto count = [&](const std::vector<std::string>& words) {
        const ProblemFilter filter(words, all);
        return std::count_if(records.begin(), records.end(), [&](const Record& record) { return filter.matches(record.problem); });
    };
    EXPECT_EQ(count({}), 3);
    EXPECT_EQ(count({"axpy"}), 2);
    EXPECT_EQ(count({"axpy", "kind=fused"}), 1);
    EXPECT_EQ(count({"n=5..150"}), 2) << "of both kinds of families";
    const auto error = [&](const std::vector<std::string>& words) { return error_of([&] { ProblemFilter(words, all); }); };
    EXPECT_THAT(error({"axpi"}), HasSubstr("did you mean axpy?"));
    EXPECT_THAT(error({"axpy", "kind=fusd"}), HasSubstr("did you mean fused?"));
    EXPECT_THAT(error({"axpy", "order=3"}), HasSubstr("the parameters are kind, n"));
}

}  // namespace
}  // namespace hone::tools::problem_words_test
