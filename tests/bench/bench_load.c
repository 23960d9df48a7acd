/* Load time of a large .nnrt file, and memory of loading and of a run; the same for the import of an ONNX file and of a
   .tflite file: make bench-load

       bench_load FILE TFLITE    writes FILE with 200 MB, or 104 MB, prints a table, removes the file; TFLITE exists

   The model is a GATHER from a table of 51,200 rows of 4 KiB; a run takes 4 rows. Columns: milliseconds of the step;
   RSS of the process and of the mapped file (/proc/self/statm and smaps; -1: not available) and bytes that the library
   has allocated, all at the end of the step. Memory is asserted: the exit status is 1 if a value is too high, or if
   reading the whole file for the checksum does not increase the RSS. Times are printed only. The ONNX files are 11
   times Conv with 512 channels and a 3x3 kernel, BatchNormalization and Relu, with raw_data or with float_data; each is
   imported in a process of its own: at most 2.1 times the file size at the peak, 1.1 times afterwards. The .tflite file
   is memory-mapped: its import allocates at most 1 MiB. Its time is the median of 20 imports. */
#define _XOPEN_SOURCE 700
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"
#include "formats/nnrt_tflite.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* FOLIO: KiB that Linux may map at once if one byte is touched; a row may be in two of them. */
enum { ROWS = 51200, WIDTH = 1024, TAKEN = 4, FOLIO = 2048 };

enum { LAYERS = 11, CHANNELS = 512 };

static size_t allocated, most;
static int failed;

static void *counting_alloc(void *user, size_t bytes, size_t alignment)
{
    void *block = NULL;
    (void)user;
    if (posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) != 0)
        return NULL;
    allocated += bytes;
    most = allocated > most ? allocated : most;
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

/* Resident KiB of the process, -1 if unknown. */
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

/* Resident KiB of the mapping of a file, -1 if unknown. */
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
    desc.device = "reference"; /* which uses weights in place; others pack them */
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

/* ---- an ONNX file ---- */

/* Destination of put(); NULL: bytes are only counted. */
static FILE *sink;
static size_t emitted;

static void put(const void *data, size_t bytes)
{
    if (sink != NULL && fwrite(data, 1, bytes, sink) != bytes)
        failed = 1;
    emitted += bytes;
}

static void put_varint(uint64_t v)
{
    do {
        const uint8_t byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        put(&byte, 1);
        v >>= 7;
    } while (v > 0);
}

/* Writes a field whose bytes `part` writes: a first call only counts them. */
static void put_part(uint32_t field, void (*part)(int i), int i)
{
    FILE *const to = sink;
    const size_t at = emitted;
    size_t bytes;
    sink = NULL;
    part(i);
    bytes = emitted - at;
    sink = to;
    emitted = at;
    put_varint((uint64_t)field << 3 | 2);
    put_varint(bytes);
    part(i);
}

static void put_text(uint32_t field, const char *text)
{
    put_varint((uint64_t)field << 3 | 2);
    put_varint(strlen(text));
    put(text, strlen(text));
}

static void put_int(uint32_t field, uint64_t v)
{
    put_varint((uint64_t)field << 3);
    put_varint(v);
}

static bool raw; /* data are raw_data, else float_data */

/* Elements `value`, of which every 16th is twice as large. */
static void put_floats(size_t count, float value)
{
    static float some[4096];
    for (size_t i = 0; i < 4096; i++)
        some[i] = i % 16 == 0 ? 2 * value : value;
    put_varint((raw ? 9u : 4u) << 3 | 2);
    put_varint(4 * (uint64_t)count);
    for (size_t left = count; left > 0; left -= left < 4096 ? left : 4096)
        put(some, 4 * (left < 4096 ? left : 4096));
}

/* Initializer i: 5 a layer, the weight and the parameters of the normalization. */
static void put_tensor(int i)
{
    char name[16];
    put_int(1, CHANNELS);
    for (int k = 0; i % 5 == 0 && k < 3; k++)
        put_int(1, k == 0 ? CHANNELS : 3);
    put_int(2, NNRT_ONNX_FLOAT);
    snprintf(name, sizeof(name), "t%d", i);
    put_text(8, name);
    put_floats(i % 5 == 0 ? (size_t)CHANNELS * CHANNELS * 9 : CHANNELS, i % 5 == 0 ? 1e-4f : 0.5f);
}

/* Node i: 3 a layer. */
static void put_node(int i)
{
    static const char *const types[] = {"Conv", "BatchNormalization", "Relu"};
    char name[16];
    snprintf(name, sizeof(name), i == 0 ? "x" : "v%d", i);
    put_text(1, name);
    for (int k = 0; k < (i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 0); k++) {
        snprintf(name, sizeof(name), "t%d", i / 3 * 5 + i % 3 + k);
        put_text(1, name);
    }
    snprintf(name, sizeof(name), "v%d", i + 1);
    put_text(2, name);
    put_text(4, types[i % 3]);
}

static void put_dim(int i)
{
    put_int(1, i == 0 ? 1 : i == 1 ? CHANNELS : 2 * LAYERS + 1);
}

static void put_shape(int i)
{
    (void)i;
    for (int k = 0; k < 4; k++)
        put_part(1, put_dim, k);
}

static void put_elements(int i)
{
    put_int(1, NNRT_ONNX_FLOAT);
    put_part(2, put_shape, i);
}

static void put_type(int i)
{
    put_part(1, put_elements, i);
}

static void put_value(int i)
{
    char name[16];
    snprintf(name, sizeof(name), i == 0 ? "x" : "v%d", i);
    put_text(1, name);
    if (i == 0)
        put_part(2, put_type, 0);
}

