// corner_force: products, Q3-Q2 in 3D, f64
// hone emit corner_force result=products dimension=3 order=3 precision=f64 zones=10000 --target cuda --config
//     form=layered,zones_per_block=2,layers=2,derivatives=staged,min_blocks=1,axis_sums=plain,point_data=loads,
//     fetch_ahead=0
// The same text serves any number of zones.
// per zone: 234216 operations sum-factorised, 23872 bytes (compulsory); this form executes 234216 operations
using real = double;
using word = long long;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7ff0000000000000ll, exponent_sum = 0x7fe0000000000000ll;
constexpr int dimension = 3, order = 3;
constexpr int nodes_along = 4, energies_along = 3, points_along = 6;  // of an axis
constexpr int nodes = 64, energies = 27, points = 216, columns = 36;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int splits = 2;  // threads that share a column of points
constexpr real smallest = 1e-290, largest = 1.7976931348623157e+308;  // below and above which squares or inverses fail
constexpr int team = columns * splits, zones_per_block = 2, threads_per_block = team * zones_per_block,
    blocks_per_multiprocessor = 1;
constexpr int fields = 9, layers = splits, rows = 12;  // differentiated; at a time; of points in them
constexpr int layer_nodes = 16, layer_energies = 9;
constexpr int node_pitch = 5, energy_pitch = 3, point_pitch = 7, half_field = 40, half_layer = 20, half_words = 720;
constexpr int slot = 84, across_words = 1620, point_words = 2352, table_words = 66, zone_pitch = 4227,
    bernstein_words = 18;
constexpr int node_teams = 4, rounds_of_nodes = 3;  // of threads, one for each node of a layer
constexpr int line_teams = 9, rounds_of_lines = 1;  // of threads, one for each line along the second axis
constexpr int power_slot = 9;
constexpr int force_sum_words = 192;
constexpr real epsilon = 2.220446049250313e-16;

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

__device__ __forceinline__ value larger(value a, value b) { return a > b ? a : b; }
__device__ __forceinline__ value smaller(value a, value b) { return a < b ? a : b; }
__device__ __forceinline__ value magnitude(value a) { return fabs(a); }
// A number and its bits: units of whole numbers are idle, and the one of doubles is not.
constexpr int digits = 52, exponent_bias = 1023, ordinary_exponents = 200, leading_shift = 32;
constexpr word sign_bit = 0x8000000000000000;
union Bits {
    real number;
    word bits;
};
__device__ __forceinline__ bool is_negative(value a) { return Bits{a}.bits < 0; }
// Orders positive numbers by their first 20 digits at least.
__device__ __forceinline__ int leading_bits(value a) { return static_cast<int>(Bits{a}.bits >> leading_shift); }
// Of a positive number; -exponent_bias where it is 0 or subnormal.
__device__ __forceinline__ int exponent_of(value a) { return static_cast<int>(Bits{a}.bits >> digits) - exponent_bias; }
// Whether powers of a number, up to the fourth and down to the -3/2th, neither vanish nor overflow.
__device__ __forceinline__ bool is_ordinary(value a) {
    return static_cast<unsigned>(exponent_of(a) + ordinary_exponents) < 2u * ordinary_exponents;
}
// a times the sign of `by`.
__device__ __forceinline__ value turned_by(value a, value by) {
    Bits both{a};
    both.bits ^= Bits{by}.bits & sign_bit;
    return both.number;
}

// To 19 bits at least.
__device__ __forceinline__ value near_reciprocal(value a) {
    value near;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(a));
    return near;
}
__device__ __forceinline__ value near_inverse_root(value a) {
    value near;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(a));
    return near;
}

// The series in what an estimate leaves of 1, up to its square: to the last bits, of numbers that are neither subnormal
// nor so large that their reciprocals are. CUDA's own functions take twice as many instructions, with branches for
// those.
__device__ __forceinline__ value reciprocal(value a) {
    const value near = near_reciprocal(a), left = real(1) - a * near;
    return near + near * (left + left * left);
}
__device__ __forceinline__ value inverse_root(value a) {
    const value near = near_inverse_root(a), left = real(1) - a * near * near;
    return near + near * left * (real(0.5) + real(0.375) * left);
}
// The estimate flushes subnormal numbers, such as energies far from a blast are: their roots are 0.
__device__ __forceinline__ value root(value a) {
    const value near = near_inverse_root(a), inverse = exponent_of(a) > -exponent_bias ? near : 0, first = a * inverse,
        left = real(1) - first * inverse;
    return first + first * left * (real(0.5) + real(0.375) * left);
}

