#include "tuner/worker/rank_team.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <random>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/json.hpp"
#include "foundation/process.hpp"
#include "foundation/processors.hpp"
#include "tuner/worker/child_process.hpp"
#include "tuning_db/record_json.hpp"
#include "tuning_db/record_json_parts.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

constexpr double pulse_seconds = 0.5;
constexpr double glance_seconds = 0.01;  // between two looks at a file that an answer may come in
constexpr std::size_t longest_word = 4096;
constexpr int most_ranks = 1 << 20;

std::string fresh_name() {
    std::random_device random;
    return fmt::format("{:08x}{:08x}", random(), random());
}

std::vector<int> numbers_of(const JsonPlace& place) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < place.elements(); ++i) numbers.push_back(static_cast<int>(place[i].integer(0, most_ranks)));
    return numbers;
}

/// What a rank says of itself.
struct Introduction {
    int rank = 0;
    std::string name;
    std::string host;
    std::string version;
    DeviceFingerprint device;
    int index = 0;
    std::vector<int> processors;
    int compilers = 0;
    std::string mark;  ///< a file that it made in its cache
};

std::string to_json(const Introduction& self) {
    return fmt::format(
        R"({{"rank": {}, "name": {}, "host": {}, "version": {}, "device": {}, "index": {}, "processors": [{}], "compilers": {}, "mark": {}}})",
        self.rank, json_string(self.name), json_string(self.host), json_string(self.version), to_json(self.device), self.index,
        fmt::join(self.processors, ", "), self.compilers, json_string(self.mark));
}

Introduction read_introduction(const std::string& line) {
    const JsonNode node = parse_json(line, "introduction of a rank");
    const JsonPlace place(node, "introduction of a rank");
    return {static_cast<int>(place["rank"].integer(0, most_ranks)),
            place["name"].string(longest_word),
            place["host"].string(longest_word),
            place["version"].string(longest_word),
            read_device(place["device"]),
            static_cast<int>(place["index"].integer(0, most_ranks)),
            numbers_of(place["processors"]),
            static_cast<int>(place["compilers"].integer(0, most_ranks)),
            place["mark"].string(longest_word)};
}

void nap(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// The workers of a rank, and the files by which they are spoken to.
class RankWorkers {
  public:
    RankWorkers(fs::path folder, std::string name, std::vector<std::string> command)
        : folder_(std::move(folder)), name_(std::move(name)), command_(std::move(command)) {}

    void start(int lane, int number) {
        workers_.erase(lane);
        const std::string file = (folder_ / fmt::format("{}-{}", name_, number)).string();
        workers_.emplace(std::piecewise_construct, std::forward_as_tuple(lane), std::forward_as_tuple(file, command_));
    }

    /// Hands lines on, in both directions; waits for an answer a moment.
    void go_on() {
        std::vector<ChildProcess*> children;
        for (auto worker = workers_.begin(); worker != workers_.end();) {
            Worker& it = worker->second;
            for (const std::string& line : it.requests.take()) it.child.send(line);
            while (const auto line = it.child.take_line()) it.answers.append(">" + *line);
            const bool ended = it.child.closed();
            if (ended) it.answers.append("!" + it.child.end());
            if (!ended) children.push_back(&it.child);
            worker = ended ? workers_.erase(worker) : std::next(worker);
        }
        ChildProcess::wait(children, glance_seconds);
    }

  private:
    struct Worker {
        Worker(const std::string& file, const std::vector<std::string>& command) : requests(file + ".in"), answers(file + ".out"), child(command) {}
        LineFileReader requests;
        LineFile answers;
        ChildProcess child;
    };
    fs::path folder_;
    std::string name_;
    std::vector<std::string> command_;
    std::map<int, Worker> workers_;  // by lane
};

}  // namespace

fs::path rank_folder(const fs::path& folder, const RankPlace& place) {
    return folder / "ranks" / place.job;
}

