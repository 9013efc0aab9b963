#include "tests/generator/families/logical_step.hpp"

namespace hone::gauss_seidel_test::by_index {
namespace {

using test::PublishedArray;
using test::PublishedArrays;

struct Size {
    explicit Size(const Problem& problem) : nx(problem.integer("nx")), ny(problem.integer("ny")), nz(problem.integer("nz")) {}
    template <typename Visit>
    void for_points(std::int64_t around, const Visit& visit) const {
        for (std::int64_t z = -around; z < nz + around; ++z)
            for (std::int64_t y = -around; y < ny + around; ++y)
                for (std::int64_t x = -around; x < nx + around; ++x) visit(z, y, x);
    }
    std::int64_t nx, ny, nz;
};

// Coefficient k of a point.
double coefficient(const Problem& problem, PublishedArray& s, std::int64_t k, std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::string kind = problem.word("stencil");
    if (kind == "constant") return s(k);
    if (kind == "semi_constant") return s(z, y, k);
    if (kind == "variable") return s(k, z, y, x);
    if (k >= 13) return s(k - 13, z, y, x);
    return s(13 - k, z + k / 9 - 1, y + k / 3 % 3 - 1, x + k % 3 - 1);
}

void fill(const Problem& problem, PublishedArrays& a, test::Draw draw) {
    const Size size(problem);
    size.for_points(1, [&](auto z, auto y, auto x) { a["u"](z, y, x) = draw(); });
    size.for_points(0, [&](auto z, auto y, auto x) { a["f"](z, y, x) = draw(); });
    PublishedArray& s = a["stencil"];
    const std::string kind = problem.word("stencil");
    for (std::int64_t k = 0; k < 27; ++k) {
        const auto drawn = [&] { return k == 13 ? draw(0.3, 0.5) : draw() / 26; };
        if (kind == "constant") s(k) = drawn();
        if (kind == "semi_constant")
            for (std::int64_t z = 0; z < size.nz; ++z)
                for (std::int64_t y = 0; y < size.ny; ++y) s(z, y, k) = drawn();
        if (kind == "variable") size.for_points(0, [&](auto z, auto y, auto x) { s(k, z, y, x) = drawn(); });
        if (kind == "symmetric" && k >= 13) size.for_points(1, [&](auto z, auto y, auto x) { s(k - 13, z, y, x) = drawn(); });
    }
}

void step(const Problem& problem, PublishedArrays& a) {
    const Size size(problem);
    for (std::int64_t colour = 0; colour < 8; ++colour)
        size.for_points(0, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
            if (x % 2 + 2 * (y % 2) + 4 * (z % 2) != colour) return;
            double sum = a["f"](z, y, x);
            for (std::int64_t k = 0; k < 27; ++k)
                if (k != 13) sum -= coefficient(problem, a["stencil"], k, z, y, x) * a["u"](z + k / 9 - 1, y + k / 3 % 3 - 1, x + k % 3 - 1);
            a["u"](z, y, x) = sum * coefficient(problem, a["stencil"], 13, z, y, x);
        });
}

}  // namespace
}  // namespace hone::gauss_seidel_test::by_index

namespace hone::test {

LogicalStep gauss_seidel_27_by_index() {
    using namespace gauss_seidel_test::by_index;
    return {"gauss_seidel_27",
            {"stencil=constant,semi_constant,variable,symmetric nx=13 ny=6 nz=7", "stencil=constant,variable,symmetric nx=8 ny=5 nz=4 pitch=19"},
            fill,
            step};
}

}  // namespace hone::test
