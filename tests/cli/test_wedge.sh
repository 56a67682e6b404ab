#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Many runs of a scene: killed, resumed, failed, retried, shared out, and refused.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

cat >scene.json <<'END'
{ "floor": true, "duration": 1, "fps": 60,
  "bodies": [ { "name": "box", "mesh": { "lattice": { "size": 1, "cells": 2 } },
                "position": [0, 0.7, 0], "match": { "alpha": 0.3 } } ] }
END
sweeps=(--sweep "bodies[0].velocity=[0,-1,0],[1,0,0]" --sweep "bodies[0].match.alpha=0.1..0.5:3")
count() { "$yawara" wedge status "$1" | grep -c "  $2  "; }
done_times() { stat -c '%n %y' "$@"; }

# Six runs. The place of the fourth is taken, so that it fails; the last one is locked, so that the
# wedge cannot end before it is killed.
same "makes a manifest of six runs" 6 \
  "$("$yawara" wedge scene.json "${sweeps[@]}" --frames 40 -o six --status | grep -c "  waiting  ")"
mkdir -p six/runs six/messages && touch six/runs/0004
exec 9>>six/messages/0006.txt
flock 9
"$yawara" wedge six --jobs 1 -q >/dev/null 2>&1 9>&- &
wedge=$!
for _ in $(seq 200); do [ -d six/runs/0003 ] && break; sleep 0.05; done
{ kill -9 $wedge && wait $wedge; } 2>/dev/null
exec 9>&-
check "the first runs were done, the last one was not" \
  test -f six/runs/0001/run.json -a -f six/runs/0002/run.json -a ! -e six/runs/0006
before=$(done_times six/runs/000[12]/run.json)
said=$("$yawara" wedge six -q)
same "a run that fails gives exit code 1" $? 1
check "it is named, with the reason" \
  grep -qE " 4  failed .*velocity=\[1,0,0\].*alpha=0.1: exit code 2: .*0004" <<<"$said"
check "the others are done" grep -q "6 runs: 5 done, 1 failed, 0 running, 0 waiting" <<<"$said"
same "what was done before the kill is not done again" "$before" \
  "$(done_times six/runs/000[12]/run.json)"
