/*
nnrt.h - header-only neural-network inference in C: copy the headers, define one macro, run ONNX models.

WHY
    Exact memory: the bytes that a network needs are known before it runs, exactly, and a run allocates nothing.
    Speed: with devices/nnrt_cpu.h beside these headers a program uses the best SIMD instruction set of the processor.
    The same bits everywhere: the reference kernels have one result on every machine and compiler.
    Trust: for any file, argument or failing allocator, functions return a code and a message that names the place.
    A device is one table of functions: an accelerator is one file; partitioning, fallback and caching come for free.
    Every operator is self-contained: its attribute struct and its reference kernels can be read, and copied, alone.

QUICK START (examples/hello.c)
    // Runs a network once, on zeros.   cc -std=c99 -I. examples/hello.c -o hello -lm && ./hello MODEL.onnx
    #define NNRT_IMPLEMENTATION
    #include "formats/nnrt_onnx.h"

    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>

    int main(int argc, char **argv)
    {
        NNRT_Model *model = NULL;        // the network: plain data, immutable
        nnrt_session *session = NULL;    // the model prepared on a device, with its memory
        nnrt_io in = {NULL, 0, NULL}, out = {NULL, 0, NULL};
        nnrt_error error;                // one sentence: the node, the fault, the remedy
        size_t best = 0;
        memset(&error, 0, sizeof(error));
        if (argc != 2 || nnrt_onnx_load(&model, argv[1], NULL, &error) != NNRT_SUCCESS)
            goto end;
        if (nnrt_session_create(&session, model, NULL, &error) != NNRT_SUCCESS)
            goto end;                    // from here on nothing is allocated by nnrt
        in.bytes = nnrt_session_input(session, 0).bytes;
        out.bytes = nnrt_session_output(session, 0).bytes;
        in.data = calloc(1, in.bytes);   // your image, sound or text goes here
        out.data = calloc(1, out.bytes); // the caller owns inputs and outputs
        if ((error.code = nnrt_run(session, &in, 1, &out, 1)) != NNRT_SUCCESS)
            goto end;
        for (size_t i = 0; i < out.bytes / sizeof(float); i++)
            if (((const float *)out.data)[i] > ((const float *)out.data)[best])
                best = i;
        printf("largest output: %zu; arena: %zu bytes\n", best, nnrt_session_get_memory(session).arena);
    end:
        if (session == NULL || error.code != NNRT_SUCCESS)
            fprintf(stderr, "%s\n", argc != 2 ? "usage: hello MODEL" : session ? nnrt_session_error(session)
                                                                              : error.message);
        free(in.data);
        free(out.data);
        nnrt_session_destroy(session);   // NULL is fine
        nnrt_model_destroy(model);
        return error.code != NNRT_SUCCESS || session == NULL;
    }

FILES
    nnrt_ops.h             operators: types, attribute structs, shape rules, reference kernels
    core/nnrt_model.h      models as data, validation, the .nnrt format as bytes
    core/nnrt_plan.h       shape inference, memory planner, plan, executor: with the two above all that firmware needs
    nnrt_hal.h             device tables, registry, prepared models
    core/nnrt_graph.h      builder, optimizer passes
    nnrt.h                 the API for applications: files, cache, sessions, queue; includes all above
    formats/nnrt_onnx.h    ONNX files -> models; includes nnrt.h
    formats/nnrt_tflite.h  .tflite files -> models; includes nnrt.h
    formats/nnrt_gguf.h    GGUF files of language models -> models; includes nnrt.h
    formats/nnrt_quantize.h  float32 models -> 8-bit models; includes nnrt.h
    devices/nnrt_cpu.h     fast kernels; devices/nnrt_auto.h: partitions models over devices; the implementation
                           includes both if it finds them
    core/nnrt_frontend.h   features of sound and sensor signals for a network; includes nnrt_ops.h
    core/nnrt_text.h       tokenizers, samplers, chat templates; includes core/nnrt_model.h
    packaging/nnrt.c       the implementation as an object, for build systems that compile every .c file
    One file instead of all: make single writes dist/nnrt_all.h, and dist/nnrt.h without the readers of formats/.
    Each compiles alone, as C99 and as C++17. The implementation is compiled if NNRT_IMPLEMENTATION is defined before
    the include: in one file of the program. While it builds a model it uses stb_ds, under names of its own: a copy of
    stb_ds.h beside nnrt.h, else <stb/stb_ds.h> (Debian's libstb-dev). If you use stb_ds yourself, compile the
    implementation in a file of its own.

OPTIONS (define before including, alike in all files of the program)
    NNRT_IMPLEMENTATION    compile the implementation here
    NNRT_STATIC            all functions are static: for one file that does everything
    NNRT_API               linkage of public functions, for shared libraries; default extern
    NNRT_STB_DS_H          path of stb_ds.h, with its quotes; default "stb_ds.h" if it is found, else <stb/stb_ds.h>
    NNRT_NO_STDIO          no files: models are loaded from and saved to memory only
    NNRT_POSIX             1/0: files are identified, confined and created by POSIX calls; default: on Unix and macOS
    NNRT_MMAP              1/0: files and descriptors of buffers are mapped with mmap(); default: NNRT_POSIX
    NNRT_CPU               1/0: the implementation includes devices/nnrt_cpu.h; default: if it finds that file (the
                           compiler must have __has_include), except with x87 doubles (32-bit x86 without -mfpmath=sse),
                           and never with NNRT_FIRMWARE
    NNRT_AUTO              1/0: the implementation includes devices/nnrt_auto.h, which partitions models over devices;
                           default: if it finds that file, and never with NNRT_FIRMWARE
    NNRT_THREADS           1: thread pools and queues of runs, by POSIX threads, with gcc's or clang's atomics;
                           default 0: no thread is started
    NNRT_FIRMWARE          for a microcontroller: no builder, passes, saving, sessions, devices, heap or messages; there
                           remain nnrt_model_load_into, nnrt_plan_build, nnrt_plan_run, and the output of nnrt emit-c
    NNRT_NO_MESSAGES       faults have a code, node and tensor, but no text
    NNRT_STEP(plan, step)  a statement before each step of a plan: feeds a watchdog; default nothing
    NNRT_ASSERT(condition) checks an invariant of the library itself, never input; default nothing
    NNRT_REGIONS           the executor runs plans with several memory regions (nnrt emit-c --region)
    NNRT_MAX_RANK          axes a tensor may have, 4 to 8; default 8
    NNRT_SELECT            only the operators NAME with NNRT_KEEP_NAME defined as 1, and kernels for NNRT_KEEP_TYPES
    NNRT_PIECE_BYTES       bytes requested from the allocator at once during preparation; default 4096
    NNRT_FP_STRICT         clang with -ffp-contract=fast: the kernels keep their bits anyway (slow)

SECTIONS (search for the tag)
    >>file      .nnrt files: saving and loading by path; the format in memory is in nnrt_model.h
    >>cache     the model cache: prepared forms of devices, stored for the next start
    >>pool      the thread pool of runs
    >>sessions  preparing and running a model
    >>queue     runs on other threads, with priorities and time limits
    -- implementation --
    >>file >>cache >>pool >>sessions >>queue

nnrt DOES NOT
    train, or support strings and sequences. A tensor has at most 8 axes and, because descriptors count bytes in 32
    bits, less than 4 GiB. Dynamic shapes: when a session is created, dynamic dimensions of inputs become fixed by
    nnrt_session_desc.inputDims, or stay dynamic up to nnrt_session_desc.bounds; the rank never changes. emit-c writes
    static shapes only. Each subgraph of a model or file belongs to one node (IF, LOOP); a builder copies it for a
    second node. Quantized arithmetic: int8 and uint8; int16 in CONV2D_FUSION and FULL_CONNECTION. nnrt_ops.h lists all
    operators: NNRT_OPS.

ERRORS
    Functions that can fail return NNRT_ReturnCode (0 = NNRT_SUCCESS) and write their results through pointers, NULL on
    failure. The nnrt_error that you pass, zeroed once, receives one sentence: node, operator, found and expected
    values. Functions that make, load, save or optimize a model, or create a session, clear an earlier fault. A session
    stays usable after a failed run.

MEMORY
    nnrt_session_bytes() returns the exact size of a session; pass a buffer of that size in nnrt_session_desc.buffer,
    and nothing is allocated. One byte less is NNRT_OUT_OF_MEMORY. Otherwise all memory comes from
    nnrt_session_desc.allocator, or malloc, when the session is created. Constants of the model are used in place, in
    flash or in the memory of a file, and not copied. Inputs are read and outputs written in the caller's arrays.

THREADS
    A model is immutable and may be used by any number of threads. A session belongs to one thread at a time; sessions
    created with nnrt_session_desc.share use one prepared model, each with a workspace of its own. Any thread may cancel
    a run (nnrt_session_cancel). A run uses the thread that calls it, and the threads of nnrt_session_desc.parallel: the
    application's, or with NNRT_THREADS a thread pool (nnrt_pool). With NNRT_THREADS an nnrt_queue executes runs on
    threads of its own and calls back.

DEVICES
    "reference" runs every operator with the kernels of nnrt_ops.h: the same bits everywhere. "cpu" is faster (SIMD,
    operator fusion), needs memory for prepacked weights, and its bits depend on the instruction set; it exists unless
    NNRT_CPU is 0 or the processor has none of its instruction sets. "auto", the default, runs a model on the best
    registered device that supports all of it, "cpu" before "reference", or partitions it over several devices, with
    "reference" for the rest; "auto:npu0,npu1" names the devices. A device of your own is an NNRT_DeviceVtbl
    (nnrt_hal.h, >>tables) and one call of nnrt_device_register.

AN OPERATOR OF YOUR OWN
    nnrt_op_register (nnrt_ops.h, >>api) adds a row to the registry, as for built-in operators: name, operands,
    attributes, shape rule, kernels. Its nodes are checked, saved, imported from ONNX by that name and run like those
    of built-in operators: on "reference", also as the rest of a model that is partitioned over other devices.
    Example: examples/custom.

ADDING AN OPERATOR
    See the top of nnrt_ops.h: a table row, an attribute struct, a shape rule, a reference kernel, a test.

MIT license, see LICENSE.
*/
#ifndef NNRT_H
#define NNRT_H

#if defined(NNRT_FIRMWARE) && !defined(NNRT_NO_STDIO)
#define NNRT_NO_STDIO
#endif
#ifndef NNRT_THREADS
#define NNRT_THREADS 0
#endif

/* The implementation includes the fast device if it finds its file beside this one. */
#ifdef NNRT_FIRMWARE
#undef NNRT_CPU
#define NNRT_CPU 0
#elif !defined(NNRT_CPU) && defined(__has_include)
#if __has_include("devices/nnrt_cpu.h") && !(defined(__i386__) && defined(__GNUC__) && __FLT_EVAL_METHOD__ == 2)
#define NNRT_CPU 1 /* x87 evaluates double as long double, which gcc cannot combine with SIMD vectors */
#endif
#endif
#ifndef NNRT_CPU
#define NNRT_CPU 0
#endif
/* The same for auto, the device that partitions a model over the others. */
#ifdef NNRT_FIRMWARE
#undef NNRT_AUTO
#define NNRT_AUTO 0
#elif !defined(NNRT_AUTO) && defined(__has_include)
#if __has_include("devices/nnrt_auto.h")
#define NNRT_AUTO 1
#endif
#endif
#ifndef NNRT_AUTO
#define NNRT_AUTO 0
#endif
#if defined(NNRT_REMOTE_IMPLEMENTED) && !defined(NNRT_IMPLEMENTED) && (NNRT_CPU || NNRT_AUTO)
#error "include nnrt.h before devices/nnrt_remote.h, which has compiled the registry without the devices cpu and auto"
#endif
#if NNRT_CPU && !defined(NNRT_BUILTIN_DEVICE)
#define NNRT_BUILTIN_DEVICE nnrti_cpu_table
#endif
#if NNRT_AUTO && !defined(NNRT_AUTO_DEVICE)
#define NNRT_AUTO_DEVICE nnrti_auto_table
#endif

#ifdef NNRT_FIRMWARE
#include "core/nnrt_plan.h" /* all that firmware needs */
#else
#include "nnrt_hal.h"
#include "core/nnrt_graph.h"
#endif

#define NNRT_VERSION_MAJOR 0
#define NNRT_VERSION_MINOR 2
#define NNRT_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

#ifndef NNRT_FIRMWARE

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>file */

#ifndef NNRT_NO_STDIO
/* Saves a model as a .nnrt file. Writes a temporary file beside path, PATH.0.tmp or with the next free number, and
   renames it to path once it is complete: after a failure path is unchanged, and of two concurrent writers one wins
   entirely. An existing device, pipe or other non-regular file is not replaced, if the system can tell:
   NNRT_INVALID_PATH. A symbolic link is replaced, not its target. */
NNRT_API NNRT_ReturnCode nnrt_model_save(const NNRT_Model *model, const char *path, const nnrt_save_desc *desc,
                                         nnrt_error *error);
/* Loads the model of a .nnrt file. Maps the file if the system supports it, otherwise reads it. A mapped file must not
   be truncated or overwritten while the model exists; replacing it by renaming, as nnrt_model_save does, is safe. */
NNRT_API NNRT_ReturnCode nnrt_model_load(NNRT_Model **model, const char *path, const nnrt_load_desc *desc,
                                         nnrt_error *error);
/* Writes any bytes to a file, as nnrt_model_save does. INVALID_PATH: the file cannot be created there; FAILED: writing
   failed. */
NNRT_API NNRT_ReturnCode nnrt_file_write(const char *path, const void *data, size_t bytes, nnrt_error *error);
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>cache */

/* A model cache: stores the prepared forms of models and partitions (ExportModelCache), so that the next session
   restores them (PrepareModelFromModelCache) and compiles nothing. An entry is used only for the same model and
   constants, the same options (float16, performance mode, extensions, dimensions, bounds, maxTrips), a device of the
   same unique name, version and type, the same NNRT_LAYOUT, and with the right length and checksum. Everything else
   is prepared as without a cache, and replaced. The checksums (64 bits, FNV-1a) detect files that are damaged,
   truncated, old or foreign. They are no signatures: whoever may write the file can give it a matching checksum, and
   whoever chooses a model can make one with the checksum of another. The device must withstand such input; to exclude
   it, make the directory private to the program, or keep the bytes yourself, encrypted or signed, and pass them as
   data. The key of a model is a digest of all of its weights, not a version string of the application: with a string
   that somebody forgets to change, the old model would silently run, while the digest costs one reading of the
   weights. Prepacked weights (nnrt_packs: the device "cpu") may also be stored with the model: with `packed`, a cache
   in memory holds them for nnrt_save_desc, and sessions of the model that was loaded from such a file use them in
   place, so that a mapped file is read only as a run reads it. Verifying checksums of such weights would take as long
   as packing them; the model cache of "cpu" has a model and prepacked weights of its own, which are copied, and
   verifies them. */
typedef struct nnrt_cache nnrt_cache;

/* All zero: entries are kept in memory only, for nnrt_cache_save_memory and nnrt_save_desc. */
typedef struct nnrt_cache_desc {
    /* Directory of the file TOKEN.nnrt. Sessions read it, and write it, as nnrt_model_save does, if an entry was
       missing. NULL: no file. With NNRT_NO_STDIO it must be NULL, otherwise NOT_SUPPORT. */
    const char *directory;
    /* Letters, digits, '.', '_' and '-', not '.' first. NULL: 16 digits from the model, the options and the name of the
       session's device. */
    const char *token;
    const void *data; /* output of nnrt_cache_save_memory: searched before the file; must outlive the cache */
    size_t bytes;
    const nnrt_allocator *allocator;
    bool packed; /* for nnrt_save_desc: store prepacked weights with the model. With directory or data:
                    INVALID_PARAMETER */
} nnrt_cache_desc;

/* The use of the cache by the last session. */
typedef struct nnrt_cache_state {
    uint32_t restored;     /* models or partitions that devices restored from it */
    uint32_t prepared;     /* partitions that devices with a cache had to prepare */
    uint32_t packed;       /* weights that these devices packed ("cpu"); 0: all were restored */
    uint32_t kept;         /* restored and prepared partitions that it stores now: a device may fail to export */
    NNRT_ReturnCode saved; /* result of writing the file; SUCCESS also if there was nothing to write */
    nnrt_error fault;      /* why the old file was not used, else why the file was not written; code SUCCESS: neither */
} nnrt_cache_state;

/* Creates a cache; desc NULL: all zero. */
NNRT_API NNRT_ReturnCode nnrt_cache_create(nnrt_cache **cache, const nnrt_cache_desc *desc, nnrt_error *error);
/* Frees a cache, which sessions do not need any more once they exist. NULL is fine. */
NNRT_API void nnrt_cache_destroy(nnrt_cache *cache);
/* The use of the cache by the last session; NULL: cache is NULL. */
NNRT_API const nnrt_cache_state *nnrt_cache_get_state(const nnrt_cache *cache);
/* Writes the prepared forms of the last session's devices into memory, for nnrt_cache_desc.data. out NULL: only sets
   *bytes, as nnrt_model_save_memory. OPERATION_FORBIDDEN: they exported nothing. desc (NULL: all zero): its member
   cache is ignored. */
NNRT_API NNRT_ReturnCode nnrt_cache_save_memory(const nnrt_cache *cache, const nnrt_save_desc *desc, void *out,
                                                size_t size, size_t *bytes, nnrt_error *error);
struct nnrt_session_desc;
/* Whether the cache has everything for a session of this description (desc->cache is ignored), so that no device with
   a cache would prepare anything. *usable is the answer; false also if no device has a cache, or a session would
   fail. Devices are asked by restoring, as only they can decide: restored forms are released again, missing ones are
   not made. Nothing is written. Afterwards the cache has no last session; if something was not usable, its state's
   fault has the reason. */
NNRT_API NNRT_ReturnCode nnrt_cache_ask(nnrt_cache *cache, const NNRT_Model *model,
                                        const struct nnrt_session_desc *desc, bool *usable, nnrt_error *error);
/* Prepares a model on a device through a cache, without a session: otherwise as nnrt_device_prepare. The model may have
   no nodes. With config->buffer: NOT_SUPPORT. */
NNRT_API NNRT_ReturnCode nnrt_cache_prepare(nnrt_cache *cache, nnrt_device *device, const NNRT_Model *model,
                                            const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>pool */

#if NNRT_THREADS
/* A thread pool: runs share the work items of a step over its threads, if a session (nnrt_session_desc.parallel) or a
   device (NNRT_ModelConfig.parallel) has it. Any number of sessions, of any threads, may share one pool. It serves
   one step at a time (parallel_for); a session that finds it busy computes its step on its own thread. So no session
   waits for another, and a single one has the whole pool. Results do not depend on it. During a run the threads poll
   for work for 0.2 ms after the last work item, then sleep; after the run they sleep. If no step of a model is worth
   sharing, they are never woken. Beside busy processes they give way. A session compares runs with the pool's threads
   and runs alone from time to time, and keeps to the faster way. A run takes a lock only to wake a sleeping thread, or
   to sleep while another thread takes long to finish its work item. */
typedef struct nnrt_pool nnrt_pool;

#define NNRT_MAX_POOL 1024u /* threads */

/* All zero is the default. */
typedef struct nnrt_pool_desc {
    uint32_t threads; /* threads per run, including the calling one: the pool starts one fewer. 0 = the number of
                         processors that the system gives to programs */
    uint32_t linger;  /* microseconds for which idle threads poll before they sleep, during and between runs: waking
                         them may take longer than a short run. 0 = no polling between runs */
    const nnrt_allocator *allocator;
    /* Default of threads and linger: LOW is one thread, MEDIUM half of the processors, the others all of them; EXTREME
       lingers for 2 ms. */
    NNRT_PerformanceMode mode;
} nnrt_pool_desc;

/* Creates a pool: starts the threads and allocates all memory that it ever needs. FAILED: the system cannot start all
   threads; the started threads have ended. The threads inherit the signal mask of the calling thread. */
NNRT_API NNRT_ReturnCode nnrt_pool_create(nnrt_pool **pool, const nnrt_pool_desc *desc, nnrt_error *error);
/* Ends the threads of a pool, and frees it. Destroy the sessions that use it first. NULL is fine. */
NNRT_API void nnrt_pool_destroy(nnrt_pool *pool);
/* The interface of a pool for sessions; it belongs to the pool and lives as long. NULL: pool is NULL. */
NNRT_API const nnrt_parallel *nnrt_pool_parallel(const nnrt_pool *pool);
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>sessions */

/* All zero is the default: the best device, memory from malloc. */
typedef struct nnrt_session_desc {
    const char *device; /* NULL = "auto"; "auto:npu0,npu1": these, the preferred one first, then reference */
    uint32_t threads;   /* 0 = one */
    const nnrt_allocator *allocator;
    void *buffer; /* memory of the whole session, nothing is allocated; aligned to NNRT_ALIGNMENT */
    size_t bufferBytes;
    bool copyConstants;         /* the model may be destroyed before the session */
    nnrt_dims_list inputDims;   /* dimensions of inputs that have -1: one entry per input of the model, states
                                   included. -1: see bounds */
    struct nnrt_session *share; /* shares the prepared model of this session: same model, own workspace, other thread;
                                   inputDims equal that session's, or are empty; bounds, maxTrips and
                                   profile are ignored */
    nnrt_bound_list bounds;     /* upper bounds of dynamic dimensions, by tensor: of an input with -1, or of a
                                   result with a data-dependent shape */
    uint32_t maxTrips;          /* iterations of a LOOP after which the run fails with TIME_OUT; 0 = NNRT_MAX_TRIPS */
    const nnrt_profile *profile; /* receives each step of a run (nnrt_plan.h); copied. NULL: none. Without a clock of
                                    its own it uses the system's, in nanoseconds, which NNRT_NO_STDIO lacks */
    const nnrt_log *log; /* receives lines while the session is created: the devices that support the model, and its
                            memory. NULL: none */
    const nnrt_partition *partition; /* how auto partitions the model, and a report; NULL: all zero */
    /* The next three require a device with that ability (nnrt_device_can): otherwise NOT_SUPPORT; auto passes them to
       each of its devices that has it. They and the members after them are ignored if the session shares. */
    bool enableFloat16;            /* allows float16 weights and arithmetic: HALF PRECISION in devices/nnrt_cpu.h */
    NNRT_PerformanceMode mode;     /* NNRT_PERFORMANCE_NONE to _EXTREME */
    NNRT_Priority priority;        /* NNRT_PRIORITY_NONE to _HIGH; also of its queued runs that have none */
    NNRT_ExtensionList extensions; /* names and values for the device, which copies them */
    /* The model in the device's own format (PrepareOfflineModel); the caller may free or change it once the session
       exists. `model` then defines inputs and outputs, with names, types and shapes; its nodes are ignored. The size
       of a buffer is unknown (nnrt_session_bytes: NOT_SUPPORT). */
    const NNRT_SharedBuffer *offline;
    uint32_t offlineCount; /* 0 = none */
    /* The model cache of the session, used by one thread at a time. NULL: none. Not with buffer, share or offline.
       Device sections of a .nnrt file are used without a cache as well, but not with buffer. */
    nnrt_cache *cache;
    /* The threads for the work items of kernels, and for packing weights while the session is created: the
       application's, or a thread pool's (nnrt_pool_parallel); auto runs partitions on different devices concurrently
       with them, which may need a larger arena. They must outlive the session and the sessions that share its prepared
       model; each session calls `run` from its own thread. NULL: the calling thread does all work. No session ever
       starts a thread. */
    const nnrt_parallel *parallel;
    nnrt_ask ask; /* answers devices that ask for objects of the application (nnrt_plan.h); does not reach devices in
                     other processes. NULL: nobody answers */
    const nnrt_context *contexts; /* contexts for devices (nnrt_context_open); they must outlive the session */
    uint32_t nContexts;
    /* Inputs by name: their dimensions, as inputDims has them by position, or a value, which makes the input a constant:
       it is not an input of the session. The session then owns a model that nnrt_model_fix made of `model`.
       A deferred model (nnrt_model_deferred) needs the sizes and values that its reason names, here or in inputDims, and
       must outlive the session. Neither with buffer: the size of such a session is unknown (nnrt_session_bytes:
       NOT_SUPPORT). A session that shares has none of its own. */
    const nnrt_input *inputs;
    uint32_t inputCount; /* 0 = none */
} nnrt_session_desc;

typedef struct nnrt_session nnrt_session;

/* Prepares the model on a device; afterwards nothing is allocated. The model must outlive the session unless
   copyConstants is set. On failure *session is NULL, and error (may be NULL) names node, operator, found and expected
   values. The session keeps the states of the model (metadata "states", nnrt_model.h): they are neither inputs nor
   outputs of the session; each session, shared or not, has its own. */
NNRT_API NNRT_ReturnCode nnrt_session_create(nnrt_session **session, const NNRT_Model *model,
                                             const nnrt_session_desc *desc, nnrt_error *error);
/* Frees a session, and the blocks of nnrt_session_allocate. NULL is fine. */
NNRT_API void nnrt_session_destroy(nnrt_session *session);
/* The exact size of desc->buffer in bytes: one fewer is NNRT_OUT_OF_MEMORY. */
NNRT_API NNRT_ReturnCode nnrt_session_bytes(const NNRT_Model *model, const nnrt_session_desc *desc, size_t *bytes,
                                            nnrt_error *error);
/* The record of the memory of a session, in bytes. total: all memory that it keeps, tables and arena included;
   preparing may need more temporarily, which nnrt_session_bytes counts. bound: largest sum of results that are live at
   once: no arena can be smaller. constants: of the model, used in place, not part of total. steps: of the plan,
   subgraphs included. states: buffers of the states, part of total and of tables. */
typedef struct nnrt_session_memory {
    size_t total, tables, arena, bound, constants;
    uint32_t steps;
    size_t states;
} nnrt_session_memory;
/* The memory of a session; all zero for NULL. */
NNRT_API nnrt_session_memory nnrt_session_get_memory(const nnrt_session *session);
/* The unique name of the device that runs a session; "" for NULL. */
NNRT_API const char *nnrt_session_device(const nnrt_session *session);
/* The number of states that a session keeps between runs. A state has two buffers in the memory of the session, of which
   a run reads one and writes the other. A state that nothing reads but a node TENSOR_SCATTER whose result is its output
   has one buffer: a run writes the new rows into it, and copies nothing. */
NNRT_API uint32_t nnrt_session_states(const nnrt_session *session);
/* Sets the states of a session to their initial values. Not during a run. */
NNRT_API void nnrt_session_reset(nnrt_session *session);

/* ---- inputs and outputs ---- */

/* One input or output buffer, aligned to its element size. bytes: exactly the size of the tensor (outputs: at least).
   dims: the dimensions of an input in this run, one per axis; NULL: as planned. Ignored for outputs. */
typedef struct nnrt_io {
    void *data;
    size_t bytes;
    const int32_t *dims;
} nnrt_io;
/* An array variable as the only input (output) of nnrt_run: nnrt_run(session, NNRT_IO(image), NNRT_IO(scores)). */
#ifdef __cplusplus
#define NNRT_IO(array) nnrt_io_address(nnrt_io_make((void *)(array), sizeof(array))), 1
#else
#define NNRT_IO(array) &(nnrt_io){(void *)(array), sizeof(array), NULL}, 1
#endif
static inline nnrt_io nnrt_io_make(void *data, size_t bytes)
{
    nnrt_io io;
    io.data = data;
    io.bytes = bytes;
    io.dims = NULL;
    return io;
}

typedef struct nnrt_io_info {
    const char *name;
    NNRT_DataType dataType;
    NNRT_Format format;
    nnrt_dims shape;
    bool open; /* dimensions may differ from run to run */
    size_t bytes;
} nnrt_io_info;
/* The number of inputs, and of outputs, of a session: those of the model that are no states. */
NNRT_API uint32_t nnrt_session_inputs(const nnrt_session *session);
NNRT_API uint32_t nnrt_session_outputs(const nnrt_session *session);
/* Name, type and shape of an input or output as planned. Dynamic dimensions have their upper bounds (bytes: SIZE_MAX if
   their product overflows; a run whose axes vary in opposite directions needs far less). After a run, a dynamic output
   has the dimensions of that run, and the bytes that it requires. Index after the last: all zero. */
NNRT_API nnrt_io_info nnrt_session_input(const nnrt_session *session, uint32_t index);
NNRT_API nnrt_io_info nnrt_session_output(const nnrt_session *session, uint32_t index);

/* Memory for an input or output that the session's device accesses directly, so that nothing is copied: a block of
   the device (AllocateBuffer), or of the system if it has none. *io is then passed to nnrt_run; its size is that of
   the upper bounds. It is valid until the session is destroyed, or another block replaces it. Not for sessions in a
   caller's buffer, because a table is allocated for it. */
NNRT_API NNRT_ReturnCode nnrt_session_allocate(nnrt_session *session, bool output, uint32_t index, nnrt_io *io);
/* Makes an existing block the memory of an input or output, as nnrt_session_allocate does a new one: it is mapped once,
   and its descriptor is passed to the device in each run. The descriptor is the caller's and stays open while the
   session uses it. INVALID_BUFFER: it cannot be mapped. buffer NULL: removes it. */
NNRT_API NNRT_ReturnCode nnrt_session_map(nnrt_session *session, bool output, uint32_t index,
                                          const NNRT_SharedBuffer *buffer, nnrt_io *io);

/* ---- states: to look at, to save, to shorten; not during a run ---- */

/* A state of a session. data: its current value, info.bytes long, which the caller may change. The next run may leave
   the value in another buffer, unless the state is in place. axis: along which a run adds rows to a state in place; -1: it is
   not in place. */
typedef struct nnrt_state {
    nnrt_io_info info;
    void *data;
    int32_t axis;
} nnrt_state;
/* Returns a state by its index. Index after the last: all zero. */
NNRT_API nnrt_state nnrt_session_state(const nnrt_session *session, uint32_t index);

/* Saved states. */
typedef struct nnrt_states {
    uint32_t rows;    /* of each state in place, the first ones along its axis; of other states all is saved */
    const void *note; /* bytes of the caller that are saved beside, such as the tokens of a cache */
    size_t noteBytes;
} nnrt_states;
/* Writes the states of a session of this model into memory, for nnrt_file_write. out NULL: only sets *bytes.
   INSUFFICIENT_BUFFER: size is less. NOT_SUPPORT: the rows are pages (metadata "pages"). */
NNRT_API NNRT_ReturnCode nnrt_session_save_states(const nnrt_session *session, const NNRT_Model *model,
                                                  const nnrt_states *states, void *out, size_t size, size_t *bytes,
                                                  nnrt_error *error);
/* Sets the states of a session to saved ones. Its model must have the same states and constants as that of the saved ones
   (compared are types, shapes and the first 64 KiB of each constant), but the states in place may have any number of rows
   that suffices. On failure the states are unchanged. states (may be NULL) receives the rows and the note, which is in
   data. session NULL: only checks length and checksum, and sets *states. data are untrusted. */
NNRT_API NNRT_ReturnCode nnrt_session_load_states(nnrt_session *session, const NNRT_Model *model, const void *data,
                                                  size_t bytes, nnrt_states *states, nnrt_error *error);
/* Removes `count` rows from row `first` on of a cache of `rows` rows: the later ones move there, of all states. Keys that
   were rotated by their positions are turned to the new ones (those of int8 are quantized again), so that the next run
   continues at rows - count. The remaining rows keep the influence that the removed ones had on them in deeper layers.
   count 0: only checks. NOT_SUPPORT: not all states are in place, their rows are pages (metadata "pages"), or the model
   does not say how its keys depend on positions (metadata "rotary", nnrt_model.h), as with learned position embeddings. */
NNRT_API NNRT_ReturnCode nnrt_session_drop_rows(nnrt_session *session, const NNRT_Model *model, uint32_t rows,
                                                uint32_t first, uint32_t count, nnrt_error *error);

/* ---- runs ---- */

/* Runs the network once: reads the inputs, writes the outputs in place. A failed or cancelled run leaves the states as
   they were, but for the rows that it writes of a state in place (nnrt_session_states): the cache of a decoder is as
   it was for whoever does not advance the position. Blocks; one thread at a time per session. A dimension above its
   upper bound is NNRT_OUT_OF_DIMENTION_RANGES; an output whose buffer is too small is not written:
   NNRT_INSUFFICIENT_BUFFER, and nnrt_session_output returns the required size. */
NNRT_API NNRT_ReturnCode nnrt_run(nnrt_session *session, const nnrt_io *inputs, uint32_t nIn, const nnrt_io *outputs,
                                  uint32_t nOut);
/* Cancels the current run of a session. nnrt_run returns NNRT_CANCELLED before the next step of its plan, or when
   the device has finished, if that does not poll (RunUntil); outputs are then undefined. May be called by any thread,
   by callbacks and by kernels. NNRT_OPERATION_FORBIDDEN: no run is active. A run that fails for another reason
   meanwhile returns that. */
NNRT_API NNRT_ReturnCode nnrt_session_cancel(nnrt_session *session);
/* The message of the last failed nnrt_run, nnrt_session_allocate or nnrt_session_map; "" after success. */
NNRT_API const char *nnrt_session_error(const nnrt_session *session);

#if NNRT_THREADS
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>queue */

/* A queue of runs with its own threads. The next run is the one with the highest priority; among equal priorities the
   first one queued. Any thread may call all functions. */
typedef struct nnrt_queue nnrt_queue;

/* All zero is the default. */
typedef struct nnrt_queue_desc {
    uint32_t threads; /* threads that execute runs; 0 = one. One more enforces time limits. */
    uint32_t places;  /* runs that may wait at once; 0 = NNRT_QUEUE_PLACES */
    const nnrt_allocator *allocator;
} nnrt_queue_desc;

#define NNRT_QUEUE_PLACES 64
#define NNRT_MAX_QUEUE 65536u /* threads, places */

/* The options of a queued run. done is called once for each accepted run, on a thread of the queue or on the one that
   cancels; message: the fault, "" after success, valid until done returns. done may queue and cancel runs, but must not
   wait for the queue (nnrt_queue_wait, nnrt_queue_drop) or destroy it. A run that waits longer than its time limit is not started; one that takes longer is
   cancelled as by nnrt_session_cancel, and other work counts as failed once it ends; its results are undefined: all
   of these end with NNRT_TIME_OUT. */
typedef struct nnrt_queued {
    NNRT_Priority priority; /* NNRT_PRIORITY_NONE: that of the session; if it is NONE, and for other work, MEDIUM */
    uint32_t timeLimit;     /* milliseconds from the call on, by the system's clock; 0 = none */
    void (*done)(void *user, NNRT_ReturnCode code, const char *message);
    void *user;
} nnrt_queued;

/* Creates a queue: starts the threads and allocates all memory that it ever needs. */
NNRT_API NNRT_ReturnCode nnrt_queue_create(nnrt_queue **queue, const nnrt_queue_desc *desc, nnrt_error *error);
/* Ends a queue. Waiting runs end with NNRT_CANCELLED; the function waits for active ones. NULL is fine. */
NNRT_API void nnrt_queue_destroy(nnrt_queue *queue);
/* Queues a run: nnrt_run on a thread of the queue. Arguments and arrays must stay unchanged until done is called. Runs
   of one session execute one at a time. *ticket (may be NULL) is the run's number, never 0. Not accepted, so that done
   is not called: NULL_PTR, INVALID_PRIORITY, DEVICE_BUSY = the queue is full, OPERATION_FORBIDDEN = the queue is being
   destroyed, or nnrt_queue_drop drops the runs of this session. */
NNRT_API NNRT_ReturnCode nnrt_run_async(nnrt_queue *queue, nnrt_session *session, const nnrt_io *inputs, uint32_t nIn,
                                        const nnrt_io *outputs, uint32_t nOut, const nnrt_queued *how,
                                        uint64_t *ticket);
/* Other work than runs; done receives its code and the message that it may set (NULL = none). */
typedef NNRT_ReturnCode (*nnrt_queue_work)(void *context, const char **message);
/* Queues work of any kind, as nnrt_run_async does runs. Work with the same key executes one at a time; NULL:
   concurrently with any other. */
NNRT_API NNRT_ReturnCode nnrt_queue_add(nnrt_queue *queue, nnrt_queue_work work, void *context, const void *key,
                                        const nnrt_queued *how, uint64_t *ticket);
/* Cancels a queued run or other work. A waiting run ends with NNRT_CANCELLED before the function returns, an active one
   soon after, as by nnrt_session_cancel. NNRT_OPERATION_FORBIDDEN: the run is over, or it is active work of
   nnrt_queue_add. */
NNRT_API NNRT_ReturnCode nnrt_queue_cancel(nnrt_queue *queue, uint64_t ticket);
/* Waits until the queue is empty and done has returned for all runs. */
NNRT_API void nnrt_queue_wait(nnrt_queue *queue);
/* Cancels all waiting work with this key, of a run its session (NNRT_CANCELLED), then waits until done has returned for all
   work with this key, whichever thread calls it. Until then no further work with this key is accepted, not even from done:
   nothing that the work uses is needed any more when the function returns. key NULL: returns at once. */
NNRT_API void nnrt_queue_drop(nnrt_queue *queue, const void *key);
#endif

#endif /* NNRT_FIRMWARE */

/* The version of the implementation: "0.2.0". */
NNRT_API const char *nnrt_version(void);

#ifdef __cplusplus
}
#ifndef NNRT_FIRMWARE
/* For NNRT_IO: the address of a temporary, valid until the end of the call. */
static inline const nnrt_io *nnrt_io_address(const nnrt_io &io)
{
    return &io;
}
#endif
#endif

