/* work.h - counts the work of the implementation, without a clock. The linked object is compiled by clang with
   -fsanitize-coverage=trace-pc-guard (see the Makefile) and calls a function here for each basic block that it
   executes: one unit of work. The linker redirects that function, and memcpy, memmove, memset, memcmp and strlen
   (--wrap), which count one unit for each 16 bytes. */
#ifndef WORK_H
#define WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t work, work_limit;
static const char *work_subject; /* of the message */
static bool work_counts;
/* WORK_EDGES, a power of 2: entries of a table that counts how often each block is executed, which libFuzzer reads. */
#ifdef WORK_EDGES
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t work_edges[WORK_EDGES];
#endif

/* Counting begins; a program that exceeds `limit` units ends with a message, since it might never return. */
static void work_begin(const char *subject, uint64_t limit)
{
    work_subject = subject;
    work_limit = limit;
    work = 0;
    work_counts = true;
}

static uint64_t work_end(void)
{
    work_counts = false;
    return work;
}

static void work_add(uint64_t units)
{
    if (!work_counts)
        return;
    work += units;
    if (work <= work_limit)
        return;
    work_counts = false;
    fprintf(stderr, "[  FAILED  ] %s: more than %llu units of work\n", work_subject, (unsigned long long)work_limit);
    abort();
}

void __wrap___sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end);
void __wrap___sanitizer_cov_trace_pc_guard(uint32_t *guard);
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);
int __real_memcmp(const void *a, const void *b, size_t bytes);
size_t __real_strlen(const char *text);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int byte, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);
size_t __wrap_strlen(const char *text);

void __wrap___sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end)
{
    for (uint32_t *guard = begin; guard < end; guard++)
        *guard = (uint32_t)(guard - begin);
}

void __wrap___sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
#ifdef WORK_EDGES
    work_edges[*guard & (WORK_EDGES - 1)]++;
#endif
    (void)guard;
    work_add(1);
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    work_add(bytes / 16);
    return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    work_add(bytes / 16);
    return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int byte, size_t bytes)
{
    work_add(bytes / 16);
    return __real_memset(to, byte, bytes);
}

int __wrap_memcmp(const void *a, const void *b, size_t bytes)
{
    work_add(bytes / 16);
    return __real_memcmp(a, b, bytes);
}

size_t __wrap_strlen(const char *text)
{
    const size_t length = __real_strlen(text);
    work_add(length / 16);
    return length;
}

#endif
