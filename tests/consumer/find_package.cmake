# Installs BUILD into an empty prefix, moves that, builds the consumer project and the one of docs/own-family.md against it, and runs both. Run as:
#   cmake -DBUILD=<hone's build folder> -DSOURCE=<this folder> -DWORK=<scratch folder> -P find_package.cmake
function(run)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/CMakeLists.txt ${SOURCE}/main.cpp DESTINATION ${WORK}/project)
file(COPY ${SOURCE}/../../examples/heat.cpp ${SOURCE}/../../examples/heat DESTINATION ${WORK}/project/examples)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} -E env --unset=HONE_DB --unset=HONE_WORKER HONE_CACHE=${WORK}/cache XDG_DATA_HOME=${WORK}/data PATH=/usr/bin:/bin
    ${WORK}/build/consumer ${WORK}/prefix/share/hone/records ${WORK}/prefix/bin/hone)
run(${CMAKE_COMMAND} -E env HONE_CACHE=${WORK}/cache ${WORK}/build/heat --device cpu --size 40 --tune 1 --db ${WORK}/tuned)
# What shells and man read is installed, and says what the installed program says.
foreach(text IN ITEMS bash:bash-completion/completions/hone zsh:zsh/site-functions/_hone fish:fish/vendor_completions.d/hone.fish man:man/man1/hone.1)
    string(REPLACE ":" ";" words ${text})
    list(GET words 0 kind)
    list(GET words 1 file)
    run(${WORK}/prefix/bin/hone completion ${kind} --output ${WORK}/text)
    run(${CMAKE_COMMAND} -E compare_files ${WORK}/text ${WORK}/prefix/share/${file})
endforeach()
