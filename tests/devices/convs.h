/* Shared by tests of the fast device: convolutions with random windows. Include after on_sets.h. */
#ifndef NNRT_TESTS_CONVS_H
#define NNRT_TESTS_CONVS_H

/* A convolution of x [n,h,w,k] with weights [c,wh,ww,k/group], and the following additions. */
typedef struct conv {
    int32_t n, h, w, k, c, window[2];
    int64_t stride[2], dilation[2], pad[4], group;
    NNRT_ActivationType activation;
    bool bias, sum, planes; /* planes: x and y are NCHW, x [n,k,h,w] */
    bool twice;             /* another node adds the bias again */
} conv;

static const NNRT_ActivationType activations[] = {
    NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU, NNRT_ACTIVATION_TYPE_RELU6,
    NNRT_ACTIVATION_TYPE_HSWISH, NNRT_ACTIVATION_TYPE_SIGMOID, NNRT_ACTIVATION_TYPE_ABS};

static void draw_window(conv *s)
{
    for (int32_t i = 0; i < 2; i++) {
        s->window[i] = 1 + (int32_t)draw(3);
        s->stride[i] = 1 + draw(2);
        s->dilation[i] = 1 + (draw(4) == 0);
        s->pad[2 * i] = draw(3);
        s->pad[2 * i + 1] = draw(3);
    }
    s->h = 5 + (int32_t)draw(6);
    s->w = 5 + (int32_t)draw(9);
    s->activation = activations[draw(COUNT(activations))];
    s->bias = draw(2) == 0;
    s->sum = draw(3) == 0;
}

#endif
