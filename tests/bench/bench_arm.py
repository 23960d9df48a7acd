#!/usr/bin/env python3
"""Speed of the AArch64 kernels of the device cpu, judged without such a machine.

    python3 tests/bench/bench_arm.py loops FOLDER [COMPILER ...]
        Compiles nnrt to assembly and gives the innermost loops of kernels to llvm-mca, which models the pipelines of
        cores. Prints multiply-accumulates per cycle and their share of the peak in Arm's optimization guide of the core:
        of the loop, and of whole register tiles for some depths. A tile is the sum of its loop, the code around it and
        its epilogue, as if they did not overlap. FOLDER gets the assembly.
    python3 tests/bench/bench_arm.py counts FOLDER NETWORK.onnx ...
        Instructions of one run of each network in qemu, on each instruction set of the device cpu: a quarter of the
        difference between six runs and two. FOLDER gets the program and the plugin that counts.
    python3 tests/bench/bench_arm.py halves FOLDER NETWORK.onnx ...
        The same of float32 networks, as they are and in float16, by float32 and by float16 arithmetic.
    python3 tests/bench/bench_arm.py peers FOLDER NETWORK.onnx ...
        The same beside XNNPACK, as Debian 13 packages it for arm64, and the largest difference of their results. FOLDER
        gets these packages.
    python3 tests/bench/bench_arm.py targets FOLDER
        The targets that loops and peers have judged.
Ends with status 1 if a target is missed that docs/SPEED.md does not list as missed.
"""
import glob
import os
import re
import shutil
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
# docs/SPEED.md has the reasons. Of peers: network and device.
MISSED = {("cortex-a55", "sdot"), ("cortex-a55", "fmla"), *((n, "cpu-neon") for n in (
    "lenet", "fc_autoencoder", "dscnn_kws", "mobilenet_v1_025_vww", "mobilenet_v2")), *((n + "_qdq", d) for n in (
        "dscnn_kws", "resnet8_cifar", "mobilenet_v1_025_vww", "fc_autoencoder", "mobilenet_v2")
        for d in ("cpu-dotprod", "cpu-i8mm")), ("resnet18_qdq", "cpu-dotprod")}
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


def judge(met, key):
    """The verdict, and whether docs/SPEED.md lists it."""
    return ("met" if met else "missed") + (" (known)" if not met and key in MISSED else ""), met or key in MISSED


def record(folder, text):
    with open(os.path.join(folder, "targets"), "a") as f:
        f.write(text + "\n")


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
        subprocess.run(compiler.split() + ["-std=c99", "-O2", "-I.", "-S", "-o", path, "packaging/nnrt.c"], check=True)
        code = functions(path)
        print("\n%s, share of the peak of multiply-accumulates" % compiler)
        print("%-34s %-12s %9s %6s %6s  %s" % ("kernel", "core", "MAC/cycle", "loop", "wanted", "tiles of depth " +
                                               ", ".join(map(str, DEPTHS))))
        for title, function, name, macs, other, cores, wanted, rows, depth in KERNELS:
            lines = code[function]
            inner = innermost(lines, name, other)
            work = macs * count(lines[inner[0]:inner[1]], name)
            judged = []
            for core in cores:
                each = cycles(lines[inner[0]:inner[1] + 1], core)
                peak = macs * PEAK[core]
                text, kept = judge(work / each / peak >= wanted, (core, name)) if wanted else ("", True)
                good = good and kept
                judged.append("%s %.0f %% %s" % (core, 100 * work / each / peak, text))
                tiles = []
                if rows:
                    end = code[EPILOGUE]
                    row = innermost(end, "sqrdmulh")
                    more = tile_overhead(lines, inner, core) + rows * cycles(end[row[0]:row[1] + 1], core)
                    tiles = ["%.0f %%" % (100 * k / depth * work / (k / depth * each + more) / peak) for k in DEPTHS]
                print("%-34s %-12s %9.1f %4.0f %% %6s  %s" % (title, core, work / each, 100 * work / each / peak, text,
                                                              " ".join(tiles)))
            if wanted:
                record(folder, "%s, %.0f %%: %s" % (title, 100 * wanted, ", ".join(judged)))
        print_half(code)
    return good


