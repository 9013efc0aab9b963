#include "tuner/replay/formats/gzip.hpp"

#include <gtest/gtest.h>

#include <random>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::gzip_test {
namespace {

constexpr std::int64_t plenty = 1 << 24;

std::string random_text(std::size_t size) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>(random() % 256);
    return text;
}

TEST(Gzip, WhatIsPackedUnpacksToTheSame) {
    for (const std::size_t size : {0U, 1U, 65535U, 65536U, 65537U, 300000U}) {
        const std::string text = random_text(size);
        EXPECT_EQ(gunzip(gzip(text), "test", plenty), text) << size << " bytes";
    }
    EXPECT_EQ(gzip("the same"), gzip("the same"));
}

TEST(Gzip, SeveralFilesInOneAreReadOneAfterAnother) {
    EXPECT_EQ(gunzip(gzip("one, ") + gzip("two"), "test", plenty), "one, two");
}

TEST(Gzip, BytesBehindTheEndAreNamed) {
    EXPECT_EQ(gunzip(gzip("one") + std::string(512, '\0'), "test", plenty), "one") << "zeros fill up a block";
    for (const std::string& rest : {std::string("x"), std::string("\0\0x", 3), std::string("{\"more\": 1}\n")}) try {
            gunzip(gzip("one") + rest, "some.gz", plenty);
            ADD_FAILURE() << rest;
        } catch (const Error& error) {
            EXPECT_EQ(std::string(error.what()).find(std::to_string(rest.size()) + " bytes follow the end"), std::string("some.gz: ").size())
                << error.what();
        }
}

TEST(Gzip, DamageIsFound) {
    const std::string packed = gzip(random_text(5000));
    for (std::size_t length = 0; length < packed.size(); length += 97)
        EXPECT_THROW(gunzip(packed.substr(0, length), "test", plenty), Error) << "cut after " << length;
    for (std::size_t place : {packed.size() / 2, packed.size() - 8, packed.size() - 1}) {
        std::string damaged = packed;
        damaged[place] = static_cast<char>(damaged[place] ^ 1);
        EXPECT_THROW(gunzip(damaged, "test", plenty), Error) << "at " << place;
    }
}

TEST(Gzip, ATextThatGrowsTooLongIsRefused) {
    const std::string packed = gzip(std::string(1 << 20, 'a'));
    EXPECT_EQ(gunzip(packed, "test", 1 << 20).size(), 1U << 20);
    EXPECT_THROW(gunzip(packed, "test", (1 << 20) - 1), Error);
}

TEST(Gzip, FilesAreToldByTheirContents) {
    const test::TemporaryFolder folder;
    replace_file(folder.path() / "plain.gz", "plain");
    replace_file(folder.path() / "packed.json", gzip("packed"));
    EXPECT_EQ(read_packed_file(folder.path() / "plain.gz", plenty), "plain");
    EXPECT_EQ(read_packed_file(folder.path() / "packed.json", plenty), "packed");
    EXPECT_THROW(read_packed_file(folder.path() / "absent", plenty), Error);
}

}  // namespace
}  // namespace hone::gzip_test
