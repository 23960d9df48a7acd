#!/usr/bin/env python3
"""Silero VAD on microcontrollers: builds firmware.c for each target, runs it in qemu on a sound, and compares each probability
with that of build/vad-stream on this machine. Runs in the root of the repository.

usage: qemu.py [--sound FILE.wav] [--device DEVICE] [--exact] [--nnrt PROGRAM] [--stream PROGRAM] [--out FOLDER] [TARGET...]
       qemu.py ... --host    runs firmware.c on this machine instead, with sanitizers

--device: of nnrt emit-c, default mcu:TARGET. --exact: probabilities must have the same bits, not only differ by at most 1e-5.

Columns, in bytes: flash without the sound, code of nnrt by gcc -O2 in it, weights in it; RAM without the stack, deepest stack.
Then million instructions of a run, for 32 ms of sound, and the largest difference.
"""
import argparse
import os
import pathlib
import re
import struct
import sys
import wave

sys.path[:0] = ["tests/firmware", "examples/kws"]
import mcu  # noqa: E402  targets, flags, qemu
from qemu import HOST_BOARD  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MODEL = "build/vad-data/silero_vad_v5.onnx"
FIXED = ["--shape", "input=1,576", "--shape", "state=2,1,128", "--fix", "sr=16000", "--state", "state=stateN"]


def write_sound(path, out):
    """Writes the sound, filled up with silence to whole pieces, as an assembler file; returns its bytes."""
    with wave.open(str(path), "rb") as file:
        if file.getparams()[:3] != (1, 2, 16000):
            sys.exit("vad: %s must have one channel of 16-bit samples, 16000 per second" % path)
        data = file.readframes(file.getnframes())
    (out / "sound.bin").write_bytes(data + bytes(-len(data) % 1024))
    (out / "sound.S").write_text('.section .rodata.sound, "a"\n.balign 4\n.global sound, sound_end\nsound:\n'
                                 '.incbin "%s"\nsound_end:\n' % (out / "sound.bin"))
    return len(data) + -len(data) % 1024


def run(target, args):
    """Builds and runs firmware.c; returns its output and the program."""
    mcu.command([args.nnrt, "emit-c", args.model, *FIXED, "--device", args.device or "mcu:" + target, "-o", args.out / "net.h",
                 "--name", "net"])
    elf = args.out / (target + ".elf")
    sources = [HERE / "firmware.c", args.out / "sound.S", "-lm", "-o", elf]
    if target == "host":
        (args.out / "board.h").write_text(HOST_BOARD)
        mcu.command(os.environ.get("CC", "cc").split() + ["-std=c99", "-O1", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all", "-I.", "-I" + str(args.out), *sources])
        return mcu.command([elf]), elf
    (args.out / "board.h").unlink(missing_ok=True)
    compiler, machine = mcu.TARGETS[target]
    mcu.command(compiler + mcu.FLAGS + ["-O2", "-I" + str(args.out), mcu.BOARD / "start.c", *sources])
    status, output = mcu.emulate(machine, elf, "-icount", "shift=0")
    if status != 0:
        sys.exit("vad: %s: status %d\n%s" % (target, status, output))
    return output, elf


def describe(target, output, elf, out, runs, sound):
    """Prints the line of a target."""
    f = {name: int(value) for name, value in re.findall(r"^(\w+)=(\d+)$", output, re.M)}
    prefix = mcu.TARGETS[target][0][0].removesuffix("gcc")
    text, data = map(int, mcu.command([prefix + "size", elf]).splitlines()[1].split()[:2])
    weights = re.search(r"^   weights  (\d+) bytes", (out / "net.h").read_text(), re.M).group(1)
    print("%s\t%d\t%d\t%s\t%d\t%d\t%.2f" % (target, text + data - sound, mcu.code_bytes(prefix, elf, r"nnrt|net_"), weights,
                                          f["ram"], f["stack"], f["kiloinstructions"] / runs / 1000), end="\t", flush=True)


def main():
    """Builds, runs and compares each target."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--sound", default="examples/kws/words.wav")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--device")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--nnrt", default=mcu.NNRT)
    parser.add_argument("--stream", default="build/vad-stream")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/vad-firmware"))
    parser.add_argument("--host", action="store_true")
    parser.add_argument("targets", nargs="*", default=["cortex-m7"])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    sound = write_sound(args.sound, args.out)
    # decimals of nine digits, rounded to float32
    expected = [struct.unpack("f", struct.pack("f", float(line)))[0]
                for line in mcu.command([args.stream, args.model, args.sound]).split()]
    if not args.host:
        print("target\tflash\tcode\tweights\tram\tstack\tmillion\tdifference")
    for target in ["host"] if args.host else args.targets:
        output, elf = run(target, args)
        found = [struct.unpack("f", struct.pack("I", int(bits)))[0] for bits in re.findall(r"^probability=(\d+)$", output, re.M)]
        if not args.host:
            describe(target, output, elf, args.out, len(found), sound)
        worst = max(abs(a - b) for a, b in zip(found, expected)) if len(found) == len(expected) else 9
        print("%.1e" % worst, flush=True)
        if worst > (0 if args.exact else 1e-5):
            sys.exit("vad: the probabilities differ from this machine's by %g\n%s" % (worst, output))
    print("the same %d probabilities as on this machine, from %.3f to %.3f" % (len(expected), min(expected), max(expected)))


if __name__ == "__main__":
    main()
