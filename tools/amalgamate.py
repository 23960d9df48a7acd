#!/usr/bin/env python3
"""Writes the amalgamation: FOLDER/nnrt.h holds nnrt.h and the headers that it includes, the devices auto and cpu, and the
part of stb_ds.h that they use: declarations first, then the implementation. FOLDER/nnrt_all.h is the same with the readers of
formats/, in one file. nnrt_frontend.h and each header of formats/, devices/ and compat/ are also written beside them and
include nnrt.h; the
headers of folders in compat/ keep their folders.

usage: amalgamate.py [--stb FILE] FOLDER      default for stb_ds.h: <stb/stb_ds.h> as $CC with $CPPFLAGS finds it

The top comments become one: that of nnrt.h, its FILES chapter rewritten, with the sections of the others and the chapters
that it lacks. Only the used part of stb_ds is copied, renamed from stbds_ to nnrti_stbds_; the lines of nnrt_graph.h that hide
the names of stb_ds are removed. The kernels of cpu are compiled once per instruction set: the amalgamation includes itself
for each, and then consists of the kernels only.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOP = "nnrt.h"
# Devices that nnrt.h includes if it finds them: the macro that asks for them, and that of a program that includes them itself.
DEVICES = {"devices/nnrt_auto.h": ("NNRT_AUTO", "NNRTI_WITH_AUTO"), "devices/nnrt_cpu.h": ("NNRT_CPU", "NNRTI_WITH_CPU")}
KERNELS = "devices/nnrt_cpu_kernels.h"
ALL = "nnrt_all.h"
# A header that no other header includes.
BESIDE = "core/nnrt_frontend.h"
INCLUDE = re.compile(r'^#[ \t]*include[ \t]*"([^"]+)"(.*)\n', re.M)
# Where the declarations of a header end and its implementation begins.
EMPTY = re.compile(r"^#[ \t]*if.*\n#[ \t]*else.*\n#[ \t]*endif.*\n", re.M)  # is left where both cases include headers of ours
HALVES = re.compile(r"^/\* =+ \*/\n(?=#[ \t]*if.*\bdefined\(NNRT_IMPLEMENTATION\))", re.M)
# Chapters about one header of several.
ONE_HEADER = ("FILES", "WHAT IT IS", "READERS")
RULER = "/* %s */\n" % ("=" * 112)


class Failure(Exception):
    """What is not as this program expects it, in one sentence."""


class Header:
    """A header of ours: its top comment, and its two halves without includes of our own."""

    def __init__(self, path):
        self.name = path.name
        text = path.read_text(encoding="ascii")
        top, _, body = text.partition("*/\n")
        self.top = top.partition("/*\n")[2]
        halves = HALVES.split(body)
        if not self.top or len(halves) != 2:
            raise Failure("%s: is not a top comment, declarations and one implementation" % self.name)
        self.declarations, self.implementation = halves
        self.below = [(path.parent / name).resolve() for name, _ in INCLUDE.findall(body) if name not in DEVICES]


def in_order(name, headers):
    """The headers that `name` includes, directly or not, and itself; what is included comes first, each once."""
    if name not in headers:
        headers[name] = Header(name)
        headers[name].order = []
        for below in headers[name].below:
            headers[name].order += [one for one in in_order(below, headers) if one not in headers[name].order]
        headers[name].order.append(name)
    return headers[name].order


def chapters(header):
    """The paragraph that a top comment begins with, and {name of a chapter: its lines}."""
    found = re.findall(r"^(\S.*)\n((?:(?:    .*)?\n)+)", header.top + "\n", re.M)
    opening = header.top.split("\n\n")[0]
    return opening, {name: body.strip("\n") for name, body in found if body.strip()}


def sections(bodies):
    """The lists of sections as one: all declarations, then all implementations."""
    parts = [re.split(r"\n *-- implementation --\n", body) for _, body in bodies]
    if any(len(part) != 2 for part in parts):
        raise Failure("a list of sections is not declarations, '-- implementation --' and the rest")
    names = [name for name, _ in bodies]
    declared = ["    from %s:\n%s" % (name, part[0]) for name, part in zip(names, parts)]
    implemented = ["    from %s:\n%s" % (name, part[1]) for name, part in zip(names, parts)]
    return "\n".join(declared + ["    -- implementation --"] + implemented)


def flat(text, above):
    """A top comment with the headers of other folders as they lie in the one folder."""
    for path in above:
        text = text.replace("%s/%s" % (path.parent.name, path.name), path.name)
    return text


def plain(text):
    """A header of a foreign API, which needs none of ours, for a folder of its own."""
    return text.replace("MIT license, see LICENSE.", "MIT license; its text is at the end of nnrt.h.")


def manual(headers, above, version):
    """The top comment of the amalgamation."""
    opening, merged = chapters(headers[-1])
    listed = [(header.name, body) for header in headers
              for name, body in chapters(header)[1].items() if name.startswith("SECTIONS")]
    own = set(merged)
    for header in headers[:-1]:
        for name, body in chapters(header)[1].items():
            if merged.get(name, "").lstrip().startswith("See the top of"):
                merged[name] = body
            elif name not in own and name not in ONE_HEADER:  # of several headers: one after the other
                merged[name] = merged[name] + "\n" + body if name in merged else body
    files = ("nnrt.h, version %s, is the amalgamation of %s, %s and the devices auto and cpu, written by "
             "tools/amalgamate.py of nnrt's repository; nnrt_all.h is the same with the readers of model files. Either is all "
             "that a program needs: the part of stb_ds that they use is inside, under names of its own, whatever your program "
             "does with stb_ds. A text that names one of these headers means its part of this file. NNRT_AUTO=0 and "
             "NNRT_CPU=0 leave the devices out. The implementation is compiled if NNRT_IMPLEMENTATION is defined before the "
             "include: in one C or C++ file of the program." % (version, ", ".join(header.name for header in headers[:-1]), TOP))
    merged["FILES"] = "\n".join([textwrap.fill(files, 120, initial_indent="    ", subsequent_indent="    ")] +
                                ["    %-20s is beside this file and includes it" % path.name for path in above])
    merged = {name: sections(listed) if name.startswith("SECTIONS") else body for name, body in merged.items()}
    text = opening + "\n\n" + "".join("%s\n%s\n\n" % item for item in merged.items())
    text = re.sub(r"^    NNRT_STB_DS_H .*\n", "", text, flags=re.M)
    text = text.replace("copy the headers", "copy one header").replace("-I. examples/hello.c", "hello.c")
    text += "MIT license; its text, and that of the part from stb_ds, are at the end of this file.\n"
    return "/*\n%s*/\n" % flat(text, above)


def conditional(lines, macro, name):
    """First and last line of the one #if of header `name` that asks for the macro."""
    found = [i for i, line in enumerate(lines) if re.match(r"#[ \t]*if.*\b%s\b" % macro, line)]
    if len(found) != 1:
        raise Failure("%s: %d conditionals ask for %s, expected one" % (name, len(found), macro))
    depth = 0
    for last in range(found[0], len(lines)):
        depth += bool(re.match(r"#[ \t]*if", lines[last])) - bool(re.match(r"#[ \t]*endif", lines[last]))
        if depth == 0:
            return found[0], last
    raise Failure("%s: the conditional of %s has no end" % (name, macro))


