/*
nnrt_web.c - nnrt as a WebAssembly module: the functions that nnrt.js calls.

An instance of the module holds one model file and one session, so that all state is static here, and the memory of a
session is freed with its instance. Results of more than one number are JSON texts, which stay valid until the next
call. The module imports nothing: no system interface, no threads.

    >>text     JSON texts
    >>load     inputs and outputs of a model file
    >>prepare  a session for fixed shapes, and its buffers
    >>run      one run
*/
#define _XOPEN_SOURCE 600 /* posix_memalign */
#define NNRT_NO_STDIO
#define NNRT_AUTO 0
#define NNRTI_CPU_OBJECT 1 /* the kernels are an object of their own, which is compiled for speed: web.mk */
#define NNRT_IMPLEMENTATION
#include "../../formats/nnrt_onnx.h"
#include "../../formats/nnrt_tflite.h"

#define WEB_EXPORT(name) __attribute__((export_name(#name)))
#define WEB_OPEN_ROOM ((size_t)1 << 20) /* first bytes of an output with a data-dependent shape */

static const void *web_file;
static size_t web_fileBytes;
static NNRT_Model *web_model;
static nnrt_session *web_session;
static nnrt_io *web_io; /* inputs, then outputs */
static nnrt_error web_fault;

/* Aligned as a .nnrt file must be. */
WEB_EXPORT(allocate) void *web_allocate(size_t bytes)
{
    void *block = NULL;
    return posix_memalign(&block, NNRT_ALIGNMENT, bytes + (bytes == 0)) == 0 ? block : NULL;
}

