/*
fold.h - specializes the functions of a copy (copy.h) by constant propagation. Part of tools/nnrt.c.

Kernels of nnrt_ops.h share functions with a parameter for the element type, an activation, or a function to apply. In
the copy of one kernel most of these parameters have one value in all calls. The callers of a function are behind it in the
header, so one pass from the last function to the first is enough (cli_fold_specialize):
  1. a parameter that has the same constant in all calls is removed, and its name in the body becomes the constant;
  2. cli_fold_rules simplify the body, which may remove calls of the functions before it. Functions without a call are not
     part of the copy;
  3. in a plain copy, parameters that the body does not name are removed, and accessors are put into their callers
     (cli_fold_accessor).

The type of a view is a constant, too, in a copy for one element type: of every view, or if some operands have other types
(indices, derived constants), of the parameters that are the other operands in all calls. Their names are tokens of kind 'v'.

The rules work on the tokens of a function, not on a syntax tree: all other code stays as it is. A rule that saves fewer than
ten lines over the copies of all operators is not worth its code.
*/
#ifndef NNRT_TOOL_FOLD_H
#define NNRT_TOOL_FOLD_H

#include "copy_items.h"

#define CLI_FOLD_PARAMS 24

/* A wanted item. folded: a function after the first pass. */
typedef struct cli_fold_part {
    cli_item *item;
    cli_tokens tokens;
    bool function, folded;
} cli_fold_part;

/* The parameters of a function, as its calls have them. */
typedef struct cli_fold_calls {
    cli_text names[CLI_FOLD_PARAMS];
    cli_token values[CLI_FOLD_PARAMS]; /* a constant, kind 'v' a view of the type of the copy, '*' various */
    size_t count, times; /* of parameters, of calls */
    bool fixed; /* the head must stay, of a kernel or a function whose calls are not all known */
} cli_fold_calls;

typedef struct cli_fold {
    cli_copy *c;
    cli_fold_part *parts; /* in the order of the header */
    size_t count;
    const char *type;        /* the type of views as an enumerator; NULL: unknown, and macros in functions are not expanded */
    const char *element;     /* its C type */
    bool all;                /* of all views, not only of tokens of kind 'v' */
    bool floats;             /* of all views whose elements nnrti_load and nnrti_store take */
    uint32_t typed;          /* bit k: parameter k of the kernels is a view of this type */
    const char *activations; /* the activations that stay, "RELU,RELU6"; NULL: all */
    cli_tokens *t;           /* the tokens of the current part */
} cli_fold;

/* Token i of the current part; one of kind 0 if there is none. */
static cli_token *cli_fold_at(const cli_fold *f, size_t i)
{
    static cli_token none = {0, false, false, {"", 0}};
    return i < f->t->count ? &f->t->data[i] : &none;
}

static bool cli_fold_is(const cli_fold *f, size_t i, const char *text)
{
    return cli_text_is(cli_fold_at(f, i)->text, text);
}

/* The first token of this text: ( of the head, or { of the body of a function. */
static size_t cli_fold_first(const cli_fold *f, const char *text)
{
    size_t i = 0;
    while (i < f->t->count && !cli_fold_is(f, i, text))
        i++;
    return i;
}

/* True if the token is a word of a list that is separated by spaces. */
static bool cli_fold_in(const cli_fold *f, size_t i, const char *list)
{
    return cli_text_listed(list, ' ', cli_fold_at(f, i)->text);
}

static int cli_fold_depth(const cli_token *t)
{
    return t->kind != '.' ? 0 : strchr("([{", *t->text.at) != NULL ? 1 : strchr(")]}", *t->text.at) != NULL ? -1 : 0;
}

/* The index of the bracket that belongs to the one at i. */
static size_t cli_fold_match(const cli_fold *f, size_t i)
{
    const bool back = cli_fold_depth(cli_fold_at(f, i)) < 0;
    for (int depth = 0;; i += back ? (size_t)-1 : 1) {
        depth += cli_fold_depth(cli_fold_at(f, i));
        if (depth == 0 || i >= f->t->count)
            return i;
    }
}

/* How strongly an operator binds: 0 the end of an expression, 9 a part of every operand. */
static int cli_fold_binds(const cli_fold *f, size_t i)
{
    static const char *const operators[] = {", ; { } return case else do", "? : = += -= *= /= %= &= |= ^=", "||", "&&", "| ^ &",
                                            "== !="};
    for (int k = 0; k < 6; k++)
        if (cli_fold_in(f, i, operators[k]))
            return k;
    return 9;
}

