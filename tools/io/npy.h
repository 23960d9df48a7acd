/*
npy.h - tensor files: reads and writes numpy's .npy, reads the TensorProto files of ONNX test data.
Part of tools/nnrt.c; the format is numpy's NEP 1: magic, version, length, a Python dictionary as text, the elements.

    >>npy    numpy's files
    >>pb     TensorProto
*/
#ifndef NNRT_TOOL_NPY_H
#define NNRT_TOOL_NPY_H

#include "../../formats/nnrt_onnx.h"
#include "files.h"
#include "tensor.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>npy */

/* numpy's type letters; the size selects among types of one letter. */
static const struct {
    char kind;
    NNRT_DataType type;
} cli_npy_types[] = {{'b', NNRT_DATA_TYPE_BOOL},    {'i', NNRT_DATA_TYPE_INT8},    {'i', NNRT_DATA_TYPE_INT16},
                     {'i', NNRT_DATA_TYPE_INT32},   {'i', NNRT_DATA_TYPE_INT64},   {'u', NNRT_DATA_TYPE_UINT8},
                     {'u', NNRT_DATA_TYPE_UINT16},  {'u', NNRT_DATA_TYPE_UINT32},  {'u', NNRT_DATA_TYPE_UINT64},
                     {'f', NNRT_DATA_TYPE_FLOAT16}, {'f', NNRT_DATA_TYPE_FLOAT32}, {'f', NNRT_DATA_TYPE_FLOAT64}};

#define CLI_NPY_TYPES (sizeof(cli_npy_types) / sizeof(cli_npy_types[0]))

/* Parsed header dictionary of a .npy file, and the text still to parse. */
typedef struct cli_npy_head {
    const char *at, *end;
    NNRT_DataType type;
    bool swapped, fortran, hasType, hasOrder, hasShape;
    nnrt_dims shape;
} cli_npy_head;

/* Skips blanks; true if the next character is c, which is then consumed. */
static bool cli_npy_take(cli_npy_head *h, char c)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t' || *h->at == '\r'))
        h->at++;
    if (h->at == h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

/* Consumes the word if it is next. */
static bool cli_npy_word(cli_npy_head *h, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0)
        return false;
    h->at += n;
    return true;
}

/* Parses a quoted string of at most size - 1 characters, without escapes. */
static bool cli_npy_text(cli_npy_head *h, char *out, size_t size)
{
    char quote = cli_npy_take(h, '\'') ? '\'' : cli_npy_take(h, '"') ? '"' : '\0';
    size_t n = 0;
    while (quote != '\0' && h->at < h->end && *h->at != quote) {
        if (n + 1 >= size || *h->at == '\\')
            return false;
        out[n++] = *h->at++;
    }
    out[n] = '\0';
    return quote != '\0' && cli_npy_take(h, quote);
}

/* '<f4': byte order, kind, bytes. */
static bool cli_npy_type(cli_npy_head *h)
{
    char text[16];
    if (!cli_npy_text(h, text, sizeof(text)) || strchr("<>|=", text[0]) == NULL || strlen(text) != 3)
        return false;
    for (size_t i = 0; i < CLI_NPY_TYPES; i++)
        if (cli_npy_types[i].kind == text[1] && nnrt_type_size(cli_npy_types[i].type) == (size_t)(text[2] - '0'))
            h->type = cli_npy_types[i].type;
    h->swapped = text[0] == (cli_little_endian() ? '>' : '<') && text[2] != '1';
    h->hasType = h->type != NNRT_DATA_TYPE_UNKNOWN && !(text[0] == '|' && text[2] != '1');
    return h->hasType;
}

/* (1, 28, 28) with an optional comma after the last dimension, and Python 2's L after a number. */
static bool cli_npy_shape(cli_npy_head *h)
{
    h->shape.rank = 0;
    h->hasShape = cli_npy_take(h, '(');
    if (!h->hasShape)
        return false;
    while (!cli_npy_take(h, ')')) {
        const char *first = h->at;
        int64_t extent = 0;
        for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
            if ((extent = extent * 10 + (*h->at - '0')) > INT32_MAX)
                return false;
        if (h->at == first || h->shape.rank == NNRT_MAX_RANK)
            return false;
        h->shape.dims[h->shape.rank++] = (int32_t)extent;
        (void)cli_npy_word(h, "L");
        if (!cli_npy_take(h, ','))
            return cli_npy_take(h, ')');
    }
    return true;
}

