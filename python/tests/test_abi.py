# SPDX-License-Identifier: MIT
"""The declarations of ctypes agree with what a C compiler makes of the headers."""
import ctypes
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from common import ROOT
from yawara import _abi as abi, errors
from yawara._library import lib


class Layout(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not compiler or not shutil.which("awk"):
            raise unittest.SkipTest("there is no C compiler or no awk")
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
            paths = sorted((ROOT / "include/yawara").glob("*.h")) + [ROOT / "include/yawara/extend/shown.h"]
            headers = b"".join(p.read_bytes() for p in paths)
            made = subprocess.run(["awk", "-f", str(ROOT / "scripts/public_layout.awk")], input=headers,
                                  stdout=subprocess.PIPE, check=True)
            source.write_bytes(b"#include <yawara/extend/shown.h>\n" + made.stdout)
            subprocess.run([compiler, "-std=c17", f"-I{ROOT / 'include'}", str(source), "-o",
                            str(program)], check=True)
            cls.lines = subprocess.run([str(program)], stdout=subprocess.PIPE, check=True,
                                       universal_newlines=True).stdout.splitlines()

    def test_structs(self):
        """every struct has the size, and every member the place, that C gives it"""
        sizes = [re.fullmatch(r"(yw_\w+) has (\d+) bytes", line) for line in self.lines]
        found = {m.group(1): int(m.group(2)) for m in sizes if m}
        self.assertGreater(len(found), 40)
        self.assertEqual(found, {name: ctypes.sizeof(kind) for name, kind in abi.STRUCTS.items()})
        members = [re.match(r"(yw_\w+)\.(\w+) at (\d+), (\d+) bytes", line) for line in self.lines]
        placed = {m.group(1, 2): (int(m.group(3)), int(m.group(4))) for m in members if m}
        ours = {(name, member): (getattr(kind, member).offset, getattr(kind, member).size)
                for name, kind in abi.STRUCTS.items() for member, *_ in kind._fields_}
        self.assertEqual(placed, ours)

    def test_enums(self):
        """every enumerator has the value that C gives it"""
        values = [re.fullmatch(r"(YW_\w+) is (-?\d+)", line) for line in self.lines]
        found = {m.group(1): int(m.group(2)) for m in values if m}
        self.assertGreater(len(found), 40)
        self.assertEqual(found, {name: getattr(abi, name) for name in found})
        # Every error has an exception of its own.
        self.assertEqual({v for name, v in found.items() if name.startswith("YW_ERR_")}, set(errors.BY_STATUS))

    def test_functions(self):
        """every function of the headers is declared, and in the library"""
        declared = set(re.findall(r"\b(yw_\w+)\(", "\n".join(
            line for line in self.lines if line.startswith("YW_API"))))
        self.assertEqual(declared, set(abi.FUNCTIONS))
        for name in abi.FUNCTIONS:
            self.assertTrue(hasattr(lib, name), name)

    def test_documented(self):
        """settings of bodies have their comments"""
        for struct in ("yw_match_params", "yw_fem_params", "yw_body_def"):
            empty = [name for name, text in abi.DOCS[struct].items()
                     if not text and name not in abi.KINDS.get(struct, {})]
            self.assertLessEqual(len(empty), 1, f"{struct}: {empty}")


if __name__ == "__main__":
    unittest.main()
