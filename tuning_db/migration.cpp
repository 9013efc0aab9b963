#include "tuning_db/migration.hpp"

#include <algorithm>
#include <array>

#include "foundation/json.hpp"
#include "tuning_db/database_file.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1 {
namespace {

JsonNode real_member(const std::string& name, double value, int line) {
    JsonNode node;
    node.kind = JsonNode::Kind::real;
    node.line = line;
    node.name = name;
    node.text = json_number(value);
    node.real = value;
    return node;
}

// Version 1 had no confidence interval. The fastest sample bounds it below; the same width above is
// a guess that lets a result measured with an interval replace this one as soon as it is clearly
// faster.
void add_interval(JsonNode& step) {
    const JsonNode* median = step.find("median");
    const JsonNode* minimum = step.find("minimum");
    if (median == nullptr || minimum == nullptr || step.find("low") != nullptr || step.find("high") != nullptr) return;
    const double low = std::min(minimum->real, median->real);
    const double high = 2 * median->real - low;
    const int line = step.line;
    step.children.push_back(real_member("low", low, line));
    step.children.push_back(real_member("high", high, line));
}

void from_1_to_2(JsonNode& file) {
    JsonNode* records = file.find("records");
    if (records == nullptr) return;
    for (JsonNode& record : records->children)
        if (JsonNode* step = record.find("step_seconds")) add_interval(*step);
}

// From version 3 on a configuration may begin with `form`. What a form was called before its family
// had forms only the family knows: its space translates such configurations when they meet it
// (SearchSpace::completed).
void from_2_to_3(JsonNode&) {
}

// Row i leads from version i + 1 to i + 2.
constexpr std::array<void (*)(JsonNode&), schema_version - 1> steps{&from_1_to_2, &from_2_to_3};

}  // namespace

void migrate(JsonNode& file, int from) {
    for (auto version = static_cast<std::size_t>(from); version < schema_version; ++version) steps[version - 1](file);
}

}  // namespace hone::inline v0_1
