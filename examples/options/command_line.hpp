#pragma once

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>

namespace hone::examples {

/// Reads the command line into what `app` was declared with. Result: the code that the program is
/// to end with at once, 0 after --help, 2 for a line that cannot be understood, as `hone` itself
/// does (CLI11 has codes of its own, above 100); what there is to say has been said. Nothing where
/// the program goes on.
///
///     if (const auto code = read_command_line(app, argc, argv)) return *code;
inline std::optional<int> read_command_line(CLI::App& app, int argc, char** argv, std::ostream& out = std::cout, std::ostream& error = std::cerr) {
    try {
        app.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::ParseError& ending) {
        return app.exit(ending, out, error) == 0 ? 0 : 2;
    }
}

}  // namespace hone::examples
