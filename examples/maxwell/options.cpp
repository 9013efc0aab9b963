#include "examples/maxwell/options.hpp"

#include "examples/options/checks.hpp"
#include "examples/options/words.hpp"

namespace hone::examples {

using namespace solvers;
using namespace solvers::maxwell;

namespace {

void declare_problem(CLI::App& app, MaxwellOptions& o) {
    app.add_option("--equation", o.waves.equation, "equation to solve")->capture_default_str()->check(CLI::IsMember(wave_equation_names()));
    app.add_option("--order", o.orders, "polynomial order, 1 to 10; a range such as 1..7 only measures the speed of each order")
        ->capture_default_str();
    add_precision(app, o.precision, "of fields and operators");
    app.add_option(
           "--arithmetic", o.waves.arithmetic,
           "strict, or f32_accurate: a GPU may compute a product in f32 from three products on its TF32 matrix units, within the same error bound")
        ->capture_default_str()
        ->check(CLI::IsMember({"strict", "f32_accurate"}));
    app.add_option("--cells", o.cells, "cells along each axis of the box [-1, 1]^d, each split into simplices; 0: 32 on a GPU, 8 on a processor")
        ->capture_default_str()
        ->check(CLI::Range(0, 500));
    app.add_option("--walls", o.walls, "boundary of the box")->capture_default_str()->check(CLI::IsMember({"reflecting", "absorbing", "periodic"}));
    app.add_option("--mesh", o.mesh, "Gmsh file (2.2 or 4.1) instead of the box, for example examples/mesh/cylinder.msh");
    app.add_option("--group", o.groups, "NAME=reflecting, NAME=absorbing or NAME=periodic: kind of a boundary group of the mesh; may be repeated");
    app.add_option("--material", o.materials,
                   "NAME=A,B: material of an element group: permittivity and permeability, or density and speed of sound; may be repeated");
    app.add_option("--initial", o.first,
                   "initial fields: cavity (lowest mode of the box) and cylinder (lowest mode of a cylinder or disc of radius 1) have exact "
                   "solutions, and the program prints the error; pulse; automatic: cavity in a reflecting box, otherwise pulse")
        ->capture_default_str()
        ->check(CLI::IsMember({"automatic", "cavity", "cylinder", "pulse"}));
    app.add_option("--time", o.run.time, "end time")->capture_default_str()->check(positive());
    app.add_option("--cfl", o.run.step_part, "time step, multiplied by the largest Fscale N^2 c")->capture_default_str()->check(positive());
    app.add_flag("!--no-renumber", o.renumber,
                 "keep the order of elements in the mesh; by default, the program renumbers them so that neighbours are close in memory");
}

void declare_results(CLI::App& app, MaxwellOptions& o) {
    add_run_files(app, o.run, o.energy, "element", "fields.pvd");
    app.add_option("--energy-samples", o.run.energy_samples, "number of energy samples after the first")->capture_default_str()->check(positive());
    app.add_option("--rates", o.rates_file, "file to append the speed of each kernel and of the whole step to (CSV)");
    app.add_option("--rates-chart", o.rates_chart, "file for a chart of GFLOP/s over order, for a range of orders (SVG)");
    app.add_option("--rates-from", o.charted_rates,
                   "only draw --rates-chart, for --equation and --precision, from files that --rates wrote on any machine");
    app.add_option("--timed-steps", o.timed_steps, "time steps after the run in which each kernel is timed; 0: none")
        ->capture_default_str()
        ->check(not_negative());
}

void declare_kernels(CLI::App& app, MaxwellOptions& o) {
    add_device(app, o.device, o.records, device_list);
    add_sharing(app, o.sharing);
    add_exchange(app, o.exchange);
    add_balancing(app, o.balancing.every, "the time of a step");
    add_tune(app, o.tune);
    app.add_option("--form", o.form,
                   "kernels of a Runge-Kutta stage: kernels (volume, surface and update separately), fused (two or three in one kernel), or auto: "
                   "the faster one according to the records in --db, fused if there are none")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "kernels", "fused"}));
}

Mesh make_mesh(const MaxwellOptions& options) {
    if (!options.mesh.empty()) {
        GmshGroups groups;
        for (const auto& word : options.groups) {
            const auto [name, kind] = named_value("--group", word);
            groups.boundary[name] = parse_boundary(kind, "--group " + word);
        }
        return read_gmsh(options.mesh, groups);
    }
    Box box{{options.cells, options.cells, options.cells}};
    box.boundary.fill(parse_boundary(options.walls, "--walls"));
    return wave_equation(options.waves.equation).dimension == 3 ? kuhn_box(box) : triangle_box(box);
}

}  // namespace

void declare(CLI::App& app, MaxwellOptions& options) {
    declare_problem(app, options);
    declare_results(app, options);
    declare_kernels(app, options);
}

WaveCase make_case(const MaxwellOptions& options, int order) {
    WaveCase result = options.waves;
    result.order = order;
    result.precision = options.precision == "f32" ? Precision::f32 : Precision::f64;
    if (!options.mesh.empty()) result.where = options.mesh;
    result.mesh = make_mesh(options);
    for (const auto& word : options.materials) {
        const auto [name, values] = named_value("--material", word);
        const std::vector<double> both = numbers("--material " + word, values, 2);
        result.materials[name] = {both[0], both[1]};
    }
    expect_groups(result, "--material");
    if (options.renumber) result.mesh = reordered(result.mesh, cuthill_mckee(result.mesh, match_faces(result.mesh, result.where)));
    return result;
}

FirstFields first_fields(const MaxwellOptions& options, const WaveCase& of) {
    const bool cavity = options.mesh.empty() && options.walls == "reflecting";
    return solvers::maxwell::first_fields(options.first != "automatic" ? options.first : cavity ? "cavity" : "pulse", of);
}

}  // namespace hone::examples
