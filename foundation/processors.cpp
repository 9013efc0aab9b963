#include "foundation/processors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <memory>

#include "foundation/cgroup.hpp"
#include "foundation/environment.hpp"
#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int most_processors = 1 << 13;  // as many as Linux can be built for

struct FreeSet {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using ProcessorSet = std::unique_ptr<cpu_set_t, FreeSet>;

constexpr std::size_t set_bytes = CPU_ALLOC_SIZE(most_processors);

ProcessorSet empty_set() {
    ProcessorSet set(CPU_ALLOC(most_processors));
    CPU_ZERO_S(set_bytes, set.get());
    return set;
}

/// Those that the calling thread may use now; none where the system does not say.
std::vector<int> of_this_thread() {
    const ProcessorSet set = empty_set();
    std::vector<int> numbers;
    if (sched_getaffinity(0, set_bytes, set.get()) != 0) return numbers;
    for (int number = 0; number < most_processors; ++number)
        if (CPU_ISSET_S(number, set_bytes, set.get())) numbers.push_back(number);
    return numbers;
}

bool bind_this_thread(const std::vector<int>& numbers) {
    const ProcessorSet set = empty_set();
    for (const int number : numbers) CPU_SET_S(number, set_bytes, set.get());
    return sched_setaffinity(0, set_bytes, set.get()) == 0;
}

const std::vector<int>& at_start() {
    static const std::vector<int> numbers = of_this_thread();
    return numbers;
}

// Before main: no thread was bound by the program itself yet. GCC's OpenMP may have bound this one
// even so, and then it has places.
[[maybe_unused]] const bool read_early = !at_start().empty();

std::vector<int> of_places() {
    std::vector<int> numbers;
    for (int place = 0; place < omp_get_num_places(); ++place) {
        std::vector<int> ids(static_cast<std::size_t>(std::max(0, omp_get_place_num_procs(place))));
        if (!ids.empty()) omp_get_place_proc_ids(place, ids.data());
        numbers.insert(numbers.end(), ids.begin(), ids.end());
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

// clang 14 calls it omp_proc_bind_master, which GCC 16 deprecates.
constexpr auto omp_bind_primary = static_cast<omp_proc_bind_t>(2);

std::string binding_word(omp_proc_bind_t binding) {
    switch (binding) {
        case omp_proc_bind_true:
            return "true";
        case omp_bind_primary:
            return "primary";
        case omp_proc_bind_close:
            return "close";
        case omp_proc_bind_spread:
            return "spread";
        default:
            return "none";
    }
}

ProcessorFacts look() {
    ProcessorFacts facts;
    facts.allowed = of_places();
    if (facts.allowed.empty()) facts.allowed = at_start();
    facts.of_machine = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    facts.quota = cgroup_limits().processors;
    facts.num_threads = environment_variable("OMP_NUM_THREADS");
    if (!environment_variable("OMP_THREAD_LIMIT").empty()) facts.thread_limit = omp_get_thread_limit();
    facts.binding = binding_word(omp_get_proc_bind());
    if (omp_get_num_places() > 0) facts.first_place = omp_get_place_num_procs(0);
    for (const char* name : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_HW_SUBSET"})
        if (const std::string value = environment_variable(name); !value.empty()) facts.placement.push_back(fmt::format("{}={}", name, value));
    return facts;
}

}  // namespace

Processors decide_processors(const ProcessorFacts& facts) {
    Processors found;
    found.numbers = facts.allowed;
    if (found.numbers.empty()) found.numbers.push_back(0);
    const int count = static_cast<int>(found.numbers.size());
    if (count < facts.of_machine) {
        const std::string by = facts.placement.empty() ? "" : fmt::format(" or by {}", fmt::join(facts.placement, ", "));
        found.limits.push_back(fmt::format("bound to processors {} by the launcher{}", processor_list(found.numbers), by));
    }
    found.usable = count;
    // A thread beyond the quota would stop all the others for a part of every period: the quota is
    // rounded down.
    if (facts.quota > 0 && facts.quota < count) {
        found.usable = std::max(1, static_cast<int>(std::floor(facts.quota)));
        found.limits.push_back(fmt::format("cgroup quota {:.4g} processors", facts.quota));
    }
    found.threads = found.usable;
    const auto lower = [&](int threads, const std::string& reason) {
        if (threads < 1 || threads >= found.threads) return;
        found.threads = threads;
        found.limits.push_back(reason);
    };
    int wanted = 0;  // the first of "4" or "4,2"
    std::from_chars(facts.num_threads.data(), facts.num_threads.data() + facts.num_threads.size(), wanted);
    lower(wanted, "OMP_NUM_THREADS=" + facts.num_threads);
    lower(facts.thread_limit, fmt::format("OMP_THREAD_LIMIT={}", facts.thread_limit));
    found.binding = facts.binding;
    if (facts.binding == "primary") lower(facts.first_place, "OMP_PROC_BIND=master: all threads stay on the first one's place");
    return found;
}

const Processors& processors() {
    static const Processors found = decide_processors(look());
    return found;
}

bool waits_asleep() {
    const std::string wish = environment_variable("HONE_WAIT");
    if (wish == "sleep" || wish == "poll") return wish == "sleep";
    if (!wish.empty()) throw Error("HONE_WAIT", "\"" + wish + "\" is not a way to wait", "use sleep or poll");
    for (const char* const started : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"})
        if (const auto processes = environment_number(started)) return *processes > sysconf(_SC_NPROCESSORS_ONLN);
    return false;
}

std::string processor_list(const std::vector<int>& numbers) {
    std::vector<std::string> ranges;
    for (std::size_t first = 0, next = 0; first < numbers.size(); first = next) {
        for (next = first + 1; next < numbers.size() && numbers[next] == numbers[next - 1] + 1;) ++next;
        ranges.push_back(next - first == 1 ? std::to_string(numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[next - 1]));
    }
    return fmt::format("{}", fmt::join(ranges, ","));
}

void take_usable_threads() {
    if (processors().threads != omp_get_max_threads()) omp_set_num_threads(processors().threads);
}

OnProcessors::OnProcessors(const std::vector<int>& numbers) {
    std::vector<int> before = of_this_thread();
    if (before != numbers && bind_this_thread(numbers)) before_ = std::move(before);
}

OnProcessors::~OnProcessors() {
    if (!before_.empty()) bind_this_thread(before_);
}

}  // namespace hone::inline v0_1
