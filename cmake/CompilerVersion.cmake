# Refuses compilers that are too old for this source by name, before they fill a screen with errors. Needs nothing but two variables, so that it can be
# tried with any: cmake -DCMAKE_CXX_COMPILER_ID=GNU -DCMAKE_CXX_COMPILER_VERSION=8.5.0 -P cmake/CompilerVersion.cmake
set(hone_oldest_GNU 12)
set(hone_oldest_Clang 14)
if(DEFINED hone_oldest_${CMAKE_CXX_COMPILER_ID} AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS hone_oldest_${CMAKE_CXX_COMPILER_ID})
    message(FATAL_ERROR "The C++ compiler ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}. hone is C++20 and needs "
                        "GCC ${hone_oldest_GNU} or newer, or clang ${hone_oldest_Clang} or newer. Install one (Debian, Ubuntu: apt install g++-12) and "
                        "name it in an empty build folder, for example: CXX=g++-12 cmake --preset release")
endif()
