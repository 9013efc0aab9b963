#include "solvers/acoustics/files.hpp"

#include <fstream>
#include <sstream>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers::seismic {

std::string contents_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream contents;
    if (stream) contents << stream.rdbuf();
    if (!stream || std::filesystem::is_directory(file)) throw Error(file.string(), "it cannot be read", "give a file that is there");
    return std::move(contents).str();
}

void write_contents(const std::filesystem::path& file, std::string_view bytes) {
    std::ofstream stream(file, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.close();
    if (!stream) throw Error(file.string(), "it cannot be written", "choose a folder that can be written to, with room for it");
}

}  // namespace hone::inline v0_1::solvers::seismic
