/* float16 for tests of public functions: expected values, computed by other code than the library's own. */
#ifndef HALF_H
#define HALF_H

#include <math.h>
#include <stdint.h>

/* The nearest float16, ties to even, from 65520 on infinity. */
static uint16_t half_of(double d)
{
    const unsigned sign = signbit(d) ? 0x8000u : 0;
    int e;
    if (isnan(d))
        return (uint16_t)(sign | 0x7e00u);
    if (fabs(d) >= 65520)
        return (uint16_t)(sign | 0x7c00u);
    (void)frexp(d, &e);
    e = d == 0 || e < -13 ? -13 : e; /* the last of 11 bits is 2^(e - 11); below 2^-14 always 2^-24 */
    return (uint16_t)(sign | (((unsigned)(e + 13) << 10) + (unsigned)nearbyint(ldexp(fabs(d), 11 - e))));
}

static double half_to(uint16_t h)
{
    const int e = (h >> 10) & 31, m = h & 1023;
    const double d = e == 31 ? (m != 0 ? (double)NAN : (double)INFINITY)
                             : ldexp(e > 0 ? 1024 + m : m, e > 0 ? e - 25 : -24);
    return h & 0x8000 ? -d : d;
}

#endif
