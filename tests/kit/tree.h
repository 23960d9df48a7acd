/* Models with subgraphs, as data. A test includes the header under test, cmocka.h, and then this. */
#ifndef TREE_H
#define TREE_H

#include "kit.h"

#define I64 NNRT_DATA_TYPE_INT64
#define BOOL NNRT_DATA_TYPE_BOOL
#define MOST_GRAPHS 24

/* A graph with subgraphs. */
typedef struct tree {
    graph g;
    NNRT_SubGraph graphs[MOST_GRAPHS];
    uint32_t in[MOST_GRAPHS][8], out[MOST_GRAPHS][8], nodes[MOST_GRAPHS][MAX_NODES];
    NNRT_If ifs[MOST_GRAPHS];
    NNRT_Loop loops[MOST_GRAPHS];
} tree;

static inline void tree_init(tree *t)
{
    memset(t, 0, sizeof(*t));
    graph_init(&t->g);
    t->g.model.subGraph = NNRT_SubGraphList_make(t->graphs, 1);
    t->graphs[0].name = "main";
}

/* Subgraph of the nodes in a list; 0 is the main one. */
static inline void graph_of(tree *t, uint32_t i, const char *in, const char *out, const char *nodes)
{
    NNRT_SubGraph *s = &t->graphs[i];
    if (t->g.model.subGraph.count <= i)
        t->g.model.subGraph.count = i + 1;
    s->inputIndices = NNRT_Uint32List_make(t->in[i], parse_indices(in, t->in[i]));
    s->outputIndices = NNRT_Uint32List_make(t->out[i], parse_indices(out, t->out[i]));
    s->nodeIndices = NNRT_Uint32List_make(t->nodes[i], parse_indices(nodes, t->nodes[i]));
}

static inline uint32_t if_node(tree *t, const char *name, uint32_t yes, uint32_t no, const char *in, const char *out)
{
    t->ifs[yes].thenGraph = yes;
    t->ifs[yes].elseGraph = no;
    return node(&t->g, name, NNRT_NODE_TYPE_IF, &t->ifs[yes], sizeof(t->ifs[yes]), in, out);
}

static inline uint32_t loop_node(tree *t, const char *name, uint32_t body, const char *in, const char *out)
{
    t->loops[body].body = body;
    return node(&t->g, name, NNRT_NODE_TYPE_LOOP, &t->loops[body], sizeof(t->loops[body]), in, out);
}

/* y = cond ? x + x : |x|, both branches use x of the outer graph, and their results have equal names. */
static inline void branches(tree *t)
{
    tree_init(t);
    (void)tensor(&t->g, "cond", BOOL, "");
    (void)tensor(&t->g, "x", F32, "3");
    (void)result(&t->g, "y");
    (void)result(&t->g, "r"); /* of the then-graph */
    (void)result(&t->g, "r"); /* of the else-graph */
    (void)if_node(t, "if", 1, 2, "0", "2");
    (void)ADD(&t->g, "twice", "1 1", "3");
    (void)ACTIVATION(&t->g, "abs", absolute, "1", "4");
    graph_of(t, 0, "0 1", "2", "0");
    graph_of(t, 1, "", "3", "1");
    graph_of(t, 2, "", "4", "2");
    graph_io(&t->g, "0 1", "2");
}

/* Fibonacci: (a, b) becomes (b, a + b), trips times; a is scanned. The body returns an input as another one. */
static inline void fibonacci(tree *t)
{
    static const float zero[1] = {0}, one[1] = {1};
    tree_init(t);
    (void)tensor(&t->g, "trips", I64, "");                       /* 0 */
    (void)constant(&t->g, "zero", F32, "1", zero, sizeof(zero)); /* 1 */
    (void)constant(&t->g, "one", F32, "1", one, sizeof(one));    /* 2 */
    (void)result(&t->g, "last");                                 /* 3 */
    (void)result(&t->g, "next");                                 /* 4 */
    (void)result(&t->g, "all");                                  /* 5 */
    (void)tensor(&t->g, "i", I64, "");                           /* 6, of the body */
    (void)tensor(&t->g, "go", BOOL, "");                         /* 7 */
    (void)result(&t->g, "a");                                    /* 8 */
    (void)result(&t->g, "b");                                    /* 9 */
    (void)result(&t->g, "sum");                                  /* 10 */
    (void)loop_node(t, "loop", 1, "0 - 1 2", "3 4 5");
    (void)ADD(&t->g, "add", "8 9", "10");
    graph_of(t, 0, "0", "3 4 5", "0");
    graph_of(t, 1, "6 7 8 9", "7 9 10 8", "1");
    graph_io(&t->g, "0", "3 4 5");
}

#endif
