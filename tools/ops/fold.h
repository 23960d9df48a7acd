/*
fold.h - specializes the functions of a copy (copy.h) by constant propagation. Part of tools/nnrt.c.

Kernels of nnrt_ops.h share functions with a parameter for the element type, an activation, or a function to apply. In
the copy of one kernel most of these parameters have one value at every call. Each round
  1. finds the parameters that have the same constant in all calls, or that the function does not use (cli_fold_calls),
  2. removes them from the function and from its calls, and folds the conditions that become constant: if, switch,
     ?:, &&, ||, == and local constants (cli_fold_statement, cli_fold_expression),
until nothing changes. Then functions that no call reaches are not part of the copy. In a copy for one element type,
`view->dataType` is a constant, too: of every view, or if some operands have other types (indices, derived constants), of
the parameters that are the other operands in all calls.

The functions work on tokens, not on a syntax tree: an expression that is none of the above is copied.
*/
#ifndef NNRT_TOOL_FOLD_H
#define NNRT_TOOL_FOLD_H

#include "copy_items.h"

#define CLI_FOLD_PARAMS 24
#define CLI_FOLD_ROUNDS 12
#define CLI_FOLD_KNOWN 64

/* The parameter names in a function's head. */
static size_t cli_fold_parameters(const cli_tokens *list, cli_text *names);

/* A function whose calls are all known. */
typedef struct cli_fold_function {
    cli_text name, params[CLI_FOLD_PARAMS];
    size_t item, count;
    uint32_t typed; /* cli_item.typed, by the calls so far */
    bool kept[CLI_FOLD_PARAMS], bound[CLI_FOLD_PARAMS], fixed; /* fixed: asked for, or used without a call */
    cli_token value[CLI_FOLD_PARAMS]; /* the constant of all calls so far; kind 0: no call yet */
} cli_fold_function;

typedef struct cli_fold {
    cli_copy *c;
    cli_fold_function *functions;
    size_t functionCount;
    const char *type;        /* the type of all views, or of the typed ones, as an enumerator; NULL: types differ */
    bool all;                /* of all views */
    bool floats, inFloat;    /* of all views whose elements nnrti_load and nnrti_store take; in such a call */
    cli_text typed[CLI_FOLD_PARAMS]; /* the parameters of the current function that are views of this type */
    size_t typedCount;
    const char *activations; /* the activations that stay, "RELU,RELU6"; NULL: all */
    const cli_token *t;
    cli_tokens out;
    struct {
        cli_text name;
        cli_token value;
    } known[CLI_FOLD_KNOWN];
    size_t knownCount;
    bool ended; /* the statement before cannot be left downwards: return, break, continue */
    bool changed; /* cli_item.typed of a function */
} cli_fold;

static bool cli_fold_is(const cli_fold *f, size_t i, const char *text)
{
    return cli_text_is(f->t[i].text, text);
}

static bool cli_fold_pair(const cli_fold *f, size_t i, size_t end, const char *two)
{
    return i + 1 < end && *f->t[i].text.at == two[0] && *f->t[i + 1].text.at == two[1] && !f->t[i + 1].space &&
           f->t[i].text.n == 1 && f->t[i + 1].text.n == 1;
}

static int cli_fold_depth(const cli_token *t)
{
    return t->kind != '.' || t->text.n != 1     ? 0
           : strchr("([{", *t->text.at) != NULL ? 1
           : strchr(")]}", *t->text.at) != NULL ? -1
                                                : 0;
}

/* The tokens of an item whose brackets match: the functions below rely on it. Fails otherwise. */
static cli_tokens cli_fold_checked(cli_copy *c, cli_tokens list)
{
    int depth = 0;
    for (size_t i = 0; i < list.count && depth >= 0; i++)
        depth += cli_fold_depth(&list.data[i]);
    if (depth != 0 && !c->failed) {
        cli_fail("the header is damaged: the brackets of a function do not match");
        c->failed = true;
    }
    if (c->failed)
        list.count = 0;
    return list;
}

static cli_tokens cli_fold_tokens(cli_copy *c, const cli_item *item)
{
    return cli_fold_checked(c, cli_copy_tokens(c, item->code));
}

/* The index of the bracket that closes the one at i. */
static size_t cli_fold_match(const cli_token *t, size_t i)
{
    int depth = 0;
    for (;; i++) {
        depth += cli_fold_depth(&t[i]);
        if (depth == 0)
            return i;
    }
}

/* The first operator `op` of one or two characters outside of brackets, end if there is none. A single character that
   is part of ==, !=, <=, >=, &&, || or -> is not found. */
static size_t cli_fold_find(const cli_fold *f, size_t i, size_t end, const char *op)
{
    for (; i < end; i++) {
        if (cli_fold_depth(&f->t[i]) > 0)
            i = cli_fold_match(f->t, i);
        else if (op[1] != '\0' ? cli_fold_pair(f, i, end, op) : cli_fold_is(f, i, op))
            return i;
    }
    return end;
}

/* The = of an assignment or initialization outside of brackets. */
static size_t cli_fold_assign(const cli_fold *f, size_t i, size_t end)
{
    const size_t from = i;
    for (; (i = cli_fold_find(f, i, end, "=")) < end; i++) {
        const char last = i > from && !f->t[i].space && f->t[i - 1].kind == '.' ? *f->t[i - 1].text.at : ' ';
        if (cli_fold_pair(f, i, end, "=="))
            i++;
        else if (strchr("!=", last) == NULL &&
                 (strchr("<>", last) == NULL || (i > from + 1 && cli_fold_is(f, i - 2, last == '<' ? "<" : ">"))))
            return i;
    }
    return end;
}

/* The function that a token names, NULL if there is none. */
static const cli_item *cli_fold_named(const cli_copy *c, const cli_token *t)
{
    char name[80];
    if (t->text.n >= sizeof(name))
        return NULL;
    memcpy(name, t->text.at, t->text.n);
    name[t->text.n] = '\0';
    return cli_copy_function(c, name);
}

