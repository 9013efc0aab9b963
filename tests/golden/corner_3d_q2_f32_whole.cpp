// corner_force: products, Q2-Q1 in 3D, f32
// hone emit corner_force result=products dimension=3 order=2 precision=f32 zones=10000 --target cpu --config
//     form=whole,decomposition=closed,lanes=4,points_per_pass=2,threads=all,binding=none
// The same text serves any number of zones.
// per zone: 62144 operations sum-factorised, 3928 bytes (compulsory); this form executes 62144 operations
#include <cmath>

using real = float;
using word = int;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7f800000, exponent_sum = 0x7f000000;
constexpr int dimension = 3, order = 2;
constexpr int nodes_along = 3, energies_along = 2, points_along = 4;  // of an axis
constexpr int nodes = 27, energies = 8, points = 64, columns = 16;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int points_per_pass = 2;  // of a column, whose derivatives a thread sums up together
constexpr int splits = 1;  // threads that share a column of points
constexpr int together = 3;  // components whose sums a zone makes at a time
constexpr real smallest = 1e-30f, largest = __FLT_MAX__;  // below and above which squares or inverses fail
constexpr int lanes = 4, team = 1;

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
static inline value larger(value a, value b) { return a > b ? a : b; }
static inline value smaller(value a, value b) { return a < b ? a : b; }
static inline value magnitude(value a) { return a < every(0) ? -a : a; }
static inline value root(value a) {
    for (int lane = 0; lane < lanes; ++lane) a[lane] = std::sqrt(a[lane]);
    return a;
}
static inline value inverse_root(value a) { return real(1) / root(a); }

// The power of two that makes a positive number one between 1 and 2: exact, and no division.
static inline value scale_of(value a) {
    typedef word words __attribute__((vector_size(lanes * sizeof(word))));
    return (value)(exponent_sum - ((words)a & exponent_bits));
}
static inline void barrier() {}

// A symmetric matrix without its mean and scaled to a determinant of 2 half, |half| <= 1: the eigenvalues are mean +
// spread times those of it.
struct Deviator {
    value entry[3][3], mean, spread, half;
};

static inline
Deviator deviator_of(const value (&matrix)[3][3]) {
    Deviator result;
    value scale = every(0);
    #pragma GCC unroll 32
    for (int i = 0; i < 3; ++i)
        #pragma GCC unroll 32
        for (int j = i; j < 3; ++j) scale = larger(scale, magnitude(matrix[i][j]));
    const value by = scale > every(smallest) ? scale_of(scale) : every(0);  // squares of tiny numbers would vanish
    const value mean = by * (matrix[0][0] + matrix[1][1] + matrix[2][2]) * real(1.0 / 3);
    const value a = by * matrix[0][0] - mean, b = by * matrix[1][1] - mean, c = by * matrix[2][2] - mean;
    const value d = by * matrix[0][1], e = by * matrix[0][2], f = by * matrix[1][2];
    const value squares = (a * a + b * b + c * c + real(2) * (d * d + e * e + f * f)) * real(1.0 / 6);
    const value part = squares > every(smallest) ? inverse_root(squares) : every(0);
    const value entry[3][3] =
        {{part * a, part * d, part * e}, {part * d, part * b, part * f}, {part * e, part * f, part * c}};
    #pragma GCC unroll 32
    for (int i = 0; i < 3; ++i)
        #pragma GCC unroll 32
        for (int j = 0; j < 3; ++j) result.entry[i][j] = entry[i][j];
    result.mean = scale_of(by) * mean;
    result.spread = scale_of(by) * (squares * part);
    result.half = real(0.5) * (entry[0][0] * (entry[1][1] * entry[2][2] - entry[1][2] * entry[1][2]) -
                               entry[0][1] * (entry[0][1] * entry[2][2] - entry[1][2] * entry[0][2]) +
                               entry[0][2] * (entry[0][1] * entry[1][2] - entry[1][1] * entry[0][2]));
    return result;
}

