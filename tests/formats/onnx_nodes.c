/* Imports and runs ONNX's own tests, which Debian installs with libonnx-testdata:

       onnx_nodes [--device NAME] [DIR [FILTER]]

   NAME is a device of tests/kit/devices.h (default auto). DIR holds test folders, or folders of test folders (default
   NNRT_ONNX_TESTDATA, or /usr/share/libonnx-testdata/data); FILTER is a part of a test's name. A test folder has a
   model.onnx and folders
   test_data_set_*, each with input_N.pb and output_N.pb, which ONNX computed with numpy or PyTorch. Each model is
   imported twice, with and without optimization, and both must give every output.

   A line for each test: PASS, FAIL and the reason, or SKIP and the unsupported feature, with the operator of a model of
   one node; tools/docs/docs.py reads them. In a test all inputs of a node are inputs of the model, even axes and shapes,
   which must be known to plan a model. A model that fails with run-time inputs is imported again with constants: first
   the inputs after the first one of rank 1 or less, then all. PASS* marks those tests. The exit status is 1 when a test
   fails, or when none passes.

      A model of one node must become the operator that nnrt_onnx_operator returns. Nodes that become several operators are
   listed.

   A test that passes runs three times more, with dynamic input dimensions. Twice except those of lists (integers of rank
   1 or less, scales), whose lengths determine ranks: with the shapes set when the session is created, and with the shapes
   set in the run, with upper bounds one larger (of the outputs, too). Before that, the model is saved as .nnrt and
   loaded again, unless it is deferred. The third time all dimensions of all inputs are dynamic and the import has no
   values: it must succeed, and the session gets shapes and values. All must be bit-identical to the first run.
   Unsupported ones are listed with the reason; at least 97 % must be supported.

   Tolerance: that of ONNX's test runner, 1e-3 relative and 1e-7 absolute, also for float16, whose ulp is 9.8e-4
   relative. DFT has 1e-6 absolute: numpy's float32 results have errors of 2e-7 where the exact ones are 0. Integers and
   bools must be equal.

   Outputs that a later release of the onnx package replaced are in tests/formats/onnx_replaced.txt, which
   tests/formats/onnx_replaced.py computes by the later definitions. They are counted separately, too.

   Bernoulli, and Dropout in training, draw random numbers that ONNX does not specify. Their tests check shape and type,
   that values are 0 or 1 (Dropout: 0 or x / (1 - ratio), the mask 0 or 1), and that their sum (the number of kept ones) is
   within 2.5 standard deviations of its expected value (the sum of equal draws is not). They are counted separately, too. */
#define _XOPEN_SOURCE 700
#include "formats/nnrt_onnx.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "devices.h"

#define MAX_IO 64
#define MAX_SKIPS 512
#define REPLACED_TABLE "tests/formats/onnx_replaced.txt" /* from the root of the repository */

enum { PASSED, FAILED, SKIPPED };

/* Where the shapes of the inputs are declared. ALONE: the import knows nothing but their ranks; the session gets all shapes, and
   the values that were constants in the first run. */
enum { IN_FILE, IN_SESSION, IN_RUN, ALONE, WAYS };

/* One tensor of a data set. */
typedef struct tensor {
    nnrt_dims shape;
    NNRT_DataType type;
    void *data;
    size_t bytes;
} tensor;

/* An input or output as the file declares it. */
typedef struct declared {
    char name[240];
    bool dynamic; /* the file has a dynamic dimension for it */
    bool sequence, optional;
    int32_t length; /* of the sequence in the data set; -1: it is absent */
} declared;

/* A data set and the names of the model's inputs; each tensor of a sequence is one. */
typedef struct data_set {
    tensor inputs[MAX_IO], outputs[MAX_IO];
    uint32_t nIn, nOut;
    declared ends[2][MAX_IO]; /* inputs and outputs */
    uint32_t nEnds[2];
    bool structured; /* some input or output is no plain tensor */
    char names[MAX_IO][256];
    bool dynamic[MAX_IO], inside[MAX_IO]; /* inside: a tensor of a sequence */
    uint32_t nNames;
    char op[64]; /* of a model of one node, which runs no graph: its operator; else "" */
    size_t nNodes;
    bool draws;  /* outputs are draws of 0 and 1 */
    bool drops;  /* of Dropout in training */
    bool turned; /* input 0 has the probability of 0 */
} data_set;

/* How often a reason to skip occurred. */
typedef struct skip {
    char reason[80];
    uint32_t count;
} skip;

static skip skips[MAX_SKIPS];
/* The ways behind IN_FILE write a .nnrt file, which a big-endian machine does not. */
#define LAST_WAY (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? WAYS : IN_SESSION)

static uint32_t n_skips, counts[3], n_constant, n_draws, n_later, n_open[WAYS][3], n_refused;
static const char *const way_names[WAYS] = {"file", "session", "run", "session alone"};
static tensor before[MAX_IO];   /* outputs of the first way, for the others to be compared with */
static const char *device_name; /* NULL: auto */
static bool same_bits = true;   /* whether the device reports bits identical to the reference device */

static void *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    long bytes = f != NULL && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : 0;
    void *data = bytes > 0 && fseek(f, 0, SEEK_SET) == 0 ? malloc((size_t)bytes) : NULL;
    *size = data != NULL ? fread(data, 1, (size_t)bytes, f) : 0;
    if (f != NULL)
        (void)fclose(f);
    if (data == NULL || *size == (size_t)bytes)
        return data;
    free(data);
    return NULL;
}

