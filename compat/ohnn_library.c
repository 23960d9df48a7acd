/* libneural_network_runtime.so: make lib. It exports only the functions of OH_NN. */
#define NNRT_OHNN_API __attribute__((visibility("default")))
#define NNRT_OHNN_DRIVERS "NNRT_DRIVERS" /* the environment variable that lists drivers */
#define NNRT_THREADS 1
#define NNRT_IMPLEMENTATION
#include "nnrt_nnadapter_driver.h" /* also loads drivers for NNAdapter's hardware layer */
#include "nnrt_ohnn.h"
