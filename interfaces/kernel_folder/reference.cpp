#include "interfaces/kernel_folder/reference.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/sha256.hpp"
#include "interfaces/kernel_folder/folder_file.hpp"
#include "interfaces/kernel_folder/python_reference.hpp"
#include "interfaces/kernel_folder/source_text.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/disk_cache.hpp"

namespace hone::inline v0_1::kernel_folder {

namespace {

// The loader gives back what it has under a path, also where another file is there now. So a
// library that was built anew is opened by another name of its path. Null where the loader refuses.
void* opened(const std::filesystem::path& file, const std::string& hash) {
    static std::mutex mutex;
    static std::map<std::filesystem::path, std::map<std::string, void*>> libraries;  // by contents; loaded for good
    const std::lock_guard lock(mutex);
    auto& versions = libraries[file];
    if (const auto found = versions.find(hash); found != versions.end()) return found->second;
    std::filesystem::path name = file.parent_path();
    for (std::size_t i = 0; i < versions.size(); ++i) name /= ".";
    void* const library = dlopen((name / file.filename()).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    for (const auto& [other, handle] : versions)
        if (handle == library)
            throw Error(file.string(), "it was written over while this process had it loaded",
                        "start the program again; build libraries as new files");
    return versions[hash] = library;
}

}  // namespace

void require_unchanged(const ReferenceSource& reference, const std::string& where) {
    constexpr std::int64_t longest_file = std::int64_t{1} << 30;
    for (const auto& [file, hash] : reference.files)
        if (sha256(read_file(file, longest_file)) != hash)
            throw Error(where, fmt::format("{} has changed since it was read", file), "start again, so that results are those of what runs");
}

struct Reference::State {
    std::shared_ptr<const Description> description;
    std::filesystem::path folder;
    std::mutex mutex;
    // Made when first needed: a folder is also read where nothing can be compiled.
    std::unique_ptr<DiskCache> cache;
    std::unique_ptr<Backend> backend;
    std::map<std::string, std::shared_ptr<const Module>> modules;  // by what a problem's text is
    void* function = nullptr;                                      // of a shared library, which stays loaded

    std::string where() const { return fmt::format("reference of {} ({})", description->name, (folder / description->reference.file).string()); }

    void find_function() {
        if (description->reference.kind != ReferenceSource::Kind::library || function != nullptr) return;
        require_unchanged(description->reference, where());
        void* const library = opened(folder_file(folder, description->reference.file),
                                     description->reference.files.empty() ? "" : description->reference.files.front().second);
        const auto reason = [] {
            const char* told = dlerror();
            return std::string(told == nullptr ? "the loader gives no reason" : told);
        };
        if (library == nullptr) throw Error(where(), reason(), "build the library for this machine");
        function = dlsym(library, description->reference.entry.c_str());
        if (function == nullptr) throw Error(where(), reason(), "its function has to be extern \"C\"; name it in \"entry\"");
    }

    std::shared_ptr<const Module> module(const Problem& problem, const KernelSource& source) {
        const std::lock_guard lock(mutex);
        find_function();
        auto& kept = modules[source.text];
        if (kept) return kept;
        if (!backend) {
            cache = std::make_unique<DiskCache>(DiskCache::default_folder());
            backend = make_cpu_backend(0, *cache);
        }
        const CompileOutcome outcome = backend->compiler().compile(source);
        if (!outcome.ok)
            throw Error(where(), fmt::format("it does not compile for {}: {}", problem.key(), outcome.failure),
                        fmt::format("hone calls it as {}", declaration(*description, description->reference.entry, {}, 0)));
        kept = backend->load(outcome.code);
        return kept;
    }
};

Reference::Reference(std::shared_ptr<const Description> description, std::filesystem::path folder) : state_(std::make_unique<State>()) {
    state_->description = std::move(description);
    state_->folder = std::move(folder);
}

Reference::~Reference() = default;

void Reference::step(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    using Kind = ReferenceSource::Kind;
    if (state_->description->reference.kind == Kind::stored)
        throw Error("kernel " + state_->description->name, "its answers are stored files, and no function computes them",
                    "install a C++ compiler, or give the family.json a \"reference\" with a source");
    if (state_->description->reference.kind == Kind::python) {
        python_step(*state_->description, state_->folder, problem, arrays, first, last);
        return;
    }
    KernelSource source = reference_source(*state_->description, problem);
    const auto module = state_->module(problem, source);
    std::vector<void*> pointers(arrays.begin(), arrays.end());
    int range_first = static_cast<int>(first);
    int range_last = static_cast<int>(last);
    std::vector<void*> arguments;
    arguments.reserve(arrays.size() + source.scalars.size() + 3);
    for (void*& pointer : pointers) arguments.push_back(&pointer);
    if (state_->description->reference.kind == Kind::library) arguments.push_back(&state_->function);
    for (ScalarSpec& scalar : source.scalars) arguments.push_back(&scalar.value);
    arguments.push_back(&range_first);
    arguments.push_back(&range_last);
    module->launch(module->entry(source.entries[0]), {1, 1, 1}, {1, 1, 1}, 0, {}, arguments.data());
}

}  // namespace hone::inline v0_1::kernel_folder
