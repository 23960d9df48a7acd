/* The return codes of NNAdapter's 28 functions from the text of the API's specification, whose sections the rows name.
   For the order of checks, the text specifies only the first ones. */
#define _XOPEN_SOURCE 700

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counted.h"

#include "compat/nnrt_nnadapter.h"
#include "devices/nnrt_cpu.h"
#include "fakes.h"

#include "codes.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define OK NNADAPTER_NO_ERROR
#define IP NNADAPTER_INVALID_PARAMETER
#define DIMS NNADAPTER_INVALID_DIMENSIONS
#define NO NNADAPTER_FEATURE_NOT_SUPPORTED
#define MEMORY NNADAPTER_OUT_OF_MEMORY
#define BROKEN NNADAPTER_DEVICE_INTERNAL_ERROR
#define is(call, code) assert_int_equal(call, code)

/* ---- helpers: y = |x|, float32 [2,3], on a device "npu" ---- */

static float xs[12] = {1, -2, 3, -4, 5, -6}, ys[12];

static NNAdapterOperandType type23(void)
{
    NNAdapterOperandType type;
    memset(&type, 0, sizeof(type));
    type.precision = NNADAPTER_FLOAT32;
    type.dimensions.count = 2;
    type.dimensions.data[0] = 2;
    type.dimensions.data[1] = 3;
    return type;
}

typedef struct net {
    NNAdapterModel *model;
    NNAdapterOperand *x, *y, *z; /* z: of no operation */
    NNAdapterContext *context;
    NNAdapterCompilation *compilation;
    NNAdapterExecution *execution;
    nnrt_fake *npu;
} net;

static NNAdapterOperand *operand_of(NNAdapterModel *model)
{
    const NNAdapterOperandType type = type23();
    NNAdapterOperand *o = NULL;
    is(NNAdapterModel_addOperand(model, &type, &o), OK);
    return o;
}

static NNAdapterContext *context_of(const char *device)
{
    NNAdapterDevice *d = NULL;
    NNAdapterContext *context = NULL;
    is(NNAdapterDevice_acquire(device, &d), OK);
    is(NNAdapterContext_create(&d, 1, "", NULL, &context), OK);
    NNAdapterDevice_release(d);
    return context;
}

/* A model with three operands, and the operation. */
static void net_begin(net *n, bool operation)
{
    NNAdapterOperation *op;
    memset(n, 0, sizeof(*n));
    is(NNAdapterModel_create(&n->model), OK);
    n->x = operand_of(n->model);
    n->y = operand_of(n->model);
    n->z = operand_of(n->model);
    if (operation)
        is(NNAdapterModel_addOperation(n->model, NNADAPTER_ABS, 1, &n->x, 1, &n->y, &op), OK);
}

static void net_finish(net *n)
{
    is(NNAdapterModel_identifyInputsAndOutputs(n->model, 1, &n->x, 1, &n->y), OK);
    is(NNAdapterModel_finish(n->model), OK);
}

/* A finished model, the device with further options, and a compilation that is not finished. */
static void net_compile(net *n, const char *options)
{
    char text[200];
    net_begin(n, true);
    net_finish(n);
    (void)snprintf(text, sizeof(text), "fake:name=npu,vendor=acme%s", options);
    (void)nnrt_device_unregister("npu"); /* where a test that failed has left it */
    n->npu = registered(text);
    n->context = context_of("npu");
    is(NNAdapterCompilation_create(n->model, NULL, NULL, 0, NULL, n->context, &n->compilation), OK);
}

static void net_end(net *n)
{
    NNAdapterExecution_destroy(n->execution);
    NNAdapterCompilation_destroy(n->compilation);
    NNAdapterContext_destroy(n->context);
    NNAdapterModel_destroy(n->model);
    if (n->npu != NULL)
        unregistered(n->npu);
}

static void *give(void *memory, NNAdapterOperandType *type, void *device)
{
    assert_null(device);
    if (memory != NULL) /* other dimensions than the compilation's */
        type->dimensions.data[0] = 4;
    return xs;
}

static void *take(void *memory, NNAdapterOperandType *type, void *device)
{
    (void)memory, (void)type;
    assert_null(device);
    return ys;
}

