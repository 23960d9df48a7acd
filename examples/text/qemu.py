#!/usr/bin/env python3
"""The language model of this folder on microcontrollers: builds firmware.c for each target, runs it in qemu, compares its tokens with
those of nnrt generate on this machine, and prints memory use, instructions and the text.

usage: qemu.py [--prompt TEXT] [--tokens N] [--context N] [--model FILE] [--nnrt build/nnrt] [--out FOLDER] [TARGET...]
       qemu.py ... --host    runs firmware.c on this machine instead, with sanitizers

Runs in the root of the repository.

Columns, in bytes: code of nnrt by gcc -O2, weights and plan in flash, RAM without the stack, the keys and values in it, the arena in
it, deepest stack. Then million instructions of a token.
"""
import argparse
import json
import os
import pathlib
import re
import sys

sys.path[:0] = ["tests/firmware", "examples/kws"]
import mcu  # noqa: E402  targets, flags, qemu
from qemu import HOST_BOARD  # noqa: E402  of the keyword spotter

HERE = pathlib.Path(__file__).resolve().parent
PENALTY = "1.25"


def nnrt(args, *words):
    return mcu.command([args.nnrt, *words])


def emit(args, target, ids):
    """The model with a cache of args.context tokens, planned for one token in a run, and the prompt."""
    nnrt(args, "convert", args.model, args.out / "writer.nnrt", "--context", args.context)
    nnrt(args, "emit-c", args.out / "writer.nnrt", "--shape", "input_ids=1,1", "--device", "mcu:" + target, "-o",
            args.out / "writer.h", "--name", "writer")
    vocabulary = re.search(r"^   output   logits  float32\[1,1,(\d+)\]$", (args.out / "writer.h").read_text(), re.M).group(1)
    (args.out / "prompt.h").write_text("static const int64_t writer_prompt[] = {%s};\n#define WRITER_TOKENS %d\n"
                                       "#define WRITER_PENALTY %sf\n#define WRITER_VOCABULARY %s\n" %
                                       (ids, args.tokens, PENALTY, vocabulary))


def run(args, target, ids):
    """Builds and runs firmware.c; returns its output and the program."""
    emit(args, target, ids)
    elf = args.out / (target + ".elf")
    flags = [flag for flag in mcu.FLAGS if "MAX_RANK" not in flag] + ["-DNNRT_MAX_RANK=5", "-I" + str(args.out)]
    if target == "host":
        (args.out / "board.h").write_text(HOST_BOARD)
        mcu.command(os.environ.get("CC", "cc").split() + ["-std=c99", "-O1", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all", "-I.", "-I" + str(args.out), HERE / "firmware.c", "-o", elf, "-lm"])
        return mcu.command([elf]), elf
    (args.out / "board.h").unlink(missing_ok=True)
    compiler, machine = mcu.TARGETS[target]
    mcu.command(compiler + flags + ["-O2", HERE / "firmware.c", mcu.BOARD / "start.c", "-lm", "-o", elf])
    status, output = mcu.emulate(machine, elf, "-icount", "shift=0")
    if status != 0:
        sys.exit("text: %s: status %d\n%s" % (target, status, output))
    return output, elf


def main():
    """Builds, runs and compares each target."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--prompt", default="It is a truth universally acknowledged, that")
    parser.add_argument("--tokens", type=int, default=80)
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--model", default=HERE / "model.gguf")
    parser.add_argument("--nnrt", default=mcu.NNRT)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/text-firmware"))
    parser.add_argument("--host", action="store_true")
    parser.add_argument("targets", nargs="*", default=["cortex-m7"])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    ids = nnrt(args, "tokenize", args.model, "--text", args.prompt).strip()
    expected = {device: json.loads(nnrt(args, "generate", args.model, "--ids", ids, "--tokens", args.tokens, "--context",
                                           args.context, "--repeat-penalty", PENALTY, "--json", *device))["tokens"]
                for device in ((), ("--device", "reference"))}
    if not args.host:
        print("target\tcode\tflash\tram\tstate\tarena\tstack\tM instructions", flush=True)
    for target in ["host"] if args.host else args.targets:
        output, elf = run(args, target, ids)
        tokens = [int(token) for token in re.findall(r"^token=(\d+)$", output, re.M)]
        f = {name: int(value) for name, value in re.findall(r"^(\w+)=(\d+)$", output, re.M)}
        for device, wanted in expected.items():
            if tokens != wanted:
                sys.exit("text: %s: tokens %s; nnrt generate %s has %s" % (target, tokens, " ".join(device), wanted))
        if not args.host:
            prefix = mcu.TARGETS[target][0][0].removesuffix("gcc")
            flash = sum(map(int, mcu.command([prefix + "size", elf]).splitlines()[1].split()[:2]))
            code = mcu.code_bytes(prefix, elf, "nnrt|writer_")
            print("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f" % (target, code, flash, f["ram"], f["state"], f["arena"], f["stack"],
                                                    f["instructions"] / 1e6), flush=True)
    print("the same %d tokens as nnrt generate" % args.tokens)
    print(args.prompt + nnrt(args, "tokenize", args.model, "--decode", ",".join(map(str, tokens))).rstrip("\n"))


if __name__ == "__main__":
    main()
