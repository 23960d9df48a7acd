#!/usr/bin/env python3
"""Compares nnrt with ONNX Runtime, network by network, on the same random inputs.

    python3 compare.py NETWORKS_DIR [options]     run from the repository's root; `make compare` does it all

NETWORKS_DIR has been written by make_networks.py, or is any folder with .onnx files: then free dimensions are 1 unless
--dim gives them, float inputs are drawn from [-1, 1) and integers are 0 or 1.

Every case runs with two seeds. For each output the shapes must be equal and max|a - b| / max|b| at most the tolerance,
a from nnrt and b from ONNX Runtime; integers and booleans must be equal exactly. In our own networks the two seeds must
also give outputs that differ clearly, so that agreement means something. Times are for information: one thread, median.
Exit status: 0 all passed, 1 some failed, 2 wrong usage.
"""
import argparse
import collections
import json
import os
import platform
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx

TOLERANCE = 1e-4
SEEDS = (1, 2)
LEAST_SIGNAL = 20  # the two seeds' outputs differ by at least this many tolerances;
LEAST_QUANTISED = 1  # for quantized networks, whose tolerance is in units, this many
TIME_LIMIT_S = 600
# ONNX TensorProto.DataType to numpy.
TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
         11: "float64", 12: "uint32", 13: "uint64"}

Input = collections.namedtuple("Input", "name dtype dims")  # dims: an int, or the name of a dynamic dimension


class Failure(Exception):
    """A program failed or a result is wrong. brief: the word for the table, text: the reason."""

    def __init__(self, brief, text):
        super().__init__(text)
        self.brief = brief


def relative_error(a, b):
    """max|a - b| / max|b| for floats, where NaN and infinities must have the same indices; other types: 0 or inf."""
    if a.dtype.kind != "f":
        return 0.0 if np.array_equal(a, b) else np.inf
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return np.inf
    if not finite.any():
        return 0.0
    difference, size = np.abs(a[finite] - b[finite]).max(), np.abs(b[finite]).max()
    return 0.0 if difference == 0 else difference / size if size > 0 else np.inf


def worst_place(a, b):
    """Index of the element that differs most; one that is not a number in only one of them counts as infinitely far."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(a.astype(np.float64) - b.astype(np.float64))
    same = (a == b) | ((a != a) & (b != b))
    apart = np.where(same, 0, np.where(np.isnan(apart), np.inf, apart))
    return tuple(int(i) for i in np.unravel_index(np.argmax(apart), a.shape))


def check_measure():
    """The measure itself, against values worked by hand: a comparison that cannot fail is worth nothing."""
    nan, inf = np.nan, np.inf
    cases = [([1, 2], [1, 2], 0), ([1, 2.5], [1, 2], 0.25), ([0, 0], [0, 0], 0), ([1, 0], [0, 0], inf), ([], [], 0),
             ([nan, 2], [nan, 2], 0), ([nan, 2], [1, 2], inf), ([1, 2], [nan, 2], inf), ([inf, 3], [inf, 2], 0.5),
             ([-inf, 2], [inf, 2], inf), ([-4, 1], [-5, 1], 0.2)]
    for a, b, expected in cases:
        found = relative_error(np.array(a, np.float32), np.array(b, np.float32))
        if not (found == expected or abs(found - expected) < 1e-12):
            raise SystemExit("relative_error(%s, %s) is %g, not %g" % (a, b, found, expected))
    if relative_error(np.array([1, 2]), np.array([1, 3])) != inf or relative_error(np.array([True]), np.array([True])):
        raise SystemExit("relative_error is wrong for integers")


def command(arguments, brief):
    """Runs a program and returns its output. Failure carries its last messages."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Failure("too slow", "%s took over %d s" % (arguments[0], TIME_LIMIT_S)) from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip() or "no message"
        raise Failure(brief, "%s ended with status %d: %s" % (arguments[0], done.returncode, said[-1500:]))
    return done.stdout


