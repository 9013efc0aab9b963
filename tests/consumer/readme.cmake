# Programs of the documents, as they are printed.

# program_of(<document> <headers> <body>): the first block of C++, its headers apart.
function(program_of document headers body)
    file(READ ${REPOSITORY}/${document} text)
    string(FIND "${text}" "```cpp\n" begin)
    if(begin EQUAL -1)
        message(FATAL_ERROR "${document} has no program")
    endif()
    math(EXPR begin "${begin} + 7")
    string(SUBSTRING "${text}" ${begin} -1 program)
    string(FIND "${program}" "\n```" end)
    string(SUBSTRING "${program}" 0 ${end} program)
    # The last include ends the headers.
    string(FIND "${program}" "#include" last REVERSE)
    string(SUBSTRING "${program}" ${last} -1 rest)
    string(FIND "${rest}" "\n" line)
    math(EXPR headers_end "${last} + ${line}")
    string(SUBSTRING "${program}" 0 ${headers_end} first)
    string(SUBSTRING "${program}" ${headers_end} -1 second)
    set(${headers} "${first}" PARENT_SCOPE)
    set(${body} "${second}" PARENT_SCOPE)
endfunction()

# README's program for applications, in a function with what it leaves to the reader: the application's arrays and stream.
program_of(README.md headers body)
file(WRITE ${WORK}/project/readme.cpp
     "${headers}\n\nvoid application(void* q, void* geometry, void* rhs, void* my_stream, int steps) {${body}\n}\n")
program_of(docs/solvers.md headers body)
file(WRITE ${WORK}/project/pressure.cpp "${headers}${body}\n")
