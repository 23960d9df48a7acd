/*
_nnrt.c - the extension module of the Python package nnrt: calls of nnrt.h, which __init__.py and plan.py combine, and the
command line. tools/nnrt.c contains the implementation of the headers, unless the build links an object of it.

Models, sessions and thread pools are capsules. The context of a capsule is an object that must outlive it.

    >>describe  inputs, outputs and metadata of a file
    >>session   loading and preparing a model
    >>run       one run: inputs in place, outputs written into new arrays, the GIL released
    >>text      language models: _text.h
    >>module    devices, thread pools, the command line
*/
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#define main nnrt_main /* tools.py calls it */
__attribute__((visibility("default"))) int main(int argc, char **argv);
#include "tools/nnrt.c"
#undef main

static PyObject *invalid_model; /* nnrt.InvalidModel */

/* Raises the exception for a code, with the runtime's message. load: a model is being loaded or prepared. */
static void *fail(NNRT_ReturnCode code, const char *message, bool load)
{
    const bool unsupported =
        code == NNRT_NOT_SUPPORT || code == NNRT_UNSUPPORTED_OP || (load && code == NNRT_INVALID_DATATYPE);
    const bool value =
        code == NNRT_INVALID_PARAMETER || code == NNRT_OUT_OF_DIMENTION_RANGES || (!load && code == NNRT_INVALID_SHAPE);
    PyErr_SetString(code == NNRT_OUT_OF_MEMORY || code == NNRT_MEMORY_ERROR       ? PyExc_MemoryError
                    : unsupported                                                 ? PyExc_NotImplementedError
                    : code == NNRT_INVALID_PATH || code == NNRT_PERMISSION_DENIED ? PyExc_OSError
                    : value                                                       ? PyExc_ValueError
                    : load                                                        ? invalid_model
                                                                                  : PyExc_RuntimeError,
                    message[0] != '\0' ? message : nnrt_code_name(code));
    return NULL;
}

static PyObject *text(const char *s, size_t bytes)
{
    return PyUnicode_DecodeUTF8(s != NULL ? s : "", (Py_ssize_t)bytes, "surrogateescape");
}

/* Appends an item and releases it. Either may be NULL: the caller checks PyErr_Occurred() at the end. */
static void add(PyObject *list, PyObject *item)
{
    if (list != NULL && item != NULL)
        (void)PyList_Append(list, item);
    Py_XDECREF(item);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>describe */

/* The type of an ONNX value around its tensors: "", "seq", "optional", "optional seq"; NULL: it has no tensors. */
static const char *onnx_kind(const nnrt_onnx_value_info *v)
{
    const bool optional = v->kind == NNRT_ONNX_KIND_OPTIONAL;
    const nnrt_onnx_type_kind kind = optional ? v->elemKind : v->kind;
    if (kind == NNRT_ONNX_KIND_SEQUENCE && (optional || v->elemKind == NNRT_ONNX_KIND_TENSOR))
        return optional ? "optional seq" : "seq";
    return kind != NNRT_ONNX_KIND_TENSOR ? NULL : optional ? "optional" : "";
}

/* Tensors are (name, element type, dimensions, whether the rank is known, onnx_kind); a dimension is a number, a name or
   None. */
static PyObject *onnx_tensors(const nnrt_onnx_value_infos *infos)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < infos->count; i++) {
        const nnrt_onnx_value_info *v = &infos->data[i];
        const char *kind = onnx_kind(v);
        const bool tensor = kind != NULL;
        PyObject *dims = PyList_New(0);
        for (size_t k = 0; tensor && k < v->dims.count; k++) {
            const nnrt_onnx_dim *d = &v->dims.data[k];
            add(dims, d->kind == NNRT_ONNX_DIM_VALUE   ? PyLong_FromLongLong(d->value)
                      : d->kind == NNRT_ONNX_DIM_PARAM ? text(d->param.data, d->param.length)
                                                       : Py_NewRef(Py_None));
        }
        add(list, Py_BuildValue("(NsNis)", text(v->name.data, v->name.length),
                                tensor ? nnrt_type_name(nnrt_onnx_data_type(v->elemType)) : "no tensor", dims,
                                (int)(tensor && v->hasShape), tensor ? kind : ""));
    }
    return list;
}

