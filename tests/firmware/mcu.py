#!/usr/bin/env python3
"""Quantized and float32 layers and networks on microcontrollers: instructions in qemu, checked against this machine's results.

    mcu.py layers [TARGET ...]           each layer of tests/firmware/mcu_layers.c, beside targets (make mcu-layers)
    mcu.py networks FOLDER [TARGET ...]  the networks of MLPerf Tiny in FOLDER, NAME_qdq.onnx, NAME.onnx (make mlperf-tiny)
    mcu.py random COUNT [TARGET ...]     random layers: not slower than the reference kernels, near the figures
    mcu.py graphs COUNT [TARGET ...]     random networks of tests/firmware/mcu_graphs.h: this machine's bits
    mcu.py vectors [TARGET ...]          quantized cases of tests/ops/vectors: this machine's bits of the reference device
    mcu.py model FILE [TARGET ...]       one model
    mcu.py estimates FOLDER              networks of tests/firmware/instructions.tsv (those of tests/bench/models.py in
                                         FOLDER): counts again, beside the estimate of nnrt info; --write: into the file

Options: --device DEVICE (default mcu:TARGET), --optimize -O2, --small, --io (emit-c --int8-io),
--float (layers, networks and random layers in float32; networks NAME.onnx), --verbose (each random layer).

qemu counts an instruction as a nanosecond (-icount shift=0), so figures are instructions, not cycles: flash wait states
and multi-cycle instructions do not count.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

BOARD = pathlib.Path("examples/firmware")
OUT = pathlib.Path("build/mcu")
COUNTS = pathlib.Path("tests/firmware/instructions.tsv")
ESTIMATE = 0.9, 1.1  # of nnrt info: the range of its ratio to counted instructions
NNRT = "build/nnrt"
ARM = ["arm-none-eabi-gcc", "-mthumb", "--specs=nano.specs", "-T", str(BOARD / "arm.ld")]
RISCV = ["riscv64-unknown-elf-gcc", "-mabi=ilp32", "--specs=picolibc.specs", "-T", str(BOARD / "riscv.ld"), "-mcmodel=medany"]
FPV4 = ["-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
FPV5 = ["-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"]
# name: compiler, machine
TARGETS = {
    "cortex-m0plus": (ARM + ["-mcpu=cortex-m0plus"], ["qemu-system-arm", "-M", "mps2-an385"]),
    "cortex-m3": (ARM + ["-mcpu=cortex-m3"], ["qemu-system-arm", "-M", "mps2-an385"]),
    "cortex-m4": (ARM + ["-mcpu=cortex-m4"] + FPV4, ["qemu-system-arm", "-M", "mps2-an386"]),
    "cortex-m7": (ARM + ["-mcpu=cortex-m7"] + FPV5, ["qemu-system-arm", "-M", "mps2-an500"]),
    # constants in DRAM, as flash has 512 KB
    "cortex-m55": (ARM + ["-mcpu=cortex-m55", "-mfloat-abi=hard", "-Wl,--defsym=board_bytes=0x80000",
                          "-DMODEL_DATA=__attribute__((section(\".model\")))", "-Wl,--section-start=.model=0x60000000"],
                   ["qemu-system-arm", "-M", "mps3-an547"]),
    "rv32": (RISCV + ["-march=rv32imc"], ["qemu-system-riscv32", "-M", "virt", "-bios", "none"]),
}
FLAGS = ["-std=c99", "-g", "-ffreestanding", "-ffunction-sections", "-fdata-sections", "-fno-common", "-Wall", "-Wextra",
         "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror", "-DNNRT_MAX_RANK=4", "-I.", "-I" + str(BOARD),
         "-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]
# Instructions per unit of work that a target should not exceed.
WANTED = {
    "cortex-m4": {"conv 3x3 16x16x16": 1.6, "conv 1x1 25x5x64": 1.5, "full 640 to 128": 1.3, "conv 3x3 32x32x3": 2.5,
                  "conv 10x4/2 49x10x1": 2.0, "depthwise 3x3 25x5x64": 4.5, "depthwise 3x3/2 48x48x16": 4.5,
                  "depthwise 3x3 6x6x128": 4.5, "add 16x16x16": 20},
    "cortex-m0plus": {"conv 3x3 16x16x16": 6, "conv 1x1 25x5x64": 5.5, "depthwise 3x3 25x5x64": 14},
    "rv32": {"conv 3x3 16x16x16": 4.5, "conv 1x1 25x5x64": 4, "depthwise 3x3 25x5x64": 10},
    "cortex-m55": {"conv 3x3 16x16x16": 0.31, "conv 3x3 32x32x3": 0.9, "conv 3x3/2 16x16x32": 0.19, "conv 10x4/2 49x10x1": 0.6,
                   "conv 1x1 25x5x64": 0.32, "conv 1x1 6x6x128": 0.22, "conv 1x1 48x48x8": 1.4, "depthwise 3x3 25x5x64": 1.86,
                   "depthwise 3x3/2 48x48x16": 1.86, "depthwise 3x3 6x6x128": 1.86, "depthwise 5x5 12x12x32": 1.6,
                   "full 640 to 128": 0.25, "add 16x16x16": 8, "max pool 2x2 16x16x16": 1, "average pool 25x5x64": 1.3},
}
# The same for float32, of a target with an FPU.
WANTED_FLOAT = {
    "cortex-m4": {"conv 3x3 16x16x16": 2, "conv 3x3 32x32x3": 2, "conv 3x3/2 16x16x32": 2, "conv 10x4/2 49x10x1": 2,
                  "conv 1x1 25x5x64": 2, "conv 1x1 6x6x128": 2, "full 640 to 128": 2},
}
# Bytes of code that the layers which CMSIS-NN was measured with should not exceed together, and their names.
CODE = {"cortex-m4": [("-O2", False, 16384), ("-Os", True, 9216)]}
COMPARED = ("conv 3x3 16x16x16|conv 3x3 32x32x3|conv 3x3/2 16x16x32|conv 10x4/2 49x10x1|conv 1x1 25x5x64|conv 1x1 6x6x128|"
            "conv 1x1 48x48x8|depthwise .*|full .*|add 16x16x16|max pool .*|average pool .*|softmax .*")
INTEGER = "16x8|concat|requantize|quantize|dequantize"  # layers that have no form in float32
# multiply-accumulates; most instructions per MAC on cortex-m4 and bytes of arena, in int8
NETWORKS = {"resnet8_cifar": (12501632, 1.6, 36864), "dscnn_kws": (2656768, 1.9, 11264),
            "mobilenet_v1_025_vww": (7489664, 1.9, 40960), "fc_autoencoder": (264192, 1.5, None)}


def command(args, **more):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit("mcu: %s\nfailed with status %d\n%s" %
                 (" ".join(map(str, args)), done.returncode, "\n".join((done.stdout + done.stderr).splitlines()[:30])))
    return done.stdout


def emulate(machine, elf, *options):
    """Runs a program in qemu; returns its status and its output."""
    done = subprocess.run(machine + ["-nographic", *options, "-semihosting-config", "enable=on,target=native", "-kernel",
                                     str(elf)], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def write_io(header, folder):
    """io.h: the arrays of the self-test as a list of addresses, and a comparison of the results."""
    found = re.findall(r"^static const \w+ (\w+) model_([xy])(\d+)\[(\d+)\] = ", header, re.M)
    inputs = ["(void *)(uintptr_t)model_x" + number for _, kind, number, _ in found if kind == "x"]
    outputs = [(kind, number, count) for kind, role, number, count in found if role == "y"]
    lines = ["static %s result%s[%s];" % (kind, number, count) for kind, number, count in outputs]
    lines.append("static void *const model_io[] = {%s};" % ", ".join(inputs + ["result" + n for _, n, _ in outputs]))
    lines.append("static uint32_t model_wrong(void)\n{\n    uint32_t wrong = 0;")
    for _, number, _ in outputs:
        lines.append("    for (size_t i = 0; i < sizeof(result{0}); i++)\n        wrong += ((const uint8_t *)result{0})[i] != "
                     "((const uint8_t *)model_y{0})[i];".format(number))
    lines.append("    return wrong;\n}\n")
    (folder / "io.h").write_text("\n".join(lines))


def keep_of(model):
    """The macros that keep only the operators and types of the model."""
    return [line for line in command([NNRT, "info", model]).splitlines() if line.startswith("keep")][0].split()[1:]


def results_of(header):
    """The expected results in the self-test of an emitted model."""
    return re.findall(r"^static const \w+ \w+ model_y\d+\[\d+\] = \{.*?\};", header, re.M | re.S)


def measure(model, target, args, device=None):
    """Emits the model for a target, runs it, and returns its figures."""
    compiler, machine = TARGETS[target]
    folder = OUT / target
    folder.mkdir(parents=True, exist_ok=True)
    options = (["--small"] if args.small else []) + (["--int8-io"] if args.io else [])
    command([NNRT, "emit-c", model, "--device", device or args.device or "mcu:" + target, "-o", folder / "model.h", "--name",
             "model"] + options)
    header = (folder / "model.h").read_text()
    if not args.float:  # quantized: the self-test must have the bits of the reference device
        command([NNRT, "emit-c", model, "--device", "reference", "-o", folder / "reference.h", "--name", "model"] +
                (["--int8-io"] if args.io else []))
        if results_of(header) != results_of((folder / "reference.h").read_text()):
            sys.exit("mcu: %s on mcu:%s has other results than the reference device" % (model, target))
    write_io(header, folder)
    keep = keep_of(model)
    elf = folder / "model.elf"
    command(compiler + FLAGS + [args.optimize, "-I" + str(folder)] + keep +
            ["tests/firmware/mcu_main.c", BOARD / "start.c", "-lm", "-o", elf])
    status, output = emulate(machine, elf, "-icount", "shift=0")
    figures = {name: int(value) for name, value in re.findall(r"^(\w+)=(\d+)$", output, re.M)}
    if status != 0 or figures.get("wrong") != 0:
        sys.exit("mcu: %s on %s: status %d\n%s" % (model, target, status, output))
    figures["code"] = code_bytes(compiler[0].removesuffix("gcc"), elf)
    figures["elf"] = elf
    return figures


def code_bytes(prefix, elf, own=r"nnrt|model_(?!wrong)"):
    """Bytes of the functions whose names match: nnrt's and the model's."""
    rows = re.findall(r"^ *\d+: [0-9a-f]+ +(\d+) FUNC .* (\S+)$", command([prefix + "readelf", "-sW", elf]), re.M)
    return sum(int(size) for size, name in rows if re.match(own, name))


def code_of_all(target, optimize, small, names=".*"):
    """Bytes of the functions of one program that has all quantized layers with these names."""
    compiler, _ = TARGETS[target]
    folder = OUT / target / "all"
    folder.mkdir(parents=True, exist_ok=True)
    keep, includes, calls = set(), "", ""
    lines = command(["build/mcu_layers"]).splitlines()
    for i, name in enumerate(n for n in (line.split("\t")[0] for line in lines) if re.fullmatch(names, n)):
        command(["build/mcu_layers", name, OUT / "layer.nnrt"])
        command([NNRT, "emit-c", OUT / "layer.nnrt", "--device", "mcu:" + target, "-o", folder / ("l%d.h" % i), "--name", "l%d" % i] +
                ["--small"] * small)
        keep.update(keep_of(OUT / "layer.nnrt"))
        includes += '#include "l%d.h"\n' % i
        calls += "    wrong |= l%d_selftest(arena);\n" % i
    (folder / "all.c").write_text(
        '#define NNRT_IMPLEMENTATION\n#define NNRT_FIRMWARE\n#define NNRT_STATIC\n#include "nnrt.h"\n#include "devices/nnrt_mcu.h"\n' +
        includes + "int main(void)\n{\n    static uint64_t arena[2000];\n    int wrong = 0;\n" + calls + "    return wrong;\n}\n")
    elf = folder / "all.elf"
    command(compiler + [flag for flag in FLAGS if flag != "-Werror"] + [optimize, "-I" + str(folder)] +
            sorted(flag for flag in keep if "KEEP_TYPES" not in flag) + [folder / "all.c", BOARD / "start.c", "-lm", "-o", elf])
    return code_bytes(compiler[0].removesuffix("gcc"), elf, r"nnrt|l\d+_k")


def verdict(value, wanted):
    return "" if wanted is None else "met" if value <= wanted else "missed"


def layers(args):
    missed = 0
    print("target\tlayer\tper\tinstructions\twanted\t\tcode\tarena")
    for target in args.targets:
        for line in command(["build/mcu_layers"]).splitlines():
            name, work, unit = line.split("\t")
            if (args.only and not re.search(args.only, name)) or (args.float and re.match(INTEGER, name)):
                continue
            command(["build/mcu_layers", name, OUT / "layer.nnrt"] + ["float"] * args.float)
            f = measure(OUT / "layer.nnrt", target, args)
            each = f["instructions"] / float(work)
            wanted = (WANTED_FLOAT if args.float else WANTED).get(target, {}).get(name)
            missed += verdict(each, wanted) == "missed"
            print("%s\t%-26s\t%s\t%.2f\t%s\t%s\t%d\t%d" %
                  (target, name, unit, each, "%.2f" % wanted if wanted else "", verdict(each, wanted), f["code"], f["arena"]), flush=True)
        for optimize, small, wanted in CODE.get(target, []) if not args.float and not args.only else []:
            for what, names, most in ("the layers compared with CMSIS-NN", COMPARED, wanted), ("all layers", ".*", None):
                size = code_of_all(target, optimize, small, names)
                missed += most is not None and size > most
                print("%s\tcode of %s, %s%s\t\t\t%s\t%s\t%d" %
                      (target, what, optimize, " --small" * small, most or "", verdict(size, most), size), flush=True)
    print("%d targets missed" % missed)


def networks(args):
    missed = 0
    print("target\tnetwork\tinstructions\tper MAC\twanted\t\tarena\twanted\t\tcode\tstack\testimate")
    for target in args.targets:
        for name, (macs, wanted, arena) in NETWORKS.items():
            model = pathlib.Path(args.folder) / (name + (".onnx" if args.float else "_qdq.onnx"))
            f = measure(model, target, args)
            each = f["instructions"] / macs
            estimate = ""
            if target == "cortex-m4":  # that of nnrt info; --io leaves out steps of the network, so at most a quarter off
                estimate = estimated(model) / f["instructions"]
                missed += not 0.75 <= estimate <= 1.25
                estimate = "%.2f\t%s" % (estimate, "met" if 0.75 <= estimate <= 1.25 else "missed")
            wanted = wanted if target == "cortex-m4" and not args.float else None
            arena = None if args.float else arena
            missed += [verdict(each, wanted), verdict(f["arena"], arena)].count("missed")
            print("%s\t%-22s\t%d\t%.2f\t%s\t%s\t%d\t%s\t%s\t%d\t%d\t%s" %
                  (target, name, f["instructions"], each, wanted or "", verdict(each, wanted), f["arena"], arena or "",
                   verdict(f["arena"], arena), f["code"], f["stack"], estimate), flush=True)
    print("%d targets missed" % missed)


def estimated(model):
    """Instructions of a run on a Cortex-M4, as nnrt info estimates them."""
    return json.loads(command([NNRT, "info", model, "--json"]))["cortex_m4"]


def counted():
    """[(network, instructions)] of tests/firmware/instructions.tsv."""
    rows = [line.split("\t") for line in COUNTS.read_text().splitlines() if line[:1] not in ("#", "")]
    return [(name, int(count)) for name, count in rows]


def path_of(network, folder):
    """A network of that file: a path, or the name of one that tests/bench/models.py writes."""
    return pathlib.Path(network) if "/" in network else pathlib.Path(folder) / (network + ".onnx")


def estimates(args):
    missed, args.float = 0, True  # without float32's comparison with the reference device
    text = COUNTS.read_text()
    print("network\tinstructions\trecorded\testimate")
    for network, before in counted():
        model = path_of(network, args.folder)
        count = measure(model, "cortex-m4", args)["instructions"]
        ratio = estimated(model) / count
        good = ESTIMATE[0] <= ratio <= ESTIMATE[1]
        missed += not good
        print("%-30s\t%d\t%d\t%.2f\t%s" % (network, count, before, ratio, "met" if good else "missed"), flush=True)
        text = text.replace("%s\t%d\n" % (network, before), "%s\t%d\n" % (network, count))
    if args.write:
        COUNTS.write_text(text)
    print("%d targets missed" % missed)


def figure_of(name, wanted):
    """The table's figure for a random layer; None: the table has none, as for int16 and transposed convolutions."""
    found = re.fullmatch(r"(conv|depthwise|full) (\d+x\d+)/.* \d+x\d+x(\d+) to \d+, (\d+) groups, (u?int8|float32)",
                         name)
    if not found:
        return None
    kind, taps, channels, groups, _ = found.groups()
    row = ("full 640 to 128" if kind == "full" else "depthwise 3x3 25x5x64" if kind == "depthwise" else
           "conv 3x3 32x32x3" if int(channels) // int(groups) <= 4 else
           "conv 1x1 25x5x64" if taps == "1x1" else "conv 3x3 16x16x16")
    return wanted.get(row)


