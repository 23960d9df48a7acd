/* The ONNX importer for operators that differ between ONNX and nnrt: NaN, indices out of range, windows in the padding, ranks
   of scalars. Models are text (see build); expected values follow ONNX's text, with the computation in comments at the cases.
   Each model is imported with and without optimization. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/nnrt_onnx.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

#define MESSAGE_BYTES 8192
#include "half.h"
#include "protobuf.h"

static void put_message(message *m, uint32_t field, const message *part)
{
    put_bytes(m, field, part->data, part->size);
}

/* ---- models as text ---- */

/* Names of types, and ONNX's and our numbers of them. */
static const struct {
    const char *name;
    int32_t onnx;
    NNRT_DataType type;
} types[] = {{"f32", NNRT_ONNX_FLOAT, NNRT_DATA_TYPE_FLOAT32},  {"f16", NNRT_ONNX_FLOAT16, NNRT_DATA_TYPE_FLOAT16},
             {"f64", NNRT_ONNX_DOUBLE, NNRT_DATA_TYPE_FLOAT64}, {"i32", NNRT_ONNX_INT32, NNRT_DATA_TYPE_INT32},
             {"i64", NNRT_ONNX_INT64, NNRT_DATA_TYPE_INT64},    {"u8", NNRT_ONNX_UINT8, NNRT_DATA_TYPE_UINT8},
             {"i8", NNRT_ONNX_INT8, NNRT_DATA_TYPE_INT8},       {"bool", NNRT_ONNX_BOOL, NNRT_DATA_TYPE_BOOL},
             {"i16", NNRT_ONNX_INT16, NNRT_DATA_TYPE_INT16},    {"u16", NNRT_ONNX_UINT16, NNRT_DATA_TYPE_UINT16},
             {"f8", NNRT_ONNX_FLOAT8E4M3FN, NNRT_DATA_TYPE_UINT8}, {"bf16", NNRT_ONNX_BFLOAT16, NNRT_DATA_TYPE_UINT16},
             {"i4", NNRT_ONNX_INT4, NNRT_DATA_TYPE_INT8}};

/* The next word of *text, which ends at a space. false: there is none. */
static bool next_word(const char **text, char word[64])
{
    size_t n;
    *text += strspn(*text, " ");
    n = strcspn(*text, " ");
    assert_true(n < 64);
    memcpy(word, *text, n);
    word[n] = '\0';
    *text += n;
    return n > 0;
}

static uint32_t type_named(const char *name)
{
    for (uint32_t i = 0; i < COUNT(types); i++)
        if (strcmp(name, types[i].name) == 0)
            return i;
    fail_msg("there is no type %s", name);
    return 0;
}

static double within(double v, double least, double most)
{
    return v < least ? least : v > most ? most : v;
}

/* One number as an element of a type: integers take the nearest value of their type. */
static void number_to(NNRT_DataType type, double v, void *to)
{
    switch (type) {
    case NNRT_DATA_TYPE_FLOAT16: *(uint16_t *)to = half_of(v); break;
    case NNRT_DATA_TYPE_FLOAT32: *(float *)to = (float)v; break;
    case NNRT_DATA_TYPE_FLOAT64: *(double *)to = v; break;
    case NNRT_DATA_TYPE_INT64: *(int64_t *)to = v < 0x1p63 ? (int64_t)within(v, -0x1p63, v) : INT64_MAX; break;
    case NNRT_DATA_TYPE_INT32: *(int32_t *)to = (int32_t)within(v, INT32_MIN, INT32_MAX); break;
    case NNRT_DATA_TYPE_INT16: *(int16_t *)to = (int16_t)within(v, INT16_MIN, INT16_MAX); break;
    case NNRT_DATA_TYPE_UINT16: *(uint16_t *)to = (uint16_t)within(v, 0, UINT16_MAX); break;
    case NNRT_DATA_TYPE_INT8: *(int8_t *)to = (int8_t)within(v, INT8_MIN, INT8_MAX); break;
    default: *(uint8_t *)to = (uint8_t)within(v, 0, UINT8_MAX); break;
    }
}

static double number_from(NNRT_DataType type, const void *from)
{
    switch (type) {
    case NNRT_DATA_TYPE_FLOAT16: return half_to(*(const uint16_t *)from);
    case NNRT_DATA_TYPE_FLOAT32: return (double)*(const float *)from;
    case NNRT_DATA_TYPE_FLOAT64: return *(const double *)from;
    case NNRT_DATA_TYPE_INT64: return (double)*(const int64_t *)from;
    case NNRT_DATA_TYPE_INT32: return *(const int32_t *)from;
    case NNRT_DATA_TYPE_INT16: return *(const int16_t *)from;
    case NNRT_DATA_TYPE_UINT16: return *(const uint16_t *)from;
    case NNRT_DATA_TYPE_INT8: return *(const int8_t *)from;
    default: return *(const uint8_t *)from;
    }
}

/* The numbers in text as elements of a type: returns their bytes. */
static size_t numbers(const char *text, NNRT_DataType type, void *to, size_t room)
{
    const size_t width = nnrt_type_size(type);
    size_t n = 0;
    char word[64];
    while (next_word(&text, word)) {
        assert_true((n + 1) * width <= room);
        number_to(type, strtod(word, NULL), (uint8_t *)to + n++ * width);
    }
    return n * width;
}

/* Turns the elements around where their highest byte comes first: files have the lowest one first. */
static void little(uint8_t *data, size_t bytes, size_t width)
{
    const uint16_t one = 1;
    for (size_t i = 0; i < bytes && *(const uint8_t *)&one == 0; i += width)
        for (size_t k = 0; k < width / 2; k++) {
            const uint8_t low = data[i + k];
            data[i + k] = data[i + width - 1 - k];
            data[i + width - 1 - k] = low;
        }
}

/* "2,3" or "" (a scalar), each entry put as field 1 of shape, or as TensorShapeProto.Dimension; n: a dynamic dimension, a
   capital letter: one of that name */
static void put_dims(message *m, const char *dims, bool dimensions)
{
    for (const char *at = dims; *at != '\0'; at += *at == ',' ? 1 : 0) {
        message dim = {{0}, 0};
        char *end;
        if (*at == 'n' || (*at >= 'A' && *at <= 'Z')) {
            const char name[2] = {*at, '\0'};
            if (*at != 'n')
                put_text(&dim, 2, name);
            end = (char *)(uintptr_t)at + 1;
        } else {
            put_int(&dim, 1, strtol(at, &end, 10));
        }
        if (dimensions)
            put_message(m, 1, &dim);
        else
            put_int(m, 1, strtol(at, &end, 10));
        at = end;
    }
}

/* "f64,0.1": a tensor of one element, as field 5 */
static void put_tensor(message *m, const char *value)
{
    message t = {{0}, 0};
    const char *comma = strchr(value, ',');
    char name[8] = "";
    uint64_t element = 0;
    uint32_t type;
    size_t bytes;
    assert_true(comma != NULL && (size_t)(comma - value) < sizeof(name));
    memcpy(name, value, (size_t)(comma - value));
    type = type_named(name);
    bytes = numbers(comma + 1, types[type].type, &element, sizeof(element));
    little((uint8_t *)&element, bytes, nnrt_type_size(types[type].type));
    put_int(&t, 1, 1);
    put_int(&t, 2, types[type].onnx);
    put_bytes(&t, 9, &element, bytes);
    put_message(m, 5, &t);
}

static void put_float(message *m, uint32_t field, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    put_varint(m, field << 3 | 5);
    for (uint32_t i = 0; i < 4; i++)
        m->data[m->size++] = (uint8_t)(bits >> (8 * i));
}

/* "alpha:f=-1 strides:I=2,2 auto_pad:s=VALID axis:i=1 value:t=f64,0.1" as field 5 of a node or 11 of a function;
   "alpha:f=@beta" refers to the function's beta */
static void put_attribute(message *node, uint32_t field, const char *word, const message *sub)
{
    static const char kinds[] = "-fist-FIS"; /* by AttributeProto.AttributeType */
    const char *colon = strchr(word, ':'), *value = strchr(word, '=') + 1;
    message a = {{0}, 0};
    put_bytes(&a, 1, word, (size_t)(colon - word));
    if (*value == '@') {
        put_text(&a, 21, value + 1);
        put_int(&a, 20, strchr(kinds, colon[1]) - kinds);
        put_message(node, field, &a);
        return;
    }
    switch (colon[1]) {
    case 'f':
        put_float(&a, 2, strtof(value, NULL));
        put_int(&a, 20, 1);
        break;
    case 'F':
        for (size_t n; *value != '\0'; value += n + (value[n] == ',' ? 1 : 0)) {
            n = strcspn(value, ",");
            put_float(&a, 7, strtof(value, NULL));
        }
        put_int(&a, 20, 6);
        break;
    case 'i':
        put_int(&a, 3, strtol(value, NULL, 10));
        put_int(&a, 20, 2);
        break;
    case 's':
        put_text(&a, 4, value);
        put_int(&a, 20, 3);
        break;
    case 'S':
        for (size_t n; *value != '\0'; value += n + (value[n] == ',' ? 1 : 0)) {
            n = strcspn(value, ",");
            put_bytes(&a, 9, value, n);
        }
        put_int(&a, 20, 8);
        break;
    case 'g':
        put_message(&a, 6, sub + (*value != '\0' ? *value - '0' : 0));
        put_int(&a, 20, 5);
        break;
    case 't':
        put_tensor(&a, value);
        put_int(&a, 20, 4);
        break;
    default:
        for (char *at = (char *)(uintptr_t)value; *at != '\0'; at += *at == ',' ? 1 : 0)
            put_int(&a, 8, strtol(at, &at, 10));
        put_int(&a, 20, 7);
        break;
    }
    put_message(node, field, &a);
}

/* "Add" or "domain.Add" or "domain.Add.overload" as these fields. */
static void put_operator(message *m, const char *word, uint32_t type, uint32_t domain, uint32_t overload)
{
    const char *dot = strchr(word, '.'), *last = strrchr(word, '.');
    if (dot == NULL) {
        put_text(m, type, word);
        return;
    }
    put_bytes(m, domain, word, (size_t)(dot - word));
    put_bytes(m, type, dot + 1, last > dot ? (size_t)(last - dot - 1) : strlen(dot + 1));
    if (last > dot)
        put_text(m, overload, last + 1);
}

/* A model from lines that end in ';':
     in NAME TYPE [DIMS]                 const NAME TYPE [DIMS] NUMBERS
     in NAME seq.TYPE [DIMS]             a sequence of tensors; opt.TYPE, opt.seq.TYPE: an optional value
     RESULTS = OP INPUTS ATTRIBUTES
     out NAME                            without any, the result called y is the output
     function RESULTS = NAME INPUTS ATTRIBUTES       begins a function; an attribute without a value is only named
     opset VERSION                       of this function; without it the model's
     graph                               begins a graph, of which the lines up to the line `done` are: body:g= of a node;
                                         body:g=1 is the graph before it, up to g=3
     end                                 of the function
   DIMS: [2,3], [n,3], []. */
static message build(const char *text, int64_t opset)
{
    message graph = {{0}, 0}, model = {{0}, 0}, set = {{0}, 0}, y = {{0}, 0}, function = {{0}, 0},
            sub[4] = {{{0}, 0}, {{0}, 0}, {{0}, 0}, {{0}, 0}};
    message *into = &graph;
    char line[512], word[64], name[64], dims[64];
    bool outputs = false, inside = false, told = false;
    while (*text != '\0') {
        const char *at = line;
        const size_t n = strcspn(text, ";");
        assert_true(n < sizeof(line) && text[n] == ';');
        memcpy(line, text, n);
        line[n] = '\0';
        text += n + 1;
        assert_true(next_word(&at, word));
        if (strcmp(word, "in") == 0 || strcmp(word, "const") == 0) {
            const bool in = strcmp(word, "in") == 0;
            message m = {{0}, 0}, tensor = {{0}, 0}, shape = {{0}, 0}, type = {{0}, 0};
            uint64_t data[64];
            size_t bytes;
            const char *around;
            uint32_t t;
            assert_true(next_word(&at, name) && next_word(&at, word) && next_word(&at, dims));
            around = strrchr(word, '.');
            t = type_named(around != NULL ? around + 1 : word);
            dims[strlen(dims) - 1] = '\0';
            put_dims(in ? &shape : &m, dims + 1, in);
            if (in) {
                put_int(&tensor, 1, types[t].onnx);
                put_message(&tensor, 2, &shape);
                put_message(&type, 1, &tensor);
                for (uint32_t k = 0; around != NULL && k < 2; k++) { /* from the inside: a sequence, an optional value */
                    const message elem = type;
                    message outer = {{0}, 0};
                    if (strstr(word, k == 0 ? "seq." : "opt.") == NULL)
                        continue;
                    put_message(&outer, 1, &elem);
                    type.size = 0;
                    put_message(&type, k == 0 ? 4 : 9, &outer);
                }
                put_text(&m, 1, name);
                put_message(&m, 2, &type);
                put_message(into, 11, &m);
            } else {
                put_int(&m, 2, types[t].onnx);
                put_text(&m, 8, name);
                bytes = numbers(at, types[t].type, data, sizeof(data));
                little((uint8_t *)data, bytes, nnrt_type_size(types[t].type));
                put_bytes(&m, 9, data, bytes);
                put_message(into, 5, &m);
            }
        } else if (strcmp(word, "out") == 0) {
            message m = {{0}, 0};
            assert_true(next_word(&at, name));
            put_text(&m, 1, name);
            put_message(into, 12, &m);
            outputs = outputs || into == &graph;
        } else if (strcmp(word, "graph") == 0) {
            memmove(sub + 1, sub, 3 * sizeof(sub[0]));
            sub[0].size = 0;
            into = sub;
        } else if (strcmp(word, "done") == 0) {
            into = &graph;
        } else if (strcmp(word, "opset") == 0) {
            message own = {{0}, 0};
            assert_true(inside && next_word(&at, word));
            put_int(&own, 2, strtol(word, NULL, 10));
            put_message(&function, 9, &own);
            told = true;
        } else if (strcmp(word, "end") == 0) {
            message own = {{0}, 0};
            assert_true(inside);
            put_int(&own, 2, opset);
            if (!told)
                put_message(&function, 9, &own);
            put_message(&model, 25, &function);
            inside = told = false;
            function.size = 0;
        } else if (strcmp(word, "function") == 0) {
            assert_true(!inside && next_word(&at, word));
            inside = true;
            for (; strcmp(word, "=") != 0; assert_true(next_word(&at, word)))
                put_text(&function, 5, word);
            assert_true(next_word(&at, word));
            put_operator(&function, word, 1, 10, 13);
            while (next_word(&at, word))
                if (strchr(word, '=') != NULL)
                    put_attribute(&function, 11, word, sub);
                else if (strchr(word, ':') != NULL)
                    put_bytes(&function, 6, word, strlen(word) - 1);
                else
                    put_text(&function, 4, word);
        } else {
            message node = {{0}, 0};
            for (; strcmp(word, "=") != 0; assert_true(next_word(&at, word)))
                put_text(&node, 2, strcmp(word, "-") == 0 ? "" : word);
            assert_true(next_word(&at, word));
            put_operator(&node, word, 4, 7, 8);
            while (next_word(&at, word))
                if (strchr(word, ':') != NULL)
                    put_attribute(&node, 5, word, sub);
                else
                    put_text(&node, 1, strcmp(word, "-") == 0 ? "" : word);
            put_message(inside ? &function : into, inside ? 7 : 1, &node);
        }
    }
    put_text(&y, 1, "y");
    put_text(&graph, 2, "g");
    if (!outputs)
        put_message(&graph, 12, &y);
    put_int(&set, 2, opset);
    put_int(&model, 1, 8);
    put_message(&model, 7, &graph);
    put_message(&model, 8, &set);
    return model;
}

/* ---- running ---- */

typedef struct import_case {
    const char *name, *model;
    int64_t opset;
    const char *inputs[3];
    NNRT_ReturnCode code;      /* of import, preparation or run */
    const char *dims, *values; /* or a part of the message */
    double tolerance;          /* relative and absolute; 0: equal, including the sign of zeros */
} import_case;

static bool no_quantize;
static double units; /* by which results of quantized operators may differ: they round twice, ONNX once */

static void compare(const import_case *k, const nnrt_io_info *info, const void *data)
{
    const size_t width = nnrt_type_size(info->dataType);
    const char *at = k->values;
    char word[64], dims[64] = "";
    size_t n = 0;
    for (int32_t i = 0; i < info->shape.rank; i++)
        snprintf(dims + strlen(dims), sizeof(dims) - strlen(dims), "%s%d", i > 0 ? "," : "", (int)info->shape.dims[i]);
    if (strcmp(dims, k->dims) != 0)
        fail_msg("%s: the result is [%s], expected [%s]", k->name, dims, k->dims);
    for (; next_word(&at, word); n++) {
        const double want = strtod(word, NULL);
        double got;
        assert_true((n + 1) * width <= info->bytes);
        got = number_from(info->dataType, (const uint8_t *)data + n * width);
        if (want != want  ? got != got
            : got == want ? k->tolerance > 0 || units > 0 || signbit(got) == signbit(want)
                          : fabs(got - want) <= units + k->tolerance * (1 + fabs(want)))
            continue;
        fail_msg("%s: element %u is %.9g, expected %.9g", k->name, (unsigned)n, got, want);
    }
    assert_int_equal(n * width, info->bytes);
}

/* The upper bounds of y, if its shape is dynamic; rank 0: none are declared. */
static nnrt_dims most_of_y;

/* The dimensions of x, if the model leaves some of several dynamic; rank 0: it does not. */
static nnrt_dims shape_of_x;

/* n: the first input's only dimension, if it is dynamic in the model; 0: it is not. */
static void run_case(const import_case *k, bool optimised, int32_t n)
{
    const nnrt_dims one = {1, {n}}, shape = shape_of_x.rank > 0 ? shape_of_x : one;
    nnrt_bound bound;
    nnrt_session_desc wanted;
    const message m = build(k->model, k->opset);
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    nnrt_onnx_desc desc;
    nnrt_error e;
    NNRT_ReturnCode code;
    bool narrow;
    const char *said = e.message;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    memset(&wanted, 0, sizeof(wanted));
    wanted.inputDims.data = &shape;
    wanted.inputDims.count = n > 0 || shape_of_x.rank > 0 ? 1 : 0;
    bound.tensor = "y";
    bound.most = most_of_y;
    wanted.bounds = nnrt_bound_list_make(&bound, most_of_y.rank > 0 ? 1 : 0);
    desc.no_optimize = !optimised;
    desc.no_quantize = no_quantize;
    code = nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e);
    if (code == NNRT_SUCCESS)
        code = nnrt_session_create(&session, model, &wanted, &e);
    if (code == NNRT_SUCCESS) {
        uint64_t in[3][64], out[128];
        nnrt_io io[3] = {{NULL, 0, NULL}}, y = nnrt_io_make(out, sizeof(out));
        const uint32_t inputs = nnrt_session_inputs(session);
        nnrt_io_info info = nnrt_session_output(session, 0);
        assert_true(inputs <= 3 && info.bytes <= sizeof(out));
        for (uint32_t i = 0; i < inputs; i++) {
            const nnrt_io_info x = nnrt_session_input(session, i);
            io[i] = nnrt_io_make(in[i], numbers(k->inputs[i], x.dataType, in[i], sizeof(in[i])));
            assert_int_equal(io[i].bytes, x.bytes);
        }
        code = nnrt_run(session, io, inputs, &y, 1);
        said = nnrt_session_error(session);
        info = nnrt_session_output(session, 0); /* if dynamic, the shape of this run */
        if (code == NNRT_SUCCESS && k->code == NNRT_SUCCESS)
            compare(k, &info, out);
    }
    narrow = NNRT_MAX_RANK < 5 && strstr(said, "axes, at most") != NULL; /* a build with fewer axes says so */
    if (!narrow && code != k->code)
        fail_msg("%s: %s '%s', expected %s", k->name, nnrt_code_name(code), said, nnrt_code_name(k->code));
    if (!narrow && code != NNRT_SUCCESS && strstr(said, k->values) == NULL)
        fail_msg("%s: '%s' lacks '%s'", k->name, said, k->values);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
}

static void run_cases(const import_case *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        run_case(&cases[i], true, 0);
        run_case(&cases[i], false, 0);
    }
}

/* ---- cases ---- */

/* An index outside of its axis names no element, even if the element of another row is there. */
static void test_gather_range(void **state)
{
    static const import_case cases[] = {
        {"GatherElements",
         "in x f32 [2,3]; in i i64 [2,2]; y = GatherElements x i axis:i=1;",
         17,
         {"0 1 2 3 4 5", "2 0 -3 -1"},
         NNRT_SUCCESS,
         "2,2",
         "2 0 3 5",
         0},
        {"GatherElements, axis 0, int32",
         "in x f32 [2,3]; in i i32 [1,3]; y = GatherElements x i;",
         17,
         {"0 1 2 3 4 5", "1 0 -1"},
         NNRT_SUCCESS,
         "1,3",
         "3 1 5",
         0},
        {"GatherElements, one behind",
         "in x f32 [2,3]; in i i64 [2,2]; y = GatherElements x i axis:i=1;",
         17,
         {"0 1 2 3 4 5", "3 0 0 0"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "GATHER",
         0},
        {"GatherElements, one before",
         "in x f32 [2,3]; in i i64 [2,2]; y = GatherElements x i axis:i=1;",
         17,
         {"0 1 2 3 4 5", "0 0 -4 0"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "GATHER",
         0},
        {"GatherElements, the least",
         "in x f32 [2,3]; in i i64 [2,2]; y = GatherElements x i axis:i=1;",
         17,
         {"0 1 2 3 4 5", "0 0 -9.2e18 0"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "GATHER",
         0},
        {"GatherND",
         "in x f32 [2,3]; in i i64 [2,2]; y = GatherND x i;",
         17,
         {"0 1 2 3 4 5", "1 2 -2 -3"},
         NNRT_SUCCESS,
         "2",
         "5 0",
         0},
        {"GatherND of rows",
         "in x f32 [3,2]; in i i32 [2,1]; y = GatherND x i;",
         17,
         {"0 1 2 3 4 5", "2 -2"},
         NNRT_SUCCESS,
         "2,2",
         "4 5 2 3",
         0},
        {"GatherND, second axis",
         "in x f32 [2,3]; in i i64 [2,2]; y = GatherND x i;",
         17,
         {"0 1 2 3 4 5", "0 3 0 0"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "GATHER",
         0},
        {"GatherND, second axis from the end",
         "in x f32 [2,3]; in i i64 [2,2]; y = GatherND x i;",
         17,
         {"0 1 2 3 4 5", "1 -4 0 0"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "GATHER",
         0},
        {"GatherND, first axis",
         "in x f32 [2,3]; in i i64 [2,2]; y = GatherND x i;",
         17,
         {"0 1 2 3 4 5", "2 -3 0 0"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "GATHER",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* Operators that move elements, in cases that ONNX's own tests omit. */
static void test_moves(void **state)
{
    static const import_case cases[] = {
        {"GatherND, batches",
         "in x f32 [2,2,2]; in i i64 [2,1]; y = GatherND x i batch_dims:i=1;",
         17,
         {"0 1 2 3 4 5 6 7", "1 -2"},
         NNRT_SUCCESS,
         "2,2",
         "2 3 4 5",
         0},
        {"GatherND, two axes of batches",
         "in x f32 [2,2,2]; in i i64 [2,2,1]; y = GatherND x i batch_dims:i=2;",
         17,
         {"0 1 2 3 4 5 6 7", "1 0 0 1"},
         NNRT_SUCCESS,
         "2,2",
         "1 2 4 7",
         0},
        {"GatherND, other batches",
         "in x f32 [2,2,2]; in i i64 [1,1]; y = GatherND x i batch_dims:i=1;",
         17,
         {"0 1 2 3 4 5 6 7", "1"},
         NNRT_INVALID_SHAPE,
         NULL,
         "'i' is int64[1,1], expected",
         0},
        {"GatherND, too many batches",
         "in x f32 [2,2]; in i i64 [2,1]; y = GatherND x i batch_dims:i=2;",
         17,
         {"0 1 2 3", "1 0"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "batch_dims is 2",
         0},
        {"ConstantOfShape, a float64",
         "in x f64 [2]; const s i64 [1] 2; c = ConstantOfShape s value:t=f64,0.1; y = Add x c;",
         9,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "1.1 2.1",
         0},
        {"ConstantOfShape, an int64",
         "in x i64 [2]; const s i64 [1] 2; c = ConstantOfShape s value:t=i64,1073741825; y = Add x c;",
         9,
         {"0 -1"},
         NNRT_SUCCESS,
         "2",
         "1073741825 1073741824",
         0},
        {"ConstantOfShape, minus 0",
         "in x f32 [1]; s = Shape x; y = ConstantOfShape s value:t=f32,-0;",
         9,
         {"0"},
         NNRT_SUCCESS,
         "1",
         "-0",
         0},
        {"Expand to fewer axes",
         "in x f32 [2,1]; const s i64 [1] 2; y = Expand x s;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "2,2",
         "1 1 2 2",
         0},
        {"Expand of x where the shape has 1",
         "in x f32 [2,1]; const s i64 [3] 2 1 1; y = Expand x s;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "2,2,1",
         "1 2 1 2",
         0},
        {"Expand to -1",
         "in x f32 [2,1]; const s i64 [2] -1 2; y = Expand x s;",
         13,
         {"1 2"},
         NNRT_INVALID_SHAPE,
         NULL,
         "shape[0] is -1, expected 0 or more",
         0},
        {"Pad, the edge, negative ones, too",
         "in x f32 [3]; const p i64 [2] 2 -1; y = Pad x p mode:s=edge;",
         13,
         {"1 2 3"},
         NNRT_SUCCESS,
         "4",
         "1 1 1 2",
         0},
        {"Pad, around, more than there is",
         "in x f32 [3]; const p i64 [2] 2 7; y = Pad x p mode:s=wrap;",
         19,
         {"1 2 3"},
         NNRT_SUCCESS,
         "12",
         "2 3 1 2 3 1 2 3 1 2 3 1",
         0},
        {"Pad, around, after a negative pad",
         "in x f32 [3]; const p i64 [2] -1 3; y = Pad x p mode:s=wrap;",
         19,
         {"1 2 3"},
         NNRT_SUCCESS,
         "5",
         "2 3 2 3 2",
         0},
        {"Pad, around two axes",
         "in x f32 [2,3]; const p i64 [4] 1 2 0 1; y = Pad x p mode:s=wrap;",
         25,
         {"0 1 2 3 4 5"},
         NNRT_SUCCESS,
         "3,6",
         "4 5 3 4 5 3 1 2 0 1 2 0 4 5 3 4 5 3",
         0},
        {"Pad, around one of two axes",
         "in x i64 [2,3]; const p i64 [2] 1 4; const a i64 [1] 1; y = Pad x p - a mode:s=wrap;",
         19,
         {"0 1 2 3 4 5"},
         NNRT_SUCCESS,
         "2,8",
         "2 0 1 2 0 1 2 0 5 3 4 5 3 4 5 3",
         0},
        {"Pad, around nothing",
         "in x f32 [0]; const p i64 [2] 1 0; y = Pad x p mode:s=wrap;",
         19,
         {""},
         NNRT_INVALID_SHAPE,
         NULL,
         "mode is wrap",
         0},
        {"Pad, around, with dynamic pads",
         "in x f32 [3]; in p i64 [2]; y = Pad x p mode:s=wrap;",
         19,
         {"1 2 3", "1 1"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "pads",
         0},
        {"Pad, around, before there was one",
         "in x f32 [3]; const p i64 [2] 1 0; y = Pad x p mode:s=wrap;",
         18,
         {"1 2 3"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "'wrap'",
         0},
        {"Pad, the edge, some axes",
         "in x f32 [2,2]; const p i64 [2] 1 2; const v f32 [] 7; const a i64 [1] -1; y = Pad x p v a mode:s=edge;",
         18,
         {"1 2 3 4"},
         NNRT_SUCCESS,
         "2,5",
         "1 1 2 2 2 3 3 4 4 4",
         0},
        {"Range downwards",
         "const s i32 [] 5; const e i32 [] 0; const d i32 [] -2; in x i32 [3]; r = Range s e d; "
         "y = Add x r;",
         11,
         {"0 0 0"},
         NNRT_SUCCESS,
         "3",
         "5 3 1",
         0},
        {"Range by nothing",
         "const s i32 [] 5; const e i32 [] 0; const d i32 [] 0; in x i32 [3]; r = Range s e d; y = Add x r;",
         11,
         {"0 0 0"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "delta is 0",
         0},
        {"CumSum along an axis that is an input",
         "in x i32 [2,2]; in a i32 []; y = CumSum x a exclusive:i=1 reverse:i=1;",
         14,
         {"1 2 3 4", "-2"},
         NNRT_SUCCESS,
         "2,2",
         "3 4 0 0",
         0},
        {"CumSum along an axis that is not there",
         "in x i32 [2,2]; in a i64 []; y = CumSum x a;",
         14,
         {"1 2 3 4", "2"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "axis is 2",
         0},
        {"ScatterND, a sum",
         "in x f32 [3]; const i i64 [3,1] 2 0 -1; in u f32 [3]; y = ScatterND x i u reduction:s=add;",
         16,
         {"1 2 3", "10 20 30"},
         NNRT_SUCCESS,
         "3",
         "21 2 43",
         0},
        {"ScatterND into zeros",
         "const x f32 [3] 0 0 0; const i i64 [2,1] 2 0; in u f32 [2]; y = ScatterND x i u;",
         11,
         {"10 20"},
         NNRT_SUCCESS,
         "3",
         "20 0 10",
         0},
        {"ScatterND into others",
         "in x f32 [3]; const i i64 [2,1] 2 0; in u f32 [2]; y = ScatterND x i u;",
         11,
         {"1 2 3", "10 20"},
         NNRT_SUCCESS,
         "3",
         "20 2 10",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* Reductions, where ONNX's own tests do not look. ln 3 = 1.09861229, ln(1 + e) = 1.31326169. */
static void test_reductions(void **state)
{
    static const import_case cases[] = {
        {"ReduceMax of nothing", "in x f32 [2,0]; const a i64 [1] 1; y = ReduceMax x a keepdims:i=0;",
         18,
         {""},
         NNRT_SUCCESS,
         "2",
         "-inf -inf",
         0},
        {"ReduceMin of nothing, all axes", "in x f32 [2,0]; y = ReduceMin x;",
         18,
         {""},
         NNRT_SUCCESS,
         "1,1",
         "inf",
         0},
        {"ReduceMin of nothing, axes as an attribute", "in x f16 [0,2]; y = ReduceMin x axes:I=-2;",
         13,
         {""},
         NNRT_SUCCESS,
         "1,2",
         "inf inf",
         0},
        {"ReduceMax of no bytes", "in x u8 [0]; y = ReduceMax x;",
         18,
         {""},
         NNRT_SUCCESS,
         "1",
         "0",
         0},
        {"ReduceMin of no bytes", "in x u8 [0]; y = ReduceMin x;",
         18,
         {""},
         NNRT_SUCCESS,
         "1",
         "255",
         0},
        {"ReduceMax of no int8", "in x i8 [0]; y = ReduceMax x;",
         18,
         {""},
         NNRT_SUCCESS,
         "1",
         "-128",
         0},
        {"ReduceMin of no int32", "in x i32 [0]; y = ReduceMin x;",
         18,
         {""},
         NNRT_SUCCESS,
         "1",
         "2147483647",
         0},
        {"ReduceMax of no int64", "in x i64 [0]; y = ReduceMax x;",
         18,
         {""},
         NNRT_SUCCESS,
         "1",
         "-9223372036854775808",
         0},
        {"ReduceMin of no int64", "in x i64 [0]; y = ReduceMin x;",
         18,
         {""},
         NNRT_SUCCESS,
         "1",
         "9223372036854775807",
         0},
        {"ReduceMax of no bool", "in x bool [0]; y = ReduceMax x;",
         20,
         {""},
         NNRT_SUCCESS,
         "1",
         "0",
         0},
        {"ReduceMin of no bool", "in x bool [0]; y = ReduceMin x;",
         20,
         {""},
         NNRT_SUCCESS,
         "1",
         "1",
         0},
        {"ReduceLogSumExp of nothing", "in x f32 [2,0]; const a i64 [1] -1; y = ReduceLogSumExp x a;",
         18,
         {""},
         NNRT_SUCCESS,
         "2,1",
         "-inf -inf",
         0},
        {"ReduceLogSumExp of nothing, float64", "in x f64 [0]; y = ReduceLogSumExp x keepdims:i=0;",
         18,
         {""},
         NNRT_SUCCESS,
         "",
         "-inf",
         0},
        {"ReduceMax of nothing, dynamic axes",
         "in x f32 [2,0,3]; in a i64 [1]; y = ReduceMax x a;",
         18,
         {"", "1"},
         NNRT_SUCCESS,
         "2,1,3",
         "-inf -inf -inf -inf -inf -inf",
         0},
        {"ReduceMin of nothing, dynamic axes beside the empty one",
         "in x f32 [2,0]; in a i64 [1]; y = ReduceMin x a;",
         18,
         {"", "0"},
         NNRT_SUCCESS,
         "1,0",
         "",
         0},
        {"ReduceLogSumExp of nothing, dynamic axes",
         "in x f32 [2,0]; in a i64 [1]; y = ReduceLogSumExp x a;",
         18,
         {"", "1"},
         NNRT_SUCCESS,
         "2,1",
         "-inf -inf",
         0},
        {"ReduceMax of no rows, along others", "in x f32 [0,2]; const a i64 [1] 1; y = ReduceMax x a;",
         18,
         {""},
         NNRT_SUCCESS,
         "0,1",
         "",
         0},
        {"LogSoftmax, float64",
         "in x f64 [1,3]; y = LogSoftmax x;",
         13,
         {"1 1e308 -1"},
         NNRT_SUCCESS,
         "1,3",
         "-1e308 0 -1e308",
         1e-14},
        {"ReduceLogSumExp",
         "in x f32 [2,3]; y = ReduceLogSumExp x axes:I=1 keepdims:i=0;",
         13,
         {"-1000 -1000 -1000 1e30 5 7"},
         NNRT_SUCCESS,
         "2",
         "-998.901388 1e30",
         1e-6},
        {"ReduceLogSumExp of infinities",
         "in x f32 [4,2]; y = ReduceLogSumExp x axes:I=1;",
         13,
         {"inf 1 -inf -inf -inf 2 nan 1"},
         NNRT_SUCCESS,
         "4,1",
         "inf -inf 2 nan",
         0},
        {"ReduceLogSumExp, float64",
         "in x f64 [2,2]; y = ReduceLogSumExp x axes:I=-1 keepdims:i=0;",
         13,
         {"1e300 1 0 1"},
         NNRT_SUCCESS,
         "2",
         "1e300 1.3132616875182228",
         1e-14},
        {"ReduceLogSumExp, float16, of more than float16 holds",
         "in x f16 [3]; y = ReduceLogSumExp x axes:I=0;",
         13,
         {"60000 60000 -60000"},
         NNRT_SUCCESS,
         "1",
         "60000",
         1e-3},
        {"ReduceLogSumExp along axes that are an input",
         "in x f32 [1,1]; in a i64 [1]; y = ReduceLogSumExp x a;",
         18,
         {"5", "0"},
         NNRT_SUCCESS,
         "1,1",
         "5",
         0},
        {"ReduceLogSum",
         "in x f32 [2,2]; const a i64 [1] 1; y = ReduceLogSum x a keepdims:i=0;",
         18,
         {"1 2 0 -1"},
         NNRT_SUCCESS,
         "2",
         "1.09861229 nan",
         1e-6},
        {"ReduceLogSum of no axes",
         "in x f32 [2]; const a i64 [0]; y = ReduceLogSum x a noop_with_empty_axes:i=1;",
         18,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "0 0.693147182",
         1e-6},
        {"ReduceMax of bools",
         "in x f32 [2,2]; const z f32 [] 0; b = Less x z; m = ReduceMax b axes:I=1 keepdims:i=0; y = Cast m to:i=1;",
         13,
         {"1 -1 1 1"},
         NNRT_SUCCESS,
         "2",
         "1 0",
         0},
        {"ReduceMin of bools",
         "in x f32 [2,2]; const z f32 [] 0; b = Less x z; m = ReduceMin b axes:I=1 keepdims:i=0; y = Cast m to:i=1;",
         13,
         {"1 -1 -1 -1"},
         NNRT_SUCCESS,
         "2",
         "0 1",
         0},
        {"ArgMin of the least integers",
         "in x i32 [4]; y = ArgMin x keepdims:i=0;",
         13,
         {"2147483647 -2147483648 0 -2147483648"},
         NNRT_SUCCESS,
         "",
         "1",
         0},
        {"ArgMin, the last one",
         "in x u8 [4]; y = ArgMin x select_last_index:i=1;",
         13,
         {"255 0 7 0"},
         NNRT_SUCCESS,
         "1",
         "3",
         0},
        {"TopK of the smallest",
         "in x i32 [4]; const k i64 [1] 3; y = TopK x k largest:i=0;",
         11,
         {"2147483647 -2147483648 0 -2147483648"},
         NNRT_SUCCESS,
         "3",
         "-2147483648 -2147483648 0",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* A window that would begin in the padding after the data is dropped; with count_include_pad all padding elements count, but
   not elements that ceil_mode adds after them. x = 1 2 3: with kernel 3, stride 3 and pads 0,1 the windows are [1 2 3] and [0
   ..], which begins after the data. */
static void test_average_pool(void **state)
{
    static const import_case cases[] = {
        {"one behind the data",
         "in x f32 [1,1,3]; y = AveragePool x kernel_shape:I=3 strides:I=3 pads:I=0,1 ceil_mode:i=1 "
         "count_include_pad:i=1;",
         19,
         {"1 2 3"},
         NNRT_SUCCESS,
         "1,1,1",
         "2",
         0},
        /* windows [0 1 2] [3 4 0], then one from cell 6 on, which is padding */
        {"both paddings",
         "in x f32 [1,1,4]; y = AveragePool x kernel_shape:I=3 strides:I=3 pads:I=1,2 ceil_mode:i=1 "
         "count_include_pad:i=1;",
         19,
         {"1 2 3 4"},
         NNRT_SUCCESS,
         "1,1,2",
         "1 2.33333333",
         1e-6},
        /* windows [1 2 3 4] and [4 5 0 .], whose last element is outside the padding: the sum is divided by 3 */
        {"in the padding only by its end",
         "in x f32 [1,1,5]; y = AveragePool x kernel_shape:I=4 strides:I=3 pads:I=0,1 ceil_mode:i=1 "
         "count_include_pad:i=1;",
         19,
         {"1 2 3 4 5"},
         NNRT_SUCCESS,
         "1,1,2",
         "2.5 3",
         0},
        /* one window, which reaches past the end */
        {"larger than x",
         "in x f32 [1,1,2]; y = AveragePool x kernel_shape:I=3 strides:I=3 ceil_mode:i=1;",
         19,
         {"1 2"},
         NNRT_SUCCESS,
         "1,1,1",
         "1.5",
         0},
        {"larger than x and its padding",
         "in x f32 [1,1,2]; y = AveragePool x kernel_shape:I=4 strides:I=2 pads:I=1,0 ceil_mode:i=1 "
         "count_include_pad:i=1;",
         19,
         {"1 2"},
         NNRT_SUCCESS,
         "1,1,1",
         "1",
         0},
        {"larger than x, its largest",
         "in x f32 [1,1,2]; y = MaxPool x kernel_shape:I=3 strides:I=3 ceil_mode:i=1;",
         19,
         {"-1 -2"},
         NNRT_SUCCESS,
         "1,1,1",
         "-1",
         0},
        {"larger by a stride",
         "in x f32 [1,1,2]; y = MaxPool x kernel_shape:I=5 strides:I=3 ceil_mode:i=1;",
         19,
         {"-1 -2"},
         NNRT_INVALID_SHAPE,
         NULL,
         "smaller than the window of 5",
         0},
        {"not counted",
         "in x f32 [1,1,3]; y = AveragePool x kernel_shape:I=3 strides:I=3 pads:I=0,1 ceil_mode:i=1;",
         19,
         {"1 2 3"},
         NNRT_SUCCESS,
         "1,1,1",
         "2",
         0},
        /* floor: [0 1], [2 3] */
        {"floor",
         "in x f32 [1,1,3]; y = AveragePool x kernel_shape:I=2 strides:I=2 pads:I=1,1 count_include_pad:i=1;",
         19,
         {"1 2 3"},
         NNRT_SUCCESS,
         "1,1,2",
         "0.5 2.5",
         0},
        /* out = 2, one cell of padding: last, or first; kernel 2 */
        {"SAME_UPPER",
         "in x f32 [1,1,3]; y = AveragePool x kernel_shape:I=2 strides:I=2 auto_pad:s=SAME_UPPER "
         "count_include_pad:i=1;",
         19,
         {"1 2 3"},
         NNRT_SUCCESS,
         "1,1,2",
         "1.5 1.5",
         0},
        {"SAME_LOWER",
         "in x f32 [1,1,3]; y = AveragePool x kernel_shape:I=2 strides:I=2 auto_pad:s=SAME_LOWER "
         "count_include_pad:i=1;",
         19,
         {"1 2 3"},
         NNRT_SUCCESS,
         "1,1,2",
         "0.5 2.5",
         0},
        /* rows: 0, and 3, which is after the data; columns: 0 1, and 2, with one after all padding */
        {"one axis drops a window, the other keeps one",
         "in x f32 [1,1,3,3]; y = AveragePool x kernel_shape:I=1,2 strides:I=3,2 ceil_mode:i=1;",
         19,
         {"1 2 3 4 5 6 7 8 9"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "1.5 3",
         0},
        {"the same, with padding counted",
         "in x f32 [1,1,3,3]; y = AveragePool x kernel_shape:I=1,2 strides:I=3,2 ceil_mode:i=1 count_include_pad:i=1;",
         19,
         {"1 2 3 4 5 6 7 8 9"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "1.5 3",
         0},
        {"one axis drops a window, the other has none more",
         "in x f32 [1,1,3,2]; y = AveragePool x kernel_shape:I=1,2 strides:I=3,2 pads:I=0,1,0,1 ceil_mode:i=1 "
         "count_include_pad:i=1;",
         19,
         {"1 2 3 4 5 6"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "0.5 1",
         0},
        {"paddings of more than the window",
         "in x f32 [1,1,3]; y = AveragePool x kernel_shape:I=2 pads:I=2,0 count_include_pad:i=1;",
         19,
         {"1 2 3"},
         NNRT_INVALID_SHAPE,
         NULL,
         "the first window covers no input element",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* Interpolating operators, in cases that ONNX's own tests of these versions omit: the DeformConv tests of later versions, and
   invalid models. */
static void test_sampling(void **state)
{
#define DEFORMED "in x f32 [1,1,3,3]; in o f32 [1,8,2,2]; const w f32 [1,1,2,2] 1 1 1 1; "
#define OFFSETS "0.5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -0.1 0 0 0 0 0 0 0 0 0 0"
    static const import_case cases[] = {
        {"MaxPool with dilations",
         "in x f32 [1,1,5]; y = MaxPool x kernel_shape:I=2 dilations:I=2;",
         10,
         {"1 5 2 4 3"},
         NNRT_SUCCESS,
         "1,1,3",
         "2 5 3",
         0},
        {"MaxPool with dilations, the places",
         "in x f32 [1,1,5]; t y = MaxPool x kernel_shape:I=2 dilations:I=2;",
         10,
         {"1 5 2 4 3"},
         NNRT_SUCCESS,
         "1,1,3",
         "2 1 4",
         0},
        {"MaxPool with dilations of int8",
         "in x i8 [1,1,1,5]; y = MaxPool x kernel_shape:I=1,2 dilations:I=1,2;",
         12,
         {"-1 5 -2 4 -3"},
         NNRT_SUCCESS,
         "1,1,1,3",
         "-1 5 -2",
         0},
        {"MaxPool with dilations, places with columns first",
         "in x f32 [1,1,2,5]; t y = MaxPool x kernel_shape:I=1,2 dilations:I=1,2 storage_order:i=1;",
         12,
         {"1 5 2 4 3 1 5 2 4 3"},
         NNRT_SUCCESS,
         "1,1,2,3",
         "4 2 8 5 3 9",
         0},
        {"AveragePool with dilations",
         "in x f32 [1,1,1,5]; y = AveragePool x kernel_shape:I=1,2 dilations:I=1,2 pads:I=0,1,0,1;",
         19,
         {"1 5 2 4 3"},
         NNRT_SUCCESS,
         "1,1,1,5",
         "5 1.5 4.5 2.5 4",
         0},
        {"an image that is turned, and an operator that finds channels where the rows went",
         "in x f32 [1,2,1,2]; a = MaxPool x kernel_shape:I=1,1; b = Transpose a perm:I=0,2,3,1; c = Relu b; "
         "y = MaxPool c kernel_shape:I=1,2;",
         13,
         {"1 -2 3 4"},
         NNRT_SUCCESS,
         "1,1,2,1",
         "3 4",
         0},
        {"an image that is turned beside one that is not",
         "in x f32 [1,2,2,2]; a = MaxPool x kernel_shape:I=1,1; b = Transpose a perm:I=0,2,3,1; c = Relu b; "
         "y = Concat c a axis:i=0;",
         13,
         {"1 -2 3 -4 5 6 -7 8"},
         NNRT_SUCCESS,
         "2,2,2,2",
         "1 5 0 6 3 0 0 8 1 -2 3 -4 5 6 -7 8",
         0},
        {"MaxUnpool, indices that count in the output shape",
         "in x f32 [1,1,2,2]; const i i64 [1,1,2,2] 6 8 16 18; const s i64 [4] 1 1 5 5; y = MaxUnpool x i s "
         "kernel_shape:I=2,2 strides:I=2,2;",
         11,
         {"1 2 3 4"},
         NNRT_SUCCESS,
         "1,1,5,5",
         "0 0 0 0 0 0 1 0 2 0 0 0 0 0 0 0 3 0 4 0 0 0 0 0 0",
         0},
        {"GridSample, bicubic",
         "in x f32 [1,1,1,4]; const g f32 [1,1,2,2] 0 0 -0.5 0; y = GridSample x g mode:s=bicubic;",
         16,
         {"1 2 4 8"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "2.71875 1.40625",
         1e-6},
        {"DeformConv",
         DEFORMED "y = DeformConv x w o kernel_shape:I=2,2 pads:I=0,0,0,0;",
         19,
         {"0 1 2 3 4 5 6 7 8", OFFSETS},
         NNRT_SUCCESS,
         "1,1,2,2",
         "9.5 11.9 20 24",
         1e-6},
        {"DeformConv, mask and bias",
         DEFORMED "const b f32 [1] 1; const m f32 [1,4,2,2] 1 1 1 1 1 1 1 1 1 1 1 0.2 1 1 1 1; "
                  "y = DeformConv x w o b m;",
         19,
         {"0 1 2 3 4 5 6 7 8", OFFSETS},
         NNRT_SUCCESS,
         "1,1,2,2",
         "10.5 12.9 21 19.4",
         1e-6},
        {"DeformConv, mask without bias",
         DEFORMED "const m f32 [1,4,2,2] 1 1 1 1 1 1 1 1 1 1 1 0.2 1 1 1 1; y = DeformConv x w o - m;",
         19,
         {"0 1 2 3 4 5 6 7 8", OFFSETS},
         NNRT_SUCCESS,
         "1,1,2,2",
         "9.5 11.9 20 18.4",
         1e-6},
        {"DeformConv, paddings of one side", /* top 1 alone: one row more */
         "in x f32 [1,1,2,2]; in o f32 [1,2,3,2]; const w f32 [1,1,1,1] 2; y = DeformConv x w o pads:I=1,0,0,0;",
         19,
         {"1 2 3 4", "0 0 0 0 0 0 0 0 0 0 0 0"},
         NNRT_SUCCESS,
         "1,1,3,2",
         "0 0 2 4 6 8",
         0},
        {"DeformConv of one axis",
         "in x f32 [1,1,3]; in o f32 [1,1,3]; const w f32 [1,1,1] 1; y = DeformConv x w o;",
         19,
         {"1 2 3", "0 0 0"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "only two spatial axes",
         0},
        {"DeformConv, another kernel",
         DEFORMED "y = DeformConv x w o kernel_shape:I=3,2;",
         19,
         {"0 1 2 3 4 5 6 7 8", OFFSETS},
         NNRT_INVALID_PARAMETER,
         NULL,
         "kernel_shape is 3, but the kernel size of the weight is 2",
         0},
        /* a region of one cell around (1,1), as it is before operator set 16: its middle is (1.5,1.5) */
        {"RoiAlign without half a pixel",
         "in x f32 [1,1,3,3]; const r f32 [1,4] 1 1 2 2; const b i64 [1] 0; y = RoiAlign x r b;",
         10,
         {"0 1 2 3 4 5 6 7 8"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "6",
         0},
        {"RoiAlign with half a pixel",
         "in x f32 [1,1,3,3]; const r f32 [1,4] 1 1 2 2; const b i64 [1] 0; y = RoiAlign x r b;",
         16,
         {"0 1 2 3 4 5 6 7 8"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "4",
         0},
        {"RoiAlign, the largest",
         "in x f32 [1,1,3,3]; const r f32 [1,4] 1 1 2 2; const b i64 [1] 0; y = RoiAlign x r b mode:s=max;",
         16,
         {"0 1 2 3 4 5 6 7 8"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "4",
         0},
        {"RoiAlign, the largest of four weighted cells", /* 4 * 9/16, of all samples */
         "in x f32 [1,1,3,3]; const r f32 [1,4] 1 1 2 2; const b i64 [1] 0; y = RoiAlign x r b mode:s=max sampling_ratio:i=2;",
         16,
         {"0 1 2 3 4 5 6 7 8"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "2.25",
         0},
        {"RoiAlign, no scale",
         "in x f32 [1,1,3,3]; const r f32 [1,4] 1 1 2 2; const b i64 [1] 0; y = RoiAlign x r b spatial_scale:f=0;",
         16,
         {"0 1 2 3 4 5 6 7 8"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "spatial_scale is 0",
         0},
        {"RoiAlign, an image that is not there",
         "in x f32 [1,1,3,3]; const r f32 [1,4] 1 1 2 2; const b i64 [1] 1; y = RoiAlign x r b;",
         16,
         {"0 1 2 3 4 5 6 7 8"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "batchIndices[0] is 1",
         0},
        {"GridSample, linear as operator set 20 calls it",
         "in x f32 [1,1,2,2]; const g f32 [1,1,2,2] 0 0 -1 -1; y = GridSample x g mode:s=linear align_corners:i=1;",
         20,
         {"0 1 2 3"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "1.5 0",
         0},
        {"GridSample of a volume",
         "in x f32 [1,1,2,2,2]; const g f32 [1,1,1,3,3] 0 0.5 -0.5 1 -1 0.25 -2 0 0; y = GridSample x g "
         "mode:s=linear;",
         20,
         {"0 1 2 3 4 5 6 7"},
         NNRT_SUCCESS,
         "1,1,1,1,3",
         "2.5 1 0",
         1e-6},
        {"GridSample of a volume, the border",
         "in x f32 [1,1,2,2,2]; const g f32 [1,1,1,3,3] 0 0.5 -0.5 1 -1 0.25 -2 0 0; y = GridSample x g "
         "padding_mode:s=border;",
         16,
         {"0 1 2 3 4 5 6 7"},
         NNRT_SUCCESS,
         "1,1,1,1,3",
         "2.5 4 3",
         1e-6},
        {"GridSample of a volume, aligned and reflected",
         "in x f32 [1,1,2,2,2]; const g f32 [1,1,1,3,3] 0 0.5 -0.5 1 -1 0.25 -2 0 0; y = GridSample x g "
         "padding_mode:s=reflection align_corners:i=1;",
         22,
         {"0 1 2 3 4 5 6 7"},
         NNRT_SUCCESS,
         "1,1,1,1,3",
         "3 3.5 3.5",
         1e-6},
        {"GridSample of a volume, cubic",
         "in x f32 [1,1,2,2,2]; const g f32 [1,1,1,3,3] 0 0.5 -0.5 1 -1 0.25 -2 0 0; y = GridSample x g "
         "mode:s=cubic;",
         20,
         {"0 1 2 3 4 5 6 7"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "method is CUBIC",
         0},
    };
    (void)state;
    run_cases(cases, NNRT_MAX_RANK < 5 ? COUNT(cases) - 1 : COUNT(cases));
}

/* Expected values are numpy's. */
static void test_normalisation(void **state)
{
    static const import_case cases[] = {
        {"InstanceNormalization of one axis",
         "in x f32 [1,2,3]; const s f32 [2] 1 2; const o f32 [2] 0 10; y = InstanceNormalization x s o;",
         6,
         {"1 2 3 3 2 1"},
         NNRT_SUCCESS,
         "1,2,3",
         "-1.22473569 0 1.22473569 12.4494714 10 7.55052863",
         1e-6},
        {"InstanceNormalization without epsilon",
         "in x f32 [1,2,3]; const s f32 [2] 1 2; const o f32 [2] 0 10; y = InstanceNormalization x s o epsilon:f=0;",
         6,
         {"1 2 3 3 2 1"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "epsilon is 0",
         0},
        {"GroupNormalization, by groups",
         "in x f32 [1,4,3]; in s f32 [2]; in o f32 [2]; y = GroupNormalization x s o num_groups:i=2;",
         18,
         {"0 1 2 3 4 5 6 7 8 9 10 11", "1 2", "10 20"},
         NNRT_SUCCESS,
         "1,4,3",
         "8.5361524 9.12169144 9.70723048 10.2927695 10.8783086 11.4638476 17.0723048 18.2433829 19.414461 20.585539 "
         "21.7566171 22.9276952",
         1e-6},
        {"GroupNormalization, by channels",
         "in x f32 [1,4,3]; in s f32 [4]; in o f32 [4]; y = GroupNormalization x s o num_groups:i=2;",
         21,
         {"0 1 2 3 4 5 6 7 8 9 10 11", "1 2 3 4", "0 10 20 30"},
         NNRT_SUCCESS,
         "1,4,3",
         "-1.4638476 -0.87830856 -0.29276952 10.585539 11.7566171 12.9276952 15.6084572 17.3650743 19.1216914 "
         "31.1710781 33.5132342 35.8553904",
         1e-6},
        {"GroupNormalization, by groups where channels are meant",
         "in x f32 [1,4,3]; in s f32 [2]; in o f32 [2]; y = GroupNormalization x s o num_groups:i=2;",
         21,
         {"0 1 2 3 4 5 6 7 8 9 10 11", "1 2", "10 20"},
         NNRT_INVALID_SHAPE,
         NULL,
         "C is 4 in input 0 (x)",
         0},
        {"GroupNormalization of no groups",
         "in x f32 [1,4,3]; in s f32 [2]; in o f32 [2]; y = GroupNormalization x s o num_groups:i=0;",
         18,
         {"0 1 2 3 4 5 6 7 8 9 10 11", "1 2", "10 20"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "num_groups is 0",
         0},
        {"LpNormalization",
         "in x f32 [3,2]; y = LpNormalization x;",
         1,
         {"3 -4 0 0 1e-15 0"},
         NNRT_SUCCESS,
         "3,2",
         "0.6 -0.8 0 0 1 0",
         1e-6},
        {"LpNormalization, absolute values",
         "in x f32 [2,2]; y = LpNormalization x axis:i=0 p:i=1;",
         22,
         {"3 -4 1 4"},
         NNRT_SUCCESS,
         "2,2",
         "0.75 -0.5 0.25 0.5",
         0},
        {"LpNormalization, third powers",
         "in x f32 [2,2]; y = LpNormalization x p:i=3;",
         22,
         {"3 -4 1 4"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "p is 3",
         0},
        {"LRN of a matrix",
         "in x f32 [1,5]; y = LRN x size:i=3 alpha:f=0.3 beta:f=0.5;",
         13,
         {"1 2 3 4 5"},
         NNRT_SUCCESS,
         "1,5",
         "0.816496581 1.29099445 1.51910905 1.63299316 2.21403721",
         1e-6},
        /* 1 / (1 + 1 + 4), 2 / (1 + 4 + 9), 3 / (1 + 9 + 16), 4 / (1 + 16): a neighbor more behind than before */
        {"LRN, an even size", "in x f32 [1,4,1,1]; y = LRN x size:i=2 alpha:f=2 beta:f=1 bias:f=1;", 13, {"1 2 3 4"}, NNRT_SUCCESS,
         "1,4,1,1", "0.166666667 0.142857143 0.115384615 0.235294118", 1e-6},
        /* 1 / (1 + 1 + 4 + 9), 2 / (1 + 30), 3 / (1 + 29), 4 / (1 + 25) */
        {"LRN, four channels of 2 axes", "in x f32 [1,4]; y = LRN x size:i=4 alpha:f=4 beta:f=1 bias:f=1;", 13, {"1 2 3 4"}, NNRT_SUCCESS,
         "1,4", "0.0666666667 0.064516129 0.1 0.153846154", 1e-6},
        {"LRN, a large even size", "in x f32 [1,2]; y = LRN x size:i=2000000000 alpha:f=2e9 beta:f=1 bias:f=1;", 13, {"1 2"},
         NNRT_SUCCESS, "1,2", "0.166666667 0.333333333", 1e-6}, /* 1 / 6, 2 / 6 */
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* Cases that ONNX's own tests omit: expected values by hand, or numpy's. */
static void test_left_out(void **state)
{
    static const import_case cases[] = {
        {"MeanVarianceNormalization of rows",
         "in x f32 [2,2]; y = MeanVarianceNormalization x axes:I=1;",
         13,
         {"1 3 2 6"},
         NNRT_SUCCESS,
         "2,2",
         "-1 1 -1 1",
         1e-6},
        {"Constant, integers",
         "in x i64 [2]; c = Constant value_ints:I=3,4; y = Add x c;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "4 6",
         0},
        {"Constant, an integer",
         "in x i64 [2]; c = Constant value_int:i=5; y = Add x c;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "6 7",
         0},
        {"Constant, a float",
         "in x f32 [2]; c = Constant value_float:f=0.5; y = Add x c;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "1.5 2.5",
         0},
        {"Constant, two values",
         "in x i64 [2]; c = Constant value_int:i=5 value_ints:I=3,4; y = Add x c;",
         13,
         {"1 2"},
         NNRT_INVALID_MODEL,
         NULL,
         "2 attributes, expected one value",
         0},
        {"Constant, a text",
         "in x i64 [2]; c = Constant value_string:s=five; y = Add x c;",
         13,
         {"1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "attribute 'value_string'",
         0},
        {"GRU, Relu",
         "in x f32 [1,1,1]; const w f32 [1,3,1] 1 1 1; const r f32 [1,3,1] 1 1 1; y = GRU x w r hidden_size:i=1 activations:S=Sigmoid,Relu;",
         14,
         {"2"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "0.238405844",
         1e-6},
        {"GRU, Softsign",
         "in x f32 [1,1,1]; const w f32 [1,3,1] 1 1 1; const r f32 [1,3,1] 1 1 1; y = GRU x w r hidden_size:i=1 activations:S=Sigmoid,Softsign;",
         14,
         {"2"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "0.0794686147",
         1e-6},
        {"GRU, HardSigmoid",
         "in x f32 [1,1,1]; const w f32 [1,3,1] 1 1 1; const r f32 [1,3,1] 1 1 1; y = GRU x w r "
         "hidden_size:i=1 activations:S=HardSigmoid,Tanh;",
         14,
         {"2"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "0.0964027523",
         1e-6},
        {"GRU, another function",
         "in x f32 [1,1,1]; const w f32 [1,3,1] 1 1 1; const r f32 [1,3,1] 1 1 1; y = GRU x w r hidden_size:i=1 activations:S=Sigmoid,Mish;",
         14,
         {"2"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "activations[1] is 'Mish'",
         0},
        {"GRU, Affine without beta",
         "in x f32 [1,1,1]; const w f32 [1,3,1] 1 1 1; const r f32 [1,3,1] 1 1 1; y = GRU x w r hidden_size:i=1 activations:S=Sigmoid,Affine "
         "activation_alpha:F=2;",
         14,
         {"2"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "activation_beta has 0 entries, but Affine needs another one",
         0},
        {"GRU, five functions",
         "in x f32 [1,1,1]; const w f32 [1,3,1] 1 1 1; const r f32 [1,3,1] 1 1 1; y = GRU x w r hidden_size:i=1 activations:S=Sigmoid,Tanh,Sigmoid,Tanh,Tanh;",
         14,
         {"2"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "activations has 5 entries",
         0},
        {"Dropout, training", /* largest, least; is the mean within 5 standard deviations of x? the mask's mean of 0.75? */
         "in x f32 [1]; const n i64 [1] 40000; o = Expand x n; const r f32 [] 0.25; const t bool [] 1; "
         "d m = Dropout o r t seed:i=5; high = ReduceMax d; low = ReduceMin d; mean = ReduceMean d; e = Sub mean x; "
         "f = Abs e; const near f32 [1] 0.044; g = Less f near; h = Cast g to:i=1; k = Cast m to:i=1; q = ReduceMean k; "
         "const want f32 [1] 0.75; u = Sub q want; v = Abs u; const close f32 [1] 0.011; w = Less v close; "
         "z = Cast w to:i=1; y = Concat high low h z axis:i=0;",
         13,
         {"3"},
         NNRT_SUCCESS,
         "4",
         "4 0 1 1",
         0},
        {"Dropout, training by half",
         "in x f32 [1]; const n i64 [1] 40000; o = Expand x n; const t bool [] 1; d = Dropout o - t; y = ReduceMax d;",
         13,
         {"3"},
         NNRT_SUCCESS,
         "1",
         "6",
         0},
        {"Dropout, training without loss",
         "in x f32 [2]; const r f32 [] 0; const t bool [] 1; y = Dropout x r t;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "1 2",
         0},
        {"Dropout, no training",
         "in x f32 [2]; const r f32 [] 0.5; const t bool [] 0; y = Dropout x r t;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "1 2",
         0},
        {"Dropout, a number for training",
         "in x f32 [2]; const r f32 [] 0.5; const t i32 [] 1; y = Dropout x r t;",
         13,
         {"1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "must be a bool",
         0},
        {"DFT along an attribute",
         "in x f32 [1,2,1]; y = DFT x axis:i=1;",
         17,
         {"1 3"},
         NNRT_SUCCESS,
         "1,2,2",
         "4 0 -2 0",
         1e-6},
        {"DFT along an input",
         "in x f32 [1,2,1]; const a i64 [] 1; y = DFT x - a;",
         20,
         {"1 3"},
         NNRT_SUCCESS,
         "1,2,2",
         "4 0 -2 0",
         1e-6},
        {"DFT of the first",
         "in x f32 [1,2,1]; const l i64 [] 1; y = DFT x l axis:i=1;",
         17,
         {"1 3"},
         NNRT_SUCCESS,
         "1,1,2",
         "1 0",
         1e-6},
        {"LpPool",
         "in x f32 [1,1,2,2]; y = LpPool x kernel_shape:I=2,2;",
         18,
         {"1 2 2 4"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "5",
         1e-6},
        {"LpPool, padded at the end",
         "in x f32 [1,1,2,2]; y = LpPool x kernel_shape:I=2,2 auto_pad:s=SAME_UPPER;",
         18,
         {"1 2 2 4"},
         NNRT_SUCCESS,
         "1,1,2,2",
         "5 4.47213595 4.47213595 4",
         1e-6},
        {"LRN of less than nothing",
         "in x f32 [1,5,1,1]; y = LRN x size:i=-1;",
         13,
         {"1 2 3 4 5"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "size is -1 and the input has 4 axes",
         0},
        {"LRN of a vector",
         "in x f32 [5]; y = LRN x size:i=3;",
         13,
         {"1 2 3 4 5"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "size is 3 and the input has 1 axes",
         0},
        {"AveragePool of a volume, padded at the end",
         "in x f32 [1,1,1,1,2]; y = AveragePool x kernel_shape:I=1,1,2 auto_pad:s=SAME_UPPER;",
         19,
         {"2 4"},
         NNRT_SUCCESS,
         "1,1,1,1,2",
         "3 4",
         1e-6},
        {"MaxPool of a volume, places",
         "in x f32 [1,1,1,1,2]; out i; y i = MaxPool x kernel_shape:I=1,1,2;",
         12,
         {"2 4"},
         NNRT_SUCCESS,
         "1,1,1,1,1",
         "1",
         0},
        {"MaxPool of two volumes, places with the first axis fastest",
         "in x f32 [1,2,2,2,2]; t y = MaxPool x kernel_shape:I=1,2,1 storage_order:i=1;",
         12,
         {"2 11 3 10 0 4 7 5 14 12 6 9 13 8 1 15"},
         NNRT_SUCCESS,
         "1,2,2,1,2",
         "2 4 3 7 8 12 9 15",
         0},
        {"MaxPool of two images with dilations, places with columns first",
         "in x f32 [1,2,3,5]; t y = MaxPool x kernel_shape:I=2,2 dilations:I=2,3 storage_order:i=1;",
         12,
         {"0 9 1 2 3 8 7 6 5 4 1 2 3 4 9 3 2 1 9 0 4 5 6 7 8 9 4 3 2 1"},
         NNRT_SUCCESS,
         "1,2,1,2",
         "11 3 24 20",
         0},
    };
    (void)state;
    run_cases(cases, NNRT_MAX_RANK < 5 ? COUNT(cases) - 3 : COUNT(cases));
}

/* One cell, X = [[1 -2] [0.5 1.5] [-1 2]]; expected values are PyTorch's. */
static void test_lstm(void **state)
{
#define CELL                                                                                                           \
    "in x f32 [3,2,1]; const w f32 [1,4,1] 1 0.5 -1 2; const r f32 [1,4,1] 0.5 -1 1 0.25; "                            \
    "const b f32 [1,8] 0.1 0.2 0.3 0.4 -0.5 0 0.5 -0.25; "
#define STATES "const h f32 [1,2,1] 0.5 -0.5; const c f32 [1,2,1] 1 -1; "
#define CELLS                                                                                                          \
    "const w f32 [2,4,1] 1 0.5 -1 2 -1 -0.5 1 -2; const r f32 [2,4,1] 0.5 -1 1 0.25 1 -2 2 0.5; "                      \
    "const b f32 [2,8] 0.1 0.2 0.3 0.4 -0.5 0 0.5 -0.25 0 0 0 0 0 0 0 0; "
    static const char steps[] = "1 -2 0.5 1.5 -1 2", sequences[] = "1 0.5 -1 -2 1.5 2";
    static const char forward[] = "0.378069876 -0.0318864183 0.326478533 0.451693844 0.113607569 0.493121049";
    static const import_case cases[] = {
        {"forward", CELL "y = LSTM x w r hidden_size:i=1;", 14, {steps}, NNRT_SUCCESS, "3,1,2,1", forward, 1e-6},
        {"the last cell states",
         CELL "out c; y h c = LSTM x w r;",
         14,
         {steps},
         NNRT_SUCCESS,
         "1,2,1",
         "0.392170716 1.0405609",
         1e-6},
        {"functions and lengths told",
         CELL "const l i32 [2] 3 3; y = LSTM x w r - l direction:s=forward activations:S=Sigmoid,Tanh,Tanh;",
         7,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         forward,
         1e-6},
        {"reverse, with states",
         CELL STATES "y = LSTM x w r b - h c direction:s=reverse;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.471322856 0.158215272 0.399549204 0.4872977 0.184027255 0.477157043",
         1e-6},
        {"reverse, the batch first",
         "in x f32 [2,3,1]; const w f32 [1,4,1] 1 0.5 -1 2; const r f32 [1,4,1] 0.5 -1 1 0.25; "
         "const b f32 [1,8] 0.1 0.2 0.3 0.4 -0.5 0 0.5 -0.25; const h f32 [2,1,1] 0.5 -0.5; const c f32 [2,1,1] 1 -1; "
         "y = LSTM x w r b - h c direction:s=reverse layout:i=1;",
         14,
         {sequences},
         NNRT_SUCCESS,
         "2,3,1,1",
         "0.471322856 0.399549204 0.184027255 0.158215272 0.4872977 0.477157043",
         1e-6},
        {"both directions",
         "in x f32 [3,2,1]; " CELLS "y = LSTM x w r b direction:s=bidirectional;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,2,2,1",
         "0.372132843 -0.0257031816 -0.0327091066 0.525510147 0.371894625 0.447117281 0.0615055437 -0.0892467073 "
         "0.179509208 0.541856515 0.378069876 -0.0318864183",
         1e-6},
        {"both directions, the batch first",
         "in x f32 [2,3,1]; " CELLS "y = LSTM x w r b direction:s=bidirectional layout:i=1;",
         14,
         {sequences},
         NNRT_SUCCESS,
         "2,3,2,1",
         "0.372132843 -0.0327091066 0.371894625 0.0615055437 0.179509208 0.378069876 -0.0257031816 0.525510147 "
         "0.447117281 -0.0892467073 0.541856515 -0.0318864183",
         1e-6},
        {"both directions, the batch first, the last states",
         "in x f32 [2,3,1]; " CELLS "out h; y h = LSTM x w r b direction:s=bidirectional layout:i=1;",
         14,
         {sequences},
         NNRT_SUCCESS,
         "2,2,1",
         "0.179509208 -0.0327091066 0.541856515 0.525510147",
         1e-6},
        {"peepholes",
         CELL STATES "const p f32 [1,3] 1 1 1; y = LSTM x w r b - h c p;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.798484504 -0.16598545 0.860042095 0.327641428 0.5487988 0.687331676",
         1e-6},
        {"clipped",
         CELL "y = LSTM x w r clip:f=1;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.314701079 -0.0543280905 0.308542631 0.320190953 0.0961448084 0.397599681",
         1e-6},
        {"hard gates",
         CELL "y = LSTM x w r activations:S=HardSigmoid,Tanh,Tanh;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.352884649 -0.0298804751 0.324526338 0.425748584 0.101096431 0.488902007",
         1e-6},
        {"hard gates with parameters",
         CELL "y = LSTM x w r activations:S=HardSigmoid,HardSigmoid,Tanh activation_alpha:F=0.3,0.7 "
         "activation_beta:F=0.4,0.1;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.332402291 0 0.240491583 0.431918437 0.0937964268 0.434431952",
         1e-6},
        {"coupled",
         CELL "y = LSTM x w r input_forget:i=1;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.378069878 -0.0318864137 0.302011579 0.451365083 0.0758710057 0.477021307",
         1e-6},
        {"shorter sequences",
         CELL "const l i32 [2] 3 2; y = LSTM x w r - l;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.378069878 -0.0318864137 0.326478541 0.451693892 0.113607563 0",
         1e-6},
        {"lengths that are an input",
         CELL "in l i32 [2]; y = LSTM x w r - l;",
         14,
         {steps, "3 2"},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.378069878 -0.0318864137 0.326478541 0.451693892 0.113607563 0",
         1e-6},
        {"other functions",
         CELL "y = LSTM x w r activations:S=Sigmoid,Relu,Tanh;",
         14,
         {steps},
         NNRT_SUCCESS,
         "3,1,2,1",
         "0.559007645 0 0.38572365 0.669192493 0.245778069 0.581746638",
         1e-6},
        {"a function that no operator has",
         CELL "y = LSTM x w r activations:S=Sigmoid,Mish,Tanh;",
         14,
         {steps},
         NNRT_INVALID_PARAMETER,
         NULL,
         "activations[1] is 'Mish'",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* x = 1 2 and w = 1 10 100 with stride 2 give 1 10 102 20 200, of which output_shape 4 leaves out one: the first, but
   the last with SAME_UPPER. */
static void test_conv_transpose(void **state)
{
#define TRANSPOSED "in x f32 [1,1,2]; const w f32 [1,1,3] 1 10 100; y = ConvTranspose x w strides:I=2 "
    static const import_case cases[] = {
        {"NOTSET", TRANSPOSED "output_shape:I=4;", 11, {"1 2"}, NNRT_SUCCESS, "1,1,4", "10 102 20 200", 0},
        {"SAME_LOWER",
         TRANSPOSED "output_shape:I=4 auto_pad:s=SAME_LOWER;",
         11,
         {"1 2"},
         NNRT_SUCCESS,
         "1,1,4",
         "10 102 20 200",
         0},
        {"SAME_UPPER",
         TRANSPOSED "output_shape:I=4 auto_pad:s=SAME_UPPER;",
         11,
         {"1 2"},
         NNRT_SUCCESS,
         "1,1,4",
         "1 10 102 20",
         0},
        {"SAME_UPPER alone", TRANSPOSED "auto_pad:s=SAME_UPPER;", 11, {"1 2"}, NNRT_SUCCESS, "1,1,4", "1 10 102 20", 0},
        {"SAME_LOWER alone",
         TRANSPOSED "auto_pad:s=SAME_LOWER;",
         11,
         {"1 2"},
         NNRT_SUCCESS,
         "1,1,4",
         "10 102 20 200",
         0},
        {"an even total", TRANSPOSED "output_shape:I=3;", 11, {"1 2"}, NNRT_SUCCESS, "1,1,3", "10 102 20", 0},
        {"more than there is",
         TRANSPOSED "output_shape:I=6;",
         11,
         {"1 2"},
         NNRT_SUCCESS,
         "1,1,6",
         "1 10 102 20 200 0",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* ONNX: a NaN of any operand is in the result. */
static void test_max_of_nan(void **state)
{
#define TWO "in a f32 [4]; in b f32 [4]; "
    static const import_case cases[] = {
        {"Max", TWO "y = Max a b;", 13, {"nan 1 nan -0", "1 nan nan -0"}, NNRT_SUCCESS, "4", "nan nan nan -0", 0},
        {"Max of numbers",
         TWO "y = Max a b;",
         13,
         {"inf -inf 3e38 1", "1 -inf 2 2"},
         NNRT_SUCCESS,
         "4",
         "inf -inf 3e38 2",
         1e-6},
        {"Min", TWO "y = Min a b;", 13, {"nan 1 nan 1", "1 nan nan 2"}, NNRT_SUCCESS, "4", "nan nan nan 1", 0},
        {"Max of three",
         "in a f32 [3]; in b f32 [3]; in c f32 [3]; y = Max a b c;",
         13,
         {"nan 1 1", "1 nan 2", "1 1 nan"},
         NNRT_SUCCESS,
         "3",
         "nan nan nan",
         0},
        {"Min of three",
         "in a f32 [3]; in b f32 [3]; in c f32 [3]; y = Min a b c;",
         13,
         {"nan 1 1", "1 nan 2", "1 1 nan"},
         NNRT_SUCCESS,
         "3",
         "nan nan nan",
         0},
        {"Max with a constant",
         "in a f32 [3]; const b f32 [] 2; y = Max a b;",
         13,
         {"nan 1 3"},
         NNRT_SUCCESS,
         "3",
         "nan 2 3",
         0},
        {"Max with a constant first",
         "in a f32 [3]; const b f32 [] 2; y = Max b a;",
         13,
         {"nan 1 3"},
         NNRT_SUCCESS,
         "3",
         "nan 2 3",
         0},
        {"Max with a NaN",
         "in a f32 [3]; const b f32 [3] nan 0 nan; y = Max a b;",
         13,
         {"1 1 nan"},
         NNRT_SUCCESS,
         "3",
         "nan 1 nan",
         0},
        {"Max with a NaN first",
         "in a f32 [3]; const b f32 [3] nan 0 nan; y = Max b a;",
         13,
         {"1 1 nan"},
         NNRT_SUCCESS,
         "3",
         "nan 1 nan",
         0},
        {"Min with a constant",
         "in a f32 [3]; const b f32 [] 2; y = Min a b;",
         13,
         {"nan 1 3"},
         NNRT_SUCCESS,
         "3",
         "nan 1 2",
         0},
        {"Max, float64",
         "in a f64 [3]; in b f64 [3]; y = Max a b;",
         13,
         {"nan 1 1e300", "1 nan 2"},
         NNRT_SUCCESS,
         "3",
         "nan nan 1e300",
         0},
        {"Min, float16",
         "in a f16 [3]; in b f16 [3]; y = Min a b;",
         13,
         {"nan 1 5", "1 nan 2"},
         NNRT_SUCCESS,
         "3",
         "nan nan 2",
         0},
        {"Max, broadcast",
         "in a f32 [2,1]; in b f32 [2]; y = Max a b;",
         13,
         {"nan 1", "0 2"},
         NNRT_SUCCESS,
         "2,2",
         "nan nan 1 2",
         0},
        {"Clip",
         "in x f32 [3]; const l f32 [] 0; const h f32 [] 5; y = Clip x l h;",
         13,
         {"nan -1 7"},
         NNRT_SUCCESS,
         "3",
         "nan 0 5",
         0},
        {"Clip below",
         "in x f32 [3]; const l f32 [] 1; y = Clip x l;",
         13,
         {"nan -1 7"},
         NNRT_SUCCESS,
         "3",
         "nan 1 7",
         0},
        {"Clip above",
         "in x f32 [3]; const h f32 [] 5; y = Clip x - h;",
         13,
         {"nan -1 7"},
         NNRT_SUCCESS,
         "3",
         "nan -1 5",
         0},
        {"Clip by inputs",
         "in x f32 [3]; in l f32 []; in h f32 []; y = Clip x l h;",
         13,
         {"nan -1 7", "0", "5"},
         NNRT_SUCCESS,
         "3",
         "nan 0 5",
         0},
        {"Clip, float64",
         "in x f64 [3]; const l f64 [] 0; const h f64 [] 5; y = Clip x l h;",
         13,
         {"nan -1 7"},
         NNRT_SUCCESS,
         "3",
         "nan 0 5",
         0},
        {"Relu, float64", "in x f64 [3]; y = Relu x;", 14, {"nan -1 7"}, NNRT_SUCCESS, "3", "nan 0 7", 0},
        {"Abs, float64", "in x f64 [3]; y = Abs x;", 13, {"nan -1 7"}, NNRT_SUCCESS, "3", "nan 1 7", 0},
        {"LogSoftmax", "in x f32 [1,3]; y = LogSoftmax x;", 13, {"nan -1 7"}, NNRT_SUCCESS, "1,3", "nan nan nan", 0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* Element by element, where ONNX's definitions have their corners. */
static void test_elementwise(void **state)
{
    static const import_case cases[] = {
        {"Mod",
         "in x i32 [4]; in p i32 [4]; y = Mod x p;",
         13,
         {"-7 7 -7 -2147483648", "3 -3 -3 -1"},
         NNRT_SUCCESS,
         "4",
         "2 -2 -1 0",
         0},
        {"Mod as in C",
         "in x i32 [4]; in p i32 [4]; y = Mod x p fmod:i=1;",
         13,
         {"-7 7 -7 -2147483648", "3 -3 -3 -1"},
         NNRT_SUCCESS,
         "4",
         "-1 1 -1 0",
         0},
        {"Mod without a sign",
         "in x u8 [2]; in p u8 [1]; y = Mod x p;",
         13,
         {"250 6", "7"},
         NNRT_SUCCESS,
         "2",
         "5 6",
         0},
        {"Mod of floats",
         "in x f32 [2]; in p f32 [1]; y = Mod x p fmod:i=1;",
         13,
         {"-7.5 7.5", "2"},
         NNRT_SUCCESS,
         "2",
         "-1.5 1.5",
         0},
        {"Mod of floats as of integers",
         "in x f32 [2]; in p f32 [1]; y = Mod x p;",
         13,
         {"-7.5 7.5", "2"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "fmod is 0, expected 1 for float32",
         0},
        {"Round", "in x f32 [5]; y = Round x;", 11, {"0.5 1.5 2.5 -0.5 nan"}, NNRT_SUCCESS, "5", "0 2 2 -0 nan", 0},
        {"PRelu",
         "in x f32 [2,3]; in p f32 [2,1]; y = PRelu x p;",
         9,
         {"-0 -1 0 2 -4 nan", "0 5"},
         NNRT_SUCCESS,
         "2,3",
         "-0 -0 0 2 -20 nan",
         0},
        {"PRelu of integers",
         "in x i32 [3]; const p i32 [3] 2 3 4; y = PRelu x p;",
         9,
         {"-3 3 0"},
         NNRT_SUCCESS,
         "3",
         "-6 3 0",
         0},
        {"Clip, min above max",
         "in x f32 [3]; const l f32 [] 5; const h f32 [] 2; y = Clip x l h;",
         13,
         {"nan -1 7"},
         NNRT_SUCCESS,
         "3",
         "nan 2 2",
         0},
        {"Clip by inputs, min above max",
         "in x f32 [3]; in p f32 []; in q f32 []; y = Clip x p q;",
         13,
         {"nan -1 7", "5", "2"},
         NNRT_SUCCESS,
         "3",
         "nan 2 2",
         0},
        {"Clip, a bound that is no number",
         "in x f32 [2]; const l f32 [] nan; y = Clip x l;",
         13,
         {"1 nan"},
         NNRT_SUCCESS,
         "2",
         "nan nan",
         0},
        {"Clip of integers",
         "in x i64 [4]; const l i64 [] -2; const h i64 [] 3; y = Clip x l h;",
         13,
         {"-9 -2 3 4"},
         NNRT_SUCCESS,
         "4",
         "-2 -2 3 3",
         0},
        {"Clip without bounds", "in x f32 [2]; z = Clip x; y = Neg z;", 13, {"1 nan"}, NNRT_SUCCESS, "2", "-1 nan", 0},
        {"Clip by attributes",
         "in x f32 [3]; y = Clip x min:f=-1 max:f=2;",
         6,
         {"nan -3 3"},
         NNRT_SUCCESS,
         "3",
         "nan -1 2",
         0},
        {"IsInf", "in x f32 [4]; y = IsInf x;", 13, {"inf -inf nan 1"}, NNRT_SUCCESS, "4", "1 1 0 0", 0},
        {"IsInf above",
         "in x f32 [4]; y = IsInf x detect_negative:i=0;",
         13,
         {"inf -inf nan 1"},
         NNRT_SUCCESS,
         "4",
         "1 0 0 0",
         0},
        {"IsInf below",
         "in x f16 [4]; y = IsInf x detect_positive:i=0;",
         20,
         {"inf -inf nan 1"},
         NNRT_SUCCESS,
         "4",
         "0 1 0 0",
         0},
        {"IsInf of none",
         "in x f64 [4]; y = IsInf x detect_negative:i=0 detect_positive:i=0;",
         13,
         {"inf -inf nan 1"},
         NNRT_SUCCESS,
         "4",
         "0 0 0 0",
         0},
        {"IsNaN", "in x f32 [4]; y = IsNaN x;", 13, {"inf -inf nan 1"}, NNRT_SUCCESS, "4", "0 0 1 0", 0},
        {"Shrink",
         "in x f32 [6]; y = Shrink x lambd:f=1.5 bias:f=1;",
         9,
         {"-3 -1 0 1 3 nan"},
         NNRT_SUCCESS,
         "6",
         "-2 0 0 0 2 0",
         0},
        {"Shrink, lambd below 0",
         "in x f32 [6]; y = Shrink x lambd:f=-1 bias:f=2;",
         9,
         {"-3 -1 0 1 3 nan"},
         NNRT_SUCCESS,
         "6",
         "-1 1 2 -1 1 0",
         0},
        {"Shrink of integers",
         "in x i32 [3]; y = Shrink x lambd:f=1.5 bias:f=0.5;",
         9,
         {"-3 -1 2"},
         NNRT_SUCCESS,
         "3",
         "-2 0 1",
         0},
        {"Where does not choose rows",
         "in x f32 [2,2]; in p bool [2]; in q f32 [2,2]; y = Where p x q;",
         16,
         {"1 2 3 4", "1 0", "5 6 7 8"},
         NNRT_SUCCESS,
         "2,2",
         "1 6 3 8",
         0},
        {"Where of one place",
         "in x f32 [2,2]; in p bool [1]; in q f32 [2]; y = Where p q x;",
         16,
         {"1 2 3 4", "1", "5 6"},
         NNRT_SUCCESS,
         "2,2",
         "5 6 5 6",
         0},
        {"Max of a row and rows",
         "in a f32 [2]; in b f32 [2,2]; y = Max a b;",
         13,
         {"nan 1", "0 2 3 nan"},
         NNRT_SUCCESS,
         "2,2",
         "nan 2 nan nan",
         0},
        {"Min of rows and a row",
         "in a f32 [2]; in b f32 [2,2]; y = Min b a;",
         13,
         {"nan 1", "0 2 3 nan"},
         NNRT_SUCCESS,
         "2,2",
         "nan 1 nan nan",
         0},
        {"Sum of three",
         "in a f32 [2]; in b f32 [2,1]; in c f32 []; y = Sum a b c;",
         13,
         {"1 2", "10 20", "100"},
         NNRT_SUCCESS,
         "2,2",
         "111 112 121 122",
         0},
        {"Mean of two",
         "in a f32 [2]; in b f32 [2]; y = Mean a b;",
         13,
         {"1 2", "2 5"},
         NNRT_SUCCESS,
         "2",
         "1.5 3.5",
         0},
        {"Mean of one", "in a f32 [2]; z = Mean a; y = Neg z;", 13, {"1 2"}, NNRT_SUCCESS, "2", "-1 -2", 0},
        {"And from an axis on",
         "in x bool [2,3]; in p bool [2]; y = And x p broadcast:i=1 axis:i=0;",
         6,
         {"1 0 1 1 1 0", "0 1"},
         NNRT_SUCCESS,
         "2,3",
         "0 0 0 1 1 0",
         0},
        {"Xor",
         "in x bool [4]; in p bool [4]; y = Xor x p;",
         7,
         {"0 0 1 1", "0 1 0 1"},
         NNRT_SUCCESS,
         "4",
         "0 1 1 0",
         0},
        {"Not of numbers",
         "in x bool [2]; a = Cast x to:i=1; b = Cast a to:i=9; y = Not b;",
         13,
         {"0 1"},
         NNRT_SUCCESS,
         "2",
         "1 0",
         0},
        {"Sqrt, float64", "in x f64 [3]; y = Sqrt x;", 13, {"-0 2.25 -inf"}, NNRT_SUCCESS, "3", "-0 1.5 nan", 0},
        {"Softplus, float64",
         "in x f64 [2]; y = Softplus x;",
         13,
         {"21 -1"},
         NNRT_SUCCESS,
         "2",
         "21.00000000075826 0.31326168751822286",
         1e-15},
        {"HardSigmoid",
         "in x f32 [4]; y = HardSigmoid x alpha:f=0.5 beta:f=0.25;",
         6,
         {"-9 0.5 9 nan"},
         NNRT_SUCCESS,
         "4",
         "0 0.5 1 nan",
         0},
        {"HardSigmoid, float64: alpha is a float32",
         "in x f64 [3]; y = HardSigmoid x alpha:f=0.16666667 beta:f=0.5;",
         6,
         {"-1.5 -9 nan"},
         NNRT_SUCCESS,
         "3",
         "0.2499999925494194 0 nan",
         1e-15},
        {"LeakyRelu", "in x f32 [3]; y = LeakyRelu x alpha:f=0.5;", 16, {"-2 2 nan"}, NNRT_SUCCESS, "3", "-1 2 nan", 0},
        {"QuantizeLinear, halves",
         "in x f32 [8]; const s f32 [] 1; const z i8 [] 3; y = QuantizeLinear x s z;",
         13,
         {"0.5 1.5 2.5 -0.5 -1.5 3e38 inf -inf"},
         NNRT_SUCCESS,
         "8",
         "3 5 5 3 1 127 127 -128",
         0},
        {"QuantizeLinear, halves by inputs",
         "in x f32 [8]; in p f32 []; const z i8 [] 3; y = QuantizeLinear x p z;",
         13,
         {"0.5 1.5 2.5 -0.5 -1.5 3e38 inf -inf", "1"},
         NNRT_SUCCESS,
         "8",
         "3 5 5 3 1 127 127 -128",
         0},
        {"QuantizeLinear, uint8",
         "in x f32 [8]; const s f32 [1] 0.5; y = QuantizeLinear x s;",
         13,
         {"0.25 0.75 1.25 -1 127 200 nan 1"},
         NNRT_SUCCESS,
         "8",
         "0 2 2 0 254 255 0 2",
         0},
        {"QuantizeLinear along an axis",
         "in x f32 [2,3]; const s f32 [2] 1 0.25; const z i8 [2] 1 -1; y = QuantizeLinear x s z axis:i=0;",
         13,
         {"0.5 1.5 2.5 0.125 0.375 -40"},
         NNRT_SUCCESS,
         "2,3",
         "1 3 3 -1 1 -128",
         0},
        {"DequantizeLinear along an axis",
         "in x f32 [2,3]; const s f32 [2] 1 0.25; const z i8 [2] 1 -1; q = QuantizeLinear x s z axis:i=-2; y = "
         "DequantizeLinear q s z axis:i=0;",
         13,
         {"0.5 1.5 2.5 0.125 0.375 -40"},
         NNRT_SUCCESS,
         "2,3",
         "0 2 2 0 0.5 -31.75",
         0},
        {"DequantizeLinear with another zero point",
         "in x f32 [2,3]; const s f32 [2] 1 0.25; const z i8 [2] 1 -1; const o i8 [2] 0 0; q = QuantizeLinear x s z "
         "axis:i=0; y = DequantizeLinear q s o axis:i=0;",
         13,
         {"0.5 1.5 2.5 0.125 0.375 -40"},
         NNRT_SUCCESS,
         "2,3",
         "1 3 3 -0.25 0.25 -32",
         0},
        {"Cast of quantised elements",
         "in x f32 [2,3]; const s f32 [2] 1 0.25; const z i8 [2] 1 -1; q = QuantizeLinear x s z axis:i=0; y = Cast q "
         "to:i=6;",
         13,
         {"0.5 1.5 2.5 0.125 0.375 -40"},
         NNRT_SUCCESS,
         "2,3",
         "1 3 3 -1 1 -128",
         0},
        {"Cast of uint8 with one scale",
         "in x f32 [4]; const s f32 [] 0.1; const z u8 [] 255; q = QuantizeLinear x s z; y = Cast q to:i=1;",
         13,
         {"0 -0.1 -25.5 -25.4"},
         NNRT_SUCCESS,
         "4",
         "255 254 0 1",
         0},
        {"DequantizeLinear along another axis",
         "in x f32 [2,2]; const s f32 [2] 1 0.5; q = QuantizeLinear x s axis:i=0; y = DequantizeLinear q s axis:i=1;",
         13,
         {"1 2 3 4"},
         NNRT_SUCCESS,
         "2,2",
         "1 1 6 4",
         0},
        {"DequantizeLinear of a constant",
         "in x f32 [2,2]; const q i8 [2,2] 1 2 3 4; const s f32 [2] 10 0.5; const z i8 [2] 1 -1; d = DequantizeLinear "
         "q s z; y = Add x d;",
         13,
         {"0 0 0 0"},
         NNRT_SUCCESS,
         "2,2",
         "0 1.5 20 2.5",
         0},
        {"DequantizeLinear of an input",
         "in x i8 [2,2]; const s f32 [2] 10 0.5; const z i8 [2] 1 -1; y = DequantizeLinear x s z;",
         13,
         {"1 2 3 4"},
         NNRT_SUCCESS,
         "2,2",
         "0 1.5 20 2.5",
         0},
        {"DequantizeLinear of a bias",
         "in x f32 [2]; const q i32 [2] 16777217 -3; const s f32 [] 0.5; d = DequantizeLinear q s; y = Add x d;",
         13,
         {"0 0"},
         NNRT_SUCCESS,
         "2",
         "8388608 -1.5",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* Integer products, and their requantization in QLinear..: round(sum * scale) + zero, halves to even. Expected values by numpy,
   in int64 and float32. */
static void test_integer_products(void **state)
{
#define A_B "in a i8 [2,3]; const b i8 [3,2] 7 -8 9 10 -11 12; "
    static const char image[] = "0 10 20 30 40 50 60 70 80", matrix[] = "1 2 3 4 5 6";
    static const import_case cases[] = {
        {"QLinearConv",
         "in x u8 [1,1,3,3]; const s f32 [] 0.5; const z u8 [] 20; const w i8 [2,1,2,2] 1 -2 3 4 5 6 -7 8; const t f32 "
         "[2] "
         "0.25 0.125; const o i8 [2] 1 -1; const u f32 [] 2; const p u8 [] 100; const b i32 [2] 7 -100; "
         "y = QLinearConv x s z w t o u p b;",
         13,
         {image},
         NNRT_SUCCESS,
         "1,2,2,2",
         "107 109 111 112 95 100 110 115",
         0},
        {"QLinearConv of one axis, paddings are zero points",
         "in x u8 [1,1,4]; const s f32 [1] 0.5; const z u8 [1] 25; const w i8 [1,1,2] 3 -1; const t f32 [1] 1; const o "
         "i8 "
         "[1] 0; const u f32 [1] 1; const p i8 [1] -3; y = QLinearConv x s z w t o u p pads:I=1,0;",
         10,
         {"10 20 30 40"},
         NNRT_SUCCESS,
         "1,1,4",
         "5 -23 -13 -3",
         0},
        {"ConvInteger, a zero point that is an input",
         "in x u8 [1,1,2,2]; in z u8 []; const w u8 [2,1,1,1] 2 3; const o u8 [2] 1 5; y = ConvInteger x w z o;",
         10,
         {"1 2 3 4", "2"},
         NNRT_SUCCESS,
         "1,2,2,2",
         "-1 0 1 2 2 0 -2 -4",
         0},
        {"QLinearMatMul, halves",
         "in a i8 [4,1]; const b i8 [1,1] 1; const z i8 [] 0; const s f32 [] 0.5; const t f32 [] 1; "
         "y = QLinearMatMul a s z b t z t z;",
         10,
         {"1 3 5 -1"},
         NNRT_SUCCESS,
         "4,1",
         "0 2 2 0",
         0},
        {"QLinearMatMul by rows and columns",
         A_B
         "const s f32 [2] 0.5 0.25; const z i8 [2] 1 2; const t f32 [2] 0.5 1; const o i8 [2] 3 -4; const u f32 [2] 1 "
         "0.5; const p i8 [2] 1 -1; y = QLinearMatMul a s z b t o u p;",
         21,
         {matrix},
         NNRT_SUCCESS,
         "2,2",
         "-5 24 -9 48",
         0},
        {"QLinearMatMul of a vector",
         "in a i8 [3]; const b i8 [3,2] 7 -8 9 10 -11 12; const s f32 [] 0.5; const z i8 [1] 1; const t f32 [2] 0.5 1; "
         "const o i8 [2] 3 -4; const u f32 [1] 1; const p i8 [1] 5; y = QLinearMatMul a s z b t o u p;",
         10,
         {"1 2 3"},
         NNRT_SUCCESS,
         "2",
         "-1 28",
         0},
        {"QLinearMatMul of a vector with two scales",
         "in a i8 [3]; const b i8 [3,2] 7 -8 9 10 -11 12; const s f32 [2] 0.5 1; const z i8 [1] 1; "
         "y = QLinearMatMul a s z b s z s z;",
         10,
         {"1 2 3"},
         NNRT_INVALID_SHAPE,
         NULL,
         "expected one element",
         0},
        {"QLinearMatMul with parameters that are inputs",
         "in a i8 [1,2]; in s f32 []; in z i8 []; const b i8 [2,1] 3 4; const o i8 [] 1; y = QLinearMatMul a s z b s o "
         "s z;",
         10,
         {"5 6", "0.5", "1"},
         NNRT_SUCCESS,
         "1,1",
         "13",
         0},
        {"QLinearMatMul to int32",
         "in a i8 [1,2]; const b i8 [2,1] 3 4; const s f32 [] 1; const z i8 [] 0; const p i32 [] 0; "
         "y = QLinearMatMul a s z b s z s p;",
         10,
         {"5 6"},
         NNRT_INVALID_DATATYPE,
         NULL,
         "y_zero_point is int32",
         0},
        {"MatMulInteger without zero points",
         A_B "y = MatMulInteger a b;",
         10,
         {matrix},
         NNRT_SUCCESS,
         "2,2",
         "-8 48 7 90",
         0},
        {"MatMulInteger, of b only",
         A_B "const o i8 [2] 3 -4; y = MatMulInteger a b - o;",
         10,
         {matrix},
         NNRT_SUCCESS,
         "2,2",
         "-26 72 -38 150",
         0},
        {"MatMulInteger, by rows and columns",
         A_B "const z i8 [2] 1 2; const o i8 [2] 3 -4; y = MatMulInteger a b z o;",
         10,
         {matrix},
         NNRT_SUCCESS,
         "2,2",
         "-22 46 -30 98",
         0},
        {"MatMulInteger, zero points of two axes",
         A_B "const z i8 [2,1] 1 2; y = MatMulInteger a b z;",
         10,
         {matrix},
         NNRT_INVALID_SHAPE,
         NULL,
         "zero point 'z'",
         0},
        {"what DynamicQuantizeLinear gives, multiplied",
         "in x f32 [1,3]; const w u8 [3,1] 1 2 3; q s z = DynamicQuantizeLinear x; y = MatMulInteger q w z;",
         11,
         {"-1 1 254"},
         NNRT_SUCCESS,
         "1,1",
         "763",
         0},
        {"DynamicQuantizeLinear of zeros",
         "in x f32 [2]; y s z = DynamicQuantizeLinear x;",
         11,
         {"0 0"},
         NNRT_SUCCESS,
         "2",
         "0 0",
         0},
        {"DynamicQuantizeLinear of zeros, the scale",
         "in x f32 [2]; q y z = DynamicQuantizeLinear x;",
         11,
         {"0 0"},
         NNRT_SUCCESS,
         "",
         "1",
         0},
    };
    (void)state;
    no_quantize = true; /* ONNX's rounding, bit by bit */
    run_cases(cases, COUNT(cases));
    no_quantize = false;
    units = 1;
    run_cases(cases, COUNT(cases));
    units = 0;
}

/* Operators between DequantizeLinear and QuantizeLinear compute in integers, unless a switch says otherwise or the model
   is left as it is: the casts of the input and of the output stay. x / 2 + 1 and -x / 2 - 1, of these not less than 0, and x
   added: nothing has to be rounded, so all give the same. */
static void test_between_casts(void **state)
{
    static const char text[] =
        "in x f32 [1,1,2,2]; const s f32 [] 0.5; const z u8 [] 3; const w i8 [2,1,1,1] 2 -4; const t f32 [2] 0.25 "
        "0.125; "
        "const o i8 [2] 0 0; const b i32 [2] 8 -16; const u f32 [2] 0.125 0.0625; const p i32 [2] 0 0; "
        "q = QuantizeLinear x s z; d = DequantizeLinear q s z; v = DequantizeLinear w t o axis:i=0; "
        "c = DequantizeLinear b u p axis:i=0; f = Conv d v c; r = Relu f; g = QuantizeLinear r s z; "
        "h = DequantizeLinear g s z; k = Add h d; l = QuantizeLinear k s z; y = DequantizeLinear l s z;";
    const message m = build(text, 13);
    const import_case k = {"between casts",         text, 13, {"-1 0 1 2"}, NNRT_SUCCESS, "1,2,2,2",
                           "-0.5 1 2.5 4 -1 0 1 2", 0};
    (void)state;
    for (uint32_t kind = 0; kind < 3; kind++) { /* optimized; not quantized; unchanged */
        NNRT_Model *model = NULL;
        nnrt_onnx_desc desc;
        uint32_t integers = 0;
        memset(&desc, 0, sizeof(desc));
        desc.no_quantize = kind == 1;
        desc.no_optimize = kind == 2;
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, &desc, NULL), NNRT_SUCCESS);
        for (uint32_t i = 0; i < model->nodes.count; i++) {
            const NNRT_Node *n = &model->nodes.data[i];
            integers += (n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION || n->nodeType == NNRT_NODE_TYPE_ADD_FUSION) &&
                        model->allTensors.data[n->outputIndex.data[0]].dataType == NNRT_DATA_TYPE_UINT8;
        }
        assert_int_equal(integers, kind == 0 ? 2 : 0);
        if (kind == 0)
            assert_int_equal(model->nodes.count, 4); /* QUANTIZE_LINEAR, two operators, a cast */
        nnrt_model_destroy(model);
    }
    run_cases(&k, 1);
}

/* The same with int16 by QuantizeLinear: the convolution computes in integers, ADD has no int16 kernel and stays float32. */
static void test_between_int16(void **state)
{
    static const char text[] =
        "in x f32 [1,1,2,2]; const s f32 [] 0.5; const z i16 [] 0; const w i8 [2,1,1,1] 2 -4; const t f32 [2] 0.25 "
        "0.125; "
        "const o i8 [2] 0 0; const b i32 [2] 8 -16; const u f32 [2] 0.125 0.0625; const p i32 [2] 0 0; "
        "q = QuantizeLinear x s z; d = DequantizeLinear q s z; v = DequantizeLinear w t o axis:i=0; "
        "c = DequantizeLinear b u p axis:i=0; f = Conv d v c; r = Relu f; g = QuantizeLinear r s z; "
        "h = DequantizeLinear g s z; k = Add h d; l = QuantizeLinear k s z; y = DequantizeLinear l s z;";
    const message m = build(text, 21);
    const import_case k = {"between int16",         text, 21, {"-1 0 1 1000"}, NNRT_SUCCESS, "1,2,2,2",
                           "-0.5 1 2.5 1501 -1 0 1 1000", 0};
    NNRT_Model *model = NULL;
    uint32_t wide = 0;
    (void)state;
    assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const NNRT_Node *n = &model->nodes.data[i];
        const NNRT_DataType type = model->allTensors.data[n->outputIndex.data[0]].dataType;
        wide += n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION && type == NNRT_DATA_TYPE_INT16;
        assert_false(n->nodeType == NNRT_NODE_TYPE_ADD_FUSION && type == NNRT_DATA_TYPE_INT16);
    }
    assert_int_equal(wide, 1);
    nnrt_model_destroy(model);
    run_cases(&k, 1);
}

/* Operators that become several quantized nodes, or have several results, with fixed and dynamic shapes. */
static void test_between_casts_of_others(void **state)
{
#define QUANTISED(x)                                                                                                   \
    "in x f32 " x "; const s f32 [] 0.5; const z u8 [] 3; const t f32 [2] 0.25 0.125; const o i8 [2] 0 0; "            \
    "q = QuantizeLinear x s z; d = DequantizeLinear q s z; "
    static const struct {
        NNRT_NodeType type;
        const char *fixed, *open, *dims, *values;
    } cases[] = {
#define ONE_AXIS(x)                                                                                                    \
    QUANTISED(x)                                                                                                       \
    "const w i8 [2,1,2] 2 -4 4 8; v = DequantizeLinear w t o axis:i=0; f = Conv d v; g = QuantizeLinear f s z; "       \
    "y = DequantizeLinear g s z;"
        {NNRT_NODE_TYPE_CONV2D_FUSION, ONE_AXIS("[1,1,4]"), ONE_AXIS("[n,1,4]"), "1,2,3", "-0.5 -1 -1.5 -0.5 1 2.5"},
#define PARTS(x)                                                                                                       \
    QUANTISED(x)                                                                                                       \
    "const l i64 [2] 1 3; const r f32 [] 0.25; const p u8 [] 9; a b = Split d l axis:i=2; e = QuantizeLinear a s z; "  \
    "f = DequantizeLinear e s z; g = QuantizeLinear b r p; h = DequantizeLinear g r p; y = Concat h f axis:i=2;"
        {NNRT_NODE_TYPE_SPLIT, PARTS("[1,1,4]"), PARTS("[n,1,4]"), "1,1,4", "0 1 2 -1"},
#define SUMS(x)                                                                                                        \
    QUANTISED(x)                                                                                                       \
    "const w i8 [4,1] 2 -2 4 8; const m f32 [] 0.25; const k i8 [] 0; v = DequantizeLinear w m k; const c f32 [1] 1; " \
    "f = MatMul d v; h = Add c f; g = QuantizeLinear h s z; y = DequantizeLinear g s z;"
        {NNRT_NODE_TYPE_MATMUL_FUSION, SUMS("[1,1,4]"), SUMS("[n,1,4]"), "1,1,1", "5.5"},
    };
#undef QUANTISED
#undef ONE_AXIS
#undef PARTS
#undef SUMS
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(cases); i++) {
        const bool open = i >= COUNT(cases);
        import_case k;
        NNRT_Model *model = NULL;
        message m;
        bool integers = false;
        memset(&k, 0, sizeof(k));
        k.name = k.model = open ? cases[i - COUNT(cases)].open : cases[i].fixed;
        k.opset = 13;
        k.inputs[0] = "-1 0 1 2";
        k.dims = cases[i % COUNT(cases)].dims;
        k.values = cases[i % COUNT(cases)].values;
        m = build(k.model, 13);
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, NULL), NNRT_SUCCESS);
        for (uint32_t n = 0; n < model->nodes.count; n++)
            integers = integers || (model->nodes.data[n].nodeType == cases[i % COUNT(cases)].type &&
                                    model->allTensors.data[model->nodes.data[n].outputIndex.data[0]].dataType ==
                                        NNRT_DATA_TYPE_UINT8);
        if (!integers)
            fail_msg("%s: not quantised", k.name);
        nnrt_model_destroy(model);
        shape_of_x.rank = 3;
        shape_of_x.dims[0] = shape_of_x.dims[1] = 1;
        shape_of_x.dims[2] = 4;
        run_case(&k, true, 0);
        run_case(&k, false, 0);
        shape_of_x.rank = 0;
    }
}

static uint32_t nodes_of_type(const NNRT_Model *model, NNRT_NodeType type)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->nodes.count; i++)
        count += model->nodes.data[i].nodeType == type;
    return count;
}

/* No BITCAST is left between a quantized producer and a quantized consumer, directly or with movers between them; one is
   left where plain integers are computed with, or an operator reads them by other parameters. x = -1 0 1 2, q = 2x + 3. */
static void test_bitcasts(void **state)
{
#define START                                                                                                          \
    "in x f32 [1,1,2,2]; const s f32 [] 0.5; const z u8 [] 3; const r f32 [] 0.25; const v i64 [4] 1 1 1 4; "            \
    "q = QuantizeLinear x s z; "
    static const struct {
        uint32_t bitcasts;
        import_case k;
    } cases[] = {
        {0, {"directly", START "a = DequantizeLinear q s z; b = DequantizeLinear q s z; y = Add a b;", 13, {"-1 0 1 2"},
             NNRT_SUCCESS, "1,1,2,2", "-2 0 2 4", 0}},
        {0, {"movers", START "a = Transpose q perm:I=0,1,3,2; b = Reshape a v; y = DequantizeLinear b s z;", 13,
             {"-1 0 1 2"}, NNRT_SUCCESS, "1,1,1,4", "-1 1 0 2", 0}},
        {0, {"joined", START "p = QuantizeLinear x s z; a = Concat p q axis:i=1; y = DequantizeLinear a s z;", 13,
             {"-1 0 1 2"}, NNRT_SUCCESS, "1,2,2,2", "-1 0 1 2 -1 0 1 2", 0}},
        {1, {"another scale", START "y = DequantizeLinear q r z;", 13, {"-1 0 1 2"}, NNRT_SUCCESS, "1,1,2,2",
             "-0.5 0 0.5 1", 0}},
        {2, {"joined by other scales", START "p = QuantizeLinear x r z; a = Concat p q axis:i=1; y = Identity a;", 13,
             {"-1 0 1 2"}, NNRT_SUCCESS, "1,2,2,2", "0 3 7 11 1 3 5 7", 0}},
        {3, {"joined with another scale", START "p = QuantizeLinear x r z; a = Concat q p axis:i=1; y = DequantizeLinear a s z;",
             13, {"-1 0 1 2"}, NNRT_SUCCESS, "1,2,2,2", "-1 0 1 2 -1.5 0 2 4", 0}},
        {1, {"computed with", START "y = BitwiseNot q;", 18, {"-1 0 1 2"}, NNRT_SUCCESS, "1,1,2,2", "254 252 250 248", 0}},
        {0, {"a result of the model", START "y = QuantizeLinear x s z;", 13, {"-1 0 1 2"}, NNRT_SUCCESS, "1,1,2,2", "1 3 5 7", 0}},
        {1, {"a quantized product", START "const w i8 [1,1,1,1] 4; const o i8 [] 0; c = QLinearConv q s z w r o s z; "
             "y = Cast c to:i=1;", 13, {"-1 0 1 2"}, NNRT_SUCCESS, "1,1,2,2", "1 3 5 7", 0}},
    };
#undef START
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const message m = build(cases[i].k.model, cases[i].k.opset);
        NNRT_Model *model = NULL;
        nnrt_error error;
        memset(&error, 0, sizeof(error));
        if (nnrt_onnx_load_memory(&model, m.data, m.size, NULL, &error) != NNRT_SUCCESS)
            fail_msg("%s: %s", cases[i].k.name, error.message);
        if (nodes_of_type(model, NNRT_NODE_TYPE_BITCAST) != cases[i].bitcasts)
            fail_msg("%s: %u BITCAST of %u nodes", cases[i].k.name, nodes_of_type(model, NNRT_NODE_TYPE_BITCAST),
                     model->nodes.count);
        nnrt_model_destroy(model);
        run_cases(&cases[i].k, 1);
    }
}

/* An integer input that is read only by DequantizeLinear with one scale and zero point gets these parameters: later nodes
   compute in integers. An input with other readers is unchanged. d = (x - 1) / 2. */
static void test_quantised_input(void **state)
{
#define READ "in x i8 [4]; const s f32 [] 0.5; const z i8 [] 1; const o i8 [] 0; d = DequantizeLinear x s z; "
#define SUMMED "graph; in a f32 []; in b f32 []; n = Add a b; out n; done; "
    static const struct {
        bool quantised;
        uint32_t nodes; /* 0: not looked at */
        import_case k;
    } cases[] = {
        {true, 1, {"only that", READ "e = DequantizeLinear x s z; k = Add d e; y = QuantizeLinear k s o;", 13,
                   {"1 2 3 -4"}, NNRT_SUCCESS, "4", "0 2 4 -10", 0}},
        {false, 0, {"its elements", READ "c = Cast x to:i=1; y = Add d c;", 13,
                    {"1 2 3 -4"}, NNRT_SUCCESS, "4", "1 2.5 4 -6.5", 0}},
        {false, 0, {"its elements before", "in x i8 [4]; c = Cast x to:i=1; const s f32 [] 0.5; const z i8 [] 1; "
                    "d = DequantizeLinear x s z; y = Add d c;", 13,
                    {"1 2 3 -4"}, NNRT_SUCCESS, "4", "1 2.5 4 -6.5", 0}},
        {false, 0, {"another scale", READ "const t f32 [] 4; e = DequantizeLinear x t z; y = Add d e;", 13,
                    {"1 2 3 -4"}, NNRT_SUCCESS, "4", "0 4.5 9 -22.5", 0}},
        {false, 0, {"another zero point", READ "e = DequantizeLinear x s o; y = Add d e;", 13,
                    {"1 2 3 -4"}, NNRT_SUCCESS, "4", "0.5 1.5 2.5 -4.5", 0}},
        {false, 0, {"no zero point", READ "e = DequantizeLinear x s; y = Add d e;", 13,
                    {"1 2 3 -4"}, NNRT_SUCCESS, "4", "0.5 1.5 2.5 -4.5", 0}},
        {false, 0, {"a graph inside", SUMMED READ "const i f32 [] 10; y = Scan i d body:g= num_scan_inputs:i=1;", 11,
                    {"1 2 3 -4"}, NNRT_SUCCESS, "", "9", 0}},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const message m = build(cases[i].k.model, cases[i].k.opset);
        NNRT_Model *model = NULL;
        const NNRT_Tensor *x;
        nnrt_error error;
        memset(&error, 0, sizeof(error));
        if (nnrt_onnx_load_memory(&model, m.data, m.size, NULL, &error) != NNRT_SUCCESS)
            fail_msg("%s: %s", cases[i].k.name, error.message);
        x = &model->allTensors.data[model->inputIndex.data[0]];
        if (x->quantParams.count != (cases[i].quantised ? 1u : 0u) ||
            (cases[i].nodes > 0 && model->nodes.count != cases[i].nodes))
            fail_msg("%s: %u parameters, %u nodes", cases[i].k.name, x->quantParams.count, model->nodes.count);
        if (cases[i].quantised) {
            assert_true(x->quantParams.data[0].scale == 0.5);
            assert_int_equal(x->quantParams.data[0].zeroPoint, 1);
        }
        nnrt_model_destroy(model);
        run_cases(&cases[i].k, 1);
    }
#undef SUMMED
#undef READ
}

/* Operators with a counterpart become one node of it, for any shape. */
static void test_one_node(void **state)
{
    static const struct {
        const char *op;
        NNRT_NodeType type;
        int64_t opset;
    } cases[] = {
        {"Abs x", NNRT_NODE_TYPE_ABS, 13},
        {"Ceil x", NNRT_NODE_TYPE_CEIL, 13},
        {"Cos x", NNRT_NODE_TYPE_COS, 7},
        {"Erf x", NNRT_NODE_TYPE_ERF, 13},
        {"Floor x", NNRT_NODE_TYPE_FLOOR, 13},
        {"HardSigmoid x", NNRT_NODE_TYPE_HARD_SIGMOID, 6},
        {"LeakyRelu x", NNRT_NODE_TYPE_LEAKY_RELU, 16},
        {"Log x", NNRT_NODE_TYPE_LOG, 13},
        {"Neg x", NNRT_NODE_TYPE_NEG, 13},
        {"Reciprocal x", NNRT_NODE_TYPE_RECIPROCAL, 13},
        {"Round x", NNRT_NODE_TYPE_ROUND, 11},
        {"Sin x", NNRT_NODE_TYPE_SIN, 7},
        {"Softplus x", NNRT_NODE_TYPE_SOFTPLUS, 1},
        {"Sqrt x", NNRT_NODE_TYPE_SQRT, 13},
        {"Clip x min:f=-1 max:f=2", NNRT_NODE_TYPE_CLIP, 6},
        {"IsNaN x", NNRT_NODE_TYPE_IS_NAN, 13},
        {"Equal x p", NNRT_NODE_TYPE_EQUAL, 13},
        {"Greater x p", NNRT_NODE_TYPE_GREATER, 13},
        {"GreaterOrEqual x p", NNRT_NODE_TYPE_GREATER_EQUAL, 12},
        {"Less x p", NNRT_NODE_TYPE_LESS, 13},
        {"LessOrEqual x p", NNRT_NODE_TYPE_LESS_EQUAL, 12},
        {"Mod x p fmod:i=1", NNRT_NODE_TYPE_MOD, 13},
        {"Sum x p", NNRT_NODE_TYPE_ADD_FUSION, 13},
        {"Sum x p x", NNRT_NODE_TYPE_ADD_N, 13},
        {"Tan x", NNRT_NODE_TYPE_TAN, 7},
        {"Asin x", NNRT_NODE_TYPE_ASIN, 7},
        {"Acos x", NNRT_NODE_TYPE_ACOS, 7},
        {"Atan x", NNRT_NODE_TYPE_ATAN, 7},
        {"Sinh x", NNRT_NODE_TYPE_SINH, 9},
        {"Cosh x", NNRT_NODE_TYPE_COSH, 9},
        {"Asinh x", NNRT_NODE_TYPE_ASINH, 9},
        {"Acosh x", NNRT_NODE_TYPE_ACOSH, 9},
        {"Atanh x", NNRT_NODE_TYPE_ATANH, 9},
        {"IsInf x", NNRT_NODE_TYPE_IS_INF, 10},
        {"Mish x", NNRT_NODE_TYPE_MISH, 18},
        {"Trilu x", NNRT_NODE_TYPE_TRILU, 14},
        {"EyeLike x", NNRT_NODE_TYPE_EYE_LIKE, 9},
        {"Hardmax x axis:i=1", NNRT_NODE_TYPE_HARDMAX, 13},
        {"Unique x", NNRT_NODE_TYPE_UNIQUE, 11},
        {"Det x", NNRT_NODE_TYPE_DET, 11},
        {"Einsum x p equation:s=ij,j->i", NNRT_NODE_TYPE_EINSUM, 12},
        {"LayerNormalization x c c", NNRT_NODE_TYPE_LAYER_NORM_FUSION, 17}, /* whose scale is fixed */
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        NNRT_Model *model = NULL;
        nnrt_onnx_desc desc;
        nnrt_error e;
        char text[128];
        message m;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.no_optimize = true;
        snprintf(text, sizeof(text), "in x f32 [n,n]; in p f32 [n]; const c f32 [2] 1 2; y = %s;", cases[i].op);
        m = build(text, cases[i].opset);
        if (nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", cases[i].op, e.message);
        if (model->nodes.count != 1 || model->nodes.data[0].nodeType != cases[i].type)
            fail_msg("%s: %u nodes, the first of type %d, expected one of %d", cases[i].op,
                     (unsigned)model->nodes.count, (int)model->nodes.data[0].nodeType, (int)cases[i].type);
        nnrt_model_destroy(model);
    }
}

/* The rank of a result is that of its operands, whatever a handler puts between. */
static void test_ranks(void **state)
{
    static const import_case cases[] = {
        {"Min of scalars", "in a i64 []; const b i64 [] 4; y = Min a b;", 13, {"7"}, NNRT_SUCCESS, "", "4", 0},
        {"Min of scalars, uint8", "in a u8 []; in b u8 []; y = Min a b;", 13, {"7", "250"}, NNRT_SUCCESS, "", "7", 0},
        {"Min of lists",
         "in a i32 [2]; in b i32 [1]; y = Min a b;",
         13,
         {"7 -2147483648", "0"},
         NNRT_SUCCESS,
         "2",
         "0 -2147483648",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* x * 0.5 * (1 + erf(x / sqrt(2))) is one step, but not where a constant gives the result more axes than x has. gelu(1)
   = 0.8413447, gelu(-1) = -0.1586553. */
static void test_gelu_pattern(void **state)
{
#define GELU_OF(type, root, one, half, mul)                                                                            \
    "in x " type " [2]; const r " type " [" root "] 1.41421356; const o " type " [" one "] 1; const h " type " [" half \
    "] 0.5; a = Div x r; b = Erf a; c = Add b o; " mul
#define GELU(root, one, half, mul) GELU_OF("f32", root, one, half, mul)
    static const import_case cases[] = {
        {"of float16", /* one rounding of 2^-11 */
         GELU_OF("f16", "", "", "", "d = Mul x c; y = Mul d h;"),
         13,
         {"1 -1"},
         NNRT_SUCCESS,
         "2",
         "0.8413447 -0.1586553",
         3e-4},
        {"scalars",
         GELU("", "", "", "d = Mul x c; y = Mul d h;"),
         13,
         {"1 -1"},
         NNRT_SUCCESS,
         "2",
         "0.8413447 -0.1586553",
         1e-6},
        {"of one axis",
         GELU("1", "1", "1", "d = Mul x h; y = Mul c d;"),
         13,
         {"1 -1"},
         NNRT_SUCCESS,
         "2",
         "0.8413447 -0.1586553",
         1e-6},
        {"half of three",
         GELU("", "", "1,1,1", "d = Mul x c; y = Mul d h;"),
         13,
         {"1 -1"},
         NNRT_SUCCESS,
         "1,1,2",
         "0.8413447 -0.1586553",
         1e-6},
        {"one of two",
         GELU("", "1,1", "", "d = Mul x c; y = Mul d h;"),
         13,
         {"1 -1"},
         NNRT_SUCCESS,
         "1,2",
         "0.8413447 -0.1586553",
         1e-6},
        {"root of two",
         GELU("1,1", "", "", "d = Mul x c; y = Mul d h;"),
         13,
         {"1 -1"},
         NNRT_SUCCESS,
         "1,2",
         "0.8413447 -0.1586553",
         1e-6},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
    for (uint32_t i = 0; i < COUNT(cases); i++) { /* the first three are one step, the others are not */
        const message m = build(cases[i].model, cases[i].opset);
        NNRT_Model *model = NULL;
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(model->nodes.count == 1, i < 3);
        nnrt_model_destroy(model);
    }
}

/* A node that computes an activation becomes one, in float16, too. */
static void test_clip_activation(void **state)
{
    static const import_case cases[] = {
        {"float32",
         "in x f32 [4]; const l f32 [] 0; const h f32 [] 6; y = Clip x l h;",
         13,
         {"nan -1 5 7"},
         NNRT_SUCCESS,
         "4",
         "nan 0 5 6",
         0},
        {"float16",
         "in x f16 [4]; const l f16 [] 0; const h f16 [] 6; y = Clip x l h;",
         13,
         {"nan -1 5 7"},
         NNRT_SUCCESS,
         "4",
         "nan 0 5 6",
         0},
        {"float16, from below",
         "in x f16 [4]; const l f16 [] 0; y = Clip x l;",
         13,
         {"nan -1 5 inf"},
         NNRT_SUCCESS,
         "4",
         "nan 0 5 inf",
         0},
        {"float16, other bounds",
         "in x f16 [4]; const l f16 [] 0; const h f16 [] 5.996; y = Clip x l h;",
         13,
         {"nan -1 5 7"},
         NNRT_SUCCESS,
         "4",
         "nan 0 5 5.99609375",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const message m = build(cases[i].model, cases[i].opset);
        NNRT_Model *model = NULL;
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(model->nodes.count, 1);
        assert_int_equal(model->nodes.data[0].nodeType, i < 3 ? NNRT_NODE_TYPE_ACTIVATION : NNRT_NODE_TYPE_CLIP);
        nnrt_model_destroy(model);
    }
}

/* max(0, x) + min(0, alpha * (e^(x/alpha) - 1)): with alpha -2 and x = -2 that is -2 * (e - 1), and x for x > 0. */
static void test_celu(void **state)
{
    static const import_case cases[] = {
        {"alpha 2", "in x f32 [3]; y = Celu x alpha:f=2;", 12, {"-2 0 3"}, NNRT_SUCCESS, "3", "-1.26424112 0 3", 1e-6},
        {"alpha -2",
         "in x f32 [4]; y = Celu x alpha:f=-2;",
         12,
         {"-2 0 3 nan"},
         NNRT_SUCCESS,
         "4",
         "-3.43656366 0 3 nan",
         1e-6},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* The message for one axis too many has the limit of this build. */
static void test_too_many_axes(void **state)
{
    char axes[64] = "1", more[80], model[256], said[64];
    import_case k = {"axes", model, 13, {"0"}, NNRT_INVALID_SHAPE, NULL, said, 0};
    (void)state;
    for (int32_t i = 1; i < NNRT_MAX_RANK; i++)
        strcat(axes, ",1");
    snprintf(more, sizeof(more), "%s,1", axes);
    snprintf(said, sizeof(said), "%d axes, at most %d are possible", NNRT_MAX_RANK + 1, NNRT_MAX_RANK);
    snprintf(model, sizeof(model), "in x f32 [%s]; y = Neg x;", more);
    run_cases(&k, 1);
    snprintf(model, sizeof(model), "in x f32 [1]; const c f32 [%s] 1; y = Add x c;", more);
    run_cases(&k, 1);
    snprintf(model, sizeof(model), "in x f32 [%s]; const a i64 [1] 0; y = Unsqueeze x a;", axes);
    run_cases(&k, 1);
    snprintf(model, sizeof(model), "in x f32 [%s]; y = Neg x;", axes);
    k.code = NNRT_SUCCESS;
    k.dims = axes;
    k.values = "-0";
    run_cases(&k, 1);
}

/* Erf over all magnitudes, small ones too; the truth is the C library's. */
static void test_erf(void **state)
{
    enum { N = 4096 };
    static float x[N], y[N];
    static uint16_t half[N], got[N];
    const message m = build("in x f32 [4096]; y = Erf x;", 13), m16 = build("in x f16 [4096]; y = Erf x;", 13);
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    (void)state;
    for (uint32_t i = 0; i < N; i++) { /* from 2^-126 to 16, both signs; the first is 0 */
        x[i] = i == 0 ? 0.0f : (i % 2 != 0 ? -1.0f : 1.0f) * (float)ldexp(1 + i % 31 / 31.0, (int)(i / 2 % 130) - 126);
        half[i] = (uint16_t)(i * 16 % 0x7C00 | (i % 2 != 0 ? 0x8000u : 0u));
    }
    assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_create(&session, model, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    for (uint32_t i = 0; i < N; i++)
        if (!(fabs((double)y[i] - erf((double)x[i])) <= 3e-7))
            fail_msg("erf(%.9g) = %.9g", (double)x[i], (double)y[i]);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    assert_int_equal(nnrt_onnx_load_memory(&model, m16.data, m16.size, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_create(&session, model, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, NNRT_IO(half), NNRT_IO(got)), NNRT_SUCCESS);
    for (uint32_t i = 0; i < N; i++) {
        const double want = erf(number_from(NNRT_DATA_TYPE_FLOAT16, &half[i]));
        if (!(fabs(number_from(NNRT_DATA_TYPE_FLOAT16, &got[i]) - want) <= 2.5e-4)) /* half a unit below 1 */
            fail_msg("erf of 0x%04x is 0x%04x, expected %.9g", half[i], got[i], want);
    }
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
}

/* Outputs keep their names and their order, whatever else is the same value: another output, an input, a constant. */
static void test_outputs(void **state)
{
    static const struct {
        const char *model, *names[3];
        float values[3]; /* of the first element, for x = -2 */
        uint32_t count;
    } cases[] = {
        {"in x f32 [1]; y = Relu x; z = Identity y; out y; out z;", {"y", "z"}, {0, 0}, 2},
        {"in x f32 [1]; y = Relu x; z = Identity y; out z; out y;", {"z", "y"}, {0, 0}, 2},
        {"in x f32 [1]; y = Relu x; out y; out x;", {"y", "x"}, {0, -2}, 2},
        {"in x f32 [1]; y = Identity x; z = Neg x; out y; out x; out z;", {"y", "x", "z"}, {-2, -2, 2}, 3},
        {"in x f32 [1]; const c f32 [1] 5; y = Neg x; d = Identity c; out c; out y; out d;",
         {"c", "y", "d"},
         {5, 2, 5},
         3},
    };
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(cases); i++) {
        const message m = build(cases[i / 2].model, 13);
        NNRT_Model *model = NULL;
        nnrt_session *session = NULL;
        nnrt_onnx_desc desc;
        nnrt_error e;
        float x = -2, out[3] = {99, 99, 99};
        nnrt_io in = nnrt_io_make(&x, sizeof(x)), y[3];
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.no_optimize = i % 2 != 0;
        if (nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e) != NNRT_SUCCESS ||
            nnrt_session_create(&session, model, NULL, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", cases[i / 2].model, e.message);
        assert_int_equal(nnrt_session_outputs(session), cases[i / 2].count);
        for (uint32_t k = 0; k < cases[i / 2].count; k++) {
            assert_string_equal(nnrt_session_output(session, k).name, cases[i / 2].names[k]);
            y[k] = nnrt_io_make(&out[k], sizeof(out[k]));
        }
        assert_int_equal(nnrt_run(session, &in, 1, y, cases[i / 2].count), NNRT_SUCCESS);
        for (uint32_t k = 0; k < cases[i / 2].count; k++)
            assert_true(out[k] == cases[i / 2].values[k]);
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
    }
}

/* metadata_props "states": the session keeps them, also after other inputs; with outputs of the caller they are left out, and a
   pair that the model does not have is refused. */
static void test_states(void **state)
{
    static const char *const values[] = {"s=z", "s=q"};
    static const char *const only[] = {"y"};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        message m = build("in s f32 [1]; in x f32 [1]; z = Add s x; y = Relu z; out z; out y;", 13), entry = {{0}, 0};
        NNRT_Model *model = NULL;
        nnrt_session *session = NULL;
        nnrt_onnx_desc desc;
        nnrt_error e;
        float x = 2, y = 0;
        nnrt_io in = nnrt_io_make(&x, sizeof(x)), out = nnrt_io_make(&y, sizeof(y));
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        put_text(&entry, 1, "states");
        put_text(&entry, 2, values[i % 2]);
        put_message(&m, 14, &entry);
        if (i == 2) {
            desc.outputs = only;
            desc.outputCount = 1;
        }
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e),
                         i == 1 ? NNRT_INVALID_PARAMETER : NNRT_SUCCESS);
        if (i == 1) {
            assert_non_null(strstr(e.message, "states, line 1"));
            continue;
        }
        assert_int_equal(nnrt_session_create(&session, model, NULL, &e), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_states(session), i == 0);
        assert_int_equal(nnrt_session_inputs(session), i == 0 ? 1 : 2);
        for (int run = 1; i == 0 && run <= 3; run++) {
            assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
            assert_true(y == 2 * (float)run);
        }
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
    }
}

/* One quantized tensor under two names, with and without passes. */
static void test_quantised_outputs(void **state)
{
    const message m = build("in x f32 [2]; const s f32 [] 0.5; const z i8 [] 3; q = QuantizeLinear x s z; i = Identity q; "
                            "out i; out q;",
                            13);
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        NNRT_Model *model = NULL;
        nnrt_session *session = NULL;
        nnrt_onnx_desc desc;
        nnrt_error e;
        const float x[2] = {-2, 1.5f};
        int8_t y[2][2] = {{99, 99}, {99, 99}};
        nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, sizeof(x)), out[2];
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.no_optimize = plain != 0;
        if (nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e) != NNRT_SUCCESS ||
            nnrt_session_create(&session, model, NULL, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        for (uint32_t k = 0; k < 2; k++) {
            assert_string_equal(nnrt_session_output(session, k).name, k == 0 ? "i" : "q");
            out[k] = nnrt_io_make(y[k], sizeof(y[k]));
        }
        assert_int_equal(nnrt_run(session, &in, 1, out, 2), NNRT_SUCCESS);
        for (uint32_t k = 0; k < 2; k++)
            assert_true(y[k][0] == -1 && y[k][1] == 6);
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
    }
}

/* Values that depend on a dynamic dimension are computed when it is known, not from a placeholder: one model, imported once for
   all shapes, is run with one and with two elements. */
static void test_open_extents(void **state)
{
    static const struct {
        const char *name, *model;
        const char *dims1, *values1; /* for x = 5 */
        const char *dims2, *values2; /* for x = 5, 7 */
    } cases[] = {
        {"the shape compared with 1",
         "in x f32 [n]; const one i64 [1] 1; s = Shape x; b = Equal s one; c = Cast b to:i=1; y = Add x c;", "1", "6",
         "2", "5 7"},
        {"an entry of it compared with 1",
         "in x f32 [n]; const i i64 [] 0; const one i64 [] 1; s = Shape x; d = Gather s i; b = Equal d one; "
         "c = Cast b to:i=1; y = Add x c;",
         "1", "6", "2", "5 7"},
        {"a slice cut off at the end",
         "in x f32 [n]; const b i64 [1] 0; const e i64 [1] 2; p = Slice x b e; s = Shape p; y = ConstantOfShape s;",
         "1", "0", "2", "0 0"},
        {"a mean over a slice",
         "in x f32 [n]; const b i64 [1] 0; const e i64 [1] 2; p = Slice x b e; c = Size p; f = Cast c to:i=1; "
         "r = ReduceSum p keepdims:i=0; y = Div r f;",
         "", "5", "", "6"},
        {"a slice up to half of it",
         "in x f32 [n]; const b i64 [1] 0; const two i64 [1] 2; const one i64 [1] 1; s = Shape x; m = Add s one; "
         "e = Div m two; y = Slice x b e;",
         "1", "5", "1", "5"},
        {"a list of fixed and dynamic dimensions",
         "in x f32 [n]; const one i64 [1] 1; s = Shape x; l = Concat one s one axis:i=0; y = Reshape x l;", "1,1,1",
         "5", "1,2,1", "5 7"},
        {"an extent doubled beside a fixed one",
         "in x f32 [n]; const a i64 [1] 0; const t i64 [2] 1 2; u = Unsqueeze x a; s = Shape u; m = Mul s t; "
         "y = ConstantOfShape m;",
         "1,2", "0 0", "1,4", "0 0 0 0"},
        {"axes of 1 dropped", "in x f32 [n]; y = Squeeze x;", "", "5", "2", "5 7"},
        {"axes of 1 dropped, and a condition of one axis",
         "in x f32 [n]; const a i64 [1] 0; const b i64 [1] 1; const k f32 [] 6; c = Less x k; u = Unsqueeze x a; t = "
         "Unsqueeze x b; m = Mul u t; s = Squeeze m; y = Where c s x;",
         "1", "25", "2,2", "25 7 35 7"},
        {"axes of 1 dropped, and the larger one",
         "in x f32 [n]; const a i64 [1] 0; const b i64 [1] 1; u = Unsqueeze x a; t = Unsqueeze x b; m = Sub u t; s = "
         "Squeeze m; y = Max x s;",
         "1", "5", "2,2", "5 7 5 7"},
        {"a broadcast", "in x f32 [n]; const c f32 [1] 1; y = Add x c;", "1", "6", "2", "6 8"},
        {"a broadcast with an extent of two", "in x f32 [n]; const c f32 [2] 1 2; y = Add x c;", "2", "6 7", "2",
         "6 9"},
        {"all elements counted from the end",
         "in x f32 [n]; const b i64 [1] -1; const e i64 [1] 9999; y = Slice x b e;", "1", "5", "1", "7"},
    };
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(cases); i++) {
        import_case k = {cases[i / 2].name,  cases[i / 2].model,   13, {"5"}, NNRT_SUCCESS,
                         cases[i / 2].dims1, cases[i / 2].values1, 0};
        run_case(&k, i % 2 != 0, 1);
        k.inputs[0] = "5 7";
        k.dims = cases[i / 2].dims2;
        k.values = cases[i / 2].values2;
        run_case(&k, i % 2 != 0, 2);
    }
}

/* ---- dynamic dimensions: the same bits as with fixed ones ---- */

#define ANSWER_BYTES 65536

typedef struct answer {
    NNRT_ReturnCode code;
    char message[512];
    nnrt_dims shape;
    NNRT_DataType type;
    size_t bytes;
    uint8_t data[ANSWER_BYTES];
} answer;

/* "2,3|4": dimensions of one input after another, and "|!" at the end; returns how many inputs. */
static uint32_t read_shapes(const char *text, nnrt_dims shapes[3])
{
    uint32_t count = 0;
    memset(shapes, 0, 3 * sizeof(*shapes));
    for (const char *at = text; *at != '\0' && *at != '!'; count++) {
        assert_true(count < 3);
        while (*at != '|' && *at != '\0') {
            char *end;
            shapes[count].dims[shapes[count].rank++] = (int32_t)strtol(at, &end, 10);
            at = end + (*end == ',' ? 1 : 0);
        }
        at += *at == '|' ? 1 : 0;
    }
    return count;
}

/* Elements for an input: floats of both signs, integers 0 and -1, which every axis has as an index. */
static void fill_input(NNRT_DataType type, size_t bytes, uint32_t seed, uint8_t *to)
{
    const size_t width = nnrt_type_size(type);
    for (size_t i = 0; i < bytes / width; i++) {
        seed = seed * 1664525u + 1013904223u;
        number_to(type, type == NNRT_DATA_TYPE_INT64 ? -(double)(seed >> 31) : (double)(seed >> 8) / 2097152.0 - 4.0,
                  to + i * width);
    }
}

/* Runs with inputs of these shapes, set in the run or as planned. */
static void answer_of(nnrt_session *session, const nnrt_dims *shapes, bool told, answer *a)
{
    static uint8_t in[3][ANSWER_BYTES];
    nnrt_io io[3], y = nnrt_io_make(a->data, sizeof(a->data));
    nnrt_io_info info;
    const uint32_t count = nnrt_session_inputs(session);
    memset(io, 0, sizeof(io));
    assert_true(count <= 3);
    for (uint32_t i = 0; i < count; i++) {
        const NNRT_DataType type = nnrt_session_input(session, i).dataType;
        size_t bytes = 0;
        assert_true(nnrt_dims_bytes(shapes[i].dims, shapes[i].rank, type, &bytes) && bytes <= ANSWER_BYTES);
        fill_input(type, bytes, i, in[i]);
        io[i] = nnrt_io_make(in[i], bytes);
        io[i].dims = told ? shapes[i].dims : NULL;
    }
    a->code = nnrt_run(session, io, count, &y, 1);
    snprintf(a->message, sizeof(a->message), "%s", nnrt_session_error(session));
    info = nnrt_session_output(session, 0);
    a->shape = info.shape;
    a->type = info.dataType;
    a->bytes = info.bytes;
}

/* A session of the model, one run. */
static void answer_once(NNRT_Model *model, const nnrt_dims *shapes, uint32_t count, answer *a)
{
    nnrt_session *session = NULL;
    nnrt_session_desc how;
    nnrt_error e;
    memset(&how, 0, sizeof(how));
    memset(&e, 0, sizeof(e));
    how.inputDims = nnrt_dims_list_make(shapes, count);
    a->code = nnrt_session_create(&session, model, &how, &e);
    snprintf(a->message, sizeof(a->message), "%s", e.message);
    if (a->code == NNRT_SUCCESS)
        answer_of(session, shapes, false, a);
    nnrt_session_destroy(session);
}

static void same_answer(const char *name, const char *way, const char *shapes, double tolerance, const answer *want,
                        const answer *got)
{
    const size_t width = nnrt_type_size(want->type);
    if ((want->code == NNRT_SUCCESS) != (got->code == NNRT_SUCCESS))
        fail_msg("%s, %s, shapes given in the %s: '%s', when imported '%s'", name, shapes, way, got->message,
                 want->message);
    if (want->code != NNRT_SUCCESS)
        return;
    if (want->bytes != got->bytes || want->type != got->type || want->shape.rank != got->shape.rank ||
        memcmp(want->shape.dims, got->shape.dims, (size_t)want->shape.rank * sizeof(int32_t)) != 0)
        fail_msg("%s, %s, shapes given in the %s: another shape", name, shapes, way);
    for (size_t i = 0; i < want->bytes / width; i++) {
        const double a = number_from(want->type, want->data + i * width),
                     b = number_from(got->type, got->data + i * width);
        if (memcmp(want->data + i * width, got->data + i * width, width) != 0 &&
            !(tolerance > 0 && fabs(a - b) <= tolerance * (1 + fabs(a))))
            fail_msg("%s, %s, shapes given in the %s: element %u is %.9g, not %.9g", name, shapes, way, (unsigned)i, b,
                     a);
    }
}

typedef struct open_case {
    const char *name, *model;
    int64_t opset;
    double tolerance;
    const char *runs[8];
} open_case;

/* m: of the file, whose bytes the model uses. */
static NNRT_Model *load_shaped(const message *m, bool optimised, const nnrt_dims *shapes, uint32_t count, answer *a)
{
    static const char *const names[3] = {"x", "p", "q"};
    nnrt_onnx_input inputs[3];
    NNRT_Model *model = NULL;
    nnrt_onnx_desc desc;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    memset(inputs, 0, sizeof(inputs));
    for (uint32_t i = 0; i < count; i++) {
        inputs[i].name = names[i];
        inputs[i].shape = shapes[i];
    }
    desc.inputs = inputs;
    desc.inputCount = count;
    desc.no_optimize = !optimised;
    a->code = nnrt_onnx_load_memory(&model, m->data, m->size, &desc, &e);
    snprintf(a->message, sizeof(a->message), "%s", e.message);
    return model;
}

/* A session for all runs of a case: bounds are the largest dimensions of all cases. */
static nnrt_session *open_session(const open_case *k, NNRT_Model *model)
{
    nnrt_bound bounds[3];
    nnrt_dims shapes[3];
    nnrt_session *session = NULL;
    nnrt_session_desc how;
    nnrt_error e;
    uint32_t count = 0;
    memset(&how, 0, sizeof(how));
    memset(&e, 0, sizeof(e));
    memset(bounds, 0, sizeof(bounds));
    for (uint32_t r = 0; r < COUNT(k->runs) && k->runs[r] != NULL; r++) {
        count = read_shapes(k->runs[r], shapes);
        for (uint32_t i = 0; i < count; i++) {
            bounds[i].tensor = model->allTensors.data[model->inputIndex.data[i]].name;
            bounds[i].most.rank = shapes[i].rank;
            for (int32_t d = 0; d < shapes[i].rank; d++)
                if (shapes[i].dims[d] > bounds[i].most.dims[d])
                    bounds[i].most.dims[d] = shapes[i].dims[d];
        }
    }
    how.bounds = nnrt_bound_list_make(bounds, count);
    if (nnrt_session_create(&session, model, &how, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", k->name, e.message);
    return session;
}

static void run_open_case(const open_case *k, bool optimised)
{
    static answer want, got;
    const message m = build(k->model, k->opset);
    NNRT_Model *open = load_shaped(&m, optimised, NULL, 0, &got);
    nnrt_session *session;
    if (NNRT_MAX_RANK < 6 && strstr(got.message, "axes, this build has at most") != NULL) {
        assert_int_equal(got.code, NNRT_INVALID_SHAPE);
        return;
    }
    if (got.code != NNRT_SUCCESS)
        fail_msg("%s: %s", k->name, got.message);
    session = open_session(k, open);
    for (uint32_t r = 0; r < COUNT(k->runs) && k->runs[r] != NULL; r++) {
        nnrt_dims shapes[3];
        const uint32_t count = read_shapes(k->runs[r], shapes);
        NNRT_Model *fixed = load_shaped(&m, optimised, shapes, count, &want);
        if (want.code == NNRT_SUCCESS)
            answer_once(fixed, shapes, count, &want);
        answer_once(open, shapes, count, &got);
        same_answer(k->name, "session", k->runs[r], k->tolerance, &want, &got);
        answer_of(session, shapes, true, &got);
        same_answer(k->name, "run", k->runs[r], k->tolerance, &want, &got);
        if ((strchr(k->runs[r], '!') == NULL) != (want.code == NNRT_SUCCESS))
            fail_msg("%s, %s: %s", k->name, k->runs[r], want.message);
        nnrt_model_destroy(fixed);
    }
    nnrt_session_destroy(session);
    nnrt_model_destroy(open);
}

/* The upper bound of a Range up to a number of elements, at most 10: ceil((limit - start) / delta), also downward. */
static void test_range_bounds(void **state)
{
    static const struct {
        int32_t start, delta, most;
    } cases[] = {{0, 1, 10}, {0, 3, 4}, {2, 3, 3}, {-1, 4, 3}, {4, 6, 1}, {7, 1, 3}};
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(cases); i++) {
        const int32_t start = cases[i / 2].start, delta = cases[i / 2].delta;
        const bool down = i % 2 != 0; /* the start is the number of elements, the limit is fixed */
        char text[160];
        NNRT_Model *model = NULL;
        nnrt_session *session = NULL;
        nnrt_session_desc desc;
        nnrt_bound bound;
        message m;
        (void)snprintf(text, sizeof(text), "in x f32 [n]; const a i64 [] %d; const d i64 [] %d; l = Size x; y = Range %s d;",
                       start, down ? -delta : delta, down ? "l a" : "a l");
        m = build(text, 13);
        memset(&desc, 0, sizeof(desc));
        memset(&bound, 0, sizeof(bound));
        bound.tensor = "x";
        bound.most.rank = 1;
        bound.most.dims[0] = 10;
        desc.bounds = nnrt_bound_list_make(&bound, 1);
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_create(&session, model, &desc, NULL), NNRT_SUCCESS);
        if (nnrt_session_output(session, 0).shape.dims[0] != cases[i / 2].most)
            fail_msg("%s: bound %d", text, nnrt_session_output(session, 0).shape.dims[0]);
        for (int32_t n = 0; n <= 10; n++) {
            float x[10] = {0};
            int64_t y[10];
            nnrt_io in = nnrt_io_make(x, (size_t)n * sizeof(*x)), out = nnrt_io_make(y, sizeof(y));
            const int32_t from = down ? n : start, to = down ? start : n;
            int32_t count = 0;
            in.dims = &n;
            assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
            for (int32_t v = from; down ? v > to : v < to; v += down ? -delta : delta)
                assert_int_equal(y[count++], v);
            assert_int_equal(nnrt_session_output(session, 0).shape.dims[0], count);
        }
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
    }
}

/* Dynamic dimensions of one name are equal: no broadcasting, in the import or in a run. Unnamed ones are free. */
static void test_named_extents(void **state)
{
    static const open_case cases[] = {
        {"one name", "in x f32 [N,3]; in p f32 [N,3]; y = Add x p;", 13, 0, {"4,3|4,3", "2,3|2,3", "1,3|1,3", "4,3|1,3|!"}},
        {"in two places", "in x f32 [N,M]; in p f32 [M,N]; y = MatMul x p;", 13, 0, {"4,3|3,4", "2,3|3,2", "2,3|3,4|!"}},
        {"in one input", "in x f32 [N,N]; y = Neg x;", 13, 0, {"3,3", "0,0", "2,3|!"}},
        {"two names", "in x f32 [N,3]; in p f32 [M,3]; y = Add x p;", 13, 0, {"4,3|4,3", "4,3|1,3", "1,3|2,3"}},
        {"no name", "in x f32 [n,3]; in p f32 [n,3]; y = Add x p;", 13, 0, {"4,3|4,3", "4,3|1,3", "1,3|2,3"}},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const open_case *k = &cases[i];
        message m = build(k->model, k->opset);
        NNRT_Model *model = NULL;
        nnrt_session *session;
        nnrt_error e;
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, &e), NNRT_SUCCESS);
        session = open_session(k, model);
        for (uint32_t r = 0; r < COUNT(k->runs) && k->runs[r] != NULL; r++) {
            const bool refused = strchr(k->runs[r], '!') != NULL;
            nnrt_dims shapes[3];
            answer got;
            (void)read_shapes(k->runs[r], shapes);
            answer_of(session, shapes, true, &got);
            if (got.code != (refused ? NNRT_INVALID_SHAPE : NNRT_SUCCESS) ||
                (refused && strstr(got.message, "one dimension of the model") == NULL))
                fail_msg("%s, %s: %d '%s'", k->name, k->runs[r], got.code, got.message);
        }
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
    }
}

/* Operators that become several, with all dimensions dynamic: 0, 1, odd ones and the largest. A run that ends in
   "|!" is one that must be refused, however the shapes are given. */
static void test_open_axes(void **state)
{
    static const open_case cases[] = {
        {"Flatten",
         "in x f32 [n,n,n]; y = Flatten x axis:i=2;",
         13,
         0,
         {"2,3,4", "0,3,4", "2,0,4", "2,3,0", "1,1,1", "5,1,3"}},
        {"Flatten all", "in x f32 [n,n,n]; y = Flatten x axis:i=0;", 13, 0, {"2,3,4", "0,3,4", "1,1,1"}},
        {"LogSoftmax",
         "in x f32 [n,n]; y = LogSoftmax x axis:i=1;",
         13,
         1e-6,
         {"2,1", "2,2", "3,7", "2,64", "1,201", "0,3", "2,0"}},
        {"LogSoftmax f64", "in x f64 [n,n]; y = LogSoftmax x axis:i=0;", 13, 1e-14, {"1,1", "2,3", "65,2", "301,1"}},
        {"LogSoftmax f16", "in x f16 [n,n]; y = LogSoftmax x axis:i=1;", 13, 4e-3, {"1,1", "2,3", "2,65"}},
        {"LogSoftmax of axes taken together",
         "in x f32 [n,n,n]; y = LogSoftmax x axis:i=1;",
         11,
         1e-6,
         {"2,1,1", "2,3,5", "1,8,4"}},
        {"ReduceLogSumExp",
         "in x f32 [n,n,n]; y = ReduceLogSumExp x axes:I=0,2 keepdims:i=0;",
         13,
         1e-6,
         {"1,1,1", "2,3,5", "4,1,3", "3,0,2"}},
        {"ReduceLogSumExp of all", "in x f32 [n,n]; y = ReduceLogSumExp x;", 13, 1e-6, {"1,1", "3,5"}},
        {"ReduceLogSum", "in x f32 [n,n]; y = ReduceLogSum x axes:I=0 keepdims:i=0;", 13, 0, {"1,1", "3,5", "0,5"}},
        {"TopK of the smallest",
         "in x f32 [n,n]; const k i64 [1] 2; y = TopK x k axis:i=1 largest:i=0;",
         13,
         0,
         {"1,2", "3,5", "3,1|!"}},
        {"Hardmax", "in x f32 [n,n]; y = Hardmax x axis:i=0;", 13, 0, {"1,1", "3,5", "4,2", "2,0", "0,2"}},
        {"ArgMax from the end",
         "in x f32 [n,n]; y = ArgMax x axis:i=1 keepdims:i=0 select_last_index:i=1;",
         13,
         0,
         {"1,1", "3,5", "4,2", "0,2", "2,0|!"}},
        {"ArgMin from the end", "in x f32 [n,n]; y = ArgMin x axis:i=0 select_last_index:i=1;", 13, 0, {"1,1", "3,5"}},
        {"Expand",
         "in x f32 [n,n]; const s i64 [3] 2 3 1; y = Expand x s;",
         13,
         0,
         {"3,4", "1,4", "1,1", "3,0", "2,4|!", "0,4|!"}},
        {"Expand u8", "in x u8 [n]; const s i64 [2] 2 1; y = Expand x s;", 13, 0, {"4", "1", "0"}},
        {"Expand f16", "in x f16 [n]; const s i64 [2] 2 1; y = Expand x s;", 13, 0, {"4", "1", "0"}},
        {"Expand f64", "in x f64 [n]; const s i64 [2] 2 1; y = Expand x s;", 13, 0, {"4", "1", "0"}},
        {"Expand what is no number",
         "in x f32 [n]; const o f32 [] 0; const s i64 [2] 2 1; i = Div x o; l = Sub i i; q = Concat i l axis:i=0; "
         "y = Expand q s;",
         13,
         0,
         {"4", "1", "0"}},
        {"Expand int64", "in x i64 [n]; const s i64 [2] 2 1; y = Expand x s;", 13, 0, {"4", "1", "0"}},
        {"Expand to a shape",
         "in x f32 [n,n]; in p f32 [n,n]; s = Shape p; y = Expand x s;",
         13,
         0,
         {"1,4|3,1", "3,4|3,4", "1,1|0,2", "3,4|1,1", "2,4|3,4|!"}},
        {"Where",
         "in x f32 [n,n]; in p f32 [n]; in q f32 [n,n,n]; c = Less x p; y = Where c q p;",
         13,
         0,
         {"3,4|4|2,3,4", "1,1|1|1,1,1", "3,1|4|1,1,4", "3,4|1|1,1,1", "1,4|1|5,3,1", "3,0|1|2,1,1", "3,4|4|2,2,4|!"}},
        {"Where of rows that are not chosen",
         "in x f32 [n,n]; in p f32 [n]; const z f32 [] 0; c = Less p z; y = Where c x p;",
         13,
         0,
         {"3,3|3", "2,3|3", "2,2|1", "1,1|1"}},
        {"Where of bools",
         "in x f32 [n]; in p f32 [n]; c = Less x p; d = Not c; y = Where c d c;",
         13,
         0,
         {"3|3", "1|5", "5|1", "0|1"}},
        {"GatherElements",
         "in x f32 [n,n]; in p i64 [n,n]; y = GatherElements x p axis:i=0;",
         13,
         0,
         {"3,4|2,4", "3,4|5,2", "1,1|1,1", "3,4|0,4", "0,4|0,4", "3,4|3,1", "3,3|3,4|!", "0,4|1,4|!"}},
        {"GatherElements of the last axis",
         "in x f32 [n,n,n]; in p i64 [n,n,n]; y = GatherElements x p axis:i=2;",
         13,
         0,
         {"2,3,4|2,3,1", "2,3,4|1,2,7", "1,1,1|1,1,1"}},
        {"ScatterElements",
         "in x f32 [n,n]; in p i64 [n,n]; in q f32 [n,n]; y = ScatterElements x p q axis:i=0 reduction:s=add;",
         18,
         0,
         {"3,4|2,4|2,4", "3,4|5,2|5,2", "1,1|1,1|1,1", "3,4|0,4|0,4", "3,4|2,4|2,3|!", "3,3|3,4|3,4|!",
          "0,4|1,4|1,4|!"}},
        {"ReverseSequence",
         "in x f32 [n,n,n]; in p i64 [n]; y = ReverseSequence x p;",
         13,
         0,
         {"3,2,4|2", "1,1,1|1", "4,0,2|0", "3,2,4|3|!"}},
        {"Trilu, EyeLike",
         "in x f32 [n,n,n]; in p f32 [n,n]; const k i64 [] 1; t = Trilu x k upper:i=0; e = EyeLike p k:i=-1; y = Add t "
         "e;",
         17,
         0,
         {"2,3,4|3,4", "1,1,1|1,1", "2,0,3|0,3", "2,4,4|1,4"}},
        {"SoftmaxCrossEntropyLoss",
         "in x f32 [n,n,n]; in p i64 [n,n]; t = Abs p; y = SoftmaxCrossEntropyLoss x t reduction:s=none;",
         13,
         0,
         {"2,9,4|2,4", "1,9,1|1,1", "0,9,2|0,2", "2,9,4|2,3|!"}},
        {"GatherND",
         "in x f32 [n,n,n]; in p i64 [n,2]; y = GatherND x p;",
         13,
         0,
         {"2,3,4|5,2", "1,1,1|1,2", "2,3,0|4,2", "2,3,4|0,2", "2,0,4|1,2|!"}},
        {"GatherND of batches",
         "in x f32 [n,n,n]; in p i64 [n,n,1]; y = GatherND x p batch_dims:i=1;",
         13,
         0,
         {"2,3,4|2,5,1", "1,1,1|1,1,1", "3,2,2|3,0,1", "2,3,4|3,1,1|!", "2,3,4|1,1,1|!"}},
        {"CumSum", "in x f32 [n,n]; const a i64 [] 1; y = CumSum x a;", 13, 0, {"2,3", "1,1", "0,3", "2,0"}},
        {"Pad, around",
         "in x f32 [n,n]; const p i64 [4] 1 0 0 5; y = Pad x p mode:s=wrap;",
         19,
         0,
         {"2,3", "1,1", "3,2"}},
        {"Pad with the edge",
         "in x f32 [n,n]; const p i64 [4] 1 0 0 2; y = Pad x p mode:s=edge;",
         13,
         0,
         {"2,3", "1,1", "3,2"}},
        {"Range of an extent",
         "in x f32 [n]; const a i64 [] 0; const d i64 [] 1; l = Size x; y = Range a l d;",
         13,
         0,
         {"3", "1", "5", "0"}},
        {"DepthToSpace",
         "in x f32 [n,n,n,n]; y = DepthToSpace x blocksize:i=2;",
         13,
         0,
         {"1,4,2,3", "2,8,1,1", "0,4,2,2", "1,4,0,3", "3,12,1,2", "1,5,2,2|!", "1,3,4,1|!"}},
        {"DepthToSpace CRD",
         "in x f32 [n,n,n,n]; y = DepthToSpace x blocksize:i=2 mode:s=CRD;",
         13,
         0,
         {"1,4,2,3", "2,8,1,1", "1,0,2,3"}},
        {"SpaceToDepth",
         "in x f32 [n,n,n,n]; y = SpaceToDepth x blocksize:i=2;",
         13,
         0,
         {"1,4,2,4", "2,1,6,2", "0,4,2,2", "1,4,0,2", "1,4,3,2|!", "1,4,1,4|!"}},
        {"AveragePool with ceil_mode, one axis open",
         "in x f32 [n,2,9,n]; y = AveragePool x kernel_shape:I=2,2 strides:I=2,1 pads:I=1,1,1,0 ceil_mode:i=1 "
         "count_include_pad:i=1;",
         13,
         0,
         {"2,2,9,2", "1,2,9,5", "1,2,9,1"}},
        {"AveragePool with ceil_mode and padding",
         "in x f32 [n,1,n]; y = AveragePool x kernel_shape:I=3 strides:I=3 pads:I=0,1 ceil_mode:i=1 "
         "count_include_pad:i=1;",
         13,
         0,
         {"1,1,2", "2,1,4", "1,1,5"}},
        {"AveragePool with padding of its own",
         "in x f32 [n,n,n,n]; y = AveragePool x kernel_shape:I=3,2 strides:I=2,2 auto_pad:s=SAME_UPPER "
         "count_include_pad:i=1;",
         13,
         0,
         {"1,2,2,3", "2,1,5,4", "1,1,1,1"}},
        {"GridSample",
         "in x f32 [n,n,n,n]; in p f32 [n,n,n,2]; y = GridSample x p padding_mode:s=reflection;",
         16,
         0,
         {"1,2,3,4|1,2,5,2", "2,1,1,1|2,1,1,2", "2,1,3,3|1,2,2,2|!"}},
        {"RoiAlign",
         "in x f32 [n,n,n,n]; in p f32 [n,4]; const b i64 [2] 0 0; y = RoiAlign x p b output_height:i=2;",
         16,
         0,
         {"1,2,3,4|2,4", "2,1,1,1|2,4", "1,1,3,3|3,4|!"}},
        {"DeformConv",
         "in x f32 [n,n,n,n]; in p f32 [n,8,n,n]; const w f32 [1,1,2,2] 1 2 3 4; y = DeformConv x w p;",
         19,
         0,
         {"1,1,3,4|1,8,2,3", "2,1,2,2|2,8,1,1", "1,1,3,3|1,8,1,2|!", "1,2,3,3|1,8,2,2|!"}},
        {"DeformConv by weights of the run",
         "in x f32 [n,n,n,n]; in p f32 [n,n,n,n]; in q f32 [n,n,n,n]; y = DeformConv x p q;",
         19,
         0,
         {"1,1,3,4|1,1,2,2|1,8,2,3", "2,2,4,4|3,2,3,1|2,6,2,4", "1,2,3,3|1,2,2,2|1,8,2,1|!", "1,2,3,3|1,1,2,2|1,8,2,2|!"}},
        {"AveragePool whose last window may begin behind the data",
         "in x f32 [n,n,n,n]; y = AveragePool x kernel_shape:I=2,2 strides:I=3,2 pads:I=1,1,1,1 ceil_mode:i=1 "
         "count_include_pad:i=1;",
         13,
         0,
         {"1,2,3,3", "2,1,5,4", "1,1,1,1", "1,1,4,6"}},
        {"MaxPool whose last window may begin behind the data",
         "in x f32 [n,n,n]; y = MaxPool x kernel_shape:I=1 strides:I=3 ceil_mode:i=1;",
         13,
         0,
         {"1,2,3", "2,1,4", "1,1,5", "1,1,1"}},
        {"MaxPool with SAME_LOWER",
         "in x f32 [n,n,n]; y = MaxPool x kernel_shape:I=4 strides:I=3 auto_pad:s=SAME_LOWER;",
         13,
         0,
         {"1,2,3", "2,1,4", "1,1,7", "1,1,1"}},
        {"AveragePool with SAME_LOWER",
         "in x f32 [n,n,n,n]; y = AveragePool x kernel_shape:I=2,3 strides:I=1,2 auto_pad:s=SAME_LOWER;",
         13,
         1e-6,
         {"1,2,3,3", "2,1,2,4", "1,1,1,1"}},
        {"Conv with SAME_LOWER",
         "in x f32 [n,n,n,n]; in p f32 [n,n,n,n]; y = Conv x p strides:I=2,3 auto_pad:s=SAME_LOWER;",
         13,
         1e-5,
         {"1,2,5,4|3,2,3,4", "2,1,4,6|1,1,2,2", "1,1,1,1|2,1,2,3", "1,2,4,4|1,1,2,2|!"}},
        {"Conv of one axis with SAME_LOWER",
         "in x f32 [n,n,n]; in p f32 [n,n,n]; in q f32 [n]; y = Conv x p q strides:I=2 auto_pad:s=SAME_LOWER;",
         13,
         1e-5,
         {"1,2,5|3,2,3|3", "2,1,4|1,1,2|1"}},
        {"Resize that keeps the ratio, within the sizes",
         "in x f32 [n,n,n,n]; const s i64 [2] 5 3; y = Resize x - - s axes:I=2,3 keep_aspect_ratio_policy:s=not_larger;",
         18,
         0,
         {"1,1,2,4", "1,2,7,3", "2,1,5,3", "1,1,1,2"}},
        {"Resize that keeps the ratio, at least the sizes",
         "in x f32 [n,n,n,n]; const s i64 [2] 3 2; y = Resize x - - s axes:I=2,3 keep_aspect_ratio_policy:s=not_smaller;",
         18,
         0,
         {"1,1,2,4", "1,2,7,3", "2,1,5,3", "1,1,1,2"}},
        {"Split into uneven parts",
         "in x f32 [n,n]; a b d = Split x axis:i=1 num_outputs:i=3; y = Concat d a b axis:i=1;",
         18,
         0,
         {"2,7", "1,6", "1,1", "3,4", "2,0"}},
        {"Split by sizes that follow from the shape",
         "in x f32 [n,n]; s = Shape x start:i=1; const t i64 [1] 3; h = Div s t; r = Sub s h; l = Concat h r axis:i=0; "
         "a b = Split x l axis:i=1; y = Concat b a axis:i=1;",
         18,
         0,
         {"2,7", "1,6", "1,1", "3,4", "2,0"}},
        {"DequantizeLinear by blocks",
         "in x i8 [n,n]; in p f32 [n,n]; y = DequantizeLinear x p axis:i=1 block_size:i=2;",
         21,
         0,
         {"2,4|2,2", "1,5|1,3", "2,1|2,1", "1,4|1,3|!", "1,4|1,1|!"}},
        {"QuantizeLinear by blocks",
         "in x f32 [n,n]; in p f32 [n,n]; y = QuantizeLinear x p axis:i=0 block_size:i=3;",
         21,
         0,
         {"3,2|1,2", "4,1|2,1", "1,2|1,2", "4,2|1,2|!"}},
        {"Reshape with a literal 0",
         "in x f32 [n,n]; const s i64 [2] 3 0; y = Reshape x s allowzero:i=1;",
         14,
         0,
         {"0,4", "3,0", "2,0", "3,2|!", "1,1|!"}},
        {"RotaryEmbedding",
         "in x f32 [n,n,n,n]; in p f32 [n,n,n]; y = RotaryEmbedding x p p;",
         23,
         0,
         {"1,2,3,4|1,3,2", "2,1,5,6|2,5,3", "1,2,3,4|1,3,3|!", "1,2,3,3|1,3,1|!"}},
        {"Scan of a state that no iteration enlarges",
         "graph; in s f32 [n]; in e f32 [n]; t = Add s e; o = Identity t; out t; out o; done; in x f32 [n]; in p f32 [n,n]; "
         "z y = Scan x p body:g= num_scan_inputs:i=1;",
         16,
         0,
         {"2|3,2", "2|1,2", "1|4,1", "2|2,1"}},
        {"Scan of operator set 8",
         "graph; in s f32 [n]; in e f32 [n]; t = Add s e; o = Identity t; out t; out o; done; in x f32 [n,n]; in p f32 [n,n,n]; "
         "z y = Scan - x p body:g= num_scan_inputs:i=1;",
         8,
         0,
         {"1,2|1,3,2", "1,1|1,4,1", "1,2|2,3,2|!"}},
        {"RotaryEmbedding of heads side by side",
         "in x f32 [n,n,n]; in p f32 [n,n,n]; y = RotaryEmbedding x p p num_heads:i=2;",
         23,
         0,
         {"1,3,8|1,3,2", "2,5,4|2,5,1", "1,3,7|1,3,2|!"}},
        {"MaxPool with ceil_mode, the other open",
         "in x f32 [n,2,n,4]; y = MaxPool x kernel_shape:I=3,2 strides:I=2,3 pads:I=0,1,0,0 ceil_mode:i=1;",
         13,
         0,
         {"2,2,9,4", "1,2,4,4", "1,2,3,4"}},
        {"LRN of one axis", "in x f32 [n,n,n]; y = LRN x size:i=3;", 13, 0, {"1,1,1", "2,5,3", "1,2,7"}},
        {"InstanceNormalization",
         "in x f32 [n,n,n]; in p f32 [n]; in q f32 [n]; y = InstanceNormalization x p q;",
         6,
         0,
         {"2,3,4|3|3", "1,1,1|1|1", "2,3,4|3|2|!"}},
        {"GroupNormalization, by groups",
         "in x f32 [n,n,n]; in p f32 [2]; in q f32 [2]; y = GroupNormalization x p q num_groups:i=2;",
         18,
         0,
         {"2,4,3|2|2", "1,2,1|2|2", "2,3,4|2|2|!"}},
        {"LSTM, batch and steps open",
         "in x f32 [n,n,1]; const w f32 [1,4,1] 1 0.5 -1 2; y = LSTM x w w direction:s=reverse layout:i=1;",
         14,
         0,
         {"2,3,1", "1,1,1", "3,5,1"}},
        {"LRN", "in x f32 [n,n,n,n]; y = LRN x size:i=3;", 13, 0, {"1,1,1,1", "2,5,3,4", "1,2,1,7"}},
        {"PRelu",
         "in x f32 [n,n]; in p f32 [n]; y = PRelu x p;",
         13,
         0,
         {"2,3|3", "2,3|1", "1,1|1", "0,3|3", "2,3|2|!"}},
        {"QuantizeLinear",
         "in x f32 [n,n,n]; in p f32 [n]; z = Abs p; const o f32 [] 0.5; s = Add z o; "
         "y = QuantizeLinear x s axis:i=1;",
         13,
         0,
         {"2,3,2|3", "1,1,1|1", "2,5,1|1", "2,3,2|2|!"}},
        {"PRelu along axis 1",
         "in x f32 [n,n,n]; in p f32 [n]; y = PRelu x p;",
         6,
         0,
         {"2,3,2|3", "2,2,3|1", "1,1,1|1"}},
        {"PRelu of known slopes",
         "in x f32 [n,n,n]; const s f32 [3,1] 2 -0.5 0; y = PRelu x s;",
         9,
         0,
         {"2,3,2", "1,3,4"}},
        {"QuantizeLinear by known scales",
         "in x f32 [n,n]; const s f32 [2] 1 0.25; const z u8 [2] 1 9; y = QuantizeLinear x s z axis:i=1;",
         13,
         0,
         {"3,2", "1,2", "0,2", "2,3|!"}},
        {"QuantizeLinear and back",
         "in x f32 [n,2]; const s f32 [2] 0.5 0.25; q = QuantizeLinear x s; y = DequantizeLinear q s;",
         13,
         0,
         {"3,2", "1,2", "0,2"}},
        {"Max", "in x f32 [n,n]; in p f32 [n]; y = Max p x;", 13, 0, {"3,3|3", "2,1|3", "1,2|1", "0,2|2"}},
        {"Add from an axis on",
         "in x f32 [n,n,n]; in p f32 [n,n]; y = Add x p broadcast:i=1 axis:i=0;",
         6,
         0,
         {"2,3,4|2,3", "1,1,1|1,1", "2,3,4|1,3", "0,3,4|0,3", "2,3,4|3,4|!"}},
        {"Gemm",
         "in x f32 [n,n]; in p f32 [n,n]; in q f32 [n]; y = Gemm x p q;",
         13,
         0,
         {"2,3|3,4|4", "1,1|1,1|1", "5,3|3,2|2", "2,3|3,4|3|!"}},
        {"Conv",
         "in x f32 [n,n,n,n]; in p f32 [n,n,n,n]; in q f32 [n]; y = Conv x p q strides:I=2,1 pads:I=1,0,0,1;",
         13,
         0,
         {"1,2,5,6|3,2,3,3|3", "2,1,4,4|1,1,1,1|1", "1,3,5,5|2,3,5,2|2", "1,2,5,5|3,3,3,3|3|!", "1,2,5,5|3,2,3,3|2|!"}},
        {"Conv of groups",
         "in x f32 [n,n,n]; in p f32 [n,n,n]; y = Conv x p group:i=2 auto_pad:s=SAME_UPPER;",
         13,
         0,
         {"1,4,5|6,2,3", "2,2,1|2,1,1", "1,4,5|3,2,3|!"}},
        {"ConvTranspose",
         "in x f32 [n,n,n,n]; in p f32 [n,n,n,n]; y = ConvTranspose x p strides:I=2,2 group:i=2;",
         13,
         0,
         {"1,4,3,2|4,3,3,3", "2,2,1,1|2,1,1,1", "1,4,3,2|4,3,1,4"}},
        {"ConvTranspose to an output shape",
         "in x f32 [n,n,n,n]; in p f32 [n,n,n,n]; y = ConvTranspose x p strides:I=3,2 output_shape:I=10,8;",
         13,
         0,
         {"1,1,3,3|1,2,3,3", "1,2,4,5|2,1,2,3", "2,1,3,4|1,1,3,1", "1,1,2,3|1,2,3,3|!", "1,1,4,4|1,2,7,5"}},
        {"ConvTranspose of one axis to an output shape",
         "in x f32 [n,n,n]; const w f32 [1,1,3] 1 -2 3; y = ConvTranspose x w strides:I=2 output_shape:I=6 "
         "auto_pad:s=SAME_UPPER;",
         13,
         0,
         {"1,1,3", "2,1,4", "1,1,5", "1,1,1|!"}},
        {"Resize to sizes",
         "in x f32 [n,n,n,n]; const s i64 [4] 1 2 4 6; y = Resize x - - s mode:s=linear "
         "coordinate_transformation_mode:s=asymmetric;",
         13,
         0,
         {"1,2,2,3", "1,2,1,1", "1,2,9,7", "2,1,2,3"}},
        {"Resize to computed sizes",
         "in x f32 [n,n,n,n]; const b i64 [1] 0; const e i64 [1] 2; const t i64 [2] 5 3; s = Shape x; h = Slice s b e; "
         "l = Concat h t axis:i=0; y = Resize x - - l mode:s=nearest coordinate_transformation_mode:s=asymmetric;",
         13,
         0,
         {"1,2,2,3", "3,1,1,1", "1,2,9,7"}},
    };
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(cases); i++)
        run_open_case(&cases[i / 2], i % 2 != 0);
}

/* If ONNX and RESIZE agree about coordinates for some shapes only, a model with dynamic ones gets a RESIZE_ND. */
static void test_resize_open(void **state)
{
    static const struct {
        const char *mode;
        float scale;
        NNRT_NodeType node;
    } cases[] = {
        {"half_pixel", 0.5f, NNRT_NODE_TYPE_RESIZE_ND},
        {"half_pixel", 1.5f, NNRT_NODE_TYPE_RESIZE},
        {"half_pixel_symmetric", 1.5f, NNRT_NODE_TYPE_RESIZE_ND},
        {"tf_half_pixel_for_nn", 0.5f, NNRT_NODE_TYPE_RESIZE_ND},
        {"pytorch_half_pixel", 0.5f, NNRT_NODE_TYPE_RESIZE},
        {"asymmetric", 0.3f, NNRT_NODE_TYPE_RESIZE},
        {"align_corners", 1.5f, NNRT_NODE_TYPE_RESIZE_ND},
        {"align_corners", 2, NNRT_NODE_TYPE_RESIZE},
    };
    static const import_case fixed[] = {
        /* the only place is (0 + 0.5) * 4 = 2, and HALF_PIXEL puts it at 0 */
        {"tf_half_pixel_for_nn down to 1",
         "in x f32 [1,1,1,4]; const s f32 [4] 1 1 1 0.25; y = Resize x - s mode:s=nearest nearest_mode:s=floor "
         "coordinate_transformation_mode:s=tf_half_pixel_for_nn;",
         13,
         {"1 2 3 4"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "3",
         0},
        {"a half pixel down to 1",
         "in x f32 [1,1,1,4]; const s f32 [4] 1 1 1 0.25; y = Resize x - s mode:s=linear;",
         13,
         {"1 2 3 6"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "2.5",
         0},
        /* cells weigh 1 - 3 d^2 + 2 d^3; RESIZE would take a coefficient of 0 for none given */
        {"a cubic coefficient of 0",
         "in x f32 [1,1,1,2]; const s f32 [4] 1 1 1 2; y = Resize x - s mode:s=cubic cubic_coeff_a:f=0;",
         13,
         {"0 8"},
         NNRT_SUCCESS,
         "1,1,1,4",
         "0 1.25 6.75 8",
         0},
        {"corners of no whole extent, as ONNX's own tests have them",
         "in x f32 [1,1,1,5]; const s f32 [4] 1 1 1 0.3; y = Resize x - s mode:s=nearest "
         "coordinate_transformation_mode:s=align_corners;",
         13,
         {"1 2 3 4 5"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "1",
         0},
        {"a crop by scales",
         "in x f32 [1,1,1,4]; const r f32 [8] 0 0 0 0 1 1 1 0.5; const s f32 [4] 1 1 1 0.5; y = Resize x r s "
         "coordinate_transformation_mode:s=tf_crop_and_resize;",
         13,
         {"1 2 3 4"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "tf_crop_and_resize by scales",
         0},
        {"a crop that is an input",
         "in x f32 [1,1,1,5]; in r f32 [8]; const s i64 [4] 1 1 1 3; y = Resize x r - s mode:s=linear "
         "coordinate_transformation_mode:s=tf_crop_and_resize extrapolation_value:f=9;",
         13,
         {"1 2 3 4 5", "0 0 0 0.5 1 1 1 1.5"},
         NNRT_SUCCESS,
         "1,1,1,3",
         "3 5 9",
         0},
        {"axes, one scale for both",
         "in x f32 [1,1,2,4]; const s i64 [2] 2 2; y = Resize x - - s axes:I=2,3 mode:s=nearest "
         "keep_aspect_ratio_policy:s=not_larger coordinate_transformation_mode:s=asymmetric nearest_mode:s=floor;",
         18,
         {"1 2 3 4 5 6 7 8"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "1 3",
         0},
        {"volumes of int32",
         "in x i32 [1,1,1,1,2]; const s i64 [5] 1 1 2 1 4; y = Resize x - - s;",
         13,
         {"7 8"},
         NNRT_SUCCESS,
         "1,1,2,1,4",
         "7 7 8 8 7 7 8 8",
         0},
        {"antialias",
         "in x f32 [1,1,1,4]; const s f32 [4] 1 1 1 0.5; y = Resize x - s mode:s=linear antialias:i=1 "
         "exclude_outside:i=1;",
         18,
         {"7 14 21 28"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "12 23",
         1e-6},
        {"tf_half_pixel_for_nn down to 2",
         "in x f32 [1,1,1,4]; const s f32 [4] 1 1 1 0.5; y = Resize x - s mode:s=nearest nearest_mode:s=floor "
         "coordinate_transformation_mode:s=tf_half_pixel_for_nn;",
         13,
         {"1 2 3 4"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "2 4",
         0},
    };
    (void)state;
    run_cases(fixed, COUNT(fixed));
    for (uint32_t i = 0; i < 2 * COUNT(cases); i++) {
        const bool nearest = i % 2 != 0 || strncmp(cases[i / 2].mode, "tf_", 3) == 0;
        static answer got;
        char text[256];
        message m;
        NNRT_Model *model;
        snprintf(text, sizeof(text),
                 "in x f32 [1,1,n,4]; const s f32 [4] 1 1 %g 1; y = Resize x - s mode:s=%s "
                 "coordinate_transformation_mode:s=%s;",
                 (double)cases[i / 2].scale, nearest ? "nearest" : "linear", cases[i / 2].mode);
        m = build(text, 13);
        model = load_shaped(&m, false, NULL, 0, &got);
        assert_int_equal(got.code, NNRT_SUCCESS);
        if (model->nodes.count != 1 || model->nodes.data[0].nodeType != cases[i / 2].node)
            fail_msg("%s", text);
        nnrt_model_destroy(model);
    }
}

/* Cumulative sums by Scan, in all directions and along all axes. */
static void test_scan(void **state)
{
#define SUMS(dims) "graph; in s f32 " dims "; in e f32 " dims "; t = Add s e; o = Identity t; out t; out o; done; "
#define ROW SUMS("[]") "in x f32 [3]; const z f32 [] 10; "
#define TABLE SUMS("[2]") "in x f32 [2,3]; const z f32 [2] 0 100; "
    static const import_case cases[] = {
        {"forward", ROW "f y = Scan z x body:g= num_scan_inputs:i=1;", 9, {"1 2 4"}, NNRT_SUCCESS, "3", "11 13 17", 0},
        {"the last state", ROW "y = Scan z x body:g= num_scan_inputs:i=1;", 16, {"1 2 4"}, NNRT_SUCCESS, "", "17", 0},
        {"from the end",
         ROW "f y = Scan z x body:g= num_scan_inputs:i=1 scan_input_directions:I=1;",
         11,
         {"1 2 4"},
         NNRT_SUCCESS,
         "3",
         "14 16 17",
         0},
        {"to the front",
         ROW "f y = Scan z x body:g= num_scan_inputs:i=1 scan_output_directions:I=1;",
         11,
         {"1 2 4"},
         NNRT_SUCCESS,
         "3",
         "17 13 11",
         0},
        {"along the second axis",
         TABLE "f y = Scan z x body:g= num_scan_inputs:i=1 scan_input_axes:I=1;",
         11,
         {"1 2 4 10 20 40"},
         NNRT_SUCCESS,
         "3,2",
         "1 110 3 130 7 170",
         0},
        {"along the last axis, and so is the result, from the end",
         TABLE "f y = Scan z x body:g= num_scan_inputs:i=1 scan_input_axes:I=-1 scan_output_axes:I=-1 "
               "scan_input_directions:I=1;",
         25,
         {"1 2 4 10 20 40"},
         NNRT_SUCCESS,
         "2,3",
         "4 6 7 140 160 170",
         0},
        {"two inputs, along axes of their own, no state, a name from around",
         "graph; in a f32 [2]; in b f32 [2]; t = Mul a b; o = Add t w; out o; done; in x f32 [3,2]; in v f32 [2,3]; "
         "const w f32 [2] 0 1000; y = Scan x v body:g= num_scan_inputs:i=2 scan_input_axes:I=0,1 "
         "scan_input_directions:I=0,1;",
         9,
         {"1 2 3 4 5 6", "1 10 100 2 20 200"},
         NNRT_SUCCESS,
         "3,2",
         "100 1400 30 1080 5 1012",
         0},
        {"operator set 8",
         SUMS("[2]") "in x f32 [1,3,2]; const z f32 [1,2] 0 100; f y = Scan - z x body:g= num_scan_inputs:i=1;",
         8,
         {"1 10 2 20 4 40"},
         NNRT_SUCCESS,
         "1,3,2",
         "1 110 3 130 7 170",
         0},
        {"operator set 8, from the end, the last state",
         SUMS("[2]") "in x f32 [1,3,2]; const z f32 [1,2] 0 100; y = Scan - z x body:g= num_scan_inputs:i=1 "
                     "directions:I=1;",
         8,
         {"1 10 2 20 4 40"},
         NNRT_SUCCESS,
         "1,2",
         "7 170",
         0},
        {"operator set 8, a batch of 2",
         SUMS("[1]") "in x f32 [2,3,1]; const z f32 [2,1] 0 0; f y = Scan - z x body:g= num_scan_inputs:i=1;",
         8,
         {"1 10 2 20 4 40"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "only a batch of 1",
         0},
        {"operator set 8, lengths",
         SUMS("[1]") "in x f32 [1,3,1]; const z f32 [1,1] 0; const l i64 [1] 2; f y = Scan l z x body:g= "
                     "num_scan_inputs:i=1;",
         8,
         {"1 10 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "sequence_lens",
         0},
        {"inputs of different lengths",
         "graph; in a f32 []; in b f32 []; o = Mul a b; out o; done; in x f32 [3]; in v f32 [2]; "
         "y = Scan x v body:g= num_scan_inputs:i=2;",
         9,
         {"1 2 3", "1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "do not have the same constant number of steps",
         0},
        {"axes for more inputs",
         ROW "f y = Scan z x body:g= num_scan_inputs:i=1 scan_input_axes:I=0,0;",
         9,
         {"1 2 4"},
         NNRT_INVALID_MODEL,
         NULL,
         "scan_input_axes has 2 entries, expected 1",
         0},
        {"a direction of 2",
         ROW "f y = Scan z x body:g= num_scan_inputs:i=1 scan_output_directions:I=2;",
         9,
         {"1 2 4"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "scan_output_directions[0] is 2",
         0},
        {"an axis that x does not have",
         ROW "f y = Scan z x body:g= num_scan_inputs:i=1 scan_input_axes:I=1;",
         9,
         {"1 2 4"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "axis is 1, expected -1 to 0",
         0},
        {"nothing to go through",
         ROW "f y = Scan z x body:g= num_scan_inputs:i=0;",
         9,
         {"1 2 4"},
         NNRT_INVALID_MODEL,
         NULL,
         "2 inputs (0 to scan)",
         0},
        {"more to go through than there is",
         ROW "f y = Scan z x body:g= num_scan_inputs:i=3;",
         9,
         {"1 2 4"},
         NNRT_INVALID_MODEL,
         NULL,
         "2 inputs (3 to scan)",
         0},
        {"a scalar",
         "graph; in a f32 []; o = Neg a; out o; done; in x f32 []; y = Scan x body:g= num_scan_inputs:i=1;",
         9,
         {"1"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "axis is 0, but the input is a scalar",
         0},
        {"a result more than the body has",
         ROW "f y t = Scan z x body:g= num_scan_inputs:i=1;",
         9,
         {"1 2 4"},
         NNRT_INVALID_MODEL,
         NULL,
         "do not match its body with 2 inputs and 2 outputs",
         0},
    };
    static const import_case open = {"an open number of steps",
                                     SUMS("[]") "in x f32 [n]; const z f32 [] 10; f y = Scan z x body:g= "
                                                "num_scan_inputs:i=1 scan_input_directions:I=1;",
                                     9,
                                     {"1 2 4"},
                                     NNRT_SUCCESS,
                                     "3",
                                     "14 16 17",
                                     0};
    (void)state;
    run_cases(cases, COUNT(cases));
    run_case(&open, true, 3);
    run_case(&open, false, 3);
}

/* An image operator reads or writes an image that a control-flow node passes into a subgraph or out of it. The image is
   [1,2,2,2] with the elements 1 to 8 unless the case says otherwise: in each place s stands for the image, o for the result.
   Expected values are computed by hand: channel 0 is 1 2 3 4, channel 1 is 5 6 7 8. */
static void test_control_images(void **state)
{
#define WEIGHTS "const w f32 [2,2,1,1] 1 10 100 1000; "
#define NORMAL "-1.3416408 -0.4472136 0.4472136 1.3416408"
#define SCALED "const a f32 [2] 1 2; const b f32 [2] 0 10; "
#define MIXED "51 62 73 84 5100 6200 7300 8400"
#define STATS "const a f32 [2] 2 3; const b f32 [2] 0 1; const u f32 [2] 1 5; const v f32 [2] 1 1; "
    static const struct {
        const char *constants, *op; /* op: of s, whose result is o */
        int64_t opset;
        const char *dims, *values, *x, *type; /* dims NULL: the dimensions of x */
    } ops[] = {
        {WEIGHTS, "o = Conv s w", 13, NULL, MIXED, "1,2,2,2", "f32"},
        {"const w f32 [2,1,1,1] 2 3; ", "o = Conv s w group:i=2", 13, NULL, "2 4 6 8 15 18 21 24", "1,2,2,2", "f32"},
        {"const w f32 [2,2,1] 1 10 100 1000; ", "o = Conv s w", 13, NULL, MIXED, "1,2,4", "f32"},
        {"const w u8 [2,2,1,1] 1 10 2 3; ", "o = ConvInteger s w", 13, "1,2,2,2", "51 62 73 84 17 22 27 32", "1,2,2,2",
         "u8"},
        {"const w f32 [2,2,1,1] 1 100 10 1000; ", "o = ConvTranspose s w", 13, NULL, MIXED, "1,2,2,2", "f32"},
        {WEIGHTS "const d f32 [1,2,2,2] 0 0 0 0 0 0 0 0; ", "o = DeformConv s w d", 19, NULL, MIXED, "1,2,2,2", "f32"},
        {"", "o = MaxPool s kernel_shape:I=2,2", 13, "1,2,1,1", "4 8", "1,2,2,2", "f32"},
        {"", "o = MaxPool s kernel_shape:I=4", 13, "1,2,1", "4 8", "1,2,4", "f32"},
        {"", "o = AveragePool s kernel_shape:I=2,2", 13, "1,2,1,1", "2.5 6.5", "1,2,2,2", "f32"},
        {"", "o = LpPool s kernel_shape:I=2,2 p:i=1", 18, "1,2,1,1", "10 26", "1,2,2,2", "f32"},
        {"", "o = GlobalMaxPool s", 13, "1,2,1,1", "4 8", "1,2,2,2", "f32"},
        {"", "o = GlobalAveragePool s", 13, "1,2,1,1", "2.5 6.5", "1,2,2,2", "f32"},
        {"const d i64 [1,2,2,2] 1 0 2 3 4 5 7 6; ", "o = MaxUnpool s d kernel_shape:I=1,1", 13, NULL, "2 1 3 4 5 6 8 7",
         "1,2,2,2", "f32"},
        {STATS, "o = BatchNormalization s a b u v epsilon:f=1e-9", 13, NULL, "0 2 4 6 1 4 7 10", "1,2,2,2", "f32"},
        {STATS, "o = BatchNormalization s a b u v epsilon:f=1e-9", 13, NULL, "0 2 4 6 1 4 7 10", "1,2,4", "f32"},
        {SCALED, "o = InstanceNormalization s a b epsilon:f=1e-9", 13, NULL,
         NORMAL " 7.3167184 9.1055728 10.8944272 12.6832816", "1,2,2,2", "f32"},
        {SCALED, "o = GroupNormalization s a b num_groups:i=2 epsilon:f=1e-9", 21, NULL,
         NORMAL " 7.3167184 9.1055728 10.8944272 12.6832816", "1,2,2,2", "f32"},
        {"", "o = MeanVarianceNormalization s", 13, NULL, NORMAL " " NORMAL, "1,2,2,2", "f32"},
        {"", "o = LRN s size:i=3 alpha:f=3 beta:f=1 bias:f=1", 13,
         NULL, /* divided by 27 41 59 81: 1 and both squares */
         "0.037037037 0.048780488 0.050847458 0.049382716 0.185185185 0.146341463 0.118644068 0.098765432", "1,2,2,2",
         "f32"},
        {"const r f32 [4] 1 1 1 2; ", "o = Resize s - r mode:s=nearest", 13, "1,2,2,4",
         "1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8", "1,2,2,2", "f32"},
        {"const r f32 [4] 1 1 1 2; ", "o = Resize s - r mode:s=linear", 13, "1,2,2,4",
         "1 1.25 1.75 2 3 3.25 3.75 4 5 5.25 5.75 6 7 7.25 7.75 8", "1,2,2,2", "f32"},
        {"const r f32 [4] 1 1 1 2; ", "o = Upsample s r", 9, "1,2,2,4", "1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8", "1,2,2,2",
         "f32"},
        {"", "o = DepthToSpace s blocksize:i=2", 13, "1,1,2,4", "1 3 2 4 5 7 6 8", "1,4,1,2", "f32"},
        {"", "o = SpaceToDepth s blocksize:i=2", 13, "1,8,1,1", "1 5 2 6 3 7 4 8", "1,2,2,2", "f32"},
        {"const r f32 [1,4] 0 0 1 1; const d i64 [1] 0; ", "o = RoiAlign s r d sampling_ratio:i=1", 16, "1,2,1,1",
         "1 5", "1,2,2,2", "f32"}, /* the middle of a box around the first pixel */
        {"const r f32 [1,1,1,2] 0 0; ", "o = GridSample s r align_corners:i=1", 16, "1,2,1,1", "2.5 6.5", "1,2,2,2",
         "f32"}, /* the middle of the image */
    };
#define LOOP " const m i64 [] 1; const e bool [] 1; "
    /* T: the type of x, X: its dims, Y: without the first one, C: constants, F: op, G: op of s, whose result is y */
    static const struct {
        const char *name, *model;
        bool same, stacked; /* only for a result with the shape of x; the result has one more axis */
    } places[] = {
        {"Loop, the state is read",
         "graph; in i i64 []; in c bool []; in s T [X]; k = Identity c; t = Identity s; F; out k; out t; out o; done; "
         "in x T [X]; C" LOOP "f y = Loop m e x body:g=;",
         false, true},
        {"Loop, the state is computed",
         "graph; in i i64 []; in c bool []; in s T [X]; k = Identity c; F; out k; out o; done; in x T [X]; in m i64 "
         "[]; "
         "const e bool [] 1; C y = Loop m e x body:g=;",
         true, false},
        {"Loop, its last state",
         "graph; in i i64 []; in c bool []; in r T [X]; k = Identity c; t = Identity r; out k; out t; done; in x T "
         "[X]; "
         "C" LOOP "s = Loop m e x body:g=; G;",
         false, false},
        {"Loop, its scan result",
         "graph; in i i64 []; in c bool []; in r T [Y]; k = Identity c; t = Identity r; out k; out t; out t; done; "
         "in x T [Y]; C" LOOP "f s = Loop m e x body:g=; G;",
         false, false},
        {"Scan, an input", "graph; in s T [X]; F; out o; done; in x T [1,X]; C y = Scan x body:g= num_scan_inputs:i=1;",
         false, true},
        {"Scan, the state is read",
         "graph; in s T [X]; in q f32 []; t = Identity s; F; out t; out o; done; in x T [X]; const z f32 [1] 0; "
         "C f y = Scan x z body:g= num_scan_inputs:i=1;",
         false, true},
        {"Scan, the state is computed",
         "graph; in s T [X]; in q f32 []; F; out o; done; in x T [X]; in z f32 [1]; "
         "C y = Scan x z body:g= num_scan_inputs:i=1;",
         true, false},
        {"Scan, its result",
         "graph; in r T [Y]; t = Identity r; out t; done; in x T [1,Y]; C s = Scan x body:g= num_scan_inputs:i=1; G;",
         false, false},
        {"If, in its branches",
         "graph; F; out o; done; in s T [X]; in p bool []; C y = If p then_branch:g= else_branch:g=;", false, false},
        {"If, its result",
         "graph; t = Identity x; out t; done; in x T [X]; in p bool []; C s = If p then_branch:g= else_branch:g=; G;",
         false, false},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(ops) * COUNT(places); i++) {
        const uint32_t o = i / COUNT(places), p = i % COUNT(places);
        const char *dims = ops[o].dims != NULL ? ops[o].dims : ops[o].x;
        import_case k = {NULL, NULL, ops[o].opset, {"1 2 3 4 5 6 7 8", "1"}, NNRT_SUCCESS, NULL, ops[o].values, 1e-6};
        char model[1024] = "", name[128], shape[64];
        size_t at = 0;
        if (places[p].same && ops[o].dims != NULL)
            continue;
        for (const char *from = places[p].model; *from != '\0'; from++) {
            const char *word = *from == 'T'                   ? ops[o].type
                               : *from == 'X'                 ? ops[o].x
                               : *from == 'Y'                 ? ops[o].x + 2
                               : *from == 'F' || *from == 'G' ? ops[o].op
                               : *from == 'C'                 ? ops[o].constants
                                                              : NULL;
            if (word == NULL || (from[1] >= 'a' && from[1] <= 'z')) /* a letter of a name */
                at += (size_t)snprintf(model + at, sizeof(model) - at, "%c", *from);
            else
                at += (size_t)snprintf(model + at, sizeof(model) - at, *from == 'G' ? "y%s" : "%s",
                                       *from == 'G' ? word + 1 : word);
            assert_true(at < sizeof(model));
        }
        snprintf(name, sizeof(name), "%s: %s", places[p].name, ops[o].op);
        snprintf(shape, sizeof(shape), "%s%s", places[p].stacked ? "1," : "", dims);
        k.name = name;
        k.model = model;
        k.dims = shape;
        run_case(&k, true, 0);
        run_case(&k, false, 0);
    }
}

/* An output of a subgraph is an input of the model, which no node reads. A Transpose makes an image
   NHWC, an order that holds on no way through a Loop or an If if another way has NCHW. */
static void test_control_passed(void **state)
{
#define BODY "graph; in i i64 []; in c bool []; k = Identity c; "
#define MIXER "const w f32 [2,2,1,1] 0 1 1 0; " /* exchanges the two channels */
    static const import_case cases[] = {
        {"If, the else-branch",
         "graph; t = Neg x; out t; done; graph; t = Identity w; out t; done; in x f32 [2]; in w f32 [2]; in p bool []; "
         "z = If p then_branch:g=1 else_branch:g=; y = Relu z;",
         13,
         {"1 2", "-3 4", "0"},
         NNRT_SUCCESS,
         "2",
         "0 4",
         0},
        {"If, the then-branch",
         "graph; t = Identity w; out t; done; graph; t = Neg x; out t; done; in x f32 [2]; in w f32 [2]; in p bool []; "
         "z = If p then_branch:g=1 else_branch:g=; y = Relu z;",
         13,
         {"1 2", "-3 4", "1"},
         NNRT_SUCCESS,
         "2",
         "0 4",
         0},
        {"If, both branches",
         "graph; t = Identity x; out t; done; graph; t = Identity w; out t; done; in x f32 [2]; in w f32 [2]; "
         "in p bool []; y = If p then_branch:g=1 else_branch:g=;",
         13,
         {"1 2", "-3 4", "1"},
         NNRT_SUCCESS,
         "2",
         "1 2",
         0},
#define FITS "graph; t = Neg x; out t; done; "
#define FITS_NOT "graph; t = MatMul x w; out t; done; "
#define IF "const w f32 [4,3] 1 2 3 4 5 6 7 8 9 10 11 12; in x f32 [3]; in p bool []; z = If p then_branch:g=1 else_branch:g=; y = Neg z;"
        {"If, an else-branch that does not fit", FITS FITS_NOT IF, 13, {"1 2 3", "1"}, NNRT_SUCCESS, "3", "1 2 3", 0},
        {"If, a then-branch that does not fit", FITS_NOT FITS IF, 13, {"1 2 3", "0"}, NNRT_SUCCESS, "3", "1 2 3", 0},
        {"If, an else-branch that does not fit is taken", FITS FITS_NOT IF, 13, {"1 2 3", "0"}, NNRT_FAILED, NULL, "(MatMul): 'x' float32[3] and 'w' float32[4,3]", 0},
        {"If, a then-branch that does not fit is taken", FITS_NOT FITS IF, 13, {"1 2 3", "1"}, NNRT_FAILED, NULL, "(MatMul): 'x' float32[3] and 'w' float32[4,3]", 0},
        {"If, no branch fits", FITS_NOT FITS_NOT IF, 13, {"1 2 3", "1"}, NNRT_INVALID_SHAPE, NULL, "(MatMul): 'x' float32[3] and 'w' float32[4,3]", 0},
#undef FITS
#undef FITS_NOT
#undef IF
        {"Loop, a scan",
         BODY "o = Identity x; out k; out o; done; in x f32 [2]; const m i64 [] 3; const e bool [] 1; "
              "y = Loop m e body:g=;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "3,2",
         "1 2 1 2 1 2",
         0},
        {"Scan, along the second axis",
         "graph; in e f32 []; o = Identity w; out o; done; in x f32 [3]; in w f32 [2]; "
         "y = Scan x body:g= num_scan_inputs:i=1 scan_output_axes:I=1;",
         13,
         {"1 2 3", "4 5"},
         NNRT_SUCCESS,
         "2,3",
         "4 4 4 5 5 5",
         0},
        {"Scan, an axis of a scalar",
         "graph; in e f32 []; o = Neg e; out o; done; in x f32 []; y = Scan x body:g= num_scan_inputs:i=1;",
         13,
         {"1"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "axis is 0, but the input is a scalar without axes",
         0},
        {"Loop, the body turns an image",
         BODY "in s f32 [1,2,2,2]; t = Transpose s perm:I=0,2,3,1; out k; out t; done; in x f32 [1,2,2,2]; " MIXER
              "const m i64 [] 1; const e bool [] 1; a = Conv x w; y = Loop m e a body:g=;",
         13,
         {"1 2 3 4 5 6 7 8"},
         NNRT_SUCCESS,
         "1,2,2,2",
         "5 1 6 2 7 3 8 4",
         0},
        {"Loop, the body reads a turned image",
         BODY "in s f32 [1,2,2,2]; t = Conv s w; out k; out t; done; in x f32 [1,2,2,2]; " MIXER
              "const m i64 [] 1; const e bool [] 1; a = Conv x w; b = Transpose a perm:I=0,2,3,1; "
              "y = Loop m e b body:g=;",
         13,
         {"1 2 3 4 5 6 7 8"},
         NNRT_SUCCESS,
         "1,2,2,2",
         "7 3 8 4 5 1 6 2",
         0},
        {"Loop, the body replaces a turned image",
         BODY "in s f32 [1,2,2,2]; t = Conv x w; out k; out t; done; in x f32 [1,2,2,2]; " MIXER
              "const m i64 [] 1; const e bool [] 1; a = Conv x w; b = Transpose a perm:I=0,2,3,1; "
              "y = Loop m e b body:g=;",
         13,
         {"1 2 3 4 5 6 7 8"},
         NNRT_SUCCESS,
         "1,2,2,2",
         "5 6 7 8 1 2 3 4",
         0},
        {"If, one branch turns the image",
         "graph; t = Conv x w; out t; done; graph; a = Conv x w; t = Transpose a perm:I=0,2,3,1; out t; done; "
         "in x f32 [1,2,2,2]; in p bool []; " MIXER "y = If p then_branch:g=1 else_branch:g=;",
         13,
         {"1 2 3 4 5 6 7 8", "0"},
         NNRT_SUCCESS,
         "1,2,2,2",
         "5 1 6 2 7 3 8 4",
         0},
    };
    static const import_case open = {
        "Scan, along the second axis, an open dimension",
        "graph; in e f32 []; o = Identity r; out o; done; in x f32 [n]; const q f32 [2] 0 0; const s i64 [2] 2 -1; "
        "r = Reshape x s; y = Scan q body:g= num_scan_inputs:i=1 scan_output_axes:I=1;",
        13,
        {"1 2 3 4"},
        NNRT_SUCCESS,
        "2,2,2",
        "1 2 1 2 3 4 3 4",
        0};
    (void)state;
    run_cases(cases, COUNT(cases));
    run_case(&open, true, 4);
    run_case(&open, false, 4);
}

/* Types of storage: which operators read and write them. The expected values follow from the formats: float8e4m3fn has 3
   bits of mantissa, bfloat16 7. */
static void test_storage(void **state)
{
#define REFUSED ", which is not supported here: insert a Cast to float"
    static const import_case cases[] = {
        {"float8, moved", "in x f32 [2,2]; a = Cast x to:i=17; b = Transpose a; c = Concat b a axis:i=0; y = Cast c to:i=1;", 21,
         {"1 2.1 3 4.3"}, NNRT_SUCCESS, "4,2", "1 3 2 4.5 1 2 3 4.5", 0},
        {"float8, an input and an output", "in x f8 [3]; c = Cast x to:i=1; d = Neg c; y = Cast d to:i=17;", 21,
         {"56 64 184"}, NNRT_SUCCESS, "3", "184 192 56", 0},
        {"bfloat16 to float8", "in x bf16 [2]; y = Cast x to:i=17;", 21, {"16256 49152"}, NNRT_SUCCESS, "2", "56 192", 0},
        {"the same type", "in x f8 [2]; y = Cast x to:i=17;", 21, {"127 3"}, NNRT_SUCCESS, "2", "127 3", 0},
        {"int4 wraps", "in x i64 [4]; a = Cast x to:i=22; y = Cast a to:i=3;", 21, {"7 8 -9 4611686018427387904"}, NNRT_SUCCESS,
         "4", "7 -8 7 0", 0},
        {"uint4 wraps", "in x f32 [4]; a = Cast x to:i=21; y = Cast a to:i=1;", 21, {"15.9 16 -1.5 3"}, NNRT_SUCCESS, "4",
         "15 0 15 3", 0},
        {"int4 to int8 has its numbers", "in x i4 [2]; a = Cast x to:i=3; y = Add a a;", 21, {"-8 7"}, NNRT_SUCCESS, "2", "-16 14", 0},
        {"Quantizelinear, output_dtype", "in x f32 [4]; const s f32 [] 0.5; a = QuantizeLinear x s output_dtype:i=22; "
         "y = DequantizeLinear a s;", 21, {"1.25 1.75 -9 9"}, NNRT_SUCCESS, "4", "1 2 -4 3.5", 0},
        {"DequantizeLinear, the type of the scale", "in x i8 [2]; const s bf16 [] 16128; a = DequantizeLinear x s; "
         "y = Cast a to:i=1;", 23, {"3 -2"}, NNRT_SUCCESS, "2", "1.5 -1", 0},
        {"DequantizeLinear, output_dtype", "in x i8 [2]; const s bf16 [] 16128; y = DequantizeLinear x s output_dtype:i=1;", 23,
         {"3 -2"}, NNRT_SUCCESS, "2", "1.5 -1", 0},
        {"QuantizeLinear of bfloat16, scale in bfloat16", "in x bf16 [3]; const s bf16 [] 16128; const z u8 [] 10; "
         "y = QuantizeLinear x s z;", 21, {"16256 49152 16448"}, NNRT_SUCCESS, "3", "12 6 16", 0},
        {"QuantizeLinear of bfloat16 to float8", "in x bf16 [2]; const s f32 [] 0.5; y = QuantizeLinear x s output_dtype:i=17;", 23,
         {"16256 49152"}, NNRT_SUCCESS, "2", "64 200", 0},
        {"DequantizeLinear, a zero point of another type", "in x u8 [2]; const s f32 [] 0.5; const z f8 [] 56; "
         "y = DequantizeLinear x s z;", 21, {"1 2"}, NNRT_INVALID_DATATYPE, NULL,
         "the zero point 'z' has another element type than the input", 0},
        {"the codes are no numbers", "in x f8 [2]; y = Add x x;", 21, {"1 2"}, NNRT_INVALID_DATATYPE, NULL,
         "input 0 'x' has element type float8e4m3fn (17)" REFUSED, 0},
        {"the codes are no numbers, after a move", "in x f32 [2,1]; a = Cast x to:i=17; b = Flatten a; y = Relu b;", 21, {"1 2"},
         NNRT_INVALID_DATATYPE, NULL, "input 0 'b' has element type float8e4m3fn (17)" REFUSED, 0},
        {"bfloat16 after a move", "in x f32 [2,1]; a = Cast x to:i=16; b = Flatten a; y = Relu b;", 21, {"1 -2"}, NNRT_SUCCESS, "2,1",
         "16256 0", 0}, /* 1 and 0 */
        {"bfloat16, a product", "in x bf16 [2]; y = Mul x x;", 13, {"16257 49152"}, NNRT_SUCCESS, "2", "16258 16512", 0},
        /* 1.0078125^2 = 1.0157 to 1.015625; -2 * -2 = 4 */
        {"bfloat16, each sum is rounded", "in x bf16 [1]; const e bf16 [1] 15232; a = Add x e; y = Add a e;", 13, {"16256"}, NNRT_SUCCESS,
         "1", "16256", 0}, /* 1 + 2^-8 is 1 twice: halves go to even */
        {"bfloat16, a matrix product is rounded once", "in x bf16 [1,4]; const w bf16 [4,1] 16256 15232 15232 15232; y = MatMul x w;", 13,
         {"16256 16256 16256 16256"}, NNRT_SUCCESS, "1,1", "16258", 0}, /* 1 + 3 * 2^-8: a half, to even */
        {"bfloat16, an index", "in x bf16 [3]; y = ArgMax x keepdims:i=0;", 13, {"16256 49152 16448"}, NNRT_SUCCESS, "", "2", 0},
        {"bfloat16 as exponent alone", "in x f32 [2]; const e bf16 [1] 16384; y = Pow x e;", 15, {"3 -1.5"}, NNRT_SUCCESS, "2", "9 2.25", 0},
        {"bfloat16, Where", "in c bool [2]; const a bf16 [2] 16256 16256; in x bf16 [2]; y = Where c a x;", 16, {"1 0", "16448 49152"},
         NNRT_SUCCESS, "2", "16256 49152", 0},
        {"bfloat16, OneHot", "in x i64 [2]; const d i64 [] 3; const v bf16 [2] 49152 16256; y = OneHot x d v;", 13, {"0 2"},
         NNRT_SUCCESS, "2,3", "16256 49152 49152 49152 49152 16256", 0},
        {"bfloat16, LayerNormalization, its deviation", "in x bf16 [1,2]; const s bf16 [2] 16256 16256; "
         "a b y = LayerNormalization x s epsilon:f=0;", 17, {"16256 49152"}, NNRT_SUCCESS, "1,1", "0.666666687", 1e-6},
        /* 1 and -2: 1 / 1.5, in float32 */
        {"bfloat16, a result of a stated type", "in x bf16 [2]; y = Bernoulli x dtype:i=1;", 15, {"0 0"}, NNRT_INVALID_DATATYPE, NULL,
         "input 0 'x' has element type bfloat16 (16)" REFUSED, 0},
        {"bfloat16 in a sequence", "in x bf16 [2]; s = SequenceConstruct x x; c = ConcatFromSequence s axis:i=0; y = Neg c;", 13,
         {"16256 49152"}, NNRT_SUCCESS, "4", "49024 16384 49024 16384", 0},
        {"codes beside numbers", "in x f8 [2]; in w u8 [2]; a = Concat x w axis:i=0; y = Cast a to:i=1;", 21, {"1 2", "3 4"},
         NNRT_INVALID_DATATYPE, NULL, "input 1 'w' has another element type than input 0", 0},
        {"an inner graph reads codes", "graph; t = Neg a; out t; done; graph; t = Identity x; out t; done; in x f32 [2]; "
         "in p bool []; a = Cast x to:i=17; y = If p then_branch:g=1 else_branch:g=;", 21, {"1 2", "1"},
         NNRT_INVALID_DATATYPE, NULL, "input 0 'a' has element type float8e4m3fn (17)" REFUSED, 0},
        {"an inner graph has codes as output", "graph; t = Cast x to:i=17; out t; done; graph; t = Cast x to:i=17; out t; done; "
         "in x f32 [2]; in p bool []; a = If p then_branch:g=1 else_branch:g=; y = Cast a to:i=1;", 21, {"1 2", "1"},
         NNRT_INVALID_DATATYPE, NULL, "output 't' of its subgraph has element type float8e4m3fn (17)" REFUSED, 0},
        {"a branch that is known", "graph; t = Cast x to:i=17; out t; done; graph; t = Identity x; out t; done; in x f32 [2]; "
         "const p bool [] 1; a = If p then_branch:g=1 else_branch:g=; y = Cast a to:i=1;", 21, {"1 2.1"}, NNRT_SUCCESS, "2",
         "1 2", 0},
        {"codes within the body of a Loop", "graph; in i i64 []; in c bool []; in v f32 [2]; k = Identity c; "
         "a = Cast v to:i=17; b = Cast a to:i=1; o = Add b v; out k; out o; done; in x f32 [2]; const m i64 [] 2; "
         "const e bool [] 1; y = Loop m e x body:g=;", 21, {"1 2.1"}, NNRT_SUCCESS, "2", "4 8.1", 1e-6},
        {"a Loop carries codes", "graph; in i i64 []; in c bool []; in v f8 [2]; k = Identity c; o = Identity v; out k; out o; "
         "done; in x f8 [2]; const m i64 [] 2; const e bool [] 1; y = Loop m e x body:g=;", 21, {"1 2"},
         NNRT_INVALID_DATATYPE, NULL, "input 2 'x' has element type float8e4m3fn (17)" REFUSED, 0},
        {"a type of another operator", "in x f32 [2,2]; y = EyeLike x dtype:i=17;", 21, {"1 2 3 4"}, NNRT_INVALID_DATATYPE, NULL,
         "attribute 'dtype' has element type float8e4m3fn (17), which is not supported here", 0},
        {"the zero point and output_dtype", "in x f32 [2]; const s f32 [] 1; const z f8 [] 0; "
         "y = QuantizeLinear x s z output_dtype:i=2;", 21, {"1 2"}, NNRT_INVALID_DATATYPE, NULL,
         "the zero point is float8e4m3fn, expected output_dtype uint8", 0},
    };
#undef REFUSED
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* Sequences and optional values of constant length and positions. */
static void test_sequences(void **state)
{
#define THREE "in x f32 [2]; a = Neg x; b = Add x x; s = SequenceConstruct x a b; "
    static const import_case cases[] = {
        {"SequenceAt from the end", THREE "const p i64 [] -3; t = SequenceAt s p; y = Relu t;", 13, {"1 2"}, NNRT_SUCCESS, "2", "1 2", 0},
        {"SequenceAt behind the end", THREE "const p i64 [] 3; y = SequenceAt s p;", 13, {"1 2"}, NNRT_INVALID_PARAMETER, NULL,
         "position 3 is outside the sequence of 3 elements", 0},
        {"SequenceAt before the start", THREE "const p i64 [] -4; y = SequenceAt s p;", 13, {"1 2"}, NNRT_INVALID_PARAMETER, NULL,
         "position -4 is outside the sequence of 3 elements", 0},
        {"SequenceAt, a computed position", THREE "in p i64 []; y = SequenceAt s p;", 13, {"1 2", "2"}, NNRT_SUCCESS, "2", "2 4", 0},
        {"SequenceAt, a computed position from the end, [1]", THREE "in p i64 [1]; y = SequenceAt s p;", 13, {"1 2", "-2"},
         NNRT_SUCCESS, "2", "-1 -2", 0},
        {"SequenceAt, a computed position behind the end", THREE "in p i64 []; y = SequenceAt s p;", 13, {"1 2", "3"},
         NNRT_INVALID_PARAMETER, NULL, "index 3", 0},
        {"SequenceAt, a computed position, two shapes", "in x f32 [2]; const w f32 [1] 7; s = SequenceConstruct x w; in p i64 []; "
         "y = SequenceAt s p;", 13, {"1 2", "0"}, NNRT_UNSUPPORTED_OP, NULL, "position 'p' must be a constant", 0},
        {"SequenceInsert at the end, in front, in the middle",
         "in x f32 [1]; a = Neg x; b = Add x x; const n i64 [] 0; const m i64 [] -1; e = SequenceEmpty; s = SequenceInsert e x; "
         "t = SequenceInsert s a n; u = SequenceInsert t b m; y = ConcatFromSequence u axis:i=0;", 13, {"1"}, NNRT_SUCCESS, "3",
         "-1 2 1", 0},
        {"SequenceErase, the last, then the first", THREE "const n i64 [] 0; t = SequenceErase s; u = SequenceErase t n; "
         "y = ConcatFromSequence u axis:i=0;", 13, {"1 2"}, NNRT_SUCCESS, "2", "-1 -2", 0},
        {"SequenceErase of nothing", "in x f32 [1]; e = SequenceEmpty; s = SequenceErase e; y = SequenceLength s;", 13, {"1"},
         NNRT_INVALID_PARAMETER, NULL, "position -1 is outside the sequence of 0 elements", 0},
        {"ConcatFromSequence, a new axis", THREE "y = ConcatFromSequence s axis:i=-1 new_axis:i=1;", 13, {"1 2"}, NNRT_SUCCESS,
         "2,3", "1 -1 2 2 -2 4", 0},
        {"ConcatFromSequence of nothing", "in x f32 [1]; e = SequenceEmpty; y = ConcatFromSequence e axis:i=0;", 13, {"1"},
         NNRT_INVALID_INPUT, NULL, "the sequence is empty", 0},
        {"SequenceLength", THREE "n = SequenceLength s; y = Cast n to:i=1;", 13, {"1 2"}, NNRT_SUCCESS, "", "3", 0},
        {"SplitToSequence by one", "in x f32 [3]; s = SplitToSequence x keepdims:i=0; const p i64 [] 1; y = SequenceAt s p;", 13,
         {"4 5 6"}, NNRT_SUCCESS, "", "5", 0},
        {"SplitToSequence by two, the rest", "in x f32 [5]; const n i64 [] 2; s = SplitToSequence x n keepdims:i=0; "
         "const p i64 [] -1; y = SequenceAt s p;", 13, {"4 5 6 7 8"}, NNRT_SUCCESS, "1", "8", 0},
        {"SplitToSequence, sizes", "in x f32 [2,3]; const n i64 [2] 1 2; s = SplitToSequence x n axis:i=1; const p i64 [] 1; "
         "y = SequenceAt s p;", 13, {"1 2 3 4 5 6"}, NNRT_SUCCESS, "2,2", "2 3 5 6", 0},
        {"SplitToSequence by zero", "in x f32 [5]; const n i64 [] 0; s = SplitToSequence x n; y = SequenceLength s;", 13,
         {"4 5 6 7 8"}, NNRT_INVALID_PARAMETER, NULL, "split is 0, expected at least 1", 0},
        {"a sequence is no tensor", THREE "y = Relu s;", 13, {"1 2"}, NNRT_INVALID_INPUT, NULL,
         "input 0 's' is a sequence, expected a tensor", 0},
        {"a tensor is no sequence", "in x f32 [2]; const p i64 [] 0; y = SequenceAt x p;", 13, {"1 2"}, NNRT_INVALID_INPUT, NULL,
         "input 0 'x' is a tensor, expected a sequence", 0},
        {"Optional, a tensor", "in x f32 [2]; o = Optional x; h = OptionalHasElement o; g = OptionalGetElement o; c = Cast h to:i=1; "
         "y = Add g c;", 15, {"1 2"}, NNRT_SUCCESS, "2", "2 3", 0},
        {"Optional, nothing", "in x f32 [2]; o = Optional; h = OptionalHasElement o; c = Cast h to:i=1; y = Add x c;", 15, {"1 2"},
         NNRT_SUCCESS, "2", "1 2", 0},
        {"Optional, nothing to take", "in x f32 [2]; o = Optional; y = OptionalGetElement o;", 15, {"1 2"}, NNRT_INVALID_INPUT, NULL,
         "the optional value is absent", 0},
        {"Optional, a sequence", THREE "o = Optional s; g = OptionalGetElement o; n = SequenceLength g; y = Cast n to:i=1;", 15, {"1 2"},
         NNRT_SUCCESS, "", "3", 0},
        {"Optional, nothing as output", "in x f32 [2]; y = Optional;", 15, {"1 2"}, NNRT_UNSUPPORTED_OP, NULL,
         "all outputs are empty sequences or absent", 0},
    };
#undef THREE
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* A model with sequences and optional values at its ends. told is the caller's description, "x=2 x[0]=3": lengths of sequences and
   shapes, with which the model is imported. inputs: the values of the session's inputs in order. results: "y[0]=1 2|y[1]=3", or a part of the message.
   sequences: the metadata. */
typedef struct sequence_case {
    const char *name, *model, *told;
    const char *inputs[4];
    NNRT_ReturnCode code;
    const char *results, *sequences;
} sequence_case;

static uint32_t read_told(const char *text, nnrt_onnx_input told[8], char names[8][64])
{
    uint32_t n = 0;
    for (; next_word(&text, names[n]); n++) {
        char *at = strchr(names[n], '=');
        assert_true(at != NULL && n < 7);
        *at++ = '\0';
        memset(&told[n], 0, sizeof(told[n]));
        told[n].name = names[n];
        for (; *at != '\0'; at += *at == ',' ? 1 : 0)
            told[n].shape.dims[told[n].shape.rank++] = (int32_t)strtol(at, &at, 10);
    }
    return n;
}

static void compare_results(const sequence_case *k, nnrt_session *session, double out[4][16])
{
    const char *at = k->results;
    for (uint32_t i = 0; i < nnrt_session_outputs(session); i++) {
        const nnrt_io_info info = nnrt_session_output(session, i);
        const size_t n = strlen(info.name), length = strcspn(at, "|");
        double want[16];
        char values[128] = "";
        size_t bytes;
        if (strncmp(at, info.name, n) != 0 || at[n] != '=')
            fail_msg("%s: output %u is '%s', expected '%s'", k->name, (unsigned)i, info.name, at);
        assert_true(length - n < sizeof(values));
        memcpy(values, at + n + 1, length - n - 1);
        bytes = numbers(values, info.dataType, want, sizeof(want));
        assert_int_equal(bytes, info.bytes);
        if (memcmp(want, out[i], bytes) != 0)
            fail_msg("%s: output '%s' has other values", k->name, info.name);
        at += length + (at[length] == '|');
    }
    if (*at != '\0')
        fail_msg("%s: the output '%s' is missing", k->name, at);
}

static void run_sequence_case(const sequence_case *k, bool optimised)
{
    const message m = build(k->model, 17);
    nnrt_onnx_input told[8];
    char names[8][64];
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    nnrt_onnx_desc desc;
    nnrt_error e;
    NNRT_ReturnCode code;
    const char *said = e.message;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.no_optimize = !optimised;
    desc.final = true;
    desc.inputs = told;
    desc.inputCount = read_told(k->told, told, names);
    code = nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e);
    if (code == NNRT_SUCCESS && k->sequences != NULL) {
        assert_non_null(nnrt_model_metadata(model, "sequences"));
        assert_string_equal(nnrt_model_metadata(model, "sequences"), k->sequences);
    }
    if (code == NNRT_SUCCESS)
        code = nnrt_session_create(&session, model, NULL, &e);
    if (code == NNRT_SUCCESS) {
        double in[4][16], out[4][16];
        nnrt_io io[4], results[4];
        const uint32_t nIn = nnrt_session_inputs(session), nOut = nnrt_session_outputs(session);
        assert_true(nIn <= 4 && nOut <= 4);
        for (uint32_t i = 0; i < nIn; i++) {
            const nnrt_io_info x = nnrt_session_input(session, i);
            assert_non_null(k->inputs[i]);
            io[i] = nnrt_io_make(in[i], numbers(k->inputs[i], x.dataType, in[i], sizeof(in[i])));
        }
        for (uint32_t i = 0; i < nOut; i++)
            results[i] = nnrt_io_make(out[i], nnrt_session_output(session, i).bytes);
        code = nnrt_run(session, io, nIn, results, nOut);
        said = nnrt_session_error(session);
        if (code == NNRT_SUCCESS && k->code == NNRT_SUCCESS)
            compare_results(k, session, out);
    }
    if (code != k->code)
        fail_msg("%s: %s '%s', expected %s", k->name, nnrt_code_name(code), said, nnrt_code_name(k->code));
    if (code != NNRT_SUCCESS && strstr(said, k->results) == NULL)
        fail_msg("%s: '%s' lacks '%s'", k->name, said, k->results);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
}

/* Sequences and optional values as inputs and outputs of the model, of If, Loop and functions, and SequenceMap. */
static void test_sequence_ends(void **state)
{
#define BRANCH(name, line) "graph; " line " out " name "; done; "
#define STEP(lines, outs) "graph; in i i64 []; in g bool []; in s seq.f32 [n]; " lines outs "done; "
    static const sequence_case cases[] = {
        {"a sequence goes through", "in x seq.f32 [n]; y = Identity x;", "x=2 x[0]=2 x[1]=1", {"1 2", "3"}, NNRT_SUCCESS,
         "y[0]=1 2|y[1]=3", "x=2\ny=2\n"},
        {"its length follows from its tensors", "in x seq.f32 [n]; y = Identity x;", "x[1]=1 x[0]=2", {"1 2", "3"}, NNRT_SUCCESS,
         "y[0]=1 2|y[1]=3", "x=2\ny=2\n"},
        {"its tensors have the shape of the file", "in x seq.f32 [2]; y = SequenceErase x;", "x=2", {"1 2", "3 4"}, NNRT_SUCCESS,
         "y[0]=1 2", "x=2\ny=1\n"},
        {"an empty sequence", "in x seq.f32 [n]; y = SequenceLength x;", "x=0", {NULL}, NNRT_SUCCESS, "y=0", "x=0\n"},
        {"no length", "in x seq.f32 [n]; y = SequenceLength x;", "", {NULL}, NNRT_UNSUPPORTED_OP, "'x' is a sequence of unknown length",
         NULL},
        {"a shape in place of a length", "in x seq.f32 [n]; y = SequenceLength x;", "x=2,3", {NULL}, NNRT_INVALID_SHAPE,
         "expected its length as its shape, [N]", NULL},
        {"a tensor behind the length", "in x seq.f32 [n]; y = SequenceLength x;", "x=1 x[1]=2", {NULL}, NNRT_INVALID_SHAPE,
         "expected its length as its shape, [N]", NULL},
        {"a tensor described twice", "in x seq.f32 [n]; y = SequenceLength x;", "x[0]=1 x[0]=2", {NULL}, NNRT_INVALID_PARAMETER,
         "input 'x[0]' is described twice", NULL},
        {"a part of a tensor", "in x f32 [2]; y = Relu x;", "x[0]=1", {NULL}, NNRT_INVALID_PARAMETER, "input 'x' is a tensor, no sequence",
         NULL},
        {"a part of nothing", "in x f32 [2]; y = Relu x;", "q[0]=1", {NULL}, NNRT_INVALID_PARAMETER, "the model has no input 'q[0]'", NULL},
        {"a name twice", "in x seq.f32 [1]; z = SequenceLength x; y = SequenceConstruct z z; y[1] = Neg z; out y; out y[1];", "x=1", {NULL},
         NNRT_UNSUPPORTED_OP, "'y[1]' is the name of an input or output, and of a tensor of a sequence", NULL},
        {"no position", "in x seq.f32 [2]; y = SequenceLength x;", "x[]=1", {NULL}, NNRT_INVALID_PARAMETER,
         "the model has no input 'x[]'", NULL},
        {"a tensor twice, and an input", "in x f32 [2]; a = Neg x; y = SequenceConstruct a x a;", "", {"1 -2"}, NNRT_SUCCESS,
         "y[0]=-1 2|y[1]=1 -2|y[2]=-1 2", "y=3\n"},
        {"constants", "in x f32 [1]; const a f32 [2] 1 2; y = SequenceConstruct a a;", "", {"0"}, NNRT_SUCCESS, "y[0]=1 2|y[1]=1 2",
         "y=2\n"},
        {"an empty sequence beside a tensor", "in x f32 [1]; s = SequenceEmpty; y = Neg x; out s; out y;", "", {"4"}, NNRT_SUCCESS, "y=-4",
         "s=0\n"},
        {"an optional tensor", "in x opt.f32 [2]; y = OptionalGetElement x;", "x=2", {"1 2"}, NNRT_SUCCESS, "y=1 2", NULL},
        {"an optional tensor without a value", "in x opt.f32 [2]; in w f32 [1]; h = OptionalHasElement x; c = Cast h to:i=1; y = Add c w; "
         "z = Identity x; out z; out y;", "", {"5"}, NNRT_SUCCESS, "y=5", "x=none\nz=none\n"},
        {"an optional sequence", "in x opt.seq.f32 [n]; s = OptionalGetElement x; y = SequenceAt s p; const p i64 [] 1;", "x=2 x[0]=2 x[1]=1",
         {"1 2", "3"}, NNRT_SUCCESS, "y=3", "x=2\n"},
        {"nothing but empty outputs", "in x seq.f32 [n]; y = Identity x;", "x=0", {NULL}, NNRT_UNSUPPORTED_OP, "nothing is computed", NULL},
        {"If, sequences of both branches", "in c bool []; in x f32 [1]; const k f32 [2] 7 8; "
         BRANCH("t", "a = Neg x; t = SequenceConstruct a k;") BRANCH("e", "e = SequenceConstruct x k;")
         "y = If c then_branch:g=1 else_branch:g=0;", "", {"1", "3"}, NNRT_SUCCESS, "y[0]=-3|y[1]=7 8", "y=2\n"},
        {"If, the other branch", "in c bool []; in x f32 [1]; const k f32 [2] 7 8; "
         BRANCH("t", "a = Neg x; t = SequenceConstruct a k;") BRANCH("e", "e = SequenceConstruct x k;")
         "y = If c then_branch:g=1 else_branch:g=0;", "", {"0", "3"}, NNRT_SUCCESS, "y[0]=3|y[1]=7 8", NULL},
        {"If, two lengths", "in c bool []; in x f32 [1]; " BRANCH("t", "t = SequenceConstruct x x;") BRANCH("e", "e = SequenceConstruct x;")
         "y = If c then_branch:g=1 else_branch:g=0;", "", {"1", "3"}, NNRT_UNSUPPORTED_OP, "length depends on the condition", NULL},
        {"If, two lengths, a constant condition", "const c bool [] 1; in x f32 [1]; " BRANCH("t", "t = SequenceConstruct x x;")
         BRANCH("e", "e = SequenceConstruct x;") "y = If c then_branch:g=1 else_branch:g=0;", "", {"3"}, NNRT_SUCCESS,
         "y[0]=3|y[1]=3", "y=2\n"},
        {"If, a branch that cannot compute", "in c bool []; in x f32 [3]; const q i64 [2] 2 2; "
         BRANCH("t", "r = Reshape x q; t = SequenceConstruct r x;") BRANCH("e", "n = Neg x; e = SequenceConstruct n x;")
         "y = If c then_branch:g=1 else_branch:g=0;", "", {"0", "1 2 3"}, NNRT_SUCCESS, "y[0]=-1 -2 -3|y[1]=1 2 3", NULL},
        {"Loop, a growing sequence", "in x f32 [1]; const m i64 [] 3; const e bool [] 1; z = SequenceEmpty; "
         STEP("f = Cast i to:i=1; v = Add x f; t = SequenceInsert s v;", "out g; out t; ") "y = Loop m e z body:g=;", "", {"5"},
         NNRT_SUCCESS, "y[0]=5|y[1]=6|y[2]=7", "y=3\n"},
        {"Loop, its condition ends it", "in x f32 [1]; const m i64 [] 9; const e bool [] 1; const two i64 [] 1; z = SequenceEmpty; "
         STEP("c = Less i two; t = SequenceInsert s x;", "out c; out t; ") "y = Loop m e z body:g=;", "", {"5"}, NNRT_SUCCESS,
         "y[0]=5|y[1]=5", NULL},
        {"Loop, no iteration", "in x f32 [1]; const m i64 [] 0; z = SequenceConstruct x; "
         STEP("t = SequenceInsert s x;", "out g; out t; ") "y = Loop m - z body:g=;", "", {"5"}, NNRT_SUCCESS, "y[0]=5", "y=1\n"},
        {"Loop, a scan beside the sequence", "in x f32 [2]; const m i64 [] 2; z = SequenceEmpty; "
         STEP("f = Cast i to:i=1; v = Mul x f; t = SequenceInsert s v;", "out g; out t; out v; ") "q y = Loop m - z body:g=;", "",
         {"1 2"}, NNRT_SUCCESS, "y=0 0 1 2", NULL},
        {"Loop, no iteration of a scan", "in x f32 [2]; const m i64 [] 0; z = SequenceEmpty; "
         STEP("v = Neg x; t = SequenceInsert s v;", "out g; out t; out v; ") "q y = Loop m - z body:g=;", "", {"1 2"},
         NNRT_UNSUPPORTED_OP, "the shape of output 1 is unknown", NULL},
        {"Loop, an unknown number of iterations", "in x f32 [1]; in m i64 []; z = SequenceEmpty; "
         STEP("t = SequenceInsert s x;", "out g; out t; ") "y = Loop m - z body:g=;", "", {"5", "1"}, NNRT_UNSUPPORTED_OP,
         "the number of its iterations is unknown: give the value of 'm'", NULL},
        {"Loop, an unknown condition", "in x f32 [1]; in e bool []; const m i64 [] 2; z = SequenceEmpty; "
         STEP("t = SequenceInsert s x;", "out g; out t; ") "y = Loop m e z body:g=;", "", {"5", "1"}, NNRT_UNSUPPORTED_OP,
         "its condition is unknown", NULL},
        {"Loop, for ever", "in x f32 [1]; z = SequenceEmpty; " STEP("t = SequenceInsert s x;", "out g; out t; ")
         "y = Loop - - z body:g=;", "", {"5"}, NNRT_OUT_OF_MEMORY, "the budget", NULL},
        {"Loop, a sequence becomes a tensor", "in x f32 [1]; const m i64 [] 1; z = SequenceEmpty; "
         STEP("t = Neg x;", "out g; out t; ") "y = Loop m - z body:g=;", "", {"5"}, NNRT_SUCCESS, "y=-5", NULL},
        {"Loop, over a sequence from outside", "in x seq.f32 [2]; in w f32 [2]; m = SequenceLength x; graph; in i i64 []; in g bool []; "
         "in v f32 [2]; e = SequenceAt x i; o = Sub e v; out g; out o; done; y = Loop m - w body:g=;", "x=3",
         {"1 2", "5 7", "10 20", "0.5 1"}, NNRT_SUCCESS, "y=5.5 14", "x=3\n"}, /* 1 - .5, 5 - .5, 10 - 4.5; 2 - 1, 7 - 1, 20 - 6 */
        {"Loop, over tensors of two shapes", "in x seq.f32 [n]; in w f32 [1]; m = SequenceLength x; graph; in i i64 []; in g bool []; "
         "in v f32 [1]; e = SequenceAt x i; t = ReduceSum e; o = Add t v; out g; out o; done; y = Loop m - w body:g=;", "x[0]=2 x[1]=1",
         {"1 2", "5", "0.5"}, NNRT_SUCCESS, "y=8.5", NULL},
        {"SequenceMap, two sequences", "in x seq.f32 [n]; in w seq.f32 [n]; graph; in a f32 [n]; in b f32 [n]; c = Sub a b; out c; done; "
         "y = SequenceMap x w body:g=;", "x[0]=1 x[1]=2 w[0]=1 w[1]=2", {"1", "2 3", "4", "5 7"}, NNRT_SUCCESS, "y[0]=-3|y[1]=-3 -4",
         "x=2\nw=2\ny=2\n"},
        {"SequenceMap, a tensor", "in x seq.f32 [n]; in w f32 [1]; graph; in a f32 [n]; in b f32 [1]; c = Sub a b; out c; out b; done; "
         "y z = SequenceMap x w body:g=; out y; out z;", "x[0]=1 x[1]=2", {"1", "2 3", "4"}, NNRT_SUCCESS,
         "y[0]=-3|y[1]=-2 -1|z[0]=4|z[1]=4", NULL},
        {"SequenceMap, two lengths", "in x seq.f32 [1]; in w seq.f32 [1]; graph; in a f32 [1]; in b f32 [1]; c = Sub a b; out c; done; "
         "y = SequenceMap x w body:g=;", "x=1 w=2", {NULL}, NNRT_INVALID_INPUT, "a sequence of another length, expected", NULL},
        {"SequenceMap, no sequence", "in x f32 [1]; graph; in a f32 [1]; c = Neg a; out c; done; y = SequenceMap x body:g=;", "", {"1"},
         NNRT_INVALID_INPUT, "input 0 'x' is a tensor, expected a sequence", NULL},
        {"SequenceMap, a sequence of sequences", "in x seq.f32 [1]; graph; in a f32 [1]; c = SequenceConstruct a; out c; done; "
         "y = SequenceMap x body:g=;", "x=1", {NULL}, NNRT_INVALID_MODEL, "is a sequence, expected a tensor", NULL},
        {"SequenceMap, other numbers", "in x seq.f32 [1]; graph; in a f32 [1]; in b f32 [1]; c = Neg a; out c; done; "
         "y = SequenceMap x body:g=;", "x=1", {NULL}, NNRT_INVALID_MODEL, "its body has 2 inputs and 1 outputs, expected 1 and 1", NULL},
        {"SequenceMap, nothing to map", "in x seq.f32 [1]; graph; in a f32 [1]; c = Neg a; out c; done; "
         "s = SequenceMap x body:g=; y = SequenceLength s;", "x=0", {NULL}, NNRT_SUCCESS, "y=0", NULL},
        {"a function of sequences", "function r = twice s; r = SequenceInsert s v; v = SequenceAt s p; p = Constant value:t=i64,0; end; "
         "in x seq.f32 [1]; y = twice x;", "x=1", {"6"}, NNRT_SUCCESS, "y[0]=6|y[1]=6", "x=1\ny=2\n"},
        {"sequences of sequences", "in x f32 [1]; s = SequenceConstruct x; y = SequenceConstruct s;", "", {"1"}, NNRT_INVALID_INPUT,
         "input 0 's' is a sequence, expected a tensor", NULL},
    };
#undef BRANCH
#undef STEP
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        run_sequence_case(&cases[i], true);
        run_sequence_case(&cases[i], false);
    }
}

/* A model with a sequence as input is deferred; sessions complete it, each with the length that it is given. */
static void test_sequence_deferred(void **state)
{
    const message m = build("in x seq.f32 [1]; y = ConcatFromSequence x axis:i=0;", 17);
    NNRT_Model *model = NULL;
    nnrt_error e;
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, &e), NNRT_SUCCESS);
    assert_non_null(strstr(nnrt_model_deferred(model), "'x' is a sequence of unknown length"));
    for (int32_t n = 1; n < 5; n++) {
        nnrt_session *session = NULL;
        nnrt_session_desc how;
        nnrt_input told;
        float in[4] = {1, 2, 3, 4}, out[4] = {0};
        nnrt_io io[4], y = nnrt_io_make(out, (size_t)n * sizeof(out[0]));
        memset(&how, 0, sizeof(how));
        memset(&told, 0, sizeof(told));
        told.name = "x";
        told.shape.rank = 1;
        told.shape.dims[0] = n;
        how.inputs = &told;
        how.inputCount = 1;
        assert_int_equal(nnrt_session_create(&session, model, &how, &e), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_inputs(session), n);
        for (int32_t i = 0; i < n; i++)
            io[i] = nnrt_io_make(&in[i], sizeof(in[0]));
        assert_int_equal(nnrt_run(session, io, (uint32_t)n, &y, 1), NNRT_SUCCESS);
        assert_memory_equal(in, out, (size_t)n * sizeof(out[0]));
        nnrt_session_destroy(session);
        told.name = "q";
        assert_int_equal(nnrt_session_create(&session, model, &how, &e), NNRT_INVALID_PARAMETER);
        assert_non_null(strstr(e.message, "the model has no input 'q'"));
    }
    nnrt_model_destroy(model);
}

/* Heads, and elements of a head, are dynamic: the inputs have upper bounds, and the scale follows from the shapes of
   each run. Of one query and two keys with products 0 and ln 3 the weights are 1/4 and 3/4. */
static void test_attention_dynamic(void **state)
{
    static const struct {
        const char *model;
        nnrt_dims most[2]; /* of q; of k and v */
        struct {
            nnrt_dims dims[2]; /* of q and y; of k and v */
            const char *q, *k, *v;
            float y[2];
        } runs[2];
    } cases[] = {
        {"in q f32 [1,H,1,D]; in k f32 [1,H,2,D]; in v f32 [1,H,2,D]; y = Attention q k v;",
         {{4, {1, 3, 1, 2}}, {4, {1, 3, 2, 2}}},
         {{{{4, {1, 2, 1, 1}}, {4, {1, 2, 2, 1}}}, "1 1", "0 1.09861229 0 1.09861229", "4 0 8 4", {1, 5}},
          {{{4, {1, 1, 1, 2}}, {4, {1, 1, 2, 2}}}, "1.41421356 0", "0 0 1.09861229 5", "4 8 0 4", {1, 5}}}},
        {"in q f32 [1,1,D]; in k f32 [1,2,D]; in v f32 [1,2,D]; y = Attention q k v q_num_heads:i=1 kv_num_heads:i=1;",
         {{3, {1, 1, 4}}, {3, {1, 2, 4}}},
         {{{{3, {1, 1, 2}}, {3, {1, 2, 2}}}, "1.41421356 0", "0 0 1.09861229 5", "4 8 0 4", {1, 5}},
          {{{3, {1, 1, 1}}, {3, {1, 2, 1}}}, "1", "0 1.09861229", "4 0", {1, 0}}}},
    };
    static const char *const names[] = {"q", "k", "v", "y"};
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++)
        for (int32_t bounded = 0; bounded < 2; bounded++) { /* 1: the result has a bound, too */
            const message m = build(cases[i].model, 24);
            NNRT_Model *model = NULL;
            nnrt_session *session = NULL;
            nnrt_session_desc how;
            nnrt_onnx_desc desc;
            nnrt_bound bounds[4];
            nnrt_dims open[3];
            nnrt_error e;
            memset(&how, 0, sizeof(how));
            memset(&desc, 0, sizeof(desc));
            memset(&e, 0, sizeof(e));
            for (uint32_t k = 0; k < 4; k++) {
                bounds[k].tensor = names[k];
                bounds[k].most = cases[i].most[k == 1 || k == 2];
            }
            for (uint32_t k = 0; k < 3; k++) {
                open[k] = bounds[k].most;
                open[k].dims[open[k].rank - 1] = -1;
                if (open[k].rank == 4)
                    open[k].dims[1] = -1;
            }
            how.inputDims = nnrt_dims_list_make(open, 3);
            how.bounds = nnrt_bound_list_make(bounds, bounded != 0 ? 4 : 3);
            if (nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e) != NNRT_SUCCESS ||
                nnrt_session_create(&session, model, &how, &e) != NNRT_SUCCESS)
                fail_msg("%s: %s", cases[i].model, e.message);
            for (uint32_t r = 0; r < COUNT(cases[i].runs); r++) {
                const char *const texts[] = {cases[i].runs[r].q, cases[i].runs[r].k, cases[i].runs[r].v};
                float in[3][16], out[16];
                nnrt_io io[3], y = nnrt_io_make(out, sizeof(out));
                for (uint32_t k = 0; k < 3; k++) {
                    io[k] = nnrt_io_make(in[k], numbers(texts[k], NNRT_DATA_TYPE_FLOAT32, in[k], sizeof(in[k])));
                    io[k].dims = cases[i].runs[r].dims[k > 0].dims;
                }
                if (nnrt_run(session, io, 3, &y, 1) != NNRT_SUCCESS)
                    fail_msg("%s, run %u: %s", cases[i].model, r, nnrt_session_error(session));
                assert_int_equal(nnrt_session_output(session, 0).bytes, io[0].bytes);
                for (uint32_t k = 0; k < io[0].bytes / sizeof(out[0]); k++)
                    assert_true(fabs((double)(out[k] - cases[i].runs[r].y[k])) <= 1e-6);
            }
            nnrt_session_destroy(session);
            nnrt_model_destroy(model);
        }
}

/* Operators of set 23 and others that the ONNX tests here do not have. Of one query and two keys with products 0 and ln 3 the
   weights are 1/4 and 3/4. */
static void test_newer(void **state)
{
#define QKV "in q f32 [1,1,1,1]; const k f32 [1,1,2,1] 0 1.09861229; const v f32 [1,1,2,2] 4 8 0 4; "
    static const import_case cases[] = {
        {"Attention", QKV "y = Attention q k v;", 23, {"1"}, NNRT_SUCCESS, "1,1,1,2", "1 5", 1e-6},
        {"Attention, a scale",
         QKV "y = Attention q k v scale:f=0.5 softmax_precision:i=1;",
         24,
         {"2"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "1 5",
         1e-6},
        {"Attention, a mask",
         QKV "const m bool [1,2] 1 0; y = Attention q k v m;",
         25,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "4 8",
         1e-6},
        {"Attention, causal",
         QKV "y = Attention q k v is_causal:i=1;",
         23,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "4 8",
         1e-6},
        {"Attention, the weights",
         QKV "t - - y = Attention q k v qk_matmul_output_mode:i=3;",
         23,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "0.25 0.75",
         1e-6},
        {"Attention, past keys, heads in the last axis",
         "in q f32 [1,1,1]; const k f32 [1,1,1] 1.09861229; const v f32 [1,1,2] 0 4; const p f32 [1,1,1,1] 0; "
         "const w f32 [1,1,1,2] 4 8; t k1 y = Attention q k v - p w q_num_heads:i=1 kv_num_heads:i=1;",
         23,
         {"1"},
         NNRT_SUCCESS,
         "1,1,2,2",
         "4 8 0 4",
         0},
        {"Attention, capped",
         QKV "y = Attention q k v softcap:f=1000;",
         23,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "1 5",
         1e-5},
        {"Attention, a query that sees no key",
         QKV "const m bool [1,2] 0 0; y = Attention q k v m;",
         23,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "0 0",
         0},
        {"Attention, capped and causal: the mask comes last",
         QKV "y = Attention q k v is_causal:i=1 softcap:f=2;",
         23,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "4 8",
         0},
        {"Attention, capped products: 2*tanh(ln(3)/2) is 1", /* tanh(ln(3)/2) = (3 - 1)/(3 + 1) */
         QKV "const m bool [1,2] 1 0; t - - y = Attention q k v m qk_matmul_output_mode:i=1 softcap:f=2;",
         24,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "0 1",
         1e-6},
        {"Attention, capped and masked products",
         QKV "const m bool [1,2] 1 0; t - - y = Attention q k v m qk_matmul_output_mode:i=2 softcap:f=2;",
         24,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "0 -inf",
         1e-6},
        {"Attention, keys that count",
         QKV "const n i64 [1] 1; y = Attention q k v - - - n;",
         24,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "4 8",
         0},
        {"Attention, the default windows",
         QKV "y = Attention q k v left_window_size:i=-1 right_window_size:i=-1;",
         28,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "1 5",
         1e-6},
        {"Attention, one key to the left of two past ones",
         "in q f32 [1,1,1,1]; const k f32 [1,1,1,1] 0; const v f32 [1,1,1,1] 3; const p f32 [1,1,2,1] 0 0; "
         "const w f32 [1,1,2,1] 8 5; y = Attention q k v - p w left_window_size:i=1;",
         28,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,1",
         "4",
         1e-6},
        {"Attention, no key to the right",
         QKV "y = Attention q k v right_window_size:i=0;",
         28,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "4 8",
         0},
        {"Attention, a window of 2^40 keys",
         QKV "y = Attention q k v left_window_size:i=1099511627776 right_window_size:i=0;",
         28,
         {"1"},
         NNRT_SUCCESS,
         "1,1,1,2",
         "4 8",
         0},
        {"Attention, a window of -2",
         QKV "y = Attention q k v left_window_size:i=-2;",
         28,
         {"1"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "leftWindowSize is -2",
         0},
        {"Attention, in int32",
         QKV "y = Attention q k v softmax_precision:i=6;",
         23,
         {"1"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "softmax_precision is 6",
         0},
        {"Attention, a scale of 0",
         QKV "y = Attention q k v scale:f=0;",
         23,
         {"1"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "scale is 0",
         0},
        {"BitShift, as in set 11",
         "in x u8 [2]; const s u8 [2] 1 2; y = BitShift x s direction:s=LEFT;",
         26,
         {"3 5"},
         NNRT_SUCCESS,
         "2",
         "6 20",
         0},
        {"Range, of integers",
         "in x i64 []; const b i64 [] 3; const e i64 [] 7; const d i64 [] 2; "
         "r = Range b e d stash_type:i=10; y = Add r x;",
         27,
         {"0"},
         NNRT_SUCCESS,
         "2",
         "3 5",
         0},
        {"Range of float16, in float16",
         "const x f16 [] 3; const e f16 [] 7; const d f16 [] 2; y = Range x e d stash_type:i=10;",
         27,
         {""},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "stash_type is 10",
         0},
        {"Relu, as in set 14", "in x f32 [2]; y = Relu x;", 28, {"-1 2"}, NNRT_SUCCESS, "2", "0 2", 0},
        {"one of set 26",
         "in x f32 [2]; y = SwiGLU x;",
         26,
         {"1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "operators that are not supported (operator set 26): SwiGLU x1",
         0},
        {"BitCast to another size", "in x f32 [2]; y = BitCast x to:i=7;", 26, {"1 2"}, NNRT_INVALID_DATATYPE, NULL,
         "the input is float32, expected elements of the size of int64", 0},
        {"CausalConvWithState, an unknown activation",
         "in x f32 [1,1,2]; in w f32 [1,1,1]; y = CausalConvWithState x w activation:s=relu;", 27, {"1 2", "1"},
         NNRT_UNSUPPORTED_OP, NULL, "attribute 'activation' is 'relu', expected one of none|silu|swish", 0},
        {"CausalConvWithState of a matrix", "in x f32 [1,2]; in w f32 [1,1,1]; y = CausalConvWithState x w;", 27, {"1 2", "1"},
         NNRT_INVALID_SHAPE, NULL, "expected [B,C,L] and [C,1,K]", 0},
        {"CausalConvWithState, set 27", "in x f32 [1,1,3]; const w f32 [1,1,2] 2 1; y = CausalConvWithState x w;", 27, {"1 2 3"},
         NNRT_SUCCESS, "1,1,3", "1 4 7", 0},
        {"Cast, with the rounding of float8",
         "in x f32 [2]; y = Cast x to:i=6 round_mode:s=down;",
         25,
         {"1.5 -2.5"},
         NNRT_SUCCESS,
         "2",
         "1 -2",
         0},
        {"CastLike, with the rounding of float8",
         "in x f32 [2]; const t i32 [1] 0; y = CastLike x t round_mode:s=up;",
         25,
         {"1.5 -2.5"},
         NNRT_SUCCESS,
         "2",
         "1 -2",
         0},
        {"Cast, rounded otherwise",
         "in x f32 [2]; y = Cast x to:i=6 round_mode:s=sideways;",
         25,
         {"1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "sideways",
         0},
        {"Attention before there was one",
         QKV "y = Attention q k v;",
         22,
         {"1"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "Attention x1",
         0},
        {"RMSNormalization",
         "in x f32 [1,2]; const s f32 [2] 10 100; y = RMSNormalization x s epsilon:f=0;",
         23,
         {"3 -3"},
         NNRT_SUCCESS,
         "1,2",
         "10 -100",
         1e-6},
        {"RMSNormalization of two axes",
         "in x f32 [1,2,2]; const s f32 [2] 1 2; y = RMSNormalization x s epsilon:f=3 axis:i=1 stash_type:i=1;",
         23,
         {"1 -1 -1 1"},
         NNRT_SUCCESS,
         "1,2,2",
         "0.5 -1 -0.5 1",
         1e-6},
        {"RMSNormalization in float16",
         "in x f32 [1,2]; const s f32 [2] 1 1; y = RMSNormalization x s stash_type:i=10;",
         23,
         {"1 1"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "stash_type is 10",
         0},
        {"RotaryEmbedding",
         "in x f32 [1,1,2,2]; const c f32 [2,1] 1 0; const s f32 [2,1] 0 1; const p i64 [1,2] 0 1; "
         "y = RotaryEmbedding x c s p;",
         23,
         {"1 2 3 4"},
         NNRT_SUCCESS,
         "1,1,2,2",
         "1 2 -4 3",
         0},
        {"RotaryEmbedding, neighbours, a part, heads in the last axis",
         "in x f32 [1,1,6]; const c f32 [1,1,1] 0; const s f32 [1,1,1] 1; "
         "y = RotaryEmbedding x c s interleaved:i=1 num_heads:i=2 rotary_embedding_dim:i=2;",
         23,
         {"1 2 3 4 5 6"},
         NNRT_SUCCESS,
         "1,1,6",
         "-2 1 3 -5 4 6",
         0},
        {"RandomUniform: bounds",
         "in x f32 [3]; r = RandomUniform shape:I=3 low:f=2 high:f=2; y = Add x r;",
         22,
         {"1 2 3"},
         NNRT_SUCCESS,
         "3",
         "3 4 5",
         0},
        {"RandomUniform: the same numbers twice, others of another seed",
         "in x f32 [2]; a = RandomUniformLike x; b = RandomUniform shape:I=2 seed:f=0; d = RandomUniformLike x "
         "seed:f=1; "
         "e = Equal a b; f = Equal a d; g = Not f; h = And e g; y = Identity h;",
         13,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "1 1",
         0},
        {"RandomNormal: mean and deviation, a type",
         "in x f32 [2]; y = RandomNormalLike x mean:f=7 scale:f=0 dtype:i=11;",
         22,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "7 7",
         0},
        {"RandomNormal without a shape",
         "in x f32 [2]; r = RandomNormal; y = Add x r;",
         22,
         {"1 2"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "shape has 0 entries",
         0},
        {"Bernoulli", "in x f32 [2]; y = Bernoulli x;", 15, {"0 1"}, NNRT_SUCCESS, "2", "0 1", 0},
        {"Bernoulli, a type",
         "in x f32 [2]; y = Bernoulli x dtype:i=7 seed:f=3;",
         15,
         {"0 1"},
         NNRT_SUCCESS,
         "2",
         "0 1",
         0},
        {"Multinomial",
         "in x f32 [1,3]; y = Multinomial x sample_size:i=4;",
         7,
         {"-inf 0 -inf"},
         NNRT_SUCCESS,
         "1,4",
         "1 1 1 1",
         0},
        {"Swish", "in x f32 [2]; y = Swish x;", 24, {"0 1"}, NNRT_SUCCESS, "2", "0 0.731058579", 1e-6},
        {"Swish, alpha",
         "in x f32 [2]; y = Swish x alpha:f=2;",
         25,
         {"0 1"},
         NNRT_SUCCESS,
         "2",
         "0 0.880797078",
         1e-6},
        {"TensorScatter",
         "in x f32 [2,3,1]; const u f32 [2,1,1] 8 9; const w i64 [2] 2 0; y = TensorScatter x u w;",
         24,
         {"1 2 3 4 5 6"},
         NNRT_SUCCESS,
         "2,3,1",
         "1 2 8 9 5 6",
         0},
        {"TensorScatter, without places",
         "in x f32 [1,2,3]; const u f32 [1,2,2] 6 7 8 9; y = TensorScatter x u axis:i=2;",
         24,
         {"1 2 3 4 5 6"},
         NNRT_SUCCESS,
         "1,2,3",
         "6 7 3 8 9 6",
         0},
        {"TensorScatter in a circle, told in the run",
         "in x f32 [1,3,1]; in u f32 [1,2,1]; in w i64 [1]; y = TensorScatter x u w mode:s=circular;",
         24,
         {"1 2 3", "8 9", "2"},
         NNRT_SUCCESS,
         "1,3,1",
         "9 2 8",
         0},
        {"TensorScatter of the batch",
         "in x f32 [2,3]; const u f32 [1,3] 8 9 7; y = TensorScatter x u axis:i=0;",
         24,
         {"1 2 3 4 5 6"},
         NNRT_INVALID_SHAPE,
         NULL,
         "axis is 0, input and update have 2 and 2 axes",
         0},
        {"QuantizeLinear to 16 bits",
         "in x f32 [4]; const s f32 [] 0.5; const z i16 [] 3; y = QuantizeLinear x s z;",
         21,
         {"-1e9 0 0.75 1e9"},
         NNRT_SUCCESS,
         "4",
         "-32768 3 5 32767",
         0},
        {"QuantizeLinear to 16 bits without a zero point",
         "in x f32 [4]; const s f32 [] 0.5; y = QuantizeLinear x s output_dtype:i=4 precision:i=1;",
         23,
         {"-1 0 0.75 1e9"},
         NNRT_SUCCESS,
         "4",
         "0 0 2 65535",
         0},
        {"QuantizeLinear to 16 bits before set 21",
         "in x f32 [1]; const s f32 [] 0.5; const z i16 [] 3; y = QuantizeLinear x s z;",
         20,
         {"1"},
         NNRT_INVALID_DATATYPE,
         NULL,
         "the zero point is int16",
         0},
        {"QuantizeLinear, two types",
         "in x f32 [1]; const s f32 [] 0.5; const z u8 [] 3; y = QuantizeLinear x s z output_dtype:i=3;",
         21,
         {"1"},
         NNRT_INVALID_DATATYPE,
         NULL,
         "output_dtype int8",
         0},
        {"QuantizeLinear in float16",
         "in x f32 [1]; const s f32 [] 0.5; y = QuantizeLinear x s precision:i=10;",
         23,
         {"1"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "precision is 10",
         0},
        {"QuantizeLinear in blocks",
         "in x f32 [2,3]; const s f32 [2,2] 1 2 4 8; const z i8 [2,2] 0 1 2 3; y = QuantizeLinear x s z axis:i=1 "
         "block_size:i=2;",
         21,
         {"3 5 6 8 16 24"},
         NNRT_SUCCESS,
         "2,3",
         "3 5 4 4 6 6",
         0},
        {"DequantizeLinear in blocks",
         "in x u8 [3,2]; const s f32 [2,2] 1 2 4 8; const z u8 [2,2] 0 1 2 3; y = DequantizeLinear x s z axis:i=0 "
         "block_size:i=2;",
         21,
         {"3 5 6 8 16 24"},
         NNRT_SUCCESS,
         "3,2",
         "3 8 6 14 56 168",
         0},
        {"DequantizeLinear in blocks of another size",
         "in x u8 [5,2]; const s f32 [2,2] 1 2 4 8; y = DequantizeLinear x s axis:i=0 block_size:i=2;",
         21,
         {"3 5 6 8 16 24 1 2 3 4"},
         NNRT_INVALID_SHAPE,
         NULL,
         "expected size 3 on axis 0",
         0},
        {"DequantizeLinear in blocks by a scale of one axis",
         "in x u8 [4,2]; const s f32 [2] 1 2; y = DequantizeLinear x s axis:i=0 block_size:i=2;",
         21,
         {"3 5 6 8 16 24 1 2"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "block_size is 2 and parameter",
         0},
        {"DequantizeLinear of 16 bits",
         "in x u16 [2]; const s f32 [] 0.5; const z u16 [] 65535; y = DequantizeLinear x s z;",
         21,
         {"0 65535"},
         NNRT_SUCCESS,
         "2",
         "-32767.5 0",
         0},
        {"DequantizeLinear to another type",
         "in x u8 [2]; const s f32 [] 0.5; y = DequantizeLinear x s output_dtype:i=10;",
         23,
         {"0 1"},
         NNRT_SUCCESS,
         "2",
         "0 0.5",
         0},
        {"DequantizeLinear to an unknown type",
         "in x u8 [2]; const s f32 [] 0.5; y = DequantizeLinear x s output_dtype:i=8;",
         23,
         {"0 1"},
         NNRT_INVALID_DATATYPE,
         NULL,
         "attribute 'output_dtype' has element type string (8), which is not supported",
         0},
        {"BatchNormalization of the batch",
         "in x f32 [2,1]; const s f32 [1] 2; const b f32 [1] 1; const m f32 [1] 10; const v f32 [1] 20; "
         "y = BatchNormalization x s b m v epsilon:f=1 training_mode:i=1;",
         15,
         {"1 5"},
         NNRT_SUCCESS,
         "2,1",
         "-0.788854382 2.78885438",
         1e-6},
        {"BatchNormalization of the batch, the running mean",
         "in x f32 [2,1]; const s f32 [1] 2; const b f32 [1] 1; const m f32 [1] 10; const v f32 [1] 20; "
         "out w; t w y = BatchNormalization x s b m v epsilon:f=1 training_mode:i=1 momentum:f=0.75;",
         15,
         {"1 5"},
         NNRT_SUCCESS,
         "1",
         "8.25",
         1e-6},
        {"BatchNormalization of the batch, the running variance",
         "in x f32 [2,1]; const s f32 [1] 2; const b f32 [1] 1; const m f32 [1] 10; const v f32 [1] 20; "
         "out w; t y w = BatchNormalization x s b m v epsilon:f=1 training_mode:i=1 momentum:f=0.75;",
         15,
         {"1 5"},
         NNRT_SUCCESS,
         "1",
         "16",
         1e-6},
        {"BatchNormalization, outputs of training before there was a mode",
         "in x f32 [2,1]; const s f32 [1] 2; const b f32 [1] 1; const m f32 [1] 10; const v f32 [1] 20; "
         "y w = BatchNormalization x s b m v;",
         9,
         {"1 5"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "output 1, which training before operator set 14 has",
         0},
        {"CenterCropPad",
         "in x f32 [1,3]; const s i64 [2] 2 2; y = CenterCropPad x s;",
         18,
         {"1 2 3"},
         NNRT_SUCCESS,
         "2,2",
         "1 2 0 0",
         0},
        {"CenterCropPad, one axis",
         "in x f32 [1,3]; const s i64 [1] 4; y = CenterCropPad x s axes:I=-1;",
         18,
         {"1 2 3"},
         NNRT_SUCCESS,
         "1,4",
         "1 2 3 0",
         0},
        {"Col2Im",
         "in x f32 [1,2,3]; const i i64 [2] 1 3; const b i64 [2] 1 2; y = Col2Im x i b pads:I=0,1,0,0 dilations:I=1,1;",
         18,
         {"1 2 3 10 20 30"},
         NNRT_SUCCESS,
         "1,1,1,3",
         "12 23 30",
         0},
        {"Col2Im, strides",
         "in x f32 [1,2,2]; const i i64 [2] 1 4; const b i64 [2] 1 2; y = Col2Im x i b strides:I=1,2;",
         18,
         {"1 2 10 20"},
         NNRT_SUCCESS,
         "1,1,1,4",
         "1 10 2 20",
         0},
        {"AffineGrid",
         "in x f32 [1,2,3]; const s i64 [4] 1 1 1 2; y = AffineGrid x s;",
         20,
         {"1 0 0 0 1 3"},
         NNRT_SUCCESS,
         "1,1,2,2",
         "-0.5 3 0.5 3",
         0},
        {"AffineGrid, corners",
         "in x f32 [1,2,3]; const s i64 [4] 1 1 1 2; y = AffineGrid x s align_corners:i=1;",
         20,
         {"1 0 0 0 1 3"},
         NNRT_SUCCESS,
         "1,1,2,2",
         "-1 3 1 3",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* A node that names a function of the file has the function's nodes in its place. */
static void test_functions(void **state)
{
#define SCALE "function z = d.Scale x by:f=2; b = Constant value_float:f=@by; z = Mul x b; end; "
    static const import_case cases[] = {
        {"a function, its own value of the attribute",
         "in x f32 [3]; " SCALE "y = d.Scale x;",
         18,
         {"1 -2 0.5"},
         NNRT_SUCCESS,
         "3",
         "2 -4 1",
         0},
        {"called twice, names kept apart",
         "in x f32 [3]; " SCALE "b = d.Scale x by:f=3; z = d.Scale b; y = Add z b;",
         18,
         {"1 -2 0.5"},
         NNRT_SUCCESS,
         "3",
         "9 -18 4.5",
         0},
        {"functions in functions, an attribute handed on under another name",
         "in x f32 [2]; " SCALE "function o = d.Twice i f: g:f=5; t = d.Scale i by:f=@f; o = d.Scale t by:f=@g; end; "
         "a = d.Twice x f:f=3 g:f=10; b = d.Twice x; y = Sub a b;",
         18,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "20 40", /* 30 x - 2 * 5 x: an attribute that no caller sets has the inner function's value */
         0},
        {"a function before it is needed, and one that nobody calls",
         "in x f32 [2]; function y = d.Never x; y = NoSuchOperator x; end; function y = d.F x; y = d.G x; end; "
         "function y = d.G x; y = Neg x; end; y = d.F x;",
         18,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "-1 -2",
         0},
        {"an optional input that the call leaves out",
         "in x f32 [3]; function y = d.Limit x low high; y = Clip x low high; end; const h f32 [] 1; "
         "y = d.Limit x - h;",
         18,
         {"-9 0.5 9"},
         NNRT_SUCCESS,
         "3",
         "-9 0.5 1",
         0},
        {"an input at the end that the call leaves out",
         "in x f32 [3]; function y = d.Limit x low high; y = Clip x low high; end; const l f32 [] 1; y = d.Limit x l;",
         18,
         {"-9 0.5 9"},
         NNRT_SUCCESS,
         "3",
         "1 1 9",
         0},
        {"an input that an operator needs",
         "in x f32 [3]; function y = d.Sum a b; y = Add a b; end; y = d.Sum x;",
         18,
         {"1 2 3"},
         NNRT_INVALID_INPUT,
         NULL,
         "ONNX node 0 'Sum_0/' (Add): input 1 is missing",
         0},
        {"the operator set of the function: Softmax of set 11 is over the axes from 1 on",
         "in x f32 [1,2,2]; function y = d.S x; opset 11; y = Softmax x; end; a = d.S x; b = Softmax x; y = Sub a b;",
         18,
         {"0 0 0 0"},
         NNRT_SUCCESS,
         "1,2,2",
         "-0.25 -0.25 -0.25 -0.25",
         1e-6},
        {"a newer operator set than is read",
         "in x f32 [2]; function y = d.F x; opset 999; y = Neg x; end; y = d.F x;",
         18,
         {"1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "F has operator set 999",
         0},
        {"a function with the name of an operator comes before it",
         "in x f32 [2]; function y = Relu x; y = Neg x; end; y = Relu x;",
         18,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "-1 -2",
         0},
        {"a function with the name of what is in it calls itself",
         "in x f32 [2]; function y = Relu x; y = Relu x; end; y = Relu x;",
         18,
         {"1 2"},
         NNRT_INVALID_MODEL,
         NULL,
         "the function calls itself",
         0},
        {"overloads",
         "in x f32 [2]; function y = d.F.a x; y = Neg x; end; function y = d.F.b x; y = Abs x; end; "
         "function y = d.F x; y = Exp x; end; t = d.F.a x; y = d.F.b t;",
         18,
         {"1 -2"},
         NNRT_SUCCESS,
         "2",
         "1 2",
         0},
        {"an output that nobody wants",
         "in x f32 [2]; function a b = d.F x; a = Neg x; b = Exp x; end; y = d.F x;",
         18,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "-1 -2",
         0},
        {"only the second output",
         "in x f32 [2]; function a b = d.F x; a = Exp x; b = Neg x; end; - y = d.F x;",
         18,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "-1 -2",
         0},
        {"an output that is an input",
         "in x f32 [2]; function a q = d.F p q; a = Add p q; end; t y = d.F x x;",
         18,
         {"1 2"},
         NNRT_SUCCESS,
         "2",
         "1 2",
         0},
        {"names around are not seen",
         "in x f32 [2]; function y = d.F a; y = Add a x; end; y = d.F x;",
         18,
         {"1 2"},
         NNRT_INVALID_MODEL,
         NULL,
         "input 1 is 'x', which no input, initializer or node defines",
         0},
        {"a function that calls itself by another",
         "in x f32 [2]; function y = d.F x; y = d.G x; end; function y = d.G x; y = d.F x; end; y = d.F x;",
         18,
         {"1 2"},
         NNRT_INVALID_MODEL,
         NULL,
         "the function calls itself",
         0},
        {"an operator that is missing in a function",
         "in x f32 [2]; function y = d.F x; y = d.Missing x; end; y = d.F x;",
         18,
         {"1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "d.Missing x1",
         0},
        {"the overload that is missing",
         "in x f32 [2]; function y = d.F.a x; y = Neg x; end; y = d.F x;",
         18,
         {"1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "d.F x1",
         0},
        {"an attribute that the function does not have",
         "in x f32 [2]; " SCALE "y = d.Scale x bi:f=3;",
         18,
         {"1 2"},
         NNRT_INVALID_MODEL,
         NULL,
         "the function has no attribute 'bi'",
         0},
        {"more inputs than the function has",
         "in x f32 [2]; " SCALE "y = d.Scale x x;",
         18,
         {"1 2"},
         NNRT_INVALID_MODEL,
         NULL,
         "2 inputs and 1 outputs, expected at most 1 and 1 as in the function",
         0},
        {"a reference outside of functions",
         "in x f32 [2]; y = Elu x alpha:f=@beta;",
         18,
         {"1 2"},
         NNRT_UNSUPPORTED_OP,
         NULL,
         "attribute 'alpha' refers to one of a function",
         0},
        {"an attribute of another type",
         "in x f32 [2]; function y = d.E x a:; y = Elu x alpha:f=@a; end; y = d.E x a:i=2;",
         18,
         {"1 2"},
         NNRT_INVALID_PARAMETER,
         NULL,
         "attribute 'alpha' has type 2, expected 1",
         0},
        {"an attribute that is left out is the operator's own",
         "in x f32 [2]; function y = d.E x a:; y = LeakyRelu x alpha:f=@a; end; y = d.E x;",
         18,
         {"100 -100"},
         NNRT_SUCCESS,
         "2",
         "100 -1",
         1e-6},
        {"two functions of one name",
         "in x f32 [2]; " SCALE SCALE "y = d.Scale x;",
         18,
         {"1 2"},
         NNRT_INVALID_MODEL,
         NULL,
         "two of its functions have the same domain, name and overload",
         0},
    };
    (void)state;
    run_cases(cases, COUNT(cases));
}

/* Nodes in any order: in the graph, in subgraphs, whose nodes read values that the graph computes later, in functions. A
   cycle is refused. */
static void test_order(void **state)
{
    static const import_case cases[] = {
        {"backwards", "in x f32 [2]; y = Exp c; c = Add b a; b = Neg a; a = Mul x x;", 18, {"1 2"}, NNRT_SUCCESS, "2", "1 1", 0},
        {"an input twice, another one later", "in x f32 [2]; y = Sub a b; b = Add c c; c = Add a a; a = Neg x;", 18, {"1 2"}, NNRT_SUCCESS,
         "2", "3 6", 0},
        {"a result that several read",
         "in x f32 [1]; y = Add d e; d = Add b c; e = Add c b; c = Add a b; b = Add a a; a = Neg x;", 18, {"1"}, NNRT_SUCCESS, "1", "-10", 0},
        {"a graph reads a later value",
         "in x f32 [2]; const p bool [] 1; graph; u = Neg t; t = Add r x; out u; done; y = If p then_branch:g= else_branch:g=; r = Mul q x; "
         "q = Neg x;",
         18, {"1 2"}, NNRT_SUCCESS, "2", "-0 2", 0},
        {"a graph has a later name of its own",
         "in x f32 [2]; const p bool [] 1; graph; r = Neg x; out r; done; s = If p then_branch:g= else_branch:g=; r = Add s x; y = Neg r;", 18,
         {"1 2"}, NNRT_SUCCESS, "2", "-0 -0", 0},
        {"the body of a loop", "in x f32 [1]; const n i64 [] 3; graph; in i i64 []; in k bool []; in s f32 [1]; u = Add t s; t = Add r r; o = Identity k; "
         "out o; out u; done; y = Loop n - x body:g=; r = Neg x;",
         18, {"1"}, NNRT_SUCCESS, "1", "-5", 0},
        {"a function", "in x f32 [2]; function b = d.F p; b = Add a a; a = Neg p; end; y = d.F c; c = Neg x;", 18, {"1 2"}, NNRT_SUCCESS, "2", "2 4", 0},
        {"weights of 8 bits before their scales",
         "in x f32 [1,2]; y = MatMul x w; w = DequantizeLinear q s; const q i8 [2,1] 2 4; s = Identity h; const h f32 [] 0.5;", 18, {"1 2"},
         NNRT_SUCCESS, "1,1", "5", 0},
        {"an output without a name, after an input without one",
         "in x f32 [2]; a = Clip x - c; const c f32 [] 1; y - = Dropout b; b = Neg a;", 18, {"1 2"}, NNRT_SUCCESS, "2", "-1 -1", 0},
        {"a batch of 0", "in x f32 [0,1,3,3]; const w f32 [2,1,2,2] 1 2 3 4 5 6 7 8; c = Conv x w; p = MaxPool c kernel_shape:I=2,2; y = Relu p;", 18,
         {""}, NNRT_SUCCESS, "0,2,1,1", "", 0},
        {"a cycle of three", "in x f32 [2]; a = Add x c; b = Neg a; c = Exp b; y = Neg c;", 18, {"1 2"}, NNRT_INVALID_MODEL, NULL,
         "input 0 is 'a', a result of node 'Add', which depends on this node: the nodes form a cycle", 0},
        {"a cycle in a graph", "in x f32 [2]; const p bool [] 1; graph; a = Neg b; b = Neg a; out b; done; y = If p then_branch:g= else_branch:g=;", 18,
         {"1 2"}, NNRT_INVALID_MODEL, NULL, "a result of node 'Neg', which depends on this node: the nodes form a cycle", 0},
        {"a cycle through a graph",
         "in x f32 [2]; const p bool [] 1; graph; t = Neg z; out t; done; y = If p then_branch:g= else_branch:g=; z = Neg y;", 18, {"1 2"},
         NNRT_INVALID_MODEL, NULL, "which depends on this node: the nodes form a cycle", 0},
    };
    enum { LINKS = 20 };
    char text[1024] = "in x f32 [1];";
    import_case chain = {"a chain backwards", text, 18, {"1"}, NNRT_SUCCESS, "1", "1048576", 0};
    (void)state;
    run_cases(cases, COUNT(cases));
    for (int i = LINKS; i-- > 0;) { /* each node reads the next one twice: 2^20 paths, and 20 nodes */
        char from[16] = "x", to[16] = "y";
        if (i > 0)
            snprintf(from, sizeof(from), "a%d", i);
        if (i < LINKS - 1)
            snprintf(to, sizeof(to), "a%d", i + 1);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s = Add %s %s;", to, from, from);
    }
    run_cases(&chain, 1);
}

/* Functions that call the next one 2 times, 40 in one another, are 2^40 nodes: the budget ends that. A chain of them is refused
   if it is too deep. */
static void test_functions_grow(void **state)
{
    static const struct {
        int32_t deep, calls;
        NNRT_ReturnCode code;
        const char *said;
    } cases[] = {{40, 2, NNRT_OUT_OF_MEMORY, "the import takes more than"},
                 {100, 1, NNRT_INVALID_MODEL, "is nested in 64 functions"},
                 {64, 1, NNRT_SUCCESS, ""}};
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        static char text[8192];
        message m;
        nnrt_error e;
        NNRT_Model *model = NULL;
        memset(&e, 0, sizeof(e));
        snprintf(text, sizeof(text), "in x f32 [1]; y = d.F0 x;");
        for (int32_t k = 0; k < cases[i].deep; k++)
            if (k + 1 == cases[i].deep)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "function y = d.F%d x; y = Neg x; end;", k);
            else if (cases[i].calls == 1)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "function y = d.F%d x; y = d.F%d x; end;", k,
                         k + 1);
            else
                snprintf(text + strlen(text), sizeof(text) - strlen(text),
                         "function y = d.F%d x; t = d.F%d x; y = d.F%d t; end;", k, k + 1, k + 1);
        m = build(text, 18);
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, &e), cases[i].code);
        if (strstr(e.message, cases[i].said) == NULL)
            fail_msg("'%s' lacks '%s'", e.message, cases[i].said);
        nnrt_model_destroy(model);
    }
}

/* Constants of a file are used in place, unaligned ones after a move: a constant with two readers is moved once. 0 to 7 bytes
   precede the elements, which are the numbers from 0 on. */
static void test_functions_constant(void **state)
{
    (void)state;
    for (uint32_t shift = 0; shift < 8; shift++) {
        char path[] = "/tmp/nnrt-import-XXXXXX";
        message m = build("in x f32 [40]; a = d.F x; b = d.F a; y = d.F b;", 18);
        message function = {{0}, 0}, node = {{0}, 0}, a = {{0}, 0}, t = {{0}, 0}, add = {{0}, 0}, set = {{0}, 0};
        float data[40], x[40] = {0}, y[40];
        const nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
        const int file = mkstemp(path);
        NNRT_Model *model = NULL;
        nnrt_session *session = NULL;
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        for (uint32_t i = 0; i < 40; i++)
            data[i] = (float)i;
        little((uint8_t *)data, sizeof(data), sizeof(data[0]));
        put_int(&t, 1, 40);
        put_int(&t, 2, NNRT_ONNX_FLOAT);
        put_bytes(&t, 9, data, sizeof(data));
        put_text(&a, 1, "value");
        put_message(&a, 5, &t);
        put_int(&a, 20, 4);
        put_text(&node, 2, "c");
        put_text(&node, 4, "Constant");
        put_message(&node, 5, &a);
        put_text(&add, 1, "i");
        put_text(&add, 1, "c");
        put_text(&add, 2, "o");
        put_text(&add, 4, "Add");
        put_bytes(&function, 8, "documents", shift);
        put_text(&function, 1, "F");
        put_text(&function, 4, "i");
        put_text(&function, 5, "o");
        put_message(&function, 7, &node);
        put_message(&function, 7, &add);
        put_int(&set, 2, 18);
        put_message(&function, 9, &set);
        put_text(&function, 10, "d");
        put_message(&m, 25, &function);
        assert_true(file >= 0);
        assert_int_equal(write(file, m.data, m.size), m.size);
        assert_int_equal(close(file), 0);
        if (nnrt_onnx_load(&model, path, NULL, &e) != NNRT_SUCCESS ||
            nnrt_session_create(&session, model, NULL, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
        for (uint32_t i = 0; i < 40; i++)
            assert_true(y[i] == (float)(3 * i));
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
        assert_int_equal(unlink(path), 0);
    }
}

/* Axes, lengths, sizes and scales that are inputs; invalid values end the run. */
static void test_told(void **state)
{
    static const struct {
        const char *name, *model;
        nnrt_dims most;
        int32_t opset;
        const char *told, *dims, *values; /* dims NULL: the run ends, values is a part of the message */
    } cases[] = {
        {"Squeeze", "in x f32 [1,2,1,3]; in a i64 [2]; y = Squeeze x a;", {2, {4, 4}}, 13, "2 0", "2,3", "1 2 3 4 5 6"},
        {"Squeeze, from the end",
         "in x f32 [1,2,1,3]; in a i64 [1]; y = Squeeze x a;",
         {3, {4, 4, 4}},
         13,
         "-2",
         "1,2,3",
         "1 2 3 4 5 6"},
        {"Squeeze of 2",
         "in x f32 [1,2,1,3]; in a i64 [2]; y = Squeeze x a;",
         {2, {4, 4}},
         13,
         "0 1",
         NULL,
         "(ASSERT)"},
        {"Squeeze twice",
         "in x f32 [1,2,1,3]; in a i64 [2]; y = Squeeze x a;",
         {2, {4, 4}},
         13,
         "0 -4",
         NULL,
         "(ASSERT)"},
        {"Squeeze beyond",
         "in x f32 [1,2,1,3]; in a i64 [1]; y = Squeeze x a;",
         {3, {4, 4, 4}},
         13,
         "4",
         NULL,
         "SCATTER_ELEMENTS"},
        {"Unsqueeze",
         "in x f32 [2,3]; in a i64 [2]; y = Unsqueeze x a;",
         {4, {3, 3, 3, 3}},
         13,
         "-1 1",
         "2,1,3,1",
         "1 2 3 4 5 6"},
        {"Unsqueeze in front",
         "in x f32 [2,3]; in a i64 [1]; y = Unsqueeze x a;",
         {3, {3, 3, 3}},
         13,
         "0",
         "1,2,3",
         "1 2 3 4 5 6"},
        {"Unsqueeze twice",
         "in x f32 [2,3]; in a i64 [2]; y = Unsqueeze x a;",
         {4, {3, 3, 3, 3}},
         13,
         "3 -1",
         NULL,
         "(ASSERT)"},
        {"ReduceSum", "in x f32 [2,3]; in a i64 [1]; y = ReduceSum x a keepdims:i=0;", {1, {3}}, 13, "-1", "2", "6 15"},
        {"ReduceSum along 0",
         "in x f32 [2,3]; in a i64 [1]; y = ReduceSum x a keepdims:i=0;",
         {1, {3}},
         13,
         "0",
         "3",
         "5 7 9"},
        {"ReduceSum of none",
         "in x f32 [2,3]; in a i64 [0]; y = ReduceSum x a noop_with_empty_axes:i=1;",
         {0, {0}},
         13,
         "",
         "2,3",
         "1 2 3 4 5 6"},
        {"ReduceSum of all",
         "in x f32 [2,3]; in a i64 [0]; y = ReduceSum x a keepdims:i=0;",
         {0, {0}},
         13,
         "",
         "",
         "21"},
        {"Slice",
         "const b i64 [1] 1; const e i64 [1] 3; in x f32 [2,3]; in a i64 [1]; y = Slice x b e a;",
         {2, {2, 3}},
         13,
         "1",
         "2,2",
         "2 3 5 6"},
        {"Slice, back",
         "const b i64 [1] -1; const e i64 [1] -9; const s i64 [1] -1; in x f32 [2,3]; in a i64 [1]; "
         "y = Slice x b e a s;",
         {2, {2, 3}},
         13,
         "-2",
         "2,3",
         "4 5 6 1 2 3"},
        {"Slice twice",
         "const b i64 [2] 1 1; const e i64 [2] 3 3; in x f32 [2,3]; in a i64 [2]; y = Slice x b e a;",
         {2, {2, 3}},
         13,
         "1 -1",
         NULL,
         "(ASSERT)"},
        {"Split",
         "in x f32 [2,3]; in a i64 [3]; z y w = Split x a axis:i=1; out y;",
         {2, {2, 3}},
         13,
         "1 2 0",
         "2,2",
         "2 3 5 6"},
        {"Split of too little",
         "in x f32 [2,3]; in a i64 [2]; z y = Split x a axis:i=1; out y;",
         {2, {2, 3}},
         13,
         "1 1",
         NULL,
         "(ASSERT)"},
        {"Split below zero",
         "in x f32 [2,3]; in a i64 [2]; z y = Split x a axis:i=1; out y;",
         {2, {2, 3}},
         13,
         "4 -1",
         NULL,
         "(ASSERT)"},
        {"Resize to sizes",
         "in x f32 [1,1,2,3]; in a i64 [4]; y = Resize x - - a mode:s=nearest "
         "coordinate_transformation_mode:s=asymmetric nearest_mode:s=floor;",
         {4, {1, 1, 2, 6}},
         13,
         "1 1 1 6",
         "1,1,1,6",
         "1 1 2 2 3 3"},
        {"Resize of channels",
         "in x f32 [1,1,2,3]; in a i64 [4]; y = Resize x - - a mode:s=nearest "
         "coordinate_transformation_mode:s=asymmetric nearest_mode:s=floor;",
         {4, {1, 2, 2, 6}},
         13,
         "1 2 1 3",
         "1,2,1,3",
         "1 2 3 1 2 3"},
        {"Resize by scales",
         "in x f32 [1,1,2,3]; in a f32 [4]; y = Resize x - a mode:s=nearest "
         "coordinate_transformation_mode:s=asymmetric nearest_mode:s=floor;",
         {4, {1, 1, 2, 6}},
         13,
         "1 1 0.5 2",
         "1,1,1,6",
         "1 1 2 2 3 3"},
        {"Resize of channels by scales",
         "in x f32 [1,1,2,3]; in a f32 [4]; y = Resize x - a mode:s=nearest "
         "coordinate_transformation_mode:s=asymmetric nearest_mode:s=floor;",
         {4, {1, 2, 2, 6}},
         13,
         "1 2 1 1",
         "1,2,2,3",
         "1 2 3 4 5 6 1 2 3 4 5 6"},
        {"Resize to half a pixel of 1",
         "in x f32 [1,1,2,3]; in a i64 [4]; y = Resize x - - a mode:s=linear;",
         {4, {1, 1, 2, 6}},
         13,
         "1 1 1 6",
         "1,1,1,6",
         "2.5 2.75 3.25 3.75 4.25 4.5"},
        {"Resize by scales to half a pixel of 1",
         "in x f32 [1,1,2,3]; in a f32 [4]; y = Resize x - a mode:s=linear;",
         {4, {1, 1, 2, 6}},
         13,
         "1 1 0.5 1",
         "1,1,1,3",
         "2.5 3.5 4.5"},
        {"Resize to corners of no whole extent",
         "in x f32 [1,1,2,3]; in a f32 [4]; y = Resize x - a mode:s=nearest "
         "coordinate_transformation_mode:s=align_corners;",
         {4, {1, 1, 2, 6}},
         13,
         "1 1 1 0.9",
         "1,1,2,2",
         "1 2 4 5"},
        {"Upsample down",
         "in x f32 [1,1,2,3]; in a f32 [4]; y = Upsample x a mode:s=nearest;",
         {4, {1, 1, 2, 6}},
         9,
         "1 1 1 0.5",
         NULL,
         "(ASSERT)"},
        {"Dropout in training, without loss",
         "const r f32 [] 0; in x f32 [2,3]; in a bool []; y = Dropout x r a;",
         {0, {0}},
         13,
         "1",
         "2,3",
         "1 2 3 4 5 6"},
        {"Dropout in training",
         "const r f32 [] 0.5; in x f32 [2,3]; in a bool []; const n i64 [2] 900 3; const one i64 [2] 1 -1; z = Reshape x one; "
         "const s i64 [1] 0; const e i64 [1] 3; const at i64 [1] 1; b = Slice z s e at; o = Expand b n; d = Dropout o r a; "
         "y = ReduceMax d axes:I=0 keepdims:i=0;",
         {0, {0}},
         13,
         "1",
         "3",
         "2 4 6"},
        {"Dropout",
         "const r f32 [] 0.5; in x f32 [2,3]; in a bool []; y = Dropout x r a;",
         {0, {0}},
         13,
         "0",
         "2,3",
         "1 2 3 4 5 6"},
        {"Dropout of nothing",
         "const r f32 [] 0; in x f32 [2,3]; in a bool []; y = Dropout x r a;",
         {0, {0}},
         13,
         "1",
         "2,3",
         "1 2 3 4 5 6"},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        import_case k;
        memset(&k, 0, sizeof(k));
        k.name = cases[i].name;
        k.model = cases[i].model;
        k.opset = cases[i].opset;
        k.inputs[0] = "1 2 3 4 5 6";
        k.inputs[1] = cases[i].told;
        k.dims = cases[i].dims;
        k.values = cases[i].values;
        k.code = cases[i].dims != NULL                      ? NNRT_SUCCESS
                 : strcmp(cases[i].values, "(ASSERT)") == 0 ? NNRT_FAILED
                                                            : NNRT_INVALID_PARAMETER;
        most_of_y = cases[i].most;
        run_case(&k, true, 0);
        run_case(&k, false, 0);
    }
    memset(&most_of_y, 0, sizeof(most_of_y));
}

/* ---- models that end before the file does ---- */

typedef struct cut_case {
    const char *name, *model;
    const char *outputs[3];
    NNRT_ReturnCode code;
    const char *values;    /* of x; with a code a part of the message */
    const char *answer[3]; /* of each output */
    const char *inputs;    /* that are left */
} cut_case;

/* Fails one allocation, after `left` others; counts blocks that are not freed. */
typedef struct failing {
    uint32_t left; /* allocations that succeed */
    size_t live;
    bool once; /* only one fails */
} failing;

static void *failing_alloc(void *user, size_t bytes, size_t alignment)
{
    failing *f = (failing *)user;
    void *block = NULL;
    if (f->left == 0 || posix_memalign(&block, alignment, bytes) != 0) {
        f->left = f->once ? UINT32_MAX : f->left;
        return NULL;
    }
    f->left--;
    f->live += bytes;
    return block;
}

static void failing_free(void *user, void *block, size_t bytes)
{
    ((failing *)user)->live -= bytes;
    free(block);
}

static void run_cut_case(const cut_case *k, bool optimised)
{
    const message m = build(k->model, 13);
    nnrt_onnx_desc desc;
    nnrt_session *session = NULL;
    NNRT_Model *model = NULL;
    float x[2], y[3][2];
    nnrt_io io[4];
    char inputs[64] = "";
    nnrt_error e;
    memset(io, 0, sizeof(io));
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.no_optimize = !optimised;
    desc.outputs = k->outputs;
    while (desc.outputCount < 3 && k->outputs[desc.outputCount] != NULL)
        desc.outputCount++;
    if (nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e) != k->code)
        fail_msg("%s: %s", k->name, e.message);
    if (k->code != NNRT_SUCCESS) {
        if (strstr(e.message, k->values) == NULL)
            fail_msg("%s: '%s' lacks '%s'", k->name, e.message, k->values);
        return;
    }
    for (uint32_t i = 0; i < model->inputIndex.count; i++)
        snprintf(inputs + strlen(inputs), sizeof(inputs) - strlen(inputs), i > 0 ? " %s" : "%s",
                 model->allTensors.data[model->inputIndex.data[i]].name);
    assert_string_equal(inputs, k->inputs);
    if (nnrt_session_create(&session, model, NULL, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", k->name, e.message);
    assert_int_equal(nnrt_session_outputs(session), desc.outputCount);
    io[0] = nnrt_io_make(x, numbers(k->values, NNRT_DATA_TYPE_FLOAT32, x, sizeof(x)));
    for (uint32_t i = 0; i < desc.outputCount; i++) {
        assert_string_equal(nnrt_session_output(session, i).name, k->outputs[i]);
        io[1 + i] = nnrt_io_make(y[i], sizeof(y[i]));
    }
    assert_int_equal(nnrt_run(session, io, 1, io + 1, desc.outputCount), NNRT_SUCCESS);
    for (uint32_t i = 0; i < desc.outputCount; i++) {
        float want[2];
        (void)numbers(k->answer[i], NNRT_DATA_TYPE_FLOAT32, want, sizeof(want));
        assert_memory_equal(y[i], want, sizeof(want));
    }
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
}

/* A model ends with the named values: later nodes, inputs and constants are not read. */
static void test_cut(void **state)
{
#define CUT                                                                                                            \
    "in x f32 [2]; in b f32 [2]; const w f32 [2] 1 2; const v f32 [2] 3 4; r = Relu x; a = Add r w; f = Fly a b v; "   \
    "y = Concat f;"
    static const cut_case cases[] = {
        {"before an operator that is missing", CUT, {"a"}, NNRT_SUCCESS, "-1 3", {"1 5"}, "x"},
        {"two values, in the order that is told", CUT, {"a", "r"}, NNRT_SUCCESS, "-1 3", {"1 5", "0 3"}, "x"},
        {"nodes in another order", "in x f32 [2]; y = Concat f; f = Fly a b; a = Add r w; const w f32 [2] 1 2; b = Neg a; r = Relu x;", {"a"},
         NNRT_SUCCESS, "-1 3", {"1 5"}, "x"},
        {"an input and a constant", CUT, {"r", "x", "w"}, NNRT_SUCCESS, "-1 3", {"0 3", "-1 3", "1 2"}, "x"},
        {"what a graph reads that a node runs",
         "in x f32 [2]; const p bool [] 1; r = Relu x; h = Neg x; g = Fly x; graph; t = Add r r; out t; done; y = If p "
         "then_branch:g= else_branch:g=; z = Fly y;",
         {"y"},
         NNRT_SUCCESS,
         "-1 3",
         {"0 6"},
         "x"},
        {"what a graph in a graph gives as it is",
         "in x f32 [2]; const p bool [] 1; r = Relu x; graph; out r; done; y = If p then_branch:g= else_branch:g=; z = "
         "Fly y;",
         {"y"},
         NNRT_SUCCESS,
         "-1 3",
         {"0 3"},
         "x"},
        {"a node that is missing before it",
         CUT,
         {"y"},
         NNRT_UNSUPPORTED_OP,
         "Fly x1; nnrt_onnx_desc.outputs 'a'",
         {NULL},
         NULL},
        {"a name that is not there",
         CUT,
         {"A"},
         NNRT_INVALID_PARAMETER,
         "the graph has no value 'A'; the nearest names are 'a', 'b', 'f'",
         {NULL},
         NULL},
        {"the nearest name",
         "in input.1 f32 [2]; out /layer1/conv/output_0; /layer1/conv/output_0 = Relu input.1; /layer2/conv/output_0 = "
         "Neg "
         "input.1; /layer1/conv/y = Abs input.1;",
         {"/layer2/conv/output"},
         NNRT_INVALID_PARAMETER,
         "the nearest names are '/layer2/conv/output_0', '/layer1/conv/y'",
         {NULL},
         NULL},
        {"no name",
         CUT,
         {""},
         NNRT_INVALID_PARAMETER,
         "the graph has no value ''; the nearest names are ",
         {NULL},
         NULL},
        {"a name twice", CUT, {"r", "r"}, NNRT_INVALID_PARAMETER, "output 'r' is listed twice", {NULL}, NULL},
        {"nodes keep their numbers",
         "in x f32 [2]; k = Fly x; r = Relu x; y = Concat x r;",
         {"y"},
         NNRT_INVALID_PARAMETER,
         "ONNX node 2 ",
         {NULL},
         NULL},
    };
#undef CUT
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        run_cut_case(&cases[i], true);
        run_cut_case(&cases[i], false);
    }
}

/* A refusal because of missing operators names the values before them, which can be computed and depend on an input. */
static void test_cut_told(void **state)
{
#define NAMED(values) "; nnrt_onnx_desc.outputs " values " leaves them out"
    static const struct {
        const char *name, *model, *message;
    } cases[] = {
        {"two of a node", "in x f32 [2]; a = Relu x; b = Neg x; c = Fly a b; y = Add c a;", "Fly x1" NAMED("'a', 'b'")},
        {"once each", "in x f32 [2]; a = Relu x; b = Fly a a; y = Fly a b;", "Fly x2" NAMED("'a'")},
        {"nothing of constants", "in x f32 [2]; const w f32 [2] 1 2; k = Neg w; a = Relu x; y = Fly k w a x;",
         "Fly x1" NAMED("'a'")},
        {"nothing behind another one", "in x f32 [2]; a = Relu x; b = Fly a; c = Neg b; d = Abs x; y = Swim c d;",
         "Fly x1, Swim x1" NAMED("'a', 'd'")},
        {"the graph of a node",
         "in x f32 [2]; in p bool []; a = Relu x; graph; t = Fly a; out t; done; y = If p then_branch:g= "
         "else_branch:g=;",
         "Fly x2" NAMED("'a'")},
        {"a function and one that it calls",
         "in x f32 [2]; a = Relu x; b = Neg a; y = d.Outer b; function y = d.Inner x; y = Fly x; end; function y = "
         "d.Outer "
         "x; y = d.Inner x; end;",
         "Fly x1" NAMED("'b'")},
        {"nothing before it", "in x f32 [2]; y = Fly x;", "Fly x1"},
    };
#undef NAMED
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const message m = build(cases[i].model, 13);
        NNRT_Model *model;
        nnrt_error e;
        size_t n = strlen(cases[i].message);
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, NULL, &e), NNRT_UNSUPPORTED_OP);
        if (strlen(e.message) < n || strcmp(e.message + strlen(e.message) - n, cases[i].message) != 0)
            fail_msg("%s: '%s' does not end with '%s'", cases[i].name, e.message, cases[i].message);
    }
}

/* nnrt_onnx_cut by itself: arguments, a second cut, and every allocation that fails leaves the model as it was. */
static void test_cut_tables(void **state)
{
    static const char *const names[] = {"a", "r"}, *const wrong[] = {"q"};
    const message m =
        build("in x f32 [2]; in b f32 [2]; const w f32 [2] 1 2; r = Relu x; a = Add r w; y = Add a b;", 13);
    failing f = {0, 0, false};
    nnrt_allocator a;
    nnrt_onnx_model *model;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    nnrt_error e;
    (void)state;
    a.alloc = failing_alloc;
    a.free = failing_free;
    a.user = &f;
    memset(&e, 0, sizeof(e));
    for (uint32_t left = 0; code == NNRT_OUT_OF_MEMORY; left++) {
        assert_true(left < 4);
        f.left = 1;
        assert_int_equal(nnrt_onnx_parse(m.data, m.size, &a, &model, NULL), NNRT_SUCCESS);
        f.left = left;
        code = nnrt_onnx_cut(model, names, 2, NULL);
        if (code == NNRT_OUT_OF_MEMORY)
            nnrt_onnx_model_free(model);
        assert_true(code != NNRT_OUT_OF_MEMORY || f.live == 0);
    }
    f.left = 3;
    assert_int_equal(code, NNRT_SUCCESS);
    assert_int_equal(model->graph->inputs.count, 1);
    assert_int_equal(model->graph->initializers.count, 1);
    assert_int_equal(model->graph->outputs.count, 2);
    assert_memory_equal(model->graph->outputs.data[1].name.data, "r", 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(model->graph->nodes.data[i].unneeded, i == 2);
    assert_int_equal(nnrt_onnx_cut(model, wrong, 1, &e), NNRT_INVALID_PARAMETER);
    f.left = 3;
    assert_int_equal(nnrt_onnx_cut(model, names + 1, 1, NULL), NNRT_SUCCESS); /* once more */
    assert_int_equal(model->graph->initializers.count, 0);
    assert_int_equal(model->graph->nodes.data[1].unneeded, 1);
    f.left = 3;
    assert_int_equal(nnrt_onnx_cut(model, names, 1, NULL), NNRT_INVALID_PARAMETER); /* a is removed */
    assert_int_equal(nnrt_onnx_cut(model, names, 0, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_onnx_cut(model, NULL, 1, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_onnx_cut(NULL, names, 1, NULL), NNRT_NULL_PTR);
    nnrt_onnx_model_free(model);
    assert_int_equal(f.live, 0);
}

/* ---- deferred models ---- */

/* A list of axes whose length the file leaves open. */
#define UNSQUEEZE "in x f32 [N,3]; in a i64 [n]; y = Unsqueeze x a;"

static nnrt_input known_of(const char *name, int32_t rank, int32_t d0, int32_t d1, const void *data)
{
    nnrt_input known;
    memset(&known, 0, sizeof(known));
    known.name = name;
    known.shape.rank = rank;
    known.shape.dims[0] = d0;
    known.shape.dims[1] = d1;
    known.data = data;
    return known;
}

static NNRT_Model *load_text(const char *text, const nnrt_allocator *allocator, message *m, nnrt_error *e)
{
    NNRT_Model *model = NULL;
    nnrt_onnx_desc desc;
    memset(&desc, 0, sizeof(desc));
    memset(e, 0, sizeof(*e));
    desc.allocator = allocator;
    *m = build(text, 13);
    if (nnrt_onnx_load_memory(&model, m->data, m->size, &desc, e) != NNRT_SUCCESS && allocator == NULL)
        fail_msg("%s", e->message);
    return model;
}

/* The only result of a session of x [2,3] and the dimensions of it, "1,2,3". */
static void run_deferred(nnrt_session *session, const char *dims)
{
    float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    char text[64] = "";
    nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
    const int32_t two[2] = {2, 3};
    nnrt_io_info info;
    in.dims = two;
    assert_int_equal(nnrt_session_inputs(session), 1);
    assert_string_equal(nnrt_session_input(session, 0).name, "x");
    assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
    info = nnrt_session_output(session, 0);
    for (int32_t i = 0; i < info.shape.rank; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), i > 0 ? ",%d" : "%d", (int)info.shape.dims[i]);
    assert_string_equal(text, dims);
    assert_memory_equal(x, y, sizeof(x));
}

/* All sizes are fixed, but the rule of an operator needs a value: the model is deferred, too. */
static void test_deferred_values(void **state)
{
    static const struct {
        const char *text, *reason;
        int64_t values[2];
        int32_t count;
        const char *dims;
    } cases[] = {
        {"in x f32 [2,3]; in a i64 [1]; y = ReduceLogSum x a keepdims:i=0;", "'a' must be a constant", {1, 0}, 1, "2"},
        /* the rank of s is the length of a; the type of e is known, so that the reason is a rank, with its name */
        {"in x f32 [n,n]; in a i64 [n]; s = Reshape x a; e = Equal s s; c = Cast e to:i=1; y = Softmax c;", "the rank of 'c' is unknown",
         {0, 0}, 0, ""},
        {"in x f32 [1,4,2]; in b i64 [2]; in a i64 [2]; y = Col2Im x b a;", "'a' depends on dynamic dimensions", {0, 0}, 0, ""},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const nnrt_input a = known_of("a", 1, cases[i].count, 0, cases[i].values);
        const message m = build(cases[i].text, 18);
        nnrt_session *session = NULL;
        nnrt_session_desc desc;
        NNRT_Model *model = NULL;
        nnrt_error e;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        if (nnrt_onnx_load_memory(&model, m.data, m.size, NULL, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", cases[i].text, e.message);
        if (nnrt_model_deferred(model) == NULL || strstr(nnrt_model_deferred(model), cases[i].reason) == NULL)
            fail_msg("%s: %s", cases[i].text, nnrt_model_deferred(model));
        if (cases[i].count > 0) {
            nnrt_io_info y;
            char text[64] = "";
            desc.inputs = &a;
            desc.inputCount = 1;
            if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
                fail_msg("%s: %s", cases[i].text, e.message);
            y = nnrt_session_output(session, 0);
            for (int32_t k = 0; k < y.shape.rank; k++)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), k > 0 ? ",%d" : "%d", (int)y.shape.dims[k]);
            assert_string_equal(text, cases[i].dims);
            nnrt_session_destroy(session);
        }
        nnrt_model_destroy(model);
    }
}

/* Functions that need nodes refuse a deferred model with its reason; sizes and values by name, by position and at a fix complete it. */
static void test_deferred(void **state)
{
    static const int64_t first = 0, last = 2;
    const uint16_t one = 1;
    const nnrt_input x = known_of("x", 2, 2, 3, NULL), any = known_of("x", 2, -1, 3, NULL), wrong = known_of("x", 2, 2, 4, NULL),
                     axis = known_of("a", 1, 1, 0, &first), other = known_of("a", 1, 1, 0, &last),
                     nobody = known_of("b", 1, 1, 0, &first);
    nnrt_input two[2] = {x, axis};
    NNRT_Model *model, *before, *fixed = NULL;
    nnrt_session *session = NULL, *second = NULL;
    nnrt_session_desc desc, share;
    nnrt_dims dims[2] = {{2, {2, 3}}, {1, {1}}};
    nnrt_bound bound;
    uint64_t room[64];
    nnrt_error e;
    size_t bytes = 0;
    message m;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&share, 0, sizeof(share));
    before = model = load_text(UNSQUEEZE, NULL, &m, &e);
    assert_non_null(strstr(nnrt_model_deferred(model), "(Unsqueeze): axes 'a' must be a constant"));
    assert_int_equal(model->inputIndex.count, 2);
    assert_int_equal(model->outputIndex.count, 1);
    assert_int_equal(model->nodes.count, 0);
    assert_int_equal(model->allTensors.data[model->inputIndex.data[0]].dims.data[0], -1);
    assert_int_equal(model->allTensors.data[model->inputIndex.data[0]].dims.data[1], 3);
    assert_int_equal(model->allTensors.data[model->inputIndex.data[1]].dataType, NNRT_DATA_TYPE_INT64);
    assert_string_equal(model->allTensors.data[model->outputIndex.data[0]].name, "y");
#define REFUSED(call, code, part)                                                                                      \
    do {                                                                                                               \
        memset(&e, 0, sizeof(e));                                                                                      \
        assert_int_equal(call, code);                                                                                  \
        if (strstr(e.message, part) == NULL)                                                                           \
            fail_msg("'%s' lacks '%s'", e.message, part);                                                              \
    } while (0)
    REFUSED(nnrt_session_create(&session, model, NULL, &e), NNRT_UNSUPPORTED_OP, "axes 'a' must be a constant (nnrt_session_desc.inputs");
    REFUSED(nnrt_session_bytes(model, NULL, &bytes, &e), NNRT_UNSUPPORTED_OP, "axes 'a' must be a constant");
    if (*(const uint8_t *)&one == 1) /* a big-endian machine saves no model */
        REFUSED(nnrt_model_save_memory(model, NULL, NULL, 0, &bytes, &e), NNRT_UNSUPPORTED_OP, "axes 'a' must be a constant");
    REFUSED(nnrt_model_optimize(&model, NULL, &e), NNRT_UNSUPPORTED_OP, "axes 'a' must be a constant");
    assert_ptr_equal(model, before);
    desc.inputs = two;
    desc.inputCount = 1;
    REFUSED(nnrt_session_create(&session, model, &desc, &e), NNRT_UNSUPPORTED_OP, "axes 'a' must be a constant");
    desc.inputCount = 2;
    desc.buffer = room;
    REFUSED(nnrt_session_create(&session, model, &desc, &e), NNRT_NOT_SUPPORT, "nnrt_model_fix first");
    desc.buffer = NULL;
    REFUSED(nnrt_session_bytes(model, &desc, &bytes, &e), NNRT_UNSUPPORTED_OP, "axes 'a' must be a constant");
    two[1] = x;
    REFUSED(nnrt_session_create(&session, model, &desc, &e), NNRT_INVALID_PARAMETER, "input 'x' is described twice");
    two[1] = nobody;
    REFUSED(nnrt_session_create(&session, model, &desc, &e), NNRT_INVALID_PARAMETER, "no input 'b'");
    REFUSED(nnrt_model_fix(&fixed, model, two, 2, &e), NNRT_INVALID_PARAMETER, "no input 'b'");
    two[0] = wrong;
    two[1] = axis;
    REFUSED(nnrt_session_create(&session, model, &desc, &e), NNRT_INVALID_SHAPE, "'x': axis 1 has size 3");
    desc.inputs = NULL;
    REFUSED(nnrt_session_create(&session, model, &desc, &e), NNRT_NULL_PTR, "list of inputs is NULL");
    assert_null(session);
    assert_null(fixed);

    two[0] = x; /* all by name; a session that shares has the same inputs, and outlives the first */
    desc.inputs = two;
    assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_SUCCESS);
    run_deferred(session, "1,2,3");
    share.share = session;
    share.inputs = two;
    share.inputCount = 2;
    REFUSED(nnrt_session_create(&second, model, &share, &e), NNRT_INVALID_PARAMETER, "share: that session decides the inputs");
    share.inputs = NULL;
    share.inputCount = 0;
    assert_int_equal(nnrt_session_create(&second, model, &share, &e), NNRT_SUCCESS);
    nnrt_session_destroy(second);
    share.inputDims = nnrt_dims_list_make(dims, 2);
    assert_int_equal(nnrt_session_create(&second, model, &share, &e), NNRT_SUCCESS);
    nnrt_session_destroy(session);
    run_deferred(second, "1,2,3");
    nnrt_session_destroy(second);

    desc.inputs = &other; /* the value by name, dimensions by position */
    desc.inputCount = 1;
    desc.inputDims = nnrt_dims_list_make(dims, 2);
    assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_SUCCESS);
    run_deferred(session, "2,3,1");
    nnrt_session_destroy(session);
    desc.inputDims.count = 1;
    REFUSED(nnrt_session_create(&session, model, &desc, &e), NNRT_INVALID_PARAMETER, "inputDims has 1 entries, the model has 2 inputs");

    two[0] = any; /* nnrt_model_fix leaves dynamic dimensions; the model can be saved, and runs with bounds */
    assert_int_equal(nnrt_model_fix(&fixed, model, two, 2, &e), NNRT_SUCCESS);
    assert_null(nnrt_model_deferred(fixed));
    assert_int_equal(fixed->inputIndex.count, 1);
    assert_int_equal(nnrt_model_save_memory(fixed, NULL, NULL, 0, &bytes, &e), *(const uint8_t *)&one == 1 ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
    memset(&desc, 0, sizeof(desc));
    bound.tensor = "x";
    bound.most = dims[0];
    desc.bounds = nnrt_bound_list_make(&bound, 1);
    assert_int_equal(nnrt_session_create(&session, fixed, &desc, &e), NNRT_SUCCESS);
    run_deferred(session, "1,2,3");
    nnrt_session_destroy(session);
    nnrt_model_destroy(fixed);
    nnrt_model_destroy(model);
}

/* The model of a text, from a file, whose bytes the import owns. */
static NNRT_Model *load_file(const char *text, nnrt_error *e)
{
    char path[] = "/tmp/nnrt_deferred_XXXXXX";
    const message m = build(text, 18);
    FILE *f = fdopen(mkstemp(path), "wb");
    NNRT_Model *model = NULL;
    memset(e, 0, sizeof(*e));
    assert_true(f != NULL && fwrite(m.data, 1, m.size, f) == m.size && fclose(f) == 0);
    if (nnrt_onnx_load(&model, path, NULL, e) != NNRT_SUCCESS)
        fail_msg("%s: %s", text, e->message);
    assert_int_equal(unlink(path), 0);
    return model;
}

/* Runs y = f(x [2,3,last]) in a session; most > 0: with that bound of the last axis. NULL, or the fault. */
static const char *run_last(const NNRT_Model *model, int32_t last, int32_t most, nnrt_error *e, float y[48])
{
    float x[24];
    const int32_t dims[3] = {2, 3, last};
    nnrt_dims known = {3, {2, 3, last}};
    nnrt_io in = nnrt_io_make(x, 6 * (size_t)last * sizeof(float)), out = nnrt_io_make(y, 48 * sizeof(float));
    nnrt_bound bound;
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    NNRT_ReturnCode code;
    memset(e, 0, sizeof(*e));
    memset(&desc, 0, sizeof(desc));
    memset(y, 0, 48 * sizeof(float));
    for (int i = 0; i < 24; i++)
        x[i] = (float)(i - 3);
    bound.tensor = "x";
    bound.most = known;
    bound.most.dims[2] = most;
    if (most > 0)
        desc.bounds = nnrt_bound_list_make(&bound, 1);
    else
        desc.inputDims = nnrt_dims_list_make(&known, 1);
    in.dims = dims;
    code = nnrt_session_create(&session, model, &desc, e);
    if (code == NNRT_SUCCESS && (code = nnrt_run(session, &in, 1, &out, 1)) != NNRT_SUCCESS)
        (void)snprintf(e->message, sizeof(e->message), "%s", nnrt_session_error(session));
    nnrt_session_destroy(session);
    return code == NNRT_SUCCESS ? NULL : e->message;
}

/* x.squeeze(-1) of an open size is If(size == 1, Squeeze(x), x), whose rank depends on the size. Where the nodes behind
   it accept only one of the ranks, it is taken, and the other branch fails in the run; the branches in either order. */
static void test_rank_choices(void **state)
{
    static const char squeezed[] = "graph; t = Squeeze x last; out t; done; ", same[] = "graph; u = Identity x; out u; done; ";
    static const struct {
        const char *next, *reason; /* reason: the model is deferred, NULL: it is not, as the other rank is refused for all sizes */
        const char *fault;         /* of a session with bounds; NULL: it runs */
    } cases[] = {
        {"r = Transpose z perm:I=1,0; q = Softmax r; k = Transpose q perm:I=1,0; W = Reshape %s two; y = MatMul k W;", NULL, NULL},
        /* the other rank would fit, too, if the last size were known */
        {"c = SplitToSequence z axis:i=-1; r = ConcatFromSequence c axis:i=-1; W = Reshape %s two; q = MatMul r W; y = Softmax q;", "the rank of", NULL},
        /* an LSTM with the sizes [2,3,3] or [1,2,3] */
        {"e = Shape z; k = Size e; q = Equal k pair; v = If q then_branch:g=3 else_branch:g=2; W = Reshape %s three; "
         "- h = LSTM v W W hidden_size:i=3; y = Softmax h;",
         "the rank of 'h' is unknown", "the rank of 'h' is unknown"},
        {"v = Identity %s; y = Softmax z;", "the rank of 'z' is unknown", "the rank of 'z' is unknown"},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases) * 8; i++) {
        const uint32_t c = i / 8, other = i / 4 % 2;
        char text[2048] = "", w[5] = "";
        float y[48], want[48];
        const char *fault;
        NNRT_Model *model, *plain = NULL;
        nnrt_error e;
        message m;
        int n;
        memset(w, 'w', 1 + i % 4); /* names of different lengths: constants at each alignment */
        n = snprintf(text, sizeof(text), "const one i64 [] 1; const pair i64 [] 2; const last i64 [1] -1; const first i64 [1] 0; "
                                         "const two i64 [2] 3 12; const three i64 [3] 1 12 3; const %s f32 [36]", w);
        for (int k = 0; k < 36; k++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %d", k % 7 - 3);
        n += snprintf(text + n, sizeof(text) - (size_t)n, "; graph; f = Unsqueeze z first; out f; done; graph; g = Identity z; out g; done; "
                                                              "%s%sin x f32 [2,3,n]; s = Shape x; d = Gather s pair; p = Equal d one; ",
                      other ? same : squeezed, other ? squeezed : same);
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%sz = If %s then_branch:g=1 else_branch:g=; ", other ? "o = Not p; " : "",
                      other ? "o" : "p");
        (void)snprintf(text + n, sizeof(text) - (size_t)n, cases[c].next, w);
        model = load_file(text, &e);
        if ((nnrt_model_deferred(model) != NULL) != (cases[c].reason != NULL) ||
            (cases[c].reason != NULL && strstr(nnrt_model_deferred(model), cases[c].reason) == NULL))
            fail_msg("%s: deferred: %s", text, nnrt_model_deferred(model));
        m = build(text, 18); /* in memory, no constant moves */
        assert_int_equal(nnrt_onnx_load_memory(&plain, m.data, m.size, NULL, &e), NNRT_SUCCESS);
        if ((fault = run_last(plain, 1, 0, &e, want)) != NULL)
            fail_msg("%s: %s", text, fault);
        nnrt_model_destroy(plain);
        fault = run_last(model, 1, 4, &e, y);
        if (cases[c].fault != NULL ? fault == NULL || strstr(fault, cases[c].fault) == NULL : fault != NULL)
            fail_msg("%s: %s", text, fault);
        if (cases[c].fault == NULL) {
            assert_memory_equal(y, want, sizeof(y));
            assert_true(y[0] != 0 && y[0] == y[0]);
            fault = run_last(model, 4, 4, &e, y);
            if (fault == NULL || strstr(fault, "'z' has rank 3 for these sizes, and the nodes behind it need rank 2") == NULL)
                fail_msg("%s: %s", text, fault);
        }
        nnrt_model_destroy(model);
    }
}

/* Sizes and values of the import count, unless the session has others; the import copied its values. */
static void test_deferred_desc(void **state)
{
    static const char model_text[] = "in x f32 [N,3]; in a i64 [n]; in b i64 [n]; u = Unsqueeze x a; y = Unsqueeze u b;";
    int64_t first = 0, last = 3;
    nnrt_input told[2] = {known_of("x", 2, 5, 3, NULL), known_of("a", 1, 1, 0, &first)},
               later[2] = {known_of("x", 2, 2, 3, NULL), known_of("b", 1, 1, 0, &last)};
    const message m = build(model_text, 13);
    nnrt_onnx_desc desc;
    nnrt_session_desc how;
    nnrt_session *session = NULL;
    NNRT_Model *model = NULL;
    nnrt_error e;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&how, 0, sizeof(how));
    memset(&e, 0, sizeof(e));
    desc.inputs = told;
    desc.inputCount = 2;
    assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e), NNRT_SUCCESS);
    assert_non_null(strstr(nnrt_model_deferred(model), "axes 'b' must be a constant"));
    assert_int_equal(model->inputIndex.count, 2);
    assert_int_equal(model->allTensors.data[model->inputIndex.data[0]].dims.data[0], 5);
    first = 1;
    memset(told, 0, sizeof(told));
    how.inputs = later;
    how.inputCount = 2;
    assert_int_equal(nnrt_session_create(&session, model, &how, &e), NNRT_SUCCESS);
    run_deferred(session, "1,2,3,1");
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
}

/* Constants of a file are moved to aligned addresses while it is imported: the second import reads the same elements. Four
   lengths of a name: each alignment. */
static void test_deferred_file(void **state)
{
    static const int64_t first = 0;
    nnrt_input known[2] = {known_of("x", 2, 2, 8, NULL), known_of("a", 1, 1, 0, &first)};
    (void)state;
    for (int length = 1; length <= 4; length++) {
        char text[1024];
        const char *name = &"wwww"[4 - length];
        float x[16], y[16], want[16] = {0};
        nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
        nnrt_session_desc desc;
        nnrt_session *session = NULL;
        NNRT_Model *model = NULL;
        nnrt_error e;
        int n = snprintf(text, sizeof(text), "const %s f32 [8,8]", name);
        memset(&desc, 0, sizeof(desc));
        for (int i = 0; i < 64; i++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %d", i % 7 - 3);
        (void)snprintf(text + n, sizeof(text) - (size_t)n, "; in x f32 [N,8]; in a i64 [n]; p = MatMul x %s; y = Unsqueeze p a;", name);
        model = load_file(text, &e);
        assert_non_null(nnrt_model_deferred(model));
        desc.inputs = known;
        desc.inputCount = 2;
        if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        for (int i = 0; i < 16; i++) {
            x[i] = (float)(i - 5);
            for (int k = 0; k < 8; k++)
                want[i] += (float)(i / 8 * 8 + k - 5) * (float)((k * 8 + i % 8) % 7 - 3);
        }
        assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
        assert_memory_equal(y, want, sizeof(y));
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
    }
}

/* Every allocation that fails, of the import, the session and the import for it, alone or with all that follow, is OUT_OF_MEMORY, or
   the fault for which the model would be deferred; no model is deferred for lack of memory, and nothing leaks. */
static void deferred_memory(bool once)
{
    static const int64_t first = 0;
    const nnrt_input known[2] = {known_of("x", 2, 2, 3, NULL), known_of("a", 1, 1, 0, &first)};
    uint32_t deepest = 0;
    bool done = false;
    for (uint32_t n = 0; !done; n++) {
        failing f = {n, 0, once};
        const nnrt_allocator allocator = {failing_alloc, failing_free, &f};
        nnrt_session_desc desc;
        nnrt_session *session = NULL;
        NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
        nnrt_error e;
        message m;
        NNRT_Model *model = load_text(UNSQUEEZE, &allocator, &m, &e);
        memset(&desc, 0, sizeof(desc));
        desc.allocator = &allocator;
        desc.inputs = known;
        desc.inputCount = 2;
        if (model != NULL) {
            assert_non_null(strstr(nnrt_model_deferred(model), "axes 'a' must be a constant"));
            code = nnrt_session_create(&session, model, &desc, &e);
        } else
            assert_true(model == NULL && (e.code == NNRT_OUT_OF_MEMORY || e.code == NNRT_UNSUPPORTED_OP));
        done = f.left > 0 && f.left <= n && code == NNRT_SUCCESS; /* nothing failed */
        deepest = model != NULL ? deepest + 1 : deepest;
        if (code != NNRT_SUCCESS && code != NNRT_OUT_OF_MEMORY)
            fail_msg("allocation %d: %s '%s'", (int)n, nnrt_code_name(code), e.message);
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
        assert_int_equal(f.live, 0);
    }
    assert_true(deepest > 10);
}

static void test_deferred_memory(void **state)
{
    (void)state;
    deferred_memory(false);
    deferred_memory(true);
}

/* nnrt_model_fix of a model with nodes: sizes by symbol, values as constants, and its refusals. */
static void test_fix(void **state)
{
    static const float two = 2;
    float in[12] = {1, 2, 3, 4, 5, 6, 1, 1, 1, 1, 1, 1}, y[6];
    const nnrt_input x = known_of("x", 2, 2, 3, NULL), z = known_of("z", 2, 4, 3, NULL), kept = known_of("z", 2, 2, 3, in), s = known_of("s", 0, 0, 0, &two),
                     flat = known_of("x", 1, 6, 0, NULL), open = known_of("s", 0, 0, 0, NULL), least = known_of("x", 2, -2, 3, NULL);
    const nnrt_input both[2] = {x, s}, against[2] = {x, z}, twice[2] = {s, s};
    static const float want[6] = {3, 5, 7, 9, 11, 13}; /* 2 x + z */
    nnrt_io io[2] = {{in, 24, NULL}, {in + 6, 24, NULL}}, out = {y, sizeof(y), NULL};
    nnrt_metadata metadata = {"states", "z=y"};
    NNRT_Model *model, *fixed = NULL;
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    message m;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    model = load_text("in x f32 [N,3]; in s f32 []; in z f32 [N,3]; t = Mul x s; y = Add t z;", NULL, &m, &e);
    assert_null(nnrt_model_deferred(model));
    REFUSED(nnrt_model_fix(&fixed, model, &flat, 1, &e), NNRT_INVALID_SHAPE, "input 'x' has 2 axes, but the given shape has 1");
    REFUSED(nnrt_model_fix(&fixed, model, against, 2, &e), NNRT_INVALID_SHAPE, "input 'z': axis 0 has size 2, but the given size is 4");
    REFUSED(nnrt_model_fix(&fixed, model, &least, 1, &e), NNRT_INVALID_SHAPE, "input 'x': axis 0 has size -2, expected -1 or more");
    REFUSED(nnrt_model_fix(&fixed, model, twice, 2, &e), NNRT_INVALID_PARAMETER, "the model has no input 's'");
    REFUSED(nnrt_model_fix(&fixed, model, NULL, 1, &e), NNRT_NULL_PTR, "inputs is NULL");
    REFUSED(nnrt_model_fix(NULL, model, &x, 1, &e), NNRT_NULL_PTR, "fixed is NULL");
    assert_null(fixed);
    assert_int_equal(nnrt_model_fix(&fixed, model, both, 2, &e), NNRT_SUCCESS);
    assert_int_equal(fixed->inputIndex.count, 2);
    assert_string_equal(fixed->allTensors.data[fixed->inputIndex.data[1]].name, "z");
    assert_int_equal(fixed->allTensors.data[fixed->inputIndex.data[1]].dims.data[0], 2);
    assert_int_equal(nnrt_session_create(&session, fixed, NULL, &e), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, io, 2, &out, 1), NNRT_SUCCESS);
    assert_memory_equal(y, want, sizeof(y));
    nnrt_session_destroy(session);
    nnrt_model_destroy(fixed);
    desc.inputs = both; /* the same by the session */
    desc.inputCount = 2;
    memset(y, 0, sizeof(y));
    assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, io, 2, &out, 1), NNRT_SUCCESS);
    assert_memory_equal(y, want, sizeof(y));
    nnrt_session_destroy(session);
    assert_int_equal(nnrt_model_fix(&fixed, model, &open, 1, &e), NNRT_SUCCESS); /* nothing new */
    assert_int_equal(fixed->inputIndex.count, 3);
    nnrt_model_destroy(fixed);
    assert_int_equal(nnrt_model_annotate(&model, &metadata, 1, &e), NNRT_SUCCESS);
    REFUSED(nnrt_model_fix(&fixed, model, &kept, 1, &e), NNRT_INVALID_PARAMETER, "states"); /* a state changes */
    assert_null(fixed);
    nnrt_model_destroy(model);
}
#undef REFUSED

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather_range),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_average_pool),
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_normalisation),
        cmocka_unit_test(test_lstm),
        cmocka_unit_test(test_conv_transpose),
        cmocka_unit_test(test_max_of_nan),
        cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_integer_products),
        cmocka_unit_test(test_between_casts), cmocka_unit_test(test_between_int16),
        cmocka_unit_test(test_between_casts_of_others),
        cmocka_unit_test(test_bitcasts),
        cmocka_unit_test(test_quantised_input),
        cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_gelu_pattern),
        cmocka_unit_test(test_clip_activation),
        cmocka_unit_test(test_celu),
        cmocka_unit_test(test_too_many_axes),
        cmocka_unit_test(test_erf),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_quantised_outputs),
        cmocka_unit_test(test_open_extents),
        cmocka_unit_test(test_range_bounds),
        cmocka_unit_test(test_named_extents),
        cmocka_unit_test(test_open_axes),
        cmocka_unit_test(test_resize_open),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_control_images),
        cmocka_unit_test(test_control_passed), cmocka_unit_test(test_storage), cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_sequence_ends), cmocka_unit_test(test_sequence_deferred),
        cmocka_unit_test(test_attention_dynamic),
        cmocka_unit_test(test_newer),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_functions_grow),
        cmocka_unit_test(test_functions_constant),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_cut_told),
        cmocka_unit_test(test_cut_tables),
        cmocka_unit_test(test_deferred_values),
        cmocka_unit_test(test_deferred),
        cmocka_unit_test(test_deferred_desc),
        cmocka_unit_test(test_rank_choices),
        cmocka_unit_test(test_deferred_file),
        cmocka_unit_test(test_deferred_memory),
        cmocka_unit_test(test_fix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
