#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A wedge as a job array of Slurm: a cluster of this one machine, started for the test.
. "$(dirname "$0")/lib.sh"
for tool in munged slurmctld slurmd sbatch; do
  command -v $tool >/dev/null 2>&1 || PATH=$PATH:/usr/sbin
  command -v $tool >/dev/null 2>&1 && continue
  echo "skip Slurm: $tool is not installed (Debian: slurm-wlm, munge)"
  exit 0
done
[ "$(id -u)" = 0 ] || { echo "skip Slurm: only root can start its daemons for other users"; exit 0; }
cd "$work" || exit 1

# Ports that other programs hardly use, and that differ between tests that run at once.
port=$((20000 + $$ % 20000))
host=$(hostname -s)
mkdir -p state spool && chmod 755 "$work"
head -c 64 /dev/urandom >munge.key && chmod 600 munge.key
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MinJobAge=3600
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
munged --force --foreground --key-file=munge.key --socket=munge.socket --pid-file=munge.pid \
  --seed-file=munge.seed --log-file=munge.log >/dev/null 2>&1 &
slurmctld -D >/dev/null 2>&1 &
slurmd -D -N "$host" >/dev/null 2>&1 &
daemons=$(jobs -p)
stop_all() {
  kill $daemons 2>/dev/null
  wait 2>/dev/null
  chmod -R u+w "$work" 2>/dev/null
  rm -rf "$work"
}
trap stop_all EXIT

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local left=$(($1 * 10))
  shift
  until "$@"; do
    [ $((left -= 1)) -gt 0 ] || return 1
    sleep 0.1
  done
}
is_ready() { [ "$(sinfo -h -o %t 2>/dev/null)" = idle ]; }
if ! wait_for 30 is_ready; then
  echo "skip Slurm: no cluster can be started here: $(tail -n 1 slurmctld.log slurmd.log 2>/dev/null | tr '\n' ' ')"
  exit 0
fi

cat >scene.json <<'END'
{ "floor": {}, "duration": 30, "fps": 60, "substeps": 60, "sleep_speed": 0,
  "bodies": [ { "name": "box", "mesh": { "lattice": { "size": 1, "cells": 4 } },
                "position": [0, 0.7, 0], "match": { "alpha": 0.3 } } ] }
END
printf '# soft to stiff\nbodies[0].match.alpha=0.1..0.5:3\n  floor.friction=0,0.5  # two floors\n' >sweeps.txt
make() { "$yawara" wedge scene.json --sweeps sweeps.txt --snapshot-every 5 -o "$1" "${@:2}"; }
check "the same runs without Slurm" make plain -q
make array --status >/dev/null
is_over() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
states() { for run in "$1"/runs/*; do state_of "$run"; done; }

job=$("$yawara" wedge array --slurm 2 | sbatch --parsable)
begun() { ls array/runs/*/snapshot.yws >/dev/null 2>&1; }
check "the array runs" wait_for 60 begun
# As when a node fails: everything is killed at once, and the array is started again.
scancel --signal=KILL "$job" 2>/dev/null
check "its processes are killed" wait_for 60 is_over "$job"
check "some runs are not done" test "$("$yawara" wedge status array | grep -c "  done  ")" -lt 6
job=$("$yawara" wedge array --slurm 2 | sbatch --parsable)
check "it ends when it is started again" wait_for 120 is_over "$job"
same "all runs are done" 6 "$("$yawara" wedge status array | grep -c "  done  ")"
same "and end as without Slurm" "$(states plain)" "$(states array)"
check "the last task writes the table" test -s array/table.csv

make halted --status >/dev/null
"$yawara" wedge stop halted >/dev/null
job=$("$yawara" wedge halted --slurm 6 | sed 's|^exec|"'"$yawara"'" wedge stop '"$work"'/halted; exec|' | sbatch --parsable)
check "stopped tasks end" wait_for 60 is_over "$job"
same "without runs" 6 "$("$yawara" wedge status halted | grep -c "  waiting  ")"
finish
