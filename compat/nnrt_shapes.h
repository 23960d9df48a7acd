/*
nnrt_shapes.h - a cache of prepared models for several input shapes, for the APIs of compat/.

    #include "nnrt_shapes.h"        in the implementation of a header of compat/; a program does not include it

OVERVIEW
    A model with dynamic inputs is prepared for the shapes of a run. NNRT_SHAPES_KEPT prepared models are kept: a run
    with the shapes of one of them prepares nothing. A further shape prepares a model for an upper bound of all shapes
    so far, which serves every shape within it. A shape that exceeds the upper bound replaces it by one that is at least
    1.5 times as large, so that n growing shapes cost O(log n) preparations. If a device or model does not support upper
    bounds, the least recently used shape is replaced. The entries share nothing: each has its own packed weights and
    arena. That is the price of four shapes at full speed; a single model for an upper bound would be slower for each of
    them.

MIT license, see LICENSE.
*/
#ifndef NNRT_SHAPES_H
#define NNRT_SHAPES_H

#include "../nnrt.h"

#include <stdlib.h>
#include <string.h>

#define NNRT_SHAPES_KEPT 4u

/* Prepares and destroys an entry. dims: shape of each input; with `bounds` an upper bound of it. *made is never NULL on
   success. */
typedef struct nnrti_shapes_maker {
    NNRT_ReturnCode (*make)(void *user, const nnrt_dims *dims, bool bounds, void **made);
    void (*drop)(void *user, void *made);
    void *user;
} nnrti_shapes_maker;

/* Zeroed: no entries. Entry NNRT_SHAPES_KEPT is prepared for the upper bound. */
typedef struct nnrti_shapes {
    void *made[NNRT_SHAPES_KEPT + 1];
    uint64_t used[NNRT_SHAPES_KEPT + 1]; /* time of the last use, by clock */
    uint64_t clock;
    nnrt_dims *dims; /* input shapes of entry k begin at k * nIn */
    bool boundless;  /* preparing for an upper bound failed */
} nnrti_shapes;

static inline void nnrti_shapes_clear(nnrti_shapes *s, const nnrti_shapes_maker *maker)
{
    for (uint32_t k = 0; k <= NNRT_SHAPES_KEPT; k++)
        if (s->made[k] != NULL)
            maker->drop(maker->user, s->made[k]);
    free(s->dims);
    memset(s, 0, sizeof(*s));
}

/* Checks that all shapes equal the shapes of an entry, or (within) do not exceed them. */
static inline bool nnrti_shapes_fit(const nnrt_dims *dims, const nnrt_dims *of, uint32_t nIn, bool within)
{
    for (uint32_t i = 0; i < nIn; i++) {
        if (dims[i].rank != of[i].rank)
            return false;
        for (int32_t a = 0; a < dims[i].rank; a++)
            if (within ? dims[i].dims[a] > of[i].dims[a] : dims[i].dims[a] != of[i].dims[a])
                return false;
    }
    return true;
}

/* Prepares entry k for its shapes in s->dims. */
static inline NNRT_ReturnCode nnrti_shapes_make(nnrti_shapes *s, const nnrti_shapes_maker *maker, uint32_t nIn,
                                                uint32_t k)
{
    NNRT_ReturnCode code;
    if (s->made[k] != NULL)
        maker->drop(maker->user, s->made[k]);
    s->made[k] = NULL;
    code = maker->make(maker->user, s->dims + (size_t)k * nIn, k == NNRT_SHAPES_KEPT, &s->made[k]);
    if (code != NNRT_SUCCESS)
        s->made[k] = NULL;
    return code;
}

