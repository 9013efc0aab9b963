#include "foundation/python_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/python_parser.hpp"

namespace hone::inline v0_1 {
namespace {

using Node = PythonExpression::Node;
using Kind = Node::Kind;
using List = PythonValue::List;

constexpr std::size_t most_elements = 100'000;  // of a list
constexpr std::int64_t most_steps = 1'000'000;  // of one evaluation: nodes, and elements of lists that are copied or looked through

bool is_number(const PythonValue& value) {
    return value.held.index() <= 2;
}

double real_of(const PythonValue& value) {
    if (const auto* truth = std::get_if<bool>(&value.held)) return *truth ? 1 : 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value.held)) return static_cast<double>(*whole);
    return std::get<double>(value.held);
}

// True and False count as 1 and 0.
std::optional<std::int64_t> whole_of(const PythonValue& value) {
    if (const auto* truth = std::get_if<bool>(&value.held)) return *truth ? 1 : 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value.held)) return *whole;
    return std::nullopt;
}

class ExpressionEvaluator {
  public:
    ExpressionEvaluator(const PythonExpression::Lookup& value_of, const std::string& where) : value_of_(&value_of), where_(&where) {}

    PythonValue value(const Node& node) {
        spend(1);
        switch (node.kind) {
            case Kind::constant:
                return charged(node.constant);
            case Kind::name:
                return charged(name(node.text));
            case Kind::list:
                return list(node);
            case Kind::comprehension:
                return comprehension(node);
            case Kind::call:
                return call(node);
            case Kind::unary:
                return unary(node.text, value(node.children[0]));
            case Kind::binary: {
                const PythonValue left = value(node.children[0]);
                return binary(node.text, left, value(node.children[1]));
            }
            case Kind::comparison:
                return comparison(node);
            case Kind::conjunction:
                return first(node, false);
            case Kind::disjunction:
                return first(node, true);
            case Kind::conditional:
                return value(node.children[value(node.children[1]).truth() ? 0 : 2]);
        }
        return {};
    }

  private:
    [[noreturn]] void fail(const std::string& found, const std::string& remedy) const { throw Error(*where_, found, remedy); }

    void spend(std::size_t steps) {
        steps_ += static_cast<std::int64_t>(steps);
        if (steps_ > most_steps) fail(fmt::format("over {} steps", most_steps), "describe the values in a simpler way");
    }

    // A copy of a list costs what it holds, lists within it included.
    static std::size_t size_of(const PythonValue& value) {
        const auto* list = std::get_if<List>(&value.held);
        if (list == nullptr) return 0;
        std::size_t size = list->size();
        for (const PythonValue& element : *list) size += size_of(element);
        return size;
    }
    PythonValue charged(PythonValue value) {
        spend(size_of(value));
        return value;
    }

    PythonValue name(const std::string& name) const {
        for (auto local = locals_.rbegin(); local != locals_.rend(); ++local)
            if (local->first == name) return local->second;
        return (*value_of_)(name);
    }

    // The first operand whose truth is `wanted`, or the last: so `and` and `or` are in Python.
    PythonValue first(const Node& node, bool wanted) {
        PythonValue result;
        for (const Node& child : node.children) {
            result = value(child);
            if (result.truth() == wanted) break;
        }
        return result;
    }

    PythonValue list(const Node& node) {
        List elements;
        for (const Node& child : node.children) elements.push_back(value(child));
        return {std::move(elements)};
    }

    const List& list_of(const PythonValue& value) const {
        if (const auto* list = std::get_if<List>(&value.held)) return *list;
        fail(value.text() + " is not a list", "a list belongs here");
    }

    PythonValue comprehension(const Node& node) {
        const PythonValue over = value(node.children[1]);
        List elements;
        for (const PythonValue& element : list_of(over)) {
            locals_.emplace_back(node.text, charged(element));
            if (node.children.size() < 3 || value(node.children[2]).truth()) elements.push_back(value(node.children[0]));
            locals_.pop_back();
        }
        return {std::move(elements)};
    }

    PythonValue unary(const std::string& sign, const PythonValue& operand) {
        if (sign == "not") return {!operand.truth()};
        if (!is_number(operand)) fail(operand.text() + " is not a number", "a number belongs here");
        return binary(sign, {std::int64_t{0}}, operand);
    }

    PythonValue binary(const std::string& sign, const PythonValue& left, const PythonValue& right) {
        const auto* more = std::get_if<List>(&right.held);
        if (const auto* list = std::get_if<List>(&left.held); list != nullptr && more != nullptr && sign == "+") {
            if (list->size() + more->size() > most_elements) fail(fmt::format("over {} values in a list", most_elements), "use fewer");
            List both = *list;
            both.insert(both.end(), more->begin(), more->end());
            return charged({std::move(both)});
        }
        if (!is_number(left) || !is_number(right))
            fail(fmt::format("{} {} {} has no meaning", left.text(), sign, right.text()), "numbers belong here");
        const auto a = whole_of(left);
        const auto b = whole_of(right);
        if (a && b && sign != "/" && !(sign == "**" && *b < 0)) return whole(sign, *a, *b);
        return real(sign, real_of(left), real_of(right));
    }

