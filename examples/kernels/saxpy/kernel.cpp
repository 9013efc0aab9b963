void saxpy(float* z, float alpha, const float* x, const float* y, int n)
{
    #pragma omp parallel for schedule(static, chunk)
    for (int i = 0; i < n; ++i) z[i] = alpha * x[i] + y[i];
}