/* Decodes a TensorProto. */
static bool take_tensor(const void *file, size_t size, tensor *t)
{
    nnrt_onnx_tensor *raw = NULL;
    bool ok = false;
    memset(t, 0, sizeof(*t));
    if (nnrt_onnx_parse_tensor(file, size, NULL, &raw, NULL) == NNRT_SUCCESS && raw->dims.count <= NNRT_MAX_RANK &&
        nnrt_onnx_data_type(raw->dataType) != NNRT_DATA_TYPE_UNKNOWN) {
        t->type = nnrt_onnx_data_type(raw->dataType);
        t->shape.rank = (int32_t)raw->dims.count;
        for (size_t i = 0; i < raw->dims.count; i++)
            t->shape.dims[i] = (int32_t)raw->dims.data[i];
        if (nnrt_dims_bytes(t->shape.dims, t->shape.rank, t->type, &t->bytes) && t->bytes <= 8 * size)
            t->data = calloc(t->bytes + 1, 1);
        if (t->data != NULL && nnrt_onnx_tensor_elements(raw, t->data, t->bytes, NULL) == NNRT_SUCCESS)
            ok = true;
    }
    nnrt_onnx_tensor_free(raw);
    return ok;
}

static bool take_number(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        *v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* The next field of a protobuf message whose fields are numbers and blocks of bytes. */
static bool take_field(const uint8_t **at, const uint8_t *end, uint64_t *number, const uint8_t **block, uint64_t *bytes)
{
    if (*at >= end || !take_number(at, end, number) || !take_number(at, end, bytes))
        return false;
    *block = *number % 8 == 2 ? *at : NULL;
    if (*block != NULL && *bytes > (uint64_t)(end - *at))
        return false;
    *at += *block != NULL ? *bytes : 0;
    *number /= 8;
    return true;
}

/* Adds the tensors of a value to list: of a tensor one, of a SequenceProto (tensor_values are its field 3) all. */
static bool take_value(const uint8_t *file, size_t size, declared *end, tensor *list, uint32_t *n)
{
    const uint8_t *at = file, *block = NULL;
    uint64_t number, bytes;
    if (!end->sequence)
        return *n < MAX_IO && take_tensor(file, size, &list[(*n)++]);
    for (end->length = 0; take_field(&at, file + size, &number, &block, &bytes);)
        if (number == 3 && block != NULL) {
            if (*n == MAX_IO || !take_tensor(block, (size_t)bytes, &list[(*n)++]))
                return false;
            end->length++;
        }
    return true;
}

/* Reads a .pb file. 0: there is none; -1: it cannot be read as a tensor, a sequence or an optional one. */
static int read_value(const char *path, declared *end, tensor *list, uint32_t *n)
{
    struct stat info;
    size_t size = 0;
    uint8_t *file = (uint8_t *)read_file(path, &size);
    const uint8_t *at = file, *block = NULL;
    uint64_t number, bytes;
    int ok = stat(path, &info) == 0 ? end->optional ? 1 : file != NULL ? -1 : 0 : 0;
    end->length = -1;
    if (file != NULL && !end->optional)
        ok = take_value(file, size, end, list, n) ? 1 : -1;
    while (file != NULL && end->optional && ok == 1 && take_field(&at, file + size, &number, &block, &bytes))
        if (number == (end->sequence ? 5 : 3) && block != NULL) { /* OptionalProto: tensor_value 3, sequence_value 5 */
            end->length = 0;
            ok = take_value(block, (size_t)bytes, end, list, n) ? 1 : -1;
        }
    free(file);
    return ok;
}

static void free_set(data_set *s)
{
    for (uint32_t i = 0; i < s->nIn; i++)
        free(s->inputs[i].data);
    for (uint32_t i = 0; i < s->nOut; i++)
        free(s->outputs[i].data);
}

/* Reads the inputs and outputs of a data set: false when one is no tensor, sequence or optional value. */
static bool read_set(const char *folder, data_set *s)
{
    char path[1100];
    int found = 1;
    s->nIn = s->nOut = s->nNames = 0;
    for (uint32_t i = 0; i < s->nEnds[0] && found == 1; i++) {
        declared end; /* a copy: snprintf must not read from *s, to which it writes */
        snprintf(path, sizeof(path), "%s/input_%u.pb", folder, i);
        if ((found = read_value(path, &s->ends[0][i], s->inputs, &s->nIn)) != 1)
            break;
        end = s->ends[0][i];
        for (; s->nNames < s->nIn; s->nNames++) {
            if (end.sequence)
                snprintf(s->names[s->nNames], sizeof(s->names[0]), "%s[%u]", end.name,
                         s->nNames - (s->nIn - (uint32_t)end.length));
            else
                snprintf(s->names[s->nNames], sizeof(s->names[0]), "%s", end.name);
            s->dynamic[s->nNames] = end.dynamic;
            s->inside[s->nNames] = end.sequence;
        }
    }
    for (uint32_t i = 0; i < s->nEnds[1] && found >= 0; i++) {
        snprintf(path, sizeof(path), "%s/output_%u.pb", folder, i);
        if ((found = read_value(path, &s->ends[1][i], s->outputs, &s->nOut)) != 1)
            break;
    }
    return found >= 0;
}

static bool is_initializer(const nnrt_onnx_graph *g, nnrt_onnx_str name)
{
    for (size_t i = 0; i < g->initializers.count; i++)
        if (g->initializers.data[i].name.length == name.length &&
            memcmp(g->initializers.data[i].name.data, name.data, name.length) == 0)
            return true;
    return false;
}

/* The operator of a graph of one node; a node that runs graphs is none. */
static void read_operator(const nnrt_onnx_graph *g, data_set *s)
{
    const nnrt_onnx_node *n = g->nodes.count == 1 ? &g->nodes.data[0] : NULL;
    for (size_t i = 0; n != NULL && i < n->attributes.count; i++)
        if (n->attributes.data[i].g != NULL) {
            n = NULL;
            break;
        }
    s->nNodes = g->nodes.count;
    if (n != NULL)
        snprintf(s->op, sizeof(s->op), "%.*s%s%.*s", (int)n->domain.length, n->domain.data,
                 n->domain.length > 0 ? "." : "", (int)n->opType.length, n->opType.data);
}

/* An input or output; whether it has a dynamic shape. */
static void read_end(const nnrt_onnx_value_info *info, data_set *s, int output)
{
    declared *end = &s->ends[output][s->nEnds[output]++];
    snprintf(end->name, sizeof(end->name), "%.*s", (int)info->name.length, info->name.data);
    end->optional = info->kind == NNRT_ONNX_KIND_OPTIONAL;
    end->sequence = (end->optional ? info->elemKind : info->kind) == NNRT_ONNX_KIND_SEQUENCE;
    s->structured = s->structured || end->optional || end->sequence;
    end->dynamic = !info->hasShape;
    for (size_t k = 0; k < info->dims.count; k++)
        if (info->dims.data[k].kind != NNRT_ONNX_DIM_VALUE)
            end->dynamic = true;
}

/* The inputs that a run gets, and the outputs. */
static void read_names(const char *path, data_set *s)
{
    nnrt_onnx_model *m = NULL;
    size_t size = 0;
    void *file = read_file(path, &size);
    s->op[0] = '\0';
    if (file != NULL && nnrt_onnx_parse(file, size, NULL, &m, NULL) == NNRT_SUCCESS) {
        for (size_t i = 0; i < m->graph->inputs.count && s->nEnds[0] < MAX_IO; i++)
            if (!is_initializer(m->graph, m->graph->inputs.data[i].name))
                read_end(&m->graph->inputs.data[i], s, 0);
        for (size_t i = 0; i < m->graph->outputs.count && s->nEnds[1] < MAX_IO; i++)
            read_end(&m->graph->outputs.data[i], s, 1);
    }
    if (m != NULL)
        read_operator(m->graph, s);
    nnrt_onnx_model_free(m);
    free(file);
}

static double half_value(uint16_t h)
{
    const int exponent = (h >> 10) & 31, mantissa = h & 1023;
    const double sign = h & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return mantissa ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(mantissa + 1024, exponent - 25) : ldexp(mantissa, -24));
}