// The eigenvalue that lies apart from the two others, of the deviator times the sign of `half`: the root between
// sqrt(3) and 2 of b^3 - 3 b = 2 r, by Halley's method from a parabola that is within 0.003. No root of a larger
// magnitude, no trigonometry, no loss of digits where eigenvalues meet.
static inline
value separate_eigenvalue(value half) {
    const value r = smaller(magnitude(half), every(1));
    value b = real(1.7320508075688772) + r * (real(1.0 / 3) - real(0.0653841409022) * r);
    #pragma GCC unroll 32
    for (int step = 0; step < 2; ++step) {
        const value f = b * (b * b - real(3)) - real(2) * r, slope = real(3) * b * b - real(3);
        b = b - real(2) * f * slope / (real(2) * slope * slope - real(6) * f * b);
    }
    return b;
}

// An eigenvector of unit length: the largest of the products of rows of matrix - eigenvalue.
static inline
void separate_eigenvector(const value (&entry)[3][3], value eigenvalue, value (&normal)[3]) {
    const value a = entry[0][0] - eigenvalue, b = entry[1][1] - eigenvalue, c = entry[2][2] - eigenvalue;
    const value d = entry[0][1], e = entry[0][2], f = entry[1][2];
    const value products[3][3] = {{d * f - e * b, e * d - a * f, a * b - d * d},
                                  {d * c - e * f, e * e - a * c, a * f - d * e},
                                  {b * c - f * f, f * e - d * c, d * f - b * e}};
    value length = every(0);
    #pragma GCC unroll 32
    for (int i = 0; i < 3; ++i) normal[i] = every(0);
    #pragma GCC unroll 32
    for (int i = 0; i < 3; ++i) {
        const value square = products[i][0] * products[i][0] + products[i][1] * products[i][1]
            + products[i][2] * products[i][2];
        #pragma GCC unroll 32
        for (int j = 0; j < 3; ++j) normal[j] = square > length ? products[i][j] : normal[j];
        length = larger(length, square);
    }
    const value none = length > every(0) ? every(0) : every(1);  // a multiple of the identity has any direction
    const value by = inverse_root(length + none);
    normal[0] = by * normal[0] + none;
    #pragma GCC unroll 32
    for (int i = 1; i < 3; ++i) normal[i] = by * normal[i];
}

// Smallest eigenvalue of a symmetric matrix, with an eigenvector of no particular length: either it is the one that
// lies apart, or the smaller one of the 2 x 2 matrix that is left across that one's direction.
// Source of the deflation: D. Eberly, A Robust Eigensolver for 3 x 3 Symmetric Matrices, Geometric Tools 2014.
static inline
value smallest_eigenpair(const value (&matrix)[3][3], value (&direction)[3]) {
    const Deviator of = deviator_of(matrix);
    const value sign = of.half < every(0) ? every(-1) : every(1);
    const value apart = sign * separate_eigenvalue(of.half);
    value normal[3];
    separate_eigenvector(of.entry, apart, normal);
    const value first = magnitude(normal[0]), second = magnitude(normal[1]);
    const value x = first > second ? -normal[2] : every(0), y = first > second ? every(0) : normal[2],
        z = first > second ? normal[0] : -normal[1];
    const value by = inverse_root(x * x + y * y + z * z);
    const value u[3] = {by * x, by * y, by * z};
    const value w[3] =
        {normal[1] * u[2] - normal[2] * u[1], normal[2] * u[0] - normal[0] * u[2], normal[0] * u[1] - normal[1] * u[0]};
    value uu = every(0), uw = every(0), ww = every(0);
    #pragma GCC unroll 32
    for (int i = 0; i < 3; ++i) {
        const value mu = of.entry[i][0] * u[0] + of.entry[i][1] * u[1] + of.entry[i][2] * u[2];
        const value mw = of.entry[i][0] * w[0] + of.entry[i][1] * w[1] + of.entry[i][2] * w[2];
        uu += u[i] * mu;
        uw += u[i] * mw;
        ww += w[i] * mw;
    }
    const value half = real(0.5) * (uu - ww), radius = root(half * half + uw * uw);
    value along_u = half >= every(0) ? uw : radius - half;
    const value along_w = half >= every(0) ? -(half + radius) : -uw;
    along_u = radius == every(0) ? every(1) : along_u;
    #pragma GCC unroll 32
    for (int i = 0; i < 3; ++i) direction[i] = of.half < every(0) ? normal[i] : along_u * u[i] + along_w * w[i];
    return of.mean + of.spread * (of.half < every(0) ? apart : real(0.5) * (uu + ww) - radius);
}

