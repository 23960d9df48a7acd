#!/usr/bin/env python3
"""Every public function of the headers, with its signature, is in tests/source/api.txt, and nothing else is: a change of the API is
noticed, and is recorded in that file and in CHANGELOG.md. nnrt.h, which applications read, has at most MOST functions. A search of
the text of nnrt_ops.h finds every enumerator and type, also those that only macros make.

usage: test_api.py            compares; run from anywhere
       test_api.py --write    writes the file, and the comment of nnrt_ops.h with names that macros make, again
       test_api.py --add      writes the comment again, and the file if it lacks only kernels of nnrt_ops.h, which rows of the
                              operator table name, and lists no removed function: part of make docs
"""
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/source/api.txt"
HEADERS = ["nnrt_ops.h", "core/nnrt_frontend.h", "core/nnrt_model.h", "core/nnrt_text.h", "core/nnrt_plan.h", "nnrt_hal.h", "core/nnrt_graph.h", "nnrt.h", "formats/nnrt_onnx.h", "formats/nnrt_quantize.h", "formats/nnrt_tflite.h", "formats/nnrt_gguf.h", "formats/nnrt_safetensors.h", "devices/nnrt_auto.h", "devices/nnrt_cpu.h",
           "devices/nnrt_driver.h", "devices/nnrt_fake.h", "devices/nnrt_mcu.h", "devices/nnrt_remote.h",
           "compat/nnrt_ohnn.h", "compat/nnrt_nnadapter.h", "compat/nnrt_nnadapter_driver.h"]
MARKS = {"NNRT_API": "NNRT_IS_PUBLIC", "NNRT_INLINE": "NNRT_IS_PUBLIC", "NNRT_OHNN_API": "NNRT_IS_PUBLIC", "NNRT_NNADAPTER_API": "NNRT_IS_PUBLIC"}
MOST = 40
NAMES = "Names that only macros make, for a search of the text; make docs writes them:"
# Some of the Hardware Device Interface of OpenHarmony that are written nowhere else.
KNOWN = ["NNRT_NODE_TYPE_FILL", "NNRT_QUANT_TYPE_NONE", "NNRT_PERFORMANCE_HIGH", "NNRT_DEVICE_STATUS_OFFLINE", "NNRT_PRIORITY_HIGH",
         "NNRT_DATA_TYPE_FLOAT64", "NNRT_FORMAT_NHWC", "NNRT_Abs"]
HEAD = """# The public functions, header by header, as the preprocessor leaves them: tests/source/test_api.py compares with the headers,
# and writes this file again (--write). A line that goes, or changes, breaks programs: it belongs into CHANGELOG.md.
"""


def declarations(header):
    """The functions that a header and its included headers declare, in their order."""
    command = [os.environ.get("CC", "cc"), "-E", "-P", "-std=c99", "-DNNRT_THREADS=1", "-I.", header]
    command += ["-D%s=%s" % mark for mark in MARKS.items()]
    # the headers define these macros only if they are undefined: these definitions stay
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = []
    for part in re.findall(r"NNRT_IS_PUBLIC\b([^;{]*)[;{]", text):
        part = re.sub(r"\s+", " ", part.replace("_Bool", "bool")).strip()
        part = re.sub(r" ?([(),*]) ?", r"\1", part).replace(",", ", ").replace("*", " *").replace("* *", "**")
        part = re.sub(r"\( ", "(", part).replace(" )", ")")
        if re.match(r"^[\w *]+?\b\w+\(", part):
            found.append(part)
    return found


def all_declarations():
    """[(header, declaration)], each function once: at the header that declares it."""
    seen, found = set(), []
    for header in HEADERS:
        for d in declarations(header):
            if d not in seen:
                seen.add(d)
                found.append((header, d))
    return found


def as_text(found):
    lines = [HEAD]
    for header in HEADERS:
        lines.append("\n# %s\n" % header)
        lines += [d + "\n" for h, d in found if h == header]
    return "".join(lines)


def name_of(declaration):
    return re.match(r"^[\w *]+?\b(\w+)\(", declaration).group(1)


def too_many(found):
    """[a fault] if nnrt.h has more than MOST functions."""
    count = sum(header == "nnrt.h" for header, _ in found)
    return ["nnrt.h has %d public functions, at most %d are allowed: its functions are for applications" % (count, MOST)] \
        if count > MOST else []