/* Element i as a number, for types that are compared with a tolerance. */
static double value_of(NNRT_DataType type, const void *data, size_t i)
{
    if (type == NNRT_DATA_TYPE_FLOAT32)
        return (double)((const float *)data)[i];
    if (type == NNRT_DATA_TYPE_FLOAT64)
        return ((const double *)data)[i];
    return half_value(((const uint16_t *)data)[i]);
}

/* Checks properties of draws, one for each element of input 0. */
static bool check_draws(NNRT_DataType type, const void *got, const data_set *s, char *text, size_t size)
{
    const tensor *p = &s->inputs[0];
    double mean = 0, variance = 0, sum = 0;
    for (size_t i = 0; i < p->bytes / nnrt_type_size(p->type); i++) {
        const double v = value_of(type, got, i), given = value_of(p->type, p->data, i);
        if (v != 0 && v != 1) {
            snprintf(text, size, "draw %zu is %.9g, expected 0 or 1", i, v);
            return false;
        }
        sum += v;
        mean += s->turned ? 1 - given : given;
        variance += given * (1 - given);
    }
    if (fabs(sum - mean) <= 2.5 * sqrt(variance))
        return true;
    snprintf(text, size, "the draws sum up to %g, expected %g +- %g", sum, mean, 2.5 * sqrt(variance));
    return false;
}

/* Checks properties of the outputs of Dropout in training: 0 the kept elements, 1 the mask. */
static bool check_drops(NNRT_DataType type, const void *got, const data_set *s, uint32_t k, char *text, size_t size)
{
    const tensor *x = &s->inputs[0], *r = &s->inputs[1];
    const double ratio = s->nIn > 1 && r->bytes > 0 ? value_of(r->type, r->data, 0) : 0.5;
    const double n = (double)(x->bytes / nnrt_type_size(x->type)), mean = n * (1 - ratio);
    double kept = 0;
    for (size_t i = 0; i < (size_t)n; i++) {
        const double v = k == 0 ? value_of(type, got, i) : ((const uint8_t *)got)[i];
        const double want = k == 0 ? value_of(x->type, x->data, i) / (1 - ratio) : 1;
        if (v != 0 && !(fabs(v - want) <= 1e-6 * fabs(want))) {
            snprintf(text, size, "output %u: element %zu is %.9g, expected 0 or %.9g", k, i, v, want);
            return false;
        }
        kept += v != 0;
    }
    if (fabs(kept - mean) <= 2.5 * sqrt(mean * ratio))
        return true;
    snprintf(text, size, "output %u keeps %g elements, expected %g +- %g", k, kept, mean, 2.5 * sqrt(mean * ratio));
    return false;
}

