#!/usr/bin/env python3
"""Lines and branches of the library that the tests reach.

usage: scripts/coverage.py [--quick] [--jobs N] [--only REGEX] [--add] [--library] [--report]

Builds into build/coverage (gcc --coverage, kernels for plain instructions only), runs every test and prints the totals of src/. Per
file, with the lines and branches that nothing reaches: build/coverage/coverage.txt. --quick: the tests of make check. --only: tests
whose names match. --add: on top of what was reached the last time, after tests were written. --library: without the program, which takes
half the time; what only its tests reach counts as not reached. --report: what was reached so far; builds and runs nothing.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
LONG_STUDIES = r"cli/test_(bench|fit|paper)|fem_shapes"  # as in scripts/test.sh


def configure(library):
    flags = "--coverage"
    subprocess.run([ROOT / "scripts" / "configure.sh", BUILD, "-DYW_BUILD_TESTS=ON", "-DYW_WITH_X86_KERNELS=OFF", "-DYW_OPTIMIZE=-O1",
                    "-DYW_WITH_OPENVDB=OFF", "-DYW_WITH_CUDA=OFF", f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_EXE_LINKER_FLAGS={flags}",
                    f"-DCMAKE_SHARED_LINKER_FLAGS={flags}", f"-DYW_BUILD_APP={'OFF' if library else 'ON'}"], check=True)


def listed_tests(quick, only):
    """(name, command, folder, environment) of every test."""
    listed = json.loads(subprocess.run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"], check=True, capture_output=True).stdout)
    for test in listed["tests"]:
        if (quick and re.search(LONG_STUDIES, test["name"])) or not re.search(only, test["name"]):
            continue
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        yield test["name"], test["command"], properties["WORKING_DIRECTORY"], environment


def run_test(test, quick):
    """(seconds, passed). Counters are added to those of other tests."""
    _, command, folder, environment = test
    environment = {**os.environ, **environment, **({"YW_TEST_FAST": "1"} if quick else {})}
    start = time.monotonic()
    try:
        code = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=3600).returncode
    except subprocess.TimeoutExpired:
        code = 1
    return time.monotonic() - start, code == 0


def run_tests(options):
    """Names of tests, and of those that failed."""
    tests, failed, count = list(listed_tests(options.quick, options.only)), [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(run_test, test, options.quick): test[0] for test in tests}
        for done in concurrent.futures.as_completed(waiting):
            name, (seconds, passed) = waiting[done], done.result()
            count += 1
            if not passed:
                failed.append(name)
            print(f"{count} of {len(tests)}: {name} {seconds:.1f} s{'' if passed else ' FAILED'}", file=sys.stderr, flush=True)
    return tests, failed


class Coverage:
    """Counts per file of src/; what headers have is summed over the objects that include them."""

    def __init__(self):
        self.lines = collections.defaultdict(collections.Counter)  # file -> line -> times
        self.branches = collections.defaultdict(dict)  # file -> (object, line, place in it) -> list of flags: taken

    def add(self, object_name, report):
        for source in report["files"]:
            path = pathlib.Path(os.path.normpath(os.path.join(report["current_working_directory"], source["file"])))
            if not path.is_relative_to(ROOT / "src"):
                continue
            name, place = str(path.relative_to(ROOT)), collections.Counter()
            for line in source["lines"]:
                number = line["line_number"]
                self.lines[name][number] += line["count"]
                key = (object_name if name.endswith(".c") else "", number, place[number])
                place[number] += 1
                taken = [branch["count"] > 0 for branch in line["branches"] if not branch["throw"]]
                before = self.branches[name].get(key, [])
                self.branches[name][key] = [a or b for a, b in zip(before, taken)] if len(before) == len(taken) else before or taken

    def totals(self, name):
        flags = [flag for taken in self.branches[name].values() for flag in taken]
        return len(self.lines[name]), sum(1 for times in self.lines[name].values() if times), len(flags), sum(flags)


def counters():
    return sorted(path for path in BUILD.rglob("*.gcda") if re.search(r"CMakeFiles/yw_(objects|kernels_plain)\.dir/", str(path)))


def read_counters():
    coverage = Coverage()
    # Objects that no test even links count as well.
    for notes in BUILD.rglob("*.gcno"):
        if re.search(r"CMakeFiles/yw_(objects|kernels_plain)\.dir/", str(notes)):
            text = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(notes)], cwd=BUILD, check=True,
                                  capture_output=True).stdout.decode()
            for line in text.splitlines():
                coverage.add(str(notes.relative_to(BUILD)), json.loads(line))
    return coverage


def write_report(coverage):
    """The table of files; returns the totals."""
    rows, sums = [], [0, 0, 0, 0]
    for name in sorted(coverage.lines):
        numbers = coverage.totals(name)
        sums = [a + b for a, b in zip(sums, numbers)]
        missed = sorted(line for line, times in coverage.lines[name].items() if not times)
        half = sorted({line for (_, line, _), taken in coverage.branches[name].items() if not all(taken)} - set(missed))
        rows.append(f"{name:50} {numbers[0]:6} {100 * numbers[1] / max(1, numbers[0]):6.1f} {numbers[2]:6} "
                    f"{100 * numbers[3] / max(1, numbers[2]):6.1f}  {' '.join(map(str, missed))} | {' '.join(map(str, half))}")
    header = f"{'file':50} {'lines':>6} {'%':>6} {'branch':>6} {'%':>6}  lines that no test reaches | lines with branches that none takes"
    (BUILD / "coverage.txt").write_text("\n".join([header, *rows]) + "\n")
    return sums


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="regular expression of tests")
    parser.add_argument("--add", action="store_true", help="keep the counters of the last time")
    parser.add_argument("--library", action="store_true", help="without the program")
    parser.add_argument("--report", action="store_true", help="what was reached so far")
    options = parser.parse_args()
    known = BUILD / "tests.json"
    results = json.loads(known.read_text()) if (options.add or options.report) and known.exists() else {}
    if not options.report:
        configure(options.library)
        for path in [] if options.add else counters():
            path.unlink()
        tests, failed = run_tests(options)
        results.update({test[0]: test[0] not in failed for test in tests})
        known.write_text(json.dumps(results))
    failed = [name for name, passed in results.items() if not passed]
    lines, reached, branches, taken = write_report(read_counters())
    print(f"src/: {reached} of {lines} lines ({100 * reached / lines:.1f} %), {taken} of {branches} branches "
          f"({100 * taken / branches:.1f} %), by {len(results)} test programs{' of make check' if options.quick else ''}"
          f"{' and without the program' if options.library else ''}")
    if failed:
        print("failed (what they reached counts): " + ", ".join(sorted(failed)))


if __name__ == "__main__":
    main()
