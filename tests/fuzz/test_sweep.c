/* The digits model in both formats with every change of one byte: cut short at every byte, every value of every
 * structural byte, one other value of every byte of the weights. Nothing may break (run it with the address and
 * undefined behavior sanitizers), and memory use must be justified by the file.
 *
 *   test_sweep              a part, in seconds: a suite of make test
 *   test_sweep --all        all of it: make sweep
 *   test_sweep --jobs N     number of processes; default 1
 *
 * Memory that a file justifies:
 *   .nnrt    loading: NNRT_FILE_FACTOR times the bytes without the weights, and 4 KiB, as nnrt.h promises
 *   ONNX     loading: 8 times the bytes of the file, and 64 KiB; sizes that the file declares are only counted
 *   session  64 KiB and the bytes of all non-constant tensors, by the shapes that the file declares. A valid small file
 *            may declare large shapes: its session allocates as much, up to the limit of the allocator (here
 *            16 MiB), which the caller sets.
 * A failed allocation is NNRT_OUT_OF_MEMORY. Sessions of more than 1 MiB are prepared, but not run.
 *
 * A byte is structural when it is not part of a float constant: headers, tables, names, shapes, attributes,
 * integers, padding. Names do not affect a run: models that differ only in names run once. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* mmap of no file */
#endif
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "formats/nnrt_onnx.h"

#define FUZZ_INCLUDED
#include "fuzz.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SESSION_BASE ((size_t)64 << 10)
#define SESSION_MOST ((size_t)16 << 20)
#define RUN_MOST ((size_t)1 << 20)
#define JOBS_MOST 64
#define SEEN (1u << 16) /* models that have run, by hash */

typedef enum part { TRUNCATED, STRUCTURE, WEIGHTS, PARTS } part;
static const char *const part_names[PARTS] = {"truncated", "structure", "weights"};
static const char *const format_names[2] = {"onnx", "nnrt"};

/* A file of the model; weight[i]: byte i belongs to a float constant. */
typedef struct sample {
    uint8_t *data;
    bool *weight;
    size_t bytes, justified; /* justified: most that loading it may take */
} sample;

/* Results of one part of one format. */
typedef struct tally {
    uint64_t trials, loaded, prepared, ran, same, large, refused;
} tally;

/* Shared by the processes. now: its current input, for the report of a crash. */
typedef struct worker {
    tally tallies[2][PARTS];
    uint64_t done;
    struct {
        uint32_t format, part, at, value;
    } now;
} worker;

static sample samples[2];
static worker *workers;
static uint64_t seen[SEEN];
/* Every so many places, and values tried at a structural one: this is the part for make test. */
static uint32_t strides[PARTS] = {97, 3, 997}, values = 1;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the model without its names ---- */

static uint64_t mix(uint64_t h, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
    return h;
}

/* The same in steps of eight bytes, for weights. */
static uint64_t mix_data(uint64_t h, const uint8_t *data, size_t bytes)
{
    uint64_t word;
    for (; bytes >= sizeof(word); data += sizeof(word), bytes -= sizeof(word)) {
        memcpy(&word, data, sizeof(word));
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return mix(h, data, bytes);
}

static uint64_t mix_ints(uint64_t h, const NNRT_Int64List *list)
{
    h = mix(h, &list->count, sizeof(list->count));
    return mix(h, list->data, list->count * sizeof(*list->data));
}

static uint64_t mix_attr(uint64_t h, const NNRT_Node *n)
{
    const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint8_t *at = (const uint8_t *)n->nodeAttr.data + s->members[i].offset;
        const NNRT_Int64Lists *lists = (const NNRT_Int64Lists *)(const void *)at;
        if (s->members[i].kind == NNRT_ATTR_KIND_INTS)
            h = mix_ints(h, (const NNRT_Int64List *)(const void *)at);
        else if (s->members[i].kind != NNRT_ATTR_KIND_INTS2)
            h = mix(h, at, s->members[i].bytes);
        else
            for (uint32_t k = 0; k < lists->count; k++)
                h = mix_ints(h, &lists->data[k]);
    }
    return h;
}

