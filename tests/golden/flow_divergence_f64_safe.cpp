// staggered_flow: divergence, periodic, f64
// hone emit staggered_flow kernel=divergence ends=periodic precision=f64 nx=128 ny=128 nz=128 --target cpu --config
//     form=rows,y_block=16,z_block=1,vector_bytes=32,threads=all,binding=none
// The same text serves every nx, ny, nz and pitch.
// per cell: 15 operations, 56 bytes (compulsory)
#include <algorithm>

using real = double;
constexpr int vector_words = 4;
using wide = long long;  // a position in an array

// What a cell's update takes of the arguments.
struct Flow {
    const real *velocity[3], *change[3];
    real* cells;
    real share, per_width;
};

// Parts of the positions of a cell and of its neighbours: along each axis the one before, itself, the one behind.
struct Places {
    wide x[3], y[3], z[3];
};

// Of all cells of a row, without what differs along x. The box is periodic along x and y.
static inline
Places places_of_row(int j, int k, int ny, int nz, wide pitch) {
    const wide plane = ny * pitch;
    return {{0, 0, 0},
            {(j > 0 ? j - 1 : ny - 1) * pitch, j * pitch, (j + 1 < ny ? j + 1 : 0) * pitch},
            {(k > 0 ? k - 1 : nz - 1) * plane, k * plane, (k + 1 < nz ? k + 1 : 0) * plane}};
}

// The word that is m cells on along axis a and n cells on along axis b.
template <int a, int b>
static inline
wide moved(const Places& at, int m, int n) {
    return at.x[1 + (a == 0 ? m : 0) + (b == 0 ? n : 0)] + at.y[1 + (a == 1 ? m : 0) + (b == 1 ? n : 0)] +
           at.z[1 + (a == 2 ? m : 0) + (b == 2 ? n : 0)];
}

template <int a>
static inline
real gain(const Flow& f, const Places& at) {
    const wide here = moved<a, a>(at, 0, 0), behind = moved<a, a>(at, 0, 1);
    return f.velocity[a][behind] - f.velocity[a][here] + f.share * (f.change[a][behind] - f.change[a][here]);
}

static inline
void update(const Flow& f, const Places& at) {
    f.cells[moved<0, 0>(at, 0, 0)] = -f.per_width * (gain<0>(f, at) + gain<1>(f, at) + gain<2>(f, at));
}

// The planes [first, last). A thread takes `y_block` rows at a time and goes through `z_block` planes with them.
extern "C" void staggered_flow(
    const real* __restrict__ u, const real* __restrict__ v, const real* __restrict__ w,
    const real* __restrict__ change_u, const real* __restrict__ change_v,
    const real* __restrict__ change_w, real* __restrict__ cells, const real* __restrict__ numbers,
    int nx, int ny, int nz, int pitch, int first, int last, int y_block, int z_block
) {
    const Flow flow{{u, v, w}, {change_u, change_v, change_w}, cells, numbers[1], numbers[5]};
    #pragma omp parallel
    {
        #pragma omp for collapse(2) schedule(static)
        for (int z_begin = first; z_begin < last; z_begin += z_block)
            for (int y_begin = 0; y_begin < ny; y_begin += y_block)
                for (int k = z_begin; k < std::min(z_begin + z_block, last); ++k)
                    for (int j = y_begin; j < std::min(y_begin + y_block, ny); ++j) {
                        const Places row = places_of_row(j, k, ny, nz, pitch);
                        const auto update_at = [&](int before, int i, int behind) {
                            Places at = row;
                            at.x[0] = before, at.x[1] = i, at.x[2] = behind;
                            update(flow, at);
                        };
                        update_at(nx - 1, 0, nx > 1 ? 1 : 0);
                        // A cell writes nothing that another cell reads.
                        #pragma omp simd simdlen(vector_words)
                        for (int i = 1; i < nx - 1; ++i) update_at(i - 1, i, i + 1);
                        if (nx > 1) update_at(nx - 2, nx - 1, 0);
                    }
    }
}
