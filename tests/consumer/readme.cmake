# README's program for applications, as it is printed, in a function with what it leaves to the reader: the application's arrays and stream.
file(READ ${REPOSITORY}/README.md readme)
string(FIND "${readme}" "```cpp\n" begin)
if(begin EQUAL -1)
    message(FATAL_ERROR "README.md has no program")
endif()
math(EXPR begin "${begin} + 7")
string(SUBSTRING "${readme}" ${begin} -1 program)
string(FIND "${program}" "\n```" end)
string(SUBSTRING "${program}" 0 ${end} program)
# The last include ends the headers.
string(FIND "${program}" "#include" last REVERSE)
string(SUBSTRING "${program}" ${last} -1 rest)
string(FIND "${rest}" "\n" line)
math(EXPR headers_end "${last} + ${line}")
string(SUBSTRING "${program}" 0 ${headers_end} headers)
string(SUBSTRING "${program}" ${headers_end} -1 body)
file(WRITE ${WORK}/project/readme.cpp
     "${headers}\n\nvoid application(void* q, void* geometry, void* rhs, void* my_stream, int steps) {${body}\n}\n")
