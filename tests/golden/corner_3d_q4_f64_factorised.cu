// corner_force: corner, Q4-Q3 in 3D, f64
// hone emit corner_force result=corner dimension=3 order=4 precision=f64 zones=10000 --target cuda --config
//     form=factorised,gradients=fused,decomposition=closed,zones_per_block=1,splits=2,points_per_pass=1,min_blocks=1
// The same text serves any number of zones.
// per zone: 1613728 operations sum-factorised, 242488 bytes (compulsory); this form executes 1613728 operations
using real = double;
using word = long long;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7ff0000000000000ll, exponent_sum = 0x7fe0000000000000ll;
constexpr int dimension = 3, order = 4;
constexpr int nodes_along = 5, energies_along = 4, points_along = 8;  // of an axis
constexpr int nodes = 125, energies = 64, points = 512, columns = 64;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int corner_words = energies * vector_words;
constexpr int points_per_pass = 1;  // of a column, whose derivatives a thread sums up together
constexpr int splits = 2;  // threads that share a column of points
constexpr int together = 3;  // components whose sums a zone makes at a time
constexpr real smallest = 1e-290, largest = 1.7976931348623157e+308;  // below and above which squares or inverses fail
constexpr int team = columns * splits, zones_per_block = 1, threads_per_block = team * zones_per_block,
    blocks_per_multiprocessor = 1;

// What a thread computes with: a number of one zone.
using value = real;

// A zone. Where there is none, the last one's data take its place, and nothing is written.
struct Place {
    long long zone;
    bool present;
};

// Word number i of the zone in an array of `words` for each.
template <int words>
__device__ __forceinline__ value fetch(const real* array, const Place& at, int i) {
    return array[at.zone * words + i];
}

template <int words>
__device__ __forceinline__ void put(real* array, const Place& at, int i, value x) {
    if (at.present) array[at.zone * words + i] = x;
}

__device__ __forceinline__ value every(real x) { return x; }
__device__ __forceinline__ value larger(value a, value b) { return a > b ? a : b; }
__device__ __forceinline__ value smaller(value a, value b) { return a < b ? a : b; }
__device__ __forceinline__ value magnitude(value a) { return a < 0 ? -a : a; }
__device__ __forceinline__ value root(value a) { return sqrt(a); }
__device__ __forceinline__ value inverse_root(value a) { return rsqrt(a); }

// The power of two that makes a positive number one between 1 and 2: exact, and no division.
__device__ __forceinline__ value scale_of(value a) {
    union {
        real number;
        word bits;
    } both{a};
    both.bits = exponent_sum - (both.bits & exponent_bits);
    return both.number;
}
__device__ __forceinline__ void barrier() { __syncthreads(); }

// A symmetric matrix without its mean and scaled to a determinant of 2 half, |half| <= 1: the eigenvalues are mean +
// spread times those of it.
struct Deviator {
    value entry[3][3], mean, spread, half;
};

