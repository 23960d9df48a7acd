/* For clang in the mode of MSVC with the headers of mingw-w64, which put attributes behind declarations: clang expects none there
   in this mode. */
#include <_mingw.h>
#undef __MINGW_ATTRIB_DEPRECATED
#define __MINGW_ATTRIB_DEPRECATED
#undef __MINGW_ATTRIB_NORETURN
#define __MINGW_ATTRIB_NORETURN
#undef __MINGW_NOTHROW
#define __MINGW_NOTHROW
#undef __attribute__ /* clang has them, in this mode, too */
#define NNRT_IMPLEMENTATION
#include "nnrt_onnx.h"
#include "nnrt_tflite.h"
#include "nnrt_gguf.h"
#include "nnrt_safetensors.h"
#include "nnrt_quantize.h"
