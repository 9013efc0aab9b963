// corner_force: products, Q4-Q3 in 3D, f64
// hone emit corner_force result=products dimension=3 order=4 precision=f64 zones=10000 --target cuda --config
//     form=teams,layers=8,teams=4,team_layers=1,point_data=async,min_blocks=1,fetch_ahead=0
// The same text serves any number of zones.
// per zone: 616832 operations sum-factorised, 54000 bytes (compulsory); this form executes 616832 operations
using real = double;
using word = long long;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7ff0000000000000ll, exponent_sum = 0x7fe0000000000000ll;
constexpr int dimension = 3, order = 4;
constexpr int nodes_along = 5, energies_along = 4, points_along = 8;  // of an axis
constexpr int nodes = 125, energies = 64, points = 512, columns = 64;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr real smallest = 1e-290, largest = 1.7976931348623157e+308;  // below and above which squares or inverses fail
// differentiated; of points
constexpr int fields = 9, layers = 8, teams = 4, team_layers = 1, team_rows = 8, rows_of_warp = 8;
constexpr int team = 32, threads_per_block = teams * team, blocks_per_multiprocessor = 1;
constexpr int layer_nodes = 25, layer_energies = 16, pairs_along = points_along / 2, made_numbers = 10;
constexpr int half_field = 25, energies_of_half = 450, half_layer = 466, node_pitch = 6, point_pitch = 9;
constexpr int w_of_row = 108, energies_of_row = 162, row_words = 166, team_words = 1328, table_words = 56;
constexpr int node_teams = 5, rounds_of_nodes = 2;  // of threads, one for each node of a layer
constexpr real epsilon = 2.220446049250313e-16;
constexpr int layers_unrolled = 8;

// What a thread computes with: a number of the block's zone.
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

// All threads of a block wait for each other.
__device__ __forceinline__ void barrier() { __syncthreads(); }

