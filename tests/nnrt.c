/* The implementation, compiled once for the tests that look at nothing but what the headers declare. */
#define _XOPEN_SOURCE 700 /* realpath, for links of external data */
#define NNRT_THREADS 1
#include <stdbool.h>
#include <stdlib.h>

#define COUNTED_HERE
#include "counted.h"

#ifndef NNRT_CPU
#define NNRT_CPU 0 /* sessions that name no device run on the reference device, whose bits tests expect */
#endif
#define NNRT_PIECE_BYTES 0 /* the sanitizers see the ends of all blocks */
#define NNRT_IMPLEMENTATION
#include "compat/nnrt_nnadapter_driver.h"
#include "compat/nnrt_ohnn.h"
#include "devices/nnrt_cpu.h"
#include "devices/nnrt_fake.h"
#include "devices/nnrt_remote.h"
#include "formats/nnrt_onnx.h"
