void reference(const real* a, real* b, int rows, int columns)
{
    for (long y = 0; y < rows; ++y)
        for (long x = 0; x < columns; ++x) b[x * rows + y] = a[y * columns + x];
}