// The threads of a team wait for each other.
__device__ __forceinline__ void team_barrier(int) { __syncwarp(); }

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
        {real(0.81300421747373819), real(0.24647125080441815), real(-0.089652136940518157),
         real(0.046645923980385619), real(-0.016469255318023901)},
        {real(0.25813256449143979), real(0.86238472418810241), real(-0.17568875682313084),
         real(0.084385016841762001), real(-0.029213548698173362)},
        {real(-0.10689988605107047), real(0.91656405518168094), real(0.25736709595992768),
         real(-0.10027902238836742), real(0.033247757297829098)},
        {real(-0.075014685489617969), real(0.30331312945985917), real(0.89048092031084358),
         real(-0.17053920912197271), real(0.051759844840887741)},
        {real(0.051759844840887768), real(-0.17053920912197279), real(0.89048092031084358),
         real(0.30331312945985944), real(-0.07501468548961801)},
        {real(0.033247757297829098), real(-0.10027902238836742), real(0.25736709595992763),
         real(0.91656405518168105), real(-0.10689988605107047)},
        {real(-0.029213548698173383), real(0.084385016841762028), real(-0.1756887568231309),
         real(0.86238472418810219), real(0.25813256449144006)},
        {real(-0.016469255318023863), real(0.046645923980385515), real(-0.089652136940517962),
         real(0.24647125080441756), real(0.81300421747373885)},
    },
    {
        {real(0.39826748107785714), real(0.14655858739240188), real(-0.089652136940518157)},
        {real(0.11445950789663321), real(0.47338487051493222), real(-0.17568875682313084)},
        {real(-0.036826064376620685), real(0.40814251639665677), real(0.25736709595992768)},
        {real(-0.011627420324365114), real(0.066386960168943229), real(0.89048092031084358)},
    },
    {
        {real(0.41473673639588104), real(0.099912663412016267)},
        {real(0.14367305659480659), real(0.38899985367317019)},
        {real(-0.070073821674449782), real(0.50842153878502416)},
        {real(-0.063387265165252851), real(0.23692616929091592)},
    },
};
__constant__ AxisTable<nodes_along, -1> slope_table = {
    {
        {real(-8.8496508704966601), real(11.343486898200998), real(-3.7261711417919372),
         real(1.8993415954176482), real(-0.66700648133004414)},
        {real(-4.9264409191107355), real(4.1690844366715796), real(1.18386267218347),
         real(-0.66417877109726475), real(0.23767258135295069)},
        {real(-0.92767568930933364), real(-2.3794728044096689), real(4.2977477152753503),
         real(-1.4628588279078925), real(0.47225960635154346)},
        {real(0.80529275022413715), real(-3.8005626510627319), real(2.3305797501688605),
         real(1.0060905857367755), real(-0.3414004350670406)},
        {real(0.34140043506704032), real(-1.006090585736775), real(-2.3305797501688614),
         real(3.8005626510627328), real(-0.80529275022413704)},
        {real(-0.47225960635154346), real(1.4628588279078925), real(-4.2977477152753512),
         real(2.3794728044096685), real(0.92767568930933364)},
        {real(-0.23767258135295027), real(0.66417877109726364), real(-1.1838626721834677),
         real(-4.169084436671584), real(4.926440919110739)},
        {real(0.66700648133004503), real(-1.8993415954176509), real(3.7261711417919416),
         real(-11.343486898201004), real(8.8496508704966654)},
    },
    {
        {real(-4.7583286759133525), real(6.6214142468093229), real(-3.7261711417919372)},
        {real(-2.3443841688788924), real(1.7524528327871574), real(1.18386267218347)},
        {real(-0.22770804147889509), real(-1.9211658161587808), real(4.2977477152753503)},
        {real(0.23194615757854828), real(-1.3972360326629782), real(2.3305797501688605)},
    },
    {
        {real(-4.0913221945833076), real(4.7220726513916755)},
        {real(-2.582056750231843), real(2.4166316038844222)},
        {real(-0.69996764783043852), real(-0.45830698825088823)},
        {real(0.57334659264558885), real(-2.4033266183997535)},
    },
};
__constant__ AxisTable<energies_along, 1> bernstein_table = {
    {
        {real(0.94160962902573508), real(0.057223354038143825),
         real(0.0011591895928120535), real(7.8273433092141578e-06)},
        {real(0.72495726627880142), real(0.24613602446001417), real(0.027855868364008246), real(0.0010508408971763657)},
        {real(0.443786747427108), real(0.41407660799751767), real(0.12878515659813397), real(0.013351487977240289)},
        {real(0.20717762371412879), real(0.42885529365171815), real(0.29590850529765156), real(0.068058577336501294)},
        {real(0.068058577336501253), real(0.29590850529765156), real(0.42885529365171826), real(0.20717762371412893)},
        {real(0.013351487977240289), real(0.12878515659813397), real(0.41407660799751767), real(0.443786747427108)},
        {real(0.001050840897176364), real(0.027855868364008218), real(0.24613602446001404), real(0.72495726627880142)},
        {real(7.8273433092140917e-06), real(0.001159189592812047),
         real(0.057223354038143666), real(0.94160962902573508)},
    },
    {
        {real(0.47080872818452213), real(0.02919127181547794)},
        {real(0.36300405358798887), real(0.13699594641201121)},
        {real(0.22856911770217414), real(0.2714308822978258)},
        {real(0.13761810052531503), real(0.36238189947468485)},
    },
    {
        {real(0.47080090084121295), real(0.028032082222665886)},
        {real(0.36195321269081254), real(0.10914007804800296)},
        {real(0.21521762972493386), real(0.14264572569969186)},
        {real(0.069559523188813754), real(0.066473394177033296)},
    },
};

// Row of nodes to points: to(q, sum over i of table[q][i] from(i)).
template <int length, int sign, typename From, typename To>
__device__ __forceinline__ void to_points(const AxisTable<length, sign>& table, From from, To to) {
    constexpr int pairs = length / 2, half = (length + 1) / 2;
    value sums[half], differences[pairs];
    #pragma unroll
    for (int i = 0; i < pairs; ++i) {
        const value a = from(i), b = from(length - 1 - i);
        sums[i] = a + b;
        differences[i] = a - b;
    }
    if (half > pairs) sums[half - 1] = from(half - 1);
    #pragma unroll
    for (int q = 0; q < points_along / 2; ++q) {
        value even = table.even[q][0] * sums[0], odd = table.odd[q][0] * differences[0];
        #pragma unroll
        for (int i = 1; i < half; ++i) even += table.even[q][i] * sums[i];
        #pragma unroll
        for (int i = 1; i < pairs; ++i) odd += table.odd[q][i] * differences[i];
        to(q, even + odd);
        to(points_along - 1 - q, sign > 0 ? even - odd : odd - even);
    }
}

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

