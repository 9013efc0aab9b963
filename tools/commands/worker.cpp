#include "tuner/worker.hpp"

#include "generator/families/built_in_families.hpp"
#include "tools/command.hpp"

namespace hone::tools {
namespace worker {

Action declare(Options&) {
    return [](Console&) { return worker_main(built_in_families()) == 0 ? Exit::ok : Exit::internal; };
}

}  // namespace worker

Command worker_command() {
    return {"worker",
            "evaluates candidates for 'hone tune'",
            "",
            "Started by 'hone tune' so that a candidate that hangs or crashes takes down a process and not the run. Reads one JSON request per line "
            "from standard input and answers each with one line; see tuner/worker.hpp.",
            {},
            worker::declare,
            true};
}

}  // namespace hone::tools
