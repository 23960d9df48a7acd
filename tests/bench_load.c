/* How long a large .nnrt file takes to load, and what memory that and a run take: make bench-load

       bench_load FILE    writes a file of 200 MB there, prints a table, removes the file

   The model is a GATHER from a table of 51,200 rows of 4 KiB; a run takes 4 rows. Columns: milliseconds of the step; RSS
   of the process and of the mapped file (/proc/self/statm and smaps; -1 where there is none) and bytes that the library
   has allocated, all at the end of the step. Memory is asserted: the exit status is 1 when a figure is too high, or when
   reading the whole file for the checksum does not show in the RSS. Times are printed only. */
#define _POSIX_C_SOURCE 200809L
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* FOLIO: KiB that Linux may map at once where one byte is touched; a row may lie in two of them. */
enum { ROWS = 51200, WIDTH = 1024, TAKEN = 4, FOLIO = 2048 };

static size_t allocated;
static int failed;

static void *counting_alloc(void *user, size_t bytes, size_t alignment)
{
    void *block = NULL;
    (void)user;
    if (posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) != 0)
        return NULL;
    allocated += bytes;
    return block;
}

static void counting_free(void *user, void *block, size_t bytes)
{
    (void)user;
    allocated -= bytes;
    free(block);
}

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* KiB of the process, -1 where that is not known. */
static long rss_process(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = -1, resident = -1;
    if (f == NULL)
        return -1;
    if (fscanf(f, "%ld %ld", &pages, &resident) != 2)
        resident = -1;
    (void)fclose(f);
    return resident < 0 ? -1 : resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* KiB of the mapping of a file that is in memory, -1 where that is not known. */
static long rss_file(const char *path)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') : path;
    char line[4096];
    long sum = -1, part;
    int mine = 0;
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        const size_t n = strcspn(line, "\n"), k = strlen(name);
        if (line[0] >= 'a' ? strchr(line, '-') != NULL && strchr(line, '-') < strchr(line, ' ')
                           : line[0] >= '0' && line[0] <= '9')
            mine = n > k && memcmp(line + n - k, name, k) == 0;
        else if (mine && sscanf(line, "Rss: %ld", &part) == 1)
            sum = (sum < 0 ? 0 : sum) + part;
    }
    if (f != NULL)
        (void)fclose(f);
    return sum;
}

static void show(const char *step, double ms, const char *path)
{
    const long process = rss_process(), file = rss_file(path);
    printf("%-28s\t%9.3f\t", step, ms);
    printf("%9ld\t%9ld\t%9lu\n", process, file, (unsigned long)allocated);
}

/* Says that a figure is out of its bounds. */
static void expect(int good, const char *what, double value, double bound)
{
    if (good)
        return;
    printf("FAIL %s: %.0f, bound %.0f\n", what, value, bound);
    failed = 1;
}

/* Row r of the table is r everywhere. */
static NNRT_ReturnCode write_model(const char *path, nnrt_error *error)
{
    static const int32_t dims[] = {ROWS, WIDTH}, taken[] = {TAKEN};
    float *table = (float *)malloc(sizeof(float) * ROWS * WIDTH);
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    const int32_t axis = 0;
    uint32_t in[3];
    for (size_t i = 0; table != NULL && i < (size_t)ROWS * WIDTH; i++)
        table[i] = (float)(i / WIDTH);
    if (table != NULL && (code = nnrt_builder_create(&b, "table", NULL)) == NNRT_SUCCESS) {
        in[0] = nnrt_builder_constant(b, "table", NNRT_DATA_TYPE_FLOAT32, 2, dims, table, false);
        in[1] = nnrt_builder_input(b, "rows", NNRT_DATA_TYPE_INT32, 1, taken);
        in[2] = nnrt_builder_constant(b, "axis", NNRT_DATA_TYPE_INT32, 0, NULL, &axis, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_GATHER, NULL, in, 3));
        code = nnrt_builder_finish(b, &m, error);
        nnrt_builder_destroy(b);
    }
    if (code == NNRT_SUCCESS)
        code = nnrt_model_save(m, path, NULL, error);
    nnrt_model_destroy(m);
    free(table);
    return code;
}

