#include "tuning_db/device.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// FNV-1a: tells names apart whose letters a file name cannot hold.
std::uint32_t short_hash(const std::string& text) {
    std::uint32_t hash = 2166136261U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash;
}

// "Intel(R) Xeon(TM)" says the same without the marks.
std::string without_marks(std::string name) {
    for (const std::string mark : {"(R)", "(TM)", "(r)", "(tm)"})
        for (std::size_t at = name.find(mark); at != std::string::npos; at = name.find(mark)) name.replace(at, mark.size(), " ");
    return name;
}

}  // namespace

std::string_view instruction_set(const DeviceFingerprint& device) {
    return std::string_view(device.architecture).substr(0, device.architecture.find(' '));
}

std::string device_key(const DeviceFingerprint& device) {
    constexpr std::size_t longest = 100;  // file names may have 255 bytes; leave room for what is added
    std::string key;
    bool lossless = true;
    std::string name = without_marks(device.name);
    if (traits_of(device.target).shares_processors) name += device.architecture.substr(instruction_set(device).size());
    for (const char c : name) {
        if (is_digit(c) || is_letter(c)) {
            key += lower(c);
            continue;
        }
        if (static_cast<unsigned char>(c) >= 128) lossless = false;
        if (!key.empty() && key.back() != '_') key += '_';
    }
    if (key.size() > longest) {
        key.resize(longest);
        lossless = false;
    }
    while (!key.empty() && key.back() == '_') key.pop_back();
    if (key.empty()) key = to_string(device.target);
    if (!lossless || key.size() < 2) key += fmt::format("_{:08x}", short_hash(name));
    if (traits_of(device.target).shares_processors) key += fmt::format("_{}", device.units);
    return key;
}

int parse_architecture(const std::string& text, const std::string& where) {
    const Value value = parse_value(text.starts_with("sm_") ? text.substr(3) : text);
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 50 || *number > 999)
        throw Error(where, fmt::format("\"{}\" is not an architecture", text), "write it as sm_80, sm_90 or sm_100");
    return static_cast<int>(*number);
}

Limits generous_limits(const DeviceFingerprint& device) {
    if (traits_of(device.target).has_blocks) return cuda_limits(parse_architecture(device.architecture, device.name));
    Limits limits = cpu_limits();
    limits.vector_bytes = 64;
    limits.cache_bytes = 1 << 26;
    limits.multiprocessors = device.units;
    limits.threads_per_core = 2;
    return limits;
}

}  // namespace hone::inline v0_1
