/*
hal.h - the C++ types of NNAdapter's hardware layer, and an adapter from a driver written with them to an
NNAdapterDriver. For C++11 and later; empty in C.

A driver that defines  extern "C" nnadapter::hal::Device __nnadapter_device__NAME  includes this header instead of
Paddle-Lite's, and adds one line to any of its files:

    NNADAPTER_HAL_DRIVER(NAME)

It defines __nnadapter_driver__NAME, which nnrt_nnadapter_driver_load prefers in libNAME.so. In a program:
nnrt_nnadapter_driver_register(&__nnadapter_driver__NAME, properties, &error).

The model passed to create_program is a copy owned by the driver, which may change it; it exists as long as the program.
Constants are not copied. An exception in create_program or execute_program becomes a return code: std::bad_alloc
OUT_OF_MEMORY, any other DEVICE_INTERNAL_ERROR.

MIT license, see LICENSE.
*/
#ifndef NNADAPTER_HAL_H
#define NNADAPTER_HAL_H

#include "driver.h"

#ifdef __cplusplus
#include <list>
#include <memory>
#include <new>
#include <vector>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define NNADAPTER_HAL_TRY try
#define NNADAPTER_HAL_CATCH                                                                                            \
    catch (const std::bad_alloc &) { return NNADAPTER_OUT_OF_MEMORY; }                                                 \
    catch (...) { return NNADAPTER_DEVICE_INTERNAL_ERROR; }
#else
#define NNADAPTER_HAL_TRY
#define NNADAPTER_HAL_CATCH
#endif

