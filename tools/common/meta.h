/*
meta.h - a model's metadata: the list of keys and values, and the keys defined in nnrt.h: conversion of images to
inputs, and labels of an output's classes.
Part of tools/nnrt.c.

    >>list    keys and values
    >>inputs  conversion of images to inputs
    >>labels  class labels
*/
#ifndef NNRT_TOOL_META_H
#define NNRT_TOOL_META_H

#include "../../formats/nnrt_onnx.h"
#include "args.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>list */

/* Keys and values, owned copies. Keys are unique, values are not empty. All zero is an empty list. */
typedef struct cli_metadata {
    nnrt_metadata *data;
    uint32_t count, room;
} cli_metadata;

static void cli_metadata_free(cli_metadata *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        free((void *)(uintptr_t)m->data[i].key);
        free((void *)(uintptr_t)m->data[i].value);
    }
    free(m->data);
    memset(m, 0, sizeof(*m));
}

static void cli_metadata_drop(cli_metadata *m, const char *key)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->data[i].key, key) == 0) {
            free((void *)(uintptr_t)m->data[i].key);
            free((void *)(uintptr_t)m->data[i].value);
            memmove(m->data + i, m->data + i + 1, (--m->count - i) * sizeof(*m->data));
            return;
        }
}

#define CLI_MOST_METADATA 8184u /* lookups are linear */

/* Sets a key (n bytes) to a value (v bytes); an existing key keeps its position. An empty value removes the key. */
static int cli_metadata_set(cli_metadata *m, const char *key, size_t n, const char *value, size_t v)
{
    char *k = cli_text_copy(key, n), *text = cli_text_copy(value, v);
    uint32_t at = 0;
    if (k != NULL && text != NULL && m->count == m->room && m->count < CLI_MOST_METADATA) {
        nnrt_metadata *more = (nnrt_metadata *)realloc(m->data, ((size_t)m->room * 2 + 8) * sizeof(*more));
        if (more != NULL) {
            m->data = more;
            m->room = m->room * 2 + 8;
        }
    }
    if (k == NULL || text == NULL || m->count == m->room) {
        free(k);
        free(text);
        return cli_fail(m->count >= CLI_MOST_METADATA ? "the model has more than %u metadata entries"
                                                      : "out of memory: cannot allocate %u more metadata entry",
                        m->count >= CLI_MOST_METADATA ? CLI_MOST_METADATA : 1u);
    }
    while (at < m->count && strcmp(m->data[at].key, k) != 0)
        at++;
    if (*k == '\0' || *text == '\0') {
        cli_metadata_drop(m, k);
        free(k);
        free(text);
        return CLI_DONE;
    }
    if (at < m->count) {
        free((void *)(uintptr_t)m->data[at].key);
        free((void *)(uintptr_t)m->data[at].value);
    }
    m->data[at].key = k;
    m->data[at].value = text;
    m->count += at == m->count;
    return CLI_DONE;
}

/* Copies all metadata of a .nnrt file. */
static int cli_metadata_from_model(cli_metadata *m, const NNRT_Model *model)
{
    int status = CLI_DONE;
    nnrt_metadata e;
    for (uint32_t i = 0; status == CLI_DONE && (e = nnrt_model_metadata_at(model, i)).key != NULL; i++)
        status = cli_metadata_set(m, e.key, strlen(e.key), e.value, strlen(e.value));
    return status;
}

