/*
job.h - a model with a session and its buffers; their JSON output.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_JOB_H
#define NNRT_TOOL_JOB_H

#include "place.h"
#include "shapes.h"

/* A model with inputs, a session, and outputs. All zero is empty. */
typedef struct cli_job {
    NNRT_Model *model;
    NNRT_Model *whole; /* the model of the file, if `model` is it with the constants of --fix; NULL: `model` is it */
    nnrt_session *session;
    cli_inputs in;
    cli_tensor *outputs;
    nnrt_io *io; /* inputs, then outputs */
    uint32_t nIn, nOut;
    bool open; /* an output has dynamic dimensions */
    double loadMs, prepareMs;
    bool fromNnrt; /* dynamic dimensions are then set when the session is created */
    bool fixesShapes; /* convert: they become dimensions of the model instead */
    bool sized;       /* bufferBytes is computed: the bytes of a buffer in which the session can be made; 0: unknown */
    size_t bufferBytes;
    const nnrt_profile *profile; /* NULL: none */
    nnrt_cache *cache;           /* NULL: none */
    NNRT_Model plain;            /* the model without its metadata, for sessions without states */
#if NNRT_THREADS
    nnrt_pool *pool; /* thread pool of --threads; NULL: one thread */
#endif
    cli_places places;
    char *keep; /* text of --keep; NULL: none */
} cli_job;

static void cli_job_free(cli_job *job)
{
    for (uint32_t i = 0; job->outputs != NULL && i < job->nOut; i++)
        cli_tensor_free(&job->outputs[i]);
    free(job->outputs);
    free(job->io);
    free(job->places.data);
    free(job->keep);
    nnrt_session_destroy(job->session);
#if NNRT_THREADS
    nnrt_pool_destroy(job->pool);
#endif
    nnrt_cache_destroy(job->cache);
    nnrt_model_destroy(job->model);
    nnrt_model_destroy(job->whole);
    cli_inputs_free(&job->in);
    memset(job, 0, sizeof(*job));
}

/* Loads a .nnrt file, which is not optimized again, or a GGUF or safetensors file. */
static NNRT_ReturnCode cli_job_map(cli_job *job, const cli_args *args, nnrt_error *error)
{
    memset(error, 0, sizeof(*error));
    job->fromNnrt = true;
    if (job->in.model == NULL)
        return cli_load_whole(&job->model, args, error);
    job->model = job->in.model;
    job->in.model = NULL;
    return NNRT_SUCCESS;
}

/* --int8-io: makes inputs and outputs of the loaded model integers; warnings name those that stay float32. */
static NNRT_ReturnCode cli_job_integer_io(cli_job *job, const cli_args *args, nnrt_error *error)
{
    nnrt_optimize_desc desc;
    nnrt_log log = args->log;
    memset(&desc, 0, sizeof(desc));
    log.line = cli_log_line;
    desc.log = &log;
    desc.no_quantize = args->noQuantize;
    desc.without = args->noOptimize ? UINT32_MAX : 0;
    desc.integer_io = true;
    return nnrt_model_optimize(&job->model, &desc, error);
}

/* The constants of --fix, and shapes, which cli_import_onnx gives to the importer, in a model of another file. */
static NNRT_ReturnCode cli_job_fix(cli_job *job, bool shapes, nnrt_error *error)
{
    const cli_inputs *in = &job->in;
    nnrt_input *known = (nnrt_input *)cli_alloc(in->fixedCount + in->count, sizeof(*known));
    uint32_t count = 0;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < in->fixedCount && known != NULL; i++, count++) {
        known[count].name = in->fixed[i].name;
        known[count].shape = in->fixed[i].value.shape;
        known[count].data = in->fixed[i].value.data;
    }
    for (uint32_t i = 0; i < in->count && known != NULL && shapes; i++) {
        known[count].name = in->data[i].name;
        known[count].shape = in->shapes[i];
        count += in->shapes[i].rank >= 0;
    }
    job->whole = job->model;
    job->model = NULL;
    if (known != NULL)
        code = nnrt_model_fix(&job->model, job->whole, known, count, error);
    free(known);
    return code;
}