/* The first token of the operand before the operator at i, which binds as strongly as `own`. */
static size_t cli_fold_left(const cli_fold *f, size_t i, int own)
{
    while (i > 0 && cli_fold_binds(f, i - 1) > own && cli_fold_depth(cli_fold_at(f, i - 1)) <= 0)
        i = cli_fold_depth(cli_fold_at(f, i - 1)) < 0 ? cli_fold_match(f, i - 1) : i - 1;
    return i;
}

/* The end of the operand behind the operator at i. */
static size_t cli_fold_right(const cli_fold *f, size_t i, int own)
{
    for (i++; i < f->t->count && cli_fold_binds(f, i) > own && cli_fold_depth(cli_fold_at(f, i)) >= 0; i++)
        i = cli_fold_depth(cli_fold_at(f, i)) > 0 ? cli_fold_match(f, i) : i;
    return i;
}

/* The end of the operand of ?: behind the ? or : at i, which may be a ?: itself. */
static size_t cli_fold_branch(const cli_fold *f, size_t i)
{
    for (int open = 0;; ) {
        i = cli_fold_right(f, i, 1);
        open += cli_fold_is(f, i, "?") - cli_fold_is(f, i, ":");
        if (open < 0 || cli_fold_binds(f, i) != 1)
            return i;
    }
}

static size_t cli_fold_remarks(const cli_fold *f, size_t i)
{
    while (cli_fold_at(f, i)->kind == '/')
        i++;
    return i;
}

/* The end of the statement or label at i. */
static size_t cli_fold_end(const cli_fold *f, size_t i)
{
    i = cli_fold_remarks(f, i);
    if (cli_fold_is(f, i, "}")) /* comments at the end of a block */
        return i;
    if (cli_fold_is(f, i, "{"))
        return cli_fold_match(f, i) + 1;
    if (cli_fold_in(f, i, "for while switch"))
        return cli_fold_end(f, cli_fold_match(f, i + 1) + 1);
    if (cli_fold_is(f, i, "if")) {
        const size_t end = cli_fold_end(f, cli_fold_match(f, i + 1) + 1), next = cli_fold_remarks(f, end);
        return cli_fold_is(f, next, "else") ? cli_fold_end(f, next + 1) : end;
    }
    if (cli_fold_is(f, i, "do"))
        return cli_fold_match(f, cli_fold_end(f, i + 1) + 1) + 2;
    for (; i < f->t->count && !cli_fold_is(f, i, ";"); i++) {
        if (cli_fold_is(f, i, ":") && (cli_fold_is(f, i - 1, "default") || cli_fold_is(f, i - 2, "case")))
            break;
        if (cli_fold_depth(cli_fold_at(f, i)) < 0) /* a macro that is a statement */
            return i;
        if (cli_fold_depth(cli_fold_at(f, i)) > 0)
            i = cli_fold_match(f, i);
    }
    return i + 1;
}

/* Where the arguments or parameters behind the ( at open begin, and behind them the end. Returns their number. */
static size_t cli_fold_split(const cli_fold *f, size_t open, size_t *at)
{
    const size_t close = cli_fold_match(f, open);
    size_t count = 0;
    if (cli_fold_is(f, open + 1, "void") && close == open + 2)
        return 0;
    for (size_t i = open + 1; i < close && count < CLI_FOLD_PARAMS; i++) {
        at[count++] = i;
        i = cli_fold_right(f, i - 1, 0);
    }
    at[count] = close + 1;
    return count;
}

/* True if the statement at i is one of a block, not of if, else, for, while or do. */
static bool cli_fold_in_block(const cli_fold *f, size_t i)
{
    while (i > 0 && cli_fold_at(f, i - 1)->kind == '/')
        i--;
    return i > 0 && cli_fold_in(f, i - 1, "{ } ; :");
}

/* The function that a token names, NULL if there is none. */
static const cli_item *cli_fold_named(const cli_fold *f, size_t i)
{
    const cli_token *t = cli_fold_at(f, i);
    return t->kind == 'a' ? cli_copy_definition(f->c, t->text) : NULL;
}

/* True for a token that is a constant: an enumerator, true, false, NULL, a function. */
static bool cli_fold_constant(const cli_fold *f, size_t i)
{
    const cli_token *t = cli_fold_at(f, i);
    bool capital = t->kind == 'a' && t->text.n > 5 && memcmp(t->text.at, "NNRT_", 5) == 0;
    for (size_t k = 0; capital && k < t->text.n; k++)
        capital = !(t->text.at[k] >= 'a' && t->text.at[k] <= 'z');
    return capital || cli_fold_in(f, i, "true false NULL") || cli_fold_named(f, i) != NULL;
}

