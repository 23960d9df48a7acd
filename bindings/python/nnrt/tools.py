"""The commands of the program nnrt, run in a process of their own: an option NAME=VALUE is --name VALUE."""
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Sequence

import numpy

from . import _nnrt


def main() -> int:
    """Runs the command in sys.argv, in this process."""
    arguments = [b"nnrt", *map(os.fsencode, sys.argv[1:])]
    return int(ctypes.CDLL(_nnrt.__file__).nnrt_main(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments)))


def _arguments(options: Any, folder: str) -> List[str]:
    """The options as arguments: True is an option without a value, a list repeats it, an array becomes a .npy file."""
    arguments: List[str] = []
    for name, value in options.items():
        for i, v in enumerate(value if isinstance(value, (list, tuple)) else [value]):
            if isinstance(v, numpy.ndarray):
                numpy.save(path := os.path.join(folder, "%s%d.npy" % (name, i)), v)
                v = path
            if v is not None and v is not False:
                arguments.append(("--" if len(name) > 1 else "-") + name.replace("_", "-"))
                arguments += [] if v is True else [str(v)]
    return arguments


def run(command: str, *operands: Any, **options: Any) -> str:
    """Runs a command and returns its output. ValueError: wrong usage; RuntimeError: it failed."""
    with tempfile.TemporaryDirectory() as folder:
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        paths = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        done = subprocess.run([sys.executable, "-m", "nnrt", command, *map(os.fspath, operands), *_arguments(options, folder)],
                              env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise (ValueError if done.returncode == 2 else RuntimeError)(done.stderr.strip())
    return done.stdout


def convert(model: Any, output: Any, **options: Any) -> None:
    """Writes a model as a .nnrt file."""
    run("convert", model, output, **options)


def quantize(model: Any, output: Any, data: Any = None, **options: Any) -> str:
    """Writes a float32 model as a .nnrt or .onnx file that computes in 8-bit integers. data: samples, an array or a path."""
    return run("quantize", model, data=data, o=output, **options)


def emit_c(model: Any, output: Any, **options: Any) -> str:
    """Writes a model as C."""
    return run("emit-c", model, o=output, **options)


def compare(model: Any, devices: Sequence[str] = ("reference", "auto"), **options: Any) -> Dict[str, Any]:
    """Runs a model on two devices; the report of the first node whose result differs."""
    return dict(json.loads(run("compare", model, device=list(devices), json=True, **options)))
