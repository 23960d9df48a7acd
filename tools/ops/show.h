/*
show.h - nnrt ops --show: formula, shapes, attributes and kernel of one operator, for reading.
Part of tools/nnrt.c.

It shows a part of a copy (copy.h): the attribute struct, the functions of the operator's own section of nnrt_ops.h, and
the helpers that few operators share, with their structs. Of accessors, which many operators share, it prints what they
return, the first sentence of their comments. If none of these has a loop, for example because a macro generates the kernel,
it shows the functions with loops that they call, too.
*/
#ifndef NNRT_TOOL_SHOW_H
#define NNRT_TOOL_SHOW_H

#include "copy_head.h"

#include <unistd.h>

#define CLI_SHOW_RARE 11 /* most mentions of a helper that is shown */

/* On a terminal comments are green and keywords bold, unless the variable NO_COLOR is set (no-color.org). */
static bool cli_show_color(void)
{
    return isatty(1) == 1 && getenv("NO_COLOR") == NULL;
}

/* Prints C. */
static void cli_show_put(cli_text text)
{
    static const char *const words[] = {"const", "continue", "double", "else", "float", "for",    "if",     "int32_t", "int64_t",
                                        "return", "static", "struct", "switch", "case", "typedef", "void", "while"};
    const bool color = cli_show_color();
    const char *p = text.at, *end = text.at + text.n, *from = p;
    cli_token t;
    for (t = cli_copy_token(&p, end, false); t.kind != 0; from = p, t = cli_copy_token(&p, end, false)) {
        const char *shade = t.kind == '/' ? "\033[32m" : NULL;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && t.kind == 'a'; i++)
            shade = cli_text_is(t.text, words[i]) ? "\033[1m" : shade;
        fwrite(from, 1, (size_t)(t.text.at - from), stdout);
        if (color && shade != NULL)
            fputs(shade, stdout);
        fwrite(t.text.at, 1, t.text.n, stdout);
        if (color && shade != NULL)
            fputs("\033[0m", stdout);
    }
}

static bool cli_show_loops(const cli_item *item)
{
    return cli_text_find(item->code, "for (") != NULL || cli_text_find(item->code, "while (") != NULL;
}

/* True if the header has the name at most CLI_SHOW_RARE times: it is a part of the method of a few operators. */
static bool cli_show_rare(const cli_copy *c, cli_text name)
{
    const char *p = c->header.at, *const end = p + c->header.n - name.n;
    int count = 0;
    while (count <= CLI_SHOW_RARE && p < end && (p = (const char *)memchr(p, *name.at, (size_t)(end - p))) != NULL) {
        const char next = p[name.n];
        count += memcmp(p, name.at, name.n) == 0 && !cli_copy_letter(p[-1]) && !cli_copy_letter(next) && !cli_copy_digit(next);
        p++;
    }
    return count <= CLI_SHOW_RARE;
}

/* Marks in shown[] items before item i that it names: functions behind the mark >>helpers that few operators call, structs
   there, and without a loop so far the functions with loops that the kernel calls. */
static void cli_show_called(const cli_copy *c, bool *shown, size_t i, bool loops)
{
    const char *const helpers = cli_text_find(c->header, "/* >>helpers */"), *p = c->items[i].code.at;
    const char *const end = p + c->items[i].code.n;
    for (cli_token t = cli_copy_token(&p, end, false); t.kind != 0; t = cli_copy_token(&p, end, false))
        for (size_t k = t.kind == 'a' ? cli_copy_find(c, t.text) : c->nameCount;
             k < c->nameCount && cli_text_same(c->names[k].text, t.text); k++) {
            const cli_item *item = &c->items[c->names[k].item];
            const char *const at = item->written.at, *const all = c->header.at + c->header.n;
            if (item->wanted && item < &c->items[i] && !shown[item - c->items])
                shown[item - c->items] =
                    cli_copy_is_function(item)
                        ? (helpers != NULL && at > helpers && at < all && cli_show_rare(c, t.text)) ||
                              (!loops && c->items[i].asked && cli_show_loops(item))
                        : cli_text_find(item->code, "typedef struct nnrti_") == item->code.at;
        }
}

/* The first sentence of a comment: up to a point before a space, but not one of "..". */
static cli_text cli_show_sentence(cli_text comment)
{
    const char *at = comment.at + 2, *const end = comment.at + comment.n - 2;
    while (at < end && !(*at == '.' && (at[1] == ' ' || at[1] == '\n') && at[-1] != '.'))
        at++;
    return cli_text_between(comment.at + 2, at < end ? at + 1 : end);
}

/* For each item that shown items name, and that is not shown itself, its name: functions and structs. Of a function that is
   declared before it is defined, the item with a comment. */
static const cli_text *cli_show_named(cli_copy *c, const bool *shown)
{
    cli_text *named = (cli_text *)cli_copy_keep(c, (c->itemCount + 1) * sizeof(*named));
    for (size_t i = 0; named != NULL && i < c->itemCount; i++) {
        const char *p = c->items[i].code.at, *const end = p + c->items[i].code.n;
        for (cli_token t = cli_copy_token(&p, end, false); shown[i] && t.kind != 0; t = cli_copy_token(&p, end, false)) {
            const cli_item *about = NULL;
            bool hidden = false;
            for (size_t k = t.kind == 'a' ? cli_copy_find(c, t.text) : c->nameCount;
                 k < c->nameCount && cli_text_same(c->names[k].text, t.text); k++) {
                const cli_item *item = &c->items[c->names[k].item];
                about = about == NULL && item->comment.n > 0 ? item : about;
                hidden = hidden || (item->wanted && !shown[item - c->items] &&
                                    (cli_copy_is_function(item) || cli_text_find(item->code, "typedef struct ") == item->code.at));
            }
            if (hidden && about != NULL)
                named[about - c->items] = t.text;
        }
    }
    return named;
}

