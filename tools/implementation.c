/* The implementation by itself, compiled once for the programs that the Makefile makes: the command line and digits. They
   have it in them as well, and leave it out where IMPLEMENTED of the Makefile says that it is there already. Options are
   those of tools/nnrt.c. */
#define _POSIX_C_SOURCE 200809L

#if defined(__linux__) && defined(__GNUC__) && !defined(NNRT_THREADS)
#define NNRT_THREADS 1 /* nnrt serve */
#endif
#define NNRT_IMPLEMENTATION
#include "../nnrt.h"

#include "../compat/nnrt_nnadapter_driver.h"
#include "../devices/nnrt_driver.h"
#include "../devices/nnrt_fake.h"
#include "../devices/nnrt_remote.h"
#include "../formats/nnrt_onnx.h"
