#include "tuner/strategies/member_kernel.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace hone::inline v0_1 {
namespace {

constexpr double share = 0.5;         // of a tunable's variance that depends on the others' values
constexpr double usual_range = 0.5;   // the usual rate, times the root of the number of tunables: the ends of a list are much alike
constexpr double power_part = 0.3;    // of that rate for being a power of two, which matters to few tunables
constexpr double width_of_few = 3.2;  // of the prior, in logarithms of rates and noise: a factor of 24 either way is nothing unusual
constexpr double width_of_many = 1;   // a factor of e
constexpr double scale_of_many = 8;   // middle of the prior, over the usual rates: an end of a list says little of the other
constexpr double many = 80;           // values, from which on the prior stays as it is
constexpr double least_rate = 0.02;
constexpr double most_rate = 80;
constexpr double least_noise = 1e-5;
constexpr double most_noise = 1;
constexpr int sweeps = 2;
constexpr double least_pivot = 1e-9;    // of a value that others explain wholly, after rounding
constexpr double least_spread = 1e-12;  // of values, so that those that are all equal are not infinitely likely

/// What a number is, or a word that reads as one ("0.5", "1e-05"); nothing for another word.
std::optional<double> number_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const std::string& word = std::get<std::string>(value);
    double number = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
    // from_chars reads "nan" and "inf" as well.
    if (status != std::errc{} || end != word.data() + word.size() || !std::isfinite(number)) return std::nullopt;
    return number;
}

