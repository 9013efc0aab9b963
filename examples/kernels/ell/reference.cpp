void reference(const real* values, const int* columns, const real* x, real* y, int rows, int first, int last)
{
    for (long row = first; row < last; ++row) {
        real sum = 0;
        for (long k = 0; k < width; ++k) sum += values[k * rows + row] * x[columns[k * rows + row]];
        y[row] = sum;
    }
}
