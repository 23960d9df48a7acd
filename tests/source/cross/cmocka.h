/* A substitute for cmocka on targets without a package of it: other processors and WebAssembly. It has the functions
   that the tests of this repository use, under the same names, and prints the lines that tests/kit/run_suite.sh counts.
   Header only: a failed assertion prints its location and leaves the test by longjmp. tests/source/portability.sh puts this
   folder first in the include path. Includes the headers that cmocka requires before it. */
#ifndef CMOCKA_STAND_IN_H
#define CMOCKA_STAND_IN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define CMI_PRINTF(text, first) __attribute__((unused, format(printf, text, first)))
#define CMI_UNUSED __attribute__((unused))
#define CMI_NORETURN __attribute__((unused, noreturn))
#else
#define CMI_PRINTF(text, first)
#define CMI_UNUSED
#define CMI_NORETURN
#endif

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

typedef struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func;
    CMFixtureFunction teardown_func;
    void *initial_state;
} CMUnitTest;

/* How a test ends; 0 is what setjmp returns first. */
enum { CMI_FAILED = 1, CMI_SKIPPED = 2 };

static jmp_buf cmi_end;

CMI_NORETURN static void cmi_leave(int how)
{
    fflush(stdout);
    longjmp(cmi_end, how);
}

CMI_PRINTF(1, 2) static void print_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

#define print_error print_message

CMI_UNUSED static void cmi_true(int holds, const char *text, const char *file, int line)
{
    if (holds)
        return;
    printf("%s:%d: error: does not hold: %s\n", file, line, text);
    cmi_leave(CMI_FAILED);
}

CMI_UNUSED static void cmi_int(uintmax_t a, uintmax_t b, int equal, const char *text, const char *file, int line)
{
    if ((a == b) == (equal != 0))
        return;
    printf("%s:%d: error: %s: %lld (0x%llx) and %lld (0x%llx)\n", file, line, text, (long long)a, (unsigned long long)a,
           (long long)b, (unsigned long long)b);
    cmi_leave(CMI_FAILED);
}

CMI_UNUSED static void cmi_range(uintmax_t value, uintmax_t low, uintmax_t high, const char *text, const char *file,
                                 int line)
{
    if (low <= value && value <= high)
        return;
    printf("%s:%d: error: %s is %llu, not within %llu and %llu\n", file, line, text, (unsigned long long)value,
           (unsigned long long)low, (unsigned long long)high);
    cmi_leave(CMI_FAILED);
}

CMI_UNUSED static void cmi_string(const char *a, const char *b, int equal, const char *file, int line)
{
    if (a != NULL && b != NULL && (strcmp(a, b) == 0) == (equal != 0))
        return;
    printf("%s:%d: error: strings should%s be equal:\n    \"%s\"\n    \"%s\"\n", file, line, equal ? "" : " not",
           a != NULL ? a : "(NULL)", b != NULL ? b : "(NULL)");
    cmi_leave(CMI_FAILED);
}

CMI_UNUSED static void cmi_memory(const void *a, const void *b, size_t size, int equal, const char *file, int line)
{
    size_t at = 0;
    while (at < size && ((const unsigned char *)a)[at] == ((const unsigned char *)b)[at])
        at++;
    if ((at == size) == (equal != 0))
        return;
    if (equal)
        printf("%s:%d: error: byte %lu of %lu is 0x%02x, expected 0x%02x\n", file, line, (unsigned long)at,
               (unsigned long)size, ((const unsigned char *)a)[at], ((const unsigned char *)b)[at]);
    else
        printf("%s:%d: error: %lu bytes are equal\n", file, line, (unsigned long)size);
    cmi_leave(CMI_FAILED);
}

