#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::inline v0_1 {

/// Walks through a JSON object or array too large for a tree of its own (a measured space has a
/// million values): hands out one member or element at a time, as text. What is inside is checked
/// by whoever parses the text; here only brackets and strings are followed.
///
///     JsonSlices members(text, "space.json", '{', 1);
///     while (members.next()) if (members.name() == "cache") ... members.text(), members.line() ...
class JsonSlices {
  public:
    /// `open` is the bracket that `text` begins with, `line` where it begins in the file. Throws
    /// Error when it begins with something else.
    JsonSlices(std::string_view text, std::string file, char open, int line);

    /// Goes on to the next member or element; false at the end. Throws Error where the text is
    /// neither. A text that ends before its closing bracket ends here too: `cut` is true then.
    /// Where it ends within a member or element, that one is left out, unless it is an object or
    /// array and `partial` asks for it as far as it goes.
    bool next(bool partial = false);
    bool cut() const { return cut_; }

    const std::string& name() const { return name_; }  ///< of a member
    std::string_view text() const { return text_; }    ///< of the value
    int line() const { return value_line_; }           ///< where the value begins
    /// The text behind the closing bracket; at the end only.
    std::string_view rest() const { return all_.substr(at_); }

  private:
    void skip_space();
    char peek() const { return at_ < all_.size() ? all_[at_] : '\0'; }
    bool at_end() const { return at_ == all_.size(); }
    bool skip_string();
    bool skip_value();
    bool read_name();
    bool stop(bool cut);
    [[noreturn]] void fail(const std::string& found, const std::string& remedy) const;

    std::string_view all_;
    std::string file_;
    char close_;
    std::size_t at_ = 0;
    int line_;
    bool first_ = true;
    bool ended_ = false;
    bool cut_ = false;
    std::string name_;
    std::string_view text_;
    int value_line_ = 1;
};

}  // namespace hone::inline v0_1
