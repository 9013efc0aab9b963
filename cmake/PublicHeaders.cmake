# Headers are included as <hone/...> by applications, and as "generator/..." within hone. In the build folder <hone/...> means this tree, through links;
# installed headers are copies that name each other so. Nothing is installed but what these include, directly or not.
set(hone_public_headers
    # Applications: all that <hone/hone.hpp> and <hone/solvers.hpp> include is found by reading them.
    runtime/hybrid_kernel.hpp runtime/hybrid_team.hpp runtime/power.hpp runtime/ceilings.hpp
    runtime/ranks/communicator.hpp runtime/ranks/device_of_rank.hpp runtime/ranks/exchange_settings.hpp runtime/ranks/grid_partition.hpp runtime/ranks/halo_exchange.hpp
    runtime/ranks/run_ranks.hpp runtime/ranks/thread_ranks.hpp runtime/ranks/threads_of_processes.hpp
    # Families of an application's own, and what users of hone's lay their arrays out by.
    generator/form.hpp generator/render.hpp generator/value_lists.hpp foundation/json.hpp foundation/random_words.hpp foundation/text.hpp generator/families/device/cpu_arguments.hpp generator/families/device/cpu_team.hpp
    generator/families/acoustics_staggered/grid.hpp generator/families/elements/reference_element.hpp generator/families/elements/simplex_nodes.hpp
    generator/families/fe_mass/family.hpp generator/families/poisson7/family.hpp
    # What the source that installed applications compile includes (cmake/Install.cmake).
    tuning_db/package.hpp
    # Programs that tune.
    tuner/sharing/balance.hpp tuner/sharing/load_balancer.hpp tuner/tuning_run.hpp tuner/worker/worker_evaluator.hpp tuner/statistics.hpp)

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/hone)
foreach(folder IN ITEMS foundation generator tuning_db runtime tuner interfaces solvers)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/include/hone/${folder} SYMBOLIC)
endforeach()
foreach(header IN ITEMS hone.hpp solvers.hpp)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/hone/${header} ${PROJECT_BINARY_DIR}/include/hone/${header} SYMBOLIC)
endforeach()

# Writes a copy of a file of this tree in which includes are those of installed headers.
function(hone_installed_copy source copy)
    file(READ ${source} text)
    # Brackets and semicolons mean something in CMake's lists only; the text is none.
    string(REGEX REPLACE "#include \"(foundation|generator|tuning_db|runtime|tuner|interfaces|solvers)/([^\"]*)\"" "#include <hone/\\1/\\2>" text "${text}")
    file(CONFIGURE OUTPUT ${copy} CONTENT "${text}" @ONLY)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endfunction()

# Makes the copies of the public headers and of all that they include below `folder`.
function(hone_installed_headers folder)
    set(todo ${hone_public_headers})
    set(copied "")
    set(main_headers hone.hpp)
    if(TARGET hone_solvers)
        list(APPEND main_headers solvers.hpp)
    endif()
    foreach(main_header IN LISTS main_headers)
        hone_installed_copy(${PROJECT_SOURCE_DIR}/include/hone/${main_header} ${folder}/hone/${main_header})
        file(STRINGS ${PROJECT_SOURCE_DIR}/include/hone/${main_header} includes REGEX "^#include <hone/")
        foreach(include IN LISTS includes)
            string(REGEX REPLACE "^#include <hone/(.*)>.*" "\\1" header "${include}")
            list(APPEND todo ${header})
        endforeach()
    endforeach()
    while(todo)
        list(POP_FRONT todo header)
        if(header IN_LIST copied)
            continue()
        endif()
        list(APPEND copied ${header})
        hone_installed_copy(${PROJECT_SOURCE_DIR}/${header} ${folder}/hone/${header})
        file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"")
        foreach(include IN LISTS includes)
            string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" included "${include}")
            list(APPEND todo ${included})
        endforeach()
    endwhile()
endfunction()
