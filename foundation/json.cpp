#include "foundation/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "foundation/error.hpp"
#include "foundation/value.hpp"

namespace hone::inline v0_1 {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_levels = 16;         // a database has six
constexpr std::size_t most_values = 1'500'000;  // a record has some sixty
constexpr std::size_t most_members = 1000;      // of one object; looked through for each new one
constexpr const char* mend = "correct the file or restore it from a copy";

// What was found may be megabytes of rubbish.
std::string beginning(std::string_view text) {
    constexpr std::size_t enough = 120;
    return text.size() <= enough ? std::string(text) : std::string(text.substr(0, enough)) + "...";
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..." from
// "column" on: the line is known better here.
std::string_view reason_of(std::string_view message) {
    if (const std::size_t tag = message.find("] "); tag != std::string_view::npos) message.remove_prefix(tag + 2);
    const std::size_t column = message.starts_with("parse error at ") ? message.find("column ") : std::string_view::npos;
    if (column != std::string_view::npos) message.remove_prefix(column);
    return message;
}

// Where the parser is. The newest character that it took may be one that it only looked at, so a
// newline counts when the next one is taken.
class Position {
  public:
    Position(const char* begin, int line) : taken_(begin), counted_(begin), line_(line) {}

    void take(const char* up_to) { taken_ = up_to; }
    int line() {
        if (taken_ == counted_) return line_;
        const char* const newest = taken_ - 1;
        line_ += static_cast<int>(std::count(counted_, newest, '\n'));
        counted_ = newest;
        return line_;
    }

  private:
    const char* taken_;
    const char* counted_;  // newlines before it are in `line_`
    int line_;
};

// Characters that tell when they are taken.
class TellingIterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    TellingIterator(const char* at, Position* position) : at_(at), position_(position) {}
    reference operator*() const { return *at_; }
    TellingIterator& operator++() {
        position_->take(++at_);
        return *this;
    }
    TellingIterator operator++(int) {
        TellingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const TellingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const TellingIterator& other) const { return at_ != other.at_; }

  private:
    const char* at_;
    Position* position_;
};

// Builds the tree from the parser's events.
class TreeBuilder : public nlohmann::json_sax<Json> {
  public:
    TreeBuilder(Position& position, const std::string& file) : position_(&position), file_(&file) {}

    JsonNode take() { return std::move(root_); }

    bool null() override { return add(JsonNode::Kind::null, "null"), true; }
    bool boolean(bool value) override { return add(JsonNode::Kind::boolean, value ? "true" : "false"), true; }
    bool number_integer(number_integer_t value) override {
        JsonNode& node = add(JsonNode::Kind::integer, std::to_string(value));
        node.integer = value;
        node.real = static_cast<double>(value);
        return true;
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
            return number_integer(static_cast<std::int64_t>(value));
        add(JsonNode::Kind::real, std::to_string(value)).real = static_cast<double>(value);
        return true;
    }
    // The text comes with the decimal point of the application's locale.
    bool number_float(number_float_t value, const string_t& text) override {
        JsonNode& node = add(JsonNode::Kind::real, text);
        const std::size_t point = node.text.find_first_not_of("0123456789+-eE");
        if (point != std::string::npos) node.text[point] = '.';
        node.real = value;
        return true;
    }
    bool string(string_t& value) override { return add(JsonNode::Kind::string, std::move(value)), true; }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(JsonNode::Kind::object); }
    bool start_array(std::size_t) override { return open(JsonNode::Kind::array); }
    bool end_object() override { return open_.pop_back(), true; }
    bool end_array() override { return open_.pop_back(), true; }
    bool key(string_t& name) override {
        if (open_.back()->children.size() == most_members) fail(fmt::format("over {} members in one object", most_members), mend);
        if (open_.back()->find(name) != nullptr) fail(json_string(beginning(name)) + " stands twice in one object", "remove one of them");
        name_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const Json::exception& error) override { fail(beginning(reason_of(error.what())), mend); }

  private:
    [[noreturn]] void fail(const std::string& found, const std::string& remedy) const {
        throw Error(fmt::format("{}:{}", *file_, position_->line()), found, remedy);
    }

    JsonNode& add(JsonNode::Kind kind, std::string text) {
        if (++values_ > most_values) fail(fmt::format("over {} values", most_values), "check that it is a database of hone");
        JsonNode& node = open_.empty() ? root_ : open_.back()->children.emplace_back();
        node.kind = kind;
        node.line = position_->line();
        node.text = std::move(text);
        node.name = std::move(name_);
        name_.clear();
        return node;
    }

    // Pointers to open nodes stay valid: only the innermost one grows.
    bool open(JsonNode::Kind kind) {
        if (open_.size() == most_levels) fail(fmt::format("over {} levels of nesting", most_levels), mend);
        open_.push_back(&add(kind, ""));
        return true;
    }

    Position* position_;
    const std::string* file_;
    JsonNode root_;
    std::vector<JsonNode*> open_;
    std::string name_;
    std::size_t values_ = 0;
};

const char* kind_name(JsonNode::Kind kind) {
    switch (kind) {
        case JsonNode::Kind::null:
            return "null";
        case JsonNode::Kind::boolean:
            return "true or false";
        case JsonNode::Kind::integer:
            return "a whole number";
        case JsonNode::Kind::real:
            return "a number";
        case JsonNode::Kind::string:
            return "a string";
        case JsonNode::Kind::array:
            return "an array";
        case JsonNode::Kind::object:
            return "an object";
    }
    return "";
}

