/* The implementation, compiled once for all fuzz targets; with NNRT_CPU 1, sessions that name no device use the fast
   one. */
#define _XOPEN_SOURCE 700
#define NNRT_THREADS 1
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_gguf.h"
#include "formats/nnrt_onnx.h"
#include "formats/nnrt_safetensors.h"
#include "formats/nnrt_tflite.h"

#include "devices/nnrt_fake.h"
#include "devices/nnrt_mcu.h"
#include "devices/nnrt_remote.h"
#include "core/nnrt_text.h"
