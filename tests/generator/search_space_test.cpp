#include "generator/search_space.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "foundation/error.hpp"
#include "generator/value_lists.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::search_space_test {
namespace {

using ::testing::HasSubstr;

// 3 x 4 x 2 = 24 assignments; at most 256 threads leaves out 64 x 8 twice.
SearchSpace sample_space() {
    const Constraint threads{"threads", [](const Config& config) -> std::optional<std::string> {
                                 const std::int64_t count = config.integer("block_x") * config.integer("block_y");
                                 if (count <= 256) return std::nullopt;
                                 return std::to_string(count) + " threads, the device has 256";
                             }};
    return SearchSpace({{"block_x", "threads along x", numbers({16, 32, 64})},
                        {"block_y", "threads along y", numbers({1, 2, 4, 8})},
                        {"staging", "how planes are held", words({"registers", "caches"})}},
                       {threads}, {{"block_x", std::int64_t{32}}, {"block_y", std::int64_t{4}}, {"staging", std::string("caches")}});
}

TEST(SearchSpace, IndexAndConfigurationAreInverse) {
    const SearchSpace space = sample_space();
    ASSERT_EQ(space.product(), 24);
    for (std::int64_t index = 0; index < space.product(); ++index) EXPECT_EQ(space.index_of(space.at(index)), index);
    EXPECT_EQ(space.at(0).key(), "block_x=16,block_y=1,staging=registers");
    EXPECT_EQ(space.at(1).key(), "block_x=16,block_y=1,staging=caches") << "the last tunable runs fastest";
    EXPECT_EQ(space.at(23).key(), "block_x=64,block_y=8,staging=caches");
}

TEST(SearchSpace, MembersAreExactlyWhatTheConstraintsAllow) {
    const SearchSpace space = sample_space();
    const Members members = space.members();
    EXPECT_EQ(members.size(), 22U);
    EXPECT_TRUE(std::is_sorted(members.begin(), members.end()));
    for (std::int64_t index = 0; index < space.product(); ++index) {
        const Config config = space.at(index);
        const bool fits = config.integer("block_x") * config.integer("block_y") <= 256;
        EXPECT_EQ(std::binary_search(members.begin(), members.end(), index), fits) << config.key();
        EXPECT_EQ(space.check(config).has_value(), !fits) << config.key();
    }
}

// A form with rules that look at some of the values, in any order, or at all of them at once. Zeros
// keep them all.
FormSpace drawn_form(test::FreshRandom& random, std::string name) {
    FormSpace form{.name = std::move(name)};
    for (const char* tunable : {"a", "b", "c", "d", "e"}) {
        std::vector<std::int64_t> values;
        for (std::int64_t value = 0; value < 1 + static_cast<std::int64_t>(random() % 4); ++value) values.push_back(value);
        form.tunables.push_back({tunable, "", numbers(values)});
        form.safe.push_back({tunable, std::int64_t{0}});
    }
    for (int rule = 0; rule < 3; ++rule) {
        const std::string first = form.tunables[random() % 5].name, second = form.tunables[random() % 5].name;
        const std::int64_t most = random() % 5;
        form.constraints.push_back({fmt::format("rule {}", rule),
                                    [=](const Config& config) -> std::optional<std::string> {
                                        if (config.integer(first) + config.integer(second) <= most) return std::nullopt;
                                        return fmt::format("{} + {} > {}", first, second, most);
                                    },
                                    rule == 0 ? std::vector<std::string>{} : std::vector<std::string>{second, first}});
    }
    form.constraints.push_back({"whole", [](const Config& config) -> std::optional<std::string> {
                                    if (!config.key().ends_with("a=0,b=0,c=1,d=0,e=0")) return std::nullopt;
                                    return "this one";
                                }});
    return form;
}

// Whatever a walk skips, each assignment has the verdict it would have if it were asked about
// alone, in the first form and in later ones.
TEST(SearchSpace, AWalkFindsWhatAskingForEachAssignmentDoes) {
    test::FreshRandom random;
    for (int round = 0; round < 20; ++round) {
        std::vector<FormSpace> forms;
        if (const auto count = random() % 4; count == 0)
            forms.push_back(drawn_form(random, ""));
        else
            for (std::uint64_t form = 0; form < count; ++form) forms.push_back(drawn_form(random, fmt::format("form_{}", form)));
        const SearchSpace space(forms, forms.front().name);
        const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(space.product()));
        std::int64_t next = first;
        space.walk(first, space.product(), [&](const SearchSpace::Run& run) {
            EXPECT_EQ(run.first, next);
            next += run.count;
            EXPECT_EQ(run.config, space.at(run.first));
            if (!run.rejection) {
                EXPECT_EQ(run.count, 1);
            }
            for (std::int64_t index = run.first; index < next; ++index) {
                const auto rejection = space.check(space.at(index));
                ASSERT_EQ(rejection.has_value(), run.rejection.has_value()) << space.at(index).key();
                if (!rejection) continue;
                const auto& constraints = space.form_of(space.at(index))->constraints;
                const auto broken = [&](const Constraint& rule) { return rule.name == run.rejection->constraint; };
                const auto rule = std::find_if(constraints.begin(), constraints.end(), broken);
                EXPECT_EQ(rule->violation(space.at(index)), run.rejection->reason) << space.at(index).key();
            }
        });
        EXPECT_EQ(next, space.product());
        std::vector<std::int64_t> members;
        for (std::int64_t index = 0; index < space.product(); ++index)
            if (!space.check(space.at(index))) members.push_back(index);
        EXPECT_EQ(space.members(), Members(members));
    }
}

