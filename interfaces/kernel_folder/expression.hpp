#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "foundation/json.hpp"
#include "foundation/python_expression.hpp"
#include "generator/config.hpp"
#include "generator/limits.hpp"
#include "generator/problem.hpp"
#include "generator/search_space.hpp"

namespace hone::inline v0_1::kernel_folder {

/// Names of what expressions about a device may ask for (generator/limits.hpp), beside a problem's
/// parameters and the tunables.
const std::vector<std::string>& limit_names();

/// A parameter's or a tunable's value as expressions have it.
PythonValue python_value(const Value& value);

/// Values for the names in an expression: parameters of a problem, `word_bytes` (4 or 8) and
/// `roundoff` (2^-24 or 2^-53) of its precision, and, where they are given, tunables of a
/// configuration and limits of a device. All must outlive it.
class Values {
  public:
    explicit Values(const Problem& problem) : problem_(&problem) {}
    /// `tunables` are the configuration's.
    Values(const Problem& problem, const Config& config, const std::vector<Tunable>& tunables, const Limits& limits)
        : problem_(&problem), config_(&config), tunables_(&tunables), limits_(&limits) {}

    PythonValue operator()(const std::string& name) const;
    /// For messages.
    std::string where() const;

  private:
    const Problem* problem_;
    const Config* config_ = nullptr;
    const std::vector<Tunable>* tunables_ = nullptr;
    const Limits* limits_ = nullptr;
};

/// A number or an expression (PythonExpression) of a family.json. An immutable value.
class Expression {
  public:
    Expression() = default;
    /// Of a JSON number, or of a text in which no other names than these occur. Throws Error,
    /// naming the nearest.
    Expression(const JsonPlace& place, const std::vector<std::string>& names);
    /// Reads `text`; `where` names its place in errors.
    Expression(const std::string& text, const std::string& where, const std::vector<std::string>& names);

    bool given() const { return expression_ != nullptr; }
    const std::string& text() const { return text_; }
    const std::string& where() const { return where_; }
    std::vector<std::string> names() const { return expression_ ? expression_->names() : std::vector<std::string>{}; }
    /// Of one that is given.
    const PythonExpression& python() const { return *expression_; }

    /// Its value. Each throws Error, with the place, for a value of another kind or outside of
    /// [low, high].
    std::int64_t integer(const Values& values, std::int64_t low, std::int64_t high) const;
    double number(const Values& values, double low, double high) const;
    bool truth(const Values& values) const;
    /// As people read it.
    std::string told(const Values& values) const;

  private:
    PythonValue value(const Values& values) const;

    std::string text_;
    std::string where_;
    std::shared_ptr<const PythonExpression> expression_;
};

/// A sentence with expressions in braces: "{block_x * block_y} threads, the device takes
/// {max_threads_per_block}".
class Sentence {
  public:
    Sentence() = default;
    /// Throws Error for an open brace without its end, and as Expression does.
    Sentence(const JsonPlace& place, const std::vector<std::string>& names);
    std::string told(const Values& values) const;
    /// The names that its expressions ask for.
    std::vector<std::string> names() const;

  private:
    struct Piece {
        std::string text;
        Expression expression;  ///< behind the text; or not given
    };
    std::vector<Piece> pieces_;
};

}  // namespace hone::inline v0_1::kernel_folder
