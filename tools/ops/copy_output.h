/*
copy_output.h - the items of a copy (copy.h) as text.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_COPY_OUTPUT_H
#define NNRT_TOOL_COPY_OUTPUT_H

#include "../../nnrt_ops.h"
#include "copy_items.h"

/* Appends text to the output, with the words of cli_copy_words replaced. */
static void cli_copy_put(cli_copy *c, cli_text text)
{
    const char *p = text.at, *end = text.at + text.n;
    const size_t room = c->out.n + 2 * text.n + 1;
    char *out = room <= c->outRoom ? c->outText : (char *)cli_copy_keep(c, 2 * room);
    size_t n = c->out.n;
    if (out == NULL)
        return;
    if (room > c->outRoom) {
        if (n > 0)
            memcpy(out, c->out.at, n);
        c->outText = out;
        c->outRoom = 2 * room;
    }
    while (p < end) {
        const char *from = p;
        const cli_copy_pair *word;
        while (p < end && (cli_copy_letter(*p) || (p > from && cli_copy_digit(*p))))
            p++;
        word = p > from ? cli_copy_word_of(c, cli_text_between(from, p)) : NULL;
        if (p == from || (word != NULL && word->what == NULL))
            word = NULL;
        if (word != NULL && *word->what == '\0') {
            p += p < end && *p == ' ';
            n -= (p == end || *p == ';' || *p == '=') && n > 0 && out[n - 1] == ' ';
            continue;
        }
        if (word != NULL) {
            c->math = c->math || (word >= cli_copy_math && word < cli_copy_math + sizeof(cli_copy_math) / sizeof(*word));
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

/* True if a wanted item, except `except`, contains the name in its code; member: behind -> or a dot. */
static bool cli_copy_said(const cli_copy *c, cli_text name, const cli_item *except, bool member)
{
    for (size_t i = 0; i < c->itemCount; i++) {
        const cli_text code = c->items[i].code;
        const char *p = code.at, *end = code.at + code.n;
        cli_token t, last = {0, false, false, {"", 0}};
        if (!c->items[i].wanted || &c->items[i] == except || cli_text_find(code, "enum ") == code.at)
            continue;
        for (t = cli_copy_token(&p, end, false); t.kind != 0; last = t, t = cli_copy_token(&p, end, false))
            if (t.kind == 'a' && cli_text_same(t.text, name) && (!member || cli_text_is(last.text, "->") || cli_text_is(last.text, ".")))
                return true;
    }
    return false;
}

/* Prints an enumeration, several values in a line. all: also values that the copy does not name, besides NO_ACTIVATION;
   attributes may have them. */
static void cli_copy_put_enum(cli_copy *c, const cli_item *item, bool all)
{
    const cli_tokens list = cli_copy_tokens(c, item->code);
    const size_t begin = c->out.n;
    size_t i = 0, line = 0, lines = 0;
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
        if (k > i + 1 && (all || cli_text_is(list.data[i].text, "NNRT_ACTIVATION_TYPE_NO_ACTIVATION") ||
                          cli_copy_said(c, list.data[i].text, item, false))) {
            const bool full = !some || line + (size_t)(end - from) > 112;
            cli_copy_put(c, cli_text_of(some ? "," : "enum {"));
            cli_copy_put(c, cli_text_of(full ? "\n    " : " "));
            cli_copy_put(c, cli_text_between(from, end));
            line = full ? 4 + (size_t)(end - from) : line + 2 + (size_t)(end - from);
            lines += full;
            some = true;
        }
        i = k + 1;
    }
    if (lines == 1 && line < 116) { /* "enum {" and four spaces behind the end of its line become a space */
        memmove(c->outText + begin + 7, c->outText + begin + 11, c->out.n - begin - 11);
        c->outText[begin + 6] = ' ';
        c->out.n -= 4;
        cli_copy_put_line(c, " };");
        c->joined = c->plain;
    } else if (some) {
        cli_copy_put_line(c, "\n};");
    }
}

/* Appends one item, with the comment above it unless it is the same as before. */
static void cli_copy_put_item(cli_copy *c, const cli_item *item, const cli_item *before)
{
    static const char api[] = "NNRT_API", row[] = "static NNRTI_UNUSED void ";
    cli_text code = item->code;
    const bool values = cli_text_find(code, "enum ") == code.at && before != NULL &&
                        cli_text_find(before->code, "typedef int32_t NNRT_") == before->code.at;
    const bool joined = c->joined && cli_text_find(code, "typedef int32_t ") == code.at;
    const bool block = item->comment.n > 0 || before == NULL || before->kind != item->kind ||
                       (memchr(before->code.at, '\n', before->code.n) != NULL && !joined);
    c->joined = false;
    if (values) {
        cli_copy_put_enum(c, item, cli_text_find(before->code, "_ReturnCode;") == NULL &&
                                       cli_text_find(before->code, "_DataType;") == NULL &&
                                       !(c->some && cli_text_find(before->code, "_ActivationType;") != NULL));
        return;
    }
    if (block && c->out.n > 0) /* adjacent one-line items are not separated */
        cli_copy_put_line(c, "");
    if (item->comment.n > 0 && (before == NULL || item->comment.at != before->comment.at)) {
        cli_copy_put(c, item->comment);
        cli_copy_put_line(c, "");
    }
    if (item->kind == CLI_ITEM_CODE && item->asked && cli_text_find(code, row) == code.at) {
        code = cli_text_between(code.at + strlen("static "), code.at + code.n); /* a row function, which the caller calls */
    } else if (item->kind == CLI_ITEM_CODE && !item->asked && cli_text_find(code, api) == code.at) {
        cli_copy_put(c, cli_text_of("static")); /* a public function of the library, but a helper here */
        code = cli_text_between(code.at + strlen(api), code.at + code.n);
    }
    cli_copy_put(c, code);
    cli_copy_put_line(c, "");
}

/* Leaves out of the struct of item the members of the list `names`, NULL: of all, that nothing else of the copy names, unless
   these are all. Their names get into list, which has room bytes, if it is not NULL. */
static void cli_copy_lean(cli_copy *c, cli_item *item, const char *names, char *list, size_t room)
{
    const char *p = item->code.at, *const end = p + item->code.n, *unit = p;
    char *text = (char *)cli_copy_keep(c, item->code.n + 1);
    bool spare = false, named = false, left = false, some = false; /* the current member; a member was left out, stays */
    size_t n = 0, spares = 0;
    cli_text name = cli_text_between(p, p);
    if (text == NULL)
        return;
    for (cli_token t = cli_copy_token(&p, end, true); t.kind != 0; t = cli_copy_token(&p, end, true)) {
        const char *next = p;
        const bool opens = cli_text_is(t.text, "{"), ends = cli_text_is(t.text, ";");
        if (t.kind == 'a')
            name = t.text;
        named = named || cli_text_is(t.text, "}");
        if (!named && name.n > 0 && (ends || cli_text_is(t.text, ",") || cli_text_is(t.text, "["))) {
            spare = (names == NULL || cli_text_listed(names, ' ', name)) && !cli_copy_said(c, name, item, true);
            named = true;
            some = some || !spare;
            if (spare && spares + name.n + 2 < room)
                spares += (size_t)sprintf(list + spares, "%.*s ", (int)name.n, name.at);
        }
        if (!opens && !ends && t.kind != '#')
            continue;
        if (ends && cli_copy_token(&next, end, true).kind == '/' && memchr(p, '\n', (size_t)(next - p)) != p)
            p = next; /* its comment */
        if (t.kind == '#' ? !left : !spare) {
            memcpy(text + n, unit, (size_t)(p - unit));
            n += (size_t)(p - unit);
        }
        left = left || spare;
        spare = named = false;
        unit = p;
    }
    memcpy(text + n, unit, (size_t)(end - unit));
    if (some)
        item->code = cli_text_between(text, text + n + (size_t)(end - unit));
    else if (list != NULL)
        *list = '\0';
    if (!some && c->plain && cli_text_find(item->code, "typedef struct nnrt_call {") == item->code.at) {
        item->code = cli_text_of("typedef struct nnrt_call nnrt_call;");
        c->unread = true;
    }
}

/* The structs that copies have without some members, a plain one without attributes that nothing reads. quant: the copy is for
   quantized tensors, too. */
static void cli_copy_lean_all(cli_copy *c, const nnrt_op *op, bool quant)
{
    char attributes[64];
    const struct {
        const char *name, *what;
        char *list;
        size_t room;
    } members[] = {{attributes, NULL, c->attrSpare, sizeof(c->attrSpare)},
                   {"typedef struct nnrt_call {", c->plain ? NULL : "nIn parallel stop resolve", NULL, 0},
                   {"typedef struct nnrt_error {", "node tensor capacity message", NULL, 0},
                   {"typedef struct nnrt_view {",
                    c->plain && !quant ? "dataType quant quantCount" : c->plain ? "dataType" : "quant quantCount", c->viewSpare,
                    sizeof(c->viewSpare)}};
    snprintf(attributes, sizeof(attributes), "typedef struct NNRT_%s {", op->attr->name);
    for (size_t k = !c->plain; k < sizeof(members) / sizeof(members[0]) - (quant && !c->plain); k++)
        for (size_t i = 0; i < c->itemCount; i++)
            if (c->items[i].wanted && cli_text_find(c->items[i].code, members[k].name) == c->items[i].code.at)
                cli_copy_lean(c, &c->items[i], members[k].what, members[k].list, members[k].room);
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

/* True if the output has a product of floats: the spaces of an operator, "float *x" has one. */
static bool cli_copy_products(const cli_copy *c)
{
    return cli_text_find(c->out, " * ") != NULL &&
           (!c->plain || cli_text_find(c->out, "float ") != NULL || cli_text_find(c->out, "double ") != NULL);
}

/* Prints the text behind the comment at the top: #include lines that the items need, the items, if they have a product
   without contraction of a * b + c, for which a plain copy names an option of the compiler. */
static void cli_copy_put_text(cli_copy *c)
{
    const bool products = !c->plain && cli_copy_products(c);
    static const struct {
        const char *header, *words[6];
    } headers[] = {{"float.h", {"FLT_", "DBL_"}}, {"math.h", {"NAN", "INFINITY", " sqrt(", " sqrtf(", "frexp("}},
                   {"stdbool.h", {"bool", "true", "false"}}, {"stddef.h", {"size_t", "ptrdiff_t", "NULL"}},
                   {"stdint.h", {"int32_t", "int64_t", "uint8_t"}},
                   {"string.h", {"memcpy", "memset", "memcmp", "memmove", "strcmp", "strlen"}}};
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        bool used = c->math && strcmp(headers[i].header, "math.h") == 0;
        for (int k = 0; k < 6 && headers[i].words[k] != NULL; k++)
            used = used || cli_text_find(c->out, headers[i].words[k]) != NULL;
        if (used)
            printf("#include <%s>\n", headers[i].header);
    }
    if (products)
        fputs("\n/* a * b + c is rounded twice here: the same bits on every platform */\n#if defined(__clang__)\n"
              "#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n#pragma GCC push_options\n"
              "#pragma GCC optimize(\"fp-contract=off\")\n#endif\n", stdout);
    if (cli_text_find(c->out, "NNRT_MAX_RANK") != NULL)
        printf("\n#define NNRT_MAX_RANK %d\n", NNRT_MAX_RANK);
    if (!c->plain || cli_text_find(c->out, "NNRT_MAX_RANK") == NULL || cli_text_find(c->out, "typedef int32_t") != c->out.at)
        putchar('\n');
    fwrite(c->out.at, 1, c->out.n, stdout);
    if (products)
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

/* True for a function for quantized tensors only, by its name. */
static bool cli_copy_of_quant(const cli_item *item)
{
    static const char *const names[] = {" nnrti_quant_", " nnrti_requantize_", " nnrti_factor("};
    const char *open = cli_text_find(item->code, "(");
    bool quant = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && open != NULL; i++)
        quant = quant || cli_text_find(cli_text_between(item->code.at, open + 1), names[i]) != NULL;
    return quant;
}

/* Prints the functions with which the rule computes derived constants, after the kernels and as documentation only:
   they need the operator table. quant: also those for quantized tensors. */
static void cli_copy_put_derived(cli_copy *c, const char *rule, bool quant)
{
    const cli_item *before = NULL;
    cli_copy_close(c, &rule, 1);
    printf("\n#if 0 /* How %s of nnrt_ops.h computes the derived constants. c has the node: in[] and out[] are its\n"
           "         operands, with their scales and zero points. */\n",
           rule);
    for (size_t i = 0; i < c->itemCount; i++)
        if (c->items[i].wanted && cli_copy_derives(&c->items[i], rule) &&
            (quant || !cli_copy_of_quant(&c->items[i]))) {
            cli_copy_put_item(c, &c->items[i], before);
            before = &c->items[i];
        }
    fwrite(c->out.at, 1, c->out.n, stdout);
    printf("\n#endif\n");
}

#endif /* NNRT_TOOL_COPY_OUTPUT_H */
