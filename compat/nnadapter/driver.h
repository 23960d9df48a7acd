/*
driver.h - what a driver written for NNAdapter's hardware layer is to the runtime, in C: where Paddle-Lite's types have
containers of C++ these have a pointer and a count. A driver for the device NAME is a table of the type NNAdapterDriver with
the symbol __nnadapter_device__NAME, in the program or in the shared library libNAME.so.

What the driver is given belongs to the runtime. Functions return an NNAdapterResultCode.

MIT licence, see LICENSE.
*/
#ifndef NNADAPTER_DRIVER_H
#define NNADAPTER_DRIVER_H

#include "nnadapter.h"

/* A tensor. buffer, of length bytes: of a constant (type.lifetime), else NULL. hints: for the driver's own use, NULL at first. */
typedef struct NNAdapterDriverOperand {
    NNAdapterOperandType type;
    void *buffer;
    uint32_t length;
    void *hints[8];
} NNAdapterDriverOperand;

/* Operands in the order of the operation's definition; NULL: left out. */
typedef struct NNAdapterDriverOperation {
    NNAdapterOperationType type;
    NNAdapterDriverOperand **input_operands, **output_operands;
    uint32_t input_count, output_count;
} NNAdapterDriverOperation;

/* Producers stand before what reads their results. Inputs and outputs in the order of a run. */
typedef struct NNAdapterDriverModel {
    NNAdapterDriverOperand **operands;
    NNAdapterDriverOperation **operations;
    NNAdapterDriverOperand **input_operands, **output_operands;
    uint32_t operand_count, operation_count, input_count, output_count;
} NNAdapterDriverModel;

/* An input or output of a run: access(memory, type, NULL) gives the address of its elements. Of an input it writes the
   extents to type; of an output it finds them there, and returns NULL where there is no room. */
typedef struct NNAdapterDriverArgument {
    int32_t index;
    void *memory;
    void *(*access)(void *memory, NNAdapterOperandType *type, void *device_buffer);
} NNAdapterDriverArgument;

/* The compiled form of a program. With a model, buffer is empty: a driver that has such a form points it to its own memory,
   which stays as it is as long as the program. Without a model, the program is made from buffer, which lives during the call.
   token, dir: set, and of no matter to the driver: who keeps the buffer is the runtime. */
typedef struct NNAdapterDriverCache {
    const char *token, *dir;
    NNAdapterOperandType *input_types, *output_types;
    uint32_t input_count, output_count;
    uint8_t *buffer;
    size_t length;
} NNAdapterDriverCache;

/* All members but validate_program are there. Members are only ever appended: structSize is sizeof(NNAdapterDriver) as the
   driver was compiled. The model that create_program is given lives as long as the program. */
typedef struct NNAdapterDriver {
    uint32_t structSize;
    const char *name, *vendor; /* name is NAME */
    NNAdapterDeviceType type;
    int32_t version;
    int (*open_device)(void **device);
    void (*close_device)(void *device);
    int (*create_context)(void *device, const char *properties, int (*callback)(int event_id, void *user_data),
                          void **context);
    void (*destroy_context)(void *context);
    /* Which operations can it compute? An answer for each, in their order. NULL: all. */
    int (*validate_program)(void *context, const NNAdapterDriverModel *model, bool *supported_operations);
    int (*create_program)(void *context, NNAdapterDriverModel *model, NNAdapterDriverCache *cache, void **program);
    void (*destroy_program)(void *program);
    int (*execute_program)(void *program, uint32_t input_count, NNAdapterDriverArgument *input_arguments,
                           uint32_t output_count, NNAdapterDriverArgument *output_arguments);
} NNAdapterDriver;

#endif /* NNADAPTER_DRIVER_H */
