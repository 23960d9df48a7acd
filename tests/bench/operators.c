/* Times of single operators: of every model of tests/devices/typical.h on the device cpu, with fixed and with dynamic
   dimensions, beside ONNX Runtime and the roofline of the machine. tests/bench/operators.py calls it and prints the tables.

       operators --dump DIR [OPERATOR...]   writes DIR/ID.txt and ID.bin: the node and its constants, which operators.py
                                            writes as ID.onnx
       operators --run DIR LIBRARY SECONDS [OPERATOR...]
                                            a line for each model, below; LIBRARY: ONNX Runtime, which runs the files ID.onnx
                                            that are there, or `no`; SECONDS: about how long for each model
       --all before the others: element types with the same kernels and element size as an earlier one, too

   Lines have these columns, between tabs; times are the least of several, in seconds, `-`: not measured.

       ID, operator and variant, element type, kernels with fixed and with dynamic dimensions, multiply-accumulates, bytes of
       inputs, constants and outputs, roofline, time with fixed and with dynamic dimensions, of ONNX Runtime, its error

   Roofline: no less than memcpy takes for as many bytes, read and written, in blocks of that size, which caches hold as they hold
   the tensors; nor than the multiply-accumulates at the rate of the widest multiply-add instruction (float64: half of it; 8
   bits: of the int8 instructions); nor than the time of a session whose node moves one element. */
#define NNRT_TOOL_NO_MAIN
#include "tools/nnrt.c"

#include "tests/kit/devices.h"
#include "tests/kit/vec_model.h"

#include "tests/devices/typical.h"

#include "machine.h"
#include "ort.h"

enum { OPERATORS_TYPES = 24, OPERATORS_ROUNDS = 5 };

typedef struct options {
    bool dump, all;
    const char *folder, *library;
    double seconds;
    char **names;
    int count;
} options;

static bench_ort ort;
static bool has_ort;
static double peak, peak_int8, least_run; /* multiply-accumulates a second; seconds of an empty run */

/* ---- work ---- */

typedef struct work {
    double macs, bytes, written;
    char attributes[2000];
    nnrt_dims out[VEC_OPERANDS];
    NNRT_DataType types[VEC_OPERANDS];
    uint32_t nOut;
} work;

static double bytes_of(const nnrt_operand *o)
{
    size_t bytes = 0;
    return o->rank >= 0 && nnrt_dims_bytes(o->dims, o->rank, o->dataType, &bytes) ? (double)bytes : 0;
}

static NNRT_ReturnCode visit(void *user, uint32_t node, nnrt_resolve *r, bool folded)
{
    work *w = (work *)user;
    (void)node;
    (void)folded;
    w->macs = cli_macs(r);
    for (uint32_t i = 0; i < r->nIn; i++)
        w->bytes += bytes_of(&r->in[i]);
    for (uint32_t i = 0; i < r->nOut && i < VEC_OPERANDS; i++) {
        w->written += bytes_of(&r->out[i]);
        w->out[i].rank = r->out[i].rank;
        memcpy(w->out[i].dims, r->out[i].dims, sizeof(w->out[i].dims));
        w->types[i] = r->out[i].dataType;
        w->nOut = i + 1;
    }
    w->bytes += w->written;
    (void)nnrt_attr_print(r->op->attr, r->resolved, w->attributes, sizeof(w->attributes));
    return NNRT_SUCCESS;
}

static work work_of(const vec_case *c)
{
    static single s;
    work w;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_operand *tensors;
    memset(&w, 0, sizeof(w));
    memset(&config, 0, sizeof(config));
    make_single(&s, c, &told);
    nnrt_memory_allocate(&memory, NULL);
    tensors = (nnrt_operand *)nnrt_memory_temp(&memory, s.model.allTensors.count * sizeof(*tensors));
    if (tensors != NULL)
        (void)nnrt_model_infer(&s.model, &config, &memory, tensors, visit, &w);
    nnrt_memory_end(&memory);
    if (strncmp(c->op->name, "GATHER", 6) == 0) /* reads the elements that it stores, not all of x */
        w.bytes -= (double)(c->in[0].count * nnrt_type_size(c->in[0].dataType)) - w.written;
    return w;
}