__device__ __forceinline__
Deviator deviator_of(const value (&matrix)[3][3]) {
    Deviator result;
    value scale = every(0);
    #pragma unroll
    for (int i = 0; i < 3; ++i)
        #pragma unroll
        for (int j = i; j < 3; ++j) scale = larger(scale, magnitude(matrix[i][j]));
    const value by = scale > every(smallest) ? scale_of(scale) : every(0);  // squares of tiny numbers would vanish
    const value mean = by * (matrix[0][0] + matrix[1][1] + matrix[2][2]) * real(1.0 / 3);
    const value a = by * matrix[0][0] - mean, b = by * matrix[1][1] - mean, c = by * matrix[2][2] - mean;
    const value d = by * matrix[0][1], e = by * matrix[0][2], f = by * matrix[1][2];
    const value squares = (a * a + b * b + c * c + real(2) * (d * d + e * e + f * f)) * real(1.0 / 6);
    const value part = squares > every(smallest) ? inverse_root(squares) : every(0);
    const value entry[3][3] =
        {{part * a, part * d, part * e}, {part * d, part * b, part * f}, {part * e, part * f, part * c}};
    #pragma unroll
    for (int i = 0; i < 3; ++i)
        #pragma unroll
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
__device__ __forceinline__
value separate_eigenvalue(value half) {
    const value r = smaller(magnitude(half), every(1));
    value b = real(1.7320508075688772) + r * (real(1.0 / 3) - real(0.0653841409022) * r);
    #pragma unroll
    for (int step = 0; step < 2; ++step) {
        const value f = b * (b * b - real(3)) - real(2) * r, slope = real(3) * b * b - real(3);
        b = b - real(2) * f * slope / (real(2) * slope * slope - real(6) * f * b);
    }
    return b;
}

// An eigenvector of unit length: the largest of the products of rows of matrix - eigenvalue.
__device__ __forceinline__
void separate_eigenvector(const value (&entry)[3][3], value eigenvalue, value (&normal)[3]) {
    const value a = entry[0][0] - eigenvalue, b = entry[1][1] - eigenvalue, c = entry[2][2] - eigenvalue;
    const value d = entry[0][1], e = entry[0][2], f = entry[1][2];
    const value products[3][3] = {{d * f - e * b, e * d - a * f, a * b - d * d},
                                  {d * c - e * f, e * e - a * c, a * f - d * e},
                                  {b * c - f * f, f * e - d * c, d * f - b * e}};
    value length = every(0);
    #pragma unroll
    for (int i = 0; i < 3; ++i) normal[i] = every(0);
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
        const value square = products[i][0] * products[i][0] + products[i][1] * products[i][1]
            + products[i][2] * products[i][2];
        #pragma unroll
        for (int j = 0; j < 3; ++j) normal[j] = square > length ? products[i][j] : normal[j];
        length = larger(length, square);
    }
    const value none = length > every(0) ? every(0) : every(1);  // a multiple of the identity has any direction
    const value by = inverse_root(length + none);
    normal[0] = by * normal[0] + none;
    #pragma unroll
    for (int i = 1; i < 3; ++i) normal[i] = by * normal[i];
}

// Smallest eigenvalue of a symmetric matrix, with an eigenvector of no particular length: either it is the one that
// lies apart, or the smaller one of the 2 x 2 matrix that is left across that one's direction.
// Source of the deflation: D. Eberly, A Robust Eigensolver for 3 x 3 Symmetric Matrices, Geometric Tools 2014.
__device__ __forceinline__
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
    #pragma unroll
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
    #pragma unroll
    for (int i = 0; i < 3; ++i) direction[i] = of.half < every(0) ? normal[i] : along_u * u[i] + along_w * w[i];
    return of.mean + of.spread * (of.half < every(0) ? apart : real(0.5) * (uu + ww) - radius);
}

