# `cmake --install` gives find_package(hone), target hone::hone; headers are included as in this tree: #include "runtime/library.hpp".
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hone)
install(TARGETS hone_all ${hone_libraries} EXPORT hone_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET hone)
    install(TARGETS hone RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT hone_targets NAMESPACE hone:: FILE hone-targets.cmake DESTINATION ${package_folder})
# Every program that uses the installed package compiles this one source, with where the package lies: below whatever prefix it was found.
install(FILES tuning_db/package.cpp DESTINATION ${package_folder})
cmake_path(APPEND package_source $<INSTALL_PREFIX> ${package_folder} package.cpp)
cmake_path(APPEND package_records $<INSTALL_PREFIX> ${CMAKE_INSTALL_DATADIR} hone/records)
cmake_path(APPEND package_program $<INSTALL_PREFIX> ${CMAKE_INSTALL_BINDIR} hone)
target_sources(hone_tuning_db INTERFACE $<INSTALL_INTERFACE:${package_source}>)
target_compile_definitions(hone_tuning_db INTERFACE $<INSTALL_INTERFACE:HONE_PACKAGE_RECORDS="${package_records}">
                                                    $<INSTALL_INTERFACE:HONE_PACKAGE_PROGRAM="${package_program}">)
foreach(folder generator tuning_db runtime tuner)
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hone FILES_MATCHING PATTERN "*.hpp" PATTERN records EXCLUDE)
endforeach()
install(DIRECTORY tuning_db/records DESTINATION ${CMAKE_INSTALL_DATADIR}/hone FILES_MATCHING PATTERN "*.json")

configure_package_config_file(cmake/hone-config.cmake.in ${PROJECT_BINARY_DIR}/hone-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hone-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hone-config.cmake ${PROJECT_BINARY_DIR}/hone-config-version.cmake DESTINATION ${package_folder})
