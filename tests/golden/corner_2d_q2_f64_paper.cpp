// corner_force: products, Q2-Q1 in 2D, f64
// hone emit corner_force result=products dimension=2 order=2 precision=f64 zones=10000 --target cpu --config
//     form=paper,lanes=8,points_per_pass=1,threads=all,binding=none
// The same text serves any number of zones.
// per zone: 4928 operations sum-factorised, 1296 bytes (compulsory); this form executes 8064 operations
#include <cmath>

using real = double;
using word = long long;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7ff0000000000000ll, exponent_sum = 0x7fe0000000000000ll;
constexpr int dimension = 2, order = 2;
constexpr int nodes_along = 3, energies_along = 2, points_along = 4;  // of an axis
constexpr int nodes = 9, energies = 4, points = 16, columns = 4;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int gradient_words = 2 * stress_words;
constexpr int corner_words = energies * vector_words;
constexpr int points_per_pass = 1;  // of a column, whose derivatives a thread sums up together
constexpr int splits = 1;  // threads that share a column of points
constexpr real smallest = 1e-290, largest = __DBL_MAX__;  // below and above which squares or inverses fail
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

// Smallest eigenvalue of a symmetric matrix, with an eigenvector of no particular length.
static inline
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
static inline
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
static inline
value adjugate_of(const value (&m)[2][2], value (&adjugate)[2][2]) {
    adjugate[0][0] = m[1][1];
    adjugate[0][1] = -m[0][1];
    adjugate[1][0] = -m[1][0];
    adjugate[1][1] = m[0][0];
    return m[0][0] * adjugate[0][0] + m[0][1] * adjugate[1][0];
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
            }
            to(target + q * inner, one, two);
        }
    }
}

// Energies, summed along all axes but the last: energy_plane[coefficient along the last axis][column].
template <typename From>
static inline
void gather_energy(int lane, From from, value* lines, value* energy_plane) {
    to_points<Table::bernstein, Table::bernstein, 1, energies_along>(
        lane, from, [&](int i, value held, value) { energy_plane[i] = held; });
    barrier();
}


// A column of A.
static inline void form_column(const real* stress, int q, const real* point_slopes, real* to) {
    for (int c = 0; c < dimension; ++c) {
        const real s0 = stress[(c * dimension + 0) * points + q];
        const real s1 = stress[(c * dimension + 1) * points + q];
        #pragma omp simd
        for (int i = 0; i < nodes; ++i)
            to[c * nodes + i] = s0 * point_slopes[(0 * points + q) * nodes + i]
                + s1 * point_slopes[(1 * points + q) * nodes + i];
    }
}

// Kernel 3: derivatives of positions and velocities at the points, as products with a matrix of all nodes and points.
extern "C" void
corner_force_gradients(const real* __restrict x, const real* __restrict v, const real* __restrict e,
    const real* __restrict initial_inverse, const real* __restrict mass, const real* __restrict gamma,
    const real* __restrict settings, const real* __restrict w, real* __restrict force, real* __restrict work,
    real* __restrict dt, real* __restrict gradients, real* __restrict stress, real* __restrict column_of_a,
    real* __restrict corner, const real* __restrict node_slopes, const real* __restrict point_slopes,
    const real* __restrict bernstein_rows, int first, int last) {
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long zone = first; zone < last; ++zone)
            for (int f = 0; f < 2 * dimension; ++f) {
                const real* const field = (f < dimension ? x + f * nodes : v + (f - dimension) * nodes)
                    + zone * vector_words;
                for (int g = 0; g < dimension; ++g) {
                    real sum[points] = {};
                    for (int i = 0; i < nodes; ++i) {
                        const real* const slope = node_slopes + (g * nodes + i) * points;
                        #pragma omp simd
                        for (int q = 0; q < points; ++q) sum[q] += field[i] * slope[q];
                    }
                    real* const to = gradients + zone * gradient_words + (f * dimension + g) * points;
                    for (int q = 0; q < points; ++q) to[q] = sum[q];
                }
            }
    }
}