/// The values as numbers, with and without a decimal point; empty when one of them is a word.
std::vector<double> numbers_of(const std::vector<Value>& values) {
    std::vector<double> numbers;
    for (const Value& value : values) {
        const auto number = number_of(value);
        if (!number) return {};
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<double> places(const std::vector<double>& numbers) {
    std::vector<double> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> places;
    for (const double number : numbers) {
        const auto before = std::lower_bound(sorted.begin(), sorted.end(), number) - sorted.begin();
        places.push_back(static_cast<double>(before) / static_cast<double>(sorted.size() - 1));
    }
    return places;
}

/// Whether a property of the values turns along the ordered list; otherwise the order says the
/// same.
bool turns(const std::vector<double>& property, const std::vector<double>& places) {
    bool rises = false;
    bool falls = false;
    for (std::size_t a = 0; a < places.size(); ++a)
        for (std::size_t b = 0; b < places.size(); ++b) {
            if (places[a] >= places[b]) continue;
            rises |= property[a] < property[b];
            falls |= property[a] > property[b];
        }
    return rises && falls;
}

/// The values, where all are whole: others are no sizes in memory, and nothing is aligned to them.
std::vector<std::int64_t> whole_numbers(const std::vector<Value>& values) {
    std::vector<std::int64_t> numbers;
    for (const Value& value : values) {
        const auto* const whole = std::get_if<std::int64_t>(&value);
        if (whole == nullptr) return {};
        numbers.push_back(*whole);
    }
    return numbers;
}

/// How often each can be halved, scaled to 0 to 1; empty when the order says the same.
std::vector<double> alignments(const std::vector<std::int64_t>& numbers, const std::vector<double>& places) {
    std::vector<double> halvings;
    for (std::int64_t rest : numbers) {
        double count = 0;
        for (; rest != 0 && rest % 2 == 0; rest /= 2) ++count;
        halvings.push_back(count);
    }
    if (!turns(halvings, places)) return {};
    const double most = *std::max_element(halvings.begin(), halvings.end());
    for (double& count : halvings) count /= most;
    return halvings;
}

/// 1 for powers of two and zero, 0 for others; empty when the order says the same.
std::vector<double> powers_of_two(const std::vector<std::int64_t>& numbers, const std::vector<double>& places) {
    std::vector<double> powers;
    powers.reserve(numbers.size());
    for (const std::int64_t number : numbers) powers.push_back(number >= 0 && (number & (number - 1)) == 0 ? 1 : 0);
    return turns(powers, places) ? powers : std::vector<double>();
}

double matern(double distance) {
    const double scaled = std::sqrt(3.0) * distance;
    return (1 + scaled) * std::exp(-scaled);
}

/// What rates and noise are thought to be before the values are looked at: logarithms have a normal
/// distribution.
struct Prior {
    explicit Prior(std::size_t values) {
        const double part = std::min(1.0, static_cast<double>(values) / many);
        scale = 1 + part * (scale_of_many - 1);
        width = width_of_few + part * (width_of_many - width_of_few);
    }
    /// Logarithm of its density, but for a constant.
    double operator()(const MemberKernel& kernel) const {
        double sum = density(kernel.noise() / MemberKernel::usual_noise);
        for (std::size_t which = 0; which < kernel.rates().size(); ++which)
            if (const double rate = kernel.rates()[which]; rate > 0) sum += density(rate / (scale * kernel.usual_rates()[which]));
        return sum;
    }
    double density(double ratio) const { return -0.5 * std::pow(std::log(ratio) / width, 2); }

    double scale = 1;
    double width = 1;
};

/// to -= factor * from. The length, a multiple of four, and the restricted pointers let GCC use
/// vector instructions at -O2 already.
void subtract_fours(double* __restrict to, double factor, const double* __restrict from, std::size_t fours) {
    for (std::size_t i = 0; i < 4 * fours; ++i) to[i] -= factor * from[i];
}

/// How likely some values are while one factor of the covariance is varied: the product of the
/// others is kept.
class Evidence {
  public:
    Evidence(const MemberKernel& kernel, std::span<const std::size_t> members, std::span<const double> values)
        : kernel_(kernel), members_(members), values_(values), width_((members.size() + 2 + 3) / 4 * 4) {
        others_.resize(members.size() * width_);
        for (std::size_t i = 0; i < members.size(); ++i)
            for (std::size_t j = i; j < members.size(); ++j) others_[i * width_ + j] = kernel(members[i], members[j]);
    }

    /// From now on no factor changes but this tunable's.
    void vary(std::size_t dimension) {
        keep();
        dimension_ = dimension;
        level_.clear();
        for (const std::size_t member : members_) level_.push_back(kernel_.geometry().coordinate(member, dimension));
        multiply(others_, [](double factor) { return 1 / factor; });
    }
    /// From now on no factor changes at all.
    void keep() {
        if (dimension_) multiply(others_, [](double factor) { return factor; });
        dimension_.reset();
    }

    /// Logarithm, but for a constant; mean and variance of the values are those that suit best. A
    /// Cholesky factorisation, beside which the values and a column of ones are solved.
    double operator()() {
        const std::size_t count = members_.size();
        matrix_ = others_;
        if (dimension_) multiply(matrix_, [](double factor) { return factor; });
        for (std::size_t i = 0; i < count; ++i) {
            double* const row = &matrix_[i * width_];
            row[i] += kernel_.noise();
            row[count] = values_[i];
            row[count + 1] = 1;
        }
        double squares = 0;
        double cross = 0;
        double ones = 0;
        double logarithms = 0;
        for (std::size_t k = 0; k < count; ++k) {
            double* const row = &matrix_[k * width_];
            const double diagonal = std::sqrt(std::max(row[k], least_pivot));
            for (std::size_t j = k; j < count + 2; ++j) row[j] /= diagonal;
            for (std::size_t i = k + 1; i < count; ++i) {
                const std::size_t from = i / 4 * 4;  // what is left of the diagonal is never read
                subtract_fours(&matrix_[i * width_ + from], row[i], row + from, (width_ - from) / 4);
            }
            logarithms += std::log(diagonal);
            squares += row[count] * row[count];
            cross += row[count] * row[count + 1];
            ones += row[count + 1] * row[count + 1];
        }
        const auto values = static_cast<double>(count);
        const double variance = std::max(0.0, squares - cross * cross / ones) / values;
        return -0.5 * values * std::log(variance + least_spread) - logarithms;
    }

  private:
    /// Entries at and right of the diagonal, by the varied factor as it is now.
    template <typename Of>
    void multiply(std::vector<double>& matrix, const Of& of) {
        const std::size_t levels = kernel_.geometry().levels(*dimension_);
        factor_.clear();
        for (std::size_t a = 0; a < levels; ++a)
            for (std::size_t b = 0; b < levels; ++b) factor_.push_back(of(kernel_.factor(*dimension_, a, b)));
        for (std::size_t i = 0; i < level_.size(); ++i) {
            const double* const factor = &factor_[level_[i] * levels];
            for (std::size_t j = i; j < level_.size(); ++j) matrix[i * width_ + j] *= factor[level_[j]];
        }
    }

    const MemberKernel& kernel_;
    std::span<const std::size_t> members_;
    std::span<const double> values_;
    std::size_t width_;  ///< of a row
    std::optional<std::size_t> dimension_;
    std::vector<std::size_t> level_;  ///< of each member, in the varied factor
    std::vector<double> others_;      ///< covariances without the varied factor
    std::vector<double> matrix_;
    std::vector<double> factor_;
};

/// Multiplies or divides one parameter as long as that is an improvement.
template <typename Set, typename Evidence>
void climb(double parameter, double factor, double least, double most, const Set& set, const Evidence& evidence, double& best) {
    for (const double step : {factor, 1 / factor}) {
        bool moved = false;
        while (true) {
            const double next = parameter * step;
            if (next < least || next > most) break;
            set(next);
            const double found = evidence();
            if (found <= best) break;
            best = found;
            parameter = next;
            moved = true;
        }
        set(parameter);
        if (moved) return;
    }
}

}  // namespace

MemberKernel::MemberKernel(const SearchSpace& space, const MemberGeometry& geometry) : geometry_(&geometry) {
    for (std::size_t d = 0; d < geometry.dimensions(); ++d) {
        const auto& values = space.tunables()[d].values;
        const std::size_t levels = geometry.levels(d);
        if (levels < 2) continue;
        Table table{d, levels, {}, {}, {}, std::vector<double>(levels * levels)};
        if (const std::vector<double> numbers = numbers_of(values); numbers.size() > 1) {
            table.place = places(numbers);
            if (const std::vector<std::int64_t> whole = whole_numbers(values); !whole.empty()) {
                table.alignment = alignments(whole, table.place);
                table.power = powers_of_two(whole, table.place);
            }
        }
        tables_.push_back(std::move(table));
    }
    const double usual = usual_range / std::sqrt(static_cast<double>(std::max<std::size_t>(1, tables_.size())));
    for (const Table& table : tables_) {
        usual_rates_.push_back(usual);
        usual_rates_.push_back(table.alignment.empty() ? 0 : usual);
        usual_rates_.push_back(table.power.empty() ? 0 : power_part * usual);
    }
    rates_ = usual_rates_;
    for (std::size_t t = 0; t < tables_.size(); ++t) fill(t);
}

void MemberKernel::set_rate(std::size_t which, double rate) {
    if (rates_[which] == rate) return;
    rates_[which] = rate;
    fill(which / rates_per_table);
}

double MemberKernel::factor(std::size_t dimension, std::size_t a, std::size_t b) const {
    for (const Table& table : tables_)
        if (table.dimension == dimension) return table.value[a * table.size + b];
    return 1;
}

void KernelColumns::add(std::size_t member) {
    for (std::size_t t = 0; t < coordinates_.size(); ++t)
        coordinates_[t].push_back(static_cast<std::uint32_t>(kernel_->geometry_->coordinate(member, kernel_->tables_[t].dimension)));
    ++count_;
}

std::vector<float> KernelColumns::covariances(std::size_t member) const {
    std::vector<float> products(count_, 1);
    for (std::size_t t = 0; t < coordinates_.size(); ++t) {
        const MemberKernel::Table& table = kernel_->tables_[t];
        const double* const row = &table.value[kernel_->geometry_->coordinate(member, table.dimension) * table.size];
        const std::vector<float> factor(row, row + table.size);
        for (std::size_t place = 0; place < count_; ++place) products[place] *= factor[coordinates_[t][place]];
    }
    return products;
}

void MemberKernel::fill(std::size_t t) {
    Table& table = tables_[t];
    const double* const rate = &rates_[rates_per_table * t];
    for (std::size_t a = 0; a < table.size; ++a)
        for (std::size_t b = 0; b < table.size; ++b) {
            // A form without the tunable is as far from every value as the ends of a list are from
            // each other.
            const bool ordered = std::max(a, b) < table.place.size();
            const auto apart = [&](const std::vector<double>& property) {
                return ordered && !property.empty() ? std::abs(property[a] - property[b]) : 0.0;
            };
            const double distance = a == b ? 0.0 : ordered ? apart(table.place) : 1.0;
            const double common = matern(rate[0] * distance) * std::exp(-rate[1] * apart(table.alignment) - rate[2] * apart(table.power));
            table.value[a * table.size + b] = 1 - share + share * common;
        }
}

void fit(MemberKernel& kernel, std::span<const std::size_t> members, std::span<const double> values) {
    const Prior prior(values.size());
    for (std::size_t which = 0; which < kernel.rates().size(); ++which) kernel.set_rate(which, prior.scale * kernel.usual_rates()[which]);
    kernel.set_noise(MemberKernel::usual_noise);
    Evidence evidence(kernel, members, values);
    const auto score = [&] { return evidence() + prior(kernel); };
    double best = score();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (std::size_t which = 0; which < kernel.rates().size(); ++which) {
            const double rate = kernel.rates()[which];
            if (rate <= 0) continue;
            evidence.vary(kernel.dimension(which));
            climb(
                rate, 2, least_rate, most_rate, [&](double next) { kernel.set_rate(which, next); }, score, best);
        }
        evidence.keep();
        climb(
            kernel.noise(), 4, least_noise, most_noise, [&](double next) { kernel.set_noise(next); }, score, best);
    }
}

}  // namespace hone::inline v0_1
