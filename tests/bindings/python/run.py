#!/usr/bin/env python3
"""Runs the tests of the Python package, which must be installed: PYTHONPATH=build/python/site python3 run.py [NAME ...]"""
import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent

if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER))
    loader = unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(str(FOLDER))
    result = unittest.TextTestRunner(stream=sys.stdout).run(tests)
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed, %d skipped" % (result.testsRun - failed - len(result.skipped), failed, len(result.skipped)))
    sys.exit(failed > 0)
