#!/usr/bin/env python3
"""The time of a call from Python beside C and onnxruntime-node, and what inputs used in place save.

    bench.py PROGRAM [MODULES]   PROGRAM: bench.c; MODULES: a folder with onnxruntime-node (make compare fetches it)

The least mean of 30 loops, in microseconds, one thread. Fails if a call costs 3 microseconds more than in C."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

import nnrt
from models import DIGITS, onnx_bytes, unary

LIMIT = 3.0  # microseconds
N = 8 << 20
JS = """
const ort = require('onnxruntime-node');
(async () => {
  for (const [path, name, shape] of JSON.parse(process.argv[2])) {
    const s = await ort.InferenceSession.create(path, {intraOpNumThreads: 1});
    const x = new ort.Tensor('float32', new Float32Array(shape.reduce((a, b) => a * b, 1)), shape);
    let best = 1e18;
    for (let k = 0; k < 30; k++) {
      const start = process.hrtime.bigint();
      let n = 0;
      for (; n < 5000 && (n % 8 != 0 || Number(process.hrtime.bigint() - start) < 2e7); n++) await s.run({[name]: x});
      best = Math.min(best, Number(process.hrtime.bigint() - start) / n);
    }
    console.log(best);
  }
})();
"""


def bench(function):
    """Microseconds of a call."""
    best = 1e18
    for _ in range(30):
        start, n = time.perf_counter(), 0
        while n < 50000 and (n % 64 or time.perf_counter() - start < 0.02):
            function()
            n += 1
        best = min(best, (time.perf_counter() - start) / n * 1e6)
    return best


def main(program, modules=None):
    """Prints the tables."""
    with tempfile.TemporaryDirectory() as folder:
        def save(name, data):
            path = pathlib.Path(folder, name + ".onnx")
            path.write_bytes(data)
            return str(path)
        large = onnx_bytes([("ReduceMax", "x", "y")], {"x": ("float32", [N])}, {"y": ("float32", [1])}, opset=13)
        models = {"Relu of 4 elements": (save("relu", unary("Relu", shape=[4])), "x", [4]),
                  "digits": (str(DIGITS), "image", [1, 1, 28, 28]),
                  "ReduceMax of 32 MiB": (save("max", large), "x", [N])}
        paths = [m[0] for m in models.values()]
        c = [float(v) / 1e3 for v in subprocess.run([program, *paths], capture_output=True, text=True, check=True).stdout.split()]
        node = [float("nan")] * len(c)
        if modules and os.path.isdir(modules):
            done = subprocess.run(["node", "-e", JS, "-", json.dumps(list(models.values()))], capture_output=True, text=True,
                                  env={**os.environ, "NODE_PATH": modules})
            node = [float(v) / 1e3 for v in done.stdout.split()] or sys.exit(done.stderr)
        print("%-22s %10s %10s %10s %18s %22s" % ("us per run", "C", "Python", "Python-C", "not contiguous", "onnxruntime-node"))
        worst = 0.0
        for (label, (path, name, shape)), in_c, in_node in zip(models.items(), c, node):
            options = nnrt.SessionOptions()
            options.intra_op_num_threads = 1
            session = nnrt.InferenceSession(path, options)
            feeds = {name: numpy.zeros(shape, numpy.float32)}
            steps = {name: numpy.zeros(shape[:-1] + [2 * shape[-1]], numpy.float32)[..., ::2]}
            here, copied = bench(lambda: session.run(None, feeds)), bench(lambda: session.run(None, steps))
            print("%-22s %10.2f %10.2f %10.2f %18.2f %22.2f" % (label, in_c, here, here - in_c, copied, in_node))
            worst = max(worst, here - in_c if label.startswith("Relu") else 0)
    print("a call costs %.2f us more than in C, limit %.0f" % (worst, LIMIT))
    return worst > LIMIT


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
