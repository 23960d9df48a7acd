/*
_text.h - language models for text.py: tokenizers, samplers, chat templates, decoders and encoders. Part of _nnrt.c.

Objects are capsules, as in _nnrt.c. core/nnrt_text.h and tools/common/language.h have the rules. A decoder or an encoder is
used by one thread at a time: text.py has a lock for each.

    >>tokenizers  text to tokens and back
    >>samplers    the next token
    >>chats       messages as text
    >>models      decoders and encoders
*/
#ifndef NNRT_PYTHON_TEXT_H
#define NNRT_PYTHON_TEXT_H

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tokenizers */

/* A text on its way from tokens. */
typedef struct text_pieces {
    nnrt_detokenizer d;
    size_t room;
    char piece[]; /* of a token */
} text_pieces;

static nnrt_tokenizer *tokenizer_of(PyObject *capsule)
{
    return (nnrt_tokenizer *)PyCapsule_GetPointer(capsule, "tokenizer");
}

/* Text of tokens is valid UTF-8. */
static PyObject *text_made(const char *s, size_t bytes)
{
    return PyUnicode_DecodeUTF8(s, (Py_ssize_t)bytes, "replace");
}

/* tokenizer_path(model as bytes) -> the file of its tokenizer as bytes: a GGUF file, tokenizer.json beside a safetensors model;
   None: the model has none */
static PyObject *text_tokenizer_path(PyObject *Py_UNUSED(self), PyObject *path)
{
    const char *model = PyBytes_AsString(path);
    const char *beside = model != NULL ? cli_tokenizer_beside(model) : NULL;
    if (model == NULL)
        return NULL;
    return beside != NULL ? PyBytes_FromString(beside) : Py_NewRef(cli_is_gguf(model) ? path : Py_None);
}

