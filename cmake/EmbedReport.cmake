# Writes OUTPUT, a C++ file that holds the page, the style and the scripts of DIRECTORY (tools/report) as text, by name. Run as:
# cmake -DDIRECTORY=... -DOUTPUT=... -P EmbedReport.cmake
include(${CMAKE_CURRENT_LIST_DIR}/EmbedFiles.cmake)
file(GLOB files RELATIVE "${DIRECTORY}" "${DIRECTORY}/*.html" "${DIRECTORY}/*.css" "${DIRECTORY}/*.js")
list(SORT files)
embed_files("${DIRECTORY}" arrays rows ${files})
file(WRITE "${OUTPUT}.new" "// Written by cmake/EmbedReport.cmake from tools/report/.
#include <string_view>
#include <utility>

#include \"foundation/error.hpp\"
#include \"tools/report/report_page.hpp\"

namespace hone::tools {
namespace {
${arrays}
constexpr std::pair<std::string_view, std::string_view> embedded[] = {
${rows}    {\"\", \"\"}};
}  // namespace

std::string_view report_file(std::string_view file) {
    for (const auto& [name, text] : embedded)
        if (name == file && !name.empty()) return text;
    throw Error(\"tools/report/\" + std::string(file), \"there is no such file\", \"add it and build again\");
}

}  // namespace hone::tools
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
