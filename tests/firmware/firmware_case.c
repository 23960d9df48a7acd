/* Uses a .nnrt file like firmware, on the testing machine: loads it in place, plans it, runs it, in one buffer, with
   the functions of NNRT_FIRMWARE only. Built by tests/firmware/test_firmware.sh.

   usage: firmware_case MODEL.nnrt IMAGE.bin     an image of floats, or of int8; prints the scores' bits, a word each
          firmware_case --faults MODEL.nnrt      faults must be detected; prints others, ends with "N faults" */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#include "nnrt.h"

#include <stdio.h>

enum { ROOM = 1 << 18 };

static uint64_t file[ROOM / 8], buffer[ROOM / 8];
static size_t fileBytes;
static int faults;

typedef struct job {
    NNRT_Model *model;
    nnrt_plan *plan;
    nnrt_view *views;
    void *arena;
    size_t peak; /* bytes of the buffer that were needed */
    nnrt_error error;
} job;

/* From the file to an arena, in the first `bytes` of buffer. */
static NNRT_ReturnCode job_prepare(job *j, const void *data, size_t dataBytes, bool checksum, size_t bytes)
{
    NNRT_ModelConfig config;
    nnrt_memory memory;
    NNRT_ReturnCode code;
    memset(j, 0, sizeof(*j));
    memset(&config, 0, sizeof(config));
    config.error = &j->error;
    nnrt_memory_buffer(&memory, buffer, bytes);
    code = nnrt_model_load_into(&j->model, data, dataBytes, checksum, &memory, &j->error);
    if (code == NNRT_SUCCESS)
        code = nnrt_plan_build(j->model, &config, &memory, &j->plan);
    if (code != NNRT_SUCCESS)
        return code;
    nnrt_memory_drop_temp(&memory);
    j->views = (nnrt_view *)nnrt_memory_keep(&memory, j->plan->maxArgs * sizeof(*j->views));
    j->arena = nnrt_memory_keep_aligned(&memory, j->plan->arenaBytes);
    j->peak = memory.peak;
    return j->views != NULL && j->arena != NULL ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY;
}

static int run(const char *path)
{
    static uint32_t image[784];
    uint32_t bits[10];
    void *io[2];
    FILE *f = fopen(path, "rb");
    const size_t got = f != NULL ? fread(image, 1, sizeof(image), f) : 0;
    job j;
    if ((got != 784 && got != sizeof(image)) || fclose(f) != 0)
        return printf("cannot read %s\n", path) > 0;
    if (job_prepare(&j, file, fileBytes, true, sizeof(buffer)) != NNRT_SUCCESS)
        return printf("code %d, node %d, tensor %d\n", (int)j.error.code, (int)j.error.node, (int)j.error.tensor) > 0;
    io[0] = image;
    io[1] = bits;
    if (nnrt_plan_execute(j.plan, j.views, j.arena, io, NULL) != NNRT_SUCCESS)
        return printf("the run failed\n") > 0;
    for (int i = 0; i < 10; i++)
        printf("%08lx\n", (unsigned long)(got == 784 ? ((const uint8_t *)bits)[i] : bits[i]));
    return 0;
}

static void expect(const char *what, NNRT_ReturnCode got, NNRT_ReturnCode want)
{
    if (got == want)
        return;
    faults++;
    printf("%s: code %d, expected %d\n", what, (int)got, (int)want);
}

