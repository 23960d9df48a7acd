/* Writes the main() of a program that calls one operator's kernels without the library: for each kernel of the row the
   first case of the operator's vector file that succeeds. Attributes are written resolved, as C initializers; views
   with dims and strides; values as bytes. tests/ops/test_copy.py appends it to the kernels' text, and compiles both alone.
   usage: copy_case               lists the operators: name, kernels
          copy_case OP FILE       writes the program's text, with the case's name before each kernel
          copy_case OP FILE ROW   the same for all cases of ROW's type that succeed, with calls of this row function
          copy_case OP FILE KERNEL TYPE [quantized]  for all cases that succeed with this kernel, whose first input has this
                                  type; without `quantized` those whose tensors have no quantization parameters
   The written program prints for every kernel the lines "kernel NAME", "case NAME" and "code N", then "out I HEX" with
   the bytes of output I. The reader compares them with the expected values in the vector file. A comment in it says
   whether the rule changed the attributes of any case ("Resolved:") or derived a constant ("Derived:"). */
#define NNRT_IMPLEMENTATION
#include "nnrt_ops.h"

#include "vec.h"

/* The rows of all kernels: how each is called. */
typedef struct kernel_pattern {
    const char *kernel, *structName, *args;
} kernel_pattern;

#define PATTERN_ROW(types, operands, S, fn, args, ...) {"nnrt_" #fn, #S, #args},
static const kernel_pattern patterns[] = {NNRT_OPS(NNRTI_OP_KERNELS, PATTERN_ROW)};

static const kernel_pattern *pattern_of(const char *kernel)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        if (strcmp(patterns[i].kernel, kernel) == 0)
            return &patterns[i];
    return NULL;
}

static void *leak(void *user, size_t bytes)
{
    (void)user;
    return malloc(bytes > 0 ? bytes : 1);
}

/* static const int64_t NAME[] = {...}; */
static void write_ints(const char *name, NNRT_Int64List list)
{
    printf("    static const int64_t %s[] = {", name);
    for (uint32_t i = 0; i < list.count; i++)
        printf("%lldLL, ", (long long)list.data[i]);
    printf("%s};\n", list.count > 0 ? "" : "0");
}

/* static float NAME[n], set by the bits of its numbers. */
static void write_floats(const char *name, NNRT_FloatList list)
{
    printf("    static float %s[%u];\n    static const uint32_t %s_bits[] = {", name,
           (unsigned)(list.count > 0 ? list.count : 1), name);
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t bits;
        memcpy(&bits, &list.data[i], sizeof(bits));
        printf("0x%08xu, ", (unsigned)bits);
    }
    printf("%s};\n    memcpy(%s, %s_bits, sizeof(%s));\n", list.count > 0 ? "" : "0", name, name, name);
}

static void write_lists(const char *name, NNRT_Int64Lists lists)
{
    char row[96];
    for (uint32_t i = 0; i < lists.count; i++) {
        nnrt_text(row, sizeof(row), "%s_%u", name, i);
        write_ints(row, lists.data[i]);
    }
    printf("    const NNRT_Int64List %s[] = {", name);
    for (uint32_t i = 0; i < lists.count; i++)
        printf("{%s_%u, %u}, ", name, (unsigned)i, (unsigned)lists.data[i].count);
    printf("%s};\n", lists.count > 0 ? "" : "{NULL, 0}");
}

