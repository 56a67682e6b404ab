#!/usr/bin/env python3
"""Long tests, in parts that go on where they stopped: docs/reliability.md says what they are and what came of them.

usage: scripts/soak.py [PART[=COUNT]...] [--minutes M] [--jobs N] [--together] [--grace S] [--built] [--sanitizer NAME...] [--write | --list]

Parts (default: all, which takes hours): kills, scenes, torture, heaps, contact, memory, fuzz, server, mutants, analysis, reproducible, dist, coverage, papers, tests,
sanitizers, page.
--minutes M ends each part after about that time. What a part did is added to tests/soak/results.jsonl (date, seeds, counts), and the
next time it takes seeds that are not there yet. --jobs N tries N seeds at the same time (default: one per core), with --together also
of several parts, those named first before others; PART=COUNT tries COUNT seeds. What has begun when the time is over gets
--grace S seconds more (default 60). tests and sanitizers go on program by program instead (scripts/soak_programs.py).
--built takes the programs of build/ as they are, on a machine that cannot build them for example.
--write puts the sums into the tables of docs/reliability.md and docs/design/contact.md and runs nothing.
Exits 1 if something failed.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import datetime
import heapq
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import soak_programs

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RESULTS = ROOT / "tests" / "soak" / "results.jsonl"
PAGE = ROOT / "docs" / "reliability.md"
CONTACT_PAGE = ROOT / "docs" / "design" / "contact.md"
HOUR = 60.0
JOBS = os.cpu_count()
GRACE = 60.0  # seconds after its end that a seed may take; one that takes longer is tried again the next time


class Places:
    """Lets as many run at the same time as there are places: those of parts that were named first before others."""

    def __init__(self, count):
        self.free, self.waiting, self.changed = count, [], threading.Condition()

    @contextlib.contextmanager
    def one(self, rank):
        with self.changed:
            heapq.heappush(self.waiting, rank)
            self.changed.wait_for(lambda: self.free > 0 and self.waiting[0] == rank)
            heapq.heappop(self.waiting)
            self.free -= 1
            self.changed.notify_all()
        try:
            yield
        finally:
            with self.changed:
                self.free += 1
                self.changed.notify_all()


PLACES = Places(JOBS)
BUILT = False  # programs are taken as they are
CHOSEN = list(soak_programs.SANITIZERS)
COUNTS = {}  # part -> seeds to try, in the order in which parts were named


def results_of(part):
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return [result for result in map(json.loads, lines) if result["part"] == part]


def seeds_to_try(part, total, at_once):
    """(first, count) of the first seeds that were not tried yet, `total` in all, at most at_once each."""
    done = sorted((r["first"], r["first"] + r["count"]) for r in results_of(part) if r.get("count"))
    seed = 1
    for low, high in [*done, (None, None)]:
        while total > 0 and (low is None or seed < low):
            count = min(at_once, total, at_once if low is None else low - seed)
            yield seed, count
            seed, total = seed + count, total - count
        seed = max(seed, high or seed)


def keep(part, **numbers):
    result = {"part": part, "date": datetime.date.today().isoformat(), **numbers}
    with RESULTS.open("a") as out:
        out.write(json.dumps(result) + "\n")
    print(f"{part}: " + ", ".join(f"{key} {value}" for key, value in numbers.items()), flush=True)


def call(*command, limit=None, **environment):
    """(exit code, what it said). limit: seconds, after which it is ended with a TimeoutExpired."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=limit)
    return done.returncode, done.stdout.decode(errors="replace")


