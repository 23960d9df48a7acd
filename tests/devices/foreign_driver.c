/* A driver that is built separately, with other options than the program: the reference device under another name.
   tests/source/test_builds.sh links it with tests/devices/foreign_program.c. */
#define NNRT_STATIC
#define NNRT_IMPLEMENTATION
#include "nnrt_hal.h"

const NNRT_DeviceVtbl *foreign_table(void);

static NNRT_ReturnCode foreign_name(void *self, const char **name)
{
    (void)self;
    *name = "foreign";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode foreign_type(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_ACCELERATOR;
    return NNRT_SUCCESS;
}

const NNRT_DeviceVtbl *foreign_table(void)
{
    static NNRT_DeviceVtbl table;
    table = nnrti_reference_vtbl;
    table.GetDeviceName = foreign_name;
    table.GetDeviceType = foreign_type;
    return &table;
}
