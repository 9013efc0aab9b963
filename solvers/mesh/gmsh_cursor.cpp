#include "solvers/mesh/gmsh_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::string shown(std::string_view word) {
    constexpr std::size_t most = 40;
    return fmt::format("\"{}\"", word.substr(0, most));
}

}  // namespace

void GmshCursor::become_binary() {
    binary_ = true;
    const std::int64_t one = integer();
    swapped_ = one == 0x01000000;
    if (one != 1 && !swapped_) refuse("the number that tells the order of bytes is not 1", "save the mesh again");
}

void GmshCursor::skip_space() {
    for (; at_ < text_.size() && is_space(text_[at_]); ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
}

std::string_view GmshCursor::word() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
}

std::string_view GmshCursor::peek() {
    skip_space();
    const std::size_t begin = at_;
    const std::string_view next = word();
    at_ = begin;
    return next;
}

std::string GmshCursor::quoted() {
    skip_space();
    if (at_ >= text_.size()) refuse_end();
    const std::size_t end = text_[at_] == '"' ? text_.find_first_of("\"\n", at_ + 1) : at_;
    if (end == std::string_view::npos || text_[end] != '"') refuse("a name in quotation marks is missing", "save the mesh again");
    std::string name(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return name;
}

void GmshCursor::finish_line() {
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) refuse_end();
    at_ = end + 1;
    ++line_;
}

template <typename Value>
Value GmshCursor::parsed(const char* wanted) {
    const std::int64_t begins = (skip_space(), place());
    const std::string_view text = word();
    if (text.empty()) refuse_end();
    Value value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
        refuse_at(begins, fmt::format("{} stands where {} should", shown(text), wanted), "save the mesh again");
    return value;
}

template <typename Value>
Value GmshCursor::raw() {
    if (text_.size() - at_ < sizeof(Value)) refuse_end();
    std::array<char, sizeof(Value)> bytes{};
    std::memcpy(bytes.data(), text_.data() + at_, sizeof(Value));
    if (swapped_) std::reverse(bytes.begin(), bytes.end());
    at_ += sizeof(Value);
    Value value{};
    std::memcpy(&value, bytes.data(), sizeof(Value));
    return value;
}

std::int64_t GmshCursor::text_integer() {
    return parsed<std::int64_t>("a whole number");
}

double GmshCursor::text_number() {
    return parsed<double>("a number");
}

std::int64_t GmshCursor::integer() {
    return binary_ ? raw<std::int32_t>() : text_integer();
}

std::int64_t GmshCursor::size() {
    return binary_ ? raw<std::int64_t>() : text_integer();
}

double GmshCursor::number() {
    return binary_ ? raw<double>() : text_number();
}

void GmshCursor::skip_to(std::string_view wanted) {
    const std::size_t found = text_.find(wanted, at_);
    if (found == std::string_view::npos) refuse(fmt::format("the file ends without {}", wanted), "it was cut short: save the mesh again");
    if (!binary_) line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(found), '\n');
    at_ = found + wanted.size();
}

void GmshCursor::expect(std::string_view expected) {
    const std::string_view found = peek();
    if (found.empty()) refuse_end();
    if (found != expected) refuse(fmt::format("{} stands where {} should", shown(found), expected), "save the mesh again");
    word();
}

void GmshCursor::refuse(const std::string& found, const std::string& remedy) const {
    refuse_at(place(), found, remedy);
}

void GmshCursor::refuse_at(std::int64_t place, const std::string& found, const std::string& remedy) const {
    throw Error(fmt::format("{}, {} {}{}{}", where_, unit(), place, section_.empty() ? "" : ", section ", section_), found, remedy);
}

void GmshCursor::refuse_end() const {
    refuse("the file ends too early", "it was cut short: save the mesh again");
}

}  // namespace hone::inline v0_1::solvers