/* ---- 2: existing devices ---- */

/* A function that returns one number or text of a device: Function with value. */
#define DEVICE_GETTER(name, Function, T, value)                                                                        \
    static const check name##_checks[] = {{"device NULL", IP, 0}, {#value " NULL", IP, 0}, END};                       \
    static int name(uint32_t broken)                                                                                   \
    {                                                                                                                  \
        NNAdapterDevice *device = NULL;                                                                                \
        T value;                                                                                                       \
        int code;                                                                                                      \
        is(NNAdapterDevice_acquire("reference", &device), OK);                                                         \
        code = Function(B(0) ? NULL : device, B(1) ? NULL : &value);                                                   \
        NNAdapterDevice_release(device);                                                                               \
        return code;                                                                                                   \
    }
DEVICE_GETTER(device_name, NNAdapterDevice_getName, const char *, name)
DEVICE_GETTER(device_vendor, NNAdapterDevice_getVendor, const char *, vendor)
DEVICE_GETTER(device_type, NNAdapterDevice_getType, NNAdapterDeviceType, type)
DEVICE_GETTER(device_version, NNAdapterDevice_getVersion, int32_t, version)

static const check version_checks[] = {{"version NULL", IP, 0}, END};
static int version(uint32_t broken)
{
    uint32_t number = 99;
    const int code = NNAdapter_getVersion(B(0) ? NULL : &number);
    assert_int_equal(number, code == OK ? 1 : 99);
    return code;
}

static const check devices_checks[] = {{"numDevices NULL", IP, 0}, END};
static int devices(uint32_t broken)
{
    uint32_t number = 99;
    const int code = NNAdapter_getDeviceCount(B(0) ? NULL : &number);
    assert_int_equal(number, code == OK ? nnrt_device_count() : 99);
    return code;
}

static const check acquire_checks[] = {
    {"name NULL", IP, 0},
    {"device NULL", IP, 0},
    {"unknown", NNADAPTER_DEVICE_NOT_FOUND, A(0)},
    {"no memory", MEMORY, 0},
    END};
static int acquire(uint32_t broken)
{
    NNAdapterDevice *device = NULL;
    int code;
    heap_fail_at = B(3) ? heap_calls + 1 : 0;
    code = NNAdapterDevice_acquire(B(0) ? NULL : B(2) ? "huawei_ascend_npu" : "reference", B(1) ? NULL : &device);
    heap_fail_at = 0;
    assert_true((device != NULL) == (code == OK));
    NNAdapterDevice_release(device);
    return code;
}

static const check release_checks[] = {{"device NULL", DONE, 0}, END};
static int release(uint32_t broken)
{
    NNAdapterDevice *device = NULL;
    is(NNAdapterDevice_acquire("reference", &device), OK);
    NNAdapterDevice_release(B(0) ? NULL : device);
    if (B(0))
        NNAdapterDevice_release(device);
    return DONE;
}

/* ---- 2 and 3: contexts ---- */

static int on_event(int event, void *user)
{
    (void)event, (void)user;
    return 0;
}

static const check context_checks[] = {
    {"devices NULL", IP, 0},
    {"count 0", IP, 0},
    {"context NULL", IP, 0},
    {"a property without =", IP, 0},
    {"a key that is empty", IP, A(3)},
    {"a value that is empty", IP, A(3) | A(4)},
    {"a second =", IP, A(3) | A(4) | A(5)},
    {"a doubled ;", IP, A(3) | A(4) | A(5) | A(6)},
    {"no memory", MEMORY, A(3) | A(4) | A(5) | A(6) | A(7)},
    {"properties NULL", OK, A(3) | A(4) | A(5) | A(6) | A(7)},
    {"callback NULL", OK, 0},
    END};
