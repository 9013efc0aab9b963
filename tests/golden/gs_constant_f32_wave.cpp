// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cpu --config form=wave,
//     z_block=16,vector_bytes=64,threads=half,binding=spread
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int vector_words = 16;

namespace {

// What this needs of the standard library: its headers would take half of the time that the rest takes to compile.
template <typename Number>
constexpr Number lesser(Number a, Number b) { return b < a ? b : a; }
template <typename Number>
constexpr Number greater(Number a, Number b) { return a < b ? b : a; }

// `count` words, which begin as zeros.
template <typename Word>
class Words {
  public:
    explicit Words(long long count) : words_(new Word[count]()) {}
    ~Words() { delete[] words_; }
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;
    Word* data() const { return words_; }
    Word& operator[](long long n) const { return words_[n]; }

  private:
    Word* const words_;
};

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between
// configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
    #else
    return a * b + c;
    #endif
}

// Coefficient k of point x of a row.
struct Stencil {
    real s[27];
    real operator()(int k, int) const { return s[k]; }
};

inline Stencil stencil_of_row(const real* stencil, wide y, wide z, int ny, int nz, int pitch) {
    (void)y, (void)z, (void)ny, (void)nz, (void)pitch;
    Stencil row;
    for (int k = 0; k < 27; ++k) row.s[k] = stencil[k];
    return row;
}

// Both colours of a row, x counted from 1. All other rows keep their values meanwhile, so they are read once, and every
// loop runs over contiguous words: what belongs to the other colour is computed too and not stored, which costs less
// than loads with a stride. `rest` and `odd` are buffers of nx + 2 words. `s` is a copy: no store reaches it, so that
// what does not depend on x stays in registers.
inline void relax_row(real* u, const real* f, const Stencil s, int nx, wide pitch, wide plane,
                      real* __restrict rest, real* __restrict odd) {
    // First colour, odd x: all neighbours are old.
    odd[0] = u[0];
    odd[nx + 1] = u[nx + 1];
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        real sum = f[x];
        sum = multiply_add(s(0, x), -u[x - plane - pitch - 1], sum);
        sum = multiply_add(s(1, x), -u[x - plane - pitch], sum);
        sum = multiply_add(s(2, x), -u[x - plane - pitch + 1], sum);
        sum = multiply_add(s(3, x), -u[x - plane - 1], sum);
        sum = multiply_add(s(4, x), -u[x - plane], sum);
        sum = multiply_add(s(5, x), -u[x - plane + 1], sum);
        sum = multiply_add(s(6, x), -u[x - plane + pitch - 1], sum);
        sum = multiply_add(s(7, x), -u[x - plane + pitch], sum);
        sum = multiply_add(s(8, x), -u[x - plane + pitch + 1], sum);
        sum = multiply_add(s(9, x), -u[x - pitch - 1], sum);
        sum = multiply_add(s(10, x), -u[x - pitch], sum);
        sum = multiply_add(s(11, x), -u[x - pitch + 1], sum);
        sum = multiply_add(s(15, x), -u[x + pitch - 1], sum);
        sum = multiply_add(s(16, x), -u[x + pitch], sum);
        sum = multiply_add(s(17, x), -u[x + pitch + 1], sum);
        sum = multiply_add(s(18, x), -u[x + plane - pitch - 1], sum);
        sum = multiply_add(s(19, x), -u[x + plane - pitch], sum);
        sum = multiply_add(s(20, x), -u[x + plane - pitch + 1], sum);
        sum = multiply_add(s(21, x), -u[x + plane - 1], sum);
        sum = multiply_add(s(22, x), -u[x + plane], sum);
        sum = multiply_add(s(23, x), -u[x + plane + 1], sum);
        sum = multiply_add(s(24, x), -u[x + plane + pitch - 1], sum);
        sum = multiply_add(s(25, x), -u[x + plane + pitch], sum);
        sum = multiply_add(s(26, x), -u[x + plane + pitch + 1], sum);
        rest[x] = sum;
        odd[x] = multiply_add(s(14, x), -u[x + 1], multiply_add(s(12, x), -u[x - 1], sum)) * s(13, x);
    }
    // Second colour, even x: both neighbours in the row are new.
    #pragma omp simd simdlen(vector_words)
    for (int x = 1; x <= nx; ++x) {
        const real even = multiply_add(s(14, x), -odd[x + 1], multiply_add(s(12, x), -odd[x - 1], rest[x])) * s(13, x);
        u[x] = x % 2 == 1 ? odd[x] : even;
    }
}

// A grid with its arrays, and one thread's buffers. Rows and planes count from 0.
struct Rows {
    real* u;
    const real* f;
    const real* stencil;
    int nx, ny, nz, pitch;
    Words<real> rest{nx + 2}, odd{nx + 2};

