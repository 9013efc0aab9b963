#include "tuning_db/device_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace hone::inline v0_1 {
namespace {

struct Row {
    const char* word;
    const char* name;  // as the driver says it
    int architecture;
    int multiprocessors;
    int l2_kib;
    double gigabytes_per_second;
    double f32_teraflops, f64_teraflops;  // without matrix units
};

// NVIDIA's data sheets and architecture white papers: V100 (WP-08608), Turing (WP-09183), A100 and
// A40 data sheets, GA102 and Ada white papers, L40S data sheet, RTX Blackwell white paper, H100,
// H200, GH200 and HGX B200 data sheets. Consumer chips and those of sm_75, sm_86, sm_89 and sm_120
// have 1/32 or 1/64 of the f32 rate for f64 (CUDA C++ Programming Guide, arithmetic throughput).
constexpr std::array rows{
    Row{"V100", "Tesla V100-SXM2-16GB", 70, 80, 6144, 900, 15.7, 7.8},
    Row{"T4", "Tesla T4", 75, 40, 4096, 320, 8.1, 0.25},
    Row{"A100", "NVIDIA A100-SXM4-80GB", 80, 108, 40960, 2039, 19.5, 9.7},
    Row{"A40", "NVIDIA A40", 86, 84, 6144, 696, 37.4, 0.58},
    Row{"RTX 3090", "NVIDIA GeForce RTX 3090", 86, 82, 6144, 936, 35.6, 0.56},
    Row{"L40S", "NVIDIA L40S", 89, 142, 98304, 864, 91.6, 1.43},
    Row{"RTX 4090", "NVIDIA GeForce RTX 4090", 89, 128, 73728, 1008, 82.6, 1.29},
    Row{"H100", "NVIDIA H100 80GB HBM3", 90, 132, 51200, 3350, 67, 34},
    Row{"H200", "NVIDIA H200", 90, 132, 61440, 4800, 67, 34},
    Row{"GH200", "NVIDIA GH200 480GB", 90, 132, 61440, 4000, 67, 34},
    Row{"B200", "NVIDIA B200", 100, 148, 129024, 8000, 80, 40},
    Row{"RTX 5090", "NVIDIA GeForce RTX 5090", 120, 170, 98304, 1792, 104.8, 1.64},
};

DeviceModel model_of(const Row& row) {
    DeviceModel model{row.word,
                      {Target::cuda, row.name, fmt::format("sm_{}", row.architecture), row.multiprocessors, "", ""},
                      cuda_limits(row.architecture),
                      {row.gigabytes_per_second * 1e9, row.f32_teraflops * 1e12, row.f64_teraflops * 1e12}};
    model.limits.multiprocessors = row.multiprocessors;
    model.limits.cache_bytes = row.l2_kib << 10;
    return model;
}

// Letters and digits of a name between spaces: " nvidia h100 80gb hbm3 ".
std::string plain_words(const std::string& name) {
    std::string text = " ";
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (letter)
            text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        else if (text.back() != ' ')
            text += ' ';
    }
    return text.back() == ' ' ? text : text + ' ';
}

// 90 of "sm_90"; 0 where it is no such name.
int number_of(const std::string& architecture) {
    int number = 0;
    if (architecture.starts_with("sm_")) std::from_chars(architecture.data() + 3, architecture.data() + architecture.size(), number);
    return number;
}

// The model whose short name a device's name contains, and whose architecture it has.
const DeviceModel* described(const DeviceFingerprint& device) {
    const std::string name = plain_words(device.name);
    for (const DeviceModel& model : device_models())
        if (device.architecture == model.device.architecture && name.find(plain_words(model.word)) != std::string::npos) return &model;
    return nullptr;
}

// Bytes of a vector register, as an instruction set has them everywhere.
int vector_bytes_of(std::string_view instruction_set) {
    return instruction_set == "x86-64-avx512" ? 64 : instruction_set == "x86-64-avx2" ? 32 : 16;
}

Limits limits_of_processor(const DeviceFingerprint& device) {
    Limits limits = cpu_limits();
    limits.vector_bytes = vector_bytes_of(instruction_set(device));
    limits.multiprocessors = std::max(device.units, 1);
    // "... amd-25-17-1024k"
    const std::string& text = device.architecture;
    const std::size_t dash = text.rfind('-');
    int kib = 0;
    if (text.ends_with('k') && dash != std::string::npos) std::from_chars(text.data() + dash + 1, text.data() + text.size(), kib);
    constexpr int most_kib = 1 << 20;
    if (kib > 0 && kib < most_kib) limits.cache_bytes = kib << 10;
    return limits;
}

}  // namespace

const std::vector<DeviceModel>& device_models() {
    static const std::vector<DeviceModel> models = [] {
        std::vector<DeviceModel> all;
        all.reserve(std::size(rows));
        for (const Row& row : rows) all.push_back(model_of(row));
        return all;
    }();
    return models;
}

const DeviceModel* find_model(const std::string& name) {
    const std::string words = plain_words(name);
    const auto named = [&](const DeviceModel& model) { return words == plain_words(model.word) || words == plain_words(model.device.name); };
    const auto found = std::find_if(device_models().begin(), device_models().end(), named);
    return found == device_models().end() ? nullptr : &*found;
}

Limits limits_of(const DeviceFingerprint& device) {
    if (!traits_of(device.target).has_blocks) return limits_of_processor(device);
    if (const DeviceModel* model = described(device)) return model->limits;
    Limits limits = cuda_limits(number_of(device.architecture));
    if (device.units > 0) limits.multiprocessors = device.units;
    return limits;
}

std::optional<DeviceRates> rates_of(const DeviceFingerprint& device) {
    if (!traits_of(device.target).has_blocks) return std::nullopt;
    if (const DeviceModel* model = described(device)) return model->rates;
    const int architecture = number_of(device.architecture);
    const DeviceModel* like = &device_models().front();
    for (const DeviceModel& model : device_models())
        if (model.limits.architecture <= architecture) like = &model;
    const double part = device.units > 0 ? static_cast<double>(device.units) / like->limits.multiprocessors : 1;
    return DeviceRates{part * like->rates.bytes_per_second, part * like->rates.f32_per_second, part * like->rates.f64_per_second};
}

}  // namespace hone::inline v0_1
