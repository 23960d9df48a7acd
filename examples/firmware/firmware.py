#!/usr/bin/env python3
"""The digits networks on microcontrollers: builds main.c for each target, runs it in qemu, compares every score with the
reference device of this machine, bit for bit, and prints the memory use and instruction count.

usage: firmware.py [--sizes] [TARGET...]   run from the root of the repository; needs build/nnrt; output in build/firmware

--sizes only links and measures the bytes: no qemu.

Each target is built four times: with digits.onnx as const C from nnrt emit-c, and (TARGET-load) with a .nnrt file in
flash that is loaded and planned on the device; TARGET-int8 and TARGET-int8-load do the same with digits_int8.onnx. No
build may link the functions in FORBIDDEN, or have a larger core than CORE states. An int8 build has no float arithmetic at all, unless it is planned on the
device, which computes scales in double. Columns, in bytes of the linked file:
  core          everything except kernels and model: the runner or the loader and planner, memcpy and memset
  kernels       shape rules, kernels and math of the operators, and the compiler's soft-float functions if the processor has no
                FPU. RISC-V: floating-point constants of all operators, also unlinked ones, because its gcc puts all
                constants of a file into one section
  model         weights, attributes and plan, or the .nnrt file
  arena         intermediate results
  stack         maximum depth in a run, measured by painting
  instructions  of one inference (qemu -icount; on Arm counted in steps of 40)
None includes the harness (reset, semihosting, images, the self-test's data).
"""
import pathlib
import re
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path("build/firmware")
NNRT = "build/nnrt"
MODELS = {"": "examples/digits/digits.onnx", "-int8": "examples/digits/digits_int8.onnx"}
ARM = ["arm-none-eabi-gcc", "-mthumb", "--specs=nano.specs", "-T", str(HERE / "arm.ld")]
RISCV = ["riscv64-unknown-elf-gcc", "-mabi=ilp32", "--specs=picolibc.specs", "-T", str(HERE / "riscv.ld"),
         "-mcmodel=medany"]
