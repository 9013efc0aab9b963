# Writes OUTPUT, a C++ file that holds every template below DIRECTORY as text, by its path there. Run as: cmake -DDIRECTORY=... -DOUTPUT=... -P EmbedTemplates.cmake
file(GLOB_RECURSE templates RELATIVE "${DIRECTORY}" "${DIRECTORY}/*.in")
list(SORT templates)
set(rows "")
foreach(template IN LISTS templates)
    string(REGEX REPLACE "\\.in$" "" name "${template}")
    # Hexadecimal bytes: no limit on the length of a string literal, and nothing to escape.
    file(READ "${DIRECTORY}/${template}" bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(MAKE_C_IDENTIFIER "${name}" identifier)
    string(APPEND arrays "constexpr char ${identifier}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", {${identifier}, sizeof(${identifier}) - 1}},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Written by cmake/EmbedTemplates.cmake from templates/.
#include <string_view>
#include <utility>

#include \"generator/error.hpp\"
#include \"generator/render.hpp\"

namespace hone {
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

}  // namespace hone
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
