// corner_force: products, Q8-Q7 in 3D, f64
// hone emit corner_force result=products dimension=3 order=8 precision=f64 zones=10000 --target cuda --config
//     form=separate,gradients=stored,decomposition=closed,zones_per_block=1,splits=1,points_per_pass=1,min_blocks=1
// The same text serves any number of zones.
// per zone: 6976256 operations sum-factorised, 405872 bytes (compulsory); this form executes 6976256 operations
using real = double;
using word = long long;  // of the same size: a number's sign, exponent and digits
constexpr word exponent_bits = 0x7ff0000000000000ll, exponent_sum = 0x7fe0000000000000ll;
constexpr int dimension = 3, order = 8;
constexpr int nodes_along = 9, energies_along = 8, points_along = 16;  // of an axis
constexpr int nodes = 729, energies = 512, points = 4096, columns = 256;  // columns: of points along the last axis
constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone
constexpr int gradient_words = 2 * stress_words;
constexpr int points_per_pass = 1;  // of a column, whose derivatives a thread sums up together
constexpr int splits = 1;  // threads that share a column of points
constexpr int together = 1;  // components whose sums a zone makes at a time
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
__constant__ real basis_table[16][9] = {
    {real(0.82067415000466293), real(0.23684617957148354), real(-0.087586681379822007), real(0.049048465386749007),
        real(-0.032151994488913135), real(0.022711885608803557), real(-0.01640828953549997), real(0.011238645634009658),
        real(-0.0043723608014733092)},
    {real(0.27963615871681724), real(0.84411178188597258), real(-0.18222534237642052), real(0.094132348005053587),
        real(-0.060007331795351053), real(0.041855379506682895), real(-0.030044498697584208),
        real(0.020511795158063863), real(-0.0079702904032341662)},
    {real(-0.097566495594839889), real(0.93766525166338588), real(0.21870954786760843), real(-0.092131737467887859),
        real(0.055387040479361972), real(-0.037678546563814148), real(0.026713920709322894), real(-0.01812603589557189),
        real(0.0070270548024347484)},
    {real(-0.087015946193839955), real(0.35988525691225398), real(0.85544697858028895), real(-0.19160272506366363),
        real(0.10304095681815953), real(-0.067198728471932756), real(0.046706615194961609), real(-0.031387087844552415),
        real(0.012124680068324857)},
    {real(0.045855480222649257), real(-0.1517303592864078), real(0.92879559926224009), real(0.24289813816920347),
        real(-0.1037136002994286), real(0.063079337782914899), real(-0.042536092723945616), real(0.028182033743577351),
        real(-0.010830536870802935)},
    {real(0.043377702674420864), real(-0.12990582629295636), real(0.33722931200175721), real(0.87487777088951912),
        real(-0.18772103008204577), real(0.10111050781838701), real(-0.065107629736493366), real(0.042263826842448886),
        real(-0.01612463411503786)},
    {real(-0.029344859606148278), real(0.083242167553774074), real(-0.16753746426892629), real(0.91331909011918677),
        real(0.2737789237343482), real(-0.11547353228687368), real(0.069123519239048387), real(-0.043556958511223397),
        real(0.01644911402681425)},
    {real(-0.025689324741698029), real(0.070514897502385002), real(-0.12554391777787538), real(0.30623053263045674),
        real(0.89486268639646593), real(-0.17921098286623549), real(0.094649689795488559), real(-0.057044861233129768),
        real(0.02123128029414232)},
    {real(0.021231280294142358), real(-0.057044861233129802), real(0.094649689795488559), real(-0.17921098286623555),
        real(0.89486268639646582), real(0.30623053263045719), real(-0.12554391777787557), real(0.070514897502385071),
        real(-0.025689324741698025)},
    {real(0.016449114026814277), real(-0.043556958511223383), real(0.069123519239048373), real(-0.11547353228687365),
        real(0.27377892373434815), real(0.9133190901191871), real(-0.16753746426892635), real(0.083242167553774074),
        real(-0.02934485960614824)},
    {real(-0.016124634115037867), real(0.042263826842448851), real(-0.065107629736493297), real(0.10111050781838693),
        real(-0.18772103008204569), real(0.87487777088951935), real(0.33722931200175693), real(-0.12990582629295613),
        real(0.043377702674420766)},
    {real(-0.010830536870802942), real(0.028182033743577351), real(-0.042536092723945582), real(0.063079337782914871),
        real(-0.1037136002994285), real(0.2428981381692035), real(0.92879559926223987), real(-0.15173035928640777),
        real(0.045855480222649195)},
    {real(0.012124680068324867), real(-0.031387087844552415), real(0.046706615194961582), real(-0.06719872847193277),
        real(0.10304095681815949), real(-0.19160272506366363), real(0.85544697858028829), real(0.35988525691225454),
        real(-0.087015946193839913)},
    {real(0.0070270548024347129), real(-0.018126035895571772), real(0.026713920709322707), real(-0.037678546563813899),
        real(0.055387040479361611), real(-0.092131737467887276), real(0.2187095478676071), real(0.93766525166338599),
        real(-0.097566495594839223)},
    {real(-0.007970290403234194), real(0.020511795158063922), real(-0.030044498697584271), real(0.041855379506682992),
        real(-0.060007331795351192), real(0.094132348005053879), real(-0.1822253423764211), real(0.84411178188597247),
        real(0.27963615871681757)},
    {real(-0.0043723608014733196), real(0.011238645634009671), real(-0.016408289535499988), real(0.022711885608803592),
        real(-0.03215199448891317), real(0.049048465386749097), real(-0.087586681379822159), real(0.23684617957148343),
        real(0.82067415000466304)},
};
__constant__ real slope_table[16][9] = {
    {real(-31.738943351454626), real(40.816268879773936), real(-13.70096609754945), real(7.514965458497687),
        real(-4.8884883243706039), real(3.4408592870517305), real(-2.4812896620283622), real(1.6979382759072323),
        real(-0.66034446582753681)},
    {real(-17.487934256604397), real(15.339653197523599), real(3.4574728523851994), real(-2.1663360628980679),
        real(1.4603386437635195), real(-1.0432012344682535), real(0.75772618775675837), real(-0.52036280984055461),
        real(0.20264348238220728)},
    {real(-3.5682443773880115), real(-6.7025585327875579), real(13.575306920530169), real(-5.1074918589567),
        real(2.9780114176858481), real(-2.000147397499874), real(1.4092440854896651), real(-0.95324348276206228),
        real(0.36912322568852374)},
    {real(2.1747350695893739), real(-11.037853742315875), real(7.4885042708025793), real(2.2450671631232799),
        real(-1.4598866733942157), real(1.009831420340904), real(-0.72019450049844325), real(0.48986678875085493),
        real(-0.19006979639846683)},
    {real(1.0818095231513585), real(-3.2971689808180895), real(-4.5469027042582262), real(8.9085776047959246),
        real(-3.3253191622730069), real(1.9469041956898552), real(-1.2918190388942363), real(0.84950412815069754),
        real(-0.32558556554427726)},
    {real(-0.81684138531837469), real(2.5550256247348462), real(-8.1832438540120886), real(5.1917122684626822),
        real(2.0225253957877678), real(-1.2846189343551258), real(0.87107199836127613), real(-0.57765164013188797),
        real(0.22202052647090445)},
    {real(-0.5071727476853215), real(1.4011096472082047), real(-2.5149609050185715), real(-4.0811863319667863),
        real(7.4383954175264932), real(-2.6754390471908742), real(1.5313022917985197), real(-0.94780502343186812),
        real(0.35575669876020538)},
    {real(0.47427614419722836), real(-1.3212570910059405), real(2.4716356509586976), real(-7.2612720274338898),
        real(4.293409393071693), real(2.1301814505072989), real(-1.2931051470217203), real(0.81240462753369824),
        real(-0.30627300080706693)},
    {real(0.30627300080706699), real(-0.81240462753369713), real(1.2931051470217181), real(-2.1301814505072949),
        real(-4.2934093930717001), real(7.2612720274338907), real(-2.4716356509586981), real(1.3212570910059389),
        real(-0.47427614419722736)},
    {real(-0.35575669876020577), real(0.94780502343186812), real(-1.5313022917985195), real(2.6754390471908738),
        real(-7.4383954175264932), real(4.0811863319667836), real(2.5149609050185728), real(-1.4011096472082043),
        real(0.50717274768532083)},
    {real(-0.22202052647090506), real(0.57765164013188897), real(-0.87107199836127713), real(1.2846189343551275),
        real(-2.022525395787774), real(-5.1917122684626786), real(8.1832438540120886), real(-2.5550256247348466),
        real(0.81684138531837447)},
    {real(0.32558556554427764), real(-0.84950412815069765), real(1.2918190388942359), real(-1.9469041956898543),
        real(3.3253191622730056), real(-8.9085776047959229), real(4.5469027042582209), real(3.2971689808180868),
        real(-1.0818095231513565)},
    {real(0.19006979639846627), real(-0.48986678875085266), real(0.72019450049843958), real(-1.0098314203409002),
        real(1.4598866733942091), real(-2.2450671631232675), real(-7.4885042708025971), real(11.037853742315871),
        real(-2.1747350695893681)},
    {real(-0.36912322568852474), real(0.95324348276206339), real(-1.4092440854896668), real(2.0001473974998767),
        real(-2.9780114176858481), real(5.1074918589567044), real(-13.575306920530167), real(6.7025585327875401),
        real(3.5682443773880275)},
    {real(-0.2026434823822072), real(0.52036280984055361), real(-0.75772618775675671), real(1.0432012344682506),
        real(-1.460338643763516), real(2.166336062898063), real(-3.4574728523851892), real(-15.339653197523599),
        real(17.487934256604394)},
    {real(0.66034446582753847), real(-1.697938275907235), real(2.4812896620283653), real(-3.4408592870517345),
        real(4.8884883243706074), real(-7.5149654584976986), real(13.700966097549481), real(-40.816268879773929),
        real(31.738943351454623)},
};
__constant__ real bernstein_table[16][8] = {
    {real(0.96348787661384117), real(0.03593267360820402), real(0.00057432275736631869), real(5.0997632285771673e-06),
        real(2.7170351152523946e-08), real(8.6854383075830535e-11), real(1.5424664384955183e-13),
        real(1.1739860095033948e-16)},
    {real(0.82141561165457866), real(0.16388598304581287), real(0.014013411754995105), real(0.00066569217264277319),
        real(1.8973797807371026e-05), real(3.2447880689880224e-07), real(3.0828038984011717e-09),
        real(1.2552455120472782e-11)},
    {real(0.61456893918374755), real(0.30984270906033795), real(0.066947624287235205), real(0.0080363076465786078),
        real(0.00057880088751204517), real(2.5012267980608661e-05), real(6.0048816540055845e-07),
        real(6.1784430355595538e-09)},
    {real(0.40126411542201096), real(0.39138105883344143), real(0.16360346571144835), real(0.037993796282688209),
        real(0.0052940023600101509), real(0.00044259532444611087), real(2.0556870870124994e-05),
        real(4.0919508501990802e-07)},
    {real(0.22667682340427656), real(0.3747692047278417), real(0.26554852354429559), real(0.10453251030081628),
        real(0.024689376308208048), real(0.0034988079827078153), real(0.0002754593974852018),
        real(9.2943343689690339e-06)},
    {real(0.10942780326298782), real(0.28474036811266173), real(0.31753647407694363), real(0.19672777898129684),
        real(0.073128894818305479), real(0.016310361307505666), real(0.0020209969035749615),
        real(0.00010732253672341625)},
    {real(0.044367600759338925), real(0.17409025418664484), real(0.29275625924002224), real(0.27350509055276884),
        real(0.15331190817740534), real(0.051562933197681682), real(0.0096344479533985901),
        real(0.00077150593273951488)},
    {real(0.01474767626545433), real(0.085318877058542936), real(0.21153872413055058), real(0.29138160112807143),
        real(0.24081615645056287), real(0.11941540780153609), real(0.032897478102495561), real(0.0038840790627866417)},
    {real(0.0038840790627866382), real(0.032897478102495534), real(0.11941540780153601), real(0.24081615645056273),
        real(0.29138160112807132), real(0.21153872413055053), real(0.085318877058542908), real(0.01474767626545433)},
    {real(0.00077150593273951488), real(0.0096344479533985901), real(0.051562933197681682), real(0.15331190817740534),
        real(0.27350509055276884), real(0.29275625924002224), real(0.17409025418664484), real(0.044367600759338925)},
    {real(0.00010732253672341639), real(0.0020209969035749646), real(0.016310361307505683), real(0.073128894818305534),
        real(0.19672777898129701), real(0.31753647407694374), real(0.28474036811266179), real(0.10942780326298782)},
    {real(9.2943343689690339e-06), real(0.0002754593974852018), real(0.0034988079827078153), real(0.024689376308208048),
        real(0.10453251030081628), real(0.26554852354429559), real(0.3747692047278417), real(0.22667682340427656)},
    {real(4.091950850199067e-07), real(2.055687087012494e-05), real(0.00044259532444610995),
        real(0.0052940023600101414), real(0.037993796282688154), real(0.16360346571144818), real(0.39138105883344132),
        real(0.40126411542201096)},
    {real(6.1784430355595182e-09), real(6.004881654005557e-07), real(2.5012267980608567e-05),
        real(0.00057880088751204332), real(0.0080363076465785888), real(0.066947624287235094),
        real(0.30984270906033767), real(0.61456893918374755)},
    {real(1.2552455120472782e-11), real(3.0828038984011717e-09), real(3.2447880689880224e-07),
        real(1.8973797807371026e-05), real(0.00066569217264277319), real(0.014013411754995105),
        real(0.16388598304581287), real(0.82141561165457866)},
    {real(1.1739860095033948e-16), real(1.5424664384955183e-13), real(8.6854383075830535e-11),
        real(2.7170351152523946e-08), real(5.0997632285771673e-06), real(0.00057432275736631869),
        real(0.03593267360820402), real(0.96348787661384117)},
};
__constant__ real weight_table[16] =
    {real(0.013576229705877029), real(0.031126761969323888), real(0.047579255841246448), real(0.062314485627766973),
    real(0.07479799440828841), real(0.084578259697501282), real(0.091301707522461806), real(0.094725305227534237),
    real(0.094725305227534237), real(0.091301707522461806), real(0.084578259697501282), real(0.07479799440828841),
    real(0.062314485627766973), real(0.047579255841246448), real(0.031126761969323888), real(0.013576229705877029)};
