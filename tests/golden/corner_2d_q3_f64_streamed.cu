// corner_force: products, Q3-Q2 in 2D, f64
// hone emit corner_force result=products dimension=2 order=3 precision=f64 zones=10000 --target cuda --config
//     form=streamed,warps_per_block=1,passes=4,unrolled_pairs=1,w_in=registers,min_blocks=1
// The same text serves any number of zones.
// per zone: 12936 operations sum-factorised, 2624 bytes (compulsory); this form executes 12936 operations
using real = double;
using word = long long;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7ff0000000000000ll, exponent_sum = 0x7fe0000000000000ll;
constexpr int dimension = 2, order = 3;
constexpr int nodes_along = 4, energies_along = 3, points_along = 6;  // of an axis
constexpr int nodes = 16, energies = 9, points = 36;
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr real smallest = 1e-290, largest = 1.7976931348623157e+308;  // below and above which squares or inverses fail
constexpr int threads_per_block = 32, blocks_per_multiprocessor = 1, passes = 4, unrolled_pairs = 1, zone_pitch = 118;
constexpr int warps_per_block = threads_per_block / 32, fields = 3 * dimension;
constexpr int lines = points_along, zones_per_warp = 32 / lines, zones_per_pass = warps_per_block * zones_per_warp;
// Words of a line at its points, and of what it gives to the nodes; distances are such that lanes read different banks.
constexpr int line_words = (dimension * dimension + 1) * points_along;
constexpr int force_numbers = dimension * dimension * nodes_along, made_numbers = force_numbers + energies_along + 1;
constexpr int lane_pitch = 33, point_words = line_words * lane_pitch, made_words = made_numbers * lane_pitch;
constexpr int axis_words = (2 * nodes_along + energies_along) * lines, settings_words = 4,
    table_words = axis_words + settings_words;
constexpr int warp_words = zones_per_warp * zone_pitch + point_words + made_words;

// What a thread computes with: a number of one zone.
using value = real;

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

// Copies past the registers, from global to shared memory. What a thread copied since its last commit_copies is a
// group; it waits for groups in the order in which it committed them.
// Copies `words` neighbouring words, of 4, 8 or 16 bytes, or writes zeros.
template <int words>
__device__ __forceinline__ void copy(real* to, const real* from, bool there) {
    constexpr int bytes = words * sizeof(real);
    const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(there ? 16 : 0)
            : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
            ::"r"(target), "l"(from), "n"(bytes), "r"(there ? bytes : 0) : "memory");
}

__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until no more than the last `groups` of this thread's groups are under way.
template <int groups>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

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
    // the Jacobian, and its adjugate d, -b, -c, a
    const value a = field(0, 0), b = field(0, 1), c = field(1, 0), d = field(1, 1);
    const value determinant = a * d - b * c;
    const value inverse = reciprocal(determinant), half = real(0.5) * magnitude(inverse);
    const value p = field(2, 0), q = field(2, 1), r = field(3, 0), s = field(3, 1);
    const value xx = p * d - q * c, yy = s * a - r * b;
    const value mean = turned_by(xx + yy, determinant);
    value left = turned_by(xx - yy, determinant), off = turned_by((q * a - p * b) + (r * d - s * c), determinant),
        back = real(1);
    value squares = left * left + off * off;
    if (!is_ordinary(squares)) {  // powers of it would vanish or overflow
        const value scale = magnitude(left) + magnitude(off);
        const bool none = !(scale > smallest);  // both eigenvalues are the same: any direction is one's
        const value by = none ? value(0) : scale_of(scale);
        left = none ? value(-1) : by * left;
        off *= by;
        back = none ? value(0) : scale_of(by);
        squares = left * left + off * off;
    }
    const value radius = root(squares);
    const value mu = half * (mean - back * radius);
    // Of the two rows of matrix - eigenvalue, the one without cancellation.
    const value sum = magnitude(left) + radius;
    const bool negative = is_negative(left);
    const value x = negative ? sum : off, y = negative ? -off : -sum;

    // How the direction of the strongest compression was stretched since the start.
    const value u = initial(0, 0) * x + initial(0, 1) * y, v = initial(1, 0) * x + initial(1, 1) * y;
    const value stretched_x = a * u + b * v, stretched_y = c * u + d * v;
    const value length = stretched_x * stretched_x + stretched_y * stretched_y, size = x * x + y * y;
    const value h = settings.h0 * length * inverse_root(length * size);
    const value warm = is_negative(energy) ? value(0) : energy;
    const value sound = root(gamma * (gamma - real(1)) * warm);
    // viscosity over density
    const value kinematic = h * (settings.quadratic * h * magnitude(mu) + settings.linear * sound * switched_on(mu));
    const value weighted_density = mass * inverse;
    const value push = (gamma - real(1)) * weighted_density * warm, pull = weighted_density * kinematic * half;
    const value all = pull * mean - push, pull_left = pull * back * left;
    const value sxx = all + pull_left, syy = all - pull_left, sxy = pull * back * off;
    stress[0][0] = sxx * d - sxy * b;
    stress[0][1] = sxy * a - sxx * c;
    stress[1][0] = sxy * d - syy * b;
    stress[1][1] = syy * a - sxy * c;
    // The larger singular value over the determinant is 1 / the smaller one.
    const value turned = (a + d) * (a + d) + (b - c) * (b - c), mirrored = (a - d) * (a - d) + (b + c) * (b + c);
    const value per_length = real(order) * half * (root(turned) + root(mirrored));
    rate = !is_negative(determinant) ? smaller(per_length * (sound + real(2.5) * kinematic * per_length), largest)
        : value(largest);
}

