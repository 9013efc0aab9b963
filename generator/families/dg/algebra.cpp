#include "generator/families/dg/algebra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "generator/value_lists.hpp"

namespace hone::inline v0_1::dg {
namespace {

const std::vector<std::string> gradients{"rx", "ry", "rz", "sx", "sy", "sz", "tx", "ty", "tz"};
const std::vector<std::string> flat_gradients{"rx", "ry", "sx", "sy"};
const std::vector<std::string> tangents_and_j{"xr", "yr", "zr", "xs", "ys", "zs", "xt", "yt", "zt", "J"};

// Component `i` of gradient or tangent `a` in a list of names.
const std::string& component(const std::vector<std::string>& names, int a, int i) {
    return names[static_cast<std::size_t>(3 * a + i)];
}

std::vector<Sum> unchanged(int fields) {
    std::vector<Sum> transform;
    transform.reserve(static_cast<std::size_t>(fields));
    for (int f = 0; f < fields; ++f) transform.push_back({{1, "", f}});
    return transform;
}

// The two curls: fields 0..2 (H) drive 3..5 (E) with sign +, fields 3..5 drive 0..2 with sign -.
Algebra maxwell(bool covariant) {
    Algebra result;
    result.fields = {"Hx", "Hy", "Hz", "Ex", "Ey", "Ez"};
    result.combine.resize(6);
    if (!covariant) result.transform = unchanged(6);
    for (int from = 0; from < 2; ++from) {
        const int sign = from == 0 ? 1 : -1;
        const int into = 3 * (1 - from);
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3;
            const int k = (i + 2) % 3;
            Sum& rhs = result.combine[static_cast<std::size_t>(into + i)];
            if (covariant) {
                Sum along;
                for (int x = 0; x < 3; ++x) along.push_back({1, component(tangents_and_j, i, x), 3 * from + x});
                result.transform.push_back(along);
                result.products.push_back({3 * from + i, j, 3 * from + k, 1});
                result.products.push_back({3 * from + i, k, 3 * from + j, -1});
                for (int a = 0; a < 3; ++a) rhs.push_back({sign, component(tangents_and_j, a, i), 3 * from + a});
            } else {
                for (int a = 0; a < 3; ++a) {
                    result.products.push_back({9 * from + 3 * i + a, a, 3 * from + i, 1});
                    rhs.push_back({sign, component(gradients, a, j), 9 * from + 3 * k + a});
                    rhs.push_back({-sign, component(gradients, a, k), 9 * from + 3 * j + a});
                }
            }
        }
    }
    result.tangents = covariant;
    result.factors = covariant ? tangents_and_j : gradients;
    if (covariant) result.combine_scale.push_back('J');
    result.accumulators = covariant ? 6 : 18;
    return result;
}

// Field 0 is the pressure, 1..3 the velocity.
Algebra acoustics(bool covariant) {
    Algebra result;
    result.fields = {"p", "u", "v", "w"};
    result.factors = gradients;
    result.transform = unchanged(4);
    result.combine.resize(4);
    const int gradient = covariant ? 1 : 9;  // first accumulator of grad p
    if (covariant) result.combine[0].push_back({-1, "", 0});
    for (int a = 0; a < 3; ++a) {
        result.products.push_back({gradient + a, a, 0, 1});
        if (covariant) {
            result.products.push_back({0, a, 1 + a, 1});
            result.transform[static_cast<std::size_t>(1 + a)].clear();
        }
        for (int i = 0; i < 3; ++i) {
            if (covariant) {
                result.transform[static_cast<std::size_t>(1 + a)].push_back({1, component(gradients, a, i), 1 + i});
            } else {
                result.products.push_back({3 * i + a, a, 1 + i, 1});
                result.combine[0].push_back({-1, component(gradients, a, i), 3 * i + a});
            }
            result.combine[static_cast<std::size_t>(1 + i)].push_back({-1, component(gradients, a, i), gradient + a});
        }
    }
    result.accumulators = covariant ? 4 : 12;
    return result;
}

// Hx, Hy, Ez. Covariant: dHy/dx - dHx/dy = D_r (rx Hy - ry Hx) + D_s (sx Hy - sy Hx), because the
// gradients of r and s are constant.
Algebra maxwell_tm(bool covariant) {
    Algebra result;
    result.fields = {"Hx", "Hy", "Ez"};
    result.factors = flat_gradients;
    result.combine.resize(3);
    if (!covariant) result.transform = unchanged(3);
    const int gradient = covariant ? 1 : 4;  // first accumulator of grad Ez
    if (covariant) result.combine[2].push_back({1, "", 0});
    for (int a = 0; a < 2; ++a) {
        const std::string& x = flat_gradients[static_cast<std::size_t>(2 * a)];
        const std::string& y = flat_gradients[static_cast<std::size_t>(2 * a + 1)];
        if (covariant) {
            result.transform.push_back({{1, x, 1}, {-1, y, 0}});
            result.products.push_back({0, a, a, 1});
        } else {
            for (int f = 0; f < 2; ++f) result.products.push_back({2 * f + a, a, f, 1});
            result.combine[2].push_back({1, x, 2 + a});
            result.combine[2].push_back({-1, y, a});
        }
        result.products.push_back({gradient + a, a, 2, 1});
        result.combine[0].push_back({-1, y, gradient + a});
        result.combine[1].push_back({1, x, gradient + a});
    }
    if (covariant) result.transform.push_back({{1, "", 2}});
    result.accumulators = covariant ? 3 : 6;
    return result;
}

// Fields and accumulators 0 to 2 and 0 to half of `both` are the first pass's, so that its indices
// hold for either.
Algebra first_curl(const Algebra& both) {
    Algebra result = both;
    result.fields.resize(3);
    result.transform.resize(3);
    result.accumulators = both.accumulators / 2;
    std::erase_if(result.products, [&](const Product& product) { return product.accumulator >= result.accumulators; });
    result.combine.assign(both.combine.begin() + 3, both.combine.end());
    result.combine_scale = "scale";
    result.pass_scale = both.combine_scale.empty() ? "real(1)" : both.combine_scale;
    return result;
}

}  // namespace