__constant__ real inverse_weight_table[16] =
    {real(73.658152643595074), real(32.126695381470199), real(21.017562850007842), real(16.047633065182612),
    real(13.369342425699978), real(11.823369309992355), real(10.952697678233264), real(10.556841148180597),
    real(10.556841148180597), real(10.952697678233264), real(11.823369309992355), real(13.369342425699978),
    real(16.047633065182612), real(21.017562850007842), real(32.126695381470199), real(73.658152643595074)};

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
        #pragma unroll 4
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
        #pragma unroll 4
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
        #pragma unroll 4
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


// Derivatives along the reference axes at all points, one field at a time.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_gradients(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 9504;
    const int field = blockIdx.y;
    constexpr int planes_words = 6912;  // of a zone
    value* const planes = buffer;
    value* const lines = planes + planes_words;
    const real* const source = field < dimension ? x : v;
    const int component = field % dimension;
    {
        gather_planes<1>(lane, [&](int i) { return fetch<vector_words>(source, at, component * nodes + i); }, lines,
            planes);
        #pragma unroll
        for (int g = 0; g < dimension; ++g) {
            const auto from = [&](int i) { return planes[g * (nodes_along * columns) + i]; };
            const auto to =
                [&](int i, value sum,
                value) { put<gradient_words>(gradients, at, (field * dimension + g) * points + i, sum); };
            if (g == dimension - 1)
                to_points<Table::slope, Table::slope, columns, 1>(lane, from, to);
            else
                to_points<Table::basis, Table::basis, columns, 1>(lane, from, to);
        }
    }
}

