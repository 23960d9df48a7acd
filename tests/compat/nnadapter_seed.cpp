/* A driver in C++ as Paddle-Lite's guide shows one: device seed_npu, which computes ADD of float32 operands of one shape. Its
   compiled form, for a model of one operation, is that operation's number. With SEED_NPU_THROWS=1; it throws in create_program,
   with =2; in execute_program. */
#include "compat/nnadapter/hal.h"

#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <string>

namespace nnadapter {
namespace seed_npu {

struct Context {
    std::string properties;
};

struct Program {
    hal::Model *model; /* nullptr: x + x of what the cache says */
    std::vector<NNAdapterOperandType> inputs, outputs;
    std::map<const hal::Operand *, std::vector<float>> values;
    bool throws;
};

static size_t Elements(const NNAdapterOperandType &type)
{
    size_t count = 1;
    for (uint32_t i = 0; i < type.dimensions.count; i++)
        count *= static_cast<size_t>(type.dimensions.data[i]);
    return count;
}

static int OpenDevice(void **device)
{
    *device = nullptr;
    return NNADAPTER_NO_ERROR;
}

static void CloseDevice(void *) {}

static int CreateContext(void *, const char *properties, int (*callback)(int, void *), void **context)
{
    int answer = 0;
    Context *made = new Context();
    made->properties = properties;
    if (callback != nullptr && callback(0x0100, &answer) == 0 && answer != 0)
        made->properties = "SEED_NPU_THROWS=" + std::to_string(answer) + ";";
    *context = made;
    return NNADAPTER_NO_ERROR;
}

static void DestroyContext(void *context)
{
    delete static_cast<Context *>(context);
}

static int CreateProgram(void *context, hal::Model *model, hal::Cache *cache, void **program)
{
    const std::string &properties = static_cast<Context *>(context)->properties;
    if (properties == "SEED_NPU_THROWS=1;")
        throw std::bad_alloc();
    if (properties == "SEED_NPU_THROWS=3;")
        throw std::runtime_error("three");
    if (model == nullptr && (cache->buffer.size() != 1 || cache->buffer[0] != NNADAPTER_ADD))
        return NNADAPTER_INVALID_PARAMETER;
    if (model != nullptr) {
        for (const hal::Operation &operation : model->operations)
            if (operation.type != NNADAPTER_ADD)
                return NNADAPTER_FEATURE_NOT_SUPPORTED;
        if (model->operations.size() == 1)
            cache->buffer.assign(1, NNADAPTER_ADD);
    }
    *program = new Program{model, cache->input_types, cache->output_types, {}, properties == "SEED_NPU_THROWS=2;"};
    return NNADAPTER_NO_ERROR;
}

static void DestroyProgram(void *program)
{
    delete static_cast<Program *>(program);
}

static const float *Read(Program *p, const hal::Operand *o)
{
    return o->buffer != nullptr ? static_cast<const float *>(o->buffer) : p->values[o].data();
}

static int ExecuteProgram(void *program, uint32_t input_count, hal::Argument *inputs, uint32_t output_count,
                          hal::Argument *outputs)
{
    Program *p = static_cast<Program *>(program);
    std::vector<const float *> data;
    if (p->throws)
        throw std::bad_alloc();
    for (uint32_t i = 0; i < input_count; i++) {
        NNAdapterOperandType type = p->inputs[i];
        data.push_back(static_cast<const float *>(inputs[i].access(inputs[i].memory, &type)));
        if (p->model != nullptr)
            p->values[p->model->input_operands[i]].assign(data[i], data[i] + Elements(type));
    }
    if (p->model != nullptr)
        for (const hal::Operation &o : p->model->operations) {
            std::vector<float> sum(Elements(o.output_operands[0]->type));
            for (size_t i = 0; i < sum.size(); i++)
                sum[i] = Read(p, o.input_operands[0])[i] + Read(p, o.input_operands[1])[i];
            p->values[o.output_operands[0]] = sum;
        }
    for (uint32_t i = 0; i < output_count; i++) {
        NNAdapterOperandType type = p->outputs[i];
        float *to = static_cast<float *>(outputs[i].access(outputs[i].memory, &type));
        for (size_t k = 0; k < Elements(type); k++)
            to[k] = p->model != nullptr ? p->values[p->model->output_operands[i]][k] : data[0][k] + data[1][k];
    }
    return NNADAPTER_NO_ERROR;
}

} // namespace seed_npu
} // namespace nnadapter

extern "C" nnadapter::hal::Device __nnadapter_device__seed_npu;
nnadapter::hal::Device __nnadapter_device__seed_npu = {"seed_npu",
                                                       "tests",
                                                       NNADAPTER_ACCELERATOR,
                                                       4,
                                                       nnadapter::seed_npu::OpenDevice,
                                                       nnadapter::seed_npu::CloseDevice,
                                                       nnadapter::seed_npu::CreateContext,
                                                       nnadapter::seed_npu::DestroyContext,
                                                       nnadapter::seed_npu::CreateProgram,
                                                       nnadapter::seed_npu::DestroyProgram,
                                                       nnadapter::seed_npu::ExecuteProgram};

NNADAPTER_HAL_DRIVER(seed_npu)
