/*
copy_text.h - the text of nnrt_ops.h as tokens, with its macros expanded, for a copy (copy.h).
Part of tools/nnrt.c.

    >>tokens  the text as tokens
    >>macros  expansion
*/
#ifndef NNRT_TOOL_COPY_TEXT_H
#define NNRT_TOOL_COPY_TEXT_H

#include "../io/text.h"

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
    int branch;             /* of #ifdef NNRTI_PLAIN: 1, behind its #else: 2, 0: neither */
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
    cli_text header;
    cli_block *blocks; /* all memory, most recent block first */
    size_t bytes;
    bool failed;      /* out of memory, or a damaged header; it was reported */
    bool enumerators; /* include the enumerators of needed enumeration types */
    bool plain;       /* for reading: functions of <math.h>, and the first branch of #ifdef NNRTI_PLAIN */
    bool some;        /* it has some activations only */
    char attrSpare[400], viewSpare[40]; /* the members of attributes, of views that were left out, separated by spaces */
    bool unread;      /* nothing reads nnrt_call, whose struct has no members */
    bool joined;      /* the last item of the output is an enumeration in one line */
    bool math;        /* the output has functions of <math.h> in place of those of the header */
    int branch;       /* cli_item.branch of the items that are added */
    cli_item *items;
    size_t itemCount;
    cli_macro *macros; /* sorted by name */
    size_t macroCount;
    cli_name *names; /* sorted */
    size_t nameCount;
    cli_text out; /* the text of the items: in outText, with room for outRoom bytes */
    char *outText;
    size_t outRoom;
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
    if (count > 0 && (count < 4 || (count & (count - 1)) != 0))
        return c->failed ? NULL : data;
    more = cli_copy_keep(c, (count > 0 ? 2 * count : 4) * bytes);
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