// The physics at the points.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_points(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 3328;
    constexpr int energy_plane_words = 2048, energy_lines_words = 1024;  // of a zone
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
        rates[lane] = rate;
        barrier();
        if (lane == 0) {
            for (int i = 1; i < team; ++i) rate = larger(rate, rates[i]);
            const value bounded = smaller(every(shared_by_all.cfl) / rate, every(largest));
            put<1>(dt, at, 0, rate > every(0) ? (rate < every(largest) ? bounded : every(0)) : every(largest));
        }
    }
}

// F.1, axis by axis.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_momentum(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 9504;
    constexpr int planes_words = 6912;  // of a zone
    value* const planes = buffer;
    value* const lines = planes + planes_words;
    const auto stress_at = [&](int i) { return fetch<stress_words>(stress, at, i); };
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

// Derivatives along the reference axes at all points, one field at a time.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_gradients_of_w(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 9504;
    const int field = blockIdx.y;
    constexpr int planes_words = 6912;  // of a zone
    value* const planes = buffer;
    value* const lines = planes + planes_words;
    const real* const source = w;
    const int component = field;
    {
        gather_planes<1>(lane, [&](int i) { return fetch<vector_words>(source, at, component * nodes + i); }, lines,
            planes);
        #pragma unroll
        for (int g = 0; g < dimension; ++g) {
            const auto from = [&](int i) { return planes[g * (nodes_along * columns) + i]; };
            const auto to =
                [&](int i, value sum,
                value) { put<gradient_words>(gradients, at, (field * dimension + g) * points + i, sum); };
            if (g == dimension - 1)
                to_points<Table::slope, Table::slope, columns, 1>(lane, from, to);
            else
                to_points<Table::basis, Table::basis, columns, 1>(lane, from, to);
        }
    }
}