def instructions(folder, program, cpu="max", root="/"):
    done = subprocess.run(["qemu-aarch64", "-cpu", cpu, "-L", root, "-plugin", os.path.join(folder, "count.so"), *program], text=True,
                          capture_output=True)
    found = re.search(r"^instructions (\d+)$", done.stderr, re.M)
    if done.returncode != 0 or found is None:
        sys.exit(done.stderr)
    return int(found.group(1))


def difference(network, count):
    """Million instructions of a run, by count(runs). Large networks, which take minutes, run less often."""
    most, least = (6, 2) if os.path.getsize(network) < 2 << 20 else (2, 1)
    return (count(most) - count(least)) / 1e6 / (most - least)


def of_a_run(folder, network, device, *options):
    return difference(network, lambda runs: instructions(folder, [
        os.path.join(folder, "nnrt"), "bench", network, "--device", device, "--reps", str(runs), *options]))


def build_counter(folder):
    program = os.path.join(folder, "nnrt")
    sources = [f for pattern in ("*.h", "*/*.h", "tests/kit/*.h", "tools/*.c", "tools/*/*.h", "tests/bench/*.c") for f in glob.glob(pattern)]
    if os.path.exists(program) and os.path.getmtime(program) > max(map(os.path.getmtime, sources)):
        return
    os.makedirs(os.path.join(folder, "include"), exist_ok=True)
    if not os.path.lexists(os.path.join(folder, "include", "stb")):  # not all of /usr/include: another machine's
        os.symlink("/usr/include/stb", os.path.join(folder, "include", "stb"))
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", os.path.join(folder, "count.so"), "tests/bench/qemu_count.c"],
                   check=True)
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-std=c99", "-O2", "-w", "-I.", "-isystem",
                    os.path.join(folder, "include"), "-o", program, "tools/nnrt.c", "-lm",
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


ENDLESS = (float("-inf"), float("inf"))


