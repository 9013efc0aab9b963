#include "examples/options/on_ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <iostream>
#include <sstream>
#include <vector>

#include "examples/options/command_line.hpp"

namespace hone::examples {
namespace {

// What is measured is kept in --db, which need not be there before.
void make_records(CLI::App& app) {
    const auto given = [&](const char* name) {
        const CLI::Option* const option = app.get_option_no_throw(name);
        return option != nullptr && option->count() > 0;
    };
    if (given("--db") && (given("--tune") || given("--tune-exchange"))) make_folders(app.get_option("--db")->as<std::string>());
}

}  // namespace

int run_on_ranks(const std::string& program, CLI::App& app, int argc, char** argv, const std::string& device,
                 const std::function<int(Communicator&)>& run) {
    return hone::run_ranks(program, [&](Communicator& ranks) {
        const std::vector<std::string> words(argv + 1, argv + argc);
        expect_same_on_all_ranks(ranks, "command line", fmt::format("{}", fmt::join(words, " ")));
        std::ostringstream silent;
        const bool first = ranks.rank() == 0;
        if (const auto code = read_command_line(app, argc, argv, first ? std::cout : silent, first ? std::cerr : silent)) return *code;
        make_records(app);
        const int devices = devices_of_process(device, ranks);
        if (all_reduce(ranks, Reduction::largest, devices) == 1) return run(ranks);
        int code = 0;
        run_threads_of_processes(ranks, devices, [&](Communicator& threads) {
            const int own = run(threads);
            if (threads.rank() == 0) code = own;
        });
        return code;
    });
}

SessionSettings session_settings(const std::filesystem::path& records, const Communicator& ranks) {
    SessionSettings settings{.database = records};
    if (ranks.size() > 1) settings.first_use = FirstUse::predicted;  // measurements side by side disturb each other
    if (ranks.rank() > 0) settings.warn = [](const std::string&) {};
    return settings;
}

double copy_rate(Backend& backend, Communicator& ranks, double run_seconds) {
    constexpr double measuring_seconds = 1;  // of a processor
    const double needed = traits_of(backend.device().fingerprint.target).shares_processors ? measuring_seconds : 0;
    // It also makes them begin together.
    if (all_reduce(ranks, Reduction::largest, run_seconds - needed) < 0) return 0;
    return all_reduce(ranks, Reduction::sum, measure_ceilings(backend).copy_bytes_per_second);
}

std::string beside_copy(double bytes_per_second, double copy) {
    if (copy <= 0) return "";
    return fmt::format(", {:.0f} % of what a copy moves here ({:.1f} GB/s)", 100 * bytes_per_second / copy, copy * 1e-9);
}

}  // namespace hone::examples
