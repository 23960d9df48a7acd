/*
profile.h - time of each step of a run: the table of --profile and the trace of --profile=FILE.
Part of tools/nnrt.c.

A device reports every step when it ends. Steps of the same node, operator and device at the same depth share one row;
rows are in the order of their first ends. Steps of a LOOP's iterations add up. The time of IF and LOOP includes the
steps inside them: their own time excludes these, and the shares refer to own times.
*/
#ifndef NNRT_TOOL_PROFILE_H
#define NNRT_TOOL_PROFILE_H

#include "../common/job.h"

#define CLI_PROFILE_DEPTH 64 /* deeper steps are counted at this depth */

typedef struct cli_profile_row {
    char *name, *op, *device;
    int32_t node;
    uint32_t depth;
    double calls, ns, own, read, written; /* sums over all runs; ns includes inner steps, own does not */
} cli_profile_row;

typedef struct cli_profile_event {
    uint32_t row;
    uint64_t begin, duration;
    size_t read, written;
} cli_profile_event;

typedef struct cli_profile {
    nnrt_profile sink;
    cli_profile_row *rows;
    cli_profile_event *events; /* of the last run; NULL: no trace requested */
    uint32_t nRows, roomRows, last; /* last: row of the previous step */
    size_t nEvents, roomEvents;
    double inner[CLI_PROFILE_DEPTH + 2]; /* time of the steps at each depth since the last end of an enclosing step */
    double runs, ms;                     /* ms: wall time of all runs */
    bool trace, full;                    /* full: out of memory, a step was lost */
} cli_profile;

static void cli_profile_free(cli_profile *p)
{
    for (uint32_t i = 0; i < p->nRows; i++) {
        free(p->rows[i].name);
        free(p->rows[i].op);
        free(p->rows[i].device);
    }
    free(p->rows);
    free(p->events);
    memset(p, 0, sizeof(*p));
}

/* Grows an array by at least one element; NULL: no memory. */
static void *cli_profile_more(void *array, size_t count, size_t *room, size_t bytes)
{
    void *more = array;
    if (count == *room) {
        more = realloc(array, (*room + 64) * 2 * bytes);
        *room = more != NULL ? (*room + 64) * 2 : *room;
    }
    return more;
}

/* The row of a step; NULL: no memory for a new row. The search starts after the last row, since steps mostly repeat in
   order. */
static cli_profile_row *cli_profile_find(cli_profile *p, const nnrt_profile_step *s)
{
    size_t room = p->roomRows;
    cli_profile_row *r, *rows;
    for (uint32_t i = 1; i <= p->nRows; i++) {
        r = &p->rows[(p->last + i) % p->nRows];
        if (r->node == s->node && r->depth == s->depth && strcmp(r->name, s->name) == 0 && strcmp(r->op, s->op) == 0 &&
            strcmp(r->device, s->device) == 0) {
            p->last = (uint32_t)(r - p->rows);
            return r;
        }
    }
    rows = (cli_profile_row *)cli_profile_more(p->rows, p->nRows, &room, sizeof(*rows));
    if (rows == NULL || p->nRows == UINT32_MAX)
        return NULL;
    p->rows = rows;
    p->roomRows = (uint32_t)room;
    r = &rows[p->nRows];
    memset(r, 0, sizeof(*r));
    r->name = cli_text_copy(s->name, strlen(s->name));
    r->op = cli_text_copy(s->op, strlen(s->op));
    r->device = cli_text_copy(s->device, strlen(s->device));
    r->node = s->node;
    r->depth = s->depth;
    p->last = p->nRows++;
    return r->name != NULL && r->op != NULL && r->device != NULL ? r : NULL;
}

static void cli_profile_step(void *user, const nnrt_profile_step *s)
{
    cli_profile *p = (cli_profile *)user;
    const uint32_t depth = s->depth < CLI_PROFILE_DEPTH ? s->depth : CLI_PROFILE_DEPTH;
    cli_profile_row *r = p->full ? NULL : cli_profile_find(p, s);
    cli_profile_event *e;
    p->full = r == NULL;
    if (p->full)
        return;
    r->calls++;
    r->ns += (double)s->duration;
    r->own += (double)s->duration - p->inner[depth + 1];
    r->read += (double)s->read;
    r->written += (double)s->written;
    p->inner[depth + 1] = 0;
    p->inner[depth] += (double)s->duration;
    if (!p->trace)
        return;
    e = (cli_profile_event *)cli_profile_more(p->events, p->nEvents, &p->roomEvents, sizeof(*e));
    p->full = e == NULL;
    if (p->full)
        return;
    p->events = e;
    e = &e[p->nEvents++];
    e->row = p->last;
    e->begin = s->begin;
    e->duration = s->duration;
    e->read = s->read;
    e->written = s->written;
}

