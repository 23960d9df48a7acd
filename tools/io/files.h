/*
files.h - reads whole files; writes a temporary file that then replaces the target; paths of results.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_FILES_H
#define NNRT_TOOL_FILES_H

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>
#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#elif defined(_WIN32)
#include <direct.h>
#endif

#include "text.h"

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

/* Writes name as part of a file name that no system refuses and no shell takes apart, at most 200 bytes, and returns their
   number: ASCII letters, digits, . _ - and characters beyond ASCII stay, but for a '.' in front; others become '_'. */
static size_t cli_file_name(char *out, const char *name)
{
    size_t n = strlen(name);
    if (n > 200)
        for (n = 200; n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80;)
            n--;
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)name[k];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c > 127;
        out[k] = letter || c == '_' || c == '-' || (c == '.' && k > 0) ? name[k] : '_';
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

#if defined(_WIN32)
__declspec(dllimport) int __stdcall MoveFileExA(const char *from, const char *to, unsigned long flags);
#endif

/* Renames a file; an existing one of that name is replaced in one step, also on Windows. */
static bool cli_rename(const char *from, const char *to)
{
#if defined(_WIN32)
    errno = MoveFileExA(from, to, 1) != 0 ? 0 : EACCES; /* MOVEFILE_REPLACE_EXISTING */
    return errno == 0;
#else
    return rename(from, to) == 0;
#endif
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
#endif
    return cli_rename(out->temp, path);
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

#endif /* NNRT_TOOL_FILES_H */