/* True for a token that is a constant: an enumerator, true, false, NULL, a function. */
static bool cli_fold_constant(const cli_copy *c, const cli_token *t)
{
    bool capital = t->kind == 'a' && t->text.n > 5 && memcmp(t->text.at, "NNRT_", 5) == 0;
    for (size_t i = 0; capital && i < t->text.n; i++)
        capital = !(t->text.at[i] >= 'a' && t->text.at[i] <= 'z');
    return t->kind == 'a' && (capital || cli_text_is(t->text, "true") || cli_text_is(t->text, "false") ||
                              cli_text_is(t->text, "NULL") || cli_fold_named(c, t) != NULL);
}

static void cli_fold_put(cli_fold *f, const cli_token *t)
{
    cli_copy_push(f->c, &f->out, t);
}

static void cli_fold_text(cli_fold *f, const char *text, const cli_token *like)
{
    cli_token t = *like;
    t.kind = cli_copy_letter(*text) ? 'a' : '.';
    t.text = cli_text_of(text);
    cli_fold_put(f, &t);
}

static const cli_token *cli_fold_value(const cli_fold *f, const cli_token *t)
{
    for (size_t i = f->knownCount; t->kind == 'a' && i-- > 0;)
        if (cli_text_same(f->known[i].name, t->text))
            return &f->known[i].value;
    return NULL;
}

static void cli_fold_know(cli_fold *f, cli_text name, const cli_token *value)
{
    if (f->knownCount == CLI_FOLD_KNOWN)
        return;
    f->known[f->knownCount].name = name;
    f->known[f->knownCount++].value = *value;
}

static cli_fold_function *cli_fold_called(const cli_fold *f, cli_text name)
{
    for (size_t i = 0; i < f->functionCount; i++)
        if (cli_text_same(f->functions[i].name, name))
            return &f->functions[i];
    return NULL;
}

static bool cli_fold_expression(cli_fold *f, size_t i, size_t end);

/* The comma-separated list i..end; drop: the function whose removed arguments are left out. */
static void cli_fold_list(cli_fold *f, size_t i, size_t end, const cli_fold_function *drop)
{
    bool some = false;
    for (size_t k = 0; i < end; k++) {
        const size_t comma = cli_fold_find(f, i, end, ",");
        if (drop == NULL || k >= drop->count || drop->kept[k]) {
            const size_t first = f->out.count;
            if (some)
                cli_fold_text(f, ",", &f->t[i]);
            if (some && f->out.count > first)
                f->out.data[first].space = f->out.data[first].line = false;
            (void)cli_fold_expression(f, i, comma);
            some = true;
        }
        i = comma + 1;
    }
}

/* nnrt_type_size(type) at i..end becomes sizeof(float), if the type is known. */
static bool cli_fold_size(cli_fold *f, size_t i, size_t end)
{
    static const cli_copy_pair sizes[] = {
        {"BOOL", "uint8_t"},    {"INT8", "int8_t"},      {"INT16", "int16_t"},    {"INT32", "int32_t"},
        {"INT64", "int64_t"},   {"UINT8", "uint8_t"},    {"UINT16", "uint16_t"},  {"UINT32", "uint32_t"},
        {"UINT64", "uint64_t"}, {"FLOAT16", "uint16_t"}, {"FLOAT32", "float"},    {"FLOAT64", "double"}};
    static const char prefix[] = "NNRT_DATA_TYPE_";
    const size_t start = f->out.count;
    if (cli_fold_expression(f, i + 2, end - 1) && f->out.data[start].text.n > sizeof(prefix) - 1)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
            if (cli_text_is(cli_text_between(f->out.data[start].text.at + sizeof(prefix) - 1,
                                             f->out.data[start].text.at + f->out.data[start].text.n),
                            sizes[k].name)) {
                f->out.count = start;
                cli_fold_text(f, "sizeof", &f->t[i]);
                cli_fold_text(f, "(", &f->t[i + 1]);
                cli_fold_text(f, sizes[k].what, &f->t[i + 2]);
                cli_fold_text(f, ")", &f->t[end - 1]);
                return true;
            }
    f->out.count = start;
    return false;
}

/* An expression that is no operator to fold, token by token, folded within its brackets. */
static void cli_fold_opaque(cli_fold *f, size_t i, size_t end)
{
    const size_t begin = i;
    for (; i < end; i++) {
        const cli_token *t = &f->t[i];
        const bool member =
            i > begin && (cli_fold_is(f, i - 1, ".") || (i > begin + 1 && cli_fold_pair(f, i - 2, end, "->")));
        const cli_token *value = member ? NULL : cli_fold_value(f, t);
        if (cli_fold_is(f, i, "nnrt_type_size") && i + 1 < end && cli_fold_is(f, i + 1, "(") &&
            cli_fold_size(f, i, cli_fold_match(f->t, i + 1) + 1)) {
            i = cli_fold_match(f->t, i + 1);
        } else if (value != NULL) {
            cli_token v = *value;
            v.space = t->space;
            v.line = t->line;
            cli_fold_put(f, &v);
        } else if (cli_fold_depth(t) > 0) {
            const size_t close = cli_fold_match(f->t, i), first = f->out.count;
            const cli_token *before = first > 0 ? &f->out.data[first - 1] : NULL;
            const bool call = i > begin && before != NULL && before->kind == 'a';
            const bool outside = f->inFloat;
            if (call)
                f->inFloat = f->floats && (cli_text_is(before->text, "nnrti_load") || cli_text_is(before->text, "nnrti_store"));
            cli_fold_put(f, t);
            cli_fold_list(f, i + 1, close, call ? cli_fold_called(f, f->t[i - 1].text) : NULL);
            f->inFloat = outside;
            if (!call && f->out.count == first + 2 && cli_fold_constant(f->c, &f->out.data[first + 1]) &&
                cli_fold_is(f, i, "(")) {
                f->out.data[first + 1].space = t->space;
                f->out.data[first] = f->out.data[first + 1];
                f->out.count--;
            } else {
                cli_fold_put(f, &f->t[close]);
            }
            i = close;
        } else {
            cli_fold_put(f, t);
        }
    }
}

/* True for the name of a parameter that is a view of the element type of the copy. */
static bool cli_fold_is_typed(const cli_fold *f, const cli_token *t)
{
    for (size_t i = 0; i < f->typedCount; i++)
        if (cli_text_same(f->typed[i], t->text))
            return true;
    return false;
}

