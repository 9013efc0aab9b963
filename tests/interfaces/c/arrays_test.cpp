// Arrays that the C interface refuses, by number and name, and those that it allocates itself.
#include "tests/interfaces/c/c_session.hpp"

namespace hone::arrays_test {
namespace {

using test::CWorkload;
using test::small_problem;

class CArrays : public test::CSession {
  protected:
    // Expects this array in place of the first to be refused, and the kernel to be bound to the
    // right ones afterwards.
    void expect_first_refused(const hone_array& array, const std::vector<std::string>& parts) {
        std::vector<hone_array> arrays = workload_.arrays;
        arrays[0] = array;
        hone_bound* bound = nullptr;
        expect_refused(hone_kernel_bind(kernel_, arrays.data(), workload_.count(), nullptr, &bound), HONE_BAD_ARGUMENT, parts);
        EXPECT_EQ(bound, nullptr);
    }

    CWorkload workload_{small_problem, seed_};
    hone_array first_ = workload_.arrays[0];
    hone_kernel* kernel_ = kernel(small_problem);
};

TEST_F(CArrays, OfAnotherTypeAreRefused) {
    hone_array array = first_;
    array.type = HONE_F64;
    expect_first_refused(array, {"hone_kernel_bind", "array 0 (u)", "HONE_F64", "of HONE_F32"});
    array.type = 17;
    expect_first_refused(array, {"17", "no hone_type"});
}

TEST_F(CArrays, ThatAreTooSmallAreRefused) {
    hone_array array = first_;
    array.count -= 1;
    expect_first_refused(array, {"array 0 (u)", "it has " + std::to_string(array.count) + " elements", "give " + std::to_string(first_.count)});
    array.count = -5;
    expect_first_refused(array, {"it has -5 elements"});
}

TEST_F(CArrays, ThatAreNullOrMisalignedAreRefused) {
    hone_array array = first_;
    array.data = nullptr;
    expect_first_refused(array, {"array 0 (u)", "it is null"});
    array.data = static_cast<char*>(first_.data) + 2;
    expect_first_refused(array, {"array 0 (u)", "not a multiple of 4 bytes"});
}

TEST_F(CArrays, OfAnotherDeviceAreRefused) {
    hone_array array = first_;
    array.place = HONE_CUDA;
    expect_first_refused(array, {"array 0 (u)", "memory of a CUDA device", "host memory"});
    array.place = HONE_ANYWHERE;
    hone_bound* bound = nullptr;
    std::vector<hone_array> arrays = workload_.arrays;
    arrays[0] = array;
    EXPECT_EQ(hone_kernel_bind(kernel_, arrays.data(), workload_.count(), nullptr, &bound), HONE_OK) << hone_last_error();
    hone_bound_close(bound);
}

TEST_F(CArrays, ThatOverlapWhatIsWrittenAreRefused) {
    hone_array array = workload_.arrays[1];
    expect_first_refused(array, {"array 1 (f)", "it overlaps array 0 (u)", "memory of its own"});
    array.data = static_cast<float*>(workload_.arrays[1].data) + 1;
    expect_first_refused(array, {"it overlaps array 0 (u)"});
}

TEST_F(CArrays, OfAnotherNumberAreRefused) {
    hone_bound* bound = nullptr;
    const auto count = workload_.count();
    for (const std::int32_t wrong : {count - 1, count + 1, 0, -3})
        expect_refused(hone_kernel_bind(kernel_, workload_.arrays.data(), wrong, nullptr, &bound), HONE_BAD_ARGUMENT,
                       {std::to_string(wrong) + " arrays", "u, f"});
    expect_refused(hone_kernel_bind(kernel_, nullptr, count, nullptr, &bound), HONE_BAD_ARGUMENT, {"arrays is null"});
    expect_refused(hone_kernel_bind(kernel_, workload_.arrays.data(), count, nullptr, nullptr), HONE_BAD_ARGUMENT, {"bound is null"});
}

TEST_F(CArrays, AreAllocatedCopiedAndFreed) {
    std::vector<hone_array> arrays;
    for (const hone_array& host : workload_.arrays) {
        hone_array& array = arrays.emplace_back();
        ASSERT_EQ(hone_array_allocate(session_, host.type, host.count, &array), HONE_OK) << hone_last_error();
        EXPECT_EQ(array.count, host.count);
        EXPECT_EQ(array.type, host.type);
        EXPECT_EQ(array.place, HONE_HOST);
        ASSERT_EQ(hone_copy(session_, array.data, host.data, 4 * host.count, nullptr), HONE_OK) << hone_last_error();
    }
    hone_bound* bound = nullptr;
    ASSERT_EQ(hone_kernel_bind(kernel_, arrays.data(), workload_.count(), nullptr, &bound), HONE_OK) << hone_last_error();
    ASSERT_EQ(hone_bound_launch(bound, nullptr), HONE_OK);
    for (std::size_t i = 0; i < arrays.size(); ++i)
        ASSERT_EQ(hone_copy(session_, workload_.arrays[i].data, arrays[i].data, 4 * arrays[i].count, nullptr), HONE_OK);
    workload_.expect_stepped();
    hone_bound_close(bound);

    hone_array again = arrays[0];
    EXPECT_EQ(hone_array_free(session_, &arrays[0]), HONE_OK) << hone_last_error();
    EXPECT_EQ(arrays[0].data, nullptr);
    EXPECT_EQ(hone_array_free(session_, &arrays[0]), HONE_OK) << "an array without data";
    expect_refused(hone_array_free(session_, &again), HONE_BAD_ARGUMENT, {"hone_array_free", "freed already"});
    expect_refused(hone_array_free(session_, &first_), HONE_BAD_ARGUMENT, {"not allocated in this session"});
    // The others go with the session.
}

TEST_F(CArrays, ThatWereFreedAreRefusedByWhatIsBoundToThem) {
    std::vector<hone_array> arrays = workload_.arrays;
    ASSERT_EQ(hone_array_allocate(session_, HONE_F32, first_.count, &arrays[0]), HONE_OK) << hone_last_error();
    ASSERT_EQ(hone_copy(session_, arrays[0].data, first_.data, 4 * first_.count, nullptr), HONE_OK);
    hone_bound* bound = nullptr;
    ASSERT_EQ(hone_kernel_bind(kernel_, arrays.data(), workload_.count(), nullptr, &bound), HONE_OK) << hone_last_error();
    hone_online_options settled{};
    settled.size = sizeof settled;
    settled.disabled = 1;
    hone_online* online = nullptr;
    ASSERT_EQ(hone_online_open(session_, small_problem, arrays.data(), workload_.count(), &settled, &online), HONE_OK) << hone_last_error();
    ASSERT_EQ(hone_bound_launch(bound, nullptr), HONE_OK);
    ASSERT_EQ(hone_array_free(session_, &arrays[0]), HONE_OK);
    expect_refused(hone_bound_launch(bound, nullptr), HONE_BAD_ARGUMENT, {"hone_bound_launch", "array 0 (u)", "was freed", "close the kernel"});
    expect_refused(hone_bound_launch_range(bound, 0, 1, nullptr), HONE_BAD_ARGUMENT, {"hone_bound_launch_range", "was freed"});
    expect_refused(hone_bound_run(bound, 2, nullptr), HONE_BAD_ARGUMENT, {"hone_bound_run", "was freed"});
    expect_refused(hone_bound_prepare(bound, nullptr), HONE_BAD_ARGUMENT, {"hone_bound_prepare", "was freed"});
    expect_refused(hone_online_step(online, nullptr), HONE_BAD_ARGUMENT, {"hone_online_step", "array 0 (u)", "was freed"});
    // An array that comes to lie in the same place is another.
    hone_array again{};
    ASSERT_EQ(hone_array_allocate(session_, HONE_F32, first_.count, &again), HONE_OK);
    expect_refused(hone_bound_launch(bound, nullptr), HONE_BAD_ARGUMENT, {"was freed"});
    hone_online_close(online);
    EXPECT_EQ(hone_bound_close(bound), HONE_OK) << "it can still be closed";
}

TEST_F(CArrays, AreRefusedWhereTheySayMoreThanWasAllocated) {
    hone_array array{};
    ASSERT_EQ(hone_array_allocate(session_, HONE_F32, first_.count, &array), HONE_OK);
    array.data = static_cast<float*>(array.data) + 8;
    expect_first_refused(array, {"array 0 (u)", "bytes are left of what was allocated there"});
    expect_refused(hone_copy(session_, array.data, first_.data, 4 * first_.count, nullptr), HONE_BAD_ARGUMENT, {"hone_copy", "copy at most"});
    expect_refused(hone_copy(session_, first_.data, array.data, 4 * first_.count, nullptr), HONE_BAD_ARGUMENT, {"hone_copy", "copy at most"});
}

TEST_F(CArrays, OfAbsurdSizesAreRefused) {
    hone_array array{};
    expect_refused(hone_array_allocate(session_, HONE_F32, 0, &array), HONE_BAD_ARGUMENT, {"0 elements"});
    expect_refused(hone_array_allocate(session_, HONE_F64, INT64_MAX / 4, &array), HONE_BAD_ARGUMENT, {"elements"});
    expect_refused(hone_array_allocate(session_, 99, 10, &array), HONE_BAD_ARGUMENT, {"the type is 99"});
    expect_refused(hone_array_allocate(session_, HONE_F64, 10, nullptr), HONE_BAD_ARGUMENT, {"array is null"});
    expect_refused(hone_copy(session_, first_.data, first_.data, -1, nullptr), HONE_BAD_ARGUMENT, {"-1 bytes"});
    expect_refused(hone_copy(session_, nullptr, first_.data, 4, nullptr), HONE_BAD_ARGUMENT, {"to is null"});
    expect_refused(hone_copy(session_, first_.data, nullptr, 4, nullptr), HONE_BAD_ARGUMENT, {"from is null"});
    EXPECT_EQ(hone_copy(session_, nullptr, nullptr, 0, nullptr), HONE_OK);
    EXPECT_EQ(array.data, nullptr);
}

}  // namespace
}  // namespace hone::arrays_test
