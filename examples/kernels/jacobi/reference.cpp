// As a textbook has it, without tunables: what every candidate is compared with.
void reference(const real* u, const real* f, real* next, int size)
{
    const long pitch = size + 2;
    for (long y = 1; y <= size; ++y)
        for (long i = y * pitch + 1; i <= y * pitch + size; ++i)
            next[i] = (u[i - 1] + u[i + 1] + u[i - pitch] + u[i + pitch] + f[i]) / 4;
}