/* 1 true, 0 false, -1 unknown: the condition i..end. */
static int cli_fold_truth(const cli_fold *f, size_t i, size_t end)
{
    return end != i + 1 ? -1 : cli_fold_is(f, i, "true") ? 1 : cli_fold_in(f, i, "false NULL") ? 0 : -1;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Rules: each looks at token i, and returns true if it changed something */

static void cli_fold_set(const cli_fold *f, size_t i, const char *text)
{
    cli_token *t = cli_fold_at(f, i);
    t->kind = cli_copy_letter(*text) ? 'a' : '.';
    t->text = cli_text_of(text);
}

/* Of the tokens from..to, only a..b, which are among them, stay. */
static bool cli_fold_keep(const cli_fold *f, size_t from, size_t to, size_t a, size_t b)
{
    cli_token *const t = f->t->data;
    if (b > a) {
        t[a].space = t[from].space;
        t[a].line = t[from].line;
    }
    memmove(&t[from], &t[a], (b - a) * sizeof(*t));
    memmove(&t[from + (b - a)], &t[to], (f->t->count - to) * sizeof(*t));
    f->t->count -= (to - from) - (b - a);
    return true;
}

/* a && b, or a || b. Conditions have no effects. */
static bool cli_fold_logic(cli_fold *f, size_t i)
{
    const int decides = cli_fold_is(f, i, "||"), own = decides ? 2 : 3;
    const size_t from = cli_fold_left(f, i, own), to = cli_fold_right(f, i, own);
    const int left = cli_fold_truth(f, from, i), right = cli_fold_truth(f, i + 1, to);
    if (left < 0 && right < 0)
        return false;
    return (left >= 0 ? left != decides : right == decides) ? cli_fold_keep(f, from, to, i + 1, to)
                                                             : cli_fold_keep(f, from, to, from, i);
}

/* True for the enumerator of an activation that the copy leaves out. */
static bool cli_fold_left_out(const cli_fold *f, size_t i)
{
    static const char prefix[] = "NNRT_ACTIVATION_TYPE_";
    const cli_text text = cli_fold_at(f, i)->text;
    return f->activations != NULL && text.n >= sizeof(prefix) && memcmp(text.at, prefix, sizeof(prefix) - 1) == 0 &&
           !cli_text_listed(f->activations, ',', cli_text_between(text.at + sizeof(prefix) - 1, text.at + text.n));
}

/* a == b, or a != b. */
static bool cli_fold_equal(cli_fold *f, size_t i)
{
    const size_t from = cli_fold_left(f, i, 5), to = cli_fold_right(f, i, 5);
    const bool known = i == from + 1 && cli_fold_constant(f, from);
    bool same;
    if (to != i + 2 || !cli_fold_constant(f, i + 1) || !(known || cli_fold_left_out(f, i + 1)))
        return false;
    same = known && cli_text_same(cli_fold_at(f, from)->text, cli_fold_at(f, i + 1)->text);
    cli_fold_set(f, from, same == cli_fold_is(f, i, "==") ? "true" : "false");
    return cli_fold_keep(f, from, to, from, from + 1);
}

/* The number of an enumerator of element types, 0: it is none. */
static int cli_fold_number(const cli_fold *f, size_t i)
{
#define CLI_FOLD_NUMBER(name, number, bytes, text) cli_fold_is(f, i, "NNRT_DATA_TYPE_" #name) ? number:
    return NNRT_DATA_TYPES(CLI_FOLD_NUMBER) 0;
}

/* a < b, or a >= b, of element types. */
static bool cli_fold_order(cli_fold *f, size_t i)
{
    const int a = cli_fold_number(f, i - 1), b = cli_fold_number(f, i + 1);
    if (a == 0 || b == 0)
        return false;
    cli_fold_set(f, i - 1, (a < b) == cli_fold_is(f, i, "<") ? "true" : "false");
    return cli_fold_keep(f, i - 1, i + 2, i - 1, i);
}

/* a ? b : c */
static bool cli_fold_choice(cli_fold *f, size_t i)
{
    const size_t from = cli_fold_left(f, i, 1), colon = cli_fold_branch(f, i), to = cli_fold_branch(f, colon);
    const int truth = cli_fold_truth(f, from, i);
    return truth >= 0 && cli_fold_is(f, colon, ":") &&
           (truth ? cli_fold_keep(f, from, to, i + 1, colon) : cli_fold_keep(f, from, to, colon + 1, to));
}

/* view->dataType, or views[i]->part.dataType */
static bool cli_fold_type(cli_fold *f, size_t i)
{
    const bool element = cli_fold_in(f, cli_fold_match(f, i + 1) - 1, "nnrti_load nnrti_store"); /* the last argument of it */
    size_t from = i;
    if (f->type == NULL || cli_fold_is(f, i + 1, "="))
        return false;
    while (cli_fold_in(f, from - 1, "-> ."))
        for (from -= 2; cli_fold_is(f, from, "]"); from = cli_fold_match(f, from) - 1)
            continue;
    if (from == i || cli_fold_at(f, from)->kind == '.' ||
        !(f->all || (f->floats && element) || (i - from == 2 && cli_fold_at(f, from)->kind == 'v')))
        return false;
    cli_fold_set(f, from, f->type);
    return cli_fold_keep(f, from, i + 1, from, from + 1);
}

/* nnrt_type_size(type) becomes sizeof(float). */
static bool cli_fold_size(cli_fold *f, size_t i)
{
    if (f->type == NULL || !cli_fold_is(f, i + 2, f->type) || !cli_fold_is(f, i + 3, ")"))
        return false;
    cli_fold_set(f, i, "sizeof");
    cli_fold_set(f, i + 2, f->element);
    return true;
}

/* nnrt_call_fail(call, code, text, ..) becomes the code. */
static bool cli_fold_fail(cli_fold *f, size_t i)
{
    size_t at[CLI_FOLD_PARAMS + 1];
    return f->c->plain && cli_fold_is(f, i + 1, "(") && cli_fold_split(f, i + 1, at) > 2 &&
           cli_fold_keep(f, i, cli_fold_match(f, i + 1) + 1, at[1], at[2] - 1);
}

/* if (constant) */
static bool cli_fold_if(cli_fold *f, size_t i)
{
    const size_t close = cli_fold_match(f, i + 1), end = cli_fold_end(f, close + 1), last = cli_fold_end(f, i);
    const int truth = cli_fold_truth(f, i + 2, close);
    if (truth < 0)
        return false;
    if (truth || last > end)
        return cli_fold_keep(f, i, last, truth ? close + 1 : cli_fold_remarks(f, end) + 1, truth ? end : last);
    if (cli_fold_is(f, i - 1, "else"))
        return cli_fold_keep(f, i - 1, last, i, i);
    cli_fold_set(f, i, ";");
    return cli_fold_keep(f, i, last, i, cli_fold_in_block(f, i) ? i : i + 1);
}

/* Removes the statements from i on that no label precedes. */
static bool cli_fold_dead(const cli_fold *f, size_t i)
{
    size_t end = i;
    while (!cli_fold_in(f, cli_fold_remarks(f, end), "} case default"))
        end = cli_fold_end(f, end);
    return end > i && cli_fold_keep(f, i, end, i, i);
}

/* Statements behind a return in a block are not reached. */
static bool cli_fold_return(cli_fold *f, size_t i)
{
    return cli_fold_in_block(f, i) && cli_fold_dead(f, cli_fold_end(f, i));
}

/* case, of an activation that is left out. */
static bool cli_fold_case(cli_fold *f, size_t i)
{
    return cli_fold_left_out(f, i + 1) && cli_fold_is(f, i + 2, ":") && cli_fold_keep(f, i, i + 3, i, i);
}

/* True if the name occurs in from..to, except as a member. */
static bool cli_fold_uses(const cli_fold *f, size_t from, size_t to, cli_text name)
{
    while (from < to && !(cli_text_same(cli_fold_at(f, from)->text, name) && !cli_fold_in(f, from - 1, "-> .")))
        from++;
    return from < to;
}

/* switch (constant) becomes the statements of its case, unless they need the switch. */
static bool cli_fold_switch(cli_fold *f, size_t i)
{
    const size_t open = cli_fold_match(f, i + 1) + 1, close = cli_fold_match(f, open);
    size_t at = 0, last;
    if (!cli_fold_is(f, open, "{"))
        return false;
    if (open != i + 4 || !cli_fold_constant(f, i + 2))
        return cli_fold_dead(f, open + 1);
    for (size_t k = open + 1; k < close; k = cli_fold_end(f, k)) {
        const size_t label = cli_fold_remarks(f, k);
        if (cli_fold_is(f, label, "default"))
            at = label + 2;
        if (cli_fold_is(f, label, "case") && cli_text_same(cli_fold_at(f, label + 1)->text, cli_fold_at(f, i + 2)->text)) {
            at = label + 3;
            break;
        }
    }
    while (at > 0 && cli_fold_in(f, cli_fold_remarks(f, at), "case default"))
        at = cli_fold_end(f, at);
    for (last = at; last < close && !cli_fold_in(f, cli_fold_remarks(f, last), "break return case default }");)
        last = cli_fold_end(f, last);
    last = cli_fold_remarks(f, last);
    if (at == 0 || !cli_fold_in_block(f, i) || cli_fold_in(f, last, "case default") ||
        cli_fold_uses(f, at, last, cli_text_of("break")))
        return false;
    if (cli_fold_is(f, last, "return"))
        last = cli_fold_end(f, last);
    return cli_fold_keep(f, i, close + 1, at, last);
}

/* The name is the value in from..to, except as a member. */
static void cli_fold_substitute(const cli_fold *f, size_t from, size_t to, cli_text name, const cli_token *value)
{
    for (; from < to; from++) {
        cli_token *t = cli_fold_at(f, from);
        if (cli_text_same(t->text, name) && !cli_fold_in(f, from - 1, "-> .")) {
            t->text = value->text;
            t->kind = value->kind;
        }
    }
}

/* T name = expression; is removed if nothing uses the name and the expression has no call. const T name = constant; is used
   nowhere after its value is put into the block. */
static bool cli_fold_declaration(cli_fold *f, size_t i)
{
    const size_t from = cli_fold_left(f, i, 0), end = cli_fold_right(f, i, 0);
    const size_t last = cli_fold_is(f, i - 1, "]") ? cli_fold_match(f, i - 1) : i; /* behind the name */
    const cli_text name = cli_fold_at(f, last - 1)->text;
    size_t block = end;
    if (last < from + 2 || !cli_fold_is(f, end, ";") || !cli_fold_in_block(f, from))
        return false;
    for (size_t k = from; k < end; k++)
        if (k < last ? cli_fold_at(f, k)->kind != 'a' && (k == from || !cli_fold_is(f, k, "*"))
                  : cli_fold_is(f, k, "(") && cli_fold_at(f, k - 1)->kind == 'a')
            return false;
    while (block < f->t->count && !cli_fold_is(f, block, "}"))
        block = cli_fold_depth(cli_fold_at(f, block)) > 0 ? cli_fold_match(f, block) + 1 : block + 1;
    if (cli_fold_is(f, i == from + 3 ? from : i - 2, "const") && end == i + 2 && cli_fold_constant(f, i + 1))
        cli_fold_substitute(f, end, block, name, cli_fold_at(f, i + 1));
    return !cli_fold_uses(f, end, block, name) && cli_fold_keep(f, from, end + 1, from, from);
}

static const struct {
    const char *token;
    bool (*rule)(cli_fold *f, size_t i);
} cli_fold_rules[] = {{"&&", cli_fold_logic}, {"||", cli_fold_logic}, {"==", cli_fold_equal}, {"!=", cli_fold_equal},
                      {"<", cli_fold_order}, {">=", cli_fold_order}, {"?", cli_fold_choice}, {"=", cli_fold_declaration},
                      {"dataType", cli_fold_type}, {"nnrt_type_size", cli_fold_size}, {"if", cli_fold_if},
                      {"switch", cli_fold_switch}, {"case", cli_fold_case}, {"return", cli_fold_return},
                      {"nnrt_call_fail", cli_fold_fail}};

/* Applies the rules to the current function until none changes anything. */
static void cli_fold_apply(cli_fold *f)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = cli_fold_first(f, "{"); i < f->t->count; i++)
            for (size_t k = 0; k < sizeof(cli_fold_rules) / sizeof(cli_fold_rules[0]); k++)
                if (*cli_fold_at(f, i)->text.at == *cli_fold_rules[k].token && cli_fold_is(f, i, cli_fold_rules[k].token) &&
                    cli_fold_rules[k].rule(f, i))
                    changed = true;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Functions */

