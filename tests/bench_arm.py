#!/usr/bin/env python3
"""Speed of the AArch64 kernels of the device cpu, judged without such a machine.

    python3 tests/bench_arm.py loops FOLDER [COMPILER ...]
        Compiles nnrt to assembly and gives the innermost loops of kernels to llvm-mca, which models the pipelines of
        cores. Prints multiply-accumulates per cycle and their share of the peak in Arm's optimization guide of the core:
        of the loop, and of whole register tiles for some depths. A tile is the sum of its loop, the code around it and
        its epilogue, as if they did not overlap. FOLDER gets the assembly.
    python3 tests/bench_arm.py counts FOLDER NETWORK.onnx ...
        Instructions of one run of each network in qemu, on each instruction set of the device cpu: a quarter of the
        difference between six runs and two. FOLDER gets the program and the plugin that counts.
    python3 tests/bench_arm.py halves FOLDER NETWORK.onnx ...
        The same of float32 networks, as they are and in float16, by float32 and by float16 arithmetic.
Ends with status 1 if a target is missed that docs/SPEED.md does not list as missed.
"""
import os
import re
import subprocess
import sys

# Instructions per cycle: Arm's software optimization guides of Cortex-A55, Neoverse N1, V1 and N2, tables "ASIMD integer"
# (SDOT, SMMLA) and "ASIMD floating-point" (FMLA), 128-bit forms.
PEAK = {"cortex-a55": 1, "neoverse-n1": 2, "neoverse-v1": 4, "neoverse-n2": 2}
NO_SMMLA = ("cortex-a55", "neoverse-n1")
# title, function, instruction, its multiply-accumulates, another instruction in the loop or one that is not there (!), cores,
# target, rows of a tile, depth of a loop iteration
BIG = [c for c in PEAK if c not in NO_SMMLA]
KERNELS = [
    ("int8 GEMM, convolution: SDOT", "nnrti_cpu_gemm_q8_panel_by_4_dotprod", "sdot", 16, "!eor", list(PEAK), 0.90, 6, 16),
    ("the same, x uint8", "nnrti_cpu_gemm_q8_panel_by_4_dotprod", "sdot", 16, "eor", list(PEAK), 0.90, 6, 16),
    ("int8 GEMM, convolution: SMMLA", "nnrti_cpu_gemm_q8_panel_by_4_i8mm", "smmla", 32, "!eor", BIG, 0.85, 6, 8),
    ("the same, x uint8: USMMLA", "nnrti_cpu_gemm_q8_panel_by_4_i8mm", "usmmla", 32, "!eor", BIG, 0.85, 6, 8),
    ("float32 GEMM: FMLA", "nnrti_cpu_microkernel_two_neon", "fmla", 4, "!eor", list(PEAK), 0.90, 0, 0),
    ("int8 depthwise 3 x 3: SDOT", "nnrti_cpu_depthwise_q8_line_dotprod", "sdot", 16, "!eor", list(PEAK), None, 0, 0),
]
HALF = "nnrti_cpu_half_panel_by_2_fp16"
HALF_BLOCK = 64  # NNRTI_CPU_HALF_BLOCK
MISSED = {("cortex-a55", "sdot"), ("cortex-a55", "fmla")}  # docs/SPEED.md has the reasons
DEPTHS = (64, 256, 1152)
EPILOGUE = "nnrti_cpu_epilogue_q8_by_4_neon"


def functions(path):
    """The lines of each function of an assembly file, without comments."""
    found, name = {}, None
    for line in open(path):
        line = re.sub("0xf{14}", "0x", line.split("//")[0].rstrip())  # of gcc: a byte in 64 bits
        if re.match(r"\w[\w.]*:", line):
            name = line.split(":")[0].split(".")[0]
            found[name] = []
        elif line.startswith("\t.size"):
            name = None
        elif name and line and not re.match(r"\s*#|\s+\.", line):
            found[name].append(line)
    return found


def loops(lines):
    """(first, last) line of each loop: a branch back to a label."""
    labels = {line.split(":")[0]: i for i, line in enumerate(lines) if line.startswith(".L")}
    for i, line in enumerate(lines):
        target = line.split()[-1]
        if re.match(r"\s+(b|b\.?\w\w|cbn?z|tbn?z)\s", line) and labels.get(target, i) < i:
            yield labels[target], i