FPV4 = ["-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
FPV5 = ["-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"]
# name: compiler, machine
TARGETS = {
    "cortex-m0plus": (ARM + ["-mcpu=cortex-m0plus"], ["qemu-system-arm", "-M", "mps2-an385"]),
    "cortex-m3": (ARM + ["-mcpu=cortex-m3"], ["qemu-system-arm", "-M", "mps2-an385"]),
    "cortex-m4": (ARM + ["-mcpu=cortex-m4"] + FPV4, ["qemu-system-arm", "-M", "mps2-an386"]),
    "cortex-m7": (ARM + ["-mcpu=cortex-m7"] + FPV5, ["qemu-system-arm", "-M", "mps2-an500"]),
    "rv32imc": (RISCV + ["-march=rv32imc"], ["qemu-system-riscv32", "-M", "virt", "-bios", "none"]),
}
FLAGS = ["-std=c99", "-Os", "-g", "-ffreestanding", "-ffunction-sections", "-fdata-sections", "-fno-common",
         "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror",
         "-DNNRT_MAX_RANK=4", "-I.", "-I" + str(HERE),
         "-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]
# Most bytes of the core of a build that loads and plans a file, on the processor with the smallest instruction set.
CORE = {"cortex-m0plus-load": 15700, "cortex-m0plus-int8-load": 15750}
LOAD_BUFFER = 65536  # bytes for the model's tables, the plan and the arena
# Functions of the compiler's library that no hot path may need (64-bit division, double arithmetic), and the C library
# except memcpy and memset.
DIVISION = r"__(aeabi_u?ldivmod|u?(div|mod)(mod)?di[34])"
DOUBLE = r"__((add|sub|mul|div|neg|float.*|fix.*|extend.*)[sd]?df[23]?|aeabi_(c?d.*|[iu]2d|u?l2d|f2d))"
LIBRARY = r"_?(malloc|calloc|realloc|free|printf|abort|exit|str[a-z]+|memcmp|memmove)(_r)?"
FLOAT = r"__((add|sub|mul|div|neg|float.*|fix.*|extend.*|trunc.*|eq|ne|lt|le|gt|ge|unord|cmp)sf.?.?|float.*sf|aeabi_(c?f.*|[iu]2f|u?l2f))"
FORBIDDEN = re.compile("(%s|%s|%s)$" % (DIVISION, DOUBLE, LIBRARY))
FORBIDDEN_INT8 = re.compile("(%s|%s|%s|%s)$" % (DIVISION, DOUBLE, LIBRARY, FLOAT))
FORBIDDEN_INT8_LOAD = re.compile("(%s|%s)$" % (DIVISION, LIBRARY))
# Instructions of a floating-point unit that compute; moves are not among them.
FPU = re.compile(r"\tv(add|sub|mul|nmul|div|mla|mls|nmla|nmls|fma|fms|fnma|fnms|sqrt|cvt|cmp|cmpe|neg|abs|rint|max|min)\w*[.\t]")


def command(args, **more):
    done = subprocess.run(args, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit("firmware: %s\nfailed with status %d\n%s" %
                 (" ".join(map(str, args)), done.returncode, "\n".join((done.stdout + done.stderr).splitlines()[:30])))
    return done.stdout


def words_of(npy, code):
    """The elements of a .npy file, float32 (code I) or int8 (b), as the words that main.c prints."""
    data = npy.read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    count = (len(data) - start) // struct.calcsize(code)
    return ["%08x" % (value & 0xffffffff) for value in struct.unpack_from("<%d%s" % (count, code), data, start)]


def prepare(kind):
    """Makes the files that all targets share for a kind of MODELS; returns the expected scores of the ten images, as words."""
    model, out = MODELS[kind], OUT / ("shared" + kind)
    out.mkdir(parents=True, exist_ok=True)
    images = []
    expected = []
    for digit in range(10):
        image = "examples/digits/digit_%d.png" % digit
        header = out / ("digit_%d.h" % digit)
        command([NNRT, "emit-c", model, "-o", header, "--name", "digits", "--input", image])
        text = header.read_text()
        images.append(re.search(r"digits_x0\[784\] = (\{.*?\});", text, re.S).group(1))
        command([NNRT, "run", model, "--device", "reference", "--input", image, "--output-dir", out / "scores"])
        expected.append(words_of(out / "scores" / "probabilities.npy", "b" if kind else "I"))
    (out / "digits_model.h").write_text((out / "digit_7.h").read_text())
    (out / "digit_images.h").write_text("typedef %s digit_value;\nstatic const digit_value digit_images[10][784] = {\n%s};\n" %
                                        ("int8_t" if kind else "float", ",\n".join(images)))
    command([NNRT, "convert", model, out / "digits.nnrt"])
    (out / "digits_nnrt.S").write_text(
        '.section .rodata.digits_nnrt, "a"\n.balign 64\n.global digits_nnrt, digits_nnrt_end\ndigits_nnrt:\n'
        '.incbin "%s"\ndigits_nnrt_end:\n' % (out / "digits.nnrt"))
    return expected


def build(name, compiler, kind, load):
    elf = OUT / (name + ".elf")
    out = OUT / ("shared" + kind)
    args = compiler + FLAGS + ["-I" + str(out), "-Wl,-Map=%s" % (OUT / (name + ".map"))]
    sources = [HERE / "main.c", HERE / "start.c"]
    if kind:
        args.append("-DFIRMWARE_INT8")
    if load:
        keep = [line for line in command([NNRT, "info", out / "digits.nnrt"]).splitlines() if line.startswith("keep")]
        args += ["-DFIRMWARE_LOAD=%d" % LOAD_BUFFER] + keep[0].split()[1:]
        sources.append(out / "digits_nnrt.S")
    command(args + sources + ["-lm", "-o", elf])
    return elf


def ops_parts():
    """Line numbers in nnrt_ops.h: begin of math, helpers, rules and kernels, and begin of the operator table."""
    first = last = 0
    for number, line in enumerate(pathlib.Path("nnrt_ops.h").read_text().splitlines(), 1):
        if line.startswith("/* >>math */"):
            first = number
        if line.startswith("/* The operator table, generated from the X-macro NNRT_OPS"):
            last = number
    if not 0 < first < last:
        sys.exit("firmware: nnrt_ops.h has lost the comments that separate kernels from the core")
    return first, last


def map_sections(path):
    """{(name, file): [address, bytes]} of the sections that the linker kept in flash, by its map."""
    found = {}
    text = path.read_text()
    text = text[text.index("Linker script and memory map"):]
    for hit in re.finditer(r"^ (\.(?:text|rodata|srodata|data|sdata|ARM\.exidx|board)\S*)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S+)$", text,
                           re.M):
        if int(hit.group(3), 16) > 0:
            found.setdefault((hit.group(1), hit.group(4)), [int(hit.group(2), 16), 0])[1] += int(hit.group(3), 16)
    return found


def places(prefix, elf):
    """{symbol: (file, line)} by the debug information."""
    found = {}
    for line in command([prefix + "nm", "-l", elf]).splitlines():
        hit = re.match(r"[0-9a-f]+ \w (\S+)\t(.*):(\d+)$", line)
        if hit:
            found[hit.group(1)] = (pathlib.Path(hit.group(2)).name, int(hit.group(3)))
    return found


def kind_of(section, origin, where, parts):
    symbol = re.sub(r"^\.(text|rodata|srodata|data|sdata)\.?", "", section)
    symbol = re.sub(r"^(startup|unlikely|hot)\.|\.str\d\.\d$", "", symbol)
    if symbol == "digits_selftest" or re.match(r"digits_[xy]\d+$", symbol):
        return "harness"
    if symbol == "digits_nnrt" or re.match(r"digits_(c|a|l|q|m)\d|digits_(args|steps|inputs|outputs|plan_data)$", symbol):
        return "model"
    if "lib" in pathlib.Path(origin).name:
        return "core" if re.search(r"mem(cpy|set|move)", origin) else "kernels"
    file, line = where.get(symbol, where.get(re.sub(r"\.(constprop|isra|part)\.\d+$", "", symbol), ("", 0)))
    if file in ("main.c", "start.c", "board.h", "digit_images.h"):
        return "harness"
    if file == "nnrt_ops.h" and parts[0] <= line < parts[1]:
        return "rules" if re.match(r"nnrti_rule_", symbol) else "kernels"
    if file == "" and re.match(r"nnrti_(members|struct|enum|kernels)_|nnrti_(ops|file_types|file_magic)", symbol):
        return "core"
    return "harness" if section.startswith(".board") or file == "" and "start" in origin else "core"


def core_literals(prefix, elf, where, parts):
    """Addresses that code of the core names, by the disassembler's comments."""
    found = set()
    core = False
    for line in command([prefix + "objdump", "-d", elf]).splitlines():
        hit = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if hit:
            core = kind_of(".text." + hit.group(1), "", where, parts) == "core"
        elif core:
            found.update(int(address, 16) for address in re.findall(r"# ([0-9a-f]+)\b", line))
    return found


def run(machine, elf):
    args = machine + ["-nographic", "-icount", "shift=0", "-semihosting-config", "enable=on,target=native", "-kernel", elf]
    done = subprocess.run(args, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    text = done.stdout + done.stderr
    figures = {name: int(value, 16) for name, value in re.findall(r"^(\w+)=([0-9a-f]{8})$", text, re.M)}
    scores = [line.split()[1:] for line in text.splitlines() if line.startswith("scores ")]
    return done.returncode, figures, scores, text


def forbidden(prefix, elf, int8, load):
    """Linked functions and used instructions that are not allowed."""
    rule = FORBIDDEN if not int8 else FORBIDDEN_INT8_LOAD if load else FORBIDDEN_INT8
    found = {symbol for symbol in where_all(prefix, elf) if rule.match(symbol)}
    if int8 and not load:
        found |= {line.split("\t")[-2] for line in command([prefix + "objdump", "-d", elf]).splitlines() if FPU.search(line)}
    return sorted(found)


def main():
    sizes = sys.argv[1:2] == ["--sizes"]
    wanted = sys.argv[1 + sizes:] or [name + kind + end for kind in MODELS for name in TARGETS for end in ("", "-load")]
    parted = [re.fullmatch(r"(.*?)(-int8)?(-load)?", name).groups(default="") for name in wanted]
    unknown = [name for name, (target, _, _) in zip(wanted, parted) if target not in TARGETS]
    if unknown:
        sys.exit("firmware: there is no target %s; there are %s, each also with -load, -int8 and -int8-load" %
                 (unknown[0], " ".join(TARGETS)))
    expected = {kind: prepare(kind) for kind in sorted({kind for _, kind, _ in parted})}
    parts = ops_parts()
    faults = 0
    remarks = []
    print("target\tcore\tkernels\tmodel\tarena\tstack\tinstructions", flush=True)
    for name, (target, kind, load) in zip(wanted, parted):
        compiler, machine = TARGETS[target]
        elf = build(name, compiler, kind, load)
        prefix = compiler[0].removesuffix("gcc")
        where = places(prefix, elf)
        bytes_of = dict.fromkeys(("core", "kernels", "rules", "model", "harness"), 0)
        lines = []
        for (section, origin), (start, size) in map_sections(OUT / (name + ".map")).items():
            share = {kind_of(section, origin, where, parts): size}
            literals = re.fullmatch(r"\.s?rodata\.cst(\d+)", section)
            if literals and "core" in share:
                width = int(literals.group(1))
                named = {(address - start) // width for address in core_literals(prefix, elf, where, parts)}
                core = width * len(named & set(range(size // width)))
                share = {"core": core, "kernels": size - core}
            for part, size in share.items():
                bytes_of[part] += size
                lines.append("%s\t%d\t%s\t%s" % (part, size, section, pathlib.Path(origin).name))
        (OUT / (name + ".tsv")).write_text("\n".join(sorted(lines)) + "\n")
        status, figures, scores, text = (0, {}, expected[kind], "") if sizes else run(machine, elf)
        print("%s\t%d\t%d\t%d\t%d\t%d\t%d" % (name, bytes_of["core"], bytes_of["kernels"] + bytes_of["rules"], bytes_of["model"],
                                          figures.get("arena", 0), figures.get("stack", 0),
                                          figures.get("instructions", 0)), flush=True)
        if load and not sizes:
            remarks.append("%s: kernels include %d bytes of shape rules; tables, plan and arena take %d bytes of RAM" %
                           (name, bytes_of["rules"], figures.get("buffer", 0)))
        if status != 0 or scores != expected[kind] or figures.get("selftest", 0) != 0:
            faults += 1
            agree = sum(a == b for a, b in zip(scores, expected[kind]))
            print("firmware: %s: status %d, %d of 10 images agree with the reference device\n%s" % (name, status, agree, text))
        if bytes_of["core"] > CORE.get(name, bytes_of["core"]):
            faults += 1
            print("firmware: %s: the core has %d bytes, more than %d" % (name, bytes_of["core"], CORE[name]))
        bad = forbidden(prefix, elf, kind != "", load != "")
        if bad:
            faults += 1
            print("firmware: %s: functions that no hot path may need are linked: %s" % (name, " ".join(bad)))
    for remark in remarks:
        print(remark)
    if faults:
        sys.exit("firmware: %d faults" % faults)
    print("%d targets link" % len(wanted) if sizes else
          "every score of %d targets has the bits of the reference device of this machine" % len(wanted))


def where_all(prefix, elf):
    return [line.split()[-1] for line in command([prefix + "nm", elf]).splitlines() if line.split()]


if __name__ == "__main__":
    main()
