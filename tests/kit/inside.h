/* For tests of internals of the library. Includes its source with the options of the object of tests/kit/nnrt.c; public
   functions are only declared and come from that object. The test has its own copy of all static code: types, tables
   and small functions. clang drops the unused ones: a second to compile instead of twelve. A test must not change a
   static variable of the library this way: it would change its copy. For the same reason gcc needs -fno-inline with
   optimization: an inlined public function would use the test's copy of the registry. Include before the headers. */
#ifndef INSIDE_H
#define INSIDE_H

#define NNRT_API extern __inline__ __attribute__((__gnu_inline__))
#define NNRT_OHNN_API NNRT_API
#define NNRT_NNADAPTER_API NNRT_API
#ifdef __clang__ /* valid for C99 inline functions, but these are gnu_inline; gcc has no such option: it needs -w */
#pragma clang diagnostic ignored "-Wstatic-in-inline"
#pragma clang diagnostic ignored "-Wstatic-local-in-inline"
#endif

#define NNRT_THREADS 1
#define NNRT_PIECE_BYTES 0
#define NNRT_IMPLEMENTATION

#endif
