#!/usr/bin/env bash
# Times one plastic body on several ranks, one thread each, and compares the final states.
# usage: scripts/measure_ranks.sh YAWARA SPACING RANKS...      e.g. build/yawara 0.01 1 2
# The block of scenes/ranks has (1 / SPACING)^3 masters; four steps of 1 ms are made.
set -euo pipefail
yawara=$1 spacing=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
common=(run "$root/scenes/ranks/block.json" --set fps=1000 --set substeps=1 --frames 4 --threads 1
        --snapshot-every 100 --set "bodies[0].plastic.spacing=$spacing" --set "bodies[0].plastic.time_step=0.001")
for ranks in "$@"; do
  launch=()
  [ "$ranks" = 1 ] || launch=(mpirun --oversubscribe -n "$ranks")
  python3 - "$ranks" "${launch[@]}" "$yawara" "${common[@]}" -o "$work/$ranks" <<'END'
import resource, subprocess, sys
done = subprocess.run(sys.argv[2:], capture_output=True, text=True)
said = done.stdout + done.stderr
if done.returncode:
    sys.exit(said)
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
print(f"{sys.argv[1]} ranks:", " ".join(line for line in said.split("\n") if "state" in line).split("state ")[1],
      f"largest process {memory:.0f} MB;", " ".join(line for line in said.split("\n") if "ranks:" in line))
END
  # Seconds of steps 2 to 4: lists are built in the first one. The column "step (s)" is the third.
  awk -F, 'NR > 3 { s += $3 } END { printf "  %.3f s per step\n", s / 3 }' "$work/$ranks/log.csv"
done