/* True if i..end is `path->dataType` of some view. */
static bool cli_fold_view_type(const cli_fold *f, size_t i, size_t end)
{
    if (f->type == NULL || end - i < 3 || !cli_fold_is(f, end - 1, "dataType") ||
        !(cli_fold_is(f, end - 2, ".") || cli_fold_pair(f, end - 3, end, "->")))
        return false;
    if (!f->all && !f->inFloat)
        return end - i == 4 && cli_fold_is_typed(f, &f->t[i]);
    for (; i < end; i++) {
        if (cli_fold_is(f, i, "["))
            i = cli_fold_match(f->t, i);
        else if (f->t[i].kind != 'a' && strchr(".->", *f->t[i].text.at) == NULL)
            return false;
    }
    return true;
}

/* 1 true, 0 false, -1 unknown: the condition that out has from `first` on. */
static int cli_fold_truth(const cli_fold *f, size_t first)
{
    const cli_token *t = &f->out.data[first];
    return f->out.count != first + 1       ? -1
           : cli_text_is(t->text, "true")  ? 1
           : cli_text_is(t->text, "false") ? 0
           : cli_text_is(t->text, "NULL")  ? 0
                                           : -1;
}

/* a && b, or a || b. */
static bool cli_fold_logic(cli_fold *f, size_t i, size_t end, const char *op)
{
    const int decides = *op == '|';
    const size_t begin = i, start = f->out.count;
    bool some = false;
    while (i < end) {
        const size_t next = cli_fold_find(f, i, end, op), first = f->out.count;
        int truth;
        if (some) {
            cli_fold_put(f, &f->t[i - 2]);
            cli_fold_put(f, &f->t[i - 1]);
        }
        (void)cli_fold_expression(f, i, next);
        truth = cli_fold_truth(f, first + (some ? 2 : 0));
        if (truth >= 0)
            f->out.count = first;
        if (truth == decides) {
            f->out.count = start; /* conditions have no effects */
            cli_fold_text(f, decides ? "true" : "false", &f->t[begin]);
            return true;
        }
        some = some || truth < 0;
        i = next + 2;
    }
    if (!some)
        cli_fold_text(f, decides ? "false" : "true", &f->t[begin]);
    return !some;
}

/* True for the enumerator of an activation that the copy leaves out. */
static bool cli_fold_left_out(const cli_fold *f, const cli_token *t)
{
    static const char prefix[] = "NNRT_ACTIVATION_TYPE_";
    const size_t n = sizeof(prefix) - 1;
    if (f->activations == NULL || t->kind != 'a' || t->text.n <= n || memcmp(t->text.at, prefix, n) != 0)
        return false;
    for (const char *p = f->activations; *p != '\0'; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == t->text.n - n && memcmp(p, t->text.at + n, t->text.n - n) == 0)
            return false;
    return true;
}

/* a == b, or a != b. */
static bool cli_fold_equal(cli_fold *f, size_t i, size_t at, size_t end)
{
    const size_t start = f->out.count;
    const bool equal = cli_fold_is(f, at, "="), left = cli_fold_expression(f, i, at);
    size_t middle;
    cli_fold_put(f, &f->t[at]);
    cli_fold_put(f, &f->t[at + 1]);
    middle = f->out.count;
    if (!cli_fold_expression(f, at + 2, end))
        return false;
    if (!left && !cli_fold_left_out(f, &f->out.data[middle]))
        return false;
    f->out.count = start;
    cli_fold_text(f, cli_text_same(f->out.data[start].text, f->out.data[middle].text) == equal ? "true" : "false",
                  &f->t[i]);
    return true;
}

static bool cli_fold_choice(cli_fold *f, size_t i, size_t at, size_t end)
{
    const size_t start = f->out.count;
    size_t colon = at + 1;
    int truth;
    for (int depth = 0; colon < end && (depth > 0 || !cli_fold_is(f, colon, ":")); colon++) {
        if (cli_fold_depth(&f->t[colon]) > 0)
            colon = cli_fold_match(f->t, colon);
        depth += cli_fold_is(f, colon, "?");
        depth -= cli_fold_is(f, colon, ":");
    }
    (void)cli_fold_expression(f, i, at);
    truth = cli_fold_truth(f, start);
    if (truth >= 0) {
        f->out.count = start;
        return truth ? cli_fold_expression(f, at + 1, colon) : cli_fold_expression(f, colon + 1, end);
    }
    cli_fold_put(f, &f->t[at]);
    (void)cli_fold_expression(f, at + 1, colon);
    cli_fold_put(f, &f->t[colon]);
    (void)cli_fold_expression(f, colon + 1, end);
    return false;
}

static bool cli_fold_operator(cli_fold *f, size_t i, size_t end)
{
    size_t at;
    if ((at = cli_fold_assign(f, i, end)) < end) {
        cli_fold_opaque(f, i, at + 1);
        (void)cli_fold_expression(f, at + 1, end);
        return false;
    }
    if ((at = cli_fold_find(f, i, end, "?")) < end)
        return cli_fold_choice(f, i, at, end);
    if (cli_fold_find(f, i, end, "||") < end)
        return cli_fold_logic(f, i, end, "||");
    if (cli_fold_find(f, i, end, "&&") < end)
        return cli_fold_logic(f, i, end, "&&");
    at = cli_fold_find(f, i, end, "==");
    at = at < end ? at : cli_fold_find(f, i, end, "!=");
    if (at < end && cli_fold_find(f, i, end, "&") == end && cli_fold_find(f, i, end, "|") == end)
        return cli_fold_equal(f, i, at, end);
    if (cli_fold_is(f, i, "!") && end - i == 2 && cli_fold_value(f, &f->t[i + 1]) != NULL) {
        const cli_token *value = cli_fold_value(f, &f->t[i + 1]);
        cli_fold_text(f, cli_text_is(value->text, "true") ? "false" : "true", &f->t[i]);
        return true;
    }
    if (cli_fold_view_type(f, i, end)) {
        cli_fold_text(f, f->type, &f->t[i]);
        return true;
    }
    if (cli_fold_is(f, i, "(") && cli_fold_match(f->t, i) == end - 1) {
        const size_t start = f->out.count;
        if (cli_fold_expression(f, i + 1, end - 1))
            return true;
        f->out.count = start;
    }
    at = f->out.count;
    cli_fold_opaque(f, i, end);
    return f->out.count == at + 1 && cli_fold_constant(f->c, &f->out.data[at]);
}

