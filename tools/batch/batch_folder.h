/*
batch_folder.h - the folder of results of the command batch (batch.h): manifest, chunks, joining them.
Part of tools/nnrt.c.

    DIR/batch.txt                   the manifest
    DIR/chunks/NAME.000012.npy      the rows of chunk 12 of output NAME; absent after the chunks are joined
    DIR/chunks/bad.000012.txt       the bad samples of chunk 12, if there are any
    DIR/NAME.npy, names.txt, bad.txt    the results

A file gets its name after its bytes are on the disk. An existing file is complete, and is not written again.

    >>files     names, the head of a file
    >>manifest  model, samples and options of the results
    >>merge     joining the chunks
*/
#ifndef NNRT_TOOL_BATCH_FOLDER_H
#define NNRT_TOOL_BATCH_FOLDER_H

#include "../common/samples.h"

#if defined(__unix__) || defined(__APPLE__)
#define CLI_PROCESSES 1
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#else
#define CLI_PROCESSES 0
#endif

typedef struct cli_batch {
    const cli_args *args;
    cli_job job;
    cli_samples samples;
    uint32_t batch, chunk, chunks; /* samples of a run and of a chunk; number of chunks */
    uint32_t shard, shards;
    uint32_t *from;     /* for each input of the session its index in job.in */
    cli_tensor *inputs; /* of a run */
    cli_tensor *rows;   /* for each output the row of a bad sample, with the shape of a row */
    char **paths;       /* for each output OUTPUT/NAME.npy */
    bool *bad;          /* for each sample of a chunk */
    int lock;           /* the manifest, open: see cli_batch_lock. -1: none */
    int pipe;           /* where the number of samples that are done is written; -1: progress is shown here */
    cli_progress progress;
    double told;          /* when samples were reported last */
    uint32_t done, total; /* samples of this shard */
} cli_batch;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>files */

/* OUTPUT/NAME in a buffer. */
static const char *cli_batch_path(const cli_batch *b, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", b->args->outputDir, name);
    return out;
}

/* The file of a chunk of an output: OUTPUT/chunks/NAME.000012.npy; output nOut: OUTPUT/chunks/bad.000012.txt. */
static const char *cli_batch_file(const cli_batch *b, uint32_t output, uint32_t chunk, char *out, size_t size)
{
    const size_t dir = strlen(b->args->outputDir) + 1;
    if (output == b->job.nOut)
        snprintf(out, size, "%s/chunks/bad.%06u.txt", b->args->outputDir, (unsigned)chunk);
    else
        snprintf(out, size, "%s/chunks/%.*s.%06u.npy", b->args->outputDir, (int)(strlen(b->paths[output]) - dir - 4), b->paths[output] + dir,
                 (unsigned)chunk);
    return out;
}

/* Whether the rows of a chunk exist, in files of their own or joined, which are looked for in the order in which they are
   made and removed. */
static bool cli_batch_exists(const cli_batch *b, uint32_t chunk)
{
    char path[4096];
    struct stat s;
    for (uint32_t i = 0; i < b->job.nOut; i++)
        if (stat(cli_batch_file(b, i, chunk, path, sizeof(path)), &s) != 0 && stat(b->paths[i], &s) != 0)
            return false;
    return true;
}

static uint32_t cli_batch_count(const cli_batch *b, uint32_t chunk)
{
    const uint32_t left = b->samples.count - chunk * b->chunk;
    return left < b->chunk ? left : b->chunk;
}