def in_seeds(part, minutes, total, at_once, run):
    """Calls run(first, count, limit) -> (numbers, failed), JOBS of all parts at the same time, until `total` seeds or the time are through, and
    keeps the sums of seeds in a row; those that took too long are tried again the next time. limit: seconds that it may take."""
    end = time.monotonic() + 60 * minutes
    total = COUNTS[part] or total

    def begin(seeds):
        with PLACES.one((list(COUNTS).index(part), seeds[0])):
            start = time.monotonic()
            if start >= end:
                return None
            try:
                numbers, failed = run(*seeds, end - start + GRACE)
            except subprocess.TimeoutExpired:
                print(f"{part}: seeds from {seeds[0]} are not done after {time.monotonic() - start:.0f} s", flush=True)
                return None
            print(f"{part}: seeds {seeds[0]} to {sum(seeds) - 1}, {failed} failed, {time.monotonic() - start:.1f} s", flush=True)
            return {"first": seeds[0], "count": seeds[1], "failed": failed, **numbers}

    rows = []
    # Some wait for a place at all times, so that no part after this one gets it.
    with concurrent.futures.ThreadPoolExecutor(2 * JOBS) as pool:
        for done in pool.map(begin, list(seeds_to_try(part, total, at_once))):
            if done and rows and rows[-1]["first"] + rows[-1]["count"] == done["first"]:
                rows[-1] = {**done, **collections.Counter(rows[-1]) + collections.Counter(done), "first": rows[-1]["first"]}
            elif done:
                rows.append(done)
    for row in rows:
        keep(part, **row)
    return not any(row["failed"] for row in rows)


# Parts ---------------------------------------------------------------------------------------------


def kills(minutes):
    """One seed: ten kills per method, four disks that are full or broken, and places that go bad."""
    def run(seed, _, limit):
        code, said = call("python3", "tests/soak/kill.py", BUILD / "yawara", BUILD / "tests" / "io_faults.so", 10, seed, limit=limit)
        tries = [int(n) for n in re.findall(r"^ok \w+: (\d+) disturbed", said, re.M)]
        lost = len(re.findall("^not ok", said, re.M)) or int(code != 0)
        if lost:
            print(said, flush=True)
        return {"kills_per_method": 10, "runs": sum(tries)}, lost

    return in_seeds("kills", minutes, 20, 1, run)


def seeded(part, program, minutes, total, at_once, **more):
    def run(seed, count, limit):
        end = time.monotonic() + limit
        code, said = call(BUILD / "tests" / program, limit=limit, YW_TEST_SEEDS=f"{seed} {count}", **more)
        if code == 0:
            return {}, 0
        # A failure ends the program: the seeds after it are tried as well.
        print(said[-4000:], flush=True)
        seeds = re.findall(r"^seed (\d+)$", said, re.M)
        at = int(seeds[-1]) if seeds else seed
        rest = seed + count - at - 1
        return {}, 1 + (run(at + 1, rest, end - time.monotonic())[1] if rest > 0 and seeds else 0)

    return in_seeds(part, minutes, total, at_once, run)


def scenes(minutes):
    tried = sum(result["count"] for result in results_of("scenes"))
    return seeded("scenes", "test_random_scenes", minutes, 10000 - tried % 10000, 20)


def memory(minutes):
    return seeded("memory", "test_memory", minutes, 100, 1, YW_TEST_FULL="1")


def torture(minutes):
    def run(seed, _, limit):
        _, said = call(BUILD / "tests" / "test_torture", limit=limit, YW_TEST_SEEDS=f"{seed} 1")
        found = re.search(r"(\d+) trials, (\d+) break the law", said)
        broken = [line for line in said.splitlines() if line.startswith("seed ")]
        with (BUILD / "torture.log").open("a") as out:
            out.write(said)
        print("\n".join(broken), flush=True)
        trials, wrong = map(int, found.groups()) if found else (0, 1)
        return {"trials": trials}, wrong

    return in_seeds("torture", minutes, 20, 1, run)


def heaps(minutes):
    def run(seed, _, limit):
        code, said = call(BUILD / "tests" / "test_heaps", limit=limit, YW_TEST_SEEDS=f"{seed} 1")
        print("\n".join(line for line in said.splitlines() if "bodies" in line), flush=True)
        return {"heaps": len(re.findall(r"^heap of", said, re.M))}, int(code != 0)

    return in_seeds("heaps", minutes, 7, 1, run)


ORDEALS = ["bin", "knot", "sheets", "ring", "press", "net", "twist", "grate", "head_on"]
ORDEAL = re.compile(r"^(\w+)((?: \w+)*): (\d+) of (\d+) frames with crossings, at most (\d+) between bodies, (\d+) within, "
                    r"(\d+) with obstacles; overlap (-?\d+) %, (\d+) diverged, ([\d.]+) s(?:; (.*))?$", re.M)


