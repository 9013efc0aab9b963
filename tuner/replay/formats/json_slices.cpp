#include "tuner/replay/formats/json_slices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "foundation/json.hpp"

namespace hone::inline v0_1 {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

JsonSlices::JsonSlices(std::string_view text, std::string file, char open, int line)
    : all_(text), file_(std::move(file)), close_(open == '{' ? '}' : ']'), line_(line) {
    skip_space();
    if (peek() != open) fail(at_end() ? "it is empty" : "it begins with something else", fmt::format("a {} belongs here", open));
    ++at_;
}

void JsonSlices::fail(const std::string& found, const std::string& remedy) const {
    throw Error(fmt::format("{}:{}", file_, line_), found, remedy);
}

void JsonSlices::skip_space() {
    while (at_ < all_.size() && is_space(all_[at_])) line_ += all_[at_++] == '\n' ? 1 : 0;
}

// Past a string's closing quote; false when the text ends before.
bool JsonSlices::skip_string() {
    for (++at_; at_ < all_.size(); ++at_) {
        if (all_[at_] == '\\') {
            ++at_;
        } else if (all_[at_] == '"') {
            ++at_;
            return true;
        } else if (all_[at_] == '\n') {
            ++line_;
        }
    }
    at_ = all_.size();  // a backslash may have been the last character
    return false;
}

// Past a value; false when the text ends before or just behind a number or word, which may have had
// more digits.
bool JsonSlices::skip_value() {
    int depth = 0;
    while (at_ < all_.size()) {
        const char c = all_[at_];
        if (c == '"') {
            if (!skip_string()) return false;
            if (depth == 0) return true;
            continue;
        }
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') {
            if (depth == 0) return true;
            --depth;
        }
        if (depth == 0 && (c == ',' || is_space(c))) return true;
        line_ += c == '\n' ? 1 : 0;
        ++at_;
        if (depth == 0 && (c == '}' || c == ']')) return true;
    }
    return false;
}

bool JsonSlices::read_name() {
    if (peek() != '"') fail("a member has no name in quotes", "a name belongs here");
    const std::size_t begin = at_;
    const int line = line_;
    if (!skip_string()) return false;
    name_ = parse_json(all_.substr(begin, at_ - begin), file_, line).text;
    skip_space();
    if (at_end()) return false;
    if (peek() != ':') fail(fmt::format("no colon follows the name {}", name_), "a : belongs here");
    ++at_;
    skip_space();
    return !at_end();
}

bool JsonSlices::stop(bool cut) {
    ended_ = true;
    cut_ = cut;
    return false;
}

bool JsonSlices::next(bool partial) {
    if (ended_) return false;
    skip_space();
    if (!first_ && peek() == ',') {
        ++at_;
        skip_space();
    } else if (!first_ && !at_end() && peek() != close_) {
        fail("no comma stands between two values", "a , belongs here");
    }
    first_ = false;
    if (at_end()) return stop(true);
    if (peek() == close_) {
        ++at_;
        return stop(false);
    }
    if (close_ == '}' && !read_name()) return stop(true);
    value_line_ = line_;
    const std::size_t begin = at_;
    const bool whole = skip_value();
    text_ = all_.substr(begin, at_ - begin);
    if (whole && text_.empty()) fail("a value is missing", "a value belongs here");
    if (whole) return true;
    stop(true);
    return partial && (text_.front() == '{' || text_.front() == '[');
}

}  // namespace hone::inline v0_1