bool Algebra::transforms() const {
    return std::any_of(transform.begin(), transform.end(), [](const Sum& sum) { return sum.size() > 1; });
}

int Algebra::operations_per_node() const {
    int operations = combine_scale.empty() ? 0 : field_count();
    for (const auto* sums : {&transform, &combine})
        for (const Sum& sum : *sums)
            if (sum.size() > 1) operations += static_cast<int>(2 * sum.size()) - 1;
    return operations;
}

const Algebra& algebra(const std::string& equation, const std::string& name) {
    static const std::array maxwells{maxwell(false), maxwell(true)};
    static const std::array acoustic{acoustics(false), acoustics(true)};
    static const std::array flat{maxwell_tm(false), maxwell_tm(true)};
    const auto& algebras = equation == "maxwell_3d" ? maxwells : equation == "maxwell_2d_tm" ? flat : acoustic;
    return algebras[name == "covariant" ? 1 : 0];
}

Tunable algebra_tunable() {
    return {.name = "algebra",
            .help = "covariant: fewer products on transformed fields; cartesian: every component along r, s, t",
            .values = words({"covariant", "cartesian"}),
            .former_name = "form"};
}

const Algebra& one_curl(const std::string& name) {
    // Never destroyed: a thread of online tuning may be the first to ask, while the program exits.
    static const auto& curls = *new std::array{first_curl(algebra("maxwell_3d", "cartesian")), first_curl(algebra("maxwell_3d", "covariant"))};
    return curls[name == "covariant" ? 1 : 0];
}

Block name_factors(const Algebra& algebra, const std::string& type) {
    std::string line;
    for (std::size_t i = 0; i < algebra.factors.size(); ++i) line += fmt::format("{}{} = own[{}]", i == 0 ? "" : ", ", algebra.factors[i], i);
    Block block;
    block.text("const " + type + " " + line + ";");
    return block;
}

Block name_combine_factors(const Algebra& algebra) {
    Block block = name_factors(algebra);
    if (!algebra.pass_scale.empty()) block.line("const real scale = pass == 0 ? {0} : -{0};  // dE/dt = curl H, dH/dt = -curl E", algebra.pass_scale);
    return block;
}

Block element_factors(const Algebra& algebra, const std::string& factor, const std::string& type) {
    Block block;
    if (!algebra.tangents) {
        block.text("for (int i = 0; i < factors; ++i) " + factor + "[i] = g[i];");
        return block;
    }
    block.text("// Tangents over J: x_r / J = grad s x grad t, and cyclic; 1 / J = grad r . (x_r / J).");
    block.open("for (int a = 0; a < 3; ++a)");
    block.line("const {}* const b = g + 3 * ((a + 1) % 3);", type);
    block.line("const {}* const c = g + 3 * ((a + 2) % 3);", type);
    block.text("for (int i = 0; i < 3; ++i) " + factor + "[3 * a + i] = b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3];");
    block.close();
    block.text(factor + "[9] = " + (type == "real" ? "real(1)" : "1") + " / (g[0] * " + factor + "[0] + g[1] * " + factor + "[1] + g[2] * " + factor +
               "[2]);");
    return block;
}

}  // namespace hone::inline v0_1::dg
