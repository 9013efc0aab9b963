#include "tuner/strategies/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "generator/value_lists.hpp"
#include "tests/tuner/synthetic.hpp"

namespace hone::gaussian_process_test {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// Gaussian elimination with pivots: slow, and nothing like the process's own way.
Vector solve(Matrix matrix, Vector right) {
    const std::size_t size = right.size();
    for (std::size_t column = 0; column < size; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column; row < size; ++row)
            if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) pivot = row;
        std::swap(matrix[column], matrix[pivot]);
        std::swap(right[column], right[pivot]);
        for (std::size_t row = 0; row < size; ++row) {
            if (row == column) continue;
            const double factor = matrix[row][column] / matrix[column][column];
            for (std::size_t k = column; k < size; ++k) matrix[row][k] -= factor * matrix[column][k];
            right[row] -= factor * right[column];
        }
    }
    for (std::size_t row = 0; row < size; ++row) right[row] /= matrix[row][row];
    return right;
}

double dot(const Vector& a, const Vector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The textbook's formulas for costs that are all known (Rasmussen and Williams, 2006, equations
/// 2.25, 2.26 and 2.42 with a constant).
struct Textbook {
    Textbook(const MemberKernel& kernel, const std::vector<std::size_t>& rows, const Vector& values) : kernel_(kernel), rows_(rows) {
        for (const std::size_t a : rows) {
            covariance_.emplace_back();
            for (const std::size_t b : rows) covariance_.back().push_back(kernel(a, b) + (a == b ? kernel.noise() : 0));
        }
        const Vector ones(rows.size(), 1.0);
        mean_ = dot(ones, solve(covariance_, values)) / dot(ones, solve(covariance_, ones));
        for (const double value : values) centred_.push_back(value - mean_);
        weights_ = solve(covariance_, centred_);
        variance_ = dot(centred_, weights_) / static_cast<double>(values.size());
    }
    Vector covariances(std::size_t member) const {
        Vector result;
        for (const std::size_t row : rows_) result.push_back(kernel_(member, row));
        return result;
    }
    double mean(std::size_t member) const { return mean_ + dot(covariances(member), weights_); }
    /// The part of a member's variance that the rows do not explain.
    double unknown(std::size_t member) const { return std::max(1e-8, 1 - dot(covariances(member), solve(covariance_, covariances(member)))); }
    /// With the part that is the member's own.
    double deviation(std::size_t member) const { return std::sqrt(variance_ * (unknown(member) + kernel_.noise())); }

    const MemberKernel& kernel_;
    std::vector<std::size_t> rows_;
    Matrix covariance_;
    Vector centred_, weights_;
    double mean_ = 0;
    double variance_ = 0;
};

class GaussianProcesses : public testing::Test {
  protected:
    GaussianProcesses() : geometry_(landscape_.space(), landscape_.space().members()), kernel_(landscape_.space(), geometry_) {
        for (std::size_t which = 0; which < kernel_.rates().size(); ++which)
            if (kernel_.rates()[which] > 0) kernel_.set_rate(which, 0.2 + 2 * random_.real());
        std::vector<std::size_t> members(geometry_.size());
        std::iota(members.begin(), members.end(), std::size_t{0});
        random_.shuffle(members);
        rows_.assign(members.begin(), members.begin() + 20);
        pool_.assign(members.begin() + 20, members.begin() + 33);
        for (std::size_t i = 0; i < rows_.size(); ++i) values_.push_back(random_.real() - 7);
    }

    /// In double precision the two agree to about 1e-16 over the smallest eigenvalue, which is at
    /// least the noise of 1e-2; the pool is kept in single precision, and 20 rows of rounding of
    /// 6e-8 over 1e-2 remain below this.
    static constexpr double tolerance = 2e-4;

    const std::uint64_t seed_ = std::random_device{}();
    const testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
    Random random_{seed_};
    test::Landscape landscape_{seed_};
    MemberGeometry geometry_;
    MemberKernel kernel_;
    std::vector<std::size_t> rows_, pool_;
    Vector values_;
};

TEST_F(GaussianProcesses, ExpectsWhatTheTextbookDoes) {
    GaussianProcess process(kernel_, pool_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        process.add(rows_[i]);
        process.tell(i, values_[i]);
    }
    const Textbook textbook(kernel_, rows_, values_);
    EXPECT_NEAR(process.variance(), textbook.variance_, tolerance * textbook.variance_);
    for (std::size_t p = 0; p < pool_.size(); ++p) {
        const Expectation found = process.expect(p);
        EXPECT_NEAR(found.mean, textbook.mean(pool_[p]), tolerance);
        EXPECT_NEAR(found.deviation, textbook.deviation(pool_[p]), tolerance);
        EXPECT_NEAR(process.unexplained(p), textbook.unknown(pool_[p]), tolerance);
        EXPECT_EQ(found.failure, 0);
    }
}

TEST_F(GaussianProcesses, ToldInAnyOrderAndExtendedLaterIsTheSame) {
    GaussianProcess process(kernel_, {});
    for (const std::size_t row : rows_) process.add(row);
    std::vector<std::size_t> order(rows_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    random_.shuffle(order);
    for (const std::size_t row : order) process.tell(row, values_[row]);
    for (const std::size_t member : pool_) process.extend(member);
    const Textbook textbook(kernel_, rows_, values_);
    for (std::size_t p = 0; p < pool_.size(); ++p) {
        EXPECT_NEAR(process.expect(p).mean, textbook.mean(pool_[p]), tolerance);
        EXPECT_NEAR(process.expect(p).deviation, textbook.deviation(pool_[p]), tolerance);
    }
}

TEST_F(GaussianProcesses, APendingMemberMovesNoMeanAndMakesItsSurroundingsSurer) {
    GaussianProcess process(kernel_, pool_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        process.add(rows_[i]);
        process.tell(i, values_[i]);
    }
    std::vector<Expectation> before;
    for (std::size_t p = 0; p < pool_.size(); ++p) before.push_back(process.expect(p));
    process.add(pool_.front());
    for (std::size_t p = 0; p < pool_.size(); ++p) {
        EXPECT_EQ(process.expect(p).mean, before[p].mean);
        EXPECT_LE(process.expect(p).deviation, before[p].deviation);
    }
    // What is left is the noise's part, of a variance of 1 + noise.
    EXPECT_LT(process.expect(0).deviation, 0.2 * std::sqrt(process.variance()));
}

TEST_F(GaussianProcesses, EqualCostsLeaveTheLessKnownLessCertain) {
    GaussianProcess process(kernel_, {rows_.front(), pool_.front()});
    rows_.resize(3);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        process.add(rows_[i]);
        process.tell(i, -7.0);
    }
    Textbook textbook(kernel_, rows_, Vector(rows_.size(), -7.0));
    textbook.variance_ = 1;  // none is left to learn it from; the ratio does not depend on it
    const double ratio = textbook.deviation(pool_.front()) / textbook.deviation(rows_.front());
    EXPECT_GT(process.expect(0).deviation, 0);
    // In single precision what is left of 1, at least a third of the noise, is known to 5e-7.
    EXPECT_NEAR(process.expect(1).deviation / process.expect(0).deviation / ratio, 1, 1e-3);
}

// Each of the lower half predicted from all others by the textbook, one at a time, with the mean
// and the variance of all.
TEST_F(GaussianProcesses, ErrorsGreaterThanExpectedWidenDeviations) {
    for (const double spread : {0.0, 3.0}) {  // with 3 the covariance explains little: outliers among the lower values
        std::sort(values_.begin(), values_.end());
        for (std::size_t i = 0; i < values_.size(); i += 4) values_[i] -= spread * random_.real();
        GaussianProcess process(kernel_, pool_);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            process.add(rows_[i]);
            process.tell(i, values_[i]);
        }
        const Textbook all(kernel_, rows_, values_);
        Vector lower = values_;
        std::sort(lower.begin(), lower.end());
        double sum = 0;
        for (std::size_t left_out = 0; left_out < rows_.size(); ++left_out) {
            if (values_[left_out] >= lower[lower.size() / 2]) continue;
            std::vector<std::size_t> rows = rows_;
            Vector values = values_;
            rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(left_out));
            values.erase(values.begin() + static_cast<std::ptrdiff_t>(left_out));
            const Textbook others(kernel_, rows, values);
            for (double& value : values) value -= all.mean_;
            const double error = values_[left_out] - all.mean_ - dot(others.covariances(rows_[left_out]), solve(others.covariance_, values));
            sum += error * error / (others.unknown(rows_[left_out]) + kernel_.noise()) / all.variance_;
        }
        const double mean_square = sum / static_cast<double>(lower.size() / 2);
        const double doubt = std::clamp(mean_square, 1.0, 100.0);
        const double before = process.expect(0).deviation;
        EXPECT_EQ(process.misfit(), 1);
        process.calibrate();
        EXPECT_NEAR(process.misfit(), std::sqrt(mean_square), 1e-6 * std::sqrt(mean_square)) << "spread " << spread;
        EXPECT_NEAR(process.expect(0).deviation / before, std::sqrt(doubt), 1e-6 * std::sqrt(doubt)) << "spread " << spread;
        EXPECT_NEAR(process.expect(0).mean, all.mean(pool_[0]), tolerance * (1 + spread)) << "no mean moves";
    }
}

