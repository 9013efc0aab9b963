#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "generator/families/built_in_families.hpp"
#include "interfaces/c/hone.h"
#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::test {

/// An array of the processor's, as the C interface takes it.
inline hone_array host_array(void* data, hone_type type, std::int64_t count) {
    return {data, count, type, HONE_HOST};
}

/// A problem's fresh random data, as a C program would have it, with the plain loops' answer.
struct CWorkload {
    Problem problem;
    Workload data;
    std::vector<hone_array> arrays;

    CWorkload(const std::string& text, std::uint64_t seed)
        : problem(built_in_families().parse_problem(text)), data(built_in_families().of(problem).workload(problem, seed)) {
        const std::vector<ArraySpec> specs = built_in_families().of(problem).arrays(problem);
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const ValueType type = value_type_of(specs[i], problem.precision());
            arrays.push_back(host_array(data.arrays[i].data(),
                                        type == ValueType::i32   ? HONE_I32
                                        : type == ValueType::f32 ? HONE_F32
                                                                 : HONE_F64,
                                        value_count(specs[i], problem.precision())));
        }
    }

    std::int32_t count() const { return static_cast<std::int32_t>(arrays.size()); }
    /// Expects the arrays to be as after one step from their beginning.
    void expect_stepped() const {
        for (std::size_t i = 0; i < data.arrays.size(); ++i) {
            if (data.expected[i].words() == 0) continue;
            EXPECT_LE(largest_difference(data.arrays[i], data.expected[i]), data.tolerance) << problem.key() << ", array " << i;
        }
    }
};

/// A session on the processor through the C interface, with a database of its own that is empty,
/// and nothing of this user's but compiled kernels.
class CSession : public testing::Test {
  protected:
    CSession() {
        hone_session_options options{};
        options.size = sizeof options;
        options.cache = cache_.c_str();
        const std::string results = (folder_.path() / "results").string();
        std::filesystem::create_directory(results);
        options.database = results.c_str();
        EXPECT_EQ(hone_session_open("cpu", &options, &session_), HONE_OK) << hone_last_error();
    }
    ~CSession() override {
        if (session_ == nullptr) return;
        EXPECT_EQ(hone_session_close(session_), HONE_OK) << hone_last_error();
    }

    hone_kernel* kernel(const char* problem) {
        hone_kernel* found = nullptr;
        EXPECT_EQ(hone_session_kernel(session_, problem, &found), HONE_OK) << hone_last_error();
        return found;
    }
    static hone_bound* bind(hone_kernel* kernel, const CWorkload& workload) {
        hone_bound* bound = nullptr;
        EXPECT_EQ(hone_kernel_bind(kernel, workload.arrays.data(), workload.count(), nullptr, &bound), HONE_OK) << hone_last_error();
        return bound;
    }
    /// Expects a call to have been refused, with a text of all these parts.
    static void expect_refused(hone_status status, hone_status expected, const std::vector<std::string>& parts) {
        EXPECT_EQ(status, expected) << hone_last_error();
        for (const std::string& part : parts) EXPECT_THAT(hone_last_error(), testing::HasSubstr(part));
    }

    TemporaryFolder folder_;
    EnvironmentVariable database_{"HONE_DB", std::nullopt};
    EnvironmentVariable data_{"XDG_DATA_HOME", (folder_.path() / "data").string()};
    std::string cache_ = kernel_cache_folder();
    std::random_device::result_type seed_ = std::random_device()();
    hone_session* session_ = nullptr;
};

/// A small problem whose compilation is quick.
inline constexpr const char* small_problem = "gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=9 nz=11";

}  // namespace hone::test
