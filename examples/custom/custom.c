/* A custom operator: Snake, x + sin(a x)^2 / a, an activation of vocoders. Builds, saves, loads
   and runs a model with it.   cc -std=c99 -I. examples/custom/custom.c -o custom -lm && ./custom FILE.nnrt */
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Its attributes: a struct NNRT_AcmeSnake, and its description nnrt_attr_AcmeSnake. */
#define NNRT_ATTR_AcmeSnake(M, S) M(S, FLOAT, _, alpha, 1) /* frequency, above 0 */
NNRT_ATTR_DEFINE(AcmeSnake)

/* Shape rule, called when a model is prepared: y has the shape of input 0; its type follows from "y=0" in the row. */
static NNRT_ReturnCode snake_rule(nnrt_resolve *c)
{
    const NNRT_AcmeSnake *attr = (const NNRT_AcmeSnake *)c->resolved;
    if (!(attr->alpha > 0))
        return nnrt_resolve_fail(c, NNRT_INVALID_PARAMETER, "alpha must be above 0");
    nnrt_resolve_like(c, 0, 0);
    return NNRT_SUCCESS;
}

/* The kernel: arguments are validated, and elements contiguous. args: inputs, derived constants, outputs. */
static NNRT_ReturnCode snake_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const float alpha = ((const NNRT_AcmeSnake *)attr)->alpha, *x = (const float *)args[0].data;
    float *y = (float *)args[call->nIn + call->nDerived].data;
    size_t n = 0;
    (void)nnrt_dims_count(args[0].dims, args[0].rank, &n);
    for (size_t i = 0; i < n; i++) {
        const float s = sinf(alpha * x[i]);
        y[i] = x[i] + s * s / alpha;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode register_snake(nnrt_error *error)
{
    static const nnrt_kernel_row kernels[] = {{NNRT_TYPES_F32, NULL, snake_f32, "snake_f32"}};
    nnrt_op op;
    memset(&op, 0, sizeof(op));
    op.name = "com.acme.Snake"; /* identifies it in .nnrt files; in ONNX, operator Snake of domain com.acme */
    op.flags = NNRT_OP_INPLACE | NNRT_OP_EMPTY | NNRT_OP_PURE;
    op.inputs = "x";
    op.outputs = "y=0";
    op.attr = &nnrt_attr_AcmeSnake;
    op.rule = snake_rule;
    op.kernels = kernels;
    op.kernelCount = 1;
    return nnrt_op_register(&op, error);
}

/* A model of one node. */
static NNRT_ReturnCode build(NNRT_Model **model, nnrt_error *error)
{
    static const int32_t dims[2] = {1, 4};
    static const NNRT_AcmeSnake attr = {2};
    nnrt_builder *b = NULL; /* keeps the first error until nnrt_builder_finish: no checks are needed in between */
    NNRT_ReturnCode code = nnrt_builder_create(&b, "snake", NULL);
    const uint32_t x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", nnrt_op_named("com.acme.Snake")->type, &attr, &x, 1));
    if (code == NNRT_SUCCESS)
        code = nnrt_builder_finish(b, model, error);
    nnrt_builder_destroy(b);
    return code;
}

int main(int argc, char **argv)
{
    float x[4] = {-1, 0, 0.5f, 1}, y[4] = {0};
    nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
    NNRT_Model *built = NULL, *loaded = NULL;
    nnrt_session *session = NULL;
    nnrt_error error;
    NNRT_ReturnCode code = NNRT_INVALID_PARAMETER;
    memset(&error, 0, sizeof(error));
    if (argc != 2)
        fputs("usage: custom FILE.nnrt\n", stderr);
    else if ((code = register_snake(&error)) != NNRT_SUCCESS || (code = build(&built, &error)) != NNRT_SUCCESS ||
             (code = nnrt_model_save(built, argv[1], NULL, &error)) != NNRT_SUCCESS ||
             (code = nnrt_model_load(&loaded, argv[1], NULL, &error)) != NNRT_SUCCESS ||
             (code = nnrt_session_create(&session, loaded, NULL, &error)) != NNRT_SUCCESS ||
             (code = nnrt_run(session, &in, 1, &out, 1)) != NNRT_SUCCESS)
        fprintf(stderr, "%s\n", error.message[0] != '\0' ? error.message : nnrt_code_name(code));
    for (int i = 0; i < 4 && code == NNRT_SUCCESS; i++)
        printf("snake(%g) = %.4f\n", (double)x[i], (double)y[i]);
    nnrt_session_destroy(session);
    nnrt_model_destroy(loaded);
    nnrt_model_destroy(built);
    (void)nnrt_op_unregister("com.acme.Snake"); /* only after all models that use it are destroyed */
    return code != NNRT_SUCCESS;
}
