/* Devices for tests, by name: `make test DEVICE=NAME`. Add a row for your own device: include it, and state whether its
   results are bit-identical to the reference device. Include after nnrt.h. */
#ifndef DEVICES_H
#define DEVICES_H

#include <stdio.h>
#include <stdlib.h>

#include "devices/nnrt_cpu.h"
#include "devices/nnrt_fake.h"
#include "devices/nnrt_mcu.h"
#include "examples/device/device.h"
#ifdef __linux__
#include "remotes.h"
#endif

/* Error bound of the results of an operator, absolute + relative * |expected|. Each number applies if it is larger than
   the number of the case. State both. */
typedef struct test_bound {
    const char *op; /* NULL ends the list */
    double absolute, relative;
} test_bound;

typedef struct test_device {
    const char *name;
    NNRT_ReturnCode (*add)(nnrt_error *error); /* registers it; NULL: it is built in */
    const test_bound *bounds;                  /* NULL: the bits of the reference device */
} test_device;

/* ---- an inexact device: float32 sums of ADD_FUSION are rounded to 10 fraction bits, as on accelerators ---- */

static NNRT_ReturnCode rough_add(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_ReturnCode code = nnrt_add_fusion_f32((const NNRT_AddFusion *)attr, &args[0], &args[1], &args[2]);
    size_t count = 0;
    (void)call;
    (void)nnrt_dims_count(args[2].dims, args[2].rank, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, (const float *)args[2].data + i, sizeof(bits));
        if ((bits & 0x7f800000u) != 0x7f800000u) /* infinity and NaN are unchanged */
            bits &= ~(uint32_t)0x1fff;
        memcpy((float *)args[2].data + i, &bits, sizeof(bits));
    }
    return code;
}

static NNRT_ReturnCode rough_edit(void *user, nnrt_draft *draft)
{
    (void)user;
    for (uint32_t s = 0; s < draft->nSteps; s++)
        if (draft->steps[s].op->type == NNRT_NODE_TYPE_ADD_FUSION &&
            draft->steps[s].args[0].view.dataType == NNRT_DATA_TYPE_FLOAT32) {
            draft->steps[s].kernel = rough_add;
            draft->steps[s].kernelName = "rough_add";
        }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode rough_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                     NNRT_PreparedModel **prepared)
{
    return nnrt_plan_prepare(model, config, rough_edit, self, NULL, prepared);
}

static NNRT_ReturnCode rough_register(nnrt_error *error)
{
    static NNRT_DeviceVtbl table;
    static char name[] = "rough";
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = example_version;
    table.GetDeviceName = table.GetVendorName = example_name;
    table.PrepareModel = rough_prepare;
    return nnrt_device_register(&table, name, error);
}

static NNRT_ReturnCode fake_register(nnrt_error *error)
{
    return nnrt_fake_register(NULL, "fake:", error);
}

#ifdef __linux__
/* The reference device in another process; its socket exists until this process ends. */
static char remote_path[64];

static void remote_gone(void)
{
    (void)unlink(remote_path);
}

static NNRT_ReturnCode remote_register(nnrt_error *error)
{
    char text[96];
    snprintf(remote_path, sizeof(remote_path), "/tmp/nnrt-remote-%ld", (long)getpid());
    snprintf(text, sizeof(text), "remote:name=remote,%s", remote_path);
    if (remote_start(remote_path, "reference") == 0)
        return nnrt_error_set(error, NNRT_SERVICE_ERROR, "the process does not serve");
    (void)atexit(remote_gone);
    return nnrt_remote_register(NULL, text, error);
}
#endif

/* ---- auto over the fake device, with a fallback: a model is partitioned unless the fake supports all of it ---- */

static const nnrt_partition split_partition = {false, NULL, NULL, NULL, true, NULL, 0};

static void split_config(const NNRT_ModelConfig *given, NNRT_ModelConfig *own)
{
    nnrt_config_read(own, given);
    own->autoDevices = "fake";
    own->partition = &split_partition;
    own->structSize = 0;
}

static NNRT_ReturnCode split_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                     NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own;
    (void)self;
    split_config(config, &own);
    return nnrt_device_prepare(nnrt_device_find("auto"), model, &own, prepared);
}