/* Loads, makes a session, runs; a line for each. */
static NNRT_ReturnCode measure(const char *path, const nnrt_allocator *a, nnrt_error *error)
{
    static const int32_t rows[TAKEN] = {7, 20000, 31111, ROWS - 1};
    const size_t tables = 4 * sizeof(NNRT_Tensor) + sizeof(NNRT_Node) + sizeof(NNRT_Gather) + 2048;
    static float y[TAKEN * WIDTH];
    nnrt_load_desc load;
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    NNRT_Model *m = NULL;
    nnrt_io io[2];
    double start;
    long before;
    NNRT_ReturnCode code;
    memset(&load, 0, sizeof(load));
    memset(&desc, 0, sizeof(desc));
    memset(io, 0, sizeof(io));
    load.allocator = desc.allocator = a;
    start = now_ms();
    if ((code = nnrt_model_load(&m, path, &load, error)) != NNRT_SUCCESS)
        return code;
    start = now_ms() - start;
    before = rss_file(path);
    show("load", start, path);
    expect(allocated <= tables, "bytes allocated by loading", (double)allocated, (double)tables);
    expect(before <= FOLIO, "KiB of the file in memory after loading", (double)before, FOLIO);
    start = now_ms();
    code = nnrt_session_create(&s, m, &desc, error);
    show("make a session", now_ms() - start, path);
    io[0] = nnrt_io_make((void *)(uintptr_t)rows, sizeof(rows));
    io[1] = nnrt_io_make(y, sizeof(y));
    start = now_ms();
    if (code == NNRT_SUCCESS)
        code = nnrt_run(s, io, 1, io + 1, 1);
    start = now_ms() - start;
    show("run that takes 4 rows", start, path);
    expect(rss_file(path) < before + 2 * TAKEN * FOLIO, "KiB of the file in memory after a run", (double)rss_file(path),
           (double)(before + 2 * TAKEN * FOLIO));
    for (int i = 0; code == NNRT_SUCCESS && i < TAKEN * WIDTH; i++)
        expect(y[i] == (float)rows[i / WIDTH], "element of the result", (double)y[i], rows[i / WIDTH]);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
    return code;
}

/* The same with the checksum, which reads all: the figures above would show it. */
static NNRT_ReturnCode measure_checksum(const char *path, const nnrt_allocator *a, nnrt_error *error)
{
    nnrt_load_desc load;
    NNRT_Model *m = NULL;
    NNRT_ReturnCode code;
    double start = now_ms();
    long file;
    memset(&load, 0, sizeof(load));
    load.allocator = a;
    load.checksum = true;
    if ((code = nnrt_model_load(&m, path, &load, error)) != NNRT_SUCCESS)
        return code;
    start = now_ms() - start;
    file = rss_file(path);
    show("load with the checksum", start, path);
    expect(file < 0 || file > ROWS / 2 * (WIDTH * 4 / 1024), "KiB of the file in memory with the checksum",
           (double)file, (double)ROWS / 2 * (WIDTH * 4 / 1024.0));
    nnrt_model_destroy(m);
    expect(allocated == 0, "bytes allocated at the end", (double)allocated, 0);
    return code;
}

int main(int argc, char **argv)
{
    nnrt_allocator a;
    nnrt_error error;
    NNRT_ReturnCode code;
    memset(&a, 0, sizeof(a));
    memset(&error, 0, sizeof(error));
    a.alloc = counting_alloc;
    a.free = counting_free;
    if (argc != 2)
        return fprintf(stderr, "usage: bench_load FILE\n"), 2;
    code = write_model(argv[1], &error);
    printf("%-28s\t%9s\t%9s\t%9s\t%9s\n", "step", "ms", "RSS KiB", "file KiB", "allocated");
    show("start", 0, argv[1]);
    if (code == NNRT_SUCCESS)
        code = measure(argv[1], &a, &error);
    if (code == NNRT_SUCCESS)
        code = measure_checksum(argv[1], &a, &error);
    (void)remove(argv[1]);
    if (code != NNRT_SUCCESS)
        printf("FAIL %s: %s\n", nnrt_code_name(code), error.message);
    printf("%d passed, %d failed\n", code == NNRT_SUCCESS && !failed, code != NNRT_SUCCESS || failed);
    return code != NNRT_SUCCESS || failed;
}
