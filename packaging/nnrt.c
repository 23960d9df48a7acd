/* The implementation of nnrt as an object, for build systems that compile each .c file that they find. */
#define NNRT_IMPLEMENTATION
#include "../nnrt.h"
