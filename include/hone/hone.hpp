#pragma once

/// All that most applications need of hone:
///
///     #include <hone/hone.hpp>
///     hone::Session session("best");
///     const auto kernel = session.kernel("poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=256 ny=256 nz=256");
///
/// Meshes, solvers and output for them: <hone/solvers.hpp>. Further headers, by the folders of
/// hone's source: <hone/runtime/ranks/communicator.hpp> (many devices),
/// <hone/generator/render.hpp> (a family of your own in C++).
#include <hone/foundation/error.hpp>
#include <hone/generator/families.hpp>
#include <hone/generator/families/built_in_families.hpp>
#include <hone/generator/workload.hpp>
#include <hone/interfaces/kernel_folder/kernel_folder.hpp>
#include <hone/interfaces/session/session.hpp>
#include <hone/runtime/buffers.hpp>
#include <hone/runtime/hybrid_kernel.hpp>
#include <hone/runtime/library.hpp>
#include <hone/runtime/uploader.hpp>
#include <hone/tuner/online/early_worker.hpp>
#include <hone/tuner/online/tuner.hpp>
#include <hone/tuner/sharing/load_balancer.hpp>
#include <hone/tuner/worker/worker.hpp>
#include <hone/tuner/worker/worker_program.hpp>
#include <hone/tuning_db/database.hpp>
#include <hone/tuning_db/places.hpp>