static uint64_t mix_list(uint64_t h, const void *data, uint32_t count, size_t bytes)
{
    return mix(mix(h, &count, sizeof(count)), data, count * bytes);
}

static uint64_t mix_model(const NNRT_Model *m)
{
    uint64_t h = UINT64_C(14695981039346656037);
    h = mix_list(h, m->inputIndex.data, m->inputIndex.count, 4);
    h = mix_list(h, m->outputIndex.data, m->outputIndex.count, 4);
    for (uint32_t i = 0; i < m->allTensors.count; i++) {
        const NNRT_Tensor *t = &m->allTensors.data[i];
        h = mix(mix(h, &t->dataType, sizeof(t->dataType)), &t->format, sizeof(t->format));
        h = mix_list(h, t->dims.data, t->dims.count, 4);
        h = mix_list(h, t->quantParams.data, t->quantParams.count, sizeof(NNRT_QuantParam));
        h = mix_list(mix(h, &t->quantAxis, sizeof(t->quantAxis)), t->symbols.data, t->symbols.count, 4);
        h = mix(h, &t->data.dataSize, sizeof(t->data.dataSize));
        if (fuzz_constant(t))
            h = mix_data(h, (const uint8_t *)fuzz_data(&t->data), t->data.dataSize);
    }
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        h = mix(mix(h, &n->nodeType, sizeof(n->nodeType)), &n->quantType, sizeof(n->quantType));
        h = mix_list(h, n->inputIndex.data, n->inputIndex.count, 4);
        h = mix_list(h, n->outputIndex.data, n->outputIndex.count, 4);
        h = n->nodeAttr.data != NULL ? mix_attr(h, n) : h;
    }
    return h != 0 ? h : 1;
}

/* True when this process has not run such a model yet. */
static bool is_new(uint64_t hash)
{
    uint32_t at = (uint32_t)hash % SEEN;
    for (uint32_t n = 0; n < SEEN && seen[at] != 0; n++, at = (at + 1) % SEEN)
        if (seen[at] == hash)
            return false;
    seen[at] = hash;
    return true;
}

/* ---- one file ---- */

/* Bytes of all tensors that are no constants; 0 when they do not follow from the model. */
static size_t extents(const NNRT_Model *m)
{
    nnrt_operand *tensors = (nnrt_operand *)fuzz_block((m->allTensors.count + 1) * sizeof(*tensors));
    nnrt_memory memory;
    size_t total = 0, bytes;
    nnrt_memory_allocate(&memory, NULL);
    if (nnrt_model_infer(m, NULL, &memory, tensors, NULL, NULL) == NNRT_SUCCESS)
        for (uint32_t i = 0; i < m->allTensors.count; i++) {
            const nnrt_operand *o = &tensors[i];
            if (!fuzz_constant(&m->allTensors.data[i]) &&
                (!nnrt_dims_bytes(o->dims, o->rank < 0 ? 0 : o->rank, o->dataType, &bytes) ||
                 !nnrt_add_size(total, bytes + NNRT_ALIGNMENT, &total)))
                total = SIZE_MAX / 2;
        }
    nnrt_memory_end(&memory);
    free(tensors);
    return total;
}

/* Prepares the model, and runs it when it is small and new, or `always`. The code of the last step. */
static NNRT_ReturnCode prepare(const NNRT_Model *m, bool always, tally *t)
{
    size_t bytes = extents(m), io = 0;
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    fuzz_memory memory;
    nnrt_allocator a =
        fuzz_allocator(&memory, bytes < SESSION_MOST - SESSION_BASE ? SESSION_BASE + bytes : SESSION_MOST);
    nnrt_error e;
    fuzz_run r;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    code = nnrt_session_create(&s, m, &desc, &e);
    fuzz_check_error(code, &e, "nnrt_session_create");
    fuzz_expect(memory.refused == 0 || (code == NNRT_OUT_OF_MEMORY && bytes >= SESSION_MOST - SESSION_BASE),
                "a session takes no more than its extents justify", e.message);
    t->refused += memory.refused > 0;
    if (s != NULL) {
        t->prepared++;
        for (uint32_t i = 0; i < nnrt_session_inputs(s); i++)
            io += nnrt_session_input(s, i).bytes;
        if (nnrt_session_inputs(s) > FUZZ_IO || nnrt_session_outputs(s) > FUZZ_IO || io > RUN_MOST ||
            bytes > RUN_MOST) {
            t->large++;
        } else if (!always && !is_new(mix_model(m))) {
            t->same++;
        } else {
            fuzz_run_begin(&r, s, NULL);
            fuzz_run_once(&r, s, 0xA5);
            code = r.code;
            fuzz_run_end(&r);
            t->ran++;
        }
    }
    nnrt_session_destroy(s);
    fuzz_memory_empty(&memory);
    return code;
}