static int context(uint32_t broken)
{
    NNAdapterDevice *device = NULL;
    NNAdapterContext *c = NULL;
    int code;
    const char *text = B(3) ? "A" : B(4) ? "=1" : B(5) ? "A=;" : B(6) ? "A=1=2" : B(7) ? "A=1;;B=2" : "A=1;B=2;";
    is(NNAdapterDevice_acquire("reference", &device), OK);
    heap_fail_at = B(8) ? heap_calls + 1 : 0;
    code = NNAdapterContext_create(B(0) ? NULL : &device, B(1) ? 0 : 1, B(9) ? NULL : text, B(10) ? NULL : on_event,
                                   B(2) ? NULL : &c);
    heap_fail_at = 0;
    assert_true((c != NULL) == (code == OK));
    NNAdapterContext_destroy(c);
    NNAdapterDevice_release(device);
    return code;
}

static const check context_end_checks[] = {{"context NULL", DONE, 0}, END};
static int context_end(uint32_t broken)
{
    NNAdapterContext *c = context_of("reference");
    NNAdapterContext_destroy(B(0) ? NULL : c);
    if (B(0))
        NNAdapterContext_destroy(c);
    return DONE;
}

/* ---- 2: models ---- */

static const check model_checks[] = {{"model NULL", IP, 0}, {"no memory", MEMORY, 0}, END};
static int model(uint32_t broken)
{
    NNAdapterModel *m = NULL;
    int code;
    heap_fail_at = B(1) ? heap_calls + 1 : 0;
    code = NNAdapterModel_create(B(0) ? NULL : &m);
    heap_fail_at = 0;
    assert_true((m != NULL) == (code == OK));
    NNAdapterModel_destroy(m);
    return code;
}

static const check model_end_checks[] = {{"model NULL", DONE, 0}, END};
static int model_end(uint32_t broken)
{
    net n;
    net_begin(&n, true);
    if (B(0))
        NNAdapterModel_destroy(NULL);
    net_end(&n);
    return DONE;
}

static const check finish_checks[] = {
    {"model NULL", IP, 0},
    {"a second time", IP, 0},
    {"outputs not identified", IP, A(1)},
    {"an operation that is not known", IP, A(1)},
    {"a cycle", IP, A(1) | A(3)},
    END};
static int finish(uint32_t broken)
{
    NNAdapterOperation *op;
    NNAdapterOperand *more, *pair[2];
    net n;
    int code;
    net_begin(&n, true);
    more = operand_of(n.model);
    if (B(3))
        is(NNAdapterModel_addOperation(n.model, 9999, 1, &n.x, 1, &n.z, &op), OK);
    if (B(4)) { /* more = z + x, z = |more| */
        pair[0] = n.z;
        pair[1] = n.x;
        is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 2, pair, 1, &more, &op), OK);
        is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, &more, 1, &n.z, &op), OK);
    }
    if (!B(2))
        is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, &n.x, 1, &n.y), OK);
    if (B(1))
        is(NNAdapterModel_finish(n.model), OK);
    code = NNAdapterModel_finish(B(0) ? NULL : n.model);
    net_end(&n);
    return code;
}

static const check operand_checks[] = {
    {"model NULL", IP, 0},
    {"type NULL", IP, 0},
    {"operand NULL", IP, 0},
    {"after finish", IP, 0},
    {"rank > 8", DIMS, A(1)},
    {"no memory", MEMORY, 0},
    END};
static int operand(uint32_t broken)
{
    NNAdapterOperandType type = type23();
    NNAdapterOperand *o = NULL;
    net n;
    int code;
    net_begin(&n, true);
    net_finish(&n);
    if (!B(3)) {
        NNAdapterModel_destroy(n.model);
        is(NNAdapterModel_create(&n.model), OK);
    }
    if (B(4))
        type.dimensions.count = 9;
    heap_fail_at = B(5) ? heap_calls + 1 : 0;
    code = NNAdapterModel_addOperand(B(0) ? NULL : n.model, B(1) ? NULL : &type, B(2) ? NULL : &o);
    heap_fail_at = 0;
    assert_true((o != NULL) == (code == OK));
    net_end(&n);
    return code;
}

static const check value_checks[] = {
    {"operand NULL", IP, 0},
    {"buffer NULL", IP, 0},
    {"length 0", IP, 0},
    {"after finish", IP, 0},
    {"the copy fails", MEMORY, 0},
    END};
