#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "generator/problem.hpp"
#include "tests/generator/families/published_array.hpp"

namespace hone::test {

/// Random numbers for a logical step's data.
class Draw {
  public:
    explicit Draw(std::mt19937_64& random) : random_(random) {}
    double operator()(double low = -1, double high = 1) { return std::uniform_real_distribution(low, high)(random_); }
    std::int64_t below(std::int64_t count) { return std::uniform_int_distribution<std::int64_t>(0, count - 1)(random_); }

  private:
    std::mt19937_64& random_;
};

/// One time step of a family as its header (family.hpp) defines it, in double precision, on arrays
/// that are addressed by logical indices alone: the layout is what is published of the arrays, and
/// no code of the generator or of the family's reference is used for it.
struct LogicalStep {
    std::string family;
    std::vector<std::string> problems;                                 ///< sets of problems that have all the family's layouts; `precision` is added
    std::function<void(const Problem&, PublishedArrays&, Draw)> fill;  ///< all that a step reads
    std::function<void(const Problem&, PublishedArrays&)> step;        ///< writes what a step writes
};

LogicalStep acoustics_staggered_by_index();
LogicalStep batched_gemm_by_index();
LogicalStep batched_gemv_by_index();
LogicalStep corner_force_by_index();
LogicalStep csr_spmv_by_index();
LogicalStep dg_volume_by_index();
LogicalStep dg_surface_by_index();
LogicalStep dg_rk_by_index();
LogicalStep dg_stage_by_index();
LogicalStep fe_mass_by_index();
LogicalStep gauss_seidel_27_by_index();
LogicalStep poisson7_by_index();
LogicalStep staggered_flow_by_index();

}  // namespace hone::test
