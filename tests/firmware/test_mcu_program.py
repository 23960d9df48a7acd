#!/usr/bin/env python3
"""Plans in files for firmware, from the command line to a Cortex-M4: nnrt compile --device mcu:TARGET and nnrt info,
the networks of MLPerf Tiny without their first and last operators in float, and the loader as firmware has it: code and
RAM, and in qemu the results of the reference device; the code of the loader and planner of models, too.

usage: test_mcu_program.py NNRT MCU_LAYERS TEST_MCU_FILE    from the root of the repository
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.utils

import mcu  # noqa: E402
from mcu import TARGETS  # noqa: E402

NNRT, LAYERS, FILE = sys.argv[1:4]
BOARD = "examples/firmware"
FLAGS = ["-std=c99", "-Os", "-ffreestanding", "-ffunction-sections", "-fdata-sections", "-fno-common", "-fstack-usage",
         "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror",
         "-DNNRT_MAX_RANK=4", "-I.", "-I" + BOARD, "-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]
NETWORKS = ["dscnn_kws_qdq", "mobilenet_v1_025_vww_qdq", "resnet8_cifar_qdq", "fc_autoencoder_qdq"]
CODE, RAM = 3072, 200  # most bytes of the loader
counts = {True: 0, False: 0}


def check(what, good, detail=""):
    counts[bool(good)] += 1
    if not good:
        print("FAIL %s %s" % (what, detail))
    return good


def run(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    return done.returncode, done.stdout + done.stderr


def needed(*args):
    status, text = run(*args)
    if status != 0:
        sys.exit("FAIL %s\n%s" % (" ".join(map(str, args)), text))
    return text


def command_line(folder):
    """compile writes a plan, info shows it, and faults are reported."""
    layer, plan = folder / "layer.nnrt", folder / "plan.nnrt"
    needed(LAYERS, "conv 1x1 25x5x64", layer)
    status, text = run(NNRT, "compile", layer, "--device", "mcu:cortex-m4", "-o", plan)
    check("compile writes a plan", status == 0 and "%d bytes" % plan.stat().st_size in text, text)
    status, text = run(NNRT, "info", plan)
    check("info shows the plan", status == 0 and "for firmware on cortex-m4, 1 steps" in text, text)
    check("info prints the kernels as C",
          "static const nnrt_mcu_row rows[] = {NNRT_MCU_LINK(conv_dsp_s8)};" in text, text)
    check("info prints the input",
          re.search(r"^input +x +int8\[1,25,5,64\]  NHWC  scale 0.05, zero point 3$", text, re.M), text)
    status, text = run(NNRT, "info", plan, "--json")
    check("info prints JSON", status == 0 and json.loads(text)["kernels"] == ["conv_dsp_s8"], text)
    status, text = run(NNRT, "run", plan, "--input", "random")
    check("a plan does not run here", status == 1 and "plan for firmware" in text, text)
    status, text = run(NNRT, "compile", layer, "--device", "mcu:cortex-m4", "-o", "-")
    check("a plan is not written to standard output", status == 1 and "standard output" in text, text)
    before = plan.read_bytes()
    status, text = run(NNRT, "compile", "examples/digits/digits.onnx", "--device", "mcu:cortex-m3", "-o", plan)
    refused = status == 1 and "has kernel nnrt_" in text
    check("a node without a kernel is named, and an existing file stays",
          refused and "CONV2D_FUSION" in text and plan.read_bytes() == before, text)
    real = folder / "digits.nnrt"
    status, text = run(NNRT, "compile", "examples/digits/digits.onnx", "--device", "mcu:cortex-m4", "-o", real)
    check("a float32 network becomes a plan", status == 0, text)
    status, text = run(NNRT, "info", real, "--json")
    check("its SOFTMAX has a kernel", status == 0 and "softmax_f32" in json.loads(text)["kernels"], text)
    (folder / "broken.nnrt").write_bytes(before[:300] + bytes([before[300] ^ 1]) + before[301:])
    status, text = run(NNRT, "info", folder / "broken.nnrt")
    check("a damaged plan is refused", status == 1 and "damaged" in text, text)


def missing_check(folder):
    """A kernel without a check does not compile on a desktop."""
    header = pathlib.Path("devices/nnrt_mcu.h").read_text()
    (folder / "devices").mkdir()
    (folder / "core").symlink_to(pathlib.Path("core").resolve())
    for name in ("nnrt_ops.h", "nnrt_hal.h"):
        (folder / name).symlink_to(pathlib.Path(name).resolve())
    for good in (True, False):
        changed = re.sub(r"NNRTI_MCU_CHECK\(conv_##name, [^\n]*", "" if not good else r"\g<0>", header)
        check("the header has checks of convolutions", (changed == header) == good)
        (folder / "devices" / "nnrt_mcu.h").write_text(changed)
        (folder / "unit.c").write_text('#define NNRT_IMPLEMENTATION\n#include "devices/nnrt_mcu.h"\n')
        status, text = run(os.environ.get("CC", "cc"), "-std=c99", "-fsyntax-only", "-I%s" % folder, folder / "unit.c")
        check("a header %s" % ("with all checks compiles" if good else "without a check does not compile"),
              (status == 0) == good and (good or "NNRTI_MCU_CHECKED_conv_dsp" in text), text[:2000])


def body(path, to):
    """The network between its quantized ends: from the first QuantizeLinear of an activation to the last one that a
    convolution or fully connected layer feeds. False: there is none."""
    model = onnx.load(path)
    maker = {output: node for node in model.graph.node for output in node.output}
    ends = [node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"]
    fed = []
    for name in ends:
        node = maker[name]
        while node is not None and node.op_type in ("QuantizeLinear", "Relu", "Clip", "Add"):
            node = maker.get(node.input[0])
        if node is not None and node.op_type in ("Conv", "Gemm", "MatMul"):
            fed.append(name)
        elif node is not None and node.op_type in ("GlobalAveragePool", "AveragePool"):
            break
    if not fed:
        return False
    onnx.utils.extract_model(str(path), str(to), [ends[0]], [fed[-1]], check_model=False)
    return True


def networks(folder):
    """Results of networks equal the reference device's; a network with a node that has no kernel yet is named."""
    models = folder / "networks"
    needed(sys.executable, "tests/bench/models.py", models, *NETWORKS)
    equal = []
    for name in NETWORKS:
        made, part = folder / (name + ".nnrt"), folder / (name + "_body.onnx")
        if not check("%s has a body" % name, body(models / (name + ".onnx"), part)):
            continue
        needed(NNRT, "convert", part, made)
        status, text = run(FILE, made)
        check("%s: %s" % (name, text.strip().splitlines()[-1] if text.strip() else ""), status == 0, text)
        equal += [name] if " equal" in text else []
    print("bits of the reference device: %s; a node without a kernel: %s" %
          (", ".join(equal), ", ".join(name for name in NETWORKS if name not in equal) or "none"))
    check("networks run from a file", len(equal) >= 2, str(equal))
    return folder / "dscnn_kws_qdq.nnrt"


