#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tools/console/command.hpp"
#include "tools/console/interrupt.hpp"
#include "tools/console/known_families.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/searches/session_view.hpp"

namespace hone::tools {
namespace watch {

namespace fs = std::filesystem;

constexpr auto redraw = std::chrono::milliseconds(500);

struct Settings {
    std::vector<std::string> words;
    std::string database;
    bool once = false;
    bool json = false;
};

// The latest that still runs, else the latest.
fs::path find_log(const Settings& settings) {
    if (settings.words.size() > 1) throw Error("watch", "several logs are named", "name one, or none for the latest session");
    if (!settings.words.empty()) return settings.words.front();
    std::vector<fs::path> files = session_files(database_folder(settings.database));
    std::erase_if(files, [](const fs::path& file) { return !has_begun(file); });
    const auto running = std::find_if(files.rbegin(), files.rend(), is_alive);
    return running != files.rend() ? *running : files.empty() ? fs::path() : files.back();
}

void follow(const fs::path& log, Console& console) {
    const InterruptGuard guard;
    for (WatchedSession session = watched_session(log, known_families()); session.state == WatchedSession::State::running && !guard.requested();
         session = watched_session(log, known_families())) {
        console.redraw_lines(session_lines(session, console.columns - 1, console.rows - 1));
        std::this_thread::sleep_for(redraw);
    }
    console.redraw_lines({});
}

Exit run_watch(const Settings& settings, Console& console) {
    const fs::path log = find_log(settings);
    if (log.empty()) {
        console.message("hone: no session was run in {}; 'hone tune' runs one\n", database_folder(settings.database).string());
        return Exit::nothing;
    }
    if (console.error_is_terminal && !settings.once && !settings.json) follow(log, console);
    const WatchedSession session = watched_session(log, known_families());
    if (settings.json) {
        Json document = json_of(session);
        document["log"] = log.string();
        print(console, document);
        return Exit::ok;
    }
    constexpr int all_rows = 1 << 20;
    for (const std::string& line : session_lines(session, console.out_width() > 0 ? console.out_width() : 1 << 20, all_rows))
        console.print("{}\n", line);
    if (session.state == WatchedSession::State::killed || session.state == WatchedSession::State::interrupted)
        console.message("hone: the run did not come to its end; the same 'hone tune' with --resume goes on\n");
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("[LOG]", settings->words, "the log of a session (DIR/sessions); default the latest that is running, else the latest");
    declare_own_database(options, settings->database);
    options.flag("once", settings->once, "show the current state and end, even on a terminal");
    options.flag("json", settings->json, "print the current state as one JSON document");
    return [settings](Console& console) { return run_watch(*settings, console); };
}

}  // namespace watch

Command watch_command() {
    return {
        "watch",
        "see where a run of 'hone tune' stands, from another terminal",
        "[LOG] [options]",
        "Shows every problem of a session with its candidates, failures, time left and best so far, and follows the session until it ends. Ctrl-C "
        "ends the watching, not the run. If standard error is no terminal, and with --once, it shows the current state and ends.\n\n"
        "It reads the session's log (DIR/sessions) and the journals of its problems. So it does not slow the run down, and works for killed runs "
        "as well. Exit code 1 if there is no session.",
        {{"watch", "the session that runs"}, {"watch --db DIR --once", "where it stands now"}, {"watch --json", "for a script"}},
        watch::declare};
}

}  // namespace hone::tools
