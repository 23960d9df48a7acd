#!/usr/bin/env python3
"""The keyword spotter on microcontrollers: builds firmware.c for each target, runs it in qemu on a sound, compares the words,
their times and scores with those of build/kws on this machine, and prints memory use and instructions.

usage: qemu.py [--sound FILE.wav] [TARGET...]    run from the root of the repository; needs build/nnrt and build/kws

Columns, in bytes: code of nnrt by gcc -O2, constants of the network, tables of the front end, RAM without the stack, the arena
in it, deepest stack. Then million instructions for a second of sound, of the front end and of the network, and instructions of
one run of the network.
"""
import argparse
import pathlib
import re
import sys
import wave

sys.path[:0] = ["tests", "examples/firmware"]
import firmware  # noqa: E402  functions that integer firmware may not link
import mcu  # noqa: E402  targets, flags, qemu

HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path("build/kws-firmware")
MODEL = HERE / "kws_int8.onnx"


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


def build(target):
    """The program for a target, with the network planned for it."""
    compiler, _ = mcu.TARGETS[target]
    mcu.command([mcu.NNRT, "emit-c", MODEL, "--device", "mcu:" + target, "-o", OUT / "net.h", "--name", "net"])
    mcu.command([mcu.NNRT, "emit-frontend", description(), "-o", OUT / "mfcc.h", "--name", "mfcc"])
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


def main():
    """Builds, runs and compares each target."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--sound", default=HERE / "words.wav")
    parser.add_argument("targets", nargs="*", default=["cortex-m4", "cortex-m55"])
    args = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    seconds = samples_of(args.sound)
    expected = [line for line in mcu.command(["build/kws", args.sound]).splitlines() if line.endswith("%") and " s  " in line]
    faults = 0
    print("target\tcode\tnetwork\ttables\tram\tarena\tstack\tfront end, M/s\tnetwork, M/s\tper run", flush=True)
    for target in args.targets:
        elf = build(target)
        status, output = mcu.emulate(mcu.TARGETS[target][1], elf, "-icount", "shift=0")
        prefix = mcu.TARGETS[target][0][0].removesuffix("gcc")
        code, network, tables = sizes(prefix, elf)
        floats = forbidden(target, prefix, elf)
        f = {name: int(value) for name, value in re.findall(r"^(\w+)=(\d+)$", output, re.M)}
        if status != 0 or words_of(output) != expected or floats:
            faults += 1
            print("kws: %s: status %d, functions that it may not link: %s; expected %s\n%s" %
                  (target, status, " ".join(floats) or "none", expected, output))
            continue
        print("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.2f\t%d" %
              (target, code, network, tables, f["ram"], f["arena"], f["stack"], f["features"] / seconds / 1e6,
               f["network"] / f["runs"] * runs_per_second() / 1e6, f["network"] / f["runs"]), flush=True)
    if faults:
        sys.exit("kws: %d of %d targets failed" % (faults, len(args.targets)))
    words = " ".join(line.split()[2] for line in expected)
    print("the same %d words, times and scores as on this machine: %s" % (len(expected), words))


if __name__ == "__main__":
    main()