/* The dictionary: descr, fortran_order and shape, in any order. */
static const char *cli_npy_dictionary(cli_npy_head *h)
{
    char key[32];
    if (!cli_npy_take(h, '{'))
        return "its header is not a dictionary";
    while (!cli_npy_take(h, '}')) {
        if (!cli_npy_text(h, key, sizeof(key)) || !cli_npy_take(h, ':'))
            return "its header is damaged";
        (void)cli_npy_take(h, ' ');
        if (strcmp(key, "descr") == 0) {
            if (!cli_npy_type(h))
                return "its element type is not one of bool, i1 to i8, u1 to u8, f2, f4, f8";
        } else if (strcmp(key, "fortran_order") == 0) {
            h->fortran = cli_npy_word(h, "True");
            if (!h->fortran && !cli_npy_word(h, "False"))
                return "its header is damaged: fortran_order is neither True nor False";
            h->hasOrder = true;
        } else if (strcmp(key, "shape") != 0) {
            return "its header has a key other than descr, fortran_order, shape";
        } else if (!cli_npy_shape(h)) {
            return "its shape is damaged, has more than 8 axes or a dimension above 2147483647";
        }
        if (!cli_npy_take(h, ',') && (h->at == h->end || *h->at != '}'))
            return "its header is damaged";
    }
    return h->hasType && h->hasOrder && h->hasShape ? NULL : "its header lacks descr, fortran_order or shape";
}

/* Reverses the bytes of each element. */
static void cli_swap_elements(uint8_t *data, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++, data += size)
        for (size_t k = 0; k < size / 2; k++) {
            uint8_t b = data[k];
            data[k] = data[size - 1 - k];
            data[size - 1 - k] = b;
        }
}

/* Copies elements in Fortran order (first axis fastest) to t, which is in C order. */
static void cli_from_fortran(cli_tensor *t, const uint8_t *from)
{
    size_t size = nnrt_type_size(t->type), strides[NNRT_MAX_RANK], stride = 1;
    int32_t at[NNRT_MAX_RANK] = {0};
    for (int32_t k = 0; k < t->shape.rank; k++) {
        strides[k] = stride;
        stride *= (size_t)t->shape.dims[k];
    }
    for (size_t i = 0; i < t->count; i++) {
        size_t source = 0;
        for (int32_t k = 0; k < t->shape.rank; k++)
            source += (size_t)at[k] * strides[k];
        memcpy((uint8_t *)t->data + i * size, from + source * size, size);
        for (int32_t k = t->shape.rank - 1; k >= 0 && ++at[k] == t->shape.dims[k]; k--)
            at[k] = 0;
    }
}

/* Finds the dictionary in the file's first bytes; offset is where the elements start. */
static const char *cli_npy_locate(const cli_bytes *file, cli_npy_head *h, size_t *offset)
{
    const uint8_t *d = file->data;
    size_t start, length;
    if (file->size < 10 || d[6] < 1 || d[6] > 3)
        return "its version is not 1, 2 or 3";
    start = d[6] == 1 ? 10 : 12;
    if (file->size < start)
        return "it ends inside the header";
    length = (size_t)d[8] | (size_t)d[9] << 8;
    if (d[6] > 1)
        length |= (size_t)d[10] << 16 | (size_t)d[11] << 24;
    if (length > file->size - start)
        return "it ends inside the header";
    memset(h, 0, sizeof(*h));
    h->at = (const char *)d + start;
    h->end = h->at + length;
    *offset = start + length;
    return cli_npy_dictionary(h);
}

static bool cli_is_npy(const cli_bytes *file)
{
    return file->size >= 6 && memcmp(file->data, "\x93NUMPY", 6) == 0;
}