static int value(uint32_t broken)
{
    net n;
    int code;
    net_begin(&n, true);
    if (B(3))
        net_finish(&n);
    heap_fail_at = B(4) ? heap_calls + 1 : 0;
    code = NNAdapterModel_setOperandValue(B(0) ? NULL : n.z, B(1) ? NULL : xs, B(2) ? 0 : 24, true);
    heap_fail_at = 0;
    net_end(&n);
    return code;
}

static const check live_type_checks[] = {{"operand NULL", IP, 0}, {"type NULL", IP, 0}, END};
static int live_type(uint32_t broken)
{
    NNAdapterOperandType *type = NULL;
    net n;
    int code;
    net_begin(&n, false);
    code = NNAdapterModel_getOperandType(B(0) ? NULL : n.x, B(1) ? NULL : &type);
    assert_true((type != NULL) == (code == OK));
    net_end(&n);
    return code;
}

static const check operation_checks[] = {
    {"model NULL", IP, 0},
    {"operation NULL", IP, 0},
    {"output_operands NULL", IP, 0},
    {"output_count 0", IP, 0},
    {"input_operands NULL", IP, 0},
    {"after finish", IP, 0},
    {"an output that is NULL", IP, A(2)},
    {"an output with another producer", IP, A(2) | A(5) | A(6)}, /* which Finish would see too late */
    {"no memory", MEMORY, A(6)},
    {"shapes that do not fit", DIMS, A(4) | A(5) | A(8)},
    END};
static int operation(uint32_t broken)
{
    NNAdapterOperandType wide = type23();
    NNAdapterOperation *op = NULL;
    NNAdapterOperand *in[2], *none = NULL;
    net n;
    int code;
    net_begin(&n, B(5) || B(7));
    in[0] = n.x;
    in[1] = n.x;
    wide.dimensions.data[1] = 4;
    if (B(9))
        is(NNAdapterModel_addOperand(n.model, &wide, &in[1]), OK);
    if (B(5))
        net_finish(&n);
    heap_fail_at = B(8) ? heap_calls + 1 : 0;
    code = NNAdapterModel_addOperation(B(0) ? NULL : n.model, NNADAPTER_ADD, 2, B(4) ? NULL : in, B(3) ? 0 : 1,
                                       B(2)   ? NULL
                                       : B(6) ? &none
                                       : B(7) ? &n.y
                                              : &n.z,
                                       B(1) ? NULL : &op);
    heap_fail_at = 0;
    assert_true((op != NULL) == (code == OK));
    net_end(&n);
    return code;
}

static const check identify_checks[] = {
    {"model NULL", IP, 0},
    {"output_operands NULL", IP, 0},
    {"output_count 0", IP, 0},
    {"input_operands NULL", IP, 0},
    {"after finish", IP, 0},
    {"no memory", MEMORY, 0},
    {"no inputs", OK, A(3)},
    END};
static int identify(uint32_t broken)
{
    net n;
    int code;
    net_begin(&n, true);
    if (B(4))
        net_finish(&n);
    heap_fail_at = B(5) ? heap_calls + 1 : 0;
    code = NNAdapterModel_identifyInputsAndOutputs(B(0) ? NULL : n.model, B(6) ? 0 : 1, B(3) || B(6) ? NULL : &n.x,
                                                   B(2) ? 0 : 1, B(1) ? NULL : &n.y);
    heap_fail_at = 0;
    net_end(&n);
    return code;
}

static const check supported_checks[] = {
    {"model NULL", IP, 0},
    {"context NULL", IP, 0},
    {"supported_operations NULL", IP, 0},
    {"a driver without a validate function", NO, 0},
    {"a driver that fails", BROKEN, A(3)},
    END};
static int supported(uint32_t broken)
{
    bool answers[1] = {false};
    net n;
    int code;
    net_compile(&n, B(3)   ? ",without=GetSupportedNodes+GetSupportedOperation"
                    : B(4) ? ",fail=GetSupportedNodes"
                           : "");
    code = NNAdapterModel_getSupportedOperations(B(0) ? NULL : n.model, B(1) ? NULL : n.context, B(2) ? NULL : answers);
    assert_int_equal(answers[0], code == OK);
    net_end(&n);
    return code;
}

/* ---- 2, 4 and 5: compilations ---- */

