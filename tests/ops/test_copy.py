#!/usr/bin/env python3
"""The copy-paste promise, for every operator and with the shipped program: the output of `nnrt ops --copy NAME` compiles by
itself, as C99 and as C++17 and without warnings, has no unused definitions, and computes the results of the vector file. The
output for each kernel compiles as C99, too: it is a part of its operator's.

usage: test_copy.py [-v] [--jobs N] [--cc CC] [--sanitized NNRT] [--keep FOLDER] NNRT COPY_ALL [OPERATOR...]
Run from the root of the repository.

tests/ops/copy_case.c, which has the whole header, gives the resolved attributes and the views of a case as C text. COPY_ALL, tests/ops/copy_all.c,
prints all copies in the time of one; NNRT must print the same.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests/ops/vectors"
LEAST = 48  # operators of HDI 1.0/2.0; more may come, fewer may not
EXAMPLES = 140  # operators whose rule and kernel accept some of the shapes and attributes tried
ROWS = 55  # elementwise operators, whose copy is a row function
TYPED = 130  # other operators, whose copy is specialized for one type that has cases
# Lines of `nnrt ops --copy NAME`, which may fall but not grow; median: of all operators; above 250: how many have more lines.
LINES = {"ABS": 23, "ADD_FUSION": 35, "CONV2D_FUSION": 90, "LSTM": 164, "MATMUL_FUSION": 82, "SOFTMAX": 70, "RESIZE": 158,
         "REDUCE_FUSION": 151, "TOPK_FUSION": 138, "GRU": 342, "SCATTER_ND_UPDATE": 195, "median": 90, "above 250": 13}
# Every so many operators are also printed by the command line, which reads the header again for each, compiled as C++17, and run
# as optimized code, which takes a compiler 30 times as long as tcc, and by the program with sanitizers, which takes a second. Of parts
# of a copy, one kernel or one type, gcc sees as many, tcc all of them. NNRT_LONG=1: all of them, but for the sanitizers.
PRINTED, SANITIZED = 1 if os.environ.get("NNRT_LONG") else 6, 24
# A copy takes 200 MB for a moment: in large pages, where the C library can ask for them, half of the time is saved.
LARGE_PAGES = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}

# Warnings that must not occur, as C99 and as C++17.
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
# The main() after a copy, compiled with optimization, so that optimized code runs.
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror"]
MAIN_HEADERS = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
# struct's letters for the element types of a vector file
LETTERS = {"bool": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H",
           "uint32": "I", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d"}
PRESETS = {"float16": 1e-3, "float32": 1e-5, "float64": 1e-12}


class Failure(Exception):
    """A fault of an operator, as one sentence or a compiler's message."""


def without_rule(text):
    """A copy without the rule and the example after its kernels."""
    return re.split(r"\n#if 0 /\* How nnrti_rule_|\n#ifdef NNRT_EXAMPLE", text)[0]


def enumerators(text):
    """Types of enumerations that a copy has without their values."""
    return [name for name in re.findall(r"^typedef int32_t (NNRT_\w+);", text, re.M)
            if name not in ("NNRT_ReturnCode", "NNRT_DataType") and  # only types that the copy names
            not re.search(r"^typedef int32_t %s;\n+(?:/\*.*?\*/\n)?enum " % name, text, re.M | re.S)]


def unused(text):
    """Names that a copy defines and that occur nowhere else in it but as a declaration."""
    code = re.sub(r"/\*.*?\*/", " ", without_rule(text), flags=re.S)
    names = re.findall(r"^#define (\w+)", code, re.M)
    names += re.findall(r"^\} (\w+);", code, re.M)
    names += re.findall(r"^(?:static|NNRTI?_\w+)[^;{=()]*\b(\w+)\(", code, re.M)
    names += re.findall(r"^static const [^;{=]*?(\w+)(?:\[[^]]*\])*(?: NNRTI_UNUSED)? = ", code, re.M)
    said = {}
    for name in names:
        said[name] = said.get(name, 0) + 1
    # a struct has its tag, too; a macro of several cases is defined in each of them; these two are defined together
    return sorted(name for name, times in said.items() if not name.startswith("nnrt_") and
                  name not in ("NNRTI_INLINE", "NNRTI_UNUSED") and
                  len(re.findall(r"\b%s\b" % name, code)) <= times + ("struct %s {" % name in code))


