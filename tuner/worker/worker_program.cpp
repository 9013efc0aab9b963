#include "tuner/worker/worker_program.hpp"

#include <filesystem>

#include "foundation/environment.hpp"
#include "foundation/process.hpp"
#include "tuning_db/package.hpp"

namespace hone::inline v0_1 {

std::vector<std::string> find_worker_command() {
    const auto command = [](const std::string& program) -> std::vector<std::string> {
        const std::string found = find_program(program);
        return found.empty() ? std::vector<std::string>{} : std::vector<std::string>{found, "worker"};
    };
    if (const std::string named = environment_variable("HONE_WORKER"); !named.empty()) return command(named);
    std::error_code error;
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const auto& program : {own / "hone", own / ".." / "bin" / "hone", package().program})
        if (auto found = command(program.string()); !found.empty()) return found;
    return command("hone");
}

}  // namespace hone::inline v0_1
