#!/usr/bin/env python3
"""Lines and branches of the library that the tests reach, and which test reaches which line.

usage: scripts/coverage.py [--quick] [--jobs N] [--only REGEX]

Builds into build/coverage (gcc --coverage, kernels for plain instructions only), runs every test by itself and prints the totals of
src/. Per file: build/coverage/coverage.txt, with the lines that nothing reaches. Per line: build/coverage/reach.json, from which
scripts/mutate.py chooses its tests. --quick: the tests of make check. --only: tests whose names match, for a closer look.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
COUNTS = BUILD / "counts"
LONG_STUDIES = r"cli/test_(bench|fit|paper)|fem_shapes"  # as in scripts/test.sh


def configure():
    flags = "--coverage"
    subprocess.run([ROOT / "scripts" / "configure.sh", BUILD, "-DYW_BUILD_TESTS=ON", "-DYW_WITH_X86_KERNELS=OFF", "-DYW_OPTIMIZE=-O1",
                    "-DYW_WITH_OPENVDB=OFF", "-DYW_WITH_CUDA=OFF", f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_EXE_LINKER_FLAGS={flags}",
                    f"-DCMAKE_SHARED_LINKER_FLAGS={flags}"], check=True)


def listed_tests(quick, only):
    """(name, command, folder, environment) of every test."""
    listed = json.loads(subprocess.run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"], check=True, capture_output=True).stdout)
    for test in listed["tests"]:
        if (quick and re.search(LONG_STUDIES, test["name"])) or not re.search(only, test["name"]):
            continue
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        yield test["name"], test["command"], properties["WORKING_DIRECTORY"], environment


class Coverage:
    def __init__(self):
        self.lines = collections.defaultdict(lambda: collections.defaultdict(set))  # file -> line -> tests that reach it
        self.branches = collections.defaultdict(dict)  # file -> (object, line, place in it) -> list of flags: taken
        self.seconds = {}

    def add(self, test, object_name, report):
        for source in report["files"]:
            path = pathlib.Path(os.path.normpath(os.path.join(report["current_working_directory"], source["file"])))
            try:
                name = str(path.relative_to(ROOT))
            except ValueError:
                continue
            if not name.startswith("src/"):
                continue
            place = collections.Counter()
            for line in source["lines"]:
                number = line["line_number"]
                reached = self.lines[name][number]
                if line["count"]:
                    reached.add(test)
                key = (object_name if name.endswith(".c") else "", number, place[number])
                place[number] += 1
                taken = [branch["count"] > 0 for branch in line["branches"] if not branch["throw"]]
                before = self.branches[name].get(key, [])
                self.branches[name][key] = [a or b for a, b in zip(before, taken)] if len(before) == len(taken) else before or taken

    def totals(self, name):
        lines = self.lines[name].values()
        flags = [flag for taken in self.branches[name].values() for flag in taken]
        return len(lines), sum(1 for tests in lines if tests), len(flags), sum(flags)


def run_test(test, quick):
    """Runs one test with counters of its own; (seconds, passed, gcov's reports)."""
    name, command, folder, environment = test
    counts = COUNTS / name.replace("/", "_")
    shutil.rmtree(counts, ignore_errors=True)
    environment = {**os.environ, **environment, "GCOV_PREFIX": str(counts), **({"YW_TEST_FAST": "1"} if quick else {})}
    start = time.monotonic()
    try:
        code = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=3600).returncode
    except subprocess.TimeoutExpired:
        code = 1
    seconds = time.monotonic() - start
    found = sorted(path for path in counts.rglob("*.gcda") if re.search(r"CMakeFiles/yw_(objects|kernels_plain)\.dir/", str(path)))
    reports = read_counters(counts, found) if found else []
    shutil.rmtree(counts, ignore_errors=True)
    return seconds, code == 0, reports


def read_counters(counts, found):
    for path in found:
        notes = pathlib.Path("/" + str(path.relative_to(counts))).with_suffix(".gcno")
        path.with_suffix(".gcno").symlink_to(notes)
    text = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *map(str, found)], cwd=BUILD, check=True,
                          capture_output=True).stdout.decode()
    reports = [json.loads(line) for line in text.splitlines()]
    return [(re.sub(r".*CMakeFiles/", "", report["data_file"]), report) for report in reports]


def write_report(coverage):
    """The table of files; returns the totals."""
    rows, sums = [], [0, 0, 0, 0]
    for name in sorted(coverage.lines):
        numbers = coverage.totals(name)
        sums = [a + b for a, b in zip(sums, numbers)]
        missed = sorted(line for line, tests in coverage.lines[name].items() if not tests)
        rows.append(f"{name:50} {numbers[0]:6} {100 * numbers[1] / max(1, numbers[0]):6.1f} {numbers[2]:6} "
                    f"{100 * numbers[3] / max(1, numbers[2]):6.1f}  {' '.join(map(str, missed))}")
    header = f"{'file':50} {'lines':>6} {'%':>6} {'branch':>6} {'%':>6}  lines that no test reaches"
    (BUILD / "coverage.txt").write_text("\n".join([header, *rows]) + "\n")
    return sums


def write_reach(coverage):
    tests = sorted(coverage.seconds)
    number = {test: i for i, test in enumerate(tests)}
    lines = {name: {line: sorted(number[test] for test in reached) for line, reached in lines.items()}
             for name, lines in coverage.lines.items()}
    hashes = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in lines}
    seconds = [round(coverage.seconds[test], 2) for test in tests]
    (BUILD / "reach.json").write_text(json.dumps({"tests": tests, "seconds": seconds, "hashes": hashes, "lines": lines}))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="regular expression of tests")
    options = parser.parse_args()
    configure()
    tests = list(listed_tests(options.quick, options.only))
    coverage, failed = Coverage(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(run_test, test, options.quick): test[0] for test in tests}
        for done in concurrent.futures.as_completed(waiting):
            name = waiting.pop(done)
            seconds, passed, reports = done.result()
            coverage.seconds[name] = seconds
            for object_name, report in reports:
                coverage.add(name, object_name, report)
            if not passed:
                failed.append(name)
            print(f"{len(coverage.seconds)} of {len(tests)}: {name} {seconds:.1f} s{'' if passed else ' FAILED'}", file=sys.stderr)
    lines, reached, branches, taken = write_report(coverage)
    write_reach(coverage)
    print(f"src/: {reached} of {lines} lines ({100 * reached / lines:.1f} %), {taken} of {branches} branches "
          f"({100 * taken / branches:.1f} %), by {len(tests)} test programs{' of make check' if options.quick else ''}")
    if failed:
        print("failed (what they reached counts): " + ", ".join(sorted(failed)))


if __name__ == "__main__":
    main()
