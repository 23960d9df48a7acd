#!/usr/bin/env python3
"""8-bit networks that `nnrt quantize` writes as ONNX, in nnrt and in ONNX Runtime (make quantize-ort).

usage: quantize_ort.py [--nnrt build/nnrt] [--ort build/compare] [--out build/quantize] [NETWORK ...]

NETWORK: digits, a network of quantize_table.py, or a .onnx file with one float32 input, whose samples have normal
distribution. The networks are quantized with 16 samples and run on three others.

Each operator: nnrt runs the network with the result of every QuantizeLinear as an output. In a copy of the network every
DequantizeLinear reads these codes from an input of the graph, so that in ONNX Runtime each group of operators between
DequantizeLinear and QuantizeLinear has nnrt's operands, whatever the groups before it gave. Its codes may differ from nnrt's
by one: nnrt rounds sums twice, ONNX once (docs/quantization.md). Without optimizations ONNX Runtime computes these operators
in float32; with them many in integers, by kernels of its own. Only operators between two casts get these kernels, so inputs
and outputs of the copy are float32, scale * (code - zero point), which a cast maps back to the code exactly.

The whole network: signal-to-noise ratio of its float32 outputs, nnrt against ONNX Runtime; for comparison the 8-bit network
against the float32 network, both in ONNX Runtime. Status 1 if a code differs by more than one.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

import quantize_table

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = ["digits", "mobilenet_v2"] + quantize_table.NETWORKS[3:]
RUNS = 3
LEVELS = ["disabled", "all"]
shares = "{0[1]} of {0[0]}, {0[2]}".format


def call(*command):
    """Runs a program; ends with its message if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("quantize_ort: %s: %s" % (" ".join(command)[:200], done.stderr[-1000:]))


def float_network(name, folder):
    """(path of the float32 network, path of the samples for its ranges, [RUNS, ...] other samples)"""
    rng = np.random.default_rng(3)
    if name in quantize_table.NETWORKS:
        path, data, _ = quantize_table.write(name, folder)
        return path, data, rng.standard_normal((RUNS,) + np.load(data).shape[1:]).astype(np.float32)
    path = "examples/digits/digits.onnx" if name == "digits" else name
    graph = onnx.load(path, load_external_data=False).graph
    known = {i.name for i in graph.initializer}
    value = next(i for i in graph.input if i.name not in known)
    shape = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
    data, draw = os.path.join(folder, "samples.npy"), rng.random if name == "digits" else rng.standard_normal
    np.save(data, draw([quantize_table.SAMPLES] + shape).astype(np.float32))
    return path, data, draw([RUNS] + shape).astype(np.float32)


