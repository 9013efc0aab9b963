// corner_force: energy, Q1-Q0 in 2D, f64
// hone emit corner_force result=energy dimension=2 order=1 precision=f64 zones=10000 --target cpu --config
//     form=separate,lanes=8,points_per_pass=1,threads=all,binding=none
// The same text serves any number of zones.
// per zone: 172 operations sum-factorised, 200 bytes (compulsory); this form executes 172 operations
using real = double;
constexpr int dimension = 2;
constexpr int nodes_along = 2, energies_along = 1, points_along = 2;  // of an axis
constexpr int nodes = 4, energies = 1, points = 4, columns = 2;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int points_per_pass = 1;  // of a column, whose derivatives a thread sums up together
constexpr int splits = 1;  // threads that share a column of points
constexpr int lanes = 8, team = 1;

// What a thread computes with: a number of each of `lanes` neighbouring zones.
typedef real value __attribute__((vector_size(lanes * sizeof(real))));

// Neighbouring zones. Where there is none, the last one's data take its place, and nothing is written.
struct Place {
    long long zone;
    int present;
};

// Word number i of the zones in an array of `words` for each.
template <int words>
static inline value fetch(const real* array, const Place& at, int i) {
    const real* const from = array + at.zone * words + i;
    value result{};
    for (int lane = 0; lane < lanes; ++lane) result[lane] = from[(lane < at.present ? lane : at.present - 1) * words];
    return result;
}

template <int words>
static inline void put(real* array, const Place& at, int i, value x) {
    real* const to = array + at.zone * words + i;
    for (int lane = 0; lane < at.present; ++lane) to[lane * words] = x[lane];
}

static inline value every(real x) { return value{} + x; }
static inline void barrier() {}

// Of an axis: values and slopes of the nodal functions, values of the Bernstein functions at the points, and the
// points' weights.
static constexpr real basis_table[2][2] = {
    {real(0.78867513459481287), real(0.21132486540518713)},
    {real(0.21132486540518713), real(0.78867513459481287)},
};
static constexpr real slope_table[2][2] = {
    {real(-1), real(1)},
    {real(-1), real(1)},
};
static constexpr real bernstein_table[2][1] = {
    {real(1)},
    {real(1)},
};

enum class Table { basis, slope, bernstein };
template <Table table>
constexpr int length_of = table == Table::bernstein ? energies_along : nodes_along;

template <Table table>
static inline
real entry(int point, int i) {
    if constexpr (table == Table::basis)
        return basis_table[point][i];
    else if constexpr (table == Table::slope)
        return slope_table[point][i];
    else
        return bernstein_table[point][i];
}

// Contracts lines of an array along one axis with two tables: to(place, sum over i of first(q, i) from(i), the same of
// second). Neighbours of a line lie `inner` apart, and there are `outer` times `inner` lines, which the team deals out
// in turn.
template <Table first, Table second, int inner, int outer, typename From, typename To>
static inline
void to_points(int lane, From from, To to) {
    constexpr int length = length_of<first>;
    for (int line = lane; line < inner * outer; line += team) {
        const int start = line / inner * (length * inner) + line % inner,
            target = line / inner * (points_along * inner) + line % inner;
        value held[length];
        #pragma GCC unroll 32
        for (int i = 0; i < length; ++i) held[i] = from(start + i * inner);
        #pragma GCC unroll 32
        for (int q = 0; q < points_along; ++q) {
            value one = every(0), two = every(0);
            #pragma GCC unroll 32
            for (int i = 0; i < length; ++i) {
                one += entry<first>(q, i) * held[i];
                if constexpr (first != second) two += entry<second>(q, i) * held[i];
            }
            to(target + q * inner, one, two);
        }
    }
}

// The way back from one array.
template <Table table, int inner, int outer, typename From, typename To>
static inline
void from_points(int lane, From from, To to) {
    constexpr int length = length_of<table>;
    for (int line = lane; line < inner * outer; line += team) {
        const int start = line / inner * (points_along * inner) + line % inner,
            target = line / inner * (length * inner) + line % inner;
        value sum[length];
        #pragma GCC unroll 32
        for (int i = 0; i < length; ++i) sum[i] = every(0);
        #pragma GCC unroll 32
        for (int q = 0; q < points_along; ++q) {
            const value a = from(start + q * inner);
            #pragma GCC unroll 32
            for (int i = 0; i < length; ++i) sum[i] += entry<table>(q, i) * a;
        }
        #pragma GCC unroll 32
        for (int i = 0; i < length; ++i) to(target + i * inner, sum[i]);
    }
}

