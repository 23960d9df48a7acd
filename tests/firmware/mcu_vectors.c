/* mcu_vectors.c - writes the quantized cases of .vec files for mcu_vectors_main.c, which runs them on a target,
   with the results of the reference device on this machine. tests/firmware/mcu.py vectors runs both.

       mcu_vectors TARGET FILE.bin FILE.vec...

   A case is quantized if one of its tensors has quantization parameters. If a file can have its plan on mcu:TARGET, the
   record has that plan; so that kernels with packed weights run, there is a second record in which all inputs but the
   first are constant. The record of any other case has its model, which the target plans and runs with its reference
   kernels. Prints a line per record, "plan|model TAB case", lines "not run TAB COUNT TAB reason" and the line
   "kernels TAB COUNT": kernels of nnrt_mcu.h in these plans. Exits with 1 if results of the reference device differ
   from the .vec file. */
#include "nnrt.h"

#include "devices/nnrt_mcu.h"
#include "vec_model.h"

#include "mcu_vectors.h"

#define MOST_REASONS 8

static struct {
    const char *text;
    uint32_t count;
} reasons[MOST_REASONS];
static bool used[256]; /* kernels, by number */
static FILE *file;

static void not_run(const char *reason)
{
    uint32_t i = 0;
    while (reasons[i].text != NULL && reasons[i].text != reason && i < MOST_REASONS - 1)
        i++;
    reasons[i].text = reason;
    reasons[i].count++;
}

static bool is_quantized(const vec_case *c)
{
    bool quantized = false;
    for (uint32_t i = 0; i < VEC_OPERANDS; i++)
        quantized = quantized || c->in[i].quantCount > 0 || c->out[i].quantCount > 0;
    return quantized;
}

static void put(const void *data, size_t bytes)
{
    static const uint8_t zeros[VECTORS_ALIGNMENT];
    if (fwrite(data, 1, bytes, file) != bytes ||
        fwrite(zeros, 1, VECTORS_PAD(bytes) - bytes, file) != VECTORS_PAD(bytes) - bytes)
        fprintf(stderr, "mcu_vectors: cannot write\n"), exit(1);
}

/* The plan of the model on mcu:TARGET as a file; NULL: no file can have it. */
static uint8_t *plan_of(const char *target, const NNRT_Model *model, size_t *bytes)
{
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ModelConfig config;
    uint8_t *data = NULL;
    char name[40];
    snprintf(name, sizeof(name), "mcu:%s", target);
    memset(&config, 0, sizeof(config));
    config.arenaAlignment = 8;
    config.callerWorkspace = true;
    if (nnrt_device_prepare(nnrt_device_find(name), model, &config, &prepared) != NNRT_SUCCESS)
        return NULL;
    if (nnrt_mcu_save_memory(prepared, model, target, NULL, 0, bytes, NULL) == NNRT_SUCCESS) {
        data = (uint8_t *)malloc(*bytes);
        if (nnrt_mcu_save_memory(prepared, model, target, data, *bytes, bytes, NULL) != NNRT_SUCCESS) {
            free(data);
            data = NULL;
        }
    }
    prepared->vtbl->Destroy(prepared);
    return data;
}

static uint8_t *model_of(const NNRT_Model *model, size_t *bytes)
{
    uint8_t *data = NULL;
    if (nnrt_model_save_memory(model, NULL, NULL, 0, bytes, NULL) == NNRT_SUCCESS) {
        data = (uint8_t *)malloc(*bytes);
        (void)nnrt_model_save_memory(model, NULL, data, *bytes, bytes, NULL);
    }
    return data;
}

static void note_kernels(const uint8_t *data, size_t bytes)
{
    nnrt_mcu_program program;
    uint32_t numbers[256];
    const NNRT_ReturnCode code = nnrt_mcu_open(&program, data, bytes, nnrt_mcu_all());
    for (uint32_t i = code == NNRT_SUCCESS ? nnrt_mcu_used(&program, numbers, 256) : 0; i > 0; i--)
        used[numbers[i - 1]] = true;
}

