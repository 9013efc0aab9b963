#include "tuner/strategies/member_kernel.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "tuner/strategies/gaussian_process.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double share = 0.6;        // of a tunable's variance that depends on the others' values
constexpr double whole_range = 2;    // the rate, times the root of the number of tunables, when an end of a list says little of the other
constexpr double power_part = 0.3;   // of that rate for being a power of two, which matters to few tunables
constexpr double prior_width = 3.2;  // of the logarithms of rates and noise: a factor of 24 either way is nothing unusual
constexpr double least_rate = 0.02;
constexpr double most_rate = 80;
constexpr double least_noise = 1e-5;
constexpr double most_noise = 1;
constexpr int sweeps = 2;

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

/// Whether a property of the values turns along the ordered list; otherwise the order says the same.
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

/// Logarithm of how likely values and parameters are together, but for a constant; mean and variance of the values are those that suit best.
double evidence(const MemberKernel& kernel, std::span<const std::size_t> members, std::span<const double> values) {
    GaussianProcess process(kernel, {});
    for (std::size_t i = 0; i < members.size(); ++i) {
        process.add(members[i]);
        process.tell(i, values[i]);
    }
    const auto count = static_cast<double>(members.size());
    double sum = -0.5 * count * std::log(process.variance() + 1e-12) - process.log_determinant();
    const auto less_usual = [](double value, double usual) { return 0.5 * std::pow(std::log(value / usual) / prior_width, 2); };
    for (std::size_t which = 0; which < kernel.rates().size(); ++which)
        if (const double rate = kernel.rates()[which]; rate > 0) sum -= less_usual(rate, kernel.usual_rates()[which]);
    return sum - less_usual(kernel.noise(), MemberKernel::usual_noise);
}

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
    const double usual = whole_range / std::sqrt(static_cast<double>(std::max<std::size_t>(1, tables_.size())));
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

void MemberKernel::fill(std::size_t t) {
    Table& table = tables_[t];
    const double* const rate = &rates_[rates_per_table * t];
    for (std::size_t a = 0; a < table.size; ++a)
        for (std::size_t b = 0; b < table.size; ++b) {
            // A form without the tunable is as far from every value as the ends of a list are from each other.
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
    for (std::size_t which = 0; which < kernel.rates().size(); ++which) kernel.set_rate(which, kernel.usual_rates()[which]);
    kernel.set_noise(MemberKernel::usual_noise);
    const auto score = [&] { return evidence(kernel, members, values); };
    double best = score();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (std::size_t which = 0; which < kernel.rates().size(); ++which)
            if (const double rate = kernel.rates()[which]; rate > 0)
                climb(
                    rate, 2, least_rate, most_rate, [&](double next) { kernel.set_rate(which, next); }, score, best);
        climb(
            kernel.noise(), 4, least_noise, most_noise, [&](double next) { kernel.set_noise(next); }, score, best);
    }
}

}  // namespace hone::inline v0_1