// 1 / (smallest singular value): the adjugate's largest one over the determinant's magnitude.
static inline
value inverse_singular_value(const value (&)[3][3], const value (&adjugate)[3][3], value inverse_determinant) {
    value scale = every(0), negative[3][3], direction[3];
    #pragma GCC unroll 32
    for (int i = 0; i < 3; ++i)
        #pragma GCC unroll 32
        for (int j = 0; j < 3; ++j) scale = larger(scale, magnitude(adjugate[i][j]));
    const value by = scale > every(smallest) ? scale_of(scale) : every(0);
    #pragma GCC unroll 32
    for (int i = 0; i < 3; ++i)
        #pragma GCC unroll 32
        for (int j = i; j < 3; ++j) {
            const value sum = adjugate[i][0] * by * (adjugate[j][0] * by)
                + adjugate[i][1] * by * (adjugate[j][1] * by) +
                              adjugate[i][2] * by * (adjugate[j][2] * by);
            negative[i][j] = negative[j][i] = -sum;
        }
    return scale_of(by) * root(-smallest_eigenpair(negative, direction)) * magnitude(inverse_determinant);
}

// What all zones share.
struct Settings {
    real h0, cfl, quadratic, linear;
};

// |J| J^-1, [axis][component], and |J|.
static inline
value adjugate_of(const value (&m)[3][3], value (&adjugate)[3][3]) {
    adjugate[0][0] = m[1][1] * m[2][2] - m[1][2] * m[2][1];
    adjugate[0][1] = m[2][1] * m[0][2] - m[2][2] * m[0][1];
    adjugate[0][2] = m[0][1] * m[1][2] - m[0][2] * m[1][1];
    adjugate[1][0] = m[1][2] * m[2][0] - m[1][0] * m[2][2];
    adjugate[1][1] = m[2][2] * m[0][0] - m[2][0] * m[0][2];
    adjugate[1][2] = m[0][2] * m[1][0] - m[0][0] * m[1][2];
    adjugate[2][0] = m[1][0] * m[2][1] - m[1][1] * m[2][0];
    adjugate[2][1] = m[2][0] * m[0][1] - m[2][1] * m[0][0];
    adjugate[2][2] = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    return m[0][0] * adjugate[0][0] + m[0][1] * adjugate[1][0] + m[0][2] * adjugate[2][0];
}

// Smooth step of the viscosity: none where the fluid expands by more than a hair.
static inline
value switched_on(value mu) {
    constexpr real hair = real(1e-12);
    const value y = smaller(larger((mu - hair) * (real(0.5) / hair), every(0)), every(1));
    return real(1) - (real(3) - real(2) * y) * y * y;
}