/* tokenizer(path as bytes) -> tokenizer */
static PyObject *text_tokenizer(PyObject *Py_UNUSED(self), PyObject *path)
{
    const char *file = PyBytes_AsString(path);
    nnrt_tokenizer *t = NULL;
    nnrt_error error = {0};
    if (file == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    (void)nnrt_tokenizer_load(&t, file, NULL, &error);
    Py_END_ALLOW_THREADS
    return t != NULL ? capsule_make(t, "tokenizer", NULL) : fail(error.code, error.message, true);
}

/* tokenizer_about(tokenizer) -> (number of tokens, chat template or None) */
static PyObject *text_tokenizer_about(PyObject *Py_UNUSED(self), PyObject *capsule)
{
    const nnrt_tokenizer *t = tokenizer_of(capsule);
    nnrt_piece form;
    if (t == NULL)
        return NULL;
    form = nnrt_tokenizer_template(t);
    return Py_BuildValue("(IN)", (unsigned)nnrt_tokenizer_count(t),
                         form.bytes > 0 ? text_made(form.data, form.bytes) : Py_NewRef(Py_None));
}

/* encode(tokenizer, text as bytes, flags) -> list of tokens */
static PyObject *text_encode(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule, *list;
    const char *s;
    Py_ssize_t bytes;
    unsigned flags;
    const nnrt_tokenizer *t;
    nnrt_error error = {0};
    lm_ids ids = {0};
    NNRT_ReturnCode code;
    if (!PyArg_ParseTuple(args, "Oy#I", &capsule, &s, &bytes, &flags) || (t = tokenizer_of(capsule)) == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    code = lm_ids_add(&ids, t, s, (size_t)bytes, flags, &error);
    Py_END_ALLOW_THREADS
    list = code == NNRT_SUCCESS ? PyList_New((Py_ssize_t)ids.count) : fail(code, error.message, false);
    for (size_t i = 0; list != NULL && i < ids.count; i++) {
        PyObject *id = PyLong_FromUnsignedLong(ids.ids[i]);
        if (id == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, id);
    }
    lm_ids_free(&ids);
    return list;
}

/* token(tokenizer, id) -> (its bytes, its type, whether it ends a text) */
static PyObject *text_token(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    unsigned id;
    const nnrt_tokenizer *t;
    nnrt_piece piece;
    if (!PyArg_ParseTuple(args, "OI", &capsule, &id) || (t = tokenizer_of(capsule)) == NULL)
        return NULL;
    piece = nnrt_token_text(t, id);
    return Py_BuildValue("(y#iN)", piece.data != NULL ? piece.data : "", (Py_ssize_t)piece.bytes, (int)nnrt_token_type(t, id),
                         PyBool_FromLong(nnrt_tokenizer_ends(t, id)));
}

/* token_find(tokenizer, text as bytes) -> the token of this text or None */
static PyObject *text_token_find(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    const char *s;
    Py_ssize_t bytes;
    const nnrt_tokenizer *t;
    uint32_t id;
    if (!PyArg_ParseTuple(args, "Oy#", &capsule, &s, &bytes) || (t = tokenizer_of(capsule)) == NULL)
        return NULL;
    id = nnrt_tokenizer_find(t, s, (size_t)bytes);
    return id != NNRT_NO_TOKEN ? PyLong_FromUnsignedLong(id) : Py_NewRef(Py_None);
}

/* stream(tokenizer, flags) -> stream */
static PyObject *text_stream(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    unsigned flags;
    const nnrt_tokenizer *t;
    text_pieces *s;
    size_t room;
    if (!PyArg_ParseTuple(args, "OI", &capsule, &flags) || (t = tokenizer_of(capsule)) == NULL)
        return NULL;
    room = nnrt_detokenizer_bytes(t);
    if ((s = (text_pieces *)PyMem_Malloc(sizeof(*s) + room + 3)) == NULL)
        return PyErr_NoMemory();
    s->room = room;
    nnrt_detokenizer_start(&s->d, t, flags);
    return capsule_make(s, "stream", capsule);
}

/* stream_push(stream, id) -> the text of the token, as far as its characters are complete */
static PyObject *text_stream_push(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    unsigned id;
    text_pieces *s;
    size_t bytes = 0;
    if (!PyArg_ParseTuple(args, "OI", &capsule, &id) ||
        (s = (text_pieces *)PyCapsule_GetPointer(capsule, "stream")) == NULL)
        return NULL;
    if (nnrt_detokenize(&s->d, id, s->piece, s->room, &bytes) != NNRT_SUCCESS)
        return PyErr_Format(PyExc_ValueError, "token %u is not in the vocabulary, which has %u", id,
                            (unsigned)nnrt_tokenizer_count(s->d.tokenizer));
    return text_made(s->piece, bytes);
}

/* stream_end(stream) -> U+FFFD if a character is incomplete */
static PyObject *text_stream_end(PyObject *Py_UNUSED(self), PyObject *capsule)
{
    text_pieces *s = (text_pieces *)PyCapsule_GetPointer(capsule, "stream");
    return s != NULL ? text_made(s->piece, nnrt_detokenizer_end(&s->d, s->piece)) : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>samplers */

/* sampler(number of tokens, seed, temperature, top_k, top_p, min_p, repeat_penalty, presence_penalty, window) -> sampler */
static PyObject *text_sampler(PyObject *Py_UNUSED(self), PyObject *args)
{
    nnrt_sampler_desc desc = {0};
    nnrt_sampler *s = NULL;
    nnrt_error error = {0};
    unsigned count, window;
    unsigned long long seed;
    int topK;
    if (!PyArg_ParseTuple(args, "IKfiffffI", &count, &seed, &desc.temperature, &topK, &desc.topP, &desc.minP,
                          &desc.repeatPenalty, &desc.presencePenalty, &window))
        return NULL;
    desc.seed = seed;
    desc.topK = topK;
    desc.window = window;
    return nnrt_sampler_create(&s, &desc, count, NULL, &error) == NNRT_SUCCESS ? capsule_make(s, "sampler", NULL)
                                                                               : fail(error.code, error.message, false);
}

static nnrt_sampler *sampler_of(PyObject *capsule)
{
    return (nnrt_sampler *)PyCapsule_GetPointer(capsule, "sampler");
}

/* sample(sampler, logits: float32 array with an element for each token) -> token; None: the continuation is complete */
static PyObject *text_sample(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule, *logits;
    nnrt_sampler *s;
    uint32_t id;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyArray_Type, &logits) || (s = sampler_of(capsule)) == NULL)
        return NULL;
    if (nnrt_sample(s, (const float *)PyArray_DATA((PyArrayObject *)logits), &id) != NNRT_SUCCESS)
        return fail(NNRT_INVALID_PARAMETER, "no logit is a number", false);
    return id != NNRT_NO_TOKEN ? PyLong_FromUnsignedLong(id) : Py_NewRef(Py_None);
}

/* accept(sampler, token): adds it to the history */
static PyObject *text_accept(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    unsigned id;
    nnrt_sampler *s;
    if (!PyArg_ParseTuple(args, "OI", &capsule, &id) || (s = sampler_of(capsule)) == NULL)
        return NULL;
    nnrt_sampler_accept(s, id);
    return Py_NewRef(Py_None);
}

/* allow(sampler, list of lists of tokens): restricts the choice to these continuations */
static PyObject *text_allow(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule, *lists;
    nnrt_sampler *s;
    uint32_t *lengths, *ids, total = 0;
    const uint32_t **starts;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyList_Type, &lists) || (s = sampler_of(capsule)) == NULL)
        return NULL;
    n = PyList_GET_SIZE(lists);
    for (Py_ssize_t i = 0; i < n; i++)
        total += (uint32_t)PyList_Size(PyList_GET_ITEM(lists, i));
    lengths = (uint32_t *)PyMem_Calloc((size_t)n + 1, sizeof(*lengths));
    ids = (uint32_t *)PyMem_Calloc((size_t)total + 1, sizeof(*ids));
    starts = (const uint32_t **)PyMem_Calloc((size_t)n + 1, sizeof(*starts));
    total = 0;
    for (Py_ssize_t i = 0; lengths != NULL && ids != NULL && starts != NULL && i < n; i++) {
        PyObject *list = PyList_GET_ITEM(lists, i);
        starts[i] = ids + total;
        lengths[i] = (uint32_t)PyList_Size(list);
        for (uint32_t k = 0; k < lengths[i]; k++)
            ids[total++] = (uint32_t)PyLong_AsUnsignedLong(PyList_GET_ITEM(list, k));
    }
    if (lengths != NULL && ids != NULL && starts != NULL && !PyErr_Occurred())
        code = nnrt_sampler_allow(s, starts, lengths, (uint32_t)n);
    PyMem_Free(lengths);
    PyMem_Free(ids);
    PyMem_Free((void *)starts);
    if (PyErr_Occurred())
        return NULL;
    return code == NNRT_SUCCESS ? Py_NewRef(Py_None) : fail(code, "a token of a continuation is not in the vocabulary", false);
}

