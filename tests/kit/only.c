/* Part of every cmocka program of the tests: NNRT_TEST=PATTERN runs only the tests whose names match, `make test ONLY=hal
   TEST=test_const_model`. * and ? are wildcards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void choose_tests(void) __attribute__((constructor));
static void choose_tests(void)
{
    const char *pattern = getenv("NNRT_TEST");
    if (pattern != NULL && *pattern != '\0')
        cmocka_set_test_filter(pattern);
}