// Functions of an axis at its points. A point's mirror image has the values of the mirrored functions, times `sign`. So
// what a pair of nodes gives to a pair of points is a sum e + o at one, sign (e - o) at the other: e by the pair's sum,
// o by its difference, each with one number in place of two.
template <int length, int sign>
struct AxisTable {
    real whole[points_along][length], even[points_along / 2][(length + 1) / 2], odd[points_along / 2][length / 2];
    __device__ __forceinline__ const real* operator[](int q) const { return whole[q]; }
    __device__ __forceinline__ const real* parts() const { return even[0]; }
};

// Of an axis: values and slopes of the nodal functions, and values of the Bernstein functions, at the points.
__constant__ AxisTable<nodes_along, 1> basis_table = {
    {
        {real(0.80861698153562422), real(0.25162679876159733), real(-0.08850104240942526), real(0.028257262112203758)},
        {real(0.24627206214985028), real(0.87181891464696681), real(-0.16831623058583423), real(0.05022525378901737)},
        {real(-0.11074872233830491), real(0.90390542098730375), real(0.27492068405393694), real(-0.068077382702935771)},
        {real(-0.068077382702935771), real(0.27492068405393694), real(0.90390542098730375), real(-0.11074872233830491)},
        {real(0.050225253789017377), real(-0.16831623058583425), real(0.87181891464696659), real(0.24627206214985037)},
        {real(0.028257262112203758), real(-0.08850104240942526), real(0.25162679876159733), real(0.80861698153562422)},
    },
    {
        {real(0.41843712182391402), real(0.08156287817608604)},
        {real(0.14824865796943382), real(0.35175134203056629)},
        {real(-0.089413052520620345), real(0.58941305252062037)},
    },
    {
        {real(0.39017985971171021), real(0.17006392058551129)},
        {real(0.098023404180416454), real(0.52006757261640058)},
        {real(-0.021335669817684567), real(0.31449236846668338)},
    },
};
__constant__ AxisTable<nodes_along, -1> slope_table = {
    {
        {real(-5.3417965164513639), real(6.8270628890037806), real(-2.1647153179880205), real(0.67944894543560375)},
        {real(-3.0425154139822643), real(2.523953938172387), real(0.78209299415893696), real(-0.2635315183490588)},
        {real(-0.56006965008427023), real(-1.7210880046130994), real(2.9141839350290843), real(-0.63302628033171471)},
        {real(0.63302628033171482), real(-2.9141839350290839), real(1.7210880046130992), real(0.56006965008427023)},
        {real(0.26353151834905852), real(-0.78209299415893596), real(-2.5239539381723883), real(3.0425154139822648)},
        {real(-0.67944894543560375), real(2.1647153179880205), real(-6.8270628890037806), real(5.3417965164513639)},
    },
    {
        {real(-2.3311737855078802), real(2.3311737855078798)},
        {real(-1.6530234661656615), real(1.653023466165662)},
        {real(-0.59654796520799247), real(0.59654796520799247)},
    },
    {
        {real(-3.0106227309434836), real(4.4958891034959008)},
        {real(-1.3894919478166028), real(0.87093047200672502)},
        {real(0.036478315123722238), real(-2.317635969821092)},
    },
};
__constant__ AxisTable<energies_along, 1> bernstein_table = {
    {
        {real(0.93360960583114161), real(0.065250302540868804), real(0.0011400916279895707)},
        {real(0.68990415642090586), real(0.28140107362445299), real(0.028694769954641215)},
        {real(0.38354437203335034), real(0.4715304420164963), real(0.14492518595015336)},
        {real(0.14492518595015336), real(0.4715304420164963), real(0.38354437203335034)},
        {real(0.028694769954641198), real(0.28140107362445288), real(0.68990415642090586)},
        {real(0.0011400916279895707), real(0.065250302540868804), real(0.93360960583114161)},
    },
    {
        {real(0.46737484872956558), real(0.065250302540868804)},
        {real(0.35929946318777356), real(0.28140107362445299)},
        {real(0.26423477899175185), real(0.4715304420164963)},
    },
    {
        {real(0.46623475710157603)},
        {real(0.3306046932331323)},
        {real(0.11930959304159849)},
    },
};