/* Profiles all sessions that the job creates from now on. */
static void cli_profile_begin(cli_profile *p, cli_job *job, const char *trace)
{
    memset(p, 0, sizeof(*p));
    p->sink.step = cli_profile_step;
    p->sink.user = p;
    p->trace = trace != NULL;
    job->profile = &p->sink;
}

/* A timed run. */
static int cli_profile_run(cli_profile *p, cli_job *job)
{
    const double start = cli_now_ms();
    int status;
    p->nEvents = 0;
    memset(p->inner, 0, sizeof(p->inner));
    status = cli_job_run(job);
    p->ms += cli_now_ms() - start;
    p->runs++;
    return status == CLI_DONE && p->full ? cli_fail("out of memory: cannot allocate the profile") : status;
}

/* Discards the runs so far. */
static void cli_profile_reset(cli_profile *p)
{
    const nnrt_profile sink = p->sink;
    const bool trace = p->trace;
    cli_profile_free(p);
    p->sink = sink;
    p->trace = trace;
}

static double cli_profile_total(const cli_profile *p)
{
    double ns = 0;
    for (uint32_t i = 0; i < p->nRows; i++)
        ns += p->rows[i].own;
    return ns;
}

/* Time of all steps of an operator. */
typedef struct cli_profile_sum {
    const char *op;
    double ns;
    uint32_t rows;
} cli_profile_sum;

static int cli_profile_order(const void *a, const void *b)
{
    const cli_profile_sum *x = (const cli_profile_sum *)a, *y = (const cli_profile_sum *)b;
    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->op, y->op);
}

/* The operators, slowest first; the caller frees them. NULL: no memory. */
static cli_profile_sum *cli_profile_sums(const cli_profile *p, uint32_t *count)
{
    cli_profile_sum *sums = (cli_profile_sum *)cli_alloc(p->nRows, sizeof(*sums));
    *count = 0;
    for (uint32_t i = 0; sums != NULL && i < p->nRows; i++) {
        uint32_t k = 0;
        while (k < *count && strcmp(sums[k].op, p->rows[i].op) != 0)
            k++;
        *count += k == *count;
        sums[k].op = p->rows[i].op;
        sums[k].ns += p->rows[i].own;
        sums[k].rows++;
    }
    if (sums != NULL)
        qsort(sums, *count, sizeof(*sums), cli_profile_order);
    return sums;
}

static double cli_profile_share(const cli_profile *p, double ns)
{
    const double all = cli_profile_total(p);
    return all > 0 ? 100 * ns / all : 0;
}

static int cli_profile_json(const cli_profile *p)
{
    uint32_t count;
    cli_profile_sum *sums = cli_profile_sums(p, &count);
    if (sums == NULL)
        return CLI_FAILED;
    printf(",\"profile\":{\"runs\":%.0f", p->runs);
    cli_json_ms("run_ms", p->ms / p->runs);
    fputs(",\"steps\":[", stdout);
    for (uint32_t i = 0; i < p->nRows; i++) {
        const cli_profile_row *r = &p->rows[i];
        fputs(i > 0 ? ",{\"name\":" : "{\"name\":", stdout);
        cli_json_text(r->name);
        fputs(",\"operator\":", stdout);
        cli_json_text(r->op);
        fputs(",\"device\":", stdout);
        cli_json_text(r->device);
        printf(",\"node\":%d,\"depth\":%u,\"calls\":%.9g", (int)r->node, (unsigned)r->depth, r->calls / p->runs);
        cli_json_ms("ms", r->ns / p->runs / 1e6);
        cli_json_ms("own_ms", r->own / p->runs / 1e6);
        printf(",\"read\":%.17g,\"written\":%.17g}", r->read / p->runs, r->written / p->runs);
    }
    fputs("],\"operators\":[", stdout);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? ",{\"operator\":" : "{\"operator\":", stdout);
        cli_json_text(sums[i].op);
        printf(",\"steps\":%u", (unsigned)sums[i].rows);
        cli_json_ms("own_ms", sums[i].ns / p->runs / 1e6);
        putchar('}');
    }
    fputs("]}", stdout);
    free(sums);
    return CLI_DONE;
}