def loader_bytes(folder):
    """Bytes of code and constants of the loader without kernels, C library included, and its symbols."""
    unit, elf = folder / "loader.c", folder / "loader.elf"
    unit.write_text('#define NNRT_IMPLEMENTATION\n#define NNRT_FIRMWARE\n#include "nnrt.h"\n'
                    '#include "devices/nnrt_mcu.h"\n')
    needed(*TARGETS["cortex-m4"][0], *FLAGS, unit, "-Wl,-e,nnrt_mcu_open,-u,nnrt_mcu_run,-u,nnrt_mcu_takes", "-o", elf)
    text, data = needed("arm-none-eabi-size", elf).splitlines()[1].split()[:2]
    symbols = needed("arm-none-eabi-nm", "-S", "--size-sort", elf)
    kernels = re.findall(r"\bnnrt_mcu_(?!open\b|run\b|takes\b)\w+", symbols)
    check("the loader links no kernel", not kernels, str(kernels))
    return int(text) + int(data), symbols


def estimates(folder):
    """nnrt info estimates the instructions that were counted in qemu."""
    mcu.NNRT, ratios = NNRT, []
    rows = mcu.counted()
    needed(sys.executable, "tests/bench/models.py", folder / "networks", *[name for name, _ in rows if "/" not in name])
    for name, count in rows:
        ratios.append(mcu.estimated(mcu.path_of(name, folder / "networks")) / count)
        check("%s: the estimate of instructions is %.2f of those counted" % (name, ratios[-1]),
              mcu.ESTIMATE[0] <= ratios[-1] <= mcu.ESTIMATE[1])
    check("at least twelve networks were counted", len(rows) >= 12)
    print("instructions estimated: %.2f to %.2f of those counted, %d networks" % (min(ratios), max(ratios), len(rows)))


def core_bytes():
    """The loader and planner of a model on a Cortex-M0+, without kernels: no larger than the firmware example states."""
    status, text = run(sys.executable, "-B", BOARD + "/firmware.py", "--sizes", "cortex-m0plus-load",
                       "cortex-m0plus-int8-load")
    check("loader and planner of the digits networks", status == 0, text)
    for name, core in re.findall(r"^(cortex-\S+)\t(\d+)", text, re.M):
        print("%s: core %s bytes" % (name, core))


