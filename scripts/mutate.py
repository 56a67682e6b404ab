#!/usr/bin/env python3
"""Mutation testing of the library: small bugs are put into src/*.c, one at a time, and the tests must notice them.

usage: scripts/mutate.py [COUNT] [--seed S] [--quick] [--only REGEX] [--at PLACES] [--tests REGEX] [--minutes M] [--longest S] [--most S] [--jobs N] [--built] [--retry] [--address] [--print] [--summary]

All mutants are compiled at once: a function with a bug in it stands beside the right one, which calls it where the environment says so
(YW_MUTANT=number). So the test programs of build/ are linked once, all into one program whose arguments name the test and the case. Every
case runs once without a bug, in a process of its own, which tells how long it takes and which mutants it reaches, and then once per mutant
that it reaches: the cheapest and those that share words with the file's name first, until one fails or takes three times its time. All
mutants have their cheap cases before any has its dear ones. Sources stay as they are; places outside of functions (tables) are not changed.

Results are kept in build/mutants/SEED/results.jsonl, so that the same command goes on where it was stopped. --minutes M stops after that
time; what was not killed by then counts as survived, and the cases that were not tried are counted. --retry tries again what was not killed,
after tests were written (build them first). --longest S leaves out cases that take longer than S seconds of processor time, --most S those
after the first S seconds of cases of a mutant. --jobs N runs N cases at the same time. --built takes the program of tests as it is
(--minutes 0 makes it), on a machine without a compiler for example; --retry tells later, where there is one, which survivors are the same
code. --address tries those that survived once more, with the address sanitizer in the changed files and the cheapest cases that reach them:
blocks that are not freed and places outside of arrays, as the sanitizers of make test see them. --only and --tests choose files and test
programs, for a closer look at a part. --at files/mesh_vtk.c:108,world/parting.c:178 tries all mutants of these lines instead. --summary
prints one line of JSON. Shell tests and tests of the page are not run. Mutants that do not compile are drawn again; survivors that compile
to the same code, and those that change nothing (scripts/mutants_equal.txt, each with its reason), are not counted.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

from mutate_sources import BUILD, HEADER, ROOT, Compiler, compile_all, draw, is_same_code, make_library

ADDRESS = "-fsanitize=address"
FEW_CASES = 12  # per mutant with the sanitizer
LONG_STUDIES = r"fem_shapes"  # as in scripts/test.sh
WHOLE = r"golden"  # tests that run all of their cases with --quick, too: each is short
ROUNDS = (0.5, 2, 8, 30, 120, float("inf"))  # seconds of cases per mutant, before the next has as many

# Runs one case of the test that is named, or writes the names of all.
MAIN = """#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
static int next, wanted;
static FILE* list;
int __real__cmocka_run_group_tests(const char*, const struct CMUnitTest*, size_t, CMFixtureFunction, CMFixtureFunction);
int __wrap__cmocka_run_group_tests(const char* name, const struct CMUnitTest* tests, size_t count, CMFixtureFunction setup, CMFixtureFunction teardown) {
  int failed = 0;
  for (size_t i = 0; i < count; ++i, ++next) {
    if (list && tests[i].test_func) fprintf(list, "%%d %%s\\n", next, tests[i].name);
    if (!list && next == wanted) failed += __real__cmocka_run_group_tests(name, &tests[i], 1, setup, teardown);
  }
  return failed;
}
%s
int main(int count, char** words) {
  char* test[] = {words[1], NULL};
  wanted = atoi(words[2]);
  if (wanted < 0) list = fopen(words[3], "w");
  int result = 99;
%s
  if (list) fclose(list);
  return result;
}
"""


def results_in(place):
    kept = place / "results.jsonl"
    return {r["number"]: r for r in map(json.loads, kept.read_text().splitlines())} if kept.exists() else {}


def survivors(options):
    """Those of the same seed that survived and change something, as draw() gives them."""
    found, equal = results_in(BUILD / "mutants" / str(options.seed)).values(), equal_ones()
    return [(r["number"], r["rule"], [(r["path"], r["start"], r["end"], r["new"])]) for r in found
            if r["result"] == "survived" and place_of(r) not in equal and re.search(options.only, r["path"])]


def prepare(place, options):
    """Draws and compiles the mutants, makes an archive of the library with them, and returns their records."""
    kept = place / "drawn.json"
    if kept.exists():
        return json.loads(kept.read_text())
    place.mkdir(parents=True, exist_ok=True)
    (place / "mutants.h").write_text(HEADER)
    compiler = Compiler(place, *([ADDRESS] if options.address else []))
    mutants, replaced = compile_all(compiler, survivors(options) if options.address else draw(compiler, options), options.jobs)
    make_library(place, replaced, max(m.number for m in mutants))
    records = [m.record() for m in mutants]
    kept.write_text(json.dumps(records))
    return records


# Tests ---------------------------------------------------------------------------------------------


def words_of(name):
    return set(re.split(r"[/_.:]", name)) - {"src", "test", "c", "methods", "kernels", ""}


class Suite:
    """The tests with all mutants inside, as one program whose arguments name the test and the case."""

    def __init__(self, place, options):
        self.place, self.options = place, options
        self.known = place / "cases.json"
        self.cases = json.loads(self.known.read_text() or "{}") if self.known.exists() else {}
        self.program = place / "tests"
        self.objects = place / "objects"
        self.objects.mkdir(exist_ok=True)
        # Those of pictures and of the page's server test the program, and need its many libraries.
        listed = (ROOT / "tests" / "CMakeLists.txt").read_text()
        self.others = " ".join(re.findall(r"set\(YW_(?:RENDER|SERVER)_TESTS([^)]*)\)", listed)).split()

    def names(self):
        return [path.name for path in sorted((BUILD / "tests").glob("test_*")) if path.is_file() and os.access(path, os.X_OK) and path.name not in self.others]

    def versions(self):
        """A number for each test program that differs if it was changed."""
        return json.loads((self.place / "versions.json").read_text())

    def make_object(self, name, words):
        """One object of a test, with no other name for the linker than main_NAME."""
        target, changed = self.objects / f"{name}.o", (BUILD / "tests" / name).stat().st_mtime
        if target.exists() and target.stat().st_mtime > changed:
            return
        subprocess.run(["ld", "-r", "-o", str(target), *[word for word in words if word.endswith(".o")]], cwd=BUILD, check=True)
        subprocess.run(["objcopy", "-g", f"--redefine-sym=main=main_{name}", f"--keep-global-symbol=main_{name}", str(target)], check=True)

    def link(self):
        """Links all tests if one of them changed since."""
        names = self.names()
        if self.program.exists() and all((BUILD / "tests" / name).stat().st_mtime < self.program.stat().st_mtime for name in names):
            return
        said = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", *names], capture_output=True, check=True).stdout.decode()
        links = {match[1]: shlex.split(line) for line in said.splitlines() if (match := re.search(r"-o tests/(test_\w+) ", line))}
        libraries = []
        for name in names:
            self.make_object(name, links[name])
            libraries += [word for word in links[name] if re.search(r"\.(a|so)[.\d]*$|^-l", word) and word not in libraries]
        libraries = [str(self.place / "libyawara.a") if word.endswith("libyawara.a") else word for word in libraries]
        source = self.place / "main.c"
        source.write_text(MAIN % ("".join(f"int main_{name}(int, char**);\n" for name in names),
                                  "".join(f'  if (!strcmp(words[1], "{name}")) result = main_{name}(1, test);\n' for name in names)))
        subprocess.run(["c++", "-x", "c", str(source), "-x", "none", *[str(self.objects / f"{name}.o") for name in names], "-Wl,--as-needed", "-Wl,--start-group",
                        *libraries, "-Wl,--end-group", "-lm", "-lpthread", "-ldl", "-Wl,--wrap=_cmocka_run_group_tests",
                        *([ADDRESS, "-static-libasan"] if self.options.address else ["-s"]), "-o", str(self.program)], cwd=BUILD, check=True)
        versions = {name: hashlib.sha256((self.objects / f"{name}.o").read_bytes()).hexdigest()[:12] for name in names}
        (self.place / "versions.json").write_text(json.dumps(versions))

    def run(self, test, case, mutant, limit, *more, **settings):
        """(passed, seconds of processor time)."""
        environment = dict(os.environ, YW_MUTANT=str(mutant), CMOCKA_TEST_ABORT="1", **settings)
        if self.options.quick and not re.search(WHOLE, test):
            environment["YW_TEST_FAST"] = "1"
        seconds = int(limit) + 1

        # A group, no session of its own: some systems would not share the processor by niceness then.
        process = subprocess.Popen([str(self.program), test, str(case), *more], cwd=BUILD, env=environment, process_group=0,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The sanitizer's map of the memory is larger than any limit.
        for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, 8 << 30))[:2 if self.options.address else 3]:
            try:
                resource.prlimit(process.pid, kind, (most, most))
            except ProcessLookupError:
                break  # it has ended
        # One that waits for ever uses no processor.
        watch = threading.Timer(10 + 5 * seconds, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        _, status, used = os.wait4(process.pid, 0)
        watch.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode == 0, used.ru_utime + used.ru_stime

    def cases_of(self, test):
        """(number, name) of each case of a test program."""
        path = self.place / f"list_{test}"
        self.run(test, -1, 0, 60, str(path))
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line.split(" ", 1) for line in lines]

    def measure(self, end):
        """Runs every case that is new or changed without a mutant: the short ones first, which are of use even if time runs out."""
        if not self.options.built:
            self.link()
        versions = self.versions()
        self.cases = {name: case for name, case in self.cases.items() if versions.get(case["test"]) == case["version"]}
        new = sorted(set(versions) - {case["test"] for case in self.cases.values()})
        new = [test for test in new if re.search(self.options.tests, test) and not (self.options.quick and re.search(LONG_STUDIES, test))]
        if self.options.address:
            plain = Suite(BUILD / "mutants" / str(self.options.seed), self.options)
            drawn = json.loads((self.place / "drawn.json").read_text())
            chosen = {name for r in drawn for name in plain.reaching(r)[:FEW_CASES]}
            new = [test for test in new if any(name.startswith(test + ":") for name in chosen)]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for test, cases in zip(new, pool.map(self.cases_of, new)):
                for number, name in cases:
                    if not self.options.address or f"{test}:{name}" in chosen:
                        self.cases[f"{test}:{name}"] = {"test": test, "case": int(number), "version": versions[test], "passed": False, "limit": 0,
                                                        "seconds": 0.0, "reaches": []}
            for limit in sorted({min(seconds, self.options.longest) for seconds in (2, 10, self.options.longest)}):
                wanted = [name for name, case in self.cases.items() if not case["passed"] and case["limit"] < limit
                          and re.search(self.options.tests, case["test"])]
                list(pool.map(lambda name: time.monotonic() < end and self.measure_one(name, limit), wanted))
                self.known.write_text(json.dumps(self.cases))
        spent = sum(case["seconds"] for case in self.cases.values())
        print(f"{len(self.cases)} cases, {spent:.0f} s", file=sys.stderr, flush=True)

    def measure_one(self, name, limit):
        case, reached = self.cases[name], self.place / f"reached_{name.replace('/', '_')}"
        reached.unlink(missing_ok=True)
        passed, seconds = self.run(case["test"], case["case"], 0, limit, YW_MUTANTS_REACHED=str(reached))
        numbers = sorted({int(line) for line in reached.read_text().split()}) if reached.exists() else []
        reached.unlink(missing_ok=True)
        # One that fails within its time need not be tried with more.
        case.update(passed=passed, seconds=round(seconds, 3), limit=limit if seconds >= limit else 1e9, reaches=numbers)
        if not passed and case["limit"] == 1e9:
            print(f"{name} does not count: it fails", file=sys.stderr, flush=True)

    def reaching(self, record):
        wanted = words_of(record["path"])
        found = [name for name, case in self.cases.items()
                 if case["passed"] and record["number"] in case["reaches"] and re.search(self.options.tests, case["test"])]
        return sorted(found, key=lambda name: (self.cases[name]["seconds"] + 0.02) * 0.3 ** min(2, len(wanted & words_of(name))))


class Trial:
    """A mutant and what became of it so far."""

    def __init__(self, record, suite, before):
        self.record, self.suite, self.before = record, suite, before
        # Cases that it survived and that are as they were need not run again.
        old = (before or {}).get("tried", {})
        self.tried = {name: version for name, version in old.items() if suite.versions().get(name.split(":")[0]) == version}
        self.left = [name for name in suite.reaching(record) if name not in self.tried]
        self.reached = bool(self.left or self.tried)
        self.result, self.killer, self.spent, self.changed = None, "", 0.0, not before

    def go_on(self, budget, end):
        """Runs cases until one fails or their time is over."""
        while self.left and not self.result:
            case = self.suite.cases[self.left[0]]
            limit = 1 + 3 * case["seconds"]
            if self.spent > 0 and self.spent + case["seconds"] > budget or time.monotonic() + limit > end:
                return
            name = self.left.pop(0)
            # Twice, since some tests look at the clock.
            passed = any(self.suite.run(case["test"], case["case"], self.record["number"], limit)[0] for _ in range(2))
            self.spent += case["seconds"] + 0.01
            self.tried[name], self.changed = case["version"], True
            if not passed:
                self.result, self.killer = "killed", name

    def entry(self):
        if not self.result:
            is_same = self.reached and not self.left and not self.suite.options.built and is_same_code(self.suite.place, self.record)
            self.result = "same code" if is_same else "survived" if self.reached else "not reached"
        is_killed = self.result == "killed"
        return {**self.record, "result": self.result, "test": self.killer, "tried": {} if is_killed else self.tried, "untried": 0 if is_killed else len(self.left)}


# Results -------------------------------------------------------------------------------------------


def shown(text):
    return text.replace("|", "\\|").replace("`", "'")


def equal_ones():
    """Mutants that change nothing, by reading: (path, line before, line after) -> reason."""
    path = ROOT / "scripts" / "mutants_equal.txt"
    found, block = {}, []
    for line in [*path.read_text().splitlines(), ""]:
        if line.startswith("#"):
            continue
        if line.strip():
            block.append(line.strip())
            continue
        if block:
            where, old, new, reason = block  # four lines each
            found[where, old, new] = reason
        block = []
    return found


def place_of(record):
    return record["path"], record["from"], record["to"]


def counted(results, count):
    """The first `count` results of mutants that are other code and change something."""
    equal = equal_ones()
    return [results[i] for i in sorted(results)
            if results[i]["result"] != "same code" and place_of(results[i]) not in equal][:count]


def print_results(results):
    print("| place | from | to | result | cases | not tried |\n|---|---|---|---|---|---|")
    for r in results:
        if r["result"] != "killed":
            print(f"| {r['path']}:{r['line']} | `{shown(r['from'])}` | `{shown(r['to'])}` | {r['result']} | {len(r['tried'])} | {r['untried']} |")
    counts = collections.Counter(r["result"] for r in results)
    print(f"\n{counts['killed']} killed, {counts['survived']} survived, {counts['not reached']} not reached, of {len(results)}")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time; the same command goes on")
    parser.add_argument("--only", default="", help="regular expression of files to change")
    parser.add_argument("--at", default="", help="FILE:LINE,... : all mutants of these lines")
    parser.add_argument("--tests", default="", help="regular expression of test programs to run")
    parser.add_argument("--quick", action="store_true", help="run the tests as make check does")
    parser.add_argument("--longest", type=float, default=600, help="leave out cases that take longer, in seconds")
    parser.add_argument("--most", type=float, default=float("inf"), help="seconds of cases per mutant")
    parser.add_argument("--jobs", type=int, default=1, help="cases to run at the same time")
    parser.add_argument("--built", action="store_true", help="take the program of tests as it is")
    parser.add_argument("--address", action="store_true", help="what survived, with the address sanitizer")
    parser.add_argument("--retry", action="store_true", help="try again what was not killed")
    parser.add_argument("--print", action="store_true", help="print the results so far")
    parser.add_argument("--summary", action="store_true", help="print the counts so far as JSON")
    return parser.parse_args()


def try_all(records, suite, results, options, end, keep):
    """Gives every mutant its cheap cases before the dear ones."""
    trials, equal = [], equal_ones()
    for record in records:
        before = results.get(record["number"])
        if place_of(record) not in equal and re.search(options.only, record["path"]) and (not before or options.retry and before["result"] in ("survived", "not reached")):
            trials.append(Trial(record, suite, before))
    for budget in ROUNDS:
        def go_on(trial):
            trial.go_on(min(budget, options.most), end)
            if trial.result or not trial.left:
                keep(trial)
                trial.left = []

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(go_on, trials))
        trials = [trial for trial in trials if trial.left]
    for trial in trials:
        keep(trial)


def main():
    options = parse()
    place = BUILD / "mutants" / ("at" if options.at else f"{options.seed}-address" if options.address else str(options.seed))
    asked = place / "places"
    if options.at and not (asked.exists() and asked.read_text() == options.at):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        asked.write_text(options.at)
    results = results_in(place)
    # What the sanitizer sees is seen by the tests.
    seen = {} if options.at or options.address else {n: r for n, r in results_in(BUILD / "mutants" / f"{options.seed}-address").items() if r["result"] == "killed"}
    if options.summary or options.print:
        results.update(seen)
    if options.summary:
        found = counted(results, options.count)
        counts = collections.Counter(r["result"] for r in found)
        return print(json.dumps({"mutants": len(found), **counts}))
    if options.print:
        return print_results(counted(results, options.count))

    end = time.monotonic() + 60 * options.minutes
    records, suite = prepare(place, options), Suite(place, options)
    suite.measure(end)

    lock = threading.Lock()

    def keep(trial):
        if not trial.changed:
            return
        entry = trial.entry()
        with lock, (place / "results.jsonl").open("a") as out:
            results[trial.record["number"]] = entry
            out.write(json.dumps(entry) + "\n")

    # As many as are wanted, and others for those that turn out to change nothing.
    while time.monotonic() < end and records:
        missing = options.count - len(counted(results, options.count))
        if missing <= 0 and not options.retry:
            break
        several = len(results) if options.retry else missing + (missing // 8 if options.built else 0)
        try_all(records[:several], suite, results, options, end, keep)
        records = records[several:]
    print_results(counted({**results, **seen}, options.count))


if __name__ == "__main__":
    main()