void serve_rank(const fs::path& folder, const RankPlace& place, const Device& device, const fs::path& cache, const std::vector<std::string>& command,
                const std::function<bool()>& stop) {
    make_folders(folder);
    const std::string where = fmt::format("rank {} of {}", place.rank, place.ranks);
    Introduction self{place.rank,           fresh_name(),        host_name(), HONE_VERSION, device.fingerprint, device.index,
                      processors().numbers, processors().usable, {}};
    self.mark = "rank-" + self.name;
    const LineFile mark(cache / self.mark);
    LineFile own(folder / fmt::format("rank-{}", place.rank));
    own.append(to_json(self));
    LineFileReader coordinator(folder / "coordinator");
    RankWorkers workers(folder, self.name, command);
    const auto leave = [&] {
        std::error_code error;
        fs::remove(cache / self.mark, error);
    };
    auto pulse = std::chrono::steady_clock::now();
    // The coordinator lists a space, or makes a reference's data, in a process of its own that has
    // a pulse all the time.
    constexpr double patience_at_first = 120;
    while (!stop()) {
        if (const auto now = std::chrono::steady_clock::now(); now - pulse > std::chrono::duration<double>(pulse_seconds)) {
            pulse = now;
            own.append("");
        }
        for (const std::string& line : coordinator.take()) {
            if (line.empty()) continue;
            const JsonNode node = parse_json(line, "the coordinator");
            const JsonPlace said(node, "the coordinator");
            if (said["rank"].string(longest_word) != self.name) continue;
            if (said.find("end")) return leave();
            try {
                workers.start(static_cast<int>(said["lane"].integer(0, most_ranks)), static_cast<int>(said["start"].integer(0, most_ranks)));
            } catch (const Error&) {
                if (fs::exists(folder)) throw;
                return leave();  // the run ended before this rank came to the line, and its files are gone
            }
        }
        if (coordinator.silent_seconds() > (coordinator.grows() ? rank_patience : patience_at_first)) {
            leave();
            throw Error(where, fmt::format("rank 0 has been silent for {:.0f} s", coordinator.silent_seconds()),
                        fmt::format("look for what ended it; all ranks must see {}", folder.string()));
        }
        workers.go_on();
    }
    leave();
}

int relay_main(const fs::path& folder, const std::string& rank_file, const std::string& worker) {
    live_and_die_as_a_group();
    LineFile requests(folder / (worker + ".in"));
    LineFileReader answers(folder / (worker + ".out"));
    LineFileReader rank(folder / rank_file);
    std::string input;
    while (true) {
        pollfd standard_input{STDIN_FILENO, POLLIN, 0};
        if (poll(&standard_input, 1, static_cast<int>(glance_seconds * 1000)) > 0) {
            std::array<char, 1 << 14> buffer{};
            const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
            if (got == 0) return EXIT_SUCCESS;
            if (got > 0) input.append(buffer.data(), static_cast<std::size_t>(got));
        }
        for (std::size_t end = input.find('\n'); end != std::string::npos; end = input.find('\n')) {
            requests.append(input.substr(0, end));
            input.erase(0, end + 1);
        }
        for (const std::string& line : answers.take()) {
            if (line.starts_with('!')) {
                fmt::print(stderr, "{}\n", line.substr(1));
                return EXIT_FAILURE;
            }
            fmt::print("{}\n", line.substr(std::min<std::size_t>(1, line.size())));
            std::fflush(stdout);
        }
        rank.take();
        if (rank.silent_seconds() > rank_patience) {
            fmt::print(stderr, "{} has been silent for {:.0f} s\n", rank_file, rank.silent_seconds());
            return EXIT_FAILURE;
        }
    }
}

RankTeam::RankTeam(const fs::path& folder, const RankPlace& place, const Device& device, const fs::path& cache, const std::string& program,
                   double patience, const std::function<void(const std::string&)>& complain)
    : folder_((make_folders(folder), folder)),
      cache_(cache),
      program_(program),
      log_(folder / "coordinator"),
      pulse_([this](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock(mutex);
          while (!wake.wait_for(lock, stop, std::chrono::duration<double>(pulse_seconds), [] { return false; }) && !stop.stop_requested()) {
              try {
                  log_.append("");
              } catch (const std::exception&) {  // whoever needs the file next is told
              }
          }
      }) {
    look_for_members(device, place.ranks, patience, complain);
}

