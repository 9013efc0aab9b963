# embed_files(<directory> <arrays> <rows> <file>...): sets `arrays` to C++ arrays of the files' bytes, and `rows` to initialisers {"file", {array, length}} of
# pairs of string views. Included by the scripts that write a C++ file of embedded texts.
function(embed_files directory arrays rows)
    set(array_list "")
    set(row_list "")
    foreach(file IN LISTS ARGN)
        string(REGEX REPLACE "\\.in$" "" name "${file}")
        # Hexadecimal bytes: no limit on the length of a string literal, and nothing to escape.
        file(READ "${directory}/${file}" bytes HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        string(MAKE_C_IDENTIFIER "${name}" identifier)
        string(APPEND array_list "constexpr char ${identifier}[] = {${bytes}0};\n")
        string(APPEND row_list "    {\"${name}\", {${identifier}, sizeof(${identifier}) - 1}},\n")
    endforeach()
    set(${arrays} "${array_list}" PARENT_SCOPE)
    set(${rows} "${row_list}" PARENT_SCOPE)
endfunction()
