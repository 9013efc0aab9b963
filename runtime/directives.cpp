#include "runtime/directives.hpp"

#include <algorithm>
#include <cctype>

namespace hone::inline v0_1 {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

// Goes through a source by characters, as the preprocessor does: a backslash at a line's end joins
// the next line.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) { skip_splices(); }

    std::vector<Directive> all() {
        std::vector<Directive> found;
        while (at_ < text_.size()) {
            const std::size_t begin = at_;
            const int line = line_;
            skip_blanks();
            if (!is_mark()) {
                skip_code();
                continue;
            }
            Directive directive;
            directive.begin = begin;
            directive.line = line;
            const std::string words = rest_of_line();
            const std::size_t end = static_cast<std::size_t>(std::find_if_not(words.begin(), words.end(), is_word) - words.begin());
            directive.keyword = words.substr(0, end);
            directive.rest = words.substr(std::min(words.size(), words.find_first_not_of(' ', end)));
            directive.end = at_;
            directive.next_line = line_;
            found.push_back(std::move(directive));
        }
        return found;
    }

  private:
    char now() const { return at_ < text_.size() ? text_[at_] : '\n'; }
    // The next character; a line's end between them is no character where it is spliced.
    char ahead() const {
        Scanner next(*this);
        next.step();
        return next.now();
    }

    void skip_splices() {
        while (at_ < text_.size() && text_[at_] == '\\') {
            std::size_t end = at_ + 1;
            while (end < text_.size() && is_blank(text_[end])) ++end;
            if (end >= text_.size() || text_[end] != '\n') return;
            at_ = end + 1;
            ++line_;
        }
    }

    void step() {
        if (at_ >= text_.size()) return;
        if (text_[at_] == '\n') ++line_;
        ++at_;
        skip_splices();
    }

    bool skip_comment() {
        if (now() != '/') return false;
        const char second = ahead();
        if (second == '/') {
            while (at_ < text_.size() && now() != '\n') step();
            return true;
        }
        if (second != '*') return false;
        step();
        step();
        while (at_ < text_.size() && !(now() == '*' && ahead() == '/')) step();
        step();
        step();
        return true;
    }

    // In front of a line's first word, comments count as blanks, also those of several lines.
    void skip_blanks() {
        while (at_ < text_.size()) {
            if (is_blank(now()))
                step();
            else if (!skip_comment())
                return;
        }
    }

    // Also its other spelling, `%:`.
    bool is_mark() {
        if (now() == '#' && at_ < text_.size()) {
            step();
            return true;
        }
        if (now() != '%' || ahead() != ':') return false;
        step();
        step();
        return true;
    }

    // Up to the line's end, which is passed.
    std::string rest_of_line() {
        std::string words;
        bool quoted = false;  // in what a line includes // is no comment
        while (at_ < text_.size() && now() != '\n') {
            if (!quoted && skip_comment()) {
                words += ' ';
                continue;
            }
            if (now() == '"') quoted = !quoted;
            words += is_blank(now()) ? ' ' : now();
            step();
        }
        step();
        const std::size_t begin = words.find_first_not_of(' ');
        return begin == std::string::npos ? "" : words.substr(begin, words.find_last_not_of(' ') - begin + 1);
    }

    // A line's end or more: to behind a line's end that stands in no literal or comment.
    void skip_code() {
        std::string word;  // just before: R"( begins a raw literal, 1'000 is a number
        while (at_ < text_.size()) {
            const char c = now();
            if (c == '\n') return step();
            if (skip_comment()) {
                word.clear();
            } else if (c == '"' && (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
                skip_raw();
                word.clear();
            } else if (c == '"' || (c == '\'' && (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) == 0))) {
                skip_literal(c);
                word.clear();
            } else {
                if (is_word(c))
                    word += c;
                else if (c != '\'')
                    word.clear();
                step();
            }
        }
    }

    void skip_literal(char quote) {
        for (step(); at_ < text_.size() && now() != quote && now() != '\n'; step())
            if (now() == '\\') step();
        if (now() == quote) step();
    }

    // Nothing in a raw literal is spliced.
    void skip_raw() {
        const std::size_t open = text_.find('(', at_);
        if (open == std::string_view::npos) return step();
        const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        const std::size_t end = std::min(text_.size(), text_.find(close, open));
        const std::size_t behind = std::min(text_.size(), end + close.size());
        line_ +=
            static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(behind), '\n'));
        at_ = behind;
        skip_splices();
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
};

// Those of C++20, of C as C++ has them, of POSIX, and of the compilers themselves.
constexpr std::string_view standard_headers =
    " algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable coroutine deque exception "
    "execution filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits "
    "list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore "
    "set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view syncstream system_error thread tuple "
    "type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version cassert cctype cerrno cfenv cfloat cinttypes "
    "climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype assert.h complex.h ctype.h "
    "errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h "
    "stdint.h "
    "stdio.h stdlib.h stdnoreturn.h string.h tgmath.h threads.h time.h uchar.h wchar.h wctype.h omp.h pthread.h sched.h unistd.h fcntl.h sys/mman.h "
    "sys/stat.h sys/time.h sys/types.h immintrin.h x86intrin.h xmmintrin.h emmintrin.h pmmintrin.h tmmintrin.h smmintrin.h nmmintrin.h "
    "arm_neon.h arm_sve.h cpuid.h ";

}  // namespace

Directive::Names Directive::names() const {
    if (rest.starts_with('"') && rest.find('"', 1) != std::string::npos) return Names::quoted;
    if (rest.starts_with('<') && rest.find('>') != std::string::npos) return Names::angled;
    return Names::computed;
}

std::string Directive::file() const {
    switch (names()) {
        case Names::quoted:
            return rest.substr(1, rest.find('"', 1) - 1);
        case Names::angled:
            return rest.substr(1, rest.find('>') - 1);
        case Names::computed:
            break;
    }
    return rest;
}

std::vector<Directive> directives(std::string_view text) {
    return Scanner(text).all();
}

bool is_standard_header(std::string_view name) {
    return !name.empty() && name.find(' ') == std::string_view::npos &&
           standard_headers.find(" " + std::string(name) + " ") != std::string_view::npos;
}

}  // namespace hone::inline v0_1