def randoms(args):
    """No layer may be slower than by the reference kernels. The median of instructions per MAC, divided by the table's
    figure for a layer of that kind, may be 1.3."""
    missed = 0
    for target in args.targets:
        times, slower = [], 0
        for seed in range(1, int(args.folder) + 1):
            name, work, unit = command(["build/mcu_layers", "random:%d" % seed, OUT / "layer.nnrt"] + ["float"] * args.float).strip().split("\t")
            own = measure(OUT / "layer.nnrt", target, args)["instructions"]
            reference = measure(OUT / "layer.nnrt", target, args, "reference")["instructions"]
            figure = figure_of(name, (WANTED_FLOAT if args.float else WANTED).get(target, {}))
            if figure is not None:
                times.append(own / float(work) / figure)
            if args.verbose:
                print("%s\tseed %d\t%s\t%.2f per %s\t%s" % (target, seed, name, own / float(work), unit,
                      "%.2f" % times[-1] if figure else ""), flush=True)
            if own > reference:
                slower += 1
                print("%s\tseed %d\t%s\t%d instructions, the reference kernel %d" % (target, seed, name, own, reference), flush=True)
        line = "%s\t%d random layers\t%d slower than the reference kernels, %s" % (target, int(args.folder), slower, verdict(slower, 0))
        if times:
            median = statistics.median(times)
            missed += verdict(median, 1.3) == "missed"
            line += "\tmedian of %d layers %.2f times the table's instructions per MAC, at most 1.3 %s" % (
                len(times), median, verdict(median, 1.3))
        missed += slower > 0
        print(line, flush=True)
    print("%d targets missed" % missed)