#endif /* NNRT_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_IMPLEMENTED)
#define NNRT_IMPLEMENTED

#ifdef NNRT_FIRMWARE
#include "core/nnrt_plan.h" /* its implementation, if only its declarations were included so far */
#else
#include "nnrt_hal.h" /* the same */
#include "core/nnrt_graph.h"
#endif
#if NNRT_AUTO
#include "devices/nnrt_auto.h"
#endif
#if NNRT_CPU
#include "devices/nnrt_cpu.h"
#endif

#include <string.h>
#ifndef NNRT_NO_STDIO
#include <errno.h>
#include <stdio.h>
#include <time.h>
#ifdef __MINGW32__
#include <sys/time.h>
#endif
#endif

#if NNRT_THREADS && !defined(NNRT_FIRMWARE)
#ifndef __GNUC__
#error "NNRT_THREADS needs the atomics of gcc or clang: with this compiler leave it 0"
#endif
#include <pthread.h>
#include <sched.h>
#include <sys/time.h>
#include <unistd.h>
#endif

NNRT_API const char *nnrt_version(void)
{
#define NNRTI_TEXT2(x) #x
#define NNRTI_TEXT(x) NNRTI_TEXT2(x)
    return NNRTI_TEXT(NNRT_VERSION_MAJOR) "." NNRTI_TEXT(NNRT_VERSION_MINOR) "." NNRTI_TEXT(NNRT_VERSION_PATCH);
}

#ifndef NNRT_FIRMWARE

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>file */

NNRT_SETUP()

#ifndef NNRT_NO_STDIO

/* Idea: paths, streams and memory maps only; the format is in nnrt_model.h, >>format. A file is written to a
   temporary name as the writer emits its bytes, so that no copy of the model is in memory; the checksum, which is
   known at the end, overwrites its zeros last. Invariant: path always names a complete file, the old one or the new
   one, because the new file takes its name in one step, after every write and fclose have succeeded. A failure, also of
   that step (Windows does not replace a file that is open), removes the temporary file.
   Files are not synced to the disk: after a power failure one may be incomplete, which its checksum detects.
   Rejected: writing to path itself, which loses the old file if the disk is full, and shortens it under programs that
   have mapped it. */

/* The message ends in the system's reason. Callers clear errno before they begin: C does not require that fopen and
   fwrite set it. */
static NNRT_ReturnCode nnrti_file_path_fault(nnrt_error *error, NNRT_ReturnCode code, const char *what,
                                             const char *path)
{
    const char *const why = errno != 0 ? strerror(errno) : "";
    return nnrt_error_set(error, code, "cannot %s %s%s%s", what, path, *why != '\0' ? ": " : "", why);
}

/* False: path is a device, pipe or directory and must not be replaced. stat follows symbolic links; a path that it
   cannot read counts as new, and creating the temporary file beside it reports the fault. Without POSIX only an empty
   path is recognized. */
static bool nnrti_save_may_replace(const char *path)
{
#if NNRT_POSIX
    struct stat s;
    return stat(path, &s) != 0 || S_ISREG(s.st_mode);
#else
    return *path != '\0';
#endif
}

#define NNRTI_SAVE_NAMES 1000u       /* tried at most: files may have been left by programs that ended */
#define NNRTI_SAVE_SUFFIX ".999.tmp" /* the longest */

/* Creates a file with a new name beside path, thus on the same file system, as rename requires; name receives it. C99
   cannot create a file only if it does not exist; POSIX can (O_EXCL, which also refuses a symbolic link of that
   name), elsewhere nnrt looks first. NULL: impossible. */
static FILE *nnrti_save_open(char *name, size_t size, const char *path)
{
    errno = 0;
    for (uint32_t i = 0; i < NNRTI_SAVE_NAMES; i++) {
#if NNRT_POSIX
        int fd;
        (void)nnrt_text(name, size, "%s.%u.tmp", path, i);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd >= 0) {
            (void)close(fd);
            return fopen(name, "r+b");
        }
        if (errno != EEXIST)
            return NULL;
#else
        FILE *f;
        (void)nnrt_text(name, size, "%s.%u.tmp", path, i);
        if ((f = fopen(name, "rb")) == NULL)
            return fopen(name, "wb");
        (void)fclose(f);
#endif
    }
    return NULL;
}

/* A file that is written. failed: errno of the first write that failed, -1: unknown; 0: none failed. */
typedef struct nnrti_saving {
    FILE *file;
    int failed;
} nnrti_saving;

static void nnrti_save_fault(nnrti_saving *s)
{
    if (s->failed == 0)
        s->failed = errno != 0 ? errno : -1;
}

/* nnrti_write into the file. The writer has no way to stop: after a failure the rest of its bytes is dropped here. */
static void nnrti_save_write(void *user, const void *data, size_t bytes)
{
    nnrti_saving *s = (nnrti_saving *)user;
    if (s->failed == 0 && bytes > 0 && fwrite(data, 1, bytes, s->file) != bytes)
        nnrti_save_fault(s);
}

#if defined(_WIN32)
#ifdef __cplusplus
extern "C"
#endif
__declspec(dllimport) int __stdcall MoveFileExA(const char *from, const char *to, unsigned long flags);
#endif

/* Renames a file; an existing one of that name is replaced in one step. rename of Windows does not replace. */
static bool nnrti_rename(const char *from, const char *to)
{
#if defined(_WIN32)
    const unsigned long replaceExisting = 1; /* MOVEFILE_REPLACE_EXISTING */
    errno = MoveFileExA(from, to, replaceExisting) != 0 ? 0 : EACCES;
    return errno == 0;
#else
    return rename(from, to) == 0;
#endif
}

/* Closes the file and renames it to path if all writes succeeded; otherwise removes it. fclose writes what is
   buffered, so it may be the write that fails. The message has the errno of the first failure, not of the removal. */
static NNRT_ReturnCode nnrti_save_close(nnrti_saving *s, const char *name, const char *path, nnrt_error *error)
{
    if (fclose(s->file) != 0)
        nnrti_save_fault(s);
    if (s->failed == 0 && nnrti_rename(name, path))
        return NNRT_SUCCESS;
    s->failed = s->failed != 0 ? s->failed : errno;
    (void)remove(name);
    errno = s->failed > 0 ? s->failed : 0;
    return nnrti_file_path_fault(error, NNRT_FAILED, "write", path);
}

/* Writes the model of w, or if w is NULL the data, to a file with a new name, and renames it to path. */
static NNRT_ReturnCode nnrti_save_replace(nnrti_writer *w, const void *data, size_t bytes, const char *path,
                                          nnrt_error *error)
{
    const nnrt_allocator *const allocator = w != NULL ? w->desc.allocator : NULL;
    const size_t room = strlen(path) + sizeof(NNRTI_SAVE_SUFFIX);
    NNRT_ReturnCode code;
    nnrti_saving s;
    char *name;
    if (!nnrti_save_may_replace(path))
        return nnrt_error_set(error, NNRT_INVALID_PATH, "%s is no regular file and is not replaced", path);
    if ((name = (char *)nnrt_alloc(allocator, room)) == NULL)
        return w == NULL ? nnrti_no_memory(error)
                         : nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory to save the model");
    s.failed = 0;
    if ((s.file = nnrti_save_open(name, room, path)) == NULL) {
        code = nnrti_file_path_fault(error, NNRT_INVALID_PATH, "write", path);
    } else {
        if (w != NULL) {
            nnrti_writer_all(w, nnrti_save_write, &s);
            data = &w->hash;
            bytes = sizeof(w->hash);
            if (fseek(s.file, NNRTI_FILE_CHECKSUM, SEEK_SET) != 0)
                nnrti_save_fault(&s);
        }
        nnrti_save_write(&s, data, bytes);
        code = nnrti_save_close(&s, name, path, error);
    }
    nnrt_free(allocator, name, room);
    return code;
}

/* Checks the model and computes its size before a file is created. bare: as in nnrti_save_begin. */
static NNRT_ReturnCode nnrti_save_path(const NNRT_Model *model, bool bare, const char *path, const nnrt_save_desc *desc,
                                       nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_writer w;
    if (path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_save: path is NULL");
    code = nnrti_save_begin(&w, model, bare, desc, error);
    return code == NNRT_SUCCESS ? nnrti_save_replace(&w, NULL, 0, path, error) : code;
}

NNRT_API NNRT_ReturnCode nnrt_model_save(const NNRT_Model *model, const char *path, const nnrt_save_desc *desc,
                                         nnrt_error *error)
{
    nnrt_error_clear(error);
    return nnrti_save_path(model, false, path, desc, error);
}

NNRT_API NNRT_ReturnCode nnrt_file_write(const char *path, const void *data, size_t bytes, nnrt_error *error)
{
    if (path == NULL || (data == NULL && bytes > 0))
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_file_write: %s is NULL", path == NULL ? "path" : "data");
    return nnrti_save_replace(NULL, data, bytes, path, error);
}

#if NNRT_MMAP
static void nnrti_file_unmap(void *data, size_t bytes)
{
    (void)munmap(data, bytes);
}

/* *file = a read-only memory map of the whole file. False if it does not exist or cannot be mapped: the caller then
   reads it, and that attempt reports the fault. The descriptor is closed at once; the map keeps the file, also after
   another one has been renamed to path. */
static bool nnrti_file_map(const char *path, nnrti_block *file)
{
    const int fd = open(path, O_RDONLY);
    struct stat s;
    void *data = MAP_FAILED;
    if (fd < 0)
        return false;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0 && (uint64_t)s.st_size <= SIZE_MAX)
        data = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    if (data == MAP_FAILED)
        return false;
    nnrti_prefault_read(data, (size_t)s.st_size, 256u << 10); /* of a larger one, parts */
    file->data = data;
    file->bytes = (size_t)s.st_size;
    file->release = nnrti_file_unmap;
    return true;
}
#endif

/* Size of an open file, which is rewound to its start; -1 if it is unknown, or 2^31 - 1 bytes or more: 2^31 - 1 is what the
   C library of 32-bit Linux gives as the end of a directory, which fopen opens. */
NNRTI_UNUSED static int64_t nnrti_file_size(FILE *f)
{
    const long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    return size >= 0 && size < 0x7FFFFFFFL && fseek(f, 0, SEEK_SET) == 0 ? size : -1;
}

/* For importers: reads a file of another format into one block of the allocator, which the caller frees. */
NNRTI_UNUSED static NNRT_ReturnCode nnrti_file_bytes(const char *path, const nnrt_allocator *allocator, void **data,
                                                     size_t *bytes, nnrt_error *error)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    FILE *f = fopen(path, "rb");
    const int64_t size = f != NULL ? nnrti_file_size(f) : -1;
    *data = size > 0 ? nnrt_alloc(allocator, (size_t)size) : NULL;
    *bytes = *data != NULL ? (size_t)size : 0;
    if (f == NULL)
        return nnrt_error_set(error, NNRT_INVALID_PATH, "file '%s' cannot be opened", path);
    if (size <= 0)
        code = nnrt_error_set(error, NNRT_INVALID_FILE, "file '%s' %s", path,
                              size == 0 ? "is empty" : "is a directory, or has an unknown size or 2 GiB or more");
    else if (*data == NULL)
        code = nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "file '%s': no memory for its %l bytes", path, size);
    else if (fread(*data, 1, *bytes, f) != *bytes)
        code = nnrt_error_set(error, NNRT_INVALID_FILE, "file '%s' cannot be read", path);
    (void)fclose(f);
    if (code != NNRT_SUCCESS && *data != NULL) {
        nnrt_free(allocator, *data, *bytes);
        *data = NULL;
        *bytes = 0;
    }
    return code;
}

/* The same as a block: a read-only memory map, unless noMap, or if the file cannot be mapped, memory of the allocator. */
NNRTI_UNUSED static NNRT_ReturnCode nnrti_file_block(const char *path, bool noMap, const nnrt_allocator *allocator,
                                                     nnrti_block *file, nnrt_error *error)
{
    memset(file, 0, sizeof(*file));
#if NNRT_MMAP
    if (!noMap && nnrti_file_map(path, file))
        return NNRT_SUCCESS;
#endif
    (void)noMap;
    return nnrti_file_bytes(path, allocator, &file->data, &file->bytes, error);
}

/* Reads a whole file. The bytes that its header states are allocated only if the file is as long, so that a damaged
   header cannot request more memory than that; a stream that cannot be positioned, such as a pipe, fails afterwards.
   On failure *file may have memory, which the caller releases. */
static NNRT_ReturnCode nnrti_file_read(const char *path, const nnrt_allocator *allocator, nnrti_block *file,
                                       nnrt_error *error)
{
    nnrti_file_header h;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    size_t want, got;
    FILE *f;
    errno = 0;
    if ((f = fopen(path, "rb")) == NULL)
        return nnrti_file_path_fault(error, NNRT_INVALID_PATH, "open", path);
    memset(&h, 0, sizeof(h));
    got = fread(&h, 1, sizeof(h), f);
    want = (size_t)h.bytes;
    if (got != sizeof(h) || !nnrt_file_is(&h, sizeof(h)) || h.bytes < sizeof(h) ||
        h.bytes > SIZE_MAX - NNRT_ALIGNMENT) {
        code = nnrti_file_no_file(error, path, &h, sizeof(h));
    } else if (fseek(f, 0, SEEK_END) == 0 && ftell(f) >= 0 && (uint64_t)ftell(f) < want) {
        code = nnrt_error_set(error, NNRT_INVALID_FILE, "%s is cut short: it says it has %z bytes", path, want);
    } else if ((file->data = nnrt_alloc(allocator, want)) == NULL) {
        code = nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory to read %s", path);
    } else {
        file->bytes = want;
        memcpy(file->data, &h, sizeof(h));
        if (fseek(f, (long)sizeof(h), SEEK_SET) == 0)
            got += fread((uint8_t *)file->data + got, 1, want - got, f);
        if (got != want)
            code = nnrti_file_path_fault(error, NNRT_INVALID_FILE, "read all of", path);
    }
    (void)fclose(f);
    return code;
}

/* The bytes of the file are attached to the model once it is loaded; nnrt_model_destroy releases them with it. Until
   then they belong to this function. */
NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_model_load(NNRT_Model **model, const char *path, const nnrt_load_desc *desc,
                                                    nnrt_error *error)
{
    const nnrt_allocator *allocator = desc != NULL ? desc->allocator : NULL;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrti_block file;
    nnrti_owned *o;
    bool mapped = false;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_load: %s is NULL", model == NULL ? "model" : "path");
    memset(&file, 0, sizeof(file));
#if NNRT_MMAP
    mapped = (desc == NULL || !desc->noMap) && nnrti_file_map(path, &file);
#endif
    if (!mapped)
        code = nnrti_file_read(path, allocator, &file, error);
    if (code == NNRT_SUCCESS)
        code = nnrt_model_load_memory(model, file.data, file.bytes, desc, error);
    if (code == NNRT_SUCCESS) {
        o = nnrti_owned_of(*model);
        o->attached[o->nAttached++] = file; /* the model is new: there is room */
    } else {
        nnrti_block_release(&file, allocator);
    }
    return code;
}

#endif /* NNRT_NO_STDIO */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>cache */

/* Idea: a cache holds forms (nnrti_form), the prepared forms of the last session's devices, each in the layout of a
   device section of a .nnrt file: so saving copies them, and restoring uses their blocks in place. nnrt_through calls
   nnrti_cache_prepare instead of PrepareModel, with auto once per partition; nnrti_caching is the state of that
   session. Forms are searched in three files: data of the cache, its file in the directory, the file that the model
   comes from. Invariant: a form is restored only if two hashes are equal, of the model or partition with all weights,
   and of options, device and layout (nnrti_cache_key), and if its checksum is right. Everything else is prepared as
   without a cache: faults of a cache are in nnrt_cache_state and in the log, and fail no session, except for a model
   without nodes. Rejected: a file per block and an index, as OH_NN's SetCache has: several files cannot be replaced
   atomically. */

/* Largest number of blocks that a device may export: HDI's 98, from OH_NN's limit of 100 files per model. */
#define NNRTI_CACHE_BLOCKS 98
#define NNRTI_CACHE_SUFFIX ".nnrt"

struct nnrt_cache {
    nnrti_form *forms; /* of the last session; first: nnrti_forms_of */
    nnrt_allocator allocator;
    size_t block;            /* bytes of this struct and the texts behind it */
    char *directory, *token; /* NULL: none */
    const void *data;
    size_t bytes;
    NNRT_Model *given, *stored; /* contents of data and of the file; NULL: none */
    char *path;                 /* of the file, for the last session */
    NNRT_Model *ends;           /* its inputs and outputs */
    bool changed;               /* something is not in the file */
    bool packed;                /* it has packed weights, too */
    nnrt_cache_state state;
};

#define NNRTI_CACHE_PACKED 2u /* flag of a section of packed weights, which are no prepared model */

/* How a device section begins. */
typedef struct nnrti_file_device {
    uint64_t checksum, model, options;
    uint32_t layout;
    int32_t type;
    uint32_t blocks, flags;
    uint64_t zero[3];
} nnrti_file_device;

typedef char nnrti_file_device_fits[sizeof(nnrti_file_device) == 64 ? 1 : -1];

/* The state while a session is prepared through a cache. */
typedef struct nnrti_caching {
    nnrt_through through;
    nnrt_cache *cache; /* NULL: there is only the file of the model */
    const NNRT_Model *model;
    const nnrt_allocator *allocator;
    const uint8_t *files[3];  /* checked .nnrt files with device sections, or NULL. The second is that of the cache */
    const NNRT_Model *hashed; /* its hash is known */
    uint64_t hash;
    nnrt_packs packs;
    nnrt_file_section taken; /* packed weights that the device got */
    uint64_t light;          /* hash of the model without its weights; 0: not known yet */
    NNRT_PreparedModel *told; /* whose packed weights go beside the model */
    bool asking, missing;    /* asking: missing forms are not prepared, but reported in `missing` */
} nnrti_caching;

/* The owned model without nodes that m is, or NULL. */
static const nnrti_owned *nnrti_bare(const NNRT_Model *m)
{
    const nnrti_owned *o = nnrti_owned_of(m);
    return o != NULL && o->bare ? o : NULL;
}

/* Hashes of options. Numbers are hashed as they are in memory, since caches exist on little-endian machines only. A
   text includes its terminating 0, and dimensions their rank, so that the end of one member is not confused with the
   start of the next. */
static uint64_t nnrti_hash_number(uint64_t hash, uint32_t number)
{
    return nnrti_fnv64(hash, (const uint8_t *)&number, sizeof(number));
}

static uint64_t nnrti_hash_text(uint64_t hash, const char *text)
{
    return nnrti_fnv64(hash, (const uint8_t *)nnrti_text_of(text), strlen(nnrti_text_of(text)) + 1);
}

static uint64_t nnrti_hash_dims(uint64_t hash, int32_t rank, const int32_t *dims)
{
    hash = nnrti_hash_number(hash, (uint32_t)rank);
    for (int32_t k = 0; k < rank && k < NNRTI_DIMS; k++)
        hash = nnrti_hash_number(hash, (uint32_t)dims[k]);
    return hash;
}