void RankTeam::look_for_members(const Device& device, int ranks, double patience, const std::function<void(const std::string&)>& complain) {
    struct Expected {
        LineFileReader reader;
        std::optional<Introduction> said;
        bool here = false;
    };
    std::vector<Expected> expected;
    for (int rank = 1; rank < ranks; ++rank) expected.push_back({LineFileReader(folder_ / fmt::format("rank-{}", rank)), {}, false});
    const auto begin = std::chrono::steady_clock::now();
    const auto all_here = [&] { return std::all_of(expected.begin(), expected.end(), [](const Expected& e) { return e.here; }); };
    while (!all_here() && std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(patience)) {
        for (Expected& one : expected) {
            for (const std::string& line : one.reader.take())
                if (!line.empty()) one.said = read_introduction(line);
            one.here = one.said && one.reader.grows();
        }
        nap(glance_seconds);
    }
    for (int rank = 1; rank < ranks; ++rank) {
        const Expected& one = expected[static_cast<std::size_t>(rank - 1)];
        if (!one.here) {
            complain(fmt::format("rank {} takes no part: nothing is heard of it", rank));
            continue;
        }
        const Introduction& said = *one.said;
        const std::string name = fmt::format("rank {} on {}", rank, said.host);
        std::string why;
        if (said.version != HONE_VERSION) why = fmt::format("its hone is version {}, this one is {}", said.version, HONE_VERSION);
        if (said.device != device.fingerprint)
            why = fmt::format("its device is {} with {} units, this run's is {} with {}", said.device.name, said.device.units,
                              device.fingerprint.name, device.fingerprint.units);
        if (why.empty()) why = shared_with_others(device, said.host, said.index, said.processors);
        if (!why.empty()) {
            complain(fmt::format("{} takes no part: {}", name, why));
            log_.append(fmt::format(R"({{"rank": {}, "end": 1}})", json_string(said.name)));
            continue;
        }
        Member member{fmt::format("rank-{}", rank), said.name, said.host, {}, fs::exists(cache_ / said.mark) ? said.compilers : 0};
        const bool gpu = traits_of(device.limits.target).is_numbered;
        member.place = {
            .name = gpu ? fmt::format("{}, cuda:{}", name, said.index) : fmt::format("{}, processors {}", name, processor_list(said.processors)),
            .index = said.index,
            .processors = said.processors,
            .command = {}};
        members_.push_back(std::move(member));
    }
}

std::string RankTeam::shared_with_others(const Device& device, const std::string& host, int index, const std::vector<int>& numbers) const {
    const auto meets = [&](const std::string& where, int other_index, const std::vector<int>& others) {
        if (where != host) return false;
        if (traits_of(device.limits.target).is_numbered) return other_index == index;
        return std::any_of(numbers.begin(), numbers.end(), [&](int n) { return std::find(others.begin(), others.end(), n) != others.end(); });
    };
    bool shared = meets(host_name(), device.index, processors().numbers);
    for (const Member& member : members_) shared = shared || meets(member.host, member.place.index, member.place.processors);
    if (!shared) return "";
    return traits_of(device.limits.target).is_numbered
               ? fmt::format("another rank has cuda:{} of that host; start one rank for each GPU", index)
               : fmt::format(
                     "another rank uses processors {} of that host, too; have the launcher bind ranks (mpirun --bind-to core, srun --cpu-bind=cores)",
                     processor_list(numbers));
}

RankTeam::~RankTeam() {
    pulse_.request_stop();
    pulse_.join();
    try {
        for (const Member& member : members_) log_.append(fmt::format(R"({{"rank": {}, "end": 1}})", json_string(member.name)));
        // They remove their marks last; what they still read must not go before.
        constexpr double patience = 2;
        const auto begin = std::chrono::steady_clock::now();
        const auto gone = [this](const Member& member) { return !fs::exists(cache_ / ("rank-" + member.name)); };
        while (!std::all_of(members_.begin(), members_.end(), gone) &&
               std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(patience))
            nap(glance_seconds);
        for (const Member& member : members_) fs::remove(cache_ / ("rank-" + member.name));  // of those that died
        fs::remove_all(folder_);
        fs::remove(folder_.parent_path());  // if it was the last
    } catch (const std::exception&) {       // they end by themselves when they hear nothing more
    }
}

WorkerCommand RankTeam::command(const Member& member, int lane) {
    return [this, file = member.file, name = member.name, lane] {
        const int number = ++workers_[name];
        log_.append(fmt::format(R"({{"rank": {}, "start": {}, "lane": {}}})", json_string(name), number, lane));
        return std::vector<std::string>{program_, "relay", folder_.string(), file, fmt::format("{}-{}", name, number)};
    };
}

std::vector<WorkerPlace> RankTeam::places() {
    std::vector<WorkerPlace> places;
    for (const Member& member : members_) {
        places.push_back(member.place);
        places.back().command = command(member, 0);
    }
    return places;
}

std::vector<WorkerCommand> RankTeam::compilers() {
    std::vector<WorkerCommand> commands;
    for (const Member& member : members_)
        for (int number = 1; number <= member.compilers; ++number) commands.push_back(command(member, number));
    return commands;
}

}  // namespace hone::inline v0_1