// The way back: to(i, sum over q of table[q][i] from(q)).
template <int length, int sign, typename From, typename To>
__device__ __forceinline__ void from_points(const AxisTable<length, sign>& table, From from, To to) {
    constexpr int pairs = length / 2, half = (length + 1) / 2;
    value even[half], odd[pairs];
    #pragma unroll
    for (int q = 0; q < points_along / 2; ++q) {
        const value a = from(q), b = from(points_along - 1 - q);
        const value like = sign > 0 ? a + b : a - b, unlike = sign > 0 ? a - b : a + b;
        #pragma unroll
        for (int i = 0; i < half; ++i) even[i] = q == 0 ? table.even[q][i] * like : even[i] + table.even[q][i] * like;
        #pragma unroll
        for (int i = 0; i < pairs; ++i) odd[i] = q == 0 ? table.odd[q][i] * unlike : odd[i] + table.odd[q][i] * unlike;
    }
    #pragma unroll
    for (int i = 0; i < pairs; ++i) {
        to(i, even[i] + odd[i]);
        to(length - 1 - i, even[i] - odd[i]);
    }
    if (half > pairs) to(half - 1, even[half - 1]);
}

// In place of a line's mirrored nodes: their sum, and their difference.
template <int length>
__device__ __forceinline__ void to_parts(value (&line)[length]) {
    #pragma unroll
    for (int i = 0; i < length / 2; ++i) {
        const value a = line[i], b = line[length - 1 - i];
        line[i] = a + b;
        line[length - 1 - i] = a - b;
    }
}

// Of a line's parts: the sums at point q and at its mirror image.
template <int length, int sign>
__device__ __forceinline__ void at_pair(const AxisTable<length, sign>& table, int q, const value (&parts)[length],
    value& one, value& other) {
    value even = table.even[q][0] * parts[0];
    #pragma unroll
    for (int i = 1; i < (length + 1) / 2; ++i) even += table.even[q][i] * parts[i];
    value odd = 0;
    #pragma unroll
    for (int i = 0; i < length / 2; ++i) odd += table.odd[q][i] * parts[length - 1 - i];
    one = even + odd;
    other = sign > 0 ? even - odd : odd - even;
}

// The way back: what numbers at a pair of points give to the parts of a line.
template <int length, int sign>
__device__ __forceinline__ void from_pair(const AxisTable<length, sign>& table, int q, value one, value other,
    value (&parts)[length]) {
    const value like = sign > 0 ? one + other : one - other, unlike = sign > 0 ? one - other : one + other;
    #pragma unroll
    for (int i = 0; i < (length + 1) / 2; ++i) parts[i] += table.even[q][i] * like;
    #pragma unroll
    for (int i = 0; i < length / 2; ++i) parts[length - 1 - i] += table.odd[q][i] * unlike;
}