def ordeal(name, how, limit):
    """Runs one of tests/physics/test_contact_ordeals.c and keeps what came of it; False if it does not hold. how: "full" or "SIZE FRAMES"."""
    code, said = call("timeout", int(limit), BUILD / "tests" / "test_contact_ordeals", YW_TEST_ORDEALS=f"{name} {how}")
    found = ORDEAL.findall(said)
    for _, what, bad, frames, between, within, obstacles, overlap, diverged, seconds, lost in found:
        keep("contact", name=name, what=what.strip(), how=how, frames=int(frames), bad=int(bad), between=int(between), within=int(within),
             obstacles=int(obstacles), overlap=int(overlap), diverged=int(diverged), seconds=float(seconds), lost=lost,
             failed=int(int(bad) + int(diverged) > 0 or lost != ""))
    if code == 124 or not found:
        keep("contact", name=name, what="", how=how, frames=0, lost=f"no answer in {limit:.0f} s" if code == 124 else "no answer", failed=1)
    return code == 0


def contact(minutes):
    """Those that were tried least often come first."""
    end = time.monotonic() + 60 * minutes
    tries = collections.Counter({name: len({r["date"] for r in results_of("contact") if r["name"] == name}) for name in ORDEALS})
    good = True
    for name in sorted(ORDEALS, key=lambda name: tries[name]):
        left = end - time.monotonic()
        if left > 0:
            good = ordeal(name, "full", max(60, left)) and good
    return good


def fuzz(minutes):
    code, said = call("scripts/fuzz.sh", int(60 * min(minutes, 2 * HOUR)))
    print(said, flush=True)
    keep_fuzzed(said)
    return code == 0


def keep_fuzzed(said):
    pattern = r"^(fuzz_\w+) +(\d+) +(\d+) +([\d?]+) -> +([\d?]+) +([\d?]+) -> +([\d?]+) +(\d*) s +(\d*) MB +(.*)$"
    for name, executions, rate, cov, cov_end, ft, ft_end, slowest, peak, result in re.findall(pattern, said, re.M):
        # libFuzzer does not count the time of an input that it gave up.
        slowest = str(max(map(int, [slowest or 0, *re.findall(r"timeout after (\d+)", result)])))
        broken = re.match(r"BROKEN (\d+)", result)
        keep("fuzz", program=name, executions=int(executions), rate=int(rate), branches=[cov, cov_end], features=[ft, ft_end],
             slowest=slowest, memory=peak, failed=int(broken[1]) if broken else int(result != "ok"))


def server(minutes):
    def run(seed, count, limit):
        code, said = call("python3", "tests/soak/server.py", BUILD / "yawara", count, seed, limit=limit)
        if code != 0:
            print(said, flush=True)
        return {"connections": count}, int(code != 0)

    return in_seeds("server", minutes, 100000, 2000, run)


def mutants(minutes):
    # What tests do not see without sanitizers once more with the address sanitizer, which make test has for most of them.
    options = ("--quick", "--longest", 20, "--jobs", JOBS)
    code, said = call("scripts/mutate.py", *options, "--minutes", 0.8 * minutes)
    call("scripts/mutate.py", *options, "--minutes", 0.2 * minutes, "--address")
    counts = json.loads(call("scripts/mutate.py", "--summary")[1])
    keep("mutants", seed=1, **counts)
    print(said[-3000:], flush=True)
    return code == 0


def analysis(_):
    code, said = call("scripts/check_analysis.sh")
    print(said, flush=True)
    found = re.search(r"(\d+) files, (\d+) findings", said)
    keep("analysis", files=int(found[1]) if found else 0, failed=int(found[2]) if found else 1)
    return code == 0


def reproducible(_):
    code, said = call("scripts/check_reproducible.sh")
    print(said, flush=True)
    keep("reproducible", said=said.strip().splitlines()[-1] if said.strip() else "", failed=int(code != 0))
    return code == 0


