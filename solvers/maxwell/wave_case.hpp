#pragma once

#include <map>
#include <string>
#include <utility>

#include "solvers/maxwell/solver.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// Waves on a mesh, and how they are computed: the same on all ranks.
struct WaveCase {
    std::string equation = "maxwell_3d";
    int order = 3;  ///< of the polynomials
    Precision precision = Precision::f64;
    std::string arithmetic = "strict";  ///< or f32_accurate
    Mesh mesh;
    std::map<std::string, Material> materials;  ///< by the names of the mesh's groups of elements
    std::string where = "box";                  ///< what the mesh comes from

    /// The problems of a part of the mesh, or of so many elements with the same nodes.
    std::vector<Problem> problems(const Discretisation& of, StageForm form, std::int64_t elements = 0) const {
        return stage_problems(of, precision, form, arithmetic, elements);
    }
};

/// Throws Error for a material of a group that the mesh does not have, naming the nearest; `option`
/// says where it was given.
void expect_groups(const WaveCase& of, const std::string& option);

/// As fastest_form of a discretisation, by the first rank's records. All ranks call it alike.
StageForm fastest_form(Communicator& ranks, const WaveCase& of, const Database& database, const Backend& backend);

/// Elements per second of this device, by some time steps on a box with as many elements as a
/// rank's equal share of the mesh, in all directions alike.
double measured_speed(const WaveCase& of, StageForm form, Backend& backend, KernelLibrary& library, int ranks);

/// The fields that a run begins with, and whether they belong to an exact solution for all times.
struct FirstFields {
    Discretisation::Solution solution;
    bool exact = false;
};
/// "cavity", "cylinder" or "pulse"; throws Error for another name, and as those functions do.
FirstFields first_fields(const std::string& name, const WaveCase& of);

}  // namespace hone::inline v0_1::solvers::maxwell