// Four values of the first tunable, of which one is left: what is rejected is asked about once for
// each value, not for each of 1000 assignments.
TEST(SearchSpace, AWalkAsksOnceForAllThatARuleDoesNotTellApart) {
    std::int64_t asked = 0;
    const Constraint rule{"first",
                          [&](const Config& config) -> std::optional<std::string> {
                              ++asked;
                              return config.integer("first") == 0 ? std::nullopt : std::optional<std::string>("too many");
                          },
                          {"first"}};
    std::vector<std::int64_t> many(1000);
    std::iota(many.begin(), many.end(), 0);
    const SearchSpace space({{"first", "", numbers({0, 1, 2, 3})}, {"second", "", numbers(many)}}, {rule},
                            {{"first", std::int64_t{0}}, {"second", std::int64_t{0}}});
    asked = 0;
    EXPECT_EQ(space.members().size(), 1000U);
    EXPECT_EQ(asked, 1003);
}

// Pieces of 65536 assignments, before each of which `stop` is asked.
TEST(SearchSpace, MembersStopWhenTheyAreTold) {
    EXPECT_EQ(sample_space().members([] { return true; }).size(), 0U);
    std::vector<std::int64_t> many(400);
    std::iota(many.begin(), many.end(), 0);
    const SearchSpace space({{"first", "", numbers(many)}, {"second", "", numbers(many)}}, {}, {{"first", 0}, {"second", 0}});
    std::atomic<int> asked = 0;
    EXPECT_LT(space.members([&] { return ++asked > 1; }).size(), 160000U) << "threads ask as they go";
}

TEST(SearchSpace, ARejectionHasTheRuleAndTheReason) {
    const auto rejection = sample_space().check(sample_space().parse("block_x=64,block_y=8"));
    ASSERT_TRUE(rejection.has_value());
    EXPECT_EQ(rejection->constraint, "threads");
    EXPECT_THAT(rejection->reason, HasSubstr("512 threads"));
}

