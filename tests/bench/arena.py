#!/usr/bin/env python3
"""Prints the arena of each network on the devices reference and cpu.

    python3 arena.py NNRT FOLDER

NNRT: the program build/nnrt. FOLDER: .onnx files; models of one operator, whose tensors all are inputs and outputs of the
model, are left out. Exit status: 1 if a network is not read.
"""
import pathlib
import re
import subprocess
import sys

WANTED = 1.25


def arena(nnrt, path, device):
    """Bytes of the arena as `nnrt info` prints them."""
    done = subprocess.run([nnrt, "info", "--device", device, path], capture_output=True, text=True, check=False)
    found = re.search(r"^arena +([0-9]+) bytes", done.stdout, re.M)
    if done.returncode != 0 or not found:
        sys.exit(f"{path}: {done.stderr.strip() or 'no arena'}")
    return int(found.group(1))


def main(nnrt, folder):
    rows = []
    for path in sorted(pathlib.Path(folder).glob("*.onnx")):
        reference = arena(nnrt, path, "reference")
        if reference > 0:
            cpu = arena(nnrt, path, "cpu")
            rows.append((cpu / reference, path.stem, reference, cpu))
    print(f"{'network':28}{'reference':>12}{'cpu':>12}{'ratio':>8}")
    for ratio, name, reference, cpu in sorted(rows):
        print(f"{name:28}{reference:12}{cpu:12}{ratio:8.2f}")
    missed = sum(row[0] > WANTED for row in rows)
    print(f"at most {WANTED}: {len(rows) - missed} of {len(rows)} networks" + (", MISSED" if missed else ", met"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
