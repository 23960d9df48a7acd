/* The devices "cpu-SET", one for each instruction set of this machine, random numbers, and threads. Include after
   cmocka.h, nnrt.h, nnrt_cpu.h and kit.h. */
#ifndef NNRT_TESTS_SETS_H
#define NNRT_TESTS_SETS_H

static const char *sets[8];
static uint32_t nSets;

static int add_devices(void **unused)
{
    nnrt_error e;
    (void)unused;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_cpu_register(NULL, &e), NNRT_SUCCESS);
    for (uint32_t i = 0; nnrt_cpu_set(i) != NULL; i++) { /* "cpu" is the first of them: test_sets */
        static char names[8][24];
        assert_int_equal(nnrt_cpu_register(nnrt_cpu_set(i), &e), NNRT_SUCCESS);
        snprintf(names[i], sizeof(names[i]), "cpu-%s", nnrt_cpu_set(i));
        sets[nSets++] = names[i];
    }
    return 0;
}

/* Whether set s has the float kernels of another set. */
static inline bool has_no_floats(uint32_t s)
{
    const char *set = sets[s] + strlen("cpu-");
    return strcmp(set_of_floats(set), set) != 0;
}

static uint64_t state; /* of the random numbers of draw */

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* A thread pool of `workers` workers that runs the work items from the last to the first. */
typedef struct team {
    nnrt_parallel parallel;
    uint32_t calls;
} team;

static void work_backward(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    team *t = (team *)user;
    t->calls++;
    for (uint32_t i = count; i-- > 0;)
        task(arg, i, i % t->parallel.workers);
}

/* The team t of so many workers for nnrt_session_desc.parallel; 0: NULL, the calling thread works alone. */
static inline const nnrt_parallel *team_of(team *t, uint32_t workers)
{
    memset(t, 0, sizeof(*t));
    t->parallel.run = work_backward;
    t->parallel.user = t;
    t->parallel.workers = workers;
    return workers > 0 ? &t->parallel : NULL;
}

/* A session with three workers needs exactly the bytes that nnrt_session_bytes reports: with one byte less its creation
   fails, with all of them it runs. Returns the number of calls of the team. */
static inline uint32_t run_in_bytes(const NNRT_Model *model, nnrt_session_desc desc, const nnrt_io *in,
                                    const nnrt_io *out)
{
    nnrt_session *session = NULL;
    nnrt_error e;
    size_t bytes = 0;
    team t;
    void *buffer = NULL;
    memset(&e, 0, sizeof(e));
    desc.parallel = team_of(&t, 3);
    assert_int_equal(nnrt_session_bytes(model, &desc, &bytes, &e), NNRT_SUCCESS);
    assert_int_equal(posix_memalign(&buffer, NNRT_ALIGNMENT, bytes), 0);
    desc.buffer = buffer;
    desc.bufferBytes = bytes - 1;
    assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_OUT_OF_MEMORY);
    desc.bufferBytes = bytes;
    assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, in, 1, out, 1), NNRT_SUCCESS);
    nnrt_session_destroy(session);
    free(buffer);
    return t.calls;
}

#endif
