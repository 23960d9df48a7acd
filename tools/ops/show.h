/*
show.h - nnrt ops --show: formula, shapes, attributes and kernel of one operator, for reading.
Part of tools/nnrt.c.

It shows a part of a copy (copy.h): the attribute struct, the functions of the operator's own section of nnrt_ops.h, and
the helpers that few operators share, with their structs. Accessors, which many operators share, are not shown. If none of
these has a loop, for example because a macro generates the kernel, it shows the functions with loops that they call, too.
*/
#ifndef NNRT_TOOL_SHOW_H
#define NNRT_TOOL_SHOW_H

#include "copy_head.h"

#include <unistd.h>

#define CLI_SHOW_RARE 11 /* most mentions of a helper that is shown */

/* Prints C: on a terminal comments are green and keywords bold, unless the variable NO_COLOR is set (no-color.org). */
static void cli_show_put(cli_text text)
{
    static const char *const words[] = {"const", "continue", "double", "else", "float", "for",    "if",     "int32_t", "int64_t",
                                        "return", "static", "struct", "switch", "case", "typedef", "void", "while"};
    const bool color = isatty(1) == 1 && getenv("NO_COLOR") == NULL;
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

/* Prints op for reading, of a copy whose wanted items are marked and folded. */
static void cli_show(cli_copy *c, const nnrt_op *op)
{
    static const char before[] = "/* >>kernel ", behind[] = " */";
    bool *shown = (bool *)cli_copy_keep(c, c->itemCount + 1), inside = false, loops = false;
    const char *begin = c->header.at, *const all = c->header.at + c->header.n, *end;
    const cli_item *last = NULL;
    char structName[64];
    do
        begin = cli_text_find(cli_text_between(begin, all), before);
    while (begin != NULL && (begin += sizeof(before) - 1) != NULL &&
           !(cli_text_find(cli_text_between(begin, all), op->name) == begin &&
             cli_text_find(cli_text_between(begin + strlen(op->name), all), behind) == begin + strlen(op->name)));
    end = begin != NULL ? cli_text_find(cli_text_between(begin, all), "/* >>") : NULL;
    if (shown == NULL)
        return;
    end = end != NULL ? end : all;
    for (size_t i = 0; i < c->itemCount; i++) {
        const cli_item *item = &c->items[i];
        const char *at = item->comment.n > 0 ? item->comment.at : item->written.at;
        if (at >= c->header.at && at < all)
            inside = begin != NULL && at >= begin && at < end;
        shown[i] = item->wanted && item->kind == CLI_ITEM_CODE && (item->asked || inside);
        loops = loops || (shown[i] && cli_show_loops(item));
    }
    for (size_t i = c->itemCount; i-- > 0;) /* callers are behind the functions that they call */
        if (shown[i])
            cli_show_called(c, shown, i, loops);
    printf("%s  %s -> %s\n", op->name, op->inputs, op->outputs);
    puts("Of an operand: name, ? if it may be absent, * if there may be several, [size of each axis], and its type if it is not that of "
         "input 0:\n=k that of input k, :i int32 or int64, :b bool, :f float16 or float32, :s int32, :q int8 or uint8, :. any.");
    if (op->attr->count > 0)
        printf("Defaults of attributes are resolved before the call, by nnrti_rule_%s or by its caller.\n",
               cli_copy_what(cli_copy_rules, op->name) + strlen("nnrti_rule_"));
    fputs("element types ", stdout);
    cli_put_types(nnrt_op_types(op), "");
    puts("\n");
    snprintf(structName, sizeof(structName), "typedef struct NNRT_%s {", op->attr->name);
    for (size_t i = 0; i < c->itemCount; i++)
        if (shown[i] || (c->items[i].wanted && cli_text_find(c->items[i].code, structName) == c->items[i].code.at &&
                         op->attr->count > 0)) {
            cli_copy_put_item(c, &c->items[i], last);
            last = &c->items[i];
        }
    cli_show_put(c->out);
    putchar('\n');
    c->out.n = 0;
}

#endif /* NNRT_TOOL_SHOW_H */