TEST(SearchSpace, AConfigurationFromBeforeATunableMeansItsFormerValue) {
    const SearchSpace old = sample_space();
    std::vector<Tunable> tunables = old.tunables();
    tunables.insert(tunables.begin() + 1, {"unroll", "columns per trip", numbers({1, 2, 4}), Value(std::int64_t{2})});
    tunables.push_back({"binding", "of threads", words({"none", "close"}), Value("none")});
    const SearchSpace space(tunables, old.forms().front().constraints,
                            {{"block_x", 32}, {"unroll", 1}, {"block_y", 4}, {"staging", "caches"}, {"binding", "close"}});
    for (const std::int64_t index : old.members()) {
        const Config config = old.at(index);
        EXPECT_EQ(space.check(config).value_or(Rejection{}).constraint, "complete") << "as it stands it is no member";
        const Config completed = space.completed(config);
        EXPECT_FALSE(space.check(completed)) << completed.key();
        EXPECT_EQ(completed.integer("unroll"), 2);
        EXPECT_EQ(completed.word("binding"), "none");
        EXPECT_EQ(completed.word("staging"), config.word("staging"));
    }
    const Config whole = space.safe();
    EXPECT_EQ(space.completed(whole), whole);
    // Nothing is made up for a tunable that was always there, nor is what the space does not know
    // left out.
    const Config lacking({{"block_x", 32}, {"block_y", 4}});
    EXPECT_TRUE(space.check(space.completed(lacking)));
    const Config foreign({{"block_x", 32}, {"colour", 3}, {"block_y", 4}, {"staging", "caches"}});
    EXPECT_EQ(space.completed(foreign), foreign);
}

// A member of the space as it was, with one value more: in any place, of a foreign tunable or of an
// own one again.
TEST(SearchSpace, AConfigurationWithASurplusValueStaysAsItIs) {
    const SearchSpace old = sample_space();
    std::vector<Tunable> tunables = old.tunables();
    tunables.push_back({"binding", "of threads", words({"none", "close"}), Value("none")});
    std::vector<Assignment> safe = old.safe().assignments();
    safe.push_back({"binding", "close"});
    const SearchSpace space(tunables, old.forms().front().constraints, safe);
    const std::vector<Assignment> member = old.safe().assignments();
    ASSERT_FALSE(space.check(space.completed(Config(member))));
    for (const Assignment& surplus : {Assignment{"colour", 3}, member.front(), member.back(), Assignment{"", 0}})
        for (std::size_t place = 0; place <= member.size(); ++place) {
            std::vector<Assignment> more = member;
            more.insert(more.begin() + static_cast<std::ptrdiff_t>(place), surplus);
            const Config config(more);
            EXPECT_EQ(space.completed(config), config);
            EXPECT_TRUE(space.check(space.completed(config))) << config.key();
        }
}

TEST(SearchSpace, WhatComesFromAFileIsCheckedValueByValue) {
    const SearchSpace space = sample_space();
    const Assignment x{"block_x", std::int64_t{32}};
    const Assignment y{"block_y", std::int64_t{4}};
    const Assignment staging{"staging", std::string("caches")};
    EXPECT_FALSE(space.check(Config({x, y, staging})));
    EXPECT_TRUE(space.check(Config()));
    EXPECT_TRUE(space.check(Config({x, y})));
    EXPECT_TRUE(space.check(Config({x, y, staging, staging})));
    EXPECT_TRUE(space.check(Config({y, x, staging})));
    EXPECT_TRUE(space.check(Config({{"block_x", std::int64_t{33}}, y, staging})));
    EXPECT_TRUE(space.check(Config({{"block_x", std::string("32")}, y, staging})));
    EXPECT_TRUE(space.check(Config({x, y, {"staging", std::string("disk")}})));
}

TEST(SearchSpace, ParsingFillsWithTheSafeConfiguration) {
    const SearchSpace space = sample_space();
    EXPECT_EQ(space.parse(""), space.safe());
    EXPECT_EQ(space.parse("block_y=2").key(), "block_x=32,block_y=2,staging=caches");
    EXPECT_EQ(space.parse("staging=registers,block_x=16").key(), "block_x=16,block_y=4,staging=registers");
    for (const auto index : space.members()) EXPECT_EQ(space.parse(space.at(index).key()), space.at(index));
}

TEST(SearchSpace, ParsingErrorsNameTheNearest) {
    const SearchSpace space = sample_space();
    const auto error_of = [&](const char* text) -> std::string {
        try {
            return "accepted " + space.parse(text).key();
        } catch (const Error& error) {
            return error.what();
        }
    };
    EXPECT_THAT(error_of("blok_x=32"), HasSubstr("did you mean block_x?"));
    EXPECT_THAT(error_of("staging=register"), HasSubstr("did you mean registers?"));
    EXPECT_THAT(error_of("block_x=33"), HasSubstr("use one of 16, 32, 64"));
    EXPECT_THAT(error_of("block_x"), HasSubstr("has no value"));
    EXPECT_THAT(error_of("block_x=16,block_x=32"), HasSubstr("block_x is given twice"));
    EXPECT_THAT(error_of(",block_x=16"), HasSubstr("has no value"));
}

