#!/usr/bin/env python3
"""The keyword spotter on microcontrollers: builds firmware.c for each target, runs it in qemu on a sound, compares the words,
their times and scores with those of build/kws on this machine, and prints memory use and instructions.

usage: qemu.py [--sound FILE.wav] [--nnrt build/nnrt] [--kws build/kws] [--out FOLDER] [TARGET...]
       qemu.py ... --host    runs firmware.c on this machine instead, with sanitizers

Runs in the root of the repository.

Columns, in bytes: code of nnrt by gcc -O2, constants of the network, tables of the front end, RAM without the stack, the arena
in it, deepest stack. Then million instructions for a second of sound, of the front end and of the network, and instructions of
one run of the network.
"""
import argparse
import os
import pathlib
import re
import sys
import wave

sys.path[:0] = ["tests/firmware", "examples/firmware"]
import firmware  # noqa: E402  functions that integer firmware may not link
import mcu  # noqa: E402  targets, flags, qemu

HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path("build/kws-firmware")
MODEL = HERE / "kws_int8.onnx"
# board.h for this machine
HOST_BOARD = """#include <stdio.h>
#include <stdlib.h>
#define board_print(text) (void)fputs(text, stdout)
#define board_print_number(name, value) (void)printf("%s=%u\\n", name, (unsigned)(value))
#define board_exit(status) exit(status)
#define board_count() 0
#define board_count_start() (void)0
#define board_paint() (void)0
#define board_painted_over() 0
"""


def members():
    """The description of the front end in kws.h: [(member, value)]."""
    text = re.search(r"#define KWS_FRONTEND(.*\\\n)*.*", (HERE / "kws.h").read_text()).group()
    return [(name, value.rstrip("f")) for name, value in re.findall(r"X\((\w+), ([^)]+)\)", text)]


def runs_per_second():
    """Runs of the network for a second of sound, after the first one."""
    front = dict(members())
    step = re.search(r"KWS_STEP = (\d+)", (HERE / "kws.h").read_text()).group(1)
    return float(front["rate"]) / float(front["hop"]) / int(step)


def description():
    """The text for nnrt emit-frontend: members from kws.h, and the quantization parameters of the network's input."""
    header = (OUT / "net.h").read_text()
    scale = re.search(r"#define NET_FEATURES_SCALE (\S+)", header).group(1)
    zero = re.search(r"#define NET_FEATURES_ZERO_POINT \(?([-\d]+)", header).group(1)
    return ",".join("%s=%s" % member for member in
                    members() + [("output", "int8"), ("scale", scale.rstrip("f")), ("zeroPoint", zero)])


def samples_of(path):
    """The sound as an assembler file; the seconds of it."""
    with wave.open(str(path), "rb") as file:
        if file.getnchannels() != 1 or file.getsampwidth() != 2 or file.getframerate() != 16000:
            sys.exit("kws: %s must have one channel of 16-bit samples, 16000 per second" % path)
        count, data = file.getnframes(), file.readframes(file.getnframes())
    (OUT / "sound.bin").write_bytes(data)
    (OUT / "sound.S").write_text('.section .rodata.sound, "a"\n.balign 4\n.global sound, sound_end\nsound:\n'
                                 '.incbin "%s"\nsound_end:\n' % (OUT / "sound.bin"))
    return count / 16000


def emit(target):
    """The network, planned for a target, and the tables of the front end."""
    mcu.command([mcu.NNRT, "emit-c", MODEL, "--device", "mcu:" + target, "-o", OUT / "net.h", "--name", "net"])
    mcu.command([mcu.NNRT, "emit-frontend", description(), "-o", OUT / "mfcc.h", "--name", "mfcc"])


def run_on_host():
    """The output of firmware.c on this machine."""
    emit("host")
    folder = OUT / "host"
    folder.mkdir(exist_ok=True)
    (folder / "board.h").write_text(HOST_BOARD)
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    mcu.command(os.environ.get("CC", "cc").split() + ["-std=c99", "-O1"] + sanitize + mcu.keep_of(MODEL) +
                ["-I.", "-I" + str(folder), "-I" + str(OUT), "-I" + str(HERE)] +
                [HERE / "firmware.c", OUT / "sound.S", "-o", folder / "firmware"])
    return mcu.command([folder / "firmware"])