// 1 / (smallest singular value): the adjugate's largest one over the determinant's magnitude.
__device__ __forceinline__
value inverse_singular_value(const value (&)[3][3], const value (&adjugate)[3][3], value inverse_determinant) {
    value scale = every(0), negative[3][3], direction[3];
    #pragma unroll
    for (int i = 0; i < 3; ++i)
        #pragma unroll
        for (int j = 0; j < 3; ++j) scale = larger(scale, magnitude(adjugate[i][j]));
    const value by = scale > every(smallest) ? scale_of(scale) : every(0);
    #pragma unroll
    for (int i = 0; i < 3; ++i)
        #pragma unroll
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
__device__ __forceinline__
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
__device__ __forceinline__
value switched_on(value mu) {
    constexpr real hair = real(1e-12);
    const value y = smaller(larger((mu - hair) * (real(0.5) / hair), every(0)), every(1));
    return real(1) - (real(3) - real(2) * y) * y * y;
}

// The physics at a point. `fields` are the derivatives of position and velocity along the reference axes, `initial` the
// inverse of the Jacobian at the start, [axis][component]. Gives weight |J| sigma J^-T and the bound on 1 / dt without
// cfl, the largest number where the zone is inside out.
__device__ __forceinline__
void physics(const value (&fields)[2 * dimension][dimension], const value (&initial)[dimension][dimension],
    value energy, value mass, value gamma,
             const Settings& settings, real weight, real inverse_weight, value (&stress)[dimension][dimension],
                 value& rate) {
    value jacobian[dimension][dimension], adjugate[dimension][dimension], symmetric[dimension][dimension],
        direction[dimension];
    #pragma unroll
    for (int c = 0; c < dimension; ++c)
        #pragma unroll
        for (int g = 0; g < dimension; ++g) jacobian[c][g] = fields[c][g];
    const value determinant = adjugate_of(jacobian, adjugate);
    const value inverse = real(1) / determinant;
    #pragma unroll
    for (int i = 0; i < dimension; ++i)
        #pragma unroll
        for (int j = i; j < dimension; ++j) {
            value sum = every(0);
            #pragma unroll
            for (int g = 0; g < dimension; ++g)
                sum += fields[dimension + i][g] * adjugate[g][j] + fields[dimension + j][g] * adjugate[g][i];
            symmetric[i][j] = real(0.5) * inverse * sum;
            symmetric[j][i] = symmetric[i][j];
        }
    const value mu = smallest_eigenpair(symmetric, direction);

    // How the direction of the strongest compression was stretched since the start.
    value along[dimension], length = every(0), size = every(0);
    #pragma unroll
    for (int g = 0; g < dimension; ++g) {
        along[g] = every(0);
        #pragma unroll
        for (int c = 0; c < dimension; ++c) along[g] += initial[g][c] * direction[c];
        size += direction[g] * direction[g];
    }
    #pragma unroll
    for (int c = 0; c < dimension; ++c) {
        value component = every(0);
        #pragma unroll
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
    #pragma unroll
    for (int c = 0; c < dimension; ++c)
        #pragma unroll
        for (int g = 0; g < dimension; ++g) {
            value sum = -pressure * adjugate[g][c];
            #pragma unroll
            for (int j = 0; j < dimension; ++j) sum += viscosity * symmetric[c][j] * adjugate[g][j];
            stress[c][g] = weight * sum;
        }
    const value per_length = real(order) * inverse_singular_value(jacobian, adjugate, inverse);
    const value bound = per_length * (sound + real(2.5) * kinematic * per_length);
    rate = determinant > every(0) ? (bound < every(largest) ? bound : every(largest)) : every(largest);
}

// Of an axis: values and slopes of the nodal functions, values of the Bernstein functions at the points, and the
// points' weights.
__constant__ real basis_table[8][5] = {
    {real(0.81300421747373819), real(0.24647125080441815), real(-0.089652136940518157), real(0.046645923980385619),
        real(-0.016469255318023901)},
    {real(0.25813256449143979), real(0.86238472418810241), real(-0.17568875682313084), real(0.084385016841762001),
        real(-0.029213548698173362)},
    {real(-0.10689988605107047), real(0.91656405518168094), real(0.25736709595992768), real(-0.10027902238836742),
        real(0.033247757297829098)},
    {real(-0.075014685489617969), real(0.30331312945985917), real(0.89048092031084358), real(-0.17053920912197271),
        real(0.051759844840887741)},
    {real(0.051759844840887768), real(-0.17053920912197279), real(0.89048092031084358), real(0.30331312945985944),
        real(-0.07501468548961801)},
    {real(0.033247757297829098), real(-0.10027902238836742), real(0.25736709595992763), real(0.91656405518168105),
        real(-0.10689988605107047)},
    {real(-0.029213548698173383), real(0.084385016841762028), real(-0.1756887568231309), real(0.86238472418810219),
        real(0.25813256449144006)},
    {real(-0.016469255318023863), real(0.046645923980385515), real(-0.089652136940517962), real(0.24647125080441756),
        real(0.81300421747373885)},
};
__constant__ real slope_table[8][5] = {
    {real(-8.8496508704966601), real(11.343486898200998), real(-3.7261711417919372), real(1.8993415954176482),
        real(-0.66700648133004414)},
    {real(-4.9264409191107355), real(4.1690844366715796), real(1.18386267218347), real(-0.66417877109726475),
        real(0.23767258135295069)},
    {real(-0.92767568930933364), real(-2.3794728044096689), real(4.2977477152753503), real(-1.4628588279078925),
        real(0.47225960635154346)},
    {real(0.80529275022413715), real(-3.8005626510627319), real(2.3305797501688605), real(1.0060905857367755),
        real(-0.3414004350670406)},
    {real(0.34140043506704032), real(-1.006090585736775), real(-2.3305797501688614), real(3.8005626510627328),
        real(-0.80529275022413704)},
    {real(-0.47225960635154346), real(1.4628588279078925), real(-4.2977477152753512), real(2.3794728044096685),
        real(0.92767568930933364)},
    {real(-0.23767258135295027), real(0.66417877109726364), real(-1.1838626721834677), real(-4.169084436671584),
        real(4.926440919110739)},
    {real(0.66700648133004503), real(-1.8993415954176509), real(3.7261711417919416), real(-11.343486898201004),
        real(8.8496508704966654)},
};
__constant__ real bernstein_table[8][4] = {
    {real(0.94160962902573508), real(0.057223354038143825), real(0.0011591895928120535), real(7.8273433092141578e-06)},
    {real(0.72495726627880142), real(0.24613602446001417), real(0.027855868364008246), real(0.0010508408971763657)},
    {real(0.443786747427108), real(0.41407660799751767), real(0.12878515659813397), real(0.013351487977240289)},
    {real(0.20717762371412879), real(0.42885529365171815), real(0.29590850529765156), real(0.068058577336501294)},
    {real(0.068058577336501253), real(0.29590850529765156), real(0.42885529365171826), real(0.20717762371412893)},
    {real(0.013351487977240289), real(0.12878515659813397), real(0.41407660799751767), real(0.443786747427108)},
    {real(0.001050840897176364), real(0.027855868364008218), real(0.24613602446001404), real(0.72495726627880142)},
    {real(7.8273433092140917e-06), real(0.001159189592812047), real(0.057223354038143666), real(0.94160962902573508)},
};
__constant__ real weight_table[8] =
    {real(0.050614268145188088), real(0.11119051722668723), real(0.15685332293894369), real(0.181341891689181),
    real(0.181341891689181), real(0.15685332293894369), real(0.11119051722668723), real(0.050614268145188088)};
__constant__ real inverse_weight_table[8] =
    {real(19.757274710195929), real(8.9935726979421453), real(6.3753829454365931), real(5.5144456180814219),
    real(5.5144456180814219), real(6.3753829454365931), real(8.9935726979421453), real(19.757274710195929)};

enum class Table { basis, slope, bernstein };
template <Table table>
constexpr int length_of = table == Table::bernstein ? energies_along : nodes_along;

template <Table table>
__device__ __forceinline__
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
__device__ __forceinline__
void to_points(int lane, From from, To to) {
    constexpr int length = length_of<first>;
    for (int line = lane; line < inner * outer; line += team) {
        const int start = line / inner * (length * inner) + line % inner,
            target = line / inner * (points_along * inner) + line % inner;
        value held[length];
        #pragma unroll
        for (int i = 0; i < length; ++i) held[i] = from(start + i * inner);
        #pragma unroll
        for (int q = 0; q < points_along; ++q) {
            value one = every(0), two = every(0);
            #pragma unroll
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
__device__ __forceinline__
void from_points(int lane, One one, Two two, To to) {
    constexpr int length = length_of<first>;
    for (int line = lane; line < inner * outer; line += team) {
        const int start = line / inner * (points_along * inner) + line % inner,
            target = line / inner * (length * inner) + line % inner;
        value sum[length];
        #pragma unroll
        for (int i = 0; i < length; ++i) sum[i] = every(0);
        #pragma unroll
        for (int q = 0; q < points_along; ++q) {
            const value a = one(start + q * inner), b = two(start + q * inner);
            #pragma unroll
            for (int i = 0; i < length; ++i) sum[i] += entry<first>(q, i) * a + entry<second>(q, i) * b;
        }
        #pragma unroll
        for (int i = 0; i < length; ++i) to(target + i * inner, sum[i]);
    }
}

// The way back from one array.
template <Table table, int inner, int outer, typename From, typename To>
__device__ __forceinline__
void from_points(int lane, From from, To to) {
    constexpr int length = length_of<table>;
    for (int line = lane; line < inner * outer; line += team) {
        const int start = line / inner * (points_along * inner) + line % inner,
            target = line / inner * (length * inner) + line % inner;
        value sum[length];
        #pragma unroll
        for (int i = 0; i < length; ++i) sum[i] = every(0);
        #pragma unroll
        for (int q = 0; q < points_along; ++q) {
            const value a = from(start + q * inner);
            #pragma unroll
            for (int i = 0; i < length; ++i) sum[i] += entry<table>(q, i) * a;
        }
        #pragma unroll
        for (int i = 0; i < length; ++i) to(target + i * inner, sum[i]);
    }
}

// Where number i of [field][node along the last axis][column] lies in [field][axis][node][column].
__device__ __forceinline__
int plane(int i, int axis) {
    return i / (nodes_along * columns) * (dimension * nodes_along * columns) + axis * (nodes_along * columns)
        + i % (nodes_along * columns);
}

// Nodal values of `fields` fields, from(field, node) in one row, summed along all axes but the last:
// planes[field][axis][node][column] is what becomes the derivative along `axis`. `lines` is for half-way results.
template <int fields, typename From>
__device__ __forceinline__
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
__device__ __forceinline__
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
__device__ __forceinline__
void derivatives(const value* planes, int column, int q, value (&result)[count][fields][dimension]) {
    #pragma unroll
    for (int f = 0; f < fields; ++f)
        #pragma unroll
        for (int g = 0; g < dimension; ++g) {
            #pragma unroll
            for (int s = 0; s < count; ++s) result[s][f][g] = every(0);
            #pragma unroll
            for (int i = 0; i < nodes_along; ++i) {
                const value held = planes[((f * dimension + g) * nodes_along + i) * columns + column];
                #pragma unroll
                for (int s = 0; s < count; ++s)
                    result[s][f][g] += (g == dimension - 1 ? slope_table : basis_table)[q + s][i] * held;
            }
        }
}

// The physics at the points; F.1, axis by axis.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_points(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, real* __restrict__ corner, real* __restrict__ force, real* __restrict__ dt,
    real* __restrict__ stress, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 12080;
    // of a zone
    constexpr int planes_words = 5760, lines_words = 1200, energy_plane_words = 256, energy_lines_words = 128,
        kept_words = 4608;
    value* const planes = buffer;
    value* const lines = planes + planes_words;
    value* const energy_plane = lines + lines_words;
    value* const energy_lines = energy_plane + energy_plane_words;
    value* const kept = energy_lines + energy_lines_words;
    value* const rates = kept + kept_words;
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
            const real weight_across = weight_table[column % points_along] * weight_table[column / points_along];
            const real inverse_across =
                inverse_weight_table[column % points_along] * inverse_weight_table[column / points_along];
            #pragma unroll 1
            for (int q = begin; q < begin + points_along / splits; q += points_per_pass) {
                asm volatile("" ::: "memory");  // sums of the column are read again
                value fields[points_per_pass][2 * dimension][dimension];
                derivatives<2 * dimension, points_per_pass>(planes, column, q, fields);
                #pragma unroll
                for (int s = 0; s < points_per_pass; ++s) {
                    const int point = (q + s) * columns + column;
                    value energy = every(0);
                    #pragma unroll
                    for (int j = 0; j < energies_along; ++j)
                        energy += bernstein_table[q + s][j] * energy_plane[j * columns + column];
                    value initial[dimension][dimension], made[dimension][dimension], bound;
                    #pragma unroll
                    for (int g = 0; g < dimension; ++g)
                        #pragma unroll
                        for (int c = 0; c < dimension; ++c)
                            initial[g][c] =
                                fetch<stress_words>(initial_inverse, at, (g * dimension + c) * points + point);
                    physics(fields[s], initial, energy, fetch<points>(mass, at, point), gamma_here, shared_by_all,
                        weight_across * weight_table[q + s],
                            inverse_across * inverse_weight_table[q + s], made, bound);
                    rate = larger(rate, bound);
                    #pragma unroll
                    for (int i = 0; i < dimension * dimension; ++i) {
                        put<stress_words>(stress, at, i * points + point, made[i / dimension][i % dimension]);
                        kept[i * points + point] = made[i / dimension][i % dimension];
                    }
                }
            }
        }
        rates[lane] = rate;
        barrier();
        if (lane == 0) {
            for (int i = 1; i < team; ++i) rate = larger(rate, rates[i]);
            const value bounded = smaller(every(shared_by_all.cfl) / rate, every(largest));
            put<1>(dt, at, 0, rate > every(0) ? (rate < every(largest) ? bounded : every(0)) : every(largest));
        }
    }
    const auto stress_at = [&](int i) { return kept[i]; };
    barrier();
    for (int begin = 0; begin < dimension; begin += together) {
        const int stress_start = begin * dimension * points, force_start = begin * nodes;
        // The last axis: planes[component][axis][node][column].
        from_points<Table::basis, columns, together * 2>(
            lane, [&](int i) { return stress_at(stress_start + i / (2 * points) * (3 * points) + i % (2 * points)); },
            [&](int i, value sum) {
                constexpr int words = nodes_along * columns;
                planes[i / (2 * words) * (3 * words) + i % (2 * words)] = sum;
            });
        from_points<Table::slope, columns, together>(
            lane, [&](int i) { return stress_at(stress_start + i / points * (3 * points) + 2 * points + i % points); },
                [&](int i, value sum) { planes[plane(i, 2)] = sum; });
        barrier();
        // The second: two arrays of lines, for slopes and values along the first.
        constexpr int half = together * nodes_along * nodes_along * points_along;
        from_points<Table::basis, points_along, together * nodes_along>(
            lane, [&](int i) { return planes[plane(i, 0)]; }, [&](int i, value sum) { lines[i] = sum; });
        from_points<Table::slope, Table::basis, points_along, together * nodes_along>(
            lane, [&](int i) { return planes[plane(i, 1)]; }, [&](int i) { return planes[plane(i, 2)]; },
                [&](int i, value sum) { lines[half + i] = sum; });
        barrier();
        from_points<Table::slope, Table::basis, 1, together * nodes_along * nodes_along>(
            lane, [&](int i) { return lines[i]; }, [&](int i) { return lines[half + i]; },
                [&](int i, value sum) { put<vector_words>(force, at, force_start + i, sum); });
        if (together < dimension) barrier();
    }
}

// F, axis by axis.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_corner(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, real* __restrict__ corner, real* __restrict__ force, real* __restrict__ dt,
    real* __restrict__ stress, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 2128;
    constexpr int across_words = 768;  // of a zone
    value* const across = buffer;
    value* const along = across + across_words;
    const auto stress_at = [&](int i) { return fetch<stress_words>(stress, at, i); };
    constexpr int slab_energies = 4, line_words = 2 * points_along + 1;  // an odd distance: different banks
    // F, axis by axis, the last one first: for a node and `slab_energies` coefficients there, all columns; then all
    // nodes and coefficients of the second axis; then those of the first.
    for (int c = 0; c < dimension; ++c)
        #pragma unroll 1
        for (int iz = 0; iz < nodes_along; ++iz)
            #pragma unroll 1
            for (int slab = 0; slab < energies_along; slab += slab_energies) {
                for (int column = lane; column < columns; column += team)
                    #pragma unroll
                    for (int g = 0; g < dimension; ++g) {
                        value sum[slab_energies];
                        #pragma unroll
                        for (int s = 0; s < slab_energies; ++s) sum[s] = every(0);
                        #pragma unroll
                        for (int q = 0; q < points_along; ++q) {
                            const value a =
                                (g == 2 ? slope_table : basis_table)[q][iz]
                                * stress_at((c * dimension + g) * points + q * columns + column);
                            #pragma unroll
                            for (int s = 0; s < slab_energies; ++s) sum[s] += bernstein_table[q][slab + s] * a;
                        }
                        #pragma unroll
                        for (int s = 0; s < slab_energies; ++s) across[(s * dimension + g) * columns + column] = sum[s];
                    }
                barrier();
                for (int line = lane; line < slab_energies * points_along; line += team) {
                    const int s = line / points_along, point = line % points_along;
                    const value* const from = across + s * dimension * columns + point;
                    #pragma unroll 1
                    for (int iy = 0; iy < nodes_along; ++iy) {
                        value one[energies_along], two[energies_along];
                        #pragma unroll
                        for (int jy = 0; jy < energies_along; ++jy) one[jy] = two[jy] = every(0);
                        #pragma unroll
                        for (int q = 0; q < points_along; ++q) {
                            const value a = basis_table[q][iy] * from[q * points_along];
                            const value b = slope_table[q][iy] * from[columns + q * points_along]
                                + basis_table[q][iy] * from[2 * columns + q * points_along];
                            #pragma unroll
                            for (int jy = 0; jy < energies_along; ++jy) {
                                one[jy] += bernstein_table[q][jy] * a;
                                two[jy] += bernstein_table[q][jy] * b;
                            }
                        }
                        #pragma unroll
                        for (int jy = 0; jy < energies_along; ++jy) {
                            value* const to = along + ((s * nodes_along + iy) * energies_along + jy) * line_words
                                + point;
                            to[0] = one[jy];
                            to[points_along] = two[jy];
                        }
                    }
                }
                barrier();
                for (int line = lane; line < slab_energies * nodes_along * energies_along; line += team) {
                    const value* const from = along + line * line_words;
                    const int jz = slab + line / (nodes_along * energies_along),
                        iy = line / energies_along % nodes_along, jy = line % energies_along;
                    #pragma unroll 1
                    for (int ix = 0; ix < nodes_along; ++ix) {
                        value sum[energies_along];
                        #pragma unroll
                        for (int jx = 0; jx < energies_along; ++jx) sum[jx] = every(0);
                        #pragma unroll
                        for (int q = 0; q < points_along; ++q) {
                            const value a = slope_table[q][ix] * from[q] + basis_table[q][ix] * from[points_along + q];
                            #pragma unroll
                            for (int jx = 0; jx < energies_along; ++jx) sum[jx] += bernstein_table[q][jx] * a;
                        }
                        const int row = c * nodes + (iz * nodes_along + iy) * nodes_along + ix;
                        #pragma unroll
                        for (int jx = 0; jx < energies_along; ++jx)
                            put<corner_words>(corner, at,
                                ((jz * energies_along + jy) * energies_along + jx) * vector_words + row, sum[jx]);
                    }
                }
            }
}

