/*
copy.h - nnrt ops --copy: extracts one operator's kernels and their dependencies from the text of nnrt_ops.h.
Part of tools/nnrt.c.

The header's top level is split into items: declarations, functions, macros and conditional groups, each with the
comment above it. Macro invocations at the top level (attribute structs, enumerations, one-line kernels) are expanded
like by the preprocessor, and split again, so that a copy has plain declarations. The items reachable through the names
in the kernels are printed in the order of the header. Additions to the header therefore need no change here.

    >>tokens   the text as tokens
    >>macros   expansion
    >>items    items of the top level, names that an item declares and uses
    >>head     the comment at the top of a copy
    fold.h     functions specialized for the copy
    >>copy     the command
*/
#ifndef NNRT_TOOL_COPY_H
#define NNRT_TOOL_COPY_H

#include "../common/args.h"
#include "../common/headers.h"

#define CLI_COPY_MOST_BYTES ((size_t)256 << 20) /* limit for the expanded text; nnrt_ops.h takes a twentieth */
#define CLI_COPY_DEPTH 64                       /* nesting of macros */

typedef struct cli_text {
    const char *at;
    size_t n;
} cli_text;

/* kind: 'a' name, '0' number, '"' text or character, '/' comment, '#' directive, '.' anything else, 0 the end. */
typedef struct cli_token {
    char kind;
    bool space, line; /* a space, a new line precedes the token */
    cli_text text;
} cli_token;

typedef struct cli_tokens {
    cli_token *data;
    size_t count;
} cli_tokens;

/* A macro of the header's top level; macros in conditional groups are not expanded. */
typedef struct cli_macro {
    cli_text name;
    cli_tokens params, body;
    bool function, variadic, busy;
} cli_macro;

typedef enum cli_item_kind {
    CLI_ITEM_CODE,
    CLI_ITEM_MACRO,
    CLI_ITEM_GROUP /* #if to #endif */
} cli_item_kind;

typedef struct cli_item {
    cli_item_kind kind;
    cli_text comment, code; /* the comment above, empty if there is none */
    cli_text written;       /* the code as the header has it, before cli_fold_copy */
    bool wanted, asked;     /* asked: one of the requested kernels */
} cli_item;

typedef struct cli_name {
    cli_text text;
    size_t item;
} cli_name;

typedef struct cli_block {
    struct cli_block *next;
    size_t bytes;
} cli_block;

typedef struct cli_copy_pair {
    const char *name, *what;
} cli_copy_pair;

typedef struct cli_copy {
    cli_block *blocks; /* all memory, most recent block first */
    size_t bytes;
    bool failed;      /* out of memory, which was reported */
    bool enumerators; /* include the enumerators of needed enumeration types */
    cli_item *items;
    size_t itemCount;
    cli_macro *macros; /* sorted by name */
    size_t macroCount;
    cli_name *names; /* sorted */
    size_t nameCount;
    cli_text out; /* the text of the items */
} cli_copy;

/* Zeroed memory that lives as long as c; NULL if there is none. */
static void *cli_copy_keep(cli_copy *c, size_t bytes)
{
    cli_block *block = NULL;
    if (!c->failed && bytes > CLI_COPY_MOST_BYTES - c->bytes)
        cli_fail("the header's macros expand to more than %.0f bytes", (double)CLI_COPY_MOST_BYTES);
    else if (!c->failed)
        block = (cli_block *)cli_alloc(sizeof(cli_block) + bytes, 1);
    c->failed = block == NULL;
    if (block == NULL)
        return NULL;
    c->bytes += bytes;
    block->bytes = bytes;
    block->next = c->blocks;
    c->blocks = block;
    return block + 1;
}

/* Frees all blocks that are newer than the block `until`; NULL: all blocks. */
static void cli_copy_free(cli_copy *c, const cli_block *until)
{
    while (c->blocks != until) {
        cli_block *next = c->blocks->next;
        c->bytes -= c->blocks->bytes;
        free(c->blocks);
        c->blocks = next;
    }
}

/* Grows a list: returns room for count elements and one more, data itself or a copy of twice the size. NULL: no
   memory. */
static void *cli_copy_room(cli_copy *c, void *data, size_t count, size_t bytes)
{
    void *more;
    if (count > 0 && (count < 16 || (count & (count - 1)) != 0))
        return c->failed ? NULL : data;
    more = cli_copy_keep(c, (count > 0 ? 2 * count : 16) * bytes);
    if (more != NULL && count > 0)
        memcpy(more, data, count * bytes);
    return more;
}

