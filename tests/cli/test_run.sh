#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Running, resuming and exporting scenes.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

cat >scene.json <<'END'
{ // a cuboid with a twisted example falls on another
  "floor": true, "duration": 2, "fps": 60, "substeps": 3,
  "models": { "block": { "mesh": { "lattice": { "size": [0.5, 1, 0.5], "cells": [4, 8, 4] } },
                         "examples": [ { "deform": { "twist": { "axis": "y", "degrees": 60 } } } ] } },
  "bodies": [ { "name": "lower", "model": "block", "position": [0, 0.6, 0] },
              { "name": "upper", "model": "block", "position": [0.1, 1.8, 0],
                "rotation": { "axis": "z", "degrees": 20 } } ]
}
END

# 450 particles of 12 bytes in 121 frames.
check "what a run takes is told before" grep -qE "a run takes [1-9][0-9]* MB of memory and about 0.65 MB of disk" \
  <("$yawara" inspect scene.json)
check "with its time" grep -qE "[1-9][0-9.]*(e-[0-9]+)? ms a frame" <("$yawara" inspect scene.json)
# The worm has one example and three groups.
same "how far examples are from each other, group by group" "$("$yawara" inspect "$root/scenes/gallery/worm.json" |
  grep -cE "group [0-2]: [0-9]+ regions, stretched by [0-9.]+ %; the rest pose is at 1.00 of that")" 3
check "runs a scene" "$yawara" run scene.json -o whole --frames 40 -q
check "one thread and plain code" "$yawara" run scene.json -o plain --frames 40 -q --threads 1 --simd plain
check "more threads than cores" "$yawara" run scene.json -o many --frames 40 -q --threads 64
same "threads and instruction sets give the same state" "$(state_of whole)" "$(state_of plain)"
same "64 threads give the same state" "$(state_of whole)" "$(state_of many)"

# Interrupted, then resumed: the same bits, the same numbers of frames.
"$yawara" run scene.json -o parts --frames 17 -q
check "resumes" "$yawara" run scene.json -o parts --frames 40 -q --resume
same "resuming gives the same state" "$(state_of whole)" "$(state_of parts)"
same "and the same frames" "$(cat whole/frames/*.ywf | md5sum)" "$(cat parts/frames/*.ywf | md5sum)"

"$yawara" run scene.json -o stopped --frames 100000 -q 2>message &
pid=$!
for _ in $(seq 100); do [ -f stopped/frames/000010.ywf ] && break; sleep 0.1; done
kill -INT $pid
wait $pid
same "Ctrl-C ends with code 130" $? 130
if grep -q -- "--resume" message && [ -f stopped/snapshot.yws ]; then
  pass "Ctrl-C leaves a snapshot and says how to resume"
else
  flunk "Ctrl-C leaves a snapshot and says how to resume" "$(cat message)"
fi
done_frames=$(sed -n 's/.*"frames_done": \([0-9]*\).*/\1/p' stopped/run.json)
check "goes on after Ctrl-C" "$yawara" run scene.json -o stopped --frames $((done_frames + 5)) -q --resume
"$yawara" run scene.json -o straight --frames $((done_frames + 5)) -q
same "an interrupted run ends in the same state" "$(state_of straight)" "$(state_of stopped)"

# SIGTERM ends even a run whose first frame takes minutes.
cat >steel.json <<'END'
{ "floor": true, "bodies": [{ "shape": { "box": { "size": 0.2 } }, "position": [0, 0.3, 0], "fem": { "material": "steel" } }] }
END
"$yawara" run steel.json -o steel -q 2>message &
pid=$!
for _ in $(seq 200); do [ -f steel/run.json ] && break; sleep 0.1; done
sleep 0.5
begin=$(date +%s)
kill -TERM $pid
wait $pid
same "SIGTERM ends a run inside a frame" $? 143
check "within seconds" test $(($(date +%s) - begin)) -le 5
check "steel in fem is warned about" grep -q 'inner steps for a second' message

