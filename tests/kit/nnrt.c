/* The implementation, compiled once for the tests that use public functions only. */
#define _XOPEN_SOURCE 700 /* realpath, for links of external data */
#define NNRT_THREADS 1
#include <stdbool.h>
#include <stdlib.h>

#define COUNTED_HERE
#include "counted.h"

#include <pthread.h>

/* Threads that the library starts are counted; the one of number thread_fail_at does not start, 0: all do. */
extern int64_t thread_calls, thread_fail_at;
int64_t thread_calls, thread_fail_at;

static int counted_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    return counted(&thread_calls, 1) == thread_fail_at ? -1 : pthread_create(thread, attr, start, arg);
}

#define pthread_create counted_pthread_create

#ifndef NNRT_CPU
#define NNRT_CPU 0 /* sessions that name no device run on the reference device, whose bits tests expect */
#endif
#define NNRT_PIECE_BYTES 0 /* the sanitizers see the ends of all blocks */
#define NNRT_IMPLEMENTATION
#include "compat/nnrt_nnadapter_driver.h"
#include "compat/nnrt_ohnn.h"
#include "devices/nnrt_cpu.h"
#include "devices/nnrt_driver.h"
#include "devices/nnrt_fake.h"
#include "devices/nnrt_mcu.h"
#include "devices/nnrt_remote.h"
#include "formats/nnrt_gguf.h"
#include "formats/nnrt_safetensors.h"
#include "formats/nnrt_onnx.h"
#include "formats/nnrt_quantize.h"
#include "formats/nnrt_tflite.h"
#include "core/nnrt_frontend.h"
#include "core/nnrt_text.h"
