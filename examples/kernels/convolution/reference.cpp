void reference(const real* picture, const real* weights, real* result, int width, int height)
{
    const long side = 2 * radius + 1;
    for (long y = 0; y < height; ++y)
        for (long x = 0; x < width; ++x) {
            real sum = 0;
            for (long j = 0; j < side; ++j)
                for (long i = 0; i < side; ++i) sum += weights[j * side + i] * picture[(y + j) * (width + 2 * radius) + x + i];
            result[y * width + x] = sum;
        }
}