def taken(stb, names):
    """The definitions of these names in stb_ds.h, and of those that they use, in its order."""
    found, wanted = {}, set(names)
    while wanted:
        name = wanted.pop()
        hits = list(re.finditer(r"^#define[ \t]+%s\b(?:.*\\\n)*.*\n" % name, stb, re.M)) or \
            list(re.finditer(r"^typedef struct\n?\s*\{[^{}]*\}\s*%s;\n" % name, stb, re.M))
        if len(hits) != 1:
            raise Failure("stb_ds.h: %s has %d definitions that can be taken, expected one" % (name, len(hits)))
        found[name] = hits[0]
        wanted |= set(re.findall(r"\b(?:stbds|STBDS)_\w+", hits[0].group(0))) - set(found)
    return "".join(hit.group(0) for hit in sorted(found.values(), key=lambda hit: hit.start()))


def with_stb(text, stb, name):
    """The implementation with the used part of stb_ds in the place of its include."""
    lines = text.splitlines(keepends=True)
    first, last = conditional(lines, "NNRTI_STBDS_PRIVATE", name)
    lines[first:last + 1] = []
    first, last = conditional(lines, "INCLUDE_STB_DS_H", name)
    if lines[first - 1].endswith("*/\n"):  # the comment above it
        first = max(i for i in range(first) if lines[i].startswith("/*"))
    lines[first:last + 1] = ["@STB@\n"]
    text = "".join(lines)
    used = set(re.findall(r"\b(?:stbds|STBDS)_\w+", text))
    version = re.match(r"/\* (stb_ds\.h - v\S+)", stb)
    part = "/* From %s by Sean Barrett, renamed; its licence is at the end of this file. */\n" % (
        version.group(1) if version else "stb_ds.h") + taken(stb, used)
    return re.sub(r"\b(stbds|STBDS)_", lambda m: {"stbds": "nnrti_stbds_", "STBDS": "NNRTI_STBDS_"}[m.group(1)],
                  text.replace("@STB@\n", part))


