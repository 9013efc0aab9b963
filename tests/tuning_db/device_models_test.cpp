#include "tuning_db/device_models.hpp"

#include <gtest/gtest.h>

namespace hone::device_models_test {
namespace {

TEST(DeviceModels, AreFoundByNameKeyAndShortName) {
    for (const char* word : {"V100", "T4", "A100", "A40", "L40S", "RTX 3090", "RTX 4090", "RTX 5090", "H100", "H200", "GH200", "B200"}) {
        const DeviceModel* model = find_model(word);
        ASSERT_NE(model, nullptr) << word;
        EXPECT_EQ(model->word, word);
        EXPECT_EQ(find_model(model->device.name), model);
        EXPECT_EQ(find_model(device_key(model->device)), model);
    }
    EXPECT_EQ(find_model("rtx_4090"), find_model("RTX 4090"));
    EXPECT_EQ(find_model("H20"), nullptr);
    EXPECT_EQ(find_model(""), nullptr);
}

TEST(DeviceModels, LimitsAreThoseOfTheArchitectureWithItsOwnMultiprocessors) {
    for (const DeviceModel& model : device_models()) {
        const Limits typical = cuda_limits(model.limits.architecture);
        EXPECT_EQ(model.device.architecture, "sm_" + std::to_string(model.limits.architecture));
        EXPECT_EQ(model.limits.multiprocessors, model.device.units);
        EXPECT_EQ(model.limits.shared_bytes_per_block, typical.shared_bytes_per_block) << model.word;
        // No chip reaches the rates of another kind: bytes for an operation, f64 beside f32.
        const double balance = model.rates.f32_per_second / model.rates.bytes_per_second;
        EXPECT_TRUE(balance > 5 && balance < 150) << model.word << " " << balance;
        EXPECT_LE(model.rates.f64_per_second, 0.55 * model.rates.f32_per_second) << model.word;
    }
}

TEST(DeviceModels, AnyFingerprintHasLimits) {
    // Another product of a described chip, one of its architecture, and one of none.
    const DeviceFingerprint a100{Target::cuda, "NVIDIA A100-PCIE-40GB MIG 3g.20gb", "sm_80", 108, "", ""};
    EXPECT_EQ(limits_of(a100).cache_bytes, find_model("A100")->limits.cache_bytes);
    const DeviceFingerprint l4{Target::cuda, "NVIDIA L4", "sm_89", 58, "", ""};
    EXPECT_EQ(limits_of(l4).multiprocessors, 58);
    EXPECT_EQ(limits_of(l4).shared_bytes_per_multiprocessor, cuda_limits(89).shared_bytes_per_multiprocessor);
    EXPECT_LT(rates_of(l4)->f32_per_second, rates_of(find_model("RTX 4090")->device)->f32_per_second);
    EXPECT_GT(rates_of({Target::cuda, "of the year 2030", "sm_200", 0, "", ""})->bytes_per_second, 1e11);
    // A name alone is not enough: "A40" is no part of "A4000", and another architecture is another
    // chip.
    EXPECT_EQ(limits_of({Target::cuda, "NVIDIA RTX A4000", "sm_86", 48, "", ""}).multiprocessors, 48);
    EXPECT_EQ(limits_of({Target::cuda, "H200", "sm_80", 48, "", ""}).multiprocessors, 48);
}

TEST(DeviceModels, AProcessorsVectorsAndCachesAreInItsName) {
    const auto limits = [](const std::string& architecture) { return limits_of({Target::cpu, "a processor", architecture, 8, "", ""}); };
    EXPECT_EQ(limits("x86-64-avx512 intel-6-207-2048k").vector_bytes, 64);
    EXPECT_EQ(limits("x86-64-avx512 intel-6-207-2048k").cache_bytes, 2 << 20);
    EXPECT_EQ(limits("x86-64-avx2 amd-23-49-512k").vector_bytes, 32);
    EXPECT_EQ(limits("x86-64-avx2 amd-23-49-512k").cache_bytes, 512 << 10);
    EXPECT_EQ(limits("aarch64-neon").vector_bytes, 16);
    EXPECT_EQ(limits("aarch64-neon").cache_bytes, cpu_limits().cache_bytes);
    EXPECT_EQ(limits("x86-64-avx2 amd-9999999999999999999k").cache_bytes, cpu_limits().cache_bytes);
    EXPECT_EQ(limits("").multiprocessors, 8);
    EXPECT_FALSE(rates_of({Target::cpu, "", "x86-64-avx2", 8, "", ""}));
}

}  // namespace
}  // namespace hone::device_models_test