/* Loads or imports the model; constants: as in cli_import_onnx. */
static NNRT_ReturnCode cli_job_model(cli_job *job, const cli_args *args, bool constants, nnrt_error *error)
{
    bool shapes;
    NNRT_ReturnCode code = cli_is_whole(args->model)    ? cli_job_map(job, args, error)
                                 : cli_is_tflite(args->model) ? cli_import_tflite(&job->in, args, &job->model, error)
                                                              : cli_import_onnx(&job->in, args, constants, &job->model, error);
    shapes = job->fixesShapes && job->fromNnrt && args->shapeCount + args->dimCount > 0;
    if (code == NNRT_SUCCESS && (shapes || (job->in.fixedCount > 0 && (job->fromNnrt || cli_is_tflite(args->model)))))
        code = cli_job_fix(job, shapes, error);
    return code == NNRT_SUCCESS && args->int8Io ? cli_job_integer_io(job, args, error) : code;
}

/* Some operators require parameters at planning time. If the model has them as inputs, it is loaded again with the
   small input values as constants, and a note is printed. false: impossible, or it does not help. */
static bool cli_job_constants(cli_job *job, const cli_args *args, NNRT_ReturnCode code)
{
    nnrt_error error;
    bool any = false;
    for (uint32_t i = 0; i < job->in.count; i++)
        any = any || cli_may_be_constant(&job->in.data[i]);
    if (code == NNRT_OUT_OF_MEMORY || job->fromNnrt || !any || cli_is_tflite(args->model))
        return false;
    nnrt_model_destroy(job->model);
    job->model = NULL;
    if (cli_job_model(job, args, true, &error) != NNRT_SUCCESS)
        return false;
    for (uint32_t i = 0; i < job->in.count; i++)
        if (job->in.data[i].constant) {
            cli_inputs_unbound(&job->in, job->in.data[i].name);
            cli_note("the value of input '%s' is a constant of the model now", job->in.data[i].name);
        }
    return true;
}

/* The input whose quoted name a message contains; NULL: none. */
static const char *cli_job_input_in(const cli_job *job, const char *why)
{
    char quoted[CLI_LINE_BYTES];
    for (uint32_t i = 0; i < job->in.count; i++) {
        snprintf(quoted, sizeof(quoted), "'%s'", job->in.data[i].name);
        if (strstr(why, quoted) != NULL)
            return job->in.data[i].name;
    }
    return NULL;
}

/* Why a model cannot be loaded or prepared, with the options that raise limits, set an upper bound, or set the size of an
   input instead of a bound. */
static void cli_job_why(const cli_job *job, NNRT_ReturnCode code, const nnrt_error *error, char *out, size_t size)
{
    const char *why = error->message[0] != '\0' ? error->message : nnrt_code_name(code);
    const uint32_t tensors = job->model != NULL ? job->model->allTensors.count : 0;
    const bool sized = strstr(why, "give its size") != NULL;
    const char *name = sized ? cli_job_input_in(job, why)
                       : strstr(why, "(bounds)") != NULL && error->tensor >= 0 && (uint32_t)error->tensor < tensors
                           ? job->model->allTensors.data[error->tensor].name
                           : NULL;
    if (name != NULL)
        snprintf(out, size, "%s; here: %s '%s=D,D,...'", why, sized ? "--shape" : "--max", name);
    else
        snprintf(out, size, "%s%s", why,
                 strstr(why, "_desc.budget") != NULL    ? "; here --budget N does"
                 : strstr(why, "_desc.outputs") != NULL ? "; here --outputs NAME,... does"
                                                        : "");
}

