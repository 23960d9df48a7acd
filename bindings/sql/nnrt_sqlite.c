/*
nnrt_sqlite.c - a loadable extension of SQLite, which runs neural networks in queries: docs/sql.md.

    cc -shared -fPIC -fvisibility=hidden -O2 -DNNRT_IMPLEMENTATION bindings/sql/nnrt_sqlite.c -o nnrt_sqlite.so -lm
    sqlite> .load ./nnrt_sqlite
    sqlite> SELECT nnrt_argmax('digits.onnx', pixels) FROM scans;

The functions that read files are SQLITE_DIRECTONLY: only statements of the application call them, because a database from
elsewhere could otherwise contain a view or trigger that names a file. They are not SQLITE_DETERMINISTIC, because the file
may change. nnrt_cosine reads none: it is both SQLITE_DETERMINISTIC and SQLITE_INNOCUOUS.

    >>json      arguments that are JSON arrays
    >>calls     the SQL functions
    >>register  the functions of a connection
*/
#define _POSIX_C_SOURCE 200809L

#include <locale.h>
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "nnrt_sql.h"

/* Of a connection. Each of its functions is one reference. */
typedef struct lite_connection {
    sql_cache cache;
    locale_t numbers; /* decimal points, whatever the locale of the application */
    int references;
} lite_connection;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>json */

/* A JSON array, nested as the axes of a tensor. The numbers of all innermost arrays are in `out`. */
typedef struct lite_json {
    const char *at;
    double *out;
    size_t count;
    nnrt_dims shape; /* rank -1: no innermost array so far; dimension -1: no array of this depth has ended */
} lite_json;

static void lite_spaces(lite_json *j)
{
    j->at += strspn(j->at, " \t\r\n");
}

/* A number, true or false. strtod accepts more: names, hexadecimal numbers. */
static bool lite_number(lite_json *j)
{
    const size_t length = strspn(j->at, "+-.0123456789eE");
    const bool yes = strncmp(j->at, "true", 4) == 0, no = strncmp(j->at, "false", 5) == 0;
    char *end;
    if (yes || no) {
        j->out[j->count++] = yes;
        j->at += yes ? 4 : 5;
        return true;
    }
    if (*j->at != '-' && (*j->at < '0' || *j->at > '9'))
        return false;
    j->out[j->count] = strtod(j->at, &end);
    if (end != j->at + length || !isfinite(j->out[j->count]))
        return false;
    j->count++;
    j->at = end;
    return true;
}

/* Parses an array of this depth. False: it is no array of numbers, or arrays of one depth have different lengths. */
static bool lite_array(lite_json *j, int32_t depth)
{
    int32_t n = 0;
    if (depth == NNRT_MAX_RANK || *j->at != '[')
        return false;
    do {
        j->at++;
        lite_spaces(j);
        if (n == 0 && *j->at == ']')
            break;
        if (*j->at == '[') {
            if (!lite_array(j, depth + 1))
                return false;
        } else {
            j->shape.rank = j->shape.rank < 0 ? depth + 1 : j->shape.rank;
            if (j->shape.rank != depth + 1 || !lite_number(j))
                return false;
        }
        n++;
        lite_spaces(j);
    } while (*j->at == ',');
    if (*j->at++ != ']')
        return false;
    j->shape.rank = j->shape.rank < 0 ? depth + 1 : j->shape.rank;
    if (depth >= j->shape.rank || (j->shape.dims[depth] >= 0 && j->shape.dims[depth] != n))
        return false;
    j->shape.dims[depth] = n;
    return true;
}

/* *v = the array in a text. sqlite3_free frees v->data. */
static bool lite_parse(sql_cache *c, const char *text, size_t bytes, sql_value *v)
{
    lite_json j;
    bool good;
    memset(&j, 0xFF, sizeof(j)); /* no dimension is known */
    j.at = text;
    j.count = 0;
    j.out = (double *)sqlite3_malloc64((bytes / 2 + 1) * sizeof(double));
    v->data = j.out;
    if (j.out == NULL)
        return sql_fail(c, NNRT_OUT_OF_MEMORY, "there is not enough memory for an array");
    lite_spaces(&j);
    good = lite_array(&j, 0);
    lite_spaces(&j);
    if (!good || *j.at != '\0') {
        (void)nnrt_error_set(&c->error, NNRT_INVALID_PARAMETER,
                             "an argument is text, and no JSON array of numbers such as [[1,2],[3,4]]: see byte %z",
                             (size_t)(j.at - text));
        return false;
    }
    v->count = j.count;
    v->shape.rank = j.shape.rank;
    memcpy(v->shape.dims, j.shape.dims, (size_t)j.shape.rank * sizeof(int32_t));
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>calls */

/* Fails with a message. SQLite requires UTF-8: bytes that are not, such as a name in a damaged file, become '?'. */
static void lite_fail(sqlite3_context *context, sql_cache *c, const char *path)
{
    (void)sql_message(c, path);
    for (char *at = c->message; *at != '\0';) {
        const unsigned char *const s = (const unsigned char *)at;
        const int n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
        int k = 1;
        while (k < n && s[k] >> 6 == 2)
            k++;
        if (n == 0 || k < n || (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0) ||
            (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] >= 0x90))
            *at++ = '?';
        else
            at += n;
    }
    sqlite3_result_error(context, c->message, -1);
}