// Zones stream through each warp by itself. A thread has a line of a zone's points along the first axis: it sums up the
// nodes of the other axis for it, and all that comes then stays in its registers, up to what its line gives to the
// nodes.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_streamed(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // of the last axis: [basis or slope][node][line], [coefficient][line]; settings
    real* const tables = reinterpret_cast<real*>(shared_memory);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool busy = lane < zones_per_warp * lines;  // others do what the last zone's do, and give it to nobody
    const int place = busy ? lane / lines : zones_per_warp - 1, line = lane % lines, column = place * lines + line;
    // [field][node], [coefficient]
    real* const of_zone = tables + table_words + warp * warp_words + place * zone_pitch;
    // [initial inverse, mass][point][line]
    real* const of_points = tables + table_words + warp * warp_words + zones_per_warp * zone_pitch;
    // [number][line]
    real* const of_lines = of_points + point_words;
    const auto copy_nodes = [&](bool more, long long zone) {
        const bool there = zone < last;
        #pragma unroll
        for (int i = 0; i < vector_words; i += lines)
            if (more && busy && i + line < vector_words) {
                copy<1>(of_zone + i + line, x + zone * vector_words + i + line, there);
                copy<1>(of_zone + vector_words + i + line, v + zone * vector_words + i + line, there);
                copy<1>(of_zone + 2 * vector_words + i + line, w + zone * vector_words + i + line, there);
            }
        #pragma unroll
        for (int i = 0; i < energies; i += lines)
            if (more && busy && i + line < energies)
                copy<1>(of_zone + fields * nodes + i + line, e + zone * energies + i + line, there);
        commit_copies();
    };
    // Lane y of a zone copies point y of each line.
    const auto copy_points = [&](bool more, long long zone) {
        const bool there = zone < last;
        #pragma unroll
        for (int i = 0; i < dimension * dimension; ++i)
            #pragma unroll
            for (int y = 0; y < lines; ++y)
                if (more && busy)
                    copy<1>(of_points + (i * points_along + line) * lane_pitch + place * lines + y,
                        initial_inverse + zone * stress_words + i * points + y * points_along + line, there);
        #pragma unroll
        for (int y = 0; y < lines; ++y)
            if (more && busy)
                copy<1>(of_points + (dimension * dimension * points_along + line) * lane_pitch + place * lines + y,
                    mass + zone * points + y * points_along + line, there);
        commit_copies();
    };
    long long zone = first + (long long)blockIdx.x * (passes * zones_per_pass) + warp * zones_per_warp + place;
    copy_nodes(true, zone);
    copy_points(true, zone);
    // Tables come while the first zones are under way.
    for (int i = threadIdx.x; i < axis_words; i += threads_per_block) {
        const int number = i / lines, y = i % lines;
        tables[i] = number < nodes_along ? basis_table[y][number] : number < 2 * nodes_along
            ? slope_table[y][number - nodes_along] : bernstein_table[y][number - 2 * nodes_along];
    }
    if (threadIdx.x < settings_words) tables[axis_words + threadIdx.x] = settings[threadIdx.x];
    __syncthreads();
    #pragma unroll 1
    for (int pass = 0; pass < passes; ++pass, zone += zones_per_pass) {
        const bool present = busy && zone < last;
        const value gamma_here = gamma[zone < last ? zone : last - 1];
        const real* const of_all = tables + axis_words;
        const Settings shared_by_all{of_all[0], of_all[1], of_all[2], of_all[3]};
        // values and slopes along the last axis, as parts
        value across[fields][2][nodes_along], energy_across[energies_along];
        wait_for_copies<1>();
        __syncwarp();
        {
            value basis_here[nodes_along], slope_here[nodes_along];
            #pragma unroll
            for (int j = 0; j < nodes_along; ++j)
                basis_here[j] = tables[j * lines + line], slope_here[j] = tables[(nodes_along + j) * lines + line];
            #pragma unroll
            for (int f = 0; f < fields; ++f) {
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) {
                    const value first_node = of_zone[f * nodes + i];
                    value sum = basis_here[0] * first_node, slope = slope_here[0] * first_node;
                    #pragma unroll
                    for (int j = 1; j < nodes_along; ++j) {
                        const value node = of_zone[f * nodes + j * nodes_along + i];
                        sum += basis_here[j] * node;
                        slope += slope_here[j] * node;
                    }
                    across[f][0][i] = sum;
                    across[f][1][i] = slope;
                }
                to_parts(across[f][0]);
                to_parts(across[f][1]);
            }
            #pragma unroll
            for (int i = 0; i < energies_along; ++i) {
                energy_across[i] = 0;
                #pragma unroll
                for (int j = 0; j < energies_along; ++j)
                    energy_across[i] +=
                        tables[(2 * nodes_along + j) * lines + line] * of_zone[fields * nodes + j * energies_along + i];
            }
            to_parts(energy_across);
        }
        const auto w_part = [&](int c, int axis, int i) { return across[2 * dimension + c][axis][i]; };
        // The next zone's nodes are under way while this one's points are computed.
        __syncwarp();
        copy_nodes(pass + 1 < passes, zone + zones_per_pass);
        wait_for_copies<1>();
        __syncwarp();
        // [axis][component], as parts
        value back[dimension][dimension][nodes_along] = {}, work_back[energies_along] = {}, rate = 0;
        #pragma unroll unrolled_pairs
        for (int q = 0; q < points_along / 2; ++q) {
            value derivative[2][2 * dimension][dimension], energy[2], made[2][dimension][dimension], power[2] = {};
            #pragma unroll
            for (int f = 0; f < 2 * dimension; ++f) {
                at_pair(slope_table, q, across[f][0], derivative[0][f][0], derivative[1][f][0]);
                at_pair(basis_table, q, across[f][1], derivative[0][f][1], derivative[1][f][1]);
            }
            at_pair(bernstein_table, q, energy_across, energy[0], energy[1]);
            #pragma unroll
            for (int side = 0; side < 2; ++side) {
                const int point = side == 0 ? q : points_along - 1 - q;
                const real* const here = of_points + point * lane_pitch + column;
                value bound;
                physics([&](int f, int axis) { return derivative[side][f][axis]; },
                        [&](int axis, int c) { return here[(axis * dimension + c) * points_along * lane_pitch]; },
                            energy[side],
                        here[dimension * dimension * points_along * lane_pitch], gamma_here, shared_by_all, made[side],
                            bound);
                rate = larger(rate, bound);
            }
            #pragma unroll
            for (int c = 0; c < dimension; ++c) {
                value of_w[2][nodes_along], one, other;
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) of_w[0][i] = w_part(c, 0, i), of_w[1][i] = w_part(c, 1, i);
                at_pair(slope_table, q, of_w[0], one, other);
                power[0] += made[0][c][0] * one;
                power[1] += made[1][c][0] * other;
                at_pair(basis_table, q, of_w[1], one, other);
                power[0] += made[0][c][1] * one;
                power[1] += made[1][c][1] * other;
                from_pair(slope_table, q, made[0][c][0], made[1][c][0], back[0][c]);
                from_pair(basis_table, q, made[0][c][1], made[1][c][1], back[1][c]);
            }
            from_pair(bernstein_table, q, power[0], power[1], work_back);
        }
        __syncwarp();
        copy_points(pass + 1 < passes, zone + zones_per_pass);
        // What the lines give to the nodes, by the threads of the columns.
        #pragma unroll
        for (int axis = 0; axis < dimension; ++axis)
            #pragma unroll
            for (int c = 0; c < dimension; ++c) {
                to_parts(back[axis][c]);
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i)
                    of_lines[((axis * dimension + c) * nodes_along + i) * lane_pitch + lane] = back[axis][c][i];
            }
        to_parts(work_back);
        #pragma unroll
        for (int j = 0; j < energies_along; ++j) of_lines[(force_numbers + j) * lane_pitch + lane] = work_back[j];
        of_lines[(made_numbers - 1) * lane_pitch + lane] = rate;
        __syncwarp();
        constexpr int all_columns = dimension * nodes_along + energies_along;
        const real* const lines_here = of_lines + place * lines;
        const auto number_at = [&](int number) { return [=](int y) { return lines_here[number * lane_pitch + y]; }; };
        #pragma unroll
        for (int round = 0; round < (all_columns + lines - 1) / lines; ++round) {
            const int item = round * lines + line;
            if (item >= all_columns) break;
            if (item < dimension * nodes_along) {
                value sum[nodes_along];
                from_points(basis_table, number_at(item), [&](int j, value of) { sum[j] = of; });
                from_points(slope_table, number_at(item + dimension * nodes_along), [&](int j, value of) {
                    sum[j] += of;
                });
                real* const to = force + zone * vector_words + item / nodes_along * nodes + item % nodes_along;
                #pragma unroll
                for (int j = 0; j < nodes_along; ++j)
                    if (present) to[j * nodes_along] = sum[j];
            } else {
                real* const to = work + zone * energies + (item - dimension * nodes_along);
                from_points(bernstein_table, number_at(item + dimension * nodes_along), [&](int j, value of) {
                    if (present) to[j * energies_along] = of;
                });
            }
        }
        if (line == 0 && present) {
            #pragma unroll
            for (int y = 1; y < lines; ++y) rate = larger(rate, lines_here[(made_numbers - 1) * lane_pitch + y]);
            const value bounded = smaller(shared_by_all.cfl * reciprocal(rate), largest);
            dt[zone] = rate > 0 ? (rate < largest ? bounded : value(0)) : value(largest);
        }
    }
}