def count(lines, name):
    return sum(1 for line in lines if re.match(r"\s+%s\s" % name, line))


def innermost(lines, name, other="!eor"):
    """The loop with the most instructions `name`, with or without the other one, and no loop inside."""
    all_loops = list(loops(lines))
    single = [p for p in all_loops if not any(q != p and p[0] <= q[0] and q[1] <= p[1] for q in all_loops)]
    fit = [p for p in single if (count(lines[p[0]:p[1]], other.strip("!")) > 0) == (other[0] != "!")]
    return max(fit, key=lambda p: count(lines[p[0]:p[1]], name))


def cycles(lines, core):
    """Cycles of an iteration of a loop, of 200."""
    text = "\n".join(line for line in lines if not line.startswith("."))
    done = subprocess.run([MCA, "-march=aarch64", "-mcpu=" + core, "-mattr=+dotprod,+i8mm,+fullfp16", "-iterations=200"], input=text,
                          text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return int(re.search(r"Total Cycles:\s+(\d+)", done.stdout).group(1)) / 200


def tile_overhead(lines, inner, core):
    """Cycles of a tile outside the inner loop: its beginning, pointers of a tap and stores, without the epilogue."""
    around = [p for p in loops(lines) if p[0] < inner[0] and p[1] > inner[1] and
              any("epilogue" in line for line in lines[p[0]:p[1]])]
    first, last = min(around, key=lambda p: p[1] - p[0])
    rest = [line for i, line in enumerate(lines[first:last + 1], first)
            if not inner[0] <= i <= inner[1] and not re.match(r"\s+u?s(dot|mmla)\s", line)]
    return cycles(rest, core)


def judge(share, wanted, key):
    if wanted is None:
        return "", True
    met = share >= wanted
    return ("met" if met else "missed") + (" (known)" if not met and key in MISSED else ""), met or key in MISSED


def print_half(code):
    """GEMM in float16 arithmetic: the loop of 8 terms, and blocks with their conversion to float32, as if these did not
    overlap. Not of A55, of which LLVM's model issues 1.5 of these FMLA per cycle."""
    lines = code[HALF]
    inner = innermost(lines, "fmla", "!ld1r")
    loop, widens = lines[inner[0]:inner[1] + 1], [i for i, line in enumerate(lines) if re.match(r"\s+fcvtl", line)]
    first, last = min(((a, b) for a, b in zip(widens, widens[31:])), key=lambda p: p[1] - p[0])  # of 16 sums
    for core in BIG + ["neoverse-n1"]:
        each, more, work = cycles(loop, core), cycles(lines[first - 3:last + 4], core), 8 * count(loop, "fmla")
        peak = 8 * PEAK[core]
        print("%-34s %-12s %9.1f %4.0f %% %6s  blocks of %d: %.0f %%" % (
            "float16 GEMM: FMLA", core, work / each, 100 * work / each / peak, "", HALF_BLOCK,
            100 * HALF_BLOCK / 8 * work / (HALF_BLOCK / 8 * each + more) / peak))


def print_loops(folder, compilers):
    good = True
    os.makedirs(folder, exist_ok=True)
    for compiler in compilers:
        path = os.path.join(folder, os.path.basename(compiler.split()[0]) + ".s")
        subprocess.run(compiler.split() + ["-std=c99", "-O2", "-I.", "-S", "-o", path, "nnrt.c"], check=True)
        code = functions(path)
        print("\n%s, share of the peak of multiply-accumulates" % compiler)
        print("%-34s %-12s %9s %6s %6s  %s" % ("kernel", "core", "MAC/cycle", "loop", "wanted", "tiles of depth " +
                                               ", ".join(map(str, DEPTHS))))
        for title, function, name, macs, other, cores, wanted, rows, depth in KERNELS:
            lines = code[function]
            inner = innermost(lines, name, other)
            work = macs * count(lines[inner[0]:inner[1]], name)
            for core in cores:
                each = cycles(lines[inner[0]:inner[1] + 1], core)
                peak = macs * PEAK[core]
                text, kept = judge(work / each / peak, wanted, (core, name))
                good = good and kept
                tiles = []
                if rows:
                    end = code[EPILOGUE]
                    row = innermost(end, "sqrdmulh")
                    more = tile_overhead(lines, inner, core) + rows * cycles(end[row[0]:row[1] + 1], core)
                    tiles = ["%.0f %%" % (100 * k / depth * work / (k / depth * each + more) / peak) for k in DEPTHS]
                print("%-34s %-12s %9.1f %4.0f %% %6s  %s" % (title, core, work / each, 100 * work / each / peak, text,
                                                              " ".join(tiles)))
        print_half(code)
    return good


def instructions(folder, network, device, runs, *options):
    done = subprocess.run(["qemu-aarch64", "-cpu", "max", "-plugin", os.path.join(folder, "count.so"),
                           os.path.join(folder, "nnrt"), "bench", network, "--device", device, "--reps", str(runs),
                           *options], text=True, capture_output=True)
    found = re.search(r"^instructions (\d+)$", done.stderr, re.M)
    if done.returncode != 0 or found is None:
        sys.exit(done.stderr)
    return int(found.group(1))


def of_a_run(folder, network, device, *options):
    """Million instructions."""
    return (instructions(folder, network, device, 6, *options) - instructions(folder, network, device, 2, *options)) / 4e6


def build_counter(folder):
    os.makedirs(os.path.join(folder, "include"), exist_ok=True)
    if not os.path.lexists(os.path.join(folder, "include", "stb")):  # not all of /usr/include: another machine's
        os.symlink("/usr/include/stb", os.path.join(folder, "include", "stb"))
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", os.path.join(folder, "count.so"), "tests/bench/qemu_count.c"],
                   check=True)
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-std=c99", "-O2", "-w", "-I.", "-isystem",
                    os.path.join(folder, "include"), "-o", os.path.join(folder, "nnrt"), "tools/nnrt.c", "-lm",
                    "-lpthread"], check=True)