static PyObject *onnx_describe(const Py_buffer *file, nnrt_error *error)
{
    nnrt_onnx_model *m = NULL;
    PyObject *constants = PyList_New(0), *metadata = PyList_New(0), *result;
    if (nnrt_onnx_parse(file->buf, (size_t)file->len, NULL, &m, error) != NNRT_SUCCESS)
        return NULL;
    for (size_t i = 0; i < m->graph->initializers.count; i++)
        add(constants, text(m->graph->initializers.data[i].name.data, m->graph->initializers.data[i].name.length));
    for (size_t i = 0; i < m->metadataProps.count; i++) {
        const nnrt_onnx_pair *p = &m->metadataProps.data[i];
        add(metadata, Py_BuildValue("(NN)", text(p->key.data, p->key.length), text(p->value.data, p->value.length)));
    }
    result = Py_BuildValue("(sNNNN)", "onnx", onnx_tensors(&m->graph->inputs), onnx_tensors(&m->graph->outputs),
                           metadata, constants);
    nnrt_onnx_model_free(m);
    return result;
}

static PyObject *model_tensors(const NNRT_Model *m, NNRT_Uint32List indices)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; i < indices.count; i++) {
        const NNRT_Tensor *t = &m->allTensors.data[indices.data[i]];
        const bool ranked = t->dims.count != 1 || t->dims.data[0] != NNRT_RANK_UNKNOWN;
        PyObject *dims = PyList_New(0);
        for (uint32_t k = 0; ranked && k < t->dims.count; k++)
            add(dims, t->dims.data[k] >= 0 ? PyLong_FromLong(t->dims.data[k]) : Py_NewRef(Py_None));
        add(list, Py_BuildValue("(NsNis)", text(t->name, strlen(t->name)), nnrt_type_name(t->dataType), dims, (int)ranked, ""));
    }
    return list;
}

static PyObject *model_describe(const char *format, const NNRT_Model *m)
{
    PyObject *metadata = PyList_New(0);
    for (uint32_t i = 0; nnrt_model_metadata_at(m, i).key != NULL; i++) {
        const nnrt_metadata e = nnrt_model_metadata_at(m, i);
        add(metadata, Py_BuildValue("(NN)", text(e.key, strlen(e.key)), text(e.value, strlen(e.value))));
    }
    return Py_BuildValue("(sNNN())", format, model_tensors(m, m->inputIndex), model_tensors(m, m->outputIndex),
                         metadata);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>session */

static bool text_release(const char *name, void *p); /* of _text.h */

static void release(PyObject *capsule)
{
    const char *name = PyCapsule_GetName(capsule);
    void *p = PyCapsule_GetPointer(capsule, name);
    if (strcmp(name, "session") == 0)
        nnrt_session_destroy((nnrt_session *)p);
    else if (strcmp(name, "model") == 0)
        nnrt_model_destroy((NNRT_Model *)p);
    else if (!text_release(name, p))
        nnrt_pool_destroy((nnrt_pool *)p);
    Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule));
}

static PyObject *capsule_make(void *p, const char *name, PyObject *context)
{
    PyObject *capsule = PyCapsule_New(p, name, release);
    if (capsule != NULL)
        (void)PyCapsule_SetContext(capsule, Py_XNewRef(context));
    return capsule;
}

/* Inputs with their shapes, or upper bounds, as Python passes them: a list of (name, bytes of an nnrt_dims, array or
   None). -1 is a dynamic dimension. An array becomes a constant of the model. */
typedef struct shape_list {
    nnrt_input *inputs;
    nnrt_bound *bounds;
    uint32_t count;
} shape_list;

/* Texts and elements belong to the Python list; PyMem_Free(s->inputs) frees the arrays. False: an exception is set. */
static bool shapes_read(shape_list *s, PyObject *list)
{
    const size_t n = (size_t)PyList_GET_SIZE(list) + 1;
    s->inputs = (nnrt_input *)PyMem_Calloc(n, sizeof(*s->inputs) + sizeof(*s->bounds));
    if (s->inputs == NULL)
        return PyErr_NoMemory() != NULL;
    s->bounds = (nnrt_bound *)(void *)(s->inputs + n);
    for (s->count = 0; s->count < n - 1; s->count++) {
        nnrt_input *in = &s->inputs[s->count];
        PyObject *dims, *constant;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, s->count), "sSO", &in->name, &dims, &constant)) {
            PyMem_Free(s->inputs);
            return false;
        }
        memcpy(&in->shape, PyBytes_AS_STRING(dims), sizeof(in->shape));
        in->data = constant != Py_None ? PyArray_DATA((PyArrayObject *)constant) : NULL;
        s->bounds[s->count].tensor = in->name;
        s->bounds[s->count].most = in->shape;
    }
    return true;
}

/* load(file, path as bytes or b"") -> (model, format, inputs, outputs, metadata, names of initialized tensors). file: a
   memoryview of all bytes, whose constants are used in place; of a .nnrt file at an address that is aligned to 64
   bytes. Sizes that the file leaves open are left to the sessions. */
