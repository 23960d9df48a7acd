#!/usr/bin/env python3
"""The copy-paste promise, for every operator: the text of its reference kernels, cut out of nnrt_ops.h between its
`>>kernel NAME` marker and the next marker, compiles by itself behind a few helper sections (types, the description of
its own attribute struct, views, math, helpers) and computes what the vector file says. Nothing of the rest of the
library is in that program: no table, no shape rule, no engine.

usage: test_copy.py [-v] [--cc CC] [--keep FOLDER] [OPERATOR...]     run from the root of the repository

tests/copy_case.c, which has the whole header, gives the resolved attributes and the views of a case as C text.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VECTORS = ROOT / "tests" / "vectors"
LEAST = 48  # operators of HDI 1.0/2.0; more may come, fewer may not

# Public functions of >>text that kernels use.
HELPER_FUNCTIONS = ["nnrt_type_size"]
# Where a kernel tells its fault: one who copies it says what happens there.
CALL_FAIL = "#define nnrt_call_fail(call, code, ...) ((void)(call), code)\n"
FLAGS = ["-std=c99", "-O1", "-Wall", "-Werror", "-Wno-unused-function", "-Wno-unused-variable"]
HEADERS = "".join("#include <%s.h>\n" % name for name in
                  ("stddef", "stdint", "stdbool", "float", "math", "string", "stdio", "stdlib"))
# struct's letters for the element types of a vector file
LETTERS = {"bool": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H",
           "uint32": "I", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d"}
PRESETS = {"float16": 1e-3, "float32": 1e-5, "float64": 1e-12}


class Failure(Exception):
    """What is wrong with an operator, in one sentence or a compiler's words."""


def sections(text):
    """{marker: text from its line to the next ruler or marker}; a marker with two places is joined."""
    found = {}
    marks = list(re.finditer(r"^/\* >>([A-Za-z]+)(?: ([A-Z0-9_]+))? \*/\n", text, re.M))
    for mark, following in zip(marks, marks[1:] + [None]):
        end = following.start() if following else len(text)
        body = re.split(r"^/\* -{20,} \*/\n", text[mark.end():end], maxsplit=1, flags=re.M)[0]
        name = mark.group(1) + (" " + mark.group(2) if mark.group(2) else "")
        found[name] = found.get(name, "") + body
    return found


def function(text, name):
    """The definition of one function of the implementation."""
    hit = re.search(r"^NNRT_API [^;{]*\b%s\([^;{]*\)\n\{.*?^\}\n" % re.escape(name), text, re.M | re.S)
    if not hit:
        raise Failure("nnrt_ops.h has no function %s" % name)
    return hit.group(0)


def define(text, name):
    """A macro with its continuation lines."""
    hit = re.search(r"^#define %s\b.*?[^\\]\n" % re.escape(name), text, re.M | re.S)
    if not hit:
        raise Failure("nnrt_ops.h has no macro %s" % name)
    return hit.group(0)


def struct_text(parts, name):
    """The attribute struct of one operator, with the macros that turn its description into a struct."""
    table = parts["table"]
    kinds = "".join(re.findall(r"^#define NNRTI_CTYPE_.*\n", table, re.M))
    return (define(parts["attributes"], "NNRT_ATTR_" + name) + kinds + define(table, "NNRTI_ATTR_MEMBER")
            + define(table, "NNRTI_ATTR_STRUCT") + "NNRTI_ATTR_STRUCT(%s)\n" % name)


def views_text(parts):
    """The view and the call, without the prototypes of all kernels."""
    return parts["views"][:parts["views"].index("/* Prototypes of the kernels")]


def program(header, parts, operator, kernel, struct_name, main):
    """The whole text that must compile by itself."""
    owners = [name for name, body in parts.items()
              if name.startswith("kernel ") and re.search(r"\b%s\b|^NNRTI_UNARY\(\w+, %s," % (
                  kernel, re.sub("^nnrt_|_f32$", "", kernel)), body, re.M)]
    if not owners:
        raise Failure("nnrt_ops.h has no >>kernel with %s" % kernel)
    owner = "kernel " + operator if "kernel " + operator in parts else owners[0]
    options = re.sub(r"#ifdef __cplusplus.*?#endif\n", "", parts["options"], flags=re.S)
    start = re.search(r"^#if defined\(__GNUC__\)[^\n]*\n#define NNRTI_UNUSED.*?^#endif\n", header, re.M | re.S)
    return "\n".join([HEADERS, options, parts["types"], struct_text(parts, struct_name), views_text(parts),
                      start.group(0) if start else "", *(function(header, name) for name in HELPER_FUNCTIONS), CALL_FAIL,
                      parts["math"], parts["helpers"], parts[owner], main])


def read_cases(path):
    """{case name: (tolerances or None, [(type, [texts]) or None of each output])}."""
    cases, name, tolerance, outputs = {}, "", None, []
    for line in path.read_text(encoding="ascii").splitlines():
        word, _, rest = line.partition(" ")
        if word == "case":
            name, tolerance, outputs = rest, None, []
        elif word == "tol":
            tolerance = tuple(float(t) for t in rest.split())
        elif word == "out":
            fields = rest.split()
            outputs.append(None if fields[0] == "-" else (fields[0], fields[2:]))
        elif word == "end":
            cases[name] = (tolerance, outputs)
    return cases


