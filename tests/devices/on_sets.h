/* Shared by tests of the fast device that run a model with each instruction set: random numbers, a session with one
   input and one output, and results within error bounds. Include after cmocka.h, nnrt.h, nnrt_cpu.h and kit.h. */
#ifndef NNRT_TESTS_ON_SETS_H
#define NNRT_TESTS_ON_SETS_H

#include "models_on_sets.h"

#define ROUNDING 0x1p-24
#define SECOND 1.001 /* roundings of rounded values, fewer than 16,000 */

/* ---- numbers ---- */

static float real(void)
{
    return (float)draw(2001) / 1000.0f - 1.0f;
}

static float *reals(size_t count)
{
    float *made = (float *)malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        made[i] = real();
    return made;
}

/* Quantization of 8 bits with one scale. */
static inline NNRT_QuantParam param_of(double scale, int32_t zeroPoint)
{
    NNRT_QuantParam q;
    memset(&q, 0, sizeof(q));
    q.numBits = 8;
    q.scale = scale;
    q.zeroPoint = zeroPoint;
    return q;
}

/* ---- devices ---- */

/* One input, one output. workers 0: the calling thread. Returns the number of calls of the team. */
static uint32_t run_on(const char *device, const NNRT_Model *model, const float *x, size_t nX, float *y, size_t nY,
                       uint32_t workers)
{
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, nX * sizeof(float)), out = nnrt_io_make(y, nY * sizeof(float));
    return run_session(device, model, &in, 1, &out, 1, workers, NULL);
}

static bool every_set; /* check also sets that have the float kernels of another one: they have the kernel under test */

/* Results of each set are within bound[i] of expected, and bit-identical on the calling thread and with one, two, three
   and eight workers. The reference device has the same bounds. */
static inline void check_all(const NNRT_Model *model, const float *x, size_t nX, size_t nY, const float *expected,
                             const float *bound, const char *what)
{
    float *y = reals(nY), *first = reals(nY);
    for (uint32_t s = 0; s <= nSets; s++)
        for (uint32_t workers = 0; workers <= (s < nSets ? 8 : 0); workers += workers == 3 ? 5 : 1) {
            const char *device = s < nSets ? sets[s] : "reference";
            if (s < nSets && has_no_floats(s) && !every_set)
                break;
            memset(y, 0xA5, nY * sizeof(float));
            (void)run_on(device, model, x, nX, y, nY, workers);
            if (workers == 0)
                memcpy(first, y, nY * sizeof(float));
            else if (nY > 0 && memcmp(first, y, nY * sizeof(float)) != 0)
                fail_msg("%s on %s: %u workers give other bits than one", what, device, workers);
            for (size_t i = 0; i < nY; i++)
                if (!(fabsf(y[i] - expected[i]) <= bound[i]) && !(y[i] != y[i] && expected[i] != expected[i]) &&
                    !(y[i] == expected[i]))
                    fail_msg("%s on %s: element %u is %.9g, expected %.9g within %.3g", what, device, (unsigned)i,
                             (double)y[i], (double)expected[i], (double)bound[i]);
        }
    free(first);
    free(y);
}

#endif