rm six/runs/0004
check "what failed is not tried again by itself" grep -q "5 done, 1 failed" <("$yawara" wedge six -q)
before=$(done_times six/runs/000[12356]/run.json)
check "--retry does" "$yawara" wedge six -q --retry
same "and only that" "$before" "$(done_times six/runs/000[12356]/run.json)"
# Short runs do not wait for the disk: one may lose its files with the power.
before=$(state_of six/runs/0002)
: >six/runs/0002/run.json
check "a run that lost its run.json" "$yawara" wedge six -q
same "is made again, to the same state" "$(state_of six/runs/0002)" "$before"
# One from the time of the kill, one that failed, and one that nothing happened to.
plain() {
  "$yawara" run scene.json --set "bodies[0].velocity=$2" --set "bodies[0].match.alpha=$3" --frames 40 -q -o plain
  same "run $1 ends as without a wedge" "$(state_of plain)" "$(state_of six/runs/000$1)"
}
plain 3 "[0,-1,0]" 0.5
plain 4 "[1,0,0]" 0.1
plain 5 "[1,0,0]" 0.3
same "states differ" "$(sed 's/"[^"]*"//' six/table.csv | cut -d, -f7 | sort -u | wc -l)" 7
row=$(sed -n 6p six/table.csv)
energy=$(awk -F, 'END { print $18 }' six/runs/0005/log.csv)
same "the table has values and states" "${row%40,*}" '5,"[1,0,0]",0.3,done,'
check "and measures" grep -qF ",$(state_of six/runs/0005),$energy," <<<"$row"

check "charts of the measures" test -s six/plots/all_kinetic_energy_over_bodies_0__match_alpha.svg
# Two lines of three points: the runs of each velocity.
same "with a line for each other value" "$(sed -n 1p six/plots/all_kinetic_energy_over_bodies_0__match_alpha.csv)" \
  "$(printf 'bodies[0].match.alpha,"velocity=[0,-1,0] (J)","velocity=[1,0,0] (J)"')"
same "and their points" "$(wc -l <six/plots/all_kinetic_energy_over_bodies_0__match_alpha.csv)" 4
same "and none over what is no number" "$(ls six/plots/*velocity* 2>/dev/null | wc -l)" 0

# Short runs follow each other in one process: one that is killed takes only its own run along.
"$yawara" wedge scene.json --sweep substeps=1,10000,2,3 --frames 60 --jobs 1 -o crash -q >/dev/null 2>&1 &
wedge=$!
for _ in $(seq 400); do [ -d crash/runs/0002 ] && break; sleep 0.02; done
worker=$(pgrep -P $wedge)
kill -9 $worker
wait $wedge
same "a process that is killed fails its run" $? 1
check "by name" grep -q "2  failed .*substeps=10000: killed by signal 9" <("$yawara" wedge status crash)
same "and no other" 3 "$(count crash done)"
same "which are in one process before and one after it" "1" "$(wc -w <<<"$worker")"

# Without Slurm its script says so, and does nothing.
"$yawara" wedge crash --slurm 2 >array.sh
said=$(env -u SLURM_ARRAY_TASK_ID bash array.sh 2>&1)
same "a script for Slurm fails without it" "$(( $? != 0 )) $(grep -c "give this script to sbatch" <<<"$said")" "1 1"
same "and runs nothing" 1 "$(count crash failed)"

# Shares, and command lines for other programs that run things.
check "a Latin hypercube" "$yawara" wedge scene.json --sweep bodies[0].position[1]=0.6..1 --latin 4 \
  --seed 3 --sweep "bodies[0].match.alpha=0.01..1:log" --frames 2 -o latin --task 2/2 -q
same "half of the runs" "$(count latin done)" 2
check "no table before the last share" test ! -e latin/table.csv
"$yawara" wedge latin --list >lines
same "a line for every run that is left" "$(wc -l <lines)" 2
check "a shell can run them" sh -e lines
check "they are the first and third run" test -f latin/runs/0001/run.json -a -f latin/runs/0003/run.json
check "the table follows" "$yawara" wedge latin --task 1/2 -q --columns "box y, box x"
holds "one sample in each quarter of a range" latin/table.csv \
  'BEGIN { FS = "," } NR > 1 { seen[int(($2 - 0.6) / 0.1)] = 1; seen[4 + int((log($3 / 0.01) / log(100)) * 4)] = 1 }
   END { for (i in seen) n += i < 8; print (n == 8 ? "true" : "parts") }'
check "with these columns" grep -q ',box y last (m),box y lowest (m),box y highest (m),box x last (m),' latin/table.csv

# A wedge that somebody stops from elsewhere.
"$yawara" wedge scene.json --sweep substeps=1,2 --frames 1000000 -o long --jobs 2 -q >/dev/null 2>&1 &
long=$!
for _ in $(seq 200); do [ -d long/runs/0001 ] && break; sleep 0.05; done
check "stop" "$yawara" wedge stop long
wait $long
same "ends it as Ctrl-C does" $? 130
same "nothing runs any more" "$(count long waiting)" 2
printf '# remark\n substeps=1,2,3 # three\n\n' >sweeps.txt
same "sweeps from a file" 3 "$("$yawara" wedge scene.json --sweeps sweeps.txt -o filed --status | grep -c "  waiting  ")"

wedge() { "$yawara" wedge scene.json -o new "$@"; }
refuses "a path that is not there" "alhpa.*did you mean" wedge --sweep bodies[0].match.alhpa=1,2
refuses "a bad end of a range" "beta" wedge --sweep bodies[0].match.beta=0.5..3:9
refuses "an empty range" "range is empty" wedge --sweep bodies[0].match.alpha=1..1:3
refuses "a range without a number of values" "how many" wedge --sweep bodies[0].match.alpha=1..2
refuses "too many runs" "at most 100000" wedge --sweep duration=1..2:1000 --sweep fps=60..70:1000
refuses "a share that is not there" "K from 1 to N" wedge --sweep substeps=1,2 --task 3/2
check "nothing was written" test ! -e new
refuses "the folder of another wedge" "holds a wedge with other sweeps" \
  "$yawara" wedge scene.json --sweep substeps=1,2 -o six
refuses "a folder that is none" "not the folder of a wedge" "$yawara" wedge status plain
refuses "an unknown column" "did you mean \"box y\"" "$yawara" wedge latin -q --columns "box yy"
echo "// changed" >>scene.json
refuses "a scene that has changed" "has changed since the wedge was made" "$yawara" wedge latin -q
sed -i 's|"runs/0002"|"../0002"|' six/manifest.json
refuses "a manifest with another folder" "damaged" "$yawara" wedge six
finish
