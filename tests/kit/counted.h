/* The counting heap of the library (tests/kit/nnrt.c), which can be made to fail. It is also the heap of the including
   test, so that blocks may pass between the two. Include after stdlib.h and the system's headers. COUNTED_HERE: defines
   the functions, for a test with an implementation of its own. */
#ifndef COUNTED_H
#define COUNTED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

extern int64_t heap_calls, heap_fail_at, heap_live; /* calls; the number of the call that fails, 0: none; live blocks */
extern bool heap_shut;                              /* every call fails */
void *counted_malloc(size_t bytes);
void *counted_calloc(size_t count, size_t bytes);
void *counted_realloc(void *old, size_t bytes);
void counted_free(void *block);

#ifdef COUNTED_HERE
int64_t heap_calls, heap_fail_at, heap_live;
bool heap_shut;

static int64_t counted(int64_t *number, int64_t n) /* executors and queues have threads */
{
    return __atomic_add_fetch(number, n, __ATOMIC_RELAXED);
}

static bool counted_fails(void)
{
    return counted(&heap_calls, 1) == heap_fail_at || heap_shut;
}

void *counted_malloc(size_t bytes)
{
    void *block = counted_fails() ? NULL : malloc(bytes > 0 ? bytes : 1);
    (void)counted(&heap_live, block != NULL);
    return block;
}

void *counted_calloc(size_t count, size_t bytes)
{
    void *block = counted_fails() ? NULL : calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1);
    (void)counted(&heap_live, block != NULL);
    return block;
}

void *counted_realloc(void *old, size_t bytes)
{
    void *block = counted_fails() ? NULL : realloc(old, bytes);
    (void)counted(&heap_live, block != NULL && old == NULL);
    return block;
}

void counted_free(void *block)
{
    (void)counted(&heap_live, -(block != NULL));
    free(block);
}
#endif

#define malloc counted_malloc
#define calloc counted_calloc
#define realloc counted_realloc
#define free counted_free

#endif
