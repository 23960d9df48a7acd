#!/usr/bin/env python3
"""Links every operator alone for a Cortex-M4 and lists what it takes: bytes of its kernels for float32, int8, uint8, int32
and bool (of IF and LOOP: of what runs their subgraphs), and of its shape rule, and what these call of double arithmetic
(__aeabi_dadd, ..), division of 64 bits (__aeabi_ldivmod, ..) and the C library. The kernels are what a model as C has; the
rule comes to them where a model is planned on the device.

Of the kernels, tests/single.txt says which call such and why their definition needs it; any other one fails, and so does
a line of that file that is not true any more.

usage: single.py [NAME...]      from anywhere; arm-none-eabi-gcc is needed
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPU = ["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
SOURCE = """#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_MAX_RANK 4
#define NNRT_KEEP_TYPES \\
    (NNRT_TYPES_F32 | NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I32 | NNRT_TYPES_BOOL | NNRT_TYPES_QUANT(NNRT_TYPES_INT))
#include "nnrt_hal.h"
#define KERNELS(name, number, S, whose, rule, ...) \\
    extern const nnrt_kernel_row *const single_kernels_##name; \\
    extern NNRT_ReturnCode (*const single_rule_##name)(nnrt_resolve *); \\
    const nnrt_kernel_row *const single_kernels_##name = nnrti_kernels_##name; \\
    NNRT_ReturnCode (*const single_rule_##name)(nnrt_resolve *) = nnrti_rule_##rule;
#define NOTHING(...)
NNRT_OPS(KERNELS, NOTHING)
"""
# what runs the subgraphs of an operator in a model as C: no kernel of its row
RUNS = {"IF": "nnrt_plan_if", "LOOP": "nnrt_plan_loop"}
KINDS = {"double": r"__aeabi_(c?d\w+|[iu]2d|u?l2d|f2d)", "division": r"__aeabi_u?ldivmod|__u?(div|mod)di3",
         "library": r"(?!mem(cpy|set|move)$)[a-z]\w*"}


def call(*command):
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Linker:
    """What ld --gc-sections would keep of an object file: every function and table is a section of its own."""

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
        """Bytes that are needed from the symbol `root` on, and what is called from outside, of each kind."""
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


def main():
    """Prints the table and what is not as the list says."""
    reasons = dict(re.findall(r"^([A-Z0-9_]+(?: [a-z]+)+): (.+)$", (ROOT / "tests/single.txt").read_text(encoding="ascii"), re.M))
    reasons = {tuple(key.split()): why for key, why in reasons.items()}
    reasons = {(key[0], kind): why for key, why in reasons.items() for kind in key[1:]}
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "all.c").write_text(SOURCE, encoding="ascii")
        call("arm-none-eabi-gcc", "-std=c99", "-Os", "-fno-math-errno", *CPU, "-ffunction-sections", "-fdata-sections", "-w", "-I", str(ROOT), "-c",
             "-o", str(scratch / "all.o"), str(scratch / "all.c"))
        linker = Linker(str(scratch / "all.o"))
        names = [name[len("single_kernels_"):] for name in linker.section if name.startswith("single_kernels_")]
        for known in {name for name, _ in reasons} - set(names):
            print("FAIL tests/single.txt: there is no operator %s" % known)
            failed += 1
        print("%-32s %7s %7s  %s" % ("operator", "kernels", "rule", "what the kernels call; the rule: ..."))
        for name in sorted(names):
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            size, kernels = linker.link(RUNS.get(name, "single_kernels_" + name))
            rule_size, rule = linker.link("single_rule_" + name)
            of_rule = sorted(set().union(*rule.values()))
            print("%-32s %7d %7d  %s%s" % (name, size, rule_size, " ".join(sorted(set().union(*kernels.values()))),
                                           "; the rule: " + " ".join(of_rule) if of_rule else ""))
            for kind, calls in kernels.items():
                if bool(calls) == ((name, kind) in reasons):
                    passed += 1
                    continue
                failed += 1
                print("FAIL %s: its kernels call %s" % (name, " ".join(sorted(calls)) if calls else
                                                         "nothing of kind '%s', as tests/single.txt says they do" % kind))
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
