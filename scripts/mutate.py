#!/usr/bin/env python3
"""Mutation testing of the library: small bugs are put into src/*.c, one at a time, and the tests must notice them.

usage: scripts/mutate.py [COUNT] [--seed S] [--seconds T] [--only REGEX] [--quick]

Works on a copy of the tree in build/mutants; the tree itself is only read. Prints a table of mutants as Markdown: killed by which
test, or survived. "not finished" means that the time limit of the mutant ended before all tests had run: it counts as neither.
Shell tests and tests of the page are not run. Mutants that do not compile, or compile to the same code, are drawn again.
"""
import argparse
import hashlib
import os
import pathlib
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "mutants" / "tree"
BUILD = TREE / "build"

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
    def __init__(self, path, text, start, end, new):
        self.path = path
        self.text = text[:start] + new + text[end:]
        self.line = text.count("\n", 0, start) + 1
        before = text[text.rfind("\n", 0, start) + 1:start]
        after = text[end:text.find("\n", end)]
        self.old_line = (before + text[start:end] + after).strip()
        self.new_line = (before + new + after).strip()


def all_sites(only):
    """For every rule the places where it applies: (path, start, end, replacement)."""
    sites = {name: [] for name in RULES}
    for path in sorted((TREE / "src").rglob("*.c")):
        name = str(path.relative_to(TREE))
        if only and not re.search(only, name):
            continue
        code = code_only(path.read_text())
        for rule, patterns in RULES.items():
            for pattern, replace in patterns:
                sites[rule] += [(name, m.start(), m.end(), replace(m)) for m in pattern.finditer(code)]
    return sites


# The copy ------------------------------------------------------------------------------------------


def copy_tree():
    """Brings the copy to the state of the tree, and undoes what an interrupted run left there."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True).stdout
    names = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    for name in names:
        source, target = ROOT / name, TREE / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(source.stat().st_mode)
    for folder in ("include", "src", "apps", "tests"):
        for path in (TREE / folder).rglob("*.[ch]"):
            if str(path.relative_to(TREE)) not in names:
                path.unlink()


def configure():
    subprocess.run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DYW_BUILD_TESTS=ON", "-DYW_WITH_OPENVDB=OFF"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def build(*targets, seconds=600):
    command = ["ninja", "-C", str(BUILD), *targets]
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def objects_of(name):
    """Hash of what the file compiles to, once per instruction set."""
    total = hashlib.sha256()
    for path in sorted(BUILD.glob(f"CMakeFiles/*.dir/{name}.o")):
        total.update(path.read_bytes())
    return total.hexdigest()


# Tests ---------------------------------------------------------------------------------------------


def words_of(name):
    return set(re.split(r"[/_.]", name)) - {"src", "test", "c", "methods", "kernels", ""}


def order_tests(tests, name):
    """Those first that share words with the file's path, then the golden hashes, then the rest."""
    wanted = words_of(name)
    return sorted(tests, key=lambda test: (-len(wanted & words_of(test)), test != "test_golden", test))


class Suite:
    def __init__(self, limit, quick):
        self.limit = limit
        self.environment = dict(os.environ, **({"YW_TEST_FAST": "1"} if quick else {}))
        self.trusted, self.set_aside = set(), set()
        self.tests = sorted(path.stem for kind in ("unit", "physics", "golden", "fuzz")
                            for path in (TREE / "tests" / kind).glob("test_*.c"))

    def passes(self, test, seconds):
        try:
            return subprocess.run([str(BUILD / "tests" / test)], cwd=BUILD, env=self.environment, timeout=seconds,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def trusts(self, test):
        """True if the test passes on code without a mutant, in half of the time it is given. The file must be restored."""
        if test not in self.trusted and test not in self.set_aside:
            good = build(test) and self.passes(test, self.limit / 2)
            (self.trusted if good else self.set_aside).add(test)
        return test in self.trusted


def try_mutant(mutant, suite, seconds):
    """(result, test that killed it, number of tests run)."""
    path = TREE / mutant.path
    original = path.read_text()
    end = time.monotonic() + seconds
    ran = 0
    try:
        path.write_text(mutant.text)
        for test in order_tests(suite.tests, mutant.path):
            if test in suite.set_aside:
                continue
            if time.monotonic() > end:
                return "not finished", "", ran
            if not build(test):
                continue
            ran += 1
            if suite.passes(test, suite.limit):
                continue
            path.write_text(original)
            if suite.trusts(test):
                return "killed", test, ran
            path.write_text(mutant.text)
    finally:
        path.write_text(original)
    return "survived", "", ran


def draw_mutant(rng, sites):
    """A mutant that compiles to other code."""
    while True:
        rule = rng.choice([name for name in RULES if sites[name]])
        name, start, end, new = rng.choice(sites[rule])
        path = TREE / name
        original = path.read_text()
        mutant = Mutant(name, original, start, end, new)
        build("yawara_static")
        before = objects_of(name)
        try:
            path.write_text(mutant.text)
            if build("yawara_static") and objects_of(name) != before:
                return mutant
        finally:
            path.write_text(original)


def shown(text):
    return text.replace("|", "\\|").replace("`", "'")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300, help="limit per mutant")
    parser.add_argument("--test-seconds", type=float, default=120, help="limit per test")
    parser.add_argument("--only", help="regular expression of files to change")
    parser.add_argument("--quick", action="store_true", help="run the tests as make check does")
    options = parser.parse_args()

    copy_tree()
    configure()
    if not build("yawara_static", seconds=3600):
        sys.exit("the library does not build")
    sites = all_sites(options.only)
    suite = Suite(options.test_seconds, options.quick)
    rng = random.Random(options.seed)
    print(f"{sum(map(len, sites.values()))} places in src/, {len(suite.tests)} test programs, seed {options.seed}\n")
    print("| place | from | to | result | tests run | s |\n|---|---|---|---|---|---|", flush=True)
    results = []
    for _ in range(options.count):
        mutant = draw_mutant(rng, sites)
        start = time.monotonic()
        result, test, ran = try_mutant(mutant, suite, options.seconds)
        results.append(result)
        print(f"| {mutant.path}:{mutant.line} | `{shown(mutant.old_line)}` | `{shown(mutant.new_line)}` | "
              f"{result}{' by ' + test if test else ''} | {ran} | {time.monotonic() - start:.0f} |", flush=True)
    print(f"\n{results.count('killed')} killed, {results.count('survived')} survived, "
          f"{results.count('not finished')} not finished, of {len(results)}")
    if suite.set_aside:
        print("not counted, since they fail without a mutant or take too long: " + ", ".join(sorted(suite.set_aside)))


if __name__ == "__main__":
    main()