def licences(stb):
    """The comment that the file ends with."""
    theirs = re.search(r"^-+\nThis software is available under.*?(?=^\*/)", stb, re.M | re.S)
    if not theirs:
        raise Failure("stb_ds.h: its licence is not where it was")
    ours = (ROOT / "LICENSE").read_text(encoding="ascii").strip()
    return "/*\n%s\n\n%s\nThe part of this file that comes from stb_ds.h:\n%s*/\n" % (ours, "-" * 78, theirs.group(0))


def tidy(text):
    """No more than one empty line at a time, none at the end."""
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def part(path, condition=None, includes=()):
    """A header without its top comment and its includes of ours but those named, in a conditional."""
    body = path.read_text(encoding="ascii").partition("*/\n")[2]
    body = INCLUDE.sub(lambda hit: hit.group(0) if hit.group(1) in includes else "", body)
    text = "\n%s/* %s */\n" % (RULER, path.name)
    return text + ("\n#if %s\n%s\n#endif /* %s */\n" % (condition, body.strip("\n"), path.name) if condition else body)


def amalgamate(stb, above, version, name, formats):
    """The text of an amalgamation, which will have this name; formats: the readers that it holds."""
    headers = {}
    parts = [headers[below] for below in in_order(ROOT / TOP, headers)]
    own = {pathlib.PurePath(path).name for path in DEVICES} | {path.name for path in formats}
    text = manual(parts, [path for path in above if path.name not in own], version) + "#ifndef NNRTI_CPU_ISA\n"
    for half in ("declarations", "implementation"):
        for header in parts:
            body = EMPTY.sub("", INCLUDE.sub("", getattr(header, half)))
            for path in DEVICES:  # they are inside: nothing to look for
                body = body.replace('__has_include("%s")' % path, "1")
            body = body.replace(" && defined(__has_include)\n#if 1", "\n#if 1")
            if half == "implementation" and header.name == TOP:
                for path, (built_in, asked) in DEVICES.items():  # in front of it, as it includes them
                    condition = "defined(%s) || (%s && defined(NNRT_IMPLEMENTATION))" % (asked, built_in)
                    text += part(ROOT / path, condition, {pathlib.PurePath(KERNELS).name})
            if half == "implementation" and "stbds_" in body:
                body = with_stb(body, stb, header.name)
            text += "\n%s/* %s of %s */\n" % (RULER, half, header.name) + body
    text = text.replace('"%s"' % pathlib.PurePath(KERNELS).name, '"%s"' % name)
    text += "".join(part(path) for path in formats)
    text += "\n#else /* NNRTI_CPU_ISA */\n" + part(ROOT / KERNELS) + "\n#endif /* NNRTI_CPU_ISA */\n"
    text = tidy(text + "\n" + licences(stb))
    check(text, [name])
    return text


