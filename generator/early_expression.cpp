// About 450 lines, because one evaluator of partly known expressions shares its kinds of results.
#include "generator/early_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/python_parser.hpp"

namespace hone::inline v0_1 {
namespace {

using Node = PythonExpression::Node;
using Kind = Node::Kind;
using List = PythonValue::List;
using Verdict = EarlyAnswer::Verdict;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double exact = 9007199254740992.0;  // 2^53: a whole number beyond is no longer the double beside it
constexpr double slack = 1e-12;               // of pow(), which is not rounded correctly

/// What is known of a value: itself, or an interval and a text of what else matters.
struct Part {
    enum class Shape { plain, sum, product };
    std::optional<PythonValue> known;
    bool number = false;  ///< `low` to `high` holds it
    bool whole = false;   ///< a whole number, or a truth value
    double low = -infinite;
    double high = infinite;
    Shape shape = Shape::plain;
    std::int64_t constant = 0;  ///< of a sum `constant + tail`, of a product `constant * tail`
    std::string tail;           ///< of a plain one, all

    std::string rest() const {
        if (known) return known->key();
        return shape == Shape::plain ? tail : fmt::format("({}{}{})", constant, shape == Shape::sum ? '+' : '*', tail);
    }
};

std::optional<std::int64_t> whole_of(const PythonValue& value) {
    if (const auto* truth = std::get_if<bool>(&value.held)) return *truth ? 1 : 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value.held)) return *whole;
    return std::nullopt;
}

void widen(Part& part) {
    if (part.low < -exact) part.low = -infinite;
    if (part.high > exact) part.high = infinite;
    // Of infinities there may come what is no number; whole numbers that large are an Error.
    const bool finite = std::isfinite(part.low) && std::isfinite(part.high);
    if (std::isnan(part.low) || std::isnan(part.high) || (!part.whole && !finite)) part.number = false;
    if (!part.number) part.low = -infinite, part.high = infinite;
}

Part part_of(PythonValue value) {
    Part part;
    if (const auto whole = whole_of(value)) {
        part.number = part.whole = true;
        part.low = part.high = static_cast<double>(*whole);
    } else if (const auto* real = std::get_if<double>(&value.held)) {
        part.number = true;
        part.low = part.high = *real;
    }
    widen(part);
    part.known = std::move(value);
    return part;
}

Part interval(double low, double high, bool whole) {
    Part part;
    part.number = true;
    part.whole = whole;
    part.low = low;
    part.high = high;
    widen(part);
    return part;
}

/// The least and the greatest of what four corners of two intervals give.
template <typename Function>
std::pair<double, double> corners(const Part& a, const Part& b, const Function& function) {
    double low = infinite;
    double high = -infinite;
    for (const double x : {a.low, a.high})
        for (const double y : {b.low, b.high}) {
            const double value = function(x, y);
            if (std::isnan(value)) return {value, value};
            low = std::min(low, value);
            high = std::max(high, value);
        }
    return {low, high};
}

Part product_interval(const Part& a, const Part& b) {
    const auto [low, high] = corners(a, b, [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; });
    return interval(low, high, a.whole && b.whole);
}

Part quotient_interval(const Part& a, const Part& b, bool floored) {
    if (b.low <= 0 && b.high >= 0) return {};
    const auto [low, high] = corners(a, b, [](double x, double y) { return std::isinf(x) && std::isinf(y) ? std::nan("") : x / y; });
    if (!floored) return interval(low, high, false);
    return interval(std::floor(low), std::floor(high), a.whole && b.whole);  // no double below 2^53 rounds up to a whole quotient
}

Part remainder_interval(const Part& a, const Part& b) {
    if (b.low <= 0 || !a.whole || !b.whole) return {};
    return a.low >= 0 && a.high < b.low ? interval(a.low, a.high, true) : interval(0, b.high - 1, true);
}

Part power_interval(const Part& a, const Part& b) {
    if (a.low < 0 || b.low < 0) return {};
    const auto [low, high] = corners(a, b, [](double x, double y) { return std::pow(x, y); });
    return interval(low * (1 - slack), high * (1 + slack), a.whole && b.whole);
}

/// The lists of a constant list of lists that begin with the values that are known, sorted into a
/// tree as they are asked for.
class Beginnings {
  public:
    Beginnings(const List& lists, std::size_t length) : length_(length) {
        std::unordered_map<std::string, std::uint32_t> numbers;
        nodes_.emplace_back();
        for (const PythonValue& one : lists) {
            const auto* elements = std::get_if<List>(&one.held);
            if (elements == nullptr || elements->size() != length) continue;
            nodes_.front().lists.push_back(static_cast<std::uint32_t>(keys_.size() / length));
            for (const PythonValue& element : *elements)
                keys_.push_back(numbers.emplace(element.key(), static_cast<std::uint32_t>(numbers.size())).first->second);
        }
        for (auto& [key, number] : numbers) numbers_.emplace(key, number);
    }

