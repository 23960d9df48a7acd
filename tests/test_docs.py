#!/usr/bin/env python3
"""What the documents say is true: the examples in README.md compile, link and run, its shell commands work and print
what it shows, nnrt.h's quick start is examples/hello.c, the version stands in one place, links lead somewhere; half of
the operators are no longer than they may be.

Conventions for README.md:
- a block that begins with ```c is a whole file: it compiles as C99 and as C++17, with -I. and no warning, and is linked
  when it has a main(), by clang and without the fast device; gcc, which takes longest for that, reads it as it is.
  "```c C only" leaves out C++.
- the lines of ```sh blocks under a heading that begins with "Try it" are run, in order, in the root of the repository,
  and must end with status 0. Commands that take long or fetch much (SLOW below) must only be targets of the Makefile.
- a ```text block right behind such a block is what it prints: its lines occur in the output, in their order, where "..."
  stands for anything. Lines with a time in ms are compared without their numbers.

usage: test_docs.py      run from anywhere; build/nnrt, build/digits and build/test/device_vectors must have been built
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLOW = ("make test", "make compare", "make models", "make vad", "make digits-accuracy", "make digits-train")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
LINES = 45  # of the median operator
COUNT = {"passed": 0, "failed": 0}


def verdict(good, what, why=""):
    """Counts a check and prints it when it failed."""
    COUNT["passed" if good else "failed"] += 1
    if not good:
        print("FAIL %s%s" % (what, ": " + why.strip()[:2000] if why else ""))
    return good


def run(command, **how):
    """Runs a command in the root, without the variables of a make that may be above us."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, **how)


def blocks(text):
    """[(line number, heading above, info string, text)] of the fenced blocks of a Markdown file."""
    found, heading, info, start, lines = [], "", None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if info is None and line.startswith("#"):
            heading = line.lstrip("#").strip()
        elif info is None and line.startswith("```"):
            info, start, lines = line[3:].strip(), number, []
        elif info is not None and line.startswith("```"):
            found.append((start, heading, info, "\n".join(lines) + "\n"))
            info = None
        elif info is not None:
            lines.append(line)
    verdict(info is None, "README.md: a block is not closed")
    return found


def check_c(folder, line, info, text):
    """A ```c block compiles everywhere, and links when it is a program."""
    ways = [(cc, "c", "-std=c99") for cc in ("gcc", "clang")]
    if "C only" not in info:
        ways += [(cc, "c++", "-std=c++17") for cc in ("g++", "clang++")]
    source = folder / "block.c"
    source.write_text(text, encoding="utf-8")
    for compiler, language, standard in ways:
        links = "int main(" in text and "NNRT_IMPLEMENTATION" in text
        done = run([compiler, "-x", language, standard, *WARNINGS, "-I", str(ROOT), "-o", str(folder / "block"),
                    *(["-fsyntax-only"] if "clang" not in compiler else ["-DNNRT_CPU=0", *([] if links else ["-c"])]), str(source),
                    *(["-lm"] if links and "clang" in compiler else [])])
        verdict(done.returncode == 0, "README.md:%d: the example with %s %s" % (line, compiler, standard), done.stderr)


def check_arenas(folder, line, text):
    """A program for microcontrollers holds one arena: what the linker keeps that is zero at first is less than two."""
    source, program = folder / "arena.c", folder / "arena"
    source.write_text(text + "unsigned char bytes_of_arena[sizeof(uint64_t[DIGITS_ARENA_WORDS])];\n", encoding="utf-8")
    flags = ["-std=c99", "-O0", "-ffunction-sections", "-fdata-sections", "-I", str(ROOT)]
    built = run(["clang", *flags, "-c", "-o", str(folder / "arena.o"), str(source)])
    sizes = run(["nm", "-S", str(folder / "arena.o")]).stdout if built.returncode == 0 else ""
    arena = re.search(r"^\w+ (\w+) \w bytes_of_arena$", sizes, re.M)
    built = run(["clang", "-Wl,--gc-sections", "-o", str(program), str(folder / "arena.o"), "-lm"])
    kept = run(["size", str(program)]).stdout.split() if built.returncode == 0 else []
    verdict(arena is not None and len(kept) > 8 and int(kept[8]) < 2 * int(arena.group(1), 16),
            "README.md:%d: one arena" % line, "%s; arena %s" % (" ".join(kept), arena and int(arena.group(1), 16)))


def blur(line, vary):
    """A line as it is compared: numbers of lines with a time do not count, and none where all vary."""
    line = line.strip()
    return re.sub(r"\d+(\.\d+)?", "N", line) if vary or re.search(r"\bms\b", line) else line


def occurs(wanted, output, vary=False):
    """The first line of wanted that does not follow in output, or None."""
    lines = iter([blur(line, vary) for line in output.splitlines()])
    for want in wanted.splitlines():
        pattern = ".*".join(re.escape(part) for part in blur(want, vary).split("..."))
        if want.strip() in ("", "..."):
            continue
        if not any(re.fullmatch(pattern, line) for line in lines):
            return want
    return None