def asking(path, macro):
    """A device of the amalgamation, for a program that includes it by its name."""
    return ("/* %s: the device is in nnrt.h, which compiles it if NNRT_IMPLEMENTATION is defined. */\n"
            "#ifndef %s\n#define %s\n#endif\n#include \"%s\"\n" % (path.name, macro, macro, TOP))


def side(path, above):
    """A header above nnrt.h, for the same folder."""
    foreign = {one.relative_to(ROOT / "compat").as_posix() for one in (ROOT / "compat").glob("*/*.h")}
    own = {TOP} | {one.name for one in above} | foreign

    def include(hit):
        name = hit.group(1) if hit.group(1) in foreign else pathlib.PurePath(hit.group(1)).name
        return '#include "%s"%s\n' % (name if name in own else TOP, hit.group(2))
    top, end, body = path.read_text(encoding="ascii").partition("*/\n")
    top = flat(top, above).replace("includes nnrt.h, which lies one folder up", "includes nnrt.h, which lies beside it")
    top = top.replace("MIT license, see LICENSE.", "MIT license; its text is at the end of nnrt.h.")
    text = top + end + INCLUDE.sub(include, body)
    check(text, own)
    return text


def check(text, own):
    """Raises Failure unless the text includes only headers of `own`, nothing is open and stb_ds' names are gone."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    foreign = [name for name, _ in INCLUDE.findall(code) if name not in own]
    if foreign or re.search(r'#[ \t]*include[ \t]*"nnrt_(ops|model|plan|hal|graph)', code):
        raise Failure("includes are left: %s" % " ".join(foreign))
    opened, closed = (len(re.findall(r"^#[ \t]*%s" % word, text, re.M)) for word in ("if", "endif"))
    if opened != closed:
        raise Failure("%d #if and %d #endif" % (opened, closed))
    leaked = set(re.findall(r"\b(?:stbds_|STBDS_|INCLUDE_STB|STB_DS)\w*", code))
    if leaked:
        raise Failure("names of stb_ds are left: %s" % " ".join(sorted(leaked)))


def find_stb():
    """Path of <stb/stb_ds.h>, as the compiler finds it."""
    command = shlex.split(os.environ.get("CC") or "cc") + shlex.split(os.environ.get("CPPFLAGS", ""))
    done = subprocess.run(command + ["-M", "-x", "c", "-"], input="#include <stb/stb_ds.h>\n", stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, check=False)
    found = re.search(r"\S+stb_ds\.h", done.stdout)
    if done.returncode or not found:
        raise Failure("%s finds no <stb/stb_ds.h>: install libstb-dev, or name the file with --stb" % command[0])
    return found.group(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--stb", metavar="FILE", help="stb_ds.h; default: <stb/stb_ds.h> of the compiler")
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path)
    options = parser.parse_args()
    try:
        stb = pathlib.Path(options.stb or find_stb()).read_text(encoding="utf-8")
        numbers = re.findall(r"^#define NNRT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$",
                             (ROOT / TOP).read_text(encoding="ascii"), re.M)
        above = [ROOT / BESIDE] + [path for folder in ("formats", "devices", "compat")
                                   for path in sorted((ROOT / folder).glob("*.h")) if path != ROOT / KERNELS]
        version = ".".join(numbers)
        files = {TOP: amalgamate(stb, above, version, TOP, []),
                 ALL: amalgamate(stb, above, version, ALL, sorted((ROOT / "formats").glob("*.h")))}
        asked = {path.name: macros[1] for path, macros in ((ROOT / name, macros) for name, macros in DEVICES.items())}
        files.update((path.name, asking(path, asked[path.name]) if path.name in asked else side(path, above))
                     for path in above)
        files.update((path.relative_to(ROOT / "compat"), plain(path.read_text(encoding="ascii")))
                     for path in sorted((ROOT / "compat").glob("*/*.h")))
        for name, text in files.items():
            (options.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (options.folder / name).write_bytes(text.encode("ascii"))
            print("%s: %d bytes, %d lines" % (options.folder / name, len(text), text.count("\n")))
    except (Failure, OSError, UnicodeError) as fault:
        print("amalgamate.py: %s" % fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
