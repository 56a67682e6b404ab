"""Every test program at full length, or under clang's sanitizers: parts of scripts/soak.py.

They go on where they stopped, program by program. tests/soak/programs.json has the last result of each: passed, failed or late (it had
to be ended), time, commit, sources and seconds of processor time. What passed with the same sources is not run again. The others
come in this order: those that never passed, the shortest first, then those that passed the longest ago.
"""
import concurrent.futures
import contextlib
import datetime
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RESULTS = ROOT / "tests" / "soak" / "programs.json"
SOURCES = ("CMakeLists.txt", "cmake", "include", "src", "apps", "studies", "tests", "scenes", "web/core", ":!tests/soak")
LONGEST = 7200.0  # seconds by the clock that a test program may take
FULL = "full length"
# The programs' other libraries are built without the sanitizers, and so is the C++ that test_device loads: what they do is unknown to two
# of them.
ALONE = [f"-DYW_WITH_{name}=OFF" for name in ("EMBREE", "PNG", "RSVG", "WEBSOCKETS", "ZLIB", "LZ4", "LZMA")]
ADDRESS = "address and undefined behaviour"
SANITIZERS = {"memory": ["memory", "-DYW_TEST_NAMES_NOT=^test_device", *ALONE],
              ADDRESS: ["address,undefined,float-divide-by-zero,implicit-integer-truncation"],
              "threads": ["thread", *ALONE]}
# Tests of the program that are run with ADDRESS, too.
SCRIPTS = ("bad_input", "export", "fem", "log", "mesh", "pose_mesh", "run", "run_folder", "schema")


def output_of(*command):
    return subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode(errors="replace")


def sources_now():
    """(commit, name of the sources), which changes with every byte of what test programs are built from and read."""
    text = output_of("git", "ls-tree", "-r", "HEAD", *SOURCES[:-1]) + output_of("git", "diff", "HEAD", "--", *SOURCES)
    text = "\n".join(line for line in text.splitlines() if "\ttests/soak/" not in line)
    return output_of("git", "rev-parse", "--short=8", "HEAD").strip(), hashlib.sha256(text.encode()).hexdigest()[:8]


