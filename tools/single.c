/*
single.c - writes nnrt as single files: `make single` builds this program and writes the folder dist.

usage: single [--root REPOSITORY] [--stb FILE] FOLDER

    --root REPOSITORY   the folder with nnrt.h; default: the current folder
    --stb FILE          stb_ds.h; default: <stb/stb_ds.h> as $CC with $CPPFLAGS finds it

FILES that it writes into FOLDER
    nnrt.h          nnrt.h and the headers that it includes, the devices auto and cpu, the used part of stb_ds.h
    nnrt_all.h      the same and the readers of formats/ that need no nnrt_text.h
    beside them     nnrt_frontend.h, nnrt_text.h and each header of formats/, devices/ and compat/, which include nnrt.h;
                    the headers of folders in compat/ keep their folders

SECTIONS
    >>strings   strings, lists, files
    >>lines     lines, words and includes of a source
    >>headers   the headers, in the order of their includes
    >>manual    the top comment
    >>stb       the used part of stb_ds.h
    >>files     the files, their checks, the command line

DESIGN
    Declarations come first, then the implementations; a header comes after the headers that it includes. The top
    comments become one: the chapters of nnrt.h with the sections of all headers and the chapters that nnrt.h lacks.
    Only the used definitions of stb_ds.h are copied, and renamed from stbds_ to nnrti_stbds_: a program may use stb_ds
    itself. The kernels of the device cpu are compiled once per instruction set: the file includes itself for each, and
    then consists of the kernels only (NNRTI_CPU_ISA).

    The program reads lines and parses no C. This suffices because the headers have a form: a top comment, declarations,
    a ruler of =, the implementation in one #if; an include of ours has a line of its own. A source of another form is
    refused with a sentence before any file is written, and verify() checks the result. Rejected: a script, because an
    embedder with a C compiler may have no interpreter; a list of the headers, because their includes state it.

    A string is never changed or freed once it is complete: the program ends after a fraction of a second.

MIT license, see LICENSE.
*/
#define _XOPEN_SOURCE 700

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TOP "nnrt.h"
#define ALL "nnrt_all.h"
#define KERNELS "nnrt_cpu_kernels.h"
#define OUR_LICENSE "MIT license, see LICENSE."
#define LICENSE_IN_TOP "MIT license; its text is at the end of nnrt.h."
#define EQUALS "============================"
#define RULER "/* " EQUALS EQUALS EQUALS EQUALS " */\n"

/* Devices that nnrt.h includes if it finds them: the macro that includes them, and the macro of a program that includes
   them itself. */
static const struct device {
    const char *path, *builtIn, *asked;
} devices[] = {{"devices/nnrt_auto.h", "NNRT_AUTO", "NNRTI_WITH_AUTO"},
               {"devices/nnrt_cpu.h", "NNRT_CPU", "NNRTI_WITH_CPU"}};
enum { DEVICES = sizeof(devices) / sizeof(devices[0]) };

static const char *root = ".";

/* Of a function that does not return and has the arguments of printf. */
#if defined(__GNUC__)
#define SENTENCE __attribute__((noreturn, format(printf, 1, 2)))
#else
#define SENTENCE
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>strings */

/* A part of a string. */
typedef struct {
    const char *at;
    size_t length;
} Span;

/* A string that grows; `at` ends with a zero byte that `length` does not count. */
typedef struct {
    char *at;
    size_t length, room;
} Text;

/* Strings in their order. */
typedef struct {
    const char **at;
    size_t count;
} List;

/* Ends the program with a sentence. */
static SENTENCE void fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("single: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(EXIT_FAILURE);
}

static void *resized(void *block, size_t bytes)
{
    block = realloc(block, bytes);
    if (block == NULL)
        fail("out of memory");
    return block;
}

static void append_bytes(Text *text, const char *from, size_t length)
{
    if (text->length + length + 1 > text->room) {
        text->room = 2 * (text->length + length + 1);
        text->at = (char *)resized(text->at, text->room);
    }
    memcpy(text->at + text->length, from, length);
    text->length += length;
    text->at[text->length] = 0;
}

/* Appends strings; the last argument is NULL. */
static void append(Text *text, ...)
{
    va_list parts;
    const char *one;
    va_start(parts, text);
    while ((one = va_arg(parts, const char *)) != NULL)
        append_bytes(text, one, strlen(one));
    va_end(parts);
}

static const char *copy(const char *from, size_t length)
{
    Text text = {NULL, 0, 0};
    append_bytes(&text, from, length);
    return text.at;
}

static const char *joined(const char *a, const char *b, const char *c)
{
    Text text = {NULL, 0, 0};
    append(&text, a, b, c, NULL);
    return text.at;
}

static const char *replaced(const char *text, const char *old, const char *by)
{
    Text out = {NULL, 0, 0};
    const char *hit;
    for (; (hit = strstr(text, old)) != NULL; text = hit + strlen(old)) {
        append_bytes(&out, text, (size_t)(hit - text));
        append(&out, by, NULL);
    }
    append(&out, text, NULL);
    return out.at;
}

