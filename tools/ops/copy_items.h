/*
copy_items.h - the items of nnrt_ops.h, and those that a kernel needs, for a copy (copy.h).
Part of tools/nnrt.c.

An item is what the top level of the header consists of: a declaration, a function, a macro or a conditional group, with the
comment above it.
*/
#ifndef NNRT_TOOL_COPY_ITEMS_H
#define NNRT_TOOL_COPY_ITEMS_H

#include "copy_text.h"

static void cli_copy_add(cli_copy *c, cli_item_kind kind, cli_text comment, cli_text code)
{
    cli_item *items = (cli_item *)cli_copy_room(c, c->items, c->itemCount, sizeof(*items));
    if (items == NULL)
        return;
    memset(&items[c->itemCount], 0, sizeof(*items));
    items[c->itemCount].kind = kind;
    items[c->itemCount].branch = c->branch;
    items[c->itemCount].comment = comment;
    items[c->itemCount].written = code;
    items[c->itemCount++].code = code;
    c->items = items;
}

/* The end of the conditional group whose #if is before p. */
static const char *cli_copy_group_end(const char *p, const char *end)
{
    for (int depth = 1; depth > 0;) {
        const cli_token t = cli_copy_token(&p, end, true);
        const char *at = t.text.at;
        cli_text word;
        if (t.kind == 0)
            return end;
        if (t.kind != '#')
            continue;
        word = cli_copy_word(&at, t.text.at + t.text.n);
        depth += cli_text_is(word, "if") || cli_text_is(word, "ifdef") || cli_text_is(word, "ifndef");
        depth -= cli_text_is(word, "endif");
    }
    return p;
}

/* The end of the declaration, function or macro invocation at p. */
static const char *cli_copy_code_end(const char *p, const char *end)
{
    const char *ahead = p;
    cli_token t = cli_copy_token(&ahead, end, true), last = t;
    const char *next = ahead;
    bool body = false, call = t.kind == 'a' && cli_text_is(cli_copy_token(&next, end, true).text, "(");
    int depth = 0;
    for (t = cli_copy_token(&p, end, true); t.kind != 0; t = cli_copy_token(&p, end, true)) {
        if (t.kind == '/' || t.kind == '#')
            continue;
        body = depth == 0 && cli_text_is(t.text, "{") ? cli_text_is(last.text, ")") : body;
        depth += cli_text_is(t.text, "(") || cli_text_is(t.text, "{") || cli_text_is(t.text, "[");
        depth -= cli_text_is(t.text, ")") || cli_text_is(t.text, "}") || cli_text_is(t.text, "]");
        if (depth <= 0 &&
            (cli_text_is(t.text, ";") || (body && cli_text_is(t.text, "}")) || (call && cli_text_is(t.text, ")"))))
            return p;
        last = t;
    }
    return end;
}

/* Includes a comment that follows on the same line. */
static const char *cli_copy_with_remark(const char *p, const char *end)
{
    const char *next = p;
    const cli_token t = cli_copy_token(&next, end, true);
    return t.kind == '/' && !t.line ? next : p;
}

static void cli_copy_split(cli_copy *c, cli_text text);

/* Adds the items of both branches of a group `#ifdef NNRTI_PLAIN .. #else .. #endif`. A copy prints one branch. */
static void cli_copy_branches(cli_copy *c, cli_text group)
{
    const char *const all = group.at + group.n, *first = cli_text_find(group, "\n"), *other = cli_text_find(group, "\n#else");
    const char *end = all;
    for (const char *p = other; (p = cli_text_find(cli_text_between(p + 1, all), "\n#endif")) != NULL;)
        end = p;
    c->branch = 1;
    cli_copy_split(c, cli_text_between(first, other));
    c->branch = 2;
    cli_copy_split(c, cli_text_between(other + strlen("\n#else"), end));
    c->branch = 0;
}

