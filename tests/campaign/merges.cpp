// Many processes merge into one database at the same time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/campaign/campaign.hpp"

namespace hone::test {
namespace {

TEST(CampaignMerges, OfManyWritersLoseNothing) {
    constexpr std::size_t writers = 8;
    const OwnFolders own;
    const auto database = own.folder.path() / "db";
    MadeRecords made(own.folder.path() / "from");
    std::vector<std::string> acknowledged;
    std::size_t merges = 0;
    std::size_t refused = 0;
    while (merges < times(80)) {
        std::vector<MadeRecords::Batch> batches;
        std::vector<std::unique_ptr<HoneProcess>> processes;
        for (std::size_t i = 0; i < writers; ++i) batches.push_back(made.make(3));
        for (const auto& batch : batches)
            processes.push_back(std::make_unique<HoneProcess>(std::vector<std::string>{"db", "merge", database.string(), batch.folder.string()}));
        for (std::size_t i = 0; i < writers; ++i) {
            ++merges;
            if (processes[i]->wait() != 0) {
                ++refused;
                ADD_FAILURE() << processes[i]->error();
                continue;
            }
            acknowledged.insert(acknowledged.end(), batches[i].subjects.begin(), batches[i].subjects.end());
        }
        ASSERT_EQ(lost(acknowledged, subjects_in(database)), std::vector<std::string>());
    }
    count(fmt::format("merges: {} by {} writers at once, {} refused, {} records, 0 lost", merges, writers, refused, acknowledged.size()));
}

}  // namespace
}  // namespace hone::test