// Neighbouring words of shared memory, at a place of their size.
struct __align__(2 * sizeof(real)) Couple {
    real first, second;
};

// A row's number: its parts, in place of the numbers of mirrored nodes their sums and their differences.
__device__ __forceinline__ void read_parts(const real* from, value (&parts)[node_pitch]) {
    const Couple* const couples = reinterpret_cast<const Couple*>(from);
    #pragma unroll
    for (int i = 0; i < node_pitch / 2; ++i) {
        const Couple couple = couples[i];
        parts[2 * i] = couple.first, parts[2 * i + 1] = couple.second;
    }
}

// Of `length` parts: the sum at the pair's first point, and up to its sign that at the second. `table` has the even
// parts of all pairs, then the odd ones.
template <int length, int room>
__device__ __forceinline__ void at_both(const real* table, int pair, const value (&parts)[room], value& one,
    value& other) {
    constexpr int half = (length + 1) / 2;
    const real* const of_even = table + pair * half;
    const real* const of_odd = table + pairs_along * half + pair * (length / 2);
    value even = of_even[0] * parts[0], odd = 0;
    #pragma unroll
    for (int i = 1; i < half; ++i) even += of_even[i] * parts[i];
    #pragma unroll
    for (int i = 0; i < length / 2; ++i) odd += of_odd[i] * parts[length - 1 - i];
    one = even + odd;
    other = even - odd;
}

