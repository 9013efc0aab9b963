#include "tests/generator/families/logical_step.hpp"

namespace hone::batched_gemm_test::by_index {
namespace {

using test::PublishedArray;
using test::PublishedArrays;

// One matrix (or vector, of one column) of an array of many, or the one that all products have:
// column-major. With a gap behind it, its values have one index.
class Matrix {
  public:
    Matrix(PublishedArray& array, bool shared, std::int64_t rows) : array_(array), shared_(shared), rows_(rows) {}
    double& operator()(std::int64_t i, std::int64_t row, std::int64_t column) {
        const std::size_t indices = array_.spec().strides.size() - (shared_ ? 0 : 1);
        if (indices == 2) return shared_ ? array_(column, row) : array_(i, column, row);
        return shared_ ? array_(column * rows_ + row) : array_(i, column * rows_ + row);
    }

  private:
    PublishedArray& array_;
    bool shared_;
    std::int64_t rows_;
};

// C = op(A) op(B), of which y = op(A) x is the case of one column.
struct Product {
    Product(const Problem& problem, PublishedArrays& arrays)
        : of_vectors(problem.family() == "batched_gemv"),
          transposed_a(problem.word("form")[0] == 't'),
          transposed_b(!of_vectors && problem.word("form")[1] == 't'),
          shared(problem.word(of_vectors ? "x" : "b") == "shared"),
          scaled(problem.word("update") == "scale"),
          batch(problem.integer("batch")),
          m(problem.integer(of_vectors && transposed_a ? "n" : "m")),
          n(of_vectors ? 1 : problem.integer("n")),
          k(of_vectors ? problem.integer(transposed_a ? "m" : "n") : problem.integer("k")),
          a(arrays["a"], false, transposed_a ? k : m),
          b(arrays[of_vectors ? "x" : "b"], shared, transposed_b ? n : k),
          c(arrays[of_vectors ? "y" : "c"], false, m),
          all(arrays) {}

    double& of_a(std::int64_t i, std::int64_t row, std::int64_t l) { return transposed_a ? a(i, l, row) : a(i, row, l); }
    double& of_b(std::int64_t i, std::int64_t l, std::int64_t column) { return transposed_b ? b(i, column, l) : b(i, l, column); }

    void fill(test::Draw draw) {
        for (std::int64_t i = 0; i < batch; ++i) {
            for (std::int64_t row = 0; row < m; ++row)
                for (std::int64_t l = 0; l < k; ++l) of_a(i, row, l) = draw();
            for (std::int64_t l = 0; l < k; ++l)
                for (std::int64_t column = 0; column < n; ++column) of_b(i, l, column) = draw();
            for (std::int64_t row = 0; row < m && scaled; ++row)
                for (std::int64_t column = 0; column < n; ++column) c(i, row, column) = draw();
        }
        for (int i = 0; i < 2 && scaled; ++i) all["factors"](i) = draw();
    }
    void run() {
        for (std::int64_t i = 0; i < batch; ++i)
            for (std::int64_t row = 0; row < m; ++row)
                for (std::int64_t column = 0; column < n; ++column) {
                    double sum = 0;
                    for (std::int64_t l = 0; l < k; ++l) sum += of_a(i, row, l) * of_b(i, l, column);
                    double& to = c(i, row, column);
                    to = scaled ? all["factors"](0) * sum + all["factors"](1) * to : sum;
                }
    }

    bool of_vectors, transposed_a, transposed_b, shared, scaled;
    std::int64_t batch, m, n, k;
    Matrix a, b, c;
    PublishedArrays& all;
};

test::LogicalStep products(const char* family, std::vector<std::string> problems) {
    return {family, std::move(problems),
            [](const Problem& problem, PublishedArrays& arrays, test::Draw draw) { Product(problem, arrays).fill(draw); },
            [](const Problem& problem, PublishedArrays& arrays) { Product(problem, arrays).run(); }};
}

}  // namespace
}  // namespace hone::batched_gemm_test::by_index

namespace hone::test {

LogicalStep batched_gemm_by_index() {
    return batched_gemm_test::by_index::products("batched_gemm", {"form=nn,nt,tn,tt b=each,shared update=set,scale m=5 n=3 k=4 batch=7",
                                                                  "form=nt,tn b=each update=scale m=3 n=5 k=2 batch=5 gap_a=3 gap_b=1 gap_c=2"});
}

LogicalStep batched_gemv_by_index() {
    return batched_gemm_test::by_index::products("batched_gemv", {"form=n,t x=each,shared update=set,scale m=5 n=3 batch=7",
                                                                  "form=n,t x=each update=scale m=3 n=5 batch=5 gap_a=3 gap_x=1 gap_y=2"});
}

}  // namespace hone::test
