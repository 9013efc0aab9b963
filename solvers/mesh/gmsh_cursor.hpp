#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hone::inline v0_1::solvers {

/// Reads the words and numbers of a Gmsh file one after the other, as text or in binary, and knows
/// where it is.
///
/// All reading functions throw Error, with the line (text) or byte (binary) and the section, when
/// the file ends or something else stands there.
class GmshCursor {
  public:
    /// Requires `text` to live as long. `where` names the file in messages.
    GmshCursor(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

    /// From here on numbers are binary. Reads the whole number 1 that tells the order of bytes.
    void become_binary();
    bool binary() const { return binary_; }

    /// The next word, whatever the mode; "" at the end of the file.
    std::string_view word();
    /// A name in quotation marks.
    std::string quoted();
    /// Skips the rest of the line, after which binary numbers begin.
    void finish_line();

    /// A whole number that is always text.
    std::int64_t text_integer();
    double text_number();
    std::int64_t integer();  ///< binary: 4 bytes
    std::int64_t size();     ///< binary: 8 bytes
    double number();         ///< binary: 8 bytes

    /// Goes behind the first `word` from here on. Throws when there is none.
    void skip_to(std::string_view word);
    /// Requires the next word to be `expected`.
    void expect(std::string_view expected);
    /// The next word without going there.
    std::string_view peek();

    void set_section(std::string_view section) { section_ = section; }
    const char* unit() const { return binary_ ? "byte" : "line"; }
    /// Line or byte from 1 on.
    std::int64_t place() const { return binary_ ? static_cast<std::int64_t>(at_) + 1 : line_; }
    [[noreturn]] void refuse(const std::string& found, const std::string& remedy) const;
    [[noreturn]] void refuse_at(std::int64_t place, const std::string& found, const std::string& remedy) const;

  private:
    void skip_space();
    [[noreturn]] void refuse_end() const;
    template <typename Value>
    Value raw();
    template <typename Value>
    Value parsed(const char* wanted);

    std::string_view text_;
    std::string where_;
    std::string_view section_;
    std::size_t at_ = 0;
    std::int64_t line_ = 1;
    bool binary_ = false;
    bool swapped_ = false;
};

}  // namespace hone::inline v0_1::solvers
