/*
csv.h - reads samples from a table of numbers as text, one sample a line.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_CSV_H
#define NNRT_TOOL_CSV_H

#include "files.h"
#include "tensor.h"

/* Parses one number, and moves *at past it, blanks and a separator: comma, semicolon or tab. false: there is none. */
static bool cli_csv_number(const char **at, double *value)
{
    char *end;
    if (**at == '\n' || **at == '\r' || **at == '\0') /* strtod would continue in the next line */
        return false;
    *value = strtod(*at, &end);
    if (end == *at)
        return false;
    end += strspn(end, " ");
    if (*end == ',' || *end == ';' || *end == '\t')
        end++;
    else if (*end != '\n' && *end != '\r' && *end != '\0')
        return false;
    *at = end;
    return true;
}

/* Parses the line at `at` into elements [first, first + count) of t. */
static int cli_csv_line(const char *at, cli_tensor *t, size_t first, size_t count, const char *path, size_t line)
{
    double value = 0;
    size_t n = 0;
    for (; n < count && cli_csv_number(&at, &value); n++) {
        cli_set_element(t, first + n, value);
        if (!cli_is_float(t->type) && (cli_element(t, first + n) != value || fabs(value) > 9007199254740992.0)) /* 2^53 */
            return cli_fail("%s: line %.0f has %.9g in column %.0f, which %s cannot hold", path, (double)line, value, (double)n + 1,
                            nnrt_type_name(t->type));
    }
    at += strspn(at, " \r");
    return n == count && (*at == '\n' || *at == '\0')
               ? CLI_DONE
               : cli_fail("%s: line %.0f lacks a number in column %.0f or has more columns, expected %.0f numbers", path, (double)line,
                          (double)n + 1, (double)count);
}

/* Whether the first line has the names of the columns: it begins with a letter or a quote, but not with nan or inf. A
   missing number is no name, so that its line is refused. */
static bool cli_csv_has_names(const char *text)
{
    const char letter = cli_upper(*text);
    double first;
    return ((letter >= 'A' && letter <= 'Z') || letter == '"' || letter == '#' || letter == '_') && !cli_csv_number(&text, &first);
}

/* Reads a table whose lines have the elements of a tensor of that type and shape, the last axis fastest, separated by comma,
   semicolon or tab. The first line may have the names of the columns, after a byte order mark. *t has all lines along the
   first axis. bad: NULL, and a wrong line is an error; or flags of the wrong lines, which the caller frees. */
static int cli_csv_read(const char *path, NNRT_DataType type, const nnrt_dims *each, cli_tensor *t, bool **bad)
{
    cli_bytes file;
    nnrt_dims shape = *each;
    size_t count, head, lines = 0;
    char *text;
    const char *at;
    int status = cli_read_file(path, &file);
    memset(t, 0, sizeof(*t));
    if (status != CLI_DONE)
        return status;
    if (memchr(file.data, 0, file.size) != NULL) {
        free(file.data);
        return cli_fail("cannot use %s: it is not a text file; expected lines of numbers", path);
    }
    text = cli_text_copy((const char *)file.data, file.size);
    free(file.data);
    if (text == NULL || !nnrt_dims_count(each->dims, each->rank, &count)) {
        free(text);
        return CLI_FAILED;
    }
    at = strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? text + 3 : text;
    head = cli_csv_has_names(at);
    at += head > 0 ? strcspn(at, "\n") : 0;
    at += head > 0 && *at == '\n';
    for (const char *line = at; *line != '\0'; lines++) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (shape.rank == 0)
        shape.dims[shape.rank++] = 1;
    if (lines == 0 || lines > (size_t)(INT32_MAX / (shape.dims[0] > 0 ? shape.dims[0] : 1)))
        status = cli_fail("cannot use %s: it has %.0f lines of numbers", path, (double)lines);
    if (status == CLI_DONE) {
        shape.dims[0] *= (int32_t)lines;
        status = cli_tensor_make(t, type, &shape, path);
    }
    if (status == CLI_DONE && bad != NULL && (*bad = (bool *)cli_alloc(lines, sizeof(**bad))) == NULL)
        status = CLI_FAILED;
    for (size_t i = 0; i < lines && status == CLI_DONE; i++) {
        status = cli_csv_line(at, t, i * count, count, path, i + head + 1);
        at += strcspn(at, "\n");
        at += *at == '\n';
        if (bad == NULL || status == CLI_DONE)
            continue;
        (*bad)[i] = true;
        status = CLI_DONE;
    }
    free(text);
    if (status != CLI_DONE)
        cli_tensor_free(t);
    return status;
}

#endif /* NNRT_TOOL_CSV_H */
