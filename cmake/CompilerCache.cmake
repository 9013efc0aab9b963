# ccache, where it is installed: what was compiled once, in whichever checkout, is not compiled again. Its settings travel with the compiler's command line,
# so that nothing has to be set up: paths of this tree count from its top.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(HONE_CCACHE ccache)
    if(HONE_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true
            ${HONE_CCACHE})
    endif()
endif()
