/* The implementation, compiled once for the tests that look at nothing but what the headers declare. */
#define _XOPEN_SOURCE 700 /* realpath, for links of external data */
#define NNRT_THREADS 1
#define NNRT_PIECE_BYTES 0 /* the sanitizers see the ends of all blocks */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"
