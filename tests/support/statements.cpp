#include "tests/support/statements.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace hone::test {
namespace {

bool in_word(char character) {
    return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::vector<Statement> read() {
        while (skip_to_code()) step();
        return std::move(statements_);
    }

  private:
    char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

    void advance(std::size_t count) {
        for (; count > 0 && at_ < text_.size(); --count, ++at_, ++column_)
            if (text_[at_] == '\n') ++line_, column_ = 0;
    }
    void advance_behind(std::string_view end, std::size_t from) {
        const std::size_t found = text_.find(end, at_ + from);
        advance((found == std::string_view::npos ? text_.size() : found + end.size()) - at_);
    }

    // Spaces, comments, and lines of the preprocessor.
    bool skip_to_code() {
        while (at_ < text_.size()) {
            if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
                advance(1);
            else if (at(at_) == '#' || (at(at_) == '/' && at(at_ + 1) == '/'))
                advance_behind("\n", 0);
            else if (at(at_) == '/' && at(at_ + 1) == '*')
                advance_behind("*/", 2);
            else
                return true;
        }
        return false;
    }

    void step() {
        const char character = text_[at_];
        // Directly behind the body of a lambda its statement goes on.
        if (at_ > 0 && text_[at_ - 1] == '}' && std::string_view("(),.").find(character) != std::string_view::npos) expects_statement_ = false;
        if (expects_statement_ && character != '{' && character != '}' && character != ';') {
            statements_.push_back({at_, line_, column_});
            expects_statement_ = false;
        }
        if (character == '"' || character == '\'') {
            std::size_t end = at_ + 1;
            while (end < text_.size() && text_[end] != character) end += text_[end] == '\\' ? 2 : 1;
            advance(end + 1 - at_);
        } else if (in_word(character)) {
            read_word();
        } else {
            read_sign(character);
            advance(1);
        }
        before_ = character;
    }

    void read_word() {
        std::size_t end = at_;
        while (in_word(at(end)) || (at(end) == '\'' && in_word(at(end + 1)))) ++end;  // 1'000, too
        word_ = text_.substr(at_, end - at_);
        constexpr std::array heads{"if", "for", "while", "switch"};
        constexpr std::array types{"struct", "union", "enum", "namespace", "extern"};
        if (std::find(heads.begin(), heads.end(), word_) != heads.end()) head_ = true;
        if (std::find(types.begin(), types.end(), word_) != types.end()) type_ = true;
        if (word_ == "else" || word_ == "do") expects_statement_ = true;
        advance(end - at_);
    }

    void read_sign(char character) {
        switch (character) {
            case '(':
            case '[':
                open_.push_back({character, head_ && character == '('});
                if (character == '(') head_ = type_ = false;
                break;
            case ')':
            case ']':
                if (open_.empty()) break;
                if (open_.back().decides) expects_statement_ = true;
                open_.pop_back();
                break;
            case '{': {
                // A block of statements, or else a list of values: behind a name, `=`, a comma or
                // another list's brace.
                const bool block = type_ || before_ == ')' || before_ == ';' || before_ == '{' || before_ == '}' || before_ == '\0' ||
                                   expects_statement_ ||
                                   (in_word(before_) && (word_ == "else" || word_ == "do" || word_ == "const" || word_ == "mutable"));
                const bool in_list = !open_.empty() && open_.back().bracket == 'l';
                open_.push_back({block && !(in_list && before_ != ')') ? '{' : 'l', false});
                if (open_.back().bracket == '{') expects_statement_ = true;
                type_ = false;
                break;
            }
            case '}':
                if (open_.empty()) break;
                if (open_.back().bracket == '{') expects_statement_ = true;
                open_.pop_back();
                // So it does between brackets.
                if (!open_.empty() && open_.back().bracket != '{') expects_statement_ = false;
                break;
            case ';':
                if (open_.empty() || open_.back().bracket == '{') expects_statement_ = true, type_ = false;
                break;
            default:
                break;
        }
    }

    struct Open {
        char bracket;  // '(', '[', '{', or 'l' for the brace of a list
        bool decides;  // the parentheses of `if (...)` and its like
    };

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1, column_ = 1;
    bool expects_statement_ = true, head_ = false, type_ = false;
    char before_ = '\0';
    std::string_view word_;
    std::vector<Open> open_;
    std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> statements_of(std::string_view text) {
    return Reader(text).read();
}

}  // namespace hone::test