def without_members(main, text):
    """The program for a copy, without the members of views and attributes that the copy leaves out because nothing reads them."""
    structs = re.findall(r"^typedef struct \w+ \{.*?^\}", re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.M | re.S)
    names = set(re.findall(r"(\w+)(?:\[\w+\])?;", " ".join(structs)))
    if "typedef struct nnrt_call nnrt_call;" in text:
        main = re.sub(r"    if \(code == \d+\) \{\n    nnrt_call call;.*?\n    free\(call.scratch\);\n    \}\n", "", main, flags=re.S)
    view = " ".join(struct for struct in structs if struct.startswith("typedef struct nnrt_view"))
    main = re.sub(r"\b\w+\[\d+\]\.(\w+) = \d+;", lambda m: m.group(0) if re.search(r"\b%s\b" % m.group(1), view) else "", main)
    return "".join(line for line in main.splitlines(True) if all(name in names for name in re.findall(r"\battr\.(\w+)", line)))


def compiles(options, source, whole):
    """whole: without a warning of the compiler; else that tcc compiles it, to some versions of which HUGE_VALF is no constant."""
    run([options.cc, "-std=c99", *WARNINGS, "-DNNRT_EXAMPLE", "-fsyntax-only", source]
        if whole or not {"HUGE_VALF", "INFINITY"}.isdisjoint(re.findall(r"\w+", source.read_text(encoding="ascii"))) else
        ["tcc", "-std=c99", "-Wall", "-Werror", "-DNNRT_EXAMPLE", "-c", "-o", source.with_suffix(".o"), source], "C99 of %s" % source.name)


