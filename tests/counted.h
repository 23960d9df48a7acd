/* Memory that is counted, and fails when told. Behind stdlib.h and the system's headers, before what is counted. */
#ifndef COUNTED_H
#define COUNTED_H

static int64_t calls, failAt, live; /* failAt: the call of this number fails, 0: none */
#define COUNTED(number, n) __atomic_add_fetch(&(number), n, __ATOMIC_RELAXED) /* executors have threads */

static void *counted_malloc(size_t bytes)
{
    void *block = COUNTED(calls, 1) == failAt ? NULL : malloc(bytes > 0 ? bytes : 1);
    COUNTED(live, block != NULL);
    return block;
}

static void *counted_calloc(size_t count, size_t bytes)
{
    void *block = COUNTED(calls, 1) == failAt ? NULL : calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1);
    COUNTED(live, block != NULL);
    return block;
}

static void *counted_realloc(void *old, size_t bytes)
{
    void *block = COUNTED(calls, 1) == failAt ? NULL : realloc(old, bytes);
    COUNTED(live, block != NULL && old == NULL);
    return block;
}

static void counted_free(void *block)
{
    COUNTED(live, -(block != NULL));
    free(block);
}

#define malloc counted_malloc
#define calloc counted_calloc
#define realloc counted_realloc
#define free counted_free

#endif