static void cli_copy_push(cli_copy *c, cli_tokens *list, const cli_token *t)
{
    cli_token *data = (cli_token *)cli_copy_room(c, list->data, list->count, sizeof(*data));
    if (data == NULL)
        return;
    data[list->count++] = *t;
    list->data = data;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tokens */

static bool cli_text_is(cli_text a, const char *b)
{
    return a.n == strlen(b) && memcmp(a.at, b, a.n) == 0;
}

static bool cli_text_same(cli_text a, cli_text b)
{
    return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

static int cli_text_order(cli_text a, cli_text b)
{
    const int order = memcmp(a.at, b.at, a.n < b.n ? a.n : b.n);
    return order != 0 ? order : a.n < b.n ? -1 : a.n > b.n;
}

/* First occurrence of b in a, NULL if there is none. */
static const char *cli_text_find(cli_text a, const char *b)
{
    const size_t n = strlen(b);
    for (size_t i = 0; i + n <= a.n; i++)
        if (memcmp(a.at + i, b, n) == 0)
            return a.at + i;
    return NULL;
}

static cli_text cli_text_between(const char *at, const char *end)
{
    cli_text text;
    text.at = at;
    text.n = (size_t)(end - at);
    return text;
}

static cli_text cli_text_of(const char *text)
{
    return cli_text_between(text, text + strlen(text));
}

static bool cli_copy_letter(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static bool cli_copy_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

/* The end of the comment that begins at p. */
static const char *cli_copy_comment_end(const char *p, const char *end)
{
    for (p += 2; p < end; p++)
        if (*p == '/' && p[-1] == '*')
            return p + 1;
    return end;
}

/* The end of the directive at p: the end of its line, including lines continued by a backslash or a comment. */
static const char *cli_copy_directive_end(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && (*p != '\n' || p[-1] == '\\' || (p - from > 1 && p[-1] == '\r' && p[-2] == '\\')))
        p = end - p > 3 && p[0] == '/' && p[1] == '*' ? cli_copy_comment_end(p, end) : p + 1;
    return p;
}

static const char *cli_copy_token_end(const char *p, const char *end, char kind)
{
    const char *from = p++;
    if (kind == 'a' || kind == '0')
        while (p < end && (cli_copy_letter(*p) || cli_copy_digit(*p) || (kind == '0' && *p == '.')))
            p++;
    else if (kind == '"') {
        for (; p < end && *p != *from && *p != '\n'; p++)
            p += *p == '\\' && end - p > 1;
        p += p < end;
    } else if (end - p > 1 && *from == '.' && p[0] == '.' && p[1] == '.')
        p += 2;
    else if (p < end && *from == '#' && *p == '#')
        p++;
    return p;
}

/* The next token after *p, which moves past it. directives: a # begins a directive, which is one token. */
static cli_token cli_copy_token(const char **p, const char *end, bool directives)
{
    cli_token t;
    const char *at = *p;
    memset(&t, 0, sizeof(t));
    for (; at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n' ||
                        (*at == '\\' && end - at > 1 && (at[1] == '\n' || at[1] == '\r')));
         at++) {
        t.space = true;
        t.line = t.line || *at == '\n';
    }
    if (at < end) {
        const bool comment = end - at > 3 && at[0] == '/' && at[1] == '*';
        t.kind = comment                     ? '/'
                 : directives && *at == '#'  ? '#'
                 : cli_copy_letter(*at)      ? 'a'
                 : cli_copy_digit(*at)       ? '0'
                 : *at == '"' || *at == '\'' ? '"'
                                             : '.';
        *p = comment         ? cli_copy_comment_end(at, end)
             : t.kind == '#' ? cli_copy_directive_end(at, end)
                             : cli_copy_token_end(at, end, t.kind);
        t.text = cli_text_between(at, *p);
    } else {
        *p = end;
    }
    return t;
}

/* The tokens of a text, including comments. */
static cli_tokens cli_copy_tokens(cli_copy *c, cli_text text)
{
    const char *p = text.at, *end = text.at + text.n;
    cli_tokens list;
    memset(&list, 0, sizeof(list));
    for (cli_token t = cli_copy_token(&p, end, false); t.kind != 0; t = cli_copy_token(&p, end, false))
        cli_copy_push(c, &list, &t);
    return list;
}

/* The first word after the # of a directive; *p moves past it. */
static cli_text cli_copy_word(const char **p, const char *end)
{
    cli_token t = cli_copy_token(p, end, false);
    if (t.kind == '.' && cli_text_is(t.text, "#"))
        t = cli_copy_token(p, end, false);
    return t.text;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>macros */

/* Parses a #define. */
static cli_macro cli_copy_define(cli_copy *c, cli_text directive)
{
    const char *p = directive.at, *end = directive.at + directive.n;
    cli_macro m;
    cli_token t;
    memset(&m, 0, sizeof(m));
    (void)cli_copy_word(&p, end);
    m.name = cli_copy_token(&p, end, false).text;
    m.function = p < end && *p == '(';
    for (bool open = m.function; open;) {
        t = cli_copy_token(&p, end, false);
        open = t.kind != 0 && !cli_text_is(t.text, ")");
        m.variadic = m.variadic || cli_text_is(t.text, "...");
        if (t.kind == 'a' || cli_text_is(t.text, "..."))
            cli_copy_push(c, &m.params, &t);
    }
    m.body = cli_copy_tokens(c, cli_text_between(p, end));
    return m;
}

static int cli_copy_macro_order(const void *a, const void *b)
{
    return cli_text_order(((const cli_macro *)a)->name, ((const cli_macro *)b)->name);
}

static cli_macro *cli_copy_macro(const cli_copy *c, const cli_token *t)
{
    cli_macro key;
    if (t->kind != 'a' || c->macroCount == 0)
        return NULL;
    key.name = t->text;
    return (cli_macro *)bsearch(&key, c->macros, c->macroCount, sizeof(key), cli_copy_macro_order);
}

/* Index of the parameter that t names, params.count if it is none. */
static size_t cli_copy_param(const cli_macro *m, const cli_token *t)
{
    size_t i = 0;
    while (i < m->params.count && (t->kind != 'a' || !cli_text_same(m->params.data[i].text, t->text)) &&
           !(cli_text_is(m->params.data[i].text, "...") && cli_text_is(t->text, "__VA_ARGS__")))
        i++;
    return i;
}

/* Appends token b to token a (the operator ##). */
static void cli_copy_paste(cli_copy *c, cli_token *a, const cli_token *b)
{
    char *text = (char *)cli_copy_keep(c, a->text.n + b->text.n);
    if (text == NULL)
        return;
    memcpy(text, a->text.at, a->text.n);
    memcpy(text + a->text.n, b->text.at, b->text.n);
    a->text.at = text;
    a->text.n += b->text.n;
}

/* "the tokens" of an argument (the operator #). */
static cli_token cli_copy_quote(cli_copy *c, const cli_tokens *arg, const cli_token *like)
{
    size_t n = 2;
    char *text;
    cli_token t = *like;
    for (size_t i = 0; i < arg->count; i++)
        n += arg->data[i].text.n + 1;
    text = (char *)cli_copy_keep(c, n);
    t.kind = '"';
    t.text.n = 0;
    if (text == NULL)
        return t;
    t.text.at = text;
    text[t.text.n++] = '"';
    for (size_t i = 0; i < arg->count; i++) {
        if (i > 0 && arg->data[i].space)
            text[t.text.n++] = ' ';
        memcpy(text + t.text.n, arg->data[i].text.at, arg->data[i].text.n);
        t.text.n += arg->data[i].text.n;
    }
    text[t.text.n++] = '"';
    return t;
}

static void cli_copy_expand(cli_copy *c, const cli_tokens *in, cli_tokens *out, int depth);

/* The body of m with its arguments substituted, before rescanning. */
static cli_tokens cli_copy_substitute(cli_copy *c, const cli_macro *m, const cli_tokens *args, int depth)
{
    cli_tokens out;
    bool paste = false;
    memset(&out, 0, sizeof(out));
    for (size_t i = 0; i < m->body.count; i++) {
        const cli_token *t = &m->body.data[i];
        const bool before = i + 1 < m->body.count && cli_text_is(t[1].text, "##");
        size_t param = m->function ? cli_copy_param(m, t) : m->params.count;
        cli_tokens part;
        memset(&part, 0, sizeof(part));
        if (cli_text_is(t->text, "##")) {
            paste = true;
            continue;
        }
        if (m->function && cli_text_is(t->text, "#") && i + 1 < m->body.count &&
            (param = cli_copy_param(m, t + 1)) < m->params.count) {
            const cli_token quoted = cli_copy_quote(c, &args[param], t);
            cli_copy_push(c, &part, &quoted);
            i++;
        } else if (param == m->params.count) {
            cli_copy_push(c, &part, t);
        } else if (paste || before) {
            for (size_t k = 0; k < args[param].count; k++)
                cli_copy_push(c, &part, &args[param].data[k]);
        } else {
            cli_copy_expand(c, &args[param], &part, depth + 1);
        }
        for (size_t k = 0; k < part.count; k++) {
            if (k == 0) {
                part.data[k].space = t->space;
                part.data[k].line = t->line;
            }
            if (k == 0 && paste && out.count > 0)
                cli_copy_paste(c, &out.data[out.count - 1], &part.data[k]);
            else
                cli_copy_push(c, &out, &part.data[k]);
        }
        paste = false;
    }
    return out;
}

/* The arguments of m, whose ( is token *i of in; *i moves to the ). NULL if the ) is missing. */
static cli_tokens *cli_copy_arguments(cli_copy *c, const cli_macro *m, const cli_tokens *in, size_t *i)
{
    cli_tokens *args = (cli_tokens *)cli_copy_keep(c, (m->params.count + 1) * sizeof(*args));
    size_t k = 0;
    int depth = 0;
    for (; args != NULL && *i < in->count; ++*i) {
        const cli_token *t = &in->data[*i];
        const bool opens = cli_text_is(t->text, "("), closes = cli_text_is(t->text, ")");
        depth += opens;
        depth -= closes;
        if (depth == 0)
            return args;
        if (depth == 1 && cli_text_is(t->text, ",") && !(m->variadic && k + 1 == m->params.count))
            k += k < m->params.count;
        else if (!(depth == 1 && opens))
            cli_copy_push(c, &args[k], t);
    }
    return NULL;
}

/* out = in with all macros of the top level expanded. */
static void cli_copy_expand(cli_copy *c, const cli_tokens *in, cli_tokens *out, int depth)
{
    for (size_t i = 0; i < in->count && !c->failed; i++) {
        const cli_token *t = &in->data[i];
        cli_macro *m = cli_copy_macro(c, t);
        const cli_tokens *args = NULL;
        cli_tokens body;
        size_t last = i + 1;
        bool use = m != NULL && !m->busy && depth < CLI_COPY_DEPTH;
        if (use && m->function) {
            use = last < in->count && cli_text_is(in->data[last].text, "(");
            args = use ? cli_copy_arguments(c, m, in, &last) : NULL;
            use = args != NULL;
        }
        if (!use) {
            cli_copy_push(c, out, t);
            continue;
        }
        body = cli_copy_substitute(c, m, args, depth);
        if (body.count > 0) {
            body.data[0].space = body.data[0].space || t->space;
            body.data[0].line = body.data[0].line || t->line;
        }
        m->busy = true;
        cli_copy_expand(c, &body, out, depth + 1);
        m->busy = false;
        i = m->function ? last : i;
    }
}

/* Tokens as text: lines end where they did or are full, and are indented by their braces, one more within parentheses and
   without a brace behind them. A function's parameters follow its name at once, also where a macro got them. */
static cli_text cli_copy_lines(cli_copy *c, const cli_tokens *in)
{
    size_t room = 1, indent = 0, line = 0, parentheses = 0;
    char *text;
    cli_text lines;
    memset(&lines, 0, sizeof(lines));
    for (size_t i = 0; i < in->count; i++)
        room += in->data[i].text.n + 1 + 4 * 8;
    text = (char *)cli_copy_keep(c, room);
    if (text == NULL)
        return lines;
    lines.at = text;
    for (size_t i = 0; i < in->count; i++) {
        const cli_token *t = &in->data[i];
        const bool behind = i > 0 && (cli_text_is(t[-1].text, ")") || cli_text_is(t[-1].text, "do"));
        const bool more = !t->line || parentheses > 0 || (behind && !cli_text_is(t->text, "{"));
        indent -= cli_text_is(t->text, "}") && indent > 0;
        parentheses -= cli_text_is(t->text, ")") && parentheses > 0;
        if (t->line || (t->space && lines.n - line + t->text.n > 116)) {
            text[lines.n++] = '\n';
            line = lines.n;
            for (size_t k = 0; k < indent + more && k < 8; k++, lines.n += 4)
                memset(text + lines.n, ' ', 4);
        } else if (t->space && !(indent == 0 && parentheses == 0 && i > 0 && t[-1].kind == 'a' &&
                                 cli_text_is(t->text, "("))) {
            text[lines.n++] = ' ';
        }
        memcpy(text + lines.n, t->text.at, t->text.n);
        lines.n += t->text.n;
        indent += cli_text_is(t->text, "{");
        parentheses += cli_text_is(t->text, "(");
    }
    return lines;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>items */

static void cli_copy_add(cli_copy *c, cli_item_kind kind, cli_text comment, cli_text code)
{
    cli_item *items = (cli_item *)cli_copy_room(c, c->items, c->itemCount, sizeof(*items));
    if (items == NULL)
        return;
    memset(&items[c->itemCount], 0, sizeof(*items));
    items[c->itemCount].kind = kind;
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
        if (cli_text_find(group, "FP_CONTRACT") == NULL && cli_text_find(group, "#include") == NULL)
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

/* Splits the header and the expansions of its macros. */
static void cli_copy_read(cli_copy *c, cli_text header)
{
    cli_item *items;
    size_t count;
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
        c->macros[c->macroCount++] = cli_copy_define(c, items[i].code);
    }
    if (c->macroCount > 0)
        qsort(c->macros, c->macroCount, sizeof(*c->macros), cli_copy_macro_order);
    c->items = NULL;
    c->itemCount = 0;
    for (size_t i = 0; i < count && !c->failed; i++) {
        const size_t first = c->itemCount;
        if (items[i].kind != CLI_ITEM_CODE || !cli_copy_generates(c, items[i].code)) {
            cli_copy_add(c, items[i].kind, items[i].comment, items[i].code);
            continue;
        }
        cli_copy_split(c, cli_copy_expanded(c, items[i].code));
        for (size_t k = first; k < c->itemCount; k++)
            if (c->items[k].comment.n == 0)
                c->items[k].comment = items[i].comment;
    }
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

/* The row of cli_copy_words, NULL if there is none. */
static const cli_copy_pair *cli_copy_word_of(cli_text name)
{
    const cli_copy_pair *word = cli_copy_words;
    while (word->name != NULL && !cli_text_is(name, word->name))
        word++;
    return word->name != NULL ? word : NULL;
}

/* Marks the items with this name as wanted (prefix: all names with this prefix) and appends them to the list. */
static void cli_copy_want(cli_copy *c, cli_text name, bool prefix, size_t *list, size_t *count)
{
    if (cli_copy_word_of(name) != NULL || cli_text_is(name, "NNRT_OPS")) /* the table names every rule and kernel */
        return;
    for (size_t i = cli_copy_find(c, name); !cli_text_is(name, "nnrt_call_fail") && i < c->nameCount; i++) {
        cli_text found = c->names[i].text;
        cli_item *item = &c->items[c->names[i].item];
        if (prefix && found.n > name.n)
            found.n = name.n;
        if (!cli_text_same(found, name))
            return;
        if (!item->wanted)
            list[(*count)++] = c->names[i].item;
        item->wanted = true;
    }
}

/* Marks the items with these names and all their dependencies as wanted. */
static void cli_copy_close(cli_copy *c, const char *const *names, size_t n)
{
    size_t *list = (size_t *)cli_copy_keep(c, (c->itemCount + 1) * sizeof(*list)), count = 0;
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

/* The definition of a function, NULL if there is none. */
static const cli_item *cli_copy_function(const cli_copy *c, const char *name)
{
    const cli_text text = cli_text_of(name);
    for (size_t i = cli_copy_find(c, text); i < c->nameCount && cli_text_same(c->names[i].text, text); i++) {
        const cli_item *item = &c->items[c->names[i].item];
        if (item->kind == CLI_ITEM_CODE && item->code.at[item->code.n - 1] == '}')
            return item;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>head */

#define CLI_COPY_NOTHING(...)
#define CLI_COPY_RULE(name, number, S, whose, rule, ...) {#name, "nnrti_rule_" #rule},
#define CLI_COPY_KERNEL(types, operands, S, fn, args, ...) {"nnrt_" #fn, #args},
#define CLI_COPY_KERNELS(name, number, S, whose, rule, in, out, flags, kernels, ...) kernels
static const cli_copy_pair cli_copy_rules[] = {NNRT_OPS(CLI_COPY_RULE, CLI_COPY_NOTHING){NULL, NULL}};
static const cli_copy_pair cli_copy_calls[] = {NNRT_OPS(CLI_COPY_KERNELS, CLI_COPY_KERNEL){NULL, NULL}};

static const char *cli_copy_what(const cli_copy_pair *pairs, const char *name)
{
    while (pairs->name != NULL && strcmp(pairs->name, name) != 0)
        pairs++;
    return pairs->what;
}

/* The parameter names of a function's definition, at most `most`; returns their number. */
static size_t cli_copy_parameters(cli_text code, cli_text *names, size_t most)
{
    const char *p = code.at, *end = code.at + code.n;
    size_t count = 0;
    int depth = 0;
    cli_token t, last;
    memset(&last, 0, sizeof(last));
    for (t = cli_copy_token(&p, end, true); t.kind != 0 && !cli_text_is(t.text, "{");
         t = cli_copy_token(&p, end, true)) {
        depth += cli_text_is(t.text, "(");
        if (depth == 1 && last.kind == 'a' && (cli_text_is(t.text, ",") || cli_text_is(t.text, ")"))) {
            if (count < most)
                names[count] = last.text;
            count++;
        }
        depth -= cli_text_is(t.text, ")");
        last = t;
    }
    return count;
}

#include "fold.h"

/* Operand i of "x[..] weight=0 bias?[O]=0": its name, and the rest in *rest. */
static cli_text cli_copy_operand(const char *row, uint32_t i, cli_text *rest)
{
    size_t n;
    for (; i > 0 && strchr(row, ' ') != NULL; i--)
        row = strchr(row, ' ') + 1;
    n = strcspn(row, "?*[=: ");
    *rest = cli_text_between(row + n, row + strcspn(row, " "));
    return cli_text_between(row, row + n);
}

/* The rest of an operand without its shape. */
static cli_text cli_copy_type(cli_text rest)
{
    const char *end = rest.n > 0 && *rest.at == '[' ? (const char *)memchr(rest.at, ']', rest.n) : NULL;
    return end != NULL ? cli_text_between(end + 1, rest.at + rest.n) : rest;
}

/* Prints the row's properties of operand i: optional, repeated, type. */
static void cli_copy_put_operand(const nnrt_op *op, const nnrt_kernel_row *kernel, bool output, uint32_t i)
{
    static const char *const types[] = {"iint32 or int64",
                                        "ffloat16 or float32",
                                        "na number",
                                        "bbool",
                                        "qqint8 or quint8",
                                        "sint32",
                                        "wint32 or int64",
                                        ".a type that the model declares"};
    const char *inputs = kernel->operands != NULL ? kernel->operands : op->inputs;
    cli_text rest, name = cli_copy_operand(output ? op->outputs : inputs, i, &rest), unused;
    printf("%s %u, %.*s", output ? "output" : "input", (unsigned)i, (int)name.n, name.at);
    if (rest.n > 0 && (*rest.at == '?' || *rest.at == '*')) {
        fputs(*rest.at == '?' ? ", may be NULL" : ", as many as there are, one behind the other", stdout);
        rest = cli_text_between(rest.at + 1, rest.at + rest.n);
    }
    rest = cli_copy_type(rest);
    if (rest.n > 1 && *rest.at == '=') {
        name = cli_copy_operand(op->inputs, (uint32_t)(rest.at[1] - '0'), &unused);
        printf(": of the type of %.*s", (int)name.n, name.at);
    }
    for (size_t k = 0; rest.n > 1 && *rest.at == ':' && k < sizeof(types) / sizeof(types[0]); k++)
        if (types[k][0] == rest.at[1])
            printf(": %s", types[k] + 1);
    if (!output && i == 0) {
        const uint32_t plain = kernel->types & NNRT_TYPES_ANY, quant = kernel->types & ~NNRT_TYPES_ANY;
        fputs(plain == NNRT_TYPES_ANY ? ": any type" : ": ", stdout);
        cli_put_types(plain != NNRT_TYPES_ANY ? plain : 0, "");
        fputs(quant == NNRT_TYPES_QUANT(plain) && quant != 0 ? "; integers may be quantized"
              : quant != 0 && plain != 0                     ? "; quantized: "
                                                             : "",
              stdout);
        cli_put_types(quant != NNRT_TYPES_QUANT(plain) ? quant : 0, "");
    }
    putchar('\n');
}

/* Prints the call of a kernel: its parameters, by the pattern of its row. False: the parameters do not match. */
static bool cli_copy_put_call(const nnrt_op *op, const nnrt_kernel_row *kernel, cli_text code, bool print)
{
    const char *pattern = cli_copy_what(cli_copy_calls, kernel->name), *out = strchr(pattern, '_') + 1;
    const bool inputsV = pattern[0] == 'V', outputsV = out[0] == 'V', call = out[1] == 'c';
    const uint32_t nIn = inputsV ? 1 : (uint32_t)(pattern[0] - '0');
    const uint32_t nDerived = pattern[1] == 'd' ? (uint32_t)(pattern[2] - '0') : 0;
    const uint32_t nOut = outputsV ? 1 : (uint32_t)(out[0] - '0');
    const size_t want = 1u + nIn + inputsV + nDerived + nOut + outputsV + call;
    cli_text names[24];
    size_t at = 1;
    if (cli_copy_parameters(code, names, 24) != want || want > 24)
        return false;
    if (!print)
        return true;
    printf("\n%s(", kernel->name);
    for (size_t i = 0; i < want; i++)
        printf("%s%.*s", i > 0 ? ", " : "", (int)names[i].n, names[i].at);
    printf(")\n    %-10.*s the resolved attributes, see below\n", (int)names[0].n, names[0].at);
    for (uint32_t i = 0; i < nIn; i++, at++) {
        printf("    %-10.*s ", (int)names[at].n, names[at].at);
        cli_copy_put_operand(op, kernel, false, i);
    }
    if (inputsV)
        printf("    %-10.*s how many\n", (int)names[at].n, names[at].at), at++;
    for (uint32_t i = 0; i < nDerived; i++, at++)
        printf("    %-10.*s derived constant %u, see below\n", (int)names[at].n, names[at].at, (unsigned)i);
    for (uint32_t i = 0; i < nOut; i++, at++) {
        printf("    %-10.*s ", (int)names[at].n, names[at].at);
        cli_copy_put_operand(op, kernel, true, i);
    }
    if (outputsV)
        printf("    %-10.*s how many\n", (int)names[at].n, names[at].at), at++;
    if (call)
        printf("    %-10.*s scratch memory, thread pool and error code; may be NULL\n", (int)names[at].n,
               names[at].at);
    return true;
}

/* Prints resolved attributes and derived constants, from the comments of the functions that the operator's rule
   uses. */
static void cli_copy_put_rule(cli_copy *c, const char *rule, bool derived)
{
    for (size_t i = 0; i < c->itemCount; i++)
        c->items[i].wanted = false;
    cli_copy_close(c, &rule, 1);
    printf("%s of nnrt_ops.h checks shapes and attributes and resolves the attributes before the first call.\n", rule);
    for (size_t i = 0; i < c->itemCount && !c->failed; i++) {
        const cli_item *item = &c->items[i];
        const char *resolved = cli_text_find(item->comment, "Resolved:");
        const char *at = cli_text_find(item->comment, "Derived:"), *end = item->comment.at + item->comment.n - 2;
        at = !derived || at == NULL || (resolved != NULL && resolved < at) ? resolved : at;
        if (!item->wanted || item->kind != CLI_ITEM_CODE || at == NULL)
            continue;
        fputs("    ", stdout);
        while (end > at && (end[-1] == ' ' || end[-1] == '\n'))
            end--;
        for (; at < end; at++) {
            putchar(*at);
            if (*at == '\n') {
                fputs("    ", stdout);
                while (at + 1 < end && at[1] == ' ')
                    at++;
            }
        }
        putchar('\n');
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>copy */

/* Names of operators elsewhere, in TensorFlow Lite, PyTorch and papers; ONNX names come from nnrt_onnx_operator. */
static const cli_copy_pair cli_copy_aliases[] = {
    {"Attn", "ATTENTION"}, {"AveragePool2D", "AVGPOOL_FUSION"}, {"AvgPool", "AVGPOOL_FUSION"}, {"AvgPool2D", "AVGPOOL_FUSION"},
    {"BatchMatMul", "MATMUL_FUSION"}, {"BatchNorm", "FUSED_BATCH_NORM"}, {"Bmm", "MATMUL_FUSION"},
    {"Concatenation", "CONCAT"}, {"Conv1D", "CONV2D_FUSION"}, {"Conv2D", "CONV2D_FUSION"}, {"Conv3D", "CONV_3D"},
    {"Deconvolution", "CONV2D_TRANSPOSE_FUSION"}, {"Dense", "FULL_CONNECTION"}, {"DepthwiseConv", "CONV2D_FUSION"},
    {"DepthwiseConv2D", "CONV2D_FUSION"}, {"Dequantize", "QUANT_DTYPE_CAST"}, {"FullyConnected", "FULL_CONNECTION"},
    {"Gemm", "FULL_CONNECTION"}, {"GroupNorm", "GROUP_NORM_FUSION"}, {"InnerProduct", "FULL_CONNECTION"},
    {"Interpolate", "RESIZE"}, {"LayerNorm", "LAYER_NORM_FUSION"}, {"Linear", "FULL_CONNECTION"}, {"Logistic", "ACTIVATION"},
    {"MaxPool2D", "MAX_POOL_FUSION"}, {"Mean", "REDUCE_FUSION"}, {"MultiHeadAttention", "ATTENTION"},
    {"NMS", "NON_MAX_SUPPRESSION"}, {"Pack", "STACK"}, {"PixelShuffle", "DEPTH_TO_SPACE"}, {"Quantize", "QUANTIZE_LINEAR"},
    {"ReLU6", "ACTIVATION"}, {"ResizeBilinear", "RESIZE"}, {"ResizeNearestNeighbor", "RESIZE"},
    {"RMSNorm", "RMS_NORMALIZATION"}, {"ScaledDotProductAttention", "ATTENTION"}, {"SDPA", "ATTENTION"},
    {"SiLU", "ACTIVATION"}, {"Sum", "REDUCE_FUSION"}, {"TransposeConv", "CONV2D_TRANSPOSE_FUSION"}, {"Unpack", "UNSTACK"},
    {"Upsample", "RESIZE"}, {NULL, NULL}};

/* True if two names are equal except for case, '_', '-', and a FUSION at the end of the operator's name. */
static bool cli_copy_alike(const char *name, const char *other)
{
    for (;; name++, other++) {
        name += strspn(name, "_-");
        other += strspn(other, "_-");
        if (*name == '\0')
            return *other == '\0' || strcmp(other, "FUSION") == 0;
        if (cli_upper(*name) != cli_upper(*other))
            return false;
    }
}

/* Operators that another name stands for, separated by spaces, the most usual one first. NULL: unknown name. */
static const char *cli_copy_meaning(const char *name)
{
    nnrt_onnx_about about;
    const nnrt_op *op;
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++)
        if (cli_copy_alike(name, op->name))
            return op->name;
    for (uint32_t i = 0; cli_copy_aliases[i].name != NULL; i++)
        if (cli_copy_alike(name, cli_copy_aliases[i].name))
            return cli_copy_aliases[i].what;
    for (uint32_t i = 0; nnrt_onnx_operator(i, &about); i++)
        if (cli_copy_alike(name, about.name) && *about.becomes != '\0')
            return about.becomes;
    return NULL;
}

/* The three closest names, the closest first, and the operators they stand for. */
typedef struct cli_copy_near {
    const char *names[3], *what[3];
    unsigned far[3];
} cli_copy_near;

static void cli_copy_look(cli_copy_near *n, const char *name, const char *other, const char *what)
{
    const unsigned distance = cli_distance(name, other);
    int at = 3, end = 2;
    for (int k = 0; k < 3; k++)
        if (n->what[k] != NULL && strcmp(n->what[k], what) == 0) {
            if (n->far[k] <= distance)
                return;
            end = k; /* only the closest name of each operator */
        }
    while (at > 0 && (n->what[at - 1] == NULL || distance < n->far[at - 1]))
        at--;
    if (at == 3)
        return;
    for (int k = end; k > at; k--) {
        n->names[k] = n->names[k - 1];
        n->what[k] = n->what[k - 1];
        n->far[k] = n->far[k - 1];
    }
    n->names[at] = other;
    n->what[at] = what;
    n->far[at] = distance;
}

/* Reports an unknown name with the closest ones: of operators here and elsewhere, or of kernels. */
static int cli_copy_unknown(const char *name)
{
    cli_copy_near near;
    nnrt_onnx_about about;
    const nnrt_op *op;
    char text[512] = "";
    size_t at = 0;
    memset(&near, 0, sizeof(near));
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++) {
        cli_copy_look(&near, name, op->name, op->name);
        for (uint32_t k = 0; k < op->kernelCount && strncmp(name, "nnrt_", 5) == 0; k++)
            cli_copy_look(&near, name, op->kernels[k].name, op->kernels[k].name);
    }
    for (uint32_t i = 0; cli_copy_aliases[i].name != NULL; i++)
        cli_copy_look(&near, name, cli_copy_aliases[i].name, cli_copy_aliases[i].what);
    for (uint32_t i = 0; nnrt_onnx_operator(i, &about); i++)
        if (*about.becomes == '\0' && *about.with != '\0' && cli_copy_alike(name, about.name))
            return cli_fail("%s is not an operator of nnrt: the ONNX importer uses %s instead", about.name, about.with);
        else if (*about.becomes != '\0')
            cli_copy_look(&near, name, about.name, about.becomes);
    for (int k = 0; k < 3 && near.names[k] != NULL && at < sizeof(text); k++) {
        const bool same = strcmp(near.names[k], near.what[k]) == 0;
        at += nnrt_text(text + at, sizeof(text) - at, "%s%s%s%s%s", k > 0 ? ", " : "", near.what[k], same ? "" : " (",
                        same ? "" : near.names[k], same ? "" : ")");
    }
    return cli_fail("unknown operator or kernel '%s'; the nearest names are %s; 'nnrt ops' lists all operators", name,
                    text);
}

static const char cli_copy_licence[] =
    "MIT License\n"
    "Copyright (c) 2026 nnrt authors\n"
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated\n"
    "documentation files (the \"Software\"), to deal in the Software without restriction, including without limitation the\n"
    "rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit\n"
    "persons to whom the Software is furnished to do so, subject to the following conditions:\n"
    "The above copyright notice and this permission notice shall be included in all copies or substantial portions of the\n"
    "Software.\n"
    "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE\n"
    "WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR\n"
    "COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR\n"
    "OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.\n";

/* Appends text to the output, with the words of cli_copy_words replaced. */
static void cli_copy_put(cli_copy *c, cli_text text)
{
    const char *p = text.at, *end = text.at + text.n;
    char *out = (char *)cli_copy_keep(c, c->out.n + 2 * text.n + 1);
    size_t n = c->out.n;
    if (out == NULL)
        return;
    if (n > 0)
        memcpy(out, c->out.at, n);
    while (p < end) {
        const char *from = p;
        const cli_copy_pair *word;
        while (p < end && (cli_copy_letter(*p) || (p > from && cli_copy_digit(*p))))
            p++;
        word = p > from ? cli_copy_word_of(cli_text_between(from, p)) : NULL;
        if (p == from || (word != NULL && word->what == NULL))
            word = NULL;
        if (word != NULL && *word->what == '\0') {
            p += p < end && *p == ' ';
            n -= (p == end || *p == ';' || *p == '=') && n > 0 && out[n - 1] == ' ';
            continue;
        }
        if (word != NULL) {
            memcpy(out + n, word->what, strlen(word->what));
            n += strlen(word->what);
            continue;
        }
        p += p == from;
        memcpy(out + n, from, (size_t)(p - from));
        n += (size_t)(p - from);
    }
    c->out = cli_text_between(out, out + n);
}

static void cli_copy_put_line(cli_copy *c, const char *text)
{
    cli_copy_put(c, cli_text_of(text));
    cli_copy_put(c, cli_text_of("\n"));
}

/* True if a wanted item, except `except`, contains the name in its code. */
static bool cli_copy_said(const cli_copy *c, cli_text name, const cli_item *except)
{
    for (size_t i = 0; i < c->itemCount; i++) {
        const cli_text code = c->items[i].code;
        const char *p = code.at, *end = code.at + code.n;
        cli_token t;
        if (!c->items[i].wanted || &c->items[i] == except || cli_text_find(code, "enum ") == code.at)
            continue;
        for (t = cli_copy_token(&p, end, false); t.kind != 0; t = cli_copy_token(&p, end, false))
            if (t.kind == 'a' && cli_text_same(t.text, name))
                return true;
    }
    return false;
}

/* Prints an enumeration, several values in a line. all: also values that the copy does not name; attributes may have
   them. */
static void cli_copy_put_enum(cli_copy *c, const cli_item *item, bool all)
{
    const cli_tokens list = cli_copy_tokens(c, item->code);
    size_t i = 0, line = 0;
    bool some = false;
    for (size_t k = 0; k < c->itemCount && !all; k++) /* macros that make the names from parts */
        all = c->items[k].wanted && cli_text_find(c->items[k].code, "NNRT_DATA_TYPE_##") != NULL;
    while (i < list.count && !cli_text_is(list.data[i].text, "{"))
        i++;
    for (i++; i < list.count && list.data[i].kind == 'a';) {
        const char *from = list.data[i].text.at, *end;
        size_t k = i;
        while (!cli_text_is(list.data[k].text, ",") && !cli_text_is(list.data[k].text, "}"))
            k++;
        end = list.data[k - 1].text.at + list.data[k - 1].text.n;
        if (k > i + 1 && (all || cli_copy_said(c, list.data[i].text, item))) {
            const bool full = !some || line + (size_t)(end - from) > 112;
            cli_copy_put(c, cli_text_of(some ? "," : "enum {"));
            cli_copy_put(c, cli_text_of(full ? "\n    " : " "));
            cli_copy_put(c, cli_text_between(from, end));
            line = full ? 4 + (size_t)(end - from) : line + 2 + (size_t)(end - from);
            some = true;
        }
        i = k + 1;
    }
    if (some)
        cli_copy_put_line(c, "\n};");
}

/* Appends one item, with the comment above it unless it is the same as before. */
static void cli_copy_put_item(cli_copy *c, const cli_item *item, const cli_item *before)
{
    static const char api[] = "NNRT_API";
    cli_text code = item->code;
    const bool values = cli_text_find(code, "enum ") == code.at && before != NULL &&
                        cli_text_find(before->code, "typedef int32_t NNRT_") == before->code.at;
    const bool block = item->comment.n > 0 || before == NULL || before->kind != item->kind ||
                       memchr(before->code.at, '\n', before->code.n) != NULL;
    if (values) {
        cli_copy_put_enum(c, item, cli_text_find(before->code, "_ReturnCode;") == NULL &&
                                       cli_text_find(before->code, "_DataType;") == NULL);
        return;
    }
    if (block && c->out.n > 0) /* adjacent one-line items are not separated */
        cli_copy_put_line(c, "");
    if (item->comment.n > 0 && (before == NULL || item->comment.at != before->comment.at)) {
        cli_copy_put(c, item->comment);
        cli_copy_put_line(c, "");
    }
    if (item->kind == CLI_ITEM_CODE && !item->asked && cli_text_find(code, api) == code.at) {
        cli_copy_put(c, cli_text_of("static")); /* a public function of the library, but a helper here */
        code = cli_text_between(code.at + strlen(api), code.at + code.n);
    }
    cli_copy_put(c, code);
    cli_copy_put_line(c, "");
}

/* The type of views without the members for quantization, if nothing else of the copy names them. */
static void cli_copy_plain_view(cli_copy *c)
{
    const char *const type = "typedef struct nnrt_view {", *const quant = "quant";
    for (size_t i = 0; i < c->itemCount; i++) {
        const cli_text code = c->items[i].code;
        const char *const count = "quantCount", *line = code.at, *end = code.at + code.n, *next;
        char *text;
        size_t n = 0;
        if (!c->items[i].wanted || cli_text_find(code, type) != code.at ||
            cli_copy_said(c, cli_text_of(quant), &c->items[i]) ||
            cli_copy_said(c, cli_text_of(count), &c->items[i]) ||
            (text = (char *)cli_copy_keep(c, code.n)) == NULL)
            continue;
        for (; line < end; line = next) {
            for (next = line; next < end && (next == line || next[-1] != '\n'); next++)
                continue;
            if (cli_text_find(cli_text_between(line, next), quant) != NULL)
                continue;
            memcpy(text + n, line, (size_t)(next - line));
            n += (size_t)(next - line);
        }
        c->items[i].code = cli_text_between(text, text + n);
    }
}

/* Appends the wanted items in the order of the header. */
static void cli_copy_put_items(cli_copy *c)
{
    const cli_item *before = NULL;
    bool fails = false;
    for (size_t i = 0; i < c->itemCount; i++) {
        const cli_item *item = &c->items[i];
        bool again = false;
        for (size_t k = 0; k < i && item->wanted && !again; k++) /* two rows that share a kernel declare it twice */
            again = c->items[k].wanted && cli_text_same(c->items[k].code, item->code);
        if (again || !item->wanted)
            continue;
        if (item->kind == CLI_ITEM_CODE && !fails && cli_copy_uses_fail(item->code)) {
            fails = true;
            cli_copy_put(c, cli_text_of(cli_copy_fail));
            before = NULL;
        }
        cli_copy_put_item(c, item, before);
        before = item;
    }
}

/* Prints the text behind the comment at the top: #include lines that the items need, the items, all without contraction
   of a * b + c. */
static void cli_copy_put_text(cli_copy *c)
{
    static const struct {
        const char *header, *words[6];
    } headers[] = {{"float.h", {"FLT_", "DBL_"}}, {"math.h", {"NAN", "INFINITY", " sqrt(", " sqrtf("}},
                   {"stdbool.h", {"bool", "true", "false"}}, {"stddef.h", {"size_t", "ptrdiff_t", "NULL"}},
                   {"stdint.h", {"int32_t", "int64_t", "uint8_t"}},
                   {"string.h", {"memcpy", "memset", "memcmp", "memmove", "strcmp", "strlen"}}};
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        bool used = false;
        for (int k = 0; k < 6 && headers[i].words[k] != NULL; k++)
            used = used || cli_text_find(c->out, headers[i].words[k]) != NULL;
        if (used)
            printf("#include <%s>\n", headers[i].header);
    }
    fputs("\n/* a * b + c is rounded twice here: the same bits on every platform */\n#if defined(__clang__)\n"
          "#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n#pragma GCC push_options\n"
          "#pragma GCC optimize(\"fp-contract=off\")\n#endif\n", stdout);
    if (cli_text_find(c->out, "NNRT_MAX_RANK") != NULL)
        printf("\n#define NNRT_MAX_RANK %d\n", NNRT_MAX_RANK);
    putchar('\n');
    fwrite(c->out.at, 1, c->out.n, stdout);
    fputs("\n#if defined(__clang__)\n#pragma STDC FP_CONTRACT DEFAULT\n#elif defined(__GNUC__)\n"
          "#pragma GCC pop_options\n#endif\n", stdout);
    c->out.n = 0;
}

/* True if an item computes derived constants. */
static bool cli_copy_derives(const cli_item *item, const char *rule)
{
    static const char *const words[] = {"nnrti_derive(", "nnrti_quant_derive(", "nnrti_factor(", "nnrti_requantise_list("};
    bool derives = cli_text_find(item->code, rule) != NULL || cli_text_find(item->comment, "Derived:") != NULL;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        derives = derives || cli_text_find(item->code, words[i]) != NULL;
    return derives && item->kind == CLI_ITEM_CODE && item->code.at[item->code.n - 1] == '}';
}

/* Prints the functions with which the rule computes derived constants, after the kernels and as documentation only:
   they need the operator table. */
static void cli_copy_put_derived(cli_copy *c, const char *rule)
{
    const cli_item *before = NULL;
    for (size_t i = 0; i < c->itemCount; i++)
        c->items[i].wanted = false;
    cli_copy_close(c, &rule, 1);
    printf("\n#if 0 /* How %s of nnrt_ops.h computes the derived constants. c has the node: in[] and out[] are its\n"
           "         operands, with their scales and zero points. */\n",
           rule);
    for (size_t i = 0; i < c->itemCount; i++)
        if (c->items[i].wanted && cli_copy_derives(&c->items[i], rule)) {
            cli_copy_put_item(c, &c->items[i], before);
            before = &c->items[i];
        }
    fwrite(c->out.at, 1, c->out.n, stdout);
    printf("\n#endif\n");
}

/* Prints the comment at the top of a copy. kernel NULL: all kernels of op. */
static void cli_copy_put_head(cli_copy *c, const nnrt_op *op, const char *kernel, const char *asked, bool derived)
{
    printf("/*\n%s of nnrt %s: extracted from nnrt_ops.h by 'nnrt ops --copy %s'. C99 and C++17, independent of the\n"
           "library; it checks, allocates and stores nothing.\n",
           kernel != NULL ? kernel : op->name, nnrt_version(), asked);
    for (uint32_t i = 0; i < op->kernelCount; i++)
        if (kernel == NULL || strcmp(kernel, op->kernels[i].name) == 0)
            (void)cli_copy_put_call(op, &op->kernels[i], cli_copy_function(c, op->kernels[i].name)->code, true);
    printf("Views are arrays with strides in elements.%s Returns NNRT_SUCCESS, or the code of an error in the data.\n",
           (op->flags & NNRT_OP_LAYOUT) != 0 ? " Images have the axes [N,H,W,C] for any strides." : "");
    cli_copy_put_rule(c, cli_copy_what(cli_copy_rules, op->name), derived);
    printf("\n%s*/\n", cli_copy_licence);
}

#define CLI_COPY_STRUCT(types, operands, S, fn, args, ...) {"nnrt_" #fn, #S},
static const cli_copy_pair cli_copy_structs[] = {NNRT_OPS(CLI_COPY_KERNELS, CLI_COPY_STRUCT){NULL, NULL}};

#define CLI_COPY_OPERANDS 5    /* most inputs of an example */
#define CLI_COPY_TRIES 200000u /* number of shapes tried for one */

/* An example of a call: operands that the rule accepts with default attributes. */
typedef struct cli_copy_example {
    nnrt_resolve r;
    nnrt_operand in[CLI_COPY_OPERANDS + 4], out[CLI_COPY_OPERANDS + 4];
    const char *kernel;
} cli_copy_example;

static void *cli_copy_example_room(void *user, size_t bytes)
{
    return cli_copy_keep((cli_copy *)user, bytes);
}

/* The type of input i of an example whose input 0 has type first. */
static NNRT_DataType cli_copy_example_type(const nnrt_op *op, const nnrt_kernel_row *row, uint32_t i, NNRT_DataType first)
{
    cli_text rest;
    (void)cli_copy_operand(row->operands != NULL ? row->operands : op->inputs, i, &rest);
    while (rest.n > 0 && (*rest.at == '?' || *rest.at == '*'))
        rest = cli_text_between(rest.at + 1, rest.at + rest.n);
    rest = cli_copy_type(rest);
    if (i == 0)
        return first;
    if (rest.n > 1 && *rest.at == '=')
        return cli_copy_example_type(op, row, (uint32_t)(rest.at[1] - '0'), first);
    switch (rest.n > 1 ? rest.at[1] : '.') {
    case 'i': return NNRT_DATA_TYPE_INT64;
    case 'b': return NNRT_DATA_TYPE_BOOL;
    case 's': return NNRT_DATA_TYPE_INT32;
    case 'w': return NNRT_DATA_TYPE_INT64;
    case '8': return NNRT_DATA_TYPE_INT8;
    default: return NNRT_DATA_TYPE_FLOAT32;
    }
}

/* Element k of an example's input: small numbers, integers starting at `from`. */
static double cli_copy_example_value(NNRT_DataType type, uint32_t from, size_t k)
{
    return cli_is_float(type) ? (double)(k % 7) * 0.25 - 0.5 : type == NNRT_DATA_TYPE_BOOL ? 1 : (double)from;
}

/* Attributes for operators whose default attributes match no shape: lists have count entries. */
static const void *cli_copy_example_attributes(cli_copy *c, const nnrt_op *op, uint32_t count)
{
    static const char *const names[] = {"kernelSize", "blockSize",    "blockShape", "beginNormAxis", "beginParamsAxis", "newHeight",
                                        "newWidth",   "outputHeight", "outputWidth", "groupNum",     "numGroups",       "pooledHeight",
                                        "pooledWidth", "depth",       "numHeads",   "hiddenSize"};
    static const int64_t list[] = {2, 2, 2};
    uint8_t *attr = (uint8_t *)cli_copy_keep(c, op->attr->bytes);
    if (attr == NULL)
        return NULL;
    nnrt_attr_defaults(op->attr, attr);
    for (uint32_t i = 0; i < op->attr->count; i++)
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            const nnrt_attr_member *m = &op->attr->members[i];
            if (strcmp(m->name, names[k]) != 0)
                continue;
            if (m->kind == NNRT_ATTR_KIND_INTS || m->kind == NNRT_ATTR_KIND_INTS64) {
                ((NNRT_Int64List *)(void *)(attr + m->offset))->data = list;
                ((NNRT_Int64List *)(void *)(attr + m->offset))->count = count;
            } else if (m->kind == NNRT_ATTR_KIND_INT || m->kind == NNRT_ATTR_KIND_INT64) {
                *(int64_t *)(void *)(attr + m->offset) = strstr(m->name, "Axis") != NULL ? 1 : 2;
            }
        }
    return attr;
}

/* Resolves the node with these shapes; false: the rule fails, or selects the row of another kernel. */
static bool cli_copy_example_try(cli_copy *c, cli_copy_example *e, const nnrt_op *op, const nnrt_kernel_row *row,
                                 const uint32_t *at, NNRT_DataType first, uint32_t variant)
{
    const uint32_t from = variant % 3, lists = variant / 3 % 3;
    static const int32_t shapes[][6] = {{2, 2, 3}, {4, 2, 3, 3, 2}, {1, 4}, {0}, {2, 4, 3}, {4, 1, 4, 4, 2}, {1, 2}, {1, 1},
                                        {2, 3, 4}, {3, 2, 3, 4}, {5, 1, 2, 3, 3, 3}, {5, 2, 2, 2, 2, 2}, {1, 3}};
    const nnrt_op_arity arity = nnrt_op_operands(op);
    memset(e, 0, sizeof(*e));
    for (uint32_t i = 0; i < CLI_COPY_OPERANDS + 4; i++) {
        e->in[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
        e->out[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
        e->in[i].name = e->out[i].name = "";
    }
    for (uint32_t i = 0; i < arity.minIn; i++) {
        const int32_t *shape = shapes[at[i] % (sizeof(shapes) / sizeof(shapes[0]))];
        cli_tensor value;
        nnrt_dims dims;
        memset(&value, 0, sizeof(value));
        dims.rank = shape[0];
        for (int32_t k = 0; k < shape[0]; k++)
            dims.dims[k] = shape[k + 1];
        value.type = cli_copy_example_type(op, row, i, first);
        (void)nnrt_dims_count(dims.dims, dims.rank, &value.count);
        if ((value.data = cli_copy_keep(c, value.count * nnrt_type_size(value.type))) == NULL)
            return false;
        for (size_t k = 0; k < value.count; k++)
            cli_set_element(&value, k, cli_copy_example_value(value.type, from, k));
        e->in[i] = nnrt_operand_make(value.type, dims.rank, dims.dims, value.data);
        e->in[i].name = "";
    }
    if (variant >= 9)
        e->out[0].dataType = variant < 18 ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_INT32;
    e->r.op = op;
    e->r.nodeName = "";
    e->r.in = e->in;
    e->r.out = e->out;
    e->r.nIn = arity.minIn;
    e->r.nOut = arity.minOut;
    e->r.alloc = cli_copy_example_room;
    e->r.user = c;
    if (lists > 0) {
        e->r.attr = cli_copy_example_attributes(c, op, lists + 1);
        e->r.attrBytes = op->attr->bytes;
    }
    return nnrt_resolve_node(&e->r) == NNRT_SUCCESS && e->r.kernel == row->call;
}

/* True if the kernel accepts the values. */
static bool cli_copy_example_runs(cli_copy *c, const cli_copy_example *e)
{
    nnrt_view args[2 * (CLI_COPY_OPERANDS + 4) + NNRT_MAX_DERIVED];
    nnrt_call call;
    uint32_t n = 0;
    memset(args, 0, sizeof(args));
    memset(&call, 0, sizeof(call));
    call.nIn = e->r.kernelIn;
    call.nDerived = e->r.nDerived;
    call.nOut = e->r.kernelOut;
    call.scratch = e->r.scratch > 0 ? cli_copy_keep(c, e->r.scratch) : NULL;
    call.scratchBytes = e->r.scratch;
    if (call.nIn > CLI_COPY_OPERANDS + 4 || call.nOut > CLI_COPY_OPERANDS + 4)
        return false;
    for (uint32_t i = 0; i < call.nIn + call.nDerived; i++, n++) {
        const nnrt_operand *o = i < call.nIn ? &e->in[i] : &e->r.derived[i - call.nIn];
        nnrt_operand_view(i < call.nIn ? e->r.op : NULL, o, (int32_t)i, &args[n]);
        args[n].data = (void *)(uintptr_t)o->data;
    }
    for (uint32_t i = 0; i < call.nOut; i++, n++) {
        size_t bytes = 0;
        nnrt_operand_view(e->r.op, &e->out[i], -1, &args[n]);
        if (args[n].dataType == NNRT_DATA_TYPE_UNKNOWN)
            continue;
        if (!nnrt_dims_bytes(args[n].dims, args[n].rank, args[n].dataType, &bytes) || bytes == 0 || bytes > 4096 ||
            (args[n].data = cli_copy_keep(c, bytes)) == NULL)
            return false;
    }
    return e->r.kernel(e->r.resolved, args, &call) == NNRT_SUCCESS;
}

/* Searches some shapes for an example of the kernel. */
static bool cli_copy_example_find(cli_copy *c, cli_copy_example *e, const nnrt_op *op, const nnrt_kernel_row *row)
{
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_INT32, NNRT_DATA_TYPE_INT64,
                                          NNRT_DATA_TYPE_BOOL, NNRT_DATA_TYPE_INT8, NNRT_DATA_TYPE_UINT8};
    const nnrt_op_arity arity = nnrt_op_operands(op);
    const cli_block *const before = c->blocks;
    const size_t bytes = c->bytes;
    const uint32_t variants = arity.minIn > 3 ? 1 : 27; /* variants of values, attributes and result types */
    NNRT_DataType first = NNRT_DATA_TYPE_UNKNOWN;
    for (size_t i = sizeof(types) / sizeof(types[0]); i-- > 0;)
        first = (row->types & NNRT_TYPES_OF(types[i])) != 0 ? types[i] : first;
    if (first == NNRT_DATA_TYPE_UNKNOWN || arity.minIn == 0 || arity.minIn > CLI_COPY_OPERANDS || arity.minOut > 4)
        return false;
    for (uint32_t n = 0, most = variants; n < CLI_COPY_TRIES; n++) {
        uint32_t at[CLI_COPY_OPERANDS], left = n / variants;
        for (uint32_t i = 0; i < arity.minIn; i++, left /= 13)
            at[i] = left % 13;
        if (n == 0)
            for (uint32_t i = 0; i < arity.minIn; i++)
                most = most < CLI_COPY_TRIES ? most * 13 : most;
        if (n == most)
            break;
        if (cli_copy_example_try(c, e, op, row, at, first, n % variants) && cli_copy_example_runs(c, e))
            return true;
        cli_copy_free(c, before);
        c->bytes = bytes;
    }
    return false;
}

/* A literal of float or double. */
static void cli_copy_example_real(double v, bool single)
{
    char text[40];
    snprintf(text, sizeof(text), single ? "%.9g" : "%.17g", v);
    if (isnan(v) || isinf(v))
        fputs(isnan(v) ? "NAN" : v < 0 ? "-INFINITY" : "INFINITY", stdout);
    else
        printf("%s%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "", single ? "f" : "");
}

/* "static float NAME[] = {..};": the elements of an operand, or an uninitialized array if data is NULL. */
static void cli_copy_example_array(const char *name, uint32_t i, const nnrt_operand *o)
{
    static const struct {
        NNRT_DataType type;
        const char *name;
    } types[] = {{NNRT_DATA_TYPE_BOOL, "unsigned char"}, {NNRT_DATA_TYPE_INT8, "int8_t"},   {NNRT_DATA_TYPE_UINT8, "uint8_t"},
                 {NNRT_DATA_TYPE_INT16, "int16_t"},      {NNRT_DATA_TYPE_UINT16, "uint16_t"}, {NNRT_DATA_TYPE_INT32, "int32_t"},
                 {NNRT_DATA_TYPE_UINT32, "uint32_t"},    {NNRT_DATA_TYPE_INT64, "int64_t"}, {NNRT_DATA_TYPE_UINT64, "uint64_t"},
                 {NNRT_DATA_TYPE_FLOAT16, "uint16_t"},   {NNRT_DATA_TYPE_FLOAT32, "float"}, {NNRT_DATA_TYPE_FLOAT64, "double"}};
    cli_tensor t;
    memset(&t, 0, sizeof(t));
    t.type = o->dataType;
    t.data = (void *)(uintptr_t)o->data;
    (void)nnrt_dims_count(o->dims, o->rank, &t.count);
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
        if (types[k].type == o->dataType)
            printf("    static %s %s%u[%u]", types[k].name, name, (unsigned)i, (unsigned)(t.count > 0 ? t.count : 1));
    for (size_t k = 0; k < t.count && o->data != NULL; k++) {
        const double v = cli_element(&t, k);
        printf("%s%s", k == 0 ? " = {" : ",", k % 12 == 11 ? "\n        " : k > 0 ? " " : "");
        if (cli_is_float(t.type) && t.type != NNRT_DATA_TYPE_FLOAT16)
            cli_copy_example_real(v, t.type == NNRT_DATA_TYPE_FLOAT32);
        else if (t.type == NNRT_DATA_TYPE_FLOAT16)
            printf("%u", (unsigned)cli_double_to_half(v));
        else
            cli_put_element(&t, k, 9, false);
    }
    puts(o->data != NULL && t.count > 0 ? "};" : ";");
}

/* "static const T NAME[] = {..};" and the assignments of a member that is a list. */
static void cli_copy_example_list(const nnrt_attr_member *m, const void *at)
{
    const NNRT_Int64List *list = (const NNRT_Int64List *)at;
    const bool floats = m->kind == NNRT_ATTR_KIND_FLOATS;
    if (list->count == 0)
        return;
    printf("    static const %s %s[] = {", floats ? "float" : "int64_t", m->name);
    for (uint32_t k = 0; k < list->count; k++) {
        fputs(k > 0 ? ", " : "", stdout);
        if (floats)
            cli_copy_example_real((double)((const NNRT_FloatList *)at)->data[k], true);
        else
            printf("%lld", (long long)list->data[k]);
    }
    printf("};\n    attr.%s.data = %s;\n    attr.%s.count = %u;\n", m->name, m->name, m->name, (unsigned)list->count);
}

/* The same for a list of lists. */
static void cli_copy_example_lists(const nnrt_attr_member *m, const NNRT_Int64Lists *lists)
{
    if (lists->count == 0)
        return;
    for (uint32_t k = 0; k < lists->count; k++) {
        printf("    static const int64_t %s_%u[] = {", m->name, (unsigned)k);
        for (uint32_t n = 0; n < lists->data[k].count; n++)
            printf("%s%lld", n > 0 ? ", " : "", (long long)lists->data[k].data[n]);
        puts(lists->data[k].count > 0 ? "};" : "0};");
    }
    printf("    static const NNRT_Int64List %s[] = {", m->name);
    for (uint32_t k = 0; k < lists->count; k++)
        printf("%s{%s_%u, %u}", k > 0 ? ", " : "", m->name, (unsigned)k, (unsigned)lists->data[k].count);
    printf("};\n    attr.%s.data = %s;\n    attr.%s.count = %u;\n", m->name, m->name, m->name, (unsigned)lists->count);
}

/* The nonzero members of the resolved attributes. */
static void cli_copy_example_attr(const nnrt_attr_struct *s, const void *attr)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const nnrt_attr_member *m = &s->members[i];
        const uint8_t *at = (const uint8_t *)attr + m->offset;
        double real = 0;
        switch (m->kind) {
        case NNRT_ATTR_KIND_BOOL:
            if (*(const bool *)at)
                printf("    attr.%s = true;\n", m->name);
            break;
        case NNRT_ATTR_KIND_INT:
        case NNRT_ATTR_KIND_INT64:
            if (*(const int64_t *)at == INT64_MIN)
                printf("    attr.%s = INT64_MIN;\n", m->name);
            else if (*(const int64_t *)at != 0)
                printf("    attr.%s = %lld;\n", m->name, (long long)*(const int64_t *)at);
            break;
        case NNRT_ATTR_KIND_TYPE:
            if (m->bytes == sizeof(int64_t) || *(const int32_t *)at != 0)
                printf("    attr.%s = %d;\n", m->name,
                       (int)(m->bytes == sizeof(int64_t) ? *(const int64_t *)at : *(const int32_t *)at));
            break;
        case NNRT_ATTR_KIND_ENUM:
            if (*(const int32_t *)at != 0)
                printf("    attr.%s = %d;\n", m->name, (int)*(const int32_t *)at);
            break;
        case NNRT_ATTR_KIND_STRING: printf("    attr.%s = \"%s\";\n", m->name, *(const char *const *)at); break;
        case NNRT_ATTR_KIND_FLOAT:
        case NNRT_ATTR_KIND_DOUBLE:
            real = m->kind == NNRT_ATTR_KIND_FLOAT ? (double)*(const float *)at : *(const double *)at;
            if (real == 0)
                break;
            printf("    attr.%s = ", m->name);
            cli_copy_example_real(real, m->kind == NNRT_ATTR_KIND_FLOAT);
            puts(";");
            break;
        case NNRT_ATTR_KIND_INTS:
        case NNRT_ATTR_KIND_INTS64:
        case NNRT_ATTR_KIND_FLOATS: cli_copy_example_list(m, at); break;
        case NNRT_ATTR_KIND_INTS2: cli_copy_example_lists(m, (const NNRT_Int64Lists *)(const void *)at); break;
        default: break;
        }
    }
}

/* Arguments "&x[first]" of count views; NULL for absent ones. */
static void cli_copy_example_args(const char *name, const nnrt_operand *o, uint32_t n, char count)
{
    for (uint32_t i = 0; i < (uint32_t)(count - '0'); i++)
        if (i < n && o[i].dataType != NNRT_DATA_TYPE_UNKNOWN)
            printf(", &%s[%u]", name, (unsigned)i);
        else
            fputs(", NULL", stdout);
}

/* The assignments of one of the arrays of views, `set`, to its arrays, whose names begin with `array`. op NULL: constants
   have their own order of axes. */
static void cli_copy_example_views(const nnrt_op *op, const char *set, const char *array, const nnrt_operand *operands,
                                   uint32_t count, bool outputs)
{
    if (count > 0)
        printf("    memset(%s, 0, sizeof(%s));\n", set, set);
    for (uint32_t i = 0; i < count; i++) {
        nnrt_view v;
        if (operands[i].dataType == NNRT_DATA_TYPE_UNKNOWN)
            continue;
        nnrt_operand_view(op, &operands[i], outputs ? -1 : (int32_t)i, &v);
        printf("    %s[%u].data = %s%u;\n    %s[%u].dataType = %d; /* %s */\n    %s[%u].rank = %d;\n", set, (unsigned)i,
               array, (unsigned)i, set, (unsigned)i, (int)v.dataType, nnrt_type_name(v.dataType), set, (unsigned)i,
               (int)v.rank);
        for (int32_t a = 0; a < v.rank; a++)
            printf("    %s[%u].dims[%d] = %d, %s[%u].strides[%d] = %lld;\n", set, (unsigned)i, (int)a, (int)v.dims[a],
                   set, (unsigned)i, (int)a, (long long)v.strides[a]);
    }
}

/* Prints a main() after the kernels that calls one of them, compiled with NNRT_EXAMPLE. An operator whose rule accepts
   none of the tried shapes and attributes has no example. */
static void cli_copy_put_example(cli_copy *c, const nnrt_op *op, const char *kernel)
{
    static cli_copy_example e;
    static const char *const sets[3] = {"x", "derived", "y"}, *const arrays[3] = {"input", "constant", "output"};
    const char *pattern, *outputs;
    const nnrt_operand *operands[3];
    uint32_t counts[3];
    e.kernel = NULL;
    for (uint32_t i = 0; i < op->kernelCount && e.kernel == NULL; i++)
        if ((kernel == NULL || strcmp(kernel, op->kernels[i].name) == 0) &&
            cli_copy_example_find(c, &e, op, &op->kernels[i]))
            e.kernel = op->kernels[i].name;
    if (e.kernel == NULL || c->failed)
        return;
    pattern = cli_copy_what(cli_copy_calls, e.kernel);
    outputs = strchr(pattern, '_') + 1;
    operands[0] = e.in;
    operands[1] = e.r.derived;
    operands[2] = e.out;
    counts[0] = e.r.kernelIn > e.r.nIn ? e.r.kernelIn : e.r.nIn;
    counts[1] = e.r.nDerived;
    counts[2] = e.r.nOut;
    printf("\n#ifdef NNRT_EXAMPLE /* cc -std=c99 -DNNRT_EXAMPLE %s.c -lm && ./a.out */\n#include <math.h>\n"
           "#include <stdio.h>\n#include <string.h>\n\nint main(void)\n{\n    NNRT_%s attr;\n    NNRT_ReturnCode code;\n",
           kernel != NULL ? kernel : op->name, cli_copy_what(cli_copy_structs, e.kernel));
    for (int k = 0; k < 3; k++) {
        if (counts[k] > 0)
            printf("    nnrt_view %s[%u];\n", sets[k], (unsigned)counts[k]);
        for (uint32_t i = 0; i < counts[k]; i++)
            if (operands[k][i].dataType != NNRT_DATA_TYPE_UNKNOWN)
                cli_copy_example_array(arrays[k], i, &operands[k][i]);
    }
    puts("    memset(&attr, 0, sizeof(attr));");
    if (strcmp(op->attr->name, cli_copy_what(cli_copy_structs, e.kernel)) == 0)
        cli_copy_example_attr(op->attr, e.r.resolved);
    for (int k = 0; k < 3; k++)
        cli_copy_example_views(k == 1 ? NULL : op, sets[k], arrays[k], operands[k], counts[k], k == 2);
    if (outputs[1] == 'c') {
        if (e.r.scratch > 0)
            printf("    static double scratch[%u];\n", (unsigned)(e.r.scratch / sizeof(double) + 1));
        printf("    nnrt_call call;\n    memset(&call, 0, sizeof(call));\n%s%s",
               e.r.scratch > 0 ? "    call.scratch = scratch;\n" : "",
               e.r.scratch > 0 ? "    call.scratchBytes = sizeof(scratch);\n" : "");
    }
    printf("    code = %s(&attr", e.kernel);
    if (pattern[0] == 'V')
        printf(", x, %u", (unsigned)counts[0]);
    else
        cli_copy_example_args("x", e.in, counts[0], pattern[0]);
    if (pattern[1] == 'd')
        cli_copy_example_args("derived", e.r.derived, counts[1], pattern[2]);
    if (outputs[0] == 'V')
        printf(", y, %u", (unsigned)counts[2]);
    else
        cli_copy_example_args("y", e.out, counts[2], outputs[0]);
    printf("%s);\n    printf(\"%%d\\n\", (int)code);\n", outputs[1] == 'c' ? ", &call" : "");
    for (uint32_t i = 0; i < counts[2]; i++)
        if (e.out[i].dataType != NNRT_DATA_TYPE_UNKNOWN)
            printf("    for (size_t i = 0; i < sizeof(output%u) / sizeof(output%u[0]); i++)\n"
                   "        printf(\"%%g\\n\", (double)output%u[i]);\n",
                   (unsigned)i, (unsigned)i, (unsigned)i);
    puts("    return (int)code;\n}\n#endif");
}

/* `type`, or if it is UNKNOWN the only element type of the kernel; UNKNOWN: it has several. */
static NNRT_DataType cli_copy_only_type(const nnrt_kernel_row *row, NNRT_DataType type)
{
    NNRT_DataType found = NNRT_DATA_TYPE_UNKNOWN;
    if (type != NNRT_DATA_TYPE_UNKNOWN)
        return type;
    for (NNRT_DataType t = NNRT_DATA_TYPE_BOOL; t <= NNRT_DATA_TYPE_FLOAT64; t++)
        if (nnrt_type_size(t) > 0 && (row->types & NNRT_TYPES_OF(t)) != 0) {
            if (found != NNRT_DATA_TYPE_UNKNOWN)
                return NNRT_DATA_TYPE_UNKNOWN;
            found = t;
        }
    return found;
}

/* True if all operands of the kernel have the type of operand 0. */
static bool cli_copy_one_type(const nnrt_op *op, const nnrt_kernel_row *row)
{
    const nnrt_op_arity arity = nnrt_op_operands(op);
    const char *lists[2];
    lists[0] = row->operands != NULL ? row->operands : op->inputs;
    lists[1] = op->outputs;
    if (strchr(cli_copy_what(cli_copy_calls, row->name), 'd') != NULL)
        return false;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = k == 0 ? 1 : 0; i < (k == 0 ? arity.maxIn : arity.maxOut) && i < NNRT_MAX_FIXED_OPERANDS; i++) {
            cli_text rest;
            (void)cli_copy_operand(lists[k], i, &rest);
            while (rest.n > 0 && (*rest.at == '?' || *rest.at == '*'))
                rest = cli_text_between(rest.at + 1, rest.at + rest.n);
            rest = cli_copy_type(rest);
            if (rest.n < 2 || rest.at[0] != '=' || rest.at[1] != '0')
                return false;
        }
    return true;
}

/* "NNRT_DATA_TYPE_FLOAT32" of FLOAT32. */
static const char *cli_copy_enumerator(NNRT_DataType type)
{
#define CLI_COPY_TYPE(name, number, bytes, text)                                                                       \
    case number: return "NNRT_DATA_TYPE_" #name;
    switch (type) {
        NNRT_DATA_TYPES(CLI_COPY_TYPE)
    default: return NULL;
    }
}

/* Prints op's kernels, or the named one, from the header's text. type: specialized for it, if not UNKNOWN; example: with
   a main() that calls a kernel. */
static int cli_copy_op(cli_copy *c, const nnrt_op *op, const char *kernel, NNRT_DataType type, const char *activations,
                       bool example, const char *path)
{
    const char **names = (const char **)cli_copy_keep(c, op->kernelCount * sizeof(*names)), *views = NULL;
    size_t count = 0;
    bool derived = false, quant = false;
    char asked[120];
    for (uint32_t i = 0; i < op->kernelCount && kernel == NULL && type != NNRT_DATA_TYPE_UNKNOWN; i++)
        if ((op->kernels[i].types & NNRT_TYPES_OF(type)) != 0)
            kernel = op->kernels[i].name;
    snprintf(asked, sizeof(asked), type != NNRT_DATA_TYPE_UNKNOWN ? "%s --type %s" : "%s",
             kernel != NULL ? kernel : op->name, nnrt_type_name(type));
    for (size_t i = 0; i < c->itemCount; i++)
        cli_copy_declares(c, i);
    if (names == NULL || c->failed)
        return CLI_FAILED;
    if (c->nameCount > 0)
        qsort(c->names, c->nameCount, sizeof(*c->names), cli_copy_order);
    for (uint32_t i = 0; i < op->kernelCount; i++) {
        const cli_item *item = cli_copy_function(c, op->kernels[i].name);
        if (kernel != NULL && strcmp(kernel, op->kernels[i].name) != 0)
            continue;
        if (type != NNRT_DATA_TYPE_UNKNOWN && (op->kernels[i].types & NNRT_TYPES_OF(type)) == 0)
            return cli_fail("%s has no kernel for %s", asked, nnrt_type_name(type));
        if (kernel != NULL && cli_copy_one_type(op, &op->kernels[i]))
            views = cli_copy_enumerator(cli_copy_only_type(&op->kernels[i], type));
        names[count++] = op->kernels[i].name;
        quant = quant || (op->kernels[i].types & ~NNRT_TYPES_ANY) != 0 || !cli_copy_one_type(op, &op->kernels[i]);
        derived = derived || strchr(cli_copy_what(cli_copy_calls, op->kernels[i].name), 'd') != NULL;
        if (item == NULL)
            return cli_fail("%s has no function %s: it is not nnrt_ops.h, or of another version", path,
                            names[count - 1]);
        if (!cli_copy_put_call(op, &op->kernels[i], item->code, false))
            return cli_fail("%s is of another version: its %s has other parameters", path, names[count - 1]);
    }
    if (type != NNRT_DATA_TYPE_UNKNOWN && count == 0)
        return cli_fail("%s has no kernel for %s", asked, nnrt_type_name(type));
    cli_copy_put_head(c, op, kernel, asked, derived);
    for (size_t i = 0; i < c->itemCount; i++)
        c->items[i].wanted = c->items[i].asked = false;
    c->enumerators = true;
    cli_copy_close(c, names, count);
    cli_fold_copy(c, names, count, views, activations, views != NULL);
    if (!quant)
        cli_copy_plain_view(c);
    for (size_t i = 0; i < c->itemCount; i++)
        c->items[i].wanted = c->items[i].asked = false;
    cli_copy_close(c, names, count);
    cli_fold_prototypes(c);
    c->enumerators = false;
    if (c->failed)
        return CLI_FAILED;
    cli_copy_put_items(c);
    cli_copy_put_text(c);
    for (size_t i = 0; i < c->itemCount; i++)
        c->items[i].code = c->items[i].written;
    if (derived)
        cli_copy_put_derived(c, cli_copy_what(cli_copy_rules, op->name));
    if (example)
        cli_copy_put_example(c, op, kernel);
    return c->failed ? CLI_FAILED : CLI_DONE;
}

static int cli_copy_run(const cli_args *args)
{
    const nnrt_op *op = nnrt_op_named(args->copy), *other;
    const char *kernel = NULL;
    char *found = NULL;
    cli_bytes bytes;
    cli_copy c;
    int status;
    for (uint32_t i = 0; op == NULL && (other = nnrt_op_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < other->kernelCount && op == NULL; k++)
            if (strcmp(other->kernels[k].name, args->copy) == 0) {
                op = other;
                kernel = args->copy;
            }
    if (op == NULL) {
        const char *meaning = cli_copy_meaning(args->copy), *more = meaning != NULL ? strchr(meaning, ' ') : NULL;
        char *first = meaning != NULL ? cli_text_copy(meaning, strcspn(meaning, " ")) : NULL;
        op = first != NULL ? nnrt_op_named(first) : NULL;
        free(first);
        if (op == NULL)
            return cli_copy_unknown(args->copy);
        cli_note("%s is %s%s%s", args->copy, op->name, more != NULL ? "; also" : "", more != NULL ? more : "");
    }
    if ((op->flags & NNRT_OP_GRAPHS) != 0)
        return cli_fail("%s has no kernel that could be copied: it runs subgraphs, which requires the plan of a model",
                        op->name);
    if (args->header == NULL && (found = cli_header_path(args->program)) == NULL)
        return CLI_FAILED;
    memset(&c, 0, sizeof(c));
    status = cli_read_file(found != NULL ? found : args->header, &bytes);
    if (status == CLI_DONE) {
        cli_copy_read(&c, cli_text_between((const char *)bytes.data, (const char *)bytes.data + bytes.size));
        status = cli_copy_op(&c, op, kernel, args->type, args->activations, args->example,
                             found != NULL ? found : args->header);
    }
    cli_copy_free(&c, NULL);
    free(bytes.data);
    free(found);
    return status;
}

#endif /* NNRT_TOOL_COPY_H */
