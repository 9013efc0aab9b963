#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "generator/families/csr_spmv/shape.hpp"

namespace hone::test {

/// The csr_spmv family with random data for rows of given lengths and columns anywhere, the same
/// one several times, too. The problem's `rows` and `entries` are to agree with the lengths.
inline Family with_rows(Family family, const std::vector<int>& lengths) {
    const auto fill = [lengths]<typename Real>(const Problem& problem, std::uint64_t seed, Real) {
        const spmv::Shape shape(problem);
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        Workload work;
        for (const ArraySpec& spec : spmv::arrays(problem)) {
            work.arrays.emplace_back(shape.precision, spec.words);
            std::memset(work.arrays.back().data(), 0xff, static_cast<std::size_t>(work.arrays.back().bytes()));
        }
        int* const columns = static_cast<int*>(work.arrays[1].data());
        int* const starts = static_cast<int*>(work.arrays[2].data());
        for (const std::size_t words : {0U, 3U})
            for (Real& word : work.arrays[words].values<Real>()) word = static_cast<Real>(uniform(random));
        starts[0] = 0;
        double largest = 0;
        for (std::size_t row = 0; row < lengths.size(); ++row) {
            double sum = 0;
            starts[row + 1] = starts[row] + lengths[row];
            for (int entry = starts[row]; entry < starts[row + 1]; ++entry) {
                columns[entry] = static_cast<int>(random() % static_cast<std::uint64_t>(shape.columns));
                sum += std::abs(static_cast<double>(work.arrays[0].values<Real>()[static_cast<std::size_t>(entry)]));
            }
            largest = std::max(largest, sum);
        }
        work.expected.resize(work.arrays.size());
        std::vector<void*> pointers;
        for (std::size_t n = 0; n < work.arrays.size(); ++n) {
            if (n > 3) work.expected[n] = work.arrays[n].copy();
            pointers.push_back(n > 3 ? work.expected[n].data() : work.arrays[n].data());
        }
        spmv::reference(problem, pointers, 0, shape.rows);
        // As the family's own: a rounding per entry of a partial sum, and a dozen more.
        const double longest = *std::max_element(lengths.begin(), lengths.end());
        work.tolerance = (longest / spmv::partial_sums + 14) * static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2 * largest;
        return work;
    };
    family.workload = [fill](const Problem& problem, std::uint64_t seed) {
        return problem.precision() == Precision::f32 ? fill(problem, seed, 0.0F) : fill(problem, seed, 0.0);
    };
    return family;
}

}  // namespace hone::test
