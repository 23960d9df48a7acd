/*
text.h - output of the command line: messages on standard error, JSON on standard output, progress on a terminal.
Part of tools/nnrt.c.

    >>messages  error messages, memory allocation
    >>json      values in JSON
    >>time      milliseconds
    >>progress  a line that is rewritten
*/
#ifndef NNRT_TOOL_TEXT_H
#define NNRT_TOOL_TEXT_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

/* Exit statuses of the tool; also returned by every function here that can fail. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

#if defined(__GNUC__) || defined(__clang__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>messages */

/* Length in bytes of the UTF-8 character at s (1 to 4); 0 for invalid UTF-8: a stray byte, an overlong form, a
   surrogate, a code point above U+10FFFF. */
static size_t cli_utf8(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t n = u[0] < 0x80                   ? 1
               : u[0] >= 0xC2 && u[0] < 0xE0 ? 2
               : u[0] >= 0xE0 && u[0] < 0xF0 ? 3
               : u[0] >= 0xF0 && u[0] < 0xF5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((u[i] & 0xC0) != 0x80)
            return 0;
    if ((u[0] == 0xE0 && u[1] < 0xA0) || (u[0] == 0xED && u[1] > 0x9F) || (u[0] == 0xF0 && u[1] < 0x90) ||
        (u[0] == 0xF4 && u[1] > 0x8F))
        return 0;
    return n;
}

/* Writes untrusted text from a file. Control characters and bytes that are not UTF-8 become '?', so that a name can
   neither break a line nor send escape sequences to a terminal. */
static void cli_put_name(FILE *out, const char *s)
{
    while (*s != '\0') {
        size_t n = cli_utf8(s);
        bool plain = n > 1 ? !(n == 2 && (unsigned char)s[0] == 0xC2 && (unsigned char)s[1] < 0xA0)
                           : n == 1 && *s >= ' ' && *s != 0x7F;
        if (plain)
            fwrite(s, 1, n, out);
        else
            fputc('?', out);
        s += n > 0 ? n : 1;
    }
}

/* The stream for messages, evaluated once per message. The fuzz targets redefine it to count messages. */
#ifndef CLI_MESSAGES
#define CLI_MESSAGES stderr
#endif

#define CLI_LINE_BYTES 4096

/* One line "nnrt: <kind><text>". */
static void cli_say(const char *kind, const char *format, va_list values)
{
    FILE *out = CLI_MESSAGES;
    char line[CLI_LINE_BYTES];
    int n = vsnprintf(line, sizeof(line), format, values);
    fputs("nnrt: ", out);
    fputs(kind, out);
    cli_put_name(out, n < 0 ? "(message lost)" : line);
    fputs("\n", out);
}

static bool cli_no_errors; /* the same fault was reported before */

/* Prints an error message; returns CLI_FAILED. */
CLI_PRINTF(1, 2) static int cli_fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (!cli_no_errors)
        cli_say("", format, values);
    va_end(values);
    return CLI_FAILED;
}

/* Prints an error message about the arguments; returns CLI_USAGE. */
CLI_PRINTF(1, 2) static int cli_usage(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    cli_say("", format, values);
    va_end(values);
    return CLI_USAGE;
}

static bool cli_no_notes; /* the same thing was noted before */

/* Prints a note about something that the user should know although nothing failed. */
CLI_PRINTF(1, 2) static void cli_note(const char *format, ...)
{
    va_list values;
    if (cli_no_notes)
        return;
    va_start(values, format);
    cli_say("note: ", format, values);
    va_end(values);
}

static bool cli_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Zeroed memory for count elements; NULL and an error message if there is none. 0 elements return a block, too. */
static void *cli_alloc(size_t count, size_t bytes)
{
    void *block = NULL;
    if (bytes == 0 || count <= SIZE_MAX / bytes)
        block = calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1);
    if (block == NULL)
        cli_fail("out of memory: cannot allocate %.0f bytes", (double)count * (double)bytes);
    return block;
}

/* A copy of n bytes as a string, which ends at the first NUL among them. NULL: no memory. */
static char *cli_text_copy(const char *text, size_t n)
{
    char *copy = (char *)cli_alloc(n + 1, 1);
    if (copy != NULL && n > 0)
        memcpy(copy, text, n);
    return copy;
}

static char cli_upper(char ch)
{
    return (char)(ch >= 'a' && ch <= 'z' ? ch - 'a' + 'A' : ch);
}

/* Weighted edit distance from a to b. Inserting a letter of b costs 1, other edits 4, so that a part of a name is close
   to the name. */