/* ---- the roofline ---- */

/* Seconds of copying so many bytes read and written together; measured once for four sizes of each octave. */
static double copy_seconds(double bytes)
{
    static double rates[128];
    uint32_t size = 48;
    while (size < 112 && exp2(size / 4.0) < bytes)
        size++;
    if (rates[size] == 0) {
        const size_t half = (size_t)exp2(size / 4.0) / 2;
        const double until = bench_now() + 0.03;
        char *from = (char *)malloc(half), *to = (char *)malloc(half);
        long trips = 1;
        if (from == NULL || to == NULL)
            exit(1);
        memset(from, 1, half);
        memset(to, 1, half);
        do {
            const double start = bench_now();
            double rate;
            for (long i = 0; i < trips; i++) {
                memcpy(to, from, half);
                __asm__ volatile("" : : "r"(to), "r"(from) : "memory"); /* the copy is needed */
            }
            rate = 2.0 * (double)half * (double)trips / (bench_now() - start);
            rates[size] = rate > rates[size] ? rate : rates[size];
            trips *= (double)half * (double)trips < 1e6 ? 2 : 1;
        } while (bench_now() < until);
        free(from);
        free(to);
    }
    return bytes / rates[size];
}

static double roofline(const vec_case *c, const work *w)
{
    const NNRT_DataType type = c->in[0].dataType;
    const double rate = type == NNRT_DATA_TYPE_FLOAT64                                ? peak / 2
                        : type == NNRT_DATA_TYPE_INT8 || type == NNRT_DATA_TYPE_UINT8 ? peak_int8
                                                                                      : peak;
    return fmax(fmax(copy_seconds(w->bytes), w->macs / rate), least_run);
}

/* ---- nnrt ---- */

typedef struct job {
    bool (*run)(void *state);
    void *state;
    double least; /* seconds; 0: not measured */
} job;

typedef struct nnrt_job {
    single s;
    nnrt_session *session;
    nnrt_io out[VEC_OPERANDS];
    uint32_t nOut;
    nnrt_error error;
} nnrt_job;

static bool nnrt_job_run(void *state)
{
    nnrt_job *j = (nnrt_job *)state;
    return nnrt_run(j->session, j->s.io, j->s.model.inputIndex.count, j->out, j->nOut) == NNRT_SUCCESS;
}

static bool nnrt_job_open(nnrt_job *j, const vec_case *c, typical_open open)
{
    nnrt_session_desc desc;
    memset(j, 0, sizeof(*j));
    memset(&desc, 0, sizeof(desc));
    make_single(&j->s, c, &told);
    if (open < TYPICAL_NONE && !typical_opened(&j->s, c, open))
        return false;
    desc.device = "cpu";
    desc.bounds = nnrt_bound_list_make(j->s.bounds, j->s.nBounds);
    if (nnrt_session_create(&j->session, &j->s.model, &desc, &j->error) != NNRT_SUCCESS)
        return false;
    j->nOut = nnrt_session_outputs(j->session);
    for (uint32_t i = 0; i < j->nOut; i++) {
        const size_t bytes = nnrt_session_output(j->session, i).bytes;
        j->out[i] = nnrt_io_make(calloc(1, bytes + 1), bytes);
    }
    return nnrt_job_run(j);
}

static void nnrt_job_close(nnrt_job *j)
{
    for (uint32_t i = 0; i < j->nOut; i++)
        free(j->out[i].data);
    nnrt_session_destroy(j->session);
}

/* ---- ONNX Runtime ---- */

typedef struct ort_job {
    void *session, *in[VEC_OPERANDS], *out[VEC_OPERANDS];
    char *inNames[VEC_OPERANDS], *outNames[VEC_OPERANDS];
    uint8_t *copies[VEC_OPERANDS];
    size_t nIn, nOut;
} ort_job;