/* The file with one byte changed, or cut short, in a block of its own. */
static void check_faults(void)
{
    static uint64_t copy[ROOM / 8];
    uint8_t *bytes = (uint8_t *)copy;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_allocator none;
    NNRT_Model *model;
    nnrt_plan *plan;
    size_t need;
    job j;
    memcpy(copy, file, sizeof(copy));
    expect("the file", job_prepare(&j, copy, fileBytes, true, sizeof(buffer)), NNRT_SUCCESS);
    need = j.peak;
    expect("exactly the memory it took", job_prepare(&j, copy, fileBytes, true, need), NNRT_SUCCESS);
    for (size_t less = NNRT_ALIGNMENT; less < need; less += less < 512 ? NNRT_ALIGNMENT : 4096)
        expect("less memory", job_prepare(&j, copy, fileBytes, false, need - less), NNRT_OUT_OF_MEMORY);
    expect("no memory", job_prepare(&j, copy, fileBytes, false, 0), NNRT_OUT_OF_MEMORY);
    for (size_t n = 0; n < fileBytes; n += n < 4096 ? 1 : 97)
        expect("a file cut short", job_prepare(&j, copy, n, false, sizeof(buffer)), NNRT_INVALID_FILE);
    expect("a file that is not aligned", job_prepare(&j, bytes + 4, fileBytes - 4, false, sizeof(buffer)),
           NNRT_INVALID_PARAMETER);
    bytes[fileBytes - 100] ^= 1;
    expect("a wrong weight and the checksum", job_prepare(&j, copy, fileBytes, true, sizeof(buffer)), NNRT_INVALID_FILE);
    bytes[fileBytes - 100] ^= 1;
    bytes[8] = NNRT_FILE_VERSION + 1;
    expect("a later version", job_prepare(&j, copy, fileBytes, false, sizeof(buffer)), NNRT_NOT_SUPPORT);
    memcpy(copy, file, sizeof(copy));
    for (size_t i = 0; i < 2048 && i < fileBytes; i++) { /* whatever it says then: an answer, nothing broken */
        bytes[i] = (uint8_t)(bytes[i] + 1 + i % 250);
        (void)job_prepare(&j, copy, fileBytes, false, sizeof(buffer));
        bytes[i] = ((const uint8_t *)file)[i];
    }
    nnrt_memory_buffer(&memory, buffer, sizeof(buffer));
    expect("no model", nnrt_model_load_into(NULL, file, fileBytes, false, &memory, NULL), NNRT_NULL_PTR);
    expect("no data", nnrt_model_load_into(&model, NULL, fileBytes, false, &memory, NULL), NNRT_NULL_PTR);
    expect("no memory object", nnrt_model_load_into(&model, file, fileBytes, false, NULL, NULL), NNRT_NULL_PTR);
    /* nothing is taken from a heap: there is none */
    memset(&none, 0, sizeof(none));
    if (nnrt_alloc(NULL, 8) != NULL || nnrt_alloc(&none, 8) != NULL)
        expect("a block from nowhere", NNRT_SUCCESS, NNRT_OUT_OF_MEMORY);
    nnrt_memory_count(&memory, NULL);
    expect("loading without memory", nnrt_model_load_into(&model, file, fileBytes, false, &memory, NULL),
           NNRT_OUT_OF_MEMORY);
    nnrt_memory_end(&memory);
    nnrt_memory_buffer(&memory, buffer, sizeof(buffer));
    memset(&config, 0, sizeof(config));
    config.copyConstants = true;
    expect("the file again", nnrt_model_load_into(&model, file, fileBytes, false, &memory, NULL), NNRT_SUCCESS);
    expect("copied constants", nnrt_plan_build(model, &config, &memory, &plan), NNRT_NOT_SUPPORT);
    config.copyConstants = false;
    config.arenaAlignment = 3;
    expect("an odd alignment", nnrt_plan_build(model, &config, &memory, &plan), NNRT_INVALID_PARAMETER);
}

int main(int argc, char **argv)
{
    const bool checks = argc == 3 && strcmp(argv[1], "--faults") == 0;
    FILE *f = argc == 3 ? fopen(argv[checks ? 2 : 1], "rb") : NULL;
    if (f == NULL)
        return printf("usage: firmware_case MODEL.nnrt IMAGE.bin | --faults MODEL.nnrt\n") > 0;
    fileBytes = fread(file, 1, sizeof(file), f);
    (void)fclose(f);
    if (!checks)
        return run(argv[2]);
    check_faults();
    printf("%d faults\n", faults);
    return faults > 0;
}