    /// The node of what is known: places in the lists and keys, always in the same order. Nothing
    /// where no list begins so.
    std::optional<std::size_t> find(const std::vector<std::pair<std::size_t, std::string>>& known) {
        std::size_t at = 0;
        for (const auto& [place, key] : known) {
            if (!nodes_[at].sorted) sort(at, place);
            const auto number = numbers_.find(key);
            if (number == numbers_.end()) return std::nullopt;
            const auto next = nodes_[at].next.find(number->second);
            if (next == nodes_[at].next.end()) return std::nullopt;
            at = next->second;
        }
        return nodes_[at].sorted || !nodes_[at].lists.empty() ? std::optional(at) : std::nullopt;
    }

  private:
    struct BeginningNode {
        bool sorted = false;
        std::vector<std::uint32_t> lists;  ///< until it is sorted
        std::unordered_map<std::uint32_t, std::size_t> next;
    };

    void sort(std::size_t at, std::size_t place) {
        const std::vector<std::uint32_t> lists = std::exchange(nodes_[at].lists, {});
        nodes_[at].sorted = true;
        for (const std::uint32_t list : lists) {
            const auto [found, is_new] = nodes_[at].next.emplace(keys_[list * length_ + place], nodes_.size());
            const std::size_t to = found->second;
            if (is_new) nodes_.emplace_back();
            nodes_[to].lists.push_back(list);
        }
    }

    std::size_t length_;
    std::vector<std::uint32_t> keys_;  ///< [list][place]: number of the value's key
    std::map<std::string, std::uint32_t> numbers_;
    std::vector<BeginningNode> nodes_;
};

/// A node of the expression with the tunables that stand in it.
struct Term {
    PythonExpression expression;
    const Node* node = nullptr;
    std::vector<std::size_t> slots;  ///< ascending
    std::vector<Term> children;      ///< none of a loop, whose variables have no value outside
    std::string id;                  ///< of its place in the expression
    std::optional<Part> untouched;   ///< while none of its tunables has a value
    std::unique_ptr<Beginnings> beginnings = nullptr;
};

}  // namespace

struct EarlyExpression::State {
    std::shared_ptr<const std::vector<EarlyName>> tunables;
    std::map<std::string, PythonValue> others;  ///< values of all further names
    std::map<std::string, std::size_t> slots;
    std::vector<Part> domains;  ///< of each tunable: the interval of its values
    std::optional<Term> root;
    std::span<const std::uint16_t> levels;

    PythonValue value_of(const std::string& name) const {
        if (const auto slot = slots.find(name); slot != slots.end()) return (*tunables)[slot->second].values[levels[slot->second]];
        return others.at(name);
    }
    PythonValue evaluated(const Term& term) const {
        return term.expression.evaluate([this](const std::string& name) { return value_of(name); });
    }

    Term term_of(const PythonExpression& expression, std::string id) {
        Term term{expression, &expression.node(), {}, {}, std::move(id), {}, nullptr};
        for (const std::string& name : expression.names())
            if (const auto slot = slots.find(name); slot != slots.end()) term.slots.push_back(slot->second);
        std::sort(term.slots.begin(), term.slots.end());
        if (term.node->kind == Kind::comprehension || term.slots.empty()) return term;
        for (std::size_t i = 0; i < term.node->children.size(); ++i)
            term.children.push_back(term_of(expression.child(i), fmt::format("{}.{}", term.id, i)));
        return term;
    }

    bool known(const Term& term) const { return term.slots.empty() || term.slots.back() < levels.size(); }
    bool touched(const Term& term) const { return !term.slots.empty() && term.slots.front() < levels.size(); }

    /// All that is known of its tunables.
    std::string all_known(const Term& term) const {
        std::string text = term.id + "{";
        for (const std::size_t slot : term.slots)
            if (slot < levels.size()) text += fmt::format("{},", levels[slot]);
        return text + "}";
    }

