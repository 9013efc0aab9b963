#include <memory>
#include <string>
#include <vector>

#include "tools/console/command.hpp"
#include "tuner/worker/rank_team.hpp"

namespace hone::tools {
namespace relay {

Action declare(Options& options) {
    auto words = std::make_shared<std::vector<std::string>>();
    options.words("FOLDER FILE WORKER", *words, "of the ranks' files; the rank's own; the name of its worker's files");
    return [words](Console&) {
        if (words->size() != 3) throw Error("relay", "it is started by 'hone tune' alone", "use 'hone tune'");
        return relay_main((*words)[0], (*words)[1], (*words)[2]) == 0 ? Exit::ok : Exit::internal;
    };
}

}  // namespace relay

Command relay_command() {
    return {"relay",
            "stands for a worker on another rank of 'hone tune'",
            "FOLDER FILE WORKER",
            "Started by 'hone tune' on the first of several ranks; see tuner/worker/rank_team.hpp.",
            {},
            relay::declare,
            true};
}

}  // namespace hone::tools
