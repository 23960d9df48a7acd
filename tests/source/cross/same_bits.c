/* Prints the build's NNRT_SAME_BITS and nnrt_same_bits(): "1 1" if its results are bit-identical to those of all
   machines. tests/source/test_bits.sh and tests/source/portability.sh compile it with options that allow this and with options that
   do not. It contains a single operator: all of them would take seconds to compile, and are not needed. */
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
