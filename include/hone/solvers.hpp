#pragma once

/// Solvers on hone's kernels, and what simulations need around them (namespace hone::solvers; the
/// library hone::solvers of find_package(hone COMPONENTS solvers)):
///
///     #include <hone/hone.hpp>
///     #include <hone/solvers.hpp>
///     const hone::solvers::Mesh mesh = hone::solvers::read_gmsh("cylinder.msh");
///
/// `docs/solvers.md` says what there is.
#include <hone/foundation/file_store.hpp>
#include <hone/foundation/number_text.hpp>
#include <hone/foundation/text.hpp>
#include <hone/generator/families/poisson7/family.hpp>
#include <hone/runtime/ceilings.hpp>
#include <hone/runtime/ranks/device_of_rank.hpp>
#include <hone/runtime/ranks/link_name.hpp>
#include <hone/runtime/ranks/rank_place.hpp>
#include <hone/runtime/ranks/run_ranks.hpp>
#include <hone/runtime/ranks/thread_ranks.hpp>
#include <hone/runtime/ranks/threads_of_processes.hpp>
#include <hone/solvers/acoustics/line_survey.hpp>
#include <hone/solvers/acoustics/reflection.hpp>
#include <hone/solvers/acoustics/run.hpp>
#include <hone/solvers/acoustics/synthetic_model.hpp>
#include <hone/solvers/acoustics/time_levels.hpp>
#include <hone/solvers/acoustics/wave_checkpoint.hpp>
#include <hone/solvers/hydro/balanced_run.hpp>
#include <hone/solvers/hydro/checks.hpp>
#include <hone/solvers/hydro/kernel_operator.hpp>
#include <hone/solvers/hydro/mass_solver.hpp>
#include <hone/solvers/hydro/reference.hpp>
#include <hone/solvers/hydro/step_cost.hpp>
#include <hone/solvers/maxwell/balanced_run.hpp>
#include <hone/solvers/maxwell/checks.hpp>
#include <hone/solvers/maxwell/rates.hpp>
#include <hone/solvers/maxwell/wave_case.hpp>
#include <hone/solvers/maxwell/wave_run.hpp>
#include <hone/solvers/mesh/boxes.hpp>
#include <hone/solvers/mesh/geometry.hpp>
#include <hone/solvers/mesh/gmsh.hpp>
#include <hone/solvers/mesh/mfem.hpp>
#include <hone/solvers/mesh/renumber.hpp>
#include <hone/solvers/multigrid_smoother/smoother.hpp>
#include <hone/solvers/output/chart.hpp>
#include <hone/solvers/output/check.hpp>
#include <hone/solvers/output/checkpoint_file.hpp>
#include <hone/solvers/output/image.hpp>
#include <hone/solvers/output/progress.hpp>
#include <hone/solvers/output/rank_image.hpp>
#include <hone/solvers/output/table.hpp>
#include <hone/solvers/output/vtk.hpp>
#include <hone/solvers/output/vtk_elements.hpp>
#include <hone/solvers/poisson/checks.hpp>
#include <hone/solvers/poisson/poisson_case.hpp>
#include <hone/solvers/poisson/solver.hpp>
#include <hone/solvers/taylor_green/checks.hpp>
#include <hone/solvers/taylor_green/flow.hpp>
#include <hone/solvers/taylor_green/vortex.hpp>
#include <hone/solvers/tuning/tune_first.hpp>
#include <hone/tuner/sharing/exchange_tuning.hpp>
