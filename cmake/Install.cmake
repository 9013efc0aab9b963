# `cmake --install` gives find_package(hone), target hone::hone: #include <hone/hone.hpp>. C programs get
# find_package(hone COMPONENTS c), target hone::c, or pkg-config hone: #include <hone.h>. C++ without CMake: pkg-config hone-cxx.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hone)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_folder} OUTPUT_VARIABLE pc_to_prefix)
install(TARGETS hone_all ${hone_libraries} EXPORT hone_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Shared libraries are found below the prefix, wherever that is moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE programs_to_libraries)
set_target_properties(${hone_libraries} PROPERTIES INSTALL_RPATH $ORIGIN)
if(TARGET hone)
    set_target_properties(hone PROPERTIES INSTALL_RPATH $ORIGIN/${programs_to_libraries})
    install(TARGETS hone RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT hone_targets NAMESPACE hone:: FILE hone-targets.cmake DESTINATION ${package_folder})
# Every program that uses the installed package compiles this one source, with where the package lies: below whatever prefix it was found.
hone_installed_copy(${PROJECT_SOURCE_DIR}/tuning_db/package.cpp ${PROJECT_BINARY_DIR}/generated/package.cpp)
install(FILES ${PROJECT_BINARY_DIR}/generated/package.cpp DESTINATION ${package_folder})
cmake_path(APPEND package_source $<INSTALL_PREFIX> ${package_folder} package.cpp)
cmake_path(APPEND package_records $<INSTALL_PREFIX> ${CMAKE_INSTALL_DATADIR} hone/records)
cmake_path(APPEND package_program $<INSTALL_PREFIX> ${CMAKE_INSTALL_BINDIR} hone)
target_sources(hone_tuning_db INTERFACE $<INSTALL_INTERFACE:${package_source}>)
target_compile_definitions(hone_tuning_db INTERFACE $<INSTALL_INTERFACE:HONE_PACKAGE_RECORDS="${package_records}">
                                                    $<INSTALL_INTERFACE:HONE_PACKAGE_PROGRAM="${package_program}">)
set(header_folder ${PROJECT_BINARY_DIR}/installed_headers)
file(REMOVE_RECURSE ${header_folder})
hone_installed_headers(${header_folder})
install(DIRECTORY ${header_folder}/hone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY tuning_db/records DESTINATION ${CMAKE_INSTALL_DATADIR}/hone FILES_MATCHING PATTERN "*.json")

if(HONE_BUILD_LANGUAGES)
    install(TARGETS hone_c EXPORT hone_c_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT hone_c_targets NAMESPACE hone:: FILE hone-c-targets.cmake DESTINATION ${package_folder})
    install(FILES runtime/languages/c/hone.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    # Fortran's modules are each compiler's own, so their sources are installed, for applications to compile.
    install(FILES runtime/languages/fortran/hone_c.f90 runtime/languages/fortran/hone.f90 DESTINATION ${CMAKE_INSTALL_DATADIR}/hone/fortran)
    set_target_properties(hone_c PROPERTIES INSTALL_RPATH $ORIGIN)
    configure_file(runtime/languages/c/hone.pc.in ${PROJECT_BINARY_DIR}/hone.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/hone.pc DESTINATION ${pkgconfig_folder})
endif()
if(HONE_BUILD_PYTHON)
    # With pip the package holds all that it needs (cmake/Python.cmake); here it stands on the libraries of the prefix.
    set(python_folder ${CMAKE_INSTALL_LIBDIR}/python3)
    set_target_properties(hone_python PROPERTIES INSTALL_RPATH "$ORIGIN/lib;$ORIGIN/../..")
    install(TARGETS hone_python LIBRARY DESTINATION ${python_folder}/hone)
    install(DIRECTORY runtime/languages/python/hone DESTINATION ${python_folder} FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")
    install(FILES ${PROJECT_BINARY_DIR}/_hone.pyi DESTINATION ${python_folder}/hone)
endif()

# pkg-config for C++. The libraries name each other in this order; METIS and MPI where they were found.
set(cxx_libraries "")
foreach(library IN LISTS hone_libraries)
    string(PREPEND cxx_libraries "-l${library} ")
endforeach()
string(STRIP "${cxx_libraries}" cxx_libraries)
if(METIS_INCLUDE_DIR AND METIS_LIBRARY)
    string(APPEND cxx_libraries " ${METIS_LIBRARY}")
endif()
if(MPI_CXX_FOUND)
    list(JOIN MPI_CXX_LIBRARIES " " mpi_libraries)
    string(APPEND cxx_libraries " ${mpi_libraries}")
endif()
configure_file(cmake/hone-cxx.pc.in ${PROJECT_BINARY_DIR}/hone-cxx.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hone-cxx.pc DESTINATION ${pkgconfig_folder})

configure_package_config_file(cmake/hone-config.cmake.in ${PROJECT_BINARY_DIR}/hone-config.cmake INSTALL_DESTINATION ${package_folder}
                              PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hone-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hone-config.cmake ${PROJECT_BINARY_DIR}/hone-config-version.cmake DESTINATION ${package_folder})

if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt -P ${PROJECT_SOURCE_DIR}/cmake/Uninstall.cmake
                      COMMENT "Removing what was installed" VERBATIM)
    # cpack -G DEB: one package with all, whose dependencies are read from its programs.
    set(CPACK_PACKAGE_NAME hone)
    set(CPACK_PACKAGE_VENDOR "the hone authors")
    set(CPACK_PACKAGE_CONTACT "the hone authors <hone@localhost>")
    set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
    set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
    set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
    set(CPACK_STRIP_FILES ON)
    set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_PACKAGE_SECTION science)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
    # What kernels for processors are compiled by, and what projects that use the C++ libraries need.
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++")
    set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, zlib1g-dev, cmake")
    # libhone is the package's own, and its loader has to hear of it.
    file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
    set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
    include(CPack)
endif()