def stack_of(folder, name):
    frames = [int(line.split("\t")[1]) for path in folder.glob("*.su") for line in path.read_text().splitlines()
              if re.search(r":%s(\.[a-z0-9.]+)?\t" % name, line)]
    return max(frames, default=0)


def board(folder, model, target):
    """Runs the plan of a model on a target in qemu: prints its code and RAM; results are the reference device's."""
    compiler, machine = TARGETS[target]
    if shutil.which(compiler[0]) is None or shutil.which(machine[0]) is None:
        print("skipped: %s, as there is no %s with %s" % (target, compiler[0], machine[0]))
        return None
    plan = folder / "plan.nnrt"
    needed(NNRT, "compile", model, "--device", "mcu:" + target, "-o", plan)
    info = json.loads(needed(NNRT, "info", plan, "--json"))
    text = needed(NNRT, "info", plan)
    shape, kind = re.search(r"^input +\S+ +(u?int8)\[([\d,]+)\]", text, re.M).group(2, 1)
    x = np.random.default_rng(1).integers(0, 256, [int(d) for d in shape.split(",")], np.uint8).view(kind)
    np.save(folder / "x.npy", x)
    results = folder / "results"
    needed(NNRT, "run", model, "--device", "reference", "--input", folder / "x.npy", "--output-dir", results)
    y = np.load(next(results.glob("*.npy")))
    (folder / "inputs.bin").write_bytes(x.tobytes())
    (folder / "outputs.bin").write_bytes(y.tobytes())
    (folder / "plan.h").write_text("%s\n#define PLAN_ARENA %d\n#define PLAN_VIEWS %d\n#define PLAN_OUTPUT %d\n" %
                                   (re.search(r"static const nnrt_mcu_row .*;", text).group(0), info["arena"],
                                    info["views"], y.nbytes))
    elf = folder / "plan.elf"
    needed(*compiler, *FLAGS, "-I%s" % folder, "-Wa,-I%s" % folder, "-dumpdir", "%s/" % folder,
           "tests/firmware/mcu_file_main.c", BOARD + "/start.c", "-lm", "-o", elf)
    variables = re.findall(r"^\S+ [bBdD] (nnrt\S*)$", needed(compiler[0].removesuffix("gcc") + "nm", elf), re.M)
    check("%s: the loader has no variables" % target, not variables, str(variables))
    status, text = run(*machine, "-nographic", "-icount", "shift=0", "-semihosting-config", "enable=on,target=native",
                       "-kernel", elf)
    figures = {name: int(value) for name, value in re.findall(r"^(\w+)=(\d+)$", text, re.M)}
    check("%s: the firmware has the bits of the reference device" % target,
          status == 0 and figures.get("wrong") == 0, text)
    check("%s: the firmware opens no faulty file" % target, figures.get("accepted") == 0, text)
    return figures


def firmware(folder, model):
    """The loader on a Cortex-M4: bytes of code and RAM; and its results there and on other processors."""
    loader, symbols = loader_bytes(folder)
    print("loader %d bytes of code" % loader)
    check("the loader has at most %d bytes of code" % CODE, 0 < loader <= CODE, symbols)
    for target in ("cortex-m0plus", "cortex-m3", "cortex-m55", "rv32"):
        board(folder, model, target)
    figures = board(folder, model, "cortex-m4")
    if figures is None:
        return
    frames = stack_of(folder, "nnrt_mcu_open") + max(
        stack_of(folder, "nnrti_mcu_check_step") + stack_of(folder, "nnrti_mcu_check_arg"),
        stack_of(folder, "nnrti_mcu_find") + stack_of(folder, "nnrti_mcu_checksum"))
    frames = max(frames, stack_of(folder, "nnrt_mcu_run"))
    ram = figures.get("program", RAM) + frames
    check("the loader needs at most %d bytes of RAM, stack included" % RAM, 0 < frames and ram <= RAM, "%d" % ram)
    print("RAM besides arena and views: program %d bytes, stack frames of the loader %d bytes; whole stack %d bytes to "
          "open, %d to run; opening %d instructions, a run %d" %
          (figures["program"], frames, figures["openStack"], figures["stack"], figures["openInstructions"],
           figures["instructions"]))


def main():
    with tempfile.TemporaryDirectory(dir="build") as name:
        folder = pathlib.Path(name)
        command_line(folder)
        missing_check(folder)
        model = networks(folder)
        estimates(folder)
        if shutil.which(TARGETS["cortex-m4"][0][0]) is not None and model.exists():
            core_bytes()
            firmware(folder, model)
        else:
            print("skipped: code and RAM of the loader, as there is no compiler for Arm")
    print("%d passed, %d failed" % (counts[True], counts[False]))
    sys.exit(counts[False] > 0)


main()
