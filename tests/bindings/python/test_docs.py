"""The Python programs of docs/python.md and docs/text.md run in the root of the repository."""
import os
import re
import subprocess
import sys
import unittest

from models import ROOT

sys.path.insert(0, str(ROOT / "tests/tools"))
import text_case  # noqa: E402


class Docs(unittest.TestCase):
    def test_programs(self):
        os.makedirs(ROOT / "build/text-data", exist_ok=True)
        text_case.main(ROOT / "build/text-data")
        for page, count in {"python": 3, "text": 2}.items():
            blocks = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", (ROOT / "docs" / (page + ".md")).read_text(encoding="utf-8"), re.M | re.S)
            self.assertEqual(len(blocks), count)
            for program, output in blocks:
                done = subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=ROOT, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout)
                if output:
                    self.assertEqual(done.stdout, output)