/* Begins the file of a chunk, or of all chunks, of an output: its head. */
static int cli_batch_begin(const cli_batch *b, uint32_t output, uint32_t count, const char *path, cli_out *out)
{
    nnrt_dims shape = b->rows[output].shape;
    memmove(shape.dims + 1, shape.dims, (size_t)shape.rank++ * sizeof(*shape.dims));
    shape.dims[0] = (int32_t)count;
    if (cli_out_open(out, path, false) != CLI_DONE)
        return CLI_FAILED;
    out->sync = true;
    return cli_npy_put_head(out->f, b->rows[output].type, &shape) ? CLI_DONE : cli_out_close(out, false);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>manifest */

/* Hash of the model: the bytes of its file, and, of an ONNX file, of all constants, as some may be in other files. */
static int cli_batch_hash(const cli_batch *b, uint64_t *hash)
{
    char block[65536];
    size_t n;
    FILE *f = cli_stream.block == NULL ? fopen(b->args->model, "rb") : NULL;
    *hash = cli_hash(0, cli_stream.bytes.data, cli_stream.bytes.size);
    while (f != NULL && (n = fread(block, 1, sizeof(block), f)) > 0)
        *hash = cli_hash(*hash, block, n);
    if (cli_stream.block == NULL && (f == NULL || ferror(f)))
        return cli_fail("cannot read %s: %s", b->args->model, strerror(errno));
    if (f != NULL)
        fclose(f);
    for (uint32_t i = 0; i < b->job.model->allTensors.count && !cli_is_whole(b->args->model); i++) {
        const NNRT_SharedBuffer *d = &b->job.model->allTensors.data[i].data;
        if (d->addr != NULL)
            *hash = cli_hash(*hash, (const uint8_t *)d->addr + d->offset, d->dataSize);
    }
    return CLI_DONE;
}

/* The text of the manifest. The instruction set is in it, unless the device names it, as sums in float32 differ in their last
   bits between sets. --skip-bad is not: without it no chunk with a bad sample is written. */
static int cli_batch_describe(const cli_batch *b, char *out, size_t size)
{
    const char *device = nnrt_session_device(b->job.session);
    const bool named = (b->args->device != NULL && strstr(b->args->device, "cpu-") != NULL) || strncmp(device, "reference", 9) == 0;
    const char *set = !named && nnrt_device_find("cpu") != NULL ? nnrt_cpu_set(0) : NULL;
    uint64_t hash = 0;
    if (cli_batch_hash(b, &hash) != CLI_DONE)
        return CLI_FAILED;
    snprintf(out, size,
             "nnrt %s\nmodel %016llx\nsamples %u, names and sizes %016llx\nchunk %u\ndevice %s%s%s\noptions%s\n", nnrt_version(),
             (unsigned long long)hash, (unsigned)b->samples.count, (unsigned long long)b->samples.listed, (unsigned)b->chunk,
             device, set != NULL ? ", instruction set " : "", set != NULL ? set : "", b->args->given);
    return CLI_DONE;
}

/* Fails at the first line in which two manifests differ. */
static int cli_batch_compare(const char *path, const char *found, const char *expected)
{
    size_t n, m;
    while (*found != '\0' || *expected != '\0') {
        n = strcspn(found, "\n");
        m = strcspn(expected, "\n");
        if (n != m || memcmp(found, expected, n) != 0)
            return cli_fail("%s: the results there are of '%.*s', this command has '%.*s'; repeat that command, or give another --output",
                            path, (int)n, found, (int)m, expected);
        found += n + (found[n] == '\n');
        expected += m + (expected[m] == '\n');
    }
    return CLI_DONE;
}

/* Locks the manifest, for reading by processes that work in the folder, for writing (which fails while others do) by the one that
   removes the chunks. Where locks do not work nobody removes them. Must follow all other uses of the file, as closing it
   drops the lock. */
static bool cli_batch_lock(cli_batch *b, const char *path, bool write)
{
#if CLI_PROCESSES
    struct flock lock;
    memset(&lock, 0, sizeof(lock));
    lock.l_type = write ? F_WRLCK : F_RDLCK;
    lock.l_whence = SEEK_SET;
    if (b->lock < 0)
        b->lock = open(path, O_RDWR);
    return b->lock >= 0 && fcntl(b->lock, write ? F_SETLK : F_SETLKW, &lock) == 0;
#else
    (void)b;
    (void)path;
    return !write;
#endif
}

static void cli_batch_unlock(cli_batch *b)
{
#if CLI_PROCESSES
    if (b->lock >= 0)
        (void)close(b->lock);
#endif
    b->lock = -1;
}

/* Fails for results without a manifest, which this command has not written: it writes the manifest first. */
static int cli_batch_foreign(const cli_batch *b, const char *manifest)
{
    char path[4096];
    struct stat s;
    bool found = stat(cli_batch_path(b, "chunks", path, sizeof(path)), &s) == 0;
    for (uint32_t i = 0; i < b->job.nOut && !found; i++)
        found = stat(b->paths[i], &s) == 0;
    return found && stat(manifest, &s) != 0
               ? cli_fail("%s has results and no batch.txt, which names their model and samples; give another --output", b->args->outputDir)
               : CLI_DONE;
}

/* Writes the manifest, unless there is one, and compares it with this command. */
static int cli_batch_manifest(cli_batch *b)
{
    char text[2048], path[4096];
    struct stat s, input;
    cli_bytes found;
    cli_out out;
    int status = strlen(b->args->outputDir) < sizeof(path) - 300 ? cli_make_dir(b->args->outputDir)
                                                               : cli_usage("batch: the path of --output is too long");
    if (status == CLI_DONE && stat(b->args->data, &input) == 0 && stat(b->args->outputDir, &s) == 0 && s.st_ino != 0 &&
        s.st_ino == input.st_ino && s.st_dev == input.st_dev)
        return cli_usage("batch: the results would become samples; give another --output than %s", b->args->data);
    if (status == CLI_DONE)
        status = cli_batch_foreign(b, cli_batch_path(b, "batch.txt", path, sizeof(path)));
    if (status == CLI_DONE)
        status = cli_batch_describe(b, text, sizeof(text));
    if (status == CLI_DONE && stat(path, &s) != 0) {
        if (b->args->merge)
            return cli_fail("%s has no batch.txt: nothing was computed there", b->args->outputDir);
        if ((status = cli_out_open(&out, path, false)) == CLI_DONE) {
            out.sync = out.keep = true;
            status = cli_out_close(&out, fputs(text, out.f) >= 0);
        }
    }
    if (status == CLI_DONE && (status = cli_read_file(path, &found)) == CLI_DONE) {
        char *there = cli_text_copy((const char *)found.data, found.size);
        status = there != NULL ? cli_batch_compare(path, there, text) : CLI_FAILED;
        free(there);
        free(found.data);
    }
    if (status == CLI_DONE && !cli_batch_lock(b, path, false))
        cli_note("%s cannot be locked: the chunks are not removed when they are joined", path);
    return status == CLI_DONE ? cli_make_dir(cli_batch_path(b, "chunks", path, sizeof(path))) : status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>merge */

/* Appends the elements of a chunk to an output. */
static int cli_batch_append(const cli_batch *b, uint32_t output, uint32_t chunk, FILE *out)
{
    char path[4096], block[65536];
    cli_npy_head head;
    size_t at, left, n;
    FILE *f = cli_npy_open(cli_batch_file(b, output, chunk, path, sizeof(path)), &head, &at);
    bool good = f != NULL && !head.swapped && head.type == b->rows[output].type && head.shape.rank == b->rows[output].shape.rank + 1 &&
                head.shape.dims[0] == (int32_t)cli_batch_count(b, chunk) &&
                memcmp(head.shape.dims + 1, b->rows[output].shape.dims, (size_t)b->rows[output].shape.rank * sizeof(int32_t)) == 0 &&
                fseek(f, (long)at, SEEK_SET) == 0;
    for (left = good ? b->rows[output].bytes * cli_batch_count(b, chunk) : 0; left > 0 && good; left -= n) {
        n = left < sizeof(block) ? left : sizeof(block);
        good = fread(block, 1, n, f) == n;
        if (good && fwrite(block, 1, n, out) != n)
            break; /* cli_out_close reports it */
    }
    if (f != NULL)
        fclose(f);
    return good ? CLI_DONE : cli_fail("%s is not the file that was written there; remove it and run the same command again", path);
}

/* Joins the chunks of an output, in constant memory. */
static int cli_batch_join(const cli_batch *b, uint32_t output)
{
    cli_out out;
    struct stat s;
    int status = CLI_DONE;
    if (stat(b->paths[output], &s) == 0)
        return CLI_DONE;
    if (cli_batch_begin(b, output, b->samples.count, b->paths[output], &out) != CLI_DONE)
        return CLI_FAILED;
    for (uint32_t c = 0; c < b->chunks && status == CLI_DONE; c++)
        status = cli_batch_append(b, output, c, out.f);
    if (status == CLI_DONE)
        return cli_out_close(&out, true);
    cli_out_drop(&out);
    return status;
}

/* names.txt: line i is the path of sample i, for rows of one file the number in it after a colon. */
static int cli_batch_names(const cli_batch *b)
{
    char path[4096];
    cli_out out;
    if (cli_out_open(&out, cli_batch_path(b, "names.txt", path, sizeof(path)), false) != CLI_DONE)
        return CLI_FAILED;
    out.sync = true;
    for (uint32_t i = 0; i < b->samples.count; i++) {
        const cli_sample *s = &b->samples.data[i];
        cli_put_name(out.f, s->path);
        if (s->row > 0 || (i + 1 < b->samples.count && b->samples.data[i + 1].path == s->path))
            fprintf(out.f, ":%u", (unsigned)s->row);
        fputc('\n', out.f);
    }
    return cli_out_close(&out, true);
}

/* Joins the lists of bad samples to bad.txt, if there are any. */
static int cli_batch_join_bad(const cli_batch *b)
{
    char path[4096], target[4096];
    cli_bytes part;
    cli_out out;
    struct stat s;
    int status = CLI_DONE;
    bool any = false;
    if (stat(cli_batch_path(b, "bad.txt", target, sizeof(target)), &s) == 0)
        return CLI_DONE;
    for (uint32_t c = 0; c < b->chunks && status == CLI_DONE; c++) {
        if (stat(cli_batch_file(b, b->job.nOut, c, path, sizeof(path)), &s) != 0)
            continue;
        if (!any && cli_out_open(&out, target, false) != CLI_DONE)
            return CLI_FAILED;
        any = true;
        if ((status = cli_read_file(path, &part)) == CLI_DONE)
            (void)fwrite(part.data, 1, part.size, out.f);
        free(part.data);
    }
    if (!any)
        return CLI_DONE;
    out.sync = true;
    if (status == CLI_DONE)
        return cli_out_close(&out, true);
    cli_out_drop(&out);
    return status;
}

/* Removes the chunks, and unfinished files of killed processes, if no other process works in the folder. Each process gives up
   its own lock first: of several that end at once, each would else see the lock of another, and none would remove anything. */
static void cli_batch_clean(cli_batch *b)
{
    char path[4096], file[4096 + 512];
    struct dirent *entry;
    DIR *d;
    cli_batch_unlock(b);
    if (!cli_batch_lock(b, cli_batch_path(b, "batch.txt", path, sizeof(path)), true))
        return;
    d = opendir(cli_batch_path(b, "chunks", path, sizeof(path)));
    while (d != NULL && (entry = readdir(d)) != NULL)
        if (cli_ends_with(entry->d_name, ".npy") || cli_ends_with(entry->d_name, ".tmp") || cli_ends_with(entry->d_name, ".txt")) {
            snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
            (void)remove(file);
        }
    if (d != NULL)
        closedir(d);
    (void)remove(path);
    d = opendir(b->args->outputDir);
    while (d != NULL && (entry = readdir(d)) != NULL) /* batch.txt.N.tmp, of a process that was killed while it wrote the manifest */
        if (strncmp(entry->d_name, "batch.txt.", 10) == 0 && cli_ends_with(entry->d_name, ".tmp")) {
            snprintf(file, sizeof(file), "%s/%s", b->args->outputDir, entry->d_name);
            (void)remove(file);
        }
    if (d != NULL)
        closedir(d);
}

/* Joins the chunks of all outputs, if all exist. */
static int cli_batch_merge(cli_batch *b)
{
    uint32_t missing = 0;
    int status = CLI_DONE;
    for (uint32_t c = 0; c < b->chunks; c++)
        missing += !cli_batch_exists(b, c);
    if (missing > 0)
        return cli_fail("%s lacks %u of %u chunks: run the same command again without --merge, or its shards", b->args->outputDir,
                        (unsigned)missing, (unsigned)b->chunks);
    status = cli_batch_join_bad(b);
    if (status == CLI_DONE && b->samples.data[0].path != b->samples.data[b->samples.count - 1].path)
        status = cli_batch_names(b);
    for (uint32_t i = 0; i < b->job.nOut && status == CLI_DONE; i++)
        status = cli_batch_join(b, i);
    if (status == CLI_DONE)
        cli_batch_clean(b);
    return status;
}

#endif /* NNRT_TOOL_BATCH_FOLDER_H */