// The power of two that makes a positive number one between 1 and 2: exact, and no division.
__device__ __forceinline__ value scale_of(value a) {
    Bits both{a};
    both.bits = exponent_sum - (both.bits & exponent_bits);
    return both.number;
}

__device__ __forceinline__ void barrier() { __syncthreads(); }

// What all zones share.
struct Settings {
    real h0, cfl, quadratic, linear;
};

// Smooth step of the viscosity: none where the fluid expands by more than a hair.
__device__ __forceinline__ value switched_on(value mu) {
    constexpr real hair = real(1e-12);
    if (is_negative(mu)) return real(1);
    const value y = smaller(larger((mu - hair) * (real(0.5) / hair), 0), 1);
    return real(1) - (real(3) - real(2) * y) * y * y;
}

// Symmetric matrices as 00, 11, 22, 01, 02, 12. D has the trace 0, so its eigenvalues are the roots of x^3 - q x =
// determinant, where -q is the trace of its adjugate.
__device__ __forceinline__ value adjugate_of(const value (&d)[6], value (&adjugate)[6]) {
    adjugate[0] = d[1] * d[2] - d[5] * d[5];
    adjugate[1] = d[0] * d[2] - d[4] * d[4];
    adjugate[2] = d[0] * d[1] - d[3] * d[3];
    adjugate[3] = d[5] * d[4] - d[3] * d[2];
    adjugate[4] = d[3] * d[5] - d[4] * d[1];
    adjugate[5] = d[4] * d[3] - d[5] * d[0];
    return -(adjugate[0] + adjugate[1] + adjugate[2]);
}

// The root of at least 1 of x^3 - x = a, where a is at most 2 / sqrt(27): to 7 digits by Chebyshev's interpolation as a
// polynomial in sqrt(27) a - 1, by units that are idle; and one step of Newton with the second derivative, whose factor
// is a line to 2 %, to the last bits.
__device__ __forceinline__ value separate_root(value a) {
    const float t = 5.1961524f * static_cast<float>(a) - 1.0f, square = t * t;
    const float even = 1.08506358f
        + square * (-0.00742669069f + square * (-0.000268144276f + square * -1.84698592e-05f));
    const float odd = 0.0760044734f + square * (0.00127794846f + square * (6.29492483e-05f + square * 4.89491733e-06f));
    const value near = even + t * odd, square_of = near * near, slope = 3 * square_of - 1;
    const value inverse = near_reciprocal(slope), left = 1 - slope * inverse,
        step = inverse * (near * (square_of - 1) - a);
    return near - (step + step * (left + step * (2.4985720 - 1.0175344 * square_of)));
}

// The eigenvalue of D that lies apart from the two others.
__device__ __forceinline__ value apart_of(const value (&d)[6], const value (&adjugate)[6], value q) {
    const value determinant = d[0] * adjugate[0] + d[3] * adjugate[3] + d[4] * adjugate[4];
    const value part = inverse_root(q);
    return turned_by(q * part * separate_root(part * part * (part * magnitude(determinant))), determinant);
}

// What is left of D + apart / 2 without the eigenvector apart, whose projector is a multiple of `along`: its
// eigenvalues are 0 and +-radius. Makes the projector, too. No vector has to be chosen or made a unit's length.
__device__ __forceinline__ value rest_of(const value (&d)[6], value apart, value (&along)[6], value (&rest)[6]) {
    const value by = reciprocal(along[0] + along[1] + along[2]), shift = real(0.5) * apart;
    #pragma unroll
    for (int i = 0; i < 6; ++i) {
        along[i] *= by;
        rest[i] = real(-1.5) * apart * along[i] + (i < 3 ? d[i] + shift : d[i]);
    }
    return root(real(0.5) * (rest[0] * rest[0] + rest[1] * rest[1] + rest[2] * rest[2])
        + (rest[3] * rest[3] + rest[4] * rest[4] + rest[5] * rest[5]));
}

