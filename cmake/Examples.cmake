# Every examples/<name>.cpp is a program that uses hone as an application does: through hone::hone and nothing else.
file(GLOB example_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/examples/*.cpp)
foreach(source IN LISTS example_sources)
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name})
    target_link_libraries(example_${name} PRIVATE hone::hone hone_options)
endforeach()