    // Both colours of row y of plane z; nothing for a row beyond the grid.
    void relax(int y, int z) {
        if (y < 0 || y >= ny) return;
        const wide plane = wide(ny + 2) * pitch, row = (z + 1) * plane + (y + 1) * wide(pitch);
        relax_row(u + row, f + row, stencil_of_row(stencil, y, z, ny, nz, pitch), nx, pitch, plane,
                  rest.data(), odd.data());
    }
};

// Plane z, and the plane below it as soon as its neighbours are done, in one walk along y: all four colours of a plane
// with two of its rows in the caches. Row y of the first colours of plane z comes before row y - 1 of its last colours,
// which needs it. Two and three rows behind, plane z - 1 finds new values in plane z; ahead of that it is still old, as
// plane z needs it.
void relax_planes(Rows& rows, int z, bool this_plane, bool plane_below) {
    constexpr int lag = 3;
    for (int y = 0; y < rows.ny + lag; y += 2) {
        if (this_plane) {
            rows.relax(y, z);
            rows.relax(y - 1, z);
        }
        if (plane_below) {
            rows.relax(y - 2, z - 1);
            rows.relax(y - 3, z - 1);
        }
    }
}

}  // namespace

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace {

// Processors that a team may use; those that share a core, then a socket, are neighbours.
struct Seats {
    cpu_set_t allowed;
    int count;
    std::array<int, CPU_SETSIZE> processor;
};

// What the system says of a processor's place in the machine; 0 where it says nothing.
inline int topology(int processor, const char* what) {
    char path[96];
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", processor, what);
    int number = 0;
    std::FILE* const file = std::fopen(path, "r");
    if (file == nullptr) return 0;
    const bool read = std::fscanf(file, "%d", &number) == 1;
    std::fclose(file);
    return read ? number : 0;
}

inline void order_seats(Seats& seats) {
    std::array<std::array<int, 3>, CPU_SETSIZE> places;
    seats.count = 0;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &seats.allowed))
            places[seats.count++] =
                {topology(processor, "physical_package_id"), topology(processor, "core_id"), processor};
    std::sort(places.begin(), places.begin() + seats.count);
    for (int i = 0; i < seats.count; ++i) seats.processor[i] = places[i][2];
}

// Those of the calling thread; none where OpenMP was told at its start how to bind threads.
inline const Seats& available_seats() {
    static thread_local Seats seats;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (omp_get_proc_bind() != omp_proc_bind_false || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
    if (CPU_EQUAL(&allowed, &seats.allowed)) return seats;
    seats.allowed = allowed;
    order_seats(seats);
    return seats;
}

// Keeps a thread of the team on one processor as long as it lives, then gives back those that the thread had.
class Seat {
  public:
    explicit Seat(const Seats& seats) {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        if (threads > seats.count) return;
        const int place = static_cast<long>(thread) * seats.count / threads;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(seats.processor[place], &own);
        taken_ = sched_getaffinity(0, sizeof before_, &before_) == 0 && sched_setaffinity(0, sizeof own, &own) == 0;
    }
    ~Seat() {
        if (taken_) sched_setaffinity(0, sizeof before_, &before_);
    }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

  private:
    cpu_set_t before_;
    bool taken_ = false;
};

}  // namespace

// All eight colours of the planes [first, last). Colours 0 to 3 lie in even planes, 4 to 7 in odd ones. A thread takes
// blocks of `z_block` planes; the last odd plane of a block waits until the block above has its even planes.
extern "C" void gauss_seidel_27(
    real* u, const real* f, const real* stencil, int nx, int ny, int nz, int pitch, int first, int last,
    int z_block
) {
    const auto in_range = [=](int z) { return z >= first && z < last; };
    const int even_first = first / 2 * 2, even_last = (last + 1) / 2 * 2;
    const Seats& seats = available_seats();
    #pragma omp parallel num_threads(omp_get_max_threads() / 2 > 0 ? omp_get_max_threads() / 2 : 1)
    {
        const Seat seat(seats);
        Rows rows{u, f, stencil, nx, ny, nz, pitch};
        #pragma omp for schedule(static)
        for (int begin = even_first; begin < even_last; begin += z_block)
            for (int z = begin; z < lesser(begin + z_block, even_last); z += 2)
                relax_planes(rows, z, in_range(z), z > begin && in_range(z - 1));
        #pragma omp for schedule(static)
        for (int begin = even_first; begin < even_last; begin += z_block) {
            const int end = lesser(begin + z_block, even_last);
            relax_planes(rows, end, false, in_range(end - 1));
        }
    }
}