TEST_F(GaussianProcesses, AFailureSaysNothingOfTheCostsAndIsExpectedNearby) {
    GaussianProcess process(kernel_, pool_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        process.add(rows_[i]);
        process.tell(i, values_[i]);
    }
    const Expectation before = process.expect(0);
    process.add(pool_.front());
    process.tell(rows_.size(), std::numeric_limits<double>::infinity());
    EXPECT_EQ(process.expect(0).mean, before.mean);
    EXPECT_EQ(before.failure, 0);
    // As a textbook's process of ones where a member failed and zeros elsewhere, about zero. Where
    // it failed itself, at least a twentieth of the noise is left to explain by that.
    rows_.push_back(pool_.front());
    Vector failures(rows_.size(), 0.0);
    failures.back() = 1;
    const Textbook textbook(kernel_, rows_, failures);
    const Vector weights = solve(textbook.covariance_, failures);
    for (std::size_t p = 0; p < pool_.size(); ++p) EXPECT_NEAR(process.expect(p).failure, dot(textbook.covariances(pool_[p]), weights), tolerance);
    EXPECT_GT(process.expect(0).failure, 0.04);
}

TEST_F(GaussianProcesses, LearnsWhichTunablesMatter) {
    // The cost depends on the tunable with most values, and on nothing else.
    std::size_t decisive = 0;
    for (std::size_t d = 0; d < geometry_.dimensions(); ++d)
        if (geometry_.values(d) > geometry_.values(decisive)) decisive = d;
    values_.clear();
    rows_.clear();
    for (std::size_t i = 0; i < 40; ++i) {
        rows_.push_back(random_.index(geometry_.size()));
        values_.push_back(std::sin(3.0 * static_cast<double>(geometry_.coordinate(rows_.back(), decisive))));
    }
    MemberKernel kernel(landscape_.space(), geometry_);
    fit(kernel, rows_, values_);
    for (std::size_t d = 0; d < geometry_.dimensions(); ++d)
        if (d != decisive) {
            const auto rate = [&](std::size_t which) { return kernel.rates()[3 * decisive + which]; };
            EXPECT_LT(kernel.rates()[3 * d], rate(0) + rate(1) + rate(2)) << "tunable " << d;
        }
}

