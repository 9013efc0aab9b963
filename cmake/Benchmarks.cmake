# Every benchmarks/<name>_benchmark.cpp is a Google Benchmark program, and defines what benchmarks/program.hpp asks for. The other files are shared by
# all: `main`, the texts of rivals, tables.
file(GLOB benchmark_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks/*_benchmark.cpp)
file(GLOB shared_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks/*.cpp)
file(GLOB rivals CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks/rivals/*.in)
list(REMOVE_ITEM shared_sources ${benchmark_sources})
find_package(benchmark REQUIRED)
# The rival library, official headers and all: only the benchmarks need a toolkit at build time.
find_package(CUDAToolkit QUIET)

set(rows "")
foreach(rival IN LISTS rivals)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${rival})
    cmake_path(GET rival STEM LAST_ONLY name)
    file(READ ${rival} text)
    string(APPEND rows "    if (name == \"${name}\") return R\"rival(${text})rival\";\n")
endforeach()
file(CONFIGURE OUTPUT generated/benchmarks/rival_text.cpp @ONLY CONTENT "// Written by cmake/Benchmarks.cmake from benchmarks/rivals.
#include \"benchmarks/rivals.hpp\"
#include \"foundation/error.hpp\"

namespace hone::benchmarks {

std::string_view rival_text(std::string_view name) {
@rows@    throw Error(\"benchmarks/rivals/\" + std::string(name) + \".in\", \"there is no such rival\", \"add the file and build again\");
}

}  // namespace hone::benchmarks
")

add_library(hone_benchmarks OBJECT ${shared_sources} ${CMAKE_CURRENT_BINARY_DIR}/generated/benchmarks/rival_text.cpp)
target_link_libraries(hone_benchmarks PUBLIC hone::hone hone_options benchmark::benchmark OpenMP::OpenMP_CXX PRIVATE CLI11::CLI11)
foreach(source IN LISTS benchmark_sources)
    cmake_path(GET source STEM name)
    file(STRINGS ${source} uses_examples REGEX "#include \"(examples|solvers)/" LIMIT_COUNT 1)
    if(uses_examples AND NOT HONE_BUILD_EXAMPLES)
        message(STATUS "${name} is left out: it measures an example, and HONE_BUILD_EXAMPLES is off")
        continue()
    endif()
    file(STRINGS ${source} uses_c REGEX "#include <hone.h>" LIMIT_COUNT 1)
    if(uses_c AND NOT HONE_BUILD_LANGUAGES)
        message(STATUS "${name} is left out: it measures libhone, and HONE_BUILD_LANGUAGES is off")
        continue()
    endif()
    add_executable(${name} ${source})
    if(uses_c)
        target_link_libraries(${name} PRIVATE hone::c)
    endif()
    if(uses_examples)
        target_link_libraries(${name} PRIVATE example_parts)
    endif()
    target_link_libraries(${name} PRIVATE hone_benchmarks Threads::Threads ${CMAKE_DL_LIBS})
    if(TARGET CUDA::cublas)
        target_compile_definitions(${name} PRIVATE HONE_HAVE_CUBLAS)
        target_include_directories(${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
        target_link_libraries(${name} PRIVATE CUDA::cublas)
    endif()
endforeach()
