#include "solvers/taylor_green/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "generator/families/built_in_families.hpp"
#include "generator/families/staggered_flow/family.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1::solvers {
namespace {

constexpr std::array names{"momentum", "divergence", "projection"};

Problem problem_of(const FlowKernels::Mesh& mesh, const char* kernel, bool of_rank) {
    return built_in_families().parse_problem(fmt::format("staggered_flow kernel={} ends={} precision={} nx={} ny={} nz={} pitch={}", kernel,
                                                         of_rank ? "planes" : "periodic", to_string(mesh.precision), mesh.nx, mesh.ny,
                                                         of_rank ? mesh.nz : std::max(mesh.nz, mesh.all_planes), mesh.pitch));
}

}  // namespace

FlowKernels::FlowKernels(Backend& backend, KernelLibrary& library, const Mesh& mesh, const Fields& fields)
    : backend_(backend), mesh_(mesh), numbers_(backend, std::int64_t{stages} * flow::number_count * bytes_per_word(mesh.precision)) {
    const std::int64_t word = bytes_per_word(mesh.precision);
    // Arrays begin with the neighbour's plane.
    const auto start = [&](void* own) { return static_cast<void*>(static_cast<char*>(own) - mesh.before() * word); };
    for (std::size_t n = 0; n < names.size(); ++n) {
        kernels_.at(n) = library.kernel(problem_of(mesh, names.at(n), false));
        if (mesh.is_cut()) kernels_.at(n) = library.kernel(problem_of(mesh, names.at(n), true), kernels_.at(n)->match().config);
        for (int stage = 0; stage < stages; ++stage) {
            std::vector<void*> arrays;
            for (const auto& components : {fields.velocity, fields.change})
                std::transform(components.begin(), components.end(), std::back_inserter(arrays), start);
            if (n > 0) arrays.push_back(start(n == 1 ? fields.right_hand_side : fields.pressure));
            arrays.push_back(static_cast<char*>(numbers_.data()) + stage * flow::number_count * word);
            of_stages_.at(n).emplace_back(kernels_.at(n), arrays);
        }
    }
}

void FlowKernels::set_numbers(const std::array<Stage, stages>& of_stages, double dt, double viscosity) {
    HostArray words(mesh_.precision, std::int64_t{stages} * flow::number_count);
    std::int64_t at = 0;
    for (const Stage& stage : of_stages)
        for (const double value : {stage.keep, stage.share, dt, viscosity / (mesh_.h * mesh_.h), 1 / (4 * mesh_.h), 1 / mesh_.h})
            words.set_word(at++, value);
    backend_.copy(numbers_.data(), words.data(), words.bytes());
    backend_.synchronise();
}

void FlowKernels::launch(std::size_t kernel, int stage, const CellRange& planes) const {
    of_stages_.at(kernel)[static_cast<std::size_t>(stage)].launch(planes.first, planes.last);
}

std::string FlowKernels::found() const {
    std::string text;
    for (std::size_t n = 0; n < names.size(); ++n) {
        const Match& match = kernels_.at(n)->match();
        text += fmt::format("{}{:<11} {}, {}", n == 0 ? "" : "\n", std::string(names.at(n)) + ":", to_string(match.grade), match.config.key());
    }
    return text;
}

}  // namespace hone::inline v0_1::solvers
