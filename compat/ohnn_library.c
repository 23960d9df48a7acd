/* libneural_network_runtime.so: make lib. It shows the linker the functions of OH_NN, and nothing else. */
#define NNRT_OHNN_API __attribute__((visibility("default")))
#define NNRT_OHNN_DRIVERS "NNRT_DRIVERS" /* the environment variable that names drivers */
#define NNRT_THREADS 1
#define NNRT_IMPLEMENTATION
#include "nnrt_nnadapter_driver.h" /* drivers for NNAdapter's hardware layer, too */
#include "nnrt_ohnn.h"