static NNRT_ReturnCode split_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config, size_t *bytes)
{
    NNRT_ModelConfig own;
    (void)self;
    split_config(config, &own);
    return nnrt_device_model_memory(nnrt_device_find("auto"), model, &own, bytes);
}

static NNRT_ReturnCode split_dynamic(void *self, bool *isSupported)
{
    (void)self;
    *isSupported = true;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode split_register(nnrt_error *error)
{
    static NNRT_DeviceVtbl table;
    static char name[] = "split";
    const NNRT_ReturnCode code = fake_register(error);
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = example_version;
    table.GetDeviceName = table.GetVendorName = example_name;
    table.IsDynamicInputSupported = split_dynamic;
    table.PrepareModel = split_prepare;
    table.GetModelMemory = split_memory;
    return code != NNRT_SUCCESS ? code : nnrt_device_register(&table, name, error);
}

/* ---- the fast device, and each of its instruction sets ---- */

static NNRT_ReturnCode cpu_register(nnrt_error *error)
{
    return nnrt_cpu_register(NULL, error);
}

#define CPU_SET(set)                                                                                                   \
    static NNRT_ReturnCode cpu_##set##_register(nnrt_error *error)                                                     \
    {                                                                                                                  \
        return nnrt_cpu_register(#set, error);                                                                         \
    }
CPU_SET(avx512vnni)
CPU_SET(avx512)
CPU_SET(avx2)
CPU_SET(i8mm)
CPU_SET(fp16)
CPU_SET(dotprod)
CPU_SET(neon)
CPU_SET(simd128)
CPU_SET(vector)

/* ---- plans for microcontrollers, by the same kernels in plain C ---- */

static NNRT_ReturnCode mcu_cortex_m4_register(nnrt_error *error)
{
    return nnrt_mcu_register("cortex-m4", error);
}

/* No operator has a separate bound: results are within the tolerances of the vectors. Differences from the reference
   device are counted in roundings, derived in tests/devices/test_cpu.c and tests/devices/differential.c. A kernel that these do not
   cover needs a row. */
static const test_bound cpu_bounds[] = {{NULL, 0, 0}};

static const test_bound rough_bounds[] = {{"ADD_FUSION", 1e-5, 1.0 / 1024}, {NULL, 0, 0}};

static const test_device test_devices[] = {
    {"reference", NULL, NULL},
    {"auto", NULL, NULL},
    {"example", example_device_register, NULL},
    {"fake", fake_register, NULL},
    {"split", split_register, NULL},
    {"rough", rough_register, rough_bounds},
    {"cpu", cpu_register, cpu_bounds},
    {"cpu-avx512vnni", cpu_avx512vnni_register, cpu_bounds},
    {"cpu-avx512", cpu_avx512_register, cpu_bounds},
    {"cpu-avx2", cpu_avx2_register, cpu_bounds},
    {"cpu-i8mm", cpu_i8mm_register, cpu_bounds},
    {"cpu-fp16", cpu_fp16_register, cpu_bounds},
    {"cpu-dotprod", cpu_dotprod_register, cpu_bounds},
    {"cpu-neon", cpu_neon_register, cpu_bounds},
    {"cpu-simd128", cpu_simd128_register, cpu_bounds},
    {"cpu-vector", cpu_vector_register, cpu_bounds},
    {"mcu:cortex-m4", mcu_cortex_m4_register, NULL},
#ifdef __linux__
    {"remote", remote_register, NULL},
#endif
};

/* Registers the device of that name; NULL, after a line on stderr, if there is none. */
static const test_device *test_device_open(const char *name)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    for (size_t i = 0; i < sizeof(test_devices) / sizeof(test_devices[0]); i++)
        if (strcmp(test_devices[i].name, name) == 0) {
            if (test_devices[i].add == NULL || test_devices[i].add(&error) == NNRT_SUCCESS)
                return &test_devices[i];
            fprintf(stderr, "device %s: %s\n", name, error.message);
            return NULL;
        }
    fprintf(stderr, "there is no device '%s'; tests/kit/devices.h has", name);
    for (size_t i = 0; i < sizeof(test_devices) / sizeof(test_devices[0]); i++)
        fprintf(stderr, " %s", test_devices[i].name);
    fprintf(stderr, "\n");
    return NULL;
}

#endif