#define assert_true(c) cmi_true((c) ? 1 : 0, #c, __FILE__, __LINE__)
#define assert_false(c) cmi_true((c) ? 0 : 1, "not " #c, __FILE__, __LINE__)
#define assert_null(p) cmi_true((p) == NULL, #p " == NULL", __FILE__, __LINE__)
#define assert_non_null(p) cmi_true((p) != NULL, #p " != NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b)                                                                                         \
    cmi_true((const void *)(a) == (const void *)(b), #a " is the same address as " #b, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b)                                                                                     \
    cmi_true((const void *)(a) != (const void *)(b), #a " is another address than " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b) cmi_int((uintmax_t)(a), (uintmax_t)(b), 1, #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) cmi_int((uintmax_t)(a), (uintmax_t)(b), 0, #a " != " #b, __FILE__, __LINE__)
#define assert_in_range(v, low, high)                                                                                  \
    cmi_range((uintmax_t)(v), (uintmax_t)(low), (uintmax_t)(high), #v, __FILE__, __LINE__)
#define assert_string_equal(a, b) cmi_string(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cmi_string(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) cmi_memory(a, b, size, 1, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) cmi_memory(a, b, size, 0, __FILE__, __LINE__)
#define fail() cmi_true(0, "fail()", __FILE__, __LINE__)
#define fail_msg(...)                                                                                                  \
    (printf("%s:%d: error: ", __FILE__, __LINE__), printf(__VA_ARGS__), puts(""), cmi_leave(CMI_FAILED))
#define skip() cmi_leave(CMI_SKIPPED)

/* Runs one test with its setup and teardown; 0 it passed, else how it ended. */
static int cmi_run(const CMUnitTest *test, void *group)
{
    void *state = test->initial_state != NULL ? test->initial_state : group;
    int how = test->setup_func != NULL && test->setup_func(&state) != 0 ? CMI_FAILED : 0;
    if (how == 0) {
        switch (setjmp(cmi_end)) { /* how = setjmp() would be no use of it that C99 allows */
        case 0: test->test_func(&state); break;
        case CMI_SKIPPED: how = CMI_SKIPPED; break;
        default: how = CMI_FAILED; break;
        }
    }
    if (test->teardown_func != NULL && test->teardown_func(&state) != 0)
        how = CMI_FAILED;
    return how;
}

CMI_UNUSED static int _cmocka_run_group_tests(const char *name, const CMUnitTest *tests, size_t count,
                                              CMFixtureFunction setup, CMFixtureFunction teardown)
{
    unsigned ended[3] = {0, 0, 0};
    void *group = NULL;
    (void)name;
    if (setup != NULL && setup(&group) != 0) {
        printf("[  FAILED  ] %lu test(s), the setup of the group failed.\n", (unsigned long)count);
        return (int)count;
    }
    for (size_t i = 0; i < count; i++) {
        volatile int how;
        printf("[ RUN      ] %s\n", tests[i].name);
        fflush(stdout);
        how = cmi_run(&tests[i], group);
        ended[how]++;
        printf("[ %s ] %s\n", how == 0 ? "      OK" : how == CMI_SKIPPED ? "SKIPPED " : " FAILED ", tests[i].name);
    }
    if (teardown != NULL && teardown(&group) != 0)
        ended[CMI_FAILED]++;
    printf("[  PASSED  ] %u test(s).\n", ended[0]);
    if (ended[CMI_SKIPPED] > 0)
        printf("[  SKIPPED ] %u test(s).\n", ended[CMI_SKIPPED]);
    if (ended[CMI_FAILED] > 0)
        printf("[  FAILED  ] %u test(s).\n", ended[CMI_FAILED]);
    fflush(stdout);
    return (int)ended[CMI_FAILED];
}

#define cmocka_unit_test_setup_teardown(test, setup, teardown)                                                         \
    {                                                                                                                  \
#test, test, setup, teardown, NULL                                                                             \
    }
#define cmocka_unit_test(test) cmocka_unit_test_setup_teardown(test, NULL, NULL)
#define cmocka_unit_test_setup(test, setup) cmocka_unit_test_setup_teardown(test, setup, NULL)
#define cmocka_unit_test_teardown(test, teardown) cmocka_unit_test_setup_teardown(test, NULL, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                                      \
    _cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)

#endif