/* Appends the expression i..end, folded. True: it is one token, a constant. */
static bool cli_fold_expression(cli_fold *f, size_t i, size_t end)
{
    const size_t start = f->out.count;
    bool constant;
    if (i >= end || f->c->failed)
        return false;
    if (cli_fold_find(f, i, end, ",") < end) {
        cli_fold_list(f, i, end, NULL);
        return false;
    }
    constant = cli_fold_operator(f, i, end);
    if (f->out.count > start) {
        f->out.data[start].space = f->t[i].space;
        f->out.data[start].line = f->t[i].line;
    }
    return constant;
}

static size_t cli_fold_remarks(const cli_fold *f, size_t i)
{
    while (f->t[i].kind == '/')
        i++;
    return i;
}

/* The end of the statement at i. */
static size_t cli_fold_end(const cli_fold *f, size_t i)
{
    i = cli_fold_remarks(f, i);
    if (cli_fold_is(f, i, "}")) /* comments at the end of a block */
        return i;
    if (cli_fold_is(f, i, "{"))
        return cli_fold_match(f->t, i) + 1;
    if (cli_fold_is(f, i, "if")) {
        const size_t end = cli_fold_end(f, cli_fold_match(f->t, i + 1) + 1), next = cli_fold_remarks(f, end);
        return cli_fold_is(f, next, "else") ? cli_fold_end(f, next + 1) : end;
    }
    if (cli_fold_is(f, i, "for") || cli_fold_is(f, i, "while") || cli_fold_is(f, i, "switch"))
        return cli_fold_end(f, cli_fold_match(f->t, i + 1) + 1);
    if (cli_fold_is(f, i, "do"))
        return cli_fold_match(f->t, cli_fold_end(f, i + 1) + 1) + 2;
    for (; !cli_fold_is(f, i, ";"); i++) {
        if (cli_fold_is(f, i, ":") && (cli_fold_is(f, i - 1, "default") || cli_fold_is(f, i - 2, "case")))
            break;
        if (cli_fold_depth(&f->t[i]) < 0) /* a macro that is a statement */
            return i;
        if (cli_fold_depth(&f->t[i]) > 0)
            i = cli_fold_match(f->t, i);
    }
    return i + 1;
}

static size_t cli_fold_statement(cli_fold *f, size_t i, bool inBlock);
static void cli_fold_block(cli_fold *f, size_t i);

/* True if the block at i declares a name. */
static bool cli_fold_declares(const cli_fold *f, size_t i)
{
    const size_t end = cli_fold_match(f->t, i);
    for (i++; i < end; i = cli_fold_end(f, i)) {
        const cli_token *t = &f->t[cli_fold_remarks(f, i)];
        if (t->kind == 'a' && !cli_text_is(t->text, "return") && !cli_text_is(t->text, "case") &&
            !cli_text_is(t->text, "do") && (t[1].kind == 'a' || (cli_text_is(t[1].text, "*") && t[2].kind == 'a')))
            return true;
    }
    return false;
}

/* A statement whose condition is always true. */
static void cli_fold_taken(cli_fold *f, size_t i, bool inBlock, const cli_token *like)
{
    const size_t start = f->out.count, first = cli_fold_remarks(f, i);
    f->ended = false;
    if (inBlock && cli_fold_is(f, first, "{") && !cli_fold_declares(f, first)) {
        const size_t end = cli_fold_match(f->t, first);
        for (i = first + 1; i < end;)
            i = cli_fold_statement(f, i, true);
    } else {
        const bool braces = !inBlock && cli_fold_is(f, first, "if");
        if (braces)
            cli_fold_text(f, "{", like);
        (void)cli_fold_statement(f, i, inBlock || braces);
        if (braces)
            cli_fold_text(f, "}", like);
    }
    if (f->out.count > start) {
        f->out.data[start].line = like->line;
        f->out.data[start].space = true;
    }
}

static size_t cli_fold_if(cli_fold *f, size_t i, bool inBlock)
{
    const size_t start = f->out.count, close = cli_fold_match(f->t, i + 1), end = cli_fold_end(f, close + 1);
    const size_t next = cli_fold_remarks(f, end), last = cli_fold_end(f, i);
    int truth;
    bool ended;
    cli_fold_put(f, &f->t[i]);
    cli_fold_put(f, &f->t[i + 1]);
    (void)cli_fold_expression(f, i + 2, close);
    truth = cli_fold_truth(f, start + 2);
    if (truth >= 0) {
        f->out.count = start;
        f->ended = false;
        if (truth)
            cli_fold_taken(f, close + 1, inBlock, &f->t[i]);
        else if (last > end)
            cli_fold_taken(f, next + 1, inBlock, &f->t[i]);
        else if (!inBlock)
            cli_fold_text(f, ";", &f->t[i]);
        return last;
    }
    cli_fold_put(f, &f->t[close]);
    (void)cli_fold_statement(f, close + 1, false);
    ended = f->ended;
    f->ended = false;
    if (last > end) {
        const size_t before = f->out.count;
        cli_fold_put(f, &f->t[next]);
        (void)cli_fold_statement(f, next + 1, false);
        if (f->out.count == before + 2 && cli_text_is(f->out.data[before + 1].text, ";"))
            f->out.count = before; /* else; */
        else
            ended = ended && f->ended;
        f->ended = ended;
    }
    return last;
}

/* True if i..end has a break that leaves the switch around it. */
static bool cli_fold_breaks(const cli_fold *f, size_t i, size_t end)
{
    for (; i < end; i++) {
        if (cli_fold_is(f, i, "for") || cli_fold_is(f, i, "while") || cli_fold_is(f, i, "do") ||
            cli_fold_is(f, i, "switch"))
            i = cli_fold_end(f, i) - 1;
        else if (cli_fold_is(f, i, "break"))
            return true;
    }
    return false;
}