class Network:
    """One .onnx file with the cases to run on it."""

    def __init__(self, name, path, entry, options, arguments=()):
        self.name, self.path, self.options, self.arguments = name, path, options, list(arguments)
        self.own = entry is not None
        entry = entry or {}
        self.told, self.constant = entry.get("shapes", {}), entry.get("constant", False)
        self.ranges, self.tolerance = entry.get("ranges", {}), entry.get("tolerance", TOLERANCE)
        self.least_signal = LEAST_QUANTISED if entry.get("integers") else LEAST_SIGNAL
        self.cases = entry.get("cases") or [options.dims]
        self.bounds = entry.get("bounds", {})  # of dynamic dimensions, by name
        self.arena_limit = options.arenas.get(self.name, entry.get("arena_limit"))
        self.work = os.path.join(options.work, "runs", self.name)
        self.seconds = 0.0

    def read(self):
        """Takes nodes and inputs from the file."""
        graph = onnx.load(self.path, load_external_data=False).graph
        self.nodes = len(graph.node)
        constants = {c.name for c in graph.initializer}
        self.inputs = [self.read_input(i) for i in graph.input if i.name not in constants]

    def read_input(self, value):
        kind = value.type.tensor_type
        if kind.elem_type not in TYPES:
            raise Failure("skipped", "input %s has a type that .npy does not carry" % value.name)
        dims = tuple(d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in kind.shape.dim)
        return Input(value.name, np.dtype(TYPES[kind.elem_type]), self.told.get(value.name, dims))

    def draw(self, item, case, random):
        """Random values for one input. Images get a mean for each channel: a mean over many pixels, as most networks
        take at their end, would otherwise leave nothing of the input."""
        dims = [d if isinstance(d, int) else case.get(d, 1) for d in item.dims]
        low, high = self.ranges.get(item.name, (-1, 1) if item.dtype.kind == "f" else (0, 2))
        if item.dtype.kind != "f":
            return np.asarray(random.randint(low, high, dims)).astype(item.dtype)
        values = random.uniform(low, high, dims)
        if len(dims) == 4:
            values = (values + random.uniform(low, high, dims[:2] + [1, 1])) / 2
        return np.asarray(values).astype(item.dtype)

    def run_both(self, case, seed, bench):
        """Runs both programs on one set of inputs. Returns {name: array} of each, and ONNX Runtime's median in ms."""
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        random = np.random.RandomState(seed)
        arguments = []
        for i, item in enumerate(self.inputs):
            file = os.path.join(self.work, "input%d.npy" % i)
            np.save(file, self.draw(item, case, random))
            arguments += ["--input", "%s=%s" % (item.name, file)]
        ours, theirs = os.path.join(self.work, "nnrt"), os.path.join(self.work, "ort")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ort.mjs")
        said = command(["node", script, "--modules", self.options.work, self.path, "--output-dir", theirs, *arguments,
                        *(["--bench", "300"] if bench else [])], "ORT failed")
        start = time.monotonic()
        command([self.options.nnrt, "run", self.path, *self.arguments, *arguments, *self.upper(), "--output-dir", ours],
                "refused")
        self.seconds = time.monotonic() - start
        return self.load(ours), self.load(theirs), json.loads(said.splitlines()[-1])["median_ms"] if bench else None

    @staticmethod
    def load(folder):
        return {f: np.load(os.path.join(folder, f)) for f in sorted(os.listdir(folder)) if f.endswith(".npy")}

    def compare(self):
        """Runs every case with both seeds. Returns the largest error and ONNX Runtime's time, or raises Failure."""
        worst, ort_ms = 0.0, None
        for case in self.cases:
            results = []
            for seed in SEEDS:
                ours, theirs, ms = self.run_both(case, seed, self.options.times and ort_ms is None)
                ort_ms = ms if ort_ms is None else ort_ms
                if ours.keys() != theirs.keys() or not ours:
                    raise Failure("differ", "outputs %s, expected %s" % (sorted(ours), sorted(theirs)))
                worst = max([worst] + [self.compare_output(name, ours[name], theirs[name]) for name in ours])
                results.append(theirs)
            if self.own:
                self.check_signal(*results)
        return worst, ort_ms

    def compare_output(self, name, a, b):
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Failure("differ", "%s is %s%s, expected %s%s" % (
                name, a.dtype, list(a.shape), b.dtype, list(b.shape)))
        error = relative_error(a, b)
        if error > self.tolerance:
            at = worst_place(a, b)
            raise Failure("differ", "%s: error %.3g, at %s %s, expected %s" % (name, error, list(at), a[at], b[at]))
        return error

    def check_signal(self, one, two):
        for name in one:
            if one[name].shape != two[name].shape:
                continue  # as many as were found
            signal = relative_error(one[name], two[name])
            if one[name].dtype.kind == "f" and signal < self.least_signal * self.tolerance:
                raise Failure("no signal", "%s hardly depends on the input (%.3g): change the network" % (name, signal))

    def upper(self):
        """--max for inputs with dynamic dimensions, where the network has bounds."""
        result = []
        for item in self.inputs:
            if self.bounds and any(not isinstance(d, int) for d in item.dims):
                dims = ",".join(str(d if isinstance(d, int) else self.bounds[d]) for d in item.dims)
                result += ["--max", "%s=%s" % (item.name, dims)]
        return result

    def shapes(self):
        """--shape for inputs with free dimensions, as in the first case."""
        result = []
        for item in self.inputs:
            if any(not isinstance(d, int) for d in item.dims):
                dims = ",".join(str(d if isinstance(d, int) else self.cases[0].get(d, 1)) for d in item.dims)
                result += ["--shape", "%s=%s" % (item.name, dims)]
        return result

    def arena(self):
        """Arena bytes as nnrt states them."""
        said = command([self.options.nnrt, "info", self.path, "--json", *self.arguments, *self.shapes()], "no info")
        return json.loads(said)["arena_bytes"]

    def bench(self):
        """nnrt's median in ms; fewer repetitions where one run takes long."""
        reps = "3" if self.seconds > 0.5 else "30"
        said = command([self.options.nnrt, "bench", self.path, "--json", "--threads", "1", "--reps", reps,
                        *self.arguments, *self.shapes()], "no bench")
        return json.loads(said)["median_ms"]


