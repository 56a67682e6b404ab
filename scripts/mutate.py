#!/usr/bin/env python3
"""Mutation testing of the library: small bugs are put into src/*.c, one at a time, and the tests must notice them.

usage: scripts/mutate.py [COUNT] [--seed S] [--quick] [--only REGEX] [--at PLACES] [--tests REGEX] [--minutes M] [--longest S] [--most S] [--jobs N] [--built] [--retry] [--address] [--print] [--summary]

All mutants are compiled at once: a function with a bug in it stands beside the right one, which calls it where the environment says so
(YW_MUTANT=number). So the test programs of build/ are linked once, all into one program, run once without a bug, which tells how long each
takes and which mutants it reaches, and then once per mutant that they reach: the cheapest and those that share words with the file's name
first, until one fails or takes three times its time. Sources stay as they are; places outside of functions (tables) are not changed.

Results are kept in build/mutants/SEED/results.jsonl, so that the same command goes on where it was stopped. --minutes M stops after that
time. --retry tries again what was not killed, after tests were written (build them first). --longest S leaves out tests that take
longer than S seconds of processor time, --most S those after the first S seconds of tests of a mutant, which then counts as survived.
--jobs N runs N tests at the same time. --built takes the program of tests as it is (--minutes 0 makes it), on a machine without a compiler
for example; --retry tells later, where there is one, which survivors are the same code. --address tries those that survived once more, with
the address sanitizer in the changed files and the cheapest tests that reach them: blocks that are not freed and places outside of arrays, as
the sanitizers of make test see them. --only and --tests choose files and test programs, for a closer look at a part. --at
files/mesh_vtk.c:108,world/parting.c:178 tries all mutants of these lines instead. --summary prints one line
of JSON. Shell tests and tests of the page are not run. Mutants that do not compile are drawn again; survivors that compile to the same
code are not counted.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
SPARE = 1.15  # drawn for each that is wanted: some turn out to be the same code
ADDRESS = "-fsanitize=address"
FEW_TESTS = 5  # per mutant with the sanitizer
LONG_STUDIES = r"fem_shapes"  # as in scripts/test.sh

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

HEADER = """extern int yw_mutant_active;
extern unsigned char yw_mutant_reached[];
#define YW_MUTANT(n) (yw_mutant_reached[n] = 1, yw_mutant_active == (n))
"""
SWITCH = """#include <stdio.h>
#include <stdlib.h>
int yw_mutant_active;
unsigned char yw_mutant_reached[%d];
__attribute__((constructor)) static void choose(void) {
  const char* text = getenv("YW_MUTANT");
  if (text) yw_mutant_active = atoi(text);
}
__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("YW_MUTANTS_REACHED");
  FILE* file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  for (size_t i = 0; i < sizeof yw_mutant_reached; ++i) {
    if (yw_mutant_reached[i]) fprintf(file, "%%zu\\n", i);
  }
  fclose(file);
}
"""


# Sources -------------------------------------------------------------------------------------------


def code_only(text):
    """The text with comments, strings, preprocessor lines and asserts replaced by blanks, at the same places."""
    pattern = (r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
               r"|^[ \t]*#(?:\\\n|[^\n])*|\b\w*assert\w*\([^;]*;")
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", "\0", m.group(0)), text, flags=re.S | re.M)


class Function:
    """A function that can be copied: where it stands, its name, and how it is called with its own arguments."""

    def __init__(self, start, body, end, name, arguments, is_void):
        self.start, self.body, self.end = start, body, end
        self.name, self.arguments, self.is_void = name, arguments, is_void


def argument_name(text):
    pointer = re.search(r"\(\*\s*(?:const )?(\w+)", text)  # of a function or an array
    if pointer:
        return pointer.group(1)
    return re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", text.strip()).group(1)


def split_arguments(text):
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip() not in ("", "void")]


def functions_of(code):
    """Functions in the text, as clang-format writes them."""
    found = []
    for match in re.finditer(r"(?m)^(?P<kind>[A-Za-z_][\w \t*]*?)(?P<name>\b\w+)\((?P<arguments>[^;{}]*)\) \{\n", code):
        end = code.find("\n}\n", match.end() - 1)
        if end < 0 or "..." in match["arguments"] or "\0" in match["arguments"] or not match["kind"].strip():
            continue
        kind = match["kind"].split()
        is_void = "void" in kind and "*" not in match["kind"]
        names = [argument_name(part) for part in split_arguments(match["arguments"])]
        found.append(Function(match.start(), match.end(), end + 3, match["name"], names, is_void))
    return found


class Mutant:
    def __init__(self, number, rule, path, text, start, end, new):
        self.number, self.rule, self.path = number, rule, path
        self.start, self.end, self.new = start, end, new
        self.line = text.count("\n", 0, start) + 1
        before = text[text.rfind("\n", 0, start) + 1:start]
        after = text[end:text.find("\n", end)]
        self.old_line = (before + text[start:end] + after).strip()
        self.new_line = (before + new + after).strip()

    def alone(self, text):
        return text[:self.start] + self.new + text[self.end:]

    def record(self):
        return {"number": self.number, "rule": self.rule, "path": self.path, "line": self.line, "from": self.old_line, "to": self.new_line,
                "start": self.start, "end": self.end, "new": self.new}


def with_mutants(text, mutants):
    """The file with copies of the functions that the mutants change, and calls of them."""
    for function in reversed(functions_of(code_only(text))):
        own = [m for m in mutants if function.body <= m.start and m.end <= function.end]
        if not own:
            continue
        whole, head = text[function.start:function.end], text[function.start:function.body]
        copies, calls = [], ""
        for m in own:
            name = f"{function.name}_mutant_{m.number}"
            changed = whole[:m.start - function.start] + m.new + whole[m.end - function.start:]
            changed = re.sub(r"\b" + function.name + r"\(", name + "(", changed, count=1)
            copies.append(changed if re.match(r"(static|YW_LANE_FN)\b", changed) else "static " + changed)
            call = f"{name}({', '.join(function.arguments)})"
            calls += f"  if (YW_MUTANT({m.number})) {{ {call}; return; }}\n" if function.is_void else f"  if (YW_MUTANT({m.number})) return {call};\n"
        # Copies may call the function itself: its head comes first.
        declaration = head.rstrip()[:-1].rstrip() + ";\n"
        text = text[:function.start] + declaration + "".join(copies) + head + calls + text[function.body:]
    return text


# Compiling -----------------------------------------------------------------------------------------


class Compiler:
    """Compiles changed copies of the library's files as the build does, but with less optimisation: bits do not depend on it."""

    def __init__(self, place, *more):
        self.place, self.more = place, more
        self.commands = collections.defaultdict(list)  # file -> arguments, once per instruction set
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            if re.search(r"CMakeFiles/yw_(objects|kernels_\w+)\.dir/", entry["command"]):
                name = str(pathlib.Path(entry["file"]).relative_to(ROOT))
                self.commands[name].append(shlex.split(entry["command"]))

    def run(self, name, source, command, target, *more):
        command = ["-O1" if word in ("-O2", "-O3") else word for word in command if word not in ("-Werror", "-g")]
        command[command.index("-o") + 1] = str(target)
        command[command.index("-c") + 1] = str(source)
        done = subprocess.run([*command, "-w", "-include", str(self.place / "mutants.h"), "-iquote", str((ROOT / name).parent), *self.more, *more],
                              cwd=BUILD, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def compiles(self, name, text):
        source = self.place / "try" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        return self.run(name, source, self.commands[name][0], "/dev/null", "-fsyntax-only")

    def compile(self, name, text):
        """Paths of the objects by those that they replace; None if it does not compile."""
        source = self.place / "src" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        objects = {}
        for i, command in enumerate(self.commands[name]):
            target = source.with_suffix(f".{i}.o")
            if not self.run(name, source, command, target):
                return None
            objects[command[command.index("-o") + 1]] = str(target)
        return objects

    def code_of(self, name, text):
        """What the file compiles to, without its name."""
        source, codes = self.place / "try" / name, []
        source.parent.mkdir(parents=True, exist_ok=True)
        for command in self.commands[name]:
            source.write_text(text)
            target = source.with_suffix(".o")
            if not self.run(name, source, command, target):
                return None
            codes.append(target.read_bytes())
        return codes


# Drawing -------------------------------------------------------------------------------------------


def places_in(names):
    """For every rule the places where it applies, in the order of the tree: (path, start, end, replacement)."""
    places = {rule: [] for rule in RULES}
    for name in sorted(names):
        code = code_only((ROOT / name).read_text())
        functions = functions_of(code)
        for rule, patterns in RULES.items():
            for pattern, replace in patterns:
                places[rule] += [(name, m.start(), m.end(), replace(m)) for m in pattern.finditer(code)
                                 if any(f.body <= m.start() and m.end() <= f.end for f in functions)]
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


def all_at(places, at):
    """Every mutant of the lines FILE:LINE,... as draw() gives them; a file may be named by the end of its path."""
    wanted = [place.rsplit(":", 1) for place in at.split(",")]
    texts = {}
    drawn = []
    for rule, own in places.items():
        for place in own:
            text = texts.setdefault(place[0], (ROOT / place[0]).read_text())
            line = str(text.count("\n", 0, place[1]) + 1)
            if any(f"/{place[0]}".endswith(f"/{file}") and line == number for file, number in wanted):
                drawn.append((len(drawn) + 1, rule, [place]))
    return drawn


def draw(compiler, options):
    """One mutant of each share, and others of it in case that one does not compile: lists of (path, start, end, replacement)."""
    names = [name for name in compiler.commands if re.search(options.only, name)]
    if options.at:
        return all_at(places_in(names), options.at)
    drawn = []
    for number, (rule, places) in enumerate(draw_shares(places_in(names), int(options.count * SPARE), options.seed), 1):
        rng = random.Random(options.seed * 1000003 + number)
        drawn.append((number, rule, rng.sample(places, min(8, len(places)))))
    return drawn


def make_mutant(number, rule, place):
    name, start, end, new = place
    return Mutant(number, rule, name, (ROOT / name).read_text(), start, end, new)


def compile_file(compiler, name, mutants):
    """(mutants that compile, objects by those that they replace)."""
    text = (ROOT / name).read_text()
    objects = compiler.compile(name, with_mutants(text, mutants))
    if objects is None:
        mutants = [m for m in mutants if compiler.compiles(name, with_mutants(text, [m]))]
        objects = compiler.compile(name, with_mutants(text, mutants)) if mutants else {}
    return mutants, objects


def compile_all(compiler, drawn, jobs):
    """(mutants, objects by those that they replace). Shares whose mutant does not compile get another one."""
    chosen = {number: make_mutant(number, rule, places[0]) for number, rule, places in drawn}
    others = {number: (rule, places[1:]) for number, rule, places in drawn}
    replaced, todo = {}, {m.path for m in chosen.values()}
    while todo:
        names, todo = sorted(todo), set()
        own = {name: [m for m in chosen.values() if m.path == name] for name in names}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for name, (good, objects) in zip(names, pool.map(lambda name: compile_file(compiler, name, own[name]), names)):
                replaced.update(objects)
                for m in set(own[name]) - set(good):
                    rule, places = others[m.number]
                    del chosen[m.number]
                    if places:
                        chosen[m.number] = make_mutant(m.number, rule, places[0])
                        others[m.number] = (rule, places[1:])
                        todo.add(places[0][0])
                print(f"compiled {name}", file=sys.stderr, flush=True)
    return [chosen[number] for number in sorted(chosen)], replaced


def make_library(place, replaced, count):
    """An archive of the library with the changed objects."""
    (place / "mutants.c").write_text(SWITCH % (count + 1))
    subprocess.run(["cc", "-O1", "-c", "mutants.c", "-o", "mutants.o"], cwd=place, check=True)
    commands = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", "yawara_static"], capture_output=True, check=True).stdout.decode()
    archive = [line for line in commands.splitlines() if " qc " in line and "libyawara.a" in line][-1]
    objects = [word for word in shlex.split(archive) if word.endswith(".o")]
    library = place / "libyawara.a"
    library.unlink(missing_ok=True)
    subprocess.run(["ar", "qcT", str(library), str(place / "mutants.o"), *[replaced.get(o, str(BUILD / o)) for o in objects]], check=True)


def results_in(place):
    kept = place / "results.jsonl"
    return {r["number"]: r for r in map(json.loads, kept.read_text().splitlines())} if kept.exists() else {}


def survivors(options):
    """Those of the same seed that survived, as draw() gives them."""
    found = results_in(BUILD / "mutants" / str(options.seed)).values()
    return [(r["number"], r["rule"], [(r["path"], r["start"], r["end"], r["new"])]) for r in found
            if r["result"] == "survived" and re.search(options.only, r["path"])]


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


def is_same_code(place, record):
    """Whether a mutant compiles to what the file compiles to."""
    compiler = Compiler(place)
    text = (ROOT / record["path"]).read_text()
    changed = text[:record["start"]] + record["new"] + text[record["end"]:]
    line = text.count("\n", 0, record["start"]) + 1
    if line != record["line"] or text[text.rfind("\n", 0, record["start"]) + 1:].split("\n")[0].strip() != record["from"]:
        return False  # the file was changed since
    return compiler.code_of(record["path"], changed) == compiler.code_of(record["path"], text)


# Tests ---------------------------------------------------------------------------------------------


def words_of(name):
    return set(re.split(r"[/_.]", name)) - {"src", "test", "c", "methods", "kernels", ""}


class Suite:
    """The tests with all mutants inside, as one program whose argument names the test."""

    def __init__(self, place, options):
        self.place, self.options = place, options
        self.known = place / "tests.json"
        self.tests = json.loads(self.known.read_text() or "{}") if self.known.exists() else {}
        self.program = place / "tests"
        self.objects = place / "objects"
        self.objects.mkdir(exist_ok=True)
        # Those of pictures and of the page's server test the program, and need its many libraries.
        listed = (ROOT / "tests" / "CMakeLists.txt").read_text()
        self.others = " ".join(re.findall(r"set\(YW_(?:RENDER|SERVER)_TESTS([^)]*)\)", listed)).split()

    def names(self):
        if self.options.built:
            return (self.place / "names").read_text().split()
        return [path.name for path in sorted((BUILD / "tests").glob("test_*")) if path.is_file() and os.access(path, os.X_OK) and path.name not in self.others]

    def make_object(self, name, words):
        """One object of a test, with no other name for the linker than main_NAME."""
        target, changed = self.objects / f"{name}.o", (BUILD / "tests" / name).stat().st_mtime
        if target.exists() and target.stat().st_mtime > changed:
            return
        self.tests.pop(name, None)
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
        source.write_text("#include <string.h>\n" + "".join(f"int main_{name}(int, char**);\n" for name in names) +
                          "int main(int count, char** words) {\n" +
                          "".join(f'  if (!strcmp(words[1], "{name}")) return main_{name}(count - 1, words + 1);\n' for name in names) +
                          "  return 99;\n}\n")
        subprocess.run(["c++", "-x", "c", str(source), "-x", "none", *[str(self.objects / f"{name}.o") for name in names], "-Wl,--start-group",
                        *libraries, "-Wl,--end-group", "-lm", "-lpthread", "-ldl", "-Wl,--as-needed", ADDRESS if self.options.address else "-s", "-o", str(self.program)], cwd=BUILD, check=True)
        (self.place / "names").write_text("\n".join(names))

    def run(self, test, mutant, limit):
        """(passed, seconds of processor time)."""
        environment = dict(os.environ, YW_MUTANT=str(mutant), **({"YW_TEST_FAST": "1"} if self.options.quick else {}))
        if mutant == 0:
            environment["YW_MUTANTS_REACHED"] = str(self.place / f"reached_{test}")
        seconds = int(limit) + 1

        # A group, no session of its own: some systems would not share the processor by niceness then.
        process = subprocess.Popen([str(self.program), test], cwd=BUILD, env=environment, process_group=0, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The sanitizer's map of the memory is larger than any limit.
        for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, 8 << 30))[:2 if self.options.address else 3]:
            resource.prlimit(process.pid, kind, (most, most))
        # One that waits for ever uses no processor.
        watch = threading.Timer(60 + 40 * seconds, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        _, status, used = os.wait4(process.pid, 0)
        watch.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode == 0, used.ru_utime + used.ru_stime

    def measure(self, end):
        """Runs every test that is new or changed without a mutant: the short ones first, which are of use even if time runs out."""
        if not self.options.built:
            self.link()
        wanted = self.names()
        if self.options.address:
            plain = Suite(BUILD / "mutants" / str(self.options.seed), self.options)
            wanted = sorted({name for r in json.loads((self.place / "drawn.json").read_text()) for name in plain.reaching(r)[:FEW_TESTS]})
        names = [name for name in wanted if not (self.options.quick and re.search(LONG_STUDIES, name)) and re.search(self.options.tests, name)]
        for limit in sorted({min(seconds, self.options.longest) for seconds in (5, self.options.longest)}):
            wanted = [name for name in names if not self.tests.get(name, {}).get("passed") and self.tests.get(name, {"limit": 0})["limit"] < limit]
            with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
                list(pool.map(lambda name: time.monotonic() < end and self.measure_one(name, limit), wanted))
            self.known.write_text(json.dumps(self.tests))

    def measure_one(self, name, limit):
        reached = self.place / f"reached_{name}"
        reached.unlink(missing_ok=True)
        passed, seconds = self.run(name, 0, limit)
        numbers = sorted({int(line) for line in reached.read_text().split()}) if reached.exists() else []
        # One that fails within its time need not be tried with more.
        limit = limit if seconds >= limit else 1e9
        self.tests[name] = {"passed": passed, "seconds": round(seconds, 2), "limit": limit, "reaches": numbers}
        if not self.options.built:
            self.tests[name]["made"] = (self.objects / f"{name}.o").stat().st_mtime
        print(f"{name}: {seconds:.1f} s, {len(numbers)} mutants{'' if passed else ', does not count: fails or takes too long'}", file=sys.stderr,
              flush=True)

    def version(self, name):
        """What differs if a test was changed."""
        test = self.tests.get(name, {})
        return test.get("made", test.get("seconds"))

    def reaching(self, record):
        wanted = words_of(record["path"])
        found = [name for name, test in self.tests.items()
                 if test["passed"] and record["number"] in test["reaches"] and re.search(self.options.tests, name)]
        return sorted(found, key=lambda name: (self.tests[name]["seconds"] + 0.1) * 0.3 ** len(wanted & words_of(name)))


def try_mutant(record, suite, skip, end):
    """(result, test that killed it, tests run); None if the time is over."""
    tests, spent = suite.reaching(record), 0.0
    for i, test in enumerate(tests):
        if test in skip:
            continue
        spent += suite.tests[test]["seconds"]
        if spent > suite.options.most:
            return "survived", "", tests[:i]
        if time.monotonic() + suite.tests[test]["seconds"] > end:
            return None
        passed, _ = suite.run(test, record["number"], 2 + 3 * suite.tests[test]["seconds"])
        if not passed:
            return "killed", test, tests
    if tests and not suite.options.built and is_same_code(suite.place, record):
        return "same code", "", tests
    return "survived" if tests else "not reached", "", tests


# Results -------------------------------------------------------------------------------------------


def shown(text):
    return text.replace("|", "\\|").replace("`", "'")


def counted(results, count):
    """The first `count` results of mutants that are other code."""
    return [results[i] for i in sorted(results) if results[i]["result"] != "same code"][:count]


def print_results(results):
    print("| place | from | to | result | tests run |\n|---|---|---|---|---|")
    for r in results:
        if r["result"] != "killed":
            print(f"| {r['path']}:{r['line']} | `{shown(r['from'])}` | `{shown(r['to'])}` | {r['result']} | {len(r['tests'])} |")
    counts = collections.Counter(r["result"] for r in results)
    print(f"\n{counts['killed']} killed, {counts['survived']} survived, {counts['not reached']} not reached, of {len(results)}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time; the same command goes on")
    parser.add_argument("--only", default="", help="regular expression of files to change")
    parser.add_argument("--at", default="", help="FILE:LINE,... : all mutants of these lines")
    parser.add_argument("--tests", default="", help="regular expression of test programs to run")
    parser.add_argument("--quick", action="store_true", help="run the tests as make check does")
    parser.add_argument("--longest", type=float, default=600, help="leave out tests that take longer, in seconds")
    parser.add_argument("--most", type=float, default=float("inf"), help="seconds of tests per mutant")
    parser.add_argument("--jobs", type=int, default=1, help="tests to run at the same time")
    parser.add_argument("--built", action="store_true", help="take the program of tests as it is")
    parser.add_argument("--address", action="store_true", help="what survived, with the address sanitizer")
    parser.add_argument("--retry", action="store_true", help="try again what was not killed")
    parser.add_argument("--print", action="store_true", help="print the results so far")
    parser.add_argument("--summary", action="store_true", help="print the counts so far as JSON")
    options = parser.parse_args()
    place = BUILD / "mutants" / ("at" if options.at else f"{options.seed}-address" if options.address else str(options.seed))
    asked = place / "places"
    if options.at and not (asked.exists() and asked.read_text() == options.at):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        asked.write_text(options.at)
    kept = place / "results.jsonl"
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

    def begin(record):
        before = results.get(record["number"])
        if time.monotonic() > end or len(counted(results, options.count)) >= options.count and not options.retry:
            return
        if before and not (options.retry and before["result"] in ("survived", "not reached")):
            return
        # Tests that it survived and that are as they were need not run again.
        skip = {} if not before else {t for t in before["tests"] if suite.version(t) == before["times"].get(t)}
        start = time.monotonic()
        done = try_mutant(record, suite, skip, end)
        if not done or before and not done[2]:
            return  # no time, or none of the tests that were asked for reaches it
        result, test, tests = done
        tests = sorted({*tests, *(before["tests"] if before else [])})
        entry = {**record, "result": result, "test": test, "tests": tests, "times": {t: suite.version(t) for t in tests},
                 "s": round(time.monotonic() - start, 1)}
        with lock:
            results[record["number"]] = entry
            with kept.open("a") as out:
                out.write(json.dumps(entry) + "\n")

    lock = threading.Lock()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(begin, [record for record in records if re.search(options.only, record["path"])]))
    print_results(counted(results, options.count))


if __name__ == "__main__":
    main()