def print_counts(folder, networks):
    build_counter(folder)
    print("\nmillion instructions of a run in qemu-aarch64, one thread")
    print("%-32s" % "network" + "".join("%14s" % d for d in DEVICES))
    for network in networks:
        counts = [of_a_run(folder, network, d) for d in DEVICES]
        print("%-32s" % os.path.basename(network) + "".join("%14.3f" % n for n in counts), flush=True)
    return True


def halved(network, path):
    """Writes a network with float16 in place of float32."""
    model = onnx.load(network)
    for tensor in list(model.graph.initializer) + [a.t for n in model.graph.node for a in n.attribute]:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            half = onnx.numpy_helper.to_array(tensor).astype(numpy.float16)
            tensor.CopyFrom(onnx.numpy_helper.from_array(half, tensor.name))
    for value in list(model.graph.input) + list(model.graph.output) + list(model.graph.value_info):
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    onnx.save(model, path)


def print_halves(folder, networks):
    build_counter(folder)
    print("\nmillion instructions of a run in qemu-aarch64, one thread")
    print("%-32s%16s%16s%16s" % ("network", "float32", "float16, neon", "float16, fp16"))
    for network in networks:
        half = os.path.join(folder, "float16_" + os.path.basename(network))
        halved(network, half)
        counts = [of_a_run(folder, network, "cpu-neon"), of_a_run(folder, half, "cpu-neon"),
                  of_a_run(folder, half, "cpu-fp16", "--float16")]
        print("%-32s" % os.path.basename(network) + "".join("%16.3f" % n for n in counts), flush=True)
    return True


MCA = "llvm-mca-19"
DEVICES = ("cpu-neon", "cpu-dotprod", "cpu-i8mm")

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("loops", "counts", "halves"):
        sys.exit(__doc__)
    if sys.argv[1] == "loops":
        sys.exit(0 if print_loops(sys.argv[2], sys.argv[3:] or ["aarch64-linux-gnu-gcc"]) else 1)
    if sys.argv[1] == "halves":  # the only one that needs these
        import numpy
        import onnx
        import onnx.numpy_helper
        sys.exit(0 if print_halves(sys.argv[2], sys.argv[3:]) else 1)
    sys.exit(0 if print_counts(sys.argv[2], sys.argv[3:]) else 1)
