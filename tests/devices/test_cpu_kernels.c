/* The kernel that the device cpu selects for each operator and element type, at a typical size, with fixed and with dynamic
   dimensions, is that of tests/devices/cpu_kernels.tsv, which is reviewed: where a reference kernel runs, the line has the
   reason. So a step that loses its kernel, and a new operator without one, are seen in a review and need no clock.

       test_cpu_kernels [--write] [OPERATOR...]

   --write: writes the table, and keeps the reasons. The selection must be the same in each instruction set of the machine; the
   table does not name them. Each model also runs on the best one, with fixed and with dynamic dimensions: the results must be
   written, finite and alike.

   Columns, between tabs: operator, and the variant of typical.txt; element types of its first input (q: quantized), in one
   line if all else is the same; kernels of the steps with fixed dimensions; with dynamic ones; which axes are dynamic
   (typical.h); reason. A kernel without the prefix nnrt_cpu_, which is left out, is a reference kernel: it has its whole name.
   "refused": the shape rule does not accept the type. */
#include "nnrt.h"

#include "devices.h"
#include "vec_model.h"

#include "typical.h"

#include <math.h>

#define TABLE "tests/devices/cpu_kernels.tsv"

enum { LINES = 4096, REASON = 400 };

typedef struct line {
    char op[100], types[200], reason[REASON];
    typical_selection s;
} line;

static line old_lines[LINES], new_lines[LINES];
static uint32_t n_old, n_new, passed, failed;

static void fail(const char *op, const char *type, const char *format, const char *detail)
{
    char text[600];
    nnrt_text(text, sizeof(text), format, detail);
    printf("FAIL %s %s: %s\n", op, type, text);
    failed++;
}

/* ---- runs ---- */

static bool is_float(NNRT_DataType type)
{
    return (NNRT_TYPES_OF(type) & (NNRT_TYPES_FLOAT | NNRT_TYPES_F64)) != 0;
}

/* Compares results with fixed and dynamic dimensions: integers exactly, floats within a share of the largest one that sums in
   another order cannot reach. The memory of both was filled differently: an element that is not written differs. */
static bool alike(const outcome *a, const outcome *b, char *why, size_t size)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const nnrt_dims *dims = &a->info[i].shape;
        const NNRT_DataType type = a->info[i].dataType;
        const double share = type == NNRT_DATA_TYPE_FLOAT16 ? 1e-2 : 1e-4;
        size_t count = 0;
        double most = 1e-30;
        if (b->count != a->count || !nnrt_dims_count(dims->dims, dims->rank, &count) ||
            b->info[i].shape.rank != dims->rank ||
            memcmp(dims->dims, b->info[i].shape.dims, (size_t)dims->rank * sizeof(int32_t)) != 0) {
            nnrt_text(why, size, "output %u has another shape with dynamic dimensions", i);
            return false;
        }
        for (size_t k = 0; is_float(type) && k < count; k++)
            most = fmax(most, fabs(vec_number(type, a->out[i].data, k)));
        for (size_t k = 0; k < count; k++) {
            const double x = vec_number(type, a->out[i].data, k), y = vec_number(type, b->out[i].data, k);
            if (!(fabs(x - y) <= (is_float(type) ? share * most : 0)) || !isfinite(x)) {
                nnrt_text(why, size, "output %u, element %z: %f with fixed and %f with dynamic dimensions", i, k, x, y);
                return false;
            }
        }
    }
    return true;
}

static bool runs(const char *device, const vec_case *c, typical_open open, char *why, size_t size)
{
    static single s;
    static outcome fixed, dynamic;
    bool good;
    make_single(&s, c, &told);
    run_fill = 0xFF; /* NaN */
    run_on(device, &s, &fixed);
    run_fill = 0;
    make_single(&s, c, &told);
    if (open < TYPICAL_NONE)
        (void)typical_opened(&s, c, open);
    run_on(device, &s, &dynamic);
    nnrt_text(why, size, "%s", fixed.code != NNRT_SUCCESS ? fixed.message : dynamic.message);
    good = fixed.code == NNRT_SUCCESS && dynamic.code == NNRT_SUCCESS && alike(&fixed, &dynamic, why, size);
    outcome_end(&fixed);
    outcome_end(&dynamic);
    return good;
}

/* ---- the table ---- */

static bool same_selection(const typical_selection *a, const typical_selection *b)
{
    return strcmp(a->fixed, b->fixed) == 0 && strcmp(a->dynamic, b->dynamic) == 0 && a->open == b->open;
}