TEST(SearchSpace, ASafeConfigurationOutsideTheSpaceIsAnError) {
    const Tunable unroll{"unroll", "", numbers({1, 2})};
    EXPECT_THROW(SearchSpace({unroll}, {}, {{"unroll", std::int64_t{3}}}), Error);
    EXPECT_THROW(SearchSpace({unroll}, {}, {}), Error);
    const Constraint never{"never", [](const Config&) { return std::optional<std::string>("no"); }};
    EXPECT_THROW(SearchSpace({unroll}, {never}, {{"unroll", std::int64_t{1}}}), Error);
    EXPECT_NO_THROW(SearchSpace({unroll}, {}, {{"unroll", std::int64_t{1}}}));
}

// Two forms that share block_x and have one tunable each: 3 x 2 and 2 x 3 assignments, of which 64
// x 4 is rejected.
SearchSpace space_of_forms() {
    const FormSpace plain{.name = "plain",
                          .help = "loads",
                          .tunables = {{"block_x", "threads along x", numbers({16, 32, 64})}, {"unroll", "columns per trip", numbers({1, 4})}},
                          .constraints = {{"threads",
                                           [](const Config& config) -> std::optional<std::string> {
                                               if (config.integer("block_x") * config.integer("unroll") < 256) return std::nullopt;
                                               return "too many";
                                           }}},
                          .safe = {{"block_x", 32}, {"unroll", 1}},
                          .former = [](const Config& config) { return config.has("staging", "caches"); }};
    Tunable stages{"stages", "planes under way", numbers({2, 3, 4})};
    stages.former_name = "depth";
    const FormSpace staged{.name = "staged",
                           .help = "copies",
                           .tunables = {{"block_x", "threads along x", numbers({32, 128})}, stages},
                           .safe = {{"block_x", 32}, {"stages", 2}},
                           .former = [](const Config& config) { return config.has("staging", "shared"); }};
    return SearchSpace({plain, staged}, "plain");
}

TEST(SearchSpaceOfForms, IsTheUnionOfItsForms) {
    const SearchSpace space = space_of_forms();
    EXPECT_EQ(space.product(), 12);
    EXPECT_EQ(space.at(0).key(), "form=plain,block_x=16,unroll=1");
    EXPECT_EQ(space.at(6).key(), "form=staged,block_x=32,stages=2");
    EXPECT_EQ(space.members().size(), 11U);
    for (std::int64_t index = 0; index < space.product(); ++index) {
        const Config config = space.at(index);
        EXPECT_EQ(space.index_of(config), index);
        EXPECT_EQ(space.index_of(space.levels(index)), index);
        EXPECT_EQ(space.check(config).has_value(), config.key() == "form=plain,block_x=64,unroll=4") << config.key();
        EXPECT_EQ(space.parse(config.key()), config);
    }
    ASSERT_EQ(space.tunables().size(), 4U);
    EXPECT_EQ(space.tunables()[0].values, words({"plain", "staged"}));
    EXPECT_EQ(space.tunables()[1].values, numbers({16, 32, 64, 128})) << "the values of both forms, each once";
    EXPECT_EQ(space.levels(6), (std::vector<std::size_t>{1, 1, 2, 0})) << "the staged form has no unroll";
    EXPECT_FALSE(space.index_of({1, 0, 2, 0})) << "the staged form has no block_x=16";
    EXPECT_FALSE(space.index_of({0, 1, 0, 0})) << "the plain form has no stages";
}