/* The arguments of a call. */
typedef struct lite_call {
    sql_value values[SQL_INPUTS];
    double numbers[SQL_INPUTS];
} lite_call;

static bool lite_value(sql_cache *c, sqlite3_value *from, sql_value *v, double *number)
{
    const int type = sqlite3_value_type(from);
    if (type == SQLITE_TEXT) {
        const char *const text = (const char *)sqlite3_value_text(from);
        return text != NULL ? lite_parse(c, text, (size_t)sqlite3_value_bytes(from), v)
                            : sql_fail(c, NNRT_OUT_OF_MEMORY, "there is not enough memory for a text");
    }
    v->bytes = type == SQLITE_BLOB;
    v->shape.rank = v->bytes ? -1 : 0;
    v->data = v->bytes ? sqlite3_value_blob(from) : number;
    v->count = v->bytes ? (size_t)sqlite3_value_bytes(from) : 1;
    *number = v->bytes ? 0 : sqlite3_value_double(from);
    if (type == SQLITE_INTEGER && fabs(*number) >= SQL_EXACT)
        return sql_fail(c, NNRT_INVALID_PARAMETER, "an integer is not below 2^53: pass its bytes as a BLOB");
    return true;
}

/* Runs the model of the first argument. NULL: an error is set. */
static sql_plan *lite_run(sql_cache *c, const char *path, int count, sqlite3_value **arguments)
{
    lite_call *const call = (lite_call *)sqlite3_malloc64(sizeof(*call));
    bool good = call != NULL && count <= SQL_INPUTS;
    sql_plan *p;
    if (!good)
        (void)sql_fail(c, NNRT_OUT_OF_MEMORY, "there is not enough memory for the arguments");
    else
        memset(call, 0, sizeof(*call));
    for (int i = 0; i < count && good; i++)
        good = lite_value(c, arguments[i], &call->values[i], &call->numbers[i]);
    p = good ? sql_run(c, path, call->values, (size_t)count) : NULL;
    for (int i = 0; i < count && call != NULL; i++)
        if (call->values[i].data != &call->numbers[i] && !call->values[i].bytes)
            sqlite3_free((void *)(uintptr_t)call->values[i].data); /* of lite_parse */
    sqlite3_free(call);
    return p;
}

static bool lite_result_text(sqlite3_context *context, sql_cache *c)
{
    if (c->error.code == NNRT_SUCCESS)
        sqlite3_result_text64(context, c->text.data, c->text.used, SQLITE_TRANSIENT, SQLITE_UTF8);
    return c->error.code == NNRT_SUCCESS;
}

static bool lite_result_json(sqlite3_context *context, sql_cache *c, const sql_plan *p)
{
    return sql_put_output(c, p, 0) && lite_result_text(context, c);
}

static bool lite_result_all(sqlite3_context *context, sql_cache *c, const sql_plan *p)
{
    return sql_put_outputs(c, p) && lite_result_text(context, c);
}

static bool lite_result_blob(sqlite3_context *context, sql_cache *c, const sql_plan *p)
{
    (void)c;
    sqlite3_result_blob64(context, p->io[p->nIn].data, nnrt_session_output(p->session, 0).bytes, SQLITE_TRANSIENT);
    return true;
}

static bool lite_result_argmax(sqlite3_context *context, sql_cache *c, const sql_plan *p)
{
    int64_t best;
    if (!sql_argmax(c, p, &best))
        return false;
    sqlite3_result_int64(context, best);
    return true;
}

static bool lite_has_null(int count, sqlite3_value **arguments)
{
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(arguments[i]) == SQLITE_NULL)
            return true;
    return false;
}

/* A call of a function: runs the model unless `result` is NULL, and sets the result, which stays NULL if an argument is. */
static void lite_function(sqlite3_context *context, int count, sqlite3_value **arguments,
                          bool (*result)(sqlite3_context *, sql_cache *, const sql_plan *))
{
    lite_connection *const connection = (lite_connection *)sqlite3_user_data(context);
    sql_cache *const c = &connection->cache;
    const char *path = NULL;
    const sql_plan *p = NULL;
    const char *info = NULL;
    locale_t before;
    if (lite_has_null(count, arguments))
        return;
    before = uselocale(connection->numbers);
    nnrt_error_clear(&c->error);
    if (count > 0 && sqlite3_value_type(arguments[0]) == SQLITE_TEXT)
        path = (const char *)sqlite3_value_text(arguments[0]);
    if (path == NULL)
        (void)sql_fail(c, NNRT_INVALID_PARAMETER, "the first argument is the path of a model, a text");
    else if (result == NULL)
        info = sql_info(c, path);
    else
        p = lite_run(c, path, count - 1, arguments + 1);
    if (info != NULL)
        sqlite3_result_text(context, info, -1, SQLITE_TRANSIENT);
    else if (p == NULL || !result(context, c, p))
        lite_fail(context, c, path != NULL ? path : "nnrt");
    (void)uselocale(before);
}

