#!/usr/bin/env python3
"""A header of the root or of core/ includes only headers before it in ORDER. A header of tools/ includes only headers
of its folder and of the folders below it (TOOLS), and never in a circle; a folder of tools/ has at most MOST_FILES
files, and a file at most MOST_LINES lines.

Devices and the front end stand on the public part of the headers below them (FILES): they use no name of these headers
that begins with nnrti_ or NNRTI_, and include no other header of nnrt. Each group of FILES is checked twice:

- as text: no such name of the headers occurs in its code, unless the group defines the name itself. This also covers code
  for other processors.
- by the compiler: it compiles together with headers whose internal names are all replaced by others. This also covers names
  that macros paste together.

usage: test_layers.py      run from anywhere
"""
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BELOW = ["nnrt_ops.h", "core/nnrt_model.h", "core/nnrt_plan.h", "nnrt_hal.h"]
# the layers, from the lowest on
ORDER = ["nnrt_ops.h", "core/nnrt_frontend.h", "core/nnrt_model.h", "core/nnrt_text.h", "core/nnrt_plan.h", "nnrt_hal.h", "core/nnrt_graph.h", "nnrt.h"]
# a group of files, of which the first one includes the others, and the headers that it may include
FILES = [(["devices/nnrt_auto.h"], BELOW), (["devices/nnrt_cpu.h", "devices/nnrt_cpu_kernels.h"], BELOW),
         (["devices/nnrt_driver.h"], BELOW), (["devices/nnrt_fake.h"], BELOW), (["devices/nnrt_mcu.h"], BELOW),
         (["devices/nnrt_remote.h"], BELOW), (["core/nnrt_frontend.h"], ["nnrt_ops.h"]), (["core/nnrt_text.h"], ["nnrt_ops.h", "core/nnrt_model.h"]),
         (["formats/nnrt_quantize.h"], BELOW + ["core/nnrt_graph.h", "nnrt.h"])]
# the folders of tools/, and those below each; "" is tools/ itself, whose programs include all of them
TOOLS = {"io": [], "common": ["io"], "model": ["io", "common"], "convert": ["io", "common"], "emit": ["io", "common"],
         "ops": ["io", "common"], "batch": ["io", "common"], "text": ["io", "common"], "docs": []}
TOOLS[""] = list(TOOLS)
MOST_FILES, MOST_LINES = 15, 1200
INTERNAL = re.compile(r"\b(?:nnrti|NNRTI)_\w+")
INTRUDER = "\n#ifdef NNRT_IMPLEMENTATION\nstatic int nnrti_intruder(void)\n{\n    return %s(\"a\", \"b\", 1);\n}\n#endif\n"


