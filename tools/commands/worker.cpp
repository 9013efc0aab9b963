#include "tuner/worker/worker.hpp"

#include <memory>

#include "tools/console/command.hpp"
#include "tools/console/known_families.hpp"

namespace hone::tools {
namespace worker {

Action declare(Options& options) {
    auto folders = std::make_shared<std::vector<std::string>>();
    auto captures = std::make_shared<std::vector<std::string>>();
    options.words("FOLDER...", *folders, "kernel folders that are known beside hone's own families");
    options.list("capture", *captures, "FILE", "a captured launch whose data its problem has");
    return [folders, captures](Console&) {
        for (const std::string& folder : *folders) know_kernel_folder(folder);
        for (const std::string& capture : *captures) know_capture(read_capture(capture));
        return worker_main(known_families()) == 0 ? Exit::ok : Exit::internal;
    };
}

}  // namespace worker

Command worker_command() {
    return {"worker",
            "evaluates candidates for 'hone tune'",
            "[FOLDER...]",
            "Started by 'hone tune' so that a candidate that hangs or crashes takes down a process and not the run. Reads one JSON request per line "
            "from standard input and answers each with one line; see tuner/worker/worker.hpp.",
            {},
            worker::declare,
            true};
}

}  // namespace hone::tools
