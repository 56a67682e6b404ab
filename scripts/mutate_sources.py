"""Mutants for scripts/mutate.py: finds the places, makes changed copies of functions, compiles them into a copy of the library."""
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
SPARE = 1.25  # drawn for each that is wanted: some turn out to be the same code

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
    """Compiles changed copies of the library's files as the build does, but (if not `as_built`) with less optimisation: bits do not depend on it."""

    def __init__(self, place, *more):
        self.place, self.more = place, more
        self.commands = collections.defaultdict(list)  # file -> arguments, once per instruction set
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            if re.search(r"CMakeFiles/yw_(objects|kernels_\w+)\.dir/", entry["command"]):
                name = str(pathlib.Path(entry["file"]).relative_to(ROOT))
                self.commands[name].append(shlex.split(entry["command"]))

    def run(self, name, source, command, target, *more, as_built=False):
        command = ["-O1" if word in ("-O2", "-O3") and not as_built else word for word in command if word not in ("-Werror", "-g")]
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

    def code_of(self, name, text, as_built):
        """What the file compiles to, without its name."""
        source, codes = self.place / "try" / name, []
        source.parent.mkdir(parents=True, exist_ok=True)
        for command in self.commands[name]:
            source.write_text(text)
            target = source.with_suffix(".o")
            if not self.run(name, source, command, target, as_built=as_built):
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


def is_same_code(place, record):
    """Whether a mutant compiles to what the file compiles to, with less optimisation or as built."""
    compiler = Compiler(place)
    text = (ROOT / record["path"]).read_text()
    changed = text[:record["start"]] + record["new"] + text[record["end"]:]
    line = text.count("\n", 0, record["start"]) + 1
    if line != record["line"] or text[text.rfind("\n", 0, record["start"]) + 1:].split("\n")[0].strip() != record["from"]:
        return False  # the file was changed since
    return any(compiler.code_of(record["path"], changed, as_built) == compiler.code_of(record["path"], text, as_built) for as_built in (False, True))
