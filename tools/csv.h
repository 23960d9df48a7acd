/*
csv.h - reads samples from a table of numbers as text, one sample a line.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_CSV_H
#define NNRT_TOOL_CSV_H

#include "npy.h"

/* Parses one number, and moves *at past it, blanks and a separator: comma, semicolon or tab. false: no number. */
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

/* Parses the line at *at into elements [first, first + count) of t, and moves *at to the next one. */
static int cli_csv_line(const char **at, cli_tensor *t, size_t first, size_t count, const char *path, size_t line)
{
    double value = 0;
    size_t n = 0;
    for (; n < count && cli_csv_number(at, &value); n++) {
        cli_set_element(t, first + n, value);
        if (!cli_is_float(t->type) && (cli_element(t, first + n) != value || fabs(value) > 9007199254740992.0)) /* 2^53 */
            return cli_fail("%s: line %.0f has %.9g in column %.0f, which %s cannot hold", path, (double)line, value, (double)n + 1,
                            nnrt_type_name(t->type));
    }
    *at += strspn(*at, " \r");
    if (n < count || (**at != '\n' && **at != '\0'))
        return cli_fail("%s: line %.0f has no number in column %.0f or another number of columns, expected %.0f numbers", path,
                        (double)line, (double)n + 1, (double)count);
    *at += **at == '\n';
    return CLI_DONE;
}

/* Reads a table whose lines have the elements of a tensor of that type and shape, the last axis fastest, separated by comma,
   semicolon or tab. A first line that does not begin with a number has the names of the columns. *t has all lines along the
   first axis. */
static int cli_csv_read(const char *path, NNRT_DataType type, const nnrt_dims *each, cli_tensor *t)
{
    cli_bytes file;
    nnrt_dims shape = *each;
    size_t count, head = 0, lines = 0;
    double first;
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
    at = text = cli_text_copy((const char *)file.data, file.size);
    free(file.data);
    if (text == NULL || !nnrt_dims_count(each->dims, each->rank, &count)) {
        free(text);
        return CLI_FAILED;
    }
    if (!cli_csv_number(&at, &first) && strchr(text, '\n') != NULL)
        head = 1;
    at = head > 0 ? strchr(text, '\n') + 1 : text;
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
    for (size_t i = 0; i < lines && status == CLI_DONE; i++)
        status = cli_csv_line(&at, t, i * count, count, path, i + head + 1);
    free(text);
    if (status != CLI_DONE)
        cli_tensor_free(t);
    return status;
}

#endif /* NNRT_TOOL_CSV_H */
