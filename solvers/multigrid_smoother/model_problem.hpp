#pragma once

#include <array>
#include <string>

namespace hone::inline v0_1::solvers {

/// -Laplace u = 3 pi^2 sin(pi x) sin(pi y) sin(pi z) on the unit cube, u = 0 on its surface, on n
/// interior points a direction: the problem whose discrete solution, and whose errors after every
/// Gauss-Seidel sweep, are known exactly.
///
/// The operator has one weight for the centre, faces, edges and corners of the 27 points around a
/// point: "seven_point" is the usual second difference, "trilinear" the finite elements of
/// hexahedra. Both have sin sin sin as an eigenvector, so that the discrete solution is `amplitude`
/// times it.
struct ModelProblem {
    /// Throws Error for an operator of another name.
    ModelProblem(const std::string& name, int points);

    int n;
    double h;                       ///< 1 / (n + 1)
    std::array<double, 4> weights;  ///< by the number of axes along which a neighbour is off
    double volume;                  ///< what the operator is scaled with: 1, or h^3 for finite elements
    double cosine;                  ///< cos(pi h)
    double source;                  ///< the right-hand side is this times sin sin sin
    double amplitude;               ///< of the discrete solution: 1 but for the error of the discretisation

    /// sin sin sin at a point, counted from 1.
    double mode(int x, int y, int z) const;
    /// The operator's coefficients, k = 9 (dz + 1) + 3 (dy + 1) + (dx + 1).
    std::array<double, 27> coefficients() const;
};

/// The exact error after sweeps over the eight colours, begun with u = 0: points of colour c hold
/// amplitude (1 - E_c) sin sin sin. The E_c are 1 at first, and a sweep replaces them in the order
/// of the colours, c = (x - 1) % 2 + 2 ((y - 1) % 2) + 4 ((z - 1) % 2), by E_c = -(1 / w_0) sum
/// over d = 1 ... 7 of w_q (2 cos(pi h))^q E_(c xor d), q being the number of bits in d.
class ColourErrors {
  public:
    explicit ColourErrors(const ModelProblem& problem) : problem_(problem) { errors_.fill(1); }

    void sweep();
    double of(unsigned colour) const { return errors_[colour]; }
    double largest() const;

  private:
    ModelProblem problem_;
    std::array<double, 8> errors_{};
};

}  // namespace hone::inline v0_1::solvers