static const check compile_checks[] = {
    {"context NULL", IP, 0},
    {"compilation NULL", IP, 0},
    {"no memory", MEMORY, 0},
    {"model NULL", OK, 0},
    {"cache_token NULL", OK, 0},
    {"cache_buffer NULL", OK, 0},
    {"cache_dir NULL", OK, 0},
    END};
static int compile(uint32_t broken)
{
    NNAdapterCompilation *c = NULL;
    char buffer[] = "no cache";
    net n;
    int code;
    net_compile(&n, "");
    heap_fail_at = B(2) ? heap_calls + 1 : 0;
    code = NNAdapterCompilation_create(B(3) ? NULL : n.model, B(4) ? NULL : "token", B(5) ? NULL : buffer,
                                       B(5) ? 0 : sizeof(buffer), B(6) ? NULL : "no such folder",
                                       B(0) ? NULL : n.context, B(1) ? NULL : &c);
    heap_fail_at = 0;
    assert_true((c != NULL) == (code == OK));
    NNAdapterCompilation_destroy(c);
    net_end(&n);
    return code;
}

static const check compile_end_checks[] = {{"compilation NULL", DONE, 0}, END};
static int compile_end(uint32_t broken)
{
    net n;
    net_compile(&n, "");
    if (B(0))
        NNAdapterCompilation_destroy(NULL);
    net_end(&n);
    return DONE;
}

static const check compile_finish_checks[] = {
    {"compilation NULL", IP, 0},
    {"a second time", IP, 0},
    {"neither model nor usable cache", IP, A(1)},
    {"an operation that nobody supports", NO, A(1) | A(2)},
    {"the device does not compile it", BROKEN, A(1) | A(2)},
    {"no memory", MEMORY, A(1) | A(2) | A(3) | A(4)},
    END};
static int compile_finish(uint32_t broken)
{
    char buffer[] = "no cache";
    net n;
    int code;
    net_compile(&n, B(3) && B(4) ? ",not=ABS,fail=PrepareModel"
                    : B(3)       ? ",not=ABS"
                    : B(4)       ? ",fail=PrepareModel"
                                 : "");
    if (B(2)) {
        NNAdapterCompilation_destroy(n.compilation);
        is(NNAdapterCompilation_create(NULL, "token", buffer, sizeof(buffer), NULL, n.context, &n.compilation), OK);
    }
    if (B(1))
        is(NNAdapterCompilation_finish(n.compilation), OK);
    heap_fail_at = B(5) ? heap_calls + 1 : 0;
    code = NNAdapterCompilation_finish(B(0) ? NULL : n.compilation);
    heap_fail_at = 0;
    net_end(&n);
    return code;
}

static const check query_checks[] = {
    {"compilation NULL", IP, 0},
    {"input_count NULL", IP, 0},
    {"output_count NULL", IP, 0},
    {"before finish", IP, 0},
    {"input_types NULL", OK, 0},
    {"output_types NULL", OK, 0},
    END};
static int query(uint32_t broken)
{
    NNAdapterOperandType *in[1] = {NULL}, *out[1] = {NULL};
    uint32_t nIn = 99, nOut = 99;
    net n;
    int code;
    net_compile(&n, "");
    if (!B(3))
        is(NNAdapterCompilation_finish(n.compilation), OK);
    code = NNAdapterCompilation_queryInputsAndOutputs(B(0) ? NULL : n.compilation, B(1) ? NULL : &nIn,
                                                      B(4) ? NULL : in, B(2) ? NULL : &nOut, B(5) ? NULL : out);
    assert_true(code == OK ? nIn == 1 && nOut == 1 : nIn == 99 && nOut == 99);
    assert_true((in[0] != NULL) == (code == OK && !B(4)) && (out[0] != NULL) == (code == OK && !B(5)));
    net_end(&n);
    return code;
}

/* ---- 2: executions ---- */

static const check execution_checks[] = {
    {"compilation NULL", IP, 0}, {"execution NULL", IP, 0}, {"before finish", IP, 0}, {"no memory", MEMORY, 0}, END};