/* The resolved attribute struct as local variable `attr`. Floats go by their bits. */
static void write_attr(const nnrt_attr_struct *s, const void *attr, const char *structName)
{
    printf("    NNRT_%s attr;\n", structName);
    for (uint32_t i = 0; i < s->count; i++) {
        const nnrt_attr_member *m = &s->members[i];
        const void *at = (const uint8_t *)attr + m->offset;
        if (m->kind == NNRT_ATTR_KIND_INTS || m->kind == NNRT_ATTR_KIND_INTS64)
            write_ints(m->name, *(const NNRT_Int64List *)at);
        if (m->kind == NNRT_ATTR_KIND_FLOATS)
            write_floats(m->name, *(const NNRT_FloatList *)at);
        if (m->kind == NNRT_ATTR_KIND_INTS2)
            write_lists(m->name, *(const NNRT_Int64Lists *)at);
    }
    printf("    memset(&attr, 0, sizeof(attr));\n");
    for (uint32_t i = 0; i < s->count; i++) {
        const nnrt_attr_member *m = &s->members[i];
        const void *at = (const uint8_t *)attr + m->offset;
        uint64_t wide;
        uint32_t bits;
        switch (m->kind) {
        case NNRT_ATTR_KIND_BOOL: printf("    attr.%s = %d;\n", m->name, *(const bool *)at); break;
        case NNRT_ATTR_KIND_INT: printf("    attr.%s = %lldLL;\n", m->name, (long long)*(const int64_t *)at); break;
        case NNRT_ATTR_KIND_INT64: /* the least of all has no literal */
        case NNRT_ATTR_KIND_DOUBLE:
            memcpy(&wide, at, sizeof(wide));
            printf("    wide = 0x%llxu; memcpy(&attr.%s, &wide, sizeof(wide));\n", (unsigned long long)wide, m->name);
            break;
        case NNRT_ATTR_KIND_TYPE:
            printf("    attr.%s = %d;\n", m->name,
                   (int)(m->bytes == sizeof(int64_t) ? *(const int64_t *)at : *(const int32_t *)at));
            break;
        case NNRT_ATTR_KIND_STRING: printf("    attr.%s = \"%s\";\n", m->name, *(const char *const *)at); break;
        case NNRT_ATTR_KIND_GRAPH: printf("    attr.%s = %uu;\n", m->name, (unsigned)*(const uint32_t *)at); break;
        case NNRT_ATTR_KIND_ENUM: printf("    attr.%s = %d;\n", m->name, (int)*(const int32_t *)at); break;
        case NNRT_ATTR_KIND_FLOAT:
            memcpy(&bits, at, sizeof(bits));
            printf("    bits = 0x%08xu; memcpy(&attr.%s, &bits, sizeof(bits));\n", (unsigned)bits, m->name);
            break;
        case NNRT_ATTR_KIND_INTS:
        case NNRT_ATTR_KIND_INTS64:
        case NNRT_ATTR_KIND_FLOATS:
        case NNRT_ATTR_KIND_INTS2:
            printf("    attr.%s.data = %s; attr.%s.count = %u;\n", m->name, m->name, m->name,
                   (unsigned)((const NNRT_Int64List *)at)->count);
            break;
        default: break;
        }
    }
}

static size_t view_bytes(const nnrt_view *v)
{
    size_t bytes = 0;
    (void)nnrt_dims_bytes(v->dims, v->rank, v->dataType, &bytes);
    return bytes;
}

/* args[i] with its data: bytes NULL = an output, to be filled by the kernel. */
static void write_view(uint32_t i, const nnrt_view *v, const void *data)
{
    size_t bytes = view_bytes(v);
    printf("    memset(&args[%u], 0, sizeof(args[%u]));\n", (unsigned)i, (unsigned)i);
    if (v->dataType == NNRT_DATA_TYPE_UNKNOWN)
        return;
    if (data != NULL) {
        printf("    static const unsigned char data_%u[] = {", (unsigned)i);
        for (size_t k = 0; k < bytes; k++)
            printf("%u,", ((const uint8_t *)data)[k]);
        printf("%s};\n", bytes > 0 ? "" : "0");
    }
    printf("    args[%u].data = calloc(1, %u);\n", (unsigned)i, (unsigned)bytes + 1);
    if (data != NULL)
        printf("    memcpy(args[%u].data, data_%u, %u);\n", (unsigned)i, (unsigned)i, (unsigned)bytes);
    printf("    args[%u].dataType = %d; args[%u].rank = %d;\n", (unsigned)i, (int)v->dataType, (unsigned)i,
           (int)v->rank);
    for (int32_t k = 0; k < v->rank; k++)
        printf("    args[%u].dims[%d] = %d; args[%u].strides[%d] = %lld;\n", (unsigned)i, (int)k, (int)v->dims[k],
               (unsigned)i, (int)k, (long long)v->strides[k]);
    if (v->quantCount == 0)
        return;
    printf("    static const NNRT_QuantParam quant_%u[] = {", (unsigned)i);
    for (uint32_t k = 0; k < v->quantCount; k++)
        printf("{%d, %d, %.17g}, ", (int)v->quant[k].numBits, (int)v->quant[k].zeroPoint, v->quant[k].scale);
    printf("};\n    args[%u].quant = quant_%u; args[%u].quantCount = %u;\n", (unsigned)i, (unsigned)i, (unsigned)i,
           (unsigned)v->quantCount);
}

