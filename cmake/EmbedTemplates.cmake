# Writes OUTPUT, a C++ file that holds every template below DIRECTORY as text, by its path there. Run as: cmake -DDIRECTORY=... -DOUTPUT=... -P EmbedTemplates.cmake
file(GLOB_RECURSE templates RELATIVE "${DIRECTORY}" "${DIRECTORY}/*.in")
list(SORT templates)
include(${CMAKE_CURRENT_LIST_DIR}/EmbedFiles.cmake)
embed_files("${DIRECTORY}" arrays rows ${templates})
file(WRITE "${OUTPUT}.new" "// Written by cmake/EmbedTemplates.cmake from templates/.
#include <string_view>
#include <utility>

#include \"foundation/error.hpp\"
#include \"generator/render.hpp\"

namespace hone::inline v0_1 {
namespace {
${arrays}
constexpr std::pair<std::string_view, std::string_view> embedded[] = {
${rows}    {\"\", \"\"}};
}  // namespace

std::string_view template_text(std::string_view template_name) {
    for (const auto& [name, text] : embedded)
        if (name == template_name && !name.empty()) return text;
    throw Error(\"templates/\" + std::string(template_name) + \".in\", \"there is no such template\", \"add the file and build again\");
}

}  // namespace hone::inline v0_1
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