static PyObject *load(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *file, *about, *result, *capsule = NULL;
    const char *path;
    const Py_buffer *b;
    nnrt_onnx_desc onnx = {0};
    nnrt_tflite_desc lite = {0};
    nnrt_error error = {0};
    NNRT_Model *model = NULL;
    if (!PyArg_ParseTuple(args, "O!y", &PyMemoryView_Type, &file, &path))
        return NULL;
    b = PyMemoryView_GET_BUFFER(file);
    onnx.path = path[0] != '\0' ? path : NULL;
    lite.dynamic = lite.float16 = true;
    for (uint32_t i = 0; i < nnrt_device_count(); i++) { /* accelerators want weights that are constants */
        const NNRT_DeviceType type = nnrt_device_type(nnrt_device_at(i), NULL);
        lite.float16 = lite.float16 && type != NNRT_DEVICE_TYPE_GPU && type != NNRT_DEVICE_TYPE_ACCELERATOR;
    }
    if (nnrt_file_is(b->buf, (size_t)b->len))
        (void)nnrt_model_load_memory(&model, b->buf, (size_t)b->len, NULL, &error);
    else if (!nnrt_tflite_is(b->buf, (size_t)b->len))
        (void)nnrt_onnx_load_memory(&model, b->buf, (size_t)b->len, &onnx, &error);
    else if (nnrt_tflite_load_memory(&model, b->buf, (size_t)b->len, &lite, &error) != NNRT_SUCCESS) {
        lite.dynamic = false; /* operators require the stored shapes */
        memset(&error, 0, sizeof(error));
        (void)nnrt_tflite_load_memory(&model, b->buf, (size_t)b->len, &lite, &error);
    }
    if (model == NULL)
        return fail(error.code, error.message, true);
    about = nnrt_file_is(b->buf, (size_t)b->len)     ? model_describe("nnrt", model)
            : nnrt_tflite_is(b->buf, (size_t)b->len) ? model_describe("tflite", model)
                                                     : onnx_describe(b, &error);
    if (about == NULL && !PyErr_Occurred())
        (void)fail(error.code, error.message, true);
    if (about != NULL && (capsule = capsule_make(model, "model", file)) != NULL)
        model = NULL; /* the capsule's */
    nnrt_model_destroy(model);
    result = capsule != NULL && !PyErr_Occurred() ? Py_BuildValue("(OO)", capsule, about) : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(about);
    return result;
}

/* The context of a session is (model, pool, profile or None). */
static void profile_step(void *user, const nnrt_profile_step *s)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    add((PyObject *)user, Py_BuildValue("(sssiIKKKK)", s->name, s->op, s->device, (int)s->node, (unsigned)s->depth,
                                        (unsigned long long)s->begin, (unsigned long long)s->duration,
                                        (unsigned long long)s->read, (unsigned long long)s->written));
    PyErr_Clear(); /* no memory: the step has no entry */
    PyGILState_Release(state);
}

/* session(context, device, inputs, bounds, share or None) -> session. device: None if it shares. inputs: dimensions and
   values by name. The list of a profile receives the steps of each run. */
static PyObject *make_session(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *context, *inputs, *bounds, *share, *pool;
    nnrt_session_desc desc = {0};
    nnrt_profile profile = {0};
    nnrt_error error = {0};
    nnrt_session *session = NULL;
    shape_list shapes, most;
    if (!PyArg_ParseTuple(args, "O!zO!O!O", &PyTuple_Type, &context, &desc.device, &PyList_Type, &inputs, &PyList_Type,
                          &bounds, &share) ||
        !shapes_read(&shapes, inputs))
        return NULL;
    if (!shapes_read(&most, bounds)) {
        PyMem_Free(shapes.inputs);
        return NULL;
    }
    pool = PyTuple_GET_ITEM(context, 1);
    profile.step = profile_step;
    profile.user = PyTuple_GET_ITEM(context, 2);
    desc.profile = profile.user != Py_None ? &profile : NULL;
    desc.inputs = shapes.inputs;
    desc.inputCount = shapes.count;
    desc.bounds = nnrt_bound_list_make(most.bounds, most.count);
    desc.share = share != Py_None ? (nnrt_session *)PyCapsule_GetPointer(share, "session") : NULL;
    desc.parallel = desc.share == NULL ? nnrt_pool_parallel((nnrt_pool *)PyCapsule_GetPointer(pool, "pool")) : NULL;
    (void)nnrt_session_create(&session, (NNRT_Model *)PyCapsule_GetPointer(PyTuple_GET_ITEM(context, 0), "model"),
                              &desc, &error);
    PyMem_Free(shapes.inputs);
    PyMem_Free(most.inputs);
    return session != NULL ? capsule_make(session, "session", context) : fail(error.code, error.message, true);
}