/* The parameters i..end are a name, or (*name)(...), or name[...]. */
static cli_text cli_fold_name(const cli_fold *f, size_t i, size_t end)
{
    cli_text name = cli_text_of("");
    for (; i < end && !(name.n > 0 && cli_fold_in(f, i, ") [")); i++)
        if (cli_fold_at(f, i)->kind == 'a')
            name = cli_fold_at(f, i)->text;
    return name;
}

/* Records an argument that is one token, 0 if it is more. */
static void cli_fold_argument(const cli_fold *f, const cli_fold_part *part, cli_token *value, size_t i)
{
    const cli_token *t = cli_fold_at(f, i);
    const cli_item *function = cli_fold_named(f, i); /* must be defined before its call */
    const bool known = i > 0 && (t->kind == 'v' || (cli_fold_constant(f, i) && function < part->item));
    if (known && value->kind == 0)
        *value = *t;
    else if (!known || value->kind != t->kind || (t->kind != 'v' && !cli_text_same(value->text, t->text)))
        value->kind = '*';
}

/* Collects the calls of a function, which is wanted if there are some. */
static cli_fold_calls cli_fold_collect(cli_fold *f, cli_fold_part *part)
{
    cli_fold_calls calls;
    size_t at[CLI_FOLD_PARAMS + 1];
    memset(&calls, 0, sizeof(calls));
    f->t = &part->tokens;
    const size_t open = cli_fold_first(f, "(");
    const cli_text name = cli_fold_at(f, open - 1)->text;
    calls.count = cli_fold_split(f, open, at);
    calls.fixed = part->item->asked || calls.count == CLI_FOLD_PARAMS;
    part->item->wanted = part->item->asked;
    for (size_t k = 0; k < calls.count; k++)
        calls.names[k] = cli_fold_name(f, at[k], at[k + 1] - 1);
    for (cli_fold_part *p = f->parts + f->count; p-- > f->parts;) {
        f->t = &p->tokens;
        for (size_t i = p == part ? cli_fold_first(f, "{") : 0; i < f->t->count && p->item->wanted; i++) {
            if (!cli_text_same(cli_fold_at(f, i)->text, name) || cli_fold_in(f, i - 1, "-> ."))
                continue;
            part->item->wanted = true;
            calls.times++;
            if (!p->folded || !cli_fold_is(f, i + 1, "(") || cli_fold_split(f, i + 1, at) != calls.count) {
                calls.fixed = true;
                continue;
            }
            for (size_t k = 0; k < calls.count; k++)
                cli_fold_argument(f, part, &calls.values[k], at[k + 1] == at[k] + 2 ? at[k] : 0);
        }
    }
    f->t = &part->tokens;
    return calls;
}