static int execution(uint32_t broken)
{
    net n;
    int code;
    net_compile(&n, "");
    if (!B(2))
        is(NNAdapterCompilation_finish(n.compilation), OK);
    heap_fail_at = B(3) ? heap_calls + 1 : 0;
    code = NNAdapterExecution_create(B(0) ? NULL : n.compilation, B(1) ? NULL : &n.execution);
    heap_fail_at = 0;
    assert_true((n.execution != NULL) == (code == OK));
    net_end(&n);
    return code;
}

/* An execution on a device with further options. */
static void net_execute(net *n, const char *options)
{
    net_compile(n, options);
    is(NNAdapterCompilation_finish(n->compilation), OK);
    is(NNAdapterExecution_create(n->compilation, &n->execution), OK);
}

static const check execution_end_checks[] = {{"execution NULL", DONE, 0}, END};
static int execution_end(uint32_t broken)
{
    net n;
    net_execute(&n, "");
    if (B(0))
        NNAdapterExecution_destroy(NULL);
    net_end(&n);
    return DONE;
}

static const check bind_checks[] = {
    {"execution NULL", IP, 0},
    {"index < 0", IP, 0},
    {"index >= count", IP, A(1)},
    {"access NULL", IP, 0},
    {"memory NULL", OK, 0},
    END};
#define set_input_checks bind_checks
#define set_output_checks bind_checks
static int set_input(uint32_t broken)
{
    net n;
    int code;
    net_execute(&n, "");
    code = NNAdapterExecution_setInput(B(0) ? NULL : n.execution, B(1) ? -1 : B(2) ? 1 : 0, B(4) ? NULL : xs,
                                       B(3) ? NULL : give);
    net_end(&n);
    return code;
}

static int set_output(uint32_t broken)
{
    net n;
    int code;
    net_execute(&n, "");
    code = NNAdapterExecution_setOutput(B(0) ? NULL : n.execution, B(1) ? -1 : B(2) ? 1 : 0, B(4) ? NULL : ys,
                                        B(3) ? NULL : take);
    net_end(&n);
    return code;
}

static const check compute_checks[] = {
    {"execution NULL", IP, 0},
    {"an input never set", IP, 0},
    {"an output never set", IP, 0},
    {"a shape that the program cannot take", DIMS, A(1)},
    {"the device fails", BROKEN, 0},
    END};
static int compute(uint32_t broken)
{
    net n;
    int code;
    net_execute(&n, B(4) ? ",fail=RunIn" : "");
    if (!B(1))
        is(NNAdapterExecution_setInput(n.execution, 0, B(3) ? xs : NULL, give), OK);
    if (!B(2))
        is(NNAdapterExecution_setOutput(n.execution, 0, NULL, take), OK);
    code = NNAdapterExecution_compute(B(0) ? NULL : n.execution);
    net_end(&n);
    return code;
}

/* ---- all ---- */

static const row rows[] = {
    ROW(NNAdapter_getVersion, "2", version, OK),
    ROW(NNAdapter_getDeviceCount, "2", devices, OK),
    ROW(NNAdapterDevice_acquire, "2", acquire, OK),
    ROW(NNAdapterDevice_release, "2", release, DONE),
    ROW(NNAdapterDevice_getName, "2", device_name, OK),
    ROW(NNAdapterDevice_getVendor, "2", device_vendor, OK),
    ROW(NNAdapterDevice_getType, "2", device_type, OK),
    ROW(NNAdapterDevice_getVersion, "2", device_version, OK),
    ROW(NNAdapterContext_create, "2 and 3", context, OK),
    ROW(NNAdapterContext_destroy, "2", context_end, DONE),
    ROW(NNAdapterModel_create, "2", model, OK),
    ROW(NNAdapterModel_destroy, "2", model_end, DONE),
    ROW(NNAdapterModel_finish, "2", finish, OK),
    ROW(NNAdapterModel_addOperand, "2", operand, OK),
    ROW(NNAdapterModel_setOperandValue, "2", value, OK),
    ROW(NNAdapterModel_getOperandType, "2", live_type, OK),
    ROW(NNAdapterModel_addOperation, "2", operation, OK),
    ROW(NNAdapterModel_identifyInputsAndOutputs, "2", identify, OK),
    ROW(NNAdapterModel_getSupportedOperations, "2", supported, OK),
    ROW(NNAdapterCompilation_create, "2 and 4", compile, OK),
    ROW(NNAdapterCompilation_destroy, "2", compile_end, DONE),
    ROW(NNAdapterCompilation_finish, "2 and 5", compile_finish, OK),
    ROW(NNAdapterCompilation_queryInputsAndOutputs, "2", query, OK),
    ROW(NNAdapterExecution_create, "2", execution, OK),
    ROW(NNAdapterExecution_destroy, "2", execution_end, DONE),
    ROW(NNAdapterExecution_setInput, "2", set_input, OK),
    ROW(NNAdapterExecution_setOutput, "2", set_output, OK),
    ROW(NNAdapterExecution_compute, "2", compute, OK)};