/* The case of a switch over a constant; false if its statements cannot stand alone. */
static bool cli_fold_case(cli_fold *f, const cli_token *value, size_t open, bool inBlock, const cli_token *like)
{
    const size_t close = cli_fold_match(f->t, open);
    size_t at = 0, last, i;
    for (i = open + 1; i < close; i = cli_fold_end(f, i)) {
        const size_t k = cli_fold_remarks(f, i);
        if (cli_fold_is(f, k, "case") && cli_text_same(f->t[k + 1].text, value->text) && cli_fold_is(f, k + 2, ":"))
            at = k + 3;
        else if (cli_fold_is(f, k, "default") && at == 0)
            at = k + 2;
        else
            continue;
        if (!cli_fold_is(f, k, "default"))
            break;
    }
    if (at == 0)
        return false;
    while (cli_fold_is(f, cli_fold_remarks(f, at), "case") || cli_fold_is(f, cli_fold_remarks(f, at), "default"))
        at = cli_fold_end(f, at);
    for (last = i = at; i < close; i = cli_fold_end(f, i)) {
        last = cli_fold_remarks(f, i);
        if (last >= close || cli_fold_is(f, last, "break") || cli_fold_is(f, last, "return") ||
            cli_fold_is(f, last, "case") || cli_fold_is(f, last, "default"))
            break;
    }
    if (i >= close)
        last = close;
    else if (cli_fold_is(f, last, "return"))
        last = cli_fold_end(f, last);
    else if (!cli_fold_is(f, last, "break"))
        return false;
    if (cli_fold_breaks(f, at, last))
        return false;
    if (!inBlock)
        cli_fold_text(f, "{", like);
    for (i = at, f->ended = false; i < last;)
        i = cli_fold_statement(f, i, true);
    if (!inBlock)
        cli_fold_text(f, "}", like);
    return true;
}

static size_t cli_fold_switch(cli_fold *f, size_t i, bool inBlock)
{
    const size_t start = f->out.count, close = cli_fold_match(f->t, i + 1), end = cli_fold_end(f, i);
    bool constant;
    cli_fold_put(f, &f->t[i]);
    cli_fold_put(f, &f->t[i + 1]);
    constant = cli_fold_expression(f, i + 2, close);
    if (constant && cli_fold_is(f, close + 1, "{")) {
        const cli_token value = f->out.data[start + 2];
        f->out.count = start;
        if (cli_fold_case(f, &value, close + 1, inBlock, &f->t[i]))
            return end;
        f->out.count = start;
        cli_fold_put(f, &f->t[i]);
        cli_fold_put(f, &f->t[i + 1]);
        cli_fold_put(f, &value);
    }
    cli_fold_put(f, &f->t[close]);
    f->ended = true; /* until the first label */
    cli_fold_block(f, close + 1);
    f->ended = false;
    return end;
}

/* The statements between the { at i and its }. */
static void cli_fold_block(cli_fold *f, size_t i)
{
    const size_t close = cli_fold_match(f->t, i);
    cli_fold_put(f, &f->t[i++]);
    while (i < close)
        i = cli_fold_statement(f, i, true);
    cli_fold_put(f, &f->t[close]);
}

/* "const T name = constant;" is remembered, not printed. */
static bool cli_fold_local(cli_fold *f, size_t i, size_t end)
{
    const size_t start = f->out.count;
    if (end - i < 6 || !cli_fold_is(f, i, "const") || f->t[i + 1].kind != 'a' || f->t[i + 2].kind != 'a' ||
        !cli_fold_is(f, i + 3, "=") || cli_fold_find(f, i, end, ",") < end)
        return false;
    if (cli_fold_expression(f, i + 4, end - 1))
        cli_fold_know(f, f->t[i + 2].text, &f->out.data[start]);
    else
        i = end;
    f->out.count = start;
    return i < end;
}

/* Appends the statement at i, folded; returns its end. inBlock: it may become none or several statements. */
static size_t cli_fold_statement(cli_fold *f, size_t i, bool inBlock)
{
    size_t end = cli_fold_end(f, i);
    const size_t comments = i;
    bool dead = f->ended && inBlock;
    i = cli_fold_remarks(f, i);
    dead = dead && !(f->t[i].text.n > 5 && memcmp(f->t[i].text.at, "NNRTI_", 6) == 0); /* a macro may have labels */
    if (dead && !cli_fold_is(f, i, "case") && !cli_fold_is(f, i, "default"))
        return end;
    for (size_t k = comments; k < i; k++)
        cli_fold_put(f, &f->t[k]);
    if (inBlock && cli_fold_is(f, i, "}"))
        return i;
    f->ended = false;
    if (cli_fold_is(f, i, "if"))
        return cli_fold_if(f, i, inBlock);
    if (cli_fold_is(f, i, "switch"))
        return cli_fold_switch(f, i, inBlock);
    if (cli_fold_is(f, i, "case") && cli_fold_left_out(f, &f->t[i + 1])) {
        f->ended = dead; /* without a label before it, what follows is not reached */
        return end;
    }
    if (cli_fold_is(f, i, "{")) {
        cli_fold_block(f, i);
        return end;
    }
    if (cli_fold_is(f, i, "for") || cli_fold_is(f, i, "while")) {
        const size_t close = cli_fold_match(f->t, i + 1);
        cli_fold_put(f, &f->t[i]);
        cli_fold_put(f, &f->t[i + 1]);
        for (i += 2; i < close; i++) {
            const size_t part = cli_fold_find(f, i, close, ";");
            (void)cli_fold_expression(f, i, part);
            if (part < close)
                cli_fold_put(f, &f->t[part]);
            i = part;
        }
        cli_fold_put(f, &f->t[close]);
        (void)cli_fold_statement(f, close + 1, false);
        f->ended = false;
        return end;
    }
    if (cli_fold_is(f, i, "do")) {
        cli_fold_put(f, &f->t[i]);
        i = cli_fold_statement(f, i + 1, false);
        f->ended = false;
        cli_fold_put(f, &f->t[i]);
        cli_fold_opaque(f, i + 1, end);
        return end;
    }
    if (inBlock && (cli_fold_local(f, i, end) ||
                    (end - i == 5 && cli_fold_is(f, i + 1, "void") && cli_fold_value(f, &f->t[i + 3]) != NULL)))
        return end;
    f->ended = cli_fold_is(f, i, "return") || cli_fold_is(f, i, "break") || cli_fold_is(f, i, "continue");
    if (cli_fold_is(f, i, "return"))
        cli_fold_put(f, &f->t[i++]);
    if (cli_fold_find(f, i, end, ";") == end - 1) {
        (void)cli_fold_expression(f, i, end - 1);
        cli_fold_put(f, &f->t[end - 1]);
    } else {
        cli_fold_opaque(f, i, end);
    }
    return end;
}