def dist(_):
    """A release of the last commit, twice: the same bytes, the checksum is right, and all sources are in it."""
    places, commit = [BUILD / "soak_dist" / name for name in ("one", "two")], call("git", "rev-parse", "HEAD")[1]
    for place in places:
        shutil.rmtree(place, ignore_errors=True)
        code, said = call("scripts/dist.sh", place)
        if code != 0:
            print(said, flush=True)
            keep("dist", failed=1)
            return False
    files = sorted(path.name for path in places[0].iterdir())
    wrong = [name for name in files if (places[0] / name).read_bytes() != (places[1] / name).read_bytes()]
    archive = next(name for name in files if name.endswith(".tar.gz"))
    if call("sh", "-c", f"cd {places[0]} && sha256sum -c {archive}.sha256")[0] != 0:
        wrong.append("checksum")
    packed = {name.partition("/")[2] for name in call("tar", "tzf", places[0] / archive)[1].splitlines() if not name.endswith("/")}
    sources = set(call("git", "ls-tree", "-r", "--name-only", "HEAD")[1].splitlines())
    sbom = json.loads(next(places[0].glob("*.spdx.json")).read_text())
    wrong += sorted(sources ^ packed)
    print("\n".join(wrong), flush=True)
    if call("git", "rev-parse", "HEAD")[1] != commit:
        print("dist: there was a commit meanwhile", flush=True)
        return False
    keep("dist", archive=archive, sources=len(packed), packages=len(sbom["packages"]), failed=len(wrong))
    return not wrong


def coverage(_):
    """Lines and branches that the tests of make check reach. With --built, those of the last scripts/coverage.py, whatever tests it ran."""
    built = ["--report"] + ([] if (BUILD / "coverage" / "yawara").exists() else ["--library"])
    code, said = call("scripts/coverage.py", "--quick", *(built if BUILT else []))
    found = re.search(r"^src/: (\d+) of (\d+) lines .*, (\d+) of (\d+) branches .*, by (\d+) test programs(.*)$", said, re.M)
    failed = re.search(r"^failed .*: (.*)$", said, re.M)
    print(said[-1000:], flush=True)
    if not found:
        keep("coverage", failed=1)
        return False
    reached, lines, taken, branches, programs = map(int, found.groups()[:5])
    names = failed[1].split(", ") if failed else []
    keep("coverage", lines=lines, reached=reached, branches=branches, taken=taken, programs=programs, tests=found[6].strip(), names=names, failed=len(names))
    return code == 0 and 100 * reached >= 92 * lines and 100 * taken >= 80 * branches


def papers(_):
    """Every figure of the papers, quick and without pictures: make test has time for the short ones only."""
    names = re.findall(r"^  ([a-z]+[0-9]*-\w+)", call(BUILD / "yawara", "paper")[1], re.M)
    failed = []
    for name in names:
        code, said = call(BUILD / "yawara", "paper", name, "--quick", "--no-pictures", "-o", BUILD / "soak_papers")
        if code != 0:
            failed.append(name)
            print(f"{name}: {said[-1000:]}", flush=True)
    keep("papers", figures=len(names), failed=len(failed) if names else 1)
    return bool(names) and not failed


def turns_of(part):
    return lambda number: PLACES.one((list(COUNTS).index(part), number))


def tests(minutes):
    return soak_programs.tests(time.monotonic() + 60 * minutes, turns_of("tests"), JOBS, BUILT)


def sanitizers(minutes):
    end = time.monotonic() + 60 * minutes
    return all([soak_programs.sanitizer(name, end, turns_of("sanitizers"), JOBS, BUILT) for name in CHOSEN])


def page(_):
    if call("scripts/web.sh", "--check")[0] != 0 or not shutil.which("chromium"):
        print("page: skipped, scripts/setup.sh web installs what it needs")
        return True
    code, said = call("sh", "-c", "scripts/web.sh && node tests/web/run.mjs", YW_TEST_FULL="1")
    print(said[-3000:], flush=True)
    keep("page", failed=int(code != 0))
    return code == 0


PARTS = {part.__name__: part for part in (kills, scenes, torture, heaps, contact, memory, fuzz, server, mutants, analysis, reproducible, dist, coverage, papers, tests, sanitizers, page)}


# Tables --------------------------------------------------------------------------------------------