/* sampler_reset(sampler): its seed and an empty history */
static PyObject *text_sampler_reset(PyObject *Py_UNUSED(self), PyObject *capsule)
{
    nnrt_sampler *s = sampler_of(capsule);
    if (s == NULL)
        return NULL;
    nnrt_sampler_reset(s);
    return Py_NewRef(Py_None);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>chats */

/* chats() -> the names of the chat templates */
static PyObject *text_chats(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    PyObject *list = PyList_New(0);
    for (int32_t chat = 1; chat < NNRT_CHAT_END; chat++)
        add(list, PyUnicode_FromString(nnrt_chat_name(chat)));
    return list;
}

/* chat_recognize(template as bytes) -> the name of the chat template or None */
static PyObject *text_chat_recognize(PyObject *Py_UNUSED(self), PyObject *form)
{
    char *s;
    Py_ssize_t bytes;
    const char *name;
    if (PyBytes_AsStringAndSize(form, &s, &bytes) != 0)
        return NULL;
    name = nnrt_chat_name(nnrt_chat_recognize(s, (size_t)bytes));
    return name != NULL ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
}

/* chat_format(name, list of (role, content as bytes), reply) -> text as bytes */
static PyObject *text_chat_format(PyObject *Py_UNUSED(self), PyObject *args)
{
    const char *name;
    PyObject *list, *made;
    int reply;
    nnrt_chat_message *messages;
    nnrt_error error = {0};
    lm_text out = {0};
    NNRT_ReturnCode code;
    uint32_t count;
    if (!PyArg_ParseTuple(args, "sO!p", &name, &PyList_Type, &list, &reply))
        return NULL;
    count = (uint32_t)PyList_GET_SIZE(list);
    if ((messages = (nnrt_chat_message *)PyMem_Calloc((size_t)count + 1, sizeof(*messages))) == NULL)
        return PyErr_NoMemory();
    for (uint32_t i = 0; i < count; i++) {
        Py_ssize_t bytes;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "sy#", &messages[i].role, &messages[i].content.data, &bytes)) {
            PyMem_Free(messages);
            return NULL;
        }
        messages[i].content.bytes = (size_t)bytes;
    }
    code = lm_chat_format(&out, lm_chat_find(name), messages, count, reply != 0, &error);
    PyMem_Free(messages);
    made = code == NNRT_SUCCESS ? PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.bytes) : fail(code, error.message, false);
    lm_text_free(&out);
    return made;
}

