# Compiles several sources of a target at once, where that cannot be told from compiling them one by one. Included last, it is for all targets.
#
# Most of a source's compile time goes into the headers that all of them include. Presets that check what is here put the sources
# of a target into groups and compile each as one (CMake's unity builds). What stands in an anonymous namespace, in a macro or behind a
# using-declaration of one file is seen by those that follow it in its group; so a file joins a group only where none of these names occurs, as a word, in
# any file that comes after. Nobody has to choose names for it.
#
# That every file includes what it needs is shown where it compiles by itself: tools, examples and benchmarks with HONE_UNITY=libraries (preset ci), the
# libraries without HONE_UNITY (preset tsan).
set(HONE_UNITY_SIZE 10 CACHE STRING "Sources per group at most: fewer leave more to compile side by side")

# Sets `words` to the words of a file without its comments, each between blanks, and `names` to the names that a file after it would see.
function(hone_read_source file words names)
    file(READ ${file} text)
    string(REPLACE "\n}  // namespace\n" "\nanonymous end\n" text "${text}")
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    # CMake's lists give these characters a meaning.
    string(REGEX REPLACE "[][\\;\"]" "?" text "${text}")
    string(REGEX REPLACE "[^A-Za-z0-9_]+" "  " all " ${text} ")
    string(REPLACE "\n" ";" lines "${text}")
    set(anonymous FALSE)
    set(found "")
    foreach(line IN LISTS lines)
        if(line STREQUAL "namespace {")
            set(anonymous TRUE)
        elseif(line STREQUAL "anonymous end")
            set(anonymous FALSE)
        elseif(line MATCHES "^# *define +([A-Za-z0-9_]+)")
            list(APPEND found ${CMAKE_MATCH_1})
        elseif(line MATCHES "^using namespace ")
            # All names of a namespace: by a word that every file has, no file follows.
            list(APPEND found namespace)
        elseif(line MATCHES "^(TEST|TYPED_TEST|INSTANTIATE)[A-Z_]*\\(")
            continue()
        elseif(line MATCHES "^(using|static) " OR (anonymous AND line MATCHES "^[A-Za-z_]"))
            # A declared name stands before one of ( { = ; [ or the colon of a base class. So do some other words, which does no harm.
            string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*( *[({=?]| : )" declared "${line}")
            string(REGEX REPLACE "[ :({=?]" "" declared "${declared}")
            list(APPEND found ${declared})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES found)
    set(${words} "${all}" PARENT_SCOPE)
    set(${names} "${found}" PARENT_SCOPE)
endfunction()

# Whether one of the names is among the words.
function(hone_any_name_in names words result)
    foreach(name IN LISTS names)
        string(FIND "${words}" " ${name} " position)
        if(NOT position EQUAL -1)
            set(${result} TRUE PARENT_SCOPE)
            return()
        endif()
    endforeach()
    set(${result} FALSE PARENT_SCOPE)
endfunction()

# Puts the target's sources into groups, each source into the first one that takes it.
function(hone_unite target)
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set(groups 0)
    foreach(source IN LISTS sources)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE file)
        if(NOT EXISTS ${file})
            continue()  # generated
        endif()
        hone_read_source(${file} words names)
        set(group 0)
        while(group LESS groups)
            list(LENGTH members_${group} size)
            hone_any_name_in("${names_${group}}" "${words}" refused)
            if(size LESS HONE_UNITY_SIZE AND NOT refused)
                break()
            endif()
            math(EXPR group "${group} + 1")
        endwhile()
        if(group EQUAL groups)
            math(EXPR groups "${groups} + 1")
            set(members_${group} "")
            set(names_${group} "")
        endif()
        list(APPEND members_${group} ${source})
        list(APPEND names_${group} ${names})
        set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP group_${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # GCC takes a type with a member from an anonymous namespace for a header's mistake wherever it stands in an included file.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

get_property(folders DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY SUBDIRECTORIES)
foreach(folder IN ITEMS ${PROJECT_SOURCE_DIR} ${folders})
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        get_target_property(type ${target} TYPE)
        if(HONE_UNITY STREQUAL "libraries" AND folder STREQUAL PROJECT_SOURCE_DIR AND NOT target IN_LIST hone_libraries)
            continue()
        endif()
        if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|EXECUTABLE)$")
            hone_unite(${target})
        endif()
    endforeach()
endforeach()