static int starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int equal(Span span, const char *text)
{
    return span.length == strlen(text) && memcmp(span.at, text, span.length) == 0;
}

static void push(List *list, const char *one)
{
    list->at = (const char **)resized(list->at, (list->count + 1) * sizeof(*list->at));
    list->at[list->count++] = one;
}

static int contains(const List *list, const char *one)
{
    size_t i;
    for (i = 0; i < list->count; i++)
        if (strcmp(list->at[i], one) == 0)
            return 1;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The last part of a path. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The lines of a file with \n as line ends. A header of ours is ASCII, which every compiler reads alike. */
static const char *read_file(const char *path, int ascii)
{
    static char block[1 << 16];
    Text text = {NULL, 0, 0};
    size_t length, line = 1, from, to = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail("%s: %s", path, strerror(errno));
    append(&text, "", NULL);
    while ((length = fread(block, 1, sizeof(block), file)) > 0)
        append_bytes(&text, block, length);
    if (ferror(file))
        fail("%s: %s", path, strerror(errno));
    fclose(file);
    for (from = 0; from < text.length; from++) {
        unsigned char byte = (unsigned char)text.at[from];
        if (byte == 0 || (ascii && byte > 127))
            fail("%s: line %zu has a byte that is not ASCII: %d", path, line, byte);
        line += byte == '\n';
        if (byte != '\r' || text.at[from + 1] != '\n')
            text.at[to++] = text.at[from];
    }
    text.at[to] = 0;
    return text.at;
}

/* A file of the repository; path: below the root. */
static const char *source(const char *path)
{
    return read_file(joined(root, "/", path), 1);
}

/* Appends the paths FOLDER/NAME whose NAME ends with `end`, sorted by name; none if FOLDER is a file. */
static void find_files(List *list, const char *folder, const char *end)
{
    size_t first = list->count;
    struct dirent *entry;
    DIR *open = opendir(joined(root, "/", folder));
    if (open == NULL && errno == ENOTDIR)
        return;
    if (open == NULL)
        fail("%s: %s", folder, strerror(errno));
    while ((entry = readdir(open)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] != '.' && length > strlen(end) && strcmp(entry->d_name + length - strlen(end), end) == 0)
            push(list, joined(folder, "/", entry->d_name));
    }
    closedir(open);
    if (list->count > first)
        qsort(list->at + first, list->count - first, sizeof(*list->at), by_name);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>lines */

/* The next line, or the end of the text. */
static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

static int in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The first word from `at` in front of `end` that begins with `prefix`: a maximal sequence of letters, digits and _.
   An empty span at `end` if there is none. */
static Span next_word(const char *at, const char *end, const char *prefix)
{
    Span word = {at, 0};
    while (word.at < end) {
        for (word.length = 0; word.at + word.length < end && in_word(word.at[word.length]);)
            word.length++;
        if (word.length >= strlen(prefix) && word.length > 0 && starts(word.at, prefix))
            return word;
        word.at += word.length ? word.length : 1;
    }
    word.length = 0;
    return word;
}

/* Whether one of the words from `at` in front of `end` is this one. */
static int has_word(const char *at, const char *end, const char *name)
{
    Span word = next_word(at, end, name);
    while (word.length > 0 && !equal(word, name))
        word = next_word(word.at + word.length, end, name);
    return word.length > 0;
}

/* The text behind #WORD at the beginning of this line, or NULL. #ifdef and #ifndef are an #if, too. */
static const char *directive(const char *line, const char *word)
{
    if (*line != '#')
        return NULL;
    line += 1 + strspn(line + 1, " \t");
    return starts(line, word) ? line + strlen(word) : NULL;
}

/* The name in quotes, if this line includes a header of ours. */
static int include_of(const char *line, Span *name)
{
    const char *at = directive(line, "include");
    if (at == NULL || *(at += strspn(at, " \t")) != '"')
        return 0;
    name->at = at + 1;
    name->length = strcspn(at + 1, "\"\n");
    return name->length > 0 && name->at[name->length] == '"';
}

/* A text without its includes of headers of ours; `kept`: a name that stays, or NULL. */
static const char *without_includes(const char *text, const char *kept)
{
    Text out = {NULL, 0, 0};
    const char *line, *next;
    Span name;
    append(&out, "", NULL);
    for (line = text; *line; line = next) {
        next = next_line(line);
        if (!include_of(line, &name) || (kept && equal(name, kept)))
            append_bytes(&out, line, (size_t)(next - line));
    }
    return out.at;
}

/* A text without #if, #else, #endif on three lines: both cases included headers of ours. */
static const char *without_empty_conditionals(const char *text)
{
    Text out = {NULL, 0, 0};
    const char *line, *next;
    append(&out, "", NULL);
    for (line = text; *line; line = next) {
        const char *second = next_line(line), *third = next_line(second);
        next = second;
        if (directive(line, "if") && directive(second, "else") && directive(third, "endif"))
            next = next_line(third);
        else
            append_bytes(&out, line, (size_t)(next - line));
    }
    return out.at;
}

/* A text without empty lines at both ends. */
static const char *stripped(const char *text)
{
    size_t length;
    text += strspn(text, "\n");
    for (length = strlen(text); length > 0 && text[length - 1] == '\n';)
        length--;
    return copy(text, length);
}

/* A text with at most one empty line at a time, none at its ends. */
static const char *tidy(const char *text)
{
    Text out = {NULL, 0, 0};
    for (text = stripped(text); *text;) {
        size_t filled = strcspn(text, "\n"), breaks = strspn(text + filled, "\n");
        append_bytes(&out, text, filled + (breaks > 2 ? 2 : breaks));
        text += filled + breaks;
    }
    append(&out, "\n", NULL);
    return out.at;
}

/* A text without its comments. */
static const char *without_comments(const char *text)
{
    Text out = {NULL, 0, 0};
    const char *open, *close;
    for (; (open = strstr(text, "/*")) != NULL && (close = strstr(open + 2, "*/")) != NULL; text = close + 2)
        append_bytes(&out, text, (size_t)(open - text));
    append(&out, text, NULL);
    return out.at;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>headers */

/* A header of ours: the text of its top comment, and the two halves of the rest. */
typedef struct {
    const char *path, *name, *top, *declarations, *implementation;
} Header;

/* nnrt.h and the headers that it includes, directly or not: each once, after those that it includes. */
typedef struct {
    Header at[16];
    size_t count;
} Headers;

/* The part of a header behind its top comment. */
static const char *body_of(const char *text, const char *name)
{
    const char *end = strstr(text, "*/\n");
    if (!starts(text, "/*") || end == NULL)
        fail("%s: has no top comment", name);
    return end + 3;
}

/* Whether the implementation of a header begins at this line: a ruler of = above the #if of NNRT_IMPLEMENTATION. */
static int begins_implementation(const char *line)
{
    const char *below = next_line(line), *condition = directive(below, "if");
    const char *hit = condition ? strstr(condition, "defined(NNRT_IMPLEMENTATION)") : NULL;
    return starts(line, "/* =") && starts(line + 3 + strspn(line + 3, "="), " */\n") && hit && hit < next_line(below);
}

static Header header_of(const char *path)
{
    Header header = {NULL, NULL, NULL, NULL, NULL};
    const char *text = source(path), *body = body_of(text, path), *line, *half = NULL;
    size_t halves = 1;
    for (line = body; *line; line = next_line(line))
        if (begins_implementation(line)) {
            half = line;
            halves++;
        }
    if (!starts(text, "/*\n") || half == NULL || halves != 2)
        fail("%s: is not a top comment, declarations and one implementation", path);
    header.path = path;
    header.name = file_name(path);
    header.top = copy(text + 3, (size_t)(body - 3 - text - 3));
    header.declarations = copy(body, (size_t)(half - body));
    header.implementation = next_line(half);
    return header;
}

/* The path of a header that the header at `path` includes: core/nnrt_plan.h and "../nnrt_ops.h" are nnrt_ops.h. */
static const char *resolved(const char *path, Span name)
{
    size_t folder = (size_t)(file_name(path) - path);
    while (name.length > 3 && starts(name.at, "../") && folder > 0) {
        name.at += 3;
        name.length -= 3;
        do
            folder--;
        while (folder > 0 && path[folder - 1] != '/');
    }
    return joined(copy(path, folder), copy(name.at, name.length), "");
}

/* Adds a header of ours after the headers that it includes. `seen`: headers that were added, or are being added. */
static void collect(Headers *headers, List *seen, const char *path)
{
    const char *line;
    Span name;
    Header header;
    size_t i;
    if (contains(seen, path))
        return;
    push(seen, path);
    header = header_of(path);
    for (line = body_of(source(path), path); *line; line = next_line(line)) {
        int device = 0;
        if (!include_of(line, &name))
            continue;
        for (i = 0; i < DEVICES; i++)
            device |= equal(name, devices[i].path);
        if (!device)
            collect(headers, seen, resolved(path, name));
    }
    if (headers->count == sizeof(headers->at) / sizeof(headers->at[0]))
        fail("%s: too many headers", path);
    headers->at[headers->count++] = header;
}

/* A header below a ruler, without its top comment and its includes of ours except `kept`; within #if if a condition is
   named. */
static void append_header(Text *text, const char *path, const char *condition, const char *kept)
{
    const char *body = without_includes(body_of(source(path), path), kept), *name = file_name(path);
    append(text, "\n" RULER "/* ", name, " */\n", NULL);
    if (condition)
        append(text, "\n#if ", condition, "\n", stripped(body), "\n#endif /* ", name, " */\n", NULL);
    else
        append(text, body, NULL);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>manual */

/* The chapters of a top comment in their order: a name on a line of its own, above indented lines. */
typedef struct {
    struct chapter {
        const char *name, *body;
    } at[64];
    size_t count;
} Chapters;

static const char **chapter(Chapters *chapters, const char *name)
{
    size_t i;
    for (i = 0; i < chapters->count; i++)
        if (strcmp(chapters->at[i].name, name) == 0)
            return &chapters->at[i].body;
    return NULL;
}

static void set_chapter(Chapters *chapters, const char *name, const char *body)
{
    const char **found = chapter(chapters, name);
    if (found) {
        *found = body;
        return;
    }
    if (chapters->count == sizeof(chapters->at) / sizeof(chapters->at[0]))
        fail("chapter %s: too many chapters", name);
    chapters->at[chapters->count].name = name;
    chapters->at[chapters->count++].body = body;
}

static Chapters chapters_of(const Header *header)
{
    Chapters chapters = {{{NULL, NULL}}, 0};
    const char *line = joined(header->top, "\n", "");
    while (*line) {
        const char *first = next_line(line), *end = first, *body;
        while (starts(end, "    ") || *end == '\n')
            end = next_line(end);
        if (isspace((unsigned char)*line) || end == first) {
            line = first;
            continue;
        }
        body = stripped(copy(first, (size_t)(end - first)));
        if (body[strspn(body, " \n")])
            set_chapter(&chapters, copy(line, (size_t)(first - line - 1)), body);
        line = end;
    }
    return chapters;
}

/* The lists of sections as one: all declarations, then all implementations. */
static const char *sections(const Headers *headers)
{
    static const char mark[] = "-- implementation --";
    Text declared = {NULL, 0, 0}, implemented = {NULL, 0, 0};
    size_t i, k;
    for (i = 0; i < headers->count; i++) {
        Chapters chapters = chapters_of(&headers->at[i]);
        for (k = 0; k < chapters.count; k++) {
            const char *body = chapters.at[k].body, *hit = strstr(body, mark), *begin = hit, *end;
            if (!starts(chapters.at[k].name, "SECTIONS"))
                continue;
            while (begin > body && begin[-1] == ' ')
                begin--;
            end = hit ? hit + strlen(mark) : NULL;
            if (hit == NULL || begin == body || begin[-1] != '\n' || *end != '\n' || strstr(end, mark))
                fail("%s: its list of sections is not declarations, '%s' and the rest", headers->at[i].path, mark);
            append(&declared, "    from ", headers->at[i].name, ":\n", copy(body, (size_t)(begin - body)), NULL);
            append(&implemented, "\n    from ", headers->at[i].name, ":", end, NULL);
        }
    }
    return joined(declared.at, "    -- implementation --", implemented.at);
}

/* A top comment with the headers of other folders in the one folder. */
static const char *flat(const char *text, const List *above)
{
    size_t i;
    for (i = 0; i < above->count; i++)
        text = replaced(text, above->at[i], file_name(above->at[i]));
    return text;
}

/* Appends words in lines of at most 120 columns, indented by four. */
static void append_wrapped(Text *text, const char *words)
{
    size_t column = 0;
    while (*(words += strspn(words, " ")) != 0) {
        size_t length = strcspn(words, " ");
        if (column == 0 || column + 1 + length > 120) {
            append(text, column ? "\n   " : "   ", NULL);
            column = 3;
        }
        append(text, " ", copy(words, length), NULL);
        column += 1 + length;
        words += length;
    }
    append(text, "\n", NULL);
}

static const char *version(void)
{
    static const char *const parts[] = {"MAJOR", "MINOR", "PATCH"};
    const char *text = source(TOP);
    Text out = {NULL, 0, 0};
    size_t i;
    for (i = 0; i < 3; i++) {
        const char *macro = joined("\n#define NNRT_VERSION_", parts[i], " "), *hit = strstr(text, macro);
        size_t digits = hit ? strspn(hit + strlen(macro), "0123456789") : 0;
        if (digits == 0)
            fail(TOP ": has no NNRT_VERSION_%s", parts[i]);
        append(&out, i ? "." : "", copy(hit + strlen(macro), digits), NULL);
    }
    return out.at;
}

/* The chapter FILES. */
static const char *files_chapter(const Headers *headers, const List *beside)
{
    Text words = {NULL, 0, 0}, out = {NULL, 0, 0};
    size_t i;
    append(&words, "This file is nnrt ", version(), " as one: it holds ", NULL);
    for (i = 0; i < headers->count; i++)
        append(&words, i == 0 ? "" : i + 1 < headers->count ? ", " : " and ", headers->at[i].name, NULL);
    append(
        &words,
        ", and the devices auto and cpu; nnrt_all.h also holds the readers of model files. make single in nnrt's "
        "repository writes both. Either is all that a program needs: the used part of stb_ds is inside, under names of "
        "its own, whatever your program does with stb_ds. A text that names one of these headers means its part of "
        "this file. NNRT_AUTO=0 and NNRT_CPU=0 leave the devices out. The implementation is compiled if "
        "NNRT_IMPLEMENTATION is defined before the include: in one C or C++ file of the program.",
        NULL);
    append_wrapped(&out, words.at);
    for (i = 0; i < beside->count; i++) {
        char line[128];
        snprintf(line, sizeof(line), "    %-20s is beside this file and includes it", file_name(beside->at[i]));
        append(&out, line, i + 1 < beside->count ? "\n" : "", NULL);
    }
    return out.at;
}

/* A text without the lines that begin with `prefix`. */
static const char *without_lines(const char *text, const char *prefix)
{
    Text out = {NULL, 0, 0};
    const char *line, *next;
    for (line = text; *line; line = next) {
        next = next_line(line);
        if (!starts(line, prefix))
            append_bytes(&out, line, (size_t)(next - line));
    }
    return out.at;
}

/* The top comment of nnrt.h or nnrt_all.h, as `name` says; beside: the headers beside it. */
static const char *manual(const char *name, const Headers *headers, const List *beside)
{
    const Header *top = &headers->at[headers->count - 1];
    Chapters own = chapters_of(top), merged = own;
    Text out = {NULL, 0, 0};
    const char *text, *opening_end = strstr(top->top, "\n\n");
    size_t i, k;
    if (opening_end == NULL)
        fail("%s: its top comment has one paragraph", top->path);
    for (i = 0; i + 1 < headers->count; i++) {
        Chapters theirs = chapters_of(&headers->at[i]);
        for (k = 0; k < theirs.count; k++) {
            const char *title = theirs.at[k].name, *body = theirs.at[k].body, **known = chapter(&merged, title);
            if (known && starts(*known + strspn(*known, " \n"), "See the top of"))
                *known = body;
            else if (!chapter(&own, title) && strcmp(title, "WHAT IT IS") != 0 && strcmp(title, "READERS") != 0)
                /* a chapter of several headers: one body after the other */
                set_chapter(&merged, title, known ? joined(*known, "\n", body) : body);
        }
    }
    set_chapter(&merged, "FILES", files_chapter(headers, beside));
    append_bytes(&out, top->top, (size_t)(opening_end + 2 - top->top));
    for (i = 0; i < merged.count; i++)
        append(&out, merged.at[i].name, "\n",
               starts(merged.at[i].name, "SECTIONS") ? sections(headers) : merged.at[i].body, "\n\n", NULL);
    text = without_lines(out.at, "    NNRT_STB_DS_H ");
    text = replaced(replaced(text, "copy the headers", "copy one header"), "-I. examples/hello.c", "hello.c");
    if (strcmp(name, ALL) == 0) /* its program needs no other file */
        text = replaced(text, "\"formats/nnrt_onnx.h\"", "\"" ALL "\"");
    text = joined(text, "MIT license; its text, and that of the part from stb_ds, are at the end of this file.\n", "");
    return joined("/*\n", flat(text, beside), "*/\n");
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>stb */

/* The definition of a name in stb_ds.h: a macro with its continued lines, or a struct. */
static Span definition(const char *stb, Span name)
{
    Span found = {NULL, 0};
    const char *line, *at, *end;
    size_t hits = 0;
    for (line = stb; *line; line = next_line(line)) {
        if (!starts(line, "#define") || line[7] == 0 || strspn(line + 7, " \t") == 0)
            continue;
        at = line + 7 + strspn(line + 7, " \t");
        if (strncmp(at, name.at, name.length) != 0 || in_word(at[name.length]))
            continue;
        for (end = next_line(line); end[-1] == '\n' && end - line > 1 && end[-2] == '\\';)
            end = next_line(end);
        found.at = line;
        found.length = (size_t)(end - line);
        hits++;
    }
    for (line = stb; hits == 0 && *line; line = next_line(line)) {
        if (!starts(line, "typedef struct"))
            continue;
        at = line + strlen("typedef struct");
        at += strspn(at, " \t\n");
        if (*at != '{' || *(at += 1 + strcspn(at + 1, "{}")) != '}')
            continue;
        at += 1 + strspn(at + 1, " \t\n");
        if (strncmp(at, name.at, name.length) != 0 || !starts(at + name.length, ";\n"))
            continue;
        found.at = line;
        found.length = (size_t)(at + name.length + 2 - line);
        hits++;
    }
    if (hits != 1)
        fail("stb_ds.h: %s has %zu definitions that can be taken, expected one", copy(name.at, name.length), hits);
    return found;
}

static int by_place(const void *a, const void *b)
{
    const char *left = ((const Span *)a)->at, *right = ((const Span *)b)->at;
    return (left > right) - (left < right);
}

/* Adds the names of stb_ds in a text to a list. */
static void collect_stb_names(List *names, const char *text, size_t length)
{
    static const char *const prefixes[] = {"stbds_", "STBDS_"};
    const char *end = text + length;
    size_t i;
    for (i = 0; i < 2; i++) {
        Span word = next_word(text, end, prefixes[i]);
        for (; word.length > 0; word = next_word(word.at + word.length, end, prefixes[i])) {
            const char *name = copy(word.at, word.length);
            if (word.length > strlen(prefixes[i]) && !contains(names, name))
                push(names, name);
        }
    }
}

/* The definitions of these names in stb_ds.h, and of the names that they use, in its order. */
static const char *taken(const char *stb, List names)
{
    Text out = {NULL, 0, 0};
    Span *found = NULL;
    size_t i;
    for (i = 0; i < names.count; i++) { /* the list grows */
        Span name = {names.at[i], strlen(names.at[i])};
        found = (Span *)resized(found, (i + 1) * sizeof(*found));
        found[i] = definition(stb, name);
        collect_stb_names(&names, found[i].at, found[i].length);
    }
    if (i > 0)
        qsort(found, i, sizeof(*found), by_place);
    for (i = 0; i < names.count; i++)
        append_bytes(&out, found[i].at, found[i].length);
    append(&out, "", NULL);
    return out.at;
}

/* Finds the one #if of a header that names the macro: first line, and line behind its #endif. */
static void find_conditional(const char *text, const char *macro, const char *path, const char **first,
                             const char **behind)
{
    const char *line;
    size_t hits = 0, depth = 0;
    for (line = text; *line; line = next_line(line))
        if (directive(line, "if") && has_word(line, next_line(line), macro)) {
            *first = line;
            hits++;
        }
    if (hits != 1)
        fail("%s: %zu conditionals name %s, expected one", path, hits, macro);
    for (line = *first; *line; line = next_line(line)) {
        depth += directive(line, "if") != NULL;
        depth -= directive(line, "endif") != NULL;
        if (depth == 0)
            break;
    }
    if (*line == 0)
        fail("%s: the conditional of %s has no end", path, macro);
    *behind = next_line(line);
}

/* The names of stb_ds with the prefix nnrti_. */
static const char *renamed(const char *text)
{
    Text out = {NULL, 0, 0};
    const char *end = text + strlen(text);
    while (*text) {
        Span word = next_word(text, end, "");
        append_bytes(&out, text, (size_t)(word.at - text));
        if (word.length >= 6 && starts(word.at, "stbds_"))
            append(&out, "nnrti_", NULL);
        else if (word.length >= 6 && starts(word.at, "STBDS_"))
            append(&out, "NNRTI_", NULL);
        append_bytes(&out, word.at, word.length);
        text = word.at + word.length;
    }
    return out.at;
}

/* An implementation with the used part of stb_ds in the place of its include, and without the lines that hide the names
   of stb_ds. */
static const char *with_stb(const char *text, const char *stb, const char *path)
{
    const char *first, *behind, *line, *comment = NULL;
    Text out = {NULL, 0, 0};
    List used = {NULL, 0};
    find_conditional(text, "NNRTI_STBDS_PRIVATE", path, &first, &behind);
    text = joined(copy(text, (size_t)(first - text)), behind, "");
    find_conditional(text, "INCLUDE_STB_DS_H", path, &first, &behind);
    for (line = text; line < first; line = next_line(line)) /* the comment above it */
        if (starts(line, "/*"))
            comment = line;
    if (comment && first - text >= 3 && starts(first - 3, "*/\n"))
        first = comment;
    text = copy(text, (size_t)(first - text));
    collect_stb_names(&used, text, strlen(text));
    collect_stb_names(&used, behind, strlen(behind));
    append(&out, text, "/* From ",
           starts(stb, "/* stb_ds.h - v") ? copy(stb + 3, 12 + strcspn(stb + 15, " \t\n")) : "stb_ds.h",
           " by Sean Barrett, renamed; its license is at the end of this file. */\n", taken(stb, used), behind, NULL);
    return renamed(out.at);
}

/* The comment at the end of the file: the license of nnrt, and the license of stb_ds.h, from the dashes above its first
   line to the end of its comment. */
static const char *licenses(const char *stb)
{
    static const char mark[] = "\nThis software is available under";
    const char *begin = strstr(stb, mark), *end = begin ? strstr(begin, "\n*/") : NULL;
    Text out = {NULL, 0, 0};
    while (begin && begin > stb && begin[-1] == '-')
        begin--;
    if (end == NULL || *begin != '-')
        fail("stb_ds.h: its license is not where it was");
    append(&out, "/*\n", stripped(source("LICENSE")), "\n\n",
           "------------------------------------------------------------------------------\n"
           "The part of this file that comes from stb_ds.h:\n",
           copy(begin, (size_t)(end + 1 - begin)), "*/\n", NULL);
    return out.at;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>files */

/* Refuses a written text that includes headers other than `own`, leaves an #if open or has a name of stb_ds. */
static void verify(const char *name, const char *text, const List *own)
{
    static const char *const theirs[] = {"stbds_", "STBDS_", "INCLUDE_STB", "STB_DS"};
    const char *code = without_comments(text), *line, *at;
    size_t opened = 0, closed = 0, i;
    for (at = strchr(code, '#'); at; at = strchr(at + 1, '#')) { /* also behind spaces */
        Span included;
        if (include_of(at, &included) && !contains(own, copy(included.at, included.length)))
            fail("%s: an include of %s is left", name, copy(included.at, included.length));
    }
    for (line = text; *line; line = next_line(line)) {
        opened += directive(line, "if") != NULL;
        closed += directive(line, "endif") != NULL;
    }
    if (opened != closed)
        fail("%s: has %zu #if and %zu #endif", name, opened, closed);
    for (i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
        Span word = next_word(code, code + strlen(code), theirs[i]);
        if (word.length > 0)
            fail("%s: the name %s of stb_ds is left", name, copy(word.at, word.length));
    }
}

/* One half of a header, without includes of ours, and without the search for the devices, which are inside. */
static const char *half_of(const char *half)
{
    const char *text = without_empty_conditionals(without_includes(half, NULL));
    size_t i;
    for (i = 0; i < DEVICES; i++)
        text = replaced(text, joined("__has_include(\"", devices[i].path, "\")"), "1");
    return replaced(text, " && defined(__has_include)\n#if 1", "\n#if 1");
}

/* nnrt.h or nnrt_all.h, as `name` says; above: the headers above nnrt.h; readers: those that it holds. */
static const char *amalgamation(const char *name, const Headers *headers, const List *above, const List *readers,
                                const char *stb)
{
    Text text = {NULL, 0, 0}, out = {NULL, 0, 0};
    List beside = {NULL, 0}, own = {NULL, 0};
    size_t half, i, k;
    for (i = 0; i < above->count; i++) {
        int inside = contains(readers, above->at[i]);
        for (k = 0; k < DEVICES; k++)
            inside |= strcmp(above->at[i], devices[k].path) == 0;
        if (!inside)
            push(&beside, above->at[i]);
    }
    append(&text, manual(name, headers, &beside), "#ifndef NNRTI_CPU_ISA\n", NULL);
    for (half = 0; half < 2; half++)
        for (i = 0; i < headers->count; i++) {
            const Header *header = &headers->at[i];
            const char *body = half_of(half ? header->implementation : header->declarations);
            for (k = 0; half == 1 && i + 1 == headers->count && k < DEVICES; k++) { /* where nnrt.h includes them */
                Text condition = {NULL, 0, 0};
                append(&condition, "defined(", devices[k].asked, ") || (", devices[k].builtIn,
                       " && defined(NNRT_IMPLEMENTATION))", NULL);
                append_header(&text, devices[k].path, condition.at, KERNELS);
            }
            if (half == 1 && strstr(body, "stbds_"))
                body = with_stb(body, stb, header->path);
            append(&text, "\n" RULER "/* ", half ? "implementation" : "declarations", " of ", header->name, " */\n",
                   body, NULL);
        }
    append(&out, replaced(text.at, "\"" KERNELS "\"", joined("\"", name, "\"")), NULL);
    for (i = 0; i < readers->count; i++)
        append_header(&out, readers->at[i], NULL, NULL);
    append(&out, "\n#else /* NNRTI_CPU_ISA */\n", NULL);
    append_header(&out, "devices/" KERNELS, NULL, NULL);
    append(&out, "\n#endif /* NNRTI_CPU_ISA */\n\n", licenses(stb), NULL);
    push(&own, name);
    verify(name, out.at, &own);
    return tidy(out.at);
}

/* A header above nnrt.h, for the same folder; foreign: the headers of folders in compat/. */
static const char *side(const char *path, const List *above, const List *foreign)
{
    const char *text = source(path), *line = body_of(text, path), *next, *top;
    List own = {NULL, 0};
    Text out = {NULL, 0, 0};
    Span included;
    size_t i;
    for (i = 0; i < foreign->count; i++)
        push(&own, foreign->at[i] + strlen("compat/"));
    push(&own, TOP);
    for (i = 0; i < above->count; i++)
        push(&own, file_name(above->at[i]));
    top = flat(copy(text, (size_t)(line - text)), above);
    top = replaced(top, "includes nnrt.h, which lies one folder up", "includes nnrt.h, which lies beside it");
    append(&out, replaced(top, OUR_LICENSE, LICENSE_IN_TOP), NULL);
    for (; *line; line = next) {
        next = next_line(line);
        if (include_of(line, &included)) {
            const char *name = copy(included.at, included.length), *rest = included.at + included.length + 1;
            name = contains(&own, name) ? name : file_name(name);
            append(&out, "#include \"", contains(&own, name) ? name : TOP, "\"", copy(rest, (size_t)(next - rest)),
                   NULL);
        } else
            append_bytes(&out, line, (size_t)(next - line));
    }
    verify(file_name(path), out.at, &own);
    return out.at;
}

/* A device that is inside, for a program that includes it by its name. */
static const char *asking(const struct device *device)
{
    Text out = {NULL, 0, 0};
    append(&out, "/* ", file_name(device->path),
           ": the device is in nnrt.h, which compiles it if NNRT_IMPLEMENTATION is defined. */\n#ifndef ",
           device->asked, "\n#define ", device->asked, "\n#endif\n#include \"" TOP "\"\n", NULL);
    return out.at;
}

/* Writes a file, and the folders above it. */
static void write_file(const char *path, const char *text)
{
    const char *slash;
    size_t lines = 0, i;
    FILE *file;
    for (i = 0; text[i]; i++) {
        lines += text[i] == '\n';
        if ((unsigned char)text[i] > 127)
            fail("%s: line %zu has a byte that is not ASCII", path, lines + 1);
    }
    for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/'))
        if (mkdir(copy(path, (size_t)(slash - path)), 0777) != 0 && errno != EEXIST)
            fail("%s: %s", copy(path, (size_t)(slash - path)), strerror(errno));
    file = fopen(path, "wb");
    if (file == NULL || fwrite(text, 1, i, file) != i || fclose(file) != 0)
        fail("%s: %s", path, strerror(errno));
    printf("%s: %zu bytes, %zu lines\n", path, i, lines);
}

/* The path of <stb/stb_ds.h>: the compiler's list of dependencies names it. */
static const char *find_stb(void)
{
    const char *cc = getenv("CC"), *flags = getenv("CPPFLAGS");
    char word[4096] = "";
    FILE *output;
    Text command = {NULL, 0, 0};
    cc = cc && *cc ? cc : "cc";
    append(&command, "echo '#include <stb/stb_ds.h>' | ", cc, " ", flags ? flags : "", " -M -x c - 2>/dev/null", NULL);
    output = popen(command.at, "r");
    if (output == NULL)
        fail("%s: %s", cc, strerror(errno));
    while (fscanf(output, "%4095s", word) == 1 && strstr(word, "stb_ds.h") == NULL)
        continue;
    if (strstr(word, "stb_ds.h") == NULL)
        fail("%s finds no <stb/stb_ds.h>: install libstb-dev, or name the file with --stb", cc);
    pclose(output);
    return copy(word, strlen(word));
}

int main(int count, char **arguments)
{
    Headers headers;
    List above = {NULL, 0}, readers = {NULL, 0}, none = {NULL, 0}, folders = {NULL, 0}, foreign = {NULL, 0};
    List seen = {NULL, 0}, names = {NULL, 0}, texts = {NULL, 0};
    const char *stb = NULL, *folder = NULL;
    size_t i, k;
    int a;
    for (a = 1; a < count; a++)
        if (strcmp(arguments[a], "--stb") == 0 && a + 1 < count)
            stb = arguments[++a];
        else if (strcmp(arguments[a], "--root") == 0 && a + 1 < count)
            root = arguments[++a];
        else if (arguments[a][0] != '-' && folder == NULL)
            folder = arguments[a];
        else
            break;
    if (a < count || folder == NULL) {
        fputs("usage: single [--root REPOSITORY] [--stb FILE] FOLDER\n", stderr);
        return 2;
    }

    stb = read_file(stb ? stb : find_stb(), 0);
    headers.count = 0;
    collect(&headers, &seen, TOP);
    find_files(&readers, "formats", ".h");
    for (i = k = 0; i < readers.count; i++)
        if (strstr(source(readers.at[i]), "core/nnrt_text.h\"") == NULL)
            readers.at[k++] = readers.at[i];
    readers.count = k;
    push(&above, "core/nnrt_frontend.h"); /* no header includes it, nor the next one */
    push(&above, "core/nnrt_text.h");
    find_files(&above, "formats", ".h");
    find_files(&above, "devices", ".h");
    find_files(&above, "compat", ".h");
    for (i = k = 0; i < above.count; i++) /* the kernels are a part of cpu */
        if (strcmp(above.at[i], "devices/" KERNELS) != 0)
            above.at[k++] = above.at[i];
    above.count = k;
    find_files(&folders, "compat", "");
    for (i = 0; i < folders.count; i++)
        find_files(&foreign, folders.at[i], ".h");

    push(&names, TOP);
    push(&texts, amalgamation(TOP, &headers, &above, &none, stb));
    push(&names, ALL);
    push(&texts, amalgamation(ALL, &headers, &above, &readers, stb));
    for (i = 0; i < above.count; i++) {
        push(&names, file_name(above.at[i]));
        for (k = 0; k < DEVICES && strcmp(above.at[i], devices[k].path) != 0;)
            k++;
        push(&texts, k < DEVICES ? asking(&devices[k]) : side(above.at[i], &above, &foreign));
    }
    for (i = 0; i < foreign.count; i++) { /* the headers of a foreign API need none of ours */
        push(&names, foreign.at[i] + strlen("compat/"));
        push(&texts, replaced(source(foreign.at[i]), OUR_LICENSE, LICENSE_IN_TOP));
    }
    for (i = 0; i < names.count; i++)
        write_file(joined(folder, "/", names.at[i]), texts.at[i]);
    return 0;
}
