/* Prints what the header says of this build: NNRT_SAME_BITS and nnrt_same_bits(), "1 1" where the bits are those of every
   machine. tests/test_bits.sh and tests/portability.sh compile it with options that allow it and with some that do not.
   Of the operators it has one, as all of them take seconds to compile and are not asked. */
#define NNRT_IMPLEMENTATION
#define NNRT_STATIC
#define NNRT_SELECT
#define NNRT_KEEP_RESHAPE 1
#include "nnrt_ops.h"

#include <stdio.h>

int main(void)
{
    printf("%d %d\n", NNRT_SAME_BITS, nnrt_same_bits() ? 1 : 0);
    return 0;
}
