# The Python package: interfaces/python/hone, with a module of nanobind's on libhone. 'pip install .' (pyproject.toml) comes here, and makes a wheel of
# the component python: a prefix of its own inside the package, with libhone, the hone program and the records, which libhone finds beside itself.
find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
if(NOT Python_FOUND)
    message(FATAL_ERROR "The Python module needs Python 3.9 or newer with its headers, Python.h (Debian, Ubuntu: apt install python3-dev).")
endif()
if(NOT nanobind_DIR)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_DIR)
endif()
find_package(nanobind CONFIG REQUIRED)
nanobind_add_module(hone_python NB_STATIC NB_SUPPRESS_WARNINGS interfaces/python/bindings.cpp)
set_target_properties(hone_python PROPERTIES OUTPUT_NAME _hone BUILD_RPATH $<TARGET_FILE_DIR:hone_c> INSTALL_RPATH $ORIGIN/lib)
target_link_libraries(hone_python PRIVATE hone::c fmt::fmt $<BUILD_INTERFACE:hone_options>)
nanobind_add_stub(hone_python_stub MODULE _hone OUTPUT ${PROJECT_BINARY_DIR}/_hone.pyi PYTHON_PATH $<TARGET_FILE_DIR:hone_python> DEPENDS hone_python)

# What follows is pip's; where CMake installs, cmake/Install.cmake does.
install(TARGETS hone_python LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_BINARY_DIR}/_hone.pyi DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(FILES $<TARGET_FILE:hone_c> DESTINATION lib RENAME $<TARGET_SONAME_FILE_NAME:hone_c> COMPONENT python EXCLUDE_FROM_ALL)
install(PROGRAMS $<TARGET_FILE:hone> DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY tuning_db/records DESTINATION share/hone COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.json")