static unsigned cli_distance(const char *a, const char *b)
{
    unsigned row[65];
    const size_t length = strlen(b) < 64 ? strlen(b) : 64;
    for (size_t k = 0; k <= length; k++)
        row[k] = (unsigned)k;
    for (size_t i = 0; i < 64 && a[i] != '\0'; i++) {
        unsigned corner = row[0];
        row[0] += 4;
        for (size_t k = 0; k < length; k++) {
            const unsigned above = row[k + 1];
            unsigned best = corner + (cli_upper(a[i]) != cli_upper(b[k]) ? 4 : 0);
            best = above + 4 < best ? above + 4 : best;
            row[k + 1] = row[k] + 1 < best ? row[k] + 1 : best;
            corner = above;
        }
    }
    return row[length];
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>json */

/* "text" as a JSON string with all required escapes; bytes that are not UTF-8 become U+FFFD. A 0 follows the bytes. */
static void cli_json_bytes(FILE *out, const char *s, size_t bytes)
{
    const char *end = s + bytes;
    fputc('"', out);
    while (s < end) {
        size_t n = cli_utf8(s);
        if (n == 0)
            fputs("\\ufffd", out);
        else if (n == 1 && (*s == '"' || *s == '\\'))
            fprintf(out, "\\%c", *s);
        else if (n == 1 && (unsigned char)*s < 0x20)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            fwrite(s, 1, n, out);
        s += n > 0 ? n : 1;
    }
    fputc('"', out);
}

static void cli_json_put(FILE *out, const char *s)
{
    cli_json_bytes(out, s, strlen(s));
}

static void cli_json_text(const char *s)
{
    cli_json_put(stdout, s);
}

/* A number with that many significant digits; null for NaN and infinity, which JSON does not have. */
static void cli_json_number(double value, int digits)
{
    if (isfinite(value))
        printf("%.*g", digits, value);
    else
        fputs("null", stdout);
}

/* Milliseconds with six decimals; more digits are noise. */
static void cli_json_ms(const char *key, double ms)
{
    printf(",\"%s\":", key);
    if (isfinite(ms))
        printf("%.6f", ms);
    else
        fputs("null", stdout);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>time */

/* Milliseconds of a monotonic clock. */
static double cli_now_ms(void)
{
#if defined(CLOCK_MONOTONIC) && !defined(__MINGW32__) /* requires -lpthread there */
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) == 0)
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
#endif
    return (double)clock() * 1e3 / (double)CLOCKS_PER_SEC;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>progress */

/* A progress bar on standard error, redrawn in place at most ten times a second, only if standard error is a terminal.
   Initialize with cli_progress_of. After a second it also shows the rate and the remaining time. */
typedef struct cli_progress {
    const char *label;
    double last;  /* time of the last drawing or line */
    bool drawn;   /* the bar is visible */
    bool lines;   /* where standard error is no terminal, a line every ten seconds */
    double begun; /* time of the first call */
    size_t given; /* how many were done before, without taking time */
} cli_progress;

static cli_progress cli_progress_of(const char *label)
{
    cli_progress p;
    memset(&p, 0, sizeof(p));
    p.label = label;
    return p;
}

static bool cli_on_terminal(void)
{
#if defined(__unix__) || defined(__APPLE__)
    return isatty(2) == 1;
#else
    return false;
#endif
}

/* "120/s, 35 s left"; nothing in the first second. */
static const char *cli_progress_rate(const cli_progress *p, double now, size_t done, size_t total, char *out, size_t size)
{
    const double rate = (double)(done - p->given) * 1e3 / (now - p->begun);
    *out = '\0';
    if (now - p->begun >= 1000 && done > p->given)
        snprintf(out, size, "%.*f/s, %.0f s left", rate < 10 ? 1 : 0, rate, (double)(total - done) / rate);
    return out;
}

static void cli_progress_show(cli_progress *p, size_t done, size_t total)
{
    const double now = cli_now_ms();
    const bool terminal = cli_on_terminal();
    char bar[25], rate[64];
    size_t filled = total > 0 ? done * (sizeof(bar) - 1) / total : 0;
    if (!(p->begun > 0)) {
        p->begun = now;
        p->last = terminal ? p->last : now;
    }
    if ((!terminal && !p->lines) || ((p->drawn || !terminal) && now - p->last < (terminal ? 100 : 10000)))
        return;
    p->last = now;
    if (!terminal) {
        fprintf(CLI_MESSAGES, "nnrt: %s: %lu of %lu, %s\n", p->label, (unsigned long)done, (unsigned long)total,
                cli_progress_rate(p, now, done, total, rate, sizeof(rate)));
        return;
    }
    for (size_t i = 0; i < sizeof(bar) - 1; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[sizeof(bar) - 1] = '\0';
    fprintf(stderr, "\r%s [%s] %lu/%lu %-24s", p->label, bar, (unsigned long)done, (unsigned long)total,
            cli_progress_rate(p, now, done, total, rate, sizeof(rate)));
    fflush(stderr);
    p->drawn = true;
}

/* Clears the bar, so that later output starts at the beginning of the line. */
static void cli_progress_end(cli_progress *p)
{
    if (p->drawn)
        fprintf(stderr, "\r%*s\r", 79, "");
    p->drawn = false;
}

/* The C type of an element. */
static const char *cli_c_type(NNRT_DataType type)
{
    switch (type) {
    case NNRT_DATA_TYPE_FLOAT32: return "float";
    case NNRT_DATA_TYPE_FLOAT64: return "double";
    case NNRT_DATA_TYPE_FLOAT16: return "uint16_t";
    case NNRT_DATA_TYPE_BOOL: return "uint8_t";
    case NNRT_DATA_TYPE_INT8: return "int8_t";
    case NNRT_DATA_TYPE_INT16: return "int16_t";
    case NNRT_DATA_TYPE_INT32: return "int32_t";
    case NNRT_DATA_TYPE_INT64: return "int64_t";
    case NNRT_DATA_TYPE_UINT8: return "uint8_t";
    case NNRT_DATA_TYPE_UINT16: return "uint16_t";
    case NNRT_DATA_TYPE_UINT32: return "uint32_t";
    default: return "uint64_t";
    }
}

#endif /* NNRT_TOOL_TEXT_H */