/* Compares output k with the expected values; text gets the difference. */
static bool compare(const nnrt_io_info *info, const void *got, const data_set *s, uint32_t k, char *text, size_t size)
{
    const tensor *want = &s->outputs[k];
    const NNRT_DataType type = info->dataType;
    const double near = strcmp(s->op, "DFT") == 0 ? 1e-6 : 1e-7;
    const bool floats =
        type == NNRT_DATA_TYPE_FLOAT32 || type == NNRT_DATA_TYPE_FLOAT64 || type == NNRT_DATA_TYPE_FLOAT16;
    if (want->type != type || info->shape.rank != want->shape.rank || info->bytes != want->bytes ||
        memcmp(info->shape.dims, want->shape.dims, (size_t)want->shape.rank * sizeof(int32_t)) != 0) {
        const nnrt_operand a = nnrt_operand_make(type, info->shape.rank, info->shape.dims, NULL);
        const nnrt_operand b = nnrt_operand_make(want->type, want->shape.rank, want->shape.dims, NULL);
        (void)nnrt_text(text, size, "output %u is %o, expected %o", k, &a, &b);
        return false;
    }
    if (s->drops)
        return check_drops(type, got, s, k, text, size);
    if (s->draws)
        return check_draws(type, got, s, text, size);
    for (size_t i = 0; floats && i < want->bytes / nnrt_type_size(type); i++) {
        const double a = value_of(type, got, i), b = value_of(type, want->data, i);
        if (isnan(a) && isnan(b))
            continue;
        if (!(a == b || fabs(a - b) <= near + 1e-3 * fabs(b))) {
            snprintf(text, size, "output %u: element %zu is %.9g, expected %.9g", k, i, a, b);
            return false;
        }
    }
    if (!floats && want->bytes > 0 && memcmp(got, want->data, want->bytes) != 0) {
        snprintf(text, size, "output %u has other elements", k);
        return false;
    }
    return true;
}

/* Runs a session on the data set; constant inputs are no inputs any more. */
static void keep_output(uint32_t i, const nnrt_io_info *info, const void *data)
{
    before[i].data = malloc(info->bytes + 1);
    before[i].bytes = info->bytes;
    if (before[i].data != NULL)
        memcpy(before[i].data, data, info->bytes);
}

static void forget_outputs(void)
{
    for (uint32_t i = 0; i < MAX_IO; i++)
        free(before[i].data);
    memset(before, 0, sizeof(before));
}

static int run_session(nnrt_session *session, const data_set *s, int way, char *text, size_t size)
{
    nnrt_io in[MAX_IO], out[MAX_IO];
    const uint32_t nIn = nnrt_session_inputs(session), nOut = nnrt_session_outputs(session);
    int result = PASSED;
    memset(in, 0, sizeof(in));
    memset(out, 0, sizeof(out));
    if (nIn > MAX_IO || nOut > MAX_IO || nOut != s->nOut) {
        snprintf(text, size, "%u outputs, expected %u", nOut, s->nOut);
        return FAILED;
    }
    for (uint32_t i = 0; i < nIn; i++)
        for (uint32_t k = 0; k < s->nIn; k++)
            if (strcmp(nnrt_session_input(session, i).name, s->names[k]) == 0) {
                in[i] = nnrt_io_make(s->inputs[k].data, s->inputs[k].bytes);
                in[i].dims = way == IN_RUN ? s->inputs[k].shape.dims : NULL;
            }
    for (uint32_t i = 0; i < nOut; i++) {
        const size_t bytes = nnrt_session_output(session, i).bytes;
        out[i] = nnrt_io_make(malloc(bytes + 1), bytes);
        memset(out[i].data, 0xA5, bytes + 1);
    }
    if (nnrt_run(session, in, nIn, out, nOut) != NNRT_SUCCESS) { /* preparation cannot know all values */
        snprintf(text, size, "%s", nnrt_session_error(session));
        result = strstr(text, "(ASSERT)") != NULL ? SKIPPED : FAILED;
    }
    for (uint32_t i = 0; i < nOut && result == PASSED; i++) {
        const nnrt_io_info info = nnrt_session_output(session, i);
        if (!compare(&info, out[i].data, s, i, text, size))
            result = FAILED;
        else if (way == IN_FILE && before[i].data == NULL)
            keep_output(i, &info, out[i].data);
        else if (before[i].bytes != info.bytes ||
                 (same_bits && memcmp(before[i].data, out[i].data, info.bytes) != 0)) {
            snprintf(text, size, "output %u has other bits than with fixed shapes", i);
            result = FAILED;
        }
    }
    for (uint32_t i = 0; i < nOut; i++)
        free(out[i].data);
    return result;
}

/* Which inputs are made constants. */
enum { CONSTANT_NONE, CONSTANT_SMALL, CONSTANT_ALL, CONSTANT_END };

/* Whether the code means an unsupported feature, as opposed to an invalid model. */
static bool is_refusal(NNRT_ReturnCode code)
{
    return code == NNRT_UNSUPPORTED_OP || code == NNRT_INVALID_DATATYPE || code == NNRT_NOT_SUPPORT;
}

static bool is_integer(NNRT_DataType type)
{
    return type == NNRT_DATA_TYPE_INT64 || type == NNRT_DATA_TYPE_INT32;
}

/* A bound for a shape: each dimension plus one. */
static nnrt_dims larger(const nnrt_dims *shape)
{
    nnrt_dims most = *shape;
    for (int32_t k = 0; k < most.rank; k++)
        most.dims[k]++;
    return most;
}

static bool bounds_have(const nnrt_bound *bounds, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(bounds[i].tensor, name) == 0)
            return true;
    return false;
}

/* The outputs may be one larger than they will be. */
static void bound_outputs(nnrt_session_desc *how, nnrt_bound *bounds, const NNRT_Model *model, const data_set *s)
{
    uint32_t n = how->bounds.count;
    int32_t most = 1;
    for (uint32_t i = 0; i < s->nOut; i++) {
        size_t count = 0;
        if (nnrt_dims_count(s->outputs[i].shape.dims, s->outputs[i].shape.rank, &count) && count > (size_t)most &&
            count < INT32_MAX)
            most = (int32_t)count;
    }
    for (uint32_t i = 0; i < model->outputIndex.count && model->outputIndex.count <= s->nOut; i++) {
        bounds[n].tensor = model->allTensors.data[model->outputIndex.data[i]].name;
        bounds[n++].most = larger(&s->outputs[i].shape);
    }
    for (uint32_t i = 0; i < model->nodes.count && n < 2 * MAX_IO; i++) /* no RANGE has more elements than an output */
        if (model->nodes.data[i].nodeType == NNRT_NODE_TYPE_RANGE) {
            bounds[n].tensor = model->allTensors.data[model->nodes.data[i].outputIndex.data[0]].name;
            if (bounds[n].tensor == NULL || bounds_have(bounds, n, bounds[n].tensor))
                continue;
            bounds[n].most.rank = 1;
            bounds[n++].most.dims[0] = most;
        }
    how->bounds = nnrt_bound_list_make(bounds, n);
}

