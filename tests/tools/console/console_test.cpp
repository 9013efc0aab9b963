#include "tools/console/console.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace hone::tools::console_test {
namespace {

TEST(Console, EveryWayOutEscapes) {
    std::ostringstream out;
    std::ostringstream error;
    Console console{out, error};
    console.print("{}\n", "\x1b]0;title");
    console.message("{}\n", "\x1b[2J");
    console.redraw("\x1b[H");
    console.print("{}\n", "x\u202eevil");
    EXPECT_EQ(out.str(), "\\u001b]0;title\nx\\u202eevil\n");
    EXPECT_EQ(error.str(), "\\u001b[2J\n\r\\u001b[H\x1b[K");
}

TEST(Console, StylesAreForTerminalsThatWantThem) {
    std::ostringstream out;
    std::ostringstream error;
    Console plain{out, error};
    plain.styled(Style::good, "ok");
    Console coloured{out, error, false, 80, true, true};
    coloured.styled(Style::poor, "a\x1b[2J");
    coloured.styled(Style::plain, "b");
    EXPECT_EQ(out.str(), "ok\x1b[31ma\\u001b[2J\x1b[0mb");
}

TEST(Console, NoColorAndDumbTerminalsAreObeyed) {
    EXPECT_TRUE(wants_colour(true, nullptr, "xterm"));
    EXPECT_TRUE(wants_colour(true, "", "xterm")) << "an empty NO_COLOR counts as none";
    EXPECT_FALSE(wants_colour(true, "0", "xterm"));
    EXPECT_FALSE(wants_colour(true, nullptr, "dumb"));
    EXPECT_FALSE(wants_colour(true, nullptr, nullptr));
    EXPECT_FALSE(wants_colour(false, nullptr, "xterm"));
}

}  // namespace
}  // namespace hone::tools::console_test