/* The number of an element type in ONNX. */
static int onnx_type(NNRT_DataType type)
{
    static const struct {
        NNRT_DataType type;
        int number;
    } all[] = {{NNRT_DATA_TYPE_FLOAT32, 1},  {NNRT_DATA_TYPE_UINT8, 2},   {NNRT_DATA_TYPE_INT8, 3},
               {NNRT_DATA_TYPE_UINT16, 4},   {NNRT_DATA_TYPE_INT16, 5},   {NNRT_DATA_TYPE_INT32, 6},
               {NNRT_DATA_TYPE_INT64, 7},    {NNRT_DATA_TYPE_BOOL, 9},    {NNRT_DATA_TYPE_FLOAT16, 10},
               {NNRT_DATA_TYPE_FLOAT64, 11}, {NNRT_DATA_TYPE_UINT32, 12}, {NNRT_DATA_TYPE_UINT64, 13}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].type == type)
            return all[i].number;
    return 0;
}

static bool ort_job_run(void *state)
{
    ort_job *j = (ort_job *)state;
    for (size_t i = 0; i < j->nOut; i++) {
        if (j->out[i] != NULL)
            ort.release_value(j->out[i]);
        j->out[i] = NULL;
    }
    return ort_good(&ort, ort.run(j->session, NULL, (const char *const *)j->inNames, (const void *const *)j->in, j->nIn,
                                  (const char *const *)j->outNames, j->nOut, j->out));
}

/* Whether the axes of a tensor, [N,H,W,C] here, are [N,C,H,W] in the ONNX model, as exporters have them. */
static bool turned(const vec_case *c, const vec_tensor *t)
{
    return c->format == NNRT_FORMAT_NHWC && t == &c->in[0] && t->rank == 4;
}

/* A session with the inputs of the case; their names are tN with the number of the tensor. */
static bool ort_job_open(ort_job *j, const vec_case *c, const char *path)
{
    void *made = NULL;
    bool good = ort_good(&ort, ort.create_options(&made)) &&
                ort_good(&ort, ort.set_optimization(made, ORT_OPTIMIZE_ALL)) &&
                ort_good(&ort, ort.set_threads(made, 1)) && ort_good(&ort, ort.set_outer_threads(made, 1));
    memset(j, 0, sizeof(*j));
    good = good && ort_good(&ort, ort.create_session(ort.env, path, made, &j->session)) &&
           ort_good(&ort, ort.input_count(j->session, &j->nIn)) &&
           ort_good(&ort, ort.output_count(j->session, &j->nOut));
    for (size_t i = 0; good && i < j->nIn; i++) {
        int64_t dims[NNRT_MAX_RANK];
        unsigned index = VEC_OPERANDS;
        const vec_tensor *t;
        size_t bytes;
        good = ort_good(&ort, ort.input_name(j->session, i, ort.allocator, &j->inNames[i])) &&
               sscanf(j->inNames[i], "t%u", &index) == 1 && index < c->nIn;
        if (!good)
            break;
        t = &c->in[index];
        bytes = t->count * nnrt_type_size(t->dataType);
        for (int32_t k = 0; k < t->rank; k++)
            dims[k] = turned(c, t) && k > 0 ? t->dims[k == 1 ? 3 : k - 1] : t->dims[k];
        j->copies[i] = (uint8_t *)malloc(bytes + 1);
        memcpy(j->copies[i], t->data, bytes); /* values in another order take the same time */
        good = ort_good(&ort, ort.create_tensor(ort.memory, j->copies[i], bytes, dims, (size_t)t->rank,
                                                onnx_type(t->dataType), &j->in[i]));
    }
    for (size_t i = 0; good && i < j->nOut; i++)
        good = ort_good(&ort, ort.output_name(j->session, i, ort.allocator, &j->outNames[i]));
    if (made != NULL)
        ort.release_options(made);
    return good && ort_job_run(j);
}

