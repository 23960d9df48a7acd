/* The implementation, compiled once for the tests that look at nothing but what the headers declare. */
#define _XOPEN_SOURCE 700 /* realpath, for links of external data */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"
