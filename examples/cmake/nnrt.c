/* The implementation of nnrt, compiled once: it is not compiled again when the program changes. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"
