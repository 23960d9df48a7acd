/* make test-long sets NNRT_LONG: the long form of a test, which takes minutes and finds little more. */
#ifndef LONG_H
#define LONG_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool long_form(void)
{
    const char *given = getenv("NNRT_LONG");
    return given != NULL && *given != '\0';
}

#endif
