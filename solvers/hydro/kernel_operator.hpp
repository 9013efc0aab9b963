#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/hydro/mass_solver.hpp"
#include "solvers/hydro/mass_system.hpp"
#include "solvers/hydro/operator.hpp"
#include "solvers/hydro/zone_forces.hpp"
#include "solvers/hydro/zone_part.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// The equations with tuned kernels on a device, on which everything stays but what is asked for:
/// corner forces by the family corner_force, velocities by conjugate gradients, energies by
/// batched_gemv. Corner forces may be shared with a second device.
///
///     KernelOperator on(*backend, library, discretisation, TimeScheme::rk2_average, {});
///     Stepper stepper(on, TimeScheme::rk2_average, discretisation.first);
class KernelOperator final : public Operator {
  public:
    struct Settings {
        double cfl = 0.5;
        double tolerance = 1e-12;                           ///< of conjugate gradients
        std::map<std::string, std::string> configurations;  ///< as ZoneForces, and csr_spmv or fe_mass: in place of what the library would choose
        Assembly assembly = Assembly::partial;
        std::optional<MassForm> mass;                  ///< how conjugate gradients multiply; nothing: usual_mass_form
        VectorUpdates updates = VectorUpdates::fused;  ///< of conjugate gradients on one rank
        int recorded = MassSettings{}.recorded;        ///< of its iterations, as one graph
        std::optional<Partner> partner;                ///< of corner forces: results are those of one device to rounding
        /// Of several ranks: the discretisation is its `here`, and all ranks call alike. The
        /// library is asked for the kernels of the whole mesh, so that no digit knows how many
        /// ranks on devices of one kind there are. Must outlive the operator.
        const ZonePart* part = nullptr;
    };

    /// Looks the kernels up that the scheme needs: with rk4 forces and work are one launch.
    /// Backend, library and discretisation must outlive it.
    KernelOperator(Backend& backend, KernelLibrary& library, const Discretisation& of, TimeScheme scheme, Settings settings);
    ~KernelOperator() override;

    void set(int slot, const State& state) override;
    State get(int slot) override;
    void combine(Field target, Field base, double factor, Field rate) override;
    void accelerate(int slot, int rate) override;
    void heat(int slot, int moving, int rate) override;
    void forget_stress() override;
    double estimate(int slot) override;
    void restart_estimate() override;

    /// Makes the exchanges with other ranks anew, by what the communicator's settings say now.
    void renew_exchanges();

    std::vector<KernelFound> kernels() const;
    /// To be given to an operator that goes on to the same bits.
    std::map<std::string, std::string> configurations() const;
    /// Of conjugate gradients, over all solves so far, the most of a component each.
    std::int64_t iterations() const;
    std::int64_t solves() const;
    /// What the device takes for the forces and the products with the mass matrix of a solve: what
    /// of a time step grows with the rank's part, and waits for no other rank. Of the state that
    /// was looked at last, which stays. For several ranks, after a step.
    double seconds_of_work();
    /// As ZoneForces.
    std::optional<Balance> balance() const;
    std::optional<Record> share_record() const;

  private:
    struct Machine;
    std::unique_ptr<Machine> machine_;
};

/// The problems of corner forces and of conjugate gradients that a scheme launches: what is to be
/// tuned.
std::vector<Problem> problems_to_tune(const Discretisation& of, TimeScheme scheme, Assembly assembly, std::optional<MassForm> mass);

/// shared_problem on the whole mesh, the same on all ranks.
Problem shared_problem(const ZonePart& part, TimeScheme scheme, Assembly assembly);

/// Lets two devices begin with the share that a database has for this very problem, and with the
/// configurations that it was found with. Does nothing where the database has none. Requires a
/// partner in the settings.
void begin_balanced(const Database& database, const Problem& problem, const DeviceSide& first, const DeviceSide& second,
                    KernelOperator::Settings& settings);

}  // namespace hone::inline v0_1::solvers::hydro