/* Tensors are (name, element type, dimensions or upper bounds, dynamic, bytes). */
static PyObject *session_tensors(const nnrt_session *s, uint32_t count,
                                 nnrt_io_info (*at)(const nnrt_session *, uint32_t))
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; i < count; i++) {
        const nnrt_io_info info = at(s, i);
        PyObject *dims = PyList_New(0);
        for (int32_t k = 0; k < info.shape.rank; k++)
            add(dims, PyLong_FromLong(info.shape.dims[k]));
        add(list, Py_BuildValue("(NsNNn)", text(info.name, strlen(info.name)), nnrt_type_name(info.dataType), dims,
                                PyBool_FromLong(info.open),
                                (Py_ssize_t)(info.bytes < PY_SSIZE_T_MAX ? info.bytes : PY_SSIZE_T_MAX)));
    }
    return list;
}

/* inspect(session) -> (inputs, outputs, memory, number of states). After a run the outputs have its shapes. */
static PyObject *inspect(PyObject *Py_UNUSED(self), PyObject *capsule)
{
    const nnrt_session *s = (const nnrt_session *)PyCapsule_GetPointer(capsule, "session");
    nnrt_session_memory m;
    if (s == NULL)
        return NULL;
    m = nnrt_session_get_memory(s);
    return Py_BuildValue("(NN{sKsKsKsKsKsI}I)", session_tensors(s, nnrt_session_inputs(s), nnrt_session_input),
                         session_tensors(s, nnrt_session_outputs(s), nnrt_session_output), "total",
                         (unsigned long long)m.total, "tables", (unsigned long long)m.tables, "arena",
                         (unsigned long long)m.arena, "bound", (unsigned long long)m.bound, "constants",
                         (unsigned long long)m.constants, "steps", (unsigned)m.steps, (unsigned)nnrt_session_states(s));
}

/* reset(session): the states get their initial values. */
static PyObject *reset(PyObject *Py_UNUSED(self), PyObject *capsule)
{
    nnrt_session *s = (nnrt_session *)PyCapsule_GetPointer(capsule, "session");
    if (s != NULL)
        nnrt_session_reset(s);
    return s != NULL ? Py_NewRef(Py_None) : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>run */

/* The array of an input: the caller's if it is contiguous, aligned and in native byte order, else a copy. NULL: it has
   another type or, unless dimensions are dynamic, shape than the template, or an exception is set. */
static PyObject *input_array(PyObject *o, PyArrayObject *template, bool open)
{
    PyArrayObject *a = (PyArrayObject *)o;
    if (o == NULL)
        return NULL;
    if (PyArray_Check(o) && PyArray_ISCARRAY_RO(a))
        Py_INCREF(a);
    else { /* __array__() of an object may change the dictionary that holds it */
        Py_INCREF(o);
        a = (PyArrayObject *)PyArray_CheckFromAny(o, NULL, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED, NULL);
        Py_DECREF(o);
    }
    if (a != NULL && PyArray_NDIM(a) == PyArray_NDIM(template) &&
        (PyArray_TYPE(a) == PyArray_TYPE(template) || PyArray_EquivTypenums(PyArray_TYPE(a), PyArray_TYPE(template))) &&
        (open || PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(template), PyArray_NDIM(a))))
        return (PyObject *)a;
    Py_XDECREF(a);
    return NULL;
}

/* Runs with the GIL released. arrays: of inputs, then outputs. */
static NNRT_ReturnCode run_arrays(nnrt_session *s, PyArrayObject **arrays, uint32_t nIn, uint32_t nOut, bool open)
{
    NNRT_ReturnCode code;
    nnrt_io *io = (nnrt_io *)PyMem_Calloc((size_t)nIn + nOut + 1, sizeof(*io) + sizeof(nnrt_dims));
    nnrt_dims *dims = (nnrt_dims *)(void *)(io + nIn + nOut);
    if (io == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < nIn + nOut; i++) {
        io[i] = nnrt_io_make(PyArray_DATA(arrays[i]), (size_t)PyArray_NBYTES(arrays[i]));
        io[i].dims = open && i < nIn ? dims[i].dims : NULL;
        for (int k = 0; io[i].dims != NULL && k < PyArray_NDIM(arrays[i]) && k < NNRT_MAX_RANK; k++)
            dims[i].dims[k] = PyArray_DIM(arrays[i], k) <= INT32_MAX ? (int32_t)PyArray_DIM(arrays[i], k) : INT32_MAX;
    }
    Py_BEGIN_ALLOW_THREADS code = nnrt_run(s, io, nIn, io + nIn, nOut);
    Py_END_ALLOW_THREADS PyMem_Free(io);
    return code;
}

