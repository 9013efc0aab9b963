# The `hone` command: tools/main.cpp. The other files of tools/ are a library of their own, so that tests can call a sub-command directly.
file(GLOB_RECURSE tool_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tools/*.cpp)
list(REMOVE_ITEM tool_sources ${CMAKE_CURRENT_SOURCE_DIR}/tools/main.cpp)
if(tool_sources)
    # The page that `hone report` fills: files of their own, so that they can be read and checked as what they are.
    set(embedded_report ${PROJECT_BINARY_DIR}/generated/report_files.cpp)
    file(GLOB report_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tools/report/*.html ${CMAKE_CURRENT_SOURCE_DIR}/tools/report/*.css
                                             ${CMAKE_CURRENT_SOURCE_DIR}/tools/report/*.js)
    add_custom_command(
        OUTPUT ${embedded_report}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated
        COMMAND ${CMAKE_COMMAND} -DDIRECTORY=${CMAKE_CURRENT_SOURCE_DIR}/tools/report -DOUTPUT=${embedded_report}
                -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedReport.cmake
        DEPENDS ${report_files} cmake/EmbedReport.cmake cmake/EmbedFiles.cmake
        COMMENT "Embedding the report's page")
    add_library(hone_tools STATIC ${tool_sources} ${embedded_report})
    target_compile_definitions(hone_tools PRIVATE HONE_VERSION="${PROJECT_VERSION}" HONE_BUILD_TYPE="$<CONFIG>")
    # Little is computed here, and command lines and tables take the compiler long.
    target_compile_options(hone_tools PRIVATE $<$<CONFIG:Release>:-O1>)
    target_link_libraries(hone_tools PUBLIC hone_all CLI11::CLI11 nlohmann_json::nlohmann_json PRIVATE hone_options OpenMP::OpenMP_CXX Threads::Threads)
endif()
if(tool_sources AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/tools/main.cpp)
    add_executable(hone tools/main.cpp)
    target_link_libraries(hone PRIVATE hone_tools hone_options)
    hone_optimised_first(hone)
    # Completion and the manual page are made from the same tables as --help, by the program itself.
    if(HONE_INSTALL AND NOT CMAKE_CROSSCOMPILING AND NOT HONE_SANITIZE)
        set(tool_texts ${PROJECT_BINARY_DIR}/generated/tools)
        file(MAKE_DIRECTORY ${tool_texts})
        add_custom_command(TARGET hone POST_BUILD
                           COMMAND hone completion bash --output ${tool_texts}/hone
                           COMMAND hone completion zsh --output ${tool_texts}/_hone
                           COMMAND hone completion fish --output ${tool_texts}/hone.fish
                           COMMAND hone completion man --output ${tool_texts}/hone.1)
    endif()
endif()
