#include <atomic>

#include "foundation/file_store.hpp"
#include "foundation/processors.hpp"
#include "foundation/threads.hpp"
#include "generator/families.hpp"
#include "tools/console/command.hpp"
#include "tools/console/configuration.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/kernels/compile_ahead.hpp"
#include "tools/kernels/compile_report.hpp"

namespace hone::tools {
namespace compile {

struct Settings {
    std::vector<std::string> problem;
    TargetOptions target;
    std::vector<std::string> configs;
    std::string output;
    std::int64_t among = 0;
    std::int64_t seed = 1;
    std::string only;
    bool report = false;
    bool json = false;
};

// One kernel to compile, and what became of it.
struct Job {
    Problem problem;
    Config config;
    KernelSource source;
    CompileOutcome outcome;
};

std::vector<Job> jobs_of(const Settings& settings, const Limits& limits) {
    const Families& families = known_families();
    const std::vector<std::string> configs = settings.configs.empty() ? std::vector<std::string>{""} : settings.configs;
    std::vector<Job> jobs;
    for (const auto& problem : problems_of(settings.problem, families)) {
        const Family& family = families.of(problem);
        const SearchSpace space = family.space(problem, limits);
        for (const auto& text : configs) {
            Config config = member(space, text, problem);
            KernelSource source = family.kernel(problem, config, limits);
            jobs.push_back({problem, std::move(config), std::move(source), {}});
        }
    }
    return jobs;
}

// On all cores: compilers are thread-safe and take most of the time.
void compile_all(std::vector<Job>& jobs, const Compiler& compiler) {
    std::atomic<std::size_t> next = 0;
    Threads threads;
    const auto work = [&] {
        for (std::size_t i = next++; i < jobs.size() && !threads.any_failed(); i = next++) jobs[i].outcome = compiler.compile(jobs[i].source);
    };
    const std::size_t usable = static_cast<std::size_t>(processors().usable);
    const OnProcessors inherited;
    for (std::size_t i = 0; i < std::min(usable, jobs.size()); ++i) threads.start(work);
    threads.join();
}

Json document_of(const Job& job) {
    const auto& [ok, code, failure] = job.outcome;
    Json document{{"problem", json_of(job.problem)}, {"config", json_of(job.config)}, {"ok", ok}};
    if (!ok) {
        document["failure"] = failure;
        document["log"] = code.log;
        return document;
    }
    document["code_bytes"] = code.binary.size();
    document["seconds"] = code.seconds;
    document["from_cache"] = code.from_cache;
    document["entries"] = tools::json_of(code.resources);
    return document;
}

void print_report(const Job& job, Console& console) {
    const auto& code = job.outcome.code;
    console.print("{}\n  {}\n", job.problem.key(), job.config.key());
    console.print("  {} of code, compiled in {}{}\n", bytes(static_cast<double>(code.binary.size())), duration(code.seconds),
                  code.from_cache ? " (now from the cache)" : "");
    if (code.resources.empty()) return;
    console.print("{}", resources_table(code.resources));
}

void print_text(const Job& job, const Settings& settings, Console& console) {
    const auto& [ok, code, failure] = job.outcome;
    if (!ok) {
        console.message("hone: {} with {} does not compile: {}\n", job.problem.key(), job.config.key(), failure);
        if (settings.report && !code.log.empty()) console.message("{}\n", code.log);
    } else if (settings.report) {
        print_report(job, console);
    } else {
        console.print("{} {}: {} of code in {}{}\n", job.problem.key(), job.config.key(), bytes(static_cast<double>(code.binary.size())),
                      duration(code.seconds), code.from_cache ? ", from the cache" : "");
    }
}

Json document_of(const CompiledAhead& batch) {
    return {{"problem", batch.problem}, {"members", batch.members}, {"compiled", batch.compiled},
            {"cached", batch.cached},   {"refused", batch.refused}, {"compile_seconds", batch.compile_seconds}};
}

Exit compile_for_tuning(const Settings& settings, const TargetChoice& choice, Console& console) {
    if (!settings.configs.empty() || !settings.output.empty() || settings.report)
        throw Error("--among", "it draws configurations, so --config, --output and --report have no meaning beside it", "leave them out");
    DiskCache cache(DiskCache::default_folder());
    const std::string version = open_compiler(choice, cache)->version();
    const std::vector<Problem> problems = problems_of(settings.problem, known_families());
    const std::vector<CompiledAhead> batches =
        compile_ahead({problems, choice, settings.among, static_cast<std::uint64_t>(settings.seed), settings.only}, console);
    Json documents = Json::array();
    if (!settings.json) console.print("{} for {}, into {}\n", version, choice.name, cache.folder().string());
    bool all = true;
    bool some = true;
    for (const auto& batch : batches) {
        all = all && batch.done() == batch.members;
        some = some && batch.compiled + batch.cached > 0;
        documents.push_back(document_of(batch));
        if (settings.json) continue;
        console.print("{}\n  {} configurations: {} compiled now, {} in the cache before, {} refused by the compiler; {} of compiling\n",
                      batch.problem, batch.members, batch.compiled, batch.cached, batch.refused.size(), duration(batch.compile_seconds));
    }
    if (settings.json)
        print(console,
              Json{{"device", json_of(choice)}, {"compiler", version}, {"cache", cache.folder().string()}, {"problems", std::move(documents)}});
    if (!all || batches.size() < problems.size()) {
        console.message("hone: interrupted; the same command goes on from here\n");
        return Exit::interrupted;
    }
    return some ? Exit::ok : Exit::nothing;
}

Exit compile(const Settings& settings, Console& console) {
    const TargetChoice choice = choose_target(settings.target);
    if (settings.among > 0) return compile_for_tuning(settings, choice, console);
    if (!settings.only.empty()) throw Error("--only", "it restricts what --among draws", "add --among N, or name configurations with --config");
    std::vector<Job> jobs = jobs_of(settings, choice.limits);
    if (!settings.output.empty() && jobs.size() != 1)
        throw Error("--output", fmt::format("there are {} kernels", jobs.size()), "name one problem and one configuration");
    DiskCache cache(DiskCache::default_folder());
    const auto compiler = open_compiler(choice, cache);
    compile_all(jobs, *compiler);

    const bool all = std::all_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.outcome.ok; });
    if (all && !settings.output.empty()) replace_file(settings.output, jobs.front().outcome.code.binary);
    Json kernels = Json::array();
    if (!settings.json) console.print("{} for {}{}\n", compiler->version(), choice.name, settings.report ? "\n" : "");
    for (const auto& job : jobs) {
        if (settings.json)
            kernels.push_back(document_of(job));
        else
            print_text(job, settings, console);
    }
    if (settings.json) print(console, Json{{"device", json_of(choice)}, {"compiler", compiler->version()}, {"kernels", std::move(kernels)}});
    return all ? Exit::ok : Exit::nothing;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FAMILY key=value...", settings->problem, "one or several problems; see 'hone families'");
    settings->target.declare(options);
    options.list("config", settings->configs, "NAME=VALUE,...", "the configuration; what is left out is taken from the safe one; see 'hone space'");
    options.flag("report", settings->report, "registers, shared and local memory, spills of every entry point; compiler logs of failures");
    options.text("output", settings->output, "FILE", "write the compiled code (a cubin or a shared object) there");
    options.number("among", settings->among, "N",
                   "compile the candidates of 'hone tune' with the same problems, --among, --seed and --only: the safe configuration and N others",
                   1);
    options.number("seed", settings->seed, "N", "seed of --among; default 1, as in 'hone tune'");
    options.text("only", settings->only, "key=value,...", "with --among: only configurations with these values (a key given twice: with either)");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return compile(*settings, console); };
}

}  // namespace compile

