#include <array>
#include <filesystem>
#include <system_error>

#include "foundation/file_store.hpp"
#include "generator/render.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"

namespace hone::tools {
namespace new_kernel {

namespace fs = std::filesystem;

constexpr std::array files{"family.json", "kernel.cpp", "kernel.cu", "reference.cpp"};
const std::string example_name = "my_kernel";  // in the embedded texts

std::string named(std::string text, const std::string& name) {
    for (std::size_t at = text.find(example_name); at != std::string::npos; at = text.find(example_name, at + name.size()))
        text.replace(at, example_name.size(), name);
    return text;
}

Exit write(const std::vector<std::string>& words, Console& console) {
    if (words.size() != 1) throw Error("new", fmt::format("{} words are given", words.size()), "name one folder: hone new my_kernel");
    const fs::path folder(words.front());
    const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    if (!kernel_folder::is_free_identifier(name))
        throw Error("new", fmt::format("\"{}\" cannot be a kernel's name", name),
                    "end the path with a name that C++ leaves free: letters, digits and _, a letter first");
    for (const Family& family : known_families())
        if (family.name == name) throw Error("new", "hone has a family that is called " + name, "choose another name");
    std::error_code error;
    if (fs::exists(folder, error) && !fs::is_empty(folder, error))
        throw Error("new", fmt::format("there is something in {}", folder.string()), "name a folder that does not exist or is empty");
    make_folders(folder);
    for (const std::string file : files) replace_file(folder / file, named(std::string(template_text("kernel_folder/" + file)), name));
    const KernelFolder kernel(folder);
    console.print("{}: {}\n\n", folder.string(), kernel.family().summary);
    const std::string path = shell_word(folder.is_absolute() ? folder.string() : "./" + folder.string());
    console.print("  hone check {0}                 # what is wrong with it, before anything is tuned\n", path);
    console.print("  hone tune {0} size=2048 --budget 20s\n  hone emit {0} size=2048 --target cuda\n", path);
    return Exit::ok;
}

Action declare(Options& options) {
    auto words = std::make_shared<std::vector<std::string>>();
    options.words("FOLDER", *words, "the new folder; its last part is the kernel's name");
    return [words](Console& console) { return write(*words, console); };
}

}  // namespace new_kernel

Command new_command() {
    return {"new",
            "write a folder with a kernel of your own to start from",
            "FOLDER",
            "Writes a kernel folder that runs unchanged, a Jacobi step in two dimensions. family.json says what the kernel computes, how it is "
            "launched and what may be tuned. kernel.cpp and kernel.cu are the kernels for processors and for CUDA. reference.cpp contains the plain "
            "loops with which every candidate is compared. Change them into your kernel, delete the kernel that you do not need, and run 'hone "
            "check'.\n\n"
            "You can use a kernel folder wherever a command takes a family: 'hone tune ./my_kernel size=2048'. See docs/your-own-kernel.md.",
            {{"new my_kernel", "a folder my_kernel here"}},
            new_kernel::declare};
}

}  // namespace hone::tools