check "inspects a run" "$yawara" inspect whole
check "inspects a scene" "$yawara" inspect scene.json
check "inspects a snapshot" "$yawara" inspect whole/snapshot.yws
check "overrides a value" "$yawara" run scene.json -o set -q --frames 5 --set bodies[1].position[1]=2.5 --set substeps=2
check "exports" "$yawara" export whole --format ply,obj,vtu,pc2,mdd,bgeo -o .
same "a PLY per body and frame" "$(ls ply/*.ply | wc -l)" 82
same "a VTU per body and frame" "$(ls vtu/*.vtu | wc -l)" 82
same "a BGEO per body and frame" "$(ls bgeo/*.bgeo | wc -l)" 82
check "a PVD that lists them" grep -q 'upper_001_000040.vtu' vtu/series.pvd
check "point caches" test -s pc2/lower_000.pc2 -a -s mdd/upper_001.mdd -a -s pc2/lower_000.obj
check "an exported frame can be read back" "$yawara" inspect ply/lower_000_000040.ply

# Fields, and a body that starts later.
sed 's/"name": "upper"/"name": "upper", "start": 0.1/' scene.json >late.json
check "keeps fields" "$yawara" run late.json -o late --frames 12 -q --fields speed --format ply,vtu
check "PLY has the field" grep -aq "property float speed" late/ply/lower_000_000012.ply
check "VTU has the field" grep -aq 'Name="speed"' late/vtu/lower_000_000012.vtu
check "a PLY with a field can be read back" "$yawara" inspect late/ply/lower_000_000012.ply
same "no file of a body before its start" "$(ls late/ply/upper_* late/vtu/upper_* | head -1)" late/ply/upper_001_000006.ply
same "but of the other" "$(ls late/ply/lower_* | wc -l)" 13
same "the run says what it keeps" "$("$yawara" inspect late | grep -c 'fields: speed')" 1
"$yawara" run late.json -o late2 --frames 4 -q --fields speed
check "resumes before a body's start" "$yawara" run late.json -o late2 --frames 12 -q --resume
same "resuming gives the same state and fields" "$(state_of late) $(md5sum <late/frames/000012.ywf)" "$(state_of late2) $(md5sum <late2/frames/000012.ywf)"
refuses "a skin without a format that holds it" "needs --format ply or obj" "$yawara" run late.json -o x -q --skin --format vtu
refuses "a field that nothing has" 'no body has a field "stres"; there are: speed' "$yawara" run late.json -o x -q --fields speed,stres

# A run that starts again and dies before its first snapshot must not be resumed from the old one.
cp scene.json again.json
"$yawara" run again.json -o again --frames 20 -q
sed 's/"floor": true/"floor": true, "gravity": [0, -1, 0]/' scene.json >again.json
"$yawara" run again.json -o again --frames 100000 --snapshot-every 1000000 -q &
pid=$!
for _ in $(seq 100); do grep -qs 100000 again/run.json && break; sleep 0.1; done
kill -KILL $pid
wait $pid 2>/dev/null
"$yawara" run again.json -o again --resume -q --frames 20 2>message
same "resuming a run without a snapshot of its own starts again" "$(grep -c 'before its first snapshot' message)" 1
"$yawara" run again.json -o fresh -q --frames 20
same "and not from the old one" "$(state_of again)" "$(state_of fresh)"

# Two programs, one folder.
"$yawara" run again.json -o shared --frames 100000 -q &
pid=$!
for _ in $(seq 100); do [ -f shared/frames/000003.ywf ] && break; sleep 0.1; done
refuses "a second run in the same folder" "another run is writing" "$yawara" run again.json -o shared -q --frames 3
kill -KILL $pid
wait $pid 2>/dev/null
check "a run where another was killed" "$yawara" run again.json -o shared -q --frames 3
sed -i 's/"made_by": "[^"]*"/"made_by": "0.0.1"/' shared/run.json
"$yawara" run again.json -o shared -q --frames 4 --resume 2>message
same "a run of another version" "$(grep -c 'was begun by yawara 0.0.1' message)" 1

# Limits end a run with a snapshot.
"$yawara" run scene.json -o limited -q --frames 40 --max-disk 300k 2>message
same "a limit for the disk ends a run" "$? $(grep -c 'max-disk is 300k' message)" "1 1"
check "within it" test "$(du -sb limited | cut -f 1)" -le 310000
check "not at once" test -f limited/frames/000003.ywf
"$yawara" run scene.json -o limited -q --frames 41 --max-memory 1M --resume 2>message
same "so does one for the memory" "$? $(grep -c 'max-memory is 1M' message)" "1 1"
check "it goes on without a limit" "$yawara" run scene.json -o limited -q --frames 40 --resume
same "to the same state" "$(state_of whole)" "$(state_of limited)"
refuses "a limit that is no size" "must be a size" "$yawara" run scene.json -o limited --max-disk lots

