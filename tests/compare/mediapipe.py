#!/usr/bin/env python3
"""Runs MediaPipe's networks with nnrt and with TensorFlow Lite, and compares both with an evaluation in float64.

    mediapipe.py [--nnrt build/nnrt] [--only TEXT] [--device cpu] [--seconds 1]      `make models-mediapipe` builds nnrt first

Fetches the npm packages of PACKAGES into build/mediapipe-data, and TensorFlow Lite (tests/formats/tflite/fetch.sh). Each network runs on
a picture (smooth waves) and on random pixels. For each network the table has:

- apart: the largest difference between nnrt and TensorFlow Lite, as a fraction of the largest magnitude of the output;
- nnrt-64, TFL-64, np-64: the same between nnrt and numpy in float64 (tests/formats/tflite/float64.py), between TensorFlow Lite and
  float64, and between numpy in float32 and float64;
- arena: bytes of nnrt; ms, TFL ms, ratio: one run with one thread, nnrt natively, TensorFlow Lite in WebAssembly with SIMD.

A network agrees if each output of nnrt differs from float64 by at most TOLERANCE, or SHARE times as much as TensorFlow Lite or
numpy in float32: some networks amplify the rounding of float32 a thousand times. The last line has the numbers of networks; the
exit status is 1 if one disagrees.
"""
import argparse
import json
import os
import re
import subprocess
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/formats/tflite"))
from float64 import Model64, Unsupported  # noqa: E402

REPLACED = "[^A-Za-z0-9._\u0080-\U0010ffff-]"  # characters of an output's name that are '_' in the name of its file
DATA = os.path.join(ROOT, "build", "mediapipe-data")
MODULES = os.path.join(ROOT, "build", "tflite-data", "node_modules")
TOLERANCE = 1e-4
SHARE = 4
ROW = "%-33s %8s %8s %8s %8s %9s %7s %8s %6s  %s"
TYPES = {"float32": "<f4", "int32": "<i4"}
# package: SHA-256 of its files. An archive NAME.data contains networks, whose places NAME_loader.js lists.
PACKAGES = {
    "@mediapipe/face_detection@0.4.1657300184": {
        "face_detection_short_range.tflite": "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633",
        "face_detection_full_range.tflite": "99bf9494d84f50acc6617d89873f71bf6635a841ea699c17cb3377f9507cfec3",
        "face_detection_full_range_sparse.tflite": "671dd2f9ed11a78436fc21cc42357a803dfc6f73e9fb86541be942d5716c2dce",
    },
    "@mediapipe/face_mesh@0.4.1657299874": {
        "face_mesh_solution_packed_assets.data": "dbe5905c582c0462cdaea17e7e6ecea92edaa8cccc515c5e2e7291f2cbb5fb99",
        "face_mesh_solution_packed_assets_loader.js": "95147c15fdf12ba8b9ffc3c3964dbdfa1ffa4251182749babca19e75962bf128",
    },
    "@mediapipe/hands@0.4.1675469240": {
        "hand_landmark_full.tflite": "8c026882c9ec059ce0f8e75266bee5a9a23c341a40e0000df755374d3d1b9b68",
        "hand_landmark_lite.tflite": "d7fde8ac11f8ce03f8663775bfc323f4fc9f2a38062b4f4efa142874ef5b2a48",
        "hands_solution_packed_assets.data": "bdce7b66bfc5b39ba86a47775c98e0b186fe73f8308c2279f852af4c89ffdf42",
        "hands_solution_packed_assets_loader.js": "d05c073a62a0c8d2d21c18bc8f158424ece0078ea00a636e9527083b10ca1e17",
    },
    "@mediapipe/pose@0.5.1675469404": {
        "pose_landmark_full.tflite": "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f",
        "pose_landmark_heavy.tflite": "59e42d71bcd44cbdbabc419f0ff76686595fd265419566bd4009ef703ea8e1fe",
        "pose_landmark_lite.tflite": "f17bfbecadb61c3be1baa8b8d851cc6619c870a87167b32848ad20db306b9d61",
        "pose_solution_packed_assets.data": "a63c614bef30d35947f13be361820b1e4e3bec9cfeebf4d11216a18373108e85",
        "pose_solution_packed_assets_loader.js": "d7aa29b7d8e11b5c97a58d719e982dd15c2de72995d95112d60492b854840a36",
    },
    "@mediapipe/selfie_segmentation@0.1.1675465747": {
        "selfie_segmentation.tflite": "8d13b7fae74af625c641226813616a2117bd6bca19eb3b75574621fc08557f27",
        "selfie_segmentation_landscape.tflite": "4aafe6223bb8dac6fac8ca8ed56852870a33051ef3f6238822d282a109962894",
    },
}


