/* The implementation, compiled once for the tests that look at nothing but what the headers declare. */
#define _XOPEN_SOURCE 700 /* realpath, for links of external data */
#define NNRT_THREADS 1
#include <stdbool.h>
#include <stdlib.h>

/* The library's heap, which a test may shut. */
extern bool heap_shut;
bool heap_shut;
#define malloc(bytes) (heap_shut ? NULL : malloc(bytes))
#define calloc(count, bytes) (heap_shut ? NULL : calloc(count, bytes))
#define realloc(block, bytes) (heap_shut ? NULL : realloc(block, bytes))

#define NNRT_PIECE_BYTES 0 /* the sanitizers see the ends of all blocks */
#define NNRT_IMPLEMENTATION
#include "compat/nnrt_nnadapter_driver.h"
#include "devices/nnrt_cpu.h"
#include "devices/nnrt_fake.h"
#include "devices/nnrt_remote.h"
#include "formats/nnrt_onnx.h"
