/*
npy.h - tensor files: reads and writes numpy's .npy, reads the TensorProto files of ONNX test data.
Part of tools/nnrt.c; the format is numpy's NEP 1: magic, version, length, a Python dictionary as text, the elements.

    >>files  reading whole files; writing to a temporary file that then replaces the target
    >>npy    numpy's files
    >>pb     TensorProto
*/
#ifndef NNRT_TOOL_NPY_H
#define NNRT_TOOL_NPY_H

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>
#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#elif defined(_WIN32)
#include <direct.h>
#endif

#include "tensor.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>files */

/* The bytes of a file; data is not NULL after success. */
typedef struct cli_bytes {
    uint8_t *data;
    size_t size;
} cli_bytes;

/* Mixes bytes into a hash of 64 bits, which is not cryptographic. The first hash may be 0. */
static uint64_t cli_hash(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)data;
    while (bytes > 0) {
        const size_t n = bytes < 8 ? bytes : 8;
        uint64_t word = 0;
        memcpy(&word, at, n);
        hash = (hash ^ word ^ n) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
        at += n;
        bytes -= n;
    }
    return hash;
}

typedef struct cli_file_id {
    dev_t device;
    ino_t inode; /* 0: an unused slot */
} cli_file_id;

/* The regular files that were read: the tool does not overwrite them under any name. A hash table with linear probing, of
   a size that is a power of 2 and at least twice the number of files. */
static struct {
    cli_file_id *data;
    size_t count, room;
} cli_read_files;

static void cli_read_files_free(void)
{
    free(cli_read_files.data);
    memset(&cli_read_files, 0, sizeof(cli_read_files));
}

/* The slot of a file, or the unused slot where it belongs; NULL: the table is empty. */
static cli_file_id *cli_read_slot(dev_t device, ino_t inode)
{
    uint64_t at = cli_hash(cli_hash(0, &device, sizeof(device)), &inode, sizeof(inode));
    cli_file_id *data = cli_read_files.data;
    for (; data != NULL; at++) {
        cli_file_id *slot = &data[at & (cli_read_files.room - 1)];
        if (slot->inode == 0 || (slot->inode == inode && slot->device == device))
            return slot;
    }
    return NULL;
}

static bool cli_was_read(const struct stat *s)
{
    const cli_file_id *slot = s->st_ino != 0 ? cli_read_slot(s->st_dev, s->st_ino) : NULL;
    return slot != NULL && slot->inode != 0;
}

/* Doubles the table. */
static int cli_read_files_grow(void)
{
    const size_t before = cli_read_files.room, room = before > 0 ? 2 * before : 64;
    cli_file_id *const old = cli_read_files.data, *data = (cli_file_id *)cli_alloc(room, sizeof(*data));
    if (data == NULL)
        return CLI_FAILED;
    cli_read_files.data = data;
    cli_read_files.room = room;
    for (size_t i = 0; i < before; i++)
        if (old[i].inode != 0)
            *cli_read_slot(old[i].device, old[i].inode) = old[i];
    free(old);
    return CLI_DONE;
}

/* Records a file that is read. A missing file is reported by the reading code. */
static int cli_note_read(const char *path)
{
    struct stat s;
    cli_file_id *slot;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || s.st_ino == 0 || cli_was_read(&s))
        return CLI_DONE;
    if (2 * (cli_read_files.count + 1) > cli_read_files.room && cli_read_files_grow() != CLI_DONE)
        return CLI_FAILED;
    slot = cli_read_slot(s.st_dev, s.st_ino);
    slot->device = s.st_dev;
    slot->inode = s.st_ino;
    cli_read_files.count++;
    return CLI_DONE;
}

/* Writes name without the characters that some system's file names cannot have, at most 200 bytes, and returns their
   number: '_' for / \ : * ? " < > | and control characters, and for a '.' in front. */
static size_t cli_file_name(char *out, const char *name)
{
    size_t n = strlen(name);
    if (n > 200)
        for (n = 200; n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80;)
            n--;
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)name[k];
        out[k] = c < 32 || c == 127 || strchr("/\\:*?\"<>|", c) != NULL || (c == '.' && k == 0) ? '_' : name[k];
    }
    return n;
}

/* True if two paths are equal except for the case of letters a to z, which some file systems ignore. */
static bool cli_same_path(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a, y = *b >= 'A' && *b <= 'Z' ? (char)(*b + 32) : *b;
        if (x != y)
            return false;
    }
    return *a == *b;
}

/* Path of one output's file: DIR/NAME.npy, or NAME_2.npy, NAME_3.npy, ... if one of paths[0..i) is the same. The caller
   frees it; NULL: no memory. */
