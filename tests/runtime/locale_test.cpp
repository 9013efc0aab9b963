// Applications set locales; no text of hone's depends on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "foundation/json.hpp"
#include "foundation/python_expression.hpp"
#include "foundation/text.hpp"
#include "generator/families/built_in_families.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "tests/support/comma_locale.hpp"
#include "tests/support/places.hpp"

namespace hone::locale_test {
namespace {

// Texts with numbers, made anew at each call.
std::vector<std::string> texts() {
    std::vector<std::string> made;
    for (const double number : {0.001234, 1.5, 123.456, 9.996, 1234567.8}) {
        made.push_back(text::significant(number));
        made.push_back(text::duration(number));
        made.push_back(json_number(number));
        made.push_back(write_json(parse_json(json_number(number), "a number")));
        made.push_back(json_number(JsonPlace(parse_json("[" + json_number(number) + "]", "a number"), "a number")[0].number(0, 1e9)));
    }
    const std::string example = test::source_path("examples/kernels/jacobi");
    const KernelFolder folder(example);
    std::vector<Family> families(built_in_families().begin(), built_in_families().end());
    families.push_back(folder.family());
    const Families all(std::move(families));
    for (const Family& family : all) {
        const Problem problem = all.parse_problem(family.example);
        for (const Limits& limits : {cuda_limits(90), cpu_limits()})
            made.push_back(family.kernel(problem, family.space(problem, limits).safe(), limits).text);
        made.push_back(json_number(family.counts(problem).operations));
    }
    return made;
}

TEST(Locale, WithACommaChangesNoText) {
    const std::vector<std::string> expected = texts();
    const test::CommaLocale locale;
    char* end = nullptr;
    if (locale.set()) {
        EXPECT_EQ(std::strtod("1.5", &end), 1) << "the locale has no comma, and this tests nothing";
    }
    const std::vector<std::string> found = texts();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]) << i;
    if (!locale.set()) GTEST_SKIP() << "there is no localedef: C++ alone had the comma";
}

}  // namespace
}  // namespace hone::locale_test