static bool has_type(const char *types, const char *type)
{
    const size_t n = strlen(type);
    for (const char *p = types; p != NULL; p = strchr(p, ','), p = p != NULL ? p + 1 : NULL)
        if (strncmp(p, type, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

/* The line of the committed table for an operator and type. */
static const line *old_of(const char *op, const char *type)
{
    for (uint32_t i = 0; i < n_old; i++)
        if (strcmp(old_lines[i].op, op) == 0 && has_type(old_lines[i].types, type))
            return &old_lines[i];
    return NULL;
}

static void cell(char **from, char *to, size_t size)
{
    const size_t n = strcspn(*from, "\t");
    nnrt_text(to, size, "%s", "");
    for (size_t i = 0; i < n && i + 1 < size; i++)
        to[i] = (*from)[i], to[i + 1] = '\0';
    *from += (*from)[n] == '\t' ? n + 1 : n;
}

static void read_table(void)
{
    vec_file v;
    memset(&v, 0, sizeof(v));
    v.path = TABLE;
    v.f = fopen(TABLE, "r");
    while (v.f != NULL && vec_line(&v) && n_old < LINES) {
        line *l = &old_lines[n_old];
        char *p = v.text, open[40];
        memset(l, 0, sizeof(*l));
        cell(&p, l->op, sizeof(l->op));
        cell(&p, l->types, sizeof(l->types));
        cell(&p, l->s.fixed, sizeof(l->s.fixed));
        cell(&p, l->s.dynamic, sizeof(l->s.dynamic));
        cell(&p, open, sizeof(open));
        cell(&p, l->reason, sizeof(l->reason));
        while (l->s.open < TYPICAL_NONE && strcmp(open, typical_opens[l->s.open]) != 0)
            l->s.open++;
        n_old += strcmp(l->op, "operator") != 0 ? 1 : 0;
    }
    if (v.f != NULL)
        fclose(v.f);
    free(v.text);
}

/* Adds a type to a line of this block with the same selection and reason, or a line. first: of the block. */
static void add_line(uint32_t first, const char *op, const char *type, const typical_selection *s, const char *reason)
{
    line *l = NULL;
    for (uint32_t i = first; i < n_new; i++)
        if (same_selection(&new_lines[i].s, s) && strcmp(new_lines[i].reason, reason) == 0)
            l = &new_lines[i];
    if (l == NULL) {
        if (n_new >= LINES)
            return;
        l = &new_lines[n_new++];
        nnrt_text(l->op, sizeof(l->op), "%s", op);
        nnrt_text(l->reason, sizeof(l->reason), "%s", reason);
        l->s = *s;
    }
    nnrt_text(l->types + strlen(l->types), sizeof(l->types) - strlen(l->types), "%s%s", l->types[0] != '\0' ? "," : "",
              type);
}

static void write_table(void)
{
    FILE *f = fopen(TABLE, "w");
    if (f == NULL) {
        printf("FAIL cannot write " TABLE "\n");
        failed++;
        return;
    }
    fputs("# Kernels that the device cpu selects: tests/devices/test_cpu_kernels.c, `make cpu-kernels`. The reasons "
          "are written by hand.\n"
          "operator\ttypes of the first input\tfixed dimensions\tdynamic dimensions\tdynamic axes\treason for a "
          "reference kernel\n",
          f);
    for (uint32_t i = 0; i < n_new; i++) {
        const line *l = &new_lines[i];
        fprintf(f, "%s\t%s\t%s\t%s\t%s\t%s\n", l->op, l->types, l->s.fixed, l->s.dynamic, typical_opens[l->s.open],
                l->reason);
    }
    fclose(f);
}

/* ---- blocks ---- */

/* Adds the selection to the new table, and compares it with the committed one. */
static void check_line(const typical *b, typical_type type, const typical_selection *s, uint32_t first, bool write)
{
    char op[100], text[20], why[700];
    const line *old;
    typical_title(b, op, sizeof(op));
    typical_type_text(type, text, sizeof(text));
    old = old_of(op, text);
    add_line(first, op, text, s, old != NULL && s->falls ? old->reason : "");
    if (write)
        return;
    if (old == NULL) {
        fail(op, text, "is not in " TABLE " (%s): make cpu-kernels", s->fixed);
    } else if (!same_selection(&old->s, s)) {
        nnrt_text(why, sizeof(why), "'%s', dynamic '%s' (%s) instead of '%s', '%s' (%s)", s->fixed, s->dynamic,
                  typical_opens[s->open], old->s.fixed, old->s.dynamic, typical_opens[old->s.open]);
        fail(op, text, "%s: make cpu-kernels", why);
    } else if (s->falls != (old->reason[0] != '\0')) {
        fail(op, text, s->falls ? "no reason for the reference kernel '%s'" : "a reason, but no reference kernel: '%s'",
             s->fixed);
    }
}

static char refusal[NNRT_MESSAGE_BYTES]; /* the last message of a shape rule */

/* Checks a block with a type; false: the shape rule refuses the type. */
static bool check_type(const typical_list *list, const typical *b, typical_type type, uint32_t first, bool write)
{
    static vec_case c;
    char op[100], text[20], device[40], why[500];
    typical_selection s, other;
    nnrt_error error;
    const uint32_t before = failed;
    typical_title(b, op, sizeof(op));
    typical_type_text(type, text, sizeof(text));
    typical_make(list, b, type, &c);
    nnrt_text(device, sizeof(device), "cpu-%s", nnrt_cpu_set(0));
    if (typical_select(device, &c, &s, &error) != NNRT_SUCCESS) {
        nnrt_text(refusal, sizeof(refusal), "%s", error.message);
        vec_free(&c);
        return false;
    }
    check_line(b, type, &s, first, write);
    for (uint32_t i = 1; nnrt_cpu_set(i) != NULL; i++) {
        nnrt_text(device, sizeof(device), "cpu-%s", nnrt_cpu_set(i));
        if (typical_select(device, &c, &other, &error) != NNRT_SUCCESS)
            fail(op, text, "is refused in another instruction set: %s", error.message);
        else if (!same_selection(&s, &other)) {
            nnrt_text(why, sizeof(why), "%s: '%s', dynamic '%s', instead of '%s', '%s'", device, other.fixed,
                      other.dynamic, s.fixed, s.dynamic);
            fail(op, text, "%s", why);
        }
    }
    if (!runs("cpu", &c, s.open, why, sizeof(why)))
        fail(op, text, "%s", why);
    passed += failed == before ? 1 : 0;
    vec_free(&c);
    return true;
}

/* Checks the blocks of an operator with all its types. Some variants may refuse a type; one that all refuse has a line. An
   operator that runs subgraphs has no model of one node, only a line. */
static void check_op(const typical_list *list, uint32_t begin, uint32_t end, bool write)
{
    const nnrt_op *op = list->blocks[begin].op;
    const bool graphs = (op->flags & NNRT_OP_GRAPHS) != 0;
    uint32_t done = 0;
    typical_type type;
    for (uint32_t i = begin; i < end && !graphs; i++) {
        const uint32_t first = n_new;
        const bool varies = typical_varies(&list->blocks[i]) > 0;
        for (uint32_t k = 0; typical_type_at(k, &type); k++)
            if ((varies || (nnrt_op_types(op) & typical_bit(type)) != 0) &&
                check_type(list, &list->blocks[i], type, first, write))
                done |= varies ? nnrt_op_types(op) : typical_bit(type);
    }
    for (uint32_t k = 0, first = n_new; typical_type_at(k, &type); k++)
        if ((nnrt_op_types(op) & ~done & typical_bit(type)) != 0) {
            typical none;
            typical_selection s;
            memset(&none, 0, sizeof(none));
            memset(&s, 0, sizeof(s));
            none.op = op;
            nnrt_text(s.fixed, sizeof(s.fixed), "%s", graphs ? "subgraphs" : "refused");
            nnrt_text(s.dynamic, sizeof(s.dynamic), "%s", graphs ? "subgraphs" : "-");
            s.open = TYPICAL_NONE;
            s.falls = true;
            check_line(&none, type, &s, first, write);
            if (write && !graphs)
                printf("%s: %s\n", op->name, refusal);
        }
}

/* A line of the table whose operator or type no longer exists. */
static void check_stale(void)
{
    for (uint32_t i = 0; i < n_old; i++) {
        bool there = false;
        for (uint32_t k = 0; k < n_new; k++)
            there = there || (strcmp(old_lines[i].op, new_lines[k].op) == 0 &&
                              strcmp(old_lines[i].types, new_lines[k].types) == 0);
        if (!there)
            fail(old_lines[i].op, old_lines[i].types,
                 "the line of " TABLE " is none that is written: make cpu-kernels%s", "");
    }
}

int main(int argc, char **argv)
{
    static typical_list list;
    bool write = false;
    int chosen = 0;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    for (int i = 1; i < argc; i++) {
        write = write || strcmp(argv[i], "--write") == 0;
        chosen += argv[i][0] != '-' ? 1 : 0;
    }
    if (test_device_open("cpu") == NULL)
        return 2;
    for (uint32_t i = 0; nnrt_cpu_set(i) != NULL; i++)
        if (nnrt_cpu_register(nnrt_cpu_set(i), &error) != NNRT_SUCCESS)
            return 2;
    typical_load(&list, "tests/devices/typical.txt");
    read_table();
    for (uint32_t i = 0, end; i < list.count; i = end) {
        bool wanted = chosen == 0;
        for (int k = 1; k < argc; k++)
            wanted = wanted || strcmp(argv[k], list.blocks[i].op->name) == 0;
        for (end = i + 1; end < list.count && list.blocks[end].op == list.blocks[i].op;)
            end++;
        if (wanted)
            check_op(&list, i, end, write);
        fflush(stdout);
    }
    if (write && chosen == 0)
        write_table();
    else if (chosen == 0)
        check_stale();
    typical_free(&list);
    printf("%u passed, %u failed\n", (unsigned)passed, (unsigned)failed);
    return failed > 0 || passed == 0 ? 1 : 0;
}
