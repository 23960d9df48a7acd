/* Every operator against the vectors in tests/ops/vectors, through a device: each case is a model of one node, whose inputs
   are inputs of the model unless the case has them constant, run by a session.

       device_vectors [-v] [--exact] [--open] DEVICE FILE.vec...

   DEVICE is one of tests/kit/devices.h. Results must equal those of the file, within its tolerance or the device's error
   bound for the operator; for a device without error bounds, and with --exact, they must also be bit-identical to the
   reference device. A case with an error in the file must fail with that code, before or in the run. A device that
   reports supported nodes must report exactly the nodes that it prepares. Prints the failing cases (-v: all) and "N
   passed, N failed, N skipped".

   --open: instead, each case with less information before the run, in the variants of `ways` below: dimensions of
   inputs are dynamic, constants become inputs. The session is planned for upper bounds, and the run has the shapes of
   the file. Variants that can be planned must give the results of the file, on a device without error bounds
   bit-identical to the static case; error cases of the file must fail, with any code. Others are skipped; of many cases
   at most one in ten.

       device_vectors --kernels SET FILE.vec...

   Prints the operators for which the device cpu has kernels in this instruction set, and the types of input 0: those
   for which a step gets such a kernel in some case. tools/docs/docs.py reads it. */
#include "nnrt.h"

#include "devices.h"
#include "vec_model.h"

static const way ways[] = {
    {"axes open", 1, false, false, false},
    {"axes open, equal ones known", 1, false, false, true},
    {"every second axis open", 2, false, false, false},
    {"every third axis open, equal ones known", 3, false, false, true},
    {"every fourth axis open, equal ones known", 4, false, false, true},
    {"every fifth axis open", 5, false, false, false},
    {"constants are inputs", 0, true, false, false},
    {"nothing is told", 1, true, false, true},
    {"axes open, results bounded", 1, false, true, false},
    {"constants are inputs, results bounded", 0, true, true, false},
    {"every second axis and constants, results bounded", 2, true, true, false},
};

/* A device with GetSupportedOperation, as all built-in ones are, supports the node if and only if it prepares the
   model. */
static bool supports_as_it_prepares(const char *name, const single *s, const outcome *o, char *why, size_t size)
{
    nnrt_device *device = nnrt_device_find(name);
    bool supported = false;
    NNRT_ReturnCode code;
    if (o->code == NNRT_OUT_OF_MEMORY ||
        (!nnrt_device_can(device, NNRT_ABILITY_TELL_NODES, NULL) && strcmp(nnrt_device_vendor(device), "nnrt") != 0))
        return true;
    code = nnrt_device_supported(device, &s->model, NULL, &supported, 1, NULL, NULL);
    if ((code == NNRT_SUCCESS && supported) == o->prepared)
        return true;
    snprintf(why, size, "%s, but GetSupportedOperation gives %s, %s: %s", o->prepared ? "is prepared" : "is refused",
             nnrt_code_name(code), supported ? "supported" : "not supported", o->message);
    return false;
}

/* The wider one of the file's tolerance and the device's bound. */
static void widen(vec_case *c, const test_device *device)
{
    for (const test_bound *b = device->bounds; b != NULL && b->op != NULL; b++)
        if (strcmp(b->op, c->op->name) == 0) {
            c->absolute = b->absolute > c->absolute ? b->absolute : c->absolute;
            c->relative = b->relative > c->relative ? b->relative : c->relative;
        }
}

static bool run_case(vec_case *c, const test_device *device, bool exact, char *why, size_t size)
{
    static single s;
    static outcome got, reference;
    const NNRT_ReturnCode want = c->prepareCode != NNRT_SUCCESS ? c->prepareCode : c->runCode;
    bool good;
    make_single(&s, c, &told);
    run_on(device->name, &s, &got);
    good = got.code == want;
    if (!good)
        snprintf(why, size, "gave %s, expected %s: %s", nnrt_code_name(got.code), nnrt_code_name(want), got.message);
    good = good && supports_as_it_prepares(device->name, &s, &got, why, size);
    if (good && want == NNRT_SUCCESS) {
        memset(&reference, 0, sizeof(reference));
        exact = exact || device->bounds == NULL;
        if (exact)
            run_on("reference", &s, &reference);
        widen(c, device);
        good = compare(c, &got, exact && reference.code == NNRT_SUCCESS ? &reference : NULL, why, size);
        outcome_end(&reference);
    }
    outcome_end(&got);
    return good;
}

