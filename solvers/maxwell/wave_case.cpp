#include "solvers/maxwell/wave_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "foundation/error.hpp"
#include "foundation/text.hpp"
#include "solvers/mesh/boxes.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

Mesh box_of(const WaveCase& of, int cells) {
    const Box box{{cells, cells, cells}};
    return of.mesh.dimension == 3 ? kuhn_box(box) : triangle_box(box);
}

}  // namespace

void expect_groups(const WaveCase& of, const std::string& option) {
    const std::vector<std::string>& groups = of.mesh.materials;
    for (const auto& [name, material] : of.materials)
        if (std::find(groups.begin(), groups.end(), name) == groups.end())
            throw Error(option + " " + name, of.where + " has no such group of elements",
                        did_you_mean(name, groups) + fmt::format("it has {}", fmt::join(groups, ", ")));
}

StageForm fastest_form(Communicator& ranks, const WaveCase& of, const Database& database, const Backend& backend) {
    // What the problems say of a mesh, a single cell says, too.
    Discretisation sample(of.equation, of.order, box_of(of, 1));
    sample.uniform = std::all_of(of.materials.begin(), of.materials.end(), [](const auto& named) { return named.second == Material{}; });
    bool kernels = fastest_form(database, backend, sample, of.precision, of.arithmetic, of.mesh.size()) == StageForm::kernels;
    ranks.broadcast(std::as_writable_bytes(std::span(&kernels, 1)), 0);
    return kernels ? StageForm::kernels : StageForm::fused;
}

double measured_speed(const WaveCase& of, StageForm form, Backend& backend, KernelLibrary& library, int ranks) {
    constexpr int steps = 3, largest_box = 32;
    const int dimension = of.mesh.dimension, simplices = dimension == 3 ? 6 : 2;
    const double share = static_cast<double>(of.mesh.size()) / ranks / simplices;
    const int cells = std::clamp(static_cast<int>(std::pow(share, 1.0 / dimension)), 2, largest_box);
    const Discretisation own(of.equation, of.order, box_of(of, cells));
    WaveSolver solver(backend, library, own, of.precision, form, {}, of.arithmetic);
    solver.set_fields(own.interpolated(cavity(*own.equation), 0));
    solver.set_step(own.stable_step());
    const auto seconds = [&] {
        return backend.seconds({}, [&] {
            for (int i = 0; i < steps; ++i) solver.step();
        });
    };
    return own.size() / std::min({seconds(), seconds(), seconds()});
}

FirstFields first_fields(const std::string& name, const WaveCase& of) {
    const WaveEquation& equation = wave_equation(of.equation);
    if (name == "cavity") return {cavity(equation), true};
    if (name == "cylinder") return {cylinder_mode(equation), true};
    if (name == "pulse") return {pulse(equation, of.mesh), false};
    throw Error("first fields", "there are no \"" + name + "\"", "use cavity, cylinder or pulse");
}

}  // namespace hone::inline v0_1::solvers::maxwell