static void cli_copy_directive(cli_copy *c, cli_text comment, const cli_token *t, const char **p, const char *end)
{
    const char *at = t->text.at;
    const cli_text word = cli_copy_word(&at, t->text.at + t->text.n);
    if (cli_text_is(word, "define")) {
        cli_copy_add(c, CLI_ITEM_MACRO, comment, t->text);
    } else if (cli_text_is(word, "if") || cli_text_is(word, "ifdef") || cli_text_is(word, "ifndef")) {
        const cli_text group = cli_text_between(t->text.at, cli_copy_group_end(*p, end));
        if (cli_text_find(group, "/* >>") != NULL)
            return; /* it contains sections, which are processed as if the group were absent */
        *p = group.at + group.n;
        if (cli_text_find(group, "#ifdef NNRTI_PLAIN") == group.at && cli_text_find(group, "\n#else") != NULL)
            cli_copy_branches(c, group);
        else if (cli_text_find(group, "FP_CONTRACT") == NULL && cli_text_find(group, "#include") == NULL)
            cli_copy_add(c, CLI_ITEM_GROUP, comment, group); /* a copy has its own: cli_copy_put_text */
    }
}

/* Adds the items of a text. */
static void cli_copy_split(cli_copy *c, cli_text text)
{
    const char *p = text.at, *end = text.n > 0 ? text.at + text.n : text.at; /* NULL if there is no text */
    cli_text comment = cli_text_between(end, end);
    while (!c->failed) {
        const char *before = p;
        const cli_token t = cli_copy_token(&p, end, true);
        const char *gap = comment.at + comment.n;
        size_t lines = 0;
        if (t.kind == 0)
            return;
        for (; comment.n > 0 && gap < t.text.at; gap++)
            lines += *gap == '\n';
        if (lines > 1 || comment.n == 0)
            comment = cli_text_between(t.text.at, t.text.at);
        if (t.kind == '/') {
            const bool title =
                cli_text_find(t.text, "/* >>") == t.text.at || cli_text_find(t.text, "/* ---") == t.text.at;
            comment = title ? cli_text_between(p, p) : cli_text_between(comment.at, p);
            continue;
        }
        if (t.kind == '#') {
            cli_copy_directive(c, comment, &t, &p, end);
        } else if (!cli_text_is(t.text, "}") && !cli_text_is(t.text, ";")) {
            p = cli_copy_with_remark(cli_copy_code_end(before, end), end);
            cli_copy_add(c, CLI_ITEM_CODE, comment, cli_text_between(t.text.at, p));
        }
        comment = cli_text_between(p, p);
    }
}

/* True if an item begins with a macro of the top level, or is an enumeration, whose values may come from one. */
static bool cli_copy_generates(const cli_copy *c, cli_text code)
{
    const char *p = code.at, *end = code.at + code.n;
    const cli_token t = cli_copy_token(&p, end, true);
    return cli_copy_macro(c, &t) != NULL || cli_text_is(t.text, "enum");
}

/* A declaration's text with its macros expanded. Temporary memory is freed. */
static cli_text cli_copy_expanded(cli_copy *c, cli_text code)
{
    cli_block *const before = c->blocks, *text;
    cli_tokens tokens = cli_copy_tokens(c, code), all;
    cli_text lines;
    memset(&all, 0, sizeof(all));
    cli_copy_expand(c, &tokens, &all, 0);
    lines = cli_copy_lines(c, &all);
    if (c->failed)
        return lines;
    text = c->blocks; /* the block of cli_copy_lines */
    c->blocks = text->next;
    cli_copy_free(c, before);
    text->next = c->blocks;
    c->blocks = text;
    return lines;
}

/* A macro's text; that of a test of NNRT_KEEP_TYPES becomes true, for a copy has the types that are asked for. */
static cli_text cli_copy_keep_types(cli_copy *c, cli_text code)
{
    const char *test = cli_text_find(code, "#define NNRTI_HAS_") == code.at ? cli_text_find(code, " ((NNRT_KEEP_TYPES &") : NULL;
    const size_t n = test != NULL ? (size_t)(test - code.at) : 0;
    char *text = test != NULL ? (char *)cli_copy_keep(c, n + sizeof(" true")) : NULL;
    if (text == NULL)
        return code;
    memcpy(text, code.at, n);
    memcpy(text + n, " true", sizeof(" true"));
    return cli_text_of(text);
}

