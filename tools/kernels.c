/* The kernels of the device cpu in an object of their own, as NNRTI_CPU_OBJECT of devices/nnrt_cpu.h says: `make run` compiles
   it with optimization while it compiles the rest of nnrt without. The library's functions are static here; as nothing calls
   them, the object has none. */
#define NNRT_IMPLEMENTATION
#define NNRT_STATIC
#define NNRTI_CPU_OBJECT 2
#include "../nnrt.h"
