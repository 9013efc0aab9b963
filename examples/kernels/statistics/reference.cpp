void reference(const float* table, double* mean, int* positive, int rows, int columns)
{
    for (long row = 0; row < rows; ++row) {
        double sum = 0;
        int count = 0;
        for (long i = row * columns; i < (row + 1) * columns; ++i) {
            sum += table[i];
            count += table[i] > 0;
        }
        mean[row] = sum / columns;
        positive[row] = count;
    }
}