class Plan:
    """A network of float32, or of int8 between QuantizeLinear and DequantizeLinear, as the plan of tests/bench/xnnpack_net.c:
    channels last, activations fused, uint8 as int8. ValueError: an operator that it does not know."""

    def __init__(self, network, folder):
        graph = onnx.shape_inference.infer_shapes(onnx.load(network)).graph
        self.shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
                       for v in [*graph.input, *graph.output, *graph.value_info]}
        self.constants = {c.name: onnx.numpy_helper.to_array(c) for c in graph.initializer}
        self.weights = {n.output[0]: n for n in graph.node if n.op_type == "DequantizeLinear" and n.input[0] in self.constants}
        self.users = {}
        for node in graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)
        self.outputs = [v.name for v in graph.output]
        self.values, self.floats, self.flattened, self.lines, self.scales = {}, {}, {}, [], []
        self.files = [os.path.join(folder, "xnnpack." + f) for f in ("plan", "constants", "input", "output")]
        self.input, self.quantized = graph.input[0].name, bool(self.weights)
        self.values[self.input] = self.value(self.input, (0, 0), 1)
        with open(self.files[1], "wb") as self.file:
            for node in graph.node:
                if node.output[0] not in self.values and node.input[0] in self.values:  # not fused, not a constant
                    self.node(node, {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute})
        with open(self.files[0], "w") as f:
            f.write("".join(self.lines))

    def value(self, shaped, scale, flags):
        dims = self.shapes[shaped]
        dims = [dims[0], *dims[2:], dims[1]] if len(dims) == 4 else dims
        self.lines.append("value %d %.9g %d %s\n" % (flags, *scale, " ".join(map(str, dims))))
        self.scales.append(scale)
        return len(self.scales) - 1

    def emit(self, kind, x, y, bounds=ENDLESS, z=0, numbers=(0,) * 10):
        self.lines.append(" ".join(map(str, (kind, x, z, y, *bounds, *numbers))) + "\n")

    def step(self, node):
        return float(self.constants[node.input[1]]), int(self.constants[node.input[2]]) - 128

    def result(self, name):
        """Follows the nodes that XNNPACK fuses with the one before. Returns the last tensor, its bounds and its scale."""
        bounds, scale = ENDLESS, (0, 0)
        while len(self.users.get(name, [])) == 1 and name not in self.outputs:
            user = self.users[name][0]
            if user.op_type == "Relu":
                bounds = 0, ENDLESS[1]
            elif user.op_type == "Clip":
                bounds = [float(self.constants[i]) for i in user.input[1:]]
            elif user.op_type == "QuantizeLinear":
                scale = self.step(user)
            elif user.op_type != "DequantizeLinear":
                break
            name = user.output[0]
        return name, bounds, scale

    def constant(self, node, turn):
        """Writes weights, made channels last by turn, and bias."""
        for i, name in enumerate(node.input[1:]):
            source = self.weights.get(name)
            if source is not None and i == 0:
                self.file.write(self.constants[source.input[1]].astype("<f4").tobytes())
            array = self.constants[source.input[0] if source is not None else name]
            self.file.write(numpy.ascontiguousarray(turn(array) if i == 0 else array).tobytes())

    def pads(self, node, given, kernel, strides):
        """top, right, bottom, left"""
        before, after = given.get("pads", [0] * 4)[:2], given.get("pads", [0] * 4)[2:]
        if given.get("auto_pad") == b"SAME_UPPER":
            total = [max((o - 1) * s + k - i, 0) for o, s, k, i in zip(
                self.shapes[node.output[0]][2:], strides, kernel, self.shapes[node.input[0]][2:])]
            before, after = [t // 2 for t in total], [t - t // 2 for t in total]
        return before[0], after[1], after[0], before[1]

    def node(self, node, given):
        kind, x, shape = node.op_type, self.values[node.input[0]], self.shapes[node.input[0]]
        name, bounds, scale = self.result(node.output[0])
        if kind in ("Flatten", "DequantizeLinear"):  # XNNPACK's fully connected layers take any shape
            self.values[name], self.flattened[name] = x, shape[1:]
            return
        if kind == "QuantizeLinear":
            scale = self.step(node)
        if kind == "Softmax":
            x = self.floats.get(node.input[0], x)
        y = self.values[name] = self.value(node.output[0], scale, 2 * (name in self.outputs and not scale[0]))
        kernel, strides = given.get("kernel_shape", []), given.get("strides", [])
        numbers = [*kernel, *strides, *(self.pads(node, given, kernel, strides) if kernel else [])]
        if kind == "Conv" and given["group"] in (1, shape[1]):
            out, inner = self.shapes[node.output[0]][1], shape[1]
            wide = given["group"] == 1
            self.emit("convolve" if wide else "depthwise", x, y, bounds, 0, [*numbers, inner, out])
            self.constant(node, lambda w: w.transpose((0, 2, 3, 1) if wide else (1, 2, 3, 0)))
        elif kind == "Gemm" and given.get("transB"):
            out, inner = self.shapes[node.output[0]][1], shape[1]
            planes = self.flattened.get(node.input[0], [inner, 1, 1])
            self.emit("connect", x, y, bounds, 0, [0] * 8 + [inner, out])
            self.constant(node, lambda w: w.reshape(out, *planes).transpose(0, 2, 3, 1))
        elif kind == "Add":
            self.emit("add", x, y, bounds, self.values[node.input[1]])
        elif kind in KINDS:
            self.emit(KINDS[kind], x, y, bounds, 0, [*numbers, 0, 0] if kernel else [0] * 10)
        else:
            raise ValueError("the plan of tests/bench/bench_arm.py does not have the operator " + kind)
        if name in self.outputs and scale[0]:
            self.floats[name] = self.value(node.output[0], (0, 0), 2)
            self.emit("convert", y, self.floats[name])


KINDS = {"MaxPool": "maximum", "GlobalAveragePool": "average", "Softmax": "softmax", "QuantizeLinear": "convert"}
def fetch(folder):
    """XNNPACK of Debian 13 for arm64 and the libraries it needs, in FOLDER/debian: apt-get with folders of its own, so that
    nothing is installed here and no architecture is added. Debian 12 has one of 2022 without fully connected layers in int8
    with a scale for each channel. Returns the message why not, or None."""
    root, own = os.path.join(folder, "debian"), os.path.abspath(os.path.join(folder, "apt"))
    if os.path.exists(os.path.join(root, "usr/lib/aarch64-linux-gnu/libXNNPACK.so")):  # a link: of the last package
        return None
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "no apt-get or dpkg-deb here"
    for name in ("lists/partial", "cache/archives/partial", "etc"):
        os.makedirs(os.path.join(own, name), exist_ok=True)
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], text=True,
                            capture_output=True).stdout.split()
    mirrors = [uri for uri in listed if uri.rstrip("/").endswith("/debian")]
    if not mirrors:
        return "no archive of Debian in the sources of apt"
    with open(os.path.join(own, "etc", "debian.list"), "w") as f:
        f.write("deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s trixie main\n" % mirrors[0])
    open(os.path.join(own, "status"), "w").close()
    get = ["apt-get", "-q", "-y"]
    for option in ("APT::Architecture=arm64", "APT::Architectures=arm64", "Dir::Etc::SourceList=/dev/null",
                   "Dir::Etc::SourceParts=%s/etc" % own, "Dir::State=" + own, "Dir::State::status=%s/status" % own,
                   "Dir::Cache=%s/cache" % own, "APT::Sandbox::User=root", "Debug::NoLocking=1",
                   "APT::Update::Error-Mode=any"):
        get += ["-o", option]
    print("nnrt: fetching XNNPACK for arm64", file=sys.stderr)
    for command in (["update"], ["--no-install-recommends", "--download-only", "install", "libxnnpack-dev", "libpthreadpool-dev"]):
        done = subprocess.run(get + command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            return done.stdout[-1000:]
    os.makedirs(os.path.join(root, "usr", "lib"), exist_ok=True)
    if not os.path.lexists(os.path.join(root, "lib")):
        os.symlink("usr/lib", os.path.join(root, "lib"))
    packages = os.path.join(own, "cache", "archives")
    for package in sorted(os.listdir(packages)):
        if package.endswith(".deb"):
            subprocess.run(["dpkg-deb", "-x", os.path.join(packages, package), root], check=True)
    return None


def build_peer(folder):
    root = os.path.join(folder, "debian")
    subprocess.run(["aarch64-linux-gnu-gcc", "-std=c99", "-O2", "-w", "-isystem", os.path.join(root, "usr/include"), "-o",
                    os.path.join(folder, "xnnpack_net"), "tests/bench/xnnpack_net.c", "-L",
                    os.path.join(root, "usr/lib/aarch64-linux-gnu"), "-lXNNPACK", "-lpthreadpool",
                    "-Wl,--allow-shlib-undefined"], check=True)


def of_their_run(folder, network, plan, cpu, part):
    """XNNPACK reads in /proc/cpuinfo on which core it runs, for which qemu takes the one in its folder."""
    root = os.path.join(folder, "debian")
    os.makedirs(os.path.join(root, "proc"), exist_ok=True)
    with open(os.path.join(root, "proc", "cpuinfo"), "w") as f:
        f.write("processor : 0\nCPU implementer : 0x41\nCPU architecture: 8\nCPU variant : 0x1\nCPU part : %s\n"
                "CPU revision : 0\n" % part)
    return difference(network, lambda runs: instructions(folder, [
        os.path.join(folder, "xnnpack_net"), *plan.files, str(runs)], cpu, root))


def apart(folder, network, plan, device):
    """Writes the plan's input. Returns the largest difference of the results of nnrt and XNNPACK by nnrt's largest."""
    given, results = os.path.join(folder, "input.npy"), os.path.join(folder, "results")
    x = numpy.random.default_rng(1).uniform(-1, 1, plan.shapes[plan.input]).astype("<f4")
    numpy.save(given, x)
    (x.transpose(0, 2, 3, 1) if x.ndim == 4 else x).tofile(plan.files[2])
    for program in ([os.path.join(folder, "nnrt"), "run", network, "--device", device, "--input", given, "--output-dir", results],
                    [os.path.join(folder, "xnnpack_net"), *plan.files, "1"]):
        subprocess.run(["qemu-aarch64", "-cpu", "max", "-L", os.path.join(folder, "debian"), *program], check=True,
                       stdout=subprocess.DEVNULL)
    ours = numpy.concatenate([numpy.load(os.path.join(results, name + ".npy")).ravel() for name in plan.outputs])
    return abs(ours - numpy.fromfile(plan.files[3], "<f4")).max() / abs(ours).max()


def print_peers(folder, networks):
    why = fetch(folder)
    if why is not None:
        print("\nno instructions of XNNPACK, its packages cannot be fetched: " + why.strip())
        record(folder, "instructions beside XNNPACK: not measured")
        return True
    build_counter(folder)
    build_peer(folder)
    good, results = True, {"float32": [], "int8": []}
    print("\nmillion instructions of a run in qemu-aarch64, one thread, beside XNNPACK of %s" % ", ".join(
        "%s (%s)" % (core[0], device) for device, core in PEER_CORES.items()))
    print("%-32s%12s%12s%12s%8s%17s   largest difference" % ("network", "device", "nnrt", "XNNPACK", "ratio", "at most 0.9"))
    for network in networks:
        title = os.path.basename(network).replace(".onnx", "")
        plan = Plan(network, folder)
        for device in ("cpu-dotprod", "cpu-i8mm") if plan.quantized else ("cpu-neon",):
            wrong = apart(folder, network, plan, device)
            ours, theirs = of_a_run(folder, network, device), of_their_run(folder, network, plan, *PEER_CORES[device][1:])
            text, kept = judge(ours / theirs <= 0.9, (title, device))
            if wrong >= (0.2 if plan.quantized else 1e-4):
                text, kept = "differ", False
            good = good and kept
            results["int8" if plan.quantized else "float32"].append("%s %.2f %s" % (title, ours / theirs, text))
            print("%-32s%12s%12.3f%12.3f%8.2f%17s%10.1e" % (title, device, ours, theirs, ours / theirs, text, wrong), flush=True)
    for kind in [k for k, texts in results.items() if texts]:
        record(folder, "instructions, %s, at most 0.9 of XNNPACK's: %s" % (kind, ", ".join(results[kind])))
    return good


# What XNNPACK finds: title, qemu's processor, the core's number in /proc/cpuinfo.
PEER_CORES = {"cpu-neon": ("Neoverse N1", "neoverse-n1", "0xd0c"), "cpu-dotprod": ("Neoverse N1", "neoverse-n1", "0xd0c"),
              "cpu-i8mm": ("Neoverse V1", "max", "0xd40")}
MCA = "llvm-mca-19"
DEVICES = ("cpu-neon", "cpu-dotprod", "cpu-i8mm")

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("loops", "counts", "halves", "peers", "targets"):
        sys.exit(__doc__)
    if sys.argv[1] == "targets":
        with open(os.path.join(sys.argv[2], "targets")) as read:
            print("\ntargets\n" + read.read(), end="")
        sys.exit(0)
    if sys.argv[1] == "loops":
        sys.exit(0 if print_loops(sys.argv[2], sys.argv[3:] or ["aarch64-linux-gnu-gcc"]) else 1)
    if sys.argv[1] in ("halves", "peers"):  # only these need them
        import numpy
        import onnx
        import onnx.numpy_helper
        sys.exit(0 if (print_halves if sys.argv[1] == "halves" else print_peers)(sys.argv[2], sys.argv[3:]) else 1)
    sys.exit(0 if print_counts(sys.argv[2], sys.argv[3:]) else 1)