def processor():
    """The machine in words."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), model)
    except OSError:
        pass
    return "%s, %s, %d cores" % (model, platform.machine(), os.cpu_count() or 1)


def row(name, nodes="", error="", bound="", arena="", limit="", nnrt_ms="", ort_ms="", ratio="", verdict=""):
    """One line of the table. Floats are written with the digits that matter there."""
    def text(value, form):
        return "-" if value is None else value if isinstance(value, str) else form % value

    print("%-30s %5s %9s %7s %9s %9s %9s %8s %7s  %s" % (
        name, text(nodes, "%d"), text(error, "%.1e"), text(bound, "%.2g"), text(arena, "%d"), text(limit, "%d"),
        text(nnrt_ms, "%.3f"), text(ort_ms, "%.3f"), text(ratio, "%.1f"), verdict), flush=True)


def judge(network):
    """Compares one network and prints its row. Returns whether it passed."""
    nodes = error = arena = nnrt_ms = ort_ms = reason = None
    verdict = "agrees"
    try:
        network.read()
        nodes = network.nodes
        error, ort_ms = network.compare()
        if not network.constant:
            arena = network.arena()
        if network.options.times and not network.constant:
            nnrt_ms = network.bench()
        if network.arena_limit and arena > network.arena_limit:
            raise Failure("arena", "%d bytes of arena, allowed are %d" % (arena, network.arena_limit))
    except Failure as failure:
        verdict, reason = failure.brief, str(failure)
    row(network.name, nodes, error, network.tolerance, arena, network.arena_limit or "", nnrt_ms, ort_ms,
        nnrt_ms / ort_ms if nnrt_ms and ort_ms else None, verdict)
    if reason:
        print("    " + reason.replace("\n", "\n    "), flush=True)
    return reason is None


def usage(message):
    """Ends the program as wrong usage does."""
    print("compare: " + message, file=sys.stderr)
    sys.exit(2)


def pairs(items):
    """["NAME=NUMBER"] as a dictionary."""
    result = {}
    for item in items:
        name, equals, number = item.rpartition("=")
        if not equals or not number.isdigit():
            usage("expected NAME=NUMBER, found " + item)
        result[name] = int(number)
    return result


def arguments():
    parser = argparse.ArgumentParser(description="Compares nnrt with ONNX Runtime on every .onnx file of a folder.")
    parser.add_argument("networks", help="folder of .onnx files")
    parser.add_argument("--work", default="build/compare", help="folder with ONNX Runtime, for results (%(default)s)")
    parser.add_argument("--nnrt", default="build/nnrt", help="the command line (%(default)s)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="extent of a free dimension")
    parser.add_argument("--arena", action="append", default=[], metavar="NAME=BYTES", help="most arena bytes allowed")
    parser.add_argument("--no-times", dest="times", action="store_false", help="compare only")
    options = parser.parse_args()
    options.dims, options.arenas = pairs(options.dim), pairs(options.arena)
    options.nnrt = os.path.abspath(options.nnrt)
    return options


def main():
    check_measure()
    options = arguments()
    try:
        files = sorted(f for f in os.listdir(options.networks) if f.endswith(".onnx"))
    except OSError as error:
        usage("%s: %s" % (options.networks, error.strerror))
    if os.path.exists(os.path.join(options.networks, "networks.json")):
        with open(os.path.join(options.networks, "networks.json")) as f:
            entries = json.load(f)
    else:
        entries = {f[:-5]: None for f in files}
    networks = []
    for name, entry in entries.items():
        if options.only and name not in options.only:
            continue
        path = os.path.join(options.networks, entry["file"] if entry else name + ".onnx")
        if entry and entry.get("integers"):
            networks.append(Network(name, path, dict(entry, tolerance=entry["integers"]), options))
            networks.append(Network(name + " --no-quantize", path, entry, options, ["--no-quantize"]))
        else:
            networks.append(Network(name, path, entry, options))
    if not networks:
        usage("no networks to compare in " + options.networks)
    row("network", "nodes", "max error", "bound", "arena B", "limit B", "nnrt ms", "ORT ms", "ratio", "verdict")
    passed = sum([judge(n) for n in networks])
    if options.times:
        print("times: %s; one thread each; ratio = nnrt / ORT; for information, no verdict" % processor())
    if any(n.least_signal == LEAST_QUANTISED for n in networks):
        print("quantised networks: first in integers, where a layer may differ by a unit, as it rounds twice; "
              "make_models.py says why")
    print("%d passed, %d failed" % (passed, len(networks) - passed))
    return 0 if passed == len(networks) else 1


if __name__ == "__main__":
    sys.exit(main())
