#!/usr/bin/env python3
"""Links every operator alone for a Cortex-M4 and lists its size: bytes of its kernels for float32, int8, uint8, int32 and bool
(of IF and LOOP: of the functions that run their subgraphs) and of its shape rule, and their calls of double arithmetic
(__aeabi_dadd, ..), 64-bit division (__aeabi_ldivmod, ..) and the C library. A model as C contains the kernels; a model planned
on the device also needs the shape rules.

tests/firmware/single.txt lists the kernels that make such calls, with the reason. Any other kernel with such a call fails, and so does
an outdated line of that file. The same holds for kernels for quantized int8 and uint8, nnrt_NAME_q8, each linked alone for a
Cortex-M0+, which has no floating-point unit: none calls float arithmetic except those in the file.

usage: single.py [NAME...]      from anywhere; arm-none-eabi-gcc is needed
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPU = ["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
WITHOUT_FLOAT = ["-mthumb", "-mcpu=cortex-m0plus"]
SOURCE = """#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_MAX_RANK 4
#define NNRT_KEEP_TYPES \\
    (NNRT_TYPES_F32 | NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I32 | NNRT_TYPES_BOOL | NNRT_TYPES_QUANT(NNRT_TYPES_INT))
#include "core/nnrt_plan.h"
#define KERNELS(name, number, S, whose, rule, ...) \\
    extern const nnrt_kernel_row *const single_kernels_##name; \\
    extern NNRT_ReturnCode (*const single_rule_##name)(nnrt_resolve *); \\
    const nnrt_kernel_row *const single_kernels_##name = nnrti_kernels_##name; \\
    NNRT_ReturnCode (*const single_rule_##name)(nnrt_resolve *) = nnrti_rule_##rule;
#define NOTHING(...)
NNRT_OPS(KERNELS, NOTHING)
"""
# functions that run the subgraphs of an operator in a model as C: no kernel of its row
RUNS = {"IF": "nnrt_plan_if", "LOOP": "nnrt_plan_loop"}
KINDS = {"double": r"__aeabi_(c?d\w+|[iu]2d|u?l2d|f2d)", "division": r"__aeabi_u?ldivmod|__u?(div|mod)di3",
         "library": r"(?!mem(cpy|set|move)$)[a-z]\w*", "float": r"__aeabi_(c?f\w+|[iu]2f|u?l2f)"}


def call(*command):
    """Output of a command."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Linker:
    """Sections of an object file that ld --gc-sections would keep: every function and table is a section of its own."""

    def __init__(self, path):
        self.size = {name: int(size, 16) for name, size in
                     re.findall(r"^ *\d+ (\S+) +([0-9a-f]{8}) ", call("arm-none-eabi-objdump", "-h", path), re.M)}
        self.section = {name: section for section, name in
                        re.findall(r"^[0-9a-f]{8} .{7} (\S+)\t[0-9a-f]{8} (\S+)$", call("arm-none-eabi-objdump", "-t", path), re.M)}
        self.uses, section = {}, None
        for line in call("arm-none-eabi-objdump", "-r", path).splitlines():
            head = re.match(r"RELOCATION RECORDS FOR \[(\S+)\]:", line)
            entry = re.match(r"[0-9a-f]{8} (R_ARM_\w+) +(\S+)", line)
            if head:
                section = head.group(1)
            elif entry and entry.group(1) != "R_ARM_NONE":
                self.uses.setdefault(section, set()).add(re.sub(r"[+-]0x[0-9a-f]+$", "", entry.group(2)))

    def link(self, root):
        """Bytes reachable from the symbol `root`, and the external functions that are called, by kind."""
        todo, kept, outside = [self.section[root]], set(), set()
        while todo:
            section = todo.pop()
            if section in kept:
                continue
            kept.add(section)
            for name in self.uses.get(section, ()):
                to = self.section.get(name, name if name in self.size else "*UND*")
                if to == "*UND*":
                    outside.add(name)
                else:
                    todo.append(to)
        return (sum(self.size[section] for section in kept),
                {kind: {n for n in outside if re.fullmatch(pattern, n)} for kind, pattern in KINDS.items()})


def compiled(folder, name, cpu):
    """All operators as an object file, for that processor."""
    call("arm-none-eabi-gcc", "-std=c99", "-Os", "-fno-math-errno", *cpu, "-ffunction-sections", "-fdata-sections", "-w", "-I", str(ROOT),
         "-c", "-o", str(folder / name), str(folder / "all.c"))
    return Linker(str(folder / name))


class Verdicts:
    """Counts agreements with tests/firmware/single.txt and prints differences."""

    def __init__(self):
        text = (ROOT / "tests/firmware/single.txt").read_text(encoding="ascii")
        lines = [key.split() for key in re.findall(r"^(\w+(?: [a-z]+)+): .+$", text, re.M)]
        self.reasons = {(key[0], kind) for key in lines for kind in key[1:]}
        self.passed = self.failed = 0

    def known(self, names):
        """The file has no line for an operator that does not exist."""
        for name in sorted({name for name, _ in self.reasons} - set(names)):
            self.failed += 1
            print("FAIL tests/firmware/single.txt: there is no %s" % name)

    def judge(self, name, kind, calls):
        """Calls of one kind by the kernels of that name."""
        if bool(calls) == ((name, kind) in self.reasons):
            self.passed += 1
            return
        self.failed += 1
        print("FAIL %s: its kernels call %s" % (name, " ".join(sorted(calls)) if calls else
                                                 "nothing of kind '%s', as tests/firmware/single.txt says they do" % kind))


def main():
    """Prints the table and the differences from the list."""
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "all.c").write_text(SOURCE, encoding="ascii")
        linker = compiled(folder, "all.o", CPU)
        plain = compiled(folder, "plain.o", WITHOUT_FLOAT)
    names = [name[len("single_kernels_"):] for name in linker.section if name.startswith("single_kernels_")]
    quantised = [name for name in plain.section if re.fullmatch(r"nnrt_\w+_q8", name)]
    verdicts.known(names + quantised)
    print("%-32s %7s %7s  %s" % ("operator", "kernels", "rule", "what the kernels call; the rule: ..."))
    for name in sorted(names):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        size, kernels = linker.link(RUNS.get(name, "single_kernels_" + name))
        rule_size, rule = linker.link("single_rule_" + name)
        of_rule = sorted(set().union(*rule.values()))
        print("%-32s %7d %7d  %s%s" % (name, size, rule_size, " ".join(sorted(set().union(*kernels.values()))),
                                       "; the rule: " + " ".join(of_rule) if of_rule else ""))
        for kind in ("double", "division", "library"):
            verdicts.judge(name, kind, kernels[kind])
    for name in sorted(quantised) if not sys.argv[1:] else []:
        size, kernels = plain.link(name)
        print("%-40s %7d  %s" % (name, size, " ".join(sorted(set().union(*kernels.values())))))
        verdicts.judge(name, "float", kernels["float"] | kernels["double"])
    print("%d passed, %d failed" % (verdicts.passed, verdicts.failed))
    return int(verdicts.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