/* The views args[first ..] as arguments, NULL for absent ones and for those from n on. */
static void write_views(const nnrt_view *args, uint32_t first, uint32_t n, char count)
{
    for (uint32_t i = 0; i < (uint32_t)(count >= 'A' ? count - 'A' + 10 : count - '0'); i++)
        if (i < n && args[first + i].dataType != NNRT_DATA_TYPE_UNKNOWN)
            printf(", &args[%u]", (unsigned)(first + i));
        else
            printf(", NULL");
}

/* The call, by the pattern of the kernel's row: "3_1" three inputs and one output, "V" = repeated, "2d1_1" a derived constant
   after two inputs, "1_2c" with the nnrt_call, which is then `call`. */
static void write_call(const char *kernel, const char *pattern, const nnrt_view *args, uint32_t nIn, uint32_t nDerived,
                       uint32_t nOut, const char *call)
{
    const char *outputs = strchr(pattern, '_') + 1;
    printf("    code = %s(&attr", kernel);
    if (pattern[0] == 'V')
        printf(", args, %u", (unsigned)nIn);
    else
        write_views(args, 0, nIn, pattern[0]);
    if (pattern[1] == 'd')
        write_views(args, nIn, nDerived, pattern[2]);
    if (outputs[0] == 'V')
        printf(", &args[%u], %u", (unsigned)(nIn + nDerived), (unsigned)nOut);
    else
        write_views(args, nIn + nDerived, nOut, outputs[0]);
    printf("%s%s);\n", outputs[1] == 'c' ? ", " : "", outputs[1] == 'c' ? call : "");
}

/* The same with scratch memory, for a kernel that says it cannot do without. */
static void write_call_with_scratch(const char *kernel, const char *pattern, const nnrt_view *args, uint32_t nIn,
                                    uint32_t nDerived, uint32_t nOut, size_t bytes)
{
    printf("    if (code == %d) {\n    nnrt_call call;\n    memset(&call, 0, sizeof(call));\n", (int)NNRT_INSUFFICIENT_BUFFER);
    printf("    call.scratchBytes = %u;\n    call.scratch = malloc(call.scratchBytes);\n", (unsigned)bytes);
    write_call(kernel, pattern, args, nIn, nDerived, nOut, "&call");
    printf("    free(call.scratch);\n    }\n");
}

/* One case resolved: the arguments of its kernel. */
typedef struct call {
    nnrt_operand in[VEC_OPERANDS], out[VEC_OPERANDS];
    nnrt_view args[2 * VEC_OPERANDS + NNRT_MAX_DERIVED];
    nnrt_resolve r;
    nnrt_error error;
    const char *kernel;
} call;

static nnrt_operand operand_of(const vec_tensor *t, bool output, NNRT_Format format)
{
    nnrt_operand o =
        nnrt_operand_make(t->dataType, t->present ? t->rank : -1, t->dims, t->constant && !output ? t->data : NULL);
    o.name = "operand";
    o.format = format;
    o.quant = t->quant;
    o.quantCount = t->quantCount;
    o.quantAxis = t->quantAxis;
    return o;
}