/* True if the name occurs in t[i..end). */
static bool cli_fold_uses(const cli_token *t, size_t i, size_t end, cli_text name)
{
    for (; i < end; i++)
        if (t[i].kind == 'a' && cli_text_same(t[i].text, name) &&
            !(i > 0 && (cli_text_is(t[i - 1].text, ".") || (i > 1 && cli_text_is(t[i - 1].text, ">") &&
                                                            cli_text_is(t[i - 2].text, "-") && !t[i - 1].space))))
            return true;
    return false;
}

/* True if a statement may change the name or take its address. */
static bool cli_fold_changes(const cli_tokens *list, cli_text name)
{
    for (size_t i = 1; i + 2 < list->count; i++) {
        const cli_token *t = &list->data[i];
        const char *next = t[1].kind == '.' ? t[1].text.at : " ";
        if (t->kind != 'a' || !cli_text_same(t->text, name))
            continue;
        if ((*next == '=' && (*t[2].text.at != '=' || t[2].space)) ||
            (strchr("+-*/|&^%", *next) != NULL && cli_text_is(t[2].text, "=") && !t[2].space) ||
            (strchr("+-", *next) != NULL && t[2].text.at[0] == *next && !t[2].space) ||
            (t[-1].kind == '.' && *t[-1].text.at == '&' && !t->space) ||
            (strchr("+-", *t[-1].text.at) != NULL && !t->space && i > 1 && *t[-2].text.at == *t[-1].text.at))
            return true;
    }
    return false;
}

static size_t cli_fold_parameters(const cli_tokens *list, cli_text *names)
{
    size_t i = 0, count = 0, close;
    while (i < list->count && !cli_text_is(list->data[i].text, "("))
        i++;
    if (i == list->count)
        return CLI_FOLD_PARAMS;
    close = cli_fold_match(list->data, i++);
    if (close == i + 1 && cli_text_is(list->data[i].text, "void"))
        return 0;
    for (bool named = false; i <= close && count < CLI_FOLD_PARAMS; i++) {
        const cli_token *t = &list->data[i];
        if (cli_text_is(t->text, ",") || i == close) {
            count++;
            named = false;
        } else if (cli_text_is(t->text, "(") && cli_text_is(t[1].text, "*")) {
            names[count] = t[2].text; /* (*f)(float) */
            named = true;
            i = cli_fold_match(list->data, i + 3 + !cli_text_is(t[3].text, ")"));
            i = cli_text_is(list->data[i].text, "(") ? cli_fold_match(list->data, i) : i;
        } else if (t->kind == 'a' && !named) {
            names[count] = t->text;
        }
    }
    return count;
}

static size_t cli_fold_body(const cli_tokens *list)
{
    size_t i = 0;
    while (i < list->count && !cli_text_is(list->data[i].text, "{"))
        i++;
    return i;
}

static bool cli_fold_is_function(const cli_item *item)
{
    const char *open = item->code.n > 0 ? (const char *)memchr(item->code.at, '{', item->code.n) : NULL;
    const char *call = open != NULL ? (const char *)memchr(item->code.at, '(', (size_t)(open - item->code.at)) : NULL;
    return item->kind == CLI_ITEM_CODE && item->code.at[item->code.n - 1] == '}' && call != NULL &&
           memchr(item->code.at, '=', (size_t)(call - item->code.at)) == NULL;
}

/* Prototypes of functions that are defined before their first use are not part of a copy. */
static void cli_fold_prototypes(cli_copy *c)
{
    for (size_t i = 0; i < c->nameCount; i++) {
        cli_item *item = &c->items[c->names[i].item], *definition = NULL;
        bool used = false;
        if (!item->wanted || item->kind != CLI_ITEM_CODE || item->code.at[item->code.n - 1] != ';' ||
            memchr(item->code.at, '(', item->code.n) == NULL || cli_text_find(item->code, "typedef") == item->code.at)
            continue;
        for (size_t k = cli_copy_find(c, c->names[i].text);
             k < c->nameCount && cli_text_same(c->names[k].text, c->names[i].text); k++)
            if (cli_fold_is_function(&c->items[c->names[k].item]))
                definition = &c->items[c->names[k].item];
        for (cli_item *k = item + 1; definition != NULL && k < definition && !used; k++) {
            const char *p = k->code.at, *end = k->code.at + k->code.n;
            const bool prototype = k->kind == CLI_ITEM_CODE && k->code.at[k->code.n - 1] == ';';
            for (cli_token t = cli_copy_token(&p, end, false); k->wanted && !prototype && t.kind != 0 && !used;
                 t = cli_copy_token(&p, end, false))
                used = cli_text_same(t.text, c->names[i].text);
        }
        if (definition != NULL && !used)
            item->wanted = false;
    }
}

/* Records the argument i..end for parameter k: constant, the same as before? */
static void cli_fold_argument(cli_fold *f, cli_fold_function *called, size_t k, const cli_token *t, size_t i,
                              size_t end)
{
    const cli_item *function =
        end - i == 1 ? cli_fold_named(f->c, &t[i]) : NULL; /* must be defined before it is called */
    const bool constant =
        end - i == 1 && cli_fold_constant(f->c, &t[i]) && (function == NULL || function < &f->c->items[called->item]);
    if (end - i != 1 || !cli_fold_is_typed(f, &t[i]))
        called->typed &= ~(1u << k);
    if (constant && (called->value[k].kind == 0 || cli_text_same(called->value[k].text, t[i].text)))
        called->value[k] = t[i];
    else
        called->bound[k] = false;
    for (; i < end; i++) /* an argument that is evaluated for its effect stays */
        if (cli_fold_depth(&t[i]) > 0 && i > 0 && t[i - 1].kind == 'a' && cli_text_is(t[i].text, "("))
            called->kept[k] = true;
}