def graphs(args):
    for target in args.targets:
        for seed in range(1, int(args.folder) + 1):
            command(["build/mcu_layers", "graph:%d" % seed, OUT / "layer.nnrt"])
            measure(OUT / "layer.nnrt", target, args)
        print("%s\t%s random networks have this machine's bits" % (target, args.folder), flush=True)


def vectors(args):
    """The quantized cases of tests/ops/vectors: the bytes that the reference device gives on this machine."""
    all_failed = 0
    for target in args.targets:
        compiler, machine = TARGETS[target]
        folder = OUT / "vectors" / target
        folder.mkdir(parents=True, exist_ok=True)
        records, elf = folder / "records.bin", folder / "vectors.elf"
        files = sorted(pathlib.Path("tests/ops/vectors").glob("*.vec"))
        lines = command(["build/mcu_vectors", target, records] + files).splitlines()
        cases = [line.split("\t") for line in lines if re.match("plan|model", line)]
        command(compiler + [flag for flag in FLAGS if "MAX_RANK" not in flag] +
                [args.optimize, "-Itests/kit", '-DVECTORS_FILE="%s"' % records, "tests/firmware/mcu_vectors_main.c", BOARD / "start.c",
                 "-lm", "-o", elf])
        status, output = emulate(machine, elf)
        failed = re.findall(r"^case=(\d+)\ncode=(\d+)\nbytes=(\d+)$", output, re.M)
        for case, code, wrong in failed:
            print("%s\tFAIL %s as %s: code %s, %s bytes differ" % (target, *reversed(cases[int(case)]), code, wrong))
        count = int((re.findall(r"^cases=(\d+)$", output, re.M) or [0])[0])
        if count != len(cases) or status != (len(failed) > 0):
            sys.exit("mcu: %s ran %d of %d cases, status %d\n%s" %
                     (target, count, len(cases), status, output[-2000:]))
        plans = sum(kind == "plan" for kind, _ in cases)
        print("%s\tquantized vectors\t%d passed, %d failed\t%d by %s kernels of nnrt_mcu.h, %d by reference kernels" %
              (target, count - len(failed), len(failed), plans, lines[-1].split("\t")[1], count - plans), flush=True)
        for _, number, reason in (line.split("\t") for line in lines if line.startswith("not run")):
            print("%s\tquantized vectors\t%s not run: %s" % (target, number, reason), flush=True)
        all_failed += len(failed)
    sys.exit(all_failed > 0)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("what", choices=["layers", "networks", "random", "graphs", "vectors", "model", "estimates"])
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--device")
    parser.add_argument("--optimize", default="-O2")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--io", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--float", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    args.folder = args.rest.pop(0) if args.what not in ("layers", "vectors") and args.rest else None
    args.targets = args.rest or ["cortex-m4"]
    OUT.mkdir(parents=True, exist_ok=True)
    if args.what == "layers":
        layers(args)
    elif args.what == "networks":
        networks(args)
    elif args.what == "random":
        randoms(args)
    elif args.what == "graphs":
        graphs(args)
    elif args.what == "estimates":
        estimates(args)
    elif args.what == "vectors":
        vectors(args)
    else:
        for target in args.targets:
            print(target, measure(args.folder, target, args))


if __name__ == "__main__":
    main()
