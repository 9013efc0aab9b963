# What simulations are made of: meshes, their output, and solvers on hone's kernels, one folder each. Examples, benchmarks and tests link it.
file(GLOB_RECURSE solver_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/solvers/*.cpp)
add_library(hone_solvers STATIC ${solver_sources})
# The tests read pictures back.
target_link_libraries(hone_solvers PUBLIC hone::hone PNG::PNG PRIVATE hone_options OpenMP::OpenMP_CXX)
# They compute on the host, which without optimisation takes most of their tests' time.
if(HONE_SANITIZE)
    target_compile_options(hone_solvers PRIVATE -O1)
endif()
if(HONE_BUILD_FUZZERS)
    target_compile_options(hone_solvers PRIVATE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(hone_solvers PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