    Part value(Term& term) {
        if (known(term)) {
            try {
                return part_of(evaluated(term));
            } catch (const Error&) {  // for whoever evaluates all, if it comes to that
                Part part;
                part.tail = all_known(term);
                return part;
            }
        }
        if (!touched(term)) {
            if (!term.untouched) {
                term.untouched = value_of_kind(term);
                term.untouched->shape = Part::Shape::plain;
                if (!term.untouched->known) term.untouched->tail = "#" + term.id;
            }
            return *term.untouched;
        }
        Part part = value_of_kind(term);
        // What can only be one number is it.
        if (!part.known && part.number && part.whole && part.low == part.high) return part_of({static_cast<std::int64_t>(part.low)});
        return part;
    }

    Part value_of_kind(Term& term) {
        Part part;
        switch (term.node->kind) {
            case Kind::name:
                part = domains[term.slots.front()];
                break;
            case Kind::unary:
                if (term.node->text == "not") return truth_value(term);
                part = value(term.children[0]);
                if (term.node->text == "-") part = difference(part_of({std::int64_t{0}}), part);
                return part;
            case Kind::binary:
                return binary(term);
            case Kind::comparison:
                return truth_value(term);
            case Kind::conditional:
                return conditional(term);
            case Kind::call:
                part = call(term);
                break;
            default:  // lists, loops; the value of `and` and `or` may be either operand's
                break;
        }
        part.known.reset();
        part.shape = Part::Shape::plain;
        part.tail = all_known(term);
        return part;
    }

    Part truth_value(Term& term) {
        const EarlyAnswer answer = truth(term);
        if (answer.verdict != Verdict::open) return part_of({answer.verdict == Verdict::holds});
        Part part = interval(0, 1, true);
        part.tail = answer.rest;
        return part;
    }

    static std::pair<std::int64_t, std::string> as(Part::Shape shape, const Part& part) {
        if (part.known && part.whole) return {*whole_of(*part.known), ""};
        if (part.shape == shape) return {part.constant, part.tail};
        return {shape == Part::Shape::sum ? 0 : 1, part.rest()};
    }

    static Part combined(Part bounds, Part::Shape shape, const Part& a, const Part& b, char sign) {
        const auto [first, tail] = as(shape, a);
        const auto [second, other] = as(shape, b);
        const bool overflows = sign == '+'   ? __builtin_add_overflow(first, second, &bounds.constant)
                               : sign == '-' ? __builtin_sub_overflow(first, second, &bounds.constant)
                                             : __builtin_mul_overflow(first, second, &bounds.constant);
        if (overflows || !bounds.whole) {
            bounds.tail = fmt::format("({}{}{})", a.rest(), sign, b.rest());
            return bounds;
        }
        bounds.shape = shape;
        bounds.tail = other.empty() ? tail : fmt::format("{}{}({})", tail, sign, other);
        return bounds;
    }

    static Part difference(const Part& a, const Part& b) {
        if (!a.number || !b.number) return opaque(a, "-", b);
        return combined(interval(a.low - b.high, a.high - b.low, a.whole && b.whole), Part::Shape::sum, a, b, '-');
    }

    static Part opaque(const Part& a, const std::string& sign, const Part& b) {
        Part part;
        part.tail = fmt::format("({}{}{})", a.rest(), sign, b.rest());
        return part;
    }

    Part binary(Term& term) {
        const Part a = value(term.children[0]);
        const Part b = value(term.children[1]);
        const std::string& sign = term.node->text;
        if (!a.number || !b.number) return opaque(a, sign, b);
        if (sign == "+") return combined(interval(a.low + b.low, a.high + b.high, a.whole && b.whole), Part::Shape::sum, a, b, '+');
        if (sign == "-") return difference(a, b);
        if (sign == "*") return combined(product_interval(a, b), Part::Shape::product, a, b, '*');
        Part part = sign == "/"    ? quotient_interval(a, b, false)
                    : sign == "//" ? quotient_interval(a, b, true)
                    : sign == "%"  ? remainder_interval(a, b)
                                   : power_interval(a, b);
        part.tail = fmt::format("({}{}{})", a.rest(), sign, b.rest());
        return part;
    }

    Part conditional(Term& term) {
        const EarlyAnswer condition = truth(term.children[1]);
        if (condition.verdict != Verdict::open) return value(term.children[condition.verdict == Verdict::holds ? 0 : 2]);
        const Part a = value(term.children[0]);
        const Part b = value(term.children[2]);
        Part part;
        if (a.number && b.number) part = interval(std::min(a.low, b.low), std::max(a.high, b.high), a.whole && b.whole);
        part.tail = fmt::format("({}?{}:{})", condition.rest, a.rest(), b.rest());
        return part;
    }

