#include "tuner/worker_program.hpp"

#include <cstdlib>
#include <filesystem>

#include "runtime/process.hpp"

namespace hone {

std::vector<std::string> find_worker_command() {
    const auto command = [](const std::string& program) -> std::vector<std::string> {
        const std::string found = find_program(program);
        return found.empty() ? std::vector<std::string>{} : std::vector<std::string>{found, "worker"};
    };
    if (const char* const named = std::getenv("HONE_WORKER"); named != nullptr && *named != '\0') return command(named);
    std::error_code error;
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const auto& folder : {own, own / ".." / "bin", std::filesystem::path(HONE_BINARY_FOLDER)})
        if (auto found = command((folder / "hone").string()); !found.empty()) return found;
    return command("hone");
}

}  // namespace hone