namespace nnadapter {
namespace hal {

struct Operand {
    NNAdapterOperandType type;
    void *buffer;
    uint32_t length;
};

struct Argument {
    int index;
    void *memory;
    void *(*access)(void *memory, NNAdapterOperandType *type);
};

struct Operation {
    NNAdapterOperationType type;
    std::vector<Operand *> input_operands, output_operands;
};

struct Cache {
    const char *token, *dir;
    std::vector<NNAdapterOperandType> input_types, output_types;
    std::vector<uint8_t> buffer;
};

struct Model {
    std::list<Operand> operands;
    std::list<Operation> operations;
    std::vector<Operand *> input_operands, output_operands;
};

struct Device {
    const char *name, *vendor;
    NNAdapterDeviceType type;
    int32_t version;
    int (*open_device)(void **device);
    void (*close_device)(void *device);
    int (*create_context)(void *device, const char *properties, int (*callback)(int event_id, void *user_data),
                          void **context);
    void (*destroy_context)(void *context);
    int (*create_program)(void *context, Model *model, Cache *cache, void **program);
    void (*destroy_program)(void *program);
    int (*execute_program)(void *program, uint32_t input_count, Argument *input_arguments, uint32_t output_count,
                           Argument *output_arguments);
};

/* A program of device D with its model and cache, which the driver may access until destroy_program. */
template <const Device &D> struct Program {
    Model model;
    Cache cache;
    std::vector<Argument> arguments; /* of a run: inputs, then outputs */
    void *program;

    /* Appends the copies of operands; hints[0] of an operand points to its copy. */
    static void copies(std::vector<Operand *> &to, NNAdapterDriverOperand *const *from, uint32_t count)
    {
        for (uint32_t i = 0; i < count; i++)
            to.push_back(from[i] != nullptr ? static_cast<Operand *>(from[i]->hints[0]) : nullptr);
    }

    void copy(const NNAdapterDriverModel &from)
    {
        for (uint32_t i = 0; i < from.operand_count; i++) {
            model.operands.push_back({from.operands[i]->type, from.operands[i]->buffer, from.operands[i]->length});
            from.operands[i]->hints[0] = &model.operands.back();
        }
        for (uint32_t i = 0; i < from.operation_count; i++) {
            const NNAdapterDriverOperation &o = *from.operations[i];
            model.operations.push_back({o.type, {}, {}});
            copies(model.operations.back().input_operands, o.input_operands, o.input_count);
            copies(model.operations.back().output_operands, o.output_operands, o.output_count);
        }
        copies(model.input_operands, from.input_operands, from.input_count);
        copies(model.output_operands, from.output_operands, from.output_count);
    }

    static int create(void *context, NNAdapterDriverModel *from, NNAdapterDriverCache *kept, void **program)
    {
        NNADAPTER_HAL_TRY
        {
            std::unique_ptr<Program> p(new Program());
            p->cache.token = kept->token;
            p->cache.dir = kept->dir;
            p->cache.input_types.assign(kept->input_types, kept->input_types + kept->input_count);
            p->cache.output_types.assign(kept->output_types, kept->output_types + kept->output_count);
            p->arguments.resize(static_cast<size_t>(kept->input_count) + kept->output_count);
            if (from != nullptr)
                p->copy(*from);
            else
                p->cache.buffer.assign(kept->buffer, kept->buffer + kept->length);
            const int code =
                D.create_program(context, from != nullptr ? &p->model : nullptr, &p->cache, &p->program);
            if (code != NNADAPTER_NO_ERROR || p->program == nullptr)
                return code;
            if (from != nullptr) {
                kept->buffer = p->cache.buffer.data();
                kept->length = p->cache.buffer.size();
            }
            *program = p.release();
            return NNADAPTER_NO_ERROR;
        }
        NNADAPTER_HAL_CATCH
    }

    static void destroy(void *program)
    {
        Program *p = static_cast<Program *>(program);
        D.destroy_program(p->program);
        delete p;
    }

    static void *access(void *memory, NNAdapterOperandType *type)
    {
        const NNAdapterDriverArgument *a = static_cast<const NNAdapterDriverArgument *>(memory);
        return a->access(a->memory, type, nullptr);
    }

    static int execute(void *program, uint32_t nIn, NNAdapterDriverArgument *in, uint32_t nOut,
                       NNAdapterDriverArgument *out)
    {
        Program *p = static_cast<Program *>(program);
        if (p->arguments.size() != static_cast<size_t>(nIn) + nOut)
            return NNADAPTER_INVALID_PARAMETER;
        for (uint32_t i = 0; i < nIn + nOut; i++) {
            NNAdapterDriverArgument *a = i < nIn ? &in[i] : &out[i - nIn];
            p->arguments[i].index = a->index;
            p->arguments[i].memory = a;
            p->arguments[i].access = access;
        }
        NNADAPTER_HAL_TRY
        {
            return D.execute_program(p->program, nIn, p->arguments.data(), nOut, p->arguments.data() + nIn);
        }
        NNADAPTER_HAL_CATCH
    }
};

template <const Device &D> NNAdapterDriver driver()
{
    return {static_cast<uint32_t>(sizeof(NNAdapterDriver)),
            D.name,
            D.vendor,
            D.type,
            D.version,
            D.open_device,
            D.close_device,
            D.create_context,
            D.destroy_context,
            nullptr, /* no validate_program: drivers of this generation reject operations in create_program */
            Program<D>::create,
            Program<D>::destroy,
            Program<D>::execute};
}

} // namespace hal
} // namespace nnadapter

#ifdef __GNUC__
#define NNADAPTER_HAL_EXPORT __attribute__((visibility("default")))
#else
#define NNADAPTER_HAL_EXPORT
#endif

#define NNADAPTER_HAL_DRIVER(NAME)                                                                                     \
    extern "C" nnadapter::hal::Device __nnadapter_device__##NAME;                                                      \
    extern "C" NNADAPTER_HAL_EXPORT const NNAdapterDriver __nnadapter_driver__##NAME;                                  \
    const NNAdapterDriver __nnadapter_driver__##NAME = nnadapter::hal::driver<__nnadapter_device__##NAME>();
#endif /* __cplusplus */

#endif /* NNADAPTER_HAL_H */
