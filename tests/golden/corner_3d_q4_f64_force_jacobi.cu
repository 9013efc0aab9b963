// corner_force: points, Q4-Q3 in 3D, f64
// hone emit corner_force result=points dimension=3 order=4 precision=f64 zones=10000 --target cuda --config form=force,
//     gradients=fused,decomposition=jacobi,zones_per_block=1,splits=2,points_per_pass=1,min_blocks=1
// The same text serves any number of zones.
// per zone: 513568 operations sum-factorised, 87352 bytes (compulsory); this form executes 513568 operations
using real = double;
using word = long long;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7ff0000000000000ll, exponent_sum = 0x7fe0000000000000ll;
constexpr int dimension = 3, order = 4;
constexpr int nodes_along = 5, energies_along = 4, points_along = 8;  // of an axis
constexpr int nodes = 125, energies = 64, points = 512, columns = 64;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int points_per_pass = 1;  // of a column, whose derivatives a thread sums up together
constexpr int splits = 2;  // threads that share a column of points
constexpr int together = 3;  // components whose sums a zone makes at a time
constexpr real smallest = 1e-290, largest = 1.7976931348623157e+308;  // below and above which squares or inverses fail
constexpr int team = columns * splits, zones_per_block = 1, threads_per_block = team * zones_per_block,
    blocks_per_multiprocessor = 1;
constexpr int sweeps = 5;

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

// Tangent of the rotation that makes `off` vanish between two diagonal entries.
__device__ __forceinline__
value tangent(value first, value second, value off) {
    const value difference = second - first, twice = real(2) * off;
    const value below = magnitude(difference) + root(difference * difference + twice * twice);
    const value above = difference < every(0) ? -twice : twice;
    return below > every(0) ? above / below : every(0);
}

// Makes a[p][q] vanish.
template <int p, int q>
__device__ __forceinline__
void turn_both(value (&a)[3][3], value (&vectors)[3][3]) {
    constexpr int other = 3 - p - q;
    const value t = tangent(a[p][p], a[q][q], a[p][q]), c = inverse_root(real(1) + t * t), s = t * c;
    a[p][p] -= t * a[p][q];
    a[q][q] += t * a[p][q];
    const value left = c * a[p][other] - s * a[q][other], right = s * a[p][other] + c * a[q][other];
    a[p][other] = a[other][p] = left;
    a[q][other] = a[other][q] = right;
    a[p][q] = a[q][p] = every(0);
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
        const value one = vectors[i][p], two = vectors[i][q];
        vectors[i][p] = c * one - s * two;
        vectors[i][q] = s * one + c * two;
    }
}

// Makes columns p and q orthogonal.
template <int p, int q>
__device__ __forceinline__
void turn_columns(value (&a)[3][3]) {
    const value pp = a[0][p] * a[0][p] + a[1][p] * a[1][p] + a[2][p] * a[2][p];
    const value qq = a[0][q] * a[0][q] + a[1][q] * a[1][q] + a[2][q] * a[2][q];
    const value pq = a[0][p] * a[0][q] + a[1][p] * a[1][q] + a[2][p] * a[2][q];
    const value t = tangent(pp, qq, pq), c = inverse_root(real(1) + t * t), s = t * c;
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
        const value one = a[i][p], two = a[i][q];
        a[i][p] = c * one - s * two;
        a[i][q] = s * one + c * two;
    }
}

// Smallest eigenvalue of a symmetric matrix, with an eigenvector of no particular length: rotations in turn (Jacobi).
__device__ __forceinline__
value smallest_eigenpair(const value (&matrix)[3][3], value (&direction)[3]) {
    value scale = every(0), a[3][3], vectors[3][3];
    #pragma unroll
    for (int i = 0; i < 3; ++i)
        #pragma unroll
        for (int j = 0; j < 3; ++j) scale = larger(scale, magnitude(matrix[i][j]));
    const value by = scale > every(smallest) ? scale_of(scale) : every(0);  // squares of tiny numbers would vanish
    #pragma unroll
    for (int i = 0; i < 3; ++i)
        #pragma unroll
        for (int j = 0; j < 3; ++j) {
            a[i][j] = by * matrix[i][j];
            vectors[i][j] = every(i == j ? 1 : 0);
        }
    #pragma unroll 1
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        turn_both<0, 1>(a, vectors);
        turn_both<0, 2>(a, vectors);
        turn_both<1, 2>(a, vectors);
    }
    value eigenvalue = a[0][0];
    #pragma unroll
    for (int i = 0; i < 3; ++i) direction[i] = vectors[i][0];
    #pragma unroll
    for (int j = 1; j < 3; ++j) {
        #pragma unroll
        for (int i = 0; i < 3; ++i) direction[i] = a[j][j] < eigenvalue ? vectors[i][j] : direction[i];
        eigenvalue = smaller(eigenvalue, a[j][j]);
    }
    return scale_of(by) * eigenvalue;
}

// 1 / (smallest singular value): columns are rotated in turn until they are orthogonal (Hestenes); the shortest one's
// length is that value.
__device__ __forceinline__
value inverse_singular_value(const value (&matrix)[3][3], const value (&)[3][3], value) {
    value scale = every(0), a[3][3];
    #pragma unroll
    for (int i = 0; i < 3; ++i)
        #pragma unroll
        for (int j = 0; j < 3; ++j) scale = larger(scale, magnitude(matrix[i][j]));
    const value by = scale > every(smallest) ? scale_of(scale) : every(0);
    #pragma unroll
    for (int i = 0; i < 3; ++i)
        #pragma unroll
        for (int j = 0; j < 3; ++j) a[i][j] = by * matrix[i][j];
    #pragma unroll 1
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        turn_columns<0, 1>(a);
        turn_columns<0, 2>(a);
        turn_columns<1, 2>(a);
    }
    value shortest = every(largest);
    #pragma unroll
    for (int j = 0; j < 3; ++j) shortest = smaller(shortest, a[0][j] * a[0][j] + a[1][j] * a[1][j] + a[2][j] * a[2][j]);
    return by * inverse_root(shortest);
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
    const real* __restrict__ settings, real* __restrict__ stress, real* __restrict__ force, real* __restrict__ dt,
    int first, int last) {
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