/* Resolves the case; false when it is refused or is not meant to succeed. */
static bool resolve_case(const vec_case *c, call *k)
{
    static const vec_tensor none;
    memset(k, 0, sizeof(*k));
    for (uint32_t i = 0; i < VEC_OPERANDS; i++) {
        k->in[i] = operand_of(i < c->nIn ? &c->in[i] : &none, false, i == 0 ? c->format : NNRT_FORMAT_NONE);
        k->out[i] = operand_of(i < c->nOut ? &c->out[i] : &none, true, c->format);
    }
    k->r.op = c->op;
    k->r.nodeName = c->name;
    k->r.attr = c->attr;
    k->r.attrBytes = c->op->attr->bytes;
    k->r.in = k->in;
    k->r.out = k->out;
    k->r.nIn = c->nIn;
    k->r.nOut = c->nOut;
    k->r.alloc = leak;
    k->r.error = &k->error;
    if (c->prepareCode != NNRT_SUCCESS || c->runCode != NNRT_SUCCESS || c->nOut == 0 ||
        nnrt_resolve_node(&k->r) != NNRT_SUCCESS)
        return false;
    for (uint32_t i = 0; i < c->op->kernelCount; i++)
        if (c->op->kernels[i].call == k->r.kernel)
            k->kernel = c->op->kernels[i].name;
    return k->kernel != NULL;
}

/* A block of the program that sets everything up, calls the kernel and prints the outputs. */
static void write_block(const vec_case *c, call *k)
{
    const kernel_pattern *p = pattern_of(k->kernel);
    const uint32_t nIn = k->r.kernelIn, first = nIn + k->r.nDerived;
    const bool dependent = (c->op->flags & NNRT_OP_DATA_DEPENDENT) != 0; /* the kernel stores shapes in the views */
    printf("    {\n    nnrt_view args[%u];\n", (unsigned)(first + c->nOut));
    if (strcmp(c->op->attr->name, p->structName) == 0)
        write_attr(c->op->attr, k->r.resolved, p->structName);
    else /* the kernel of another operator, which does not read its attributes */
        printf("    NNRT_%s attr;\n    memset(&attr, 0, sizeof(attr));\n", p->structName);
    for (uint32_t i = 0; i < first; i++) {
        const nnrt_operand *o = i < nIn ? &k->in[i] : &k->r.derived[i - nIn];
        nnrt_operand_view(i < nIn ? c->op : NULL, o, (int32_t)i, &k->args[i]);
        write_view(i, &k->args[i], o->data != NULL ? o->data : i < c->nIn ? c->in[i].data : NULL);
    }
    for (uint32_t i = 0; i < c->nOut; i++) {
        nnrt_operand_view(c->op, &k->out[i], -1, &k->args[first + i]);
        write_view(first + i, &k->args[first + i], NULL);
    }
    printf("    puts(\"kernel %s\\ncase ", k->kernel);
    for (const char *t = c->name; *t != '\0'; t++)
        printf(*t == '"' || *t == '\\' ? "\\%c" : "%c", *t);
    printf("\");\n");
    write_call(k->kernel, p->args, k->args, nIn, k->r.nDerived, c->nOut, "NULL");
    if (k->r.scratch > 0 && strchr(p->args, 'c') != NULL)
        write_call_with_scratch(k->kernel, p->args, k->args, nIn, k->r.nDerived, c->nOut, k->r.scratch);
    printf("    printf(\"code %%d\\n\", (int)code);\n");
    for (uint32_t i = 0; i < c->nOut; i++) {
        if (k->args[first + i].dataType == NNRT_DATA_TYPE_UNKNOWN)
            continue;
        printf("    print_bytes(%u, args[%u].data, %u", (unsigned)i, (unsigned)(first + i),
               (unsigned)(dependent ? nnrt_type_size(k->args[first + i].dataType) : view_bytes(&k->args[first + i])));
        for (int32_t axis = 0; dependent && axis < k->args[first + i].rank; axis++)
            printf(" * (unsigned)args[%u].dims[%d]", (unsigned)(first + i), (int)axis);
        printf(");\n");
    }
    for (uint32_t i = 0; i < first + c->nOut; i++)
        printf("    free(args[%u].data);\n", (unsigned)i);
    printf("    }\n");
}

