/*
tensor.h - tensors of the command line: elements as numbers, type conversion, random values, comparison.
Part of tools/nnrt.c.

    >>elements    one element as a number or text
    >>conversion  from type to type
    >>random      SplitMix64
    >>comparison  with expected values
*/
#ifndef NNRT_TOOL_TENSOR_H
#define NNRT_TOOL_TENSOR_H

#include "../../nnrt.h"
#include "text.h"

/* A tensor that owns its data: dense, last axis fastest, in the machine's byte order. */
typedef struct cli_tensor {
    NNRT_DataType type;
    nnrt_dims shape;
    size_t count, bytes;
    void *data;
} cli_tensor;

static void cli_tensor_free(cli_tensor *t)
{
    free(t->data);
    memset(t, 0, sizeof(*t));
}

/* Allocates a tensor of zeros. On failure it is empty and an error is printed; what names it in messages. */
static int cli_tensor_make(cli_tensor *t, NNRT_DataType type, const nnrt_dims *shape, const char *what)
{
    memset(t, 0, sizeof(*t));
    t->type = type;
    t->shape = *shape;
    if (!nnrt_dims_count(shape->dims, shape->rank, &t->count) ||
        !nnrt_dims_bytes(shape->dims, shape->rank, type, &t->bytes))
        return cli_fail("%s: its size exceeds the address space", what);
    t->data = cli_alloc(t->bytes, 1);
    return t->data != NULL ? CLI_DONE : CLI_FAILED;
}

/* "float32[1,3,?,?]": dynamic (negative) dimensions are question marks, an unknown rank is a star. */
static const char *cli_shape_text(char *out, size_t size, NNRT_DataType type, const nnrt_dims *shape)
{
    size_t at = nnrt_text(out, size, "%s[%s", nnrt_type_name(type), shape->rank < 0 ? "*" : "");
    for (int32_t i = 0; i < shape->rank && at < size; i++)
        at += shape->dims[i] < 0 ? nnrt_text(out + at, size - at, "%s?", i > 0 ? "," : "")
                                 : nnrt_text(out + at, size - at, "%s%d", i > 0 ? "," : "", shape->dims[i]);
    if (at < size)
        nnrt_text(out + at, size - at, "]");
    return out;
}

#define CLI_SHAPE_BYTES 128 /* room for every such text: 8 dimensions of 11 characters */

/* Prints the types in a mask of NNRT_TYPES_ bits, with commas between them and quotes around each. */
static void cli_put_types(uint32_t types, const char *quote)
{
#define CLI_TYPE(name, number, bytes, text) {number, text},
    static const struct {
        NNRT_DataType type;
        const char *name;
    } all[] = {NNRT_DATA_TYPES(CLI_TYPE)};
#undef CLI_TYPE
    bool first = true;
    for (size_t i = 0; i < 2 * (sizeof(all) / sizeof(all[0])); i++) { /* plain, then quantized */
        const uint32_t plain = NNRT_TYPES_OF(all[i / 2].type), type = i % 2 == 0 ? plain : NNRT_TYPES_QUANT(plain);
        if ((types & type) != 0) {
            printf("%s%s%s%s%s", first ? "" : ",", quote, i % 2 == 0 ? "" : "q", all[i / 2].name, quote);
            first = false;
        }
    }
}

static bool cli_is_float(NNRT_DataType type)
{
    return type == NNRT_DATA_TYPE_FLOAT16 || type == NNRT_DATA_TYPE_FLOAT32 || type == NNRT_DATA_TYPE_FLOAT64;
}

static bool cli_is_integer(NNRT_DataType type)
{
    return nnrt_type_size(type) > 0 && !cli_is_float(type) && type != NNRT_DATA_TYPE_BOOL;
}