/* Leaves out the arguments, or the parameters of a head, behind the ( at open for which drop is true. */
static void cli_fold_drop(const cli_fold *f, size_t open, const bool *drop, bool head)
{
    size_t at[CLI_FOLD_PARAMS + 1], to = open + 1;
    const size_t count = cli_fold_split(f, open, at);
    for (size_t k = 0; k < count; k++) {
        const size_t from = to > open + 1 ? at[k] - 1 : at[k]; /* with the comma before it */
        if (drop[k])
            continue;
        if (to == open + 1)
            cli_fold_at(f, from)->space = cli_fold_at(f, from)->line = false;
        memmove(cli_fold_at(f, to), cli_fold_at(f, from), (at[k + 1] - 1 - from) * sizeof(cli_token));
        to += at[k + 1] - 1 - from;
    }
    if (to == open + 1 && count > 0 && head)
        cli_fold_set(f, to++, "void");
    (void)(count > 0 && cli_fold_keep(f, to, at[count] - 1, to, to));
}

/* Leaves out parameters of a function, in its head and in its calls. */
static void cli_fold_drop_all(cli_fold *f, cli_fold_part *part, const bool *drop)
{
    const size_t open = cli_fold_first(f, "(");
    const cli_text name = cli_fold_at(f, open - 1)->text;
    for (cli_fold_part *p = f->parts; p < f->parts + f->count; p++) {
        f->t = &p->tokens;
        for (size_t i = p == part ? open - 1 : 0; i < f->t->count && (p == part || p->folded); i++)
            if (cli_text_same(cli_fold_at(f, i)->text, name) && cli_fold_is(f, i + 1, "("))
                cli_fold_drop(f, i + 1, drop, p == part && i + 1 == open);
    }
    f->t = &part->tokens;
}

