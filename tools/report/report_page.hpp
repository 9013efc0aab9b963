#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/report_data.hpp"

namespace hone::tools {

/// Text of a file of tools/report/, e.g. "report.css". Throws Error when there is none.
std::string_view report_file(std::string_view file);

/// One HTML document that needs nothing else: style, script and data are in it, and a content
/// security policy that allows these and nothing more. Each part of the data is JSON in an element
/// of its own, called "data-" and its name, without a "<" that could end the element.
std::string report_page(const std::vector<ReportPart>& parts);

}  // namespace hone::tools