// The adjugate of D - apart.
__device__ __forceinline__ void adjugate_apart(const value (&d)[6], const value (&adjugate)[6], value apart,
    value (&along)[6]) {
    #pragma unroll
    for (int i = 0; i < 6; ++i) along[i] = apart * (i < 3 ? d[i] + apart : d[i]) + adjugate[i];
}

// The longest column of a multiple of a projector.
__device__ __forceinline__ void longest_column(const value (&m)[6], value (&column)[3]) {
    const bool second = leading_bits(m[1]) > leading_bits(m[0]);
    const bool third = leading_bits(m[2]) > (second ? leading_bits(m[1]) : leading_bits(m[0]));
    column[0] = third ? m[4] : second ? m[3] : m[0];
    column[1] = third ? m[5] : second ? m[1] : m[3];
    column[2] = third ? m[2] : second ? m[5] : m[4];
}

// Smallest eigenvalue of D, with an eigenvector of no particular length. D is scaled where its powers would vanish or
// overflow: `back` undoes that.
__device__ __forceinline__ value smallest_eigenpair(value (&d)[6], value& back, value (&direction)[3]) {
    value adjugate[6], along[6], q = adjugate_of(d, adjugate);
    back = real(1);
    if (!is_ordinary(q)) {
        value scale = 0;
        #pragma unroll
        for (int i = 0; i < 6; ++i) scale += magnitude(d[i]);
        const bool none = !(scale > real(smallest));  // all eigenvalues are the same: any direction is one's
        const value by = none ? real(0) : scale_of(scale);
        #pragma unroll
        for (int i = 0; i < 6; ++i) d[i] = none ? (i == 0 ? real(-2) : i < 3 ? real(1) : real(0)) : by * d[i];
        back = none ? real(0) : scale_of(by);
        q = adjugate_of(d, adjugate);
    }
    const value apart = apart_of(d, adjugate, q);
    adjugate_apart(d, adjugate, apart, along);
    if (is_negative(apart)) {
        longest_column(along, direction);
        return apart;
    }
    // Across the eigenvector apart, on the lower one of the two others; where these are equal to rounding, on any
    // direction there.
    value rest[6], lower[6], column[3];
    const value radius = rest_of(d, apart, along, rest), length = radius + real(16) * epsilon * apart;
    #pragma unroll
    for (int i = 0; i < 6; ++i) lower[i] = (i < 3 ? length : real(0)) - length * along[i] - rest[i];
    longest_column(lower, column);
    direction[0] = column[0] - (along[0] * column[0] + along[3] * column[1] + along[4] * column[2]);
    direction[1] = column[1] - (along[3] * column[0] + along[1] * column[1] + along[5] * column[2]);
    direction[2] = column[2] - (along[4] * column[0] + along[5] * column[1] + along[2] * column[2]);
    return real(-0.5) * apart - radius;
}

// 1 / (smallest singular value): the adjugate's largest one over the determinant's magnitude.
__device__ __forceinline__ value inverse_singular_value(const value (&matrix)[3][3], value inverse_determinant) {
    value mean, d[6], adjugate[6], q, by = real(1), back = real(1);
    const auto square = [&] {
        const auto product = [&](int i, int j) {
            return by * matrix[i][0] * (by * matrix[j][0]) + by * matrix[i][1] * (by * matrix[j][1])
                + by * matrix[i][2] * (by * matrix[j][2]);
        };
        const value first = product(0, 0), second = product(1, 1);
        mean = real(1.0 / 3) * (first + second + product(2, 2));
        d[0] = first - mean, d[1] = second - mean, d[2] = -(d[0] + d[1]);
        d[3] = product(0, 1), d[4] = product(0, 2), d[5] = product(1, 2);
        q = adjugate_of(d, adjugate);
    };
    square();
    value apart_by = real(1);
    if (!is_ordinary(q)) {
        value scale = 0;
        #pragma unroll
        for (int i = 0; i < 9; ++i) scale += magnitude(matrix[i / 3][i % 3]);
        by = scale > real(smallest) ? scale_of(scale) : real(0);
        back = scale_of(by);
        square();
        if (!is_ordinary(q)) q = real(1), apart_by = real(0);  // all are the same
    }
    value apart = apart_of(d, adjugate, q), most = apart;
    if (is_negative(apart)) {
        value along[6], rest[6];
        adjugate_apart(d, adjugate, apart, along);
        most = rest_of(d, apart, along, rest) - real(0.5) * apart;
    }
    return back * root(mean + apart_by * most) * magnitude(inverse_determinant);
}