// The physics at the points; F.1, axis by axis; F^T w, axis by axis.
// A block has a zone. Its threads sum up all nodes for `layers` layers of points across the last axis. Then teams of
// warps take layers in turn, each with rows of its own in shared memory: a team goes through second axis, points and
// back without waiting for others. What a layer gives back takes the place of what came for it, until the threads of
// the block sum that up for the nodes.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_teams(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const long long zone = first + blockIdx.x;
    real* const shared_words = reinterpret_cast<real*>(shared_memory);
    // What pairs of points have of the functions of their axis: [even part][pair][function], [odd part][pair][function]
    // of basis, slope and Bernstein.
    real* const pair_tables = shared_words;
    for (int i = threadIdx.x; i < pairs_along * nodes_along; i += threads_per_block) {
        pair_tables[i] = basis_table.parts()[i];
        pair_tables[pairs_along * nodes_along + i] = slope_table.parts()[i];
    }
    for (int i = threadIdx.x; i < pairs_along * energies_along; i += threads_per_block)
        pair_tables[2 * pairs_along * nodes_along + i] = bernstein_table.parts()[i];
    // [layer]: [values or slopes][field][node], [coefficient]; then [number][node], [coefficient]
    real* const all_halves = shared_words + table_words;
    real* const all_rows = all_halves + layers * half_layer;
    const int own = threadIdx.x / team, lane = threadIdx.x % team, lane_of_warp = threadIdx.x % 32;
    // A row: [axis][field of x and v][part], in whose place come numbers at its points; [axis][component][part] of w,
    // in whose place comes what the points give back; coefficients.
    real* const rows = all_rows + own * team_words;
    const int first_row = lane / 32 * rows_of_warp, row = first_row + lane_of_warp / pairs_along,
        pair = lane_of_warp % pairs_along;
    constexpr bool equal_warps = team_rows % rows_of_warp == 0,
        all_busy = equal_warps && rows_of_warp * pairs_along == 32;
    // of the warp
    const int rows_here = equal_warps || first_row + rows_of_warp < team_rows ? rows_of_warp : team_rows - first_row;
    const bool busy = all_busy || lane_of_warp / pairs_along < rows_here;
    real* const own_row = rows + row * row_words;
    // nodes of a layer, with the fields
    const int node = threadIdx.x % layer_nodes, node_team = threadIdx.x / layer_nodes;
    const int to_mirror = nodes_along - 1 - 2 * (node % nodes_along);
    const value by_own = to_mirror < 0 ? -1 : 1, by_mirror = to_mirror == 0 ? 0 : 1;
    const Settings shared_by_all{settings[0], settings[1], settings[2], settings[3]};
    const value gamma_here = gamma[zone];
    value rate = 0;
    #pragma unroll 1
    for (int begin = 0; begin < points_along; begin += layers) {
        // The last axis, from nodes to layers. All are fetched before any is waited for; in place of mirrored nodes of
        // a row come their sum and their difference.
        {
            value held[rounds_of_nodes][nodes_along];
            #pragma unroll
            for (int round = 0; round < rounds_of_nodes; ++round) {
                const int wanted_field = round * node_teams + node_team,
                    field = wanted_field < fields ? wanted_field : fields - 1;
                const real* const source = field < dimension ? x : field < 2 * dimension ? v : w;
                const real* const from = source + zone * vector_words + field % dimension * nodes + node;
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i)
                    held[round][i] = by_own * from[i * layer_nodes] + by_mirror * from[i * layer_nodes + to_mirror];
            }
            #pragma unroll
            for (int round = 0; round < rounds_of_nodes; ++round) {
                const int field = round * node_teams + node_team;
                if (node_team >= node_teams || field >= fields) break;
                real* const to = all_halves + field * half_field + node;
                const auto node_value = [&](int i) { return held[round][i]; };
                to_points(basis_table, node_value, [&](int z, value sum) { to[z * half_layer] = sum; });
                to_points(slope_table, node_value, [&](int z, value sum) {
                    to[fields * half_field + z * half_layer] = sum;
                });
            }
            for (int item = threads_per_block - 1 - threadIdx.x; item < layer_energies; item += threads_per_block) {
                value held_energies[energies_along];
                #pragma unroll
                for (int j = 0; j < energies_along; ++j)
                    held_energies[j] = e[zone * energies + j * layer_energies + item];
                #pragma unroll layers_unrolled
                for (int z = 0; z < layers; ++z) {
                    value sum = 0;
                    #pragma unroll
                    for (int j = 0; j < energies_along; ++j) sum += bernstein_table[begin + z][j] * held_energies[j];
                    all_halves[z * half_layer + energies_of_half + item] = sum;
                }
            }
        }
        barrier();
        // Layers, each by a team.
        #pragma unroll 1
        for (int first_layer = own * team_layers; first_layer < layers; first_layer += teams * team_layers) {
            real* const halves = all_halves + first_layer * half_layer;
            // The second axis: lines of all fields, and of the energy, whose threads come last.
            #pragma unroll
            for (int round = 0; round < (fields * team_layers * nodes_along + team - 1) / team; ++round) {
                const int item = round * team + lane, i = item % nodes_along, field = item / nodes_along % fields,
                    z = item / (nodes_along * fields);
                if (z >= team_layers) break;
                const real* const from = halves + z * half_layer + field * half_field + i;
                const bool of_w = field >= 2 * dimension;
                const int axis_words = (of_w ? fields - 2 * dimension : 2 * dimension) * node_pitch;
                real* const target = rows + z * points_along * row_words
                    + (of_w ? w_of_row + (field - 2 * dimension) * node_pitch : field * node_pitch) + i;
                const auto value_at = [&](int j) { return from[j * nodes_along]; };
                const auto slope_at = [&](int j) { return from[fields * half_field + j * nodes_along]; };
                const auto to = [&](int axis) {
                    return [=](int q, value sum) { target[axis * axis_words + q * row_words] = sum; };
                };
                to_points(basis_table, value_at, to(0));
                to_points(slope_table, value_at, to(1));
                to_points(basis_table, slope_at, to(2));
            }
            for (int item = team - 1 - lane; item < team_layers * energies_along; item += team) {
                const int j = item % energies_along, z = item / energies_along;
                const real* const from = halves + z * half_layer + energies_of_half + j;
                real* const target = rows + z * points_along * row_words + energies_of_row + j;
                to_points(bernstein_table, [&](int i) { return from[i * energies_along]; }, [&](int q, value sum) {
                    target[q * row_words] = sum;
                });
            }
            team_barrier(own);
            // The points: a thread has two, which are mirror images along the first axis. What its row gives to a sum
            // is read once for both.
            {
                const int first_point = (begin + first_layer) * columns + row * points_along + pair;
                const int second_point = first_point + points_along - 1 - 2 * pair;
                value derivative[2][2 * dimension][dimension], energy[2], made_first[dimension][dimension];
                value mass_here;
                // The Jacobian's inverse at the start comes, a point after the other, to where the layers' half-way
                // results were: [number][thread].
                real* const start_here = halves + lane;
                const auto fetch_point = [&](int point) {
                    #pragma unroll
                    for (int i = 0; i < dimension * dimension; ++i) {
                        const real* const from = initial_inverse + zone * stress_words + i * points + point;
                        copy<1>(start_here + i * team, from, true);
                    }
                    commit_copies();
                    mass_here = mass[zone * points + point];
                };
                if (busy) {
                    fetch_point(first_point);
                    #pragma unroll
                    for (int axis = 0; axis < dimension; ++axis)
                        #pragma unroll
                        for (int f = 0; f < 2 * dimension; ++f) {
                            value parts[node_pitch];
                            read_parts(own_row + (axis * 2 * dimension + f) * node_pitch, parts);
                            at_both<nodes_along>(pair_tables + (axis == 0 ? nodes_along * pairs_along : 0), pair, parts,
                                derivative[0][f][axis], derivative[1][f][axis]);
                            if (axis == 0) derivative[1][f][axis] = -derivative[1][f][axis];
                        }
                    value parts[energies_along];
                    #pragma unroll
                    for (int j = 0; j < energies_along; ++j) parts[j] = own_row[energies_of_row + j];
                    #pragma unroll
                    for (int j = 0; j < energies_along / 2; ++j) {
                        const value a = parts[j], b = parts[energies_along - 1 - j];
                        parts[j] = a + b, parts[energies_along - 1 - j] = a - b;
                    }
                    at_both<energies_along>(pair_tables + 2 * nodes_along * pairs_along, pair, parts, energy[0],
                        energy[1]);
                }
                __syncwarp();  // numbers at the points take the place of what all threads of a row have read
                if (busy) {
                    real* const numbers = own_row;
                    value now[2 * dimension][dimension], energy_now = energy[0], made_now[dimension][dimension];
                    #pragma unroll
                    for (int i = 0; i < 2 * dimension * dimension; ++i)
                        now[i / dimension][i % dimension] = derivative[0][i / dimension][i % dimension];
                    #pragma unroll
                    for (int side = 0; side < 2; ++side) {
                        const int q = side == 0 ? pair : points_along - 1 - pair;
                        const auto start_at = [&](int axis, int c) {
                            if (axis == 0 && c == 0) wait_for_copies<0>();  // what physics asks for first
                            return start_here[(axis * dimension + c) * team];
                        };
                        value bound;
                        physics([&](int f, int axis) { return now[f][axis]; }, start_at, energy_now, mass_here,
                            gamma_here, shared_by_all, made_now, bound);
                        rate = larger(rate, bound);
                        #pragma unroll
                        for (int i = 0; i < dimension * dimension; ++i)
                            numbers[i * point_pitch + q] = made_now[i % dimension][i / dimension];
                        if (side == 0) {
                            fetch_point(second_point);
                            energy_now = energy[1];
                            #pragma unroll
                            for (int i = 0; i < 2 * dimension * dimension; ++i)
                                now[i / dimension][i % dimension] = derivative[1][i / dimension][i % dimension];
                            #pragma unroll
                            for (int i = 0; i < dimension * dimension; ++i)
                                made_first[i / dimension][i % dimension] = made_now[i / dimension][i % dimension];
                        }
                    }
                    value power[2] = {};
                    #pragma unroll
                    for (int axis = 0; axis < dimension; ++axis)
                        #pragma unroll
                        for (int c = 0; c < dimension; ++c) {
                            value parts[node_pitch], one, other;
                            read_parts(own_row + w_of_row + (axis * dimension + c) * node_pitch, parts);
                            at_both<nodes_along>(pair_tables + (axis == 0 ? nodes_along * pairs_along : 0), pair, parts,
                                one, other);
                            power[0] += made_first[c][axis] * one;
                            power[1] += made_now[c][axis] * (axis == 0 ? -other : other);
                        }
                    numbers[dimension * dimension * point_pitch + pair] = power[0];
                    numbers[dimension * dimension * point_pitch + points_along - 1 - pair] = power[1];
                }
            }
            team_barrier(own);
            // The way back. The first axis: rows of points, one number after the other.
            #pragma unroll 1
            for (int item = lane; item < made_numbers * team_rows; item += team) {
                const int number = item / team_rows;
                real* const of_row = rows + item % team_rows * row_words;
                const auto at_point = [&](int q) { return of_row[number * point_pitch + q]; };
                const auto to_node = [&](int i, value sum) { of_row[w_of_row + number * node_pitch + i] = sum; };
                if (number < dimension) {
                    from_points(slope_table, at_point, to_node);
                    continue;
                }
                if (number < dimension * dimension) {
                    from_points(basis_table, at_point, to_node);
                    continue;
                }
                from_points(bernstein_table, at_point, [&](int j, value sum) { of_row[energies_of_row + j] = sum; });
            }
            team_barrier(own);
            // The second axis, one line of a number at a time; those that are multiplied by slopes come last.
            #pragma unroll 1
            for (int item = lane; item < dimension * dimension * team_layers * nodes_along; item += team) {
                const int i = item % nodes_along, z = item / nodes_along % team_layers,
                    number = item / (nodes_along * team_layers);
                const int axis = number < dimension ? 0 : number < 2 * dimension ? 2 : 1;
                const real* const from = rows + z * points_along * row_words + w_of_row
                    + (axis * dimension + number % dimension) * node_pitch + i;
                real* const target = halves + z * half_layer + number * layer_nodes + i;
                const auto at_row = [&](int y) { return from[y * row_words]; };
                const auto to_node = [&](int j, value sum) { target[j * nodes_along] = sum; };
                if (axis == 1)
                    from_points(slope_table, at_row, to_node);
                else
                    from_points(basis_table, at_row, to_node);
            }
            for (int item = team - 1 - lane; item < team_layers * energies_along; item += team) {
                const int j = item % energies_along, z = item / energies_along;
                const real* const from = rows + z * points_along * row_words + energies_of_row + j;
                real* const target = halves + z * half_layer + energies_of_half + j;
                from_points(bernstein_table, [&](int y) { return from[y * row_words]; }, [&](int i, value sum) {
                    target[i * energies_along] = sum;
                });
            }
            team_barrier(own);
        }
        if (busy) own_row[pair] = rate;
        barrier();
        // The last axis: a thread sums up what a column of nodes has of these layers.
        for (int item = threadIdx.x; item < dimension * layer_nodes; item += threads_per_block) {
            const int c = item / layer_nodes, target = item % layer_nodes;
            const real* const from = all_halves + c * layer_nodes + target;
            const auto along_at = [&](int z) {
                return from[z * half_layer] + from[z * half_layer + 2 * dimension * layer_nodes];
            };
            const auto slope_at = [&](int z) { return from[z * half_layer + dimension * layer_nodes]; };
            real* const to = force + zone * vector_words + c * nodes + target;
            value sum[nodes_along];
            from_points(basis_table, along_at, [&](int i, value of) { sum[i] = of; });
            from_points(slope_table, slope_at, [&](int i, value of) { to[i * layer_nodes] = sum[i] + of; });
        }
        for (int item = threads_per_block - 1 - threadIdx.x; item < layer_energies; item += threads_per_block) {
            const real* const from = all_halves + energies_of_half + item;
            value sum[energies_along] = {};
            #pragma unroll layers_unrolled
            for (int z = 0; z < layers; ++z) {
                const value along = from[z * half_layer];
                #pragma unroll
                for (int j = 0; j < energies_along; ++j) sum[j] += bernstein_table[begin + z][j] * along;
            }
            real* const last_sum = work + zone * energies + item;
            real* const kept = last_sum;
            #pragma unroll
            for (int j = 0; j < energies_along; ++j) kept[j * layer_energies] = sum[j];
        }
    }
    // The bound on dt, by the last warp.
    if (threadIdx.x >= threads_per_block - 32) {
        for (int i = lane_of_warp; i < teams * team_rows * pairs_along; i += 32)
            rate =
                larger(rate,
                all_rows[i / (team_rows * pairs_along) * team_words + i / pairs_along % team_rows * row_words
                + i % pairs_along]);
        #pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            rate = larger(rate, __shfl_xor_sync(0xffffffffu, rate, distance));
        const value bounded = smaller(shared_by_all.cfl * reciprocal(rate), largest);
        if (lane_of_warp == 0) dt[zone] = rate > 0 ? (rate < largest ? bounded : value(0)) : value(largest);
    }
}