static bool cli_is_signed(NNRT_DataType type)
{
    return type == NNRT_DATA_TYPE_INT8 || type == NNRT_DATA_TYPE_INT16 || type == NNRT_DATA_TYPE_INT32 ||
           type == NNRT_DATA_TYPE_INT64;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>elements */

static double cli_half_to_double(uint16_t h)
{
    int exponent = (h >> 10) & 31, fraction = h & 1023;
    double v = exponent == 31  ? (fraction != 0 ? (double)NAN : (double)INFINITY)
               : exponent == 0 ? ldexp((double)fraction, -24)
                               : ldexp((double)(fraction + 1024), exponent - 25);
    return (h & 0x8000) != 0 ? -v : v;
}

/* Nearest binary16, ties to even; values above the largest become infinity. */
static uint16_t cli_double_to_half(double v)
{
    unsigned sign = signbit(v) ? 0x8000u : 0u;
    double a = fabs(v), scaled;
    int exponent;
    if (isnan(v))
        return (uint16_t)(sign | 0x7E00u);
    if (a >= 65520.0)
        return (uint16_t)(sign | 0x7C00u);
    frexp(a, &exponent);
    exponent = exponent < -13 ? -13 : exponent;  /* below 2^-14 the steps stay 2^-24 */
    scaled = nearbyint(ldexp(a, 11 - exponent)); /* in steps of the last place; 2048 carries into the exponent */
    return (uint16_t)(sign | ((unsigned)(exponent + 13) * 1024u + (unsigned)scaled));
}

/* Element i as a double. int64 and uint64 above 2^53 are rounded. */
static double cli_element(const cli_tensor *t, size_t i)
{
    const uint8_t *at = (const uint8_t *)t->data + i * nnrt_type_size(t->type);
#define CLI_READ(C)                                                                                                    \
    {                                                                                                                  \
        C v;                                                                                                           \
        memcpy(&v, at, sizeof(v));                                                                                     \
        return (double)v;                                                                                              \
    }
    switch (t->type) {
    case NNRT_DATA_TYPE_BOOL: return *at != 0 ? 1.0 : 0.0;
    case NNRT_DATA_TYPE_INT8: CLI_READ(int8_t)
    case NNRT_DATA_TYPE_INT16: CLI_READ(int16_t)
    case NNRT_DATA_TYPE_INT32: CLI_READ(int32_t)
    case NNRT_DATA_TYPE_INT64: CLI_READ(int64_t)
    case NNRT_DATA_TYPE_UINT8: CLI_READ(uint8_t)
    case NNRT_DATA_TYPE_UINT16: CLI_READ(uint16_t)
    case NNRT_DATA_TYPE_UINT32: CLI_READ(uint32_t)
    case NNRT_DATA_TYPE_UINT64: CLI_READ(uint64_t)
    case NNRT_DATA_TYPE_FLOAT32: CLI_READ(float)
    case NNRT_DATA_TYPE_FLOAT64: CLI_READ(double)
    case NNRT_DATA_TYPE_FLOAT16: {
        uint16_t h;
        memcpy(&h, at, sizeof(h));
        return cli_half_to_double(h);
    }
    default: return 0.0;
    }
#undef CLI_READ
}

/* Smallest and largest value of an integer type; exact for int32 and smaller types. */
static void cli_int_range(NNRT_DataType type, double *least, double *most)
{
    int bits = (int)nnrt_type_size(type) * 8;
    bool isSigned = cli_is_signed(type);
    *least = isSigned ? -ldexp(1.0, bits - 1) : 0.0;
    *most = ldexp(1.0, isSigned ? bits - 1 : bits) - (bits < 64 ? 1.0 : isSigned ? 1024.0 : 2048.0);
}

/* Stores v as element i: floats rounded to nearest, integers rounded to nearest (ties to even) and saturated, NaN as 0
   in integers; bool: v != 0. */
static void cli_set_element(cli_tensor *t, size_t i, double v)
{
    uint8_t *at = (uint8_t *)t->data + i * nnrt_type_size(t->type);
    double least, most;
#define CLI_WRITE(C)                                                                                                   \
    {                                                                                                                  \
        C c = (C)v;                                                                                                    \
        memcpy(at, &c, sizeof(c));                                                                                     \
        return;                                                                                                        \
    }
    switch (t->type) {
    case NNRT_DATA_TYPE_BOOL: *at = v != 0 ? 1 : 0; return;
    case NNRT_DATA_TYPE_FLOAT64: CLI_WRITE(double)
    case NNRT_DATA_TYPE_FLOAT32:
        if (isfinite(v) && fabs(v) >= 0x1.ffffffp127) /* rounds to a value above the largest float */
            v = v > 0 ? (double)INFINITY : -(double)INFINITY;
        CLI_WRITE(float)
    case NNRT_DATA_TYPE_FLOAT16: {
        uint16_t h = cli_double_to_half(v);
        memcpy(at, &h, sizeof(h));
        return;
    }
    default: break;
    }
    cli_int_range(t->type, &least, &most);
    v = isnan(v) ? 0.0 : nearbyint(v);
    v = v < least ? least : v > most ? most : v;
    switch (t->type) {
    case NNRT_DATA_TYPE_INT8: CLI_WRITE(int8_t)
    case NNRT_DATA_TYPE_INT16: CLI_WRITE(int16_t)
    case NNRT_DATA_TYPE_INT32: CLI_WRITE(int32_t)
    case NNRT_DATA_TYPE_INT64: CLI_WRITE(int64_t)
    case NNRT_DATA_TYPE_UINT8: CLI_WRITE(uint8_t)
    case NNRT_DATA_TYPE_UINT16: CLI_WRITE(uint16_t)
    case NNRT_DATA_TYPE_UINT32: CLI_WRITE(uint32_t)
    case NNRT_DATA_TYPE_UINT64: CLI_WRITE(uint64_t)
    default: return;
    }
#undef CLI_WRITE
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>conversion */

/* Element i of an integer tensor, widened to 64 bits in two's complement. */
static uint64_t cli_integer(const cli_tensor *t, size_t i)
{
    size_t size = nnrt_type_size(t->type);
    const uint8_t *at = (const uint8_t *)t->data + i * size;
    uint64_t v = 0, top;
    uint8_t v1;
    uint16_t v2;
    uint32_t v4;
    if (size == 1) {
        memcpy(&v1, at, 1);
        v = v1;
    } else if (size == 2) {
        memcpy(&v2, at, 2);
        v = v2;
    } else if (size == 4) {
        memcpy(&v4, at, 4);
        v = v4;
    } else {
        memcpy(&v, at, 8);
    }
    top = (uint64_t)1 << (size * 8 - 1);
    return cli_is_signed(t->type) && size < 8 && (v & top) != 0 ? v | ~(top | (top - 1)) : v;
}

/* Stores the low bytes of v. */
static void cli_set_integer(cli_tensor *t, size_t i, uint64_t v)
{
    size_t size = nnrt_type_size(t->type);
    uint8_t *at = (uint8_t *)t->data + i * size;
    uint8_t v1 = (uint8_t)v;
    uint16_t v2 = (uint16_t)v;
    uint32_t v4 = (uint32_t)v;
    memcpy(at,
           size == 1   ? (const void *)&v1
           : size == 2 ? (const void *)&v2
           : size == 4 ? (const void *)&v4
                       : (const void *)&v,
           size);
}

/* True if the integer v, of type from, is representable in type to. */
static bool cli_integer_fits(uint64_t v, NNRT_DataType from, NNRT_DataType to)
{
    unsigned bits = (unsigned)nnrt_type_size(to) * 8;
    uint64_t most = UINT64_MAX >> (64 - bits + (cli_is_signed(to) ? 1u : 0u));
    if (cli_is_signed(from) && (v >> 63) != 0)
        return cli_is_signed(to) && ~v <= most;
    return v <= most;
}

/* Converts t to the model's element type. Floats are rounded to another float type; integers become another integer
   type if every value fits; both print a note. Other conversions are errors. */
static int cli_tensor_convert(cli_tensor *t, NNRT_DataType type, const char *what, const char *name)
{
    cli_tensor out;
    if (t->type == type)
        return CLI_DONE;
    if (!(cli_is_float(t->type) && cli_is_float(type)) && !(cli_is_integer(t->type) && cli_is_integer(type)))
        return cli_fail("%s holds %s, input '%s' takes %s", what, nnrt_type_name(t->type), name, nnrt_type_name(type));
    if (cli_tensor_make(&out, type, &t->shape, what) != CLI_DONE)
        return CLI_FAILED;
    for (size_t i = 0; i < t->count; i++) {
        if (cli_is_float(type)) {
            cli_set_element(&out, i, cli_element(t, i));
        } else if (cli_integer_fits(cli_integer(t, i), t->type, type)) {
            cli_set_integer(&out, i, cli_integer(t, i));
        } else {
            cli_tensor_free(&out);
            return cli_fail("%s holds %s with a value outside the range of %s, the type of input '%s'", what,
                            nnrt_type_name(t->type), nnrt_type_name(type), name);
        }
    }
    cli_note("%s holds %s, converted to the %s of input '%s'", what, nnrt_type_name(t->type), nnrt_type_name(type),
             name);
    cli_tensor_free(t);
    *t = out;
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>random */

/* SplitMix64 (Steele, Lea, Flood 2014): 64 bits per call, identical on all machines. */
static uint64_t cli_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Fills t with random values for input number `number` of a model: one step of the generator per element, starting at
   seed + number * 2^32. The top bits become: bool 0 or 1; integers 0 to 7; floats a multiple of a power of two in [-1,
   1), exact in the type (11, 24 or 53 bits). */
static void cli_tensor_random(cli_tensor *t, uint64_t seed, uint32_t number)
{
    uint64_t state = seed + ((uint64_t)number << 32);
    for (size_t i = 0; i < t->count; i++) {
        uint64_t z = cli_random(&state);
        switch (t->type) {
        case NNRT_DATA_TYPE_FLOAT16: cli_set_element(t, i, (double)(z >> 53) / 1024 - 1); break;
        case NNRT_DATA_TYPE_FLOAT32: cli_set_element(t, i, (double)(z >> 40) / 8388608 - 1); break;
        case NNRT_DATA_TYPE_FLOAT64: cli_set_element(t, i, (double)(z >> 11) / 4503599627370496.0 - 1); break;
        case NNRT_DATA_TYPE_BOOL: cli_set_element(t, i, (double)(z >> 63)); break;
        default: cli_set_integer(t, i, z >> 61); break;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>comparison */

/* Differences between actual and expected values. */
typedef struct cli_difference {
    double error, relative; /* largest |got - want|; largest |got - want| / |want| where want is not 0 */
    size_t wrong, at;       /* number of elements outside the tolerance; index of the first */
} cli_difference;

/* Values are equal if |got - want| <= atol + rtol * |want|. */
typedef struct cli_tolerance {
    double rtol, atol;
} cli_tolerance;

/* Compares two tensors of the same type and shape. Equal infinities and two NaN count as equal; bools must be equal. */
static cli_difference cli_compare(const cli_tensor *got, const cli_tensor *want, cli_tolerance tolerance)
{
    cli_difference d;
    memset(&d, 0, sizeof(d));
    for (size_t i = 0; i < want->count; i++) {
        double g = cli_element(got, i), w = cli_element(want, i), e = fabs(g - w);
        bool right = e <= tolerance.atol + tolerance.rtol * fabs(w);
        if (want->type == NNRT_DATA_TYPE_BOOL)
            right = g == w;
        else if (!cli_is_float(want->type) && tolerance.atol == 0) /* doubles round 64 bits */
            right = cli_integer(got, i) == cli_integer(want, i);
        if (!isfinite(g) || !isfinite(w)) {
            right = (isnan(g) && isnan(w)) || (isinf(g) && g == w);
            e = right ? 0 : (double)INFINITY;
        }
        d.error = e > d.error ? e : d.error;
        if (e > 0 && w != 0 && !(e / fabs(w) <= d.relative))
            d.relative = isfinite(e) ? e / fabs(w) : (double)INFINITY;
        if (!right && d.wrong++ == 0)
            d.at = i;
    }
    return d;
}

/* "[0,3,5]": the index of element i. */
static const char *cli_place_text(char *out, size_t size, const nnrt_dims *shape, size_t i)
{
    int32_t place[NNRT_MAX_RANK];
    size_t at = nnrt_text(out, size, "[");
    for (int32_t k = shape->rank - 1; k >= 0; k--) {
        place[k] = (int32_t)(i % (size_t)shape->dims[k]);
        i /= (size_t)shape->dims[k];
    }
    for (int32_t k = 0; k < shape->rank && at < size; k++)
        at += nnrt_text(out + at, size - at, "%s%d", k > 0 ? "," : "", place[k]);
    if (at < size)
        nnrt_text(out + at, size - at, "]");
    return out;
}

/* Prints element i: 64-bit integers exactly, floats with that many digits, bool as 0 or 1; in JSON null for NaN and
   infinity. */
static void cli_put_element(const cli_tensor *t, size_t i, int digits, bool json)
{
    double v = cli_element(t, i);
    if (t->type == NNRT_DATA_TYPE_INT64)
        printf("%lld", (long long)(int64_t)cli_integer(t, i));
    else if (t->type == NNRT_DATA_TYPE_UINT64)
        printf("%llu", (unsigned long long)cli_integer(t, i));
    else if (json && !isfinite(v))
        fputs("null", stdout);
    else
        printf("%.*g", cli_is_float(t->type) ? digits : 17, v);
}

#endif /* NNRT_TOOL_TENSOR_H */
