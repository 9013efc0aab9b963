#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "solvers/hydro/stepper.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// How forces on nodes and work on energies come from the same stress.
enum class Assembly {
    partial,  ///< the stress at the points is kept, all sums are made axis by axis: no matrix of a zone exists
    full      ///< each zone's matrix of corner forces is stored; work is a product with it, by batched_gemv
};
/// "partial" or "full"; throws Error for anything else.
Assembly parse_assembly(const std::string& word);

/// What a kernel of the operator is, for a report.
struct KernelFound {
    std::string name;   ///< of its problem
    std::string found;  ///< "exact: form=...": grade of the look-up and configuration
    Grade grade = Grade::none;
};

/// A second device that takes a part of the zones.
struct Partner {
    Backend* backend = nullptr;
    KernelLibrary* library = nullptr;
    std::optional<Hybrid> known;  ///< what a database says about this pair of devices and configurations: begin there
    std::optional<double> share;  ///< of the first device: in place of finding it
    int period = 40;              ///< time steps from one decision to the next
};

/// Where the balance between two devices stands.
struct Balance {
    double share = 1;  ///< of the first device
    bool settled = false;
    int periods = 0;
};

/// Forces and work of all zones, from arrays of each zone's own ([zone][component][node] and the
/// like, as the family corner_force has them), by tuned kernels on one device or on two. The arrays
/// here are the first device's, which has all zones; the second one keeps what its kernels alone
/// need, among them the stress of its zones, gets positions, velocities and energies of its zones
/// before a launch and sends forces, work and steps back.
class ZoneForces {
  public:
    struct Settings {
        TimeScheme scheme = TimeScheme::rk2_average;
        Assembly assembly = Assembly::partial;
        double cfl = 0.5;
        /// By result of corner_force or "batched_gemv", with "partner." before it for those of the
        /// second device: in place of what the libraries would choose.
        std::map<std::string, std::string> configurations;
        std::optional<Partner> partner;
    };

    /// Backends, libraries and discretisation must outlive it. Throws Error where a matrix of
    /// corner forces has more rows than batched_gemv takes.
    ZoneForces(Backend& backend, KernelLibrary& library, const Discretisation& of, Settings settings);
    ~ZoneForces();

    void* positions() const;
    void* velocities() const;
    void* energies() const;
    /// The velocities that do the work; with rk4 the same array as `velocities`.
    void* moving() const;
    const void* force() const;  ///< on nodes
    void* work() const;         ///< on energies
    const void* steps() const;  ///< [zone]: the longest stable one

    /// Forces and steps from positions, velocities and energies.
    void find_forces();
    /// Work by the velocities in `moving`, with what `find_forces` found. After `find_forces`, any
    /// number of times.
    void find_work();
    /// Between time steps: zones may change devices, with what `find_forces` found of them.
    void next_step();

    std::vector<KernelFound> kernels() const;
    /// To be given to one that goes on to the same bits.
    std::map<std::string, std::string> configurations() const;
    /// Nothing on one device.
    std::optional<Balance> balance() const;
    /// The share that was found, for a database, verified on random zones at that share. Nothing on
    /// one device, or when the balance is not settled.
    std::optional<Record> share_record() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The problem whose record has the share of two devices: that of the launch which takes longest.
Problem shared_problem(const Discretisation& of, TimeScheme scheme, Assembly assembly);

/// All problems that it launches: what is to be tuned.
std::vector<Problem> zone_problems(const Discretisation& of, TimeScheme scheme, Assembly assembly);

}  // namespace hone::inline v0_1::solvers::hydro
