#!/usr/bin/env python3
"""Measures nnrt beside other libraries: networks and single layers, in turn, in one process. `make bench` runs it.

It prints and writes ratios of times within one run; times of one run say little about another machine, or the same one an hour
later. Of networks: nnrt's devices and ONNX Runtime (the npm package onnxruntime-node). Of layers OpenBLAS, oneDNN and XNNPACK
as well, where Debian's packages are present or can be installed. Missing libraries are listed with the reason.

build/bench/results.tsv has every figure (bench.c says how), build/bench/report.html shows them. Run it in the root of
the repository. Exit status: 0 everything was measured, 1 something could not be, 2 wrong usage; targets that are not
met do not count.
"""
import argparse
import os
import platform
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import models  # noqa: E402
import report  # noqa: E402

ORT = "build/compare/node_modules/onnxruntime-node/bin/napi-v6/linux/%s/libonnxruntime.so.1" % (
    "arm64" if platform.machine() == "aarch64" else "x64")
# name, packages, linker options
PEERS = [("openblas", ["libopenblas-dev"], ["-lopenblas"]), ("onednn", ["libdnnl-dev"], ["-ldnnl", "-fopenmp"]),
         ("xnnpack", ["libxnnpack-dev", "libpthreadpool-dev"], ["-lXNNPACK", "-lpthreadpool"])]
NETWORKS = ("chain", "float", "int8")
STARTS = {"lenet": 15, "resnet50": 3}  # processes that load, prepare and run each once


def fail(text):
    print("bench: " + text, file=sys.stderr)
    return 2


def words(text):
    return text.replace(",", " ").split()


def number(text, what):
    try:
        return float(text)
    except ValueError:
        raise ValueError("%s: '%s' is not a number" % (what, text)) from None


def choose(names, kinds, what):
    """Names of a list of words: whole names, or beginnings of some. Raises ValueError."""
    known = [name for name, kind in models.kinds().items() if kind in kinds]
    chosen = []
    for word in names:
        found = [word] if word in known else [name for name in known if name.startswith(word)]
        if not found:
            raise ValueError("%s: no '%s' among %s" % (what, word, " ".join(known)))
        chosen += [name for name in found if name not in chosen]
    return [name for name in known if name in chosen]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="`make bench` takes the same as variables: make bench NETS='lenet dscnn' "
                                            "SECONDS=3 THREADS='1 2' LAYERS=no PEERS=no DEVICES=reference")
    add = parser.add_argument
    add("--nets", default="all", metavar="NAMES", help="networks, or beginnings of their names; all; no")
    add("--layers", default="yes", metavar="NAMES", help="single layers; yes: all; no")
    add("--threads", default="1 2", metavar="NUMBERS", help="how many threads (1 2)")
    add("--seconds", default="2", metavar="S", help="for each model and number of threads (2)")
    add("--devices", default="cpu reference", metavar="NAMES", help="devices of nnrt (cpu reference)")
    add("--peers", default="yes", choices=("yes", "no"),
        help="no: nothing but nnrt, and nothing is fetched or installed")
    add("--driver", default="build/bench/bench", metavar="PROGRAM", help=argparse.SUPPRESS)
    add("--out", default="build/bench", metavar="FOLDER", help="where results.tsv and report.html go (build/bench)")
    add("--from", dest="old", metavar="FILE", help="runs nothing: tables of a results.tsv that is there")
    options = parser.parse_args(arguments)
    options.models = []
    if options.nets != "no":
        options.models += choose([""] if options.nets == "all" else words(options.nets), NETWORKS, "--nets")
    if options.layers != "no":
        options.models += choose([""] if options.layers == "yes" else words(options.layers), ("product", "convolution"),
                                 "--layers")
    if not options.models:
        raise ValueError("neither networks nor layers are chosen")
    if not options.old and not 0 < number(options.seconds, "--seconds") <= 3600:
        raise ValueError("--seconds: %s is not above 0, or above an hour" % options.seconds)
    for word in words(options.threads):
        if number(word, "--threads") not in range(1, 17):
            raise ValueError("--threads: %s is not a number from 1 to 16" % word)
    return options