/* Hash of the options that change the prepared form of a model. Priority, threads and memory belong to the run. */
static uint64_t nnrti_cache_options(const NNRT_Model *m, const NNRT_ModelConfig *c)
{
    const bool given = c->inputDims.data != NULL && c->inputDims.count == m->inputIndex.count;
    uint64_t hash = nnrti_hash_number(NNRTI_FNV64, c->enableFloat16);
    hash = nnrti_hash_number(hash, (uint32_t)c->mode);
    hash = nnrti_hash_number(hash, c->maxTrips != 0 ? c->maxTrips : NNRT_MAX_TRIPS);
    for (uint32_t i = 0; c->extensions.data != NULL && i < c->extensions.count; i++) {
        const NNRT_Extension *e = &c->extensions.data[i];
        hash = nnrti_hash_number(nnrti_hash_text(hash, e->name), e->size);
        hash = nnrti_fnv64(hash, (const uint8_t *)e->data, e->data != NULL ? e->size : 0);
    }
    for (uint32_t i = 0; i < m->inputIndex.count; i++) { /* equal dimensions are equal, whether the model or inputDims
                                                            has them */
        const NNRT_Int32List *dims = &m->allTensors.data[m->inputIndex.data[i]].dims;
        hash = given ? nnrti_hash_dims(hash, c->inputDims.data[i].rank, c->inputDims.data[i].dims)
                     : nnrti_hash_dims(hash, (int32_t)dims->count, dims->data);
    }
    for (uint32_t i = 0; c->bounds.data != NULL && i < c->bounds.count; i++) {
        const nnrt_bound *b = &c->bounds.data[i];
        hash = nnrti_hash_dims(nnrti_hash_text(hash, b->tensor), b->most.rank, b->most.dims);
    }
    return hash;
}

/* The same for a device, whose unique name has its version. The type of the device and NNRT_LAYOUT are part of it,
   too: that version implies neither. */
static uint64_t nnrti_cache_key(const nnrt_device *device, const NNRT_Model *m, const NNRT_ModelConfig *config)
{
    const uint64_t hash = nnrti_hash_text(nnrti_cache_options(m, config), nnrt_device_unique_name(device));
    return nnrti_hash_number(nnrti_hash_number(hash, (uint32_t)nnrt_device_type(device, NULL)), NNRT_LAYOUT);
}

/* Bytes of a section of packed weights up to the end of their table, where the checksum ends; false: it has none. The
   32 bytes are the rows of its two blocks. */
static bool nnrti_cache_table(const uint8_t *data, uint32_t blocks, size_t bytes, size_t *sum)
{
    uint64_t row[2];
    memcpy(row, data + sizeof(nnrti_file_device), sizeof(row));
    if (blocks != 2 || row[0] > bytes || row[1] > bytes - row[0] || row[0] < sizeof(nnrti_file_device) + 32)
        return false;
    *sum = (size_t)(row[0] + row[1]);
    return true;
}

/* A device section as the blocks in it; false: it is damaged. sure: the checksum of its file has been compared, which
   covers the section. Rule: the blocks are aligned, inside the section, after the rows, and below 4 GiB, because
   SharedBuffer counts bytes in 32 bits. blocks[NNRTI_CACHE_BLOCKS]. */
static bool nnrti_cache_blocks(const nnrt_file_section *s, const nnrti_file_device *h, bool sure,
                               NNRT_SharedBuffer *blocks)
{
    const uint8_t *const data = (const uint8_t *)s->data;
    const size_t first = sizeof(*h) + (size_t)16 * h->blocks;
    size_t sum = s->bytes;
    if (h->blocks == 0 || h->blocks > NNRTI_CACHE_BLOCKS || first > s->bytes)
        return false;
    if ((h->flags & NNRTI_CACHE_PACKED) != 0 && !nnrti_cache_table(data, h->blocks, s->bytes, &sum))
        return false;
    if (!sure && nnrti_digest(NNRTI_FNV64, data + sizeof(h->checksum), sum - sizeof(h->checksum)) != h->checksum)
        return false;
    for (uint32_t i = 0; i < h->blocks; i++) {
        uint64_t row[2]; /* offset, bytes */
        memcpy(row, data + sizeof(*h) + (size_t)16 * i, sizeof(row));
        if (row[0] % NNRTI_FILE_ALIGNMENT != 0 || row[0] < first || row[0] > s->bytes || row[1] > s->bytes - row[0] ||
            row[1] > UINT32_MAX)
            return false;
        memset(&blocks[i], 0, sizeof(blocks[i]));
        blocks[i].fd = -1;
        blocks[i].addr = (void *)(uintptr_t)(data + row[0]);
        blocks[i].bufferSize = blocks[i].dataSize = (uint32_t)row[1];
    }
    return true;
}

/* Section `index` of a file, and how it begins; *h is zeros if it is no device section, or too short for one: blocks
   0 is then rejected by nnrti_cache_blocks. False after the last section. */
static bool nnrti_cache_section(const uint8_t *file, uint32_t index, nnrt_file_section *s, nnrti_file_device *h)
{
    memset(h, 0, sizeof(*h));
    if (!nnrti_file_section(file, index, s))
        return false;
    if (s->type == NNRTI_FILE_DEVICE && s->bytes >= sizeof(*h))
        memcpy(h, s->data, sizeof(*h));
    return true;
}

/* Appends a form to the cache. bytes: size of its data, which follow the struct in one block, before the name; 0: its
   data are in a file. NULL: no memory; the session is not affected, the form is not saved. */
static nnrti_form *nnrti_cache_add(nnrt_cache *c, const char *device, size_t bytes)
{
    const size_t name = strlen(device) + 1;
    nnrti_form *p = NULL, **end = &c->forms;
    size_t block;
    if (nnrt_add_size(sizeof(*p) + name, bytes, &block))
        p = (nnrti_form *)nnrt_alloc(&c->allocator, block);
    if (p == NULL)
        return NULL;
    memset(p, 0, sizeof(*p));
    p->block = block;
    p->device = (char *)(p + 1) + bytes;
    memcpy((char *)(p + 1) + bytes, device, name);
    while (*end != NULL)
        end = &(*end)->next;
    *end = p;
    c->state.kept++;
    return p;
}

/* Appends a restored form, `bytes` bytes at data. copy: they are in the file of the model, which may be destroyed before
   the cache; the cache's own files live as long as the cache. */
static nnrti_form *nnrti_cache_take(nnrt_cache *c, const char *device, const void *data, size_t bytes, bool copy)
{
    nnrti_form *p = nnrti_cache_add(c, device, copy ? bytes : 0);
    if (p == NULL)
        return NULL;
    p->data = copy ? (const uint8_t *)(p + 1) : (const uint8_t *)data;
    p->bytes = bytes;
    if (copy)
        memcpy(p + 1, data, bytes);
    return p;
}

/* Restores the model on the device from a section of k->files[file]; false: fault has the reason. The form becomes
   one of the cache, so that the next save has it again. The checksums of the first two files were compared when they
   were loaded. */
static bool nnrti_cache_restore(nnrti_caching *k, uint32_t file, const nnrt_file_section *s, const nnrti_file_device *h,
                                nnrt_device *device, const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared,
                                nnrt_error *fault)
{
    NNRT_SharedBuffer blocks[NNRTI_CACHE_BLOCKS];
    NNRT_ModelConfig own = *config;
    memset(fault, 0, sizeof(*fault));
    if (!nnrti_cache_blocks(s, h, file < 2, blocks)) { /* of the file of a cache */
        (void)nnrt_error_set(fault, NNRT_INVALID_MODEL_CACHE, "the data of device '%s' are damaged",
                             nnrt_device_unique_name(device));
        return false;
    }
    own.error = fault;
    if (nnrt_device_prepare_cache(device, blocks, h->blocks, &own, prepared) != NNRT_SUCCESS)
        return false;
    nnrt_log_line(config->log, NNRT_LOG_INFO, "device '%s' has restored its prepared form",
                  nnrt_device_unique_name(device));
    if (k->cache != NULL) {
        (void)nnrti_cache_take(k->cache, nnrt_device_unique_name(device), s->data, s->bytes, file == 2);
        k->cache->state.restored++;
        k->cache->changed = k->cache->changed || file != 1;
    }
    return true;
}

/* Computes the layout of a new section and its bytes; false if a size overflows, or a block is invalid. Rule: a block
   with bytes has an address, and its data are inside bufferSize: a driver is not trusted. */
static bool nnrti_cache_lay(const NNRT_SharedBuffer *blocks, uint32_t count, uint64_t *rows, size_t *bytes)
{
    *bytes = sizeof(nnrti_file_device) + (size_t)16 * count;
    for (uint32_t i = 0; i < count; i++) {
        const NNRT_SharedBuffer *b = &blocks[i];
        if ((nnrti_buffer_data(b) == NULL && b->dataSize != 0) || b->offset > b->bufferSize ||
            b->dataSize > b->bufferSize - b->offset || !nnrt_round_size(*bytes, NNRTI_FILE_ALIGNMENT, bytes))
            return false;
        rows[2 * i] = *bytes;
        rows[2 * i + 1] = b->dataSize;
        if (!nnrt_add_size(*bytes, b->dataSize, bytes))
            return false;
    }
    return true;
}

/* Stores the form that the device has just prepared, if it exports it; a device that cannot, or lack of memory,
   leaves the cache without it. The blocks are copied, as they are the device's and end with the prepared model.
   nnrti_plan_exported then frees the blocks of a plan, whose packed weights would otherwise be in memory three times.
   */
static void nnrti_cache_export(nnrti_caching *k, const nnrt_device *device, NNRT_PreparedModel *prepared,
                               nnrti_file_device *h)
{
    const NNRT_SharedBuffer *blocks = NULL;
    uint64_t rows[2 * NNRTI_CACHE_BLOCKS];
    nnrti_form *p;
    uint32_t count = 0;
    uint8_t *data;
    size_t bytes, sum;
    if (!NNRTI_MODEL_HAS(prepared, ExportModelCache) ||
        prepared->vtbl->ExportModelCache(prepared, &blocks, &count) != NNRT_SUCCESS || blocks == NULL || count == 0 ||
        count > NNRTI_CACHE_BLOCKS || !nnrti_cache_lay(blocks, count, rows, &bytes) ||
        (p = nnrti_cache_add(k->cache, nnrt_device_unique_name(device), bytes)) == NULL)
        return;
    data = (uint8_t *)(p + 1);
    memset(data, 0, bytes);
    h->layout = NNRT_LAYOUT;
    h->type = nnrt_device_type(device, NULL);
    h->blocks = count;
    memcpy(data, h, sizeof(*h));
    memcpy(data + sizeof(*h), rows, (size_t)16 * count);
    for (uint32_t i = 0; i < count; i++)
        if (blocks[i].dataSize > 0)
            memcpy(data + (size_t)rows[2 * i], nnrti_buffer_data(&blocks[i]), blocks[i].dataSize);
    sum = bytes;
    p->packed = (h->flags & NNRTI_CACHE_PACKED) != 0;
    if (p->packed)
        (void)nnrti_cache_table(data, count, bytes, &sum);
    h->checksum = nnrti_digest(NNRTI_FNV64, data + sizeof(h->checksum), sum - sizeof(h->checksum));
    memcpy(data, &h->checksum, sizeof(h->checksum));
    p->data = data;
    p->bytes = bytes;
    k->cache->changed = true;
    nnrti_plan_exported(prepared);
}

/* Records why a stored form is not used. The state has the first reason only, the log all. */
static void nnrti_cache_fault(nnrti_caching *k, const nnrt_error *fault, const nnrt_log *log)
{
    if (fault->code != NNRT_SUCCESS)
        nnrt_log_line(log, NNRT_LOG_WARNING, "cache: %s", nnrti_reason(fault));
    if (k->cache != NULL && k->cache->state.fault.code == NNRT_SUCCESS)
        k->cache->state.fault = *fault;
}

/* How a section of packed weights for that device begins; false: there can be none. They exist for the whole model
   only (m is the session's). The digest excludes weights (k->light), as a mapped file would otherwise be read
   completely; the version of nnrt counts as an option, since another one may pack differently. */
static bool nnrti_packs_want(nnrti_caching *k, const NNRT_Model *m, const NNRT_ModelConfig *config,
                             nnrti_file_device *want)
{
    const nnrt_device *device = config->device != NULL ? nnrt_device_find(config->device) : NULL;
    memset(want, 0, sizeof(*want));
    if (m != k->model || device == NULL || k->asking ||
        (k->light == 0 && nnrti_model_digest(m, k->allocator, true, &k->light) != NNRT_SUCCESS))
        return false;
    want->model = k->light;
    want->options = nnrti_hash_text(nnrti_cache_key(device, m, config), nnrt_version());
    want->flags = NNRTI_CACHE_PACKED;
    return true;
}

/* nnrt_packs.find: from the file that the model was loaded from, which holds the same constants. Not for an optimized
   model (o->replaced), whose nodes are not the file's. */
static bool nnrti_packs_find(void *user, const NNRT_Model *m, const NNRT_ModelConfig *config, nnrt_packed *packed)
{
    nnrti_caching *const k = (nnrti_caching *)user;
    const nnrti_owned *const o = nnrti_owned_of(m);
    NNRT_SharedBuffer blocks[NNRTI_CACHE_BLOCKS];
    nnrti_file_device want, h;
    nnrt_file_section s;
    nnrt_error fault;
    memset(&fault, 0, sizeof(fault));
    if (m != k->model || o == NULL || o->file == NULL || o->replaced != NULL || o->bare || config->copyConstants)
        return false; /* copied constants: the file may be gone before they are */
    for (uint32_t i = 0; nnrti_cache_section(o->file, i, &s, &h); i++) {
        if (s.type != NNRTI_FILE_DEVICE || (h.flags & NNRTI_CACHE_PACKED) == 0 || config->device == NULL ||
            strcmp(s.name, config->device) != 0 || !nnrti_packs_want(k, m, config, &want))
            continue;
        if (h.model != want.model || h.options != want.options) {
            (void)nnrt_error_set(&fault, NNRT_INVALID_MODEL_CACHE,
                                 "the packed weights of device '%s' are of another model, version, or of other options",
                                 s.name);
        } else if (!nnrti_cache_blocks(&s, &h, false, blocks)) {
            (void)nnrt_error_set(&fault, NNRT_INVALID_MODEL_CACHE, "the packed weights of device '%s' are damaged",
                                 s.name);
        } else {
            packed->table = blocks[0].addr;
            packed->tableBytes = blocks[0].dataSize;
            packed->weights = blocks[1].addr;
            packed->weightBytes = blocks[1].dataSize;
            nnrti_prefault_read(packed->weights, packed->weightBytes, 512u << 10);
            k->taken = s;
            return true;
        }
    }
    nnrti_cache_fault(k, &fault, config->log);
    return false;
}

/* nnrt_packs.done: counts, and for a cache with `packed` adds the weights as a form, again the section that was used
   or a new export, with the digest by which nnrti_forms_fit later refuses to save it with another model. It marks the
   prepared model, so that nnrti_cache_prepare does not export it a second time as a model cache. */
static void nnrti_packs_done(void *user, const NNRT_Model *m, const NNRT_ModelConfig *config,
                             NNRT_PreparedModel *prepared, bool taken, const nnrt_error *fault)
{
    nnrti_caching *const k = (nnrti_caching *)user;
    nnrti_form *p = NULL;
    nnrti_file_device want;
    uint64_t hash = 0;
    if (taken)
        nnrt_log_line(config->log, NNRT_LOG_INFO, "device '%s' has taken the weights that it had packed before",
                      config->device);
    else
        nnrti_cache_fault(k, fault, config->log);
    if (!taken && k->cache != NULL)
        k->cache->state.packed += nnrti_plan_packs(prepared);
    if (!k->packs.keep || !nnrti_packs_want(k, m, config, &want) ||
        nnrti_model_digest(m, k->allocator, false, &hash) != NNRT_SUCCESS)
        return;
    if (taken) {
        k->told = prepared;
        k->cache->state.restored++;
        if ((p = nnrti_cache_take(k->cache, config->device, k->taken.data, k->taken.bytes, true)) == NULL)
            return;
        p->packed = true;
    } else {
        k->told = prepared;
        k->cache->state.prepared++;
        nnrti_cache_export(k, nnrt_device_find(config->device), prepared, &want);
        for (p = k->cache->forms; p != NULL && p->next != NULL;)
            p = p->next;
    }
    if (p != NULL && p->packed)
        p->hash = hash;
}

/* Whether a section has a prepared form of the device of that unique name. */
static bool nnrti_cache_is_form(const nnrt_file_section *s, const nnrti_file_device *h, const char *name)
{
    return s->type == NNRTI_FILE_DEVICE && strcmp(s->name, name) == 0 && (h->flags & NNRTI_CACHE_PACKED) == 0;
}

/* Whether any of the files has one. */
static bool nnrti_cache_has(const nnrti_caching *k, const char *name)
{
    nnrti_file_device h;
    nnrt_file_section s;
    bool has = false;
    for (uint32_t f = 0; f < 3; f++)
        for (uint32_t i = 0; !has && nnrti_cache_section(k->files[f], i, &s, &h); i++)
            has = nnrti_cache_is_form(&s, &h, name);
    return has;
}

/* nnrt_through.prepare: from the first section that fits and that the device accepts, else by the device, whose
   export becomes a form. A fault is kept if no section fits. Only the digest of the session's model is kept
   (k->hashed): auto makes a model for each partition, and the next one may have the same address. asking
   (nnrt_cache_ask): a missing form is an error instead, so that no device compiles. */
static NNRT_ReturnCode nnrti_cache_prepare(void *user, nnrt_device *device, const NNRT_Model *m,
                                           const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    nnrti_caching *const k = (nnrti_caching *)user;
    const char *const name = nnrt_device_unique_name(device);
    NNRT_ModelConfig own = *config;
    nnrt_packs packs = k->packs;
    nnrti_file_device want, h;
    nnrt_file_section s;
    nnrt_error fault;
    NNRT_ReturnCode code;
    memset(&want, 0, sizeof(want));
    memset(&fault, 0, sizeof(fault));
    if (!nnrt_device_can(device, NNRT_ABILITY_MODEL_CACHE, NULL))
        return nnrt_device_prepare(device, m, config, prepared);
    if (k->cache != NULL && !(k->cache->packed && m == k->model)) { /* else its packed weights are stored beside the model */
        packs.keep = packs.whole = true;
        own.packs = &packs;
    }
    config = &own;
    if (k->cache == NULL && !nnrti_cache_has(k, name)) /* the weights need not be read */
        return nnrt_device_prepare(device, m, config, prepared);
    if (k->hashed != m) {
        k->hashed = NULL;
        if (nnrti_model_digest(m, k->allocator, false, &k->hash) != NNRT_SUCCESS) /* the device reports the fault */
            return nnrt_device_prepare(device, m, config, prepared);
        k->hashed = m == k->model ? m : NULL; /* others come and go */
    }
    want.model = k->hash;
    want.options = nnrti_cache_key(device, m, config);
    want.flags = m == k->model;
    for (uint32_t f = 0; f < 3; f++)
        for (uint32_t i = 0; nnrti_cache_section(k->files[f], i, &s, &h); i++) {
            if (!nnrti_cache_is_form(&s, &h, name))
                continue;
            if (h.model == want.model && h.options == want.options) {
                if (nnrti_cache_restore(k, f, &s, &h, device, config, prepared, &fault))
                    return NNRT_SUCCESS;
            } else if (fault.code == NNRT_SUCCESS) {
                (void)nnrt_error_set(&fault, NNRT_INVALID_MODEL_CACHE,
                                     "the data of device '%s' are of another model, or of other options", name);
            }
        }
    nnrti_cache_fault(k, &fault, config->log);
    if (k->asking) {
        k->missing = true;
        return nnrt_error_set(config->error, NNRT_INVALID_MODEL_CACHE, "the cache has nothing for device '%s'", name);
    }
    k->told = NULL;
    code = nnrt_device_prepare(device, m, config, prepared);
    if (code == NNRT_SUCCESS && k->cache != NULL && k->told != *prepared) {
        k->cache->state.prepared++;
        nnrti_cache_export(k, device, *prepared, &want);
    }
    return code;
}

/* Forgets the last session. Forms go first: their data may be in the models that are destroyed next. */
static void nnrti_cache_clear(nnrt_cache *c)
{
    while (c->forms != NULL) {
        nnrti_form *p = c->forms;
        c->forms = p->next;
        nnrt_free(&c->allocator, p, p->block);
    }
    nnrt_model_destroy(c->ends);
    nnrt_model_destroy(c->given);
    nnrt_model_destroy(c->stored);
    c->ends = c->given = c->stored = NULL;
    if (c->path != NULL)
        nnrt_free(&c->allocator, c->path, strlen(c->path) + 1);
    c->path = NULL;
    c->changed = false;
    memset(&c->state, 0, sizeof(c->state));
}

/* The model of a cache in memory; unaligned data are copied, and the copy is attached to the model. NULL: state.fault
   has the reason, and the session goes without these forms. */
static NNRT_Model *nnrti_cache_load(nnrt_cache *c, const void *data, size_t bytes)
{
    nnrt_load_desc desc;
    NNRT_Model *model = NULL;
    void *copy = NULL;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &c->allocator;
    desc.cache = true;
    if ((uintptr_t)data % NNRT_ALIGNMENT != 0) {
        if ((copy = nnrt_alloc(&c->allocator, bytes)) == NULL) {
            (void)nnrti_no_memory(&c->state.fault);
            return NULL;
        }
        memcpy(copy, data, bytes);
        data = copy;
    }
    if (nnrt_model_load_memory(&model, data, bytes, &desc, &c->state.fault) != NNRT_SUCCESS)
        nnrt_free(&c->allocator, copy, bytes);
    else if (copy != NULL)
        (void)nnrt_model_attach(model, copy, bytes); /* it is new: there is room */
    return model;
}

#ifndef NNRT_NO_STDIO
/* Finds and reads the file of a session. Without a token, its name is a hash of model, options and the device's name,
   so that any number of models can share a directory. A file that does not exist (INVALID_PATH) is no fault. It is
   read and not mapped (noMap): another process may change it while the cache exists. */
static void nnrti_cache_open(nnrti_caching *k, const char *device, const NNRT_ModelConfig *config)
{
    nnrt_cache *const c = k->cache;
    char digits[17] = "";
    const char *const token = c->token != NULL ? c->token : digits;
    nnrt_load_desc load;
    nnrt_error fault;
    size_t bytes;
    if (c->token == NULL) {
        uint64_t hash;
        if (nnrti_bare(k->model) != NULL || nnrti_model_digest(k->model, k->allocator, false, &k->hash) != NNRT_SUCCESS)
            return; /* the device reports faults of a model */
        k->hashed = k->model;
        hash = nnrti_hash_text(nnrti_cache_options(k->model, config), device);
        hash = nnrti_fnv64(hash, (const uint8_t *)&k->hash, sizeof(k->hash));
        for (uint32_t i = 0; i < 16; i++)
            digits[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15u];
    }
    bytes = strlen(c->directory) + strlen(token) + sizeof("/" NNRTI_CACHE_SUFFIX);
    if ((c->path = (char *)nnrt_alloc(&c->allocator, bytes)) == NULL) {
        c->state.saved = NNRT_OUT_OF_MEMORY;
        return;
    }
    (void)nnrt_text(c->path, bytes, "%s/%s" NNRTI_CACHE_SUFFIX, c->directory, token);
    memset(&load, 0, sizeof(load));
    memset(&fault, 0, sizeof(fault));
    load.allocator = &c->allocator;
    load.cache = load.noMap = true;
    if (nnrt_model_load(&c->stored, c->path, &load, &fault) != NNRT_SUCCESS && fault.code != NNRT_INVALID_PATH &&
        c->state.fault.code == NNRT_SUCCESS)
        c->state.fault = fault;
}
#endif

/* Reads the stored forms, and sets config to prepare through the cache. Without a cache the hooks are set only if the
   model's file has device sections; other sessions compute no digest. */
static void nnrti_caching_begin(nnrti_caching *k, nnrt_cache *c, const NNRT_Model *m, const char *device,
                                NNRT_ModelConfig *config)
{
    const nnrti_owned *const o = nnrti_owned_of(m);
    nnrt_file_section s;
    nnrti_file_device h;
    bool any = c != NULL;
    memset(k, 0, sizeof(*k));
    k->through.prepare = nnrti_cache_prepare;
    k->through.user = k;
    k->cache = c;
    k->model = m;
    k->allocator = config->allocator;
    if (c != NULL) {
        nnrti_cache_clear(c);
        if (c->data != NULL)
            c->given = nnrti_cache_load(c, c->data, c->bytes);
#ifndef NNRT_NO_STDIO
        if (c->directory != NULL)
            nnrti_cache_open(k, device, config);
#else
        (void)device;
#endif
        k->files[0] = c->given != NULL ? nnrti_owned_of(c->given)->file : NULL;
        k->files[1] = c->stored != NULL ? nnrti_owned_of(c->stored)->file : NULL;
    }
    k->files[2] = o != NULL ? o->file : NULL;
    for (uint32_t i = 0; !any && nnrti_cache_section(k->files[2], i, &s, &h); i++)
        any = s.type == NNRTI_FILE_DEVICE;
    if (any) {
        config->through = &k->through;
        config->packs = &k->packs;
    }
    k->packs.find = nnrti_packs_find;
    k->packs.done = nnrti_packs_done;
    k->packs.user = k;
    k->packs.keep = c != NULL && c->packed;
}

/* Prepares a model without nodes, on the device of that name; NULL: on the one that made it. Only a form of a whole
   model (flags bit 0) is usable, as the nodes around partitions are missing. Its options are compared, its digest is
   not: the model that it is of does not exist here. A device that fails has no fallback, so its fault is the result.
   */
static NNRT_ReturnCode nnrti_bare_prepare(nnrti_caching *k, const char *name, const NNRT_ModelConfig *config,
                                          nnrt_device **device, NNRT_PreparedModel **prepared)
{
    nnrti_file_device h;
    nnrt_file_section s;
    nnrt_error fault;
    nnrt_device *to;
    uint32_t i = 0;
    while (nnrti_cache_section(k->files[2], i, &s, &h) && (s.type != NNRTI_FILE_DEVICE || (h.flags & 1u) == 0))
        i++;
    if (s.type != NNRTI_FILE_DEVICE)
        return nnrt_error_set(config->error, NNRT_INVALID_MODEL_CACHE,
                              "the cache has no whole model: it needs the model that it was made from");
    if ((*device = nnrt_device_find(s.name)) == NULL)
        return nnrt_error_set(config->error, NNRT_INVALID_MODEL_CACHE,
                              "the cache is of device '%s', which there is not", s.name);
    to = *device;
    if (name != NULL && (strncmp(name, "auto:", 5) == 0 || nnrti_is_auto(nnrt_device_find(name))))
        to = nnrt_device_find("auto"); /* which passes it on */
    if (name != NULL && to == *device && nnrt_device_find(name) != *device)
        return nnrt_error_set(config->error, NNRT_INVALID_MODEL_CACHE, "the cache is of device '%s', not of '%s'",
                              s.name, name);
    if (h.options != nnrti_cache_key(*device, k->model, config))
        return nnrt_error_set(config->error, NNRT_INVALID_MODEL_CACHE,
                              "the cache was made with other options than these, or for another version");
    *device = to;
    if (nnrti_cache_restore(k, 2, &s, &h, to, config, prepared, &fault))
        return NNRT_SUCCESS;
    return nnrt_error_set(config->error, fault.code, "%s", nnrti_reason(&fault));
}

/* Tensor of input or output i, outputs behind inputs. */
static uint32_t nnrti_io_tensor(const NNRT_Model *m, uint32_t i)
{
    const uint32_t n = m->inputIndex.count;
    return i < n ? m->inputIndex.data[i] : m->outputIndex.data[i - n];
}

/* Checks the model's lists, of which the head is made, before a device does. desc NULL: without a session. Code that
   follows indexes allTensors by the inputs and outputs without a check; full validation is left to the device. */
static NNRT_ReturnCode nnrti_session_model(const NNRT_Model *m, const nnrt_session_desc *desc, nnrt_error *error)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    NNRT_Model lists;
    NNRT_Node node;
    NNRT_SubGraph graph;
    const uint32_t offline = desc != NULL ? desc->offlineCount : 0;
    if (m == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the model is NULL");
    if ((code = nnrti_check_complete(m, error)) != NNRT_SUCCESS)
        return code;
    if (offline > 0 && desc->offline == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "counts %u offline models, but has none", offline);
    lists = *m;
    memset(&node, 0, sizeof(node));
    memset(&graph, 0, sizeof(graph));
    if (offline > 0) { /* its inputs and outputs alone count */
        lists.nodes = NNRT_NodeList_make(&node, 1);
        lists.subGraph = NNRT_SubGraphList_make(&graph, 1);
    }
    if (nnrti_bare(m) == NULL)
        code = nnrti_check_lists(&lists, error);
    return code == NNRT_SUCCESS ? nnrti_check_ends(m, error) : code;
}