// The physics at a point. Derivatives along the reference axes are read where they are wanted: field(f, g), positions
// first. `initial(g, c)` is the inverse of the Jacobian at the start. Gives weight |J| sigma J^-T and the bound on 1 /
// dt without cfl, the largest number where the zone is inside out. The mass is density, weight and |J|, so the weight
// is not wanted.
template <typename Field, typename Initial>
__device__ __forceinline__ void physics(Field field, Initial initial, value energy, value mass, value gamma,
    const Settings& settings,
                                        value (&stress)[dimension][dimension], value& rate) {
    // Of the symmetrised velocity gradient times 2 |determinant|: a third or a half of its trace, and what is left
    // without, times `back`.
    value jacobian[3][3], adjugate[3][3], direction[3], left[6];
    #pragma unroll
    for (int i = 0; i < 9; ++i) jacobian[i / 3][i % 3] = field(i / 3, i % 3);
    #pragma unroll
    for (int g = 0; g < 3; ++g)
        #pragma unroll
        for (int c = 0; c < 3; ++c) {
            const int r = (c + 1) % 3, s = (c + 2) % 3, i = (g + 1) % 3, j = (g + 2) % 3;
            adjugate[g][c] = jacobian[r][i] * jacobian[s][j] - jacobian[r][j] * jacobian[s][i];
        }
    const value determinant = jacobian[0][0] * adjugate[0][0] + jacobian[0][1] * adjugate[1][0]
        + jacobian[0][2] * adjugate[2][0];
    const value inverse = reciprocal(determinant), half = real(0.5) * magnitude(inverse);
    // The velocity's derivatives along axes times the adjugate, and the transpose of that.
    value symmetric[6] = {};
    #pragma unroll
    for (int g = 0; g < 3; ++g) {
        const value along[3] = {field(3, g), field(4, g), field(5, g)};
        #pragma unroll
        for (int i = 0; i < 3; ++i) symmetric[i] += along[i] * adjugate[g][i];
        symmetric[3] += along[0] * adjugate[g][1];
        symmetric[3] += along[1] * adjugate[g][0];
        symmetric[4] += along[0] * adjugate[g][2];
        symmetric[4] += along[2] * adjugate[g][0];
        symmetric[5] += along[1] * adjugate[g][2];
        symmetric[5] += along[2] * adjugate[g][1];
    }
    const value third = real(2.0 / 3) * (symmetric[0] + symmetric[1] + symmetric[2]),
        mean = turned_by(third, determinant);
    left[0] = turned_by(real(2) * symmetric[0] - third, determinant);
    left[1] = turned_by(real(2) * symmetric[1] - third, determinant);
    left[2] = -(left[0] + left[1]);
    left[3] = turned_by(symmetric[3], determinant);
    left[4] = turned_by(symmetric[4], determinant);
    left[5] = turned_by(symmetric[5], determinant);
    value back;
    const value smallest_left = smallest_eigenpair(left, back, direction), mu = half * (mean + back * smallest_left);

    // How the direction of the strongest compression was stretched since the start.
    value along[3], length = 0, size = 0;
    #pragma unroll
    for (int g = 0; g < 3; ++g) {
        along[g] = initial(g, 0) * direction[0] + initial(g, 1) * direction[1] + initial(g, 2) * direction[2];
        size += direction[g] * direction[g];
    }
    #pragma unroll
    for (int c = 0; c < 3; ++c) {
        const value component = jacobian[c][0] * along[0] + jacobian[c][1] * along[1] + jacobian[c][2] * along[2];
        length += component * component;
    }
    const value h = settings.h0 * length * inverse_root(length * size);
    const value warm = is_negative(energy) ? value(0) : energy;
    const value sound = root(gamma * (gamma - real(1)) * warm);
    // viscosity over density
    const value kinematic = h * (settings.quadratic * h * magnitude(mu) + settings.linear * sound * switched_on(mu));
    const value weighted_density = mass * inverse;
    const value push = (gamma - real(1)) * weighted_density * warm, pull = weighted_density * kinematic * half;
    const value all = pull * mean - push, pull_left = pull * back;
    const value weighted[6] = {pull_left * left[0] + all, pull_left * left[1] + all, pull_left * left[2] + all,
                               pull_left * left[3],       pull_left * left[4],       pull_left * left[5]};
    #pragma unroll
    for (int g = 0; g < 3; ++g) {
        stress[0][g] = weighted[0] * adjugate[g][0] + weighted[3] * adjugate[g][1] + weighted[4] * adjugate[g][2];
        stress[1][g] = weighted[3] * adjugate[g][0] + weighted[1] * adjugate[g][1] + weighted[5] * adjugate[g][2];
        stress[2][g] = weighted[4] * adjugate[g][0] + weighted[5] * adjugate[g][1] + weighted[2] * adjugate[g][2];
    }
    rate = largest;
    if (!is_negative(determinant)) {
        const value per_length = real(order) * inverse_singular_value(adjugate, inverse);
        rate = smaller(per_length * (sound + real(2.5) * kinematic * per_length), rate);
    }
}