/* Loads, prepares and runs the input. Returns the code of the first failure. */
static NNRT_ReturnCode trial(uint32_t format, const uint8_t *data, size_t bytes, bool always, tally *t)
{
    NNRT_Model *m = NULL;
    nnrt_onnx_desc onnx;
    nnrt_load_desc load;
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, samples[format].justified);
    nnrt_error e;
    NNRT_ReturnCode code;
    memset(&onnx, 0, sizeof(onnx));
    memset(&load, 0, sizeof(load));
    memset(&e, 0, sizeof(e));
    onnx.allocator = load.allocator = &a;
    t->trials++;
    code = format == 0 ? nnrt_onnx_load_memory(&m, data, bytes, &onnx, &e)
                       : nnrt_model_load_memory(&m, data, bytes, &load, &e);
    fuzz_check_error(code, &e, "load");
    fuzz_expect((m != NULL) == (code == NNRT_SUCCESS), "a model comes with success only", e.message);
    fuzz_expect(memory.refused == 0, "loading takes no more than the file justifies", e.message);
    if (m != NULL) {
        t->loaded++;
        code = prepare(m, always, t);
    }
    nnrt_model_destroy(m);
    fuzz_memory_empty(&memory);
    return code;
}

/* The checksum of a .nnrt file detects any change. */
static void checksum_detects(const uint8_t *data, size_t bytes)
{
    NNRT_Model *m = NULL;
    nnrt_load_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.checksum = true;
    fuzz_expect(nnrt_model_load_memory(&m, data, bytes, &desc, NULL) == NNRT_INVALID_FILE, "a checksum fault", NULL);
}

/* Everything that is tried at one place of one format. */
static void sweep_place(uint32_t format, part p, uint32_t at, worker *w)
{
    sample *f = &samples[format];
    tally *t = &w->tallies[format][p];
    const uint8_t was = f->data[at];
    uint8_t *cut;
    w->now.format = format;
    w->now.part = p;
    w->now.at = at;
    if (p == TRUNCATED) { /* in memory of at bytes and no more, so that the sanitizer detects reads after them */
        cut = (uint8_t *)fuzz_block(at);
        memcpy(cut, f->data, at);
        fuzz_expect(trial(format, cut, at, false, t) == NNRT_INVALID_FILE || format == 0, "a cut .nnrt file is refused",
                    NULL);
        free(cut);
    } else if (p == STRUCTURE && !f->weight[at]) {
        for (uint32_t k = 0; k < values; k++) {
            f->data[at] = (uint8_t)(w->now.value = values == 256 ? k : was ^ (1u << at % 8));
            (void)trial(format, f->data, f->bytes, false, t);
        }
    } else if (p == WEIGHTS && f->weight[at]) {
        f->data[at] = (uint8_t)(w->now.value = was ^ 0x55u);
        fuzz_expect(trial(format, f->data, f->bytes, true, t) == NNRT_SUCCESS, "other weights run", NULL);
        if (format == 1)
            checksum_detects(f->data, f->bytes);
    }
    f->data[at] = was;
}

/* ---- all of them ---- */

static uint64_t places(void)
{
    uint64_t n = 0;
    for (uint32_t p = 0; p < PARTS; p++)
        for (uint32_t format = 0; format < 2; format++)
            n += (samples[format].bytes + strides[p] - 1) / strides[p];
    return n;
}

