#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::inline v0_1 {

/// A list of source lines that can be nested and joined: what replaces a hole of a template.
///
///     Block block;
///     block.line("real sum = 0;");
///     block.open("for (int m = 0; m < nodes; ++m)");
///     block.line("sum += D[m] * q[m];");
///     block.close();
class Block {
  public:
    /// Appends one line, formatted by fmt, at the current depth.
    template <typename... Arguments>
    Block& line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        return text(fmt::format(format, std::forward<Arguments>(arguments)...));
    }
    /// Appends one line as it is: braces are not interpreted.
    Block& text(std::string_view text);
    /// Appends the lines of a rendered template, each as it is.
    Block& lines_of(std::string_view text);
    /// `head {`, and everything up to `close()` one step deeper.
    Block& open(std::string_view head);
    /// `}` followed by `tail`.
    Block& close(std::string_view tail = "");
    /// Appends a list, with commas between its items and as many in a line as fit.
    Block& list(const std::vector<std::string>& items);
    /// Appends another block's lines at the current depth.
    Block& append(const Block& other);

    const std::vector<std::string>& lines() const { return lines_; }
    bool empty() const { return lines_.empty(); }

  private:
    std::vector<std::string> lines_;
    int depth_ = 0;
};

}  // namespace hone::inline v0_1
