#!/usr/bin/env python3
"""ONNX's own node tests with a symbol in the place of every dimension of every input: `make models-open`.

    models_open.py [--only TEXT] [--list] [--check docs/ONNX.md] NNRT

The tests are those of the folder NNRT_ONNX_TESTDATA. Of each test that passes with the dimensions of its file:

info     `nnrt info` shows the file; that it is also imported without a shape or a value the suite onnx-nodes tests (nnrt_onnx_load)
run      `nnrt run` with the test's inputs, whose shapes the session takes
bounds   the same with --max: dynamic dimensions, whose upper bounds are the test's sizes; "asked": of these, runs that succeed with
         the option that the first message asks for (here: --shape 'NAME=D,D,...')

Outputs are compared with the test's (TOLERANCE: that of ONNX's own runner). The last lines say how many were refused, by reason;
--list also names each. Exit status: 1 if a result is wrong, `nnrt info` fails, or the page of --check has other figures.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import sys
import tempfile

import numpy
import onnx
from onnx import numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kit"))
import commands  # noqa: E402

TOLERANCE = {"rtol": 1e-3, "atol": 1e-7}


def arrays(folder, kind):
    """The tensors of a data set, in order; None if one is no tensor of numbers."""
    values = []
    for i in range(len(glob.glob(os.path.join(folder, kind + "_*.pb")))):
        tensor = onnx.TensorProto()
        try:
            with open(os.path.join(folder, "%s_%d.pb" % (kind, i)), "rb") as f:
                tensor.ParseFromString(f.read())
            values.append(numpy_helper.to_array(tensor))
        except Exception:  # a sequence: protobuf's own errors have no common class
            return None
        if values[-1].dtype.kind not in "fiub":
            return None
    return values


def run(nnrt, path, inputs, expected, options, out):
    """"passes", "wrong: ...", or the reason of a refusal."""
    done = commands.run(nnrt, "run", path, *inputs, *options, "--output-dir", out, text=True)
    if done.returncode != 0:
        return done.stderr.strip().split("\n")[-1]
    files = re.findall(r"\S+\.npy$", done.stdout, re.M)  # in the order of the outputs
    for wanted, file in zip(expected, files):
        got = numpy.load(os.path.join(out, os.path.basename(file)))
        if got.shape != wanted.shape or not numpy.allclose(got.astype("float64"), wanted.astype("float64"), equal_nan=True, **TOLERANCE):
            return "wrong: %s is %s%s, expected %s%s" % (os.path.basename(file), got.dtype, list(got.shape), wanted.dtype, list(wanted.shape))
    return "passes" if len(files) == len(expected) else "wrong: %d outputs" % len(files)


def run_bounded(nnrt, path, inputs, expected, sizes, out):
    """As run, with --max; "asked" if it passes after the message's own option, of an input."""
    most = [word for name, size in sizes.items() for word in ("--max", "%s=%s" % (name, size))]
    result = run(nnrt, path, inputs, expected, most, out)
    asked = re.search(r"; here: --shape '(.+)=D,D,\.\.\.'$", result)
    if asked is None or asked.group(1) not in sizes:
        return result
    most = [word for name, size in sizes.items()
            for word in ("--shape" if name == asked.group(1) else "--max", "%s=%s" % (name, size))]
    again = run(nnrt, path, inputs, expected, most, out)
    return "asked" if again == "passes" else again


def try_test(nnrt, folder):
    """{way: result} of a test; None: it is none, or does not pass with the dimensions of its file."""
    inputs, expected = (arrays(os.path.join(folder, "test_data_set_0"), kind) for kind in ("input", "output"))
    if not inputs or expected is None:
        return None
    with tempfile.TemporaryDirectory() as work:
        model = onnx.load(os.path.join(folder, "model.onnx"))
        names = [i.name for i in model.graph.input][:len(inputs)]
        given, sizes = [], {}
        for name, array in zip(names, inputs):
            file = os.path.join(work, "%d.npy" % len(given))
            numpy.save(file, array)
            given += ["--input", "%s=%s" % (name, file)]
            if array.ndim > 0:
                sizes[name] = ",".join(map(str, array.shape))
        if run(nnrt, os.path.join(folder, "model.onnx"), given, expected, [], os.path.join(work, "fixed")) != "passes":
            return None
        for item in model.graph.input:
            for k, dim in enumerate(item.type.tensor_type.shape.dim):
                dim.dim_param = "%s_%d" % (item.name, k)
        del model.graph.value_info[:]
        for item in model.graph.output:
            if item.type.HasField("tensor_type"):
                item.type.tensor_type.ClearField("shape")
        path = os.path.join(work, "open.onnx")
        onnx.save(model, path)
        info = commands.run(nnrt, "info", path, text=True)
        return {"info": "passes" if info.returncode == 0 else info.stderr.strip(),
                "run": run(nnrt, path, given, expected, [], os.path.join(work, "run")),
                "bounds": run_bounded(nnrt, path, given, expected, sizes, os.path.join(work, "bounds"))}


def reason(message):
    """The message without the names of files, nodes and tensors."""
    return re.sub(r"'[^']*'|\d+", "_", re.sub(r"^nnrt: cannot \S+ \S+: ", "", message))[:140]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nnrt")
    parser.add_argument("--only", default="", help="tests whose names contain this text")
    parser.add_argument("--list", action="store_true", help="name every refused test")
    parser.add_argument("--check", help="a page that has the figures")
    args = parser.parse_args()
    page = re.sub(r"\s+", " ", open(args.check, encoding="utf-8").read()) if args.check else ""
    folders = [f for f in sorted(glob.glob(os.path.join(os.environ["NNRT_ONNX_TESTDATA"], "node", "test_*"))) if args.only in os.path.basename(f)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = [(os.path.basename(f), r) for f, r in zip(folders, pool.map(lambda f: try_test(args.nnrt, f), folders)) if r]
    failed = 0
    for way, text in ("info", "shows %s"), ("run", "%s run"), ("bounds", "%s run with upper bounds"):
        reasons = collections.defaultdict(list)
        for name, r in results:
            if r[way] not in ("passes", "asked"):
                reasons[r[way] if r[way].startswith("wrong") else reason(r[way])].append(name)
        failed += sum(len(names) for why, names in reasons.items() if way == "info" or why.startswith("wrong"))
        figures = "%d of %d" % (len(results) - sum(map(len, reasons.values())), len(results))
        asked = [name for name, r in results if r[way] == "asked"]
        print("%-7s %s pass%s" % (way, figures, ", asked: %s" % " ".join(asked) if asked else ""))
        if args.check and text % figures not in page:
            print("FAIL    %s has other figures" % args.check)
            failed += 1
        for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
            print("    %4d  %s%s" % (len(names), why, ": " + " ".join(names) if args.list else ""))
    print("%d passed, %d failed" % (3 * len(results) - failed, failed))
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