// Of an axis: values and slopes of the nodal functions, and values of the Bernstein functions, at the points.
__constant__ real basis_table[6][4] = {
    {real(0.80861698153562422), real(0.25162679876159733), real(-0.08850104240942526), real(0.028257262112203758)},
    {real(0.24627206214985028), real(0.87181891464696681), real(-0.16831623058583423), real(0.05022525378901737)},
    {real(-0.11074872233830491), real(0.90390542098730375), real(0.27492068405393694), real(-0.068077382702935771)},
    {real(-0.068077382702935771), real(0.27492068405393694), real(0.90390542098730375), real(-0.11074872233830491)},
    {real(0.050225253789017377), real(-0.16831623058583425), real(0.87181891464696659), real(0.24627206214985037)},
    {real(0.028257262112203758), real(-0.08850104240942526), real(0.25162679876159733), real(0.80861698153562422)},
};
__constant__ real slope_table[6][4] = {
    {real(-5.3417965164513639), real(6.8270628890037806), real(-2.1647153179880205), real(0.67944894543560375)},
    {real(-3.0425154139822643), real(2.523953938172387), real(0.78209299415893696), real(-0.2635315183490588)},
    {real(-0.56006965008427023), real(-1.7210880046130994), real(2.9141839350290843), real(-0.63302628033171471)},
    {real(0.63302628033171482), real(-2.9141839350290839), real(1.7210880046130992), real(0.56006965008427023)},
    {real(0.26353151834905852), real(-0.78209299415893596), real(-2.5239539381723883), real(3.0425154139822648)},
    {real(-0.67944894543560375), real(2.1647153179880205), real(-6.8270628890037806), real(5.3417965164513639)},
};
__constant__ real bernstein_table[6][3] = {
    {real(0.93360960583114161), real(0.065250302540868804), real(0.0011400916279895707)},
    {real(0.68990415642090586), real(0.28140107362445299), real(0.028694769954641215)},
    {real(0.38354437203335034), real(0.4715304420164963), real(0.14492518595015336)},
    {real(0.14492518595015336), real(0.4715304420164963), real(0.38354437203335034)},
    {real(0.028694769954641198), real(0.28140107362445288), real(0.68990415642090586)},
    {real(0.0011400916279895707), real(0.065250302540868804), real(0.93360960583114161)},
};

// The points of a zone are swept in layers across the last axis, `layers` at a time, each point by a thread. What lies
// half-way is in rows along the first axis, of nodes or of points. An odd distance of rows puts neighbours of a column
// into different banks. Where point q of a row lies among the numbers at all points of the layers.
__device__ __forceinline__ int place(int row, int q) {
    return row * point_pitch + q;
}

