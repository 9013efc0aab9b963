#include "examples/options/on_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "runtime/ranks/run_ranks.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::examples {
int run_on_ranks(const std::string& program, CLI::App& app, int argc, char** argv, const std::string& device,
                 const std::function<int(Communicator&)>& run) {
    return hone::run_ranks(program, [&](Communicator& ranks) {
        const std::vector<std::string> words(argv + 1, argv + argc);
        expect_same_on_all_ranks(ranks, "command line", fmt::format("{}", fmt::join(words, " ")));
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            std::ostringstream silent;
            return ranks.rank() == 0 ? app.exit(error) : app.exit(error, silent, silent);
        }
        const auto devices = static_cast<int>(1 + std::count(device.begin(), device.end(), ','));
        if (ranks.size() > 1 || devices == 1) return run(ranks);
        int code = 0;
        run_thread_ranks(devices, [&](Communicator& threads) {
            const int own = run(threads);
            if (threads.rank() == 0) code = own;
        });
        return code;
    });
}

}  // namespace hone::examples