/* Whether the results have as many elements as nnrt's: the ONNX model has the same meaning. */
static bool ort_job_agrees(const ort_job *j, const nnrt_job *ours)
{
    for (size_t i = 0; i < j->nOut; i++) {
        const nnrt_io_info y = nnrt_session_output(ours->session, (uint32_t)i);
        void *info = NULL;
        size_t count = 0, expected = 0;
        if (!ort_good(&ort, ort.tensor_info(j->out[i], &info)))
            return false;
        (void)ort_good(&ort, ort.element_count(info, &count));
        ort.release_info(info);
        if (i >= ours->nOut || !nnrt_dims_count(y.shape.dims, y.shape.rank, &expected) || count != expected)
            return snprintf(ort.fault, sizeof(ort.fault), "output %d has %d elements, not %d", (int)i, (int)count,
                            (int)expected),
                   false;
    }
    return true;
}

static void ort_job_close(ort_job *j)
{
    for (size_t i = 0; i < VEC_OPERANDS; i++) {
        if (j->in[i] != NULL)
            ort.release_value(j->in[i]);
        if (j->out[i] != NULL)
            ort.release_value(j->out[i]);
        if (j->inNames[i] != NULL)
            (void)ort_good(&ort, ort.release_name(ort.allocator, j->inNames[i]));
        if (j->outNames[i] != NULL)
            (void)ort_good(&ort, ort.release_name(ort.allocator, j->outNames[i]));
        free(j->copies[i]);
    }
    if (j->session != NULL)
        ort.release_session(j->session);
}

/* ---- times ---- */

/* Runs the jobs in turns, several times each, for about so many seconds. The least time of a run counts: other processes do not
   disturb all of them. */
static void measure(job *jobs, uint32_t count, double seconds)
{
    for (uint32_t round = 0; round < OPERATORS_ROUNDS; round++)
        for (uint32_t i = 0; i < count; i++) {
            const double until = bench_now() + seconds / OPERATORS_ROUNDS / count;
            double end = bench_now();
            for (uint32_t runs = 0; jobs[i].run != NULL && (runs < 2 || end < until) && (runs < 1 || end < until + 0.5);
                 runs++) {
                const double start = end;
                (void)jobs[i].run(jobs[i].state);
                end = bench_now();
                if (jobs[i].least == 0 || end - start < jobs[i].least)
                    jobs[i].least = end - start;
            }
        }
}

static void print_time(double seconds)
{
    if (seconds > 0)
        printf("\t%.9f", seconds);
    else
        printf("\t-");
}

static void run_case(const options *o, const vec_case *c, const typical_selection *selected, uint32_t id,
                     const char *title_, const char *type)
{
    static nnrt_job fixed, dynamic;
    static ort_job peer;
    static char fault[512];
    const work w = work_of(c);
    job jobs[3];
    char path[600];
    FILE *there;
    memset(jobs, 0, sizeof(jobs));
    memset(&peer, 0, sizeof(peer));
    fault[0] = '\0';
    jobs[0].state = &fixed;
    jobs[1].state = &dynamic;
    jobs[2].state = &peer;
    jobs[0].run = nnrt_job_open(&fixed, c, TYPICAL_NONE) ? nnrt_job_run : NULL;
    jobs[1].run = selected->open < TYPICAL_NONE && nnrt_job_open(&dynamic, c, selected->open) ? nnrt_job_run : NULL;
    snprintf(path, sizeof(path), "%s/%u.onnx", o->folder, (unsigned)id);
    there = has_ort ? fopen(path, "rb") : NULL;
    if (there != NULL) {
        fclose(there);
        jobs[2].run = ort_job_open(&peer, c, path) && ort_job_agrees(&peer, &fixed) ? ort_job_run : NULL;
        if (jobs[2].run == NULL)
            snprintf(fault, sizeof(fault), "%.200s", ort.fault);
        for (char *p = fault; *p != '\0'; p++)
            *p = *p == '\t' || *p == '\n' ? ' ' : *p;
    }
    measure(jobs, 3, o->seconds);
    printf("%u\t%s\t%s\t%s\t%s\t%.0f\t%.0f\t%.9f", (unsigned)id, title_, type, selected->fixed, selected->dynamic,
           w.macs, w.bytes, roofline(c, &w));
    for (uint32_t i = 0; i < 3; i++)
        print_time(jobs[i].least);
    printf("\t%s\n", fault[0] != '\0' ? fault : "-");
    fflush(stdout);
    nnrt_job_close(&fixed);
    if (dynamic.session != NULL)
        nnrt_job_close(&dynamic);
    memset(&dynamic, 0, sizeof(dynamic));
    ort_job_close(&peer);
}

