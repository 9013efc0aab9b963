# Every benchmarks/<name>.cpp is a Google Benchmark program; it may bring a main of its own.
file(GLOB benchmark_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks/*.cpp)
if(benchmark_sources)
    find_package(benchmark REQUIRED)
endif()
foreach(source IN LISTS benchmark_sources)
    cmake_path(GET source STEM name)
    add_executable(benchmark_${name} ${source})
    target_link_libraries(benchmark_${name} PRIVATE hone::hone hone_options benchmark::benchmark benchmark::benchmark_main
                                                    OpenMP::OpenMP_CXX Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
