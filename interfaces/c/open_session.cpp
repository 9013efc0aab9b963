#include "interfaces/c/open_session.hpp"

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "runtime/device_list.hpp"
#include "tuner/worker/worker_program.hpp"
#include "tuning_db/places.hpp"

namespace hone::inline v0_1::languages {
namespace {

// Hone's families and those of the kernel folders, whose paths are added to `folders`.
Families families_with(std::string_view kernels, std::vector<std::string>& folders) {
    Families families = built_in_families();
    for (const std::filesystem::path& folder : listed_kernel_folders(kernels)) {
        const KernelFolder kernel(folder);
        add_kernel(families, kernel);
        folders.push_back(kernel.path().string());
    }
    return families;
}

// Empty where there is no hone program.
std::vector<std::string> worker_knowing(const std::vector<std::string>& folders) {
    std::vector<std::string> command = find_worker_command();
    if (!command.empty()) command.insert(command.end(), folders.begin(), folders.end());
    return command;
}

// Empty where no variable says where results are written, which matters to those who tune.
std::string written_records(const std::filesystem::path& named) {
    try {
        return own_records(named).string();
    } catch (const Error&) {
        return "";
    }
}

SessionSettings with_families(SessionSettings settings, const Families& families, const std::vector<std::string>& folders) {
    settings.families = &families;
    settings.worker = worker_knowing(folders);
    return settings;
}

}  // namespace

OpenSession::OpenSession(const std::string& device, SessionSettings settings, std::string_view kernels)
    : families_(families_with(kernels, folders_)),
      settings_(with_families(std::move(settings), families_, folders_)),
      session_(device, settings_),
      name_(device_id(session_.device())),
      results_folder_(written_records(settings_.database)) {
    Results& results = all_results_.emplace_back();
    results.library = &session_.library();
    latest_ = &results;
}

OpenSession::~OpenSession() = default;

std::vector<std::string> OpenSession::worker_command() const {
    return worker_knowing(folders_);
}

hone_kernel* OpenSession::kernel(std::string_view problem) {
    Results& results = this->results();
    if (hone_kernel* const* const known = results.by_text.find(problem)) return *known;
    auto kernel = results.library->kernel(families().parse_problem(problem));
    const std::lock_guard lock(mutex_);
    auto& handle = results.handles[kernel.get()];
    if (handle == nullptr) handle = std::make_unique<hone_kernel>(std::move(kernel), this);
    results.by_text.add(problem, handle.get());
    return handle.get();
}

void OpenSession::read_results() {
    auto library = std::make_unique<KernelLibrary>(backend(), known_records(families(), settings_.database, settings_.warn), families(),
                                                   settings_.warn, first_use_of(backend(), families(), settings_));
    const std::lock_guard lock(mutex_);
    Results& results = all_results_.emplace_back();
    results.own = std::move(library);
    results.library = results.own.get();
    latest_ = &results;
}

void OpenSession::close_kernels() {
    const std::lock_guard lock(mutex_);
    for (Results& results : all_results_)
        for (auto& [kernel, handle] : results.handles) {
            handle->close(hone_kernel::kind);
            handle->kernel.reset();
            retire(std::move(handle));
        }
}

const char* OpenSession::keep(std::string text) {
    const std::lock_guard lock(mutex_);
    return texts_.emplace_back(std::move(text)).c_str();
}

void* OpenSession::allocate(std::int64_t bytes) {
    Allocation allocation{DeviceArray(backend(), bytes)};
    void* const data = allocation.memory.data();
    const std::lock_guard lock(mutex_);
    arrays_.emplace(static_cast<const char*>(data), std::move(allocation));
    return data;
}

bool OpenSession::free(void* data) {
    const std::lock_guard lock(mutex_);
    const auto found = arrays_.find(static_cast<const char*>(data));
    if (found == arrays_.end()) return false;
    *found->second.freed = true;
    arrays_.erase(found);
    return true;
}

const std::pair<const char* const, OpenSession::Allocation>* OpenSession::allocation_at(const void* data) const {
    const auto* const address = static_cast<const char*>(data);
    auto after = arrays_.upper_bound(address);
    if (after == arrays_.begin()) return nullptr;
    --after;
    return address < after->first + after->second.memory.bytes() ? &*after : nullptr;
}

std::int64_t OpenSession::allocated_from(const void* data) const {
    const std::lock_guard lock(mutex_);
    const auto* const found = allocation_at(data);
    return found == nullptr ? -1 : found->first + found->second.memory.bytes() - static_cast<const char*>(data);
}

std::shared_ptr<const std::atomic<bool>> OpenSession::freed_flag_of(const void* data) const {
    const std::lock_guard lock(mutex_);
    const auto* const found = allocation_at(data);
    return found == nullptr ? nullptr : found->second.freed;
}

}  // namespace hone::inline v0_1::languages

hone_kernel::hone_kernel(std::shared_ptr<const hone::Kernel> looked_up, hone::languages::OpenSession* of)
    : Shell(kind), kernel(std::move(looked_up)), session(of), configuration(kernel->match().config.key()) {
}