/* A run may refuse a planned model: if only results have bounds, which do not bound scratch memory and intermediate shapes; or
   if the rank differs from the rank for the larger dimensions. */
static bool may_refuse(const outcome *o, const way *w)
{
    return w->bounds || strstr(o->message, " was planned") != NULL;
}

/* 1, 0: it went as it must, or not; -1: it cannot be planned this way, or there is nothing to leave open. */
static int run_open(vec_case *c, const test_device *device, const way *w, char *why, size_t size)
{
    static single s;
    static outcome got, all;
    const bool refused = c->prepareCode != NNRT_SUCCESS || c->runCode != NNRT_SUCCESS;
    int good = -1;
    bool open = false;
    make_single(&s, c, w);
    for (uint32_t i = 0; i < c->nIn; i++) {
        open = open || (w->values && c->in[i].constant);
        for (int32_t k = 0; k < c->in[i].rank && k < NNRT_MAX_RANK && !w->values; k++)
            open = open || s.dims[i][k] == -1;
    }
    if (!open || (refused && w->bounds))
        return -1;
    run_on(device->name, &s, &got);
    if (refused) {
        good = got.code != NNRT_SUCCESS;
        snprintf(why, size, "%s: is %srefused", w->name, good ? "" : "not ");
    } else if (got.code != NNRT_SUCCESS) {
        good = !got.planned || may_refuse(&got, w) ? -1 : 0;
        snprintf(why, size, "%s: %s in the %s: %s", w->name, nnrt_code_name(got.code), got.planned ? "run" : "plan",
                 got.message);
    } else {
        const size_t n = (size_t)snprintf(why, size, "%s: ", w->name);
        make_single(&s, c, &told);
        run_on(device->name, &s, &all);
        widen(c, device); /* with bounds a device may leave nodes to others that it supports with static shapes */
        good = compare(c, &got, all.code == NNRT_SUCCESS && device->bounds == NULL ? &all : NULL, why + n, size - n);
        outcome_end(&all);
    }
    outcome_end(&got);
    return good;
}

/* ---- the kernels of the device cpu ---- */

#define MOST_OPS 512

static uint32_t kernels_types[MOST_OPS]; /* of nnrt_op_at(i), as nnrt_operand_types */

/* The types of input 0, if a step of the case's operator has a kernel of the device cpu. */
static void kernels_note(const vec_case *c, const nnrt_plan *plan)
{
    for (uint32_t s = 0; s < plan->nSteps; s++) {
        const nnrt_plan_step *step = &plan->steps[s];
        nnrt_operand x;
        uint32_t i = 0;
        if (step->op != c->op || strncmp(step->kernelName, "nnrt_cpu_", 9) != 0 || strcmp(step->kernelName, "nnrt_cpu_copy") == 0)
            continue;
        memset(&x, 0, sizeof(x));
        x.dataType = c->in[0].dataType;
        x.quant = c->in[0].quant;
        x.quantCount = c->in[0].quantCount;
        while (i < MOST_OPS - 1 && nnrt_op_at(i) != c->op)
            i++;
        kernels_types[i] |= nnrt_operand_types(&x);
    }
}

/* A line each: the operator, a tab, the types with commas between them. */
static void kernels_print(void)
{
#define KERNELS_TYPE(name, number, bytes, text) {number, text},
    static const struct {
        NNRT_DataType type;
        const char *name;
    } all[] = {NNRT_DATA_TYPES(KERNELS_TYPE)};
    const nnrt_op *op;
    for (uint32_t i = 0; i < MOST_OPS && (op = nnrt_op_at(i)) != NULL; i++) {
        const char *between = "";
        if (kernels_types[i] == 0)
            continue;
        printf("%s\t", op->name);
        for (size_t k = 0; k < 2 * sizeof(all) / sizeof(all[0]); k++) {
            const uint32_t plain = NNRT_TYPES_OF(all[k / 2].type), type = k % 2 == 0 ? plain : NNRT_TYPES_QUANT(plain);
            if ((kernels_types[i] & type) == 0)
                continue;
            printf("%s%s%s", between, k % 2 == 0 ? "" : "q", all[k / 2].name);
            between = ",";
        }
        putchar('\n');
    }
}

