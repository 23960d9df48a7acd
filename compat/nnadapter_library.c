/* libnnadapter.so: make lib. It shows the linker the functions of NNAdapter, and nothing else. */
#define NNRT_NNADAPTER_API __attribute__((visibility("default")))
#define NNRT_IMPLEMENTATION
#include "nnrt_nnadapter_driver.h" /* NNAdapterDevice_acquire loads drivers */