def check_text(options, source, text, kernels, whole, cxx):
    """Requirements of a copy apart from its results. whole: not a part of another copy. cxx: C++17, too."""
    source.write_text(text, encoding="ascii")
    for kernel in kernels:
        if not re.search(r"^NNRT_ReturnCode %s\([^;{]*\)\s*\{" % kernel, text, re.M):
            raise Failure("%s: has no definition of %s" % (source.name, kernel))
        if not re.search(r"^%s\(attr, " % kernel, text.split("*/")[0], re.M):
            raise Failure("%s: the comment at the top does not say how to call %s" % (source.name, kernel))
    begin, first = text.find("#pragma STDC FP_CONTRACT OFF"), text.find("\n{\n    nnrt_walk")
    if begin < 0 and " * " not in text:
        begin, text = 0, text + "#pragma GCC pop_options"
    if begin < 0 or (0 <= first < begin) or "#pragma GCC pop_options" not in text[begin:]:
        raise Failure("%s: contraction is not off around the code, or not given back behind it" % source.name)
    if not text.startswith("/* SPDX-License-Identifier: MIT. Copyright (c) "):
        raise Failure("%s: does not begin with the license" % source.name)
    if enumerators(text):
        raise Failure("%s: has types without their enumerators: %s" % (source.name, " ".join(enumerators(text))))
    if ("derived constant " in text.split("*/")[0]) != ("\n#if 0 /* How nnrti_rule_" in text):
        raise Failure("%s: kernels have derived constants, and the rule is not there, or the other way round" % source.name)
    left = unused(text)
    if left:
        raise Failure("%s: has what it does not use: %s" % (source.name, " ".join(left)))
    compiles(options, source, whole)
    if cxx:
        run([options.cxx, "-x", "c++", "-std=c++17", *WARNINGS, "-DNNRT_EXAMPLE", "-fsyntax-only", source], "C++17 of %s" % source.name)


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
    """Compares the program's output with the vector file; returns the kernels' names."""
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
    """Runs a command and returns its output; raises Failure with its messages."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, env=LARGE_PAGES)
    if done.returncode != 0:
        raise Failure("%s fails with status %d:\n%s" % (what, done.returncode, (done.stderr or done.stdout)[:3000]))
    return done.stdout


def try_operator(options, folder, operator, kernels, printed, sanitized):
    """One operator: copy, compile, run, compare; then each of its kernels. Returns the names of the kernels that ran.
    printed, sanitized: the copy is printed by the command line and by the program with sanitizers, too."""
    texts = options.texts
    path = VECTORS / (operator.lower() + ".vec")
    if not path.exists():
        raise Failure("there is no %s" % path.relative_to(ROOT))
    if any(kernel.endswith("_q16") for kernel in kernels):  # quant16.vec has their cases
        text, path = path.read_text(encoding="utf-8"), folder / path.name
        path.write_text(text + (VECTORS / "quant16.vec").read_text(encoding="utf-8"), encoding="utf-8")
    text = texts[operator]
    if printed and run([options.nnrt, "ops", "--copy", operator, "--all", "--example"], "nnrt ops --copy") != text:
        raise Failure("nnrt ops --copy prints something else than copy_all")
    if sanitized and run([options.sanitized, "ops", "--copy", operator, "--all", "--example"], "nnrt ops --copy, sanitized") != text:
        raise Failure("the sanitized program prints something else")
    source, binary = folder / (operator.lower() + ".c"), folder / operator.lower()
    check_text(options, source, text, kernels, True, printed)
    main = run([folder / "copy_case", operator, path], "copy_case")
    for word in re.search(r"/\* the rule: (.*) \*/", main).group(1).split():
        if word not in text.split("*/")[0]:
            raise Failure("the comment at the top lacks what the rule does: '%s'" % word)
    program = folder / (operator.lower() + "_main.c")
    program.write_text('#include "%s"\n%s%s' % (source, MAIN_HEADERS, main), encoding="ascii")
    constant = "HUGE_VALF" in text or "INFINITY" in text  # to some versions of tcc HUGE_VALF is no constant
    run([*([options.cc, *FLAGS] if printed or constant else ["tcc", "-std=c99"]), "-o", binary, program, "-lm"], "the compiler")
    example = "\n#ifdef NNRT_EXAMPLE" in text
    if example:
        called = folder / (operator.lower() + "_example")
        run([options.cc if constant else "tcc", "-std=c99", "-DNNRT_EXAMPLE", "-o", called, source, "-lm"], "the compiler, on the example,")
        lines = run([called], "the example").splitlines()
        if lines[:1] != ["0"]:
            raise Failure("the example prints %s" % lines[:2])
    ran = judge(run([binary], "the program"), read_cases(path), len(kernels))
    for kernel in kernels if len(kernels) > 1 else []:
        one = texts[kernel]
        check_text(options, folder / (kernel + ".c"), one, [kernel], printed, False)
        if len(without_rule(one)) > len(without_rule(text)):
            raise Failure("the copy of %s is longer than that of all kernels" % kernel)
        for other in set(kernels) - {kernel}:
            if re.search(r"^NNRT_ReturnCode %s\(" % other, one, re.M):
                raise Failure("the copy of %s has %s as well" % (kernel, other))
    options.examples += example
    return ran


def try_kernel(options, folder, operator, text):
    """The copy of a kernel for the default type, with all activations, computes the values of all cases of this type; returns
    their number."""
    kernel = re.findall(r"^NNRT_ReturnCode (nnrt_\w+)\(", text, re.M)
    kind = re.search(r"--copy \w+ --type (\w+)'", text.split("*/")[0])
    source, binary = folder / (operator.lower() + "_plain.c"), folder / (operator.lower() + "_plain")
    path = VECTORS / (operator.lower() + ".vec")
    if len(kernel) != 1 or kind is None or unused(text):
        raise Failure("has the kernels %s for %s, and unused %s" % (kernel, kind, unused(text)))
    quant = ["quantized"] if "quantCount;" in text else []
    main = without_members(run([folder / "copy_case", operator, path, kernel[0], kind.group(1), *quant], "copy_case"), text)
    source.write_text(text + MAIN_HEADERS + main, encoding="ascii")
    constant = "HUGE_VALF" in text or "INFINITY" in text  # to some versions of tcc HUGE_VALF is no constant
    run([*([options.cc, "-std=c99", "-w"] if constant else ["tcc", "-std=c99"]), "-o", binary, source, "-lm"], "the compiler")
    output = run([binary], "the program")
    return len(judge(output, read_cases(path), len(re.findall("^kernel ", output, re.M))))


def try_rows(options, folder):
    """The copies for the default type. Those that are a row function, of elementwise operators, compile alone without warnings as
    C99 and C++17, their examples run, and they compute the values of all cases of float32; the others as try_kernel says.
    Returns the names of the operators with a row function, the number of the others that have cases, and the faults."""
    text = run([options.copies, ROOT / "nnrt_ops.h", *specialized(options, "+")], "copy_all")
    copies = dict(copy.split("\n", 1) for copy in text.split("\f")[1:])
    rows, typed, faults = [], 0, []
    for at, (name, text) in enumerate(copies.items()):
        operator, row = name.rstrip("+"), re.findall(r"^void (nnrti_\w+_row)\(", text, re.M)
        if options.operators and operator not in options.operators:
            continue
        if not row:
            try:
                typed += try_kernel(options, folder, operator, text) > 0
            except (Failure, subprocess.TimeoutExpired) as fault:
                faults.append("%s: %s" % (operator, fault))
            continue
        source, program, binary = (folder / (operator.lower() + end) for end in ("_row.c", "_row_main.c", "_row"))
        source.write_text(text, encoding="ascii")
        try:
            if unused(text) or len(row) != 1 or "FP_CONTRACT" in text:
                raise Failure("has %s, rows %s, or a pragma" % (unused(text), row))
            run([options.cc, "-std=c99", *WARNINGS, "-DNNRT_EXAMPLE", "-o", binary, source, "-lm"], "C99 of %s" % source.name)
            values, arrays = run([binary], "the example").split(), re.findall(r"output0\[(\d+)\];", text)
            if [str(len([float(value) for value in values]))] != arrays:  # acosh of the example's values is NaN
                raise Failure("the example prints %d numbers of %s" % (len(values), arrays))
            if at % PRINTED == 0:
                run([options.cxx, "-x", "c++", "-std=c++17", *WARNINGS, "-fsyntax-only", source], "C++17 of %s" % source.name)
            path = VECTORS / (operator.lower() + ".vec")
            main = run([folder / "copy_case", operator, path, row[0]], "copy_case")
            program.write_text('#include "%s"\n%s%s' % (source, MAIN_HEADERS, main), encoding="ascii")
            run([options.cc, *FLAGS, "-o", binary, program, "-lm"], "the compiler")
            output = run([binary], "the program")
            judge(output, read_cases(path), output.count("kernel "))
            rows.append(operator)
        except Failure as fault:
            faults.append("%s: %s" % (operator, fault))
    return rows, typed, faults


def faults_of_shown(text):
    """The faults of what `nnrt ops --show NAME` prints: a comment is above the kernel, each function that is called is shown, of
    the C library, or listed with its purpose, and no statement is without effect."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    listed = set(re.findall(r"^   (\w+): \S", text.partition("/* Of nnrt_ops.h it uses")[2], re.M))
    defined = set(re.findall(r"^(?!typedef)\w[\w *]*?(\w+)\(", code, re.M))
    called = set(re.findall(r"\b(nnrti?_\w+)\(", code)) - defined - listed
    faults = ["lists no purpose of " + ", ".join(sorted(called))] if called else []
    kernel = re.findall(r"(\*/\n)?^(?:void|NNRT_ReturnCode) nnrt\w+\([^{;]*\n\{\n(?:    \(void\)\w+;\n)*(.*?)\n\}", text, re.M | re.S)[-1]
    forward = re.fullmatch(r"    return .*?\b(nnrti_\w+)\([^;]*;", kernel[1])  # the comment may be above the only function that it calls
    if not kernel[0] and not (forward and re.search(r"\*/\n[^\n(]* %s\(" % forward[1], text)):
        faults.append("has no comment above its kernel")
    return faults + (["has a statement without effect"] if re.search(r"^\s+(\w+) = \1;", code, re.M) else [])


def faults_of_show(options):
    """Faults of `nnrt ops --show` for every operator."""
    names = [name[:-1] for name in specialized(options)]

    def show(name):
        return faults_of_shown(run([options.nnrt, "ops", "--show", name], "nnrt ops --show"))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return ["%s, as shown: %s" % (name, fault) for name, faults in zip(names, pool.map(show, names)) for fault in faults]


def specialized(options, mark="@"):
    """The names for copy_all of the copies that LINES counts."""
    rows = [line.split() for line in run([options.nnrt, "ops"], "nnrt ops").splitlines()]
    return [row[0] + mark for row in rows if row[0] not in ("IF", "LOOP")]


def count_lines(options, folder):
    """Lines of the copies for the default type, which must compile; prints the distribution, returns the faults."""
    names = specialized(options)
    copies = dict(copy.split("\n", 1) for copy in
                  run([options.copies, ROOT / "nnrt_ops.h", *names], "copy_all").split("\f")[1:])
    lines = {name.split("@")[0]: text.count("\n") for name, text in copies.items()}
    faults = []
    for at, (name, text) in enumerate(copies.items()):
        source = folder / (name.replace("@", "_") + ".c")
        source.write_text(text, encoding="ascii")
        try:
            compiles(options, source, options.lines or at % PRINTED == 0)
        except Failure as fault:
            faults.append(str(fault))
    order = sorted(lines, key=lambda name: lines[name])
    lines["above 250"] = sum(count > 250 for count in lines.values())
    lines["median"] = int(statistics.median(lines[name] for name in order) + 0.5)
    for tenth in range(0, 11):
        name = order[min(tenth * len(order) // 10, len(order) - 1)]
        print("copies: %3d %% of the operators have at most %3d lines (%s)" % (10 * tenth, lines[name], name))
    print("copies: " + ", ".join("%s %d (limit %d)" % (name, lines[name], LINES[name]) for name in LINES))
    return faults + ["copies, %s: %d, more than %d" % (name, lines[name], most)
                     for name, most in LINES.items() if lines[name] > most]


def try_all(options, folder):
    """Prints a line an operator; returns (passed, failed)."""
    run([options.cc, "-std=c99", "-O0", "-I", ROOT, "-I", ROOT / "tests/kit", "-o", folder / "copy_case",
         ROOT / "tests/ops/copy_case.c", "-lm"], "the compiler, on copy_case.c,")
    rows = [line.split() for line in run([folder / "copy_case"], "copy_case").splitlines()]
    wanted = [row for row in rows if not options.operators or row[0] in options.operators]
    names = list(dict.fromkeys(name for row in wanted for name in (row if len(row) > 2 else row[:1])))
    copies = run([options.copies, ROOT / "nnrt_ops.h", *names], "copy_all").split("\f")[1:] if names else []
    options.texts = dict(copy.split("\n", 1) for copy in copies)
    if list(options.texts) != names:
        raise Failure("copy_all prints other names than it was given")
    # the command line finds a kernel as it finds an operator: the first and the last one
    kernels = [name for name in names if name.startswith("nnrt_")]
    for kernel in kernels[:1] + kernels[-1:]:
        if run([options.nnrt, "ops", "--copy", kernel, "--example"], "nnrt ops --copy") != options.texts[kernel]:
            raise Failure("%s: nnrt ops --copy prints something else than copy_all" % kernel)
    results = {"passed": 0, "failed": 0}
    options.examples = 0

    def attempt(at):
        row = wanted[at]
        try:
            sanitized = options.sanitized is not None and at % SANITIZED == 0
            printed = bool(options.operators) or at % PRINTED == 0
            return row[0], try_operator(options, folder, row[0], row[1:], printed, sanitized), None
        except (Failure, subprocess.TimeoutExpired) as fault:
            return row[0], [], str(fault)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for operator, names, fault in pool.map(attempt, range(len(wanted))):
            results["failed" if fault else "passed"] += 1
            if fault:
                print("FAIL %s: %s" % (operator, fault))
            elif options.verbose:
                print("ok   %s: %s" % (operator, " ".join(names)))
    done, typed, faults = try_rows(options, folder)
    for fault in faults:
        print("FAIL " + fault)
    results["passed"] += len(done) + typed
    results["failed"] += len(faults)
    if not options.operators:
        if len(done) < ROWS:
            print("FAIL %d copies are a row function, expected at least %d" % (len(done), ROWS))
            results["failed"] += 1
        if typed < TYPED:
            print("FAIL %d other copies for one type have the values of their cases, expected at least %d" % (typed, TYPED))
            results["failed"] += 1
        for fault in count_lines(options, folder) + faults_of_show(options):
            print("FAIL " + fault)
            results["failed"] += 1
        results["passed"] += 2
        header = (ROOT / "nnrt_ops.h").read_text(encoding="ascii")
        marked = set(re.findall(r"^/\* >>kernel ([A-Z0-9_]+) \*/$", header, re.M))
        for operator in sorted(marked - {row[0] for row in rows}):
            print("FAIL %s: has a >>kernel marker but no row in NNRT_OPS" % operator)
            results["failed"] += 1
        if options.examples < EXAMPLES:
            print("FAIL %d copies have an example of a call, expected at least %d" % (options.examples, EXAMPLES))
            results["failed"] += 1
        if len(rows) < LEAST:
            print("FAIL the table has %d operators, expected at least %d" % (len(rows), LEAST))
            results["failed"] += 1
    return results["passed"], results["failed"]


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description="compiles and runs each operator's kernels by themselves")
    parser.add_argument("-v", dest="verbose", action="store_true", help="print the operators that pass, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="operators at a time")
    parser.add_argument("--cc", default="gcc", help="C compiler (gcc)")
    parser.add_argument("--cxx", default="g++", help="C++ compiler (g++)")
    parser.add_argument("--sanitized", type=pathlib.Path, metavar="NNRT", help="the command line with sanitizers")
    parser.add_argument("--lines", action="store_true", help="only count the lines of the copies")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the programs there")
    parser.add_argument("nnrt", type=pathlib.Path, metavar="NNRT", help="the command line")
    parser.add_argument("copies", type=pathlib.Path, metavar="COPY_ALL", help="tests/ops/copy_all.c")
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="only these")
    options = parser.parse_args()
    options.nnrt, options.copies = options.nnrt.resolve(), options.copies.resolve()
    if options.sanitized is not None:
        options.sanitized = options.sanitized.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            if options.lines:
                faults = count_lines(options, folder.resolve())
                passed, failed = 1, len(faults)
                print("\n".join("FAIL " + fault for fault in faults))
            else:
                passed, failed = try_all(options, folder.resolve())
        except Failure as fault:
            print("FAIL %s" % fault)
            passed, failed = 0, 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
