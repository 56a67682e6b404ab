#!/usr/bin/env python3
"""Mutation testing of the library: small bugs are put into src/*.c, one at a time, and the tests must notice them.

usage: scripts/mutate.py [COUNT] [--seed S] [--quick] [--only REGEX] [--seconds T] [--longest S] [--retry] [--print]

Works with build/ and with build/coverage/reach.json (scripts/coverage.py), which says which test reaches which line. Sources stay as
they are: the changed copy of a file is compiled aside and linked before the library. Of the tests that reach the line those that are
short or share words with the file's name come first, until one fails; a test counts only if it passes without the bug.

Results: "killed" by a test or by its time limit, "survived" all tests that reach it, "not reached" by any, "not finished" within T
seconds (default 600). --longest S leaves out tests that took longer than S seconds for coverage, but golden. They are kept in build/mutants/results-SEED.jsonl, so that the same command goes on where it was stopped;
--retry tries again those that were not killed, after tests were written. Shell tests and tests of the page are not run. Mutants that
do not compile, or compile to the same code, are drawn again.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PLACE = BUILD / "mutants"

# A member, element, call or number, as one term of a sum.
TERM = r"(?:[\w.]|->)+(?:\[[^\[\]]*\])*(?:\([^()]*\))?"


def swap(pattern, other):
    """A rule: every match of the pattern becomes what `other` has for it."""
    return re.compile(pattern), lambda match: other[match.group(0)]


def change_number(match):
    text = match.group(0)
    digits = text.rstrip("fuUlL")
    suffix = text[len(digits):]
    if re.fullmatch(r"\d+", digits):
        return str(int(digits) + 1) + suffix
    return (repr(2.0 * float(digits)) if float(digits) != 0.0 else "1.0") + suffix


# clang-format puts blanks around binary operators and none after unary ones.
RULES = {
    "comparison": [swap(r"(?<= )(<=|>=|==|!=|<|>)(?= )",
                        {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="})],
    "logic": [swap(r"(?<= )(&&|\|\|)(?= )", {"&&": "||", "||": "&&"})],
    "sign": [swap(r"(?<= )([-+]=?)(?= )", {"+": "-", "-": "+", "+=": "-=", "-=": "+="}),
             (re.compile(r"(?<=[(= ])-(?=[a-z])"), lambda match: "")],
    "term": [(re.compile(r" [-+] " + TERM + r"(?=[;,)]| [-+] )"), lambda match: "")],
    "constant": [(re.compile(r"(?<![\w.])\d+(?:\.\d*(?:e[-+]?\d+)?)?[fu]?(?![\w.])"), change_number)],
    "call": [(re.compile(r"(?m)^(?P<indent> +)(?!return\b|if\b|for\b|while\b|switch\b|else\b|do\b)"
                         r"[\w.>-]+\([^;{}\n]*\);$"), lambda match: match.group("indent") + ";")],
}


def code_only(text):
    """The text with comments, strings, preprocessor lines and asserts replaced by blanks, at the same places."""
    pattern = (r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
               r"|^[ \t]*#(?:\\\n|[^\n])*|\b\w*assert\w*\([^;]*;")
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", "\0", m.group(0)), text, flags=re.S | re.M)


class Mutant:
    def __init__(self, rule, path, text, start, end, new):
        self.rule = rule
        self.path = path
        self.text = text[:start] + new + text[end:]
        self.line = text.count("\n", 0, start) + 1
        before = text[text.rfind("\n", 0, start) + 1:start]
        after = text[end:text.find("\n", end)]
        self.old_line = (before + text[start:end] + after).strip()
        self.new_line = (before + new + after).strip()


# Compiling -----------------------------------------------------------------------------------------


class Compiler:
    """Compiles copies of the library's files as the build does, but with less optimisation: bits do not depend on it."""

    def __init__(self):
        self.commands = collections.defaultdict(list)  # file -> arguments, once per instruction set
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            if re.search(r"CMakeFiles/yw_(objects|kernels_\w+)\.dir/", entry["command"]):
                name = str(pathlib.Path(entry["file"]).relative_to(ROOT))
                self.commands[name].append(shlex.split(entry["command"]))
        self.originals = {}

    def compile(self, name, text):
        """Paths of the objects, or None."""
        source = PLACE / pathlib.Path(name).name
        source.write_text(text)
        objects = []
        for i, command in enumerate(self.commands[name]):
            target = PLACE / f"{source.stem}-{i}.o"
            command = ["-O1" if word in ("-O2", "-O3") else word for word in command if word != "-Werror"]
            command[command.index("-o") + 1] = str(target)
            command[command.index("-c") + 1] = str(source)
            folder = (ROOT / name).parent
            done = subprocess.run([*command, "-w", "-iquote", str(folder)], cwd=BUILD, stderr=subprocess.DEVNULL)
            if done.returncode != 0:
                return None
            objects.append(target)
        return objects

    def changes_code(self, name, objects):
        """Whether the objects differ from those of the file as it is. Overwrites nothing: call before compiling again."""
        changed = [path.read_bytes() for path in objects]
        if name not in self.originals:
            self.originals[name] = [hashlib.sha256(p.read_bytes()).digest() for p in self.compile(name, (ROOT / name).read_text())]
            for path, content in zip(objects, changed):
                path.write_bytes(content)
        return [hashlib.sha256(content).digest() for content in changed] != self.originals[name]


