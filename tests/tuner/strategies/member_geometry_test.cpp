#include "tuner/strategies/member_geometry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "generator/value_lists.hpp"
#include "tests/tuner/synthetic.hpp"

namespace hone::member_geometry_test {
namespace {

std::size_t differences(const MemberGeometry& geometry, std::size_t a, std::size_t b) {
    std::size_t count = 0;
    for (std::size_t d = 0; d < geometry.dimensions(); ++d) count += geometry.coordinate(a, d) != geometry.coordinate(b, d) ? 1 : 0;
    return count;
}

TEST(MemberGeometry, NeighboursAreAllMembersThatDifferInOneValue) {
    const std::uint64_t seed = std::random_device{}();
    const test::Landscape landscape(seed, 200);
    const MemberGeometry geometry(landscape.space(), landscape.space().members());
    for (std::size_t a = 0; a < geometry.size(); ++a) {
        std::vector<std::size_t> expected;
        for (std::size_t b = 0; b < geometry.size(); ++b)
            if (differences(geometry, a, b) == 1) expected.push_back(b);
        auto found = geometry.neighbours(a);
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, expected) << "seed " << seed;
    }
}

TEST(MemberGeometry, FindsMembersByIndexAndByCoordinates) {
    const std::uint64_t seed = std::random_device{}();
    const test::Landscape landscape(seed, 200);
    const SearchSpace& space = landscape.space();
    const MemberGeometry geometry(space, space.members());
    std::size_t members = 0;
    for (std::int64_t index = 0; index < space.product(); ++index) {
        const Config config = space.at(index);
        const std::size_t found = geometry.find(index);
        ASSERT_EQ(found == geometry.size(), space.check(config).has_value()) << "seed " << seed;
        if (found == geometry.size()) continue;
        ++members;
        std::vector<std::size_t> coordinates;
        for (std::size_t d = 0; d < geometry.dimensions(); ++d) {
            coordinates.push_back(geometry.coordinate(found, d));
            EXPECT_EQ(space.tunables()[d].values[coordinates.back()], config.assignments()[d].value);
        }
        EXPECT_EQ(geometry.find(coordinates), found);
        EXPECT_EQ(geometry.index(found), index);
    }
    EXPECT_EQ(members, geometry.size());
}

TEST(MemberGeometry, AltersNoMoreValuesThanAsked) {
    const std::uint64_t seed = std::random_device{}();
    const test::Landscape landscape(seed, 200);
    const MemberGeometry geometry(landscape.space(), landscape.space().members());
    Random random(seed);
    bool met_two = false;
    for (int i = 0; i < 2000; ++i) {
        const std::size_t member = random.index(geometry.size());
        const std::size_t altered = geometry.altered(member, 2, random);
        if (altered == geometry.size()) continue;
        EXPECT_LE(differences(geometry, member, altered), 2U) << "seed " << seed;
        met_two |= differences(geometry, member, altered) == 2;
    }
    EXPECT_TRUE(met_two);
}

// Two forms with block_x in common, and a member each that the other form's neighbours lead to.
TEST(MemberGeometry, AnotherFormIsANeighbourThatKeepsWhatBothHave) {
    const FormSpace plain{.name = "plain",
                          .tunables = {{"block_x", "", numbers({16, 32, 64})}, {"unroll", "", numbers({1, 4})}},
                          .safe = {{"block_x", 32}, {"unroll", 1}}};
    const FormSpace staged{.name = "staged",
                           .tunables = {{"block_x", "", numbers({32, 64})}, {"stages", "", numbers({2, 3})}},
                           .safe = {{"block_x", 32}, {"stages", 2}}};
    const SearchSpace space({plain, staged}, "plain");
    const MemberGeometry geometry(space, space.members());
    ASSERT_EQ(geometry.dimensions(), 4U);
    EXPECT_EQ(geometry.levels(1), geometry.values(1)) << "both forms have block_x";
    EXPECT_EQ(geometry.levels(2), geometry.values(2) + 1) << "the staged form has no unroll";
    const auto neighbours = [&](const char* text) {
        std::vector<std::string> keys;
        for (const std::size_t one : geometry.neighbours(geometry.find(space.index_of(space.parse(text)))))
            keys.push_back(space.at(geometry.index(one)).key());
        return keys;
    };
    EXPECT_THAT(neighbours("form=plain,block_x=64,unroll=4"),
                ::testing::UnorderedElementsAre("form=staged,block_x=64,stages=2", "form=plain,block_x=16,unroll=4", "form=plain,block_x=32,unroll=4",
                                                "form=plain,block_x=64,unroll=1"));
    EXPECT_THAT(neighbours("form=plain,block_x=16,unroll=1"),
                ::testing::UnorderedElementsAre("form=plain,block_x=32,unroll=1", "form=plain,block_x=64,unroll=1", "form=plain,block_x=16,unroll=4"))
        << "the staged form has no block_x=16";
    Random random(7);
    for (std::size_t draw = 0; draw < 200; ++draw) {
        const std::size_t altered = geometry.altered(draw % geometry.size(), 2, random);
        if (altered != geometry.size()) {
            EXPECT_FALSE(space.check(space.at(geometry.index(altered))));
        }
    }
}

}  // namespace
}  // namespace hone::member_geometry_test
