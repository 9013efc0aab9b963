void statistics(const float* table, double* mean, int* positive, int rows, int columns)
{
    #pragma omp parallel for schedule(dynamic, rows_at_once)
    for (long row = 0; row < rows; ++row) {
        const float* const numbers = table + row * columns;
        const int whole = columns / lanes * lanes;
        double sums[lanes] = {};
        int counts[lanes] = {};
        for (int i = 0; i < whole; i += lanes)
            for (int lane = 0; lane < lanes; ++lane) {
                sums[lane] += numbers[i + lane];
                counts[lane] += numbers[i + lane] > 0;
            }
        for (int i = whole; i < columns; ++i) {
            sums[0] += numbers[i];
            counts[0] += numbers[i] > 0;
        }
        for (int lane = 1; lane < lanes; ++lane) {
            sums[0] += sums[lane];
            counts[0] += counts[lane];
        }
        mean[row] = sums[0] / columns;
        positive[row] = counts[0];
    }
}