/* True if a statement may change the name or take its address. */
static bool cli_fold_changes(const cli_fold *f, cli_text name)
{
    for (size_t i = cli_fold_first(f, "{"); i < f->t->count; i++)
        if (cli_text_same(cli_fold_at(f, i)->text, name) &&
            (cli_fold_in(f, i + 1, "= += -= *= /= %= &= |= ^= ++ --") || cli_fold_in(f, i - 1, "++ --") ||
             (cli_fold_is(f, i - 1, "&") && !cli_fold_at(f, i)->space)))
            return true;
    return false;
}

/* Removes the brackets at i if they enclose an operand, or all between brackets, commas and other ends of an expression. */
static void cli_fold_bare(cli_fold *f, size_t i)
{
    const size_t end = cli_fold_match(f, i);
    bool bare = cli_fold_in(f, i - 1, "= return ( [ ,") && cli_fold_in(f, end + 1, ") ] ; ,");
    size_t k = i + 1;
    while (k < end && (cli_fold_at(f, k)->kind != '.' || cli_fold_in(f, k, "-> . ( [")))
        k = cli_fold_depth(cli_fold_at(f, k)) > 0 ? cli_fold_match(f, k) + 1 : k + 1;
    bare = bare || k == end;
    (void)(bare && cli_fold_keep(f, i, end + 1, i + 1, end));
}

