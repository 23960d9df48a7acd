#!/usr/bin/env python3
"""Signal-to-noise ratio of networks that `nnrt quantize` made 8-bit, with all steps and without each (make quantize-table).

usage: quantize_table.py [--nnrt build/nnrt] [--out build/quantize] [NETWORK ... | --mediapipe]

The networks come from tests/bench/models.py. Their weights are random, so their channels get the ranges of trained networks
here: each channel between two convolutions is multiplied by a number from 1/1000 to 1 (uniform in its logarithm), the weights
that read it are divided by it. The samples have normal distribution; the ratio is that of as many others. "naive": one scale
for each output channel of the weights, minimum and maximum for the ranges, nothing else.

--mediapipe (make quantize-mediapipe): the trained networks of MediaPipe's npm packages instead, all steps and naive, on drawn
pictures of faces (examples/face/picture.py); mean over the outputs of a network.

Status 1 if the noise of all steps, as the geometric mean over the networks, is more than half of the naive one.
"""
import argparse
import json
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = ["mobilenet_v2", "resnet18", "resnet50", "dscnn_kws", "resnet8_cifar", "mobilenet_v1_025_vww", "fc_autoencoder", "lenet",
            "transformer_4x256_s128", "lstm128_t100"]
WITHOUT = [("all steps", ""), ("equalize", "equalize"), ("ranges", "ranges"), ("bias", "bias"), ("channels", "channels"),
           ("naive", "equalize,ranges,bias"), ("with --least-squares", None)]
SAMPLES = 16


def spread(model, seed):
    """Gives the channels between two convolutions ranges over three decades."""
    rng = np.random.default_rng(seed)
    weights = {i.name: i for i in model.graph.initializer}
    readers = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    outputs = {o.name for o in model.graph.output}

    def scale(name, factors, axis):
        array = numpy_helper.to_array(weights[name])
        shape = [1] * array.ndim
        shape[axis] = -1
        weights[name].CopyFrom(numpy_helper.from_array((array * factors.reshape(shape)).astype(np.float32), name))

    for node in model.graph.node:
        if node.op_type != "Conv" or node.input[1] not in weights:
            continue
        name, reader = node.output[0], None
        while len(readers.get(name, [])) == 1 and name not in outputs:
            reader = readers[name][0]
            if reader.op_type not in ("Relu", "Clip", "MaxPool"):
                break
            name, reader = reader.output[0], None
        if reader is None or reader.op_type != "Conv" or reader.input[0] != name or reader.input[1] not in weights:
            continue
        out = weights[node.input[1]].dims[0]
        factors = 10 ** rng.uniform(-3, 0, out)
        depthwise = weights[reader.input[1]].dims[1] == 1 and weights[reader.input[1]].dims[0] == out
        for name in node.input[1:]:
            scale(name, factors, 0)
        scale(reader.input[1], 1 / factors, 0 if depthwise else 1)
    return model


def write(name, folder):
    """NAME.onnx, NAME.npy and NAME_held_out.npy; returns their paths."""
    paths = [os.path.join(folder, name + end) for end in (".onnx", ".npy", "_held_out.npy")]
    subprocess.run([sys.executable, os.path.join(HERE, "../bench/models.py"), folder, name], check=True, capture_output=True)
    model = onnx.load(paths[0])
    spread(model, 1)
    known = {i.name for i in model.graph.initializer}
    value = next(i for i in model.graph.input if i.name not in known)
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    paths[0] = os.path.join(folder, name + "_spread.onnx")
    onnx.save(model, paths[0])
    for path, seed in zip(paths[1:], (2, 3)):
        np.save(path, np.random.default_rng(seed).standard_normal([SAMPLES] + shape).astype(np.float32))
    return paths


def sqnrs(nnrt, paths, without):
    """The ratio in dB of each output of the model."""
    command = [nnrt, "quantize", paths[0], "--data", paths[1], "--held-out", paths[2], "-o", paths[1] + ".nnrt", "--json",
               "--full-integer"]
    options = ["--least-squares"] if without is None else ["--without", without] if without else []
    run = subprocess.run(command + ["--threads", "2", "--budget", "4"] + options, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit("quantize_table: %s: %s" % (paths[0], run.stderr))
    return [output["sqnr"] for output in json.loads(run.stdout.split("\n")[0])["outputs"]]


def verdict(gains):
    """Prints how much noise is left of the naive recipe's; the exit status."""
    mean = sum(gains) / len(gains)
    print("\nnoise of all steps: %.2f of the naive one (geometric mean; at most 0.50): %s"
          % (10 ** (-mean / 10), "met" if mean >= 3.0103 else "missed"))
    return 0 if mean >= 3.0103 else 1


def pictures(shape, path, folder):
    """Two files of SAMPLES drawn pictures in this shape [1,H,W,3]: from -1 to 1 for detectors, from 0 to 1 for others."""
    drawn = os.path.join(folder, "pictures.npy")
    if not os.path.exists(drawn):
        subprocess.run([sys.executable, os.path.join(HERE, "../../examples/face/picture.py"), "--samples", str(2 * SAMPLES),
                        drawn], check=True)
    x = np.load(drawn)
    x = x[:, np.arange(shape[1]) * x.shape[1] // shape[1]][:, :, np.arange(shape[2]) * x.shape[2] // shape[2]][:, None]
    x = x if "detection" in os.path.basename(path) else (x + 1) / 2
    files = [os.path.join(folder, "mediapipe_%d.npy" % i) for i in range(2)]
    for i, file in enumerate(files):
        np.save(file, x[i * SAMPLES:(i + 1) * SAMPLES].astype(np.float32))
    return files


def mediapipe(args):
    sys.path.insert(0, os.path.join(HERE, "../compare"))
    import mediapipe as networks  # tests/compare/mediapipe.py
    gains = []
    print("| Network, dB of each output | all steps | naive | gain |\n|---|---:|---:|---:|", flush=True)
    for path in networks.fetch():
        run = subprocess.run([args.nnrt, "info", path, "--json", "--budget", "4"], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            print("| %s | %s |" % (os.path.basename(path), run.stderr.strip().split(": ", 2)[-1]), flush=True)
            continue
        files = pictures(json.loads(run.stdout)["inputs"][0]["shape"], path, args.out)
        rows = [sqnrs(args.nnrt, [path] + files, without) for without in ("", "equalize,ranges,bias")]
        gains.append(sum(rows[0][i] - rows[1][i] for i in range(len(rows[0]))) / len(rows[0]))
        print("| %s | %s | %.1f |" % (os.path.basename(path), " | ".join(", ".join("%.1f" % v for v in row) for row in rows), gains[-1]),
              flush=True)
    return verdict(gains)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nnrt", default="build/nnrt")
    parser.add_argument("--out", default="build/quantize")
    parser.add_argument("--mediapipe", action="store_true")
    parser.add_argument("networks", nargs="*")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    if args.mediapipe:
        return mediapipe(args)
    gains = []
    print("| Network, dB | " + " | ".join(("without " if step in ("equalize", "ranges", "bias", "channels") else "") + step
                                       for step, _ in WITHOUT) + " |")
    print("|---|" + "---:|" * len(WITHOUT), flush=True)
    for name in args.networks or NETWORKS:
        paths = write(name, args.out)
        row = [sqnrs(args.nnrt, paths, without)[0] for _, without in WITHOUT]
        gains.append(row[0] - row[-2])
        print("| %s | %s |" % (name, " | ".join("%.1f" % v for v in row)), flush=True)
    return verdict(gains)


if __name__ == "__main__":
    sys.exit(main())