/* One more bound, for the result without a bound that the message names: intermediate dimensions do not exceed the outputs'.
   false: no such message, or no known bound. */
static bool bound_result(nnrt_session_desc *how, nnrt_bound *bounds, const NNRT_Model *model, const data_set *s,
                         const nnrt_error *error)
{
    const char *node = strstr(error->message, "node "), *result = strstr(error->message, "nothing bounds output ");
    const uint32_t n = how->bounds.count;
    const NNRT_Tensor *t;
    int32_t most = 1;
    unsigned at = 0, out = 0;
    if (node == NULL || result == NULL || n == 2 * MAX_IO || sscanf(node, "node %u", &at) != 1 ||
        sscanf(result, "nothing bounds output %u", &out) != 1)
        return false;
    t = &model->allTensors.data[model->nodes.data[at].outputIndex.data[out]];
    if (t->dims.count > NNRT_MAX_RANK || t->name == NULL || t->name[0] == '\0' ||
        (t->dims.count == 1 && t->dims.data[0] == NNRT_RANK_UNKNOWN))
        return false;
    for (uint32_t i = 0; i < s->nOut; i++)
        for (int32_t k = 0; k < s->outputs[i].shape.rank; k++)
            most = s->outputs[i].shape.dims[k] > most ? s->outputs[i].shape.dims[k] : most;
    memset(&bounds[n], 0, sizeof(bounds[n]));
    bounds[n].tensor = t->name;
    bounds[n].most.rank = (int32_t)t->dims.count;
    for (uint32_t k = 0; k < t->dims.count; k++)
        bounds[n].most.dims[k] = most + 1;
    how->bounds = nnrt_bound_list_make(bounds, n + 1);
    return true;
}

/* Each axis of a RESHAPE to a runtime shape may have all elements: the product of their bounds is out of proportion. */
static bool is_huge(const nnrt_session *session)
{
    bool huge = false;
    for (uint32_t i = 0; i < nnrt_session_outputs(session); i++)
        huge = huge || nnrt_session_output(session, i).bytes > (size_t)1 << 24;
    return huge;
}

/* Inputs that determine shapes: integers of one axis, scales, the window of STFT. */
static bool is_list(const data_set *s, uint32_t i)
{
    return s->inputs[i].shape.rank <= 1 &&
           (is_integer(s->inputs[i].type) ||
            (i > 0 && (strcmp(s->op, "Resize") == 0 || strcmp(s->op, "Upsample") == 0 || strcmp(s->op, "STFT") == 0)));
}

/* Replaces the model by the one loaded from its .nnrt file. *block: of the file, which the new model uses. */
static NNRT_ReturnCode through_file(NNRT_Model **model, void **block, nnrt_error *error)
{
    NNRT_Model *loaded = NULL;
    size_t bytes = 0;
    uint8_t *file = NULL;
    NNRT_ReturnCode code = nnrt_model_save_memory(*model, NULL, NULL, 0, &bytes, error);
    if (code != NNRT_SUCCESS || (*block = malloc(bytes + NNRT_ALIGNMENT)) == NULL)
        return code != NNRT_SUCCESS ? code : NNRT_OUT_OF_MEMORY;
    file = (uint8_t *)*block;
    file += (NNRT_ALIGNMENT - (uintptr_t)file % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    code = nnrt_model_save_memory(*model, NULL, file, bytes, &bytes, error);
    if (code == NNRT_SUCCESS)
        code = nnrt_model_load_memory(&loaded, file, bytes, NULL, error);
    if (code == NNRT_SUCCESS) {
        nnrt_model_destroy(*model);
        *model = loaded;
    }
    return code;
}

static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

static bool find_about(const char *op, nnrt_onnx_about *about)
{
    for (uint32_t i = 0; nnrt_onnx_operator(i, about); i++)
        if (strcmp(about->name, op) == 0)
            return about->most > 0;
    return false;
}

/* Does the only node of a file become the operator that nnrt_onnx_operator returns? Nodes named "output", which copy an output
   that is an input or a constant, do not count. */
static bool is_as_told(const NNRT_Model *model, const char *op, char *text, size_t size)
{
    nnrt_onnx_about about;
    uint32_t nodes = 0;
    if (!find_about(op, &about)) {
        snprintf(text, size, "nnrt_onnx_operator does not tell of %s", op);
        return false;
    }
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const char *name = nnrt_op_find(model->nodes.data[i].nodeType)->name;
        if (strncmp(model->nodes.data[i].name, "output", 6) == 0 && strcmp(name, "CAST") == 0)
            continue;
        nodes++;
        if (has_word(about.becomes, name) || has_word(about.with, name))
            continue;
        snprintf(text, size, "%s becomes %s, too; nnrt_onnx_operator says '%s' with '%s'", op, name, about.becomes,
                 about.with);
        return false;
    }
    if (nodes > 1 && *about.with == '\0') {
        snprintf(text, size, "%s becomes %u nodes; nnrt_onnx_operator says '%s'", op, nodes, about.becomes);
        return false;
    }
    return true;
}