/* chat_next(name, first, system or None, message as bytes) -> text as bytes */
static PyObject *text_chat_next(PyObject *Py_UNUSED(self), PyObject *args)
{
    const char *name, *system;
    nnrt_piece message;
    PyObject *made;
    int first;
    Py_ssize_t bytes;
    nnrt_error error = {0};
    lm_text out = {0};
    NNRT_ReturnCode code;
    if (!PyArg_ParseTuple(args, "spzy#", &name, &first, &system, &message.data, &bytes))
        return NULL;
    message.bytes = (size_t)bytes;
    code = lm_chat_next(&out, lm_chat_find(name), first != 0, system, message, &error);
    made = code == NNRT_SUCCESS ? PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.bytes) : fail(code, error.message, false);
    lm_text_free(&out);
    return made;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>models */

/* language(path as bytes, context, float activations, type of the cache, tokens of a page or 0) -> (model, the context that the file
   states).
   context: tokens of the cache of a decoder whose file is weights, 0: as many as the file states, at most LM_CONTEXT */
static PyObject *text_language(PyObject *Py_UNUSED(self), PyObject *args)
{
    cli_args own;
    unsigned context, file;
    const char *type;
    int floats;
    NNRT_Model *model = NULL;
    nnrt_error error = {0};
    nnrt_onnx_desc onnx = {0};
    memset(&own, 0, sizeof(own));
    if (!PyArg_ParseTuple(args, "yIpsI", &own.model, &context, &floats, &type, &own.cachePage))
        return NULL;
    if (!cli_take_cache_type(&own, type))
        return PyErr_Format(PyExc_ValueError, "cache_type is '%s', expected f32, f16 or q8_0", type);
    if (own.cacheType != NNRT_DATA_TYPE_FLOAT32 && !cli_is_weights(own.model))
        return fail(NNRT_INVALID_PARAMETER, "cache_type is for GGUF and safetensors files: this file has the type of its cache",
                    false);
    if (own.cachePage > 0 && !cli_is_weights(own.model))
        return fail(NNRT_INVALID_PARAMETER, "sequences are for GGUF and safetensors files: the cache of this file has no pages", false);
    file = cli_tokenizer_context(own.model);
    own.capacity = context > 0 ? context : file > 0 && file < LM_CONTEXT ? file : LM_CONTEXT;
    if (own.cachePage > 0)
        own.capacity += (own.cachePage - own.capacity % own.cachePage) % own.cachePage;
    own.floatActivations = floats != 0;
    own.context = context > 0 ? own.capacity : 0;
    Py_BEGIN_ALLOW_THREADS
    if (cli_is_whole(own.model))
        (void)cli_load_whole(&model, &own, &error);
    else
        (void)nnrt_onnx_load(&model, own.model, &onnx, &error);
    Py_END_ALLOW_THREADS
    if (model == NULL)
        return fail(error.code, error.message, true);
    return Py_BuildValue("(NI)", capsule_make(model, "model", NULL), file);
}

