#include "interfaces/kernel_folder/kernel_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/sha256.hpp"
#include "generator/families/built_in_families.hpp"
#include "interfaces/kernel_folder/data.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "interfaces/kernel_folder/folder_file.hpp"
#include "interfaces/kernel_folder/headers.hpp"
#include "interfaces/kernel_folder/python_modules.hpp"
#include "interfaces/kernel_folder/reference.hpp"
#include "interfaces/kernel_folder/source_text.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;
using namespace kernel_folder;

constexpr std::int64_t longest_file = std::int64_t{4} << 20;
constexpr const char* description_name = "family.json";
constexpr std::int64_t longest_library = std::int64_t{1} << 30;
constexpr std::size_t hash_digits = 8;

// Words of a problem that every family can be asked about: middling sizes, the first word of each
// choice.
std::string any_problem(const std::vector<ProblemParameter>& parameters) {
    constexpr std::int64_t middling = 256;
    std::string words;
    for (const ProblemParameter& parameter : parameters) {
        if (!parameter.fallback.empty()) continue;
        const std::string value =
            parameter.words.empty() ? fmt::format("{}", std::clamp(middling, parameter.low, parameter.high)) : parameter.words.front();
        words += (words.empty() ? "" : " ") + parameter.name + "=" + value;
    }
    return words;
}

Family family_of(const std::shared_ptr<const Description>& description, const fs::path& folder, const std::string& name) {
    const auto reference = std::make_shared<Reference>(description, folder);
    Family family;
    family.name = name;
    family.summary = description->summary;
    family.source = description->literature.empty() ? "the kernel folder " + folder.string() : description->literature;
    family.example = name + " " + (description->example.empty() ? any_problem(description->parameters) : description->example);
    family.parameters = description->parameters;
    family.range_unit = description->range.given() ? description->range_unit : "steps";
    family.range = [description](const Problem& problem) { return range_length(*description, problem); };
    family.arrays = [description](const Problem& problem) { return array_specs(*description, problem); };
    family.space = [description, name](const Problem& problem, const Limits& limits) { return search_space(*description, name, problem, limits); };
    family.kernel = [description, name](const Problem& problem, const Config& config, const Limits& limits) {
        return kernel_source(*description, name, problem, config, limits);
    };
    family.reference = [reference](const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
        reference->step(problem, arrays, first, last);
    };
    family.workload = [description, folder, reference](const Problem& problem, std::uint64_t seed) {
        return workload(*description, folder, *reference, problem, seed);
    };
    family.counts = [description](const Problem& problem) { return work_counts(*description, problem); };
    return family;
}

// Sources with their headers in place. What they and the reference read beside is added to `read`.
void add_headers(Description& description, const fs::path& folder, std::string& read) {
    Headers headers(folder);
    for (auto* side : {&description.cpu, &description.cuda})
        if (*side) (*side)->text = headers.in_place((*side)->text, description.name + "/" + (*side)->file, !(*side)->is_template());
    ReferenceSource& reference = description.reference;
    if (reference.kind == ReferenceSource::Kind::source)
        reference.text = headers.in_place(reference.text, description.name + "/" + reference.file, true);
    read += headers.read();
}

// What a reference is made of that no compiler of hone's sees.
void add_reference_files(ReferenceSource& reference, const fs::path& folder, std::string& read) {
    using Kind = ReferenceSource::Kind;
    if (reference.kind != Kind::library && reference.kind != Kind::python) return;
    std::vector<fs::path> files{folder / reference.file};
    if (reference.kind == Kind::python)
        for (fs::path& module : python_modules(files.front())) files.push_back(std::move(module));
    std::error_code error;
    for (const fs::path& file : files) {
        const fs::path path = fs::canonical(file, error);
        if (error) continue;  // whoever runs it says that it is not there
        const std::string hash = sha256(read_file(path, longest_library));
        reference.files.emplace_back(path.string(), hash);
        const bool known = reference.kind == Kind::python && file == files.front();  // its text was read already
        if (!known) read += fmt::format("\n{} {}", path.filename().string(), hash);
    }
}

}  // namespace

KernelFolder::KernelFolder(const fs::path& folder) {
    std::error_code error;
    path_ = fs::canonical(folder, error);
    if (error || !is_kernel_folder(path_))
        throw Error("kernel folder " + folder.string(), fmt::format("there is no {}", (folder / description_name).string()),
                    "'hone new NAME' writes a folder to start from");
    const std::string text = read_file(folder_file(path_, description_name), longest_file);
    std::string read = text;
    const auto read_source = [&](const std::string& name) {
        std::string contents = read_file(folder_file(path_, name), longest_file);
        read += fmt::format("\n{} {}\n{}", name, contents.size(), contents);
        return contents;
    };
    const std::string file = (folder / description_name).string();
    Description description = parse_description(text, file, read_source);
    add_headers(description, path_, read);
    add_reference_files(description.reference, path_, read);
    description_ = std::make_shared<const Description>(std::move(description));
    family_ = family_of(description_, path_, description_->name + ":" + sha256(read).substr(0, hash_digits));
    try {
        Families({family_}).parse_problem(family_.example);
    } catch (const Error& wrong) {
        throw Error(file + ": example", wrong.what(), "correct it: it is what 'hone families' and 'hone check' begin with");
    }
}

std::vector<fs::path> listed_kernel_folders(std::string_view list) {
    std::vector<fs::path> folders;
    while (!list.empty()) {
        const std::string_view folder = list.substr(0, list.find(':'));
        if (!folder.empty()) folders.emplace_back(folder);
        list.remove_prefix(std::min(list.size(), folder.size() + 1));
    }
    return folders;
}

void add_kernel(Families& families, const KernelFolder& kernel) {
    const std::string& name = kernel.family().name;
    const std::string_view plain = std::string_view(name).substr(0, name.find(':'));
    const auto called = [](std::string_view wanted) { return [wanted](const Family& family) { return family.name == wanted; }; };
    if (std::any_of(built_in_families().begin(), built_in_families().end(), called(plain)))
        throw Error("kernel folder " + kernel.path().string(), "hone has a family of its own that is called " + std::string(plain),
                    "give the kernel another \"name\" in its family.json");
    if (std::any_of(families.begin(), families.end(), called(name))) return;
    std::vector<Family> all(families.begin(), families.end());
    all.push_back(kernel.family());
    families = Families(std::move(all));
}

bool is_kernel_folder(const fs::path& folder) {
    std::error_code error;
    return fs::is_regular_file(folder / description_name, error);
}

}  // namespace hone::inline v0_1
