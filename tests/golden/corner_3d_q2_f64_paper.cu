// corner_force: products, Q2-Q1 in 3D, f64
// hone emit corner_force result=products dimension=3 order=2 precision=f64 zones=10000 --target cuda --config
//     form=paper,decomposition=closed,zones_per_block=4,splits=1,points_per_pass=1,rows_per_thread=1,
//     columns_per_thread=8,min_blocks=1
// The same text serves any number of zones.
// per zone: 62144 operations sum-factorised, 7856 bytes (compulsory); this form executes 210016 operations
using real = double;
using word = long long;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7ff0000000000000ll, exponent_sum = 0x7fe0000000000000ll;
constexpr int dimension = 3, order = 2;
constexpr int nodes_along = 3, energies_along = 2, points_along = 4;  // of an axis
constexpr int nodes = 27, energies = 8, points = 64, columns = 16;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int gradient_words = 2 * stress_words;
constexpr int corner_words = energies * vector_words;
constexpr int points_per_pass = 1;  // of a column, whose derivatives a thread sums up together
constexpr int splits = 1;  // threads that share a column of points
constexpr real smallest = 1e-290, largest = 1.7976931348623157e+308;  // below and above which squares or inverses fail
constexpr int team = columns * splits, zones_per_block = 4, threads_per_block = team * zones_per_block,
    blocks_per_multiprocessor = 1;
constexpr int dense_threads = 256;
constexpr int rows_per_thread = 1, columns_per_thread = 8, row_threads = 81, threads_per_zone = 81;  // of F
constexpr int corner_zones = 3, corner_threads = 243;

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
__device__ __forceinline__ void barrier() { __syncwarp(); }

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
__constant__ real basis_table[4][3] = {
    {real(0.80134602936993082), real(0.25844425285419076), real(-0.059790282224121687)},
    {real(0.22778407679095208), real(0.88441289000295209), real(-0.11219696679390416)},
    {real(-0.11219696679390416), real(0.88441289000295209), real(0.22778407679095208)},
    {real(-0.059790282224121728), real(0.25844425285419098), real(0.80134602936993071)},
};
__constant__ real slope_table[4][3] = {
    {real(-2.7222726231881049), real(3.4445452463762098), real(-0.72227262318810515)},
    {real(-1.6799620871697125), real(1.359924174339425), real(0.32003791283028749)},
    {real(-0.32003791283028749), real(-1.359924174339425), real(1.6799620871697125)},
    {real(0.72227262318810492), real(-3.4445452463762098), real(2.7222726231881049)},
};
__constant__ real bernstein_table[4][2] = {
    {real(0.93056815579702623), real(0.069431844202973714)},
    {real(0.66999052179242813), real(0.33000947820757187)},
    {real(0.33000947820757187), real(0.66999052179242813)},
    {real(0.069431844202973769), real(0.93056815579702623)},
};
__constant__ real weight_table[4] =
    {real(0.17392742256872687), real(0.32607257743127305), real(0.32607257743127305), real(0.17392742256872687)};
__constant__ real inverse_weight_table[4] =
    {real(5.7495246306248982), real(3.0668018999873485), real(3.0668018999873485), real(5.7495246306248982)};

enum class Table { basis, slope, bernstein };
template <Table table>
constexpr int length_of = table == Table::bernstein ? energies_along : nodes_along;

template <Table table>
__device__ __forceinline__
real entry(int point, int i) {
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
            }
            to(target + q * inner, one, two);
        }
    }
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


// A word of A: stress times gradients of the basis.
__device__ __forceinline__ real word_of_a(const real* stress, const real* slope, long long zone, int q, int row) {
    const real* const of_zone = stress + zone * stress_words + row / nodes * (dimension * points) + q;
    return of_zone[0 * points] * slope[(0 * points + q) * nodes + row % nodes]
        + of_zone[1 * points] * slope[(1 * points + q) * nodes + row % nodes]
        + of_zone[2 * points] * slope[(2 * points + q) * nodes + row % nodes];
}

// Kernel 3: derivatives of positions and velocities at the points, as products with a matrix of all nodes and points. A
// thread has a point.
extern "C" __global__ void __launch_bounds__(dense_threads)
corner_force_gradients(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, real* __restrict__ column_of_a,
    real* __restrict__ corner, const real* __restrict__ node_slopes, const real* __restrict__ point_slopes,
    const real* __restrict__ bernstein_rows, int first, int last) {
    constexpr int zones_here = dense_threads > points ? dense_threads / points : 1;
    const long long block_first = first + (long long)blockIdx.x * zones_here;
    for (int item = threadIdx.x; item < zones_here * points; item += dense_threads) {
        const long long zone = block_first + item / points;
        if (zone >= last) return;
        const int q = item % points;
        const real* const position = x + zone * vector_words;
        const real* const velocity = v + zone * vector_words;
        real sum[2 * dimension][dimension] = {};
        for (int i = 0; i < nodes; ++i) {
            #pragma unroll
            for (int g = 0; g < dimension; ++g) {
                const real slope = node_slopes[(g * nodes + i) * points + q];
                #pragma unroll
                for (int c = 0; c < dimension; ++c) {
                    sum[c][g] += slope * position[c * nodes + i];
                    sum[dimension + c][g] += slope * velocity[c * nodes + i];
                }
            }
        }
        #pragma unroll
        for (int i = 0; i < 2 * dimension * dimension; ++i)
            gradients[zone * gradient_words + i * points + q] = sum[i / dimension][i % dimension];
    }
}