/* Each function of the header has cases, and one for each pointer that it takes. */
static void every_function(void **state)
{
    (void)state;
    assert_int_equal(
        codes_complete(rows, COUNT(rows), "compat/nnadapter/nnadapter.h", "\nNNRT_NNADAPTER_API "), 28);
}

/* Each code was seen. */
static void every_code(void **state)
{
    (void)state;
    for (int code = OK; code <= NNADAPTER_FEATURE_NOT_SUPPORTED; code++)
        if (!codesSeen[code])
            fail_msg("code %d was not seen", code);
}

/* Section 2: an operation is supported by a context if and only if NNAdapterCompilation_finish succeeds there. All of these
   have float32; the other types are the devices' matter. */
static void one_rule(void **state)
{
    static const char *const names[] = {"builtin_device", "cpu", "auto"};
    static const NNAdapterOperationType operations[] = {NNADAPTER_ABS, NNADAPTER_COS, NNADAPTER_EXP,  NNADAPTER_FLOOR,
                                                        NNADAPTER_LOG, NNADAPTER_SIN, NNADAPTER_SWISH};
    static const NNAdapterOperandPrecisionCode types[] = {NNADAPTER_FLOAT32, NNADAPTER_INT8, NNADAPTER_INT32,
                                                          NNADAPTER_BOOL8, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER};
    (void)state;
    is(nnrt_cpu_register(NULL, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < COUNT(types) * COUNT(operations) * COUNT(names); i++) {
        const char *const name = names[i % COUNT(names)];
        const NNAdapterOperationType operation = operations[i / COUNT(names) % COUNT(operations)];
        NNAdapterOperandType type = type23();
        NNAdapterOperation *op;
        bool answers[1] = {false};
        int code;
        net n;
        memset(&n, 0, sizeof(n));
        type.precision = types[i / COUNT(names) / COUNT(operations)];
        type.symm_per_layer_params.scale = 0.5f;
        is(NNAdapterModel_create(&n.model), OK);
        is(NNAdapterModel_addOperand(n.model, &type, &n.x), OK);
        is(NNAdapterModel_addOperand(n.model, &type, &n.y), OK);
        n.context = context_of(name);
        if ((code = NNAdapterModel_addOperation(n.model, operation, 1, &n.x, 1, &n.y, &op)) == OK) {
            is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, &n.x, 1, &n.y), OK);
            is(NNAdapterModel_getSupportedOperations(n.model, n.context, answers), OK);
            code = NNAdapterModel_finish(n.model);
        }
        if (code == OK) {
            is(NNAdapterCompilation_create(n.model, NULL, NULL, 0, NULL, n.context, &n.compilation), OK);
            code = NNAdapterCompilation_finish(n.compilation);
        }
        if (answers[0] != (code == OK) || (type.precision == NNADAPTER_FLOAT32 && code != OK))
            fail_msg("%s, operation %d of type %d: is%s supported, finish gives %d", name, (int)operation,
                     (int)type.precision, answers[0] ? "" : " not", code);
        net_end(&n);
    }
    is(nnrt_device_unregister("cpu"), NNRT_SUCCESS);
}

int main(void)
{
    static const struct CMUnitTest fixed[] = {cmocka_unit_test(every_function), cmocka_unit_test(every_code),
                                              cmocka_unit_test(one_rule)};
    return codes_run(rows, COUNT(rows), fixed, COUNT(fixed));
}
