// The kernel that compares arrays on GPUs, run on the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "generator/render.hpp"
#include "generator/workload.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"

namespace hone::test::largest_difference_test {
namespace {

constexpr int words = 300;  // of each array: more than the threads are

class LargestDifference : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
        KernelSource cuda;
        cuda.target = Target::cuda;
        cuda.precision = Precision::f64;
        cuda.text = "inline double __longlong_as_double(long long bits) { double value; memcpy(&value, &bits, 8); return value; }\n" +
                    render("runtime/largest_difference.cu", {}) +
                    "extern \"C\" __global__ void kernel(double* data, int n, int first, int last, int constant)\n{\n"
                    "    largest_difference_f64(data, data + n, n, data + 2 * n);\n"
                    "    checksum(reinterpret_cast<unsigned*>(data), 2 * n, reinterpret_cast<unsigned long long*>(data + 2 * n + 1));\n}\n";
        cuda.arrays = {{"data", Access::inout, 0, "[n]", ""}};
        cuda.scalars = {{"n", 0}};
        Launch launch;
        launch.entry = "kernel";
        launch.grid = {1, 1, 1};
        launch.block = {128, 1, 1};
        launch.constants = {0};
        cuda.entries = {"kernel"};
        cuda.step = {launch};
        source_ = emulated(cuda);
        const CompileOutcome outcome = backend_->compiler().compile(source_);
        ASSERT_TRUE(outcome.ok) << outcome.failure << "\n" << outcome.code.log;
        module_ = backend_->load(outcome.code);
    }

    // What the kernels say of two arrays: the difference, and the first one's checksum.
    std::pair<double, std::uint64_t> compared(const std::vector<double>& a, const std::vector<double>& b) const {
        std::vector<double> data(a);
        data.insert(data.end(), b.begin(), b.end());
        data.resize(2 * words + 2);
        double* pointer = data.data();
        int n = words, first = 0, last = 1, constant = 0;
        std::array<void*, 5> arguments{&pointer, &n, &first, &last, &constant};
        const Launch& launch = source_.step.front();
        module_->launch(module_->entry(launch.entry), launch.grid, launch.block, launch.shared_bytes, {}, arguments.data());
        std::uint64_t sum = 0;
        std::memcpy(&sum, &data.back(), sizeof sum);
        return {data[2 * words], sum};
    }

    DiskCache cache_{kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelSource source_;
    std::unique_ptr<Module> module_;
};

TEST_F(LargestDifference, IsThatOfTheHost) {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    std::mt19937_64 random(std::random_device{}());
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const double one : {0.5, nan, infinity, -infinity})
        for (const double other : {0.5, 0.75, nan, infinity, -infinity}) {
            std::vector<double> a(words), b(words);
            for (double& value : a) value = uniform(random);
            b = a;
            const std::size_t at = random() % words;
            a[at] = one;
            b[at] = other;
            const auto [found, sum] = compared(a, b);
            EXPECT_EQ(found, largest_difference(a.data(), b.data(), words, ValueType::f64)) << one << " and " << other << " at " << at;
            EXPECT_EQ(sum, backend_->checksums(std::array{MemoryPiece{a.data(), 8 * words}}).front());
            std::uint64_t bits = 0;
            std::memcpy(&bits, &a[at], sizeof bits);
            bits ^= std::uint64_t{1} << random() % 64;
            std::memcpy(&a[at], &bits, sizeof bits);
            EXPECT_NE(compared(a, b).second, sum) << "one bit at " << at;
        }
}

}  // namespace
}  // namespace hone::test::largest_difference_test
