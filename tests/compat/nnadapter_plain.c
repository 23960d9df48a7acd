/* A driver for NNAdapter's hardware layer, written from its specification: device plain_npu, which computes ADD and
   CONV_2D on float32, one operation after another. tests/compat/test_nnadapter_driver.c links it into the program, and loads
   libplain_npu.so. It counts its calls; the function that plain_fails names returns plain_code. */
#include "compat/nnadapter/driver.h"

#include <stdlib.h>
#include <string.h>

typedef struct plain_program {
    const NNAdapterDriverModel *model;
    float **data; /* by operand; constants are not copied */
} plain_program;

extern const NNAdapterDriver __nnadapter_device__plain_npu;
extern int plain_open, plain_contexts, plain_programs; /* numbers of existing objects */
extern char plain_properties[64];
extern const char *plain_fails; /* "open", "context", "validate", "create", "execute", "shape" */
extern int plain_code, plain_refused; /* refused: outputs for which there was no room */
extern int plain_answers;             /* number of answers to event 0x0100 with a stream, which is stored in .. */
extern void *plain_stream;
int plain_answers;
void *plain_stream;
int plain_open, plain_contexts, plain_programs;
char plain_properties[64];
const char *plain_fails = "";
int plain_code, plain_refused;

static int fails(const char *what)
{
    return strcmp(plain_fails, what) == 0;
}

static size_t count_of(const NNAdapterDriverOperand *o)
{
    size_t count = 1;
    for (uint32_t i = 0; i < o->type.dimensions.count; i++)
        count *= (size_t)o->type.dimensions.data[i];
    return count;
}

static int open_device(void **device)
{
    if (fails("open"))
        return plain_code;
    *device = NULL; /* there is one, and nothing to say of it */
    plain_open++;
    return NNADAPTER_NO_ERROR;
}

static void close_device(void *device)
{
    (void)device;
    plain_open--;
}

static int create_context(void *device, const char *properties, int (*callback)(int event_id, void *user_data),
                          void **context)
{
    (void)device;
    if (fails("context") || (fails("own context") && callback != NULL))
        return plain_code;
    if (callback != NULL && callback(0x0100, &plain_stream) == 0)
        plain_answers++;
    strncpy(plain_properties, properties, sizeof(plain_properties) - 1);
    *context = plain_properties;
    plain_contexts++;
    return NNADAPTER_NO_ERROR;
}

static void destroy_context(void *context)
{
    (void)context;
    plain_contexts--;
}

static int known(const NNAdapterDriverOperation *op)
{
    return (op->type == NNADAPTER_ADD || op->type == NNADAPTER_CONV_2D) &&
           op->output_operands[0]->type.precision == NNADAPTER_FLOAT32;
}

static int validate_program(void *context, const NNAdapterDriverModel *model, bool *supported)
{
    (void)context;
    if (fails("validate"))
        return plain_code;
    for (uint32_t i = 0; i < model->operation_count; i++)
        supported[i] = known(model->operations[i]);
    return NNADAPTER_NO_ERROR;
}

static void destroy_program(void *program)
{
    plain_program *p = (plain_program *)program;
    for (uint32_t i = 0; i < p->model->operand_count; i++)
        if (p->model->operands[i]->buffer == NULL)
            free(p->data[i]);
    free(p->data);
    free(p);
    plain_programs--;
}

static int create_program(void *context, NNAdapterDriverModel *model, NNAdapterDriverCache *cache, void **program)
{
    plain_program *p = (plain_program *)calloc(1, sizeof(*p));
    (void)context;
    if (fails("create") || p == NULL || model == NULL || cache->buffer != NULL) {
        free(p);
        return plain_code;
    }
    p->model = model;
    p->data = (float **)calloc(model->operand_count + 1, sizeof(*p->data));
    for (uint32_t i = 0; i < model->operand_count; i++) {
        NNAdapterDriverOperand *o = model->operands[i];
        p->data[i] = o->buffer != NULL ? (float *)o->buffer : (float *)calloc(count_of(o) + 1, sizeof(float));
        o->hints[0] = p->data[i];
    }
    *program = p;
    plain_programs++;
    return NNADAPTER_NO_ERROR;
}

static float fused(const NNAdapterDriverOperand *code, float v)
{
    const int32_t f = code != NULL ? *(const int32_t *)code->buffer : NNADAPTER_FUSED_NONE;
    if (f != NNADAPTER_FUSED_NONE && v < 0)
        v = 0;
    if (f == NNADAPTER_FUSED_RELU6 && v > 6)
        v = 6;
    return f == NNADAPTER_FUSED_RELU1 && v > 1 ? 1 : v;
}

/* An operand of four axes at the most, broadcast: missing axes have dimension 1. */
static float at(const NNAdapterDriverOperand *o, const int32_t *index, uint32_t rank)
{
    const uint32_t own = o->type.dimensions.count;
    size_t place = 0;
    for (uint32_t k = 0; k < own; k++) {
        const int32_t extent = o->type.dimensions.data[k];
        place = place * (size_t)extent + (size_t)(extent == 1 ? 0 : index[rank - own + k]);
    }
    return ((const float *)o->hints[0])[place];
}