Command compile_command() {
    return {
        "compile",
        "compile kernels and report what the compiler made of them",
        "FAMILY key=value... [options]",
        "Generates kernels and compiles them with NVRTC or the host's C++ compiler, on all cores, through the disk cache. CUDA kernels also "
        "compile on machines without a GPU, for any architecture that the installed NVRTC knows.\n\n"
        "--report prints registers per thread, shared and local memory and spills of every entry point (CUDA), code size, and compile time. Exit "
        "code 1 if a kernel does not compile.\n\n"
        "--among compiles ahead of a tuning run, so that the machine with the GPU does not wait for compilers. The kernels are in the cache "
        "(HONE_CACHE, which both machines share, or which you copy). 'hone tune --among' with the same numbers then spends its time on measuring. "
        "Both machines need the same version of NVRTC. After Ctrl-C, the same command continues.",
        {{"compile dg_volume equation=maxwell_3d order=3 precision=f64 elements=100000 --target cuda --arch sm_90 --report --json",
          "for a GPU that need not be here, for a script"},
         {"compile gauss_seidel_27 stencil=constant,variable precision=f32,f64 nx=96 ny=96 nz=96 --target cuda --arch sm_80 --report",
          "four problems at once"},
         {"compile dg_volume equation=maxwell_3d order=3 precision=f64 elements=100000 --target cuda --arch sm_90 --among 200 --seed 7",
          "ahead of 'hone tune' with the same problem, --among 200 and --seed 7 on the machine with the GPU"},
         {"compile dg_volume equation=maxwell_3d order=3 precision=f64 elements=100000 --device cpu --output kernel.so",
          "keep the code, to look into it with objdump"}},
        compile::declare};
}

}  // namespace hone::tools
