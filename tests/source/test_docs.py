#!/usr/bin/env python3
"""Checks the documents: the examples of all pages compile, link and run, their shell commands work and print the output
that the page shows, links and section tags exist; nnrt.h's quick start equals examples/hello.c, the version number is
defined once, README.md and the median operator keep to their maximum length.

Conventions for the pages (PAGES below):
- a ```c block is a whole file. It compiles as C99 and as C++17 with -I. and no warning (gcc, g++; NNRT_LONG=1: clang, clang++). A
  block with a main() is linked by tcc, in 0.3 s, or by clang if it needs threads, without the device cpu. "```c C only" skips C++.
  The suite dist compiles and runs the block of README.md that includes nnrt_all.h.
- a program in docs/ is run in the root of the repository and must exit with status 0, unless its block says "not run"; in
  other pages it is run if its block says "args". "args A B" passes arguments to the program.
- the lines of a "```sh run" block, and of each ```sh block under a heading that begins with "Try it", are run, in order, in
  the root of the repository, and must exit with status 0. Of commands that take long or download much (SLOW below) only the target is checked, with make -n.
  In every ```sh block the targets of make must exist.
- a ```text block is the output of the ```sh block before it, or of the program directly before it: the lines of the block occur in the output in this
  order, "..." matches anything. Lines with a time in ms are compared without their numbers. "```text (numbers vary)" compares
  all lines without their numbers.
- a relative link leads to a file, with #anchor to a heading of it; `>>tag` behind a link to a source file names a section
  that this file has.

usage: test_docs.py      run from anywhere; build/nnrt, build/digits and build/test/device_vectors must have been built
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLOW = ("make test", "make compare", "make models", "make vad", "make face", "make ocr", "make digits-accuracy", "make digits-train")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
LINES = 45  # of the median operator
README_LINES = 160
PAGES = ("*.md", "docs/*.md", "tests/*.md", "tests/**/*.md", "examples/*/*.md")
# The terms that a reader of this field searches for, and the files in which the search must succeed. docs/GLOSSARY.md has a
# row for each term, which names these files.
SEARCH_WORDS = {
    "GEMM": ["devices/nnrt_cpu_kernels.h"],
    "microkernel": ["devices/nnrt_cpu_kernels.h"],
    "im2col": ["devices/nnrt_cpu_kernels.h"],
    "epilogue": ["devices/nnrt_cpu.h"],
    "prepack": ["core/nnrt_plan.h", "nnrt_hal.h", "devices/nnrt_cpu.h"],
    "operator fusion": ["core/nnrt_graph.h", "devices/nnrt_cpu.h"],
    "constant folding": ["core/nnrt_graph.h", "core/nnrt_plan.h"],
    "liveness": ["core/nnrt_plan.h"],
    "dynamic shape": ["nnrt.h", "core/nnrt_plan.h", "nnrt_ops.h"],
    "thread pool": ["nnrt.h"],
    "depthwise": ["nnrt_ops.h", "devices/nnrt_cpu_kernels.h"],
    "quantize": ["core/nnrt_graph.h", "nnrt_ops.h", "devices/nnrt_cpu_kernels.h", "formats/nnrt_onnx.h"],
}
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


def pages():
    """The Markdown pages of the repository, as paths below the root."""
    return [str(path.relative_to(ROOT)) for pattern in PAGES for path in sorted(ROOT.glob(pattern))]


def blocks(page, text):
    """[(line number, heading above, info string, text, lines since the block before)] of the fenced blocks of a page."""
    found, heading, info, start, lines, end = [], "", None, 0, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if info is None and line.startswith("#"):
            heading = line.lstrip("#").strip()
        elif info is None and line.startswith("```"):
            info, start, lines = line[3:].strip(), number, []
        elif info is not None and line.startswith("```"):
            found.append((start, heading, info, "\n".join(lines) + "\n", start - end))
            info, end = None, number
        elif info is not None:
            lines.append(line)
    verdict(info is None, "%s: a block is not closed" % page)
    return found


def check_c(folder, where, info, text):
    """A ```c block compiles everywhere, and links and runs when it is a program. Returns the output of the program."""
    number = 2 if os.environ.get("NNRT_LONG") else 1
    ways = [(cc, "c", "-std=c99") for cc in ("gcc", "clang")[:number]]
    if "C only" not in info:
        ways += [(cc, "c++", "-std=c++17") for cc in ("g++", "clang++")[:number]]
    source, program = folder / "block.c", folder / "block"
    source.write_text(text, encoding="utf-8")
    links = "int main(" in text and "NNRT_IMPLEMENTATION" in text
    for compiler, language, standard in ways:
        how = ["-DNNRT_CPU=0", "-fsyntax-only", str(source)]
        if not compiler.startswith("clang"):
            how += ["-Wno-misleading-indentation"]  # half of gcc's time; the headers are checked for it elsewhere
        done = run([compiler, "-x", language, standard, *WARNINGS, "-I", str(ROOT), *how])
        verdict(done.returncode == 0, "%s: the example with %s %s" % (where, compiler, standard), done.stderr)
    if links:
        compiler = "clang" if re.search(r"NNRT_THREADS|pthread|auto|device_create", text) else "tcc"
        done = run([compiler, "-std=c99", "-DNNRT_CPU=0", "-I", str(ROOT), "-o", str(program), str(source), "-lm", "-lpthread"])
        verdict(done.returncode == 0, "%s: the example is linked by %s" % (where, compiler), done.stderr)
    arguments = re.search(r"\bargs (.*)$", info)
    runs = arguments is not None or (where.startswith("docs/") and "not run" not in info)
    if not links or not runs or not program.exists():
        return None
    done = run([str(program), *(arguments[1].split() if arguments else [])])
    program.unlink()
    verdict(done.returncode == 0, "%s: the program exits with status %d" % (where, done.returncode), done.stderr)
    return done.stdout


def check_arenas(folder, where, text):
    """A program for microcontrollers contains one arena: its zero-initialized data are smaller than two."""
    source, program = folder / "arena.c", folder / "arena"
    source.write_text(text + "unsigned char bytes_of_arena[sizeof(uint64_t[DIGITS_ARENA_WORDS])];\n", encoding="utf-8")
    flags = ["-std=c99", "-O0", "-ffunction-sections", "-fdata-sections", "-I", str(ROOT)]
    built = run(["clang", *flags, "-c", "-o", str(folder / "arena.o"), str(source)])
    sizes = run(["nm", "-S", str(folder / "arena.o")]).stdout if built.returncode == 0 else ""
    arena = re.search(r"^\w+ (\w+) \w bytes_of_arena$", sizes, re.M)
    built = run(["clang", "-Wl,--gc-sections", "-o", str(program), str(folder / "arena.o"), "-lm"])
    kept = run(["size", str(program)]).stdout.split() if built.returncode == 0 else []
    verdict(arena is not None and len(kept) > 8 and int(kept[8]) < 2 * int(arena.group(1), 16),
            "%s: one arena" % where, "%s; arena %s" % (" ".join(kept), arena and int(arena.group(1), 16)))


def blur(line, vary):
    """A line as it is compared: without numbers if it has a time, or if all numbers vary."""
    line = line.strip()
    return re.sub(r"\d+(\.\d+)?", "N", line) if vary or re.search(r"\bms\b", line) else line


def occurs(wanted, output, vary=False):
    """The first line of wanted that is missing in output, in this order, or None."""
    lines = iter([blur(line, vary) for line in output.splitlines()])
    for want in wanted.splitlines():
        pattern = ".*".join(re.escape(part) for part in blur(want, vary).split("..."))
        if want.strip() in ("", "..."):
            continue
        if not any(re.fullmatch(pattern, line) for line in lines):
            return want
    return None


def commands_of(text):
    """The commands of a ```sh block, without comments and empty lines."""
    lines = (re.sub(r"\s+#.*", "", line.strip()) for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def check_sh(where, text):
    """Runs a ```sh block; returns its output."""
    output = ""
    for command in commands_of(text):
        if command.startswith(SLOW):
            done = run(["make", "-n", command.split()[1]])
        else:
            done = run(command, shell=True)
        verdict(done.returncode == 0, "%s: %s exits with status %d" % (where, command, done.returncode), done.stderr)
        output += done.stdout
    return output


def make_targets():
    """The targets of the Makefile, as far as they are written out."""
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name not in ("build", ".git")]  # other suites remove files of build
    makefiles = [path for folder in folders for path in sorted(folder.rglob("*.mk"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in [ROOT / "Makefile", *makefiles])
    names = re.findall(r"^\.PHONY: (.*)$", text, re.M) + re.findall(r"^([a-z][\w ./-]*):(?!=)", text, re.M)
    return {name for line in names for name in line.split()}


def check_blocks(page, text, targets):
    """The fenced blocks of a page. Returns the number of examples and of shell blocks that were run."""
    examples = commands = 0
    output, program = None, False
    with tempfile.TemporaryDirectory() as scratch:
        for line, heading, info, body, gap in blocks(page, text):
            kind, where = info.split()[0] if info else "", "%s:%d" % (page, line)
            if kind == "text" and output is not None and (gap <= 2 or not program):
                missing = occurs(body, output, "numbers vary" in info)
                verdict(missing is None, "%s: not printed" % where, missing or "")
            output, program = None, kind == "c"
            if kind == "c" and not (page == "README.md" and '#include "nnrt_all.h"' in body):
                examples += 1
                output = check_c(pathlib.Path(scratch), where, info, body)
                if "ARENA_WORDS" in body:
                    check_arenas(pathlib.Path(scratch), where, body)
            elif kind == "sh":
                for command in commands_of(body):
                    words = shlex.split(command) if command.startswith("make ") else []
                    missing = [word for word in words[1:] if re.fullmatch(r"[a-z][\w/-]*", word) and word not in targets]
                    verdict(not missing, "%s: no target of the Makefile" % where, " ".join(missing))
                if heading.startswith("Try it") or "run" in info.split()[1:]:
                    commands += 1
                    output = check_sh(where, body)
    return examples, commands


def prose(text):
    """A page without its fenced blocks and without code in the line."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def anchors(path):
    """The anchors of the headings of a Markdown file, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = base = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        number = 1
        while name in found:
            name, number = "%s-%d" % (base, number), number + 1
        found.add(name)
    return found


def check_links(page, text):
    """Relative links lead to files and headings; section tags after a link exist in the file."""
    folder = (ROOT / page).parent
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", prose(text)):
        path = folder / target if target else ROOT / page
        if verdict(path.exists(), "%s: link to %s" % (page, target)) and anchor:
            verdict(path.suffix == ".md" and anchor in anchors(path), "%s: link to #%s of %s" % (page, anchor, target or page))
    for target, tags in re.findall(r"\]\(([^)#:\s]+)\)((?:,? (?:and )?`>>\w+`)+)", text):
        source = (folder / target).read_text(encoding="utf-8") if (folder / target).is_file() else ""
        for tag in re.findall(r">>(\w+)", tags):
            verdict(re.search(r"^/\* >>%s\b" % tag, source, re.M), "%s: section >>%s of %s" % (page, tag, target))


def check_pages():
    """All blocks and links of all pages."""
    targets, examples, commands = make_targets(), 0, 0
    for page in pages():
        text = (ROOT / page).read_text(encoding="utf-8")
        counts = check_blocks(page, text, targets)
        check_links(page, text)
        examples += counts[0]
        commands += counts[1]
    verdict(examples >= 6 and commands >= 12, "the pages have examples and commands to try", "%d and %d" % (examples, commands))


def check_readme():
    """README.md is short and begins with the two commands that everybody can try; the numbers of operators are right."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    verdict(len(lines) <= README_LINES, "README.md: has at most %d lines" % README_LINES, str(len(lines)))
    head = "\n".join(lines[:40])
    missing = [word for word in ("make run", "make test", "](docs/digits.svg)", "make single", "nnrt_run(", "cc -std=c99") if word not in head]
    verdict(not missing, "README.md: the first 40 lines, a screen, show the commands, the picture, the program and the single file",
            " ".join(missing))
    verdict(all(len(line) <= 80 for line in lines[:40]), "README.md: the first 40 lines have at most 80 columns")
    listed = [line.split() for line in run(["build/nnrt", "ops"]).stdout.splitlines()]
    counts = [sum(int(op[1]) >= 1100 for op in listed), len(listed)]
    said = re.search(r"and (\d+) that\s+ONNX or language models need; `build/nnrt ops`\s+lists all (\d+)", "\n".join(lines))
    verdict(said is not None and [int(n) for n in said.groups()] == counts,
            "README.md: the number of operators", "%d for ONNX or language models, %d in all" % tuple(counts))
    said = re.search(r"(\d+) operators.*?(\d+) of them exist\s+for\s+ONNX\s+or language models only",
                     (ROOT / "docs/models.md").read_text(encoding="utf-8"), re.S)
    verdict(said is not None and [int(n) for n in said.groups()] == counts[::-1],
            "docs/models.md: the number of operators", "%d for ONNX or language models, %d in all" % tuple(counts))


def check_glossary():
    """Each search word is found in the files that the table above names, and its row of the glossary names the same files."""
    rows = re.findall(r"^\| ([^|]+?) \|(.*)$", (ROOT / "docs/GLOSSARY.md").read_text(encoding="utf-8"), re.M)
    for word, files in SEARCH_WORDS.items():
        row = [rest for terms, rest in rows
               if any((term + " ").startswith(word.lower() + " ") for term in terms.lower().split(", "))]
        if verdict(row, "docs/GLOSSARY.md: has the term %s" % word):
            missing = [name for name in files if "](../%s)" % name not in row[0]]
            verdict(not missing, "docs/GLOSSARY.md: %s" % word, "does not name " + " ".join(missing))
        for name in files:
            pattern = re.escape(word).replace(r"\ ", r"(?:[ -]|\s+(?:\* )?)")
            verdict(re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.I), "%s: a search for %s" % (name, word))


def check_operator_sets():
    """The operator sets that README.md and docs/models.md name match the importer's table: the newest one that is read, and
    operators that are read only in older sets although newer sets have them."""
    header = (ROOT / "formats" / "nnrt_onnx.h").read_text(encoding="ascii")
    rows = {name: int(most) for name, most in re.findall(r"^    X\((\w+), +\d+, +(\d+), +\d+,", header, re.M)}
    gone = {"Upsample"}  # newer sets do not have it
    short = {name: str(most) for name, most in rows.items() if most < max(rows.values()) and name not in gone}
    for page in ("README.md", "docs/models.md"):
        said = re.search(r"operator\s+sets\s+1\s+to\s+(\d+)(?: \(([^)]*)\))?", (ROOT / page).read_text(encoding="utf-8"))
        if verdict(said is not None, "%s: says which operator sets are read" % page):
            older = dict(re.findall(r"(\w+) to (\d+)", said.group(2) or ""))
            verdict(int(said.group(1)) == max(rows.values()), "%s: the newest operator set" % page, str(max(rows.values())))
            verdict(len(rows) > 100 and older == short, "%s: operators that are read only in older sets" % page,
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
    for path in [*ROOT.glob("*.h"), *ROOT.glob("core/*.h"), *ROOT.glob("formats/*.h"), *ROOT.glob("tools/**/*.[ch]"),
                 *ROOT.glob("tools/**/*.py"), *ROOT.glob("tools/*.sh"), ROOT / "Makefile",
                 *[ROOT / page for page in pages() if page != "CHANGELOG.md"]]:
        if path.is_file() and path.name != "nnrt.h":
            text = path.read_text(encoding="utf-8")
            verdict(not re.search(r"#define NNRT_VERSION_[A-Z]+ \d|nnrt[ -]v?%s\b" % re.escape(version), text),
                    "%s: a second version number" % path.relative_to(ROOT))
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "version.c"
        source.write_text('#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n#include <stdio.h>\n'
                          "int main(void) { return puts(nnrt_version()) < 0; }\n", encoding="ascii")
        done = run(["tcc", "-std=c99", "-DNNRT_CPU=0", "-I", str(ROOT), "-o", scratch + "/version", str(source), "-lm"])
        said = run([scratch + "/version"]).stdout.strip() if done.returncode == 0 else done.stderr
        verdict(said == version, "nnrt_version() is %s" % version, said)


def check_contents():
    """Each file's comment at the top lists the tags of its sections, all of them, in their order: words that begin with >> at
    the beginning of a line. Parts of a section, and the same for each operator, are listed once."""
    for path in sorted(path for pattern in ("*.h", "core/*.h", "formats/*.h", "devices/*.h", "tools/**/*.[ch]") for path in ROOT.glob(pattern)):
        name, text = path.relative_to(ROOT), path.read_text(encoding="ascii")
        lines = re.findall(r"^    (>>.*)", text.split("*/")[0], re.M)
        listed = [tag for line in lines for tag in re.findall(r"(?:^| )>>([a-z0-9_]+)", line)]
        marked, each = [], set()
        for tag, operator in re.findall(r"^/\* >>([A-Za-z0-9_]+)( [A-Z0-9_]+)?\b", text, re.M):
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
        mark = re.match(r"/\* (?:>>([a-z0-9_]+)\b(?: ([A-Z0-9_]+))?|-{20})", line)
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
    for pattern in ("*.h", "core/*", "formats/*", "devices/*", "compat/*", "bindings/**/*.[chp]*", "tools/**/*", "examples/**/*.[chp]*", "tests/**/*.[chp]*"):
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
            missing = {name for name in re.findall(r"[\w/.-]+\.md\b", text)
                       if not (ROOT / name).exists() and not (path.parent / name).exists() and
                       not (path.name == "docs.py" and (ROOT / "docs" / name).exists())}  # it writes pages of docs
            verdict(not missing, "%s names documents that are not here" % path.relative_to(ROOT),
                    " ".join(sorted(missing)))


# Paths in texts that name no file of a clone, and why: placeholders, files that a build or a site makes.
NO_FILES = re.compile(r"NAME|ROOM|newop|nnrt_npu|/name\.vec|\.html$|_$|SUITE|digits/digits$|docs/operators$|digits\.ino|digits_model\.h|0123456789abcdef|tools/\.")
PATH = re.compile(r"(?<![\w/.$})-])((?:\.\./)*(?:core|devices|formats|compat|bindings|tools|packaging|examples|tests|docs)/[\w./*-]*[\w*])(.?)")
DATA = (".vec", ".tar", ".png", ".onnx", ".gguf", ".wav", ".svg", ".pyc")


def lost_paths(path, text):
    """Paths of the repository in a text that lead nowhere, from the root or from the file's folder; * is a wildcard."""
    def leads(name):
        return any(base.joinpath(name).exists() or "*" in name and list(base.glob(name)) for base in (ROOT, path.parent))
    return sorted({name for name, after in PATH.findall(text) if after not in ("%", "$", "\\") and not NO_FILES.search(name) and not leads(name) and not leads(name.replace("../", ""))})


def check_paths():
    """Every path of the repository in a page, comment or script leads to a file."""
    folders = ("core", "devices", "formats", "compat", "bindings", "tools", "packaging", "examples", "tests", "docs")
    for path in [*ROOT.iterdir(), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]:
        if not path.is_file() or path.name == "CHANGELOG.md" or path.suffix in DATA or "__pycache__" in path.parts:
            continue  # CHANGELOG.md names what earlier versions had
        missing = lost_paths(path, path.read_text(encoding="utf-8", errors="replace"))
        verdict(not missing, "%s names files that are not here" % path.relative_to(ROOT), " ".join(missing))
    verdict(lost_paths(ROOT / "README.md", "see tests/" + "none.c, docs/SPEED.md") == ["tests/" + "none.c"], "a lost path is not seen")


def check_generated():
    """docs/OPERATORS.md and the manual page equal the output of make docs, and a page that differs is detected. The suite
    onnx-nodes compares docs/ONNX.md, which needs its results."""
    check = [sys.executable, "-B", "tools/docs/docs.py", "--check"]
    done = run([*check, "operators"])
    verdict(done.returncode == 0, "docs/OPERATORS.md", done.stdout + done.stderr)
    done = run([*check, "man"])
    verdict(done.returncode == 0, "packaging/nnrt.1", done.stdout + done.stderr)
    done = run([*check, "tflite"])
    verdict(done.returncode == 0, "docs/TFLITE.md", done.stdout + done.stderr)
    done = run([*check, "api"])
    verdict(done.returncode == 0, "docs/API.md", done.stdout + done.stderr)
    check_functions()
    count = re.search(r"reads (\d+) operators of TensorFlow Lite", (ROOT / "docs/TFLITE.md").read_text(encoding="utf-8")).group(1)
    for name in ("README.md", "CHANGELOG.md"):
        said = re.search(r"`\.tflite` files(?: of|,) (\d+)\s+operators", (ROOT / name).read_text(encoding="utf-8"))
        verdict(said is not None and said.group(1) == count, "%s: the number of operators of TensorFlow Lite" % name, count)
    with tempfile.TemporaryDirectory() as scratch:
        log = pathlib.Path(scratch) / "log"
        log.write_text("PASS test_abs (Abs)\nSKIP test_scan (Scan): no\n\n1 passed (0 of them with inputs made constants), "
                       "0 failed, 1 skipped\n0 of those that passed by shape, type, values and sum, their numbers being random\n"
                       "0 passed by the definition of a later release\n"
                       "1 of 1 data sets with dynamic dimensions, given in the session alone: the same bits\n"
                       "0 imports without shapes and values refused\n", encoding="ascii")
        done = run([*check, "onnx", str(log)])
        verdict(done.returncode == 1 and "docs/ONNX.md differs from the generated text" in done.stdout, "docs/ONNX.md of other results",
                done.stdout + done.stderr)
        log.write_text(log.read_text(encoding="ascii").replace("1 skipped", "2 skipped"), encoding="ascii")
        done = run([*check, "onnx", str(log)])
        verdict("another number of tests" in done.stderr, "docs/ONNX.md of a log cut short", done.stdout + done.stderr)


def check_functions():
    """docs/API.md names every function of tests/source/api.txt except kernels, which have unnamed parameters or those of a step,
    and the functions of foreign interfaces."""
    page = (ROOT / "docs/API.md").read_text(encoding="utf-8")
    count = 0
    for part in (ROOT / "tests/source/api.txt").read_text(encoding="utf-8").split("\n# ")[1:]:
        header, *lines = part.splitlines()
        for line in lines:
            name = re.search(r"\b(nnrt_\w+)\(", line)
            if name and not re.search(r"\(const NNRT_\w+ \*, ", line) and not (header == "devices/nnrt_mcu.h" and "(const void *attr, " in line):
                verdict("`%s`" % name.group(1) in page, "docs/API.md lacks " + name.group(1))
                count += 1
    verdict(count > 200, "docs/API.md: functions of tests/source/api.txt", "%d functions" % count)


def check_pictures():
    """The pictures equal the output of tools/docs/pictures.py."""
    done = run([sys.executable, "-B", "tools/docs/pictures.py", "--check"])
    verdict(done.returncode == 0, "tools/docs/pictures.py --check", done.stdout + done.stderr)


def main():
    """Runs the checks; a file that is missing fails its check and not the others."""
    for check in (check_pages, check_readme, check_glossary, check_operator_sets, check_quick_start, check_version,
                  check_contents, check_operators, check_documents, check_paths, check_generated, check_pictures):
        try:
            check()
        except (OSError, subprocess.TimeoutExpired) as fault:
            verdict(False, check.__name__, str(fault))
    print("%(passed)d passed, %(failed)d failed" % COUNT)
    return 1 if COUNT["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