static void add(const NNAdapterDriverOperation *op)
{
    const NNAdapterDriverOperand *y = op->output_operands[0];
    const uint32_t rank = y->type.dimensions.count;
    int32_t index[8] = {0};
    for (size_t i = 0; i < count_of(y); i++) {
        ((float *)y->hints[0])[i] =
            fused(op->input_operands[2], at(op->input_operands[0], index, rank) + at(op->input_operands[1], index, rank));
        for (uint32_t k = rank; k-- > 0;) {
            if (++index[k] < y->type.dimensions.data[k])
                break;
            index[k] = 0;
        }
    }
}

/* Sums begin with the bias and go over rows, columns, channels. */
static void convolve(const NNAdapterDriverOperation *op)
{
    const NNAdapterDriverOperand *x = op->input_operands[0], *w = op->input_operands[1], *b = op->input_operands[2];
    const NNAdapterDriverOperand *y = op->output_operands[0];
    const int32_t *pads = op->input_operands[4] != NULL ? (const int32_t *)op->input_operands[4]->buffer : NULL;
    const int32_t *strides = (const int32_t *)op->input_operands[5]->buffer;
    const int32_t group = op->input_operands[6] != NULL ? *(const int32_t *)op->input_operands[6]->buffer : 1;
    const int32_t *d = op->input_operands[7] != NULL ? (const int32_t *)op->input_operands[7]->buffer : NULL;
    const int32_t *yd = y->type.dimensions.data, *xd = x->type.dimensions.data, *wd = w->type.dimensions.data;
    float *out = (float *)y->hints[0];
    int32_t i[4];
    for (i[0] = 0; i[0] < yd[0]; i[0]++)
        for (i[1] = 0; i[1] < yd[1]; i[1]++)
            for (i[2] = 0; i[2] < yd[2]; i[2]++)
                for (i[3] = 0; i[3] < yd[3]; i[3]++) {
                    float sum = b != NULL ? ((const float *)b->hints[0])[i[1]] : 0;
                    for (int32_t r = 0; r < wd[2]; r++)
                        for (int32_t c = 0; c < wd[3]; c++)
                            for (int32_t k = 0; k < wd[1]; k++) {
                                int32_t from[4], with[4];
                                from[0] = i[0];
                                from[1] = i[1] / (yd[1] / group) * wd[1] + k;
                                from[2] = i[2] * strides[0] - (pads != NULL ? pads[0] : 0) + r * (d != NULL ? d[0] : 1);
                                from[3] = i[3] * strides[1] - (pads != NULL ? pads[2] : 0) + c * (d != NULL ? d[1] : 1);
                                with[0] = i[1];
                                with[1] = k;
                                with[2] = r;
                                with[3] = c;
                                if (from[2] >= 0 && from[2] < xd[2] && from[3] >= 0 && from[3] < xd[3])
                                    sum += at(x, from, 4) * at(w, with, 4);
                            }
                    *out++ = fused(op->input_operands[8], sum);
                }
}

static int execute_program(void *program, uint32_t input_count, NNAdapterDriverArgument *inputs, uint32_t output_count,
                           NNAdapterDriverArgument *outputs)
{
    plain_program *p = (plain_program *)program;
    if (fails("execute"))
        return plain_code;
    for (uint32_t i = 0; i < input_count; i++) {
        const NNAdapterDriverOperand *o = p->model->input_operands[i];
        NNAdapterOperandType type = o->type;
        const void *data = inputs[i].access(inputs[i].memory, &type, NULL);
        if (type.dimensions.count != o->type.dimensions.count ||
            memcmp(type.dimensions.data, o->type.dimensions.data, type.dimensions.count * sizeof(int32_t)) != 0)
            return NNADAPTER_INVALID_DIMENSIONS;
        memcpy(o->hints[0], data, count_of(o) * sizeof(float));
    }
    for (uint32_t i = 0; i < p->model->operation_count; i++)
        if (p->model->operations[i]->type == NNADAPTER_ADD)
            add(p->model->operations[i]);
        else
            convolve(p->model->operations[i]);
    for (uint32_t i = 0; i < output_count; i++) {
        const NNAdapterDriverOperand *o = p->model->output_operands[i];
        NNAdapterOperandType type = o->type;
        void *data;
        if (fails("shape"))
            type.dimensions.data[0]++;
        if ((data = outputs[i].access(outputs[i].memory, &type, NULL)) == NULL) {
            plain_refused++;
            return NNADAPTER_OUT_OF_MEMORY;
        }
        memcpy(data, o->hints[0], count_of(o) * sizeof(float));
    }
    return NNADAPTER_NO_ERROR;
}

const NNAdapterDriver __nnadapter_device__plain_npu = {
    sizeof(NNAdapterDriver), "plain_npu",    "tests",         NNADAPTER_ACCELERATOR, 3,
    open_device,             close_device,   create_context,  destroy_context,       validate_program,
    create_program,          destroy_program, execute_program};