// The physics at a point. `fields` are the derivatives of position and velocity along the reference axes, `initial` the
// inverse of the Jacobian at the start, [axis][component]. Gives weight |J| sigma J^-T and the bound on 1 / dt without
// cfl, the largest number where the zone is inside out.
static inline
void physics(const value (&fields)[2 * dimension][dimension], const value (&initial)[dimension][dimension],
    value energy, value mass, value gamma,
             const Settings& settings, real weight, real inverse_weight, value (&stress)[dimension][dimension],
                 value& rate) {
    value jacobian[dimension][dimension], adjugate[dimension][dimension], symmetric[dimension][dimension],
        direction[dimension];
    #pragma GCC unroll 32
    for (int c = 0; c < dimension; ++c)
        #pragma GCC unroll 32
        for (int g = 0; g < dimension; ++g) jacobian[c][g] = fields[c][g];
    const value determinant = adjugate_of(jacobian, adjugate);
    const value inverse = real(1) / determinant;
    #pragma GCC unroll 32
    for (int i = 0; i < dimension; ++i)
        #pragma GCC unroll 32
        for (int j = i; j < dimension; ++j) {
            value sum = every(0);
            #pragma GCC unroll 32
            for (int g = 0; g < dimension; ++g)
                sum += fields[dimension + i][g] * adjugate[g][j] + fields[dimension + j][g] * adjugate[g][i];
            symmetric[i][j] = real(0.5) * inverse * sum;
            symmetric[j][i] = symmetric[i][j];
        }
    const value mu = smallest_eigenpair(symmetric, direction);

    // How the direction of the strongest compression was stretched since the start.
    value along[dimension], length = every(0), size = every(0);
    #pragma GCC unroll 32
    for (int g = 0; g < dimension; ++g) {
        along[g] = every(0);
        #pragma GCC unroll 32
        for (int c = 0; c < dimension; ++c) along[g] += initial[g][c] * direction[c];
        size += direction[g] * direction[g];
    }
    #pragma GCC unroll 32
    for (int c = 0; c < dimension; ++c) {
        value component = every(0);
        #pragma GCC unroll 32
        for (int g = 0; g < dimension; ++g) component += jacobian[c][g] * along[g];
        length += component * component;
    }
    const value h = settings.h0 * length * inverse_root(length * size);

    const value density = mass * inverse * inverse_weight;
    const value warm = larger(energy, every(0));
    const value pressure = (gamma - real(1)) * density * warm;
    const value sound = root(gamma * (gamma - real(1)) * warm);
    // viscosity over density
    const value kinematic = h * (settings.quadratic * h * magnitude(mu) + settings.linear * sound * switched_on(mu));
    const value viscosity = density * kinematic;
    #pragma GCC unroll 32
    for (int c = 0; c < dimension; ++c)
        #pragma GCC unroll 32
        for (int g = 0; g < dimension; ++g) {
            value sum = -pressure * adjugate[g][c];
            #pragma GCC unroll 32
            for (int j = 0; j < dimension; ++j) sum += viscosity * symmetric[c][j] * adjugate[g][j];
            stress[c][g] = weight * sum;
        }
    const value per_length = real(order) * inverse_singular_value(jacobian, adjugate, inverse);
    const value bound = per_length * (sound + real(2.5) * kinematic * per_length);
    rate = determinant > every(0) ? (bound < every(largest) ? bound : every(largest)) : every(largest);
}

// Of an axis: values and slopes of the nodal functions, values of the Bernstein functions at the points, and the
// points' weights.
static constexpr real basis_table[4][3] = {
    {real(0.80134602936993082), real(0.25844425285419076), real(-0.059790282224121687)},
    {real(0.22778407679095208), real(0.88441289000295209), real(-0.11219696679390416)},
    {real(-0.11219696679390416), real(0.88441289000295209), real(0.22778407679095208)},
    {real(-0.059790282224121728), real(0.25844425285419098), real(0.80134602936993071)},
};
static constexpr real slope_table[4][3] = {
    {real(-2.7222726231881049), real(3.4445452463762098), real(-0.72227262318810515)},
    {real(-1.6799620871697125), real(1.359924174339425), real(0.32003791283028749)},
    {real(-0.32003791283028749), real(-1.359924174339425), real(1.6799620871697125)},
    {real(0.72227262318810492), real(-3.4445452463762098), real(2.7222726231881049)},
};
static constexpr real bernstein_table[4][2] = {
    {real(0.93056815579702623), real(0.069431844202973714)},
    {real(0.66999052179242813), real(0.33000947820757187)},
    {real(0.33000947820757187), real(0.66999052179242813)},
    {real(0.069431844202973769), real(0.93056815579702623)},
};
static constexpr real weight_table[4] =
    {real(0.17392742256872687), real(0.32607257743127305), real(0.32607257743127305), real(0.17392742256872687)};
static constexpr real inverse_weight_table[4] =
    {real(5.7495246306248982), real(3.0668018999873485), real(3.0668018999873485), real(5.7495246306248982)};

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