/* The device, threads and model of a decoder or an encoder. */
static NNRT_Model *language_desc(PyObject *context, nnrt_session_desc *desc)
{
    NNRT_Model *model = (NNRT_Model *)PyCapsule_GetPointer(PyTuple_GET_ITEM(context, 0), "model");
    nnrt_pool *pool = (nnrt_pool *)PyCapsule_GetPointer(PyTuple_GET_ITEM(context, 1), "pool");
    desc->parallel = pool != NULL ? nnrt_pool_parallel(pool) : NULL;
    return pool != NULL ? model : NULL;
}

/* decoder((model, pool), device, context, batch, keep, sequences) -> decoder. keep: see lm_decoder_slide; 0: a full cache is a
   failure */
static PyObject *text_decoder(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *context;
    unsigned tokens, batch, keep, sequences;
    nnrt_session_desc desc = {0};
    nnrt_error error = {0};
    NNRT_ReturnCode code;
    const NNRT_Model *model;
    lm_decoder *d;
    if (!PyArg_ParseTuple(args, "O!sIIII", &PyTuple_Type, &context, &desc.device, &tokens, &batch, &keep, &sequences) ||
        (model = language_desc(context, &desc)) == NULL)
        return NULL;
    if ((d = (lm_decoder *)PyMem_Malloc(sizeof(*d))) == NULL)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    code = lm_decoder_create(d, model, tokens, batch, sequences, &desc, &error);
    if (code == NNRT_SUCCESS && keep > 0 && (code = lm_decoder_slide(d, keep, &error)) != NNRT_SUCCESS)
        lm_decoder_close(d);
    Py_END_ALLOW_THREADS
    if (code == NNRT_SUCCESS)
        return capsule_make(d, "decoder", context);
    PyMem_Free(d);
    return fail(code, error.message, true);
}

static lm_decoder *decoder_of(PyObject *capsule)
{
    return (lm_decoder *)PyCapsule_GetPointer(capsule, "decoder");
}

/* decoder_about(decoder) -> (context, batch, position, dropped tokens, sequence, tokens of free pages, bytes of the session, bytes of
   the cache) */
static PyObject *text_decoder_about(PyObject *Py_UNUSED(self), PyObject *capsule)
{
    const lm_decoder *d = decoder_of(capsule);
    if (d == NULL)
        return NULL;
    return Py_BuildValue("(IIIIIIKK)", (unsigned)d->context, (unsigned)d->batch, (unsigned)d->done, (unsigned)d->dropped,
                         (unsigned)d->sequence, (unsigned)lm_decoder_room(d),
                         (unsigned long long)nnrt_session_get_memory(d->session).total,
                         (unsigned long long)lm_decoder_cache_bytes(d));
}

/* feed(decoder, int64 array of tokens). Ctrl-C takes effect between runs. */
static PyObject *text_feed(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule, *ids;
    lm_decoder *d;
    nnrt_error error = {0};
    NNRT_ReturnCode code;
    size_t count, part;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyArray_Type, &ids) || (d = decoder_of(capsule)) == NULL)
        return NULL;
    count = (size_t)PyArray_SIZE((PyArrayObject *)ids);
    code = lm_decoder_fits(d, count, &error);
    for (size_t at = 0; at < count && code == NNRT_SUCCESS; at += part) {
        part = count - at < d->batch ? count - at : d->batch;
        Py_BEGIN_ALLOW_THREADS
        code = lm_decoder_feed(d, (const int64_t *)PyArray_DATA((PyArrayObject *)ids) + at, (uint32_t)part, &error);
        Py_END_ALLOW_THREADS
        if (code == NNRT_SUCCESS && PyErr_CheckSignals() != 0)
            return NULL;
    }
    return code == NNRT_SUCCESS ? Py_NewRef(Py_None) : fail(code, error.message, false);
}

