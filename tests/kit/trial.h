/* trial.h - an allocator for cmocka tests of out of memory: it counts, and can be made to fail. Include after nnrt.h
   and cmocka.h. (kit.h has one that also knows its blocks.) */
#ifndef TRIAL_H
#define TRIAL_H

#include <string.h>

#define TRIAL_PIECE 8192 /* NNRTI_BUILDER_PIECE, which only tests with the implementation see */
#ifdef NNRTI_BUILDER_PIECE
typedef char trial_piece_is_the_builders[NNRTI_BUILDER_PIECE == TRIAL_PIECE ? 1 : -1];
#endif

/* All zero: every request succeeds. */
typedef struct trial {
    uint32_t calls, live;      /* requests so far; live blocks */
    uint32_t failing;          /* the request of this number fails; 0 = none */
    bool forGood;              /* and all later ones */
    uint32_t pieces, seen;     /* of the requests of a builder's piece, this one fails; number of them so far */
    size_t bytes, most, limit; /* allocated now; maximum so far; limit, 0 = none */
} trial;

static bool trial_refuses(trial *t, size_t bytes)
{
    t->calls++;
    if (t->failing != 0 && (t->forGood ? t->calls >= t->failing : t->calls == t->failing))
        return true;
    if (t->pieces > 0 && bytes >= TRIAL_PIECE && bytes < TRIAL_PIECE + 128 && ++t->seen == t->pieces)
        return true;
    return t->limit > 0 && bytes > t->limit - t->bytes;
}

/* The block is filled with non-zero bytes; the pointer of malloc is stored in front of it. */
static void *trial_alloc(void *user, size_t bytes, size_t alignment)
{
    trial *t = (trial *)user;
    uint8_t *raw, *block;
    if (trial_refuses(t, bytes))
        return NULL;
    raw = (uint8_t *)malloc(bytes + 2 * alignment);
    assert_non_null(raw);
    block = raw + alignment;
    block += (alignment - (uintptr_t)block % alignment) % alignment;
    memcpy(block - sizeof(raw), &raw, sizeof(raw));
    memset(block, 0xA5, bytes);
    t->live++;
    t->bytes += bytes;
    t->most = t->bytes > t->most ? t->bytes : t->most;
    return block;
}

static void trial_free(void *user, void *block, size_t bytes)
{
    trial *t = (trial *)user;
    uint8_t *raw;
    memcpy(&raw, (uint8_t *)block - sizeof(raw), sizeof(raw));
    assert_true(t->live > 0 && t->bytes >= bytes);
    t->live--;
    t->bytes -= bytes;
    free(raw);
}

static nnrt_allocator trial_allocator(trial *t)
{
    nnrt_allocator a;
    memset(t, 0, sizeof(*t));
    a.alloc = trial_alloc;
    a.free = trial_free;
    a.user = t;
    return a;
}

#endif