TEST(SearchSpaceOfForms, AWalkVisitsOneFormAfterTheOther) {
    const SearchSpace space = space_of_forms();
    for (std::int64_t first = 0; first < space.product(); ++first) {
        std::int64_t next = first;
        space.walk(first, space.product(), [&](const SearchSpace::Run& run) {
            EXPECT_EQ(run.first, next);
            EXPECT_EQ(run.config, space.at(run.first));
            EXPECT_EQ(run.rejection.has_value(), space.check(run.config).has_value());
            next += run.count;
        });
        EXPECT_EQ(next, space.product());
    }
}

// Rules of a later form are asked for its own pieces: here twice two, after five assignments of the
// first form.
TEST(SearchSpaceOfForms, AWalkSkipsNoMemberOfALaterForm) {
    const FormSpace first{.name = "first", .tunables = {{"a", "", numbers({0, 1, 2, 3, 4})}}, .safe = {{"a", 0}}};
    const Constraint even{"even",
                          [](const Config& config) -> std::optional<std::string> {
                              return config.integer("b") % 2 == 0 ? std::nullopt : std::optional<std::string>("odd");
                          },
                          {"b"}};
    const FormSpace second{.name = "second",
                           .tunables = {{"b", "", numbers({0, 1, 2})}, {"c", "", numbers({0, 1})}},
                           .constraints = {even},
                           .safe = {{"b", 0}, {"c", 0}}};
    EXPECT_EQ(SearchSpace({first, second}, "first").members(), Members({0, 1, 2, 3, 4, 5, 6, 9, 10}));
}

TEST(SearchSpaceOfForms, RefusesWhatAFormDoesNotHave) {
    const SearchSpace space = space_of_forms();
    EXPECT_TRUE(space.check(Config({{"block_x", 32}, {"unroll", 1}}))) << "no form";
    EXPECT_TRUE(space.check(Config({{"form", "odd"}, {"block_x", 32}, {"unroll", 1}})));
    EXPECT_TRUE(space.check(Config({{"form", "staged"}, {"block_x", 32}, {"unroll", 1}})));
    EXPECT_TRUE(space.check(Config({{"form", "plain"}, {"block_x", 32}, {"unroll", 1}, {"stages", 2}})));
    EXPECT_TRUE(space.check(Config({{"block_x", 32}, {"form", "plain"}, {"unroll", 1}})));
    EXPECT_EQ(space.parse("form=staged").key(), "form=staged,block_x=32,stages=2") << "the rest is the form's own safe configuration";
    EXPECT_EQ(space.parse("unroll=4").key(), "form=plain,block_x=32,unroll=4");
    for (const auto& [text, reason] : {std::pair{"stages=2", "name another form"}, std::pair{"form=staged,unroll=1", "has no tunable"},
                                       std::pair{"form=stagd", "did you mean staged?"}}) {
        try {
            ADD_FAILURE() << space.parse(text).key();
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(reason));
        }
    }
}

TEST(SearchSpaceOfForms, TranslatesWhatHadNoForm) {
    const SearchSpace space = space_of_forms();
    const auto completed = [&](std::vector<Assignment> assignments) { return space.completed(Config(std::move(assignments))).key(); };
    EXPECT_EQ(completed({{"staging", "caches"}, {"block_x", 16}, {"unroll", 4}, {"depth", 2}}), "form=plain,block_x=16,unroll=4");
    EXPECT_EQ(completed({{"staging", "shared"}, {"block_x", 128}, {"unroll", 1}, {"depth", 3}}), "form=staged,block_x=128,stages=3");
    EXPECT_EQ(completed({{"staging", "odd"}, {"block_x", 16}}), "staging=odd,block_x=16") << "it was of no form";
    EXPECT_EQ(completed({{"form", "staged"}, {"block_x", 128}, {"stages", 3}}), "form=staged,block_x=128,stages=3");
    EXPECT_EQ(space.parse("staging=shared,block_x=128,unroll=1,depth=3").key(), "form=staged,block_x=128,stages=3") << "old commands work";
}

