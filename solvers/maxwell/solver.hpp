#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "solvers/maxwell/wave_part.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// Which kernels make a stage of the time stepper.
enum class StageForm {
    kernels,  ///< dg_volume, dg_surface and dg_rk, one after the other
    fused     ///< dg_stage: two or all of them in one, as its configuration says
};

/// The problems whose kernels a form launches; `arithmetic` as the dg families have it: strict or
/// f32_accurate. `elements`: of a part or the whole of a mesh, in place of those of the
/// discretisation.
std::vector<Problem> stage_problems(const Discretisation& of, Precision precision, StageForm form, const std::string& arithmetic = "strict",
                                    std::int64_t elements = 0);

/// `kernels` where a database knows that on this device the three of them take less time than a
/// whole stage, as may be at high orders; else `fused`. Parameters as of stage_problems.
StageForm fastest_form(const Database& database, const Backend& backend, const Discretisation& of, Precision precision,
                       const std::string& arithmetic = "strict", std::int64_t elements = 0);

/// What one kernel came to.
struct KernelRate {
    std::string name;       ///< of its family
    std::string found;      ///< "exact, form=...": grade of the look-up and configuration
    double seconds = 0;     ///< of one launch, the fastest
    double operations = 0;  ///< of one launch as the literature counts them, whatever form runs; of a rank its share
    double executed = 0;    ///< that its form really executes
    double bytes = 0;       ///< compulsory traffic

    double gflops() const { return seconds > 0 ? operations / seconds * 1e-9 : 0; }
};

/// Time steps of a wave equation on a device: nodal discontinuous Galerkin with the kernels of the
/// dg families, LSERK4(5). Nothing leaves the device but what is asked for.
///
///     WaveSolver solver(*backend, library, discretisation, Precision::f64, StageForm::fused);
///     solver.set_fields(discretisation.interpolated(cavity(*discretisation.equation), 0));
///     solver.set_step(discretisation.stable_step());
///     for (int step = 0; step < 100; ++step) solver.step();
///     const double left = discretisation.energy(solver.fields());
class WaveSolver {
  public:
    /// Looks the kernels up and uploads mesh and materials. Backend, library and discretisation
    /// must outlive the solver. `configurations` ("dg_rk" to "threads=all,...") stand in place of
    /// what the library would choose.
    WaveSolver(Backend& backend, KernelLibrary& library, const Discretisation& of, Precision precision, StageForm form,
               const std::map<std::string, std::string>& configurations = {}, const std::string& arithmetic = "strict");
    /// A rank's part, which must outlive the solver; all ranks' solvers are called alike. Traces
    /// travel while the inner elements are computed. The library is asked for the kernels of the
    /// whole mesh, so that ranks on devices of one kind have the same, and no digit of the fields
    /// knows how many they are.
    WaveSolver(Backend& backend, KernelLibrary& library, const WavePart& part, Precision precision, StageForm form,
               const std::map<std::string, std::string>& configurations = {}, const std::string& arithmetic = "strict");
    ~WaveSolver();

    /// Makes the exchange of traces anew, by what the communicator's settings say now.
    void renew_exchanges();

    /// [element][field][node]; of a part its copies, too. Throws Error for another number of
    /// values.
    void set_fields(std::span<const double> q);
    std::vector<double> fields() const;
    void set_step(double dt);
    /// Queues one time step.
    void step();
    /// One time step, waiting for each kernel; the fastest launches so far are kept for `rates`.
    /// Returns the seconds of all launches on the device.
    double timed_step();
    void synchronise();

    /// All that the next step starts from, as it lies in memory. The same state gives the same
    /// steps, bit for bit, with the same configurations.
    std::vector<std::byte> state() const;
    /// Throws Error when it is not as long as this solver's.
    void set_state(std::span<const std::byte> bytes);

    /// By family: to be given to the constructor of a solver that goes on.
    std::map<std::string, std::string> configurations() const;
    std::vector<KernelRate> rates() const;
    /// Operations of one time step, counted likewise.
    double operations_per_step() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1::solvers::maxwell