    PythonValue whole(const std::string& sign, std::int64_t a, std::int64_t b) const {
        std::int64_t result = 0;
        bool overflow = false;
        if (sign == "+") overflow = __builtin_add_overflow(a, b, &result);
        if (sign == "-") overflow = __builtin_sub_overflow(a, b, &result);
        if (sign == "*") overflow = __builtin_mul_overflow(a, b, &result);
        if (sign == "**") overflow = power_overflows(a, b, result);
        if (sign == "//" || sign == "%") {
            if (b == 0) fail(fmt::format("{} {} 0 has no value", a, sign), "exclude the zero by a condition before");
            overflow = b == -1 && __builtin_sub_overflow(std::int64_t{0}, a, &result);
            if (b != -1) result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);  // Python rounds down, and % fits
            if (sign == "%") return {b == -1 ? std::int64_t{0} : a - result * b};
        }
        if (overflow) fail(fmt::format("{} {} {} passes 64 bits", a, sign, b), "use smaller numbers");
        return {result};
    }

    static bool power_overflows(std::int64_t base, std::int64_t exponent, std::int64_t& result) {
        result = 1;
        if (base == 0 || base == 1 || base == -1) {
            result = exponent == 0 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : base;
            return false;
        }
        for (; exponent > 0; --exponent)
            if (__builtin_mul_overflow(result, base, &result)) return true;  // after 63 at the latest
        return false;
    }

    PythonValue real(const std::string& sign, double a, double b) const {
        if ((sign == "/" || sign == "//" || sign == "%") && b == 0)
            fail(fmt::format("{} {} 0 has no value", a, sign), "exclude the zero by a condition before");
        if (sign == "+") return {a + b};
        if (sign == "-") return {a - b};
        if (sign == "*") return {a * b};
        if (sign == "/") return {a / b};
        if (sign == "//") return {std::floor(a / b)};
        if (sign == "%") return {a - b * std::floor(a / b)};
        return {std::pow(a, b)};
    }

    PythonValue comparison(const Node& node) {
        PythonValue left = value(node.children[0]);
        for (std::size_t i = 0; i < node.operators.size(); ++i) {
            const Node& next = node.children[i + 1];
            const bool last = i + 1 == node.operators.size();
            if (last && !next.fast.empty() && (node.operators[i] == "in" || node.operators[i] == "not in"))
                return {next.fast.contains(left.key()) == (node.operators[i] == "in")};
            PythonValue right = value(next);
            if (!compares(node.operators[i], left, right)) return {false};
            left = std::move(right);
        }
        return {true};
    }

    bool compares(const std::string& sign, const PythonValue& left, const PythonValue& right) {
        if (sign == "==") return left == right;
        if (sign == "!=") return !(left == right);
        if (sign == "in" || sign == "not in") {
            const List& list = list_of(right);
            spend(size_of(right) + size_of(left));
            return (std::find(list.begin(), list.end(), left) != list.end()) == (sign == "in");
        }
        return sign == "<" ? less(left, right) : sign == ">" ? less(right, left) : sign == "<=" ? !less(right, left) : !less(left, right);
    }

    bool less(const PythonValue& left, const PythonValue& right) const {
        const auto a = whole_of(left);
        const auto b = whole_of(right);
        if (a && b) return *a < *b;
        if (is_number(left) && is_number(right)) return real_of(left) < real_of(right);
        const auto* one = std::get_if<std::string>(&left.held);
        const auto* other = std::get_if<std::string>(&right.held);
        if (one == nullptr || other == nullptr)
            fail(fmt::format("{} and {} have no order", left.text(), right.text()), "compare numbers with numbers");
        return *one < *other;
    }

    PythonValue call(const Node& node) {
        List arguments;
        for (const Node& child : node.children) arguments.push_back(value(child));
        const std::string& function = node.text;
        if (function == "range") return charged(range(arguments));
        if ((function == "min" || function == "max") && arguments.size() > 1) return extreme(function, arguments);
        if (arguments.size() != 1) fail(fmt::format("{}() is given {} values", function, arguments.size()), "it takes one");
        const PythonValue& argument = arguments.front();
        if (function == "min" || function == "max") return extreme(function, list_of(argument));
        if (function == "list") return charged({list_of(argument)});
        if (function == "len") return {std::ssize(list_of(argument))};
        if (function == "sum") {
            PythonValue sum{std::int64_t{0}};
            for (const PythonValue& element : list_of(argument)) sum = binary("+", sum, element);
            return sum;
        }
        if (!is_number(argument)) fail(fmt::format("{}({}) has no meaning", function, argument.text()), "a number belongs here");
        if (function == "abs") return less(argument, {std::int64_t{0}}) ? unary("-", argument) : unary("+", argument);
        if (function == "float") return {real_of(argument)};
        const double real = std::trunc(real_of(argument));
        if (const auto whole = whole_of(argument)) return {*whole};
        if (!(std::abs(real) < 9.2e18)) fail(fmt::format("int({}) passes 64 bits", real), "use smaller numbers");
        return {static_cast<std::int64_t>(real)};
    }

    PythonValue extreme(const std::string& function, const List& values) const {
        if (values.empty()) fail(function + "() of nothing has no value", "give it a value");
        const PythonValue* best = &values.front();
        for (const PythonValue& value : values)
            if (function == "min" ? less(value, *best) : less(*best, value)) best = &value;
        return *best;
    }

    PythonValue range(const List& arguments) const {
        std::vector<std::int64_t> bounds;
        for (const PythonValue& argument : arguments) {
            const auto whole = whole_of(argument);
            if (!whole) fail(fmt::format("range({}) has no meaning", argument.text()), "whole numbers belong here");
            bounds.push_back(*whole);
        }
        if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
        if (bounds.size() == 2) bounds.push_back(1);
        if (bounds.size() != 3 || bounds[2] == 0)
            fail("range() is given what it cannot take", "write range(end), range(begin, end) or range(begin, end, step)");
        List values;
        std::int64_t at = bounds[0];
        while (bounds[2] > 0 ? at < bounds[1] : at > bounds[1]) {
            if (values.size() == most_elements) fail(fmt::format("over {} values in a list", most_elements), "use fewer");
            values.push_back({at});
            if (__builtin_add_overflow(at, bounds[2], &at)) break;
        }
        return {std::move(values)};
    }

    const PythonExpression::Lookup* value_of_;
    const std::string* where_;
    std::vector<std::pair<std::string, PythonValue>> locals_;
    std::int64_t steps_ = 0;
};