/* Splits the header and the expansions of its macros. */
static void cli_copy_read(cli_copy *c, cli_text header)
{
    cli_item *items;
    size_t count;
    c->header = header;
    cli_copy_split(c, header);
    items = c->items;
    count = c->itemCount;
    for (size_t i = 0; i < count && !c->failed; i++) {
        cli_macro *macros;
        if (items[i].kind != CLI_ITEM_MACRO)
            continue;
        macros = (cli_macro *)cli_copy_room(c, c->macros, c->macroCount, sizeof(*macros));
        if (macros == NULL)
            return;
        c->macros = macros;
        items[i].code = cli_copy_keep_types(c, items[i].code);
        c->macros[c->macroCount++] = cli_copy_define(c, items[i].code);
    }
    if (c->macroCount > 0)
        qsort(c->macros, c->macroCount, sizeof(*c->macros), cli_copy_macro_order);
    c->items = NULL;
    c->itemCount = 0;
    for (size_t i = 0; i < count && !c->failed; i++) {
        const size_t first = c->itemCount;
        c->branch = items[i].branch;
        if (items[i].kind != CLI_ITEM_CODE || !cli_copy_generates(c, items[i].code)) {
            cli_copy_add(c, items[i].kind, items[i].comment, items[i].code);
            continue;
        }
        cli_copy_split(c, cli_copy_expanded(c, items[i].code));
        for (size_t k = first; k < c->itemCount; k++)
            if (c->items[k].comment.n == 0)
                c->items[k].comment = items[i].comment;
    }
    c->branch = 0;
}

static void cli_copy_name(cli_copy *c, cli_text name, size_t item)
{
    cli_name *names = (cli_name *)cli_copy_room(c, c->names, c->nameCount, sizeof(*names));
    if (names == NULL || name.n == 0)
        return;
    names[c->nameCount].text = name;
    names[c->nameCount++].item = item;
    c->names = names;
}

/* True if token t after the name before[0] shows that the name is declared there; before[1] and [2] are the tokens
   before the name. At depth 0 t is one of ( [ = ; , {, except for the type of an enumeration, an attribute after an
   array, and the result type of a function pointer; at depth 1 (*name) and the values of an enumeration. */
static bool cli_copy_declared(const cli_token *before, const cli_token *t, const char *p, const char *end, int depth,
                              bool values)
{
    const cli_text text = t->text;
    if (before[0].kind != 'a' || text.n != 1 || cli_text_is(before[0].text, "enum"))
        return false;
    if (depth == 0)
        return strchr("([=;,{", *text.at) != NULL && !cli_text_is(before[1].text, "enum") &&
               !cli_text_is(before[1].text, "]") &&
               !(*text.at == '(' && cli_text_is(cli_copy_token(&p, end, true).text, "*"));
    if (depth == 1 && values)
        return strchr("=,}", *text.at) != NULL &&
               (cli_text_is(before[1].text, "{") || cli_text_is(before[1].text, ","));
    return depth == 1 && *text.at == ')' && cli_text_is(before[1].text, "*") && cli_text_is(before[2].text, "(");
}

/* Records the names that item i declares, including those of #define. */
static void cli_copy_declares(cli_copy *c, size_t i)
{
    const cli_text code = c->items[i].code;
    const char *p = code.at, *end = code.at + code.n;
    cli_token t, before[3];
    bool values = false, initial = false;
    int depth = 0;
    memset(before, 0, sizeof(before));
    for (t = cli_copy_token(&p, end, true); t.kind != 0; t = cli_copy_token(&p, end, true)) {
        if (t.kind == '#') {
            const char *at = t.text.at;
            if (cli_text_is(cli_copy_word(&at, t.text.at + t.text.n), "define"))
                cli_copy_name(c, cli_copy_token(&at, t.text.at + t.text.n, false).text, i);
        }
        if (t.kind == '#' || t.kind == '/')
            continue;
        if (!initial && cli_copy_declared(before, &t, p, end, depth, values))
            cli_copy_name(c, before[0].text, i);
        if (depth == 0) {
            values = values || cli_text_is(t.text, "enum");
            initial = (initial || cli_text_is(t.text, "=")) && !cli_text_is(t.text, ";");
        }
        depth += cli_text_is(t.text, "(") || cli_text_is(t.text, "{") || cli_text_is(t.text, "[");
        depth -= cli_text_is(t.text, ")") || cli_text_is(t.text, "}") || cli_text_is(t.text, "]");
        before[2] = before[1];
        before[1] = before[0];
        before[0] = t;
    }
}