/* sequence(decoder, number, share): the sequence becomes the current one, or with `share` the tokens of the current one */
static PyObject *text_sequence(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    unsigned sequence;
    int share;
    lm_decoder *d;
    nnrt_error error = {0};
    if (!PyArg_ParseTuple(args, "OIp", &capsule, &sequence, &share) || (d = decoder_of(capsule)) == NULL)
        return NULL;
    return (share ? lm_decoder_share : lm_decoder_select)(d, sequence, &error) == NNRT_SUCCESS
               ? Py_NewRef(Py_None)
               : fail(error.code, error.message, false);
}

/* rewind(decoder, position) */
static PyObject *text_rewind(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    unsigned position;
    lm_decoder *d;
    nnrt_error error = {0};
    if (!PyArg_ParseTuple(args, "OI", &capsule, &position) || (d = decoder_of(capsule)) == NULL)
        return NULL;
    return lm_decoder_return(d, position, &error) == NNRT_SUCCESS ? Py_NewRef(Py_None)
                                                                  : fail(error.code, error.message, false);
}

/* logits(decoder) -> float32 array, a copy */
static PyObject *text_logits(PyObject *Py_UNUSED(self), PyObject *capsule)
{
    const lm_decoder *d = decoder_of(capsule);
    uint32_t count;
    const float *row = d != NULL ? lm_decoder_logits(d, &count) : NULL;
    npy_intp size;
    PyObject *array;
    if (d == NULL)
        return NULL;
    size = (npy_intp)count;
    array = PyArray_SimpleNew(1, &size, NPY_FLOAT32);
    if (array != NULL)
        memcpy(PyArray_DATA((PyArrayObject *)array), row, count * sizeof(*row));
    return array;
}