static void cli_show_put_named(const cli_copy *c, const cli_text *named)
{
    bool any = false;
    for (size_t i = 0; i < c->itemCount; i++) {
        if (named[i].n == 0)
            continue;
        if (!any)
            printf("\n%s/* Of nnrt_ops.h it uses\n", cli_show_color() ? "\033[32m" : "");
        any = true;
        cli_copy_put_words(named[i], cli_show_sentence(c->items[i].comment), "");
    }
    if (any)
        printf("*/%s\n", cli_show_color() ? "\033[0m" : "");
}

/* The operator under whose mark >>kernel in the header the requested kernel is; empty: a macro generates the kernel. */
static cli_text cli_show_owner(const cli_copy *c)
{
    static const char mark[] = "/* >>kernel ";
    cli_text owner = cli_text_of("");
    for (size_t i = 0; i < c->itemCount; i++) {
        const char *p = c->header.at, *const at = c->items[i].written.at;
        if (!c->items[i].asked || at < p || at >= p + c->header.n)
            continue;
        while ((p = cli_text_find(cli_text_between(p, at), mark)) != NULL) {
            p += sizeof(mark) - 1;
            owner = cli_text_between(p, p + strcspn(p, " "));
        }
    }
    return owner;
}

/* Prints the attributes and operands that the rule makes before the call, and the owner of a kernel that op shares. */
static void cli_show_put_rule(cli_copy *c, const nnrt_op *op, bool derived)
{
    const cli_text owner = cli_show_owner(c);
    const bool other = owner.n > 0 && !cli_text_is(owner, op->name);
    if (op->attr->count == 0 && !derived && !other)
        return;
    printf("\n%s/* ", cli_show_color() ? "\033[32m" : "");
    cli_copy_put_rule(c, cli_copy_what(cli_copy_rules, op->name), derived);
    if (other)
        printf("    The kernel is that of %.*s.\n", (int)owner.n, owner.at);
    printf("*/%s\n", cli_show_color() ? "\033[0m" : "");
}

/* Which items are shown. NULL: no memory. */
static bool *cli_show_select(cli_copy *c, const nnrt_op *op)
{
    bool *shown = (bool *)cli_copy_keep(c, c->itemCount + 1), inside = false, loops = false;
    const char *begin, *end, *const all = c->header.at + c->header.n;
    char mark[80];
    snprintf(mark, sizeof(mark), "/* >>kernel %s */", op->name);
    begin = cli_text_find(c->header, mark);
    end = begin != NULL ? cli_text_find(cli_text_between(begin + 1, all), "/* >>") : NULL;
    end = end != NULL ? end : all;
    for (size_t i = 0; shown != NULL && i < c->itemCount; i++) {
        const cli_item *item = &c->items[i];
        const char *at = item->comment.n > 0 ? item->comment.at : item->written.at;
        if (at >= c->header.at && at < all)
            inside = begin != NULL && at >= begin && at < end;
        shown[i] = item->wanted && item->kind == CLI_ITEM_CODE && (item->asked || inside);
        loops = loops || (shown[i] && cli_show_loops(item));
    }
    for (size_t i = c->itemCount; shown != NULL && i-- > 0;) /* callers are behind the functions that they call */
        if (shown[i])
            cli_show_called(c, shown, i, loops);
    return shown;
}

/* Prints op for reading, of a copy whose wanted items are marked and folded. derived: the kernel has derived constants. */
static void cli_show(cli_copy *c, const nnrt_op *op, bool derived)
{
    const bool *shown = cli_show_select(c, op);
    const cli_text *named = shown != NULL ? cli_show_named(c, shown) : NULL;
    const cli_item *last = NULL;
    char structName[64];
    if (named == NULL)
        return;
    printf("%s  %s -> %s\n", op->name, op->inputs, op->outputs);
    puts("Of an operand: name, ? if it may be absent, * if there may be several, [size of each axis], and its type if it is not that of "
         "input 0:\n=k that of input k, :i int32 or int64, :b bool, :f float16 or float32, :s int32, :q int8 or uint8, :. any.");
    fputs("element types of input 0: ", stdout);
    cli_put_types(nnrt_op_types(op), "");
    putchar('\n');
    snprintf(structName, sizeof(structName), "typedef struct NNRT_%s {", op->attr->name);
    for (size_t i = 0; i < c->itemCount; i++)
        if (shown[i] || (op->attr->count > 0 && cli_text_find(c->items[i].code, structName) == c->items[i].code.at)) {
            cli_copy_put_item(c, &c->items[i], last);
            last = &c->items[i];
        }
    cli_show_put_rule(c, op, derived);
    putchar('\n');
    cli_show_put(c->out);
    putchar('\n');
    cli_show_put_named(c, named);
    c->out.n = 0;
}

#endif /* NNRT_TOOL_SHOW_H */