class Refused(Exception):
    pass


def unpack(folder):
    """Writes the networks of the archives in the folder next to them."""
    for loader in sorted(name for name in os.listdir(folder) if name.endswith("_loader.js")):
        with open(os.path.join(folder, loader), encoding="utf-8") as f:
            files = json.loads(re.search(r"loadPackage\((\{.*\})\);", f.read())[1])["files"]
        with open(os.path.join(folder, loader.replace("_loader.js", ".data")), "rb") as f:
            archive = f.read()
        for file in files:
            path = os.path.join(folder, os.path.basename(file["filename"]))
            if path.endswith(".tflite") and not os.path.exists(path):
                with open(path, "wb") as f:
                    f.write(archive[file["start"]:file["end"]])


def fetch_package(package, files, data):
    """Fetches the files of a package, {path: SHA-256}, into a folder of its name in data. Returns the paths of its networks."""
    folder = os.path.join(data, package.rpartition("@")[0].split("/")[-1])
    listed = "".join("%s  %s\n" % (digest, name) for name, digest in files.items())
    subprocess.run(["sh", os.path.join(ROOT, "tools", "fetch.sh"), folder, package], input=listed, text=True, check=True)
    unpack(folder)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith((".tflite", ".onnx"))]


def fetch():
    """Returns the paths of all networks; a network that several packages contain comes once."""
    subprocess.run(["sh", os.path.join(ROOT, "tests/formats/tflite/fetch.sh")], check=True)
    found = {}
    for package, files in PACKAGES.items():
        for path in fetch_package(package, files, DATA):
            found.setdefault(os.path.basename(path), path)
    return list(found.values())


def make_inputs(shape):
    """A smooth picture and random pixels, values from 0 to 1."""
    y, x = np.meshgrid(np.linspace(0, 1, shape[1]), np.linspace(0, 1, shape[2]), indexing="ij")
    tints = 0.7 + 0.1 * np.arange(shape[3])
    picture = (0.5 + 0.4 * np.sin(7 * x + 3 * y * y))[None, :, :, None] * tints
    return [picture.astype("float32"), np.random.RandomState(1).uniform(0, 1, shape).astype("float32")]


def nnrt(program, command, model, arguments):
    """Output of a command of nnrt. A file that exceeds the default budget gets a larger one; returns it, too."""
    for budget in (1, 2, 4):
        done = subprocess.run([program, command, model, "--json", "--budget", str(budget), *arguments], capture_output=True, text=True)
        if done.returncode == 0:
            return json.loads(done.stdout), budget
        if "--budget" not in done.stderr:
            break
    raise Refused(" ".join(done.stderr.split()).split(".tflite: ", 1)[-1])


def run_nnrt(args, model, inputs):
    """Results for each input, info, milliseconds, budget."""
    device = ["--device", args.device]
    info, budget = nnrt(args.nnrt, "info", model, device)
    results, folder = [], os.path.join(DATA, "out")
    for x in inputs:
        np.save(os.path.join(DATA, "input.npy"), x)
        nnrt(args.nnrt, "run", model, [*device, "--input", os.path.join(DATA, "input.npy"), "--output-dir", folder])
        names = [re.sub(REPLACED, "_", o["name"]) for o in info["outputs"]]
        results.append([np.load(os.path.join(folder, name + ".npy")) for name in names])
    bench, _ = nnrt(args.nnrt, "bench", model, [*device, "--threads", "1"])
    return results, info, bench["median_ms"], budget


