#include "benchmarks/mkl_spmv.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "foundation/error.hpp"

namespace hone::benchmarks {
// Not a namespace without a name: State has members of these types, and g++ 13 fails on that where
// sources are compiled together.
namespace mkl_detail {

// oneMKL's enumerations and structures (mkl_spblas.h).
constexpr int no_transpose = 10, base_zero = 0, row_major = 101, column_major = 102;
struct Description {
    int type = 20;  // general
    int mode = 0, diagonal = 0;
};
using Matrix = void*;

void check(int status, const char* what) {
    if (status != 0) throw Error(what, fmt::format("it failed with status {}", status), "see oneMKL's manual");
}

template <typename Real>
struct Functions {
    int (*create)(Matrix*, int, int, int, int*, int*, int*, Real*) = nullptr;
    int (*mv)(int, Real, Matrix, Description, const Real*, Real, Real*) = nullptr;
    int (*dotmv)(int, Real, Matrix, Description, const Real*, Real, Real*, Real*) = nullptr;
    int (*mm)(int, Real, Matrix, Description, int, const Real*, int, int, Real, Real*, int) = nullptr;

    bool bind(const cuda::SharedLibrary& mkl, const std::string& type) {
        const std::string head = "mkl_sparse_" + type + "_";
        return mkl.bind((head + "create_csr").c_str(), create) && mkl.bind((head + "mv").c_str(), mv) && mkl.bind((head + "dotmv").c_str(), dotmv) &&
               mkl.bind((head + "mm").c_str(), mm);
    }
};

template <typename Real>
Real dot(const spmv::Shape& shape, const Real* x, const Real* y, int component) {
    Real sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (std::int64_t row = 0; row < shape.rows; ++row)
        sum += x[shape.place(row, component, shape.rows)] * y[shape.place(row, component, shape.rows)];
    return sum;
}

}  // namespace mkl_detail

using namespace mkl_detail;

struct MklSpmv::State {
    State(const spmv::Shape& of, void* const* arrays, void* y_data) : shape(of), data(arrays, arrays + 4), y(y_data) {}
    ~State() {
        for (Matrix matrix : {for_vectors, for_all})
            if (matrix != nullptr) destroy(matrix);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    bool bind() {
        const bool functions = shape.precision == Precision::f32 ? single.bind(mkl, "s") : twice.bind(mkl, "d");
        return functions && mkl.bind("mkl_sparse_destroy", destroy) && mkl.bind("mkl_sparse_optimize", optimize) &&
               mkl.bind("mkl_sparse_set_mv_hint", mv_hint) && mkl.bind("mkl_sparse_set_dotmv_hint", dotmv_hint) &&
               mkl.bind("mkl_sparse_set_mm_hint", mm_hint);
    }
    const Functions<float>& functions(float) const { return single; }
    const Functions<double>& functions(double) const { return twice; }
    int layout() const { return shape.interleaved ? row_major : column_major; }
    int leading(std::int64_t count) const { return shape.interleaved ? shape.components : static_cast<int>(count); }

    template <typename Real>
    Matrix matrix() {
        Matrix made = nullptr;
        int* const starts = static_cast<int*>(data[2]);
        check(functions(Real()).create(&made, base_zero, static_cast<int>(shape.rows), static_cast<int>(shape.columns), starts, starts + 1,
                                       static_cast<int*>(data[1]), static_cast<Real*>(data[0])),
              "mkl_sparse_create_csr");
        return made;
    }
    template <typename Real>
    void set_up() {
        constexpr int calls = 1000;
        if (shape.components == 1 || !shape.interleaved) {
            for_vectors = matrix<Real>();
            check((shape.dotted ? dotmv_hint : mv_hint)(for_vectors, no_transpose, Description(), calls), "mkl_sparse_set_mv_hint");
            check(optimize(for_vectors), "mkl_sparse_optimize");
        }
        if (shape.components == 1) return;
        for_all = matrix<Real>();
        check(mm_hint(for_all, no_transpose, Description(), layout(), shape.components, calls), "mkl_sparse_set_mm_hint");
        check(optimize(for_all), "mkl_sparse_optimize");
    }
    template <typename Real>
    void by_vectors() const {
        const auto* const x = static_cast<const Real*>(data[3]);
        for (int c = 0; c < shape.components; ++c) {
            Real* const to = static_cast<Real*>(y) + c * shape.rows;
            Real d = 0;
            if (shape.dotted)
                check(functions(Real()).dotmv(no_transpose, 1, for_vectors, Description(), x + c * shape.columns, 0, to, &d), "mkl_sparse_dotmv");
            else
                check(functions(Real()).mv(no_transpose, 1, for_vectors, Description(), x + c * shape.columns, 0, to), "mkl_sparse_mv");
            benchmark::DoNotOptimize(d);
        }
    }
    template <typename Real>
    void all_at_once() const {
        const auto* const x = static_cast<const Real*>(data[3]);
        auto* const to = static_cast<Real*>(y);
        check(functions(Real()).mm(no_transpose, 1, for_all, Description(), layout(), x, shape.components, leading(shape.columns), 0, to,
                                   leading(shape.rows)),
              "mkl_sparse_mm");
        if (!shape.dotted) return;
        for (int c = 0; c < shape.components; ++c) {
            Real d = dot(shape, x, to, c);
            benchmark::DoNotOptimize(d);
        }
    }
    template <typename Real>
    std::vector<Way> ways() {
        std::vector<Way> all;
        if (for_vectors != nullptr) all.push_back({shape.dotted ? "oneMKL dotmv" : "oneMKL mv", [this] { by_vectors<Real>(); }});
        if (for_all != nullptr) all.push_back({"oneMKL mm", [this] { all_at_once<Real>(); }});
        return all;
    }

    spmv::Shape shape;
    std::vector<void*> data;
    void* y;
    cuda::SharedLibrary mkl;
    Functions<float> single;
    Functions<double> twice;
    int (*destroy)(Matrix) = nullptr;
    int (*optimize)(Matrix) = nullptr;
    int (*mv_hint)(Matrix, int, Description, int) = nullptr;
    int (*dotmv_hint)(Matrix, int, Description, int) = nullptr;
    int (*mm_hint)(Matrix, int, Description, int, int, int) = nullptr;
    Matrix for_vectors = nullptr;
    Matrix for_all = nullptr;
};

MklSpmv::MklSpmv(std::unique_ptr<State> state) : state_(std::move(state)) {
}
MklSpmv::~MklSpmv() = default;

std::unique_ptr<MklSpmv> MklSpmv::make(const spmv::Shape& shape, void* const* arrays, void* y, std::string& missing) {
    auto state = std::make_unique<State>(shape, arrays, y);
    state->mkl = mkl_library();
    if (!state->bind()) {
        missing = "no oneMKL (" + state->mkl.reason() + ")";
        return nullptr;
    }
    shape.precision == Precision::f32 ? state->set_up<float>() : state->set_up<double>();
    return std::unique_ptr<MklSpmv>(new MklSpmv(std::move(state)));
}

std::vector<Way> MklSpmv::ways() {
    return state_->shape.precision == Precision::f32 ? state_->ways<float>() : state_->ways<double>();
}

}  // namespace hone::benchmarks