WEB_EXPORT(release) void web_release(void *block)
{
    free(block);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text */

static struct {
    char *data;
    size_t used, room;
    bool full; /* no memory: the text is incomplete */
} web_text;

static void web_put(const char *s, size_t n)
{
    if (n >= web_text.room - web_text.used) {
        const size_t room = (web_text.used + n + 1) * 2;
        char *data = (char *)realloc(web_text.data, room);
        web_text.full = web_text.full || data == NULL;
        if (data == NULL)
            return;
        web_text.data = data;
        web_text.room = room;
    }
    memcpy(web_text.data + web_text.used, s, n);
    web_text.used += n;
    web_text.data[web_text.used] = '\0';
}

static void web_puts(const char *s)
{
    web_put(s, strlen(s));
}

static void web_put_number(uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    web_put(digits + at, sizeof(digits) - at);
}

/* A JSON string of any bytes. */
static void web_put_string(const char *s, size_t n)
{
    web_puts("\"");
    for (size_t i = 0; i < n; i++) {
        const unsigned c = (unsigned char)s[i];
        const char escape[6] = {'\\', 'u', '0', '0', (char)('0' + c / 16), "0123456789abcdef"[c % 16]};
        if (c < 32 || c == '"' || c == '\\')
            web_put(escape, sizeof(escape));
        else
            web_put(s + i, 1);
    }
    web_puts("\"");
}

static void web_put_dims(const int32_t *dims, uint32_t rank)
{
    web_puts("[");
    for (uint32_t i = 0; i < rank; i++) {
        web_puts(i > 0 ? "," : "");
        if (dims[i] >= 0)
            web_put_number((uint64_t)dims[i]);
        else
            web_puts("null");
    }
    web_puts("]");
}

/* The text, or NULL after a fault. */
static const char *web_finish(void)
{
    if (web_text.full)
        (void)nnrt_error_set(&web_fault, NNRT_OUT_OF_MEMORY, "not enough memory for a description of the model");
    return web_fault.code == NNRT_SUCCESS ? web_text.data : NULL;
}

static void web_begin(void)
{
    web_text.used = 0;
    web_text.full = false;
    nnrt_error_clear(&web_fault);
}

/* ["NAME_OF_CODE","message"] of the last fault. */
WEB_EXPORT(fault) const char *web_get_fault(void)
{
    const char *name = nnrt_code_name(web_fault.code);
    web_text.used = 0;
    web_puts("[");
    web_put_string(name, strlen(name));
    web_puts(",");
    web_put_string(web_fault.message, strlen(web_fault.message));
    web_puts("]");
    return web_text.data;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>load */

/* [name,type,dims]: a dimension is a number, a name or null; dims is null if the rank is unknown. */
static void web_put_onnx(const nnrt_onnx_value_info *v)
{
    const bool tensor = v->kind == NNRT_ONNX_KIND_TENSOR;
    const char *type = tensor ? nnrt_type_name(nnrt_onnx_data_type(v->elemType)) : "unknown";
    web_puts("[");
    web_put_string(v->name.data, v->name.length);
    web_puts(",");
    web_put_string(type, strlen(type));
    web_puts(tensor && v->hasShape ? ",[" : ",null");
    for (size_t k = 0; tensor && k < v->dims.count; k++) {
        const nnrt_onnx_dim *d = &v->dims.data[k];
        web_puts(k > 0 ? "," : "");
        if (d->kind == NNRT_ONNX_DIM_VALUE && d->value >= 0)
            web_put_number((uint64_t)d->value);
        else if (d->kind == NNRT_ONNX_DIM_PARAM)
            web_put_string(d->param.data, d->param.length);
        else
            web_puts("null");
    }
    web_puts(tensor && v->hasShape ? "]]" : "]");
}

static bool web_is_initialized(const nnrt_onnx_graph *graph, const nnrt_onnx_str *name)
{
    for (size_t i = 0; i < graph->initializers.count; i++) {
        const nnrt_onnx_str *other = &graph->initializers.data[i].name;
        if (other->length == name->length && memcmp(other->data, name->data, name->length) == 0)
            return true;
    }
    return false;
}

static void web_describe_onnx(void)
{
    nnrt_onnx_model *m = NULL;
    bool any = false;
    if (nnrt_onnx_parse(web_file, web_fileBytes, NULL, &m, &web_fault) != NNRT_SUCCESS)
        return;
    web_puts("{\"inputs\":[");
    for (size_t i = 0; i < m->graph->inputs.count; i++)
        if (!web_is_initialized(m->graph, &m->graph->inputs.data[i].name)) {
            web_puts(any ? "," : "");
            web_put_onnx(&m->graph->inputs.data[i]);
            any = true;
        }
    web_puts("],\"outputs\":[");
    for (size_t i = 0; i < m->graph->outputs.count; i++) {
        web_puts(i > 0 ? "," : "");
        web_put_onnx(&m->graph->outputs.data[i]);
    }
    web_puts("],\"states\":\"\"}");
    nnrt_onnx_model_free(m);
}

/* inferred: shapes of results whose rank the model leaves open, as that of a .tflite file does; NULL: none are known. */
static void web_put_tensors(const NNRT_Model *m, NNRT_Uint32List indices, const nnrt_operand *inferred)
{
    for (uint32_t i = 0; i < indices.count; i++) {
        const NNRT_Tensor *t = &m->allTensors.data[indices.data[i]];
        const nnrt_operand *shape = inferred != NULL ? &inferred[indices.data[i]] : NULL;
        const bool open = t->dims.count == 1 && t->dims.data[0] == NNRT_RANK_UNKNOWN;
        const char *type = nnrt_type_name(t->dataType);
        web_puts(i > 0 ? ",[" : "[");
        web_put_string(t->name, strlen(t->name));
        web_puts(",");
        web_put_string(type, strlen(type));
        web_puts(",");
        if (!open) {
            web_put_dims(t->dims.data, t->dims.count);
        } else if (shape != NULL) {
            int32_t dims[NNRT_MAX_RANK];
            for (int32_t k = 0; k < shape->rank; k++)
                dims[k] = shape->symbols[k] != 0 ? -1 : shape->dims[k];
            web_put_dims(dims, (uint32_t)shape->rank);
        } else {
            web_puts("null");
        }
        web_puts("]");
    }
}

static void web_describe_model(const NNRT_Model *m)
{
    const char *states = "";
    nnrt_memory memory;
    nnrt_operand *inferred;
    nnrt_memory_allocate(&memory, NULL);
    inferred = (nnrt_operand *)nnrt_memory_keep(&memory, (size_t)m->allTensors.count * sizeof(*inferred));
    if (inferred != NULL && nnrt_model_infer(m, NULL, &memory, inferred, NULL, NULL) != NNRT_SUCCESS)
        inferred = NULL;
    for (uint32_t i = 0; nnrt_model_metadata_at(m, i).key != NULL; i++)
        if (strcmp(nnrt_model_metadata_at(m, i).key, "states") == 0)
            states = nnrt_model_metadata_at(m, i).value;
    web_puts("{\"inputs\":[");
    web_put_tensors(m, m->inputIndex, NULL);
    web_puts("],\"outputs\":[");
    web_put_tensors(m, m->outputIndex, inferred);
    web_puts("],\"states\":");
    web_put_string(states, strlen(states));
    web_puts("}");
    nnrt_memory_end(&memory);
}

/* Imports the file, with the shapes, and the constant values, of inputs. */
static NNRT_ReturnCode web_import(NNRT_Model **model, const nnrt_onnx_input *inputs, uint32_t count, bool optimize)
{
    nnrt_onnx_desc onnx = {0};
    nnrt_tflite_desc lite = {0};
    NNRT_ReturnCode code;
    nnrt_tflite_input *shapes;
    if (nnrt_file_is(web_file, web_fileBytes))
        return nnrt_model_load_memory(model, web_file, web_fileBytes, NULL, &web_fault);
    onnx.inputs = inputs;
    onnx.inputCount = lite.inputCount = count;
    if (!nnrt_tflite_is(web_file, web_fileBytes))
        return nnrt_onnx_load_memory(model, web_file, web_fileBytes, &onnx, &web_fault);
    shapes = (nnrt_tflite_input *)calloc((size_t)count + 1, sizeof(*shapes));
    if (shapes == NULL)
        return nnrt_error_set(&web_fault, NNRT_OUT_OF_MEMORY, "not enough memory for the shapes of %u inputs", count);
    for (uint32_t i = 0; i < count; i++) {
        shapes[i].name = inputs[i].name;
        shapes[i].shape = inputs[i].shape;
    }
    lite.inputs = shapes;
    lite.no_optimize = !optimize;
    lite.float16 = optimize;
    code = nnrt_tflite_load_memory(model, web_file, web_fileBytes, &lite, &web_fault);
    free(shapes);
    return code;
}

/* Takes a block of web_allocate with the bytes of a model file. Returns {"inputs":[..],"outputs":[..],"states":".."}, or
   NULL after a fault. */
WEB_EXPORT(load) const char *web_load(const void *file, size_t bytes)
{
    NNRT_Model *m = NULL;
    web_begin();
    web_file = file;
    web_fileBytes = bytes;
    if (!nnrt_file_is(file, bytes) && !nnrt_tflite_is(file, bytes))
        web_describe_onnx();
    else if (web_import(&m, NULL, 0, false) == NNRT_SUCCESS)
        web_describe_model(m);
    nnrt_model_destroy(m);
    return web_finish();
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>prepare */

static void web_close(void)
{
    const uint32_t count = nnrt_session_inputs(web_session) + nnrt_session_outputs(web_session);
    for (uint32_t i = 0; web_io != NULL && i < count; i++)
        free(web_io[i].data);
    free(web_io);
    nnrt_session_destroy(web_session);
    nnrt_model_destroy(web_model);
    web_io = NULL;
    web_session = NULL;
    web_model = NULL;
}

/* The shapes of all inputs of a .nnrt file, in the order of the model: `inputs` has them by name. */
static bool web_dims(nnrt_session_desc *desc, nnrt_dims *dims, const nnrt_onnx_input *inputs, uint32_t count)
{
    const NNRT_Uint32List indices = web_model->inputIndex;
    for (uint32_t i = 0; dims != NULL && i < indices.count; i++) {
        const NNRT_Tensor *t = &web_model->allTensors.data[indices.data[i]];
        dims[i].rank = (int32_t)t->dims.count;
        memcpy(dims[i].dims, t->dims.data, t->dims.count * sizeof(int32_t));
        for (uint32_t k = 0; k < count; k++)
            if (strcmp(inputs[k].name, t->name) == 0)
                dims[i] = inputs[k].shape;
    }
    desc->inputDims = nnrt_dims_list_make(dims, indices.count);
    return dims != NULL;
}

static NNRT_ReturnCode web_open(const nnrt_onnx_input *inputs, uint32_t count, const nnrt_bound_list *bounds,
                                const char *device)
{
    nnrt_session_desc desc = {0};
    nnrt_dims *dims = NULL;
    NNRT_ReturnCode code = web_import(&web_model, inputs, count, true);
    if (code != NNRT_SUCCESS)
        return code;
    desc.device = device;
    desc.bounds = *bounds;
    if (nnrt_file_is(web_file, web_fileBytes)) {
        dims = (nnrt_dims *)calloc((size_t)web_model->inputIndex.count + 1, sizeof(*dims));
        if (!web_dims(&desc, dims, inputs, count))
            return nnrt_error_set(&web_fault, NNRT_OUT_OF_MEMORY, "not enough memory for the shapes of inputs");
    }
    code = nnrt_session_create(&web_session, web_model, &desc, &web_fault);
    free(dims);
    return code;
}

static nnrt_io_info web_info(uint32_t i)
{
    const uint32_t inputs = nnrt_session_inputs(web_session);
    return i < inputs ? nnrt_session_input(web_session, i) : nnrt_session_output(web_session, i - inputs);
}

/* Buffers of inputs and outputs. */
static NNRT_ReturnCode web_buffers(uint32_t count)
{
    web_io = (nnrt_io *)calloc((size_t)count + 1, sizeof(*web_io));
    for (uint32_t i = 0; web_io != NULL && i < count; i++) {
        const nnrt_io_info info = web_info(i);
        web_io[i].bytes = info.open && info.bytes > WEB_OPEN_ROOM ? WEB_OPEN_ROOM : info.bytes;
        web_io[i].data = calloc(1, web_io[i].bytes + 1);
        if (web_io[i].data == NULL)
            return nnrt_error_set(&web_fault, NNRT_OUT_OF_MEMORY, "not enough memory for the %z bytes of '%s'",
                                  web_io[i].bytes, info.name);
    }
    return web_io != NULL ? NNRT_SUCCESS : nnrt_error_set(&web_fault, NNRT_OUT_OF_MEMORY, "not enough memory");
}

static void web_put_io(uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const nnrt_io_info info = web_info(i);
        const char *type = nnrt_type_name(info.dataType);
        web_puts(i > from ? ",[" : "[");
        web_put_string(info.name, strlen(info.name));
        web_puts(",");
        web_put_string(type, strlen(type));
        web_puts(",");
        web_put_dims(info.shape.dims, (uint32_t)info.shape.rank);
        web_puts(",");
        web_put_number((uintptr_t)web_io[i].data);
        web_puts(info.open ? ",true]" : ",false]");
    }
}

static void web_put_memory(void)
{
    const nnrt_session_memory m = nnrt_session_get_memory(web_session);
    web_puts("\"memory\":{\"total\":");
    web_put_number(m.total);
    web_puts(",\"tables\":");
    web_put_number(m.tables);
    web_puts(",\"arena\":");
    web_put_number(m.arena);
    web_puts(",\"constants\":");
    web_put_number(m.constants);
    web_puts(",\"steps\":");
    web_put_number(m.steps);
    web_puts("}}");
}

/* Prepares the model for the shapes of inputs, in place of the session before. A bound is a shape of a result. Returns
   {"inputs":[[name,type,dims,address,dynamic],..],"outputs":[..],"device":"..","simd":"..","memory":{..}}, or NULL after a fault. */
WEB_EXPORT(prepare) const char *web_prepare(const nnrt_onnx_input *inputs, uint32_t count, nnrt_bound *bounds,
                                            uint32_t nBounds, const char *device)
{
    const nnrt_bound_list list = nnrt_bound_list_make(bounds, nBounds);
    uint32_t nIn, nAll;
    web_close();
    web_begin();
    if (web_open(inputs, count, &list, *device != '\0' ? device : NULL) != NNRT_SUCCESS) {
        web_close();
        return NULL;
    }
    nIn = nnrt_session_inputs(web_session);
    nAll = nIn + nnrt_session_outputs(web_session);
    if (web_buffers(nAll) != NNRT_SUCCESS) {
        web_close();
        return NULL;
    }
    web_puts("{\"inputs\":[");
    web_put_io(0, nIn);
    web_puts("],\"outputs\":[");
    web_put_io(nIn, nAll);
    web_puts("],\"device\":");
    web_put_string(nnrt_session_device(web_session), strlen(nnrt_session_device(web_session)));
    web_puts(",\"simd\":");
    web_put_string(nnrt_cpu_set(0), strlen(nnrt_cpu_set(0)));
    web_puts(",");
    web_put_memory();
    return web_finish();
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>run */

/* Enlarges the buffers of outputs whose shapes in this run need more. */
static bool web_grow(uint32_t nIn, uint32_t nAll)
{
    for (uint32_t i = nIn; i < nAll; i++) {
        const size_t bytes = web_info(i).bytes;
        if (bytes > web_io[i].bytes && bytes != SIZE_MAX) {
            free(web_io[i].data);
            web_io[i].data = malloc(bytes);
            web_io[i].bytes = web_io[i].data != NULL ? bytes : 0;
            if (web_io[i].data == NULL)
                return false;
        }
    }
    return true;
}

/* Runs the model once. False: see web_get_fault. */
WEB_EXPORT(run) bool web_run(void)
{
    const uint32_t nIn = nnrt_session_inputs(web_session), nOut = nnrt_session_outputs(web_session);
    NNRT_ReturnCode code = nnrt_run(web_session, web_io, nIn, web_io + nIn, nOut);
    if (code == NNRT_INSUFFICIENT_BUFFER && web_grow(nIn, nIn + nOut))
        code = nnrt_run(web_session, web_io, nIn, web_io + nIn, nOut);
    nnrt_error_clear(&web_fault);
    if (code != NNRT_SUCCESS)
        (void)nnrt_error_set(&web_fault, code, "%s", nnrt_session_error(web_session));
    return code == NNRT_SUCCESS;
}

/* An output of the last run: its address, rank and dimensions. */
WEB_EXPORT(output) const int32_t *web_output(uint32_t i)
{
    static int32_t result[2 + NNRT_MAX_RANK];
    const nnrt_io_info info = nnrt_session_output(web_session, i);
    result[0] = (int32_t)(uintptr_t)web_io[nnrt_session_inputs(web_session) + i].data;
    result[1] = info.shape.rank;
    memcpy(result + 2, info.shape.dims, sizeof(info.shape.dims));
    return result;
}

WEB_EXPORT(reset) void web_reset(void)
{
    nnrt_session_reset(web_session);
}