def build(target):
    """The program for a target."""
    compiler, _ = mcu.TARGETS[target]
    emit(target)
    elf = OUT / (target + ".elf")
    mcu.command(compiler + mcu.FLAGS + ["-O2", "-I" + str(OUT), "-I" + str(HERE)] + mcu.keep_of(MODEL) +
                [HERE / "firmware.c", mcu.BOARD / "start.c", OUT / "sound.S", "-lm", "-o", elf])
    return elf


def sizes(prefix, elf):
    """Bytes of nnrt's functions, of the network's constants, and of the front end's."""
    rows = re.findall(r"^ *\d+: [0-9a-f]+ +(\d+) (FUNC|OBJECT) .* (\S+)$", mcu.command([prefix + "readelf", "-sW", elf]), re.M)
    code = sum(int(size) for size, kind, name in rows if kind == "FUNC" and not re.match("board|print|main", name))
    network = sum(int(size) for size, kind, name in rows if kind == "OBJECT" and re.match("net_(?![xy]\\d)", name))
    tables = sum(int(size) for size, kind, name in rows if kind == "OBJECT" and name.startswith("mfcc"))
    return code, network, tables


def forbidden(target, prefix, elf):
    """Functions of floating-point arithmetic, 64-bit division and the C library except for memmove, and instructions of the
    FPU. MVE has the same names for integers."""
    found = set(firmware.forbidden(prefix, elf, True, False)) - {"memmove"}
    return sorted(name for name in found if target != "cortex-m55" or firmware.FORBIDDEN_INT8.match(name))


def words_of(output):
    """The board's words in the form of build/kws."""
    found = re.findall(r"^word (\w+)\nsample=(\d+)\nmean=(\d+)$", output, re.M)
    return ["%7.2f s  %-5s %3d %%" % (int(sample) / 16000, word, int(mean) * 100 // 256) for word, sample, mean in found]


def measure(target, expected, seconds):
    """Runs a target and prints its line; returns whether it has the expected words."""
    elf = build(target)
    status, output = mcu.emulate(mcu.TARGETS[target][1], elf, "-icount", "shift=0")
    prefix = mcu.TARGETS[target][0][0].removesuffix("gcc")
    found = forbidden(target, prefix, elf)
    if status != 0 or words_of(output) != expected or found:
        print("kws: %s: status %d, functions that it may not link: %s; expected %s\n%s" %
              (target, status, " ".join(found) or "none", expected, output))
        return False
    f = {name: int(value) for name, value in re.findall(r"^(\w+)=(\d+)$", output, re.M)}
    run = f["network"] / f["runs"]
    print("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.2f\t%d" %
          (target, *sizes(prefix, elf), f["ram"], f["arena"], f["stack"], f["features"] / seconds / 1e6,
           run * runs_per_second() / 1e6, run), flush=True)
    return True


def main():
    """Builds, runs and compares each target."""
    global OUT
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--sound", default=HERE / "words.wav")
    parser.add_argument("--nnrt", default=mcu.NNRT)
    parser.add_argument("--kws", default="build/kws")
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("targets", nargs="*", default=["cortex-m4", "cortex-m55"])
    args = parser.parse_args()
    OUT, mcu.NNRT = args.out, args.nnrt
    OUT.mkdir(parents=True, exist_ok=True)
    seconds = samples_of(args.sound)
    expected = [line for line in mcu.command([args.kws, args.sound]).splitlines() if line.endswith("%") and " s  " in line]
    if args.host:
        good = words_of(run_on_host()) == expected
    else:
        print("target\tcode\tnetwork\ttables\tram\tarena\tstack\tfront end, M/s\tnetwork, M/s\tper run", flush=True)
        good = all([measure(target, expected, seconds) for target in args.targets])
    if not good:
        sys.exit("kws: the words, times or scores differ from this machine's: %s" % expected)
    words = " ".join(line.split()[2] for line in expected)
    print("the same %d words, times and scores as on this machine: %s" % (len(expected), words))


if __name__ == "__main__":
    main()