def number(value):
    return f"{value:,}"


def seed_spans(results):
    spans = sorted((r["first"], r["first"] + r["count"] - 1) for r in results if r["count"] > 0)
    joined = []
    for low, high in spans:
        if joined and low <= joined[-1][1] + 1:
            joined[-1][1] = max(high, joined[-1][1])
        else:
            joined.append([low, high])
    return ", ".join(f"{low:,} to {high:,}" if low < high else f"{low:,}" for low, high in joined)


def dates(results):
    found = sorted({r["date"] for r in results})
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


def sum_of(results, key):
    return sum(r.get(key, 0) for r in results)


def seed_table(part, columns):
    """One row: date, seeds, and sums of the given (title, key)."""
    results = results_of(part)
    titles = ["date", "seeds", *[title for title, _ in columns], "failed"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    if results:
        lines.append("| " + " | ".join([dates(results), seed_spans(results), *[number(sum_of(results, key)) for _, key in columns],
                                        number(sum_of(results, "failed"))]) + " |")
    return lines


def fuzz_table():
    results = results_of("fuzz")
    lines = ["| program | executions | per second | branches | features | slowest | memory | broken |", "|" + "---|" * 8]
    for name in sorted({r["program"] for r in results}):
        own = [r for r in results if r["program"] == name]
        ends = [max(int(r[key][1]) for r in own) for key in ("branches", "features")]
        best = {key: max(int(r[key] or 0) for r in own) for key in ("rate", "slowest", "memory")}
        lines.append(f"| `{name}` | {number(sum_of(own, 'executions'))} | {number(best['rate']) if best['rate'] else ''} | "
                     f"{own[0]['branches'][0]} to {ends[0]} | {own[0]['features'][0]} to {ends[1]} | {best['slowest']} s | "
                     f"{str(best['memory']) + ' MB' if best['memory'] else ''} | {sum_of(own, 'failed')} |")
    total = sum_of(results, "executions")
    if results:
        lines += ["", f"{dates(results)}: {number(total)} executions in all, {100 * total / 1e8:.3g} % of the 10^8 that are the aim."]
    return lines


def last_table(part, columns):
    results = results_of(part)
    lines = ["| " + " | ".join(["date", *[title for title, _ in columns]]) + " |", "|" + "---|" * (1 + len(columns))]
    if results:
        lines.append("| " + " | ".join([results[-1]["date"], *[str(results[-1].get(key, 0)) for _, key in columns]]) + " |")
    return lines


def contact_table():
    """The last result of every case and size."""
    lines = ["| ordeal | date | size, frames | frames with crossings | between bodies | within | with obstacles | overlap | diverged | "
             "processor s | |", "|" + "---|" * 11]
    last = {}
    for result in results_of("contact"):
        last[(result["name"], result["what"], result["how"])] = result
    for r in sorted(last.values(), key=lambda r: (ORDEALS.index(r["name"]), r["how"] == "full")):
        numbers = [r.get(key, "") for key in ("bad", "between", "within", "obstacles")]
        overlap = f"{r['overlap']} %" if "overlap" in r else ""
        lines.append("| " + " | ".join(map(str, [f"{r['name']} {r['what']}".strip(), r["date"], r["how"], *numbers, overlap, r.get("diverged", ""),
                                                 r.get("seconds", ""), r["lost"]])) + " |")
    return lines


def mutant_table():
    lines = last_table("mutants", [("mutants", "mutants"), ("killed", "killed"), ("survived", "survived"), ("not reached", "not reached")])
    results = results_of("mutants")
    if results and results[-1]["mutants"]:
        lines += ["", f"{100 * results[-1].get('killed', 0) / results[-1]['mutants']:.1f} % are killed (aim 90 % of 500)."]
    return lines


def coverage_table():
    lines = ["| date | lines of `src/` | reached | branches | taken | test programs | failed |", "|" + "---|" * 7]
    results = [r for r in results_of("coverage") if "lines" in r]
    if results:
        r = results[-1]
        lines.append(f"| {r['date']} | {number(r['lines'])} | {100 * r['reached'] / r['lines']:.1f} % | {number(r['branches'])} | "
                     f"{100 * r['taken'] / r['branches']:.1f} % | {r['programs']} {r['tests']} | {', '.join(r['names']) or 0} |")
    return lines


TABLES = {
    "coverage": coverage_table,
    "kills": lambda: seed_table("kills", [("kills per method", "kills_per_method"), ("disturbed runs", "runs")]),
    "scenes": lambda: seed_table("scenes", [("scenes", "count")]),
    "memory": lambda: seed_table("memory", [("scenes", "count")]),
    "torture": lambda: seed_table("torture", [("trials", "trials"), ("failed as known below", "known")]),
    "heaps": lambda: seed_table("heaps", [("heaps", "heaps")]),
    "contact": contact_table,
    "fuzz": fuzz_table,
    "server": lambda: seed_table("server", [("connections", "connections")]),
    "mutants": mutant_table,
    "analysis": lambda: last_table("analysis", [("files", "files"), ("findings", "failed")]),
    "reproducible": lambda: last_table("reproducible", [("result", "said"), ("failed", "failed")]),
    "dist": lambda: last_table("dist", [("release, made twice", "archive"), ("sources in it", "sources"), ("packages in its SBOM", "packages"), ("failed", "failed")]),
    "papers": lambda: last_table("papers", [("figures of papers, quick", "figures"), ("failed", "failed")]),
    "tests": lambda: soak_programs.table([soak_programs.FULL]),
    "sanitizers": lambda: soak_programs.table(soak_programs.SANITIZERS),
}


def write_page():
    pages = {page: page.read_text() for page in (PAGE, CONTACT_PAGE)}
    for name, table in TABLES.items():
        block = re.compile(rf"(<!-- soak: {name} -->\n).*?(<!-- end -->)", re.S)
        page = next((page for page, text in pages.items() if block.search(text)), None)
        if page is None:
            print(f"docs have no place for {name}", file=sys.stderr)
            continue
        pages[page] = block.sub(lambda match: match[1] + "\n".join(table()) + "\n" + match[2], pages[page])
    for page, text in pages.items():
        page.write_text(text)


def main():
    global JOBS, PLACES, GRACE, BUILT, CHOSEN
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART[=COUNT]")
    parser.add_argument("--minutes", type=float, default=24 * HOUR)
    parser.add_argument("--jobs", type=int, default=JOBS, help="seeds to try at the same time")
    parser.add_argument("--together", action="store_true", help="run the parts at the same time")
    parser.add_argument("--grace", type=float, default=GRACE, help="seconds for what has begun when the time is over")
    parser.add_argument("--built", action="store_true", help="take the programs of build/ as they are")
    parser.add_argument("--sanitizer", nargs="+", choices=CHOSEN, default=CHOSEN, metavar="NAME", help="of the part sanitizers: " + ", ".join(CHOSEN))
    parser.add_argument("--write", action="store_true", help="write the tables of docs/reliability.md")
    parser.add_argument("--list", action="store_true", help="print the names of the parts")
    options = parser.parse_args()
    if options.list:
        return print("\n".join(PARTS))
    if options.write:
        return write_page()
    JOBS, PLACES, GRACE, BUILT, CHOSEN = options.jobs, Places(options.jobs), options.grace, options.built, options.sanitizer
    for part, count in (word.partition("=")[::2] for word in options.parts or PARTS):
        if part not in PARTS or not (count or "0").isdigit():
            parser.error(f"no part {part} with {count or 'all'} seeds; parts: {', '.join(PARTS)}")
        COUNTS[part] = int(count or 0)
    # Those of the sanitizers are built by that part.
    if not options.built and set(COUNTS) != {"sanitizers"} and subprocess.run([ROOT / "scripts" / "configure.sh", BUILD, "-DYW_BUILD_TESTS=ON"]).returncode != 0:
        sys.exit(1)
    parts = list(COUNTS)
    with concurrent.futures.ThreadPoolExecutor(len(parts) if options.together else 1) as pool:
        good = list(pool.map(lambda part: PARTS[part](options.minutes), parts))
    failed = [part for part, held in zip(parts, good) if not held]
    write_page()
    print("FAILED: " + ", ".join(failed) if failed else "nothing failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
