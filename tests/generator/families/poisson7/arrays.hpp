#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "generator/families/poisson7/family.hpp"

namespace hone::test {

/// The arrays of a poisson7 problem in double precision, by name and zero at first, and steps of
/// the reference on them.
class PoissonArrays {
  public:
    using Function = std::function<double(int i, int j, int k)>;

    explicit PoissonArrays(const Problem& problem) : problem_(problem) {
        for (const auto& spec : family().arrays(problem)) {
            names_.push_back(spec.name);
            arrays_[spec.name].assign(static_cast<std::size_t>(spec.words), 0.0);
            if (spec.words > 0 && spec.shape == "[nz][ny][pitch]") pitch_ = spec.words / (extent("ny") * extent("nz"));
        }
    }

    static const Family& family() {
        static const Family it = poisson7();
        return it;
    }

    std::vector<double>& operator[](const std::string& name) { return arrays_.at(name); }
    double& at(const std::string& name, int i, int j, int k) { return arrays_.at(name)[word(i, j, k)]; }
    bool has(const std::string& name) const { return arrays_.contains(name); }
    int extent(const char* axis) const { return static_cast<int>(problem_.integer(axis)); }

    void for_cells(const std::function<void(int, int, int)>& function) const {
        for (int k = 0; k < extent("nz"); ++k)
            for (int j = 0; j < extent("ny"); ++j)
                for (int i = 0; i < extent("nx"); ++i) function(i, j, k);
    }
    void set(const std::string& name, const Function& value) {
        for_cells([&](int i, int j, int k) { at(name, i, j, k) = value(i, j, k); });
    }

    /// The operator -Laplace on cells of width h, whatever the kind of coefficients.
    void set_laplacian(double h) {
        const double diagonal = 6 / (h * h);
        if (has("coefficients")) arrays_["coefficients"] = {diagonal, -1 / (h * h), -1 / (h * h), -1 / (h * h), 1 / diagonal};
        for (const char* name : {"cx", "cy", "cz"})
            if (has(name)) std::fill(arrays_[name].begin(), arrays_[name].end(), -1 / (h * h));
        if (has("diagonal")) std::fill(arrays_["diagonal"].begin(), arrays_["diagonal"].end(), diagonal);
        if (has("inverse_diagonal")) std::fill(arrays_["inverse_diagonal"].begin(), arrays_["inverse_diagonal"].end(), 1 / diagonal);
    }

    std::vector<void*> pointers() {
        std::vector<void*> result;
        for (const auto& name : names_) result.push_back(arrays_[name].data());
        return result;
    }
    void step() { family().reference(problem_, pointers(), 0, extent("nz")); }

  private:
    std::size_t word(int i, int j, int k) const { return static_cast<std::size_t>((static_cast<std::int64_t>(k) * extent("ny") + j) * pitch_ + i); }

    Problem problem_;
    std::vector<std::string> names_;
    std::map<std::string, std::vector<double>> arrays_;
    std::int64_t pitch_ = 0;
};

}  // namespace hone::test