/* Loads the model. If it needs sizes that nothing sets, the message names them. */
static int cli_job_load(cli_job *job, const cli_args *args)
{
    char why[CLI_LINE_BYTES / 2], sizes[CLI_LINE_BYTES / 2];
    nnrt_error error;
    double start = cli_now_ms();
    NNRT_ReturnCode code = cli_job_model(job, args, false, &error);
    if (code != NNRT_SUCCESS && !cli_job_constants(job, args, code)) {
        cli_job_why(job, code, &error, why, sizeof(why));
        return cli_inputs_ask(&job->in, args, sizes, sizeof(sizes)) ? cli_usage("cannot load %s: %s; %s", args->model, why, sizes)
                                                                    : cli_fail("cannot load %s: %s", args->model, why);
    }
    job->loadMs = job->in.loadMs + cli_now_ms() - start;
    return CLI_DONE;
}

/* Loads the model, optimized, with the shapes of --dim and --shape. close: all dimensions get a size. */
static int cli_job_load_optimized(cli_job *job, const cli_args *args, bool close)
{
    cli_args own = *args;
    nnrt_error error;
    int status = cli_inputs_make(&job->in, args);
    own.int8Io = false; /* of the 8-bit model */
    memset(&error, 0, sizeof(error));
    if (status == CLI_DONE)
        status = cli_inputs_apply_shapes(&job->in, args);
    if (status == CLI_DONE && close)
        status = cli_inputs_close_shapes(&job->in, args);
    if (status == CLI_DONE)
        status = cli_job_load(job, &own);
    if (status == CLI_DONE && job->fromNnrt && nnrt_model_optimize(&job->model, NULL, &error) != NNRT_SUCCESS)
        status = cli_fail("cannot optimize %s: %s", args->model, error.message);
    return status;
}

/* Number of threads that a run uses, which may be fewer than allowed: only cpu is multithreaded, alone or under
   auto. */
static uint32_t cli_threads_used(const cli_job *job)
{
    uint32_t used = 1;
#if NNRT_THREADS
    const char *name = nnrt_session_device(job->session);
    if (strncmp(name, "cpu", 3) == 0 || (strncmp(name, "auto", 4) == 0 && nnrt_device_find("cpu") != NULL))
        used = job->pool != NULL ? nnrt_pool_parallel(job->pool)->workers : 1;
#else
    (void)job;
#endif
    return used;
}

/* Creates the thread pool of --threads, or of --performance alone, once. */
static NNRT_ReturnCode cli_job_threads(cli_job *job, const cli_args *args, nnrt_session_desc *desc, nnrt_error *error)
{
    desc->threads = args->threads;
#if NNRT_THREADS
    if ((args->threads > 1 || (args->threads == 0 && args->mode > NNRT_PERFORMANCE_LOW)) && job->pool == NULL) {
        nnrt_pool_desc pool;
        NNRT_ReturnCode code;
        memset(&pool, 0, sizeof(pool));
        pool.threads = args->threads;
        pool.mode = (NNRT_PerformanceMode)args->mode;
        pool.linger = 1000; /* nnrt bench runs again and again */
        if ((code = nnrt_pool_create(&job->pool, &pool, error)) != NNRT_SUCCESS)
            return code;
    }
    desc->parallel = nnrt_pool_parallel(job->pool);
#else
    (void)job;
    (void)error;
#endif
    return NNRT_SUCCESS;
}

/* Checks that the model has the tensors of --max. */
static int cli_job_find_bounds(const cli_job *job, const cli_args *args)
{
    for (uint32_t k = 0; k < job->in.boundCount; k++) {
        const NNRT_Model *m = job->model;
        uint32_t t = 0;
        while (t < m->allTensors.count && (m->allTensors.data[t].name == NULL ||
                                           strcmp(m->allTensors.data[t].name, job->in.bounds[k].tensor) != 0))
            t++;
        if (t == m->allTensors.count)
            return cli_fail("--max %s: %s has no input and no result '%s'", args->most[k], args->model,
                            job->in.bounds[k].tensor);
    }
    return CLI_DONE;
}

