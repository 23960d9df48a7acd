/* Uses a driver that was built with other options (tests/devices/foreign_driver.c): structs and arrays that cross the interface
   have the size that each side states. usage: RANK, the driver's NNRT_MAX_RANK. Prints errors and ends with status 1.
   */
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include <stdlib.h>

#include "unchecked.h"

const NNRT_DeviceVtbl *foreign_table(void);

static void is(int right, const char *what)
{
    if (right)
        return;
    printf("%s\n", what);
    exit(1);
}

/* A message, or as much of one as there is room for. */
static int worded(const char *message)
{
    return NNRT_MESSAGE_BYTES > 4 ? strlen(message) > 20 : strlen(message) < NNRT_MESSAGE_BYTES;
}

/* It ends where its block ends: the address sanitizer detects writes after it. */
static nnrt_error *error;

/* The expected contents of the error. */
static void fault(NNRT_ReturnCode code, NNRT_ReturnCode want, int32_t node)
{
    is(code == want && error->code == want, "code");
    is(error->node == node, "node");
    is(worded(error->message), "message");
    memset(error, 0, sizeof(*error));
}

/* relu of a tensor of this rank, then a gather of its rows: the driver must find faults. */
static NNRT_Model *model_of(int32_t rank, int32_t type)
{
    static const int32_t dims[6] = {2, 3, 1, 1, 1, 1}, one[1] = {1}, axis = 0;
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    uint32_t in[3];
    NNRT_Activation relu;
    is(nnrt_builder_create(&b, "built", NULL) == NNRT_SUCCESS, "builder");
    in[1] = nnrt_builder_input(b, "index", type, 1, one);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, rank, dims);
    in[2] = nnrt_builder_constant(b, "axis", NNRT_DATA_TYPE_INT32, 0, NULL, &axis, true);
    memset(&relu, 0, sizeof(relu));
    relu.activationType = NNRT_ACTIVATION_TYPE_RELU;
    in[0] = unchecked_op(b, "relu", NNRT_NODE_TYPE_ACTIVATION, &relu, in, 1);
    nnrt_builder_output(b, unchecked_op(b, "pick", NNRT_NODE_TYPE_GATHER, NULL, in, 3));
    (void)nnrt_builder_finish(b, &model, NULL);
    nnrt_builder_destroy(b);
    return model;
}

int main(int argc, char **argv)
{
    const int foreignRank = argc > 1 ? atoi(argv[1]) : 0;
    const float x[6] = {1, -2, 3, -4, 5, -6}, want[3] = {0, 5, 0};
    float y[3] = {7, 7, 7};
    int32_t index[1] = {1};
    nnrt_io in[2], out;
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ModelConfig config;
    nnrt_device *driver;
    NNRT_Model *model = model_of(2, NNRT_DATA_TYPE_INT32);
    NNRT_ReturnCode code;
    is(foreignRank > 0, "usage: RANK, of the driver");
    error = (nnrt_error *)calloc(1, sizeof(*error));
    is(nnrt_device_register(foreign_table(), NULL, NULL) == NNRT_SUCCESS, "register");
    driver = nnrt_device_find("foreign");
    memset(&desc, 0, sizeof(desc));
    in[0] = nnrt_io_make(index, sizeof(index));
    in[1] = nnrt_io_make((void *)(uintptr_t)x, sizeof(x));
    out = nnrt_io_make(y, sizeof(y));
    is(nnrt_session_create(&session, model, &desc, error) == NNRT_SUCCESS, "auto takes the driver");
    is(strcmp(nnrt_session_device(session), "auto_nnrt_v2_0") == 0, "by auto");
    is(nnrt_device_unregister("foreign") == NNRT_DEVICE_BUSY, "it is the driver that runs");
    is(nnrt_session_output(session, 0).shape.rank == 2 && nnrt_session_output(session, 0).shape.dims[1] == 3, "shape");
    is(nnrt_run(session, in, 2, &out, 1) == NNRT_SUCCESS && memcmp(y, want, sizeof(y)) == 0, "result");
    index[0] = 2; /* there are two rows */
    is(nnrt_run(session, in, 2, &out, 1) == NNRT_INVALID_PARAMETER, "a fault in a run");
    is(worded(nnrt_session_error(session)), "its message");
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    model = model_of(2, NNRT_DATA_TYPE_FLOAT32); /* no index */
    memset(&config, 0, sizeof(config));
    config.error = error;
    fault(nnrt_device_prepare(driver, model, &config, &prepared), NNRT_INVALID_DATATYPE, 1);
    fault(nnrt_device_prepare(nnrt_device_find("auto"), model, &config, &prepared), NNRT_INVALID_DATATYPE, 1);
    nnrt_model_destroy(model);
    model = model_of(6, NNRT_DATA_TYPE_INT32);
    is((model != NULL) == (NNRT_MAX_RANK >= 6), "six axes");
    if (model != NULL) { /* a driver for which that is too many says so, and auto finds another device */
        bool taken[2];
        code = nnrt_device_prepare(driver, model, &config, &prepared);
        is(code == NNRT_SUCCESS || code == NNRT_INVALID_SHAPE, "six axes on the driver");
        is((code == NNRT_SUCCESS) == (foreignRank >= 6), "six axes where they fit");
        nnrt_device_release(driver, prepared);
        is(nnrt_device_supported(driver, model, NULL, taken, 2, NULL, NULL) == code, "and what it says before");
        is(nnrt_session_create(&session, model, &desc, NULL) == NNRT_SUCCESS, "six axes");
        is(nnrt_session_input(session, 1).shape.rank == 6, "six axes of the input");
        index[0] = 1;
        is(nnrt_run(session, in, 2, &out, 1) == NNRT_SUCCESS && memcmp(y, want, sizeof(y)) == 0, "result of six axes");
        nnrt_session_destroy(session);
    }
    nnrt_model_destroy(model);
    is(nnrt_device_unregister("foreign") == NNRT_SUCCESS, "unregister");
    free(error);
    return 0;
}