// The way back: to(place, sum over q of first(q, i) one(q) + second(q, i) two(q)).
template <Table first, Table second, int inner, int outer, typename One, typename Two, typename To>
static inline
void from_points(int lane, One one, Two two, To to) {
    constexpr int length = length_of<first>;
    for (int line = lane; line < inner * outer; line += team) {
        const int start = line / inner * (points_along * inner) + line % inner,
            target = line / inner * (length * inner) + line % inner;
        value sum[length];
        #pragma GCC unroll 32
        for (int i = 0; i < length; ++i) sum[i] = every(0);
        #pragma GCC unroll 32
        for (int q = 0; q < points_along; ++q) {
            const value a = one(start + q * inner), b = two(start + q * inner);
            #pragma GCC unroll 32
            for (int i = 0; i < length; ++i) sum[i] += entry<first>(q, i) * a + entry<second>(q, i) * b;
        }
        #pragma GCC unroll 32
        for (int i = 0; i < length; ++i) to(target + i * inner, sum[i]);
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
    constexpr int half = fields * nodes_along * nodes_along * points_along;
    to_points<Table::basis, Table::slope, 1,
        fields * nodes_along * nodes_along>(lane, from, [&](int i, value held, value slope) {
        lines[i] = held;
        lines[half + i] = slope;
    });
    barrier();
    to_points<Table::basis, Table::slope, points_along, fields * nodes_along>(
        lane, [&](int i) { return lines[i]; },
        [&](int i, value held, value slope) {
            planes[plane(i, 2)] = held;
            planes[plane(i, 1)] = slope;
        });
    to_points<Table::basis, Table::basis, points_along, fields * nodes_along>(
        lane, [&](int i) { return lines[half + i]; }, [&](int i, value held, value) { planes[plane(i, 0)] = held; });
    barrier();
}

// Energies, summed along all axes but the last: energy_plane[coefficient along the last axis][column].
template <typename From>
static inline
void gather_energy(int lane, From from, value* lines, value* energy_plane) {
    to_points<Table::bernstein, Table::bernstein, 1, energies_along * energies_along>(
        lane, from, [&](int i, value held, value) { lines[i] = held; });
    barrier();
    to_points<Table::bernstein, Table::bernstein, points_along, energies_along>(
        lane, [&](int i) { return lines[i]; }, [&](int i, value held, value) { energy_plane[i] = held; });
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

// The physics at the points; F.1, axis by axis; F^T w, axis by axis.
extern "C" void
corner_force_whole(const real* __restrict x, const real* __restrict v, const real* __restrict e,
    const real* __restrict initial_inverse, const real* __restrict mass, const real* __restrict gamma,
    const real* __restrict settings, const real* __restrict w, real* __restrict force, real* __restrict work,
    real* __restrict dt, int first, int last) {
    #pragma omp parallel
    {
        constexpr int lane = 0;
        #pragma omp for schedule(static)
        for (long long zone = first; zone < last; zone += lanes) {
            const Place at{zone, last - zone < lanes ? static_cast<int>(last - zone) : lanes};
            alignas(64) value buffer[1768];
            // of a zone
            constexpr int planes_words = 864, lines_words = 216, energy_plane_words = 32, energy_lines_words = 16,
                powers_words = 64;
            value* const planes = buffer;
            value* const lines = planes + planes_words;
            value* const energy_plane = lines + lines_words;
            value* const energy_lines = energy_plane + energy_plane_words;
            value* const powers = energy_lines + energy_lines_words;
            value* const kept = powers + powers_words;
            {
                gather_planes<dimension>(lane, [&](int i) { return fetch<vector_words>(x, at, i); }, lines, planes);
                gather_planes<dimension>(lane, [&](int i) { return fetch<vector_words>(v, at, i); }, lines,
                                         planes + dimension * dimension * nodes_along * columns);
                gather_energy(lane, [&](int i) { return fetch<energies>(e, at, i); }, energy_lines, energy_plane);
                const Settings shared_by_all{settings[0], settings[1], settings[2], settings[3]};
                const value gamma_here = fetch<1>(gamma, at, 0);
                value rate = every(0);
                for (int item = lane; item < columns * splits; item += team) {
                    const int column = item % columns, begin = item / columns * (points_along / splits);
                    const real weight_across =
                        weight_table[column % points_along] * weight_table[column / points_along];
                    const real inverse_across =
                        inverse_weight_table[column % points_along] * inverse_weight_table[column / points_along];
                    #pragma GCC unroll 1
                    for (int q = begin; q < begin + points_along / splits; q += points_per_pass) {
                        value fields[points_per_pass][2 * dimension][dimension];
                        derivatives<2 * dimension, points_per_pass>(planes, column, q, fields);
                        #pragma GCC unroll 32
                        for (int s = 0; s < points_per_pass; ++s) {
                            const int point = (q + s) * columns + column;
                            value energy = every(0);
                            #pragma GCC unroll 32
                            for (int j = 0; j < energies_along; ++j)
                                energy += bernstein_table[q + s][j] * energy_plane[j * columns + column];
                            value initial[dimension][dimension], made[dimension][dimension], bound;
                            #pragma GCC unroll 32
                            for (int g = 0; g < dimension; ++g)
                                #pragma GCC unroll 32
                                for (int c = 0; c < dimension; ++c)
                                    initial[g][c] =
                                        fetch<stress_words>(initial_inverse, at, (g * dimension + c) * points + point);
                            physics(fields[s], initial, energy, fetch<points>(mass, at, point), gamma_here,
                                shared_by_all, weight_across * weight_table[q + s],
                                    inverse_across * inverse_weight_table[q + s], made, bound);
                            rate = larger(rate, bound);
                            #pragma GCC unroll 32
                            for (int i = 0; i < dimension * dimension; ++i) {
                                kept[i * points + point] = made[i / dimension][i % dimension];
                            }
                        }
                    }
                }
                const auto put_step = [&] {
                    const value bounded = smaller(every(shared_by_all.cfl) / rate, every(largest));
                    put<1>(dt, at, 0, rate > every(0) ? (rate < every(largest) ? bounded : every(0)) : every(largest));
                };
                put_step();
            }
            const auto stress_at = [&](int i) { return kept[i]; };
            barrier();
            for (int begin = 0; begin < dimension; begin += together) {
                const int stress_start = begin * dimension * points, force_start = begin * nodes;
                // The last axis: planes[component][axis][node][column].
                from_points<Table::basis, columns, together * 2>(
                    lane, [&](int i) {
                        return stress_at(stress_start + i / (2 * points) * (3 * points) + i % (2 * points));
                    },
                    [&](int i, value sum) {
                        constexpr int words = nodes_along * columns;
                        planes[i / (2 * words) * (3 * words) + i % (2 * words)] = sum;
                    });
                from_points<Table::slope, columns, together>(
                    lane, [&](int i) {
                        return stress_at(stress_start + i / points * (3 * points) + 2 * points + i % points);
                    },
                    [&](int i, value sum) { planes[plane(i, 2)] = sum; });
                barrier();
                // The second: two arrays of lines, for slopes and values along the first.
                constexpr int half = together * nodes_along * nodes_along * points_along;
                from_points<Table::basis, points_along, together * nodes_along>(
                    lane, [&](int i) { return planes[plane(i, 0)]; }, [&](int i, value sum) { lines[i] = sum; });
                from_points<Table::slope, Table::basis, points_along, together * nodes_along>(
                    lane, [&](int i) { return planes[plane(i, 1)]; }, [&](int i) { return planes[plane(i, 2)]; },
                        [&](int i, value sum) {
                        lines[half + i] = sum;
                    });
                barrier();
                from_points<Table::slope, Table::basis, 1, together * nodes_along * nodes_along>(
                    lane, [&](int i) { return lines[i]; }, [&](int i) { return lines[half + i]; },
                        [&](int i, value sum) {
                        put<vector_words>(force, at, force_start + i, sum);
                    });
            }
            barrier();
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
                from_points<Table::bernstein, points_along, energies_along>(
                    lane, [&](int i) { return energy_plane[i]; }, [&](int i, value sum) { energy_lines[i] = sum; });
                barrier();
                from_points<Table::bernstein, 1, energies_along * energies_along>(
                    lane, [&](int i) { return energy_lines[i]; }, [&](int i, value sum) {
                        put<energies>(work, at, i, sum);
                    });
            }
        }
    }
}

