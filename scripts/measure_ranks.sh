#!/usr/bin/env bash
# Times one plastic body on several ranks, one thread each, compares the final states, and says how
# much faster and how much smaller than one rank that is.
# usage: scripts/measure_ranks.sh YAWARA SPACING RANKS...      e.g. build/yawara 0.01 1 2
# The block of scenes/ranks has (1 / SPACING)^3 masters; four steps of 1 ms are made, of which the
# last three count: lists are built in the first one. Memory is that of the largest process, with
# everything: reading the scene, frames and the snapshot at the end too.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec python3 - "$root" "$@" <<'END'
import csv, re, resource, subprocess, sys, tempfile

root, yawara, spacing, *counts = sys.argv[1:]
first = None
with tempfile.TemporaryDirectory() as work:
    for count in counts:
        out = f"{work}/{count}"
        command = [] if count == "1" else ["mpirun", "--oversubscribe", "-n", count]
        command += [yawara, "run", f"{root}/scenes/ranks/block.json", "--set", "fps=1000", "--set", "substeps=1",
                    "--frames", "4", "--threads", "1", "--snapshot-every", "100", "--set",
                    f"bodies[0].plastic.spacing={spacing}", "--set", "bodies[0].plastic.time_step=0.001", "-o", out]
        done = subprocess.run(command, capture_output=True, text=True)
        said = done.stdout + done.stderr
        if done.returncode:
            sys.exit(said)
        state = re.search(r"state ([0-9a-f]+)", said).group(1)
        each = re.search(r"at most (\d+) MB of memory each", said)
        # Of one rank: the first process that ran here, so it must come first.
        memory = float(each.group(1)) if each else resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024e-6
        rows = list(csv.reader(open(f"{out}/log.csv")))[1:]
        seconds = sum(float(row[2]) for row in rows[2:]) / len(rows[2:])
        print(f"{count} ranks: {seconds:.3f} s per step by the clock, at most {memory:.0f} MB each, state {state}")
        if first:
            print(f"  {first[0] / seconds:.2f} times as fast as {counts[0]}, {100 * memory / first[1]:.1f} % of its memory, "
                  f"{'the same state' if state == first[2] else 'ANOTHER STATE'}")
        for line in said.split("\n"):
            if "ranks:" in line:
                print("  " + line)
        first = first or (seconds, memory, state)
        if state != first[2]:
            sys.exit(1)
END
