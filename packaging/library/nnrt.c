/* nnrt as a library, for packages that compile it: the implementation, with the readers of ONNX and .tflite files. */
#define NNRT_IMPLEMENTATION
#include "nnrt_onnx.h"
#include "nnrt_tflite.h"