void collect_names(const Node& node, std::vector<std::string>& locals, std::set<std::string>& names) {
    if (node.kind == Kind::name && std::find(locals.begin(), locals.end(), node.text) == locals.end()) names.insert(node.text);
    const bool loop = node.kind == Kind::comprehension;
    if (loop) collect_names(node.children[1], locals, names);
    if (loop) locals.push_back(node.text);
    for (std::size_t i = 0; i < node.children.size(); ++i)
        if (!loop || i != 1) collect_names(node.children[i], locals, names);
    if (loop) locals.pop_back();
}

}  // namespace

bool PythonValue::truth() const {
    if (const auto* text = std::get_if<std::string>(&held)) return !text->empty();
    if (const auto* list = std::get_if<List>(&held)) return !list->empty();
    return real_of(*this) != 0;
}

bool PythonValue::operator==(const PythonValue& other) const {
    if (!is_number(*this) || !is_number(other)) return held.index() == other.held.index() && held == other.held;
    const auto a = whole_of(*this);
    const auto b = whole_of(other);
    return a && b ? *a == *b : real_of(*this) == real_of(other);
}

std::string PythonValue::text() const {
    if (const auto* truth = std::get_if<bool>(&held)) return *truth ? "True" : "False";
    if (const auto* whole = std::get_if<std::int64_t>(&held)) return fmt::format("{}", *whole);
    if (const auto* real = std::get_if<double>(&held))
        return *real == std::trunc(*real) && std::abs(*real) < 1e16 ? fmt::format("{:.1f}", *real) : fmt::format("{}", *real);
    if (const auto* text = std::get_if<std::string>(&held)) return *text;
    std::string all;
    for (const PythonValue& element : std::get<List>(held)) {
        if (all.size() > 100) return "[" + all + ", ...]";
        all += (all.empty() ? "" : ", ") + element.text();
    }
    return "[" + all + "]";
}

std::string PythonValue::key() const {
    if (const auto* text = std::get_if<std::string>(&held)) return fmt::format("'{}:{}", text->size(), *text);
    if (const auto* list = std::get_if<List>(&held)) {
        std::string key = "[";
        for (const PythonValue& element : *list) key += element.key() + ",";
        return key + "]";
    }
    constexpr double exact = 9007199254740992.0;  // 2^53: beyond it a whole number is no longer the double beside it
    if (const auto* real = std::get_if<double>(&held))
        return std::abs(*real) < exact && *real == std::trunc(*real) ? fmt::format("{}", static_cast<std::int64_t>(*real)) : fmt::format("{}", *real);
    if (const auto* truth = std::get_if<bool>(&held)) return *truth ? "1" : "0";
    return fmt::format("{}", std::get<std::int64_t>(held));
}

PythonExpression::PythonExpression(std::string_view text, std::string where) : where_(std::move(where)) {
    root_ = std::make_shared<const Node>(parse_python(text, where_));
}

PythonValue PythonExpression::evaluate(const Lookup& value_of) const {
    return ExpressionEvaluator(value_of, where_).value(*root_);
}

PythonExpression PythonExpression::child(std::size_t place) const {
    return {std::shared_ptr<const Node>(root_, &root_->children.at(place)), where_};
}

std::vector<std::string> PythonExpression::names() const {
    std::set<std::string> names;
    std::vector<std::string> locals;
    collect_names(*root_, locals, names);
    return {names.begin(), names.end()};
}

}  // namespace hone::inline v0_1
