#include "foundation/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "foundation/file_store.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_begins = "hone-run-";
constexpr const char* owner_name = ".owner";

// The lock belongs to the open file: it ends with its process, in whatever way, and another process
// that is given the same number has it not.
bool locked(const Descriptor& file) {
    return file.valid() && flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

// The file that says that the folder has an owner. It is locked before it bears its name, so nobody
// ever finds it unlocked while its owner lives. None where files cannot be locked: such a folder is
// not swept.
Descriptor owned(const fs::path& folder) {
    fill_standard_descriptors();
    const fs::path unnamed = folder / ".owner-to-be";
    Descriptor file(open(unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    const std::string process = fmt::format("process {}\n", getpid());  // for whoever looks into it
    if (!locked(file) || !write_all(file.get(), process) || rename(unnamed.c_str(), (folder / owner_name).c_str()) != 0) {
        unlink(unnamed.c_str());
        return Descriptor();
    }
    return file;
}

// All but the file that says whose the folder is: it goes last, so that a removal that is cut short
// can be done again.
void remove_contents(const fs::path& folder) {
    std::vector<fs::path> contents;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename() != owner_name) contents.push_back(entry->path());
    for (const fs::path& path : contents) fs::remove_all(path, error);  // a link goes, not what it points to
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// A file or folder of this user, found at this path and nowhere else.
bool own(const Descriptor& opened, const fs::path& path) {
    struct stat held {};
    struct stat present {};
    return opened.valid() && fstat(opened.get(), &held) == 0 && lstat(path.c_str(), &present) == 0 && same_file(held, present) &&
           held.st_uid == geteuid();
}

void sweep(const fs::path& folder) {
    const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!own(opened, folder)) return;
    const Descriptor owner(openat(opened.get(), owner_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    // Who waited for the lock may hold that of a file that another sweeper has removed since.
    if (!locked(owner) || !own(owner, folder / owner_name)) return;
    remove_contents(folder);
    unlink((folder / owner_name).c_str());
    if (rmdir(folder.c_str()) == 0) return;
    // A process of the dead run is still writing: the next sweep finds it as it was.
    const Descriptor again(openat(opened.get(), owner_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

void sweep_all() {
    std::error_code error;
    std::vector<fs::path> folders;
    for (fs::directory_iterator entry(temporary_place(), error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename().string().compare(0, name_begins.size(), name_begins) == 0) folders.push_back(entry->path());
    for (const fs::path& folder : folders) sweep(folder);
}

}  // namespace

RunFolder::RunFolder() : folder_((sweep_all(), std::string(name_begins))), owner_(owned(folder_.path())) {
}

RunFolder::~RunFolder() {
    remove_contents(path());
}

}  // namespace hone::inline v0_1