/* Parses a .npy file in memory: C or Fortran order, either byte order, versions 1 to 3. */
static int cli_npy_read(const cli_bytes *file, const char *path, cli_tensor *t)
{
    cli_npy_head h;
    size_t offset = 0, bytes;
    const char *fault = cli_npy_locate(file, &h, &offset);
    memset(t, 0, sizeof(*t));
    if (fault != NULL)
        return cli_fail("cannot use %s: %s", path, fault);
    if (!nnrt_dims_bytes(h.shape.dims, h.shape.rank, h.type, &bytes) || file->size - offset != bytes)
        return cli_fail("cannot use %s: its %.0f bytes of elements do not match its shape and type", path,
                        (double)(file->size - offset));
    if (cli_tensor_make(t, h.type, &h.shape, path) != CLI_DONE)
        return CLI_FAILED;
    if (h.fortran)
        cli_from_fortran(t, file->data + offset);
    else
        memcpy(t->data, file->data + offset, t->bytes);
    if (h.swapped)
        cli_swap_elements((uint8_t *)t->data, t->count, nnrt_type_size(t->type));
    return CLI_DONE;
}

#define CLI_NPY_START 65546 /* bytes: of the longest head of version 1 */

/* Opens a .npy file in C order whose head is that of its size; *at: where the elements start. NULL: it is none. */
static FILE *cli_npy_open(const char *path, cli_npy_head *h, size_t *at)
{
    FILE *f = fopen(path, "rb");
    cli_bytes start;
    size_t bytes = 0;
    bool good;
    start.size = 0;
    start.data = (uint8_t *)malloc(CLI_NPY_START);
    if (f != NULL && start.data != NULL)
        start.size = fread(start.data, 1, CLI_NPY_START, f);
    good = cli_is_npy(&start) && cli_npy_locate(&start, h, at) == NULL && !h->fortran &&
           nnrt_dims_bytes(h->shape.dims, h->shape.rank, h->type, &bytes) && bytes <= (size_t)LONG_MAX - *at &&
           fseek(f, 0, SEEK_END) == 0 && ftell(f) == (long)(*at + bytes);
    free(start.data);
    if (f != NULL && !good)
        fclose(f);
    return good ? f : NULL;
}

/* Reads entries [from, from + count) along the first axis of a .npy file, without the memory for all; *whole: the shape of
   all. count 0: only the shape. False: the file must be read whole, which also reports its faults. */
static bool cli_npy_read_part(const char *path, int32_t from, int32_t count, nnrt_dims *whole, cli_tensor *t)
{
    cli_npy_head h;
    size_t at;
    FILE *f = cli_npy_open(path, &h, &at);
    bool good = f != NULL && h.shape.rank > 0 && count <= h.shape.dims[0] - from;
    memset(t, 0, sizeof(*t));
    if (good) {
        *whole = h.shape;
        h.shape.dims[0] = count;
    }
    if (good && count > 0)
        good = cli_note_read(path) == CLI_DONE && cli_tensor_make(t, h.type, &h.shape, path) == CLI_DONE &&
               fseek(f, (long)(at + t->bytes / (size_t)count * (size_t)from), SEEK_SET) == 0 &&
               fread(t->data, 1, t->bytes, f) == t->bytes;
    if (good && count > 0 && h.swapped)
        cli_swap_elements((uint8_t *)t->data, t->count, nnrt_type_size(t->type));
    if (!good)
        cli_tensor_free(t);
    if (f != NULL)
        fclose(f);
    return good;
}

