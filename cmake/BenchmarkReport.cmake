# benchmarks/report: tables and pictures of what benchmarks measured. It needs no benchmark library; tests link its parts.
add_library(benchmark_report_parts STATIC ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks/report/tables.cpp
                                          ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks/report/ceiling_picture.cpp)
target_link_libraries(benchmark_report_parts PUBLIC hone::hone PRIVATE hone_options nlohmann_json::nlohmann_json)
add_executable(benchmark_report ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks/report/report.cpp)
target_link_libraries(benchmark_report PRIVATE benchmark_report_parts hone_options)
