/* A small model for cmocka tests of devices: y = relu(x + addend) - x, with the inputs and results of these tests.
   Include after cmocka.h and nnrt.h. */
#ifndef SMALL_H
#define SMALL_H

#include "kit.h"

static const float addend[3] = {1, 2, 3}, xs[6] = {-4, -2, 0, 1, 2, -3}, ys[6] = {4, 2, 3, 1, 2, 3};

/* x is [rows,3]; rows -1: creating a session sets them. added: 3 values; the results for addend are ys. */
static NNRT_Model *make_model(int32_t rows, const float *added)
{
    static const int32_t three[1] = {3};
    const int32_t dims[2] = {rows, 3};
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    nnrt_error e;
    uint32_t in[2], x, sum;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "small", NULL), NNRT_SUCCESS);
    x = in[0] = nnrt_builder_input(b, "x", F32, 2, dims);
    in[1] = nnrt_builder_constant(b, "addend", F32, 1, three, added, false);
    sum = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    in[0] = nnrt_builder_op(b, "relu", NNRT_NODE_TYPE_ACTIVATION, &relu, &sum, 1);
    in[1] = x;
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SUB_FUSION, NULL, in, 2));
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    return model;
}

#endif