# Bodies that overlap at the start.
sed 's/\[0.1, 1.8, 0\]/[0.1, 1.2, 0]/' scene.json >overlap.json
"$yawara" run overlap.json -o overlap --frames 2 -q 2>message
same "names bodies that overlap" "$(grep -c 'bodies "lower" and "upper" overlap at the start' message)" 1
refuses "bodies that overlap, if strict" 'bodies "lower" and "upper" overlap' "$yawara" run overlap.json -o strict -q --strict
check "strict runs others" "$yawara" run scene.json -o strict --frames 2 -q --strict

# Input that must be rejected.
cp -r whole claims
sed -i 's/"frames_done": 40/"frames_done": 900000000/' claims/run.json
refuses "a run that claims frames it does not have" "frame 41 is missing" "$yawara" export claims -q --format vtu
refuses "an output folder with an endless name" "longer than" "$yawara" run scene.json -q -o "$(printf 'x%.0s' $(seq 3000))"
refuses "another scene in the same folder" "another scene" "$yawara" run "$root/scenes/gallery/first.json" -o whole
refuses "resuming with other values" "--set values differ" "$yawara" run scene.json -o whole --resume --set substeps=9
"$yawara" run scene.json -o nowhere --resume -q --frames 2 2>message
same "resuming nothing starts a run and says so" "$(grep -c 'no run to resume; starting one' message)" 1
refuses "an unknown option" 'did you mean "frames"' "$yawara" run scene.json --frmes 3
refuses "an unknown command" 'did you mean "run"' "$yawara" rum scene.json
refuses "a number that is none" "must be a whole number" "$yawara" run scene.json --frames many
refuses "an unknown format" "must be a list of" "$yawara" run scene.json --format ply,abc
"$yawara" run scene.json -o hurt --frames 40 --snapshot-every 15 -q
head -c 100 hurt/snapshot.yws >hurt/short && mv hurt/short hurt/snapshot.yws
"$yawara" run scene.json -o hurt --resume --frames 50 -q 2>message
same "a damaged snapshot: the one before is used" "$(grep -c 'damaged.*snapshot before it, of frame 30' message)" 1
"$yawara" run scene.json -o straight --frames 50 -q
same "and leads to the same state" "$(state_of straight)" "$(state_of hurt)"
head -c 100 whole/snapshot.yws >whole/short && mv whole/short whole/snapshot.yws
rm -f whole/snapshot-before.yws
refuses "a damaged snapshot and none before" "damaged" "$yawara" run scene.json -o whole --resume --frames 50
printf x >>plain/frames/000003.ywf
refuses "a damaged frame" "damaged" "$yawara" export plain -q
echo '{ "floor": true' >plain/run.json
refuses "a damaged run.json" "run.json" "$yawara" inspect plain

# Output that cannot be written must not look like success.
for command in "--help" "--version" "inspect scene.json" "inspect whole" "plot whole" "new started" "schema" "run scene.json -o full --frames 1"; do
  # shellcheck disable=SC2086
  said=$("$yawara" $command 2>&1 >/dev/full)
  same "yawara $command to a full device" "$? $(grep -c 'standard output' <<<"$said")" "2 1"
done

# Nowhere to write. Root may write everywhere, so a file blocks the folder's name.
echo >file
refuses "an output folder that cannot be made" "cannot make this folder" "$yawara" run scene.json -o file/out
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked && chmod a-w locked
  refuses "a folder that cannot be written" "cannot" "$yawara" run scene.json -o locked/out
fi
# A full disk: files may not grow beyond 8 blocks.
full_disk() { (trap '' XFSZ; ulimit -f 8; "$yawara" run scene.json -o full --frames 5 -q); }
refuses "a full disk" "full/" full_disk
same "a full disk leaves no partial files" "$(find full -name '*tmp*' | wc -l)" 0
finish
