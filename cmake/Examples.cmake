# Every examples/<name>.cpp is a program that uses hone as an application does: through hone::hone, solvers/, and CLI11 for its command line. What stands in
# the folders below (a program's own parts in examples/<name>/, options that several share) is one library, that tests link too.
file(GLOB example_parts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/examples/*/*.cpp)
add_library(example_parts STATIC ${example_parts})
target_link_libraries(example_parts PUBLIC hone_all hone_solvers PRIVATE hone_options OpenMP::OpenMP_CXX)
# They compute on the host, which without optimisation takes most of their tests' time.
if(HONE_SANITIZE)
    target_compile_options(example_parts PRIVATE -O1)
endif()
if(HONE_BUILD_FUZZERS)
    target_compile_options(example_parts PRIVATE -fsanitize=fuzzer-no-link)
endif()

file(GLOB example_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/examples/*.cpp)
foreach(source IN LISTS example_sources)
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name})
    target_link_libraries(example_${name} PRIVATE example_parts CLI11::CLI11 hone_options)
    # Little is computed outside the parts and the kernels, and a command line takes the compiler long.
    target_compile_options(example_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
endforeach()

# Every examples/c/<name>.c is a program of C11 that uses libhone and nothing else of hone, every examples/fortran/<name>.f90 one of Fortran 2018. Not with
# sanitizers, whose compiler is the C++ one.
if(HONE_BUILD_LANGUAGES AND NOT HONE_SANITIZE)
    enable_language(C)
    file(GLOB c_examples CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/examples/c/*.c)
    foreach(source IN LISTS c_examples)
        cmake_path(GET source STEM name)
        add_executable(${name}_c ${source})
        set_target_properties(${name}_c PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
        target_compile_options(${name}_c PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
        target_link_libraries(${name}_c PRIVATE hone::c m)
    endforeach()
    file(GLOB fortran_examples CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/examples/fortran/*.f90)
    foreach(source IN LISTS fortran_examples)
        cmake_path(GET source STEM name)
        if(TARGET hone_fortran)
            add_executable(${name}_fortran ${source})
            target_link_libraries(${name}_fortran PRIVATE hone::fortran)
        endif()
    endforeach()
endif()