/* Writes the head of a .npy file of version 1, axes in C order, bytes in the machine's order. */
static bool cli_npy_put_head(FILE *f, NNRT_DataType type, const nnrt_dims *dims)
{
    char head[256], shape[CLI_SHAPE_BYTES] = "", name[4] = "|b1";
    size_t at = 0, used;
    for (size_t i = 0; i < CLI_NPY_TYPES; i++)
        if (cli_npy_types[i].type == type) {
            name[0] = nnrt_type_size(type) == 1 ? '|' : cli_little_endian() ? '<' : '>';
            name[1] = cli_npy_types[i].kind;
            name[2] = (char)('0' + nnrt_type_size(type));
        }
    for (int32_t k = 0; k < dims->rank; k++)
        at += nnrt_text(shape + at, sizeof(shape) - at, "%s%d%s", k > 0 ? ", " : "", dims->dims[k], dims->rank == 1 ? "," : "");
    used = 10 + nnrt_text(head + 10, sizeof(head) - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                          name, shape);
    while (used % 64 != 63)
        head[used++] = ' ';
    head[used++] = '\n';
    memcpy(head, "\x93NUMPY\x01\x00", 8); /* NOLINT(bugprone-not-null-terminated-result): bytes, no text */
    head[8] = (char)((used - 10) & 0xFF);
    head[9] = (char)((used - 10) >> 8);
    return fwrite(head, 1, used, f) == used;
}

/* Writes t as a .npy file. */
static int cli_npy_write(const char *path, const cli_tensor *t)
{
    cli_out out;
    if (cli_out_open(&out, path, false) != CLI_DONE)
        return CLI_FAILED;
    return cli_out_close(&out, cli_npy_put_head(out.f, t->type, &t->shape) && fwrite(t->data, 1, t->bytes, out.f) == t->bytes);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>pb */

/* Parses a TensorProto in memory. name (may be NULL) receives the tensor's name, "" if it has none or one of more than
   size - 1 characters. */
static int cli_pb_read(const cli_bytes *file, const char *path, cli_tensor *t, char *name, size_t size)
{
    nnrt_onnx_tensor *proto = NULL;
    nnrt_error error;
    nnrt_dims shape;
    NNRT_DataType type;
    size_t bytes = 0;
    int status = CLI_FAILED;
    memset(&error, 0, sizeof(error));
    memset(&shape, 0, sizeof(shape));
    memset(t, 0, sizeof(*t));
    if (nnrt_onnx_parse_tensor(file->data, file->size, NULL, &proto, &error) != NNRT_SUCCESS)
        return cli_fail("cannot use %s: %s", path, error.message);
    type = nnrt_onnx_data_type(proto->dataType);
    for (size_t i = 0; i < proto->dims.count && i < NNRT_MAX_RANK && proto->dims.data[i] <= INT32_MAX; i++)
        shape.dims[shape.rank++] = (int32_t)proto->dims.data[i];
    if (type == NNRT_DATA_TYPE_UNKNOWN)
        cli_fail("cannot use %s: ONNX element type %d is not supported", path, (int)proto->dataType);
    else if ((size_t)shape.rank != proto->dims.count)
        cli_fail("cannot use %s: it has more than %d axes or a dimension above 2147483647", path, NNRT_MAX_RANK);
    else if (!nnrt_dims_bytes(shape.dims, shape.rank, type, &bytes) || bytes / 8 > file->size)
        cli_fail("cannot use %s: it has fewer elements than its dims require", path); /* 2 bits or more each */
    else
        status = cli_tensor_make(t, type, &shape, path);
    if (status == CLI_DONE && nnrt_onnx_tensor_elements(proto, t->data, t->bytes, &error) != NNRT_SUCCESS) {
        status = cli_fail("cannot use %s: %s", path, error.message);
        cli_tensor_free(t);
    }
    if (name != NULL) {
        size_t n = proto->name.length < size ? proto->name.length : 0;
        if (n > 0)
            memcpy(name, proto->name.data, n);
        name[n] = '\0';
    }
    nnrt_onnx_tensor_free(proto);
    return status;
}

/* Reads a .npy file or a TensorProto; *name as in cli_pb_read, "" for a .npy file. */
static int cli_tensor_read(const char *path, cli_tensor *t, char *name, size_t size)
{
    cli_bytes file;
    int status = cli_read_file(path, &file);
    if (status != CLI_DONE)
        return status;
    *name = '\0';
    if (cli_is_npy(&file))
        status = cli_npy_read(&file, path, t);
    else if (cli_ends_with(path, ".npy"))
        status = cli_fail("cannot use %s: it does not begin as a .npy file of numpy", path);
    else
        status = cli_pb_read(&file, path, t, name, size);
    free(file.data);
    return status;
}

#endif /* NNRT_TOOL_NPY_H */
