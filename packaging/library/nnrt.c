/* nnrt as a library, for packages that compile it: the implementation, with the readers of ONNX, .tflite, GGUF and safetensors files. */
#define NNRT_IMPLEMENTATION
#include "nnrt_onnx.h"
#include "nnrt_tflite.h"
#include "nnrt_gguf.h"
#include "nnrt_safetensors.h"