// The physics at the points.
extern "C" void
corner_force_points(const real* __restrict x, const real* __restrict v, const real* __restrict e,
    const real* __restrict initial_inverse, const real* __restrict mass, const real* __restrict gamma,
    const real* __restrict settings, const real* __restrict w, real* __restrict force, real* __restrict work,
    real* __restrict dt, real* __restrict gradients, real* __restrict stress, real* __restrict column_of_a,
    real* __restrict corner, const real* __restrict node_slopes, const real* __restrict point_slopes,
    const real* __restrict bernstein_rows, int first, int last) {
    #pragma omp parallel
    {
        constexpr int lane = 0;
        #pragma omp for schedule(static)
        for (long long zone = first; zone < last; zone += lanes) {
            const Place at{zone, last - zone < lanes ? static_cast<int>(last - zone) : lanes};
            alignas(64) value buffer[8];
            value* const energy_plane = buffer;
            {
                gather_energy(lane, [&](int i) { return fetch<energies>(e, at, i); }, nullptr, energy_plane);
                const Settings shared_by_all{settings[0], settings[1], settings[2], settings[3]};
                const value gamma_here = fetch<1>(gamma, at, 0);
                value rate = every(0);
                for (int item = lane; item < columns * splits; item += team) {
                    const int column = item % columns, begin = item / columns * (points_along / splits);
                    const real weight_across = weight_table[column], inverse_across = inverse_weight_table[column];
                    #pragma GCC unroll 1
                    for (int q = begin; q < begin + points_along / splits; q += points_per_pass) {
                        value fields[points_per_pass][2 * dimension][dimension];
                        #pragma GCC unroll 32
                        for (int i = 0; i < points_per_pass * 2 * dimension * dimension; ++i) {
                            constexpr int per_point = 2 * dimension * dimension;
                            fields[i / per_point][i % per_point / dimension][i % dimension] =
                                fetch<gradient_words>(gradients, at,
                                    i % per_point * points + (q + i / per_point) * columns + column);
                        }
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
                                put<stress_words>(stress, at, i * points + point, made[i / dimension][i % dimension]);
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
        }
    }
}

// Kernels 4 to 6: the columns of A, one for each point: stress times gradients of the basis.
extern "C" void
corner_force_columns(const real* __restrict x, const real* __restrict v, const real* __restrict e,
    const real* __restrict initial_inverse, const real* __restrict mass, const real* __restrict gamma,
    const real* __restrict settings, const real* __restrict w, real* __restrict force, real* __restrict work,
    real* __restrict dt, real* __restrict gradients, real* __restrict stress, real* __restrict column_of_a,
    real* __restrict corner, const real* __restrict node_slopes, const real* __restrict point_slopes,
    const real* __restrict bernstein_rows, int first, int last) {
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long zone = first; zone < last; ++zone)
            for (int q = 0; q < points; ++q)
                form_column(stress + zone * stress_words, q, point_slopes,
                    column_of_a + (zone * points + q) * vector_words);
    }
}

// Kernel 7: F = A B^T, four points at a time.
extern "C" void
corner_force_corner(const real* __restrict x, const real* __restrict v, const real* __restrict e,
    const real* __restrict initial_inverse, const real* __restrict mass, const real* __restrict gamma,
    const real* __restrict settings, const real* __restrict w, real* __restrict force, real* __restrict work,
    real* __restrict dt, real* __restrict gradients, real* __restrict stress, real* __restrict column_of_a,
    real* __restrict corner, const real* __restrict node_slopes, const real* __restrict point_slopes,
    const real* __restrict bernstein_rows, int first, int last) {
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long zone = first; zone < last; ++zone) {
            real* const to = corner + zone * corner_words;
            for (int q = 0; q < points; q += 4) {
                const real* const a0 = column_of_a + (zone * points + q + 0) * vector_words;
                const real* const a1 = column_of_a + (zone * points + q + 1) * vector_words;
                const real* const a2 = column_of_a + (zone * points + q + 2) * vector_words;
                const real* const a3 = column_of_a + (zone * points + q + 3) * vector_words;
                for (int j = 0; j < energies; ++j) {
                    const real* const by = bernstein_rows + q * energies + j;
                    real* const column = to + j * vector_words;
                    if (q == 0)
                        for (int row = 0; row < vector_words; ++row) column[row] = 0;
                    #pragma omp simd
                    for (int row = 0; row < vector_words; ++row)
                        column[row] += a0[row] * by[0] + a1[row] * by[energies] + a2[row] * by[2 * energies]
                            + a3[row] * by[3 * energies];
                }
            }
        }
    }
}

// Kernel 8: F.1.
extern "C" void
corner_force_sums(const real* __restrict x, const real* __restrict v, const real* __restrict e,
    const real* __restrict initial_inverse, const real* __restrict mass, const real* __restrict gamma,
    const real* __restrict settings, const real* __restrict w, real* __restrict force, real* __restrict work,
    real* __restrict dt, real* __restrict gradients, real* __restrict stress, real* __restrict column_of_a,
    real* __restrict corner, const real* __restrict node_slopes, const real* __restrict point_slopes,
    const real* __restrict bernstein_rows, int first, int last) {
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long zone = first; zone < last; ++zone) {
            real sum[vector_words] = {};
            for (int j = 0; j < energies; ++j) {
                const real* const column = corner + zone * corner_words + j * vector_words;
                #pragma omp simd
                for (int row = 0; row < vector_words; ++row) sum[row] += column[row];
            }
            for (int row = 0; row < vector_words; ++row) force[zone * vector_words + row] = sum[row];
        }
    }
}

// Kernel 10: F^T w.
extern "C" void
corner_force_products(const real* __restrict x, const real* __restrict v, const real* __restrict e,
    const real* __restrict initial_inverse, const real* __restrict mass, const real* __restrict gamma,
    const real* __restrict settings, const real* __restrict w, real* __restrict force, real* __restrict work,
    real* __restrict dt, real* __restrict gradients, real* __restrict stress, real* __restrict column_of_a,
    real* __restrict corner, const real* __restrict node_slopes, const real* __restrict point_slopes,
    const real* __restrict bernstein_rows, int first, int last) {
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long zone = first; zone < last; ++zone)
            for (int j = 0; j < energies; ++j) {
                const real* const column = corner + zone * corner_words + j * vector_words;
                const real* const velocity = w + zone * vector_words;
                real sum = 0;
                #pragma omp simd reduction(+ : sum)
                for (int row = 0; row < vector_words; ++row) sum += column[row] * velocity[row];
                work[zone * energies + j] = sum;
            }
    }
}

