/* The headers as included by a program without any options: tests/source/test_builds.sh, test_symbols.sh and, for clang,
   test_dist.sh share the objects that clang, clang++ and g++ compile from this file, without optimization and with all
   warnings; gcc compiles tools/implementation.c. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_gguf.h"
#include "formats/nnrt_safetensors.h"
#include "formats/nnrt_onnx.h"
#include "formats/nnrt_quantize.h"
#include "formats/nnrt_tflite.h"

#if !defined(NNRT_CPU) || NNRT_CPU /* g++ leaves it out */
#include "devices/nnrt_cpu.h"
#endif
#include "devices/nnrt_driver.h"
#include "devices/nnrt_fake.h"
#include "devices/nnrt_remote.h"
#include "core/nnrt_frontend.h"
#include "core/nnrt_text.h"
