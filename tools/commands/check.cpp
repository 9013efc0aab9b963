#include <algorithm>
#include <memory>
#include <utility>

#include "generator/families.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/json.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/kernels/idle_tunables.hpp"
#include "tools/kernels/kernel_check.hpp"
#include "tuner/vetting_problem.hpp"

namespace hone::tools {
namespace check {

struct Settings {
    std::vector<std::string> words;
    bool json = false;
};

// What was looked at, and what was found.
struct Report {
    std::vector<KernelFinding> findings;
    std::vector<std::string> done;  // in words, in order
    int configurations = 0;

    // Whether there was nothing new to tell.
    bool add(std::vector<KernelFinding> found) {
        bool fine = true;
        for (KernelFinding& finding : found) {
            fine = fine && finding.kind != KernelFinding::Kind::mistake;
            findings.push_back(std::move(finding));
        }
        return fine;
    }
    bool sound() const {
        return std::none_of(findings.begin(), findings.end(),
                            [](const KernelFinding& finding) { return finding.kind == KernelFinding::Kind::mistake; });
    }
};

// The problem and those near to it of which data can be made: answers in files are of one size.
std::vector<Problem> problems_of(const Families& families, const Problem& problem) {
    std::vector<Problem> problems{problem};
    for (Problem& near : nearby_problems(families, problem, nearby_words)) {
        try {
            families.of(near).workload(near, 1);
            problems.push_back(std::move(near));
        } catch (const Error&) {  // said of the problem itself, if it has it, too
        }
    }
    return problems;
}

void check_device(const KernelFolder& kernel, const std::vector<Problem>& problems, Backend& backend, bool reference, Report& report) {
    const Limits& limits = backend.device().limits;
    for (const Problem& problem : problems) {
        if (problem != problems.front() && some_members(kernel.family(), problem, limits).empty()) continue;  // constraints rule the size out
        if (!report.add(space_findings(kernel, problem, limits))) return;
        const std::vector<Config> configs = some_members(kernel.family(), problem, limits);
        if (!report.add(compiler_findings(kernel, problem, configs, backend.compiler(), limits))) return;
        if (problem == problems.front()) report.add(idle_tunable_findings(kernel, problem, backend.compiler(), limits));
        if (!reference) return;
        if (!report.add(run_findings(kernel, problem, configs, backend))) return;
        report.configurations += static_cast<int>(configs.size());
        report.done.push_back(fmt::format("{} configurations run on {}: {}", configs.size(), backend.device().fingerprint.name, problem.key()));
    }
}

// On the GPU that is here, else as far as a compiler tells.
void check_cuda(const KernelFolder& kernel, const std::vector<Problem>& problems, bool reference, DiskCache& cache, Report& report) {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<Compiler> compiler;
    const Limits limits = cuda_limits(90);
    try {
        backend = make_backend("cuda", cache);
    } catch (const Error&) {
        try {
            compiler = make_nvrtc_compiler("sm_90", cache);
        } catch (const Error& error) {
            report.findings.push_back({KernelFinding::Kind::remark, fmt::format("cuda: not compiled: {}", error.what())});
        }
    }
    if (backend) return check_device(kernel, problems, *backend, reference, report);
    if (!report.add(space_findings(kernel, problems.front(), limits)) || !compiler) return;
    const std::vector<Config> configs = some_members(kernel.family(), problems.front(), limits);
    if (!report.add(compiler_findings(kernel, problems.front(), configs, *compiler, limits))) return;
    if (report.add(idle_tunable_findings(kernel, problems.front(), *compiler, limits)))
        report.done.push_back(fmt::format("{} configurations compiled for sm_90, and not run: there is no GPU here", configs.size()));
}

void print_report(const Report& report, const KernelFolder& kernel, Console& console) {
    for (const KernelFinding& finding : report.findings)
        console.print("{}: {}\n", finding.kind == KernelFinding::Kind::mistake ? "mistake" : "remark", finding.text);
    for (const std::string& done : report.done) console.print("{}\n", done);
    if (report.sound()) console.print("{}: no mistake found\n", kernel.family().name);
}

Exit run(const Settings& settings, Console& console) {
    if (settings.words.empty()) throw Error("check", "no folder is given", "name a kernel folder: hone check ./my_kernel");
    const KernelFolder kernel(settings.words.front());
    const Families families({kernel.family()});
    std::vector<std::string> words(settings.words.begin(), settings.words.end());
    words.front() = kernel.family().name;
    const Problem problem = words.size() == 1 ? families.parse_problem(kernel.family().example) : problem_of(words, families);
    const std::vector<Problem> problems = problems_of(families, problem);
    DiskCache cache(DiskCache::default_folder());
    Report report;
    report.add(source_findings(kernel));
    bool reference = true;
    for (const Problem& one : problems) reference = reference && report.add(reference_findings(kernel, one));
    if (kernel.description().cpu) check_device(kernel, problems, *make_cpu_backend(0, cache), reference, report);
    if (kernel.description().cuda) check_cuda(kernel, problems, reference, cache, report);
    if (settings.json) {
        Json mistakes = Json::array();
        Json remarks = Json::array();
        for (const KernelFinding& finding : report.findings)
            (finding.kind == KernelFinding::Kind::mistake ? mistakes : remarks).push_back(finding.text);
        print(console, {{"kernel", kernel.family().name},
                        {"folder", kernel.path().string()},
                        {"sound", report.sound()},
                        {"configurations_verified", report.configurations},
                        {"mistakes", std::move(mistakes)},
                        {"remarks", std::move(remarks)}});
    } else {
        print_report(report, kernel, console);
    }
    return report.sound() ? Exit::ok : Exit::nothing;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("FOLDER [key=value...]", settings->words, "a kernel folder, and a problem to check it with; default its example");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return run(*settings, console); };
}

}  // namespace check

Command check_command() {
    return {
        "check",
        "find the mistakes of a kernel folder before it is tuned",
        "FOLDER [key=value...] [options]",
        "Reads the folder's family.json strictly, and reports errors with file, line and column. It looks for tunables and parameters that nothing "
        "uses, constraints that leave nothing, and a reference that writes no output. Then it compiles the safe configuration and some others, and "
        "finds tunables whose values all give the same code.\n\n"
        "It runs the kernels at the problem's size and at up to two sizes with few divisors, one even and one odd, and verifies each like a winner "
        "of 'hone tune': in many steps, with two sets of data, with outputs poisoned in two ways. So it finds values that are not written, written "
        "in the wrong place, wrong, or wrong in later steps or occasionally, values that depend on earlier contents of memory, and writes past an "
        "array's end.\n\n"
        "CUDA kernels run if there is a GPU. If there is only NVRTC, they are compiled for sm_90. Exit code 1 if there is a mistake.",
        {{"check ./my_kernel", "with the problem that its family.json gives as example"}},
        check::declare};
}

}  // namespace hone::tools
