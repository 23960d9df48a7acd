/*
nnrt_postgres.c - an extension of PostgreSQL 13 and later, which runs neural networks in queries: docs/sql.md.

Models are files of the server: the caller needs the privileges of the role pg_read_server_files. Each server process keeps
its own models. nnrt never calls PostgreSQL, except for the callback of a step, which only looks whether the query was
cancelled: so no longjmp leaves nnrt. Blocks of nnrt belong to pg_cache, which stays valid if PostgreSQL reports an error
later; everything else is palloc'ed.

    >>values   arguments
    >>calls    the model, permissions, cancelling
    >>results  the SQL functions
    >>module   settings
*/
#define _POSIX_C_SOURCE 200809L

#include <postgres.h>

#include <catalog/pg_authid.h>
#include <catalog/pg_type.h>
#include <fmgr.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/acl.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/guc.h>
#include <utils/jsonb.h>
#include <utils/lsyscache.h>

#include "nnrt_sql.h"

#if PG_VERSION_NUM < 140000
#define ROLE_PG_READ_SERVER_FILES DEFAULT_ROLE_READ_SERVER_FILES
#endif

PG_MODULE_MAGIC;

void _PG_init(void);

static sql_cache pg_cache;
static int pg_memory = NNRT_SQL_MEMORY; /* the setting nnrt.memory, in MB */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>values */

/* Reports an error with a sentence of nnrt, which may have names of a model file in any encoding. */
static void pg_fail(int state, const char *message, const char *hint) pg_attribute_noreturn();

static void pg_fail(int state, const char *message, const char *hint)
{
    char *const text = pstrdup(message);
    if (!pg_verify_mbstr(PG_UTF8, text, (int)strlen(text), true))
        for (char *at = text; *at != '\0'; at++)
            *at = (unsigned char)*at < 128 ? *at : '?';
    ereport(ERROR, (errcode(state), errmsg("%s", pg_any_to_server(text, (int)strlen(text), PG_UTF8)),
                    hint != NULL ? errhint("%s", hint) : 0));
}

/* The type of the elements of an array, whose memory is that of a tensor. */
static NNRT_DataType pg_type(Oid type)
{
    switch (type) {
    case BOOLOID: return NNRT_DATA_TYPE_BOOL;
    case INT2OID: return NNRT_DATA_TYPE_INT16;
    case INT4OID: return NNRT_DATA_TYPE_INT32;
    case INT8OID: return NNRT_DATA_TYPE_INT64;
    case FLOAT4OID: return NNRT_DATA_TYPE_FLOAT32;
    case FLOAT8OID: return NNRT_DATA_TYPE_FLOAT64;
    default:
        pg_fail(ERRCODE_DATATYPE_MISMATCH, psprintf("nnrt: an argument has the type %s", format_type_be(type)),
                "Pass bytea, a number, or an array of numbers: real, double precision, smallint, integer, bigint or "
                "boolean.");
    }
}

static void pg_array_value(ArrayType *array, sql_value *v)
{
    const NNRT_DataType type = pg_type(ARR_ELEMTYPE(array));
    const int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    const char *const data = (const char *)array + ARR_OVERHEAD_NONULLS((Size)ARR_NDIM(array));
    double *const numbers = (double *)palloc_extended(((Size)count + 1) * sizeof(double), MCXT_ALLOC_HUGE);
    if (array_contains_nulls(array))
        pg_fail(ERRCODE_NULL_VALUE_NOT_ALLOWED, "nnrt: an element of an array is NULL", NULL);
    for (int i = 0; i < count; i++) {
        numbers[i] = sql_load(type, data, (size_t)i);
        if (type == NNRT_DATA_TYPE_INT64 && fabs(numbers[i]) >= SQL_EXACT)
            pg_fail(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "nnrt: an integer is not below 2^53",
                    "Pass its bytes as bytea.");
    }
    v->data = numbers;
    v->count = (size_t)count;
    v->shape.rank = count > 0 ? ARR_NDIM(array) : 1;
    for (int k = 0; k < ARR_NDIM(array); k++)
        v->shape.dims[k] = ARR_DIMS(array)[k];
}

/* A number as an array of one element. */
static ArrayType *pg_array_of(Oid type, Datum value)
{
    int16 size;
    bool byValue;
    char align;
    get_typlenbyvalalign(type, &size, &byValue, &align);
    return construct_array(&value, 1, type, size, byValue, align);
}