/* Shapes of the session's inputs; dimensions with an upper bound from --max stay dynamic. NULL: no memory. */
static nnrt_dims *cli_job_dims(const cli_job *job)
{
    nnrt_dims *dims = (nnrt_dims *)cli_alloc(job->in.count + job->in.states, sizeof(*dims));
    for (uint32_t i = 0; dims != NULL && i < job->in.count + job->in.states; i++)
        dims[i] = cli_inputs_most(&job->in, i) != NULL ? job->in.data[i].declared : job->in.shapes[i];
    return dims;
}

/* Reads the file of --keep, a text; the caller owns *text. */
static int cli_job_keep(const cli_args *args, char **text)
{
    cli_bytes file;
    *text = NULL;
    if (args->keep == NULL)
        return CLI_DONE;
    if (cli_read_file(args->keep, &file) != CLI_DONE)
        return CLI_FAILED;
    if (memchr(file.data, 0, file.size) != NULL)
        (void)cli_fail("cannot use %s: it is not a text file; expected lines OPERATOR[:INPUT,...[:OUTPUT,...]]",
                       args->keep);
    else
        *text = cli_text_copy((const char *)file.data, file.size);
    free(file.data);
    return *text != NULL ? CLI_DONE : CLI_FAILED;
}

/* Creates the session on a device. An imported model already has the shapes of job->in. If its states are among the
   inputs (cli_inputs_list), they are inputs and outputs of the session as well. */
static NNRT_ReturnCode cli_job_session(cli_job *job, const cli_args *args, const char *device, nnrt_error *error)
{
    nnrt_session_desc desc;
    nnrt_partition partition;
    nnrt_dims *dims = cli_job_dims(job);
    NNRT_ReturnCode code;
    bool plain;
    if (dims == NULL)
        return NNRT_OUT_OF_MEMORY;
    memset(&desc, 0, sizeof(desc));
    memset(&partition, 0, sizeof(partition));
    if (args->placement && job->places.data == NULL) {
        job->places.count = job->model->nodes.count;
        job->places.data = (cli_place *)cli_alloc(job->places.count, sizeof(*job->places.data));
    }
    partition.strict = args->strict;
    partition.fallback = args->fallback;
    partition.keep = job->keep;
    partition.smallest = args->smallest;
    if (job->places.data != NULL || job->keep != NULL) {
        partition.placed = cli_places_listen;
        partition.user = &job->places;
    }
    if (partition.placed != NULL || partition.strict || partition.fallback || partition.smallest > 0)
        desc.partition = &partition;
    desc.device = device;
    desc.profile = job->profile;
    desc.cache = job->cache;
    desc.log = &args->log;
    desc.enableFloat16 = args->float16;
    desc.mode = args->mode;
    desc.priority = args->priority;
    desc.extensions = NNRT_ExtensionList_make(args->extensions, args->extensionCount);
    if (job->fromNnrt)
        desc.inputDims = nnrt_dims_list_make(dims, job->in.count + job->in.states);
    desc.bounds = nnrt_bound_list_make(job->in.bounds, job->in.boundCount);
    code = cli_job_threads(job, args, &desc, error);
    job->plain = *job->model;
    job->plain.self = NULL;
    plain = job->in.states == 0 && nnrt_model_metadata(job->model, "states") != NULL;
    if (code == NNRT_SUCCESS)
        code = nnrt_session_create(&job->session, plain ? &job->plain : job->model, &desc, error);
    if (code == NNRT_SUCCESS && job->sized)
        (void)nnrt_session_bytes(plain ? &job->plain : job->model, &desc, &job->bufferBytes, NULL);
    free(dims);
    return code;
}

/* The cache of --cache, or one in memory. */
static int cli_job_cache(cli_job *job, const cli_args *args)
{
    nnrt_cache_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.directory = args->cache;
    desc.packed = args->cache == NULL; /* nnrt compile */
    return nnrt_cache_create(&job->cache, &desc, &error) == NNRT_SUCCESS ? CLI_DONE : cli_fail("%s", error.message);
}

