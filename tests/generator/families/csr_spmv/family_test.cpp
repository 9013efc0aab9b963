#include "generator/families/csr_spmv/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/csr_spmv/shape.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::csr_spmv_test::family_test {
namespace {

Problem parse(const std::string& rest) {
    static const Families table({csr_spmv()});
    return table.parse_problem("csr_spmv " + rest);
}

// The same matrix with all its zeros, in the order of textbooks.
class Dense {
  public:
    explicit Dense(const Problem& problem, const Workload& work) : shape_(problem), words_(static_cast<std::size_t>(shape_.rows * shape_.columns)) {
        const auto* columns = static_cast<const int*>(work.arrays[1].data());
        const auto* starts = static_cast<const int*>(work.arrays[2].data());
        for (std::int64_t row = 0; row < shape_.rows; ++row)
            for (int entry = starts[row]; entry < starts[row + 1]; ++entry)
                words_.at(static_cast<std::size_t>(row * shape_.columns + columns[entry])) +=
                    work.arrays[0].values<double>()[static_cast<std::size_t>(entry)];
    }
    double row_times(std::int64_t row, const std::vector<double>& x) const {
        return std::inner_product(x.begin(), x.end(), words_.begin() + row * shape_.columns, 0.0);
    }

  private:
    spmv::Shape shape_;
    std::vector<double> words_;
};

// Component c of vectors with `count` words each.
std::vector<double> component(const HostArray& array, const spmv::Shape& shape, std::int64_t count, int c) {
    std::vector<double> words;
    for (std::int64_t i = 0; i < count; ++i)
        words.push_back(array.values<double>()[static_cast<std::size_t>(shape.interleaved ? i * shape.components + c : c * count + i)]);
    return words;
}

TEST(CsrSpmv, TheReferenceIsTheDenseProduct) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(seed);
    for (const char* text : {"kernel=apply components=3 vectors=split rows=23 columns=41 entries=180", "components=1 rows=1 columns=7 entries=5",
                             "kernel=apply_dot components=2 vectors=interleaved rows=31 entries=200", "kernel=apply_dot rows=19 entries=361"}) {
        const Problem problem = parse(text);
        const spmv::Shape shape(problem);
        const Workload work = spmv::workload(problem, seed);
        const Dense dense(problem, work);
        for (int c = 0; c < shape.components; ++c) {
            const std::vector<double> x = component(work.arrays[3], shape, shape.columns, c);
            const std::vector<double> y = component(work.expected[4], shape, shape.rows, c);
            double dot = 0;
            for (std::size_t row = 0; row < y.size(); ++row) {
                EXPECT_NEAR(y[row], dense.row_times(static_cast<std::int64_t>(row), x), 1e-13 * 41) << text;
                if (shape.dotted) dot += x[row] * y[row];
            }
            if (shape.dotted) {
                EXPECT_NEAR(work.expected[5].values<double>()[static_cast<std::size_t>(c)], dot / static_cast<double>(shape.rows), 1e-13) << text;
            }
        }
    }
}

TEST(CsrSpmv, RandomMatricesAreWhatTheProblemSays) {
    const Problem problem = parse("rows=20011 entries=540297");
    test::FreshRandom random;
    const Workload work = spmv::workload(problem, random());
    const auto* columns = static_cast<const int*>(work.arrays[1].data());
    const auto* starts = static_cast<const int*>(work.arrays[2].data());
    EXPECT_EQ(starts[0], 0);
    EXPECT_EQ(starts[20011], 540297);
    std::set<int> lengths;
    for (int row = 0; row < 20011; ++row) {
        ASSERT_LE(starts[row], starts[row + 1]);
        lengths.insert(starts[row + 1] - starts[row]);
        std::set<int> different(columns + starts[row], columns + starts[row + 1]);
        ASSERT_EQ(static_cast<int>(different.size()), starts[row + 1] - starts[row]) << "a column comes twice in row " << row;
    }
    EXPECT_EQ(*lengths.begin(), 0) << "some rows are empty";
    EXPECT_GT(*lengths.rbegin(), 40);
    EXPECT_LE(*lengths.rbegin(), 54) << "the mean is 27";
    EXPECT_GE(*std::min_element(columns, columns + 540297), 0);
    EXPECT_LT(*std::max_element(columns, columns + 540297), 20011);
}

TEST(CsrSpmv, CountsWhatMustMove) {
    const Family family = csr_spmv();
    // 12 bytes an entry, 4 a row and the last end, 8 for each word of x and y.
    const Counts apply = family.counts(parse("components=3 rows=1000 columns=500 entries=27000"));
    EXPECT_EQ(apply.bytes, 12 * 27000 + 4 * 1001 + 8 * 3 * 1500);
    EXPECT_EQ(apply.operations, 2 * 3 * 27000);
    const Counts dotted = family.counts(parse("kernel=apply_dot precision=f32 rows=1000 entries=27000"));
    EXPECT_EQ(dotted.bytes, 8 * 27000 + 4 * 1001 + 4 * 2000);
    EXPECT_EQ(dotted.operations, 2 * 28000);
}

TEST(CsrSpmv, RefusesMatricesThatThereAreNot) {
    const Family family = csr_spmv();
    EXPECT_THROW(family.arrays(parse("rows=10 entries=101")), Error);
    EXPECT_NO_THROW(family.arrays(parse("rows=10 entries=100")));
    EXPECT_THROW(family.arrays(parse("rows=10 columns=3 entries=31")), Error);
    EXPECT_THROW(family.arrays(parse("kernel=apply_dot rows=10 columns=11 entries=20")), Error);
    EXPECT_NO_THROW(family.arrays(parse("kernel=apply_dot rows=10 columns=10 entries=20")));
}

TEST(CsrSpmv, EveryConstraintRejectsSomething) {
    const SearchSpace cuda = csr_spmv().space(parse("kernel=apply_dot components=3 rows=1000 entries=27000"), cuda_limits(90));
    const auto rejected_by = [](const SearchSpace& space, const char* text) {
        const auto rejection = space.check(space.parse(text));
        return rejection ? rejection->constraint : "";
    };
    EXPECT_EQ(rejected_by(cuda, "threads_per_row=8,rows_per_group=16"), "rows_of_a_warp");
    EXPECT_EQ(rejected_by(cuda, "threads_per_row=32,rows_per_group=1,threads=128"), "whole_chunks");
    EXPECT_EQ(rejected_by(cuda, "threads_per_row=1,rows_per_group=1,threads=64,loads_in_flight=8"), "registers");
    EXPECT_EQ(rejected_by(cuda, "threads_per_row=32,rows_per_group=32,threads=512,min_blocks=8"), "threads");
    EXPECT_EQ(rejected_by(cuda, "threads_per_row=32,rows_per_group=32,threads=64"), "");
    const SearchSpace cpu = csr_spmv().space(parse("rows=1000 entries=27000"), cpu_limits());
    EXPECT_EQ(rejected_by(cpu, "vector_bytes=64"), "vector_width");
}

}  // namespace
}  // namespace hone::csr_spmv_test::family_test