// Row of nodes to points: to(q, sum over i of table[q][i] from(i)).
template <int length, typename From, typename To>
__device__ __forceinline__ void to_points(const real (&table)[points_along][length], From from, To to) {
    value held[length];
    #pragma unroll
    for (int i = 0; i < length; ++i) held[i] = from(i);
    #pragma unroll
    for (int q = 0; q < points_along; ++q) {
        value sum = table[q][0] * held[0];
        #pragma unroll
        for (int i = 1; i < length; ++i) sum += table[q][i] * held[i];
        to(q, sum);
    }
}

// The way back: to(i, sum over q of table[q][i] from(q)).
template <int length, typename From, typename To>
__device__ __forceinline__ void from_points(const real (&table)[points_along][length], From from, To to) {
    value sum[length];
    #pragma unroll
    for (int q = 0; q < points_along; ++q) {
        const value a = from(q);
        #pragma unroll
        for (int i = 0; i < length; ++i) sum[i] = q == 0 ? table[q][i] * a : sum[i] + table[q][i] * a;
    }
    #pragma unroll
    for (int i = 0; i < length; ++i) to(i, sum[i]);
}

// In how many rounds the threads of a row deal with so many numbers.
template <int numbers>
constexpr int rounds_of = (numbers + points_along - 1) / points_along;