/* Prints notes about failures of the cache. */
static void cli_job_note_cache(const cli_job *job, const cli_args *args)
{
    const nnrt_cache_state *s = nnrt_cache_get_state(job->cache);
    if (s->fault.code != NNRT_SUCCESS)
        cli_note("--cache %s: %s", args->cache, s->fault.message);
    if (s->saved != s->fault.code && s->saved != NNRT_SUCCESS)
        cli_note("--cache %s: it cannot be written (%s)", args->cache, nnrt_code_name(s->saved));
    if (s->restored + s->prepared == 0)
        cli_note("--cache %s: no device that runs a partition of this model has a model cache", args->cache);
    else if (s->kept == 0)
        cli_note("--cache %s: the device has nothing to store in it", args->cache);
}

/* Creates the session; *code, *error: whether the device refuses the model. CLI_FAILED, after a message: an option is wrong. */
static int cli_job_attempt(cli_job *job, const cli_args *args, NNRT_ReturnCode *code, nnrt_error *error)
{
    double start = cli_now_ms();
    memset(error, 0, sizeof(*error));
    if (cli_job_find_bounds(job, args) != CLI_DONE || cli_job_keep(args, &job->keep) != CLI_DONE)
        return CLI_FAILED;
    if (args->cache != NULL && job->cache == NULL && cli_job_cache(job, args) != CLI_DONE)
        return CLI_FAILED;
    *code = cli_job_session(job, args, args->device, error);
    if (*code == NNRT_UNSUPPORTED_OP && cli_job_constants(job, args, *code)) {
        memset(error, 0, sizeof(*error));
        *code = cli_job_session(job, args, args->device, error);
    }
    if (*code != NNRT_SUCCESS)
        return CLI_DONE;
    job->prepareMs = cli_now_ms() - start;
    if (args->threads > cli_threads_used(job))
        cli_note("--threads %u: the devices use %u", (unsigned)args->threads, (unsigned)cli_threads_used(job));
    if (args->cache != NULL)
        cli_job_note_cache(job, args);
    return CLI_DONE;
}

static int cli_job_prepare(cli_job *job, const cli_args *args)
{
    char why[CLI_LINE_BYTES];
    nnrt_error error;
    NNRT_ReturnCode code;
    const int status = cli_job_attempt(job, args, &code, &error);
    if (status != CLI_DONE || code == NNRT_SUCCESS)
        return status;
    cli_job_why(job, code, &error, why, sizeof(why));
    return cli_fail("cannot prepare %s: %s", args->model, why);
}

/* Quantizes a float32 value of input i of the session, if the model has it in 8 bits with one scale and zero point, as
   QUANTIZE_LINEAR does: round(value / scale) + zero point, to nearest even, saturated; NaN becomes the zero point. */
static int cli_job_quantize(const cli_job *job, uint32_t i, cli_tensor *value)
{
    const NNRT_Tensor *t = &job->model->allTensors.data[job->model->inputIndex.data[i]];
    const NNRT_QuantParam *q = t->quantParams.data;
    cli_tensor out;
    if (value->type != NNRT_DATA_TYPE_FLOAT32 || t->quantParams.count != 1 || nnrt_type_size(t->dataType) != 1)
        return CLI_DONE;
    if (cli_tensor_make(&out, t->dataType, &value->shape, t->name) != CLI_DONE)
        return CLI_FAILED;
    for (size_t k = 0; k < value->count; k++) {
        const float scale = (float)q->scale, units = scale != 0 ? ((const float *)value->data)[k] / scale : 0;
        cli_set_element(&out, k, (isnan(units) ? 0 : nearbyint((double)units)) + q->zeroPoint);
    }
    cli_tensor_free(value);
    *value = out;
    return CLI_DONE;
}