# Drawing -------------------------------------------------------------------------------------------


def places_in(names):
    """For every rule the places where it applies, in the order of the tree: (path, start, end, replacement)."""
    places = {rule: [] for rule in RULES}
    for name in sorted(names):
        code = code_only((ROOT / name).read_text())
        for rule, patterns in RULES.items():
            for pattern, replace in patterns:
                places[rule] += [(name, m.start(), m.end(), replace(m)) for m in pattern.finditer(code)]
    return places


def draw_shares(places, count, seed):
    """One share of the tree per mutant: all rules as often, each over all folders. In random order, so that a part is a sample too."""
    rules = [rule for rule in RULES if places[rule]]
    shares = []
    for i, rule in enumerate(rules):
        number = len(range(i, count, len(rules)))
        for k in range(number):
            all_places = places[rule]
            shares.append((rule, all_places[len(all_places) * k // number:len(all_places) * (k + 1) // number] or all_places))
    random.Random(seed).shuffle(shares)
    return shares


def draw_mutant(rng, share, compiler):
    """A mutant of the share that compiles to other code, and its objects; None if there is none."""
    rule, places = share
    for name, start, end, new in rng.sample(places, len(places)):
        text = (ROOT / name).read_text()
        mutant = Mutant(rule, name, text, start, end, new)
        objects = compiler.compile(name, mutant.text)
        if objects and compiler.changes_code(name, objects):
            return mutant, objects
    return None, None


# Tests ---------------------------------------------------------------------------------------------


def words_of(name):
    return set(re.split(r"[/_.]", name)) - {"src", "test", "c", "methods", "kernels", ""}


class Suite:
    def __init__(self, quick, longest):
        reach = json.loads((BUILD / "coverage" / "reach.json").read_text())
        self.tests = [test.split("/")[1] if not test.startswith("cli/") else None for test in reach["tests"]]
        self.seconds = dict(zip(self.tests, reach["seconds"]))
        self.lines, self.hashes = reach["lines"], reach["hashes"]
        self.quick, self.longest = quick, longest
        self.trusted, self.set_aside = set(), set()
        self.links = {}

    def reaching(self, mutant):
        """Tests that reach the mutant's line; those of its file where that changed since. The most telling first."""
        lines = self.lines.get(mutant.path, {})
        same = self.hashes.get(mutant.path) == hashlib.sha256((ROOT / mutant.path).read_bytes()).hexdigest()
        numbers = set(lines.get(str(mutant.line), ())) if same else set().union(*lines.values())
        # Lines within a statement have no counters of their own: take those of the line above.
        line = mutant.line
        while same and str(line) not in lines and line > 1:
            line -= 1
            numbers = set(lines.get(str(line), ()))
        # Tables have no counters at all: take those of the file.
        numbers = numbers or set().union(*lines.values())
        wanted = words_of(mutant.path)
        found = [self.tests[i] for i in numbers if self.tests[i] and (BUILD / "tests" / self.tests[i]).exists()]
        found = [test for test in found if self.seconds[test] <= self.longest or test == "test_golden"]
        # The golden hashes notice most changes of a step.
        cost = {test: (2.0 if test == "test_golden" else self.seconds[test]) + 0.2 for test in found}
        return sorted(found, key=lambda test: cost[test] * 0.3 ** len(wanted & words_of(test)))

    def link(self, test, objects):
        """The test's program with the changed objects in place of the library's own."""
        if test not in self.links:
            lines = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", test], capture_output=True, check=True).stdout.decode()
            link = [line for line in lines.splitlines() if f"-o tests/{test} " in line + " "][-1]
            self.links[test] = re.sub(r"^: && | && :$", "", link)
        program = PLACE / test
        words = shlex.split(self.links[test])
        words[words.index(f"tests/{test}")] = str(program)
        first = next(i for i, word in enumerate(words) if word.endswith("libyawara.a"))
        words[first:first] = map(str, objects)
        done = subprocess.run(words, cwd=BUILD, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"cannot link {test}: {done.stderr.decode()}")
        return program

    def passes(self, test, program):
        environment = dict(os.environ, **({"YW_TEST_FAST": "1"} if self.quick else {}))
        try:
            return subprocess.run([str(program)], cwd=BUILD, env=environment, timeout=20 + 4 * self.seconds[test],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def trusts(self, test):
        """True if the test passes without a mutant."""
        if test not in self.trusted and test not in self.set_aside:
            (self.trusted if self.passes(test, BUILD / "tests" / test) else self.set_aside).add(test)
        return test in self.trusted


def try_mutant(mutant, objects, suite, seconds):
    """(result, test that killed it, number of tests run)."""
    end = time.monotonic() + seconds
    ran = 0
    tests = [test for test in suite.reaching(mutant) if test not in suite.set_aside]
    for test in tests:
        if time.monotonic() > end:
            return "not finished", "", ran
        program = suite.link(test, objects)
        passed = suite.passes(test, program)
        program.unlink()
        ran += 1
        if not passed and suite.trusts(test):
            return "killed", test, ran
    return "survived" if tests else "not reached", "", ran


# Results -------------------------------------------------------------------------------------------


def shown(text):
    return text.replace("|", "\\|").replace("`", "'")


def print_results(results):
    print("| place | from | to | result | tests run |\n|---|---|---|---|---|")
    for r in results:
        if r["result"] != "killed":
            print(f"| {r['path']}:{r['line']} | `{shown(r['from'])}` | `{shown(r['to'])}` | {r['result']} | {r['ran']} |")
    counts = collections.Counter(r["result"] for r in results)
    print(f"\n{counts['killed']} killed, {counts['survived']} survived, {counts['not reached']} not reached, "
          f"{counts['not finished']} not finished, of {len(results)}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600, help="limit per mutant")
    parser.add_argument("--only", default="", help="regular expression of files to change")
    parser.add_argument("--quick", action="store_true", help="run the tests as make check does")
    parser.add_argument("--longest", type=float, default=float("inf"), help="leave out tests that took longer, but golden")
    parser.add_argument("--retry", action="store_true", help="try again what was not killed")
    parser.add_argument("--print", action="store_true", help="print the results so far")
    options = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    kept = PLACE / f"results-{options.seed}.jsonl"
    results = {r["number"]: r for r in map(json.loads, kept.read_text().splitlines())} if kept.exists() else {}
    if options.print:
        return print_results([results[i] for i in sorted(results)])

    compiler, suite = Compiler(), Suite(options.quick, options.longest)
    names = [name for name in compiler.commands if re.search(options.only, name)]
    shares = draw_shares(places_in(names), options.count, options.seed)
    for number, share in enumerate(shares):
        if number in results and not (options.retry and results[number]["result"] != "killed"):
            continue
        mutant, objects = draw_mutant(random.Random(options.seed * 1000003 + number), share, compiler)
        if not mutant:
            continue
        start = time.monotonic()
        result, test, ran = try_mutant(mutant, objects, suite, options.seconds)
        results[number] = {"number": number, "rule": mutant.rule, "path": mutant.path, "line": mutant.line, "from": mutant.old_line,
                           "to": mutant.new_line, "result": result, "test": test, "ran": ran, "s": round(time.monotonic() - start, 1)}
        with kept.open("a") as out:
            out.write(json.dumps(results[number]) + "\n")
    print_results([results[i] for i in sorted(results)])
    if suite.set_aside:
        print("not counted, since they fail without a mutant or take too long: " + ", ".join(sorted(suite.set_aside)))


if __name__ == "__main__":
    main()
