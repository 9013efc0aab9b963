void reference(float* z, float alpha, const float* x, const float* y, int n)
{
    for (long i = 0; i < n; ++i) z[i] = alpha * x[i] + y[i];
}