// F^T w, axis by axis.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
corner_force_work(const real* __restrict__ x, const real* __restrict__ v, const real* __restrict__ e,
    const real* __restrict__ initial_inverse, const real* __restrict__ mass, const real* __restrict__ gamma,
    const real* __restrict__ settings, const real* __restrict__ w, real* __restrict__ force, real* __restrict__ work,
    real* __restrict__ dt, real* __restrict__ gradients, real* __restrict__ stress, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int lane = threadIdx.x % team;
    const long long wanted = first + (long long)blockIdx.x * zones_per_block + threadIdx.x / team;
    const Place at{wanted < last ? wanted : last - 1, wanted < last};
    value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * 7168;
    constexpr int energy_plane_words = 2048, energy_lines_words = 1024;  // of a zone
    value* const energy_plane = buffer;
    value* const energy_lines = energy_plane + energy_plane_words;
    value* const powers = energy_lines + energy_lines_words;
    const auto stress_at = [&](int i) { return fetch<stress_words>(stress, at, i); };
    {
        for (int item = lane; item < columns * splits; item += team) {
            const int column = item % columns, begin = item / columns * (points_along / splits);
            #pragma unroll 1
            for (int q = begin; q < begin + points_along / splits; q += points_per_pass) {
                asm volatile("" ::: "memory");  // sums of the column are read again
                value fields[points_per_pass][dimension][dimension];
                #pragma unroll
                for (int i = 0; i < points_per_pass * dimension * dimension; ++i) {
                    constexpr int per_point = dimension * dimension;
                    fields[i / per_point][i % per_point / dimension][i % dimension] =
                        fetch<gradient_words>(gradients, at,
                            i % per_point * points + (q + i / per_point) * columns + column);
                }
                #pragma unroll
                for (int s = 0; s < points_per_pass; ++s) {
                    const int point = (q + s) * columns + column;
                    value power = every(0);
                    #pragma unroll
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
            lane, [&](int i) { return energy_lines[i]; }, [&](int i, value sum) { put<energies>(work, at, i, sum); });
    }
}

