"""The Python programs of docs/python.md run in the root of the repository."""
import os
import re
import subprocess
import sys
import unittest

from models import ROOT


class Docs(unittest.TestCase):
    def test_programs(self):
        programs = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/python.md").read_text(encoding="utf-8"), re.M | re.S)
        self.assertEqual(len(programs), 3)
        os.makedirs(ROOT / "build", exist_ok=True)
        for program in programs:
            done = subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=ROOT, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout)
