#!/usr/bin/env python3
"""Writes the Unicode tables of core/nnrt_text.h from Python's unicodedata.

A table is a list of numbers in rows of text. A number has digits of 5 bits, the lowest first; a digit d is the character 40 + d,
with 32 added if more digits follow. The characters ? and \\ are spelled } and ~, so that no row has an escape or a trigraph.

    classes   of each run of code points: length << 4 | class; the runs begin at U+0000. Classes: the enum of the header
    lower     of each character that has another lower case: gap to the one before, zigzag of the difference
    marks     of each run of equal combining class that is not 0: gap << 1 | longer than 1, [length], class
    parts     of each canonical decomposition of one step: gap << 2 | excluded << 1 | two, first, [second]; excluded: it is not composed

usage: unicode.py            compares; 1 if the header has other tables
       unicode.py --write    writes them
"""
import pathlib
import sys
import unicodedata

HEADER = pathlib.Path(__file__).resolve().parents[2] / "core/nnrt_text.h"
BEGIN, END = "/* written by tools/text/unicode.py: begin */\n", "/* written by tools/text/unicode.py: end */\n"
CLASSES = {"Lu": 1, "Lt": 1, "Ll": 2, "Lm": 3, "Lo": 3, "Mn": 4, "Mc": 5, "Me": 5, "Nd": 6, "Nl": 6, "No": 6, "Pc": 7, "Pd": 7,
           "Ps": 7, "Pe": 7, "Pi": 7, "Pf": 7, "Po": 7, "Sm": 8, "Sc": 8, "Sk": 8, "So": 8, "Cc": 10, "Cf": 10, "Co": 10, "Cs": 10}
SPACES = [9, 10, 11, 12, 13, 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
WIDTH = 112


def number(value):
    digits = ""
    while True:
        digit = value & 31 | (32 if value > 31 else 0)
        digits += {"?": "}", "\\": "~"}.get(chr(40 + digit), chr(40 + digit))
        value >>= 5
        if value == 0:
            return digits


def runs(values):
    """[(first, length, value)] of a sequence."""
    found = []
    for i, value in enumerate(values):
        if found and found[-1][2] == value:
            found[-1][1] += 1
        else:
            found.append([i, 1, value])
    return found


def tables():
    every = [chr(i) for i in range(0x110000)]
    classes = [9 if i in SPACES else CLASSES.get(unicodedata.category(c), 0) for i, c in enumerate(every)]
    yield "classes", [length << 4 | value for _, length, value in runs(classes)]
    lower, last = [], 0
    for i, c in enumerate(every):
        small = c.lower()
        if small != c and len(small) == 1:
            step = ord(small) - i
            lower += [i - last, step << 1 if step >= 0 else -step << 1 | 1]
            last = i
    yield "lower", lower
    marks, last = [], 0
    for first, length, value in runs([unicodedata.combining(c) for c in every]):
        if value:
            marks += [(first - last) << 1 | (length > 1)] + ([length] if length > 1 else []) + [value]
            last = first + length
    yield "marks", marks
    parts, last = [], 0
    for i, c in enumerate(every):
        into = unicodedata.decomposition(c)
        if into and not into.startswith("<"):
            two = [int(word, 16) for word in into.split()]
            excluded = unicodedata.normalize("NFC", c) != c
            parts += [(i - last) << 2 | excluded << 1 | (len(two) == 2), *two]
            last = i
    yield "parts", parts


def main():
    text = "#define NNRTI_TEXT_UNICODE \"%s\"\n" % unicodedata.unidata_version
    for name, values in tables():
        rows, row = [], ""
        for digits in map(number, values):
            if len(row) + len(digits) > WIDTH:
                rows, row = rows + [row], ""
            row += digits
        text += "static const char *const nnrti_text_%s_rows[] = {\n" % name
        text += "".join('    "%s",\n' % row for row in rows + [row]) + "    NULL};\n"
    header = HEADER.read_text()
    before, rest = header.split(BEGIN)
    old, after = rest.split(END)
    if "--write" in sys.argv:
        HEADER.write_text(before + BEGIN + text + END + after)
    elif old != text and 'UNICODE "%s"' % unicodedata.unidata_version not in old:
        print("skipped: Python has Unicode %s" % unicodedata.unidata_version)
    elif old != text:
        print("nnrt_text.h has other tables than tools/text/unicode.py writes")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
