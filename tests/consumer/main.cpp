// What an application does with an installed hone: name a problem, get a kernel, launch it on its
// own arrays, compare with the plain loops; find what its user and hone have tuned, and tune while
// it runs.
//
//     consumer RECORDS PROGRAM        where the records and the hone command should be found
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <hone/hone.hpp>
#include <string>
#include <vector>

namespace {

bool expect(bool holds, const char* what) {
    std::printf("%s: %s\n", what, holds ? "yes" : "NO");
    return holds;
}

// The records and the command of this hone are found, wherever it is now.
bool finds_the_package(const std::filesystem::path& records, const std::filesystem::path& program) {
    const auto worker = hone::find_worker_command();
    return expect(std::filesystem::equivalent(hone::record_places().back().folder, records), "the records are found") &&
           expect(!hone::known_records(hone::built_in_families()).records().empty(), "they are read") &&
           expect(!worker.empty() && std::filesystem::equivalent(worker.front(), program), "the command is found");
}

// A result in this user's folder, as 'hone tune' writes it.
void keep_result(hone::Session& session, const hone::Problem& problem) {
    hone::Record record;
    record.problem = problem;
    record.config = session.families().of(problem).space(problem, session.device().limits).safe();
    record.device = session.device().fingerprint;
    record.step = {1e-3, 0.9e-3, 1.1e-3, 0.8e-3, 40};
    record.counts = session.families().of(problem).counts(problem);
    record.verification_error = 0;
    record.tolerance = 1;
    record.strategy = "random";
    record.evaluations = 1;
    record.date = "2026-11-21T14:05:00Z";
    record.versions = {"0.1.0", std::string(64, 'a')};
    hone::Database found(session.families());
    found.add(record);
    found.merge_into(hone::own_records());
}

bool computes(hone::Session& session, const hone::Problem& problem) {
    hone::Workload own = session.families().of(problem).workload(problem, 1);
    std::vector<void*> arrays;
    for (auto& array : own.arrays) arrays.push_back(array.data());
    const auto kernel = session.kernel(problem);
    const hone::BoundKernel bound(kernel, arrays);
    bound.launch();
    session.backend().synchronise();
    for (std::size_t i = 0; i < own.arrays.size(); ++i) {
        if (own.expected[i].words() == 0) continue;
        const double difference = hone::largest_difference(own.arrays[i], own.expected[i]);
        std::printf("%s: differs by %g, %g is allowed\n", kernel->source().arrays[i].name.c_str(), difference, own.tolerance);
        if (!(difference <= own.tolerance)) return false;
    }
    return expect(kernel->match().grade == hone::Grade::exact, "the kernel is the one that the user tuned");
}

// Steps until a candidate was tried in a worker, for at most two minutes.
bool tunes_online(hone::Session& session, const hone::Problem& problem) {
    hone::Workload workload = session.families().of(problem).workload(problem, 1);
    std::vector<void*> arrays;
    for (auto& array : workload.arrays) arrays.push_back(array.data());
    hone::OnlineSettings settings;
    settings.rules.bound = 100;  // of a busy machine it asks no patience
    hone::OnlineTuner tuner(session.backend(), session.families(), "", problem, arrays, settings);
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (tuner.report().progress.evaluations == 0 && std::chrono::steady_clock::now() < end) tuner.step();
    std::printf("%s", to_string(tuner.report()).c_str());
    return expect(tuner.report().progress.evaluations > 0, "it tunes while it runs");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 || !finds_the_package(argv[1], argv[2])) return 1;
    const auto problem = hone::built_in_families().parse_problem("gauss_seidel_27 stencil=constant precision=f64 nx=20 ny=9 nz=11");
    {
        hone::Session first("cpu");
        keep_result(first, problem);
    }
    hone::Session session("cpu");
    return computes(session, problem) && tunes_online(session, problem) ? 0 : 1;
}
