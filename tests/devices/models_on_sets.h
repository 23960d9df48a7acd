/* Shared by tests of the fast device that run models of several types with each instruction set: random numbers,
   session descriptors, models. Include after cmocka.h, nnrt.h, nnrt_cpu.h and kit.h. */
#ifndef NNRT_TESTS_MODELS_ON_SETS_H
#define NNRT_TESTS_MODELS_ON_SETS_H

#include "sets.h"

/* ---- numbers ---- */

static inline size_t product_of(int32_t rank, const int32_t *dims)
{
    size_t count = 0;
    assert_true(nnrt_dims_count(dims, rank, &count));
    return count;
}

/* ---- devices ---- */

/* The values of the extensions nnrt.cpu.winograd, nnrt.cpu.memory and nnrt.cpu.kernel; NULL: not passed. With the last one,
   creation of a session without a step of that kernel fails. */
#define MOST_EXTENSIONS 3
static const char *tiles, *memory, *kernel;
static bool allows_half; /* enableFloat16 */

static void add_extensions(nnrt_session_desc *desc, NNRT_Extension extensions[MOST_EXTENSIONS])
{
    uint32_t count = 0;
    if (tiles != NULL) {
        extensions[count].name = "nnrt.cpu.winograd";
        extensions[count].data = tiles;
        extensions[count++].size = (uint32_t)strlen(tiles);
    }
    if (memory != NULL) {
        extensions[count].name = "nnrt.cpu.memory";
        extensions[count].data = memory;
        extensions[count++].size = (uint32_t)strlen(memory);
    }
    if (kernel != NULL) {
        extensions[count].name = "nnrt.cpu.kernel";
        extensions[count].data = kernel;
        extensions[count++].size = (uint32_t)strlen(kernel);
    }
    desc->extensions = NNRT_ExtensionList_make(extensions, count);
}

static NNRT_Model *finish(nnrt_builder *b)
{
    NNRT_Model *model = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    return model;
}

/* The code of creating a session whose steps must use kernel `name`: NNRT_NOT_SUPPORT if no step can. */
static inline NNRT_ReturnCode code_of_kernel(const char *device, const NNRT_Model *model, const char *name, bool half)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_error e;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.enableFloat16 = half;
    kernel = name;
    add_extensions(&desc, extensions);
    kernel = NULL;
    code = nnrt_session_create(&session, model, &desc, &e);
    nnrt_session_destroy(session);
    return code;
}

/* Runs a model in a new session; workers 0: the calling thread. Returns the number of calls of the team and, unless
   steps is NULL, the number of steps in *steps. */
static inline uint32_t run_session(const char *device, const NNRT_Model *model, const nnrt_io *in, uint32_t nIn,
                                   const nnrt_io *out, uint32_t nOut, uint32_t workers, uint32_t *steps)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_error e;
    team t;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.parallel = team_of(&t, workers);
    desc.enableFloat16 = allows_half && strcmp(device, "reference") != 0;
    if (strcmp(device, "reference") != 0)
        add_extensions(&desc, extensions);
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    if (nnrt_run(session, in, nIn, out, nOut) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, nnrt_session_error(session));
    if (steps != NULL)
        *steps = nnrt_session_get_memory(session).steps;
    nnrt_session_destroy(session);
    return t.calls;
}

#endif