/* Prepares for an upper bound of dims and of every shape so far. */
static inline NNRT_ReturnCode nnrti_shapes_bound(nnrti_shapes *s, const nnrti_shapes_maker *maker,
                                                 const nnrt_dims *dims, uint32_t nIn)
{
    nnrt_dims *bound = s->dims + (size_t)NNRT_SHAPES_KEPT * nIn;
    const bool grows = s->made[NNRT_SHAPES_KEPT] != NULL;
    NNRT_ReturnCode code;
    if (!grows)
        memcpy(bound, dims, nIn * sizeof(*dims));
    for (int pass = grows ? 0 : 1;; pass++) { /* first 1.5 times larger; if that fails, as small as possible */
        for (uint32_t i = 0; i < nIn; i++)
            for (int32_t a = 0; a < dims[i].rank; a++) {
                int32_t *most = &bound[i].dims[a];
                const int32_t old = *most;
                if (dims[i].rank != bound[i].rank)
                    return NNRT_INVALID_SHAPE;
                if (pass == 1 || dims[i].dims[a] > old)
                    *most = dims[i].dims[a];
                if (pass == 0 && *most > old && old <= INT32_MAX / 2 && old + old / 2 > *most)
                    *most = old + old / 2;
                for (uint32_t k = 0; k < NNRT_SHAPES_KEPT && pass == 1; k++)
                    if (s->dims[(size_t)k * nIn + i].dims[a] > *most)
                        *most = s->dims[(size_t)k * nIn + i].dims[a];
            }
        if ((code = nnrti_shapes_make(s, maker, nIn, NNRT_SHAPES_KEPT)) == NNRT_SUCCESS || pass == 1)
            return code;
    }
}

/* Finds or prepares the entry for these shapes. *bound: it was prepared for an upper bound. */
static inline NNRT_ReturnCode nnrti_shapes_find(nnrti_shapes *s, const nnrti_shapes_maker *maker, const nnrt_dims *dims,
                                                uint32_t nIn, void **made, bool *bound)
{
    uint32_t k, oldest = 0;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    *made = NULL;
    *bound = false;
    if (s->dims == NULL &&
        (s->dims = (nnrt_dims *)calloc((NNRT_SHAPES_KEPT + 1) * (size_t)(nIn + 1), sizeof(*s->dims))) == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (k = 0; k < NNRT_SHAPES_KEPT; k++)
        if (s->made[k] == NULL || nnrti_shapes_fit(dims, s->dims + (size_t)k * nIn, nIn, false))
            break;
        else if (s->used[k] < s->used[oldest])
            oldest = k;
    if (k == NNRT_SHAPES_KEPT && !s->boundless) {
        if (s->made[k] == NULL || !nnrti_shapes_fit(dims, s->dims + (size_t)k * nIn, nIn, true))
            code = nnrti_shapes_bound(s, maker, dims, nIn);
        s->boundless = code != NNRT_SUCCESS;
    }
    if (k == NNRT_SHAPES_KEPT && s->boundless)
        k = oldest;
    if (k < NNRT_SHAPES_KEPT &&
        (s->made[k] == NULL || !nnrti_shapes_fit(dims, s->dims + (size_t)k * nIn, nIn, false))) {
        memcpy(s->dims + (size_t)k * nIn, dims, nIn * sizeof(*dims));
        if ((code = nnrti_shapes_make(s, maker, nIn, k)) != NNRT_SUCCESS)
            return code;
    }
    s->used[k] = ++s->clock;
    *made = s->made[k];
    *bound = k == NNRT_SHAPES_KEPT;
    return NNRT_SUCCESS;
}

/* Makes an upper bound for each input of a model; out has as many entries. false: an input without a name, which bounds
   need. */
static inline bool nnrti_shapes_bounds(const NNRT_Model *m, const nnrt_dims *dims, nnrt_bound *out)
{
    for (uint32_t i = 0; i < m->inputIndex.count; i++) {
        out[i].tensor = m->allTensors.data[m->inputIndex.data[i]].name;
        out[i].most = dims[i];
        if (out[i].tensor == NULL || out[i].tensor[0] == '\0')
            return false;
    }
    return true;
}

#endif /* NNRT_SHAPES_H */
