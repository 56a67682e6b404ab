#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tests and prints one line each, as the other tests of the repository do.
usage: run.py FILE.py [NAME ...]"""
import importlib.util
import os
import pathlib
import sys
import unittest


class Lines(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.skips = 0

    def addSuccess(self, test):
        print(f"ok {test.shortDescription() or test.id()}", flush=True)

    def addSkip(self, test, reason):
        self.skips += 1
        print(f"skipped {test.id()}: {reason}", flush=True)

    def _bad(self, test, problem):
        print(f"not ok {test.shortDescription() or test.id()}")
        print(self._exc_info_to_string(problem, test), flush=True)

    def addError(self, test, problem):
        super().addError(test, problem)
        self._bad(test, problem)

    def addFailure(self, test, problem):
        super().addFailure(test, problem)
        self._bad(test, problem)

    def addSubTest(self, test, subtest, problem):
        super().addSubTest(test, subtest, problem)
        if problem:
            self._bad(subtest, problem)


def main():
    path = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    loader = unittest.TestLoader()
    suite = (loader.loadTestsFromNames(sys.argv[2:], module) if sys.argv[2:] else
             loader.loadTestsFromModule(module))
    result = Lines()
    suite.run(result)
    if result.skips:
        print(f"[  SKIPPED ] {result.skips} test(s)")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    sys.exit(main())
