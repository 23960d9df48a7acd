/* libnnadapter.so: make lib. It exports only the functions of NNAdapter. */
#define NNRT_NNADAPTER_API __attribute__((visibility("default")))
#define NNRT_IMPLEMENTATION
#include "nnrt_nnadapter_driver.h" /* NNAdapterDevice_acquire loads drivers */
