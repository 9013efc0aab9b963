#include "foundation/python_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

using Node = PythonExpression::Node;
using Kind = Node::Kind;
using List = PythonValue::List;

constexpr int most_levels = 100;  // of nested expressions
constexpr std::size_t longest_expression = 1 << 20;
constexpr std::array<std::string_view, 9> functions{"min", "max", "abs", "int", "float", "len", "sum", "range", "list"};
constexpr std::array<std::string_view, 9> reserved{"and", "or", "not", "in", "if", "else", "for", "lambda", "is"};
constexpr const char* known =
    "there are numbers, texts, names, + - * / // % **, comparisons, in, and, or, not, if-else, lists, loops in lists, "
    "and min, max, abs, int, float, len, sum, range, list";

template <typename Container>
bool contains(const Container& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

struct Token {
    enum class Kind { number, text, name, sign, end };
    Kind kind = Kind::end;
    std::string text;
};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class Scanner {
  public:
    Scanner(std::string_view text, const std::string& where) : text_(text), where_(&where) {}

    std::vector<Token> tokens() {
        std::vector<Token> result;
        do result.push_back(next());
        while (result.back().kind != Token::Kind::end);
        return result;
    }

  private:
    Token next() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
        if (at_ == text_.size()) return {};
        const char c = text_[at_];
        if (is_letter(c)) return {Token::Kind::name, take([](char d) { return is_letter(d) || is_digit(d); })};
        if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
        if (c == '"' || c == '\'') return quoted(c);
        for (const std::string_view sign : {"**", "//", "<=", ">=", "==", "!="})
            if (text_.substr(at_).starts_with(sign)) return at_ += 2, Token{Token::Kind::sign, std::string(sign)};
        if (std::string_view("+-*/%<>()[],").find(c) == std::string_view::npos)
            throw Error(*where_, fmt::format("'{}' has no meaning here", c), known);
        ++at_;
        return {Token::Kind::sign, std::string(1, c)};
    }

    template <typename Predicate>
    std::string take(Predicate belongs) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && belongs(text_[at_])) ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }

    Token number() {
        std::string digits = take([](char d) { return is_digit(d) || d == '.'; });
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            digits += text_[at_++];
            if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) digits += text_[at_++];
            digits += take(is_digit);
        }
        return {Token::Kind::number, std::move(digits)};
    }

    Token quoted(char quote) {
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) throw Error(*where_, "a text has no closing quote", "close it");
        std::string inside(text_.substr(at_ + 1, end - at_ - 1));
        if (inside.find('\\') != std::string::npos) throw Error(*where_, "a text holds a backslash", "hone reads plain texts only");
        at_ = end + 1;
        return {Token::Kind::text, std::move(inside)};
    }

    std::string_view text_;
    const std::string* where_;
    std::size_t at_ = 0;
};

class Parser {
  public:
    Parser(std::vector<Token> tokens, const std::string& where) : tokens_(std::move(tokens)), where_(&where) {}

    Node whole() {
        Node node = expression();
        if (peek().kind != Token::Kind::end) fail();
        return node;
    }

  private:
    const Token& peek() const { return tokens_[at_]; }
    bool is(std::string_view text) const { return (peek().kind == Token::Kind::sign || peek().kind == Token::Kind::name) && peek().text == text; }
    bool accept(std::string_view text) {
        if (!is(text)) return false;
        ++at_;
        return true;
    }
    void expect(std::string_view text) {
        if (!accept(text)) fail();
    }
    [[noreturn]] void fail() const {
        throw Error(*where_, peek().kind == Token::Kind::end ? "the expression ends too early" : fmt::format("\"{}\" is not understood", peek().text),
                    known);
    }

    Node expression() {
        if (++levels_ > most_levels) throw Error(*where_, fmt::format("over {} levels of nesting", most_levels), "write it flatter");
        Node node = disjunction();
        if (accept("if")) {
            Node condition = disjunction();
            expect("else");
            node = {Kind::conditional, {}, "", {}, {std::move(node), std::move(condition), expression()}};
        }
        --levels_;
        return node;
    }

    Node disjunction() { return joined("or", Kind::disjunction, &Parser::conjunction); }
    Node conjunction() { return joined("and", Kind::conjunction, &Parser::negation); }

    Node joined(std::string_view word, Kind kind, Node (Parser::*operand)()) {
        Node node = (this->*operand)();
        if (!is(word)) return node;
        Node all{kind, {}, "", {}, {std::move(node)}, {}};
        while (accept(word)) all.children.push_back((this->*operand)());
        return all;
    }

    Node negation() {
        int count = 0;
        while (accept("not")) ++count;
        Node node = comparison();
        const int kept = count > 2 ? 2 - count % 2 : count;  // of many, an even number says what two say, an odd one what one says
        for (int i = 0; i < kept; ++i) node = {Kind::unary, {}, "not", {}, {std::move(node)}, {}};
        return node;
    }

    std::optional<std::string> comparison_sign() {
        for (const char* sign : {"<=", ">=", "==", "!=", "<", ">", "in"})
            if (accept(sign)) return sign;
        if (is("not") && tokens_[at_ + 1].text == "in") return at_ += 2, "not in";
        return std::nullopt;
    }

    Node comparison() {
        Node node = sum();
        std::optional<std::string> sign = comparison_sign();
        if (!sign) return node;
        Node chain{Kind::comparison, {}, "", {}, {std::move(node)}, {}};
        for (; sign; sign = comparison_sign()) {
            chain.operators.push_back(*std::move(sign));
            chain.children.push_back(sum());
        }
        return chain;
    }

