"""Builds the extension module from the headers of the repository, into its build/. NNRT_OBJECT: an object of the
implementation (tools/implementation.c), which is then linked instead of compiled; CPPFLAGS must say so (python.mk)."""
import glob
import os
import re
import sys

import numpy
from setuptools import Extension, setup

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BUILD = os.path.join(ROOT, "build", "python")
os.makedirs(BUILD, exist_ok=True)

with open(os.path.join(ROOT, "nnrt.h"), encoding="utf-8") as header:
    version = re.findall(r"^#define NNRT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read(), re.M)

linux = sys.platform.startswith("linux")  # symbols: an object without -fPIC links only if none of its symbols is exported
objects = [os.environ["NNRT_OBJECT"]] if "NNRT_OBJECT" in os.environ else []
module = Extension("nnrt._nnrt", ["nnrt/_nnrt.c"], depends=objects + glob.glob(os.path.join(ROOT, "**", "*.h"), recursive=True),
                   include_dirs=[ROOT, numpy.get_include()], define_macros=[("NNRT_THREADS", "1")],
                   extra_objects=objects,
                   extra_compile_args=["-std=c99", "-O2", "-g0", "-fvisibility=hidden"],
                   extra_link_args=["-s", "-Wl,--version-script=nnrt.map"] if linux else [],
                   libraries=["m", "pthread", "dl"] if linux else ["m"])
setup(version=".".join(version), ext_modules=[module],
      options={"build": {"build_base": os.path.join(BUILD, "temp")}, "egg_info": {"egg_base": BUILD}})