/* A float function of one expression, or a void one of one assignment, that is short or has one call is an accessor: its calls
   become this expression or assignment, as the calls of a macro would. */
static void cli_fold_accessor(cli_fold *f, cli_fold_part *part, const cli_fold_calls *calls)
{
    static const cli_token open = {'.', false, false, {"(", 1}}, close = {'.', false, false, {")", 1}};
    const size_t head = cli_fold_first(f, "("), body = cli_fold_first(f, "{") + 1, end = f->t->count - 2;
    size_t at[CLI_FOLD_PARAMS + 1];
    cli_macro m, *const macros = f->c->macros;
    const size_t macroCount = f->c->macroCount, count = cli_fold_split(f, head, at);
    if (!f->c->plain || calls->fixed || !cli_fold_is(f, 0, "NNRTI_INLINE") || !cli_fold_in(f, 1, "float void") || head != 3 ||
        cli_fold_end(f, body) != end + 1 || cli_fold_in(f, body, "if for while switch") || (end > body + 12 && calls->times > 1))
        return;
    memset(&m, 0, sizeof(m));
    m.name = cli_fold_at(f, head - 1)->text;
    m.function = true;
    for (size_t k = 0; k < count; k++)
        cli_copy_push(f->c, &m.params, cli_fold_at(f, at[k + 1] - 2));
    for (size_t i = body + cli_fold_is(f, body, "return"); i < end; i++) {
        cli_token t = *cli_fold_at(f, i), bracket = open;
        t.kind = t.kind == 'v' ? 'a' : t.kind;
        const bool param = cli_copy_param(&m, &t) < count;
        t.space = bracket.space = t.space && m.body.count > 0;
        t.line = false;
        if (param)
            cli_copy_push(f->c, &m.body, &bracket);
        cli_copy_push(f->c, &m.body, &t);
        if (param)
            cli_copy_push(f->c, &m.body, &close);
    }
    f->c->macros = &m;
    f->c->macroCount = 1;
    for (cli_fold_part *p = part + 1; p < f->parts + f->count && !f->c->failed; p++) {
        cli_tokens all = {NULL, 0};
        cli_copy_expand(f->c, &p->tokens, &all, 0);
        p->tokens = all;
        f->t = &p->tokens;
        for (size_t i = 0; i < f->t->count; i++)
            if (cli_fold_at(f, i)->text.at == open.text.at)
                cli_fold_bare(f, i);
    }
    f->c->macros = macros;
    f->c->macroCount = macroCount;
    part->item->wanted = false;
    f->t = &part->tokens;
}

/* Puts the constants of one function into it. */
static void cli_fold_specialize(cli_fold *f, cli_fold_part *part)
{
    cli_fold_calls calls = cli_fold_collect(f, part);
    bool drop[CLI_FOLD_PARAMS] = {false};
    if (!part->item->wanted)
        return;
    for (size_t k = 0; k < calls.count; k++) {
        cli_token *value = &calls.values[k];
        if (calls.fixed)
            value->kind = part->item->asked && f->type != NULL && (f->typed >> k & 1u) != 0 ? 'v' : '*';
        if (value->kind == 0 || value->kind == '*' || cli_fold_changes(f, calls.names[k]))
            continue;
        drop[k] = value->kind == 'a';
        value->text = drop[k] ? value->text : calls.names[k];
        cli_fold_substitute(f, cli_fold_first(f, "{"), f->t->count, calls.names[k], value);
    }
    part->folded = true;
    cli_fold_apply(f);
    for (size_t k = 0; k < calls.count && f->c->plain && !calls.fixed; k++)
        drop[k] = drop[k] || !cli_fold_uses(f, cli_fold_first(f, "{"), f->t->count, calls.names[k]);
    cli_fold_drop_all(f, part, drop);
    cli_fold_accessor(f, part, &calls);
}

