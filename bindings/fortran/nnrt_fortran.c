/*
nnrt_fortran.c - flat functions for bindings/fortran/nnrt.f90: a network with its session and buffers. Contains the implementation of nnrt.

    cc -std=c99 -O2 -I. -c bindings/fortran/nnrt_fortran.c

Values are copied between the arrays of the program and the buffers here, as Fortran passes a copy of an array that is not
contiguous. The shape of an array in Fortran is the reverse of the shape of a tensor: x(28,28,1,1) is [1,1,28,28]. Dimensions of
1 at the end of the shape in Fortran may be left out: x(28,28).
*/
#define _POSIX_C_SOURCE 200809L

#if defined(__linux__) && defined(__GNUC__) && !defined(NNRT_THREADS)
#define NNRT_THREADS 1
#endif
#define NNRT_IMPLEMENTATION
#include "../../formats/nnrt_gguf.h"
#include "../../formats/nnrt_onnx.h"
#include "../../formats/nnrt_tflite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nnrt_fortran {
    NNRT_Model *model;
    nnrt_session *session;
#if NNRT_THREADS
    nnrt_pool *pool; /* NULL: one thread */
#endif
    nnrt_io *io; /* inputs, then outputs: memory of this struct */
    uint32_t nIn, nOut;
} nnrt_fortran;

#ifdef __cplusplus
extern "C" {
#endif
/* Loads a .onnx, .tflite, .gguf or .nnrt file and creates a session. device: "" is the default. Dynamic first dimensions of inputs
   become `batch`. message receives the reason of a failure, *net is then NULL. */
int nnrt_fortran_open(nnrt_fortran **net, const char *path, const char *device, int32_t threads, int32_t batch, char *message,
                      size_t bytes);
/* Copies an array into an input (output false), or an output into an array. name: "" is the only one. */
int nnrt_fortran_copy(nnrt_fortran *net, bool output, const char *name, int32_t type, int32_t rank, const int32_t *shape, void *data,
                      char *message, size_t bytes);
int nnrt_fortran_run(nnrt_fortran *net, char *message, size_t bytes);
void nnrt_fortran_close(nnrt_fortran *net); /* NULL is ignored */
#ifdef __cplusplus
}
#endif

static int fortran_fail(int code, const char *text, char *message, size_t bytes)
{
    snprintf(message, bytes, "%s", text);
    return code;
}

void nnrt_fortran_close(nnrt_fortran *net)
{
    if (net == NULL)
        return;
    for (uint32_t i = 0; net->io != NULL && i < net->nIn + net->nOut; i++)
        free(net->io[i].data);
    free(net->io);
    nnrt_session_destroy(net->session);
#if NNRT_THREADS
    nnrt_pool_destroy(net->pool);
#endif
    nnrt_model_destroy(net->model);
    free(net);
}

/* Loads a file by its first bytes. */
static NNRT_ReturnCode fortran_load(NNRT_Model **model, const char *path, nnrt_error *error)
{
    uint8_t head[NNRT_FILE_HEADER];
    FILE *f = fopen(path, "rb");
    const size_t got = f != NULL ? fread(head, 1, sizeof(head), f) : 0;
    if (f != NULL)
        fclose(f);
    return got == sizeof(head) && nnrt_file_is(head, got) ? nnrt_model_load(model, path, NULL, error)
           : got >= 8 && nnrt_tflite_is(head, got)        ? nnrt_tflite_load(model, path, NULL, error)
           : nnrt_gguf_is(head, got)                      ? nnrt_gguf_load(model, path, NULL, error)
                                                          : nnrt_onnx_load(model, path, NULL, error);
}

/* The shapes of the inputs, with `batch` as dynamic first dimension. NULL: no memory. */
static nnrt_dims *fortran_shapes(const NNRT_Model *model, int32_t batch)
{
    nnrt_dims *shapes = (nnrt_dims *)calloc(model->inputIndex.count + 1, sizeof(*shapes));
    for (uint32_t i = 0; shapes != NULL && i < model->inputIndex.count; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[model->inputIndex.data[i]];
        shapes[i].rank = (int32_t)t->dims.count;
        for (uint32_t k = 0; k < t->dims.count; k++)
            shapes[i].dims[k] = k == 0 && t->dims.data[k] < 0 ? batch : t->dims.data[k];
    }
    return shapes;
}

