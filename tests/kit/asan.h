/* Whether a test program has the address sanitizer: WITH_ASAN is defined if it has. */
#ifndef NNRT_TESTS_ASAN_H
#define NNRT_TESTS_ASAN_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(WITH_ASAN)
#define WITH_ASAN 1
#endif

#endif