    /// The interval alone.
    Part call(Term& term) {
        const std::string& function = term.node->text;
        std::vector<Term>* arguments = &term.children;
        if (arguments->size() == 1 && arguments->front().node->kind == Kind::list) arguments = &arguments->front().children;
        std::vector<Part> parts;
        for (Term& argument : *arguments) parts.push_back(value(argument));
        if (parts.empty() || std::any_of(parts.begin(), parts.end(), [](const Part& part) { return !part.number; })) return {};
        Part result = parts.front();
        const bool several = arguments != &term.children || parts.size() > 1;
        if (several && (function == "min" || function == "max" || function == "sum")) {
            for (std::size_t i = 1; i < parts.size(); ++i) {
                const Part& part = parts[i];
                const bool whole = result.whole && part.whole;
                if (function == "min") result = interval(std::min(result.low, part.low), std::min(result.high, part.high), whole);
                if (function == "max") result = interval(std::max(result.low, part.low), std::max(result.high, part.high), whole);
                if (function == "sum") result = interval(result.low + part.low, result.high + part.high, whole);
            }
            return result;
        }
        if (several) return {};
        if (function == "float") return interval(result.low, result.high, false);
        if (function == "int") return interval(std::trunc(result.low), std::trunc(result.high), true);
        if (function == "abs") {
            const double far = std::max(std::abs(result.low), std::abs(result.high));
            const double near = result.low <= 0 && result.high >= 0 ? 0 : std::min(std::abs(result.low), std::abs(result.high));
            return interval(near, far, result.whole);
        }
        return {};
    }

    EarlyAnswer truth(Term& term) {
        if (known(term)) {
            try {
                return {evaluated(term).truth() ? Verdict::holds : Verdict::broken};
            } catch (const Error&) {
                return {Verdict::open, all_known(term)};
            }
        }
        switch (term.node->kind) {
            case Kind::conjunction:
                return all_of(term, Verdict::broken);
            case Kind::disjunction:
                return all_of(term, Verdict::holds);
            case Kind::comparison:
                return comparison(term);
            case Kind::unary:
                if (term.node->text == "not") return inverse(truth(term.children[0]));
                break;
            case Kind::conditional:
                return choice(term);
            default:
                break;
        }
        const Part part = value(term);
        if (part.known) return {part.known->truth() ? Verdict::holds : Verdict::broken};
        if (part.number && (part.low > 0 || part.high < 0)) return {Verdict::holds};
        return {Verdict::open, part.rest()};
    }

    static EarlyAnswer inverse(const EarlyAnswer& answer) {
        if (answer.verdict == Verdict::open) return {Verdict::open, "!" + answer.rest};
        return {answer.verdict == Verdict::holds ? Verdict::broken : Verdict::holds};
    }

    /// Of `and` (`deciding` is broken) or `or` (holds): one that is so decides all.
    EarlyAnswer all_of(Term& term, Verdict deciding) {
        EarlyAnswer result{deciding == Verdict::broken ? Verdict::holds : Verdict::broken};
        for (Term& child : term.children) {
            EarlyAnswer answer = truth(child);
            if (answer.verdict == deciding) return {deciding};
            if (answer.verdict != Verdict::open) continue;
            result.verdict = Verdict::open;
            result.rest += answer.rest + "&";
        }
        return result;
    }

    EarlyAnswer choice(Term& term) {
        const EarlyAnswer condition = truth(term.children[1]);
        if (condition.verdict != Verdict::open) return truth(term.children[condition.verdict == Verdict::holds ? 0 : 2]);
        EarlyAnswer a = truth(term.children[0]);
        const EarlyAnswer b = truth(term.children[2]);
        if (a.verdict == b.verdict && a.verdict != Verdict::open) return a;
        return {Verdict::open,
                fmt::format("({}?{}{}:{}{})", condition.rest, static_cast<int>(a.verdict), a.rest, static_cast<int>(b.verdict), b.rest)};
    }

    EarlyAnswer comparison(Term& term) {
        EarlyAnswer result{Verdict::holds};
        for (std::size_t i = 0; i < term.node->operators.size(); ++i) {
            const std::string& sign = term.node->operators[i];
            Term& left = term.children[i];
            Term& right = term.children[i + 1];
            EarlyAnswer answer = sign == "in"       ? membership(left, right)
                                 : sign == "not in" ? inverse(membership(left, right))
                                                    : pair(sign, left, right);
            if (answer.verdict == Verdict::broken) return answer;
            if (answer.verdict == Verdict::holds) continue;
            result.verdict = Verdict::open;
            result.rest += answer.rest + ";";
        }
        return result;
    }

