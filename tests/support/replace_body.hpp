#pragma once

#include <string>
#include <string_view>

namespace hone::test {

/// The body of the function whose definition holds `head`, replaced; nothing where there is none.
inline void replace_body(std::string& text, std::string_view head, std::string_view body) {
    const std::size_t found = text.find(head);
    if (found == std::string::npos) return;
    const std::size_t begin = text.find("{\n", found) + 2;
    const std::size_t end = text.find("\n}\n", begin) + 1;
    text.replace(begin, end - begin, body);
}

}  // namespace hone::test
