/* Included before every file that is compiled with sanitizers (SANITIZE in the Makefile): invariants of the library are
   checked. The sanitizer for undefined behavior reports file and line of one that does not hold, and ends the program. */
#define NNRT_ASSERT(condition) ((condition) ? (void)0 : __builtin_unreachable())
