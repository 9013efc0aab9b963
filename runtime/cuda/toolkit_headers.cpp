#include "runtime/cuda/toolkit_headers.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/sha256.hpp"
#include "runtime/cuda/nvrtc_headers.hpp"
#include "runtime/cuda/shared_library.hpp"
#include "runtime/directives.hpp"

namespace hone::inline v0_1::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t longest_header = std::int64_t{16} << 20;

bool has_headers(const fs::path& folder) {
    std::error_code error;
    return fs::is_regular_file(folder / "cuda_fp16.h", error);
}

std::vector<fs::path> candidates(const std::string& nvrtc_library) {
    std::vector<fs::path> folders;
    std::error_code error;
    for (const fs::path& path : {fs::path(nvrtc_library), fs::canonical(nvrtc_library, error)}) {
        if (!path.has_parent_path()) continue;
        const fs::path place = path.parent_path();
        // lib64 and lib of a toolkit, targets/x86_64-linux/lib, lib/x86_64-linux-gnu;
        // nvidia/cuda_nvrtc/lib beside nvidia/cuda_runtime/include.
        for (const char* way : {"../include", "../../include", "../../cuda_runtime/include"}) folders.push_back((place / way).lexically_normal());
    }
    for (const fs::path& toolkit : toolkit_folders())
        for (const char* way : {"include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"}) folders.push_back(toolkit / way);
    return folders;
}

// "CUDA 13.0" of `#define CUDART_VERSION  13000`.
std::string name_of(const fs::path& folder) {
    constexpr std::string_view word = "#define CUDART_VERSION";
    std::string text;
    try {
        text = read_file(folder / "cuda_runtime_api.h", longest_header);
    } catch (const Error&) {
        return "CUDA of unknown version";
    }
    const std::size_t at = text.find(word);
    const int number = at == std::string::npos ? 0 : std::atoi(text.c_str() + at + word.size());
    return number > 0 ? fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10) : "CUDA of unknown version";
}

// A header as it lies on the disk.
struct Header {
    struct stat status {};
    std::string hash;
    std::vector<std::pair<bool, std::string>> includes;  // whether quoted, and its name
};

std::vector<std::pair<bool, std::string>> includes_of(std::string_view text) {
    std::vector<std::pair<bool, std::string>> includes;
    for (const Directive& line : directives(text))
        if (line.includes() && line.names() != Directive::Names::computed)
            includes.emplace_back(line.names() == Directive::Names::quoted, line.file());
    return includes;
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

// What was read before, as long as the file is the same. libcu++ is a thousand files.
class KnownHeaders {
  public:
    Header at(const fs::path& path) {
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) return {};
        const std::lock_guard lock(mutex_);
        Header& known = known_[path];
        if (known.hash.empty() || !same_file(known.status, status)) {
            const std::string text = read_file(path, longest_header);
            known = {status, sha256(text), includes_of(text)};
        }
        return known;
    }

  private:
    std::mutex mutex_;
    std::map<fs::path, Header> known_;
};

// Goes from header to header.
class Search {
  public:
    explicit Search(const ToolkitHeaders& toolkit) : toolkit_(toolkit) {}

    void follow(const std::vector<std::pair<bool, std::string>>& includes, const fs::path& beside) {
        for (const auto& [quoted, name] : includes) {
            const auto found = find(quoted, name, beside);
            if (!found || !seen_.insert(*found).second) continue;
            const Header header = known().at(*found);
            key_ += fmt::format("{} {}\n", name, header.hash);
            follow(header.includes, found->parent_path());
        }
    }

    std::string key() const { return key_; }

  private:
    static KnownHeaders& known() {
        static KnownHeaders headers;
        return headers;
    }

    std::optional<fs::path> find(bool quoted, const std::string& name, const fs::path& beside) const {
        std::vector<fs::path> places;
        if (fs::path(name).is_absolute()) {
            places.emplace_back("/");
        } else {
            if (quoted && !beside.empty()) places.push_back(beside);
            places.insert(places.end(), toolkit_.folders.begin(), toolkit_.folders.end());
        }
        std::error_code error;
        for (const fs::path& place : places)
            if (fs::path path = (place / name).lexically_normal(); fs::is_regular_file(path, error)) return path;
        return std::nullopt;
    }

    const ToolkitHeaders& toolkit_;
    std::set<fs::path> seen_;
    std::string key_;
};

}  // namespace

ToolkitHeaders find_toolkit_headers(const std::string& nvrtc_library) {
    ToolkitHeaders headers;
    const std::vector<fs::path> folders = candidates(nvrtc_library);
    const auto found = std::find_if(folders.begin(), folders.end(), has_headers);
    if (found == folders.end()) return headers;
    std::error_code error;
    headers.name = name_of(*found);
    headers.folders.push_back(*found);
    headers.has_libcu = fs::is_directory(*found / "cuda/std", error);
    // Of CUDA 13, and of Python's packages for CUDA 12.
    for (const fs::path& libcu : {*found / "cccl", (*found / "../../cuda_cccl/include").lexically_normal()})
        if (!headers.has_libcu && fs::is_directory(libcu / "cuda/std", error)) {
            headers.folders.push_back(libcu);
            headers.has_libcu = true;
        }
    return headers;
}

std::string toolkit_headers_remedy() {
    return "install the CUDA toolkit's headers (NVIDIA's packages cuda-cudart-dev-13-0 and cuda-cccl-13-0, or pip's nvidia-cuda-runtime and "
           "nvidia-cuda-cccl beside its NVRTC), or set CUDA_PATH to the toolkit's folder";
}

IncludedHeaders included_headers(std::string_view text, const ToolkitHeaders& toolkit) {
    IncludedHeaders headers;
    const std::vector<Directive> lines = directives(text);
    if (std::none_of(lines.begin(), lines.end(), [](const Directive& line) { return line.includes(); })) return headers;
    for (const fs::path& folder : toolkit.folders) headers.options.push_back("--include-path=" + folder.string());
    for (const auto& [name, contents] : nvrtc_headers()) {
        headers.given.emplace_back(name.data(), contents.data());
        headers.key += contents;
    }
    Search search(toolkit);
    search.follow(includes_of(text), {});
    headers.key = sha256(headers.key + search.key());
    return headers;
}

}  // namespace hone::inline v0_1::cuda
