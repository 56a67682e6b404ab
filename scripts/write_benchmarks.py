#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Writes the tables of docs/benchmarks.md, so that they are those of the program. A block
#   <!-- yawara bench NAME OPTIONS -->            or, with some of its rows only,
#   <!-- yawara bench NAME OPTIONS; REGEX -->
#   ...
#   <!-- end -->
# is replaced by what that command measures, the day, the machine and what else ran on it. Blocks of the same command are of one run.
# usage: scripts/write_benchmarks.py [NAME...]     these benches, or all that have a block (make benchmarks, some minutes)
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
BLOCK = re.compile(r"(<!-- yawara bench (?P<name>\w+)(?P<options>[^;>]*?)(?:; (?P<rows>[^>]*?))? -->\n).*?(<!-- end -->)", re.S)


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*: (.*)$", text, re.M)
    return f"{name[1].strip() if name else 'an unknown processor'}, {os.cpu_count()} cores"


def others():
    """Programs that run, without this one: a mean over a second, before and after a bench."""
    seen = []
    for _ in range(20):
        seen.append(int(pathlib.Path("/proc/loadavg").read_text().split()[3].split("/")[0]) - 1)
        time.sleep(0.05)
    return round(sum(seen) / len(seen))


def measure(name, options):
    """(rows, a line about the run)."""
    before = others()
    command = [str(ROOT / "build/yawara"), "bench", name, "--json", *options.split()]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    print(f"measured {name}", file=sys.stderr, flush=True)
    most = max(before, others())
    beside = f", beside about {most} other programs" if most else ", nothing else running"
    return [json.loads(line) for line in said.splitlines()], f"{datetime.date.today().isoformat()}, {machine()}{beside}:"


def figure(value):
    """Three digits, as people write them."""
    if value == 0 or not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3g}"
    digits = max(0, 2 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 2 - int(f"{value:e}".split("e")[1])
    return f"{value:,.{digits}f}"


def table(rows):
    threads = len({row["threads"] for row in rows}) > 1
    lines = [f"| case |{' threads |' if threads else ''} value | |", "|---|" + ("---|" if threads else "") + "---|---|"]
    for row in rows:
        ratio = f"{figure(row['ratio'])} times as fast as {row['against']}" if row["against"] else ""
        many = f" {row['threads']} |" if threads else ""
        lines.append(f"| {row['case']} |{many} {figure(row['value'])} {row['unit']} | {ratio} |")
    return lines


def main():
    text, runs = PAGE.read_text(), {}
    known = collections.Counter(match["name"] for match in BLOCK.finditer(text))
    unknown = [name for name in sys.argv[1:] if name not in known]
    if unknown:
        sys.exit(f"write_benchmarks.py: docs/benchmarks.md has no block of {', '.join(unknown)}; it has {', '.join(known)}")

    def write(match):
        name, options = match["name"], match["options"].strip()
        if sys.argv[1:] and name not in sys.argv[1:]:
            return match[0]
        if (name, options) not in runs:
            runs[name, options] = measure(name, options)
        rows, about = runs[name, options]
        rows = [row for row in rows if re.search(match["rows"] or "", row["case"])]
        if not rows:
            sys.exit(f"write_benchmarks.py: bench {name} has no row that matches \"{match['rows']}\"")
        return "\n".join([match[1] + about, "", *table(rows), match[match.lastindex]])

    PAGE.write_text(BLOCK.sub(write, text))


if __name__ == "__main__":
    main()