/* Type and shape of an input or output: from the device, or as the model declares them. NOT_SUPPORT: from neither. */
static NNRT_ReturnCode nnrti_io_ask(NNRT_PreparedModel *prepared, const NNRT_Model *m, uint32_t i, nnrt_io_info *info)
{
    const NNRT_Tensor *t = &m->allTensors.data[nnrti_io_tensor(m, i)];
    const bool output = i >= m->inputIndex.count;
    NNRT_ReturnCode code = NNRT_NOT_SUPPORT;
    if (NNRTI_MODEL_HAS(prepared, GetIO))
        code = prepared->vtbl->GetIO(prepared, output, output ? i - m->inputIndex.count : i, &info->dataType,
                                     &info->shape);
    if (code != NNRT_NOT_SUPPORT)
        return code;
    if (t->dataType == NNRT_DATA_TYPE_UNKNOWN || t->dims.count > NNRTI_DIMS ||
        (t->dims.count > 0 && t->dims.data == NULL))
        return NNRT_NOT_SUPPORT;
    for (uint32_t k = 0; k < t->dims.count; k++)
        if (t->dims.data[k] < 0)
            return NNRT_NOT_SUPPORT;
    info->dataType = t->dataType;
    info->shape.rank = (int32_t)t->dims.count;
    for (uint32_t k = 0; k < t->dims.count; k++)
        info->shape.dims[k] = t->dims.data[k];
    return NNRT_SUCCESS;
}

/* The inputs and outputs as a model without nodes; where the model says nothing of them, as they were planned. With
   it a cache file describes the inputs and outputs of a session whose model is stored elsewhere (nnrti_bare_prepare).
   */
static NNRT_ReturnCode nnrti_cache_ends(nnrt_cache *c, const NNRT_Model *m, NNRT_PreparedModel *prepared)
{
    const uint32_t count = m->inputIndex.count + m->outputIndex.count;
    nnrt_memory memory;
    NNRT_Model ends;
    NNRT_Tensor *tensors;
    nnrt_io_info *infos;
    uint32_t *indices;
    uint8_t *copied;
    NNRT_ReturnCode code;
    nnrt_memory_allocate(&memory, &c->allocator);
    tensors = (NNRT_Tensor *)nnrt_memory_temp_array(&memory, count, sizeof(*tensors));
    infos = (nnrt_io_info *)nnrt_memory_temp_array(&memory, count, sizeof(*infos));
    indices = (uint32_t *)nnrt_memory_temp_array(&memory, count, sizeof(*indices));
    copied = (uint8_t *)nnrt_memory_temp_array(&memory, count, 1);
    if (tensors == NULL || infos == NULL || indices == NULL || copied == NULL) {
        nnrt_memory_end(&memory);
        return NNRT_OUT_OF_MEMORY;
    }
    memset(&ends, 0, sizeof(ends));
    memset(copied, 0, count);
    for (uint32_t i = 0; i < count; i++) {
        NNRT_Tensor *const t = &tensors[i];
        bool told;
        *t = m->allTensors.data[nnrti_io_tensor(m, i)];
        memset(&t->data, 0, sizeof(t->data));
        t->data.fd = -1;
        t->symbols.count = 0;
        told = nnrti_io_ask(prepared, m, i, &infos[i]) == NNRT_SUCCESS && infos[i].shape.rank >= 0 &&
               infos[i].shape.rank <= NNRTI_DIMS;
        if (told && t->dataType == NNRT_DATA_TYPE_UNKNOWN)
            t->dataType = infos[i].dataType;
        if (told && !nnrti_rank_known(t))
            t->dims = NNRT_Int32List_make(infos[i].shape.dims, (uint32_t)infos[i].shape.rank);
        indices[i] = i;
    }
    ends.name = m->name;
    ends.inputIndex = NNRT_Uint32List_make(indices, m->inputIndex.count);
    ends.outputIndex = NNRT_Uint32List_make(indices + m->inputIndex.count, m->outputIndex.count);
    ends.allTensors = NNRT_TensorList_make(tensors, count);
    code = nnrti_owned_make(&ends, copied, &c->allocator, &c->ends);
    nnrt_memory_end(&memory);
    return code;
}

/* After preparation: the forms of the devices can be saved. The file is written only if it lacks one of them, so a
   second start writes nothing. A fault is in the state and the log and does not fail the session. */
static void nnrti_cache_end(nnrt_cache *c, const NNRT_Model *m, NNRT_PreparedModel *prepared, const nnrt_log *log)
{
    NNRT_ReturnCode code = c->forms != NULL ? nnrti_cache_ends(c, m, prepared) : NNRT_SUCCESS;
#ifndef NNRT_NO_STDIO
    nnrt_save_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.allocator = &c->allocator;
    desc.cache = c;
    if (code == NNRT_SUCCESS && c->ends != NULL && c->path != NULL && c->changed &&
        (code = nnrti_save_path(c->ends, true, c->path, &desc, &error)) != NNRT_SUCCESS) {
        nnrt_log_line(log, NNRT_LOG_WARNING, "cache: %s", nnrti_reason(&error));
        if (c->state.fault.code == NNRT_SUCCESS)
            c->state.fault = error;
    }
#endif
    if (c->state.saved == NNRT_SUCCESS)
        c->state.saved = code;
    nnrt_log_line(log, NNRT_LOG_INFO, "cache: %u restored, %u prepared", c->state.restored, c->state.prepared);
}

/* Prepares the model through the cache, which may be NULL, and the device sections of its file. name: of the device,
   as the caller passed it; *device: the device, found here for a model without nodes. */
static NNRT_ReturnCode nnrti_cache_run(nnrt_cache *c, const char *name, nnrt_device **device, const NNRT_Model *m,
                                       NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    nnrti_caching k;
    NNRT_ReturnCode code;
    nnrti_caching_begin(&k, c, m, name, config);
    code = nnrti_bare(m) != NULL ? nnrti_bare_prepare(&k, name, config, device, prepared)
                                 : nnrt_device_prepare(*device, m, config, prepared);
    if (code == NNRT_SUCCESS && c != NULL)
        nnrti_cache_end(c, m, *prepared, config->log);
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_cache_prepare(nnrt_cache *cache, nnrt_device *device, const NNRT_Model *model,
                                            const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own;
    NNRT_ReturnCode code;
    memset(&own, 0, sizeof(own));
    if (config != NULL)
        own = *config;
    if (device == NULL || model == NULL || prepared == NULL)
        return nnrt_error_set(own.error, NNRT_NULL_PTR, "nnrt_cache_prepare: %s is NULL",
                              device == NULL  ? "device"
                              : model == NULL ? "model"
                                              : "prepared");
    *prepared = NULL;
    if (own.buffer != NULL)
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT, "a session with a cache cannot use a buffer");
    if ((code = nnrti_session_model(model, NULL, own.error)) != NNRT_SUCCESS)
        return code;
    return nnrti_cache_run(cache, nnrt_device_unique_name(device), &device, model, &own, prepared);
}

/* A name that a file may have: without separators and without a leading dot, so that no token leaves the directory.
   */