/* The places of process `job` of `jobs`: neighbours go to different ones. */
static void sweep(uint32_t job, uint32_t jobs)
{
    worker *w = &workers[job];
    uint64_t n = 0;
    for (uint32_t p = 0; p < PARTS; p++)
        for (uint32_t format = 0; format < 2; format++)
            for (size_t at = 0; at < samples[format].bytes; at += strides[p])
                if (n++ % jobs == job) {
                    sweep_place(format, (part)p, (uint32_t)at, w);
                    w->done++;
                }
}

static void mark(sample *f, const void *data, size_t bytes)
{
    const size_t at = (size_t)((const uint8_t *)data - f->data);
    fuzz_expect(at < f->bytes && bytes <= f->bytes - at, "a constant lies in the file", NULL);
    memset(f->weight + at, 1, bytes);
}

static void sample_take(sample *f, size_t bytes)
{
    f->bytes = bytes;
    f->data = (uint8_t *)fuzz_block(bytes);
    f->weight = (bool *)fuzz_block(bytes * sizeof(bool));
}

/* digits.onnx, as it is. */
static bool sample_onnx(sample *f, const char *path)
{
    nnrt_onnx_model *m = NULL;
    FILE *file = fopen(path, "rb");
    long size = 0;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) <= 0 || fseek(file, 0, SEEK_SET) != 0)
        return false;
    sample_take(f, (size_t)size);
    if (fread(f->data, 1, f->bytes, file) != f->bytes || fclose(file) != 0 ||
        nnrt_onnx_parse(f->data, f->bytes, NULL, &m, NULL) != NNRT_SUCCESS)
        return false;
    for (size_t i = 0; i < m->graph->initializers.count; i++) {
        const nnrt_onnx_tensor *t = &m->graph->initializers.data[i];
        if (t->dataType == NNRT_ONNX_FLOAT)
            mark(f, t->rawData.data, t->rawData.length);
    }
    nnrt_onnx_model_free(m);
    f->justified = 8 * f->bytes + ((size_t)64 << 10);
    return true;
}

/* The same model as a .nnrt file. */
static bool sample_nnrt(sample *f, const sample *onnx)
{
    NNRT_Model *m = NULL, *back = NULL;
    size_t bytes = 0, weights = 0;
    bool good = nnrt_onnx_load_memory(&m, onnx->data, onnx->bytes, NULL, NULL) == NNRT_SUCCESS &&
                nnrt_model_save_memory(m, NULL, NULL, 0, &bytes, NULL) == NNRT_SUCCESS;
    if (good) {
        sample_take(f, bytes);
        good = nnrt_model_save_memory(m, NULL, f->data, bytes, &bytes, NULL) == NNRT_SUCCESS &&
               nnrt_model_load_memory(&back, f->data, bytes, NULL, NULL) == NNRT_SUCCESS;
    }
    for (uint32_t i = 0; good && i < back->allTensors.count; i++) {
        const NNRT_Tensor *t = &back->allTensors.data[i];
        weights += fuzz_constant(t) ? t->data.dataSize : 0;
        if (fuzz_constant(t) && t->dataType == NNRT_DATA_TYPE_FLOAT32)
            mark(f, fuzz_data(&t->data), t->data.dataSize);
    }
    f->justified = NNRT_FILE_FACTOR * (f->bytes - weights) + 4096;
    nnrt_model_destroy(back);
    nnrt_model_destroy(m);
    return good;
}

/* Sums the results of all processes. */
static uint64_t done_by(uint32_t jobs, tally sum[2][PARTS])
{
    uint64_t done = 0;
    memset(sum, 0, 2 * PARTS * sizeof(tally));
    for (uint32_t j = 0; j < jobs; j++) {
        const worker *w = &workers[j];
        done += w->done;
        for (uint32_t i = 0; i < 2 * PARTS; i++) {
            const tally *from = &w->tallies[i / PARTS][i % PARTS];
            tally *to = &sum[i / PARTS][i % PARTS];
            to->trials += from->trials;
            to->loaded += from->loaded;
            to->prepared += from->prepared;
            to->ran += from->ran;
            to->same += from->same;
            to->large += from->large;
            to->refused += from->refused;
        }
    }
    return done;
}