def check_sh(line, text):
    """Runs a ```sh block; returns what it printed."""
    output = ""
    for command in text.splitlines():
        command = re.sub(r"\s+#.*", "", command.strip())
        if not command or command.startswith("#"):
            continue
        if command.startswith(SLOW):
            done = run(["make", "-n", command.split()[1]])
        else:
            done = run(command, shell=True)
        verdict(done.returncode == 0, "README.md:%d: %s ends with status %d" % (line, command, done.returncode),
                done.stderr)
        output += done.stdout
    return output


def check_readme():
    """All blocks of README.md, and its links."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = commands = 0
    output = None
    with tempfile.TemporaryDirectory() as scratch:
        for line, heading, info, body in blocks(text):
            kind = info.split()[0] if info else ""
            if kind == "text" and output is not None:
                missing = occurs(body, output, "numbers vary" in info)
                verdict(missing is None, "README.md:%d: not printed" % line, missing or "")
            output = None
            if kind == "c":
                examples += 1
                check_c(pathlib.Path(scratch), line, info, body)
                if "ARENA_WORDS" in body:
                    check_arenas(pathlib.Path(scratch), line, body)
            elif kind == "sh" and heading.startswith("Try it"):
                commands += 1
                output = check_sh(line, body)
    verdict(examples >= 1 and commands >= 1, "README.md: has an example and a shell block to try")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        verdict((ROOT / target).exists(), "README.md: link to %s" % target)
    listed = [line.split() for line in run(["build/nnrt", "ops"]).stdout.splitlines()]
    counts = [sum(int(op[1]) >= 1100 for op in listed), len(listed)]
    said = re.search(r"and (\d+) that\s+only ONNX has; `build/nnrt ops` lists all (\d+)", text)
    verdict(said is not None and [int(n) for n in said.groups()] == counts,
            "README.md: how many operators there are", "%d only of ONNX, %d in all" % tuple(counts))
    head = "\n".join(text.splitlines()[:60])
    verdict("make run" in head and "make test" in head, "README.md: make run and make test in the first 60 lines")


def check_operator_sets():
    """What README.md says of operator sets is what the importer's table has: the newest one that is read, and operators
    that are read only in older ones although the newer ones have them."""
    said = re.search(r"operator sets 1 to (\d+)(?: \(([^)]*)\))?", (ROOT / "README.md").read_text(encoding="utf-8"))
    if not verdict(said is not None, "README.md: says which operator sets are read"):
        return
    header = (ROOT / "formats" / "nnrt_onnx.h").read_text(encoding="ascii")
    rows = {name: int(most) for name, most in re.findall(r"^    X\((\w+), +\d+, +(\d+),", header, re.M)}
    older = dict(re.findall(r"(\w+) to (\d+)", said.group(2) or ""))
    gone = {"Upsample"}  # newer sets do not have it
    verdict(int(said.group(1)) == max(rows.values()), "README.md: the newest operator set", str(max(rows.values())))
    short = {name: str(most) for name, most in rows.items() if most < max(rows.values()) and name not in gone}
    verdict(len(rows) > 100 and older == short, "README.md: operators that are read only in older sets",
            "it says %s, the importer %s" % (older, short))


def check_quick_start():
    """The code of nnrt.h's top block is examples/hello.c, line by line, and short."""
    hello = (ROOT / "examples" / "hello.c").read_text(encoding="ascii")
    top = (ROOT / "nnrt.h").read_text(encoding="ascii").split("*/")[0]
    inside = "".join(line[4:] + "\n" if line.startswith("    ") else "\n" for line in top.splitlines())
    wanted = re.sub(r"\n{2,}", "\n\n", hello).strip()
    verdict(wanted in re.sub(r"\n{2,}", "\n\n", inside), "nnrt.h: the quick start is examples/hello.c")
    verdict(len(hello.splitlines()) <= 40, "examples/hello.c: has at most 40 lines")


