/* What generated code calls: one function a paragraph, for float and for double.

   Those for float are polynomials, so that loops over them become vector instructions; their
   results are within 2 units in the last place, those of sigmoid within 3. Those for double are the C library's. NaN,
   infinities and the sign of 0 come out as from NumPy: nothing here may be compiled with
   -ffast-math. */

/* a * b + c, rounded once where the processor can do that as quickly as twice. */
#ifdef __FP_FAST_FMAF
#define MADD_float(a, b, c) __builtin_fmaf(a, b, c)
#else
#define MADD_float(a, b, c) ((a) * (b) + (c))
#endif

#ifdef __FP_FAST_FMA
#define MADD_double(a, b, c) __builtin_fma(a, b, c)
#else
#define MADD_double(a, b, c) ((a) * (b) + (c))
#endif

static inline int32_t bits_of(float x) { int32_t i; memcpy(&i, &x, 4); return i; }

static inline float float_of(int32_t i) { float x; memcpy(&x, &i, 4); return x; }

/* exp(r) - 1 - r, divided by r², for |r| <= log(2) / 2 (the coefficients of Cephes). */
static inline float exp_tail(float r)
{
    float p = 1.9875691500e-4f;
    p = MADD_float(p, r, 1.3981999507e-3f);
    p = MADD_float(p, r, 8.3334519073e-3f);
    p = MADD_float(p, r, 4.1665795894e-2f);
    p = MADD_float(p, r, 1.6666665459e-1f);
    return MADD_float(p, r, 5.0000001201e-1f);
}

/* exp(x) = 2ⁿ exp(r) with r = x - n log(2). Adding 1.5 · 2²³ rounds to a whole number, which is
   then found in the last bits. */
static inline float exp_reduced(float x, int32_t *n)
{
    float z = MADD_float(x, 1.44269504f, 12582912.0f), whole = z - 12582912.0f;
    float r = MADD_float(whole, -0.693359375f, x);
    r = MADD_float(whole, 2.12194440e-4f, r);
    *n = bits_of(z) - 0x4B400000;
    return MADD_float(r * r, exp_tail(r), r) + 1.0f;
}

/* 2ⁿ in two factors: the result may be too small or too large for one. */
static inline float exp_float(float x)
{
    int32_t n;
    float y = exp_reduced(x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x, &n);
    return y * float_of(((n >> 1) + 127) << 23) * float_of((n - (n >> 1) + 127) << 23);
}

static inline double exp_double(double x) { return exp(x); }

/* Near 0 a polynomial (the coefficients of Cephes), else 1 - 2 / (exp(2x) + 1) on the positive
   side, which is 1 beyond 10. Both are computed, so that loops need no branch. */
static inline float tanh_float(float x)
{
    float a = fabsf(x), z = x * x;
    float p = -5.70498872745e-3f;
    p = MADD_float(p, z, 2.06390887954e-2f);
    p = MADD_float(p, z, -5.37397155531e-2f);
    p = MADD_float(p, z, 1.33314422036e-1f);
    p = MADD_float(p, z, -3.33332819422e-1f);
    float near = copysignf(MADD_float(p * z, x, x), x);
    int32_t n;
    float y = exp_reduced(a > 10.0f ? 20.0f : a + a, &n);
    float far = copysignf(1.0f - 2.0f / (y * float_of((n + 127) << 23) + 1.0f), x);
    return a < 0.625f ? near : far;
}

static inline double tanh_double(double x) { return tanh(x); }

/* 1 / (1 + exp(-x)): the exponential overflows far on the left, and 0 is the right answer there. */
static inline float sigmoid_float(float x) { return 1.0f / (1.0f + exp_float(-x)); }

static inline double sigmoid_double(double x) { return 1.0 / (1.0 + exp(-x)); }

/* log(m 2ⁿ) = log(m) + n log(2) with √½ <= m < √2 (the coefficients of Cephes). */
static inline float log_float(float x)
{
    float up = x < 1.17549435e-38f ? 8388608.0f : 1.0f;
    int32_t i = bits_of(x * up) - 0x3F3504F3;
    float m = float_of((i & 0x007FFFFF) + 0x3F3504F3) - 1.0f;
    float n = (float)((i >> 23) - (up > 1.0f ? 23 : 0));
    float p = 7.0376836292e-2f;
    p = MADD_float(p, m, -1.1514610310e-1f);
    p = MADD_float(p, m, 1.1676998740e-1f);
    p = MADD_float(p, m, -1.2420140846e-1f);
    p = MADD_float(p, m, 1.4249322787e-1f);
    p = MADD_float(p, m, -1.6668057665e-1f);
    p = MADD_float(p, m, 2.0000714765e-1f);
    p = MADD_float(p, m, -2.4999993993e-1f);
    p = MADD_float(p, m, 3.3333331174e-1f);
    float z = m * m;
    float y = MADD_float(n, -2.12194440e-4f, p * m * z);
    y = MADD_float(z, -0.5f, y);
    y = MADD_float(n, 0.693359375f, m + y);
    y = x == 0.0f ? -INFINITY : x < 0.0f ? NAN : y;
    return x == INFINITY || x != x ? x : y;
}

static inline double log_double(double x) { return log(x); }

static inline float log1p_float(float x) { return log1pf(x); }

static inline double log1p_double(double x) { return log1p(x); }

static inline float sqrt_float(float x) { return sqrtf(x); }

static inline double sqrt_double(double x) { return sqrt(x); }

static inline float sin_float(float x) { return sinf(x); }

static inline double sin_double(double x) { return sin(x); }

static inline float cos_float(float x) { return cosf(x); }

static inline double cos_double(double x) { return cos(x); }

static inline float erf_float(float x) { return erff(x); }

static inline double erf_double(double x) { return erf(x); }

static inline float pow_float(float x, float y) { return powf(x, y); }

static inline double pow_double(double x, double y) { return pow(x, y); }

static inline float abs_float(float x) { return fabsf(x); }

static inline double abs_double(double x) { return fabs(x); }

static inline float floor_float(float x) { return floorf(x); }

static inline double floor_double(double x) { return floor(x); }

static inline float ceil_float(float x) { return ceilf(x); }

static inline double ceil_double(double x) { return ceil(x); }

static inline float round_float(float x) { return rintf(x); }

static inline double round_double(double x) { return rint(x); }

static inline float softplus_float(float x)
{
    return (x < 0.0f ? 0.0f : x) + log1pf(exp_float(-fabsf(x)));
}

static inline double softplus_double(double x)
{
    return (x < 0.0 ? 0.0 : x) + log1p(exp(-fabs(x)));
}

/* The sum of a run of elements, in double lanes and by blocks: the rounding errors stay small.
   It starts from -0, which changes nothing; the sum of nothing is 0. */
#define SUM(T)                                                                  \
    static inline double sum_##T(const T *x, int64_t n)                         \
    {                                                                           \
        double total = n ? -0.0 : 0.0;                                          \
        for (int64_t start = 0; start < n; start += 1024) {                     \
            int64_t i = start, end = n - start < 1024 ? n : start + 1024;       \
            double lane[16], part = -0.0;                                       \
            for (int j = 0; j < 16; j++) lane[j] = -0.0;                        \
            for (; i + 16 <= end; i += 16)                                      \
                for (int j = 0; j < 16; j++) lane[j] += x[i + j];               \
            for (; i < end; i++) part += x[i];                                  \
            for (int j = 0; j < 16; j++) part += lane[j];                       \
            total += part;                                                      \
        }                                                                       \
        return total;                                                           \
    }
SUM(float)
SUM(double)