/* save_cache(decoder, path as bytes, int64 array of tokens): writes the cache to a file */
static PyObject *text_save_cache(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule, *ids;
    const char *path;
    const lm_decoder *d;
    nnrt_error error = {0};
    NNRT_ReturnCode code;
    void *data;
    size_t bytes;
    if (!PyArg_ParseTuple(args, "OyO!", &capsule, &path, &PyArray_Type, &ids) || (d = decoder_of(capsule)) == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    code = lm_decoder_save(d, (const int64_t *)PyArray_DATA((PyArrayObject *)ids), (uint32_t)PyArray_SIZE((PyArrayObject *)ids),
                           &data, &bytes, &error);
    if (code == NNRT_SUCCESS)
        code = nnrt_file_write(path, data, bytes, &error);
    nnrt_free(d->allocator, data, bytes);
    Py_END_ALLOW_THREADS
    return code == NNRT_SUCCESS ? Py_NewRef(Py_None) : fail(code, error.message, false);
}

/* load_cache(decoder, content of such a file as bytes) -> list of its tokens */
static PyObject *text_load_cache(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule, *list;
    const char *data;
    Py_ssize_t bytes;
    lm_decoder *d;
    lm_saved saved = {0};
    nnrt_error error = {0};
    NNRT_ReturnCode code;
    if (!PyArg_ParseTuple(args, "Oy#", &capsule, &data, &bytes) || (d = decoder_of(capsule)) == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    code = lm_decoder_restore(d, data, (size_t)bytes, &error);
    if (code == NNRT_SUCCESS)
        code = lm_saved_read(&saved, data, (size_t)bytes, &error);
    Py_END_ALLOW_THREADS
    if (code != NNRT_SUCCESS)
        return fail(code, error.message, true);
    list = PyList_New(0);
    for (uint32_t i = 0; i < saved.count; i++)
        add(list, PyLong_FromUnsignedLong(lm_saved_token(&saved, i)));
    return list;
}

/* An encoder, prepared when it runs first. */
typedef struct text_embedder {
    lm_encoder lm;
    uint32_t context; /* the longest text; 0: unknown */
    int32_t pooling;
} text_embedder;

/* encoder((model, pool), context, pooling) -> encoder. pooling: LM_POOLING_... */
static PyObject *text_encoder(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *context;
    unsigned tokens;
    int pooling;
    text_embedder *e;
    if (!PyArg_ParseTuple(args, "O!Ii", &PyTuple_Type, &context, &tokens, &pooling))
        return NULL;
    if ((e = (text_embedder *)PyMem_Calloc(1, sizeof(*e))) == NULL)
        return PyErr_NoMemory();
    e->context = tokens;
    e->pooling = pooling;
    return capsule_make(e, "encoder", context);
}

/* The tokens of texts: of text i those from begins[i] to begins[i + 1]. */
typedef struct text_list {
    lm_ids ids;
    size_t *begins;
    size_t longest, cut; /* tokens of the longest text; number of texts that exceed the context */
} text_list;

/* Encodes a list of bytes. False: an exception is set. */
static bool text_list_read(text_list *all, PyObject *list, const nnrt_tokenizer *t, uint32_t flags, size_t context)
{
    const Py_ssize_t n = PyList_GET_SIZE(list);
    nnrt_error error = {0};
    if ((all->begins = (size_t *)PyMem_Calloc((size_t)n + 1, sizeof(*all->begins))) == NULL)
        return PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        const size_t begin = all->ids.count;
        size_t count;
        char *s;
        Py_ssize_t bytes;
        if (PyBytes_AsStringAndSize(PyList_GET_ITEM(list, i), &s, &bytes) != 0)
            return false;
        if (lm_ids_add(&all->ids, t, s, (size_t)bytes, flags, &error) != NNRT_SUCCESS)
            return fail(error.code, error.message, false) != NULL;
        if ((count = all->ids.count - begin) == 0)
            return PyErr_Format(PyExc_ValueError, "text %zd has no tokens", i) != NULL;
        all->cut += context > 0 && count > context;
        count = lm_encoder_cut(t, all->ids.ids + begin, count, context);
        all->begins[i + 1] = all->ids.count = begin + count;
        all->longest = count > all->longest ? count : all->longest;
    }
    return true;
}

/* Computes the vectors of texts. NULL: an exception is set. */
static PyObject *embed_list(text_embedder *e, const text_list *all, Py_ssize_t n, bool normalize)
{
    npy_intp shape[2] = {(npy_intp)n, (npy_intp)e->lm.width};
    PyObject *array = PyArray_SimpleNew(2, shape, NPY_FLOAT32);
    nnrt_error error = {0};
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (Py_ssize_t i = 0; array != NULL && i < n; i++) {
        float *row = (float *)PyArray_DATA((PyArrayObject *)array) + (size_t)i * e->lm.width;
        Py_BEGIN_ALLOW_THREADS
        code = lm_encoder_run(&e->lm, all->ids.ids + all->begins[i], all->begins[i + 1] - all->begins[i], normalize, row, &error);
        Py_END_ALLOW_THREADS
        if (code != NNRT_SUCCESS)
            (void)fail(code, error.message, false);
        if (code != NNRT_SUCCESS || PyErr_CheckSignals() != 0)
            Py_CLEAR(array);
    }
    return array;
}

/* embed(encoder, device, tokenizer, list of texts as bytes, flags, normalize) -> (float32 array, number of texts that were
   cut) */
static PyObject *text_embed(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule, *tokens, *list, *context, *array = NULL;
    unsigned flags;
    int normalize;
    nnrt_session_desc desc = {0};
    nnrt_error error = {0};
    NNRT_ReturnCode code;
    text_embedder *e;
    const nnrt_tokenizer *t;
    const NNRT_Model *model;
    text_list all = {{0}, NULL, 1, 0};
    if (!PyArg_ParseTuple(args, "OsOO!Ip", &capsule, &desc.device, &tokens, &PyList_Type, &list, &flags, &normalize) ||
        (e = (text_embedder *)PyCapsule_GetPointer(capsule, "encoder")) == NULL || (t = tokenizer_of(tokens)) == NULL)
        return NULL;
    context = (PyObject *)PyCapsule_GetContext(capsule);
    if ((model = language_desc(context, &desc)) == NULL)
        return NULL;
    if (text_list_read(&all, list, t, flags, e->context)) {
        Py_BEGIN_ALLOW_THREADS
        code = lm_encoder_reserve(&e->lm, model, all.longest, e->context, e->pooling, &desc, &error);
        Py_END_ALLOW_THREADS
        array = code == NNRT_SUCCESS ? embed_list(e, &all, PyList_GET_SIZE(list), normalize != 0)
                                                          : fail(code, error.message, true);
    }
    lm_ids_free(&all.ids);
    PyMem_Free(all.begins);
    return array != NULL ? Py_BuildValue("(Nn)", array, (Py_ssize_t)all.cut) : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */

/* Frees the object of a capsule of this file. False: the name is none of them. */
static bool text_release(const char *name, void *p)
{
    if (strcmp(name, "tokenizer") == 0) {
        nnrt_tokenizer_destroy((nnrt_tokenizer *)p);
        return true;
    }
    if (strcmp(name, "sampler") == 0) {
        nnrt_sampler_destroy((nnrt_sampler *)p);
        return true;
    }
    if (strcmp(name, "decoder") == 0)
        lm_decoder_close((lm_decoder *)p);
    else if (strcmp(name, "encoder") == 0)
        lm_encoder_close(&((text_embedder *)p)->lm);
    else if (strcmp(name, "stream") != 0)
        return false;
    PyMem_Free(p);
    return true;
}

/* clang-format off */
#define TEXT_FUNCTIONS \
    {"tokenizer_path", text_tokenizer_path, METH_O, NULL}, \
    {"tokenizer", text_tokenizer, METH_O, NULL}, \
    {"tokenizer_about", text_tokenizer_about, METH_O, NULL}, \
    {"encode", text_encode, METH_VARARGS, NULL}, \
    {"token", text_token, METH_VARARGS, NULL}, \
    {"token_find", text_token_find, METH_VARARGS, NULL}, \
    {"stream", text_stream, METH_VARARGS, NULL}, \
    {"stream_push", text_stream_push, METH_VARARGS, NULL}, \
    {"stream_end", text_stream_end, METH_O, NULL}, \
    {"sampler", text_sampler, METH_VARARGS, NULL}, \
    {"sample", text_sample, METH_VARARGS, NULL}, \
    {"accept", text_accept, METH_VARARGS, NULL}, \
    {"allow", text_allow, METH_VARARGS, NULL}, \
    {"sampler_reset", text_sampler_reset, METH_O, NULL}, \
    {"chats", text_chats, METH_NOARGS, NULL}, \
    {"chat_recognize", text_chat_recognize, METH_O, NULL}, \
    {"chat_format", text_chat_format, METH_VARARGS, NULL}, \
    {"chat_next", text_chat_next, METH_VARARGS, NULL}, \
    {"sequence", text_sequence, METH_VARARGS, NULL}, \
    {"language", text_language, METH_VARARGS, NULL}, \
    {"decoder", text_decoder, METH_VARARGS, NULL}, \
    {"decoder_about", text_decoder_about, METH_O, NULL}, \
    {"feed", text_feed, METH_VARARGS, NULL}, \
    {"rewind", text_rewind, METH_VARARGS, NULL}, \
    {"logits", text_logits, METH_O, NULL}, \
    {"save_cache", text_save_cache, METH_VARARGS, NULL}, \
    {"load_cache", text_load_cache, METH_VARARGS, NULL}, \
    {"encoder", text_encoder, METH_VARARGS, NULL}, \
    {"embed", text_embed, METH_VARARGS, NULL}
/* clang-format on */

#endif /* NNRT_PYTHON_TEXT_H */
