/* A library for LD_PRELOAD that counts the heap of a program: when the program ends it writes "PEAK CALLS" to the file
   NNRT_HEAP, the largest sum of the bytes that malloc, calloc and realloc gave at once, as requested, and the number of
   calls that gave memory. Linux with glibc; for programs whose first thread alone allocates much. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_SLOTS ((size_t)1 << 18)

/* Blocks by address: open addressing. GONE: a block was here. */
static struct {
    void *block;
    size_t bytes;
} slots[HEAP_SLOTS];
#define GONE ((void *)1)
static size_t live, peak, calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* calloc before dlsym knows the real one: dlsym calls it. */
static char early[4096];
static size_t earlyBytes;

static size_t slot_of(const void *block)
{
    return (size_t)(((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u >> 46) % HEAP_SLOTS;
}

static void *note(void *block, size_t bytes)
{
    size_t i = slot_of(block);
    if (block == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    while (slots[i].block != NULL && slots[i].block != GONE)
        i = (i + 1) % HEAP_SLOTS;
    slots[i].block = block;
    slots[i].bytes = bytes;
    live += bytes;
    calls++;
    peak = live > peak ? live : peak;
    pthread_mutex_unlock(&lock);
    return block;
}

static void forget(const void *block)
{
    size_t i = slot_of(block);
    if (block == NULL)
        return;
    pthread_mutex_lock(&lock);
    while (slots[i].block != NULL && slots[i].block != block)
        i = (i + 1) % HEAP_SLOTS;
    if (slots[i].block == block) {
        live -= slots[i].bytes;
        slots[i].block = GONE;
    }
    pthread_mutex_unlock(&lock);
}

/* The function of the C library. dlsym gives a pointer to data, which POSIX allows to be called. */
#define REAL(type, name)                                                                                               \
    static type real;                                                                                                  \
    if (real == NULL) {                                                                                                \
        void *const found = dlsym(RTLD_NEXT, name);                                                                    \
        memcpy(&real, &found, sizeof(real));                                                                           \
    }

void *malloc(size_t bytes)
{
    typedef void *(*function)(size_t);
    REAL(function, "malloc")
    return note(real(bytes), bytes);
}

void *calloc(size_t count, size_t size)
{
    typedef void *(*function)(size_t, size_t);
    static int finding;
    if (finding) {
        void *const block = early + earlyBytes;
        earlyBytes += (count * size + 15) / 16 * 16;
        return earlyBytes <= sizeof(early) ? block : NULL;
    }
    finding = 1;
    {
        REAL(function, "calloc")
        finding = 0;
        return note(real(count, size), count * size);
    }
}

void *realloc(void *block, size_t bytes)
{
    typedef void *(*function)(void *, size_t);
    void *moved;
    REAL(function, "realloc")
    forget(block);
    moved = real(block, bytes);
    return note(moved, bytes);
}

void free(void *block)
{
    typedef void (*function)(void *);
    REAL(function, "free")
    if ((char *)block >= early && (char *)block < early + sizeof(early))
        return;
    forget(block);
    real(block);
}

__attribute__((destructor)) static void heap_report(void)
{
    const char *const path = getenv("NNRT_HEAP");
    const size_t most = peak, number = calls;
    FILE *const f = path != NULL ? fopen(path, "w") : NULL;
    if (f == NULL)
        return;
    fprintf(f, "%zu %zu\n", most, number);
    fclose(f);
}