/* Operators of ONNX that no operator of the runtime is by itself; false when some operator's row says nothing. */
static bool print_recipes(void)
{
    nnrt_onnx_about about;
    bool all = true;
    printf("\nmade of several operators\n");
    for (uint32_t i = 0; nnrt_onnx_operator(i, &about); i++) {
        if (about.most > 0 && *about.becomes == '\0' && *about.with != '\0')
            printf("%s: %s: %s\n", about.name, about.with, about.why);
        if (*about.becomes != '\0' || *about.why != '\0')
            continue;
        printf("FAIL nnrt_onnx_operator does not tell what %s becomes\n", about.name);
        all = false;
    }
    return all;
}

/* Imports and runs once. extents: the import gets all shapes, otherwise the session does. */
static int attempt(const char *path, const data_set *s, int constant, bool extents, bool no_optimize, int way,
                   char *text, size_t size)
{
    nnrt_onnx_input inputs[2 * MAX_IO];
    nnrt_dims dims[MAX_IO];
    nnrt_bound bounds[2 * MAX_IO];
    nnrt_input known[2 * MAX_IO];
    nnrt_onnx_desc desc;
    nnrt_session_desc how;
    nnrt_error error;
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    NNRT_ReturnCode code;
    void *file = NULL;
    int result;
    uint32_t open = 0, nBounds = 0, nKnown = 0;
    memset(&desc, 0, sizeof(desc));
    memset(&how, 0, sizeof(how));
    memset(&error, 0, sizeof(error));
    desc.no_optimize = no_optimize;
    for (uint32_t i = 0; i < s->nIn && i < s->nNames; i++) {
        const bool fixed =
            constant == CONSTANT_ALL || (constant == CONSTANT_SMALL && i > 0 && s->inputs[i].shape.rank <= 1);
        const bool opened = way == ALONE || (!fixed && way != IN_FILE && !is_list(s, i));
        known[nKnown].name = s->names[i];
        known[nKnown].shape = s->inputs[i].shape;
        known[nKnown++].data = fixed ? s->inputs[i].data : NULL;
        if (way == ALONE && s->inside[i])
            continue;
        if (!fixed)
            dims[open++] = s->inputs[i].shape;
        if (!fixed && !opened && !(extents && (s->dynamic[i] || s->structured)))
            continue;
        inputs[desc.inputCount].name = s->names[i];
        inputs[desc.inputCount].shape = s->inputs[i].shape;
        if (opened && way == IN_RUN) {
            bounds[nBounds].tensor = s->names[i];
            bounds[nBounds++].most = larger(&s->inputs[i].shape);
        }
        for (int32_t k = 0; opened && k < s->inputs[i].shape.rank; k++) {
            inputs[desc.inputCount].shape.dims[k] = -1;
            if (way == IN_RUN)
                dims[open - 1].dims[k] = -1;
        }
        inputs[desc.inputCount++].data = fixed && way != ALONE ? s->inputs[i].data : NULL;
    }
    for (uint32_t i = 0; i < s->nEnds[0]; i++) /* the lengths of sequences */
        if (s->ends[0][i].sequence && s->ends[0][i].length >= 0) {
            known[nKnown].name = s->ends[0][i].name;
            known[nKnown].shape.rank = 1;
            known[nKnown].shape.dims[0] = s->ends[0][i].length;
            known[nKnown].data = NULL;
            if (way != ALONE)
                inputs[desc.inputCount++] = known[nKnown];
            nKnown++;
        }
    desc.final = way != ALONE && s->structured; /* optional inputs that are not described have no value */
    desc.inputs = inputs;
    if (way == ALONE) {
        how.inputs = known;
        how.inputCount = nKnown;
    } else {
        how.inputDims = nnrt_dims_list_make(dims, open);
    }
    how.bounds = nnrt_bound_list_make(bounds, nBounds);
    how.device = device_name;
    code = nnrt_onnx_load(&model, path, &desc, &error);
    if (code == NNRT_SUCCESS && nnrt_model_deferred(model) != NULL && s->structured) {
        memset(&how.inputDims, 0, sizeof(how.inputDims)); /* there is none for the tensors of sequences */
        how.inputs = known;
        how.inputCount = nKnown;
    }
    if (code == NNRT_SUCCESS && no_optimize && s->op[0] != '\0' && !is_as_told(model, s->op, text, size)) {
        nnrt_model_destroy(model);
        return FAILED;
    }
    if (code != NNRT_SUCCESS && way == ALONE)
        n_refused++;
    if (code == NNRT_SUCCESS && way != IN_FILE && nnrt_model_deferred(model) == NULL)
        code = through_file(&model, &file, &error);
    if (code == NNRT_SUCCESS && way == IN_RUN && how.inputCount == 0) /* whose outputs are sequences of unknown length */
        bound_outputs(&how, bounds, model, s);
    if (code == NNRT_SUCCESS)
        code = nnrt_session_create(&session, model, &how, &error);
    for (int k = 0; k < 8 && code == NNRT_UNSUPPORTED_OP && model != NULL; k++) { /* data-dependent output shapes */
        if (k == 0 && how.bounds.count == 0 && strstr(error.message, "(bounds)"))
            bound_outputs(&how, bounds, model, s);
        else if (!bound_result(&how, bounds, model, s, &error))
            break;
        memset(&error, 0, sizeof(error));
        code = nnrt_session_create(&session, model, &how, &error);
    }
    if (code == NNRT_SUCCESS && how.bounds.count == 0 && is_huge(session)) {
        bound_outputs(&how, bounds, model, s);
        nnrt_session_destroy(session);
        code = nnrt_session_create(&session, model, &how, &error);
    }
    if (code == NNRT_SUCCESS) {
        result = run_session(session, s, way, text, size);
    } else {
        snprintf(text, size, "%s", error.message[0] != '\0' ? error.message : nnrt_code_name(code));
        result = is_refusal(code) && error.message[0] != '\0' ? SKIPPED : FAILED;
    }
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    free(file);
    return result;
}

