/* The memory planner: validity by an independent check, bounds by an independent count, plans worked by hand, exact
 * optima of tiny graphs by exhaustion, statistics over random graphs, bad arguments, overflow, determinism, exact
 * scratch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "nnrt_hal.h"

#include "long.h"

#define MAX_BLOCKS 10000
#define GUARD 64

static nnrt_plan_block g_blocks[MAX_BLOCKS];
static uint32_t g_seed;

/* A number below n from a linear congruential generator of our own, so that the graphs are the same everywhere. */
static uint32_t draw(uint32_t n) {
    g_seed = g_seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(g_seed >> 8) * n) >> 24);
}

static void set_block(nnrt_plan_block *b, size_t bytes, int32_t first, int32_t last) {
    b->bytes = bytes;
    b->first = first;
    b->last = last;
    b->offset = 12345; /* must be overwritten */
}

/* ---- independent checks ---- */

static size_t round_up(size_t bytes, size_t alignment) {
    return bytes % alignment == 0 ? bytes : bytes + (alignment - bytes % alignment);
}

static int live_together(const nnrt_plan_block *a, const nnrt_plan_block *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* Largest sum of rounded sizes live at one step: for each block, those live at its first step. O(n^2). */
static size_t naive_bound(const nnrt_plan_block *b, uint32_t n, size_t alignment) {
    size_t bound = 0;
    uint32_t i, j;
    for (i = 0; i < n; ++i) {
        size_t sum = 0;
        for (j = 0; j < n; ++j) {
            if (b[j].first <= b[i].first && b[i].first <= b[j].last) {
                sum += round_up(b[j].bytes, alignment);
            }
        }
        bound = sum > bound ? sum : bound;
    }
    return bound;
}

/* Alignment, zero blocks, no shared byte among blocks live together, and the arena exactly as large as needed.
 * O(n^2). */
static void check_valid(const nnrt_plan_block *b, uint32_t n, size_t alignment, size_t arena) {
    size_t top = 0;
    uint32_t i, j;
    for (i = 0; i < n; ++i) {
        size_t end = b[i].offset + round_up(b[i].bytes, alignment);
        assert_int_equal(b[i].offset % alignment, 0);
        if (b[i].bytes == 0) {
            assert_int_equal(b[i].offset, 0);
            continue;
        }
        top = end > top ? end : top;
        for (j = 0; j < i; ++j) {
            if (b[j].bytes != 0 && live_together(&b[i], &b[j]) && b[j].offset < end &&
                b[i].offset < b[j].offset + round_up(b[j].bytes, alignment)) {
                fail_msg("blocks %u and %u of %u overlap", (unsigned)i, (unsigned)j, (unsigned)n);
            }
        }
    }
    assert_int_equal(arena, top);
}

/* Plans into guarded scratch of exactly the stated size, checks result, inputs and guards; returns the arena. */
static size_t plan(nnrt_plan_block *b, uint32_t n, size_t alignment, size_t *bound) {
    size_t scratchBytes = nnrt_plan_scratch(n), arena = 999, lower = 999, i;
    uint8_t *raw = (uint8_t *)malloc(scratchBytes + 2 * GUARD);
    nnrt_plan_block *before = (nnrt_plan_block *)malloc((n + 1u) * sizeof *b);
    assert_non_null(raw);
    assert_non_null(before);
    memset(raw, 0xA5, scratchBytes + 2 * GUARD);
    memcpy(before, b, n * sizeof *b);
    assert_int_equal(nnrt_plan_arena(b, n, alignment, raw + GUARD, &arena, &lower), NNRT_SUCCESS);
    for (i = 0; i < GUARD; ++i) {
        assert_int_equal(raw[i], 0xA5);
        assert_int_equal(raw[GUARD + scratchBytes + i], 0xA5);
    }
    for (i = 0; i < n; ++i) {
        assert_true(b[i].bytes == before[i].bytes && b[i].first == before[i].first && b[i].last == before[i].last);
    }
    check_valid(b, n, alignment, arena);
    assert_int_equal(lower, naive_bound(b, n, alignment));
    assert_true(arena >= lower);
    free(before);
    free(raw);
    *bound = lower;
    return arena;
}

/* First fit in the given order, the textbook way: raise the block past every conflict until none is left. */
static size_t naive_first_fit(const nnrt_plan_block *b, const uint32_t *order, uint32_t n, size_t *offset) {
    size_t top = 0;
    uint32_t i, j;
    for (i = 0; i < n; ++i) {
        const nnrt_plan_block *x = &b[order[i]];
        size_t at = 0;
        for (j = 0; j < i; ++j) {
            const nnrt_plan_block *y = &b[order[j]];
            if (live_together(x, y) && offset[order[j]] < at + x->bytes && at < offset[order[j]] + y->bytes) {
                at = offset[order[j]] + y->bytes;
                j = UINT32_MAX; /* start over: the raised block may meet an earlier one */
            }
        }
        offset[order[i]] = at;
        top = at + x->bytes > top ? at + x->bytes : top;
    }
    return top;
}

/* The smallest arena: first fit over all orders. (Taken by ascending offset, the blocks of an optimal plan land
 * under first fit no higher than they were.) Permutations by Heap's method without recursion; n <= 8. */
static size_t exhaustive_optimum(const nnrt_plan_block *b, uint32_t n, size_t bound) {
    uint32_t order[8], count[8] = {0}, i, t;
    size_t offset[8], best;
    for (i = 0; i < n; ++i) {
        order[i] = i;
    }
    best = naive_first_fit(b, order, n, offset);
    for (i = 0; i < n && best > bound;) {
        size_t top;
        uint32_t other;
        if (count[i] >= i) {
            count[i++] = 0;
            continue;
        }
        other = i % 2 == 0 ? 0 : count[i];
        t = order[other];
        order[other] = order[i];
        order[i] = t;
        top = naive_first_fit(b, order, n, offset);
        best = top < best ? top : best;
        ++count[i];
        i = 0;
    }
    return best;
}

/* ---- cases worked by hand ---- */

/* Seven operators in a row; output i lives from step i to i + 1. The bound is 8 + 4 = 12 at step 4. By size, 8, 7
 * and 6 go to 0, 5 onto 6 ([6, 11)), and 4, live with 8 and 5, no longer fits below 11: 15, a quarter too much.
 * Even outputs at 0 and odd ones above their larger neighbour need 12. */
static const size_t g_seven[7] = {7, 1, 3, 8, 4, 5, 6};

static void set_seven(size_t unit) {
    int32_t i;
    for (i = 0; i < 7; ++i) {
        set_block(&g_blocks[i], g_seven[i] * unit, i, i < 6 ? i + 1 : 6);
    }
}

static void test_seven_operators(void **state) {
    static const uint32_t bySize[7] = {3, 0, 6, 5, 4, 2, 1};
    size_t offset[7], bound;
    (void)state;
    set_seven(1);
    assert_int_equal(naive_first_fit(g_blocks, bySize, 7, offset), 15);
    assert_int_equal(plan(g_blocks, 7, 1, &bound), 12);
    assert_int_equal(bound, 12);
    set_seven(100);
    assert_int_equal(plan(g_blocks, 7, 64, &bound), 1280); /* 800 and 400 take 832 and 448 */
}

static void test_small_cases(void **state) {
    size_t bound;
    (void)state;
    set_block(&g_blocks[0], 100, 5, 5);
    assert_int_equal(plan(g_blocks, 1, 64, &bound), 128);
    assert_int_equal(bound, 128);
    set_block(&g_blocks[1], 1, 6, 9); /* not live together: they share */
    assert_int_equal(plan(g_blocks, 2, 64, &bound), 128);
    assert_int_equal(g_blocks[0].offset, 0);
    assert_int_equal(g_blocks[1].offset, 0);
    set_block(&g_blocks[1], 1, 5, 9); /* meet at step 5 */
    assert_int_equal(plan(g_blocks, 2, 64, &bound), 192);
    assert_int_equal(bound, 192);
    set_block(&g_blocks[0], 3, INT32_MIN, INT32_MAX);
    set_block(&g_blocks[1], 5, INT32_MIN, INT32_MIN);
    set_block(&g_blocks[2], 4, INT32_MAX, INT32_MAX);
    set_block(&g_blocks[3], 1, -7, 0);
    assert_int_equal(plan(g_blocks, 4, 1, &bound), 8);
    assert_int_equal(bound, 8);
}

/* Chains of every length: two lanes always suffice. The bound is the largest sum of two neighbours. */
static void test_chains(void **state) {
    uint32_t n, i;
    (void)state;
    for (n = 1; n <= 200; ++n) {
        size_t bound, expected = 0;
        g_seed = n;
        for (i = 0; i < n; ++i) {
            set_block(&g_blocks[i], 1 + draw(1000), (int32_t)i, (int32_t)(i + 1 < n ? i + 1 : i));
            if (i > 0 && g_blocks[i].bytes + g_blocks[i - 1].bytes > expected) {
                expected = g_blocks[i].bytes + g_blocks[i - 1].bytes;
            }
        }
        expected = n == 1 ? g_blocks[0].bytes : expected;
        assert_int_equal(plan(g_blocks, n, 1, &bound), expected);
    }
}

/* ---- network shapes ---- */

static uint32_t g_count; /* operators so far; operator i writes block i at step i */

/* Appends an operator with an output of the given bytes; returns its number. */
static uint32_t add_op(size_t bytes) {
    set_block(&g_blocks[g_count], bytes, (int32_t)g_count, (int32_t)g_count);
    return g_count++;
}

/* The newest operator reads the output of producer. */
static void reads(uint32_t producer) {
    g_blocks[producer].last = (int32_t)g_count - 1;
}

static void expect_plan(size_t bound, size_t arena) {
    size_t lower, bytes = plan(g_blocks, g_count, 64, &lower);
    assert_int_equal(lower, bound);
    assert_int_equal(bytes, arena);
}

/* x, conv, conv, x + conv, eight times: at the second conv three outputs of 64 KiB are live, never more. */
static void test_residual_blocks(void **state) {
    uint32_t x, a, b, k;
    (void)state;
    g_count = 0;
    x = add_op(65536);
    for (k = 0; k < 8; ++k) {
        a = add_op(65536);
        reads(x);
        b = add_op(65536);
        reads(a);
        (void)add_op(65536);
        reads(x);
        reads(b);
        x = g_count - 1;
    }
    expect_plan(3 * 65536, 3 * 65536);
}

/* Encoder of five levels, each kept for the decoder: level k has 2 outputs of s_k = 2^20 >> k bytes. On the way up,
 * level k upsamples to s_k, joins with the skip to 2 s_k and convolves to s_k. The fullest step is the join at
 * level 0: the upsampled output, the skip and the join, 4 s_0 bytes. */
static void test_unet(void **state) {
    uint32_t skip[5], x = 0, up, k;
    const size_t s0 = 1048576;
    (void)state;
    g_count = 0;
    for (k = 0; k < 5; ++k) {
        uint32_t c = add_op(s0 >> k);
        if (k > 0) {
            reads(x);
        }
        skip[k] = add_op(s0 >> k);
        reads(c);
        x = add_op(s0 >> (k + 1)); /* pooled */
        reads(skip[k]);
    }
    for (k = 5; k-- > 0;) {
        uint32_t join;
        up = add_op(s0 >> k);
        reads(x);
        join = add_op(2 * (s0 >> k));
        reads(up);
        reads(skip[k]);
        x = add_op(s0 >> k);
        reads(join);
    }
    expect_plan(4 * s0, 4 * s0);
}

/* Inception: four branches of one input of 8 units join to 8 units: 1x1 (2); 1x1 (3), 3x3 (4); 1x1 (1), 5x5 (1);
 * pool (8), 1x1 (1). The join holds 2 + 4 + 1 + 1 + 8 = 16 units; the pool is fuller: input 8, finished branches 2
 * + 4 + 1, its output 8 = 23 units. */
static void test_inception(void **state) {
    const size_t u = 6400;
    uint32_t x, k;
    (void)state;
    g_count = 0;
    x = add_op(8 * u);
    for (k = 0; k < 9; ++k) {
        uint32_t a, b, c, d, t;
        a = add_op(2 * u);
        reads(x);
        t = add_op(3 * u);
        reads(x);
        b = add_op(4 * u);
        reads(t);
        t = add_op(u);
        reads(x);
        c = add_op(u);
        reads(t);
        t = add_op(8 * u);
        reads(x);
        d = add_op(u);
        reads(t);
        x = add_op(8 * u);
        reads(a);
        reads(b);
        reads(c);
        reads(d);
    }
    expect_plan(23 * u, 23 * u);
}

/* Dense block: layer k joins the input (4 units) and all k earlier outputs (1 unit each) to 4 + k units and
 * convolves that to 1 unit. The last convolution (k = 11) has 4 + 11 kept, 15 joined and 1 written = 31 units; the
 * final join of everything is fuller: 4 + 12 kept and 16 joined = 32 units. */
static void test_dense_block(void **state) {
    const size_t u = 640;
    uint32_t kept[13], k, j, join;
    (void)state;
    g_count = 0;
    kept[0] = add_op(4 * u);
    for (k = 0; k < 12; ++k) {
        join = add_op((4 + k) * u);
        for (j = 0; j <= k; ++j) {
            reads(kept[j]);
        }
        kept[k + 1] = add_op(u);
        reads(join);
    }
    (void)add_op(16 * u);
    for (j = 0; j <= 12; ++j) {
        reads(kept[j]);
    }
    expect_plan(32 * u, 32 * u);
}

/* ---- random graphs ---- */

static size_t draw_size(uint32_t kind) {
    size_t power;
    switch (kind) {
    case 0: return 1 + draw(64);
    case 1: return (size_t)1 << draw(10);
    case 2:
        power = (size_t)1 << draw(8);
        return power * (1 + draw(4));
    default: return 1 + draw(1000);
    }
}

/* Graph id with n blocks. Family 0: a chain. 1: each operator reads up to three of the four outputs before it. 2:
 * the newest output and up to two at any distance, near ones more often. 3: blocks of random steps. Each with four
 * laws of size. */
static void random_graph(uint32_t id, uint32_t n) {
    uint32_t family = id % 4, i, k;
    g_seed = id * 2654435761u + 12345u;
    for (i = 0; i < n; ++i) {
        uint32_t inputs = family == 0 ? 1 : 1 + draw(3);
        size_t bytes = draw_size(id / 4 % 4);
        if (family == 3) {
            int32_t first = (int32_t)draw(n), parts = (int32_t)(2 + draw(6));
            set_block(&g_blocks[i], bytes, first, first + (int32_t)draw(1 + n / (uint32_t)parts));
            continue;
        }
        set_block(&g_blocks[i], bytes, (int32_t)i, (int32_t)i);
        for (k = 0; k < inputs && i > 0; ++k) {
            uint32_t back = 1;
            if (family == 1) {
                back += draw(i < 4 ? i : 4);
            } else if (family == 2 && k > 0) {
                back += draw(draw(i) + 1);
            }
            g_blocks[i - back].last = (int32_t)i;
        }
    }
}

typedef struct totals {
    uint32_t graphs, within5, atBound;
    double sum, worst;
} totals;

static void count_ratio(totals *t, size_t arena, size_t bound) {
    double ratio = (double)arena / (double)bound;
    t->graphs += 1;
    t->within5 += arena * 20 <= bound * 21;
    t->atBound += arena == bound;
    t->sum += ratio;
    t->worst = ratio > t->worst ? ratio : t->worst;
}

static void print_totals(const char *name, const totals *t) {
    print_message("    %-22s %3u graphs: mean %.4f, worst %.4f of the lower bound; %3u within 5 %%, %3u at it\n", name,
                  (unsigned)t->graphs, t->sum / t->graphs, t->worst, (unsigned)t->within5, (unsigned)t->atBound);
}

/* 300 graphs of 5 to 200 blocks. The hash pins the plans themselves: it comes from this planner and says only that
 * every compiler and platform gives the same ones (32-bit FNV-1a over the offsets as 8 little-endian bytes). */
static void test_random_graphs(void **state) {
    totals all, family[4], bySize;
    uint32_t id, i, k, hash = 2166136261u;
    static size_t offset[200];
    static uint32_t order[200];
    (void)state;
    memset(&all, 0, sizeof all);
    memset(family, 0, sizeof family);
    memset(&bySize, 0, sizeof bySize);
    for (id = 0; id < 300; ++id) {
        uint32_t n = 5 + id * 7919u % 196u;
        size_t bound, arena;
        random_graph(id, n);
        arena = plan(g_blocks, n, 1, &bound);
        count_ratio(&all, arena, bound);
        count_ratio(&family[id % 4], arena, bound);
        for (i = 0; i < n; ++i) {
            for (k = 0; k < 64; k += 8) {
                hash = (hash ^ (uint32_t)(((uint64_t)g_blocks[i].offset >> k) & 255u)) * 16777619u;
            }
            for (k = i; k > 0 && g_blocks[order[k - 1]].bytes < g_blocks[i].bytes; --k) {
                order[k] = order[k - 1];
            }
            order[k] = i;
        }
        count_ratio(&bySize, naive_first_fit(g_blocks, order, n, offset), bound);
    }
    print_totals("first fit by size", &bySize);
    print_totals("planner", &all);
    print_totals("  chains", &family[0]);
    print_totals("  near inputs", &family[1]);
    print_totals("  near and far inputs", &family[2]);
    print_totals("  random steps", &family[3]);
    assert_true(all.within5 >= 290);      /* more than 95 % */
    assert_true(all.sum <= 1.005 * 300);
    assert_true(all.worst <= 1.10);
    assert_true(family[0].atBound == 75); /* every chain */
    assert_true(bySize.within5 < 210);    /* the graphs are not easy */
    assert_int_equal(hash, 0x5f27076au);
}

/* 400 graphs of up to 7 blocks against the true optimum, which may be above the bound. */
static void test_tiny_graphs_optimal(void **state) {
    uint32_t id, optimal = 0;
    (void)state;
    for (id = 0; id < 400; ++id) {
        uint32_t n = 3 + id / 16 % 5;
        size_t bound, arena, optimum;
        random_graph(1000 + id, n);
        arena = plan(g_blocks, n, 1, &bound);
        optimum = exhaustive_optimum(g_blocks, n, bound);
        assert_true(arena >= optimum);
        optimal += arena == optimum;
    }
    print_message("    %u of 400 tiny graphs optimal\n", (unsigned)optimal);
    assert_int_equal(optimal, 400);
}

/* Large counts end in bounded time with a valid plan. The limits leave room for slow machines and sanitisers. */
static void test_large_counts(void **state) {
    static const uint32_t counts[3] = {1000, 3000, 6000};
    uint32_t c, f;
    (void)state;
    for (c = 0; c < (long_form() ? 3 : 2); ++c) {
        for (f = 0; f < 4; ++f) {
            uint32_t n = counts[c];
            size_t arena, bound, bytes = nnrt_plan_scratch(n);
            void *scratch = malloc(bytes);
            clock_t start;
            double seconds;
            assert_non_null(scratch);
            random_graph(12 + f, n);
            start = clock();
            assert_int_equal(nnrt_plan_arena(g_blocks, n, 1, scratch, &arena, &bound), NNRT_SUCCESS);
            seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
            print_message("    %5u blocks, family %u: %.4f of the lower bound, %6.1f ms\n", (unsigned)n, (unsigned)f,
                          (double)arena / (double)bound, seconds * 1e3);
            free(scratch);
            check_valid(g_blocks, n, 1, arena);
            assert_int_equal(bound, naive_bound(g_blocks, n, 1));
            assert_true(arena * 10 <= bound * 12);
            assert_true(seconds < (n == 1000 ? 2.0 : 11.0));
        }
    }
}

/* Orders g_blocks[0 .. n) by size, the larger first, of equals the one of the earlier first step, then of the lower number. */
static int by_size(const void *x, const void *y) {
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const nnrt_plan_block *p = &g_blocks[a], *q = &g_blocks[b];
    if (p->bytes != q->bytes) {
        return p->bytes > q->bytes ? -1 : 1;
    }
    return p->first != q->first ? (p->first < q->first ? -1 : 1) : a < b ? -1 : 1;
}

/* More blocks than are compared with all others: no plan is larger than first fit by size, the textbook's way, where few
 * blocks are live together, and where many are, no plan is much larger than the bound. A block is live with all others in
 * the last graph, which ends at the bound. */
static void test_many_blocks(void **state) {
    static uint32_t order[MAX_BLOCKS];
    static size_t offset[MAX_BLOCKS];
    const uint32_t n = 2500;
    uint32_t id, i;
    size_t bound;
    (void)state;
    for (id = 0; id < 8; ++id) {
        size_t arena;
        random_graph(id, n);
        arena = plan(g_blocks, n, 1, &bound);
        assert_true(arena * 10 <= bound * 11);
        if (id % 4 > 1) {
            continue;
        }
        for (i = 0; i < n; ++i) {
            order[i] = i;
        }
        qsort(order, n, sizeof order[0], by_size);
        assert_true(arena <= naive_first_fit(g_blocks, order, n, offset));
    }
    for (i = 0; i < n; ++i) {
        set_block(&g_blocks[i], 1 + draw(1000), (int32_t)i, (int32_t)n);
    }
    assert_true(plan(g_blocks, n, 1, &bound) == bound);
}

/* Seven operators, whose bound is 12, and after them blocks of 12 bytes that are live alone; then blocks of 6 bytes that are
 * live with the next one. */
static void test_many_blocks_by_hand(void **state) {
    const uint32_t n = 2048;
    size_t bound;
    uint32_t i;
    (void)state;
    set_seven(1);
    for (i = 7; i < n; ++i) {
        set_block(&g_blocks[i], 12, (int32_t)i, (int32_t)i);
    }
    assert_int_equal(plan(g_blocks, n, 1, &bound), 12);
    assert_int_equal(bound, 12);
    for (i = 7; i < n; ++i) {
        set_block(&g_blocks[i], i == 7 ? 1 : 6, (int32_t)i, (int32_t)i + 1);
    }
    assert_int_equal(plan(g_blocks, n, 1, &bound), 12);
}

/* ---- zero blocks, determinism, scratch ---- */

/* Blocks of 0 bytes leave the plan of the others as it is, whatever their steps. */
static void test_zero_sizes(void **state) {
    static nnrt_plan_block with[160];
    size_t arena = 1, bound = 1, arenaWith;
    uint32_t i;
    (void)state;
    random_graph(7, 80);
    arena = plan(g_blocks, 80, 16, &bound);
    for (i = 0; i < 80; ++i) {
        set_block(&with[2 * i], 0, (int32_t)draw(80), 80 + (int32_t)draw(80));
        set_block(&with[2 * i + 1], g_blocks[i].bytes, g_blocks[i].first, g_blocks[i].last);
    }
    arenaWith = plan(with, 160, 16, &bound);
    assert_int_equal(arenaWith, arena);
    for (i = 0; i < 80; ++i) {
        assert_int_equal(with[2 * i].offset, 0);
        assert_int_equal(with[2 * i + 1].offset, g_blocks[i].offset);
        with[i].bytes = 0;
    }
    assert_int_equal(plan(with, 80, 16, &bound), 0);
    assert_int_equal(bound, 0);
}

/* The result depends neither on what scratch held nor on earlier offsets nor on whether the bound is asked for. */
static void test_same_call_twice(void **state) {
    static nnrt_plan_block again[150];
    static uint64_t scratch[150 * 64 / 8];
    size_t arena, bound, arena2;
    (void)state;
    assert_true(nnrt_plan_scratch(150) <= sizeof scratch);
    random_graph(10, 150);
    memcpy(again, g_blocks, sizeof again);
    arena = plan(g_blocks, 150, 32, &bound);
    memset(scratch, 0xFF, sizeof scratch);
    again[3].offset = SIZE_MAX;
    assert_int_equal(nnrt_plan_arena(again, 150, 32, scratch, &arena2, NULL), NNRT_SUCCESS);
    assert_int_equal(arena2, arena);
    assert_memory_equal(again, g_blocks, sizeof again);
}

static void test_scratch_size(void **state) {
    uint32_t n;
    (void)state;
    assert_int_equal(nnrt_plan_scratch(0), 0);
    for (n = 1; n < 3000; ++n) {
        assert_true(nnrt_plan_scratch(n) > nnrt_plan_scratch(n - 1));
        assert_true(nnrt_plan_scratch(n) <= (size_t)(n <= 1024 ? 60 : 116) * n);
    }
    if (SIZE_MAX / 64 < UINT32_MAX) {
        assert_true(nnrt_plan_scratch(UINT32_MAX) == SIZE_MAX);
    } else {
        assert_true(nnrt_plan_scratch(UINT32_MAX / 4) / (UINT32_MAX / 4) >= nnrt_plan_scratch(1));
    }
}

/* ---- refusals ---- */

/* Expects rc, zero results and zero offsets. */
static void expect_refusal(uint32_t n, size_t alignment, void *scratch, NNRT_ReturnCode rc) {
    size_t arena = 77, bound = 77;
    uint32_t i;
    assert_int_equal(nnrt_plan_arena(g_blocks, n, alignment, scratch, &arena, &bound), rc);
    assert_int_equal(arena, 0);
    assert_int_equal(bound, 0);
    for (i = 0; i < n; ++i) {
        assert_int_equal(g_blocks[i].offset, 0);
    }
}

static void test_bad_arguments(void **state) {
    static uint64_t scratch[64];
    size_t arena = 77, bound = 77;
    int32_t i;
    (void)state;
    assert_true(nnrt_plan_scratch(4) + 8 <= sizeof scratch);
    for (i = 0; i < 4; ++i) {
        set_block(&g_blocks[i], 10, i, i + 1);
    }
    assert_int_equal(nnrt_plan_arena(NULL, 4, 64, scratch, &arena, &bound), NNRT_NULL_PTR);
    assert_true(arena == 0 && bound == 0);
    expect_refusal(4, 64, NULL, NNRT_NULL_PTR);
    assert_int_equal(nnrt_plan_arena(g_blocks, 4, 64, scratch, NULL, &bound), NNRT_NULL_PTR);
    expect_refusal(4, 0, scratch, NNRT_INVALID_PARAMETER);
    expect_refusal(4, 3, scratch, NNRT_INVALID_PARAMETER);
    expect_refusal(4, 48, scratch, NNRT_INVALID_PARAMETER);
    expect_refusal(4, SIZE_MAX, scratch, NNRT_INVALID_PARAMETER);
    expect_refusal(4, 64, (uint8_t *)scratch + 4, NNRT_INVALID_PARAMETER);
    set_block(&g_blocks[2], 10, 3, 2);
    expect_refusal(4, 64, scratch, NNRT_INVALID_PARAMETER);
    set_block(&g_blocks[2], 0, 3, 2); /* also if it takes no memory */
    expect_refusal(4, 64, scratch, NNRT_INVALID_PARAMETER);
    set_block(&g_blocks[2], 0, INT32_MAX, INT32_MIN);
    expect_refusal(4, 64, scratch, NNRT_INVALID_PARAMETER);
    arena = bound = 77;
    assert_int_equal(nnrt_plan_arena(NULL, 0, 64, NULL, &arena, &bound), NNRT_SUCCESS);
    assert_true(arena == 0 && bound == 0);
    assert_int_equal(nnrt_plan_arena(NULL, 0, 5, NULL, &arena, NULL), NNRT_INVALID_PARAMETER);
}

static void test_overflow(void **state) {
    static uint64_t scratch[1100 * 116 / 8 + 1];
    const size_t half = SIZE_MAX / 2 + 1;
    size_t bound, unit = SIZE_MAX / 12 - 1;
    uint32_t i;
    (void)state;
    set_block(&g_blocks[0], SIZE_MAX, 0, 0); /* the rounding overflows */
    expect_refusal(1, 64, scratch, NNRT_OUT_OF_MEMORY);
    set_block(&g_blocks[0], SIZE_MAX - 62, 0, 0);
    expect_refusal(1, 64, scratch, NNRT_OUT_OF_MEMORY);
    set_block(&g_blocks[0], SIZE_MAX - 63, 0, 0); /* a multiple of 64 */
    assert_true(plan(g_blocks, 1, 64, &bound) == SIZE_MAX - 63);
    set_block(&g_blocks[0], SIZE_MAX, 0, 0); /* nothing overflows, but SIZE_MAX itself is no arena */
    expect_refusal(1, 1, scratch, NNRT_OUT_OF_MEMORY);
    set_block(&g_blocks[0], 1, 0, 0);
    assert_true(plan(g_blocks, 1, half, &bound) == half);
    set_block(&g_blocks[0], half, 0, 1); /* the live sum overflows */
    set_block(&g_blocks[1], half, 1, 2);
    expect_refusal(2, 1, scratch, NNRT_OUT_OF_MEMORY);
    for (i = 0; i < 3; ++i) { /* the sum of all overflows, but they are never live together */
        set_block(&g_blocks[i], half, (int32_t)i, (int32_t)i);
    }
    assert_true(plan(g_blocks, 3, 1, &bound) == half);
    for (i = 0; i < 1100; ++i) { /* as many that the allocator plans them, all live, the last beyond size_t */
        set_block(&g_blocks[i], i < 1099 ? SIZE_MAX / 2048 : SIZE_MAX / 2, 0, 1);
    }
    expect_refusal(1100, 1, scratch, NNRT_OUT_OF_MEMORY);
    set_seven(unit); /* 15 units do not fit size_t, 12 do: a placement that overflows is dropped, others are tried */
    assert_true(plan(g_blocks, 7, 1, &bound) == 12 * unit);
    for (i = 7; i < 1100; ++i) { /* the same among many */
        set_block(&g_blocks[i], unit, (int32_t)i, (int32_t)i);
    }
    assert_true(plan(g_blocks, 1100, 1, &bound) == 12 * unit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seven_operators),
        cmocka_unit_test(test_small_cases),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_residual_blocks),
        cmocka_unit_test(test_unet),
        cmocka_unit_test(test_inception),
        cmocka_unit_test(test_dense_block),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_tiny_graphs_optimal),
        cmocka_unit_test(test_large_counts),
        cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_many_blocks_by_hand),
        cmocka_unit_test(test_zero_sizes),
        cmocka_unit_test(test_same_call_twice),
        cmocka_unit_test(test_scratch_size),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests_name("planner", tests, NULL, NULL);
}