/* Copies the metadata_props of an ONNX file. */
static int cli_metadata_from_onnx(cli_metadata *m, const nnrt_onnx_pairs *pairs)
{
    int status = CLI_DONE;
    for (size_t i = 0; status == CLI_DONE && i < pairs->count; i++)
        status = cli_metadata_set(m, (const char *)pairs->data[i].key.data, pairs->data[i].key.length,
                                  (const char *)pairs->data[i].value.data, pairs->data[i].value.length);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>inputs */

/* The valid values of numeric image options in metadata, for messages. */
#define CLI_WANT_NUMBERS \
    "one number or one per channel, at most four, separated by commas, such as 127.5 or 124,116,104"

/* The part of a key after "input.NAME.", NULL for other keys. */
static const char *cli_image_key(const char *key, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(key, "input.", 6) == 0 && strncmp(key + 6, name, n) == 0 && key[6 + n] == '.' ? key + 7 + n : NULL;
}

/* Applies one "input.NAME.KEY" to o unless the option is already set. Returns NULL, or a description of the valid
   values; "" for an unknown KEY. */
static const char *cli_image_take(cli_image_options *o, const char *key, const char *value)
{
    cli_image_options new_;
    memset(&new_, 0, sizeof(new_));
    if (strcmp(key, "mean") == 0) {
        if (!cli_take_numbers(value, new_.mean, &new_.means))
            return CLI_WANT_NUMBERS;
    } else if (strcmp(key, "scale") == 0) {
        if (!cli_take_numbers(value, new_.scale, &new_.scales))
            return CLI_WANT_NUMBERS;
    } else if (strcmp(key, "std") == 0) {
        if (!cli_take_divisors(value, new_.scale, &new_.scales))
            return CLI_WANT_NUMBERS ", none of them 0";
    } else if (strcmp(key, "color") == 0) {
        new_.colour = strcmp(value, "rgb") == 0    ? CLI_COLOR_RGB
                      : strcmp(value, "bgr") == 0  ? CLI_COLOR_BGR
                      : strcmp(value, "gray") == 0 ? CLI_COLOR_GRAY
                                                   : CLI_COLOR_AUTO;
        if (new_.colour == CLI_COLOR_AUTO)
            return "rgb, bgr or gray";
    } else if (strcmp(key, "layout") == 0) {
        new_.layout = cli_layout(value);
        if (new_.layout == CLI_LAYOUT_AUTO)
            return "nchw or nhwc";
    } else if (strcmp(key, "invert") == 0 || strcmp(key, "quantize") == 0) {
        int *const answer = *key == 'i' ? &new_.invert : &new_.quantize;
        *answer = strcmp(value, "yes") == 0 ? CLI_INVERT_YES : strcmp(value, "no") == 0 ? CLI_INVERT_NO : 0;
        if (*answer == CLI_INVERT_AUTO)
            return "yes or no";
    } else {
        return "";
    }
    cli_image_options_over(o, &new_);
    return NULL;
}

/* Reports an invalid value, showing at most 60 bytes of it. */
static int cli_metadata_fail(const char *path, const nnrt_metadata *m, const char *want)
{
    const size_t n = strcspn(m->value, "\n");
    return cli_fail("%s: metadata %s=%.*s%s: expected %s", path, m->key, (int)(n < 60 ? n : 60), m->value,
                    n < 60 && m->value[n] == '\0' ? "" : "...", want);
}

/* Fails if an input has both a factor (scale) and a divisor (std). */
static int cli_metadata_one_factor(const cli_metadata *m, const char *path, const char *name)
{
    bool scale = false, divisor = false;
    for (uint32_t i = 0; i < m->count; i++) {
        const char *key = cli_image_key(m->data[i].key, name);
        scale = scale || (key != NULL && strcmp(key, "scale") == 0);
        divisor = divisor || (key != NULL && strcmp(key, "std") == 0);
    }
    return scale && divisor
               ? cli_fail("%s: metadata input.%s.scale and input.%s.std: expected one of them", path, name, name)
               : CLI_DONE;
}

/* Adds the file's image options for the input `name` to *o; options of the command line take precedence. */
static int cli_metadata_image(const cli_metadata *m, const char *path, const char *name, cli_image_options *o)
{
    if (cli_metadata_one_factor(m, path, name) != CLI_DONE)
        return CLI_FAILED;
    for (uint32_t i = 0; i < m->count; i++) {
        const char *key = cli_image_key(m->data[i].key, name);
        const char *want = key != NULL ? cli_image_take(o, key, m->data[i].value) : NULL;
        if (want != NULL && *want != '\0')
            return cli_metadata_fail(path, &m->data[i], want);
    }
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>labels */

/* Class labels of an output: the lines of a text. All zero: none. */
typedef struct cli_labels {
    char *text;
    char **lines;
    uint32_t count;
    int32_t axis; /* axis of the output whose index is the class */
} cli_labels;

static void cli_labels_free(cli_labels *l)
{
    free(l->text);
    free(l->lines);
    memset(l, 0, sizeof(*l));
}

static uint32_t cli_lines(const char *text)
{
    uint32_t n = 0;
    for (; *text != '\0'; n++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return n;
}

/* The last axis of size n, for n of 2 or more; -1 if there is none. */
static int32_t cli_class_axis(const nnrt_dims *shape, uint32_t n)
{
    int32_t axis = n > 1 ? shape->rank - 1 : -1;
    while (axis >= 0 && shape->dims[axis] != (int32_t)n)
        axis--;
    return axis;
}

/* "labels.NAME" of the output `name`, else "labels"; NULL: neither. */
static const nnrt_metadata *cli_labels_find(const cli_metadata *m, const char *name)
{
    const nnrt_metadata *all = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        const char *key = m->data[i].key;
        if (name != NULL && strncmp(key, "labels.", 7) == 0 && strcmp(key + 7, name) == 0)
            return &m->data[i];
        if (strcmp(key, "labels") == 0)
            all = &m->data[i];
    }
    return all;
}

/* The labels of an output of that shape; none if the file has none that match. */
static int cli_labels_make(cli_labels *l, const cli_metadata *m, const char *name, const nnrt_dims *shape)
{
    const nnrt_metadata *e = cli_labels_find(m, name);
    uint32_t n = e != NULL ? cli_lines(e->value) : 0;
    int32_t axis = n > 0 ? cli_class_axis(shape, n) : -1;
    char *line;
    memset(l, 0, sizeof(*l));
    if (axis < 0)
        return CLI_DONE;
    l->text = line = cli_text_copy(e->value, strlen(e->value));
    l->lines = (char **)cli_alloc(n, sizeof(*l->lines));
    if (l->text == NULL || l->lines == NULL) {
        cli_labels_free(l);
        return CLI_FAILED;
    }
    for (; l->count < n; l->count++) {
        const size_t length = strcspn(line, "\n");
        l->lines[l->count] = line;
        line[length] = '\0';
        line += length + 1;
    }
    l->axis = axis;
    return CLI_DONE;
}

/* Label of element i of a tensor, NULL if there are no labels. */
static const char *cli_label_of(const cli_labels *l, const nnrt_dims *shape, size_t i)
{
    for (int32_t k = shape->rank - 1; l->count > 0 && k > l->axis; k--)
        i /= (size_t)shape->dims[k];
    return l->count > 0 ? l->lines[i % l->count] : NULL;
}

/* Extracts the text of a file of lines, modifying its bytes: any line endings, no empty lines at the end. `what` names the
   content of a line in messages. */
static int cli_lines_text(cli_bytes *file, const char *path, const char *what, char **text)
{
    size_t n = 0;
    *text = NULL;
    for (size_t i = 0; i < file->size; i++) /* CR LF becomes LF */
        if (file->data[i] != '\r' || i + 1 == file->size || file->data[i + 1] != '\n')
            file->data[n++] = file->data[i];
    while (n > 0 && file->data[n - 1] == '\n')
        n--;
    if (n == 0)
        return cli_fail("cannot use %s: it has no %ss; expected one %s per line", path, what, what);
    if (memchr(file->data, 0, n) != NULL)
        return cli_fail("cannot use %s: it is not a text file; expected one %s per line", path, what);
    *text = cli_text_copy((const char *)file->data, n);
    return *text != NULL ? CLI_DONE : CLI_FAILED;
}

/* Reads FILE of --labels. The caller owns *text. */
static int cli_labels_read(const char *path, char **text)
{
    cli_bytes file;
    int status = cli_read_file(path, &file);
    *text = NULL;
    if (status == CLI_DONE)
        status = cli_lines_text(&file, path, "label", text);
    free(file.data);
    return status;
}

#endif /* NNRT_TOOL_META_H */