#define LITE_FUNCTION(name, result)                                                                                    \
    static void name(sqlite3_context *context, int count, sqlite3_value **arguments)                                   \
    {                                                                                                                  \
        lite_function(context, count, arguments, result);                                                              \
    }
LITE_FUNCTION(lite_nnrt_run, lite_result_json)
LITE_FUNCTION(lite_nnrt_run_all, lite_result_all)
LITE_FUNCTION(lite_nnrt_run_blob, lite_result_blob)
LITE_FUNCTION(lite_nnrt_argmax, lite_result_argmax)
LITE_FUNCTION(lite_nnrt_info, NULL)

/* nnrt_embed(model, text [, tokenizer]): the vector of a text, a BLOB. */
static void lite_nnrt_embed(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    lite_connection *const connection = (lite_connection *)sqlite3_user_data(context);
    sql_cache *const c = &connection->cache;
    const char *texts[3] = {NULL, NULL, NULL};
    const sql_model *m = NULL;
    bool good = count == 2 || count == 3;
    locale_t before;
    if (lite_has_null(count, arguments))
        return;
    before = uselocale(connection->numbers);
    nnrt_error_clear(&c->error);
    for (int i = 0; i < count && good; i++) {
        good = sqlite3_value_type(arguments[i]) == SQLITE_TEXT;
        texts[i] = good ? (const char *)sqlite3_value_text(arguments[i]) : NULL;
        good = texts[i] != NULL;
    }
    if (good)
        m = sql_embed(c, texts[0], texts[2], texts[1], (size_t)sqlite3_value_bytes(arguments[1]));
    else
        (void)sql_fail(c, NNRT_INVALID_PARAMETER,
                       "the arguments are texts: the path of a model, a text, and the path of a tokenizer unless the model "
                       "has one");
    if (m != NULL)
        sqlite3_result_blob64(context, m->vector, m->encoder.width * sizeof(float), SQLITE_TRANSIENT);
    else
        lite_fail(context, c, good ? texts[0] : "nnrt_embed");
    (void)uselocale(before);
}

/* nnrt_cosine(a, b): of two BLOBs of float32; NULL if one is zero. */
static void lite_nnrt_cosine(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    const void *a, *b;
    int bytes;
    if (lite_has_null(count, arguments))
        return;
    a = sqlite3_value_blob(arguments[0]);
    b = sqlite3_value_blob(arguments[1]);
    bytes = sqlite3_value_bytes(arguments[0]);
    if (sqlite3_value_type(arguments[0]) != SQLITE_BLOB || sqlite3_value_type(arguments[1]) != SQLITE_BLOB ||
        bytes != sqlite3_value_bytes(arguments[1]) || bytes % (int)sizeof(float) != 0)
        sqlite3_result_error(context, "nnrt_cosine: the arguments must be BLOBs of the same number of float32 elements", -1);
    else
        sqlite3_result_double(context, sql_cosine(a, b, (size_t)bytes / sizeof(float))); /* NaN becomes NULL */
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>register */

/* SQLite calls it for each function that it drops, and for one that it could not register. */
static void lite_destroy(void *user)
{
    lite_connection *const connection = (lite_connection *)user;
    if (--connection->references > 0)
        return;
    sql_models_drop(&connection->cache, &connection->cache.models);
    sql_text_drop(&connection->cache);
    if (connection->numbers != (locale_t)0)
        freelocale(connection->numbers);
    sqlite3_free(connection);
}

__attribute__((visibility("default"))) int sqlite3_nnrtsqlite_init(sqlite3 *db, char **message,
                                                                   const sqlite3_api_routines *api)
{
    static const struct {
        const char *name;
        int arguments; /* -1: any number */
        int flags;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {{"nnrt_run", -1, SQLITE_DIRECTONLY, lite_nnrt_run},
                     {"nnrt_run_all", -1, SQLITE_DIRECTONLY, lite_nnrt_run_all},
                     {"nnrt_run_blob", -1, SQLITE_DIRECTONLY, lite_nnrt_run_blob},
                     {"nnrt_argmax", -1, SQLITE_DIRECTONLY, lite_nnrt_argmax},
                     {"nnrt_info", 1, SQLITE_DIRECTONLY, lite_nnrt_info},
                     {"nnrt_embed", -1, SQLITE_DIRECTONLY, lite_nnrt_embed},
                     {"nnrt_cosine", 2, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, lite_nnrt_cosine}};
    lite_connection *connection;
    int code = SQLITE_OK;
    SQLITE_EXTENSION_INIT2(api);
    (void)message;
    if ((connection = (lite_connection *)sqlite3_malloc64(sizeof(*connection))) == NULL)
        return SQLITE_NOMEM;
    sql_init(&connection->cache);
    connection->references = 1;
    if ((connection->numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0)) == (locale_t)0)
        code = SQLITE_NOMEM;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && code == SQLITE_OK; i++) {
        connection->references++;
        code = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments, SQLITE_UTF8 | functions[i].flags,
                                          connection, functions[i].call, NULL, NULL, lite_destroy);
    }
    lite_destroy(connection);
    return code;
}