// The physics at the points; F.1, axis by axis; F^T w, axis by axis.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_layered(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const shared_words = reinterpret_cast<real*>(shared_memory);
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    // Tables of the second axis, whose functions follow the threads.
    real* const basis_rows = shared_words;
    real* const slope_rows = basis_rows + points_along * nodes_along;
    for (int i = threadIdx.x; i < points_along * nodes_along; i += threads_per_block) {
        basis_rows[i] = basis_table[i / nodes_along][i % nodes_along];
        slope_rows[i] = slope_table[i / nodes_along][i % nodes_along];
    }
    real* const bernstein_rows = shared_words + table_words - bernstein_words;
    for (int i = threadIdx.x; i < points_along * energies_along; i += threads_per_block)
        bernstein_rows[i] = bernstein_table[i / energies_along][i % energies_along];
    __syncthreads();
    real* const across = shared_words + table_words + threadIdx.x / team * zone_pitch;  // [axis][field][row][node]
    // [field][axis], the energy: [row][point]
    real* const at_points = across + across_words;
    // [values or slopes][field][layer][node]
    real* const halves = at_points;
    real* const energy_across = at_points + point_words;                               // [row][coefficient]
    real* const force_sum = energy_across + rows * energy_pitch;
    for (int i = lane; i < vector_words; i += team) force_sum[i] = 0;
    real* const work_sum = force_sum + force_sum_words;
    for (int i = lane; i < energies; i += team) work_sum[i] = 0;
    // of the thread's point
    const int row = lane / points_along, column = lane % points_along, here = place(row, column);
    // rows, dealt out with the numbers in them
    const int line = lane % rows, part = lane / rows;
    // nodes of a layer, with the fields
    const int node = lane % layer_nodes, node_team = lane / layer_nodes;
    // lines along the second axis, likewise
    const int line_team = lane / (layers * nodes_along);
    const int line_start = lane / nodes_along % layers * half_layer + lane % nodes_along;
    const int line_target = lane / nodes_along % layers * points_along * node_pitch + lane % nodes_along;
    const Settings shared_by_all{settings[0], settings[1], settings[2], settings[3]};
    const value gamma_here = fetch<1>(gamma, at, 0);
    value rate = 0;
    #pragma unroll 1
    for (int begin = 0; begin < points_along; begin += layers) {
        // The last axis, from nodes to layers.
        value held[rounds_of_nodes][nodes_along];  // all are fetched before any is waited for
        #pragma unroll
        for (int round = 0; round < rounds_of_nodes; ++round) {
            const int wanted_field = round * node_teams + node_team,
                field = wanted_field < fields ? wanted_field : fields - 1;
            const real* const source = field < dimension ? x : field < 2 * dimension ? v : w;
            const real* const from = source + at.zone * vector_words + field % dimension * nodes + node;
            #pragma unroll
            for (int i = 0; i < nodes_along; ++i) held[round][i] = from[i * layer_nodes];
        }
        #pragma unroll
        for (int round = 0; round < rounds_of_nodes; ++round) {
            const int field = round * node_teams + node_team;
            if (node_team >= node_teams || field >= fields) break;
            #pragma unroll
            for (int z = 0; z < layers; ++z) {
                value sum = basis_table[begin + z][0] * held[round][0],
                    slope = slope_table[begin + z][0] * held[round][0];
                #pragma unroll
                for (int i = 1; i < nodes_along; ++i) {
                    sum += basis_table[begin + z][i] * held[round][i];
                    slope += slope_table[begin + z][i] * held[round][i];
                }
                halves[field * half_field + z * half_layer + node] = sum;
                halves[(fields + field) * half_field + z * half_layer + node] = slope;
            }
        }
        for (int item = lane; item < layer_energies; item += team) {
            value held_energies[energies_along];
            #pragma unroll
            for (int j = 0; j < energies_along; ++j)
                held_energies[j] = fetch<energies>(e, at, j * layer_energies + item);
            #pragma unroll
            for (int z = 0; z < layers; ++z) {
                value sum = 0;
                #pragma unroll
                for (int j = 0; j < energies_along; ++j) sum += bernstein_table[begin + z][j] * held_energies[j];
                halves[half_words + z * layer_energies + item] = sum;
            }
        }
        barrier();
        // The second axis.
        #pragma unroll
        for (int round = 0; round < rounds_of_lines; ++round) {
            const int field = round * line_teams + line_team;
            if (line_team >= line_teams || field >= fields) break;
            const real* const from = halves + line_start + field * half_field;
            real* const target = across + line_target + field * (rows * node_pitch);
            const auto value_at = [&](int i) { return from[i * nodes_along]; };
            const auto slope_at = [&](int i) { return from[fields * half_field + i * nodes_along]; };
            const auto to = [&](int axis) {
                return [=](int q, value sum) { target[(axis * fields * rows + q) * node_pitch] = sum; };
            };
            to_points(basis_table, value_at, to(0));
            to_points(slope_table, value_at, to(1));
            to_points(basis_table, slope_at, to(2));
        }
        for (int item = lane; item < layers * energies_along; item += team) {
            const int j = item % energies_along, z = item / energies_along;
            to_points(
                bernstein_table, [&](int i) {
                    return halves[half_words + z * layer_energies + i * energies_along + j];
                },
                [&](int q, value sum) { energy_across[(z * points_along + q) * energy_pitch + j] = sum; });
        }
        barrier();
        // The first axis: derivatives at the points.
        const auto to_places = [&](int number) {
            return [=](int q, value sum) { at_points[number * slot + place(line, q)] = sum; };
        };
        #pragma unroll
        for (int round = 0; round < rounds_of<fields>; ++round) {
            const int number = round * points_along + part;
            if (number >= fields) break;
            to_points(slope_table, [&](int i) { return across[(number * rows + line) * node_pitch + i]; },
                to_places(number));
        }
        #pragma unroll
        for (int round = 0; round < rounds_of<(dimension - 1) * fields>; ++round) {
            const int number = fields + round * points_along + part;
            if (number >= dimension * fields) break;
            to_points(basis_table, [&](int i) { return across[(number * rows + line) * node_pitch + i]; },
                to_places(number));
        }
        if (part == points_along - 1)
            to_points(bernstein_table, [&](int j) { return energy_across[line * energy_pitch + j]; },
                to_places(dimension * fields));
        barrier();
        // The points.
        {
            const int point = begin * columns + lane;
            real* const numbers = at_points + here;
            value made[dimension][dimension];
            const auto derivative = [&](int field, int axis) { return numbers[(axis * fields + field) * slot]; };
            const auto start_at = [&](int axis, int c) {
                return fetch<stress_words>(initial_inverse, at, (axis * dimension + c) * points + point);
            };
            const value mass_here = fetch<points>(mass, at, point);
            value bound;
            const value energy_here = numbers[fields * dimension * slot];
            physics(derivative, start_at, energy_here, mass_here, gamma_here, shared_by_all, made, bound);
            rate = larger(rate, bound);
            value power = 0;
            #pragma unroll
            for (int i = 0; i < dimension * dimension; ++i)
                power +=
                    made[i / dimension][i % dimension] * derivative(fields - dimension + i / dimension, i % dimension);
            numbers[power_slot * slot] = power;
            #pragma unroll
            for (int i = 0; i < dimension * dimension; ++i) numbers[i * slot] = made[i % dimension][i / dimension];
        }
        barrier();
        // The way back: the first axis.
        const auto from_places = [&](int number) {
            return [=](int q) { return at_points[number * slot + place(line, q)]; };
        };
        const auto to_across = [&](int number) {
            return [=](int i, value sum) { across[(number * rows + line) * node_pitch + i] = sum; };
        };
        #pragma unroll
        for (int round = 0; round < rounds_of<dimension>; ++round) {
            const int number = round * points_along + part;
            if (number >= dimension) break;
            from_points(slope_table, from_places(number), to_across(number));
        }
        #pragma unroll
        for (int round = 0; round < rounds_of<(dimension - 1) * dimension>; ++round) {
            const int number = dimension + round * points_along + part;
            if (number >= dimension * dimension) break;
            from_points(basis_table, from_places(number), to_across(number));
        }
        if (part == points_along - 1)
            from_points(
                bernstein_table, [&](int q) { return at_points[power_slot * slot + place(line, q)]; },
                [&](int j, value sum) { energy_across[line * energy_pitch + j] = sum; });
        barrier();
        // The other axes: a thread sums up what a column of nodes has of these layers.
        for (int item = lane; item < dimension * layer_nodes; item += team) {
            const int c = item / layer_nodes, target = item % layer_nodes;
            value sum[nodes_along] = {};
            #pragma unroll
            for (int z = 0; z < layers; ++z) {
                value along = 0, slope = 0;
                #pragma unroll
                for (int q = 0; q < points_along; ++q) {
                    const real* const from = across + (z * points_along + q) * node_pitch + target % nodes_along;
                    const real basis = basis_rows[q * nodes_along + target / nodes_along];
                    along += basis * from[c * rows * node_pitch];
                    along +=
                        slope_rows[q * nodes_along + target / nodes_along] * from[(dimension + c) * rows * node_pitch];
                    slope += basis * from[(2 * dimension + c) * rows * node_pitch];
                }
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i)
                    sum[i] += basis_table[begin + z][i] * along + slope_table[begin + z][i] * slope;
            }
            #pragma unroll
            for (int i = 0; i < nodes_along; ++i) {
                force_sum[c * nodes + i * layer_nodes + target] += sum[i];
            }
        }
        for (int item = lane; item < layer_energies; item += team) {
            value sum[energies_along] = {};
            #pragma unroll
            for (int z = 0; z < layers; ++z) {
                value along = 0;
                #pragma unroll
                for (int q = 0; q < points_along; ++q)
                    along += bernstein_rows[q * energies_along + item / energies_along] *
                             energy_across[(z * points_along + q) * energy_pitch + item % energies_along];
                #pragma unroll
                for (int j = 0; j < energies_along; ++j) sum[j] += bernstein_table[begin + z][j] * along;
            }
            #pragma unroll
            for (int j = 0; j < energies_along; ++j) {
                work_sum[j * layer_energies + item] += sum[j];
            }
        }
    }
    at_points[lane] = rate;
    barrier();
    for (int i = lane; i < vector_words; i += team) put<vector_words>(force, at, i, force_sum[i]);
    for (int i = lane; i < energies; i += team) put<energies>(work, at, i, work_sum[i]);
    if (lane < points_along)
        for (int i = lane + points_along; i < team; i += points_along) rate = larger(rate, at_points[i]);
    if (lane < points_along) at_points[lane] = rate;
    barrier();
    if (lane == 0) {
        for (int i = 1; i < points_along; ++i) rate = larger(rate, at_points[i]);
        const value bounded = smaller(shared_by_all.cfl * reciprocal(rate), largest);
        put<1>(dt, at, 0, rate > 0 ? (rate < largest ? bounded : value(0)) : value(largest));
    }
}