def check_version():
    """One version: the macros of nnrt.h; nnrt_version() and the newest heading of CHANGELOG.md agree with it."""
    header = (ROOT / "nnrt.h").read_text(encoding="ascii")
    numbers = [re.findall(r"^#define NNRT_VERSION_%s (\d+)$" % part, header, re.M) for part in ("MAJOR", "MINOR", "PATCH")]
    if not verdict(all(len(n) == 1 for n in numbers), "nnrt.h: NNRT_VERSION_MAJOR, _MINOR and _PATCH once each"):
        return
    version = ".".join(n[0] for n in numbers)
    headings = re.findall(r"^## \[?v?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    verdict(headings[:1] == [version], "CHANGELOG.md: newest heading is %s" % version, "found %s" % headings[:1])
    for path in [*ROOT.glob("*.h"), *ROOT.glob("formats/*.h"), *ROOT.glob("tools/*"), ROOT / "Makefile", ROOT / "README.md"]:
        if path.is_file() and path.name != "nnrt.h":
            text = path.read_text(encoding="utf-8")
            verdict(not re.search(r"#define NNRT_VERSION_[A-Z]+ \d|nnrt[ -]v?%s\b" % re.escape(version), text),
                    "%s: a second version number" % path.relative_to(ROOT))
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "version.c"
        source.write_text('#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n#include <stdio.h>\n'
                          "int main(void) { return puts(nnrt_version()) < 0; }\n", encoding="ascii")
        done = run(["clang", "-std=c99", "-O0", "-DNNRT_CPU=0", "-I", str(ROOT), "-o", scratch + "/version", str(source), "-lm"])
        said = run([scratch + "/version"]).stdout.strip() if done.returncode == 0 else done.stderr
        verdict(said == version, "nnrt_version() is %s" % version, said)


def check_contents():
    """Each file's comment at the top lists the tags of its sections, all of them, in their order: what begins with >> in
    lines that begin with it. Parts of a section, and the same for each operator, are listed once."""
    for path in sorted(path for pattern in ("*.h", "formats/*.h", "devices/*.h", "tools/*.[ch]") for path in ROOT.glob(pattern)):
        name, text = path.relative_to(ROOT), path.read_text(encoding="ascii")
        lines = re.findall(r"^    (>>.*)", text.split("*/")[0], re.M)
        listed = [tag for line in lines for tag in re.findall(r"(?:^| )>>([a-z_]+)", line)]
        marked, each = [], set()
        for tag, operator in re.findall(r"^/\* >>([A-Za-z_]+)( [A-Z0-9_]+)?\b", text, re.M):
            if tag not in each and marked[-1:] != [tag]:
                marked.append(tag)
            each |= {tag} if operator else set()
        verdict(listed == marked, "%s: the list of its sections" % name,
                "it says %s, but there are %s" % (" ".join(listed), " ".join(marked)))
        verdict(len(listed) > 2 or name.parts[0] == "tools", "%s: opens with a list of its sections" % name)


def check_operators():
    """The rule and the kernel of half of the operators take at most LINES lines of nnrt_ops.h: those that are not empty from
    an operator's marks to the next mark or dividing line."""
    count, name = {}, None
    for line in (ROOT / "nnrt_ops.h").read_text(encoding="ascii").splitlines():
        mark = re.match(r"/\* (?:>>([a-z]+)\b(?: ([A-Z0-9_]+))?|-{20})", line)
        name = (mark[2] if mark[1] in ("op", "kernel") else None) if mark else name
        if name and line:
            count[name] = count.get(name, 0) + 1
    sizes = sorted(count.values())
    verdict(len(sizes) > 150, "operators with marks in nnrt_ops.h", "%d of them" % len(sizes))
    verdict(sizes[len(sizes) // 2] <= LINES, "the median operator has at most %d lines" % LINES,
            "it has %d, and %d of %d operators have at most %d" % (sizes[len(sizes) // 2], sum(n <= LINES for n in sizes),
                                                                   len(sizes), LINES))


def check_documents():
    """A document that a comment names is one of the repository."""
    for pattern in ("*.h", "formats/*", "devices/*", "tools/*", "examples/**/*.[chp]*", "tests/**/*.[chp]*"):
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
            missing = {name for name in re.findall(r"[\w/.-]+\.md\b", text)
                       if not (ROOT / name).exists() and not (path.parent / name).exists()}
            verdict(not missing, "%s names documents that are not here" % path.relative_to(ROOT),
                    " ".join(sorted(missing)))


def check_generated():
    """docs/OPERATORS.md is what make docs writes; that a page which is not is seen. The suite onnx-nodes compares the other
    page, which needs its results."""
    check = [sys.executable, "-B", "tools/docs.py", "--check"]
    done = run([*check, "operators"])
    verdict(done.returncode == 0, "docs/OPERATORS.md", done.stdout + done.stderr)
    done = run([*check, "man"])
    verdict(done.returncode == 0, "packaging/nnrt.1", done.stdout + done.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        log = pathlib.Path(scratch) / "log"
        log.write_text("PASS test_abs (Abs)\nSKIP test_scan (Scan): no\n\n1 passed (0 of them with inputs made constants), "
                       "0 failed, 1 skipped\n0 of those that passed by shape, type, values and sum, their numbers being random\n",
                       encoding="ascii")
        done = run([*check, "onnx", str(log)])
        verdict(done.returncode == 1 and "docs/ONNX.md is not what" in done.stdout, "docs/ONNX.md of other results",
                done.stdout + done.stderr)
        log.write_text(log.read_text(encoding="ascii").replace("1 skipped", "2 skipped"), encoding="ascii")
        done = run([*check, "onnx", str(log)])
        verdict("another number of tests" in done.stderr, "docs/ONNX.md of a log cut short", done.stdout + done.stderr)


def main():
    """Runs the checks; a file that is missing fails its check and not the others."""
    for check in (check_readme, check_operator_sets, check_quick_start, check_version, check_contents, check_operators,
                  check_documents, check_generated):
        try:
            check()
        except (OSError, subprocess.TimeoutExpired) as fault:
            verdict(False, check.__name__, str(fault))
    print("%(passed)d passed, %(failed)d failed" % COUNT)
    return 1 if COUNT["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