static void progress(uint64_t done, double since)
{
    const uint64_t all = places();
    const double rest = done > 0 ? (seconds() - since) * (double)(all - done) / (double)done : 0;
    char bar[25];
    if (isatty(2) != 1)
        return;
    for (size_t i = 0; i < sizeof(bar) - 1; i++)
        bar[i] = i < done * (sizeof(bar) - 1) / all ? '#' : '.';
    bar[sizeof(bar) - 1] = '\0';
    fprintf(stderr, "\rsweep [%s] %lu/%lu places, %d:%02d left ", bar, (unsigned long)done, (unsigned long)all,
            (int)rest / 60, (int)rest % 60);
}

/* Waits for the processes; false when one of them broke, after saying where it was. */
static bool watch(uint32_t jobs, const pid_t *pids, double since)
{
    const struct timespec tenth = {0, 100000000};
    tally sum[2][PARTS];
    bool good = true;
    for (uint32_t j = 0; j < jobs; j++) {
        int status = pids[j] < 0 ? -1 : 0;
        while (pids[j] > 0 && waitpid(pids[j], &status, WNOHANG) == 0) {
            progress(done_by(jobs, sum), since);
            nanosleep(&tenth, NULL);
        }
        if (status == 0)
            continue;
        good = false;
        fprintf(stderr, "\n%s %s byte %u value %u: ended with status %d\n", format_names[workers[j].now.format],
                part_names[workers[j].now.part], workers[j].now.at, workers[j].now.value, status);
    }
    if (isatty(2) == 1)
        fprintf(stderr, "\r%*s\r", 79, "");
    return good;
}

/* The table, and the number of successful parts. */
static int report(uint32_t jobs, bool good, double since)
{
    tally sum[2][PARTS];
    int passed = 0;
    (void)done_by(jobs, sum);
    printf("format\tpart\ttrials\tloaded\tprepared\tran\tsame as one that ran\tprepared, too large to run\trefused "
           "memory\n");
    for (uint32_t format = 0; format < 2; format++)
        for (uint32_t p = 0; p < PARTS; p++) {
            const tally *t = &sum[format][p];
            printf("%s\t%s\t%lu\t%lu\t%lu\t%lu\t%lu\t%lu\t%lu\n", format_names[format], part_names[p],
                   (unsigned long)t->trials, (unsigned long)t->loaded, (unsigned long)t->prepared,
                   (unsigned long)t->ran, (unsigned long)t->same, (unsigned long)t->large, (unsigned long)t->refused);
            passed += t->trials > 0;
        }
    printf("%.0f s, %u processes\n", seconds() - since, jobs);
    printf("%d passed, %d failed\n", good ? passed : 0, good ? 2 * PARTS - passed : 1);
    return good && passed == 2 * PARTS ? 0 : 1;
}

int main(int argc, char **argv)
{
    pid_t pids[JOBS_MOST];
    uint32_t jobs = 1;
    bool good;
    double since = seconds();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0) {
            strides[0] = strides[1] = strides[2] = 1;
            values = 256;
        } else if (strcmp(argv[i], "--jobs") == 0 && i + 1 < argc) {
            const int n = atoi(argv[++i]);
            jobs = n < 1 ? 1 : n > JOBS_MOST ? JOBS_MOST : (uint32_t)n;
        } else {
            fprintf(stderr, "usage: test_sweep [--all] [--jobs N]\n");
            return 2;
        }
    }
    workers =
        (worker *)mmap(NULL, sizeof(worker) * JOBS_MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    good = workers != (worker *)MAP_FAILED && sample_onnx(&samples[0], "examples/digits/digits.onnx") &&
           sample_nnrt(&samples[1], &samples[0]);
    if (!good) {
        fprintf(stderr, "examples/digits/digits.onnx cannot be used\n");
        return 1;
    }
    fflush(stdout);
    for (uint32_t j = 0; j < jobs; j++)
        if ((pids[j] = fork()) == 0) {
            sweep(j, jobs);
            for (uint32_t k = 0; k < 2; k++) {
                free(samples[k].data);
                free(samples[k].weight);
            }
            exit(0);
        }
    good = watch(jobs, pids, since);
    for (uint32_t k = 0; k < 2; k++) {
        free(samples[k].data);
        free(samples[k].weight);
    }
    return report(jobs, good, since);
}