static char *cli_output_path(const char *dir, const char *name, char *const *paths, uint32_t i)
{
    size_t at = strlen(dir) + 1, room = at + 256;
    char *path = (char *)cli_alloc(room, 1);
    bool taken = true;
    if (path == NULL)
        return NULL;
    snprintf(path, room, "%s/", dir);
    if (*name != '\0') /* NOLINT(clang-analyzer-core.NullDereference): an output's name is "" at least */
        at += cli_file_name(path + at, name);
    else
        at += (size_t)snprintf(path + at, room - at, "output_%u", (unsigned)i);
    for (uint32_t number = 1; taken; number++) {
        if (number > 1)
            snprintf(path + at, room - at, "_%u.npy", (unsigned)number);
        else
            snprintf(path + at, room - at, ".npy");
        taken = false;
        for (uint32_t k = 0; k < i && !taken; k++)
            taken = cli_same_path(path, paths[k]);
    }
    return path;
}

/* Creates the folder if it does not exist. */
static int cli_make_dir(const char *dir)
{
    struct stat s;
#if defined(_WIN32)
    int failed = _mkdir(dir);
#else
    int failed = mkdir(dir, 0777);
#endif
    if (failed != 0 && errno != EEXIST)
        return cli_fail("cannot create the folder %s: %s", dir, strerror(errno));
    if (failed != 0 && (stat(dir, &s) != 0 || !S_ISDIR(s.st_mode)))
        return cli_fail("cannot write to %s: it is not a folder", dir);
    return CLI_DONE;
}

/* An output file, written to a temporary file until it is complete. */
typedef struct cli_out {
    FILE *f;
    const char *path;
    char *temp;   /* NULL: written directly */
    char *target; /* the file that a symbolic link leads to; NULL: path is not a link */
    bool sync;    /* the file is on the disk before it gets its name: set after cli_out_open */
    bool keep;    /* an existing file stays, and the new one is dropped */
} cli_out;

/* Fails if the file at path must not be replaced. */
static int cli_may_replace(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return CLI_DONE;
    if (!S_ISREG(s.st_mode))
        return cli_fail("cannot write %s: it is no regular file and is not replaced", path);
    if (cli_was_read(&s))
        return cli_fail("cannot write %s: it is read by this command; write another file, then rename it", path);
    return CLI_DONE;
}

/* Resolves a symbolic link, which stays: *target = the file that it leads to, which is replaced. NULL: path is not a
   link. The caller frees it. */
static int cli_link_target(const char *path, char **target)
{
    *target = NULL;
#if defined(__unix__) || defined(__APPLE__)
    {
        struct stat s;
        if (lstat(path, &s) != 0 || !S_ISLNK(s.st_mode))
            return CLI_DONE;
        *target = realpath(path, NULL);
        if (*target == NULL)
            return cli_fail("cannot write %s: it is a link to a file that does not exist: %s", path, strerror(errno));
    }
#else
    (void)path;
#endif
    return CLI_DONE;
}

/* Creates the temporary file out->temp under an unused name. NULL: it cannot be created. */
static FILE *cli_out_temp(cli_out *out)
{
    const char *path = out->target != NULL ? out->target : out->path;
    const size_t room = strlen(path) + sizeof(".999.tmp");
    out->temp = (char *)cli_alloc(room, 1);
    for (unsigned i = 0; out->temp != NULL && i < 1000; i++) {
#if defined(__unix__) || defined(__APPLE__)
        int file;
        snprintf(out->temp, room, "%s.%u.tmp", path, i);
        file = open(out->temp, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file >= 0)
            return fdopen(file, "wb");
        if (errno != EEXIST)
            return NULL;
#else
        FILE *f;
        snprintf(out->temp, room, "%s.%u.tmp", path, i);
        if ((f = fopen(out->temp, "rb")) == NULL)
            return fopen(out->temp, "wb");
        fclose(f);
#endif
    }
    return NULL;
}

/* Opens an output file. straight: an existing file that is not regular, such as a pipe or a device, is written
   directly, and "-" is standard output; otherwise it is an error. */
static int cli_out_open(cli_out *out, const char *path, bool straight)
{
    struct stat s;
    memset(out, 0, sizeof(*out));
    out->path = path;
    if (straight && strcmp(path, "-") == 0) {
        out->f = stdout;
    } else if (straight && stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) {
        out->f = fopen(path, "wb");
    } else {
        if (cli_may_replace(path) != CLI_DONE || cli_link_target(path, &out->target) != CLI_DONE)
            return CLI_FAILED;
        out->f = cli_out_temp(out);
    }
    if (out->f == NULL) {
        cli_fail("cannot write %s: %s", path, strerror(errno));
        free(out->temp);
        free(out->target);
        return CLI_FAILED;
    }
    errno = 0; /* set by failing writes */
    return CLI_DONE;
}

/* Gives the temporary file its name. The link fails if another process has made the file; file systems without links
   rename. */
