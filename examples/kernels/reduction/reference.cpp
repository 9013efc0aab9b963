void reference(const real* x, real* sum, int n)
{
    real all = 0;
    for (long i = 0; i < n; ++i) all += x[i];
    *sum = all;
}