/* run(session, names, templates of inputs and outputs, dynamic, feeds) -> list of outputs. A template is an array that has
   the type and shape. None: an input is missing or not like its template; False: an output is too small. */
static PyObject *run(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t Py_UNUSED(count))
{
    nnrt_session *s = (nnrt_session *)PyCapsule_GetPointer(args[0], "session");
    const Py_ssize_t nIn = PyTuple_GET_SIZE(args[1]), n = PyTuple_GET_SIZE(args[2]);
    const bool open = args[3] == Py_True;
    PyObject *list = PyList_New(n);
    NNRT_ReturnCode code = NNRT_INSUFFICIENT_BUFFER;
    bool good = s != NULL && list != NULL;
    for (Py_ssize_t i = 0; good && i < n; i++) {
        PyArrayObject *t = (PyArrayObject *)PyTuple_GET_ITEM(args[2], i);
        PyObject *a = i < nIn ? input_array(PyDict_GetItemWithError(args[4], PyTuple_GET_ITEM(args[1], i)), t, open)
                              : PyArray_SimpleNew(PyArray_NDIM(t), PyArray_DIMS(t), PyArray_TYPE(t));
        if ((good = a != NULL))
            PyList_SET_ITEM(list, i, a);
    }
    if (good)
        code = run_arrays(s, (PyArrayObject **)(void *)((PyListObject *)list)->ob_item, (uint32_t)nIn,
                          (uint32_t)(n - nIn), open);
    if (good && code != NNRT_SUCCESS && code != NNRT_INSUFFICIENT_BUFFER)
        (void)fail(code, nnrt_session_error(s), false);
    if (code != NNRT_SUCCESS || PyList_SetSlice(list, 0, nIn, NULL) != 0)
        Py_CLEAR(list);
    return list != NULL || PyErr_Occurred() ? list : Py_NewRef(good ? Py_False : Py_None);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text */

#include "_text.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>module */

/* devices() -> names, in the order of registration */
static PyObject *devices(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; i < nnrt_device_count(); i++)
        add(list, PyUnicode_FromString(nnrt_device_name(nnrt_device_at(i))));
    return list;
}

/* load_driver(path): registers the devices of a shared library. */
static PyObject *load_driver(PyObject *Py_UNUSED(self), PyObject *path)
{
    const char *file = PyUnicode_AsUTF8(path);
    nnrt_error error = {0};
    if (file == NULL)
        return NULL;
    return nnrt_driver_load(file, &error) == NNRT_SUCCESS ? Py_NewRef(Py_None) : fail(error.code, error.message, false);
}

/* make_pool(threads) -> a thread pool; 0: the number of processors */
static PyObject *make_pool(PyObject *Py_UNUSED(self), PyObject *threads)
{
    const unsigned long n = PyLong_AsUnsignedLong(threads);
    nnrt_pool *pool = NULL;
    nnrt_pool_desc desc = {0};
    nnrt_error error = {0};
    desc.threads = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    desc.linger = 1000; /* microseconds, until threads that have no work sleep */
    if (PyErr_Occurred())
        return NULL;
    return nnrt_pool_create(&pool, &desc, &error) == NNRT_SUCCESS ? capsule_make(pool, "pool", NULL)
                                                                  : fail(error.code, error.message, false);
}

static PyMethodDef functions[] = {
    {"load", load, METH_VARARGS, NULL},
    {"session", make_session, METH_VARARGS, NULL},
    {"inspect", inspect, METH_O, NULL},
    {"reset", reset, METH_O, NULL},
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL, NULL},
    {"devices", devices, METH_NOARGS, NULL},
    {"load_driver", load_driver, METH_O, NULL},
    {"make_pool", make_pool, METH_O, NULL},
    TEXT_FUNCTIONS,
    {NULL, NULL, 0, NULL},
};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_nnrt", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__nnrt(void)
{
    PyObject *m;
    import_array();
    m = PyModule_Create(&module);
    invalid_model = PyErr_NewException("nnrt.InvalidModel", PyExc_ValueError, NULL);
    if (m == NULL || invalid_model == NULL || PyModule_AddObjectRef(m, "InvalidModel", invalid_model) != 0 ||
        PyModule_AddStringConstant(m, "version", nnrt_version()) != 0)
        Py_CLEAR(m);
    return m;
}