static NNRT_ReturnCode fortran_session(nnrt_fortran *net, const char *device, int32_t threads, int32_t batch, nnrt_error *error)
{
    nnrt_dims *shapes = fortran_shapes(net->model, batch);
    nnrt_session_desc desc;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (shapes == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of memory");
    memset(&desc, 0, sizeof(desc));
    desc.device = *device != '\0' ? device : NULL;
    desc.inputDims = nnrt_dims_list_make(shapes, net->model->inputIndex.count);
#if NNRT_THREADS
    if (threads > 1) {
        nnrt_pool_desc pool;
        memset(&pool, 0, sizeof(pool));
        pool.threads = (uint32_t)threads;
        code = nnrt_pool_create(&net->pool, &pool, error);
        desc.threads = (uint32_t)threads;
        desc.parallel = nnrt_pool_parallel(net->pool);
    }
#else
    (void)threads;
#endif
    if (code == NNRT_SUCCESS)
        code = nnrt_session_create(&net->session, net->model, &desc, error);
    free(shapes);
    return code;
}

static nnrt_io_info fortran_info(const nnrt_fortran *net, uint32_t i)
{
    return i < net->nIn ? nnrt_session_input(net->session, i) : nnrt_session_output(net->session, i - net->nIn);
}

/* Buffers for all inputs and outputs, whose sizes must be fixed. */
static NNRT_ReturnCode fortran_buffers(nnrt_fortran *net, nnrt_error *error)
{
    net->nIn = nnrt_session_inputs(net->session);
    net->nOut = nnrt_session_outputs(net->session);
    net->io = (nnrt_io *)calloc((size_t)net->nIn + net->nOut + 1, sizeof(*net->io));
    for (uint32_t i = 0; net->io != NULL && i < net->nIn + net->nOut; i++) {
        const nnrt_io_info info = fortran_info(net, i);
        if (info.open)
            return nnrt_error_set(error, NNRT_NOT_SUPPORT, "'%s' has dynamic dimensions, which this interface does not support", info.name);
        net->io[i].bytes = info.bytes;
        if ((net->io[i].data = calloc(1, info.bytes > 0 ? info.bytes : 1)) == NULL)
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of memory: %z bytes for '%s'", info.bytes, info.name);
    }
    return net->io != NULL ? NNRT_SUCCESS : nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of memory");
}

int nnrt_fortran_open(nnrt_fortran **net, const char *path, const char *device, int32_t threads, int32_t batch, char *message,
                      size_t bytes)
{
    nnrt_error error;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    *net = (nnrt_fortran *)calloc(1, sizeof(**net));
    if (*net == NULL)
        return fortran_fail(NNRT_OUT_OF_MEMORY, "out of memory", message, bytes);
    code = batch > 0 ? fortran_load(&(*net)->model, path, &error)
                     : nnrt_error_set(&error, NNRT_INVALID_PARAMETER, "batch is %d, expected 1 or more", (int)batch);
    if (code == NNRT_SUCCESS)
        code = fortran_session(*net, device, threads, batch, &error);
    if (code == NNRT_SUCCESS)
        code = fortran_buffers(*net, &error);
    if (code == NNRT_SUCCESS)
        return NNRT_SUCCESS;
    nnrt_fortran_close(*net);
    *net = NULL;
    return fortran_fail(code, error.message[0] != '\0' ? error.message : nnrt_code_name(code), message, bytes);
}

/* "[1,1,28,28]" of a shape in the order of Fortran. */
static void fortran_text(char *out, size_t size, int32_t rank, const int32_t *shape)
{
    size_t at = (size_t)snprintf(out, size, "(");
    for (int32_t k = 0; k < rank && at < size; k++)
        at += (size_t)snprintf(out + at, size - at, "%s%d", k > 0 ? "," : "", (int)shape[k]);
    if (at < size)
        snprintf(out + at, size - at, ")");
}

/* Compares type and shape of an array and a tensor. */
static int fortran_fits(const nnrt_io_info *info, int32_t type, int32_t rank, const int32_t *shape, char *message, size_t bytes)
{
    int32_t expected[NNRT_MAX_RANK];
    char found[128], want[128];
    bool fits = rank <= info->shape.rank;
    for (int32_t k = 0; k < info->shape.rank; k++) {
        expected[k] = info->shape.dims[info->shape.rank - 1 - k];
        fits = fits && expected[k] == (k < rank ? shape[k] : 1);
    }
    fortran_text(found, sizeof(found), rank, shape);
    fortran_text(want, sizeof(want), info->shape.rank, expected);
    if (fits && type == (int32_t)info->dataType)
        return NNRT_SUCCESS;
    snprintf(message, bytes, "'%s': the array is %s%s, expected %s%s", info->name, nnrt_type_name((NNRT_DataType)type), found,
             nnrt_type_name(info->dataType), want);
    return NNRT_INVALID_PARAMETER;
}

int nnrt_fortran_copy(nnrt_fortran *net, bool output, const char *name, int32_t type, int32_t rank, const int32_t *shape, void *data,
                      char *message, size_t bytes)
{
    uint32_t i, first, end;
    nnrt_io_info info;
    int code;
    if (net == NULL)
        return fortran_fail(NNRT_NULL_PTR, "the network is not open", message, bytes);
    first = output ? net->nIn : 0;
    end = output ? net->nIn + net->nOut : net->nIn;
    for (i = first; i < end && *name != '\0' && strcmp(fortran_info(net, i).name, name) != 0;)
        i++;
    if (i == end || (*name == '\0' && end - first != 1)) {
        snprintf(message, bytes, "the network has no %s '%s'; it has %u, the first one is '%s'", output ? "output" : "input", name,
                 (unsigned)(end - first), first < end ? fortran_info(net, first).name : "");
        return NNRT_INVALID_PARAMETER;
    }
    info = fortran_info(net, i);
    if ((code = fortran_fits(&info, type, rank, shape, message, bytes)) != NNRT_SUCCESS)
        return code;
    memcpy(output ? data : net->io[i].data, output ? net->io[i].data : data, net->io[i].bytes);
    return NNRT_SUCCESS;
}

int nnrt_fortran_run(nnrt_fortran *net, char *message, size_t bytes)
{
    NNRT_ReturnCode code;
    if (net == NULL)
        return fortran_fail(NNRT_NULL_PTR, "the network is not open", message, bytes);
    code = nnrt_run(net->session, net->io, net->nIn, net->io + net->nIn, net->nOut);
    return code == NNRT_SUCCESS ? NNRT_SUCCESS : fortran_fail(code, nnrt_session_error(net->session), message, bytes);
}
