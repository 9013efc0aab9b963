#pragma once

#include <clocale>
#include <fstream>
#include <locale>
#include <string>

#include "foundation/process.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::test {

/// While one lives, the application has set a locale whose decimal point is a comma, in C and in
/// C++. German is seldom installed, so it is made here.
class CommaLocale {
  public:
    CommaLocale() {
        std::ofstream(folder_.path() / "source") << "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \"<U002C>\"\n"
                                                    "thousands_sep \"<U002E>\"\ngrouping 3;3\nEND LC_NUMERIC\n";
        // It warns of what else a locale has, and ends with 1.
        run_process({find_program("localedef"), "-c", "--no-archive", "-i", (folder_.path() / "source").string(), "-f", "ANSI_X3.4-1968",
                     (folder_.path() / "xx_XX").string()},
                    60);
        const EnvironmentVariable place("LOCPATH", folder_.path().string());
        set_ = std::setlocale(LC_NUMERIC, "xx_XX") != nullptr;
        former_ = std::locale::global(std::locale(std::locale::classic(), new Comma));
    }
    ~CommaLocale() {
        std::locale::global(former_);
        std::setlocale(LC_NUMERIC, "C");
    }
    CommaLocale(const CommaLocale&) = delete;
    CommaLocale& operator=(const CommaLocale&) = delete;

    /// Whether the C library took it, too; else there is no localedef.
    bool set() const { return set_; }

  private:
    struct Comma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    TemporaryFolder folder_;
    bool set_ = false;
    std::locale former_;
};

}  // namespace hone::test