/* The tokens of an item whose brackets match: the functions above rely on it. Fails otherwise. */
static cli_tokens cli_fold_tokens(cli_copy *c, const cli_item *item, bool expand)
{
    cli_tokens raw = cli_copy_tokens(c, item->code), list = raw;
    if (expand) {
        memset(&list, 0, sizeof(list));
        cli_copy_expand(c, &raw, &list, 0);
    }
    if (!c->failed && !cli_copy_balanced(&list)) {
        cli_fail("the header is damaged: the brackets of a function do not match");
        c->failed = true;
    }
    return list;
}

/* A kernel that only calls a function with its own parameters gets the parameters, body and comment of that function. */
static void cli_fold_unwrap(cli_fold *f, cli_fold_part *part)
{
    size_t own[CLI_FOLD_PARAMS + 1], at[CLI_FOLD_PARAMS + 1];
    const size_t open = cli_fold_first(f, "("), call = cli_fold_first(f, "{") + 3, count = cli_fold_split(f, open, own);
    const cli_text name = cli_fold_at(f, call - 1)->text;
    bool same = cli_fold_is(f, call - 2, "return") && cli_fold_split(f, call, at) == count && at[count] + 2 == f->t->count;
    for (size_t k = 0; k < count && same; k++)
        same = at[k + 1] == at[k] + 2 && cli_text_same(cli_fold_at(f, at[k])->text, cli_fold_name(f, own[k], own[k + 1] - 1));
    for (cli_fold_part *p = f->parts; p < part && same; p++) {
        f->t = &p->tokens;
        if (!p->function || !cli_text_same(cli_fold_at(f, cli_fold_first(f, "(") - 1)->text, name))
            continue;
        part->tokens.count = open;
        for (size_t i = cli_fold_first(f, "("); i < f->t->count; i++)
            cli_copy_push(f->c, &part->tokens, cli_fold_at(f, i));
        cli_copy_describe(part->item, p->item);
    }
    f->t = &part->tokens;
}

/* The text of a function, which stays as it was written if its tokens are the same. */
static void cli_fold_write(cli_fold *f, cli_fold_part *part)
{
    cli_tokens all = cli_fold_tokens(f->c, part->item, false);
    f->t = &part->tokens;
    if (f->c->plain && part->item->asked)
        cli_fold_unwrap(f, part);
    bool same = all.count == f->t->count;
    for (size_t i = 0; i < f->t->count && same; i++)
        same = cli_text_same(all.data[i].text, f->t->data[i].text);
    if (same || f->c->failed)
        return;
    size_t at[CLI_FOLD_PARAMS + 1];
    const size_t body = cli_fold_first(f, "{"), count = cli_fold_split(f, cli_fold_first(f, "("), at);
    all.count = 0;
    for (size_t i = 0; i < f->t->count; i++) {
        cli_copy_push(f->c, &all, cli_fold_at(f, i));
        for (size_t k = 0; i == body && k < count; k++) { /* parameters that nothing uses any more */
            const cli_text name = cli_fold_name(f, at[k], at[k + 1] - 1);
            const cli_token unused[3] = {{'.', true, true, {"(void)", 6}}, {'a', false, false, name},
                                         {'.', false, false, {";", 1}}};
            for (size_t n = 0; n < 3 && !cli_fold_uses(f, body, f->t->count, name); n++)
                cli_copy_push(f->c, &all, &unused[n]);
        }
    }
    part->item->code = cli_copy_lines(f->c, &all);
}

/* Specializes the wanted functions of f->c. */
static void cli_fold_copy(cli_fold *f)
{
    cli_copy *const c = f->c;
    f->parts = (cli_fold_part *)cli_copy_keep(c, (c->itemCount + 1) * sizeof(*f->parts));
    for (cli_item *item = c->items; item < c->items + c->itemCount && !c->failed; item++)
        if (item->wanted && !(item->kind == CLI_ITEM_MACRO && f->type != NULL)) {
            cli_fold_part *part = &f->parts[f->count++];
            part->item = item;
            part->function = cli_copy_is_function(item) && memchr(item->code.at, '#', item->code.n) == NULL;
            part->tokens = cli_fold_tokens(c, item, part->function && f->type != NULL);
        }
    for (int round = 0; round <= c->plain; round++) /* a parameter may be spare when the called functions have lost theirs */
        for (size_t k = f->count; k-- > 0 && !c->failed;)
            if (f->parts[k].function)
                cli_fold_specialize(f, &f->parts[k]);
    for (size_t k = 0; k < f->count && !c->failed; k++)
        if (f->parts[k].function && f->parts[k].item->wanted)
            cli_fold_write(f, &f->parts[k]);
}

#endif /* NNRT_TOOL_FOLD_H */