static void put_graph(int i)
{
    (void)i;
    for (int k = 0; k < 3 * LAYERS; k++)
        put_part(1, put_node, k);
    for (int k = 0; k < 5 * LAYERS; k++)
        put_part(5, put_tensor, k);
    put_part(11, put_value, 0);
    put_part(12, put_value, 3 * LAYERS);
}

static void put_opset(int i)
{
    put_int(2, 17 + (uint64_t)i);
}

/* Imports the file, in a process that has done nothing else. */
static int measure_onnx(const char *path)
{
    const size_t slack = 6u << 20; /* of the process itself */
    const double bytes = (double)emitted;
    nnrt_allocator a;
    nnrt_error error;
    nnrt_onnx_desc desc;
    NNRT_Model *m = NULL;
    struct rusage use;
    double start = now_ms();
    memset(&a, 0, sizeof(a));
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    a.alloc = counting_alloc;
    a.free = counting_free;
    desc.allocator = &a;
    if (nnrt_onnx_load(&m, path, &desc, &error) != NNRT_SUCCESS) {
        printf("FAIL %s: %s\n", nnrt_code_name(error.code), error.message);
        return 1;
    }
    start = now_ms() - start;
    (void)getrusage(RUSAGE_SELF, &use);
    show(raw ? "import, raw_data" : "import, float_data", start, path);
    printf("%-28s\t%9.2f\t%9.2f\t%9.2f\t%9.2f\n", "  of the file: peak, after", (double)most / bytes,
           (double)allocated / bytes, (double)use.ru_maxrss * 1024 / bytes, (double)rss_process() * 1024 / bytes);
    expect((double)most <= 2.1 * bytes, "bytes allocated at the peak", (double)most, 2.1 * bytes);
    expect((double)allocated <= 1.1 * bytes, "bytes allocated after importing", (double)allocated, 1.1 * bytes);
    expect((double)use.ru_maxrss * 1024 <= 2.1 * bytes + (double)slack, "RSS at the peak", (double)use.ru_maxrss * 1024,
           2.1 * bytes + (double)slack);
    expect((double)rss_process() * 1024 <= 1.1 * bytes + (double)slack, "RSS after importing",
           (double)rss_process() * 1024, 1.1 * bytes + (double)slack);
    nnrt_model_destroy(m);
    expect(allocated == 0, "bytes allocated at the end", (double)allocated, 0);
    return failed;
}

static void bench_onnx(const char *path)
{
    for (int i = 0; i < 2; i++) {
        int status = 0;
        pid_t child;
        raw = i == 0;
        emitted = 0;
        if ((sink = fopen(path, "wb")) == NULL) {
            failed = 1;
            return;
        }
        put_int(1, 8);
        put_part(8, put_opset, 0);
        put_part(7, put_graph, 0);
        failed = fclose(sink) != 0 || failed;
        (void)fflush(stdout);
        if ((child = fork()) == 0) {
            status = measure_onnx(path);
            (void)fflush(stdout);
            _exit(status);
        }
        failed = child < 0 || waitpid(child, &status, 0) != child || status != 0 || failed;
        (void)remove(path);
    }
}

/* ---- a .tflite file ---- */

enum { IMPORTS = 20, TFLITE_BYTES = 1 << 20 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Imports the file 20 times: the median time, and the bytes that one import allocates at its peak. */
static NNRT_ReturnCode measure_tflite(const char *path, const nnrt_allocator *a, nnrt_error *error)
{
    nnrt_tflite_desc desc;
    double times[IMPORTS];
    NNRT_ReturnCode code = NNRT_SUCCESS;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = a;
    most = allocated;
    for (int i = 0; code == NNRT_SUCCESS && i < IMPORTS; i++) {
        NNRT_Model *m = NULL;
        times[i] = now_ms();
        code = nnrt_tflite_load(&m, path, &desc, error);
        times[i] = now_ms() - times[i];
        nnrt_model_destroy(m);
    }
    if (code != NNRT_SUCCESS)
        return code;
    qsort(times, IMPORTS, sizeof(times[0]), ascending);
    printf("%-28s\t%9.3f\t%9s\t%9s\t%9lu\n", "import, .tflite: median, peak", times[IMPORTS / 2], "", "", (unsigned long)most);
    expect(most <= TFLITE_BYTES, "bytes allocated at the peak", (double)most, TFLITE_BYTES);
    expect(allocated == 0, "bytes allocated at the end", (double)allocated, 0);
    return NNRT_SUCCESS;
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
    if (argc != 3)
        return fprintf(stderr, "usage: bench_load FILE TFLITE\n"), 2;
    printf("%-28s\t%9s\t%9s\t%9s\t%9s\n", "step", "ms", "RSS KiB", "file KiB", "allocated");
    bench_onnx(argv[1]);
    code = write_model(argv[1], &error);
    show("start", 0, argv[1]);
    if (code == NNRT_SUCCESS)
        code = measure(argv[1], &a, &error);
    if (code == NNRT_SUCCESS)
        code = measure_checksum(argv[1], &a, &error);
    if (code == NNRT_SUCCESS)
        code = measure_tflite(argv[2], &a, &error);
    (void)remove(argv[1]);
    if (code != NNRT_SUCCESS)
        printf("FAIL %s: %s\n", nnrt_code_name(code), error.message);
    printf("%d passed, %d failed\n", code == NNRT_SUCCESS && !failed, code != NNRT_SUCCESS || failed);
    return code != NNRT_SUCCESS || failed;
}