/* Binds the input values to the session's inputs. */
static int cli_job_bind_inputs(cli_job *job, const cli_args *args)
{
    for (uint32_t i = 0; i < job->nIn; i++) {
        nnrt_io_info info = nnrt_session_input(job->session, i);
        bool found = false;
        for (uint32_t k = 0; k < job->in.count && !found; k++) {
            cli_input *input = &job->in.data[(i + k) % job->in.count]; /* equal names: by position */
            found = !input->constant && strcmp(input->name, info.name) == 0;
            if (found && cli_job_quantize(job, i, &input->value) != CLI_DONE)
                return CLI_FAILED;
            if (found && !info.open && input->value.bytes != info.bytes)
                return cli_fail("cannot run %s: input '%s' has %.0f bytes, the session expects %.0f", args->model,
                                info.name, (double)input->value.bytes, (double)info.bytes);
            if (found) {
                job->io[i].data = input->value.data;
                job->io[i].bytes = input->value.bytes;
                job->io[i].dims = info.open ? input->value.shape.dims : NULL;
            }
        }
        if (!found)
            return cli_fail("cannot run %s: the session expects an input '%s' that the file does not have", args->model,
                            info.name);
    }
    return CLI_DONE;
}

/* Initial buffer size of an output with dynamic dimensions. Its upper bound may be far above the size of any run (a
   product of upper bounds), so the buffer grows after a run that reports it as too small. */
#define CLI_OPEN_ROOM ((size_t)16 << 20)

/* Allocates an output: its size, or at most CLI_OPEN_ROOM if its dimensions are dynamic. */
static int cli_job_output(cli_tensor *out, nnrt_io *io, const nnrt_io_info *info)
{
    if (!info->open || info->bytes <= CLI_OPEN_ROOM) {
        if (cli_tensor_make(out, info->dataType, &info->shape, info->name) != CLI_DONE)
            return CLI_FAILED;
    } else {
        out->type = info->dataType;
        out->shape = info->shape;
        out->bytes = CLI_OPEN_ROOM;
        out->data = cli_alloc(CLI_OPEN_ROOM, 1);
    }
    io->data = out->data;
    io->bytes = out->bytes;
    return out->data != NULL ? CLI_DONE : CLI_FAILED;
}

/* Allocates the outputs. */
static int cli_job_bind_outputs(cli_job *job)
{
    job->nIn = nnrt_session_inputs(job->session);
    job->nOut = nnrt_session_outputs(job->session);
    job->outputs = (cli_tensor *)cli_alloc(job->nOut, sizeof(*job->outputs));
    job->io = (nnrt_io *)cli_alloc((size_t)job->nIn + job->nOut, sizeof(*job->io));
    if (job->outputs == NULL || job->io == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < job->nOut; i++) {
        nnrt_io_info info = nnrt_session_output(job->session, i);
        job->open = job->open || info.open;
        if (cli_job_output(&job->outputs[i], &job->io[job->nIn + i], &info) != CLI_DONE)
            return CLI_FAILED;
    }
    return CLI_DONE;
}

/* Allocates the outputs and binds all buffers in the session's order. */
static int cli_job_bind(cli_job *job, const cli_args *args)
{
    const int status = cli_job_bind_outputs(job);
    return status == CLI_DONE ? cli_job_bind_inputs(job, args) : status;
}

/* Loads the model for a session. Accelerators want weights that are constants, not the results of casts. */
static int cli_job_load_to_run(cli_job *job, const cli_args *args)
{
    const char *device = args->device != NULL ? args->device : "auto";
    job->in.float16 = args->deviceCount < 2 && (strcmp(device, "auto") == 0 || strncmp(device, "cpu", 3) == 0);
    for (uint32_t i = 0; i < nnrt_device_count(); i++) {
        const NNRT_DeviceType type = nnrt_device_type(nnrt_device_at(i), NULL);
        job->in.float16 = job->in.float16 && type != NNRT_DEVICE_TYPE_GPU && type != NNRT_DEVICE_TYPE_ACCELERATOR;
    }
    return cli_job_load(job, args);
}

/* Loads the model and creates a session that can run; the inputs have values. */
static int cli_job_start(cli_job *job, const cli_args *args)
{
    int status = cli_job_load_to_run(job, args);
    if (status == CLI_DONE)
        status = cli_job_prepare(job, args);
    return status == CLI_DONE ? cli_job_bind(job, args) : status;
}

