# Configures the consumer project with hone's source tree as a part of it, checks that hone brings nothing but what was asked for, and with BUILD=ON builds
# and runs it. Run as:
#   cmake -DSOURCE=<this folder> -DWORK=<scratch folder> [-DBUILD=ON] -P fetch_content.cmake
function(run)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

get_filename_component(hone ${SOURCE}/../.. ABSOLUTE)
file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/CMakeLists.txt ${SOURCE}/main.cpp DESTINATION ${WORK}/project)
file(COPY ${hone}/examples/heat.cpp ${hone}/examples/heat DESTINATION ${WORK}/project/examples)
set(REPOSITORY ${hone})
include(${CMAKE_CURRENT_LIST_DIR}/readme.cmake)
# Libraries that the project brings itself: the headers of the system's, by other targets.
foreach(library IN ITEMS fmt:fmt/format.h nlohmann_json:nlohmann/json.hpp CLI11:CLI/CLI.hpp)
    string(REPLACE ":" ";" words ${library})
    list(GET words 0 name)
    list(GET words 1 header)
    file(WRITE ${WORK}/project/bundled/${name}/CMakeLists.txt "find_path(${name}_headers ${header} REQUIRED)
add_library(bundled_${name} INTERFACE)
add_library(${name}::${name} ALIAS bundled_${name})
target_compile_definitions(bundled_${name} INTERFACE FMT_HEADER_ONLY)
target_include_directories(bundled_${name} INTERFACE \${${name}_headers})
")
endforeach()
# Without optimisation and in groups: what is compiled is tested elsewhere.
run(${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DHONE_SOURCE=${hone} -DHONE_UNITY=ON)

# The project's own folder is its own: hone writes into its part of it.
file(GLOB written RELATIVE ${WORK}/build ${WORK}/build/*)
list(REMOVE_ITEM written CMakeCache.txt CMakeFiles _deps build.ninja cmake_install.cmake .ninja_deps .ninja_log)
if(written)
    message(FATAL_ERROR "hone writes into the folder of the project that builds it: ${written}")
endif()

# Neither tests, examples nor benchmarks, and nothing is installed that the project does not install itself.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target help OUTPUT_VARIABLE targets COMMAND_ERROR_IS_FATAL ANY)
foreach(target IN ITEMS hone hone_session)
    if(NOT targets MATCHES "\n${target}: phony")
        message(FATAL_ERROR "there is no target ${target} among: ${targets}")
    endif()
endforeach()
string(REGEX MATCH "\n[^\n]*(test|example|benchmark|campaign|fuzz)[^\n]*: phony" unwanted "${targets}")
if(unwanted)
    message(FATAL_ERROR "hone's own targets are built with the project that builds it: ${unwanted}")
endif()
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix)
file(GLOB_RECURSE installed ${WORK}/prefix/*)
if(installed)
    message(FATAL_ERROR "hone is installed with the project that builds it: ${installed}")
endif()

if(BUILD)
    run(${CMAKE_COMMAND} --build ${WORK}/build)
    run(${CMAKE_COMMAND} -E env --unset=HONE_DB --unset=HONE_WORKER HONE_CACHE=${WORK}/cache XDG_DATA_HOME=${WORK}/data PATH=/usr/bin:/bin
        ${WORK}/build/consumer ${hone}/tuning_db/records ${WORK}/build/_deps/hone-build/bin/hone)
endif()