def code(text):
    """The text without comments and strings."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"/\*.*?\*/", " ", text, flags=re.S))


def defined(text):
    """Internal names that code defines: macros, and names at file level before ( [ = ; or a brace."""
    names = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(NNRTI_\w+|nnrti_\w+)", text, re.M))
    return names | set(re.findall(r"^(?:static|typedef|struct|NNRTI_\w+INLINE)\b[^;{=()]*?\b(nnrti_\w+)(?= *[(\[=;{])", text, re.M))


def includes(name, text):
    """The files that a file includes, as paths from the root."""
    included = re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.sub(r"/\*.*?\*/", " ", text, flags=re.S), re.M)
    return [posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in included]


def upward(name, text):
    """Headers that a layer includes although they are not below it; the devices that nnrt.h compiles are on its level."""
    included = includes(name, text)
    below = ORDER[:ORDER.index(name)] + (["devices/nnrt_auto.h", "devices/nnrt_cpu.h"] if name == "nnrt.h" else [])
    return [other for other in included if other not in below and not other.endswith("stb_ds.h")]


def folder_of(name):
    """The folder of a file of tools/: "io" for tools/io/text.h, "" for tools/nnrt.c."""
    return posixpath.dirname(name)[len("tools/"):]


def misplaced(texts):
    """Includes of tools/ as pairs: the folder of the second file is neither that of the first nor below it."""
    pairs = [(name, other) for name, text in texts.items() for other in includes(name, text)]
    return [(name, other) for name, other in pairs if other.startswith("tools/")
            and folder_of(other) not in [folder_of(name), *TOOLS.get(folder_of(name), [])]]


def circle(texts):
    """Files that include each other in a circle, or connect two circles."""
    left, done = {name: set(includes(name, text)) & set(texts) for name, text in texts.items()}, {""}
    while done:  # a file that includes none of the others, or that none of them includes, is in no circle
        done = {name for name, below in left.items() if not below} | left.keys() - set().union(*left.values())
        left = {name: below - done for name, below in left.items() if name not in done}
    return sorted(left)


def oversized(texts):
    """Folders with too many files, and files with too many lines."""
    folders = [posixpath.dirname(name) for name in texts]
    return (sorted(folder for folder in set(folders) if folders.count(folder) > MOST_FILES)
            + sorted(name for name, text in texts.items() if text.count("\n") > MOST_LINES))


def check_tools(verdict):
    """Checks the files of tools/. Each check must be able to fail: it also gets files with one fault."""
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in (ROOT / "tools").rglob("*")
             if path.is_file() and "__pycache__" not in path.parts}
    verdict(set(TOOLS) == {folder_of(name) for name in texts}, "the folders of tools/ are not those of TOOLS")
    verdict(sum(len(includes(name, text)) for name, text in texts.items()) > 100, "tools/: the includes are not found")
    large = "folders of more than %d files, files of more than %d lines" % (MOST_FILES, MOST_LINES)
    for what, check in (("includes of files that are not below", misplaced), ("a circle", circle), (large, oversized)):
        found = check(texts)
        verdict(not found, "tools/: %s: %s" % (what, found))

    def changed(name, text):
        return dict(texts, **{name: texts.get(name, "") + text})

    for name, other in (("tools/io/text.h", "common/args.h"), ("tools/common/args.h", "model/run.h"),
                        ("tools/emit/emit.h", "ops/copy.h"), ("tools/batch/batch.h", "nnrt.c")):
        verdict(misplaced(changed(name, '\n#include "../%s"\n' % other)) == [(name, "tools/" + other)],
                "%s: an include of %s is not seen" % (name, other))
    found = circle(changed("tools/io/text.h", '\n#include "files.h"\n'))
    verdict(found == ["tools/io/files.h", "tools/io/text.h"], "tools/: a circle of two files is not seen: %s" % found)
    found = oversized(changed("tools/io/text.h", "\n" * MOST_LINES))
    verdict(found == ["tools/io/text.h"], "tools/: a long file is not seen: %s" % found)
    more = {"tools/io/%d.h" % i: "" for i in range(MOST_FILES)}
    verdict(oversized({**texts, **more}) == ["tools/io"], "tools/: a crowded folder is not seen")


def strangers(texts, below):
    """Internal names of the headers below that occur in a group and are not its own."""
    own = set().union(*(defined(code(t)) for t in texts))
    used = set().union(*(INTERNAL.findall(code(t)) for t in texts))
    return sorted(used & set().union(*(INTERNAL.findall(code(t)) for t in below)) - own)


def compiles(folder, group, headers, text=None):
    """The compiler's errors for a group with headers whose internal names differ; text: instead of its last file."""
    for name in headers:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(re.sub(r"\b(nnrt|NNRT)([iI])_", r"\1\2_other_", (ROOT / name).read_text()))
    for name in group:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    if text is not None:
        (folder / group[-1]).write_text(text)
    (folder / "unit.c").write_text('#define NNRT_IMPLEMENTATION\n#include "%s"\n' % group[0])
    run = subprocess.run([os.environ.get("CC", "cc"), "-std=c99", "-Werror=implicit-function-declaration", "-fsyntax-only",
                          "-D_POSIX_C_SOURCE=200809L", "-DNNRT_THREADS=1", "unit.c"], cwd=folder, capture_output=True, text=True)
    for name in headers + group:
        (folder / name).unlink()
    return run.stderr if run.returncode != 0 else ""


def main():
    passed = failed = 0

    def verdict(good, what):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        if not good:
            print("FAIL " + what)

    verdict(sorted(ORDER) == sorted(path.relative_to(ROOT).as_posix() for folder in (".", "core") for path in ROOT.glob(folder + "/*.h")), "the headers of the root and of core/ are not those of ORDER")
    for header in ORDER:
        text = (ROOT / header).read_text()
        found = upward(header, text)
        verdict(not found, "%s: includes %s, which is not below it" % (header, " ".join(found)))
        verdict(upward(header, text + '\n#include "%s"\n' % posixpath.relpath(ORDER[-1], posixpath.dirname(header) or ".")) == [ORDER[-1]], "%s: an upward include is not seen" % header)

    check_tools(verdict)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for group, headers in FILES:
            what, below = "internal names of " + ", ".join(headers), [(ROOT / header).read_text() for header in headers]
            texts = [(ROOT / file).read_text() for file in group]
            found = strangers(texts, below)
            verdict(not found, "%s: uses %s: %s" % (group[0], what, " ".join(found)))
            errors = compiles(folder, group, headers)
            verdict(not errors, "%s: does not compile without %s:\n%s" % (group[0], what, errors[:2000]))
            # both checks must be able to fail; the second name is pasted together
            pasted = "#define INTRUDER(name) nnrti_##name\n" + INTRUDER % "INTRUDER(bytes_equal)"
            errors = compiles(folder, group, headers, texts[-1] + pasted)
            verdict("nnrti_bytes_equal" in errors, "%s: the compiler does not see an intruder" % group[0])
            texts[-1] += INTRUDER % "nnrti_bytes_equal"
            verdict("nnrti_bytes_equal" in strangers(texts, below), "%s: an intruder in the text is not seen" % group[0])
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or passed < 4 * len(FILES) + 2 * len(ORDER) + 13 else 0


if __name__ == "__main__":
    sys.exit(main())
