/*
html.h - text as HTML, and the top of a page: the reports of nnrt report and nnrt quantize --report.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_HTML_H
#define NNRT_TOOL_HTML_H

#include "text.h"

static void cli_html(FILE *out, const char *s)
{
    for (; s != NULL && *s != '\0'; s++)
        switch (*s) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc((unsigned char)*s < ' ' ? ' ' : *s, out); break;
        }
}

/* Begins a page: title, style, heading. */
static void cli_page_begin(FILE *out, const char *title, const char *heading)
{
    fputs("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>", out);
    cli_html(out, title);
    fputs("</title>\n<style>body{font:14px sans-serif;margin:2em;max-width:1100px}table{border-collapse:collapse}"
          "td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}.l{text-align:left!important}.bar{background:#c33}"
          "i{display:inline-block;width:12px;height:10px;margin-right:6px}.scroll{display:inline-block;max-width:100%;overflow:auto;border:1px solid #ccc}"
          "svg text{font:10px sans-serif;text-anchor:middle}svg .op{font-weight:bold}svg .io{fill:#eee;stroke:#666}"
          "svg .tick{text-anchor:end}svg .time{fill:#c33}svg path{fill:none;stroke:#999}"
          "#ranges td:nth-child(9){white-space:nowrap}.hist rect{fill:#ddd}.hist path{fill:#c33;stroke:none}</style></head><body>\n<h1>",
          out);
    cli_html(out, heading);
    fputs("</h1>\n", out);
}

#endif /* NNRT_TOOL_HTML_H */
