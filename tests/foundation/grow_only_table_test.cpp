#include "foundation/grow_only_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace hone::grow_only_table_test {
namespace {

TEST(GrowOnlyTable, FindsWhatWasAddedFirst) {
    GrowOnlyTable<std::string, int> table;
    EXPECT_EQ(table.find("a"), nullptr);
    table.add("a", 1);
    table.add("a", 2);
    ASSERT_NE(table.find("a"), nullptr);
    EXPECT_EQ(*table.find("a"), 1);
    const int* const first = table.find("a");
    for (int i = 0; i < 5000; ++i) table.add(std::to_string(i), i);  // more than there are buckets
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(*table.find(std::to_string(i)), i);
    EXPECT_EQ(table.find("a"), first);
    EXPECT_EQ(table.find("5000"), nullptr);
}

TEST(ConcurrentGrowOnlyTable, IsReadWhileItGrows) {
    GrowOnlyTable<int, int> table;
    constexpr int last = 3000;
    std::atomic<int> wrong{0};
    std::vector<std::thread> readers;
    for (int reader = 0; reader < 3; ++reader)
        readers.emplace_back([&] {
            while (table.find(last) == nullptr)
                for (int i = 0; i < last; i += 97)
                    if (const int* const found = table.find(i); found != nullptr && *found != -i) ++wrong;
        });
    for (int i = 0; i <= last; ++i) table.add(i, -i);
    for (auto& reader : readers) reader.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace hone::grow_only_table_test
