/* A test operator that computes floor(x), with an attribute of every kind, for all code that the attribute descriptions
   drive. Include before nnrt.h. */
#ifndef EVERY_KIND_H
#define EVERY_KIND_H

/* clang-format off */
#define NNRT_ATTR_EveryKind(M, S) \
    M(S, BOOL,   _,             flag,     1) \
    M(S, INT,    _,             number,   -7) \
    M(S, INT64,  _,             large,    9007199254740993) /* no float and no double has it */ \
    M(S, FLOAT,  _,             real,     0.1f) \
    M(S, DOUBLE, _,             precise,  0.1) /* no float has it */ \
    M(S, ENUM,   PadMode,       padMode,  NNRT_PAD_MODE_SAME) \
    M(S, TYPE,   NNRT_DataType, type,     NNRT_DATA_TYPE_INT32) \
    M(S, TYPE,   int64_t,       wideType, NNRT_DATA_TYPE_FLOAT16) \
    M(S, STRING, _,             mode,     "DCR") \
    M(S, GRAPH,  _,             body,     NNRT_NO_GRAPH) \
    M(S, INTS,   _,             ints,     0) \
    M(S, INTS64, _,             large2,   0) \
    M(S, INTS2,  _,             lists,    0) \
    M(S, FLOATS, _,             reals,    0)
#define NNRTI_OPS_OF_TEST(X, K) \
    X(EVERY_KIND, 9000, EveryKind, own, none, "x[..]", "y[..]=0", NNRTI_MAP, \
        K(NNRT_TYPES_F32, NULL, Floor, floor_f32, 1_1, shared), 0)
/* clang-format on */

#endif