static void pg_value(Oid type, Datum value, sql_value *v)
{
    if (type == BYTEAOID) {
        const bytea *const bytes = DatumGetByteaPP(value);
        v->bytes = true;
        v->data = VARDATA_ANY(bytes);
        v->count = VARSIZE_ANY_EXHDR(bytes);
        v->shape.rank = -1;
    } else if (OidIsValid(get_element_type(type))) {
        pg_array_value(DatumGetArrayTypeP(value), v);
    } else {
        (void)pg_type(type);
        pg_array_value(pg_array_of(type, value), v);
        v->shape.rank = 0;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>calls */

static void pg_fail_call(const char *path) pg_attribute_noreturn();

static void pg_fail_call(const char *path)
{
    static const struct {
        NNRT_ReturnCode code;
        int state;
    } states[] = {
        {NNRT_OUT_OF_MEMORY, ERRCODE_OUT_OF_MEMORY},         {NNRT_INVALID_PATH, ERRCODE_UNDEFINED_FILE},
        {NNRT_INVALID_SHAPE, ERRCODE_ARRAY_SUBSCRIPT_ERROR}, {NNRT_INVALID_PARAMETER, ERRCODE_INVALID_PARAMETER_VALUE},
        {NNRT_INVALID_DATATYPE, ERRCODE_DATATYPE_MISMATCH},  {NNRT_NOT_SUPPORT, ERRCODE_FEATURE_NOT_SUPPORTED},
        {NNRT_UNSUPPORTED_OP, ERRCODE_FEATURE_NOT_SUPPORTED}};
    int state = ERRCODE_EXTERNAL_ROUTINE_EXCEPTION;
    for (size_t i = 0; i < lengthof(states); i++)
        if (states[i].code == pg_cache.error.code)
            state = states[i].state;
    CHECK_FOR_INTERRUPTS(); /* the reason why a run was cancelled */
    pg_fail(state, sql_message(&pg_cache, path),
            state == ERRCODE_OUT_OF_MEMORY ? "A superuser can raise the setting nnrt.memory." : NULL);
}

/* The path of a model, after the check of permissions. */
static char *pg_path(FunctionCallInfo fcinfo)
{
    if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
        pg_fail(
            ERRCODE_INSUFFICIENT_PRIVILEGE, "nnrt: permission denied to read a model file of the server",
            "Only roles with privileges of pg_read_server_files may: see SECURITY DEFINER in docs/sql.md for others.");
    pg_cache.limit = (size_t)pg_memory << 20;
    return text_to_cstring(PG_GETARG_TEXT_PP(0));
}

/* Runs the model of argument 0 with the other arguments. */
static const sql_plan *pg_run(FunctionCallInfo fcinfo)
{
    const char *const path = pg_path(fcinfo);
    const int count = PG_NARGS() - 1;
    sql_value values[SQL_INPUTS] = {{0}};
    const sql_plan *p;
    if (get_fn_expr_variadic(fcinfo->flinfo) || count > SQL_INPUTS)
        pg_fail(ERRCODE_FEATURE_NOT_SUPPORTED, "nnrt: pass one argument for each input, without VARIADIC", NULL);
    for (int i = 0; i < count; i++)
        pg_value(get_fn_expr_argtype(fcinfo->flinfo, i + 1), PG_GETARG_DATUM(i + 1), &values[i]);
    if ((p = sql_run(&pg_cache, path, values, (size_t)count)) == NULL)
        pg_fail_call(path);
    CHECK_FOR_INTERRUPTS();
    return p;
}

/* Cancels the run if PostgreSQL wants to interrupt the query. The caller of nnrt_run then lets it. */
static void pg_step(void *user, const nnrt_profile_step *step)
{
    const sql_cache *const c = (const sql_cache *)user;
    (void)step;
    if ((QueryCancelPending || ProcDiePending) && c->running != NULL)
        (void)nnrt_session_cancel(c->running);
}

static uint64_t pg_clock(void *user)
{
    (void)user;
    return 0; /* nobody reads the times */
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>results */

#define PG_FUNCTION(name)                                                                                              \
    PGDLLEXPORT Datum pg_##name(PG_FUNCTION_ARGS);                                                                     \
    PG_FUNCTION_INFO_V1(pg_##name);                                                                                    \
    Datum pg_##name(PG_FUNCTION_ARGS)

static Datum pg_jsonb(const char *text, size_t bytes)
{
    char *const server = pg_any_to_server(pnstrdup(text, bytes), (int)bytes, PG_UTF8);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(server));
}

/* Whether a real holds an element exactly, which sql_load rounds from 2^53 on. */
static bool pg_is_real(NNRT_DataType type, double v)
{
    if (!isfinite(v))
        return true;
    return fabs(v) <= (double)FLT_MAX && (double)(float)v == v && (sql_is_float(type) || fabs(v) < SQL_EXACT);
}

/* A real[] holds the elements exactly, or the function fails. */
PG_FUNCTION(nnrt_run)
{
    const sql_plan *const p = pg_run(fcinfo);
    nnrt_io_info info;
    size_t count;
    const void *const data = sql_output(p, 0, &info, &count);
    Datum *const elements = (Datum *)palloc_extended((count + 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
    for (size_t i = 0; i < count; i++) {
        const double v = sql_load(info.dataType, data, i);
        if (!pg_is_real(info.dataType, v))
            pg_fail(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                    psprintf("nnrt: element %zu of the output, a %s, is no real", i, nnrt_type_name(info.dataType)),
                    "nnrt_run_all and nnrt_run_bytea return it without loss.");
        elements[i] = Float4GetDatum((float)v);
    }
    PG_RETURN_ARRAYTYPE_P(construct_array(elements, (int)count, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
}

PG_FUNCTION(nnrt_run_bytea)
{
    const sql_plan *const p = pg_run(fcinfo);
    const size_t bytes = nnrt_session_output(p->session, 0).bytes;
    bytea *const out = (bytea *)palloc(bytes + VARHDRSZ);
    SET_VARSIZE(out, bytes + VARHDRSZ);
    if (bytes > 0)
        memcpy(VARDATA(out), p->io[p->nIn].data, bytes);
    PG_RETURN_BYTEA_P(out);
}

PG_FUNCTION(nnrt_run_all)
{
    if (!sql_put_outputs(&pg_cache, pg_run(fcinfo)))
        pg_fail_call("nnrt_run_all");
    return pg_jsonb(pg_cache.text.data, pg_cache.text.used);
}

PG_FUNCTION(nnrt_argmax)
{
    int64_t best;
    if (!sql_argmax(&pg_cache, pg_run(fcinfo), &best))
        pg_fail_call("nnrt_argmax");
    PG_RETURN_INT64(best);
}

/* nnrt_embed(model, text [, tokenizer]) */
PG_FUNCTION(nnrt_embed)
{
    const char *const path = pg_path(fcinfo);
    const char *const words = PG_NARGS() > 2 ? text_to_cstring(PG_GETARG_TEXT_PP(2)) : NULL;
    char *const server = text_to_cstring(PG_GETARG_TEXT_PP(1));
    const char *const text = pg_server_to_any(server, (int)strlen(server), PG_UTF8);
    const sql_model *const m = sql_embed(&pg_cache, path, words, text, strlen(text));
    Datum *elements;
    if (m == NULL)
        pg_fail_call(path);
    CHECK_FOR_INTERRUPTS();
    elements = (Datum *)palloc((m->encoder.width + 1) * sizeof(Datum));
    for (uint32_t i = 0; i < m->encoder.width; i++)
        elements[i] = Float4GetDatum(m->vector[i]);
    PG_RETURN_ARRAYTYPE_P(construct_array(elements, (int)m->encoder.width, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
}

/* The elements of a real[] without NULL. */
static const void *pg_reals(ArrayType *array, int *count)
{
    if (array_contains_nulls(array))
        pg_fail(ERRCODE_NULL_VALUE_NOT_ALLOWED, "nnrt: an element of an array is NULL", NULL);
    *count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    return (const char *)array + ARR_OVERHEAD_NONULLS((Size)ARR_NDIM(array));
}

PG_FUNCTION(nnrt_cosine)
{
    int counts[2];
    const void *const a = pg_reals(PG_GETARG_ARRAYTYPE_P(0), &counts[0]);
    const void *const b = pg_reals(PG_GETARG_ARRAYTYPE_P(1), &counts[1]);
    double cosine;
    if (counts[0] != counts[1])
        pg_fail(ERRCODE_ARRAY_SUBSCRIPT_ERROR,
                psprintf("nnrt_cosine: the vectors have %d and %d elements", counts[0], counts[1]), NULL);
    cosine = sql_cosine(a, b, (size_t)counts[0]);
    if (isnan(cosine))
        PG_RETURN_NULL();
    PG_RETURN_FLOAT8(cosine);
}

PG_FUNCTION(nnrt_info)
{
    const char *const path = pg_path(fcinfo);
    const char *const info = sql_info(&pg_cache, path);
    if (info == NULL)
        pg_fail_call(path);
    return pg_jsonb(info, strlen(info));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>module */

PGDLLEXPORT void _PG_init(void)
{
    static const nnrt_profile profile = {pg_step, pg_clock, &pg_cache};
    sql_init(&pg_cache);
    pg_cache.profile = &profile;
    DefineCustomIntVariable("nnrt.memory", "Memory of all models of a server process.", NULL, &pg_memory,
                            NNRT_SQL_MEMORY, 1, 1 << 20, PGC_SUSET, GUC_UNIT_MB, NULL, NULL, NULL);
}
