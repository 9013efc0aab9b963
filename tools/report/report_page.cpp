#include "tools/report/report_page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "foundation/error.hpp"
#include "foundation/sha256.hpp"

namespace hone::tools {
namespace {

// In the order in which they use one another.
constexpr std::array scripts{"text.js", "data.js", "chart.js", "table.js", "code.js", "pages.js", "problem.js", "search.js", "report.js"};

unsigned digit(char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
}

// Base64 (RFC 4648) of bytes that are written as hexadecimal digits.
std::string base64(const std::string& digits) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t begin = 0; begin < digits.size(); begin += 6) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 6; ++i) bits = bits << 4U | (begin + i < digits.size() ? digit(digits[begin + i]) : 0U);
        const std::size_t bytes = std::min<std::size_t>(3, (digits.size() - begin) / 2);
        for (std::size_t i = 0; i < 4; ++i) text += i <= bytes ? letters[bits >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

std::string source_of(const std::string& text) {
    return "'sha256-" + base64(sha256(text)) + "'";
}

// In JSON "<" stands in strings only, where it may be written as its number.
std::string without_tags(const std::string& json) {
    std::string text;
    text.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            text += "\\u003c";
        } else {
            text += c;
        }
    }
    return text;
}

std::string element(const ReportPart& part) {
    return "<script type=\"application/json\" id=\"data-" + part.name + "\">" +
           without_tags(part.data.dump(-1, ' ', false, Json::error_handler_t::replace)) + "</script>\n";
}

// The page up to a mark, which is left out; what follows stays in `rest`.
std::string up_to(std::string_view& rest, const std::string& name) {
    const std::string mark = "<!--" + name + "-->";
    const std::size_t at = rest.find(mark);
    if (at == std::string_view::npos) throw Error("tools/report/page.html", "it has no " + mark, "put it where the " + name + " belongs");
    std::string text(rest.substr(0, at));
    rest.remove_prefix(at + mark.size());
    return text;
}

}  // namespace

std::string report_page(const std::vector<ReportPart>& parts) {
    const std::string style(report_file("report.css"));
    std::string script;
    for (const char* const file : scripts) script += report_file(file);
    std::string_view rest = report_file("page.html");
    std::string page = up_to(rest, "policy");
    page += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src " +
            source_of(style) + "; script-src " + source_of(script) + "\">";
    page += up_to(rest, "style") + "<style>" + style + "</style>";
    page += up_to(rest, "data");
    for (const ReportPart& part : parts) page += element(part);
    page += up_to(rest, "script") + "<script>" + script + "</script>";
    page += rest;
    return page;
}

}  // namespace hone::tools