static bool has_elements(const vec_case *c)
{
    for (uint32_t i = 0; i < c->nOut; i++)
        if (c->out[i].present && c->out[i].count < 2)
            return false;
    return true;
}

/* For every kernel of op the first case in the file; returns how many kernels got none. Cases whose outputs hold fewer
   than two elements are left for when there is no better one. */
static uint32_t write_kernels(const nnrt_op *op, const char *path)
{
    static bool done[64];
    static vec_case c;
    static call k;
    uint32_t missing = op->kernelCount, derived = 0;
    bool resolved = false;
    for (int pass = 0; pass < 2; pass++) {
        vec_file v;
        memset(&v, 0, sizeof(v));
        v.path = path;
        v.f = fopen(path, "r");
        if (v.f == NULL)
            return missing;
        while (vec_next(&v, &c)) {
            if (c.op == op && (pass > 0 || has_elements(&c)) && resolve_case(&c, &k)) {
                resolved = resolved || !nnrt_attr_equal(op->attr, c.attr, k.r.resolved);
                derived = k.r.nDerived > derived ? k.r.nDerived : derived;
                for (uint32_t i = 0; i < op->kernelCount && i < 64; i++)
                    if (op->kernels[i].call == k.r.kernel && !done[i]) {
                        done[i] = true;
                        missing--;
                        write_block(&c, &k);
                    }
            }
            vec_free(&c);
        }
        free(v.text);
        fclose(v.f);
    }
    printf("    /* the rule: %s %s */\n", resolved ? "Resolved:" : "", derived > 0 ? "Derived:" : "");
    for (uint32_t i = 0; i < op->kernelCount && i < 64; i++)
        if (!done[i])
            fprintf(stderr, "%s: no case that succeeds for kernel %s\n", path, op->kernels[i].name);
    return missing;
}

/* The elements of t, broadcast to the dims of z, as an array of bytes. */
static void write_broadcast(const char *name, const vec_tensor *t, const vec_tensor *z)
{
    const size_t width = nnrt_type_size(t->dataType);
    printf("    static const unsigned char %s[] = {", name);
    for (size_t k = 0; k < z->count; k++) {
        size_t left = k, at = 0, step = 1;
        for (int32_t i = 1; i <= z->rank; i++) {
            const size_t place = left % (size_t)z->dims[z->rank - i];
            left /= (size_t)z->dims[z->rank - i];
            if (i > t->rank)
                continue;
            at += t->dims[t->rank - i] == 1 ? 0 : place * step;
            step *= (size_t)t->dims[t->rank - i];
        }
        for (size_t b = 0; b < width; b++)
            printf("%u,", ((const uint8_t *)t->data)[at * width + b]);
    }
    printf("};\n    memcpy(%s_, %s, sizeof(%s));\n", name, name, name);
}

