#include "interfaces/kernel_folder/constant_arrays.hpp"

#include <fmt/format.h>

#include <cctype>

#include "interfaces/kernel_folder/source_text.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

constexpr int threads = 256;
constexpr const char* entry = "hone_fills_constants";

// Whether a CUDA source declares an array of this name in constant memory.
bool declares(std::string_view text, const std::string& name) {
    constexpr std::string_view word = "__constant__";
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) {
        const std::string_view declared = text.substr(at, text.find(';', at) - at);
        for (std::size_t found = declared.find(name); found != std::string_view::npos; found = declared.find(name, found + 1)) {
            const std::size_t end = found + name.size();
            if (!in_name(declared[found - 1]) && (end == declared.size() || !in_name(declared[end]))) return true;
        }
    }
    return false;
}

}  // namespace

ConstantArrays::ConstantArrays(const Description& description, std::string_view text, const Problem& problem) {
    const std::vector<ArraySpec> specs = array_specs(description, problem);
    for (std::size_t i = 0; i < specs.size(); ++i)
        if (description.arguments[i].in_constant_memory && declares(text, specs[i].name))
            arrays_.push_back({specs[i].name, bytes_of(specs[i], problem.precision())});
}

Launch ConstantArrays::launch() const {
    Launch launch;
    launch.entry = entry;
    launch.block = {threads, 1, 1};
    return launch;
}

std::string ConstantArrays::parameters() const {
    std::string text;
    for (std::size_t i = 0; i < arrays_.size(); ++i) text += fmt::format("{}const void* from_{}", i == 0 ? "" : ", ", i);
    return text;
}

void ConstantArrays::write_before(Block& text, const std::string& parameters_of_entries) const {
    std::string names;
    for (const Array& array : arrays_) names += (names.empty() ? "" : ", ") + array.name;
    text.line("__device__ void hone_fills({});", parameters());
    text.line("extern \"C\" __global__ __launch_bounds__({}) void {}({})", threads, entry, parameters_of_entries);
    text.line("{{").line("    hone_fills({});", names).line("}}");
    text.line("#undef __constant__").line("#define __constant__ __device__");
}

std::string ConstantArrays::behind() const {
    std::string text = fmt::format("__device__ void hone_fills({})\n{{\n", parameters());
    for (std::size_t i = 0; i < arrays_.size(); ++i)
        text += fmt::format(
            "    static_assert(sizeof({0}) >= {1}, \"the argument {0} has {1} bytes, and the source's array of this name has fewer\");\n"
            "    for (int i = threadIdx.x; i < {2}; i += {3}) reinterpret_cast<int*>(&{0})[i] = static_cast<const int*>(from_{4})[i];\n",
            arrays_[i].name, arrays_[i].bytes, arrays_[i].bytes / 4, threads, i);
    return text + "}\n";
}

}  // namespace hone::inline v0_1::kernel_folder
