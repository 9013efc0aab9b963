#include "tuner/worker/line_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"

namespace hone::inline v0_1 {

LineFile::LineFile(std::filesystem::path path) : path_(std::move(path)) {
    fill_standard_descriptors();
    const std::string temporary = fmt::format("{}.{}.tmp", path_.string(), getpid());
    descriptor_ = Descriptor(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
    if (!descriptor_.valid() || rename(temporary.c_str(), path_.c_str()) != 0)
        throw Error("file " + path_.string(), "cannot be made: " + system_message(errno), "choose another folder with --db");
}

void LineFile::append(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    // Other hosts see what has reached the server.
    if (!write_all(descriptor_.get(), std::string(line) + "\n") || fdatasync(descriptor_.get()) != 0)
        throw Error("file " + path_.string(), "cannot be written: " + system_message(errno), "make room on the disk");
}

std::vector<std::string> LineFileReader::take() {
    std::vector<std::string> lines;
    const Descriptor descriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!descriptor.valid() || fstat(descriptor.get(), &status) != 0) return lines;
    if (status.st_dev != device_ || status.st_ino != number_) {
        device_ = status.st_dev;
        number_ = status.st_ino;
        taken_ = 0;
        seen_ = false;
        rest_.clear();
    }
    std::array<char, 1 << 14> buffer{};
    bool more = false;
    for (ssize_t got = 0; (got = pread(descriptor.get(), buffer.data(), buffer.size(), taken_)) > 0; taken_ += got) {
        rest_.append(buffer.data(), static_cast<std::size_t>(got));
        more = true;
    }
    if (more) heard_ = std::chrono::steady_clock::now();
    if (more && std::exchange(seen_, true)) grows_ = true;
    std::size_t begin = 0;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
        lines.push_back(rest_.substr(begin, end - begin));
        begin = end + 1;
    }
    rest_.erase(0, begin);
    return lines;
}

double LineFileReader::silent_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - heard_).count();
}

}  // namespace hone::inline v0_1