/* The same with dynamic axes; unsupported cases are listed, and are no fault of the test. */
static void run_open(const char *path, const data_set *s, int constant, int way)
{
    char text[512];
    const int result = attempt(path, s, constant, false, false, way, text, sizeof(text));
    n_open[way][result]++;
    if (result != PASSED)
        printf("OPEN %s: shapes given in the %s: %s\n", path, way_names[way], text);
}

/* Whether the optimizer makes one operator of the nodes of a test, which rounds less often (NNRT_PASS_CHAINS). */
static bool is_chain(const char *path)
{
    return strstr(path, "_expanded") != NULL && (strstr(path, "/test_gelu_") != NULL ||
                                                 strstr(path, "/test_hardswish_") != NULL ||
                                                 strstr(path, "/test_rms_normalization_") != NULL);
}

/* One data set in all ways. *constant: some inputs had to be constants. */
static int run_set(const char *path, const data_set *s, bool *constant, char *text, size_t size)
{
    char last[512];
    int result = SKIPPED;
    bool any = false;
    for (uint32_t i = 0; i < s->nNames; i++)
        any = any || s->dynamic[i];
    last[0] = '\0';
    for (int c = CONSTANT_NONE; c < CONSTANT_END && result == SKIPPED; c++)
        for (int extents = any && !s->structured ? 0 : 1; extents < 2 && result == SKIPPED; extents++) {
            result = attempt(path, s, c, extents != 0, true, IN_FILE, text, size);
            if (result == PASSED) {
                if (is_chain(path)) /* later results are compared with those of the operator */
                    forget_outputs();
                result = attempt(path, s, c, extents != 0, false, IN_FILE, text, size);
                if (result != PASSED) { /* optimization must not change which models are supported */
                    memmove(text + 11, text, strlen(text) < size - 12 ? strlen(text) + 1 : 0);
                    memcpy(text, "optimized: ", 11);
                    result = FAILED;
                }
            }
            if (result == SKIPPED && (last[0] == '\0' || strstr(text, "has no inputs") == NULL))
                snprintf(last, sizeof(last), "%s", text); /* the last reason that says something about the node */
            *constant = c != CONSTANT_NONE;
            for (int way = IN_SESSION; result == PASSED && way < LAST_WAY; way++)
                run_open(path, s, c, way);
        }
    forget_outputs();
    if (result == SKIPPED)
        snprintf(text, size, "%s", last);
    return result;
}

/* Counts a reason: the operators, or the sentence after the node's name. */
static void count_skip(const char *text)
{
    const char *colon = strncmp(text, "operators", 9) == 0 ? strchr(text, ':') : strstr(text, "): ");
    const char *from = colon == NULL ? text : colon + (colon[0] == ':' ? 2 : 3);
    char reason[80];
    snprintf(reason, sizeof(reason), "%s%.66s", colon != NULL && colon[0] == ':' ? "operators " : "", from);
    for (uint32_t i = 0; i < n_skips; i++)
        if (strcmp(skips[i].reason, reason) == 0) {
            skips[i].count++;
            return;
        }
    if (n_skips < MAX_SKIPS) {
        memcpy(skips[n_skips].reason, reason, sizeof(reason));
        skips[n_skips++].count = 1;
    }
}

/* Tests whose expected outputs a later release of the onnx package replaced. The importer computes the later outputs.
   tests/formats/onnx_replaced.txt has them, if the inputs are its; a test with the older ones is counted as skipped. A part of the
   name, and the change. */
static const struct {
    const char *part, *changed;
} replaced[] = {
    {"qk_matmul_bias", "modes 1 and 2 of Attention's qk_matmul_output are exchanged after 1.20"},
    {"qk_matmul_softcap", "Attention caps scores before it adds the mask after 1.20"},
    {"test_qlinearmatmul_2D_int8_", "the expected integers wrap instead of saturating: onnx issue 7835"},
    {"test_qlinearmatmul_3D_int8_", "the expected integers wrap instead of saturating: onnx issue 7835"},
    {"BFLOAT16", "1.20 rounds to nearest, 1.12 cuts bits off and has `like` in another shape than the model"},
    {"test_l2normalization_axis_0", "0 / 0 of a row without a norm is 0 after 1.20"},
};

/* The change of a later release in this test; NULL: none. */
static const char *replaced_why(const char *name)
{
    for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++)
        if (strstr(name, replaced[i].part) != NULL)
            return replaced[i].changed;
    return NULL;
}

static uint32_t hash_of(const data_set *s)
{
    uint32_t hash = 0x811c9dc5u;
    for (uint32_t i = 0; i < s->nIn; i++)
        for (size_t k = 0; k < s->inputs[i].bytes; k++)
            hash = (hash ^ ((const uint8_t *)s->inputs[i].data)[k]) * 0x01000193u;
    return hash;
}

/* Replaces expected outputs by the outputs in tests/formats/onnx_replaced.txt, a line "test output hash-of-inputs bytes" each; returns
   their number. */
static uint32_t replace_outputs(const char *name, data_set *s)
{
    static char *table = NULL;
    uint32_t n = 0;
    size_t size = 0;
    if (table == NULL) {
        void *file = read_file(REPLACED_TABLE, &size);
        table = (char *)calloc(size + 1, 1);
        if (file != NULL && table != NULL)
            memcpy(table, file, size);
        free(file);
    }
    for (const char *line = table; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1) {
        char test[128];
        unsigned k = 0, hash = 0, byte;
        int at = 0;
        if (sscanf(line, "%127s %u %x %n", test, &k, &hash, &at) < 3 || strcmp(test, name) != 0 || k >= s->nOut ||
            hash != hash_of(s) || strcspn(line + at, "\n") != 2 * s->outputs[k].bytes)
            continue;
        for (size_t i = 0; i < s->outputs[k].bytes && sscanf(line + at + 2 * i, "%2x", &byte) == 1; i++)
            ((uint8_t *)s->outputs[k].data)[i] = (uint8_t)byte;
        n++;
    }
    return n;
}