    EarlyAnswer pair(const std::string& sign, Term& left, Term& right) {
        const Part a = value(left);
        const Part b = value(right);
        EarlyAnswer open{Verdict::open, fmt::format("{}{}{}", a.rest(), sign, b.rest())};
        if (!a.number || !b.number) return open;
        const auto decided = [&](bool always, bool never) -> EarlyAnswer {
            return always ? EarlyAnswer{Verdict::holds} : never ? EarlyAnswer{Verdict::broken} : open;
        };
        if (sign == "<") return decided(a.high < b.low, a.low >= b.high);
        if (sign == "<=") return decided(a.high <= b.low, a.low > b.high);
        if (sign == ">") return decided(a.low > b.high, a.high <= b.low);
        if (sign == ">=") return decided(a.low >= b.high, a.high < b.low);
        const bool apart = a.high < b.low || a.low > b.high;
        const bool same = a.low == a.high && b.low == b.high && a.low == b.low && std::isfinite(a.low);
        return sign == "==" ? decided(same, apart) : decided(apart, same);
    }

    EarlyAnswer membership(Term& left, Term& right) {
        if (!right.slots.empty()) return {Verdict::open, all_known(left) + " in " + all_known(right)};
        if (left.beginnings) return beginning(left);
        const PythonValue held = evaluated(right);
        const auto* const list = std::get_if<List>(&held.held);
        if (list == nullptr) return {Verdict::open, all_known(left)};
        if (left.node->kind == Kind::list) {
            left.beginnings = std::make_unique<Beginnings>(*list, left.children.size());
            return beginning(left);
        }
        const Part part = value(left);
        if (part.known) return {std::find(list->begin(), list->end(), *part.known) != list->end() ? Verdict::holds : Verdict::broken};
        const auto possible = [&](const PythonValue& one) {
            const Part element = part_of(one);
            return !part.number || (element.number && element.low <= part.high && element.high >= part.low);
        };
        if (std::none_of(list->begin(), list->end(), possible)) return {Verdict::broken};
        return {Verdict::open, part.rest()};
    }

    EarlyAnswer beginning(Term& left) {
        // In the order in which they become known.
        std::vector<std::pair<std::size_t, std::size_t>> order;
        for (std::size_t i = 0; i < left.children.size(); ++i) {
            const Term& child = left.children[i];
            if (known(child)) order.emplace_back(child.slots.empty() ? 0 : child.slots.back(), i);
        }
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<std::pair<std::size_t, std::string>> keys;
        for (const auto& [slot, place] : order) {
            const Part part = value(left.children[place]);
            if (!part.known) return {Verdict::open, all_known(left)};
            keys.emplace_back(place, part.known->key());
        }
        const auto found = left.beginnings->find(keys);
        if (!found) return {Verdict::broken};
        if (keys.size() == left.children.size()) return {Verdict::holds};
        return {Verdict::open, fmt::format("{}@{}{}", left.id, *found, all_touched(left))};
    }

    /// What is known of those elements of a list that are not known themselves.
    std::string all_touched(const Term& list) const {
        std::string text;
        for (const Term& child : list.children)
            if (!known(child) && touched(child)) text += all_known(child);
        return text;
    }
};

EarlyExpression::EarlyExpression(const PythonExpression& expression, std::shared_ptr<const std::vector<EarlyName>> tunables,
                                 const PythonExpression::Lookup& others)
    : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.tunables = std::move(tunables);
    for (std::size_t slot = 0; slot < state.tunables->size(); ++slot) {
        const EarlyName& tunable = (*state.tunables)[slot];
        state.slots.emplace(tunable.name, slot);
        Part domain = part_of(tunable.values.front());
        for (const PythonValue& value : tunable.values) {
            const Part one = part_of(value);
            domain.number = domain.number && one.number;
            domain.whole = domain.whole && one.whole;
            domain.low = std::min(domain.low, one.low);
            domain.high = std::max(domain.high, one.high);
        }
        domain.known.reset();
        widen(domain);
        state.domains.push_back(std::move(domain));
    }
    for (const std::string& name : expression.names())
        if (state.slots.count(name) == 0) state.others.emplace(name, others(name));
    state.root.emplace(state.term_of(expression, "0"));
}

EarlyExpression::~EarlyExpression() = default;

const std::vector<std::size_t>& EarlyExpression::reads() const {
    return state_->root->slots;
}

EarlyAnswer EarlyExpression::ask(std::span<const std::uint16_t> levels) {
    state_->levels = levels;
    Term& root = *state_->root;
    if (state_->known(root)) return {state_->evaluated(root).truth() ? Verdict::holds : Verdict::broken};
    return state_->truth(root);
}

}  // namespace hone::inline v0_1
