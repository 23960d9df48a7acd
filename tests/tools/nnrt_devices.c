/* The command line with those devices of tests/kit/devices.h that are not built in, and one more, for tests of `nnrt
   compare`; and with the operator of examples/custom: `nnrt_devices snake FILE.nnrt` is that example. */
#define NNRT_TOOL_NO_MAIN
#include "tools/nnrt.c"
#define main snake_program
#include "examples/custom/custom.c"
#undef main

#include "devices.h"

/* Rough if the sum is read by one node only: not if it is also an output. */
static NNRT_ReturnCode shy_edit(void *user, nnrt_draft *draft)
{
    (void)user;
    for (uint32_t s = 0; s < draft->nSteps; s++)
        if (draft->steps[s].op->type == NNRT_NODE_TYPE_ADD_FUSION &&
            nnrt_draft_readers(draft, draft->steps[s].args[2].tensor) == 1)
            draft->steps[s].kernel = rough_add;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode shy_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                   NNRT_PreparedModel **prepared)
{
    return nnrt_plan_prepare(model, config, shy_edit, self, NULL, prepared);
}

/* TRANSPOSE, plus 1 in the first element, whose low byte little-endian integers have first. */
static NNRT_ReturnCode unit_transpose(const void *attr, nnrt_view *args, nnrt_call *call)
{
    nnrt_view *y = &args[call->nIn + call->nDerived];
    const NNRT_ReturnCode code = nnrt_transpose((const NNRT_Transpose *)attr, &args[0], &args[call->nIn], y);
    if (code == NNRT_SUCCESS)
        ++*(uint8_t *)y->data;
    return code;
}

static NNRT_ReturnCode unit_edit(void *user, nnrt_draft *draft)
{
    (void)user;
    for (uint32_t s = 0; s < draft->nSteps; s++)
        if (draft->steps[s].op->type == NNRT_NODE_TYPE_TRANSPOSE)
            draft->steps[s].kernel = unit_transpose;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode unit_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                    NNRT_PreparedModel **prepared)
{
    return nnrt_plan_prepare(model, config, unit_edit, self, NULL, prepared);
}

int main(int argc, char **argv)
{
    static NNRT_DeviceVtbl table, unit;
    static char name[] = "shy", unitName[] = "unit";
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = example_version;
    table.GetDeviceName = table.GetVendorName = example_name;
    table.PrepareModel = shy_prepare;
    unit = table;
    unit.PrepareModel = unit_prepare;
    if (argc == 3 && strcmp(argv[1], "snake") == 0)
        return snake_program(argc - 1, argv + 1);
    if (register_snake(NULL) != NNRT_SUCCESS || test_device_open("rough") == NULL || test_device_open("example") == NULL ||
        nnrt_device_register(&table, name, NULL) != NNRT_SUCCESS ||
        nnrt_device_register(&unit, unitName, NULL) != NNRT_SUCCESS)
        return 1;
    return cli_program(argc, argv);
}