void require(const JsonPlace& place, JsonNode::Kind kind) {
    if (place.node().kind != kind) place.fail(fmt::format("is {}", kind_name(place.node().kind)), fmt::format("{} belongs here", kind_name(kind)));
}

// Extends the path of `from` to that of `wanted`, where it lies there. Only who has to complain
// asks for it, and then once.
bool find_path(const JsonNode& from, const JsonNode& wanted, std::string& path) {
    if (&from == &wanted) return true;
    const std::size_t length = path.size();
    for (std::size_t i = 0; i < from.children.size(); ++i) {
        const JsonNode& child = from.children[i];
        if (from.kind == JsonNode::Kind::array)
            path += fmt::format("[{}]", i);
        else
            path += path.empty() ? child.name : "." + child.name;
        if (find_path(child, wanted, path)) return true;
        path.resize(length);
    }
    return false;
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view member) const {
    const auto found = std::find_if(children.begin(), children.end(), [&](const JsonNode& child) { return child.name == member; });
    return found == children.end() ? nullptr : &*found;
}

JsonNode* JsonNode::find(std::string_view member) {
    const auto found = std::find_if(children.begin(), children.end(), [&](const JsonNode& child) { return child.name == member; });
    return found == children.end() ? nullptr : &*found;
}

std::string_view without_byte_order_mark(std::string_view text, const std::string& file) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) throw Error(file, "it is UTF-16", "save it as UTF-8");
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    return text;
}

JsonNode parse_json(std::string_view text, const std::string& file, int first_line) {
    Position position(text.data(), first_line);
    TreeBuilder builder(position, file);
    const TellingIterator begin(text.data(), &position);
    const TellingIterator end(text.data() + text.size(), &position);
    if (!Json::sax_parse(begin, end, &builder)) throw Error(file, "it is not JSON", mend);
    return builder.take();
}

std::string write_json(const JsonNode& node) {
    if (node.kind == JsonNode::Kind::string) return json_string(node.text);
    if (node.kind != JsonNode::Kind::array && node.kind != JsonNode::Kind::object) return node.text;
    const bool object = node.kind == JsonNode::Kind::object;
    std::string text = object ? "{" : "[";
    for (const auto& child : node.children) {
        if (&child != &node.children.front()) text += ", ";
        if (object) text += json_string(child.name) + ": ";
        text += write_json(child);
    }
    return text + (object ? "}" : "]");
}

JsonPlace JsonPlace::operator[](std::string_view member) const {
    if (auto place = find(member)) return *std::move(place);
    fail(fmt::format("has no \"{}\"", member), mend);
}

JsonPlace JsonPlace::operator[](std::size_t element) const {
    if (element >= elements()) fail(fmt::format("has {} elements", elements()), fmt::format("{} or more belong here", element + 1));
    return {node_->children[element], whole_};
}

std::optional<JsonPlace> JsonPlace::find(std::string_view member) const {
    require(*this, JsonNode::Kind::object);
    const JsonNode* child = node_->find(member);
    if (child == nullptr) return std::nullopt;
    return JsonPlace(*child, whole_);
}

std::size_t JsonPlace::elements() const {
    require(*this, JsonNode::Kind::array);
    return node_->children.size();
}

const std::vector<JsonNode>& JsonPlace::members() const {
    require(*this, JsonNode::Kind::object);
    return node_->children;
}

const std::string& JsonPlace::string(std::size_t longest) const {
    require(*this, JsonNode::Kind::string);
    if (node_->text.size() > longest) fail(fmt::format("has {} bytes", node_->text.size()), fmt::format("at most {} belong here", longest));
    return node_->text;
}

double JsonPlace::number(double low, double high) const {
    if (node_->kind != JsonNode::Kind::integer) require(*this, JsonNode::Kind::real);
    if (!(node_->real >= low && node_->real <= high))
        fail("is " + beginning(node_->text), fmt::format("a number from {} to {} belongs here", low, high));
    return node_->real;
}

std::int64_t JsonPlace::integer(std::int64_t low, std::int64_t high) const {
    require(*this, JsonNode::Kind::integer);
    if (node_->integer < low || node_->integer > high)
        fail("is " + beginning(node_->text), fmt::format("a whole number from {} to {} belongs here", low, high));
    return node_->integer;
}

void JsonPlace::only(std::initializer_list<std::string_view> names) const {
    for (const auto& child : members())
        if (std::find(names.begin(), names.end(), child.name) == names.end())
            fail(fmt::format("has an unknown member {}", json_string(beginning(child.name))),
                 did_you_mean(child.name, {names.begin(), names.end()}) + fmt::format("it may have {}", fmt::join(names.begin(), names.end(), ", ")));
}

std::string JsonPlace::where() const {
    std::string path;
    find_path(*whole_->root, *node_, path);
    if (!whole_->name.empty()) path = whole_->name + (path.empty() || path.front() == '[' ? "" : ".") + path;
    return fmt::format("{}:{}: {}", whole_->file, node_->line, path.empty() ? "the value" : path);
}

void JsonPlace::fail(const std::string& found, const std::string& remedy) const {
    throw Error(where(), found, remedy);
}

std::string json_string(std::string_view text) {
    // Nearly all texts stand for themselves.
    const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::all_of(text.begin(), text.end(), plain)) return fmt::format("\"{}\"", text);
    return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_number(double number) {
    return std::isfinite(number) ? fmt::format("{}", number) : "null";
}

}  // namespace hone::inline v0_1
