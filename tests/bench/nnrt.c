/* The implementation for the benchmark, with the measured devices, built like in a program. */
#define _XOPEN_SOURCE 700
#define NNRT_THREADS 1
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"
#ifdef __has_include
#if __has_include("devices/nnrt_cpu.h")
#include "devices/nnrt_cpu.h"
#endif
#endif