def wrong_element(kind, texts, data, tolerance):
    """A sentence about the first element that is not as expected, None when all are."""
    letter = LETTERS[kind]
    if len(data) != len(texts) * struct.calcsize("<" + letter):
        return "%d bytes for %d elements of %s" % (len(data), len(texts), kind)
    got = struct.unpack("<%d%s" % (len(texts), letter), data)
    absolute, relative = tolerance or (PRESETS.get(kind, 0.0),) * 2
    for i, (have, text) in enumerate(zip(got, texts)):
        if kind not in PRESETS:
            if have != (int(float(text) != 0) if kind == "bool" else int(text)):
                return "element %d is %d, expected %s" % (i, have, text)
            continue
        want = struct.unpack("<" + letter, struct.pack("<" + letter, float(text)))[0]
        if have == want or (have != have and want != want):
            continue
        if not abs(have - want) <= absolute + relative * abs(want) or abs(want) == float("inf"):
            return "element %d is %.9g, expected %.9g" % (i, have, want)
    return None


def judge(output, cases, kernels):
    """Compares what the program printed with the vector file; returns the kernels' names."""
    names, case, seen = [], None, 0
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        if word == "kernel":
            names.append(rest)
        elif word == "case":
            if rest not in cases:
                raise Failure("prints the unknown case '%s'" % rest)
            case = rest
        elif word == "code":
            if rest != "0":
                raise Failure("%s, case '%s': returns %s" % (names[-1], case, rest))
        elif word == "out":
            index, _, hexadecimal = rest.partition(" ")
            tolerance, outputs = cases[case]
            fault = wrong_element(*outputs[int(index)], bytes.fromhex(hexadecimal), tolerance)
            if fault:
                raise Failure("%s, case '%s', output %s: %s" % (names[-1], case, index, fault))
            seen += 1
    if len(names) != kernels or seen < kernels:
        raise Failure("ran %d of %d kernels and compared %d outputs" % (len(names), kernels, seen))
    return names


def run(command, what):
    """Runs a command and returns what it prints; raises Failure with its messages."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Failure("%s fails with status %d:\n%s" % (what, done.returncode, (done.stderr or done.stdout)[:3000]))
    return done.stdout


def try_operator(options, folder, header, parts, operator, struct_name, kernels, kernel):
    """One operator: cut, compile, run, compare. Returns the names of the kernels that ran."""
    path = VECTORS / (operator.lower() + ".vec")
    if not path.exists():
        raise Failure("there is no %s" % path.relative_to(ROOT))
    main = run([folder / "copy_case", operator, path], "copy_case")
    source, binary = folder / (operator.lower() + ".c"), folder / operator.lower()
    source.write_text(program(header, parts, operator, kernel, struct_name, main), encoding="ascii")
    run([options.cc, *FLAGS, "-o", binary, source, "-lm"], "the compiler")
    return judge(run([binary], "the program"), read_cases(path), kernels)


def try_all(options, folder):
    """Prints a line an operator; returns (passed, failed)."""
    header = (ROOT / "nnrt_ops.h").read_text(encoding="ascii")
    parts = sections(header)
    run([options.cc, "-std=c99", "-O0", "-I", ROOT, "-I", ROOT / "tests", "-o", folder / "copy_case",
         ROOT / "tests" / "copy_case.c", "-lm"], "the compiler, on copy_case.c,")
    rows = [line.split() for line in run([folder / "copy_case"], "copy_case").splitlines()]
    wanted = [row for row in rows if not options.operators or row[0] in options.operators]
    results = {"passed": 0, "failed": 0}

    def attempt(row):
        try:
            return row[0], try_operator(options, folder, header, parts, row[0], row[1], int(row[2]), row[3]), None
        except (Failure, subprocess.TimeoutExpired) as fault:
            return row[0], [], str(fault)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for operator, names, fault in pool.map(attempt, wanted):
            results["failed" if fault else "passed"] += 1
            if fault:
                print("FAIL %s: %s" % (operator, fault))
            elif options.verbose:
                print("ok   %s: %s" % (operator, " ".join(names)))
    if not options.operators:
        for operator in sorted({name[7:] for name in parts if name.startswith("kernel ")} - {row[0] for row in rows}):
            print("FAIL %s: has a >>kernel marker but no row in NNRT_OPS" % operator)
            results["failed"] += 1
        if len(rows) < LEAST:
            print("FAIL the table has %d operators, expected at least %d" % (len(rows), LEAST))
            results["failed"] += 1
    return results["passed"], results["failed"]


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description="compiles and runs each operator's kernels by themselves")
    parser.add_argument("-v", dest="verbose", action="store_true", help="print the operators that pass, too")
    parser.add_argument("--cc", default="gcc", help="C compiler (gcc)")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the programs there")
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="only these")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            passed, failed = try_all(options, folder.resolve())
        except Failure as fault:
            print("FAIL %s" % fault)
            passed, failed = 0, 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