/* Makes the typed parameters of a function the current ones. */
static void cli_fold_typed(cli_fold *f, const cli_item *item, const cli_tokens *list)
{
    cli_text names[CLI_FOLD_PARAMS];
    const size_t count = cli_fold_is_function(item) ? cli_fold_parameters(list, names) : 0;
    f->typedCount = 0;
    for (size_t k = 0; k < count && k < CLI_FOLD_PARAMS; k++)
        if ((item->typed >> k & 1u) != 0 && !cli_fold_changes(list, names[k]))
            f->typed[f->typedCount++] = names[k];
}

/* Looks at the calls in one item. */
static void cli_fold_calls(cli_fold *f, const cli_item *item)
{
    const cli_tokens list = cli_fold_tokens(f->c, item);
    const bool fixed = !cli_fold_is_function(item) || memchr(item->code.at, '#', item->code.n) != NULL;
    const size_t body = fixed ? list.count : cli_fold_body(&list);
    cli_fold_typed(f, item, &list);
    for (size_t i = 0; i < list.count && !f->c->failed; i++) {
        cli_fold_function *called = list.data[i].kind == 'a' ? cli_fold_called(f, list.data[i].text) : NULL;
        size_t k = 0;
        if (called == NULL || (!fixed && i < body && item == &f->c->items[called->item]))
            continue;
        if (i < body || i + 1 == list.count || !cli_text_is(list.data[i + 1].text, "(")) {
            called->fixed = true;
            continue;
        }
        for (size_t at = i + 2, end = cli_fold_match(list.data, i + 1); at < end && k < called->count; k++) {
            size_t next = at;
            while (next < end && !cli_text_is(list.data[next].text, ","))
                next = cli_fold_depth(&list.data[next]) > 0 ? cli_fold_match(list.data, next) + 1 : next + 1;
            cli_fold_argument(f, called, k, list.data, at, next);
            at = next + 1;
        }
        called->fixed = called->fixed || k != called->count;
    }
}

/* The functions whose parameters may be removed, and which of them are. */
static void cli_fold_functions(cli_fold *f)
{
    cli_copy *c = f->c;
    size_t most = 1;
    for (size_t n = 0; n < c->nameCount; n++) /* at most one for each name of a function */
        most += c->items[c->names[n].item].wanted && cli_fold_is_function(&c->items[c->names[n].item]);
    f->functions = (cli_fold_function *)cli_copy_keep(c, most * sizeof(*f->functions));
    f->functionCount = 0;
    if (f->functions == NULL)
        return;
    for (size_t n = 0; n < c->nameCount; n++) {
        const cli_item *item = &c->items[c->names[n].item];
        cli_fold_function *one = cli_fold_called(f, c->names[n].text);
        cli_tokens list;
        if (item->wanted && one != NULL && !cli_fold_is_function(item))
            one->fixed = true;
        if (!item->wanted || item->asked || !cli_fold_is_function(item) || one != NULL ||
            memchr(item->code.at, '#', item->code.n) != NULL)
            continue;
        one = &f->functions[f->functionCount];
        one->name = c->names[n].text;
        one->item = c->names[n].item;
        list = cli_fold_tokens(c, item);
        one->count = cli_fold_parameters(&list, one->params);
        if (one->count == CLI_FOLD_PARAMS)
            continue;
        for (size_t k = 0; k < one->count; k++)
            one->bound[k] = true;
        one->typed = (1u << one->count) - 1u;
        f->functionCount++;
    }
    for (size_t i = 0; i < c->itemCount; i++)
        if (c->items[i].wanted)
            cli_fold_calls(f, &c->items[i]);
    for (size_t i = 0; i < f->functionCount; i++) {
        cli_fold_function *one = &f->functions[i];
        const cli_tokens list = cli_fold_tokens(c, &c->items[one->item]);
        const uint32_t typed = one->fixed ? 0 : one->typed;
        f->changed = f->changed || c->items[one->item].typed != typed;
        c->items[one->item].typed = typed;
        for (size_t k = 0; k < one->count; k++) {
            const bool used = cli_fold_uses(list.data, cli_fold_body(&list), list.count, one->params[k]);
            one->bound[k] =
                !one->fixed && one->bound[k] && one->value[k].kind != 0 && !cli_fold_changes(&list, one->params[k]);
            one->kept[k] = one->fixed || (!one->bound[k] && (used || one->kept[k]));
        }
    }
}

/* The head of a function, without its removed parameters. */
static void cli_fold_head(cli_fold *f, const cli_tokens *list, size_t body, const cli_fold_function *one)
{
    size_t open = 0, k = 0;
    bool some = false;
    while (open < body && !cli_text_is(list->data[open].text, "("))
        cli_fold_put(f, &list->data[open++]);
    /* an attribute macro is followed by the name: the parameters are in the last brackets at this level */
    cli_fold_put(f, &list->data[open]);
    for (size_t i = open + 1, close = cli_fold_match(list->data, open); i < close; k++) {
        size_t next = i;
        while (next < close && !cli_text_is(list->data[next].text, ","))
            next = cli_fold_depth(&list->data[next]) > 0 ? cli_fold_match(list->data, next) + 1 : next + 1;
        if (one == NULL || k >= one->count || one->kept[k]) {
            if (some)
                cli_fold_text(f, ",", &list->data[open]);
            for (; i < next; i++)
                cli_fold_put(f, &list->data[i]);
            some = true;
        }
        i = next + 1;
    }
    if (!some)
        cli_fold_text(f, "void", &list->data[open]);
    for (size_t i = cli_fold_match(list->data, open); i < body; i++)
        cli_fold_put(f, &list->data[i]);
}

