// corner_force: products, Q2-Q1 in 2D, f32
// hone emit corner_force result=products dimension=2 order=2 precision=f32 zones=10000 --target cuda --config
//     form=on_the_fly,gradients=fused,zones_per_block=16,splits=1,points_per_pass=1,rows_per_thread=1,
//     columns_per_thread=4,min_blocks=1
// The same text serves any number of zones.
// per zone: 4928 operations sum-factorised, 648 bytes (compulsory); this form executes 6960 operations
using real = float;
using word = int;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7f800000, exponent_sum = 0x7f000000;
constexpr int dimension = 2, order = 2;
constexpr int nodes_along = 3, energies_along = 2, points_along = 4;  // of an axis
constexpr int nodes = 9, energies = 4, points = 16, columns = 4;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int corner_words = energies * vector_words;
constexpr int points_per_pass = 1;  // of a column, whose derivatives a thread sums up together
constexpr int splits = 1;  // threads that share a column of points
constexpr real smallest = 1e-30f, largest = 3.402823466e+38f;  // below and above which squares or inverses fail
constexpr int team = columns * splits, zones_per_block = 16, threads_per_block = team * zones_per_block,
    blocks_per_multiprocessor = 1;
constexpr int dense_threads = 256;
constexpr int rows_per_thread = 1, columns_per_thread = 4, row_threads = 18, threads_per_zone = 18;  // of F
constexpr int corner_zones = 14, corner_threads = 252;

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

// Smallest eigenvalue of a symmetric matrix, with an eigenvector of no particular length.
__device__ __forceinline__
value smallest_eigenpair(const value (&matrix)[2][2], value (&direction)[2]) {
    const value scale = larger(larger(magnitude(matrix[0][0]), magnitude(matrix[1][1])), magnitude(matrix[0][1]));
    const value by = scale > every(smallest) ? scale_of(scale) : every(0);  // squares of tiny numbers would vanish
    const value mean = real(0.5) * by * (matrix[0][0] + matrix[1][1]),
        half = real(0.5) * by * (matrix[0][0] - matrix[1][1]), off = by * matrix[0][1];
    const value radius = root(half * half + off * off);
    // Of the two rows of matrix - eigenvalue, the one without cancellation.
    direction[0] = half >= every(0) ? off : radius - half;
    direction[1] = half >= every(0) ? -(half + radius) : -off;
    direction[0] = radius == every(0) ? every(1) : direction[0];
    return scale_of(by) * (mean - radius);
}

// 1 / (smallest singular value): the largest one over the determinant's magnitude.
__device__ __forceinline__
value inverse_singular_value(const value (&matrix)[2][2], const value (&)[2][2], value inverse_determinant) {
    const value a = matrix[0][0] + matrix[1][1], b = matrix[0][1] - matrix[1][0], c = matrix[0][0] - matrix[1][1],
        d = matrix[0][1] + matrix[1][0];
    return real(0.5) * (root(a * a + b * b) + root(c * c + d * d)) * magnitude(inverse_determinant);
}

// What all zones share.
struct Settings {
    real h0, cfl, quadratic, linear;
};

// |J| J^-1, [axis][component], and |J|.
__device__ __forceinline__
value adjugate_of(const value (&m)[2][2], value (&adjugate)[2][2]) {
    adjugate[0][0] = m[1][1];
    adjugate[0][1] = -m[0][1];
    adjugate[1][0] = -m[1][0];
    adjugate[1][1] = m[0][0];
    return m[0][0] * adjugate[0][0] + m[0][1] * adjugate[1][0];
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
    to_points<Table::basis, Table::slope, 1, fields * nodes_along>(lane, from, [&](int i, value held, value slope) {
        planes[plane(i, 1)] = held;
        planes[plane(i, 0)] = slope;
    });
    barrier();
}

// Energies, summed along all axes but the last: energy_plane[coefficient along the last axis][column].
template <typename From>
__device__ __forceinline__
void gather_energy(int lane, From from, value* lines, value* energy_plane) {
    to_points<Table::bernstein, Table::bernstein, 1, energies_along>(
        lane, from, [&](int i, value held, value) { energy_plane[i] = held; });
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

// A word of A: stress times gradients of the basis.
__device__ __forceinline__ real word_of_a(const real* stress, const real* slope, long long zone, int q, int row) {
    const real* const of_zone = stress + zone * stress_words + row / nodes * (dimension * points) + q;
    return of_zone[0 * points] * slope[(0 * points + q) * nodes + row % nodes]
        + of_zone[1 * points] * slope[(1 * points + q) * nodes + row % nodes];
}

// The physics at the points.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_points(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ stress, real* __restrict__ corner, const real* __restrict__ point_slopes,
    const real* __restrict__ bernstein_rows, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 132;
    constexpr int planes_words = 96, energy_plane_words = 8;  // of a zone
    value* const planes = buffer;
    value* const energy_plane = planes + planes_words;
    value* const rates = energy_plane + energy_plane_words;
    value* const lines = nullptr;
    {
        gather_planes<dimension>(lane, [&](int i) { return fetch<vector_words>(x, at, i); }, lines, planes);
        gather_planes<dimension>(lane, [&](int i) { return fetch<vector_words>(v, at, i); }, lines,
                                 planes + dimension * dimension * nodes_along * columns);
        gather_energy(lane, [&](int i) { return fetch<energies>(e, at, i); }, nullptr, energy_plane);
        const Settings shared_by_all{settings[0], settings[1], settings[2], settings[3]};
        const value gamma_here = fetch<1>(gamma, at, 0);
        value rate = every(0);
        for (int item = lane; item < columns * splits; item += team) {
            const int column = item % columns, begin = item / columns * (points_along / splits);
            const real weight_across = weight_table[column], inverse_across = inverse_weight_table[column];
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

// Kernels 4 to 8: F = A B^T and F.1, a thread some rows and columns of F; A exists in its registers alone.
extern "C" __global__ void __launch_bounds__(corner_threads)
corner_force_corner(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ stress, real* __restrict__ corner, const real* __restrict__ point_slopes,
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
            const real a = word_of_a(stress, point_slopes, zone, q, row);
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
        if (group == 0) force[zone * vector_words + row] = total[s];
    }
}

// Kernel 10: F^T w. A warp has a column at a time.
extern "C" __global__ void __launch_bounds__(dense_threads)
corner_force_products(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ stress, real* __restrict__ corner, const real* __restrict__ point_slopes,
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

