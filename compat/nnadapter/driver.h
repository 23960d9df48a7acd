/*
driver.h - the C interface of a driver written for NNAdapter's hardware layer: a pointer and a count replace the C++
containers of Paddle-Lite's types. A driver for the device NAME is a table of type NNAdapterDriver with the symbol
__nnadapter_device__NAME, in the program or in the shared library libNAME.so.

The runtime owns all arguments of the driver's functions. Functions return an NNAdapterResultCode.

MIT license, see LICENSE.
*/
#ifndef NNADAPTER_DRIVER_H
#define NNADAPTER_DRIVER_H

#include "nnadapter.h"

/* A tensor. buffer, of `length` bytes: data of a constant (type.lifetime), otherwise NULL. hints: free for the driver,
   initially NULL. */
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

/* Operations are in topological order: producers first. Inputs and outputs have the order of a run. */
typedef struct NNAdapterDriverModel {
    NNAdapterDriverOperand **operands;
    NNAdapterDriverOperation **operations;
    NNAdapterDriverOperand **input_operands, **output_operands;
    uint32_t operand_count, operation_count, input_count, output_count;
} NNAdapterDriverModel;

/* An input or output of a run: access(memory, type, NULL) returns the address of its elements. For an input it stores
   the dimensions in *type; for an output it reads them from *type, and returns NULL if the elements do not fit. */
typedef struct NNAdapterDriverArgument {
    int32_t index;
    void *memory;
    void *(*access)(void *memory, NNAdapterOperandType *type, void *device_buffer);
} NNAdapterDriverArgument;

/* The compiled form of a program. With a model, buffer is empty on entry: a driver that has a compiled form sets it to
   memory of its own, which must stay unchanged as long as the program exists. Without a model, the program is created
   from buffer, which exists during the call only. token, dir: set, but irrelevant to the driver: the runtime stores the
   buffer. */
typedef struct NNAdapterDriverCache {
    const char *token, *dir;
    NNAdapterOperandType *input_types, *output_types;
    uint32_t input_count, output_count;
    uint8_t *buffer;
    size_t length;
} NNAdapterDriverCache;

/* All members except validate_program are required. New members are only ever appended: structSize is
   sizeof(NNAdapterDriver) when the driver was compiled. The model passed to create_program exists as long as the
   program. */
typedef struct NNAdapterDriver {
    uint32_t structSize;
    const char *name, *vendor; /* name: the device NAME */
    NNAdapterDeviceType type;
    int32_t version;
    int (*open_device)(void **device);
    void (*close_device)(void *device);
    int (*create_context)(void *device, const char *properties, int (*callback)(int event_id, void *user_data),
                          void **context);
    void (*destroy_context)(void *context);
    /* Stores for each operation, in order, whether the driver supports it. NULL: it supports all. */
    int (*validate_program)(void *context, const NNAdapterDriverModel *model, bool *supported_operations);
    int (*create_program)(void *context, NNAdapterDriverModel *model, NNAdapterDriverCache *cache, void **program);
    void (*destroy_program)(void *program);
    int (*execute_program)(void *program, uint32_t input_count, NNAdapterDriverArgument *input_arguments,
                           uint32_t output_count, NNAdapterDriverArgument *output_arguments);
} NNAdapterDriver;

#endif /* NNADAPTER_DRIVER_H */