static int cli_copy_order(const void *a, const void *b)
{
    const cli_name *x = (const cli_name *)a, *y = (const cli_name *)b;
    const int order = cli_text_order(x->text, y->text);
    return order != 0 ? order : x->item < y->item ? -1 : x->item > y->item;
}

/* Index of the first name not less than `name` (lower bound): the name itself, or the first one with that prefix. */
static size_t cli_copy_find(const cli_copy *c, cli_text name)
{
    size_t lo = 0, hi = c->nameCount;
    cli_name probe;
    probe.text = name;
    probe.item = 0;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (cli_copy_order(&c->names[mid], &probe) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* In a copy, errors of kernels have a code but no message: the functions that write messages are omitted. */
static const char cli_copy_fail[] =
    "\n/* In nnrt_ops.h this also formats the message of `format` and its arguments. */\n"
    "static NNRT_ReturnCode nnrt_call_fail(const nnrt_call *call, NNRT_ReturnCode code, const char *format, ...)\n"
    "{\n"
    "    (void)format;\n"
    "    if (call != NULL && call->error != NULL && call->error->code == NNRT_SUCCESS)\n"
    "        call->error->code = code;\n"
    "    return code;\n"
    "}\n";

static bool cli_copy_uses_fail(cli_text code)
{
    return cli_text_find(code, "nnrt_call_fail(") != NULL;
}

/* Macros of the header for linkage, compilers and C++, and their texts in a copy. */
static const cli_copy_pair cli_copy_words[] = {
    {"NNRT_API", ""}, {"NNRTI_INLINE", "static inline"}, {"NNRTI_LOOPS", "static"}, {"NNRTI_UNUSED", ""},
    {"NNRTI_MEMCPY", "memcpy"}, {"NNRTI_INT32", ""}, {"NNRT_MAX_RANK", NULL}, {NULL, NULL}};

/* Functions of >>math whose place functions of <math.h> take in a plain copy; those err by at most CLI_COPY_ULP. */
#define CLI_COPY_ULP "4"
#define CLI_COPY_MATH(M)                                                                                               \
    M(acos) M(acosh) M(asin) M(asinh) M(atan) M(atanh) M(ceil) M(copysign) M(cos) M(cosh) M(erf) M(exp) M(expm1)       \
    M(floor) M(fmod) M(log) M(log1p) M(pow) M(round) M(sin) M(sinh) M(sqrt) M(tan) M(tanh) M(trunc)
#define CLI_COPY_MATH_ROW(f) {"nnrti_" #f, #f}, {"nnrti_" #f "f", #f "f"}, {"nnrt_" #f "f", #f "f"},
static const cli_copy_pair cli_copy_math[] = {CLI_COPY_MATH(CLI_COPY_MATH_ROW){"nnrti_absf", "fabsf"},
                                              {"nnrti_abs", "fabs"},
                                              {"nnrti_roundevenf", "rintf"},
                                              {"nnrti_roundeven", "rint"},
                                              {NULL, NULL}};

/* The row of cli_copy_words, or in a plain copy of cli_copy_math; NULL if there is none. */
static const cli_copy_pair *cli_copy_word_of(const cli_copy *c, cli_text name)
{
    const cli_copy_pair *word = cli_copy_words;
    while (word->name != NULL && !cli_text_is(name, word->name))
        word++;
    if (word->name == NULL && c->plain)
        for (word = cli_copy_math; word->name != NULL && !cli_text_is(name, word->name);)
            word++;
    return word->name != NULL ? word : NULL;
}

/* A function with its body, the only items that end with a brace. */
static bool cli_copy_is_function(const cli_item *item)
{
    return item->kind == CLI_ITEM_CODE && item->code.at[item->code.n - 1] == '}';
}

/* True if the copy cannot have the item: it is in the other branch of #ifdef NNRTI_PLAIN. */
static bool cli_copy_other(const cli_copy *c, const cli_item *item)
{
    return item->branch == (c->plain ? 2 : 1);
}

/* The definition of a function, NULL if there is none. */
static cli_item *cli_copy_definition(const cli_copy *c, cli_text name)
{
    for (size_t i = cli_copy_find(c, name); i < c->nameCount && cli_text_same(c->names[i].text, name); i++)
        if (cli_copy_is_function(&c->items[c->names[i].item]) && !cli_copy_other(c, &c->items[c->names[i].item]))
            return &c->items[c->names[i].item];
    return NULL;
}

static cli_item *cli_copy_function(const cli_copy *c, const char *name)
{
    return cli_copy_definition(c, cli_text_of(name));
}

/* The comment of `from` for `to`, unless that has a formula. */
static void cli_copy_describe(cli_item *to, const cli_item *from)
{
    if (cli_text_find(to->comment, " = ") == NULL)
        to->comment = from->comment;
}

/* Marks the items with this name as wanted (prefix: all names with this prefix) and appends them to the list. */
static void cli_copy_want(cli_copy *c, cli_text name, bool prefix, size_t *list, size_t *count)
{
    if (cli_copy_word_of(c, name) != NULL || cli_text_is(name, "NNRT_OPS")) /* the table names every rule and kernel */
        return;
    for (size_t i = cli_copy_find(c, name); !cli_text_is(name, "nnrt_call_fail") && i < c->nameCount; i++) {
        cli_text found = c->names[i].text;
        cli_item *item = &c->items[c->names[i].item];
        if (prefix && found.n > name.n)
            found.n = name.n;
        if (!cli_text_same(found, name))
            return;
        if (cli_copy_other(c, item))
            continue;
        if (item->kind == CLI_ITEM_CODE && item->code.at[item->code.n - 1] == ';' &&
            cli_copy_definition(c, c->names[i].text) != NULL)
            continue; /* a prototype: definitions come before their calls */
        if (!item->wanted)
            list[(*count)++] = c->names[i].item;
        item->wanted = true;
    }
}

/* Marks the items with these names and all their dependencies as wanted, and no others. */
static void cli_copy_close(cli_copy *c, const char *const *names, size_t n)
{
    size_t *list = (size_t *)cli_copy_keep(c, (c->itemCount + 1) * sizeof(*list)), count = 0;
    for (size_t i = 0; i < c->itemCount; i++)
        c->items[i].wanted = c->items[i].asked = false;
    for (size_t i = 0; list != NULL && i < n; i++)
        cli_copy_want(c, cli_text_of(names[i]), false, list, &count);
    for (size_t i = 0; i < count; i++)
        c->items[list[i]].asked = true;
    for (size_t i = 0; list != NULL && i < count; i++) {
        const cli_text code = c->items[list[i]].code;
        const char *p = code.at, *end = code.at + code.n;
        cli_token last, t;
        memset(&last, 0, sizeof(last));
        for (t = cli_copy_token(&p, end, false); t.kind != 0; t = cli_copy_token(&p, end, false)) {
            if (t.kind == 'a')
                cli_copy_want(c, t.text, false, list, &count);
            else if (last.kind == 'a' && cli_text_is(t.text, "##"))
                cli_copy_want(c, last.text, true, list, &count);
            last = t;
        }
        /* the type of an enumeration is followed by its enumerators, which attributes use, named or not */
        if (c->enumerators && cli_text_find(code, "typedef int32_t NNRT_") == code.at)
            for (size_t k = list[i] + 1; k < c->itemCount && k < list[i] + 4; k++)
                if (cli_text_find(c->items[k].code, "enum ") == c->items[k].code.at) {
                    if (!c->items[k].wanted)
                        list[count++] = k;
                    c->items[k].wanted = true;
                    break;
                }
    }
}

#endif /* NNRT_TOOL_COPY_ITEMS_H */
