/*
values.h - numbers and words in the values of options.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_VALUES_H
#define NNRT_TOOL_VALUES_H

#include "../io/image.h"

/* A whole number from `least` to `most`. */
static bool cli_take_whole(const char *text, uint32_t least, uint32_t most, uint32_t *out)
{
    uint64_t v = 0;
    if (*text == '\0')
        return false;
    for (; *text >= '0' && *text <= '9' && v <= most; text++)
        v = v * 10 + (uint64_t)(*text - '0');
    *out = (uint32_t)v;
    return *text == '\0' && v >= least && v <= most;
}

/* Parses a finite number, "0.5", "1e-3" or a fraction "1/255", and moves *text past it. */
static bool cli_take_number(const char **text, double *out)
{
    char *end;
    double divisor;
    if (**text == ' ' || **text == '\0')
        return false;
    *out = strtod(*text, &end);
    if (end != *text && *end == '/') {
        const char *below = end + 1;
        divisor = strtod(below, &end);
        if (end == below || divisor == 0)
            return false;
        *out /= divisor;
    }
    if (end == *text || !isfinite(*out))
        return false;
    *text = end;
    return true;
}

/* One to four numbers separated by commas. */
static bool cli_take_numbers(const char *text, double *out, uint32_t *count)
{
    *count = 0;
    do {
        if (*count == 4 || !cli_take_number(&text, &out[*count]))
            return false;
        ++*count;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

/* The same as reciprocals: 1 / number for each number, none of which is 0. */
static bool cli_take_divisors(const char *text, double *out, uint32_t *count)
{
    bool good = cli_take_numbers(text, out, count);
    for (uint32_t i = 0; i < *count && good; i++) {
        good = out[i] != 0 && isfinite(1 / out[i]);
        out[i] = 1 / out[i];
    }
    return good;
}

static int cli_layout(const char *text)
{
    return strcmp(text, "nchw") == 0 ? CLI_LAYOUT_NCHW : strcmp(text, "nhwc") == 0 ? CLI_LAYOUT_NHWC : CLI_LAYOUT_AUTO;
}

static bool cli_take_positive(const char *text, double *out)
{
    return cli_take_number(&text, out) && *text == '\0' && *out >= 0;
}

#endif /* NNRT_TOOL_VALUES_H */
