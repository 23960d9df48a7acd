/* The implementation as one object, compiled once for the programs that the Makefile builds: the command line and
   digits. These contain the implementation as well, and omit it if IMPLEMENTED of the Makefile says that this object is
   linked. The options are the same as in tools/nnrt.c. */
#define _POSIX_C_SOURCE 200809L

#if defined(__linux__) && defined(__GNUC__) && !defined(NNRT_THREADS)
#define NNRT_THREADS 1 /* nnrt serve */
#endif
#define NNRT_IMPLEMENTATION
#include "../nnrt.h"

#include "../compat/nnrt_nnadapter_driver.h"
#include "../devices/nnrt_driver.h"
#include "../devices/nnrt_fake.h"
#include "../devices/nnrt_mcu.h"
#include "../devices/nnrt_remote.h"
#include "../formats/nnrt_gguf.h"
#include "../formats/nnrt_onnx.h"
#include "../formats/nnrt_quantize.h"
#include "../formats/nnrt_safetensors.h"
#include "../formats/nnrt_tflite.h"
#include "../core/nnrt_frontend.h"
#include "../core/nnrt_text.h"