// The physics at the points.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_points(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, real* __restrict__ column_of_a,
    real* __restrict__ corner, const real* __restrict__ node_slopes, const real* __restrict__ point_slopes,
    const real* __restrict__ bernstein_rows, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 64;
    constexpr int energy_plane_words = 32, energy_lines_words = 16;  // of a zone
    value* const energy_plane = buffer;
    value* const energy_lines = energy_plane + energy_plane_words;
    value* const rates = energy_lines + energy_lines_words;
    {
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
                #pragma unroll
                for (int i = 0; i < points_per_pass * 2 * dimension * dimension; ++i) {
                    constexpr int per_point = 2 * dimension * dimension;
                    fields[i / per_point][i % per_point / dimension][i % dimension] =
                        fetch<gradient_words>(gradients, at,
                            i % per_point * points + (q + i / per_point) * columns + column);
                }
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
                    }
                }
            }
        }
        const auto put_step = [&] {
            const value bounded = smaller(every(shared_by_all.cfl) / rate, every(largest));
            put<1>(dt, at, 0, rate > every(0) ? (rate < every(largest) ? bounded : every(0)) : every(largest));
        };
        rates[lane] = rate;
        barrier();
        if (lane == 0) {
            for (int i = 1; i < team; ++i) rate = larger(rate, rates[i]);
            put_step();
        }
    }
}

// Kernels 4 to 6: the columns of A, one for each point: stress times gradients of the basis. Threads follow the rows.
extern "C" __global__ void __launch_bounds__(dense_threads)
corner_force_columns(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, real* __restrict__ column_of_a,
    real* __restrict__ corner, const real* __restrict__ node_slopes, const real* __restrict__ point_slopes,
    const real* __restrict__ bernstein_rows, int first, int last) {
    constexpr int words = points * vector_words, zones_here = dense_threads > words ? dense_threads / words : 1;
    const long long block_first = first + (long long)blockIdx.x * zones_here;
    for (int item = threadIdx.x; item < zones_here * words; item += dense_threads) {
        const long long zone = block_first + item / words;
        if (zone >= last) return;
        const int q = item / vector_words % points, row = item % vector_words;
        column_of_a[zone * words + q * vector_words + row] = word_of_a(stress, point_slopes, zone, q, row);
    }
}

// Kernel 7: F = A B^T. A thread accumulates some rows and columns of F.
extern "C" __global__ void __launch_bounds__(corner_threads)
corner_force_corner(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, real* __restrict__ column_of_a,
    real* __restrict__ corner, const real* __restrict__ node_slopes, const real* __restrict__ point_slopes,
    const real* __restrict__ bernstein_rows, int first, int last) {
    const int slot = blockIdx.y * corner_threads + threadIdx.x;
    const long long zone = first + (long long)blockIdx.x * corner_zones + slot / threads_per_zone;
    if (slot >= corner_zones * threads_per_zone || zone >= last) return;
    const int start = slot % threads_per_zone % row_threads, group = slot % threads_per_zone / row_threads;
    real sum[rows_per_thread][columns_per_thread] = {}, total[rows_per_thread] = {};
    #pragma unroll 2
    for (int q = 0; q < points; ++q) {
        real by[columns_per_thread];
        #pragma unroll
        for (int j = 0; j < columns_per_thread; ++j)
            by[j] = bernstein_rows[q * energies + group * columns_per_thread + j];
        #pragma unroll
        for (int s = 0; s < rows_per_thread; ++s) {
            const int wanted = start + s * row_threads, row = wanted < vector_words ? wanted : vector_words - 1;
            const real a = column_of_a[(zone * points + q) * vector_words + row];
            total[s] += a;
            #pragma unroll
            for (int j = 0; j < columns_per_thread; ++j) sum[s][j] += a * by[j];
        }
    }
    #pragma unroll
    for (int s = 0; s < rows_per_thread; ++s) {
        const int row = start + s * row_threads;
        if (row >= vector_words) break;
        #pragma unroll
        for (int j = 0; j < columns_per_thread; ++j)
            corner[zone * corner_words + (group * columns_per_thread + j) * vector_words + row] = sum[s][j];
    }
}

// Kernel 8: F.1. A thread has a row.
extern "C" __global__ void __launch_bounds__(dense_threads)
corner_force_sums(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, real* __restrict__ column_of_a,
    real* __restrict__ corner, const real* __restrict__ node_slopes, const real* __restrict__ point_slopes,
    const real* __restrict__ bernstein_rows, int first, int last) {
    constexpr int zones_here = dense_threads > vector_words ? dense_threads / vector_words : 1;
    const long long block_first = first + (long long)blockIdx.x * zones_here;
    for (int item = threadIdx.x; item < zones_here * vector_words; item += dense_threads) {
        const long long zone = block_first + item / vector_words;
        if (zone >= last) return;
        const int row = item % vector_words;
        real sum = 0;
        for (int j = 0; j < energies; ++j) sum += corner[zone * corner_words + j * vector_words + row];
        force[zone * vector_words + row] = sum;
    }
}

// Kernel 10: F^T w. A warp has a column at a time.
extern "C" __global__ void __launch_bounds__(dense_threads)
corner_force_products(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, real* __restrict__ column_of_a,
    real* __restrict__ corner, const real* __restrict__ node_slopes, const real* __restrict__ point_slopes,
    const real* __restrict__ bernstein_rows, int first, int last) {
    constexpr int warps = dense_threads / 32, zones_here = warps > energies ? warps / energies : 1;
    const long long block_first = first + (long long)blockIdx.x * zones_here;
    const int lane = threadIdx.x % 32;
    for (int item = threadIdx.x / 32; item < zones_here * energies; item += warps) {
        const long long zone = block_first + item / energies;
        if (zone >= last) return;
        const int j = item % energies;
        real sum = 0;
        for (int row = lane; row < vector_words; row += 32)
            sum += corner[zone * corner_words + j * vector_words + row] * w[zone * vector_words + row];
        for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (lane == 0) work[zone * energies + j] = sum;
    }
}