static bool nnrti_token_good(const char *token)
{
    for (const char *at = token; *at != '\0'; at++)
        if (!(*at >= '0' && *at <= '9') && !(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') && *at != '_' &&
            *at != '-' && (*at != '.' || at == token))
            return false;
    return *token != '\0';
}

NNRT_API NNRT_ReturnCode nnrt_cache_create(nnrt_cache **cache, const nnrt_cache_desc *desc, nnrt_error *error)
{
    nnrt_cache_desc zero;
    nnrt_cache *c;
    size_t directory, token, bytes;
    memset(&zero, 0, sizeof(zero));
    if (desc == NULL)
        desc = &zero;
    if (cache == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the place for the cache is NULL");
    *cache = NULL;
    if (desc->data == NULL && desc->bytes != 0)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the cache's data are NULL, but have %z bytes", desc->bytes);
    if (desc->token != NULL && (desc->directory == NULL || !nnrti_token_good(desc->token)))
        return nnrt_error_set(
            error, NNRT_INVALID_PARAMETER,
            "cache: the token '%s' stands without a directory, or is no name of letters, digits, '.', "
            "'_' and '-'",
            desc->token);
#ifdef NNRT_NO_STDIO
    if (desc->directory != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a cache in a directory needs files (NNRT_NO_STDIO)");
#endif
    if (!nnrti_little_endian())
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a big-endian machine cannot write .nnrt files");
    if (desc->packed && (desc->directory != NULL || desc->data != NULL))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "packed weights go with a model (nnrt_save_desc.cache): such a cache takes no %s",
                              desc->directory != NULL ? "directory" : "data");
    directory = desc->directory != NULL ? strlen(desc->directory) + 1 : 0;
    token = desc->token != NULL ? strlen(desc->token) + 1 : 0;
    if (!nnrt_add_size(sizeof(*c), directory, &bytes) || !nnrt_add_size(bytes, token, &bytes) ||
        (c = (nnrt_cache *)nnrt_alloc(desc->allocator, bytes)) == NULL)
        return nnrti_no_memory(error);
    memset(c, 0, sizeof(*c));
    c->block = bytes;
    if (desc->allocator != NULL)
        c->allocator = *desc->allocator;
    c->data = desc->data;
    c->bytes = desc->bytes;
    c->packed = desc->packed;
    if (directory > 0)
        c->directory = (char *)memcpy(c + 1, desc->directory, directory);
    if (token > 0)
        c->token = (char *)memcpy((char *)(c + 1) + directory, desc->token, token);
    *cache = c;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_cache_destroy(nnrt_cache *cache)
{
    nnrt_allocator allocator;
    if (cache == NULL)
        return;
    nnrti_cache_clear(cache);
    allocator = cache->allocator;
    nnrt_free(&allocator, cache, cache->block);
}

NNRT_API const nnrt_cache_state *nnrt_cache_get_state(const nnrt_cache *cache)
{
    return cache != NULL ? &cache->state : NULL;
}

NNRT_API NNRT_ReturnCode nnrt_cache_save_memory(const nnrt_cache *cache, const nnrt_save_desc *desc, void *out,
                                                size_t size, size_t *bytes, nnrt_error *error)
{
    const nnrti_form *p = nnrti_forms_of(cache);
    nnrt_save_desc own;
    memset(&own, 0, sizeof(own));
    if (desc != NULL)
        own = *desc;
    if (cache == NULL || bytes == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_cache_save_memory: %s is NULL",
                              cache == NULL ? "cache" : "bytes");
    *bytes = 0;
    while (p != NULL && p->packed) /* which is nothing without its model */
        p = p->next;
    if (cache->ends == NULL || p == NULL)
        return nnrt_error_set(error, NNRT_OPERATION_FORBIDDEN, "the cache is empty: no device gave it anything");
    own.cache = cache;
    return nnrti_save_memory(cache->ends, true, &own, out, size, bytes, error);
}

NNRT_SETUP_END()

#if NNRT_THREADS
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>pool */

/* Idea: the work items of a parallel_for are dealt out: each thread gets a share of consecutive items, so that from
   step to step it mostly finds the data that it wrote in its own CPU cache. It takes items from the front of its
   share. A thread that has finished steals from the ends of other shares, but leaves the last item to its owner if
   that is active: moving the item's data to another CPU cache mostly takes longer than waiting. An idle thread polls
   its own share only, with all the data that it needs after it: one cache line. Shared state is accessed by atomic
   functions only. Invariant: an item is taken once, and a run ends only after all items are done; no item depends on
   a thread being woken, as the calling thread steals all shares whose owners have not begun.

   Beside other processes a thread that the system takes its processor from in the middle of an item holds up all
   others, for 4 ms and more: a language model has hundreds of steps of some 20 us in a run. The system does so when
   the thread's time slice ends, a millisecond or more after it got the processor. So a thread offers its processor to
   others by sched_yield before that, when it has no item: every 0.1 ms between two shares, and every 10 us while it
   polls. If another process wants the processor, the thread loses it there, and the calling thread takes over its share
   without waiting. If none does, the call takes less than a microsecond. The calling thread polls for 50 us for the
   items of others, as it has no other work; then it takes over the items that are not begun, and offers its processor,
   too: the late thread may be queued behind it. Whether runs have threads at all is measured (nnrti_turns, below).

   Rejected: one counter for all items (each access moves its cache line); a mutex per step; computing an item of a late
   thread once more, as both write the same memory and some steps work in place; smaller items, which make it less
   likely that a thread is late, but not shorter. */

#define NNRTI_POOL_LINE 128    /* bytes: processors fetch lines of 64 by twos */
#define NNRTI_POOL_MOST 0xFFFF /* pieces of a share; where there are more tasks, a piece is several */
#define NNRTI_POOL_SPIN 200    /* microseconds for which a waiting thread polls before it sleeps, in a run */
#define NNRTI_POOL_LATE 50     /* microseconds after which the calling thread takes over pieces that are not begun */
#define NNRTI_POOL_OFFER 100   /* microseconds after which a thread offers its processor to others, between shares .. */
#define NNRTI_POOL_IDLE 10     /* .. and while it polls */

/* A thread and its share. The owner of the pool writes the members between share and pool before share; a thread
   reads them after it has taken an item: they do not change until that item is done. share packs both ends of the
   rest into one word, so that owner and thieves take items by one compare-and-swap; therefore a share has at most
   65,535 pieces. */
typedef struct nnrti_pool_thread {
    uint32_t share;        /* the rest of it: number of the next item; from bit 16 on, the number after the last one */
    uint32_t first;        /* the piece that has number 0 */
    uint32_t count, tasks; /* tasks of the work; of a piece, the last one maybe has fewer */
    void (*task)(void *arg, uint32_t i, uint32_t worker);
    void *arg;
    nnrt_pool *pool;
    uint32_t worker;
    uint64_t offered; /* time at which it last offered its processor, microseconds */
    pthread_t thread; /* of those behind the first one, which stands for whoever runs */
    uint8_t apart[NNRTI_POOL_LINE];
} nnrti_pool_thread;

struct nnrt_pool {
    nnrt_parallel parallel;
    nnrt_allocator allocator;
    nnrti_pool_thread *threads; /* parallel.workers, behind the pool, in its block */
    uint32_t linger;
    uint8_t apart[NNRTI_POOL_LINE];
    uint32_t taken; /* the pool is in use. Changed by its user only: */
    uint32_t works; /* so far */
    uint32_t due;   /* value of `done` at the end of the work */
    uint32_t late;  /* microseconds for which it has waited for others, where it went to sleep */
    uint8_t apart2[NNRTI_POOL_LINE];
    uint32_t done;   /* pieces that others than who had the pool have done so far */
    uint32_t waited; /* who has the pool sleeps until done is due */
    uint8_t apart3[NNRTI_POOL_LINE];
    uint32_t runs;   /* of sessions, that go on */
    uint32_t asleep; /* threads */
    uint32_t ending;
    pthread_mutex_t mutex;
    uint32_t calls;            /* of threads that sleep; under the mutex */
    pthread_cond_t call, over; /* calls or ending has changed; done is due */
};

static void nnrti_pool_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* its yield takes no time at all */
#else
    __asm__ volatile("" ::: "memory");
#endif
}

/* Microseconds of a clock, of which differences are taken; where somebody sets it, one is wrong. */
static uint64_t nnrti_pool_now(void)
{
    struct timeval t;
    (void)gettimeofday(&t, NULL);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

/* Whether no piece of a share is left: its front has reached its end. */
static bool nnrti_pool_empty(uint32_t share)
{
    return (share & NNRTI_POOL_MOST) >= share >> 16;
}

typedef enum nnrti_pool_taker {
    NNRTI_POOL_OWNER,   /* takes the first piece */
    NNRTI_POOL_THIEF,   /* takes the last one, unless it is the only one and the owner is active */
    NNRTI_POOL_RESCUER, /* takes the last one: the owner is late */
} nnrti_pool_taker;

/* Takes a piece of a share. false: none is left, or one that the owner will do; number > 0 shows that the owner is
   active, as only it takes from the front. The exchange acquires: it pairs with the release in nnrti_pool_run, and the
   members of t are read after it. A thread that is late may thus succeed with a value of the previous work, and gets a
   piece of the next one with the members of that. */
static bool nnrti_pool_take(nnrti_pool_thread *t, nnrti_pool_taker taker, uint32_t *piece)
{
    const bool owner = taker == NNRTI_POOL_OWNER;
    uint32_t share = __atomic_load_n(&t->share, __ATOMIC_RELAXED);
    while (!nnrti_pool_empty(share)) {
        const uint32_t number = owner ? share & NNRTI_POOL_MOST : (share >> 16) - 1;
        const uint32_t rest = owner ? share + 1 : share - (1u << 16);
        if (taker == NNRTI_POOL_THIEF && number > 0 && number == (share & NNRTI_POOL_MOST))
            return false;
        if (__atomic_compare_exchange_n(&t->share, &share, rest, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            *piece = t->first + number;
            return true;
        }
    }
    return false;
}

/* Takes and computes pieces of all shares until none is left; returns their number. A late thread may find shares of
   the next work, which it computes just as well: the reason why it was called does not matter. */
static uint32_t nnrti_pool_work(nnrt_pool *p, uint32_t worker, nnrti_pool_taker others)
{
    uint32_t did = 0, piece = 0, owner = worker;
    for (uint32_t tried = 0; tried < p->parallel.workers; tried++) {
        nnrti_pool_thread *t = &p->threads[owner];
        for (; nnrti_pool_take(t, owner == worker ? NNRTI_POOL_OWNER : others, &piece); did++) {
            uint32_t i = piece * t->tasks, left = t->count - i < t->tasks ? t->count - i : t->tasks;
            for (; left > 0; left--, i++)
                t->task(t->arg, i, worker);
        }
        owner = owner + 1 < p->parallel.workers ? owner + 1 : 0;
    }
    return did;
}

/* Wakes the threads that sleep. Takes no lock if none does, the usual case during a run. A thread that is about to
   sleep and is missed here costs time only (see the invariant above). */
static void nnrti_pool_call(nnrt_pool *p)
{
    if (__atomic_load_n(&p->asleep, __ATOMIC_SEQ_CST) == 0)
        return;
    (void)pthread_mutex_lock(&p->mutex);
    p->calls++;
    (void)pthread_mutex_unlock(&p->mutex);
    (void)pthread_cond_broadcast(&p->call);
}

/* Whether a thread without a piece offers its processor to others now. idle: it has polled since its last piece. */
static bool nnrti_pool_offers(uint64_t now, uint64_t offered, bool idle)
{
    return now - offered >= (idle ? NNRTI_POOL_IDLE : NNRTI_POOL_OFFER);
}

/* Polls for a share, for as long as threads do. false: there was none. Clock and shared members are read in every
   32nd round only: sessions write p->runs, and each read would move its cache line. */
static bool nnrti_pool_look(nnrti_pool_thread *t)
{
    const nnrt_pool *p = t->pool;
    uint64_t begin = 0, now;
    for (uint32_t i = 0; i == 0 || nnrti_pool_empty(__atomic_load_n(&t->share, __ATOMIC_RELAXED)); i++) {
        if (i % 32 == 0) {
            const bool runs = __atomic_load_n(&p->runs, __ATOMIC_RELAXED) > 0;
            const uint32_t limit = runs && p->linger < NNRTI_POOL_SPIN ? NNRTI_POOL_SPIN : p->linger;
            if (limit == 0 || __atomic_load_n(&p->ending, __ATOMIC_RELAXED) != 0)
                return false;
            now = nnrti_pool_now();
            begin = i > 0 ? begin : now;
            if (now - begin >= limit)
                return false;
            if (nnrti_pool_offers(now, t->offered, i > 0)) {
                (void)sched_yield();
                t->offered = nnrti_pool_now();
            }
        }
        nnrti_pool_pause();
    }
    return true;
}

/* Sleeps until it is called, unless it has a share. false: the pool ends. The share is read after asleep has been
   incremented, as nnrti_pool_run stores shares before nnrti_pool_call reads asleep. */
static bool nnrti_pool_sleep(const nnrti_pool_thread *t)
{
    nnrt_pool *p = t->pool;
    uint32_t calls;
    bool ending;
    (void)pthread_mutex_lock(&p->mutex);
    calls = p->calls;
    (void)__atomic_add_fetch(&p->asleep, 1, __ATOMIC_SEQ_CST);
    if (nnrti_pool_empty(__atomic_load_n(&t->share, __ATOMIC_SEQ_CST)))
        while (p->calls == calls && __atomic_load_n(&p->ending, __ATOMIC_RELAXED) == 0)
            (void)pthread_cond_wait(&p->call, &p->mutex);
    (void)__atomic_sub_fetch(&p->asleep, 1, __ATOMIC_SEQ_CST);
    ending = __atomic_load_n(&p->ending, __ATOMIC_RELAXED) != 0;
    (void)pthread_mutex_unlock(&p->mutex);
    return !ending;
}

/* The main function of a pool's thread. done is increased before waited is read, and nnrti_pool_wait stores waited
   before it reads done, all sequentially consistent: so either the waiting thread sees the new number, or this one
   signals. The mutex is locked once, so that the waiting thread is not between its test and its sleep when the signal
   comes. */
static void *nnrti_pool_serve(void *arg)
{
    nnrti_pool_thread *self = (nnrti_pool_thread *)arg;
    nnrt_pool *p = self->pool;
    do {
        const uint32_t did = nnrti_pool_work(p, self->worker, NNRTI_POOL_THIEF);
        if (did > 0)
            (void)__atomic_add_fetch(&p->done, did, __ATOMIC_SEQ_CST);
        if (did > 0 && __atomic_load_n(&p->waited, __ATOMIC_SEQ_CST) != 0) {
            (void)pthread_mutex_lock(&p->mutex); /* who waits has looked, and sleeps */
            (void)pthread_mutex_unlock(&p->mutex);
            (void)pthread_cond_broadcast(&p->over);
        }
    } while (nnrti_pool_look(self) || nnrti_pool_sleep(self));
    return NULL;
}

typedef enum nnrti_pool_patience {
    NNRTI_POOL_POLLS,      /* others mostly are in their last pieces, and waking a thread may take longer */
    NNRTI_POOL_TAKES_OVER, /* computes pieces that others have not begun, and offers its processor while it polls */
    NNRTI_POOL_SLEEPS,
} nnrti_pool_patience;

/* The decision of the calling thread if others have not done all pieces so many microseconds after its last one. */
static nnrti_pool_patience nnrti_pool_waited(uint64_t us)
{
    return us < NNRTI_POOL_LATE ? NNRTI_POOL_POLLS : us < NNRTI_POOL_SPIN ? NNRTI_POOL_TAKES_OVER : NNRTI_POOL_SLEEPS;
}

/* Waits until others have done all that is due, as nnrti_pool_waited decides. done and due count pieces modulo 2^32;
   they are compared for equality only. */
static void nnrti_pool_wait(nnrt_pool *p)
{
    nnrti_pool_patience patience = NNRTI_POOL_POLLS;
    uint64_t begin = 0;
    for (uint32_t i = 1; patience != NNRTI_POOL_SLEEPS; i++) {
        if (__atomic_load_n(&p->done, __ATOMIC_ACQUIRE) == p->due)
            return;
        if (i % 32 == 0) {
            const uint64_t now = nnrti_pool_now();
            begin = i > 32 ? begin : now;
            patience = nnrti_pool_waited(now - begin);
            if (patience == NNRTI_POOL_TAKES_OVER) {
                p->due -= nnrti_pool_work(p, 0, NNRTI_POOL_RESCUER);
                (void)sched_yield();
            }
        }
        nnrti_pool_pause();
    }
    (void)pthread_mutex_lock(&p->mutex);
    __atomic_store_n(&p->waited, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&p->done, __ATOMIC_SEQ_CST) != p->due)
        (void)pthread_cond_wait(&p->over, &p->mutex);
    __atomic_store_n(&p->waited, 0, __ATOMIC_SEQ_CST);
    (void)pthread_mutex_unlock(&p->mutex);
    __atomic_store_n(&p->late, p->late + (uint32_t)(nnrti_pool_now() - begin), __ATOMIC_RELAXED);
}

/* Deals out `count` tasks, in equal shares. Returns the number of pieces. */
static uint32_t nnrti_pool_deal(nnrt_pool *p, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker),
                                void *arg)
{
    const uint32_t workers = p->parallel.workers, tasks = 1 + (count - 1) / NNRTI_POOL_MOST;
    const uint32_t pieces = count / tasks + (count % tasks > 0);
    for (uint32_t w = workers; w-- > 0;) { /* its own last: until then nobody takes from it */
        nnrti_pool_thread *t = &p->threads[w];
        const uint32_t first = (uint32_t)((uint64_t)pieces * w / workers);
        const uint32_t end = (uint32_t)((uint64_t)pieces * (w + 1) / workers);
        t->first = first;
        t->count = count;
        t->tasks = tasks;
        t->task = task;
        t->arg = arg;
        __atomic_store_n(&t->share, (end - first) << 16, w > 0 ? __ATOMIC_RELEASE : __ATOMIC_SEQ_CST);
    }
    return pieces;
}

/* nnrt_parallel.run: returns when all items are done. If the pool is in use, also by the caller of a nested call, the
   calling thread computes all items itself, as worker 0: so no run waits for another, and nested calls cannot
   deadlock. The first test of taken is a relaxed load, because an exchange would move the cache line of a pool that
   is in use. */
static void nnrti_pool_run(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    nnrt_pool *p = (nnrt_pool *)user;
    uint32_t pieces;
    if (p->parallel.workers < 2 || count < 2 || __atomic_load_n(&p->taken, __ATOMIC_RELAXED) != 0 ||
        __atomic_exchange_n(&p->taken, 1, __ATOMIC_ACQUIRE) != 0) {
        for (uint32_t i = 0; i < count; i++)
            task(arg, i, 0);
        return;
    }
    __atomic_store_n(&p->works, p->works + 1, __ATOMIC_RELAXED);
    pieces = nnrti_pool_deal(p, count, task, arg);
    nnrti_pool_call(p);
    p->due += pieces - nnrti_pool_work(p, 0, NNRTI_POOL_THIEF);
    nnrti_pool_wait(p);
    __atomic_store_n(&p->taken, 0, __ATOMIC_RELEASE);
}

/* The pool that lends these threads; NULL: none does. */
static nnrt_pool *nnrti_pool_of(const nnrt_parallel *parallel)
{
    return parallel != NULL && parallel->run == nnrti_pool_run && parallel->workers > 1 ? (nnrt_pool *)parallel->user
                                                                                        : NULL;
}

/* Begins a run: wakes the threads if it is likely to have work for them. Returns the argument for the end. */
static uint32_t nnrti_pool_begin(nnrt_pool *p, bool works)
{
    (void)__atomic_add_fetch(&p->runs, 1, __ATOMIC_RELAXED);
    if (works)
        nnrti_pool_call(p);
    return __atomic_load_n(&p->works, __ATOMIC_RELAXED);
}

/* Its end. Whether there was work, of this run or of another one that went on meanwhile. */
static bool nnrti_pool_end(nnrt_pool *p, uint32_t begun)
{
    (void)__atomic_sub_fetch(&p->runs, 1, __ATOMIC_RELAXED);
    return __atomic_load_n(&p->works, __ATOMIC_RELAXED) != begun;
}

/* Microseconds, modulo 2^32, for which runs have slept until late threads were done. */
static uint32_t nnrti_pool_late(const nnrt_pool *p)
{
    return __atomic_load_n(&p->late, __ATOMIC_RELAXED);
}

/* Threads only where they pay. Idea: whether threads shorten a run depends on how long a cache line takes to another
   core, on whether that core is asleep, on the time between runs, and on other processes, which the threads may
   displace or wait for; no estimate of a step's work knows that. So a session measures its runs, in turns of six. It
   keeps to one way, with threads or alone, and from time to time tries the other one for a turn; the faster way is kept
   from there on. A trial ends after two counted runs that are both slower than usual. Trials are paid for: if one took
   t longer than usual, the next one comes after 64 t, then after 128 t, .. 512 t while the answer stays the same. The
   first run of a turn moves data between the cores and is not counted, nor is the longest one, which the system may
   have interrupted. Two observations end a time with threads early. A turn that is slower than runs alone in the last
   trial causes a trial at once. And rare runs in which the calling thread slept until a late thread was done, which
   no comparison of turns shows, count as loss; turns that are faster than runs alone earn a credit for it of 20 ms at
   most. Rejected: an estimate from the latency measured when the pool is created, which does not know the load; a
   decision for each step, which takes two clocks per step and whose changes move the data of the neighboring steps; no
   comparison of runs of more than a millisecond, whose steps are just as small in a language model. */
#define NNRTI_TURN 6u             /* runs of a turn */
#define NNRTI_TURNS_REST 8u       /* turns between two trials, at least */
#define NNRTI_TURNS_COST 64u      /* extra times of a trial that pass before the next one, at first .. */
#define NNRTI_TURNS_COST_MOST 512 /* .. and at most */
#define NNRTI_TURNS_CREDIT 20000  /* microseconds that late threads may cost, if threads gained as much before */

/* All zero: before the first trial, with threads. Times are in microseconds; usual, rest and lost in 16ths of them. */
typedef struct nnrti_turns {
    int64_t usual[2]; /* a run with threads and alone: mean of the last turn; 0: not known */
    int64_t rest;     /* until the next trial */
    int64_t lost;     /* by threads, since they are kept; below 0: credit */
    int64_t all, sum; /* this turn's runs, and the counted ones */
    int64_t late;     /* the part of all in which the calling thread slept */
    int64_t longest, least;
    uint32_t run;  /* number of the next run in this turn */
    uint32_t cost; /* the factor of the last trial, as above; 0: there was none */
    bool alone;    /* the way that is kept */
    bool trial;    /* this turn tries the other way */
} nnrti_turns;

/* Whether the next run has one thread only. */
static bool nnrti_turns_alone(const nnrti_turns *t)
{
    return t->alone != t->trial;
}

/* Keeps a way from now on. extra: additional time of the other one. */
static void nnrti_turns_keep(nnrti_turns *t, bool alone, int64_t extra)
{
    const int64_t least = NNRTI_TURNS_REST * NNRTI_TURN * t->usual[alone];
    if (alone != t->alone || t->cost == 0)
        t->cost = NNRTI_TURNS_COST;
    else if (t->cost < NNRTI_TURNS_COST_MOST)
        t->cost *= 2;
    t->rest = extra * t->cost > least ? extra * t->cost : least;
    t->lost = alone == t->alone && t->lost < 0 ? t->lost : 0;
    t->alone = alone;
    t->trial = false;
}

/* The end of a turn. */
static void nnrti_turns_end(nnrti_turns *t)
{
    const bool alone = nnrti_turns_alone(t);
    const int64_t mean = 16 * (t->sum - t->longest) / (t->run - 2), over = 16 * t->all - mean * t->run;
    const int64_t late = over < 16 * t->late ? over : 16 * t->late; /* where it is not part of each run */
    const int64_t gain = alone || t->usual[1] == 0 ? 0 : (t->usual[1] - mean) * t->run;
    t->usual[alone] = mean;
    if (t->trial) {
        const int64_t extra = 16 * t->all - t->usual[t->alone] * t->run;
        const int64_t threads = t->usual[0] + (alone ? 0 : late / t->run);
        nnrti_turns_keep(t, t->usual[1] <= threads, extra > t->lost ? extra : t->lost);
        return;
    }
    t->lost += alone ? 0 : late - gain;
    if (t->lost < -16 * NNRTI_TURNS_CREDIT)
        t->lost = -16 * NNRTI_TURNS_CREDIT;
    if (!alone && late > 0 && t->lost > 0)
        nnrti_turns_keep(t, true, t->lost);
    else
        t->trial = t->rest == 0 || gain < 0;
}

/* The next run is over. It took so many microseconds, and the calling thread slept for `late` of them. */
static void nnrti_turns_next(nnrti_turns *t, uint64_t us, uint64_t late)
{
    const int64_t time = us < UINT32_MAX / 16 ? (int64_t)us : UINT32_MAX / 16;
    bool slow;
    t->all += time;
    t->late += (int64_t)late < time ? (int64_t)late : time;
    if (t->run > 0) {
        t->sum += time;
        t->longest = t->run == 1 || time > t->longest ? time : t->longest;
        t->least = t->run == 1 || time < t->least ? time : t->least;
    }
    if (!t->trial)
        t->rest = t->rest > 16 * time ? t->rest - 16 * time : 0;
    t->run++;
    slow = t->trial ? 16 * t->least > t->usual[t->alone] : 4 * t->late > t->all;
    if (t->run < (slow ? 3 : NNRTI_TURN))
        return;
    nnrti_turns_end(t);
    t->run = 0;
    t->all = t->sum = t->late = 0;
}

static size_t nnrti_pool_bytes(uint32_t threads)
{
    return sizeof(nnrt_pool) + (threads + 1) * sizeof(nnrti_pool_thread);
}

/* Ends the threads of which so many were started, and frees all. */
static void nnrti_pool_free(nnrt_pool *p, uint32_t started)
{
    const nnrt_allocator a = p->allocator;
    (void)pthread_mutex_lock(&p->mutex);
    __atomic_store_n(&p->ending, 1, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&p->mutex);
    (void)pthread_cond_broadcast(&p->call);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(p->threads[1 + i].thread, NULL);
    (void)pthread_cond_destroy(&p->call);
    (void)pthread_cond_destroy(&p->over);
    (void)pthread_mutex_destroy(&p->mutex);
    nnrt_free(&a, p, nnrti_pool_bytes(p->parallel.workers));
}

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_pool_create(nnrt_pool **pool, const nnrt_pool_desc *desc, nnrt_error *error)
{
    const NNRT_PerformanceMode mode = desc != NULL ? desc->mode : NNRT_PERFORMANCE_NONE;
    uint32_t threads = desc != NULL ? desc->threads : 0;
    nnrt_allocator a;
    nnrt_pool *p;
    if (pool == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the place for the pool is NULL");
    *pool = NULL;
    if (mode < NNRT_PERFORMANCE_NONE || mode > NNRT_PERFORMANCE_EXTREME)
        return nnrt_error_set(error, NNRT_INVALID_PERFORMANCE_MODE, "performance mode %d does not exist", mode);
    if (threads == 0) {
#if defined(_WIN32)
        const long processors = mode == NNRT_PERFORMANCE_LOW ? 1 : pthread_num_processors_np();
#else
        const long processors = mode == NNRT_PERFORMANCE_LOW ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
#endif
        threads = processors < 1 ? 1 : processors < (long)NNRT_MAX_POOL ? (uint32_t)processors : NNRT_MAX_POOL;
        if (mode == NNRT_PERFORMANCE_MEDIUM)
            threads = (threads + 1) / 2;
    }
    if (threads > NNRT_MAX_POOL)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "a pool of %u threads, expected at most %u", threads,
                              NNRT_MAX_POOL);
    memset(&a, 0, sizeof(a));
    if (desc != NULL && desc->allocator != NULL)
        a = *desc->allocator;
    p = (nnrt_pool *)nnrt_alloc(&a, nnrti_pool_bytes(threads));
    if (p == NULL)
        return nnrti_no_memory(error);
    memset(p, 0, nnrti_pool_bytes(threads));
    p->allocator = a;
    p->parallel.run = nnrti_pool_run;
    p->parallel.user = p;
    p->parallel.workers = threads;
    p->threads = (nnrti_pool_thread *)(p + 1);
    p->linger = desc != NULL ? desc->linger : 0;
    if (p->linger == 0 && mode == NNRT_PERFORMANCE_EXTREME)
        p->linger = 2000;
    (void)pthread_mutex_init(&p->mutex, NULL); /* without attributes there is nothing that could fail */
    (void)pthread_cond_init(&p->call, NULL);
    (void)pthread_cond_init(&p->over, NULL);
    for (uint32_t i = 0; i < threads; i++) {
        nnrti_pool_thread *t = &p->threads[i];
        t->pool = p;
        t->worker = i;
        if (i > 0 && pthread_create(&t->thread, NULL, nnrti_pool_serve, t) != 0) {
            nnrti_pool_free(p, i - 1);
            return nnrt_error_set(error, NNRT_FAILED, "the system starts no more than %u of %u threads", i - 1,
                                  threads - 1);
        }
    }
    *pool = p;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_pool_destroy(nnrt_pool *pool)
{
    if (pool != NULL)
        nnrti_pool_free(pool, pool->parallel.workers - 1);
}

NNRT_API const nnrt_parallel *nnrt_pool_parallel(const nnrt_pool *pool)
{
    return pool != NULL ? &pool->parallel : NULL;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>sessions */

/* Idea: a session is a head (struct nnrt_session, arrays of inputs and outputs, their names), a prepared model and a
   workspace. nnrt_session_create makes all of them; a run fills the array io with the caller's addresses and calls
   the device. In a caller's buffer these parts follow each other, aligned to NNRT_ALIGNMENT; the device prepares in
   all bytes after the head, so the buffer must have its peak or the sum of the parts, whichever is larger
   (nnrti_body_bytes). The head ends with the states: two buffers each, of which a run reads one and writes the other;
   a run that succeeds swaps them. A state that is updated in place (nnrti_state_axis) has one, which a run reads and
   writes. Invariant: nnrt allocates nothing in a run. A prepared model never changes; the sessions that
   share it are counted in owner->users, and the last one frees it. Rejected: inputs and outputs in memory of the
   session, which would copy them in each run. */

/* Memory of an input or output that the device sees, too. */
typedef struct nnrti_session_block {
    NNRT_SharedBuffer buffer;
    void *at;    /* its address; NULL: there is none */
    bool device; /* it was allocated, by the session's device */
} nnrti_session_block;

/* At the start of the session's memory; after it the arrays of inputs and outputs and their names, then (in a
   caller's buffer) the prepared model, then the workspace. */
struct nnrt_session {
    nnrt_session *owner;     /* the session that owns prepared: itself, unless it shares */
    int32_t users;           /* sessions that use prepared, this one included */
    const NNRT_Model *model; /* the caller's, to know it again: it may be gone */
    NNRT_Model *fixed;       /* the result of nnrt_model_fix for this session, or NULL */
    nnrt_device *device;
    NNRT_PreparedModel *prepared;
    void *workspace;
    size_t workspaceBytes, headBytes;
    nnrt_allocator allocator;
    bool allocated; /* head and workspace come from the allocator */
    uint32_t nIn, nOut, nStates; /* of the model; its last nStates inputs and outputs are states */
    uint8_t *states;             /* per state one or two buffers, each a multiple of NNRT_ALIGNMENT */
    uint8_t *zeros;              /* per state the byte that it is reset to */
    uint8_t *buffers;            /* per state the number of its buffers */
    int8_t *axes;                /* per state nnrt_state.axis */
    bool turned;                 /* the second buffers are current */
    nnrt_io_info *infos; /* nIn + nOut */
    NNRT_IOTensor *io;   /* nIn + nOut */
    nnrt_dims *told;     /* nOut: dimensions of the last run, if ran */
    bool ran, open;      /* open: some output is */
    int32_t going;       /* NNRTI_IDLE, .. */
    NNRT_Priority priority;
    nnrt_session_memory memory;
    nnrt_profile profile;        /* of prepared, where the session owns it */
    nnrti_session_block *blocks; /* nIn + nOut; NULL: nobody asked for one */
#if NNRT_THREADS
    nnrt_pool *pool; /* whose threads the prepared model has; NULL: none */
    bool works;      /* its threads had something to do in the last run that could have them */
    nnrti_turns turns;
#endif
    nnrt_error error;
};

/* States of a session's run: IDLE -> GOING -> IDLE, or GOING -> CANCELLED -> IDLE. The thread that changes one to
   another first decides: either nnrt_session_cancel finds a run that is GOING, or the run has ended and cannot be
   cancelled. */
enum { NNRTI_IDLE, NNRTI_GOING, NNRTI_CANCELLED };

static const char *nnrti_model_name_of(const NNRT_Model *m, uint32_t i)
{
    return nnrti_text_of(m->allTensors.data[nnrti_io_tensor(m, i)].name);
}

/* Bytes of one of the two buffers of a state of these dimensions; false: they are not fixed. */
static bool nnrti_state_bytes(const NNRT_Tensor *t, size_t *exact, size_t *rounded)
{
    return t->dims.count <= NNRTI_DIMS && nnrt_type_size(t->dataType) > 0 &&
           nnrt_dims_bytes(t->dims.data, (int32_t)t->dims.count, t->dataType, exact) &&
           nnrt_round_size(*exact, NNRT_ALIGNMENT, rounded);
}

/* Checks the states and sums up the bytes of their buffers. Their dimensions come from the model, since the head is made
   before a device is asked. */
static NNRT_ReturnCode nnrti_states_bytes(const NNRT_Model *m, uint32_t *count, size_t *bytes, nnrt_error *error)
{
    const NNRT_ReturnCode code = nnrti_states_count(m, nnrt_model_metadata(m, "states"), count, error);
    *bytes = 0;
    for (uint32_t k = m->inputIndex.count - *count; code == NNRT_SUCCESS && k < m->inputIndex.count; k++) {
        const NNRT_Tensor *t = &m->allTensors.data[m->inputIndex.data[k]];
        size_t exact, one;
        if (!nnrti_state_bytes(t, &exact, &one))
            return nnrt_error_set(
                error, NNRT_INVALID_SHAPE,
                "state '%s' has dynamic dimensions or no type; a session keeps states of a fixed size: "
                "set its shape when the model is imported",
                nnrti_text_of(t->name));
        if (exact > UINT32_MAX || !nnrt_add_size(*bytes, one, bytes) ||
            (nnrti_state_axis(m, *count, k + *count - m->inputIndex.count) < 0 && !nnrt_add_size(*bytes, one, bytes)))
            return nnrti_no_memory(error);
    }
    return code;
}

/* Bytes of one buffer of state k, rounded. */
static size_t nnrti_state_size(const nnrt_session *s, uint32_t k)
{
    return (s->infos[s->nIn - s->nStates + k].bytes + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
}

/* Checks that input and output of each state are the same kind of tensor: the next run reads the output of this one. */
static NNRT_ReturnCode nnrti_states_check(nnrt_session *s, const NNRT_Model *m, nnrt_error *error)
{
    for (uint32_t k = 0; k < s->nStates; k++) {
        const uint32_t i = s->nIn - s->nStates + k, o = s->nIn + s->nOut - s->nStates + k;
        const nnrt_io_info *x = &s->infos[i], *y = &s->infos[o];
        const NNRT_QuantParamList *p = &m->allTensors.data[nnrti_io_tensor(m, i)].quantParams,
                                  *q = &m->allTensors.data[nnrti_io_tensor(m, o)].quantParams;
        bool same = x->dataType == y->dataType && x->shape.rank == y->shape.rank && !x->open && !y->open &&
                    memcmp(x->shape.dims, y->shape.dims, (size_t)x->shape.rank * sizeof(*x->shape.dims)) == 0 &&
                    p->count == q->count;
        for (uint32_t c = 0; same && c < p->count; c++)
            same = p->data[c].scale == q->data[c].scale && p->data[c].zeroPoint == q->data[c].zeroPoint;
        if (!same)
            return nnrt_error_set(
                error, NNRT_INVALID_MODEL,
                "state %u: input '%s' and output '%s' differ in type, shape or quantization parameters", k, x->name,
                y->name);
        s->zeros[k] = p->count > 0 && nnrt_type_size(x->dataType) == 1 ? (uint8_t)(p->data[0].zeroPoint & 255) : 0;
    }
    return NNRT_SUCCESS;
}

/* Bytes of the head: struct, arrays, three bytes per state (there are at most as many as inputs) and names, in the order of
   nnrti_head_make; 16 is room for its rounding. states: of the buffers behind them. false when they do not fit a size_t. */
static bool nnrti_head_bytes(const NNRT_Model *m, size_t states, size_t *bytes)
{
    size_t count = (size_t)m->inputIndex.count + m->outputIndex.count, arrays, told;
    if (!nnrt_mul_size(count, sizeof(nnrt_io_info) + sizeof(NNRT_IOTensor), &arrays) ||
        !nnrt_mul_size(m->outputIndex.count, sizeof(nnrt_dims), &told) || !nnrt_add_size(arrays, told, &arrays) ||
        !nnrt_add_size(sizeof(nnrt_session) + 16, arrays, bytes) ||
        !nnrt_add_size(*bytes, 3 * (size_t)m->inputIndex.count, bytes))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!nnrt_add_size(*bytes, strlen(nnrti_model_name_of(m, i)) + 1, bytes))
            return false;
    return nnrt_round_size(*bytes, NNRT_ALIGNMENT, bytes) && nnrt_add_size(*bytes, states, bytes);
}

/* Sets up the head; the shapes come when the model is prepared. Names are copied, as the model may be destroyed
   before the session (copyConstants). */
static nnrt_session *nnrti_head_make(void *block, size_t bytes, const NNRT_Model *m, uint32_t nStates, size_t states)
{
    nnrt_session *s = (nnrt_session *)block;
    uint8_t *at = (uint8_t *)block + (sizeof(*s) + 15) / 16 * 16;
    memset(block, 0, bytes);
    s->headBytes = bytes;
    s->model = m;
    s->nIn = m->inputIndex.count;
    s->nOut = m->outputIndex.count;
    s->nStates = nStates;
    s->states = (uint8_t *)block + (bytes - states);
    s->infos = (nnrt_io_info *)(void *)at;
    at += (s->nIn + s->nOut) * sizeof(*s->infos);
    s->io = (NNRT_IOTensor *)(void *)at;
    at += (s->nIn + s->nOut) * sizeof(*s->io);
    s->told = (nnrt_dims *)(void *)at;
    at += s->nOut * sizeof(*s->told);
    s->zeros = at;
    at += s->nStates;
    s->buffers = at;
    at += s->nStates;
    s->axes = (int8_t *)at;
    at += s->nStates;
    for (uint32_t k = 0; k < nStates; k++) {
        s->axes[k] = (int8_t)nnrti_state_axis(m, nStates, k);
        s->buffers[k] = s->axes[k] >= 0 ? 1 : 2;
    }
    for (uint32_t i = 0; i < s->nIn + s->nOut; i++) {
        size_t length = strlen(nnrti_model_name_of(m, i)) + 1;
        memcpy(at, nnrti_model_name_of(m, i), length);
        s->infos[i].name = (const char *)at;
        at += length;
    }
    return s;
}

/* Whether the shape of input or output i may differ from run to run. An input that may not have the dimensions of `shape`
   would make each run fail: that is DEVICE_ERROR. */
static NNRT_ReturnCode nnrti_io_open(const nnrt_session *s, bool output, uint32_t i, nnrt_io_info *info,
                                     nnrt_error *error)
{
    NNRT_PreparedModel *prepared = s->prepared;
    const nnrt_dims *shape = &info->shape;
    nnrt_dims least, most;
    NNRT_ReturnCode code = NNRT_NOT_SUPPORT;
    info->open = false;
    memset(&least, 0, sizeof(least));
    memset(&most, 0, sizeof(most));
    if (output && NNRTI_MODEL_HAS(prepared, GetOutputDimRanges))
        code = prepared->vtbl->GetOutputDimRanges(prepared, i, &least, &most);
    if (!output && NNRTI_MODEL_HAS(prepared, GetInputDimRanges))
        code = prepared->vtbl->GetInputDimRanges(prepared, i, &least, &most);
    for (int32_t k = 0; code == NNRT_SUCCESS && k < shape->rank && k < NNRTI_DIMS; k++) {
        if (!output && shape->rank <= NNRTI_DIMS &&
            (shape->dims[k] < least.dims[k] || shape->dims[k] > most.dims[k]))
            return nnrt_error_set(error, NNRT_DEVICE_ERROR,
                                  "input %u '%s': axis %d has size %d, but device '%s' takes %d to %d", i, info->name,
                                  k, shape->dims[k], nnrt_device_unique_name(s->device), least.dims[k], most.dims[k]);
        info->open = info->open || least.dims[k] != most.dims[k];
    }
    return NNRT_SUCCESS;
}

/* Sets the bytes of info. Dynamic shapes count with their upper bounds; SIZE_MAX if that product overflows, which the
   sizes of a run do not. False: unknown. */
static bool nnrti_io_bytes(nnrt_io_info *info)
{
    const nnrt_dims *shape = &info->shape;
    bool open = info->open && shape->rank >= 0 && shape->rank <= NNRTI_DIMS;
    if (nnrt_type_size(info->dataType) == 0)
        return false;
    if (nnrt_dims_bytes(shape->dims, shape->rank, info->dataType, &info->bytes))
        return true;
    for (int32_t k = 0; open && k < shape->rank; k++)
        open = shape->dims[k] >= 0;
    info->bytes = SIZE_MAX;
    return open;
}

/* Stores the properties of input or output i, which are known, in the session. */
static NNRT_ReturnCode nnrti_session_io(nnrt_session *s, const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const bool output = i >= s->nIn;
    nnrt_io_info *info = &s->infos[i];
    NNRT_IOTensor *io = &s->io[i];
    NNRT_ReturnCode code = nnrti_io_open(s, output, output ? i - s->nIn : i, info, error);
    if (code != NNRT_SUCCESS)
        return code;
    if (!nnrti_io_bytes(info))
        return nnrt_error_set(error, NNRT_INVALID_SHAPE,
                              "%s %u '%s': neither the device nor the model reports its type and shape",
                              output ? "output" : "input", output ? i - s->nIn : i, info->name);
    info->format = m->allTensors.data[nnrti_io_tensor(m, i)].format;
    s->open = s->open || (output && info->open);
    io->name = info->name;
    io->dataType = info->dataType;
    io->format = info->format;
    io->dimensions.data = info->shape.dims;
    io->dimensions.count = (uint32_t)info->shape.rank;
    io->data.fd = -1;
    return NNRT_SUCCESS;
}

/* The memory of a prepared model, with zeros for values that the device does not report. */
static nnrt_prepared_memory nnrti_prepared_memory(NNRT_PreparedModel *prepared)
{
    nnrt_prepared_memory memory;
    memset(&memory, 0, sizeof(memory));
    if (NNRTI_MODEL_HAS(prepared, GetMemory) && prepared->vtbl->GetMemory(prepared, &memory) != NNRT_SUCCESS)
        memset(&memory, 0, sizeof(memory));
    memory.workspace = 0;
    if (NNRTI_MODEL_RUNS_IN(prepared) &&
        prepared->vtbl->GetWorkspaceSize(prepared, &memory.workspace) != NNRT_SUCCESS)
        memory.workspace = 0;
    return memory;
}

/* Bytes after the head: the prepared model, rounded, and the workspace; during preparation peak. */
static bool nnrti_body_bytes(const nnrt_prepared_memory *memory, size_t peak, size_t *bytes)
{
    size_t tables, workspace;
    if (!nnrt_round_size(memory->tables, NNRT_ALIGNMENT, &tables) ||
        !nnrt_round_size(memory->workspace, NNRT_ALIGNMENT, &workspace) || !nnrt_add_size(tables, workspace, bytes))
        return false;
    *bytes = *bytes > peak ? *bytes : peak;
    return true;
}

/* The time in nanoseconds, as fine as the system's headers offer it to this translation unit. */
#ifdef NNRT_NO_STDIO
#define nnrti_clock NULL
#else
static uint64_t nnrti_clock(void *user)
{
#if defined(CLOCK_MONOTONIC) && !defined(__MINGW32__) /* there it is a function of -lpthread */
    struct timespec t;
    (void)user;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#elif defined(TIME_UTC) && !defined(__MINGW32__)
    struct timespec t;
    (void)user;
    (void)timespec_get(&t, TIME_UTC);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#elif NNRT_POSIX || defined(__MINGW32__)
    struct timeval t;
    (void)user;
    (void)gettimeofday(&t, NULL);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
#else
    (void)user;
    return (uint64_t)((double)clock() * (1e9 / (double)CLOCKS_PER_SEC));
#endif
}
#endif

/* The profile that desc asks for, in *own; NULL: none. */
static const nnrt_profile *nnrti_session_profile(const nnrt_session_desc *desc, nnrt_profile *own)
{
    if (desc->profile == NULL)
        return NULL;
    *own = *desc->profile;
    if (own->clock == NULL)
        own->clock = nnrti_clock;
    return own;
}

static void nnrti_session_config(const nnrt_session_desc *desc, NNRT_ModelConfig *config, nnrt_error *error)
{
    memset(config, 0, sizeof(*config));
    config->allocator = desc->allocator;
    config->copyConstants = desc->copyConstants;
    config->callerWorkspace = true;
    config->threads = desc->threads;
    config->parallel = desc->parallel;
    config->ask = desc->ask;
    config->contexts = desc->contexts;
    config->nContexts = desc->nContexts;
    config->inputDims = desc->inputDims;
    config->bounds = desc->bounds;
    config->maxTrips = desc->maxTrips;
    config->log = desc->log;
    config->enableFloat16 = desc->enableFloat16;
    config->mode = desc->mode;
    config->priority = desc->priority;
    config->extensions = desc->extensions;
    if (desc->device != NULL && strncmp(desc->device, "auto:", 5) == 0)
        config->autoDevices = desc->device + 5;
    config->partition = desc->partition;
    config->error = error;
}

/* The device that a session of m runs on. */
static NNRT_ReturnCode nnrti_session_device(const nnrt_session_desc *desc, const NNRT_Model *m, nnrt_device **device,
                                            nnrt_error *error)
{
    NNRT_ModelConfig config;
    nnrti_session_config(desc, &config, NULL);
    *device = nnrt_device_choose(desc->device, m, &config);
    if (*device == NULL)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "there is no device named '%s'", desc->device);
    return NNRT_SUCCESS;
}

/* Types and shapes of all tensors by shape inference with the session's configuration, for devices without GetIO. */
static NNRT_ReturnCode nnrti_session_infer(const NNRT_Model *m, const nnrt_session_desc *desc, nnrt_memory *memory,
                                           nnrt_operand **shapes, nnrt_error *error)
{
    NNRT_ModelConfig config;
    nnrt_mapping *mappings;
    NNRT_ReturnCode code;
    if (desc->offlineCount > 0)
        return nnrt_error_set(error, NNRT_INVALID_SHAPE,
                              "offline model: neither the device nor the model reports types and shapes");
    nnrti_session_config(desc, &config, error);
    *shapes = (nnrt_operand *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(**shapes));
    m = nnrt_model_map(m, memory, &mappings);
    code = *shapes != NULL && m != NULL ? nnrt_model_infer(m, &config, memory, *shapes, NULL, NULL)
                                        : nnrti_no_memory(error);
    nnrt_model_unmap(mappings);
    return code;
}

/* Fills infos from the device, the model, or by inference, in memory that nothing else uses yet. */
static NNRT_ReturnCode nnrti_session_shapes(nnrt_session *s, const NNRT_Model *m, const nnrt_session_desc *desc,
                                            nnrt_memory *memory, nnrt_error *error)
{
    nnrt_operand *shapes = NULL;
    for (uint32_t i = 0; i < s->nIn + s->nOut; i++) {
        nnrt_io_info *info = &s->infos[i];
        NNRT_ReturnCode code = nnrti_io_ask(s->prepared, m, i, info);
        if (code == NNRT_NOT_SUPPORT) {
            const nnrt_operand *o;
            if (shapes == NULL && (code = nnrti_session_infer(m, desc, memory, &shapes, error)) != NNRT_SUCCESS)
                return code;
            o = &shapes[nnrti_io_tensor(m, i)];
            info->dataType = o->dataType;
            info->shape.rank = o->rank;
            memcpy(info->shape.dims, o->dims, sizeof(o->dims));
        } else if (code != NNRT_SUCCESS) {
            return nnrt_error_set(error, code,
                                  "%s %u '%s': neither the device nor the model reports its type and shape",
                                  i < s->nIn ? "input" : "output", i < s->nIn ? i : i - s->nIn, info->name);
        }
    }
    return NNRT_SUCCESS;
}

/* Bytes that nnrti_session_shapes will take. */
static NNRT_ReturnCode nnrti_session_scratch(NNRT_PreparedModel *prepared, const NNRT_Model *m,
                                             const nnrt_session_desc *desc, size_t *bytes, nnrt_error *error)
{
    *bytes = 0;
    for (uint32_t i = 0; i < m->inputIndex.count + m->outputIndex.count; i++) {
        nnrt_io_info info;
        nnrt_operand *shapes;
        nnrt_memory memory;
        NNRT_ReturnCode code;
        memset(&info, 0, sizeof(info));
        if (nnrti_io_ask(prepared, m, i, &info) != NNRT_NOT_SUPPORT)
            continue;
        nnrt_memory_count(&memory, desc->allocator);
        code = nnrti_session_infer(m, desc, &memory, &shapes, error);
        nnrt_memory_end(&memory);
        *bytes = memory.peak;
        return code;
    }
    return NNRT_SUCCESS;
}

/* Sharing requires the same model with the same shapes, for which owner was prepared. The model may have been
   destroyed and another one have its address, so inputs and outputs are compared as well. */
static NNRT_ReturnCode nnrti_session_shares(const nnrt_session *owner, const NNRT_Model *m,
                                            const nnrt_session_desc *desc, nnrt_error *error)
{
    const nnrt_dims_list *given = &desc->inputDims;
    bool same = (owner->model == m || owner->fixed == m) && owner->nIn == m->inputIndex.count &&
                owner->nOut == m->outputIndex.count;
    for (uint32_t i = 0; same && i < owner->nIn + owner->nOut; i++)
        same = strcmp(owner->infos[i].name, nnrti_model_name_of(m, i)) == 0;
    if (!same)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "share: that session is one of another model than '%s'",
                              nnrti_text_of(m->name));
    if (desc->device != NULL && nnrt_device_choose(desc->device, NULL, NULL) != owner->device)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "share: that session is on device '%s', not on '%s'",
                              nnrt_device_unique_name(owner->device), desc->device);
    if (desc->bounds.count != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "share: bounds are those of that session, expected none but got %u", desc->bounds.count);
    if (desc->maxTrips != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "share: maxTrips is that of that session, expected 0 but got %u", desc->maxTrips);
    if (desc->profile != NULL || desc->parallel != NULL)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "share: %s of that session",
                              desc->profile != NULL ? "the profile is that" : "threads (parallel) are those");
    if (desc->enableFloat16 || desc->mode != NNRT_PERFORMANCE_NONE || desc->priority != NNRT_PRIORITY_NONE ||
        desc->extensions.count != 0 || desc->offlineCount != 0)
        return nnrt_error_set(
            error, NNRT_INVALID_PARAMETER,
            "share: float16, mode, priority, extensions and offline models are those of that session");
    if (given->count != 0 && (given->count != owner->nIn || given->data == NULL))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "share: inputDims has %u entries, the model has %u inputs",
                              given->data != NULL ? given->count : 0, owner->nIn);
    for (uint32_t i = 0; i < given->count; i++) {
        const nnrt_io_info *info = &owner->infos[i];
        same = given->data[i].rank == info->shape.rank;
        for (int32_t k = 0; same && k < info->shape.rank; k++)
            same = given->data[i].dims[k] == info->shape.dims[k] || (info->open && given->data[i].dims[k] == -1);
        if (!same)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "share: inputDims has other dimensions for input %u '%s' than that session", i,
                                  info->name);
    }
    return NNRT_SUCCESS;
}