def run(command):
    """Whether a command succeeds, and its first error or its last line."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL)
    said = done.stdout.strip().splitlines()
    return done.returncode == 0, next((line for line in said if "error:" in line), said[-1] if said else "no message")


def progress(text):
    """A line that is rewritten, where standard error is a terminal; "" takes it away."""
    if sys.stderr.isatty():
        print("\r\033[K" + text, end="", file=sys.stderr, flush=True)


class Run:
    """One measurement: its lines go to results.tsv as they come."""

    def __init__(self, options):
        self.options, self.status, self.without = options, 0, set()
        os.makedirs(options.out, exist_ok=True)
        self.path = os.path.join(options.out, "results.tsv")
        self.file = open(self.path, "w", encoding="utf-8")

    def put(self, *fields):
        self.file.write("\t".join(str(f) for f in fields) + "\n")

    def absent(self, who, why):
        progress("")
        self.put("absent", who, why)
        print("bench: without %s: %s" % (who, why), file=sys.stderr)

    def describe(self):
        """Properties that the driver cannot report."""
        self.put("machine", "date", time.strftime("%Y-%m-%d", time.gmtime()))
        self.put("machine", "processor", report.processor())
        compiler = os.environ.get("CC", "cc").split()
        self.put("machine", "compiler", subprocess.run([*compiler, "--version"], capture_output=True,
                                                       text=True).stdout.split("\n")[0])
        self.put("machine", "seconds", self.options.seconds)
        if hasattr(os, "getloadavg"):
            self.put("machine", "load before", "%.1f of %d cores" % (os.getloadavg()[0], os.cpu_count() or 1))

    def fetch(self):
        """ONNX Runtime: its library, or None."""
        if self.options.peers == "no":
            self.put("absent", "ONNX Runtime", "not asked for")
            return None
        progress("fetching ONNX Runtime")
        good, said = run(["sh", "tests/compare/run.sh", "--fetch"])
        if good and os.path.exists(ORT):
            return ORT
        self.absent("ONNX Runtime", said if not good else "the npm package has no library for this machine")
        return None

    def build_peers(self, layers):
        """The folder of the other libraries, each behind its file of this folder."""
        folder = os.path.join(self.options.out, "peers")
        os.makedirs(folder, exist_ok=True)
        for name, packages, libraries in PEERS:
            source, target = os.path.join(HERE, name + ".c"), os.path.join(folder, name + ".so")
            if os.path.exists(target):
                os.remove(target)
            if self.options.peers == "no" or not layers:
                self.put("absent", name, "not asked for")
                continue
            progress("installing and building " + name)
            good, said = run(["sh", "tools/need.sh", *packages])
            if not good:
                self.absent(name, said)
                continue
            good, said = run([*os.environ.get("CC", "cc").split(), "-std=c99", "-O2", "-Wall", "-Wextra", "-fPIC",
                              "-shared", "-o", target, source, *libraries])
            if not good:
                self.absent(name, "%s cannot be compiled with %s: %s" % (source, " ".join(packages), said))
        return folder

    def plan(self, entries):
        path = os.path.join(self.options.out, "plan.tsv")
        with open(path, "w", encoding="utf-8") as f:
            for name, entry in entries.items():
                file = os.path.join(self.options.out, "models", entry["file"])
                f.write("\t".join([name, entry["kind"], *entry["shape"].split(), file]) + "\n")
                self.put("model", name, entry["kind"], entry["macs"], entry["bytes"])
        return path

    def drive(self, *arguments):
        """Runs the driver; its lines are kept. Returns whether all went well."""
        with subprocess.Popen([self.options.driver, *arguments], stdout=subprocess.PIPE, text=True,
                              errors="replace") as child:
            for line in child.stdout:
                self.file.write(line)
                self.file.flush()
                if line.startswith("absent\tnnrt "):
                    self.without.add(line.split("\t")[1][len("nnrt "):])
        if child.returncode != 0:
            self.status = 1
        return child.returncode == 0

    def starts(self, entries):
        """Time of the first run of a process: from ONNX, from .nnrt, and from .nnrt with prepacked weights."""
        for name, count in STARTS.items():
            if name not in entries:
                continue
            onnx = os.path.join(self.options.out, "models", entries[name]["file"])
            plain, packed = [onnx[:-len(".onnx")] + ending for ending in (".nnrt", ".packed.nnrt")]
            if not self.drive("--convert", onnx, plain):
                continue
            for device in [d for d in words(self.options.devices) if d not in self.without]:
                files = [onnx, plain]
                if device == "cpu" and self.drive("--convert", onnx, packed, device):
                    files.append(packed)
                for file in [f for f in files for _ in range(count)]:
                    progress("start of %s on %s" % (name, device))
                    if not self.drive("--start", device, file):
                        break
        progress("")


def measure(options):
    """Runs everything. Returns the file of results and the status."""
    this = Run(options)
    with this.file:
        this.describe()
        progress("writing the models")
        entries = models.write(os.path.join(options.out, "models"), options.models)
        library = this.fetch()
        peers = this.build_peers(any(e["kind"] not in NETWORKS for e in entries.values()))
        progress("")
        this.drive("--threads", options.threads, "--seconds", options.seconds, "--devices", options.devices,
                   "--peers", peers, *(["--ort", library] if library else []), this.plan(entries))
        this.starts(entries)
    return this.path, this.status


def main(arguments):
    try:
        options = parse(arguments)
    except ValueError as error:
        return fail(str(error))
    path, status = options.old, 0
    if path is None:
        if not os.access(options.driver, os.X_OK):
            return fail("%s is not there; run make bench" % options.driver)
        path, status = measure(options)
    try:
        results = report.Results(path)
    except (OSError, ValueError) as error:
        return fail("%s: %s" % (path, error))
    page = os.path.join(options.out, "report.html")
    os.makedirs(options.out, exist_ok=True)
    with open(page, "w", encoding="utf-8") as f:
        f.write(report.page(results))
    try:
        report.show(results)
        print("\n%s has every figure, %s shows them" % (path, page), flush=True)
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