// What names one of today's forms stays of that form, though it has a value by which configurations
// without a form are known to have been of another.
TEST(SearchSpaceOfForms, AFormThatIsNamedStays) {
    const SearchSpace space = space_of_forms();
    const Config of_two({{"form", "staged"}, {"staging", "caches"}, {"block_x", 32}, {"unroll", 1}, {"depth", 3}});
    EXPECT_EQ(space.completed(of_two), of_two);
    EXPECT_TRUE(space.check(space.completed(of_two)));
    const Config of_one({{"form", "staged"}, {"staging", "shared"}, {"block_x", 128}, {"unroll", 1}, {"depth", 3}});
    EXPECT_EQ(space.completed(of_one).key(), "form=staged,block_x=128,stages=3");
}

// A tunable that got another name when there were forms already: records, commands and restrictions
// may use both.
TEST(SearchSpaceOfForms, AFormerNameIsAsGoodAsTodays) {
    const SearchSpace space = space_of_forms();
    EXPECT_EQ(space.completed(Config({{"form", "staged"}, {"block_x", 128}, {"depth", 3}})).key(), "form=staged,block_x=128,stages=3");
    EXPECT_EQ(space.parse("form=staged,depth=4").key(), "form=staged,block_x=32,stages=4");
    EXPECT_THROW(space.parse("form=plain,depth=4"), Error) << "another form has no such tunable";
    EXPECT_THROW(space.parse("form=staged,depth=5"), Error) << "values are today's";
}

// What is translated is of the time before there were forms. Of a configuration with a form nothing
// is left out.
TEST(SearchSpaceOfForms, ASurplusValueIsLeftOutOfFormerConfigurationsOnly) {
    const SearchSpace space = space_of_forms();
    const Config former({{"staging", "shared"}, {"colour", 3}, {"block_x", 128}, {"depth", 3}, {"layout", "packed"}});
    EXPECT_EQ(space.completed(former).key(), "form=staged,block_x=128,stages=3");
    for (const Config& config : {Config({{"form", "staged"}, {"block_x", 128}, {"stages", 3}, {"colour", 3}}),
                                 Config({{"form", "staged"}, {"colour", 3}, {"block_x", 128}, {"stages", 3}}),
                                 Config({{"colour", 3}, {"form", "staged"}, {"block_x", 128}, {"stages", 3}}),
                                 Config({{"form", "staged"}, {"form", "staged"}, {"block_x", 128}, {"stages", 3}})}) {
        EXPECT_EQ(space.completed(config), config);
        EXPECT_TRUE(space.check(space.completed(config))) << config.key();
    }
}

TEST(SearchSpaceOfForms, ATunableMeansOneThing) {
    const auto with = [](const Tunable& other) {
        const FormSpace a{.name = "a", .tunables = {{"block_x", "threads along x", numbers({16})}}, .safe = {{"block_x", 16}}};
        const FormSpace b{.name = "b", .tunables = {other}, .safe = {{"block_x", other.values.front()}}};
        return SearchSpace({a, b}, "a");
    };
    EXPECT_NO_THROW(with({"block_x", "threads along x", numbers({32})}));
    EXPECT_THROW(with({"block_x", "words in a vector", numbers({32})}), Error);
    EXPECT_THROW(with({"block_x", "threads along x", words({"all"})}), Error);
    EXPECT_THROW(SearchSpace({FormSpace{.name = "a"}, FormSpace{.name = "a"}}, "a"), Error);
    EXPECT_THROW(SearchSpace({FormSpace{.name = "a"}}, "b"), Error);
}

TEST(SearchSpace, AListOfMembersIsASpaceOfItsOwn) {
    const auto members = std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{2, 5, 11, 23});
    const SearchSpace space = SearchSpace::of_members(sample_space().tunables(), members, 11);
    EXPECT_EQ(space.members(), *members);
    EXPECT_EQ(space.product(), 24);
    EXPECT_EQ(space.index_of(space.safe()), 11);
    for (std::int64_t index = 0; index < space.product(); ++index)
        EXPECT_EQ(space.check(space.at(index)).has_value(), !std::binary_search(members->begin(), members->end(), index)) << index;
    EXPECT_TRUE(space.check(Config({{"block_x", std::int64_t{48}}})).has_value());
    EXPECT_THROW(SearchSpace::of_members(sample_space().tunables(), members, 12), Error);
}

}  // namespace
}  // namespace hone::search_space_test
