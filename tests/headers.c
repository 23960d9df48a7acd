/* The headers as a program has them that asks for nothing: tests/test_builds.sh, test_symbols.sh and test_dist.sh share what
   clang, clang++ and g++ make of this file, without optimisation and with all warnings; gcc makes tools/implementation.c. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include "devices/nnrt_cpu.h"
#include "devices/nnrt_driver.h"
#include "devices/nnrt_fake.h"
#include "devices/nnrt_remote.h"