/* True if the list, with a separator between its words, has this one. */
static bool cli_text_listed(const char *list, char separator, cli_text word)
{
    for (size_t n = 1; *list != '\0' && word.n > 0; list += n) {
        const char *end = strchr(list, separator);
        n = end != NULL ? (size_t)(end - list) : strlen(list);
        if (n == word.n && memcmp(list, word.at, n) == 0)
            return true;
        n += end != NULL;
    }
    return false;
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
    else if (p < end && ((*p == '=' && strchr("=!<>+-*/%&|^", *from) != NULL) || (*from == '-' && *p == '>') ||
                         (*p == *from && strchr("&|<>+-#", *from) != NULL)))
        p++; /* an operator of two characters; <<= and >>= are two tokens */
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

/* True if every bracket is closed by its like. */
static bool cli_copy_balanced(const cli_tokens *list)
{
    char open[64];
    size_t depth = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *bracket = list->data[i].kind == '.' ? strchr("()[]{}", *list->data[i].text.at) : NULL;
        if (bracket != NULL && strchr("([{", *bracket) != NULL && depth < sizeof(open))
            open[depth++] = bracket[1];
        else if (bracket != NULL && (depth == 0 || open[--depth] != *bracket))
            return false;
    }
    return depth == 0;
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
    if (!m.function && m.body.count > 0 && m.body.data[m.body.count - 1].kind == '/') /* the comment behind a constant */
        m.body.count--;
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

#define CLI_COPY_NESTING 32

/* Statements between two braces: the indentation of a statement; the number of for, if, while and else without a brace
   around the current one; and this number for each `if` so far, to which an `else` may belong. */
typedef struct cli_copy_level {
    size_t indent, nested, ifs[CLI_COPY_NESTING], ifCount;
} cli_copy_level;

/* Where cli_copy_lines is in a text. */
typedef struct cli_copy_place {
    cli_copy_level levels[CLI_COPY_NESTING];
    size_t depth, parentheses;
    bool control[CLI_COPY_NESTING]; /* of each parenthesis: behind for, if, while or switch */
    bool headed, began;           /* the last token ended the head of such a statement; ended a statement, or began a block */
} cli_copy_place;

/* The indentation of a line that begins with t; also moves the place past t. */
static size_t cli_copy_indent(cli_copy_place *at, const cli_token *t, const cli_token *before)
{
    static const char *const heads[] = {"for", "if", "while", "switch"};
    const bool close = cli_text_is(t->text, "}"), other = cli_text_is(t->text, "else");
    cli_copy_level *level;
    size_t indent;
    bool head = false;
    if (t->kind == '/')
        return at->levels[at->depth].indent + !at->began;
    at->depth -= close && at->depth > 0;
    level = &at->levels[at->depth];
    if (other)
        level->nested = level->ifCount > 0 ? level->ifs[--level->ifCount] : 0;
    else if (at->began && !close)
        level->ifCount = 0;
    level->nested += at->headed && !cli_text_is(t->text, "{") && !(before != NULL && cli_text_is(before->text, "else") &&
                                                                     cli_text_is(t->text, "if"));
    indent = level->indent + level->nested + !(at->headed || at->began || close || other || cli_text_is(t->text, "{"));
    for (size_t k = 0; k < 4 && before != NULL; k++)
        head = head || cli_text_is(before->text, heads[k]);
    at->headed = other || cli_text_is(t->text, "do");
    at->began = false;
    if (cli_text_is(t->text, "if") && at->parentheses == 0 && level->ifCount < CLI_COPY_NESTING)
        level->ifs[level->ifCount++] = level->nested;
    if (cli_text_is(t->text, "(") && at->parentheses + 1 < CLI_COPY_NESTING) {
        at->control[at->parentheses++] = head;
    } else if (cli_text_is(t->text, ")") && at->parentheses > 0) {
        at->headed = at->control[--at->parentheses] && at->parentheses == 0;
    } else if (cli_text_is(t->text, "{") && at->depth + 1 < CLI_COPY_NESTING) {
        level[1].indent = level->indent + level->nested + 1;
        level[1].nested = level[1].ifCount = 0;
        at->depth++;
        at->began = true;
    } else if ((cli_text_is(t->text, ";") && at->parentheses == 0) || close) {
        level->nested = 0;
        at->began = true;
    }
    return indent;
}

/* True if no line ends before token i, which has a space before it: of "const float *x" the parts stay together. */
static bool cli_copy_bound(const cli_tokens *in, size_t i)
{
    const cli_token *t = &in->data[i];
    return i > 0 && i + 1 < in->count && t[-1].kind == 'a' && (t->kind == 'a' || (cli_text_is(t->text, "*") && !t[1].space));
}

/* Characters from token i to the next place where a line may end. */
static size_t cli_copy_unit(const cli_tokens *in, size_t i)
{
    size_t n = in->data[i].text.n;
    while (++i < in->count && (!in->data[i].space || cli_copy_bound(in, i)))
        n += in->data[i].text.n + in->data[i].space;
    return n;
}

/* Tokens as text: lines end where they did, except in parentheses, or are full, and are indented as their statements are
   nested, one more if they continue one. A function's parameters follow its name at once, also where a macro got them. */
static cli_text cli_copy_lines(cli_copy *c, const cli_tokens *in)
{
    size_t room = 1, line = 0;
    cli_copy_place place;
    char *text;
    cli_text lines;
    memset(&lines, 0, sizeof(lines));
    memset(&place, 0, sizeof(place));
    place.began = true;
    for (size_t i = 0; i < in->count; i++)
        room += in->data[i].text.n + 1 + 4 * 16;
    text = (char *)cli_copy_keep(c, room);
    if (text == NULL)
        return lines;
    lines.at = text;
    for (size_t i = 0; i < in->count; i++) {
        const cli_token *t = &in->data[i];
        const bool outside = place.depth == 0 && place.parentheses == 0;
        const bool ends = t->line && (place.parentheses == 0 || t->kind == '/' || (i > 0 && t[-1].kind == '/'));
        const size_t indent = cli_copy_indent(&place, t, i > 0 ? &t[-1] : NULL);
        if (ends || (t->space && !cli_copy_bound(in, i) && lines.n - line + cli_copy_unit(in, i) > 119)) {
            text[lines.n++] = '\n';
            line = lines.n;
            for (size_t k = 0; k < indent && k < 16; k++, lines.n += 4)
                memset(text + lines.n, ' ', 4);
        } else if (t->space && !(outside && i > 0 && t[-1].kind == 'a' && cli_text_is(t->text, "("))) {
            text[lines.n++] = ' ';
        }
        memcpy(text + lines.n, t->text.at, t->text.n);
        lines.n += t->text.n;
    }
    return lines;
}

#endif /* NNRT_TOOL_COPY_TEXT_H */