static int cli_profile_print(const cli_profile *p)
{
    uint32_t count;
    cli_profile_sum *sums = cli_profile_sums(p, &count);
    const char *device = p->nRows > 0 ? p->rows[0].device : "";
    bool several = false;
    if (sums == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < p->nRows; i++)
        several = several || strcmp(p->rows[i].device, device) != 0;
    printf("\nprofile   %.1f us in %u steps, a run of %.1f us", cli_profile_total(p) / p->runs / 1e3, (unsigned)p->nRows,
           1e3 * p->ms / p->runs);
    printf(p->runs > 1 ? ", the mean of %.0f\n" : "\n", p->runs);
    if (!several && p->nRows > 0) {
        fputs("device    ", stdout);
        cli_put_name(stdout, device);
        putchar('\n');
    }
    puts("        us   share  bytes read     written  operator                  node");
    for (uint32_t i = 0; i < p->nRows; i++) {
        const cli_profile_row *r = &p->rows[i];
        printf("%10.1f  %5.1f%%  %10.0f  %10.0f  %*s", r->own / p->runs / 1e3, cli_profile_share(p, r->own),
               r->read / p->runs, r->written / p->runs, (int)(2 * (r->depth < 16 ? r->depth : 16)), "");
        cli_put_name(stdout, r->op);
        printf("%*s", strlen(r->op) < 24 ? (int)(26 - strlen(r->op)) : 2, "");
        cli_put_name(stdout, r->name);
        if (r->calls > p->runs)
            printf("  %.9g times", r->calls / p->runs);
        if (several) {
            fputs("  ", stdout);
            cli_put_name(stdout, r->device);
        }
        putchar('\n');
    }
    puts("\n        us   share  steps  operator");
    for (uint32_t i = 0; i < count; i++) {
        printf("%10.1f  %5.1f%%  %5u  ", sums[i].ns / p->runs / 1e3, cli_profile_share(p, sums[i].ns),
               (unsigned)sums[i].rows);
        cli_put_name(stdout, sums[i].op);
        putchar('\n');
    }
    free(sums);
    return CLI_DONE;
}

/* Lane of a device in the trace: the number of the device's first row. */
static uint32_t cli_profile_lane(const cli_profile *p, uint32_t row)
{
    uint32_t i = 0;
    while (strcmp(p->rows[i].device, p->rows[row].device) != 0)
        i++;
    return i;
}

/* Writes the last run as Chrome trace events: times in microseconds since the first step. */
static int cli_profile_write(const cli_profile *p, const char *path)
{
    uint64_t first = UINT64_MAX;
    const char *next = "\n";
    cli_out out;
    if (cli_out_open(&out, path, true) != CLI_DONE)
        return CLI_FAILED;
    for (size_t i = 0; i < p->nEvents; i++)
        first = p->events[i].begin < first ? p->events[i].begin : first;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out.f);
    for (uint32_t i = 0; i < p->nRows; i++)
        if (cli_profile_lane(p, i) == i) {
            fprintf(out.f, "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%u,\"args\":{\"name\":", next,
                    (unsigned)i + 1);
            cli_json_put(out.f, p->rows[i].device);
            fputs("}}", out.f);
            next = ",\n";
        }
    for (size_t i = 0; i < p->nEvents; i++) {
        const cli_profile_event *e = &p->events[i];
        const cli_profile_row *r = &p->rows[e->row];
        fprintf(out.f, "%s{\"ph\":\"X\",\"name\":", next);
        cli_json_put(out.f, r->op);
        fputs(",\"cat\":\"step\",\"args\":{\"name\":", out.f);
        cli_json_put(out.f, r->name);
        fprintf(out.f, ",\"node\":%d,\"read\":%.0f,\"written\":%.0f},\"pid\":1,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f}",
                (int)r->node, (double)e->read, (double)e->written, (unsigned)cli_profile_lane(p, e->row) + 1,
                (double)(e->begin - first) / 1e3, (double)e->duration / 1e3);
        next = ",\n";
    }
    fputs("\n]}\n", out.f);
    return cli_out_close(&out, true);
}

/* Shows the profile: as a table, or in JSON as one more member. */
static int cli_profile_show(const cli_profile *p, const cli_job *job, const cli_args *args)
{
    if (p->nRows == 0)
        cli_note("device '%s' does not report its steps", nnrt_session_device(job->session));
    return args->json ? cli_profile_json(p) : cli_profile_print(p);
}

#endif /* NNRT_TOOL_PROFILE_H */