/* Shapes of a session with its own prepared model, of `tables` bytes. In a buffer the memory after them is free. */
static NNRT_ReturnCode nnrti_session_own_shapes(nnrt_session *s, const NNRT_Model *m, const nnrt_session_desc *desc,
                                                size_t tables, nnrt_error *error)
{
    nnrt_memory memory;
    NNRT_ReturnCode code;
    if (desc->buffer != NULL) {
        if (!nnrt_round_size(tables, NNRT_ALIGNMENT, &tables) || tables > desc->bufferBytes - s->headBytes)
            return nnrti_no_memory(error);
        nnrt_memory_buffer(&memory, (uint8_t *)desc->buffer + s->headBytes + tables,
                           desc->bufferBytes - s->headBytes - tables);
    } else {
        nnrt_memory_allocate(&memory, desc->allocator);
    }
    code = nnrti_session_shapes(s, m, desc, &memory, error);
    nnrt_memory_end(&memory);
    return code;
}

/* Completes a session whose model is prepared: shapes, workspace, figures. The order matters in a buffer: shape
   inference (nnrti_session_own_shapes) uses the bytes of the workspace, which is not needed yet. */
static NNRT_ReturnCode nnrti_session_finish(nnrt_session *s, const NNRT_Model *m, const nnrt_session_desc *desc,
                                            nnrt_error *error)
{
    nnrt_prepared_memory memory = nnrti_prepared_memory(s->prepared);
    size_t tables = s->owner == s ? memory.tables : 0, body;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    memory.tables = tables;
    if (s->owner == s) {
        code = nnrti_session_own_shapes(s, m, desc, tables, error);
    } else {
        for (uint32_t i = 0; i < s->nIn + s->nOut; i++) {
            s->infos[i].dataType = s->owner->infos[i].dataType;
            s->infos[i].shape = s->owner->infos[i].shape;
        }
    }
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < s->nIn + s->nOut; i++)
        if ((code = nnrti_session_io(s, m, i, error)) != NNRT_SUCCESS)
            return code;
    if ((code = nnrti_states_check(s, m, error)) != NNRT_SUCCESS)
        return code;
    nnrt_session_reset(s);
    s->workspaceBytes = memory.workspace;
    if (!nnrti_body_bytes(&memory, 0, &body))
        return nnrti_no_memory(error);
    if (desc->buffer != NULL) {
        if (desc->bufferBytes - s->headBytes < body)
            return nnrti_no_memory(error);
        if (NNRTI_MODEL_RUNS_IN(s->prepared))
            s->workspace = (uint8_t *)desc->buffer + s->headBytes +
                           (body - (memory.workspace + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT);
    } else if (memory.workspace > 0) {
        s->workspace = nnrt_alloc(desc->allocator, memory.workspace);
        if (s->workspace == NULL)
            return nnrti_no_memory(error);
        nnrti_prefault(desc->allocator, s->workspace, memory.workspace);
    }
    s->memory.total = s->headBytes + body;
    s->memory.tables = s->headBytes + tables;
    s->memory.arena = memory.arena;
    s->memory.bound = memory.bound;
    s->memory.constants = memory.constants;
    s->memory.steps = memory.steps;
    for (uint32_t k = 0; k < s->nStates; k++)
        s->memory.states += s->buffers[k] * nnrti_state_size(s, k);
    return NNRT_SUCCESS;
}

/* Takes the prepared model of desc->share, or prepares the model. A buffer excludes caches and device sections: the
   memory of a restored form is not known beforehand. After a failure s->prepared is NULL, or the owner's, which
   nnrti_session_free does not release. */
static NNRT_ReturnCode nnrti_session_prepare(nnrt_session *s, const NNRT_Model *m, const nnrt_session_desc *desc,
                                             nnrt_error *error)
{
    NNRT_ModelConfig config;
    NNRT_ReturnCode code;
    if (desc->share != NULL) {
        s->owner = desc->share->owner;
        s->device = s->owner->device;
        s->prepared = s->owner->prepared;
        if ((code = nnrti_session_shares(s->owner, m, desc, error)) != NNRT_SUCCESS)
            return code;
        if (!NNRTI_MODEL_RUNS_IN(s->prepared))
            return nnrt_error_set(error, NNRT_NOT_SUPPORT, "device '%s' cannot share a prepared model",
                                  nnrt_device_unique_name(s->device));
        return NNRT_SUCCESS;
    }
    s->owner = s;
    if (nnrti_bare(m) == NULL && (code = nnrti_session_device(desc, m, &s->device, error)) != NNRT_SUCCESS)
        return code;
    nnrti_session_config(desc, &config, error);
    config.profile = nnrti_session_profile(desc, &s->profile);
    if (desc->buffer != NULL) {
        config.buffer = (uint8_t *)desc->buffer + s->headBytes;
        config.bufferBytes = desc->bufferBytes - s->headBytes;
    }
    if (desc->offlineCount > 0)
        return nnrt_device_prepare_offline(s->device, desc->offline, desc->offlineCount, &config, &s->prepared);
    if (desc->buffer != NULL)
        return nnrt_device_prepare(s->device, m, &config, &s->prepared);
    return nnrti_cache_run(desc->cache, desc->device, &s->device, m, &config, &s->prepared);
}

/* Sizes and values of inputs that a session is given, and the model that it is made from. */
typedef struct nnrti_told {
    nnrt_session_desc desc; /* the caller's, with inputDims for the inputs of `model` and without inputs */
    const NNRT_Model *model;
    NNRT_Model *fixed; /* model, if nnrt_model_fix made it */
    nnrt_input *inputs;
    uint32_t count;
    nnrt_dims *dims; /* by input of model */
    size_t inputsBytes, dimsBytes;
} nnrti_told;

static const nnrt_input *nnrti_told_find(const nnrti_told *k, const char *name)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (strcmp(nnrti_text_of(k->inputs[i].name), name) == 0)
            return &k->inputs[i];
    return NULL;
}

/* Collects desc->inputs, and inputDims of the inputs that it does not name. Rules: each names an input of m, once. */
static NNRT_ReturnCode nnrti_told_collect(nnrti_told *k, const NNRT_Model *m, nnrt_error *error)
{
    const nnrt_session_desc *desc = &k->desc;
    const uint32_t nIn = m->inputIndex.count;
    if (desc->inputDims.count > 0 && (desc->inputDims.count != nIn || desc->inputDims.data == NULL))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "inputDims has %u entries, the model has %u inputs",
                              desc->inputDims.data != NULL ? desc->inputDims.count : 0, nIn);
    for (uint32_t i = 0; i < desc->inputCount; i++) {
        const char *name = nnrti_text_of(desc->inputs[i].name);
        if (nnrt_model_deferred(m) == NULL && nnrti_model_input(m, name) == NNRT_NO_TENSOR) /* else the importer finds it */
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the model has no input '%s'", name);
        if (nnrti_told_find(k, name) != NULL)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "input '%s' is described twice", name);
        k->inputs[k->count++] = desc->inputs[i];
    }
    for (uint32_t i = 0; i < desc->inputDims.count; i++) {
        const char *name = nnrti_model_name_of(m, i);
        if (nnrti_told_find(k, name) != NULL)
            continue;
        k->inputs[k->count].name = name;
        k->inputs[k->count++].shape = desc->inputDims.data[i];
    }
    return NNRT_SUCCESS;
}

/* inputDims of k->model: given dimensions, else the model's. */
static NNRT_ReturnCode nnrti_told_dims(nnrti_told *k, nnrt_error *error)
{
    const NNRT_Model *m = k->model;
    if (!nnrt_mul_size((size_t)m->inputIndex.count + 1, sizeof(*k->dims), &k->dimsBytes) ||
        (k->dims = (nnrt_dims *)nnrt_alloc(k->desc.allocator, k->dimsBytes)) == NULL)
        return nnrti_no_memory(error);
    memset(k->dims, 0, k->dimsBytes);
    for (uint32_t i = 0; i < m->inputIndex.count; i++) {
        const NNRT_Int32List *own = &m->allTensors.data[m->inputIndex.data[i]].dims;
        const nnrt_input *known = nnrti_told_find(k, nnrti_model_name_of(m, i));
        k->dims[i].rank = (int32_t)own->count;
        for (uint32_t a = 0; a < own->count && a < NNRTI_DIMS; a++)
            k->dims[i].dims[a] = own->data[a];
        if (known != NULL)
            k->dims[i] = known->shape;
    }
    k->desc.inputDims = nnrt_dims_list_make(k->dims, k->count > 0 ? m->inputIndex.count : 0);
    k->desc.inputs = NULL;
    k->desc.inputCount = 0;
    return NNRT_SUCCESS;
}

/* Frees all that the session does not own. */
static void nnrti_told_end(nnrti_told *k)
{
    nnrt_model_destroy(k->fixed);
    nnrt_free(k->desc.allocator, k->inputs, k->inputsBytes);
    nnrt_free(k->desc.allocator, k->dims, k->dimsBytes);
}

/* Fills *k for a session of m; afterwards nnrti_told_end. Models that are complete and have no desc->inputs, which are
   most, are used as they are. */
static NNRT_ReturnCode nnrti_told_begin(nnrti_told *k, const NNRT_Model *m, const nnrt_session_desc *desc, nnrt_error *error)
{
    const nnrt_session *owner = desc->share != NULL ? desc->share->owner : NULL;
    bool values = false;
    NNRT_ReturnCode code;
    memset(k, 0, sizeof(*k));
    k->desc = *desc;
    k->model = m;
    if (m == NULL || (desc->inputCount == 0 && nnrt_model_deferred(m) == NULL && (owner == NULL || owner->fixed == NULL)))
        return NNRT_SUCCESS;
    if (desc->inputCount > 0 && (desc->inputs == NULL || owner != NULL))
        return nnrt_error_set(error, desc->inputs == NULL ? NNRT_NULL_PTR : NNRT_INVALID_PARAMETER,
                              owner != NULL ? "share: that session decides the inputs, expected none" : "the list of inputs is NULL");
    if (desc->buffer != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "a session with a buffer takes no inputs and no deferred model: nnrt_model_fix first");
    if ((code = nnrti_check_ends(m, error)) != NNRT_SUCCESS)
        return code;
    if (!nnrt_mul_size((size_t)m->inputIndex.count + desc->inputCount + 1, sizeof(*k->inputs), &k->inputsBytes) ||
        (k->inputs = (nnrt_input *)nnrt_alloc(desc->allocator, k->inputsBytes)) == NULL)
        return nnrti_no_memory(error);
    memset(k->inputs, 0, k->inputsBytes);
    if ((code = nnrti_told_collect(k, m, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < k->count; i++)
        values = values || k->inputs[i].data != NULL;
    if (owner != NULL && owner->model == m && owner->fixed != NULL)
        k->model = owner->fixed;
    else if (values || nnrt_model_deferred(m) != NULL)
        code = nnrt_model_fix(&k->fixed, m, k->inputs, k->count, error);
    if (k->fixed != NULL)
        k->model = k->fixed;
    return code == NNRT_SUCCESS ? nnrti_told_dims(k, error) : code;
}

/* Prepares as a session would, but with k.asking nothing is compiled: the first missing form ends the attempt.
   Devices are asked by restoring because only they know whether they accept their blocks. Everything is released
   again. */
NNRT_API NNRT_ReturnCode nnrt_cache_ask(nnrt_cache *cache, const NNRT_Model *model, const nnrt_session_desc *desc,
                                        bool *usable, nnrt_error *error)
{
    nnrt_session_desc own;
    NNRT_ModelConfig config;
    NNRT_PreparedModel *prepared = NULL;
    nnrt_partition quiet;
    nnrt_device *device = NULL;
    nnrti_caching k;
    nnrti_told told;
    nnrt_error fault;
    NNRT_ReturnCode code;
    if (usable != NULL)
        *usable = false;
    if (cache == NULL || usable == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_cache_ask: %s is NULL", cache == NULL ? "cache" : "usable");
    memset(&own, 0, sizeof(own));
    if (desc != NULL)
        own = *desc;
    if (own.buffer != NULL || own.share != NULL || own.offlineCount > 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "a session with a buffer, that shares, or of an offline model has no cache");
    code = nnrti_told_begin(&told, model, &own, error);
    model = told.model;
    own = told.desc;
    if (code != NNRT_SUCCESS || (code = nnrti_session_model(model, NULL, error)) != NNRT_SUCCESS ||
        (nnrti_bare(model) == NULL && (code = nnrti_session_device(&own, model, &device, error)) != NNRT_SUCCESS)) {
        nnrti_told_end(&told);
        return code;
    }
    if (own.partition != NULL) { /* a report is a session's */
        quiet = *own.partition;
        quiet.placed = NULL;
        own.partition = &quiet;
    }
    own.log = NULL;
    memset(&fault, 0, sizeof(fault));
    nnrti_session_config(&own, &config, &fault);
    nnrti_caching_begin(&k, cache, model, own.device, &config);
    k.asking = true;
    code = nnrti_bare(model) != NULL ? nnrti_bare_prepare(&k, own.device, &config, &device, &prepared)
                                     : nnrt_device_prepare(device, model, &config, &prepared);
    nnrt_device_release(device, prepared);
    *usable = code == NNRT_SUCCESS && !k.missing && cache->state.restored > 0;
    fault = cache->state.fault;
    nnrti_cache_clear(cache);
    cache->state.fault = fault;
    nnrti_told_end(&told);
    return NNRT_SUCCESS;
}

/* Releases a block: unmaps it before the device frees it, in HDI's order. */
static void nnrti_session_drop(nnrt_session *s, nnrti_session_block *b)
{
    if (b->at == NULL)
        return;
    nnrt_buffer_unmap(&b->buffer, b->at);
    if (b->device)
        (void)nnrt_device_free(s->device, &b->buffer);
    memset(b, 0, sizeof(*b));
}

/* Frees the session as far as it was made; blocks first, since they may be the device's. A session in a caller's
   buffer only releases its prepared model: head and workspace stay the caller's. */
static void nnrti_session_free(nnrt_session *s)
{
    nnrt_allocator allocator = s->allocator;
    bool allocated = s->allocated;
    for (uint32_t i = 0; s->blocks != NULL && i < s->nIn + s->nOut; i++)
        nnrti_session_drop(s, &s->blocks[i]);
    nnrt_free(&allocator, s->blocks, (s->nIn + s->nOut) * sizeof(*s->blocks));
    if (s->owner == s)
        nnrt_device_release(s->device, s->prepared);
    nnrt_model_destroy(s->fixed);
    if (allocated) {
        nnrt_free(&allocator, s->workspace, s->workspaceBytes);
        nnrt_free(&allocator, s, s->headBytes);
    }
}

/* Faults of model, cache and buffer are found before anything is allocated. After a failure nothing stays allocated,
   and a shared owner is unchanged, because the new session is counted last. */
static NNRT_ReturnCode nnrti_session_make(nnrt_session **session, const NNRT_Model *model,
                                          const nnrt_session_desc *desc, nnrt_error *error)
{
    nnrt_session *s;
    size_t head, states;
    uint32_t nStates;
    void *block;
    NNRT_ReturnCode code;
    if ((code = nnrti_session_model(model, desc, error)) != NNRT_SUCCESS)
        return code;
    if (desc->cache != NULL && (desc->buffer != NULL || desc->share != NULL))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "a session with a %s has no cache",
                              desc->buffer != NULL ? "buffer of the caller's" : "prepared model of another one");
    if (desc->offlineCount > 0 && (desc->cache != NULL || nnrti_bare(model) != NULL))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "a session of an offline model has no cache");
    if (desc->buffer != NULL && nnrti_bare(model) != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a session from a cache alone takes no buffer");
    if ((code = nnrti_states_bytes(model, &nStates, &states, error)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_head_bytes(model, states, &head))
        return nnrti_no_memory(error);
    if (desc->buffer != NULL && (uintptr_t)desc->buffer % NNRT_ALIGNMENT != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the buffer is not aligned to %d bytes", NNRT_ALIGNMENT);
    if (desc->buffer != NULL && desc->bufferBytes < head)
        return nnrti_no_memory(error);
    block = desc->buffer != NULL ? desc->buffer : nnrt_alloc(desc->allocator, head);
    if (block == NULL)
        return nnrti_no_memory(error);
    s = nnrti_head_make(block, head, model, nStates, states);
    s->users = 1;
    s->allocated = desc->buffer == NULL;
    if (desc->allocator != NULL)
        s->allocator = *desc->allocator;
    s->priority = desc->share != NULL ? desc->share->owner->priority : desc->priority;
#if NNRT_THREADS
    s->pool = desc->share != NULL ? desc->share->owner->pool : nnrti_pool_of(desc->parallel);
#endif
    if ((code = nnrti_session_prepare(s, model, desc, error)) != NNRT_SUCCESS ||
        (code = nnrti_session_finish(s, model, desc, error)) != NNRT_SUCCESS) {
        nnrti_session_free(s);
        return code;
    }
    nnrt_log_line(desc->log, NNRT_LOG_INFO,
                  "session on device '%s': %u steps, arena of %z bytes, lower bound %z, constants %z, %z bytes in all",
                  nnrt_device_unique_name(s->device), s->memory.steps, s->memory.arena, s->memory.bound,
                  s->memory.constants, s->memory.total);
    if (s->owner != s)
        (void)NNRTI_ATOMIC_ADD(&s->owner->users, 1);
    *session = s;
    return NNRT_SUCCESS;
}

/* If a caller's buffer is too small, the message states the required size. Computing it prepares the model once more,
   from the allocator; if that fails as well, the first message stays. */
NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_session_create(nnrt_session **session, const NNRT_Model *model,
                                                        const nnrt_session_desc *desc, nnrt_error *error)
{
    nnrt_session_desc zero;
    NNRT_ReturnCode code;
    nnrti_told told;
    size_t bytes;
    nnrt_error_clear(error);
    memset(&zero, 0, sizeof(zero));
    if (desc == NULL)
        desc = &zero;
    if (session == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the place for the session is NULL");
    *session = NULL;
    code = nnrti_told_begin(&told, model, desc, error);
    if (code == NNRT_SUCCESS)
        code = nnrti_session_make(session, told.model, &told.desc, error);
    if (code == NNRT_SUCCESS) {
        (*session)->model = model;
        (*session)->fixed = told.fixed;
        told.fixed = NULL;
    }
    nnrti_told_end(&told);
    if (code == NNRT_OUT_OF_MEMORY && desc->buffer != NULL && error != NULL &&
        nnrt_session_bytes(model, desc, &bytes, NULL) == NNRT_SUCCESS && bytes > desc->bufferBytes) {
        memset(error, 0, sizeof(*error));
        return nnrt_error_set(error, code, "there is not enough memory: the buffer has %z bytes, the session takes %z",
                              desc->bufferBytes, bytes);
    }
    return code;
}

/* The owner of a prepared model that others share goes last: it waits, destroyed or not, for the last user. */
NNRT_API void nnrt_session_destroy(nnrt_session *session)
{
    nnrt_session *owner;
    if (session == NULL)
        return;
    owner = session->owner;
    if (session != owner)
        nnrti_session_free(session);
    if (NNRTI_ATOMIC_ADD(&owner->users, -1) == 0)
        nnrti_session_free(owner);
}

/* Prepares the model with the allocator and reads the sizes of the result, as only the device knows them.
   GetModelMemory adds the peak during preparation; a device without it counts with the sizes of the result alone.
   Shape inference for devices without GetIO uses the bytes of the workspace, and may need more than the workspace. */
NNRT_API NNRT_ReturnCode nnrt_session_bytes(const NNRT_Model *model, const nnrt_session_desc *desc, size_t *bytes,
                                            nnrt_error *error)
{
    nnrt_session_desc own;
    NNRT_ModelConfig config;
    nnrt_prepared_memory memory;
    NNRT_PreparedModel *prepared = NULL;
    nnrt_profile profile;
    nnrt_device *device;
    size_t head, body, scratch, states, peak = 0;
    uint32_t nStates;
    NNRT_ReturnCode code;
    nnrt_error_clear(error);
    if (bytes == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the place for the size is NULL");
    *bytes = 0;
    memset(&own, 0, sizeof(own));
    if (desc != NULL)
        own = *desc;
    if ((code = nnrti_session_model(model, &own, error)) != NNRT_SUCCESS ||
        (code = nnrti_states_bytes(model, &nStates, &states, error)) != NNRT_SUCCESS)
        return code;
    if (own.inputCount > 0)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "the size of a session with inputs is not known beforehand: nnrt_model_fix first");
    if (own.cache != NULL || nnrti_bare(model) != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the size of a session with a cache is not known beforehand");
    if (own.offlineCount > 0)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "no device reports the memory that it needs to prepare an offline model");
    memset(&memory, 0, sizeof(memory));
    if (own.share != NULL) {
        if ((code = nnrti_session_shares(own.share->owner, model, &own, error)) != NNRT_SUCCESS)
            return code;
        memory = nnrti_prepared_memory(own.share->prepared);
        memory.tables = 0;
    } else {
        nnrti_session_config(&own, &config, error);
        config.log = NULL; /* logged when the session is created */
        config.profile = nnrti_session_profile(&own, &profile);
        if ((code = nnrti_session_device(&own, model, &device, error)) != NNRT_SUCCESS ||
            (code = nnrt_device_prepare(device, model, &config, &prepared)) != NNRT_SUCCESS)
            return code;
        memory = nnrti_prepared_memory(prepared);
        code = nnrti_session_scratch(prepared, model, &own, &scratch, error);
        memory.workspace = memory.workspace > scratch ? memory.workspace : scratch;
        nnrt_device_release(device, prepared);
        if (code != NNRT_SUCCESS)
            return code;
        code = nnrt_device_model_memory(device, model, &config, &peak);
        if (code != NNRT_SUCCESS && code != NNRT_NOT_SUPPORT)
            return code;
    }
    if (!nnrti_head_bytes(model, states, &head) || !nnrti_body_bytes(&memory, peak, &body) ||
        !nnrt_add_size(head, body, bytes))
        return nnrti_no_memory(error);
    return NNRT_SUCCESS;
}

NNRT_API nnrt_session_memory nnrt_session_get_memory(const nnrt_session *session)
{
    nnrt_session_memory none;
    memset(&none, 0, sizeof(none));
    return session != NULL ? session->memory : none;
}

NNRT_API const char *nnrt_session_device(const nnrt_session *session)
{
    return session != NULL ? nnrt_device_unique_name(session->device) : "";
}

NNRT_API uint32_t nnrt_session_inputs(const nnrt_session *session)
{
    return session != NULL ? session->nIn - session->nStates : 0;
}

NNRT_API uint32_t nnrt_session_outputs(const nnrt_session *session)
{
    return session != NULL ? session->nOut - session->nStates : 0;
}

NNRT_API uint32_t nnrt_session_states(const nnrt_session *session)
{
    return session != NULL ? session->nStates : 0;
}

NNRT_API void nnrt_session_reset(nnrt_session *session)
{
    uint8_t *at = session != NULL ? session->states : NULL;
    for (uint32_t k = 0; session != NULL && k < session->nStates; k++) {
        const size_t bytes = session->buffers[k] * nnrti_state_size(session, k);
        memset(at, session->zeros[k], bytes);
        at += bytes;
    }
}

NNRT_API nnrt_state nnrt_session_state(const nnrt_session *session, uint32_t index)
{
    nnrt_state state;
    uint8_t *at = session != NULL ? session->states : NULL;
    memset(&state, 0, sizeof(state));
    if (session == NULL || index >= session->nStates)
        return state;
    for (uint32_t k = 0; k < index; k++)
        at += session->buffers[k] * nnrti_state_size(session, k);
    state.info = session->infos[session->nIn - session->nStates + index];
    state.data = at + (session->buffers[index] > 1 && session->turned ? nnrti_state_size(session, index) : 0);
    state.axis = session->axes[index];
    return state;
}

/* Saved states: a header, a record for each state, the note, then the rows of each state in the order of its elements, each
   part at a multiple of 8 bytes. Numbers are in the order of the machine, which `order` states. */
#define NNRTI_STATES_VERSION 1u
#define NNRTI_STATES_ORDER 0x01020304u
#define NNRTI_STATES_SAMPLE 65536u /* bytes of each constant that are compared */

typedef struct nnrti_states_header {
    char magic[8];
    uint64_t checksum; /* of all bytes behind it */
    uint64_t bytes, note, model;
    uint32_t order, version, count, rows;
} nnrti_states_header;

typedef struct nnrti_states_record {
    int32_t type, rank, axis; /* axis: as nnrt_state */
    int32_t dims[NNRTI_DIMS]; /* that of the axis is the number of rows saved */
    int32_t zero;
} nnrti_states_record;

typedef char nnrti_states_header_fits[sizeof(nnrti_states_header) == 56 ? 1 : -1];
typedef char nnrti_states_record_fits[sizeof(nnrti_states_record) == 48 ? 1 : -1];

static const char nnrti_states_magic[8] = {'\x89', 'N', 'N', 'S', '\r', '\n', '\x1A', '\n'};

static size_t nnrti_states_round(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* A state as `outer` blocks that are `stride` bytes apart, of each of which the first `bytes` are its first rows. */
typedef struct nnrti_state_rows {
    uint8_t *data;
    size_t outer, stride, bytes;
} nnrti_state_rows;

static nnrti_state_rows nnrti_state_rows_of(const nnrt_state *state, uint32_t rows)
{
    nnrti_state_rows r;
    r.data = (uint8_t *)state->data;
    r.outer = 1;
    r.stride = r.bytes = state->info.bytes;
    for (int32_t i = 0; i < state->axis; i++)
        r.outer *= (size_t)state->info.shape.dims[i];
    if (state->axis < 0 || r.bytes == 0)
        return r;
    r.stride = state->info.bytes / r.outer;
    r.bytes = r.stride / (size_t)state->info.shape.dims[state->axis] * rows;
    return r;
}

static nnrti_states_record nnrti_states_record_of(const nnrt_state *state, uint32_t rows)
{
    nnrti_states_record r;
    memset(&r, 0, sizeof(r));
    r.type = state->info.dataType;
    r.rank = state->info.shape.rank;
    r.axis = state->axis;
    for (int32_t i = 0; i < r.rank; i++)
        r.dims[i] = i == r.axis ? (int32_t)rows : state->info.shape.dims[i];
    return r;
}

/* The smallest number of rows of a state in place, at most INT32_MAX; that if there is none. */
static uint32_t nnrti_states_capacity(const nnrt_session *s)
{
    uint32_t least = INT32_MAX;
    for (uint32_t k = 0; k < s->nStates; k++) {
        const nnrt_dims *shape = &s->infos[s->nIn - s->nStates + k].shape;
        if (s->axes[k] >= 0 && (uint32_t)shape->dims[s->axes[k]] < least)
            least = (uint32_t)shape->dims[s->axes[k]];
    }
    return least;
}

/* Which model it is: types, dimensions and beginnings of the constants. Not a digest of all weights, for which a mapped file
   would be read, nor of the graph, in which the number of rows is. */
static uint64_t nnrti_states_model(const NNRT_Model *m)
{
    uint64_t hash = NNRTI_FNV64;
    for (uint32_t i = 0; i < m->allTensors.count; i++) {
        const NNRT_Tensor *t = &m->allTensors.data[i];
        const uint32_t bytes = t->data.dataSize;
        if (!nnrti_is_constant(t))
            continue;
        hash = nnrti_hash_dims(nnrti_hash_number(hash, (uint32_t)t->dataType), (int32_t)t->dims.count, t->dims.data);
        hash = nnrti_digest(hash, (const uint8_t *)nnrti_buffer_data(&t->data),
                            bytes < NNRTI_STATES_SAMPLE ? bytes : NNRTI_STATES_SAMPLE);
    }
    return hash;
}

/* Fails if the rows of the states belong to pages of several sequences. */
static NNRT_ReturnCode nnrti_states_paged(const NNRT_Model *model, nnrt_error *error)
{
    const char *rows = nnrt_model_metadata(model, "pages");
    return rows == NULL ? NNRT_SUCCESS
                        : nnrt_error_set(error, NNRT_NOT_SUPPORT,
                                         "the rows of the states are pages of %s rows, which several sequences share (metadata "
                                         "pages): they are not saved, loaded or dropped as rows of one sequence",
                                         rows);
}

/* Bytes of the saved states of a session. */
static bool nnrti_states_size(const nnrt_session *s, uint32_t rows, size_t note, size_t *bytes)
{
    bool fits = nnrt_mul_size(s->nStates, sizeof(nnrti_states_record), bytes) && note < SIZE_MAX / 2 &&
                nnrt_add_size(*bytes, sizeof(nnrti_states_header) + nnrti_states_round(note), bytes);
    for (uint32_t k = 0; fits && k < s->nStates; k++) {
        const nnrt_state state = nnrt_session_state(s, k);
        const nnrti_state_rows r = nnrti_state_rows_of(&state, rows);
        fits = nnrt_add_size(*bytes, nnrti_states_round(r.outer * r.bytes), bytes); /* at most info.bytes, below 2^32 */
    }
    return fits;
}

NNRT_API NNRT_ReturnCode nnrt_session_save_states(const nnrt_session *session, const NNRT_Model *model,
                                                  const nnrt_states *states, void *out, size_t size, size_t *bytes,
                                                  nnrt_error *error)
{
    nnrti_states_header h;
    uint8_t *at = (uint8_t *)out;
    nnrt_error_clear(error);
    if (session == NULL || model == NULL || states == NULL || bytes == NULL ||
        (states->note == NULL && states->noteBytes > 0))
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_session_save_states: %s is NULL",
                              session == NULL  ? "session"
                              : model == NULL  ? "model"
                              : states == NULL ? "states"
                              : bytes == NULL  ? "bytes"
                                               : "states->note");
    if (nnrti_states_paged(model, error) != NNRT_SUCCESS)
        return NNRT_NOT_SUPPORT;
    if (states->rows > nnrti_states_capacity(session))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%u rows are to be saved, and the states have %u", states->rows,
                              nnrti_states_capacity(session));
    if (!nnrti_states_size(session, states->rows, states->noteBytes, bytes))
        return nnrti_no_memory(error);
    if (out == NULL)
        return NNRT_SUCCESS;
    if (size < *bytes)
        return nnrt_error_set(error, NNRT_INSUFFICIENT_BUFFER, "the states take %z bytes, the buffer has %z", *bytes, size);
    memset(out, 0, *bytes);
    memset(&h, 0, sizeof(h));
    memcpy(h.magic, nnrti_states_magic, sizeof(h.magic));
    h.bytes = *bytes;
    h.note = states->noteBytes;
    h.model = nnrti_states_model(model);
    h.order = NNRTI_STATES_ORDER;
    h.version = NNRTI_STATES_VERSION;
    h.count = session->nStates;
    h.rows = states->rows;
    at += sizeof(h);
    for (uint32_t k = 0; k < session->nStates; k++, at += sizeof(nnrti_states_record)) {
        const nnrt_state state = nnrt_session_state(session, k);
        const nnrti_states_record record = nnrti_states_record_of(&state, states->rows);
        memcpy(at, &record, sizeof(record));
    }
    if (states->noteBytes > 0)
        memcpy(at, states->note, states->noteBytes);
    at += nnrti_states_round(states->noteBytes);
    for (uint32_t k = 0; k < session->nStates; k++) {
        const nnrt_state state = nnrt_session_state(session, k);
        const nnrti_state_rows r = nnrti_state_rows_of(&state, states->rows);
        for (size_t i = 0; i < r.outer && r.bytes > 0; i++)
            memcpy(at + i * r.bytes, r.data + i * r.stride, r.bytes);
        at += nnrti_states_round(r.outer * r.bytes);
    }
    memcpy(out, &h, sizeof(h));
    h.checksum = nnrti_digest(NNRTI_FNV64, (const uint8_t *)out + 16, *bytes - 16);
    memcpy(out, &h, sizeof(h));
    return NNRT_SUCCESS;
}

/* Checks length and checksum, and sets *states. */
static NNRT_ReturnCode nnrti_states_open(nnrt_states *states, const void *data, size_t bytes, nnrt_error *error)
{
    nnrti_states_header h;
    size_t first;
    memset(states, 0, sizeof(*states));
    if (bytes < sizeof(h.magic) || memcmp(data, nnrti_states_magic, sizeof(h.magic)) != 0)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the data are no saved states: they do not begin with \\x89NNS");
    if (bytes < sizeof(h))
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the saved states are cut short: %z bytes, and the header has %z",
                              bytes, sizeof(h));
    memcpy(&h, data, sizeof(h));
    if (h.order != NNRTI_STATES_ORDER || h.version != NNRTI_STATES_VERSION)
        return nnrt_error_set(error, NNRT_INVALID_FILE,
                              "the saved states have version %u and byte order %u, expected version %u and byte order %u",
                              h.version, h.order, NNRTI_STATES_VERSION, NNRTI_STATES_ORDER);
    if (h.bytes != bytes)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the saved states say that they have %z bytes, and have %z",
                              (size_t)h.bytes, bytes);
    if (nnrti_digest(NNRTI_FNV64, (const uint8_t *)data + 16, bytes - 16) != h.checksum)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the saved states are damaged: their checksum differs");
    if (h.count > (bytes - sizeof(h)) / sizeof(nnrti_states_record))
        return nnrt_error_set(error, NNRT_INVALID_FILE, "%u saved states do not fit %z bytes", h.count, bytes);
    first = sizeof(h) + h.count * sizeof(nnrti_states_record);
    if (h.note > bytes - first)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "a note of %z bytes does not fit the saved states of %z bytes",
                              (size_t)h.note, bytes);
    states->rows = h.rows;
    states->note = (const uint8_t *)data + first;
    states->noteBytes = (size_t)h.note;
    return NNRT_SUCCESS;
}

/* Compares a record with a state. */
static NNRT_ReturnCode nnrti_states_compare(const nnrti_states_record *have, const nnrt_state *state, uint32_t rows,
                                            nnrt_error *error)
{
    const nnrti_states_record want = nnrti_states_record_of(state, rows);
    nnrt_operand found, expected;
    if (memcmp(have, &want, sizeof(want)) == 0)
        return NNRT_SUCCESS;
    found = nnrt_operand_make(have->type, have->rank < 0 || have->rank > NNRTI_DIMS ? 0 : have->rank, have->dims, NULL);
    expected = nnrt_operand_make(want.type, want.rank, want.dims, NULL);
    return nnrt_error_set(error, NNRT_INVALID_SHAPE,
                          "the saved state '%s' is %o with rows along axis %d, expected %o and axis %d", state->info.name,
                          &found, have->axis, &expected, want.axis);
}

NNRT_API NNRT_ReturnCode nnrt_session_load_states(nnrt_session *session, const NNRT_Model *model, const void *data,
                                                  size_t bytes, nnrt_states *states, nnrt_error *error)
{
    const uint8_t *at = (const uint8_t *)data;
    nnrt_states found;
    nnrti_states_header h;
    NNRT_ReturnCode code;
    size_t want;
    nnrt_error_clear(error);
    if (data == NULL || (session != NULL && model == NULL) || (session == NULL && states == NULL))
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_session_load_states: %s is NULL",
                              data == NULL ? "data" : session != NULL ? "model" : "session");
    code = nnrti_states_open(&found, data, bytes, error);
    if (states != NULL)
        *states = found;
    if (code != NNRT_SUCCESS || session == NULL || (code = nnrti_states_paged(model, error)) != NNRT_SUCCESS)
        return code;
    memcpy(&h, data, sizeof(h));
    if (h.count != session->nStates)
        return nnrt_error_set(error, NNRT_INVALID_SHAPE,
                              "%u states are saved, the session has %u: expected the model, and the type of its cache, that they "
                              "were saved with",
                              h.count, session->nStates);
    if (h.rows > nnrti_states_capacity(session))
        return nnrt_error_set(error, NNRT_INVALID_SHAPE, "%u rows are saved, the states of the session have %u", h.rows,
                              nnrti_states_capacity(session));
    at += sizeof(h);
    for (uint32_t k = 0; k < h.count; k++, at += sizeof(nnrti_states_record)) {
        const nnrt_state state = nnrt_session_state(session, k);
        nnrti_states_record record;
        memcpy(&record, at, sizeof(record));
        if ((code = nnrti_states_compare(&record, &state, h.rows, error)) != NNRT_SUCCESS)
            return code;
    }
    if (h.model != nnrti_states_model(model))
        return nnrt_error_set(error, NNRT_INVALID_MODEL,
                              "the states were saved with another model: the weights differ, or options that change them");
    if (!nnrti_states_size(session, h.rows, found.noteBytes, &want) || want != bytes)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the saved states have %z bytes, expected %z", bytes, want);
    at += nnrti_states_round(found.noteBytes);
    for (uint32_t k = 0; k < h.count; k++) {
        const nnrt_state state = nnrt_session_state(session, k);
        const nnrti_state_rows r = nnrti_state_rows_of(&state, h.rows);
        for (size_t i = 0; i < r.outer && r.bytes > 0; i++)
            memcpy(r.data + i * r.stride, at + i * r.bytes, r.bytes);
        at += nnrti_states_round(r.outer * r.bytes);
    }
    return NNRT_SUCCESS;
}