def run_tflite(args, model, inputs):
    """Results for each input; of all: the least median and the least time in milliseconds; bytes of memory after the first."""
    os.makedirs(DATA, exist_ok=True)
    lists, paths = os.path.join(DATA, "list"), [os.path.join(DATA, "input%d.bin" % k) for k in range(len(inputs))]
    for path, x in zip(paths, inputs):
        x.tofile(path)
    with open(lists, "w", encoding="utf-8") as f:
        f.write("".join("%s %s\n" % (model, path) for path in paths))
    done = subprocess.run(["node", os.path.join(ROOT, "tests", "compare", "tflite.cjs"), MODULES, lists, str(args.seconds)],
                          check=True, capture_output=True, text=True)
    results, times = [], []
    for line in done.stdout.splitlines():
        if line.startswith("- "):
            custom = re.search(r"unresolved (custom op: \w+)", line)
            raise Refused(custom[1] if custom else line[2:])
        time, *outputs = line.split("; ")
        times.append([float(field) for field in time.split()[1:]])
        fields = [output.split() for output in outputs]
        results.append([np.frombuffer(bytes.fromhex(data), TYPES[kind]).reshape([int(n) for n in shape.split(",")])
                        for kind, shape, data in fields])
    return results, *np.min(times, axis=0)


def distances(results, wanted):
    """For each output of each input: the largest difference as a fraction of the largest magnitude."""
    found = []
    for a, b in zip((y for ys in results for y in ys), (y for ys in wanted for y in ys)):
        a, b = np.asarray(a, float), np.asarray(b, float)
        if a.shape != b.shape or not np.isfinite(b).all():
            raise Refused("shapes %s and %s, or values that are not finite" % (a.shape, b.shape))
        found.append(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300))
    return np.array(found)


def compare(args, model):
    """Prints the line of a network and returns its verdict."""
    name, lines = os.path.basename(model)[:-len(".tflite")], []
    exact = Model64(model)
    inputs = make_inputs(exact.shape(int(exact.inputs[0])))
    try:
        ours, info, ms, budget = run_nnrt(args, model, inputs)
    except Refused as why:
        print("%-34s refused: %s" % (name, why))
        return "refused"
    if budget > 1:
        lines.append("nnrt needs --budget %d" % budget)
    theirs = None
    cells = dict.fromkeys(("apart", "error", "tflite", "numpy", "tflite_ms", "ratio"), "-")
    try:
        theirs, tflite_ms, _, _ = run_tflite(args, model, inputs)
        cells["apart"] = "%.1e" % distances(ours, theirs).max()
        cells["tflite_ms"], cells["ratio"] = "%.2f" % tflite_ms, "%.2f" % (ms / tflite_ms)
    except Refused as why:
        lines.append("TensorFlow Lite refuses it: %s" % why)
    try:
        with np.errstate(over="ignore"):  # of exp: the logistic is then 0
            wanted = [exact.run([x]) for x in inputs]
            others = {"numpy": distances([Model64(model, "float32").run([x]) for x in inputs], wanted)}
        if theirs is not None:
            others["tflite"] = distances(theirs, wanted)
        error = distances(ours, wanted)
        cells.update({key: "%.1e" % found.max() for key, found in (("error", error), *others.items())})
        good = (error <= np.maximum(TOLERANCE, SHARE * np.max(list(others.values()), axis=0))).all()
    except Unsupported as why:
        lines.append("not compared with float64: %s" % why)
        good = theirs is not None and distances(ours, theirs).max() <= TOLERANCE
    verdict = "agrees" if good else "DISAGREES"
    print(ROW % (name, cells["apart"], cells["error"], cells["tflite"], cells["numpy"], info["arena_bytes"], "%.2f" % ms,
                 cells["tflite_ms"], cells["ratio"], "; ".join([verdict, *lines])), flush=True)
    return verdict


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nnrt", default=os.path.join(ROOT, "build", "nnrt"))
    parser.add_argument("--only", default="", help="networks whose names contain this text")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for the runs of TensorFlow Lite")
    args = parser.parse_args()
    try:
        models = [model for model in fetch() if args.only in os.path.basename(model)]
    except subprocess.CalledProcessError:
        return "mediapipe: not all files could be fetched; the message above names them"
    print(ROW % ("network", "apart", "nnrt-64", "TFL-64", "np-64", "arena", "ms", "TFL ms", "ratio", ""))
    verdicts = [compare(args, model) for model in models]
    print("%d networks: %s; tolerance %g of the largest magnitude, or %d times the error of TensorFlow Lite or numpy" % (
        len(models), ", ".join("%d %s" % (verdicts.count(v), text) for v, text in
                               (("agrees", "agree"), ("DISAGREES", "disagree"), ("refused", "refused"))), TOLERANCE, SHARE))
    return 1 if "DISAGREES" in verdicts or not models else 0


if __name__ == "__main__":
    sys.exit(main())
