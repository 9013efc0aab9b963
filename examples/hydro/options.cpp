#include "examples/hydro/options.hpp"

#include <fmt/format.h>

#include "examples/options/checks.hpp"

namespace hone::examples {

using namespace solvers;
using namespace solvers::hydro;

namespace {

void declare_problem(CLI::App& app, HydroOptions& o) {
    app.add_option("--problem", o.problem,
                   "sedov: a blast wave from a corner; triple-point: three gases, a shock and a vortex; taylor-green: a steady vortex; sod: a shock "
                   "tube; noh: gas that implodes on the origin")
        ->capture_default_str()
        ->check(CLI::IsMember(hydro_problem_names()));
    app.add_option("--dimension", o.dimension, "space dimension")->capture_default_str()->check(CLI::Range(2, 3));
    app.add_option("--order", o.order, "order k: positions and velocities in Qk, energies in Qk-1")->capture_default_str()->check(CLI::Range(1, 8));
    app.add_option("--zones", o.zones, "zones of the problem's box along x, y and z; default: depends on the problem")
        ->delimiter(',')
        ->expected(1, 3);
    app.add_option(
        "--mesh", o.mesh,
        "MFEM mesh (quadrilaterals or hexahedra with straight edges) instead of the box; boundary attributes 1, 2, 3 are walls across x, y, z");
    app.add_option("--refine", o.refine, "number of uniform refinements of the mesh")->capture_default_str()->check(CLI::Range(0, 8));
    app.add_option("--time", o.time, "end time; 0: depends on the problem")->capture_default_str()->check(not_negative());
    app.add_option("--blast", o.blast, "energy of the sedov blast, summed over all corners that meet at the origin; 0: 1 in 2D, 2 in 3D")
        ->capture_default_str()
        ->check(not_negative());
    app.add_option("--scheme", o.scheme, "time integrator: rk2-average conserves the total energy to rounding; rk4 reproduces the published norms")
        ->capture_default_str()
        ->check(CLI::IsMember({"rk2-average", "rk4"}));
    app.add_option("--cfl", o.run.cfl, "time step as a fraction of the stability limit")->capture_default_str()->check(between(1e-6, 1.0));
    app.add_option("--tolerance", o.run.tolerance, "relative tolerance of conjugate gradients for the accelerations")
        ->capture_default_str()
        ->check(between(1e-15, 1e-2));
}

void declare_results(CLI::App& app, HydroOptions& o) {
    add_run_files(app, o.run, o.energy, "zone", "gas.pvd");
    app.add_option("--energy-every", o.run.energy_every, "time steps between energy samples")->capture_default_str()->check(positive());
}

void declare_kernels(CLI::App& app, HydroOptions& o) {
    add_device(app, o.device, o.records,
               "; a list, separated by commas, for the ranks of a host; two devices of one rank, such as cuda:0,cpu, share the corner forces; the "
               "first does everything else; the ratio is looked up in --db, adapted during the run so that both finish at the same time, and kept "
               "with the results of --tune");
    app.add_option(
           "--split", o.split,
           "what several devices of one process share: the corner forces, or the mesh, of which each device gets a part, as ranks of mpirun do")
        ->capture_default_str()
        ->check(CLI::IsMember({"forces", "mesh"}));
    add_sharing(app, o.sharing);
    add_exchange(app, o.exchange);
    add_balancing(app, o.balancing.every, "the time that the work of their parts takes");
    app.add_option("--share", o.share, "fraction of the zones on the first of two devices, 0 to 1; default: balance automatically")
        ->check(between(0.0, 1.0));
    add_tune(app, o.tune);
    app.add_option("--corner-force", o.corner_force, "kernels, or reference: plain loops on the processor for the whole step")
        ->capture_default_str()
        ->check(CLI::IsMember({"kernels", "reference"}));
    app.add_option("--assembly", o.assembly,
                   "partial: compute forces and work axis by axis from the stress at quadrature points; full: store each zone's corner-force matrix "
                   "and multiply with it")
        ->capture_default_str()
        ->check(CLI::IsMember({"partial", "full"}));
    app.add_option(
           "--mass", o.mass,
           "how conjugate gradients multiply with the mass matrix: elements (axis by axis, without a matrix), rows (assembled matrix), best (rows at "
           "order 1 and on small 2D meshes of order 2, otherwise elements), or tuned (the faster one according to this device's tuned results)")
        ->capture_default_str()
        ->check(CLI::IsMember({"best", "tuned", "elements", "rows"}));
    app.add_option("--vector-updates", o.vector_updates,
                   "vector updates of conjugate gradients on a GPU: fused (residual and direction in one launch), cooperative (the same as a "
                   "cooperative launch), or separate (two launches); all give the same digits")
        ->capture_default_str()
        ->check(CLI::IsMember({"fused", "cooperative", "separate"}));
    app.add_option("--graph-iterations", o.recorded,
                   "iterations of conjugate gradients that a GPU runs as one CUDA graph; 0: launch by launch; the digits are the same")
        ->capture_default_str()
        ->check(CLI::Range(0, 1000));
}

}  // namespace

void declare(CLI::App& app, HydroOptions& options) {
    declare_problem(app, options);
    declare_results(app, options);
    declare_kernels(app, options);
}

HydroCase make_case(const HydroOptions& options) {
    HydroProblem problem = hydro_problem(options.problem, options.dimension);
    if (options.blast > 0) problem.blast = options.blast;
    if (std::ssize(options.zones) > problem.dimension)
        throw Error("--zones", fmt::format("{} numbers in {} dimensions", options.zones.size(), problem.dimension),
                    "give one for each axis at most, or --dimension 3");
    for (std::size_t axis = 0; axis < options.zones.size(); ++axis) problem.box.zones[axis] = options.zones[axis];
    for (const int zones : problem.box.zones)
        if (zones < 1 || zones > 4096) throw Error("--zones", fmt::format("{} along an axis", zones), "use 1 to 4096");
    QuadMesh mesh = options.mesh.empty() ? quad_box(problem.box) : read_mfem(options.mesh);
    for (int i = 0; i < options.refine; ++i) mesh = refined(mesh);
    return {std::move(problem), std::move(mesh), options.mesh.empty() ? "box" : options.mesh};
}

}  // namespace hone::examples