    Node sum() { return binaries({"+", "-"}, &Parser::product); }
    Node product() { return binaries({"*", "//", "/", "%"}, &Parser::sign); }

    // A long chain is a deep tree, which evaluation and destruction walk by recursion.
    Node binaries(std::initializer_list<std::string_view> signs, Node (Parser::*operand)()) {
        Node node = (this->*operand)();
        for (int length = 0;;) {
            const auto* const found = std::find_if(signs.begin(), signs.end(), [&](std::string_view sign) { return is(sign); });
            if (found == signs.end()) return node;
            if (++length > 10 * most_levels) throw Error(*where_, fmt::format("over {} operations in a row", 10 * most_levels), "use sum()");
            ++at_;
            node = {Kind::binary, {}, std::string(*found), {}, {std::move(node), (this->*operand)()}};
        }
    }

    Node sign() {
        if (++levels_ > most_levels) throw Error(*where_, fmt::format("over {} levels of nesting", most_levels), "write it flatter");
        Node node;
        if (accept("-"))
            node = {Kind::unary, {}, "-", {}, {sign()}};
        else if (accept("+"))
            node = {Kind::unary, {}, "+", {}, {sign()}};
        else
            node = power();
        --levels_;
        return node;
    }

    Node power() {
        Node node = atom();
        if (!accept("**")) return node;
        return {Kind::binary, {}, "**", {}, {std::move(node), sign()}};
    }

    Node atom() {
        const Token token = peek();
        if (token.kind == Token::Kind::end) fail();
        if (token.kind == Token::Kind::number) return ++at_, constant({number(token.text)});
        if (token.kind == Token::Kind::text) return ++at_, constant({token.text});
        if (token.kind == Token::Kind::name) return named();
        if (accept("(")) return bracket(")");
        if (accept("[")) return bracket("]");
        fail();
    }

    static Node constant(PythonValue value) { return {Kind::constant, std::move(value), "", {}, {}, {}}; }

    decltype(PythonValue::held) number(const std::string& text) const {
        const char* const end = text.data() + text.size();
        std::int64_t whole = 0;
        if (const auto [read, status] = std::from_chars(text.data(), end, whole); status == std::errc{} && read == end) return whole;
        double real = 0;
        if (const auto [read, status] = std::from_chars(text.data(), end, real);
            status != std::errc{} || read != end || text.find_first_of(".eE") == std::string::npos)
            throw Error(*where_, text + " is not a number that hone can represent", "whole numbers have 64 bits");
        return real;
    }

    Node named() {
        const std::string name = peek().text;
        if (contains(reserved, name)) fail();
        ++at_;
        if (name == "True" || name == "False") return constant({name == "True"});
        if (!accept("(")) return {Kind::name, {}, name, {}, {}, {}};
        if (!contains(functions, name)) throw Error(*where_, "there is no function " + name, known);
        Node call{Kind::call, {}, name, {}, {}, {}};
        while (!accept(")")) {
            if (!call.children.empty()) expect(",");
            call.children.push_back(expression());
            if (is("for")) call.children.back() = comprehension(std::move(call.children.back()));  // sum(i for i in list)
        }
        return call;
    }

    // After the opening bracket: a list, a comprehension, or an expression in round brackets.
    Node bracket(std::string_view close) {
        Node list{Kind::list, {}, "", {}, {}, {}};
        if (accept(close)) return list;
        list.children.push_back(expression());
        if (is("for")) {
            Node loop = comprehension(std::move(list.children.front()));
            expect(close);
            return loop;
        }
        bool comma = false;
        while (accept(",")) {
            comma = true;
            if (is(close)) break;
            list.children.push_back(expression());
        }
        expect(close);
        if (close == ")" && !comma) {
            Node inside = std::move(list.children.front());
            return inside;
        }
        return folded(std::move(list));
    }

    // A list of constants is a constant: conditions look values up in lists of thousands.
    static Node folded(Node list) {
        const auto is_constant = [](const Node& node) { return node.kind == Kind::constant; };
        if (!std::all_of(list.children.begin(), list.children.end(), is_constant)) return list;
        Node whole{Kind::constant, {}, "", {}, {}, {}};
        List elements;
        elements.reserve(list.children.size());
        for (Node& child : list.children) {
            whole.fast.insert(child.constant.key());
            elements.push_back(std::move(child.constant));
        }
        whole.constant = {std::move(elements)};
        return whole;
    }

    Node comprehension(Node element) {
        expect("for");
        if (peek().kind != Token::Kind::name || contains(reserved, peek().text)) fail();
        Node loop{Kind::comprehension, {}, peek().text, {}, {std::move(element)}};
        ++at_;
        expect("in");
        loop.children.push_back(disjunction());
        if (accept("if")) loop.children.push_back(disjunction());
        return loop;
    }

    std::vector<Token> tokens_;
    const std::string* where_;
    std::size_t at_ = 0;
    int levels_ = 0;
};

}  // namespace

PythonExpression::Node parse_python(std::string_view text, const std::string& where) {
    if (text.size() > longest_expression) throw Error(where, fmt::format("an expression has over {} bytes", longest_expression), "write it shorter");
    return Parser(Scanner(text, where).tokens(), where).whole();
}

}  // namespace hone::inline v0_1