static int kernels_main(const char *set, int count, char **paths)
{
    static vec_case c;
    static single s;
    nnrt_device *device;
    nnrt_error error;
    char name[64];
    memset(&error, 0, sizeof(error));
    snprintf(name, sizeof(name), "cpu-%s", set);
    if (nnrt_cpu_register(set, &error) != NNRT_SUCCESS || (device = nnrt_device_find(name)) == NULL) {
        fprintf(stderr, "this machine does not have the set of instructions '%s': %s\n", set, error.message);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        vec_file v;
        memset(&v, 0, sizeof(v));
        v.path = paths[i];
        if ((v.f = fopen(paths[i], "r")) == NULL) {
            fprintf(stderr, "cannot open %s\n", paths[i]);
            return 2;
        }
        while (vec_next(&v, &c)) {
            for (int packed = 0; packed < 2 && c.op != NULL && c.prepareCode == NNRT_SUCCESS; packed++) {
                NNRT_PreparedModel *prepared = NULL;
                NNRT_ModelConfig config;
                memset(&config, 0, sizeof(config));
                for (uint32_t k = 1; k < c.nIn && packed == 1; k++)
                    c.in[k].constant = true; /* weights that can be packed */
                make_single(&s, &c, &told);
                if (nnrt_device_prepare(device, &s.model, &config, &prepared) != NNRT_SUCCESS)
                    continue;
                kernels_note(&c, nnrt_prepared_plan(prepared));
                nnrt_device_release(device, prepared);
            }
            vec_free(&c);
        }
        vec_free(&c);
        free(v.text);
        fclose(v.f);
    }
    kernels_print();
    return 0;
}

int main(int argc, char **argv)
{
    static vec_case c;
    const test_device *device = NULL;
    uint32_t passed = 0, failed = 0, skipped = 0;
    bool verbose = false, exact = false, open = false;
    if (argc > 2 && strcmp(argv[1], "--kernels") == 0)
        return kernels_main(argv[2], argc - 3, argv + 3);
    for (int i = 1; i < argc; i++) {
        const uint32_t before = passed + failed + skipped;
        vec_file v;
        if (device == NULL) {
            if (strcmp(argv[i], "-v") == 0)
                verbose = true;
            else if (strcmp(argv[i], "--exact") == 0)
                exact = true;
            else if (strcmp(argv[i], "--open") == 0)
                open = true;
            else if ((device = test_device_open(argv[i])) == NULL)
                return 2;
            continue;
        }
        memset(&v, 0, sizeof(v));
        v.path = argv[i];
        v.f = fopen(argv[i], "r");
        if (v.f == NULL) {
            fprintf(stderr, "cannot open %s\n", argv[i]);
            return 2;
        }
        while (vec_next(&v, &c)) {
            char why[512];
            bool good;
            why[0] = '\0';
            if (c.op == NULL) {
                skipped++;
                vec_free(&c);
                continue;
            }
            if (open) {
                for (uint32_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
                    const int how = run_open(&c, device, &ways[k], why, sizeof(why));
                    passed += how > 0 ? 1 : 0;
                    failed += how == 0 ? 1 : 0;
                    skipped += how < 0 && why[0] != '\0' ? 1 : 0;
                    if (how == 0 || (verbose && why[0] != '\0'))
                        printf("%s %s:%d: %s '%s': %s\n", how > 0 ? "ok  " : how < 0 ? "skip" : "FAIL", argv[i],
                               (int)v.line, c.opName, c.name, why);
                    why[0] = '\0';
                }
                vec_free(&c);
                continue;
            }
            good = run_case(&c, device, exact, why, sizeof(why));
            passed += good ? 1 : 0;
            failed += good ? 0 : 1;
            if (!good || verbose)
                printf("%s %s:%d: %s '%s': %s\n", good ? "ok  " : "FAIL", argv[i], (int)v.line, c.opName, c.name, why);
            vec_free(&c);
        }
        vec_free(&c);
        free(v.text);
        fclose(v.f);
        if (passed + failed + skipped == before) {
            printf("FAIL %s: no case in it\n", argv[i]);
            failed++;
        }
    }
    if (open && passed + skipped > 10000 && skipped > passed / 10) {
        printf("FAIL more than one of ten cannot be planned\n");
        failed++;
    }
    if (device == NULL)
        fputs("usage: device_vectors [-v] [--exact] [--open] DEVICE FILE.vec...\n", stderr);
    printf("%u passed, %u failed, %u skipped\n", (unsigned)passed, (unsigned)failed, (unsigned)skipped);
    return failed > 0 || passed == 0 ? 1 : 0;
}