static void run_test(const char *folder, const char *name)
{
    static data_set set;
    char path[1024], text[512], data[1024];
    int result = SKIPPED, sets = 0;
    uint32_t later = 0;
    bool constant = false;
    snprintf(path, sizeof(path), "%s/%s/model.onnx", folder, name);
    snprintf(text, sizeof(text), "there is no data set");
    memset(&set, 0, sizeof(set));
    read_names(path, &set);
    set.drops = strncmp(name, "test_training_dropout", 21) == 0 && strstr(name, "zero_ratio") == NULL;
    set.draws = set.drops || strncmp(name, "test_bernoulli", 14) == 0;
    set.turned = set.draws && strstr(name, "_expanded") != NULL; /* these compare a number > x, where Bernoulli has < */
    for (int k = 0;; k++) {
        struct stat info;
        snprintf(data, sizeof(data), "%s/%s/test_data_set_%d", folder, name, k);
        if (stat(data, &info) != 0)
            break;
        sets++;
        if (read_set(data, &set)) {
            later += replace_outputs(name, &set);
            result = run_set(path, &set, &constant, text, sizeof(text));
        } else {
            nnrt_error error;
            NNRT_Model *model = NULL;
            memset(&error, 0, sizeof(error));
            result = SKIPPED; /* strings: the importer's result decides */
            if (nnrt_onnx_load(&model, path, NULL, &error) == NNRT_SUCCESS)
                snprintf(text, sizeof(text), "its data are no tensors");
            else
                snprintf(text, sizeof(text), "%s", error.message);
            nnrt_model_destroy(model);
        }
        free_set(&set);
        if (result != PASSED)
            break;
    }
    if (result == FAILED && replaced_why(name) != NULL) {
        result = SKIPPED;
        snprintf(text, sizeof(text), "expected outputs that a later release replaced: %s", replaced_why(name));
    }
    counts[result]++;
    n_constant += result == PASSED && constant;
    n_draws += result == PASSED && set.draws;
    n_later += result == PASSED && later > 0;
    if (result == SKIPPED)
        count_skip(text);
    printf("%s%s %s (",
           result == PASSED   ? "PASS"
           : result == FAILED ? "FAIL"
                              : "SKIP",
           result == PASSED && constant ? "*" : "", name);
    printf(set.op[0] != '\0' ? "%s)" : "%s%zu nodes)", set.op, set.nNodes);
    if (result == PASSED)
        printf(set.draws   ? ": random numbers, by shape, type, values and sum\n"
               : later > 0 ? ": by the definition of a later release\n"
                           : "\n");
    else
        printf(": %s\n", text);
    (void)sets;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* All test folders in folder; others are looked into, once. */
static void run_folder(const char *folder, const char *filter, int depth)
{
    struct dirent **entries = NULL;
    const int n = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        char path[1024];
        struct stat info;
        snprintf(path, sizeof(path), "%s/%s/model.onnx", folder, name);
        if (name[0] != '.' && stat(path, &info) == 0) {
            if (filter == NULL || strstr(name, filter) != NULL)
                run_test(folder, name);
        } else if (name[0] != '.' && depth == 0) {
            snprintf(path, sizeof(path), "%s/%s", folder, name);
            run_folder(path, filter, 1);
        }
        free(entries[i]);
    }
    free(entries);
}

static int by_count(const void *a, const void *b)
{
    const skip *x = (const skip *)a, *y = (const skip *)b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->reason, y->reason);
}

int main(int argc, char **argv)
{
    const char *folder;
    bool few = false;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "--device") == 0) {
        device_name = argv[2];
        const test_device *device = test_device_open(device_name);
        if (device == NULL)
            return 2;
        same_bits = device->bounds == NULL;
        argc -= 2;
        argv += 2;
    }
    folder = argc > 1 ? argv[1] : getenv("NNRT_ONNX_TESTDATA");
    run_folder(folder != NULL ? folder : "/usr/share/libonnx-testdata/data", argc > 2 ? argv[2] : NULL, 0);
    counts[FAILED] += print_recipes() ? 0 : 1;
    qsort(skips, n_skips, sizeof(skips[0]), by_count);
    printf("\nskipped  because of\n");
    for (uint32_t i = 0; i < n_skips; i++)
        printf("%7u  %s\n", skips[i].count, skips[i].reason);
    printf("\n%u passed (%u of them with inputs made constants), %u failed, %u skipped\n", counts[PASSED], n_constant,
           counts[FAILED], counts[SKIPPED]);
    printf("%u of those that passed by shape, type, values and sum, their numbers being random\n", n_draws);
    printf("%u passed by the definition of a later release, which replaced the expected outputs\n", n_later);
    for (int way = IN_SESSION; way < LAST_WAY; way++) {
        const uint32_t all = n_open[way][PASSED] + n_open[way][FAILED] + n_open[way][SKIPPED];
        printf("%u of %u data sets with dynamic dimensions, given in the %s: the same bits\n", n_open[way][PASSED], all,
               way_names[way]);
        few = few || n_open[way][PASSED] < all - all * 3 / 100;
    }
    printf("%u imports without shapes and values refused\n", n_refused);
    return counts[FAILED] > 0 || counts[PASSED] == 0 || few || n_refused > 0 ? 1 : 0;
}