/* Local variables that nothing uses any more: "T name;" and "T name = expression;" without calls. */
static bool cli_fold_unused(cli_copy *c, cli_tokens *list, size_t body)
{
    for (size_t i = body + 1; i + 4 < list->count; i++) {
        const cli_token *t = &list->data[i];
        size_t at = i, end, name;
        bool effects = false;
        if (!t->line || t->kind != 'a' || cli_text_is(t->text, "return") || cli_text_is(t->text, "else") ||
            cli_text_is(t->text, "case"))
            continue;
        while (at < list->count && (list->data[at].kind == 'a' || cli_text_is(list->data[at].text, "*")))
            at++;
        if (at < i + 2 || at + 1 >= list->count || list->data[at - 1].kind != 'a' ||
            !(cli_text_is(list->data[at].text, "=") || cli_text_is(list->data[at].text, ";")))
            continue;
        name = at - 1;
        for (end = at; end < list->count && !cli_text_is(list->data[end].text, ";"); end++) {
            effects = effects || cli_text_is(list->data[end].text, ",");
            effects = effects || (cli_text_is(list->data[end].text, "(") && list->data[end - 1].kind == 'a');
        }
        if (effects || cli_fold_uses(list->data, body, name, list->data[name].text) ||
            cli_fold_uses(list->data, name + 1, list->count, list->data[name].text))
            continue;
        memmove(&list->data[i], &list->data[end + 1], (list->count - end - 1) * sizeof(*list->data));
        list->count -= end + 1 - i;
        return true;
    }
    (void)c;
    return false;
}

/* One function, folded. True: it changed. expand: with the macros of its body expanded. */
static bool cli_fold_one(cli_fold *f, cli_item *item, const cli_fold_function *one, bool expand)
{
    cli_tokens raw = cli_fold_tokens(f->c, item), list = raw;
    size_t body, last;
    cli_text code;
    f->knownCount = 0;
    memset(&f->out, 0, sizeof(f->out));
    if (expand) {
        memset(&list, 0, sizeof(list));
        cli_copy_expand(f->c, &raw, &list, 0);
        list = cli_fold_checked(f->c, list);
    }
    body = cli_fold_body(&list);
    if (body >= list.count || f->c->failed)
        return false;
    f->t = list.data;
    last = cli_fold_match(list.data, body);
    cli_fold_typed(f, item, &raw);
    for (size_t k = 0; one != NULL && k < one->count; k++)
        if (one->bound[k])
            cli_fold_know(f, one->params[k], &one->value[k]);
    cli_fold_head(f, &list, body, one);
    cli_fold_put(f, &list.data[body]);
    f->ended = false;
    for (size_t i = body + 1; i < last && !f->c->failed;)
        i = cli_fold_statement(f, i, true);
    cli_fold_put(f, &list.data[last]);
    while (!f->c->failed && cli_fold_unused(f->c, &f->out, cli_fold_body(&f->out)))
        continue;
    if (f->c->failed)
        return false;
    if (item->asked) { /* its parameters stay */
        cli_text names[CLI_FOLD_PARAMS];
        const size_t count = cli_fold_parameters(&raw, names), at = cli_fold_body(&f->out) + 1;
        cli_tokens all;
        memset(&all, 0, sizeof(all));
        for (size_t i = 0; i < at; i++)
            cli_copy_push(f->c, &all, &f->out.data[i]);
        for (size_t k = 0; k < count && k < CLI_FOLD_PARAMS; k++)
            if (!cli_fold_uses(f->out.data, at, f->out.count, names[k])) {
                static const char words[] = "(void)";
                cli_token t = f->out.data[at - 1];
                t.line = t.space = true;
                t.text = cli_text_between(words, words + 6);
                cli_copy_push(f->c, &all, &t);
                t.line = t.space = false;
                t.kind = 'a';
                t.text = names[k];
                cli_copy_push(f->c, &all, &t);
                t.kind = '.';
                t.text = cli_text_of(";");
                cli_copy_push(f->c, &all, &t);
            }
        for (size_t i = at; i < f->out.count; i++)
            cli_copy_push(f->c, &all, &f->out.data[i]);
        f->out = all;
    }
    if (f->c->failed)
        return false;
    last = f->out.count;
    if (last == raw.count) { /* the same tokens: the text stays as it was written */
        while (last > 0 && cli_text_same(f->out.data[last - 1].text, raw.data[last - 1].text))
            last--;
        if (last == 0)
            return false;
    }
    code = cli_copy_lines(f->c, &f->out);
    if (code.n > 0)
        item->code = code;
    return code.n > 0;
}

/* The typed parameters of a function of which some were removed. */
static uint32_t cli_fold_kept(const cli_fold_function *one, uint32_t typed)
{
    uint32_t kept = 0, bit = 1;
    for (size_t k = 0; k < one->count; k++)
        if (one->kept[k]) {
            kept |= (typed >> k & 1u) != 0 ? bit : 0;
            bit <<= 1;
        }
    return kept;
}

/* Specializes the wanted functions. type: the type of all views, else of the typed ones and, with floats, of all that are
   floating point, as an enumerator; NULL: unknown, and macros of function bodies are not expanded. */
static void cli_fold_copy(cli_copy *c, const char *const *names, size_t count, const char *type, bool all, bool floats,
                          const char *activations)
{
    bool changed = true;
    for (int round = 0; round < CLI_FOLD_ROUNDS && changed && !c->failed; round++) {
        cli_fold f;
        memset(&f, 0, sizeof(f));
        f.c = c;
        f.type = type;
        f.all = all;
        f.floats = floats;
        f.activations = activations;
        cli_fold_prototypes(c);
        cli_fold_functions(&f);
        changed = f.changed;
        for (size_t i = 0; i < c->itemCount && !c->failed; i++)
            if (c->items[i].wanted && cli_fold_is_function(&c->items[i]) &&
                memchr(c->items[i].code.at, '#', c->items[i].code.n) == NULL) {
                const cli_fold_function *one = NULL;
                for (size_t k = 0; k < f.functionCount; k++)
                    one = f.functions[k].item == i ? &f.functions[k] : one;
                if (cli_fold_one(&f, &c->items[i], one, type != NULL && round == 0)) {
                    changed = true;
                    if (one != NULL)
                        c->items[i].typed = cli_fold_kept(one, c->items[i].typed);
                }
            }
        for (size_t i = 0; i < c->itemCount; i++)
            c->items[i].wanted = c->items[i].asked = false;
        cli_copy_close(c, names, count);
    }
    cli_fold_prototypes(c);
}

#endif /* NNRT_TOOL_FOLD_H */
