#!/usr/bin/env python3
"""changed.py [BASE]: variables of make for the suites that depend on what changed since BASE (HEAD~1), committed or not:

    ONLY=vectors,open-vectors,copy VEC=softmax        (spaces as commas)

`make test CHANGED=1` runs them. On standard error: each file with its suites. Status 1: nothing to run.

A suite consists of the files that its rule names (tests/*.mk), of tests/ROOM/test_NAME.c or tests/ROOM/test_FAMILY_NAME.sh, and of
the headers, scripts and modules of tests that these include. It depends on a changed file if
- the file is one of these, or data beside them that they name;
- the file is nnrt_ops.h, changed between the marks of some operators (>>op, >>kernel): the suites that take VEC, for these;
- one of its files includes the header by name, or its name has a word of the path (devices/nnrt_cpu.h: cpu, cpu_convs, cpu-sets);
- the header is nnrt.h or nnrt_hal.h: the suites of the folder tests/core or tests/devices that include it by name;
- the file lies in core/, or is nnrt_ops.h changed elsewhere: every suite, as all of the library includes it.
Suites that compile all of nnrt again in other ways (LATER) are left to the whole `make test`, unless nothing else depends on the
file or it is one of theirs.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATOR = ["vectors", "open-vectors", "cpu-vectors", "copy"]  # the suites that take VEC
HEADERS = ["api", "layers"]  # of any header
LATER = {"builds", "dist"}  # minutes of compiling
EVERY = None
WORDS = re.compile(r"[a-z0-9]+")
# words of paths that name no subject
COMMON = {"nnrt", "h", "c", "py", "sh", "md", "mk", "kernels", "core", "devices", "formats", "compat", "tools", "tests", "bindings", "common",
          "test", "docs", "examples", "packaging", "library"}


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def changed_files(base):
    listed = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return sorted(set(listed.split("\n")) - {""})


def rules():
    """{suite: paths of its files in tests}, from the makefiles and the names of programs."""
    programs = {path.stem: path for path in ROOT.glob("tests/*/*.c") if path.stem != "nnrt"}
    found = {name[5:]: {path} for name, path in programs.items() if name.startswith("test_") and name != "test_ops"}
    for script in ROOT.glob("tests/*/test_*_*.sh"):
        found[script.stem[5:].replace("_", "-")] = {script}
    for makefile in [ROOT / "Makefile", *sorted(ROOT.rglob("*.mk"))]:
        text = makefile.read_text(encoding="utf-8").replace("\\\n", " ")
        for names, needs, recipe in re.findall(r"^((?:suite-[\w-]+ *)+):(?!.*export)([^\n]*)\n((?:\t[^\n]*\n)*)", text, re.M):
            files = {ROOT / file for file in re.findall(r"tests/[\w./-]+\.(?:py|sh|c|mjs)", recipe)}
            files |= {programs[name] for name in re.findall(r"build/\w+/(\w+)", needs + recipe) if name in programs}
            files |= {programs[name] for name in re.findall(r"build/test/\$\(if [^,]*,(\w+),(\w+)\)", needs) for name in name if name in programs}
            for name in names.split():
                found.setdefault(name[6:], set()).update(files)
    return found


def closure(files):
    """The files, and what they include of tests: headers, scripts that they read, modules beside them; their text."""
    texts, wanted = {}, list(files)
    while wanted:
        path = wanted.pop()
        if path in texts or not path.is_file():
            continue
        texts[path] = path.read_text(encoding="utf-8", errors="replace")
        names = re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', texts[path], re.M)
        names += re.findall(r'^\. (?:"\$\(dirname "\$0"\)/)?([\w./-]+)', texts[path], re.M) if path.suffix == ".sh" else []
        names += [name + ".py" for name in re.findall(r"^(?:from|import) (\w+)", texts[path], re.M)] if path.suffix == ".py" else []
        for name in names:
            wanted += [p.resolve() for p in (path.parent / name, ROOT / "tests/kit" / name, ROOT / name) if p.is_file() and "tests" in p.resolve().relative_to(ROOT).parts[:1]]
    return texts


def operators_of(base):
    """The operators between whose marks nnrt_ops.h changed; None: it changed elsewhere, too."""
    lines = (ROOT / "nnrt_ops.h").read_text(encoding="ascii").split("\n")
    owner, owners = None, []
    for line in lines:
        mark = re.match(r"/\* (?:>>(\w+)\b(?: ([A-Z0-9_]+))?|-{20})", line)
        owner = (mark[2] if mark[1] in ("op", "kernel") else None) if mark else owner
        owners.append(owner)
    found = set()
    for start, count in re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", git("diff", "-U0", base, "--", "nnrt_ops.h"), re.M):
        first = max(int(start), 1)
        found |= set(owners[first - 1:first - 1 + max(int(count or 1), 1)])
    return None if None in found else {name.lower() for name in found}


def words_of(path):
    return {word for word in WORDS.findall(path.lower().replace("nnrt_", "")) if word not in COMMON}


def depends(path, suites, texts):
    """The suites that depend on one file; EVERY: all."""
    parts = path.split("/")
    name = parts[-1]
    header = name.endswith(".h") and parts[0] not in ("tests", "examples", "tools", "bindings")
    if parts[0] == "core" and name.endswith(".h"):
        return EVERY
    found = set(HEADERS) if header else set()
    if parts[0] == "tests":
        found |= {suite for suite, files in texts.items() if ROOT / path in files}
        if path.startswith("tests/ops/vectors/"):
            found |= set(OPERATOR) - {"copy"}
        elif not found:  # data: the suites that name it, or else those of its folder
            found |= {suite for suite, files in texts.items() if any(name in text for text in files.values())} or \
                {suite for suite, files in suites.items() if any(file.is_relative_to(ROOT / "tests" / parts[1]) for file in files)}
        return found | ({"runner"} if parts[1] == "kit" or name.endswith(".mk") else set())
    if name in ("nnrt.h", "nnrt_hal.h"):
        room = "tests/core" if name == "nnrt.h" else "tests/devices"
        including = re.compile(r'#include "%s"' % re.escape(name))
        return found | {suite for suite, files in texts.items() if any(
            file in suites[suite] and file.is_relative_to(ROOT / room) and including.search(text) for file, text in files.items())}
    if name.endswith((".h", ".c")) and parts[0] in ("devices", "formats", "compat"):
        including = re.compile(r'#include "[^"]*\b%s"' % re.escape(name))
        found |= {suite for suite in suites if any(including.search(texts[suite][file]) for file in suites[suite] if file in texts[suite])}
        found |= {suite for suite in suites if words_of("/".join(parts[1:])) & set(WORDS.findall(suite))}
        return found
    if parts[0] == "tools":
        named = {suite for suite in suites if words_of(path) & set(WORDS.findall(suite)) or any(path in text for text in texts[suite].values())}
        return named | {suite for suite in suites if not named and suite.startswith("cli")}
    if parts[0] in ("bindings", "packaging", "examples"):
        named = {suite for suite in suites if set(WORDS.findall(suite)) & set(WORDS.findall(path.lower()))}
        return named | {suite for suite in suites if not named and parts[0] == "examples" and suite.startswith("example-")}
    return {"docs"} if name.endswith(".md") else {"runner", "docs"} if name == "Makefile" or name.endswith(".mk") else set()


def main():
    base = sys.argv[1] if len(sys.argv) > 1 else "HEAD~1"
    suites = rules()
    texts = {suite: closure(files) for suite, files in suites.items()}
    chosen, whole, operators, every = set(), set(), set(), False
    for path in changed_files(base):
        if path.startswith("tests/ops/vectors/") and path.endswith(".vec"):
            operators.add(pathlib.Path(path).stem)
        found = operators_of(base) if path == "nnrt_ops.h" else None
        if path == "nnrt_ops.h" and found:
            operators |= found
            named, said = set(OPERATOR) | {"rows"}, "of %s: " % " ".join(sorted(found))
        else:
            named, said = EVERY if path == "nnrt_ops.h" else depends(path, suites, texts), ""
        every |= named is EVERY
        if not (path == "nnrt_ops.h" or path.endswith(".vec")):
            whole |= named or set()  # suites of other files run all their vectors
        if named and named - LATER and not path.startswith("tests/"):
            named, said = named - LATER, said + "".join("(%s: make test ONLY=%s) " % (name, name) for name in sorted(named & LATER))
        chosen |= named or set()
        print("%s: %s%s" % (path, said, "every suite" if named is EVERY else " ".join(sorted(named)) or "no suite"), file=sys.stderr)
    chosen &= set(suites)
    if not chosen and not every:
        print("changed.py: no suite depends on these files", file=sys.stderr)
        return 1
    operators &= {path.stem for path in (ROOT / "tests/ops/vectors").glob("*.vec")}
    if not every:
        print("ONLY=" + ",".join(sorted(chosen)) + (" VEC=" + ",".join(sorted(operators)) if operators and not whole & set(OPERATOR) else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