/* A line of the metadata "rotary", nnrt_model.h. */
typedef struct nnrti_rotary {
    const char *names, *namesEnd; /* separated by commas */
    int32_t heads, pairs;
    bool adjacent;
    const char *list; /* per pair a space and 8 digits */
} nnrti_rotary;

/* Reads the line at *text, which moves behind it. False: it is not valid. */
static bool nnrti_rotary_line(const char **text, nnrti_rotary *r)
{
    const char *at = *text, *end = at;
    memset(r, 0, sizeof(*r));
    while (*end != '\0' && *end != '\n')
        end++;
    *text = *end == '\n' ? end + 1 : end;
    r->names = at;
    while (at < end && *at != '=')
        at++;
    r->namesEnd = at++;
    while (at < end && *at >= '0' && *at <= '9' && r->heads < 1 << 24)
        r->heads = 10 * r->heads + (*at++ - '0');
    r->adjacent = end - at >= 6 && memcmp(at, " pairs", 6) == 0;
    if (!r->adjacent && !(end - at >= 7 && memcmp(at, " halves", 7) == 0))
        return false;
    at += r->adjacent ? 6 : 7;
    r->list = at;
    r->pairs = end - at < 9 << 24 ? (int32_t)((end - at) / 9) : 0;
    for (int32_t i = 0; at < end; i = (i + 1) % 9, at++)
        if (i == 0 ? *at != ' ' : !((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f')))
            return false;
    return r->heads > 0 && r->pairs > 0 && (end - r->list) == 9 * (ptrdiff_t)r->pairs;
}

static float nnrti_rotary_frequency(const nnrti_rotary *r, int32_t i)
{
    const char *at = r->list + 9 * (ptrdiff_t)i + 1;
    uint32_t bits = 0;
    float f;
    for (int k = 0; k < 8; k++)
        bits = bits << 4 | (uint32_t)(at[k] <= '9' ? at[k] - '0' : at[k] - 'a' + 10);
    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Turns the rows first to end - 1 of keys back by `by` positions: each pair (x, y) by the angle -by * frequency. */
static void nnrti_rotary_turn(const nnrt_state *keys, const nnrti_rotary *r, uint32_t first, uint32_t end, uint32_t by)
{
    enum { PART = 32 };
    const int32_t width = keys->info.shape.dims[2], size = width / r->heads;
    const NNRT_DataType type = keys->info.dataType;
    for (int32_t p = 0; p < r->pairs; p += PART) {
        const int32_t n = r->pairs - p < PART ? r->pairs - p : PART;
        float cosines[PART], sines[PART];
        for (int32_t i = 0; i < n; i++) {
            const double angle = (double)by * (double)nnrti_rotary_frequency(r, p + i);
            cosines[i] = (float)nnrti_cos(angle);
            sines[i] = (float)nnrti_sin(angle);
        }
        for (size_t at = (size_t)first * (size_t)width; at < (size_t)end * (size_t)width; at += (size_t)size)
            for (int32_t i = 0; i < n; i++) {
                const ptrdiff_t a = (ptrdiff_t)at + (r->adjacent ? 2 * (p + i) : p + i), b = a + (r->adjacent ? 1 : r->pairs);
                const float x = nnrti_load(keys->data, a, type), y = nnrti_load(keys->data, b, type);
                nnrti_store(keys->data, a, x * cosines[i] + y * sines[i], type);
                nnrti_store(keys->data, b, y * cosines[i] - x * sines[i], type);
            }
    }
}

#define NNRTI_ROTARY_SIZE 4096 /* elements of int8 that are turned at a time; the largest size of a head of them */

/* Adjacent elements as a matrix. */
static nnrt_view nnrti_rotary_view(void *data, NNRT_DataType type, size_t rows, size_t columns)
{
    nnrt_view v;
    memset(&v, 0, sizeof(v));
    v.data = data;
    v.dataType = type;
    v.rank = 2;
    v.dims[0] = (int32_t)rows;
    v.dims[1] = (int32_t)columns;
    v.strides[0] = (ptrdiff_t)columns;
    v.strides[1] = 1;
    return v;
}

/* The same for keys of int8: rows of heads become float32, are turned, and quantized again. */
static void nnrti_rotary_turn_int8(const nnrt_state *keys, const nnrt_state *scales, const nnrti_rotary *r, uint32_t first,
                                   uint32_t end, uint32_t by)
{
    const size_t heads = (size_t)r->heads, size = (size_t)keys->info.shape.dims[2] / heads;
    const size_t block = (size_t)(keys->info.shape.dims[2] / scales->info.shape.dims[2]);
    float values[NNRTI_ROTARY_SIZE];
    NNRT_QuantizeBlocks quantize;
    nnrti_rotary one = *r;
    nnrt_state part;
    memset(&part, 0, sizeof(part));
    part.info.dataType = NNRT_DATA_TYPE_FLOAT32;
    part.info.shape.dims[2] = (int32_t)size;
    part.data = values;
    one.heads = 1;
    quantize.blockSize = (int64_t)block;
    for (size_t at = first * heads, some; at < end * heads; at += some) {
        int8_t *row = (int8_t *)keys->data + at * size;
        uint16_t *scale = (uint16_t *)scales->data + at * size / block;
        nnrt_view x, y, to;
        some = NNRTI_ROTARY_SIZE / size < end * heads - at ? NNRTI_ROTARY_SIZE / size : end * heads - at;
        x = nnrti_rotary_view(values, NNRT_DATA_TYPE_FLOAT32, some * size / block, block);
        y = nnrti_rotary_view(row, NNRT_DATA_TYPE_INT8, some * size / block, block);
        to = nnrti_rotary_view(scale, NNRT_DATA_TYPE_FLOAT16, some * size / block, 1);
        for (size_t i = 0; i < some * size; i++)
            values[i] = nnrt_half_to_float(scale[i / block]) * (float)row[i];
        nnrti_rotary_turn(&part, &one, 0, (uint32_t)some, by);
        (void)nnrt_quantize_blocks(&quantize, &x, &y, &to);
    }
}

/* The state whose name is the `length` bytes at `name`. */
static bool nnrti_rotary_state(const nnrt_session *s, const char *name, size_t length, nnrt_state *state)
{
    for (uint32_t k = 0; k < s->nStates; k++) {
        *state = nnrt_session_state(s, k);
        if (strlen(state->info.name) == length && memcmp(state->info.name, name, length) == 0)
            return true;
    }
    return false;
}

/* Whether a state has rows [1,rows,heads * size] in place. */
static bool nnrti_rotary_rows(const nnrt_state *state, const nnrti_rotary *r)
{
    const int32_t *dims = state->info.shape.dims;
    return state->axis == 1 && state->info.shape.rank == 3 && dims[0] == 1 && dims[2] > 0 && dims[2] % r->heads == 0;
}

/* Finds the keys, with their scales if they are int8, that a line names from `name` to `end`: KEYS or KEYS*SCALES. */
static bool nnrti_rotary_keys(const nnrt_session *s, const nnrti_rotary *r, const char *name, const char *end, nnrt_state *keys,
                              nnrt_state *scales)
{
    const char *star = name;
    int32_t size;
    while (star < end && *star != '*')
        star++;
    if (!nnrti_rotary_state(s, name, (size_t)(star - name), keys) || !nnrti_rotary_rows(keys, r))
        return false;
    size = keys->info.shape.dims[2] / r->heads;
    if (r->pairs > size / 2)
        return false;
    if (star == end)
        return keys->info.dataType == NNRT_DATA_TYPE_FLOAT32 || keys->info.dataType == NNRT_DATA_TYPE_FLOAT16;
    return keys->info.dataType == NNRT_DATA_TYPE_INT8 && size <= NNRTI_ROTARY_SIZE &&
           nnrti_rotary_state(s, star + 1, (size_t)(end - star - 1), scales) && nnrti_rotary_rows(scales, r) &&
           scales->info.dataType == NNRT_DATA_TYPE_FLOAT16 && scales->info.shape.dims[1] == keys->info.shape.dims[1] &&
           size % (scales->info.shape.dims[2] / r->heads) == 0;
}

/* Turns the keys of all lines of `text`; by 0: only checks them. */
static NNRT_ReturnCode nnrti_rotary_all(nnrt_session *s, const char *text, uint32_t first, uint32_t end, uint32_t by,
                                        nnrt_error *error)
{
    for (uint32_t line = 1; *text != '\0'; line++) {
        nnrti_rotary r;
        const char *name, *next;
        if (!nnrti_rotary_line(&text, &r))
            return nnrt_error_set(error, NNRT_INVALID_MODEL,
                                  "rotary, line %u: expected INPUT,INPUT=HEADS pairs F F .., or halves", line);
        for (name = r.names; name <= r.namesEnd; name = next + 1) {
            nnrt_state keys, scales;
            for (next = name; next < r.namesEnd && *next != ',';)
                next++;
            if (!nnrti_rotary_keys(s, &r, name, next, &keys, &scales))
                return nnrt_error_set(error, NNRT_INVALID_MODEL,
                                      "rotary, line %u: expected states in place, float32 or float16 [1,rows,%d * size], size at "
                                      "least %d, or int8 with *SCALES of float16, size at most %d",
                                      line, r.heads, 2 * r.pairs, NNRTI_ROTARY_SIZE);
            if (by > 0 && keys.info.dataType == NNRT_DATA_TYPE_INT8)
                nnrti_rotary_turn_int8(&keys, &scales, &r, first, end, by);
            else if (by > 0)
                nnrti_rotary_turn(&keys, &r, first, end, by);
        }
    }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_session_drop_rows(nnrt_session *session, const NNRT_Model *model, uint32_t rows,
                                                uint32_t first, uint32_t count, nnrt_error *error)
{
    const char *rotary = model != NULL ? nnrt_model_metadata(model, "rotary") : NULL;
    NNRT_ReturnCode code;
    nnrt_error_clear(error);
    if (session == NULL || model == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_session_drop_rows: %s is NULL",
                              session == NULL ? "session" : "model");
    if ((code = nnrti_states_paged(model, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t k = 0; k < session->nStates; k++)
        if (session->axes[k] < 0)
            return nnrt_error_set(error, NNRT_NOT_SUPPORT, "state '%s' has no rows that could be dropped: it is not in place",
                                  nnrt_session_state(session, k).info.name);
    if (session->nStates == 0 || rotary == NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              session->nStates == 0 ? "the model has no states"
                                                    : "the model does not say how the rows of its cache depend on "
                                                      "their positions (metadata rotary): they cannot be moved");
    if (rows > nnrti_states_capacity(session) || first > rows || count > rows - first)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%u rows from row %u on of %u rows of a cache of %u", count, first,
                              rows, nnrti_states_capacity(session));
    if ((code = nnrti_rotary_all(session, rotary, 0, 0, 0, error)) != NNRT_SUCCESS || count == 0)
        return code;
    for (uint32_t k = 0; k < session->nStates; k++) {
        const nnrt_state state = nnrt_session_state(session, k);
        const nnrti_state_rows one = nnrti_state_rows_of(&state, 1);
        for (size_t i = 0; i < one.outer && one.bytes > 0; i++)
            memmove(one.data + i * one.stride + first * one.bytes, one.data + i * one.stride + (first + count) * one.bytes,
                    (rows - first - count) * one.bytes);
    }
    return nnrti_rotary_all(session, rotary, first, rows - count, count, error);
}

static nnrt_io_info nnrti_io_info(const nnrt_session *session, uint32_t index, uint32_t count, uint32_t first)
{
    nnrt_io_info none;
    memset(&none, 0, sizeof(none));
    return index < count ? session->infos[first + index] : none;
}

NNRT_API nnrt_io_info nnrt_session_input(const nnrt_session *session, uint32_t index)
{
    return nnrti_io_info(session, index, nnrt_session_inputs(session), 0);
}

NNRT_API nnrt_io_info nnrt_session_output(const nnrt_session *session, uint32_t index)
{
    nnrt_io_info info =
        nnrti_io_info(session, index, nnrt_session_outputs(session), session != NULL ? session->nIn : 0);
    if (info.open && session->ran && session->told[index].rank == info.shape.rank) {
        info.shape = session->told[index];
        (void)nnrt_dims_bytes(info.shape.dims, info.shape.rank, info.dataType, &info.bytes);
    }
    return info;
}

/* Checks the caller's dimensions of input i; *bytes = their size. The codes are HDI's for Run: INVALID_SHAPE for a
   fixed dimension, OUT_OF_DIMENTION_RANGES for a dynamic one, whose smallest size differs from the planned one. */
static NNRT_ReturnCode nnrti_bind_dims(nnrt_session *s, uint32_t i, const int32_t *dims, size_t *bytes)
{
    const nnrt_io_info *info = &s->infos[i];
    nnrt_dims least = info->shape, most;
    s->io[i].dimensions.data = dims;
    if (info->open) /* not all of its axes need be */
        (void)s->prepared->vtbl->GetInputDimRanges(s->prepared, i, &least, &most);
    for (int32_t k = 0; k < info->shape.rank; k++) {
        const bool open = least.dims[k] != info->shape.dims[k];
        if (open && (dims[k] < least.dims[k] || dims[k] > info->shape.dims[k]))
            return nnrt_error_set(&s->error, NNRT_OUT_OF_DIMENTION_RANGES,
                                  "input %u '%s': axis %d has size %d, expected %d to %d", i, info->name, k, dims[k],
                                  least.dims[k], info->shape.dims[k]);
        if (!open && dims[k] != info->shape.dims[k])
            return nnrt_error_set(&s->error, NNRT_INVALID_SHAPE, "input %u '%s': axis %d has size %d, expected %d", i,
                                  info->name, k, dims[k], info->shape.dims[k]);
    }
    (void)nnrt_dims_bytes(dims, info->shape.rank, info->dataType, bytes);
    return NNRT_SUCCESS;
}

/* Forgets the last failure. */
static void nnrti_session_begin(nnrt_session *s)
{
    s->error.code = NNRT_SUCCESS;
    s->error.message[0] = '\0';
}

/* *place = the place for memory of an input or output, empty: its former block is released first, so a failure leaves
   no block. The table of places is the only memory that a session allocates after its creation, with the first call.
   */
static NNRT_ReturnCode nnrti_session_place(nnrt_session *s, bool output, uint32_t index, nnrt_io *io,
                                           nnrti_session_block **place)
{
    const uint32_t count = s->nIn + s->nOut, had = (output ? s->nOut : s->nIn) - s->nStates;
    nnrti_session_begin(s);
    if (io == NULL)
        return nnrt_error_set(&s->error, NNRT_NULL_PTR, "the place for the memory is NULL");
    *io = nnrt_io_make(NULL, 0);
    if (index >= had)
        return nnrt_error_set(&s->error, NNRT_INVALID_PARAMETER, "there is no %s %u, the model has %u",
                              output ? "output" : "input", index, had);
    if (s->blocks == NULL) {
        s->blocks = (nnrti_session_block *)nnrt_alloc(&s->allocator, count * sizeof(*s->blocks));
        if (s->blocks == NULL)
            return nnrti_no_memory(&s->error);
        memset(s->blocks, 0, count * sizeof(*s->blocks));
    }
    *place = &s->blocks[output ? s->nIn + index : index];
    nnrti_session_drop(s, *place);
    return NNRT_SUCCESS;
}

/* Fills a place with a block, which has no address yet. A dynamic input or output may have a block of any size; a run
   compares it with the actual shape. An input of the caller's is mapped read-only: its descriptor may not permit
   more. */
static NNRT_ReturnCode nnrti_session_fill(nnrt_session *s, nnrti_session_block *place, const NNRT_SharedBuffer *buffer,
                                          bool output, uint32_t index, nnrt_io *io)
{
    const nnrt_io_info *info = &s->infos[output ? s->nIn + index : index];
    nnrt_error own;
    void *at;
    memset(&own, 0, sizeof(own));
    if (!info->open && buffer->dataSize < info->bytes)
        return nnrt_error_set(&s->error, output ? NNRT_INSUFFICIENT_BUFFER : NNRT_INVALID_BUFFER_SIZE,
                              "%s %u '%s' has %u bytes, expected %z", output ? "output" : "input", index, info->name,
                              buffer->dataSize, info->bytes);
    if (nnrt_buffer_map(buffer, output || place->device, &at, &own) != NNRT_SUCCESS)
        return nnrt_error_set(&s->error, NNRT_INVALID_BUFFER, "%s %u '%s': %s", output ? "output" : "input", index,
                              info->name, own.message);
    place->buffer = *buffer;
    place->at = at;
    if (at != NULL)
        *io = nnrt_io_make((uint8_t *)at + buffer->offset, info->open ? buffer->dataSize : info->bytes);
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_session_map(nnrt_session *session, bool output, uint32_t index,
                                          const NNRT_SharedBuffer *buffer, nnrt_io *io)
{
    nnrti_session_block *place = NULL;
    NNRT_ReturnCode code;
    if (session == NULL)
        return NNRT_NULL_PTR;
    code = nnrti_session_place(session, output, index, io, &place);
    if (code != NNRT_SUCCESS || buffer == NULL)
        return code;
    return nnrti_session_fill(session, place, buffer, output, index, io);
}

NNRT_API NNRT_ReturnCode nnrt_session_allocate(nnrt_session *session, bool output, uint32_t index, nnrt_io *io)
{
    nnrti_session_block *place = NULL;
    NNRT_SharedBuffer buffer;
    NNRT_ReturnCode code;
    size_t bytes;
    if (session == NULL)
        return NNRT_NULL_PTR;
    if ((code = nnrti_session_place(session, output, index, io, &place)) != NNRT_SUCCESS)
        return code;
    bytes = session->infos[output ? session->nIn + index : index].bytes;
    if (bytes == 0)
        return NNRT_SUCCESS;
    code = bytes > UINT32_MAX ? NNRT_OUT_OF_MEMORY : nnrt_device_allocate(session->device, (uint32_t)bytes, &buffer);
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(&session->error, code, "device '%s' gives no %z bytes for %s %u: %s (%d)",
                              nnrt_device_unique_name(session->device), bytes, output ? "output" : "input", index,
                              nnrt_code_name(code), code);
    place->device = true;
    if ((code = nnrti_session_fill(session, place, &buffer, output, index, io)) != NNRT_SUCCESS) {
        (void)nnrt_device_free(session->device, &buffer);
        memset(place, 0, sizeof(*place));
    }
    return code;
}

/* The buffer passed to the device for memory that the session has allocated or mapped: with its descriptor. Such
   memory is recognized by its address; any other address in nnrt_run is passed as plain memory. */
static NNRT_ReturnCode nnrti_bind_block(nnrt_session *s, uint32_t i, NNRT_SharedBuffer *b)
{
    const nnrti_session_block *place = s->blocks != NULL ? &s->blocks[i] : NULL;
    const uint32_t bytes = b->dataSize;
    if (place == NULL || place->at == NULL || b->addr != (uint8_t *)place->at + place->buffer.offset)
        return NNRT_SUCCESS;
    if (bytes > place->buffer.dataSize)
        return nnrt_error_set(&s->error, NNRT_INVALID_BUFFER_SIZE, "%s '%s' has %u bytes, its block %u",
                              i < s->nIn ? "input" : "output", s->infos[i].name, bytes, place->buffer.dataSize);
    *b = place->buffer;
    b->addr = place->at;
    b->dataSize = bytes;
    return NNRT_SUCCESS;
}

/* Stores the caller's buffers of nIn inputs or nOut outputs in s->io. Rule: an input has exactly the bytes of its
   shape, an output at least; the size of a dynamic output is compared by the run, which knows its shape. Sizes are
   cut to 32 bits, as in SharedBuffer; a tensor of 4 GiB or more is thus refused. */
static NNRT_ReturnCode nnrti_bind(nnrt_session *s, const nnrt_io *given, uint32_t count, bool output)
{
    uint32_t first = output ? s->nIn : 0, want = (output ? s->nOut : s->nIn) - s->nStates;
    const char *what = output ? "output" : "input";
    if (count != want)
        return nnrt_error_set(&s->error, output ? NNRT_INVALID_OUTPUT : NNRT_INVALID_INPUT,
                              "got %u %ss, the model has %u", count, what, want);
    if (count > 0 && given == NULL)
        return nnrt_error_set(&s->error, NNRT_NULL_PTR, "the list of %ss is NULL", what);
    for (uint32_t i = 0; i < count; i++) {
        const nnrt_io_info *info = &s->infos[first + i];
        NNRT_SharedBuffer *b = &s->io[first + i].data;
        size_t bytes = given[i].bytes < UINT32_MAX ? given[i].bytes : UINT32_MAX, need = info->bytes;
        NNRT_ReturnCode code;
        if (!output)
            s->io[i].dimensions.data = info->shape.dims;
        if (!output && given[i].dims != NULL && (code = nnrti_bind_dims(s, i, given[i].dims, &need)) != NNRT_SUCCESS)
            return code;
        if (output && info->open) /* the run reports the required size */
            need = bytes;
        if (output ? bytes < need : given[i].bytes != need || bytes != need)
            return nnrt_error_set(&s->error, output ? NNRT_INSUFFICIENT_BUFFER : NNRT_INVALID_BUFFER_SIZE,
                                  "%s %u '%s' has %z bytes, expected %z", what, i, info->name, given[i].bytes, need);
        if (given[i].data == NULL && need > 0)
            return nnrt_error_set(&s->error, NNRT_NULL_PTR, "%s %u '%s' is NULL", what, i, info->name);
        b->addr = given[i].data;
        b->bufferSize = b->dataSize = (uint32_t)bytes;
        b->fd = -1;
        b->offset = 0;
        if ((code = nnrti_bind_block(s, first + i, b)) != NNRT_SUCCESS)
            return code;
    }
    return NNRT_SUCCESS;
}

/* Binds the states: a run reads their current buffers and writes the others, or the same. */
static void nnrti_bind_states(nnrt_session *s)
{
    uint8_t *at = s->states;
    for (uint32_t k = 0; k < s->nStates; k++)
        for (uint32_t turn = 0; turn < 2; turn++) {
            NNRT_IOTensor *io = &s->io[(turn == 0 ? s->nIn : s->nIn + s->nOut) - s->nStates + k];
            const nnrt_io_info *info = &s->infos[io - s->io];
            const size_t one = nnrti_state_size(s, k);
            io->dimensions.data = info->shape.dims;
            io->data.addr = at + (s->buffers[k] > 1 && (turn != 0) != s->turned ? one : 0);
            io->data.bufferSize = io->data.dataSize = (uint32_t)info->bytes;
            io->data.fd = -1;
            io->data.offset = 0;
            at += turn != 0 ? s->buffers[k] * one : 0;
        }
}

static bool nnrti_session_stops(void *user)
{
    return NNRTI_ATOMIC_GET(&((nnrt_session *)user)->going) == NNRTI_CANCELLED;
}

/* A run of a session whose state is GOING, set by the caller before other threads could cancel it. Before the call
   the output dimensions are those planned, which stay for outputs that the device does not report. */
static NNRT_ReturnCode nnrti_session_run(nnrt_session *session, const nnrt_io *inputs, uint32_t nIn,
                                         const nnrt_io *outputs, uint32_t nOut)
{
    NNRT_ReturnCode code;
#if NNRT_THREADS
    uint32_t begun = 0, late = 0;
    uint64_t began = 0;
#endif
    nnrt_stop stop;
    stop.asked = nnrti_session_stops;
    stop.user = session;
    stop.alone = false;
    nnrti_session_begin(session);
    if ((code = nnrti_bind(session, inputs, nIn, false)) != NNRT_SUCCESS ||
        (code = nnrti_bind(session, outputs, nOut, true)) != NNRT_SUCCESS)
        return code;
    nnrti_bind_states(session);
    for (uint32_t i = 0; i < session->nOut && session->open; i++)
        session->told[i] = session->infos[session->nIn + i].shape;
    session->ran = true;
#if NNRT_THREADS
    stop.alone = session->works && nnrti_turns_alone(&session->turns);
    if (session->works) {
        began = nnrti_pool_now();
        late = nnrti_pool_late(session->pool);
    }
    if (session->pool != NULL && !stop.alone)
        begun = nnrti_pool_begin(session->pool, session->works);
#endif
    code = nnrt_prepared_run(session->prepared, session->workspace, session->workspaceBytes, session->io, session->nIn,
                             session->io + session->nIn, session->nOut, session->open ? session->told : NULL, &stop,
                             &session->error);
#if NNRT_THREADS
    if (session->works && code == NNRT_SUCCESS)
        nnrti_turns_next(&session->turns, nnrti_pool_now() - began, nnrti_pool_late(session->pool) - late);
    if (session->pool != NULL && !stop.alone)
        session->works = nnrti_pool_end(session->pool, begun);
#endif
    return code;
}

/* The end of a run: from here on it cannot be cancelled, and the states that it wrote become the current ones. If it was
   cancelled in time, success becomes CANCELLED, because nnrt_session_cancel has returned SUCCESS; another fault stays. */
static NNRT_ReturnCode nnrti_session_over(nnrt_session *session, NNRT_ReturnCode code)
{
    if (NNRTI_ATOMIC_TURN(&session->going, NNRTI_GOING, NNRTI_IDLE)) {
        session->turned = session->turned != (code == NNRT_SUCCESS);
        return code;
    }
    NNRTI_ATOMIC_SET(&session->going, NNRTI_IDLE);
    return code != NNRT_SUCCESS ? code : nnrt_error_set(&session->error, NNRT_CANCELLED, "the run was cancelled");
}

NNRT_API NNRT_ReturnCode nnrt_run(nnrt_session *session, const nnrt_io *inputs, uint32_t nIn, const nnrt_io *outputs,
                                  uint32_t nOut)
{
    if (session == NULL)
        return NNRT_NULL_PTR;
    NNRTI_ATOMIC_SET(&session->going, NNRTI_GOING);
    return nnrti_session_over(session, nnrti_session_run(session, inputs, nIn, outputs, nOut));
}

NNRT_API NNRT_ReturnCode nnrt_session_cancel(nnrt_session *session)
{
    if (session == NULL)
        return NNRT_NULL_PTR;
    if (NNRTI_ATOMIC_TURN(&session->going, NNRTI_GOING, NNRTI_CANCELLED) ||
        NNRTI_ATOMIC_GET(&session->going) == NNRTI_CANCELLED)
        return NNRT_SUCCESS;
    return NNRT_OPERATION_FORBIDDEN;
}

NNRT_API const char *nnrt_session_error(const nnrt_session *session)
{
    return session != NULL ? session->error.message : "";
}

#if NNRT_THREADS
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>queue */

/* Idea: a table of places, one mutex, n threads that execute runs, and one that enforces time limits. A search over
   all places and threads finds the next run; its cost is limited by the number of places. Invariant: exactly one
   thread takes an accepted run out of its place, under the mutex; it calls done once, without the mutex, so that done
   may queue runs. Runs with one key execute one at a time: a thread holds the key of its run until done has returned.
   Calls of done, and of nnrt_queue_drop, are in a list while they last, so that a drop of their key sees them.
   The session of an active run exists while the mutex is held and thread->session is set: it is reset before done,
   after which the caller may destroy the session. Rejected: a heap by priority, whose first run may have to wait for
   its key. */

#define NNRTI_QUEUE_WAITED "the run waited longer than its time limit"

/* A place is free, or holds a run that waits. A thread takes the run out of its place before it begins, so that done finds
   room for the next one; its key stays with the thread until done has returned. */
typedef struct nnrti_queued_run {
    uint64_t ticket;  /* 0: free */
    int64_t deadline; /* milliseconds of the system's clock, INT64_MAX: none */
    nnrt_queue_work work;
    void *context;
    const void *key;
    nnrt_queued how;
    nnrt_session *session; /* work NULL: a run of it */
    const nnrt_io *inputs, *outputs;
    uint32_t nIn, nOut;
} nnrti_queued_run;

typedef struct nnrti_queue_thread {
    nnrt_queue *queue;
    const void *key;       /* of its current work, NULL: none */
    nnrt_session *session; /* that it runs, NULL: none. Of that run: */
    uint64_t ticket;
    int64_t deadline; /* INT64_MAX: none, or it has been ended */
    pthread_t thread;
} nnrti_queue_thread;

/* A call of done, or of nnrt_queue_drop (drops), while it lasts; on the stack of the thread that makes it. */
typedef struct nnrti_queue_call {
    struct nnrti_queue_call *next;
    const void *key;
    bool drops;
} nnrti_queue_call;

struct nnrt_queue {
    nnrt_allocator allocator;
    pthread_mutex_t mutex;                    /* of all that follows */
    pthread_cond_t work, time, idle;          /* something waits or a key is free; a deadline came; nothing is left */
    nnrti_queued_run *runs;                   /* behind the queue, in its block; behind them */
    nnrti_queue_thread *threads;              /* the last one watches over deadlines */
    nnrti_queue_call *calls;
    uint64_t tickets;                         /* given so far */
    uint32_t places, nThreads, waiting, busy; /* busy: runs taken out of their places whose done has not returned */
    bool ending;
};

/* Milliseconds of the system's clock, by which pthread_cond_timedwait measures by default: setting it shifts
   deadlines. */
static int64_t nnrti_queue_now(void)
{
    struct timeval t;
    (void)gettimeofday(&t, NULL);
    return (int64_t)t.tv_sec * 1000 + (int64_t)t.tv_usec / 1000;
}

/* The run that is next, NULL: none can begin. Highest priority, then smallest ticket; runs whose key a thread holds
   are skipped. The lock is held. O(places * threads). */
static nnrti_queued_run *nnrti_queue_next(nnrt_queue *q)
{
    nnrti_queued_run *best = NULL;
    for (uint32_t i = 0; i < q->places; i++) {
        nnrti_queued_run *r = &q->runs[i];
        bool held = r->ticket == 0;
        for (uint32_t k = 0; k < q->nThreads && !held && r->key != NULL; k++)
            held = q->threads[k].key == r->key;
        if (!held && (best == NULL || r->how.priority > best->how.priority ||
                      (r->how.priority == best->how.priority && r->ticket < best->ticket)))
            best = r;
    }
    return best;
}

/* Takes a run out of its place. The lock is held. */
static nnrti_queued_run nnrti_queue_take(nnrt_queue *q, nnrti_queued_run *r)
{
    const nnrti_queued_run run = *r;
    memset(r, 0, sizeof(*r));
    q->waiting--;
    q->busy++;
    return run;
}

static void nnrti_queue_enter(nnrt_queue *q, nnrti_queue_call *call, const void *key, bool drops)
{
    call->next = q->calls;
    call->key = key;
    call->drops = drops;
    q->calls = call;
}

static void nnrti_queue_return(nnrt_queue *q, const nnrti_queue_call *call)
{
    nnrti_queue_call **at = &q->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    (void)pthread_cond_broadcast(&q->idle);
}

/* Whether a call of done (drops: of nnrt_queue_drop) for this key lasts. The lock is held. */
static bool nnrti_queue_calls(const nnrt_queue *q, const void *key, bool drops)
{
    const nnrti_queue_call *c = q->calls;
    while (c != NULL && (c->key != key || c->drops != drops))
        c = c->next;
    return c != NULL && key != NULL;
}

/* The end of a run that was taken. The lock is held before and afterwards, but not while done is called. */
static void nnrti_queue_end(nnrt_queue *q, const nnrti_queued_run *r, NNRT_ReturnCode code, const char *message)
{
    nnrti_queue_call call;
    nnrti_queue_enter(q, &call, r->key, false);
    (void)pthread_mutex_unlock(&q->mutex);
    r->how.done(r->how.user, code, message != NULL ? message : "");
    (void)pthread_mutex_lock(&q->mutex);
    q->busy--;
    nnrti_queue_return(q, &call);
}

/* The key is free. The lock is held. */
static void nnrti_queue_leave(nnrti_queue_thread *self)
{
    self->key = NULL;
    (void)pthread_cond_broadcast(&self->queue->work); /* threads that wait for the key */
    (void)pthread_cond_broadcast(&self->queue->idle);
}

static bool nnrti_queue_late(const nnrti_queued_run *r)
{
    return r->deadline != INT64_MAX && nnrti_queue_now() > r->deadline;
}

/* Turns success, and the cancellation of a session's run, into TIME_OUT if the run is late. */
static NNRT_ReturnCode nnrti_queue_expire(const nnrti_queued_run *r, NNRT_ReturnCode code, const char **message)
{
    if ((code != NNRT_SUCCESS && (code != NNRT_CANCELLED || r->work != NULL)) || !nnrti_queue_late(r))
        return code;
    *message = "the run took longer than its time limit";
    return NNRT_TIME_OUT;
}

/* Executes a run, without the lock; *message = its fault, valid until the session runs again. A run that is late
   before it begins still ends its state GOING (nnrti_session_over). It expires before its end, so that a late run leaves
   the states of the session, and after it, as the time limit may cancel it in between. */
static NNRT_ReturnCode nnrti_queue_do(const nnrti_queued_run *r, const char **message)
{
    NNRT_ReturnCode code;
    *message = NULL;
    if (nnrti_queue_late(r)) {
        code = NNRT_TIME_OUT;
        *message = NNRTI_QUEUE_WAITED;
    } else if (r->work == NULL) {
        code = nnrti_session_run(r->session, r->inputs, r->nIn, r->outputs, r->nOut);
    } else {
        code = r->work(r->context, message);
    }
    code = nnrti_queue_expire(r, code, message);
    if (r->work == NULL) {
        code = nnrti_session_over(r->session, code);
        code = code == NNRT_CANCELLED ? nnrti_queue_expire(r, code, message) : code;
        *message = *message != NULL ? *message : nnrt_session_error(r->session);
    }
    return code;
}

/* The main function of a thread that executes runs. While the lock is free, its members describe the run:
   nnrt_queue_cancel and the thread that enforces time limits find it there. */
static void *nnrti_queue_serve(void *arg)
{
    nnrti_queue_thread *self = (nnrti_queue_thread *)arg;
    nnrt_queue *q = self->queue;
    (void)pthread_mutex_lock(&q->mutex);
    while (!q->ending) {
        nnrti_queued_run *next = nnrti_queue_next(q), run;
        const char *message;
        NNRT_ReturnCode code;
        if (next == NULL) {
            (void)pthread_cond_wait(&q->work, &q->mutex);
            continue;
        }
        run = nnrti_queue_take(q, next);
        self->key = run.key;
        self->session = run.session;
        self->ticket = run.ticket;
        self->deadline = run.deadline;
        if (run.session != NULL) /* it may be cancelled as soon as others have the lock */
            NNRTI_ATOMIC_SET(&run.session->going, NNRTI_GOING);
        (void)pthread_mutex_unlock(&q->mutex);
        code = nnrti_queue_do(&run, &message);
        (void)pthread_mutex_lock(&q->mutex);
        self->session = NULL; /* it may be gone when done has returned */
        nnrti_queue_end(q, &run, code, message);
        nnrti_queue_leave(self);
    }
    (void)pthread_mutex_unlock(&q->mutex);
    return NULL;
}

/* The main function of the last thread: ends runs that wait or execute past their deadlines, the earliest first, and
   sleeps until the next one. It calls done for runs that waited too long; active runs are cancelled, and their
   threads call done. Active work of nnrt_queue_add cannot be cancelled: nnrti_queue_do returns TIME_OUT when it ends.
   */
static void *nnrti_queue_watch(void *arg)
{
    nnrti_queue_thread *const self = (nnrti_queue_thread *)arg;
    nnrt_queue *q = self->queue;
    (void)pthread_mutex_lock(&q->mutex);
    while (!q->ending) {
        nnrti_queued_run *first = NULL;
        nnrti_queue_thread *going = NULL;
        int64_t deadline = INT64_MAX;
        for (uint32_t i = 0; i < q->places; i++)
            if (q->runs[i].ticket != 0 && q->runs[i].deadline < deadline) {
                first = &q->runs[i];
                deadline = first->deadline;
            }
        for (uint32_t i = 0; i < q->nThreads; i++)
            if (q->threads[i].session != NULL && q->threads[i].deadline < deadline) {
                going = &q->threads[i];
                deadline = going->deadline;
            }
        if (deadline == INT64_MAX) {
            (void)pthread_cond_wait(&q->time, &q->mutex);
        } else if (nnrti_queue_now() <= deadline) {
            struct timespec until;
            until.tv_sec = (time_t)((deadline + 1) / 1000);
            until.tv_nsec = (long)((deadline + 1) % 1000) * 1000000;
            (void)pthread_cond_timedwait(&q->time, &q->mutex, &until);
        } else if (going != NULL) {
            (void)nnrt_session_cancel(going->session);
            going->deadline = INT64_MAX;
        } else {
            const nnrti_queued_run run = nnrti_queue_take(q, first);
            self->key = run.key;
            nnrti_queue_end(q, &run, NNRT_TIME_OUT, NNRTI_QUEUE_WAITED);
            nnrti_queue_leave(self);
        }
    }
    (void)pthread_mutex_unlock(&q->mutex);
    return NULL;
}

/* Bytes of a queue: itself, its places, its threads. */
static size_t nnrti_queue_bytes(uint32_t places, uint32_t threads)
{
    return sizeof(nnrt_queue) + places * sizeof(nnrti_queued_run) + threads * sizeof(nnrti_queue_thread);
}

/* Ends the threads of which so many were started, and frees all. */
static void nnrti_queue_free(nnrt_queue *q, uint32_t started)
{
    const nnrt_allocator a = q->allocator;
    (void)pthread_mutex_lock(&q->mutex);
    q->ending = true;
    for (uint32_t i = 0; i < q->places; i++)
        if (q->runs[i].ticket != 0) {
            const nnrti_queued_run run = nnrti_queue_take(q, &q->runs[i]);
            nnrti_queue_end(q, &run, NNRT_CANCELLED, "the queue was destroyed before the run began");
        }
    (void)pthread_cond_broadcast(&q->work);
    (void)pthread_cond_broadcast(&q->time);
    (void)pthread_mutex_unlock(&q->mutex);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(q->threads[i].thread, NULL);
    (void)pthread_cond_destroy(&q->work);
    (void)pthread_cond_destroy(&q->time);
    (void)pthread_cond_destroy(&q->idle);
    (void)pthread_mutex_destroy(&q->mutex);
    nnrt_free(&a, q, nnrti_queue_bytes(q->places, q->nThreads));
}

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_queue_create(nnrt_queue **queue, const nnrt_queue_desc *desc,
                                                      nnrt_error *error)
{
    const uint32_t threads = desc != NULL && desc->threads > 0 ? desc->threads : 1;
    const uint32_t places = desc != NULL && desc->places > 0 ? desc->places : NNRT_QUEUE_PLACES;
    nnrt_allocator a;
    nnrt_queue *q;
    if (queue == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the place for the queue is NULL");
    *queue = NULL;
    memset(&a, 0, sizeof(a));
    if (desc != NULL && desc->allocator != NULL)
        a = *desc->allocator;
    if (threads > NNRT_MAX_QUEUE || places > NNRT_MAX_QUEUE)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "a queue of %u threads and %u places, expected at most %u",
                              threads, places, NNRT_MAX_QUEUE);
    q = (nnrt_queue *)nnrt_alloc(&a, nnrti_queue_bytes(places, threads + 1));
    if (q == NULL)
        return nnrti_no_memory(error);
    memset(q, 0, nnrti_queue_bytes(places, threads + 1));
    q->allocator = a;
    q->places = places;
    q->nThreads = threads + 1;
    q->runs = (nnrti_queued_run *)(q + 1);
    q->threads = (nnrti_queue_thread *)(q->runs + places);
    (void)pthread_mutex_init(&q->mutex, NULL); /* without attributes there is nothing that could fail */
    (void)pthread_cond_init(&q->work, NULL);
    (void)pthread_cond_init(&q->time, NULL);
    (void)pthread_cond_init(&q->idle, NULL);
    for (uint32_t i = 0; i < q->nThreads; i++) {
        q->threads[i].queue = q;
        if (pthread_create(&q->threads[i].thread, NULL, i < threads ? nnrti_queue_serve : nnrti_queue_watch,
                           &q->threads[i]) != 0) {
            nnrti_queue_free(q, i);
            return nnrt_error_set(error, NNRT_FAILED, "the system starts no more than %u of %u threads", i,
                                  threads + 1);
        }
    }
    *queue = q;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_queue_destroy(nnrt_queue *queue)
{
    if (queue != NULL)
        nnrti_queue_free(queue, queue->nThreads);
}

/* Puts a run into a free place. A queue that is being destroyed or is full rejects it, so that nothing is allocated;
   done is called only for runs that are accepted. */
static NNRT_ReturnCode nnrti_queue_put(nnrt_queue *q, const nnrti_queued_run *run, uint64_t *ticket)
{
    nnrti_queued_run *r = NULL;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (ticket != NULL)
        *ticket = 0;
    if (q == NULL || run->how.done == NULL)
        return NNRT_NULL_PTR;
    if (run->how.priority < NNRT_PRIORITY_NONE || run->how.priority > NNRT_PRIORITY_HIGH)
        return NNRT_INVALID_PRIORITY;
    (void)pthread_mutex_lock(&q->mutex);
    for (uint32_t i = 0; i < q->places && r == NULL; i++)
        r = q->runs[i].ticket == 0 ? &q->runs[i] : NULL;
    if (q->ending || nnrti_queue_calls(q, run->key, true)) {
        code = NNRT_OPERATION_FORBIDDEN;
    } else if (r == NULL) {
        code = NNRT_DEVICE_BUSY;
    } else {
        *r = *run;
        r->ticket = ++q->tickets;
        r->deadline = run->how.timeLimit > 0 ? nnrti_queue_now() + run->how.timeLimit : INT64_MAX;
        if (r->how.priority == NNRT_PRIORITY_NONE)
            r->how.priority = NNRT_PRIORITY_MEDIUM;
        if (ticket != NULL)
            *ticket = r->ticket;
        q->waiting++;
        (void)pthread_cond_signal(&q->work);
        if (r->deadline != INT64_MAX)
            (void)pthread_cond_signal(&q->time);
    }
    (void)pthread_mutex_unlock(&q->mutex);
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_run_async(nnrt_queue *queue, nnrt_session *session, const nnrt_io *inputs, uint32_t nIn,
                                        const nnrt_io *outputs, uint32_t nOut, const nnrt_queued *how, uint64_t *ticket)
{
    nnrti_queued_run run;
    if (session == NULL || how == NULL)
        return NNRT_NULL_PTR;
    memset(&run, 0, sizeof(run));
    run.session = session;
    run.key = session;
    run.inputs = inputs;
    run.nIn = nIn;
    run.outputs = outputs;
    run.nOut = nOut;
    run.how = *how;
    if (how->priority == NNRT_PRIORITY_NONE)
        run.how.priority = session->priority;
    return nnrti_queue_put(queue, &run, ticket);
}

NNRT_API NNRT_ReturnCode nnrt_queue_add(nnrt_queue *queue, nnrt_queue_work work, void *context, const void *key,
                                        const nnrt_queued *how, uint64_t *ticket)
{
    nnrti_queued_run run;
    if (work == NULL || how == NULL)
        return NNRT_NULL_PTR;
    memset(&run, 0, sizeof(run));
    run.work = work;
    run.context = context;
    run.key = key;
    run.how = *how;
    return nnrti_queue_put(queue, &run, ticket);
}

NNRT_API NNRT_ReturnCode nnrt_queue_cancel(nnrt_queue *queue, uint64_t ticket)
{
    NNRT_ReturnCode code = NNRT_OPERATION_FORBIDDEN;
    if (queue == NULL)
        return NNRT_NULL_PTR;
    (void)pthread_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < queue->places && ticket != 0; i++)
        if (queue->runs[i].ticket == ticket) {
            const nnrti_queued_run run = nnrti_queue_take(queue, &queue->runs[i]);
            nnrti_queue_end(queue, &run, NNRT_CANCELLED, "the run was cancelled before it began");
            (void)pthread_mutex_unlock(&queue->mutex);
            return NNRT_SUCCESS;
        }
    for (uint32_t i = 0; i < queue->nThreads && ticket != 0; i++)
        if (queue->threads[i].session != NULL && queue->threads[i].ticket == ticket)
            code = nnrt_session_cancel(queue->threads[i].session);
    (void)pthread_mutex_unlock(&queue->mutex);
    return code;
}

NNRT_API void nnrt_queue_wait(nnrt_queue *queue)
{
    if (queue == NULL)
        return;
    (void)pthread_mutex_lock(&queue->mutex);
    while (queue->waiting + queue->busy > 0)
        (void)pthread_cond_wait(&queue->idle, &queue->mutex);
    (void)pthread_mutex_unlock(&queue->mutex);
}

NNRT_API void nnrt_queue_drop(nnrt_queue *queue, const void *key)
{
    nnrti_queue_call call;
    bool held = true;
    if (queue == NULL || key == NULL)
        return;
    (void)pthread_mutex_lock(&queue->mutex);
    nnrti_queue_enter(queue, &call, key, true);
    for (uint32_t i = 0; i < queue->places; i++)
        if (queue->runs[i].ticket != 0 && queue->runs[i].key == key) {
            const nnrti_queued_run run = nnrti_queue_take(queue, &queue->runs[i]);
            nnrti_queue_end(queue, &run, NNRT_CANCELLED, "the run was cancelled before it began");
        }
    while (held) {
        held = nnrti_queue_calls(queue, key, false);
        for (uint32_t k = 0; k < queue->nThreads; k++)
            held = held || queue->threads[k].key == key;
        if (held)
            (void)pthread_cond_wait(&queue->idle, &queue->mutex);
    }
    nnrti_queue_return(queue, &call);
    (void)pthread_mutex_unlock(&queue->mutex);
}
#endif

#endif /* NNRT_FIRMWARE */

#endif /* NNRT_IMPLEMENTATION */