/* Grows the outputs that a run reported as too small to the size of that run. Outputs that the run did not reach report
   their upper bounds; they only grow if no other output did. false: no output was too small, or no memory. */
static bool cli_job_grow(cli_job *job)
{
    bool grown = false;
    for (uint32_t i = 0; i < 2 * job->nOut && !(grown && i >= job->nOut); i++) {
        const nnrt_io_info info = nnrt_session_output(job->session, i % job->nOut);
        cli_tensor *out = &job->outputs[i % job->nOut];
        nnrt_io *io = &job->io[job->nIn + i % job->nOut];
        const bool bound = memcmp(&info.shape, &out->shape, sizeof(info.shape)) == 0;
        if (!info.open || info.bytes <= io->bytes || (bound && i < job->nOut))
            continue;
        free(out->data);
        out->data = cli_alloc(info.bytes, 1);
        out->bytes = io->bytes = out->data != NULL ? info.bytes : 0;
        io->data = out->data;
        if (out->data == NULL)
            return false;
        grown = true;
    }
    return grown;
}

/* Bytes of the constants of a model: of its parameters. Devices that pack weights use few of them in place. */
static double cli_constant_bytes(const NNRT_Model *m)
{
    double bytes = 0;
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        bytes += (double)m->allTensors.data[i].data.dataSize;
    return bytes;
}

static int cli_job_run(cli_job *job)
{
    const char *message = nnrt_session_error(job->session);
    NNRT_ReturnCode code;
    do {
        code = nnrt_run(job->session, job->io, job->nIn, job->io + job->nIn, job->nOut);
    } while (code == NNRT_INSUFFICIENT_BUFFER && cli_job_grow(job));
    if (code != NNRT_SUCCESS)
        return cli_fail("the run failed: %s", *message != '\0' ? message : nnrt_code_name(code));
    for (uint32_t i = 0; i < job->nOut && job->open; i++) { /* the dimensions of this run */
        const nnrt_io_info info = nnrt_session_output(job->session, i);
        job->outputs[i].shape = info.shape;
        job->outputs[i].bytes = info.bytes;
        (void)nnrt_dims_count(info.shape.dims, info.shape.rank, &job->outputs[i].count);
    }
    return CLI_DONE;
}

/* ,"key":[1,28,28]; dynamic dimensions are null. */
static void cli_json_dims(const char *key, const nnrt_dims *shape)
{
    printf(",\"%s\":[", key);
    for (int32_t k = 0; k < shape->rank; k++) {
        fputs(k > 0 ? "," : "", stdout);
        if (shape->dims[k] < 0)
            fputs("null", stdout);
        else
            printf("%d", (int)shape->dims[k]);
    }
    putchar(']');
}

/* {"name":"x","type":"float32","shape":[1,2] - the caller closes the object. */
static void cli_json_tensor(const char *name, NNRT_DataType type, const nnrt_dims *shape)
{
    fputs("{\"name\":", stdout);
    cli_json_text(name);
    printf(",\"type\":\"%s\"", nnrt_type_name(type));
    cli_json_dims("shape", shape);
}

/* {"model":"path" - the caller closes the object. */
static void cli_json_open(const cli_args *args)
{
    fputs("{\"model\":", stdout);
    cli_json_text(args->model);
}

static void cli_json_session(const cli_job *job)
{
    fputs(",\"device\":", stdout);
    cli_json_text(nnrt_session_device(job->session));
    printf(",\"threads\":%u", (unsigned)cli_threads_used(job));
    if (job->cache != NULL)
        printf(",\"cache\":{\"restored\":%u,\"prepared\":%u}",
               (unsigned)nnrt_cache_get_state(job->cache)->restored,
               (unsigned)nnrt_cache_get_state(job->cache)->prepared);
}

#endif /* NNRT_TOOL_JOB_H */
