// staggered_flow: momentum, periodic, f64
// hone emit staggered_flow kernel=momentum ends=periodic precision=f64 nx=128 ny=128 nz=128 --target cuda --config
//     form=points,block_x=128,block_y=1,z_block=1,min_blocks=1
// The same text serves every nx, ny, nz and pitch.
// per cell: 126 operations, 72 bytes (compulsory)
using real = double;
constexpr int block_x = 128, block_y = 1, z_block = 1, min_blocks = 1;
using wide = long long;  // a position in an array

// What a cell's update takes of the arguments.
struct Flow {
    const real* velocity[3];
    real* change[3];
    real keep, dt, diffusion, convection;
};

// Parts of the positions of a cell and of its neighbours: along each axis the one before, itself, the one behind.
struct Places {
    wide x[3], y[3], z[3];
};

// Of all cells of a row, without what differs along x. The box is periodic along x and y.
__device__ __forceinline__
Places places_of_row(int j, int k, int ny, int nz, wide pitch) {
    const wide plane = ny * pitch;
    return {{0, 0, 0},
            {(j > 0 ? j - 1 : ny - 1) * pitch, j * pitch, (j + 1 < ny ? j + 1 : 0) * pitch},
            {(k > 0 ? k - 1 : nz - 1) * plane, k * plane, (k + 1 < nz ? k + 1 : 0) * plane}};
}

// The word that is m cells on along axis a and n cells on along axis b.
template <int a, int b>
__device__ __forceinline__
wide moved(const Places& at, int m, int n) {
    return at.x[1 + (a == 0 ? m : 0) + (b == 0 ? n : 0)] + at.y[1 + (a == 1 ? m : 0) + (b == 1 ? n : 0)] +
           at.z[1 + (a == 2 ? m : 0) + (b == 2 ? n : 0)];
}

// What velocity component a gains by diffusion along axis b and loses by being carried along it.
template <int a, int b>
__device__ __forceinline__
real transport(const Flow& f, const Places& at) {
    const real *const carried = f.velocity[a], *const carrier = f.velocity[b];
    const real before = carried[moved<a, b>(at, 0, -1)], here = carried[moved<a, b>(at, 0, 0)],
        behind = carried[moved<a, b>(at, 0, 1)];
    // Twice the velocity through the sides of the cell around this word: the sides lie between words of component a.
    const real in = a == b ? before + here
        : carrier[moved<a, b>(at, a == b ? 0 : -1, 0)] + carrier[moved<a, b>(at, 0, 0)];
    const real out = a == b ? here + behind
        : carrier[moved<a, b>(at, a == b ? 0 : -1, 1)] + carrier[moved<a, b>(at, 0, 1)];
    return f.diffusion * (before - 2 * here + behind) - f.convection * (out * (here + behind) - in * (before + here));
}

template <int a>
__device__ __forceinline__
void update_component(const Flow& f, const Places& at) {
    const wide here = moved<a, a>(at, 0, 0);
    const real sum = transport<a, 0>(f, at) + transport<a, 1>(f, at) + transport<a, 2>(f, at);
    f.change[a][here] = f.keep * f.change[a][here] + f.dt * sum;
}

__device__ __forceinline__
void update(const Flow& f, const Places& at) {
    update_component<0>(f, at);
    update_component<1>(f, at);
    update_component<2>(f, at);
}

// The planes [first, last). A thread has the cells (i, j) of `z_block` planes, one after the other.
extern "C" __global__ void __launch_bounds__(block_x * block_y, min_blocks) staggered_flow(
    const real* __restrict__ u, const real* __restrict__ v, const real* __restrict__ w,
    real* __restrict__ change_u, real* __restrict__ change_v, real* __restrict__ change_w,
    const real* __restrict__ numbers, int nx, int ny, int nz, int pitch, int first, int last
) {
    const int i = blockIdx.x * block_x + threadIdx.x, j = blockIdx.y * block_y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    const Flow flow{{u, v, w}, {change_u, change_v, change_w}, numbers[0], numbers[2], numbers[3], numbers[4]};
    const int begin = first + blockIdx.z * z_block, end = min(begin + z_block, last);
    for (int k = begin; k < end; ++k) {
        Places at = places_of_row(j, k, ny, nz, pitch);
        at.x[0] = i > 0 ? i - 1 : nx - 1, at.x[1] = i, at.x[2] = i + 1 < nx ? i + 1 : 0;
        update(flow, at);
    }
}