/* ---- descriptions for operators.py ---- */

static void dump_tensor(FILE *f, FILE *data, uint32_t number, const char *kind, NNRT_DataType type, NNRT_Format format,
                        int32_t rank, const int32_t *dims, const vec_tensor *t)
{
    fprintf(f, "tensor %u %s %s %s [", (unsigned)number, kind, nnrt_type_name(type),
            format == NNRT_FORMAT_NHWC ? "NHWC" : "NONE");
    for (int32_t k = 0; k < rank; k++)
        fprintf(f, "%s%d", k > 0 ? "," : "", (int)dims[k]);
    fprintf(f, "]\n");
    for (uint32_t i = 0; i < t->quantCount; i++)
        fprintf(f, "quant %d %d %.17g\n", (int)t->quant[i].numBits, (int)t->quant[i].zeroPoint, t->quant[i].scale);
    if (strcmp(kind, "constant") == 0)
        fwrite(t->data, nnrt_type_size(type), t->count, data);
}

static void dump_case(const options *o, const typical *b, const vec_case *c, uint32_t id, const char *title_,
                      const char *type)
{
    const work w = work_of(c);
    char path[600];
    FILE *f, *data;
    snprintf(path, sizeof(path), "%s/%u.txt", o->folder, (unsigned)id);
    f = fopen(path, "w");
    snprintf(path, sizeof(path), "%s/%u.bin", o->folder, (unsigned)id);
    data = fopen(path, "wb");
    if (f == NULL || data == NULL) {
        fprintf(stderr, "operators: cannot write %s\n", path);
        exit(1);
    }
    fprintf(f, "node %s\nattr %s\n", c->op->name, w.attributes);
    for (int32_t i = 0; i < b->count; i++)
        if (strncmp(b->lines[i], "attr ", 5) == 0)
            fprintf(f, "given %s\n", b->lines[i] + 5);
    for (uint32_t i = 0; i < c->nIn; i++)
        if (c->in[i].present)
            dump_tensor(f, data, i, c->in[i].constant ? "constant" : "input", c->in[i].dataType,
                        i == 0 ? c->format : NNRT_FORMAT_NONE, c->in[i].rank, c->in[i].dims, &c->in[i]);
    for (uint32_t i = 0; i < w.nOut; i++)
        dump_tensor(f, data, VEC_OPERANDS + i, "result", w.types[i], c->format, w.out[i].rank, w.out[i].dims,
                    &c->out[i]);
    fclose(f);
    fclose(data);
    printf("%u\t%s\t%s\n", (unsigned)id, title_, type);
}

/* ---- the program ---- */

/* The time of a session whose node moves one element. */
static double empty_seconds(void)
{
    static nnrt_job j;
    static vec_case c;
    typical b;
    const typical_type type = {NNRT_DATA_TYPE_FLOAT32, false};
    typical_list none;
    char *const line = (char *)(uintptr_t) "in x [1]";
    job one;
    memset(&b, 0, sizeof(b));
    memset(&none, 0, sizeof(none));
    memset(&one, 0, sizeof(one));
    b.op = nnrt_op_find(NNRT_NODE_TYPE_ASSIGN);
    b.lines[b.count++] = line;
    typical_make(&none, &b, type, &c);
    one.state = &j;
    one.run = nnrt_job_open(&j, &c, TYPICAL_NONE) ? nnrt_job_run : NULL;
    measure(&one, 1, 0.05);
    nnrt_job_close(&j);
    vec_free(&c);
    return one.least;
}