/* Calls of the row function with the operands of every case of its type, float32 or int32; returns their number. */
static uint32_t write_rows(const nnrt_op *op, const char *path, const char *row)
{
    static vec_case c;
    static call k;
    const bool real = strstr(row, "_f32_row") != NULL;
    const char *const type = real ? "float" : "int32_t";
    uint32_t found = 0;
    vec_file v;
    memset(&v, 0, sizeof(v));
    v.path = path;
    v.f = fopen(path, "r");
    while (v.f != NULL && vec_next(&v, &c)) {
        const bool fits = c.op == op && c.in[0].dataType == (real ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_INT32) &&
                          c.format != NNRT_FORMAT_NCHW; /* operands broadcast in the order of the views */
        if (fits && c.nOut == 1 && c.out[0].count > 0 && resolve_case(&c, &k)) {
            const size_t n = c.out[0].count, width = nnrt_type_size(c.out[0].dataType);
            printf("    {\n    static %s z[%u];\n", width == 1 ? "unsigned char" : type, (unsigned)n);
            for (uint32_t i = 0; i < c.nIn; i++) {
                char name[8];
                nnrt_text(name, sizeof(name), "x%u", i);
                printf("    static %s %s_[%u];\n", type, name, (unsigned)n);
                write_broadcast(name, &c.in[i], &c.out[0]);
            }
            write_attr(op->attr, k.r.resolved, pattern_of(k.kernel)->structName);
            printf("    puts(\"kernel %s\\ncase ", row);
            for (const char *t = c.name; *t != '\0'; t++)
                printf(*t == '"' || *t == '\\' ? "\\%c" : "%c", *t);
            printf("\\ncode 0\");\n    %s(&attr", row);
            for (uint32_t i = 0; i < c.nIn; i++)
                printf(", x%u_", (unsigned)i);
            printf(", z, %u);\n    print_bytes(0, z, %u);\n    }\n", (unsigned)n, (unsigned)(n * width));
            found++;
        }
        vec_free(&c);
    }
    free(v.text);
    if (v.f != NULL)
        fclose(v.f);
    return found;
}

static bool is_quantized(const call *k, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (k->in[i].quantCount > 0)
            return true;
    return false;
}

/* Calls of the kernel with the operands of every case whose first input has the type; returns their number. */
static uint32_t write_cases(const nnrt_op *op, const char *path, const char *kernel, const char *type, bool quantized)
{
    static vec_case c;
    static call k;
    uint32_t found = 0;
    vec_file v;
    memset(&v, 0, sizeof(v));
    v.path = path;
    v.f = fopen(path, "r");
    while (v.f != NULL && vec_next(&v, &c)) {
        if (c.op == op && c.nIn > 0 && strcmp(nnrt_type_name(c.in[0].dataType), type) == 0 && resolve_case(&c, &k) &&
            strcmp(k.kernel, kernel) == 0 && (quantized || !is_quantized(&k, c.nIn))) {
            write_block(&c, &k);
            found++;
        }
        vec_free(&c);
    }
    free(v.text);
    if (v.f != NULL)
        fclose(v.f);
    return found;
}

static void list_kernels(const nnrt_op *op)
{
    printf("%s", op->name);
    for (uint32_t i = 0; i < op->kernelCount; i++)
        printf(" %s", op->kernels[i].name);
    printf("\n");
}

int main(int argc, char **argv)
{
    const nnrt_op *op;
    uint32_t missing;
    (void)vec_compare; /* the reader of the program's output compares */
    if (argc < 3) {
        for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++)
            if ((op->flags & NNRT_OP_GRAPHS) == 0)
                list_kernels(op);
        return 0;
    }
    op = nnrt_op_named(argv[1]);
    if (op == NULL) {
        fprintf(stderr, "%s: no such operator\n", argv[1]);
        return 1;
    }
    printf("static void print_bytes(unsigned output, const void *data, unsigned bytes)\n{\n"
           "    printf(\"out %%u \", output);\n"
           "    for (unsigned i = 0; i < bytes; i++)\n        printf(\"%%02x\", ((const unsigned char *)data)[i]);\n"
           "    printf(\"\\n\");\n}\n\n"
           "int main(void)\n{\n    int32_t code = 0;\n    uint32_t bits;\n    uint64_t wide;\n    "
           "(void)code;\n    (void)bits;\n    (void)wide;\n");
    missing = argc == 3   ? write_kernels(op, argv[2])
              : argc == 4 ? write_rows(op, argv[2], argv[3]) == 0
                          : write_cases(op, argv[2], argv[3], argv[4], argc > 5) == 0;
    printf("    return 0;\n}\n");
    return missing > 0 ? 1 : 0;
}