static bool cli_out_name(const cli_out *out, const char *path)
{
#if defined(__unix__) || defined(__APPLE__)
    if (out->keep && (link(out->temp, path) == 0 || errno == EEXIST)) {
        errno = 0;
        return remove(out->temp) == 0;
    }
#elif defined(_WIN32)
    (void)remove(path); /* rename does not replace there */
#endif
    return rename(out->temp, path) == 0;
}

/* Writes a file, or the entries of its folder, to the disk. */
static bool cli_sync(FILE *f, const char *path)
{
#if defined(__unix__) || defined(__APPLE__)
    const char *slash = strrchr(path, '/');
    char *dir;
    int folder;
    if (f != NULL)
        return fsync(fileno(f)) == 0;
    if ((dir = cli_text_copy(slash != NULL ? path : ".", slash != NULL ? (size_t)(slash - path) + 1 : 1)) == NULL)
        return false;
    folder = open(dir, O_RDONLY);
    free(dir);
    if (folder >= 0) {
        (void)fsync(folder); /* some file systems cannot */
        (void)close(folder);
    }
#else
    (void)f;
    (void)path;
#endif
    return true;
}

/* Closes the file. The temporary file replaces the target only if everything was written and good is true. */
static int cli_out_close(cli_out *out, bool good)
{
    int reason;
    good = fflush(out->f) == 0 && ferror(out->f) == 0 && good && (!out->sync || cli_sync(out->f, out->path));
    if (out->f != stdout)
        good = fclose(out->f) == 0 && good;
    reason = errno;
    if (out->temp != NULL) {
        const char *path = out->target != NULL ? out->target : out->path;
        if (good && !(cli_out_name(out, path) && (!out->sync || cli_sync(NULL, path)))) {
            reason = errno;
            good = false;
        }
        if (!good)
            (void)remove(out->temp);
        free(out->temp);
        free(out->target);
    }
    if (good)
        return CLI_DONE;
    return cli_fail("cannot write all of %s%s%s", out->path, reason != 0 ? ": " : "", reason != 0 ? strerror(reason) : "");
}

/* Closes the file and drops it, after a failure that was reported. */
static void cli_out_drop(cli_out *out)
{
    if (out->f != stdout)
        fclose(out->f);
    if (out->temp != NULL)
        (void)remove(out->temp);
    free(out->temp);
    free(out->target);
}

/* Whether the output file can be written, before long work: makes a temporary file beside it, and removes it. */
static int cli_out_try(const char *path)
{
    cli_out out;
    const int status = cli_out_open(&out, path, false);
    if (status == CLI_DONE)
        cli_out_drop(&out);
    return status;
}

/* Bytes of the first block for a stream: the size of a regular file and 64 KiB, whose rest shows the end of the file. */
static size_t cli_stream_room(FILE *f)
{
    struct stat s;
    const bool regular = fstat(fileno(f), &s) == 0 && S_ISREG(s.st_mode);
    return regular && s.st_size > 65536 && (uint64_t)s.st_size < SIZE_MAX / 2 ? (size_t)s.st_size + 65536 : 131072;
}

/* Reads to the end of the stream, also of a pipe or of a file that grows meanwhile. The caller frees out->data. */
static int cli_read_stream(FILE *f, const char *path, cli_bytes *out)
{
    size_t room = 0, got;
    memset(out, 0, sizeof(*out));
    do {
        if (room - out->size < 65536) {
            size_t more = room == 0 ? cli_stream_room(f) : room <= SIZE_MAX / 2 ? room * 2 : 0;
            uint8_t *grown = more > 0 ? (uint8_t *)realloc(out->data, more) : NULL;
            if (grown == NULL)
                break;
            out->data = grown;
            room = more;
        }
        errno = 0;
        got = fread(out->data + out->size, 1, room - out->size, f);
        out->size += got;
    } while (got > 0);
    if (room - out->size >= 65536 && !ferror(f))
        return CLI_DONE;
    if (ferror(f))
        cli_fail("cannot read %s: %s", path, strerror(errno));
    else
        cli_fail("cannot read %s: out of memory after %.0f bytes", path, (double)out->size);
    free(out->data);
    memset(out, 0, sizeof(*out));
    return CLI_FAILED;
}

static int cli_read_file(const char *path, cli_bytes *out)
{
    FILE *f = fopen(path, "rb");
    int status;
    memset(out, 0, sizeof(*out));
    if (f == NULL)
        return cli_fail("cannot open %s: %s", path, strerror(errno));
    status = cli_note_read(path);
    if (status == CLI_DONE)
        status = cli_read_stream(f, path, out);
    fclose(f);
    return status;
}

static bool cli_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t low;
    memcpy(&low, &one, 1);
    return low == 1;
}

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