/* Writes a record; false: it is larger than the target's memory for one. */
static bool write_record(uint32_t kind, const uint8_t *data, size_t bytes, const single *s, const outcome *o)
{
    uint32_t head[VECTORS_HEAD];
    const uint32_t nIn = s->model.inputIndex.count;
    size_t total = sizeof(head) + VECTORS_PAD(bytes), results = 0;
    memset(head, 0, sizeof(head));
    for (uint32_t i = 0; i < nIn + o->count; i++) {
        const size_t size = i < nIn ? s->io[i].bytes : o->out[i - nIn].bytes;
        head[VECTORS_SIZES + i] = (uint32_t)size;
        total += VECTORS_PAD(size);
        results += i < nIn ? 0 : VECTORS_PAD(size);
    }
    if (total > VECTORS_RECORD || results > VECTORS_RESULTS)
        return false;
    head[0] = (uint32_t)total;
    head[1] = kind;
    head[2] = (uint32_t)bytes;
    head[3] = nIn;
    head[4] = o->count;
    put(head, sizeof(head));
    put(data, bytes);
    for (uint32_t i = 0; i < nIn; i++)
        put(s->io[i].data, s->io[i].bytes);
    for (uint32_t i = 0; i < o->count; i++)
        put(o->out[i].data, o->out[i].bytes);
    return true;
}

/* One case; constant: its inputs but the first one are constant, and it is stored as a plan only. */
static void store(const char *target, vec_case *c, const char *path, int32_t line, bool constant)
{
    static single s;
    static outcome o;
    uint8_t *data;
    size_t bytes = 0;
    char why[512];
    bool plan;
    make_single(&s, c, &told);
    data = plan_of(target, &s.model, &bytes);
    plan = data != NULL;
    if (!plan && constant)
        return;
    if (!plan && (c->op->flags & NNRT_OP_DATA_DEPENDENT) != 0) {
        not_run("the planner of firmware has no operators with data-dependent output shapes");
        return;
    }
    run_on("reference", &s, &o);
    if (o.code != NNRT_SUCCESS || !compare(c, &o, NULL, why, sizeof(why)))
        fprintf(stderr, "%s:%d: %s\n", path, (int)line, o.code != NNRT_SUCCESS ? o.message : why), exit(1);
    if (plan)
        note_kernels(data, bytes);
    else
        data = model_of(&s.model, &bytes);
    if (!write_record(plan ? VECTORS_PLAN : VECTORS_MODEL, data, bytes, &s, &o))
        not_run("larger than the memory of the program");
    else
        printf("%s\t%s:%d: %s '%s'%s\n", plan ? "plan" : "model", path, (int)line, c->opName, c->name,
               constant ? ", constant inputs" : "");
    outcome_end(&o);
    free(data);
}

static void read_file(const char *target, const char *path)
{
    static vec_case c;
    vec_file v;
    memset(&v, 0, sizeof(v));
    v.path = path;
    if ((v.f = fopen(path, "r")) == NULL)
        fprintf(stderr, "mcu_vectors: cannot open %s\n", path), exit(1);
    while (vec_next(&v, &c)) {
        bool variable = false;
        for (uint32_t i = 1; i < c.nIn; i++)
            variable = variable || (c.in[i].present && !c.in[i].constant);
        if (c.op != NULL && is_quantized(&c) && (c.prepareCode != NNRT_SUCCESS || c.runCode != NNRT_SUCCESS)) {
            not_run("the case is an error");
        } else if (c.op != NULL && is_quantized(&c)) {
            store(target, &c, path, v.line, false);
            for (uint32_t i = 1; i < c.nIn; i++)
                c.in[i].constant = c.in[i].present;
            if (variable)
                store(target, &c, path, v.line, true);
        }
        vec_free(&c);
    }
    vec_free(&c);
    free(v.text);
    fclose(v.f);
}

int main(int argc, char **argv)
{
    uint32_t count = 0;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (argc < 4 || (file = fopen(argv[2], "wb")) == NULL)
        return fputs("usage: mcu_vectors TARGET FILE.bin FILE.vec...\n", stderr), 2;
    if (nnrt_mcu_register(argv[1], &error) != NNRT_SUCCESS)
        return fprintf(stderr, "mcu_vectors: %s\n", error.message), 2;
    for (int i = 3; i < argc; i++)
        read_file(argv[1], argv[i]);
    for (uint32_t i = 0; i < MOST_REASONS && reasons[i].text != NULL; i++)
        printf("not run\t%u\t%s\n", (unsigned)reasons[i].count, reasons[i].text);
    for (uint32_t i = 0; i < 256; i++)
        count += used[i];
    printf("kernels\t%u\n", (unsigned)count);
    return fclose(file) != 0;
}