def kernels():
    """The names of the kernels of the operator table."""
    rows = (ROOT / "nnrt_ops.h").read_text(encoding="utf-8")
    names = re.findall(r"\bK\((?:[^,]*,){3} *(\w+), *\w+, *own\)", rows)
    for name in re.findall(r"\bNNRTI_K_FLOATS\(K, *\w+, *(\w+), *\w+, *own\)", rows):
        names += [name + "_f32", name + "_f16", name + "_f64"]
    return {"nnrt_" + name for name in names}


def public_names():
    """Enumerators and types of nnrt_ops.h, as the compiler sees them."""
    command = [os.environ.get("CC", "cc"), "-E", "-P", "-std=c99", "nnrt_ops.h"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = set(re.findall(r"\}\s*(\w+)\s*;", text)) | set(re.findall(r"\btypedef\b[^;{}]*?\b(\w+)\s*;", text))
    for body in re.findall(r"\benum\b[^{;()]*\{([^}]*)\}", text):
        names |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
    return {name for name in names if name.startswith("NNRT_")}


def made_names():
    """The text of nnrt_ops.h before, in and after the comment NAMES; the names that it must list: those that the rest of the text
    does not contain; and all public ones."""
    text = (ROOT / "nnrt_ops.h").read_text(encoding="utf-8")
    begin = text.index(NAMES) + len(NAMES)
    end = text.index("*/", begin)
    names = public_names()
    words = set(re.findall(r"\w+", text[:begin] + text[end:]))
    return (text[:begin], text[begin:end], text[end:]), sorted(names - words), names


def write_names():
    (before, between, after), names, _ = made_names()
    comment = "\n" + textwrap.fill(", ".join(names), 117, initial_indent="   ", subsequent_indent="   ") + " "
    if between != comment:
        (ROOT / "nnrt_ops.h").write_text(before + comment + after, encoding="utf-8")
        print("nnrt_ops.h: %d names that only macros make" % len(names))


def names_not_found():
    """[a fault] for each name that a search of nnrt_ops.h does not find, or that its comment invents; and the number of names."""
    (_, between, _), made, names = made_names()
    listed = re.findall(r"\w+", between)
    faults = ["a search of nnrt_ops.h does not find %s: make docs" % n for n in made if n not in listed]
    faults += ["nnrt_ops.h lists %s, which is no name that only a macro makes: make docs" % n for n in listed if n not in made]
    faults += ["the compiler does not see %s" % n for n in KNOWN if n not in names]
    return faults, len(names)


def main():
    if {"--add", "--write"} & set(sys.argv[1:]):
        write_names()
    found = all_declarations()
    listed = [l for l in LIST.read_text().splitlines() if l and not l.startswith("#")]
    there = [d for _, d in found]
    new = {name_of(d) for d in there if d not in listed}
    added = "--add" in sys.argv[1:] and new and new <= kernels() and all(d in there for d in listed)
    if "--write" in sys.argv[1:] or added:
        LIST.write_text(as_text(found))
        print("tests/source/api.txt: %d functions" % len(found))
        return 0
    passed, failed = 0, []
    names = [name_of(d) for d in there]
    for d in there:
        if d in listed:
            passed += 1
        else:
            failed.append("is not in tests/source/api.txt%s: %s" % (" (make docs adds kernels)" if name_of(d) in kernels() else "", d))
    failed += ["is gone, or another one: " + d for d in listed if d not in there]
    failed += ["is declared twice, in two ways: " + n for n in sorted(set(names)) if names.count(n) > 1]
    failed += ["does not begin with nnrt_, OH_NN or NNAdapter: " + n for n in names
               if not re.match(r"nnrt_|OH_NN|NNAdapter", n)]
    missing, searchable = names_not_found()
    failed += missing
    passed += searchable
    failed += too_many(found)
    if not too_many(found + [("nnrt.h", "void f(void)")] * MOST):
        failed.append("more than %d functions of nnrt.h are not noticed" % MOST)
    for line in failed:
        print("FAIL " + line)
    if not failed and LIST.read_text() != as_text(found):
        failed.append("")
        print("FAIL tests/source/api.txt has another order than the headers: test_api.py --write")
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed or passed < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
