/* libneural_network_runtime.so: make lib. It shows the linker the functions of OH_NN, and nothing else. */
#define NNRT_OHNN_API __attribute__((visibility("default")))
#define NNRT_THREADS 1
#define NNRT_IMPLEMENTATION
#include "nnrt_ohnn.h"