// Where number i of [field][node along the last axis][column] lies in [field][axis][node][column].
static inline
int plane(int i, int axis) {
    return i / (nodes_along * columns) * (dimension * nodes_along * columns) + axis * (nodes_along * columns)
        + i % (nodes_along * columns);
}

// Nodal values of `fields` fields, from(field, node) in one row, summed along all axes but the last:
// planes[field][axis][node][column] is what becomes the derivative along `axis`. `lines` is for half-way results.
template <int fields, typename From>
static inline
void gather_planes(int lane, From from, value* lines, value* planes) {
    to_points<Table::basis, Table::slope, 1, fields * nodes_along>(lane, from, [&](int i, value held, value slope) {
        planes[plane(i, 1)] = held;
        planes[plane(i, 0)] = slope;
    });
    barrier();
}

// Derivatives of `fields` fields along the reference axes at points [q, q + count) of a column.
template <int fields, int count>
static inline
void derivatives(const value* planes, int column, int q, value (&result)[count][fields][dimension]) {
    #pragma GCC unroll 32
    for (int f = 0; f < fields; ++f)
        #pragma GCC unroll 32
        for (int g = 0; g < dimension; ++g) {
            #pragma GCC unroll 32
            for (int s = 0; s < count; ++s) result[s][f][g] = every(0);
            #pragma GCC unroll 32
            for (int i = 0; i < nodes_along; ++i) {
                const value held = planes[((f * dimension + g) * nodes_along + i) * columns + column];
                #pragma GCC unroll 32
                for (int s = 0; s < count; ++s)
                    result[s][f][g] += (g == dimension - 1 ? slope_table : basis_table)[q + s][i] * held;
            }
        }
}

// F^T w, axis by axis.
extern "C" void
corner_force_work(const real* __restrict w, const real* __restrict stress, real* __restrict work, int first, int last) {
    #pragma omp parallel
    {
        constexpr int lane = 0;
        #pragma omp for schedule(static)
        for (long long zone = first; zone < last; zone += lanes) {
            const Place at{zone, last - zone < lanes ? static_cast<int>(last - zone) : lanes};
            alignas(64) value buffer[22];
            constexpr int planes_words = 16, energy_plane_words = 2;  // of a zone
            value* const planes = buffer;
            value* const energy_plane = planes + planes_words;
            value* const powers = energy_plane + energy_plane_words;
            value* const lines = nullptr;
            const auto stress_at = [&](int i) { return fetch<stress_words>(stress, at, i); };
            {
                gather_planes<dimension>(lane, [&](int i) { return fetch<vector_words>(w, at, i); }, lines, planes);
                for (int item = lane; item < columns * splits; item += team) {
                    const int column = item % columns, begin = item / columns * (points_along / splits);
                    #pragma GCC unroll 1
                    for (int q = begin; q < begin + points_along / splits; q += points_per_pass) {
                        value fields[points_per_pass][dimension][dimension];
                        derivatives<dimension, points_per_pass>(planes, column, q, fields);
                        #pragma GCC unroll 32
                        for (int s = 0; s < points_per_pass; ++s) {
                            const int point = (q + s) * columns + column;
                            value power = every(0);
                            #pragma GCC unroll 32
                            for (int i = 0; i < dimension * dimension; ++i)
                                power += stress_at(i * points + point) * fields[s][i / dimension][i % dimension];
                            powers[point] = power;
                        }
                    }
                }
                barrier();
                from_points<Table::bernstein, columns, 1>(
                    lane, [&](int i) { return powers[i]; }, [&](int i, value sum) { energy_plane[i] = sum; });
                barrier();
                from_points<Table::bernstein, 1, energies_along>(
                    lane, [&](int i) { return energy_plane[i]; }, [&](int i, value sum) {
                        put<energies>(work, at, i, sum);
                    });
            }
        }
    }
}