TEST(MemberKernel, SeesDistanceInNumbersAlignmentInBlockSizesAndOnlyIdentityInWords) {
    const SearchSpace space({{"depth", "", numbers({1, 3, 9})}, {"block", "", numbers({32, 40, 48, 96})}, {"form", "", words({"a", "b", "c"})}}, {},
                            {{"depth", 1}, {"block", 32}, {"form", "a"}});
    const MemberGeometry geometry(space, space.members());
    const MemberKernel kernel(space, geometry);
    const auto member = [&](std::int64_t depth, std::int64_t block, const char* form) {
        return geometry.find(space.index_of(Config({{"depth", depth}, {"block", block}, {"form", form}})));
    };
    const std::size_t origin = member(1, 32, "a");
    EXPECT_EQ(kernel(origin, origin), 1);
    EXPECT_GT(kernel(origin, member(3, 32, "a")), kernel(origin, member(9, 32, "a")));
    EXPECT_EQ(kernel(origin, member(1, 32, "b")), kernel(origin, member(1, 32, "c")));
    // 96 is farther than 40, but a multiple of 32 as well.
    MemberKernel aligned = kernel;
    aligned.set_rate(4, 20);
    EXPECT_GT(aligned(origin, member(1, 96, "a")), aligned(origin, member(1, 40, "a")));
    EXPECT_EQ(kernel.rates()[7], 0) << "a word has no alignment";
}

}  // namespace
}  // namespace hone::gaussian_process_test