class Quantized:
    """A network in QDQ form. codes: results of QuantizeLinear; groups: the operators before each."""

    def __init__(self, path):
        self.path, self.model = path, onnx.load(path)
        graph = self.model.graph
        self.producers = {name: n for n in graph.node for name in n.output}
        self.constants = {i.name: i for i in graph.initializer}
        self.input = next(i.name for i in graph.input if i.name not in self.constants)
        self.outputs = [o.name for o in graph.output]
        self.codes = [n.output[0] for n in graph.node if n.op_type == "QuantizeLinear"]
        self.groups = {name: self.operators(self.producers[name].input[0]) for name in self.codes}

    def operators(self, value):
        """Types of the operators between DequantizeLinear and this value; of many the number."""
        found, todo = [], [value]
        while todo:
            node = self.producers.get(todo.pop())
            if node is not None and node.op_type not in ("DequantizeLinear", "Constant") and not any(n is node for n in found):
                found.append(node)
                todo += node.input
        types = [n.op_type for n in reversed(found)]
        return "+".join(types) or "(input)" if len(types) <= 4 else "%d operators, %s first" % (len(types), types[0])

    def params(self, code):
        """Scale and zero point of codes."""
        return [numpy_helper.to_array(self.constants[name]) for name in self.producers[code].input[1:3]]

    def write_groups(self, path):
        """The copy in which each DequantizeLinear reads codes of an input NAME_in; the codes of a group are NAME_out."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        graph = model.graph
        for node in graph.node:
            if node.op_type == "DequantizeLinear" and node.input[0] in self.groups:
                node.input[0] += "_fed"
        for name in self.codes:
            params = list(self.producers[name].input[1:3])
            for values, end in ((graph.input, "_in"), (graph.output, "_out")):
                values.append(helper.make_tensor_value_info(name + end, onnx.TensorProto.FLOAT, None))
            graph.node.insert(0, helper.make_node("QuantizeLinear", [name + "_in"] + params, [name + "_fed"]))
            graph.node.append(helper.make_node("DequantizeLinear", [name] + params, [name + "_out"]))
        onnx.save(model, path)


def load(folder, name):
    """An output that nnrt or ort.mjs wrote."""
    if os.path.exists(os.path.join(folder, "error.txt")):
        sys.exit("quantize_ort: %s: %s" % (folder, open(os.path.join(folder, "error.txt"), encoding="utf-8").read()))
    return np.load(os.path.join(folder, name.replace("/", "_").replace(":", "_") + ".npy"))


def ratio(wanted, found):  # dB
    signal, noise = (sum((a.astype(np.float64) ** 2).sum() for a in arrays) for arrays in (wanted, map(np.subtract, wanted, found)))
    return 10 * np.log10(signal / noise) if noise > 0 else np.inf


def execute(args, q, path, samples, folder):
    """Runs everything; results are in the folders float, whole, codes, LEVEL and groups_LEVEL, each with its number."""
    fed, tasks = os.path.join(folder, "groups.onnx"), []
    q.write_groups(fed)
    for k, sample in enumerate(samples):
        at = os.path.join(folder, "%s" + str(k))
        source, whole, codes = at % "in" + ".npy", at % "whole", at % "codes"
        np.save(source, sample)
        call(args.nnrt, "run", q.path, "--input", source, "--output-dir", whole)
        call(args.nnrt, "run", q.path, "--input", source, "--output-dir", codes, "--outputs", ",".join(q.outputs + q.codes))
        for output in q.outputs:
            if load(whole, output).tobytes() != load(codes, output).tobytes():
                sys.exit("quantize_ort: %s: with its codes as outputs, nnrt gives another result" % q.path)
        own = {q.input: source}
        for i, code in enumerate(q.codes):
            scale, zero = q.params(code)
            own[code + "_in"] = at % ("real%d_" % i) + ".npy"
            np.save(own[code + "_in"], (load(codes, code).astype(np.float32) - np.float32(zero)) * scale)
        tasks.append({"model": path, "inputs": {q.input: source}, "output": at % "float", "level": "disabled"})
        for level in LEVELS:
            tasks.append({"model": q.path, "inputs": {q.input: source}, "output": at % level, "level": level})
            tasks.append({"model": fed, "inputs": own, "output": at % ("groups_" + level), "level": level})
    with open(os.path.join(folder, "tasks.json"), "w", encoding="utf-8") as f:
        json.dump(tasks, f)
    call("node", os.path.join(HERE, "../compare/ort.mjs"), "--modules", args.ort, "--list", f.name)


def count(folder, q, level, groups):
    """[codes, off by one, off by more] of a network; adds them to the counts of its groups."""
    total = np.zeros(3, np.int64)
    for k, name in ((k, name) for k in range(RUNS) for name in q.codes):
        scale, zero = q.params(name)
        own, real = load(os.path.join(folder, "codes%d" % k), name), load(os.path.join(folder, "groups_%s%d" % (level, k)), name + "_out")
        apart = np.abs(own.astype(np.int32) - int(zero) - np.rint(real.astype(np.float64) / scale).astype(np.int32))
        found = np.array([apart.size, (apart == 1).sum(), (apart > 1).sum()])
        groups[level][q.groups[name]] += found
        total += found
        if found[2] > 0:
            print("quantize_ort: optimizations %s: %s, %s: %d of %d codes differ by more than one, at most %d"
                  % (level, name, q.groups[name], found[2], found[0], apart.max()), file=sys.stderr)
    return total


def compare(args, name, groups):
    """Quantizes a network and prints its line of the table; how many codes differ by more than one."""
    folder = os.path.join(args.out, "ort_" + os.path.basename(name))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path, data, samples = float_network(name, folder)
    call(args.nnrt, "quantize", path, "--data", data, "-o", os.path.join(folder, "q8.onnx"))
    q = Quantized(os.path.join(folder, "q8.onnx"))
    execute(args, q, path, samples, folder)
    found = {what: [load(os.path.join(folder, what + str(k)), output) for k in range(RUNS) for output in q.outputs]
             for what in ["whole", "float"] + LEVELS}
    counts = [count(folder, q, level, groups) for level in LEVELS]
    ratios = [ratio(found[level], found["whole"]) for level in LEVELS] + [ratio(found["float"], found["disabled"])]
    print("| %s | %s | %s |" % (os.path.basename(name), " | ".join(map(shares, counts)), " | ".join("%.1f" % r for r in ratios)), flush=True)
    return counts[0][2] + counts[1][2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nnrt", default="build/nnrt")
    parser.add_argument("--ort", default="build/compare")
    parser.add_argument("--out", default="build/quantize")
    parser.add_argument("networks", nargs="*")
    args = parser.parse_args()
    groups = {level: collections.defaultdict(lambda: np.zeros(3, np.int64)) for level in LEVELS}
    print("| Network | codes off by 1, by more | optimized | nnrt to ONNX Runtime, dB | optimized | 8 bits to float32, dB |")
    print("|---|" + "---:|" * 5, flush=True)
    failed = sum(compare(args, name, groups) for name in args.networks or NETWORKS)
    print("\n| Operators | codes off by 1, by more | optimized |\n|---|---:|---:|")
    for group, counts in sorted(groups["disabled"].items()):
        print("| %s | %s | %s |" % (group, shares(counts), shares(groups["all"][group])))
    print("\ncodes that differ by more than one: %d" % failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