class Results:
    """The last result of every program in every way to run it, written at once, so that nothing is lost when the run is ended; also by
    several runs at the same time."""

    def __init__(self):
        self.lock = threading.Lock()
        self.read()

    def read(self):
        self.programs = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}

    @contextlib.contextmanager
    def changed(self):
        with self.lock, (BUILD / "soak_programs.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.read()
            yield
            self.write()

    def known(self, way, names, whole):
        """There are these programs and, if they are the `whole` suite, no others."""
        with self.changed():
            for name in names:
                self.programs.setdefault(name, {}).setdefault(way, None)
            for name in {*self.programs} - {*names} if whole else ():
                self.programs[name].pop(way, None)

    def of(self, way):
        return {name: ways[way] for name, ways in self.programs.items() if way in ways}

    def keep(self, way, name, result):
        with self.changed():
            last = self.programs[name][way]
            if result[0] != "late" or last is None or last[0] == "late":
                self.programs[name][way] = result

    def write(self):
        lines = [f"{json.dumps(name)}: {json.dumps(dict(sorted(ways.items())))}" for name, ways in sorted(self.programs.items()) if ways]
        part = RESULTS.with_suffix(".part")
        part.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        part.replace(RESULTS)

    def turn(self, way, name, sources, guess):
        """What comes before other programs is less; None if it need not run."""
        last = self.programs[name][way]
        if last and last[0] == "passed":
            return None if last[3] == sources else (1, last[1], last[4])
        seconds = [each[4] for each in [last, *self.programs[name].values()] if each]
        return 0, "", seconds[0] if seconds else guess


def seconds_taken():
    """What each test took when ctest ran the ordinary build."""
    path = BUILD / "Testing" / "Temporary" / "CTestCostData.txt"
    lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    return {words[0]: float(words[2]) for words in lines if len(words) == 3}


def programs_of(folder, built):
    """(name, command, environment, working directory) of every test of a build; where only programs are, not of scripts."""
    said = output_of("ctest", "--test-dir", folder, "--show-only=json-v1")
    for test in json.loads(said)["tests"] if said.startswith("{") else []:
        properties = {each["name"]: each["value"] for each in test["properties"]}
        words = [word.split("=", 1) for word in properties.get("ENVIRONMENT", [])]
        command = test.get("command", [test["name"]])  # not said where it is not built
        if not built or test["name"].split("/")[0] not in ("cli", "python"):
            yield test["name"], command, dict(words), properties["WORKING_DIRECTORY"]


def wait(process, end):
    """(exit code, or None if it had to be ended, seconds of processor time of it and of those that it waited for)."""
    ended, pause = False, 0.01
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            return None if ended else process.returncode, usage.ru_utime + usage.ru_stime
        if time.monotonic() > end and not ended:
            process.kill()
            ended = True
        time.sleep(pause)
        pause = min(1, 1.5 * pause)


def run_program(way, program, end, more):
    """(result, when it began, seconds of processor time) of a (name, command, environment, folder)."""
    name, command, environment, folder = program
    now, start = datetime.datetime.now().isoformat(" ", "minutes"), time.monotonic()
    if not os.access(command[0], os.X_OK) and not shutil.which(command[0]):
        print(f"{way}: {name}: not built", flush=True)
        return "failed", now, 0
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([str(word) for word in command], cwd=folder, env={**os.environ, **environment, **more}, stdout=out, stderr=subprocess.STDOUT)
        code, seconds = wait(process, min(end, start + LONGEST))
        out.seek(0)
        said = out.read().decode(errors="replace")
    result = "late" if code is None else "failed" if code else "passed"
    zeros = {os.path.relpath(os.path.join(folder, place), ROOT) for place in re.findall(r"^(\S+:\d+):\d+: runtime error: division by zero$", said, re.M)}
    print(f"{way}: {name}: {result}, {seconds:.1f} s" + "".join(f", divided by zero at {place}" for place in sorted(zeros)), flush=True)
    if code != 0:
        with (BUILD / "soak_programs.log").open("a") as file:
            file.write(f"== {now} {way}: {name}: {result}, exit code {code}\n{said[:20000]}\n{said[20000:][-20000:]}\n")
    return result, now, round(seconds, 1)


def run_programs(way, programs, end, places, jobs, whole, **environment):
    """Runs those that have to be run until `end`, `jobs` at the same time; True if all that there are have passed with these sources.
    build/soak_programs.log has what those said that did not pass."""
    results, taken, (commit, sources) = Results(), seconds_taken(), sources_now()
    results.known(way, [program[0] for program in programs], whole)
    turns = {program[0]: results.turn(way, program[0], sources, taken.get(program[0], 0)) for program in programs}
    todo = sorted([program for program in programs if turns[program[0]]], key=lambda program: turns[program[0]])

    def run(number):
        with places(number):
            if time.monotonic() < end:
                result, now, seconds = run_program(way, todo[number], end, environment)
                results.keep(way, todo[number][0], [result, now, commit, sources, seconds])

    with concurrent.futures.ThreadPoolExecutor(2 * jobs) as pool:
        list(pool.map(run, range(len(todo))))
    return all(last and last[0] == "passed" and last[3] == sources for last in results.of(way).values())


def tests(end, places, jobs, built):
    return run_programs(FULL, list(programs_of(BUILD, built)), end, places, jobs, not built, YW_TEST_FULL="1")


def sanitizer(name, end, places, jobs, built):
    """Every test program under a sanitizer, at the length of make check; make test has time for some of them."""
    flags, *options = SANITIZERS[name]
    folder = BUILD / f"soak_{flags.split(',')[0]}"
    if not built:
        done = subprocess.run([ROOT / "scripts" / "configure.sh", folder, "-DYW_BUILD_TESTS=ON", "-DCMAKE_C_COMPILER=clang", "-DYW_WITH_CUDA=OFF",
                               "-DYW_WITH_OPENVDB=OFF", "-DYW_WITH_X86_KERNELS=OFF", "-DYW_OPTIMIZE=-O2", f"-DYW_SANITIZE={flags}", *options])
        if done.returncode != 0:
            return False
    programs = list(programs_of(folder, built))
    if name == ADDRESS:
        # What the sanitizers say goes to build/said.*, since scripts compare what the program says.
        leaks = {"LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/leaks.supp:print_suppressions=0", "ASAN_OPTIONS": f"log_path={BUILD}/said",
                 "UBSAN_OPTIONS": f"log_path={BUILD}/said"}
        programs += [(f"cli/test_{script}", ["bash", ROOT / f"tests/cli/test_{script}.sh", folder / "yawara"], leaks, folder) for script in SCRIPTS]
    return run_programs(name, programs, end, places, jobs, not built, YW_TEST_FAST="1")


# Tables --------------------------------------------------------------------------------------------


def row(way, last, sources):
    """What became of the programs that are run in some way."""
    passed = [result for result in last.values() if result and result[0] == "passed"]
    days = sorted({result[1][:10] for result in passed})
    spans = "" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    others = [str(sum(1 for result in last.values() if result and result[0] == kind)) for kind in ("failed", "late")]
    never = sum(1 for result in last.values() if result is None)
    newest = sum(1 for result in passed if result[3] == sources)
    return "| " + " | ".join([way, str(len(passed)), str(len(last)), spans, str(newest), *others, str(never)]) + " |"


def table(ways):
    """How many programs passed in each way, and the names of the others where they are few."""
    results = Results()
    ran = {way: results.of(way) for way in ways}
    lines = ["| | passed | of | when | of these with the last sources | failed | ended before they were through | not run |", "|" + "---|" * 8]
    for way, last in ran.items():
        newest = max((result for result in last.values() if result), key=lambda result: result[1], default=None)
        lines.append(row(way, last, newest and newest[3]))
    for way, last in ran.items():
        for kind, said in (("failed", "failed"), ("late", "ended"), (None, "not run")):
            names = sorted(name for name, result in last.items() if (result and result[0]) == kind)
            if 0 < len(names) <= 40:
                lines += ["", f"{way[0].upper()}{way[1:]}, {said}: " + ", ".join(f"`{name.split('/')[1]}`" for name in names) + "."]
    return lines