static void find_peaks(void)
{
    bench_isa isa;
    for (int i = 0; bench_isa_at(i, &isa); i++) {
        const double rate = bench_flops(&isa, 1, 0.2) / 2;
        peak = rate > peak && strstr(isa.name, "int8") == NULL ? rate : peak;
        peak_int8 = rate > peak_int8 ? rate : peak_int8;
    }
    least_run = empty_seconds();
    printf("# peak %.3g multiply-accumulates per second of float32, %.3g of int8; copies of 2 MiB %.3g bytes per "
           "second; an empty "
           "run %.2g s%s%s\n",
           peak, peak_int8, 2097152 / copy_seconds(2097152), least_run, has_ort ? "; ONNX Runtime " : "",
           has_ort ? ort.version : "");
    fflush(stdout);
}

static bool is_wanted(const options *o, const nnrt_op *op)
{
    for (int i = 0; i < o->count; i++)
        if (strcmp(o->names[i], op->name) == 0)
            return true;
    return o->count == 0;
}

/* All types of a block; those with the kernels and element size of an earlier one only with --all. */
static void each_type(const options *o, const typical_list *list, const typical *b, uint32_t *id)
{
    static typical_selection seen[OPERATORS_TYPES];
    size_t sizes[OPERATORS_TYPES];
    uint32_t count = 0;
    typical_type type;
    const bool varies = typical_varies(b) > 0, wanted = is_wanted(o, b->op);
    for (uint32_t k = 0; typical_type_at(k, &type); k++, ++*id) {
        static vec_case c;
        char title_[100], text[20];
        nnrt_error error;
        bool known = false;
        if (!wanted || (b->op->flags & NNRT_OP_GRAPHS) != 0 ||
            (!varies && (nnrt_op_types(b->op) & typical_bit(type)) == 0))
            continue;
        typical_make(list, b, type, &c);
        typical_title(b, title_, sizeof(title_));
        typical_type_text(type, text, sizeof(text));
        if (typical_select("cpu", &c, &seen[count], &error) == NNRT_SUCCESS) {
            sizes[count] = nnrt_type_size(type.type);
            for (uint32_t i = 0; i < count && !o->all; i++)
                known = known || (sizes[i] == sizes[count] && strcmp(seen[i].fixed, seen[count].fixed) == 0 &&
                                  strcmp(seen[i].dynamic, seen[count].dynamic) == 0);
            if (!known && o->dump)
                dump_case(o, b, &c, *id, title_, text);
            else if (!known)
                run_case(o, &c, &seen[count], *id, title_, text);
            count += known || count + 1 >= OPERATORS_TYPES ? 0 : 1;
        }
        vec_free(&c);
    }
}

int main(int argc, char **argv)
{
    static typical_list list;
    options o;
    uint32_t id = 0;
    int i = 1;
    memset(&o, 0, sizeof(o));
    if (i < argc && strcmp(argv[i], "--all") == 0) {
        o.all = true;
        i++;
    }
    o.dump = i < argc && strcmp(argv[i], "--dump") == 0;
    if (argc - i < (o.dump ? 2 : 4) || (!o.dump && strcmp(argv[i], "--run") != 0)) {
        fputs("usage: operators [--all] --dump DIR [OPERATOR...] | --run DIR LIBRARY SECONDS [OPERATOR...]\n", stderr);
        return 2;
    }
    o.folder = argv[i + 1];
    o.library = o.dump ? "no" : argv[i + 2];
    o.seconds = o.dump ? 0 : atof(argv[i + 3]);
    i += o.dump ? 2 : 4;
    o.names = argv + i;
    o.count = argc - i;
    for (int k = 0; k < o.count; k++)
        if (nnrt_op_named(o.names[k]) == NULL) {
            fprintf(stderr, "operators: there is no operator '%s'\n", o.names[k]);
            return 2;
        }
    if (nnrt_device_find("cpu") == NULL && test_device_open("cpu") == NULL) /* a test's library has not registered it */
        return 2;
    has_ort = strcmp(o.library, "no") != 0;
    if (has_ort && !ort_load(&ort, o.library)) {
        fprintf(stderr, "operators: ONNX Runtime: %s\n", ort.fault);
        return 2;
    }
    typical_load(&list, "tests/devices/typical.txt");
    if (!o.dump)
        find_peaks();
    for (uint32_t b = 0; b < list.count; b++)
        each_type(&o, &list, &list.blocks[b], &id);
    typical_free(&list);
    return 0;
}
