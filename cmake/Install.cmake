# `cmake --install` gives find_package(hone), target hone::hone; headers are included as in this tree: #include "runtime/library.hpp".
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hone)
install(TARGETS hone_all ${hone_libraries} EXPORT hone_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT hone_targets NAMESPACE hone:: FILE hone-targets.cmake DESTINATION ${package_folder})
foreach(folder generator tuning_db runtime tuner)
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hone FILES_MATCHING PATTERN "*.hpp" PATTERN records EXCLUDE)
endforeach()
install(DIRECTORY tuning_db/records DESTINATION ${CMAKE_INSTALL_DATADIR}/hone FILES_MATCHING PATTERN "*.json")

configure_package_config_file(cmake/hone-config.cmake.in ${CMAKE_BINARY_DIR}/hone-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hone-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hone-config.cmake ${CMAKE_BINARY_DIR}/hone-config-version.cmake DESTINATION ${package_folder})
